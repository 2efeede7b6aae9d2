/* Which cuts cannot be the best of a feature, decided with floats: no division of doubles for most of them.
 *
 * A cut with left sums l and right sums r of a node gains S - parent,
 * S = g_l^2 / (h_l + lambda) + g_r^2 / (h_r + lambda). cu_score is S, scaled by a power of two and rounded; a cut whose
 * cu_score is below a `bar` is passed over:
 *
 *   - bar of a node: what S must reach for the least gain that counts
 *   - bar after a cut that may be taken: (1 - MARGIN) of its cu_score
 *
 * Claim: the gain of a cut that is passed over, as gbt_rate_split computes it, is strictly less than that of a cut that
 * is not, or no more than the least gain. So ties are met by all of their cuts, and the split found is the same.
 *
 * Proof. Let u = 2^-24. Sums are integers below 2^53, units powers of two in [2^-200, 2^200], alpha is 0 and nothing
 * clips the weights; otherwise cu_bound_of says `on = 0`, and every cut is rated.
 *
 * Floats. With G = g 2^-23, D = h + lambda', lambda' = lambda / unit_h <= 2^55, it is
 * S 2^-46 unit_h / unit_g^2 = (G_l^2 D_r + G_r^2 D_l) / (D_l D_r), where h >= 1 on both sides (others are refused by
 * integers, as gbt_rate_split refuses them). All terms are >= 0, so relative errors do not grow in sums. G is rounded
 * once: u; its square: 3 u; h and lambda' once, their sum once: 2 u; the product: 6 u; the sum: 7 u; D_l D_r: 5 u; its
 * inverse is wrong by 4 u more (cu_inverse): 9 u; the last product: 17 u, and terms of higher order below 300 u^2: less
 * than 18 u. Nothing overflows or becomes subnormal: G = 0 or in [2^-23, 2^30], D in [1, 2^56], products in
 * [2^-46, 2^116] and [1, 2^112], the inverse in [2^-112, 1], the score in [2^-102, 2^61]. A lambda' that is subnormal
 * is wrong by 2^-150, which is negligible compared with D.
 *
 * Doubles. g, h, their differences from the node's and products with units are exact, as is the sum with those of
 * missing values. Squares, h + lambda, quotients and their sum are rounded, each by 2^-53 at most: squares lie in
 * [2^-400, 2^506], quotients above 2^-400 / 2^260, so nothing is subnormal. The S of gbt_rate_free, call it T, is
 * S (1 +- 2^-50). Taking off parent and rounding is monotone.
 *
 * A cut b after a cut a: cu_score(b) < (1 - 64 u) (1 + u) cu_score(a) gives S_b (1 - 18 u) < (1 - 62.9 u) (1 + 18 u)
 * S_a, so S_b < (1 - 2 u) S_a, and T_b < T_a by more than u T_a. Taking off parent could make both the same only
 * where it is many times T_a; there both gains are below 0, and no candidate has a gain <= least, least being >= 0.
 * Where T_a > parent, either difference is rounded by at most 2^-53 T_a, less than T_a - T_b: b's gain is strictly
 * smaller. The node's bar: gain > least gives T > least + parent in real numbers, a double that floats and its own sum
 * round by 2 u at most; cu_score >= T (1 - 18 u) > bar. When bar overflows, no S reaches it; when it is subnormal, it
 * is below every S but 0, which gains nothing. */
#pragma once

#include "../view.cuh"

extern "C" {
#include "../../../gbt/tree/search.h"
}

struct cu_bound {
  int on;        /* 0: no bound is proved here, rate all */
  float lambda;  /* lambda' */
  float bar;     /* the node's */
  int64_t least; /* of a side's hessian, in units */
};

static const float CU_SCORE_KEPT = 1.0f - 3.814697265625e-6f; /* 1 - 2^-18: the margin is 64 u */

/* The exponent of a power of two in [2^-200, 2^200]; 1000 for other numbers. */
GBT_FN int cu_unit_exponent(double unit) {
  const uint64_t bits = gbt_bits(unit);
  const int e = (int)(bits >> 52) - 1023;
  return (bits & 0xfffffffffffffull) == 0 && e >= -200 && e <= 200 ? e : 1000;
}

/* sums_exact: all sums of the node's histograms are below 2^53. least_gain: that candidates must exceed, >= 0. */
GBT_FN cu_bound cu_bound_of(const gbt_rated *node, gbt_units unit, gbt_reg reg, int sums_exact, double least_gain) {
  cu_bound b = {0, 0.0f, 0.0f, 1};
  const int eg = cu_unit_exponent(unit.g), eh = cu_unit_exponent(unit.h);
  if (!sums_exact || node->constrained || reg.alpha != 0.0 || eg == 1000 || eh == 1000) return b;
  const double lambda = reg.lambda * gbt_pow2(-eh), weight = node->min_weight * gbt_pow2(-eh);
  if (!(lambda >= 0.0 && lambda <= 36028797018963968.0)) return b;
  const double bar = (least_gain + node->parent) * gbt_pow2(eh - 2 * eg - 46);
  b.on = 1;
  b.lambda = (float)lambda;
  b.bar = bar < 1e37 ? (float)bar * CU_SCORE_KEPT : 1e37f; /* scores end at 2^61 */
  if (weight > 1.0) b.least = weight < 9007199254740992.0 ? (int64_t)weight : (int64_t)1 << 53;
  b.least += (double)b.least < weight && b.least < (int64_t)1 << 53;
  return b;
}

/* 1 / x of an x in [1, 2^112], or wrong by 2^-22 of it at most: rcp.approx is wrong by one unit in the last place, or,
 * as older descriptions have it, by 2^-23 where the result is at least 1/2. A division would take ten instructions. */
GBT_FN float cu_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}

/* -1 where a side is too light. */
GBT_FN float cu_score(const cu_bound *b, gbt_sum left, gbt_sum right) {
  const float gl = (float)left.g * 1.1920928955078125e-7f, gr = (float)right.g * 1.1920928955078125e-7f; /* 2^-23 */
  const float dl = (float)left.h + b->lambda, dr = (float)right.h + b->lambda;
  const float score = (gl * gl * dr + gr * gr * dl) * cu_inverse(dl * dr);
  return left.h >= b->least && right.h >= b->least ? score : -1.0f;
}
