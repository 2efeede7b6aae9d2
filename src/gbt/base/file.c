#define _FILE_OFFSET_BITS 64
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE /* flock */
#endif
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "clock.h"

#ifdef _WIN32
#include <direct.h>
#include <io.h>
#include <windows.h>
#else
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#endif
#ifndef O_BINARY
#define O_BINARY 0
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
/* Opening never waits for the other end of a pipe, and never takes a terminal. Windows has no such flags. */
#ifndef O_NONBLOCK
#define O_NONBLOCK 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif
#ifndef O_NOFOLLOW
#define O_NOFOLLOW 0
#endif

enum { MOST_AT_ONCE = 1 << 30 /* bytes of a system call: some systems take no more than 2^31 - 1 */ };

static gbt_status fail_io(gbt_error *err, const char *path, const char *what, int code) {
  char why[160];
#ifdef _WIN32
  const int failed = strerror_s(why, sizeof why, code);
#else
  const int failed = strerror_r(code, why, sizeof why);
#endif
  if (failed) snprintf(why, sizeof why, "error %d", code);
  return gbt_fail_on(err, GBT_E_IO, path, "cannot %s \"%s\": %s", what, path, why);
}

/* A pipe or a device would let a read or a write wait for ever, or do something else than keep bytes. */
static gbt_status check_regular(const gbt_file *file, gbt_error *err) {
  struct stat info;
  if (fstat(file->fd, &info) != 0) return fail_io(err, file->path, "open", errno);
  if ((info.st_mode & S_IFMT) == S_IFREG) return GBT_OK;
  return gbt_fail_on(err, GBT_E_IO, file->path,
                     "\"%s\" is not a file but a folder, a pipe or a device; remove it, or give another place",
                     file->path);
}

static gbt_status open_file(const gbt_mem *mem, const char *path, int flags, const char *what, gbt_file *out,
                            gbt_error *err) {
  const size_t n = strlen(path) + 1;
  memset(out, 0, sizeof *out);
  out->fd = -1;
  out->mem = *mem;
  GBT_TRY(gbt_mem_array(mem, n, 1, &out->path, err));
  memcpy(out->path, path, n);
  do out->fd = open(path, flags | O_BINARY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  while (out->fd < 0 && errno == EINTR);
  const int code = errno;
  const gbt_status status = out->fd < 0 ? fail_io(err, path, what, code) : check_regular(out, err);
  if (status != GBT_OK) gbt_file_close(out);
  return status;
}

gbt_status gbt_file_create(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
  return open_file(mem, path, O_WRONLY | O_CREAT | O_EXCL, "make", out, err);
}

gbt_status gbt_file_open(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
  return open_file(mem, path, O_RDONLY, "open", out, err);
}

int gbt_file_lock(const gbt_file *file) {
#ifdef _WIN32
  (void)file;
  return -1;
#else
  struct stat info;
  int failed;
  do failed = flock(file->fd, LOCK_EX | LOCK_NB);
  while (failed && errno == EINTR);
  if (failed) return errno == EWOULDBLOCK ? 0 : -1;
  return fstat(file->fd, &info) != 0 || info.st_nlink > 0;
#endif
}

#ifndef _WIN32
/* Whether this process has the file for itself now. 0: another process has locked it, or it was renamed or removed
 * after it was opened. */
static int claim(const gbt_file *file) {
  struct stat its, named;
  if (gbt_file_lock(file) == 0) return 0;
  if (fstat(file->fd, &its) != 0 || stat(file->path, &named) != 0) return 0;
  return its.st_dev == named.st_dev && its.st_ino == named.st_ino;
}
#endif

enum { CLAIMS = 16 };

#ifndef _WIN32
/* A file with a second name belongs to another program, and must not be emptied. */
static gbt_status check_one_name(const gbt_file *file, gbt_error *err) {
  struct stat info;
  if (fstat(file->fd, &info) != 0 || info.st_nlink <= 1) return GBT_OK;
  return gbt_fail_on(err, GBT_E_IO, file->path, "\"%s\" has a second name elsewhere (a hard link); remove it",
                     file->path);
}
#endif

gbt_status gbt_file_draft(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
#ifdef _WIN32
  return open_file(mem, path, O_RDWR | O_CREAT | O_TRUNC, "make", out, err);
#else
  for (int i = 0; i < CLAIMS; i++) {
    GBT_TRY(open_file(mem, path, O_RDWR | O_CREAT | O_NOFOLLOW, "make", out, err));
    gbt_status status = check_one_name(out, err);
    if (status != GBT_OK) {
      gbt_file_close(out);
      return status;
    }
    if (claim(out) && ftruncate(out->fd, 0) == 0) return GBT_OK;
    gbt_file_close(out);
  }
  return gbt_fail_on(err, GBT_E_IO, path, "\"%s\" is being written by another process", path);
#endif
}

void gbt_file_close(gbt_file *file) {
  if (file->path == NULL) return;
  if (file->fd >= 0) (void)close(file->fd);
  gbt_mem_free(&file->mem, file->path);
  file->path = NULL;
  file->fd = -1;
}

/* A limit of file sizes (ulimit -f) sends a signal that would end the process. It is kept away and taken back, unless
 * one was waiting before; the write fails and says so. */
static long long write_some(int fd, const void *bytes, size_t n) {
#ifdef _WIN32
  return write(fd, bytes, (unsigned)n);
#else
  sigset_t limit, before, waiting;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  const int was_waiting = sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const long long done = write(fd, bytes, n);
  const int code = errno;
  int taken;
  if (!was_waiting && sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1) sigwait(&limit, &taken);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return done;
#endif
}

gbt_status gbt_file_write(gbt_file *file, const void *bytes, size_t n, gbt_error *err) {
  const char *at = bytes;
  while (n > 0) {
    const long long done = write_some(file->fd, at, n < MOST_AT_ONCE ? n : MOST_AT_ONCE);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail_io(err, file->path, "write to", done < 0 ? errno : ENOSPC);
    at += done;
    n -= (size_t)done;
  }
  return GBT_OK;
}

gbt_status gbt_file_write_at(gbt_file *file, uint64_t at, const void *bytes, size_t n, gbt_error *err) {
#ifdef _WIN32
  const int moved = _lseeki64(file->fd, (long long)at, SEEK_SET) >= 0;
#else
  const int moved = lseek(file->fd, (off_t)at, SEEK_SET) >= 0;
#endif
  gbt_status status = moved ? gbt_file_write(file, bytes, n, err) : fail_io(err, file->path, "write to", errno);
#ifdef _WIN32
  (void)_lseeki64(file->fd, 0, SEEK_END);
#else
  (void)lseek(file->fd, 0, SEEK_END);
#endif
  return status;
}

gbt_status gbt_file_sync(gbt_file *file, gbt_error *err) {
#ifdef _WIN32
  const int code = _commit(file->fd) == 0 ? 0 : errno;
#else
  const int code = fsync(file->fd) == 0 ? 0 : errno;
#endif
  if (code == 0 || code == EINVAL || code == ENOSYS) return GBT_OK; /* some file systems do not support this */
  return fail_io(err, file->path, "write to", code);
}

gbt_status gbt_file_bytes(const gbt_file *file, uint64_t *out, gbt_error *err) {
#ifdef _WIN32
  struct _stati64 info;
  const int failed = _fstati64(file->fd, &info);
#else
  struct stat info;
  const int failed = fstat(file->fd, &info);
#endif
  if (failed) return fail_io(err, file->path, "ask for the size of", errno);
  *out = (uint64_t)info.st_size;
  return GBT_OK;
}

#ifndef _WIN32
/* Any program can set any times: the product may overflow. */
static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }
#endif

gbt_file_stamp gbt_file_stamp_of(const gbt_file *file) {
  gbt_file_stamp stamp = {.settled = 0};
#ifdef _WIN32
  (void)file;
#else
  struct stat info;
  if (fstat(file->fd, &info) != 0) return stamp;
#ifdef __APPLE__
  const struct timespec written = info.st_mtimespec, changed = info.st_ctimespec;
#else
  const struct timespec written = info.st_mtim, changed = info.st_ctim;
#endif
  stamp.bytes = (uint64_t)info.st_size;
  stamp.written = ns_of(written);
  stamp.changed = ns_of(changed);
  stamp.settled = changed.tv_sec < gbt_clock_wall_s() - 1; /* at least a second */
#endif
  return stamp;
}

/* Some bytes from `at` on; how many, or -1. */
static long long read_some(const gbt_file *file, uint64_t at, void *out, size_t n) {
#ifdef _WIN32
  OVERLAPPED where = {0};
  DWORD done = 0;
  where.Offset = (DWORD)at;
  where.OffsetHigh = (DWORD)(at >> 32);
  if (ReadFile((HANDLE)_get_osfhandle(file->fd), out, (DWORD)n, &done, &where)) return done;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = EIO;
  return -1;
#else
  return pread(file->fd, out, n, (off_t)at);
#endif
}

gbt_status gbt_file_read(const gbt_file *file, uint64_t at, void *out, size_t n, gbt_error *err) {
  char *to = out;
  while (n > 0) {
    const long long done = read_some(file, at, to, n < MOST_AT_ONCE ? n : MOST_AT_ONCE);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail_io(err, file->path, "read", errno);
    if (done == 0)
      return gbt_fail_on(err, GBT_E_IO, file->path, "\"%s\" is cut short: it ends at byte %llu", file->path,
                         (unsigned long long)at);
    to += done;
    at += (uint64_t)done;
    n -= (size_t)done;
  }
  return GBT_OK;
}

void gbt_file_read_ahead(const gbt_file *file, uint64_t at, uint64_t n) {
#if defined(POSIX_FADV_WILLNEED)
  (void)posix_fadvise(file->fd, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
#else
  (void)file, (void)at, (void)n;
#endif
}

gbt_status gbt_folder_make(const char *path, int *made, gbt_error *err) {
#ifdef _WIN32
  const int failed = _mkdir(path);
#else
  const int failed = mkdir(path, 0777);
#endif
  *made = !failed;
  if (!failed) return GBT_OK;
  const int code = errno;
  struct stat info;
  if (code == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return GBT_OK;
  return fail_io(err, path, "make the folder", code);
}

gbt_status gbt_folder_list(const char *path, gbt_folder_fn fn, void *arg, gbt_error *err) {
#ifdef _WIN32
  (void)path, (void)fn, (void)arg, (void)err;
  return GBT_OK;
#else
  gbt_status status = GBT_OK;
  DIR *folder = opendir(path);
  if (folder == NULL) return GBT_OK;
  for (const struct dirent *entry = readdir(folder); entry != NULL && status == GBT_OK; entry = readdir(folder))
    status = fn(arg, entry->d_name, err);
  (void)closedir(folder);
  return status;
#endif
}

/* Writes changes in the folder of a file to the disk. */
static void sync_folder(const char *path) {
#ifndef _WIN32
  char folder[4096];
  const char *end = strrchr(path, '/');
  const size_t n = end == NULL ? 0 : (size_t)(end - path);
  if (n >= sizeof folder) return;
  memcpy(folder, n > 0 ? path : end == NULL ? "." : "/", n > 0 ? n : 1);
  folder[n > 0 ? n : 1] = '\0';
  const int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
#else
  (void)path;
#endif
}

int gbt_file_is_there(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

/* A name that is taken is not replaced, where the file system has links; else it was free a moment ago. */
static int give_name(const char *from, const char *to) {
#ifdef _WIN32
  if (MoveFileExA(from, to, MOVEFILE_WRITE_THROUGH)) return 0;
  return GetLastError() == ERROR_ALREADY_EXISTS || GetLastError() == ERROR_FILE_EXISTS ? EEXIST : EACCES;
#else
  if (link(from, to) == 0) {
    (void)unlink(from);
    return 0;
  }
  if (errno == EEXIST) return EEXIST;
  if (gbt_file_is_there(to)) return EEXIST;
  return rename(from, to) == 0 ? 0 : errno;
#endif
}

gbt_status gbt_file_name(const char *from, const char *to, gbt_error *err) {
  const int code = give_name(from, to);
  if (code != 0) return fail_io(err, to, "make", code);
  sync_folder(to);
  return GBT_OK;
}

gbt_status gbt_file_replace(const char *from, const char *to, gbt_error *err) {
#ifdef _WIN32
  const int code = MoveFileExA(from, to, MOVEFILE_WRITE_THROUGH | MOVEFILE_REPLACE_EXISTING) ? 0 : EACCES;
#else
  const int code = rename(from, to) == 0 ? 0 : errno;
#endif
  if (code != 0) return fail_io(err, to, "make", code);
  sync_folder(to);
  return GBT_OK;
}

void gbt_folder_remove(const char *path) {
#ifdef _WIN32
  (void)_rmdir(path);
#else
  (void)rmdir(path);
#endif
}

void gbt_file_remove(const char *path) { (void)unlink(path); }

gbt_status gbt_path_join(const gbt_mem *mem, const char *folder, const char *name, char **out, gbt_error *err) {
  const size_t n = strlen(folder), m = strlen(name);
  GBT_TRY(gbt_mem_array(mem, n + m + 2, 1, out, err));
  memcpy(*out, folder, n);
  (*out)[n] = '/';
  memcpy(*out + n + 1, name, m + 1);
  return GBT_OK;
}
