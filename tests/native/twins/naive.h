/* A slow, plain twin of the whole training, on one thread, written from the definitions in the engine's headers: codes
 * by gbt_page_code, sums by loops over all rows of a node, trees as lists of rows. It shares with the engine what both
 * take from math/, base/rng.h and the draws of features; nothing of the CPU backend.
 *
 * Its forest must equal the trainer's byte for byte, its scores bit by bit. */
#ifndef GBT_TEST_NAIVE_H
#define GBT_TEST_NAIVE_H

#include "../../src/gbt/boost/trainer_impl.h"

/* The host's gradients for a custom loss: n x n_outputs, column by column. */
typedef void (*naive_custom)(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g,
                             double *h);

/* As gbt_trainer_new and gbt_trainer_run of n_rounds with the same spec. forest: empty, made for the spec. scores: for
 * train and every validation set rows x n_outputs, filled. custom: for GBT_OBJ_CUSTOM. */
/* Trees of single outputs, as many in a round as there are, become one that has a value for each of them in a leaf. */
void naive_join(const gbt_forest *parts, gbt_forest *to);

void naive_train(const gbt_trainer_spec *spec, int64_t n_rounds, naive_custom custom, gbt_forest *forest,
                 double *const *scores);

#endif
