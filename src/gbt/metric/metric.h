/* Metrics by name, one row of metrics.def each: the objectives they suit, the labels and the parameter they take. The
 * formulas are in terms.h, class_terms.h, cells.h, ranking.h and query_metrics.h.
 *
 * A metric is plain data, so that it goes into specifications and to devices as it is. */
#ifndef GBT_METRIC_METRIC_H
#define GBT_METRIC_METRIC_H

#include "../objective/objective.h"

typedef enum gbt_metric_kind {
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) GBT_METRIC_##ID,
#include "metrics.def"
#undef GBT_METRIC
  GBT_N_METRICS
} gbt_metric_kind;

typedef struct gbt_metric {
  int32_t kind; /* gbt_metric_kind */
  double param; /* 0 where the metric has none */
  int32_t output; /* of responses of several columns: the one that it is about, from 1; 0: all of them */
} gbt_metric;

/* How a metric is computed: a mean over rows, a function of sums, from the order of the rows by score, or query by
 * query. */
typedef enum gbt_metric_form {
  GBT_FORM_MEAN,
  GBT_FORM_CELLS,
  GBT_FORM_RANKING,
  GBT_FORM_QUERY,
  GBT_FORM_CENSORED,
  GBT_FORM_RISK,
  GBT_FORM_DISTRIBUTION
} gbt_metric_form;

typedef enum gbt_metric_better { GBT_SMALLER_IS_BETTER, GBT_LARGER_IS_BETTER, GBT_NEITHER_IS_BETTER } gbt_metric_better;

/* The kinds of predictions of objectives, as bits. */
enum {
  GBT_OUT_NUMBER = 1 << GBT_RESPONSE_NUMBER,
  GBT_OUT_MEAN = 1 << GBT_RESPONSE_MEAN,
  GBT_OUT_PROBABILITY = 1 << GBT_RESPONSE_PROBABILITY,
  GBT_OUT_CLASSES = 1 << GBT_RESPONSE_CLASSES,
  GBT_OUT_TIME = 1 << GBT_RESPONSE_TIME,
  GBT_OUT_HAZARD = 1 << GBT_RESPONSE_HAZARD,
  GBT_OUT_INTERVALS = 1 << GBT_RESPONSE_INTERVALS,
  GBT_OUT_DISTRIBUTION = 1 << GBT_RESPONSE_DISTRIBUTION,
  GBT_OUT_OWN = 1 << GBT_RESPONSE_OWN
};
int gbt_metric_outputs(gbt_objective_kind objective); /* the bit of an objective */
const char *gbt_response_name(int response);          /* of GBT_RESPONSE_: "number", ...; NULL: there is none */

typedef enum gbt_metric_labels {
  GBT_METRIC_LABELS_ANY,
  GBT_METRIC_LABELS_ABOVE_MINUS_ONE,
  GBT_METRIC_LABELS_NOT_NEGATIVE,
  GBT_METRIC_LABELS_POSITIVE,
  GBT_METRIC_LABELS_CLASS /* as the objective: gbt_labels_check() */
} gbt_metric_labels;

typedef struct gbt_metric_param {
  const char *name; /* NULL: none */
  const char *twin; /* the parameter of objectives whose value is the default, or NULL */
  double def, low, high;
  int open_low, open_high, whole; /* the bound itself is not allowed; only whole numbers are */
} gbt_metric_param;

/* A row of metrics.def. Texts are static, aliases |-separated. */
typedef struct gbt_metric_info {
  const char *name, *aliases, *text;
  gbt_metric_form form;
  gbt_metric_better better;
  int outputs; /* bits of GBT_OUT_ */
  gbt_metric_labels labels;
  gbt_metric_param param;
} gbt_metric_info;

/* 0 <= kind < GBT_N_METRICS */
const gbt_metric_info *gbt_metric_about(int32_t kind);

/* By name or alias, in lower case; -1 when unknown. Of several the first that suits one of these outputs, or the first
 * at all. */
int32_t gbt_metric_find(const char *name, int outputs);

gbt_metric gbt_metric_plain(gbt_metric_kind kind); /* with its default parameter */

/* With the objective's parameter where it has the metric's twin, as the level of an expectile; else plain. */
gbt_metric gbt_metric_for(gbt_metric_kind kind, const gbt_objective *objective);

int gbt_metric_suits(int32_t kind, gbt_objective_kind objective); /* custom objectives: those on one score per row */
gbt_metric_kind gbt_metric_of_objective(gbt_objective_kind kind); /* its default metric, by objectives.def */

/* That metric with its parameter; ndcg looks at the first 10 rows. */
gbt_metric gbt_metric_usual(const gbt_objective *objective);

/* The parameter of metric QUANTILE where the model has several levels: the mean over all of them. */
#define GBT_ALL_LEVELS 0.0

/* Writes the metric's name, NUL included: "error", or "error@0.3" where the parameter is not the default. */
enum { GBT_METRIC_NAME = 64 };
void gbt_metric_name(const gbt_metric *metric, char out[GBT_METRIC_NAME]);

/* Checks that there is such a metric (GBT_E_INTERNAL), its parameter is in its range (GBT_E_ARG), and it suits the
 * objective (GBT_E_UNSUPPORTED). */
gbt_status gbt_metric_check(const gbt_metric *metric, const gbt_objective *objective, gbt_error *err) GBT_MUST_CHECK;

/* Checks that all labels suit the metric. rows: with labels; data: their name for the message ("train", "valid 1").
 * GBT_E_DATA names the first row with another label. */
gbt_status gbt_metric_labels_check(gbt_ctx *ctx, const gbt_metric *metric, const gbt_rows *rows, const char *data,
                                   gbt_error *err) GBT_MUST_CHECK;

#endif
