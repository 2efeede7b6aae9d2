/* The histograms of nodes: made one by one as trees ask for them, used again from node to node and from tree to
 * tree. */
#include "../base/comm.h"
#include "cpu.h"

#define KEEP_BYTES ((size_t)32 << 20) /* limit on histograms that are kept only until their layer's split is decided */
#define CELLS_OF_SLOT 2u /* adding up so many cells takes as long as clearing, subtracting and reading a slot */

gbt_status cpu_hist_pool_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  for (int32_t g = 0; g < be->layout->n_groups; g++) be->pool.n_columns += (uint64_t)be->layout->group[g].n_feats;
  be->pool.skips = (gbt_policy_one_split(gbt_policy_of(be->params)) || be->together.n == 0) &&
                   be->layout->n_sparse == 0 && gbt_comm_is_single(ctx) && gbt_pages_stay(be->data[0]->pages);
  for (int32_t f = 0; f < be->n_features; f++) be->pool.any_counts |= be->split.plan[f].counts;
  if (!be->pool.any_counts || cpu_all_rows(be) <= (int64_t)UINT32_MAX) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "min_data_in_leaf",
                     "gbt can count up to 4,294,967,295 rows in a bin, and the ranks have %lld rows together: set "
                     "`min_data_in_leaf` to 1, and give factors few levels (`max_cat_onehot`) or as numbers",
                     (long long)cpu_all_rows(be));
}

static void free_hists(cpu_backend *be) {
  for (size_t i = 0; i < be->pool.n; i++) {
    gbt_mem_free(&be->mem, be->pool.hist[i].sum);
    gbt_mem_free(&be->mem, be->pool.hist[i].count);
  }
  be->pool.n = be->pool.n_free = 0;
}

void cpu_hist_pool_close(cpu_backend *be) {
  free_hists(be);
  gbt_mem_free(&be->mem, be->pool.hist);
  gbt_mem_free(&be->mem, be->pool.free);
}

/* Bytes of a histogram's sums. The sparse part, at the end, takes half where it is packed. */
static size_t sum_bytes(const cpu_backend *be) {
  size_t sparse = be->layout->n_slots - be->layout->sparse_slot;
  return be->layout->sparse_slot * sizeof(gbt_sum) + sparse * cpu_hist_sparse_bytes(&be->pool);
}

static void set_limit(cpu_backend *be) {
  size_t bytes = sum_bytes(be) + (be->pool.any_counts ? be->layout->n_slots * sizeof(uint32_t) : 0);
  const size_t least = 2 * (size_t)cpu_n_trees(&be->together); /* those of the children of one node */
  be->pool.most = gbt_hist_bytes(be->params) / (bytes ? bytes : 1);
  if (be->pool.most < 4) be->pool.most = 4;
  if (be->pool.most < least) be->pool.most = least;
}

/* No histograms, and accumulators that have room for sums that are not packed. */
static gbt_status make_room(cpu_backend *be, gbt_error *err) {
  gbt_status status = GBT_OK;
  free_hists(be);
  be->pool.roomy = 1;
  for (int32_t t = 0; t < be->scratch.n && status == GBT_OK; t++) status = cpu_scratch_acc(be, &be->scratch.of[t], err);
  if (status != GBT_OK) be->pool.roomy = 0;
  return status;
}

int cpu_hist_packs(const cpu_backend *be) { return be->sparse.most <= CPU_PACKED_ROWS && !be->view.wide; }

gbt_status cpu_hist_fit(cpu_backend *be, gbt_error *err) {
  be->pool.packed = cpu_hist_packs(be);
  if (be->layout->n_sparse > 0 && !be->pool.packed && !be->pool.roomy) GBT_TRY(make_room(be, err)); /* from now on */
  set_limit(be);
  return GBT_OK;
}

static gbt_status new_hist(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_hist_pool *pool = &be->pool;
  size_t n = be->layout->n_slots;
  GBT_ASSERT(pool->n < pool->most); /* step_size() takes no more nodes than `most` is enough for */
  GBT_TRY(gbt_mem_grow(&be->mem, &pool->hist, &pool->cap, pool->n + 1, sizeof *pool->hist, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &pool->free, &pool->cap_free, pool->n + 1, sizeof *pool->free, err));
  cpu_hist *hist = &pool->hist[pool->n];
  hist->sum = NULL;
  hist->count = NULL;
  pool->n++;
  GBT_TRY(gbt_mem_array(&be->mem, sum_bytes(be), 1, &hist->sum, err));
  GBT_TRY(cpu_zero(ctx, hist->sum, sum_bytes(be), err)); /* padding slots are read, too */
  if (pool->any_counts) {
    GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *hist->count, &hist->count, err));
    GBT_TRY(cpu_zero(ctx, hist->count, n * sizeof *hist->count, err));
  }
  GBT_ASSERT(pool->n <= INT32_MAX && pool->n_free < pool->n);
  pool->free[pool->n_free++] = (int32_t)pool->n - 1;
  return GBT_OK;
}

/* To the pool. */
static void give_back(cpu_backend *be, gbt_grow_node *of) {
  if (of->hist < 0) return;
  GBT_ASSERT((size_t)of->hist < be->pool.n && be->pool.n_free < be->pool.n);
  be->pool.free[be->pool.n_free++] = of->hist; /* room was made when the histogram was */
  of->hist = -1;
}

/* Of a node in wait or an open one, in all trees: they have it under the same number, and as much memory each. */
static void evict(cpu_backend *be, int32_t node) {
  cpu_hist_release(be, node);
  for (int32_t k = 0; k < be->together.n; k++)
    if (k != be->together.at) give_back(be, &be->together.tree[k].fr.node[node]);
}

gbt_status cpu_hist_reserve(gbt_ctx *ctx, cpu_backend *be, int32_t *hist, gbt_error *err) {
  const gbt_frontier *fr = &be->fr;
  cpu_hist_pool *pool = &be->pool;
  if (pool->n_free == 0 && pool->n < pool->most) GBT_TRY(new_hist(ctx, be, err));
  for (size_t i = fr->ahead.n_next; pool->n_free == 0 && i > 0; i--) evict(be, fr->ahead.next[i - 1]);
  for (size_t i = fr->n_open; pool->n_free == 0 && i > 0; i--) evict(be, fr->open[i - 1]);
  if (pool->n_free == 0) GBT_TRY(new_hist(ctx, be, err));
  *hist = pool->free[--pool->n_free];
  return GBT_OK;
}

gbt_status cpu_hist_take(gbt_ctx *ctx, cpu_backend *be, int32_t node, gbt_error *err) {
  GBT_ASSERT(be->fr.node[node].hist < 0);
  return cpu_hist_reserve(ctx, be, &be->fr.node[node].hist, err);
}

void cpu_hist_inherit(cpu_backend *be, int32_t from, int32_t to) {
  GBT_ASSERT(be->fr.node[to].hist < 0);
  GBT_ASSERT(be->fr.node[to].parent == from);
  be->fr.node[to].hist = be->fr.node[from].hist;
  be->fr.node[from].hist = -1;
}

void cpu_hist_release(cpu_backend *be, int32_t node) { give_back(be, &be->fr.node[node]); }

void cpu_hist_release_all(cpu_backend *be) {
  for (size_t i = 0; i < be->fr.n_nodes; i++) cpu_hist_release(be, (int32_t)i);
}

void cpu_hist_release_dropped(cpu_backend *be) {
  const gbt_frontier_ahead *ahead = &be->fr.ahead;
  for (size_t i = 0; i < ahead->n_dropped; i++) cpu_hist_release(be, ahead->next[ahead->dropped_beg + i]);
}

int cpu_hist_kept(const cpu_backend *be, int32_t depth) {
  if (!gbt_policy_one_split(be->fr.policy.kind)) return 0;
  return ((size_t)cpu_n_trees(&be->together) * (size_t)be->layout->n_slots * sizeof(gbt_sum)) << depth <= KEEP_BYTES;
}

/* Most slots of such nodes are empty, and they are rarely in a near cache. */
int cpu_hist_skipped(const cpu_backend *be, int32_t parent) {
  const gbt_grow_node *node = &be->fr.node[parent];
  if (!be->pool.skips || node->own_rows > CPU_HIST_ROWS) return 0;
  return (uint64_t)node->own_rows * be->pool.n_columns <= CELLS_OF_SLOT * (uint64_t)be->layout->n_slots;
}

void cpu_hist_release_searched(cpu_backend *be, int32_t id) {
  const gbt_grow_node *node = &be->fr.node[id];
  int split = gbt_policy_one_split(be->fr.policy.kind) || node->split.kind != GBT_SPLIT_NONE;
  if (!(cpu_children_split(be, node) ? split : cpu_hist_kept(be, node->depth))) cpu_hist_release(be, id);
}
