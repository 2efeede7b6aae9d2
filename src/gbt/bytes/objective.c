/* The objective in a model's bytes: its name, and its parameters by name, so that tables of objectives may change their
 * order and objectives may gain parameters. Parameters are in ascending order of their names, all that the objective
 * had when the model was written; one that it has gained since reads as its default. */
#include "sections.h"

/* The parameters of an objective in ascending order of their names; returns how many. */
static int sort_parameters(const gbt_objective_info *info, int place[GBT_OBJECTIVE_PARAMS]) {
  int n = 0;
  for (; n < GBT_OBJECTIVE_PARAMS && info->param[n].name != NULL; n++) {
    int i = n;
    for (; i > 0 && strcmp(info->param[place[i - 1]].name, info->param[n].name) > 0; i--) place[i] = place[i - 1];
    place[i] = n;
  }
  return n;
}

static gbt_status measure_objective(gbti_writer *w) {
  const gbt_objective *objective = &w->parts->objective;
  int place[GBT_OBJECTIVE_PARAMS];
  GBT_TRY(gbt_objective_check(objective, w->err));
  if (objective->n_outputs != w->parts->forest.n_outputs)
    return gbt_fail(w->err, GBT_E_INTERNAL, "the objective has %d outputs and the forest has %d",
                    (int)objective->n_outputs, (int)w->parts->forest.n_outputs);
  const gbt_objective_info *info = gbt_objective_info_of(objective->kind);
  int n = sort_parameters(info, place);
  GBT_TRY(gbti_measure_text(w, info->name, GBT_E_INTERNAL, "objective", info->name));
  for (int i = 0; i < n; i++)
    GBT_TRY(gbti_measure_text(w, info->param[place[i]].name, GBT_E_INTERNAL, "objective", info->name));
  w->n[GBTI_SEC_OBJECTIVE] = 1;
  w->n[GBTI_SEC_PARAMETERS] = (uint64_t)n;
  return GBT_OK;
}

static void put_objective(gbti_writer *w) {
  const gbt_objective *objective = &w->parts->objective;
  const gbt_objective_info *info = gbt_objective_info_of(objective->kind);
  uint64_t *name = gbti_out(w, GBTI_SEC_OBJECTIVE);
  gbti_model_parameter *param = gbti_out(w, GBTI_SEC_PARAMETERS);
  int place[GBT_OBJECTIVE_PARAMS], n = sort_parameters(info, place);
  *name = gbti_put_text(w, info->name);
  for (int i = 0; i < n; i++) {
    param[i].name = gbti_put_text(w, info->param[place[i]].name);
    param[i].value = objective->param[place[i]];
  }
}

/* GBT_N_OBJECTIVES when there is none of the name. */
static int32_t kind_of(const char *name) {
  int32_t kind = 0;
  while (kind < GBT_N_OBJECTIVES && strcmp(gbt_objective_info_of(kind)->name, name) != 0) kind++;
  return kind;
}

/* The place of a parameter in the objective's row, or -1. */
static int place_of(const gbt_objective_info *info, const char *name) {
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && info->param[i].name != NULL; i++)
    if (strcmp(info->param[i].name, name) == 0) return i;
  return -1;
}

/* Those that the bytes do not have keep their defaults. */
static gbt_status read_parameters(gbti_reader *r, gbt_objective *objective) {
  const gbti_model_parameter *param = r->at[GBTI_SEC_PARAMETERS];
  const gbt_objective_info *info = gbt_objective_info_of(objective->kind);
  const char *before = "";
  int place[GBT_OBJECTIVE_PARAMS];
  for (uint64_t i = 0; i < r->n[GBTI_SEC_PARAMETERS]; i++) {
    const char *name;
    GBT_TRY(gbti_take_text(r, param[i].name, &name));
    if (strcmp(before, name) >= 0) return gbti_damaged(r, "the objective's parameters are not in order");
    const int at = place_of(info, name);
    if (at < 0)
      return gbt_fail(r->err, GBT_E_FORMAT,
                      "the model's objective \"%.60s\" has the parameter `%.60s`, which this version of gbt does not "
                      "know; use a newer gbt",
                      info->name, name);
    objective->param[at] = param[i].value;
    before = name;
  }
  r->n_defaults = sort_parameters(info, place) - (int32_t)r->n[GBTI_SEC_PARAMETERS];
  return GBT_OK;
}

static gbt_status read_objective(gbti_reader *r) {
  gbt_objective *objective = &r->parts.objective;
  const uint64_t *at = r->at[GBTI_SEC_OBJECTIVE];
  const gbti_model_numbers *numbers = r->at[GBTI_SEC_NUMBERS];
  const char *name;
  if (r->n[GBTI_SEC_OBJECTIVE] != 1 || r->n[GBTI_SEC_NUMBERS] != 1)
    return gbti_damaged(r, "there must be one record of numbers and one objective");
  GBT_TRY(gbti_take_text(r, *at, &name));
  const int32_t kind = kind_of(name);
  if (kind == GBT_N_OBJECTIVES)
    return gbt_fail(r->err, GBT_E_FORMAT,
                    "the model was trained for the objective \"%.60s\", which this version of gbt does not know; use a "
                    "newer gbt",
                    name);
  *objective = gbt_objective_make((gbt_objective_kind)kind, numbers->n_outputs);
  GBT_TRY(read_parameters(r, objective));
  return gbt_objective_check(objective, NULL) == GBT_OK
             ? GBT_OK
             : gbti_damaged(r, "the objective's outputs or parameters are out of range");
}

const gbti_part gbti_part_objective = {measure_objective, put_objective, read_objective};
