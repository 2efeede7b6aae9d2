/* The calls of a device's library by the engine, with a library that records the calls and does its work by the
 * simplest loops. (The CUDA library has suites of its own: test_cuda_*.) */
#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/data/cuts_impl.h"
#include "../../src/gbt/explain/explain.h"
#include "../../src/gbt/model/answer.h"
#include "../../src/gbt/model/model_impl.h"
#include "chunks.h"
#include "datasets.h"
#include "fault.h"
#include "made.h"
#include "naive_cuts.h"
#include "stores.h"

/* ---- a device that helps with data ---- */

typedef struct helper {
  gbt_offload self; /* the first field */
  gbti_cut_input input;
  int64_t n_cut, n_binned, n_closed;
} helper;

static helper help; /* what the library below hands out */

static gbt_status help_cut(gbt_offload *self, gbt_ctx *ctx, const gbti_cut_input *input, int32_t max_bin, double **cut,
                           int32_t *n_bins, gbt_error *err) {
  helper *h = (helper *)self;
  (void)ctx;
  h->input = *input;
  h->n_cut++;
  return gbti_numeric_cuts(input, max_bin, 0, cut, n_bins, err);
}

static gbt_status help_count(gbt_offload *self, double low, double high, int64_t *n_within, int64_t *n_missing,
                             gbt_error *err) {
  const gbti_column_reader *in = &((helper *)self)->input.in;
  (void)err;
  *n_within = *n_missing = 0;
  for (int64_t e = 0; e < in->n_entries; e++) {
    double buf, x = *gbti_read_entries(in, e, 1, &buf);
    *n_missing += isnan(x) != 0;
    *n_within += (isnan(low) || x > low) && x <= high;
  }
  return GBT_OK;
}

static void bin_column(const gbt_binding *binding, const gbt_cuts *cuts, const gbt_page *page, gbti_row_range range,
                       const gbt_group *group, int32_t k, void *to) {
  const int32_t feat = group->feat[k];
  for (int32_t r = 0; r < page->n_rows; r++) {
    int64_t cursor = 0;
    double x;
    if (page->row_beg + r < range.beg || page->row_beg + r >= range.end) continue;
    gbt_binding_read(binding, page->row_beg + r - range.beg, 1, &feat, 1, &cursor, &x, 1);
    const int32_t code = gbt_cuts_bin(&cuts->feat[feat], x), at = r * group->stride + k;
    if (group->wide)
      ((uint16_t *)to)[at] = (uint16_t)code;
    else
      ((uint8_t *)to)[at] = (uint8_t)code;
  }
}

static void bin_strip(const gbt_binding *binding, const gbt_cuts *cuts, const gbti_pages *pages, const gbt_page *page,
                      gbti_row_range range, int32_t strip) {
  const gbt_layout *layout = &pages->info.layout;
  const int32_t beg = layout->strip_beg[strip], end = layout->strip_beg[strip + 1];
  int n_own = 0;
  for (int32_t g = beg; g < end; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++) n_own += layout->group[g].feat[k] >= 0;
  if (n_own == 0) return; /* bundles alone: the engine's */
  const size_t row_bytes = gbti_row_bytes(&layout->group[beg]);
  for (int32_t r = 0; r < page->n_rows; r++)
    if (page->row_beg + r >= range.beg && page->row_beg + r < range.end)
      memset((char *)page->strip[strip] + (size_t)r * row_bytes, 0, row_bytes);
  for (int32_t g = beg; g < end; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++)
      if (layout->group[g].feat[k] >= 0) bin_column(binding, cuts, page, range, &layout->group[g], k, page->group[g]);
}

static gbt_status help_bin(gbt_offload *self, gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts,
                           gbti_pages *pages, gbti_row_range range, int *done, gbt_error *err) {
  helper *h = (helper *)self;
  (void)ctx, (void)err;
  *done = (range.end - range.beg) * cuts->n_features >= h->self.least_cells;
  if (!*done) return GBT_OK;
  h->n_binned++;
  for (int32_t p = 0; p < pages->info.n_pages; p++) {
    const gbt_page *page = &pages->page[p];
    if (page->row_beg >= range.end || page->row_beg + page->n_rows <= range.beg) continue;
    for (int32_t s = 0; s < pages->info.layout.n_strips; s++) bin_strip(binding, cuts, pages, page, range, s);
  }
  return GBT_OK;
}

static void help_close(gbt_offload *self) { ((helper *)self)->n_closed++; }

/* ---- the library ---- */

static struct {
  int32_t device;
  uint64_t first, n;
  const double *offset;
  void *out;
} asked;

static gbt_status lib_info(int32_t device, gbt_device_info *out, gbt_error *err) {
  asked.device = device;
  if (device > 1) return gbt_fail(err, GBT_E_DEVICE, "there is no device %d", (int)device);
  snprintf(out->name, sizeof out->name, "device %d", (int)device);
  return GBT_OK;
}

static gbt_status lib_open(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                           gbt_error *err) {
  (void)ctx, (void)spec;
  *out = NULL;
  return gbt_fail(err, GBT_E_DEVICE, "device %d does not train", (int)device);
}

static gbt_status lib_data(gbt_ctx *ctx, int32_t device, gbt_offload **out, gbt_error *err) {
  (void)ctx;
  if (device > 1) return gbt_fail(err, GBT_E_DEVICE, "there is no device %d", (int)device);
  *out = &help.self;
  return GBT_OK;
}

static gbt_status lib_scores(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, const double *offset, double *out, gbt_error *err) {
  (void)ctx, (void)forest, (void)binding, (void)err;
  asked.device = device;
  asked.first = first;
  asked.n = n;
  asked.offset = offset;
  asked.out = out;
  return GBT_OK;
}

static gbt_status lib_leaves(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, int32_t *out, gbt_error *err) {
  (void)ctx, (void)forest, (void)binding;
  asked.device = device;
  asked.first = first;
  asked.n = n;
  asked.out = out;
  return gbt_fail(err, GBT_E_DEVICE, "the device is lost");
}

static gbt_status lib_explain(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                              const struct gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  (void)ctx, (void)forest, (void)binding, (void)spec, (void)err;
  asked.device = device;
  asked.offset = offset;
  asked.out = out;
  return GBT_OK;
}

static const gbt_device_api whole = {.build = GBT_BUILD_ID,
                                     .name = "test",
                                     .info = lib_info,
                                     .open = lib_open,
                                     .data = lib_data,
                                     .scores = lib_scores,
                                     .leaves = lib_leaves,
                                     .explain = lib_explain};

/* ---- tests ---- */

static void a_library_of_another_build_does_not_fit(void) {
  gbt_device_api other = whole;
  other.build++;
  CHECK(gbt_device_fits(&whole));
  CHECK(!gbt_device_fits(&other) && !gbt_device_fits(NULL));
}

static void a_library_offers_what_it_has(void) {
  for (int have = 0; have < 32; have++) {
    const gbt_device_api api = {.open = have & 1 ? lib_open : NULL,
                                .data = have & 2 ? lib_data : NULL,
                                .scores = have & 4 ? lib_scores : NULL,
                                .leaves = have & 8 ? lib_leaves : NULL,
                                .explain = have & 16 ? lib_explain : NULL};
    const gbt_device_work works[] = {GBT_WORK_TRAIN, GBT_WORK_DATA, GBT_WORK_SCORES, GBT_WORK_LEAVES,
                                     GBT_WORK_CONTRIBUTIONS};
    for (int w = 0; w < 5; w++) CHECK_EQ_I64(gbt_device_offers(&api, works[w]), have >> w & 1);
  }
}

static void questions_reach_the_library(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_device_info info;
  double offset = 0.0, scores = 0.0;
  int32_t leaves = 0;
  CHECK_OK(gbt_device_about(&whole, 1, &info, test_err));
  CHECK_EQ_TEXT(info.name, "device 1");
  CHECK_FAILS(gbt_device_about(&whole, 2, &info, test_err), GBT_E_DEVICE, "no device 2");
  CHECK_OK(gbt_device_scores(&ctx, &whole, 1, NULL, NULL, (gbt_tree_range){3, 10}, &offset, &scores, test_err));
  CHECK(asked.device == 1 && asked.first == 3 && asked.n == 7 && asked.offset == &offset && asked.out == &scores);
  CHECK_FAILS(gbt_device_leaves(&ctx, &whole, 0, NULL, NULL, (gbt_tree_range){5, 5}, &leaves, test_err), GBT_E_DEVICE,
              "lost");
  CHECK(asked.device == 0 && asked.first == 5 && asked.n == 0 && asked.out == &leaves);
  CHECK_OK(gbt_device_explain(&ctx, &whole, 4, NULL, NULL, NULL, &offset, &scores, test_err));
  CHECK(asked.device == 4 && asked.offset == &offset && asked.out == &scores);
  gbt_ctx_close(&ctx);
}

/* The library does what it offers, the CPU the rest: here a score of 0.25 and no trees. */
static void a_place_says_who_answers(void) {
  const double base = 0.25;
  const gbt_table table = {.n_rows = 1};
  const gbt_schema schema = {.n_columns = 0};
  const gbt_binding binding = {.table = &table, .schema = &schema};
  const gbt_tree_range none = {0, 0};
  gbt_model model = {.parts = {.forest = {.n_outputs = 1, .base = &base}, .objective = {.n_outputs = 1}}};
  gbt_explain_spec spec = {.trees = none};
  gbt_ctx ctx = test_ctx(NULL, 1);
  model.parts.objective.kind = GBT_OBJ_LOGISTIC;
  CHECK_OK(gbt_model_answer(&ctx, &model, NULL, &binding, GBT_ANSWER_LINK, none, NULL, &(double){0.0}, test_err));
  for (int have = 0; have < 8; have++) {
    const gbt_device_api api = {.scores = have & 1 ? lib_scores : NULL,
                                .leaves = have & 2 ? lib_leaves : NULL,
                                .explain = have & 4 ? lib_explain : NULL};
    const gbt_answer_place at = {.api = &api, .device = 1};
    double x = 7.0;
    int32_t leaf = 7, class = 7;
    asked.out = NULL;
    CHECK_OK(gbt_model_answer(&ctx, &model, &at, &binding, GBT_ANSWER_LINK, none, NULL, &x, test_err));
    CHECK(asked.out == (have & 1 ? &x : NULL) && x == (have & 1 ? 7.0 : 0.25));
    CHECK_OK(gbt_model_answer(&ctx, &model, &at, &binding, GBT_ANSWER_RESPONSE, none, NULL, &x, test_err));
    CHECK(x > 0.5 && x < 1.0); /* on a device the response of the 7 that was there */
    asked.out = NULL;
    CHECK_EQ_I64(gbt_model_answer(&ctx, &model, &at, &binding, GBT_ANSWER_LEAF, none, NULL, &leaf, test_err),
                 have & 2 ? GBT_E_DEVICE : GBT_OK);
    CHECK(asked.out == (have & 2 ? &leaf : NULL));
    asked.device = -1;
    if ((have & 1) == 0) {
      CHECK_OK(gbt_model_answer(&ctx, &model, &at, &binding, GBT_ANSWER_CLASS, none, NULL, &class, test_err));
      CHECK_EQ_I64(class, 1);
    }
    spec.api = &api;
    spec.device = 1;
    CHECK_EQ_I64(gbt_explain(&ctx, &model.parts.forest, &binding, &spec, NULL, &x, test_err), GBT_OK);
    CHECK_EQ_I64(asked.device, have & 4 ? 1 : -1);
  }
  gbt_ctx_close(&ctx);
}

static void same_sets(const gbt_dataset *a, const gbt_dataset *b) {
  const gbt_dataset_info x = gbt_dataset_about(a), y = gbt_dataset_about(b);
  same_all_cuts(a->cuts, b->cuts);
  REQUIRE(x.n_rows == y.n_rows && x.bytes == y.bytes && x.n_pages == y.n_pages && x.page_rows == y.page_rows);
  int32_t **codes = codes_of(a->pages, a->cuts), **want = codes_of(b->pages, b->cuts);
  for (int32_t f = 0; f < x.n_features; f++) CHECK_EQ_BYTES(codes[f], want[f], (size_t)x.n_rows * sizeof **codes);
  codes_free(codes, a->cuts);
  codes_free(want, b->cuts);
}

/* One table and one with its cuts, with help from these sizes on; by the CPU alone when api has none. */
static void check_sets(const gbt_device_api *api, const made *train, const made *valid, int64_t least) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const made *of[] = {train, valid};
  gbt_dataset *set[2] = {NULL, NULL}, *want[2] = {NULL, NULL};
  help = (helper){.self = {least, least, 64, help_cut, help_count, help_bin, help_close}};
  for (int i = 0; i < 2; i++) {
    gbt_dataset_spec spec = {.table = &of[i]->table,
                             .weight = i == 0 ? train->weight : NULL,
                             .max_bin = 20,
                             .page_rows = 70,
                             .unseen = GBT_UNSEEN_MISSING};
    spec.reference = i == 0 ? NULL : want[0];
    CHECK_OK(gbt_dataset_make(&ctx, &spec, &want[i], test_err));
    spec.reference = i == 0 ? NULL : set[0];
    CHECK_OK(dataset_by_device(&ctx, api, 0, &spec, &set[i], test_err));
    REQUIRE(want[i] != NULL && set[i] != NULL);
    same_sets(set[i], want[i]);
    CHECK_EQ_I64(help.n_closed, api->data != NULL ? i + 1 : 0);
  }
  CHECK_EQ_I64(help.n_binned, api->data != NULL && least == 0 ? 2 : 0);
  CHECK((help.n_cut > 0) == (api->data != NULL && least == 0));
  for (int i = 0; i < 2; i++) {
    gbt_dataset_unref(set[i]);
    gbt_dataset_unref(want[i]);
  }
  gbt_ctx_close(&ctx);
}

/* Numbers of all storages, factors, and columns that are bundled: by themselves and with others. */
static void data_sets_are_the_same_whoever_helps(void) {
  const gbt_device_api none = {.build = GBT_BUILD_ID};
  made_kind kinds[24] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_EXTREME, MADE_FACTOR, MADE_ORDERED, MADE_NOTHING};
  for (int c = 7; c < 24; c++) kinds[c] = MADE_ZEROS;
  for (int weighted = 0; weighted < 2; weighted++)
    for (int sparse = 0; sparse < 2; sparse++) {
      made *train = made_new(1, 300, 24, kinds), *valid = made_new(2, 90, 24, kinds);
      if (weighted) made_weights(train, 3);
      made *thin = made_sparse(train, 5);
      const made *used = sparse ? thin : train;
      check_sets(&whole, used, valid, 0);
      check_sets(&whole, used, valid, INT64_MAX);
      check_sets(&none, used, valid, 0);
      made_free(thin);
      made_free(train);
      made_free(valid);
    }
}

static void bundles_fill_strips_of_their_own(void) {
  enum { FIELDS = 4, SIZE = 12 };
  made_kind kinds[FIELDS * SIZE + 2];
  for (int c = 0; c < FIELDS * SIZE; c++) kinds[c] = MADE_ZEROS;
  kinds[FIELDS * SIZE] = kinds[FIELDS * SIZE + 1] = MADE_BELL;
  for (int n_own = 0; n_own < 3; n_own++) {
    made *train = made_new(1, 400, FIELDS * SIZE + n_own, kinds),
         *valid = made_new(2, 90, FIELDS * SIZE + n_own, kinds);
    made_fields(train, FIELDS, SIZE, 0, 3);
    check_sets(&whole, train, valid, 0);
    made_free(train);
    made_free(valid);
  }
}

/* Of a source the device bins chunk by chunk; the last chunk is too small to be worth the way. */
static void chunks_are_made_with_help_too(void) {
  enum { ROWS = 310, CHUNK = 100, COLS = 6 };
  const made_kind kinds[COLS] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_FACTOR, MADE_ORDERED, MADE_ZEROS};
  made *m = made_new(1, ROWS, COLS, kinds);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *want = NULL, *set = NULL;
  chunks *c = chunks_new(&m->table, CHUNK, 1);
  gbt_dataset_spec spec = {.table = &m->table, .max_bin = 20, .page_rows = 70};
  CHECK_OK(gbt_dataset_make(&ctx, &spec, &want, test_err));
  spec.table = NULL;
  spec.source = &c->source;
  help = (helper){.self = {0, CHUNK * COLS, 64, help_cut, help_count, help_bin, help_close}};
  CHECK_OK(dataset_by_device(&ctx, &whole, 0, &spec, &set, test_err));
  REQUIRE(want != NULL && set != NULL);
  same_sets(set, want);
  CHECK_EQ_I64(help.n_cut, COLS - 1);
  CHECK_EQ_I64(help.n_binned, ROWS / CHUNK);
  gbt_dataset_unref(set);
  gbt_dataset_unref(want);
  chunks_free(c);
  gbt_ctx_close(&ctx);
  made_free(m);
}

static void a_device_that_is_missing_makes_no_data(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  made *m = made_new(1, 30, 3, NULL);
  const gbt_dataset_spec spec = {.table = &m->table, .max_bin = 20};
  gbt_dataset *set = NULL;
  CHECK_FAILS(dataset_by_device(&ctx, &whole, 2, &spec, &set, test_err), GBT_E_DEVICE, "no device 2");
  CHECK(set == NULL);
  made_free(m);
  gbt_ctx_close(&ctx);
}

/* Memory that runs out leaves nothing behind, and what the device has open is closed. */
static gbt_status make_with_help(const gbt_mem *mem, void *arg, gbt_error *err) {
  const made *m = arg;
  const gbt_dataset_spec spec = {.table = &m->table, .max_bin = 20, .page_rows = 50};
  gbt_ctx ctx;
  gbt_dataset *set = NULL;
  help = (helper){.self = {0, 0, 64, help_cut, help_count, help_bin, help_close}};
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = dataset_by_device(&ctx, &whole, 0, &spec, &set, err);
  CHECK_EQ_I64(help.n_closed, 1);
  CHECK((set != NULL) == (status == GBT_OK));
  gbt_dataset_unref(set);
  gbt_ctx_close(&ctx);
  return status;
}

static void memory_runs_out_beside_a_device(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_ORDERED, MADE_ZEROS, MADE_ZEROS};
  made *m = made_new(1, 120, 6, kinds);
  CHECK(fault_sweep(make_with_help, m) > 20);
  made_free(m);
}

void suite_device(void) {
  RUN(a_library_of_another_build_does_not_fit);
  RUN(a_library_offers_what_it_has);
  RUN(questions_reach_the_library);
  RUN(a_place_says_who_answers);
  RUN(data_sets_are_the_same_whoever_helps);
  RUN(bundles_fill_strips_of_their_own);
  RUN(chunks_are_made_with_help_too);
  RUN(a_device_that_is_missing_makes_no_data);
  RUN(memory_runs_out_beside_a_device);
}
