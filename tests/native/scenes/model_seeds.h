/* Small models to start mutating from: every kind of feature, shapes from one leaf to a deep chain, one output and
 * several, leaves with values and with vectors, sets of one word and of many, meta values of every kind. */
#ifndef GBT_TEST_MODEL_SEEDS_H
#define GBT_TEST_MODEL_SEEDS_H

#include <stddef.h>
#include <stdint.h>

enum { MODEL_SEEDS = 19 };

/* The bytes of seed i, to be freed with free(); NULL after a failure, reported as a failed check. */
uint8_t *model_seed(uint64_t i, size_t *n_bytes);

/* A model with linear leaves, for what can use it; one whose leaves are linear in numbers. As above. */
uint8_t *model_seed_linear(size_t *n_bytes);
uint8_t *model_seed_numbers(size_t *n_bytes);

#endif
