/* See io_fault.h. What the engine calls of the system (base/os_file_*.c) is this instead: by the linker's --wrap, on
 * Windows because the pointers that stand for functions of its libraries are defined here. */
#define _GNU_SOURCE
#include "io_fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "port.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

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
  if (kind == IO_LATE) port_sleep_ns(2000000);
  return kind;
}

static size_t half_of(size_t n) { return n > 1 ? n / 2 : n; }

#ifdef _WIN32

/* Nothing here is interrupted by signals, so IO_AGAIN is as the system does it. */
static BOOL fails(DWORD code) {
  SetLastError(code);
  return FALSE;
}

typedef BOOL(WINAPI *read_fn)(HANDLE, void *, DWORD, DWORD *, OVERLAPPED *);
typedef BOOL(WINAPI *write_fn)(HANDLE, const void *, DWORD, DWORD *, OVERLAPPED *);
typedef BOOL(WINAPI *flush_fn)(HANDLE);

static void *real(const char *name) { return (void *)(intptr_t)GetProcAddress(GetModuleHandleA("kernel32"), name); }

static BOOL WINAPI faulty_read(HANDLE file, void *to, DWORD n, DWORD *done, OVERLAPPED *where) {
  const read_fn own = (read_fn)(intptr_t)real("ReadFile");
  const io_kind kind = strike();
  if (kind == IO_ERROR || kind == IO_FULL) return fails(ERROR_CRC);
  if (kind == IO_ENDS) return fails(ERROR_HANDLE_EOF);
  const BOOL ok = own(file, to, kind == IO_SHORT ? (DWORD)half_of(n) : n, done, where);
  if (kind == IO_FLIP && ok && *done > 0) ((uint8_t *)to)[*done - 1] ^= 1;
  return ok;
}

static BOOL WINAPI faulty_write(HANDLE file, const void *from, DWORD n, DWORD *done, OVERLAPPED *where) {
  const write_fn own = (write_fn)(intptr_t)real("WriteFile");
  const io_kind kind = strike();
  if (kind == IO_ERROR) return fails(ERROR_CRC);
  if (kind == IO_FULL || kind == IO_ENDS) return fails(ERROR_DISK_FULL);
  return own(file, from, kind == IO_SHORT ? (DWORD)half_of(n) : n, done, where);
}

static BOOL WINAPI faulty_flush(HANDLE file) {
  const flush_fn own = (flush_fn)(intptr_t)real("FlushFileBuffers");
  const io_kind kind = strike();
  if (kind == IO_ERROR || kind == IO_FULL) return fails(kind == IO_FULL ? ERROR_DISK_FULL : ERROR_CRC);
  return own(file);
}

extern const read_fn __imp_ReadFile;
extern const write_fn __imp_WriteFile;
extern const flush_fn __imp_FlushFileBuffers;
const read_fn __imp_ReadFile = faulty_read;
const write_fn __imp_WriteFile = faulty_write;
const flush_fn __imp_FlushFileBuffers = faulty_flush;

#else

/* The names behind 64-bit offsets. */
#ifdef __GLIBC__
#define WRAPPED(name) __wrap_##name##64
#define REAL(name) __real_##name##64
#else
#define WRAPPED(name) __wrap_##name
#define REAL(name) __real_##name
#endif

static ssize_t fails(int code) {
  errno = code;
  return -1;
}

ssize_t REAL(pread)(int fd, void *to, size_t n, off_t at);
ssize_t WRAPPED(pread)(int fd, void *to, size_t n, off_t at);
ssize_t WRAPPED(pread)(int fd, void *to, size_t n, off_t at) {
  switch (strike()) {
  case IO_ERROR:
  case IO_FULL:
    return fails(EIO);
  case IO_AGAIN:
    return fails(EINTR);
  case IO_ENDS:
    return 0;
  case IO_SHORT:
    return REAL(pread)(fd, to, half_of(n), at);
  case IO_FLIP: {
    const ssize_t done = REAL(pread)(fd, to, n, at);
    if (done > 0) ((uint8_t *)to)[done - 1] ^= 1;
    return done;
  }
  default:
    return REAL(pread)(fd, to, n, at);
  }
}

ssize_t REAL(pwrite)(int fd, const void *from, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *from, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *from, size_t n, off_t at) {
  switch (strike()) {
  case IO_ERROR:
    return fails(EIO);
  case IO_FULL:
  case IO_ENDS:
    return fails(ENOSPC);
  case IO_AGAIN:
    return fails(EINTR);
  case IO_SHORT:
    return REAL(pwrite)(fd, from, half_of(n), at);
  default:
    return REAL(pwrite)(fd, from, n, at);
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
  case IO_AGAIN:
    return (int)fails(EINTR);
  default:
    return __real_fsync(fd);
  }
}

#endif
