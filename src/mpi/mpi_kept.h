/* Operations in memory that is kept. An operation that is given up, after `timeout` or when another process has died,
 * may still be written to by MPI, its threads or the network's hardware, while the engine frees its arrays. So where an
 * operation can be given up, it works in a copy that belongs to the connection:
 *
 *   engine's arrays -> room -> operation -> room -> engine's arrays
 *
 * The room is reused by the next operation; a move, which is finished later than it is started, has one of its own.
 * After a failure they are never used again, and never freed. */
#ifndef GBT_MPI_KEPT_H
#define GBT_MPI_KEPT_H

#include "../gbt/base/comm.h"

typedef struct gbt_mpi_room {
  char *bytes;
  size_t size;
} gbt_mpi_room;

typedef struct gbt_mpi_kept {
  gbt_comm comm;         /* its operations; the state is this struct */
  const gbt_comm *inner; /* borrowed: does the work */
  gbt_mpi_room room, of_moves;
  gbt_comm_move move, copy; /* that has been started: the engine's arrays, and those in the room */
  int moving, copied;       /* a move has been started; there was memory for its copy */
  int failed;
} gbt_mpi_kept;

/* The ranks of `inner`, which must not have failed yet. *out is valid as long as the process. */
void gbt_mpi_keep(const gbt_comm *inner, gbt_mpi_kept *out);

#endif
