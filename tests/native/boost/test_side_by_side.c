/* Several trainings at a time: boost/side_by_side.h. */
#include "datasets.h"
#include "random_job.h"

#include "../../src/gbt/boost/side_by_side.h"

enum { MOST = 9 };

static gbt_ctx open_ctx(int n_threads, int (*poll)(void *), void *user) {
  gbt_ctx ctx;
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), n_threads, GBT_SIMD_AUTO, poll, user, test_err));
  return ctx;
}

/* n trainers on the same data sets, each with a seed of its own. */
static int make_trainers(gbt_ctx *ctx, gbt_trainer_spec spec, int n, gbt_trainer **out) {
  for (int i = 0; i < n; i++) {
    out[i] = NULL;
    if (!CHECK_OK(gbt_trainer_new(ctx, &spec, &out[i], test_err))) return 0;
    spec.params.seed += 7;
  }
  return 1;
}

static void free_trainers(gbt_trainer **t, int n) {
  for (int i = 0; i < n; i++) gbt_trainer_free(t[i]);
}

/* Side by side and one after the other: the same trees and logs, for any number of trainings and threads. */
static void trainings_side_by_side_are_trainings(void) {
  for (uint64_t seed = 5000; seed < 5060; seed++) {
    random_job r = random_job_make(seed, 200);
    if (r.job.custom != NULL) {
      random_job_free(&r);
      continue;
    }
    const int n = 1 + (int)(seed % MOST), threads = 1 + (int)(seed / MOST % 6);
    gbt_ctx one = open_ctx(1, NULL, NULL), many = open_ctx(threads, NULL, NULL);
    gbt_trainer_spec spec;
    gbt_trainer *apart[MOST] = {NULL}, *together[MOST] = {NULL};
    gbt_stop_reason why[MOST], alone;
    if (job_open(&one, &r.job, 0, &spec) && make_trainers(&one, spec, n, apart) &&
        make_trainers(&one, spec, n, together)) {
      for (int64_t done = 0; done < r.job.rounds; done += 2) /* several calls */
        CHECK_OK(gbt_trainers_run(&many, together, n, r.job.rounds - done < 2 ? 1 : 2, why, test_err));
      for (int i = 0; i < n; i++) {
        CHECK_OK(gbt_trainer_run(&one, apart[i], r.job.rounds, &alone, test_err));
        same_forests(gbt_trainer_forest(apart[i]), gbt_trainer_forest(together[i]));
        int32_t width = 0;
        const double *want = gbt_trainer_log(apart[i], &width), *got = gbt_trainer_log(together[i], &width);
        if (CHECK_EQ_I64(gbt_trainer_rounds(apart[i]), gbt_trainer_rounds(together[i])) && width > 0)
          CHECK_EQ_BYTES(got, want, (size_t)(gbt_trainer_rounds(apart[i]) * width) * sizeof *got);
      }
    }
    free_trainers(apart, n);
    free_trainers(together, n);
    job_close(&spec);
    gbt_ctx_close(&one);
    gbt_ctx_close(&many);
    random_job_free(&r);
  }
}

static int stop_at_once(void *user) {
  (void)user;
  return 1;
}

/* Each training can be asked to stop, and trainings may go on afterwards. */
static void all_stop_when_asked(void) {
  made *m = made_new(3, 100, 1, (const made_kind[]){MADE_BELL});
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
  gbt_ctx one = open_ctx(1, NULL, NULL), asks = open_ctx(2, stop_at_once, NULL);
  gbt_trainer_spec spec;
  gbt_trainer *t[4] = {NULL};
  gbt_stop_reason why[4];
  if (job_open(&one, &job, 0, &spec) && make_trainers(&one, spec, 4, t)) {
    CHECK_EQ_I64(gbt_trainers_run(&asks, t, 4, 1000000, why, test_err), GBT_CANCELLED);
    for (int i = 0; i < 4; i++) CHECK(gbt_trainer_rounds(t[i]) < 1000000);
  }
  free_trainers(t, 4);
  job_close(&spec);
  gbt_ctx_close(&one);
  gbt_ctx_close(&asks);
  made_free(m);
}

/* The error of the first that fails; the others have their rounds. */
static void failures_are_told(void) {
  made *m = made_new(3, 100, 1, (const made_kind[]){MADE_BELL});
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  train_job plain = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2), given = job_make(m, GBT_OBJ_CUSTOM, 1, 2);
  gbt_ctx ctx = open_ctx(3, NULL, NULL);
  gbt_trainer_spec specs[2];
  gbt_trainer *t[3] = {NULL};
  gbt_stop_reason why[3];
  if (job_open(&ctx, &plain, 0, &specs[0]) && job_open(&ctx, &given, 0, &specs[1]) &&
      CHECK_OK(gbt_trainer_new(&ctx, &specs[0], &t[0], test_err)) &&
      CHECK_OK(gbt_trainer_new(&ctx, &specs[1], &t[1], test_err)) &&
      CHECK_OK(gbt_trainer_new(&ctx, &specs[0], &t[2], test_err))) {
    CHECK_EQ_I64(gbt_trainers_run(&ctx, t, 3, 2, why, test_err), GBT_E_INTERNAL); /* gradients were not given */
    CHECK(strstr(test_err->msg, "custom objective") != NULL);
    CHECK(gbt_trainer_rounds(t[0]) == 2 && gbt_trainer_rounds(t[1]) == 0 && gbt_trainer_rounds(t[2]) == 2);
    CHECK_OK(gbt_trainers_run(&ctx, t, 0, 2, why, test_err));
  }
  free_trainers(t, 3);
  job_close(&specs[0]);
  job_close(&specs[1]);
  gbt_ctx_close(&ctx);
  made_free(m);
}

void suite_side_by_side(void) {
  RUN(trainings_side_by_side_are_trainings);
  RUN(all_stop_when_asked);
  RUN(failures_are_told);
}
