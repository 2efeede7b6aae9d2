/* Sweeps over sizes: a case for every size of a list, each list in a child process.
 *
 *   static void rows(int64_t n) { ... CHECK(...) ... }
 *   sweep(rows, &(sweep_range){.low = 1, .high = 131074, .dense = 300});
 *
 * A case that ends the process (a division by zero, an assertion, a sanitizer) is a failed check that names the size,
 * and the sweep goes on after it. Sizes: all from low to dense; those around powers of two and around the constants of
 * the sources (constants.sh); some between, always the same ones. GBT_SIZES=long in the environment: two more on either
 * side, many more between, and all up to all_long. Where cases are few (test.h): a tenth of the first ones, none
 * between, and of the constants the sizes themselves. */
#ifndef GBT_TEST_SWEEP_H
#define GBT_TEST_SWEEP_H

#include "test.h"

typedef struct sweep_range {
  int64_t low, high, dense;
  int64_t high_long, all_long; /* 0: as without */
  int32_t between;             /* sizes drawn in every octave; 0: 1 */
} sweep_range;

void sweep_named(const char *name, void (*fn)(int64_t size), const sweep_range *range);
#define sweep(fn, range) sweep_named(#fn, fn, range)

#endif
