/* The radix sort against a stable merge of the library's qsort, serial and parallel. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/base/clock.h"
#include "../../src/gbt/base/sort.h"

typedef struct item {
  uint64_t key;
  uint32_t val;
} item;

static int by_key_and_place(const void *a, const void *b) {
  const item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->val < y->val ? -1 : x->val > y->val;
}

/* Keys as they come up: random, few distinct, whole numbers as doubles, doubles, sorted, reversed, all equal, two far
 * bits, sorted but for the first pair, sorted within the blocks of the parallel sort, a single digit. */
enum { N_KINDS = 11, BLOCK = 131072 };

static uint64_t make_key(test_rng *rng, int kind, size_t i, size_t n) {
  switch (kind) {
  case 0:
    return test_u(rng);
  case 1:
    return test_u(rng) % 5 * 0x123456789abcdu;
  case 2:
    return gbt_order_key((double)test_below(rng, 1000));
  case 3:
    return gbt_order_key(test_bell(rng));
  case 4:
    return i * 3;
  case 5:
    return n - i;
  case 6:
    return 42;
  case 7:
    return test_u(rng) & 0x8000000000000001u;
  case 8:
    return i < 2 ? 1 - i : i;
  case 9:
    return i % BLOCK;
  default:
    return i * 7919 % 1024;
  }
}

typedef struct arrays {
  size_t n;
  uint64_t *keys, *start, *tmp_keys;
  uint32_t *vals, *tmp_vals;
  item *want;
} arrays;

static arrays make_arrays(test_rng *rng, int kind, size_t n) {
  arrays a = {.n = n};
  a.keys = test_alloc(n * sizeof *a.keys);
  a.start = test_alloc(n * sizeof *a.start);
  a.tmp_keys = test_alloc(n * sizeof *a.tmp_keys);
  a.vals = test_alloc(n * sizeof *a.vals);
  a.tmp_vals = test_alloc(n * sizeof *a.tmp_vals);
  a.want = test_alloc(n * sizeof *a.want);
  for (size_t i = 0; i < n; i++) {
    a.start[i] = make_key(rng, kind, i, n);
    a.want[i].key = a.start[i];
    a.want[i].val = (uint32_t)i;
  }
  qsort(a.want, n, sizeof *a.want, by_key_and_place);
  return a;
}

static void reset(arrays *a) {
  for (size_t i = 0; i < a->n; i++) a->keys[i] = a->start[i], a->vals[i] = (uint32_t)i;
}

static void free_arrays(arrays *a) {
  free(a->keys);
  free(a->start);
  free(a->tmp_keys);
  free(a->vals);
  free(a->tmp_vals);
  free(a->want);
}

static int64_t wrong_places(const arrays *a, int with_vals) {
  int64_t wrong = 0;
  for (size_t i = 0; i < a->n; i++)
    wrong += a->keys[i] != a->want[i].key || (with_vals && a->vals[i] != a->want[i].val);
  return wrong;
}

static void serial_sort_is_stable(void) {
  static const size_t sizes[] = {0, 1, 2, 47, 48, 49, 255, 1000, 4096, 4097, 30000};
  test_rng rng = {41};
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      arrays a = make_arrays(&rng, kind, sizes[s]);
      reset(&a);
      gbt_sort_u64(a.keys, a.vals, a.n, a.tmp_keys, a.tmp_vals);
      CHECK_EQ_I64(wrong_places(&a, 1), 0);
      reset(&a);
      gbt_sort_u64(a.keys, NULL, a.n, a.tmp_keys, NULL);
      CHECK_EQ_I64(wrong_places(&a, 0), 0);
      free_arrays(&a);
    }
  }
}

static void parallel_sort_is_the_same(void) {
  static const size_t sizes[] = {100, BLOCK, BLOCK + 1, 2 * BLOCK + 30000};
  static const int threads[] = {1, 2, 3, 8};
  test_rng rng = {42};
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int s = 0; s < 4; s++) {
      if (kind > 0 && s < (kind < 8 ? 2 : 3)) continue;
      if (kind > 0 && kind < 8 && s > 2) continue;
      arrays a = make_arrays(&rng, kind, sizes[s]);
      for (int t = test_few() ? 2 : 0; t < 4; t++) {
        gbt_ctx ctx = test_ctx(NULL, threads[t]);
        reset(&a);
        CHECK_OK(gbt_sort_u64_parallel(&ctx, a.keys, a.vals, a.n, a.tmp_keys, a.tmp_vals, test_err));
        CHECK_EQ_I64(wrong_places(&a, 1), 0);
        reset(&a);
        CHECK_OK(gbt_sort_u64_parallel(&ctx, a.keys, NULL, a.n, a.tmp_keys, NULL, test_err));
        CHECK_EQ_I64(wrong_places(&a, 0), 0);
        gbt_ctx_close(&ctx);
      }
      free_arrays(&a);
    }
  }
}

static gbt_status sort_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  arrays *a = arg;
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  reset(a);
  if (status == GBT_OK) status = gbt_sort_u64_parallel(&ctx, a->keys, a->vals, a->n, a->tmp_keys, a->tmp_vals, err);
  if (status == GBT_OK) CHECK_EQ_I64(wrong_places(a, 1), 0);
  gbt_ctx_close(&ctx);
  return status;
}

static int stop_at_once(void *user) {
  ++*(int *)user;
  return 1;
}

static void sort_fails_and_stops_cleanly(void) {
  test_rng rng = {43};
  arrays a = make_arrays(&rng, 0, 300000);
  CHECK(fault_sweep(sort_op, &a) >= 3);
  for (int delay = 0; delay < 12; delay++) { /* the clock decides where it is asked */
    fault f;
    fault_start(&f, 0, 0);
    int asked = 0;
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, stop_at_once, &asked, test_err));
    reset(&a);
    ctx.next_poll_ns = delay == 0 ? 0 : gbt_clock_ns() + 500000 * delay;
    gbt_status status = gbt_sort_u64_parallel(&ctx, a.keys, a.vals, a.n, a.tmp_keys, a.tmp_vals, NULL);
    CHECK_EQ_I64(status, asked ? GBT_CANCELLED : GBT_OK);
    CHECK(asked <= 1 && (delay > 0 || asked == 1));
    if (!asked) CHECK_EQ_I64(wrong_places(&a, 1), 0);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  free_arrays(&a);
}

void suite_sort(void) {
  RUN(serial_sort_is_stable);
  RUN(parallel_sort_is_the_same);
  RUN(sort_fails_and_stops_cleanly);
}
