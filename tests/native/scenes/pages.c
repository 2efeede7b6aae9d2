#include "pages.h"

gbt_page_store *pages_how(const tables *t, const gbt_cuts *cuts, int32_t page_rows, gbti_page_how how, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbt_binding *binding = NULL;
  gbt_page_store *store = NULL;
  CHECK_OK(gbt_binding_new(&ctx, &t->table, cuts->schema, GBT_UNSEEN_MISSING, &binding, test_err));
  if (binding != NULL) {
    gbti_feed feed = gbti_feed_of(&ctx, binding);
    CHECK_OK(gbti_pages_build(&ctx, &feed, cuts, page_rows, how, &store, test_err));
  }
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return store;
}

void all_codes(gbt_page_store *s, const gbt_cuts *cuts, double *const *x, int64_t n) {
  int64_t n_wrong = 0;
  REQUIRE(s->info.n_rows == n);
  int32_t **code = codes_of(s, cuts);
  for (int32_t f = 0; f < cuts->n_features; f++)
    for (int64_t r = 0; r < n; r++) n_wrong += code[f][r] != gbt_cuts_bin(&cuts->feat[f], x[f][r]);
  codes_free(code, cuts);
  CHECK_EQ_I64(n_wrong, 0);
}

/* A bundle's column; returns its number of codes. */
static uint32_t good_bundle(const gbt_layout *l, const gbt_cuts *cuts, int32_t g, int32_t k) {
  const gbt_group *group = &l->group[g];
  int32_t b = -1 - group->feat[k], before = -1;
  uint32_t code = 1;
  CHECK(b < l->n_bundles && l->bundle_beg[b + 1] - l->bundle_beg[b] >= 2);
  for (int32_t i = l->bundle_beg[b]; i < l->bundle_beg[b + 1]; i++) {
    const gbt_place *p = &l->place[l->bundle_feat[i]];
    const gbt_feature_cuts *f = &cuts->feat[l->bundle_feat[i]];
    CHECK(l->bundle_feat[i] > before);
    before = l->bundle_feat[i];
    CHECK_EQ_I64(p->group, g);
    CHECK_EQ_I64(p->pos, k);
    CHECK_EQ_I64(p->first, code);
    CHECK_EQ_I64(p->slot_beg, group->slot_beg + group->offset[k] + code);
    CHECK(f->zero_bin >= 0 && p->zero_bin == f->zero_bin);
    CHECK((int32_t)p->n_slots == f->n_bins - (f->zero_bin < f->n_bins && !gbt_place_has_missing(p, f->n_bins)));
    code += p->n_slots;
  }
  return code;
}

static void good_group(const gbt_layout *l, const gbt_cuts *cuts, int32_t g, uint32_t slot) {
  const gbt_group *group = &l->group[g];
  uint32_t at = 0;
  CHECK_EQ_I64(group->slot_beg, slot);
  CHECK(group->n_feats >= 1 && group->n_feats <= (group->wide ? 8 : 16));
  int32_t step = group->wide ? 2 : 4; /* of 4 bytes */
  CHECK_EQ_I64(group->width, (group->n_feats + step - 1) / step * step);
  for (int32_t k = 0; k < group->n_feats; k++) {
    CHECK_EQ_I64(group->offset[k], at);
    if (group->feat[k] < 0) {
      CHECK_EQ_I64(group->n_codes[k], good_bundle(l, cuts, g, k));
      CHECK_EQ_I64(group->wide, group->n_codes[k] > 256);
      at += group->n_codes[k] | 1u;
      continue;
    }
    const gbt_place *p = &l->place[group->feat[k]];
    int32_t n_bins = cuts->feat[group->feat[k]].n_bins;
    CHECK_EQ_I64(p->group, g);
    CHECK_EQ_I64(p->pos, k);
    CHECK_EQ_I64(p->n_slots, n_bins + 1);
    CHECK_EQ_I64(p->zero_bin, -1);
    CHECK_EQ_I64(group->n_codes[k], n_bins + 1);
    CHECK_EQ_I64(group->wide, n_bins + 1 > 256);
    CHECK_EQ_I64(p->first, 0);
    CHECK_EQ_I64(p->slot_beg, slot + at);
    at += p->n_slots + (p->n_slots % 2 == 0);
  }
  for (int32_t k = group->n_feats; k < group->width; k++) CHECK_EQ_I64(group->offset[k], at);
  CHECK_EQ_I64(group->n_slots, at + 1);
}

/* Groups side by side in order, none twice; a group of words alone; a row of a strip is at most a cache line. */
static void good_strips(const gbt_layout *l) {
  int32_t g = 0;
  for (int32_t s = 0; s < l->n_strips; s++) {
    int32_t codes = 0, first = g;
    CHECK_EQ_I64(l->strip_beg[s], g);
    CHECK(l->strip_beg[s + 1] > g && l->strip_beg[s + 1] - g <= 4);
    for (; g < l->strip_beg[s + 1]; g++) {
      CHECK_EQ_I64(l->group[g].lead, codes);
      CHECK(!l->group[g].wide || l->strip_beg[s + 1] - first == 1);
      CHECK_EQ_I64(l->group[g].stride, l->group[first].stride);
      codes += l->group[g].width;
    }
    CHECK(l->group[first].stride >= codes && l->group[first].stride < codes + 16 && l->group[first].stride <= 64);
  }
  CHECK_EQ_I64(g, l->n_groups);
}

void good_layout(const gbt_layout *l, const gbt_cuts *cuts) {
  uint32_t slot = 0;
  int32_t n_dense = l->n_bundles > 0 ? l->bundle_beg[l->n_bundles] - l->n_bundles : 0;
  for (int32_t g = 0; g < l->n_groups; g++) {
    good_group(l, cuts, g, slot);
    slot += l->group[g].n_slots;
    n_dense += l->group[g].n_feats;
  }
  good_strips(l);
  CHECK_EQ_I64(n_dense + l->n_sparse, cuts->n_features);
  CHECK_EQ_I64(l->sparse_slot, slot);
  for (int32_t i = 0; i < l->n_sparse; i++) {
    const gbt_place *p = &l->place[l->sparse_feat[i]];
    const gbt_feature_cuts *f = &cuts->feat[l->sparse_feat[i]];
    CHECK_EQ_I64(p->group, -1);
    CHECK_EQ_I64(p->slot_beg, slot);
    CHECK_EQ_I64(p->n_slots, f->n_bins);
    CHECK_EQ_I64(p->zero_bin, f->zero_bin);
    CHECK(f->zero_bin >= 0 && f->n_filled * 8 < cuts->n_rows);
    slot += p->n_slots;
  }
  CHECK_EQ_I64(l->n_slots, slot);
}

/* Codes of the dense groups of a page; returns the bytes they take. */
static size_t good_groups(const gbt_layout *l, const gbt_page *page) {
  size_t bytes = 0;
  int n_wrong = 0;
  for (int32_t g = 0; g < l->n_groups; g++) {
    const gbt_group *group = &l->group[g];
    if (group->lead == 0) {
      CHECK_EQ_I64((uintptr_t)page->group[g] % 64, 0);
      bytes += (size_t)page->n_rows * (size_t)group->stride * (group->wide ? 2 : 1);
    }
    for (int32_t r = 0; r < page->n_rows; r++)
      for (int32_t k = 0; k < group->width; k++) {
        int64_t at = (int64_t)r * group->stride + k;
        uint32_t code = group->wide ? ((uint16_t *)page->group[g])[at] : ((uint8_t *)page->group[g])[at];
        n_wrong += code >= (k < group->n_feats ? group->n_codes[k] : 1);
      }
  }
  CHECK_EQ_I64(n_wrong, 0);
  return bytes;
}

/* Its lists; returns the cells of sparse features outside their zero bins. */
static int64_t good_lists(const gbt_layout *l, const gbt_cuts *cuts, const gbt_page *page) {
  int64_t n_filled = 0;
  int n_wrong = 0;
  CHECK_EQ_I64(page->sparse_beg[0], 0);
  for (int32_t r = 0; r < page->n_rows; r++) {
    for (uint32_t i = page->sparse_beg[r]; i < page->sparse_beg[r + 1]; i++) {
      n_wrong += page->sparse_slots[i] >= l->n_slots - l->sparse_slot;
      n_wrong += i > page->sparse_beg[r] && page->sparse_slots[i] <= page->sparse_slots[i - 1];
    }
    for (int32_t i = 0; i < l->n_sparse; i++)
      n_filled += gbt_page_code(l, cuts, page, r, l->sparse_feat[i]) != cuts->feat[l->sparse_feat[i]].zero_bin;
  }
  CHECK_EQ_I64(n_wrong, 0);
  return n_filled;
}

/* Slots of every row ascend, and there is one for every code outside its zero bin; padding is 0; bytes add up. */
void good_pages(gbt_page_store *s, const gbt_cuts *cuts) {
  const gbt_layout *l = &s->info.layout;
  size_t bytes = 0;
  int64_t row = 0, n_listed = 0, n_filled = 0;
  for (int32_t p = 0; p < s->info.n_pages; p++) {
    const gbt_page *page = page_pin(s, p);
    REQUIRE(page != NULL);
    CHECK_EQ_I64(page->row_beg, row);
    CHECK(page->n_rows > 0 && (p == s->info.n_pages - 1 || page->n_rows == s->info.page_rows));
    row += page->n_rows;
    bytes += good_groups(l, page);
    CHECK_EQ_I64(page->sparse_beg != NULL, l->n_sparse > 0);
    if (l->n_sparse > 0) {
      bytes += 4 * ((size_t)page->n_rows + 1 + page->sparse_beg[page->n_rows]);
      n_listed += page->sparse_beg[page->n_rows];
      n_filled += good_lists(l, cuts, page);
    }
    page_unpin(s, page);
  }
  CHECK_EQ_I64(row, s->info.n_rows);
  CHECK_EQ_I64(n_listed, n_filled);
  CHECK_EQ_I64(s->info.n_entries, n_listed);
  CHECK_EQ_U64(s->info.bytes, bytes);
}

/* ---- equality ---- */

#define SAME_ARRAY(a, b, n) CHECK_EQ_BYTES((a), (b), (size_t)(n) * sizeof *(a))

static void same_layouts(const gbt_layout *a, const gbt_layout *b) {
  REQUIRE(a->n_features == b->n_features && a->n_groups == b->n_groups && a->n_strips == b->n_strips &&
          a->n_sparse == b->n_sparse && a->n_bundles == b->n_bundles);
  CHECK(a->sparse_slot == b->sparse_slot && a->n_slots == b->n_slots);
  SAME_ARRAY(a->group, b->group, a->n_groups);
  SAME_ARRAY(a->strip_beg, b->strip_beg, a->n_strips + 1);
  SAME_ARRAY(a->place, b->place, a->n_features);
  SAME_ARRAY(a->sparse_feat, b->sparse_feat, a->n_sparse);
  SAME_ARRAY(a->bundle_beg, b->bundle_beg, a->n_bundles + 1);
  SAME_ARRAY(a->bundle_feat, b->bundle_feat, a->bundle_beg[a->n_bundles]);
}

static void same_page(const gbt_layout *layout, const gbt_page *a, const gbt_page *b) {
  REQUIRE(a->row_beg == b->row_beg && a->n_rows == b->n_rows);
  for (int32_t s = 0; s < layout->n_strips; s++)
    CHECK_EQ_BYTES(a->strip[s], b->strip[s], (size_t)a->n_rows * gbti_row_bytes(&layout->group[layout->strip_beg[s]]));
  CHECK((a->sparse_beg == NULL) == (b->sparse_beg == NULL));
  if (a->sparse_beg == NULL || b->sparse_beg == NULL) return;
  SAME_ARRAY(a->sparse_beg, b->sparse_beg, a->n_rows + 1);
  SAME_ARRAY(a->sparse_slots, b->sparse_slots, a->sparse_beg[a->n_rows]);
}

void same_stores(gbt_page_store *a, gbt_page_store *b) {
  REQUIRE(a != NULL && b != NULL);
  REQUIRE(a->info.n_rows == b->info.n_rows && a->info.n_pages == b->info.n_pages);
  REQUIRE(a->info.page_rows == b->info.page_rows);
  CHECK_EQ_U64(a->info.bytes, b->info.bytes);
  same_layouts(&a->info.layout, &b->info.layout);
  for (int32_t p = 0; p < a->info.n_pages; p++) {
    const gbt_page *x = page_pin(a, p), *y = page_pin(b, p);
    if (x != NULL && y != NULL) same_page(&a->info.layout, x, y);
    page_unpin(a, x);
    page_unpin(b, y);
  }
  CHECK((a->info.level_id == NULL) == (b->info.level_id == NULL));
  for (int32_t f = 0; a->info.level_id != NULL && b->info.level_id != NULL && f < a->info.layout.n_features; f++) {
    CHECK((a->info.level_id[f] == NULL) == (b->info.level_id[f] == NULL));
    if (a->info.level_id[f] != NULL && b->info.level_id[f] != NULL)
      SAME_ARRAY(a->info.level_id[f], b->info.level_id[f], a->info.n_rows);
  }
  CHECK((a->info.unseen_beg == NULL) == (b->info.unseen_beg == NULL));
  if (a->info.unseen_beg == NULL || b->info.unseen_beg == NULL) return;
  SAME_ARRAY(a->info.unseen_beg, b->info.unseen_beg, a->info.layout.n_features + 1);
  SAME_ARRAY(a->info.unseen_row, b->info.unseen_row, a->info.unseen_beg[a->info.layout.n_features]);
}
