/* The table of B(a, b): see shares.h. */
#include "shares.h"

void gbti_beta_fill(double *table) {
  for (uint32_t a = 0; a < GBTI_BETA; a++) {
    table[a * GBTI_BETA] = 1.0 / (double)(a + 1);
    for (uint32_t b = 1; b < GBTI_BETA; b++)
      table[a * GBTI_BETA + b] = table[a * GBTI_BETA + b - 1] * (double)b / (double)(a + b + 1);
  }
}
