/* Contributions of a leaf to the players on its path when a row, which fails some of them (V), is compared with a row
 * of the background, which fails others (U). The leaf is reached when the players of U are known and those of V are
 * not; where a player is in both, never. With u and v players, B(a, b) = a! b! / (a + b + 1)!, and for each unit of the
 * leaf's value:
 *
 *   a player of U     B(u - 1, v)           two of U                B(u - 2, v)
 *   a player of V   - B(u, v - 1)           two of V                B(u, v - 2)
 *                                           one of either         - B(u - 1, v - 1)
 *
 * Rows of the background that fail the same players are one set with a count, so time does not grow with them. Sets are
 * added in ascending order. */
#ifndef GBT_EXPLAIN_SHARES_H
#define GBT_EXPLAIN_SHARES_H

#include "step.h"

enum { GBTI_BETA = 65 }; /* B(a, b) is from a table for a, b below that */

/* table: GBTI_BETA x GBTI_BETA. */
void gbti_beta_fill(double *table);

typedef struct gbti_leaf_sets {
  const uint64_t *set; /* n_sets x n_words: bit i % 64 of word i / 64 says that slot i is in it */
  const double *count;
  size_t n_sets, n_words;
  int32_t n_slots;
} gbti_leaf_sets;

GBT_FN double gbti_beta(const double *table, uint32_t a, uint32_t b) {
  if (a < GBTI_BETA && b < GBTI_BETA) return table[a * GBTI_BETA + b];
  const uint32_t few = a < b ? a : b, sum = a + b;
  double x = 1.0 / (double)(sum + 1);
  for (uint32_t i = 1; i <= few; i++) x = x * (double)i / (double)(sum + 1 - i);
  return x;
}

GBT_FN uint32_t gbti_count_bits(uint64_t x) {
  uint32_t n = 0;
  for (; x != 0; x &= x - 1) n++;
  return n;
}

GBT_FN int32_t gbti_lowest(uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __ffsll((long long)x) - 1;
#elif defined(__GNUC__)
  return __builtin_ctzll(x);
#else
  int32_t n = 0;
  while (!(x >> n & 1u)) n++;
  return n;
#endif
}

/* A set, and what it has for each player in it, for two of them, and for one of them and one that the row fails. */
typedef struct gbti_set_part {
  const uint64_t *set;
  size_t n_words, n_slots;
  double in, in_pair, mixed;
} gbti_set_part;

GBT_FN void gbti_add_set(const gbti_set_part *p, int pairs, double *mixed, double *out) {
  for (size_t w = 0; w < p->n_words; w++)
    for (uint64_t rest = p->set[w]; rest != 0; rest &= rest - 1) {
      const int32_t i = (int32_t)(w * 64) + gbti_lowest(rest);
      out[i] += p->in;
      if (!pairs) continue;
      mixed[i] += p->mixed;
      for (size_t v = 0; v <= w; v++) {
        uint64_t below = p->set[v];
        if (v == w) below &= (rest & (~rest + 1)) - 1;
        for (; below != 0; below &= below - 1)
          out[gbti_pair(p->n_slots, (int32_t)(v * 64) + gbti_lowest(below), i)] += p->in_pair;
      }
    }
}

GBT_FN int gbti_in_set(const uint64_t *set, int32_t i) { return (int)(set[i / 64] >> (i % 64) & 1u); }

/* out: n_slots numbers, with `pairs` followed by those of the pairs (gbti_pair), for a row that fails `mine`; divided
 * by `total`, the rows of the background. scratch: n_slots. */
GBT_FN void gbti_shares(const gbti_leaf_sets *sets, const uint64_t *mine, const double *beta, double total, int pairs,
                        double *scratch, double *out) {
  const size_t m = (size_t)sets->n_slots, n_items = pairs && m > 0 ? m + m * (m - 1) / 2 : m;
  uint32_t v = 0;
  double fails = 0.0, both_fail = 0.0;
  for (size_t w = 0; w < sets->n_words; w++) v += gbti_count_bits(mine[w]);
  for (size_t i = 0; i < n_items; i++) out[i] = 0.0;
  for (size_t i = 0; i < m && pairs; i++) scratch[i] = 0.0;
  for (size_t s = 0; s < sets->n_sets; s++) {
    const uint64_t *set = sets->set + s * sets->n_words;
    uint64_t common = 0;
    uint32_t u = 0;
    for (size_t w = 0; w < sets->n_words; w++) {
      common |= set[w] & mine[w];
      u += gbti_count_bits(set[w]);
    }
    if (common != 0) continue;
    const double c = sets->count[s];
    if (v > 0) fails += c * gbti_beta(beta, u, v - 1);
    if (v > 1 && pairs) both_fail += c * gbti_beta(beta, u, v - 2);
    if (u == 0) continue;
    gbti_set_part p = {set, sets->n_words, m, c * gbti_beta(beta, u - 1, v), 0.0, 0.0};
    if (pairs && u > 1) p.in_pair = c * gbti_beta(beta, u - 2, v);
    if (pairs && v > 0) p.mixed = c * gbti_beta(beta, u - 1, v - 1);
    gbti_add_set(&p, pairs, scratch, out);
  }
  for (int32_t i = 0; i < sets->n_slots && v > 0; i++) {
    if (gbti_in_set(mine, i)) out[i] = -fails;
    for (int32_t j = 0; j < i && pairs; j++) {
      const int of_i = gbti_in_set(mine, i), of_j = gbti_in_set(mine, j);
      double *to = out + gbti_pair(m, j, i);
      if (of_i && of_j)
        *to = both_fail;
      else if (of_i || of_j)
        *to = -scratch[of_i ? j : i];
    }
  }
  for (size_t i = 0; i < n_items; i++) out[i] /= total;
}

#endif
