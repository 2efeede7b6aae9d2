/* Several ranks: the search divided among them; see cpu_ranks.c. */
#ifndef GBT_CPU_CPU_RANKS_H
#define GBT_CPU_CPU_RANKS_H

#include "../base/comm.h"
#include "../tree/split.h"

struct cpu_backend;

/* A built histogram on its way: where it lies in a block, which holds those of k nodes. */
typedef struct cpu_parcel {
  int32_t build;
  int32_t j, k;
  int32_t block;  /* of its sums, and of its counts where these are not with the sums */
  int32_t narrow; /* all of it in 32 bits */
} cpu_parcel;

typedef struct cpu_ranks {
  int on;                       /* several ranks, which divide the search */
  int size, rank;
  uint32_t *slot_beg;           /* size + 1: rank r owns the features of the slots [slot_beg[r], slot_beg[r + 1]) */
  int8_t *owns;                 /* n_features: this rank searches it; NULL: all are searched here */
  int32_t *tree_feats, n_tree_feats; /* those of the tree that this rank owns, ascending */
  int64_t *left_rows;           /* by node: rows of all ranks that its split sends left; -1: not known */
  size_t n_left_rows, cap_left_rows;
  int root_waits;               /* the root has this rank's rows and sums until those of all ranks are added up */
  int64_t root[3];              /* then: rows, g, h */
  int64_t *waiting;             /* rows of the chosen nodes that went left here, to be added up; then of all ranks */
  size_t n_waiting, cap_waiting;
  char *out, *in;               /* blocks of all ranks, of this rank */
  size_t cap_out, cap_in;
  gbt_comm_block *block;
  size_t cap_block;
  size_t *count;                /* by block and rank */
  size_t cap_count;
  cpu_parcel *parcel;
  size_t cap_parcel;
  gbt_comm_part *part;
  size_t cap_part;
  size_t *bytes;                /* size: of a gathering */
  size_t set_words;             /* of the levels that go left, gathered with splits; 0: they come in a round more */
  char *bests;                  /* what is gathered */
  int32_t *won;                 /* by node: the rank whose split is the best */
  size_t cap_bests, cap_won;
} cpu_ranks;

/* After cpu_split_open. Which features this rank owns. A communicator without reduce_scatter gives every rank the sums
 * of all features, and every rank searches all of them. */
gbt_status cpu_ranks_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_ranks_close(struct cpu_backend *be);

/* A tree begins: its features are known. */
void cpu_ranks_begin(struct cpu_backend *be);

/* The root is there, with the rows and sums of this rank. Those of all ranks come with its histogram, or at once where
 * none is built (collective). */
void cpu_ranks_begin_root(struct cpu_backend *be);
gbt_status cpu_ranks_sum_root(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Keeps those of n features that this rank owns; returns how many. */
int32_t cpu_ranks_keep_own(const struct cpu_backend *be, int32_t *feats, int32_t n);

/* Slots whose sums this rank has and needs: all, or those of its features. */
uint32_t cpu_ranks_slot_beg(const struct cpu_backend *be);
uint32_t cpu_ranks_slot_end(const struct cpu_backend *be);

/* The built histograms become the sums over all ranks; where the search is divided, in this rank's own slots only, and
 * other slots are undefined. With them go the rows that cpu_partition has counted: then the fresh nodes' rows are known
 * (cpu_ranks_settle_rows). Collective. */
gbt_status cpu_ranks_sum_hists(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_ranks_settle_rows(struct cpu_backend *be);

/* node[0 .. n) have the best splits of this rank's features: of all features now. Collective. */
gbt_status cpu_ranks_best(gbt_ctx *ctx, struct cpu_backend *be, const int32_t *node, size_t n,
                          gbt_error *err) GBT_MUST_CHECK;

/* The splits of all ranks for n nodes, rank after rank, from the own ones; borrowed until the next call. Collective. */
gbt_status cpu_ranks_gather_splits(gbt_ctx *ctx, struct cpu_backend *be, const gbt_split *own, size_t n,
                                   const gbt_split **all, gbt_error *err) GBT_MUST_CHECK;

/* After cpu_ranks_best: the levels that go left in node i of n, set_words words; NULL: cpu_ranks_share_sets has to
 * tell. */
const uint32_t *cpu_ranks_set_of(const struct cpu_backend *be, size_t i, size_t n);

/* Words [beg, end) of the frontier's sets, which owners have filled in and others have left 0, on all ranks.
 * Collective. */
gbt_status cpu_ranks_share_sets(gbt_ctx *ctx, struct cpu_backend *be, size_t beg, size_t end,
                                gbt_error *err) GBT_MUST_CHECK;

/* Rows of all ranks that a node's split sends left, or -1. */
static inline int64_t cpu_ranks_left_rows(const cpu_ranks *ranks, int32_t node) {
  return (size_t)node < ranks->n_left_rows ? ranks->left_rows[node] : -1;
}
gbt_status cpu_ranks_put_left_rows(struct cpu_backend *be, int32_t node, int64_t rows, gbt_error *err) GBT_MUST_CHECK;

#endif
