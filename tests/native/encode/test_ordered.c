/* Ordered statistics: every value of every row against a sum over all rows that the order has before it, and what must
 * hold of them whatever their definition: a row's label never reaches its own value, nor those of rows before it. */
#include "../../src/gbt/encode/ordered.h"
#include "clock.h"
#include "fault.h"
#include "made_target.h"
#include "sweep.h"

/* ---- the twin ---- */

/* Before which step of the variant's a row is visited: places of equal rank are one step. */
static int64_t *ranks(const gbti_visit *visit, int32_t variant) {
  int64_t *rank = test_alloc((size_t)(visit->n + 1) * sizeof *rank), next = 0;
  for (int b = 0; b < GBTI_VISIT_BLOCKS; b++) {
    const int32_t block = visit->order[variant][b];
    const int64_t beg = visit->block[block], end = visit->block[block + 1];
    for (int64_t k = 0; k < end - beg; k++) {
      const int64_t at = variant % 2 ? end - 1 - k : beg + k;
      rank[at] = next++;
    }
  }
  for (int64_t s = 0; visit->step != NULL && s < visit->n_steps; s++)
    for (int64_t i = visit->step[s]; i < visit->step[s + 1]; i++) rank[i] = rank[visit->step[s]];
  return rank;
}

static uint32_t y_by_twin(const gbti_part *part, uint32_t label) {
  switch (part->kind) {
  case GBTI_PART_NUMBER:
    return label * part->scale;
  case GBTI_PART_CLASS:
    return label == part->from ? ONE_Y : 0;
  case GBTI_PART_ABOVE:
    return label >= part->from ? ONE_Y : 0;
  }
  return 0;
}

/* Of the rows of an id whose rank is below `before`. */
static uint32_t value_by_twin(const made_target *m, int32_t s, uint32_t id, const int64_t *rank, int64_t before) {
  const gbti_part *part = &m->target.part[m->stat[s].part];
  int64_t a = m->stat[s].prior_weight * m->stat[s].prior, b = m->stat[s].prior_weight;
  for (int64_t i = 0; i < m->target.n; i++) {
    const int64_t w = m->target.weight != NULL ? (int64_t)m->target.weight[i] : m->target.one;
    if (m->id[i] != id || rank[i] >= before) continue;
    a += w * y_by_twin(part, m->target.label[i]);
    b += w;
  }
  return (uint32_t)(a / b);
}

/* ---- values, put together from bins by three look-up tables ---- */

/* Table k: bits 8 k .. 8 k + 7 of a value. */
static const uint8_t *bits_of_value(int k) {
  static uint8_t *table[3];
  if (table[k] != NULL) return table[k];
  table[k] = test_alloc(GBTI_N_VALUES);
  for (uint32_t x = 0; x < GBTI_N_VALUES; x++) table[k][x] = (uint8_t)(x >> (8 * k) & 255u);
  return table[k];
}

typedef struct values {
  uint32_t *value[GBTI_MAX_VARIANTS * MOST_STATS];
  int32_t n;
} values;

static values values_of(const made_target *m, int32_t n_variants, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  const gbti_ordered ask = ask_of(m);
  const size_t n = (size_t)m->target.n;
  values v = {.n = n_variants * m->n_stats};
  uint8_t *bin[GBTI_MAX_VARIANTS * MOST_STATS];
  const uint8_t *bin_of[MOST_STATS];
  for (int32_t k = 0; k < v.n; k++) {
    bin[k] = test_alloc(n + 1);
    v.value[k] = test_alloc((n + 1) * sizeof(uint32_t));
    memset(v.value[k], 0, (n + 1) * sizeof(uint32_t));
  }
  for (int part = 0; part < 3; part++) {
    for (int32_t s = 0; s < m->n_stats; s++) bin_of[s] = bits_of_value(part);
    CHECK_OK(gbti_ordered_bins(&ctx, &ask, n_variants, bin_of, bin, test_err));
    for (int32_t k = 0; k < v.n; k++)
      for (size_t i = 0; i < n; i++) v.value[k][i] |= (uint32_t)bin[k][i] << 8 * part;
  }
  for (int32_t k = 0; k < v.n; k++) free(bin[k]);
  gbt_ctx_close(&ctx);
  return v;
}

static void values_free(values *v) {
  for (int32_t k = 0; k < v->n; k++) free(v->value[k]);
}

static void check_values(const made_target *m, int n_threads) {
  const int32_t n_variants = m->visit.n_variants;
  values v = values_of(m, n_variants, n_threads);
  int64_t bad = 0;
  for (int32_t variant = 0; variant < n_variants; variant++) {
    int64_t *rank = ranks(&m->visit, variant);
    for (int32_t s = 0; s < m->n_stats; s++)
      for (int64_t i = 0; i < m->target.n; i++)
        bad += v.value[variant * m->n_stats + s][i] != value_by_twin(m, s, m->id[i], rank, rank[i]);
    free(rank);
  }
  CHECK_EQ_I64(bad, 0);
  values_free(&v);
}

static void check_counts(const made_target *m, int32_t variant, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  const gbti_ordered ask = ask_of(m);
  values v = values_of(m, m->visit.n_variants, 1);
  uint32_t *count[MOST_STATS];
  for (int32_t s = 0; s < m->n_stats; s++) count[s] = test_alloc(GBTI_N_VALUES * sizeof(uint32_t));
  CHECK_OK(gbti_ordered_count(&ctx, &ask, variant, count, test_err));
  int64_t left = 0;
  for (int32_t s = 0; s < m->n_stats; s++) {
    for (int64_t i = 0; i < m->target.n; i++) count[s][v.value[variant * m->n_stats + s][i]]--;
    for (int x = 0; x < GBTI_N_VALUES; x++) left += count[s][x] != 0;
    free(count[s]);
  }
  CHECK_EQ_I64(left, 0);
  values_free(&v);
  gbt_ctx_close(&ctx);
}

static void check_full(const made_target *m, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  const gbti_ordered ask = ask_of(m);
  uint32_t *value[MOST_STATS];
  int64_t *rank = ranks(&m->visit, 0), bad = 0;
  for (int32_t s = 0; s < m->n_stats; s++) value[s] = test_alloc((size_t)m->n_ids * sizeof(uint32_t));
  CHECK_OK(gbti_full_values(&ctx, &ask, value, test_err));
  for (int32_t s = 0; s < m->n_stats; s++) {
    for (int64_t id = 0; id < m->n_ids; id++) bad += value[s][id] != value_by_twin(m, s, (uint32_t)id, rank, INT64_MAX);
    free(value[s]);
  }
  CHECK_EQ_I64(bad, 0);
  free(rank);
  gbt_ctx_close(&ctx);
}

static void by_size(int64_t n) {
  static const int threads[] = {1, 2, 5};
  const tie tied = n % 3 == 0 ? NOT_TIED : n % 3 == 1 ? BY_GROUP : BY_TIME;
  made_target m = make_target((uint64_t)n, n, n % 5 == 0 ? n + 1 : 7, 1 + (int32_t)(n % 4), tied, (int)(n % 2));
  check_values(&m, threads[n % 7 % 3]);
  if (n % 16 == 0) check_counts(&m, (int32_t)(n / 4 % m.visit.n_variants), threads[n % 5 % 3]);
  check_full(&m, threads[n % 3]);
  target_free(&m);
}

static void sizes(void) {
  const sweep_range range = {.low = 0, .high = 260, .dense = 70};
  sweep(by_size, &range);
}

/* Any number of threads, chunks and states: the same values. */
static void threads(void) {
  for (int weighted = 0; weighted < 2; weighted++) {
    made_target m = make_target(5, 20000, 300, 3, weighted ? BY_GROUP : NOT_TIED, weighted);
    m.n_stats = weighted ? 2 : MOST_STATS;
    values one = values_of(&m, 1, 1);
    for (int t = 2; t <= 16; t += 7) {
      values more = values_of(&m, 3, t);
      for (int32_t k = 0; k < m.n_stats; k++) CHECK_EQ_BYTES(one.value[k], more.value[k], 20000 * sizeof(uint32_t));
      values_free(&more);
      if (t == 9) check_counts(&m, 1, t);
    }
    values_free(&one);
    target_free(&m);
  }
}

/* So many rows that several chunks count them. */
static void threads_that_count(void) {
  made_target m = make_target(7, 300000, 50, 2, NOT_TIED, 0);
  m.n_stats = 2;
  check_counts(&m, 1, 5);
  target_free(&m);
}

/* ---- T1, T7: no row knows its own label, nor one of its step or of steps after ---- */

static void change_label(const made_target *m, int64_t at) {
  m->target.label[at] = m->target.label[at] == 77 ? ONE_Y : 77;
}

static void no_label_reaches_itself(void) {
  test_rng rng = {9};
  for (int kind = NOT_TIED; kind <= BY_TIME; kind++) {
    made_target m = make_target(11, 500, 6, 4, (tie)kind, kind == BY_GROUP);
    const int32_t n_variants = m.visit.n_variants;
    values before = values_of(&m, n_variants, 1);
    for (int turn = 0; turn < 20; turn++) {
      const int64_t at = test_below(&rng, m.target.n);
      int64_t reached = 0, bad = 0;
      change_label(&m, at);
      values after = values_of(&m, n_variants, 2);
      for (int32_t k = 0; k < n_variants * m.n_stats; k++) {
        int64_t *rank = ranks(&m.visit, k / m.n_stats);
        for (int64_t i = 0; i < m.target.n; i++) {
          const int changed = before.value[k][i] != after.value[k][i];
          reached += changed;
          bad += changed && (m.id[i] != m.id[at] || rank[i] <= rank[at]);
        }
        free(rank);
      }
      CHECK_EQ_I64(bad, 0);
      CHECK(reached > 0 || m.target.weight != NULL);
      values_free(&before);
      before = after;
    }
    values_free(&before);
    target_free(&m);
  }
}

/* The labels of a whole group reach no row of it. */
static void no_group_reaches_itself(void) {
  made_target m = make_target(12, 500, 3, 4, BY_GROUP, 0);
  values before = values_of(&m, 4, 1);
  const int64_t step = m.visit.n_steps / 2, beg = m.visit.step[step], end = m.visit.step[step + 1];
  for (int64_t i = beg; i < end; i++) change_label(&m, i);
  values after = values_of(&m, 4, 1);
  for (int32_t k = 0; k < 4 * m.n_stats; k++)
    CHECK_EQ_BYTES(before.value[k] + beg, after.value[k] + beg, (size_t)(end - beg) * sizeof(uint32_t));
  values_free(&before);
  values_free(&after);
  target_free(&m);
}

/* ---- T2: a column without meaning looks like one ---- */

typedef struct noise {
  made_target m;
  int64_t ones;
} noise;

static noise make_noise(uint64_t seed, int64_t n_ids) {
  noise x = {make_target(seed, 20000, n_ids, 2, NOT_TIED, 0), 0};
  test_rng rng = {seed + 1000};
  x.m.n_stats = 1;
  x.m.target.n_parts = 1;
  x.m.target.part[0].most = 1;
  x.m.target.part[0].scale = ONE_Y;
  x.m.stat[0] = (gbti_statistic){0, ONE_Y / 2, 256};
  for (int64_t i = 0; i < 20000; i++) {
    x.m.id[i] = (uint32_t)test_below(&rng, n_ids);
    x.m.target.label[i] = (uint32_t)test_below(&rng, 2);
    x.ones += x.m.target.label[i];
  }
  return x;
}

/* Rows by value, ascending. */
static const uint32_t *sort_value;
static int by_value(const void *a, const void *b) {
  const uint32_t x = sort_value[*(const uint32_t *)a], y = sort_value[*(const uint32_t *)b];
  return x < y ? -1 : x > y;
}

/* The share of pairs of a 0 and a 1 that the values order, ties by half. */
static double auc_of(const noise *x, const uint32_t *value) {
  const int64_t n = x->m.target.n;
  uint32_t *row = test_alloc((size_t)n * sizeof *row);
  double below = 0.0, pairs = 0.0;
  for (int64_t i = 0; i < n; i++) row[i] = (uint32_t)i;
  sort_value = value;
  qsort(row, (size_t)n, sizeof *row, by_value);
  for (int64_t i = 0, end = 0; i < n; i = end) {
    int64_t ones = 0;
    for (end = i; end < n && value[row[end]] == value[row[i]]; end++) ones += x->m.target.label[row[end]];
    const double zeros = (double)(end - i - ones);
    pairs += (double)ones * (below + zeros / 2.0);
    below += zeros;
  }
  free(row);
  return pairs / ((double)x->ones * (double)(n - x->ones));
}

/* The largest gain of a split between two of `n_bins` bins, in units in which it is chi-squared for noise. */
static double best_gain(const noise *x, const uint8_t *bin, int32_t n_bins) {
  const double n = (double)x->m.target.n, p = (double)x->ones / n;
  double best = 0.0, rows = 0.0, ones = 0.0;
  for (int32_t b = 0; b + 1 < n_bins; b++) {
    for (int64_t i = 0; i < x->m.target.n; i++) {
      rows += bin[i] == b;
      ones += bin[i] == b && x->m.target.label[i];
    }
    if (rows == 0.0 || rows == n) continue;
    const double d = ones - p * rows, gain = d * d * n / (p * (1.0 - p) * rows * (n - rows));
    if (gain > best) best = gain;
  }
  return best;
}

static void check_noise(uint64_t seed, int64_t n_ids) {
  noise x = make_noise(seed, n_ids);
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbti_ordered ask = ask_of(&x.m);
  values v = values_of(&x.m, 2, 1);
  uint32_t *count = test_alloc(GBTI_N_VALUES * sizeof *count), upper[16];
  uint8_t *of = test_alloc(GBTI_N_VALUES), *bin[2] = {test_alloc(20000), test_alloc(20000)};
  const uint8_t *bin_of = of;
  CHECK_OK(gbti_ordered_count(&ctx, &ask, 0, &count, test_err));
  const int32_t n_bins = gbti_value_cuts(count, 16, of, upper);
  CHECK_OK(gbti_ordered_bins(&ctx, &ask, 2, &bin_of, bin, test_err));
  for (int32_t variant = 0; variant < 2; variant++) {
    const double auc = auc_of(&x, v.value[variant]), gain = best_gain(&x, bin[variant], n_bins);
    if (!CHECK(fabs(auc - 0.5) < 4.0 * 0.0041) || !CHECK(gain < 20.0)) test_note("AUC %g, gain %g", auc, gain);
  }
  free(count);
  free(of);
  free(bin[0]);
  free(bin[1]);
  values_free(&v);
  target_free(&x.m);
  gbt_ctx_close(&ctx);
}

static void noise_stays_noise(void) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    check_noise(seed, 10000);
    check_noise(seed + 50, 5);
  }
}

/* ---- T4: a number of the row as a category says nothing ---- */

static void rows_of_their_own(void) {
  made_target m = make_target(3, 1000, 1000, 2, NOT_TIED, 0);
  uint32_t *count[MOST_STATS], upper[GBTI_MOST_BINS];
  gbt_ctx ctx = test_ctx(NULL, 1);
  const gbti_ordered ask = ask_of(&m);
  for (int64_t i = 0; i < 1000; i++) m.id[i] = (uint32_t)i;
  for (int32_t s = 0; s < MOST_STATS; s++) count[s] = test_alloc(GBTI_N_VALUES * sizeof(uint32_t));
  CHECK_OK(gbti_ordered_count(&ctx, &ask, 1, count, test_err));
  uint8_t *of = test_alloc(GBTI_N_VALUES);
  for (int32_t s = 0; s < MOST_STATS; s++) {
    CHECK_EQ_I64(count[s][m.stat[s].prior], 1000);
    CHECK_EQ_I64(gbti_value_cuts(count[s], GBTI_MOST_BINS, of, upper), 1);
    free(count[s]);
  }
  free(of);
  target_free(&m);
  gbt_ctx_close(&ctx);
}

/* ---- the largest numbers ---- */

static void largest_numbers(void) {
  made_target m = make_target(4, 1024, 1, 2, NOT_TIED, 1);
  for (int64_t i = 0; i < 1024; i++) {
    m.target.label[i] = i % 3 == 0 ? ONE_Y - 1 : ONE_Y;
    m.target.weight[i] = UINT32_MAX;
  }
  for (int32_t s = 0; s < MOST_STATS; s++) {
    m.stat[s].prior = s % 2 ? 0 : ONE_Y;
    m.stat[s].prior_weight = s < 4 ? (int64_t)1 << 42 : 1;
  }
  check_values(&m, 2);
  check_full(&m, 2);
  for (int64_t i = 0; i < 1024; i++) m.target.label[i] = ONE_Y;
  check_values(&m, 1);
  target_free(&m);
}

/* As many rows as make states of numbers wide, with every label the largest. */
static void many_rows(void) {
  const int64_t n = (1 << 22) + 5;
  made_target m = make_target(6, n, 2, 1, NOT_TIED, 0);
  m.n_stats = 2;
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbti_ordered ask = ask_of(&m);
  uint32_t full[MOST_STATS][2], *value[MOST_STATS];
  for (int32_t s = 0; s < m.n_stats; s++) value[s] = full[s];
  for (int64_t i = 0; i < n; i++) m.target.label[i] = ONE_Y;
  CHECK_OK(gbti_full_values(&ctx, &ask, value, test_err));
  int64_t *rank = ranks(&m.visit, 0);
  for (int32_t s = 0; s < m.n_stats; s++)
    for (uint32_t id = 0; id < 2; id++) CHECK_EQ_I64(full[s][id], value_by_twin(&m, s, id, rank, INT64_MAX));
  free(rank);
  target_free(&m);
  gbt_ctx_close(&ctx);
}

/* ---- memory that runs out, and being asked to stop ---- */

static gbt_status all_of(gbt_ctx *ctx, const made_target *m, gbt_error *err) {
  const gbti_ordered ask = ask_of(m);
  const uint8_t *bin_of[MOST_STATS];
  const size_t n = (size_t)m->target.n;
  uint8_t *of = test_alloc(GBTI_N_VALUES), *bin = test_alloc(2 * MOST_STATS * n), *bins[2 * MOST_STATS];
  uint32_t *space = test_alloc(GBTI_N_VALUES * sizeof *space), *to[MOST_STATS];
  memset(of, 0, GBTI_N_VALUES);
  for (int32_t s = 0; s < m->n_stats; s++) to[s] = space, bin_of[s] = of;
  for (int32_t k = 0; k < 2 * m->n_stats; k++) bins[k] = bin + (size_t)k * n;
  gbt_status status = gbti_ordered_count(ctx, &ask, 0, to, err);
  if (status == GBT_OK) status = gbti_ordered_bins(ctx, &ask, 2, bin_of, bins, err);
  if (status == GBT_OK) status = gbti_full_values(ctx, &ask, to, err);
  free(of);
  free(bin);
  free(space);
  return status;
}

static gbt_status all_with(const gbt_mem *mem, void *arg, gbt_error *err) {
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 3, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = all_of(&ctx, arg, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void no_memory(void) {
  made_target m = make_target(8, 9000, 10, 2, NOT_TIED, 0);
  m.n_stats = 1; /* fewer walks than threads: chunks */
  CHECK(fault_sweep(all_with, &m) >= 7);
  target_free(&m);
}

static int count_down(void *user) {
  int *left = user;
  return --*left < 0;
}

static void stops(void) {
  made_target m = make_target(8, 3000, 10, 2, NOT_TIED, 0);
  gbt_status status = GBT_CANCELLED;
  int asks = 0;
  m.n_stats = 1;
  clock_jump(20000000);
  for (; status == GBT_CANCELLED && asks < 5000; asks += 1 + asks / 4) {
    gbt_ctx ctx;
    int left = asks;
    CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, count_down, &left, test_err));
    status = all_of(&ctx, &m, NULL);
    CHECK_EQ_I64(status, left < 0 ? GBT_CANCELLED : GBT_OK);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  CHECK(status == GBT_OK && asks > 3 * GBTI_VISIT_BLOCKS);
  target_free(&m);
}

void suite_ordered(void) {
  RUN(sizes);
  RUN(threads);
  RUN(threads_that_count);
  RUN(no_label_reaches_itself);
  RUN(no_group_reaches_itself);
  RUN(noise_stays_noise);
  RUN(rows_of_their_own);
  RUN(largest_numbers);
  RUN(many_rows);
  RUN(no_memory);
  RUN(stops);
}
