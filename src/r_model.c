/* Models: bytes <-> what R shows of them. */
#include "r_gbt.h"

#include <string.h>

/* ---- meta ---- */

static void read_meta(SEXP x, const char *name, gbt_meta *out) {
  R_xlen_t n = Rf_xlength(x);
  memset(out, 0, sizeof *out);
  out->name = name;
  out->n = (int64_t)n;
  switch (TYPEOF(x)) {
  case STRSXP: {
    const char **text = (const char **)R_alloc((size_t)(n > 0 ? n : 1), sizeof *text);
    for (R_xlen_t i = 0; i < n; i++) text[i] = r_utf8(STRING_ELT(x, i));
    out->kind = GBT_META_TEXT;
    out->text = text;
    break;
  }
  case REALSXP:
    out->kind = GBT_META_DOUBLE;
    out->num = REAL_RO(x);
    break;
  case INTSXP:
    out->kind = GBT_META_INT;
    out->ints = INTEGER_RO(x);
    break;
  default:
    r_stop("meta entry `%s` must be character, double or integer", name);
  }
}

const gbt_meta *r_meta(SEXP meta, int32_t *n) {
  SEXP names = Rf_getAttrib(meta, R_NamesSymbol);
  if (TYPEOF(meta) != VECSXP || Rf_xlength(meta) > 2147483647 || (names == R_NilValue && Rf_xlength(meta) > 0))
    r_stop("`meta` must be a named list");
  *n = (int32_t)Rf_xlength(meta);
  gbt_meta *out = (gbt_meta *)R_alloc((size_t)*n + 1, sizeof *out);
  for (int32_t i = 0; i < *n; i++) {
    const char *name = r_utf8(STRING_ELT(names, i));
    if (name == NULL) r_stop("`meta` must be a named list");
    read_meta(VECTOR_ELT(meta, i), name, &out[i]);
  }
  return out;
}

static SEXP meta_value(const gbt_meta *m) {
  SEXP x;
  switch (m->kind) {
  case GBT_META_TEXT:
    return r_texts(m->text, (R_xlen_t)m->n);
  case GBT_META_DOUBLE:
    x = Rf_allocVector(REALSXP, (R_xlen_t)m->n);
    if (m->n > 0) memcpy(REAL(x), m->num, (size_t)m->n * sizeof(double));
    return x;
  default:
    x = Rf_allocVector(INTSXP, (R_xlen_t)m->n);
    if (m->n > 0) memcpy(INTEGER(x), m->ints, (size_t)m->n * sizeof(int));
    return x;
  }
}

/* A named list of the vectors. */
static SEXP meta_list(const gbt_meta *metas, int32_t n) {
  SEXP out = PROTECT(Rf_allocVector(VECSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
  for (int32_t i = 0; i < n; i++) {
    SET_VECTOR_ELT(out, i, meta_value(&metas[i]));
    SET_STRING_ELT(names, i, r_text(metas[i].name));
  }
  Rf_setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(2);
  return out;
}

/* ---- writing ---- */

SEXP r_blob_new(r_blob **out) {
  SEXP x = PROTECT(r_handle_new(R_BLOB, R_NilValue));
  r_blob *blob;
  gbt_error err = {0};
  gbt_mem mem = r_mem();
  gbt_status status = gbt_mem_zeros(&mem, 1, sizeof *blob, &blob, &err);
  R_SetExternalPtrAddr(x, blob);
  r_check(status, &err);
  *out = blob;
  UNPROTECT(1);
  return x;
}

SEXP r_blob_take(r_blob *blob) {
  SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)blob->n_bytes));
  memcpy(RAW(out), blob->bytes, blob->n_bytes);
  gbt_mem mem = r_mem();
  gbt_mem_free(&mem, blob->bytes);
  blob->bytes = NULL;
  UNPROTECT(1);
  return out;
}

/* Values without a model, as raw bytes; values: a named list of character, double and integer vectors. */
SEXP r_gbt_values_write(SEXP values) {
  /* 1 */
  int32_t n;
  const gbt_meta *entry = r_meta(values, &n);
  r_blob *blob;
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_mem mem = r_mem();

  /* 2 */
  gbt_status status = gbt_values_write(&mem, entry, n, &blob->bytes, &blob->n_bytes, &err);

  /* 3 */
  r_check(status, &err);
  SEXP out = r_blob_take(blob);
  UNPROTECT(1);
  return out;
}

/* The named list of such bytes, which may come from anywhere. */
SEXP r_gbt_values_read(SEXP bytes) {
  /* 1 */
  if (TYPEOF(bytes) != RAWSXP) r_stop("`bytes` must be raw bytes");
  r_blob *blob; /* owns the table of entries */
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_mem mem = r_mem();

  /* 2 */
  gbt_meta *entry = NULL;
  int32_t n;
  gbt_status status = gbt_values_read(&mem, RAW_RO(bytes), (size_t)Rf_xlength(bytes), &entry, &n, &err);
  blob->bytes = (uint8_t *)entry;

  /* 3 */
  r_check(status, &err);
  SEXP out = meta_list(entry, n);
  UNPROTECT(1);
  return out;
}

SEXP r_write_model(gbt_model_spec spec, SEXP meta) {
  /* 1 */
  spec.meta = r_meta(meta, &spec.n_meta);
  r_blob *blob;
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_mem mem = r_mem();

  /* 2 */
  gbt_status status = gbt_model_make(&mem, &spec, &blob->bytes, &blob->n_bytes, &err);

  /* 3 */
  r_check(status, &err);
  SEXP out = r_blob_take(blob);
  UNPROTECT(1);
  return out;
}

/* The model with the trees of rounds[0] <= round < rounds[1] (from 0). */
SEXP r_gbt_model_slice(SEXP state, SEXP rounds, SEXP meta) {
  if (Rf_xlength(rounds) != 2) r_stop("`rounds` must be two numbers");
  SEXP ends = PROTECT(Rf_coerceVector(rounds, REALSXP));
  SEXP beg = PROTECT(Rf_ScalarReal(REAL_RO(ends)[0])), end = PROTECT(Rf_ScalarReal(REAL_RO(ends)[1]));
  SEXP handle = PROTECT(r_model_handle(state, R_NilValue));
  const gbt_model *model = r_model_get(handle);
  gbt_model_spec spec = {
      .forest = gbt_model_forest(model), .objective = *gbt_model_objective(model), .schema = gbt_model_schema(model)};
  spec.trees = r_tree_range(spec.forest, beg, end);
  SEXP out = r_write_model(spec, meta);
  UNPROTECT(4);
  return out;
}

/* One model of several, whose scores are the means of theirs. states: list of their bytes. */
SEXP r_gbt_model_mean(SEXP states, SEXP meta) {
  /* 1 */
  const R_xlen_t n = Rf_xlength(states);
  if (TYPEOF(states) != VECSXP || n < 1 || n > 1000000) r_stop("`states` must be a list of models");
  SEXP handles = PROTECT(Rf_allocVector(VECSXP, n));
  const gbt_model **members = (const gbt_model **)R_alloc((size_t)n, sizeof *members);
  for (R_xlen_t i = 0; i < n; i++) {
    SET_VECTOR_ELT(handles, i, r_model_handle(VECTOR_ELT(states, i), R_NilValue));
    members[i] = r_model_get(VECTOR_ELT(handles, i));
  }
  int32_t n_meta;
  const gbt_meta *metas = r_meta(meta, &n_meta);
  r_blob *blob;
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_mem mem = r_mem();

  /* 2 */
  gbt_status status = gbt_model_make_mean(&mem, members, (int32_t)n, metas, n_meta, &blob->bytes, &blob->n_bytes, &err);

  /* 3 */
  r_check(status, &err);
  SEXP out = r_blob_take(blob);
  UNPROTECT(2);
  return out;
}

SEXP r_gbt_model_cache(SEXP state) {
  SEXP handle = PROTECT(r_model_handle(state, R_NilValue));
  SEXP cache = r_cache_new(handle);
  UNPROTECT(1);
  return cache;
}

/* ---- what is in it ---- */

/* The columns that a feature is, or is made of, from 1. */
static SEXP columns_of(const gbt_schema *schema, const gbt_feature *feat) {
  const gbt_projection *proj = gbt_feature_has_table(feat->kind) ? &schema->proj[feat->projection] : NULL;
  const int32_t n = proj != NULL ? proj->n_cols : 1;
  SEXP out = Rf_allocVector(INTSXP, n);
  for (int32_t i = 0; i < n; i++) INTEGER(out)[i] = 1 + (proj != NULL ? proj->col[i] : feat->col);
  return out;
}

/* The numbers of a statistic of one column for each level, a missing value and an unseen level; NULL of other features,
 * and of statistics of several columns. Splits compare them with their threshold. */
static SEXP numbers_of_levels(const gbt_schema *schema, const gbt_feature *feat) {
  const int32_t n = schema->col[feat->col].n_levels;
  const int has_table = gbt_feature_has_table(feat->kind);
  if (feat->kind != GBT_FEATURE_LEVEL_COUNT && !has_table) return R_NilValue;
  if (has_table) {
    const gbt_projection *proj = &schema->proj[feat->projection];
    if (proj->n_cols > 1 || proj->key != NULL || proj->n_keys != (int64_t)n + 1) return R_NilValue;
  }
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n + 2);
  for (int32_t level = 0; level < n; level++) REAL(out)[level] = has_table ? feat->bin[level] : feat->value[level];
  REAL(out)[n] = has_table ? feat->bin[n] : R_NaN;
  REAL(out)[n + 1] = has_table ? feat->unknown : 0.0;
  return out;
}

/* At `at` of a list: the columns that features are, 0 for those that are made of columns; their parts, NA where there
 * is none; for features with tables, the upper borders of their bins; the columns that they are made of. */
static void put_features(SEXP list, R_xlen_t at, const gbt_schema *schema) {
  SEXP column = Rf_allocVector(INTSXP, schema->n_features);
  SET_VECTOR_ELT(list, at, column);
  SEXP part = Rf_allocVector(INTSXP, schema->n_features);
  SET_VECTOR_ELT(list, at + 1, part);
  SEXP shown = Rf_allocVector(VECSXP, schema->n_features);
  SET_VECTOR_ELT(list, at + 2, shown);
  SEXP columns = Rf_allocVector(VECSXP, schema->n_features);
  SET_VECTOR_ELT(list, at + 3, columns);
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    INTEGER(column)[f] = feat->kind == GBT_FEATURE_COLUMN ? feat->col + 1 : 0;
    SET_VECTOR_ELT(columns, f, columns_of(schema, feat));
    INTEGER(part)[f] = feat->kind == GBT_FEATURE_TARGET_CLASS ? feat->part + 1 : NA_INTEGER;
    if (!gbt_feature_has_table(feat->kind)) continue;
    const R_xlen_t n = feat->n_bins - 1;
    SEXP borders = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(shown, f, borders);
    if (n > 0) memcpy(REAL(borders), feat->shown, (size_t)n * sizeof *feat->shown);
  }
}

SEXP r_gbt_model_info(SEXP state, SEXP cache) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const gbt_forest_info trees = gbt_forest_about(gbt_model_forest(model));
  static const char *parts[] = {"n_features", "n_outputs", "n_leaf_outputs", "n_parallel", "n_trees", "base",
                                "objective",  "names",     "type",           "tag",        "meta",    "features",
                                "column",     "part",      "shown",          "columns",    "sums",
                                "scale",      "statistic", ""};
  static const char *rules[] = {
      [GBT_SUM_PLAIN] = "plain", [GBT_SUM_FLOAT] = "float", [GBT_SUM_SCALED] = "scaled", [GBT_SUM_MEAN] = "mean"};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(trees.n_features));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(trees.n_outputs));
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(trees.n_leaf_outputs));
  SET_VECTOR_ELT(out, 3, Rf_ScalarInteger(trees.n_parallel));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)trees.n_trees));
  SEXP base = Rf_allocVector(REALSXP, trees.n_outputs);
  SET_VECTOR_ELT(out, 5, base);
  memcpy(REAL(base), trees.base, (size_t)trees.n_outputs * sizeof(double));
  SET_VECTOR_ELT(out, 6, Rf_mkString(gbt_objective_info_of(gbt_model_objective(model)->kind)->name));
  r_put_schema(out, 7, gbt_model_schema(model));
  int32_t n_meta;
  const gbt_meta *metas = gbt_model_metas(model, &n_meta);
  SET_VECTOR_ELT(out, 10, meta_list(metas, n_meta));
  SET_VECTOR_ELT(out, 11, r_feature_labels(gbt_model_schema(model)));
  put_features(out, 12, gbt_model_schema(model));
  SET_VECTOR_ELT(out, 16, Rf_mkString(rules[trees.sums.rule]));
  SET_VECTOR_ELT(out, 17, Rf_ScalarReal(trees.sums.scale));
  const gbt_schema *schema = gbt_model_schema(model);
  SEXP statistic = Rf_allocVector(VECSXP, schema->n_features);
  SET_VECTOR_ELT(out, 18, statistic);
  for (int32_t f = 0; f < schema->n_features; f++)
    SET_VECTOR_ELT(statistic, f, numbers_of_levels(schema, &schema->feat[f]));
  UNPROTECT(2);
  return out;
}

/* By column: NULL for numbers, the levels in their order for ranks, for categories those that sets distinguish. */
SEXP r_gbt_model_levels(SEXP state, SEXP cache) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_schema *schema = gbt_model_schema(r_model_get(handle));
  SEXP out = PROTECT(Rf_allocVector(VECSXP, schema->n_columns));
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const gbt_schema_column *col = &schema->col[c];
    const int few = col->type == GBT_ORDINAL || col->n_levels <= GBT_MAX_LEVELS;
    if (col->type != GBT_NUMERIC) SET_VECTOR_ELT(out, c, r_texts(col->levels, few ? col->n_levels : GBT_MAX_LEVELS));
  }
  UNPROTECT(2);
  return out;
}

static int same_text(SEXP text, const char *utf8) {
  return text != NA_STRING && Rf_getCharCE(text) != CE_BYTES && strcmp(Rf_translateCharUTF8(text), utf8) == 0;
}

/* Facts from the bytes, against which fields are checked: outputs, rounds and parallel trees; whether names
 * and tags are those of the columns, and the objective has this name; the objective's parameters. */
SEXP r_gbt_model_shape(SEXP state, SEXP cache, SEXP objective, SEXP names, SEXP tags) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const gbt_schema *schema = gbt_model_schema(model);
  if (TYPEOF(names) != STRSXP || TYPEOF(tags) != STRSXP) r_stop("names and types of features must be texts");
  int32_t n = schema->n_columns;
  int named = Rf_xlength(names) == n, tagged = Rf_xlength(tags) == n;
  for (int32_t f = 0; f < n && named; f++) named = same_text(STRING_ELT(names, f), schema->col[f].name);
  for (int32_t f = 0; f < n && tagged; f++) tagged = same_text(STRING_ELT(tags, f), schema->col[f].tag);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 6 + GBT_OBJECTIVE_PARAMS));
  double *shape = REAL(out);
  const gbt_forest_info trees = gbt_forest_about(gbt_model_forest(model));
  shape[0] = trees.n_outputs;
  shape[1] = (double)trees.n_rounds;
  shape[2] = trees.n_parallel;
  shape[3] = named;
  shape[4] = tagged;
  const gbt_objective *trained = gbt_model_objective(model);
  const char *name = gbt_objective_info_of(trained->kind)->name;
  shape[5] = TYPEOF(objective) == STRSXP && Rf_xlength(objective) == 1 && same_text(STRING_ELT(objective, 0), name);
  memcpy(shape + 6, trained->param, sizeof trained->param);
  UNPROTECT(2);
  return out;
}

/* Whether these fields of a model were checked before. First the model gets a handle, where a file had none. */
SEXP r_gbt_model_known(SEXP fields) {
  r_cache_adopt(fields);
  return Rf_ScalarLogical(r_model_knows(fields));
}

SEXP r_gbt_model_remember(SEXP fields, SEXP checked) {
  r_model_remember(fields, checked);
  return R_NilValue;
}

gbt_tree_range r_tree_range(const gbt_forest_view *view, SEXP beg, SEXP end) {
  const gbt_forest_info trees = gbt_forest_about(view);
  int64_t from = r_arg_int64(beg, "round_beg"), to = r_arg_int64(end, "round_end");
  if (from < 0 || to < from || to > (int64_t)trees.n_rounds) r_stop("rounds are out of range");
  gbt_tree_range range = {(uint64_t)from * trees.trees_per_round, (uint64_t)to * trees.trees_per_round};
  return range;
}

SEXP r_gbt_model_importance(SEXP state, SEXP cache, SEXP round_beg, SEXP round_end) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_forest_view *view = gbt_model_forest(r_model_get(handle));
  gbt_tree_range range = r_tree_range(view, round_beg, round_end);
  static const char *parts[] = {"gain", "cover", "splits", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < 3; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, gbt_forest_about(view).n_features));
  gbt_importance(view, range, REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), REAL(VECTOR_ELT(out, 2)));
  UNPROTECT(2);
  return out;
}

/* ---- all nodes as columns ---- */

enum {
  COL_TREE,
  COL_NODE,
  COL_FEATURE,
  COL_THRESHOLD,
  COL_LEFT,
  COL_RIGHT,
  COL_MISSING_LEFT,
  COL_BULK_LEFT,
  COL_GAIN,
  COL_COVER,
  COL_COUNT,
  COL_VALUE,
  COL_SET,
  COL_SAME_SET,
  N_COLS
};

static const char *const node_cols[] = {"tree",  "node",         "feature",   "threshold", "left",
                                        "right", "missing_left", "bulk_left", "gain",      "cover",
                                        "count", "value",        "set",       "same_set",  ""};
static const SEXPTYPE node_types[N_COLS] = {INTSXP, INTSXP,  INTSXP,  REALSXP, INTSXP,  INTSXP, LGLSXP,
                                            LGLSXP, REALSXP, REALSXP, REALSXP, REALSXP, VECSXP, INTSXP};

static int has_level(const gbt_node_info *node, uint32_t level) {
  return (int)(node->set[level / 32] >> (level % 32) & 1u);
}

/* Indices of the levels that go left. */
static SEXP set_of(const gbt_node_info *node) {
  uint32_t n_bits = 32u * node->n_words, n = 0;
  for (uint32_t i = 0; i < n_bits; i++) n += (uint32_t)has_level(node, i);
  SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
  int *p = INTEGER(out);
  for (uint32_t i = 0; i < n_bits; i++) {
    if (has_level(node, i)) *p++ = (int)i;
  }
  return out;
}

static void put_node(SEXP out, R_xlen_t at, const gbt_node_info *node) {
  int split = node->feature >= 0;
  INTEGER(VECTOR_ELT(out, COL_FEATURE))[at] = split ? node->feature : NA_INTEGER;
  REAL(VECTOR_ELT(out, COL_THRESHOLD))[at] = split && !node->by_set ? node->threshold : NA_REAL;
  INTEGER(VECTOR_ELT(out, COL_LEFT))[at] = split ? (int)node->left : NA_INTEGER;
  INTEGER(VECTOR_ELT(out, COL_RIGHT))[at] = split ? (int)node->left + 1 : NA_INTEGER;
  LOGICAL(VECTOR_ELT(out, COL_MISSING_LEFT))[at] = split ? node->missing_left : NA_LOGICAL;
  LOGICAL(VECTOR_ELT(out, COL_BULK_LEFT))[at] = split ? node->bulk_left : NA_LOGICAL;
  REAL(VECTOR_ELT(out, COL_GAIN))[at] = node->gain;
  REAL(VECTOR_ELT(out, COL_COVER))[at] = node->cover;
  REAL(VECTOR_ELT(out, COL_COUNT))[at] = node->count;
}

/* Writes the value that a leaf adds: a number, or a row of a matrix of n rows with a column for every output. */
static void put_value(SEXP value, R_xlen_t at, R_xlen_t n, int n_values, const gbt_node_info *node) {
  for (R_xlen_t k = 0; k < n_values; k++) REAL(value)[at + k * n] = node->value == NULL ? NA_REAL : node->value[k];
}

/* The split by a set that was met last, and the row of `out` that has its vector. */
typedef struct set_place {
  gbt_node_info node;
  R_xlen_t row;
} set_place;

static int same_set(const gbt_node_info *a, const gbt_node_info *b) {
  return b->by_set && a->feature == b->feature && a->set == b->set && a->n_words == b->n_words;
}

/* Nodes that share a set (those of a layer of a symmetric tree) share its vector as well: `same` has the row, from 1,
 * of the first of them. A shared set is that of the split before. */
static void put_set(SEXP out, R_xlen_t at, const gbt_node_info *node, set_place *before) {
  int *same = INTEGER(VECTOR_ELT(out, COL_SAME_SET));
  same[at] = NA_INTEGER;
  if (!node->by_set) return;
  SEXP sets = VECTOR_ELT(out, COL_SET);
  int shared = same_set(node, &before->node);
  if (!shared) *before = (set_place){*node, at};
  same[at] = (int)(before->row + 1);
  SET_VECTOR_ELT(sets, at, shared ? VECTOR_ELT(sets, before->row) : set_of(node));
}

enum { NODES_AT_ONCE = 1 << 12 }; /* nodes between two looks at Ctrl-C: a few milliseconds */

SEXP r_gbt_model_nodes(SEXP state, SEXP cache) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_forest_view *view = gbt_model_forest(r_model_get(handle));
  const gbt_forest_info trees = gbt_forest_about(view);
  const char *names[N_COLS + 1];
  memcpy(names, node_cols, sizeof names);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int k = 0; k < N_COLS; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(node_types[k], (R_xlen_t)trees.n_nodes));
  if (trees.n_leaf_outputs > 1) {
    if (trees.n_nodes > 2147483647) r_stop("the result is too large for a matrix");
    SET_VECTOR_ELT(out, COL_VALUE, Rf_allocMatrix(REALSXP, (int)trees.n_nodes, trees.n_leaf_outputs));
  }
  R_xlen_t at = 0;
  for (uint64_t t = 0; t < trees.n_trees; t++) {
    set_place before = {{0}, 0};
    for (uint32_t k = 0; k < gbt_tree_n_nodes(view, t); k++, at++) {
      if (at % NODES_AT_ONCE == 0) R_CheckUserInterrupt(); /* nothing is held but by handles */
      const gbt_node_info node = gbt_tree_node(view, t, k);
      INTEGER(VECTOR_ELT(out, COL_TREE))[at] = (int)t;
      INTEGER(VECTOR_ELT(out, COL_NODE))[at] = (int)k;
      put_node(out, at, &node);
      put_value(VECTOR_ELT(out, COL_VALUE), at, (R_xlen_t)trees.n_nodes, trees.n_leaf_outputs, &node);
      put_set(out, at, &node, &before);
    }
  }
  UNPROTECT(2);
  return out;
}

enum { SLOPES_INTERCEPT, SLOPES_LOW, SLOPES_HIGH, SLOPES_FEATURE, SLOPES_SLOPE, N_SLOPES };

/* Of a forest that has linear leaves, whose columns have n_units > 0 units. */
static SEXP slopes_of(const gbt_forest_view *view, uint32_t n_units) {
  static const char *names[] = {"intercept", "low", "high", "feature", "slope", ""};
  const gbt_forest_info trees = gbt_forest_about(view);
  gbt_slope_unit *unit = (gbt_slope_unit *)R_alloc(n_units, sizeof *unit);
  memset(unit, 0, n_units * sizeof *unit);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int k = 0; k < N_SLOPES; k++)
    SET_VECTOR_ELT(out, k, Rf_allocVector(k < SLOPES_FEATURE ? REALSXP : VECSXP, (R_xlen_t)trees.n_nodes));
  R_xlen_t at = 0;
  for (uint64_t t = 0; t < trees.n_trees; t++) {
    for (uint32_t k = 0; k < gbt_tree_n_nodes(view, t); k++, at++) {
      if (at % NODES_AT_ONCE == 0) R_CheckUserInterrupt(); /* nothing is held but by handles */
      const gbt_leaf_slopes leaf = gbt_tree_slopes(view, t, k, unit);
      REAL(VECTOR_ELT(out, SLOPES_INTERCEPT))[at] = leaf.n > 0 ? leaf.intercept : NA_REAL;
      REAL(VECTOR_ELT(out, SLOPES_LOW))[at] = leaf.n > 0 ? leaf.low : NA_REAL;
      REAL(VECTOR_ELT(out, SLOPES_HIGH))[at] = leaf.n > 0 ? leaf.high : NA_REAL;
      if (leaf.n == 0) continue;
      SEXP feature = Rf_allocVector(INTSXP, (R_xlen_t)leaf.n);
      SET_VECTOR_ELT(VECTOR_ELT(out, SLOPES_FEATURE), at, feature);
      SEXP slope = Rf_allocVector(REALSXP, (R_xlen_t)leaf.n);
      SET_VECTOR_ELT(VECTOR_ELT(out, SLOPES_SLOPE), at, slope);
      for (uint32_t i = 0; i < leaf.n; i++) {
        const gbt_leaf_slope its = gbt_tree_slope(view, t, k, i, unit);
        INTEGER(feature)[i] = its.feature;
        REAL(slope)[i] = its.slope;
      }
    }
  }
  UNPROTECT(1);
  return out;
}

/* Of all nodes, for models that have linear leaves: intercept, low and high (NA of others); lists of the features and
 * slopes of each (NULL of others). NULL: all leaves are constant. */
SEXP r_gbt_model_slopes(SEXP state, SEXP cache) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_forest_view *view = gbt_model_forest(r_model_get(handle));
  const uint32_t n_units = gbt_forest_n_units(view);
  SEXP out = PROTECT(n_units > 0 ? slopes_of(view, n_units) : R_NilValue);
  UNPROTECT(2);
  return out;
}
