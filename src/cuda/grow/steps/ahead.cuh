/* Best-first growth that looks ahead, by one block: the twin of tree/best_first.c, which says what is split ahead and
 * why the tree does not show it.
 *
 *   open_leaf   leaves of the tree so far with a split, which the policy chooses among
 *   waiting     nodes below a split that was made ahead: they have places but no numbers
 *   chosen      the leaf that the policy comes to next, which is certain; then leaves by reach, the least gain on the
 *               way that is still waiting: the policy comes to larger reaches first
 *
 * node.ahead is the place of a node's children, node.left too once the policy has come to the split. Waiting splits are
 * v.ahead at most, so that all that the policy will choose has room. */
#pragma once

#include "frontier.cuh"

enum { CU_MOST_WAIT = 1024 }; /* so many nodes are weighed against each other for what is split ahead */

/* Whether the policy comes to leaf a before leaf b; id -1: none. */
__device__ static __forceinline__ int cu_comes_before(const cu_open_leaf &a, const cu_open_leaf &b) {
  if (a.id < 0 || b.id < 0) return a.id >= 0;
  return a.gain > b.gain || (a.gain == b.gain && a.number < b.number);
}

/* Whether it is worth splitting goes with a leaf. */
__device__ static __forceinline__ cu_open_leaf cu_open_of(const cu_view &v, int32_t id, int32_t number) {
  const cu_open_leaf leaf = {v.node[id].split.gain, v.node[id].split.kind == GBT_SPLIT_NONE ? -1 : id, number};
  return leaf;
}

/* A warp: the policy's next leaf, id -1: there is none; *at: its position in open_leaf. */
__device__ static __forceinline__ cu_open_leaf cu_next_leaf(const cu_view &v, int32_t n_open, int32_t *at) {
  cu_open_leaf best = {0.0, -1, 0};
  int32_t place = 0;
  for (int32_t i = (int32_t)cu_lane(); i < n_open; i += 32) {
    const cu_open_leaf leaf = v.open_leaf[i];
    if (cu_comes_before(leaf, best)) best = leaf, place = i;
  }
  for (int d = 16; d > 0; d >>= 1) {
    const cu_open_leaf other = {cu_xor(best.gain, d), cu_xor(best.id, d), cu_xor(best.number, d)};
    const int32_t its = cu_xor(place, d);
    if (cu_comes_before(other, best)) best = other, place = its;
  }
  *at = place;
  return best;
}

/* A warp: the policy continues as far as splits have been made; returns the leaf to be split next, -1: the tree is
 * complete. */
__device__ static __forceinline__ int32_t cu_follow(const cu_view &v) {
  cu_tree *t = v.tree;
  const uint32_t lane = cu_lane();
  int64_t n_leaves = t->n_leaves;
  int32_t n_open = t->n_open, id = -1, at = 0;
  if (t->n_nodes == 1 && v.node[0].open) { /* the root has just been searched */
    if (lane == 0) v.open_leaf[0] = cu_open_of(v, 0, 0);
    n_open = 1;
  }
  __syncwarp();
  while (v.policy.max_leaves == 0 || n_leaves < v.policy.max_leaves) {
    id = cu_next_leaf(v, n_open, &at).id;
    const int32_t first = id < 0 ? 0 : v.node[id].ahead, number = (int32_t)(2 * n_leaves - 1);
    if (first == 0) break;
    const cu_open_leaf l = cu_open_of(v, first, number), r = cu_open_of(v, first + 1, number + 1);
    const int n_left = l.id >= 0, n_right = r.id >= 0;
    __syncwarp(); /* all lanes have read what lane 0 writes */
    if (lane == 0) {
      v.node[id].left = first;
      v.node[id].open = 0;
      v.node[first].number = l.number;
      v.node[first + 1].number = r.number;
      v.open_leaf[at] = v.open_leaf[n_open - 1];
      if (n_left) v.open_leaf[n_open - 1] = l;
      if (n_right) v.open_leaf[n_open - 1 + n_left] = r;
    }
    n_open += n_left + n_right - 1;
    n_leaves++;
    id = -1;
    __syncwarp(); /* what lane 0 wrote is read by all lanes */
  }
  if (lane == 0) {
    t->n_open = n_open;
    t->n_leaves = n_leaves;
  }
  return id;
}

/* The least gain on the way to a node's split that the policy has not come to. */
__device__ static __forceinline__ double cu_reach(const cu_view &v, int32_t id) {
  double reach = v.node[id].split.gain;
  for (int32_t up = v.node[id].parent; up >= 0 && v.node[up].left == 0; up = v.node[up].parent)
    if (v.node[up].split.gain < reach) reach = v.node[up].split.gain;
  return reach;
}

/* Nodes with splits that the policy has not come to, but for its next one. */
struct cu_waiting {
  double reach[CU_MOST_WAIT];
  int32_t id[CU_MOST_WAIT];
  int8_t split[CU_MOST_WAIT]; /* it has been, ahead */
};

/* Lists them; returns how many. All threads. */
__device__ static __forceinline__ int32_t cu_list_waiting(const cu_view &v, int32_t next, cu_waiting *w) {
  int32_t n = 0;
  for (int32_t beg = 0; beg < v.tree->n_nodes && n < CU_MOST_WAIT; beg += (int32_t)blockDim.x) {
    const int32_t id = beg + (int32_t)threadIdx.x;
    uint32_t total, mine = id < v.tree->n_nodes && id != next && v.node[id].open;
    const uint32_t at = (uint32_t)n + cu_block_scan(mine, &total);
    if (mine && at < CU_MOST_WAIT) {
      w->id[at] = id;
      w->split[at] = v.node[id].ahead != 0;
      w->reach[at] = cu_reach(v, id);
    }
    n += (int32_t)total;
  }
  __syncthreads();
  return n < CU_MOST_WAIT ? n : (int32_t)CU_MOST_WAIT;
}

/* A warp: how many of n come before the i-th one; *unsplit: of those, the ones that have not been split. */
__device__ static __forceinline__ int32_t cu_n_before(const cu_waiting *w, int32_t n, int32_t i, int32_t *unsplit) {
  const double reach = w->reach[i];
  int32_t before = 0;
  *unsplit = 0;
  for (int32_t beg = 0; beg < n; beg += 32) {
    const int32_t k = beg + (int32_t)cu_lane();
    const int is = k < n && (w->reach[k] > reach || (w->reach[k] == reach && k < i));
    before += __popc(__ballot_sync(CU_ALL, is));
    *unsplit += __popc(__ballot_sync(CU_ALL, is && !w->split[k]));
  }
  return before;
}

/* The policy's next leaf, and others that it will probably come to; returns how many. All threads. */
__device__ static __forceinline__ int32_t cu_choose_ahead(const cu_view &v) {
  CU_SHARED(cu_waiting, waiting, 1);
  CU_SHARED(int32_t, shared, 1);
  cu_tree *t = v.tree;
  if (cu_warp() == 0) {
    const int32_t next = cu_follow(v);
    if (cu_lane() == 0) {
      *shared = next;
      if (next >= 0) v.chosen[0] = next;
    }
  }
  __syncthreads();
  const int32_t next = *shared;
  if (next < 0) return 0;
  /* splits that the policy makes after the next one, and those that may be made ahead */
  const int64_t to_come = v.policy.max_leaves > 0 ? v.policy.max_leaves - t->n_leaves - 1 : (int64_t)INT32_MAX;
  const int64_t in_wait = (t->n_nodes - 1) / 2 - (t->n_leaves - 1);
  const int64_t most = v.ahead - in_wait < v.max_step - 1 ? v.ahead - in_wait : v.max_step - 1;
  const int32_t n = cu_list_waiting(v, next, waiting);
  int32_t n_ahead = 0;
  for (int32_t i = (int32_t)cu_warp(); i < n; i += (int32_t)cu_n_warps()) {
    int32_t unsplit;
    if (waiting->split[i] || cu_n_before(waiting, n, i, &unsplit) >= to_come || unsplit >= most) continue;
    n_ahead++;
    /* all before it are chosen, too: so there are no gaps */
    if (cu_lane() == 0) v.chosen[1 + unsplit] = waiting->id[i];
  }
  return 1 + cu_block_sum(cu_lane() == 0 ? n_ahead : 0);
}

/* Drops nodes that the policy did not reach; all other nodes go to the places of their numbers. Rows of what has been
 * split are where its waiting descendants have them: leaf_run. All threads. */
__device__ static __forceinline__ void cu_settle_tree(const cu_view &v) {
  cu_tree *t = v.tree;
  if (cu_warp() == 0) (void)cu_follow(v); /* comes to the last step's split */
  __syncthreads();
  const int32_t n = t->n_nodes, me = (int32_t)threadIdx.x, step = (int32_t)blockDim.x;
  const int32_t n_numbers = (int32_t)(2 * t->n_leaves - 1);
  for (int32_t i = me; i < n; i += step) {
    const gbt_grow_node node = v.node[i];
    int32_t of = i;
    while (v.node[of].number < 0) of = v.node[of].parent;
    const cu_leaf_run run = {node.order_beg, node.ahead == 0 ? node.own_rows : 0u, node.depth, v.node[of].number};
    v.leaf_run[i] = run;
    v.grown[i] = node;
  }
  __syncthreads();
  for (int32_t i = me; i < n; i += step) {
    gbt_grow_node node = v.grown[i];
    if (node.number < 0) continue;
    if (node.left > 0) node.left = v.grown[node.left].number;
    if (node.parent >= 0) node.parent = v.grown[node.parent].number;
    node.ahead = 0;
    v.node[node.number] = node;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  t->n_runs = n;
  t->n_nodes = n_numbers;
}
