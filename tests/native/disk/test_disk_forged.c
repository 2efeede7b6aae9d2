/* Data sets in crafted folders: indexes and pages are changed and their checksums put right, so every
 * rule of data/check.h has to hold by itself. What is opened is used: levels, values, trainings. Each is refused in
 * words, or a data set like any other. Run it under the sanitizers. GBT_FUZZ=n in the environment takes n times as many
 * cases. */
#include "../../src/gbt/base/checksum.h"
#include "../../src/gbt/boost/trainer.h"
#include "../../src/gbt/data/check.h"
#include "../../src/gbt/data/level_ids.h"
#include "../../src/gbt/data/values.h"
#include "forged.h"
#include "mutate.h"

enum { FORGED = 900 };

static int64_t times(void) {
  const char *text = getenv("GBT_FUZZ");
  const long n = text == NULL ? 1 : strtol(text, NULL, 10);
  return n < 1 ? 1 : n;
}

/* ---- use ---- */

static gbt_status look(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  (void)arg, (void)ctx, (void)span, (void)err;
  return GBT_OK;
}

static gbt_status look_at_values(void *arg, gbt_ctx *ctx, const gbt_table *table, int64_t row_beg, gbt_error *err) {
  (void)arg, (void)ctx, (void)table, (void)row_beg, (void)err;
  return GBT_OK;
}

static gbt_status use_levels(forged *s, gbt_dataset *ds, gbt_error *err) {
  const gbt_schema *schema = ds->cuts->schema;
  for (int32_t c = 0; c < schema->n_columns; c++) {
    if (schema->col[c].type != GBT_CATEGORICAL) continue;
    uint32_t *id = test_alloc((size_t)gbt_pages_n_rows(ds->pages) * sizeof *id + 1), most = 0;
    const gbt_status status = gbti_level_ids(&s->ctx, ds, c, id, err);
    for (int64_t r = 0; status == GBT_OK && r < gbt_pages_n_rows(ds->pages); r++) most = id[r] > most ? id[r] : most;
    free(id);
    if (status != GBT_OK) return status;
    CHECK(most <= (uint32_t)schema->col[c].n_levels + 1);
  }
  return gbt_dataset_values(&s->ctx, ds, schema, look_at_values, NULL, err);
}

/* Three rounds of one of the ways to grow trees. */
static gbt_status use_training(forged *s, gbt_dataset *ds, int way, gbt_error *err) {
  const int64_t n = gbt_pages_n_rows(ds->pages);
  double *label = test_alloc((size_t)n * sizeof *label + 1);
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = ds, .n_valid = 1};
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  for (int64_t r = 0; r < n; r++) label[r] = r < s->m->table.n_rows ? s->m->label[r] : 0.0;
  spec.valid[0] = ds;
  spec.objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  spec.params.grow_policy = way % 3;
  spec.params.max_depth = 4;
  spec.params.subsample = way % 2 ? 0.6 : 1.0;
  gbt_status status = gbt_dataset_set(&s->ctx, ds, GBT_LABEL, label, n, err);
  if (status == GBT_OK) status = gbt_trainer_new(&s->ctx, &spec, &tr, err);
  if (status == GBT_OK) status = gbt_trainer_run(&s->ctx, tr, 3, &why, err);
  gbt_trainer_free(tr);
  free(label);
  return status;
}

/* Opens what is in the folder and uses it. */
static gbt_status use(forged *s, int way, gbt_error *err) {
  const gbt_folders folders = {&s->path, 1};
  gbt_dataset *ds;
  GBT_TRY(gbt_disk_open(&s->ctx, folders, way % 4 == 3 ? UINT64_MAX : 0, &ds, NULL, NULL, err));
  gbt_status status = use_levels(s, ds, err);
  if (status == GBT_OK) status = use_training(s, ds, way, err);
  gbt_dataset_unref(ds);
  return status;
}

/* ---- forging ---- */

/* One page with another code, number or run of them, as a file that says so. */
static void forge_page(const forged *s, test_rng *rng) {
  const int32_t p = (int32_t)test_below(rng, gbt_pages_n_pages(s->ds->pages));
  blob bytes = forged_unpack(s, p), index = blob_copy(s->index);
  for (int64_t k = 1 + test_below(rng, 3); k > 0 && bytes.n > 0; k--) {
    const size_t at = (size_t)test_below(rng, (int64_t)bytes.n);
    const uint64_t edge = mutate_edge(rng, bytes.n);
    const size_t size = (size_t)1 << test_below(rng, 4), room = bytes.n - at;
    if (test_below(rng, 2))
      bytes.bytes[at] = (uint8_t)(bytes.bytes[at] + test_below(rng, 5) - 2);
    else
      memcpy(bytes.bytes + at, &edge, size < room ? size : room);
  }
  forged_put(s, p, bytes, index);
  free(bytes.bytes);
  free(index.bytes);
}

/* Numbers of the index that are other ones. */
static void forge_index(const forged *s, test_rng *rng) {
  blob index = blob_copy(s->index);
  for (int64_t k = 1 + test_below(rng, 2); k > 0; k--) {
    const size_t size = test_below(rng, 3) ? 4 : 8, beg = sizeof(gbti_model_head);
    const int64_t n = test_below(rng, 4) ? (int64_t)(index.n - beg) : 40 * 22; /* the table of sections comes first */
    const size_t at = beg + (size_t)test_below(rng, n) / size * size;
    uint64_t x = 0, other = mutate_edge(rng, index.n);
    const size_t from = beg + (size_t)test_below(rng, (int64_t)(index.n - beg - 8)) / size * size;
    memcpy(&x, index.bytes + at, size);
    switch (test_below(rng, 4)) {
    case 0:
      x += (uint64_t)(test_below(rng, 9) - 4);
      break;
    case 1:
      x = other;
      break;
    case 2:
      x ^= (uint64_t)1 << test_below(rng, (int64_t)size * 8);
      break;
    default:
      memcpy(&x, index.bytes + from, size);
    }
    memcpy(index.bytes + at, &x, size);
  }
  forged_seal(index);
  blob_write(s->index_path, index);
  blob_write(s->pages_path, s->pages);
  free(index.bytes);
}

/* ---- tests ---- */

static void forged_folders_are_refused_or_used(void) {
  int64_t n_refused = 0, n_used = 0;
  for (int kind = 0; kind < FORGED_KINDS; kind++) {
    forged s;
    test_rng rng = {(uint64_t)kind + 71};
    if (forged_open(&s, kind, kind % 2 ? forged_codec() : GBT_CODEC_NONE)) {
      const int64_t n = (int64_t)test_cases(FORGED / FORGED_KINDS) * times();
      CHECK_OK(use(&s, kind, test_err));
      for (int64_t i = 0; i < n; i++) {
        if (i % 3 == 0)
          forge_page(&s, &rng);
        else
          forge_index(&s, &rng);
        const gbt_status status = use(&s, (int)(i % 12), test_err);
        if (status == GBT_OK) {
          n_used++;
          continue;
        }
        n_refused++;
        /* too few rows or levels for a training; a page count that memory has no room for; pages of another id, which
         * are not there */
        if (!CHECK(status == GBT_E_FORMAT || status == GBT_E_DATA || status == GBT_E_MEM || status == GBT_E_IO ||
                   status == GBT_E_UNSUPPORTED))
          test_note("%s", test_err->msg);
        CHECK(status != GBT_E_FORMAT || strstr(test_err->msg, s.folder) != NULL);
      }
    }
    forged_close(&s);
  }
  test_note("%lld refused, %lld used", (long long)n_refused, (long long)n_used);
  CHECK(n_refused > 20 && n_used > 5);
}

/* The codes of one strip in the last page; the strip begins at `beg` of its bytes. For every place of a row the last
 * code is taken, the one after it is not. Returns how many were refused. */
static int try_strip(forged *s, int32_t strip, size_t beg, int32_t n_rows, const uint16_t *most) {
  const gbt_layout *layout = gbt_pages_layout(s->ds->pages);
  const gbt_group *group = &layout->group[layout->strip_beg[strip]];
  const size_t size = group->wide ? 2 : 1, row = gbti_row_bytes(group);
  const int32_t last = gbt_pages_n_pages(s->ds->pages) - 1;
  const uint32_t end = group->wide ? 65536 : 256;
  blob bytes = forged_unpack(s, last), index = blob_copy(s->index);
  int n = 0;
  for (int32_t i = 0; i < group->stride; i++) {
    uint8_t *at = bytes.bytes + beg + (size_t)(i * 7 % n_rows) * row + (size_t)i * size, was[2];
    memcpy(was, at, size);
    for (uint32_t code = most[i]; code <= (uint32_t)most[i] + 1 && code < end; code++) {
      const uint8_t put[2] = {(uint8_t)(code & 255), (uint8_t)(code >> 8)};
      memcpy(at, put, size);
      forged_put(s, last, bytes, index);
      if (code == most[i])
        CHECK_OK(use(s, 0, test_err));
      else
        n += CHECK_FAILS(use(s, 0, test_err), GBT_E_FORMAT, "has bins that its columns do not have");
    }
    memcpy(at, was, size);
  }
  free(bytes.bytes);
  free(index.bytes);
  return n;
}

/* Whatever the column and the width of its codes; padding is 0. */
static void codes_behind_the_last_are_refused(void) {
  for (int kind = 0; kind < FORGED_KINDS; kind++) {
    forged s;
    gbti_page_limits limits = {NULL, NULL};
    if (forged_open(&s, kind, kind % 2 ? forged_codec() : GBT_CODEC_NONE) &&
        CHECK_OK(gbti_page_limits_make(&s.ctx.mem, gbt_pages_layout(s.ds->pages), &limits, test_err))) {
      const gbt_layout *layout = gbt_pages_layout(s.ds->pages);
      const int32_t n_rows = (int32_t)((gbt_pages_n_rows(s.ds->pages) - 1) % gbt_pages_page_rows(s.ds->pages)) + 1;
      size_t beg = 0;
      int n = 0;
      for (int32_t k = 0; k < layout->n_strips; k++) {
        n += try_strip(&s, k, beg, n_rows, limits.most + (size_t)k * GBTI_ROW_CODES);
        beg += ((size_t)n_rows * gbti_row_bytes(&layout->group[layout->strip_beg[k]]) + 63) & ~(size_t)63;
      }
      CHECK(n >= (kind == 2 ? 2 : 4));
    }
    gbti_page_limits_free(&s.ctx.mem, &limits);
    forged_close(&s);
  }
}

/* Cuts tell whether the rows they were made of have missing values, and how many are outside the zero bin. A folder may
 * hold other rows, so that cannot be checked; it may be false, and trainings go on. */
static void counts_of_other_rows_are_used(void) {
  for (int i = 0; i < 3 * FORGED_KINDS; i++) {
    forged s;
    if (forged_open(&s, i / 3, GBT_CODEC_NONE)) {
      blob index;
      for (int32_t f = 0; f < s.ds->cuts->n_features; f++) {
        gbt_feature_cuts *cuts = &s.ds->cuts->feat[f];
        if (i % 3 == 0) cuts->has_missing = 1;
        if (i % 3 > 0) cuts->n_filled = i % 3 == 1 ? 0 : s.ds->cuts->n_rows;
      }
      if (CHECK_OK(gbti_index_write(&s.ctx.mem, s.ds, s.record, s.id, 1, (gbti_note){"note", FORGED_NOTE},
                                    &index.bytes, &index.n, test_err))) {
        blob_write(s.index_path, index);
        for (int way = 0; way < 6; way++) CHECK_OK(use(&s, way, test_err));
        gbt_mem_free(&s.ctx.mem, index.bytes);
      }
    }
    forged_close(&s);
  }
}

/* A folder of an earlier version has no fingerprint: it is read, and that of a training on it is not known. */
static void folders_without_a_fingerprint_are_used(void) {
  forged s;
  gbti_index index;
  blob bytes;
  if (forged_open(&s, 0, GBT_CODEC_NONE)) {
    uint64_t out = 1;
    s.ds->fingerprint = 0;
    CHECK_OK(gbt_dataset_fingerprint(&s.ctx, s.ds, NULL, 0, &out, test_err));
    CHECK_EQ_U64(out, 0);
    if (CHECK_OK(gbti_index_write(&s.ctx.mem, s.ds, s.record, s.id, 1, (gbti_note){"note", FORGED_NOTE}, &bytes.bytes,
                                  &bytes.n, test_err))) {
      CHECK_EQ_I64(bytes.n, s.index.n - 48); /* the row in the table of sections, and 8 bytes */
      if (CHECK_OK(gbti_index_read(&s.ctx, bytes.bytes, bytes.n, s.index_path, &index, test_err)))
        CHECK_EQ_U64(index.fingerprint, 0);
      gbti_index_free(&s.ctx.mem, &index);
      gbt_mem_free(&s.ctx.mem, bytes.bytes);
    }
  }
  forged_close(&s);
}

/* Lists whose slots are none, are twice of one feature, or do not ascend; rows whose lists end before they begin. */
static void false_lists_are_refused(void) {
  forged s;
  if (forged_open(&s, 1, GBT_CODEC_NONE)) {
    const gbt_layout *layout = gbt_pages_layout(s.ds->pages);
    const gbti_page_record *record = &s.record[0];
    const int32_t n_rows = gbt_pages_page_rows(s.ds->pages);
    blob bytes = forged_unpack(&s, 0), index = blob_copy(s.index);
    CHECK(layout->n_sparse > 1 && layout->n_bundles > 0);
    const size_t lists = (size_t)record->n_entries, room = (lists * 4 + 63) & ~(size_t)63;
    const size_t begs = (((size_t)n_rows + 1) * 4 + 63) & ~(size_t)63;
    uint32_t *slot = (uint32_t *)(void *)(bytes.bytes + bytes.n - room);
    uint32_t *beg = (uint32_t *)(void *)(bytes.bytes + bytes.n - room - begs);
    int32_t row = 0;
    REQUIRE(beg[0] == 0 && beg[n_rows] == lists);
    while (row < n_rows - 1 && beg[row + 1] - beg[row] < 2) row++;
    REQUIRE(beg[row + 1] - beg[row] >= 2);
    for (int what = 0; what < 4; what++) {
      uint32_t *at = what < 3 ? &slot[beg[row] + 1] : &beg[row + 1];
      const uint32_t was = *at;
      *at = what == 0   ? layout->n_slots - layout->sparse_slot
            : what == 1 ? slot[beg[row]]
            : what == 2 ? 0
                        : (uint32_t)lists + 1;
      forged_put(&s, 0, bytes, index);
      *at = was;
      CHECK(use(&s, 0, test_err) == GBT_E_FORMAT);
      CHECK(strncmp(test_err->msg, "page 1 ", 7) == 0 && strstr(test_err->msg, s.pages_path) != NULL);
      CHECK(strstr(test_err->msg, what == 0 ? "has bins" : "its lists are invalid") != NULL);
    }
    forged_put(&s, 0, bytes, index);
    CHECK_OK(use(&s, 0, test_err));
    free(bytes.bytes);
    free(index.bytes);
  }
  forged_close(&s);
}

/* A page whose bins are false is refused whenever it is read, also where its checksum and time are right, and where it
 * was good when it was read before. */
static void pages_are_proved_whenever_they_are_new(void) {
  forged s;
  const gbt_folders folders = {&s.path, 1};
  gbt_dataset *ds;
  if (forged_open(&s, 0, GBT_CODEC_NONE) && CHECK_OK(gbt_disk_open(&s.ctx, folders, 0, &ds, NULL, NULL, test_err))) {
    blob pages = blob_copy(s.pages);
    gbti_page_record *record = (gbti_page_record *)(uintptr_t)gbti_file_store_records(ds->pages);
    CHECK_OK(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err));
    pages.bytes[0] = 255;
    blob_write(s.pages_path, pages);
    record[0].checksum = gbt_checksum(pages.bytes, gbti_record_room(&record[0])); /* as a collision has it */
    for (int i = 0; i < 3; i++)
      CHECK_FAILS(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err), GBT_E_FORMAT, "page 1 in ");
    blob_write(s.pages_path, s.pages);
    record[0].checksum = s.record[0].checksum;
    CHECK_OK(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err));
    gbt_dataset_unref(ds);
    free(pages.bytes);
  }
  forged_close(&s);
}

void suite_disk_forged(void) {
  RUN(codes_behind_the_last_are_refused);
  RUN(folders_without_a_fingerprint_are_used);
  RUN(counts_of_other_rows_are_used);
  RUN(false_lists_are_refused);
  RUN(pages_are_proved_whenever_they_are_new);
  RUN(forged_folders_are_refused_or_used);
}
