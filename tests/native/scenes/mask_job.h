/* Training on a mask compared with training on the same rows in tables of their own, by the cuts of all rows.
 *
 *   masked_job j = masked_job_make(&job, mask);
 *   trained *a = train_masked(&j, &how), *b = train_gathered(&j, &how);  CHECK(same_trained(a, b));
 *
 * Set 1 is that of the masked-out rows, where there are any; after it comes the job's first validation set. All
 * metrics that suit the objective are logged for all sets. */
#ifndef GBT_TEST_MASK_JOB_H
#define GBT_TEST_MASK_JOB_H

#include "trained.h"

typedef struct masked_job {
  const train_job *job;
  const int *mask;
  made *in, *out; /* rows of the mask, and the others; out: NULL where there are none */
  train_job sub;  /* of these tables */
} masked_job;

/* job, mask: borrowed; at least one row is in. */
masked_job masked_job_make(const train_job *job, const int *mask);
void masked_job_free(masked_job *j);

/* The spec with data sets: masks of `all`, the data set of all rows, or (masked = 0) the tables by its cuts, or
 * (masked = 2) copies of the masks. 0 after a failure, reported as a failed check; job_close() in any case. */
int masked_job_open(gbt_ctx *ctx, const masked_job *j, const gbt_dataset *all, int masked, int32_t page_rows,
                    gbt_trainer_spec *spec);

/* Both NULL after a failure, which is reported as a failed check. */
trained *train_masked(const masked_job *j, const train_how *how);
trained *train_gathered(const masked_job *j, const train_how *how);
trained *train_copied(const masked_job *j, const train_how *how);

/* Whether a mask of validation data with levels that training has not seen, which go the way of most, is scored as the
 * same rows in a table of their own. */
int masked_valid_as_gathered(const train_how *how);

/* The kinds of masks of n rows. */
typedef enum mask_kind {
  MASK_ALL,
  MASK_ONE,
  MASK_ALL_BUT_ONE,
  MASK_HALF,
  MASK_FEW,
  MASK_FOLD, /* all but every fifth row */
  MASK_RUN,  /* rows side by side */
  MASK_KINDS
} mask_kind;

int *mask_make(mask_kind kind, int64_t n, uint64_t seed); /* at least one row is in */

#endif
