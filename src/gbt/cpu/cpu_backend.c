/* The CPU backend: opening, closing, the start of a tree. */
#include "cpu.h"

#include "../base/clock.h"
#include "../base/look_up.h"

#define CPU_AHEAD_SLOTS 262144 /* histogram slots of all nodes that one best-first step makes ahead */
#define CPU_LAST_STEP 16       /* nodes split at once above the last layer with histograms */

static void destroy(gbt_backend *self) {
  cpu_backend *be = (cpu_backend *)self;
  gbt_mem mem = be->mem;
  cpu_scratch_close(be);
  cpu_score_close(be);
  cpu_leaf_close(be);
  cpu_linear_close(be);
  cpu_walk_close(be);
  cpu_refit_close(be);
  cpu_renew_close(be);
  cpu_step_close(be);
  cpu_partition_close(be);
  cpu_ranks_close(be);
  cpu_stream_close(be);
  cpu_gather_close(be);
  cpu_together_close(be);
  cpu_layer_close(be);
  cpu_split_close(be);
  cpu_hist_close(be);
  cpu_hist_pool_close(be);
  cpu_sparse_close(be);
  cpu_columns_close(be);
  cpu_rows_close(be);
  cpu_sample_close(be);
  cpu_gradient_close(be);
  gbt_frontier_free(&be->fr);
  for (int32_t s = 0; be->data && s <= be->n_valid; s++) gbt_dataset_unref(be->data[s]);
  gbt_mem_free(&mem, be->data);
  gbt_mem_free(&mem, be);
}

static gbt_status begin_one(gbt_ctx *ctx, cpu_backend *be, const gbt_tree_task *task, gbt_error *err) {
  be->task = *task;
  GBT_TRY(cpu_gradients_of_tree(ctx, be, err));
  cpu_view_train(be);
  cpu_hist_release_all(be);
  return cpu_hist_fit(be, err);
}

static gbt_status begin_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                              gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  GBT_ASSERT(n_trees == cpu_n_trees(&be->together)); /* see most_trees */
  GBT_TRY(cpu_scratch_ready(ctx, be, err)); /* the host may have given the gradients in a call with fewer threads */
  GBT_TRY(be->together.n > 0 ? cpu_together_begin(ctx, be, task, err) : begin_one(ctx, be, task, err));
  be->stream.n_built = be->stream.n_items = 0;
  int64_t t0 = gbt_clock_ns();
  gbt_sum sum;
  int64_t n_in;
  GBT_TRY(cpu_rows_begin(ctx, be, &n_in, &sum, err));
  if (be->together.n == 0) GBT_TRY(cpu_gather_rows(ctx, be, err)); /* it gathers the gradients of one tree */
  cpu_split_begin(be);
  cpu_ranks_begin(be);
  self->seconds[GBT_PHASE_PARTITION] += (double)(gbt_clock_ns() - t0) * 1e-9;
  for (int32_t k = 0; k < n_trees; k++) {
    cpu_turn_to(be, k);
    gbt_frontier_set_lookahead(&be->fr, be->view.stream != NULL || be->ranks.size > 1);
    if (k > 0) GBT_TRY(cpu_rows_sum(ctx, be, &sum, err));
    GBT_TRY(gbt_frontier_root(&be->fr, n_in, sum, cpu_units(be), err));
    be->fr.node[0].own_rows = be->rows.n_in;
    cpu_ranks_begin_root(be);
    if (be->together.n > 0) GBT_TRY(cpu_ranks_sum_root(ctx, be, err));
  }
  return GBT_OK;
}

static gbt_status build_hist(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    GBT_TRY(cpu_build_hist(ctx, self, err));
  }
  return GBT_OK;
}

static gbt_status find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  if (be->together.n > 0 && !gbt_policy_one_split(be->fr.policy.kind)) return cpu_together_search(ctx, be, err);
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    GBT_TRY(cpu_find_splits(ctx, self, err));
  }
  return GBT_OK;
}

/* Nodes to split in one step. Each needs one more histogram. Those of the last layer that has any are given back as
 * soon as they are searched (cpu_find_splits), so there small steps save memory: half of the tree's histograms. */
static size_t step_size(const cpu_backend *be) {
  size_t most = be->pool.most / (2 * (size_t)cpu_n_trees(&be->together));
  GBT_ASSERT(most > 0);
  if (be->view.stream) return most < CPU_STREAM_NODES ? most : CPU_STREAM_NODES; /* each step is a pass */
  if (be->ranks.size > 1) return most; /* each step takes rounds of latency */
  if (gbt_policy_one_leaf(be->fr.policy.kind)) { /* look-ahead feeds threads; wide tables need none */
    size_t ahead = CPU_AHEAD_SLOTS / ((size_t)be->layout->n_slots + 1) / (size_t)cpu_n_trees(&be->together);
    if (ahead < 1) ahead = 1;
    if (most > ahead) most = ahead;
  }
  for (size_t i = 0; be->fr.policy.max_depth > 0 && i < be->fr.n_open; i++) {
    const gbt_grow_node *node = &be->fr.node[be->fr.open[i]];
    if (cpu_children_split(be, node) && !cpu_grandchildren_split(be, node) && !cpu_hist_kept(be, node->depth + 1))
      return most < CPU_LAST_STEP ? most : CPU_LAST_STEP;
  }
  return most;
}

static gbt_status choose(gbt_ctx *ctx, gbt_backend *self, int32_t *n, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  cpu_turn_to(be, 0);
  if (gbt_policy_one_split(be->fr.policy.kind)) GBT_TRY(cpu_layer_decide(ctx, be, err));
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    gbt_frontier_select(&be->fr, step_size(be));
    cpu_hist_release_dropped(be);
    GBT_ASSERT(k == 0 || *n == (int32_t)be->fr.n_chosen); /* all trees choose the same nodes */
    for (size_t i = 0; k > 0 && i < be->fr.n_chosen; i++)
      GBT_ASSERT(be->fr.chosen[i] == be->together.tree[0].fr.chosen[i]);
    *n = (int32_t)be->fr.n_chosen;
    if (*n > 0) continue;
    cpu_hist_release_all(be);
    cpu_together_own_gains(be);
    GBT_TRY(gbt_frontier_settle(&be->fr, err));
  }
  return GBT_OK;
}

static gbt_status finish_trees(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    if (be->together.n > 0) GBT_TRY(cpu_renew_output(ctx, be, err));
    GBT_TRY(cpu_finish_tree(ctx, self, forest, err));
  }
  return GBT_OK;
}

static gbt_status scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double **out, gbt_error *err) {
  (void)ctx;
  (void)err;
  *out = ((cpu_backend *)self)->score[which];
  return GBT_OK;
}

static const gbt_backend_ops cpu_ops = {.name = "cpu",
                                        .destroy = destroy,
                                        .gradients = cpu_gradients,
                                        .set_gradients = cpu_set_gradients,
                                        .begin_trees = begin_trees,
                                        .build_hist = build_hist,
                                        .find_splits = find_splits,
                                        .select = choose,
                                        .partition = cpu_partition,
                                        .finish_trees = finish_trees,
                                        .refit_trees = cpu_refit_trees,
                                        .scores = scores,
                                        .set_scores = cpu_set_scores};

gbt_status gbt_cpu_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  cpu_backend *be = NULL;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *be, &be, err));
  be->base.ops = &cpu_ops;
  be->base.most_trees = 1;
  be->mem = ctx->mem;
  be->params = spec->params;
  be->objective = spec->objective;
  be->n_outputs = spec->objective.n_outputs;
  be->rules = spec->rules;
  be->handicap = spec->handicap;
  be->kernels = gbt_cpu_kernels(ctx->simd);
  be->columns.turns = gbt_ctx_has_lookup(ctx);
  be->n_valid = spec->n_valid;
  GBT_TRY_GOTO(gbt_mem_zeros(&be->mem, (size_t)spec->n_valid + 1, sizeof *be->data, &be->data, err), done);
  for (int32_t s = 0; s <= spec->n_valid; s++) be->data[s] = gbt_dataset_ref(spec->data[s]);
  be->cuts = be->data[0]->cuts;
  be->layout = gbt_pages_layout(be->data[0]->pages);
  be->n_features = be->cuts->n_features;
  be->n_rows = be->data[0]->rows.n;
  cpu_view_train(be);
  gbt_frontier_init(&be->fr, &be->mem, be->params, spec->monotone, be->rules->n_groups > 0 ? be->rules->n_words : 0);
  GBT_TRY_GOTO(cpu_together_open(be, spec, err), done);
  cpu_scratch_open(be);
  GBT_TRY_GOTO(cpu_split_open(be, err), done);
  GBT_TRY_GOTO(cpu_ranks_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_hist_pool_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_hist_open(be, err), done);
  GBT_TRY_GOTO(cpu_columns_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_sparse_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_stream_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_layer_open(be, err), done);
  GBT_TRY_GOTO(cpu_together_room(be, err), done);
  GBT_TRY_GOTO(cpu_gradient_open(be, err), done);
  GBT_TRY_GOTO(cpu_renew_open(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_step_open(be, err), done);
  GBT_TRY_GOTO(cpu_sample_open(be, spec->class_rate, spec->n_class_rates, err), done);
  GBT_TRY_GOTO(cpu_rows_open(be, err), done);
  GBT_TRY_GOTO(cpu_score_open(ctx, be, spec, err), done);
  GBT_TRY_GOTO(cpu_scratch_ready(ctx, be, err), done);
done:
  if (status == GBT_OK)
    *out = &be->base;
  else
    destroy(&be->base);
  return status;
}
