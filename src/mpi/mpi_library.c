/* Finding and opening the library. The first of these is opened:
 *
 *   1. the one that the caller names
 *   2. one that the process has loaded already (Rmpi and pbdMPI bring one): two in one process crash, so another one
 *      that the caller names is refused
 *   3. one of the launcher's family, as the variables say that mpirun or srun sets
 *   4. the first of the list
 *
 * Values of handles: those of MPICH are fixed since its version 3 (the MPICH ABI initiative), those of the standard ABI
 * are in chapter 20 of the MPI 5.0 standard. Those of Open MPI are addresses of objects that the library exports. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* RTLD_NOLOAD */
#endif
#include "mpi_library.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_start.h"
#if !defined(_WIN32) && !defined(GBT_NO_DLOPEN)
#include <dlfcn.h>
#define CAN_OPEN 1
#else
#define CAN_OPEN 0
#endif

static gbt_mpi_library the_library;
static int is_open;
#if CAN_OPEN
static void *opened; /* the library of dlopen(); NULL before */
#endif

/* ---- the launcher ---- */

typedef struct launcher {
  const char *size; /* variable with the number of processes */
  int open_mpi;     /* its processes expect Open MPI; 0: MPICH or one like it; -1: any */
} launcher;

static const launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", 1}, {"PMI_SIZE", 0},        {"MPI_LOCALNRANKS", 0},
                                     {"PALS_SIZE", 0},            {"FLUX_JOB_SIZE", -1},  {"JSM_NAMESPACE_SIZE", 1},
                                     {"SLURM_STEP_NUM_TASKS", -1}};
enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

static const launcher *launcher_here(int *size) {
  for (int i = 0; i < N_LAUNCHERS; i++) {
    const char *value = getenv(launchers[i].size);
    long n = value == NULL ? 0 : strtol(value, NULL, 10);
    if (n < 1 || n > INT32_MAX) continue;
    *size = (int)n;
    return &launchers[i];
  }
  *size = 1;
  return NULL;
}

/* Does the launcher end the job when a process ends with a status that is not 0 before it has started MPI? */
static int launcher_sees_exits(void) {
  int size;
  const launcher *by = launcher_here(&size);
  return by == NULL || by->open_mpi == 1;
}

int gbt_mpi_launched(void) {
  int size;
  (void)launcher_here(&size);
  return size;
}

#if CAN_OPEN

/* ---- opening ---- */

#ifdef __APPLE__
static const char *const of_open_mpi[] = {"libmpi.40.dylib", NULL};
static const char *const of_mpich[] = {"libmpi_abi.1.dylib", "libmpi.12.dylib", "libmpich.12.dylib", NULL};
#else
static const char *const of_open_mpi[] = {"libmpi.so.40", "libmpi.so.80", NULL};
static const char *const of_mpich[] = {"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", NULL};
#endif

static void *open_first(const char *const *names, int flags) {
  for (; *names != NULL; names++) {
    void *library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL | flags); /* global: modules of Open MPI need its symbols */
    if (library != NULL) return library;
  }
  return NULL;
}

/* The file of an open library; "" when it is not known. */
static const char *file_of(void *library) {
  Dl_info where;
  void *symbol = dlsym(library, "MPI_Initialized");
  return symbol != NULL && dladdr(symbol, &where) != 0 && where.dli_fname != NULL ? where.dli_fname : "";
}

/* The library that the process has loaded, by gbt or by another package; NULL for none. */
static void *loaded_library(void) {
  void *library = opened;
  if (library == NULL) library = open_first(of_open_mpi, RTLD_NOLOAD);
  return library != NULL ? library : open_first(of_mpich, RTLD_NOLOAD);
}

/* loaded: as above. */
static gbt_status open_named(const char *path, void *loaded, void **out, gbt_error *err) {
  *out = dlopen(path, RTLD_NOW | (loaded != NULL ? RTLD_NOLOAD : RTLD_GLOBAL));
  if (*out != NULL && (loaded == NULL || *out == loaded)) return GBT_OK;
  if (loaded != NULL)
    return gbt_fail_on(err, GBT_E_ARG, "library",
                       "this R process uses the MPI library \"%s\" already, and a second one, \"%s\", would crash it; "
                       "leave out `library`, or restart R",
                       file_of(loaded), path);
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "library",
                     "the MPI library \"%s\" cannot be opened (%s); where it needs libraries of its own folder, set "
                     "R_LD_LIBRARY_PATH to this folder before R starts",
                     path, dlerror());
}

static gbt_status find_library(const char *path, void **out, gbt_error *err) {
  int size;
  const launcher *by = launcher_here(&size);
  const int open_mpi_first = by == NULL || by->open_mpi != 0 || getenv("PMIX_RANK") != NULL;
  const char *const *first = open_mpi_first ? of_open_mpi : of_mpich;
  const char *const *second = open_mpi_first ? of_mpich : of_open_mpi;
  *out = loaded_library();
  if (path != NULL) return open_named(path, *out, out, err);
  if (*out == NULL) *out = open_first(first, 0);
  if (*out == NULL) *out = open_first(second, 0); /* of another family than the launcher's, it sees one process only */
  if (*out != NULL) return GBT_OK;
  return gbt_fail(err, GBT_E_UNSUPPORTED,
                  "no MPI library can be opened (%s); install Open MPI, MPICH or another one, load its module, or give "
                  "its path as `library`",
                  dlerror());
}

typedef struct name_of {
  void *to; /* a pointer to a function or an object */
  const char *name;
} name_of;

static gbt_status find_names(void *library, const name_of *names, size_t n, gbt_error *err) {
  for (size_t i = 0; i < n; i++) {
    void *symbol = dlsym(library, names[i].name);
    if (symbol == NULL)
      return gbt_fail(err, GBT_E_UNSUPPORTED, "the MPI library has no %s; give another one as `library`",
                      names[i].name);
    memcpy(names[i].to, &symbol, sizeof symbol);
  }
  return GBT_OK;
}

/* The values of handles that are numbers, by family. */
enum { WORLD, INT64, UINT32, FLOAT64, BYTE, SUM, MIN, MAX, ERRORS_RETURN, IN_PLACE, NO_STATUS, N_HANDLES };
static const int mpich_handles[N_HANDLES] = {
    0x44000000, 0x4c00083a, 0x4c00043d, 0x4c00080b, 0x4c00010d, 0x58000003, 0x58000002, 0x58000001, 0x54000001, -1, 1};
static const int abi_handles[N_HANDLES] = {0x101, 0x258, 0x251, 0x214, 0x247, 0x21, 0x22, 0x23, 0x142, 1, 0};

static gbt_status find_handles(gbt_mpi_library *m, void *library, gbt_error *err) {
  const name_of names[N_HANDLES] = {
      [WORLD] = {&m->world, "ompi_mpi_comm_world"}, [INT64] = {&m->int64, "ompi_mpi_int64_t"},
      [UINT32] = {&m->uint32, "ompi_mpi_uint32_t"}, [FLOAT64] = {&m->float64, "ompi_mpi_double"},
      [BYTE] = {&m->byte, "ompi_mpi_byte"},         [SUM] = {&m->sum, "ompi_mpi_op_sum"},
      [MIN] = {&m->min, "ompi_mpi_op_min"},         [MAX] = {&m->max, "ompi_mpi_op_max"},
      [ERRORS_RETURN] = {&m->errors_return, "ompi_mpi_errors_return"},
      [IN_PLACE] = {&m->in_place, NULL},            [NO_STATUS] = {&m->no_status, NULL}};
  if (m->family == GBT_MPI_OPEN_MPI) {
    m->in_place = (void *)1;
    m->no_status = NULL;
    return find_names(library, names, IN_PLACE, err); /* all before it */
  }
  const int *values = m->family == GBT_MPI_MPICH ? mpich_handles : abi_handles;
  for (int i = 0; i < N_HANDLES; i++) {
    const gbt_mpi_handle value = (gbt_mpi_handle)(intptr_t)values[i];
    memcpy(names[i].to, &value, sizeof value);
  }
  return GBT_OK;
}

static gbt_status find_functions(gbt_mpi_library *m, void *library, gbt_error *err) {
  const name_of common[] = {{&m->initialized, "MPI_Initialized"},
                            {&m->finalized, "MPI_Finalized"},
                            {&m->init_thread, "MPI_Init_thread"},
                            {&m->finalize, "MPI_Finalize"},
                            {&m->library_version, "MPI_Get_library_version"}};
  const int numbers = m->family == GBT_MPI_MPICH;
  const name_of others[] = {
      {numbers ? (void *)&m->by_number.rank : (void *)&m->by_pointer.rank, "MPI_Comm_rank"},
      {numbers ? (void *)&m->by_number.size : (void *)&m->by_pointer.size, "MPI_Comm_size"},
      {numbers ? (void *)&m->by_number.set_errhandler : (void *)&m->by_pointer.set_errhandler,
       "MPI_Comm_set_errhandler"},
      {numbers ? (void *)&m->by_number.dup : (void *)&m->by_pointer.dup, "MPI_Comm_dup"},
      {numbers ? (void *)&m->by_number.abort : (void *)&m->by_pointer.abort, "MPI_Abort"},
      {numbers ? (void *)&m->by_number.iallreduce : (void *)&m->by_pointer.iallreduce, "MPI_Iallreduce"},
      {numbers ? (void *)&m->by_number.iallgatherv : (void *)&m->by_pointer.iallgatherv, "MPI_Iallgatherv"},
      {numbers ? (void *)&m->by_number.ibcast : (void *)&m->by_pointer.ibcast, "MPI_Ibcast"},
      {numbers ? (void *)&m->by_number.ireduce_scatter : (void *)&m->by_pointer.ireduce_scatter, "MPI_Ireduce_scatter"},
      {numbers ? (void *)&m->by_number.ireduce : (void *)&m->by_pointer.ireduce, "MPI_Ireduce"},
      {numbers ? (void *)&m->by_number.isend : (void *)&m->by_pointer.isend, "MPI_Isend"},
      {numbers ? (void *)&m->by_number.irecv : (void *)&m->by_pointer.irecv, "MPI_Irecv"},
      {numbers ? (void *)&m->by_number.test : (void *)&m->by_pointer.test, "MPI_Test"}};
  if (!numbers) {
    void *f2c = dlsym(library, m->family == GBT_MPI_ABI ? "MPI_Comm_fromint" : "MPI_Comm_f2c");
    void *revoke = dlsym(library, "MPIX_Comm_revoke");
    memcpy(&m->by_pointer.f2c, &f2c, sizeof f2c);
    memcpy(&m->by_pointer.revoke, &revoke, sizeof revoke);
  }
  GBT_TRY(find_names(library, common, sizeof common / sizeof *common, err));
  return find_names(library, others, sizeof others / sizeof *others, err);
}

/* Starts MPI unless the process has done so. seconds: until all processes have, see gbt_mpi_watch(). */
static gbt_status start(gbt_mpi_library *m, double seconds, gbt_error *err) {
  int yes = 0, level, failed;
  if (m->finalized(&yes) != 0 || yes)
    return gbt_fail(err, GBT_E_DEVICE, "MPI has ended in this process and cannot be started again; restart R");
  if (m->initialized(&yes) != 0) yes = 0;
  if (!yes) {
    if (gbt_mpi_launched() > 1) gbt_mpi_watch(seconds);
    failed = m->init_thread(NULL, NULL, m->family == GBT_MPI_ABI ? 1024 : 1, &level); /* MPI_THREAD_FUNNELED */
    gbt_mpi_watch_end();
    if (failed != 0)
      return gbt_fail(err, GBT_E_DEVICE, "MPI does not start; see what mpirun prints");
    m->started_here = 1;
  }
  return GBT_OK;
}

/* The version, which a library tells before MPI is started, and the file that it is in. */
static void describe(gbt_mpi_library *m, void *library) {
  char text[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most */
  int n = 0;
  if (m->library_version(text, &n) != 0) text[0] = '\0';
  text[strcspn(text, "\n,")] = '\0';
  char *word = strstr(text, " Version:"); /* "MPICH Version:\t4.0.2" */
  if (word != NULL) {
    const char *rest = word + 9 + strspn(word + 9, " \t");
    memmove(word + 1, rest, strlen(rest) + 1);
  }
  snprintf(m->version, sizeof m->version, "%.63s", text);
  snprintf(m->file, sizeof m->file, "%s", file_of(library));
}

/* MPICH 5 and Intel MPI have their functions twice: in libmpi.so.12 with handles of MPICH, in libmpi_abi.so.1 with
 * those of the standard. Only the name of the file tells which one this is. */
static gbt_mpi_family_kind family_of(void *library) {
  if (dlsym(library, "ompi_mpi_comm_world") != NULL) return GBT_MPI_OPEN_MPI;
  return strstr(file_of(library), "mpi_abi") != NULL ? GBT_MPI_ABI : GBT_MPI_MPICH;
}

gbt_status gbt_mpi_library_read(const char *path, gbt_mpi_library *m, gbt_error *err) {
  void *library;
  memset(m, 0, sizeof *m);
  GBT_TRY(find_library(path, &library, err));
  m->family = family_of(library);
  gbt_status status = find_handles(m, library, err);
  if (status == GBT_OK) status = find_functions(m, library, err);
  if (status != GBT_OK) {
    dlclose(library);
    return status;
  }
  describe(m, library);
  opened = library;
  return GBT_OK;
}

#else

static gbt_status start(gbt_mpi_library *m, double seconds, gbt_error *err) {
  (void)m;
  (void)seconds;
  (void)err;
  return GBT_OK;
}

gbt_status gbt_mpi_library_read(const char *path, gbt_mpi_library *m, gbt_error *err) {
  (void)path;
  memset(m, 0, sizeof *m);
  return gbt_fail(err, GBT_E_UNSUPPORTED, "MPI is not offered on this system: gbt cannot open libraries at run time");
}

#endif

gbt_status gbt_mpi_library_open(const char *path, double seconds, gbt_mpi_library **out, gbt_error *err) {
  gbt_mpi_library found;
  gbt_status status = path != NULL || !is_open ? gbt_mpi_library_read(path, &found, err) : GBT_OK;
  if (status != GBT_OK && !is_open && !launcher_sees_exits()) gbt_mpi_fail_at_exit();
  if (status != GBT_OK) return status;
  if (!is_open) {
    GBT_TRY(start(&found, seconds, err));
    the_library = found;
  }
  is_open = 1;
  *out = &the_library;
  return GBT_OK;
}

const gbt_mpi_library *gbt_mpi_library_opened(void) { return is_open ? &the_library : NULL; }

const char *gbt_mpi_family_name(gbt_mpi_family_kind family) {
  static const char *const names[] = {"Open MPI", "MPICH", "MPI ABI"};
  return names[family];
}

/* ---- one name for both kinds of handles ---- */

static int number(gbt_mpi_handle h) { return (int)(intptr_t)h; }

int gbt_mpi_rank(const gbt_mpi_library *m, gbt_mpi_handle comm, int *out) {
  return m->family == GBT_MPI_MPICH ? m->by_number.rank(number(comm), out) : m->by_pointer.rank(comm, out);
}

int gbt_mpi_size(const gbt_mpi_library *m, gbt_mpi_handle comm, int *out) {
  return m->family == GBT_MPI_MPICH ? m->by_number.size(number(comm), out) : m->by_pointer.size(comm, out);
}

int gbt_mpi_dup(const gbt_mpi_library *m, gbt_mpi_handle comm, gbt_mpi_handle *out) {
  int failed;
  if (m->family == GBT_MPI_MPICH) {
    int copy = 0;
    failed = m->by_number.dup(number(comm), &copy);
    *out = (gbt_mpi_handle)(intptr_t)copy;
    return failed != 0 ? failed : m->by_number.set_errhandler(copy, number(m->errors_return));
  }
  failed = m->by_pointer.dup(comm, out);
  return failed != 0 ? failed : m->by_pointer.set_errhandler(*out, m->errors_return);
}

int gbt_mpi_abort(const gbt_mpi_library *m, gbt_mpi_handle comm, int code) {
  return m->family == GBT_MPI_MPICH ? m->by_number.abort(number(comm), code) : m->by_pointer.abort(comm, code);
}

void gbt_mpi_revoke(const gbt_mpi_library *m, gbt_mpi_handle comm) {
  if (gbt_mpi_survives(m)) (void)m->by_pointer.revoke(comm);
}

int gbt_mpi_survives(const gbt_mpi_library *m) {
  const char *value = getenv("OMPI_MCA_mpi_ft_enable");
  return m->family == GBT_MPI_OPEN_MPI && m->by_pointer.revoke != NULL && value != NULL && strcmp(value, "1") == 0;
}

int gbt_mpi_iallreduce(const gbt_mpi_library *m, void *x, int n, gbt_mpi_handle type, gbt_mpi_handle op,
                       gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.iallreduce(m->in_place, x, n, type, op, comm, request);
  int its = 0;
  int failed = m->by_number.iallreduce(m->in_place, x, n, number(type), number(op), number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_iallgatherv(const gbt_mpi_library *m, const void *mine, int n, void *all, const int *counts,
                        const int *starts, gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH)
    return m->by_pointer.iallgatherv(mine, n, m->byte, all, counts, starts, m->byte, comm, request);
  int its = 0, byte = number(m->byte);
  int failed = m->by_number.iallgatherv(mine, n, byte, all, counts, starts, byte, number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_ibcast(const gbt_mpi_library *m, void *x, int n, int root, gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.ibcast(x, n, m->byte, root, comm, request);
  int its = 0;
  int failed = m->by_number.ibcast(x, n, number(m->byte), root, number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_ireduce_scatter(const gbt_mpi_library *m, const void *x, void *own, const int *counts, gbt_mpi_handle type,
                            gbt_mpi_handle op, gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.ireduce_scatter(x, own, counts, type, op, comm, request);
  int its = 0;
  int failed = m->by_number.ireduce_scatter(x, own, counts, number(type), number(op), number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_ireduce(const gbt_mpi_library *m, const void *x, void *all, int n, gbt_mpi_handle type, gbt_mpi_handle op,
                    int root, gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.ireduce(x, all, n, type, op, root, comm, request);
  int its = 0;
  int failed = m->by_number.ireduce(x, all, n, number(type), number(op), root, number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_isend(const gbt_mpi_library *m, const void *x, int n, int to, gbt_mpi_handle comm,
                  gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.isend(x, n, m->byte, to, 0, comm, request);
  int its = 0;
  int failed = m->by_number.isend(x, n, number(m->byte), to, 0, number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_irecv(const gbt_mpi_library *m, void *x, int n, int from, gbt_mpi_handle comm, gbt_mpi_handle *request) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.irecv(x, n, m->byte, from, 0, comm, request);
  int its = 0;
  int failed = m->by_number.irecv(x, n, number(m->byte), from, 0, number(comm), &its);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_test(const gbt_mpi_library *m, gbt_mpi_handle *request, int *done) {
  if (m->family != GBT_MPI_MPICH) return m->by_pointer.test(request, done, m->no_status);
  int its = number(*request);
  int failed = m->by_number.test(&its, done, m->no_status);
  *request = (gbt_mpi_handle)(intptr_t)its;
  return failed;
}

int gbt_mpi_from_fortran(const gbt_mpi_library *m, int fortran, gbt_mpi_handle *out) {
  const int is_handle = m->family == GBT_MPI_MPICH;
  if (!is_handle && m->by_pointer.f2c == NULL) return 0;
  *out = is_handle ? (gbt_mpi_handle)(intptr_t)fortran : m->by_pointer.f2c(fortran);
  return 1;
}
