#include "plan.h"

#include <string.h>

const char *gbt_cat_method_name(int number) {
  static const char *const names[GBT_N_CAT_METHODS] = {
#define GBT_CAT_METHOD(ID, NAME, TEXT) NAME,
#include "cat_methods.def"
  };
  return number >= 0 && number < GBT_N_CAT_METHODS ? names[number] : NULL;
}

/* Measured: docs/decisions/15-cat-method-auto.md. */
enum {
  FEW_LEVELS = 4,    /* up to here sets say all that a statistic does */
  MANY_LEVELS = 255, /* up to here statistics never harm */
  LEVEL_ROWS = 30    /* of a level on average: beyond MANY_LEVELS and from here on sets without statistics are better */
};

unsigned gbti_auto_cat_method(int64_t n_levels, int64_t n_rows) {
  if (n_levels <= FEW_LEVELS) return GBT_CAT_SETS;
  if (n_levels > GBT_MAX_LEVELS) return GBT_CAT_TARGET | GBT_CAT_COUNT;
  if (n_levels > MANY_LEVELS && n_rows / n_levels >= LEVEL_ROWS) return GBT_CAT_SETS;
  return GBT_CAT_SETS | GBT_CAT_TARGET;
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

/* The methods of each column. */
static gbt_status choose_methods(const gbt_schema *schema, const uint8_t *asked, int64_t n_rows, int labelled,
                                 gbti_plan *plan, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(&plan->mem, (size_t)schema->n_columns, sizeof *plan->method, &plan->method, err));
  for (int32_t c = 0; c < schema->n_columns; c++) {
    if (schema->col[c].type != GBT_CATEGORICAL) continue;
    if (asked != NULL && asked[c] != GBT_CAT_AUTO)
      plan->method[c] = asked[c];
    else if (asked == NULL || !labelled)
      plan->method[c] = GBT_CAT_SETS;
    else
      plan->method[c] = (uint8_t)gbti_auto_cat_method(schema->col[c].n_levels, n_rows);
  }
  return GBT_OK;
}

/* Marks the features that are the columns themselves, as their methods want. */
static gbt_status mark_columns(const gbt_schema *schema, gbti_plan *plan, gbt_error *err) {
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->kind != GBT_FEATURE_COLUMN || feat->type != GBT_CATEGORICAL) continue;
    const unsigned way = plan->method[feat->col];
    uint8_t **mark = (way & GBT_CAT_ONEHOT) != 0 ? &plan->onehot : (way & GBT_CAT_SETS) == 0 ? &plan->unused : NULL;
    if (mark == NULL) continue;
    if (*mark == NULL) GBT_TRY(gbt_mem_zeros(&plan->mem, (size_t)schema->n_features, sizeof **mark, mark, err));
    (*mark)[f] = 1;
  }
  return GBT_OK;
}

static gbt_status list_columns(const gbt_schema *schema, gbti_plan *plan, gbt_error *err) {
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const unsigned way = plan->method[c];
    if ((way & (GBT_CAT_TARGET | GBT_CAT_QUARTILES | GBT_CAT_COUNT)) == 0) continue;
    if (plan->planned == NULL)
      GBT_TRY(gbt_mem_array(&plan->mem, (size_t)schema->n_columns, sizeof *plan->planned, &plan->planned, err));
    plan->planned[plan->n++] = (gbti_planned){.n_cols = 1,
                                              .col = {c},
                                              .target = (way & GBT_CAT_TARGET) != 0,
                                              .quartiles = (way & GBT_CAT_QUARTILES) != 0,
                                              .count = (way & GBT_CAT_COUNT) != 0};
    plan->orders |= (way & (GBT_CAT_TARGET | GBT_CAT_QUARTILES)) != 0;
    plan->quartiles |= (way & GBT_CAT_QUARTILES) != 0;
  }
  return GBT_OK;
}

gbt_status gbti_plan_make(const gbt_mem *mem, const gbt_cuts *cuts, const uint8_t *asked, int64_t n_rows, int labelled,
                          gbti_plan *out, gbt_error *err) {
  *out = (gbti_plan){.mem = *mem};
  GBT_TRY(check_methods(cuts->schema, asked, err));
  GBT_TRY(choose_methods(cuts->schema, asked, n_rows, labelled, out, err));
  GBT_TRY(mark_columns(cuts->schema, out, err));
  return list_columns(cuts->schema, out, err);
}

void gbti_plan_free(gbti_plan *plan) {
  gbt_mem_free(&plan->mem, plan->method);
  gbt_mem_free(&plan->mem, plan->planned);
  gbt_mem_free(&plan->mem, plan->unused);
  gbt_mem_free(&plan->mem, plan->onehot);
}
