#include "made_target.h"

static gbti_part a_part(gbti_part_kind kind, uint32_t from, uint32_t span) {
  gbti_part part = {.kind = kind, .from = from, .span = span, .most = 1, .scale = ONE_Y, .prior = ONE_Y / 3};
  if (kind == GBTI_PART_NUMBER) part.mask = UINT32_MAX, part.most = ONE_Y, part.scale = 1, part.prior = 123456;
  return part;
}

made_target make_target(uint64_t seed, int64_t n, int64_t n_ids, int32_t n_variants, tie tied, int weighted) {
  made_target m = {.n_ids = n_ids, .n_stats = MOST_STATS};
  test_rng rng = {seed};
  gbt_ctx ctx = test_ctx(NULL, 1);
  double *x = test_alloc((size_t)(n + 1) * sizeof *x);
  gbt_rows rows = {.n = n};
  for (int64_t i = 0; i < n; i++) x[i] = (double)test_below(&rng, n / 3 + 1);
  if (tied == BY_GROUP) rows.field[GBT_GROUP] = x;
  if (tied == BY_TIME) rows.field[GBT_TIME] = x;
  CHECK_OK(gbti_visit_make(&ctx, &rows, seed, n_variants, &m.visit, test_err));
  m.target.n = n;
  m.target.one = weighted ? 1000 : 256;
  m.target.n_parts = 3;
  m.target.part[0] = a_part(GBTI_PART_NUMBER, 0, 0);
  m.target.part[1] = a_part(GBTI_PART_CLASS, 77, 1);
  m.target.part[2] = a_part(GBTI_PART_ABOVE, 500000, GBTI_N_VALUES - 500000);
  m.target.label = test_alloc((size_t)(n + 1) * sizeof *m.target.label);
  m.target.weight = weighted ? test_alloc((size_t)(n + 1) * sizeof *m.target.weight) : NULL;
  m.id = test_alloc((size_t)(n + 1) * sizeof *m.id);
  for (int64_t i = 0; i < n; i++) {
    const int64_t a = test_below(&rng, n_ids), b = test_below(&rng, n_ids);
    m.id[i] = (uint32_t)(a < b ? a : b);
    m.target.label[i] = test_below(&rng, 3) == 0 ? 77 : (uint32_t)test_below(&rng, GBTI_N_VALUES);
    if (weighted) m.target.weight[i] = (uint32_t)(test_below(&rng, 9) == 0 ? 0 : test_below(&rng, 5000));
  }
  const int64_t weights[MOST_STATS] = {256, 2560, 1, 77, 5000, 256};
  const int32_t parts[MOST_STATS] = {0, 0, 1, 2, 2, 0};
  for (int32_t s = 0; s < MOST_STATS; s++)
    m.stat[s] = (gbti_statistic){parts[s], m.target.part[parts[s]].prior, weights[s]};
  free(x);
  gbt_ctx_close(&ctx);
  return m;
}

void target_free(made_target *m) {
  gbti_visit_free(&m->visit);
  free(m->target.label);
  free(m->target.weight);
  free(m->id);
}

gbti_ordered ask_of(const made_target *m) {
  return (gbti_ordered){&m->visit, &m->target, m->id, m->n_ids, m->stat, m->n_stats};
}
