/* An allocator that counts its live blocks, fails where it is told to, and fills new blocks with junk. Thread-safe.
 *
 *   fault f; fault_start(&f, 3, 0);       the third allocation fails, the others do not
 *   fault_mem(&f)                         the gbt_mem to hand in
 *   f.n_live                              blocks not yet released: 0 when nothing leaked */
#ifndef GBT_TEST_FAULT_H
#define GBT_TEST_FAULT_H

#include <stdatomic.h>

#include "../../src/gbt/base/mem.h"

typedef struct fault {
  int64_t fail_at; /* 1-based; 0: never */
  int and_later;   /* all allocations from fail_at on fail */
  _Atomic int64_t n_calls, n_live, n_failed;
  _Atomic int64_t bytes_live, bytes_peak;
} fault;

void fault_start(fault *f, int64_t fail_at, int and_later);
gbt_mem fault_mem(fault *f);

/* Runs `op` with the first, the second, ... allocation failing (alone, then with all later ones) until it succeeds
 * without a failure having struck. op must release all it made before it returns, and return what the call under test
 * returned. Checked here: every failing run gives GBT_E_MEM with a message and no live block. Returns the number of
 * allocations of a run that succeeds. */
int64_t fault_sweep(gbt_status (*op)(const gbt_mem *mem, void *arg, gbt_error *err), void *arg);

/* Threads that pthread_create still grants; below 0 (the start): as many as the machine does. The Makefile wraps
 * pthread_create for this. */
extern _Atomic int fault_threads;

#endif
