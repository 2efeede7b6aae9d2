/* Checkpoints by ranks: a training goes on with another number of ranks, or in one process, and ends as one that ran
 * through; rows in another order are another training. */
#include <inttypes.h>
#include <stdio.h>

#include "../../src/gbt/base/file.h"
#include "checkpoint_job.h"
#include "random_job.h"
#include "ranks_job.h"

enum { ROUNDS = 4 };

/* Trains with so many ranks from a file and to a file; *ok: whether all ranks succeeded. single: what is to come out;
 * NULL: not the end yet. */
static int leg(const train_job *job, int size, uint64_t seed, const char *from, const char *to, int64_t last,
               const trained *single) {
  static const int32_t pages[] = {0, 7, 64};
  shares *s = shares_new(job, size, seed, 0);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  int ok = 1;
  for (int r = 0; r < size; r++) {
    hows[r] = rank_how_make(1 + r % 2, pages[(size + r) % 3]);
    hows[r].from = from;
    hows[r].to = to;
    hows[r].last = last;
  }
  shares_train(s, hows, out);
  for (int r = 0; r < size; r++) {
    ok &= CHECK_EQ_I64(out[r].status, GBT_OK) && CHECK(from == NULL || out[r].note_good);
    if (out[r].status != GBT_OK) test_note("rank %d: %s", r, out[r].err.msg);
  }
  if (single != NULL && ok) ok = same_ranked(s, out, single);
  for (int r = 0; r < size; r++) ranked_free(&out[r]);
  shares_free(s);
  return ok;
}

/* Metrics on a validation set, the best round of which is kept. */
static void watch(train_job *job) {
  job->spec.metric[0] = gbt_metric_plain(gbt_metric_of_objective((gbt_objective_kind)job->spec.objective.kind));
  job->spec.n_metrics = 1;
  job->spec.stop_rounds = ROUNDS;
  job->spec.keep_best = 1;
}

static void any_ranks_go_on(void) {
  int64_t n_kept = 0, n_outputs = 0, n_custom = 0;
  for (uint64_t seed = 1; seed <= test_cases(30) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 400);
    const char *path = part_path();
    char later[520];
    snprintf(later, sizeof later, "%s-later", path);
    r.job.rounds = ROUNDS;
    if (r.job.custom == NULL && r.job.spec.n_valid > 0 && seed % 2) watch(&r.job);
    trained *single = train(&r.job, &r.how);
    static const int sizes[][3] = {{1, 3, 2}, {3, 1, 4}, {2, 4, 1}, {4, 2, 3}};
    const int *size = sizes[seed % 4];
    int ok = single != NULL && leg(&r.job, size[0], seed, NULL, path, 1, NULL) &&
             leg(&r.job, size[1], seed + 1, path, later, 3, NULL) &&
             leg(&r.job, size[2], seed + 2, later, NULL, 0, single);
    if (!ok) random_job_tell(&r, seed);
    n_kept += r.job.spec.keep_best > 0;
    n_outputs += r.job.spec.objective.n_outputs > 1;
    n_custom += r.job.custom != NULL;
    gbt_file_remove(path);
    gbt_file_remove(later);
    trained_free(single);
    random_job_free(&r);
  }
  test_note("%" PRId64 " with kept scores, %" PRId64 " of several outputs, %" PRId64 " custom", n_kept, n_outputs,
            n_custom);
  CHECK_SEEN(n_kept > 3 && n_outputs > 3 && n_custom > 1);
}

static void rows_in_another_order_are_refused(void) {
  random_job r = random_job_make(2, 300);
  const char *path = part_path();
  r.job.rounds = 2;
  shares *s = shares_new(&r.job, 3, 1, 0);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  for (int i = 0; i < 3; i++) {
    hows[i] = rank_how_make(1, 0);
    hows[i].to = path;
    hows[i].last = 1;
  }
  shares_train(s, hows, out);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_I64(out[i].status, GBT_OK);
    ranked_free(&out[i]);
    hows[i].from = path;
    hows[i].to = NULL;
    hows[i].last = 0;
  }
  made *first = s->of[0][0];
  s->of[0][0] = s->of[0][2];
  s->of[0][2] = first;
  shares_train(s, hows, out);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_I64(out[i].status, GBT_E_ARG);
    CHECK(strstr(out[i].err.msg, "belongs to another training: data, their order, parameters") != NULL);
    ranked_free(&out[i]);
  }
  s->of[0][2] = s->of[0][0];
  s->of[0][0] = first;
  shares_free(s);
  gbt_file_remove(path);
  random_job_free(&r);
}

/* The first rank cannot write or read: all ranks say so, with its number. */
static void failures_of_the_first_rank_are_those_of_all(void) {
  random_job r = random_job_make(2, 300);
  r.job.rounds = 2;
  shares *s = shares_new(&r.job, 3, 1, 0);
  for (int reads = 0; reads < 2; reads++) {
    rank_how hows[RANKS_MOST];
    ranked out[RANKS_MOST];
    for (int i = 0; i < 3; i++) {
      hows[i] = rank_how_make(1, 0);
      *(reads ? &hows[i].from : &hows[i].to) = i == 0 ? "/no/such/folder/file" : "/another/name";
    }
    shares_train(s, hows, out);
    for (int i = 0; i < 3; i++) {
      CHECK_EQ_I64(out[i].status, GBT_E_IO);
      CHECK(strncmp(out[i].err.msg, "rank 0 of 3: ", 13) == 0 && strstr(out[i].err.msg, "/no/such/folder") != NULL);
      ranked_free(&out[i]);
    }
  }
  shares_free(s);
  random_job_free(&r);
}

void suite_checkpoint_ranks(void) {
  RUN(any_ranks_go_on);
  RUN(rows_in_another_order_are_refused);
  RUN(failures_of_the_first_rank_are_those_of_all);
}
