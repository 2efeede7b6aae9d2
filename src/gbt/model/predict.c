/* Predictions: which way they go, and responses. The ways themselves are in predict_direct.c and predict_block.c, how
 * leaves become scores in predict_emit.c (see predict_job.h). */
#include "../base/parallel.h"
#include "../objective/distribution.h"
#include "../objective/levels.h"
#include "../objective/response.h"
#include "../objective/softmax.h"
#include "predict_table.h"

enum {
  RESPONSE_ROWS = 1 << 13, /* rows of a task that computes responses */
  RESPONSE_BLOCK = 128,    /* rows whose sums of exponentials are held at a time */
  LEAST_ROWS = 32,         /* fewer are not packed for */
  LEAST_KEPT = 12,         /* fewer are walked directly, even where packs are kept */
  KEEP_BYTES = 1 << 25     /* most of a predictor's packs */
};

/* From how many rows on packing pays, for each node of a tree. Measured with 500 trees of 511 nodes: packing costs
 * 11 ns a node and saves 21 of 27 ns a row and tree; with tables 17 ns and 22 of 24 ns. */
#define PACK_ROWS_PER_NODE 0.5
#define TABLE_ROWS_PER_NODE 0.9
#define NODES_PER_VALUE 0.125 /* a further value of every leaf costs as much as so many nodes, about */

gbt_status gbti_predict_check(const gbti_predict_job *job, gbt_tree_range trees, gbt_error *err) {
  const gbt_forest_view *forest = job->forest;
  if (job->binding->schema->n_features != forest->n_features)
    return gbt_fail(err, GBT_E_ARG, "the table is bound to %d features, the forest has %d",
                    (int)job->binding->schema->n_features, (int)forest->n_features);
  if (trees.beg > trees.end || trees.end > forest->n_trees)
    return gbt_fail_on(err, GBT_E_ARG, "trees", "there are no trees %llu to %llu; the model has %llu",
                       (unsigned long long)trees.beg + 1, (unsigned long long)trees.end,
                       (unsigned long long)forest->n_trees);
  return GBT_OK;
}

struct gbt_predictor {
  gbt_mem mem;
  gbt_forest_view forest;
  gbt_tree_range trees; /* those of the packs, one pack after the other; empty when there are none */
  gbti_walk walk;       /* gbti_walk_here when they were made */
  size_t n_packs, cap_packs;
  gbti_pack **packs;
  double n_walked; /* rows times trees that were walked directly */
  int busy;        /* a call is under way: one that its poll() lets in does without the packs */
};

static void drop_packs(gbt_predictor *p) {
  for (size_t i = 0; i < p->n_packs; i++) gbti_pack_free(p->packs[i]);
  p->n_packs = 0;
  p->trees.beg = p->trees.end = 0;
}

gbt_status gbt_predictor_new(const gbt_mem *mem, const gbt_forest_view *forest, gbt_predictor **out, gbt_error *err) {
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof **out, out, err));
  (*out)->mem = *mem;
  (*out)->forest = *forest;
  return GBT_OK;
}

void gbt_predictor_free(gbt_predictor *predictor) {
  if (predictor == NULL) return;
  gbt_mem mem = predictor->mem;
  drop_packs(predictor);
  gbt_mem_free(&mem, predictor->packs);
  gbt_mem_free(&mem, predictor);
}

/* keep: what was walked before counts, as if these rows had come together. */
static int worth_packing(const gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees,
                         const gbt_predictor *keep) {
  uint64_t n_nodes = 0, n_trees = trees.end - trees.beg;
  if (job->n_rows < (keep != NULL ? LEAST_KEPT : LEAST_ROWS)) return 0;
  for (uint64_t t = trees.beg; t < trees.end; t++) n_nodes += job->forest->trees[t].n_nodes;
  double n_walks = (double)job->n_rows * (double)n_trees + (keep != NULL ? keep->n_walked : 0.0);
  if (gbti_walk_here(ctx) == GBTI_WALK_NODES) return n_walks >= PACK_ROWS_PER_NODE * (double)n_nodes;
  const double more = NODES_PER_VALUE * (double)(job->forest->n_leaf_outputs - 1);
  return n_walks >= TABLE_ROWS_PER_NODE * (1.0 + more) * (double)n_nodes;
}

/* Takes a pack over; gives it back to memory, and those before, when it does not follow them or all are too large. */
static gbt_status keep_pack(gbt_predictor *p, gbti_pack *pack, gbt_error *err) {
  size_t n_bytes = pack->n_bytes;
  for (size_t i = 0; i < p->n_packs; i++) n_bytes += p->packs[i]->n_bytes;
  int fits = n_bytes <= KEEP_BYTES && p->trees.end == pack->trees.beg;
  gbt_status status = GBT_OK;
  if (fits) status = gbt_mem_grow(&p->mem, &p->packs, &p->cap_packs, p->n_packs + 1, sizeof *p->packs, err);
  if (!fits || status != GBT_OK) {
    drop_packs(p);
    gbti_pack_free(pack);
    return status;
  }
  p->packs[p->n_packs++] = pack;
  p->trees.end = pack->trees.end;
  return GBT_OK;
}

static gbt_status run_kept(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, const gbt_predictor *keep,
                           gbt_error *err) {
  for (size_t i = 0; i < keep->n_packs; i++) {
    gbt_tree_range some = keep->packs[i]->trees;
    if (some.beg < trees.beg) some.beg = trees.beg;
    if (some.end > trees.end) some.end = trees.end;
    if (some.beg < some.end) GBT_TRY(gbti_predict_packed(ctx, job, keep->packs[i], some, err));
  }
  return GBT_OK;
}

/* Packs trees run by run and walks them. */
static gbt_status run_packed(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, gbt_predictor *keep,
                             gbt_error *err) {
  if (keep != NULL) {
    drop_packs(keep);
    keep->trees.beg = keep->trees.end = trees.beg;
    keep->walk = gbti_walk_here(ctx);
    keep->n_walked = 0.0;
  }
  while (trees.beg < trees.end) {
    gbti_pack *pack;
    GBT_TRY(gbti_pack_new(ctx, job->forest, trees, &pack, err));
    gbt_tree_range some = pack->trees;
    gbt_status status = GBT_OK;
    if (some.end > some.beg) status = gbti_predict_packed(ctx, job, pack, some, err);
    if (keep == NULL || some.end == some.beg || status != GBT_OK)
      gbti_pack_free(pack);
    else
      status = keep_pack(keep, pack, err);
    if (some.end == some.beg) {
      some.end++;
      status = gbti_predict_direct(ctx, job, some, err);
    }
    if (status != GBT_OK) return status;
    trees.beg = some.end;
  }
  return GBT_OK;
}

static gbt_status run_best_way(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, gbt_predictor *keep,
                               gbt_error *err) {
  if (job->scores != NULL && job->forest->linear.n_leaves > 0) return gbti_predict_direct(ctx, job, trees, err);
  if (keep != NULL && job->n_rows >= LEAST_KEPT && keep->walk == gbti_walk_here(ctx) &&
      keep->trees.beg <= trees.beg && trees.end <= keep->trees.end)
    return run_kept(ctx, job, trees, keep, err);
  if (worth_packing(ctx, job, trees, keep)) return run_packed(ctx, job, trees, keep, err);
  if (keep != NULL && job->n_rows >= LEAST_KEPT)
    keep->n_walked += (double)job->n_rows * (double)(trees.end - trees.beg);
  return gbti_predict_direct(ctx, job, trees, err);
}

/* Walks all rows through the trees and emits the leaves. keep: NULL, or whose forest it is. */
static gbt_status run(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, gbt_predictor *keep,
                      gbt_error *err) {
  if (job->n_rows == 0 || trees.beg == trees.end) return GBT_OK;
  if (keep == NULL || keep->busy) return run_best_way(ctx, job, trees, NULL, err);
  keep->busy = 1;
  gbt_status status = run_best_way(ctx, job, trees, keep, err);
  keep->busy = 0;
  return status;
}

static gbt_status scores(gbt_ctx *ctx, const gbt_forest_view *forest, gbt_predictor *keep, const gbt_binding *binding,
                         gbt_tree_range trees, const double *offset, double *out, gbt_error *err) {
  gbti_predict_job job = {forest, binding, binding->table->n_rows, trees.beg, out, NULL};
  GBT_TRY(gbti_predict_check(&job, trees, err));
  GBT_TRY(gbti_predict_start(ctx, &job, offset, err));
  GBT_TRY(run(ctx, &job, trees, keep, err));
  return gbti_predict_finish(ctx, &job, trees, offset, err);
}

static gbt_status leaves(gbt_ctx *ctx, const gbt_forest_view *forest, gbt_predictor *keep, const gbt_binding *binding,
                         gbt_tree_range trees, int32_t *out, gbt_error *err) {
  gbti_predict_job job = {forest, binding, binding->table->n_rows, trees.beg, NULL, out};
  GBT_TRY(gbti_predict_check(&job, trees, err));
  return run(ctx, &job, trees, keep, err);
}

gbt_status gbt_predict_scores(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                              gbt_tree_range trees, const double *offset, double *out, gbt_error *err) {
  return scores(ctx, forest, NULL, binding, trees, offset, out, err);
}

gbt_status gbt_predict_leaves(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                              gbt_tree_range trees, int32_t *out, gbt_error *err) {
  return leaves(ctx, forest, NULL, binding, trees, out, err);
}

gbt_status gbt_predictor_scores(gbt_ctx *ctx, gbt_predictor *predictor, const gbt_binding *binding,
                                gbt_tree_range trees, const double *offset, double *out, gbt_error *err) {
  return scores(ctx, &predictor->forest, predictor, binding, trees, offset, out, err);
}

gbt_status gbt_predictor_leaves(gbt_ctx *ctx, gbt_predictor *predictor, const gbt_binding *binding,
                                gbt_tree_range trees, int32_t *out, gbt_error *err) {
  return leaves(ctx, &predictor->forest, predictor, binding, trees, out, err);
}

typedef struct response_run {
  gbt_objective objective;
  int64_t n_rows;
  int64_t task_rows;
  double *x;
} response_run;

/* Softmax of n <= RESPONSE_BLOCK rows; x: the first row's first score. */
static void softmax_block(double *x, int64_t n_rows, int32_t n_outputs, int64_t n) {
  double top[RESPONSE_BLOCK], sum[RESPONSE_BLOCK];
  gbt_softmax_rows(n, n_outputs, x, (size_t)n_rows, x, (size_t)n_rows, top, sum);
}

static void response_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const response_run *run = arg;
  int64_t beg = task * run->task_rows;
  int64_t end = run->n_rows - beg < run->task_rows ? run->n_rows : beg + run->task_rows;
  const int32_t n_outputs = run->objective.n_outputs;
  if (gbt_responses_by_classes(&run->objective)) {
    for (int64_t r = beg; r < end; r += RESPONSE_BLOCK)
      softmax_block(run->x + r, run->n_rows, n_outputs, end - r < RESPONSE_BLOCK ? end - r : RESPONSE_BLOCK);
    return;
  }
  if (gbt_is_distribution(&run->objective)) {
    gbt_distribution_natural(&run->objective, run->x + beg, run->x + run->n_rows + beg, end - beg);
    return;
  }
  for (int32_t k = 0; k < n_outputs; k++) {
    double *x = run->x + k * run->n_rows + beg;
    gbt_responses(&run->objective, x, end - beg, x);
  }
  if (gbt_has_levels(&run->objective))
    for (int64_t r = beg; r < end; r++) gbt_sort_levels(run->x + r, (size_t)run->n_rows, n_outputs);
}

gbt_status gbt_predict_response(gbt_ctx *ctx, const gbt_objective *objective, int64_t n_rows, double *x,
                                gbt_error *err) {
  GBT_TRY(gbt_objective_check(objective, err));
  response_run run = {*objective, n_rows, gbt_task_rows(RESPONSE_ROWS, objective->n_outputs), x};
  return gbt_parallel(ctx, (n_rows + run.task_rows - 1) / run.task_rows, response_task, &run, err);
}
