/* Rows in chunks, for the trees that are ready.
 *
 *   host     reads a chunk's numbers and its results so far, column by column, with all threads of the call
 *   device   takes them up, plays all trees, sends the results back
 *
 * A chunk's kernel runs for some tenths of a second, its copies are short compared with that: so chunks do not overlap.
 *
 * Memory: trees that have no room together go one part after the other over all rows, as results are taken up again
 * with every chunk. A chunk takes CHUNK_BYTES or LEAST_ROWS rows; where there is not so much, chunks get smaller, then
 * fewer warps are there at a time, as each has scratch of its own, and then fewer trees. */
#include "explain.cuh"

enum {
  CHUNK_BYTES = 1 << 26,
  LEAST_ROWS = 32,
  WARPS_PER_UNIT = 32, /* of a multiprocessor */
  BATCH_BYTES = 1 << 26
};

static const int64_t BLOCK_ROWS = 1 << 13; /* that a task reads or copies of a column */

#define CHUNK_STEPS 0x1p36 /* of a chunk through all the trees: some tenths of a second between two polls */
#define TREE_BYTES ((size_t)1 << 30)

struct cu_explain_pipe {
  gbti_explain_run *run;
  const cu_explain_limits *limits;
  cudaStream_t stream;
  cu_memory memory;
  cu_explain_trees trees;
  cu_array<double> x, out, beta;
  cu_array<unsigned char> scratch;
  double *x_up, *results; /* page-locked */
  int64_t rows, row, n;   /* most of a chunk; the chunk's first, and how many it has */
  int64_t n_blocks, n_columns;
  int64_t *cursor; /* by thread and column of x */
  unsigned n_units, n_warps;
};

/* ---- a chunk, on the host ---- */

struct cu_explain_part {
  int64_t column, beg;
  size_t n;
};

static cu_explain_part part_of(const cu_explain_pipe *p, int64_t task) {
  const int64_t beg = task % p->n_blocks * BLOCK_ROWS, left = p->n - beg;
  cu_explain_part part = {task / p->n_blocks, beg, (size_t)(left < BLOCK_ROWS ? left : BLOCK_ROWS)};
  return part;
}

static void read_task(void *arg, int64_t task, int thread) {
  const cu_explain_pipe *p = (const cu_explain_pipe *)arg;
  const gbti_explain_run *run = p->run;
  const cu_explain_part part = part_of(p, task);
  if (part.column < run->n_feats) {
    gbt_binding_read(run->binding, p->row + part.beg, (int32_t)part.n, &run->feat[part.column], 1,
                     p->cursor + (int64_t)thread * run->n_feats + part.column, p->x_up + part.column * p->n + part.beg,
                     1);
    return;
  }
  const int64_t column = part.column - run->n_feats;
  memcpy(p->results + column * p->n + part.beg, run->out + column * run->n_rows + p->row + part.beg,
         part.n * sizeof(double));
}

static void copy_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_explain_pipe *p = (const cu_explain_pipe *)arg;
  const cu_explain_part part = part_of(p, task);
  memcpy(p->run->out + part.column * p->run->n_rows + p->row + part.beg, p->results + part.column * p->n + part.beg,
         part.n * sizeof(double));
}

static gbt_status pass_chunk(cu_explain_pipe *p, gbt_error *err) {
  gbti_explain_run *run = p->run;
  const size_t n = (size_t)p->n, n_feats = (size_t)run->n_feats, n_results = n * (size_t)p->n_columns;
  p->n_blocks = (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
  GBT_TRY(gbt_parallel(run->ctx, (run->n_feats + p->n_columns) * p->n_blocks, read_task, p, err));
  if (n_feats > 0)
    CU_TRY(cudaMemcpyAsync(p->x.at, p->x_up, n * n_feats * sizeof(double), cudaMemcpyHostToDevice, p->stream));
  CU_TRY(cudaMemcpyAsync(p->out.at, p->results, n_results * sizeof(double), cudaMemcpyHostToDevice, p->stream));
  cu_explain_pass pass = {p->trees.tree,
                          (uint32_t)(p->trees.end - p->trees.beg),
                          (uint32_t)n,
                          p->x.at,
                          p->out.at,
                          n,
                          run->spec->n_players,
                          run->spec->interactions,
                          p->beta.at,
                          p->scratch.at,
                          p->trees.scratch};
  GBT_TRY(cu_explain_play(&pass, p->n_warps, p->stream, err));
  CU_TRY(cudaMemcpyAsync(p->results, p->out.at, n_results * sizeof(double), cudaMemcpyDeviceToHost, p->stream));
  CU_TRY(cudaStreamSynchronize(p->stream));
  return gbt_parallel(run->ctx, p->n_columns * p->n_blocks, copy_task, p, err);
}

static gbt_status pass_rows(cu_explain_pipe *p, gbt_error *err) {
  gbti_explain_run *run = p->run;
  GBT_ASSERT(p->rows > 0);
  memset(p->cursor, 0, (size_t)run->ctx->n_threads * (size_t)run->n_feats * sizeof *p->cursor);
  for (p->row = 0; p->row < run->n_rows; p->row += p->rows) {
    GBT_TRY(gbt_ctx_poll(run->ctx, err));
    p->n = run->n_rows - p->row < p->rows ? run->n_rows - p->row : p->rows;
    GBT_TRY(pass_chunk(p, err));
  }
  return GBT_OK;
}

/* ---- memory ---- */

static void drop_buffers(cu_explain_pipe *p) {
  if (p->stream != NULL) (void)cudaStreamSynchronize(p->stream);
  cu_drop(&p->memory, &p->x);
  cu_drop(&p->memory, &p->out);
  cu_drop(&p->memory, &p->scratch);
  cu_host_free(&p->x_up);
  cu_host_free(&p->results);
}

static gbt_status make_buffers(cu_explain_pipe *p, gbt_error *err) {
  const size_t n_feats = (size_t)p->run->n_feats, n = (size_t)p->rows, n_results = n * (size_t)p->n_columns;
  const uint64_t groups = (n + 31) / 32;
  if (n_feats > 0) {
    GBT_TRY(cu_new(&p->memory, &p->x, n * n_feats, err));
    GBT_TRY(cu_host_alloc(n * n_feats * sizeof(double), &p->x_up, err));
  }
  GBT_TRY(cu_new(&p->memory, &p->out, n_results, err));
  GBT_TRY(cu_host_alloc(n_results * sizeof(double), &p->results, err));
  if (groups < p->n_warps) p->n_warps = (unsigned)groups;
  if (p->n_warps > 4) p->n_warps = p->n_warps / 4 * 4; /* whole blocks */
  return cu_new(&p->memory, &p->scratch, p->n_warps * p->trees.scratch.bytes, err);
}

static int64_t chunk_rows(const cu_explain_pipe *p) {
  const gbti_explain_run *run = p->run;
  const size_t row = ((size_t)run->n_feats + (size_t)p->n_columns) * sizeof(double);
  const double by_steps = CHUNK_STEPS / (p->trees.n_steps + 1.0);
  int64_t rows = (int64_t)(CHUNK_BYTES / row);
  if ((double)rows > by_steps) rows = (int64_t)by_steps;
  if (rows < LEAST_ROWS) rows = LEAST_ROWS;
  if (p->limits->chunk_rows > 0) rows = p->limits->chunk_rows;
  return rows < run->n_rows ? rows : run->n_rows;
}

static int lacks_device_memory(gbt_status status, const gbt_error *err) {
  return status == GBT_E_MEM && strcmp(err->subject, "device") == 0;
}

/* Buffers for the trees that are there; smaller ones where there is not so much memory. */
static gbt_status fit_buffers(cu_explain_pipe *p, gbt_error *err) {
  p->rows = chunk_rows(p);
  p->n_warps = p->limits->warps > 0 ? (unsigned)p->limits->warps : p->n_units * WARPS_PER_UNIT;
  for (;;) {
    const gbt_status status = make_buffers(p, err);
    if (!lacks_device_memory(status, err) || (p->rows == 1 && p->n_warps == 1)) return status;
    drop_buffers(p);
    if (p->rows > 1) p->rows = (p->rows + 1) / 2;
    if (p->n_warps > 1) p->n_warps /= 2;
  }
}

/* Some of the entries over all rows; *bytes: most of them, less where that was too much. */
static gbt_status pass_trees(cu_explain_pipe *p, size_t *bytes, gbt_error *err) {
  gbt_error why = {};
  gbt_status status = cu_explain_trees_make(p->run, &p->memory, p->stream, *bytes, &p->trees, &why);
  if (status == GBT_OK) status = fit_buffers(p, &why);
  const size_t beg = p->trees.beg, n = p->trees.end - beg;
  if (status == GBT_OK) status = pass_rows(p, &why);
  drop_buffers(p);
  cu_explain_trees_drop(&p->memory, &p->trees);
  if (lacks_device_memory(status, &why) && n > 1) {
    p->trees.beg = p->trees.end = beg;
    *bytes /= 2;
    return GBT_OK;
  }
  if (status != GBT_OK && err != NULL) *err = why;
  return status;
}

/* ---- a job ---- */

static gbt_status play_entries(cu_explain_pipe *p, gbt_error *err) {
  const gbti_explain_run *run = p->run;
  size_t bytes = p->limits->tree_bytes > 0 ? p->limits->tree_bytes : TREE_BYTES;
  GBT_TRY(gbt_mem_array(&run->ctx->mem, (size_t)run->ctx->n_threads * (size_t)run->n_feats, sizeof *p->cursor,
                        &p->cursor, err));
  if (run->beta != NULL) {
    double *up = NULL;
    const size_t n = (size_t)GBTI_BETA * GBTI_BETA;
    GBT_TRY(cu_new(&p->memory, &p->beta, n, err));
    GBT_TRY(cu_host_alloc(n * sizeof *up, &up, err));
    memcpy(up, run->beta, n * sizeof *up);
    cudaError_t code = cudaMemcpyAsync(p->beta.at, up, n * sizeof *up, cudaMemcpyHostToDevice, p->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(p->stream);
    cu_host_free(&up);
    if (code != cudaSuccess) return cu_failed(code, "cudaMemcpyAsync", err);
  }
  while (p->trees.end < run->n_entries) GBT_TRY(pass_trees(p, &bytes, err));
  return GBT_OK;
}

struct cu_explain_where {
  int32_t device;
  const cu_explain_limits *limits;
};

/* gbti_explain_run.rows */
static gbt_status rows_on_device(gbti_explain_run *run, gbt_error *err) {
  const cu_explain_where *where = (const cu_explain_where *)run->device;
  const size_t width = (size_t)run->spec->n_players + 1;
  cu_explain_pipe p = {};
  int n_units = 0;
  p.run = run;
  p.limits = where->limits;
  p.memory.limit = where->limits->device_bytes;
  p.n_columns = (int64_t)(run->spec->interactions ? width * width : width) * run->forest->n_outputs;
  CU_TRY(cudaSetDevice(where->device));
  CU_TRY(cudaDeviceGetAttribute(&n_units, cudaDevAttrMultiProcessorCount, where->device));
  p.n_units = (unsigned)n_units;
  CU_TRY(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  const gbt_status status = play_entries(&p, err);
  cu_drop(&p.memory, &p.beta);
  gbt_mem_free(&run->ctx->mem, p.cursor);
  (void)cudaStreamDestroy(p.stream);
  return status;
}

gbt_status cu_explain_within(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             const gbt_explain_spec *spec, const double *offset, double *out,
                             const cu_explain_limits *limits, gbt_error *err) {
  cu_explain_where where = {device, limits};
  gbti_explain_run by = {};
  by.rows = rows_on_device;
  by.device = &where;
  by.part_bytes = limits->part_bytes > 0 ? limits->part_bytes : (size_t)GBTI_PART_BYTES;
  by.batch_bytes = limits->batch_bytes > 0 ? limits->batch_bytes : (size_t)BATCH_BYTES;
  return gbti_explain(ctx, forest, binding, spec, offset, out, &by, err);
}

gbt_status cu_explain(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                      const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  const cu_explain_limits limits = {};
  return cu_explain_within(ctx, device, forest, binding, spec, offset, out, &limits, err);
}
