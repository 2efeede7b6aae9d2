/* See io_fault.h. */
#define _GNU_SOURCE
#include "io_fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

_Atomic int64_t io_calls;

int64_t io_count(void) { return atomic_load(&io_calls); }

static _Atomic int fault_kind;
static _Atomic int64_t fault_at;

void io_fault(io_kind kind, int64_t at) {
  atomic_store(&fault_kind, (int)kind);
  atomic_store(&fault_at, at);
  atomic_store(&io_calls, 0);
}

/* What this call is to be. */
static io_kind strike(void) {
  const int64_t call = atomic_fetch_add(&io_calls, 1) + 1, at = atomic_load(&fault_at);
  const io_kind kind = (io_kind)atomic_load(&fault_kind);
  const int lasts = kind == IO_FULL || kind == IO_SHORT;
  if (kind == IO_FINE || call < at || (call > at && !lasts)) return IO_FINE;
  const struct timespec wait = {0, 2000000};
  if (kind == IO_LATE) nanosleep(&wait, NULL);
  return kind;
}

static ssize_t fails(int code) {
  errno = code;
  return -1;
}

ssize_t __real_pread64(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at) {
  switch (strike()) {
  case IO_ERROR:
  case IO_FULL:
    return fails(EIO);
  case IO_AGAIN:
    return fails(EINTR);
  case IO_ENDS:
    return 0;
  case IO_SHORT:
    return __real_pread64(fd, to, n > 1 ? n / 2 : n, at);
  case IO_FLIP: {
    const ssize_t done = __real_pread64(fd, to, n, at);
    if (done > 0) ((uint8_t *)to)[done - 1] ^= 1;
    return done;
  }
  default:
    return __real_pread64(fd, to, n, at);
  }
}

ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n) {
  switch (strike()) {
  case IO_ERROR:
    return fails(EIO);
  case IO_FULL:
  case IO_ENDS:
    return fails(ENOSPC);
  case IO_AGAIN:
    return fails(EINTR);
  case IO_SHORT:
    return __real_write(fd, from, n > 1 ? n / 2 : n);
  default:
    return __real_write(fd, from, n);
  }
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
  switch (strike()) {
  case IO_ERROR:
    return (int)fails(EIO);
  case IO_FULL:
    return (int)fails(ENOSPC);
  default:
    return __real_fsync(fd);
  }
}
