/* The layout of pages, and reading a code back. */
#include "page.h"

#include <string.h>

#include "page_impl.h"

enum {
  WIDE_MAX = 8,          /* columns of a group with wide codes */
  SPARSE_SHARE = 8,      /* sparse: at most one row in so many is outside the zero bin */
  SPARSE_MIN_ROWS = 256, /* with fewer rows and fewer features sparse storage is not worth its second path */
  SPARSE_MIN_FEATS = 64
};

int gbti_nearly_empty(const gbt_cuts *cuts, const gbt_feature_cuts *f) {
  return f->zero_bin >= 0 && f->n_filled * SPARSE_SHARE < cuts->n_rows;
}

/* How every feature is stored. */
typedef struct plan {
  const gbt_cuts *cuts;
  const gbti_bundles *bundles;
  const uint8_t *sparse; /* by feature, where it is given which are stored as lists; NULL: chosen here */
  int keep_all; /* bundles that are not worth a column are kept, too: their members would be columns each */
  int pays;     /* sparse lists */
} plan;

static int is_bundled(const plan *p, int32_t feat) {
  int32_t b = p->bundles->of[feat];
  return b >= 0 && (p->keep_all || p->bundles->worth[b]);
}

static int is_sparse(const plan *p, int32_t feat) {
  if (p->sparse != NULL) return p->sparse[feat];
  return p->pays && !is_bundled(p, feat) && gbti_nearly_empty(p->cuts, &p->cuts->feat[feat]);
}

/* A slot is 4 bytes, and every row pays for one entry of sparse_beg, whatever the number of sparse features. */
static int sparse_pays(const plan *p) {
  const gbt_cuts *cuts = p->cuts;
  int64_t saved = -4 * (cuts->n_rows + 1);
  for (int32_t i = 0; i < cuts->n_features; i++) {
    const gbt_feature_cuts *f = &cuts->feat[i];
    if (is_bundled(p, i) || !gbti_nearly_empty(cuts, f)) continue;
    saved += cuts->n_rows * (f->n_bins + 1 > GBTI_BYTE_CODES ? 2 : 1) - 4 * f->n_filled;
  }
  return saved > 0;
}

int gbti_stores_zeros(const gbt_cuts *cuts) {
  return cuts->n_rows < SPARSE_MIN_ROWS && cuts->n_features < SPARSE_MIN_FEATS;
}

uint32_t gbti_filled_slots(const gbt_feature_cuts *f, int has_missing) {
  return (uint32_t)(f->n_bins - (f->zero_bin < f->n_bins && !has_missing));
}

/* Codes of column k of the group; sets the places of its features. */
static uint32_t take_column(gbt_layout *layout, const plan *p, int32_t g, int32_t k, uint32_t slot) {
  int32_t feat = layout->group[g].feat[k];
  if (feat >= 0) {
    uint32_t n = (uint32_t)p->cuts->feat[feat].n_bins + 1;
    layout->place[feat] = (gbt_place){.group = g, .pos = k, .slot_beg = slot, .n_slots = n, .zero_bin = -1};
    return n;
  }
  uint32_t code = 1;
  for (int32_t i = layout->bundle_beg[-1 - feat]; i < layout->bundle_beg[-feat]; i++) {
    int32_t f = layout->bundle_feat[i];
    uint32_t n = gbti_filled_slots(&p->cuts->feat[f], p->bundles->missing[f]);
    layout->place[f] = (gbt_place){g, k, slot + code, n, p->cuts->feat[f].zero_bin, code};
    code += n;
  }
  return code;
}

/* Slot ranges of a full group: each of odd length, then the dummy. Returns the next free slot. */
static uint64_t close_group(gbt_layout *layout, int32_t g, const plan *p, uint64_t slot) {
  gbt_group *group = &layout->group[g];
  uint32_t at = 0;
  group->width = group->wide ? (group->n_feats + 1) / 2 * 2 : (group->n_feats + 3) / 4 * 4;
  group->slot_beg = (uint32_t)slot;
  for (int32_t k = 0; k < group->n_feats; k++) {
    group->offset[k] = at;
    group->n_codes[k] = take_column(layout, p, g, k, (uint32_t)slot + at);
    at += group->n_codes[k] | 1u;
  }
  for (int32_t k = group->n_feats; k < group->width; k++) group->offset[k] = at;
  group->n_slots = at + 1;
  return slot + group->n_slots;
}

static uint32_t column_codes(const gbt_layout *layout, const plan *p, int32_t column) {
  if (column >= 0) return (uint32_t)p->cuts->feat[column].n_bins + 1;
  uint32_t n = 1;
  for (int32_t i = layout->bundle_beg[-1 - column]; i < layout->bundle_beg[-column]; i++) {
    int32_t f = layout->bundle_feat[i];
    n += gbti_filled_slots(&p->cuts->feat[f], p->bundles->missing[f]);
  }
  return n;
}

/* Columns of one kind make groups of their own: by code width, and categorical ones apart, whose rows histograms may
 * have to count. */
enum { KIND_WIDE = 2, KIND_CATEGORICAL = 1, N_KINDS = 4 };

static int kind_of(const gbt_layout *layout, const plan *p, int32_t column) {
  int categorical = column >= 0 && p->cuts->schema->feat[column].type == GBT_CATEGORICAL;
  int wide = column_codes(layout, p, column) > GBTI_BYTE_CODES;
  return (wide ? KIND_WIDE : 0) + (categorical ? KIND_CATEGORICAL : 0);
}

/* Deals the columns of one kind to groups, in order. */
static uint64_t deal_groups(gbt_layout *layout, const plan *p, const int32_t *column, int32_t n, int kind,
                            uint64_t slot) {
  gbt_group *group = NULL;
  int wide = kind >= KIND_WIDE;
  for (int32_t i = 0; i < n; i++) {
    if (kind_of(layout, p, column[i]) != kind) continue;
    if (group == NULL) {
      group = &layout->group[layout->n_groups++];
      group->wide = wide;
    }
    group->feat[group->n_feats++] = column[i];
    if (group->n_feats < (wide ? WIDE_MAX : GBT_GROUP_MAX)) continue;
    slot = close_group(layout, layout->n_groups - 1, p, slot);
    group = NULL;
  }
  return group == NULL ? slot : close_group(layout, layout->n_groups - 1, p, slot);
}

uint64_t gbti_layout_deal(gbt_layout *layout, const gbt_cuts *cuts, const int32_t *feat, int32_t n, uint64_t slot) {
  const plan p = {.cuts = cuts};
  for (int kind = 0; kind < N_KINDS; kind++) slot = deal_groups(layout, &p, feat, n, kind, slot);
  return slot;
}

/* Members of the bundles that are kept, ascending within each, and where they begin. */
static gbt_status list_bundles(const gbt_mem *mem, const plan *p, gbt_layout *layout, gbt_error *err) {
  int32_t n = 0, n_all = p->bundles->n;
  int32_t *number;
  for (int32_t f = 0; f < layout->n_features; f++) n += is_bundled(p, f);
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *layout->bundle_feat, &layout->bundle_feat, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_all + 2, sizeof *layout->bundle_beg, &layout->bundle_beg, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n_all, sizeof *number, &number, err));
  for (int32_t b = 0; b < n_all; b++) number[b] = p->keep_all || p->bundles->worth[b] ? layout->n_bundles++ : -1;
  int32_t *beg = layout->bundle_beg + 1; /* while filling, beg[b] is where bundle b goes on */
  for (int32_t f = 0; f < layout->n_features; f++)
    if (is_bundled(p, f)) beg[number[p->bundles->of[f]] + 1]++;
  for (int32_t b = 0; b < layout->n_bundles; b++) beg[b + 1] += beg[b];
  for (int32_t f = 0; f < layout->n_features; f++)
    if (is_bundled(p, f)) layout->bundle_feat[beg[number[p->bundles->of[f]]]++] = f;
  gbt_mem_free(mem, number);
  return GBT_OK;
}

gbt_status gbti_layout_check(const gbt_cuts *cuts, gbt_error *err) {
  uint64_t all = 0;
  for (int32_t i = 0; i < cuts->n_features; i++) all += (uint64_t)cuts->feat[i].n_bins + 3; /* odd length, a dummy */
  if (all <= INT32_MAX) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "max_bin",
                     "%d columns have %llu bins in all, more than histograms can hold; use a smaller `max_bin`",
                     (int)cuts->n_features, (unsigned long long)all);
}

/* Codes from row to row of a strip whose groups have n codes in all. Few rows are to straddle two cache lines. */
static int32_t round_stride(int32_t n) {
  if (n <= GBT_GROUP_MAX) return n;
  return n <= 32 ? (n + 7) / 8 * 8 : (n + 15) / 16 * 16;
}

void gbti_layout_strips(gbt_layout *layout, int32_t first) {
  for (int32_t g = first, n; g < layout->n_groups; g += n) {
    int32_t codes = 0;
    for (n = 0; n < GBT_STRIP_MAX && g + n < layout->n_groups; n++) {
      gbt_group *group = &layout->group[g + n];
      if (group->wide && n > 0) break;
      group->lead = codes;
      codes += group->width;
      if (group->wide) {
        n++;
        break;
      }
    }
    for (int32_t k = 0; k < n; k++) layout->group[g + k].stride = round_stride(codes);
    layout->strip_beg[++layout->n_strips] = g + n;
  }
}

/* Groups of `column`, which has room for all features and bundles; then the sparse features. */
static gbt_status lay_out(const gbt_mem *mem, const plan *p, int32_t *column, gbt_layout *out, gbt_error *err) {
  int32_t n = 0, n_kind[N_KINDS] = {0}, n_groups = 0;
  for (int32_t i = 0; i < out->n_features; i++) {
    if (is_sparse(p, i))
      out->n_sparse++;
    else if (!is_bundled(p, i))
      column[n++] = i;
  }
  for (int32_t b = 0; b < out->n_bundles; b++) column[n++] = -1 - b;
  for (int32_t i = 0; i < n; i++) n_kind[kind_of(out, p, column[i])]++;
  for (int kind = 0; kind < N_KINDS; kind++) {
    int32_t most = kind >= KIND_WIDE ? WIDE_MAX : GBT_GROUP_MAX;
    n_groups += (n_kind[kind] + most - 1) / most;
  }
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_groups, sizeof *out->group, &out->group, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)out->n_sparse, sizeof *out->sparse_feat, &out->sparse_feat, err));
  uint64_t slot = 0;
  for (int kind = 0; kind < N_KINDS; kind++) slot = deal_groups(out, p, column, n, kind, slot);
  GBT_TRY(gbt_mem_zeros(mem, (size_t)out->n_groups + 1, sizeof *out->strip_beg, &out->strip_beg, err));
  gbti_layout_strips(out, 0);
  out->derived = out->n_groups;
  out->sparse_slot = (uint32_t)slot;
  for (int32_t i = 0, s = 0; i < out->n_features; i++) {
    if (!is_sparse(p, i)) continue;
    const gbt_feature_cuts *f = &p->cuts->feat[i];
    out->place[i] = (gbt_place){-1, s, (uint32_t)slot, gbti_filled_slots(f, 1), f->zero_bin, 0};
    out->sparse_feat[s++] = i;
    slot += out->place[i].n_slots;
  }
  out->n_slots = (uint32_t)slot;
  return GBT_OK;
}

static gbt_status make_layout(const gbt_mem *mem, plan *p, gbt_layout *out, gbt_error *err) {
  const gbt_cuts *cuts = p->cuts;
  int32_t *column;
  memset(out, 0, sizeof *out);
  out->n_features = cuts->n_features;
  p->pays = p->sparse == NULL && !gbti_stores_zeros(cuts) && sparse_pays(p);
  if (!p->pays) p->keep_all = 1;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)out->n_features, sizeof *out->place, &out->place, err));
  GBT_TRY(list_bundles(mem, p, out, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)(out->n_features + out->n_bundles), sizeof *column, &column, err));
  gbt_status status = lay_out(mem, p, column, out, err);
  gbt_mem_free(mem, column);
  return status;
}

gbt_status gbti_layout_make(const gbt_mem *mem, const gbt_cuts *cuts, const gbti_bundles *bundles, gbt_layout *out,
                            gbt_error *err) {
  plan p = {.cuts = cuts, .bundles = bundles};
  return make_layout(mem, &p, out, err);
}

gbt_status gbti_layout_make_as(const gbt_mem *mem, const gbt_cuts *cuts, const gbti_bundles *bundles,
                               const uint8_t *sparse, gbt_layout *out, gbt_error *err) {
  plan p = {.cuts = cuts, .bundles = bundles, .sparse = sparse};
  return make_layout(mem, &p, out, err);
}

void gbti_layout_free(const gbt_mem *mem, gbt_layout *layout) {
  gbt_mem_free(mem, layout->group);
  gbt_mem_free(mem, layout->place);
  gbt_mem_free(mem, layout->sparse_feat);
  gbt_mem_free(mem, layout->bundle_beg);
  gbt_mem_free(mem, layout->bundle_feat);
  gbt_mem_free(mem, layout->strip_beg);
  gbt_mem_free(mem, layout->unused);
}

int32_t gbt_page_code(const gbt_layout *layout, const gbt_cuts *cuts, const gbt_page *page, int32_t r, int32_t f) {
  const gbt_place *place = &layout->place[f];
  GBT_ASSERT(gbt_layout_uses(layout, f));
  if (place->group >= 0) {
    const gbt_group *group = &layout->group[place->group];
    const void *codes = page->group[place->group];
    int64_t at = (int64_t)r * group->stride + place->pos;
    uint32_t code = group->wide ? ((const uint16_t *)codes)[at] : ((const uint8_t *)codes)[at];
    uint32_t slot = code - place->first;
    return slot < place->n_slots ? gbt_place_code(place, slot) : place->zero_bin;
  }
  const uint32_t *at = page->sparse_slots + page->sparse_beg[r];
  uint32_t n = page->sparse_beg[r + 1] - page->sparse_beg[r];
  if (n == 0) return cuts->feat[f].zero_bin;
  const uint32_t first = place->slot_beg - layout->sparse_slot;
  while (n > 1) { /* no branch to guess but the number of steps */
    uint32_t half = n / 2;
    at += at[half] <= first + place->n_slots - 1 ? half : 0;
    n -= half;
  }
  uint32_t slot = *at - first; /* the last slot up to the end of the feature's range, if there is one */
  return slot < place->n_slots ? gbt_place_code(place, slot) : place->zero_bin;
}
