#include "fiber.h"

#include <cstdlib>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(SIMT_ASAN)
extern "C" void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t bytes);
extern "C" void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *bytes);
#endif
#if defined(SIMT_TSAN)
extern "C" void *__tsan_create_fiber(unsigned flags);
extern "C" void *__tsan_get_current_fiber(void);
extern "C" void __tsan_switch_to_fiber(void *fiber, unsigned flags);
extern "C" void __tsan_acquire(void *tag);
extern "C" void __tsan_release(void *tag);
#endif

namespace simt {

enum { STACK = 128 * 1024, PAGE = 4096, STACK_SHIFT = 448, STACK_SHIFTS = 8192 };

static Fiber *left; /* the fiber that ran before the one that runs */

/* ---- switching: x86-64 keeps what the calling convention wants kept; elsewhere, slower, ucontext ---- */

#if defined(__x86_64__)
extern "C" void simt_fiber_switch(void **save, void *to);
asm(".text\n"
    ".hidden simt_fiber_switch\n"
    ".globl simt_fiber_switch\n"
    ".type simt_fiber_switch,@function\n"
    "simt_fiber_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp,(%rdi)\n"
    "  mov %rsi,%rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size simt_fiber_switch,.-simt_fiber_switch\n");

static void prepare(Fiber *f, void (*entry)(), unsigned number) {
  size_t shift = (size_t)number * STACK_SHIFT % STACK_SHIFTS / 16 * 16;
  void **top = reinterpret_cast<void **>(f->stack + f->stack_bytes - shift) - 2; /* aligned as after a call */
  *top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  f->stack_pointer = top;
}
static void swap(Fiber *from, Fiber *to) { simt_fiber_switch(&from->stack_pointer, to->stack_pointer); }
#else
static ucontext_t *context_of(Fiber *f) {
  if (!f->context) f->context = calloc(1, sizeof(ucontext_t));
  return static_cast<ucontext_t *>(f->context);
}
static void prepare(Fiber *f, void (*entry)(), unsigned) {
  ucontext_t *c = context_of(f);
  getcontext(c);
  c->uc_stack.ss_sp = f->stack;
  c->uc_stack.ss_size = f->stack_bytes;
  makecontext(c, entry, 0);
}
static void swap(Fiber *from, Fiber *to) { swapcontext(context_of(from), context_of(to)); }
#endif

void fiber_make(Fiber *f, void (*entry)(), unsigned number) {
  void *at = mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) abort();
  mprotect(at, PAGE, PROT_NONE);
  f->stack = static_cast<char *>(at) + PAGE;
  f->stack_bytes = STACK;
#if defined(SIMT_TSAN)
  f->sanitizer = __tsan_create_fiber(0);
#endif
  prepare(f, entry, number);
}

void fiber_home(Fiber *home) {
  (void)home;
#if defined(SIMT_TSAN)
  home->sanitizer = __tsan_get_current_fiber();
#endif
}

/* The stack that was left is known when the next one is entered. */
static void arrived(void *fake) {
  (void)fake;
#if defined(SIMT_ASAN)
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
  left->stack = static_cast<char *>(const_cast<void *>(bottom));
  left->stack_bytes = bytes;
#endif
}

void fiber_switch(Fiber *from, Fiber *to) {
  left = from;
#if defined(SIMT_ASAN)
  __sanitizer_start_switch_fiber(&from->sanitizer, to->stack, to->stack_bytes);
#endif
#if defined(SIMT_TSAN)
  __tsan_switch_to_fiber(to->sanitizer, 1);
#endif
  swap(from, to);
  arrived(from->sanitizer);
}

void fiber_entered() { arrived(nullptr); }

#if defined(SIMT_TSAN)
void release(void *tag) { __tsan_release(tag); }
void acquire(void *tag) { __tsan_acquire(tag); }
#else
void release(void *) {}
void acquire(void *) {}
#endif

} // namespace simt
