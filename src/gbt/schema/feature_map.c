/* The feature map: kinds, labels, and the rules for a map. */
#include <stdio.h>
#include <string.h>

#include "../base/hd.h"
#include "schema_impl.h"

static const struct {
  const char *name, *label;
} kinds[GBT_N_FEATURE_KINDS] = {
#define GBT_FEATURE_KIND(ID, NAME, LABEL, TEXT) [GBT_FEATURE_##ID] = {NAME, LABEL},
#include "feature_kinds.def"
#undef GBT_FEATURE_KIND
};

const char *gbt_feature_kind_name(int kind) {
  return kind >= 0 && kind < GBT_N_FEATURE_KINDS ? kinds[kind].name : NULL;
}

int gbt_feature_kind_find(const char *name) {
  for (int k = 0; k < GBT_N_FEATURE_KINDS; k++)
    if (strcmp(kinds[k].name, name) == 0) return k;
  return -1;
}

/* ---- labels ---- */

typedef struct label_text {
  char *out;
  size_t size, n; /* n: of the whole, whether it fits or not */
} label_text;

static void put_part(label_text *to, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++, to->n++)
    if (to->n + 1 < to->size) to->out[to->n] = text[i];
}

static void put_columns(label_text *to, const gbt_schema *schema, const gbt_feature *f) {
  const gbt_projection *proj = gbt_feature_has_table(f->kind) ? &schema->proj[f->projection] : NULL;
  const int32_t n = proj != NULL ? proj->n_cols : 1;
  for (int32_t i = 0; i < n; i++) {
    const char *name = schema->col[proj != NULL ? proj->col[i] : f->col].name;
    if (i > 0) put_part(to, " x ", 3);
    put_part(to, name, strlen(name));
  }
}

size_t gbt_feature_label(const gbt_schema *schema, int32_t feat, char *out, size_t size) {
  const gbt_feature *f = &schema->feat[feat];
  label_text to = {out, size, 0};
  for (const char *c = kinds[f->kind].label; *c != 0; c++) {
    char part[16];
    if (c[0] == '%' && c[1] == 's') {
      put_columns(&to, schema, f);
      c++;
    } else if (c[0] == '%' && c[1] == 'd') {
      put_part(&to, part, (size_t)snprintf(part, sizeof part, "%lld", (long long)f->part + 1));
      c++;
    } else {
      put_part(&to, c, 1);
    }
  }
  if (size > 0) out[to.n < size ? to.n : size - 1] = 0;
  return to.n;
}

/* ---- what must hold ---- */

uint64_t gbt_projection_space(const gbt_schema *schema, const gbt_projection *proj) {
  uint64_t space = 1;
  for (int32_t i = 0; i < proj->n_cols; i++) {
    const uint64_t radix = (uint64_t)schema->col[proj->col[i]].n_levels + 1;
    if (space > (uint64_t)INT64_MAX / radix) return 0;
    space *= radix;
  }
  return space;
}

static const char *projection_fault(const gbt_schema *schema, const gbt_projection *proj) {
  if (proj->n_cols < 1 || proj->n_cols > GBT_MOST_COMBINED) return "a combination has a wrong number of columns";
  for (int32_t i = 0; i < proj->n_cols; i++) {
    if (proj->col[i] < 0 || proj->col[i] >= schema->n_columns || (i > 0 && proj->col[i] <= proj->col[i - 1]))
      return "a combination has a wrong column";
    if (schema->col[proj->col[i]].type != GBT_CATEGORICAL) return "a combination has a column without levels";
  }
  const uint64_t space = gbt_projection_space(schema, proj);
  if (space == 0) return "a combination has too many keys";
  if (proj->n_keys < 0 || proj->n_keys > INT32_MAX) return "a combination has a wrong number of keys";
  if (proj->n_cols == 1) return proj->key != NULL || (uint64_t)proj->n_keys != space ? "a column has wrong keys" : NULL;
  if (proj->n_keys == 0) return NULL;
  if (proj->key == NULL) return "a combination has no keys";
  int falls = 0;
  for (int64_t i = 1; i < proj->n_keys; i++) falls |= proj->key[i] <= proj->key[i - 1];
  return falls || proj->key[proj->n_keys - 1] >= space ? "the keys of a combination are out of order" : NULL;
}

static const char *table_fault(const gbt_schema *schema, const gbt_feature *f) {
  if (f->projection < 0 || f->projection >= schema->n_projections) return "a statistic has no combination";
  const gbt_projection *proj = &schema->proj[f->projection];
  if (f->col != proj->col[0] || f->type != GBT_NUMERIC || f->value != NULL) return "a statistic is not a number";
  if (f->part < 0 || !(f->prior_weight >= 0.0 && f->prior_weight <= 1e300)) return "a statistic's prior is wrong";
  if (f->n_bins < 1 || f->n_bins > GBT_DERIVED_BINS || f->unknown >= f->n_bins) return "a statistic has wrong bins";
  if ((f->bin == NULL && proj->n_keys > 0) || (f->shown == NULL && f->n_bins > 1)) return "a statistic has no table";
  uint8_t most = 0;
  for (int64_t i = 0; i < proj->n_keys; i++) most = f->bin[i] > most ? f->bin[i] : most;
  if (most >= f->n_bins) return "a statistic has wrong bins";
  for (int32_t b = 0; b < f->n_bins - 1; b++)
    if (!(f->shown[b] - f->shown[b] == 0.0) || (b > 0 && f->shown[b] < f->shown[b - 1]))
      return "the values of a statistic's bins are out of order";
  return NULL;
}

static const char *feature_fault(const gbt_schema *schema, const gbt_feature *f) {
  if (f->col < 0 || f->col >= schema->n_columns) return "a feature is made of a column that does not exist";
  if ((unsigned)f->kind < GBT_N_FEATURE_KINDS && !gbt_feature_has_table(f->kind) && f->projection != -1)
    return "a feature without a table has a combination";
  const gbt_schema_column *col = &schema->col[f->col];
  switch (f->kind) {
  case GBT_FEATURE_COLUMN:
    return f->type != col->type || f->value != NULL ? "a feature is not of its column's type" : NULL;
  case GBT_FEATURE_LEVEL_COUNT:
    if (col->type != GBT_CATEGORICAL) return "levels are counted of a column without levels";
    if (f->type != GBT_NUMERIC || (f->value == NULL && col->n_levels > 0)) return "a count is not a number";
    for (int32_t i = 0; i < col->n_levels; i++)
      if (!(f->value[i] >= 0.0 && f->value[i] <= (double)UINT32_MAX)) return "a count is out of range";
    return NULL;
  case GBT_FEATURE_TARGET_MEAN:
  case GBT_FEATURE_TARGET_CLASS:
  case GBT_FEATURE_KEY_COUNT:
    return table_fault(schema, f);
  case GBT_N_FEATURE_KINDS:
    break;
  }
  return "a feature has an unknown kind";
}

/* Features with tables come after the others, in the order of their projections, each of which has at least one. */
static const char *order_fault(const gbt_schema *schema) {
  int32_t last = -1;
  for (int32_t f = 0; f < schema->n_features; f++) {
    const int32_t p = schema->feat[f].projection;
    if (p < 0 && last >= 0) return "a feature comes after those with tables";
    if (p < 0) continue;
    if (p != last && p != last + 1) return "statistics are not in the order of their combinations";
    last = p;
  }
  return last + 1 == schema->n_projections ? NULL : "a combination has no statistic";
}

const char *gbt_feature_map_fault(const gbt_schema *schema) {
  const char *fault = order_fault(schema);
  for (int32_t p = 0; p < schema->n_projections && fault == NULL; p++)
    fault = projection_fault(schema, &schema->proj[p]);
  for (int32_t f = 0; f < schema->n_features && fault == NULL; f++) fault = feature_fault(schema, &schema->feat[f]);
  return fault;
}

int gbt_feature_map_is_identity(const gbt_schema *schema) {
  if (schema->n_features != schema->n_columns || schema->n_projections > 0) return 0;
  for (int32_t f = 0; f < schema->n_features; f++)
    if (schema->feat[f].kind != GBT_FEATURE_COLUMN || schema->feat[f].col != f) return 0;
  return 1;
}
