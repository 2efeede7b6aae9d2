/* Contributions of a tree to its players, for GBTI_LANES rows side by side. In kernels, which define GBTI_BY_LANE, a
 * thread is a lane, and the rows of a warp lie side by side.
 *
 * A leaf with the value w is worth w times a product over the players i on the way to it: o_i where i is known (1 when
 * the row passes all splits by i on that way, else 0), z_i where it is not (the share of others that do). The Shapley
 * value of i in that game is
 *
 *   w (o_i - z_i) times the integral over t from 0 to 1 of the product over the other players j of t o_j + (1 - t) z_j
 *
 * (the multilinear extension along its diagonal: Owen 1972). With d players the integrand is a polynomial of degree
 * d - 1, and Gauss's quadrature with d / 2 points, rounded up, has no error but rounding. A point t goes through the
 * tree once, for all leaves together. At a split by i let
 *
 *   P      the product down to it over all players on the way, its own as far as splits above say (state o, z),
 *          F = t o + (1 - t) z
 *   s      the share of others that go left
 *   r      what P becomes on the left: (t o' + (1 - t) z s) / F, o' = 1 when the row goes left as well; on the right it
 *          is 1 - r, as both add up to F
 *   A, B   the sums over the leaves below the left and the right child, relative to P there; of both together
 *          B + (A - B) r
 *
 * Leaves below the left child have i at (o', z s) instead of (o, z). Written out, what that changes for i is
 *
 *   P (A - B) / F^2 times  z (1 - s) when the row goes left,  - z s when it goes right,  0 when o = 0.
 *
 * So a split costs some additions and multiplications a point, whatever the depth. Interactions of i with a player j
 * above are the same sums with psi_j = (o_j - z_j) / (t o_j + (1 - t) z_j) as a factor more. Splits with no split above
 * by their player have z = F = 1. */
#ifndef GBT_EXPLAIN_STEP_H
#define GBT_EXPLAIN_STEP_H

#include "../base/bits.h"
#include "game.h"

#if defined(GBTI_BY_LANE)
enum { GBTI_LANES = 32, GBTI_OWN_LANES = 1 };
#define GBTI_EACH_LANE for (int k = v->lane; k <= v->lane; k++)
#define GBTI_OWN(k) 0
#define GBTI_FIRST_LANE(v) (v)->lane
#else
enum { GBTI_LANES = 16, GBTI_OWN_LANES = 16 };
#define GBTI_EACH_LANE for (int k = 0; k < GBTI_LANES; k++)
#define GBTI_OWN(k) (k)
#define GBTI_FIRST_LANE(v) 0
#endif

/* The value of a leaf for output k of those that it has values for. */
GBT_FN double gbti_leaf_value(const gbt_forest_view *forest, const gbt_node *leaf, int32_t k) {
  if (forest->n_leaf_outputs == 1) return leaf->arg.value;
  return forest->leaf_values[leaf->arg.vector * (uint64_t)forest->n_leaf_outputs + (uint64_t)k];
}

/* By depth, point and lane; see gbti_lanes_size. */
typedef struct gbti_lanes {
  double *p;     /* products */
  double *r;     /* what goes left of them */
  double *sum;   /* by depth, side, point: sums of leaves */
  double *psi;   /* of the way's player at that depth, towards the child that the way leads to; interactions only */
  double *terms; /* by point */
  /* For all lanes in common, but in a kernel: */
  int32_t *live; /* by player of the plan: the depth of its lowest split on the way, or -1; interactions only */
  int32_t *kept; /* by depth: what `live` was above */
} gbti_lanes;

/* The input of a visit. */
typedef struct gbti_visit {
  const gbti_game *plan;
  const gbti_mix *mix;
  const double *value;        /* of the output, by split and side */
  const uint64_t *went, *met; /* by split: a bit for each of 64 rows; not in a kernel */
  const uint8_t *bits;        /* in a kernel: by split and lane, went + 2 met */
  const double *gone;         /* psi of rows that have left the way, by point */
  int shift;                  /* the first row of the word */
  int lane;                   /* in a kernel */
  size_t stride;              /* rows of acc */
} gbti_visit;

GBT_FN double gbti_masked(double x, uint64_t mask) { return gbt_from_bits(gbt_bits(x) & mask); }
GBT_FN double gbti_choose(double a, double b, uint64_t mask) {
  return gbt_from_bits((gbt_bits(a) & mask) | (gbt_bits(b) & ~mask));
}

/* The number of the pair of players a and b of a plan; pairs are numbered after the players. */
GBT_FN size_t gbti_pair(size_t n_players, int32_t a, int32_t b) {
  size_t low = (size_t)(a < b ? a : b), high = (size_t)(a < b ? b : a);
  return n_players + high * (high - 1) / 2 + low;
}

/* Where a lane has what all have in common on a CPU. */
GBT_FN int32_t *gbti_of_lane(const gbti_visit *v, int32_t *common, size_t i) {
#if defined(GBTI_BY_LANE)
  return common + i * GBTI_LANES + (size_t)v->lane;
#else
  (void)v;
  return common + i;
#endif
}

typedef struct gbti_lane_masks {
  /* all ones or 0; left and right: of those met */
  uint64_t met[GBTI_OWN_LANES], left[GBTI_OWN_LANES], right[GBTI_OWN_LANES];
} gbti_lane_masks;

GBT_FN void gbti_masks_of(const gbti_visit *v, uint32_t i, gbti_lane_masks *m) {
#if defined(GBTI_BY_LANE)
  const uint64_t bits = v->bits[(size_t)i * GBTI_LANES + (size_t)v->lane];
  m->met[0] = 0u - (bits >> 1);
  m->left[0] = (0u - (bits & 1u)) & m->met[0];
  m->right[0] = m->met[0] & ~m->left[0];
#else
  uint64_t went = v->went[i] >> v->shift, met = v->met[i] >> v->shift;
  GBTI_EACH_LANE {
    m->met[k] = 0u - (met >> k & 1u);
    m->left[k] = (0u - (went >> k & 1u)) & m->met[k];
    m->right[k] = m->met[k] & ~m->left[k];
  }
#endif
}

/* r at a split, for one point; in a kernel, only for the calling lane. */
GBT_FN void gbti_ratio(const gbti_visit *v, const gbti_mix *mix, int repeated, const gbti_lane_masks *m, int32_t q,
                       double *r) {
  const double *factor = v->plan->factor + mix->factor;
  double a = factor[q], off = mix->share * factor[v->plan->n_points + q], share = mix->share;
  GBTI_EACH_LANE r[GBTI_OWN(k)] = off + gbti_masked(a, m->left[GBTI_OWN(k)]);
  if (repeated) GBTI_EACH_LANE r[GBTI_OWN(k)] = gbti_choose(r[GBTI_OWN(k)], share, m->met[GBTI_OWN(k)]);
}

/* psi at the split's depth, towards one of its children. */
GBT_FN void gbti_set_psi(const gbti_visit *v, const gbti_lanes *w, uint32_t i, int side, const gbti_lane_masks *m,
                         int32_t n) {
  const double *psi = v->plan->factor + v->mix[i].psi[side];
  double *to = w->psi + (size_t)v->plan->split[i].depth * (size_t)n * GBTI_LANES;
  const uint64_t *stays = side == 0 ? m->left : m->right;
  for (int32_t q = 0; q < n; q++) {
    double in = psi[q], out = v->gone[q];
    GBTI_EACH_LANE to[q * GBTI_LANES + k] = gbti_choose(in, out, stays[GBTI_OWN(k)]);
  }
}

/* Adds what the split's terms give to its player, and to its pairs. acc: by player and pair of the plan, from the
 * first lane's row on. */
GBT_FN void gbti_add_terms(const gbti_visit *v, const gbti_lanes *w, uint32_t i, const gbti_lane_masks *m, int32_t n,
                           int pairs, double *acc) {
  const gbti_mix *mix = &v->mix[i];
  const int32_t own = v->plan->split[i].player;
  double by[GBTI_OWN_LANES], s[GBTI_OWN_LANES];
  double left = mix->left, right = mix->right;
  GBTI_EACH_LANE {
    by[GBTI_OWN(k)] = gbti_masked(left, m->left[GBTI_OWN(k)]) + gbti_masked(right, m->right[GBTI_OWN(k)]);
    s[GBTI_OWN(k)] = 0.0;
  }
  for (int32_t q = 0; q < n; q++) GBTI_EACH_LANE s[GBTI_OWN(k)] += w->terms[q * GBTI_LANES + k];
  GBTI_EACH_LANE acc[(size_t)own * v->stride + (size_t)k] += by[GBTI_OWN(k)] * s[GBTI_OWN(k)];
  for (int32_t j = 0; pairs && j < v->plan->n_players; j++) {
    const int32_t live = *gbti_of_lane(v, w->live, (size_t)j);
    if (j == own || live < 0) continue;
    const double *psi = w->psi + (size_t)live * (size_t)n * GBTI_LANES;
    double *to = acc + gbti_pair((size_t)v->plan->n_players, j, own) * v->stride;
    GBTI_EACH_LANE s[GBTI_OWN(k)] = 0.0;
    for (int32_t q = 0; q < n; q++)
      GBTI_EACH_LANE s[GBTI_OWN(k)] += w->terms[q * GBTI_LANES + k] * psi[q * GBTI_LANES + k];
    GBTI_EACH_LANE to[k] += by[GBTI_OWN(k)] * s[GBTI_OWN(k)];
  }
}

/* One tree, n = its points. */
GBT_FN void gbti_visit_tree(const gbti_visit *v, const gbti_lanes *w, int32_t n, int pairs, double *acc) {
  const gbti_game *plan = v->plan;
  const size_t layer = (size_t)n * GBTI_LANES;
  for (int32_t q = 0; q < n; q++) {
    double x = plan->weight[q];
    GBTI_EACH_LANE w->p[q * GBTI_LANES + k] = x;
  }
  for (uint32_t at = 0; at < plan->n_steps; at++) {
    const uint32_t i = plan->step[at] / 4, what = plan->step[at] % 4;
    const gbti_split *split = &plan->split[i];
    const gbti_mix *mix = &v->mix[i];
    const size_t d = split->depth;
    double *p = w->p + d * layer, *r = w->r + d * layer, *below = w->sum + (d + 1) * 2 * layer;
    double *sum = w->sum + (d * 2 + split->side) * layer;
    const double *squares = plan->factor + mix->factor + 2 * (size_t)n;
    const double *value = v->value + 2 * (size_t)i;
    gbti_lane_masks m;
    gbti_masks_of(v, i, &m);
    switch (what) {
    case GBTI_ENTER:
      for (int32_t q = 0; q < n; q++) {
        double *rq = r + q * GBTI_LANES, *pq = p + q * GBTI_LANES;
        gbti_ratio(v, mix, split->above >= 0, &m, q, rq + GBTI_FIRST_LANE(v));
        double *a = below + q * GBTI_LANES, *b = below + layer + q * GBTI_LANES;
        if (split->leaf[0])
          GBTI_EACH_LANE a[k] = value[0];
        else
          GBTI_EACH_LANE pq[layer + (size_t)k] = pq[k] * rq[k];
        if (split->leaf[1]) GBTI_EACH_LANE b[k] = value[1];
      }
      if (!pairs) break;
      gbti_set_psi(v, w, i, 0, &m, n);
      *gbti_of_lane(v, w->kept, d) = *gbti_of_lane(v, w->live, (size_t)split->player);
      *gbti_of_lane(v, w->live, (size_t)split->player) = (int32_t)d;
      break;
    case GBTI_TURN:
      for (int32_t q = 0; q < n; q++) {
        double *pq = p + q * GBTI_LANES, *rq = r + q * GBTI_LANES;
        GBTI_EACH_LANE pq[layer + (size_t)k] = pq[k] - (split->leaf[0] ? pq[k] * rq[k] : pq[layer + (size_t)k]);
      }
      if (pairs) gbti_set_psi(v, w, i, 1, &m, n);
      break;
    case GBTI_LEAVE:
      for (int32_t q = 0; q < n; q++) {
        const size_t first = (size_t)q * GBTI_LANES;
        const double f = squares[q], *a = below + first, *b = below + layer + first;
        const double *pq = p + first, *rq = r + first;
        double *to = sum + first, *terms = w->terms + first;
        GBTI_EACH_LANE {
          double differ = a[k] - b[k];
          to[k] = b[k] + differ * rq[k];
          terms[k] = pq[k] * f * differ;
        }
      }
      if (pairs) *gbti_of_lane(v, w->live, (size_t)split->player) = *gbti_of_lane(v, w->kept, d);
      gbti_add_terms(v, w, i, &m, n, pairs, acc);
      break;
    default: {
      double differ = value[0] - value[1], low = value[1];
      for (int32_t q = 0; q < n; q++) {
        double ratio[GBTI_OWN_LANES], f = squares[q];
        gbti_ratio(v, mix, split->above >= 0, &m, q, ratio);
        GBTI_EACH_LANE {
          sum[q * GBTI_LANES + k] = low + differ * ratio[GBTI_OWN(k)];
          w->terms[q * GBTI_LANES + k] = p[q * GBTI_LANES + k] * f * differ;
        }
      }
      gbti_add_terms(v, w, i, &m, n, pairs, acc);
    }
    }
  }
}

#endif
