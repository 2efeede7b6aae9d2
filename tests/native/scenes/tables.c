#include "tables.h"

tables *tables_new(int64_t n_rows) {
  tables *t = test_alloc(sizeof *t);
  memset(t, 0, sizeof *t);
  t->table.n_rows = n_rows;
  return t;
}

void tables_free(tables *t) {
  for (int i = 0; i < t->n_kept; i++) free(t->kept[i]);
  free(t->kept);
  free(t->cols);
  free(t);
}

void *tables_keep(tables *t, const void *from, size_t bytes) {
  if ((t->n_kept & (t->n_kept - 1)) == 0) {
    void **kept = test_alloc((size_t)(t->n_kept * 2 + 1) * sizeof *kept);
    if (t->n_kept > 0) memcpy(kept, t->kept, (size_t)t->n_kept * sizeof *kept);
    free(t->kept);
    t->kept = kept;
  }
  void *block = t->kept[t->n_kept++] = test_alloc(bytes + 1);
  if (from != NULL && bytes > 0) memcpy(block, from, bytes);
  return block;
}

static gbt_column *add(tables *t, const char *name, gbt_feature_type type, gbt_storage storage) {
  if (t->table.n_cols == t->cap) {
    t->cap = t->cap * 2 + 4;
    gbt_column *cols = test_alloc((size_t)t->cap * sizeof *cols);
    if (t->table.n_cols > 0) memcpy(cols, t->cols, (size_t)t->table.n_cols * sizeof *cols);
    free(t->cols);
    t->cols = cols;
  }
  gbt_column *col = &t->cols[t->table.n_cols++];
  memset(col, 0, sizeof *col);
  col->name = tables_keep(t, name, strlen(name) + 1);
  col->tag = "";
  col->type = type;
  col->storage = storage;
  t->table.cols = t->cols;
  return col;
}

static void *convert(tables *t, const double *x, int64_t n, gbt_storage storage) {
  if (storage == GBT_F64) return tables_keep(t, x, (size_t)n * sizeof *x);
  if (storage == GBT_I32) {
    int32_t *v = tables_keep(t, NULL, (size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = x[i] != x[i] ? INT32_MIN : (int32_t)x[i];
    return v;
  }
  int64_t *v = tables_keep(t, NULL, (size_t)n * sizeof *v);
  for (int64_t i = 0; i < n; i++) v[i] = x[i] != x[i] ? INT64_MIN : (int64_t)x[i];
  return v;
}

gbt_column *tables_dense(tables *t, const char *name, const double *x, gbt_storage storage) {
  gbt_column *col = add(t, name, GBT_NUMERIC, storage);
  col->values = convert(t, x, t->table.n_rows, storage);
  return col;
}

gbt_column *tables_f64(tables *t, const char *name, const double *x) { return tables_dense(t, name, x, GBT_F64); }

gbt_column *tables_codes(tables *t, const char *name, gbt_feature_type type, const int32_t *code,
                         const char *const *levels, int32_t n_levels) {
  gbt_column *col = add(t, name, type, GBT_CODES);
  const char **copy = tables_keep(t, NULL, (size_t)n_levels * sizeof *copy);
  for (int32_t i = 0; i < n_levels; i++)
    copy[i] = levels[i] == NULL ? NULL : tables_keep(t, levels[i], strlen(levels[i]) + 1);
  col = &t->cols[t->table.n_cols - 1];
  col->values = tables_keep(t, code, (size_t)t->table.n_rows * sizeof *code);
  col->n_levels = n_levels;
  col->levels = copy;
  return col;
}

gbt_column *tables_sparse(tables *t, const char *name, const double *x, gbt_storage storage, int32_t extra) {
  int64_t n = 0, n_absent = 0;
  double *entry = test_alloc(((size_t)t->table.n_rows + 1) * sizeof *entry);
  int32_t *row = tables_keep(t, NULL, (size_t)t->table.n_rows * sizeof *row);
  for (int64_t r = 0; r < t->table.n_rows; r++) {
    int absent = t->table.absent_missing ? x[r] != x[r] : x[r] == 0.0;
    if (absent && (extra == 0 || n_absent++ % extra != 0)) continue;
    entry[n] = x[r];
    row[n++] = (int32_t)r;
  }
  gbt_column *col = add(t, name, GBT_NUMERIC, storage);
  col->values = convert(t, entry, n, storage);
  col->rows = row;
  col->n_entries = n;
  free(entry);
  return col;
}

double tables_draw(test_rng *rng, int kind) {
  switch (kind) {
  case DRAW_BELL:
    return test_bell(rng);
  case DRAW_UNIT:
    return test_unit(rng);
  case DRAW_FEW:
    return (double)(test_below(rng, 7) - 3);
  case DRAW_WHOLE:
    return (double)test_below(rng, 100000);
  case DRAW_ZEROS:
    return test_below(rng, 5) > 0 ? 0.0 : test_bell(rng);
  case DRAW_HEAVY:
    return test_below(rng, 3) > 0 ? (double)test_below(rng, 4) : 2.0 * test_bell(rng);
  case DRAW_WILD: {
    static const double some[] = {0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-310, 1.7e308, -1.7e308, 1.0, -1.0};
    int64_t pick = test_below(rng, 40);
    if (pick < 10) return some[pick];
    if (pick < 14) return pick & 1 ? (double)INFINITY : -(double)INFINITY;
    double x = gbt_from_bits(test_u(rng));
    return x == x ? x : 0.25;
  }
  case DRAW_HUGE:
    return (test_below(rng, 2) ? 1e308 : -1e308) * (1.0 + 0.7 * test_unit(rng));
  case DRAW_CLOSE:
    return gbt_from_bits(gbt_bits(1.0) + (uint64_t)test_below(rng, 3000));
  case DRAW_CONSTANT:
    return 42.0;
  case DRAW_CLUSTER:
    if (test_below(rng, 2)) return 3.0 + 1e-9 * test_unit(rng);
    return gbt_from_bits(gbt_bits(1.0) + (uint64_t)(int64_t)((test_unit(rng) - 0.5) * 0x1p62));
  }
  return 0.0;
}

/* ---- tables of all kinds ---- */

static const char *const levels[] = {"a", "b", NULL, "c", "b", "d", "e", "f", "g", "rare"};

static double draw_value(test_rng *rng, int kind, int missing) {
  return missing && test_below(rng, missing) == 0 ? (double)NAN : tables_draw(rng, kind);
}

static void add_codes(tables *t, test_rng *rng, const char *name, gbt_feature_type type, int32_t n_levels, int sparse) {
  int64_t n = t->table.n_rows;
  int32_t *code = test_alloc(((size_t)n + 1) * sizeof *code);
  for (int64_t i = 0; i < n; i++) {
    code[i] = (int32_t)test_below(rng, n_levels + 1); /* 0 is missing */
    if (test_below(rng, 3)) code[i] = code[i] % 3;
    if (test_below(rng, 40) == 0) code[i] = INT32_MIN;
  }
  gbt_column *col = tables_codes(t, name, type, code, levels, n_levels);
  free(code);
  if (!sparse) return;
  int32_t *row = tables_keep(t, NULL, (size_t)n * sizeof *row);
  int64_t e = 0;
  for (int64_t i = 0; i < n; i++) {
    if (test_below(rng, 3) == 0) row[e++] = (int32_t)i;
  }
  col->rows = row; /* codes are those of the first e rows, which is as good as any */
  col->n_entries = e;
}

/* All kinds of numbers in all storages. */
static void add_numbers(tables *t, test_rng *rng, int kind, int storage, const char *name) {
  int64_t n = t->table.n_rows;
  int whole = kind == DRAW_FEW || kind == DRAW_WHOLE || kind == DRAW_CONSTANT;
  int missing = (int)test_below(rng, 3) * 4;
  double *x = test_alloc(((size_t)n + 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = draw_value(rng, kind, missing);
  gbt_storage as = whole && storage % 3 > 0 ? (storage % 3 == 1 ? GBT_I32 : GBT_I64) : GBT_F64;
  if (storage >= 6)
    tables_sparse(t, name, x, as, (int32_t)test_below(rng, 4));
  else
    tables_dense(t, name, x, as);
  free(x);
}

/* Every row in one of a few columns of ones, as a factor taken apart; and columns that are nearly empty. */
static void add_sparse(tables *t, test_rng *rng, int n_cols) {
  int64_t n = t->table.n_rows;
  double *x = test_alloc((size_t)(n + 1) * (size_t)n_cols * 2 * sizeof *x);
  for (int64_t i = 0; i < n * n_cols * 2; i++) x[i] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    x[test_below(rng, n_cols) * n + i] = 1.0;
    if (test_below(rng, 4) == 0) x[(n_cols + test_below(rng, n_cols)) * n + i] = tables_draw(rng, DRAW_WHOLE);
  }
  for (int c = 0; c < 2 * n_cols; c++) {
    char name[24];
    snprintf(name, sizeof name, "%s%d", c < n_cols ? "one" : "some", c);
    gbt_column *col = tables_sparse(t, name, x + c * n, GBT_F64, c % 3 == 2 && c >= n_cols ? 50 : 0);
    if (c < n_cols && c % 2) col->values = NULL; /* all are 1 */
  }
  free(x);
}

tables *tables_of_all(test_rng *rng, tables_shape s, int32_t n_levels) {
  tables *t = tables_new(s.n_rows);
  char name[24];
  t->table.absent_missing = s.absent_missing;
  for (int c = 0; c < s.n_numbers; c++) {
    snprintf(name, sizeof name, "x%d", c);
    add_numbers(t, rng, c % N_DRAWS, (int)test_below(rng, 8), name);
  }
  for (int c = 0; c < s.n_codes; c++) {
    snprintf(name, sizeof name, "f%d", c);
    add_codes(t, rng, name, c % 2 ? GBT_ORDINAL : GBT_CATEGORICAL, n_levels, c % 5 == 4);
  }
  if (s.n_sparse > 0) add_sparse(t, rng, s.n_sparse);
  return t;
}

double *tables_weights(tables *t, test_rng *rng, int kind) {
  double *w = tables_keep(t, NULL, ((size_t)t->table.n_rows + 1) * sizeof *w);
  for (int64_t i = 0; i < t->table.n_rows; i++) {
    if (kind == 1)
      w[i] = (double)test_below(rng, 3);
    else if (kind == 2)
      w[i] = test_unit(rng);
    else if (kind == 3)
      w[i] = test_below(rng, 50) ? 0.0 : 1e300;
    else
      w[i] = ldexp(test_unit(rng), (int)test_below(rng, 400) - 200);
  }
  return kind == 0 ? NULL : w;
}
