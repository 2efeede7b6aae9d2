/* Memory of the device and page-locked memory of the host, and copies.
 *
 * All comes filled with junk. Every allocation is known, so a copy is checked against it. Behind and before device
 * memory lie guards that are looked at after every kernel; in builds with the address sanitizer its own guards lie
 * there, which see reads, too, and at once. */
#include "internal.h"

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace simt {

#if defined(SIMT_ASAN)
enum { GUARD = 0 };
#else
enum { GUARD = 64 };
#endif
enum { ALIGNMENT = 256, GUARD_BYTE = 0xC3 };

struct Allocation {
  size_t bytes;
  int device;    /* -1: the host's */
  bool borrowed; /* registered, not allocated */
  void *raw;
  Place place;
  uint64_t serial; /* counts allocations */
};
static std::map<const char *, Allocation> allocations;
static size_t in_use[16];
static uint64_t n_serial;

static const Allocation *find(const void *at, const char **beg) {
  const char *p = static_cast<const char *>(at);
  auto i = allocations.upper_bound(p);
  if (i == allocations.begin()) return nullptr;
  --i;
  if (p >= i->first + i->second.bytes) return nullptr;
  *beg = i->first;
  return &i->second;
}
static bool on_device(const void *at) {
  const char *beg;
  const Allocation *a = find(at, &beg);
  return a && a->device >= 0;
}
static bool page_locked(const void *at) {
  const char *beg;
  const Allocation *a = find(at, &beg);
  return a && a->device < 0;
}

uint64_t device_serial(const void *at, uint64_t *offset) {
  static const char *beg, *end;
  static uint64_t serial, known; /* of n_serial and how many there were, when the last answer was found */
  const char *p = static_cast<const char *>(at);
  const uint64_t now_there = n_serial * 4096 + allocations.size();
  if (p < beg || p >= end || known != now_there) {
    const Allocation *a = find(at, &beg);
    end = a ? beg + a->bytes : beg;
    if (!a || a->device < 0) return end = beg, 0;
    serial = a->serial;
    known = now_there;
  }
  *offset = (uint64_t)(p - beg);
  return serial;
}

/* The range lies in one allocation of the device. */
static void check_range(const void *at, size_t bytes, const char *what, const char *file, int line) {
  const char *beg;
  const Allocation *a = find(at, &beg);
  if (!a || a->device < 0) die(what, file, line);
  size_t offset = (size_t)(static_cast<const char *>(at) - beg);
  if (bytes <= a->bytes - offset) return;
  fprintf(stderr, "simt: %zu bytes at byte %zu of an allocation of %zu bytes (%s:%d)\n", bytes, offset, a->bytes,
          a->place.file, a->place.line);
  die("a copy or clearing reaches beyond its allocation", file, line);
}

/* A thread that forgets to choose its device, or takes the memory of another one. Argument by argument: between them
 * lies what was on the stack, which can look like an address. */
void check_argument(const Place &kernel, const Argument &argument) {
  const char *beg, *word = static_cast<const char *>(argument.at);
  if (settings.devices < 2) return;
  for (size_t i = 0; i + sizeof(void *) <= argument.bytes; i += sizeof(void *)) {
    const void *at;
    memcpy(&at, word + i, sizeof at);
    const Allocation *a = find(at, &beg);
    if (!a || a->device < 0 || a->device == current_device()) continue;
    fprintf(stderr, "simt: byte %zu of an argument of kernel %s on device %d points to memory of device %d (%s:%d)\n", i,
            kernel.name, current_device(), a->device, a->place.file, a->place.line);
    die("a kernel is given the memory of another device", kernel.file, kernel.line);
  }
}

/* ---- allocations ---- */

static char *allocate(size_t bytes, int device, const char *file, int line) {
  void *raw = nullptr;
  size_t guard = device >= 0 ? GUARD : 0, lead = guard ? ALIGNMENT : 0;
  if (posix_memalign(&raw, ALIGNMENT, lead + bytes + guard) != 0) return nullptr;
  char *at = static_cast<char *>(raw) + lead;
  memset(at, settings.junk, bytes);
  memset(at - guard, GUARD_BYTE, guard);
  memset(at + bytes, GUARD_BYTE, guard);
  allocations[at] = {bytes, device, false, raw, {"", file, line}, ++n_serial};
  counts.allocs++;
  return at;
}

static void check_guard(const char *at, const Allocation &a, const char *kernel) {
  for (int i = 0; i < GUARD; i++) {
    if ((unsigned char)at[-1 - i] == GUARD_BYTE && (unsigned char)at[a.bytes + (size_t)i] == GUARD_BYTE) continue;
    fprintf(stderr, "simt: kernel %s wrote beside an allocation of %zu bytes\n", kernel, a.bytes);
    die("a kernel wrote beside this allocation", a.place.file, a.place.line);
  }
}

void check_guards(const Place &kernel) {
  if (GUARD == 0) return;
  for (const auto &each : allocations)
    if (each.second.device >= 0) check_guard(each.first, each.second, kernel.name);
}

cudaError_t device_alloc(void **out, size_t bytes, const char *file, int line) {
  SIMT_ENTER(ALLOC);
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  int device = current_device();
  if (bytes > settings.memory || in_use[device] > settings.memory - bytes) return failed(cudaErrorMemoryAllocation);
  *out = allocate(bytes, device, file, line);
  if (!*out) return failed(cudaErrorMemoryAllocation);
  in_use[device] += bytes;
  return cudaSuccess;
}

cudaError_t host_alloc(void **out, size_t bytes, const char *file, int line) {
  SIMT_ENTER(ALLOC);
  *out = allocate(bytes > 0 ? bytes : 1, -1, file, line);
  return *out ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

/* Given back even when the call must fail: a lost device has lost its memory, too. */
static void give_back(void *at, bool device, const char *file, int line) {
  auto found = allocations.find(static_cast<char *>(at));
  if (found == allocations.end() || (found->second.device >= 0) != device || found->second.borrowed)
    die("freed, but not what this call frees, or twice", file, line);
  const Allocation &a = found->second;
  if (device) {
    if (GUARD > 0) check_guard(found->first, a, "(before this was freed)");
    in_use[a.device] -= a.bytes;
  }
  free(a.raw);
  allocations.erase(found);
  counts.frees++;
}

int64_t live_blocks() { return (int64_t)allocations.size(); }

/* ---- copies ---- */

struct Copy {
  char *to;
  const char *from;
  size_t to_pitch, from_pitch, width, height;
  bool to_device, from_device, by_rows;
  const char *file;
  int line;
};

static size_t extent(size_t pitch, const Copy &c) { return pitch * (c.height - 1) + c.width; }

/* Dies where the pointers do not fit the direction or the allocations. */
static void check_copy(Copy *c, cudaMemcpyKind kind) {
  c->to_device = on_device(c->to);
  c->from_device = on_device(c->from);
  bool want_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool want_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (c->to_device != want_to || c->from_device != want_from))
    die("a copy whose pointers do not fit its direction", c->file, c->line);
  if (c->width > c->to_pitch || c->width > c->from_pitch) die("a copy wider than its pitch", c->file, c->line);
  size_t to = extent(c->to_pitch, *c), from = extent(c->from_pitch, *c);
  if (c->to_device) check_range(c->to, to, "a copy to memory that is not the device's", c->file, c->line);
  if (c->from_device) check_range(c->from, from, "a copy from memory that is not the device's", c->file, c->line);
  if (c->to < c->from + from && c->from < c->to + to) die("a copy onto itself", c->file, c->line);
}

static void run_copy(const Copy &c) {
  if (c.to_device) check_range(c.to, extent(c.to_pitch, c), "a copy to memory that was freed before", c.file, c.line);
  if (c.from_device)
    check_range(c.from, extent(c.from_pitch, c), "a copy from memory that was freed before", c.file, c.line);
  if (c.to_device != c.from_device) (c.to_device ? counts.up_bytes : counts.down_bytes) += (int64_t)(c.width * c.height);
  for (size_t i = 0; i < c.height; i++) memcpy(c.to + i * c.to_pitch, c.from + i * c.from_pitch, c.width);
}

static bool from_pages(const Copy &c) { return !c.from_device && !page_locked(c.from); }

/* From memory that is not page-locked: what is there is taken now. */
static std::function<void()> staged_copy(const Copy &c) {
  auto staged = std::make_shared<std::vector<char>>(c.width * c.height);
  for (size_t i = 0; i < c.height; i++) memcpy(staged->data() + i * c.width, c.from + i * c.from_pitch, c.width);
  return [c, staged] {
    Copy from = c;
    from.from = staged->data();
    from.from_pitch = c.width;
    run_copy(from);
  };
}

/* Copies from and to memory that is not page-locked go through a buffer of the driver's: from the host the data are
 * taken at once, and to the host the call waits. */
static void submit_copy(const Copy &c, cudaStream_t stream) {
  counts.copies++;
  bool to_pages = !c.to_device && !page_locked(c.to);
  if (captures(stream) || (!from_pages(c) && !to_pages)) {
    submit(stream, [c] { run_copy(c); });
  } else if (to_pages) {
    counts.waits++;
    finish(stream);
    run_copy(c);
  } else {
    submit(stream, staged_copy(c));
  }
}

static Copy made_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      const char *file, int line) {
  return {static_cast<char *>(to),
          static_cast<const char *>(from),
          to_pitch,
          from_pitch,
          width,
          height,
          false,
          false,
          false,
          file,
          line};
}

static Copy made_rows(Copy c) {
  c.by_rows = true;
  return c;
}

/* Rows too far apart are refused, however few they are. */
static bool too_far(const Copy &c) {
  return c.by_rows && (c.to_pitch > settings.pitch || c.from_pitch > settings.pitch);
}

/* In the default stream. To the device from memory that is not page-locked, and within the device, CUDA's call may
 * return before the data are there; here they never are, until a thread waits for the default stream or uses it, or a
 * stream that waits for it: who reads them in a stream made as non-blocking reads what stood there before. */
static cudaError_t copy_now(Copy c, cudaMemcpyKind kind) {
  SIMT_ENTER(WAIT);
  if (disturbs_capture(nullptr)) return failed(cudaErrorStreamCaptureImplicit);
  if (too_far(c)) return failed(cudaErrorInvalidPitchValue);
  if (c.width == 0 || c.height == 0) return cudaSuccess;
  check_copy(&c, kind);
  finish(nullptr);
  counts.copies++;
  if (c.to_device && (c.from_device || from_pages(c)))
    submit_late(c.from_device ? [c] { run_copy(c); } : staged_copy(c));
  else
    run_copy(c);
  return cudaSuccess;
}

/* CUDA would carry it out; no part of gbt wants that. */
static void check_device(const void *at, cudaStream_t stream, const Copy &c) {
  const char *beg;
  if (find(at, &beg)->device != device_of(stream)) die("a copy in the stream of another device", c.file, c.line);
}

static cudaError_t copy_later(Copy c, cudaMemcpyKind kind, cudaStream_t stream) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (disturbs_capture(stream)) return failed(cudaErrorStreamCaptureImplicit);
  if (too_far(c)) return failed(cudaErrorInvalidPitchValue);
  if (c.width == 0 || c.height == 0) return cudaSuccess;
  check_copy(&c, kind);
  if (c.to_device) check_device(c.to, stream, c);
  if (c.from_device) check_device(c.from, stream, c);
  submit_copy(c, stream);
  return cudaSuccess;
}

} // namespace simt

using namespace simt;

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
  SIMT_ENTER(WORK);
  *total = settings.memory;
  size_t used = in_use[current_device()];
  *free_bytes = used < settings.memory ? settings.memory - used : 0;
  return cudaSuccess;
}

cudaError_t cudaFree(void *at, const char *file, int line) {
  Call call(FREE);
  if (!at || call.code == cudaErrorStreamCaptureUnsupported) return failed(call.code);
  if (call.code == cudaSuccess) finish_all();
  give_back(at, true, file, line);
  return failed(call.code);
}

cudaError_t cudaFreeHost(void *at, const char *file, int line) {
  Call call(FREE);
  if (!at || call.code == cudaErrorStreamCaptureUnsupported) return failed(call.code);
  if (call.code == cudaSuccess) finish_all();
  give_back(at, false, file, line);
  return failed(call.code);
}

cudaError_t cudaHostRegister(void *at, size_t bytes, unsigned) {
  SIMT_ENTER(ALLOC);
  if (!at || bytes == 0) return failed(cudaErrorInvalidValue);
  const char *beg;
  auto next = allocations.upper_bound(static_cast<char *>(at));
  if (find(at, &beg) || (next != allocations.end() && next->first < static_cast<char *>(at) + bytes))
    return failed(cudaErrorHostMemoryAlreadyRegistered);
  allocations[static_cast<char *>(at)] = {bytes, -1, true, nullptr, {"", __FILE__, __LINE__}, 0};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *at) {
  SIMT_ENTER(FREE);
  auto found = allocations.find(static_cast<char *>(at));
  if (found == allocations.end() || !found->second.borrowed) return failed(cudaErrorHostMemoryNotRegistered);
  finish_all();
  allocations.erase(found);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, const char *file, int line) {
  return copy_now(made_copy(to, bytes, from, bytes, bytes, 1, file, line), kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                            const char *file, int line) {
  return copy_later(made_copy(to, bytes, from, bytes, bytes, 1, file, line), kind, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, const char *file, int line) {
  return copy_now(made_rows(made_copy(to, to_pitch, from, from_pitch, width, height, file, line)), kind);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream, const char *file, int line) {
  return copy_later(made_rows(made_copy(to, to_pitch, from, from_pitch, width, height, file, line)), kind, stream);
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream, const char *file, int line) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (disturbs_capture(stream)) return failed(cudaErrorStreamCaptureImplicit);
  if (bytes == 0) return cudaSuccess;
  check_range(to, bytes, "cleared, but not the device's memory", file, line);
  if (device_of(stream) != current_device()) return failed(cudaErrorInvalidResourceHandle);
  counts.sets++;
  submit(stream, [=] {
    check_range(to, bytes, "cleared, but it was freed before", file, line);
    memset(to, byte, bytes);
  });
  return cudaSuccess;
}
/* Does not wait for the device, as in CUDA. */
cudaError_t cudaMemset(void *to, int byte, size_t bytes, const char *file, int line) {
  return cudaMemsetAsync(to, byte, bytes, nullptr, file, line);
}
