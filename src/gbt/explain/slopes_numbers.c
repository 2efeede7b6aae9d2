/* Contributions of leaves of numbers (tree/linear.h) against a background. Nothing is clipped, so a leaf is a sum over
 * its terms. With `a` players that only the row passes, `b` that only the background's row passes, and others
 * that both pass, what the leaf adds to its constant when the players S are known is
 *
 *   c + d[p] for each p of S that both pass    c: the row's numbers of the first, the background's of all others
 *                                              d[p]: what the terms of p are more with the row's numbers
 *
 * where S has all of the a and none of the b, else 0. By shares.h a share of c is that of a leaf with a and b, and one
 * of d[p] that of a leaf with a + 1, as p has to be known as well. */
#include "slopes_impl.h"

void gbti_slope_numbers(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x, size_t stride,
                        uint64_t *pass) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  for (uint32_t k = 0; k < its->n_terms; k++) {
    const gbt_linear_grid *grid = &s->linear->grid[s->linear->term[its->term_beg + k].grid];
    const double *number = x + (size_t)s->run->slot[grid->feat] * stride;
    uint64_t known = 0;
    for (int r = 0; r < GBTI_ROWS; r++) known |= (uint64_t)(number[r] == number[r]) << r;
    pass[s->slot[leaf->slot + k]] &= known;
  }
}

double gbti_slope_number(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  double sum = its->start;
  for (uint32_t k = 0; k < its->n_terms; k++) sum += s->linear->term[its->term_beg + k].slope * x[k];
  return sum - leaf->constant;
}

/* c; and d, whose sum is *more. */
static double take_parts(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n,
                         gbti_slope_work *w, double *more) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  double c = its->start;
  *more = 0.0;
  for (uint32_t i = 0; i < n->n_free; i++) w->f[w->free[i]] = 0.0;
  for (uint32_t k = 0; k < its->n_terms; k++) {
    const double slope = s->linear->term[its->term_beg + k].slope;
    const int32_t p = s->slot[leaf->slot + k];
    c += slope * (w->also[p] ? w->other[k] : w->own[k]);
    if (!w->also[p] || !w->passes[p]) continue;
    const double d = slope * (w->own[k] - w->other[k]);
    w->f[p] += d;
    *more += d;
  }
  return c - leaf->constant;
}

static void add_pairs(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n, double c,
                      double more, gbti_slope_work *w) {
  const double *beta = s->run->beta;
  const size_t n_players = (size_t)leaf->n;
  const uint32_t a = n->n_row_only, b = n->n_back_only;
  const double rows = a > 1 ? c * gbti_beta(beta, a - 2, b) + more * gbti_beta(beta, a - 1, b) : 0.0;
  const double backs = b > 1 ? c * gbti_beta(beta, a, b - 2) + more * gbti_beta(beta, a + 1, b - 2) : 0.0;
  const double mixed = a > 0 && b > 0 ? c * gbti_beta(beta, a - 1, b - 1) + more * gbti_beta(beta, a, b - 1) : 0.0;
  for (uint32_t i = 0; i < a; i++) {
    for (uint32_t j = 0; j < i; j++) w->acc[gbti_pair(n_players, w->row_only[i], w->row_only[j])] += rows;
    for (uint32_t j = 0; j < b; j++) w->acc[gbti_pair(n_players, w->row_only[i], w->back_only[j])] -= mixed;
  }
  for (uint32_t i = 0; i < b; i++)
    for (uint32_t j = 0; j < i; j++) w->acc[gbti_pair(n_players, w->back_only[i], w->back_only[j])] += backs;
  for (uint32_t i = 0; i < n->n_free; i++) {
    const int32_t p = w->free[i];
    for (uint32_t j = 0; j < a; j++)
      w->acc[gbti_pair(n_players, p, w->row_only[j])] += w->f[p] * gbti_beta(beta, a - 1, b);
    for (uint32_t j = 0; j < b; j++)
      w->acc[gbti_pair(n_players, p, w->back_only[j])] -= w->f[p] * gbti_beta(beta, a, b - 1);
  }
}

void gbti_play_numbers(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n,
                       gbti_slope_work *w) {
  const double *beta = s->run->beta;
  const uint32_t a = n->n_row_only, b = n->n_back_only;
  double more;
  const double c = take_parts(s, leaf, n, w, &more);
  const double gained = a > 0 ? c * gbti_beta(beta, a - 1, b) + more * gbti_beta(beta, a, b) : 0.0;
  const double lost = b > 0 ? c * gbti_beta(beta, a, b - 1) + more * gbti_beta(beta, a + 1, b - 1) : 0.0;
  for (uint32_t i = 0; i < a; i++) w->acc[w->row_only[i]] += gained;
  for (uint32_t i = 0; i < b; i++) w->acc[w->back_only[i]] -= lost;
  for (uint32_t i = 0; i < n->n_free; i++) w->acc[w->free[i]] += w->f[w->free[i]] * gbti_beta(beta, a, b);
  if (s->run->spec->interactions) add_pairs(s, leaf, n, c, more, w);
}
