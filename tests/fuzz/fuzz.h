/* What a fuzzer offers: to libFuzzer, which takes the long names, and to run.c. */
#ifndef GBT_FUZZ_H
#define GBT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Uses the input; whatever is wrong ends the program. Returns 1 when it was accepted. */
int fuzz_use(const uint8_t *bytes, size_t n);

/* An input to start from, to be freed with free(); NULL when there is no seed i. */
uint8_t *fuzz_seed(uint64_t i, size_t *n_bytes);

/* Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Changes n bytes in place, of at most `most`; returns their number. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);

/* Makes an input of two; returns its size, 0 when that failed. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most,
                                 unsigned seed);

#endif
