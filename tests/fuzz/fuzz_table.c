/* Tables as a host may hand them in: names, kinds, codes, rows of sparse columns and numbers of levels are whatever the
 * input says; only the arrays are as long as they are declared to be. A table that the engine refuses it must refuse in
 * words; one that it takes is binned, bound, trained on and predicted for, and binned again in chunks: as they are, and
 * with a value changed from some pass on.
 *
 * The input is a stream of bytes, which gives zeros after its end. */
#include "../../src/gbt/boost/trainer_impl.h"
#include "chunks.h"
#include "datasets.h"
#include "forests.h"
#include "naive_predict.h"
#include "fuzz.h"

enum { MOST_COLS = 6, MOST_ROWS = 80 };

typedef struct stream {
  const uint8_t *at;
  size_t left;
} stream;

static uint8_t byte_of(stream *s) {
  if (s->left == 0) return 0;
  s->left--;
  return *s->at++;
}

static uint8_t below(stream *s, uint8_t n) { return (uint8_t)(byte_of(s) % n); }

static double number_of(stream *s) {
  static const double odd[] = {NAN,  INFINITY, -INFINITY, -0.0,  1e300,  -1e300, 5e-324, 1e-310,
                               1e15, 1e16,     0.1,       1e-17, -1e-17, 1.0,    2.0,    3.0};
  uint8_t b = byte_of(s);
  return b < 16 ? odd[b] : ((double)b - 128.0) / 4.0;
}

static int32_t whole_of(stream *s) {
  static const int32_t odd[] = {INT32_MIN, INT32_MAX, -1, 0, 1, 65536, -65536, INT32_MIN + 1};
  uint8_t b = byte_of(s);
  return b < 8 ? odd[b] : b < 200 ? b % 8 : b - 200;
}

/* A table; all of its arrays are owned. */
typedef struct own_table {
  gbt_table table;
  gbt_column cols[MOST_COLS];
  void *rows[MOST_COLS], *values[MOST_COLS];
  const char *levels[MOST_COLS][8];
} own_table;

static void draw_values(stream *s, own_table *t, int32_t c, int64_t n) {
  gbt_column *col = &t->cols[c];
  if (n < 0 || below(s, 16) == 15) return;
  size_t size = col->storage == GBT_F64 || col->storage == GBT_I64 ? 8 : 4;
  uint8_t *to = test_alloc((size_t)n * size);
  for (int64_t i = 0; i < n; i++) {
    double x = number_of(s);
    int32_t k = (int32_t)(below(s, 64) == 0 ? whole_of(s) : byte_of(s) % 9);
    int64_t wide = k == INT32_MIN ? INT64_MIN : k;
    memcpy(to + (size_t)i * size, col->storage == GBT_F64 ? (void *)&x : size == 8 ? (void *)&wide : (void *)&k, size);
  }
  col->values = t->values[c] = to;
}

static void draw_column(stream *s, own_table *t, int32_t c) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "a", "", NULL, "\xff"};
  static const char *const texts[] = {"x", "y", "z", "", NULL, "x y", "\xe2\x82\xac", "w"};
  gbt_column *col = &t->cols[c];
  uint8_t odd = byte_of(s);
  col->name = odd < 200 ? names[c] : names[odd % 12];
  col->tag = "";
  col->storage = (gbt_storage)below(s, 4);
  col->type = col->storage == GBT_CODES ? (gbt_feature_type)(1 + below(s, 2)) : GBT_NUMERIC;
  if (odd % 32 == 31) col->type = (gbt_feature_type)(byte_of(s) % 5);
  if (odd % 32 == 30) col->storage = (gbt_storage)(byte_of(s) % 6);
  int64_t n = t->table.n_rows;
  if (below(s, 3) == 0) {
    uint8_t some = byte_of(s);
    n = col->n_entries = some == 255 ? -1 : some % (t->table.n_rows < 0 ? 2 : t->table.n_rows + 2);
    int32_t *rows = t->rows[c] = test_alloc(n < 0 ? 0 : (size_t)n * sizeof *rows), next = 0;
    for (int64_t i = 0; i < n; i++) {
      uint8_t step = byte_of(s);
      rows[i] = step == 255 ? whole_of(s) : next + step % 4;
      next = step == 254 ? next : next + step % 4 + 1;
    }
    col->rows = rows;
  }
  draw_values(s, t, c, n);
  uint8_t n_levels = byte_of(s);
  col->n_levels = n_levels == 255 ? -1 : n_levels % 9;
  for (int32_t i = 0; i < 8; i++) t->levels[c][i] = odd % 16 == 15 ? texts[below(s, 8)] : texts[(odd + i) % 8];
  col->levels = odd % 64 == 63 ? NULL : t->levels[c];
  if (col->n_levels > 8) col->n_levels = 8;
}

static void draw_table(stream *s, own_table *t) {
  memset(t, 0, sizeof *t);
  uint8_t n_rows = byte_of(s);
  t->table.n_rows = n_rows == 255 ? -1 : n_rows % (MOST_ROWS + 1);
  t->table.n_cols = below(s, MOST_COLS + 1);
  uint8_t ways = byte_of(s);
  t->table.absent_missing = ways % 2;
  t->table.no_code_zero = ways > 127;
  t->table.cols = t->cols;
  for (int32_t c = 0; c < t->table.n_cols; c++) draw_column(s, t, c);
}

static void free_own(own_table *t) {
  for (int32_t c = 0; c < MOST_COLS; c++) {
    free(t->rows[c]);
    free(t->values[c]);
  }
}

/* The rules of table.h, once more. */
static int column_ok(const gbt_table *table, const gbt_column *col) {
  int codes = col->storage == GBT_CODES;
  int64_t n = col->rows != NULL ? col->n_entries : table->n_rows;
  if (col->name == NULL || col->name[0] == 0 || (unsigned)col->storage > 3 || (unsigned)col->type > 2) return 0;
  if (codes != (col->type != GBT_NUMERIC) || n < 0 || n > table->n_rows) return 0;
  if (codes && (col->n_levels < 0 || (col->n_levels > 0 && col->levels == NULL))) return 0;
  if (n > 0 && col->values == NULL && (col->rows == NULL || col->storage != GBT_F64)) return 0;
  for (int64_t i = 0; i < n; i++) {
    if (col->rows != NULL && (col->rows[i] < 0 || col->rows[i] >= table->n_rows)) return 0;
    if (col->rows != NULL && i > 0 && col->rows[i] <= col->rows[i - 1]) return 0;
    int32_t code = codes ? ((const int32_t *)col->values)[i] : 0;
    int32_t least = table->no_code_zero ? 1 : 0;
    if (code != INT32_MIN && codes && (code < least || code > col->n_levels)) return 0;
  }
  return 1;
}

static int table_ok(const gbt_table *table) {
  for (int32_t c = 0; c < table->n_cols; c++)
    if (!column_ok(table, &table->cols[c])) return 0;
  return table->n_rows >= 0;
}

/* Whether a call succeeded; when it did not, it explained why and blamed the data, not itself. */
static int went(gbt_status status, const gbt_error *err) {
  CHECK(status == GBT_OK || ((status == GBT_E_DATA || status == GBT_E_ARG) && err->msg[0] != 0));
  return status == GBT_OK;
}

/* A forest of random trees sends the rows where its twin does. */
static void predict_for(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                        test_rng *rng) {
  static const forest_spec spec = {1, 1, 2, 4, SHAPE_BUSHY, 0};
  gbt_binding *binding;
  gbt_error err;
  if (!went(gbt_binding_new(ctx, table, schema, unseen, &binding, &err), &err)) return;
  gbt_forest *forest = make_forest(rng, schema, &spec);
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_tree_range all = {0, view.n_trees};
  if (table->n_rows > 0) {
    int32_t *leaves = twin_leaves(&view, binding, all);
    check_both_ways(ctx, &view, binding, all, leaves);
    free(leaves);
  }
  gbt_forest_free(forest);
  gbt_binding_free(binding);
}

static void train_on(gbt_ctx *ctx, gbt_dataset *data, gbt_dataset *valid, stream *s) {
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = data, .eval_train = 1};
  spec.objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  gbt_trainer *trainer = NULL;
  gbt_error err;
  gbt_stop_reason why;
  double label[MOST_ROWS];
  spec.objective.kind = below(s, 2) ? GBT_OBJ_SQUARED_ERROR : GBT_OBJ_LOGISTIC;
  spec.params.grow_policy = below(s, 3);
  spec.params.max_depth = 3;
  spec.params.min_data_per_group = 1;
  spec.params.subsample = below(s, 2) ? 1.0 : 0.5;
  for (int64_t r = 0; r < MOST_ROWS; r++) label[r] = below(s, 2);
  if (!went(gbt_dataset_lend(ctx, data, GBT_LABEL, label, data->rows.n, &err), &err)) return;
  if (valid != NULL && went(gbt_dataset_lend(ctx, valid, GBT_LABEL, label, valid->rows.n, &err), &err))
    spec.valid[spec.n_valid++] = valid;
  if (went(gbt_trainer_new(ctx, &spec, &trainer, &err), &err)) went(gbt_trainer_run(ctx, trainer, 2, &why, &err), &err);
  gbt_trainer_free(trainer);
}

/* One value anywhere becomes another one that its column may have. */
static void change_value(stream *s, own_table *t) {
  if (t->table.n_cols == 0) return;
  gbt_column *col = &t->cols[below(s, (uint8_t)t->table.n_cols)];
  int64_t n = col->rows != NULL ? col->n_entries : t->table.n_rows;
  if (n <= 0 || col->values == NULL) return;
  int64_t at = byte_of(s) % n;
  if (col->storage == GBT_F64)
    ((double *)(uintptr_t)col->values)[at] = number_of(s);
  else if (col->storage == GBT_I64)
    ((int64_t *)(uintptr_t)col->values)[at] = byte_of(s);
  else if (col->storage == GBT_I32)
    ((int32_t *)(uintptr_t)col->values)[at] = byte_of(s);
  else if (col->n_levels > 0)
    ((int32_t *)(uintptr_t)col->values)[at] = 1 + byte_of(s) % col->n_levels;
}

/* The table in chunks is the data set that it was; with a change on the way it is refused, or none was made. */
static void check_chunks(gbt_ctx *ctx, const own_table *train, stream again, const gbt_dataset *data, int32_t max_bin,
                         int32_t page_rows, stream *s) {
  chunks *c = chunks_new(&train->table, below(s, 3) == 0 ? 0 : 1 + below(s, MOST_ROWS), 1 + byte_of(s));
  const gbt_dataset_spec spec = {
      .source = &c->source, .source_bytes = (size_t)1 + byte_of(s), .max_bin = max_bin, .page_rows = page_rows};
  gbt_dataset *ds = NULL;
  own_table changed;
  gbt_error err;
  if (below(s, 2)) c->source.n_rows = -1;
  if (CHECK(went(gbt_dataset_make(ctx, &spec, &ds, &err), &err))) same_datasets(ds, data);
  gbt_dataset_unref(ds);
  draw_table(&again, &changed);
  change_value(s, &changed);
  c->other = &changed.table;
  c->n_passes = 0;
  c->from = 1 + below(s, 5);
  went(gbt_dataset_make(ctx, &spec, &ds, &err), &err);
  gbt_dataset_unref(ds);
  chunks_free(c);
  free_own(&changed);
}

int fuzz_use(const uint8_t *bytes, size_t n) {
  stream s = {bytes, n}, again = s;
  own_table train, other;
  gbt_error err;
  gbt_dataset *data = NULL, *valid = NULL;
  draw_table(&s, &train);
  draw_table(&s, &other);
  gbt_ctx ctx = test_ctx(NULL, 1);
  test_rng rng = {byte_of(&s)};
  gbt_unseen unseen = (gbt_unseen)below(&s, 3);
  int ok = went(gbt_table_check(&ctx, &train.table, &err), &err);
  CHECK_EQ_I64(ok, table_ok(&train.table));
  int32_t max_bin = 2 + below(&s, 30), page_rows = 1 + below(&s, 40);
  int made = went(dataset_from(&ctx, &train.table, NULL, NULL, max_bin, page_rows, unseen, &data, &err), &err);
  CHECK(ok || !made);
  if (made) {
    check_chunks(&ctx, &train, again, data, max_bin, page_rows, &s);
    predict_for(&ctx, &train.table, data->cuts->schema, GBT_UNSEEN_ERROR, &rng);
    predict_for(&ctx, &other.table, data->cuts->schema, unseen, &rng);
    if (went(dataset_from(&ctx, &other.table, data->cuts, NULL, 2, 16, unseen, &valid, &err), &err))
      CHECK(table_ok(&other.table));
    if (data->rows.n > 0) train_on(&ctx, data, valid, &s);
  }
  gbt_dataset_unref(data);
  gbt_dataset_unref(valid);
  gbt_ctx_close(&ctx);
  free_own(&train);
  free_own(&other);
  return made;
}

uint8_t *fuzz_seed(uint64_t i, size_t *n_bytes) {
  test_rng rng = {i};
  if (i >= 16) return NULL;
  *n_bytes = 512 + 64 * (size_t)i;
  uint8_t *bytes = test_alloc(*n_bytes);
  for (size_t k = 0; k < *n_bytes; k++) bytes[k] = (uint8_t)test_below(&rng, 200);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  fuzz_use(bytes, n);
  return 0;
}

/* Bytes changed, put in, taken out. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  for (int64_t i = 1 + test_below(&rng, 4); i > 0 && n > 0; i--) {
    size_t at = (size_t)test_below(&rng, (int64_t)n);
    int64_t kind = test_below(&rng, 6);
    if (kind == 4 && n < most) {
      memmove(bytes + at + 1, bytes + at, n++ - at);
    } else if (kind == 5 && n > 1) {
      memmove(bytes + at, bytes + at + 1, --n - at);
      continue;
    }
    bytes[at] = (uint8_t)(kind == 0 ? 255 : test_u(&rng));
  }
  return n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most,
                                 unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  size_t head = (size_t)test_below(&rng, (int64_t)n_a + 1), tail = (size_t)test_below(&rng, (int64_t)n_b + 1);
  if (head + n_b - tail > most) return 0;
  memcpy(out, a, head);
  memcpy(out + head, b + tail, n_b - tail);
  return head + n_b - tail;
}
