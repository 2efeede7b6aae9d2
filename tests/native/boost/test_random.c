/* Trainings drawn at random for as long as is wished: the engine against its slow twin and against itself under other
 * circumstances. Each in a process of its own, so that a crash is a failure like any other; failures are made small.
 *
 *   GBT_RANDOM_START     the first number (1)
 *   GBT_RANDOM_COUNT     how many (100)
 *   GBT_RANDOM_SECONDS   end after so many seconds, whatever the count (0: never) */
#include "odd_job.h"

#include <time.h>

#include "port.h"

enum { MANY_ROWS = 500 };

static uint64_t wish(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Whether all is as it must be. */
static int holds(const random_job *r) {
  const train_how hows[] = {r->how, {1, 0, GBT_SIMD_SCALAR, NULL}, {3, 7, GBT_SIMD_AVX2, NULL}};
  trained *twin = train_naively(&r->job);
  int ok = twin != NULL;
  for (size_t i = 0; ok && i < sizeof hows / sizeof hows[0]; i++) {
    trained *t = train(&r->job, &hows[i]);
    ok = t != NULL && same_trained(t, twin);
    trained_free(t);
  }
  made *sparse = made_sparse(r->data, 50);
  train_job job = r->job;
  job.data = sparse;
  trained *t = ok ? train(&job, &r->how) : NULL;
  ok = ok && t != NULL && same_trained(t, twin);
  trained_free(t);
  made_free(sparse);
  trained_free(twin);
  return ok;
}

/* What a child is to do: a training, or by its number. */
typedef struct task {
  const random_job *job;
  uint64_t number;
  int shown; /* what it has to say */
} task;

static int run_task(const void *arg, void *shared) {
  const task *t = arg;
  (void)shared;
  if (!t->shown && freopen(port_nowhere(), "w", stdout) == NULL) return 2;
  if (PORT_FORKS) return !holds(t->job);
  random_job r = odd_job_make(t->number, MANY_ROWS);
  const int ok = holds(&r);
  random_job_free(&r);
  return !ok;
}

static int holds_in_child(const random_job *r, uint64_t number, int shown) {
  const task t = {r, number, shown};
  return port_child_run(run_task, &t, sizeof t, NULL) == 0;
}

/* Making small ends when nothing fails any more. */
enum { SHRINK_SECONDS = 60 };
static time_t shrink_end;

static int fails_quietly(const random_job *r) { return time(NULL) < shrink_end && !holds_in_child(r, 0, 0); }

static void odd_trainings_equal_the_twin(void) {
  uint64_t start = wish("GBT_RANDOM_START", 1), n = wish("GBT_RANDOM_COUNT", 100), done = 0;
  time_t seconds = (time_t)wish("GBT_RANDOM_SECONDS", 0), end = time(NULL) + seconds;
  int64_t bad = 0;
  for (; done < n && bad < 3 && (seconds == 0 || time(NULL) < end); done++) {
    random_job r = odd_job_make(start + done, MANY_ROWS);
    if (!CHECK(holds_in_child(&r, start + done, 1))) {
      bad++;
      random_job_tell(&r, start + done);
      shrink_end = time(NULL) + SHRINK_SECONDS;
      if (PORT_FORKS) { /* else a child knows no training but those that are drawn */
        odd_job_shrink(&r, fails_quietly);
        test_note("made small:");
        random_job_tell(&r, start + done);
      }
    }
    random_job_free(&r);
  }
  test_note("%" PRIu64 " trainings from number %" PRIu64, done, start);
}

static int has_many_rows(const random_job *r) { return r->data->table.n_rows > 20; }

static void jobs_are_made_small(void) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    random_job r = odd_job_make(seed, MANY_ROWS);
    if (has_many_rows(&r)) {
      odd_job_shrink(&r, has_many_rows);
      CHECK_EQ_I64(r.data->table.n_rows, 21);
      CHECK_EQ_I64(r.job.rounds, 1);
      CHECK(r.job.spec.n_valid == 0 && r.data->weight == NULL && r.data->offset == NULL);
      CHECK(holds(&r));
    }
    random_job_free(&r);
  }
}

void suite_random(void) {
  RUN(jobs_are_made_small);
  RUN(odd_trainings_equal_the_twin);
}
