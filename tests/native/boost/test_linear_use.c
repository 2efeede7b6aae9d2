/* What is done with linear leaves: means of models, checkpoints, other levels, identities, and what is refused. */
#include "checkpoint_job.h"
#include "random_job.h"

#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/base/file.h"
#include "../../src/gbt/boost/checkpoint.h"
#include "../../src/gbt/boost/ranks.h"
#include "../../src/gbt/cpu/cpu_open.h"
#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/tree/mean.h"
#include "../../src/gbt/tree/relevel.h"

enum { N_ROWS = 1000 };

/* Numbers with slopes, some of them missing, and a factor that changes one. */
static train_job factored_job(made **data, uint64_t seed) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS};
  *data = made_new(seed, N_ROWS, 3, kinds);
  made_response(*data, GBT_OBJ_SQUARED_ERROR, 1, seed);
  const gbt_column *col = (*data)->table.cols;
  for (int64_t r = 0; r < N_ROWS; r++)
    (*data)->label[r] = 0.3 * (*data)->label[r] + 4.0 * ((const double *)col[0].values)[r] +
                        5.0 * (((const int32_t *)col[2].values)[r] % 3);
  train_job job = job_make(*data, GBT_OBJ_SQUARED_ERROR, 1, 6);
  job.spec.params.leaf_model = GBT_LEAF_LINEAR;
  job.spec.params.max_depth = 3;
  job.spec.params.subsample = 0.7;
  return job;
}

static trained *train_seeded(train_job job, int64_t seed, int64_t rounds) {
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  job.spec.params.seed = seed;
  job.rounds = rounds;
  return train(&job, &how);
}

static void scores_of(gbt_ctx *ctx, const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees,
                      double *out) {
  CHECK_OK(gbt_predict_scores(ctx, view, binding, trees, NULL, out, test_err));
}

/* ---- means ---- */

/* Adds half of what tree t gives to every row. Returns how many rows have the smallest or largest value of a leaf. */
static int add_half(gbt_ctx *ctx, const gbt_forest *forest, uint64_t t, const gbt_binding *binding, double *sum) {
  static const double zero = 0.0;
  gbt_forest_view view = gbt_forest_view_of(forest);
  const gbt_tree_range tree = {t, t + 1};
  double one[N_ROWS];
  int32_t node[N_ROWS];
  int n_ends = 0;
  view.base = &zero;
  scores_of(ctx, &view, binding, tree, one);
  CHECK_OK(gbt_predict_leaves(ctx, &view, binding, tree, node, test_err));
  for (int r = 0; r < N_ROWS; r++) {
    const uint32_t of = view.linear.of[view.trees[t].node_beg + (uint64_t)node[r]];
    const gbt_linear_leaf *leaf = of > 0 ? &view.linear.leaf[of - 1] : NULL;
    n_ends += leaf != NULL && (one[r] == leaf->low || one[r] == leaf->high);
    sum[r] += one[r] / 2.0;
  }
  return n_ends;
}

/* Halves are exact, so the mean of two is the sum of the halves of their trees, to the bit, round by round; rows of
 * other data, so that some are beyond the ranges of leaves. */
static void a_mean_has_half_of_each_tree(void) {
  made *data, *other;
  const train_job job = factored_job(&data, 31);
  factored_job(&other, 32);
  trained *member[2] = {train_seeded(job, 1, 4), train_seeded(job, 2, 6)};
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *cuts = NULL;
  gbt_binding *binding = NULL;
  gbt_forest *mean = NULL;
  int n_ends = 0;
  for (int64_t r = 0; r < N_ROWS; r += 3) ((double *)other->table.cols[0].values)[r] *= 10.0;
  REQUIRE(member[0] != NULL && member[1] != NULL);
  REQUIRE_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err));
  REQUIRE_OK(gbt_binding_new(&ctx, &other->table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  const gbt_forest_view views[] = {gbt_forest_view_of(member[0]->forest), gbt_forest_view_of(member[1]->forest)};
  test_note("%d and %d linear leaves", (int)views[0].linear.n_leaves, (int)views[1].linear.n_leaves);
  CHECK(views[0].linear.n_leaves > 4 && views[1].linear.n_leaves > 4);
  if (CHECK_OK(gbt_forest_mean(&ctx.mem, views, 2, &mean, test_err))) {
    const gbt_forest_view its = gbt_forest_view_of(mean);
    double got[N_ROWS], want[N_ROWS];
    CHECK_EQ_U64(its.n_trees, 12);
    CHECK_EQ_U64(its.linear.n_leaves, views[0].linear.n_leaves + views[1].linear.n_leaves);
    for (int r = 0; r < N_ROWS; r++) want[r] = (views[0].base[0] + views[1].base[0]) / 2.0;
    for (uint64_t t = 0; t < 6; t++) {
      for (int m = 0; m < 2; m++)
        if (t < views[m].n_trees) n_ends += add_half(&ctx, member[m]->forest, t, binding, want);
      const gbt_tree_range first = {0, 2 * (t + 1)};
      scores_of(&ctx, &its, binding, first, got);
      CHECK_EQ_BYTES(got, want, sizeof got);
    }
  }
  CHECK(n_ends > 50);
  gbt_forest_free(mean);
  gbt_binding_free(binding);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  for (int m = 0; m < 2; m++) trained_free(member[m]);
  made_free(data);
  made_free(other);
}

/* ---- means of columns ---- */

/* Of all linear leaves: what they have at their means is their constant, but for the rounding of means to 2^-17. */
static int at_their_means(const gbt_forest_view *view) {
  for (uint64_t i = 0; i < view->n_nodes && view->linear.n_leaves > 0; i++) {
    if (view->linear.of[i] == 0) continue;
    const gbt_linear_leaf *leaf = &view->linear.leaf[view->linear.of[i] - 1];
    const double value = view->nodes[i].arg.value;
    double at = leaf->start, size = 0.0;
    for (uint32_t k = 0; k < leaf->n_terms; k++) {
      const gbt_linear_term *term = &view->linear.term[leaf->term_beg + k];
      at += term->slope * (double)term->mean / 65536.0;
      size += fabs(term->slope);
    }
    if (!CHECK(fabs(at - value) <= size / 131072.0 + 1e-13 * (fabs(leaf->start) + 16384.0 * size) + 1e-307)) {
      test_note("%.17g at the means, the constant is %.17g", at, value);
      return 0;
    }
  }
  return 1;
}

/* Reading a model relies on it (tree/check.c), whatever the size of the numbers, and in means of models. */
static void leaves_have_their_constants_at_their_means(void) {
  static const double scale[] = {1.0, 1e-12, 1e9, 1e100, 1e-150, 1e-290};
  const gbt_mem mem = gbt_mem_default();
  size_t n_leaves[6] = {0};
  for (uint64_t seed = 1; seed <= test_cases(500) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 400);
    r.how.device = NULL;
    const int is_linear = random_job_linear(&r, seed);
    const int by = r.job.spec.objective.kind == GBT_OBJ_SQUARED_ERROR ? (int)(seed % 6) : 0;
    for (int64_t i = 0; i < r.data->table.n_rows; i++) r.data->label[i] *= scale[by];
    trained *t = is_linear ? train(&r.job, &r.how) : NULL;
    if (t != NULL) {
      const gbt_forest_view view = gbt_forest_view_of(t->forest), views[3] = {view, view, view};
      gbt_forest *mean = NULL;
      n_leaves[by] += view.linear.n_leaves;
      int ok = at_their_means(&view);
      if (CHECK_OK(gbt_forest_mean(&mem, views, 3, &mean, test_err))) {
        const gbt_forest_view its = gbt_forest_view_of(mean);
        ok = ok && at_their_means(&its);
      }
      if (!ok) random_job_tell(&r, seed);
      gbt_forest_free(mean);
    }
    trained_free(t);
    random_job_free(&r);
  }
  for (int by = 0; by < 6; by++) test_note("labels times %g: %zu linear leaves", scale[by], n_leaves[by]);
  CHECK_SEEN(n_leaves[0] > 100 && n_leaves[1] + n_leaves[2] > 0);
}

/* ---- checkpoints ---- */

static void resumed_trainings_are_those_that_ran_through(void) {
  made *data;
  const train_job job = factored_job(&data, 33);
  const char *path = part_path();
  const part_place through = {.threads = 2, .last = 6};
  part_outcome whole, resumed;
  REQUIRE(part_run(&job, &through, &whole));
  CHECK(whole.forest->linear->n_leaves > 4);
  for (int64_t stop = 0; stop <= 6; stop += 2) {
    const part_place first = {.threads = 1, .page_rows = 100, .to = path, .last = stop};
    const part_place rest = {.threads = 3, .from = path, .last = 6};
    if (!part_run(&job, &first, NULL) || !part_run(&job, &rest, &resumed)) break;
    CHECK(part_outcomes_same(&whole, &resumed));
    part_outcome_free(&resumed);
  }
  gbt_file_remove(path);
  part_outcome_free(&whole);
  made_free(data);
}

/* ---- identities ---- */

static void identities(gbt_ctx *ctx, const gbt_trainer_spec *spec, uint64_t id[2]) {
  id[0] = gbt_ranks_mix_spec(spec);
  CHECK_OK(gbti_training_identity(ctx, spec, spec->init, &id[1], test_err));
}

/* Another slope, range or place of a linear leaf of the initial model is another training. */
static void linear_leaves_are_part_of_the_identity(void) {
  made *data;
  const train_job job = factored_job(&data, 34);
  trained *t = train_seeded(job, 1, 2);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer_spec spec;
  REQUIRE(t != NULL);
  const gbt_forest_view view = gbt_forest_view_of(t->forest);
  gbt_linear_store *linear = t->forest->linear;
  uint64_t before[2], id[2];
  if (job_open(&ctx, &job, 0, &spec)) {
    spec.checkpoints = 1;
    spec.init = &view;
    identities(&ctx, &spec, before);
    for (int change = 0; change < 3; change++) {
      if (change == 0) linear->term[0].slope += 1.0;
      if (change == 1) linear->leaf[linear->n_leaves - 1].high += 1.0;
      if (change == 2) linear->of[0]++;
      identities(&ctx, &spec, id);
      CHECK(id[0] != before[0] && id[1] != before[1]);
      memcpy(before, id, sizeof id);
    }
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(data);
}

/* ---- other levels ---- */

/* The schema with the levels of its factor backwards, and one more. */
static gbt_schema *other_levels(const gbt_ctx *ctx, const gbt_schema *schema) {
  gbt_schema_column col[3];
  const char *level[64];
  gbt_schema *out = NULL;
  for (int c = 0; c < 3; c++) col[c] = schema->col[c];
  const int32_t n = col[2].n_levels;
  if (!CHECK(n > 3 && n < 64)) return NULL;
  for (int32_t i = 0; i < n; i++) level[i] = schema->col[2].levels[n - 1 - i];
  level[n] = "another";
  col[2].levels = level;
  col[2].n_levels = n + 1;
  CHECK_OK(gbt_schema_new(&ctx->mem, 3, col, &out, test_err));
  return out;
}

static void linear_leaves_stay_when_levels_change(void) {
  made *data;
  const train_job job = factored_job(&data, 35);
  trained *t = train_seeded(job, 1, 6);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *cuts = NULL;
  gbt_binding *old = NULL, *now = NULL;
  gbt_forest *moved = NULL;
  REQUIRE(t != NULL);
  REQUIRE_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err));
  gbt_schema *schema = other_levels(&ctx, cuts->schema);
  REQUIRE(schema != NULL);
  const gbt_forest_view from = gbt_forest_view_of(t->forest);
  if (CHECK_OK(gbt_forest_relevel(&ctx.mem, &from, cuts->schema, schema, &moved, test_err)) &&
      CHECK_OK(gbt_binding_new(&ctx, &data->table, cuts->schema, GBT_UNSEEN_PRIOR, &old, test_err)) &&
      CHECK_OK(gbt_binding_new(&ctx, &data->table, schema, GBT_UNSEEN_PRIOR, &now, test_err))) {
    const gbt_forest_view to = gbt_forest_view_of(moved);
    const gbt_tree_range all = {0, from.n_trees};
    double want[N_ROWS], got[N_ROWS];
    int n_sets = 0;
    for (uint64_t i = 0; i < from.n_nodes; i++)
      n_sets += from.nodes[i].left != 0 && (from.nodes[i].feat & GBT_NODE_CATEGORICAL) != 0;
    CHECK(n_sets > 0);
    CHECK(to.linear.n_leaves == from.linear.n_leaves && to.linear.n_leaves > 4);
    scores_of(&ctx, &from, old, all, want);
    scores_of(&ctx, &to, now, all, got);
    CHECK_EQ_BYTES(got, want, sizeof got);
  }
  gbt_forest_free(moved);
  gbt_binding_free(old);
  gbt_binding_free(now);
  gbt_schema_unref(schema);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(data);
}

/* ---- a device ---- */

/* A device that is the CPU: whatever grows the trees, they are fitted here. */
static gbt_status open_abacus(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                              gbt_error *err) {
  CHECK_EQ_I64(device, 0);
  CHECK_EQ_I64(spec->n_valid, 0);
  return gbt_cpu_open(ctx, spec, out, err);
}

static void a_device_only_grows(void) {
  static const gbt_device_api abacus = {.build = GBT_BUILD_ID, .name = "abacus", .open = open_abacus};
  size_t n_leaves = 0;
  for (uint64_t seed = 1; seed <= test_cases(200) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 400);
    r.how.device = NULL;
    if (random_job_linear(&r, seed)) {
      train_how how = r.how;
      how.device = &abacus;
      trained *own = train(&r.job, &r.how), *other = train(&r.job, &how);
      if (!CHECK(own != NULL && other != NULL && same_trained(own, other))) random_job_tell(&r, seed);
      if (own != NULL && own->forest->linear != NULL) n_leaves += own->forest->linear->n_leaves;
      trained_free(own);
      trained_free(other);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n_leaves > 50);
}

/* ---- refusals ---- */

static void refused_with(void (*spoil)(gbt_trainer_spec *spec), const char *part) {
  made *data;
  const train_job job = factored_job(&data, 25);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  if (job_open(&ctx, &job, 0, &spec)) {
    spoil(&spec);
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_UNSUPPORTED, part);
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  made_free(data);
}

static void spoil_monotone(gbt_trainer_spec *spec) {
  static const int8_t rises[] = {0, 1, 0};
  spec->monotone = rises;
}
static void spoil_alpha(gbt_trainer_spec *spec) { spec->params.alpha = 0.5; }
static void spoil_boosting(gbt_trainer_spec *spec) { spec->params.boosting = GBT_BOOSTING_ORDERED; }
static void spoil_shared(gbt_trainer_spec *spec) { spec->params.multi_strategy = 1; }
static void spoil_loss(gbt_trainer_spec *spec) { spec->objective = gbt_objective_make(GBT_OBJ_ABSOLUTE_ERROR, 1); }

static void what_linear_leaves_lack_is_refused(void) {
  refused_with(spoil_monotone, "monotone");
  refused_with(spoil_alpha, "`alpha = 0`");
  refused_with(spoil_boosting, "plain");
  refused_with(spoil_shared, "one_output_per_tree");
  refused_with(spoil_loss, "absolute_error");
}

void suite_linear_use(void) {
  RUN(a_device_only_grows);
  RUN(a_mean_has_half_of_each_tree);
  RUN(leaves_have_their_constants_at_their_means);
  RUN(resumed_trainings_are_those_that_ran_through);
  RUN(linear_leaves_are_part_of_the_identity);
  RUN(linear_leaves_stay_when_levels_change);
  RUN(what_linear_leaves_lack_is_refused);
}
