/* Atomics: relaxed, as CUDA's are, and real ones, so that the thread sanitizer sees them. With SIMT_PREEMPT another
 * thread may run before each. */
#pragma once

namespace simt {
template <class T> static inline void before_atomic(T *at) {
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T) != 0)
    die("an atomic at an address that is not aligned", "a kernel", 0);
  if (preempt) give_way();
}

/* Replaces *at by f(*at); what was there before. */
template <class T, class F> static inline T replace(T *at, F f) {
  before_atomic(at);
  T before, after;
  __atomic_load(at, &before, __ATOMIC_RELAXED);
  do after = f(before);
  while (!__atomic_compare_exchange(at, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return before;
}
} // namespace simt

#define SIMT_ATOMIC(name, T, builtin)            \
  static inline T name(T *at, T value) {         \
    simt::before_atomic(at);                     \
    return builtin(at, value, __ATOMIC_RELAXED); \
  }
#define SIMT_ATOMIC_BY(name, T, result)                             \
  static inline T name(T *at, T value) {                            \
    return simt::replace(at, [=](T old) -> T { return (result); }); \
  }
SIMT_ATOMIC(atomicAdd, int, __atomic_fetch_add)
SIMT_ATOMIC(atomicAdd, unsigned, __atomic_fetch_add)
SIMT_ATOMIC(atomicAdd, unsigned long long, __atomic_fetch_add)
SIMT_ATOMIC_BY(atomicAdd, float, old + value)
SIMT_ATOMIC_BY(atomicAdd, double, old + value)
SIMT_ATOMIC(atomicSub, int, __atomic_fetch_sub)
SIMT_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub)
SIMT_ATOMIC_BY(atomicInc, unsigned, old >= value ? 0u : old + 1u)
SIMT_ATOMIC_BY(atomicDec, unsigned, old == 0u || old > value ? value : old - 1u)

#define SIMT_ATOMICS(T)                                   \
  SIMT_ATOMIC_BY(atomicMin, T, value < old ? value : old) \
  SIMT_ATOMIC_BY(atomicMax, T, value > old ? value : old)
SIMT_ATOMICS(int)
SIMT_ATOMICS(unsigned)
SIMT_ATOMICS(long long)
SIMT_ATOMICS(unsigned long long)
#undef SIMT_ATOMICS

#define SIMT_ATOMICS(T)                         \
  SIMT_ATOMIC(atomicAnd, T, __atomic_fetch_and) \
  SIMT_ATOMIC(atomicOr, T, __atomic_fetch_or)   \
  SIMT_ATOMIC(atomicXor, T, __atomic_fetch_xor) \
  SIMT_ATOMIC(atomicExch, T, __atomic_exchange_n)
SIMT_ATOMICS(int)
SIMT_ATOMICS(unsigned)
SIMT_ATOMICS(unsigned long long)
#undef SIMT_ATOMICS

#define SIMT_ATOMIC_CAS(T)                                                                        \
  static inline T atomicCAS(T *at, T expected, T value) {                                         \
    simt::before_atomic(at);                                                                      \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return expected;                                                                              \
  }
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_BY

static inline void __threadfence() { simt::fence(); }
static inline void __threadfence_block() { simt::fence(); }
static inline void __threadfence_system() { simt::fence(); }

/* A thread that waits for another block looks again and again; others run when it sleeps. */
static inline void __nanosleep(unsigned, SIMT_AT) { simt::sleep(at_file, at_line); }
