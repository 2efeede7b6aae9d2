/* Accelerated failure time: log T = s + scale Z of a time T that is known to lie between a row's label l and its upper
 * bound u (Kalbfleisch & Prentice 2002, chapter 3). With z = (log t - s) / scale, f and F the density and distribution
 * function of Z, and P = F(z_u) - F(z_l), the loss is
 *
 *   exact       l = u         log scale - log f(z)
 *   right       u = Inf       - log(1 - F(z_l))
 *   left        l = 0         - log F(z_u)
 *   interval    l < u         - log P
 *
 * It is convex in s, so h is the second derivative itself. Differences of nearly equal numbers are avoided throughout:
 * see math/normal.h for the normal distribution; for the others P is written with exp(-(difference)) - 1.
 *
 * param: {distribution, scale}. Below, slopes are in z: d loss / d s = g / scale, and so on. */
#ifndef GBT_OBJECTIVE_AFT_H
#define GBT_OBJECTIVE_AFT_H

#include "../math/normal.h"
#include "formula.h"

enum { GBT_AFT_NORMAL, GBT_AFT_LOGISTIC, GBT_AFT_EXTREME, GBT_N_AFT };     /* distribution of Z */
enum { GBT_AFT_PARAM_DIST, GBT_AFT_PARAM_SCALE };                         /* places in param */
#define GBT_AFT_LEAST_SCALE 1e-6
#define GBT_AFT_MOST_SCALE 1e6
typedef enum gbt_censoring { GBT_EXACT, GBT_RIGHT, GBT_LEFT, GBT_INTERVAL, GBT_UNKNOWN } gbt_censoring;

/* Of a row that may be any time nothing is known. */
GBT_FN gbt_censoring gbt_censoring_of(double l, double u) {
  const int open = u > 1.7976931348623157e308;
  if (open) return l > 0.0 ? GBT_RIGHT : GBT_UNKNOWN;
  return l == u ? GBT_EXACT : l > 0.0 ? GBT_INTERVAL : GBT_LEFT;
}

/* g = - dL/dz, h = d2L/dz2 of the loss L(z). */
typedef struct gbt_aft_slopes {
  double g, h;
} gbt_aft_slopes;

/* Of an interval also f / P and f' / f at both ends. */
typedef struct gbt_aft_ends {
  gbt_aft_slopes sum;
  double low, high, bend_low, bend_high;
} gbt_aft_ends;

/* Narrower intervals, in units of z, are taken as exact at their middle: the error is of the order of their square. */
#define GBT_AFT_NARROW 1e-5

/* y / (exp(y) - 1), y >= 0. */
GBT_FN double gbt_aft_ratio(double y) {
  if (y < 1e-3) return 1.0 - y * (0.5 - y * (1.0 / 12.0 - y * y * (1.0 / 720.0)));
  return y > 700.0 ? 0.0 : y / gbt_expm1(y);
}

/* The same plus y - 1, without loss where y is small. */
GBT_FN double gbt_aft_ratio_rest(double y, double ratio) {
  return y < 1e-3 ? y * (0.5 + y * (1.0 / 12.0 - y * y * (1.0 / 720.0))) : ratio + (y - 1.0);
}

/* exp(z), at most 2^13: g and h of rows so far off are cut alike, so that their Newton step -g / h stays what it is
 * while the scale of fixed point still serves the others. */
GBT_FN double gbt_aft_extreme(double z) { return gbt_exp(z < 9.0109133472792882 ? z : 9.0109133472792882); }

/* ---- one end ---- */

/* Right-censored at z, normal: the hazard m, and m (m - z), which tends to 1. */
GBT_FN gbt_aft_slopes gbt_aft_normal_right(double z) {
  const double m = gbt_normal_hazard(z), w = z > 300.0 ? 1.0 / (z * z) : 0.0;
  double h = z > 300.0 ? 1.0 - w * (1.0 - w * (6.0 - 50.0 * w)) : m * (m - z);
  h = h < 0.0 ? 0.0 : h > 1.0 ? 1.0 : h;
  return (gbt_aft_slopes){-m, h};
}

GBT_FN gbt_aft_slopes gbt_aft_normal_one(gbt_censoring what, double z) {
  if (what == GBT_EXACT) return (gbt_aft_slopes){-z, 1.0};
  if (what == GBT_RIGHT) return gbt_aft_normal_right(z);
  const gbt_aft_slopes mirror = gbt_aft_normal_right(-z);
  return (gbt_aft_slopes){-mirror.g, mirror.h};
}

GBT_FN gbt_aft_slopes gbt_aft_logistic_one(gbt_censoring what, double z) {
  const double p = gbt_sigmoid(z), q = gbt_sigmoid(-z), h = p * q;
  if (what == GBT_EXACT) return (gbt_aft_slopes){q - p, 2.0 * h};
  return (gbt_aft_slopes){what == GBT_RIGHT ? -p : q, h};
}

GBT_FN gbt_aft_slopes gbt_aft_extreme_one(gbt_censoring what, double z) {
  const double x = gbt_aft_extreme(z);
  if (what == GBT_EXACT) return (gbt_aft_slopes){1.0 - x, x};
  if (what == GBT_RIGHT) return (gbt_aft_slopes){-x, x};
  const double r = gbt_aft_ratio(x);
  return (gbt_aft_slopes){r, r * gbt_aft_ratio_rest(x, r)};
}

/* what: not an interval. */
GBT_FN gbt_aft_slopes gbt_aft_one(int dist, gbt_censoring what, double z) {
  if (what == GBT_UNKNOWN) return (gbt_aft_slopes){0.0, 0.0};
  if (dist == GBT_AFT_NORMAL) return gbt_aft_normal_one(what, z);
  return dist == GBT_AFT_LOGISTIC ? gbt_aft_logistic_one(what, z) : gbt_aft_extreme_one(what, z);
}

/* ---- intervals ---- */

/* f(a) / P and f(b) / P for a < b and a + b >= 0; *log_p: log P. */
GBT_FN void gbt_aft_normal_shares(double a, double b, double *at_a, double *at_b, double *log_p) {
  const double q = 0.5 * (b - a) * (b + a);
  if (a >= 0.0) {
    const double fall = gbt_exp(-q), part = gbt_mills(a) - fall * gbt_mills(b);
    *at_a = 1.0 / part;
    *at_b = fall / part;
    *log_p = gbt_log(part) - 0.5 * a * a - GBT_LOG_SQRT_2PI;
  } else {
    const double part = gbt_normal_tail(a) - gbt_normal_tail(b);
    *at_a = gbt_normal_bell(a) / part;
    *at_b = gbt_normal_bell(b) / part;
    *log_p = gbt_log(part) - GBT_LOG_SQRT_2PI;
  }
}

/* h = 1 - V: V is the variance of Z within the interval, at most that of two points, (b - a)^2 / 4. */
GBT_FN gbt_aft_ends gbt_aft_normal_between(double zl, double zu) {
  const int mirror = zl + zu < 0.0;
  const double a = mirror ? -zu : zl, b = mirror ? -zl : zu, most = 0.25 * (b - a) * (b - a);
  double at_a, at_b, log_p;
  gbt_aft_normal_shares(a, b, &at_a, &at_b, &log_p);
  const double q = 0.5 * (b - a) * (b + a), mean = -gbt_expm1(-q) * at_a;
  double v = 1.0 + (a * at_a - b * at_b) - mean * mean;
  v = v > most ? most : v;
  v = v > 1.0 ? 1.0 : v > 0.0 ? v : 0.0;
  return (gbt_aft_ends){{mirror ? mean : -mean, 1.0 - v}, mirror ? at_b : at_a, mirror ? at_a : at_b, -zl, -zu};
}

GBT_FN gbt_aft_ends gbt_aft_logistic_between(double zl, double zu) {
  const double pl = gbt_sigmoid(zl), ql = gbt_sigmoid(-zl), pu = gbt_sigmoid(zu), qu = gbt_sigmoid(-zu);
  const double rise = -gbt_expm1(zl - zu); /* P = p_u q_l (1 - exp(z_l - z_u)) */
  return (gbt_aft_ends){{qu - pl, pl * ql + pu * qu}, pl / (pu * rise), qu / (ql * rise), ql - pl, qu - pu};
}

GBT_FN gbt_aft_ends gbt_aft_extreme_between(double zl, double zu) {
  const double xl = gbt_aft_extreme(zl), wide = zu - zl, y = xl * gbt_expm1(wide < 600.0 ? wide : 600.0);
  const double xu = xl + y, r = gbt_aft_ratio(y);
  const double rise = -gbt_expm1(-y), above = y > 700.0 ? 0.0 : xu / gbt_expm1(y);
  return (gbt_aft_ends){{r - xl, xl + r * gbt_aft_ratio_rest(y, r)}, xl / rise, above, 1.0 - xl, 1.0 - xu};
}

GBT_FN gbt_aft_ends gbt_aft_between(int dist, double zl, double zu) {
  if (dist == GBT_AFT_NORMAL) return gbt_aft_normal_between(zl, zu);
  return dist == GBT_AFT_LOGISTIC ? gbt_aft_logistic_between(zl, zu) : gbt_aft_extreme_between(zl, zu);
}

/* ---- rows ---- */

/* z of the row's one end, or, of an interval, of both; what is as the formulas take it. */
typedef struct gbt_aft_place {
  gbt_censoring what;
  double z, zu;
} gbt_aft_place;

GBT_FN gbt_aft_place gbt_aft_place_of(double s, double l, double u, double scale) {
  gbt_aft_place at = {gbt_censoring_of(l, u), 0.0, 0.0};
  if (at.what == GBT_UNKNOWN) return at;
  at.z = (gbt_log(at.what == GBT_LEFT ? u : l) - s) / scale;
  if (at.what != GBT_INTERVAL) return at;
  at.zu = (gbt_log(u) - s) / scale;
  return at;
}

GBT_FN int gbt_aft_is_narrow(const gbt_aft_place *at) { return at->zu - at->z < GBT_AFT_NARROW; }

GBT_FN gbt_gh gbt_aft_gradient(double s, double l, double u, const double *param) {
  const int dist = (int)param[GBT_AFT_PARAM_DIST];
  const double scale = param[GBT_AFT_PARAM_SCALE];
  const gbt_aft_place at = gbt_aft_place_of(s, l, u, scale);
  gbt_aft_slopes d;
  if (at.what != GBT_INTERVAL)
    d = gbt_aft_one(dist, at.what, at.z);
  else if (gbt_aft_is_narrow(&at))
    d = gbt_aft_one(dist, GBT_EXACT, 0.5 * (at.z + at.zu));
  else
    d = gbt_aft_between(dist, at.z, at.zu).sum;
  gbt_gh r = {d.g / scale, d.h / (scale * scale)};
  return r;
}

GBT_FN double gbt_aft_response(double s, const double *param) {
  (void)param;
  return gbt_exp(s);
}

/* Derivatives in s and in t = log scale. */
typedef struct gbt_aft_full {
  double s, ss, t, tt, st;
} gbt_aft_full;

GBT_FN gbt_aft_full gbt_aft_derivatives(double s, double l, double u, const double *param) {
  const int dist = (int)param[GBT_AFT_PARAM_DIST];
  const double scale = param[GBT_AFT_PARAM_SCALE];
  const gbt_aft_place at = gbt_aft_place_of(s, l, u, scale);
  const int narrow = at.what == GBT_INTERVAL && gbt_aft_is_narrow(&at);
  if (at.what != GBT_INTERVAL || narrow) {
    const double z = narrow ? 0.5 * (at.z + at.zu) : at.z;
    const gbt_aft_slopes d = gbt_aft_one(dist, narrow ? GBT_EXACT : at.what, z);
    const double own = narrow || at.what == GBT_EXACT ? 1.0 : 0.0;
    return (gbt_aft_full){d.g / scale, d.h / (scale * scale), own + z * d.g, z * (z * d.h - d.g),
                          (z * d.h - d.g) / scale};
  }
  const gbt_aft_ends e = gbt_aft_between(dist, at.z, at.zu);
  const double ll = e.low * (e.bend_low + e.low), uu = e.high * (e.high - e.bend_high), lu = -e.low * e.high;
  const double by_l = at.z * ll + at.zu * lu, by_u = at.z * lu + at.zu * uu; /* rows of the matrix times z */
  const double t = at.zu * e.high - at.z * e.low;
  return (gbt_aft_full){e.sum.g / scale, e.sum.h / (scale * scale), t, at.z * by_l + at.zu * by_u - t,
                        (by_l + by_u - e.sum.g) / scale};
}

/* The loss, where the distribution allows it to be written without P; z: not of an interval. */
GBT_FN double gbt_aft_loss_one(int dist, gbt_censoring what, double z) {
  if (what == GBT_UNKNOWN) return 0.0;
  if (dist == GBT_AFT_NORMAL) {
    if (what == GBT_EXACT) return 0.5 * z * z + GBT_LOG_SQRT_2PI;
    return -gbt_normal_log_above(what == GBT_RIGHT ? z : -z);
  }
  if (dist == GBT_AFT_LOGISTIC) {
    if (what == GBT_EXACT) return gbt_softplus(z) + gbt_softplus(-z);
    return gbt_softplus(what == GBT_RIGHT ? z : -z);
  }
  const double x = gbt_exp(z);
  if (what == GBT_EXACT) return x - z;
  return what == GBT_RIGHT ? x : -gbt_log(-gbt_expm1(-x));
}

GBT_FN double gbt_aft_loss_between(int dist, double zl, double zu) {
  if (dist == GBT_AFT_NORMAL) {
    const int mirror = zl + zu < 0.0;
    double at_a, at_b, log_p;
    gbt_aft_normal_shares(mirror ? -zu : zl, mirror ? -zl : zu, &at_a, &at_b, &log_p);
    return -log_p;
  }
  if (dist == GBT_AFT_LOGISTIC) return gbt_softplus(-zu) + gbt_softplus(zl) - gbt_log(-gbt_expm1(zl - zu));
  const double xl = gbt_exp(zl), wide = zu - zl, y = xl * gbt_expm1(wide < 600.0 ? wide : 600.0);
  return xl - gbt_log(-gbt_expm1(-y));
}

/* Minus the logarithm of the likelihood of the time itself: of exact rows of the density of t, not of log t. */
GBT_FN double gbt_aft_loss(double s, double l, double u, const double *param) {
  const int dist = (int)param[GBT_AFT_PARAM_DIST];
  const double scale = param[GBT_AFT_PARAM_SCALE];
  const gbt_aft_place at = gbt_aft_place_of(s, l, u, scale);
  if (at.what == GBT_EXACT) return gbt_aft_loss_one(dist, at.what, at.z) + gbt_log(scale) + gbt_log(l);
  if (at.what != GBT_INTERVAL) return gbt_aft_loss_one(dist, at.what, at.z);
  if (gbt_aft_is_narrow(&at))
    return gbt_aft_loss_one(dist, GBT_EXACT, 0.5 * (at.z + at.zu)) - gbt_log(at.zu - at.z);
  return gbt_aft_loss_between(dist, at.z, at.zu);
}

#endif
