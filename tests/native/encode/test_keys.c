/* Keys of combined levels: against a sort of all rows' keys, with every size, table and sort, cuts by number of rows,
 * and unseen levels. */
#include "../../src/gbt/encode/keys.h"
#include "sweep.h"

typedef struct made_keys {
  int64_t n;
  int32_t n_cols;
  gbti_key_column col[4];
} made_keys;

/* Column c has radix[c] - 1 levels; some rows miss them, some have unseen ones. */
static made_keys make_columns(uint64_t seed, int64_t n, int32_t n_cols, const int64_t *radix, int unseen) {
  made_keys m = {.n = n, .n_cols = n_cols};
  test_rng rng = {seed};
  for (int32_t c = 0; c < n_cols; c++) {
    uint32_t *level = test_alloc((size_t)(n + 1) * sizeof *level);
    for (int64_t i = 0; i < n; i++) {
      const int64_t x = test_below(&rng, radix[c]), y = test_below(&rng, radix[c]);
      level[i] = (uint32_t)(x < y ? x : y);
      if (unseen && test_below(&rng, 20) == 0) level[i] = (uint32_t)radix[c];
    }
    m.col[c] = (gbti_key_column){level, radix[c] - 1};
  }
  return m;
}

static void columns_free(made_keys *m) {
  for (int32_t c = 0; c < m->n_cols; c++) free((void *)(uintptr_t)m->col[c].level);
}

/* Or UINT64_MAX. */
static uint64_t key_by_twin(const made_keys *m, int64_t row) {
  uint64_t key = 0;
  for (int32_t c = 0; c < m->n_cols; c++) {
    if (m->col[c].level[row] > m->col[c].n_levels) return UINT64_MAX;
    key = key * ((uint64_t)m->col[c].n_levels + 1) + m->col[c].level[row];
  }
  return key;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* What there is to know of keys by counting one after the other. */
typedef struct twin {
  uint64_t *key;
  uint32_t *count;
  int64_t n, n_unseen;
} twin;

static twin twin_of(const made_keys *m) {
  twin t = {test_alloc((size_t)(m->n + 1) * 8), test_alloc((size_t)(m->n + 1) * 4), 0, 0};
  uint64_t *all = test_alloc((size_t)(m->n + 1) * 8);
  for (int64_t i = 0; i < m->n; i++) all[i] = key_by_twin(m, i);
  qsort(all, (size_t)m->n, 8, ascending);
  for (int64_t i = 0; i < m->n; i++) {
    if (all[i] == UINT64_MAX) {
      t.n_unseen++;
    } else if (i > 0 && all[i] == all[i - 1]) {
      t.count[t.n - 1]++;
    } else {
      t.key[t.n] = all[i];
      t.count[t.n++] = 1;
    }
  }
  free(all);
  return t;
}

/* Drops keys of less than min_count rows; then, until there are at most max_keys, the one of the fewest rows, of equals
 * the largest key. */
static void cut_twin(twin *t, int64_t max_keys, uint32_t min_count) {
  int64_t kept = 0;
  for (int64_t k = 0; k < t->n; k++) {
    if (t->count[k] < min_count) continue;
    t->key[kept] = t->key[k];
    t->count[kept++] = t->count[k];
  }
  for (t->n = kept; t->n > max_keys; t->n--) {
    int64_t out = 0;
    for (int64_t k = 1; k < t->n; k++)
      if (t->count[k] <= t->count[out]) out = k;
    for (int64_t k = out; k + 1 < t->n; k++) {
      t->key[k] = t->key[k + 1];
      t->count[k] = t->count[k + 1];
    }
  }
}

static int64_t place_by_twin(const twin *t, uint64_t key) {
  for (int64_t k = 0; k < t->n; k++)
    if (t->key[k] == key) return k;
  return t->n;
}

static void check_keys(const made_keys *m, const made_keys *further, int64_t max_keys, uint32_t min_count,
                       int threads) {
  gbt_ctx ctx = test_ctx(NULL, threads);
  twin t = twin_of(m);
  gbti_keys keys;
  uint32_t *id = test_alloc((size_t)(further->n + 1) * sizeof *id);
  int64_t bad = 0, with = 0;
  cut_twin(&t, max_keys, min_count);
  CHECK(gbti_keys_fit(m->col, m->n_cols));
  if (CHECK_OK(gbti_keys_make(&ctx, m->col, m->n_cols, m->n, max_keys, min_count, &keys, test_err)) &&
      CHECK_EQ_I64(keys.n_keys, t.n)) {
    CHECK_EQ_BYTES(keys.key, t.key, (size_t)t.n * 8);
    CHECK_EQ_BYTES(keys.count, t.count, (size_t)t.n * 4);
    for (int64_t k = 0; k < t.n; k++) with += t.count[k];
    CHECK_EQ_I64(keys.count[t.n], m->n - with);
    for (int64_t i = 0; i < m->n; i++) bad += keys.id[i] != place_by_twin(&t, key_by_twin(m, i));
    CHECK_OK(gbti_keys_find(&ctx, &keys, further->col, m->n_cols, further->n, id, test_err));
    for (int64_t i = 0; i < further->n; i++) bad += id[i] != place_by_twin(&t, key_by_twin(further, i));
    CHECK_EQ_I64(bad, 0);
  }
  gbti_keys_free(&keys);
  free(id);
  free(t.key);
  free(t.count);
  gbt_ctx_close(&ctx);
}

static void by_size(int64_t n) {
  static const int64_t few[] = {5, 3, 4}, many[] = {100, 41, 900, 70};
  made_keys a = make_columns((uint64_t)n, n, 3, few, n % 2 == 0), b = make_columns(7, 50, 3, few, 1);
  made_keys c = make_columns((uint64_t)n, n, 4, many, n % 3 == 0), d = make_columns(7, 50, 4, many, 1);
  check_keys(&a, &b, n, 1, 1 + (int)(n % 5));
  check_keys(&a, &b, n / 4, 2, 2);
  check_keys(&c, &d, n, 1, 1 + (int)(n % 5));
  check_keys(&c, &d, n / 2, 1, 2);
  columns_free(&a);
  columns_free(&b);
  columns_free(&c);
  columns_free(&d);
}

static void sizes(void) {
  const sweep_range range = {.low = 0, .high = 1100, .dense = 70};
  sweep(by_size, &range);
}

/* Possible keys around the size of the table, keys around 2^63, and rows of several tasks. */
static void radices(void) {
  static const int64_t radix[][2] = {{255, 257}, {256, 256}, {257, 256}, {1, 1}, {1, 70000}, {2147483647, 4294967295}};
  for (size_t r = 0; r < sizeof radix / sizeof *radix; r++) {
    made_keys m = make_columns(r, 500, 2, radix[r], 1), f = make_columns(r + 100, 100, 2, radix[r], 1);
    check_keys(&m, &f, 1000, 1, 2);
    check_keys(&m, &f, 100, 1, 1);
    check_keys(&m, &f, 0, 1, 1);
    columns_free(&m);
    columns_free(&f);
  }
  const gbti_key_column wide[2] = {{NULL, 2147483648}, {NULL, 4294967294}};
  CHECK(!gbti_keys_fit(wide, 2));
  CHECK(gbti_keys_fit(wide, 1));
}

static void many_rows(void) {
  static const int64_t radix[] = {2000, 40};
  made_keys m = make_columns(1, 200000, 2, radix, 0), f = make_columns(2, 10, 2, radix, 0);
  twin t = twin_of(&m);
  cut_twin(&t, 3000, 1);
  for (int threads = test_few() ? 5 : 1; threads <= 5; threads += 2) {
    gbt_ctx ctx = test_ctx(NULL, threads);
    gbti_keys keys;
    int64_t bad = 0;
    CHECK_OK(gbti_keys_make(&ctx, m.col, 2, m.n, 3000, 1, &keys, test_err));
    CHECK_EQ_I64(keys.n_keys, t.n);
    CHECK_EQ_BYTES(keys.key, t.key, (size_t)t.n * 8);
    for (int64_t i = 0; i < m.n; i += test_few() ? 7 : 1) {
      const uint64_t key = key_by_twin(&m, i);
      const int known = keys.id[i] < keys.n_keys;
      bad += known ? keys.key[keys.id[i]] != key : bsearch(&key, t.key, (size_t)t.n, 8, ascending) != NULL;
    }
    CHECK_EQ_I64(bad, 0);
    gbti_keys_free(&keys);
    gbt_ctx_close(&ctx);
  }
  free(t.key);
  free(t.count);
  columns_free(&m);
  columns_free(&f);
}

/* The levels of one column are its keys. */
static void one_column(void) {
  static const int64_t radix[] = {9};
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbti_keys keys;
  made_keys m = make_columns(3, 400, 1, radix, 1);
  uint32_t count[10] = {0}, *id = test_alloc(400 * sizeof *id);
  for (int i = 0; i < 400; i++) count[m.col[0].level[i]]++;
  CHECK_OK(gbti_keys_make(&ctx, m.col, 1, m.n, 2, 100, &keys, test_err));
  CHECK_OK(gbti_keys_find(&ctx, &keys, m.col, 1, m.n, id, test_err));
  CHECK(keys.key == NULL);
  CHECK_EQ_I64(keys.n_keys, 9);
  CHECK_EQ_BYTES(keys.count, count, sizeof count);
  CHECK_EQ_BYTES(keys.id, m.col[0].level, 400 * sizeof *id);
  CHECK_EQ_BYTES(id, keys.id, 400 * sizeof *id);
  gbti_keys_free(&keys);
  columns_free(&m);
  free(id);
  gbt_ctx_close(&ctx);
}

void suite_keys(void) {
  RUN(sizes);
  RUN(radices);
  RUN(many_rows);
  RUN(one_column);
}
