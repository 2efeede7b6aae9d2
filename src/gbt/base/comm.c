/* Collective operations: what each moves, and what it does with the result. comm_meet.c has the meetings. */
#include "comm_impl.h"

#include <string.h>

#include "rng.h"

/* One part, by whatever operation. */
static gbt_status reduce(gbt_ctx *ctx, gbti_comm_kind what, int site, void *x, size_t n, gbt_comm_type type,
                         gbt_comm_op op, gbt_error *err) {
  const gbt_comm_part part = {x, n, type};
  const gbt_comm_move move = {.op = op, .part = &part, .n_parts = 1};
  return gbti_comm_run(ctx, what, site, &move, err);
}

gbt_status gbt_comm_agree(gbt_ctx *ctx, gbt_status status, gbt_error *err) {
  if (gbt_comm_is_single(ctx)) return status;
  if (ctx->comm_failed) { /* the ranks have met over it */
    if (status == GBT_OK) status = gbt_fail(err, GBT_E_INTERNAL, "this rank went on although another rank had failed");
  } else if (status == GBT_OK) {
    status = gbti_comm_begin(ctx, GBTI_AGREE, 0, 0, err);
  } else {
    status = gbti_comm_fail(ctx, status, err);
  }
  ctx->comm_failed = 0;
  ctx->comm_spare = NULL;
  ctx->comm_spare_bytes = 0;
  if (status != GBT_OK) ctx->comm_calls = 0; /* the ranks were at different ones */
  return status;
}

gbt_status gbt_comm_enter(gbt_ctx *ctx, uint64_t number, void *spare, size_t bytes, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  if (comm->spare != NULL && comm->spare(comm->state, bytes) == NULL) return gbt_fail_mem(err, bytes);
  GBT_TRY(gbti_comm_begin(ctx, GBTI_AGREE, 1, (size_t)(gbt_mix64(number ^ gbt_mix64(bytes)) >> 2), err));
  ctx->comm_spare = spare;
  ctx->comm_spare_bytes = bytes;
  return GBT_OK;
}

gbt_status gbt_comm_leave(gbt_ctx *ctx, gbt_error *err) {
  return gbt_comm_is_single(ctx) ? GBT_OK : gbti_comm_part(ctx, err);
}

gbt_status gbt_comm_sync_at(gbt_ctx *ctx, int site, gbt_error *err) {
  return gbt_comm_is_single(ctx) ? GBT_OK : gbti_comm_begin(ctx, GBTI_AGREE, site, 0, err);
}

gbt_status gbt_comm_reduce_at(gbt_ctx *ctx, int site, void *x, size_t n, gbt_comm_type type, gbt_comm_op op,
                              gbt_error *err) {
  GBT_ASSERT(type != GBT_COMM_F64 || op != GBT_COMM_SUM);
  return gbt_comm_is_single(ctx) ? GBT_OK : reduce(ctx, GBTI_REDUCE, site, x, n, type, op, err);
}

gbt_status gbt_comm_sum_exact_at(gbt_ctx *ctx, int site, gbt_exact_sum *x, size_t n, gbt_error *err) {
  const size_t numbers = sizeof *x / sizeof(int64_t);
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (size_t i = 0; i < n; i++) { /* in normal form limbs are below 2^32, so those of all ranks can be added */
    gbt_exact_sum sum;
    gbt_exact_zero(&sum);
    gbt_exact_merge(&sum, &x[i]);
    x[i] = sum;
  }
  return reduce(ctx, GBTI_SUM_EXACT, site, x, n * numbers, GBT_COMM_I64, GBT_COMM_SUM, err);
}

gbt_status gbt_comm_sum_parts_at(gbt_ctx *ctx, int site, const gbt_comm_part *part, size_t n_parts, gbt_error *err) {
  const gbt_comm_move move = {.op = GBT_COMM_SUM, .part = part, .n_parts = n_parts};
  return gbt_comm_is_single(ctx) ? GBT_OK : gbti_comm_run(ctx, GBTI_SUM_PARTS, site, &move, err);
}

gbt_status gbt_comm_move_at(gbt_ctx *ctx, int site, const gbt_comm_move *move, gbt_error *err) {
  if (!gbt_comm_is_single(ctx)) return gbti_comm_run(ctx, GBTI_MOVE, site, move, err);
  for (size_t i = 0; i < move->n_blocks; i++) {
    const gbt_comm_block *b = &move->block[i];
    if (b->own != b->x && b->count[0] > 0) memcpy(b->own, b->x, b->count[0] * gbt_comm_width(b->type));
  }
  if (move->bytes != NULL && move->bytes[0] > 0) memcpy(move->all, move->mine, move->bytes[0]);
  return GBT_OK;
}

gbt_status gbt_comm_sum_own_at(gbt_ctx *ctx, int site, void *x, const size_t *count, gbt_comm_type type, void *own,
                               gbt_error *err) {
  const gbt_comm_block block = {x, count, type, own};
  const gbt_comm_move move = {.op = GBT_COMM_SUM, .block = &block, .n_blocks = 1};
  GBT_ASSERT(type != GBT_COMM_F64);
  return gbt_comm_move_at(ctx, site, &move, err);
}

gbt_status gbt_comm_gather_i64_at(gbt_ctx *ctx, int site, const int64_t *mine, size_t n, int64_t *all,
                                  gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) {
    memcpy(all, mine, n * sizeof *all);
    return GBT_OK;
  }
  /* a sum in which every number has one rank that is not 0: needs no list of sizes */
  memset(all, 0, (size_t)comm->size * n * sizeof *all);
  memcpy(all + (size_t)comm->rank * n, mine, n * sizeof *all);
  return reduce(ctx, GBTI_GATHER_EQUAL, site, all, (size_t)comm->size * n, GBT_COMM_I64, GBT_COMM_SUM, err);
}

gbt_status gbt_comm_gather_at(gbt_ctx *ctx, int site, const void *mine, const size_t *bytes, void *all,
                              gbt_error *err) {
  const gbt_comm_move move = {.mine = mine, .bytes = bytes, .all = all};
  if (!gbt_comm_is_single(ctx)) return gbti_comm_run(ctx, GBTI_GATHER, site, &move, err);
  if (bytes[0] > 0) memcpy(all, mine, bytes[0]);
  return GBT_OK;
}

gbt_status gbt_comm_broadcast_at(gbt_ctx *ctx, int site, void *x, size_t bytes, int root, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(gbti_comm_begin(ctx, GBTI_BROADCAST, site, bytes, err));
  return gbti_comm_end(ctx, comm->broadcast(comm->state, x, bytes, root, err));
}

gbt_status gbt_comm_exchange_at(gbt_ctx *ctx, int site, const void *out, const size_t *sends, void *in,
                                const size_t *takes, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) {
    if (sends[0] > 0) memcpy(in, out, sends[0]);
    return GBT_OK;
  }
  GBT_TRY(gbti_comm_begin(ctx, GBTI_EXCHANGE, site, 0, err));
  return gbti_comm_end(ctx, comm->exchange(comm->state, out, sends, in, takes, err));
}

gbt_status gbt_comm_exchange_sizes_at(gbt_ctx *ctx, int site, const size_t *sends, size_t *takes, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  size_t *bytes;
  GBT_TRY(gbt_mem_array(&ctx->mem, size, sizeof *bytes, &bytes, err));
  for (size_t r = 0; r < size; r++) bytes[r] = sizeof *sends;
  gbt_status status = gbt_comm_exchange_at(ctx, site, sends, bytes, takes, bytes, err);
  gbt_mem_free(&ctx->mem, bytes);
  return status;
}

gbt_status gbt_comm_same_at(gbt_ctx *ctx, int site, uint64_t number, int *same, gbt_error *err) {
  int64_t half = (int64_t)(number & 0xffffffffu), rest = (int64_t)(number >> 32);
  int64_t both[4] = {half, -half, rest, -rest};
  *same = 1;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(reduce(ctx, GBTI_SAME, site, both, 4, GBT_COMM_I64, GBT_COMM_MAX, err));
  *same = both[0] == -both[1] && both[2] == -both[3];
  return GBT_OK;
}

gbt_status gbt_comm_share(gbt_ctx *ctx, int64_t n, gbt_share *out, gbt_error *err) {
  int64_t *rows;
  *out = (gbt_share){0, n};
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)gbt_comm_size(ctx), sizeof *rows, &rows, err));
  gbt_status status = gbt_comm_gather_i64(ctx, &n, 1, rows, err);
  out->all = 0;
  for (int r = 0; r < gbt_comm_size(ctx) && status == GBT_OK; r++) {
    if (r == gbt_comm_rank(ctx)) out->beg = out->all;
    out->all += rows[r];
  }
  gbt_mem_free(&ctx->mem, rows);
  return status;
}
