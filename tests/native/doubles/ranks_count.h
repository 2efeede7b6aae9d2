/* A communicator that counts what another one is asked for.
 *
 *   ranks_counts c = {0};  ranks_counter k;  ctx.comm = ranks_counted(&k, comm, &c); */
#ifndef GBT_TEST_RANKS_COUNT_H
#define GBT_TEST_RANKS_COUNT_H

#include "../../src/gbt/base/comm.h"

typedef struct ranks_counts {
  int64_t rounds;     /* of latency: how often a rank waits for the others */
  int64_t operations; /* that move data, meetings not among them; several may take place in one round */
  int64_t bytes;      /* that a rank sends to move data, for many ranks: 2 for each byte of a reduction, 1 for each byte
                         of a reduce-scatter, a gathering or a broadcast */
} ranks_counts;

typedef struct ranks_counter {
  gbt_comm comm;
  const gbt_comm *of;
  ranks_counts *to;
  int met; /* since the move was started */
} ranks_counter;

/* All three are borrowed as long as the result is used. */
const gbt_comm *ranks_counted(ranks_counter *counter, const gbt_comm *of, ranks_counts *to);

#endif
