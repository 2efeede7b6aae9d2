#define _FILE_OFFSET_BITS 64
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE /* flock */
#endif
#include "os_file.h"

#ifndef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_AT_ONCE = 1 << 30 /* bytes of a system call: some systems take no more than 2^31 - 1 */ };

void gbt_os_why(int code, char *out, size_t size) {
  if (strerror_r(code, out, size) != 0) snprintf(out, size, "error %d", code);
}

int gbt_os_is_denied(int code) { return code == EACCES || code == EPERM || code == EROFS; }

int gbt_os_open(const char *path, gbt_os_how how, uint32_t bits, gbt_os_file *out) {
  static const int flags[] = {O_RDONLY, O_WRONLY | O_CREAT | O_EXCL, O_RDWR | O_CREAT | O_NOFOLLOW,
                              O_WRONLY | O_NOFOLLOW};
  int fd;
  /* never waits for the other end of a pipe, never takes a terminal */
  do fd = open(path, flags[how] | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, (mode_t)bits);
  while (fd < 0 && errno == EINTR);
  *out = fd;
  return fd < 0 ? errno : 0;
}

int gbt_os_again(gbt_os_file file, gbt_os_file *out) {
  *out = fcntl((int)file, F_DUPFD_CLOEXEC, 0);
  return *out < 0 ? errno : 0;
}

int gbt_os_close(gbt_os_file file) { return close((int)file) == 0 || errno == EINTR ? 0 : errno; }

int gbt_os_read(gbt_os_file file, uint64_t at, void *out, size_t n, size_t *done) {
  ssize_t got;
  do got = pread((int)file, out, n < MOST_AT_ONCE ? n : MOST_AT_ONCE, (off_t)at);
  while (got < 0 && errno == EINTR);
  *done = got < 0 ? 0 : (size_t)got;
  return got < 0 ? errno : 0;
}

/* A limit of file sizes (ulimit -f) sends a signal that would end the process. It is kept away and taken back, unless
 * one was waiting before; the write fails and says so. */
static ssize_t write_some(int fd, uint64_t at, const void *bytes, size_t n) {
  sigset_t limit, before, waiting;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  const int was_waiting = sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const ssize_t done = pwrite(fd, bytes, n, (off_t)at);
  const int code = errno;
  int taken;
  if (!was_waiting && sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1) sigwait(&limit, &taken);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return done;
}

int gbt_os_write(gbt_os_file file, uint64_t at, const void *bytes, size_t n, size_t *done) {
  ssize_t put;
  do put = write_some((int)file, at, bytes, n < MOST_AT_ONCE ? n : MOST_AT_ONCE);
  while (put < 0 && errno == EINTR);
  *done = put < 0 ? 0 : (size_t)put;
  return put < 0 ? errno : put == 0 && n > 0 ? ENOSPC : 0;
}

int gbt_os_empty(gbt_os_file file) { return ftruncate((int)file, 0) == 0 ? 0 : errno; }

int gbt_os_flush(gbt_os_file file) {
  int failed;
#ifdef F_FULLFSYNC /* fsync() of macOS leaves bytes in the disk's own memory; some file systems know no other way */
  if (fcntl((int)file, F_FULLFSYNC) == 0) return 0;
#endif
  do failed = fsync((int)file) != 0;
  while (failed && errno == EINTR);
  return failed && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP ? errno : 0;
}

/* A folder that may be written to, but not read, cannot be flushed. */
int gbt_os_flush_folder_of(const char *path) {
  char folder[4096];
  gbt_os_file file;
  size_t n = gbt_os_folder_bytes(path);
  if (n >= sizeof folder) return 0;
  memcpy(folder, path, n);
  if (n == 0) folder[n++] = '.';
  folder[n] = '\0';
  if (gbt_os_open(folder, GBT_OS_READ, 0, &file) != 0) return 0;
  const int code = gbt_os_flush(file);
  (void)gbt_os_close(file);
  return code;
}

void gbt_os_read_ahead(gbt_os_file file, uint64_t at, uint64_t n) {
#if defined(POSIX_FADV_WILLNEED)
  (void)posix_fadvise((int)file, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
#else
  (void)file, (void)at, (void)n;
#endif
}

int gbt_os_lock(gbt_os_file file) {
  int failed;
  do failed = flock((int)file, LOCK_EX | LOCK_NB);
  while (failed && errno == EINTR);
  return !failed ? 1 : errno == EWOULDBLOCK ? 0 : -1;
}

void gbt_os_set_bits(gbt_os_file file, uint32_t bits) {
  const int failed = fchmod((int)file, (mode_t)bits);
  (void)failed;
}

/* Any program can set any times: the product may overflow. */
static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }

static int tell(int failed, const struct stat *info, gbt_os_info *out) {
  memset(out, 0, sizeof *out);
  if (failed) return errno;
#ifdef __APPLE__
  const struct timespec written = info->st_mtimespec, changed = info->st_ctimespec;
#else
  const struct timespec written = info->st_mtim, changed = info->st_ctim;
#endif
  out->kind = S_ISREG(info->st_mode) ? GBT_OS_IS_FILE : S_ISDIR(info->st_mode) ? GBT_OS_IS_FOLDER : GBT_OS_IS_OTHER;
  out->bits = (uint32_t)(info->st_mode & 07777);
  out->bytes = (uint64_t)info->st_size;
  out->n_names = (uint64_t)info->st_nlink;
  out->volume = (uint64_t)info->st_dev;
  out->written = ns_of(written);
  out->changed = ns_of(changed);
  out->changed_s = (int64_t)changed.tv_sec;
  return 0;
}

int gbt_os_info_of(gbt_os_file file, gbt_os_info *out) {
  struct stat info;
  const int failed = fstat((int)file, &info);
  return tell(failed, &info, out);
}

int gbt_os_info_at(const char *path, int of_link, gbt_os_info *out) {
  struct stat info;
  const int failed = of_link ? lstat(path, &info) : stat(path, &info);
  return tell(failed, &info, out);
}

int gbt_os_is_at(gbt_os_file file, const char *path) {
  struct stat its, named;
  if (fstat((int)file, &its) != 0 || stat(path, &named) != 0) return 0;
  return its.st_dev == named.st_dev && its.st_ino == named.st_ino;
}

int gbt_os_may_write(const char *path) { return access(path, W_OK) == 0; }

int gbt_os_read_link(const char *path, char *out, size_t size, int *is_link) {
  const ssize_t n = readlink(path, out, size);
  *is_link = n >= 0;
  if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
  if ((size_t)n >= size) return ENAMETOOLONG;
  out[n] = '\0';
  return 0;
}

int gbt_os_replace(const char *from, const char *to) { return rename(from, to) == 0 ? 0 : errno; }

/* Without links of files the name was free a moment ago. */
int gbt_os_name(const char *from, const char *to) {
  gbt_os_info info;
  if (link(from, to) == 0) {
    (void)unlink(from);
    return 0;
  }
  if (errno == EEXIST || gbt_os_info_at(to, 0, &info) == 0) return EEXIST;
  return gbt_os_replace(from, to);
}

int gbt_os_remove(const char *path) { return unlink(path) == 0 ? 0 : errno; }
int gbt_os_make_folder(const char *path) { return mkdir(path, 0777) == 0 ? 0 : errno; }
int gbt_os_remove_folder(const char *path) { return rmdir(path) == 0 ? 0 : errno; }

int gbt_os_list(const char *path, int (*fn)(void *arg, const char *name), void *arg) {
  DIR *folder = opendir(path);
  int stop = 0;
  if (folder == NULL) return errno;
  for (const struct dirent *entry; !stop && (entry = readdir(folder)) != NULL;) stop = fn(arg, entry->d_name);
  (void)closedir(folder);
  return 0;
}

size_t gbt_os_folder_bytes(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}
#endif
