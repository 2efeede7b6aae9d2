/* Trainings drawn at random: data, loss, parameters, constraints and circumstances, all from one seed. */
#ifndef GBT_TEST_RANDOM_JOB_H
#define GBT_TEST_RANDOM_JOB_H

#include "trained.h"

typedef struct random_job {
  train_job job; /* borrows from the rest */
  train_how how;
  made *data, *valid[JOB_VALID];
  int8_t *monotone;
  int32_t *interact_beg, *interact_col;
  double *feature_weight, *first_use, *class_rate, *eta;
} random_job;

/* A way to draw rows; parameters of the other ways are at their defaults. */
void job_sampling(gbt_params *p, int method);

/* At most 256 + `rows` rows. */
random_job random_job_make(uint64_t seed, int64_t rows);
void random_job_free(random_job *r);

/* Rows are drawn with the same chance, as several trees of an output need it; also where the objective is changed. */
void random_job_draw_evenly(random_job *r);

/* With ordered boosting, where rows are drawn with the same chance. */
void random_job_order(random_job *r);

/* Trees that share their splits, some of them in ordered boosting; 0: the job's loss has no classes, and the job is as
 * before. */
int random_job_share(random_job *r, uint64_t seed);

/* Then: trees of any growth policy. Returns 1. */
int random_job_by_nodes(random_job *r, uint64_t seed);

/* A response of n_columns columns, of weights by cell where `seed` is even; 0: the job's loss takes one column, or rows
 * are drawn by class, and the job is as before. */
int random_job_columns(random_job *r, int32_t n_columns, uint64_t seed);

/* Trees that share their splits, whatever the outputs. */
void random_job_share_by(random_job *r, uint64_t seed, int sketch);

/* With linear leaves, and without what they cannot be combined with; 0: the job's loss has none, and the job is as
 * before. */
int random_job_linear(random_job *r, uint64_t seed);

/* Without what the kernel of small data leaves to other kernels (src/cuda/grow/small). */
void random_job_small(random_job *r, uint64_t seed);

/* Says in the report what it was. */
void random_job_tell(const random_job *r, uint64_t seed);

#endif
