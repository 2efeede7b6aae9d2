/* Which rows a naive training draws, and by what their gradients are multiplied. Ranges of sizes are found by going
 * through all sizes, sorted; what a single row's size and hash say is math/sampling.h's. */

#include <math.h>

#include "naive_impl.h"

double naive_size_reg(const gbt_params *p, double eta, const gbt_forest *forest, int32_t n_outputs) {
  double squares = 0.0, rows = 0.0;
  if (p->mvs_reg >= 0.0) return p->mvs_reg;
  if (forest->n_trees == 0) return -1.0;
  for (size_t t = forest->n_trees - (size_t)n_outputs; t < forest->n_trees; t++) {
    const size_t beg = (size_t)forest->trees[t].node_beg;
    for (size_t i = beg; i < beg + forest->trees[t].n_nodes; i++) {
      if (forest->nodes[i].left > 0) continue;
      const double weight = forest->nodes[i].arg.value / eta;
      squares += forest->count[i] * (weight * weight);
      rows += forest->count[i];
    }
  }
  return rows > 0.0 ? squares / rows : -1.0;
}

static int down(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Numbers of one range: equal in their six leading bits. */
static uint32_t lowest(uint32_t size) {
  uint32_t unit = 1;
  while (size / unit >= 64) unit *= 2;
  return size / unit * unit;
}

static double middle(uint32_t size) {
  uint32_t unit = 1;
  while (size / unit >= 64) unit *= 2;
  return (double)(size / unit * unit) + (unit - 1.0) / 2.0;
}

/* Such that min(1, size / mu) adds up to `wanted`, each size taken for the middle of its range, and ranges as a whole
 * for smaller than mu or not. size: descending. */
static double find_mu(const uint32_t *size, int64_t n, double wanted) {
  for (int64_t at = 0, next; at < n; at = next) {
    double below = 0.0;
    for (next = at; next < n && lowest(size[next]) == lowest(size[at]);) next++;
    for (int64_t i = at; i < n; i++) below += middle(size[i]);
    if (wanted > (double)at && middle(size[at]) * (wanted - (double)at) <= below) return below / (wanted - (double)at);
  }
  return 0.0;
}

/* The chance that a row of the border's range is taken for its size. */
static double find_border(const uint32_t *size, int64_t n, double top, uint32_t *border) {
  int64_t at = 0, next;
  *border = UINT32_MAX;
  if (n == 0 || top <= 0.0) return 0.0;
  for (;; at = next) {
    for (next = at; next < n && lowest(size[next]) == lowest(size[at]);) next++;
    if ((double)next >= top || next == n) break;
  }
  *border = lowest(size[at]);
  return (top - (double)at) / (double)(next - at);
}

void naive_factors(naive *nv, uint64_t round, const double *g, const double *h) {
  const gbt_params *p = nv->p;
  const gbt_key32 draw = gbt_key((uint64_t)p->seed, GBT_FOR_FACTORS, round, 0);
  const gbt_key32 tie = gbt_key((uint64_t)p->seed, GBT_FOR_FACTORS, round, 1);
  const size_t n = (size_t)nv->n;
  uint32_t *size = test_alloc(n * sizeof *size), *sorted = test_alloc(n * sizeof *sorted), border;
  double max_g = 0.0, max_h = 0.0;
  for (size_t at = 0; at < n * (size_t)nv->n_outputs; at++) {
    max_g = fmax(max_g, fabs(g[at]));
    max_h = fmax(max_h, h[at]);
  }
  double reg = p->sampling_method == GBT_SAMPLE_MVS ? nv->size_reg : 0.0;
  if (reg < 0.0) reg = max_h > 0.0 ? (max_g / max_h) * (max_g / max_h) : 0.0;
  const gbt_size_scale scale = gbt_size_scale_from(max_g, max_h, reg, nv->n_outputs);
  for (size_t r = 0; r < n; r++) {
    double square = 0.0;
    for (size_t at = r; at < n * (size_t)nv->n_outputs; at += n) square += gbt_size_square(&scale, g[at], h[at]);
    size[r] = sorted[r] = gbt_size_of(&scale, square);
  }
  qsort(sorted, n, sizeof *sorted, down);
  const double mu = p->subsample < 1.0 ? find_mu(sorted, nv->n, p->subsample * (double)nv->n) : 0.0;
  const double share = floor(find_border(sorted, nv->n, p->top_rate * (double)nv->n, &border) * 4294967296.0);
  const double chance = fmin(1.0, p->other_rate / (1.0 - p->top_rate));
  for (size_t r = 0; r < n; r++) {
    const double hash = gbt_hash32(draw, r), at_border = gbt_hash32(tie, r);
    const uint32_t low = lowest(size[r]);
    if (p->sampling_method == GBT_SAMPLE_BAYESIAN) {
      const gbt_sample_rule rule = {.kind = GBT_SAMPLE_BAYESIAN, .power = p->bagging_temperature};
      nv->factor[r] = gbt_sample_factor(&rule, draw, tie, r, 0);
    } else if (p->sampling_method == GBT_SAMPLE_MVS) {
      const int drawn = hash * (mu / 4294967296.0) < (double)size[r];
      nv->factor[r] = (double)size[r] >= mu ? 1.0f : drawn ? (float)(mu / (double)size[r]) : 0.0f;
    } else if (low > border || (low == border && at_border < share)) {
      nv->factor[r] = 1.0f;
    } else {
      nv->factor[r] = hash < floor(chance * 4294967296.0) ? (float)(1.0 / chance) : 0.0f;
    }
  }
  free(size), free(sorted);
}

int naive_draws(const naive *nv, int64_t row) {
  const gbt_key32 key = gbt_key((uint64_t)nv->p->seed, GBT_FOR_ROWS, nv->tree, 0);
  const double u = (double)gbt_hash32(key, (uint64_t)row) / 4294967296.0;
  double share = nv->p->subsample;
  if (nv->factor != NULL) return nv->factor[row] > 0.0f;
  if (nv->spec->class_rate != NULL)
    share = nv->spec->class_rate[(int)nv->spec->train->rows.field[GBT_LABEL][row]];
  return share == 1.0 || u < floor(share * 4294967296.0) / 4294967296.0;
}
