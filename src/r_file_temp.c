/* Temporary files of saves: ".gbt-HASH-PID-TIME.tmp" in the folder of the target, HASH of the target's name. So the
 * name is short, however long the target's is, and never used twice.
 *
 * A file is locked from its making until it has its final name. The system ends a lock with its process, wherever that
 * ran: a file of this name that can be locked has no owner any more. Where there are no locks nothing is removed. */
#include "r_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifndef _WIN32
#include <dirent.h>
#include <sys/file.h>
#endif
#ifndef O_BINARY
#define O_BINARY 0
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

int r_open(const char *path, int flags, mode_t mode) {
  int fd;
  do fd = open(path, flags | O_BINARY | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Bytes of the path before the name. */
static size_t folder_bytes(const char *path) {
  size_t n = strlen(path);
#ifdef _WIN32
  while (n > 0 && path[n - 1] != '/' && path[n - 1] != '\\' && path[n - 1] != ':') n--;
#else
  while (n > 0 && path[n - 1] != '/') n--;
#endif
  return n;
}

/* ".gbt-HASH-": what the temporary names of a target begin with. The hash is FNV-1a. */
static void put_prefix(const char *target, char *out, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (const char *c = target + folder_bytes(target); *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  snprintf(out, size, ".gbt-%016llx-", (unsigned long long)hash);
}

#ifdef LOCK_EX

/* Locks a file that was just made. 0 when another save has found it before it was locked, and removed it. */
static int lock_new(int fd, const char *temp) {
  struct stat info;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return 0;
  return lstat(temp, &info) == 0 || errno != ENOENT;
}

/* A descriptor that keeps the lock when fd is closed. */
static int keep_lock(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

#else

static int lock_new(int fd, const char *temp) { return (void)fd, (void)temp, 1; }
static int keep_lock(int fd) { return (void)fd, -1; }

#endif

int r_temp_open(const char *target, mode_t mode, char *temp, int *lock) {
  size_t at = folder_bytes(target);
  char prefix[32];
  put_prefix(target, prefix, sizeof prefix);
  *lock = -1;
  memcpy(temp, target, at);
  for (int i = 0; i < 100; i++) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temp + at, TEMP_ROOM, "%s%ld-%llx.tmp", prefix, (long)getpid(),
             (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
    int fd = r_open(temp, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return fd;
    if (lock_new(fd, temp)) {
      *lock = keep_lock(fd);
      return fd;
    }
    close(fd);
  }
  errno = EEXIST;
  return -1;
}

#ifdef LOCK_EX

static void remove_if_unlocked(const char *path) {
  struct stat info;
  int fd = r_open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  if (fd < 0) return;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path);
  close(fd);
}

static int is_temp_name(const char *name, const char *prefix) {
  size_t n = strlen(name);
  return strncmp(name, prefix, strlen(prefix)) == 0 && n > 4 && n < TEMP_ROOM && strcmp(name + n - 4, ".tmp") == 0;
}

void r_temp_remove_stale(const char *target) {
  size_t at = folder_bytes(target);
  char path[PATH_SIZE + TEMP_ROOM], prefix[32];
  put_prefix(target, prefix, sizeof prefix);
  memcpy(path, target, at);
  strcpy(path + at, at == 0 ? "." : "");
  DIR *folder = opendir(path);
  if (folder == NULL) return;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (!is_temp_name(entry->d_name, prefix)) continue;
    strcpy(path + at, entry->d_name);
    remove_if_unlocked(path);
  }
  closedir(folder);
}

#else

void r_temp_remove_stale(const char *target) { (void)target; }

#endif
