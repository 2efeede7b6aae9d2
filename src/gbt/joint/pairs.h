/* Pairs of rows of a query: the terms that ranking objectives add up. Two rows of different labels are a pair; s are
 * their scores, x = s_better - s_worse, q = 1 / (1 + e^x) the probability that they are ordered wrongly (Burges et al.
 * 2005). With the pair's weight D
 *
 *   g_better -= q D     g_worse += q D     h of both += 2 q (1 - q) D
 *
 * The 2 bounds the second derivative for both scores moving at the same time: [[1, -1], [-1, 1]] <= 2 I.
 *
 * D is what swapping the two changes of the metric that is aimed at (LambdaRank; Burges 2010, section 4), in the order
 * by score, places from 0:
 *
 *   NDCG   |G_a - G_b| |c_a - c_b| / ideal, G the gain of the label, c(r) = 1 / log2(r + 2), ideal: the largest sum of
 *          G c over the first `top` places
 *   MAP    of labels 0 and 1; N(r): relevant rows in places 0 .. r, P(r): sum over relevant places t <= r of
 *          1 / (t + 1). For places a < b, R relevant rows:
 *            a relevant: (N(a)/(a+1) - N(b)/(b+1) + P(b-1) - P(a)) / R
 *            b relevant: |N(b)/(b+1) - (N(a)+1)/(a+1) - (P(b-1) - P(a))| / R
 *   MRR    only the first relevant place f counts, which a swap moves to f': |1/(f+1) - 1/(f'+1)|
 *   PLAIN  1
 *
 * A term becomes an integer once, so sums do not depend on the order: every thread, device and rank gets the same. */
#ifndef GBT_JOINT_PAIRS_H
#define GBT_JOINT_PAIRS_H

#include "../math/elementary.h"
#include "../math/fixed.h"

typedef enum gbt_pair_target { GBT_PAIRS_PLAIN, GBT_PAIRS_NDCG, GBT_PAIRS_MAP, GBT_PAIRS_MRR } gbt_pair_target;

/* A row as terms need it, at its place in the order by score. */
typedef struct gbt_pair_row {
  double s; /* its score */
  double label;
  double gain;   /* NDCG: the gain. MAP: P(place - 1) */
  double weight; /* NDCG: c(place). MAP: N(place) / (place + 1). MRR: 1 / (place + 1) */
} gbt_pair_row;

/* The query as they need it. */
typedef struct gbt_pair_query {
  double unit;   /* NDCG: 1 / ideal. MAP: 1 / R. 0: no pairs */
  double first;  /* MRR: 1 / (f + 1) of the first relevant place; 0: none */
  double second; /* MRR: of the second one */
} gbt_pair_query;

/* The weight of the pair of places a < b, whose labels differ. */
GBT_FN double gbt_pair_weight(gbt_pair_target target, const gbt_pair_query *query, gbt_pair_row a, double inverse_a,
                              gbt_pair_row b) {
  switch (target) {
  case GBT_PAIRS_PLAIN:
    break;
  case GBT_PAIRS_NDCG: {
    const double gain = a.gain > b.gain ? a.gain - b.gain : b.gain - a.gain;
    return gain * (a.weight - b.weight) * query->unit; /* c falls */
  }
  case GBT_PAIRS_MAP: {
    const double hit_a = a.label > 0.0 ? inverse_a : 0.0; /* P(a) = P(a - 1) + that */
    const double between = b.gain - (a.gain + hit_a);
    const double falls = a.weight - b.weight + between, rises = a.weight + inverse_a + between - b.weight;
    const double by = a.label > b.label ? falls : rises;
    return (by > 0.0 ? by : 0.0) * query->unit;
  }
  case GBT_PAIRS_MRR: {
    /* a is the first relevant row and falls to b, or to the second one; or b is relevant and rises above the first */
    const double after = b.weight > query->second ? b.weight : query->second;
    const double falls = a.weight >= query->first ? query->first - after : 0.0, rises = a.weight - query->first;
    const double by = a.label > b.label ? falls : rises;
    return by > 0.0 ? by : 0.0;
  }
  }
  return 1.0;
}

typedef struct gbt_pair_term {
  int64_t g, h; /* what the better row loses and the worse one gains; what both get */
} gbt_pair_term;

/* The integers of a pair of places a < b; 0 for equal labels. up: the power of two of gbt_pair_exp. */
GBT_FN gbt_pair_term gbt_pair_of(gbt_pair_target target, int by_distance, const gbt_pair_query *query, double up,
                                 gbt_pair_row a, double inverse_a, gbt_pair_row b) {
  const double x = a.label > b.label ? a.s - b.s : b.s - a.s;
  const double q = 1.0 / (1.0 + gbt_exp(x));
  double weight = gbt_pair_weight(target, query, a, inverse_a, b);
  weight = a.label == b.label ? 0.0 : weight * up;
  if (by_distance) weight = weight / (0.01 + (x > 0.0 ? x : -x));
  const gbt_pair_term term = {gbt_round_i64(q * weight), gbt_round_i64(2.0 * q * (1.0 - q) * weight)};
  return term;
}

/* The exponent of the power of two that terms are multiplied by: a term stays below 2^50 in size, and so many terms of
 * a row below 2^62. Weights of pairs are at most 1, or 100 when they are divided by distances of scores. */
GBT_FN int gbt_pair_exp(uint64_t most_pairs, int by_distance) {
  const int bits = 62 - gbt_bit_length(most_pairs);
  return (bits < 50 ? bits : 50) - (by_distance ? 7 : 0);
}

/* The factor of all gradients of a query whose pairs' 2 q D add up to sum: log2(1 + sum) / sum. */
GBT_FN double gbt_pair_norm(double sum) { return sum > 0.0 ? gbt_log1p(sum) * 1.4426950408889634 / sum : 1.0; }

/* c(place). */
GBT_FN double gbt_rank_discount(uint64_t place) { return 0.69314718055994531 / gbt_log((double)place + 2.0); }

/* The gain of a label: 2^label - 1 of whole labels up to 31, or the label itself. */
GBT_FN double gbt_rank_gain(double label, int linear) {
  return linear ? label : (double)(((uint64_t)1 << (int)label) - 1);
}

#endif
