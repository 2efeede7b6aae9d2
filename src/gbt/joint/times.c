/* Gradients of censored times: of single rows, at a scale that all rows estimate together (objective/aft.h). */
#include "../base/parallel.h"
#include "../objective/aft.h"
#include "../objective/aft_scale.h"
#include "joint_impl.h"

enum { TASK_ROWS = 16384 };

typedef struct job {
  const gbt_joint *joint;
  const double *score;
} job;

static void gradients_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_rows *rows = &j->joint->rows;
  const int64_t beg = task * TASK_ROWS, end = rows->n - beg < TASK_ROWS ? rows->n : beg + TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const gbt_gh r =
        gbt_aft_gradient(j->score[i], gbt_label_of(rows, i), gbt_upper_of(rows, i), j->joint->objective.param);
    j->joint->g[i] = r.g;
    j->joint->h[i] = r.h;
  }
}

gbt_status joint_times_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score, gbt_error *err) {
  job j = {joint, score};
  GBT_ASSERT(gbt_joint_scale(joint) > 0.0);
  return gbt_parallel(ctx, (joint->rows.n + TASK_ROWS - 1) / TASK_ROWS, gradients_task, &j, err);
}

gbt_status gbt_joint_scale_steps(gbt_ctx *ctx, gbt_joint *joint, const double *score, int most, gbt_error *err) {
  double scale = gbt_joint_scale(joint);
  if (!joint->estimates) return GBT_OK;
  GBT_TRY(gbt_aft_scale_steps(ctx, &joint->objective, &joint->rows, score, most, &scale, err));
  gbt_joint_set_scale(joint, scale);
  return GBT_OK;
}

double gbt_joint_scale(const gbt_joint *joint) { return joint->objective.param[GBT_AFT_PARAM_SCALE]; }

void gbt_joint_set_scale(gbt_joint *joint, double scale) {
  GBT_ASSERT(scale > 0.0);
  joint->objective.param[GBT_AFT_PARAM_SCALE] = scale;
}
