/* Numbers go up to the device once: a column for its cuts and its codes, and codes that were made there not at all.
 * Whatever goes up, data sets and models are the CPU's. */
#include "../../src/gbt/backend/device_api.h"
#include "datasets.h"
#include "made.h"
#include "naive_cuts.h"
#include "pages.h"
#include "schedules.h"
#include "trained.h"

const gbt_device_api *gbt_cuda_api(void);

enum { ROWS = 33000, COLUMNS = 9 }; /* columns of so many entries, and so many cells, are worth the way */

static int64_t bytes_up(void) {
#if defined(GBT_TEST_SIMT)
  return simt_counted().up_bytes;
#else
  return 0;
#endif
}

/* A data set of the table; on_device: its cuts and pages are made there. */
static gbt_dataset *make_set(gbt_ctx *ctx, const made *m, int on_device) {
  const gbt_dataset_spec spec = {
      .table = &m->table, .weight = m->weight, .max_bin = 255, .unseen = GBT_UNSEEN_MISSING, .page_rows = 5000};
  gbt_dataset *ds = NULL;
  int ok = CHECK_OK(on_device ? dataset_by_device(ctx, gbt_cuda_api(), 0, &spec, &ds, test_err)
                              : gbt_dataset_make(ctx, &spec, &ds, test_err));
  ok = ok && CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, m->table.n_rows, test_err));
  if (ok && m->weight) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_WEIGHT, m->weight, m->table.n_rows, test_err));
  return ds;
}

/* Trains on a data set, and frees the trainer. *up: bytes that went up while it was opened. */
static trained *train_set(gbt_ctx *ctx, const train_job *job, gbt_dataset *ds, int on_device, int64_t *up) {
  gbt_trainer_spec spec = job->spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  trained *t = NULL;
  spec.train = ds;
  spec.device = on_device ? gbt_cuda_api() : NULL;
  *up = bytes_up();
  int ok = CHECK_OK(gbt_trainer_new(ctx, &spec, &tr, test_err));
  *up = bytes_up() - *up;
  if (ok && CHECK_OK(gbt_trainer_run(ctx, tr, job->rounds, &why, test_err))) t = trained_of(ctx, job, &spec, tr);
  gbt_trainer_free(tr);
  return t;
}

/* A device set's trainings: on the device, again, and on the CPU, against the CPU's own. */
static void same_trainings(gbt_ctx *ctx, const train_job *job, gbt_dataset *here, gbt_dataset *there, int64_t up[2]) {
  int64_t ignored;
  trained *cpu = train_set(ctx, job, here, 0, &ignored);
  trained *sent = train_set(ctx, job, here, 1, &up[0]), *stayed = train_set(ctx, job, there, 1, &up[1]);
  trained *again = train_set(ctx, job, there, 1, &ignored), *back = train_set(ctx, job, there, 0, &ignored);
  CHECK(cpu && sent && stayed && again && back);
  if (cpu && sent) CHECK(same_trained(cpu, sent));
  if (cpu && stayed) CHECK(same_trained(cpu, stayed));
  if (cpu && again) CHECK(same_trained(cpu, again));
  if (cpu && back) CHECK(same_trained(cpu, back));
  trained_free(cpu);
  trained_free(sent);
  trained_free(stayed);
  trained_free(again);
  trained_free(back);
}

/* little: so little memory that neither columns nor codes can stay. */
static void one_table(const made_kind *some, int32_t n_some, int weighted, int little) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const int32_t n_cols = COLUMNS;
  made_kind kinds[COLUMNS];
  for (int32_t c = 0; c < n_cols; c++) kinds[c] = some[c % n_some];
  made *m = made_new(11, ROWS, n_cols, kinds);
  int64_t doubles = 0, up[2], made_up;
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 11);
  if (weighted) made_weights(m, 3);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
  job.spec.params.max_depth = 2;
  for (int32_t c = 0; c < n_cols; c++) doubles += m->table.cols[c].rows == NULL && m->table.cols[c].storage == GBT_F64;
  gbt_dataset *here = make_set(&ctx, m, 0);
#if defined(GBT_TEST_SIMT)
  if (little) simt_memory(3000000);
#else
  (void)little; /* a device's memory is what it is */
#endif
  made_up = bytes_up();
  gbt_dataset *there = make_set(&ctx, m, 1);
  made_up = bytes_up() - made_up;
#if defined(GBT_TEST_SIMT)
  simt_memory(0);
#endif
  if (here && there) {
    same_all_cuts(here->cuts, there->cuts);
    same_stores(here->pages, there->pages);
    same_trainings(&ctx, &job, here, there, up);
#if defined(GBT_TEST_SIMT)
    const int64_t numbers = doubles * ROWS * 8 + (weighted ? ROWS * 8 : 0), codes = n_cols * (int64_t)ROWS;
    if (doubles == n_cols && !little) {
      CHECK(made_up >= numbers && made_up < numbers + 40000);
      CHECK(up[1] <= up[0] - codes && up[1] < ROWS * (weighted ? 16 : 8) + 40000);
    } else if (little) {
      CHECK(made_up > numbers && up[1] == up[0]);
    }
#endif
    test_note("%d columns, %d dense of doubles: %lld bytes up for cuts and pages, %lld instead of %lld for training",
              (int)n_cols, (int)doubles, (long long)made_up, (long long)up[1], (long long)up[0]);
  }
  gbt_dataset_unref(here);
  gbt_dataset_unref(there);
  made_free(m);
  gbt_ctx_close(&ctx);
}

static void dense_columns(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_BELL, MADE_BELL};
  one_table(kinds, 4, 0, 0);
  one_table(kinds, 4, 1, 0);
}

static void columns_of_all_kinds(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_LEVELS, MADE_ZEROS, MADE_FEW, MADE_ORDERED, MADE_HOLED};
  one_table(kinds, 6, 0, 0);
}

static void little_memory(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_BELL, MADE_BELL};
  one_table(kinds, 4, 0, 1);
}

void suite_cuda_once(void) {
  RUN(dense_columns);
  RUN(columns_of_all_kinds);
  RUN(little_memory);
}
