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

static gbt_status list_columns(const gbt_schema *schema, const uint8_t *method, gbti_plan *plan, gbt_error *err) {
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const unsigned way = schema->col[c].type == GBT_CATEGORICAL ? method_of(method, c) : 0;
    if ((way & (GBT_CAT_TARGET | GBT_CAT_COUNT)) == 0) continue;
    if (plan->planned == NULL)
      GBT_TRY(gbt_mem_array(&plan->mem, (size_t)schema->n_columns, sizeof *plan->planned, &plan->planned, err));
    plan->planned[plan->n++] = (gbti_planned){
        .n_cols = 1, .col = {c}, .target = (way & GBT_CAT_TARGET) != 0, .count = (way & GBT_CAT_COUNT) != 0};
  }
  return GBT_OK;
}

gbt_status gbti_plan_make(const gbt_mem *mem, const gbt_cuts *cuts, const uint8_t *method, gbti_plan *out,
                          gbt_error *err) {
  *out = (gbti_plan){.mem = *mem};
  GBT_TRY(check_methods(cuts->schema, method, err));
  GBT_TRY(mark_columns(cuts->schema, method, out, err));
  return list_columns(cuts->schema, method, out, err);
}

void gbti_plan_free(gbti_plan *plan) {
  gbt_mem_free(&plan->mem, plan->planned);
  gbt_mem_free(&plan->mem, plan->unused);
  gbt_mem_free(&plan->mem, plan->onehot);
}
