/* A training job done by ranks: its tables cut into shares of consecutive rows, a thread for every rank.
 *
 *   shares *s = shares_new(&job, 3, seed, 0);      uneven, now and then empty
 *   ranked out[RANKS_MOST];
 *   shares_train(s, hows, out);                    everything that came out on every rank
 *   same_ranked(s, out, single);
 *   ranked_free(&out[r]); shares_free(s);
 *
 * On odd ranks the levels of factors come in reverse: they are matched by text. */
#ifndef GBT_TEST_RANKS_JOB_H
#define GBT_TEST_RANKS_JOB_H

#include "ranks.h"
#include "ranks_count.h"
#include "trained.h"

typedef struct shares {
  const train_job *job;
  int size;
  int64_t beg[1 + JOB_VALID][RANKS_MOST + 1]; /* by data set */
  made *of[1 + JOB_VALID][RANKS_MOST];
} shares;

/* sparse: columns of doubles by their entries. */
shares *shares_new(const train_job *job, int size, uint64_t seed, int sparse);
void shares_free(shares *s);

/* Circumstances of a rank. */
typedef struct rank_how {
  train_how how;
  gbt_mem mem;
  int (*poll)(void *user); /* may be NULL */
  void *user;
  const gbt_params *params; /* other ones than the job's; NULL: those */
  ranks_counts *counts;     /* of the operations of this rank; NULL: not counted */
  const char *from, *to;    /* checkpoints that the training goes on from and leaves behind; NULL: none */
  int64_t last;             /* round to stop after; 0: the job's rounds */
} rank_how;

rank_how rank_how_make(int threads, int32_t page_rows);

typedef struct ranked {
  gbt_status status;
  gbt_error err;
  gbt_cuts *cuts;
  gbt_forest *forest; /* a copy; NULL when there was no trainer */
  double *score[1 + JOB_VALID], *log;
  int32_t width;
  int64_t rounds, best_round;
  int note_good; /* that of the checkpoint it went on from */
  gbt_stop_reason why;
} ranked;

/* hows, out: by rank. */
void shares_train(const shares *s, const rank_how *hows, ranked *out);
void ranked_free(ranked *out);

/* Whether all ranks succeeded with what the single process got. */
int same_ranked(const shares *s, const ranked *out, const trained *single);

/* Whether `size` ranks of uneven shares come to what the single process got, with other threads and pages. */
int job_by_ranks(const train_job *job, const trained *single, int size, uint64_t seed, int sparse);

#endif
