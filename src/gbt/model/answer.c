/* Answers of a model: scores by the predictors, then what the objective makes of them. See answer.h. */
#include "answer.h"

#include "../base/parallel.h"
#include "../data/binding.h"
#include "model_impl.h"

enum {
  CLASS_ROWS = 1 << 12, /* rows of a task at most: their highest probabilities lie on the stack */
  CLASS_STEPS = 1 << 20 /* looks of a task, about */
};

const char *gbt_answer_name(int answer) {
  switch ((gbt_answer)answer) {
  case GBT_ANSWER_LINK:
    return "link";
  case GBT_ANSWER_RESPONSE:
    return "response";
  case GBT_ANSWER_CLASS:
    return "class";
  case GBT_ANSWER_LEAF:
    return "leaf";
  }
  return NULL;
}

typedef struct class_run {
  const double *p; /* n_rows x n_outputs */
  int64_t n_rows, task_rows;
  int32_t n_outputs;
  int32_t *out;
} class_run;

/* The first of the largest responses, of n <= CLASS_ROWS rows from beg on. */
static void best_of_many(const class_run *run, int64_t beg, int64_t n) {
  double top[CLASS_ROWS];
  int32_t *best = run->out + beg;
  for (int64_t r = 0; r < n; r++) {
    top[r] = run->p[beg + r];
    best[r] = 0;
  }
  for (int32_t k = 1; k < run->n_outputs; k++) {
    const double *p = run->p + k * run->n_rows + beg;
    for (int64_t r = 0; r < n; r++) {
      int above = p[r] > top[r];
      top[r] = above ? p[r] : top[r];
      best[r] = above ? k : best[r];
    }
  }
}

static void class_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const class_run *run = arg;
  int64_t beg = task * run->task_rows, n = run->n_rows - beg < run->task_rows ? run->n_rows - beg : run->task_rows;
  if (run->n_outputs > 1)
    best_of_many(run, beg, n);
  else
    for (int64_t r = beg; r < beg + n; r++) run->out[r] = run->p[r] > 0.5;
}

gbt_status gbt_model_has_classes(const gbt_model *model, gbt_error *err) {
  const gbt_objective_info *info = gbt_objective_info_of(model->parts.objective.kind);
  if (info->labels == GBT_LABELS_BINARY || info->labels == GBT_LABELS_CLASS) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "type", "a model with objective \"%s\" has no classes; ask for responses",
                     info->name);
}

/* x: n_rows x n_outputs responses. */
static gbt_status classes_of(gbt_ctx *ctx, const gbt_model *model, int64_t n_rows, const double *x, int32_t *classes,
                             gbt_error *err) {
  class_run run = {x, n_rows, CLASS_ROWS, model->parts.objective.n_outputs, classes};
  while (run.task_rows > 32 && run.task_rows * run.n_outputs > CLASS_STEPS) run.task_rows /= 2;
  return gbt_parallel(ctx, (n_rows + run.task_rows - 1) / run.task_rows, class_task, &run, err);
}

static int on_device(const gbt_answer_place *at, gbt_device_work work) {
  return at->api != NULL && gbt_device_offers(at->api, work);
}

static gbt_status leaves_of(gbt_ctx *ctx, const gbt_model *model, const gbt_answer_place *at,
                            const gbt_binding *binding, gbt_tree_range trees, int32_t *out, gbt_error *err) {
  const gbt_forest_view *forest = &model->parts.forest;
  if (on_device(at, GBT_WORK_LEAVES))
    return gbt_device_leaves(ctx, at->api, at->device, forest, binding, trees, out, err);
  return at->keep != NULL ? gbt_predictor_leaves(ctx, at->keep, binding, trees, out, err)
                          : gbt_predict_leaves(ctx, forest, binding, trees, out, err);
}

static gbt_status scores_of(gbt_ctx *ctx, const gbt_model *model, const gbt_answer_place *at,
                            const gbt_binding *binding, gbt_tree_range trees, const double *offset, double *out,
                            gbt_error *err) {
  const gbt_forest_view *forest = &model->parts.forest;
  if (on_device(at, GBT_WORK_SCORES) && forest->sums.rule == GBT_SUM_PLAIN &&
      forest->linear.n_leaves == 0) /* devices know no other sums, and constant leaves */
    return gbt_device_scores(ctx, at->api, at->device, forest, binding, trees, offset, out, err);
  return at->keep != NULL ? gbt_predictor_scores(ctx, at->keep, binding, trees, offset, out, err)
                          : gbt_predict_scores(ctx, forest, binding, trees, offset, out, err);
}

gbt_status gbt_model_answer(gbt_ctx *ctx, const gbt_model *model, const gbt_answer_place *at,
                            const gbt_binding *binding, gbt_answer what, gbt_tree_range trees, const double *offset,
                            void *out, gbt_error *err) {
  const gbt_answer_place nothing_kept = {.api = NULL};
  const gbt_objective *objective = &model->parts.objective;
  const int64_t n_rows = binding->table->n_rows;
  double *scores = NULL;
  gbt_status status = GBT_OK;
  if (at == NULL) at = &nothing_kept;
  switch (what) {
  case GBT_ANSWER_LEAF:
    return leaves_of(ctx, model, at, binding, trees, out, err);
  case GBT_ANSWER_LINK:
  case GBT_ANSWER_RESPONSE:
    GBT_TRY(scores_of(ctx, model, at, binding, trees, offset, out, err));
    return what == GBT_ANSWER_LINK ? GBT_OK : gbt_predict_response(ctx, objective, n_rows, out, err);
  case GBT_ANSWER_CLASS:
    GBT_TRY(gbt_model_has_classes(model, err));
    GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_rows, (size_t)objective->n_outputs * sizeof *scores, &scores, err));
    GBT_TRY_GOTO(scores_of(ctx, model, at, binding, trees, offset, scores, err), done);
    GBT_TRY_GOTO(gbt_predict_response(ctx, objective, n_rows, scores, err), done);
    GBT_TRY_GOTO(classes_of(ctx, model, n_rows, scores, out, err), done);
  }
done:
  gbt_mem_free(&ctx->mem, scores);
  return status;
}
