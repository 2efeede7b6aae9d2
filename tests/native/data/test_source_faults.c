/* Sources that yield what they should not, that fail or are stopped, and memory that runs out meanwhile: an error in
 * words, nothing left behind. */
#include "chunks.h"
#include "clock.h"
#include "datasets.h"
#include "fault.h"
#include "tables.h"

/* ---- what is wrong with a source ---- */

typedef struct fault_case {
  tables *good, *bad; /* the table, and what comes in place of it */
} fault_case;

enum { BAD_ROWS = 40, BAD_CHUNK = 15 };

static fault_case two_tables(void) {
  static const char *const levels[] = {"a", "b", "c"};
  double x[BAD_ROWS], zeros[BAD_ROWS];
  int32_t code[BAD_ROWS];
  fault_case f = {tables_new(BAD_ROWS), tables_new(BAD_ROWS)};
  for (int r = 0; r < BAD_ROWS; r++) {
    x[r] = 1.5 * r;
    zeros[r] = r % 10 == 0 ? r + 1 : 0.0;
    code[r] = 1 + r % 3;
  }
  for (int k = 0; k < 2; k++) {
    tables *t = k ? f.bad : f.good;
    tables_f64(t, "x", x);
    tables_sparse(t, "s", zeros, GBT_F64, 0);
    tables_codes(t, "f", GBT_CATEGORICAL, code, levels, 3);
    tables_codes(t, "o", GBT_ORDINAL, code, levels, 3);
  }
  return f;
}

/* f.bad comes from pass `from` on. Frees both. */
static void fails_from(fault_case f, int64_t from, gbt_status code, const char *part) {
  const dataset_work w = {f.good, NULL, NULL, 20, 9, GBT_UNSEEN_MISSING};
  for (int threads = 1; threads <= 2; threads++) {
    gbt_ctx ctx = test_ctx(NULL, threads);
    gbt_dataset *ds = NULL;
    chunks *c = chunks_new(&f.good->table, BAD_CHUNK, 0);
    c->other = &f.bad->table;
    c->from = from;
    CHECK_FAILS(dataset_in_chunks(&ctx, &w, c, 0, &ds, test_err), code, part);
    CHECK(ds == NULL);
    chunks_free(c);
    gbt_ctx_close(&ctx);
  }
  tables_free(f.good);
  tables_free(f.bad);
}

static double *number_of(tables *t, int col) { return (double *)(uintptr_t)t->cols[col].values; }
static int32_t *code_of(tables *t, int col) { return (int32_t *)(uintptr_t)t->cols[col].values; }

/* Passes: 1 counts, 2 is for cuts, 3 for bins. */
static void other_values_in_a_later_pass(void) {
  for (int64_t pass = 2; pass <= 3; pass++) {
    fault_case f = two_tables();
    number_of(f.bad, 0)[20] += 1e-9;
    fails_from(f, pass, GBT_E_DATA, "`x`: the source yields other values");
    f = two_tables();
    number_of(f.bad, 0)[20] = (double)NAN;
    fails_from(f, pass, GBT_E_DATA, "`x`: the source yields other values");
    f = two_tables();
    number_of(f.bad, 1)[2] = 3.0;
    fails_from(f, pass, GBT_E_DATA, "`s`: the source yields other values");
    f = two_tables();
    f.bad->cols[1].n_entries--;
    fails_from(f, pass, GBT_E_DATA, pass == 2 ? "`s`: the source yields another number of entries" : "`s`: the source");
    f = two_tables();
    code_of(f.bad, 3)[7] = 0;
    fails_from(f, pass, GBT_E_DATA, "`o`: the source yields other values");
    f = two_tables();
    double t = number_of(f.bad, 0)[3]; /* the same values in other rows */
    number_of(f.bad, 0)[3] = number_of(f.bad, 0)[30];
    number_of(f.bad, 0)[30] = t;
    fails_from(f, pass, GBT_E_DATA, "`x`: the source yields other values");
  }
  fault_case f = two_tables();
  code_of(f.bad, 2)[7] = 1;
  fails_from(f, 3, GBT_E_DATA, "`f`: the source yields other values");
  static const char *const other[] = {"a", "new", "c"};
  f = two_tables();
  f.bad->cols[2].levels = other;
  fails_from(f, 3, GBT_E_DATA, "`f`: the source yields other values");
}

static void other_rows_in_a_later_pass(void) {
  for (int64_t pass = 1; pass <= 3; pass++) {
    fault_case f = two_tables();
    f.bad->table.n_rows = 37;
    f.bad->cols[1].n_entries = 2;
    fails_from(f, pass, GBT_E_DATA, "the source yields 37 rows, but it said that it has 40");
    f = two_tables();
    tables *more = tables_new(BAD_ROWS + 1);
    double x[BAD_ROWS + 1] = {0};
    tables_f64(more, "x", x);
    tables_free(f.bad);
    f.bad = more;
    more->table.n_cols = 1;
    f.good->table.n_cols = 1;
    fails_from(f, pass, GBT_E_DATA, pass == 1 ? "yields at least 41 rows, but it said that it has 40" : "at least 41");
  }
}

/* The second chunk is not like the first. */
static void chunks_that_differ(void) {
  static const char *const other[] = {"a", "c", "b"};
  fault_case f = two_tables();
  f.bad->cols[0].name = "y";
  fails_from(f, 2, GBT_E_DATA, "chunk 1, from row 1 on: column 1 is `y`, in the first chunk it is `x`");
  f = two_tables();
  f.bad->table.n_cols--;
  fails_from(f, 2, GBT_E_DATA, "chunk 1, from row 1 on: there are 3 columns, in the first chunk there are 4");
  f = two_tables();
  f.bad->cols[0].storage = GBT_I64;
  fails_from(f, 2, GBT_E_DATA, "column `x` comes as integer64, in the first chunk as double");
  f = two_tables();
  f.bad->cols[1].rows = NULL;
  f.bad->cols[1].values = f.bad->cols[0].values;
  fails_from(f, 2, GBT_E_DATA, "column `s` comes as double, in the first chunk as sparse double");
  f = two_tables();
  f.bad->cols[2].type = GBT_ORDINAL;
  fails_from(f, 2, GBT_E_DATA, "column `f` comes as codes of ordered levels, in the first chunk as codes of unordered");
  f = two_tables();
  f.bad->cols[3].levels = other;
  fails_from(f, 2, GBT_E_DATA, "the ordered factor `o` has other levels than in the first chunk");
  f = two_tables();
  f.bad->cols[0].tag = "Date";
  fails_from(f, 2, GBT_E_DATA, "`x` has a different description than in the first chunk: \"Date\" instead of \"\"");
  f = two_tables();
  f.bad->cols[2].derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  fails_from(f, 2, GBT_E_DATA, "`f` has a different description");
  f = two_tables();
  f.bad->table.absent_missing = 1;
  fails_from(f, 2, GBT_E_DATA, "mean something else than in the first chunk");
  f = two_tables();
  code_of(f.bad, 2)[32] = 4; /* rows count over all chunks */
  fails_from(f, 2, GBT_E_DATA, "column `f`, row 33: there is no level 4, only 3 levels");
  f = two_tables();
  code_of(f.bad, 2)[32] = 4;
  fails_from(f, 1, GBT_E_DATA, "column `f`, row 33: there is no level 4, only 3 levels");
}

/* The chunks of one pass, each a table of its own. */
typedef struct listed {
  const gbt_table *const *table;
  int n, at;
  int passes; /* that yield them; those after yield nothing */
} listed;

static gbt_status listed_rewind(void *state, gbt_ctx *ctx, gbt_error *err) {
  listed *l = state;
  (void)ctx, (void)err;
  l->at = l->passes-- > 0 ? 0 : l->n;
  return GBT_OK;
}

static gbt_status listed_next(void *state, gbt_ctx *ctx, const gbt_table **chunk, gbt_error *err) {
  listed *l = state;
  (void)ctx, (void)err;
  *chunk = l->at < l->n ? l->table[l->at++] : NULL;
  return GBT_OK;
}

static gbt_status make_listed(const gbt_table *const *table, int n, int passes, int64_t n_rows, gbt_dataset **out,
                              gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  listed l = {table, n, 0, passes};
  const gbt_source source = {&l, n_rows, listed_rewind, listed_next, NULL};
  const gbt_dataset_spec spec = {.source = &source, .max_bin = 20};
  gbt_status status = gbt_dataset_make(&ctx, &spec, out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void sources_that_say_what_is_not_so(void) {
  fault_case f = two_tables(), g = two_tables();
  const gbt_table *const twice[] = {&f.good->table, &f.bad->table};
  gbt_dataset *ds = NULL;
  CHECK_FAILS(make_listed(twice, 0, 99, -1, &ds, test_err), GBT_E_DATA, "yields no chunk; a table without rows is one");
  CHECK_FAILS(make_listed(twice, 0, 99, 0, &ds, test_err), GBT_E_DATA, "yields no chunk");
  CHECK_FAILS(make_listed(twice, 2, 99, -2, &ds, test_err), GBT_E_ARG,
              "it has -2 rows; give -1 if it is unknown");
  CHECK_FAILS(make_listed(twice, 2, 99, 40, &ds, test_err), GBT_E_DATA, "at least 80 rows, but it said that it has 40");
  CHECK_FAILS(make_listed(twice, 2, 99, 81, &ds, test_err), GBT_E_DATA, "yields 80 rows, but it said that it has 81");
  CHECK_FAILS(make_listed(twice, 2, 1, -1, &ds, test_err), GBT_E_DATA, "yields no chunk");
  f.bad->cols[2].name = "g";
  CHECK_FAILS(make_listed(twice, 2, 99, -1, &ds, test_err), GBT_E_DATA,
              "chunk 2, from row 41 on: column 3 is `g`, in the first chunk it is `f`");
  f.bad->cols[2].name = "f";
  int32_t row[] = {0, 10, 20, 60};
  f.bad->cols[1].rows = row;
  CHECK_FAILS(make_listed(twice, 2, 9, -1, &ds, test_err), GBT_E_DATA,
              "column `s` has an entry for row 101, but the rows here are 41 to 80");
  row[3] = -1;
  CHECK_FAILS(make_listed(twice, 2, 9, 80, &ds, test_err), GBT_E_DATA,
              "column `s` has an entry for row 40, but the rows here are 41 to 80");
  row[3] = 10;
  CHECK_FAILS(make_listed(twice, 2, 9, 80, &ds, test_err), GBT_E_DATA,
              "column `s`: the entry for row 51 comes after the one for row 61");
  row[3] = 30;
  f.bad->table.n_rows = -1;
  CHECK_FAILS(make_listed(twice, 2, 99, -1, &ds, test_err), GBT_E_DATA, "-1 rows");
  f.bad->table.n_rows = 0;
  f.bad->cols[1].n_entries = 0;
  const gbt_table *const ends_empty[] = {&f.good->table, &f.bad->table};
  CHECK_OK(make_listed(ends_empty, 2, 99, 40, &ds, test_err));
  gbt_dataset_unref(ds);
  CHECK_OK(make_listed(ends_empty + 1, 1, 99, 0, &ds, test_err));
  gbt_dataset_unref(ds);
  CHECK_OK(make_listed(ends_empty + 1, 1, 99, -1, &ds, test_err));
  gbt_dataset_unref(ds);
  tables_free(f.good);
  tables_free(f.bad);
  tables_free(g.good);
  tables_free(g.bad);
}

/* Rows without cells, so that there can be very many of them. */
static void rows_that_no_number_holds(void) {
  static const int32_t row[1] = {0};
  const double one[1] = {1.0};
  const gbt_column col = {.name = "s", .type = GBT_NUMERIC, .values = one, .rows = row, .n_entries = 1};
  const gbt_table half = {.n_rows = (int64_t)1 << 30, .n_cols = 1, .cols = &col};
  const gbt_table *const three[] = {&half, &half, &half};
  const gbt_table *const many[] = {&half, &half, &half, &half};
  gbt_dataset *ds = NULL;
  CHECK_FAILS(make_listed(three, 3, 99, -1, &ds, test_err), GBT_E_UNSUPPORTED,
              "column `s` is sparse, and the data have more than 2147483648 rows");
  CHECK_FAILS(make_listed(many, 4, 99, -1, &ds, test_err), GBT_E_UNSUPPORTED, "column `s` is sparse");
  const gbt_table none = {.n_rows = (int64_t)1 << 30};
  const gbt_table *const empty[] = {&none, &none, &none, &none};
  CHECK_FAILS(make_listed(empty, 4, 99, -1, &ds, test_err), GBT_E_DATA,
              "4294967296 rows; up to 4294967294 can be used in a process");
}

static void specs_that_are_refused(void) {
  fault_case f = two_tables();
  double w[BAD_ROWS];
  for (int r = 0; r < BAD_ROWS; r++) w[r] = 1.0;
  gbt_ctx ctx = test_ctx(NULL, 1);
  chunks *c = chunks_new(&f.good->table, 7, 0);
  gbt_dataset_spec spec = {.max_bin = 20};
  gbt_dataset *ds = NULL;
  CHECK_FAILS(gbt_dataset_make(&ctx, &spec, &ds, test_err), GBT_E_ARG, "from a table or from a source; give one");
  spec.source = &c->source;
  spec.table = &f.good->table;
  CHECK_FAILS(gbt_dataset_make(&ctx, &spec, &ds, test_err), GBT_E_ARG, "from a table or from a source; give one");
  spec.table = NULL;
  spec.weight = w;
  c->source.n_rows = -1;
  CHECK_FAILS(gbt_dataset_make(&ctx, &spec, &ds, test_err), GBT_E_ARG,
              "weights: the source does not give its number of rows");
  CHECK_EQ_I64(c->n_calls, 0);
  c->source.n_rows = BAD_ROWS;
  w[31] = -1.0;
  CHECK_FAILS(gbt_dataset_make(&ctx, &spec, &ds, test_err), GBT_E_DATA, "the weight of row 32 is -1");
  spec.weight = NULL;
  spec.max_bin = 1;
  CHECK_FAILS(gbt_dataset_make(&ctx, &spec, &ds, test_err), GBT_E_ARG, "`max_bin` is 1");
  chunks_free(c);
  gbt_ctx_close(&ctx);
  tables_free(f.good);
  tables_free(f.bad);
}

/* Against a reference: what is bound by chunk. */
static void validation_data_that_do_not_fit(void) {
  static const char *const other[] = {"a", "new", "c"};
  fault_case f = two_tables();
  dataset_work w = {f.good, NULL, NULL, 20, 9, GBT_UNSEEN_ERROR};
  gbt_dataset *train = dataset_whole(&w), *ds = NULL;
  gbt_ctx ctx = test_ctx(NULL, 1);
  chunks *c = chunks_new(&f.bad->table, BAD_CHUNK, 0);
  w.table = f.bad;
  w.reference = train;
  f.bad->cols[2].levels = other;
  for (int r = 0; r < BAD_ROWS; r++) code_of(f.bad, 2)[r] = r < 29 ? 1 : 2;
  CHECK_FAILS(dataset_in_chunks(&ctx, &w, c, 0, &ds, test_err), GBT_E_DATA,
              "column `f`, row 30: the level \"new\" did not occur");
  f.bad->cols[0].name = "y";
  CHECK_FAILS(dataset_in_chunks(&ctx, &w, c, 0, &ds, test_err), GBT_E_DATA, "a column is missing from the data: `x`");
  chunks_free(c);
  gbt_ctx_close(&ctx);
  gbt_dataset_unref(train);
  tables_free(f.good);
  tables_free(f.bad);
}

/* ---- faults ---- */

static const gbt_dataset *fault_reference; /* of the runs below */

/* A data set of chunks, and one against a reference. */
static gbt_status make_both(gbt_ctx *ctx, const tables *t, chunks *c, gbt_error *err) {
  const gbt_dataset *refs[2] = {NULL, fault_reference};
  for (int k = 0; k < 2; k++) {
    const dataset_work w = {t, NULL, refs[k], 9, 20, GBT_UNSEEN_PRIOR};
    gbt_dataset *ds = NULL;
    gbt_status status = dataset_in_chunks(ctx, &w, c, 2500, &ds, err);
    CHECK((status == GBT_OK) == (ds != NULL));
    gbt_dataset_unref(ds);
    GBT_TRY(status);
  }
  return GBT_OK;
}

static tables *small_table(uint64_t seed, int32_t n_levels) {
  test_rng rng = {seed};
  tables *t = tables_of_all(&rng, (tables_shape){260, 2, 3, 4, 0}, n_levels);
  for (int32_t c = 0; c < t->table.n_cols; c++)
    if (t->cols[c].type == GBT_CATEGORICAL) t->cols[c].derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  return t;
}

static void open_reference(gbt_dataset **out) {
  tables *t = small_table(5, TABLES_LEVELS - 1);
  const dataset_work w = {t, NULL, NULL, 9, 20, GBT_UNSEEN_PRIOR};
  *out = dataset_whole(&w);
  fault_reference = *out;
  tables_free(t);
}

/* Every call of the source fails once; its own words come through, and it is not called again. */
static void sources_that_fail(void) {
  tables *t = small_table(4, TABLES_LEVELS);
  gbt_dataset *reference;
  open_reference(&reference);
  int64_t n_failed = 0, n_calls = 0;
  for (int64_t at = 1; n_failed == at - 1; at++) {
    fault f;
    gbt_ctx ctx;
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, NULL, NULL, test_err));
    chunks *c = chunks_new(&t->table, 100, 1);
    gbt_error err = {.code = GBT_OK};
    c->fail_at = at;
    c->fail_with = at % 2 ? GBT_E_IO : GBT_CANCELLED;
    gbt_status status = make_both(&ctx, t, c, &err);
    CHECK(status == GBT_OK || (status == c->fail_with && strstr(err.msg, "the source failed in call") != NULL));
    CHECK(status == GBT_OK || c->n_calls == at);
    n_failed += status != GBT_OK;
    n_calls = c->n_calls;
    chunks_free(c);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  CHECK_EQ_I64(n_failed, n_calls);
  test_note("%" PRId64 " calls", n_calls);
  CHECK(n_calls > 20);
  gbt_dataset_unref(reference);
  tables_free(t);
}

static gbt_status make_with_memory(const gbt_mem *mem, void *arg, gbt_error *err) {
  const tables *t = arg;
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  chunks *c = chunks_new(&t->table, 100, 1);
  gbt_status status = make_both(&ctx, t, c, err);
  chunks_free(c);
  gbt_ctx_close(&ctx);
  return status;
}

static void every_allocation_may_fail(void) {
  tables *t = small_table(4, TABLES_LEVELS);
  gbt_dataset *reference;
  open_reference(&reference);
  int64_t n = fault_sweep(make_with_memory, t);
  test_note("%" PRId64 " allocations", n);
  CHECK(n > 300);
  gbt_dataset_unref(reference);
  tables_free(t);
}

static int n_polls, stop_at;

static int poll_stops(void *user) {
  (void)user;
  return ++n_polls >= stop_at;
}

static void may_be_stopped(void) {
  tables *t = small_table(4, TABLES_LEVELS);
  gbt_dataset *reference;
  open_reference(&reference);
  int n_stopped = 0, all = 0;
  clock_jump(30000000);
  for (stop_at = 1; stop_at < 100000 && all == 0; stop_at += 1 + stop_at / 6) {
    gbt_ctx ctx;
    gbt_error err;
    fault f;
    n_polls = 0;
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, poll_stops, NULL, test_err));
    chunks *c = chunks_new(&t->table, 100, 1);
    gbt_status status = make_both(&ctx, t, c, &err);
    CHECK(status == GBT_CANCELLED || status == GBT_OK);
    n_stopped += status == GBT_CANCELLED;
    all = status == GBT_OK ? n_polls : 0;
    chunks_free(c);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  clock_jump(0);
  test_note("%d polls, %d times stopped", all, n_stopped);
  CHECK(n_stopped > 10 && all > n_stopped);
  gbt_dataset_unref(reference);
  tables_free(t);
}

void suite_source_faults(void) {
  RUN(other_values_in_a_later_pass);
  RUN(other_rows_in_a_later_pass);
  RUN(chunks_that_differ);
  RUN(sources_that_say_what_is_not_so);
  RUN(rows_that_no_number_holds);
  RUN(specs_that_are_refused);
  RUN(validation_data_that_do_not_fit);
  RUN(sources_that_fail);
  RUN(every_allocation_may_fail);
  RUN(may_be_stopped);
}
