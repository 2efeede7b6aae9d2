/* This file has all uses of CUB, which comes with the CUDA toolkit. It cannot be emulated, so that tests/simt gets a
 * kernel of one thread with the same face: it needs scratch of a size that depends on n, refuses less, leaves junk in
 * it, and puts the result into either of the two arrays. */
#include "sort.cuh"

#if defined(__CUDACC__)

#include <cub/device/device_radix_sort.cuh>

/* room NULL: sets *bytes, does nothing else. */
static cudaError_t cu_radix_sort(void *room, size_t *bytes, uint64_t *const key[2], uint32_t *const value[2],
                                 uint32_t n, int bits, int *at, cudaStream_t stream) {
  cub::DoubleBuffer<uint64_t> keys(key[0], key[1]);
  cudaError_t code;
  if (value) {
    cub::DoubleBuffer<uint32_t> values(value[0], value[1]);
    code = cub::DeviceRadixSort::SortPairs(room, *bytes, keys, values, n, 0, bits, stream);
  } else {
    code = cub::DeviceRadixSort::SortKeys(room, *bytes, keys, n, 0, bits, stream);
  }
  *at = keys.selector; /* values.selector is the same: both were moved by the same passes */
  return code;
}

#else

enum { CU_DIGITS = 256 };

static size_t cu_twin_bytes(uint32_t n) { return CU_DIGITS * sizeof(uint32_t) + (size_t)n / 8; }

/* From the lowest byte to the highest: counts, first places, moves. */
__global__ static void k_radix_sort(uint64_t *key, uint64_t *other_key, uint32_t *value, uint32_t *other_value,
                                    uint32_t n, int bits, unsigned char *room, size_t bytes, int at) {
  uint32_t *place = (uint32_t *)room;
  int turned = 0;
  for (int shift = 0; shift < bits; shift += 8) {
    for (int d = 0; d < CU_DIGITS; d++) place[d] = 0;
    for (uint32_t i = 0; i < n; i++) place[key[i] >> shift & 255u]++;
    for (uint32_t d = 0, sum = 0; d < CU_DIGITS; d++) {
      uint32_t count = place[d];
      place[d] = sum;
      sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
      uint32_t to = place[key[i] >> shift & 255u]++;
      other_key[to] = key[i];
      if (value) other_value[to] = value[i];
    }
    uint64_t *k = key;
    key = other_key;
    other_key = k;
    uint32_t *v = value;
    value = other_value;
    other_value = v;
    turned = !turned;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (at != turned) other_key[i] = key[i];
    uint64_t *left_over = at != turned ? key : other_key;
    left_over[i] = ~(uint64_t)i;
    if (!value) continue;
    if (at != turned) other_value[i] = value[i];
    uint32_t *left_over_value = at != turned ? value : other_value;
    left_over_value[i] = ~i;
  }
  for (size_t i = 0; i < bytes; i++) room[i] = 0xA5;
}

static cudaError_t cu_radix_sort(void *room, size_t *bytes, uint64_t *const key[2], uint32_t *const value[2],
                                 uint32_t n, int bits, int *at, cudaStream_t stream) {
  if (!room) {
    *bytes = cu_twin_bytes(n);
    return cudaSuccess;
  }
  if (*bytes < cu_twin_bytes(n)) return cudaErrorInvalidValue;
  *at = (int)(n & 1u);
  CU_LAUNCH(k_radix_sort, 1, 1, 0, stream, key[0], key[1], value ? value[0] : nullptr, value ? value[1] : nullptr, n,
            bits, (unsigned char *)room, *bytes, *at);
  return cudaPeekAtLastError();
}

#endif

gbt_status cu_sort_room(uint64_t n, int with_values, size_t *bytes, gbt_error *err) {
  uint64_t *const key[2] = {nullptr, nullptr};
  uint32_t *const value[2] = {nullptr, nullptr};
  int at;
  *bytes = 0;
  if (n > UINT32_MAX)
    return gbt_fail_device(err, GBT_E_DEVICE,
                           "a column has %llu values; the device can sort fewer than 2^32; train on fewer rows, or use "
                           "the CPU",
                           (unsigned long long)n);
  CU_TRY(cu_radix_sort(nullptr, bytes, key, with_values ? value : nullptr, (uint32_t)n, 64, &at, 0));
  return GBT_OK;
}

gbt_status cu_sort_keys(void *room, size_t bytes, uint64_t *const key[2], uint32_t *const value[2], uint64_t n,
                        int bits, int *at, cudaStream_t stream, gbt_error *err) {
  *at = 0;
  GBT_ASSERT(n <= UINT32_MAX && bits >= 1 && bits <= 64); /* cu_sort_room has refused more */
  if (n <= 1) return GBT_OK;
  CU_TRY(cu_radix_sort(room, &bytes, key, value, (uint32_t)n, bits, at, stream));
  GBT_ASSERT(*at == 0 || *at == 1);
  return GBT_OK;
}
