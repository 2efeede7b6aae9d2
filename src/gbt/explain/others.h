/* The background at the leaves of a plan: which sets of players its rows fail on the way to each leaf, and how many
 * rows each set has. Where sets are few, a table holds what a row gets from the leaf, by the set that the row itself
 * fails. Private to explain/. */
#ifndef GBT_EXPLAIN_OTHERS_H
#define GBT_EXPLAIN_OTHERS_H

#include "kernel.h"
#include "pace.h"
#include "shares.h"
#include "ways.h"

enum {
  GBTI_LEAF_BITS = 8,         /* most players of a leaf with a table */
  GBTI_LEAF_TABLES = 1 << 22, /* bytes of a plan's leaf tables */
  GBTI_PIECE_ROWS = 1 << 14   /* of the background whose sets are put in order at a time; a multiple of 64 */
};

/* Leaves of other parts have zeros and no table. */
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

/* The memory of walks, for one thread. Sizes: see gbti_ways; rows are n_words * 64. */
typedef struct gbti_others_work {
  gbti_ways ways;
  uint64_t *mask, *sorted; /* by row of a piece, or slots: a word of the set that it fails; scratch */
  uint32_t *order, *spare; /* by row of a piece */
  double *items, *scratch; /* items of a leaf; its slots */
  const double *beta;
  const gbti_kernel *kernel;
  int pairs;
  gbti_pace *pace;
} gbti_others_work;

/* The background as the questions of a plan cut it. */
typedef struct gbti_others_rows {
  const uint64_t *went; /* by question, n_words each */
  size_t n_words;
  int64_t n_rows;
  int64_t n_own;     /* rows that are to be explained; tables are made where there are so many that it pays */
  size_t part_bytes; /* approximate limit for the sets of a part */
} gbti_others_rows;

/* *leaf: the first leaf of the part, counted from 0 and from the left; receives the first leaf of the next part, or 0
 * after the last part. Fills the plan's means as well, with what these leaves give. GBT_CANCELLED when asked to
 * stop. */
gbt_status gbti_others_new(const gbt_mem *mem, gbti_game *plan, gbti_others_work *work, const gbti_others_rows *rows,
                           uint32_t *leaf, gbti_others **out, gbt_error *err) GBT_MUST_CHECK;
void gbti_others_free(gbti_others *others); /* NULL allowed */

/* Adds what a plan gives to n_rows rows. acc: by output of a leaf, then item of the plan (players, then pairs):
 * `stride` rows each, a multiple of 64. 1: to be stopped. */
int gbti_others_play(const gbti_game *plan, const gbti_others *others, gbti_others_work *work, const uint64_t *went,
                     size_t n_words, int64_t n_rows, double *acc, size_t stride);

#endif
