/* How leaves become scores, for both ways through the trees: the start of the scores, the values of the leaves that
 * rows have reached, and what some models do at the end (gbt_sums). */
#include "predict_job.h"

#include "../base/parallel.h"

enum { FILL_ROWS = 1 << 16 }; /* rows of a task that only fills */

int32_t gbti_predict_output(const gbt_forest_view *forest, uint64_t t) {
  uint64_t n_parallel = (uint64_t)forest->n_parallel, n_outputs = (uint64_t)forest->n_outputs;
  GBT_ASSERT(forest->n_leaf_outputs == 1);
  return n_outputs == 1 ? 0 : (int32_t)(t % (n_outputs * n_parallel) / n_parallel);
}

static double as_float(double x) { return (double)(float)x; }

/* Adds the vectors of the leaves nodes[pos[r]] to all outputs of n rows. */
static void add_vectors(const gbti_predict_job *job, const gbt_node *nodes, int64_t row, int32_t n,
                        const uint32_t *pos) {
  const gbt_forest_view *forest = job->forest;
  uint64_t width = (uint64_t)forest->n_leaf_outputs;
  for (int32_t k = 0; k < forest->n_leaf_outputs; k++) {
    const double *values = forest->leaf_values + k;
    double *restrict out = job->scores + k * job->n_rows + row;
    if (forest->sums.rule == GBT_SUM_FLOAT)
      for (int32_t r = 0; r < n; r++) out[r] = as_float(out[r] + values[nodes[pos[r]].arg.vector * width]);
    else
      for (int32_t r = 0; r < n; r++) out[r] += values[nodes[pos[r]].arg.vector * width];
  }
}

void gbti_predict_emit(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos) {
  const gbt_forest_view *forest = job->forest;
  if (job->leaves != NULL) {
    int32_t *out = job->leaves + (int64_t)(t - job->first_tree) * job->n_rows + row;
    for (int32_t r = 0; r < n; r++) out[r] = (int32_t)pos[r];
    return;
  }
  const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
  if (forest->n_leaf_outputs > 1) {
    add_vectors(job, nodes, row, n, pos);
    return;
  }
  double *restrict out = job->scores + gbti_predict_output(forest, t) * job->n_rows + row;
  GBT_ASSERT(forest->linear.n_leaves == 0);
  if (forest->sums.rule == GBT_SUM_FLOAT)
    for (int32_t r = 0; r < n; r++) out[r] = as_float(out[r] + nodes[pos[r]].arg.value);
  else
    for (int32_t r = 0; r < n; r++) out[r] += nodes[pos[r]].arg.value;
}

void gbti_predict_emit_linear(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos,
                              const int32_t *x) {
  const gbt_forest_view *forest = job->forest;
  const gbt_linear_view *linear = &forest->linear;
  const uint64_t beg = forest->trees[t].node_beg;
  double *out = job->scores + gbti_predict_output(forest, t) * job->n_rows + row;
  for (int32_t r = 0; r < n; r++, x += linear->n_grids) {
    const uint32_t of = linear->of[beg + pos[r]];
    double value = forest->nodes[beg + pos[r]].arg.value;
    if (of > 0) {
      const gbt_linear_leaf *leaf = &linear->leaf[of - 1];
      const gbt_linear_term *term = linear->term + leaf->term_beg;
      int32_t its[GBT_LINEAR_MOST];
      int missing = 0;
      for (uint32_t k = 0; k < leaf->n_terms; k++) {
        its[k] = x[term[k].grid];
        missing |= its[k] == GBT_LINEAR_MISSING;
      }
      if (!missing) value = gbt_linear_value(leaf, term, its);
    }
    out[r] += value;
  }
}

void gbti_predict_emit_numbers(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos,
                               const double *x, int32_t width) {
  const gbt_forest_view *forest = job->forest;
  const gbt_linear_view *linear = &forest->linear;
  const uint64_t beg = forest->trees[t].node_beg;
  double *out = job->scores + gbti_predict_output(forest, t) * job->n_rows + row;
  for (int32_t r = 0; r < n; r++) {
    const uint32_t of = linear->of[beg + pos[r]];
    const double value = forest->nodes[beg + pos[r]].arg.value;
    out[r] += of > 0 ? gbt_linear_number(linear, &linear->leaf[of - 1], x + (int64_t)r * width, value) : value;
  }
}

/* ---- the start and the end ---- */

typedef struct fill_run {
  const gbti_predict_job *job;
  const double *offset;
  int64_t n_parts; /* tasks for each output */
  double rounds;   /* that predict */
} fill_run;

static void start_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const fill_run *run = arg;
  int64_t n_rows = run->job->n_rows, k = task / run->n_parts, beg = task % run->n_parts * FILL_ROWS;
  int64_t end = beg + FILL_ROWS < n_rows ? beg + FILL_ROWS : n_rows;
  const gbt_sum_rule rule = (gbt_sum_rule)run->job->forest->sums.rule;
  double base = run->job->forest->base[k], *out = run->job->scores + k * n_rows;
  const double *offset = run->offset == NULL ? NULL : run->offset + k * n_rows;
  if (rule == GBT_SUM_SCALED || rule == GBT_SUM_MEAN) base = 0.0;
  if (offset == NULL || rule == GBT_SUM_SCALED || rule == GBT_SUM_MEAN)
    for (int64_t r = beg; r < end; r++) out[r] = base;
  else
    for (int64_t r = beg; r < end; r++) out[r] = base + offset[r];
  for (int64_t r = beg; rule == GBT_SUM_FLOAT && r < end; r++) out[r] = as_float(out[r]);
}

gbt_status gbti_predict_start(gbt_ctx *ctx, const gbti_predict_job *job, const double *offset, gbt_error *err) {
  fill_run run = {job, offset, (job->n_rows + FILL_ROWS - 1) / FILL_ROWS, 0.0};
  return gbt_parallel(ctx, run.n_parts * job->forest->n_outputs, start_task, &run, err);
}

static void finish_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const fill_run *run = arg;
  int64_t n_rows = run->job->n_rows, k = task / run->n_parts, beg = task % run->n_parts * FILL_ROWS;
  int64_t end = beg + FILL_ROWS < n_rows ? beg + FILL_ROWS : n_rows;
  const gbt_forest_view *forest = run->job->forest;
  double base = forest->base[k], scale = forest->sums.scale, *out = run->job->scores + k * n_rows;
  if (forest->sums.rule == GBT_SUM_SCALED)
    for (int64_t r = beg; r < end; r++) out[r] = scale * out[r] + base;
  else
    for (int64_t r = beg; r < end; r++) out[r] = out[r] / run->rounds + base;
  if (run->offset == NULL) return;
  for (int64_t r = beg; r < end; r++) out[r] += run->offset[k * n_rows + r];
}

gbt_status gbti_predict_finish(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, const double *offset,
                               gbt_error *err) {
  const gbt_forest_view *forest = job->forest;
  if (forest->sums.rule != GBT_SUM_SCALED && forest->sums.rule != GBT_SUM_MEAN) return GBT_OK;
  const double rounds = (double)((trees.end - trees.beg) / gbt_trees_per_round(forest));
  fill_run run = {job, offset, (job->n_rows + FILL_ROWS - 1) / FILL_ROWS, rounds > 1.0 ? rounds : 1.0};
  return gbt_parallel(ctx, run.n_parts * forest->n_outputs, finish_task, &run, err);
}
