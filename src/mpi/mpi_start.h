/* Processes that MPI does not connect: while MPI starts, each process waits for all others within MPI itself. */
#ifndef GBT_MPI_START_H
#define GBT_MPI_START_H

/* Between these two the process ends, with a message and by a signal, when the seconds are over; so the launcher ends
 * the job. 0: without end. An alarm of the caller waits until MPI has started. Not on Windows. */
void gbt_mpi_watch(double seconds);
void gbt_mpi_watch_end(void);

/* This process cannot take part in MPI, for which the others wait. If it ends with a status that is not 0 it does so by
 * a signal, since the launcher of MPICH ends the job for a signal only. As far as the C library tells the status. */
void gbt_mpi_fail_at_exit(void);

#endif
