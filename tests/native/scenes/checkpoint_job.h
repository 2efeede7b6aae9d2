/* Trainings in parts: each part resumes a file, runs up to a round, and leaves a file or what came out. */
#ifndef GBT_TEST_CHECKPOINT_JOB_H
#define GBT_TEST_CHECKPOINT_JOB_H

#include "random_job.h"

typedef struct outcome {
  gbt_forest *forest;
  double *score[1 + JOB_VALID], *log, *kept; /* kept: of the set of keep_best; NULL: there is none */
  int64_t n_score[1 + JOB_VALID], n_log, n_kept, rounds, best_round;
  int32_t n_data;
} part_outcome;

void part_outcome_free(part_outcome *o);
int part_outcomes_same(const part_outcome *a, const part_outcome *b);

typedef struct place {
  int threads;
  int32_t page_rows;
  const char *from, *to; /* files; NULL: begins anew; ends with the last round */
  int64_t last;          /* round to stop after */
  const struct gbt_device_api *device; /* NULL: the CPU */
} part_place;

/* 1 when it went well; *out: where there is no `to`. */
int part_run(const train_job *job, const part_place *where, part_outcome *out);

/* With a note that says after how many rounds it was written, and looks at it. */
gbt_status part_save(gbt_ctx *ctx, const gbt_trainer *tr, const char *path);
gbt_status part_resume(gbt_ctx *ctx, gbt_trainer *tr, const char *path);

/* A name that no file has; good until the next call. */
const char *part_path(void);

#endif
