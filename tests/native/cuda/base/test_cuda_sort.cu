/* Sorting on the device against a plain sort. */
#include "../../src/cuda/base/sort.cuh"

extern "C" {
#include "test.h"
}
#include "schedules.h"

struct entry {
  uint64_t key;
  uint32_t value;
};

/* By key, then by place: what a stable sort gives when values ascend. */
static int before(const void *a, const void *b) {
  const entry *x = (const entry *)a, *y = (const entry *)b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

enum { ANY = 0, FEW, SORTED, HIGH, N_KINDS };

static uint64_t a_key(test_rng *rng, int kind, uint32_t i) {
  switch (kind) {
  case FEW:
    return test_u(rng) % 7;
  case SORTED:
    return 3 * (uint64_t)i;
  case HIGH:
    return test_u(rng) << 50;
  default:
    return test_u(rng);
  }
}

static void sort_one(uint32_t n, int kind, int with_values) {
  static const int bits_of[] = {64, 1, 8, 9, 17, 32};
  const int bits = bits_of[(n + (uint32_t)kind) % 6];
  const uint64_t below = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
  test_rng rng = {n * 8 + (uint64_t)kind};
  entry *want = (entry *)test_alloc(n * sizeof *want);
  uint64_t *host = (uint64_t *)test_alloc(n * sizeof *host), *key[2];
  uint32_t *host_value = (uint32_t *)test_alloc(n * sizeof *host_value), *value[2];
  cudaStream_t stream;
  void *room;
  size_t bytes;
  int at;
  for (uint32_t i = 0; i < n; i++) {
    want[i].key = host[i] = a_key(&rng, kind, i) & below;
    want[i].value = host_value[i] = i;
  }
  qsort(want, n, sizeof *want, before);
  CHECK_OK(cu_sort_room(n, with_values, &bytes, test_err));
  CHECK_EQ_I64(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  CHECK_EQ_I64(cudaMalloc(&room, bytes), cudaSuccess);
  for (int k = 0; k < 2; k++) {
    CHECK_EQ_I64(cudaMalloc(&key[k], (n + 1) * sizeof *host), cudaSuccess);
    CHECK_EQ_I64(cudaMalloc(&value[k], (n + 1) * sizeof *host_value), cudaSuccess);
  }
  CHECK_EQ_I64(cudaMemcpyAsync(key[0], host, n * sizeof *host, cudaMemcpyHostToDevice, stream), cudaSuccess);
  CHECK_EQ_I64(cudaMemcpyAsync(value[0], host_value, n * sizeof *host_value, cudaMemcpyHostToDevice, stream),
               cudaSuccess);
  CHECK_OK(cu_sort_keys(room, bytes, key, with_values ? value : NULL, n, bits, &at, stream, test_err));
  CHECK_EQ_I64(cudaMemcpyAsync(host, key[at], n * sizeof *host, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  CHECK_EQ_I64(cudaMemcpyAsync(host_value, value[at], n * sizeof *host_value, cudaMemcpyDeviceToHost, stream),
               cudaSuccess);
  CHECK_EQ_I64(cudaStreamSynchronize(stream), cudaSuccess);
  for (uint32_t i = 0; i < n; i++) {
    CHECK_EQ_U64(host[i], want[i].key);
    if (with_values) CHECK_EQ_U64(host_value[i], want[i].value);
  }
  for (int k = 0; k < 2; k++) {
    CHECK_EQ_I64(cudaFree(key[k]), cudaSuccess);
    CHECK_EQ_I64(cudaFree(value[k]), cudaSuccess);
  }
  CHECK_EQ_I64(cudaFree(room), cudaSuccess);
  CHECK_EQ_I64(cudaStreamDestroy(stream), cudaSuccess);
  free(want);
  free(host);
  free(host_value);
}

static void keys_alone(void) {
  static const uint32_t sizes[] = {1, 2, 3, 255, 1000, 5001};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int kind = 0; kind < N_KINDS; kind++) sort_one(sizes[s], kind, 0);
}

static void keys_with_values(void) {
  static const uint32_t sizes[] = {1, 2, 3, 255, 1000, 5001};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int kind = 0; kind < N_KINDS; kind++) sort_one(sizes[s], kind, 1);
}

/* Scratch for many does for fewer; too little is refused; so is what has no number. */
static void scratch(void) {
  size_t most, some;
  CHECK_OK(cu_sort_room(1000000, 1, &most, test_err));
  for (uint32_t n = 1; n < 1000000; n = n * 3 + 1) {
    CHECK_OK(cu_sort_room(n, 1, &some, test_err));
    CHECK(some <= most);
    CHECK_OK(cu_sort_room(n, 0, &some, test_err));
    CHECK(some <= most);
  }
  CHECK_OK(cu_sort_room(0, 1, &some, test_err));
  CHECK_FAILS(cu_sort_room(1ull << 32, 0, &some, test_err), GBT_E_DEVICE, "4294967296 values");
  uint64_t *key[2];
  int at;
  CHECK_EQ_I64(cudaMalloc(&key[0], 80000), cudaSuccess);
  CHECK_EQ_I64(cudaMalloc(&key[1], 80000), cudaSuccess);
  CHECK_EQ_I64(cudaMemset(key[0], 0, 80000), cudaSuccess);
  CHECK_FAILS(cu_sort_keys(key[1], 1, key, NULL, 10000, 64, &at, 0, test_err), GBT_E_DEVICE, "call of CUDA failed");
  CHECK_OK(cu_sort_keys(NULL, 0, key, NULL, 0, 64, &at, 0, test_err));
  CHECK_EQ_I64(at, 0);
  CHECK_EQ_I64(cudaFree(key[0]), cudaSuccess);
  CHECK_EQ_I64(cudaFree(key[1]), cudaSuccess);
}

extern "C" void suite_cuda_sort(void);
extern "C" void suite_cuda_sort(void) {
  RUN(keys_alone);
  RUN(keys_with_values);
  RUN(scratch);
}
