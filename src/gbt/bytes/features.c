/* The feature map: what the features of the trees are made of. Nothing is written where feature i is column i, for all
 * of them.
 *
 *   feature_kinds   the names of the kinds that occur, in the order in which features first have them
 *   features        by feature: which of these kinds, and the column
 *   statistics      of every feature that is a number by level, in order: the number of each level of its column
 *
 * Features that are read from tables have more (tables.c), where the whole map is checked when it is there. */
#include "sections.h"

/* Position of every kind among those that occur, in order of first use; -1: does not occur. Returns how many do. */
static uint32_t kinds_in_use(const gbt_schema *schema, int32_t place[GBT_N_FEATURE_KINDS]) {
  uint32_t n = 0;
  for (int k = 0; k < GBT_N_FEATURE_KINDS; k++) place[k] = -1;
  for (int32_t f = 0; f < schema->n_features; f++)
    if (place[schema->feat[f].kind] < 0) place[schema->feat[f].kind] = (int32_t)n++;
  return n;
}

static gbt_status measure_features(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  int32_t place[GBT_N_FEATURE_KINDS];
  if (gbt_feature_map_is_identity(schema)) return GBT_OK;
  const char *fault = gbt_feature_map_fault(schema);
  if (fault != NULL) return gbt_fail(w->err, GBT_E_INTERNAL, "the model cannot be written: %s", fault);
  w->n[GBTI_SEC_FEATURE_KINDS] = kinds_in_use(schema, place);
  w->n[GBTI_SEC_FEATURES] = (uint64_t)schema->n_features;
  for (int k = 0; k < GBT_N_FEATURE_KINDS; k++)
    if (place[k] >= 0) GBT_TRY(gbti_measure_text(w, gbt_feature_kind_name(k), GBT_E_INTERNAL, "feature", "kind"));
  for (int32_t f = 0; f < schema->n_features; f++)
    if (schema->feat[f].value != NULL)
      w->n[GBTI_SEC_STATISTICS] =
          gbti_add(w->n[GBTI_SEC_STATISTICS], (uint64_t)schema->col[schema->feat[f].col].n_levels, 1);
  return GBT_OK;
}

static void put_features(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  int32_t place[GBT_N_FEATURE_KINDS];
  if (gbt_feature_map_is_identity(schema)) return;
  uint64_t *name = gbti_out(w, GBTI_SEC_FEATURE_KINDS);
  gbti_model_feature *out = gbti_out(w, GBTI_SEC_FEATURES);
  double *value = gbti_out(w, GBTI_SEC_STATISTICS);
  const uint32_t n_kinds = kinds_in_use(schema, place);
  for (uint32_t i = 0; i < n_kinds; i++)
    for (int k = 0; k < GBT_N_FEATURE_KINDS; k++)
      if (place[k] == (int32_t)i) name[i] = gbti_put_text(w, gbt_feature_kind_name(k));
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    out[f].kind = (uint32_t)place[feat->kind];
    out[f].col = feat->col;
    if (feat->value == NULL) continue;
    const uint64_t n = (uint64_t)schema->col[feat->col].n_levels;
    gbti_copy(value, feat->value, n * sizeof *value);
    value += n;
  }
}

/* kind[i]: the kind of the i-th name. */
static gbt_status read_kinds(gbti_reader *r, int kind[GBT_N_FEATURE_KINDS]) {
  const uint64_t n = r->n[GBTI_SEC_FEATURE_KINDS], *at = r->at[GBTI_SEC_FEATURE_KINDS];
  if (n > GBT_N_FEATURE_KINDS) return gbti_damaged(r, "there are too many kinds of features");
  for (uint64_t i = 0; i < n; i++) {
    const char *name;
    GBT_TRY(gbti_take_text(r, at[i], &name));
    kind[i] = gbt_feature_kind_find(name);
    if (kind[i] < 0) return gbti_is_newer(r, "features of the kind", name);
    for (uint64_t k = 0; k < i; k++)
      if (kind[k] == kind[i]) return gbti_damaged(r, "a kind of features is named twice");
  }
  return GBT_OK;
}

static gbt_status read_feature(gbti_reader *r, const gbti_model_feature *from, const int *kind, uint64_t *n_seen,
                               gbt_feature *feat) {
  const gbt_schema *schema = r->schema;
  if (from->kind >= r->n[GBTI_SEC_FEATURE_KINDS] || from->kind > *n_seen)
    return gbti_damaged(r, "a feature has an unknown kind");
  if (from->col < 0 || from->col >= schema->n_columns)
    return gbti_damaged(r, "a feature is made of a column that does not exist");
  *n_seen += from->kind == *n_seen;
  feat->kind = (gbt_feature_kind)kind[from->kind];
  feat->col = from->col;
  feat->projection = -1;
  feat->type = feat->kind == GBT_FEATURE_COLUMN ? schema->col[from->col].type : GBT_NUMERIC;
  return GBT_OK;
}

static gbt_status read_features(gbti_reader *r) {
  gbt_schema *schema = r->schema;
  const gbti_model_feature *from = r->at[GBTI_SEC_FEATURES];
  const double *value = r->at[GBTI_SEC_STATISTICS];
  uint64_t left = r->n[GBTI_SEC_STATISTICS], n_seen = 0;
  int kind[GBT_N_FEATURE_KINDS];
  GBT_TRY(read_kinds(r, kind));
  if (r->n[GBTI_SEC_FEATURES] == 0) {
    if (r->n[GBTI_SEC_FEATURE_KINDS] != 0 || left != 0)
      return gbti_damaged(r, "there are statistics that belong to no feature");
    for (int32_t c = 0; c < schema->n_columns; c++)
      schema->feat[c] =
          (gbt_feature){.kind = GBT_FEATURE_COLUMN, .col = c, .type = schema->col[c].type, .projection = -1};
    return GBT_OK;
  }
  for (int32_t f = 0; f < schema->n_features; f++) {
    gbt_feature *feat = &schema->feat[f];
    GBT_TRY(read_feature(r, &from[f], kind, &n_seen, feat));
    if (feat->kind != GBT_FEATURE_LEVEL_COUNT) continue;
    const uint64_t n = (uint64_t)schema->col[feat->col].n_levels;
    if (n > left) return gbti_damaged(r, "a feature has no statistics");
    feat->value = value;
    value += n;
    left -= n;
  }
  if (left != 0 || n_seen != r->n[GBTI_SEC_FEATURE_KINDS])
    return gbti_damaged(r, "there are statistics that belong to no feature");
  return gbt_feature_map_is_identity(schema) ? gbti_damaged(r, "there is a feature map, but every feature is a column")
                                             : GBT_OK;
}

const gbti_part gbti_part_features = {measure_features, put_features, read_features};
