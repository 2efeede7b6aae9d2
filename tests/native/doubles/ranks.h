/* Ranks as threads of this process: a communicator (src/gbt/base/comm.h) by shared memory.
 *
 *   ranks_run(3, fn, arg);      fn(arg, &comm) on three threads, comm.rank = 0, 1, 2; returns when all have ended
 *
 * Checks belong on the main thread: fn keeps what is to be checked. A rank that never comes is a deadlock: after
 * RANKS_SECONDS the run of the tests is given up with a message. */
#ifndef GBT_TEST_RANKS_H
#define GBT_TEST_RANKS_H

#include "../../src/gbt/base/comm.h"
#include "test.h"

enum { RANKS_MOST = 8, RANKS_SECONDS = 120 };

void ranks_run(int size, void (*fn)(void *arg, const gbt_comm *comm), void *arg);

/* What a rank has done so far: operations of the communicator, the meetings before them included, and the bytes that it
 * gave to them and got from them, its own among these. */
typedef struct ranks_traffic {
  int64_t operations, sent, taken;
} ranks_traffic;
ranks_traffic ranks_traffic_of(const gbt_comm *comm);

/* The rank dies: every rank that waits for it, now or later, gets GBT_E_DEVICE. */
void ranks_die(const gbt_comm *comm);

#endif
