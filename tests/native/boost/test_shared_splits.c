/* Trees that share their splits: trainings against the naive one, the same whatever the circumstances; any number of
 * classes and rows; what is refused. */
#include "../../src/gbt/base/parallel.h"
#include "../../src/gbt/boost/shared_splits.h"
#include "../../src/gbt/math/sampling.h"
#include "random_job.h"

enum { SEEDS = 1000 };

typedef struct seen {
  int64_t jobs, together, by_nodes, sampled, weights, monotone, contests, drawn_cuts, steps, splits, kept;
} seen;

/* Whether a round has one tree, whose leaves have a value for every class. */
static int is_joined(const trained *t) {
  return t->forest->n_leaf_outputs == t->forest->n_outputs && (int64_t)t->forest->n_trees == t->rounds;
}

static int as_naive(uint64_t seed, const random_job *r, seen *s) {
  const gbt_params *p = &r->job.spec.params;
  const train_how other = {3, 7, GBT_SIMD_SCALAR, NULL};
  trained *a = train(&r->job, &r->how), *b = train_naively(&r->job), *c = train(&r->job, &other);
  const int ok = CHECK(a != NULL && b != NULL && c != NULL && same_trained(a, b) && same_trained(a, c)) &&
                 CHECK(is_joined(a));
  if (!ok) random_job_tell(r, seed);
  s->jobs++;
  s->together += p->sketch == GBT_SKETCH_NONE;
  s->by_nodes += p->sketch == GBT_SKETCH_NONE && p->grow_policy != GBT_SYMMETRIC;
  s->drawn_cuts += p->extra_trees;
  s->sampled += p->subsample < 1.0 || p->sampling_method != GBT_SAMPLE_UNIFORM;
  s->weights += r->data->weight != NULL;
  s->monotone += r->monotone != NULL;
  s->contests += p->random_strength > 0.0;
  s->steps += p->leaf_iterations > 1;
  for (size_t i = 0; a != NULL && i < a->forest->n_nodes; i++) {
    s->splits += a->forest->nodes[i].left > 0;
    s->kept += a->forest->nodes[i].left > 0 && a->forest->gain[i] == 0.0;
  }
  trained_free(a);
  trained_free(b);
  trained_free(c);
  return ok;
}

static void trainings_are_the_naive_ones(void) {
  seen s;
  random_job r;
  int bad = 0;
  memset(&s, 0, sizeof s);
  for (uint64_t seed = 1; seed <= test_cases(SEEDS) && bad < 3; seed++) {
    r = random_job_make(seed, 300);
    r.job.spec.params.sketch = gbt_mix64(seed) % 2 ? GBT_SKETCH_NONE : GBT_SKETCH_AUTO; /* classes: a projection */
    if (random_job_share(&r, seed) && random_job_by_nodes(&r, seed)) bad += !as_naive(seed, &r, &s);
    random_job_free(&r);
  }
  test_note("%" PRId64 " jobs, %" PRId64 " by sums of gains, of them %" PRId64 " by nodes; %" PRId64
            " sampled, %" PRId64 " weighted, %" PRId64 " monotone, %" PRId64 " with noise, %" PRId64
            " with drawn cuts, %" PRId64 " of several steps; %" PRId64 " splits, %" PRId64 " kept",
            s.jobs, s.together, s.by_nodes, s.sampled, s.weights, s.monotone, s.contests, s.drawn_cuts, s.steps,
            s.splits, s.kept);
  CHECK_SEEN(s.jobs > 30 && s.together > 10 && s.jobs - s.together > 10 && s.sampled > 10 && s.weights > 5);
  CHECK_SEEN(s.by_nodes > 10 && s.monotone > 5 && s.contests > 5 && s.drawn_cuts > 5 && s.steps > 5);
  CHECK_SEEN(s.splits > 500 && s.kept > 100 && s.kept < s.splits);
}

static int as_naive_of(int64_t rows, int32_t K, int64_t rounds) {
  made *m = made_new((uint64_t)rows, rows, 4, NULL);
  made_response(m, GBT_OBJ_SOFTMAX, K, 5);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, K, rounds);
  job.spec.params.multi_strategy = 1;
  job.spec.params.max_depth = 3;
  job.spec.params.min_child_weight = 0.0;
  job.spec.params.random_strength = 1.0;
  int ok = 1;
  const int last = K <= 8 ? 5 : 2;
  for (int how = 0; ok && how <= last; how++) { /* policies, by projections and by sums */
    const int sketch = how < 3 ? GBT_SKETCH_AUTO : GBT_SKETCH_NONE;
    job.spec.params.sketch = sketch;
    job.spec.params.grow_policy = how % 3;
    job.spec.params.max_leaves = job.spec.params.grow_policy == GBT_LOSSGUIDE ? 6 : 0;
    trained *a = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}), *b = train_naively(&job);
    ok = CHECK(a != NULL && b != NULL && same_trained(a, b)) && ok;
    if (!ok) test_note("%" PRId64 " rows, %d classes, sketch %d, policy %d", rows, (int)K, sketch, how % 3);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
  return ok;
}

/* Batches of a device and tasks of rows end at powers of two, or at a number of classes' share of them. */
static void sizes_of_classes(void) {
  for (int32_t K = 2; K <= 70; K += K < 6 || K % 32 == 31 || K % 32 == 0 ? 1 : 31 - K % 32) as_naive_of(200, K, 2);
}

static void sizes_of_rows(void) {
  const int64_t task = gbt_task_rows(4096, 3);
  for (int64_t n = 1; n <= 40; n++) as_naive_of(n, 3, 2);
  for (int64_t at = 64; at <= 8192; at *= 2)
    for (int64_t n = at - 1; n <= at + 1; n++) as_naive_of(n, 2, 1);
  for (int64_t n = task - 1; n <= task + 1; n++) as_naive_of(n, 3, 1);
}

static void directions_are_contrasts(void) {
  double u[300], before = 0.0;
  for (int32_t K = 2; K <= 300; K += K < 70 ? 1 : 23)
    for (uint64_t round = 0; round < 20; round++) {
      double sum = 0.0, square = 0.0;
      gbti_contrast_direction(7, round, K, u);
      for (int32_t k = 0; k < K; k++) {
        sum += u[k];
        square += u[k] * u[k];
      }
      CHECK(fabs(sum) < 1e-12 * K && fabs(square - (K - 1)) < 1e-12 * K);
      if (K > 2) CHECK(u[0] != before); /* of two classes there is one contrast, and its opposite */
      before = u[0];
    }
}

/* Deviates that are all alike have no direction. */
static void alike_deviates_set_the_first_class_apart(void) {
  double u[70];
  for (int32_t K = 2; K <= 70; K++) {
    double sum = 0.0, square = 0.0;
    for (int32_t k = 0; k < K; k++) u[k] = 1.5;
    gbti_contrast_of(K, u);
    for (int32_t k = 0; k < K; k++) {
      sum += u[k];
      square += u[k] * u[k];
      CHECK(k == 0 ? u[k] > 0.0 : u[k] < 0.0 && u[k] == u[1]);
    }
    CHECK(fabs(sum) < 1e-12 * K && fabs(square - (K - 1)) < 1e-12 * K);
  }
}

static void refused(void) {
  for (int what = 0; what < 3; what++) {
    const gbt_objective objective =
        gbt_objective_make(what == 0 ? GBT_OBJ_LOGISTIC : GBT_OBJ_SOFTMAX, what == 0 ? 1 : what == 2 ? 9 : 3);
    gbt_params p = gbt_params_default();
    p.multi_strategy = 1;
    p.num_parallel_tree = what == 1 ? 2 : 1;
    p.sketch = what == 2 ? GBT_SKETCH_NONE : GBT_SKETCH_AUTO;
    CHECK_FAILS(gbt_shared_splits_check(&objective, &p, test_err), what == 0 ? GBT_E_ARG : GBT_E_UNSUPPORTED,
                what == 2 ? "up to 8 outputs, and there are 9" : "`multi_strategy = \"multi_output_tree\"`");
  }
}

void suite_shared_splits(void) {
  RUN(trainings_are_the_naive_ones);
  RUN(sizes_of_classes);
  RUN(sizes_of_rows);
  RUN(directions_are_contrasts);
  RUN(alike_deviates_set_the_first_class_apart);
  RUN(refused);
}
