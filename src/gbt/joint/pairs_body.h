/* The sums over the pairs of a query, for one instruction set: included by pairs_sum.c with TARGET and KERNEL(name)
 * defined. Loops over partners vectorise, since the target is a constant in each. */

/* Place a with all places after it, each pair once. */
TARGET static inline __attribute__((always_inline)) gbt_pair_sum KERNEL(after)(gbt_pair_target target, int by_distance,
                                                                               const gbt_pair_rows *rows,
                                                                               const gbt_pair_query *query, double up,
                                                                               uint32_t a) {
  gbt_pair_sum sum = {0, 0, 0};
  const gbt_pair_row row_a = gbt_pair_row_at(rows, a);
  const double inverse_a = 1.0 / ((double)a + 1.0);
  for (uint32_t b = a + 1; b < rows->n; b++) {
    const gbt_pair_row row_b = gbt_pair_row_at(rows, b);
    const gbt_pair_term term = gbt_pair_of(target, by_distance, query, up, row_a, inverse_a, row_b);
    const int64_t by = row_a.label > row_b.label ? term.g : -term.g;
    sum.g -= by;
    sum.h += term.h;
    sum.wrong += term.g;
    rows->g[b] += by;
    rows->h[b] += term.h;
  }
  return sum;
}

/* Place i with its partners: all of them, or those in the first `top` places. Every pair is met from both sides;
 * `wrong` counts it at its first place. */
TARGET static inline __attribute__((always_inline)) gbt_pair_sum KERNEL(around)(gbt_pair_target target, int by_distance,
                                                                                const gbt_pair_rows *rows,
                                                                                const gbt_pair_query *query, double up,
                                                                                uint32_t i) {
  gbt_pair_sum sum = {0, 0, 0};
  const gbt_pair_row row = gbt_pair_row_at(rows, i);
  const double inverse_i = 1.0 / ((double)i + 1.0);
  const uint32_t before = i < rows->top ? i : rows->top;
  for (uint32_t a = 0; a < before; a++) {
    const gbt_pair_row row_a = gbt_pair_row_at(rows, a);
    const gbt_pair_term term = gbt_pair_of(target, by_distance, query, up, row_a, 1.0 / ((double)a + 1.0), row);
    sum.g += row_a.label > row.label ? term.g : -term.g;
    sum.h += term.h;
  }
  if (i >= rows->top) return sum;
  for (uint32_t b = i + 1; b < rows->n; b++) {
    const gbt_pair_row row_b = gbt_pair_row_at(rows, b);
    const gbt_pair_term term = gbt_pair_of(target, by_distance, query, up, row, inverse_i, row_b);
    sum.g -= row.label > row_b.label ? term.g : -term.g;
    sum.h += term.h;
    sum.wrong += term.g;
  }
  return sum;
}

#define CASES(function)                                                            \
  switch (target) {                                                                \
  case GBT_PAIRS_NDCG:                                                             \
    return by_distance ? KERNEL(function)(GBT_PAIRS_NDCG, 1, rows, query, up, at)  \
                       : KERNEL(function)(GBT_PAIRS_NDCG, 0, rows, query, up, at); \
  case GBT_PAIRS_MAP:                                                              \
    return by_distance ? KERNEL(function)(GBT_PAIRS_MAP, 1, rows, query, up, at)   \
                       : KERNEL(function)(GBT_PAIRS_MAP, 0, rows, query, up, at);  \
  case GBT_PAIRS_MRR:                                                              \
    return by_distance ? KERNEL(function)(GBT_PAIRS_MRR, 1, rows, query, up, at)   \
                       : KERNEL(function)(GBT_PAIRS_MRR, 0, rows, query, up, at);  \
  case GBT_PAIRS_PLAIN:                                                            \
    break;                                                                         \
  }                                                                                \
  return by_distance ? KERNEL(function)(GBT_PAIRS_PLAIN, 1, rows, query, up, at)   \
                     : KERNEL(function)(GBT_PAIRS_PLAIN, 0, rows, query, up, at);

TARGET static gbt_pair_sum KERNEL(sum_after)(gbt_pair_target target, int by_distance, const gbt_pair_rows *rows,
                                             const gbt_pair_query *query, double up, uint32_t at) {
  CASES(after)
}

TARGET static gbt_pair_sum KERNEL(sum_around)(gbt_pair_target target, int by_distance, const gbt_pair_rows *rows,
                                              const gbt_pair_query *query, double up, uint32_t at) {
  CASES(around)
}

#undef CASES
