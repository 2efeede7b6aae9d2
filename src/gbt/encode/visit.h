/* The orders in which ordered statistics take the rows of a training: a row's statistics are made of the rows that one
 * of these orders has before it (ordered.h). All orders are cut from one:
 *
 *   base order   | block 0 | block 1 | ... | block 255 |      rows by the hash of their numbers
 *   variant 0    the blocks in the order 17, 203, 4, ...      each block from its beginning to its end
 *   variant 1    the blocks in the order 88, 5, 121, ...      each block from its end to its beginning
 *
 * so what belongs to rows is brought into base order once and read along it by every variant. Even variants go forward
 * through their blocks, odd ones backward. An order depends only on the seed and the numbers of the rows, never on
 * pages, threads or devices. Rows of a mask have numbers of their own, as if they were a table.
 *
 * Rows of one step do not affect each other: they read the sums of the steps before, then all of them are added. By
 * default every row is a step. With GBT_GROUP the rows of a group are neighbours and one step. With GBT_TIME the base
 * order is that of time, rows of the same time are one step, the blocks are cut between steps, and the one variant
 * takes them as they come. */
#ifndef GBT_ENCODE_VISIT_H
#define GBT_ENCODE_VISIT_H

#include "../base/ctx.h"
#include "../base/rows.h"

enum { GBTI_VISIT_BLOCKS = 256, GBTI_MAX_VARIANTS = 8 };

typedef struct gbti_visit {
  gbt_mem mem;
  int64_t n;
  int32_t n_variants;
  uint32_t *row;  /* n: by place in base order, the row */
  uint32_t *at;   /* n: by row, its place */
  uint32_t *step; /* n_steps + 1: where steps begin, and n; NULL: every row is one */
  int64_t n_steps;
  int64_t block[GBTI_VISIT_BLOCKS + 1];                /* places where blocks begin, and n; never inside a step */
  uint8_t order[GBTI_MAX_VARIANTS][GBTI_VISIT_BLOCKS]; /* by variant: its blocks one after the other */
} gbti_visit;

/* Of `rows`, with their GBT_TIME or GBT_GROUP where these are given. n_variants: 1 .. GBTI_MAX_VARIANTS; with time
 * there is one, whatever is asked for. GBT_E_UNSUPPORTED when both time and group are given. rows->n is below 2^32. Of
 * one rank: rows of other ranks are not in the orders. Free with gbti_visit_free, also after a failure. */
gbt_status gbti_visit_make(gbt_ctx *ctx, const gbt_rows *rows, uint64_t seed, int32_t n_variants, gbti_visit *out,
                           gbt_error *err) GBT_MUST_CHECK;
void gbti_visit_free(gbti_visit *visit);

#endif
