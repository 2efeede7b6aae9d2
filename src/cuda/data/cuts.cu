/* Cuts of numeric columns on the device: the definition of data/cuts.h by sorting the column as a whole.
 *
 *   up -> keys -> sort -> upto -> runs -> heavy runs -> orders of cuts, by search in upto -> (run, key, next key)
 *
 * Kernels: cut_order.cu. All of it is issued at once; the host waits for the last list, at most max_bin long, and takes
 * the means. Then it asks how many entries are in the zero bin.
 *
 * Device memory, bytes per entry of the longest column: 16 (keys, and what sorts them; then lists) and what the sort
 * needs; with weights 24 (row numbers), and 8 per row (weights). In addition a chunk, and 36 bytes per bin. Columns
 * that are kept until their codes are made (kept.cu) take at most half of the remaining memory. */
#include "../base/sort.cuh"
#include "cut_order.cuh"

#include <math.h>

extern "C" {
#include "../../gbt/base/sort.h"
}

enum { CU_ENTRY_BYTES = 12 }; /* a value and a row number */

struct cu_cutter {
  cu_memory memory;
  unsigned most_blocks;
  int has_absent; /* of the column cut last: an entry stands for the absent ones */
  uint64_t cap;   /* keys */
  cu_stage stage;
  cu_array<uint64_t> key[2], weight, part_sum, heavy_before;
  cu_array<uint32_t> row[2], part_first, heavy;
  cu_array<double> levels;
  cu_array<cu_candidate> candidate;
  cu_array<cu_found> found;
  cu_array<unsigned char> raw, sort_room;
  cu_cut_view view; /* of the column cut last */
  /* on the host; the first two page-locked */
  cu_found *found_down;
  cu_candidate *candidate_down;
  double *level_values;
  size_t cap_levels;
  uint64_t *order, *order_tmp; /* max_bin */
  uint32_t *index, *index_tmp;
};

void cu_cutter_close(cu_offload *o) {
  cu_cutter *c = o->cutter;
  if (c == NULL) return;
  cu_stage_close(&c->stage); /* waits */
  for (int k = 0; k < 2; k++) {
    cu_drop(&c->memory, &c->key[k]);
    cu_drop(&c->memory, &c->row[k]);
  }
  cu_drop(&c->memory, &c->weight);
  cu_drop(&c->memory, &c->part_sum);
  cu_drop(&c->memory, &c->heavy_before);
  cu_drop(&c->memory, &c->part_first);
  cu_drop(&c->memory, &c->heavy);
  cu_drop(&c->memory, &c->levels);
  cu_drop(&c->memory, &c->candidate);
  cu_drop(&c->memory, &c->found);
  cu_drop(&c->memory, &c->raw);
  cu_drop(&c->memory, &c->sort_room);
  cu_host_free(&c->found_down);
  cu_host_free(&c->candidate_down);
  gbt_mem_free(&o->mem, c->level_values);
  gbt_mem_free(&o->mem, c->order);
  gbt_mem_free(&o->mem, c->order_tmp);
  gbt_mem_free(&o->mem, c->index);
  gbt_mem_free(&o->mem, c->index_tmp);
  gbt_mem_free(&o->mem, c);
  o->cutter = NULL;
}

/* Room for the longest column that comes here. Of columns with unordered levels only numbers derived from them do. */
static uint64_t cu_longest(const gbt_table *table) {
  uint64_t most = 0;
  for (int32_t i = 0; i < table->n_cols; i++) {
    const gbt_column *col = &table->cols[i];
    uint64_t n = (uint64_t)(col->rows != NULL ? col->n_entries + 1 : table->n_rows);
    if ((col->type != GBT_CATEGORICAL || col->derive != 0) && n > most) most = n;
  }
  return most;
}

static gbt_status cu_cutter_open(gbt_ctx *ctx, cu_offload *o, const gbti_cut_input *in, int32_t max_bin,
                                 gbt_error *err) {
  cu_cutter *c;
  GBT_TRY(gbt_mem_zeros(&o->mem, 1, sizeof *c, &c, err));
  o->cutter = c;
  c->cap = cu_longest(in->table);
  uint64_t chunk = (uint64_t)o->chunk < c->cap ? (uint64_t)o->chunk : c->cap, bins = (uint64_t)max_bin;
  if (chunk < 1) chunk = 1;
  CU_TRY(cudaSetDevice(o->device));
  GBT_TRY(cu_data_grid(o->device, &c->most_blocks, err));
  GBT_TRY(cu_stage_open(ctx, (size_t)chunk * CU_ENTRY_BYTES, &c->stage, err));
  GBT_TRY(cu_new(&c->memory, &c->raw, c->stage.bytes, err));
  for (int k = 0; k < 2; k++) {
    GBT_TRY(cu_new(&c->memory, &c->key[k], (size_t)c->cap, err));
    if (in->weight != NULL) GBT_TRY(cu_new(&c->memory, &c->row[k], (size_t)c->cap, err));
  }
  size_t n_parts = (size_t)(c->cap / CU_CUT_PART + 2), room = 0;
  GBT_TRY(cu_new(&c->memory, &c->part_sum, n_parts, err));
  GBT_TRY(cu_new(&c->memory, &c->part_first, n_parts, err));
  GBT_TRY(cu_new(&c->memory, &c->heavy, bins / 2 + 1, err));
  GBT_TRY(cu_new(&c->memory, &c->heavy_before, bins / 2 + 1, err));
  GBT_TRY(cu_new(&c->memory, &c->candidate, bins, err));
  GBT_TRY(cu_new(&c->memory, &c->found, 1, err));
  GBT_TRY(cu_sort_room(c->cap, in->weight != NULL, &room, err));
  GBT_TRY(cu_new(&c->memory, &c->sort_room, room, err));
  GBT_TRY(cu_host_alloc(sizeof *c->found_down, &c->found_down, err));
  GBT_TRY(cu_host_alloc(bins * sizeof *c->candidate_down, &c->candidate_down, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, bins, sizeof *c->order, &c->order, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, bins, sizeof *c->order_tmp, &c->order_tmp, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, bins, sizeof *c->index, &c->index, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, bins, sizeof *c->index_tmp, &c->index_tmp, err));
  if (in->weight == NULL) return GBT_OK;
  GBT_TRY(cu_new(&c->memory, &c->weight, (size_t)in->table->n_rows, err));
  return cu_stage_send(&c->stage, c->weight.at, in->weight, (size_t)in->table->n_rows * sizeof(uint64_t), err);
}

/* The values of the column's codes. */
static gbt_status cu_up_levels(gbt_ctx *ctx, cu_cutter *c, const gbti_column_reader *in, gbt_error *err) {
  if (in->col->storage != GBT_CODES) return GBT_OK;
  size_t n = (size_t)in->col->n_levels + 1;
  GBT_TRY(gbt_mem_grow(&ctx->mem, &c->level_values, &c->cap_levels, n, sizeof *c->level_values, err));
  if (c->levels.n < n) {
    cu_drop(&c->memory, &c->levels);
    GBT_TRY(cu_new(&c->memory, &c->levels, c->cap_levels, err));
  }
  gbti_code_values(in, c->level_values);
  return cu_stage_send(&c->stage, c->levels.at, c->level_values, n * sizeof(double), err);
}

/* Where the entries of a chunk are on the device. */
struct cu_up_entries {
  unsigned char *values; /* NULL: all are 1 */
  int32_t *rows;         /* NULL: entries are rows, or their rows are not needed */
};

/* From its entry `beg` on, of a kept column, or where chunk after chunk goes. value_bytes: of the chunk. */
static cu_up_entries entries_at(cu_cutter *c, const cu_kept_column *kept, int64_t beg, size_t size, size_t value_bytes,
                                int with_rows) {
  cu_up_entries to = {NULL, NULL};
  if (size > 0) to.values = kept != NULL ? kept->raw.at + (size_t)beg * size : c->raw.at;
  if (with_rows) to.rows = kept != NULL ? kept->rows.at + beg : (int32_t *)(void *)(c->raw.at + value_bytes);
  return to;
}

/* The entries' keys (and rows) into key[0] (and row[0]). Rows go up where they weigh, or are kept. */
static gbt_status cu_up_keys(gbt_ctx *ctx, cu_offload *o, const gbti_cut_input *input, gbt_error *err) {
  cu_cutter *c = o->cutter;
  cudaStream_t s = c->stage.stream;
  const gbti_column_reader *in = &input->in;
  const gbt_column *col = in->col;
  const size_t size = col->values != NULL ? cu_raw_bytes(col->storage) : 0;
  const int64_t chunk = (int64_t)(c->stage.bytes / CU_ENTRY_BYTES);
  const cu_kept_column *kept;
  int is_there;
  GBT_TRY(cu_up_levels(ctx, c, in, err));
  GBT_TRY(cu_kept_begin(o, input, &kept, &is_there, err));
  if (is_there) {
    const cu_raw values = {kept->has_values ? kept->raw.at : NULL, c->levels.at, (int32_t)col->storage};
    return cu_cut_keys(&values, kept->rows.at, (uint64_t)in->n_entries, 0, c->key[0].at, c->row[0].at, c->found.at,
                       c->most_blocks, s, err);
  }
  const int32_t *rows = input->weight != NULL || kept != NULL ? col->rows : NULL;
  for (int64_t beg = 0, n; beg < in->n_entries; beg += n) {
    unsigned char *up;
    n = in->n_entries - beg < chunk ? in->n_entries - beg : chunk;
    const size_t value_bytes = (size_t)n * size, row_bytes = rows != NULL ? (size_t)n * sizeof *rows : 0;
    const cu_up_entries to = entries_at(c, kept, beg, size, value_bytes, rows != NULL);
    GBT_TRY(cu_stage_next(&c->stage, &up, err));
    if (size > 0) GBT_TRY(cu_copy(ctx, up, (const unsigned char *)col->values + (size_t)beg * size, value_bytes, err));
    if (rows != NULL) GBT_TRY(cu_copy(ctx, up + value_bytes, rows + beg, row_bytes, err));
    GBT_TRY(cu_stage_copy(&c->stage, to.values, value_bytes, err));
    if (rows != NULL) CU_TRY(cudaMemcpyAsync(to.rows, up + value_bytes, row_bytes, cudaMemcpyHostToDevice, s));
    GBT_TRY(cu_stage_done(&c->stage, err));
    const cu_raw values = {to.values, c->levels.at, (int32_t)col->storage};
    GBT_TRY(cu_cut_keys(&values, to.rows, (uint64_t)n, (uint64_t)beg, c->key[0].at, c->row[0].at, c->found.at,
                        c->most_blocks, s, err));
  }
  return GBT_OK;
}

/* Sorted keys and where the lists go: the arrays that the sort has left over. */
static gbt_status cu_sort_column(cu_cutter *c, const gbti_cut_input *input, cu_cut_view *v, gbt_error *err) {
  int at = 0, weighty = input->weight != NULL;
  uint64_t *key[2] = {c->key[0].at, c->key[1].at};
  uint32_t *row[2] = {c->row[0].at, c->row[1].at};
  GBT_TRY(
      cu_sort_keys(c->sort_room.at, c->sort_room.n, key, weighty ? row : NULL, v->n, 64, &at, c->stage.stream, err));
  v->key = key[at];
  if (!weighty) {
    v->ends = v->runs = (uint32_t *)key[1 - at];
    return GBT_OK;
  }
  v->row = row[at];
  v->upto = key[1 - at];
  v->ends = row[1 - at];
  v->runs = row[at]; /* once upto is computed, rows are not needed */
  return GBT_OK;
}

/* Waits for the candidates: cuts, each once, in order, and the infinite one. */
static gbt_status cu_take_cuts(gbt_ctx *ctx, cu_cutter *c, const cu_cut_view *v, double **cut, int32_t *n_bins,
                               gbt_error *err) {
  size_t most = v->n < v->max_bin ? (size_t)v->n : v->max_bin;
  if (most > 0)
    CU_TRY(cudaMemcpyAsync(c->candidate_down, c->candidate.at, most * sizeof *c->candidate_down, cudaMemcpyDeviceToHost,
                           c->stage.stream));
  CU_TRY(cudaMemcpyAsync(c->found_down, c->found.at, sizeof *c->found_down, cudaMemcpyDeviceToHost, c->stage.stream));
  CU_TRY(cudaStreamSynchronize(c->stage.stream));
  uint32_t n = c->found_down->n_candidates;
  int32_t n_cuts = 0;
  for (uint32_t i = 0; i < n; i++) {
    c->order[i] = c->candidate_down[i].run;
    c->index[i] = i;
  }
  gbt_sort_u64(c->order, c->index, n, c->order_tmp, c->index_tmp);
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n + 1, sizeof **cut, cut, err));
  for (uint32_t i = 0; i < n && c->order[i] != CU_NO_RUN; i++) {
    const cu_candidate *a = &c->candidate_down[c->index[i]];
    if (i == 0 || c->order[i] != c->order[i - 1]) (*cut)[n_cuts++] = gbti_cut_between(a->key, a->next);
  }
  (*cut)[n_cuts] = (double)INFINITY;
  *n_bins = n_cuts + 1;
  return GBT_OK;
}

gbt_status cu_cut(gbt_offload *self, gbt_ctx *ctx, const gbti_cut_input *input, int32_t max_bin, double **cut,
                  int32_t *n_bins, gbt_error *err) {
  cu_offload *o = static_cast<cu_offload *>(self);
  cu_cut_view v = {};
  *cut = NULL;
  if (o->cutter == NULL) GBT_TRY(cu_cutter_open(ctx, o, input, max_bin, err));
  cu_cutter *c = o->cutter;
  c->has_absent = input->absent_weight > 0;
  v.n = (uint64_t)input->in.n_entries + (uint64_t)c->has_absent;
  GBT_ASSERT(v.n <= c->cap);
  v.weight = c->weight.at;
  v.absent = input->absent_weight;
  v.part_sum = c->part_sum.at;
  v.part_first = c->part_first.at;
  v.heavy = c->heavy.at;
  v.heavy_before = c->heavy_before.at;
  v.candidate = c->candidate.at;
  v.found = c->found.at;
  v.max_bin = (uint32_t)max_bin;
  CU_TRY(cudaMemsetAsync(c->found.at, 0, sizeof *c->found.at, c->stage.stream));
  GBT_TRY(cu_up_keys(ctx, o, input, err));
  if (c->has_absent) GBT_TRY(cu_cut_absent(v.n - 1, c->key[0].at, c->row[0].at, c->stage.stream, err));
  GBT_TRY(cu_sort_column(c, input, &v, err));
  GBT_TRY(cu_cut_candidates(&v, c->most_blocks, c->stage.stream, err));
  c->view = v;
  return cu_take_cuts(ctx, c, &v, cut, n_bins, err);
}

/* Keys are in the order in which making the column's cuts left them. */
gbt_status cu_count(gbt_offload *self, double low, double high, int64_t *n_within, int64_t *n_missing, gbt_error *err) {
  cu_cutter *c = static_cast<cu_offload *>(self)->cutter;
  GBT_TRY(cu_cut_within(&c->view, low, high, c->stage.stream, err));
  CU_TRY(cudaMemcpyAsync(c->found_down, c->found.at, sizeof *c->found_down, cudaMemcpyDeviceToHost, c->stage.stream));
  CU_TRY(cudaStreamSynchronize(c->stage.stream));
  *n_within = (int64_t)c->found_down->n_within;
  if (c->has_absent && 0.0 <= high && !(0.0 <= low)) --*n_within; /* not an entry */
  *n_missing = (int64_t)c->found_down->n_missing;
  return GBT_OK;
}
