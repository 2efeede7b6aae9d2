/* Metrics that are a function of exact sums over groups of rows, called cells: a row adds a weight or a product to a
 * few of them. Metrics of several stages walk over the rows again, knowing what the stage before has found.
 *
 *   balanced_accuracy, f1, mcc   [ hits by class | rows by class | rows by predicted class ]
 *   calibration_error            [ label less probability, by bin | all weights ]
 *   r2                           [ labels | weights ], then [ squared errors | squared distances from the mean ]
 *
 * A pass may process only a part of the cells, so that many classes do not need much memory. */
#ifndef GBT_METRIC_CELLS_H
#define GBT_METRIC_CELLS_H

#include "../objective/response.h"
#include "class_terms.h"
#include "terms.h"

typedef struct gbt_cells {
  gbt_metric metric;
  gbt_objective objective;
  int32_t stage;
  double mean, weights; /* of the labels: known to the second stage */
} gbt_cells;

/* Scores of one row: of class k at score[k * step]. */
typedef struct gbt_cell_row {
  const double *score;
  uint64_t step;
  double label, weight;
} gbt_cell_row;

/* The addends of a row: value[i] to cell[i]. */
enum { GBT_CELL_ADDS = 3 };
typedef struct gbt_cell_adds {
  int32_t n; /* 0: the label is no class */
  int32_t cell[GBT_CELL_ADDS];
  double value[GBT_CELL_ADDS];
} gbt_cell_adds;

GBT_FN void gbt_cell_add(gbt_cell_adds *out, int32_t cell, double value) {
  out->cell[out->n] = cell;
  out->value[out->n] = value;
  out->n++;
}

/* ---- classes ---- */

/* Classes, two of them where there is one score. */
GBT_FN int32_t gbt_cells_classes(const gbt_cells *c) { return c->objective.n_outputs > 1 ? c->objective.n_outputs : 2; }

GBT_FN gbt_class_row gbt_cells_best(const gbt_cells *c, const gbt_cell_row *row) {
  gbt_class_row best = {row->score[0], 0, (int32_t)row->label, 0.0};
  for (int32_t k = 1; k < c->objective.n_outputs; k++) gbt_class_best(&best, row->score[(uint64_t)k * row->step], k);
  return best;
}

GBT_FN void gbt_cells_confusion(const gbt_cells *c, const gbt_cell_row *row, gbt_cell_adds *out) {
  const int32_t n = gbt_cells_classes(c);
  int32_t actual, predicted;
  if (c->objective.n_outputs > 1) {
    predicted = gbt_cells_best(c, row).best;
    actual = (int32_t)row->label;
  } else {
    predicted = gbt_sigmoid(row->score[0]) > c->metric.param;
    actual = row->label > 0.5;
  }
  gbt_cell_add(out, n + actual, row->weight);
  gbt_cell_add(out, 2 * n + predicted, row->weight);
  if (actual == predicted) gbt_cell_add(out, actual, row->weight);
}

/* cell: hits, rows and predictions by class. */

/* Exactly 1 where all rows are hits: the two sums then have equal terms in the same order. */
GBT_FN double gbt_cells_accuracy(const gbt_cells *c, const double *cell) {
  const int32_t n = gbt_cells_classes(c);
  double hits = 0.0, all = 0.0;
  for (int32_t k = 0; k < n; k++) {
    hits += cell[k];
    all += cell[n + k];
  }
  return hits / all;
}

/* Classes without rows are left out; NaN when only one has any. */
GBT_FN double gbt_cells_balanced_accuracy(const gbt_cells *c, const double *cell) {
  const int32_t n = gbt_cells_classes(c);
  double sum = 0.0, n_seen = 0.0;
  for (int32_t k = 0; k < n; k++) {
    if (!(cell[n + k] > 0.0)) continue;
    sum += cell[k] / cell[n + k];
    n_seen += 1.0;
  }
  return n_seen < 2.0 ? gbt_nan() : sum / n_seen;
}

/* 2 hits / (rows + predictions). Of several classes the mean over those with rows or predictions; NaN without any. */
GBT_FN double gbt_cells_f1(const gbt_cells *c, const double *cell) {
  const int32_t n = gbt_cells_classes(c);
  double sum = 0.0, n_seen = 0.0;
  for (int32_t k = c->objective.n_outputs > 1 ? 0 : 1; k < n; k++) {
    double both = cell[n + k] + cell[2 * n + k];
    if (!(both > 0.0)) continue;
    sum += 2.0 * cell[k] / both;
    n_seen += 1.0;
  }
  return n_seen > 0.0 ? sum / n_seen : gbt_nan();
}

/* The correlation of two indicators of class membership, Gorodkin 2004, equation 2; of two classes the coefficient of
 * Matthews 1975. From shares h, r, p of hits, rows and predictions:
 *
 *   sum (h (1 - r - p + h) - (r - h) (p - h)) / sqrt(sum r (1 - r)  sum p (1 - p))
 *
 * NaN when all rows have one class, 0 when all predictions are (its limit: Chicco and Jurman 2020). */
GBT_FN double gbt_cells_mcc(const gbt_cells *c, const double *cell) {
  const int32_t n = gbt_cells_classes(c);
  double all = 0.0, all_p = 0.0, both = 0.0, rows = 0.0, predictions = 0.0;
  for (int32_t k = 0; k < n; k++) { /* two sums, which may differ in the last bit: of one class each is that class */
    all += cell[n + k];
    all_p += cell[2 * n + k];
  }
  for (int32_t k = 0; k < n; k++) {
    double h = cell[k] / all, r = cell[n + k] / all, p = cell[2 * n + k] / all_p;
    double not_r = (all - cell[n + k]) / all, not_p = (all_p - cell[2 * n + k]) / all_p;
    both += h * (not_r - (p - h)) - (r - h) * (p - h);
    rows += r * not_r;
    predictions += p * not_p;
  }
  if (!(rows > 0.0)) return gbt_nan();
  return predictions > 0.0 ? both / (gbt_sqrt(rows) * gbt_sqrt(predictions)) : 0.0;
}

/* ---- bins of probabilities ---- */

GBT_FN int32_t gbt_cells_bin(double p, double bins) {
  double b = p * bins;
  return b >= bins ? (int32_t)bins - 1 : b > 0.0 ? (int32_t)b : 0; /* NaN goes to the first, whose sum it makes NaN */
}

/* Of one score: the probability of the second class, and the label. Of several: that of the most probable class, and
 * whether it is the row's. */
GBT_FN void gbt_cells_calibration(const gbt_cells *c, const gbt_cell_row *row, gbt_cell_adds *out) {
  double p, hit = row->label;
  if (c->objective.n_outputs > 1) {
    const gbt_class_row best = gbt_cells_best(c, row);
    double sum = 0.0;
    for (int32_t k = 0; k < c->objective.n_outputs; k++) sum += gbt_exp(row->score[(uint64_t)k * row->step] - best.top);
    p = 1.0 / sum;
    hit = best.best == best.label ? 1.0 : 0.0;
  } else {
    p = gbt_sigmoid(row->score[0]);
  }
  const int32_t bin = gbt_cells_bin(p, c->metric.param);
  gbt_cell_add(out, bin, row->weight * hit);
  gbt_cell_add(out, bin, -(row->weight * p));
  gbt_cell_add(out, (int32_t)c->metric.param, row->weight);
}

/* sum over bins of |sum w (hit - p)| / sum w: Naeini and others 2015, section 3; Guo and others 2017, equation 3. */
GBT_FN double gbt_cells_calibration_error(const gbt_cells *c, const double *cell) {
  const int32_t bins = (int32_t)c->metric.param;
  double sum = 0.0;
  for (int32_t b = 0; b < bins; b++) sum += cell[b] < 0.0 ? -cell[b] : cell[b];
  return sum / cell[bins];
}

/* ---- variance ---- */

GBT_FN void gbt_cells_variance(const gbt_cells *c, const gbt_cell_row *row, gbt_cell_adds *out) {
  const double y = row->label, w = row->weight;
  if (c->stage == 0) {
    gbt_cell_add(out, 0, w * y);
    gbt_cell_add(out, 1, w);
    return;
  }
  gbt_cell_add(out, 0, w * gbt_term_mse(gbt_response(&c->objective, row->score[0]), y, 0.0));
  gbt_cell_add(out, 1, w * ((y - c->mean) * (y - c->mean)));
}

/* NaN when all labels are equal, up to the rounding of their mean. */
GBT_FN double gbt_cells_r2(const gbt_cells *c, const double *cell) {
  const double noise = c->weights * (c->mean * c->mean) * 0x1p-100;
  return cell[1] > noise ? 1.0 - cell[0] / cell[1] : gbt_nan();
}

/* ---- all of them ---- */

/* The switches below have a case for each metric of the table with one of these forms. A new form is added here, with
 * or without cells. */
#define CELLS_NONE(ID, name)
#define CELLS_RESPONSE CELLS_NONE
#define CELLS_PROBABILITY CELLS_NONE
#define CELLS_SCORE CELLS_NONE
#define CELLS_LOGLOSS CELLS_NONE
#define CELLS_CLASSES CELLS_NONE
#define CELLS_RANKING CELLS_NONE
#define CELLS_QUERY CELLS_NONE
#define CELLS_RISK CELLS_NONE
#define CELLS_DISTRIBUTION CELLS_NONE
#define CELLS_CENSORED CELLS_NONE
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) CELLS_##form(ID, name)

/* How many stages a metric has. */
GBT_FN int32_t gbt_cells_stages(const gbt_cells *c) { return c->metric.kind == GBT_METRIC_R2 ? 2 : 1; }

/* Cells of the current stage; 0: the metric has another form. */
GBT_FN int32_t gbt_cells_count(const gbt_cells *c) {
  switch (c->metric.kind) {
#define CELLS_CONFUSION(ID, name) case GBT_METRIC_##ID: return 3 * gbt_cells_classes(c);
#define CELLS_BINS(ID, name) case GBT_METRIC_##ID: return (int32_t)c->metric.param + 1;
#define CELLS_VARIANCE(ID, name) case GBT_METRIC_##ID: return 2;
#include "metrics.def"
#undef CELLS_CONFUSION
#undef CELLS_BINS
#undef CELLS_VARIANCE
  }
  return 0;
}

GBT_FN void gbt_cells_row(const gbt_cells *c, const gbt_cell_row *row, gbt_cell_adds *out) {
  out->n = 0;
  if (c->objective.n_outputs > 1 && !gbt_is_class(row->label, c->objective.n_outputs)) return;
  switch (c->metric.kind) {
#define CELLS_CONFUSION(ID, name) case GBT_METRIC_##ID: gbt_cells_confusion(c, row, out); break;
#define CELLS_BINS(ID, name) case GBT_METRIC_##ID: gbt_cells_calibration(c, row, out); break;
#define CELLS_VARIANCE(ID, name) case GBT_METRIC_##ID: gbt_cells_variance(c, row, out); break;
#include "metrics.def"
#undef CELLS_CONFUSION
#undef CELLS_BINS
#undef CELLS_VARIANCE
  }
}

/* Results of the current stage, for the next one. */
GBT_FN void gbt_cells_next(gbt_cells *c, const double *cell) {
  c->mean = cell[0] / cell[1];
  c->weights = cell[1];
  c->stage++;
}

/* The metric, from the cells of the last stage. */
GBT_FN double gbt_cells_value(const gbt_cells *c, const double *cell) {
  switch (c->metric.kind) {
#define CELLS_CONFUSION(ID, name) case GBT_METRIC_##ID: return gbt_one_nan(gbt_cells_##name(c, cell));
#define CELLS_BINS CELLS_CONFUSION
#define CELLS_VARIANCE CELLS_CONFUSION
#include "metrics.def"
#undef CELLS_CONFUSION
#undef CELLS_BINS
#undef CELLS_VARIANCE
  }
  return gbt_nan();
}

#undef GBT_METRIC
#undef CELLS_NONE
#undef CELLS_RESPONSE
#undef CELLS_PROBABILITY
#undef CELLS_SCORE
#undef CELLS_LOGLOSS
#undef CELLS_CLASSES
#undef CELLS_RANKING
#undef CELLS_QUERY
#undef CELLS_RISK
#undef CELLS_DISTRIBUTION
#undef CELLS_CENSORED

#endif
