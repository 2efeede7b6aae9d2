/* Ranks by MPI, which is opened at run time: no MPI is needed to build gbt, and one build works with Open MPI, MPICH,
 * Intel MPI and every library of the MPI 5 standard ABI.
 *
 *   mpi_library.c   finds and opens the library, and has its functions and handles
 *   mpi_start.c     ends a process that waits too long for MPI to start, or that cannot start it
 *   mpi_comm.c      implements gbt_comm (base/comm.h) with the collective operations of MPI
 *   mpi_kept.c      the same in memory of its own, which is kept when ranks lose each other
 *   mpi_look.c      tells which library there is
 *
 * MPI exists once in a process: it is started once and ended once. So the open library is kept here, and not in the
 * engine, which has no state. All functions must be called on one thread, and results are borrowed. */
#ifndef GBT_MPI_MPI_H
#define GBT_MPI_MPI_H

#include "../gbt/base/comm.h"

typedef struct gbt_mpi gbt_mpi;

typedef struct gbt_mpi_spec {
  const char *library;  /* path or name of the library; NULL: gbt chooses, see mpi_library.c */
  const int32_t *group; /* a communicator as Fortran numbers it (Rmpi::mpi.comm.c2f, pbdMPI::comm.c2f); NULL: all
                           processes that were started together */
  double timeout;       /* seconds that a rank waits for the others in one operation, 0 to 1e9; 0: without end */
  double start;         /* seconds for which it waits until all have started MPI, and then ends; 0: without end */
  int32_t most;         /* numbers or bytes in one operation of MPI, the same on all ranks; 0: 2^27. For tests */
} gbt_mpi_spec;

/* Starts MPI unless the process has done so, and makes a communicator of gbt's own over the processes of the group.
 * Collective: all of them call it. *out is valid as long as the process.
 *
 * The library that the first call opens is used by all later ones. Calls without `group` share one communicator, with
 * the timeout of the last call; each call with `group` makes one, which is never freed.
 *
 * GBT_E_UNSUPPORTED: no MPI library can be opened, or it lacks a function. GBT_E_ARG: the library belongs to another
 * MPI than the launcher, so each process would train by itself; or the process uses another one already. GBT_E_DEVICE:
 * MPI does not start, has ended already, or makes no communicator; or this process was forked from one that has started
 * MPI. `group` must be the number of a communicator: MPI may end the process for another one. */
gbt_status gbt_mpi_open(const gbt_mpi_spec *spec, gbt_mpi **out, gbt_error *err) GBT_MUST_CHECK;

/* The ranks; borrowed, and valid as long as the process. */
const gbt_comm *gbt_mpi_comm(const gbt_mpi *mpi);

/* The version text of the library, up to the first comma or line end ("Open MPI v4.1.4"), and the family of its handles
 * ("Open MPI", "MPICH", "MPI ABI"). */
const char *gbt_mpi_version(const gbt_mpi *mpi);
const char *gbt_mpi_family(const gbt_mpi *mpi);

/* Which library gbt_mpi_open() would open, or has opened. */
typedef struct gbt_mpi_found {
  char version[64]; /* as of gbt_mpi_version() */
  char family[16];
  char file[512]; /* "" when it is not known */
  int started;    /* gbt has started MPI in this process */
} gbt_mpi_found;

/* Starts nothing and leaves nothing behind: a library that is not loaded yet is opened by a forked process, which ends
 * at once. GBT_E_UNSUPPORTED: there is none; the message says why. */
gbt_status gbt_mpi_look(gbt_mpi_found *out, gbt_error *err) GBT_MUST_CHECK;

#endif
