/* Best-first growth that looks ahead, by one block: the twin of tree/best_first.c, which says what is split ahead and
 * why the tree does not show it.
 *
 *   open_leaf   leaves of the tree so far with a split, which the policy chooses among
 *   in wait     nodes below a split that was made ahead: they have places but no numbers
 *   chosen      the leaf that the policy comes to next, which is certain; then leaves by reach, the least gain on the
 *               way that is still in wait: the policy comes to larger reaches first
 *
 * node.ahead is the place of a node's children, node.left too once the policy has come to the split. Splits in wait are
 * v.ahead at most, so that all that the policy will choose has room. */
#pragma once

#include "frontier.cuh"

enum { CU_MOST_WAIT = 1024 }; /* so many nodes are weighed against each other for what is split ahead */

/* Whether leaf a comes before leaf b; -1: none. */
__device__ static __forceinline__ int cu_comes_before(const cu_view &v, int32_t a, int32_t b) {
  if (a < 0 || b < 0) return a >= 0;
  const gbt_grow_node *x = &v.node[a], *y = &v.node[b];
  return x->split.gain > y->split.gain || (x->split.gain == y->split.gain && x->number < y->number);
}

/* A warp: where in open_leaf the policy's next leaf stands, and the leaf; -1: there is none. */
__device__ static __forceinline__ int32_t cu_next_leaf(const cu_view &v, int32_t n_open, int32_t *at) {
  int32_t best = -1, place = 0;
  for (int32_t i = (int32_t)cu_lane(); i < n_open; i += 32) {
    const int32_t id = v.open_leaf[i];
    if (cu_comes_before(v, id, best)) best = id, place = i;
  }
  for (int d = 16; d > 0; d >>= 1) {
    const int32_t other = cu_xor(best, d), its = cu_xor(place, d);
    if (cu_comes_before(v, other, best)) best = other, place = its;
  }
  *at = place;
  return best;
}

/* A warp: the policy goes on as far as splits have been made; returns the leaf that it wants split next, -1: the tree
 * is complete. */
__device__ static __forceinline__ int32_t cu_follow(const cu_view &v) {
  cu_tree *t = v.tree;
  const uint32_t lane = cu_lane();
  int64_t n_leaves = t->n_leaves;
  int32_t n_open = t->n_open, id = -1, at = 0;
  if (t->n_nodes == 1 && v.node[0].open) { /* the root has just been searched */
    if (lane == 0) v.open_leaf[0] = 0;
    n_open = 1;
  }
  __syncwarp();
  while (v.policy.max_leaves == 0 || n_leaves < v.policy.max_leaves) {
    id = cu_next_leaf(v, n_open, &at);
    if (id < 0 || v.node[id].ahead == 0) break;
    const int32_t first = v.node[id].ahead, l = v.node[first].split.kind != GBT_SPLIT_NONE,
                  r = v.node[first + 1].split.kind != GBT_SPLIT_NONE;
    __syncwarp();
    if (lane == 0) {
      v.node[id].left = first;
      v.node[id].open = 0;
      v.node[first].number = (int32_t)(2 * n_leaves - 1);
      v.node[first + 1].number = (int32_t)(2 * n_leaves);
      v.open_leaf[at] = v.open_leaf[n_open - 1];
      if (l) v.open_leaf[n_open - 1] = first;
      if (r) v.open_leaf[n_open - 1 + l] = first + 1;
    }
    n_open += l + r - 1;
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

/* Lists the nodes with splits that the policy has not come to, but for `next`, and their reaches; returns how many. */
__device__ static __forceinline__ int32_t cu_list_waiting(const cu_view &v, int32_t next, uint32_t *list,
                                                          double *reach) {
  int32_t n = 0;
  for (int32_t beg = 0; beg < v.tree->n_nodes && n < CU_MOST_WAIT; beg += (int32_t)blockDim.x) {
    const int32_t id = beg + (int32_t)threadIdx.x;
    uint32_t total, mine = id < v.tree->n_nodes && id != next && v.node[id].open;
    const uint32_t at = (uint32_t)n + cu_block_scan(mine, &total);
    if (mine) {
      list[at] = (uint32_t)id;
      reach[at] = cu_reach(v, id);
    }
    n += (int32_t)total;
  }
  __syncthreads();
  return n;
}

/* The policy's next leaf, and others that it will probably come to; returns how many. All threads. */
__device__ static __forceinline__ int32_t cu_choose_ahead(const cu_view &v, int32_t *shared) {
  cu_tree *t = v.tree;
  uint32_t *list = v.leaf_block; /* both free until the tree is complete */
  double *reach = v.value;
  if (cu_warp() == 0) {
    const int32_t next = cu_follow(v);
    if (cu_lane() == 0) {
      shared[0] = next;
      if (next >= 0) v.chosen[0] = next;
    }
  }
  __syncthreads();
  const int32_t next = shared[0];
  if (next < 0) return 0;
  /* splits that the policy makes behind the next one, and those that may be made ahead */
  const int64_t to_come = v.policy.max_leaves > 0 ? v.policy.max_leaves - t->n_leaves - 1 : (int64_t)INT32_MAX;
  const int64_t in_wait = (t->n_nodes - 1) / 2 - (t->n_leaves - 1);
  int64_t most = v.ahead - in_wait < v.max_step - 1 ? v.ahead - in_wait : v.max_step - 1;
  const int32_t n = cu_list_waiting(v, next, list, reach);
  int32_t n_ahead = 0;
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) {
    int32_t before = 0, unsplit = 0;
    if (v.node[list[i]].ahead != 0) continue;
    for (int32_t k = 0; k < n; k++) {
      if (reach[k] < reach[i] || (reach[k] == reach[i] && k >= i)) continue;
      before++;
      unsplit += v.node[list[k]].ahead == 0;
    }
    if (before >= to_come || unsplit >= most) continue;
    v.chosen[1 + unsplit] = (int32_t)list[i]; /* whoever comes before it is chosen, too: so there are no gaps */
    n_ahead++;
  }
  return 1 + cu_block_sum(n_ahead);
}

/* What the policy did not come to is dropped; all other nodes go to the places of their numbers. Rows of what has been
 * split stand where its descendants in wait have them: leaf_run. All threads. */
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
    const cu_leaf_run run = {node.order_beg, node.ahead == 0 ? node.n_rows : 0u, node.depth, v.node[of].number};
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
