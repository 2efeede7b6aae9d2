/* Whole trainings on the device: the bytes that the CPU gives, whatever the data, parameters and constraints. */
#include "cuda_steps.h"
#include "random_job.h"

enum { GRID = 260 };

/* Which kinds of training the grid held. */
typedef struct grid_seen {
  int64_t losses[GBT_N_OBJECTIVES], policies[3];
  int64_t contests, one_cut, weights, constraints, interactions, sampled_rows, sampled_features, counted, wide, valid;
  int64_t sparse, bundles, sets, splits;
} grid_seen;

static void see(grid_seen *seen, const random_job *r, const trained *t) {
  const gbt_trainer_spec *spec = &r->job.spec;
  const gbt_params *p = &spec->params;
  seen->losses[spec->objective.kind]++;
  seen->policies[p->grow_policy]++;
  seen->contests += p->random_strength > 0.0;
  seen->one_cut += p->extra_trees != 0;
  seen->weights += r->data->weight != NULL;
  seen->constraints += spec->monotone != NULL || p->max_delta_step > 0.0;
  seen->interactions += spec->n_interact > 0;
  seen->sampled_rows += p->subsample < 1.0;
  seen->sampled_features += p->colsample_bytree < 1.0 || p->colsample_bylevel < 1.0 || p->colsample_bynode < 1.0;
  seen->counted += p->min_data_in_leaf > 1;
  seen->wide += p->grad_bits == GBT_GRAD_32;
  seen->valid += spec->n_valid > 0;
  seen->sparse += t->n_sparse > 0;
  seen->bundles += t->n_bundles > 0;
  seen->sets += (int64_t)t->forest->n_words;
  seen->splits += (int64_t)t->forest->n_nodes / 2;
}

static int equal_on_device(uint64_t seed, int64_t rows, grid_seen *seen) {
  random_job r = random_job_make(seed, rows);
  train_how device = r.how;
  device.device = seed % 2 ? gbt_cuda_api() : cuda_steps_api(); /* on a GPU most of these data are small */
  if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
  trained *cpu = train(&r.job, &r.how), *cuda = train(&r.job, &device);
  int ok = cpu != NULL && cuda != NULL && same_trained(cpu, cuda);
  if (cpu != NULL && seen != NULL) see(seen, &r, cpu);
  if (!CHECK(ok)) random_job_tell(&r, seed);
  trained_free(cpu);
  trained_free(cuda);
  random_job_free(&r);
  return ok;
}

static void random_trainings_are_those_of_the_cpu(void) {
  grid_seen seen;
  int bad = 0;
  memset(&seen, 0, sizeof seen);
  for (uint64_t seed = 1; seed <= test_cases(GRID) && bad < 3; seed++) bad += !equal_on_device(seed, 400, &seen);
  test_note("losses %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 ", policies %" PRId64 " %" PRId64
            " %" PRId64,
            seen.losses[0], seen.losses[1], seen.losses[2], seen.losses[3], seen.losses[4], seen.policies[0],
            seen.policies[1], seen.policies[2]);
  test_note("%" PRId64 " splits, %" PRId64 " words of sets; %" PRId64 " with weights, %" PRId64 " constraints, %" PRId64
            " interactions, %" PRId64 " sampled rows, %" PRId64 " sampled features, %" PRId64 " counted, %" PRId64
            " wide, %" PRId64 " validated, %" PRId64 " sparse, %" PRId64 " bundled",
            seen.splits, seen.sets, seen.weights, seen.constraints, seen.interactions, seen.sampled_rows,
            seen.sampled_features, seen.counted, seen.wide, seen.valid, seen.sparse, seen.bundles);
  for (int l = 0; l < MADE_ROW_OBJECTIVES; l++) CHECK_SEEN(seen.losses[l] >= (l < 5 ? 15 : 1));
  for (int p = 0; p < 3; p++) CHECK_SEEN(seen.policies[p] >= 40);
  CHECK_SEEN(seen.splits > 2000 && seen.sets > 200 && seen.weights > 30 && seen.constraints > 30 &&
             seen.interactions > 30);
  CHECK_SEEN(seen.sampled_rows > 30 && seen.sampled_features > 30 && seen.counted > 30 && seen.wide > 30);
  CHECK_SEEN(seen.contests > 30 && seen.one_cut > 30 && seen.valid > 30 && seen.sparse > 5 && seen.bundles > 5);
}

/* More rows than a block of any kernel takes. */
static void larger_trainings_are_those_of_the_cpu(void) {
  for (uint64_t seed = 900; seed < 900 + test_cases(4); seed++)
    if (!equal_on_device(seed, 6000, NULL)) return;
}

/* Leaves that are quantiles: nodes that keep their value above nodes that are split, constraints of every kind. */
static void quantiles_are_those_of_the_cpu(void) {
  static const gbt_objective_kind losses[] = {GBT_OBJ_QUANTILE, GBT_OBJ_ABSOLUTE_ERROR, GBT_OBJ_MAPE};
  static const int8_t signs[][4] = {{0, 0, 0, 0}, {1, -1, 0, 0}, {-1, 1, 1, -1}};
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_BELL, MADE_FEW};
  for (int i = 0; i < 36; i += test_few() ? 5 : 1) {
    made *m = made_new((uint64_t)i + 1, 300 + 40 * i, 4, kinds);
    made_response(m, losses[i % 3], 1, (uint64_t)i + 9);
    if (i % 2) made_weights(m, 5);
    train_job job = job_make(m, losses[i % 3], 1, 2);
    job.spec.params.grow_policy = (i + 2) / 3 % 3;
    job.spec.params.max_depth = 5 + i % 2;
    job.spec.params.min_child_weight = i % 4;
    job.spec.params.subsample = i % 5 == 0 ? 0.7 : 1.0;
    job.spec.monotone = i / 12 > 0 ? signs[i / 12] : NULL;
    trained *cpu = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    trained *cuda = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, gbt_cuda_api()});
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) test_note("case %d", i);
    trained_free(cpu);
    trained_free(cuda);
    made_free(m);
  }
}

/* A factor of more levels than have a bin, and its level counts. */
static void levels_without_a_bin_are_those_of_the_cpu(void) {
  made *m = made_levels(3, 106000, 70000);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  made_counts(m);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
  job.spec.params.max_depth = 3;
  job.spec.params.min_data_per_group = 1;
  job.spec.params.cat_smooth = 0.0;
  trained *cpu = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  trained *cuda = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, gbt_cuda_api()});
  CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  trained_free(cpu);
  trained_free(cuda);
  made_free(m);
}

/* Scores of the training set that the host gives in every round: batches, small trees and recorded ones. */
static void ordered_trainings_are_those_of_the_cpu(void) {
  for (uint64_t seed = 1; seed <= test_cases(60); seed++) {
    random_job r = random_job_make(seed, 300);
    train_how device = r.how;
    device.device = seed % 2 ? gbt_cuda_api() : cuda_steps_api();
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
    random_job_order(&r);
    if (r.job.spec.objective.kind != GBT_OBJ_CUSTOM) {
      trained *cpu = train(&r.job, &r.how), *cuda = train(&r.job, &device);
      if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) random_job_tell(&r, seed);
      trained_free(cpu);
      trained_free(cuda);
    }
    random_job_free(&r);
  }
}

void suite_cuda_train(void) {
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(ordered_trainings_are_those_of_the_cpu);
  RUN(larger_trainings_are_those_of_the_cpu);
  RUN(quantiles_are_those_of_the_cpu);
  RUN(levels_without_a_bin_are_those_of_the_cpu);
}
