#include "time_job.h"

#include <math.h>

#include "../../../src/gbt/boost/trainer.h"
#include "../../../src/gbt/boost/trainer_impl.h"
#include "../../../src/gbt/objective/aft.h"

time_job time_job_make(uint64_t seed, int dist, double scale, int64_t n_rows, double subsample) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_FACTOR};
  test_rng rng = {gbt_mix64(seed)};
  made *m = made_new(seed, n_rows, 4, kinds);
  time_job t = {.upper = test_alloc((size_t)n_rows * sizeof *t.upper)};
  m->label = test_alloc((size_t)n_rows * sizeof *m->label);
  for (int64_t i = 0; i < n_rows; i++) {
    const double time = exp(0.5 * m->signal[i] + 0.7 * test_bell(&rng));
    m->label[i] = t.upper[i] = time;
    switch (i == 0 ? 0 : test_below(&rng, 6)) {
    case 0: /* exact */
    case 1:
      break;
    case 2:
    case 3:
      t.upper[i] = INFINITY;
      break;
    case 4:
      m->label[i] = 0.0;
      break;
    default:
      t.upper[i] = time * 1.7;
    }
  }
  made_weights(m, seed + 1);
  t.job = job_make(m, GBT_OBJ_AFT, 1, 4);
  t.job.spec.objective.param[GBT_AFT_PARAM_DIST] = dist;
  t.job.spec.objective.param[GBT_AFT_PARAM_SCALE] = scale;
  t.job.spec.params.subsample = subsample;
  return t;
}

time_job hazard_job_make(uint64_t seed, int64_t n_rows, double subsample) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_FACTOR};
  static const double breaks[] = {0.2, 0.5, 1.0, 1.5, 4.0};
  test_rng rng = {gbt_mix64(seed)};
  made *m = made_new(seed, n_rows, 4, kinds);
  const size_t n = (size_t)n_rows;
  time_job t = {.event = test_alloc(n * sizeof *t.event), .entry = test_alloc(n * sizeof *t.entry)};
  m->label = test_alloc(n * sizeof *m->label);
  for (int64_t i = 0; i < n_rows; i++) {
    m->label[i] = exp(0.5 * m->signal[i] + 0.7 * test_bell(&rng));
    t.event[i] = i == 0 || test_below(&rng, 3) > 0;
    t.entry[i] = test_below(&rng, 4) == 0 ? 0.5 * m->label[i] : 0.0;
  }
  made_weights(m, seed + 1);
  t.job = job_make(m, GBT_OBJ_HAZARD, 5, 4);
  t.job.spec.objective.breaks = breaks;
  t.job.spec.params.subsample = subsample;
  return t;
}

time_job distribution_job_make(gbt_objective_kind kind, uint64_t seed, int64_t n_rows, double subsample) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_FACTOR};
  made *m = made_new(seed, n_rows, 4, kinds);
  time_job t = {.upper = NULL};
  made_response(m, kind, 2, seed);
  if (seed % 2 == 0) made_weights(m, seed + 1);
  if (seed % 3 == 0) made_offset(m, 2, seed + 2);
  t.job = job_make(m, kind, 2, 4);
  t.job.spec.params.subsample = subsample;
  return t;
}

void time_job_free(time_job *t) {
  made_free((made *)t->job.data);
  free(t->event);
  free(t->entry);
  free(t->upper);
}

static int set_field(gbt_ctx *ctx, gbt_dataset *ds, gbt_field field, const double *value) {
  return value == NULL || CHECK_OK(gbt_dataset_set(ctx, ds, field, value, ds->rows.n, test_err));
}

gbt_forest *time_job_train(const time_job *t, const train_how *how, double *scale) {
  gbt_ctx ctx = test_ctx(NULL, how->threads);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_forest *out = NULL;
  gbt_stop_reason why;
  if (how->simd != GBT_SIMD_AUTO) ctx.simd = how->simd;
  int ok = job_open(&ctx, &t->job, how->page_rows, &spec);
  spec.device = how->device;
  ok = ok && set_field(&ctx, spec.train, GBT_UPPER, t->upper) && set_field(&ctx, spec.train, GBT_EVENT, t->event) &&
       set_field(&ctx, spec.train, GBT_ENTRY, t->entry);
  ok = ok && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) &&
       CHECK_OK(gbt_trainer_run(&ctx, tr, t->job.rounds, &why, test_err));
  if (ok) {
    const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    const gbt_mem mem = gbt_mem_default();
    *scale = gbt_trainer_objective(tr).param[GBT_AFT_PARAM_SCALE];
    ok = CHECK_OK(gbt_forest_new_like(&mem, &view, &out, test_err)) &&
         CHECK_OK(gbt_forest_append(out, &view, test_err));
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return out;
}
