/* Accelerated failure time: numbers that R's survreg() gave, derivatives against differences of the loss in long
 * double, and far rows, where nothing may become NaN or infinite. */
#include "test.h"

#include <math.h>

#include "../../src/gbt/objective/aft.h"

static const char *const dists[] = {"normal", "logistic", "extreme"};

static void near(double got, double want, double by, const char *what, int dist, int row) {
  if (CHECK(fabs(got - want) <= by)) return;
  test_note("%s of row %d, %s: %.12f, not %.12f", what, row, dists[dist], got, want);
}

/* survreg(), scale 1.2, score 1: 2 exact, 3 right-, 4 left-censored, from 4 to 5. */
static void numbers_of_survreg(void) {
  static const double row[4][2] = {{2, 2}, {3, INFINITY}, {0, 4}, {4, 5}};
  static const double g[3][4] = {{.213092235722, -.709104594623, .504063693732, -.344745353713},
                                 {.105969319751, -.433777227724, .350174881248, -.170079977341},
                                 {.188028355225, -.904706543158, .386623359152, -.428445226971}};
  static const double h[3][4] = {{.694444444444, .454269307379, .389300320210, .692446272608},
                                 {.341607473858, .173318339811, .169189953583, .332070551188},
                                 {.537754148424, .753922119298, .271832092952, 1.046899063297}};
  static const double t[3][4] = {{.934612047, -.069926427, .194716963, .825979556},
                                 {.967483015, -.042775765, .135270582, .914063909},
                                 {.942302969, -.089215183, .149350424, .783099109}};
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < 4; i++) {
      const double param[GBT_N_AFT] = {d, 1.2};
      const gbt_gh r = gbt_aft_gradient(1.0, row[i][0], row[i][1], param);
      const gbt_aft_full f = gbt_aft_derivatives(1.0, row[i][0], row[i][1], param);
      near(r.g, g[d][i], 1e-12, "g", d, i);
      near(r.h, h[d][i], 1e-12, "h", d, i);
      near(f.t, t[d][i], 2e-9, "the derivative by log scale", d, i);
      CHECK(f.s == r.g && f.ss == r.h);
    }
}

/* ---- the loss as books write it ---- */

static long double above(int dist, long double z) {
  if (dist == GBT_AFT_NORMAL) return erfcl(z / sqrtl(2)) / 2;
  return dist == GBT_AFT_LOGISTIC ? 1 / (1 + expl(z)) : expl(-expl(z));
}
static long double density(int dist, long double z) {
  if (dist == GBT_AFT_NORMAL) return expl(-z * z / 2) / sqrtl(2 * acosl(-1));
  return dist == GBT_AFT_LOGISTIC ? expl(z) / ((1 + expl(z)) * (1 + expl(z))) : expl(z - expl(z));
}
static long double loss(int dist, long double s, double l, double u, long double log_scale) {
  const long double scale = expl(log_scale), zl = (logl(l) - s) / scale, zu = (logl(u) - s) / scale;
  if (l == u) return -logl(density(dist, zl)) + log_scale + logl(l);
  if (u == INFINITY) return -logl(above(dist, zl));
  if (l == 0) return -logl(zu < 0 ? above(dist, -zu) : 1 - above(dist, zu)); /* of symmetric distributions */
  if (dist != GBT_AFT_EXTREME && zl + zu < 0) return -logl(above(dist, -zu) - above(dist, -zl));
  return -logl(above(dist, zl) - above(dist, zu));
}

static void derivatives_of_the_loss(void) {
  static const double row[][2] = {{1, 1}, {1, INFINITY}, {0, 1}, {1, 1.3}, {1, 1.02}, {1, 40}};
  const long double e = 1e-4L;
  for (int d = 0; d < 3; d++)
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
      for (double s = -4.0; s <= 4.0; s += 0.5)
        for (double scale = 0.4; scale < 3.0; scale *= 2.1) {
          const double l = row[i][0], u = row[i][1], param[GBT_N_AFT] = {d, scale};
          if (d == GBT_AFT_EXTREME && (l == 0 || fabs(s) / scale > 2.5)) continue; /* digits are lost, or x is cut */
          const long double t = logl(scale), at = loss(d, s, l, u, t);
          const long double by_s = (loss(d, s + e, l, u, t) - loss(d, s - e, l, u, t)) / (2 * e);
          const long double by_ss = (loss(d, s + e, l, u, t) - 2 * at + loss(d, s - e, l, u, t)) / (e * e);
          const long double by_t = (loss(d, s, l, u, t + e) - loss(d, s, l, u, t - e)) / (2 * e);
          const gbt_aft_full f = gbt_aft_derivatives(s, l, u, param);
          const double size = 1 + 1 / (scale * scale) + fabs(s) / scale, near_by = 1e-5 * size * size * size * size;
          near(gbt_aft_loss(s, l, u, param), (double)at, 1e-10 * (1 + fabs((double)at)), "the loss", d, (int)i);
          near(f.s, (double)by_s, near_by, "g", d, (int)i);
          near(f.ss, (double)by_ss, near_by, "h", d, (int)i);
          near(f.t, (double)by_t, near_by, "the derivative by log scale", d, (int)i);
        }
}

static int is_finite(double x) { return x - x == 0.0; }

static void far_rows_stay_finite(void) {
  static const double bound[] = {0,    1e-300, 1e-20, 0.5, 1,    1 + 1e-15, 1 + 1e-9, 1 + 1e-6,
                                 1.01, 2,      1e4,   1e9, 1e100, 1e300,    INFINITY};
  enum { N = sizeof bound / sizeof *bound };
  for (int d = 0; d < 3; d++)
    for (double s = -1000.0; s <= 1000.0; s += s > -20.0 && s < 20.0 ? 0.5 : 70.0)
      for (double scale = 1e-3; scale < 2e3; scale *= 10.0)
        for (int i = 0; i < N; i++)
          for (int j = i; j < N; j++) {
            const double l = bound[i], u = bound[j], param[GBT_N_AFT] = {d, scale};
            if (l == INFINITY || u == 0) continue;
            const gbt_gh r = gbt_aft_gradient(s, l, u, param);
            const gbt_aft_full f = gbt_aft_derivatives(s, l, u, param);
            const int ok = is_finite(r.g) && is_finite(r.h) && r.h >= 0.0 && is_finite(f.t) && is_finite(f.tt) &&
                           is_finite(f.st) && is_finite(gbt_aft_loss(s, l, u, param));
            if (!CHECK(ok)) {
              test_note("%s, from %g to %g, score %g, scale %g: g %g h %g t %g tt %g st %g loss %g", dists[d], l, u, s,
                        scale, r.g, r.h, f.t, f.tt, f.st, gbt_aft_loss(s, l, u, param));
              return;
            }
          }
}

/* Far steps of Newton's method end near the time, as g and h are cut alike. */
static void far_steps_are_not_short(void) {
  for (int d = 0; d < 3; d++) {
    const double param[GBT_N_AFT] = {d, 1.0};
    double s = -40.0;
    for (int i = 0; i < 200; i++) {
      const gbt_gh r = gbt_aft_gradient(s, 1.0, 1.0, param);
      const double step = r.h > 0.0 ? -r.g / r.h : 0.0;
      s += step > 3.0 ? 3.0 : step < -3.0 ? -3.0 : step;
    }
    CHECK(fabs(s) < 1e-6);
  }
}

static void mills_ratio(void) {
  for (double z = 0.0; z < 60.0; z += 0.0137) {
    const long double x = z, want = z < 100 ? erfcl(x / sqrtl(2)) * sqrtl(acosl(-1) / 2) * expl(x * x / 2) : 0;
    CHECK(fabsl(gbt_mills(z) - want) <= 2e-15L * want);
  }
}

void suite_aft(void) {
  RUN(numbers_of_survreg);
  RUN(derivatives_of_the_loss);
  RUN(far_rows_stay_finite);
  RUN(far_steps_are_not_short);
  RUN(mills_ratio);
}
