#include "query_job.h"

#include "../../../src/gbt/boost/trainer.h"
#include "../../../src/gbt/boost/trainer_impl.h"
#include "../../../src/gbt/joint/joint.h"

query_job query_job_make(uint64_t seed, gbt_objective_kind kind, int64_t n_rows, double subsample) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_FACTOR};
  test_rng rng = {gbt_mix64(seed)};
  made *m = made_new(seed, n_rows, 4, kinds);
  query_job q = {.group = test_alloc((size_t)n_rows * sizeof *q.group)};
  int64_t *to = test_permutation(&rng, n_rows);
  m->label = test_alloc((size_t)n_rows * sizeof *m->label);
  for (int64_t i = 0, left = 0, query = 0; i < n_rows; i++, left--) {
    if (left == 0) left = 1 + test_below(&rng, 40), query++;
    q.group[to[i]] = (double)query;
  }
  for (int64_t i = 0; i < n_rows; i++) {
    const double s = m->signal[i] + test_bell(&rng);
    m->label[i] = kind == GBT_OBJ_RANK_MAP ? s > 0.5 : s > 2.0 ? 3.0 : s > 1.0 ? 2.0 : s > 0.0;
  }
  free(to);
  q.job = job_make(m, kind, 1, 4);
  q.job.spec.objective = gbt_objective_make(kind, 1);
  q.job.spec.params.subsample = subsample;
  q.job.spec.params.min_child_weight = 0.0;
  return q;
}

void query_job_free(query_job *q) {
  made_free((made *)q->job.data);
  free(q->group);
}

/* A round by the host: joint gradients at the trainer's scores. */
static gbt_status host_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_joint *joint, uint64_t round) {
  const double *score, *g, *h;
  gbt_stop_reason why;
  GBT_TRY(gbt_trainer_scores(ctx, tr, 0, &score, test_err));
  GBT_TRY(gbt_joint_gradients(ctx, joint, round, score, &g, &h, test_err));
  GBT_TRY(gbt_trainer_set_gradients(ctx, tr, g, h, test_err));
  return gbt_trainer_run(ctx, tr, 1, &why, test_err);
}

static int run(gbt_ctx *ctx, const query_job *q, gbt_trainer *tr, gbt_joint *joint) {
  gbt_stop_reason why;
  if (joint == NULL) return CHECK_OK(gbt_trainer_run(ctx, tr, q->job.rounds, &why, test_err));
  for (int64_t i = 0; i < q->job.rounds; i++)
    if (!CHECK_OK(host_round(ctx, tr, joint, (uint64_t)i))) return 0;
  return 1;
}

gbt_forest *query_job_train(const query_job *q, const train_how *how, int by_host) {
  gbt_ctx ctx = test_ctx(NULL, how->threads);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_joint *joint = NULL;
  gbt_forest *out = NULL;
  const gbt_objective custom = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  if (how->simd != GBT_SIMD_AUTO) ctx.simd = how->simd;
  int ok = job_open(&ctx, &q->job, how->page_rows, &spec);
  spec.device = how->device;
  ok = ok && CHECK_OK(gbt_dataset_set(&ctx, spec.train, GBT_GROUP, q->group, spec.train->rows.n, test_err));
  if (ok && by_host) {
    ok =
        CHECK_OK(gbt_joint_new(&ctx, &spec.objective, &spec.train->rows, (uint64_t)spec.params.seed, &joint, test_err));
    spec.objective = custom;
  }
  ok = ok && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && run(&ctx, q, tr, joint);
  if (ok) {
    const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    const gbt_mem mem = gbt_mem_default();
    ok =
        CHECK_OK(gbt_forest_new_like(&mem, &view, &out, test_err)) && CHECK_OK(gbt_forest_append(out, &view, test_err));
  }
  gbt_trainer_free(tr);
  gbt_joint_free(joint);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return out;
}
