/* Codes of dense columns on the device, in the layout of data/page.h.
 *
 * A step is a row block times a strip. The columns of the strip go up side by side, a kernel writes their codes to
 * where they lie in the strip's rows, and the rows come down in one piece:
 *
 *   up      column 0 | column 1 | column 2 ...       rows of the block, as they are stored
 *   strip   b b b b . . | b b b b . . | ...          codes; 0 in padding and where bundles will be filled in
 *
 * Two steps are under way at a time: while one is on the device, the host's threads fill the other's columns. Sparse
 * columns with a column of codes of their own are spread out to doubles on the way.
 *
 * Columns that are still on the device since their cuts were made (kept.cu) are not copied again; the rows of sparse
 * ones get the code of absent entries, then those of their entries. Codes that only the device has stay there
 * (resident.cuh), chunk after chunk where all of them are made here.
 *
 * Device memory: all cuts, what level codes read as, and of a step 8 bytes per cell and a code. */
#include "../base/block.cuh"
#include "data.cuh"
#include "resident.cuh"

#include <string.h>

enum {
  CU_BIN_BLOCK = 256,
  CU_BIN_SHARED = 1024 /* cuts in shared memory */
};

/* A column of codes that belongs to one feature. */
struct cu_bin_column {
  const double *cut;    /* NULL: categorical */
  const double *levels; /* CODES: what code c reads as */
  int32_t n_bins, storage;
  int32_t feat, pos, wide; /* pos: codes before it in a row of the strip */
  int32_t bytes_before;    /* of a row's values that go up before it, all of 8 bytes before those of 4 */
  /* kept: all its values are on the device already; of a sparse one those of its entries, whose rows these are */
  int32_t kept;
  const unsigned char *values; /* NULL: all are 1 */
  const int32_t *rows;         /* NULL: dense */
  uint64_t n_entries;
  double absent; /* what rows without an entry read as */
};

__device__ static __forceinline__ void put_code(const cu_bin_column &c, uint64_t row, int32_t stride, int32_t code,
                                                void *to) {
  const uint64_t at = row * (uint32_t)stride + (uint32_t)c.pos;
  if (c.wide)
    ((uint16_t *)to)[at] = (uint16_t)code;
  else
    ((uint8_t *)to)[at] = (uint8_t)code;
}

/* A sparse column's codes: a warp takes 32 rows, which have 32 entries at most. */
__device__ static __forceinline__ void bin_entries(const cu_bin_column &c, const double *cut, uint64_t first,
                                                   uint64_t n, int32_t stride, void *to) {
  const cu_raw values = {c.values, c.levels, c.storage};
  const int32_t none = gbt_cut_search(cut, c.n_bins, c.absent);
  const uint64_t step = (uint64_t)gridDim.x * cu_n_warps() * 32u;
  for (uint64_t beg = ((uint64_t)blockIdx.x * cu_n_warps() + cu_warp()) * 32u; beg < n; beg += step) {
    const uint64_t end = n - beg < 32u ? n : beg + 32u;
    if (beg + cu_lane() < end) put_code(c, beg + cu_lane(), stride, none, to);
    __syncwarp(); /* entries come over these */
    const uint64_t e = cu_lower_bound(c.rows, (uint64_t)0, c.n_entries, (int32_t)(first + beg)) + cu_lane();
    if (e < c.n_entries && (uint64_t)c.rows[e] < first + end)
      put_code(c, (uint64_t)c.rows[e] - first, stride, gbt_cut_search(cut, c.n_bins, cu_raw_value(values, e)), to);
    __syncwarp();
  }
}

/* Rows [first, first + n) of the table, row after row at `to`. Rows go up column by column. */
__global__ static void k_bin(const cu_bin_column *column, const unsigned char *raw, uint64_t first, uint64_t n,
                             int32_t stride, void *to) {
  CU_SHARED(double, few, CU_BIN_SHARED);
  const cu_bin_column c = column[blockIdx.y];
  const double *cut = c.cut;
  if (cut != NULL && c.n_bins <= CU_BIN_SHARED) { /* all threads of the block agree */
    for (int32_t b = (int32_t)threadIdx.x; b < c.n_bins; b += (int32_t)blockDim.x) few[b] = cut[b];
    cut = few;
  }
  __syncthreads();
  if (c.rows != NULL) {
    bin_entries(c, cut, first, n, stride, to);
    return;
  }
  cu_raw values = {raw + (uint64_t)(uint32_t)c.bytes_before * n, c.levels, c.storage};
  if (c.kept) values.values = c.values + first * cu_raw_bytes(c.storage);
  uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < n; r += step)
    put_code(c, r, stride, gbt_cut_search(cut, c.n_bins, cu_raw_value(values, r)), to);
}

/* ---- the host ---- */

/* The copy to the host that is under way in a half. */
struct cu_down {
  void *to;
  size_t bytes; /* 0: nothing */
};

struct cu_binner {
  cu_memory memory;
  cu_offload *o;
  unsigned most_blocks;
  const gbt_binding *binding;
  gbti_pages *pages;
  gbti_row_range range; /* of the pages, all rows of the binding */
  cu_stage stage;
  cu_array<double> numbers;           /* cuts of all features, then what level codes read as */
  cu_array<cu_bin_column> column;     /* strip by strip */
  cu_array<unsigned char> raw, strip; /* of a step */
  unsigned char *down[2];             /* page-locked; by the stage's turns */
  cu_down under_way[2];
  /* on the host */
  cu_bin_column *host_column;
  int32_t *column_beg;  /* n_strips + 1 */
  int32_t *strip_bytes; /* n_strips: of a row's values that go up */
  double *host_numbers;
  int32_t block_rows;
};

static void cu_binner_close(gbt_ctx *ctx, cu_binner *b) {
  cu_stage_close(&b->stage); /* waits */
  for (int half = 0; half < 2; half++) cu_host_free(&b->down[half]);
  cu_drop(&b->memory, &b->raw);
  cu_drop(&b->memory, &b->strip);
  cu_drop(&b->memory, &b->numbers);
  cu_drop(&b->memory, &b->column);
  gbt_mem_free(&ctx->mem, b->host_column);
  gbt_mem_free(&ctx->mem, b->column_beg);
  gbt_mem_free(&ctx->mem, b->strip_bytes);
  gbt_mem_free(&ctx->mem, b->host_numbers);
}

static const gbt_column *cu_column_of(const cu_binner *b, int32_t feat) { return gbt_binding_column(b->binding, feat); }

/* As it is kept, or as its values go up. */
static cu_bin_column cu_bin_column_of(const cu_binner *b, int32_t feat) {
  const gbt_column *col = cu_column_of(b, feat);
  const cu_kept_column *kept = cu_kept_find(b->o, (int32_t)(col - b->binding->table->cols));
  cu_bin_column c = {};
  c.feat = feat;
  c.storage = col->rows != NULL ? (int32_t)GBT_F64 : (int32_t)col->storage;
  if (kept == NULL) return c;
  c.kept = 1;
  c.storage = kept->storage;
  c.values = kept->has_values ? kept->raw.at : NULL;
  c.rows = kept->rows.at;
  c.n_entries = kept->rows.n;
  c.absent = gbti_column_reader_of(b->binding, feat).absent;
  return c;
}

/* The columns of a strip, those of 8 bytes first, so that all lie aligned. Returns bytes of a row. */
static int32_t cu_list_strip(cu_binner *b, const gbt_cuts *cuts, int32_t strip, int32_t *n) {
  const gbt_layout *layout = &b->pages->info.layout;
  int32_t bytes = 0;
  for (int size = 8; size >= 4; size -= 4) {
    for (int32_t g = layout->strip_beg[strip]; g < layout->strip_beg[strip + 1]; g++) {
      const gbt_group *group = &layout->group[g];
      for (int32_t k = 0; k < group->n_feats; k++) {
        if (group->feat[k] < 0) continue;
        cu_bin_column c = cu_bin_column_of(b, group->feat[k]);
        if ((int)cu_raw_bytes(c.storage) != size) continue;
        c.n_bins = cuts->feat[c.feat].n_bins;
        c.pos = group->lead + k;
        c.wide = group->wide;
        c.bytes_before = bytes;
        b->host_column[(*n)++] = c;
        bytes += c.kept ? 0 : size;
      }
    }
  }
  return bytes;
}

/* All columns of codes that belong to one feature; *most_bytes: of a strip's values or codes in a row. */
static gbt_status cu_list_columns(gbt_ctx *ctx, cu_binner *b, const gbt_cuts *cuts, int32_t *n, int32_t *most_bytes,
                                  gbt_error *err) {
  const gbt_layout *layout = &b->pages->info.layout;
  *n = *most_bytes = 0;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)layout->n_features, sizeof *b->host_column, &b->host_column, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)layout->n_strips + 1, sizeof *b->column_beg, &b->column_beg, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)layout->n_strips + 1, sizeof *b->strip_bytes, &b->strip_bytes, err));
  for (int32_t s = 0; s < layout->n_strips; s++) {
    b->column_beg[s] = *n;
    const int32_t bytes = cu_list_strip(b, cuts, s, n);
    const int32_t codes = (int32_t)gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    b->strip_bytes[s] = bytes;
    if (bytes > *most_bytes) *most_bytes = bytes;
    if (codes > *most_bytes) *most_bytes = codes;
  }
  b->column_beg[layout->n_strips] = *n;
  return GBT_OK;
}

/* Cuts and level tables of the columns, end to end, on the device. */
static gbt_status cu_up_numbers(gbt_ctx *ctx, cu_binner *b, const gbt_cuts *cuts, int32_t n, gbt_error *err) {
  size_t all = 0, at = 0;
  for (int32_t i = 0; i < n; i++) {
    const cu_bin_column *c = &b->host_column[i];
    all += cuts->feat[c->feat].cut != NULL ? (size_t)c->n_bins : 0;
    all += c->storage == GBT_CODES ? (size_t)cu_column_of(b, c->feat)->n_levels + 1 : 0;
  }
  GBT_TRY(gbt_mem_array(&ctx->mem, all, sizeof *b->host_numbers, &b->host_numbers, err));
  GBT_TRY(cu_new(&b->memory, &b->numbers, all, err));
  GBT_TRY(cu_new(&b->memory, &b->column, (size_t)n, err));
  for (int32_t i = 0; i < n; i++) {
    cu_bin_column *c = &b->host_column[i];
    if (cuts->feat[c->feat].cut != NULL) {
      memcpy(b->host_numbers + at, cuts->feat[c->feat].cut, (size_t)c->n_bins * sizeof(double));
      c->cut = b->numbers.at + at;
      at += (size_t)c->n_bins;
    }
    if (c->storage == GBT_CODES) {
      gbti_column_reader in = gbti_column_reader_of(b->binding, c->feat);
      gbti_code_values(&in, b->host_numbers + at);
      c->levels = b->numbers.at + at;
      at += (size_t)in.col->n_levels + 1;
    }
  }
  GBT_TRY(cu_stage_send(&b->stage, b->numbers.at, b->host_numbers, all * sizeof(double), err));
  return cu_stage_send(&b->stage, b->column.at, b->host_column, (size_t)n * sizeof *b->host_column, err);
}

static gbt_status cu_binner_open(gbt_ctx *ctx, cu_binner *b, const gbt_cuts *cuts, int32_t n, int32_t most_bytes,
                                 gbt_error *err) {
  enum { LEAST_ROWS = 64 };
  const gbt_layout *layout = &b->pages->info.layout;
  int64_t rows = b->o->chunk * 8 / most_bytes, most = b->pages->info.page_rows;
  size_t row_bytes = 0;
  for (int32_t s = 0; s < layout->n_strips; s++) {
    size_t bytes = gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    if (bytes > row_bytes) row_bytes = bytes;
  }
  if (rows < LEAST_ROWS) rows = LEAST_ROWS;
  if (most > b->binding->table->n_rows) most = b->binding->table->n_rows;
  b->block_rows = (int32_t)(rows < most ? rows : most);
  CU_TRY(cudaSetDevice(b->o->device));
  GBT_TRY(cu_data_grid(b->o->device, &b->most_blocks, err));
  GBT_TRY(cu_stage_open(ctx, (size_t)b->block_rows * (size_t)most_bytes, &b->stage, err));
  GBT_TRY(cu_new(&b->memory, &b->raw, b->stage.bytes, err));
  GBT_TRY(cu_new(&b->memory, &b->strip, (size_t)b->block_rows * row_bytes, err));
  for (int half = 0; half < 2; half++) GBT_TRY(cu_host_alloc(b->strip.n, &b->down[half], err));
  return cu_up_numbers(ctx, b, cuts, n, err);
}

/* ---- a step ---- */

/* Columns of a strip in rows [row, row + n_rows), to the page-locked half. A task is a column. */
struct cu_fill {
  const cu_binner *b;
  const cu_bin_column *column;
  int64_t row;
  int32_t n_rows;
  unsigned char *to;
};

static void cu_fill_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_fill *f = (const cu_fill *)arg;
  const cu_bin_column *c = &f->column[task];
  const gbt_column *col = cu_column_of(f->b, c->feat);
  unsigned char *to = f->to + (size_t)c->bytes_before * (size_t)f->n_rows;
  if (c->kept) return;
  if (col->rows == NULL) {
    size_t size = cu_raw_bytes(c->storage);
    memcpy(to, (const unsigned char *)col->values + (size_t)f->row * size, (size_t)f->n_rows * size);
    return;
  }
  gbti_column_reader in = gbti_column_reader_of(f->b->binding, c->feat);
  int64_t cursor = -1;
  gbti_read_rows(&in, f->row, f->n_rows, &cursor, (double *)to);
}

/* Copies the codes of the half to their page; the half's work is done. */
static gbt_status cu_take_down(gbt_ctx *ctx, cu_binner *b, int half, gbt_error *err) {
  cu_down *d = &b->under_way[half];
  if (d->bytes > 0) GBT_TRY(cu_copy(ctx, d->to, b->down[half], d->bytes, err));
  d->bytes = 0;
  return GBT_OK;
}

/* Where the codes of rows from this one on are made: where they stay, or in the step's buffer. */
static unsigned char *cu_codes_at(const cu_binner *b, int32_t strip, int64_t row) {
  const gbt_layout *layout = &b->pages->info.layout;
  const cu_resident *resident = b->o->resident;
  if (resident == NULL || resident->strip[strip].at == NULL) return b->strip.at;
  return resident->strip[strip].at + (size_t)row * gbti_row_bytes(&layout->group[layout->strip_beg[strip]]);
}

static gbt_status cu_bin_step(gbt_ctx *ctx, cu_binner *b, gbti_row_block block, int32_t strip, gbt_error *err) {
  const gbt_layout *layout = &b->pages->info.layout;
  const gbt_group *group = &layout->group[layout->strip_beg[strip]];
  const gbt_page *page = &b->pages->page[block.page];
  int32_t beg = b->column_beg[strip], n = b->column_beg[strip + 1] - beg;
  size_t row_bytes = gbti_row_bytes(group), bytes = (size_t)block.n_rows * row_bytes;
  cudaStream_t s = b->stage.stream;
  int half = b->stage.turn;
  unsigned char *to;
  if (n == 0) return GBT_OK;
  GBT_TRY(cu_stage_next(&b->stage, &to, err));
  GBT_TRY(cu_take_down(ctx, b, half, err));
  cu_fill fill = {b, b->host_column + beg, page->row_beg + block.beg - b->range.beg, block.n_rows, to};
  if (b->strip_bytes[strip] > 0) GBT_TRY(gbt_parallel(ctx, n, cu_fill_task, &fill, err));
  const size_t up = (size_t)b->strip_bytes[strip] * (size_t)block.n_rows;
  GBT_TRY(cu_stage_copy(&b->stage, b->raw.at, up, err));
  unsigned char *codes = cu_codes_at(b, strip, page->row_beg + block.beg);
  CU_TRY(cudaMemsetAsync(codes, 0, bytes, s));
  dim3 grid(cu_blocks((b->most_blocks + (unsigned)n - 1) / (unsigned)n, (uint64_t)block.n_rows, CU_BIN_BLOCK),
            (unsigned)n);
  CU_LAUNCH(k_bin, grid, CU_BIN_BLOCK, 0, s, b->column.at + beg, b->raw.at, (uint64_t)(page->row_beg + block.beg),
            (uint64_t)block.n_rows, group->stride, codes);
  CU_LAUNCHED();
  CU_TRY(cudaMemcpyAsync(b->down[half], codes, bytes, cudaMemcpyDeviceToHost, s));
  b->under_way[half].to = (unsigned char *)page->strip[strip] + (size_t)block.beg * row_bytes;
  b->under_way[half].bytes = bytes;
  return cu_stage_done(&b->stage, err);
}

static gbt_status cu_bin_all(gbt_ctx *ctx, cu_binner *b, gbt_error *err) {
  int64_t n_blocks = gbti_n_row_blocks(b->pages, b->range, b->block_rows);
  for (int64_t t = 0; t < n_blocks; t++)
    for (int32_t strip = 0; strip < b->pages->info.layout.n_strips; strip++)
      GBT_TRY(cu_bin_step(ctx, b, gbti_row_block_at(b->pages, b->range, b->block_rows, t), strip, err));
  CU_TRY(cudaStreamSynchronize(b->stage.stream));
  for (int half = 0; half < 2; half++) GBT_TRY(cu_take_down(ctx, b, half, err));
  return GBT_OK;
}

static gbt_status cu_bin_pages(gbt_ctx *ctx, cu_binner *b, const gbt_cuts *cuts, int *done, gbt_error *err) {
  const int64_t n_rows = b->binding->table->n_rows;
  int32_t n, most_bytes;
  GBT_TRY(cu_list_columns(ctx, b, cuts, &n, &most_bytes, err));
  if (n == 0 || n_rows == 0 || n_rows < b->o->least_cells / n) return GBT_OK;
  GBT_TRY(cu_binner_open(ctx, b, cuts, n, most_bytes, err));
  GBT_TRY(cu_resident_begin(b->o, b->pages, b->range, err));
  GBT_TRY(cu_bin_all(ctx, b, err));
  cu_resident_end(b->o, b->pages, b->range);
  *done = 1;
  return GBT_OK;
}

gbt_status cu_bin(gbt_offload *self, gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, gbti_pages *pages,
                  gbti_row_range range, int *done, gbt_error *err) {
  cu_offload *o = static_cast<cu_offload *>(self);
  cu_binner b = {};
  *done = 0;
  cu_cutter_close(o);
  b.o = o;
  b.binding = binding;
  b.pages = pages;
  b.range = range;
  gbt_status status = cu_bin_pages(ctx, &b, cuts, done, err);
  cu_binner_close(ctx, &b);
  if (range.end == pages->info.n_rows) cu_kept_close(o); /* no chunk follows */
  return status;
}
