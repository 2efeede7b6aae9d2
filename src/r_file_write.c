/* Files that the user names (models, predictions, reports): the one way to write them. They are written under a
 * temporary name in the target's folder, flushed to the disk and renamed: a reader sees the old file or the new one,
 * never a half. Ctrl-C and a full disk leave the old one.
 *
 *   .gbt-HASH-PID-TIME.tmp   HASH: the hash of the target's name. It is locked until it has its final name
 * (r_file_temp.c)
 *
 *   open    what a link leads to is the target; only a file may be there, whose mode is kept
 *   put     appends bytes, any number of times; Ctrl-C and time limits end it
 *   end     the target has its name. Without it the draft is removed: by drop, by the handle's finalizer, or, after a
 *           crash, by the next one who writes the same target */
#include "r_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <signal.h>
#endif

enum { CHUNK = 4 << 20, MOST_LINKS = 40, BUFFER = 1 << 16 };

/* A file that is being written. */
struct r_draft {
  int fd, lock;  /* fd: -1 when it is closed */
  int is_there;  /* a file is to be replaced */
  mode_t bits;   /* its mode, which is kept; what open() takes for a new file */
  long process;  /* whose it is: a fork does not remove it */
  size_t n_held; /* bytes in the buffer */
  char native[PATH_SIZE], shown[2 * PATH_SIZE], target[PATH_SIZE], temp[PATH_SIZE + TEMP_ROOM];
  unsigned char held[BUFFER];
};

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

/* A link of /proc, such as /dev/stdout, stands for a file that a process has open. Replaced, the file would stay open
 * under no name, and what the process writes afterwards would be lost. */
static int is_open_file(const char *link) {
  struct stat info, proc;
  return lstat(link, &info) == 0 && lstat("/proc/self", &proc) == 0 && info.st_dev == proc.st_dev;
}

/* The path that a link leads to in the end, whether a file is there or not. */
static gbt_status follow_links(r_file_path path, char *target, gbt_error *err) {
  char link[PATH_SIZE];
  for (int i = 0;; i++) {
    ssize_t n = readlink(target, link, sizeof link);
    if (n < 0 && (errno == EINVAL || errno == ENOENT)) return GBT_OK; /* no link; nothing there yet */
    if (n < 0) return r_fail_io(err, path, "write", errno);             /* never replace what may be a link */
    if (is_open_file(target))
      return gbt_fail_on(err, GBT_E_IO, path.shown,
                         "\"%s\" stands for a file that a process has open; give the path of a file", path.shown);
    const char *slash = strrchr(target, '/');
    size_t at = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - target);
    if (at + (size_t)n >= PATH_SIZE) return r_fail_io(err, path, "write", ENAMETOOLONG);
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
static gbt_status follow_links(r_file_path path, char *target, gbt_error *err) {
  return (void)path, (void)target, (void)err, GBT_OK;
}

#endif

static r_file_path path_of(const r_draft *d) { return (r_file_path){d->native, d->shown}; }

static gbt_status write_all(const r_draft *d, const unsigned char *bytes, size_t n, gbt_error *err) {
  for (size_t at = 0; at < n;) {
    ssize_t done = write_part(d->fd, bytes + at, n - at < CHUNK ? n - at : CHUNK);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return r_fail_io(err, path_of(d), "write", done < 0 ? errno : ENOSPC);
    at += (size_t)done;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while writing");
  }
  return GBT_OK;
}

static gbt_status put_held(r_draft *d, gbt_error *err) {
  const size_t n = d->n_held;
  d->n_held = 0;
  return write_all(d, d->held, n, err);
}

static gbt_status draft_put(r_draft *d, const void *bytes, size_t n, gbt_error *err) {
  if (d->fd < 0) return gbt_fail(err, GBT_E_ARG, "this file has been written already");
  if (n > BUFFER - d->n_held) GBT_TRY(put_held(d, err));
  if (n > BUFFER) return write_all(d, bytes, n, err);
  memcpy(d->held + d->n_held, bytes, n);
  d->n_held += n;
  return GBT_OK;
}

/* Checks what is at the path already: only a file may be replaced, no device, pipe or folder. */
static gbt_status check_target(r_draft *d, gbt_error *err) {
  struct stat info;
  d->is_there = 0;
  d->bits = 0666;
  if (stat(d->native, &info) != 0) return GBT_OK; /* a new file, or no way to it: open() reports that */
  if (!S_ISREG(info.st_mode)) return r_not_a_file(err, path_of(d), "; only files are written to");
  d->is_there = 1;
  d->bits = info.st_mode & 07777;
  return GBT_OK;
}

static gbt_status fail_open(const r_draft *d, int code, gbt_error *err) {
  if ((code == EACCES || code == EPERM || code == EROFS) && access(d->target, W_OK) == 0)
    return gbt_fail_on(err, GBT_E_IO, d->shown,
                       "cannot write file \"%s\": no file can be made in its folder (%s), and a new one is never "
                       "written over the old file, which a crash would destroy; save to another folder and copy the "
                       "file, or make the folder writable",
                       d->shown, strerror(code));
  return r_fail_io(err, path_of(d), "write", code);
}

/* d is zeroed before. */
static gbt_status draft_open(r_draft *d, r_file_path path, gbt_error *err) {
  d->fd = d->lock = -1;
  d->process = r_process();
  if (strlen(path.native) >= sizeof d->native || strlen(path.shown) >= sizeof d->shown)
    return r_fail_io(err, path, "write", ENAMETOOLONG);
  strcpy(d->native, path.native);
  strcpy(d->shown, path.shown);
  strcpy(d->target, path.native);
  GBT_TRY(check_target(d, err));
  GBT_TRY(follow_links(path, d->target, err));
  r_temp_remove_stale(d->target);
  d->fd = r_temp_open(d->target, d->bits & 0666, d->temp, &d->lock);
  if (d->fd >= 0) return GBT_OK;
  const int code = errno;
  d->temp[0] = 0; /* nothing of ours has this name */
  return fail_open(d, code, err);
}

/* The file is closed before it gets its name, as some systems report only then that writing failed. */
static gbt_status close_draft(r_draft *d, gbt_error *err) {
  gbt_status status = put_held(d, err);
  if (status == GBT_OK) {
    const int code = flush(d->fd);
    if (code != 0) status = r_fail_io(err, path_of(d), "write", code);
  }
#ifndef _WIN32
  if (status == GBT_OK && d->is_there) (void)fchmod(d->fd, d->bits); /* a wish: not every file system has modes */
#endif
  if (close(d->fd) != 0 && status == GBT_OK && errno != EINTR) status = r_fail_io(err, path_of(d), "write", errno);
  d->fd = -1;
  return status;
}

/* Removes what has no final name; once. */
static void draft_drop(r_draft *d) {
  if (d->fd >= 0) close(d->fd);
  if (d->temp[0] != 0 && d->process == r_process()) unlink(d->temp);
  if (d->lock >= 0) close(d->lock);
  d->fd = d->lock = -1;
  d->temp[0] = 0;
}

static gbt_status draft_end(r_draft *d, gbt_error *err) {
  if (d->fd < 0) return gbt_fail(err, GBT_E_ARG, "this file has been written already");
  gbt_status status = close_draft(d, err);
#ifdef _WIN32
  if (status == GBT_OK) remove(d->target); /* rename() does not replace there */
#endif
  if (status == GBT_OK && rename(d->temp, d->target) != 0) status = r_fail_io(err, path_of(d), "replace", errno);
  if (status == GBT_OK) d->temp[0] = 0;
  draft_drop(d);
  const int code = status == GBT_OK ? flush_folder(d->target) : 0;
  return code == 0 ? status : r_fail_io(err, path_of(d), "flush the folder of", code);
}

void r_draft_free(r_draft *d) {
  gbt_mem mem = r_mem();
  if (d == NULL) return;
  draft_drop(d);
  gbt_mem_free(&mem, d);
}

/* ---- what R calls ---- */

static SEXP new_draft(SEXP path, r_draft **out) {
  const r_file_path to = r_file_path_arg(path);
  SEXP x = PROTECT(r_handle_new(R_DRAFT, R_NilValue));
  gbt_mem mem = r_mem();
  gbt_error err = {0};
  gbt_status status = gbt_mem_zeros(&mem, 1, sizeof **out, out, &err);
  R_SetExternalPtrAddr(x, *out);
  if (status == GBT_OK) status = draft_open(*out, to, &err);
  r_check(status, &err);
  UNPROTECT(1);
  return x;
}

/* A file that is to be written piece by piece. */
SEXP r_gbt_draft_open(SEXP path) {
  r_draft *d;
  return new_draft(path, &d);
}

static gbt_status put_lines(r_draft *d, SEXP lines, gbt_error *err) {
  for (R_xlen_t i = 0; i < Rf_xlength(lines); i++) {
    SEXP line = STRING_ELT(lines, i);
    GBT_TRY(draft_put(d, CHAR(line), (size_t)Rf_xlength(line), err));
    GBT_TRY(draft_put(d, "\n", 1, err));
  }
  return GBT_OK;
}

/* what: raw bytes, or texts, each of which becomes a line as it is. */
SEXP r_gbt_draft_put(SEXP draft, SEXP what) {
  r_draft *d = r_handle_get(draft, R_DRAFT);
  if (TYPEOF(what) != RAWSXP && TYPEOF(what) != STRSXP) r_stop("`what` must be raw bytes or texts");
  const unsigned char *bytes = TYPEOF(what) == RAWSXP ? RAW_RO(what) : NULL;
  gbt_error err = {0};
  r_use use;
  r_use_begin(&use, draft);
  gbt_status status = bytes != NULL ? draft_put(d, bytes, (size_t)Rf_xlength(what), &err) : put_lines(d, what, &err);
  r_use_end(&use);
  r_check(status, &err);
  return R_NilValue;
}

/* The file gets its name. */
SEXP r_gbt_draft_end(SEXP draft) {
  r_draft *d = r_handle_get(draft, R_DRAFT);
  gbt_error err = {0};
  r_use use;
  r_use_begin(&use, draft);
  gbt_status status = draft_end(d, &err);
  r_use_end(&use);
  r_check(status, &err);
  return R_NilValue;
}

/* Removes a draft that was not ended. */
SEXP r_gbt_draft_drop(SEXP draft) {
  r_handle_free(draft, R_DRAFT);
  return R_NilValue;
}

/* A whole file. */
SEXP r_gbt_write_file(SEXP path, SEXP raw) {
  if (TYPEOF(raw) != RAWSXP) r_stop("`raw` must be a raw vector");
  const unsigned char *bytes = RAW_RO(raw);
  r_draft *d;
  SEXP draft = PROTECT(new_draft(path, &d));
  gbt_error err = {0};
  gbt_status status = draft_put(d, bytes, (size_t)Rf_xlength(raw), &err);
  if (status == GBT_OK) status = draft_end(d, &err);
  r_handle_free(draft, R_DRAFT);
  r_check(status, &err);
  UNPROTECT(1);
  return R_NilValue;
}

/* The end of a member of a gzip file: the CRC-32 of the bytes and their number, both in 4 bytes, the low ones first. */
SEXP r_gbt_gzip_tail(SEXP bytes) {
  if (TYPEOF(bytes) != RAWSXP) r_stop("`bytes` must be raw bytes");
  uint32_t table[256], crc = UINT32_MAX;
  const R_xlen_t n = Rf_xlength(bytes);
  const unsigned char *at = RAW_RO(bytes);
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? UINT32_C(0xedb88320) : 0);
  }
  for (R_xlen_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ at[i]) & 255];
  crc = ~crc;
  SEXP out = Rf_allocVector(RAWSXP, 8);
  for (int i = 0; i < 4; i++) {
    RAW(out)[i] = (unsigned char)(crc >> (8 * i));
    RAW(out)[4 + i] = (unsigned char)((uint64_t)n >> (8 * i));
  }
  return out;
}
