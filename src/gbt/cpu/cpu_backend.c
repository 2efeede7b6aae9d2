/* The CPU backend: opening, closing, the start of a tree. */
#include "cpu.h"

#include <string.h>

#include "cpu_hist_kernels.h"

static void destroy(gbt_backend *self) {
  cpu_backend *be = (cpu_backend *)self;
  gbt_mem mem = be->mem;
  for (int32_t s = 0; be->sets && s <= be->n_valid; s++) {
    gbt_dataset_unref(be->sets[s]);
    if (be->score) gbt_mem_free(&mem, be->score[s]);
  }
  for (int32_t t = 0; t < be->n_scratch; t++) {
    cpu_scratch *s = &be->scratch[t];
    void *blocks[] = {s->acc,   s->count,           s->g,   s->h,    s->gain,
                      s->level, s->ratio,           s->sum, s->rest, s->rows,
                      s->block, (void *)s->pointer, s->gh,  s->mark, s->side};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
  }
  for (size_t i = 0; i < be->n_slots; i++) {
    gbt_mem_free(&mem, be->slot[i].sum);
    gbt_mem_free(&mem, be->slot[i].count);
  }
  cpu_columns_free(be);
  cpu_sparse_free(be);
  gbt_frontier_free(&be->fr);
  gbt_export_free(&be->mem, &be->out);
  cpu_level_close(be);
  void *blocks[] = {
      be->sets,       be->score,         be->gradients,  be->scale,        be->wide,        be->rows,     be->rows_tmp,
      be->tree_feats, be->node_feats,    be->rank,       be->group_counts, be->set_feature, be->single,   be->slot,
      be->free_slot,  be->group_started, be->build,      be->subtract,     be->unit,        be->chunk,    be->lut,
      be->lut_beg,    be->found,         be->fine,       be->value,        be->scratch,     be->pass_max, be->pass_sums,
      be->noise,      be->softmax_top,   be->softmax_sum};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
  while (be->n_locks > 0) gbt_lock_destroy(&be->lock[--be->n_locks]);
  gbt_mem_free(&mem, be);
}

/* Scores of one data set before the first tree: the caller's, or base plus offset. A task takes CPU_TASK_ROWS rows of
 * an output. */
typedef struct start_pass {
  const gbt_dataset *set;
  const double *init, *base; /* init: NULL where there is none */
  int64_t n_parts;           /* of an output */
  double *score;
} start_pass;

static void start_task(void *arg, int64_t task, int thread) {
  const start_pass *pass = arg;
  size_t n = (size_t)pass->set->n_rows, k = (size_t)(task / pass->n_parts);
  size_t beg = (size_t)(task % pass->n_parts) * CPU_TASK_ROWS, end = n - beg < CPU_TASK_ROWS ? n : beg + CPU_TASK_ROWS;
  double *score = pass->score + k * n;
  const double *offset = pass->set->offset ? pass->set->offset + k * n : NULL;
  (void)thread;
  if (pass->init)
    memcpy(score + beg, pass->init + k * n + beg, (end - beg) * sizeof *score);
  else
    for (size_t i = beg; i < end; i++) score[i] = offset ? pass->base[k] + offset[i] : pass->base[k];
}

static gbt_status init_scores(gbt_ctx *ctx, cpu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  size_t K = (size_t)be->n_outputs;
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_valid + 1, sizeof *be->score, &be->score, err));
  for (int32_t s = 0; s <= be->n_valid; s++) {
    const gbt_dataset *ds = be->sets[s];
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)ds->n_rows * K, sizeof **be->score, &be->score[s], err));
    start_pass pass = {ds, spec->init ? spec->init[s] : NULL, spec->base,
                       (ds->n_rows + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS, be->score[s]};
    double ns = 1.0 * (double)ds->n_rows * (double)K;
    GBT_TRY(cpu_parallel(ctx, pass.n_parts * be->n_outputs, ns, start_task, &pass, err));
  }
  return GBT_OK;
}

/* Which features and groups need row counts in their histograms, and how large the scratch must be. */
static gbt_status plan_features(cpu_backend *be, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  size_t n_groups = (size_t)layout->n_groups;
  GBT_TRY(gbt_mem_zeros(&be->mem, n_groups + 1, 1, &be->group_counts, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_features, 1, &be->set_feature, err));
  be->count_all = be->params->min_data_in_leaf > 1;
  for (int32_t f = 0; f < be->n_features; f++) {
    const gbt_feature_cuts *cuts = &be->cuts->feat[f];
    int set = gbt_cuts_by_sets(be->cuts, f, be->params->max_cat_onehot);
    int32_t group = layout->place[f].group;
    be->set_feature[f] = (int8_t)set;
    if (set || be->count_all) be->group_counts[group < 0 ? layout->n_groups : group] = 1;
    if (set || be->count_all) be->any_counts = 1;
    if ((uint32_t)cuts->n_bins + 1 > be->max_codes) be->max_codes = (uint32_t)cuts->n_bins + 1;
  }
  be->acc_slots = 1;
  for (int32_t g = 0; g < layout->n_groups; g++)
    if (layout->group[g].wide && layout->group[g].n_slots > be->acc_slots) be->acc_slots = layout->group[g].n_slots;
  for (int32_t s = 0; s < layout->n_strips; s++) {
    uint32_t n = (uint32_t)(layout->strip_beg[s + 1] - layout->strip_beg[s]) * CPU_GROUP_ACC;
    if (n > be->acc_slots) be->acc_slots = n;
  }
  return GBT_OK;
}

static gbt_status alloc_rows(cpu_backend *be, gbt_error *err) {
  size_t n = (size_t)be->n_rows, k = (size_t)be->n_outputs, kept = be->loss == GBT_LOSS_CUSTOM ? n * k : n;
  GBT_TRY(gbt_mem_array(&be->mem, kept, sizeof *be->gradients, &be->gradients, err));
  if (be->loss == GBT_LOSS_SOFTMAX) {
    GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *be->softmax_top, &be->softmax_top, err));
    GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *be->softmax_sum, &be->softmax_sum, err));
  }
  be->fixed_output = -1;
  GBT_TRY(gbt_mem_zeros(&be->mem, k, sizeof *be->scale, &be->scale, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, k, 1, &be->wide, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, k, sizeof *be->noise, &be->noise, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *be->rows, &be->rows, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *be->rows_tmp, &be->rows_tmp, err));
  GBT_TRY(gbt_mem_array(&be->mem, (size_t)be->n_features, sizeof *be->tree_feats, &be->tree_feats, err));
  return gbt_mem_array(&be->mem, (size_t)be->n_features, sizeof *be->rank, &be->rank, err);
}

gbt_status cpu_scratch_ready(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  size_t cap = (size_t)be->n_scratch, codes = be->max_codes > CPU_SPLIT_FEATS ? be->max_codes : CPU_SPLIT_FEATS;
  if (ctx->n_threads <= be->n_scratch) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->scratch, &cap, (size_t)ctx->n_threads, sizeof *be->scratch, err));
  for (int32_t t = be->n_scratch; t < ctx->n_threads; t++) {
    cpu_scratch *s = &be->scratch[t];
    memset(s, 0, sizeof *s);
    be->n_scratch = t + 1; /* so that destroy frees a half-made one */
    GBT_TRY(cpu_hist_scratch(be, s, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_HIST_BLOCK, sizeof *s->gh, &s->gh, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->g, &s->g, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->h, &s->h, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->gain, &s->gain, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->level, &s->level, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->ratio, &s->ratio, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->sum, &s->sum, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->rows, &s->rows, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_SPLIT_FEATS, sizeof *s->rest, &s->rest, err));
    size_t block = (size_t)CPU_BLOCK * (2 + (size_t)be->n_outputs);
    GBT_TRY(gbt_mem_array(&be->mem, block, sizeof *s->block, &s->block, err));
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)be->n_outputs, sizeof *s->pointer, &s->pointer, err));
    if (be->layout->n_sparse == 0) continue;
    GBT_TRY(gbt_mem_zeros(&be->mem, be->sparse.tile_rows, sizeof *s->mark, &s->mark, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_TASK_ROWS, sizeof *s->side, &s->side, err));
  }
  return GBT_OK;
}

gbt_status cpu_parallel(gbt_ctx *ctx, int64_t n_tasks, double ns, gbt_task_fn fn, void *arg, gbt_error *err) {
  if (ns >= CPU_WORTH_THREADS_NS) return gbt_parallel(ctx, n_tasks, fn, arg, err);
  GBT_TRY(gbt_ctx_poll(ctx, err));
  for (int64_t t = 0; t < n_tasks; t++) fn(arg, t, 0);
  return GBT_OK;
}

typedef struct zero_pass {
  char *at;
  size_t bytes;
} zero_pass;

enum { ZERO_BYTES = 1 << 20 };

static void zero_task(void *arg, int64_t task, int thread) {
  const zero_pass *pass = arg;
  size_t beg = (size_t)task * ZERO_BYTES, rest = pass->bytes - beg;
  (void)thread;
  memset(pass->at + beg, 0, rest < ZERO_BYTES ? rest : ZERO_BYTES);
}

gbt_status cpu_zero(gbt_ctx *ctx, void *at, size_t bytes, gbt_error *err) {
  zero_pass pass = {at, bytes};
  return cpu_parallel(ctx, (int64_t)((bytes + ZERO_BYTES - 1) / ZERO_BYTES), 0.3 * (double)bytes, zero_task, &pass,
                      err);
}

gbt_units cpu_units(const cpu_backend *be) {
  const gbt_scale *scale = &be->scale[be->task.output];
  double wide = be->wide[be->task.output] ? 1.0 : 65536.0;
  gbt_units unit = {scale->down_g * wide, scale->down_h * wide};
  return unit;
}

static void release_all(cpu_backend *be) {
  for (size_t i = 0; i < be->fr.n_nodes; i++) cpu_hist_release(be, &be->fr.node[i]);
}

static gbt_status begin_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                              gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  (void)n_trees;                            /* 1, see most_trees */
  GBT_TRY(cpu_scratch_ready(ctx, be, err)); /* the host may have given the gradients in a call with fewer threads */
  be->task = *task;
  GBT_TRY(cpu_gradients_of_tree(ctx, be, err));
  release_all(be);
  GBT_TRY(cpu_hist_fit(be, err));
  int64_t t0 = gbt_clock_ns();
  gbt_sum sum;
  GBT_TRY(cpu_rows_begin(ctx, be, &sum, err));
  be->n_tree_feats = gbt_features_of_tree(be->rules, task->tree, be->tree_feats, be->rank);
  self->seconds[GBT_PHASE_PARTITION] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return gbt_frontier_root(&be->fr, be->n_in, sum, cpu_units(be), err);
}

/* Nodes to split in one step. Each needs one more histogram. Those of the last level that has any are given back as
 * soon as they are searched (cpu_find_splits), so there small steps save memory: half of the tree's histograms. */
static size_t step_size(const cpu_backend *be) {
  size_t most = be->max_slots / 2;
  if (be->fr.policy.kind == GBT_LOSSGUIDE) { /* nodes ahead are for the threads; wide tables keep them busy without */
    size_t ahead = CPU_AHEAD_SLOTS / ((size_t)be->layout->n_slots + 1);
    if (ahead < 1) ahead = 1;
    if (most > ahead) most = ahead;
  }
  for (size_t i = 0; be->fr.policy.max_depth > 0 && i < be->fr.n_open; i++) {
    const gbt_grow_node *node = &be->fr.node[be->fr.open[i]];
    if (cpu_children_split(be, node) && !cpu_grandchildren_split(be, node) && !cpu_level_keeps(be, node->depth + 1))
      return most < CPU_LAST_STEP ? most : CPU_LAST_STEP;
  }
  return most;
}

static gbt_status choose(gbt_ctx *ctx, gbt_backend *self, int32_t *n, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  if (be->fr.policy.kind == GBT_SYMMETRIC) GBT_TRY(cpu_level_decide(ctx, be, err));
  GBT_TRY(gbt_frontier_select(&be->fr, step_size(be), err));
  for (size_t i = 0; i < be->fr.n_dropped; i++) cpu_hist_release(be, &be->fr.node[be->fr.next[be->fr.dropped_beg + i]]);
  *n = (int32_t)be->fr.n_chosen;
  if (*n > 0) return GBT_OK;
  release_all(be);
  return gbt_frontier_settle(&be->fr, err);
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
                                        .build_hist = cpu_build_hist,
                                        .find_splits = cpu_find_splits,
                                        .select = choose,
                                        .partition = cpu_partition,
                                        .finish_trees = cpu_finish_tree,
                                        .scores = scores};

gbt_status gbt_cpu_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  cpu_backend *be = NULL;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *be, &be, err));
  be->base.ops = &cpu_ops;
  be->base.most_trees = 1;
  be->mem = ctx->mem;
  be->params = spec->params;
  be->loss = spec->loss;
  be->n_outputs = spec->n_outputs;
  be->rules = spec->rules;
  be->kernels = gbt_cpu_kernels(ctx->simd);
  be->n_valid = spec->n_valid;
  GBT_TRY_GOTO(gbt_mem_zeros(&be->mem, (size_t)spec->n_valid + 1, sizeof *be->sets, &be->sets, err), done);
  for (int32_t s = 0; s <= spec->n_valid; s++) be->sets[s] = gbt_dataset_ref(spec->sets[s]);
  be->cuts = be->sets[0]->cuts;
  be->layout = &be->sets[0]->pages->layout;
  be->n_features = be->cuts->n_features;
  be->n_rows = be->sets[0]->n_rows;
  gbt_frontier_init(&be->fr, &be->mem, be->params, spec->monotone, be->rules->n_sets > 0 ? be->rules->n_words : 0);
  for (int i = 0; i < CPU_HIST_LOCKS; i++) {
    if (!gbt_lock_init(&be->lock[i])) {
      status = gbt_fail(err, GBT_E_MEM, "the system refuses a mutex");
      goto done;
    }
    be->n_locks = i + 1;
  }
  be->constrained = be->fr.policy.monotone != NULL || be->fr.policy.reg.max_delta_step > 0.0;
  GBT_TRY_GOTO(plan_features(be, err), done);
  GBT_TRY_GOTO(cpu_singles_make(be, err), done);
  GBT_TRY_GOTO(cpu_columns_make(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_sparse_make(ctx, be, err), done);
  GBT_TRY_GOTO(cpu_level_open(be, err), done);
  GBT_TRY_GOTO(alloc_rows(be, err), done);
  GBT_TRY_GOTO(init_scores(ctx, be, spec, err), done);
  GBT_TRY_GOTO(cpu_scratch_ready(ctx, be, err), done);
done:
  if (status == GBT_OK)
    *out = &be->base;
  else
    destroy(&be->base);
  return status;
}
