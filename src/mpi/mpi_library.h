/* The functions of an MPI library, and the values of its handles. */
#ifndef GBT_MPI_LIBRARY_H
#define GBT_MPI_LIBRARY_H

#include "../gbt/base/status.h"

/* How a library represents communicators, types, operations and requests. */
typedef enum gbt_mpi_family_kind {
  GBT_MPI_OPEN_MPI = 0, /* addresses of objects in the library */
  GBT_MPI_MPICH,        /* integers: MPICH, Intel MPI, MVAPICH, Cray MPICH */
  GBT_MPI_ABI           /* small numbers in pointers: the standard ABI of MPI 5 */
} gbt_mpi_family_kind;

/* A handle of any family: an address, or an integer in a pointer. */
typedef void *gbt_mpi_handle;

/* An open library. Functions have the signatures of the MPI standard, handles being pointers or ints. */
typedef struct gbt_mpi_library {
  gbt_mpi_family_kind family;
  char version[64]; /* see gbt_mpi_version() */
  char file[512];   /* of the library, or as much of its name as fits; "" when it is not known */
  int started_here; /* gbt has started MPI, so gbt ends it */
  gbt_mpi_handle world, int64, uint32, float64, byte, sum, min, max, errors_return; /* MPI_COMM_WORLD, ... */
  void *in_place, *no_status; /* MPI_IN_PLACE, MPI_STATUS_IGNORE */

  int (*initialized)(int *);
  int (*finalized)(int *);
  int (*init_thread)(int *, char ***, int, int *);
  int (*finalize)(void);
  int (*library_version)(char *, int *);
  struct { /* filled for Open MPI and the ABI */
    int (*rank)(void *, int *);
    int (*size)(void *, int *);
    int (*set_errhandler)(void *, void *);
    int (*dup)(void *, void **);
    int (*abort)(void *, int);
    int (*iallreduce)(const void *, void *, int, void *, void *, void *, void **);
    int (*iallgatherv)(const void *, int, void *, void *, const int *, const int *, void *, void *, void **);
    int (*ibcast)(void *, int, void *, int, void *, void **);
    int (*ireduce_scatter)(const void *, void *, const int *, void *, void *, void *, void **);
    int (*ireduce)(const void *, void *, int, void *, void *, int, void *, void **);
    int (*isend)(const void *, int, void *, int, int, void *, void **);
    int (*irecv)(void *, int, void *, int, int, void *, void **);
    int (*test)(void **, int *, void *);
    void *(*f2c)(int);     /* NULL: not offered, as by Intel MPI 2021.19 with the ABI */
    int (*revoke)(void *); /* NULL: not offered */
  } by_pointer;
  struct { /* filled for MPICH */
    int (*rank)(int, int *);
    int (*size)(int, int *);
    int (*set_errhandler)(int, int);
    int (*dup)(int, int *);
    int (*abort)(int, int);
    int (*iallreduce)(const void *, void *, int, int, int, int, int *);
    int (*iallgatherv)(const void *, int, int, void *, const int *, const int *, int, int, int *);
    int (*ibcast)(void *, int, int, int, int, int *);
    int (*ireduce_scatter)(const void *, void *, const int *, int, int, int, int *);
    int (*ireduce)(const void *, void *, int, int, int, int, int, int *);
    int (*isend)(const void *, int, int, int, int, int, int *);
    int (*irecv)(void *, int, int, int, int, int, int *);
    int (*test)(int *, int *, void *);
  } by_number;
} gbt_mpi_library;

/* Opens the library and starts MPI, once for the process; later calls return the same one. path: a path or name for
 * dlopen(); NULL: chosen as at the top of mpi_library.c. seconds: that MPI may take to start, see mpi_start.h. *out is
 * valid as long as the process. GBT_E_UNSUPPORTED: none can be opened, or it lacks a function. GBT_E_ARG: the process
 * has another one open. GBT_E_DEVICE: MPI does not start, or has ended. */
gbt_status gbt_mpi_library_open(const char *path, double seconds, gbt_mpi_library **out,
                                gbt_error *err) GBT_MUST_CHECK;

/* The same without starting MPI: fills *m. The library stays loaded. */
gbt_status gbt_mpi_library_read(const char *path, gbt_mpi_library *m, gbt_error *err) GBT_MUST_CHECK;

/* The library with which gbt_mpi_library_open() has started MPI in this process; NULL before. Borrowed. */
const gbt_mpi_library *gbt_mpi_library_opened(void);

const char *gbt_mpi_family_name(gbt_mpi_family_kind family);

/* How many processes the launcher (mpirun, srun) has started, by its environment variables; 1 when there are none. */
int gbt_mpi_launched(void);

/* The functions for both kinds of handles under one name. They return 0 or an error code of MPI. Those that start an
 * operation (gbt_mpi_i...) use their arrays until gbt_mpi_test() has set *done for *request, which is then free. x: n
 * numbers of the type, or n bytes. counts, starts: numbers or bytes of each rank's block, and where it begins in
 * `all`. */
int gbt_mpi_rank(const gbt_mpi_library *m, gbt_mpi_handle comm, int *out);
int gbt_mpi_size(const gbt_mpi_library *m, gbt_mpi_handle comm, int *out);
int gbt_mpi_dup(const gbt_mpi_library *m, gbt_mpi_handle comm, gbt_mpi_handle *out); /* whose errors are returned */
int gbt_mpi_abort(const gbt_mpi_library *m, gbt_mpi_handle comm, int code);

/* Ends all operations of this communicator with an error, on all processes. Does nothing where the library cannot. */
void gbt_mpi_revoke(const gbt_mpi_library *m, gbt_mpi_handle comm);

/* Whether processes go on when another one has died: under Open MPI 5, mpirun --with-ft ulfm. */
int gbt_mpi_survives(const gbt_mpi_library *m);
int gbt_mpi_iallreduce(const gbt_mpi_library *m, void *x, int n, gbt_mpi_handle type, gbt_mpi_handle op,
                       gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_iallgatherv(const gbt_mpi_library *m, const void *mine, int n, void *all, const int *counts,
                        const int *starts, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_ibcast(const gbt_mpi_library *m, void *x, int n, int root, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_ireduce_scatter(const gbt_mpi_library *m, const void *x, void *own, const int *counts, gbt_mpi_handle type,
                            gbt_mpi_handle op, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_ireduce(const gbt_mpi_library *m, const void *x, void *all, int n, gbt_mpi_handle type, gbt_mpi_handle op,
                    int root, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_isend(const gbt_mpi_library *m, const void *x, int n, int to, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_irecv(const gbt_mpi_library *m, void *x, int n, int from, gbt_mpi_handle comm, gbt_mpi_handle *request);
int gbt_mpi_test(const gbt_mpi_library *m, gbt_mpi_handle *request, int *done);

/* The communicator that Fortran numbers so. The number is not checked. 0: the library does not tell. */
int gbt_mpi_from_fortran(const gbt_mpi_library *m, int number, gbt_mpi_handle *out);

#endif
