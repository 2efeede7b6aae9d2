/* The weighted quantile of objective/renewal.h by sorting, with whole weights by the C library. */
#include "naive_impl.h"

typedef struct naive_pair {
  double x;
  uint64_t weight;
} naive_pair;

static int by_x(const void *a, const void *b) {
  double x = ((const naive_pair *)a)->x, y = ((const naive_pair *)b)->x;
  return (x > y) - (x < y);
}

static double row_weight(const gbt_trainer_spec *spec, int32_t output, int64_t r) {
  const gbt_rows rows = gbt_rows_of_output(&spec->train->rows, output);
  double w = gbt_weight_of(&rows, r), size = fabs(gbt_label_of(&rows, r));
  return spec->objective.kind == GBT_OBJ_MAPE ? w * (1.0 / fmax(1.0, size)) : w;
}

/* round(w 2^k), k the same for all rows of the training set; at least 1 unless w is 0. */
static uint64_t whole(double w, double max, int64_t n) {
  int e, bits = 0;
  frexp(max, &e);
  while (((int64_t)1 << bits) < n) bits++;
  double x = nearbyint(ldexp(w, 62 - bits - e));
  return w > 0.0 && x < 1.0 ? 1 : (uint64_t)x;
}

/* Of an output: its own level, where there are several. */
static double level_of(const gbt_objective *o, int32_t output) {
  if (o->kind != GBT_OBJ_QUANTILE) return 0.5;
  return o->n_outputs > 1 ? o->levels[output] : o->param[0];
}

double naive_quantile(const gbt_trainer_spec *spec, int32_t output, const double *x, const int64_t *rows, int64_t n) {
  naive_pair *pair = test_alloc((size_t)n * sizeof *pair);
  double level = level_of(&spec->objective, output), max = 0.0, out = 0.0;
  uint64_t total = 0, below = 0;
  for (int64_t r = 0; r < spec->train->rows.n; r++) max = fmax(max, row_weight(spec, output, r));
  for (int64_t i = 0; i < n; i++) {
    int64_t r = rows ? rows[i] : i;
    pair[i] = (naive_pair){x[r] + 0.0, whole(row_weight(spec, output, r), max, spec->train->rows.n)};
    total += pair[i].weight;
  }
  qsort(pair, (size_t)n, sizeof *pair, by_x);
  const double goal = ceil(level * (double)total); /* weights are compared as whole numbers, which doubles round */
  const uint64_t least = goal < 1.0 ? 1 : goal > (double)total ? total : (uint64_t)goal;
  for (int64_t i = 0; i < n && total > 0; i++) {
    below += pair[i].weight;
    if (below < least && i + 1 < n) continue;
    out = pair[i].x;
    break;
  }
  free(pair);
  return out;
}

static double clip(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

void naive_quantile_values(const naive *nv, double *weight) {
  const double most = nv->reg.max_delta_step > 0.0 ? nv->reg.max_delta_step : INFINITY;
  const size_t n = (size_t)nv->n_nodes;
  const double *residual = nv->residual + nv->output * nv->n;
  double *low = test_alloc(n * sizeof *low), *high = test_alloc(n * sizeof *high);
  for (size_t i = 0; i < n; i++) {
    const naive_node *node = &nv->node[i];
    weight[i] = clip(naive_quantile(nv->spec, nv->output, residual, node->rows, node->n_rows), -most, most);
  }
  low[0] = -INFINITY, high[0] = INFINITY;
  for (size_t i = 0; i < n; i++) {
    const naive_node *node = &nv->node[i];
    const size_t l = (size_t)node->left, r = l + 1;
    if (i > 0 && nv->node[node->parent].kept) weight[i] = weight[node->parent];
    weight[i] = clip(weight[i], low[i], high[i]);
    if (i > 0 && !nv->node[node->parent].kept)
      weight[i] = clip(naive_smoothed(nv, node, weight[i], weight[node->parent]), low[i], high[i]);
    if (l == 0) continue;
    const int sign = naive_sign(nv, node->split.feat);
    const double half = 0.5 * clip(weight[l], low[i], high[i]) + 0.5 * clip(weight[r], low[i], high[i]);
    const double mid = node->kept ? weight[i] : clip(half, low[i], high[i]);
    low[l] = sign < 0 ? mid : low[i], high[l] = sign > 0 ? mid : high[i];
    low[r] = sign > 0 ? mid : low[i], high[r] = sign < 0 ? mid : high[i];
  }
  free(low), free(high);
}
