/* Statistics of categories over ranks: every rank gets the inputs of all ranks (4 bytes for each row and column, 8 for
 * each row and field), computes the statistics of all rows, and keeps those of its own rows. So they equal those of a
 * single process, whatever the shares. */
#ifndef GBT_ENCODE_GATHER_H
#define GBT_ENCODE_GATHER_H

#include "../base/comm.h"
#include "../base/rows.h"

typedef struct gbti_gathered {
  gbt_mem mem;
  gbt_rows rows;  /* of all ranks, in their order; of the offsets, the first output's */
  int64_t before; /* where this rank's rows begin in them */
  int64_t n_own;
  int64_t *n_of; /* by rank: its rows; NULL with one rank, where rows borrows everything */
  size_t *bytes; /* by rank: work */
  double *field[GBT_N_FIELDS];
} gbti_gathered;

/* own: the rows of this rank, which out may borrow. Rows of ranks without weights weigh 1, without offsets theirs is 0.
 * GBT_E_ARG where only some ranks give time or group, GBT_E_UNSUPPORTED where all ranks together have 2^32 rows or
 * more. Free with gbti_gathered_free, also after a failure. Collective. */
gbt_status gbti_gather_rows(gbt_ctx *ctx, const gbt_rows *own, gbti_gathered *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_gathered_free(gbti_gathered *gathered);

/* Gives back what `rows` has of each row: labels, weights and the others. */
void gbti_gathered_drop_fields(gbti_gathered *gathered);

/* A number of each row: all[gathered->rows.n] from own[n_own] of every rank. Collective. */
gbt_status gbti_gather_u32(gbt_ctx *ctx, const gbti_gathered *gathered, const uint32_t *own, uint32_t *all,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
