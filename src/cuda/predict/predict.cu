/* Prediction: rows come by in chunks, two of them under way at a time.
 *
 *   host     reads a chunk column by column into page-locked memory, with all threads of the call
 *   device   takes it up, reads tables, passes it through the runs of trees, sends results back; each chunk in a stream
 *            of its own
 *   host     waits for the chunk before the last and copies its results, then reads the next one in its place
 *
 * Trees that have no room on the device together go over all rows a part of the runs after the other; scores are taken
 * up again with every chunk, so their additions keep the forest's order.
 *
 * Memory: a chunk takes CHUNK_BYTES or LEAST_ROWS rows, whatever is more, twice in page-locked memory and twice on the
 * device (there with codes, 2 bytes a row and column of codes). Where there is not so much, chunks get smaller, and
 * then fewer runs are there at a time. Tables go up once, those that pay (TABLE_ROW_BYTES) and have room in a quarter
 * of what is free; when they leave no room for anything else they go, and the host reads what they were for. */
#include "../base/stage.cuh"
#include "predict.cuh"

extern "C" {
#include "../../gbt/tree/vectors.h"
}

enum {
  CHUNK_BYTES = 1 << 24, /* of the columns and results of a chunk */
  LEAST_ROWS = 32,
  WHOLE_ROWS = 1 << 16, /* fewer are not cut for the sake of overlap */
  CUT_ROWS = 4,         /* chunks at least of more */
  BUFFERS = 2
};

static const int64_t BLOCK_ROWS = 1 << 13; /* that a task reads or copies of a column */

#define CHUNK_STEPS 0x1p36 /* of a chunk through all trees: some tenths of a second between two polls */
#define FOREST_BYTES ((size_t)1 << 32)

/* Bytes of a projection's tables that a row pays for. The host reads a key in 30 to 60 ns, some of its threads in 5;
 * in that time 64 bytes go up. */
#define TABLE_ROW_BYTES 64

struct cu_predict_buffer {
  cudaStream_t stream;
  cu_predict_chunk chunk;
  cu_array<double> x, score;
  cu_array<uint32_t> level;
  cu_array<uint16_t> code;
  cu_array<int32_t> leaf;
  double *x_up;       /* page-locked */
  uint32_t *level_up; /* page-locked */
  void *result;       /* page-locked: scores, up and down; or leaves, down */
  int64_t row;        /* the chunk's first */
  int busy;           /* its results are to be copied */
};

struct cu_predict_pipe {
  gbt_ctx *ctx;
  const gbti_predict_job *job;
  cu_memory memory;
  cu_predict_device device;
  cu_predict_tables tables;
  cu_predict_runs runs;
  cu_predict_buffer buffer[BUFFERS];
  int64_t rows;      /* most of a chunk */
  int64_t n_blocks;  /* tasks of a column, for the current chunk */
  int64_t n_results; /* columns of results */
  cu_predict_buffer *at;
  int64_t *cursor; /* by thread: n_read, then n_levels */
};

/* ---- a chunk, on the host ---- */

static void read_task(void *arg, int64_t task, int thread) {
  const cu_predict_pipe *p = (const cu_predict_pipe *)arg;
  const cu_predict_buffer *b = p->at;
  int64_t column = task / p->n_blocks, beg = task % p->n_blocks * BLOCK_ROWS, n = b->chunk.n_rows;
  int64_t m = n - beg < BLOCK_ROWS ? n - beg : BLOCK_ROWS;
  int64_t n_read = p->tables.n_read, n_in = n_read + p->tables.n_levels;
  int64_t *cursor = p->cursor + thread * n_in + column;
  if (column < n_read) {
    gbt_binding_read(p->job->binding, b->row + beg, (int32_t)m, &p->tables.feat[column], 1, cursor,
                     b->x_up + column * n + beg, 1);
  } else if (column < n_in) {
    gbti_read_levels(p->job->binding, p->tables.level[column - n_read], b->row + beg, (int32_t)m, cursor,
                     b->level_up + (column - n_read) * n + beg);
  } else {
    const double *from = p->job->scores + (column - n_in) * p->job->n_rows + b->row + beg;
    memcpy((double *)b->result + (column - n_in) * n + beg, from, (size_t)m * sizeof *from);
  }
}

static void copy_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_predict_pipe *p = (const cu_predict_pipe *)arg;
  const cu_predict_buffer *b = p->at;
  int64_t column = task / p->n_blocks, beg = task % p->n_blocks * BLOCK_ROWS, n = b->chunk.n_rows;
  size_t m = (size_t)(n - beg < BLOCK_ROWS ? n - beg : BLOCK_ROWS);
  if (p->job->scores != NULL) {
    memcpy(p->job->scores + column * p->job->n_rows + b->row + beg, (const double *)b->result + column * n + beg,
           m * sizeof(double));
  } else {
    int64_t to = column + (int64_t)(p->runs.trees.beg - p->job->first_tree);
    memcpy(p->job->leaves + to * p->job->n_rows + b->row + beg, (const int32_t *)b->result + column * n + beg,
           m * sizeof(int32_t));
  }
}

static gbt_status run_blocks(cu_predict_pipe *p, cu_predict_buffer *b, int64_t n_columns, gbt_task_fn fn,
                             gbt_error *err) {
  p->at = b;
  p->n_blocks = ((int64_t)b->chunk.n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
  return gbt_parallel(p->ctx, n_columns * p->n_blocks, fn, p, err);
}

/* ---- a chunk, there and back ---- */

static gbt_status issue(cu_predict_pipe *p, cu_predict_buffer *b, gbt_error *err) {
  GBT_ASSERT(b->chunk.n_rows > 0 && (int64_t)b->chunk.n_rows <= p->rows);
  size_t n = b->chunk.n_rows, n_results = (size_t)p->n_results * n;
  const size_t n_read = (size_t)p->tables.n_read, n_levels = (size_t)p->tables.n_levels;
  if (n_read > 0)
    CU_TRY(cudaMemcpyAsync(b->x.at, b->x_up, n * n_read * sizeof(double), cudaMemcpyHostToDevice, b->stream));
  if (n_levels > 0)
    CU_TRY(
        cudaMemcpyAsync(b->level.at, b->level_up, n * n_levels * sizeof(uint32_t), cudaMemcpyHostToDevice, b->stream));
  if (b->chunk.score != NULL)
    CU_TRY(cudaMemcpyAsync(b->chunk.score, b->result, n_results * sizeof(double), cudaMemcpyHostToDevice, b->stream));
  GBT_TRY(cu_predict_tables_pass(&p->device, &p->tables, &b->chunk, b->stream, err));
  for (size_t i = 0; i < p->runs.n_runs; i++)
    GBT_TRY(
        cu_predict_pass(&p->device, &p->runs, &p->runs.run[i], p->job->forest->n_outputs, &b->chunk, b->stream, err));
  if (b->chunk.score != NULL)
    CU_TRY(cudaMemcpyAsync(b->result, b->chunk.score, n_results * sizeof(double), cudaMemcpyDeviceToHost, b->stream));
  else
    CU_TRY(cudaMemcpyAsync(b->result, b->chunk.leaf, n_results * sizeof(int32_t), cudaMemcpyDeviceToHost, b->stream));
  return GBT_OK;
}

static gbt_status finish(cu_predict_pipe *p, cu_predict_buffer *b, gbt_error *err) {
  if (!b->busy) return GBT_OK;
  CU_TRY(cudaStreamSynchronize(b->stream));
  b->busy = 0;
  return run_blocks(p, b, p->n_results, copy_task, err);
}

static gbt_status pass_rows(cu_predict_pipe *p, gbt_error *err) {
  GBT_ASSERT(p->rows > 0);
  int64_t n_rows = p->job->n_rows, n_columns = p->tables.n_read + p->tables.n_levels;
  int which = 0;
  if (p->job->scores != NULL) n_columns += p->n_results;
  for (int64_t row = 0; row < n_rows; row += p->rows, which = (which + 1) % BUFFERS) {
    cu_predict_buffer *b = &p->buffer[which];
    GBT_TRY(gbt_ctx_poll(p->ctx, err));
    GBT_TRY(finish(p, b, err));
    int64_t n = n_rows - row < p->rows ? n_rows - row : p->rows;
    b->row = row;
    b->chunk.n_rows = (uint32_t)n;
    b->chunk.stride = (uint64_t)n;
    b->chunk.code_stride = (uint64_t)((n + CU_PREDICT_HEIGHT - 1) / CU_PREDICT_HEIGHT * CU_PREDICT_HEIGHT);
    GBT_TRY(run_blocks(p, b, n_columns, read_task, err));
    b->busy = 1; /* before anything is under way, so that it is waited for */
    GBT_TRY(issue(p, b, err));
  }
  for (int i = 0; i < BUFFERS; i++, which = (which + 1) % BUFFERS) GBT_TRY(finish(p, &p->buffer[which], err));
  return GBT_OK;
}

/* ---- buffers ---- */

static void drop_buffer(cu_memory *memory, cu_predict_buffer *b) {
  if (b->stream != NULL) (void)cudaStreamSynchronize(b->stream);
  b->busy = 0;
  cu_drop(memory, &b->x);
  cu_drop(memory, &b->score);
  cu_drop(memory, &b->code);
  cu_drop(memory, &b->leaf);
  cu_drop(memory, &b->level);
  cu_host_free(&b->x_up);
  cu_host_free(&b->level_up);
  cu_host_free(&b->result);
}

static gbt_status make_buffer(cu_predict_pipe *p, cu_predict_buffer *b, gbt_error *err) {
  size_t n = (size_t)p->rows, n_results = n * (size_t)p->n_results, most_code_cols = 0;
  size_t height = (n + CU_PREDICT_HEIGHT - 1) / CU_PREDICT_HEIGHT * CU_PREDICT_HEIGHT;
  for (size_t i = 0; i < p->runs.n_runs; i++)
    if (p->runs.run[i].n_code_cols > most_code_cols) most_code_cols = p->runs.run[i].n_code_cols;
  int scores = p->job->scores != NULL;
  const size_t n_cols = (size_t)p->tables.n_cols, n_read = (size_t)p->tables.n_read;
  const size_t n_levels = (size_t)p->tables.n_levels;
  if (n_cols > 0) GBT_TRY(cu_new(&p->memory, &b->x, n * n_cols, err));
  if (n_read > 0) GBT_TRY(cu_host_alloc(n * n_read * sizeof(double), &b->x_up, err));
  if (n_levels > 0) {
    GBT_TRY(cu_new(&p->memory, &b->level, n * n_levels, err));
    GBT_TRY(cu_host_alloc(n * n_levels * sizeof(uint32_t), &b->level_up, err));
  }
  if (most_code_cols > 0) GBT_TRY(cu_new(&p->memory, &b->code, height * most_code_cols, err));
  if (scores)
    GBT_TRY(cu_new(&p->memory, &b->score, n_results, err));
  else
    GBT_TRY(cu_new(&p->memory, &b->leaf, n_results, err));
  GBT_TRY(cu_host_alloc(n_results * (scores ? sizeof(double) : sizeof(int32_t)), &b->result, err));
  b->chunk.x = b->x.at;
  b->chunk.level = b->level.at;
  b->chunk.code = b->code.at;
  b->chunk.score = b->score.at;
  b->chunk.leaf = b->leaf.at;
  return GBT_OK;
}

/* Rows of a chunk: by memory, by time, and so that large tables have some. */
static int64_t chunk_rows(const cu_predict_pipe *p, const cu_predict_limits *limits) {
  int64_t n_rows = p->job->n_rows;
  size_t result = p->job->scores != NULL ? sizeof(double) : sizeof(int32_t);
  size_t row = (size_t)p->tables.n_cols * sizeof(double) + (size_t)p->tables.n_levels * sizeof(uint32_t) +
               (size_t)p->n_results * result;
  double n_steps = 1.0;
  for (size_t i = 0; i < p->runs.n_runs; i++) n_steps += p->runs.run[i].n_steps;
  double by_steps = CHUNK_STEPS / n_steps;
  int64_t rows = (int64_t)(CHUNK_BYTES / row), whole = (n_rows + CUT_ROWS - 1) / CUT_ROWS;
  if (whole < WHOLE_ROWS) whole = WHOLE_ROWS;
  if (rows > whole) rows = whole;
  if ((double)rows > by_steps) rows = (int64_t)by_steps;
  if (rows < LEAST_ROWS) rows = LEAST_ROWS;
  if (limits->chunk_rows > 0) rows = limits->chunk_rows;
  return rows < n_rows ? rows : n_rows;
}

static gbt_status make_buffers(cu_predict_pipe *p, const cu_predict_limits *limits, gbt_error *err) {
  p->rows = chunk_rows(p, limits);
  for (;;) {
    gbt_status status = GBT_OK;
    int n_buffers = p->rows < p->job->n_rows ? BUFFERS : 1; /* one chunk needs no second one */
    for (int i = 0; status == GBT_OK && i < n_buffers; i++) status = make_buffer(p, &p->buffer[i], err);
    if (status != GBT_E_MEM || p->rows == 1) return status;
    for (int i = 0; i < BUFFERS; i++) drop_buffer(&p->memory, &p->buffer[i]);
    p->rows /= 2;
  }
}

/* ---- a job ---- */

static void drop_runs(cu_predict_pipe *p) {
  for (int i = 0; i < BUFFERS; i++) drop_buffer(&p->memory, &p->buffer[i]);
  cu_predict_runs_drop(&p->ctx->mem, &p->memory, &p->runs);
  gbt_mem_free(&p->ctx->mem, p->cursor);
  p->cursor = NULL;
}

/* Runs and their buffers. Trees may leave no room for rows: then fewer of them. */
static gbt_status make_runs(cu_predict_pipe *p, cu_predict_plan plan, const cu_predict_limits *limits,
                            gbt_tree_range trees, gbt_error *err) {
  for (;;) {
    GBT_TRY(cu_predict_runs_make(p->ctx, &plan, trees, &p->runs, err));
    p->n_results = p->job->scores != NULL ? p->job->forest->n_outputs : (int64_t)(p->runs.trees.end - trees.beg);
    gbt_status status = make_buffers(p, limits, err);
    if (status != GBT_E_MEM || p->runs.n_runs == 1) return status;
    plan.most_runs = p->runs.n_runs / 2;
    drop_runs(p);
  }
}

static gbt_status pass_runs(cu_predict_pipe *p, const cu_predict_plan *plan, const cu_predict_limits *limits,
                            gbt_tree_range *trees, gbt_error *err) {
  size_t n_threads = (size_t)p->ctx->n_threads, n_in = (size_t)(p->tables.n_read + p->tables.n_levels);
  GBT_TRY(make_runs(p, *plan, limits, *trees, err));
  GBT_TRY(gbt_mem_zeros(&p->ctx->mem, n_threads * n_in, sizeof *p->cursor, &p->cursor, err));
  GBT_TRY(pass_rows(p, err));
  trees->beg = p->runs.trees.end;
  return GBT_OK;
}

/* Columns and tables for the trees. Nothing that goes up may be there. with_tables: 0 when there is no room for any. */
static gbt_status make_tables(cu_predict_pipe *p, cu_predict_plan *plan, const cu_predict_limits *limits,
                              gbt_tree_range trees, int with_tables, gbt_error *err) {
  size_t free_bytes = 0, total = 0;
  const gbt_schema *schema = p->job->binding->schema;
  cu_predict_room room = {limits->table_bytes, limits->table_bytes};
  if (limits->table_bytes == 0 && schema->n_projections > 0) {
    CU_TRY(cudaMemGetInfo(&free_bytes, &total));
    if (p->memory.limit > 0 && p->memory.limit < free_bytes) free_bytes = p->memory.limit;
    room.bytes = free_bytes / 4;
    room.each = (size_t)p->job->n_rows * TABLE_ROW_BYTES;
  }
  if (!with_tables) room.bytes = 0;
  cu_predict_tables_drop(&p->ctx->mem, &p->memory, &p->tables);
  GBT_TRY(cu_predict_tables_make(p->ctx, plan, schema, trees, &room, &p->tables, err));
  plan->column = p->tables.column;
  return GBT_OK;
}

static int lacks_device_memory(gbt_status status, const gbt_error *err) {
  return status == GBT_E_MEM && strcmp(err->subject, "device") == 0;
}

/* Sends all rows through all trees, as many trees at a time as fit into memory; without tables if these do not fit as
 * well. */
static gbt_status pass_trees(cu_predict_pipe *p, cu_predict_plan *plan, const cu_predict_limits *limits,
                             gbt_tree_range trees, gbt_error *err) {
  int with_tables = 1;
  gbt_error why = {};
  gbt_status status = make_tables(p, plan, limits, trees, with_tables, &why);
  while (status == GBT_OK ? trees.beg < trees.end : with_tables && lacks_device_memory(status, &why)) {
    if (status != GBT_OK) {
      with_tables = 0;
      status = make_tables(p, plan, limits, trees, with_tables, &why);
    } else {
      status = pass_runs(p, plan, limits, &trees, &why);
      drop_runs(p);
    }
  }
  if (status != GBT_OK && err != NULL) *err = why;
  return status;
}

static gbt_status find_device(int32_t number, const cu_predict_limits *limits, cu_predict_device *device,
                              gbt_error *err) {
  int n_units, shared;
  CU_TRY(cudaSetDevice(number));
  CU_TRY(cudaDeviceGetAttribute(&n_units, cudaDevAttrMultiProcessorCount, number));
  CU_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, number));
  device->n_units = n_units;
  device->shared = ((size_t)shared - 3072) / 2; /* two blocks, and what the system takes of each */
  if (limits->shared_bytes > 0) device->shared = limits->shared_bytes;
  device->rows = limits->rows;
  device->blocks = limits->blocks;
  return GBT_OK;
}

/* Trees whose leaves hold a value for every output. For their leaves alone values do not matter; for scores they become
 * trees of single outputs, which add the same values in the same order. */
static gbt_status predict_vectors(gbt_ctx *ctx, int32_t device, const gbti_predict_job *job, gbt_tree_range trees,
                                  const cu_predict_limits *limits, gbt_error *err) {
  gbti_predict_job own = *job;
  gbt_forest_view view = *job->forest;
  own.forest = &view;
  if (job->scores == NULL) {
    view.n_outputs = view.n_leaf_outputs = 1;
    return cu_predict(ctx, device, &own, trees, limits, err);
  }
  gbt_forest *apart;
  view.n_parallel = 1; /* so that ranges may begin within a round */
  GBT_TRY(gbt_forest_apart(&ctx->mem, &view, trees.beg, trees.end, &apart, err));
  view = gbt_forest_view_of(apart);
  const gbt_tree_range all = {0, view.n_trees};
  const gbt_status status = cu_predict(ctx, device, &own, all, limits, err);
  gbt_forest_free(apart);
  return status;
}

gbt_status cu_predict(gbt_ctx *ctx, int32_t device, const gbti_predict_job *job, gbt_tree_range trees,
                      const cu_predict_limits *limits, gbt_error *err) {
  cu_predict_pipe p = {};
  gbt_status status = GBT_OK;
  if (job->n_rows == 0 || trees.beg == trees.end) return GBT_OK;
  if (job->forest->n_leaf_outputs > 1) return predict_vectors(ctx, device, job, trees, limits, err);
  p.ctx = ctx;
  p.job = job;
  p.memory.limit = limits->device_bytes;
  GBT_TRY(find_device(device, limits, &p.device, err));
  for (int i = 0; i < BUFFERS; i++) {
    cudaError_t code = cudaStreamCreateWithFlags(&p.buffer[i].stream, cudaStreamNonBlocking);
    if (code != cudaSuccess) GBT_TRY_GOTO(cu_failed(code, "cudaStreamCreate", err), done);
  }
  {
    size_t forest_bytes = limits->forest_bytes > 0 ? limits->forest_bytes : FOREST_BYTES;
    uint32_t part_units = (uint32_t)(p.device.shared / 2 / sizeof(cu_predict_node) / 2 * 2);
    cu_predict_plan plan = {job->forest, NULL, &p.memory, p.buffer[0].stream, forest_bytes, SIZE_MAX, part_units};
    status = pass_trees(&p, &plan, limits, trees, err);
    cu_predict_tables_drop(&ctx->mem, &p.memory, &p.tables);
  }
done:
  for (int i = 0; i < BUFFERS; i++)
    if (p.buffer[i].stream != NULL) (void)cudaStreamDestroy(p.buffer[i].stream);
  return status;
}

gbt_status cu_predict_scores(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, const double *offset, double *out, gbt_error *err) {
  gbti_predict_job job = {forest, binding, binding->table->n_rows, first, out, NULL};
  gbt_tree_range trees = {first, first + n};
  cu_predict_limits limits = {};
  GBT_TRY(gbti_predict_check(&job, trees, err));
  GBT_TRY(gbti_predict_start(ctx, &job, offset, err));
  return cu_predict(ctx, device, &job, trees, &limits, err);
}

gbt_status cu_predict_leaves(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, int32_t *out, gbt_error *err) {
  gbti_predict_job job = {forest, binding, binding->table->n_rows, first, NULL, out};
  gbt_tree_range trees = {first, first + n};
  cu_predict_limits limits = {};
  GBT_TRY(gbti_predict_check(&job, trees, err));
  return cu_predict(ctx, device, &job, trees, &limits, err);
}
