/* The input of kernels: the tree that grows, and a view of it and of the data set (data/dataset.cuh), which each has by
 * value.
 *
 * Batches. Trees of a round, of all classes if memory allows, grow at the same time: a step is one set of launches for
 * all of them. The state of a tree (CU_TREE_STATE) is one piece of memory, `stride` bytes after that of the tree before
 * it; blockIdx.y is the tree that a block works for, and cu_view_of_block gives the view of a batch of only this tree:
 *
 *   state   | tree 0: cu_tree, nodes, lists, histograms, order .. | tree 1: the same |  ..
 *
 * Rows. A node's rows are a run of positions [order_beg, order_beg + own_rows) in the order of its depth. There are two
 * orders (cu_order_of): a step reads the chosen nodes' runs from one and writes their children's to the other. Rows
 * that stop early stay where they are, and no later step writes there. They ascend, but those of a right child descend
 * (cu_descends). After the n_in sampled rows come the others (in the even order), ascending. Gradients are moved with
 * them; docs/gpu.md, lists the bytes that this takes for a row.
 *
 * Histograms have the CPU's slots (data/page.h): sum[n_slots], all of them gbt_sum, and count[n_slots] where wanted.
 * Sums are made by integer additions in any order, so they are the CPU's to the bit. */
#pragma once

#include "../data/dataset.cuh"

extern "C" {
#include "../../gbt/backend/backend.h"
#include "../../gbt/base/rng.h"
#include "../../gbt/math/fixed.h"
#include "../../gbt/math/gain.h"
#include "../../gbt/math/sampling.h"
#include "../../gbt/objective/formulas.h"
#include "../../gbt/objective/objective.h"
#include "../../gbt/objective/renewal.h"
#include "../../gbt/tree/contest.h"
#include "../../gbt/tree/grow_node.h"
#include "../../gbt/tree/leaf_step.h"
}

/* ---- the tree being grown, in device memory ---- */

enum { CU_FAULT_GRADIENT = 1, CU_FAULT_VALUE = 2, CU_FAULT_ROOM = 4 }; /* overflow of gradients, of a leaf; a bug */

/* A histogram to be built from rows. */
struct cu_build {
  int32_t node, hist;
};

/* Of a chosen node whose rows are split extent by extent: the child whose histogram is built meanwhile. Its rows of the
 * extent, n of them, are in any order at the front of the node's run in the order of the next depth. */
struct cu_listed {
  int32_t hist; /* -1: none is built */
  int32_t right;
  uint32_t n;
};

/* A leaf with a split, which best-first growth may choose. */
struct alignas(16) cu_open_leaf {
  double gain;
  int32_t id, number;
};

/* Rows of a finished tree's leaf, as a run of the order of a depth; without rows: none. */
struct cu_leaf_run {
  uint32_t order_beg, n_rows;
  int32_t depth, node;
};

/* A node to be searched. minus >= 0: its histogram is still its parent's; the search subtracts that of its sibling,
 * number `minus`, for all features of the tree, whether they are allowed or not; it may skip those that nothing reads
 * later. */
struct cu_searched {
  int32_t node, minus;
};

/* The settings of a tree; grads: which of the arrays of gradients is its output's. */
struct cu_task : gbt_tree_task {
  int32_t grads;
};

/* An output's gradients of the round. */
struct cu_output {
  unsigned long long max_g, max_h; /* bits of the largest |g| and h */
  long long size, square, h;       /* gbt_fixed_sums */
  long long g;                     /* of 16 bits, as h */
  long long fine_g, fine_h;        /* of 32 bits */
  gbt_sum root;                    /* of all rows, as histograms take them */
  gbt_scale scale;
  double noise;
  int32_t wide; /* histograms take the 32-bit gradients */
};

/* How a round draws its rows: sample.cu. */
struct cu_sampler {
  gbt_size_scale scale;
  gbt_sample_rule rule;
  int64_t count[GBT_SIZE_BUCKETS]; /* rows by the ranges of their sizes */
  int64_t n_in;                    /* rows whose factor is not 0 */
};

enum : uint32_t { CU_MOST_WORDS = 1u << 26 }; /* of all sets of a tree */

/* State of the tree. Only kernels write it, except `task`, which the host writes when a tree begins. */
struct cu_tree {
  cu_task task;
  uint64_t round;   /* of the gradients */
  gbt_units unit;   /* of the histograms of this tree */
  double down_h;    /* of the fine sums of hessians, to real numbers */
  double noise;
  int32_t wide;
  uint32_t fault;   /* bits CU_FAULT_ */
  uint64_t fault_round;
  gbt_sum root;     /* sums of the drawn rows, of all ranks, as the next one */
  int64_t all_in;   /* drawn rows */
  uint32_t n_in;    /* those of this rank, which the orders have */
  int32_t whole;    /* all rows are drawn: the root's row i is row i, with the gradients of its output */
  int32_t n_nodes, fresh_beg; /* nodes [fresh_beg, n_nodes) are fresh */
  int32_t open_beg;           /* no node before it is open */
  int32_t n_chosen;           /* chosen[0 .. n_chosen) */
  int64_t n_leaves;           /* of the tree, without waiting nodes */
  int32_t n_open;             /* open_leaf[0 .. n_open): ahead.cuh */
  int32_t n_runs;             /* leaf_run[0 .. n_runs) */
  int32_t n_search;           /* search[0 .. n_search): fresh nodes that have a histogram */
  int32_t n_build;            /* build[0 .. n_build) */
  int32_t n_wide;             /* by_width[0 .. n_wide) take 64 bits a sum; where ranks divide the search */
  uint32_t n_hist_blocks;     /* of all builds: hist_block[n_build] */
  uint32_t n_split_blocks;    /* pieces (pieces.cuh) of all chosen nodes: n_split_shares * split_block[n_chosen] */
  uint32_t n_split_shares;
  uint32_t n_leaf_blocks;     /* pieces of all leaves: n_leaf_shares * leaf_block[n_nodes] */
  uint32_t n_leaf_shares;
  int32_t turn;               /* whose states and ticket the step has: partition.cu */
  uint32_t n_states[2];       /* that the last step of a turn has used */
  uint32_t ticket[2];         /* pieces that blocks have taken */
  uint32_t came;              /* blocks of a kernel that have ended: base/last.cuh */
  int32_t clear_beg, n_clear; /* histograms that the step may build */
  int32_t n_hists;            /* histograms taken */
  uint32_t n_words;           /* of sets */
};

/* Everything that a tree has to itself, an array a row:
 *
 *   part    CU_DOWN comes down with the finished tree; CU_CLEARED begins as 0; CU_SCRATCH is written before it is read
 *   type, name, and how many there are, where `v` is the view, `be` the backend and `nodes` the nodes there is room for
 *
 * From this list come the fields of cu_tree_state, their places in the tree's memory (state.cu) and their shift from
 * one tree to another (cu_view_of). Symmetric growth has an additional list: CU_LAYER_STATE. */
enum { CU_DIGIT_BITS = 4, CU_DIGIT_VALUES = 1 << CU_DIGIT_BITS }; /* digits of keys in renew.cu */
enum { CU_DOWN = 0, CU_CLEARED, CU_SCRATCH, CU_N_PARTS };

#define CU_TREE_STATE(X)                                                                                              \
  X(CU_DOWN, cu_tree, tree, 1)                                                                                        \
  X(CU_DOWN, gbt_grow_node, node, nodes) /* by number, as fine and value */                                           \
  X(CU_DOWN, gbt_sum, fine, nodes)                                                                                    \
  X(CU_DOWN, double, value, nodes)                                                                                    \
  X(CU_CLEARED, uint32_t, sets, v->max_words) /* bitsets of the tree's splits */                                      \
  X(CU_SCRATCH, uint32_t, row, 2 * v->order_rows) /* by depth's parity: see cu_order_of */                            \
  X(CU_SCRATCH, gbt_gh16, gh, (v->reuses_gh16 ? 1 : 2) * v->order_rows) /* as for row: 16-bit gradients */            \
  X(CU_CLEARED, unsigned long long, look_state, 2 * (size_t)v->split_states) /* of both turns: look_back.cuh */       \
  X(CU_SCRATCH, uint32_t, left_rows, v->max_step) /* rows of a chosen node that go left; of none: not set */          \
  X(CU_SCRATCH, int64_t, all_left, v->shared ? v->max_step : 0) /* those of all ranks */                              \
  X(CU_SCRATCH, int64_t, packed, v->shared ? 2 * nodes : 0) /* two numbers of every node, for ranks.cu */             \
  X(CU_SCRATCH, uint32_t, mask, v->samples ? (size_t)v->row_blocks * (v->split_rows / 32u) : 0) /* 1: row is drawn */ \
  X(CU_SCRATCH, uint32_t, sides, v->by_sides ? v->order_rows / 32u + 2u : 0) /* see partition.cu */                    \
  X(CU_SCRATCH, cu_listed, listed, v->by_sides ? v->max_step : 0) /* of the chosen nodes */                           \
  X(CU_SCRATCH, uint32_t, drawn, v->gather_rows) /* gather.cu: the row at a place */                                  \
  X(CU_SCRATCH, gbt_gh32, drawn_gh, v->gather_rows) /* of 32 bits, where histograms take these */                     \
  X(CU_SCRATCH, uint32_t, codes, v->gather_words) /* tiles of these places */                                         \
  X(CU_SCRATCH, uint32_t, block_in, v->samples ? (size_t)v->row_blocks + 1u : 0) /* drawn rows of a block */          \
  X(CU_SCRATCH, int32_t, chosen, v->max_step)                                                                         \
  X(CU_SCRATCH, cu_searched, search, 2 * (size_t)v->max_step)                                                         \
  X(CU_SCRATCH, cu_build, build, 2 * (size_t)v->max_step)                                                             \
  X(CU_SCRATCH, int32_t, by_width, v->divided ? 2 * (size_t)v->max_step : 0) /* the builds' histograms: share.cu */   \
  X(CU_SCRATCH, uint32_t, hist_block, 2 * (size_t)v->max_step + 1) /* first block of a build */                       \
  X(CU_SCRATCH, uint32_t, split_block, (size_t)v->max_step + 1) /* first piece of a chosen node, in a share */        \
  X(CU_SCRATCH, uint32_t, leaf_block, nodes + 2) /* first piece of a leaf, in a share */                              \
  X(CU_SCRATCH, cu_leaf_run, leaf_run, nodes) /* by place: of what has not been split, the rows */                    \
  X(CU_SCRATCH, cu_open_leaf, open_leaf, v->ahead > 0 ? nodes : 0) /* as the next one: ahead.cuh */                   \
  X(CU_SCRATCH, gbt_grow_node, grown, v->ahead > 0 ? nodes : 0)                                                       \
  X(CU_SCRATCH, int32_t, owner, v->renews || v->n_steps > 0 ? nodes : 0) /* leaf.cuh */                               \
  X(CU_SCRATCH, gbt_leaf_step, step, v->n_steps > 0 ? nodes : 0) /* step.cu */                                        \
  X(CU_SCRATCH, gbt_pick, pick, v->renews ? nodes : 0) /* as the next one: renew.cu */                                \
  X(CU_SCRATCH, uint64_t, digit, v->renews ? CU_DIGIT_VALUES * nodes : 0) /* weights by digit */                      \
  X(CU_SCRATCH, gbt_split, found, 2 * (size_t)v->max_step * (size_t)v->n_feat_runs) /* the best of a run */           \
  X(CU_SCRATCH, uint32_t, set_bits, 2 * (size_t)v->max_step * v->set_words + 1) /* best sets: split_cat.cu */         \
  X(CU_SCRATCH, int32_t, feats, (size_t)v->n_features + 1) /* how many the tree may use, and they, ascending */       \
  X(CU_SCRATCH, int32_t, tree_feats, v->divided ? (size_t)v->n_features + 1 : 0) /* then feats has this rank's */     \
  X(CU_SCRATCH, uint8_t, allowed, cu_n_masks(v) * (size_t)v->n_features) /* see features.cu */                        \
  X(CU_SCRATCH, gbt_sum, sum, (size_t)v->max_hists * v->n_slots) /* histograms */                                     \
  X(CU_SCRATCH, uint32_t, count, v->any_counts ? (size_t)v->max_hists * v->n_slots : 0)                               \
  X(CU_SCRATCH, uint64_t, sort_key, (size_t)v->sort_blocks * v->sort_room) /* order of levels: level_order.cuh */     \
  X(CU_SCRATCH, uint16_t, sort_level, (size_t)v->sort_blocks * v->sort_room)

#define CU_FIELD(part, type, name, count) type *name;
struct cu_tree_state {
  CU_TREE_STATE(CU_FIELD)
};

/* Gradients and what they are of: gradient.cu. */
struct cu_grad_view {
  gbt_objective objective;
  double *score;            /* of the train set */
  cu_numbers label, weight; /* weights may be none */
  int32_t columns;          /* of a response: each output has labels of its own, */
  int32_t own_weights;      /* and weights; else those of all outputs are the same */
  cu_output *output;        /* n_outputs */
  /* of the outputs of the batch, or (custom objective) of all: gh16 and low, or gh32 from 2 * n_rows * grads on */
  uint32_t *gradients;
};

/* Rows that are not drawn with the same chance: sample.cu. */
struct cu_sample_view {
  const gbt_sampled *factor;   /* n_rows, which gradients are multiplied by; NULL: by none */
  gbt_sampled *sampled;        /* the same, to be written */
  cu_sampler *sampler;         /* NULL without factors */
  const uint64_t *class_limit; /* by class: what the hash of a row must be below to be drawn; NULL: one for all */
};

/* Leaves that are quantiles of residuals: renew.cu. */
struct cu_renewal_view {
  int32_t renews; /* 0: they are not, and the rest is not there */
  double level;          /* of the quantile, where there is one output */
  uint64_t *residual;    /* n_rows: keys, as they were when the round began; as many arrays as of gradients */
  const uint64_t *whole; /* n_rows, of each column where there are several: whole weights; NULL: all 1 */
};

/* Leaves that take further steps: step.cu. */
struct cu_step_view {
  int32_t n_steps;     /* after the first one; 0: none */
  const double *start; /* scores of the train set when the round began; NULL: no tree has changed those of its output */
};

/* How codes of the training set are read that are not all in one place, on the device. */
struct cu_place_view {
  int32_t by_sides;      /* partition.cu: extent by extent it was written down which rows go left */
  int32_t listing;       /* and while an extent is there, the children's histograms are built: partition.cu */
  int32_t gathered;      /* the tree has its drawn rows' codes, and their places instead of their rows: gather.cu */
  uint64_t gather_rows;  /* that have room */
  uint64_t gather_words; /* and their tiles */
};

/* The rows of all ranks, and which of them are here: state/ranks.cu. Alone: all, from 0. */
struct cu_ranks_view {
  int64_t all_rows;
  uint64_t before; /* rows of the ranks before: hashes take a row's number among all rows */
  int32_t shared;  /* there are other ranks: sums over rows wait for theirs */
  int32_t divided; /* each searches some of the features: state/share.cu */
  int32_t rank;
  int32_t spare; /* gbt_scale_spare of all rows */
};

/* How large things are: sizes.cu. */
struct cu_size_view {
  int32_t n_features, any_counts;
  uint32_t n_slots;                          /* of a histogram */
  uint64_t order_rows;                       /* n_rows or a little more: the rows of one parity of depths */
  int32_t samples;                           /* trees have rows of their own */
  int32_t reuses_gh16;                       /* no gradients of the even order: see cu_order_at */
  int32_t by_rows; /* sums of leaves are not all known: trees are symmetric or grow together */
  int32_t keeps;   /* nodes may be kept, though trees are not symmetric: they share their splits */
  uint32_t hist_rows, split_rows, leaf_rows; /* rows of a block, or most of a piece */
  uint32_t row_blocks;                       /* of split_rows rows, of the table */
  uint32_t split_states;                     /* most pieces of a step */
  int32_t score_windows;                     /* scores are added to window by window: scores.cu */
  int32_t by_node;                           /* every searched node has a mask of its own in `allowed` */
  int32_t n_feat_runs, run_feats;            /* runs of run_feats of the features that a tree may use */
  int32_t max_nodes, max_step, max_hists;
  int32_t ahead; /* best-first: most splits that wait for the policy to come to them; 0: none is made ahead */
  uint32_t max_words;
};

/* Features that are split by sets: split_cat.cu. */
struct cu_set_feats_view {
  const uint32_t *set_at;  /* n_features: first word of a feature in set_bits */
  const int32_t *set_feat; /* n_set_feats: features split by sets, ascending; NULL for none */
  uint32_t set_words;
  int32_t n_set_feats, sort_blocks;
  uint32_t sort_room; /* levels of a block's scratch, 0: shared memory is enough */
};

/* The input of all kernels of the backend, passed by value. Pointers on the device; the state's are the first tree's:
 * see cu_view_of_block. */
struct cu_view : cu_tree_state,
                 cu_grad_view,
                 cu_sample_view,
                 cu_renewal_view,
                 cu_step_view,
                 cu_place_view,
                 cu_ranks_view,
                 cu_size_view,
                 cu_set_feats_view {
  cu_rows_view train;
  int32_t n_trees; /* of the batch */
  int32_t n_turns; /* trees of each output in the batch: they are consecutive, see cu_of_turn */
  uint64_t stride; /* bytes from a tree's state to that of the next one */
  gbt_params params;
  gbt_grow_policy policy; /* unit: not here but in tree */
  const double *handicap; /* n_features; NULL: none */
  int32_t constrained;
};

/* Masks of features that a step has. */
static inline size_t cu_n_masks(const cu_view *v) { return v->by_node ? 2 * (size_t)v->max_step : 1; }

/* gbt_feature_rules in the form that features.cu needs; pointers on the device. */
struct cu_rules {
  uint64_t seed;
  double by_layer, by_node;
  const double *weight;                  /* n_features, or NULL */
  const int32_t *group_beg, *group_feat; /* interaction groups: n_groups + 1, and the members; NULL without any */
  const int32_t *of_beg, *of_group;      /* n_features + 1, and the groups that hold a feature, ascending */
};

/* ---- what kernels share ---- */

/* Which way a code of the split's feature goes. */
__device__ static __forceinline__ int cu_goes_left(const cu_view &v, const gbt_grow_node *node, int32_t code) {
  return gbt_grow_goes_left(node, v.sets, v.train.feat[node->split.feat].n_bins, code);
}

/* Leaves of the tree once the chosen nodes are split. Of those split ahead only the first is certain to be of it. */
__device__ static __forceinline__ int64_t cu_leaves_after(const cu_view &v, int32_t n_chosen) {
  return v.tree->n_leaves + (v.ahead > 0 && n_chosen > 0 ? 1 : n_chosen);
}

/* Whether a child of a node could be split, when n_chosen nodes are: it has no more rows than its parent, and no larger
 * hessian. */
__device__ static __forceinline__ int cu_could_split(const cu_view &v, const gbt_grow_node *node, int32_t n_chosen) {
  gbt_grow_policy policy = v.policy;
  gbt_grow_node child = gbt_grow_empty(0, node->depth + 1);
  policy.unit = v.tree->unit;
  child.n_rows = node->n_rows;
  child.sum = node->sum;
  return gbt_grow_could_split(&policy, &child, cu_leaves_after(v, n_chosen));
}

/* A row's 16-bit gradients as one word, g in the lower half: one access instead of two. Arrays of them are aligned. */
typedef uint32_t __attribute__((may_alias)) cu_both;
__device__ static __forceinline__ uint32_t cu_gh_bits(const gbt_gh16 *gh) { return *(const cu_both *)(const void *)gh; }
__device__ static __forceinline__ void cu_gh_put(gbt_gh16 *gh, uint32_t bits) { *(cu_both *)(void *)gh = bits; }
__device__ static __forceinline__ gbt_sum cu_gh_sum(uint32_t bits) {
  gbt_sum s = {(int16_t)(bits & 0xffffu), bits >> 16};
  return s;
}
__device__ static __forceinline__ uint32_t cu_gh_pack(gbt_gh16 gh) { return (uint16_t)gh.g | (uint32_t)gh.h << 16; }

/* Where the numbers of an output begin, of those that each has for itself. */
GBT_FN uint64_t cu_beg_of(const cu_view &v, int own, int32_t output) {
  return own ? (uint64_t)(uint32_t)output * (uint64_t)v.train.n_rows : 0u;
}

/* The key by which gradients of an output are rounded: gbt_draws_of_output(). */
GBT_FN gbt_key32 cu_rounding_key(const cu_view &v, uint64_t round, int32_t output) {
  return gbt_key((uint64_t)v.params.seed, GBT_FOR_ROUNDING, round, v.columns ? 0u : (uint64_t)output);
}

/* The arrays of gradients. */
GBT_FN gbt_gh16 *cu_gh16(const cu_view &v, int32_t grads) {
  return (gbt_gh16 *)(v.gradients + 2 * (uint64_t)v.train.n_rows * (uint32_t)grads);
}
__device__ static __forceinline__ uint32_t *cu_low(const cu_view &v, int32_t grads) {
  return (uint32_t *)(cu_gh16(v, grads) + v.train.n_rows);
}
__device__ static __forceinline__ gbt_gh32 *cu_gh32(const cu_view &v, int32_t grads) {
  return (gbt_gh32 *)cu_gh16(v, grads);
}

/* The numbers of a row that histograms add in one pass: its 16-bit gradients, or a half of the 32-bit ones. */
enum { CU_NARROW = 0, CU_LOW, CU_HIGH };

/* The part (CU_LOW, CU_HIGH) of 32-bit gradients: g in the lower 16 bits and h in the upper ones. */
__device__ static __forceinline__ uint32_t cu_half_of(gbt_gh32 q, int part) {
  return part == CU_LOW ? gbt_fix_low(q) : (uint32_t)q.g >> 16 | (q.h & 0xffff0000u);
}

/* g as a 32-bit number; that of the lower half of wide ones has no sign. */
__device__ static __forceinline__ uint32_t cu_part_g(uint32_t both, int part) {
  return part == CU_LOW ? both & 0xffffu : (uint32_t)(int32_t)(int16_t)both;
}

/* ---- the tree that a block works for ---- */

/* The same place in the state of another tree, so many bytes after it. Byte arithmetic on the pointer lets the compiler
 * know that it still points to global memory. */
template <class T> GBT_FN T *cu_shifted(T *at, uint64_t bytes) {
  return (T *)(void *)((char *)at + bytes);
}

/* The view of a batch that has only tree y. */
GBT_FN cu_view cu_view_of(const cu_view &all, uint32_t y) {
  const uint64_t by = all.stride * y;
  cu_view v = all;
#define CU_SHIFT(part, type, name, count) v.name = cu_shifted(all.name, by);
  CU_TREE_STATE(CU_SHIFT)
#undef CU_SHIFT
  return v;
}
__device__ static __forceinline__ cu_view cu_view_of_block(const cu_view &all) { return cu_view_of(all, blockIdx.y); }

/* Where the words of these tiles are. */
__device__ static __forceinline__ const uint32_t *cu_train_words(const cu_view &v) {
  return v.gathered ? v.codes : v.train.words;
}

/* Numbers of rows as the orders have them to rows of the data; NULL: they are. */
__device__ static __forceinline__ const uint32_t *cu_rows_at(const cu_view &v) {
  return v.gathered ? v.drawn : nullptr;
}

/* Tiles of the variant of the training set (data/extend.h) that the tree is grown on, and where columns of its copy
 * begin. A step has the same launches for every variant, so the variant is a field of the tree. */
__device__ static __forceinline__ const cu_tile *cu_train_tiles(const cu_view &v) {
  return cu_tiles_of(v.train, v.tree->task.variant);
}
__device__ static __forceinline__ uint64_t cu_copy_beg(const cu_view &v, int32_t column) {
  return v.train.copy_beg[(uint64_t)(uint32_t)v.tree->task.variant * (uint32_t)v.train.n_columns + (uint32_t)column];
}

/* Trees of one output share its gradients, and add to its scores one after the other, each in its turn. In a grid of
 * cu_grids_of_turn a block works for such a tree of the output that blockIdx.y says. */
__device__ static __forceinline__ cu_view cu_of_turn(const cu_view &all, int32_t turn) {
  return cu_view_of(all, blockIdx.y * (uint32_t)all.n_turns + (uint32_t)turn);
}

/* Rows of nodes, and their 16-bit gradients in the same order. */
struct cu_order {
  uint32_t *row;
  gbt_gh16 *gh;
};

/* Whether a node's rows descend: right children have even numbers. */
GBT_FN int cu_descends(int32_t id) { return id > 0 && id % 2 == 0; }

/* The states of look-back of a turn. */
GBT_FN unsigned long long *cu_states(const cu_view &v, int32_t turn) {
  return v.look_state + (turn ? (uint64_t)v.split_states : 0u);
}

/* Those of a depth, of a tree with these gradients. Addresses are computed by an offset, not selected from two
 * pointers, for the same reason as in cu_shifted. The rows of a whole tree's root are not stored, their gradients are
 * those of its output. Where these are not needed once the root is split, their memory is reused for the even order,
 * which is written from depth 2 on. */
GBT_FN cu_order cu_order_at(const cu_view &v, int32_t depth, int whole, int32_t grads) {
  const uint64_t at = depth & 1 ? v.order_rows : 0;
  cu_order order = {v.row + at, v.gh + (v.reuses_gh16 ? 0 : at)};
  if (v.reuses_gh16 ? !(depth & 1) : whole && depth == 0) order.gh = cu_gh16(v, grads);
  return order;
}
__device__ static __forceinline__ cu_order cu_order_of(const cu_view &v, int32_t depth) {
  return cu_order_at(v, depth, v.tree->whole, v.tree->task.grads);
}
