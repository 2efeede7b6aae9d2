/* The area under the ROC curve on the device: the bits of gbt_auc. Weights are fixed-point numbers
 * (boost/ranking.c), so
 * all below are integers. Rows are sorted by score; with
 *
 *   P[i] = weight of the negative rows before place i      first, end: the run of equal scores around i
 *
 *   2 area = sum over positive i of w_i (P[first] + P[end])
 *
 * which is the sum over groups that the CPU makes, taken apart. The sort leaves one of its two arrays of keys free: P
 * goes there. The 128-bit area is added up in four pieces of 32 bits. */
#include "../base/exact.cuh"
#include "../base/sort.cuh"
#include "backend.cuh"

extern "C" {
#include "../../gbt/metric/rank_terms.h"
}

enum { AUC_ROWS = 4096 }; /* of a block whose negative weights are summed up */

struct auc_totals {
  gbt_exact_sum weight[2]; /* by class: negative, positive */
  unsigned long long n_pos, n_nan;
  unsigned long long fixed[2]; /* by class, in fixed point */
  unsigned long long area[4];  /* twice the area: sums of pieces */
};

/* A set, and how a class's weights become fixed-point numbers. */
struct auc_rows {
  uint64_t n;
  const double *score, *label, *weight;
  double up[2][2];
  uint64_t unit[2]; /* of a row without weight */
};

/* ---- kernels ---- */

/* value: the row, or, without weights, whether it is positive. */
__global__ static void k_auc_keys(auc_rows r, uint64_t *key, uint32_t *value, auc_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  uint32_t n_pos = 0, n_nan = 0;
  cu_limbs neg, pos;
  cu_limbs_at(&neg, CU_LIMBS_FIRST);
  cu_limbs_at(&pos, CU_LIMBS_FIRST);
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const double s = r.score[i];
    const int positive = r.label[i] > 0.5;
    n_pos += positive;
    n_nan += s != s;
    key[i] = gbt_order_key(s); /* whatever a NaN's key is: there will be no AUC */
    value[i] = r.weight ? (uint32_t)i : (uint32_t)positive;
    if (!r.weight) continue;
    if (positive)
      cu_limbs_add(&pos, &totals->weight[1], r.weight[i]);
    else
      cu_limbs_add(&neg, &totals->weight[0], r.weight[i]);
  }
  __syncwarp();
  n_pos = cu_warp_sum(n_pos);
  n_nan = cu_warp_sum(n_nan);
  if (cu_lane() == 0) {
    atomicAdd(&totals->n_pos, (unsigned long long)n_pos);
    atomicAdd(&totals->n_nan, (unsigned long long)n_nan);
  }
  if (!r.weight) return;
  cu_limbs_empty_warp(&neg, &totals->weight[0]);
  cu_limbs_empty_warp(&pos, &totals->weight[1]);
}

/* Weight and class of a sorted row. */
__device__ static __forceinline__ uint64_t auc_weight(const auc_rows &r, uint32_t value, int *positive) {
  if (!r.weight) {
    *positive = (int)value;
    return value ? r.unit[1] : r.unit[0];
  }
  *positive = r.label[value] > 0.5;
  const double up[2] = {*positive ? r.up[1][0] : r.up[0][0], *positive ? r.up[1][1] : r.up[0][1]};
  return gbt_auc_weight(r.weight[value], up);
}

__device__ static __forceinline__ uint64_t negative_weight(const auc_rows &r, const uint32_t *value, uint64_t i) {
  int positive = 1;
  uint64_t w = i < r.n ? auc_weight(r, value[i], &positive) : 0;
  return positive ? 0 : w;
}

/* part[b]: the negative rows of block b; the positive ones of all. */
__global__ static void k_auc_parts(auc_rows r, const uint32_t *value, uint64_t *part, auc_totals *totals) {
  const uint32_t n_blocks = (uint32_t)((r.n + AUC_ROWS - 1) / AUC_ROWS);
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    uint64_t of[2] = {0, 0};
    const uint64_t beg = (uint64_t)b * AUC_ROWS, end = r.n - beg < AUC_ROWS ? r.n : beg + AUC_ROWS;
    for (uint64_t i = beg + threadIdx.x; i < end; i += blockDim.x) {
      int positive;
      uint64_t w = auc_weight(r, value[i], &positive);
      of[0] += positive ? 0 : w;
      of[1] += positive ? w : 0;
    }
    of[0] = cu_block_sum(of[0]);
    of[1] = cu_block_sum(of[1]);
    if (threadIdx.x == 0) {
      part[b] = of[0];
      atomicAdd(&totals->fixed[1], (unsigned long long)of[1]);
    }
  }
}

/* One block: part[b] becomes the negative rows before block b. */
__global__ static void k_auc_before(uint64_t n, uint64_t *part, auc_totals *totals) {
  const uint64_t n_blocks = (n + AUC_ROWS - 1) / AUC_ROWS;
  uint64_t before = 0;
  for (uint64_t beg = 0; beg < n_blocks; beg += blockDim.x) {
    uint64_t b = beg + threadIdx.x, total, at = cu_block_scan(b < n_blocks ? part[b] : (uint64_t)0, &total);
    if (b < n_blocks) part[b] = before + at;
    before += total;
  }
  if (threadIdx.x == 0) totals->fixed[0] = before;
}

__global__ static void k_auc_prefix(auc_rows r, const uint32_t *value, const uint64_t *part, uint64_t *prefix) {
  const uint32_t n_blocks = (uint32_t)((r.n + AUC_ROWS - 1) / AUC_ROWS);
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    const uint64_t beg = (uint64_t)b * AUC_ROWS, end = r.n - beg < AUC_ROWS ? r.n : beg + AUC_ROWS;
    uint64_t before = part[b];
    for (uint64_t chunk = beg; chunk < end; chunk += blockDim.x) {
      uint64_t i = chunk + threadIdx.x, total;
      uint64_t at = cu_block_scan(i < end ? negative_weight(r, value, i) : (uint64_t)0, &total);
      if (i < end) prefix[i] = before + at;
      before += total;
    }
  }
}

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

__global__ static void k_auc_area(auc_rows r, const uint64_t *key, const uint32_t *value, const uint64_t *prefix,
                                  auc_totals *totals) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x, all = totals->fixed[0];
  gbt_wide area = {0, 0};
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    int positive;
    const uint64_t w = auc_weight(r, value[i], &positive), k = key[i];
    if (!positive) continue;
    uint64_t first = i, end = i + 1;
    if (i > 0 && key[i - 1] == k) first = place_of(key, 0, i, k, 0);
    if (end < r.n && key[end] == k) end = place_of(key, end, r.n, k, 1);
    area = gbt_wide_add(area, gbt_wide_product(w, prefix[first] + (end < r.n ? prefix[end] : all)));
  }
  const uint64_t piece[4] = {area.lo & 0xffffffffu, area.lo >> 32, area.hi & 0xffffffffu, area.hi >> 32};
  CU_UNROLL for (int p = 0; p < 4; p++) {
    uint64_t sum = cu_block_sum(piece[p]);
    if (threadIdx.x == 0) atomicAdd(&totals->area[p], (unsigned long long)sum);
  }
}

/* ---- the metric ---- */

static uint64_t place_after(uint64_t *at, uint64_t bytes) {
  uint64_t beg = *at;
  *at = (beg + bytes + 255) / 256 * 256;
  return beg;
}

/* Scratch for the sets that may come; once. Without room for it the host does the work. */
static gbt_status make_room(cu_backend *be, int32_t which, gbt_error *err) {
  cu_auc *auc = &be->metrics.auc;
  uint64_t n = 0, at = 0;
  if (auc->refused || auc->n >= (uint64_t)be->set[which].view.n_rows) return GBT_OK;
  for (int32_t s = which > 0; s <= be->n_valid; s++) {
    uint64_t rows = (uint64_t)be->set[s].view.n_rows;
    if (rows > n) n = rows;
  }
  GBT_TRY(cu_sort_room(n, 1, &auc->bytes, err));
  uint64_t keys[2] = {place_after(&at, 8 * n), place_after(&at, 8 * n)};
  uint64_t values[2] = {place_after(&at, 4 * n), place_after(&at, 4 * n)};
  uint64_t part = place_after(&at, 8 * (n / AUC_ROWS + 1)), totals = place_after(&at, sizeof(auc_totals));
  uint64_t room = place_after(&at, auc->bytes);
  gbt_error no_room;
  cu_drop(&be->device.memory, &auc->block);
  gbt_status status = cu_new(&be->device.memory, &auc->block, at, &no_room);
  auc->refused = status == GBT_E_MEM;
  if (auc->refused) return GBT_OK;
  if (status != GBT_OK && err) *err = no_room;
  GBT_TRY(status);
  unsigned char *block = auc->block.at;
  for (int k = 0; k < 2; k++) {
    auc->key[k] = (uint64_t *)(void *)(block + keys[k]);
    auc->value[k] = (uint32_t *)(void *)(block + values[k]);
  }
  auc->part = (uint64_t *)(void *)(block + part);
  auc->totals = block + totals;
  auc->room = block + room;
  auc->n = n;
  return GBT_OK;
}

static gbt_status fetch_totals(cu_backend *be, auc_totals *totals, gbt_error *err) {
  CU_TRY(cudaMemcpyAsync(totals, be->metrics.auc.totals, sizeof *totals, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return GBT_OK;
}

/* Scales from the classes' totals, as choose_scales of boost/ranking.c. 0 when a class is absent or a score is NaN. */
static int choose_scales(auc_rows *r, const auc_totals *totals) {
  double neg = r->weight ? gbt_exact_value(&totals->weight[0]) : (double)(r->n - totals->n_pos);
  double pos = r->weight ? gbt_exact_value(&totals->weight[1]) : (double)totals->n_pos;
  if (totals->n_nan > 0 || !(pos > 0.0) || !(neg > 0.0)) return 0;
  gbt_auc_scale(neg, r->up[0]);
  gbt_auc_scale(pos, r->up[1]);
  for (int k = 0; k < 2; k++) r->unit[k] = gbt_auc_weight(1.0, r->up[k]);
  return 1;
}

static gbt_status find_area(cu_backend *be, const auc_rows &r, auc_totals *totals, gbt_error *err) {
  const cu_auc *auc = &be->metrics.auc;
  auc_totals *out = (auc_totals *)auc->totals;
  const unsigned blocks = cu_grid(&be->device, (r.n + AUC_ROWS - 1) / AUC_ROWS, 8);
  int at = 0;
  GBT_TRY(cu_sort_keys(auc->room, auc->bytes, auc->key, auc->value, r.n, &at, be->device.stream, err));
  const uint32_t *value = auc->value[at];
  uint64_t *prefix = auc->key[1 - at];
  CU_LAUNCH(k_auc_parts, blocks, CU_BLOCK, 0, be->device.stream, r, value, auc->part, out);
  CU_LAUNCHED();
  CU_LAUNCH(k_auc_before, 1, CU_CONTROL, 0, be->device.stream, r.n, auc->part, out);
  CU_LAUNCHED();
  CU_LAUNCH(k_auc_prefix, blocks, CU_BLOCK, 0, be->device.stream, r, value, auc->part, prefix);
  CU_LAUNCHED();
  CU_LAUNCH(k_auc_area, cu_grid(&be->device, (r.n + CU_BLOCK - 1) / CU_BLOCK, 8), CU_BLOCK, 0, be->device.stream, r,
            auc->key[at], value, prefix, out);
  CU_LAUNCHED();
  return fetch_totals(be, totals, err);
}

gbt_status cu_auc_of(cu_backend *be, int32_t which, double *out, int *done, gbt_error *err) {
  const cu_set *set = &be->set[which];
  auc_totals totals;
  GBT_TRY(make_room(be, which, err));
  if (be->metrics.auc.refused) return GBT_OK;
  auc_rows r = {(uint64_t)set->view.n_rows, set->score.at, set->label.at, set->weight.at, {{0, 0}, {0, 0}}, {0, 0}};
  CU_TRY(cudaMemsetAsync(be->metrics.auc.totals, 0, sizeof totals, be->device.stream));
  CU_LAUNCH(k_auc_keys, cu_grid(&be->device, (r.n + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0, be->device.stream, r,
            be->metrics.auc.key[0], be->metrics.auc.value[0], (auc_totals *)be->metrics.auc.totals);
  CU_LAUNCHED();
  GBT_TRY(fetch_totals(be, &totals, err));
  *done = 1;
  *out = gbt_from_bits(0x7ff8000000000000u);
  if (!choose_scales(&r, &totals)) return GBT_OK;
  *done = 0;
  GBT_TRY(find_area(be, r, &totals, err));
  const gbt_wide low = {totals.area[1] >> 32, totals.area[1] << 32}, lowest = {0, totals.area[0]};
  gbt_wide area = {totals.area[2] + (totals.area[3] << 32), 0};
  area = gbt_wide_add(area, gbt_wide_add(low, lowest));
  *out = gbt_wide_ratio(area, gbt_wide_double(gbt_wide_product(totals.fixed[0], totals.fixed[1])));
  *done = 1;
  return GBT_OK;
}
