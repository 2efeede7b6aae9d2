/* Data sets: cuts and pages together, and the numbers of the rows. */
#include "../../src/gbt/data/dataset_impl.h"
#include "datasets.h"
#include "fault.h"
#include "stores.h"
#include "tables.h"

enum { N = 300 };

static tables *small_table(uint64_t seed) {
  test_rng rng = {seed};
  double x[N], y[N];
  int32_t code[N];
  static const char *const levels[] = {"u", "v", "w"};
  for (int i = 0; i < N; i++) {
    x[i] = test_bell(&rng);
    y[i] = test_below(&rng, 30) ? 0.0 : test_unit(&rng);
    code[i] = (int32_t)test_below(&rng, 4);
  }
  tables *t = tables_new(N);
  tables_f64(t, "x", x);
  for (int c = 0; c < 9; c++) tables_sparse(t, (char[3]){'y', (char)('0' + c), 0}, y, GBT_F64, 0);
  tables_codes(t, "f", GBT_CATEGORICAL, code, levels, 3);
  return t;
}

static gbt_dataset *make(const tables *t, gbt_cuts *cuts, const double *weight) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *ds = NULL;
  CHECK_OK(dataset_from(&ctx, &t->table, cuts, weight, 16, 100, GBT_UNSEEN_ERROR, &ds, test_err));
  gbt_ctx_close(&ctx);
  return ds;
}

static void making(void) {
  tables *t = small_table(1), *u = small_table(2);
  double w[N];
  for (int i = 0; i < N; i++) w[i] = i < 30 ? 5.0 : 0.0;
  gbt_dataset *train = make(t, NULL, NULL), *weighty = make(t, NULL, w);
  CHECK_EQ_I64(train->rows.n, N);
  CHECK_EQ_I64(gbt_pages_n_pages(train->pages), 3);
  CHECK_EQ_I64(gbt_pages_layout(train->pages)->n_sparse, 9);
  CHECK_EQ_I64(train->cuts->refs, 1);
  for (int f = 0; f < GBT_N_FIELDS; f++) CHECK(train->rows.field[f] == NULL && weighty->rows.field[f] == NULL);
  CHECK(memcmp(train->cuts->feat[0].cut, weighty->cuts->feat[0].cut, 15 * sizeof(double)) != 0);
  gbt_dataset *valid = make(u, train->cuts, NULL);
  CHECK(valid->cuts == train->cuts);
  CHECK_EQ_I64(train->cuts->refs, 2);
  CHECK_EQ_I64(gbt_pages_layout(valid->pages)->n_slots, gbt_pages_layout(train->pages)->n_slots);
  for (int r = 0; r < N; r++) {
    double x = ((const double *)u->cols[0].values)[r];
    CHECK_EQ_I64(code_at(valid->pages, valid->cuts, r, 0), gbt_cuts_bin(&train->cuts->feat[0], x));
  }
  CHECK(gbt_dataset_ref(valid) == valid);
  gbt_dataset_unref(valid);
  gbt_dataset_unref(train); /* valid keeps the cuts alive */
  CHECK_EQ_I64(valid->cuts->refs, 1);
  gbt_dataset_unref(valid);
  gbt_dataset_unref(weighty);
  gbt_dataset_unref(NULL);
  tables_free(t);
  tables_free(u);
}

/* Levels beyond GBT_MAX_LEVELS are known but have no bin: no error, but missing. */
static void rare_levels(void) {
  enum { LEVELS = GBT_MAX_LEVELS + 3 };
  tables *t = tables_new(LEVELS);
  char(*text)[16] = test_alloc(LEVELS * sizeof *text);
  const char **levels = test_alloc(LEVELS * sizeof *levels);
  int32_t *code = test_alloc(LEVELS * sizeof *code);
  for (int i = 0; i < LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    levels[i] = text[i];
    code[i] = i + 1;
  }
  tables_codes(t, "f", GBT_CATEGORICAL, code, levels, LEVELS);
  gbt_dataset *ds = make(t, NULL, NULL); /* unseen = error */
  for (int r = 0; ds != NULL && r < LEVELS; r += r < 60000 ? 777 : 1)
    CHECK_EQ_I64(code_at(ds->pages, ds->cuts, r, 0), r < GBT_MAX_LEVELS ? r : GBT_MAX_LEVELS);
  gbt_dataset_unref(ds);
  free(text);
  free(levels);
  free(code);
  tables_free(t);
}

static gbt_status set_field(gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbt_status status = gbt_dataset_set(&ctx, ds, field, x, n, err);
  gbt_ctx_close(&ctx);
  return status;
}

static gbt_status lend_field(gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbt_status status = gbt_dataset_lend(&ctx, ds, field, x, n, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void fields(void) {
  tables *t = small_table(3);
  gbt_dataset *ds = make(t, NULL, NULL);
  double x[2 * N];
  for (int i = 0; i < 2 * N; i++) x[i] = i;
  CHECK_OK(set_field(ds, GBT_LABEL, x, N, test_err));
  CHECK_OK(set_field(ds, GBT_WEIGHT, x + 1, N, test_err));
  CHECK_OK(set_field(ds, GBT_OFFSET, x, 2 * N, test_err));
  CHECK_EQ_I64(ds->rows.n_outputs[GBT_OFFSET], 2);
  CHECK_EQ_BYTES(ds->rows.field[GBT_LABEL], x, sizeof x / 2);
  CHECK_EQ_BYTES(ds->rows.field[GBT_WEIGHT], x + 1, sizeof x / 2);
  CHECK_EQ_BYTES(ds->rows.field[GBT_OFFSET], x, sizeof x);
  CHECK(ds->rows.field[GBT_LABEL] != x);
  CHECK_OK(set_field(ds, GBT_OFFSET, NULL, 0, test_err));
  CHECK_OK(set_field(ds, GBT_WEIGHT, NULL, 0, test_err));
  CHECK(ds->rows.field[GBT_OFFSET] == NULL && ds->rows.n_outputs[GBT_OFFSET] == 0);
  CHECK(ds->rows.field[GBT_WEIGHT] == NULL);

  CHECK_FAILS(set_field(ds, GBT_LABEL, x, N - 1, test_err), GBT_E_DATA, "label: 299 numbers for 300 rows");
  CHECK_FAILS(set_field(ds, GBT_LABEL, x, -1, test_err), GBT_E_DATA, "label: -1 numbers");
  CHECK_FAILS(set_field(ds, GBT_OFFSET, x, N + 1, test_err), GBT_E_DATA, "offset: 301 numbers");
  CHECK_FAILS(set_field(ds, GBT_N_FIELDS, x, N, test_err), GBT_E_ARG, "no field number 11");
  x[7] = (double)NAN;
  CHECK_FAILS(set_field(ds, GBT_LABEL, x, N, test_err), GBT_E_DATA, "label: row 8 is missing");
  x[7] = -(double)INFINITY;
  CHECK_FAILS(set_field(ds, GBT_LABEL, x, N, test_err), GBT_E_DATA, "label: row 8 is infinite");
  x[7] = 7.0;
  x[N + 9] = (double)NAN;
  CHECK_FAILS(set_field(ds, GBT_OFFSET, x, 2 * N, test_err), GBT_E_DATA, "offset: row 10 is missing");
  x[3] = -1.0;
  CHECK_OK(set_field(ds, GBT_OFFSET, x, N, test_err));
  CHECK_FAILS(set_field(ds, GBT_WEIGHT, x, N, test_err), GBT_E_DATA, "weights: row 4 is negative");
  for (int i = 0; i < N; i++) x[i] = 0.0;
  CHECK_FAILS(set_field(ds, GBT_WEIGHT, x, N, test_err), GBT_E_DATA, "weights: all are 0");
  CHECK_EQ_BITS(ds->rows.field[GBT_LABEL][7], 7.0); /* failures change nothing */
  CHECK_EQ_BITS(ds->rows.field[GBT_OFFSET][3], -1.0);
  CHECK(ds->rows.field[GBT_WEIGHT] == NULL);
  gbt_dataset_unref(ds);
  tables_free(t);
}

/* Lent numbers are used where they are; copies and loans may follow each other. */
static void lending(void) {
  tables *t = small_table(8);
  gbt_dataset *ds = make(t, NULL, NULL);
  double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = y[i] = i;
  CHECK_OK(set_field(ds, GBT_LABEL, x, N, test_err));
  CHECK_OK(lend_field(ds, GBT_LABEL, x, N, test_err));
  CHECK(ds->rows.field[GBT_LABEL] == x);
  CHECK_OK(lend_field(ds, GBT_WEIGHT, y, N, test_err));
  CHECK_OK(lend_field(ds, GBT_OFFSET, y, N, test_err));
  CHECK_EQ_I64(ds->rows.n_outputs[GBT_OFFSET], 1);
  y[2] = (double)NAN;
  CHECK_FAILS(lend_field(ds, GBT_LABEL, y, N, test_err), GBT_E_DATA, "label: row 3 is missing");
  CHECK(ds->rows.field[GBT_LABEL] == x);
  CHECK_OK(set_field(ds, GBT_LABEL, x, N, test_err));
  CHECK(ds->rows.field[GBT_LABEL] != x);
  CHECK_EQ_BYTES(ds->rows.field[GBT_LABEL], x, sizeof x);
  CHECK_OK(lend_field(ds, GBT_OFFSET, NULL, 0, test_err));
  CHECK(ds->rows.field[GBT_OFFSET] == NULL && ds->rows.n_outputs[GBT_OFFSET] == 0);
  gbt_dataset_unref(ds);
  tables_free(t);
}

static void no_rows(void) {
  tables *t = small_table(4), *none = small_table(4);
  none->table.n_rows = 0;
  for (int c = 1; c < 10; c++) none->cols[c].n_entries = 0;
  gbt_dataset *train = make(t, NULL, NULL), *valid = make(none, train->cuts, NULL), *empty = make(none, NULL, NULL);
  CHECK_EQ_I64(gbt_pages_n_pages(valid->pages), 0);
  CHECK_EQ_I64(empty->cuts->feat[0].n_bins, 1);
  CHECK_OK(set_field(valid, GBT_LABEL, NULL, 0, test_err));
  double x = 1.0;
  CHECK_FAILS(set_field(valid, GBT_LABEL, &x, 1, test_err), GBT_E_DATA, "1 numbers for 0 rows");
  CHECK_FAILS(set_field(valid, GBT_OFFSET, &x, 1, test_err), GBT_E_DATA, "1 numbers for 0 rows");
  gbt_dataset_unref(train);
  gbt_dataset_unref(valid);
  gbt_dataset_unref(empty);
  tables_free(t);
  tables_free(none);
}

static void faults(void) {
  tables *t = small_table(5), *u = small_table(6);
  gbt_dataset *train = make(t, NULL, NULL), *ds;
  gbt_ctx ctx = test_ctx(NULL, 1);
  u->cols[0].name = "z";
  CHECK_FAILS(dataset_from(&ctx, &u->table, train->cuts, NULL, 16, 0, GBT_UNSEEN_PRIOR, &ds, test_err), GBT_E_DATA,
              "`x`; columns are matched by name");
  CHECK(ds == NULL);
  CHECK_EQ_I64(train->cuts->refs, 1);
  CHECK_FAILS(dataset_from(&ctx, &u->table, NULL, NULL, 1, 0, GBT_UNSEEN_PRIOR, &ds, test_err), GBT_E_ARG, "max_bin");
  CHECK_FAILS(dataset_from(&ctx, &u->table, NULL, NULL, 16, -5, GBT_UNSEEN_PRIOR, &ds, test_err), GBT_E_ARG,
              "page_rows");
  u->cols[0].name = "x";
  u->cols[10].n_levels = 2;
  CHECK_FAILS(dataset_from(&ctx, &u->table, train->cuts, NULL, 16, 0, GBT_UNSEEN_PRIOR, &ds, test_err), GBT_E_DATA,
              "there is no level 3");
  CHECK(ds == NULL);
  gbt_ctx_close(&ctx);
  gbt_dataset_unref(train);
  tables_free(t);
  tables_free(u);
}

typedef struct sweep {
  const tables *t;
  gbt_cuts *cuts;
} sweep;

static gbt_status dataset_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const sweep *in = arg;
  gbt_dataset *ds;
  double x[N];
  gbt_ctx ctx = test_ctx(mem, 1);
  gbt_status status = dataset_from(&ctx, &in->t->table, in->cuts, NULL, 16, 100, GBT_UNSEEN_ERROR, &ds, err);
  CHECK_EQ_I64(ds != NULL, status == GBT_OK);
  for (int i = 0; i < N; i++) x[i] = i;
  for (int field = 0; field < GBT_N_FIELDS && status == GBT_OK; field++) {
    status = gbt_dataset_set(&ctx, ds, (gbt_field)field, x, N, err);
    if (status == GBT_OK) status = gbt_dataset_set(&ctx, ds, (gbt_field)field, x, N, err);
  }
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  return status;
}

static void failing_memory(void) {
  tables *t = small_table(7);
  gbt_dataset *train = make(t, NULL, NULL);
  sweep in = {t, NULL};
  CHECK(fault_sweep(dataset_op, &in) > 30);
  in.cuts = train->cuts;
  CHECK(fault_sweep(dataset_op, &in) > 20);
  CHECK_EQ_I64(train->cuts->refs, 1);
  gbt_dataset_unref(train);
  tables_free(t);
}

/* A view has the rows of its data set and numbers of its own, and outlives it. */
static void views(void) {
  tables *t = small_table(9);
  fault f;
  gbt_ctx ctx;
  gbt_dataset *ds = NULL, *view, *none;
  double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = y[i] = i + 1;
  fault_start(&f, 0, 0);
  REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  REQUIRE_OK(dataset_from(&ctx, &t->table, NULL, NULL, 255, 100, GBT_UNSEEN_MISSING, &ds, test_err));
  gbt_ctx_close(&ctx);
  CHECK_OK(set_field(ds, GBT_LABEL, x, N, test_err));
  REQUIRE_OK(gbt_dataset_view(ds, &view, test_err));
  CHECK(view->cuts == ds->cuts && view->pages == ds->pages && view->rows.n == N);
  for (int k = 0; k < GBT_N_FIELDS; k++) CHECK(view->rows.field[k] == NULL);
  CHECK_OK(lend_field(view, GBT_LABEL, y, N, test_err));
  CHECK_OK(set_field(view, GBT_WEIGHT, y, N, test_err));
  CHECK(view->rows.field[GBT_LABEL] == y && ds->rows.field[GBT_WEIGHT] == NULL);
  CHECK_EQ_BYTES(ds->rows.field[GBT_LABEL], x, sizeof x);
  f.fail_at = f.n_calls + 1;
  CHECK_FAILS(gbt_dataset_view(ds, &none, test_err), GBT_E_MEM, "out of memory");
  CHECK(none == NULL);
  const gbt_page_store *pages = ds->pages;
  gbt_dataset_unref(ds);
  CHECK(view->pages == pages && gbt_pages_n_rows(pages) == N && view->cuts->refs == 1 && pages->refs == 1);
  gbt_dataset_unref(view);
  CHECK_EQ_I64(f.n_live, 0);
  tables_free(t);
}

void suite_dataset(void) {
  RUN(making);
  RUN(rare_levels);
  RUN(fields);
  RUN(lending);
  RUN(views);
  RUN(no_rows);
  RUN(faults);
  RUN(failing_memory);
}
