/* Indexes of data sets in folders with one number that is another one, and a right checksum: each is refused in words
 * (data/check.h). */
#include "../../src/gbt/disk/page_bytes.h"
#include "forged.h"

/* The index of a data set of which one number is another one; it is put back. */
static void is_refused(forged *s, const void *at, size_t size, uint64_t value) {
  uint8_t *bytes, was[8];
  gbti_index index;
  size_t n;
  void *place = (void *)(uintptr_t)at;
  memcpy(was, at, size);
  memcpy(place, &value, size);
  const gbti_note note = {"note", FORGED_NOTE};
  const gbt_status status = gbti_index_write(&s->ctx.mem, s->ds, s->record, 1, 1, note, &bytes, &n, test_err);
  memcpy(place, was, size);
  CHECK(status == GBT_OK || status == GBT_E_INTERNAL); /* feature maps are looked at when they are written, too */
  if (status != GBT_OK) return;
  CHECK_FAILS(gbti_index_read(&s->ctx, bytes, n, "there", &index, test_err), GBT_E_FORMAT, "\"there\" is damaged: ");
  gbti_index_free(&s->ctx.mem, &index);
  gbt_mem_free(&s->ctx.mem, bytes);
}

#define IS_REFUSED(place, value) is_refused(&s, &(place), sizeof(place), (uint64_t)(value))

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void false_cuts_are_refused(void) {
  forged s;
  if (forged_open(&s, 0, GBT_CODEC_NONE)) {
    const gbt_cuts *cuts = s.ds->cuts;
    for (int32_t i = 0; i < cuts->n_features; i++) {
      const gbt_feature_cuts *f = &cuts->feat[i];
      IS_REFUSED(f->n_filled, -1);
      IS_REFUSED(f->n_filled, cuts->n_rows + 1);
      IS_REFUSED(f->has_missing, 2);
      IS_REFUSED(f->onehot, 2);
      IS_REFUSED(f->zero_bin, f->zero_bin + 1);
      IS_REFUSED(f->zero_bin, -2);
      if (f->cut == NULL) continue;
      IS_REFUSED(f->cut[f->n_bins - 1], bits_of(1e300));
      for (int32_t b = 0; b < f->n_bins; b++) IS_REFUSED(f->cut[b], bits_of((double)NAN));
      for (int32_t b = 1; b < f->n_bins; b++) IS_REFUSED(f->cut[b], bits_of(f->cut[b - 1]));
    }
    IS_REFUSED(cuts->schema->col[1].name[0], 0);
    IS_REFUSED(cuts->schema->col[1].name[1], '1'); /* x2, the name of x1 */
    IS_REFUSED(s.ds->pages->info.bytes, gbt_pages_bytes(s.ds->pages) + 1);
    IS_REFUSED(s.ds->pages->info.n_unseen[1], -1);
    IS_REFUSED(s.ds->pages->info.n_unseen[1], gbt_pages_n_rows(s.ds->pages) + 1);
  }
  forged_close(&s);
}

/* Whatever number of a layout is another one. */
static void false_layouts_are_refused(void) {
  for (int kind = 0; kind < FORGED_KINDS; kind++) {
    forged s;
    if (forged_open(&s, kind, GBT_CODEC_NONE)) {
      gbt_layout *l = &s.ds->pages->info.layout;
      uint32_t *number = (uint32_t *)(void *)l->group;
      for (size_t k = 0; k < (size_t)l->n_groups * sizeof *l->group / 4; k++) IS_REFUSED(number[k], number[k] + 1);
      number = (uint32_t *)(void *)l->place;
      for (size_t k = 0; k < (size_t)l->n_features * sizeof *l->place / 4; k++) IS_REFUSED(number[k], number[k] - 1);
      for (int32_t k = 0; k <= l->n_strips; k++) IS_REFUSED(l->strip_beg[k], l->strip_beg[k] + 1);
      for (int32_t k = 0; k < l->n_sparse; k++) {
        IS_REFUSED(l->sparse_feat[k], l->n_features);
        IS_REFUSED(l->sparse_feat[k], -1);
        IS_REFUSED(l->sparse_feat[k], l->sparse_feat[(k + 1) % l->n_sparse]);
      }
      for (int32_t k = 0; k < l->bundle_beg[l->n_bundles]; k++) {
        IS_REFUSED(l->bundle_feat[k], l->n_features);
        IS_REFUSED(l->bundle_feat[k], INT32_MIN);
        IS_REFUSED(l->bundle_feat[k], l->bundle_feat[k == 0]);
      }
      for (int32_t k = 0; k < l->n_bundles; k++) {
        IS_REFUSED(l->bundle_beg[k], -1);
        IS_REFUSED(l->bundle_beg[k], l->bundle_beg[k + 1]);
        IS_REFUSED(l->bundle_beg[k], INT32_MIN);
      }
      IS_REFUSED(l->derived, 0);
      IS_REFUSED(l->sparse_slot, l->sparse_slot + 1);
      IS_REFUSED(l->n_slots, l->n_slots + 1);
    }
    forged_close(&s);
  }
}

/* Rows of unknown levels, counts of levels, and level ids of a column with more levels than bins. */
static void false_levels_are_refused(void) {
  forged s;
  if (forged_open(&s, 3, GBT_CODEC_NONE)) {
    const gbti_page_info *info = &s.ds->pages->info;
    const gbt_schema *schema = s.ds->cuts->schema;
    if (CHECK(info->unseen_beg != NULL && info->unseen_beg[1] > 1)) {
      IS_REFUSED(info->unseen_row[0], info->n_rows);
      IS_REFUSED(info->unseen_row[1], info->unseen_row[0]);
      IS_REFUSED(info->unseen_beg[0], 1);
      IS_REFUSED(info->unseen_beg[1], info->unseen_beg[schema->n_features] + 1);
    }
    CHECK(schema->n_features > schema->n_columns);
    IS_REFUSED(schema->feat[0].col, 1);
    IS_REFUSED(schema->feat[schema->n_columns].col, 2); /* has no levels */
    IS_REFUSED(schema->feat[schema->n_columns].value[0], bits_of(-1.0));
    IS_REFUSED(schema->feat[schema->n_columns].value[0], bits_of((double)NAN));
  }
  forged_close(&s);
  made *m = made_levels(3, 99000, 66000);
  const gbt_dataset_spec spec = {.table = &m->table, .max_bin = 16, .page_rows = 99000};
  gbti_page_record none = {.beg = 0};
  memset(&s, 0, sizeof s);
  s.ctx = test_ctx(NULL, 1);
  s.before = stores_use(STORE_MEMORY);
  s.record = &none;
  if (CHECK_OK(gbt_dataset_make(&s.ctx, &spec, &s.ds, test_err)) && CHECK(s.ds->pages->info.level_id[0] != NULL)) {
    none.stored = none.bytes = gbti_page_bytes(gbt_pages_layout(s.ds->pages), 99000, 0);
    IS_REFUSED(s.ds->pages->info.level_id[0][98999], 66002);
    IS_REFUSED(s.ds->pages->info.level_id[0][0], UINT32_MAX);
  }
  gbt_dataset_unref(s.ds);
  made_free(m);
  gbt_ctx_close(&s.ctx);
  stores_use(s.before);
}

void suite_disk_index(void) {
  RUN(false_cuts_are_refused);
  RUN(false_layouts_are_refused);
  RUN(false_levels_are_refused);
}
