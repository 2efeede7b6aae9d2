/* Which combinations are worth it: against the definition in plain loops, and on labels that are made to be so. */
#include "../../src/gbt/encode/worth.h"
#include "sweep.h"

enum { MOST_BINS = 255 };

typedef struct made_rows {
  gbti_target target;
  uint8_t *bin[3]; /* whole, first, second */
  int32_t n_bins[3];
} made_rows;

/* Bins of the halves at random, those of the whole tell both. */
static made_rows make_rows(test_rng *rng, int64_t n, int32_t n_first, int32_t n_second) {
  made_rows m = {.target = {.n = n, .n_parts = 1, .one = 1}, .n_bins = {n_first * n_second, n_first, n_second}};
  static const uint32_t scales[] = {GBTI_N_VALUES - 1, 5000, 17, 1}; /* labels in a small part of the range, too */
  m.target.part[0] = (gbti_part){.mask = UINT32_MAX, .most = 1, .scale = scales[test_below(rng, 4)]};
  m.target.label = test_alloc((size_t)(n + 1) * sizeof *m.target.label);
  for (int f = 0; f < 3; f++) m.bin[f] = test_alloc((size_t)(n + 1));
  for (int64_t i = 0; i < n; i++) {
    m.bin[1][i] = (uint8_t)test_below(rng, n_first);
    m.bin[2][i] = (uint8_t)test_below(rng, n_second);
    m.bin[0][i] = (uint8_t)(m.bin[1][i] * n_second + m.bin[2][i]);
  }
  return m;
}

static void rows_free(made_rows *m) {
  free(m->target.label);
  for (int f = 0; f < 3; f++) free(m->bin[f]);
}

static int64_t gain_of(const made_rows *m, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  int64_t gain = -1;
  const gbti_forecast whole = {m->bin[0], m->n_bins[0]}, first = {m->bin[1], m->n_bins[1]},
                      second = {m->bin[2], m->n_bins[2]};
  CHECK_OK(gbti_worth(&ctx, &m->target, 0, whole, first, second, &gain, test_err));
  gbt_ctx_close(&ctx);
  return gain;
}

static int is_worth(const made_rows *m, int n_threads) { return gain_of(m, n_threads) > 0; }

static int64_t y_of(const made_rows *m, int64_t i) { return (int64_t)m->target.part[0].scale * m->target.label[i]; }

/* The mean y of the rows of row i's bin. */
static int64_t mean_by_twin(const made_rows *m, const uint8_t *bin, int which) {
  int64_t sum = 0, rows = 0;
  for (int64_t i = 0; i < m->target.n; i++)
    if (bin[i] == which) sum += y_of(m, i), rows++;
  return rows > 0 ? sum / rows : 0;
}

/* The range of labels, and by how much it is shifted to 12 bits. */
typedef struct range {
  int64_t least, most;
  int shift;
} range;

static range range_of(const made_rows *m) {
  range r = {INT64_MAX, INT64_MIN, 0};
  for (int64_t i = 0; i < m->target.n; i++) {
    if (y_of(m, i) < r.least) r.least = y_of(m, i);
    if (y_of(m, i) > r.most) r.most = y_of(m, i);
  }
  while (m->target.n > 0 && (r.most - r.least) >> r.shift > 4095) r.shift++;
  return r;
}

static int64_t square_of(range r, int64_t y, int64_t value) {
  const int64_t d = ((y - r.least) >> r.shift) - ((value - r.least) >> r.shift);
  return d * d;
}

/* By how much the whole misses less than another forecast; 0 where that may be chance. value: by row. */
static int64_t gain_over(const made_rows *m, const int64_t *value, const int64_t *mean_of_whole) {
  const range r = range_of(m);
  int64_t gain = 0;
  double square = 0.0; /* exact: below 2^48 each, and few */
  for (int64_t i = 0; i < m->target.n; i++) {
    const int64_t y = y_of(m, i);
    const int64_t better = square_of(r, y, value[i]) - square_of(r, y, mean_of_whole[m->bin[0][i]]);
    gain += better;
    square += (double)better * (double)better / 65536.0;
  }
  const double scaled = (double)gain / 256.0;
  return gain > 0 && scaled * scaled > 16.0 * square ? gain : 0;
}

static int64_t gain_by_twin(const made_rows *m) {
  int64_t mean[3][MOST_BINS], sum = 0, *value = test_alloc((size_t)(m->target.n + 1) * sizeof *value), least = 0;
  for (int f = 0; f < 3; f++)
    for (int b = 0; b < m->n_bins[f]; b++) mean[f][b] = mean_by_twin(m, m->bin[f], b);
  const range r = range_of(m);
  for (int64_t i = 0; i < m->target.n; i++) sum += y_of(m, i);
  for (int other = 0; other < 3 && m->target.n > 0; other++) {
    for (int64_t i = 0; i < m->target.n; i++) {
      const int64_t first = mean[1][m->bin[1][i]], second = mean[2][m->bin[2][i]];
      const int64_t added = first + second - sum / m->target.n;
      const int64_t within = added < r.least ? r.least : added > r.most ? r.most : added;
      value[i] = other == 1 ? first : other == 2 ? second : within;
    }
    const int64_t gain = gain_over(m, value, mean[0]);
    least = other == 0 || gain < least ? gain : least;
  }
  free(value);
  return least;
}

static int64_t explained_by_twin(const made_rows *m, int f) {
  int64_t sum = 0, explained = 0;
  for (int64_t i = 0; i < m->target.n; i++) sum += y_of(m, i);
  for (int64_t i = 0; i < m->target.n; i++)
    explained += square_of(range_of(m), sum / m->target.n, mean_by_twin(m, m->bin[f], m->bin[f][i]));
  return explained;
}

/* Labels that follow the pair by so much, from "never worth it" to "always". */
static void follow_pairs(made_rows *m, test_rng *rng, double by) {
  for (int64_t i = 0; i < m->target.n; i++) {
    const int even = (m->bin[1][i] + m->bin[2][i]) % 2 == 0;
    m->target.label[i] = test_unit(rng) < 0.5 + (even ? by : -by);
  }
}

static void decisions_are_those_of_the_definition(void) {
  static const int64_t sizes[] = {0, 1, 2, 3, 40, 300, 1000, 1001, 65535, 65536, 65537, 140000};
  test_rng rng = {5};
  int seen[2] = {0, 0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (int k = 0; k < (sizes[s] > 2000 ? 4 : 40); k++) {
      made_rows m = make_rows(&rng, sizes[s], 1 + (int32_t)test_below(&rng, 15), 1 + (int32_t)test_below(&rng, 15));
      /* about four standard deviations */
      follow_pairs(&m, &rng, sizes[s] > 0 ? 3.0 * test_unit(&rng) / sqrt((double)sizes[s]) : 0.0);
      const int64_t gain = gain_by_twin(&m);
      for (int n_threads = 1; n_threads < 4; n_threads++) CHECK_EQ_I64(gain_of(&m, n_threads), gain);
      seen[gain > 0]++;
      rows_free(&m);
    }
  }
  CHECK(seen[0] > 20 && seen[1] > 20);
}

static void pairs_are_told_from_sums_and_noise(void) {
  test_rng rng = {6};
  made_rows m = make_rows(&rng, 20000, 5, 6);
  follow_pairs(&m, &rng, 0.1);
  CHECK_EQ_I64(is_worth(&m, 2), 1);
  follow_pairs(&m, &rng, 0.0);
  CHECK_EQ_I64(is_worth(&m, 2), 0);
  for (int64_t i = 0; i < m.target.n; i++) /* each half says something, the pair no more */
    m.target.label[i] = test_unit(&rng) < 0.1 + 0.08 * m.bin[1][i] + 0.09 * m.bin[2][i];
  CHECK_EQ_I64(is_worth(&m, 2), 0);
  for (int64_t i = 0; i < m.target.n; i++) m.target.label[i] = 1;
  CHECK_EQ_I64(is_worth(&m, 2), 0);
  rows_free(&m);
}

static void what_one_statistic_says(void) {
  static const int64_t sizes[] = {0, 1, 2, 77, 1000};
  test_rng rng = {9};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    made_rows m = make_rows(&rng, sizes[s], 7, 9);
    follow_pairs(&m, &rng, 0.2);
    for (int f = 0; f < 3; f++) {
      gbt_ctx ctx = test_ctx(NULL, 2);
      int64_t explained = -1;
      CHECK_OK(gbti_explained(&ctx, &m.target, 0, (gbti_forecast){m.bin[f], m.n_bins[f]}, &explained, test_err));
      CHECK_EQ_I64(explained, explained_by_twin(&m, f));
      gbt_ctx_close(&ctx);
    }
    rows_free(&m);
  }
}

/* A column and a copy of it with some noise: their pair is better than their sum, which counts twice what both say, but
 * says no more than the column. */
static void pairs_of_copies_say_nothing(void) {
  test_rng rng = {7};
  made_rows m = make_rows(&rng, 20000, 10, 10);
  m.n_bins[0] = 10;
  for (int64_t i = 0; i < m.target.n; i++) {
    if (test_below(&rng, 20) > 0) m.bin[2][i] = m.bin[1][i];
    m.bin[0][i] = test_below(&rng, 100) > 0 ? m.bin[1][i] : m.bin[2][i];
    m.target.label[i] = test_unit(&rng) < 0.1 + 0.08 * m.bin[1][i];
  }
  CHECK_EQ_I64(is_worth(&m, 2), 0);
  for (int64_t i = 0; i < m.target.n; i++) m.target.label[i] = m.bin[1][i] == m.bin[2][i];
  for (int64_t i = 0; i < m.target.n; i++) m.bin[0][i] = m.bin[1][i] == m.bin[2][i];
  CHECK_EQ_I64(is_worth(&m, 2), 1);
  rows_free(&m);
}

void suite_worth(void) {
  RUN(decisions_are_those_of_the_definition);
  RUN(pairs_are_told_from_sums_and_noise);
  RUN(what_one_statistic_says);
  RUN(pairs_of_copies_say_nothing);
}
