#include "plan.h"

#include <string.h>

const char *gbt_cat_method_name(int number) {
  static const char *const names[GBT_N_CAT_METHODS] = {
#define GBT_CAT_METHOD(ID, NAME, TEXT) NAME,
#include "cat_methods.def"
  };
  return number >= 0 && number < GBT_N_CAT_METHODS ? names[number] : NULL;
}

/* What is done with a categorical column. */
static unsigned method_of(const uint8_t *method, int32_t col) {
  const unsigned asked = method != NULL ? method[col] : GBT_CAT_AUTO;
  return asked != GBT_CAT_AUTO ? asked : GBT_CAT_SETS;
}

static gbt_status check_methods(const gbt_schema *schema, const uint8_t *method, gbt_error *err) {
  for (int32_t c = 0; method != NULL && c < schema->n_columns; c++) {
    const gbt_schema_column *col = &schema->col[c];
    if (method[c] >= 1 << GBT_N_CAT_METHODS)
      return gbt_fail_on(err, GBT_E_ARG, col->name, "column `%s`: there is no such `cat_method`", col->name);
    if (method[c] != GBT_CAT_AUTO && col->type != GBT_CATEGORICAL)
      return gbt_fail_on(err, GBT_E_ARG, col->name,
                         "`cat_method` names column `%s`, which is not categorical; make it an unordered factor or "
                         "name it in `cat_features`",
                         col->name);
  }
  return GBT_OK;
}

/* Marks the features that are the columns themselves, as their methods want. */
static gbt_status mark_columns(const gbt_schema *schema, const uint8_t *method, gbti_plan *plan, gbt_error *err) {
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->kind != GBT_FEATURE_COLUMN || feat->type != GBT_CATEGORICAL) continue;
    const unsigned way = method_of(method, feat->col);
    uint8_t **mark = (way & GBT_CAT_ONEHOT) != 0 ? &plan->onehot : (way & GBT_CAT_SETS) == 0 ? &plan->unused : NULL;
    if (mark == NULL) continue;
    if (*mark == NULL) GBT_TRY(gbt_mem_zeros(&plan->mem, (size_t)schema->n_features, sizeof **mark, mark, err));
    (*mark)[f] = 1;
  }
  return GBT_OK;
}

/* Levels of a column, missing values among them. */
static uint64_t keys_of(const gbt_schema *schema, int32_t col) { return (uint64_t)schema->col[col].n_levels + 1; }

/* Appends every combination of n_cols of the n columns; keys of all of them must be below 2^63. at: where the next one
 * goes; NULL: they are counted alone. */
static size_t combine(const gbt_schema *schema, const int32_t *col, int32_t n, int32_t n_cols, gbti_planned *at) {
  int32_t pick[GBTI_MOST_COMBINED];
  size_t found = 0;
  if (n_cols > n) return 0;
  for (int32_t i = 0; i < n_cols; i++) pick[i] = i;
  for (;;) {
    uint64_t keys = 1;
    int fits = 1;
    for (int32_t i = 0; i < n_cols; i++) {
      fits &= keys_of(schema, col[pick[i]]) <= (uint64_t)INT64_MAX / keys;
      if (fits) keys *= keys_of(schema, col[pick[i]]);
    }
    if (fits && at != NULL) {
      gbti_planned *to = &at[found];
      *to = (gbti_planned){.n_cols = n_cols, .target = 1, .count = 0};
      for (int32_t i = 0; i < n_cols; i++) to->col[i] = col[pick[i]];
    }
    found += (size_t)fits;
    int32_t last = n_cols - 1;
    while (last >= 0 && pick[last] == n - n_cols + last) last--;
    if (last < 0) return found;
    pick[last]++;
    for (int32_t i = last + 1; i < n_cols; i++) pick[i] = pick[last] + i - last;
  }
}

static gbt_status list_combinations(const gbt_schema *schema, const gbt_params *params, const uint8_t *method,
                                    gbti_plan *plan, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t *col = NULL, n_target = 0;
  size_t n = 0;
  GBT_TRY_GOTO(gbt_mem_array(&plan->mem, (size_t)schema->n_columns, sizeof *col, &col, err), done);
  for (int32_t c = 0; c < schema->n_columns; c++) {
    if (schema->col[c].type != GBT_CATEGORICAL) continue;
    const unsigned way = method_of(method, c);
    n += (way & (GBT_CAT_TARGET | GBT_CAT_COUNT)) != 0;
    if ((way & GBT_CAT_TARGET) != 0) col[n_target++] = c;
  }
  for (int32_t k = 2; k <= params->max_cat_combine; k++) n += combine(schema, col, n_target, k, NULL);
  if (n == 0) goto done;
  if (n > INT32_MAX) {
    status = gbt_fail_on(err, GBT_E_ARG, "max_cat_combine", "there are too many combinations of columns");
    goto done;
  }
  GBT_TRY_GOTO(gbt_mem_zeros(&plan->mem, n, sizeof *plan->planned, &plan->planned, err), done);
  plan->n = (int32_t)n;
  n = 0;
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const unsigned way = schema->col[c].type == GBT_CATEGORICAL ? method_of(method, c) : 0;
    if ((way & (GBT_CAT_TARGET | GBT_CAT_COUNT)) == 0) continue;
    plan->planned[n++] = (gbti_planned){.n_cols = 1,
                                        .col = {c},
                                        .target = (way & GBT_CAT_TARGET) != 0,
                                        .count = (way & GBT_CAT_COUNT) != 0};
  }
  for (int32_t k = 2; k <= params->max_cat_combine; k++)
    n += combine(schema, col, n_target, k, plan->planned + n);
done:
  gbt_mem_free(&plan->mem, col);
  return status;
}

gbt_status gbti_plan_make(const gbt_mem *mem, const gbt_params *params, const gbt_cuts *cuts, const uint8_t *method,
                          gbti_plan *out, gbt_error *err) {
  *out = (gbti_plan){.mem = *mem};
  GBT_TRY(check_methods(cuts->schema, method, err));
  GBT_TRY(mark_columns(cuts->schema, method, out, err));
  return list_combinations(cuts->schema, params, method, out, err);
}

void gbti_plan_free(gbti_plan *plan) {
  gbt_mem_free(&plan->mem, plan->planned);
  gbt_mem_free(&plan->mem, plan->unused);
  gbt_mem_free(&plan->mem, plan->onehot);
}
