/* A training whose rows belong to queries: by an objective that looks at many rows, or by the same gradients handed to
 * a custom objective, which is its twin. */
#ifndef GBT_TEST_QUERY_JOB_H
#define GBT_TEST_QUERY_JOB_H

#include "trained.h"

typedef struct query_job {
  train_job job;
  double *group; /* of the training rows */
} query_job;

/* Rows in queries of 1 to 40, labels 0 to 3 (0 and 1 for rank_map); subsample: of the rows. */
query_job query_job_make(uint64_t seed, gbt_objective_kind kind, int64_t n_rows, double subsample);
void query_job_free(query_job *q);

/* The forest after the job's rounds; NULL after a failure, which is reported. by_host: the gradients are computed by
 * joint/ at the trainer's scores and given to an objective of the host. */
gbt_forest *query_job_train(const query_job *q, const train_how *how, int by_host);

#endif
