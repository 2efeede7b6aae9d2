/* How this thread computes doubles: which way it rounds, and whether it takes tiny (denormal) numbers for 0. Hosts
 * change it without knowing: a library linked with -ffast-math by a gcc before 13 does so as it is loaded, for all that
 * runs in the process. The engine computes as IEEE 754 says: gbt_ctx_open() begins that, gbt_ctx_close() ends it, and
 * helper threads begin in between. Functions of the host that the engine calls (a source's, poll, those of the ranks)
 * run in this mode as well, which does no harm; what they change is undone after each (gbti_ctx_usual_float) and comes
 * back with gbt_ctx_close(). Functions without a context that compute begin and end it themselves; checks of arguments
 * do not, as the engine repeats them within a context. */
#ifndef GBT_BASE_FLOAT_MODE_H
#define GBT_BASE_FLOAT_MODE_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
enum { GBTI_FLOAT_USUAL = 0x1f80, GBTI_FLOAT_FLAGS = 0x3f }; /* flags: what happened since they were cleared */
static inline uint32_t gbti_float_mode(void) { return _mm_getcsr() & ~(uint32_t)GBTI_FLOAT_FLAGS; }
static inline void gbti_float_mode_set(uint32_t mode) { _mm_setcsr(mode | (_mm_getcsr() & GBTI_FLOAT_FLAGS)); }
#elif defined(__aarch64__) && defined(__GNUC__)
enum { GBTI_FLOAT_USUAL = 0 };
static inline uint32_t gbti_float_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode) : : "memory");
  return (uint32_t)mode;
}
static inline void gbti_float_mode_set(uint32_t mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode) : "memory");
}
#else /* not known how */
enum { GBTI_FLOAT_USUAL = 0 };
static inline uint32_t gbti_float_mode(void) { return GBTI_FLOAT_USUAL; }
static inline void gbti_float_mode_set(uint32_t mode) { (void)mode; }
#endif

/* Returns what was other than usual, for gbti_float_end(); 0: nothing. */
static inline uint32_t gbti_float_begin(void) {
  const uint32_t other = gbti_float_mode() ^ (uint32_t)GBTI_FLOAT_USUAL;
  if (other != 0) gbti_float_mode_set(GBTI_FLOAT_USUAL);
  return other;
}

static inline void gbti_float_end(uint32_t other) {
  if (other != 0) gbti_float_mode_set(other ^ (uint32_t)GBTI_FLOAT_USUAL);
}

#endif
