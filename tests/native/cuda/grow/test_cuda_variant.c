/* Extended data sets on the device: the bytes that the CPU gives, which test_variant.c compares with ordinary data
 * sets. Batches of trees, recorded steps, the kernel of small data. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "cuda_steps.h"
#include "mask_job.h"
#include "stores.h"
#include "variant_job.h"

#include <stdlib.h>

enum { JOBS = 24 };

/* Splits by derived features; -1: not those of the CPU. */
static int64_t equal_on_device(random_job *r, uint64_t seed, const gbt_device_api *api) {
  if (r->job.spec.params.grow_policy == GBT_SYMMETRIC) r->job.spec.params.hist_memory = 1024; /* a layer must fit */
  variant_job j = variant_job_make(r, seed);
  r->job.rounds += (int64_t)(seed % 4); /* the third round is the first that replays what was recorded */
  train_how device = r->how;
  device.device = api;
  variant_end cpu = variant_grow(&j, &r->how), cuda = variant_grow(&j, &device);
  const int ok = CHECK(same_ends(&cpu, &cuda));
  if (!ok) random_job_tell(r, seed);
  const int64_t n_derived = ok ? cpu.n_derived : -1;
  variant_end_free(&cpu);
  variant_end_free(&cuda);
  variant_job_free(&j);
  return n_derived;
}

static int64_t grown(uint64_t seed, int64_t rows, const gbt_device_api *api) {
  random_job r = random_job_make(seed, rows);
  const int64_t n_derived = equal_on_device(&r, seed, api);
  random_job_free(&r);
  return n_derived;
}

static int64_t grown_small(uint64_t seed) {
  random_job r = random_job_make(seed, 400);
  random_job_small(&r, seed);
  const int64_t n_derived = equal_on_device(&r, seed, gbt_cuda_api());
  random_job_free(&r);
  return n_derived;
}

static void trees_are_those_of_the_cpu(void) {
  int64_t n_derived = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && test_n_bad() < 3; seed++)
    n_derived += grown(seed, 400, seed % 2 ? gbt_cuda_api() : cuda_steps_api());
  CHECK_SEEN(n_derived > 100);
}

/* Codes that stand in several places, or are streamed: those of a variant come from its own pages. */
static void codes_in_several_places(void) {
  for (int s = 0; s < 2; s++) {
    const store_kind before = stores_use(s ? STORE_POISON : STORE_MEMORY);
    int64_t n_derived = 0;
    for (uint64_t seed = 300; seed < 300 + test_cases(8) && test_n_bad() < 3; seed++) {
      const int percent = (int)(seed % 3) * 30;
      n_derived += grown(seed, 400, cuda_apart_api(percent, 60 - percent));
    }
    test_note("%d splits by derived features", (int)n_derived);
    CHECK_SEEN(n_derived > 20);
    stores_use(before);
  }
}

/* More rows than a block of any kernel takes; copies of columns. */
static void larger_ones(void) {
  for (uint64_t seed = 900; seed < 902; seed++) grown(seed, 6000, seed % 2 ? cuda_steps_api() : gbt_cuda_api());
}

/* Splits of trees that are fitted once more, on other bins than those that they were grown by; -1: not as on the CPU.
 */
static int64_t fitted(uint64_t seed, const gbt_device_api *api, int small) {
  random_job r = random_job_make(seed, 400);
  if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024;
  if (small) random_job_small(&r, seed);
  variant_job j = variant_job_make(&r, seed);
  j.fit_after = (int32_t)(seed % (uint64_t)j.n_variants);
  train_how device = r.how;
  device.device = api;
  int64_t n_splits = 0;
  if (r.job.custom == NULL) {
    variant_end cpu = variant_refit(&j, &r.how), cuda = variant_refit(&j, &device);
    const int ok = CHECK(same_ends(&cpu, &cuda));
    n_splits = ok ? (int64_t)(cpu.forest->n_nodes - cpu.forest->n_trees) / 2 : -1;
    if (!ok) random_job_tell(&r, seed);
    variant_end_free(&cpu);
    variant_end_free(&cuda);
  }
  variant_job_free(&j);
  random_job_free(&r);
  return n_splits;
}

static void trees_that_are_fitted_once_more(void) {
  int64_t n_splits = 0;
  for (uint64_t seed = 2000; seed < 2000 + test_cases(JOBS) && test_n_bad() < 3; seed++)
    n_splits += fitted(seed, seed % 4 == 3 ? cuda_apart_api(30, 30) : gbt_cuda_api(), 0);
  test_note("%" PRId64 " splits", n_splits);
  CHECK_SEEN(n_splits > 150);
}

/* ---- trainings whose statistics the trainer makes ---- */

static variant_end trained_with_statistics(const train_job *job, const train_how *how) {
  variant_end end = {.forest = NULL};
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_ctx ctx;
  const gbt_mem mem = gbt_mem_default();
  CHECK_OK(gbt_ctx_open(&ctx, mem, how->threads, how->simd, NULL, NULL, test_err));
  int ok = CHECK(job_open(&ctx, job, how->page_rows, &spec));
  spec.device = how->device;
  ok = ok && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && train_rounds(&ctx, job, tr, &why);
  if (ok) {
    const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    const int32_t n_base = spec.train->cuts->n_features;
    ok = CHECK_OK(gbt_forest_new_like(&mem, &view, &end.forest, test_err)) &&
         CHECK_OK(gbt_forest_append(end.forest, &view, test_err));
    for (size_t i = 0; i < view.n_nodes; i++)
      end.n_derived += view.nodes[i].left > 0 && (int32_t)(view.nodes[i].feat & GBT_NODE_FEATURE) >= n_base;
  }
  for (int32_t s = 0; ok && s <= spec.n_valid; s++) {
    const double *score = NULL;
    end.cells[s] = gbt_trainer_n_rows(tr, s) * spec.objective.n_outputs;
    end.score[s] = test_alloc(((size_t)end.cells[s] + 1) * sizeof **end.score);
    if (CHECK_OK(gbt_trainer_scores(&ctx, tr, s, &score, test_err)))
      memcpy(end.score[s], score, (size_t)end.cells[s] * sizeof *score);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return end;
}

/* Two backends of one device: one grows trees, the other fits them once more. */
static void statistics_of_categories(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_BELL, MADE_FACTOR, MADE_HOLED, MADE_FEW};
  static const uint8_t method[] = {GBT_CAT_TARGET | GBT_CAT_COUNT, GBT_CAT_AUTO, GBT_CAT_TARGET | GBT_CAT_ONEHOT,
                                   GBT_CAT_TARGET, GBT_CAT_AUTO};
  static const gbt_objective_kind losses[] = {GBT_OBJ_LOGISTIC, GBT_OBJ_SOFTMAX, GBT_OBJ_QUANTILE, GBT_OBJ_POISSON};
  int64_t n_derived = 0;
  for (int k = 0; k < 8; k++) {
    const int32_t n_outputs = losses[k % 4] == GBT_OBJ_SOFTMAX ? 3 : 1;
    made *m = made_new((uint64_t)k + 70, 300 + 100 * k, 5, kinds), *valid = made_new((uint64_t)k + 90, 60, 5, kinds);
    made_response(m, losses[k % 4], n_outputs, (uint64_t)k);
    made_response(valid, losses[k % 4], n_outputs, (uint64_t)k + 1);
    train_job job = job_make(m, losses[k % 4], n_outputs, 3);
    job.valid[0] = valid;
    job.spec.n_valid = 1;
    job.spec.cat_method = method;
    job.spec.params.max_depth = 4;
    job.spec.params.max_cat_combine = 2;
    job.spec.params.grow_policy = k % 3;
    job.spec.params.subsample = k % 2 ? 0.7 : 1.0;
    job.spec.params.num_parallel_tree = k == 5 ? 2 : 1;
    const train_how cpu = {2, 0, GBT_SIMD_AUTO, NULL}, cuda = {2, 70, GBT_SIMD_AUTO, gbt_cuda_api()};
    variant_end a = trained_with_statistics(&job, &cpu), b = trained_with_statistics(&job, &cuda);
    CHECK(same_ends(&a, &b));
    n_derived += a.n_derived;
    variant_end_free(&a);
    variant_end_free(&b);
    made_free(m);
    made_free(valid);
  }
  CHECK(n_derived > 50);
}

/* Trees that one kernel grows, and such a training that fits them once more. */
static void small_data(void) {
  int64_t n_derived = 0;
  setenv("SIMT_COOPERATIVE", "1", 1);
  for (uint64_t seed = 1; seed <= test_cases(12); seed++) {
    setenv("SIMT_UNITS", seed % 2 ? "7" : "4", 1);
    n_derived += grown_small(seed + 5000);
    fitted(seed + 5100, gbt_cuda_api(), 1);
  }
  unsetenv("SIMT_COOPERATIVE");
  unsetenv("SIMT_UNITS");
  CHECK_SEEN(n_derived > 100);
}

/* Codes that the device has made and kept: of all rows, and of those of a mask. */
static void codes_that_stay(void) {
  enum { N = 33000, COLUMNS = 11 };
  static const made_kind kinds[COLUMNS] = {MADE_BELL}; /* all of them: words of codes, in two strips */
  for (int with_mask = 0; with_mask < 2; with_mask++) {
    made *m = made_new(21, N, COLUMNS, kinds);
    made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
    random_job r = {.data = m, .job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2)};
    variant_job j = variant_job_make(&r, 31);
    free(j.mask);
    j.mask = with_mask ? mask_make(MASK_HALF, N, 3) : NULL;
    j.with_drop = with_mask;
    j.drop_first = 8; /* the first strip is not there, and the others are not where the base has them */
    r.job.max_bin = 1000;
    j.n_derived = 3;
    r.job.rounds = 2;
    r.job.spec.params.max_depth = 3;
    const train_how cpu = {2, 5000, GBT_SIMD_AUTO, NULL}, cuda = {2, 5000, GBT_SIMD_AUTO, cuda_steps_api()};
    variant_end a = variant_grow(&j, &cpu);
    j.help = gbt_cuda_api();
    variant_end b = variant_grow(&j, &cuda);
    CHECK(same_ends(&a, &b) && a.n_derived > 0 && a.n_derived < (int64_t)a.forest->n_nodes / 2);
    variant_end_free(&a);
    variant_end_free(&b);
    variant_job_free(&j);
    made_free(m);
  }
}

static void stores_that_forget(void) {
  const store_kind before = stores_use(STORE_POISON);
  for (uint64_t seed = 600; seed < 604; seed++) grown(seed, 300, cuda_steps_api());
  stores_use(before);
}

void suite_cuda_variant(void) {
  RUN(trees_are_those_of_the_cpu);
  RUN(codes_in_several_places);
  RUN(larger_ones);
  RUN(trees_that_are_fitted_once_more);
  RUN(statistics_of_categories);
  RUN(small_data);
  RUN(codes_that_stay);
  RUN(stores_that_forget);
}
