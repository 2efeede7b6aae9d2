/* Numbers to bytes for tables (predict_table.h): how many of a feature's cuts are below a number. Private to model/.
 *
 * Up to 62 cuts lie in registers as a tree, step by step, and 8 numbers go down it at once: every step is a look-up and
 * a comparison, and the path of a number gives its code. Only missing numbers go right at every step.
 *
 * More cuts, by cells:
 *
 *   cell     the number's place on a grid of 2^16 cells over the line (base/grid.h). It never falls when the number
 *            grows. The middle cell holds only zero, the last one missing values
 *   search   cells of all cuts lie in registers, every fourth of them for a search, the three between for the rest
 *   ties     where the cell is that of a cut too, the numbers themselves are compared, one by one. That is rare
 *
 * For tops (predict_tops.h), in plain C, by a table of cells: a number is compared with the first cuts that its own
 * cell may hold, mostly with one. Where a cell holds more than GBTI_CODER_COMPARES, the number goes down the pack's
 * tree. */
#ifndef GBT_MODEL_PREDICT_CODER_H
#define GBT_MODEL_PREDICT_CODER_H

#include "../base/grid.h"
#include "predict_table.h"

enum { GBTI_CODER_FEW = 62, GBTI_CODER_PARTS = 4, GBTI_CODER_PART = 64, GBTI_CODER_HALF = 1 << 15 };

enum { GBTI_CODER_COMPARES = 4, GBTI_CODER_LEAST_BITS = 5, GBTI_CODER_CELLS = 8 /* for each cut, at least */ };

struct gbti_coder {
  gbt_grid grid;  /* one cell less on either side than GBTI_CODER_HALF */
  double *cuts;   /* up to GBTI_CODER_FEW: the tree, way w before step l at 2^l + w; else ascending */
  uint16_t *cell; /* NULL up to GBTI_CODER_FEW; else cut 4 i + k at GBTI_CODER_PART * k + i, the rest highest cells */
  uint8_t *first; /* for tops: by cell, the number of cuts in lower cells; else NULL */
  uint32_t n_compares; /* with first: most cuts of a cell; 0 for more than GBTI_CODER_COMPARES */
};

/* Steps down a tree in registers: its last place is no cut's. 2 .. 6; more where cells are searched. */
GBT_FN uint32_t gbti_coder_steps(uint32_t n_cuts) {
  uint32_t n = 2;
  while (((uint32_t)1 << n) - 1 <= n_cuts) n++;
  return n;
}

/* How many doubles n_cuts cuts take. */
GBT_FN size_t gbti_coder_cuts(uint32_t n_cuts) {
  uint32_t n_steps = gbti_coder_steps(n_cuts);
  return n_cuts > GBTI_CODER_FEW ? n_cuts : n_steps < 4 ? 16 : (size_t)1 << n_steps;
}

/* Cells of a table, and doubles of its cuts, which lie in ascending order and end with +Inf. */
GBT_FN int gbti_coder_bits(uint32_t n_cuts) {
  int bits = GBTI_CODER_LEAST_BITS;
  while ((uint32_t)1 << bits < GBTI_CODER_CELLS * n_cuts) bits++;
  return bits;
}
GBT_FN size_t gbti_coder_firsts(uint32_t n_cuts) { return (size_t)1 << gbti_coder_bits(n_cuts); }
GBT_FN size_t gbti_coder_sorted(uint32_t n_cuts) { return n_cuts + 1; }

/* From the pack's cuts of a feature with at most GBTI_TABLE_CUTS of them; cuts and cell, or cuts and first, have been
 * given their place. */
void gbti_coder_fill(gbti_coder *coder, const gbti_pack *pack, const gbti_pack_feature *feature);

/* Codes of groups of 64 numbers; the codes of a group begin stride bytes after those of the group before. Those of
 * missing numbers are 0 in low and n_cuts in high; NULL where such codes are not needed. next: the numbers of the
 * n_groups following groups, which are only prefetched. Only where gbti_tables_run. */
void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x, const double *next,
                    int32_t n_groups, uint8_t *low, uint8_t *high, size_t stride);

/* The same with tops. tree: the pack's cuts of the feature. */
void gbti_coder_run_cells(const gbti_coder *coder, const gbti_pack_feature *feature, const double *tree,
                          const double *x, int32_t n_groups, uint8_t *low, uint8_t *high, size_t stride);

#endif
