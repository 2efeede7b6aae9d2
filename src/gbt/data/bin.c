#include "bin.h"

enum { CELLS = 1 << GBTI_BIN_CELL_BITS, SAMPLE = 1024, WORTH = 4096 };

/* The place of a value is as good as random, so there must be no branch to guess: comparisons are added up as numbers.
 * Several values go side by side, because each one alone waits for memory most of the time. */
enum { LANES = 8 };

static inline __attribute__((always_inline)) void search_lanes(const gbti_binner *b, const double *x, int steps,
                                                               int32_t *code) {
  const double *cut = b->feat->cut;
  uint32_t at[LANES];
  for (int j = 0; j < LANES; j++) at[j] = b->first[gbti_grid_cell(&b->grid, x[j])];
  for (int s = steps - 1; s >= 0; s--)
    for (int j = 0; j < LANES; j++) at[j] += (uint32_t)(cut[at[j] + (1u << s) - 1] < x[j]) << s;
  for (int j = 0; j < LANES; j++) code[j] = x[j] == x[j] ? (int32_t)at[j] : b->feat->n_bins;
}

static void search_all(const gbti_binner *b, const double *x, int32_t n, int32_t *code) {
  for (int32_t i = 0; i < n; i++) code[i] = gbt_cuts_bin(b->feat, x[i]);
}

static void search_grid(const gbti_binner *b, const double *x, int32_t n, int32_t *code) {
  int32_t i = 0;
  switch (b->steps) { /* a known number of steps is unrolled */
  case 0:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 0, code + i);
    break;
  case 1:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 1, code + i);
    break;
  case 2:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 2, code + i);
    break;
  default:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, b->steps, code + i);
  }
  search_all(b, x + i, n - i, code + i);
}

void gbti_bin_values(const gbti_binner *b, const double *x, int32_t n, int32_t *code) {
  if (b->feat->cut == NULL)
    for (int32_t i = 0; i < n; i++) code[i] = x[i] >= 0.0 ? (int32_t)x[i] : b->feat->n_bins;
  else if (b->steps >= 0) search_grid(b, x, n, code);
  else search_all(b, x, n, code);
}

void gbti_binner_make(gbti_binner *b, const gbt_feature_cuts *feat, int64_t n_values) {
  uint32_t n = (uint32_t)feat->n_bins - 1, most = 0;
  double x[SAMPLE];
  int32_t n_sample = 0;
  b->feat = feat;
  b->steps = -1;
  if (feat->cut == NULL || n_values < WORTH) return;
  for (uint32_t i = 0; n > 0 && i < SAMPLE && i < n; i++) x[n_sample++] = feat->cut[n <= SAMPLE ? i : i * (n / SAMPLE)];
  gbti_grid_place(&b->grid, GBTI_BIN_CELL_BITS, x, n_sample);
  uint32_t k = 0;
  for (uint32_t cell = 0; cell < CELLS; cell++) { /* cuts in cells before this one are below all its numbers */
    uint32_t beg = k;
    b->first[cell] = (uint16_t)beg;
    while (k < n && gbti_grid_cell(&b->grid, feat->cut[k]) == cell) k++;
    if (k - beg > most) most = k - beg;
  }
  int steps = 0;
  while ((1u << steps) <= most) steps++;
  if ((1u << steps) > (uint32_t)feat->n_bins) return;
  uint32_t last = (uint32_t)feat->n_bins - (1u << steps); /* from there on all 2^steps cuts are within the array */
  for (uint32_t cell = 0; cell < CELLS; cell++)
    if (b->first[cell] > last) b->first[cell] = (uint16_t)last;
  b->steps = steps;
}
