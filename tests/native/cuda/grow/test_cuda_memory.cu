/* Device memory that a training takes for a row: docs/gpu.md, lists it by buffer. */
#include "../../src/cuda/grow/batch.cuh"

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

/* Of trees that grow together, as of symmetric ones, both orders have gradients: 24 bytes a row for each output. */
static void memory_of_sums(void) {
  gbt_params alone = usual(), together = usual();
  together.multi_strategy = 1;
  choose_rows();
  CHECK_NEAR(bytes_a_row(COLUMNS, 0, together) - bytes_a_row(COLUMNS, 0, alone), 4.0 + 4.0, 0.5);
  alone.grow_policy = together.grow_policy = GBT_SYMMETRIC;
  CHECK_NEAR(bytes_a_row(COLUMNS, 0, together), bytes_a_row(COLUMNS, 0, alone), 0.1);
  CHECK_NEAR(bytes_a_row(COLUMNS, 0, together) - bytes_a_row(ANY, 0, alone), 8.0 + 8.0 + 24.0, 0.5);
}

static size_t allowed_bytes;

static gbt_status open_limited(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  cu_hooks hooks = {};
  hooks.most_bytes = allowed_bytes;
  gbt_status status = GBT_E_MEM;
  for (int codes = CU_ALL_CODES; status == GBT_E_MEM && codes < CU_N_CODES; codes++)
    status = cu_open_with(ctx, device, spec, (cu_resides)codes, &hooks, out, err);
  return status;
}

/* 1: trained with so much memory, to the same bytes; 0: refused. */
static int trains_within(const train_job *job, const trained *cpu, size_t bytes) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  int ok = 0;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  if (job_open(&ctx, job, 0, &spec)) {
    const gbt_device_api door = cuda_door(open_limited);
    spec.device = &door;
    allowed_bytes = bytes;
    const gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, test_err);
    if (status == GBT_OK && CHECK_OK(gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err))) {
      trained *cuda = trained_of(&ctx, job, &spec, tr);
      ok = CHECK(same_trained(cpu, cuda));
      trained_free(cuda);
    }
    CHECK(status == GBT_OK || (status == GBT_E_MEM && tr == NULL && strstr(test_err->msg, " megabytes ") != NULL));
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return ok;
}

/* Trees that grow together have room, all of them, or there is an error: with more memory, the model. */
static void sums_need_memory_for_all_trees(void) {
  made *m = made_new(5, 500, 6, NULL);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, 3, 0, 5);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 3, 2);
  job.spec.params.grow_policy = GBT_SYMMETRIC;
  job.spec.params.max_depth = 4;
  job.spec.params.multi_strategy = 1;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  trained *cpu = train(&job, &how);
  int n_fit = 0, n_short = 0;
  for (size_t bytes = 1 << 14; cpu != NULL && bytes <= (size_t)1 << 25; bytes *= 2) {
    if (trains_within(&job, cpu, bytes))
      n_fit++;
    else
      n_short += CHECK_EQ_I64(n_fit, 0);
  }
  CHECK(n_fit > 2 && n_short > 2);
  job.spec.params.hist_memory = 1;
  job.spec.params.max_depth = 9;
  CHECK(!trains_within(&job, cpu, (size_t)1 << 30));
  CHECK(strstr(test_err->msg, "raise `hist_memory`") != NULL);
  trained_free(cpu);
  made_free(m);
}

/* So many histograms as a layer has must fit, few of them as well; node by node trees do with those of two children. */
static void sums_keep_to_the_memory_of_histograms(void) {
  enum { N_COLS = 60, K = 8 };
  made_kind kinds[N_COLS];
  for (int c = 0; c < N_COLS; c++) kinds[c] = MADE_BELL;
  made *m = made_new(5, 600, N_COLS, kinds);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, K, 0, 5);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, K, 2);
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  job.spec.params.multi_strategy = 1;
  job.spec.params.hist_memory = 1;
  for (int64_t depth = 1; depth <= 3; depth++) {
    job.spec.params.max_depth = depth;
    for (int policy = 0; policy < 3; policy++) {
      job.spec.params.grow_policy = policy;
      trained *cpu = train(&job, &how);
      const int fits = cpu != NULL && trains_within(&job, cpu, (size_t)1 << 30);
      CHECK_EQ_I64(fits, policy != GBT_SYMMETRIC);
      if (policy == GBT_SYMMETRIC) CHECK(strstr(test_err->msg, "raise `hist_memory`") != NULL);
      trained_free(cpu);
    }
  }
  made_free(m);
}

void suite_cuda_memory(void) {
  RUN(memory_of_a_row);
  RUN(memory_of_other_trainings);
  RUN(memory_of_columns);
  RUN(memory_of_sums);
  RUN(sums_need_memory_for_all_trees);
  RUN(sums_keep_to_the_memory_of_histograms);
}
