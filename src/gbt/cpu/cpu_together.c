/* Trees of several outputs that grow together: they have the same splits, those with the largest sum of gains over all
 * outputs.
 *
 *   rows     one order for all: the same rows are drawn, and every split sends them the same way
 *   tree k   a frontier of its own, by the gradients of output k: sums, histograms, gains, who is kept, values
 *   split    of a node, in symmetric growth of a layer: the largest sum over trees k, in order, of weight_k * (what a
 *            candidate gains in the nodes of tree k)
 *
 * So each tree is that of its output's growth, but for the choice of splits, and monotone constraints and
 * limits hold in each: a node that cannot be split on its own adds nothing to the sum, and is kept.
 *
 * Steps take the trees in turn (cpu_turn_to); what they do for all at once is drawing and partitioning rows, and the
 * search (cpu_layer_decide.c; node by node: cpu_split_together.c).
 *
 * Levels of sets have one order in all trees. As each output would have its own, it is that of the gradients along one
 * direction of the scores: sum of direction_k G_k by the mean of H_k. */
#include "cpu_layer_impl.h"

#include <string.h>

gbt_status cpu_together_open(cpu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  cpu_together *t = &be->together;
  if (spec->together == NULL) return GBT_OK;
  GBT_ASSERT(be->n_outputs > 1 && be->n_outputs <= GBT_MOST_TREES);
  t->by = spec->together;
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_outputs, sizeof *t->tree, &t->tree, err));
  t->n = be->n_outputs;
  be->base.most_trees = t->n;
  for (int32_t k = 1; k < t->n; k++)
    gbt_frontier_init(&t->tree[k].fr, &be->mem, be->params, spec->monotone, be->fr.path_words);
  return GBT_OK;
}

gbt_status cpu_together_room(cpu_backend *be, gbt_error *err) {
  cpu_together *t = &be->together;
  if (t->n == 0 || be->layer.beg == NULL) return GBT_OK; /* node by node: cpu_scratch.c */
  const size_t codes = be->layer.beg[be->n_features];
  for (int32_t k = 1; k < t->n; k++)
    GBT_TRY(gbt_mem_array(&be->mem, 2 * codes, sizeof *t->tree[k].gain, &t->tree[k].gain, err));
  if (be->layer.order == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *t->g, &t->g, err));
  return gbt_mem_array(&be->mem, codes, sizeof *t->h, &t->h, err);
}

void cpu_together_close(cpu_backend *be) {
  cpu_together *t = &be->together;
  for (int32_t k = 0; k < t->n; k++) {
    if (k == t->at) continue;
    gbt_frontier_free(&t->tree[k].fr);
    gbt_mem_free(&be->mem, t->tree[k].gain);
  }
  void *blocks[] = {t->tree, t->g, t->h, t->node, t->in, t->left, t->gain};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

int cpu_together_splits(const cpu_backend *be, int32_t id) {
  const cpu_together *t = &be->together;
  for (int32_t k = 0; k < t->n; k++)
    if ((k == t->at ? &be->fr : &t->tree[k].fr)->node[id].splittable) return 1;
  return 0;
}

void cpu_turn_to(cpu_backend *be, int32_t k) {
  cpu_together *t = &be->together;
  if (t->n == 0 || k == t->at) return;
  GBT_ASSERT(k >= 0 && k < t->n);
  t->tree[t->at] = (cpu_together_tree){be->fr, be->task, be->layer.gain, be->layer.depth};
  const cpu_together_tree *its = &t->tree[k];
  be->fr = its->fr;
  be->task = its->task;
  be->layer.gain = its->gain;
  be->layer.depth = its->depth;
  t->at = k;
  cpu_view_train(be);
  be->pool.packed = cpu_hist_packs(be);
}

gbt_status cpu_together_begin(gbt_ctx *ctx, cpu_backend *be, const gbt_tree_task *task, gbt_error *err) {
  const int32_t n = be->together.n;
  for (int32_t k = 0; k < n; k++) { /* the histograms of the trees before may be too small for these */
    cpu_turn_to(be, k);
    cpu_hist_release_all(be);
  }
  for (int32_t k = 0; k < n; k++) {
    cpu_turn_to(be, k);
    be->task = task[k];
    be->grad.fixed_output = -1;
    GBT_ASSERT(task[k].output == k && task[k].tree == task[0].tree);
    GBT_TRY(cpu_gradients_of_tree(ctx, be, err));
    cpu_view_train(be);
    GBT_TRY(cpu_hist_fit(be, err));
  }
  cpu_turn_to(be, 0);
  return GBT_OK;
}

/* ---- gains of all trees ---- */

double cpu_gain_weight(const cpu_backend *be) {
  return be->together.n > 0 ? be->together.by->weight[be->together.at] : 1.0;
}

double cpu_noise(const cpu_backend *be) {
  const cpu_together *t = &be->together;
  if (t->n == 0) return be->grad.noise[be->task.output];
  double sum = 0.0;
  for (int32_t k = 0; k < t->n; k++) sum += t->by->weight[k] * be->grad.noise[k];
  return sum;
}

double cpu_set_noise(const cpu_backend *be) {
  return be->together.n > 0 ? cpu_noise(be) / (double)be->together.n : cpu_noise(be);
}

void cpu_together_join(const cpu_backend *be, int32_t feat) {
  const cpu_together *t = &be->together;
  const size_t beg = 2 * be->layer.beg[feat], parts = be->cuts->feat[feat].has_missing ? 2 : 1;
  const size_t n = parts * (be->layer.beg[feat + 1] - be->layer.beg[feat]);
  double *sum = be->layer.gain + beg;
  GBT_ASSERT(t->n > 0 && t->at == 0);
  for (size_t i = 0; i < n; i++) sum[i] *= t->by->weight[0];
  for (int32_t k = 1; k < t->n; k++) {
    const double *gain = t->tree[k].gain + beg, weight = t->by->weight[k];
    for (size_t i = 0; i < n; i++) sum[i] += weight * gain[i];
  }
}

/* ---- the order of levels ---- */

void cpu_together_add(const cpu_backend *be, int32_t k, const cpu_search *in, double *g, double *h) {
  const double direction = be->together.by->direction[k];
  for (int32_t c = 0; c < in->n_bins; c++) {
    g[c] += direction * ((double)in->sum[c].g * in->unit.g);
    h[c] += (double)in->sum[c].h * in->unit.h;
  }
}

void cpu_together_ratios(const cpu_backend *be, int32_t n, double *g, const double *h) {
  for (int32_t c = 0; c < n; c++) {
    const double down = h[c] / (double)be->together.n + be->params->cat_smooth;
    g[c] = down > 0.0 ? g[c] / down : 0.0;
  }
}

static void add_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_together *t = &be->together;
  const int32_t feat = be->split.tree_feats[task];
  cpu_search in;
  if (!cpu_layer_orders(be, feat, &be->scratch.of[thread], &in)) return;
  cpu_together_add(be, t->at, &in, t->g + be->layer.beg[feat], t->h + be->layer.beg[feat]);
}

static void order_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_together *t = &be->together;
  const int32_t feat = be->split.tree_feats[task];
  cpu_search in;
  if (!cpu_layer_orders(be, feat, &be->scratch.of[thread], &in)) return;
  double *g = t->g + be->layer.beg[feat];
  cpu_together_ratios(be, in.n_bins, g, t->h + be->layer.beg[feat]);
  in.ratio = g;
  cpu_layer_order(be, &in, &be->scratch.of[thread]);
}

gbt_status cpu_together_order(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_together *t = &be->together;
  const size_t codes = be->layer.beg[be->n_features];
  const double ns = 50.0 * (double)codes;
  int32_t any = -1;
  memset(t->g, 0, codes * sizeof *t->g);
  memset(t->h, 0, codes * sizeof *t->h);
  for (int32_t k = 0; k < t->n; k++) { /* outputs whose root is too light for any split have no histogram */
    cpu_turn_to(be, k);
    if (!be->fr.node[0].splittable) continue;
    any = k;
    GBT_TRY(cpu_parallel(ctx, be->split.n_tree_feats, ns, add_task, be, err));
  }
  if (any >= 0) {
    cpu_turn_to(be, any);
    GBT_TRY(cpu_parallel(ctx, be->split.n_tree_feats, ns, order_task, be, err));
  }
  cpu_turn_to(be, 0);
  return GBT_OK;
}
