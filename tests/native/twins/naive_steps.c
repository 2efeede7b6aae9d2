/* Further steps of a leaf's value, from their definition: Newton's step for the penalised loss of the rows at score +
 * value, but at most half the way to where the signs of slopes have shown that the minimum is not. */
#include "../../src/gbt/objective/formulas.h"
#include "made.h"
#include "naive_impl.h"

/* g and h of a row of the tree's output at the round's score, moved by `by`; weights and factors in. */
static gbt_gh row_at(const naive *nv, int64_t row, double by) {
  const gbt_objective *o = &nv->spec->objective;
  const gbt_rows rows = gbt_rows_of_output(&nv->spec->train->rows, nv->output);
  const double *weight = rows.field[GBT_WEIGHT], y = rows.field[GBT_LABEL][row];
  const double score = nv->start[nv->output * nv->n + row];
  gbt_gh d;
  if (o->kind == GBT_OBJ_SOFTMAX) {
    const double bound = gbt_softmax_bound(nv->n_outputs, nv->p->softmax_hessian);
    double top = -INFINITY, sum = 0.0;
    for (int32_t k = 0; k < nv->n_outputs; k++) top = fmax(top, nv->start[k * nv->n + row]);
    for (int32_t k = 0; k < nv->n_outputs; k++) sum += gbt_exp(nv->start[k * nv->n + row] - top);
    d = gbt_softmax_gradient(gbt_softmax_stepped(score, top, sum, by, bound), y == nv->output, bound);
  } else {
    d = test_gradient(o, score + by, y);
  }
  if (weight) d.g *= weight[row], d.h *= weight[row];
  if (nv->factor) d.g *= (double)nv->factor[row], d.h *= (double)nv->factor[row];
  return d;
}

/* Exact sums of fixed-point gradients at the value; 0 where they cannot be scaled. */
static int sums_at(const naive *nv, const naive_node *node, double by, double *G, double *H) {
  double max_g = 0.0, max_h = 0.0;
  int64_t g = 0, h = 0;
  for (int64_t i = 0; i < node->n_rows; i++) {
    const gbt_gh d = row_at(nv, node->rows[i], by);
    if (!(fabs(d.g) < 1e290 && d.h < 1e290)) return 0;
    max_g = fmax(max_g, fabs(d.g));
    max_h = fmax(max_h, d.h);
  }
  const gbt_scale scale = gbt_scale_from(max_g, max_h);
  for (int64_t i = 0; i < node->n_rows; i++) {
    const gbt_gh d = row_at(nv, node->rows[i], by);
    const gbt_gh32 q = gbt_fix32(d.g, d.h, scale.up_g, scale.up_h);
    g += q.g;
    h += q.h;
  }
  *G = (double)g * scale.down_g;
  *H = (double)h * scale.down_h;
  return 1;
}

/* Which side of `at` the minimum is on: 1 above, -1 below, 0 it is `at`; and where Newton's step leads. */
static int look(const naive *nv, const naive_node *node, double at, double *to) {
  double G, H;
  *to = NAN;
  if (!sums_at(nv, node, at, &G, &H)) return at > 0.0 ? -1 : 1;
  const double slope = G + nv->reg.lambda * at + (at > 0.0 ? nv->reg.alpha : -nv->reg.alpha);
  *to = H + nv->reg.lambda > 0.0 ? gbt_weight(G - H * at, H, nv->reg, node->bounds) : at;
  return slope > 0.0 ? -1 : slope < 0.0 ? 1 : 0;
}

double naive_steps(const naive *nv, const naive_node *node, double first) {
  const gbt_objective_info *info = gbt_objective_info_of(nv->spec->objective.kind);
  double at = first, from = first > 0.0 ? 0.0 : -INFINITY, until = first > 0.0 ? INFINITY : 0.0;
  if (nv->spec->objective.kind == GBT_OBJ_CUSTOM || info->hessian == GBT_HESSIAN_UNIT) return first;
  for (int64_t s = 1; s < nv->p->leaf_iterations && at != 0.0; s++) {
    double to;
    const int side = look(nv, node, at, &to);
    if (side == 0 || to == at || (!isnan(to) && (to < at) != (side < 0))) return at;
    if (side > 0) from = at;
    if (side < 0) until = at;
    const double end = side > 0 ? until : from, most = isinf(end) ? at * 2.0 : at + (end - at) * 0.5;
    if (side > 0 ? !(to < most) : !(to > most)) to = most;
    to = fmin(fmax(to, node->bounds.lo), node->bounds.hi);
    if (to == at) return at;
    at = to;
  }
  return at;
}

double naive_smoothed(const naive *nv, const naive_node *node, double own, double above) {
  if (nv->p->path_smooth == 0.0) return own;
  return own + (above - own) * (nv->p->path_smooth / ((double)node->n_rows + nv->p->path_smooth));
}
