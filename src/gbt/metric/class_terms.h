/* Metrics that are the mean over rows of a term of the scores of all classes: what a row adds. Two walks over a row's
 * scores: the first finds the largest one, in the second each class adds to the row's sums; the term is made of these.
 * The caller decides whether rows or classes are in the outer loop; the operations on a row are the same. */
#ifndef GBT_METRIC_CLASS_TERMS_H
#define GBT_METRIC_CLASS_TERMS_H

#include "../math/elementary.h"
#include "metric.h"

/* A row after the first walk. */
typedef struct gbt_class_row {
  double top;    /* the largest score */
  int32_t best;  /* its class, the lowest one on ties */
  int32_t label; /* the row's class */
  double mine;   /* its score */
} gbt_class_row;

typedef struct gbt_class_sums {
  double sum, squares;
} gbt_class_sums;

GBT_FN int gbt_is_class(double y, int32_t n_outputs) { return y >= 0.0 && y < (double)n_outputs; }

/* Class k with score s, after the classes before it. */
GBT_FN void gbt_class_best(gbt_class_row *row, double s, int32_t k) {
  row->best = s > row->top ? k : row->best;
  row->top = s > row->top ? s : row->top;
}

/* ---- the second walk, by metric: class k with score s; then the term ---- */

GBT_FN void gbt_class_add_mlogloss(gbt_class_sums *x, const gbt_class_row *row, double s, int32_t k) {
  (void)k;
  x->sum += gbt_exp(s - row->top);
}
GBT_FN double gbt_class_term_mlogloss(const gbt_class_sums *x, const gbt_class_row *row, double a) {
  (void)a;
  return gbt_log(x->sum) + (row->top - row->mine);
}

GBT_FN void gbt_class_add_merror(gbt_class_sums *x, const gbt_class_row *row, double s, int32_t k) {
  (void)x;
  (void)row;
  (void)s;
  (void)k;
}
GBT_FN double gbt_class_term_merror(const gbt_class_sums *x, const gbt_class_row *row, double a) {
  (void)x;
  (void)a;
  return row->best != row->label ? 1.0 : 0.0;
}

/* sum: the classes before the row's own, in the order of scores; the lower class comes first on ties. */
GBT_FN void gbt_class_add_top_error(gbt_class_sums *x, const gbt_class_row *row, double s, int32_t k) {
  x->sum += s > row->mine || (s == row->mine && k < row->label) ? 1.0 : 0.0;
}
GBT_FN double gbt_class_term_top_error(const gbt_class_sums *x, const gbt_class_row *row, double a) {
  (void)row;
  return x->sum >= a ? 1.0 : 0.0;
}

/* Brier 1950: sum over k of (p_k - y_k)^2 = sum over k of p_k^2 + 1 - 2 p_label */
GBT_FN void gbt_class_add_mbrier(gbt_class_sums *x, const gbt_class_row *row, double s, int32_t k) {
  double e = gbt_exp(s - row->top);
  (void)k;
  x->sum += e;
  x->squares += e * e;
}
GBT_FN double gbt_class_term_mbrier(const gbt_class_sums *x, const gbt_class_row *row, double a) {
  double p = gbt_exp(row->mine - row->top) / x->sum, others = x->squares / (x->sum * x->sum) - p * p;
  (void)a;
  return (1.0 - p) * (1.0 - p) + (others > 0.0 ? others : 0.0);
}

#endif
