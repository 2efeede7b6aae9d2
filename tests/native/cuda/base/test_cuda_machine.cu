/* What kernels may rely on: collectives, barriers, atomics, shared memory, streams. The same checks on the emulated
 * device and on a real one, so that the emulator's semantics are the device's. */
#include "../../src/cuda/base/port.cuh"

extern "C" {
#include "test.h"
}
#include "schedules.h"

#define FINE(call) CHECK_EQ_I64((call), cudaSuccess)

enum { MOST = 1024 };

/* Results of a kernel: zeroed before it, fetched after it. */
struct results {
  unsigned long long *device, host[MOST];
};

static void begin(results *r) {
  FINE(cudaMalloc(&r->device, sizeof r->host));
  FINE(cudaMemset(r->device, 0, sizeof r->host));
}
static void fetch(results *r) {
  FINE(cudaGetLastError());
  FINE(cudaMemcpy(r->host, r->device, sizeof r->host, cudaMemcpyDeviceToHost));
}
static void end(results *r) { FINE(cudaFree(r->device)); }

/* ---- warps ---- */

__global__ static void k_votes(unsigned long long *out) {
  unsigned lane = threadIdx.x & 31u, odd = lane & 1u, mask = odd ? 0xaaaaaaaau : 0x55555555u;
  unsigned all = __ballot_sync(0xffffffffu, lane % 3 == 0), half;
  if (odd)
    half = __ballot_sync(mask, lane > 7);
  else
    half = __ballot_sync(mask, lane > 20);
  int any = __any_sync(mask, lane == 5), every = __all_sync(mask, lane != 5);
  __syncwarp();
  out[threadIdx.x] = (unsigned long long)all << 32 | half;
  out[32 + threadIdx.x] = (unsigned)any * 2u + (unsigned)every;
}

static void votes(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_votes, 1, 32, 0, 0, r.device);
    fetch(&r);
    for (unsigned i = 0; i < 32; i++) {
      unsigned half = i & 1u ? 0xaaaaaaaau & ~0xffu : 0x55555555u & ~0x1fffffu;
      CHECK_EQ_U64(r.host[i], (unsigned long long)0x49249249u << 32 | half);
      CHECK_EQ_U64(r.host[32 + i], i & 1u ? 2 : 1);
    }
  }
  end(&r);
}

__global__ static void k_shuffles(unsigned long long *out) {
  int i = (int)threadIdx.x;
  unsigned long long big = 1ull << 40 | (unsigned)i;
  out[i] = __shfl_sync(0xffffffffu, big, 35);
  out[32 + i] = (unsigned)__shfl_up_sync(0xffffffffu, i, 3u);
  out[64 + i] = (unsigned)__shfl_down_sync(0xffffffffu, i, 3u, 8);
  out[96 + i] = (unsigned)__shfl_xor_sync(0xffffffffu, i, 5);
  out[128 + i] = (unsigned long long)__shfl_sync(0xffffffffu, 0.5 * i, i / 2);
  if (i >= 8 && i < 20) out[160 + i] = __shfl_sync(0xfff00u, (unsigned)i, 8 + (i & 3));
}

static void shuffles(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_shuffles, 1, 32, 0, 0, r.device);
    fetch(&r);
    for (unsigned i = 0; i < 32; i++) {
      CHECK_EQ_U64(r.host[i], 1ull << 40 | 3);
      CHECK_EQ_U64(r.host[32 + i], i < 3 ? i : i - 3);
      CHECK_EQ_U64(r.host[64 + i], i % 8 + 3 < 8 ? i + 3 : i);
      CHECK_EQ_U64(r.host[96 + i], i ^ 5u);
      CHECK_EQ_U64(r.host[128 + i], i / 4);
      if (i >= 8 && i < 20) CHECK_EQ_U64(r.host[160 + i], 8 + (i & 3));
    }
  }
  end(&r);
}

__global__ static void k_reductions(unsigned long long *out) {
  unsigned i = threadIdx.x, mask = i < 5 ? 0x1fu : 0xffffffe0u;
  int v = (int)i - 7;
  out[i] = __reduce_add_sync(mask, i);
  out[32 + i] = (unsigned)(__reduce_min_sync(mask, v) + 100);
  out[64 + i] = (unsigned)(__reduce_max_sync(mask, v) + 100);
  out[96 + i] = __reduce_max_sync(mask, (unsigned)v);
  out[128 + i] = __reduce_or_sync(mask, 1u << i);
  out[160 + i] = __reduce_and_sync(mask, ~(1u << i));
  out[192 + i] = __reduce_xor_sync(mask, 3u << i);
  out[224 + i] = __match_any_sync(mask, i / 3);
  int all;
  unsigned who = __match_all_sync(mask, i < 5 ? 1ull << 50 : (unsigned long long)i, &all);
  out[256 + i] = who + (unsigned long long)all;
  out[288 + i] = (unsigned)(__reduce_add_sync(mask, v) + 1000);
}

static void reductions(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_reductions, 1, 32, 0, 0, r.device);
    fetch(&r);
    for (unsigned i = 0; i < 32; i++) {
      int low = i < 5;
      unsigned mask = low ? 0x1fu : 0xffffffe0u, same = 7u << (i / 3 * 3);
      CHECK_EQ_U64(r.host[i], low ? 10 : 486);
      CHECK_EQ_U64(r.host[32 + i], low ? 93 : 98);
      CHECK_EQ_U64(r.host[64 + i], low ? 97 : 124);
      CHECK_EQ_U64(r.host[96 + i], low ? 0xfffffffdu : 0xffffffffu);
      CHECK_EQ_U64(r.host[128 + i], mask);
      CHECK_EQ_U64(r.host[160 + i], ~mask);
      CHECK_EQ_U64(r.host[192 + i], low ? 0x21u : 0x20u);
      CHECK_EQ_U64(r.host[224 + i], same & mask);
      CHECK_EQ_U64(r.host[256 + i], low ? 0x1f + 1 : 0);
      CHECK_EQ_U64(r.host[288 + i], low ? 975 : 1297);
    }
  }
  end(&r);
}

/* A warp that is not full, and lanes that have left: collectives take those that are there. */
__global__ static void k_partial(unsigned long long *out) {
  unsigned i = threadIdx.x;
  if (i >= 36) return;
  out[i] = __ballot_sync(i < 32 ? 0xffffffffu : 0xfu, 1);
  __syncthreads();
  out[64 + i] = i < 32 ? __reduce_add_sync(0xffffffffu, 1u) : __reduce_add_sync(0xfu, 1u);
}

static void partial_warps(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_partial, 1, 45, 0, 0, r.device);
    fetch(&r);
    for (unsigned i = 0; i < 64; i++) {
      CHECK_EQ_U64(r.host[i], i < 32 ? 0xffffffffu : i < 36 ? 0xf : 0);
      CHECK_EQ_U64(r.host[64 + i], i < 32 ? 32 : i < 36 ? 4 : 0);
    }
  }
  end(&r);
}

/* ---- blocks ---- */

/* An inclusive scan over the block, through warps and shared memory. */
__global__ static void k_scan(unsigned long long *out, unsigned factor) {
  CU_SHARED(unsigned, total, 32);
  unsigned i = threadIdx.x, lane = i & 31u, x = i * factor % 17;
  for (unsigned by = 1; by < 32; by *= 2) {
    unsigned y = __shfl_up_sync(0xffffffffu, x, by);
    if (lane >= by) x += y;
  }
  if (lane == 31) total[i >> 5] = x;
  __syncthreads();
  for (unsigned w = 0; w < i >> 5; w++) x += total[w];
  out[i] = x;
  __syncthreads();
  if (i == 0) out[0] += (unsigned)__shfl_sync(1u, (int)blockDim.x, 0) * 1000000ull;
}

static void block_scan(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_scan, 1, MOST, 0, 0, r.device, 5u);
    fetch(&r);
    unsigned sum = 0;
    for (unsigned i = 0; i < MOST; i++) {
      sum += i * 5 % 17;
      CHECK_EQ_U64(r.host[i], sum + (i == 0 ? 1024000000u : 0));
    }
  }
  end(&r);
}

__global__ static void k_barriers(unsigned long long *out) {
  unsigned i = threadIdx.x;
  if (i % 4 == 3) return;
  int n = __syncthreads_count(i < 10), some = __syncthreads_or(i == 50), none = __syncthreads_or(i == 51);
  int all = __syncthreads_and(i % 4 != 3), not_all = __syncthreads_and(i != 50);
  out[i] = (unsigned)n * 16u + (unsigned)some * 8u + (unsigned)none * 4u + (unsigned)all * 2u + (unsigned)not_all;
}

/* Threads that have ended are not waited for, and have no vote. */
static void barriers(void) {
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    CU_LAUNCH(k_barriers, 1, 100, 0, 0, r.device);
    fetch(&r);
    for (unsigned i = 0; i < 100; i++) CHECK_EQ_U64(r.host[i], i % 4 == 3 ? 0 : 8 * 16 + 8 + 2);
  }
  end(&r);
}

__global__ static void k_grid(unsigned long long *out) {
  unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[b * 24 + t] = 1000ull * b + t + 1000000ull * warpSize;
}

static void grids(void) {
  results r;
  begin(&r);
  CU_LAUNCH(k_grid, dim3(3, 2, 4), dim3(2, 3, 4), 0, 0, r.device);
  fetch(&r);
  for (unsigned i = 0; i < 24 * 24; i++) CHECK_EQ_U64(r.host[i], 1000ull * (i / 24) + i % 24 + 32000000ull);
  end(&r);
}

/* As much shared memory as there is, and a little more. */
__global__ static void k_dynamic(unsigned long long *out, unsigned n) {
  CU_DYN_SHARED(unsigned, room);
  CU_SHARED(unsigned long long, sum, 1);
  if (threadIdx.x == 0) sum[0] = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) room[i] = i;
  __syncthreads();
  unsigned long long mine = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) mine += room[n - 1 - i];
  atomicAdd(&sum[0], mine);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum[0];
}

static void dynamic_shared(void) {
  int most = 0;
  FINE(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  unsigned n = (unsigned)most / 4 - 4;
  results r;
  begin(&r);
  CU_LAUNCH(k_dynamic, 1, 256, n * 4, 0, r.device, n);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorInvalidValue);
  CHECK_EQ_I64(cudaFuncSetAttribute(k_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
               cudaErrorInvalidValue);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorInvalidValue);
  FINE(cudaFuncSetAttribute(k_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)n * 4));
  CU_LAUNCH(k_dynamic, 1, 256, n * 4, 0, r.device, n);
  fetch(&r);
  CHECK_EQ_U64(r.host[0], (unsigned long long)n * (n - 1) / 2);
  end(&r);
}

/* ---- atomics ---- */

__global__ static void k_atomics(unsigned long long *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long wide = (unsigned long long)i << 20;
  unsigned *word = reinterpret_cast<unsigned *>(out + 64);
  int *number = reinterpret_cast<int *>(out + 96);
  atomicAdd(&out[0], wide);
  atomicMax(&out[1], wide);
  atomicMin(&out[2], ~wide);
  atomicOr(&out[3], 1ull << (i & 63u));
  atomicAdd(&word[0], i);
  atomicInc(&word[1], 9u);
  atomicOr(&word[2], 1u << (i & 31u));
  atomicXor(&word[3], i);
  atomicMax(&word[4], i);
  atomicExch(&word[5], 7u);
  atomicAdd(&number[0], -(int)i);
  atomicMin(&number[1], -(int)i);
  atomicSub(&number[2], 2);
  atomicAdd(reinterpret_cast<double *>(&out[4]), 0.5);
  atomicAdd(reinterpret_cast<float *>(&word[6]), 1.0f);
  unsigned seen = atomicCAS(&word[8], 0u, 0u), old; /* adds 3 by compare and swap */
  do old = seen;
  while ((seen = atomicCAS(&word[8], old, old + 3)) != old);
  out[128 + i] = 1;
}

static void atomics(void) {
  const unsigned n = 300;
  results r;
  begin(&r);
  for (int k = 0; test_schedule(k); k++) {
    FINE(cudaMemset(r.device, 0, sizeof r.host));
    FINE(cudaMemset(r.device + 2, 255, 8));
    CU_LAUNCH(k_atomics, 3, n / 3, 0, 0, r.device);
    fetch(&r);
    unsigned word[10], mixed = 0;
    int number[4];
    double real;
    float single;
    memcpy(word, r.host + 64, sizeof word);
    memcpy(number, r.host + 96, sizeof number);
    memcpy(&real, r.host + 4, sizeof real);
    memcpy(&single, word + 6, sizeof single);
    for (unsigned i = 0; i < n; i++) mixed ^= i;
    CHECK_EQ_U64(r.host[0], (unsigned long long)(n * (n - 1) / 2) << 20);
    CHECK_EQ_U64(r.host[1], (unsigned long long)(n - 1) << 20);
    CHECK_EQ_U64(r.host[2], ~((unsigned long long)(n - 1) << 20));
    CHECK_EQ_U64(r.host[3], ~0ull);
    CHECK_EQ_U64(word[0], n * (n - 1) / 2);
    CHECK_EQ_U64(word[1], n % 10);
    CHECK_EQ_U64(word[2], ~0u);
    CHECK_EQ_U64(word[3], mixed);
    CHECK_EQ_U64(word[4], n - 1);
    CHECK_EQ_U64(word[5], 7);
    CHECK_EQ_I64(number[0], -(int)(n * (n - 1) / 2));
    CHECK_EQ_I64(number[1], -(int)(n - 1));
    CHECK_EQ_I64(number[2], -2 * (int)n);
    CHECK_EQ_BITS(real, 0.5 * n);
    CHECK_EQ_BITS(single, (double)n);
    CHECK_EQ_U64(word[8], 3 * n);
  }
  end(&r);
}

/* ---- functions of one thread ---- */

__global__ static void k_intrinsics(unsigned long long *out, const unsigned long long *given,
                                    unsigned x, unsigned y, unsigned zero) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  out[0] = __brev(x);
  out[1] = __brevll(both);
  out[2] = __funnelshift_r(x, y, 5);
  out[3] = __funnelshift_r(x, y, 32 + zero);
  out[4] = __funnelshift_rc(x, y, 40 + zero);
  out[5] = __funnelshift_l(x, y, 9);
  out[6] = __byte_perm(x, y, 0x7520u);
  out[7] = __byte_perm(x, y, 0x1cb3u);
  out[8] = (unsigned)__clz((int)zero) * 100u + (unsigned)__clzll((long long)zero);
  out[9] = (unsigned)__ffs((int)zero) * 100u + (unsigned)__ffsll(1ll << 40);
  out[10] = (unsigned)(__popc(x) * 100 + __popcll(both));
  out[11] = __umulhi(x, y);
  out[12] = __umul64hi(both, both);
  out[13] = (unsigned long long)__mul64hi(-(long long)x, (long long)both);
  out[14] = __float_as_uint(1.5f) + __ldg(given); /* what no one writes meanwhile */
  out[15] = (unsigned long long)(min(-3, 2) + 10) * 100ull + max(7u, 9u);
  out[16] = (unsigned long long)__double_as_longlong(__longlong_as_double(0x3ff8000000000001ll));
}

static void intrinsics(void) {
  const unsigned x = 0x81c3f00du, y = 0xfe01a2b3u;
  results r;
  begin(&r);
  unsigned long long *given;
  FINE(cudaMalloc(&given, sizeof *given));
  FINE(cudaMemset(given, 1, sizeof *given));
  CU_LAUNCH(k_intrinsics, 1, 1, 0, 0, r.device, given, x, y, 0u);
  fetch(&r);
  const unsigned long long want[17] = {0xb00fc381ull,
                                       0xb00fc381cd45807full,
                                       0x9c0e1f80ull,
                                       x,
                                       y,
                                       0,
                                       0,
                                       0,
                                       3264ull,
                                       41ull,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0x3fc00000ull + 0x0101010101010101ull,
                                       709ull,
                                       0x3ff8000000000001ull};
  for (int i = 0; i < 17; i++)
    if (want[i] != 0) CHECK_EQ_U64(r.host[i], want[i]);
  CHECK_EQ_U64(r.host[5], (unsigned)(((unsigned long long)y << 32 | x) << 9 >> 32));
  CHECK_EQ_U64(r.host[6], 0xfea2c30dull); /* bytes 7 5 2 0 of fe01a2b3 81c3f00d */
  CHECK_EQ_U64(r.host[7], 0xf0b38181ull); /* bytes 1 4 3 3: of four bits the upper one is not looked at */
  CHECK_EQ_U64(r.host[10], 1300ull + 13 + 16);
  CHECK_EQ_U64(r.host[11], (unsigned long long)x * y >> 32);
  unsigned long long both = (unsigned long long)y << 32 | x, lo = both & 0xffffffffull, hi = both >> 32;
  unsigned long long middle = hi * lo + (lo * lo >> 32);
  CHECK_EQ_U64(r.host[12], hi * hi + (middle >> 32) + (((middle & 0xffffffffull) + hi * lo) >> 32));
  /* (2^64 - x) * both, as signed: the upper half of -(x * -(2^64 - both)) */
  unsigned long long low = 0 - both, product_hi = (low >> 32) * x + ((low & 0xffffffffull) * x >> 32);
  CHECK_EQ_U64(r.host[13], product_hi >> 32);
  FINE(cudaFree(given));
  end(&r);
}

/* ---- launches, streams, copies ---- */

__global__ static void k_add(unsigned long long *out, unsigned n, unsigned long long by) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += by * (i + 1);
}

/* CUDA's headers promise InvalidConfiguration; an H100 gave InvalidValue, with CUDA 13.0 and driver 580. */
static void check_refusal(cudaError_t code) {
  if (!CHECK(code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue))
    test_note("%s", cudaGetErrorName(code));
}

static void refused_launches(void) {
  results r;
  begin(&r);
  CU_LAUNCH(k_add, 0, 32, 0, 0, r.device, 1u, 1ull);
  check_refusal(cudaPeekAtLastError());
  check_refusal(cudaGetLastError());
  CHECK_EQ_I64(cudaGetLastError(), cudaSuccess);
  CU_LAUNCH(k_add, 1, 1025, 0, 0, r.device, 1u, 1ull);
  check_refusal(cudaGetLastError());
  fetch(&r);
  CHECK_EQ_U64(r.host[0], 0);
  CHECK_EQ_TEXT(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  CHECK_EQ_TEXT(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  end(&r);
}

/* Page-locked and plain memory, one stream, then two that wait for each other by events. */
static void streams(void) {
  unsigned long long *locked, plain[MOST];
  cudaStream_t one, two;
  cudaEvent_t ready, done;
  float milliseconds = -1.0f;
  results r;
  begin(&r);
  FINE(cudaMallocHost(&locked, sizeof plain));
  FINE(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  FINE(cudaStreamCreate(&two));
  FINE(cudaEventCreate(&ready));
  FINE(cudaEventCreate(&done));
  FINE(cudaDeviceSynchronize());
  for (unsigned i = 0; i < MOST; i++) plain[i] = i;
  FINE(cudaMemcpyAsync(r.device, plain, sizeof plain, cudaMemcpyHostToDevice, one));
  memset(plain, 0, sizeof plain);
  CU_LAUNCH(k_add, 8, 128, 0, one, r.device, (unsigned)MOST, 10ull);
  FINE(cudaEventRecord(ready, one));
  FINE(cudaStreamWaitEvent(two, ready, 0));
  CU_LAUNCH(k_add, 8, 128, 0, two, r.device, 100u, 100ull);
  FINE(cudaMemcpyAsync(locked, r.device, sizeof plain, cudaMemcpyDeviceToHost, two));
  FINE(cudaEventRecord(done, two));
  FINE(cudaEventSynchronize(done));
  FINE(cudaEventElapsedTime(&milliseconds, ready, done));
  CHECK(milliseconds >= 0.0f);
  for (unsigned i = 0; i < MOST; i++) CHECK_EQ_U64(locked[i], i + 10ull * (i + 1) + (i < 100 ? 100ull * (i + 1) : 0));
  FINE(cudaMemcpyAsync(plain, r.device, sizeof plain, cudaMemcpyDeviceToHost, two));
  FINE(cudaStreamSynchronize(two));
  CHECK_EQ_BYTES(plain, locked, sizeof plain);
  CHECK_EQ_I64(cudaStreamQuery(one), cudaSuccess);
  FINE(cudaEventDestroy(ready));
  FINE(cudaEventDestroy(done));
  FINE(cudaStreamDestroy(one));
  FINE(cudaStreamDestroy(two));
  FINE(cudaFreeHost(locked));
  end(&r);
}

static void copies(void) {
  unsigned char from[64], to[64], want[64];
  unsigned char *device;
  FINE(cudaMalloc(&device, 256));
  for (int i = 0; i < 64; i++) from[i] = (unsigned char)(i + 1);
  FINE(cudaMemset(device, 7, 256));
  FINE(cudaMemcpy(device + 8, from, 40, cudaMemcpyHostToDevice));
  FINE(cudaMemcpy(device + 100, device + 8, 40, cudaMemcpyDeviceToDevice));
  FINE(cudaMemcpy(to, device + 98, 64, cudaMemcpyDefault));
  memset(want, 7, sizeof want);
  memcpy(want + 2, from, 40);
  CHECK_EQ_BYTES(to, want, sizeof to);
  /* 5 of every 8 bytes, 6 rows */
  FINE(cudaMemcpy2D(device, 16, from, 8, 5, 6, cudaMemcpyHostToDevice));
  FINE(cudaMemcpy2D(to, 5, device, 16, 5, 6, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 30; i++) CHECK_EQ_I64(to[i], from[i / 5 * 8 + i % 5]);
  FINE(cudaMemcpy(to, NULL, 0, cudaMemcpyDeviceToHost));
  int most_pitch = 0;
  FINE(cudaDeviceGetAttribute(&most_pitch, cudaDevAttrMaxPitch, 0));
  CHECK(most_pitch > 64);
#if defined(GBT_TEST_SIMT) /* rows farther apart than that are refused; a device may do with fewer than two of them */
  CHECK(cudaMemcpy2D(to, 5, device, (size_t)most_pitch + 1, 5, 1, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidPitchValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);
#endif
  FINE(cudaFree(device));
  FINE(cudaFree(NULL));
}

static void graphs(void) {
  unsigned long long *locked;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCaptureStatus status;
  results r;
  begin(&r);
  FINE(cudaMallocHost(&locked, 8));
  FINE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FINE(cudaDeviceSynchronize());
  FINE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  FINE(cudaStreamIsCapturing(stream, &status));
  CHECK_EQ_I64(status, cudaStreamCaptureStatusActive);
  CU_LAUNCH(k_add, 1, 32, 0, stream, r.device, 10u, 1ull);
  FINE(cudaMemsetAsync(r.device + 5, 0, 8, stream));
  CU_LAUNCH(k_add, 1, 32, 0, stream, r.device, 10u, 2ull);
  FINE(cudaMemcpyAsync(locked, r.device, 8, cudaMemcpyDeviceToHost, stream));
  FINE(cudaStreamEndCapture(stream, &graph));
  FINE(cudaGraphInstantiate(&exec, graph, 0));
  FINE(cudaGraphDestroy(graph));
  FINE(cudaMemcpy(r.host, r.device, 8, cudaMemcpyDeviceToHost));
  CHECK_EQ_U64(r.host[0], 0);
  for (unsigned k = 1; k <= 3; k++) {
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaStreamSynchronize(stream));
    CHECK_EQ_U64(locked[0], 3 * k);
  }
  fetch(&r);
  for (unsigned i = 0; i < 12; i++) CHECK_EQ_U64(r.host[i], i >= 10 ? 0 : i == 5 ? 12 : 9 * (i + 1));
  FINE(cudaGraphExecDestroy(exec));
  FINE(cudaStreamDestroy(stream));
  FINE(cudaFreeHost(locked));
  end(&r);
}

/* What cannot be captured ends the capture. */
static void broken_capture(void) {
  cudaStream_t stream;
  cudaGraph_t graph;
  FINE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FINE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_EQ_I64(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  CHECK_EQ_I64(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  CHECK(graph == NULL);
  (void)cudaGetLastError();
  FINE(cudaStreamSynchronize(stream));
  FINE(cudaStreamDestroy(stream));
}

static void about_the_device(void) {
  int n = 0, units = 0, driver = 0;
  size_t room = 0, total = 0;
  cudaDeviceProp about;
  FINE(cudaGetDeviceCount(&n));
  CHECK(n >= 1);
  FINE(cudaDriverGetVersion(&driver));
  CHECK(driver >= 11000);
  FINE(cudaGetDeviceProperties(&about, 0));
  FINE(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
  CHECK_EQ_I64(about.multiProcessorCount, units);
  CHECK_EQ_I64(about.warpSize, 32);
  FINE(cudaMemGetInfo(&room, &total));
  CHECK(room > 0 && room <= total);
  CHECK_EQ_I64(cudaSetDevice(n), cudaErrorInvalidDevice);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorInvalidDevice);
}

extern "C" void suite_cuda_machine(void);
extern "C" void suite_cuda_machine(void) {
  RUN(about_the_device);
  RUN(votes);
  RUN(shuffles);
  RUN(reductions);
  RUN(partial_warps);
  RUN(block_scan);
  RUN(barriers);
  RUN(grids);
  RUN(dynamic_shared);
  RUN(atomics);
  RUN(intrinsics);
  RUN(refused_launches);
  RUN(streams);
  RUN(copies);
  RUN(graphs);
  RUN(broken_capture);
}
