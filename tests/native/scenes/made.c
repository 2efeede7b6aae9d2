#include "datasets.h"
#include "made.h"

enum { TEXT = 24 };

static const int32_t n_levels_of[MADE_KINDS] = {
    [MADE_FACTOR] = 3, [MADE_LEVELS] = 40, [MADE_HOLED] = 7, [MADE_ORDERED] = 5};

/* n texts of the form prefix + number, with the pointers to them, in one block. */
static const char **make_texts(const char *prefix, int32_t n) {
  const char **texts = test_alloc((size_t)n * (sizeof *texts + TEXT));
  char *at = (char *)(texts + n);
  for (int32_t i = 0; i < n; i++, at += TEXT) {
    snprintf(at, TEXT, "%s%d", prefix, (int)i + 1);
    texts[i] = at;
  }
  return texts;
}

static double number_of(made_kind kind, test_rng *rng) {
  static const double odd[] = {INFINITY, -INFINITY, 1e300, -1e300, 4.9e-324, -4.9e-324, 0.0, -0.0, 1e-9, 1.0};
  switch (kind) {
  case MADE_BELL:
    return test_bell(rng);
  case MADE_HOLES:
    return test_below(rng, 4) ? test_bell(rng) : NAN;
  case MADE_ZEROS:
    return test_below(rng, 40) ? 0.0 : test_below(rng, 10) ? test_bell(rng) : NAN;
  case MADE_EXTREME:
    return test_below(rng, 3) ? test_bell(rng) : odd[test_below(rng, 10)];
  case MADE_CONSTANT:
    return 2.5;
  default:
    return NAN;
  }
}

/* Codes with levels of unequal frequency: level 1 most often. */
static int32_t code_of(made_kind kind, test_rng *rng) {
  int32_t n = n_levels_of[kind];
  double u = test_unit(rng);
  if ((kind == MADE_HOLED || kind == MADE_ORDERED) && test_below(rng, 6) == 0) return INT32_MIN;
  return 1 + (int32_t)(u * u * n);
}

/* A column's part in the signal: bends, steps and levels, something for missing values. */
static double part_of(made_kind kind, int32_t col, double x, int32_t code) {
  double sign = col % 2 ? -1.0 : 1.0;
  if (n_levels_of[kind] > 0) {
    if (code == INT32_MIN) return 0.7 * sign;
    return sign * ((double)(gbt_mix64((uint64_t)code) % 1000) / 500.0 - 1.0);
  }
  if (kind == MADE_FEW) return sign * (x > 4.0 ? 1.0 : -0.2 * x);
  if (x != x) return -0.8 * sign;
  if (kind == MADE_ZEROS) return x != 0.0 ? 1.5 * sign : 0.0;
  return sign * (x > 0.3 ? 1.0 : x < -5.0 ? -5.0 : x);
}

static void fill_column(made *m, int32_t c, gbt_column *col, test_rng *rng) {
  made_kind kind = m->kind[c];
  int64_t n = m->table.n_rows;
  int ints = kind == MADE_FEW || n_levels_of[kind] > 0;
  double *x = test_alloc((size_t)n * sizeof *x);
  int32_t *codes = test_alloc((size_t)n * sizeof *codes);
  for (int64_t r = 0; r < n; r++) {
    codes[r] = kind == MADE_FEW ? (int32_t)test_below(rng, 10) - 2 : 0;
    if (n_levels_of[kind] > 0) codes[r] = code_of(kind, rng);
    x[r] = kind == MADE_FEW ? codes[r] : ints ? 0.0 : number_of(kind, rng);
    m->signal[r] += part_of(kind, c, x[r], codes[r]);
  }
  col->storage = kind == MADE_FEW ? GBT_I32 : ints ? GBT_CODES : GBT_F64;
  col->values = ints ? (void *)codes : x;
  free(ints ? (void *)x : codes);
  if (n_levels_of[kind] == 0) return;
  col->type = kind == MADE_ORDERED ? GBT_ORDINAL : GBT_CATEGORICAL;
  col->n_levels = n_levels_of[kind];
  col->levels = make_texts("level ", col->n_levels);
}

static made *make_empty(int64_t n_rows, int32_t n_cols) {
  made *m = test_alloc(sizeof *m);
  memset(m, 0, sizeof *m);
  gbt_column *cols = test_alloc((size_t)n_cols * sizeof *cols);
  m->names = make_texts("x", n_cols);
  memset(cols, 0, (size_t)n_cols * sizeof *cols);
  for (int32_t c = 0; c < n_cols; c++) {
    cols[c].name = m->names[c];
    cols[c].tag = "";
  }
  m->table.n_rows = n_rows;
  m->table.n_cols = n_cols;
  m->table.cols = cols;
  m->kind = test_alloc((size_t)n_cols * sizeof *m->kind);
  m->signal = test_alloc((size_t)n_rows * sizeof *m->signal);
  memset(m->signal, 0, (size_t)n_rows * sizeof *m->signal);
  return m;
}

made *made_new(uint64_t seed, int64_t n_rows, int32_t n_cols, const made_kind *kinds) {
  test_rng rng = {gbt_mix64(seed)};
  made *m = make_empty(n_rows, n_cols);
  for (int32_t c = 0; c < n_cols; c++) {
    m->kind[c] = kinds != NULL ? kinds[c] : (made_kind)test_below(&rng, MADE_KINDS);
    fill_column(m, c, (gbt_column *)&m->table.cols[c], &rng);
  }
  return m;
}

made *made_levels(uint64_t seed, int64_t n_rows, int32_t n_levels) {
  const made_kind kinds[] = {MADE_HOLED, MADE_BELL};
  made *m = made_new(seed, n_rows, 2, kinds);
  gbt_column *col = (gbt_column *)&m->table.cols[0];
  int32_t *code = (int32_t *)col->values;
  free((void *)col->levels);
  col->n_levels = n_levels;
  col->levels = make_texts("level ", n_levels);
  for (int64_t r = 0; r < n_rows; r++) {
    const int32_t c = (int32_t)(r < n_levels ? r : r % (n_levels / 2));
    code[r] = c + 1;
    m->signal[r] += part_of(MADE_LEVELS, 0, 0.0, c + 1) + (c < GBT_MAX_LEVELS ? 0.0 : 4.0);
  }
  return m;
}

void made_counts(made *m) {
  for (int32_t c = 0; c < m->table.n_cols; c++)
    if (m->table.cols[c].type == GBT_CATEGORICAL)
      ((gbt_column *)&m->table.cols[c])->derive = 1u << GBT_FEATURE_LEVEL_COUNT;
}

void made_free(made *m) {
  if (m == NULL) return;
  for (int32_t c = 0; c < m->table.n_cols; c++) {
    const gbt_column *col = &m->table.cols[c];
    free((void *)col->values);
    free((void *)col->rows);
    free((void *)col->levels);
  }
  free((void *)m->table.cols);
  free((void *)m->names);
  free(m->kind);
  free(m->signal);
  free(m->label);
  free(m->weight);
  free(m->offset);
  free(m);
}

gbt_objective made_objective(gbt_objective_kind kind, int32_t n_outputs, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0x0b7ec7)};
  gbt_objective o = gbt_objective_make(kind, n_outputs);
  const gbt_objective_param *p = gbt_objective_info_of((int32_t)kind)->param;
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && p[i].name; i++) {
    double u = 0.05 + 0.9 * test_unit(&rng);
    o.param[i] = p[i].high - p[i].low > 10.0 ? p[i].low + u * 3.0 : p[i].low + u * (p[i].high - p[i].low);
    if (p[i].whole) o.param[i] = floor(o.param[i]);
  }
  if (gbt_has_levels(&o)) {
    static const double levels[] = {0.04, 0.1, 0.25, 0.5, 0.6, 0.7, 0.9, 0.99};
    CHECK(n_outputs <= 8);
    o.levels = levels + test_below(&rng, 9 - n_outputs);
    o.param[0] = o.levels[0];
  }
  return o;
}

double made_label(const gbt_objective *objective, double s, double u) {
  double size = exp(s > 3.0 ? 3.0 : s);
  switch (gbt_objective_info_of(objective->kind)->labels) {
  case GBT_LABELS_NUMBER:
    return s;
  case GBT_LABELS_BINARY:
    return s + u - 0.5 > 0.0;
  case GBT_LABELS_SHARE:
    return u < 0.1 ? s > 0.0 : size / (1.0 + size);
  case GBT_LABELS_CLASS:
    return u < 0.2 ? floor(u * 5.0 * objective->n_outputs) : (int)(fabs(s) * 3.0) % objective->n_outputs;
  case GBT_LABELS_COUNT:
  case GBT_LABELS_NOT_NEGATIVE:
    return floor(size * (0.3 + u));
  case GBT_LABELS_POSITIVE:
    return size * (0.3 + u);
  case GBT_LABELS_ABOVE_MINUS_ONE:
    return size * (0.3 + u) - 0.3;
  }
  return s;
}

void made_response(made *m, gbt_objective_kind kind, int32_t n_outputs, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0x5eed)};
  const gbt_objective objective = gbt_objective_make(kind, n_outputs);
  free(m->label);
  m->label = test_alloc((size_t)m->table.n_rows * sizeof *m->label);
  for (int64_t r = 0; r < m->table.n_rows; r++) {
    double s = m->signal[r] + 0.5 * test_bell(&rng), u = test_unit(&rng);
    m->label[r] = kind == GBT_OBJ_LOGISTIC ? s + 0.5 * test_bell(&rng) > 0.0 : made_label(&objective, s, u);
  }
}

void made_weights(made *m, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0x3e1697)};
  free(m->weight);
  m->weight = test_alloc((size_t)m->table.n_rows * sizeof *m->weight);
  for (int64_t r = 0; r < m->table.n_rows; r++) {
    int64_t kind = test_below(&rng, 8);
    m->weight[r] = r == 0 || kind > 3 ? 0.5 + test_unit(&rng) : kind == 0 ? 0.0 : kind == 1 ? -0.0 : (double)kind;
  }
}

void made_offset(made *m, int32_t n_outputs, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0x0ff5e7)};
  size_t n = (size_t)m->table.n_rows * (size_t)n_outputs;
  free(m->offset);
  m->offset = test_alloc(n * sizeof *m->offset);
  m->n_offset = n_outputs;
  for (size_t i = 0; i < n; i++) m->offset[i] = test_bell(&rng) * 0.5;
}

void made_fields(made *m, int32_t n_fields, int32_t size, int64_t spoilt, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0xf1e1d)};
  for (int64_t r = 0; r < m->table.n_rows; r++)
    for (int32_t f = 0; f < n_fields; f++) {
      for (int32_t k = 0; k < size; k++) ((double *)m->table.cols[k * n_fields + f].values)[r] = 0.0;
      for (int twice = 0; twice < 1 + (r < spoilt); twice++) {
        int32_t level = (int32_t)(sqrt(test_unit(&rng)) * 1.1 * size), c = (size - 1 - level) * n_fields + f;
        double value = f % 3 == 0 ? 1.0 : f % 3 == 1 ? test_bell(&rng) : (double)test_below(&rng, 6) - 2.0;
        if (f % 2 && test_below(&rng, 15) == 0) value = (double)NAN;
        if (level >= size) continue;
        ((double *)m->table.cols[c].values)[r] = value;
        m->signal[r] += part_of(MADE_ZEROS, level + f, value, 0);
      }
    }
}

static double *copy_doubles(const double *x, size_t n) {
  if (x == NULL) return NULL;
  double *copy = test_alloc(n * sizeof *copy);
  memcpy(copy, x, n * sizeof *copy);
  return copy;
}

static int32_t columns(int32_t n) { return n > 1 ? n : 1; }

/* Some of the rows of n_columns columns. */
static double *take(const double *x, int32_t n_columns, int64_t all, const int64_t *rows, int64_t n) {
  if (x == NULL) return NULL;
  double *out = test_alloc((size_t)(n * n_columns) * sizeof *out);
  for (int32_t k = 0; k < n_columns; k++)
    for (int64_t r = 0; r < n; r++) out[k * n + r] = x[k * all + rows[r]];
  return out;
}

made *made_rows(const made *m, const int64_t *rows, int64_t n) {
  int32_t n_cols = m->table.n_cols;
  made *out = make_empty(n, n_cols);
  memcpy(out->kind, m->kind, (size_t)n_cols * sizeof *m->kind);
  for (int32_t c = 0; c < n_cols; c++) {
    gbt_column *to = (gbt_column *)&out->table.cols[c];
    const gbt_column *from = &m->table.cols[c];
    const char *name = to->name;
    size_t size = from->storage == GBT_F64 ? sizeof(double) : sizeof(int32_t);
    *to = *from;
    to->name = name;
    char *values = test_alloc((size_t)n * size);
    for (int64_t r = 0; r < n; r++)
      memcpy(values + (size_t)r * size, (const char *)from->values + (size_t)rows[r] * size, size);
    to->values = values;
    if (from->levels != NULL) to->levels = make_texts("level ", to->n_levels);
  }
  int64_t all = m->table.n_rows;
  for (int64_t r = 0; r < n; r++) out->signal[r] = m->signal[rows[r]];
  out->label = take(m->label, columns(m->n_label), all, rows, n);
  out->weight = take(m->weight, columns(m->n_weight), all, rows, n);
  out->offset = take(m->offset, m->n_offset, all, rows, n);
  out->n_label = m->n_label;
  out->n_weight = m->n_weight;
  out->n_offset = m->n_offset;
  out->uncut = m->uncut;
  return out;
}

void made_columns(made *m, gbt_objective_kind kind, int32_t n_outputs, int cells, uint64_t seed) {
  const size_t n = (size_t)m->table.n_rows;
  double *label = test_alloc(n * (size_t)n_outputs * sizeof *label), *weight = NULL;
  if (cells) weight = test_alloc(n * (size_t)n_outputs * sizeof *weight);
  for (int32_t k = 0; k < n_outputs; k++) {
    made_response(m, kind, 1, seed + (uint64_t)k);
    memcpy(label + (size_t)k * n, m->label, n * sizeof *label);
    if (!cells) continue;
    made_weights(m, seed + (uint64_t)k);
    memcpy(weight + (size_t)k * n, m->weight, n * sizeof *weight);
  }
  free(m->label);
  m->label = label;
  m->n_label = n_outputs;
  m->uncut = 1;
  if (!cells) return;
  free(m->weight);
  m->weight = weight;
  m->n_weight = n_outputs;
}

/* x: in the form of a data set's field. */
static double *column_of(const double *x, int32_t n_columns, int64_t n, int32_t k) {
  return copy_doubles(x != NULL && n_columns > 1 ? x + k * n : x, (size_t)n);
}

made *made_column(const made *m, int32_t k) {
  const int64_t n = m->table.n_rows;
  int64_t *rows = test_alloc((size_t)n * sizeof *rows);
  for (int64_t r = 0; r < n; r++) rows[r] = r;
  made *out = made_rows(m, rows, n);
  free(rows);
  free(out->label);
  free(out->weight);
  free(out->offset);
  out->label = column_of(m->label, m->n_label, n, k);
  out->weight = column_of(m->weight, m->n_weight, n, k);
  out->offset = column_of(m->offset, m->n_offset, n, k);
  out->n_label = out->n_weight = 0;
  out->n_offset = m->offset != NULL;
  return out;
}

made *made_sparse(const made *m, size_t extra) {
  size_t n = (size_t)m->table.n_rows;
  int64_t *rows = test_alloc(n * sizeof *rows);
  for (size_t r = 0; r < n; r++) rows[r] = (int64_t)r;
  made *out = made_rows(m, rows, (int64_t)n);
  free(rows);
  for (int32_t c = 0; c < out->table.n_cols; c++) {
    gbt_column *col = (gbt_column *)&out->table.cols[c];
    if (col->storage != GBT_F64) continue;
    double *x = copy_doubles(col->values, n);
    int32_t *at = test_alloc(n * sizeof *at);
    int64_t kept = 0;
    for (size_t r = 0; r < n; r++) {
      if (x[r] == 0.0 && (extra == 0 || r % extra != 0)) continue;
      at[kept] = (int32_t)r;
      x[kept++] = x[r];
    }
    free((void *)col->values);
    col->values = x;
    col->rows = at;
    col->n_entries = kept;
  }
  return out;
}

const double *made_cut_weights(const made *m) { return m->uncut ? NULL : m->weight; }

gbt_status made_set_fields(gbt_ctx *ctx, const made *m, gbt_dataset *ds, gbt_error *err) {
  const int64_t n = m->table.n_rows;
  if (m->label) GBT_TRY(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, n * columns(m->n_label), err));
  if (m->weight) GBT_TRY(gbt_dataset_set(ctx, ds, GBT_WEIGHT, m->weight, n * columns(m->n_weight), err));
  return m->offset ? gbt_dataset_set(ctx, ds, GBT_OFFSET, m->offset, n * m->n_offset, err) : GBT_OK;
}

gbt_dataset *made_dataset(gbt_ctx *ctx, const made *m, gbt_cuts *cuts, int32_t max_bin, int32_t page_rows) {
  gbt_dataset *ds = NULL;
  const int ok = CHECK_OK(dataset_from(ctx, &m->table, cuts, cuts ? NULL : made_cut_weights(m), max_bin, page_rows,
                                       GBT_UNSEEN_MISSING, &ds, test_err)) &&
                 CHECK_OK(made_set_fields(ctx, m, ds, test_err));
  if (ok) return ds;
  gbt_dataset_unref(ds);
  return NULL;
}

gbt_rows test_rows(int64_t n, const double *label, const double *weight, const double *offset) {
  return (gbt_rows){.n = n, .field = {[GBT_LABEL] = label, [GBT_WEIGHT] = weight, [GBT_OFFSET] = offset}};
}

gbt_gh test_gradient(const gbt_objective *o, double s, double y) {
  gbt_gh none = {NAN, NAN};
  switch ((gbt_objective_kind)o->kind) {
#define OF_ROW(name) gbt_##name##_gradient(s, y, o->param)
#define OF_CLASSES(name) none
#define OF_GIVEN(name) none
#define OF_QUERY(name) none
#define OF_ORDERED(name) none
#define OF_TIME(name) none
#define OF_INTERVALS(name) none
#define OF_DISTRIBUTION(name) none
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    return OF_##gradient(name);
#include "../../src/gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return none;
}

made *made_mixed(gbt_objective_kind loss, int32_t n_outputs) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_LEVELS};
  made *m = made_new(17, 150, 3, kinds);
  made_response(m, loss, n_outputs, 17);
  return m;
}
