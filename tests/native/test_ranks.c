/* Ranks that train one model: the bytes of the single process, whatever the shares; and one end for all. */
#include "random_job.h"
#include "naive_cuts.h"
#include "ranks_job.h"

/* ---- cuts ---- */

static void check_cuts(const train_job *job, int size, uint64_t seed, int sparse) {
  shares *s = shares_new(job, size, seed, sparse);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *single = NULL;
  train_job data_only = *job;
  data_only.rounds = 0;
  s->job = &data_only;
  CHECK_OK(gbt_cuts_build(&ctx, &job->data->table, job->data->weight, job->max_bin, &single, test_err));
  for (int r = 0; r < size; r++) hows[r] = rank_how_make(1 + r % 3, 0);
  shares_train(s, hows, out);
  for (int r = 0; r < size; r++) {
    if (CHECK_EQ_I64(out[r].status, GBT_OK)) same_all_cuts(out[r].cuts, single);
    else test_note("rank %d: %s", r, out[r].err.msg);
    ranked_free(&out[r]);
  }
  gbt_cuts_unref(single);
  gbt_ctx_close(&ctx);
  shares_free(s);
}

static void cuts_of_shares_are_those_of_all_rows(void) {
  for (uint64_t seed = 1; seed <= 150; seed++) {
    random_job r = random_job_make(seed, 300);
    r.job.spec.n_valid = 0;
    check_cuts(&r.job, 1 + (int)(seed % 6), seed, seed % 3 == 0);
    random_job_free(&r);
  }
}

void suite_ranks(void) {
  RUN(cuts_of_shares_are_those_of_all_rows);
}
