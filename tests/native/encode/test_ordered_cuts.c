/* Bins of values and of numbers of rows: what must hold of those of any histogram, and some that are known. */
#include "../../src/gbt/encode/ordered.h"
#include "sweep.h"

enum { ONE_Y = GBTI_N_VALUES - 1 };

/* What holds of the bins of any histogram. */
static int32_t check_cuts(const uint32_t *count, int32_t max_bins) {
  uint8_t *of = test_alloc(GBTI_N_VALUES);
  uint32_t upper[GBTI_MOST_BINS];
  const int32_t n = gbti_value_cuts(count, max_bins, of, upper);
  int64_t bad = 0, distinct = 0, all = 0, rows[GBTI_MOST_BINS] = {0}, values_in[GBTI_MOST_BINS] = {0};
  CHECK(n >= 1 && n <= max_bins);
  CHECK_EQ_I64(upper[n - 1], ONE_Y);
  for (int64_t v = 0, b = 0; v < GBTI_N_VALUES; v++) {
    while (v > upper[b]) b++;
    bad += of[v] != b;
    rows[b] += count[v];
    values_in[b] += count[v] != 0;
    distinct += count[v] != 0;
    all += count[v];
  }
  if (distinct <= max_bins) CHECK_EQ_I64(n, distinct > 0 ? distinct : 1);
  for (int32_t b = 0; b < n; b++) bad += rows[b] == 0 && all > 0;
  /* a bin of several values holds at most half a share more than its own, of the rows after the bins before it */
  for (int32_t b = 0; b + 1 < n; all -= rows[b++])
    bad += values_in[b] > 1 && 2 * (max_bins - b) * rows[b] > 3 * (all + max_bins - b);
  CHECK_EQ_I64(bad, 0);
  free(of);
  return n;
}

static void cuts_by_size(int64_t n) {
  uint32_t *count = test_alloc(GBTI_N_VALUES * sizeof *count);
  test_rng rng = {(uint64_t)n};
  memset(count, 0, GBTI_N_VALUES * sizeof *count);
  for (int64_t k = 0; k < n; k++) {
    const int64_t heavy = test_below(&rng, 10) == 0 ? 1000 : 3;
    count[test_below(&rng, n % 2 ? 400 : GBTI_N_VALUES)] += (uint32_t)test_below(&rng, heavy);
  }
  if (n % 7 == 0) count[ONE_Y] = count[0] = 1000;
  check_cuts(count, n % 4 == 0 ? GBTI_MOST_BINS : 1 + (int32_t)(n % GBTI_MOST_BINS));
  free(count);
}

static void cuts(void) {
  const sweep_range range = {.low = 0, .high = 300, .dense = 8};
  sweep(cuts_by_size, &range);
}

static void cuts_at_known_places(void) {
  uint32_t *count = test_alloc(GBTI_N_VALUES * sizeof *count), upper[GBTI_MOST_BINS];
  uint8_t *of = test_alloc(GBTI_N_VALUES);
  memset(count, 0, GBTI_N_VALUES * sizeof *count);
  count[10] = 1, count[20] = 100, count[21] = 1;
  CHECK_EQ_I64(gbti_value_cuts(count, 5, of, upper), 3);
  CHECK_EQ_I64(upper[0], 15);
  CHECK_EQ_I64(upper[1], 20);
  for (int v = 0; v < 1000; v++) count[v] = 1; /* no longer heavy */
  CHECK_EQ_I64(gbti_value_cuts(count, 4, of, upper), 4);
  CHECK_EQ_I64(upper[0], 249);
  CHECK_EQ_I64(upper[1], 499);
  CHECK_EQ_I64(upper[2], 749);
  count[600] = 100000; /* alone in its bin */
  CHECK_EQ_I64(gbti_value_cuts(count, 4, of, upper), 4);
  CHECK_EQ_I64(upper[0], 599);
  CHECK_EQ_I64(upper[1], 600);
  CHECK_EQ_I64(upper[2], 800);
  free(count);
  free(of);
}

static void count_bins(void) {
  const uint32_t count[] = {0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 1000, 1023, 1024, UINT32_MAX, UINT32_MAX - 1};
  const uint8_t want[] = {0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 8, 8, 9, 10, 10};
  enum { N = sizeof count / sizeof *count };
  uint8_t bin[N];
  uint32_t upper[GBTI_MOST_BINS];
  CHECK_EQ_I64(gbti_count_bins(count, N, GBTI_MOST_BINS, bin, upper), 11);
  CHECK_EQ_BYTES(bin, want, N);
  for (int k = 0; k < N; k++) CHECK(count[k] <= upper[bin[k]] && (bin[k] == 0 || count[k] > upper[bin[k] - 1]));
  for (int32_t most = 1; most <= 12; most++) {
    const int32_t n = gbti_count_bins(count, N, most, bin, upper);
    CHECK(n >= 1 && n <= most && upper[n - 1] == UINT32_MAX);
    for (int k = 0; k < N; k++) CHECK(count[k] <= upper[bin[k]] && (bin[k] == 0 || count[k] > upper[bin[k] - 1]));
  }
  CHECK_EQ_I64(gbti_count_bins(count, 0, 5, bin, upper), 1);
  CHECK_EQ_I64(gbti_count_bins(count, 1, 5, bin, upper), 1);
}

void suite_ordered_cuts(void) {
  RUN(cuts);
  RUN(cuts_at_known_places);
  RUN(count_bins);
}
