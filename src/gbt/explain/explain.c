/* The call: what is asked for, the base of scores, batches of trees, and a player's own part without its interactions.
 * Rows are independent, and a tree's own sums are added as a whole: so results do not depend on blocks or threads. */
#include "explain.h"

#include "../base/parallel.h"
#include "../data/job.h"
#include "explain_impl.h"
#include "slopes.h"

/* ---- the base, and a player's own part without its interactions ---- */

static void start_task(void *arg, int64_t task, int thread) {
  (void)thread;
  gbti_explain_run *run = arg;
  const int64_t row = task * GBTI_ROWS, end = row + GBTI_ROWS < run->n_rows ? row + GBTI_ROWS : run->n_rows;
  for (int32_t k = 0; k < run->forest->n_outputs; k++) {
    double *out = run->out + (size_t)k * gbti_n_columns(run) * (size_t)run->n_rows;
    for (size_t c = 0; c < gbti_n_columns(run); c++)
      for (int64_t r = row; r < end; r++) out[c * (size_t)run->n_rows + (size_t)r] = 0.0;
    const size_t base = (size_t)run->spec->n_players;
    double *to = gbti_column(run, k, base, base);
    for (int64_t r = row; r < end; r++) {
      to[r] = run->forest->base[k];
      if (run->offset != NULL) to[r] += run->offset[k * run->n_rows + r];
    }
  }
}

static void finish_task(void *arg, int64_t task, int thread) {
  (void)thread;
  gbti_explain_run *run = arg;
  const int64_t row = task * GBTI_ROWS, end = row + GBTI_ROWS < run->n_rows ? row + GBTI_ROWS : run->n_rows;
  const size_t n = (size_t)run->spec->n_players;
  for (int32_t k = 0; k < run->forest->n_outputs; k++)
    for (size_t b = 0; b < n; b++)
      for (size_t a = 0; a < b; a++) {
        double *upper = gbti_column(run, k, a, b), *lower = gbti_column(run, k, b, a);
        double *first = gbti_column(run, k, a, a), *second = gbti_column(run, k, b, b);
        for (int64_t r = row; r < end; r++) {
          upper[r] = lower[r] = 0.5 * upper[r];
          first[r] -= upper[r];
          second[r] -= upper[r];
        }
      }
}

static void means_task(void *arg, int64_t task, int thread) {
  (void)thread;
  gbti_explain_run *run = arg;
  const size_t base = (size_t)run->spec->n_players;
  const int64_t row = task * GBTI_ROWS, end = row + GBTI_ROWS < run->n_rows ? row + GBTI_ROWS : run->n_rows;
  for (size_t j = 0; j < run->n_entries; j++)
    for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++) {
      const gbti_game *game = run->entry[j].game;
      double *to = gbti_column(run, gbti_first_output(run->forest, game->tree) + k, base, base);
      for (int64_t r = row; r < end; r++) to[r] += game->mean[k];
    }
}

/* ---- the background ---- */

static void read_task(void *arg, int64_t task, int thread) {
  (void)thread;
  gbti_explain_run *run = arg;
  const int64_t n_blocks = (run->n_back + GBTI_ROWS - 1) / GBTI_ROWS;
  int64_t cursor = 0;
  double *x = run->back + task * n_blocks * GBTI_ROWS;
  for (int64_t b = 0; b < n_blocks; b++, x += GBTI_ROWS) {
    const int64_t row = b * GBTI_ROWS;
    const int32_t n = run->n_back - row < GBTI_ROWS ? (int32_t)(run->n_back - row) : GBTI_ROWS;
    gbt_binding_read(run->spec->background, row, n, &run->feat[task], 1, &cursor, x, 1);
    for (int32_t r = n; r < GBTI_ROWS; r++) x[r] = 0.0;
    if (b % 256 == 0 && gbti_job_stopped(run->job, thread)) return;
  }
}

/* The numbers of its rows, feature by feature: trees ask them again and again. */
static gbt_status read_background(gbti_explain_run *run, gbt_error *err) {
  const gbt_mem *mem = &run->ctx->mem;
  if (run->spec->background == NULL) return GBT_OK;
  run->n_back = run->spec->background->table->n_rows;
  const size_t rows = ((size_t)run->n_back + GBTI_ROWS - 1) / GBTI_ROWS * GBTI_ROWS;
  GBT_TRY(gbt_mem_array(mem, (size_t)run->n_feats * sizeof *run->back, rows, &run->back, err));
  GBT_TRY(gbt_mem_array(mem, GBTI_BETA * GBTI_BETA, sizeof *run->beta, &run->beta, err));
  gbti_beta_fill(run->beta);
  return gbti_job_run(run->job, run->n_feats, read_task, run, err);
}

/* ---- the call ---- */

/* The features that the trees split by, and those that their leaves are linear in. */
static gbt_status list_features(gbti_explain_run *run, gbt_error *err) {
  const gbt_forest_view *forest = run->forest;
  const size_t n = (size_t)forest->n_features;
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, n, sizeof *run->feat, &run->feat, err));
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, n, sizeof *run->slot, &run->slot, err));
  for (uint64_t t = run->spec->trees.beg; t < run->spec->trees.end; t++) {
    const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (nodes[i].left != 0) run->slot[nodes[i].feat & GBT_NODE_FEATURE] = 1;
  }
  for (uint32_t g = 0; g < forest->linear.n_grids; g++) run->slot[forest->linear.grid[g].feat] = 1;
  for (int32_t f = 0; f < forest->n_features; f++) {
    if (!run->slot[f]) continue;
    run->slot[f] = run->n_feats;
    run->feat[run->n_feats++] = f;
  }
  return GBT_OK;
}

static gbt_status check(const gbt_forest_view *forest, const gbt_binding *binding, const gbt_explain_spec *spec,
                        gbt_error *err) {
  const gbt_binding *both[2] = {binding, spec->background};
  for (int i = 0; i < 2; i++)
    if (both[i] != NULL && both[i]->schema->n_features != forest->n_features)
      return gbt_fail(err, GBT_E_ARG, "the table is bound to %d features, the forest has %d",
                      (int)both[i]->schema->n_features, (int)forest->n_features);
  if (spec->trees.beg > spec->trees.end || spec->trees.end > forest->n_trees)
    return gbt_fail_on(err, GBT_E_ARG, "trees", "there are no such trees");
  if (spec->background != NULL && spec->background->table->n_rows == 0)
    return gbt_fail_on(err, GBT_E_DATA, "background", "the background has no rows; give one at least");
  for (int32_t f = 0; f < forest->n_features; f++)
    if (spec->player[f] < 0 || spec->player[f] >= spec->n_players)
      return gbt_fail(err, GBT_E_ARG, "feature %d has no player", (int)f + 1);
  return GBT_OK;
}

static gbt_status explain(gbti_explain_run *run, gbt_error *err) {
  const gbt_explain_spec *spec = run->spec;
  const int64_t n_blocks = (run->n_rows + GBTI_ROWS - 1) / GBTI_ROWS;
  GBT_TRY(list_features(run, err));
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, (size_t)run->ctx->n_threads, sizeof *run->work, &run->work, err));
  for (int t = 0; t < run->ctx->n_threads; t++) run->work[t].mem = run->ctx->mem;
  for (int t = 0; t < run->ctx->n_threads; t++) GBT_TRY(gbti_work_open(run, &run->work[t], err));
  GBT_TRY(gbti_job_run(run->job, n_blocks, start_task, run, err));
  GBT_TRY(read_background(run, err));
  for (uint64_t t = spec->trees.beg; t < spec->trees.end || run->n_parts > 0;) {
    GBT_TRY(gbti_prepare(run, &t, err));
    GBT_TRY(gbti_job_run(run->job, n_blocks, means_task, run, err));
    GBT_TRY(run->rows(run, err));
    gbti_drop_entries(run);
  }
  GBT_TRY(gbti_explain_slopes(run, err));
  return spec->interactions ? gbti_job_run(run->job, n_blocks, finish_task, run, err) : GBT_OK;
}

gbt_status gbti_explain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                        const gbt_explain_spec *spec, const double *offset, double *out, const gbti_explain_run *by,
                        gbt_error *err) {
  gbti_job job;
  gbti_explain_run run = *by;
  GBT_TRY(check(forest, binding, spec, err));
  run.ctx = ctx;
  run.forest = forest;
  run.binding = binding;
  run.spec = spec;
  run.offset = offset;
  run.out = out;
  run.n_rows = binding->table->n_rows;
  run.kernel = gbti_kernel_for(ctx->simd);
  run.job = &job;
  if (run.n_rows == 0) return GBT_OK;
  gbti_job_start(&job, ctx);
  gbt_status status = explain(&run, err);
  gbti_drop_entries(&run);
  for (int t = 0; t < ctx->n_threads && run.work != NULL; t++) gbti_work_close(&run.work[t]);
  void *blocks[] = {run.work, run.entry, run.feat, run.slot, run.back, run.beta};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&ctx->mem, blocks[i]);
  return status;
}

/* ---- forests that are not plain ---- */

typedef struct scale_run {
  const gbt_forest_view *forest;
  const double *offset;
  double *out;
  double factor;
  int64_t n_rows;
  size_t n_columns, base; /* of an output; where the base is */
} scale_run;

static void scale_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const scale_run *run = arg;
  const int64_t n_rows = run->n_rows, k = task / (int64_t)run->n_columns, c = task % (int64_t)run->n_columns;
  double *out = run->out + task * n_rows;
  for (int64_t r = 0; r < n_rows; r++) out[r] *= run->factor;
  if ((size_t)c != run->base) return;
  for (int64_t r = 0; r < n_rows; r++) out[r] += run->forest->base[k];
  if (run->offset == NULL) return;
  for (int64_t r = 0; r < n_rows; r++) out[r] += run->offset[k * n_rows + r];
}

/* Trees add a multiple of their values to a score: so do contributions, and base and offset come last. */
static gbt_status scale(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                        const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  const uint64_t rounds = (spec->trees.end - spec->trees.beg) / gbt_trees_per_round(forest);
  const size_t width = (size_t)spec->n_players + 1;
  scale_run run = {.forest = forest, .offset = offset, .out = out, .n_rows = binding->table->n_rows};
  run.factor = forest->sums.rule == GBT_SUM_SCALED ? forest->sums.scale : 1.0 / (double)(rounds > 1 ? rounds : 1);
  run.n_columns = spec->interactions ? width * width : width;
  run.base = run.n_columns - 1;
  return gbt_parallel(ctx, (int64_t)run.n_columns * forest->n_outputs, scale_task, &run, err);
}

static gbt_status explain_plain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                                const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  if (spec->api != NULL && forest->linear.n_leaves == 0 && gbt_device_offers(spec->api, GBT_WORK_CONTRIBUTIONS))
    return gbt_device_explain(ctx, spec->api, spec->device, forest, binding, spec, offset, out, err);
  const gbti_explain_run by = {
      .rows = gbti_explain_rows, .batch_bytes = GBTI_BATCH_BYTES, .part_bytes = GBTI_PART_BYTES};
  return gbti_explain(ctx, forest, binding, spec, offset, out, &by, err);
}

gbt_status gbt_explain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                       const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  gbt_forest_view trees = *forest;
  double *none;
  if (gbt_linear_of_numbers(&forest->linear) && spec->background == NULL)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_model",
                       "contributions of linear leaves by cover need the means of their columns, which the other "
                       "program's file does not have; compare with rows instead (`background`)");
  if (forest->sums.rule != GBT_SUM_SCALED && forest->sums.rule != GBT_SUM_MEAN)
    return explain_plain(ctx, forest, binding, spec, offset, out, err);
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)forest->n_outputs, sizeof *none, &none, err));
  trees.base = none;
  gbt_status status = explain_plain(ctx, &trees, binding, spec, NULL, out, err);
  if (status == GBT_OK) status = scale(ctx, forest, binding, spec, offset, out, err);
  gbt_mem_free(&ctx->mem, none);
  return status;
}
