/* Ranks: processes, or threads of a test, that train one model together. Each rank holds a share of the rows, one run
 * of consecutive rows, in the order of the ranks; a share may be empty. All ranks run the same program on their shares
 * and meet in collective operations:
 *
 *   rank 0   rows [0, n0)         ... local work ... sum ... local work ... gather ...
 *   rank 1   rows [n0, n0 + n1)   ... local work ... sum ... local work ... gather ...
 * Only exact values are combined (integers, maxima, exact sums), so any number of ranks gives the bytes of one process.
 *
 * Rules. Every rank calls the same operations, in the same order, with the same sizes, on the thread that entered the
 * engine, outside gbt_parallel. Before an operation moves data, the ranks compare which operation each of them is about
 * to do. A rank that failed reports its error at the next such meeting (gbt_comm_agree), and the others return the same
 * error, which names the rank. If ranks are at different operations, all get GBT_E_INTERNAL. No rank waits for a rank
 * that has left. Within a stretch (gbt_comm_enter) ranks compare and move data at the same time: comm_meet.c.
 *
 * A public function of the engine that uses ranks ends with gbt_comm_agree: it succeeds on all ranks or on none. A host
 * calls it after work of its own between two such calls.
 *
 * A context without a communicator is a single process: every operation returns at once, without a copy. */
#ifndef GBT_BASE_COMM_H
#define GBT_BASE_COMM_H

#include "ctx.h"
#include "exact_sum.h"

typedef enum gbt_comm_type { GBT_COMM_I64 = 0, GBT_COMM_U32, GBT_COMM_F64 } gbt_comm_type;
typedef enum gbt_comm_op { GBT_COMM_SUM = 0, GBT_COMM_MIN, GBT_COMM_MAX } gbt_comm_op;

/* An array of n numbers: int64_t, uint32_t or double. */
typedef struct gbt_comm_part {
  void *x;
  size_t n;
  gbt_comm_type type;
} gbt_comm_part;

/* A block of numbers for every rank: see reduce_scatter. count: by rank, the same on all ranks. */
typedef struct gbt_comm_block {
  void *x;
  const size_t *count;
  gbt_comm_type type; /* GBT_COMM_I64 or GBT_COMM_U32 */
  void *own;
} gbt_comm_block;

/* Several operations at the same time: parts to be reduced, blocks to be summed up, and bytes to be gathered. Any of
 * the three may be missing. */
typedef struct gbt_comm_move {
  gbt_comm_op op;             /* of the parts */
  const gbt_comm_part *part;  /* n_parts, see reduce */
  size_t n_parts;
  const gbt_comm_block *block; /* n_blocks, see reduce_scatter */
  size_t n_blocks;
  const void *mine; /* see gather */
  const size_t *bytes; /* NULL: nothing is gathered */
  void *all;
  size_t most; /* maximum number of numbers in a piece of a part; set by comm_meet.c */
} gbt_comm_move;

enum { GBT_COMM_MEETING = 11 }; /* numbers of a meeting, whose maximum is asked for */

/* A way for ranks to exchange data, made by the host; one for each rank. gbt_ctx.comm points to it, and it must outlive
 * the context. The functions block until the operation is complete on this rank. They must not fail on one rank only,
 * so what may fail (allocating memory, say) must be done before. When the connection is lost, they return GBT_E_DEVICE
 * on every remaining rank. They do not poll: the engine notices a request to stop at its next poll. */
typedef struct gbt_comm {
  int rank, size; /* rank in [0, size) */
  void *state;    /* borrowed; handed to the functions */

  /* In every part x[i] becomes the sum, minimum or maximum of the x[i] of all ranks. Doubles: only minima and maxima,
   * never NaN. Parts may be reduced at the same time. */
  gbt_status (*reduce)(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err);

  /* Concatenates the blocks of all ranks, in the order of the ranks. bytes: the length of each rank's block, the same
   * array on all ranks. mine: bytes[rank] bytes. all: room for the sum of bytes. */
  gbt_status (*gather)(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err);

  /* x of rank `root` to all ranks, in place. bytes: of x, the same on all ranks. */
  gbt_status (*broadcast)(void *state, void *x, size_t bytes, int root, gbt_error *err);

  /* A sum of which every rank gets its own part. x: a block for every rank, in the order of the ranks; count: numbers
   * of each block, the same array on all ranks. own: room for count[rank] numbers, which become the sums of this rank's
   * block over all ranks; x is undefined afterwards. type: GBT_COMM_I64 or GBT_COMM_U32 (whose sums wrap around). */
  gbt_status (*reduce_scatter)(void *state, void *x, const size_t *count, gbt_comm_type type, void *own,
                               gbt_error *err);

  /* A block from every rank to every rank. out: a block for each rank, in the order of the ranks, of sends[rank] bytes;
   * in: the blocks for this rank, in the order of the ranks, of takes[rank] bytes. takes[r] is sends[this rank] on rank
   * r. */
  gbt_status (*exchange)(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                         gbt_error *err);

  /* A move in two halves, between which ranks meet: `start` begins it, `finish` waits until it is complete on this
   * rank. Both NULL: not supported; then ranks meet before they move data. In between ranks call `reduce` and
   * `broadcast`, which must not wait for the move; one rank may call them before `start`, another one after it. A piece
   * of a part, a block and the gathering can be moves of their own on another rank, in the same order: it starts and
   * finishes one after the other. What a move refers to is borrowed until it is finished. Starting a move while another
   * one is not finished breaks the connection of the ranks. */
  gbt_status (*start)(void *state, const gbt_comm_move *move, gbt_error *err);
  gbt_status (*finish)(void *state, gbt_error *err);

  /* For moves; either may be NULL.
   * spare: memory for a rank whose process ends within a stretch: `bytes` bytes, aligned for numbers, valid as long as
   * the communicator. NULL: there is none. A call for no more bytes than before does not fail.
   * lose: called when ranks have started different moves, which no rank can complete. Later operations fail at once. */
  void *(*spare)(void *state, size_t bytes);
  void (*lose)(void *state);

  /* Whether a rank has failed and waits at the next meeting. For ranks that wait for something other than an operation
   * here; does not meet. NULL: not known. */
  int (*failed)(void *state);
} gbt_comm;

/* Bytes of a number. */
static inline size_t gbt_comm_width(gbt_comm_type type) {
  return type == GBT_COMM_U32 ? sizeof(uint32_t) : sizeof(int64_t);
}

static inline int gbt_comm_rank(const gbt_ctx *ctx) { return ctx->comm == NULL ? 0 : ctx->comm->rank; }
static inline int gbt_comm_size(const gbt_ctx *ctx) { return ctx->comm == NULL ? 1 : ctx->comm->size; }

/* Whether there are no other ranks. */
static inline int gbt_comm_is_single(const gbt_ctx *ctx) { return gbt_comm_size(ctx) == 1; }

/* The position of this rank's n rows among those of all ranks. With one rank: {0, n}. Collective: here and in other
 * headers this means that all ranks must call the function, see above. */
typedef struct gbt_share {
  int64_t beg; /* rows of the ranks before this one */
  int64_t all; /* rows of all ranks */
} gbt_share;
gbt_status gbt_comm_share(gbt_ctx *ctx, int64_t n, gbt_share *out, gbt_error *err) GBT_MUST_CHECK;

/* Ends a step of all ranks. status: that of this rank, and err if it failed. Returns GBT_OK if all ranks give GBT_OK;
 * otherwise on every rank the failure of the first rank that failed, with the rank (from 0) in the message. Steps must
 * not be nested, since a rank that has left the outer step cannot meet others in the inner one. */
gbt_status gbt_comm_agree(gbt_ctx *ctx, gbt_status status, gbt_error *err) GBT_MUST_CHECK;

/* This rank leaves, because its process ends. GBT_OK if all ranks leave at the same time. Ranks that are at an
 * operation instead fail with GBT_E_DEVICE and the number of the rank that left, and so does this function. */
gbt_status gbt_comm_leave(gbt_ctx *ctx, gbt_error *err) GBT_MUST_CHECK;

/* From here to gbt_comm_agree the ranks are in a stretch: they start to move data and compare at the same time, so an
 * operation takes one round of latency and not two. For steps in which the sizes of operations follow from numbers that
 * all ranks have. number: identifies the step; it is compared between the ranks here. spare: memory, aligned for
 * numbers, that is used when a rank fails; borrowed until the stretch ends; bytes: the same on all ranks. An operation
 * that needs more of it takes two rounds. */
gbt_status gbt_comm_enter(gbt_ctx *ctx, uint64_t number, void *spare, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* A meeting in the middle of a step: fails if another rank has failed, so that either all ranks continue or none. */
gbt_status gbt_comm_sync_at(gbt_ctx *ctx, int site, gbt_error *err) GBT_MUST_CHECK;

/* x[0 .. n) over all ranks, in place. `site` identifies the place in the sources; the macros below supply it. */
gbt_status gbt_comm_reduce_at(gbt_ctx *ctx, int site, void *x, size_t n, gbt_comm_type type, gbt_comm_op op,
                              gbt_error *err) GBT_MUST_CHECK;
gbt_status gbt_comm_sum_exact_at(gbt_ctx *ctx, int site, gbt_exact_sum *x, size_t n, gbt_error *err) GBT_MUST_CHECK;

/* Sums of several arrays, of GBT_COMM_I64 or GBT_COMM_U32, in one meeting. */
gbt_status gbt_comm_sum_parts_at(gbt_ctx *ctx, int site, const gbt_comm_part *part, size_t n_parts,
                                 gbt_error *err) GBT_MUST_CHECK;

/* A move. A single process has its own blocks and bytes, which are copied where x and own, mine and all differ. */
gbt_status gbt_comm_move_at(gbt_ctx *ctx, int site, const gbt_comm_move *move, gbt_error *err) GBT_MUST_CHECK;

/* The sums of this rank's block, see reduce_scatter above. type: GBT_COMM_I64 or GBT_COMM_U32. A single process has one
 * block, which is copied to `own`; they may be the same array then, and must not overlap otherwise. */
gbt_status gbt_comm_sum_own_at(gbt_ctx *ctx, int site, void *x, const size_t *count, gbt_comm_type type, void *own,
                               gbt_error *err) GBT_MUST_CHECK;

/* n numbers of every rank, in the order of the ranks: all has room for size * n. */
gbt_status gbt_comm_gather_i64_at(gbt_ctx *ctx, int site, const int64_t *mine, size_t n, int64_t *all,
                                  gbt_error *err) GBT_MUST_CHECK;

/* Blocks of different sizes. bytes: by rank, the same on all ranks; all: room for their sum. */
gbt_status gbt_comm_gather_at(gbt_ctx *ctx, int site, const void *mine, const size_t *bytes, void *all,
                              gbt_error *err) GBT_MUST_CHECK;

/* x of rank `root` to all ranks; `bytes` is the same on all. */
gbt_status gbt_comm_broadcast_at(gbt_ctx *ctx, int site, void *x, size_t bytes, int root,
                                 gbt_error *err) GBT_MUST_CHECK;

/* A block from every rank to every rank, see gbt_comm.exchange. `in`: room for the sum of takes. */
gbt_status gbt_comm_exchange_at(gbt_ctx *ctx, int site, const void *out, const size_t *sends, void *in,
                                const size_t *takes, gbt_error *err) GBT_MUST_CHECK;

/* takes[r], by rank: sends[this rank] of rank r. */
gbt_status gbt_comm_exchange_sizes_at(gbt_ctx *ctx, int site, const size_t *sends, size_t *takes,
                                      gbt_error *err) GBT_MUST_CHECK;

/* Whether the number is the same on all ranks: *same. */
gbt_status gbt_comm_same_at(gbt_ctx *ctx, int site, uint64_t number, int *same, gbt_error *err) GBT_MUST_CHECK;

#define gbt_comm_sync(ctx, err) gbt_comm_sync_at(ctx, __LINE__, err)
#define gbt_comm_sum_i64(ctx, x, n, err) gbt_comm_reduce_at(ctx, __LINE__, x, n, GBT_COMM_I64, GBT_COMM_SUM, err)
#define gbt_comm_min_i64(ctx, x, n, err) gbt_comm_reduce_at(ctx, __LINE__, x, n, GBT_COMM_I64, GBT_COMM_MIN, err)
#define gbt_comm_max_i64(ctx, x, n, err) gbt_comm_reduce_at(ctx, __LINE__, x, n, GBT_COMM_I64, GBT_COMM_MAX, err)
#define gbt_comm_min_f64(ctx, x, n, err) gbt_comm_reduce_at(ctx, __LINE__, x, n, GBT_COMM_F64, GBT_COMM_MIN, err)
#define gbt_comm_max_f64(ctx, x, n, err) gbt_comm_reduce_at(ctx, __LINE__, x, n, GBT_COMM_F64, GBT_COMM_MAX, err)
#define gbt_comm_sum_exact(ctx, x, n, err) gbt_comm_sum_exact_at(ctx, __LINE__, x, n, err)
#define gbt_comm_sum_parts(ctx, part, n, err) gbt_comm_sum_parts_at(ctx, __LINE__, part, n, err)
#define gbt_comm_run(ctx, move, err) gbt_comm_move_at(ctx, __LINE__, move, err)
#define gbt_comm_sum_own(ctx, x, count, type, own, err) gbt_comm_sum_own_at(ctx, __LINE__, x, count, type, own, err)
#define gbt_comm_gather_i64(ctx, mine, n, all, err) gbt_comm_gather_i64_at(ctx, __LINE__, mine, n, all, err)
#define gbt_comm_gather(ctx, mine, bytes, all, err) gbt_comm_gather_at(ctx, __LINE__, mine, bytes, all, err)
#define gbt_comm_broadcast(ctx, x, bytes, root, err) gbt_comm_broadcast_at(ctx, __LINE__, x, bytes, root, err)
#define gbt_comm_exchange(ctx, out, sends, in, takes, err) \
  gbt_comm_exchange_at(ctx, __LINE__, out, sends, in, takes, err)
#define gbt_comm_exchange_sizes(ctx, sends, takes, err) gbt_comm_exchange_sizes_at(ctx, __LINE__, sends, takes, err)
#define gbt_comm_same(ctx, number, same, err) gbt_comm_same_at(ctx, __LINE__, number, same, err)

#endif
