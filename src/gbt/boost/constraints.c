#include "constraints.h"

/* ---- columns of features ---- */

/* The columns that a feature is made of: one, or those of a combination. */
static int32_t columns_of(const gbt_schema *schema, const gbt_feature *feat, const int32_t **col) {
  if (feat->projection < 0) {
    *col = &feat->col;
    return 1;
  }
  *col = schema->proj[feat->projection].col;
  return schema->proj[feat->projection].n_cols;
}

/* ---- signs and weights ---- */

static gbt_status check_columns(const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  int32_t positive = 0;
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const char *name = schema->col[c].name;
    if (spec->monotone && spec->monotone[c] != 0 && schema->col[c].type == GBT_CATEGORICAL)
      return gbt_fail_on(err, GBT_E_UNSUPPORTED, name,
                         "column `%s` is categorical and cannot have a monotone constraint; make it ordered", name);
    if (spec->monotone && spec->monotone[c] != 0 && gbt_is_distribution(&spec->objective))
      return gbt_fail_on(
          err, GBT_E_UNSUPPORTED, "monotone",
          "`monotone` cannot be used with the objective \"%s\": it would constrain both parameters of the "
          "distribution, not only its mean; leave `monotone` out",
          gbt_objective_info_of(spec->objective.kind)->name);
    if (spec->feature_weight && !(spec->feature_weight[c] >= 0.0 && spec->feature_weight[c] < 1e300))
      return gbt_fail_on(err, GBT_E_ARG, name, "`feature_weights` of column `%s` must be a finite number, 0 or more",
                         name);
    positive += spec->feature_weight && spec->feature_weight[c] > 0.0;
  }
  if (spec->feature_weight && positive == 0)
    return gbt_fail_on(err, GBT_E_ARG, "feature_weights", "`feature_weights` are all 0; at least one must be larger");
  return GBT_OK;
}

/* The least of its columns' weights, so that what is made of a column with weight 0 is never used. */
static double weight_of(const gbt_schema *schema, const gbt_feature *feat, const double *weight) {
  const int32_t *col, n = columns_of(schema, feat, &col);
  double least = weight[col[0]];
  for (int32_t i = 1; i < n; i++) least = weight[col[i]] < least ? weight[col[i]] : least;
  return least;
}

static gbt_status map_columns(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_constraints *out, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  const size_t n = (size_t)schema->n_features;
  if (spec->monotone) GBT_TRY(gbt_mem_array(mem, n, sizeof *out->monotone, &out->monotone, err));
  if (spec->feature_weight) GBT_TRY(gbt_mem_array(mem, n, sizeof *out->weight, &out->weight, err));
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (out->monotone) out->monotone[f] = feat->kind == GBT_FEATURE_COLUMN ? spec->monotone[feat->col] : 0;
    if (out->weight) out->weight[f] = weight_of(schema, feat, spec->feature_weight);
  }
  return GBT_OK;
}

/* ---- interaction groups ---- */

/* Members must exist, and none may be twice in a group. last: n_columns zeros; the last group that named a column. */
static gbt_status check_members(const gbt_trainer_spec *spec, int32_t *last, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  for (int32_t s = 0; s < spec->n_interact; s++)
    for (int32_t i = spec->interact_beg[s]; i < spec->interact_beg[s + 1]; i++) {
      const int32_t c = spec->interact_col[i];
      if (c < 0 || c >= schema->n_columns)
        return gbt_fail_on(err, GBT_E_ARG, "interactions", "interaction group %d names a column that does not exist",
                           (int)s + 1);
      if (last[c] == s + 1)
        return gbt_fail_on(err, GBT_E_ARG, "interactions", "interaction group %d names column `%s` twice", (int)s + 1,
                           schema->col[c].name);
      last[c] = s + 1;
    }
  return GBT_OK;
}

/* Whether all columns of a feature are members of group s. last: by column, the last group that named it. */
static int is_member(const gbt_schema *schema, const gbt_feature *feat, const int32_t *last, int32_t s) {
  const int32_t *col, n = columns_of(schema, feat, &col);
  int all = 1;
  for (int32_t i = 0; i < n; i++) all &= last[col[i]] == s + 1;
  return all;
}

/* A split by a combination is an interaction of its columns: where no group has all of them, its weight becomes 0.
 * grouped: by feature, whether a group has it. */
static gbt_status forbid_combinations(const gbt_mem *mem, const gbt_schema *schema, const uint8_t *grouped,
                                      gbt_constraints *out, gbt_error *err) {
  for (int32_t f = 0; f < schema->n_features; f++) {
    const int32_t *col, n = columns_of(schema, &schema->feat[f], &col);
    if (n == 1 || grouped[f]) continue;
    if (out->weight == NULL) {
      GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *out->weight, &out->weight, err));
      for (int32_t i = 0; i < schema->n_features; i++) out->weight[i] = 1.0;
    }
    out->weight[f] = 0.0;
  }
  return GBT_OK;
}

/* Features by the first column they are made of: those of column c are feat[beg[c]] .. feat[beg[c + 1] - 1], ascending.
 */
static void list_features(const gbt_schema *schema, int32_t *beg, int32_t *feat) {
  for (int32_t f = 0; f < schema->n_features; f++) beg[schema->feat[f].col + 1]++;
  for (int32_t c = 0; c < schema->n_columns; c++) beg[c + 1] += beg[c];
  for (int32_t f = schema->n_features - 1; f >= 0; f--) feat[--beg[schema->feat[f].col + 1]] = f;
  /* every end has moved to its beginning: the array is one place too far */
  for (int32_t c = 0; c < schema->n_columns; c++) beg[c] = beg[c + 1];
  beg[schema->n_columns] = schema->n_features;
}

static gbt_status map_groups(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_constraints *out, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  const int32_t n_members = spec->interact_beg[spec->n_interact];
  gbt_status status = GBT_OK;
  int32_t *beg = NULL, *feat = NULL, *last = NULL;
  uint8_t *grouped = NULL;
  int64_t n = 0;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)schema->n_columns + 1, sizeof *beg, &beg, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)schema->n_columns, sizeof *last, &last, err), done);
  GBT_TRY_GOTO(check_members(spec, last, err), done);
  for (int32_t c = 0; c < schema->n_columns; c++) last[c] = 0;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)schema->n_features, 1, &grouped, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *feat, &feat, err), done);
  list_features(schema, beg, feat);
  for (int32_t i = 0; i < n_members; i++) n += beg[spec->interact_col[i] + 1] - beg[spec->interact_col[i]];
  if (n > INT32_MAX) {
    status = gbt_fail_on(err, GBT_E_ARG, "interactions",
                         "the groups of `interactions` have too many columns together; "
                         "give fewer groups");
    goto done;
  }
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)spec->n_interact + 1, sizeof *out->group_beg, &out->group_beg, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *out->group_feat, &out->group_feat, err), done);
  out->n_groups = spec->n_interact;
  n = 0;
  for (int32_t s = 0; s < spec->n_interact; s++) {
    out->group_beg[s] = (int32_t)n;
    for (int32_t i = spec->interact_beg[s]; i < spec->interact_beg[s + 1]; i++) last[spec->interact_col[i]] = s + 1;
    for (int32_t i = spec->interact_beg[s]; i < spec->interact_beg[s + 1]; i++)
      for (int32_t k = beg[spec->interact_col[i]]; k < beg[spec->interact_col[i] + 1]; k++) {
        if (!is_member(schema, &schema->feat[feat[k]], last, s)) continue;
        grouped[feat[k]] = 1;
        out->group_feat[n++] = feat[k];
      }
  }
  out->group_beg[spec->n_interact] = (int32_t)n;
  status = forbid_combinations(mem, schema, grouped, out, err);
done:
  gbt_mem_free(mem, beg);
  gbt_mem_free(mem, last);
  gbt_mem_free(mem, grouped);
  gbt_mem_free(mem, feat);
  return status;
}

gbt_status gbt_constraints_make(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_constraints *out,
                                gbt_error *err) {
  *out = (gbt_constraints){NULL, NULL, NULL, NULL, 0};
  GBT_TRY(check_columns(spec, err));
  GBT_TRY(map_columns(mem, spec, out, err));
  return spec->n_interact > 0 ? map_groups(mem, spec, out, err) : GBT_OK;
}

void gbt_constraints_free(const gbt_mem *mem, gbt_constraints *constraints) {
  gbt_mem_free(mem, constraints->monotone);
  gbt_mem_free(mem, constraints->weight);
  gbt_mem_free(mem, constraints->group_beg);
  gbt_mem_free(mem, constraints->group_feat);
}
