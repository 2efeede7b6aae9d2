/* Model files. Written under a temporary name in the target's folder, flushed to the disk and renamed: a reader sees
 * the old file or the new one, never a half. Ctrl-C and a full disk leave the old one.
 *
 *   .gbt-HASH-PID-TIME.tmp   HASH is of the target's name. It is locked until it has its final name (r_file_temp.c)
 *
 * Reading opens first and asks the open file for its size: a file that is replaced meanwhile stays readable as it was.
 * The head is looked at before memory is taken for the rest. */
#include "r_file.h"

#include "r_gbt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifndef _WIN32
#include <signal.h>
#endif

/* A pipe is not to be waited for, a terminal not to be taken over. */
#ifndef O_NONBLOCK
#define O_NONBLOCK 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif

enum { CHUNK = 4 << 20, MOST_LINKS = 40 };

/* A path as the system takes it and as messages show it (UTF-8). */
typedef struct file_path {
  const char *native, *shown;
} file_path;

static gbt_status fail_io(gbt_error *err, file_path path, const char *what, int code) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "cannot %s file \"%s\": %s", what, path.shown, strerror(code));
}

static gbt_status not_a_file(gbt_error *err, file_path path, const char *more) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is not a file%s", path.shown, more);
}

static file_path path_arg(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    r_stop("`path` must be one text");
  file_path out = {Rf_translateChar(STRING_ELT(path, 0)), Rf_translateCharUTF8(STRING_ELT(path, 0))};
  return out;
}

/* ---- writing ---- */

#ifndef _WIN32

/* A limit of file sizes (ulimit -f) sends a signal that would end R; blocked, the write fails and says so. */
typedef struct size_signal {
  sigset_t set, before;
  int waiting; /* it was, before us */
} size_signal;

static int size_signal_waits(void) {
  sigset_t waiting;
  return sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
}

static void block_size_signal(size_signal *s) {
  sigemptyset(&s->set);
  sigaddset(&s->set, SIGXFSZ);
  s->waiting = size_signal_waits();
  pthread_sigmask(SIG_BLOCK, &s->set, &s->before);
}

static void unblock_size_signal(const size_signal *s) {
  int code = errno, taken;
  if (!s->waiting && size_signal_waits()) sigwait(&s->set, &taken);
  pthread_sigmask(SIG_SETMASK, &s->before, NULL);
  errno = code;
}

static ssize_t write_part(int fd, const void *bytes, size_t n) {
  size_signal s;
  block_size_signal(&s);
  ssize_t done = write(fd, bytes, n);
  unblock_size_signal(&s);
  return done;
}

/* Some file systems cannot, and say so. 0 or an errno. */
static int flush(int fd) {
  int failed;
  do failed = fsync(fd) != 0;
  while (failed && errno == EINTR);
  return failed && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

/* The new name is not safe before its folder is. A folder that may be written to, but not read, cannot be flushed. */
static int flush_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char folder[PATH_SIZE];
  if (slash == NULL) {
    strcpy(folder, ".");
  } else {
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    memcpy(folder, path, n);
    folder[n] = '\0';
  }
  int fd = r_open(folder, O_RDONLY, 0);
  if (fd < 0) return 0;
  int code = flush(fd);
  close(fd);
  return code;
}

/* What a link leads to in the end, whether there is something or not. */
static gbt_status follow_links(file_path path, char *target, gbt_error *err) {
  char link[PATH_SIZE];
  for (int i = 0;; i++) {
    ssize_t n = readlink(target, link, sizeof link);
    if (n < 0 && (errno == EINVAL || errno == ENOENT)) return GBT_OK; /* no link; nothing there yet */
    if (n < 0) return fail_io(err, path, "write", errno);             /* never replace what may be a link */
    const char *slash = strrchr(target, '/');
    size_t at = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - target);
    if (at + (size_t)n >= PATH_SIZE) return fail_io(err, path, "write", ENAMETOOLONG);
    if (i == MOST_LINKS)
      return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is a link that leads back to itself; remove it first",
                         path.shown);
    memcpy(target + at, link, (size_t)n);
    target[at + (size_t)n] = '\0';
  }
}

#else

static ssize_t write_part(int fd, const void *bytes, size_t n) { return write(fd, bytes, n); }
static int flush(int fd) { return (void)fd, 0; }
static int flush_folder(const char *path) { return (void)path, 0; }
static gbt_status follow_links(file_path path, char *target, gbt_error *err) {
  return (void)path, (void)target, (void)err, GBT_OK;
}

#endif

static gbt_status write_all(int fd, const unsigned char *bytes, size_t n, file_path path, gbt_error *err) {
  for (size_t at = 0; at < n;) {
    ssize_t done = write_part(fd, bytes + at, n - at < CHUNK ? n - at : CHUNK);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail_io(err, path, "write", done < 0 ? errno : ENOSPC);
    at += (size_t)done;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while writing");
  }
  int code = flush(fd);
  return code == 0 ? GBT_OK : fail_io(err, path, "write", code);
}

/* The file that the new one is to replace. */
typedef struct target_mode {
  int is_there;
  mode_t bits; /* its mode, which is kept; what open() takes for a new file */
} target_mode;

/* What stands at the path already: only a file may be replaced, no device, pipe or folder. */
static gbt_status check_target(file_path path, target_mode *mode, gbt_error *err) {
  struct stat info;
  *mode = (target_mode){0, 0666};
  if (stat(path.native, &info) != 0) return GBT_OK; /* a new file, or no way to it: open() tells */
  if (!S_ISREG(info.st_mode)) return not_a_file(err, path, "; a model is not written there");
  *mode = (target_mode){1, info.st_mode & 07777};
  return GBT_OK;
}

static gbt_status fail_open(gbt_error *err, file_path path, const char *target, int code) {
  if ((code == EACCES || code == EPERM || code == EROFS) && access(target, W_OK) == 0)
    return gbt_fail_on(err, GBT_E_IO, path.shown,
                       "cannot write file \"%s\": no file can be made in its folder (%s), and a model is never written "
                       "over the old file, which a crash would destroy; save to another folder and copy the file, or "
                       "make the folder writable",
                       path.shown, strerror(code));
  return fail_io(err, path, "write", code);
}

/* fd is closed before the file gets its name, as some systems tell only then that writing failed. */
static gbt_status fill_temp(int fd, target_mode mode, file_path path, const unsigned char *bytes, size_t n,
                            gbt_error *err) {
  gbt_status status = write_all(fd, bytes, n, path, err);
#ifndef _WIN32
  if (status == GBT_OK && mode.is_there) (void)fchmod(fd, mode.bits); /* a wish: not every file system has modes */
#else
  (void)mode;
#endif
  if (close(fd) != 0 && status == GBT_OK && errno != EINTR) status = fail_io(err, path, "write", errno);
  return status;
}

/* target: where the path leads to; temp: scratch. Both of PATH_SIZE. */
static gbt_status write_file(file_path path, char *target, char *temp, const unsigned char *bytes, size_t n,
                             gbt_error *err) {
  target_mode mode;
  if (strlen(path.native) >= PATH_SIZE) return fail_io(err, path, "write", ENAMETOOLONG);
  strcpy(target, path.native);
  GBT_TRY(check_target(path, &mode, err));
  GBT_TRY(follow_links(path, target, err));
  r_temp_remove_stale(target);
  int lock, fd = r_temp_open(target, mode.bits & 0666, temp, &lock);
  if (fd < 0) return fail_open(err, path, target, errno);
  gbt_status status = fill_temp(fd, mode, path, bytes, n, err);
#ifdef _WIN32
  if (status == GBT_OK) remove(target); /* rename() does not replace there */
#endif
  if (status == GBT_OK && rename(temp, target) != 0) status = fail_io(err, path, "replace", errno);
  if (status != GBT_OK) unlink(temp);
  if (lock >= 0) close(lock);
  int code = status == GBT_OK ? flush_folder(target) : 0;
  return code == 0 ? status : fail_io(err, path, "flush the folder of", code);
}

SEXP r_gbt_write_file(SEXP path, SEXP raw) {
  file_path to = path_arg(path);
  if (TYPEOF(raw) != RAWSXP) r_stop("`raw` must be a raw vector");
  char *target = R_alloc(PATH_SIZE, 1), *temp = R_alloc(PATH_SIZE + TEMP_ROOM, 1);
  gbt_error err = {0};
  r_check(write_file(to, target, temp, RAW_RO(raw), (size_t)Rf_xlength(raw), &err), &err);
  return R_NilValue;
}

/* ---- reading ---- */

/* An open file and what is known of it. */
typedef struct source {
  int fd;
  size_t n_bytes;
} source;

static gbt_status read_all(int fd, unsigned char *bytes, size_t beg, size_t end, file_path path, gbt_error *err) {
  for (size_t at = beg; at < end;) {
    ssize_t got = read(fd, bytes + at, end - at < CHUNK ? end - at : CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_io(err, path, "read", errno);
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
static gbt_status open_file(file_path path, int *fd, struct stat *info, gbt_error *err) {
  *fd = r_open(path.native, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (*fd < 0) return fail_io(err, path, "read", errno);
  gbt_status status = GBT_OK;
  if (fstat(*fd, info) != 0)
    status = fail_io(err, path, "read", errno);
  else if (!S_ISREG(info->st_mode))
    status = not_a_file(err, path, "");
  if (status != GBT_OK) close(*fd);
  return status;
}

/* Opens a model file and reads its head, of GBT_MODEL_HEAD bytes. On failure nothing is open. */
static gbt_status open_source(file_path path, source *s, unsigned char *head, gbt_error *err) {
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
  file_path from = path_arg(path);
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
  r_check(open_file(path_arg(path), &fd, &info, &err), &err);
  close(fd);
  return R_NilValue;
}
