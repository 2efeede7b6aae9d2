/* The memory accesses of every kernel, and how often it ran.
 *
 * Launches and blocks are always counted. The rest needs kernels that are compiled with -fsanitize=thread and linked
 * without it, and SIMT_COUNT: then the calls that the compiler puts before every access come here.
 *
 *   access -> in an allocation of the device: bytes, and its sectors of 32 bytes through a cache
 *          -> in the block's shared memory: bytes
 *          -> else (stacks, arguments): nothing
 *
 * The cache has SIMT_CACHE bytes, 16 ways, and drops what was not used for longest. A sector that it lacks is read; one
 * that is written counts when it becomes dirty, since it goes back to memory once for that; what an atomic changes must
 * be read before. The kernel that touches it pays, and for each launch at most once: blocks run one after the other
 * here, while those of a device that need the same sector do so at about the same time, as
 * src/cuda/grow/rows/pieces.cuh sees to. Sectors are numbered by allocation and offset, so that nothing depends on
 * where memory lies. */
#include "internal.h"

#include <map>
#include <string>
#include <vector>

namespace simt {

typedef std::map<std::string, simt_traffic> Kernels; /* by name, in the order of names */
struct Range {
  const char *beg, *end;
};
static Kernels kernels;
static std::vector<Range> watched;
static simt_traffic *current; /* of the kernel that runs */
static uint32_t n_launched;

static std::string plain(const char *name) {
  std::string out;
  for (; *name; name++)
    if (!strchr("() ", *name)) out += *name;
  return out;
}

void traffic_begin(const Launch &l) {
  current = &kernels[plain(l.place.name)];
  current->launches++;
  n_launched++;
  current->blocks += (int64_t)l.grid.x * l.grid.y * l.grid.z;
}
void traffic_end() { current = nullptr; }
void traffic_again() { kernels.clear(); }

} // namespace simt

using namespace simt;

int simt_traffic_of(int which, simt_traffic *out) {
  Kernels::iterator at = kernels.begin();
  for (; which > 0 && at != kernels.end(); which--) ++at;
  if (at == kernels.end()) return 0;
  *out = at->second;
  out->kernel = at->first.c_str();
  return 1;
}

void simt_watch(const void *at, size_t bytes) {
  const char *beg = static_cast<const char *>(at);
  if (at)
    watched.push_back({beg, beg + bytes});
  else
    watched.clear();
}

#if defined(SIMT_COUNT)

namespace simt {

enum { SECTOR = 32, WAYS = 16, NEW_SECTOR = 1, NEW_DIRT = 2 };

struct Way {
  uint64_t sector, used; /* used: 0 when there is none */
  bool dirty;
};
static std::vector<Way> cache;
static uint64_t ticks;

/* The launch that has paid for a sector last, by number of allocation and sector. */
typedef std::vector<std::vector<uint32_t>> Paid;
static Paid paid_read, paid_written;

static bool pays(Paid &paid, uint64_t serial, uint64_t sector) {
  if (paid.size() <= serial) paid.resize(serial + 1);
  std::vector<uint32_t> &of = paid[serial];
  if (of.size() <= sector) of.resize(sector + sector / 2 + 1);
  if (of[sector] == n_launched) return false;
  of[sector] = n_launched;
  return true;
}

static uint64_t sets_of_cache() {
  uint64_t n = settings.cache / (SECTOR * WAYS);
  return n > 0 ? n : 1;
}

/* Whether the sector comes into the cache, and whether it becomes dirty. */
static int touch(uint64_t sector, bool write) {
  uint64_t n = sets_of_cache();
  if (cache.size() != n * WAYS) cache.assign(n * WAYS, Way());
  Way *set = &cache[(sector * 0x9E3779B97F4A7C15ull >> 20) % n * WAYS], *at = set;
  for (int i = 0; i < WAYS; i++) {
    if (set[i].used && set[i].sector == sector) {
      at = &set[i];
      break;
    }
    if (set[i].used < at->used) at = &set[i];
  }
  int found = 0;
  if (!at->used || at->sector != sector) {
    *at = {sector, 0, false};
    found |= NEW_SECTOR;
  }
  if (write && !at->dirty) found |= NEW_DIRT;
  at->dirty |= write;
  at->used = ++ticks;
  return found;
}

static bool is_watched(const void *at) {
  const char *p = static_cast<const char *>(at);
  for (const Range &r : watched)
    if (p >= r.beg && p < r.end) return true;
  return false;
}

enum Kind { READ, WRITE, CHANGE };

static void access(const volatile void *where, size_t bytes, Kind kind) {
  const void *at = const_cast<const void *>(where);
  if (!now || !current) return;
  if (in_shared(at)) {
    current->shared_bytes += (int64_t)bytes;
    return;
  }
  uint64_t offset, serial = device_serial(at, &offset);
  if (serial == 0) return;
  (kind == READ ? current->read : current->written) += (int64_t)bytes;
  for (uint64_t s = offset / SECTOR; s <= (offset + bytes - 1) / SECTOR; s++) {
    int found = touch(serial << 40 | s, kind != READ);
    const int reads = kind != WRITE && (found & NEW_SECTOR) && pays(paid_read, serial, s) ? 1 : 0;
    const int writes = kind != READ && (found & NEW_DIRT) && pays(paid_written, serial, s) ? 1 : 0;
    if (!reads && !writes) continue;
    current->sectors_read += reads;
    current->sectors_written += writes;
    if (!is_watched(at)) continue;
    current->watched_read += reads;
    current->watched_written += writes;
  }
}

static void atomic(const volatile void *where, size_t bytes) {
  const void *at = const_cast<const void *>(where);
  uint64_t offset;
  if (!now || !current) return;
  if (in_shared(at))
    current->shared_adds++;
  else if (device_serial(at, &offset) != 0)
    current->global_adds++;
  access(where, bytes, CHANGE);
}

} // namespace simt

/* ---- what the compiler calls ---- */

#define ACCESS(n)                                                        \
  void __tsan_read##n(void *at) { access(at, n, READ); }                 \
  void __tsan_write##n(void *at) { access(at, n, WRITE); }               \
  void __tsan_unaligned_read##n(const void *at) { access(at, n, READ); } \
  void __tsan_unaligned_write##n(void *at) { access(at, n, WRITE); }     \
  void __tsan_volatile_read##n(void *at) { access(at, n, READ); }        \
  void __tsan_volatile_write##n(void *at) { access(at, n, WRITE); }
#define FETCH(bits, name)                                                                               \
  uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int) { \
    atomic(at, bits / 8);                                                                               \
    return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                                \
  }
#define COMPARE(bits, form)                                                                                \
  int __tsan_atomic##bits##_compare_exchange_##form(volatile uint##bits##_t *at, uint##bits##_t *expected, \
                                                    uint##bits##_t value, int, int) {                      \
    atomic(at, bits / 8);                                                                                  \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }
#define ATOMIC(bits)                                                                                      \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int) {                     \
    access(at, bits / 8, READ);                                                                           \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                       \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int) {              \
    access(at, bits / 8, WRITE);                                                                          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                        \
  }                                                                                                       \
  uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at, uint##bits##_t value, int) { \
    atomic(at, bits / 8);                                                                                 \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                              \
  }                                                                                                       \
  FETCH(bits, fetch_add)                                                                                  \
  FETCH(bits, fetch_sub)                                                                                  \
  FETCH(bits, fetch_and)                                                                                  \
  FETCH(bits, fetch_or)                                                                                   \
  FETCH(bits, fetch_xor)                                                                                  \
  COMPARE(bits, strong)                                                                                   \
  COMPARE(bits, weak)

extern "C" {
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
void __tsan_read_range(void *at, size_t bytes) { access(at, bytes, READ); }
void __tsan_write_range(void *at, size_t bytes) { access(at, bytes, WRITE); }
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}

#endif
