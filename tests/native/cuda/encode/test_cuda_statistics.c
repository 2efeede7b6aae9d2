/* Ordered statistics on the device: the counts, bins and values of the CPU, bit by bit. */
#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/encode/statistics_help.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "fault.h"
#include "made_target.h"
#include "random_job.h"
#include "schedules.h"

const gbt_device_api *gbt_cuda_api(void);

static gbt_status open_for(gbt_ctx *ctx, const made_target *m, gbti_statistics_help **out, gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->statistics(ctx, 0, 0, out, err));
  return (*out)->begin(*out, ctx, &m->visit, &m->target, err);
}

static void close_help(gbti_statistics_help *help) {
  if (help != NULL) help->close(help);
}

/* Any table will do: values that differ in any bit are mostly distinguished. */
static const uint8_t *bins_of_values(void) {
  static uint8_t *table;
  if (table == NULL) {
    table = test_alloc(GBTI_N_VALUES);
    for (uint32_t x = 0; x < GBTI_N_VALUES; x++) table[x] = (uint8_t)(x * 2654435761u >> 24);
  }
  return table;
}

/* What one statistic is under a variant, by the CPU or by a device. */
typedef struct made_values {
  uint32_t *count, *value;
  uint8_t *bin;
} made_values;

static made_values values_new(const made_target *m) {
  return (made_values){.count = test_alloc(GBTI_N_VALUES * sizeof(uint32_t)),
                       .value = test_alloc((size_t)(m->n_ids + 1) * sizeof(uint32_t)),
                       .bin = test_alloc((size_t)m->target.n + 1)};
}

static void values_free(made_values *v) {
  free(v->count);
  free(v->value);
  free(v->bin);
}

static gbt_status by_cpu(gbt_ctx *ctx, const made_target *m, int32_t s, int32_t variant, made_values *to) {
  gbti_ordered ask = ask_of(m);
  const uint8_t *bin_of = bins_of_values();
  uint8_t *bin[GBTI_MAX_VARIANTS];
  ask.stat += s;
  ask.n_stats = 1;
  for (int32_t v = 0; v <= variant; v++) bin[v] = to->bin; /* the last one stays */
  GBT_TRY(gbti_ordered_count(ctx, &ask, variant, &to->count, test_err));
  GBT_TRY(gbti_ordered_bins(ctx, &ask, variant + 1, &bin_of, bin, test_err));
  return gbti_full_values(ctx, &ask, &to->value, test_err);
}

/* In an order of calls that depends on `turn`. */
static gbt_status by_device(gbti_statistics_help *help, gbt_ctx *ctx, const made_target *m, int32_t s, int32_t variant,
                            int turn, made_values *to, gbt_error *err) {
  for (int k = 0; k < 3; k++) {
    const int what = (k + turn) % 3;
    if (what == 0) GBT_TRY(help->count(help, ctx, &m->stat[s], variant, to->count, err));
    if (what == 1) GBT_TRY(help->bins(help, ctx, &m->stat[s], variant, bins_of_values(), to->bin, err));
    if (what == 2) GBT_TRY(help->full(help, ctx, &m->stat[s], to->value, err));
  }
  return GBT_OK;
}

static int same_values(const made_target *m, const made_values *a, const made_values *b) {
  return memcmp(a->count, b->count, GBTI_N_VALUES * sizeof *a->count) == 0 &&
         memcmp(a->bin, b->bin, (size_t)m->target.n) == 0 &&
         memcmp(a->value, b->value, (size_t)m->n_ids * sizeof *a->value) == 0;
}

/* Under one thread: bins of several variants into one array are written one after the other then. */
static void check_same(const made_target *m, gbti_statistics_help *help, gbt_ctx *ctx, int turn) {
  made_values a = values_new(m), b = values_new(m);
  const int32_t n_variants = m->visit.n_variants;
  if (!CHECK_OK(help->keys(help, ctx, m->id, m->n_ids, test_err))) return;
  for (int32_t k = 0; k < n_variants * m->n_stats; k++) {
    const int32_t variant = k / m->n_stats, s = (k * 5 + turn) % m->n_stats;
    CHECK_OK(by_cpu(ctx, m, s, variant, &a));
    CHECK_OK(by_device(help, ctx, m, s, variant, turn + k, &b, test_err));
    CHECK(same_values(m, &a, &b));
  }
  values_free(&a);
  values_free(&b);
}

static void by_size(int64_t n) {
  const tie tied = n % 3 == 0 ? NOT_TIED : n % 3 == 1 ? BY_GROUP : BY_TIME;
  made_target m = make_target((uint64_t)n, n, n % 5 == 0 ? n + 1 : 7, 1 + (int32_t)(n % 2), tied, (int)(n % 4 > 1));
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbti_statistics_help *help = NULL;
  m.n_stats = 1 + 2 * (n % 16 == 0);
  if (CHECK_OK(open_for(&ctx, &m, &help, test_err))) check_same(&m, help, &ctx, (int)(n % 7));
  close_help(help);
  gbt_ctx_close(&ctx);
  target_free(&m);
}

/* In this process: one that has CUDA in use must not be forked. Tiles have 2,048 rows. */
static void sizes(void) {
  for (int64_t n = 1; n < 40; n++) by_size(n);
  for (int64_t power = 64; power <= 4096; power *= 2)
    for (int64_t n = power - 1; n <= power + 1; n++) by_size(n);
}

/* Weights or not, ties or not, several tiles; keys of one projection after the other, more of them or fewer. */
static void projections_in_turn(void) {
  for (int k = 0; k < 4; k++) {
    made_target m = make_target((uint64_t)k, 6000 + 1000 * k, 9, 2, (tie)(k % 3), k / 2);
    gbt_ctx ctx = test_ctx(NULL, 1);
    gbti_statistics_help *help = NULL;
    test_rng rng = {(uint64_t)k};
    m.n_stats = 2 + (k == 0);
    REQUIRE_OK(open_for(&ctx, &m, &help, test_err));
    for (int turn = 0; turn < 3; turn++) {
      static const int64_t n_ids[] = {300, 1, 70000};
      m.n_ids = n_ids[turn];
      for (int64_t i = 0; i < m.target.n; i++) m.id[i] = (uint32_t)test_below(&rng, m.n_ids);
      check_same(&m, help, &ctx, turn);
    }
    close_help(help);
    gbt_ctx_close(&ctx);
    target_free(&m);
  }
}

/* However threads and blocks take turns. */
static void in_any_order(void) {
  made_target m = make_target(3, 5000, 40, 2, BY_GROUP, 1);
  m.n_stats = 2;
  for (int k = 0; test_schedule(k); k++) {
    gbt_ctx ctx = test_ctx(NULL, 1);
    gbti_statistics_help *help = NULL;
    if (CHECK_OK(open_for(&ctx, &m, &help, test_err))) check_same(&m, help, &ctx, k);
    close_help(help);
    gbt_ctx_close(&ctx);
  }
  target_free(&m);
}

/* ---- whole trainings ---- */

static gbt_status statistics_of_few_rows(gbt_ctx *ctx, int32_t device, size_t limit, gbti_statistics_help **out,
                                         gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->statistics(ctx, device, limit, out, err));
  (*out)->least_rows = 0;
  return GBT_OK;
}

static gbt_status no_room(gbti_statistics_help *self, gbt_ctx *ctx, const uint32_t *id, int64_t n_ids, gbt_error *err) {
  (void)self, (void)ctx, (void)id, (void)n_ids;
  return gbt_fail(err, GBT_E_MEM, "no room");
}

static gbt_status statistics_without_room(gbt_ctx *ctx, int32_t device, size_t limit, gbti_statistics_help **out,
                                          gbt_error *err) {
  GBT_TRY(statistics_of_few_rows(ctx, device, limit, out, err));
  (*out)->keys = no_room;
  return GBT_OK;
}

/* The trees, and the bins of all tables. */
static uint64_t digest_of(const train_job *job, const gbt_device_api *device) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  uint64_t digest = 0;
  gbt_stop_reason why;
  if (!CHECK(job_open(&ctx, job, 100, &spec))) return 0;
  spec.device = device;
  if (CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && CHECK_OK(gbt_trainer_run(&ctx, tr, 3, &why, test_err))) {
    const gbt_schema *schema = gbt_trainer_schema(tr);
    digest = forest_digest(1, gbt_trainer_forest(tr));
    for (int32_t f = 0; f < schema->n_features; f++) {
      const gbt_feature *feat = &schema->feat[f];
      if (!gbt_feature_has_table(feat->kind)) continue;
      for (int64_t k = 0; k < schema->proj[feat->projection].n_keys; k++)
        digest = gbt_mix64(digest ^ ((uint64_t)feat->bin[k] << 32 | (uint64_t)f));
    }
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return digest;
}

/* Statistics by the device, by the CPU for want of room, and all of it by the CPU. */
static void trainings(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_BELL, MADE_FACTOR, MADE_HOLED};
  static const uint8_t method[] = {GBT_CAT_TARGET | GBT_CAT_COUNT, GBT_CAT_AUTO, GBT_CAT_TARGET | GBT_CAT_SETS,
                                   GBT_CAT_TARGET};
  static const gbt_objective_kind losses[] = {GBT_OBJ_LOGISTIC, GBT_OBJ_SOFTMAX, GBT_OBJ_SQUARED_ERROR,
                                              GBT_OBJ_POISSON};
  gbt_device_api there = *gbt_cuda_api(), crowded = there;
  there.statistics = statistics_of_few_rows;
  crowded.statistics = statistics_without_room;
  for (int k = 0; k < 4; k++) {
    const int32_t n_outputs = losses[k] == GBT_OBJ_SOFTMAX ? 3 : 1;
    made *m = made_new((uint64_t)k + 70, 300 + 100 * k, 4, kinds);
    made_response(m, losses[k], n_outputs, (uint64_t)k);
    train_job job = job_make(m, losses[k], n_outputs, 3);
    uint8_t asked[4];
    memcpy(asked, method, sizeof asked);
    if (k == 2) asked[0] |= GBT_CAT_QUARTILES;
    job.spec.cat_method = asked;
    job.spec.params.max_depth = 3;
    job.spec.params.max_cat_combine = 2;
    const uint64_t digest = digest_of(&job, NULL);
    CHECK(digest == digest_of(&job, &there));
    CHECK(digest == digest_of(&job, &crowded));
    made_free(m);
  }
}

/* ---- failures ---- */

static gbt_status statistics_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const made_target *m = arg;
  gbt_ctx ctx;
  gbti_statistics_help *help = NULL;
  made_values v = values_new(m);
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) {
    status = open_for(&ctx, m, &help, err);
    if (status == GBT_OK) status = help->keys(help, &ctx, m->id, m->n_ids, err);
    if (status == GBT_OK) status = by_device(help, &ctx, m, 0, 1, 0, &v, err);
    close_help(help);
    gbt_ctx_close(&ctx);
  }
  values_free(&v);
  return status;
}

static void allocations_fail(void) {
  made_target m = make_target(4, 200, 9, 2, BY_GROUP, 1);
  CHECK(fault_sweep(statistics_once, &m) >= 3);
  target_free(&m);
}

static void little_device_memory(void) {
  made_target m = make_target(6, 3000, 50, 2, BY_TIME, 1);
  int64_t refused = 0, done = 0;
  for (size_t bytes = 1000; bytes < 20000000; bytes += bytes / 2) {
    gbt_ctx ctx = test_ctx(NULL, 1);
    gbti_statistics_help *help = NULL;
    gbt_error err = {0};
    gbt_status status = gbt_cuda_api()->statistics(&ctx, 0, bytes, &help, &err);
    if (status == GBT_OK) status = help->begin(help, &ctx, &m.visit, &m.target, &err);
    if (status == GBT_OK) status = help->keys(help, &ctx, m.id, m.n_ids, &err);
    CHECK(status == GBT_OK || (status == GBT_E_MEM && strstr(err.msg, "device memory") != NULL));
    refused += status != GBT_OK;
    done += status == GBT_OK;
    close_help(help);
    gbt_ctx_close(&ctx);
  }
  CHECK(refused > 3 && done > 0);
  target_free(&m);
}

#if defined(GBT_TEST_SIMT)
/* Every call to CUDA fails once, alone and with all later ones: an error, or the right values; nothing is left there.
 */
static void calls_to_cuda_fail(void) {
  made_target m = make_target(8, 300, 20, 2, BY_GROUP, 1);
  made_values cpu = values_new(&m), got = values_new(&m);
  gbt_ctx ctx = test_ctx(NULL, 1);
  const int64_t live = simt_live();
  int64_t n_failed = 0;
  CHECK_OK(by_cpu(&ctx, &m, 0, 1, &cpu));
  for (int and_later = 0; and_later < 2; and_later++) {
    for (int64_t n = 1;; n++) {
      gbti_statistics_help *help = NULL;
      gbt_error err = {0};
      simt_fail_at(n, and_later);
      gbt_status status = open_for(&ctx, &m, &help, &err);
      if (status == GBT_OK) status = help->keys(help, &ctx, m.id, m.n_ids, &err);
      if (status == GBT_OK) status = by_device(help, &ctx, &m, 0, 1, (int)n, &got, &err);
      close_help(help);
      const int64_t failed = simt_failed();
      simt_fail_at(0, 0);
      CHECK_EQ_I64(simt_live(), live);
      if (failed == 0) break;
      n_failed++;
      if (status == GBT_OK)
        CHECK(same_values(&m, &got, &cpu));
      else
        CHECK((status == GBT_E_MEM || status == GBT_E_DEVICE) && err.msg[0] != '\0');
    }
  }
  CHECK(n_failed > 80);
  gbt_ctx_close(&ctx);
  values_free(&cpu);
  values_free(&got);
  target_free(&m);
}
#endif

void suite_cuda_statistics(void) {
  RUN(sizes);
  RUN(projections_in_turn);
  RUN(in_any_order);
  RUN(trainings);
  RUN(allocations_fail);
  RUN(little_device_memory);
#if defined(GBT_TEST_SIMT)
  RUN(calls_to_cuda_fail);
#endif
}
