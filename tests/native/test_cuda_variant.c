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

/* What is not for the kernel of small data is taken back. */
static void make_small(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  p->grow_policy = 0;
  p->max_depth = 1 + (int64_t)(seed % 8);
  p->colsample_bylevel = p->colsample_bynode = 1.0;
  p->max_cat_onehot = 65535;
  p->hist_memory = 1024;
  if (p->num_parallel_tree > 2) p->num_parallel_tree = 1;
  r->job.spec.n_interact = 0;
}

static int64_t grown_small(uint64_t seed) {
  random_job r = random_job_make(seed, 400);
  make_small(&r, seed);
  const int64_t n_derived = equal_on_device(&r, seed, gbt_cuda_api());
  random_job_free(&r);
  return n_derived;
}

static void trees_are_those_of_the_cpu(void) {
  int64_t n_derived = 0;
  for (uint64_t seed = 1; seed <= JOBS && test_n_bad() < 3; seed++)
    n_derived += grown(seed, 400, seed % 2 ? gbt_cuda_api() : cuda_steps_api());
  CHECK(n_derived > 100);
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
  if (small) make_small(&r, seed);
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
  for (uint64_t seed = 2000; seed < 2000 + JOBS && test_n_bad() < 3; seed++)
    n_splits += fitted(seed, gbt_cuda_api(), 0);
  test_note("%" PRId64 " splits", n_splits);
  CHECK(n_splits > 150);
}

/* Trees that one kernel grows, and such a training that fits them once more. */
static void small_data(void) {
  int64_t n_derived = 0;
  setenv("SIMT_COOPERATIVE", "1", 1);
  for (uint64_t seed = 1; seed <= 12; seed++) {
    setenv("SIMT_UNITS", seed % 2 ? "7" : "4", 1);
    n_derived += grown_small(seed + 5000);
    fitted(seed + 5100, gbt_cuda_api(), 1);
  }
  unsetenv("SIMT_COOPERATIVE");
  unsetenv("SIMT_UNITS");
  CHECK(n_derived > 100);
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
  RUN(larger_ones);
  RUN(trees_that_are_fitted_once_more);
  RUN(small_data);
  RUN(codes_that_stay);
  RUN(stores_that_forget);
}
