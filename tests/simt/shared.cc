/* A block's shared memory.
 *
 *   | guard | static array | guard | static array | guard | ...        | dynamic | guard | page that nobody may touch
 *
 * Arrays of fixed size are laid out as the block comes to them; what the launch asked for ends at the page. All is junk
 * when the block begins. Guards are looked at when it ends; the address sanitizer sees at once who touches them. */
#include "internal.h"

#include <sys/mman.h>

#if defined(SIMT_ASAN)
extern "C" void __asan_poison_memory_region(const volatile void *at, size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);
#endif

namespace simt {

enum { ARENA = 320 * 1024, PAGE = 4096, GUARD = 32, GUARD_BYTE = 0xC3, MOST_ARRAYS = 64 };

/* An array as a block has it. */
struct Array {
  const Shared *what;
  char *at;
};

struct Memory {
  char *arena, *dynamic;
  size_t used, static_bytes, dynamic_bytes, limit_bytes;
  Array array[MOST_ARRAYS];
  int n_arrays;
};
static Memory *memory; /* of the thread that runs */

Memory *shared_new() { return new Memory(); }
void shared_enter(Memory *its) { memory = its; }

/* Volatile, so that no compiler makes it a call that the sanitizers intercept. */
void fill(void *at, int byte, size_t bytes) {
  volatile unsigned char *p = static_cast<volatile unsigned char *>(at);
  uint64_t eight = (uint64_t)byte * 0x0101010101010101ull;
  for (; bytes > 0 && reinterpret_cast<uintptr_t>(p) % 8 != 0; bytes--) *p++ = (unsigned char)byte;
  for (; bytes >= 8; bytes -= 8, p += 8) *reinterpret_cast<volatile uint64_t *>(p) = eight;
  for (; bytes > 0; bytes--) *p++ = (unsigned char)byte;
}

static void allow(void *at, size_t bytes) {
  fill(at, JUNK, bytes);
#if defined(SIMT_ASAN)
  __asan_unpoison_memory_region(at, bytes);
#endif
}

static void new_arena(Memory *m) {
#if defined(SIMT_TSAN)
  if (m->arena) munmap(m->arena, ARENA + PAGE); /* what makes it forget who used the last block's */
  m->arena = nullptr;
#endif
  if (!m->arena) {
    void *at = mmap(nullptr, ARENA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) die("no memory for shared memory", __FILE__, __LINE__);
    m->arena = static_cast<char *>(at);
    mprotect(m->arena + ARENA, PAGE, PROT_NONE);
  }
#if defined(SIMT_ASAN)
  __asan_poison_memory_region(m->arena, ARENA);
#endif
}

unsigned char *shared_begin(Memory *m, size_t dynamic, size_t limit) {
  new_arena(m);
  m->n_arrays = 0;
  m->static_bytes = 0;
  m->dynamic_bytes = dynamic;
  m->limit_bytes = limit;
  m->used = GUARD;
  fill(m->arena, GUARD_BYTE, GUARD);
  char *at = m->arena + (ARENA - dynamic) / 16 * 16;
  allow(at, dynamic);
  fill(at + dynamic, GUARD_BYTE, (size_t)(m->arena + ARENA - at) - dynamic);
  fill(at - GUARD, GUARD_BYTE, GUARD);
  m->dynamic = at;
  return reinterpret_cast<unsigned char *>(at);
}

bool in_shared(const void *at) { return memory && at >= memory->arena && at < memory->arena + ARENA; }

static void *remember(Shared *a, char *at) {
  a->serial = block.serial;
  return a->at = at;
}

/* Blocks that are resident at once come here by turns. */
void *shared(Shared *a) {
  if (a->serial == block.serial) return a->at;
  Memory *m = memory;
  for (int i = 0; i < m->n_arrays; i++)
    if (m->array[i].what == a) return remember(a, m->array[i].at);
  if (m->n_arrays == MOST_ARRAYS) die("too many shared arrays", a->place.file, a->place.line);
  char *at = m->arena + m->used;
  allow(at, a->bytes);
  fill(at + a->bytes, GUARD_BYTE, (15 & (0 - a->bytes)) + GUARD);
  m->used += (a->bytes + 15) / 16 * 16 + GUARD;
  m->array[m->n_arrays++] = {a, at};
  m->static_bytes += (a->bytes + 15) / 16 * 16;
  if (m->static_bytes > USUAL_SHARED) die("more than 48 KB of shared arrays", a->place.file, a->place.line);
  if (m->static_bytes + m->dynamic_bytes > m->limit_bytes) die("too much shared memory", a->place.file, a->place.line);
  return remember(a, at);
}

static bool intact(const void *at, size_t bytes) {
  const unsigned char *p = static_cast<const unsigned char *>(at);
  for (size_t i = 0; i < bytes; i++)
    if (p[i] != GUARD_BYTE) return false;
  return true;
}

void shared_end(Memory *m) {
  for (int i = 0; i < m->n_arrays; i++) {
    const Shared *a = m->array[i].what;
    const char *at = m->array[i].at;
    if (intact(at - GUARD, GUARD) && intact(at + a->bytes, (15 & (0 - a->bytes)) + GUARD)) continue;
    die("a thread wrote beside this shared array", a->place.file, a->place.line);
  }
  const char *behind = m->dynamic + m->dynamic_bytes;
  if (!intact(m->dynamic - GUARD, GUARD) || !intact(behind, (size_t)(m->arena + ARENA - behind)))
    die("a thread wrote beside the launch's shared memory", __FILE__, __LINE__);
}

} // namespace simt
