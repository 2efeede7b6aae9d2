/* Seconds of the statistics of categories, step by step.
 *
 *   encode [rows] [threads] [variants] [labels: binary or numbers] [weights: 0 or 1]    default 10000000 2 4 binary 0
 *
 * Columns of 50, 4,000 and 300,000 levels, most of the rows in the first of them, each with two means (prior weights of
 * 1 and 10 rows) and its numbers of rows; then keys of the pair of the last two. Time of day. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "encode/keys.h"
#include "encode/ordered.h"

enum { N_STATS = 2, N_COLUMNS = 3 };

typedef struct bench {
  gbt_ctx ctx;
  gbt_error err;
  gbti_visit visit;
  gbti_target target;
  int64_t n;
  int32_t n_variants;
  uint32_t *level, *id[N_COLUMNS];
  uint32_t *count[N_STATS], *value[N_STATS];
  uint8_t *bin_of[N_STATS], *bin[N_STATS * GBTI_MAX_VARIANTS];
  double since, all;
} bench;

static void check(bench *b, gbt_status status) {
  if (status == GBT_OK) return;
  fprintf(stderr, "encode: %s\n", b->err.msg);
  exit(1);
}

static void *take(size_t bytes) {
  void *block = malloc(bytes);
  if (block == NULL) exit(1);
  memset(block, 0, bytes);
  return block;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start(bench *b) { b->since = now(); }

static void stop(bench *b, const char *what, int64_t levels) {
  const double s = now() - b->since;
  b->all += s;
  if (levels > 0)
    printf("%-28s %8lld levels %8.3f s\n", what, (long long)levels, s);
  else
    printf("%-28s %15s %8.3f s\n", what, "", s);
  start(b);
}

static void column(bench *b, int c, int64_t n_levels) {
  const gbti_key_column col = {b->level, n_levels};
  const gbti_statistic stat[N_STATS] = {{0, b->target.part[0].prior, gbti_prior_weight(&b->target, 1.0)},
                                        {0, b->target.part[0].prior, gbti_prior_weight(&b->target, 10.0)}};
  gbti_ordered ask = {&b->visit, &b->target, b->id[c], n_levels + 2, stat, N_STATS};
  uint32_t upper[GBTI_MOST_BINS];
  gbti_keys keys;
  for (int64_t i = 0; i < b->n; i++) {
    const uint64_t x = gbt_mix64((uint64_t)i ^ (uint64_t)n_levels << 40);
    const uint64_t u = (x >> 32) * (x >> 32) >> 32; /* more of the low ones */
    b->level[i] = (uint32_t)(u * (uint64_t)n_levels >> 32);
  }
  start(b);
  check(b, gbti_keys_make(&b->ctx, &col, 1, b->n, INT64_MAX, 1, &keys, &b->err));
  for (int64_t i = 0; i < b->n; i++) b->id[c][i] = keys.id[b->visit.row[i]];
  stop(b, "ids in base order", n_levels);
  check(b, gbti_ordered_count(&b->ctx, &ask, 0, b->count, &b->err));
  stop(b, "histograms of values", n_levels);
  for (int s = 0; s < N_STATS; s++) gbti_value_cuts(b->count[s], 64, b->bin_of[s], upper);
  stop(b, "cuts", n_levels);
  check(b, gbti_ordered_bins(&b->ctx, &ask, b->n_variants, (const uint8_t *const *)b->bin_of, b->bin, &b->err));
  stop(b, "bins of all variants", n_levels);
  check(b, gbti_full_values(&b->ctx, &ask, b->value, &b->err));
  stop(b, "tables", n_levels);
  gbti_count_bins(keys.count, keys.n_keys, 64, b->bin[0], upper);
  stop(b, "bins of numbers of rows", n_levels);
  gbti_keys_free(&keys);
}

static int64_t number(int argc, char **argv, int at, int64_t otherwise) {
  return argc > at ? strtoll(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
  static const int64_t levels[N_COLUMNS] = {50, 4000, 300000};
  bench b = {.n = number(argc, argv, 1, 10000000), .n_variants = (int32_t)number(argc, argv, 3, 4)};
  const int binary = argc <= 4 || strcmp(argv[4], "numbers") != 0, weighted = number(argc, argv, 5, 0) != 0;
  const size_t n = (size_t)b.n;
  check(&b, gbt_ctx_open(&b.ctx, gbt_mem_default(), (int)number(argc, argv, 2, 2), GBT_SIMD_AUTO, NULL, NULL, &b.err));
  double *label = take(n * sizeof *label), *weight = take(n * sizeof *weight);
  for (size_t i = 0; i < n; i++) {
    const double x = (double)(gbt_mix64(i) >> 11) * 0x1p-53;
    label[i] = binary ? x > 0.7 : x * x;
    weight[i] = 0.5 + x;
  }
  gbt_rows rows = {.n = b.n};
  rows.field[GBT_LABEL] = label;
  rows.field[GBT_WEIGHT] = weighted ? weight : NULL;
  const gbt_objective objective = gbt_objective_make(binary ? GBT_OBJ_LOGISTIC : GBT_OBJ_SQUARED_ERROR, 1);
  b.level = take(n * sizeof *b.level);
  for (int c = 0; c < N_COLUMNS; c++) b.id[c] = take(n * sizeof **b.id);
  for (int s = 0; s < N_STATS; s++) {
    b.count[s] = take(GBTI_N_VALUES * sizeof **b.count);
    b.bin_of[s] = take(GBTI_N_VALUES);
    b.value[s] = take((size_t)(levels[N_COLUMNS - 1] + 2) * sizeof **b.value);
  }
  /* the first has the bins of keys as well */
  for (int32_t k = 0; k < N_STATS * b.n_variants; k++) b.bin[k] = take(n + (size_t)levels[N_COLUMNS - 1] + 1);
  start(&b);
  check(&b, gbti_visit_make(&b.ctx, &rows, 42, b.n_variants, &b.visit, &b.err));
  stop(&b, "orders of rows", 0);
  check(&b, gbti_target_make(&b.ctx, &objective, &rows, &b.visit, 0, 1.0, &b.target, &b.err));
  stop(&b, "labels", 0);
  for (int c = 0; c < N_COLUMNS; c++) column(&b, c, levels[c]);
  printf("%-44s %8.3f s\n", "all", b.all);
  gbti_keys keys;
  const gbti_key_column pair[2] = {{b.id[1], levels[1]}, {b.id[2], levels[2]}};
  start(&b);
  check(&b, gbti_keys_make(&b.ctx, pair, 2, b.n, INT64_MAX, 1, &keys, &b.err));
  stop(&b, "keys of a pair", keys.n_keys);
  gbti_keys_free(&keys);
  return 0;
}
