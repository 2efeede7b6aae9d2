/* The layout of pages, and reading a code back. */
#include "page.h"

#include <string.h>

#include "page_impl.h"

enum {
  BYTE_CODES = 256,      /* a dense byte group takes features with up to that many codes */
  WIDE_MAX = 8,          /* features of a group with wide codes */
  SPARSE_SHARE = 8,      /* sparse: at most one row in so many is outside the zero bin */
  SPARSE_MIN_ROWS = 256, /* with fewer rows and fewer features sparse storage is not worth its second path */
  SPARSE_MIN_FEATS = 64
};

static int is_wide(const gbt_feature_cuts *f) { return f->n_bins + 1 > BYTE_CODES; }

/* A slot is 4 bytes, and every row pays for one entry of sparse_beg, whatever the number of sparse features. */
static int nearly_empty(const gbt_cuts *cuts, const gbt_feature_cuts *f) {
  return f->zero_bin >= 0 && f->n_filled * SPARSE_SHARE < cuts->n_rows;
}

static int sparse_pays(const gbt_cuts *cuts) {
  if (cuts->n_rows < SPARSE_MIN_ROWS && cuts->n_features < SPARSE_MIN_FEATS) return 0;
  int64_t saved = -4 * (cuts->n_rows + 1);
  for (int32_t i = 0; i < cuts->n_features; i++) {
    const gbt_feature_cuts *f = &cuts->feat[i];
    if (nearly_empty(cuts, f)) saved += cuts->n_rows * (is_wide(f) ? 2 : 1) - 4 * f->n_filled;
  }
  return saved > 0;
}

/* Slot ranges of a full group: each of odd length, then the dummy. Returns the slot behind. */
static uint64_t close_group(gbt_layout *layout, int32_t g, const gbt_cuts *cuts, uint64_t slot) {
  gbt_group *group = &layout->group[g];
  uint64_t at = 0;
  group->width = (group->n_feats + 3) / 4 * 4;
  group->slot_beg = (uint32_t)slot;
  for (int32_t k = 0; k < group->n_feats; k++) {
    gbt_place *place = &layout->place[group->feat[k]];
    place->group = g;
    place->pos = k;
    place->slot_beg = (uint32_t)(slot + at);
    place->n_slots = (uint32_t)cuts->feat[group->feat[k]].n_bins + 1;
    place->zero_bin = -1;
    group->n_codes[k] = place->n_slots;
    group->offset[k] = (uint32_t)at;
    at += place->n_slots | 1u;
  }
  for (int32_t k = group->n_feats; k < group->width; k++) group->offset[k] = (uint32_t)at;
  group->n_slots = (uint32_t)at + 1;
  return slot + group->n_slots;
}

/* Deals the dense features of one code width to groups, in order. */
static uint64_t deal_groups(gbt_layout *layout, const gbt_cuts *cuts, int pays, int wide, uint64_t slot) {
  gbt_group *group = NULL;
  for (int32_t i = 0; i < cuts->n_features; i++) {
    const gbt_feature_cuts *f = &cuts->feat[i];
    if (is_wide(f) != wide || (pays && nearly_empty(cuts, f))) continue;
    if (group == NULL) {
      group = &layout->group[layout->n_groups++];
      group->wide = wide;
    }
    group->feat[group->n_feats++] = i;
    if (group->n_feats < (wide ? WIDE_MAX : GBT_GROUP_MAX)) continue;
    slot = close_group(layout, layout->n_groups - 1, cuts, slot);
    group = NULL;
  }
  return group == NULL ? slot : close_group(layout, layout->n_groups - 1, cuts, slot);
}

gbt_status gbti_layout_make(const gbt_mem *mem, const gbt_cuts *cuts, gbt_layout *out, gbt_error *err) {
  int32_t n_dense[2] = {0, 0};
  int pays = sparse_pays(cuts);
  uint64_t all = 0;
  memset(out, 0, sizeof *out);
  out->n_features = cuts->n_features;
  for (int32_t i = 0; i < cuts->n_features; i++) {
    if (pays && nearly_empty(cuts, &cuts->feat[i]))
      out->n_sparse++;
    else
      n_dense[is_wide(&cuts->feat[i])]++;
    all += (uint64_t)cuts->feat[i].n_bins + 3; /* odd length, a dummy */
  }
  if (all > INT32_MAX)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "max_bin",
                       "%d columns have %llu bins in all, more than histograms can hold; use a smaller `max_bin`",
                       (int)cuts->n_features, (unsigned long long)all);
  int32_t n_groups = (n_dense[0] + GBT_GROUP_MAX - 1) / GBT_GROUP_MAX + (n_dense[1] + WIDE_MAX - 1) / WIDE_MAX;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_groups, sizeof *out->group, &out->group, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)out->n_features, sizeof *out->place, &out->place, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)out->n_sparse, sizeof *out->sparse_feat, &out->sparse_feat, err));
  uint64_t slot = deal_groups(out, cuts, pays, 0, 0);
  slot = deal_groups(out, cuts, pays, 1, slot);
  out->sparse_slot = (uint32_t)slot;
  for (int32_t i = 0, s = 0; pays && i < cuts->n_features; i++) {
    if (!nearly_empty(cuts, &cuts->feat[i])) continue;
    gbt_place place = {-1, s, (uint32_t)slot, (uint32_t)cuts->feat[i].n_bins, cuts->feat[i].zero_bin, 0};
    out->place[i] = place;
    out->sparse_feat[s++] = i;
    slot += place.n_slots;
  }
  out->n_slots = (uint32_t)slot;
  return GBT_OK;
}

void gbti_layout_free(const gbt_mem *mem, gbt_layout *layout) {
  gbt_mem_free(mem, layout->group);
  gbt_mem_free(mem, layout->place);
  gbt_mem_free(mem, layout->sparse_feat);
}

int32_t gbt_page_code(const gbt_layout *layout, const gbt_cuts *cuts, const gbt_page *page, int32_t r, int32_t f) {
  const gbt_place *place = &layout->place[f];
  if (place->group >= 0) {
    const gbt_group *group = &layout->group[place->group];
    int64_t at = (int64_t)r * group->width + place->pos;
    if (group->wide) return ((const uint16_t *)page->group[place->group])[at];
    return ((const uint8_t *)page->group[place->group])[at];
  }
  uint32_t low = page->sparse_beg[r], end = page->sparse_beg[r + 1], high = end;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (page->sparse_slots[mid] < place->slot_beg)
      low = mid + 1;
    else
      high = mid;
  }
  if (low == end || page->sparse_slots[low] >= place->slot_beg + place->n_slots) return cuts->feat[f].zero_bin;
  return gbt_place_code(place, page->sparse_slots[low] - place->slot_beg);
}

void gbt_page_store_free(gbt_page_store *store) {
  if (store == NULL) return;
  gbt_mem mem = store->mem;
  for (int32_t p = 0; store->page != NULL && p < store->n_pages; p++) {
    gbt_page *page = &store->page[p];
    for (int32_t g = 0; page->group != NULL && g < store->layout.n_groups; g++) gbt_mem_free(&mem, page->group[g]);
    gbt_mem_free(&mem, page->group);
    gbt_mem_free(&mem, page->sparse_beg);
    gbt_mem_free(&mem, page->sparse_slots);
  }
  gbt_mem_free(&mem, store->page);
  gbt_mem_free(&mem, store->unseen_beg);
  gbt_mem_free(&mem, store->unseen_row);
  gbti_layout_free(&mem, &store->layout);
  gbt_mem_free(&mem, store);
}
