#include "bin.h"

enum { CELLS = 1 << GBTI_BIN_CELL_BITS, SAMPLE = 1024, WORTH = 4096, LANES = 8 };

/* The place of a value is as good as random, so there must be no branch to guess: comparisons are added up as numbers.
 * Several searches are interleaved, because a single one waits for memory most of the time. */
static inline __attribute__((always_inline)) void search_lanes(const gbti_binner *b, const double *x, int has_grid,
                                                               int steps, int32_t *code) {
  const double *cut = b->feat->cut;
  uint32_t at[LANES];
  for (int j = 0; j < LANES; j++)
    at[j] = b->start[has_grid ? gbt_grid_cell(&b->grid, x[j]) : (uint32_t)(cut[b->pivot] < x[j])];
  for (int s = steps - 1; s >= 0; s--)
    for (int j = 0; j < LANES; j++) at[j] += (uint32_t)(cut[at[j] + (1u << s) - 1] < x[j]) << s;
  for (int j = 0; j < LANES; j++) code[j] = x[j] == x[j] ? (int32_t)at[j] : b->feat->n_bins;
}

static void search_cuts(const gbti_binner *b, const double *x, int32_t n, int32_t *code) {
  int32_t i = 0;
  switch (b->has_grid ? b->steps : -1) { /* a known number of steps is unrolled */
  case -1:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 0, b->steps, code + i);
    break;
  case 1:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 1, 1, code + i);
    break;
  case 2:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 1, 2, code + i);
    break;
  default:
    for (; i + LANES <= n; i += LANES) search_lanes(b, x + i, 1, b->steps, code + i);
  }
  for (; i < n; i++) code[i] = gbt_cuts_bin(b->feat, x[i]);
}

void gbti_bin_values(const gbti_binner *b, const double *x, int32_t n, int32_t *code) {
  if (b->feat->cut != NULL) {
    search_cuts(b, x, n, code);
    return;
  }
  for (int32_t i = 0; i < n; i++) code[i] = x[i] >= 0.0 ? (int32_t)x[i] : b->feat->n_bins;
}

/* Starts by cell, and the steps to go from there. 0 when these are no fewer than max_steps. */
static int make_grid(gbti_binner *b, int max_steps) {
  const double *cut = b->feat->cut;
  uint32_t n_bins = (uint32_t)b->feat->n_bins, n = n_bins - 1, most = 0, k = 0; /* the last cut is above everything */
  double x[SAMPLE];
  GBT_ASSERT(n > 0);
  int32_t m = n < SAMPLE ? (int32_t)n : SAMPLE;
  for (int32_t i = 0; i < m; i++) x[i] = cut[(uint32_t)i * (n / (uint32_t)m)];
  gbt_grid_place(&b->grid, GBTI_BIN_CELL_BITS, x, m);
  for (uint32_t cell = 0; cell < CELLS; cell++) { /* cuts in cells before this one are below all its numbers */
    uint32_t beg = k;
    b->start[cell] = (uint16_t)beg;
    while (k < n && gbt_grid_cell(&b->grid, cut[k]) == cell) k++;
    if (k - beg > most) most = k - beg;
  }
  int steps = 0;
  while ((1u << steps) <= most) steps++;
  if (steps >= max_steps) return 0;
  uint32_t last = n_bins - (1u << steps); /* from there on all 2^steps cuts are within the array */
  for (uint32_t cell = 0; cell < CELLS; cell++)
    if (b->start[cell] > last) b->start[cell] = (uint16_t)last;
  b->steps = steps;
  return 1;
}

void gbti_binner_make(gbti_binner *b, const gbt_feature_cuts *feat, int64_t n_values) {
  int steps = 0;
  b->feat = feat;
  if (feat->cut == NULL) return;
  while (2 << steps <= feat->n_bins) steps++; /* 2^steps <= n_bins */
  b->has_grid = steps > 1 && n_values >= WORTH && make_grid(b, steps);
  if (b->has_grid) return;
  uint32_t back = (uint32_t)feat->n_bins - (1u << steps);
  b->steps = steps;
  b->pivot = back > 0 ? back - 1 : 0;
  b->start[0] = 0;
  b->start[1] = (uint16_t)back;
}
