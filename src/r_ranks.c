/* Ranks: R processes that train one model together (src/mpi). While R has chosen ranks (r_gbt_ranks_use) every call of
 * the engine takes part in their operations. A process has one MPI and R has one thread, so the choice is kept here,
 * and not in the engine, which has no state. */
#include "r_gbt.h"

#include <string.h>

#include "mpi/mpi.h"

static struct {
  const gbt_comm *comm; /* NULL: this process trains without others */
  int all_know;         /* the last failure was met by all ranks */
  uint32_t calls;       /* of R's own operations: a rank that has skipped one is noticed at the next */
} ranks;

const gbt_comm *r_ranks(void) {
  ranks.all_know = 0; /* a new call of the engine */
  return ranks.comm;
}

void r_ranks_note(const gbt_error *err) { ranks.all_know = err->ranks_know; }

static gbt_status open_ctx(gbt_ctx *ctx, gbt_error *err) {
  GBT_TRY(r_ctx_open(ctx, (r_threads){1, GBT_SIMD_AUTO}, err));
  ctx->comm_calls = ranks.calls += 16;
  return GBT_OK;
}

static const char tag[] = "gbt_ranks";

static gbt_mpi *mpi_of(SEXP handle) {
  if (TYPEOF(handle) != EXTPTRSXP || R_ExternalPtrTag(handle) != Rf_install(tag)) r_stop("no handle of ranks");
  if (R_ExternalPtrAddr(handle) == NULL)
    r_stop("the ranks come from another R session; call gbt_ranks() in this one");
  return R_ExternalPtrAddr(handle);
}

/* library: a path or NULL. group: a communicator's number in Fortran, or NULL. timeout, start, most: of gbt_mpi_spec.
 * Returns list(handle, rank, size, library, family). Collective. */
SEXP r_gbt_ranks_open(SEXP library, SEXP group, SEXP timeout, SEXP start, SEXP most) {
  static const char *parts[] = {"handle", "rank", "size", "library", "family", ""};
  int32_t number = group == R_NilValue ? 0 : r_arg_int(group, "comm");
  gbt_mpi_spec spec = {.library = library == R_NilValue ? NULL : r_arg_path(library, "library"),
                       .group = group == R_NilValue ? NULL : &number,
                       .timeout = r_arg_real(timeout, "timeout"),
                       .start = r_arg_real(start, "start"),
                       .most = r_arg_int(most, "most")};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SEXP handle = R_MakeExternalPtr(NULL, Rf_install(tag), R_NilValue);
  SET_VECTOR_ELT(out, 0, handle);
  gbt_error err = {0};
  gbt_mpi *mpi = NULL;
  r_check(gbt_mpi_open(&spec, &mpi, &err), &err);
  R_SetExternalPtrAddr(handle, mpi);
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(gbt_mpi_comm(mpi)->rank));
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(gbt_mpi_comm(mpi)->size));
  SET_VECTOR_ELT(out, 3, Rf_mkString(gbt_mpi_version(mpi)));
  SET_VECTOR_ELT(out, 4, Rf_mkString(gbt_mpi_family(mpi)));
  UNPROTECT(1);
  return out;
}

/* list(library, family, file, started, why): the MPI library that would be opened, or has been; NA where there is none,
 * and then why. */
SEXP r_gbt_ranks_look(void) {
  static const char *parts[] = {"library", "family", "file", "started", "why", ""};
  gbt_mpi_found found;
  gbt_error err = {0};
  const int there = gbt_mpi_look(&found, &err) == GBT_OK;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_ScalarString(there ? Rf_mkCharCE(found.version, CE_UTF8) : NA_STRING));
  SET_VECTOR_ELT(out, 1, Rf_ScalarString(there ? Rf_mkCharCE(found.family, CE_UTF8) : NA_STRING));
  SET_VECTOR_ELT(out, 2, Rf_ScalarString(there ? Rf_mkCharCE(found.file, CE_NATIVE) : NA_STRING));
  SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(there && found.started));
  SET_VECTOR_ELT(out, 4, Rf_ScalarString(there ? NA_STRING : Rf_mkCharCE(err.msg, CE_UTF8)));
  UNPROTECT(1);
  return out;
}

/* handle: NULL for none. From now on calls of the engine work with these ranks. */
SEXP r_gbt_ranks_use(SEXP handle) {
  ranks.comm = handle == R_NilValue ? NULL : gbt_mpi_comm(mpi_of(handle));
  ranks.all_know = 0;
  ranks.calls = 0;
  return R_NilValue;
}

/* Whether the other ranks have met the failure that this one left with. */
SEXP r_gbt_ranks_know(void) { return Rf_ScalarLogical(ranks.all_know); }

/* The end of a step that all ranks take: raises on all of them when one has failed. */
SEXP r_gbt_ranks_agree(void) {
  gbt_error err = {0};
  gbt_ctx ctx;
  gbt_status status = open_ctx(&ctx, &err);
  if (status == GBT_OK) {
    status = gbt_comm_agree(&ctx, GBT_OK, &err);
    gbt_ctx_close(&ctx);
  }
  r_check(status, &err);
  return R_NilValue;
}

/* This rank has failed outside of the engine: the other ranks leave with the message. kind: the name of a status;
 * subject, host: as of gbt_error. Raises nothing, as R is on its way out. */
SEXP r_gbt_ranks_fail(SEXP kind, SEXP message, SEXP subject, SEXP host) {
  gbt_error err = {0};
  gbt_ctx ctx;
  gbt_status code = GBT_E_INTERNAL;
  const char *name = CHAR(STRING_ELT(kind, 0)), *text = r_utf8(STRING_ELT(message, 0));
  const char *about = r_utf8(STRING_ELT(subject, 0)), *classes = r_utf8(STRING_ELT(host, 0));
  for (int s = GBT_E_ARG; gbt_status_name(s) != NULL; s++)
    if (strcmp(gbt_status_name(s), name) == 0) code = (gbt_status)s;
  if (open_ctx(&ctx, &err) != GBT_OK) return R_NilValue;
  code = gbt_comm_agree(&ctx, gbt_fail_host(&err, code, about, text, classes), &err);
  gbt_ctx_close(&ctx);
  return Rf_ScalarInteger((int)code);
}

/* A number of each rank, in the order of the ranks. */
SEXP r_gbt_ranks_numbers(SEXP number) {
  const int size = ranks.comm == NULL ? 1 : ranks.comm->size;
  const int64_t own = r_arg_int64(number, "number");
  int64_t *all = (int64_t *)R_alloc((size_t)size, sizeof *all);
  gbt_error err = {0};
  gbt_ctx ctx;
  gbt_status status = open_ctx(&ctx, &err);
  if (status == GBT_OK) {
    status = gbt_comm_agree(&ctx, gbt_comm_gather_i64(&ctx, &own, 1, all, &err), &err);
    gbt_ctx_close(&ctx);
  }
  r_check(status, &err);
  SEXP out = Rf_allocVector(REALSXP, size);
  for (int r = 0; r < size; r++) REAL(out)[r] = (double)all[r];
  return out;
}

/* The sums over all ranks of whole numbers, each by its place. */
SEXP r_gbt_ranks_sums(SEXP numbers) {
  const R_xlen_t n = Rf_xlength(numbers);
  const double *own = r_arg_reals(numbers, n, "numbers");
  int64_t *sum = (int64_t *)R_alloc((size_t)n, sizeof *sum);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  gbt_error err = {0};
  gbt_ctx ctx;
  for (R_xlen_t i = 0; i < n; i++) sum[i] = (int64_t)own[i];
  gbt_status status = open_ctx(&ctx, &err);
  if (status == GBT_OK) {
    status = gbt_comm_agree(&ctx, gbt_comm_sum_i64(&ctx, sum, (size_t)n, &err), &err);
    gbt_ctx_close(&ctx);
  }
  r_check(status, &err);
  for (R_xlen_t i = 0; i < n; i++) REAL(out)[i] = (double)sum[i];
  UNPROTECT(1);
  return out;
}

/* The bytes or numbers of all ranks, one after the other. lengths: how many of each, from r_gbt_ranks_numbers. */
SEXP r_gbt_ranks_bytes(SEXP mine, SEXP lengths) {
  /* 1 */
  const int size = ranks.comm == NULL ? 1 : ranks.comm->size;
  const int rank = ranks.comm == NULL ? 0 : ranks.comm->rank;
  const double *length = r_arg_reals(lengths, size, "lengths");
  const int numbers = TYPEOF(mine) == REALSXP;
  const size_t item = numbers ? sizeof(double) : 1;
  size_t *bytes = (size_t *)R_alloc((size_t)size, sizeof *bytes);
  double total = 0;
  if ((TYPEOF(mine) != RAWSXP && !numbers) || length == NULL) r_stop("bytes or numbers and their lengths are expected");
  for (int r = 0; r < size; r++) {
    if (!(length[r] >= 0 && length[r] <= 0x1p48)) r_stop("bytes or numbers and their lengths are expected");
    bytes[r] = (size_t)length[r] * item;
    total += length[r];
  }
  if (bytes[rank] != (size_t)Rf_xlength(mine) * item) r_stop("the lengths do not match the bytes or numbers");
  const void *from = numbers ? (const void *)REAL_RO(mine) : (const void *)RAW_RO(mine);
  SEXP out = PROTECT(Rf_allocVector(numbers ? REALSXP : RAWSXP, (R_xlen_t)total));
  void *to = numbers ? (void *)REAL(out) : (void *)RAW(out);
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_status status = open_ctx(&ctx, &err);
  if (status == GBT_OK) {
    status = gbt_comm_agree(&ctx, gbt_comm_gather(&ctx, from, bytes, to, &err), &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}
