/* Stores of pages and passes over them: every row once and in order, whatever a pass ends with; forests that are the
 * same on a store that keeps one page pinned and overwrites it when it is released (stores.h). */
#include "../../src/gbt/math/sampling.h"
#include "datasets.h"
#include "fault.h"
#include "pages.h"
#include "random_job.h"

/* ---- passes ---- */

typedef struct walk {
  gbt_page_store *store;
  const gbt_page_span *span;
  int64_t row, n_spans, n_wrong, fail_at; /* fail_at: span, from 1, that fails */
  int nested;
} walk;

static gbt_status walk_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  walk *w = arg;
  w->n_wrong += span->row_beg != w->row || span->n_pages < 1;
  for (int32_t p = 0; p < span->n_pages; p++) {
    const gbt_page *page = &span->page[p];
    w->n_wrong += page->row_beg != w->row || page->n_rows < 1 || page->n_rows > span->page_rows;
    for (int32_t r = 0; r < page->n_rows; r++)
      w->n_wrong += gbt_span_page(span, (uint32_t)(page->row_beg + r)) != page;
    w->row += page->n_rows;
  }
  w->n_wrong += span->row_end != w->row;
  if (++w->n_spans == w->fail_at) return gbt_fail(err, GBT_E_DATA, "span %d", (int)w->n_spans);
  if (!w->nested) return GBT_OK;
  walk inner = {.store = w->store};
  gbt_status status = gbt_pages_pass(ctx, w->store, walk_span, &inner, err);
  w->n_wrong += inner.n_wrong + (inner.row != gbt_pages_n_rows(w->store));
  return status;
}

static tables *walked_table(int64_t n) {
  test_rng rng = {(uint64_t)n};
  double *x = test_alloc((size_t)n * sizeof *x), *y = test_alloc((size_t)n * sizeof *y);
  tables *t = tables_new(n);
  for (int64_t r = 0; r < n; r++) {
    x[r] = test_bell(&rng);
    y[r] = test_below(&rng, 20) == 0 ? test_unit(&rng) : 0.0;
  }
  tables_f64(t, "x", x);
  for (int c = 0; c < 9; c++) tables_sparse(t, (char[3]){'y', (char)('0' + c), 0}, y, GBT_F64, 0);
  free(x);
  free(y);
  return t;
}

static void walk_sizes(int64_t n, int32_t page_rows) {
  tables *t = walked_table(n);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *ds = NULL;
  store_kind before = stores_use(STORE_MEMORY);
  for (int kind = STORE_MEMORY; kind <= STORE_POISON_3; kind++) {
    stores_use((store_kind)kind);
    REQUIRE_OK(dataset_from(&ctx, &t->table, NULL, NULL, 16, page_rows, GBT_UNSEEN_MISSING, &ds, test_err));
    walk w = {.store = ds->pages, .nested = kind == STORE_MEMORY};
    int64_t n_pages = gbt_pages_n_pages(ds->pages);
    CHECK_OK(gbt_pages_pass(&ctx, ds->pages, walk_span, &w, test_err));
    CHECK_EQ_I64(w.row, n);
    CHECK_EQ_I64(w.n_wrong, 0);
    CHECK_EQ_I64(w.n_spans, kind == STORE_MEMORY ? n_pages > 0 : kind == STORE_POISON ? n_pages : (n_pages + 2) / 3);
    CHECK_EQ_I64(n_pages, (n + gbt_pages_page_rows(ds->pages) - 1) / gbt_pages_page_rows(ds->pages));
    int32_t **code = codes_of(ds->pages, ds->cuts);
    int64_t n_wrong = 0;
    for (int64_t r = 0; r < n; r++)
      n_wrong += code[0][r] != gbt_cuts_bin(&ds->cuts->feat[0], ((const double *)t->cols[0].values)[r]);
    for (int32_t f = 0; f < ds->cuts->n_features && n > 0; f++)
      n_wrong += code[f][n - 1] != code_at(ds->pages, ds->cuts, n - 1, f);
    CHECK_EQ_I64(n_wrong, 0);
    codes_free(code, ds->cuts);
    gbt_dataset_unref(ds);
  }
  stores_use(before);
  gbt_ctx_close(&ctx);
  tables_free(t);
}

static void passes_meet_every_row_once(void) {
  const int64_t n[] = {1, 2, 63, 64, 65, 300, 1000};
  const int32_t page_rows[] = {1, 2, 3, 7, 63, 64, 65, 299, 300, 301, 1 << 20, 0};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (size_t k = 0; k < sizeof page_rows / sizeof *page_rows; k++) walk_sizes(n[i], page_rows[k]);
}

/* ---- runs ---- */

typedef struct run_walk {
  const gbt_page_store *store;
  const gbt_cuts *cuts;
  int32_t *const *code; /* what is right */
  int32_t run;
  _Atomic int64_t n_wrong, n_tasks;
  uint8_t *row_seen;   /* by row */
  int64_t *task_first; /* by task: its first row and one; 0: not there */
} run_walk;

static void walk_run(void *arg, const gbt_page_span *span, int64_t task, int thread) {
  run_walk *w = arg;
  int64_t n_wrong = span->n_pages < 1 || span->n_pages > w->run || w->task_first[task] != 0 || thread < 0;
  w->task_first[task] = 1 + span->row_beg;
  for (int32_t p = 0; p < span->n_pages; p++) {
    const gbt_page *page = &span->page[p];
    for (int32_t r = 0; r < page->n_rows; r++) {
      const int64_t row = page->row_beg + r;
      w->row_seen[row]++;
      for (int32_t f = 0; f < w->cuts->n_features; f++)
        n_wrong += gbt_page_code(gbt_pages_layout(w->store), w->cuts, page, r, f) != w->code[f][row];
    }
  }
  w->n_wrong += n_wrong;
  w->n_tasks++;
}

static void run_through(gbt_ctx *ctx, gbt_dataset *ds, int32_t *const *code, int32_t run) {
  const int64_t n = gbt_pages_n_rows(ds->pages), n_tasks = gbt_pages_n_runs(ds->pages, run);
  run_walk w = {.store = ds->pages, .cuts = ds->cuts, .code = code, .run = run};
  w.row_seen = test_alloc((size_t)n);
  w.task_first = test_alloc((size_t)n_tasks * sizeof *w.task_first);
  memset(w.row_seen, 0, (size_t)n);
  memset(w.task_first, 0, (size_t)n_tasks * sizeof *w.task_first);
  CHECK_OK(gbt_pages_each(ctx, ds->pages, run, walk_run, &w, test_err));
  CHECK_EQ_I64(w.n_wrong, 0);
  CHECK_EQ_I64(w.n_tasks, n_tasks);
  int64_t n_wrong = 0;
  for (int64_t r = 0; r < n; r++) n_wrong += w.row_seen[r] != 1;
  for (int64_t t = 1; t < n_tasks; t++) n_wrong += w.task_first[t] <= w.task_first[t - 1];
  CHECK_EQ_I64(n_wrong, 0);
  free(w.row_seen);
  free(w.task_first);
}

/* While the helpers of a pass read runs, the host may begin another pass over the same pages. */
typedef struct guest {
  gbt_dataset *ds;
  int32_t *const *code;
  int n;
} guest;

static int come_in(void *user) {
  guest *g = user;
  gbt_ctx ctx = test_ctx(NULL, 1);
  g->n++;
  run_through(&ctx, g->ds, g->code, 1);
  gbt_ctx_close(&ctx);
  return 0;
}

static void run_sizes(int64_t n, int32_t page_rows, int n_threads) {
  tables *t = walked_table(n);
  guest g = {.n = 0};
  gbt_ctx plain = test_ctx(NULL, n_threads), ctx;
  const store_kind before = stores_use(STORE_MEMORY);
  for (int kind = STORE_MEMORY; kind <= STORE_FILE_2Z; kind++) {
    gbt_dataset *ds = NULL;
    stores_use((store_kind)kind);
    REQUIRE_OK(dataset_from(&plain, &t->table, NULL, NULL, 16, page_rows, GBT_UNSEEN_MISSING, &ds, test_err));
    int32_t **code = codes_of(ds->pages, ds->cuts);
    g.ds = ds;
    g.code = code;
    REQUIRE_OK(gbt_ctx_open(&ctx, plain.mem, n_threads, GBT_SIMD_AUTO, kind < STORE_FILE ? NULL : come_in, &g,
                            test_err));
    const int32_t most = gbt_pages_most_run(ds->pages, ctx.n_threads);
    for (int32_t run = 1; run <= most && run < 5; run++) {
      ctx.next_poll_ns = 0;
      run_through(&ctx, ds, code, run);
    }
    run_through(&ctx, ds, code, most);
    gbt_ctx_close(&ctx);
    codes_free(code, ds->cuts);
    gbt_dataset_unref(ds);
  }
  CHECK(g.n > 0);
  stores_use(before);
  gbt_ctx_close(&plain);
  tables_free(t);
}

static void runs_meet_every_row_once(void) {
  const int64_t n[] = {1, 2, 64, 65, 300};
  const int32_t page_rows[] = {1, 2, 7, 64, 299, 300, 301, 0};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (size_t k = 0; k < sizeof page_rows / sizeof *page_rows; k++)
      run_sizes(n[i], page_rows[k], 1 + (int)(i + k) % 3);
}

static int stop_at_once(void *user) { return ++*(int *)user > 0; }

/* A pass that ends early leaves nothing pinned: the next one is whole. */
static void a_pass_ends_with_the_first_failure(void) {
  tables *t = walked_table(200);
  store_kind before = stores_use(STORE_POISON);
  int polls = 0;
  gbt_ctx ctx = test_ctx(NULL, 1), stopped;
  gbt_dataset *ds = NULL;
  REQUIRE_OK(dataset_from(&ctx, &t->table, NULL, NULL, 16, 30, GBT_UNSEEN_MISSING, &ds, test_err));
  for (int64_t at = 1; at <= 7; at++) {
    walk w = {.store = ds->pages, .fail_at = at}, whole = {.store = ds->pages};
    CHECK_FAILS(gbt_pages_pass(&ctx, ds->pages, walk_span, &w, test_err), GBT_E_DATA, "span");
    CHECK_EQ_I64(w.n_spans, at);
    CHECK_OK(gbt_pages_pass(&ctx, ds->pages, walk_span, &whole, test_err));
    CHECK_EQ_I64(whole.row, 200);
  }
  REQUIRE_OK(gbt_ctx_open(&stopped, ctx.mem, 1, GBT_SIMD_AUTO, stop_at_once, &polls, test_err));
  stopped.next_poll_ns = 0;
  walk w = {.store = ds->pages};
  CHECK_FAILS(gbt_pages_pass(&stopped, ds->pages, walk_span, &w, test_err), GBT_CANCELLED, "stopped");
  CHECK_EQ_I64(w.n_spans, 1);
  gbt_ctx_close(&stopped);
  gbt_dataset_unref(ds);
  stores_use(before);
  gbt_ctx_close(&ctx);
  tables_free(t);
}

static gbt_status pinned_without_memory(const gbt_mem *mem, void *arg, gbt_error *err) {
  const tables *t = arg;
  gbt_ctx ctx;
  gbt_dataset *ds = NULL;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = dataset_from(&ctx, &t->table, NULL, NULL, 16, 30, GBT_UNSEEN_MISSING, &ds, err);
  if (status == GBT_OK) {
    walk w = {.store = ds->pages};
    status = gbt_pages_pass(&ctx, ds->pages, walk_span, &w, err);
    CHECK(w.n_wrong == 0 && (status != GBT_OK || w.row == 80));
  }
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  return status;
}

static void pages_that_cannot_be_had_are_an_error(void) {
  tables *t = walked_table(80);
  store_kind before = stores_use(STORE_POISON);
  CHECK(fault_sweep(pinned_without_memory, t) > 10);
  stores_use(before);
  tables_free(t);
}

/* ---- forests ---- */

static trained *train_on(store_kind kind, const train_job *job, const train_how *how) {
  store_kind before = stores_use(kind);
  int64_t pins = poison_pins();
  trained *t = train(job, how);
  int pinned = poison_pins() > pins; /* a tree that is a root alone needs no page */
  const int poison = kind == STORE_POISON || kind == STORE_POISON_3;
  if (t != NULL) CHECK(poison ? pinned || t->forest->n_nodes == t->forest->n_trees : !pinned);
  stores_use(before);
  return t;
}

/* What a job says is trained on two of them; *n: nodes grown. */
static void compare_stores(const train_job *job, const train_how *how, store_kind kind, int64_t *n) {
  trained *a = train_on(STORE_MEMORY, job, how), *b = train_on(kind, job, how);
  if (same_trained(a, b)) *n += (int64_t)a->forest->n_nodes;
  trained_free(a);
  trained_free(b);
}

static void random_forests_are_those_of_memory(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(100); seed++) {
    static const store_kind kind[] = {STORE_POISON, STORE_FILE, STORE_POISON_3, STORE_FILE};
    random_job r = random_job_make(seed, 1500);
    compare_stores(&r.job, &r.how, kind[seed % 4], &n);
    random_job_free(&r);
  }
  CHECK_SEEN(n > 1000);
}

/* Tables that take each way through the partition and the histograms: columns kept once more, too many columns for
 * that, sparse ones, levels; nodes of several units and chunks, units of several pages and pages of several units; rows
 * that are drawn and gathered to two pages. */
static void larger_forests_are_those_of_memory(void) {
  enum { COLS = 80 };
  const int32_t page_rows[] = {700, 20000, 33000};
  const struct {
    int64_t rows;
    int32_t cols, policy;
    made_kind kind[4];
  } cases[] = {
      {90002, 4, GBT_DEPTHWISE, {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_LEVELS}},
      {40003, COLS, GBT_DEPTHWISE, {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_BELL}},
      {90002, 12, GBT_LOSSGUIDE, {MADE_ZEROS, MADE_ZEROS, MADE_BELL, MADE_ZEROS}},
      {90003, 12, GBT_SYMMETRIC, {MADE_ZEROS, MADE_FACTOR, MADE_BELL, MADE_HOLED}},
  };
  int64_t n = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    made_kind kinds[COLS];
    for (int k = 0; k < cases[c].cols; k++) kinds[k] = cases[c].kind[k % 4];
    made *m = made_new(50 + c, cases[c].rows, cases[c].cols, kinds), *v = made_new(60 + c, 3000, cases[c].cols, kinds);
    made_response(m, GBT_OBJ_LOGISTIC, 1, 7);
    made_response(v, GBT_OBJ_LOGISTIC, 1, 8);
    for (int k = test_few() ? (int)c % 3 : 0; k < 3; k += test_few() ? 3 : 1) {
      train_how how = {1 + k, page_rows[k], GBT_SIMD_AUTO, NULL};
      train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
      job.valid[0] = v;
      job.spec.n_valid = 1;
      job.spec.params.grow_policy = cases[c].policy;
      job.spec.params.max_depth = 7;
      job.spec.params.subsample = k == 1 ? 0.8 : 1.0;
      job.spec.params.grad_bits = k == 2 ? GBT_GRAD_32 : GBT_GRAD_16;
      job.spec.params.min_data_in_leaf = k == 0 ? 20 : 1;
      job.max_bin = k == 1 ? 1000 : 255;
      job.spec.params.hist_memory = k == 1 ? 1 : 1024;
      compare_stores(&job, &how, k == 0 ? STORE_POISON_3 : STORE_POISON, &n);
      compare_stores(&job, &how, STORE_FILE, &n);
    }
    made_free(m);
    made_free(v);
  }
  CHECK(n > 1000);
}

/* Drawn rows of files that are read in every pass (a number of rows that 4 divides has no page in memory): so few that
 * there is room for their codes by row and by column, for those by row alone, for none. */
static void drawn_rows_are_gathered_as_room_allows(void) {
  enum { COLS = 12, ROWS = 40000 };
  static const double share[] = {0.15, 0.5, 0.9};
  static const int32_t policy[] = {GBT_DEPTHWISE, GBT_LOSSGUIDE, GBT_SYMMETRIC};
  static const int32_t method[] = {GBT_SAMPLE_UNIFORM, GBT_SAMPLE_GOSS, GBT_SAMPLE_MVS};
  static const made_kind kind[4] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_LEVELS};
  made_kind kinds[COLS];
  int64_t n = 0;
  for (int k = 0; k < COLS; k++) kinds[k] = kind[k % 4];
  made *m = made_new(70, ROWS, COLS, kinds), *v = made_new(71, 3000, COLS, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 7);
  made_response(v, GBT_OBJ_LOGISTIC, 1, 8);
  for (int i = 0; i < 9; i++) {
    train_how how = {1 + i % 3, i % 2 ? 3000 : 7001, GBT_SIMD_AUTO, NULL};
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
    job.valid[0] = v;
    job.spec.n_valid = 1;
    job.max_bin = i == 4 ? 1000 : 255;
    job.spec.params.grow_policy = policy[i % 3];
    job.spec.params.max_depth = i == 5 ? 10 : 6;
    job.spec.params.grad_bits = i == 2 ? GBT_GRAD_32 : GBT_GRAD_16;
    job.spec.params.sampling_method = method[(i + i / 3) % 3];
    if (job.spec.params.sampling_method == GBT_SAMPLE_GOSS) {
      job.spec.params.top_rate = 0.6 * share[i / 3];
      job.spec.params.other_rate = 0.4 * share[i / 3];
    } else {
      job.spec.params.subsample = share[i / 3];
    }
    compare_stores(&job, &how, STORE_FILE, &n);
  }
  made_free(m);
  made_free(v);
  CHECK(n > 500);
}

/* Validation rows without values that all training rows have, down trees by tables and one by one. */
static void missing_values_that_training_lacks(void) {
  enum { COLS = 6 };
  made_kind whole[COLS], holed[COLS];
  for (int k = 0; k < COLS; k++) {
    whole[k] = k % 2 ? MADE_FEW : MADE_BELL;
    holed[k] = MADE_HOLES;
  }
  made *m = made_new(80, 5000, COLS, whole), *v = made_new(81, 3000, COLS, holed);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 7);
  made_response(v, GBT_OBJ_LOGISTIC, 1, 8);
  for (int depth = 1; depth <= 9; depth += 4) {
    train_how looked_up = {2, 700, GBT_SIMD_AUTO, NULL}, plain = {2, 700, GBT_SIMD_SCALAR, NULL};
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 3);
    job.valid[0] = v;
    job.spec.n_valid = 1;
    job.spec.params.max_depth = depth;
    trained *a = train(&job, &looked_up), *b = train(&job, &plain);
    CHECK(same_trained(a, b));
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
  made_free(v);
}

void suite_store(void) {
  RUN(passes_meet_every_row_once);
  RUN(runs_meet_every_row_once);
  RUN(a_pass_ends_with_the_first_failure);
  RUN(pages_that_cannot_be_had_are_an_error);
  RUN(random_forests_are_those_of_memory);
  RUN(larger_forests_are_those_of_memory);
  RUN(drawn_rows_are_gathered_as_room_allows);
  RUN(missing_values_that_training_lacks);
}
