/* Trees that share their splits, from the definition in boost/shared_splits.h: a naive training of one output grows the
 * structure. */
#include "../../src/gbt/boost/shared_splits.h"
#include "naive_impl.h"

struct naive_shared {
  gbt_trainer_spec spec; /* of the structure */
  naive nv;
  double *score; /* nobody reads it */
  double *g, *h; /* of the round */
};

static const naive_shared *asked; /* for a function that is given nothing of its own */

static void give(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g, double *h) {
  (void)score, (void)label, (void)n_outputs;
  memcpy(g, asked->g, (size_t)n * sizeof *g);
  memcpy(h, asked->h, (size_t)n * sizeof *h);
}

naive_shared *naive_shared_new(const gbt_trainer_spec *spec) {
  if (spec->params.multi_strategy == 0) return NULL;
  naive_shared *s = test_alloc(sizeof *s);
  const size_t n = (size_t)spec->train->rows.n;
  s->spec = *spec;
  s->spec.objective = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  s->spec.n_valid = 0;
  s->spec.monotone = NULL;
  s->score = test_alloc(n * sizeof *s->score);
  memset(s->score, 0, n * sizeof *s->score);
  s->g = test_alloc(n * sizeof *s->g);
  s->h = test_alloc(n * sizeof *s->h);
  s->nv = naive_open(&s->spec, &s->score);
  return s;
}

void naive_shared_free(naive_shared *s) {
  if (s == NULL) return;
  naive_close(&s->nv);
  free(s->score), free(s->g), free(s->h);
  free(s);
}

/* Normal deviates less their mean, as long as sqrt(K - 1). Where all are alike, 1 stands for the first, 0 for the
 * others. */
static void direction(const gbt_params *p, uint64_t round, int32_t K, double *u) {
  const gbt_key32 key = gbt_key((uint64_t)p->seed, GBT_FOR_CONTRAST, round, 0);
  double sum = 0.0, square = 0.0;
  int alike = 1;
  for (int32_t k = 0; k < K; k++) {
    u[k] = gbt_normal_of(gbt_hash32(key, (uint64_t)k));
    alike &= u[k] == u[0];
  }
  for (int32_t k = 0; k < K && alike; k++) u[k] = k == 0;
  for (int32_t k = 0; k < K; k++) sum += u[k];
  for (int32_t k = 0; k < K; k++) {
    u[k] -= sum / K;
    square += u[k] * u[k];
  }
  for (int32_t k = 0; k < K; k++) u[k] *= gbt_sqrt((K - 1) / square);
}

const naive *naive_shared_grow(naive_shared *s, const naive *nv, uint64_t round, uint64_t tree) {
  const int32_t K = nv->n_outputs;
  double *u = test_alloc((size_t)K * sizeof *u);
  direction(nv->p, round, K, u);
  for (int64_t r = 0; r < nv->n; r++) {
    const double own = u[(int32_t)nv->spec->train->rows.field[GBT_LABEL][r]];
    double top = -INFINITY, sum = 0.0, g = 0.0, h = 0.0;
    for (int32_t k = 0; k < K; k++) top = fmax(top, nv->start[k * nv->n + r]);
    for (int32_t k = 0; k < K; k++) {
      const double e = gbt_exp(nv->start[k * nv->n + r] - top);
      sum += e;
      g += e * (u[k] - own);
      h += e * (u[k] - own) * (u[k] - own);
    }
    s->g[r] = g / sum;
    s->h[r] = fmax(h / sum - s->g[r] * s->g[r], 0.0);
  }
  free(u);
  memcpy(s->nv.cost, nv->cost, (size_t)nv->n_feats * sizeof *nv->cost);
  s->nv.size_reg = nv->size_reg;
  asked = s;
  naive_gradients(&s->nv, round, give);
  s->nv.eta = nv->eta;
  naive_grow(&s->nv, 0, tree);
  return &s->nv;
}

void naive_shared_done(naive_shared *s) { naive_free_nodes(&s->nv); }
