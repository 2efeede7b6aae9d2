/* Gradients of discrete hazards: of single rows, one for each interval of time (objective/hazard.h). A device has the
 * labels only, so they are made here, for all outputs at once. */
#include "../base/parallel.h"
#include "../objective/intervals.h"
#include "joint_impl.h"

enum { TASK_CELLS = 16384 };

typedef struct job {
  const gbt_joint *joint;
  const double *score;
  int64_t task_rows;
} job;

static void gradients_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_joint *joint = j->joint;
  const gbt_rows *rows = &joint->rows;
  const int64_t beg = task * j->task_rows, end = rows->n - beg < j->task_rows ? rows->n : beg + j->task_rows;
  (void)thread;
  for (int32_t k = 0; k < joint->objective.n_outputs; k++)
    for (int64_t i = beg; i < end; i++) {
      const int64_t at = (int64_t)k * rows->n + i;
      const gbt_gh r = gbt_hazard_gradient(j->score[at], gbt_interval_label(&joint->objective, rows, i, k));
      joint->g[at] = r.g;
      joint->h[at] = r.h;
    }
}

gbt_status joint_intervals_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score, gbt_error *err) {
  job j = {joint, score, gbt_task_rows(TASK_CELLS, joint->objective.n_outputs)};
  return gbt_parallel(ctx, (joint->rows.n + j.task_rows - 1) / j.task_rows, gradients_task, &j, err);
}
