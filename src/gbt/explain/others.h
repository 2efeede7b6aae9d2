/* The background at the leaves of a plan: which sets of players its rows fail on the way to each leaf, and how many
 * rows each set has. Where sets are few, all that a row can get of a leaf stands in a table by the set that it fails
 * itself. Private to explain/. */
#ifndef GBT_EXPLAIN_OTHERS_H
#define GBT_EXPLAIN_OTHERS_H

#include "../base/parallel.h"
#include "kernel.h"
#include "shares.h"
#include "ways.h"

enum {
  GBTI_LEAF_BITS = 8,        /* most players of a leaf with a table */
  GBTI_LEAF_TABLES = 1 << 22 /* bytes of a plan's leaf tables */
};

typedef struct gbti_others_leaf {
  size_t set, n_sets; /* the first of its words, and of its counts */
  size_t count;
  size_t table; /* the first of its numbers: by item, then by set; SIZE_MAX: none */
  int32_t n_slots;
} gbti_others_leaf;

typedef struct gbti_others {
  gbt_mem mem;
  double total;           /* rows of the background */
  gbti_others_leaf *leaf; /* by split and side */
  uint64_t *set;
  double *count, *table;
  size_t n_set, cap_set, n_count, cap_count, n_table, cap_table;
} gbti_others;

/* What walks need, for one thread. Sizes: see gbti_ways; rows are n_words * 64. */
typedef struct gbti_others_work {
  gbti_ways ways;
  uint64_t *mask, *sorted; /* a row each: a word of the set that it fails; scratch */
  uint32_t *order, *spare; /* a row each */
  double *items, *scratch; /* items of a leaf; its slots */
  const double *beta;
  const gbti_kernel *kernel;
  int pairs;
  gbt_ctx *ctx;
  int thread;
  int64_t steps; /* since the last look whether to go on */
} gbti_others_work;

/* went: by question, n_words each, of n_rows rows of the background. Fills the plan's means as well. n_own: rows that
 * are to be explained; tables are made where there are so many that it pays. GBT_CANCELLED when asked to stop. */
gbt_status gbti_others_new(const gbt_mem *mem, gbti_game *plan, gbti_others_work *work, const uint64_t *went,
                           size_t n_words, int64_t n_rows, int64_t n_own, gbti_others **out,
                           gbt_error *err) GBT_MUST_CHECK;
void gbti_others_free(gbti_others *others); /* NULL allowed */

/* Adds what a plan gives to n_rows rows. acc: by output of a leaf, then item of the plan (players, then pairs):
 * `stride` rows each, a multiple of 64. 1: to be stopped. */
int gbti_others_play(const gbti_game *plan, const gbti_others *others, gbti_others_work *work, const uint64_t *went,
                     size_t n_words, int64_t n_rows, double *acc, size_t stride);

#endif
