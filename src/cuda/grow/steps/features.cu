/* Which features the searched nodes may use: twin of tree/features.c. A mask is a byte by feature; only those of the
 * tree's features mean anything.
 *
 *   allowed   | searched node 0: n_features | searched node 1 | ..      or one mask, where all nodes of a step have it
 *
 * A block makes a mask from the state of the tree: the layer's draw from the tree's features, then what the interaction
 * groups leave, then the node's draw. One mask serves nodes of one depth: those of a layer, which in symmetric growth
 * also have the same features above them. Best-first growth searches nodes of several depths together.
 *
 * A draw keeps the k lowest numbers, equal ones by feature. The number that is just kept is found byte by byte, highest
 * first: features are counted by that byte among those that share the bytes found so far; mostly after one or two bytes
 * the last place goes to the last feature counted there, and there is nothing more to distinguish. Numbers are made
 * again every time. A thread has the same places of the tree's list in all passes, so what it reads of the mask is its
 * own.
 *
 * Groups: those that hold the feature of the node's parent and all others above; their members are marked, and so are
 * the features above. */
#include "ops.cuh"

#include "../../base/block.cuh"
#include "../state/ops.cuh"

extern "C" {
#include "../../../gbt/tree/draw.h"
}

namespace {

enum { IN = 1, MARKED = 2, BYTES = 256 };

/* The features of a tree, and which of them are in. */
struct pool {
  const int32_t *feat;
  int32_t n;
  uint8_t *in; /* by feature */
};

/* The features that stay: all of number >> shift below `last`, and `ties` of the `n_last` that are equal to it. */
struct limit {
  uint64_t last;
  uint32_t ties, n_last;
  int shift;
};

/* Radix-select state: byte, ties wanted, ties present. */
struct cell {
  uint32_t byte, ties, n;
};

/* Counts features in by one byte of their numbers, those that agree with what is known of the last one that stays;
 * returns how many that are. All threads. */
__device__ uint32_t count_byte(const cu_rules &rules, const pool &p, gbt_key32 key, const limit &l, uint32_t *count,
                               uint32_t *before) {
  uint32_t all;
  count[threadIdx.x] = 0;
  __syncthreads();
  for (int32_t t = (int32_t)threadIdx.x; t < p.n; t += BYTES) {
    if (!p.in[p.feat[t]]) continue;
    const uint64_t number = gbt_draw_number(key, rules.weight, p.feat[t]);
    if (number != GBT_NEVER_DRAWN && number >> l.shift >> 8 == l.last)
      atomicAdd(&count[(uint32_t)(number >> l.shift) & 255u], 1u);
  }
  __syncthreads();
  *before = cu_block_scan(count[threadIdx.x], &all);
  return all;
}

/* The limit when k features are to stay. Fewer than that can: all of those. *k: how many there are. */
__device__ limit find_limit(const cu_rules &rules, const pool &p, gbt_key32 key, uint32_t *k) {
  CU_SHARED(uint32_t, count, BYTES);
  CU_SHARED(cell, found, 1);
  limit l = {0, *k, 0, rules.weight ? 56 : 24};
  for (;; l.shift -= 8) {
    uint32_t before;
    const uint32_t all = count_byte(rules, p, key, l, count, &before), mine = count[threadIdx.x];
    if (all <= l.ties) { /* only in the first pass */
      const limit none = {GBT_NEVER_DRAWN, 0, 0, 0};
      *k = all;
      return none;
    }
    if (before < l.ties && l.ties <= before + mine) {
      const cell here = {threadIdx.x, l.ties - before, mine};
      *found = here;
    }
    __syncthreads();
    l.last = l.last << 8 | found->byte;
    l.ties = found->ties;
    l.n_last = found->n; /* not written again before all have counted the next byte */
    if (l.ties == l.n_last || l.shift == 0) return l;
  }
}

/* Keeps a random share of the n candidate features; returns how many. All threads. */
__device__ int32_t draw(const cu_rules &rules, const pool &p, gbt_key32 key, double share, int32_t n) {
  uint32_t k = (uint32_t)gbt_draw_size(share, n), passed = 0;
  if (n == 0 || (k == (uint32_t)n && !rules.weight)) return n;
  const limit l = find_limit(rules, p, key, &k);
  for (int32_t beg = 0; beg < p.n; beg += BYTES) {
    const int32_t t = beg + (int32_t)threadIdx.x;
    const int in = t < p.n && p.in[p.feat[t]];
    const uint64_t number = in ? gbt_draw_number(key, rules.weight, p.feat[t]) : GBT_NEVER_DRAWN;
    uint32_t last = number != GBT_NEVER_DRAWN && number >> l.shift == l.last, at = 0;
    if (l.ties < l.n_last) { /* numbers are equal to the last bit */
      uint32_t total;
      at = passed + cu_block_scan(last, &total);
      passed += total;
    }
    if (in) p.in[p.feat[t]] = number >> l.shift < l.last || (last && at < l.ties);
  }
  return (int32_t)k;
}

/* ---- interaction groups ---- */

__device__ int holds(const cu_rules &rules, int32_t group, int32_t feat) {
  const int32_t end = rules.of_beg[feat + 1], at = cu_lower_bound(rules.of_group, rules.of_beg[feat], end, group);
  return at < end && rules.of_group[at] == group;
}

/* Whether a group holds what has been split by above the node. */
__device__ int holds_path(const cu_view &v, const cu_rules &rules, int32_t group, int32_t node) {
  for (int32_t up = v.node[node].parent; up >= 0; up = v.node[up].parent)
    if (!holds(rules, group, v.node[up].split.feat)) return 0;
  return 1;
}

/* Of the features that are in those stay that a group allows below the node's parent; returns how many. All threads. */
__device__ int32_t keep_allowed(const cu_view &v, const cu_rules &rules, const pool &p, int32_t parent) {
  CU_SHARED(int32_t, live, BYTES);
  const int32_t feat = v.node[parent].split.feat, end = rules.of_beg[feat + 1];
  __syncthreads(); /* marks are set by any thread */
  for (int32_t up = parent; threadIdx.x == 0 && up >= 0; up = v.node[up].parent) p.in[v.node[up].split.feat] |= MARKED;
  for (int32_t beg = rules.of_beg[feat]; beg < end; beg += BYTES) {
    const int32_t at = beg + (int32_t)threadIdx.x, group = at < end ? rules.of_group[at] : -1;
    live[threadIdx.x] = group >= 0 && holds_path(v, rules, group, parent) ? group : -1;
    __syncthreads();
    for (int32_t i = 0; i < BYTES; i++) {
      if (live[i] < 0) continue;
      const int32_t last = rules.group_beg[live[i] + 1];
      for (int32_t j = rules.group_beg[live[i]] + (int32_t)threadIdx.x; j < last; j += BYTES)
        p.in[rules.group_feat[j]] |= MARKED;
      __syncthreads(); /* groups may share members */
    }
    __syncthreads();
  }
  __syncthreads();
  int32_t n = 0;
  for (int32_t t = (int32_t)threadIdx.x; t < p.n; t += BYTES) {
    const int stays = p.in[p.feat[t]] == (IN | MARKED);
    p.in[p.feat[t]] = (uint8_t)stays;
    n += stays;
  }
  return cu_block_sum(n);
}

} // namespace

__global__ static void __launch_bounds__(BYTES) k_features(cu_view all, cu_rules rules) {
  const cu_view v = cu_view_of_block(all);
  /* one mask for a layer: also where no node of this tree can be split, as trees that grow together go on, and have the
     features of the first tree */
  const int32_t n_search = v.tree->n_search, any = n_search > 0 || v.tree->n_nodes > v.tree->fresh_beg;
  const int32_t n_masks = v.by_node ? n_search : any;
  const uint64_t tree = v.tree->task.tree;
  for (int32_t i = (int32_t)blockIdx.x; i < n_masks; i += (int32_t)gridDim.x) {
    const int32_t id = i < n_search ? v.search[i].node : v.tree->fresh_beg;
    const gbt_grow_node *node = &v.node[id];
    const int32_t *feats = v.divided ? v.tree_feats : v.feats;
    const pool p = {feats + 1, feats[0], v.allowed + (uint64_t)(uint32_t)i * (uint32_t)v.n_features};
    for (int32_t t = (int32_t)threadIdx.x; t < p.n; t += BYTES) p.in[p.feat[t]] = IN;
    int32_t n = draw(rules, p, gbt_draw_layer_key(rules.seed, tree, node->depth), rules.by_layer, p.n);
    if (rules.group_beg && node->parent >= 0) n = keep_allowed(v, rules, p, node->parent);
    if (v.by_node) draw(rules, p, gbt_draw_node_key(rules.seed, tree, id), rules.by_node, n);
  }
}

gbt_status cu_features(cu_backend *be, gbt_error *err) {
  if (gbt_features_uniform(be->rules)) return GBT_OK;
  CU_LAUNCH(k_features, cu_grids(be, cu_n_masks(&be->view), 8), BYTES, 0, be->device.stream, be->view, be->draw.rules);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- features of trees ---- */

/* Those of a tree's features that this rank searches. */
static void keep_own(const cu_backend *be, const int32_t *feats, int32_t *own) {
  own[0] = 0;
  for (int32_t t = 1; t <= feats[0]; t++)
    if (be->ranks.owns[feats[t]]) own[++own[0]] = feats[t];
}

void cu_features_draw(cu_backend *be) {
  const int32_t n_trees = be->view.n_trees;
  cu_draw *d = &be->draw;
  d->sent = be->rules->by_tree >= 1.0 && d->n_sent >= n_trees; /* the same features as before */
  if (n_trees > d->n_sent) d->n_sent = n_trees;
  for (int32_t y = 0; y < n_trees && !d->sent; y++) {
    int32_t *feats = d->up + (size_t)y * ((size_t)be->n_features + 1);
    feats[0] = gbt_features_of_tree(be->rules, be->task[y].tree, feats + 1, d->drawn);
    if (be->view.divided) keep_own(be, feats, d->own_up + (size_t)y * ((size_t)be->n_features + 1));
  }
}

/* There is room for all of them, and the number of those that count comes first. */
gbt_status cu_features_send(cu_backend *be, gbt_error *err) {
  const size_t bytes = ((size_t)be->n_features + 1) * sizeof *be->draw.up;
  const int divided = be->view.divided;
  if (be->draw.sent) return GBT_OK;
  CU_TRY(cu_state_send(be, be->view.feats, divided ? be->draw.own_up : be->draw.up, bytes));
  if (divided) CU_TRY(cu_state_send(be, be->view.tree_feats, be->draw.up, bytes));
  return GBT_OK;
}

/* ---- opening ---- */

/* By feature the groups that hold it: beg has n_features + 1 entries. */
static void turn_groups(const gbt_feature_rules *rules, int32_t *beg, int32_t *group) {
  const int32_t n = rules->n_features;
  for (int32_t f = 0; f <= n; f++) beg[f] = 0;
  for (int32_t j = 0; j < rules->group_beg[rules->n_groups]; j++) beg[rules->group_feat[j]]++;
  for (int32_t f = 0, sum = 0; f <= n; f++) beg[f] = sum += beg[f]; /* the ends */
  for (int32_t s = rules->n_groups - 1; s >= 0; s--)
    for (int32_t j = rules->group_beg[s]; j < rules->group_beg[s + 1]; j++) group[--beg[rules->group_feat[j]]] = s;
}

static gbt_status open_groups(cu_backend *be, const gbt_feature_rules *rules, gbt_error *err) {
  const size_t n = (size_t)rules->n_features + 1, n_members = (size_t)rules->group_beg[rules->n_groups];
  cu_draw *d = &be->draw;
  gbt_status status = GBT_OK;
  int32_t *beg = NULL, *group = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&be->mem, n, sizeof *beg, &beg, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&be->mem, n_members + 1, sizeof *group, &group, err), done);
  turn_groups(rules, beg, group);
  GBT_TRY_GOTO(cu_new_from(&be->device, &d->group_beg, rules->group_beg, (size_t)rules->n_groups + 1, err), done);
  GBT_TRY_GOTO(cu_new_from(&be->device, &d->group_feat, rules->group_feat, n_members, err), done);
  GBT_TRY_GOTO(cu_new_from(&be->device, &d->of_beg, beg, n, err), done);
  GBT_TRY_GOTO(cu_new_from(&be->device, &d->of_group, group, n_members, err), done);
done:
  gbt_mem_free(&be->mem, beg);
  gbt_mem_free(&be->mem, group);
  return status;
}

gbt_status cu_features_open(cu_backend *be, gbt_error *err) {
  const gbt_feature_rules *rules = be->rules;
  const size_t n = (size_t)be->n_features;
  cu_draw *d = &be->draw;
  GBT_TRY(cu_host_alloc((size_t)be->base.most_trees * (n + 1) * sizeof *d->up, &d->up, err));
  if (be->view.divided)
    GBT_TRY(cu_host_alloc((size_t)be->base.most_trees * (n + 1) * sizeof *d->own_up, &d->own_up, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *d->drawn, &d->drawn, err));
  if (gbt_features_uniform(rules)) return GBT_OK;
  if (rules->weight) GBT_TRY(cu_new_from(&be->device, &d->weight, rules->weight, n, err));
  if (rules->n_groups > 0) GBT_TRY(open_groups(be, rules, err));
  d->rules.seed = rules->seed;
  d->rules.by_layer = rules->by_layer;
  d->rules.by_node = rules->by_node;
  d->rules.weight = d->weight.at;
  d->rules.group_beg = d->group_beg.at;
  d->rules.group_feat = d->group_feat.at;
  d->rules.of_beg = d->of_beg.at;
  d->rules.of_group = d->of_group.at;
  return GBT_OK;
}

void cu_features_close(cu_backend *be) {
  cu_memory *memory = &be->device.memory;
  cu_draw *d = &be->draw;
  cu_drop(memory, &d->weight);
  cu_drop(memory, &d->group_beg);
  cu_drop(memory, &d->group_feat);
  cu_drop(memory, &d->of_beg);
  cu_drop(memory, &d->of_group);
  cu_host_free(&d->up);
  cu_host_free(&d->own_up);
  gbt_mem_free(&be->mem, d->drawn);
  d->drawn = NULL;
}
