/* Rows drawn by the size of their gradients, or weighed at random. A row that is drawn has its gradients multiplied by
 * a factor, so that sums over the drawn rows have the expectation of the sums over all rows; the factor of a row that
 * is not drawn is 0.
 *
 *   goss       Ke et al. 2017, "LightGBM", algorithm 2: the rows of the top_rate largest sizes, factor 1; of the
 *              others the share other_rate of all rows, factor (1 - top_rate) / other_rate
 *   mvs        Ibragimov & Gusev 2019, "Minimal variance sampling", section 4: with probability p = min(1, size / mu),
 *              factor 1 / p; mu such that the share `subsample` of the rows is expected
 *   bayesian   Rubin 1981, as in CatBoost: all rows, factor (-log u)^bagging_temperature, u uniform in (0, 1)
 *
 * The size of a row's gradients is sqrt(sum over outputs of g^2 + reg h^2), reg = 0 for goss. Sizes become whole
 * numbers by a power of two taken from the maxima of all rows, so counts of them are exact and do not depend on the
 * order; mu and the border of goss come from these counts. Every draw is a hash of the row's number: the same on any
 * thread, page and device. */
#ifndef GBT_MATH_SAMPLING_H
#define GBT_MATH_SAMPLING_H

#include "../base/rng.h"
#include "elementary.h"
#include "fixed.h"

typedef enum gbt_sampling { GBT_SAMPLE_UNIFORM = 0, GBT_SAMPLE_GOSS, GBT_SAMPLE_MVS, GBT_SAMPLE_BAYESIAN } gbt_sampling;

/* A row's size, and once it is drawn its factor: 0 or more. */
typedef union gbt_sampled {
  uint32_t size;
  float factor;
} gbt_sampled;

/* Sizes, which are below 2^31, have GBT_SIZE_BUCKETS ranges: one for each number below 64, then 32 for every power of
 * two, given by the exponent and the first five bits after the leading one. */
enum { GBT_SIZE_BUCKETS = 864 };

GBT_FN uint32_t gbt_size_bucket(uint32_t size) {
  const uint32_t lead = (uint32_t)(gbt_bits((double)(int32_t)size) >> 47); /* 5 bits of the mantissa stay */
  return size < 64u ? size : lead - (1023u + 4u) * 32u;
}

/* The middle of a range. */
GBT_FN double gbt_size_middle(uint32_t bucket) {
  if (bucket < 64u) return bucket;
  const uint32_t shift = bucket / 32u - 1u;
  const double width = gbt_pow2((int)shift);
  return (double)(bucket % 32u + 32u) * width + 0.5 * (width - 1.0);
}

/* How g and h become sizes: up_g * g is below 1, and so is up_h * h. */
typedef struct gbt_size_scale {
  double up_g, up_h, up; /* up: what the root is multiplied by */
} gbt_size_scale;

/* The weight of squared hessians. reg: what was asked for, or below 0: not known yet, then so that hessians weigh as
 * much as gradients, by their maxima. */
GBT_FN double gbt_size_reg(double reg, double max_g, double max_h) {
  if (reg >= 0.0) return reg;
  if (!(max_h > 0.0)) return 0.0;
  const double ratio = max_g / max_h, square = ratio * ratio;
  return square < 1e300 ? square : 1e300;
}

/* max_g, max_h: largest |g| and h over all rows and outputs, usable (gbt_scale_usable). reg: 0 or more. */
GBT_FN gbt_size_scale gbt_size_scale_from(double max_g, double max_h, double reg, int n_outputs) {
  const double root = gbt_sqrt(reg), reg_h = max_h * root, top = max_g > reg_h ? max_g : reg_h;
  gbt_size_scale s;
  int bits = 31; /* 2 n_outputs squares below 1 */
  while (bits > 1 && gbt_pow2(2 * (31 - bits)) < 2.0 * (double)n_outputs) bits--;
  s.up_g = gbt_pow2(gbt_scale_exp(top, 0));
  s.up_h = s.up_g * root;
  s.up = gbt_pow2(bits);
  return s;
}

/* The same scale in other units, for squares that are computed before the maxima are known: g, and h times the square
 * root of reg. Both differ from the scaled ones only by a power of two, so rounding errors are the same as long as
 * gbt_size_unit is not 0. */
GBT_FN gbt_size_scale gbt_size_unscaled(double reg) {
  const gbt_size_scale s = {1.0, gbt_sqrt(reg), 1.0};
  return s;
}

/* The factor that brings these squares to the scale; 0: the numbers are too large or small, they must be computed
 * again. Numbers that underflow below 2^-1022 then lie so far below the largest one that their size is 1. */
GBT_FN double gbt_size_unit(const gbt_size_scale *s) {
  return s->up_g >= 1e-90 && s->up_g <= 1e90 ? s->up_g * s->up_g : 0.0;
}

/* The addend of a row and output in the square of the size. */
GBT_FN double gbt_size_square(const gbt_size_scale *s, double g, double h) {
  const double a = g * s->up_g, b = h * s->up_h;
  return a * a + b * b;
}

/* From 1 to 2^31 - 1, so that every row can be drawn. */
GBT_FN uint32_t gbt_size_of(const gbt_size_scale *s, double square) {
  const double size = gbt_sqrt(square) * s->up;
  return 1u + (uint32_t)gbt_round_i64(size < 2147483646.0 ? size : 2147483646.0);
}

/* The settings for drawing the rows of a round. */
typedef struct gbt_sample_rule {
  int kind;          /* gbt_sampling */
  double mu, mu_unit; /* mvs; mu_unit = mu / 2^32 */
  uint32_t border;   /* goss: the range of sizes that holds the border; rows above it are taken */
  uint64_t border_limit, other_limit; /* hashes below them: taken of the border's range; drawn of the others */
  float other_factor;
  double power; /* bayesian */
} gbt_sample_rule;

/* mu by the counts of all rows. Rows of sizes up to a range are taken to be smaller than mu; that holds for the first
 * range from above whose middle is, and for the last one at least. wanted: rows, at most those that are counted. */
GBT_FN double gbt_sample_mu(const int64_t *count, double wanted) {
  double below = 0.0, above = 0.0; /* sizes up to the range; rows above it */
  for (uint32_t b = 0; b < GBT_SIZE_BUCKETS; b++) below += (double)count[b] * gbt_size_middle(b);
  for (uint32_t b = GBT_SIZE_BUCKETS; b-- > 0;) {
    const double middle = gbt_size_middle(b), its = (double)count[b] * middle, room = wanted - above;
    if (count[b] == 0) continue;
    if (below < its) below = its; /* it has been rounded */
    if (room > 0.0 && middle * room <= below) return below / room;
    below -= its;
    above += (double)count[b];
  }
  return 0.0; /* all rows */
}

/* The border of goss: `top` rows are to be above it. */
GBT_FN void gbt_sample_border(const int64_t *count, double top, gbt_sample_rule *rule) {
  double above = 0.0;
  uint32_t b = GBT_SIZE_BUCKETS - 1;
  while (b > 0 && above + (double)count[b] < top) above += (double)count[b--];
  rule->border = b;
  rule->border_limit = count[b] > 0 ? gbt_hash_limit((top - above) / (double)count[b]) : 0;
}

/* kind: not uniform. count: rows of all ranks by gbt_size_bucket of their sizes; n_rows of them. */
GBT_FN gbt_sample_rule gbt_sample_rule_from(int kind, const int64_t *count, int64_t n_rows, double subsample,
                                            double top_rate, double other_rate, double power) {
  gbt_sample_rule rule;
  memset(&rule, 0, sizeof rule);
  rule.kind = kind;
  rule.power = power;
  if (kind == GBT_SAMPLE_MVS) {
    rule.mu = subsample < 1.0 ? gbt_sample_mu(count, subsample * (double)n_rows) : 0.0;
    rule.mu_unit = rule.mu / 4294967296.0;
  }
  if (kind == GBT_SAMPLE_GOSS) {
    const double others = 1.0 - top_rate, chance = other_rate < others ? other_rate / others : 1.0;
    gbt_sample_border(count, top_rate * (double)n_rows, &rule);
    rule.other_limit = gbt_hash_limit(chance);
    rule.other_factor = (float)(1.0 / chance);
  }
  return rule;
}

/* A row's factor by mvs, where it is drawn and smaller than mu. */
GBT_FN float gbt_mvs_ratio(double mu, uint32_t size) { return (float)(mu / (double)(int32_t)size); }

/* Its factor. hash: of the row, as below; ratio: gbt_mvs_ratio. Without branches, so that it vectorises. */
GBT_FN float gbt_mvs_choose(double mu, double mu_unit, uint32_t hash, uint32_t size, float ratio) {
  const double its = (double)(int32_t)size;
  const float drawn = (double)hash * mu_unit < its ? ratio : 0.0f;
  return its >= mu ? 1.0f : drawn;
}

GBT_FN float gbt_mvs_factor(double mu, double mu_unit, uint32_t hash, uint32_t size) {
  return gbt_mvs_choose(mu, mu_unit, hash, size, gbt_mvs_ratio(mu, size));
}

/* By goss. tie: another hash of the row; bucket: of its size. Without branches. */
GBT_FN float gbt_goss_choose(const gbt_sample_rule *rule, uint32_t hash, uint32_t tie, uint32_t bucket) {
  const int taken = (bucket > rule->border) | ((bucket == rule->border) & (tie < rule->border_limit));
  const float drawn = hash < rule->other_limit ? rule->other_factor : 0.0f;
  return taken ? 1.0f : drawn;
}

GBT_FN float gbt_goss_factor(const gbt_sample_rule *rule, uint32_t hash, uint32_t tie, uint32_t size) {
  return gbt_goss_choose(rule, hash, tie, gbt_size_bucket(size));
}

GBT_FN float gbt_bayesian_factor(double power, uint32_t hash) {
  const double exponential = -gbt_log(((double)hash + 0.5) / 4294967296.0);
  return (float)(power == 1.0 ? exponential : gbt_exp(power * gbt_log(exponential)));
}

/* draw, tie: keys of the round, GBT_FOR_FACTORS with b = 0 and 1. size: bayesian does not use it. */
GBT_FN float gbt_sample_factor(const gbt_sample_rule *rule, gbt_key32 draw, gbt_key32 tie, uint64_t row,
                               uint32_t size) {
  const uint32_t hash = gbt_hash32(draw, row);
  if (rule->kind == GBT_SAMPLE_MVS) return gbt_mvs_factor(rule->mu, rule->mu_unit, hash, size);
  if (rule->kind == GBT_SAMPLE_GOSS) return gbt_goss_factor(rule, hash, gbt_hash32(tie, row), size);
  return gbt_bayesian_factor(rule->power, hash);
}

#endif
