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

/* ---- models ---- */

/* One model on ranks of uneven shares, one after the other of these sizes; by the way with other threads and pages. */
static int check_job(const train_job *job, const trained *single, int size, uint64_t seed, int sparse) {
  shares *s = shares_new(job, size, seed, sparse);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  const int32_t pages[] = {0, 7, 64};
  for (int r = 0; r < size; r++) hows[r] = rank_how_make(1 + (int)((seed + (uint64_t)r) % 2), pages[(size + r) % 3]);
  shares_train(s, hows, out);
  int ok = same_ranked(s, out, single);
  for (int r = 0; r < size; r++) ranked_free(&out[r]);
  shares_free(s);
  return ok;
}

/* Metrics, evaluated on train as well; early stopping now and then. */
static void add_metrics(train_job *job, uint64_t seed) {
  gbt_trainer_spec *spec = &job->spec;
  const gbt_objective_kind kind = (gbt_objective_kind)spec->objective.kind;
  for (int m = 0; m < GBT_N_METRICS; m++)
    if (gbt_metric_suits((gbt_metric)m, kind) && (spec->objective.n_outputs == 1 || kind == GBT_OBJ_SOFTMAX))
      spec->metric[spec->n_metrics++] = (gbt_metric)m;
  spec->eval_train = 1;
  if (seed % 3 == 0 && kind != GBT_OBJ_CUSTOM && spec->n_metrics > 0) spec->stop_rounds = 1, job->rounds = 5;
}

static void check_random(random_job *r, uint64_t seed) {
  add_metrics(&r->job, seed);
  trained *single = train(&r->job, &r->how);
  int ok = single != NULL;
  for (int size = 1; size <= 5 && ok; size += size == 3 ? 2 : 1)
    ok = check_job(&r->job, single, size, seed + (uint64_t)size, (seed + (uint64_t)size) % 4 == 0);
  if (!ok) random_job_tell(r, seed);
  trained_free(single);
  random_job_free(r);
}

static void random_models_of_shares_are_those_of_all_rows(void) {
  for (uint64_t seed = 1; seed <= 120; seed++) {
    random_job r = random_job_make(seed, 300);
    check_random(&r, seed);
    if (test_n_bad() > 0) return;
  }
}

void suite_ranks(void) {
  RUN(cuts_of_shares_are_those_of_all_rows);
  RUN(random_models_of_shares_are_those_of_all_rows);
}
