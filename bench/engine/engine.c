/* Times the engine alone, without R: made data of n rows x m features, binary label with interactions and noise.
 * GBT_SIMD in the environment names the instruction set.
 *
 *   engine [rows] [features] [depth] [rounds] [threads] [repeats] [name=value ...]      default 1000000 28 8 100 2 3
 *
 * name=value: any training parameter, choices by position (grow_policy=1 max_leaves=255).
 *
 * Prints seconds for cuts + pages, every phase of training, and prediction of all rows; and the most memory that the
 * engine held in each of the three. */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "made.h"

/* What the engine holds, and the most it held. */
static _Atomic size_t held, peak;

static void *counted_alloc(void *user, size_t bytes) {
  void *p = malloc(bytes);
  (void)user;
  if (!p) return NULL;
  size_t now = atomic_fetch_add(&held, malloc_usable_size(p)) + malloc_usable_size(p), top = atomic_load(&peak);
  while (now > top && !atomic_compare_exchange_weak(&peak, &top, now)) continue;
  return p;
}

static void counted_free(void *user, void *p) {
  (void)user;
  atomic_fetch_sub(&held, malloc_usable_size(p));
  free(p);
}

static double megabytes(size_t bytes) { return (double)bytes * 1e-6; }

static double seconds(void) { return (double)gbt_clock_ns() * 1e-9; }

/* What the environment names; the best one where it names none of the machine's. */
static gbt_simd simd_asked(void) {
  const char *name = getenv("GBT_SIMD");
  for (int simd = GBT_SIMD_SCALAR; name != NULL && gbt_simd_here(simd) != NULL; simd++)
    if (strcmp(name, gbt_simd_here(simd)) == 0) return (gbt_simd)simd;
  return GBT_SIMD_AUTO;
}

static int run(const made *d, const gbt_params *params, int64_t rounds, int threads) {
  gbt_error err = {0};
  gbt_ctx ctx;
  gbt_dataset *ds = NULL;
  gbt_trainer *tr = NULL;
  gbt_binding *binding = NULL;
  gbt_stop_reason why;
  double *score = malloc((size_t)d->n * sizeof *score);
  gbt_table table = {.n_rows = d->n, .n_cols = d->m, .cols = d->col};
  gbt_mem mem = {counted_alloc, counted_free, NULL};
  size_t peaks[3] = {0, 0, 0};
  gbt_status s = gbt_ctx_open(&ctx, mem, threads, simd_asked(), NULL, NULL, &err);
  double t0 = seconds(), t1 = t0, t2 = t0, t3 = t0, phase[GBT_N_PHASES] = {0}, metric = 0;
  const gbt_dataset_spec data = {.table = &table, .max_bin = 255};
  if (!s) s = gbt_dataset_make(&ctx, &data, &ds, &err);
  if (!s) s = gbt_dataset_set(&ctx, ds, GBT_LABEL, d->y, d->n, &err);
  t1 = seconds();
  peaks[0] = peak;
  peak = held;
  gbt_trainer_spec spec = {.params = *params, .objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1), .train = ds};
  if (!s) s = gbt_trainer_new(&ctx, &spec, &tr, &err);
  if (!s) s = gbt_trainer_run(&ctx, tr, rounds, &why, &err);
  t2 = seconds();
  peaks[1] = peak;
  peak = held;
  if (!s) {
    gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    gbt_trainer_seconds(tr, phase);
    s = gbt_binding_new(&ctx, &table, ds->cuts->schema, GBT_UNSEEN_PRIOR, &binding, &err);
    if (!s) s = gbt_predict_scores(&ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, NULL, score, &err);
    t3 = seconds();
    peaks[2] = peak;
    const gbt_metric logloss = gbt_metric_plain(GBT_METRIC_LOGLOSS);
    const gbt_rows rows = {.n = d->n, .field = {[GBT_LABEL] = d->y}};
    if (!s) s = gbt_metric_eval(&ctx, &logloss, &spec.objective, &rows, NULL, score, &metric, &err);
  }
  if (s)
    fprintf(stderr, "%s\n", err.msg);
  else
    printf("dataset %.3f  train %.3f (gradient %.3f hist %.3f split %.3f partition %.3f leaf %.3f)  predict %.3f  "
           "logloss %.6f  peak MB %.1f %.1f %.1f\n",
           t1 - t0, t2 - t1, phase[0], phase[1], phase[2], phase[3], phase[4], t3 - t2, metric, megabytes(peaks[0]),
           megabytes(peaks[1]), megabytes(peaks[2]));
  gbt_binding_free(binding);
  gbt_trainer_free(tr);
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  free(score);
  return s != GBT_OK;
}

static long arg(int argc, char **argv, int i, long def) { return argc > i ? strtol(argv[i], NULL, 10) : def; }

/* name=value arguments into params; 0 when one is wrong. */
static int set_params(int argc, char **argv, int first, gbt_params *params) {
  for (int i = first; i < argc; i++) {
    gbt_error err = {0};
    char *equals = strchr(argv[i], '=');
    if (!equals) {
      fprintf(stderr, "%s: not name=value\n", argv[i]);
      return 0;
    }
    *equals = 0;
    if (gbt_params_set(params, argv[i], strtod(equals + 1, NULL), &err) != GBT_OK) {
      fprintf(stderr, "%s\n", err.msg);
      return 0;
    }
  }
  return 1;
}

int main(int argc, char **argv) {
  long n = arg(argc, argv, 1, 1000000), m = arg(argc, argv, 2, 28), depth = arg(argc, argv, 3, 8);
  long rounds = arg(argc, argv, 4, 100), threads = arg(argc, argv, 5, 2), repeats = arg(argc, argv, 6, 3);
  gbt_params params = gbt_params_default();
  made d;
  int bad = 0;
  params.max_depth = depth;
  if (!set_params(argc, argv, 7, &params)) return 2;
  made_make(&d, n, (int32_t)m);
  for (long r = 0; r < repeats && !bad; r++) bad = run(&d, &params, rounds, (int)threads);
  made_free(&d);
  return bad;
}
