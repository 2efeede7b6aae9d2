/* Meetings of the ranks, and moves: shared by comm.c and comm_meet.c. */
#ifndef GBT_BASE_COMM_IMPL_H
#define GBT_BASE_COMM_IMPL_H

#include "comm.h"
#include "parallel.h"

/* The kind of an operation, as part of its tag. */
typedef enum gbti_comm_kind {
  GBTI_AGREE = 0,
  GBTI_REDUCE,
  GBTI_SUM_EXACT,
  GBTI_SUM_PARTS,
  GBTI_SUM_OWN,
  GBTI_GATHER_EQUAL,
  GBTI_GATHER,
  GBTI_BROADCAST,
  GBTI_SAME,
  GBTI_LEAVE,
  GBTI_EXCHANGE,
  GBTI_MOVE
} gbti_comm_kind;

/* A meeting and nothing else. */
gbt_status gbti_comm_begin(gbt_ctx *ctx, gbti_comm_kind what, int site, size_t size, gbt_error *err) GBT_MUST_CHECK;

/* The meeting of a rank that has failed, and that of one that leaves. */
gbt_status gbti_comm_fail(gbt_ctx *ctx, gbt_status status, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_comm_part(gbt_ctx *ctx, gbt_error *err) GBT_MUST_CHECK;

/* A meeting and a move: at the same time inside of a stretch (gbt_comm_enter), else one after the other. */
gbt_status gbti_comm_run(gbt_ctx *ctx, gbti_comm_kind what, int site, const gbt_comm_move *move,
                         gbt_error *err) GBT_MUST_CHECK;

/* The result of a function of the communicator. */
static inline gbt_status gbti_comm_end(gbt_ctx *ctx, gbt_status status) {
  gbti_ctx_usual_float(ctx);
  if (status != GBT_OK) ctx->comm_failed = 1;
  return status;
}

#endif
