/* The base layer. */
#include "fault.h"
#include "test.h"

static void fault_allocator_counts(void) {
  fault f;
  fault_start(&f, 2, 0);
  gbt_mem mem = fault_mem(&f);
  void *a = mem.alloc(mem.user, 10);
  CHECK(a != NULL);
  CHECK(mem.alloc(mem.user, 10) == NULL);
  void *b = mem.alloc(mem.user, 20);
  CHECK_EQ_I64(f.n_live, 2);
  CHECK_EQ_I64(f.bytes_peak, 30);
  mem.release(mem.user, a);
  mem.release(mem.user, b);
  CHECK_EQ_I64(f.n_live, 0);
}

void suite_base(void) { RUN(fault_allocator_counts); }
