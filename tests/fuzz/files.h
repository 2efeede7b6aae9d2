/* What fuzzers of files share: memory that is measured, and changes of bytes that are texts for the most part. */
#ifndef GBT_FUZZ_FILES_H
#define GBT_FUZZ_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "../../src/gbt/base/mem.h"

/* Bytes in use, and the most that ever were. */
typedef struct meter {
  size_t live, peak;
} meter;
gbt_mem meter_mem(meter *m);

/* Changes up to three places: bytes, numbers of the text, runs of bytes that move, go or double. Returns the new size,
 * at most `most`. */
size_t fuzz_change(uint8_t *bytes, size_t n, size_t most, unsigned seed);

/* The beginning of a and the end of b; 0 when that is too much. out may be a. */
size_t fuzz_join(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most, unsigned seed);

#endif
