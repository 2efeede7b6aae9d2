/* Model files. Written under a temporary name beside the target, flushed to the disk and renamed: a reader sees the old
 * file or the new one, never a half. Ctrl-C and a full disk leave the old one. */
#include "r_gbt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifndef O_BINARY
#define O_BINARY 0
#endif

enum { CHUNK = 4 << 20 };

/* A path as the system takes it and as messages show it (UTF-8). */
typedef struct file_path {
  const char *native, *shown;
} file_path;

static gbt_status fail_io(gbt_error *err, file_path path, const char *what, int code) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "cannot %s file \"%s\": %s", what, path.shown, strerror(code));
}

static gbt_status write_all(int fd, const unsigned char *bytes, size_t n, file_path path, gbt_error *err) {
  for (size_t at = 0; at < n;) {
    size_t part = n - at < CHUNK ? n - at : CHUNK;
    ssize_t done = write(fd, bytes + at, part);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail_io(err, path, "write", done < 0 ? errno : ENOSPC);
    at += (size_t)done;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while writing");
  }
#ifndef _WIN32
  if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) return fail_io(err, path, "write", errno);
#endif
  return GBT_OK;
}

/* What stands at the path already: only a file may be replaced, no device, pipe or folder. Its mode is kept. */
static gbt_status check_target(file_path path, mode_t *mode, gbt_error *err) {
  struct stat info;
  *mode = 0666;
  if (stat(path.native, &info) != 0) return GBT_OK; /* a new file, or no way to it: open() tells */
  if (!S_ISREG(info.st_mode))
    return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is not a file; a model is not written there", path.shown);
  *mode = info.st_mode & 07777;
  return GBT_OK;
}

/* Opens a new file beside path; its name goes to temp. */
static int open_beside(const char *path, mode_t mode, char *temp, size_t size) {
  for (int i = 0; i < 100; i++) {
    snprintf(temp, size, "%s.%ld-%d.tmp", path, (long)getpid(), i);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_BINARY, mode & 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static gbt_status write_file(file_path path, char *temp, size_t size, const unsigned char *bytes, size_t n,
                             gbt_error *err) {
  mode_t mode;
  GBT_TRY(check_target(path, &mode, err));
  int fd = open_beside(path.native, mode, temp, size);
  if (fd < 0) return fail_io(err, path, "write", errno);
  gbt_status status = write_all(fd, bytes, n, path, err);
  if (close(fd) != 0 && status == GBT_OK) status = fail_io(err, path, "write", errno);
#ifdef _WIN32
  if (status == GBT_OK) remove(path.native); /* rename() does not replace there */
#else
  if (status == GBT_OK && mode != 0666) (void)chmod(temp, mode); /* a wish: not every file system has modes */
#endif
  if (status == GBT_OK && rename(temp, path.native) != 0) status = fail_io(err, path, "replace", errno);
  if (status != GBT_OK) unlink(temp);
  return status;
}

static file_path path_arg(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    r_stop("`path` must be one text");
  file_path out = {Rf_translateChar(STRING_ELT(path, 0)), Rf_translateCharUTF8(STRING_ELT(path, 0))};
  return out;
}

SEXP r_gbt_write_file(SEXP path, SEXP raw) {
  file_path to = path_arg(path);
  if (TYPEOF(raw) != RAWSXP) r_stop("`raw` must be a raw vector");
  size_t size = strlen(to.native) + 64;
  char *temp = R_alloc(size, 1);
  gbt_error err = {0};
  r_check(write_file(to, temp, size, RAW_RO(raw), (size_t)Rf_xlength(raw), &err), &err);
  return R_NilValue;
}

static gbt_status read_all(int fd, unsigned char *bytes, size_t n, file_path path, gbt_error *err) {
  for (size_t at = 0; at < n;) {
    ssize_t got = read(fd, bytes + at, n - at < CHUNK ? n - at : CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_io(err, path, "read", errno);
    if (got == 0)
      return gbt_fail_on(err, GBT_E_IO, path.shown, "file \"%s\" became shorter while it was read", path.shown);
    at += (size_t)got;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while reading");
  }
  return GBT_OK;
}

SEXP r_gbt_read_file(SEXP path) {
  file_path from = path_arg(path);
  gbt_error err = {0};
  struct stat info;
  if (stat(from.native, &info) != 0) r_check(fail_io(&err, from, "read", errno), &err);
  if (!S_ISREG(info.st_mode))
    r_check(gbt_fail_on(&err, GBT_E_IO, from.shown, "\"%s\" is not a file", from.shown), &err);
  SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)info.st_size));
  unsigned char *bytes = RAW(out);
  int fd = open(from.native, O_RDONLY | O_BINARY);
  if (fd < 0) r_check(fail_io(&err, from, "read", errno), &err);
  gbt_status status = read_all(fd, bytes, (size_t)info.st_size, from, &err);
  close(fd);
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}
