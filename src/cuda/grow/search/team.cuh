/* Trees of several outputs that grow together: a batch is one tree of each output, which all have the same rows,
 * features and nodes. together.cu: what all of them share, and symmetric growth; team_search.cu, team_open.cu: growth
 * node by node.
 *
 *   member   one of the trees, as a warp that looks at a node sees it
 *   place    of a fresh node, counted from the first one: the same in all trees. Each tree has a list of its own of
 *            those that could be split there (cu_tree.n_search) */
#pragma once

#include "../backend.cuh"
#include "search.cuh"

enum { CU_TEAM_MOST = 8 /* trees: GBTI_TOGETHER_MOST */ };

struct cu_together_view {
  int32_t n;               /* 0: trees grow one by one, and the rest is not there */
  const double *weight;    /* n, as the next one: see gbt_together */
  const double *direction; /* NULL unless features are split by sets */
};

/* The best split of a fresh node for all trees, and what goes left in each; where it could not be split: 0. */
struct cu_team_split {
  gbt_split split; /* kind NONE: none; gain: of all */
  gbt_sum left[CU_TEAM_MOST];
};

struct cu_team_view {
  cu_together_view by;
  int32_t room;        /* for fresh nodes of a step; 0: trees are symmetric, and the rest is not there */
  int32_t *at;         /* by tree and place: where the node is in the tree's list of searched ones; -1: it is not */
  cu_team_split *best; /* by place */
};

struct cu_team {
  cu_team_view view;
  cu_array<double> weight, direction;
  cu_array<int32_t> at;
  cu_array<cu_team_split> best;
};

/* 32-bit words of an offer (team_open.cu) of a node, with a set of up to set_words words. */
static inline size_t cu_team_offer_words(uint32_t set_words) {
  return sizeof(cu_team_split) / 4 + (set_words + 1u) / 2u * 2u;
}

/* Whether trees grow together node by node. */
static inline int cu_is_by_nodes(const cu_backend *be) { return be->team && be->team->view.room > 0; }

/* Fresh nodes of a step. */
__device__ static __forceinline__ int32_t cu_n_places(const cu_view &all, const cu_team_view &team) {
  const int32_t n = all.tree->n_nodes - all.tree->fresh_beg;
  return n < team.room ? n : team.room;
}

/* ---- a node in all trees, as a warp sees it ---- */

struct cu_member {
  int32_t at; /* in the list of the tree's searched nodes; -1: it could not be split there, and the rest is not set */
  cu_asked q;
  /* of a feature */
  cu_codes codes;
  cu_missing miss;
  cu_run before; /* sums of the codes before the lanes' */
};

/* How splits compete for the node. */
struct cu_team_rules {
  int32_t one; /* a tree that could be split there; -1: there is none, and the rest is not set */
  gbt_contest contest;
  gbt_key32 cut_key;
  double min_gain;
};

__device__ static __forceinline__ const gbt_grow_node *cu_node_of(const cu_view &v, const cu_member &m) {
  return &v.node[v.search[m.at].node];
}

/* Looks at the node at a place in all trees; members are in shared memory. A warp. */
__device__ static __forceinline__ void cu_look_at(const cu_view &all, const cu_team_view &team, int32_t place,
                                                  cu_member *member) {
  const int32_t k = (int32_t)cu_lane();
  __syncwarp(); /* what was there has been read */
  if (k < team.by.n) {
    const cu_view v = cu_view_of(all, (uint32_t)k);
    member[k].at = team.at[k * team.room + place];
    if (member[k].at >= 0) member[k].q = cu_ask(v, cu_node_of(v, member[k]));
  }
  __syncwarp();
}

/* Twin of make_rules() of cpu_split_together.c: the node is identified by all its trees. */
__device__ static __forceinline__ cu_team_rules cu_rules_of(const cu_view &all, const cu_team_view &team,
                                                            const cu_member *member) {
  cu_team_rules r = {};
  uint64_t identity = 0;
  double before = 0.0, floor = -1.0;
  r.one = -1;
  for (int32_t k = 0; k < team.by.n; k++) {
    if (member[k].at < 0) continue;
    const cu_view v = cu_view_of(all, (uint32_t)k);
    const double its = team.by.weight[k] * member[k].q.floor;
    floor = floor < 0.0 || its < floor ? its : floor;
    before += team.by.weight[k] * member[k].q.rated.parent;
    identity += gbt_node_identity(cu_node_of(v, member[k]));
    if (r.one < 0) r.one = k;
  }
  if (r.one < 0) return r;
  r.contest = cu_contest(all, identity, before); /* noise of the first tree is that of all: k_team_noise */
  r.cut_key = cu_cut_key(all, identity);
  r.min_gain = gbt_least_gain(all.params.gamma, floor);
  return r;
}
