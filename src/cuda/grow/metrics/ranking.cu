/* Metrics of rows in the order of their scores, on the device: the bits of gbt_metric_of_ranking. Gain and base of a
 * row are fixed-point numbers (metric/ranking.h), so nearly all below are integers. Rows are sorted by score; with
 *
 *   G[i], B[i] = gain and base of the rows before place i      first, end: the run of equal scores around i
 *
 *   area = sum over i of gain_i (B[first] + B[end])
 *
 * which is the sum over groups that the CPU makes, taken apart. For pr_auc the last place of a group takes the whole
 * group. The sort leaves one of its two arrays of keys free: B goes there; G, which only pr_auc needs, has memory of
 * its own. The 128-bit area is added up in four pieces of 32 bits. */
#include "ops.cuh"

#include "../../base/exact.cuh"
#include "../../base/sort.cuh"

extern "C" {
#include "../../../gbt/metric/ranking.h"
}

enum { RANK_ROWS = 4096 }; /* of a block whose gains and bases are summed up */

struct ranking_totals {
  gbt_exact_sum gain, base, precisions;
  unsigned long long n_positive, n_nan;
  unsigned long long low;     /* the complement of the lowest label's key */
  unsigned long long area[4]; /* sums of pieces */
  gbt_ranking_pair all;
};

/* A data set, and how its rows become gains and bases. */
struct ranking_rows {
  uint64_t n;
  const double *score;
  cu_numbers label, weight;
  gbt_ranking how;
  int plain; /* no weights, and gains by class: whether a row is positive says all */
};

/* ---- rows ---- */

__global__ static void k_ranking_low(ranking_rows r, ranking_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  unsigned long long low = 0;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const unsigned long long k = ~gbt_order_key(r.label[i]);
    low = k > low ? k : low;
  }
  __syncwarp();
  low = cu_warp_max(low);
  if (cu_lane() == 0) atomicMax(&totals->low, low);
}

__global__ static void k_ranking_totals(ranking_rows r, ranking_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  uint32_t n_positive = 0, n_nan = 0;
  cu_limbs gains, bases;
  cu_limbs_at(&gains, CU_LIMBS_FIRST);
  cu_limbs_at(&bases, CU_LIMBS_FIRST);
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const double s = r.score[i], y = r.label[i];
    n_positive += y > 0.5;
    n_nan += s != s;
    if (r.plain) continue;
    double gain, base;
    gbt_ranking_row(&r.how, y, r.weight.at ? r.weight[i] : 1.0, &gain, &base);
    cu_limbs_add(&gains, &totals->gain, gain);
    cu_limbs_add(&bases, &totals->base, base);
  }
  __syncwarp();
  n_positive = cu_warp_sum(n_positive);
  n_nan = cu_warp_sum(n_nan);
  if (cu_lane() == 0) {
    atomicAdd(&totals->n_positive, (unsigned long long)n_positive);
    atomicAdd(&totals->n_nan, (unsigned long long)n_nan);
  }
  if (r.plain) return;
  cu_limbs_empty_warp(&gains, &totals->gain);
  cu_limbs_empty_warp(&bases, &totals->base);
}

/* value: the row, or whether it is positive. */
__global__ static void k_ranking_keys(ranking_rows r, cu_numbers by, uint64_t *key, uint32_t *value) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    key[i] = gbt_order_key(by[i]);
    value[i] = r.plain ? (uint32_t)(r.label[i] > 0.5) : (uint32_t)i;
  }
}

/* ---- places ---- */

/* Gain and base of place i; 0 after the last place. */
__device__ static __forceinline__ gbt_ranking_pair pair_at(const ranking_rows &r, const uint32_t *value, uint64_t i) {
  gbt_ranking_pair x = {0, 0};
  if (i >= r.n) return x;
  const uint32_t v = value[i];
  if (r.plain) {
    if (v)
      x.gain = r.how.unit.gain;
    else
      x.base = r.how.unit.base;
    return x;
  }
  double gain, base;
  gbt_ranking_row(&r.how, r.label[v], r.weight.at ? r.weight[v] : 1.0, &gain, &base);
  x.gain = gbt_ranking_fixed(gain, &r.how.gain);
  x.base = gbt_ranking_fixed(base, &r.how.base);
  return x;
}

/* part[b]: the places of block b. */
__global__ static void k_ranking_parts(ranking_rows r, const uint32_t *value, gbt_ranking_pair *part) {
  const uint32_t n_blocks = (uint32_t)((r.n + RANK_ROWS - 1) / RANK_ROWS);
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    gbt_ranking_pair sum = {0, 0};
    const uint64_t beg = (uint64_t)b * RANK_ROWS, end = r.n - beg < RANK_ROWS ? r.n : beg + RANK_ROWS;
    for (uint64_t i = beg + threadIdx.x; i < end; i += blockDim.x) sum = gbt_ranking_plus(sum, pair_at(r, value, i));
    sum.gain = cu_block_sum(sum.gain);
    sum.base = cu_block_sum(sum.base);
    if (threadIdx.x == 0) part[b] = sum;
  }
}

/* One block: part[b] becomes the places before block b. */
__global__ static void k_ranking_before(uint64_t n, gbt_ranking_pair *part, ranking_totals *totals) {
  const uint64_t n_blocks = (n + RANK_ROWS - 1) / RANK_ROWS;
  gbt_ranking_pair before = {0, 0};
  for (uint64_t beg = 0; beg < n_blocks; beg += blockDim.x) {
    const uint64_t b = beg + threadIdx.x;
    gbt_ranking_pair mine = {0, 0}, all;
    if (b < n_blocks) mine = part[b];
    mine.gain = cu_block_scan(mine.gain, &all.gain);
    mine.base = cu_block_scan(mine.base, &all.base);
    if (b < n_blocks) part[b] = gbt_ranking_plus(before, mine);
    before = gbt_ranking_plus(before, all);
  }
  if (threadIdx.x == 0) totals->all = before;
}

/* base[i], gain[i]: of the places before place i; gain may be NULL. */
__global__ static void k_ranking_prefix(ranking_rows r, const uint32_t *value, const gbt_ranking_pair *part,
                                        uint64_t *base, uint64_t *gain) {
  const uint32_t n_blocks = (uint32_t)((r.n + RANK_ROWS - 1) / RANK_ROWS);
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    const uint64_t beg = (uint64_t)b * RANK_ROWS, end = r.n - beg < RANK_ROWS ? r.n : beg + RANK_ROWS;
    gbt_ranking_pair before = part[b];
    for (uint64_t chunk = beg; chunk < end; chunk += blockDim.x) {
      const uint64_t i = chunk + threadIdx.x;
      gbt_ranking_pair mine = {0, 0}, all = {0, 0};
      if (i < end) mine = pair_at(r, value, i);
      mine.base = cu_block_scan(mine.base, &all.base);
      if (gain) mine.gain = cu_block_scan(mine.gain, &all.gain);
      if (i < end) base[i] = before.base + mine.base;
      if (i < end && gain) gain[i] = before.gain + mine.gain;
      before = gbt_ranking_plus(before, all);
    }
  }
}

/* ---- groups ---- */

/* The first place in [low, high) whose key is not below k (above: is above k), or high. */
__device__ static __forceinline__ uint64_t place_of(const uint64_t *key, uint64_t low, uint64_t high, uint64_t k,
                                                    int above) {
  while (low < high) {
    uint64_t mid = low + (high - low) / 2;
    if (key[mid] < k || (above && key[mid] == k))
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

__global__ static void k_ranking_area(ranking_rows r, const uint64_t *key, const uint32_t *value,
                                      const uint64_t *prefix, ranking_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x, all = totals->all.base;
  gbt_wide area = {0, 0};
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const uint64_t gain = pair_at(r, value, i).gain, k = key[i];
    if (gain == 0) continue;
    uint64_t first = i, end = i + 1;
    if (i > 0 && key[i - 1] == k) first = place_of(key, 0, i, k, 0);
    if (end < r.n && key[end] == k) end = place_of(key, end, r.n, k, 1);
    area = gbt_wide_add(area, gbt_wide_product(gain, prefix[first] + (end < r.n ? prefix[end] : all)));
  }
  const uint64_t piece[4] = {area.lo & 0xffffffffu, area.lo >> 32, area.hi & 0xffffffffu, area.hi >> 32};
  CU_UNROLL for (int p = 0; p < 4; p++) {
    uint64_t sum = cu_block_sum(piece[p]);
    if (threadIdx.x == 0) atomicAdd(&totals->area[p], (unsigned long long)sum);
  }
}

__global__ static void k_ranking_precision(ranking_rows r, const uint64_t *key, const uint64_t *base,
                                           const uint64_t *gain, ranking_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  const gbt_ranking_pair all = totals->all;
  cu_limbs sum;
  cu_limbs_at(&sum, CU_LIMBS_FIRST);
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const uint64_t k = key[i];
    if (i + 1 < r.n && key[i + 1] == k) continue; /* the group's last place takes it */
    const uint64_t first = i > 0 && key[i - 1] == k ? place_of(key, 0, i, k, 0) : i;
    const gbt_ranking_pair below = {gain[first], base[first]}, none = {0, 0};
    gbt_ranking_pair above = none;
    if (i + 1 < r.n) {
      above.gain = gain[i + 1];
      above.base = base[i + 1];
    } else {
      above = all;
    }
    const gbt_ranking_pair group = gbt_ranking_minus(above, below);
    if (group.gain == 0) continue;
    cu_limbs_add(&sum, &totals->precisions, gbt_ranking_precision(&r.how, group, gbt_ranking_minus(all, below)));
  }
  __syncwarp();
  cu_limbs_empty_warp(&sum, &totals->precisions);
}

/* ---- the metrics ---- */

static uint64_t place_after(uint64_t *at, uint64_t bytes) {
  uint64_t beg = *at;
  *at = (beg + bytes + 255) / 256 * 256;
  return beg;
}

/* Scratch for the data sets that may come; once. *refused: there is no room for it, the host does the work. */
static gbt_status make_room(cu_backend *be, int32_t which, int with_gain, int *refused, gbt_error *err) {
  cu_ranking *x = &be->metrics.ranking;
  uint64_t n = x->n, at = 0;
  *refused = be->metrics.refused;
  if (*refused) return GBT_OK;
  if (n >= (uint64_t)be->data[which].view.n_rows)
    return with_gain ? cu_metric_room(&be->device.memory, &x->gain, n, refused, err) : GBT_OK;
  for (int32_t s = which > 0; s <= be->n_valid; s++) {
    uint64_t rows = (uint64_t)be->data[s].view.n_rows;
    if (rows > n) n = rows;
  }
  GBT_TRY(cu_sort_room(n, 1, &x->bytes, err));
  uint64_t keys[2] = {place_after(&at, 8 * n), place_after(&at, 8 * n)};
  uint64_t values[2] = {place_after(&at, 4 * n), place_after(&at, 4 * n)};
  uint64_t part = place_after(&at, sizeof(gbt_ranking_pair) * (n / RANK_ROWS + 1));
  uint64_t totals = place_after(&at, sizeof(ranking_totals)), room = place_after(&at, x->bytes);
  GBT_TRY(cu_metric_room(&be->device.memory, &x->block, at, refused, err));
  be->metrics.refused = *refused;
  if (*refused) return GBT_OK;
  unsigned char *block = x->block.at;
  for (int k = 0; k < 2; k++) {
    x->key[k] = (uint64_t *)(void *)(block + keys[k]);
    x->value[k] = (uint32_t *)(void *)(block + values[k]);
  }
  x->part = block + part;
  x->totals = block + totals;
  x->room = block + room;
  x->n = n;
  return with_gain ? cu_metric_room(&be->device.memory, &x->gain, n, refused, err) : GBT_OK;
}

static gbt_status fetch_totals(cu_backend *be, ranking_totals *totals, gbt_error *err) {
  const void *from = be->metrics.ranking.totals;
  CU_TRY(cudaMemcpyAsync(totals, from, sizeof *totals, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return GBT_OK;
}

/* How rows become gains and bases. *none: there is no metric. */
static gbt_status find_scales(cu_backend *be, ranking_rows *r, int *none, gbt_error *err) {
  ranking_totals *at = (ranking_totals *)be->metrics.ranking.totals, totals;
  const unsigned blocks = cu_grid(&be->device, (r->n + CU_BLOCK - 1) / CU_BLOCK, 4);
  if (r->how.kind == GBT_METRIC_GINI) {
    CU_LAUNCH(k_ranking_low, blocks, CU_BLOCK, 0, be->device.stream, *r, at);
    CU_LAUNCHED();
    GBT_TRY(fetch_totals(be, &totals, err));
    r->how.low = gbt_order_value(~(uint64_t)totals.low);
  }
  CU_LAUNCH(k_ranking_totals, blocks, CU_BLOCK, 0, be->device.stream, *r, at);
  CU_LAUNCHED();
  GBT_TRY(fetch_totals(be, &totals, err));
  double gain = r->plain ? (double)totals.n_positive : gbt_exact_value(&totals.gain);
  double base = r->plain ? (double)(r->n - totals.n_positive) : gbt_exact_value(&totals.base);
  *none = !gbt_ranking_begin(&r->how, gain, base, (int64_t)totals.n_nan);
  return GBT_OK;
}

/* The groups of rows that are sorted by `by`. */
static gbt_status find_groups(cu_backend *be, const ranking_rows &r, cu_numbers by, ranking_totals *totals,
                              gbt_error *err) {
  const cu_ranking *x = &be->metrics.ranking;
  ranking_totals *out = (ranking_totals *)x->totals;
  gbt_ranking_pair *part = (gbt_ranking_pair *)x->part;
  uint64_t *gain = r.how.kind == GBT_METRIC_PR_AUC ? x->gain.at : nullptr;
  const unsigned blocks = cu_grid(&be->device, (r.n + RANK_ROWS - 1) / RANK_ROWS, 8);
  const unsigned grid = cu_grid(&be->device, (r.n + CU_BLOCK - 1) / CU_BLOCK, 8);
  int at = 0;
  CU_TRY(cudaMemsetAsync(out, 0, sizeof *out, be->device.stream));
  CU_LAUNCH(k_ranking_keys, grid, CU_BLOCK, 0, be->device.stream, r, by, x->key[0], x->value[0]);
  CU_LAUNCHED();
  GBT_TRY(cu_sort_keys(x->room, x->bytes, x->key, x->value, r.n, 64, &at, be->device.stream, err));
  const uint32_t *value = x->value[at];
  uint64_t *prefix = x->key[1 - at];
  CU_LAUNCH(k_ranking_parts, blocks, CU_BLOCK, 0, be->device.stream, r, value, part);
  CU_LAUNCHED();
  CU_LAUNCH(k_ranking_before, 1, CU_CONTROL, 0, be->device.stream, r.n, part, out);
  CU_LAUNCHED();
  CU_LAUNCH(k_ranking_prefix, blocks, CU_BLOCK, 0, be->device.stream, r, value, part, prefix, gain);
  CU_LAUNCHED();
  if (gain)
    CU_LAUNCH(k_ranking_precision, grid, CU_BLOCK, 0, be->device.stream, r, x->key[at], prefix, gain, out);
  else
    CU_LAUNCH(k_ranking_area, grid, CU_BLOCK, 0, be->device.stream, r, x->key[at], value, prefix, out);
  CU_LAUNCHED();
  return fetch_totals(be, totals, err);
}

static gbt_wide area_of(const ranking_totals &totals) {
  const gbt_wide low = {totals.area[1] >> 32, totals.area[1] << 32}, lowest = {0, totals.area[0]};
  const gbt_wide high = {totals.area[2] + (totals.area[3] << 32), 0};
  return gbt_wide_add(high, gbt_wide_add(low, lowest));
}

gbt_status cu_metric_of_ranking(cu_backend *be, int32_t which, const cu_scored &rows, const gbt_metric *metric,
                                double *out, int *done, gbt_error *err) {
  const int gini = metric->kind == GBT_METRIC_GINI;
  ranking_totals by_score, by_label;
  ranking_rows r = {};
  cu_ranking *x = &be->metrics.ranking;
  int none = 0, refused;
  GBT_TRY(make_room(be, which, metric->kind == GBT_METRIC_PR_AUC, &refused, err));
  if (refused) return GBT_OK;
  r.n = rows.n;
  r.score = rows.score;
  r.label = rows.label;
  r.weight = rows.weight;
  r.how.kind = metric->kind;
  r.plain = !gini && !r.weight.at;
  CU_TRY(cudaMemsetAsync(x->totals, 0, sizeof(ranking_totals), be->device.stream));
  GBT_TRY(find_scales(be, &r, &none, err));
  *out = gbt_from_bits(0x7ff8000000000000u);
  if (!none) {
    GBT_TRY(find_groups(be, r, cu_doubles(r.score, r.n), &by_score, err));
    if (gini) GBT_TRY(find_groups(be, r, r.label, &by_label, err));
    *out = gini ? gbt_gini_value(area_of(by_score), area_of(by_label), by_score.all)
           : metric->kind == GBT_METRIC_AUC
               ? gbt_auc_value(area_of(by_score), by_score.all)
               : gbt_pr_auc_value(gbt_exact_value(&by_score.precisions), by_score.all);
  }
  *done = 1;
  return GBT_OK;
}
