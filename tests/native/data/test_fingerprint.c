/* Fingerprints: the same for the same data, whoever has them; others for other data. */
#include "made.h"
#include "ranks.h"

#include "../../../src/gbt/data/dataset_impl.h"

enum { ROWS = 60, COLS = MADE_KINDS };

static made *all_kinds(void) {
  made_kind kinds[COLS];
  for (int k = 0; k < COLS; k++) kinds[k] = (made_kind)k;
  made *m = made_new(5, ROWS, COLS, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
  made_weights(m, 4);
  made_offset(m, 2, 5);
  return m;
}

/* mask: of the rows, or NULL. */
static gbt_status fingerprint_of(gbt_ctx *ctx, const made *m, const int *mask, int32_t page_rows, uint64_t *out,
                                 gbt_error *err) {
  static const char *const classes[] = {"no", "yes"};
  const gbt_dataset_spec spec = {.table = &m->table, .max_bin = 8, .page_rows = page_rows};
  const int64_t n = m->table.n_rows;
  gbt_dataset *ds, *part = NULL;
  GBT_TRY(gbt_dataset_make(ctx, &spec, &ds, err));
  gbt_status status = mask != NULL ? gbt_dataset_mask(ctx, ds, mask, 1, &part, err) : gbt_dataset_view(ds, &part, err);
  if (status == GBT_OK && mask == NULL) {
    status = gbt_dataset_lend(ctx, part, GBT_LABEL, m->label, n, err);
    if (status == GBT_OK) status = gbt_dataset_lend(ctx, part, GBT_WEIGHT, m->weight, n, err);
    if (status == GBT_OK) status = gbt_dataset_lend(ctx, part, GBT_OFFSET, m->offset, n * m->n_offset, err);
    status = gbt_comm_agree(ctx, status, err);
  }
  if (status == GBT_OK) status = gbt_dataset_fingerprint(ctx, part, classes, 2, out, err);
  gbt_dataset_unref(part);
  gbt_dataset_unref(ds);
  return status;
}

static uint64_t fingerprint(const made *m, const int *mask) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  uint64_t out = 0;
  CHECK_OK(fingerprint_of(&ctx, m, mask, 0, &out, test_err));
  CHECK(out != 0);
  gbt_ctx_close(&ctx);
  return out;
}

/* ---- shares of ranks ---- */

typedef struct shared_out {
  made *share[RANKS_MOST];
  const int *mask[RANKS_MOST];
  uint64_t out[RANKS_MOST];
  gbt_status status[RANKS_MOST];
} shared_out;

static void one_rank(void *arg, const gbt_comm *comm) {
  shared_out *s = arg;
  const int r = comm->rank;
  gbt_error err;
  gbt_ctx ctx = test_ctx(NULL, 1 + r % 2);
  ctx.comm = comm;
  s->status[r] = fingerprint_of(&ctx, s->share[r], s->mask[r], r % 2 ? 7 : 0, &s->out[r], &err);
  gbt_ctx_close(&ctx);
}

static void ranks_have_that_of_all_rows(void) {
  made *m = all_kinds();
  int mask[ROWS];
  for (int i = 0; i < ROWS; i++) mask[i] = i % 5 != 2;
  for (int masked = 0; masked < 2; masked++) {
    const uint64_t want = fingerprint(m, masked ? mask : NULL);
    for (int size = 1; size <= 5; size++) {
      shared_out s = {.out = {0}};
      int64_t rows[ROWS], beg = 0;
      for (int r = 0; r < size; r++) { /* rank 1 of three and more has none */
        const int64_t end = r == size - 1 ? ROWS : r == 1 ? beg : ROWS * (r + 1) / (size + 1);
        for (int64_t i = beg; i < end; i++) rows[i - beg] = i;
        s.share[r] = made_rows(m, rows, end - beg);
        s.mask[r] = masked ? mask + beg : NULL;
        beg = end;
      }
      ranks_run(size, one_rank, &s);
      for (int r = 0; r < size; r++) {
        if (CHECK_EQ_I64(s.status[r], GBT_OK)) CHECK_EQ_U64(s.out[r], want);
        made_free(s.share[r]);
      }
    }
  }
  made_free(m);
}

/* ---- storage ---- */

static void entries_are_as_good_as_columns(void) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    made *m = made_new(seed, 200, 9, NULL);
    made_response(m, GBT_OBJ_SQUARED_ERROR, 1, seed);
    made_weights(m, 1);
    made_offset(m, 1, 1);
    made *sparse = made_sparse(m, seed % 3);
    CHECK_EQ_U64(fingerprint(m, NULL), fingerprint(sparse, NULL));
    made_free(sparse);
    made_free(m);
  }
}

/* Absent entries that are missing values. */
static void absent_rows_are_missing_values(void) {
  enum { N = 50, FILLED = 7 };
  static const double filled[FILLED] = {1.5, -2, 0, 4, 5, 6, 7};
  static const int32_t rows[FILLED] = {0, 3, 4, 11, 30, 48, 49};
  double x[N];
  gbt_column dense = {.name = "a", .tag = "", .type = GBT_NUMERIC, .storage = GBT_F64, .values = x}, sparse = dense;
  made m = {.table = {.n_rows = N, .n_cols = 1, .cols = &dense}};
  int mask[N];
  for (int i = 0; i < N; i++) {
    x[i] = (double)NAN;
    mask[i] = 1;
  }
  for (int k = 0; k < FILLED; k++) x[rows[k]] = filled[k];
  const uint64_t want = fingerprint(&m, mask);
  sparse.values = filled;
  sparse.rows = rows;
  sparse.n_entries = FILLED;
  m.table.cols = &sparse;
  m.table.absent_missing = 1;
  CHECK_EQ_U64(fingerprint(&m, mask), want);
  m.table.absent_missing = 0;
  CHECK(fingerprint(&m, mask) != want);
}

/* ---- changes ---- */

/* Another value in place of the one of a cell: calling it once more takes the change back. */
static void change_cell(const gbt_column *col, int64_t row) {
  double *x = (double *)(uintptr_t)col->values;
  int32_t *code = (int32_t *)(uintptr_t)col->values;
  static double before;
  static int32_t code_before;
  static const gbt_column *changed;
  if (changed == col) {
    if (col->storage == GBT_F64)
      x[row] = before;
    else
      code[row] = code_before;
    changed = NULL;
    return;
  }
  changed = col;
  if (col->storage == GBT_F64) {
    before = x[row];
    x[row] = x[row] == x[row] ? (double)NAN : 0.0;
  } else {
    code_before = code[row];
    code[row] = code[row] == 1 ? 2 : 1;
  }
}

static void every_cell_counts(void) {
  made *m = all_kinds();
  const uint64_t want = fingerprint(m, NULL);
  uint64_t seen[ROWS * COLS];
  int n = 0, n_same = 0;
  for (int32_t c = 0; c < COLS; c++)
    for (int64_t r = 0; r < ROWS; r++) {
      change_cell(&m->table.cols[c], r);
      seen[n++] = fingerprint(m, NULL);
      change_cell(&m->table.cols[c], r);
    }
  for (int i = 0; i < n; i++) {
    n_same += seen[i] == want;
    for (int k = 0; k < i; k++) n_same += seen[i] == seen[k];
  }
  CHECK_EQ_I64(n_same, 0);
  CHECK_EQ_U64(fingerprint(m, NULL), want);
  double *fields[] = {m->label, m->weight, m->offset};
  for (int f = 0; f < 3; f++) {
    const double was = fields[f][ROWS - 1];
    fields[f][ROWS - 1] += 1.0;
    CHECK(fingerprint(m, NULL) != want);
    fields[f][ROWS - 1] = was;
  }
  made_free(m);
}

/* Rows in another order, two columns with each other's values. */
static void places_count(void) {
  made *m = all_kinds();
  int64_t rows[ROWS];
  for (int64_t i = 0; i < ROWS; i++) rows[i] = i == 7 ? 8 : i == 8 ? 7 : i;
  made *other = made_rows(m, rows, ROWS);
  CHECK(fingerprint(m, NULL) != fingerprint(other, NULL));
  made_free(other);
  const uint64_t want = fingerprint(m, NULL);
  gbt_column *cols = (gbt_column *)(uintptr_t)m->table.cols;
  const void *values = cols[MADE_BELL].values;
  cols[MADE_BELL].values = cols[MADE_EXTREME].values;
  cols[MADE_EXTREME].values = values;
  CHECK(fingerprint(m, NULL) != want);
  cols[MADE_EXTREME].values = cols[MADE_BELL].values;
  cols[MADE_BELL].values = values;
  CHECK_EQ_U64(fingerprint(m, NULL), want);
  const char *name = cols[0].name;
  cols[0].name = "another";
  CHECK(fingerprint(m, NULL) != want);
  cols[0].name = name;
  made_free(m);
}

/* Every instruction set adds up the same parts. */
static void instruction_sets_agree(void) {
  made *m = all_kinds();
  const uint64_t want = fingerprint(m, NULL);
  for (int simd = GBT_SIMD_SCALAR; simd <= (int)gbt_simd_best(); simd++) {
    gbt_ctx ctx = test_ctx(NULL, 1);
    uint64_t got = 0;
    ctx.simd = (gbt_simd)simd;
    CHECK_OK(fingerprint_of(&ctx, m, NULL, 0, &got, test_err));
    CHECK_EQ_U64(got, want);
    gbt_ctx_close(&ctx);
  }
  made_free(m);
}

void suite_fingerprint(void) {
  RUN(ranks_have_that_of_all_rows);
  RUN(entries_are_as_good_as_columns);
  RUN(absent_rows_are_missing_values);
  RUN(every_cell_counts);
  RUN(places_count);
  RUN(instruction_sets_agree);
}
