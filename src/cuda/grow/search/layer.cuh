/* Shared by the search and the decision of a layer of a symmetric tree: see layer.cu, layer_decide.cu, together.cu.
 *
 *   gain:  | feature 0: missing right, by candidate | missing left | feature 1 ...      as on the CPU
 *   part:  the same for every node of those searched at once
 *
 * Candidates of a numeric feature are its cuts, of a one-hot one its levels, of one that is split by sets the `most`
 * sets from the bottom of the order, then those from its top. */
#pragma once

#include "../backend.cuh"
#include "level_order.cuh"
#include "team.cuh"

enum { CU_TRY_RIGHT = 1, CU_TRY_LEFT = 2 }; /* a set is a candidate with missing values right, left */

/* The split of a layer's nodes. */
struct cu_layer_pick {
  gbt_split split; /* kind NONE: none */
  uint32_t set_beg, set_words;
  int64_t h, left_h; /* over the nodes that could be split */
};

/* A layer that has its split, over all trees that grow together. */
struct cu_joint {
  double gain;
  int32_t missing_left; /* where missing values go when the layer has none */
};

/* The state of one tree of symmetric growth, as CU_TREE_STATE; `l` is its view. */
#define CU_LAYER_STATE(X)                                                                                             \
  X(CU_CLEARED, int32_t, n_placed, v->n_features) /* cleared: of features that a tree may not use */                  \
  X(CU_SCRATCH, double, gain, 2 * l->n_codes)                                                                         \
  X(CU_SCRATCH, double, part, 2 * l->n_codes * (uint64_t)l->at_once)                                                  \
  X(CU_SCRATCH, int32_t, at, 2 * (size_t)v->max_step) /* by fresh node, its place in `search`; -1: none */            \
  X(CU_SCRATCH, uint32_t, missing, v->n_features) /* a node of the layer has missing values */                        \
  X(CU_SCRATCH, gbt_split, best, v->n_features) /* by place in feats; gains may be standings: k_layer_contest */       \
  X(CU_SCRATCH, cu_layer_pick, pick, 1)                                                                               \
  X(CU_SCRATCH, double, scored, 1) /* by the tree so far: as cpu_layer.scored */                                      \
  X(CU_SCRATCH, cu_joint, joint, l->together.n > 0 ? 1 : 0)                                                           \
  X(CU_SCRATCH, uint16_t, order, v->n_set_feats > 0 ? l->n_codes : 0) /* by code: levels in order, of a whole tree */ \
  X(CU_SCRATCH, uint8_t, tried, v->n_set_feats > 0 ? l->n_codes : 0) /* by code: CU_TRY_ */

/* Arrays of symmetric growth, on the device. */
struct cu_layer_view {
  CU_LAYER_STATE(CU_FIELD)
  const uint64_t *beg; /* n_features + 1: a feature's place in the arrays by code, n_bins + 1 long */
  uint64_t n_codes;
  int32_t at_once; /* nodes */
  cu_together_view together;
};

struct cu_layer {
  cu_layer_view view;
  cu_array<uint64_t> beg;
};

/* Those of tree y of the batch. */
GBT_FN cu_layer_view cu_layer_of(const cu_layer_view &all, uint64_t stride, uint32_t y) {
  const uint64_t by = stride * y;
  cu_layer_view l = all;
#define CU_SHIFT(part, type, name, count) l.name = cu_shifted(all.name, by);
  CU_LAYER_STATE(CU_SHIFT)
#undef CU_SHIFT
  return l;
}

/* Those of the tree that a block works for. */
__device__ static __forceinline__ cu_layer_view cu_view_of_block(const cu_layer_view &all, uint64_t stride) {
  return cu_layer_of(all, stride, blockIdx.y);
}

/* Fresh nodes: those of the layer. */
__device__ static __forceinline__ int32_t cu_n_fresh(const cu_view &v) { return v.tree->n_nodes - v.tree->fresh_beg; }

/* Candidates of a feature, with missing values on one side. */
__device__ static __forceinline__ int32_t cu_n_candidates(const cu_view &v, const cu_layer_view &l, int32_t feat,
                                                          const cu_feature &f) {
  return f.kind == CU_SET ? 2 * gbt_set_most(&v.params, l.n_placed[feat]) : f.n_bins;
}

/* The features of a layer are the same for all its nodes. */
__device__ static __forceinline__ int cu_is_searched(const cu_view &v, const cu_feature &f, int32_t feat) {
  return f.n_bins + f.has_missing >= 2 && v.allowed[feat];
}

/* The code whose sums come to candidate c's; sets: of one end, c < most. */
__device__ static __forceinline__ int32_t cu_code_at(const cu_layer_view &l, int32_t feat, const cu_feature &f, int top,
                                                     int32_t c) {
  if (f.kind != CU_SET) return c;
  const uint16_t *order = l.order + l.beg[feat];
  return order[top ? l.n_placed[feat] - 1 - c : c];
}

/* The feature that place x of the gains belongs to: the last one that begins at or before x. */
__device__ static __forceinline__ int32_t cu_feature_at(const cu_view &v, const cu_layer_view &l, uint64_t x) {
  int32_t lo = 0, hi = v.n_features;
  while (hi - lo > 1) {
    int32_t mid = lo + (hi - lo) / 2;
    if (2u * l.beg[mid] <= x)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

/* Whether place x of the gains is that of a candidate. */
__device__ static __forceinline__ int cu_has_candidate(const cu_view &v, const cu_layer_view &l, uint64_t x) {
  const int32_t feat = cu_feature_at(v, l, x);
  const cu_feature f = v.train.feat[feat];
  const uint64_t within = x - 2u * l.beg[feat], side = (uint32_t)f.n_bins + 1u;
  if (!cu_is_searched(v, f, feat) || !cu_in_tree(v, feat)) return 0;
  return (within < side || f.has_missing) && within % side < (uint32_t)cu_n_candidates(v, l, feat, f);
}

/* The part of a node in the gain of a candidate: 0 where it is kept. */
__device__ static __forceinline__ double cu_own_gain(const cu_asked &q, double g, double h, int64_t rows, gbt_reg reg,
                                                     int sign) {
  if (q.min_rows > 1 && !cu_enough(q, rows, q.min_rows)) return 0.0;
  double gain = gbt_rate_split(&q.rated, g, h, reg, sign);
  return gain > q.floor ? gain : 0.0;
}

/* How the layer's candidates, or where there is no noise its features, compete. To be asked before the layer has its
 * split. */
__device__ static inline gbt_contest cu_layer_contest(const cu_view &v, const cu_layer_view &l,
                                                          double *before) {
  const gbt_grow_node *first = &v.node[v.tree->fresh_beg];
  *before = 0.0;
  if (!cu_contests(v)) return gbt_contest_plain();
  *before = v.tree->fresh_beg == 0 && l.together.n == 0 ? cu_ask(v, first).rated.parent : *l.scored;
  return cu_contest(v, gbt_layer_identity(first->depth), *before);
}

/* By what sets of levels pay for the noise of their order, which in trees that grow together follows one direction: as
 * cpu_set_noise. */
__device__ static __forceinline__ double cu_layer_set_noise(const cu_view &v, const cu_layer_view &l) {
  return l.together.n > 0 ? v.tree->noise / (double)l.together.n : v.tree->noise;
}

/* If ranks divide the search: a node, as computed by the rank with the histograms of its split. */
struct cu_node_offer {
  gbt_sum left;
  double gain;
  int64_t kept;
};

/* 32-bit words of an offer (layer_offers.cu) for a layer of so many nodes, with sets of up to set_words words. */
static inline size_t cu_layer_offer_words(uint32_t set_words, int64_t n_nodes) {
  const size_t bytes = sizeof(cu_layer_pick) + sizeof(cu_node_offer) * (size_t)n_nodes;
  return bytes / 4 + (set_words + 1u) / 2u * 2u;
}

/* The most nodes that the layer can have. */
static inline int32_t cu_most_nodes(const cu_backend *be) {
  int64_t most = 2 * (int64_t)be->view.max_step;
  if (be->depth < 32 && ((int64_t)1 << be->depth) < most) most = (int64_t)1 << be->depth;
  return (int32_t)most;
}
