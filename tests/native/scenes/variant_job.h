/* Trainings with derived features in variants, compared with trainings on ordinary data sets.
 *
 *   variant_job j = variant_job_make(&random, seed);
 *   variant_end a = variant_grow(&j, &how), b = variant_twin(&j, &how);  CHECK(same_ends(&a, &b));
 *
 * The job's tables get a few further columns of small whole numbers, other numbers in each variant. variant_grow puts
 * them as bins to an extended data set and grows the trees of every round on the variant that the round has;
 * variant_twin makes a data set of each variant's table and opens a backend anew for every round, which goes on from
 * the scores of the round before. */
#ifndef GBT_TEST_VARIANT_JOB_H
#define GBT_TEST_VARIANT_JOB_H

#include "../../src/gbt/data/extend.h"
#include "random_job.h"

enum { VARIANT_FEATS = 70, VARIANT_ROUNDS = 12 };

typedef struct variant_job {
  random_job *random; /* borrowed */
  int32_t n_derived, n_variants;
  int32_t n_bins[VARIANT_FEATS];
  uint8_t *bin[1 + JOB_VALID][GBT_MOST_VARIANTS][VARIANT_FEATS]; /* by set; validation sets have variant 0 alone */
  int32_t of_round[VARIANT_ROUNDS];                              /* the variant */
  int *mask;                                                     /* rows that are trained on; NULL: all */
  int with_drop;                                                 /* some features of the tables are unused */
  int32_t fit_after; /* trees are fitted once more on the variant so many places later, 0: on the same */
  int32_t drop_first;                                            /* and so many of the first ones */
  const struct gbt_device_api *help; /* makes the base of the training set, and may keep its codes; NULL: the CPU */
  uint64_t seed;
} variant_job;

/* What came out; empty after a failure, which is reported as a failed check. */
typedef struct variant_end {
  gbt_forest *forest;
  double *score[1 + JOB_VALID];
  int64_t cells[1 + JOB_VALID];
  int64_t n_derived; /* splits by derived features */
} variant_end;

variant_job variant_job_make(random_job *random, uint64_t seed);
void variant_job_free(variant_job *j);

variant_end variant_grow(const variant_job *j, const train_how *how);
variant_end variant_refit(const variant_job *j, const train_how *how); /* every tree once more on the same bins */
variant_end variant_twin(const variant_job *j, const train_how *how);
void variant_end_free(variant_end *end);
int same_ends(const variant_end *a, const variant_end *b);

/* The cuts of a data set of the job and its derived features; NULL after a failure. */
gbt_cuts *variant_cuts(const variant_job *j, const gbt_cuts *base);

/* Whether a feature of the tables is unused. */
int variant_drops(const variant_job *j, int32_t feat);

/* A set of the job, extended, its bins put. *cuts: made of the training set, when it is NULL; owned by the caller. NULL
 * after a failure. */
gbt_dataset *variant_extend(gbt_ctx *ctx, const variant_job *j, int32_t s, int32_t page_rows, gbt_cuts *base_cuts,
                            gbt_cuts **cuts);

#endif
