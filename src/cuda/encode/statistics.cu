/* Ordered statistics by sorting: the rows of a key become neighbours, in the order of the variant, and what a row has
 * before it is a difference of two prefix sums.
 *
 *   places in a variant's order   k_places     (key, place) by rank
 *   stable sort by key            base/sort
 *   prefix sums                   k_sums, k_sums_before, k_prefix
 *                                 of weight * code, of weights (where rows weigh differently), of steps begun
 *   values                        k_counts, k_bins: of the rows before in the order
 *                                 k_full:           of all rows of a key
 *
 *   rank in a key     0   1   2   3   4            rows 2 and 3 are one step: both have what is before row 2
 *   step begun        1   1   1   0   1
 *
 * Sums are of 64-bit integers and wrap; differences of them are exact, as sums of one key are below 2^62. So neither
 * tiles nor their order can show.
 *
 * Device memory, bytes a row: 4 (keys), 4 (labels), 4 with weights, 4 with steps; 24 and what the sort needs while it
 * runs, in the remains of which sums and numbers of steps lie; 8 more with weights, 4 with steps; 1 for bins. 8 bytes a
 * key, and 5 MB. What was sorted and summed last is kept: a projection's statistics are counted and binned in turn. */
#include "statistics.cuh"

#include "../base/block.cuh"
#include "../base/sort.cuh"
#include "../base/stage.cuh"
#include "../data/data.cuh"

extern "C" {
#include "../../gbt/base/bits.h"
}

enum : int64_t { LEAST_ROWS = 1 << 16 }; /* below which the CPU is as good; unproven on hardware */
enum : uint32_t { CU_TILE = 2048 };      /* rows that a block adds up at once */

/* ---- on the device ---- */

/* Sums up to a row, or of a tile. */
struct cu_sums {
  uint64_t code, weight, step;
};

struct cu_order {
  uint32_t beg[GBTI_VISIT_BLOCKS + 1];   /* by place in the variant's order: rank of the block's first row, and n */
  uint32_t first[GBTI_VISIT_BLOCKS + 1]; /* of the block: place of its first row, and n */
  uint8_t block[GBTI_VISIT_BLOCKS];      /* by place in the variant's order */
};

struct cu_statistics_view {
  uint32_t n;
  const uint32_t *id, *label, *weight, *step; /* by place; weight, step: may be NULL */
  uint64_t one;
  gbti_part part;
  const uint64_t *key;   /* by rank, sorted: ids */
  const uint32_t *place; /* goes with it */
  uint64_t *code, *upto; /* n + 1: sums of the rows before; upto: of weights, NULL where all weigh the same */
  uint32_t *begun;       /* n: steps begun up to and with the row; NULL: every row is one */
  uint32_t *step_beg;    /* by step: its first rank */
  uint32_t *beg, *end;   /* by id: its ranks; 0, 0 without rows */
  cu_sums *tile;
};

/* ---- order ---- */

__global__ static void k_places(cu_order order, const uint32_t *id, uint32_t n, int back, uint64_t *key,
                                uint32_t *place) {
  const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t rank = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; rank < n; rank += stride) {
    const int32_t at = cu_run_of(order.beg, GBTI_VISIT_BLOCKS, (uint32_t)rank);
    const uint32_t block = order.block[at], off = (uint32_t)rank - order.beg[at];
    const uint32_t p = back ? order.first[block + 1] - 1 - off : order.first[block] + off;
    key[rank] = id[p];
    place[rank] = p;
  }
}

/* ---- sums ---- */

__device__ static __forceinline__ int cu_begins_key(const cu_statistics_view &v, uint32_t i) {
  return i == 0 || v.key[i] != v.key[i - 1];
}

__device__ static __forceinline__ int cu_begins_step(const cu_statistics_view &v, uint32_t i) {
  return cu_begins_key(v, i) || v.step[v.place[i]] != v.step[v.place[i - 1]];
}

__device__ static __forceinline__ cu_sums cu_row(const cu_statistics_view &v, uint32_t i) {
  cu_sums row = {0, 0, 0};
  if (i >= v.n) return row;
  const uint32_t p = v.place[i];
  row.weight = v.weight != NULL ? v.weight[p] : 1;
  row.code = row.weight * gbti_part_code(&v.part, v.label[p]);
  row.step = v.step != NULL && cu_begins_step(v, i);
  return row;
}

__global__ static void k_sums(cu_statistics_view v, uint32_t n_tiles) {
  for (uint32_t t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    cu_sums sum = {0, 0, 0};
    for (uint32_t k = threadIdx.x; k < CU_TILE; k += blockDim.x) {
      const uint64_t i = (uint64_t)t * CU_TILE + k;
      const cu_sums row = cu_row(v, i < v.n ? (uint32_t)i : v.n);
      sum.code += row.code;
      sum.weight += row.weight;
      sum.step += row.step;
    }
    sum.code = cu_block_sum(sum.code);
    if (v.weight != NULL) sum.weight = cu_block_sum(sum.weight);
    if (v.step != NULL) sum.step = cu_block_sum(sum.step);
    if (threadIdx.x == 0) v.tile[t] = sum;
  }
}

/* Sums become those of the tiles before; by one block. */
__global__ static void k_sums_before(cu_statistics_view v, uint32_t n_tiles) {
  cu_sums before = {0, 0, 0};
  for (uint32_t beg = 0; beg < n_tiles; beg += blockDim.x) {
    const uint32_t t = beg + threadIdx.x;
    const cu_sums none = {0, 0, 0}, own = t < n_tiles ? v.tile[t] : none;
    cu_sums at, total;
    at.code = cu_block_scan(own.code, &total.code);
    at.weight = cu_block_scan(own.weight, &total.weight);
    at.step = cu_block_scan(own.step, &total.step);
    if (t < n_tiles) v.tile[t] = {before.code + at.code, before.weight + at.weight, before.step + at.step};
    before.code += total.code;
    before.weight += total.weight;
    before.step += total.step;
  }
}

/* A thread has a row of the tile at a time. The last row leaves the sums of all, too. */
__global__ static void k_prefix(cu_statistics_view v, uint32_t n_tiles) {
  for (uint32_t t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    cu_sums before = v.tile[t];
    for (uint32_t k = 0; k < CU_TILE; k += blockDim.x) {
      const uint64_t i = (uint64_t)t * CU_TILE + k + threadIdx.x;
      const int there = i < v.n;
      const cu_sums row = cu_row(v, there ? (uint32_t)i : v.n);
      cu_sums at = {0, 0, 0}, total = {0, 0, 0};
      at.code = cu_block_scan(row.code, &total.code);
      if (v.weight != NULL) at.weight = cu_block_scan(row.weight, &total.weight);
      if (v.step != NULL) at.step = cu_block_scan(row.step, &total.step);
      if (there) {
        v.code[i] = before.code + at.code;
        if (v.upto != NULL) v.upto[i] = before.weight + at.weight;
        if (i + 1 == v.n) {
          v.code[i + 1] = before.code + at.code + row.code;
          if (v.upto != NULL) v.upto[i + 1] = before.weight + at.weight + row.weight;
        }
        if (v.begun != NULL) {
          const uint32_t step = (uint32_t)(before.step + at.step + row.step) - 1;
          v.begun[i] = step;
          if (row.step) v.step_beg[step] = (uint32_t)i;
        }
        if (cu_begins_key(v, (uint32_t)i)) v.beg[v.key[i]] = (uint32_t)i;
        if (i + 1 == v.n || v.key[i + 1] != v.key[i]) v.end[v.key[i]] = (uint32_t)i + 1;
      }
      before.code += total.code;
      before.weight += total.weight;
      before.step += total.step;
    }
  }
}

/* ---- values ---- */

/* Of the rows of a key with ranks [beg, end). */
__device__ static __forceinline__ uint32_t cu_value(const cu_statistics_view &v, const gbti_statistic &stat,
                                                    uint32_t beg, uint32_t end) {
  const uint64_t codes = v.code[end] - v.code[beg];
  const int64_t of_code = (int64_t)v.part.scale * (int64_t)(v.upto != NULL ? 1 : v.one);
  const int64_t weight = (int64_t)(v.upto != NULL ? v.upto[end] - v.upto[beg] : (uint64_t)(end - beg) * v.one);
  return gbti_quotient((int64_t)codes * of_code + stat.prior_weight * (int64_t)stat.prior, weight + stat.prior_weight);
}

/* Of what the row of rank i has before it. */
__device__ static __forceinline__ uint32_t cu_value_before(const cu_statistics_view &v, const gbti_statistic &stat,
                                                           uint32_t i) {
  return cu_value(v, stat, v.beg[v.key[i]], v.begun != NULL ? v.step_beg[v.begun[i]] : i);
}

__global__ static void k_counts(cu_statistics_view v, gbti_statistic stat, uint32_t *count) {
  const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < v.n; i += stride)
    cu_add(&count[cu_value_before(v, stat, (uint32_t)i)], 1u);
}

__global__ static void k_bins(cu_statistics_view v, gbti_statistic stat, const uint8_t *bin_of, uint8_t *bin) {
  const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < v.n; i += stride)
    bin[v.place[i]] = bin_of[cu_value_before(v, stat, (uint32_t)i)];
}

__global__ static void k_full(cu_statistics_view v, gbti_statistic stat, uint64_t n_ids, uint32_t *value) {
  const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; id < n_ids; id += stride)
    value[id] = cu_value(v, stat, v.beg[id], v.end[id]);
}

/* ---- on the host ---- */

struct cu_statistics : gbti_statistics_help {
  gbt_mem mem;
  int32_t device;
  cu_memory memory;
  unsigned most_blocks;
  cu_stage stage;
  const gbti_visit *visit;
  const gbti_target *target;
  uint64_t n_ids;
  int variant, part; /* what is sorted, and summed; -1: nothing */
  cu_array<uint32_t> id, label, weight, step, step_beg, beg, end, place[2], counted, value;
  cu_array<uint64_t> key[2], upto;
  cu_array<uint8_t> bin_of, bin;
  cu_array<cu_sums> tile;
  cu_array<unsigned char> sort_room;
  cu_statistics_view view;
};

static cu_statistics *of(gbti_statistics_help *self) { return static_cast<cu_statistics *>(self); }

static void cu_statistics_close(gbti_statistics_help *self) {
  cu_statistics *s = of(self);
  gbt_mem mem = s->mem;
  cu_stage_close(&s->stage); /* waits */
  for (int k = 0; k < 2; k++) {
    cu_drop(&s->memory, &s->key[k]);
    cu_drop(&s->memory, &s->place[k]);
  }
  cu_drop(&s->memory, &s->id);
  cu_drop(&s->memory, &s->label);
  cu_drop(&s->memory, &s->weight);
  cu_drop(&s->memory, &s->step);
  cu_drop(&s->memory, &s->step_beg);
  cu_drop(&s->memory, &s->beg);
  cu_drop(&s->memory, &s->end);
  cu_drop(&s->memory, &s->counted);
  cu_drop(&s->memory, &s->value);
  cu_drop(&s->memory, &s->upto);
  cu_drop(&s->memory, &s->bin_of);
  cu_drop(&s->memory, &s->bin);
  cu_drop(&s->memory, &s->tile);
  cu_drop(&s->memory, &s->sort_room);
  gbt_mem_free(&mem, s);
}

enum { CU_STEPS_POLL = 1 << 16 }; /* steps between two polls */

/* Which step each place is in. */
static gbt_status cu_up_steps(gbt_ctx *ctx, cu_statistics *s, gbt_error *err) {
  const gbti_visit *visit = s->visit;
  uint32_t *step_of = NULL;
  gbt_status status = GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)visit->n, sizeof *step_of, &step_of, err), done);
  for (int64_t k = 0; k < visit->n_steps; k++) {
    if (k % CU_STEPS_POLL == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    for (int64_t i = visit->step[k]; i < visit->step[k + 1]; i++) step_of[i] = (uint32_t)k;
  }
  GBT_TRY_GOTO(cu_stage_send(&s->stage, s->step.at, step_of, (size_t)visit->n * sizeof *step_of, err), done);
done:
  gbt_mem_free(&ctx->mem, step_of);
  return status;
}

static gbt_status cu_statistics_begin(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_visit *visit,
                                      const gbti_target *target, gbt_error *err) {
  cu_statistics *s = of(self);
  const size_t n = (size_t)visit->n, n_tiles = n / CU_TILE + 1;
  size_t room = 0;
  GBT_ASSERT(visit->n == target->n && s->visit == NULL);
  CU_TRY(cudaSetDevice(s->device));
  const size_t table = GBTI_N_VALUES, most = n * sizeof(uint32_t) > table ? n * sizeof(uint32_t) : table;
  GBT_TRY(cu_stage_open(ctx, most < CU_STAGE_BYTES ? most : CU_STAGE_BYTES, &s->stage, err));
  s->visit = visit;
  s->target = target;
  GBT_TRY(cu_new(&s->memory, &s->id, n, err));
  GBT_TRY(cu_new(&s->memory, &s->label, n, err));
  if (target->weight != NULL) GBT_TRY(cu_new(&s->memory, &s->weight, n, err));
  if (target->weight != NULL) GBT_TRY(cu_new(&s->memory, &s->upto, n + 1, err));
  if (visit->step != NULL) GBT_TRY(cu_new(&s->memory, &s->step, n, err));
  if (visit->step != NULL) GBT_TRY(cu_new(&s->memory, &s->step_beg, n, err));
  for (int k = 0; k < 2; k++) {
    GBT_TRY(cu_new(&s->memory, &s->key[k], n + 1, err)); /* the one that is left takes the sums of codes */
    GBT_TRY(cu_new(&s->memory, &s->place[k], n, err));
  }
  GBT_TRY(cu_sort_room((uint64_t)n, 1, &room, err));
  GBT_TRY(cu_new(&s->memory, &s->sort_room, room, err));
  GBT_TRY(cu_new(&s->memory, &s->tile, n_tiles, err));
  GBT_TRY(cu_new(&s->memory, &s->counted, GBTI_N_VALUES, err));
  GBT_TRY(cu_new(&s->memory, &s->bin_of, GBTI_N_VALUES, err));
  GBT_TRY(cu_new(&s->memory, &s->bin, n, err));
  GBT_TRY(cu_stage_send(&s->stage, s->label.at, target->label, n * sizeof(uint32_t), err));
  if (target->weight != NULL)
    GBT_TRY(cu_stage_send(&s->stage, s->weight.at, target->weight, n * sizeof(uint32_t), err));
  return visit->step != NULL ? cu_up_steps(ctx, s, err) : GBT_OK;
}

static gbt_status cu_statistics_keys(gbti_statistics_help *self, gbt_ctx *ctx, const uint32_t *id, int64_t n_ids,
                                     gbt_error *err) {
  cu_statistics *s = of(self);
  (void)ctx;
  s->variant = s->part = -1;
  s->n_ids = (uint64_t)n_ids;
  cu_array<uint32_t> *const by_id[] = {&s->beg, &s->end, &s->value};
  for (cu_array<uint32_t> *a : by_id) {
    if (a->n >= s->n_ids) continue;
    CU_TRY(cudaStreamSynchronize(s->stage.stream));
    cu_drop(&s->memory, a);
    GBT_TRY(cu_new(&s->memory, a, (size_t)n_ids, err));
  }
  return cu_stage_send(&s->stage, s->id.at, id, (size_t)s->visit->n * sizeof *id, err);
}

static cu_order order_of(const gbti_visit *visit, int32_t variant) {
  cu_order order;
  uint32_t rank = 0;
  for (int32_t k = 0; k < GBTI_VISIT_BLOCKS; k++) {
    const int32_t block = visit->order[variant][k];
    order.block[k] = (uint8_t)block;
    order.beg[k] = rank;
    order.first[k] = (uint32_t)visit->block[k];
    rank += (uint32_t)(visit->block[block + 1] - visit->block[block]);
  }
  order.beg[GBTI_VISIT_BLOCKS] = order.first[GBTI_VISIT_BLOCKS] = rank;
  return order;
}

static gbt_status cu_sort_variant(gbt_ctx *ctx, cu_statistics *s, int32_t variant, gbt_error *err) {
  const cudaStream_t stream = s->stage.stream;
  const uint32_t n = (uint32_t)s->visit->n;
  uint64_t *const key[2] = {s->key[0].at, s->key[1].at};
  uint32_t *const place[2] = {s->place[0].at, s->place[1].at};
  int at = 0;
  if (s->variant == variant) return GBT_OK;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  s->variant = s->part = -1;
  CU_LAUNCH(k_places, cu_blocks(s->most_blocks, n, CU_BLOCK), CU_BLOCK, 0, stream, order_of(s->visit, variant),
            s->id.at, n, variant % 2, key[0], place[0]);
  CU_LAUNCHED();
  GBT_TRY(cu_sort_keys(s->sort_room.at, s->sort_room.n, key, place, n, gbt_bit_length(s->n_ids), &at, stream, err));
  cu_statistics_view v = {};
  v.n = n;
  v.id = s->id.at;
  v.label = s->label.at;
  v.weight = s->weight.at;
  v.step = s->step.at;
  v.one = (uint64_t)s->target->one;
  v.key = key[at];
  v.place = place[at];
  v.code = key[1 - at];
  v.upto = s->upto.at;
  v.begun = s->step.at != NULL ? place[1 - at] : NULL;
  v.step_beg = s->step_beg.at;
  v.beg = s->beg.at;
  v.end = s->end.at;
  v.tile = s->tile.at;
  s->view = v;
  s->variant = variant;
  return GBT_OK;
}

/* Sums of a part of the target along a variant. */
static gbt_status cu_sum_up(gbt_ctx *ctx, cu_statistics *s, int32_t variant, int32_t part, gbt_error *err) {
  const cudaStream_t stream = s->stage.stream;
  const uint32_t n_tiles = (uint32_t)(((uint64_t)s->visit->n + CU_TILE - 1) / CU_TILE);
  GBT_TRY(cu_sort_variant(ctx, s, variant, err));
  if (s->part == part) return GBT_OK;
  s->part = -1;
  s->view.part = s->target->part[part];
  const unsigned blocks = cu_blocks(s->most_blocks, n_tiles, 1);
  CU_TRY(cudaMemsetAsync(s->beg.at, 0, (size_t)s->n_ids * sizeof *s->beg.at, stream));
  CU_TRY(cudaMemsetAsync(s->end.at, 0, (size_t)s->n_ids * sizeof *s->end.at, stream));
  CU_LAUNCH(k_sums, blocks, CU_BLOCK, 0, stream, s->view, n_tiles);
  CU_LAUNCHED(); /* what follows writes where these sums say */
  CU_LAUNCH(k_sums_before, 1, CU_CONTROL, 0, stream, s->view, n_tiles);
  CU_LAUNCHED();
  CU_LAUNCH(k_prefix, blocks, CU_BLOCK, 0, stream, s->view, n_tiles);
  CU_LAUNCHED();
  s->part = part;
  return GBT_OK;
}

/* Waits. */
static gbt_status cu_bring(cu_statistics *s, void *to, const void *from, size_t bytes, gbt_error *err) {
  CU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s->stage.stream));
  CU_TRY(cudaStreamSynchronize(s->stage.stream));
  return GBT_OK;
}

static unsigned blocks_for(const cu_statistics *s, uint64_t n) { return cu_blocks(s->most_blocks, n, CU_BLOCK); }

static gbt_status cu_statistics_count(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat,
                                      int32_t variant, uint32_t *count, gbt_error *err) {
  cu_statistics *s = of(self);
  const size_t bytes = (size_t)GBTI_N_VALUES * sizeof *count;
  GBT_TRY(cu_sum_up(ctx, s, variant, stat->part, err));
  CU_TRY(cudaMemsetAsync(s->counted.at, 0, bytes, s->stage.stream));
  CU_LAUNCH(k_counts, blocks_for(s, s->view.n), CU_BLOCK, 0, s->stage.stream, s->view, *stat, s->counted.at);
  CU_LAUNCHED();
  return cu_bring(s, count, s->counted.at, bytes, err);
}

static gbt_status cu_statistics_bins(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat,
                                     int32_t variant, const uint8_t *bin_of, uint8_t *bin, gbt_error *err) {
  cu_statistics *s = of(self);
  GBT_TRY(cu_sum_up(ctx, s, variant, stat->part, err));
  GBT_TRY(cu_stage_send(&s->stage, s->bin_of.at, bin_of, GBTI_N_VALUES, err));
  CU_LAUNCH(k_bins, blocks_for(s, s->view.n), CU_BLOCK, 0, s->stage.stream, s->view, *stat, s->bin_of.at, s->bin.at);
  CU_LAUNCHED();
  return cu_bring(s, bin, s->bin.at, (size_t)s->view.n, err);
}

static gbt_status cu_statistics_full(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat,
                                     uint32_t *value, gbt_error *err) {
  cu_statistics *s = of(self);
  GBT_TRY(cu_sum_up(ctx, s, s->variant >= 0 ? s->variant : 0, stat->part, err));
  CU_LAUNCH(k_full, blocks_for(s, s->n_ids), CU_BLOCK, 0, s->stage.stream, s->view, *stat, s->n_ids, s->value.at);
  CU_LAUNCHED();
  return cu_bring(s, value, s->value.at, (size_t)s->n_ids * sizeof *value, err);
}

gbt_status cu_statistics_open(gbt_ctx *ctx, int32_t device, size_t limit, gbti_statistics_help **out, gbt_error *err) {
  cu_statistics *s;
  *out = NULL;
  CU_TRY(cudaSetDevice(device));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *s, &s, err));
  s->mem = ctx->mem;
  s->device = device;
  s->memory.limit = limit;
  s->variant = s->part = -1;
  s->least_rows = LEAST_ROWS;
  s->begin = cu_statistics_begin;
  s->keys = cu_statistics_keys;
  s->count = cu_statistics_count;
  s->bins = cu_statistics_bins;
  s->full = cu_statistics_full;
  s->close = cu_statistics_close;
  *out = s;
  const gbt_status status = cu_data_grid(device, &s->most_blocks, err);
  if (status == GBT_OK) return GBT_OK;
  cu_statistics_close(s);
  *out = NULL;
  return status;
}
