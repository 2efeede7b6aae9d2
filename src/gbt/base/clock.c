/* The clock of the machine. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "clock.h"

#include <time.h>

#include "rng.h"

int64_t gbt_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t gbt_clock_wall_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec;
}

uint64_t gbt_salt(const void *block) {
  return gbt_mix64((uint64_t)(uintptr_t)block ^ gbt_mix64((uint64_t)gbt_clock_ns()));
}
