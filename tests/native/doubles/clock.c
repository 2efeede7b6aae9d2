#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic int64_t jump, ahead, day;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
  int status = __real_clock_gettime(clock, out);
  int64_t each = atomic_load(&jump);
  const int64_t stands = clock == CLOCK_REALTIME ? atomic_load(&day) : 0;
  if (status == 0 && stands != 0) *out = (struct timespec){.tv_sec = (time_t)stands, .tv_nsec = 0};
  if (status != 0 || each == 0) return status;
  int64_t ns = atomic_fetch_add(&ahead, each) + each + out->tv_nsec;
  out->tv_sec += (time_t)(ns / 1000000000);
  out->tv_nsec = (long)(ns % 1000000000);
  return 0;
}

void clock_jump(int64_t ns_each) {
  atomic_store(&ahead, 0);
  atomic_store(&jump, ns_each);
}

void clock_day(int64_t seconds) { atomic_store(&day, seconds); }

int asker_ask(void *user) {
  asker *a = user;
  return ++a->n_asked == a->stop_at;
}
