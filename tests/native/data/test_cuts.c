/* Cuts of numbers against their definition, taken literally. */
#include "fault.h"
#include "naive_cuts.h"

/* ---- numbers ---- */

static void draw_column(test_rng *rng, int kind, int missing, int64_t n, double *x) {
  for (int64_t i = 0; i < n; i++)
    x[i] = missing && test_below(rng, missing) == 0 ? (double)NAN : tables_draw(rng, kind);
}

static void draw_weights(test_rng *rng, int kind, int64_t n, double *w) {
  for (int64_t i = 0; i < n; i++) {
    if (kind == 0)
      w[i] = (double)test_below(rng, 4);
    else if (kind == 1)
      w[i] = test_unit(rng);
    else if (kind == 2)
      w[i] = ldexp(test_unit(rng), (int)test_below(rng, 600) - 300); /* far apart */
    else
      w[i] = test_below(rng, 100) == 0 ? 1e308 : 5e-324;
  }
}

enum { N_COLS = N_DRAWS };

/* One table with a column of every kind, all against the twin. */
static void one_table(test_rng *rng, int64_t n, int32_t max_bin, int weights, int absent_missing) {
  tables *t = tables_new(n);
  double *x[N_COLS], *w = NULL;
  t->table.absent_missing = absent_missing;
  for (int c = 0; c < N_COLS; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    x[c] = tables_keep(t, NULL, ((size_t)n + 1) * sizeof **x);
    draw_column(rng, c, (int)test_below(rng, 3) * 5, n, x[c]);
    if (c % 3 == 1)
      tables_sparse(t, name, x[c], GBT_F64, 3);
    else
      tables_f64(t, name, x[c]);
  }
  if (weights >= 0) draw_weights(rng, weights, n, w = tables_keep(t, NULL, ((size_t)n + 1) * sizeof *w));
  gbt_cuts *cuts = test_cuts_of(t, w, max_bin, 1 + (int)test_below(rng, 3));
  if (cuts != NULL) {
    CHECK_EQ_I64(cuts->n_features, N_COLS);
    CHECK_EQ_I64(cuts->n_rows, n);
    for (int c = 0; c < N_COLS; c++) same_as_naive(&cuts->feat[c], x[c], w, n, max_bin, absent_missing);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
}

static void short_columns(void) {
  test_rng rng = {1};
  static const int32_t bins[] = {2, 3, 4, 5, 8, 17, 64, 255, 65535};
  for (int rep = 0; rep < 400; rep++)
    one_table(&rng, test_below(&rng, rep % 10 == 0 ? 3000 : 60), bins[test_below(&rng, 9)],
              (int)test_below(&rng, 6) - 2, rep % 4 == 3);
}

static void long_columns(void) {
  test_rng rng = {2};
  static const int32_t bins[] = {2, 16, 255, 255, 4000, 65535};
  for (int rep = 0; rep < 6; rep++)
    one_table(&rng, 33000 + test_below(&rng, 50000), bins[rep], rep % 3 * 2 - 1, rep == 3);
}

/* More than 2^18 keys in one cell of the grid. */
static void crowded_cells(void) {
  enum { N = 700000 };
  test_rng rng = {3};
  tables *t = tables_new(N);
  double *x = tables_keep(t, NULL, N * sizeof *x), *w = tables_keep(t, NULL, N * sizeof *w);
  draw_column(&rng, DRAW_CLUSTER, 0, N, x);
  draw_weights(&rng, 1, N, w);
  tables_f64(t, "x", x);
  for (int weighted = 0; weighted < 2; weighted++) {
    gbt_cuts *cuts = test_cuts_of(t, weighted ? w : NULL, 255, 2);
    if (cuts != NULL) same_as_naive(&cuts->feat[0], x, weighted ? w : NULL, N, 255, 0);
    gbt_cuts_unref(cuts);
  }
  tables_free(t);
}

static void by_hand(void) {
  static const double x[] = {1, 2, 2, 3, (double)NAN, -1};
  tables *t = tables_new(6);
  tables_f64(t, "x", x);
  gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1);
  if (cuts != NULL) {
    const gbt_feature_cuts *f = &cuts->feat[0];
    CHECK_EQ_I64(f->n_bins, 4);
    CHECK_EQ_BITS(f->cut[0], 0.0);
    CHECK_EQ_BITS(f->cut[1], 1.5);
    CHECK_EQ_BITS(f->cut[2], 2.5);
    CHECK_EQ_BITS(f->cut[3], (double)INFINITY);
    CHECK_EQ_I64(f->has_missing, 1);
    CHECK_EQ_I64(f->zero_bin, 0);
    CHECK_EQ_I64(f->n_filled, 5);
    CHECK_EQ_I64(gbt_cuts_bin(f, 0.0), 0);
    CHECK_EQ_I64(gbt_cuts_bin(f, 5e-324), 1);
    CHECK_EQ_I64(gbt_cuts_bin(f, 1e300), 3);
    CHECK_EQ_I64(gbt_cuts_bin(f, (double)NAN), 4);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
}

/* Every value's bin by going through the cuts one by one. */
static void bins_of_values(void) {
  test_rng rng = {4};
  for (int kind = 0; kind < N_DRAWS; kind++) {
    enum { N = 500 };
    double x[N];
    tables *t = tables_new(N);
    draw_column(&rng, kind, 9, N, x);
    tables_f64(t, "x", x);
    gbt_cuts *cuts = test_cuts_of(t, NULL, 20, 1);
    const gbt_feature_cuts *f = &cuts->feat[0];
    for (int i = 0; i < N; i++) {
      int32_t b = 0;
      while (b < f->n_bins && !(x[i] <= f->cut[b])) b++;
      CHECK_EQ_I64(gbt_cuts_bin(f, x[i]), b);
    }
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
}

/* ---- what must not matter ---- */

static void row_order(void) {
  enum { N = 40000 };
  test_rng rng = {5};
  double *x = test_alloc(N * sizeof *x), *w = test_alloc(N * sizeof *w);
  double *y = test_alloc(N * sizeof *y), *v = test_alloc(N * sizeof *v);
  int64_t *to = test_permutation(&rng, N);
  for (int kind = 0; kind < N_DRAWS; kind++) {
    draw_column(&rng, kind, 20, N, x);
    draw_weights(&rng, kind % 3, N, w);
    for (int64_t i = 0; i < N; i++) {
      y[to[i]] = x[i];
      v[to[i]] = w[i];
    }
    tables *t = tables_new(N);
    tables_f64(t, "x", x);
    tables_f64(t, "y", y);
    gbt_cuts *a = test_cuts_of(t, w, 100, 1), *b = test_cuts_of(t, v, 100, 1);
    same_cuts(&a->feat[0], &b->feat[1]);
    gbt_cuts_unref(a);
    gbt_cuts_unref(b);
    tables_free(t);
  }
  free(x);
  free(w);
  free(y);
  free(v);
  free(to);
}

/* A row of weight 3 is three rows. (n_filled counts rows, so it is compared with that of the doubled rows' own.) */
static void weight_is_repetition(void) {
  enum { N = 20000 };
  test_rng rng = {6};
  double *x = test_alloc(N * sizeof *x), *w = test_alloc(N * sizeof *w), *y = test_alloc(4 * N * sizeof *y);
  for (int kind = 0; kind < N_DRAWS; kind++) {
    int64_t m = 0;
    draw_column(&rng, kind, 0, N, x);
    draw_weights(&rng, 0, N, w);
    for (int64_t i = 0; i < N; i++)
      for (int k = 0; k < (int)w[i]; k++) y[m++] = x[i];
    tables *t = tables_new(N), *u = tables_new(m);
    tables_f64(t, "x", x);
    tables_f64(u, "x", y);
    gbt_cuts *a = test_cuts_of(t, w, 64, 1), *b = test_cuts_of(u, NULL, 64, 1);
    CHECK_EQ_I64(a->feat[0].n_bins, b->feat[0].n_bins);
    if (a->feat[0].n_bins == b->feat[0].n_bins)
      CHECK_EQ_BYTES(a->feat[0].cut, b->feat[0].cut, (size_t)a->feat[0].n_bins * sizeof(double));
    gbt_cuts_unref(a);
    gbt_cuts_unref(b);
    tables_free(t);
    tables_free(u);
  }
  free(x);
  free(w);
  free(y);
}

static void storage(void) {
  static const int64_t sizes[] = {100, 3000, 50000};
  test_rng rng = {7};
  for (int absent_missing = 0; absent_missing < 2; absent_missing++) {
    for (int k = 0; k < 9; k++) {
      int64_t n = sizes[k / 3];
      tables *t = tables_new(n);
      t->table.absent_missing = absent_missing;
      double *x = tables_keep(t, NULL, (size_t)n * sizeof *x), *w = tables_keep(t, NULL, (size_t)n * sizeof *w);
      draw_column(&rng, k % 3 == 0 ? DRAW_WHOLE : DRAW_FEW, 3, n, x);
      draw_weights(&rng, 1, n, w);
      for (int64_t i = 0; k % 3 == 2 && i < n; i++) x[i] = test_below(&rng, 8) == 0 ? 1.0 : 0.0;
      tables_f64(t, "a", x);
      tables_dense(t, "b", x, GBT_I32);
      tables_dense(t, "c", x, GBT_I64);
      tables_sparse(t, "d", x, GBT_F64, 2);
      tables_sparse(t, "e", x, GBT_I32, 0);
      tables_sparse(t, "f", x, GBT_I64, 5);
      if (k % 3 == 2 && !absent_missing) tables_sparse(t, "g", x, GBT_F64, 0)->values = NULL; /* all entries are 1 */
      for (int weighted = 0; weighted < 2; weighted++) {
        gbt_cuts *cuts = test_cuts_of(t, weighted ? w : NULL, 30, 2);
        for (int c = 1; c < cuts->n_features; c++) same_cuts(&cuts->feat[0], &cuts->feat[c]);
        gbt_cuts_unref(cuts);
      }
      tables_free(t);
    }
  }
}

static void threads(void) {
  enum { N = 35000, COLS = 40 };
  static const int n_threads[] = {1, 2, 3, 8};
  test_rng rng = {8};
  tables *t = tables_new(N);
  double *x = tables_keep(t, NULL, N * sizeof *x), *w = tables_keep(t, NULL, N * sizeof *w);
  for (int c = 0; c < COLS; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    draw_column(&rng, c % N_DRAWS, 10, N, x);
    if (c % 5 == 0)
      tables_sparse(t, name, x, GBT_F64, 2);
    else
      tables_f64(t, name, x);
  }
  draw_weights(&rng, 1, N, w);
  gbt_cuts *one = test_cuts_of(t, w, 255, 1);
  for (int k = 1; k < 4; k++) {
    gbt_cuts *more = test_cuts_of(t, w, 255, n_threads[k]);
    for (int c = 0; c < COLS; c++) same_cuts(&one->feat[c], &more->feat[c]);
    gbt_cuts_unref(more);
  }
  gbt_cuts_unref(one);
  tables_free(t);
}

/* ---- odd columns ---- */

static void odd_columns(void) {
  static const double none[] = {(double)NAN, (double)NAN, (double)NAN}, same[] = {7, 7, 7}, zeros[] = {0, -0.0, 0};
  static const double w[] = {0, 0, 0}, w1[] = {0, 1, 0}, x[] = {1, 2, 3};
  tables *t = tables_new(3);
  tables_f64(t, "none", none);
  tables_f64(t, "same", same);
  tables_f64(t, "zeros", zeros);
  tables_f64(t, "x", x);
  gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1);
  static const int32_t n_bins[] = {1, 1, 1, 3}, missing[] = {1, 0, 0, 0}, filled[] = {3, 0, 0, 2};
  for (int c = 0; c < 4; c++) {
    CHECK_EQ_I64(cuts->feat[c].n_bins, n_bins[c]);
    CHECK_EQ_I64(cuts->feat[c].has_missing, missing[c]);
    CHECK_EQ_I64(cuts->feat[c].n_filled, filled[c]);
    CHECK_EQ_BITS(cuts->feat[c].cut[n_bins[c] - 1], (double)INFINITY);
  }
  gbt_cuts_unref(cuts);
  cuts = test_cuts_of(t, w, 255, 1); /* nothing weighs anything */
  for (int c = 0; c < 4; c++) CHECK_EQ_I64(cuts->feat[c].n_bins, 1);
  gbt_cuts_unref(cuts);
  cuts = test_cuts_of(t, w1, 255, 1); /* one row alone counts */
  CHECK_EQ_I64(cuts->feat[3].n_bins, 1);
  CHECK_EQ_I64(cuts->feat[0].has_missing, 1);
  gbt_cuts_unref(cuts);
  t->table.n_rows = 0;
  cuts = test_cuts_of(t, NULL, 255, 1);
  for (int c = 0; c < 4; c++) {
    CHECK_EQ_I64(cuts->feat[c].n_bins, 1);
    CHECK_EQ_I64(cuts->feat[c].has_missing, 0);
    CHECK_EQ_I64(cuts->feat[c].n_filled, 0);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
}

/* ---- exact ---- */

/* A bin for each distinct value, weights or not, up to the most; one more is an error that names the column. Values
 * that weigh nothing are none. */
static void every_value_its_bin(void) {
  enum { N = GBT_MOST_VALUES + 1 };
  double *x = test_alloc(N * sizeof *x), *y = test_alloc(N * sizeof *y), *w = test_alloc(N * sizeof *w);
  for (int i = 0; i < N; i++) {
    x[i] = (double)((i * 7919LL) % N) * 0.25;
    y[i] = i % 3 == 0 ? NAN : (double)(i % 1000);
    w[i] = 1.0;
  }
  tables *t = tables_new(N);
  tables_f64(t, "few", y);
  tables_f64(t, "many", x);
  for (int threads = 1; threads <= 2; threads++) {
    gbt_ctx ctx = test_ctx(NULL, threads);
    gbt_cuts *cuts;
    CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, GBT_EXACT_BINS, &cuts, test_err), GBT_E_DATA,
                "column `many` has more than 65534 different values");
    w[N / 2] = 0.0;
    CHECK_OK(gbt_cuts_build(&ctx, &t->table, w, GBT_EXACT_BINS, &cuts, test_err));
    CHECK_EQ_I64(cuts->feat[0].n_bins, 1000);
    CHECK_EQ_I64(cuts->feat[1].n_bins, GBT_MOST_VALUES);
    int32_t *seen = test_alloc(N * sizeof *seen), shared = 0;
    memset(seen, 0, N * sizeof *seen);
    for (int i = 0; i < N; i++)
      if (i != N / 2) shared += seen[gbt_cuts_bin(&cuts->feat[1], x[i])]++ > 0;
    CHECK_EQ_I64(shared, 0);
    free(seen);
    gbt_cuts_unref(cuts);
    w[N / 2] = 1.0;
    gbt_ctx_close(&ctx);
  }
  tables_free(t);
  free(x), free(y), free(w);
}

/* ---- faults ---- */

static void faults(void) {
  static const double x[] = {1, 2, 3};
  double w[] = {1, 1, 1};
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_cuts *cuts = (gbt_cuts *)&ctx;
  tables *t = tables_new(3);
  CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, 255, &cuts, test_err), GBT_E_DATA, "no columns");
  CHECK(cuts == NULL);
  tables_f64(t, "x", x);
  CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, 1, &cuts, test_err), GBT_E_ARG, "`max_bin` is 1");
  CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, GBT_EXACT_BINS + 1, &cuts, test_err), GBT_E_ARG, "from 2 to 65535");
  static const double wrong[] = {NAN, INFINITY, -1.0};
  static const char *const says[] = {"row 2 is nan", "row 2 is inf", "row 2 is -1"};
  for (int i = 0; i < 3; i++) {
    w[1] = wrong[i];
    CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, w, 255, &cuts, test_err), GBT_E_DATA, says[i]);
    CHECK(cuts == NULL);
  }
  tables_f64(t, "x", x);
  CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, 255, &cuts, test_err), GBT_E_DATA, "x");
  t->cols[1].name = "";
  CHECK_FAILS(gbt_cuts_build(&ctx, &t->table, NULL, 255, &cuts, test_err), GBT_E_DATA, "column 2 has no name");
  gbt_ctx_close(&ctx);
  tables_free(t);
}

typedef struct sweep {
  tables *t;
  double *w;
  int n_threads;
} sweep;

static const char *const fruit[] = {"apple", "pear", "fig", "apple", NULL, "plum", "kiwi"};

static gbt_status build_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  sweep *s = arg;
  gbt_ctx ctx;
  gbt_cuts *cuts;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, s->n_threads, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = gbt_cuts_build(&ctx, &s->t->table, s->w, 8, &cuts, err);
  CHECK_EQ_I64(cuts != NULL, status == GBT_OK);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  return status;
}

static void failing_memory(void) {
  enum { N = 33000 };
  test_rng rng = {10};
  tables *t = tables_new(N);
  double *x = tables_keep(t, NULL, N * sizeof *x), *w = tables_keep(t, NULL, N * sizeof *w);
  int32_t *code = tables_keep(t, NULL, N * sizeof *code);
  draw_column(&rng, DRAW_HEAVY, 9, N, x);
  draw_weights(&rng, 1, N, w);
  for (int i = 0; i < N; i++) code[i] = (int32_t)test_below(&rng, 8);
  tables_f64(t, "x", x);
  tables_sparse(t, "y", x, GBT_F64, 2);
  tables_codes(t, "f", GBT_CATEGORICAL, code, fruit, 7);
  tables_codes(t, "o", GBT_ORDINAL, code, fruit, 7);
  for (int k = 0; k < 4; k++) {
    sweep s = {t, k & 1 ? w : NULL, 1 + (k >> 1)};
    CHECK(fault_sweep(build_op, &s) > 20);
  }
  tables_free(t);
}

static int stop_at(void *user) {
  int *left = user;
  return --*left <= 0;
}

/* A poll that asks to stop, sooner and later. */
static void stopping(void) {
  enum { N = 600000 };
  test_rng rng = {11};
  tables *t = tables_new(N);
  double *x = tables_keep(t, NULL, N * sizeof *x);
  draw_column(&rng, DRAW_CLUSTER, 0, N, x);
  for (int c = 0; c < 6; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    tables_f64(t, name, x);
  }
  int n_stopped = 0;
  for (int polls = 1; polls <= 4; polls++) {
    for (int n_threads = 1; n_threads <= 2; n_threads++) {
      fault f;
      fault_start(&f, 0, 0);
      gbt_ctx ctx;
      int left = polls;
      gbt_cuts *cuts;
      CHECK_OK(gbt_ctx_open(&ctx, fault_mem(&f), n_threads, GBT_SIMD_AUTO, stop_at, &left, test_err));
      gbt_error err;
      gbt_status status = gbt_cuts_build(&ctx, &t->table, NULL, 255, &cuts, &err);
      CHECK(status == GBT_OK || (status == GBT_CANCELLED && err.code == GBT_CANCELLED && cuts == NULL));
      n_stopped += status == GBT_CANCELLED;
      gbt_cuts_unref(cuts);
      gbt_ctx_close(&ctx);
      CHECK_EQ_I64(f.n_live, 0);
    }
  }
  CHECK(n_stopped > 0);
  tables_free(t);
}

void suite_cuts(void) {
  RUN(by_hand);
  RUN(short_columns);
  RUN(long_columns);
  RUN(crowded_cells);
  RUN(bins_of_values);
  RUN(row_order);
  RUN(weight_is_repetition);
  RUN(storage);
  RUN(threads);
  RUN(odd_columns);
  RUN(every_value_its_bin);
  RUN(faults);
  RUN(failing_memory);
  RUN(stopping);
}
