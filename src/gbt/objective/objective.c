/* The table of objectives, and what it says of outputs, parameters and labels. */
#include "objective.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "../base/find.h"
#include "../base/hd.h"

#define NO_PARAMETERS \
  { NULL, NULL, 0.0, 0.0, 0.0, 0, 0, NULL, 0 }

static const gbt_objective_info infos[GBT_N_OBJECTIVES] = {
#define GBT_OBJECTIVE(ID, name_, aliases_, gradient_, outputs_, labels_, response_, base_, hessian_, size_, leaves_, \
                      metric_, text_, ...)                                                                           \
  [GBT_OBJ_##ID] = {.name = #name_,                                                                                  \
                    .aliases = aliases_,                                                                             \
                    .text = text_,                                                                                   \
                    .gradient = GBT_GRADIENT_##gradient_,                                                            \
                    .outputs = GBT_OUTPUTS_##outputs_,                                                               \
                    .labels = GBT_LABELS_##labels_,                                                                  \
                    .response = GBT_RESPONSE_##response_,                                                            \
                    .base = GBT_BASE_##base_,                                                                        \
                    .hessian = GBT_HESSIAN_##hessian_,                                                               \
                    .size = GBT_SIZE_##size_,                                                                        \
                    .leaves = GBT_LEAVES_##leaves_,                                                                  \
                    .rule = {#gradient_, #outputs_, #labels_, #response_, #hessian_, #size_, #leaves_},              \
                    .param = {__VA_ARGS__}},
#include "objectives.def"
};

const gbt_objective_info *gbt_objective_info_of(int32_t kind) {
  GBT_ASSERT(kind >= 0 && kind < GBT_N_OBJECTIVES);
  return &infos[kind];
}

int gbt_gradients_by_host(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_GIVEN:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_CLASSES:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    break;
  }
  return 0;
}

int gbt_gradients_by_scale(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_TIME:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_CLASSES:
  case GBT_GRADIENT_GIVEN:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    break;
  }
  return 0;
}

int gbt_gradients_are_joint(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_CLASSES:
  case GBT_GRADIENT_GIVEN:
    break;
  }
  return 0;
}

int gbt_gradients_are_kept(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_GIVEN:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_CLASSES:
    break;
  }
  return 0;
}

int gbt_gradients_by_classes(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_CLASSES:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_GIVEN:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    break;
  }
  return 0;
}

int gbt_gradients_by_interval(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_INTERVALS:
    return 1;
  case GBT_GRADIENT_ROW:
  case GBT_GRADIENT_CLASSES:
  case GBT_GRADIENT_GIVEN:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_DISTRIBUTION:
    break;
  }
  return 0;
}

int gbt_gradients_by_row(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->gradient) {
  case GBT_GRADIENT_ROW:
    return 1;
  case GBT_GRADIENT_CLASSES:
  case GBT_GRADIENT_GIVEN:
  case GBT_GRADIENT_QUERY:
  case GBT_GRADIENT_TIME:
  case GBT_GRADIENT_ORDERED:
  case GBT_GRADIENT_INTERVALS:
  case GBT_GRADIENT_DISTRIBUTION:
    break;
  }
  return 0;
}

int gbt_responses_by_classes(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->response) {
  case GBT_RESPONSE_CLASSES:
    return 1;
  case GBT_RESPONSE_NUMBER:
  case GBT_RESPONSE_MEAN:
  case GBT_RESPONSE_PROBABILITY:
  case GBT_RESPONSE_TIME:
  case GBT_RESPONSE_HAZARD:
  case GBT_RESPONSE_INTERVALS:
  case GBT_RESPONSE_DISTRIBUTION:
  case GBT_RESPONSE_OWN:
    break;
  }
  return 0;
}

int gbt_has_levels(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->outputs) {
  case GBT_OUTPUTS_LEVELS:
    return o->n_outputs > 1;
  case GBT_OUTPUTS_ONE:
  case GBT_OUTPUTS_COLUMNS:
  case GBT_OUTPUTS_CLASSES:
  case GBT_OUTPUTS_ANY:
  case GBT_OUTPUTS_TWO:
    break;
  }
  return 0;
}

int gbt_has_columns(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->outputs) {
  case GBT_OUTPUTS_COLUMNS:
    return o->n_outputs > 1;
  case GBT_OUTPUTS_ONE:
  case GBT_OUTPUTS_CLASSES:
  case GBT_OUTPUTS_ANY:
  case GBT_OUTPUTS_LEVELS:
  case GBT_OUTPUTS_TWO:
    break;
  }
  return 0;
}

int gbt_is_distribution(const gbt_objective *o) {
  return gbt_objective_info_of(o->kind)->response == GBT_RESPONSE_DISTRIBUTION;
}

static int n_params(const gbt_objective_info *info) {
  int n = 0;
  while (n < GBT_OBJECTIVE_PARAMS && info->param[n].name) n++;
  return n;
}

gbt_objective gbt_objective_make(gbt_objective_kind kind, int32_t n_outputs) {
  gbt_objective o = {.kind = (int32_t)kind, .n_outputs = n_outputs};
  for (int i = 0; i < n_params(&infos[kind]); i++) o.param[i] = infos[kind].param[i].def;
  return o;
}

static int outputs_fit(gbt_outputs_rule rule, int32_t n_outputs) {
  switch (rule) {
  case GBT_OUTPUTS_ONE:
    return n_outputs == 1;
  case GBT_OUTPUTS_CLASSES:
    return n_outputs >= 2;
  case GBT_OUTPUTS_COLUMNS:
  case GBT_OUTPUTS_ANY:
    return n_outputs >= 1;
  case GBT_OUTPUTS_LEVELS:
    return n_outputs >= 1 && n_outputs <= GBT_MOST_LEVELS;
  case GBT_OUTPUTS_TWO:
    return n_outputs == 2;
  }
  return 0;
}

static gbt_status check_param(const gbt_objective_info *info, const gbt_objective_param *p, double x, gbt_error *err) {
  const int above = p->open_low ? x > p->low : x >= p->low, below = p->open_high ? x < p->high : x <= p->high;
  const int whole = !p->whole || (above && below && x == (double)(int64_t)x);
  if (above && below && whole) return GBT_OK; /* NaN is neither above nor below */
  return gbt_fail_on(err, GBT_E_ARG, p->name,
                     "`%s` of the objective \"%s\" is %.15g; it must be %s%s %.15g and %s %.15g", p->name, info->name,
                     x, p->whole ? "a whole number " : "", p->open_low ? "above" : "at least", p->low,
                     p->open_high ? "below" : "at most", p->high);
}

gbt_status gbt_objective_check(const gbt_objective *o, gbt_error *err) {
  if (o->kind < 0 || o->kind >= GBT_N_OBJECTIVES)
    return gbt_fail_on(err, GBT_E_ARG, "objective", "there is no objective number %d", (int)o->kind);
  const gbt_objective_info *info = &infos[o->kind];
  const int n = n_params(info);
  if (!outputs_fit(info->outputs, o->n_outputs))
    return gbt_fail_on(err, GBT_E_ARG, "objective", "the objective \"%s\" does not fit %d outputs", info->name,
                       (int)o->n_outputs);
  for (int i = 0; i < n; i++) GBT_TRY(check_param(info, &info->param[i], o->param[i], err));
  for (int i = n; i < GBT_OBJECTIVE_PARAMS; i++)
    if (o->param[i] != 0.0)
      return gbt_fail_on(err, GBT_E_ARG, "objective", "the objective \"%s\" has %d parameters, not %d", info->name, n,
                         i + 1);
  return GBT_OK;
}

gbt_status gbt_breaks_check(const gbt_objective *o, gbt_error *err) {
  double before = 0.0;
  if (!gbt_gradients_by_interval(o)) return GBT_OK;
  if (o->breaks == NULL)
    return gbt_fail_on(err, GBT_E_ARG, "breaks", "the objective \"%s\" needs `breaks`, the ends of its intervals",
                       gbt_objective_info_of(o->kind)->name);
  for (int32_t k = 0; k < o->n_outputs; k++) {
    const double b = o->breaks[k];
    if (!(b > before && b <= DBL_MAX))
      return gbt_fail_on(err, GBT_E_ARG, "breaks",
                         "`breaks` must be finite numbers above 0 in ascending order, and number %d is %.15g",
                         (int)k + 1, b);
    before = b;
  }
  return GBT_OK;
}

gbt_status gbt_levels_check(const gbt_objective *o, gbt_error *err) {
  const gbt_objective_info *info = gbt_objective_info_of(o->kind);
  const gbt_objective_param *p = &info->param[0];
  if (!gbt_has_levels(o)) return GBT_OK;
  if (o->levels == NULL)
    return gbt_fail_on(err, GBT_E_ARG, p->name, "the objective \"%s\" needs a number of `%s` for each output",
                       info->name, p->name);
  for (int32_t k = 0; k < o->n_outputs; k++) {
    GBT_TRY(check_param(info, p, o->levels[k], err));
    if (k > 0 && o->levels[k] <= o->levels[k - 1])
      return gbt_fail_on(err, GBT_E_ARG, p->name, "`%s` must be in ascending order, and number %d is %.15g", p->name,
                         (int)k + 1, o->levels[k]);
  }
  if (o->levels[0] != o->param[0])
    return gbt_fail_on(err, GBT_E_ARG, p->name, "the first number of `%s` is %.15g, not %.15g", p->name, o->levels[0],
                       o->param[0]);
  return GBT_OK;
}

/* ---- labels ---- */

static int label_fits(gbt_label_rule rule, int32_t n_outputs, double y) {
  switch (rule) {
  case GBT_LABELS_NUMBER:
    return 1;
  case GBT_LABELS_BINARY:
  case GBT_LABELS_SHARE:
    return y >= 0.0 && y <= 1.0;
  case GBT_LABELS_CLASS:
    return y >= 0.0 && y < n_outputs && y == (double)(int32_t)y;
  case GBT_LABELS_NOT_NEGATIVE:
    return y >= 0.0;
  case GBT_LABELS_POSITIVE:
    return y > 0.0;
  case GBT_LABELS_COUNT:
    return y >= 0.0 && y <= 0x1p53 && y == (double)(int64_t)y;
  case GBT_LABELS_ABOVE_MINUS_ONE:
    return y > -1.0;
  }
  return 0;
}

static const char *label_words(gbt_label_rule rule) {
  switch (rule) {
  case GBT_LABELS_NUMBER:
    return "a number";
  case GBT_LABELS_BINARY:
  case GBT_LABELS_SHARE:
    return "a number in [0, 1]";
  case GBT_LABELS_CLASS:
    return "a class number from 0 to the number of classes less one";
  case GBT_LABELS_NOT_NEGATIVE:
    return "0 or more";
  case GBT_LABELS_POSITIVE:
    return "a number above 0";
  case GBT_LABELS_COUNT:
    return "a whole number of 0 or more";
  case GBT_LABELS_ABOVE_MINUS_ONE:
    return "a number above -1";
  }
  return "";
}

typedef struct label_search {
  gbt_label_rule rule;
  int32_t n_outputs;
  const double *label;
} label_search;

static int64_t find_label(const void *arg, int64_t beg, int64_t end) {
  const label_search *s = arg;
  while (beg < end && label_fits(s->rule, s->n_outputs, s->label[beg])) beg++;
  return beg;
}

gbt_status gbt_labels_check(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, const char *data,
                            gbt_error *err) {
  const gbt_objective_info *info = &infos[o->kind];
  const label_search search = {info->labels, o->n_outputs, rows->field[GBT_LABEL]};
  const int64_t n = rows->n * (gbt_has_columns(o) ? o->n_outputs : 1);
  int64_t at;
  if (!search.label)
    return gbt_gradients_by_host(o) ? GBT_OK
                                     : gbt_fail_on(err, GBT_E_DATA, "label", "the %s data have no label", data);
  GBT_TRY(gbt_find_first(ctx, n, find_label, &search, &at, err));
  if (at == n) return GBT_OK;
  return gbt_fail_on(err, GBT_E_DATA, "label", "label of row %lld of the %s data is %g; this objective needs %s",
                     (long long)gbt_row_number(rows, at % rows->n), data, search.label[at], label_words(info->labels));
}

double gbt_objective_param_of(const gbt_objective *objective, const char *name, double other) {
  const gbt_objective_param *param = gbt_objective_info_of(objective->kind)->param;
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && param[i].name != NULL; i++)
    if (strcmp(param[i].name, name) == 0) return objective->param[i];
  return other;
}
