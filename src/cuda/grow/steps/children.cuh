/* Children of the chosen nodes, and what is built and searched next: by one block, once the rows of all chosen nodes
 * have been counted. */
#pragma once

#include "frontier.cuh"

/* The work for a pair of siblings, a bit for each child: 1 for the left one, 2 for the right one. */
struct cu_pair_plan {
  uint32_t built, searched;
  uint32_t less; /* its histogram is its parent's less that of its sibling, the one child that is built */
};

/* The child with fewer rows is built; the other one takes its parent's histogram, and is got by subtraction. */
__device__ static __forceinline__ cu_pair_plan cu_plan_pair(const cu_view &v, int32_t first, int keeps) {
  gbt_grow_node *l = &v.node[first], *r = l + 1, *parent = &v.node[l->parent];
  const uint32_t small = l->n_rows <= r->n_rows ? 1u : 2u, large = 3u - small;
  const uint32_t splittable = (l->splittable ? 1u : 0u) | (r->splittable ? 2u : 0u);
  cu_pair_plan plan = {splittable, splittable, 0};
  if (!keeps || parent->hist < 0 || !(splittable & large)) return plan;
  (large == 1u ? l : r)->hist = parent->hist;
  parent->hist = -1;
  if ((small == 1u ? l : r)->n_rows == 0) { /* only symmetric growth makes empty children */
    plan.built = 0;
    plan.searched = large;
    return plan;
  }
  plan.built = small;
  plan.less = large;
  return plan;
}

/* The same of a pair one of whose histograms is there already. */
__device__ static __forceinline__ cu_pair_plan cu_plan_listed(const cu_view &v, int32_t first,
                                                              const cu_listed &listed) {
  gbt_grow_node *l = &v.node[first], *r = l + 1, *parent = &v.node[l->parent];
  gbt_grow_node *built = listed.right ? r : l, *other = listed.right ? l : r;
  const uint32_t its = listed.right ? 1u : 2u; /* the other one's bit */
  const uint32_t splittable = (l->splittable ? 1u : 0u) | (r->splittable ? 2u : 0u);
  cu_pair_plan plan = {0, splittable, splittable & its};
  if (built->splittable) built->hist = listed.hist;
  if (!other->splittable) return plan;
  other->hist = parent->hist;
  parent->hist = -1;
  return plan;
}

/* Puts the plan of a pair at places b and s; hists: number of the first histogram that is free; less: of the sibling
 * that is taken off. */
__device__ static __forceinline__ void cu_put_plan(const cu_view &v, const cu_pair_plan &plan, int32_t first,
                                                   int32_t hists, int32_t less, uint32_t b, uint32_t s) {
  for (int32_t k = 0; k < 2; k++) {
    const int32_t id = first + k;
    if (plan.searched >> k & 1u) {
      v.search[s].node = id;
      v.search[s++].minus = plan.less >> k & 1u ? less : -1;
    }
    if (!(plan.built >> k & 1u)) continue;
    v.build[b].node = id;
    v.build[b].hist = hists + (int32_t)b;
    if (v.node[id].splittable) v.node[id].hist = hists + (int32_t)b;
    b++;
  }
}

/* All threads. */
__device__ static __forceinline__ void cu_plan_builds(const cu_view &v, int keeps) {
  cu_tree *t = v.tree;
  const int32_t n_hists = keeps ? t->n_hists : 0;
  uint32_t n_build = 0, n_search = 0;
  for (int32_t beg = 0; beg < t->n_chosen; beg += (int32_t)blockDim.x) {
    const int32_t c = beg + (int32_t)threadIdx.x, first = t->fresh_beg + 2 * c;
    const int listed = v.listing && c < t->n_chosen && v.listed[c].hist >= 0;
    cu_pair_plan plan = {0, 0, 0};
    if (listed)
      plan = cu_plan_listed(v, first, v.listed[c]);
    else if (c < t->n_chosen)
      plan = cu_plan_pair(v, first, keeps);
    uint32_t total; /* both numbers in one: a block has 2,048 children at most */
    const uint32_t before = cu_block_scan((uint32_t)__popc(plan.built) << 16 | (uint32_t)__popc(plan.searched), &total);
    const uint32_t b = n_build + (before >> 16);
    cu_put_plan(v, plan, first, n_hists, listed ? v.listed[c].hist : n_hists + (int32_t)b, b,
                n_search + (before & 0xffffu));
    n_build += total >> 16;
    n_search += total & 0xffffu;
  }
  __syncthreads();
  uint32_t blocks = cu_block_prefix(n_build, v.hist_block,
                                    [&](int64_t b) { return cu_hist_blocks(v, v.node[v.build[b].node].own_rows); });
  if (threadIdx.x != 0) return;
  t->n_hist_blocks = blocks;
  t->n_build = (int32_t)n_build;
  t->n_search = (int32_t)n_search;
  t->n_hists = n_hists + (int32_t)n_build;
  if (t->n_hists <= v.max_hists) return;
  t->fault |= CU_FAULT_ROOM; /* plan_tree is to see to it that this does not happen; nothing may be written there */
  t->n_hist_blocks = 0;
  t->n_build = t->n_search = 0;
}

/* Rows of a chosen node that this rank has and that go left. */
__device__ static __forceinline__ uint32_t cu_left_rows(const cu_view &v, int32_t c) {
  return v.node[v.chosen[c]].own_rows > 0 ? v.left_rows[c] : 0u;
}

/* Returns how many nodes were split. All threads. */
__device__ static __forceinline__ int32_t cu_make_children(const cu_view &v) {
  cu_tree *t = v.tree;
  gbt_grow_policy policy = cu_policy_of(v);
  const int32_t n = t->n_chosen, first = t->n_nodes;
  const int32_t turn = t->turn;
  const uint32_t n_states = t->n_split_blocks;
  __syncthreads();
  if (threadIdx.x == 0) { /* the next step has the other states, which this one has cleared */
    t->n_states[turn] = n_states;
    t->turn = !turn;
  }
  if (n == 0 || first + 2 * n > v.max_nodes) {
    if (threadIdx.x == 0) {
      if (n > 0) t->fault |= CU_FAULT_ROOM;
      t->fresh_beg = first;
      t->n_chosen = t->n_build = t->n_search = 0;
      t->n_hist_blocks = t->n_split_blocks = 0;
    }
    return 0;
  }
  for (int32_t c = (int32_t)threadIdx.x; c < n; c += (int32_t)blockDim.x) {
    int32_t id = v.chosen[c], left = first + 2 * c;
    gbt_grow_node *parent = &v.node[id];
    const uint32_t own_left = cu_left_rows(v, c), n_left = v.shared ? (uint32_t)v.all_left[c] : own_left;
    gbt_grow_children(&policy, parent, id, n_left, &v.node[left], &v.node[left + 1]);
    gbt_grow_share(parent, own_left, &v.node[left], &v.node[left + 1]);
    if (v.ahead > 0)
      parent->ahead = left;
    else
      parent->left = left;
  }
  __syncthreads();
  for (int32_t id = first + (int32_t)threadIdx.x; id < first + 2 * n; id += (int32_t)blockDim.x) {
    if (v.ahead == 0) v.node[id].number = id;
    v.node[id].splittable = (int8_t)gbt_grow_could_split(&policy, &v.node[id], cu_leaves_after(v, n));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    t->fresh_beg = first;
    t->n_nodes = first + 2 * n;
    if (v.ahead == 0) t->n_leaves += n;
  }
  __syncthreads();
  return n;
}
