/* Numbers to bytes for tables (predict_table.h): how many of a feature's cuts are below a number. Private to model/.
 *
 *   cell     the number's place on a grid of 2^16 cells over the line, by its bits: in equal steps of the bits from the
 *            magnitude `base` on, on both sides. It never falls when the number grows. The middle one is zero's alone,
 *            the last one that of missing values
 *   search   cells of all cuts lie in registers, every fourth of them for a search, the three between for the rest
 *   ties     where the cell is that of a cut too, the numbers themselves are compared, one by one. That is rare
 *
 * Up to 15 cuts are searched as they are. */
#ifndef GBT_MODEL_PREDICT_CODER_H
#define GBT_MODEL_PREDICT_CODER_H

#include "predict_table.h"

enum { GBTI_CODER_FEW = 15, GBTI_CODER_PARTS = 4, GBTI_CODER_PART = 64, GBTI_CODER_HALF = 1 << 15 };

struct gbti_coder {
  uint64_t base;
  int32_t shift;  /* a step is 2^shift units in the last place */
  double *cuts;   /* ascending: n_cuts, then Inf up to 16 */
  uint16_t *cell; /* NULL up to GBTI_CODER_FEW cuts; cut 4 i + k at GBTI_CODER_PART * k + i, the rest highest cells */
};

/* From the pack's cuts of a feature with at most GBTI_TABLE_CUTS of them; cuts and cell have been given their place. */
void gbti_coder_fill(gbti_coder *coder, const gbti_pack *pack, const gbti_pack_feature *feature);

/* Codes of groups of 64 numbers, every group's codes stride bytes behind those of the one before; those of missing
 * numbers are `missing`. Only where gbti_tables_run. */
void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x, int32_t n_groups,
                    uint8_t missing, uint8_t *code, size_t stride);

#endif
