/* Meetings of the ranks. Every collective operation begins with one: a maximum over six numbers, which shows whether a
 * rank has failed or left and whether all ranks are at the same operation. It takes no memory, so it cannot fail on one
 * rank.
 *
 *   number   tag   -tag   size   -size   failed   left      maxima:  tag == -(-tag) when all ranks have the same one
 *
 * `failed` is 0, or size - rank: the largest one is that of the first rank that failed, which then sends its error.
 * `left` is the same for ranks whose process ends. */
#include "comm.h"

#include <string.h>

enum { TAG = 0, TAG_NEGATIVE, SIZE, SIZE_NEGATIVE, FAILED, LEFT, N_NUMBERS };

/* The kind of an operation, as part of its tag. */
typedef enum kind {
  AGREE = 0, REDUCE, SUM_EXACT, SUM_PARTS, SUM_OWN, GATHER_EQUAL, GATHER, BROADCAST, SAME, LEAVE, EXCHANGE
} kind;

/* The result of a function of the communicator. */
static gbt_status end(gbt_ctx *ctx, gbt_status status) {
  if (status != GBT_OK) ctx->comm_failed = 1;
  return status;
}

/* All ranks leave with a failure that they have met over, so no rank needs to tell it to the others. */
static gbt_status fail_all(gbt_ctx *ctx, gbt_status status, gbt_error *err) {
  ctx->comm_failed = 1;
  if (err != NULL) err->ranks_know = 1;
  return status;
}

static gbt_status reduce(gbt_ctx *ctx, void *x, size_t n, gbt_comm_type type, gbt_comm_op op, gbt_error *err) {
  const gbt_comm_part part = {x, n, type};
  return end(ctx, ctx->comm->reduce(ctx->comm->state, &part, 1, op, err));
}

/* The failure of rank `root`, which has it in *err, to all. */
static gbt_status broadcast_failure(gbt_ctx *ctx, gbt_status status, int root, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  gbt_error its = {.code = status, .msg = "", .subject = ""};
  ctx->comm_failed = 1;
  if (comm->rank == root && err != NULL) {
    its = *err;
    its.code = status;
  }
  GBT_TRY(comm->broadcast(comm->state, &its, sizeof its, root, err));
  if (err == NULL) return its.code;
  memcpy(err->subject, its.subject, sizeof err->subject);
  char subject[sizeof its.subject];
  memcpy(subject, its.subject, sizeof subject);
  gbt_fail_on(err, its.code, subject, "rank %d of %d: %s", root, comm->size, its.msg);
  err->cpu_can = its.cpu_can;
  return fail_all(ctx, its.code, err);
}

/* status: of this rank; when it is a failure, nothing else of this rank counts. */
static gbt_status meet(gbt_ctx *ctx, int64_t tag, size_t size, gbt_status status, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  int64_t number[N_NUMBERS] = {tag, -tag, (int64_t)size, -(int64_t)size, 0, 0};
  if (ctx->comm_failed) return gbt_fail(err, GBT_E_INTERNAL, "a rank goes on after a failure");
  if (status != GBT_OK) number[FAILED] = comm->size - comm->rank;
  if (tag == LEAVE) number[LEFT] = comm->size - comm->rank;
  GBT_TRY(reduce(ctx, number, N_NUMBERS, GBT_COMM_I64, GBT_COMM_MAX, err));
  const int same = number[TAG] == -number[TAG_NEGATIVE] && number[SIZE] == -number[SIZE_NEGATIVE];
  if (number[LEFT] > 0 && !(same && tag == LEAVE)) {
    gbt_fail(err, GBT_E_DEVICE,
             "rank %d of %d has ended its R session or its script while the others go on; see what it printed",
             comm->size - (int)number[LEFT], comm->size);
    return fail_all(ctx, GBT_E_DEVICE, err);
  }
  if (number[FAILED] > 0) return broadcast_failure(ctx, status, comm->size - (int)number[FAILED], err);
  if (same) return GBT_OK;
  gbt_fail(err, GBT_E_INTERNAL,
           "the ranks are at different operations: rank %d is at number %lld, kind and place %lld, size %lld; all must "
           "run the same script",
           comm->rank, (long long)ctx->comm_calls, (long long)tag, (long long)size);
  return fail_all(ctx, GBT_E_INTERNAL, err);
}

/* Kind, place in the sources and number of the operation in the call, in one positive number. */
static gbt_status begin(gbt_ctx *ctx, kind what, int site, size_t size, gbt_error *err) {
  ctx->comm_calls++;
  int64_t tag = (int64_t)(ctx->comm_calls & 0x7fffffffu) << 24 | (int64_t)(site & 0xfffff) << 4 | (int64_t)what;
  return meet(ctx, tag, size, GBT_OK, err);
}

gbt_status gbt_comm_agree(gbt_ctx *ctx, gbt_status status, gbt_error *err) {
  if (gbt_comm_is_single(ctx)) return status;
  if (ctx->comm_failed) { /* the ranks have met over it */
    if (status == GBT_OK) status = gbt_fail(err, GBT_E_INTERNAL, "a failure of another rank was passed over");
  } else if (status == GBT_OK) {
    status = begin(ctx, AGREE, 0, 0, err);
  } else {
    status = meet(ctx, 0, 0, status, err);
  }
  ctx->comm_failed = 0;
  if (status != GBT_OK) ctx->comm_calls = 0; /* the ranks were at different ones */
  return status;
}

gbt_status gbt_comm_leave(gbt_ctx *ctx, gbt_error *err) {
  return gbt_comm_is_single(ctx) ? GBT_OK : meet(ctx, LEAVE, 0, GBT_OK, err);
}

gbt_status gbt_comm_sync_at(gbt_ctx *ctx, int site, gbt_error *err) {
  return gbt_comm_is_single(ctx) ? GBT_OK : begin(ctx, AGREE, site, 0, err);
}

gbt_status gbt_comm_reduce_at(gbt_ctx *ctx, int site, void *x, size_t n, gbt_comm_type type, gbt_comm_op op,
                              gbt_error *err) {
  GBT_ASSERT(type != GBT_COMM_F64 || op != GBT_COMM_SUM);
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(begin(ctx, REDUCE, site, 9 * n + 3 * (size_t)type + (size_t)op, err));
  return reduce(ctx, x, n, type, op, err);
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
  GBT_TRY(begin(ctx, SUM_EXACT, site, n, err));
  return reduce(ctx, x, n * numbers, GBT_COMM_I64, GBT_COMM_SUM, err);
}

gbt_status gbt_comm_sum_parts_at(gbt_ctx *ctx, int site, const gbt_comm_part *part, size_t n_parts, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  size_t size = n_parts;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (size_t i = 0; i < n_parts; i++) size += 3 * part[i].n + (size_t)part[i].type;
  GBT_TRY(begin(ctx, SUM_PARTS, site, size, err));
  return end(ctx, comm->reduce(comm->state, part, n_parts, GBT_COMM_SUM, err));
}

gbt_status gbt_comm_sum_own_at(gbt_ctx *ctx, int site, void *x, const size_t *count, gbt_comm_type type, void *own,
                               gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  size_t size = (size_t)type;
  GBT_ASSERT(type != GBT_COMM_F64);
  if (gbt_comm_is_single(ctx)) {
    if (own != x && count[0] > 0) memcpy(own, x, count[0] * gbt_comm_width(type));
    return GBT_OK;
  }
  for (int r = 0; r < comm->size; r++) size = 5 * size + 3 * count[r];
  GBT_TRY(begin(ctx, SUM_OWN, site, size & INT64_MAX, err));
  return end(ctx, comm->reduce_scatter(comm->state, x, count, type, own, err));
}

gbt_status gbt_comm_gather_i64_at(gbt_ctx *ctx, int site, const int64_t *mine, size_t n, int64_t *all,
                                  gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) {
    memcpy(all, mine, n * sizeof *all);
    return GBT_OK;
  }
  /* a sum in which every number has one rank that is not 0: needs no list of sizes */
  GBT_TRY(begin(ctx, GATHER_EQUAL, site, n, err));
  memset(all, 0, (size_t)comm->size * n * sizeof *all);
  memcpy(all + (size_t)comm->rank * n, mine, n * sizeof *all);
  return reduce(ctx, all, (size_t)comm->size * n, GBT_COMM_I64, GBT_COMM_SUM, err);
}

gbt_status gbt_comm_gather_at(gbt_ctx *ctx, int site, const void *mine, const size_t *bytes, void *all,
                              gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  size_t size = 0;
  if (gbt_comm_is_single(ctx)) {
    memcpy(all, mine, bytes[0]);
    return GBT_OK;
  }
  for (int r = 0; r < comm->size; r++) size += bytes[r];
  GBT_TRY(begin(ctx, GATHER, site, size, err));
  return end(ctx, comm->gather(comm->state, mine, bytes, all, err));
}

gbt_status gbt_comm_broadcast_at(gbt_ctx *ctx, int site, void *x, size_t bytes, int root, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(begin(ctx, BROADCAST, site, bytes, err));
  return end(ctx, comm->broadcast(comm->state, x, bytes, root, err));
}

gbt_status gbt_comm_exchange_at(gbt_ctx *ctx, int site, const void *out, const size_t *sends, void *in,
                                const size_t *takes, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (gbt_comm_is_single(ctx)) {
    if (sends[0] > 0) memcpy(in, out, sends[0]);
    return GBT_OK;
  }
  GBT_TRY(begin(ctx, EXCHANGE, site, 0, err));
  return end(ctx, comm->exchange(comm->state, out, sends, in, takes, err));
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
  GBT_TRY(begin(ctx, SAME, site, 0, err));
  GBT_TRY(reduce(ctx, both, 4, GBT_COMM_I64, GBT_COMM_MAX, err));
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
