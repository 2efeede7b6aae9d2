/* Gradients of the parameters of distributions: of single rows, whose two scores are both needed. They are made here
 * for all devices, for both outputs at once.
 *
 * A row whose gradient of the second parameter is large has at least as large a hessian: one outlier in a leaf says
 * (y - mean)^2 / sd^2 = 100, and a step by the Fisher information only would multiply the scale by e^50. So steps stay
 * below 1 where rows are unlike what their distributions say; other rows (|g| <= 1) keep their information. */
#include "../base/parallel.h"
#include "../objective/distribution.h"
#include "joint_impl.h"

enum { TASK_ROWS = 4096, BLOCK = 64 };

typedef struct job {
  const gbt_joint *joint;
  const double *score;
  gbt_distribution_range range;
  double unit;
} job;

static double limiting(gbt_gh gh) {
  const double size = gh.g < 0.0 ? -gh.g : gh.g;
  return size > 1.0 && size > gh.h ? size : gh.h;
}

static void gradients_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_joint *joint = j->joint;
  const gbt_rows *rows = &joint->rows;
  const int64_t n = rows->n, beg = task * TASK_ROWS, end = n - beg < TASK_ROWS ? n : beg + TASK_ROWS;
  const double *offset = rows->field[GBT_OFFSET];
  (void)thread;
  for (int64_t at = beg; at < end; at += BLOCK) {
    const int64_t m = end - at < BLOCK ? end - at : BLOCK;
    gbt_gh gh[BLOCK][2];
    gbt_distribution_gradients(&joint->objective, j->range, j->unit, j->score + at, j->score + n + at,
                               rows->field[GBT_LABEL] + at, offset != NULL ? offset + n + at : NULL, m, gh);
    for (int64_t i = 0; i < m; i++) {
      joint->g[at + i] = gh[i][0].g;
      joint->h[at + i] = gh[i][0].h;
      joint->g[n + at + i] = gh[i][1].g;
      joint->h[n + at + i] = limiting(gh[i][1]);
    }
  }
}

gbt_status joint_distribution_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score, gbt_error *err) {
  job j = {joint, score, gbt_distribution_range_of(&joint->objective, joint->base),
           gbt_distribution_unit(&joint->objective, joint->base)};
  return gbt_parallel(ctx, (joint->rows.n + TASK_ROWS - 1) / TASK_ROWS, gradients_task, &j, err);
}
