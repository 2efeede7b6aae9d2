#include "naive_metric.h"

#include <float.h>

metric_rows metric_rows_new(test_rng *rng, gbt_objective_kind kind, int64_t n, int32_t n_outputs, int coarse) {
  metric_rows r = {gbt_objective_make(kind, n_outputs), n, NULL, NULL, NULL};
  r.score = test_alloc((size_t)(n * n_outputs) * sizeof *r.score);
  r.label = test_alloc((size_t)n * sizeof *r.label);
  r.weight = test_alloc((size_t)n * sizeof *r.weight);
  for (int64_t i = 0; i < n * n_outputs; i++) {
    r.score[i] = test_bell(rng) * 3.0;
    if (coarse) r.score[i] = rint(r.score[i] * 2.0) * 0.5;
  }
  for (int64_t i = 0; i < n; i++) {
    r.weight[i] = test_below(rng, 20) == 0 ? 0.0 : ldexp(0.1 + test_unit(rng), (int)test_below(rng, 8));
    switch (gbt_objective_info_of((int32_t)kind)->response) {
    case GBT_RESPONSE_PROBABILITY:
      r.label[i] = i % 10 == 0 ? test_unit(rng) : (double)test_below(rng, 2);
      break;
    case GBT_RESPONSE_OWN:
      r.label[i] = (double)test_below(rng, 2);
      break;
    case GBT_RESPONSE_CLASSES:
      r.label[i] = (double)test_below(rng, n_outputs);
      break;
    case GBT_RESPONSE_MEAN:
      r.label[i] = (double)test_below(rng, 6) * (i % 3 ? 1.0 : 0.01);
      break;
    case GBT_RESPONSE_HAZARD:
    case GBT_RESPONSE_INTERVALS:
    case GBT_RESPONSE_TIME:
      r.label[i] = exp(test_bell(rng));
      break;
    case GBT_RESPONSE_DISTRIBUTION:
    case GBT_RESPONSE_NUMBER:
      r.label[i] = test_bell(rng);
    }
  }
  return r;
}

void metric_rows_free(metric_rows *r) {
  free(r->score);
  free(r->label);
  free(r->weight);
}

static long double weight_of(const metric_rows *r, int64_t i, int weighted) { return weighted ? r->weight[i] : 1.0L; }

static double score_of(const metric_rows *r, int64_t i, int32_t k) { return r->score[k * r->n + i]; }

static int32_t best_of(const metric_rows *r, int64_t i) {
  int32_t best = 0;
  for (int32_t k = 0; k < r->objective.n_outputs; k++)
    if (score_of(r, i, k) > score_of(r, i, best)) best = k;
  return best;
}

static long double class_probability(const metric_rows *r, int64_t i, int32_t k) {
  long double sum = 0;
  for (int32_t c = 0; c < r->objective.n_outputs; c++) sum += expl((long double)score_of(r, i, c) - score_of(r, i, k));
  return 1 / sum;
}

static long double response_of(const metric_rows *r, int64_t i) {
  gbt_response_rule response = gbt_objective_info_of(r->objective.kind)->response;
  long double s = r->score[i];
  return response == GBT_RESPONSE_PROBABILITY ? 1 / (1 + expl(-s)) : response == GBT_RESPONSE_MEAN ? expl(s) : s;
}

/* ---- means ---- */

static long double log_of(long double x) { return logl(x > DBL_MIN ? x : DBL_MIN); }

static long double log_plus(long double x) {
  const double lowest = -1.0 + 1e-6;
  return logl(1 + (x > lowest ? x : (long double)lowest));
}

static long double term_of_number(gbt_metric_kind kind, long double a, long double m, long double y) {
  long double d = m - y;
  switch (kind) {
  case GBT_METRIC_RMSE:
  case GBT_METRIC_MSE:
    return d * d;
  case GBT_METRIC_MAE:
    return fabsl(d);
  case GBT_METRIC_MAPE:
    return fabsl(d) / (fabsl(y) > 1 ? fabsl(y) : 1);
  case GBT_METRIC_RMSLE:
  case GBT_METRIC_MSLE:
    return (log_plus(m) - log_plus(y)) * (log_plus(m) - log_plus(y));
  case GBT_METRIC_HUBER:
    return fabsl(d) <= a ? d * d / 2 : a * fabsl(d) - a * a / 2;
  case GBT_METRIC_PSEUDO_HUBER:
    return a * a * (sqrtl(1 + d * d / (a * a)) - 1);
  case GBT_METRIC_LOG_COSH:
    return fabsl(d) > 30 ? fabsl(d) - logl(2) : logl(coshl(d));
  case GBT_METRIC_FAIR:
    return a * fabsl(d) - a * a * logl(1 + fabsl(d) / a);
  case GBT_METRIC_QUANTILE:
    return d < 0 ? -a * d : (1 - a) * d;
  case GBT_METRIC_COVERAGE:
    return y <= m;
  default:
    return (d < 0 ? a : 1 - a) * d * d; /* expectile */
  }
}

static long double term_of_mean(gbt_metric_kind kind, long double a, long double s, long double y) {
  long double m = expl(s), y_log = y > 0 ? y * (logl(y) - s) : 0;
  switch (kind) {
  case GBT_METRIC_POISSON_DEVIANCE:
    return 2 * (y_log - (y - m));
  case GBT_METRIC_POISSON_NLOGLIK:
    return m - y * s;
  case GBT_METRIC_GAMMA_DEVIANCE:
    return 2 * ((y - m) / m - log_of(y / m));
  case GBT_METRIC_GAMMA_NLOGLIK:
    return y / m + s;
  case GBT_METRIC_TWEEDIE_DEVIANCE:
    return 2 * ((y > 0 ? powl(y, 2 - a) : 0) / ((1 - a) * (2 - a)) - y * powl(m, 1 - a) / (1 - a) +
                powl(m, 2 - a) / (2 - a));
  case GBT_METRIC_TWEEDIE_NLOGLIK:
    return powl(m, 2 - a) / (2 - a) - y * powl(m, 1 - a) / (1 - a);
  default: /* negative binomial */
    return 2 * (y_log - (y + 1 / a) * logl((1 + a * y) / (1 + a * m)));
  }
}

static long double term_of_class(const metric_rows *r, const gbt_metric *metric, int64_t i) {
  int32_t mine = (int32_t)r->label[i];
  long double sum = 0;
  switch ((gbt_metric_kind)metric->kind) {
  case GBT_METRIC_MLOGLOSS:
    return -logl(class_probability(r, i, mine));
  case GBT_METRIC_MERROR:
    return best_of(r, i) != mine;
  case GBT_METRIC_TOP_ERROR:
    for (int32_t k = 0; k < r->objective.n_outputs; k++)
      sum += score_of(r, i, k) > score_of(r, i, mine) || (score_of(r, i, k) == score_of(r, i, mine) && k < mine);
    return sum >= metric->param;
  default: /* brier */
    for (int32_t k = 0; k < r->objective.n_outputs; k++) sum += powl(class_probability(r, i, k) - (k == mine), 2);
    return sum;
  }
}

static long double term_of(const metric_rows *r, const gbt_metric *metric, int64_t i) {
  long double s = r->score[i], y = r->label[i], p = 1 / (1 + expl(-s)), a = metric->param;
  gbt_metric_kind kind = (gbt_metric_kind)metric->kind;
  if (gbt_responses_by_classes(&r->objective)) return term_of_class(r, metric, i);
  if (kind == GBT_METRIC_LOGLOSS) return -(y * logl(p) + (1 - y) * logl(1 / (1 + expl(s))));
  if (kind == GBT_METRIC_BRIER) return (p - y) * (p - y);
  if (kind == GBT_METRIC_ERROR) return (p > a) != (y > 0.5L);
  if (kind >= GBT_METRIC_POISSON_DEVIANCE && kind <= GBT_METRIC_NEGATIVE_BINOMIAL_DEVIANCE)
    return term_of_mean(kind, a, s, y);
  return term_of_number(kind, a, response_of(r, i), y);
}

static long double naive_mean(const metric_rows *r, const gbt_metric *metric, int weighted) {
  long double sum = 0, all = 0;
  for (int64_t i = 0; i < r->n; i++) {
    sum += weight_of(r, i, weighted) * term_of(r, metric, i);
    all += weight_of(r, i, weighted);
  }
  return metric->kind == GBT_METRIC_RMSE || metric->kind == GBT_METRIC_RMSLE ? sqrtl(sum / all) : sum / all;
}

/* ---- counts of classes ---- */

/* table[actual * n + predicted], n = max(2, n_outputs); free() it */
static long double *confusion(const metric_rows *r, double threshold, int weighted) {
  int32_t n = r->objective.n_outputs > 1 ? r->objective.n_outputs : 2;
  long double *table = calloc((size_t)n * (size_t)n, sizeof *table);
  for (int64_t i = 0; table != NULL && i < r->n; i++) {
    int32_t predicted = 1 / (1 + expl(-(long double)r->score[i])) > threshold, actual = r->label[i] > 0.5;
    if (r->objective.n_outputs > 1) predicted = best_of(r, i), actual = (int32_t)r->label[i];
    table[actual * n + predicted] += weight_of(r, i, weighted);
  }
  return table;
}

static long double from_confusion(const metric_rows *r, const gbt_metric *metric, int weighted) {
  int32_t n = r->objective.n_outputs > 1 ? r->objective.n_outputs : 2;
  long double *table = confusion(r, metric->param, weighted), recall = 0, f1 = 0, all = 0, hits = 0, both = 0;
  long double rows2 = 0, predicted2 = 0;
  int n_actual = 0, n_any = 0;
  for (int32_t k = 0; k < n; k++) {
    long double actual = 0, predicted = 0, hit = table[k * n + k];
    for (int32_t c = 0; c < n; c++) actual += table[k * n + c], predicted += table[c * n + k];
    if (actual > 0) recall += hit / actual, n_actual++;
    if (actual + predicted > 0 && (k > 0 || r->objective.n_outputs > 1)) f1 += 2 * hit / (actual + predicted), n_any++;
    all += actual, hits += hit, both += actual * predicted, rows2 += actual * actual;
    predicted2 += predicted * predicted;
  }
  free(table);
  if (metric->kind == GBT_METRIC_ACCURACY) return hits / all;
  if (metric->kind == GBT_METRIC_BALANCED_ACCURACY) return n_actual < 2 ? NAN : recall / n_actual;
  if (metric->kind == GBT_METRIC_F1) return n_any == 0 ? NAN : f1 / n_any;
  if (n_actual < 2) return NAN;
  return hits == 0 && both == 0    ? 0
         : all * all <= predicted2 ? 0
                                   : (hits * all - both) / (sqrtl(all * all - rows2) * sqrtl(all * all - predicted2));
}

/* ---- calibration, variance ---- */

static long double calibration(const metric_rows *r, const gbt_metric *metric, int weighted) {
  long double sum = 0, all = 0;
  for (int bin = 0; bin < metric->param; bin++) {
    long double labels = 0, probabilities = 0;
    for (int64_t i = 0; i < r->n; i++) {
      long double p = 1 / (1 + expl(-(long double)r->score[i])), w = weight_of(r, i, weighted), hit = r->label[i];
      if (r->objective.n_outputs > 1)
        p = class_probability(r, i, best_of(r, i)), hit = best_of(r, i) == (int32_t)r->label[i];
      if ((p < bin / (long double)metric->param && bin > 0) ||
          (p >= (bin + 1) / (long double)metric->param && bin + 1 < metric->param))
        continue;
      labels += w * hit, probabilities += w * p, all += w;
    }
    sum += fabsl(labels - probabilities);
  }
  return sum / all;
}

static long double r2(const metric_rows *r, int weighted) {
  long double all = 0, mean = 0, squares = 0, errors = 0;
  for (int64_t i = 0; i < r->n; i++) {
    all += weight_of(r, i, weighted);
    mean += weight_of(r, i, weighted) * r->label[i];
  }
  mean /= all;
  for (int64_t i = 0; i < r->n; i++) {
    squares += weight_of(r, i, weighted) * (r->label[i] - mean) * (r->label[i] - mean);
    errors += weight_of(r, i, weighted) * (r->label[i] - response_of(r, i)) * (r->label[i] - response_of(r, i));
  }
  int differ = 0; /* the mean of equal labels may be rounded */
  for (int64_t i = 1; i < r->n; i++) differ |= r->label[i] != r->label[0];
  return differ && squares > 0 ? 1 - errors / squares : NAN;
}

/* ---- rankings ---- */

/* All pairs of a positive and a negative row. */
static long double auc(const metric_rows *r, int weighted) {
  long double won = 0, all = 0;
  for (int64_t i = 0; i < r->n; i++) {
    if (!(r->label[i] > 0.5)) continue;
    for (int64_t k = 0; k < r->n; k++) {
      if (r->label[k] > 0.5) continue;
      long double w = weight_of(r, i, weighted) * weight_of(r, k, weighted);
      all += w;
      won += r->score[i] > r->score[k] ? w : r->score[i] == r->score[k] ? w / 2 : 0;
    }
  }
  return won / all;
}

/* The mean over positive rows of the precision at their scores. */
static long double pr_auc(const metric_rows *r, int weighted) {
  long double sum = 0, positive = 0, negative = 0;
  for (int64_t i = 0; i < r->n; i++) {
    long double hits = 0, above = 0, w = weight_of(r, i, weighted);
    if (!(r->label[i] > 0.5)) negative += w;
    if (!(r->label[i] > 0.5) || w == 0) continue;
    for (int64_t k = 0; k < r->n; k++) {
      if (r->score[k] < r->score[i]) continue;
      above += weight_of(r, k, weighted);
      if (r->label[k] > 0.5) hits += weight_of(r, k, weighted);
    }
    positive += w;
    sum += w * hits / above;
  }
  return positive > 0 && negative > 0 ? sum / positive : NAN;
}

/* The covariance of labels with the mean ranks of x, times the squared sum of weights. */
static long double rank_covariance(const metric_rows *r, const double *x, int weighted) {
  long double all = 0, labels = 0, sum = 0;
  for (int64_t i = 0; i < r->n; i++) {
    all += weight_of(r, i, weighted);
    labels += weight_of(r, i, weighted) * r->label[i];
  }
  for (int64_t i = 0; i < r->n; i++) {
    long double rank = 0;
    for (int64_t k = 0; k < r->n; k++) {
      long double w = weight_of(r, k, weighted);
      rank += x[k] < x[i] ? w : x[k] == x[i] ? w / 2 : 0;
    }
    sum += weight_of(r, i, weighted) * (r->label[i] * all - labels) * rank;
  }
  return sum;
}

static long double gini(const metric_rows *r, int weighted) {
  for (int64_t i = 0, first = -1; i < r->n; i++) {
    if (weighted && r->weight[i] == 0) continue;
    if (first >= 0 && r->label[i] != r->label[first])
      return rank_covariance(r, r->score, weighted) / rank_covariance(r, r->label, weighted);
    if (first < 0) first = i;
  }
  return NAN; /* all labels are equal */
}

long double naive_metric(const metric_rows *r, const gbt_metric *metric, int weighted) {
  switch ((gbt_metric_kind)metric->kind) {
  case GBT_METRIC_AUC:
    return auc(r, weighted);
  case GBT_METRIC_PR_AUC:
    return pr_auc(r, weighted);
  case GBT_METRIC_GINI:
    return gini(r, weighted);
  case GBT_METRIC_R2:
    return r2(r, weighted);
  case GBT_METRIC_CALIBRATION_ERROR:
    return calibration(r, metric, weighted);
  case GBT_METRIC_ACCURACY:
  case GBT_METRIC_BALANCED_ACCURACY:
  case GBT_METRIC_F1:
  case GBT_METRIC_MCC:
    return from_confusion(r, metric, weighted);
  default:
    return naive_mean(r, metric, weighted);
  }
}

int naive_metric_has(int32_t metric, gbt_objective_kind kind) {
  const gbt_metric_form form = gbt_metric_about(metric)->form;
  if (gbt_objective_info_of((int32_t)kind)->response == GBT_RESPONSE_DISTRIBUTION) return 0; /* test_distribution.c */
  return form != GBT_FORM_QUERY && form != GBT_FORM_CENSORED && form != GBT_FORM_DISTRIBUTION &&
         form != GBT_FORM_RISK && gbt_metric_suits(metric, kind);
}
