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

gbt_status gbt_model_finish(gbt_ctx *ctx, const gbt_model *model, gbt_answer what, int64_t n_rows, double *x,
                            int32_t *classes, gbt_error *err) {
  if (what != GBT_ANSWER_RESPONSE && what != GBT_ANSWER_CLASS) return GBT_OK;
  GBT_TRY(gbt_predict_response(ctx, &model->parts.objective, n_rows, x, err));
  if (what != GBT_ANSWER_CLASS) return GBT_OK;
  GBT_TRY(gbt_model_has_classes(model, err));
  class_run run = {x, n_rows, CLASS_ROWS, model->parts.objective.n_outputs, classes};
  while (run.task_rows > 32 && run.task_rows * run.n_outputs > CLASS_STEPS) run.task_rows /= 2;
  return gbt_parallel(ctx, (n_rows + run.task_rows - 1) / run.task_rows, class_task, &run, err);
}

static gbt_status scores_of(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_binding *binding,
                            gbt_tree_range trees, const double *offset, double *out, gbt_error *err) {
  return keep != NULL ? gbt_predictor_scores(ctx, keep, binding, trees, offset, out, err)
                      : gbt_predict_scores(ctx, &model->parts.forest, binding, trees, offset, out, err);
}

gbt_status gbt_model_answer(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_binding *binding,
                            gbt_answer what, gbt_tree_range trees, const double *offset, void *out, gbt_error *err) {
  const gbt_forest_view *forest = &model->parts.forest;
  int64_t n_rows = binding->table->n_rows;
  double *scores = NULL;
  gbt_status status = GBT_OK;
  switch (what) {
  case GBT_ANSWER_LEAF:
    return keep != NULL ? gbt_predictor_leaves(ctx, keep, binding, trees, out, err)
                        : gbt_predict_leaves(ctx, forest, binding, trees, out, err);
  case GBT_ANSWER_LINK:
  case GBT_ANSWER_RESPONSE:
    GBT_TRY(scores_of(ctx, model, keep, binding, trees, offset, out, err));
    return gbt_model_finish(ctx, model, what, n_rows, out, NULL, err);
  case GBT_ANSWER_CLASS:
    GBT_TRY(gbt_model_has_classes(model, err));
    GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_rows, (size_t)forest->n_outputs * sizeof *scores, &scores, err));
    GBT_TRY_GOTO(scores_of(ctx, model, keep, binding, trees, offset, scores, err), done);
    GBT_TRY_GOTO(gbt_model_finish(ctx, model, what, n_rows, scores, out, err), done);
  }
done:
  gbt_mem_free(&ctx->mem, scores);
  return status;
}
