/* System calls on the files of one folder that fail when they are told to. Loaded before the C library (LD_PRELOAD) and
 * steered from R by .C():
 *
 *   fault_folder   which folder; files elsewhere are left alone
 *   fault_arm      the n-th call of a function fails with an errno; with 0 pread() and pwrite() do half of their work
 *   fault_state    which of those that were armed have failed, and how many descriptors of the folder are open
 *
 * A close() that fails has closed, as on Linux. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ARMED = 2, MOST_FDS = 1024 };

static char folder[4096];
static unsigned char watched[MOST_FDS];
static struct {
  char call[16];
  int nth, code, seen, fired;
} armed[MOST_ARMED];

void fault_folder(char **path) { strncpy(folder, path[0], sizeof folder - 1); }

void fault_arm(int *which, char **call, int *nth, int *code) {
  memset(&armed[*which], 0, sizeof armed[*which]);
  strncpy(armed[*which].call, call[0], sizeof armed[*which].call - 1);
  armed[*which].nth = *nth;
  armed[*which].code = *code;
}

void fault_state(int *fired, int *n_open) {
  for (int i = 0; i < MOST_ARMED; i++) fired[i] = armed[i].fired;
  *n_open = 0;
  for (int i = 0; i < MOST_FDS; i++) *n_open += watched[i];
}

static int in_folder(const char *path) { return folder[0] != '\0' && strncmp(path, folder, strlen(folder)) == 0; }
static int is_watched(int fd) { return fd >= 0 && fd < MOST_FDS && watched[fd]; }
static int watch(int fd) {
  if (fd >= 0 && fd < MOST_FDS) watched[fd] = 1;
  return fd;
}

/* Whether this call of a function, about the folder, is one that fails; half: it is to do half. */
static int fails(const char *call, int about, int *half) {
  int out = 0;
  for (int i = 0; about && i < MOST_ARMED; i++) {
    if (strcmp(armed[i].call, call) != 0 || ++armed[i].seen != armed[i].nth) continue;
    armed[i].fired = 1;
    if (armed[i].code == 0 && half != NULL) {
      *half = 1;
    } else {
      errno = armed[i].code;
      out = 1;
    }
  }
  return out;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* What gbt calls has 64-bit offsets; its call is named without. */
int open64(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  int about = in_folder(path);
  if (fails("open", about, NULL)) return -1;
  int fd = REAL(open64)(path, flags, mode);
  return about ? watch(fd) : fd;
}

int fcntl64(int fd, int command, ...) {
  va_list args;
  va_start(args, command);
  void *arg = va_arg(args, void *);
  va_end(args);
  if (command != F_DUPFD_CLOEXEC || !is_watched(fd)) return REAL(fcntl64)(fd, command, arg);
  return fails("fcntl", 1, NULL) ? -1 : watch(REAL(fcntl64)(fd, command, arg));
}

int close(int fd) {
  int failed = fails("close", is_watched(fd), NULL), code = errno;
  if (is_watched(fd)) watched[fd] = 0;
  int out = REAL(close)(fd);
  if (failed) errno = code;
  return failed ? -1 : out;
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at) {
  int half = 0;
  if (fails("pread", is_watched(fd), &half)) return -1;
  return REAL(pread64)(fd, bytes, half ? (n + 1) / 2 : n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
  int half = 0;
  if (fails("pwrite", is_watched(fd), &half)) return -1;
  return REAL(pwrite64)(fd, bytes, half ? (n + 1) / 2 : n, at);
}

DIR *opendir(const char *path) {
  int about = in_folder(path);
  if (fails("opendir", about, NULL)) return NULL;
  DIR *out = REAL(opendir)(path);
  if (out != NULL && about) watch(dirfd(out));
  return out;
}

int closedir(DIR *dir) {
  if (is_watched(dirfd(dir))) watched[dirfd(dir)] = 0;
  return REAL(closedir)(dir);
}

struct dirent64 *readdir64(DIR *dir) {
  return fails("readdir", is_watched(dirfd(dir)), NULL) ? NULL : REAL(readdir64)(dir);
}
int fsync(int fd) { return fails("fsync", is_watched(fd), NULL) ? -1 : REAL(fsync)(fd); }
int fchmod(int fd, mode_t mode) { return fails("fchmod", is_watched(fd), NULL) ? -1 : REAL(fchmod)(fd, mode); }
int flock(int fd, int how) { return fails("flock", is_watched(fd), NULL) ? -1 : REAL(flock)(fd, how); }
int fstat64(int fd, struct stat64 *to) { return fails("fstat", is_watched(fd), NULL) ? -1 : REAL(fstat64)(fd, to); }
int stat64(const char *path, struct stat64 *to) {
  return fails("stat", in_folder(path), NULL) ? -1 : REAL(stat64)(path, to);
}
int lstat64(const char *path, struct stat64 *to) {
  return fails("lstat", in_folder(path), NULL) ? -1 : REAL(lstat64)(path, to);
}
int unlink(const char *path) { return fails("unlink", in_folder(path), NULL) ? -1 : REAL(unlink)(path); }
int rename(const char *from, const char *to) {
  return fails("rename", in_folder(to), NULL) ? -1 : REAL(rename)(from, to);
}
ssize_t readlink(const char *path, char *to, size_t n) {
  return fails("readlink", in_folder(path), NULL) ? -1 : REAL(readlink)(path, to, n);
}
