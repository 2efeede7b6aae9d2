/* Reading model files; r_file_write.c writes them. Reading opens first and asks the open file for its size: a file that
 * is replaced meanwhile stays readable as it was. The head is looked at before memory is taken for the rest. */
#include "r_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A pipe is not to be waited for, a terminal not to be taken over. */
#ifndef O_NONBLOCK
#define O_NONBLOCK 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif

enum { CHUNK = 4 << 20 };

gbt_status r_fail_io(gbt_error *err, r_file_path path, const char *what, int code) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "cannot %s file \"%s\": %s", what, path.shown, strerror(code));
}

gbt_status r_not_a_file(gbt_error *err, r_file_path path, const char *more) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is not a file%s", path.shown, more);
}

r_file_path r_file_path_arg(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    r_stop("`path` must be one text");
  r_file_path out = {Rf_translateChar(STRING_ELT(path, 0)), Rf_translateCharUTF8(STRING_ELT(path, 0))};
  return out;
}

/* An open file and what is known of it. */
typedef struct source {
  int fd;
  size_t n_bytes;
} source;

static gbt_status read_all(int fd, unsigned char *bytes, size_t beg, size_t end, r_file_path path, gbt_error *err) {
  for (size_t at = beg; at < end;) {
    ssize_t got = read(fd, bytes + at, end - at < CHUNK ? end - at : CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return r_fail_io(err, path, "read", errno);
    if (got == 0)
      return gbt_fail_on(err, GBT_E_IO, path.shown, "file \"%s\" became shorter while it was read", path.shown);
    at += (size_t)got;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while reading");
  }
  return GBT_OK;
}

/* saveRDS() writes gzip, bzip2, xz, or plainly "X\n" or "A\n" first; save() the same, or plainly "RDX" or "RDA". */
static const char *hint_of(const unsigned char *head, size_t n) {
  static const char *const begins[] = {"\x1f\x8b", "BZh", "\xfd\x37z", "X\n", "A\n", "RD"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    size_t length = strlen(begins[i]);
    if (n >= length && memcmp(head, begins[i], length) == 0)
      return "; what saveRDS() wrote is read by readRDS(), what save() wrote by load()";
  }
  return "";
}

/* Opens a file, which must be one: no pipe, which could keep R waiting for ever. On failure nothing is open. */
static gbt_status open_file(r_file_path path, int *fd, struct stat *info, gbt_error *err) {
  *fd = r_open(path.native, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (*fd < 0) return r_fail_io(err, path, "read", errno);
  gbt_status status = GBT_OK;
  if (fstat(*fd, info) != 0)
    status = r_fail_io(err, path, "read", errno);
  else if (!S_ISREG(info->st_mode))
    status = r_not_a_file(err, path, "");
  if (status != GBT_OK) close(*fd);
  return status;
}

/* Opens a model file and reads its head, of GBT_MODEL_HEAD bytes. On failure nothing is open. */
static gbt_status open_source(r_file_path path, source *s, unsigned char *head, gbt_error *err) {
  struct stat info;
  GBT_TRY(open_file(path, &s->fd, &info, err));
  gbt_status status;
  size_t n = info.st_size < GBT_MODEL_HEAD ? (size_t)info.st_size : GBT_MODEL_HEAD;
  GBT_TRY_GOTO(read_all(s->fd, head, 0, n, path, err), done);
  gbt_error why = {0};
  status = gbt_model_check_head(head, n, (uint64_t)info.st_size, &why);
  if (status != GBT_OK)
    gbt_fail_on(err, status, path.shown, "\"%s\": %s%s", path.shown, why.msg, hint_of(head, n));
  else if ((uint64_t)info.st_size > (uint64_t)R_XLEN_T_MAX)
    status = gbt_fail_mem(err, SIZE_MAX);
  s->n_bytes = (size_t)info.st_size;
done:
  if (status != GBT_OK) close(s->fd);
  return status;
}

static SEXP new_raw(void *n_bytes) { return Rf_allocVector(RAWSXP, (R_xlen_t) * (const size_t *)n_bytes); }

static SEXP no_memory(SEXP condition, void *unused) {
  (void)condition;
  (void)unused;
  return R_NilValue;
}

/* R_NilValue when there is not so much memory. */
static SEXP try_raw(void *n_bytes) { return R_tryCatchError(new_raw, n_bytes, no_memory, NULL); }

static void close_on_jump(void *fd, Rboolean jump) {
  if (jump) close(*(int *)fd);
}

SEXP r_gbt_read_file(SEXP path) {
  r_file_path from = r_file_path_arg(path);
  gbt_error err = {0};
  source s;
  unsigned char head[GBT_MODEL_HEAD];
  r_check(open_source(from, &s, head, &err), &err);
  SEXP out = PROTECT(R_UnwindProtect(try_raw, &s.n_bytes, close_on_jump, &s.fd, NULL));
  gbt_status status;
  if (out == R_NilValue) {
    status = gbt_fail_mem(&err, s.n_bytes);
  } else {
    memcpy(RAW(out), head, sizeof head);
    status = read_all(s.fd, RAW(out), sizeof head, s.n_bytes, from, &err);
  }
  close(s.fd);
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* Raises unless the path is a file that can be read, before a connection of R opens it: that would wait for the other
 * end of a pipe, and nothing could end it. */
SEXP r_gbt_check_file(SEXP path) {
  int fd;
  struct stat info;
  gbt_error err = {0};
  r_check(open_file(r_file_path_arg(path), &fd, &info, &err), &err);
  close(fd);
  return R_NilValue;
}
