/* See fault.h. Blocks carry their size in a 64-byte head and lie on 64-byte boundaries: the engine's arrays then end
 * within 7 bytes of the block, and the address sanitizer sees who writes beyond. */
#define _POSIX_C_SOURCE 200809L
#include "fault.h"

#include <errno.h>
#include <pthread.h>

#include "port.h"
#include "test.h"

enum { HEAD = 64 };

_Atomic int fault_threads = -1;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg) {
  if (atomic_load(&fault_threads) == 0) return EAGAIN;
  if (atomic_load(&fault_threads) > 0) atomic_fetch_sub(&fault_threads, 1);
  return __real_pthread_create(thread, attr, fn, arg);
}

static void *fault_alloc(void *user, size_t bytes) {
  fault *f = user;
  int64_t call = atomic_fetch_add(&f->n_calls, 1) + 1;
  if (f->fail_at > 0 && (call == f->fail_at || (f->and_later && call > f->fail_at))) {
    atomic_fetch_add(&f->n_failed, 1);
    return NULL;
  }
  unsigned char *block = port_aligned(HEAD, bytes + HEAD);
  if (block == NULL) return NULL;
  memcpy(block, &bytes, sizeof bytes);
  memset(block + HEAD, 0xa5, bytes);
  atomic_fetch_add(&f->n_live, 1);
  int64_t live = atomic_fetch_add(&f->bytes_live, (int64_t)bytes) + (int64_t)bytes;
  int64_t peak = atomic_load(&f->bytes_peak);
  while (live > peak && !atomic_compare_exchange_weak(&f->bytes_peak, &peak, live)) {
  }
  return block + HEAD;
}

static void fault_release(void *user, void *ptr) {
  fault *f = user;
  unsigned char *block = (unsigned char *)ptr - HEAD;
  size_t bytes;
  memcpy(&bytes, block, sizeof bytes);
  atomic_fetch_sub(&f->n_live, 1);
  atomic_fetch_sub(&f->bytes_live, (int64_t)bytes);
  port_aligned_free(block);
}

void fault_start(fault *f, int64_t fail_at, int and_later) {
  f->fail_at = fail_at;
  f->and_later = and_later;
  atomic_init(&f->n_calls, 0);
  atomic_init(&f->n_live, 0);
  atomic_init(&f->n_failed, 0);
  atomic_init(&f->bytes_live, 0);
  atomic_init(&f->bytes_peak, 0);
}

gbt_mem fault_mem(fault *f) {
  gbt_mem mem = {fault_alloc, fault_release, f};
  return mem;
}

int64_t fault_sweep(gbt_status (*op)(const gbt_mem *mem, void *arg, gbt_error *err), void *arg) {
  const int few = test_few(); /* each of them alone or with all later ones, by turns */
  int64_t n_calls = 0;
  for (int and_later = 0; and_later <= 1; and_later++) {
    for (int64_t n = 1 + few * and_later;; n += 1 + few) {
      fault f;
      fault_start(&f, n, and_later);
      gbt_mem mem = fault_mem(&f);
      gbt_error err = {0};
      gbt_status status = op(&mem, arg, &err);
      CHECK_EQ_I64(f.n_live, 0);
      CHECK_EQ_I64(f.bytes_live, 0);
      n_calls = f.n_calls;
      if (f.n_failed == 0) {
        CHECK_EQ_I64(status, GBT_OK);
        break;
      }
      int ok = CHECK_EQ_I64(status, GBT_E_MEM) & CHECK_EQ_I64(err.code, GBT_E_MEM) & CHECK(err.msg[0] != 0);
      if (!ok) {
        test_note("allocation %" PRId64 " failed%s", n, and_later ? ", and all later ones" : "");
        break;
      }
    }
  }
  return n_calls;
}
