/* Meetings of the ranks. Every collective operation has one: a maximum over some numbers, which shows whether a rank
 * has failed or left and whether all ranks are at the same operation. It takes no memory, so it cannot fail on one
 * rank.
 *
 *   number   tag -tag size -size   failed left   mover length spare move -move     maxima: equal when x == -(-x)
 *
 * `failed` is 0, or size - rank: the largest one is that of the first rank that failed, which then sends its error.
 * `left` is the same for ranks whose process ends.
 *
 * Outside of a stretch (gbt_comm_enter) the meeting comes first, and data move when all ranks are well. Inside, ranks
 * start to move data and meet at the same time, which saves a round of latency. A rank that is elsewhere (it has
 * failed) then learns from the meeting that others have started something: `mover` is the first of these ranks, which
 * sends a list of `length` numbers that describes it. The rank takes part with numbers that nobody looks at, piece by
 * piece, in the spare memory of the stretch; then all go on as after any meeting. Sizes within a stretch follow from
 * numbers that all ranks have, so healthy ranks start the same thing. Where they do not, nobody could complete it: the
 * operation stays open, and all ranks learn from the meeting that they are lost to each other.
 *
 *   list     op  most  n_parts  n_blocks  gathers | n, type of each part | type, count[] of each block | bytes[] */
#include "comm_impl.h"

#include <string.h>

#include "rng.h"

enum { TAG = 0, TAG_NEGATIVE, SIZE, SIZE_NEGATIVE, FAILED, LEFT, MOVER, LENGTH, SPARE, MOVE, MOVE_NEGATIVE };
_Static_assert(MOVE_NEGATIVE + 1 == GBT_COMM_MEETING, "the numbers of a meeting");

enum { LIST_HEAD = 5, LEAST_PIECE = 1024, MOST_BLOCK = 1 << 26 };

/* All ranks leave with a failure that they have met over, so no rank needs to tell it to the others. */
static gbt_status fail_all(gbt_ctx *ctx, gbt_status status, gbt_error *err) {
  ctx->comm_failed = 1;
  if (err != NULL) err->ranks_know = 1;
  return status;
}

/* The failure of rank `root`, which has it in *err, to all. */
static gbt_status broadcast_failure(gbt_ctx *ctx, gbt_status status, int root, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  gbt_error its = {.code = status, .msg = "", .subject = "", .host = ""};
  ctx->comm_failed = 1;
  if (comm->rank == root && err != NULL) {
    its = *err;
    its.code = status;
  }
  GBT_TRY(gbti_comm_end(ctx, comm->broadcast(comm->state, &its, sizeof its, root, err)));
  if (err == NULL) return its.code;
  memcpy(err->subject, its.subject, sizeof err->subject);
  char subject[sizeof its.subject];
  memcpy(subject, its.subject, sizeof subject);
  gbt_fail_on(err, its.code, subject, "rank %d of %d: %s", root, comm->size, its.msg);
  memcpy(err->host, its.host, sizeof err->host);
  err->cpu_can = its.cpu_can;
  return fail_all(ctx, its.code, err);
}

/* ---- the list that describes a move ---- */

static size_t list_length(const gbt_comm *comm, const gbt_comm_move *move) {
  const size_t ranks = (size_t)comm->size;
  return LIST_HEAD + 2 * move->n_parts + move->n_blocks * (1 + ranks) + (move->bytes != NULL ? ranks : 0);
}

static void write_list(const gbt_comm *comm, const gbt_comm_move *move, int64_t *to) {
  const int64_t head[LIST_HEAD] = {(int64_t)move->op, (int64_t)move->most, (int64_t)move->n_parts,
                                   (int64_t)move->n_blocks, move->bytes != NULL};
  memcpy(to, head, sizeof head);
  to += LIST_HEAD;
  for (size_t i = 0; i < move->n_parts; i++) {
    *to++ = (int64_t)move->part[i].n;
    *to++ = (int64_t)move->part[i].type;
  }
  for (size_t i = 0; i < move->n_blocks; i++) {
    *to++ = (int64_t)move->block[i].type;
    for (int r = 0; r < comm->size; r++) *to++ = (int64_t)move->block[i].count[r];
  }
  for (int r = 0; move->bytes != NULL && r < comm->size; r++) *to++ = (int64_t)move->bytes[r];
}

/* A number that differs where moves do. Above 0. */
static int64_t mix_move(const gbt_comm *comm, const gbt_comm_move *move) {
  uint64_t h = gbt_mix64((uint64_t)move->op + 16 * (uint64_t)move->n_parts + ((uint64_t)move->n_blocks << 32));
  for (size_t i = 0; i < move->n_parts; i++) h = gbt_mix64(h ^ (3 * (uint64_t)move->part[i].n + move->part[i].type));
  for (size_t i = 0; i < move->n_blocks; i++) {
    h = gbt_mix64(h ^ (uint64_t)move->block[i].type);
    for (int r = 0; r < comm->size; r++) h = gbt_mix64(h ^ (uint64_t)move->block[i].count[r]);
  }
  for (int r = 0; move->bytes != NULL && r < comm->size; r++) h = gbt_mix64(h ^ (uint64_t)move->bytes[r]);
  return (int64_t)(h >> 4) + 1;
}

/* ---- taking part in what others have started ---- */

static gbt_status start_and_finish(gbt_ctx *ctx, const gbt_comm_move *move, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  GBT_TRY(gbti_comm_end(ctx, comm->start(comm->state, move, err)));
  return gbti_comm_end(ctx, comm->finish(comm->state, err));
}

/* One part or block or gathering at a time. room: beyond the list. */
static gbt_status join_others(gbt_ctx *ctx, const int64_t *list, char *room, gbt_error *err) {
  const int size = ctx->comm->size, rank = ctx->comm->rank;
  const size_t most = (size_t)list[1], n_parts = (size_t)list[2], n_blocks = (size_t)list[3];
  const int gathers = list[4] != 0;
  size_t *count = (size_t *)(void *)room;
  char *data = room + (size_t)size * sizeof *count;
  gbt_comm_move one = {.op = (gbt_comm_op)list[0], .most = most};
  const int64_t *at = list + LIST_HEAD;
  for (size_t i = 0; i < n_parts; i++, at += 2)
    for (size_t n = (size_t)at[0]; n > 0;) {
      const gbt_comm_part part = {data, n < most ? n : most, (gbt_comm_type)at[1]};
      if (part.n > 0) memset(data, 0, part.n * gbt_comm_width(part.type));
      one.part = &part;
      one.n_parts = 1;
      GBT_TRY(start_and_finish(ctx, &one, err));
      n -= part.n;
    }
  one.n_parts = 0;
  for (size_t i = 0; i < n_blocks; i++) {
    gbt_comm_block block = {data, count, (gbt_comm_type)*at++, data};
    size_t n = 0;
    for (int r = 0; r < size; r++) n += count[r] = (size_t)*at++;
    memset(data, 0, n * gbt_comm_width(block.type));
    block.own = data + n * gbt_comm_width(block.type);
    one.block = &block;
    one.n_blocks = 1;
    GBT_TRY(start_and_finish(ctx, &one, err));
  }
  one.n_blocks = 0;
  if (!gathers) return GBT_OK;
  for (int r = 0; r < size; r++) count[r] = (size_t)*at++;
  memset(data, 0, count[rank]);
  one.mine = data;
  one.bytes = count;
  one.all = data + count[rank];
  return start_and_finish(ctx, &one, err);
}

/* Bytes that joining a move takes, its list included. */
static size_t join_bytes(const gbt_comm *comm, const gbt_comm_move *move) {
  const size_t list = (list_length(comm, move) + (size_t)comm->size) * sizeof(int64_t);
  size_t most = move->n_parts > 0 ? move->most * sizeof(int64_t) : 0;
  for (size_t i = 0; i < move->n_blocks; i++) {
    size_t n = 0, longest = 0;
    for (int r = 0; r < comm->size; r++) {
      n += move->block[i].count[r];
      if (move->block[i].count[r] > longest) longest = move->block[i].count[r];
    }
    const size_t bytes = (n + longest) * gbt_comm_width(move->block[i].type);
    if (bytes > most) most = bytes;
  }
  size_t n = 0, longest = 0;
  for (int r = 0; move->bytes != NULL && r < comm->size; r++) {
    n += move->bytes[r];
    if (move->bytes[r] > longest) longest = move->bytes[r];
  }
  return list + (n + longest > most ? n + longest : most);
}

/* Whether a rank that is elsewhere could join the move in the spare memory. Sets the pieces of parts. */
static int fits(const gbt_ctx *ctx, gbt_comm_move *move) {
  const gbt_comm *comm = ctx->comm;
  const size_t list = (list_length(comm, move) + (size_t)comm->size) * sizeof(int64_t);
  if (ctx->comm_spare == NULL || comm->start == NULL) return 0;
  if (ctx->comm_spare_bytes < list + LEAST_PIECE * sizeof(int64_t)) return 0;
  move->most = (ctx->comm_spare_bytes - list) / sizeof(int64_t);
  if (move->most > MOST_BLOCK) move->most = MOST_BLOCK;
  const size_t bytes = join_bytes(comm, move);
  return bytes <= ctx->comm_spare_bytes && bytes - list <= MOST_BLOCK * sizeof(int64_t);
}

/* Others, and perhaps this rank (move: what it has started), move data, but not all ranks are there: completes it. */
static gbt_status complete(gbt_ctx *ctx, const int64_t *number, const gbt_comm_move *move, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  const size_t length = (size_t)number[LENGTH];
  const int root = comm->size - (int)number[MOVER];
  int64_t *list = ctx->comm_spare;
  if (list == NULL && comm->spare != NULL) /* its process ends; this was asked for when the stretch began */
    list = comm->spare(comm->state, (size_t)number[SPARE]);
  if (list == NULL) return gbti_comm_end(ctx, gbt_fail_mem(err, (size_t)number[SPARE]));
  if (comm->rank == root) write_list(comm, move, list);
  GBT_TRY(gbti_comm_end(ctx, comm->broadcast(comm->state, list, length * sizeof *list, root, err)));
  return move != NULL ? gbti_comm_end(ctx, comm->finish(comm->state, err))
                      : join_others(ctx, list, (char *)(list + length), err);
}

/* ---- meetings ---- */

/* The numbers of this rank. move: what it has started, or NULL. */
static void put_numbers(const gbt_ctx *ctx, int64_t tag, size_t size, const gbt_comm_move *move, int64_t *number) {
  const gbt_comm *comm = ctx->comm;
  number[TAG] = tag;
  number[TAG_NEGATIVE] = -tag;
  number[SIZE] = (int64_t)size;
  number[SIZE_NEGATIVE] = -(int64_t)size;
  number[FAILED] = number[LEFT] = number[MOVER] = number[LENGTH] = number[SPARE] = 0;
  number[MOVE] = number[MOVE_NEGATIVE] = INT64_MIN;
  if (move == NULL) return;
  number[MOVER] = comm->size - comm->rank;
  number[LENGTH] = (int64_t)list_length(comm, move);
  number[SPARE] = (int64_t)ctx->comm_spare_bytes;
  number[MOVE] = mix_move(comm, move);
  number[MOVE_NEGATIVE] = -number[MOVE];
}

static int is_same(const int64_t *number) {
  return number[TAG] == -number[TAG_NEGATIVE] && number[SIZE] == -number[SIZE_NEGATIVE];
}

/* Draws the conclusion from the numbers of all ranks. */
static gbt_status read_numbers(gbt_ctx *ctx, const int64_t *number, int64_t tag, gbt_status status, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (number[LEFT] > 0 && !(is_same(number) && tag == GBTI_LEAVE)) {
    gbt_fail(err, GBT_E_DEVICE,
             "rank %d of %d has ended its R session or its script while the others go on; see what it printed",
             comm->size - (int)number[LEFT], comm->size);
    return fail_all(ctx, GBT_E_DEVICE, err);
  }
  if (number[FAILED] > 0) return broadcast_failure(ctx, status, comm->size - (int)number[FAILED], err);
  if (is_same(number)) return GBT_OK;
  gbt_fail(err, GBT_E_INTERNAL,
           "the ranks are at different operations: rank %d is at number %lld (kind and place %lld); all must run the "
           "same script",
           comm->rank, (long long)ctx->comm_calls, (long long)tag);
  return fail_all(ctx, GBT_E_INTERNAL, err);
}

/* status: of this rank; when it is a failure, nothing else of this rank counts. move: what it has started, or NULL. */
static gbt_status meet(gbt_ctx *ctx, int64_t tag, size_t size, gbt_status status, const gbt_comm_move *move,
                       gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  int64_t number[GBT_COMM_MEETING];
  const gbt_comm_part all = {number, GBT_COMM_MEETING, GBT_COMM_I64};
  put_numbers(ctx, tag, size, move, number);
  if (status != GBT_OK) number[FAILED] = comm->size - comm->rank;
  if (tag == GBTI_LEAVE) number[LEFT] = comm->size - comm->rank;
  GBT_TRY(gbti_comm_end(ctx, comm->reduce(comm->state, &all, 1, GBT_COMM_MAX, err)));
  const int well = is_same(number) && number[FAILED] == 0 && (number[LEFT] == 0 || tag == GBTI_LEAVE);
  if (well) return move == NULL ? GBT_OK : gbti_comm_end(ctx, comm->finish(comm->state, err));
  const int open = number[MOVER] > 0 && number[MOVE] != -number[MOVE_NEGATIVE];
  if (number[MOVER] > 0 && !open) GBT_TRY(complete(ctx, number, move, err));
  status = read_numbers(ctx, number, tag, status, err);
  if (open && comm->lose != NULL) comm->lose(comm->state); /* on all ranks: none waits for another one later */
  return status;
}

/* Kind, place in the sources and number of the operation in the call, in one positive number. */
static int64_t next_tag(gbt_ctx *ctx, gbti_comm_kind what, int site) {
  ctx->comm_calls++;
  return (int64_t)(ctx->comm_calls & 0x7fffffffu) << 24 | (int64_t)(site & 0xfffff) << 4 | (int64_t)what;
}

static gbt_status check_on_way(const gbt_ctx *ctx, gbt_error *err) {
  return ctx->comm_failed ? gbt_fail(err, GBT_E_INTERNAL, "a rank went on after a failure") : GBT_OK;
}

gbt_status gbti_comm_begin(gbt_ctx *ctx, gbti_comm_kind what, int site, size_t size, gbt_error *err) {
  GBT_TRY(check_on_way(ctx, err));
  return meet(ctx, next_tag(ctx, what, site), size, GBT_OK, NULL, err);
}

gbt_status gbti_comm_fail(gbt_ctx *ctx, gbt_status status, gbt_error *err) {
  return meet(ctx, 0, 0, status, NULL, err);
}

gbt_status gbti_comm_part(gbt_ctx *ctx, gbt_error *err) {
  GBT_TRY(check_on_way(ctx, err));
  return meet(ctx, GBTI_LEAVE, 0, GBT_OK, NULL, err);
}

/* After a meeting. */
static gbt_status move_now(gbt_ctx *ctx, const gbt_comm_move *move, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  if (move->n_parts > 0)
    GBT_TRY(gbti_comm_end(ctx, comm->reduce(comm->state, move->part, move->n_parts, move->op, err)));
  for (size_t i = 0; i < move->n_blocks; i++) {
    const gbt_comm_block *b = &move->block[i];
    GBT_TRY(gbti_comm_end(ctx, comm->reduce_scatter(comm->state, b->x, b->count, b->type, b->own, err)));
  }
  if (move->bytes == NULL) return GBT_OK;
  return gbti_comm_end(ctx, comm->gather(comm->state, move->mine, move->bytes, move->all, err));
}

gbt_status gbti_comm_run(gbt_ctx *ctx, gbti_comm_kind what, int site, const gbt_comm_move *move, gbt_error *err) {
  const gbt_comm *comm = ctx->comm;
  gbt_comm_move its = *move;
  GBT_TRY(check_on_way(ctx, err));
  const int64_t tag = next_tag(ctx, what, site);
  const size_t size = (size_t)mix_move(comm, move);
  if (!fits(ctx, &its)) {
    GBT_TRY(meet(ctx, tag, size, GBT_OK, NULL, err));
    return move_now(ctx, &its, err);
  }
  GBT_TRY(gbti_comm_end(ctx, comm->start(comm->state, &its, err)));
  return meet(ctx, tag, size, GBT_OK, &its, err);
}
