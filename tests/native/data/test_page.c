/* Layouts, binning, and pages: every code against the bin of its value. */
#include "../../src/gbt/data/bin.h"
#include "fault.h"
#include "pages.h"

/* ---- grids and bins ---- */

static void grid_cells_ascend(void) {
  test_rng rng = {1};
  for (int rep = 0; rep < 300; rep++) {
    double x[64], y[64];
    int bits = 1 + (int)test_below(&rng, 20), n = (int)test_below(&rng, 64);
    for (int i = 0; i < n; i++) x[i] = y[i] = tables_draw(&rng, rep % N_DRAWS);
    gbt_grid grid;
    gbt_grid_place(&grid, bits, y, n);
    CHECK_EQ_I64(grid.half, (int64_t)1 << (bits - 1));
    for (int i = 0; i < n; i++) {
      uint32_t cell = gbt_grid_cell(&grid, x[i]);
      CHECK(cell < 2 * grid.half);
      for (int k = 0; k < n; k++)
        if (x[k] <= x[i] && gbt_grid_cell(&grid, x[k]) > cell) CHECK(0);
    }
    CHECK(gbt_grid_cell(&grid, (double)NAN) < 2 * grid.half);
    CHECK_EQ_I64(gbt_grid_cell(&grid, -0.0), gbt_grid_cell(&grid, 0.0));
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void bins_of_many(void) {
  enum { MOST = 65535, N = 5000 };
  static const int32_t sizes[] = {1, 2, 3, 4, 7, 16, 100, 255, 1000, 20000, MOST};
  test_rng rng = {2};
  double *cut = test_alloc(MOST * sizeof *cut), *x = test_alloc(N * sizeof *x);
  int32_t *code = test_alloc(N * sizeof *code);
  int n_grids = 0;
  for (int rep = 0; rep < 11 * N_DRAWS; rep++) {
    int kind = rep % N_DRAWS;
    int32_t n = 0, want = sizes[rep / N_DRAWS];
    for (int32_t i = 0; i < want - 1; i++) cut[i] = tables_draw(&rng, kind);
    qsort(cut, (size_t)want - 1, sizeof *cut, ascending);
    for (int32_t i = 0; i < want - 1; i++)
      if (cut[i] < (double)INFINITY && (n == 0 || cut[i] > cut[n - 1])) cut[n++] = cut[i];
    cut[n++] = (double)INFINITY;
    gbt_feature_cuts f = {.n_bins = n, .cut = cut};
    for (int i = 0; i < N; i++) {
      x[i] = i % 3 == 0 ? cut[test_below(&rng, n)] : tables_draw(&rng, i % 3 == 1 ? kind : DRAW_WILD);
      if (i % 7 == 0) x[i] = (double)NAN;
    }
    for (int few = 0; few < 2; few++) {
      gbti_binner binner;
      gbti_binner_make(&binner, &f, few ? 10 : N);
      n_grids += binner.steps >= 0;
      int32_t m = N - (int32_t)test_below(&rng, 20), n_wrong = 0;
      gbti_bin_values(&binner, x, m, code);
      for (int i = 0; i < m; i++) n_wrong += code[i] != gbt_cuts_bin(&f, x[i]);
      CHECK_EQ_I64(n_wrong, 0);
    }
  }
  CHECK(n_grids > 50);
  free(cut);
  free(x);
  free(code);
}

/* ---- tables with everything in them ---- */

enum { MIX = 30 };

typedef struct mixed {
  tables *t;
  double *x[MIX];
  int64_t n;
} mixed;

static const char *const colours[] = {"red", "green", "blue", "grey", NULL, "black"};

/* kind 0: F64; 1: other storages of the same numbers; 2: sparse where there are zeros. Same numbers for one seed. */
static mixed make_mixed(uint64_t seed, int64_t n, int kind, int absent_missing) {
  test_rng rng = {seed};
  mixed m = {.t = tables_new(n), .n = n};
  m.t->table.absent_missing = absent_missing;
  int32_t *code = tables_keep(m.t, NULL, (size_t)n * sizeof *code);
  for (int c = 0; c < MIX; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    double *x = m.x[c] = tables_keep(m.t, NULL, (size_t)n * sizeof *x);
    if (c % 10 == 9) { /* factors */
      static const double of_code[2][7] = {{NAN, NAN, 0, 1, 2, NAN, NAN}, {NAN, 0, 1, 2, 3, NAN, 4}};
      for (int64_t i = 0; i < n; i++) {
        code[i] = (int32_t)(i < 8 ? (i & 1) + 2 : i < 12 ? i & 1 ? 3 : 4 : i == 12 ? 3 : test_below(&rng, 5) ? 2 : 0);
        if (i < 2) code[i] = 4;
        x[i] = of_code[c == 19][code[i]];
      }
      tables_codes(m.t, name, c == 19 ? GBT_ORDINAL : GBT_CATEGORICAL, code, colours, 6);
      continue;
    }
    int whole = c % 10 < 4, sparse = c % 10 >= 4 && c % 10 < 7;
    for (int64_t i = 0; i < n; i++) {
      x[i] = whole ? tables_draw(&rng, DRAW_WHOLE) : tables_draw(&rng, c % 10 == 7 ? DRAW_WILD : DRAW_HEAVY);
      if (c % 10 == 2) x[i] = (double)((int)x[i] % 3);
      if (sparse) x[i] = test_below(&rng, 20) ? 0.0 : c % 10 == 4 ? 1.0 : floor(4.0 * x[i]);
      if (sparse && absent_missing && x[i] == 0.0) x[i] = (double)NAN;
      if (test_below(&rng, 30) == 0) x[i] = (double)NAN;
    }
    if (kind == 0 || (kind == 1 && !whole) || (kind == 2 && !sparse))
      tables_f64(m.t, name, x);
    else if (kind == 1)
      tables_dense(m.t, name, x, c % 2 ? GBT_I32 : GBT_I64);
    else
      tables_sparse(m.t, name, x, c % 2 ? GBT_F64 : GBT_I32, c % 3 * 4);
  }
  return m;
}

static gbt_cuts *cuts_of(const tables *t, int32_t max_bin) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_cuts *cuts = NULL;
  CHECK_OK(gbt_cuts_build(&ctx, &t->table, NULL, max_bin, &cuts, test_err));
  gbt_ctx_close(&ctx);
  return cuts;
}

static gbt_page_store *pages_of(const tables *t, const gbt_cuts *cuts, int32_t page_rows, gbt_unseen unseen,
                                int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbt_binding *binding = NULL;
  gbt_page_store *store = NULL;
  CHECK_OK(gbt_binding_new(&ctx, &t->table, cuts->schema, unseen, &binding, test_err));
  if (binding != NULL) CHECK_OK(gbt_pages_build(&ctx, binding, cuts, page_rows, &store, test_err));
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return store;
}

/* ---- the same codes, however they are stored ---- */

static void page_sizes_and_threads(void) {
  static const int32_t page_rows[] = {1, 7, 1000, 5000, 0};
  static const int n_threads[] = {1, 2, 3, 8};
  for (int max_bin = 20; max_bin <= 2000; max_bin += 1980) {
    mixed m = make_mixed(5, 5000, 0, 0);
    gbt_cuts *cuts = cuts_of(m.t, max_bin);
    for (int k = 0; k < 5; k++) {
      gbt_page_store *s = pages_of(m.t, cuts, page_rows[k], GBT_UNSEEN_PRIOR, n_threads[k % 4]);
      good_layout(&s->info.layout, cuts);
      CHECK(s->info.layout.n_sparse > 0);
      CHECK_EQ_I64(s->info.page_rows, page_rows[k] ? page_rows[k] : 131072);
      good_pages(s, cuts);
      all_codes(s, cuts, m.x, m.n);
      gbt_page_store_unref(s);
    }
    gbt_cuts_unref(cuts);
    tables_free(m.t);
  }
}

/* Cuts of one storage, pages from all storages. */
static void storages(void) {
  for (int absent_missing = 0; absent_missing < 2; absent_missing++) {
    for (int k = 0; k < 9; k++) {
      mixed a = make_mixed(6, 3000, k / 3, absent_missing), b = make_mixed(6, 3000, k % 3, absent_missing);
      gbt_cuts *cuts = cuts_of(a.t, 40);
      gbt_page_store *s = pages_of(b.t, cuts, 800, GBT_UNSEEN_ERROR, 2);
      if (s != NULL) good_pages(s, cuts);
      if (s != NULL) all_codes(s, cuts, b.x, b.n);
      gbt_page_store_unref(s);
      gbt_cuts_unref(cuts);
      tables_free(a.t);
      tables_free(b.t);
    }
  }
}

/* Absent entries are zeros in one table and missing in the other, so the features' zero bin is not that of absent rows:
 * other rows than those stored have slots. */
static void other_absent(void) {
  for (int absent_missing = 0; absent_missing < 2; absent_missing++) {
    mixed a = make_mixed(7, 3000, 2, absent_missing), b = make_mixed(8, 2000, 2, !absent_missing);
    gbt_cuts *cuts = cuts_of(a.t, 40);
    gbt_page_store *s = pages_of(b.t, cuts, 900, GBT_UNSEEN_MISSING, 2);
    CHECK(s->info.layout.n_sparse > 0);
    good_pages(s, cuts);
    all_codes(s, cuts, b.x, b.n);
    gbt_page_store_unref(s);
    gbt_cuts_unref(cuts);
    tables_free(a.t);
    tables_free(b.t);
  }
}

/* Validation rows: levels in another order, levels the cuts do not know, numbers out of range. */
static void validation_levels(void) {
  static const int32_t code[] = {1, 2, 2, 3, 3, 3}, other_code[] = {1, 2, 3, 4, 0, 1};
  static const char *const levels[] = {"a", "b", "c"}, *const other[] = {"c", "new", "b", "a"};
  static const int32_t want_f[] = {0, 3, 1, 2, 3, 0}, want_o[] = {2, 3, 1, 0, 3, 2};
  for (int unseen = GBT_UNSEEN_PRIOR; unseen <= GBT_UNSEEN_MISSING; unseen++) {
    tables *t = tables_new(6), *u = tables_new(6);
    tables_codes(t, "f", GBT_CATEGORICAL, code, levels, 3);
    tables_codes(t, "o", GBT_ORDINAL, code, levels, 3);
    tables_codes(u, "o", GBT_ORDINAL, other_code, other, 4);
    tables_codes(u, "f", GBT_CATEGORICAL, other_code, other, 4);
    gbt_cuts *cuts = cuts_of(t, 255);
    gbt_page_store *s = pages_of(u, cuts, 4, (gbt_unseen)unseen, 1);
    for (int r = 0; r < 6; r++) {
      CHECK_EQ_I64(code_at(s, cuts, r, 0), want_f[r]);
      CHECK_EQ_I64(code_at(s, cuts, r, 1), want_o[r]);
      CHECK_EQ_I64(gbt_page_unseen(s, 0, r), unseen == GBT_UNSEEN_PRIOR && r == 1);
      CHECK_EQ_I64(gbt_page_unseen(s, 1, r), 0);
    }
    gbt_page_store_unref(s);
    gbt_cuts_unref(cuts);
    tables_free(t);
    tables_free(u);
  }
}

/* When features become sparse: never in small tables, and not when the lists cost more than they save. */
static void when_sparse(void) {
  static const struct {
    int64_t n_rows;
    int n_cols, every; /* one value in `every` is not 0 */
    int sparse;
  } cases[] = {{100, 10, 50, 0},  {100, 80, 50, 1}, {1000, 3, 50, 0},
               {1000, 10, 50, 1}, {1000, 10, 8, 0}, {2000, 20, 9, 1}};
  for (int k = 0; k < 6; k++) {
    test_rng rng = {(uint64_t)k};
    tables *t = tables_new(cases[k].n_rows);
    double *x = tables_keep(t, NULL, (size_t)cases[k].n_rows * sizeof *x);
    for (int c = 0; c < cases[k].n_cols; c++) {
      char name[16];
      snprintf(name, sizeof name, "x%d", c);
      for (int64_t r = 0; r < cases[k].n_rows; r++) x[r] = r % cases[k].every ? 0.0 : 1.0 + test_unit(&rng);
      tables_f64(t, name, x);
    }
    gbt_cuts *cuts = cuts_of(t, 255);
    gbt_page_store *s = pages_of(t, cuts, 0, GBT_UNSEEN_PRIOR, 1);
    CHECK_EQ_I64(s->info.layout.n_sparse, cases[k].sparse ? cases[k].n_cols : 0);
    good_layout(&s->info.layout, cuts);
    good_pages(s, cuts);
    gbt_page_store_unref(s);
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
}

/* Many short columns, and one long one: row blocks of all shapes. */
static void shapes(void) {
  static const struct {
    int64_t n_rows;
    int n_cols;
  } cases[] = {{0, 3}, {1, 1}, {1, 40}, {50, 100000}, {200001, 2}, {40000, 17}};
  for (int k = 0; k < 6; k++) {
    test_rng rng = {(uint64_t)k + 20};
    int64_t n = cases[k].n_rows, n_wrong = 0;
    tables *t = tables_new(n);
    double *x = test_alloc((size_t)(n * cases[k].n_cols + 1) * sizeof *x);
    for (int c = 0; c < cases[k].n_cols; c++) {
      char name[16];
      snprintf(name, sizeof name, "x%d", c);
      for (int64_t r = 0; r < n; r++)
        x[c * n + r] = tables_draw(&rng, c % N_DRAWS) * (c % 3 == 0 && test_below(&rng, 20) ? 0.0 : 1.0);
      for (int64_t r = 0; r < n; r++) /* 0 * Inf */
        if (x[c * n + r] != x[c * n + r]) x[c * n + r] = 0.0;
      if (c % 2)
        tables_sparse(t, name, x + c * n, GBT_F64, 0);
      else
        tables_f64(t, name, x + c * n);
    }
    gbt_cuts *cuts = cuts_of(t, 255);
    gbt_page_store *s = pages_of(t, cuts, k == 4 ? 70000 : 0, GBT_UNSEEN_PRIOR, 2);
    good_pages(s, cuts);
    CHECK_EQ_I64(s->info.n_pages, k == 4 ? 3 : n > 0);
    for (int c = 0; c < cases[k].n_cols; c++)
      for (int64_t r = 0; r < n; r += 1 + n / 300)
        n_wrong += code_at(s, cuts, r, c) != gbt_cuts_bin(&cuts->feat[c], x[c * n + r]);
    CHECK_EQ_I64(n_wrong, 0);
    gbt_page_store_unref(s);
    gbt_cuts_unref(cuts);
    free(x);
    tables_free(t);
  }
}

/* ---- faults ---- */

static void faults(void) {
  mixed m = make_mixed(9, 300, 0, 0);
  gbt_cuts *cuts = cuts_of(m.t, 255), *other = cuts_of(m.t, 255);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_binding *binding;
  gbt_page_store *s;
  REQUIRE_OK(gbt_binding_new(&ctx, &m.t->table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  CHECK_FAILS(gbt_pages_build(&ctx, binding, cuts, -1, &s, test_err), GBT_E_ARG, "`page_rows` is -1");
  CHECK(s == NULL);
  CHECK_FAILS(gbt_pages_build(&ctx, binding, other, 0, &s, test_err), GBT_E_INTERNAL, "another schema");
  CHECK(s == NULL);
  gbt_page_store_unref(NULL);
  gbt_binding_free(binding);
  /* far too many bins: cuts made up, as no table of that size fits a test */
  enum { N = 40000 };
  gbt_feature_cuts *feat = test_alloc(N * sizeof *feat);
  for (int i = 0; i < N; i++) {
    gbt_feature_cuts f = {.n_bins = 65535, .cut = cuts->feat[0].cut, .n_filled = 1};
    feat[i] = f;
  }
  gbt_cuts huge = *cuts;
  huge.n_features = N;
  huge.feat = feat;
  REQUIRE_OK(gbt_binding_new(&ctx, &m.t->table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  CHECK_FAILS(gbt_pages_build(&ctx, binding, &huge, 0, &s, test_err), GBT_E_UNSUPPORTED, "smaller `max_bin`");
  CHECK(s == NULL);
  gbt_binding_free(binding);
  free(feat);
  gbt_ctx_close(&ctx);
  gbt_cuts_unref(cuts);
  gbt_cuts_unref(other);
  tables_free(m.t);
}

typedef struct sweep {
  const tables *t;
  const gbt_cuts *cuts;
} sweep;

static gbt_status pages_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const sweep *in = arg;
  gbt_ctx plain = test_ctx(NULL, 1), ctx = test_ctx(mem, 1);
  gbt_binding *binding = NULL;
  gbt_page_store *s;
  CHECK_OK(gbt_binding_new(&plain, &in->t->table, in->cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  gbt_status status = gbt_pages_build(&ctx, binding, in->cuts, 1000, &s, err);
  CHECK_EQ_I64(s != NULL, status == GBT_OK);
  gbt_page_store_unref(s);
  gbt_binding_free(binding);
  gbt_ctx_close(&plain);
  gbt_ctx_close(&ctx);
  return status;
}

static void failing_memory(void) {
  mixed m = make_mixed(10, 3000, 2, 0);
  gbt_cuts *cuts = cuts_of(m.t, 40);
  sweep in = {m.t, cuts};
  CHECK(fault_sweep(pages_op, &in) > 10);
  gbt_cuts_unref(cuts);
  tables_free(m.t);
}

/* The same where levels are unknown: the list of the feature, which grows once, and the two arrays that lists are
 * joined to. */
static void failing_memory_unseen(void) {
  static const int32_t code[] = {1, 2, 2, 1};
  static const char *const levels[] = {"a", "b"}, *const other[] = {"new", "a"};
  int64_t n[2];
  tables *t = tables_new(4);
  tables_codes(t, "f", GBT_CATEGORICAL, code, levels, 2);
  gbt_cuts *cuts = cuts_of(t, 40);
  for (int k = 0; k < 2; k++) {
    tables *u = tables_new(4);
    tables_codes(u, "f", GBT_CATEGORICAL, code, k ? other : levels, 2);
    sweep in = {u, cuts};
    n[k] = fault_sweep(pages_op, &in);
    tables_free(u);
  }
  CHECK_EQ_I64(n[1], n[0] + 4);
  gbt_cuts_unref(cuts);
  tables_free(t);
}

static int stop_at(void *user) {
  int *left = user;
  return --*left <= 0;
}

static void stopping(void) {
  mixed m = make_mixed(11, 60000, 2, 0);
  gbt_cuts *cuts = cuts_of(m.t, 255);
  int n_stopped = 0;
  for (int polls = 1; polls <= 3; polls++) {
    gbt_ctx plain = test_ctx(NULL, 1), ctx;
    gbt_binding *binding;
    gbt_page_store *s;
    int left = polls;
    fault f;
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_binding_new(&plain, &m.t->table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, stop_at, &left, test_err));
    ctx.next_poll_ns = 0;
    gbt_status status = gbt_pages_build(&ctx, binding, cuts, 0, &s, test_err);
    CHECK(status == GBT_OK || (status == GBT_CANCELLED && s == NULL));
    n_stopped += status == GBT_CANCELLED;
    gbt_page_store_unref(s);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
    gbt_binding_free(binding);
    gbt_ctx_close(&plain);
  }
  CHECK(n_stopped > 0);
  gbt_cuts_unref(cuts);
  tables_free(m.t);
}

void suite_page(void) {
  RUN(grid_cells_ascend);
  RUN(bins_of_many);
  RUN(page_sizes_and_threads);
  RUN(storages);
  RUN(other_absent);
  RUN(validation_levels);
  RUN(when_sparse);
  RUN(shapes);
  RUN(faults);
  RUN(failing_memory);
  RUN(failing_memory_unseen);
  RUN(stopping);
}
