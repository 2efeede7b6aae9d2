/* Numbers go up to the device once: a column for its cuts and its codes, and codes that were made there not at all.
 * Whatever goes up, data sets and models are the CPU's. */
#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/data/offload.h"
#include "chunks.h"
#include "datasets.h"
#include "made.h"
#include "mask_job.h"
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

/* Sets of the same rows, by the CPU, by the device from a table, and by the device from a source. */
static gbt_dataset *make_from(gbt_ctx *ctx, const gbt_table *table, const gbt_source *source, gbt_offload *help,
                              int64_t *up) {
  const gbt_dataset_spec spec = {
      .table = table, .source = source, .max_bin = 255, .page_rows = 5000, .help = help, .source_bytes = 1 << 20};
  gbt_dataset *ds = NULL;
  *up = bytes_up();
  CHECK_OK(gbt_dataset_make(ctx, &spec, &ds, test_err));
  *up = bytes_up() - *up;
  return ds;
}

static gbt_offload *help_with(gbt_ctx *ctx, int64_t least_cells) {
  gbt_offload *help = NULL;
  if (!CHECK_OK(gbt_cuda_api()->data(ctx, 0, &help, test_err))) return NULL;
  help->least_entries = 0;
  help->least_cells = least_cells;
  return help;
}

/* Bytes that go up with a data set that is trained on. */
static int64_t train_up(gbt_ctx *ctx, const made *m, gbt_dataset *ds) {
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  int64_t up;
  job.spec.params.max_depth = 2;
  CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, m->table.n_rows, test_err));
  trained_free(train_set(ctx, &job, ds, 1, &up));
  return up;
}

/* As table, then as chunks of `rows` rows; small: chunks of fewer cells are binned by the CPU. Bytes of all numbers go
 * up once, of the pages none where the device has made all of them. */
static void up_once(const made *m, int64_t numbers, int64_t rows, int small) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbt_table *t = &m->table;
  const int64_t codes = t->n_rows * (int64_t)t->n_cols, label = t->n_rows * 8;
  chunks *c = chunks_new(t, rows, 0);
  gbt_offload *help[2] = {help_with(&ctx, 0), help_with(&ctx, small ? rows * t->n_cols : 0)};
  int64_t ignored, up[2];
  gbt_dataset *here = make_from(&ctx, t, NULL, NULL, &ignored);
  gbt_dataset *there[2] = {make_from(&ctx, t, NULL, help[0], &up[0]),
                           make_from(&ctx, NULL, &c->source, help[1], &up[1])};
  for (int k = 0; k < 2; k++) {
    if (help[k]) help[k]->close(help[k]);
    if (!here || !there[k]) continue;
    same_all_cuts(here->cuts, there[k]->cuts);
    same_stores(here->pages, there[k]->pages);
    const int64_t trained_up = train_up(&ctx, m, there[k]);
#if defined(GBT_TEST_SIMT)
    CHECK(up[k] >= numbers && up[k] < numbers + 60000);
    if (k == 1 && small)
      CHECK(trained_up > codes);
    else
      CHECK(trained_up < label + 40000);
#else
    (void)numbers, (void)codes, (void)label, (void)trained_up;
#endif
  }
  gbt_dataset_unref(here);
  for (int k = 0; k < 2; k++) gbt_dataset_unref(there[k]);
  chunks_free(c);
  gbt_ctx_close(&ctx);
}

static void dense_columns_of_a_source(void) {
  const made_kind kinds[COLUMNS] = {MADE_BELL, MADE_HOLES, MADE_BELL, MADE_BELL, MADE_HOLES, MADE_BELL};
  made *m = made_new(12, ROWS, 6, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 12);
  up_once(m, ROWS * 6 * 8, 11000, 0);
  up_once(m, ROWS * 6 * 8, 32000, 1);
  made_free(m);
}

/* Values and rows of entries: 12 bytes. */
static void sparse_columns(void) {
  const made_kind kinds[COLUMNS] = {MADE_BELL, MADE_HOLES, MADE_BELL};
  made *dense = made_new(13, ROWS, 3, kinds);
  for (int64_t r = 0; r < ROWS; r++)
    if (r % 5 == 0) ((double *)(uintptr_t)dense->table.cols[0].values)[r] = 0.0;
  made_response(dense, GBT_OBJ_SQUARED_ERROR, 1, 13);
  made *m = made_sparse(dense, 3);
  int64_t entries = 0;
  for (int c = 0; c < 3; c++) {
    CHECK(m->table.cols[c].rows != NULL && m->table.cols[c].n_entries > ROWS / 2);
    entries += m->table.cols[c].n_entries;
  }
  CHECK(entries < 3 * ROWS);
  up_once(m, entries * 12, 11000, 0);
  made_free(m);
  made_free(dense);
}

/* On rows of a set, all of whose others are validation data; on_device: the set's codes are there. */
static trained *train_rows(gbt_ctx *ctx, const masked_job *j, gbt_dataset *all, int on_device) {
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  trained *t = NULL;
  int ok = masked_job_open(ctx, j, all, 1, 0, &spec);
  spec.device = on_device ? gbt_cuda_api() : NULL;
  int64_t up = bytes_up();
  ok = ok && CHECK_OK(gbt_trainer_new(ctx, &spec, &tr, test_err));
  up = bytes_up() - up;
#if defined(GBT_TEST_SIMT)
  if (ok && on_device) CHECK(up < ROWS * (8 + 4) + 60000);
#endif
  if (ok && CHECK_OK(gbt_trainer_run(ctx, tr, j->sub.rounds, &why, test_err))) t = trained_of(ctx, &j->sub, &spec, tr);
  gbt_trainer_free(tr);
  job_close(&spec);
  return t;
}

/* Some rows of a set whose codes are on the device: their numbers go up. */
static void rows_of_a_mask(void) {
  const made_kind kinds[] = {MADE_BELL,  MADE_HOLES, MADE_FEW,    MADE_BELL, MADE_BELL,
                             MADE_HOLES, MADE_BELL,  MADE_LEVELS, MADE_BELL};
  gbt_ctx ctx = test_ctx(NULL, 2);
  made *m = made_new(14, ROWS, COLUMNS, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 14);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
  job.spec.params.max_depth = 2;
  gbt_dataset *sets[2] = {make_set(&ctx, m, 0), make_set(&ctx, m, 1)};
  const mask_kind masks[] = {MASK_ALL, MASK_ONE, MASK_HALF, MASK_RUN};
  for (size_t i = 0; i < sizeof masks / sizeof *masks && sets[0] && sets[1]; i++) {
    int *mask = mask_make(masks[i], ROWS, 15);
    masked_job j = masked_job_make(&job, mask);
    trained *t[2];
    for (int k = 0; k < 2; k++) t[k] = train_rows(&ctx, &j, sets[k], k);
    if (CHECK(t[0] && t[1])) CHECK(same_trained(t[0], t[1]));
    for (int k = 0; k < 2; k++) trained_free(t[k]);
    masked_job_free(&j);
    free(mask);
  }
  for (int k = 0; k < 2; k++) gbt_dataset_unref(sets[k]);
  made_free(m);
  gbt_ctx_close(&ctx);
}

#if defined(GBT_TEST_SIMT)
/* Opens a training on a device of so much memory. Returns its status, and what went up. */
static gbt_status open_in(gbt_ctx *ctx, const train_job *job, gbt_dataset *ds, size_t bytes, int64_t *up,
                          gbt_error *err) {
  gbt_trainer_spec spec = job->spec;
  gbt_trainer *tr = NULL;
  spec.train = ds;
  spec.device = gbt_cuda_api();
  simt_memory(bytes);
  *up = bytes_up();
  const gbt_status status = gbt_trainer_new(ctx, &spec, &tr, err);
  *up = bytes_up() - *up;
  gbt_trainer_free(tr);
  simt_memory(0);
  return status;
}

/* Codes that were left on the device go when a training has no room in addition to them. With less room still, all that
 * was taken is given back, and the error says how much there was. */
static void codes_make_room(void) {
  enum { STEP = 50000, MOST = 4000000 };
  const int64_t codes = (int64_t)ROWS * COLUMNS;
  const made_kind kinds[COLUMNS] = {MADE_BELL, MADE_HOLES, MADE_BELL, MADE_BELL, MADE_BELL,
                                    MADE_BELL, MADE_BELL,  MADE_BELL, MADE_BELL};
  gbt_ctx ctx = test_ctx(NULL, 2);
  made *m = made_new(16, ROWS, COLUMNS, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 16);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.spec.params.max_depth = 2;
  const int64_t live = simt_live();
  gbt_dataset *ds = make_set(&ctx, m, 1);
  size_t bytes = MOST;
  int64_t first = 0, up = 0;
  REQUIRE(ds != NULL);
  CHECK_OK(open_in(&ctx, &job, ds, bytes, &first, test_err));
  for (up = first; up < first + codes && bytes > STEP; bytes -= STEP)
    CHECK_OK(open_in(&ctx, &job, ds, bytes, &up, test_err));
  CHECK(bytes > STEP && up >= first + codes); /* pages went up, in the same call */
  CHECK_OK(open_in(&ctx, &job, ds, 0, &up, test_err));
  CHECK(up >= first + codes && up < first + codes + ROWS * 8);
  CHECK_FAILS(open_in(&ctx, &job, ds, bytes / 2, &up, test_err), GBT_E_MEM, "MB are needed");
  CHECK_FAILS(open_in(&ctx, &job, ds, bytes / 2, &up, test_err), GBT_E_MEM, "MB are free");
  gbt_dataset_unref(ds);
  CHECK_EQ_I64(simt_live(), live);
  made_free(m);
  gbt_ctx_close(&ctx);
}
#endif

void suite_cuda_once(void) {
  RUN(dense_columns_of_a_source);
  RUN(sparse_columns);
  RUN(rows_of_a_mask);
#if defined(GBT_TEST_SIMT)
  RUN(codes_make_room);
#endif
  RUN(dense_columns);
  RUN(columns_of_all_kinds);
  RUN(little_memory);
}
