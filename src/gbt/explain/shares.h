/* What a leaf gives to the players on its way, of which a row fails some (V), beside a row of the background, which
 * fails others (U). The leaf is reached when the players of U are known and those of V are not; where a player is in
 * both, never. With u and v players, B(a, b) = a! b! / (a + b + 1)!, and for each unit of the leaf's value:
 *
 *   a player of U     B(u - 1, v)           two of U                B(u - 2, v)
 *   a player of V   - B(u, v - 1)           two of V                B(u, v - 2)
 *                                           one of either         - B(u - 1, v - 1)
 *
 * Rows of the background that fail the same players are one set with a count, so time does not grow with them. Sets are
 * added in ascending order. */
#ifndef GBT_EXPLAIN_SHARES_H
#define GBT_EXPLAIN_SHARES_H

#include <stddef.h>
#include <stdint.h>

enum { GBTI_BETA = 65 }; /* B(a, b) is from a table for a, b below that */

/* table: GBTI_BETA x GBTI_BETA. */
void gbti_beta_fill(double *table);
double gbti_beta(const double *table, uint32_t a, uint32_t b);

typedef struct gbti_leaf_sets {
  const uint64_t *set; /* n_sets x n_words: bit i % 64 of word i / 64 says that slot i is in it */
  const double *count;
  size_t n_sets, n_words;
  int32_t n_slots;
} gbti_leaf_sets;

/* out: n_slots, and behind them, with `pairs`, what the pairs have (gbti_pair), of a row that fails `mine`; divided by
 * `total`, the rows of the background. scratch: n_slots. */
void gbti_shares(const gbti_leaf_sets *sets, const uint64_t *mine, const double *beta, double total, int pairs,
                 double *scratch, double *out);

#endif
