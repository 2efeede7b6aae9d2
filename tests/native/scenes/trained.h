/* Whole trainings of made tables: by the trainer under given circumstances, or naively; and all that came out of it.
 *
 *   job j = ...;  trained *a = train(&j, &how), *b = train_naively(&j);  CHECK(same_trained(a, b)); */
#ifndef GBT_TEST_TRAINED_H
#define GBT_TEST_TRAINED_H

#include "made.h"
#include "naive.h"

enum { JOB_VALID = 2 };

/* What to train. */
typedef struct train_job {
  const made *data, *valid[JOB_VALID];
  int32_t max_bin;
  gbt_trainer_spec spec; /* its data sets are filled in here; n_valid says how many of valid[] count */
  int64_t rounds;
  int unbundled;       /* pages without bundles */
  naive_custom custom; /* for GBT_OBJ_CUSTOM */
} train_job;

/* Circumstances that must not show. */
typedef struct train_how {
  int threads;
  int32_t page_rows; /* 0: the default */
  gbt_simd simd;
  const struct gbt_device_api *device; /* NULL: the CPU */
} train_how;

/* All that came out. */
typedef struct trained {
  gbt_forest *forest; /* a copy */
  double *score[1 + JOB_VALID];
  int64_t n_rows[1 + JOB_VALID];
  double *log; /* rounds x width; NULL when naive */
  int32_t width, n_data;
  int64_t rounds, best_round;
  gbt_stop_reason why;
  int32_t n_sparse, n_bundles; /* of the layout: what the data were taken for */
  uint32_t n_slots;
} trained;

/* Defaults for an objective; data and the rest are the caller's. */
train_job job_make(const made *data, gbt_objective_kind kind, int32_t n_outputs, int64_t rounds);

/* The job's spec with data sets made for it; 0 after a failure, reported as a failed check. Close in any case. */
int job_open(gbt_ctx *ctx, const train_job *job, int32_t page_rows, gbt_trainer_spec *spec);
void job_close(gbt_trainer_spec *spec);

/* The job's rounds; 0 after a failure, reported as a failed check. */
int train_rounds(gbt_ctx *ctx, const train_job *job, gbt_trainer *tr, gbt_stop_reason *why);

/* What came out of a trainer for the job. Checks that predictions from the forest are the trainer's scores. */
trained *trained_of(gbt_ctx *ctx, const train_job *job, const gbt_trainer_spec *spec, gbt_trainer *tr);

/* Checks as well that predictions from the forest are the trainer's scores of all data sets. NULL after a failure,
 * which is reported as a failed check. */
trained *train(const train_job *job, const train_how *how);
trained *train_naively(const train_job *job);
void trained_free(trained *t); /* NULL allowed */

/* Whether two forests are the same bytes. The first difference goes to the report. */
int same_forests(const gbt_forest *a, const gbt_forest *b);

/* A number that depends on every byte of a forest, and on `before`. */
uint64_t forest_digest(uint64_t before, const gbt_forest *forest);

/* Forests, models, scores and, where both have one, logs. */
int same_trained(const trained *a, const trained *b);

/* A training on the device has the same results as on the CPU. splits: its splits are added. */
int device_trains_alike(const train_job *job, const train_how *how, const struct gbt_device_api *api, int64_t *splits);

/* A custom loss for the tests: gradients of a smooth loss, hessians that are 0 for some rows. */
void custom_gradients(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g, double *h);

#endif
