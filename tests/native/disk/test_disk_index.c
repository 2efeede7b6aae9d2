/* Indexes of data sets in folders with one number that is another one, and a right checksum: each is refused with a
 * message (data/check.h). */
#include "../../src/gbt/disk/page_bytes.h"
#include "forged.h"
#include "mutate.h"

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
  if (!CHECK_EQ_I64(status, GBT_OK)) return;
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

/* Whether an error says that this build lacks the codec of the pages. Never where it has all of them. */
static int codec_is_missed(gbt_status status) {
  for (int c = 1; status == GBT_E_UNSUPPORTED && gbt_codec_name(c) != NULL; c++)
    if (!gbt_codec_is_here(c) && strstr(test_err->msg, gbt_codec_name(c)) != NULL) return 1;
  return 0;
}

/* Reads an index of these bytes, whose checksum is put right. Errors name the file. */
static gbt_status read_forged(forged *s, blob b) {
  gbti_index index;
  forged_seal(b);
  const gbt_status status = gbti_index_read(&s->ctx, b.bytes, b.n, "there", &index, test_err);
  gbti_index_free(&s->ctx.mem, &index);
  CHECK(status == GBT_OK || status == GBT_E_FORMAT || codec_is_missed(status));
  CHECK(status == GBT_OK || strstr(test_err->msg, "\"there\"") != NULL);
  return status;
}

/* One number of the feature map is another one: the writer would not write it. */
static void false_features_are_refused(void) {
  static const struct {
    gbti_section_id section;
    size_t at, size;
    double number; /* of 8 bytes, else whole */
    int32_t whole;
  } faults[] = {
      {GBTI_SEC_FEATURES, 0, 4, 0, 1},                {GBTI_SEC_FEATURES, 0, 4, 0, 2},
      {GBTI_SEC_FEATURES, 0, 4, 0, -1},               {GBTI_SEC_FEATURES, 4, 4, 0, 1},
      {GBTI_SEC_FEATURES, 4, 4, 0, -1},               {GBTI_SEC_FEATURES, 4, 4, 0, 3},
      {GBTI_SEC_FEATURES, 8 * 3 + 4, 4, 0, 2},        {GBTI_SEC_FEATURES, 8 * 3 + 4, 4, 0, 3},
      {GBTI_SEC_STATISTICS, 0, 8, -1.0, 0},           {GBTI_SEC_STATISTICS, 0, 8, 5e9, 0},
      {GBTI_SEC_STATISTICS, 0, 8, (double)NAN, 0},    {GBTI_SEC_FEATURE_KINDS, 0, 4, 0, 1},
      {GBTI_SEC_FEATURE_KINDS, 8, 4, 0, 0},           {GBTI_SEC_COLUMNS, 16, 4, 0, GBT_NUMERIC},
      {GBTI_SEC_COLUMNS, 24 * 2 + 16, 4, 0, GBT_CATEGORICAL},
  };
  forged s;
  if (forged_open(&s, 3, GBT_CODEC_NONE)) {
    CHECK(s.ds->cuts->schema->n_columns == 3 && s.ds->cuts->schema->n_features > 3);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
      blob b = blob_copy(s.index);
      const gbti_section section = section_of(b.bytes, faults[i].section);
      REQUIRE(faults[i].at + faults[i].size <= section.bytes);
      memcpy(b.bytes + section.beg + faults[i].at,
             faults[i].size == 8 ? (const void *)&faults[i].number : &faults[i].whole, faults[i].size);
      if (!CHECK_EQ_I64(read_forged(&s, b), GBT_E_FORMAT)) test_note("fault %d", (int)i);
      free(b.bytes);
    }
  }
  forged_close(&s);
}

/* A feature that counts the levels of a column of numbers: all else of the index agrees. */
static void counts_of_numbers_are_refused(void) {
  forged s;
  if (forged_open(&s, 3, GBT_CODEC_NONE)) {
    blob b = blob_copy(s.index);
    const gbt_schema *schema = s.ds->cuts->schema;
    const gbt_feature *last = &schema->feat[schema->n_features - 1];
    const int32_t numbers = schema->n_columns - 1;
    const uint64_t statistics = section_of(b.bytes, GBTI_SEC_STATISTICS).bytes;
    CHECK(last->kind == GBT_FEATURE_LEVEL_COUNT && schema->col[numbers].type == GBT_NUMERIC && last->col < numbers);
    const size_t at = (size_t)(schema->n_features - 1) * sizeof(gbti_model_feature) + 4;
    memcpy(b.bytes + section_of(b.bytes, GBTI_SEC_FEATURES).beg + at, &numbers, sizeof numbers);
    b.n = mutate_cut_section(b.bytes, b.n, GBTI_SEC_STATISTICS,
                             statistics - (uint64_t)schema->col[last->col].n_levels * sizeof(double));
    mutate_seal(b.bytes, b.n);
    CHECK_EQ_I64(read_forged(&s, b), GBT_E_FORMAT);
    CHECK(strstr(test_err->msg, "levels are counted of a column without levels") != NULL);
    free(b.bytes);
  }
  forged_close(&s);
}

/* Rows of the table of sections: twice, exchanged, elsewhere, empty, huge, of another kind of file. */
static void false_tables_are_refused(void) {
  static const uint64_t odd[] = {0,          1,           3,           9,           INT32_MAX,
                                 1ull << 31, 1ull << 32,  1ull << 62,  1ull << 63,  UINT64_MAX - 7,
                                 UINT64_MAX, UINT64_MAX / 24 + 2};
  for (int kind = 0; kind < FORGED_KINDS; kind++) {
    forged s;
    gbti_model_head head;
    if (forged_open(&s, kind, GBT_CODEC_NONE)) {
      memcpy(&head, s.index.bytes, sizeof head);
      for (uint32_t i = 0; i < head.n_sections; i++)
        for (size_t k = 0; k < 2 * sizeof odd / sizeof *odd + 4; k++) {
          blob b = blob_copy(s.index);
          gbti_section *row = (gbti_section *)(void *)(b.bytes + sizeof head), was = row[i];
          gbti_section *other = &row[i + 1 < head.n_sections ? i + 1 : i - 1];
          const size_t n = sizeof odd / sizeof *odd;
          if (k < n) row[i].beg = odd[k];
          else if (k < 2 * n) row[i].bytes = odd[k - n];
          else if (k == 2 * n) *other = row[i];
          else if (k == 2 * n + 1) row[i] = *other, *other = was;
          else if (k == 2 * n + 2) memcpy(row[i].name, "trees\0\0\0\0\0\0\0\0\0\0", 16);
          else memcpy(row[i].name, other->name, 16);
          const int same = memcmp(row, s.index.bytes + sizeof head, head.n_sections * sizeof *row) == 0;
          const int skipped = k == 2 * n + 2 && (was.flags & GBTI_SECTION_NEEDED) == 0; /* of a later gbt */
          const gbt_status want = same || skipped ? GBT_OK : GBT_E_FORMAT;
          if (!CHECK_EQ_I64(read_forged(&s, b), want)) test_note("row %u: %zu", i, k);
          free(b.bytes);
        }
      for (uint32_t n = 0; n < 80; n++) {
        blob b = blob_copy(s.index);
        ((gbti_model_head *)(void *)b.bytes)->n_sections = n < 70 ? n : UINT32_MAX - (n - 70);
        CHECK_EQ_I64(read_forged(&s, b), n == head.n_sections ? GBT_OK : GBT_E_FORMAT);
        free(b.bytes);
      }
    }
    forged_close(&s);
  }
}

/* Any number of the index is one at an edge: it is refused, or read within bounds. */
static void numbers_at_edges_are_read_or_refused(void) {
  static const uint64_t odd[] = {0,          1,           255,        256,         INT32_MAX,
                                 1ull << 31, UINT32_MAX,  1ull << 32, 1ull << 61,  INT64_MAX,
                                 1ull << 63, UINT64_MAX};
  int64_t n_read = 0, n_refused = 0;
  for (int kind = 0; kind < FORGED_KINDS; kind++) {
    forged s;
    if (forged_open(&s, kind, GBT_CODEC_NONE)) {
      for (size_t at = sizeof(gbti_model_head); at < s.index.n; at += 4) {
        const uint64_t value = odd[(at / 4 * 5 + (size_t)kind) % (sizeof odd / sizeof *odd)];
        for (size_t size = 4; size <= 8 && at + size <= s.index.n; size += 4) {
          blob b = blob_copy(s.index);
          memcpy(b.bytes + at, &value, size);
          const gbt_status status = read_forged(&s, b);
          n_read += status == GBT_OK;
          n_refused += status != GBT_OK;
          free(b.bytes);
        }
      }
    }
    forged_close(&s);
  }
  CHECK(n_read > 100 && n_refused > 100);
}

void suite_disk_index(void) {
  RUN(false_cuts_are_refused);
  RUN(false_layouts_are_refused);
  RUN(false_levels_are_refused);
  RUN(false_features_are_refused);
  RUN(counts_of_numbers_are_refused);
  RUN(false_tables_are_refused);
  RUN(numbers_at_edges_are_read_or_refused);
}
