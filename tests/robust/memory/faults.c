/* Faults for gbt's shared object inside of R: preloaded, it fails memory and threads that gbt.so asks for, and counts
 * the blocks that gbt.so holds. R's own requests are none of its business: the caller is known by the return address.
 *
 *   LD_PRELOAD=faults.so R ...   then dyn.load("faults.so"), which is the same library, and .C("fault_start", ...)
 *
 * glibc only, as its malloc has another name as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t bytes);
extern void __libc_free(void *block);

enum { NEVER = 0, ONCE, TWICE, FROM_THEN_ON };

static uintptr_t code_beg, code_end; /* of gbt.so */
static _Atomic int64_t n_calls, n_failed, n_live, n_threads;
static int64_t fail_at, fail_thread;
static int how;

static int find_code(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (slash == NULL || strcmp(slash, "/gbt.so") != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    code_beg = info->dlpi_addr + part->p_vaddr;
    code_end = code_beg + part->p_memsz;
  }
  return 1;
}

static int is_gbt(const void *caller) { return (uintptr_t)caller - code_beg < code_end - code_beg; }

/* Whether this request fails. */
static int strikes(void) {
  int64_t n = atomic_fetch_add(&n_calls, 1) + 1;
  int hit = how != NEVER && n >= fail_at && (how == FROM_THEN_ON || n < fail_at + how);
  if (hit) {
    atomic_fetch_add(&n_failed, 1);
    errno = ENOMEM;
  }
  return hit;
}

static void *counted(void *block) {
  if (block != NULL) atomic_fetch_add(&n_live, 1);
  return block;
}

void *malloc(size_t bytes) {
  if (!is_gbt(__builtin_return_address(0))) return __libc_malloc(bytes);
  return strikes() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t size) {
  if (!is_gbt(__builtin_return_address(0))) return __libc_calloc(n, size);
  return strikes() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *block, size_t bytes) {
  if (!is_gbt(__builtin_return_address(0))) return __libc_realloc(block, bytes);
  if (strikes()) return NULL;
  return block == NULL ? counted(__libc_realloc(NULL, bytes)) : __libc_realloc(block, bytes);
}

void free(void *block) {
  if (block != NULL && is_gbt(__builtin_return_address(0))) atomic_fetch_sub(&n_live, 1);
  __libc_free(block);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (real == NULL) {
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
  }
  if (is_gbt(__builtin_return_address(0))) {
    int64_t n = atomic_fetch_add(&n_threads, 1) + 1;
    if (fail_thread > 0 && n >= fail_thread) return EAGAIN;
  }
  return real(thread, attr, run, arg);
}

/* ---- for .C() ---- */

/* Counts anew, and fails request number *at in the way *in: 0 not, 1 that one, 2 the one after it as well, 3 all that
 * follow. Threads fail from number *thread on; 0: none. */
void fault_start(double *at, int *in, double *thread) {
  if (code_end == 0) dl_iterate_phdr(find_code, NULL);
  fail_at = (int64_t)*at;
  how = *in;
  fail_thread = (int64_t)*thread;
  n_calls = n_failed = n_threads = 0;
}

/* Ends the faults. calls, failed, live, threads; and whether gbt.so was found. */
void fault_stop(double *out) {
  how = NEVER;
  fail_thread = 0;
  out[0] = (double)n_calls;
  out[1] = (double)n_failed;
  out[2] = (double)n_live;
  out[3] = (double)n_threads;
  out[4] = code_end != 0;
}
