#include "metric.h"

#include <stdio.h>
#include <string.h>

#include "../base/find.h"
#include "../base/hd.h"
#include "../objective/levels.h"

enum { N_RESPONSES = GBT_RESPONSE_OWN + 1 };

enum {
  FORM_RESPONSE = GBT_FORM_MEAN,
  FORM_PROBABILITY = GBT_FORM_MEAN,
  FORM_SCORE = GBT_FORM_MEAN,
  FORM_LOGLOSS = GBT_FORM_MEAN,
  FORM_CLASSES = GBT_FORM_MEAN,
  FORM_CONFUSION = GBT_FORM_CELLS,
  FORM_BINS = GBT_FORM_CELLS,
  FORM_VARIANCE = GBT_FORM_CELLS,
  FORM_RANKING = GBT_FORM_RANKING,
  FORM_QUERY = GBT_FORM_QUERY,
  FORM_CENSORED = GBT_FORM_CENSORED,
  FORM_RISK = GBT_FORM_RISK,
  FORM_DISTRIBUTION = GBT_FORM_DISTRIBUTION
};

#define NO_PARAMETER \
  { NULL, NULL, 0.0, 0.0, 0.0, 0, 0, 0 }
#define PARAMETER(...) \
  { __VA_ARGS__ }
static const gbt_metric_info infos[GBT_N_METRICS] = {
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) \
  [GBT_METRIC_##ID] = {#name,                                                         \
                       aliases,                                                       \
                       text,                                                          \
                       (gbt_metric_form)FORM_##form,                                  \
                       GBT_##better##_IS_BETTER,                                      \
                       outputs,                                                       \
                       GBT_METRIC_LABELS_##labels,                                    \
                       parameter},
#include "metrics.def"
#undef GBT_METRIC
};

const gbt_metric_info *gbt_metric_about(int32_t kind) {
  GBT_ASSERT(kind >= 0 && kind < GBT_N_METRICS);
  return &infos[kind];
}

/* Whether `name` is one of the |-separated words. */
static int among(const char *words, const char *name) {
  size_t n = strlen(name);
  for (const char *w = words; n > 0 && *w != '\0';) {
    size_t len = strcspn(w, "|");
    if (len == n && memcmp(w, name, n) == 0) return 1;
    w += len + (w[len] == '|');
  }
  return 0;
}

int32_t gbt_metric_find(const char *name, int outputs) {
  int32_t first = -1;
  for (int32_t i = 0; i < GBT_N_METRICS; i++) {
    if (strcmp(infos[i].name, name) != 0 && !among(infos[i].aliases, name)) continue;
    if (infos[i].outputs & outputs) return i;
    if (first < 0) first = i;
  }
  return first;
}

gbt_metric gbt_metric_plain(gbt_metric_kind kind) {
  gbt_metric metric = {(int32_t)kind, infos[kind].param.def, 0};
  return metric;
}

gbt_metric gbt_metric_for(gbt_metric_kind kind, const gbt_objective *objective) {
  gbt_metric metric = gbt_metric_plain(kind);
  if (gbt_has_levels(objective) && kind == GBT_METRIC_QUANTILE) {
    metric.param = GBT_ALL_LEVELS;
    return metric;
  }
  const gbt_objective_param *p = gbt_objective_info_of(objective->kind)->param;
  const char *twin = infos[kind].param.twin;
  for (int i = 0; twin != NULL && i < GBT_OBJECTIVE_PARAMS && p[i].name != NULL; i++)
    if (strcmp(p[i].name, twin) == 0) metric.param = objective->param[i];
  return metric;
}

int gbt_metric_outputs(gbt_objective_kind objective) {
  const int place = (int)gbt_objective_info_of((int32_t)objective)->response;
  GBT_ASSERT(place < N_RESPONSES);
  return 1 << place;
}

int gbt_metric_suits(int32_t kind, gbt_objective_kind objective) {
  return (infos[kind].outputs & gbt_metric_outputs(objective)) != 0;
}

gbt_metric_kind gbt_metric_of_objective(gbt_objective_kind kind) {
  switch (kind) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, metric, \
                      ...)                                                                                         \
  case GBT_OBJ_##ID:                                                                                               \
    return GBT_METRIC_##metric;
#include "../objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return GBT_METRIC_RMSE;
}

gbt_metric gbt_metric_usual(const gbt_objective *objective) {
  gbt_metric metric = gbt_metric_for(gbt_metric_of_objective((gbt_objective_kind)objective->kind), objective);
  if (metric.kind == GBT_METRIC_NDCG) metric.param = 10.0;
  return metric;
}

void gbt_metric_name(const gbt_metric *metric, char out[GBT_METRIC_NAME]) {
  const gbt_metric_info *info = gbt_metric_about(metric->kind);
  const int all = metric->kind == GBT_METRIC_QUANTILE && metric->param == GBT_ALL_LEVELS;
  if (info->param.name == NULL || metric->param == info->param.def || all)
    snprintf(out, GBT_METRIC_NAME, "%s", info->name);
  else
    snprintf(out, GBT_METRIC_NAME, "%s@%.15g", info->name, metric->param);
}

static gbt_status check_param(const gbt_metric *metric, int outputs, gbt_error *err) {
  const gbt_metric_info *info = &infos[metric->kind];
  const gbt_metric_param *p = &info->param;
  double x = metric->param;
  if (p->name == NULL) return GBT_OK;
  int above = p->open_low ? x > p->low : x >= p->low, below = p->open_high ? x < p->high : x <= p->high;
  int whole = !p->whole || (above && below && x == (double)(int64_t)x); /* NaN is neither above nor below */
  if (!above && x == p->def)
    return gbt_fail_on(err, GBT_E_ARG, "eval_metric", "metric \"%s\" needs its %s, such as \"%s@2.5\"", info->name,
                       p->name, info->name);
  if (!above || !below || !whole)
    return gbt_fail_on(err, GBT_E_ARG, "eval_metric",
                       "the %s of metric \"%s\" must be %s%s %.15g and %s %.15g, not %.15g", p->name, info->name,
                       p->whole ? "a whole number " : "", p->open_low ? "above" : "at least", p->low,
                       p->open_high ? "below" : "at most", p->high, x);
  if (outputs == GBT_OUT_CLASSES && strcmp(p->name, "threshold") == 0 && x != p->def)
    return gbt_fail_on(err, GBT_E_ARG, "eval_metric",
                       "metric \"%s\" has no threshold with several classes, as the largest probability decides; leave "
                       "it out",
                       info->name);
  return GBT_OK;
}

static const struct {
  const char *name, *text;
} responses[N_RESPONSES] = {[GBT_RESPONSE_NUMBER] = {"number", "numbers"},
                            [GBT_RESPONSE_MEAN] = {"mean", "means on the log link"},
                            [GBT_RESPONSE_PROBABILITY] = {"probability", "probabilities of one of two classes"},
                            [GBT_RESPONSE_CLASSES] = {"classes", "a probability for each class"},
                            [GBT_RESPONSE_TIME] = {"time", "times"},
                            [GBT_RESPONSE_HAZARD] = {"hazard", "relative hazards"},
                            [GBT_RESPONSE_INTERVALS] = {"intervals", "a hazard for each interval"},
                            [GBT_RESPONSE_DISTRIBUTION] = {"distribution", "the parameters of a distribution"},
                            [GBT_RESPONSE_OWN] = {"own", "scores of an objective of your own"}};

const char *gbt_response_name(int response) {
  return response >= 0 && response < N_RESPONSES ? responses[response].name : NULL;
}

/* "a, b or c": what is predicted where the metric suits, but for objectives of the host. */
static void list_outputs(int outputs, char *out, size_t cap) {
  size_t at = 0;
  int left = 0;
  out[0] = '\0';
  for (int p = 0; p < GBT_RESPONSE_OWN; p++) left += (outputs & 1 << p) != 0;
  for (int p = 0, n_done = 0; p < GBT_RESPONSE_OWN; p++) {
    if (!(outputs & 1 << p)) continue;
    const char *sep = n_done == 0 ? "" : n_done + 1 == left ? " or " : ", ";
    int n = snprintf(out + at, cap - at, "%s%s", sep, responses[p].text);
    if (n > 0 && at + (size_t)n < cap) at += (size_t)n;
    n_done++;
  }
}

/* Those of queries are left out, as they need a field of their own. */
static void list_suitable(int outputs, char *out, size_t cap) {
  size_t at = 0;
  out[0] = '\0';
  for (int32_t i = 0; i < GBT_N_METRICS; i++) {
    if (!(infos[i].outputs & outputs) || infos[i].form == GBT_FORM_QUERY) continue;
    int n = snprintf(out + at, cap - at, "%s\"%s\"", at == 0 ? "" : ", ", infos[i].name);
    if (n > 0 && at + (size_t)n < cap) at += (size_t)n;
  }
}

/* Those of models with several levels. */
static gbt_status check_levels(const gbt_metric *metric, const gbt_objective *o, gbt_error *err) {
  const gbt_metric_info *info = &infos[metric->kind];
  if (metric->kind != GBT_METRIC_QUANTILE && metric->kind != GBT_METRIC_COVERAGE)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "eval_metric",
                       "metric \"%s\" needs one prediction per row, and the model predicts %d quantiles; metrics for "
                       "these are \"quantile\", \"quantile@%.15g\" and \"coverage\"",
                       info->name, (int)o->n_outputs, o->param[0]);
  if (info->param.name == NULL || metric->param == GBT_ALL_LEVELS || gbt_level_place(o, metric->param) >= 0)
    return GBT_OK;
  return gbt_fail_on(err, GBT_E_ARG, "eval_metric",
                     "metric \"%s@%.15g\" needs a model of this level; give a level of "
                     "`quantile_alpha`",
                     info->name, metric->param);
}

gbt_status gbt_metric_check(const gbt_metric *metric, const gbt_objective *objective, gbt_error *err) {
  char for_them[160], suits[640];
  if (metric->kind < 0 || metric->kind >= GBT_N_METRICS)
    return gbt_fail(err, GBT_E_INTERNAL, "there is no metric %d", (int)metric->kind);
  GBT_TRY(gbt_objective_check(objective, err));
  const gbt_metric_info *info = &infos[metric->kind];
  const gbt_objective_info *about = gbt_objective_info_of(objective->kind);
  int outputs = gbt_metric_outputs((gbt_objective_kind)objective->kind);
  if (!(info->outputs & outputs)) {
    list_outputs(info->outputs, for_them, sizeof for_them);
    list_suitable(outputs, suits, sizeof suits);
    return gbt_fail_on(err, GBT_E_ARG, "eval_metric",
                       "metric \"%s\" is for %s, but objective \"%s\" predicts %s; metrics for these are %s",
                       info->name, for_them, about->name, responses[about->response].text, suits);
  }
  const int columns = gbt_has_columns(objective);
  if (metric->output < 0 || metric->output > (columns ? objective->n_outputs : 0))
    return gbt_fail(err, GBT_E_INTERNAL, "metric \"%s\": there is no column %d", info->name, (int)metric->output);
  if (gbt_has_levels(objective)) return check_levels(metric, objective, err);
  const int several = outputs & (GBT_OUT_CLASSES | GBT_OUT_INTERVALS | GBT_OUT_DISTRIBUTION);
  if (!several && objective->n_outputs != 1 && !columns)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "eval_metric",
                       "metric \"%s\" needs one score per row, and the model has %d; give a metric function",
                       info->name, (int)objective->n_outputs);
  return check_param(metric, outputs, err);
}

typedef struct label_search {
  const double *label;
  double low;
  int open; /* low itself is not allowed */
} label_search;

static int64_t find_label(const void *arg, int64_t beg, int64_t end) {
  const label_search *s = arg;
  while (beg < end && (s->open ? s->label[beg] > s->low : s->label[beg] >= s->low)) beg++;
  return beg;
}

gbt_status gbt_metric_labels_check(gbt_ctx *ctx, const gbt_metric *metric, const gbt_rows *rows, const char *data,
                                   gbt_error *err) {
  static const char *const must[] = {"", "above -1", "0 or more", "above 0", ""};
  const gbt_metric_info *info = gbt_metric_about(metric->kind);
  const int64_t n = rows->n * (rows->n_outputs[GBT_LABEL] > 1 ? rows->n_outputs[GBT_LABEL] : 1);
  label_search search = {rows->field[GBT_LABEL], 0.0, 0};
  int64_t at;
  switch (info->labels) {
  case GBT_METRIC_LABELS_ANY:
  case GBT_METRIC_LABELS_CLASS:
    return GBT_OK;
  case GBT_METRIC_LABELS_ABOVE_MINUS_ONE:
    search.low = -1.0, search.open = 1;
    break;
  case GBT_METRIC_LABELS_NOT_NEGATIVE:
    break;
  case GBT_METRIC_LABELS_POSITIVE:
    search.open = 1;
    break;
  }
  GBT_TRY(gbt_find_first(ctx, n, find_label, &search, &at, err));
  if (at == n) return GBT_OK;
  return gbt_fail_on(err, GBT_E_DATA, "eval_metric", "metric \"%s\" needs labels %s; row %lld of the %s data has %.15g",
                     info->name, must[info->labels], (long long)gbt_row_number(rows, at % rows->n), data,
                     search.label[at]);
}
