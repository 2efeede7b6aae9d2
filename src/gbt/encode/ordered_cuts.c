/* Bins of values and of numbers of rows: from a histogram to a look-up table. */
#include <string.h>

#include "../base/bits.h"
#include "ordered.h"

/* ---- values ---- */

/* Bins being made from values in ascending order. */
typedef struct cutter {
  uint32_t *upper;
  int32_t n;     /* bins that are closed */
  uint32_t last; /* the largest value so far */
  uint64_t held; /* rows in the open bin */
  uint64_t rest; /* rows of the open bin and of all later values */
} cutter;

/* Closes the open bin before the value `next`: the border is in the middle. */
static void close_bin(cutter *c, uint32_t next) {
  c->upper[c->n++] = c->last + (next - c->last) / 2;
  c->rest -= c->held;
  c->held = 0;
}

/* Whether the open bin ends before a value with `count` rows: where that brings it closer to its share of the rows, and
 * where the value fills a bin by itself. `left`: bins that are not closed. */
static int ends_before(const cutter *c, uint32_t count, uint64_t left) {
  const uint64_t share = (c->rest + left - 1) / left;
  return c->held >= share || count >= share || c->held + count / 2 >= share;
}

static void fill_bins(const uint32_t *upper, int32_t n, uint8_t *bin_of) {
  for (int32_t b = 0; b < n; b++) {
    const uint32_t from = b > 0 ? upper[b - 1] + 1 : 0;
    memset(bin_of + from, b, upper[b] + 1 - from);
  }
}

enum { TOGETHER = 16 }; /* values that are looked at in one go: mostly there are none */

static int none_of(const uint32_t *count) {
  uint32_t any = 0;
  for (int k = 0; k < TOGETHER; k++) any |= count[k];
  return any == 0;
}

int32_t gbti_value_cuts(const uint32_t *count, int32_t max_bins, uint8_t *bin_of, uint32_t *upper) {
  cutter c = {.upper = upper};
  int64_t n_values = 0;
  GBT_ASSERT(max_bins >= 1 && max_bins <= GBTI_MOST_BINS);
  for (uint32_t v = 0; v < GBTI_N_VALUES; v++) {
    c.rest += count[v];
    n_values += count[v] != 0;
  }
  const int each = n_values <= max_bins;
  for (uint32_t v = 0; v < GBTI_N_VALUES; v++) {
    while (v % TOGETHER == 0 && v < GBTI_N_VALUES && none_of(count + v)) v += TOGETHER;
    if (v == GBTI_N_VALUES) break;
    if (count[v] == 0) continue;
    if (c.held > 0 && c.n + 1 < max_bins && (each || ends_before(&c, count[v], (uint64_t)(max_bins - c.n))))
      close_bin(&c, v);
    c.held += count[v];
    c.last = v;
  }
  upper[c.n++] = GBTI_N_VALUES - 1;
  fill_bins(upper, c.n, bin_of);
  return c.n;
}

/* ---- numbers of rows ---- */

enum { COUNT_CODES = 4 * 32 };

/* 0 and 1: 0; then four for every doubling where there are as many numbers. */
static uint32_t count_code(uint32_t count) {
  const int bits = gbt_bit_length(count);
  if (bits <= 2) return count <= 1 ? 0 : count - 1;
  return (uint32_t)(4 * (bits - 3) + 3) + (count >> (bits - 3) & 3u);
}

/* The largest number with a code. */
static uint32_t count_upper(uint32_t code) {
  if (code < 3) return code + 1;
  const uint64_t next = (uint64_t)(4 + (code - 3) % 4 + 1) << ((code - 3) / 4);
  return next - 1 < UINT32_MAX ? (uint32_t)(next - 1) : UINT32_MAX;
}

int32_t gbti_count_bins(const uint32_t *count, int64_t n_keys, int32_t max_bins, uint8_t *bin, uint32_t *upper) {
  uint8_t used[COUNT_CODES] = {0}, bin_of[COUNT_CODES];
  int32_t n_used = 0, seen = 0, n_bins = 0;
  GBT_ASSERT(max_bins >= 1 && max_bins <= GBTI_MOST_BINS);
  for (int64_t k = 0; k < n_keys; k++) {
    uint8_t *at = &used[count_code(count[k])];
    n_used += count[k] != 0 && !*at;
    if (count[k] != 0) *at = 1;
  }
  const int32_t together = n_used > max_bins ? (n_used + max_bins - 1) / max_bins : 1;
  for (uint32_t code = 0; code < COUNT_CODES; code++) {
    if (used[code]) {
      n_bins = seen++ / together + 1;
      upper[n_bins - 1] = count_upper(code);
    }
    bin_of[code] = (uint8_t)(n_bins > 0 ? n_bins - 1 : 0);
  }
  if (n_bins == 0) n_bins = 1;
  upper[n_bins - 1] = UINT32_MAX;
  for (int64_t k = 0; k < n_keys; k++) bin[k] = count[k] == 0 ? 0 : bin_of[count_code(count[k])];
  return n_bins;
}
