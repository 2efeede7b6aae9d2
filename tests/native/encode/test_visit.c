/* Orders of rows: as a sort of all rows by their definition has them, with every size, mask, group and time. */
#include "../../src/gbt/encode/visit.h"
#include "sweep.h"

enum { SEED = 42, MOST = 3000 };

static uint64_t hash_by(uint64_t a, uint64_t b) {
  const gbt_key32 key = gbt_key(SEED, GBT_FOR_VISIT, a, b);
  return (uint64_t)key.k0 << 32 | key.k1;
}

static uint64_t key_by(const gbt_rows *rows, int64_t row) {
  if (rows->field[GBT_TIME] != NULL) return gbt_order_key(rows->field[GBT_TIME][row]);
  const double *group = rows->field[GBT_GROUP];
  const uint64_t of = group != NULL ? gbt_order_key(group[row]) : (uint64_t)row + 1;
  return gbt_mix64(hash_by(0, 0) ^ of);
}

/* Keys of rows, for qsort. */
typedef struct keyed {
  uint64_t key;
  int64_t row;
} keyed;

static int by_key(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static keyed *sorted(const gbt_rows *rows) {
  keyed *k = test_alloc((size_t)(rows->n + 1) * sizeof *k);
  for (int64_t i = 0; i < rows->n; i++) k[i] = (keyed){key_by(rows, i), i};
  qsort(k, (size_t)rows->n, sizeof *k, by_key);
  return k;
}

static int64_t steps_by_twin(const keyed *k, int64_t n) {
  int64_t steps = 0;
  for (int64_t i = 0; i < n; i++) steps += i == 0 || k[i].key != k[i - 1].key;
  return steps;
}

static void check_blocks(const gbti_visit *visit, const keyed *k, int timed) {
  const int64_t n = visit->n;
  CHECK_EQ_I64(visit->block[0], 0);
  CHECK_EQ_I64(visit->block[GBTI_VISIT_BLOCKS], n);
  int64_t bad = 0;
  for (int64_t b = 0; b < GBTI_VISIT_BLOCKS; b++) {
    const int64_t beg = visit->block[b], end = visit->block[b + 1];
    bad += end < beg;
    if (timed)
      bad += beg > 0 && beg < n && k[beg].key == k[beg - 1].key;
    else
      for (int64_t i = beg; i < end; i++) bad += k[i].key >> 56 != (uint64_t)b;
  }
  CHECK_EQ_I64(bad, 0);
}

static void check_order(const gbti_visit *visit, int timed) {
  int64_t bad = 0;
  for (int32_t v = 0; v < visit->n_variants; v++) {
    uint8_t seen[GBTI_VISIT_BLOCKS] = {0};
    const uint8_t *order = visit->order[v];
    for (int b = 0; b < GBTI_VISIT_BLOCKS; b++) {
      seen[order[b]]++;
      if (b == 0) continue;
      const uint64_t x = timed ? order[b - 1] : hash_by(1 + (uint64_t)v, order[b - 1]);
      const uint64_t y = timed ? order[b] : hash_by(1 + (uint64_t)v, order[b]);
      bad += x > y || (x == y && order[b - 1] > order[b]);
    }
    for (int b = 0; b < GBTI_VISIT_BLOCKS; b++) bad += seen[b] != 1;
  }
  CHECK_EQ_I64(bad, 0);
}

static void check_visit(const gbt_rows *rows, int n_threads, int32_t n_variants) {
  const int timed = rows->field[GBT_TIME] != NULL;
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbti_visit visit;
  keyed *k = sorted(rows);
  int64_t bad = 0;
  if (CHECK_OK(gbti_visit_make(&ctx, rows, SEED, n_variants, &visit, test_err))) {
    CHECK_EQ_I64(visit.n, rows->n);
    CHECK_EQ_I64(visit.n_variants, timed ? 1 : n_variants);
    for (int64_t i = 0; i < rows->n; i++) bad += visit.row[i] != k[i].row || visit.at[k[i].row] != i;
    CHECK_EQ_I64(bad, 0);
    CHECK_EQ_I64(visit.n_steps, steps_by_twin(k, rows->n));
    CHECK_EQ_I64(visit.step == NULL, visit.n_steps == rows->n);
    for (int64_t s = 0; visit.step != NULL && s < visit.n_steps; s++)
      for (int64_t i = visit.step[s]; i < visit.step[s + 1]; i++) bad += k[i].key != k[visit.step[s]].key;
    CHECK(visit.step == NULL || visit.step[visit.n_steps] == rows->n);
    CHECK_EQ_I64(bad, 0);
    check_blocks(&visit, k, timed);
    check_order(&visit, timed);
  }
  gbti_visit_free(&visit);
  free(k);
  gbt_ctx_close(&ctx);
}

static double *numbers(int64_t n, uint64_t seed, int64_t below) {
  test_rng rng = {seed};
  double *x = test_alloc((size_t)(n + 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = (double)test_below(&rng, below) - 2.0;
  if (n > 1) x[0] = -0.0;
  return x;
}

static void by_size(int64_t n) {
  double *few = numbers(n, 1, 7), *many = numbers(n, 2, 2 * n + 1);
  gbt_rows rows = {.n = n};
  check_visit(&rows, 1 + (int)(n % 3) * 2, 1 + (int32_t)(n % 8));
  rows.field[GBT_GROUP] = n % 2 ? few : many;
  check_visit(&rows, 2, 4);
  rows.field[GBT_GROUP] = NULL;
  rows.field[GBT_TIME] = n % 2 ? many : few;
  check_visit(&rows, 5, 3);
  free(few);
  free(many);
}

static void sizes(void) {
  const sweep_range range = {.low = 0, .high = MOST, .dense = 70};
  sweep(by_size, &range);
}

/* So many rows that upper halves of keys meet, and that sorts have several tasks. */
static void many_rows(void) {
  const int64_t n = 300000;
  double *group = numbers(n, 3, 200000), *same = numbers(n, 3, 1);
  gbt_rows rows = {.n = n, .table_before = 5};
  check_visit(&rows, 1, 8);
  check_visit(&rows, 5, 8);
  rows.field[GBT_GROUP] = group;
  check_visit(&rows, 5, 2);
  rows.field[GBT_GROUP] = same;
  check_visit(&rows, 2, 2);
  rows.field[GBT_GROUP] = NULL;
  rows.field[GBT_TIME] = group;
  check_visit(&rows, 2, 1);
  free(group);
  free(same);
}

/* Rows of a mask, and those after other ranks' rows, are taken as if they were a table. */
static void masks(void) {
  enum { N = 667 };
  uint32_t table_row[N];
  for (uint32_t i = 0; i < N; i++) table_row[i] = 3 * i / 2;
  const gbt_rows alone = {.n = N}, masked = {.n = N, .table_row = table_row, .before = 7, .table_before = 20};
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbti_visit a, b;
  CHECK_OK(gbti_visit_make(&ctx, &alone, SEED, 4, &a, test_err));
  CHECK_OK(gbti_visit_make(&ctx, &masked, SEED, 4, &b, test_err));
  CHECK_EQ_BYTES(a.order, b.order, sizeof a.order);
  CHECK_EQ_BYTES(a.row, b.row, N * sizeof *a.row);
  CHECK_EQ_BYTES(a.block, b.block, sizeof a.block);
  gbti_visit_free(&a);
  gbti_visit_free(&b);
  gbt_ctx_close(&ctx);
}

static void refuses_time_with_group(void) {
  const double x[3] = {1, 2, 3};
  gbt_rows rows = {.n = 3};
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbti_visit visit;
  rows.field[GBT_TIME] = rows.field[GBT_GROUP] = x;
  CHECK_FAILS(gbti_visit_make(&ctx, &rows, SEED, 4, &visit, test_err), GBT_E_UNSUPPORTED, "leave one out");
  gbti_visit_free(&visit);
  gbt_ctx_close(&ctx);
}

void suite_visit(void) {
  RUN(sizes);
  RUN(many_rows);
  RUN(masks);
  RUN(refuses_time_with_group);
}
