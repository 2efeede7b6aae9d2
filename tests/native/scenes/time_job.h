/* A training of an objective whose gradients the host makes: of made times, which are exact or censored in each of the
 * ways, of events in intervals of time, or of the parameters of distributions. */
#ifndef GBT_TEST_TIME_JOB_H
#define GBT_TEST_TIME_JOB_H

#include "trained.h"

typedef struct time_job {
  train_job job;
  double *upper;         /* of the training rows: their times are between the labels and these; or NULL */
  double *event, *entry; /* of events; or NULL */
} time_job;

/* scale 0: estimated. subsample: of the rows. */
time_job time_job_make(uint64_t seed, int dist, double scale, int64_t n_rows, double subsample);
/* Objective "hazard" with five intervals, some rows coming later. */
time_job hazard_job_make(uint64_t seed, int64_t n_rows, double subsample);
/* A distribution of numbers, amounts or counts, whose width depends on a column. */
time_job distribution_job_make(gbt_objective_kind kind, uint64_t seed, int64_t n_rows, double subsample);
void time_job_free(time_job *t);

/* The forest after the job's rounds, and the scale then; NULL after a failure, which is reported. */
gbt_forest *time_job_train(const time_job *t, const train_how *how, double *scale);

#endif
