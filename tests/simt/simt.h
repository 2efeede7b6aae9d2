// simt.h - one CUDA source, two machines: nvcc, or g++/clang++ with fibers (throw-away prototype)
#ifndef SIMT_H
#define SIMT_H
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define CU_LAUNCH(k, grid, block, smem, stream, ...) (k)<<<(grid), (block), (smem), (stream)>>>(__VA_ARGS__)
#define CU_SHARED(T, name, n) __shared__ T name[n]
#define CU_DYN_SHARED(T, name) extern __shared__ __align__(16) unsigned char gbt_dyn_smem_[]; T *name = reinterpret_cast<T *>(gbt_dyn_smem_)
#else
#include <cstdint>
#include <cstddef>
#include <cstring>
#include <cstdlib>
#include <cmath>
#include <tuple>
#include <functional>
#include <type_traits>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define SIMT_AT const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE()
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct uint2 { unsigned x, y; }; struct uint4 { unsigned x, y, z, w; }; struct int2 { int x, y; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
// ---------------------------------------------------------------- machine
namespace simt {
enum State : uint8_t { READY, AT_BLOCK, AT_WARP, DONE };
enum Op : uint8_t { SYNC, BALLOT, SHFL, RADD, RMAX, RMIN, ROR, MATCH };
struct Warp;
struct Fiber {
  void *sp; uint3 tid; unsigned lin, lane; Warp *warp; State state; Op op;
  unsigned mask; int src; uint64_t in, out; const char *file; int line;
  char *stack; void *fake; void *tsan; void *uctx;
};
struct Block { uint3 bid; dim3 grid, block; unsigned char *dyn; uint64_t serial; };
extern Fiber *cur; extern Block blk;
int sync_block(int pred, const char *file, int line);
uint64_t warp_op(Op op, unsigned mask, uint64_t v, int src, const char *file, int line);
void run_grid(dim3 g, dim3 b, size_t smem, void (*body)(void *), void *arg);
void enqueue(void *stream, std::function<void()> f);
void maybe_yield();                      // random preemption at atomics
[[noreturn]] void die(const char *what, const char *file, int line);
extern int err_last;
struct Slot { uint64_t serial; void *p; };
void *slot(Slot *s, size_t n);              // this block's copy of a static shared array
template <class... P, class... A> void launch(void (*k)(P...), dim3 g, dim3 b, size_t sm, void *st, A &&...a) {
  typedef std::tuple<std::decay_t<P>...> Args;
  struct Call { void (*k)(P...); Args t; };
  Call c{k, Args(static_cast<P>(a)...)};
  enqueue(st, [c, g, b, sm]() mutable {
    run_grid(g, b, sm, [](void *p) { Call &q = *static_cast<Call *>(p); std::apply(q.k, q.t); }, &c);
  });
}
template <class T> static inline uint64_t bits(T v) { static_assert(sizeof(T) <= 8, ""); uint64_t u = 0; memcpy(&u, &v, sizeof v); return u; }
template <class T> static inline T unbits(uint64_t u) { T v; memcpy(&v, &u, sizeof v); return v; }
}
#define threadIdx (simt::cur->tid)
#define blockIdx (simt::blk.bid)
#define blockDim (simt::blk.block)
#define gridDim (simt::blk.grid)
static const int warpSize = 32;
#define CU_LAUNCH(k, grid, block, smem, stream, ...) simt::launch(k, grid, block, smem, stream, __VA_ARGS__)
#define CU_SHARED(T, name, n) static simt::Slot name##_sl_; T (&name)[n] = *reinterpret_cast<T (*)[n]>(simt::slot(&name##_sl_, sizeof(T) * (n)))
#define CU_DYN_SHARED(T, name) T *name = reinterpret_cast<T *>(simt::blk.dyn)
// ---------------------------------------------------------------- barriers and warp collectives
static inline void __syncthreads(SIMT_AT) { simt::sync_block(0, file_, line_); }
static inline int __syncthreads_count(int p, SIMT_AT) { return simt::sync_block(p != 0, file_, line_); }
static inline int __syncthreads_or(int p, SIMT_AT) { return simt::sync_block(p != 0, file_, line_) != 0; }
static inline void __syncwarp(unsigned m = 0xffffffffu, SIMT_AT) { simt::warp_op(simt::SYNC, m, 0, 0, file_, line_); }
static inline unsigned __ballot_sync(unsigned m, int p, SIMT_AT) { return (unsigned) simt::warp_op(simt::BALLOT, m, p != 0, 0, file_, line_); }
static inline int __any_sync(unsigned m, int p, SIMT_AT) { return simt::warp_op(simt::BALLOT, m, p != 0, 0, file_, line_) != 0; }
static inline unsigned __reduce_add_sync(unsigned m, unsigned v, SIMT_AT) { return (unsigned) simt::warp_op(simt::RADD, m, v, 0, file_, line_); }
static inline unsigned __reduce_max_sync(unsigned m, unsigned v, SIMT_AT) { return (unsigned) simt::warp_op(simt::RMAX, m, v, 0, file_, line_); }
static inline unsigned __reduce_min_sync(unsigned m, unsigned v, SIMT_AT) { return (unsigned) simt::warp_op(simt::RMIN, m, v, 0, file_, line_); }
static inline unsigned __reduce_or_sync(unsigned m, unsigned v, SIMT_AT) { return (unsigned) simt::warp_op(simt::ROR, m, v, 0, file_, line_); }
template <class T> static inline unsigned __match_any_sync(unsigned m, T v, SIMT_AT) { return (unsigned) simt::warp_op(simt::MATCH, m, simt::bits(v), 0, file_, line_); }
template <class T> static inline T simt_shfl(unsigned m, T v, int src, const char *f, int l) { return simt::unbits<T>(simt::warp_op(simt::SHFL, m, simt::bits(v), src, f, l)); }
template <class T> static inline T __shfl_sync(unsigned m, T v, int s, int w = 32, SIMT_AT) { int b = simt::cur->lane & ~(w - 1); return simt_shfl(m, v, b | (s & (w - 1)), file_, line_); }
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32, SIMT_AT) { int L = simt::cur->lane, b = L & ~(w - 1), s = L - (int) d; return simt_shfl(m, v, s < b ? L : s, file_, line_); }
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32, SIMT_AT) { int L = simt::cur->lane, e = (L & ~(w - 1)) + w, s = L + (int) d; return simt_shfl(m, v, s >= e ? L : s, file_, line_); }
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int x, int w = 32, SIMT_AT) { int L = simt::cur->lane, e = (L & ~(w - 1)) + w, s = L ^ x; return simt_shfl(m, v, s >= e ? L : s, file_, line_); }
// ---------------------------------------------------------------- atomics (relaxed; so that TSAN sees them as atomics)
template <class T> struct simt_id { typedef T type; };
#define SIMT_RMW(name, T, builtin) static inline T name(T *p, T v) { simt::maybe_yield(); return builtin(p, v, __ATOMIC_RELAXED); }
SIMT_RMW(atomicAdd, int, __atomic_fetch_add) SIMT_RMW(atomicAdd, unsigned, __atomic_fetch_add)
SIMT_RMW(atomicAdd, unsigned long long, __atomic_fetch_add) SIMT_RMW(atomicSub, int, __atomic_fetch_sub)
SIMT_RMW(atomicOr, unsigned, __atomic_fetch_or) SIMT_RMW(atomicAnd, unsigned, __atomic_fetch_and)
SIMT_RMW(atomicExch, unsigned, __atomic_exchange_n) SIMT_RMW(atomicExch, int, __atomic_exchange_n)
template <class T, class B, class F> static inline T simt_cas(T *p, F f) {
  simt::maybe_yield(); B *q = reinterpret_cast<B *>(p), o = __atomic_load_n(q, __ATOMIC_RELAXED), n; T t;
  do { memcpy(&t, &o, sizeof t); t = f(t); memcpy(&n, &t, sizeof n); } while (!__atomic_compare_exchange_n(q, &o, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  memcpy(&t, &o, sizeof t); return t; }
static inline float atomicAdd(float *p, float v) { return simt_cas<float, uint32_t>(p, [=](float a) { return a + v; }); }
static inline double atomicAdd(double *p, double v) { return simt_cas<double, uint64_t>(p, [=](double a) { return a + v; }); }
#define SIMT_MM(T, B) static inline T atomicMax(T *p, T v) { return simt_cas<T, B>(p, [=](T a) { return a > v ? a : v; }); } \
  static inline T atomicMin(T *p, T v) { return simt_cas<T, B>(p, [=](T a) { return a < v ? a : v; }); }
SIMT_MM(int, uint32_t) SIMT_MM(unsigned, uint32_t) SIMT_MM(unsigned long long, uint64_t)
static inline unsigned atomicCAS(unsigned *p, unsigned c, unsigned v) { simt::maybe_yield(); __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); return c; }
static inline unsigned long long atomicCAS(unsigned long long *p, unsigned long long c, unsigned long long v) { simt::maybe_yield(); __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); return c; }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() {}
// ---------------------------------------------------------------- intrinsics
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned) x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long) x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
template <class T> static inline T __ldg(const T *p) { return *p; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline unsigned __float_as_uint(float f) { return simt::unbits<unsigned>(simt::bits(f)); }
static inline float __uint_as_float(unsigned u) { return simt::unbits<float>(u); }
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
// ---------------------------------------------------------------- runtime API
typedef int cudaError_t; typedef void *cudaStream_t; struct simt_event { double t; }; typedef simt_event *cudaEvent_t;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9, cudaErrorNoDevice = 100 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
cudaError_t simt_malloc(void **p, size_t n); cudaError_t cudaFree(void *p);
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t n) { return simt_malloc(reinterpret_cast<void **>(p), n); }
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t n) { *p = static_cast<T *>(malloc(n ? n : 1)); return *p ? 0 : 2; }
static inline cudaError_t cudaFreeHost(void *p) { free(p); return 0; }
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, cudaMemcpyKind k, cudaStream_t st = nullptr);
cudaError_t cudaMemcpy(void *d, const void *s, size_t n, cudaMemcpyKind k);
cudaError_t cudaMemsetAsync(void *d, int v, size_t n, cudaStream_t st = nullptr);
cudaError_t cudaMemset(void *d, int v, size_t n);
cudaError_t cudaStreamCreate(cudaStream_t *s); cudaError_t cudaStreamDestroy(cudaStream_t s); cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaDeviceSynchronize(); cudaError_t cudaEventCreate(cudaEvent_t *e); cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr); cudaError_t cudaEventSynchronize(cudaEvent_t e); cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags = 0);
static inline cudaError_t cudaGetLastError() { int e = simt::err_last; simt::err_last = 0; return e; }
static inline const char *cudaGetErrorString(cudaError_t e) { return e == 0 ? "no error" : e == 9 ? "invalid configuration argument" : e == 2 ? "out of memory" : "simt error"; }
static inline cudaError_t cudaGetDeviceCount(int *n) { const char *s = getenv("SIMT_DEVICES"); *n = s ? atoi(s) : 1; return *n ? 0 : cudaErrorNoDevice; }
static inline cudaError_t cudaSetDevice(int) { return 0; }
static inline cudaError_t cudaDeviceGetAttribute(int *v, int a, int) { *v = a == cudaDevAttrMultiProcessorCount ? 4 : 227 * 1024; return 0; }
extern size_t simt_smem_optin;
template <class K> static inline cudaError_t cudaFuncSetAttribute(K *, int, int v) { if (v > 227 * 1024) return 1; simt_smem_optin = v; return 0; }
#endif
#endif
