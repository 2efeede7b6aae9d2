/* Functions of single threads. Those whose result C leaves open (clz of 0, shifts by 32) give what the device gives. */
#pragma once

/* ---- bits ---- */

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long y = 0;
  for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i);
  return y;
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
/* The upper or lower word of hi:lo, moved by 0 to 31 bits; _lc, _rc: by 0 to 32, more counts as 32. */
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (by & 31u) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (by & 31u));
}
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned by) {
  return by >= 32u ? lo : __funnelshift_l(lo, hi, by);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned by) {
  return by >= 32u ? hi : __funnelshift_r(lo, hi, by);
}
/* Byte i of the result is byte s & 7 of y:x, s the i-th nibble of `select`. To PTX's prmt s & 8 would mean a sign, but
 * CUDA clears it before. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned select) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; i++) {
    unsigned s = select >> (4 * i) & 7u;
    out |= ((unsigned)(both >> (8 * s)) & 255u) << (8 * i);
  }
  return out;
}

/* ---- integers ---- */

static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
namespace simt {
__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;
} // namespace simt
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((simt::wide)x * y >> 64);
}
static inline long long __mul64hi(long long x, long long y) { return (long long)((simt::wide_signed)x * y >> 64); }

#define SIMT_MIN_MAX(T)                                   \
  static inline T min(T a, T b) { return b < a ? b : a; } \
  static inline T max(T a, T b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX

/* ---- memory: reads and writes with a hint ---- */

template <class T> static inline T __ldg(const T *at) { return *at; }
template <class T> static inline T __ldcg(const T *at) { return *at; }
template <class T> static inline T __ldcs(const T *at) { return *at; }
template <class T> static inline void __stcs(T *at, T value) { *at = value; }
template <class T> static inline void __stcg(T *at, T value) { *at = value; }

/* ---- reals ---- */

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return std::sqrt(a); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return std::sqrt(a); }

static inline unsigned __float_as_uint(float x) { return simt::of_bits<unsigned>(simt::bits_of(x)); }
static inline int __float_as_int(float x) { return simt::of_bits<int>(simt::bits_of(x)); }
static inline float __uint_as_float(unsigned x) { return simt::of_bits<float>(simt::bits_of(x)); }
static inline float __int_as_float(int x) { return simt::of_bits<float>(simt::bits_of(x)); }
static inline long long __double_as_longlong(double x) { return simt::of_bits<long long>(simt::bits_of(x)); }
static inline double __longlong_as_double(long long x) { return simt::of_bits<double>(simt::bits_of(x)); }
