/* Device memory that a training takes for a row: docs/gpu.md, lists it by buffer. */
#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "random_job.h"
}
#include "cuda_door.cuh"

extern "C" void suite_cuda_memory(void);

enum { COLS = 28, TILE_BYTES = 32 /* of a row of 28 codes of 8 bits: the one copy of the codes */ };

static int64_t n_rows_tried; /* just so many that tiles are not narrower, to busy the device: cu_tile_columns */
static size_t opened_bytes, copy_bytes;

static void choose_rows(void) {
  int units = 0;
  CHECK_EQ_I64(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  n_rows_tried = 40000;
  while (cu_tile_columns(n_rows_tried, COLS, units) < COLS) n_rows_tried += 10000;
}

static gbt_status open_counted(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  const cu_backend *be = (const cu_backend *)*out;
  opened_bytes = be->device.memory.bytes;
  copy_bytes = be->data[0].copy.n;
  CHECK_EQ_U64(be->data[0].words.n, (uint64_t)spec->data[0]->rows.n * TILE_BYTES / 4 + 1);
  return GBT_OK;
}

/* What labels look like: classes, numbers that floats hold, any; of two columns. */
enum { CLASSES = 0, FLOATS, ANY, N_LABELS, COLUMNS = N_LABELS };

static size_t bytes_of(int64_t n_rows, int labels, int weights, gbt_params params) {
  const gbt_objective_kind loss = labels == CLASSES ? GBT_OBJ_LOGISTIC : GBT_OBJ_SQUARED_ERROR;
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_BELL;
  made *m = made_new(5, n_rows, COLS, kinds);
  made_response(m, loss, 1, 5);
  if (labels == COLUMNS) made_columns(m, loss, 2, weights, 5);
  for (int64_t r = 0; r < n_rows && labels == FLOATS; r++) m->label[r] = (double)(float)m->label[r];
  if (weights && labels != COLUMNS) made_weights(m, 7);
  train_job job = job_make(m, loss, labels == COLUMNS ? 2 : 1, 1);
  job.spec.params = params;
  opened_bytes = 0;
  trained *t = train_through(open_counted, &job, &how);
  CHECK(t != NULL && opened_bytes > 0);
  trained_free(t);
  made_free(m);
  return opened_bytes;
}

/* Of the rows after the first ones, so that what does not grow with them is not counted. */
static double bytes_a_row(int labels, int weights, gbt_params params) {
  const size_t few = bytes_of(n_rows_tried, labels, weights, params),
               many = bytes_of(2 * n_rows_tried, labels, weights, params);
  return (double)(many - few) / (double)n_rows_tried - TILE_BYTES;
}

static gbt_params usual(void) {
  gbt_params p = gbt_params_default();
  p.max_depth = 1;
  return p;
}

/* Beside one copy of the codes, with the other one by column. */
static void memory_of_a_row(void) {
  const double most[N_LABELS] = {58.0, 61.0, 65.0};
  choose_rows();
  for (int labels = 0; labels < N_LABELS; labels++) {
    const double bytes = bytes_a_row(labels, 0, usual());
    CHECK(bytes <= most[labels] && bytes >= most[labels] - 2.0);
    CHECK(copy_bytes >= (size_t)2 * (size_t)n_rows_tried * COLS);
  }
}

/* Weights are doubles here. Trees that draw rows, or share gradients, have one order's gradients more. */
static void memory_of_other_trainings(void) {
  gbt_params several = usual(), drawn = usual();
  several.num_parallel_tree = 2;
  drawn.subsample = 0.5;
  choose_rows();
  const double plain = bytes_a_row(CLASSES, 0, usual());
  CHECK_NEAR(bytes_a_row(CLASSES, 1, usual()) - plain, 8.0, 0.1);
  CHECK_NEAR(bytes_a_row(CLASSES, 0, drawn) - plain, 4.125, 0.1);
  CHECK_NEAR(bytes_a_row(CLASSES, 0, several) - plain, 4.0 + 16.0, 0.1); /* and two orders of its own */
}

/* A column has scores, labels and, by cell, weights of its own; gradients, rows of nodes in two orders, and gradients
 * next to the odd one are those of one tree more. */
static void memory_of_columns(void) {
  choose_rows();
  const double one = bytes_a_row(ANY, 0, usual()), two = bytes_a_row(COLUMNS, 0, usual());
  CHECK_NEAR(two - one, 8.0 + 8.0 + 8.0 + 8.0 + 4.0, 0.5);
  CHECK_NEAR(bytes_a_row(COLUMNS, 1, usual()) - two, 16.0, 0.1);
}

void suite_cuda_memory(void) {
  RUN(memory_of_a_row);
  RUN(memory_of_other_trainings);
  RUN(memory_of_columns);
}
