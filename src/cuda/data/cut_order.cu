/* From the entries of a column to the values that cuts lie between.
 *
 *   keys    of all entries, in order; missing ones (key CU_NO_KEY) at the end
 *   upto    weight of the entries up to and with this one; without weights: their number
 *   runs    list[r]: the last entry of the r-th distinct value that weighs something
 *
 *   keys   3 3 3 5 7 7 9 9 9 9 -     runs  2 3 5 9     upto of runs  3 4 6 10
 *
 * Orders are sums of integers, so neither blocks nor their order can show. */
#include "cut_order.cuh"

#include "../base/block.cuh"

#define CU_NO_KEY UINT64_MAX /* above the keys of all numbers */
#define CU_ABSENT UINT32_MAX /* the row number of all rows without an entry */

enum { CU_CUT_BLOCK = 256 };

/* ---- keys ---- */

__global__ static void k_keys(cu_raw raw, const int32_t *rows, uint64_t n, uint64_t first, uint64_t *key, uint32_t *row,
                              cu_found *found) {
  uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  unsigned long long n_missing = 0;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    double x = cu_raw_value(raw, i);
    int missing = x != x;
    n_missing += missing;
    key[first + i] = missing ? CU_NO_KEY : gbt_order_key(x);
    if (row != NULL) row[first + i] = rows != NULL ? (uint32_t)rows[i] : (uint32_t)(first + i);
  }
  n_missing = cu_block_sum(n_missing);
  if (threadIdx.x == 0 && n_missing > 0) atomicAdd(&found->n_missing, n_missing);
}

/* The absent entries, all of them one. */
__global__ static void k_absent(uint64_t at, uint64_t *key, uint32_t *row) {
  key[at] = gbt_order_key(0.0);
  if (row != NULL) row[at] = CU_ABSENT;
}

/* ---- weights ---- */

__device__ static __forceinline__ uint64_t cu_weight_at(const cu_cut_view &v, uint64_t i) {
  if (i >= v.n || v.key[i] == CU_NO_KEY) return 0;
  uint32_t row = v.row[i];
  return row == CU_ABSENT ? v.absent : v.weight[row];
}

__global__ static void k_weigh_parts(cu_cut_view v, uint64_t n_parts) {
  for (uint64_t t = blockIdx.x; t < n_parts; t += gridDim.x) {
    uint64_t sum = 0;
    for (uint32_t k = threadIdx.x; k < CU_CUT_PART; k += blockDim.x) sum += cu_weight_at(v, t * CU_CUT_PART + k);
    sum = cu_block_sum(sum);
    if (threadIdx.x == 0) v.part_sum[t] = sum;
  }
}

/* Sums become those of the parts before; by one block. */
__global__ static void k_parts_before(cu_cut_view v, uint64_t n_parts) {
  uint64_t before = 0;
  for (uint64_t beg = 0; beg < n_parts; beg += blockDim.x) {
    uint64_t t = beg + threadIdx.x, total;
    uint64_t at = cu_block_scan(t < n_parts ? v.part_sum[t] : (uint64_t)0, &total);
    if (t < n_parts) v.part_sum[t] = before + at;
    before += total;
  }
}

__global__ static void k_weigh(cu_cut_view v, uint64_t n_parts) {
  for (uint64_t t = blockIdx.x; t < n_parts; t += gridDim.x) {
    uint64_t before = v.part_sum[t];
    for (uint32_t k = 0; k < CU_CUT_PART; k += blockDim.x) {
      uint64_t i = t * CU_CUT_PART + k + threadIdx.x, w = cu_weight_at(v, i), total;
      uint64_t at = cu_block_scan(w, &total);
      if (i < v.n) v.upto[i] = before + at + w;
      before += total;
    }
  }
}

/* ---- lists ---- */

/* Weight of all entries up to and with the last one of a value. */
__device__ static __forceinline__ uint64_t cu_upto(const cu_cut_view &v, uint32_t last) {
  if (v.upto != NULL) return v.upto[last];
  uint64_t n = (uint64_t)last + 1;
  return v.absent > 1 && v.key[last] >= gbt_order_key(0.0) ? n + (v.absent - 1) : n;
}

enum { CU_ENDS = 0, CU_RUNS, CU_HEAVY };

/* Kinds are made one from the other: ends of equal keys; without those of values that weigh nothing; the heavy ones,
 * as numbers of runs. Without weights all ends are runs. */
__device__ static __forceinline__ uint64_t cu_run_weight(const cu_cut_view &v, const uint32_t *list, uint64_t r) {
  return cu_upto(v, list[r]) - (r > 0 ? cu_upto(v, list[r - 1]) : 0);
}

__device__ static __forceinline__ uint64_t cu_n_of(const cu_cut_view &v, int kind) {
  if (kind == CU_ENDS) return v.n;
  if (kind == CU_RUNS) return v.found->n_list[CU_ENDS];
  return v.found->n_runs > v.max_bin ? v.found->n_runs : 0;
}

__device__ static __forceinline__ int cu_is_in(const cu_cut_view &v, int kind, uint64_t i) {
  if (kind == CU_ENDS) return v.key[i] != CU_NO_KEY && (i + 1 == v.n || v.key[i + 1] != v.key[i]);
  if (kind == CU_RUNS) return cu_run_weight(v, v.ends, i) > 0;
  return cu_run_weight(v, v.runs, i) >= v.found->aim.least_heavy;
}

__device__ static __forceinline__ uint32_t cu_entry_of(const cu_cut_view &v, int kind, uint64_t i) {
  return kind == CU_RUNS ? v.ends[i] : (uint32_t)i;
}

__device__ static __forceinline__ uint64_t cu_parts(uint64_t n) { return (n + CU_CUT_PART - 1) / CU_CUT_PART; }

__global__ static void k_count(cu_cut_view v, int kind) {
  uint64_t n = cu_n_of(v, kind), n_parts = cu_parts(n);
  for (uint64_t t = blockIdx.x; t < n_parts; t += gridDim.x) {
    uint32_t sum = 0;
    for (uint32_t k = threadIdx.x; k < CU_CUT_PART; k += blockDim.x) {
      uint64_t i = t * CU_CUT_PART + k;
      if (i < n) sum += (uint32_t)cu_is_in(v, kind, i);
    }
    sum = cu_block_sum(sum);
    if (threadIdx.x == 0) v.part_first[t] = sum;
  }
}

/* Counts become places; by one block. With weights the ends are taken for runs until these are known. */
__global__ static void k_places(cu_cut_view v, int kind) {
  int64_t n_parts = (int64_t)cu_parts(cu_n_of(v, kind));
  uint32_t *first = v.part_first, n = cu_block_prefix(n_parts, first, [first](int64_t t) { return first[t]; });
  if (threadIdx.x != 0) return;
  v.found->n_list[kind] = n;
  if (kind != CU_HEAVY) v.found->n_runs = n;
}

__global__ static void k_list(cu_cut_view v, int kind) {
  uint64_t n = cu_n_of(v, kind), n_parts = cu_parts(n);
  uint32_t *list = kind == CU_ENDS ? v.ends : kind == CU_RUNS ? v.runs : v.heavy;
  for (uint64_t t = blockIdx.x; t < n_parts; t += gridDim.x) {
    uint32_t before = v.part_first[t];
    for (uint32_t k = 0; k < CU_CUT_PART; k += blockDim.x) {
      uint64_t i = t * CU_CUT_PART + k + threadIdx.x;
      uint32_t in = i < n ? (uint32_t)cu_is_in(v, kind, i) : 0u, total;
      uint32_t at = cu_block_scan(in, &total);
      if (in) list[before + at] = cu_entry_of(v, kind, i);
      before += total;
    }
  }
}

/* ---- orders ---- */

__global__ static void k_total(cu_cut_view v) {
  cu_found *f = v.found;
  f->total = f->n_runs > 0 ? cu_upto(v, v.runs[f->n_runs - 1]) : 0;
  f->aim.least_heavy = gbti_heavy_threshold(f->total, v.max_bin);
}

/* One block: weights of the heavy runs before each, and what the light ones' cuts aim at. */
__global__ static void k_aim(cu_cut_view v) {
  cu_found *f = v.found;
  const uint32_t *run = v.runs, *heavy = v.heavy;
  uint32_t n = f->n_runs > v.max_bin ? f->n_list[CU_HEAVY] : 0;
  uint64_t before = 0;
  for (uint32_t beg = 0; beg < n; beg += blockDim.x) {
    uint32_t j = beg + threadIdx.x;
    uint64_t total, at = cu_block_scan(j < n ? cu_run_weight(v, run, heavy[j]) : (uint64_t)0, &total);
    if (j < n) v.heavy_before[j] = before + at;
    before += total;
  }
  if (threadIdx.x != 0) return;
  if (f->n_runs <= v.max_bin) {
    f->n_candidates = f->n_runs > 0 ? f->n_runs - 1 : 0;
    return;
  }
  f->aim = gbti_aim_of(f->total, v.max_bin, before, n);
  f->n_candidates = (uint32_t)(f->aim.n_bins - 1) + 2 * n;
}

/* The first run with so much light weight up to it. */
__device__ static uint32_t cu_light_run(const cu_cut_view &v, uint64_t target) {
  const uint32_t *run = v.runs, *heavy = v.heavy;
  uint32_t n_heavy = v.found->n_list[CU_HEAVY], low = 0, high = n_heavy;
  while (low < high) { /* the first heavy run with the target before it */
    uint32_t mid = low + (high - low) / 2, h = heavy[mid];
    uint64_t light = (h > 0 ? cu_upto(v, run[h - 1]) : 0) - v.heavy_before[mid];
    if (light < target)
      low = mid + 1;
    else
      high = mid;
  }
  uint32_t beg = low > 0 ? heavy[low - 1] + 1 : 0, end = low < n_heavy ? heavy[low] - 1 : v.found->n_runs - 1;
  uint64_t heavy_weight = v.found->total - v.found->aim.light; /* of those before */
  if (low < n_heavy) heavy_weight = v.heavy_before[low];
  while (beg < end) {
    uint32_t mid = beg + (end - beg) / 2;
    if (cu_upto(v, run[mid]) - heavy_weight < target)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

/* The run after which the c-th candidate lies. */
__device__ static __forceinline__ uint32_t cu_candidate_run(const cu_cut_view &v, uint32_t c) {
  const cu_found *f = v.found;
  if (f->n_runs <= v.max_bin) return c;
  uint32_t n_light = (uint32_t)(f->aim.n_bins - 1);
  if (c < n_light) return cu_light_run(v, gbti_light_target(&f->aim, c + 1));
  uint32_t j = c - n_light, h = v.heavy[j >> 1];
  return (j & 1u) == 0 ? h : h - 1; /* before run 0: CU_NO_RUN */
}

__global__ static void k_candidates(cu_cut_view v) {
  const uint32_t *run = v.runs;
  uint32_t n = v.found->n_candidates, n_runs = v.found->n_runs;
  for (uint32_t c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) {
    cu_candidate out = {0, 0, cu_candidate_run(v, c), 0};
    if (out.run >= n_runs - 1) {
      out.run = CU_NO_RUN; /* the last run: there is no cut after it */
    } else {
      out.key = v.key[run[out.run]];
      out.next = v.key[run[out.run + 1]];
    }
    v.candidate[c] = out;
  }
}

/* ---- counts ---- */

__device__ static __forceinline__ uint64_t cu_keys_upto(const uint64_t *key, uint64_t n, uint64_t x) {
  uint64_t low = 0, high = n;
  while (low < high) {
    uint64_t mid = low + (high - low) / 2;
    if (key[mid] <= x)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

__global__ static void k_within(cu_cut_view v, double low, double high) {
  uint64_t n = high == high ? cu_keys_upto(v.key, v.n, gbt_order_key(high)) : 0;
  if (n > 0 && low == low) n -= cu_keys_upto(v.key, v.n, gbt_order_key(low));
  v.found->n_within = n;
}

/* ---- the host ---- */

gbt_status cu_cut_keys(const cu_raw *values, const int32_t *rows, uint64_t n, uint64_t first, uint64_t *key,
                       uint32_t *row, cu_found *found, unsigned most, cudaStream_t stream, gbt_error *err) {
  CU_LAUNCH(k_keys, cu_blocks(most, n, CU_CUT_BLOCK), CU_CUT_BLOCK, 0, stream, *values, rows, n, first, key, row,
            found);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_cut_absent(uint64_t at, uint64_t *key, uint32_t *row, cudaStream_t stream, gbt_error *err) {
  CU_LAUNCH(k_absent, 1, 1, 0, stream, at, key, row);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_cut_within(const cu_cut_view *v, double low, double high, cudaStream_t stream, gbt_error *err) {
  CU_LAUNCH(k_within, 1, 1, 0, stream, *v, low, high);
  CU_LAUNCHED();
  return GBT_OK;
}

/* Launches are checked one by one: each trusts what the one before has written. */
static gbt_status cu_make_list(const cu_cut_view *v, int kind, unsigned grid, cudaStream_t s, gbt_error *err) {
  CU_LAUNCH(k_count, grid, CU_CUT_BLOCK, 0, s, *v, kind);
  CU_LAUNCHED();
  CU_LAUNCH(k_places, 1, CU_CUT_BLOCK, 0, s, *v, kind);
  CU_LAUNCHED();
  CU_LAUNCH(k_list, grid, CU_CUT_BLOCK, 0, s, *v, kind);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_cut_candidates(const cu_cut_view *v, unsigned most, cudaStream_t s, gbt_error *err) {
  uint64_t n_parts = (v->n + CU_CUT_PART - 1) / CU_CUT_PART;
  unsigned grid = cu_blocks(most, n_parts, 1);
  if (v->upto != NULL) {
    CU_LAUNCH(k_weigh_parts, grid, CU_CUT_BLOCK, 0, s, *v, n_parts);
    CU_LAUNCHED();
    CU_LAUNCH(k_parts_before, 1, CU_CUT_BLOCK, 0, s, *v, n_parts);
    CU_LAUNCHED();
    CU_LAUNCH(k_weigh, grid, CU_CUT_BLOCK, 0, s, *v, n_parts);
    CU_LAUNCHED();
  }
  GBT_TRY(cu_make_list(v, CU_ENDS, grid, s, err));
  if (v->upto != NULL) GBT_TRY(cu_make_list(v, CU_RUNS, grid, s, err));
  CU_LAUNCH(k_total, 1, 1, 0, s, *v);
  CU_LAUNCHED();
  GBT_TRY(cu_make_list(v, CU_HEAVY, grid, s, err));
  CU_LAUNCH(k_aim, 1, CU_CUT_BLOCK, 0, s, *v);
  CU_LAUNCHED();
  CU_LAUNCH(k_candidates, cu_blocks(most, v->max_bin, CU_CUT_BLOCK), CU_CUT_BLOCK, 0, s, *v);
  CU_LAUNCHED();
  return GBT_OK;
}
