/* Responses of several columns: what becomes of each is what becomes of a response of this column alone, to the byte,
 * whatever the circumstances; levels that share splits; metrics of all columns; what is refused. */
#include "random_job.h"
#include "ranks_job.h"

#include "../../src/gbt/boost/metric.h"

enum { MOST_COLUMNS = 4 };

/* Makes the job one of K columns; 0: its objective takes one, or it has what columns would share. */
static int make_columns(random_job *r, int32_t K, uint64_t seed) {
  if (!random_job_columns(r, K, seed)) return 0;
  random_job_draw_evenly(r);
  r->job.spec.first_use_penalty = NULL; /* what one column's trees use is free for those of the others */
  return 1;
}

/* The trees, base score and scores of output k. */
static trained *output_of(const trained *all, int32_t k) {
  const gbt_mem mem = gbt_mem_default();
  trained *out = test_alloc(sizeof *out);
  gbt_forest_view view = gbt_forest_view_of(all->forest);
  const uint64_t per_round = gbt_trees_per_round(&view), P = (uint64_t)view.n_parallel;
  *out = (trained){.n_data = all->n_data, .rounds = all->rounds, .best_round = all->best_round, .why = all->why};
  gbt_forest_view shape = view;
  shape.n_outputs = 1;
  CHECK_OK(gbt_forest_new_like(&mem, &shape, &out->forest, test_err));
  for (uint64_t t = 0; t < view.n_trees; t++) {
    const gbt_tree_parts tree = gbt_tree_of(&view, t);
    if (t % per_round / P == (uint64_t)k) CHECK_OK(gbt_forest_add(out->forest, &tree, test_err));
  }
  out->forest->base[0] = view.base[k];
  for (int32_t s = 0; s < all->n_data; s++) {
    const size_t n = (size_t)all->n_rows[s];
    out->n_rows[s] = all->n_rows[s];
    out->score[s] = test_alloc(n * sizeof(double));
    memcpy(out->score[s], all->score[s] + (size_t)k * n, n * sizeof(double));
  }
  return out;
}

/* Output k of the job alone. */
static trained *train_column(const random_job *r, int32_t k, const train_how *how) {
  train_job job = r->job;
  made *data = made_column(job.data, k), *valid[JOB_VALID] = {NULL, NULL};
  job.data = data;
  for (int32_t s = 0; s < job.spec.n_valid; s++) job.valid[s] = valid[s] = made_column(job.valid[s], k);
  job.spec.objective.n_outputs = 1;
  trained *out = train(&job, how);
  made_free(data);
  for (int32_t s = 0; s < job.spec.n_valid; s++) made_free(valid[s]);
  return out;
}

static int as_alone(const random_job *r, int32_t K, int64_t *splits) {
  const train_how other = {3, 7, GBT_SIMD_SCALAR, NULL};
  trained *all = train(&r->job, &r->how), *again = train(&r->job, &other);
  int ok = CHECK(all != NULL && again != NULL) && same_trained(all, again);
  for (int32_t k = 0; ok && k < K; k++) {
    trained *its = output_of(all, k), *alone = train_column(r, k, &r->how);
    ok = same_trained(its, alone);
    if (!ok) test_note("column %d of %d", (int)k, (int)K);
    if (alone != NULL) *splits += (int64_t)(alone->forest->n_nodes / 2);
    trained_free(its);
    trained_free(alone);
  }
  for (int size = 2; ok && size <= 4; size += 2) ok = job_by_ranks(&r->job, all, size, (uint64_t)(size + K), 0);
  trained_free(all);
  trained_free(again);
  return ok;
}

static void columns_are_models_of_their_own(void) {
  int64_t seen[GBT_N_OBJECTIVES] = {0}, splits = 0;
  int bad = 0;
  for (uint64_t seed = 1; seed <= test_cases(300) && bad < 3; seed++) {
    random_job r = random_job_make(seed, 300);
    const int32_t K = 1 + (int32_t)(seed % MOST_COLUMNS);
    if (make_columns(&r, K, seed)) {
      const int ok = as_alone(&r, K, &splits);
      if (!ok) random_job_tell(&r, seed);
      bad += !ok;
      seen[r.job.spec.objective.kind]++;
    }
    random_job_free(&r);
  }
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    CHECK_SEEN(seen[kind] >= 3 || gbt_objective_info_of(kind)->outputs != GBT_OUTPUTS_COLUMNS);
  CHECK_SEEN(splits > 2000);
}

/* ---- shared splits ---- */

/* Models of columns against the naive ones; shared: with the splits of one tree for all. */
static int as_naive(const random_job *r, int shared) {
  const train_how other = {3, 7, GBT_SIMD_SCALAR, NULL};
  trained *a = train(&r->job, &r->how), *b = train_naively(&r->job), *c = train(&r->job, &other);
  int ok = CHECK(a != NULL && b != NULL && c != NULL) && same_trained(a, b) && same_trained(a, c);
  if (ok && shared) ok = CHECK_EQ_I64(a->forest->n_leaf_outputs, a->forest->n_outputs);
  if (ok) ok = job_by_ranks(&r->job, a, 3, 5, 0);
  trained_free(a);
  trained_free(b);
  trained_free(c);
  return ok;
}

static void share_splits(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  p->max_depth = 1 + (int64_t)(seed % 6);
  p->colsample_bynode = 1.0;
  random_job_by_nodes(r, seed);
  p->num_parallel_tree = 1;
  p->multi_strategy = 1;
  p->sketch = (int)(gbt_mix64(seed) % 3); /* auto: none of columns, a projection of levels */
}

static void trainings_are_the_naive_ones(void) {
  int bad = 0, n = 0;
  for (uint64_t seed = 1; seed <= test_cases(300) && bad < 3; seed++) {
    random_job r = random_job_make(seed, 300);
    const int shared = seed % 3 != 0;
    if (make_columns(&r, seed % 7 == 0 ? 9 : 2 + (int32_t)(seed % 4), seed)) {
      if (shared) share_splits(&r, seed);
      if (shared && r.job.spec.objective.n_outputs > 8) r.job.spec.params.sketch = GBT_SKETCH_AUTO; /* a projection */
      const int ok = as_naive(&r, shared);
      if (!ok) random_job_tell(&r, seed);
      bad += !ok;
      n++;
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 100);
}

static void levels_share_splits_as_the_naive_ones(void) {
  int bad = 0, n = 0;
  for (uint64_t seed = 1; seed <= test_cases(4000) && bad < 3; seed++) {
    random_job r = random_job_make(seed, 300);
    if (gbt_has_levels(&r.job.spec.objective) && r.job.spec.objective.n_outputs > 1) {
      share_splits(&r, seed);
      const int ok = as_naive(&r, 1);
      if (!ok) random_job_tell(&r, seed);
      bad += !ok;
      n++;
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 30);
}

/* A column times 1024 has the same splits, and its own values times 1024. */
static void sizes_of_columns_do_not_count(int sketch, int policy) {
  enum { ROWS = 400 };
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FACTOR};
  made *m = made_new(3, ROWS, 3, kinds);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, 3, 0, 5);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 3, 8);
  job.spec.params.multi_strategy = 1;
  job.spec.params.sketch = sketch;
  job.spec.params.grow_policy = policy;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  trained *a = train(&job, &how);
  for (int i = ROWS; i < 2 * ROWS; i++) m->label[i] *= 1024.0;
  trained *b = train(&job, &how);
  for (int i = 0; i < 3 * ROWS; i++)
    CHECK_EQ_BITS(b->score[0][i], a->score[0][i] * (i >= ROWS && i < 2 * ROWS ? 1024.0 : 1.0));
  trained_free(a);
  trained_free(b);
  made_free(m);
}

static void sizes_do_not_count(void) {
  for (int policy = GBT_DEPTHWISE; policy <= GBT_SYMMETRIC; policy++) {
    sizes_of_columns_do_not_count(GBT_SKETCH_PROJECTION, policy);
    sizes_of_columns_do_not_count(GBT_SKETCH_NONE, policy);
  }
}

/* Trees of several outputs whose gradients have different widths, over features that are kept by their entries: one
 * has a label far away, and its sums in histograms are not packed as those of the others are. */
static int widths_of_columns(int32_t far, gbt_policy_kind policy) {
  enum { ROWS = 4000, COLUMNS = 12, OUTPUTS = 3 };
  made_kind kinds[COLUMNS] = {[9] = MADE_BELL, [10] = MADE_FACTOR, [11] = MADE_HOLES};
  for (int c = 0; c < 9; c++) kinds[c] = MADE_ZEROS;
  made *m = made_new(3, ROWS, COLUMNS, kinds);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, OUTPUTS, 0, 6);
  m->label[far * ROWS + 7] = 1e6;
  made *sparse = made_sparse(m, 50);
  train_job job = job_make(sparse, GBT_OBJ_SQUARED_ERROR, OUTPUTS, 4);
  job.spec.params.multi_strategy = 1;
  job.spec.params.sketch = GBT_SKETCH_NONE;
  job.spec.params.grow_policy = policy;
  if (policy == GBT_LOSSGUIDE) job.spec.params.max_leaves = 63;
  const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, other = {3, 7, GBT_SIMD_SCALAR, NULL};
  trained *a = train(&job, &plain), *b = train_naively(&job), *c = train(&job, &other);
  int ok = CHECK(a != NULL && b != NULL && c != NULL);
  ok = ok && CHECK(a->n_sparse > 0 && a->forest->n_nodes > 20) && same_trained(a, b) && same_trained(a, c);
  trained_free(a), trained_free(b), trained_free(c);
  made_free(sparse);
  made_free(m);
  return ok;
}

static void columns_of_several_widths(void) {
  for (int policy = GBT_DEPTHWISE; policy <= GBT_SYMMETRIC; policy++)
    for (int32_t far = 0; far < 3; far++)
      if (!widths_of_columns(far, (gbt_policy_kind)policy)) test_note("policy %d, column %d", policy, (int)far + 1);
}

/* Histograms of all trees share the memory that is allowed (an assertion of cpu_hist_pool.c): where it is too little,
 * nodes lose theirs in all trees, and their children are built from rows. */
static void trees_share_the_memory_of_histograms(void) {
  enum { ROWS = 1000, COLUMNS = 12, OUTPUTS = 8 };
  made *m = made_new(4, ROWS, COLUMNS, (const made_kind[COLUMNS]){MADE_BELL, MADE_HOLES, MADE_FACTOR});
  made_columns(m, GBT_OBJ_SQUARED_ERROR, OUTPUTS, 0, 7);
  for (int how = 0; how < 6; how++) {
    const int policy = how / 2;
    if (test_few() && how % 2 != policy % 2) continue;
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, OUTPUTS, 2);
    gbt_params *p = &job.spec.params;
    job.max_bin = how % 2 ? 1000 : 255; /* as much as 16 nodes of all trees have together, or too much for that */
    p->multi_strategy = 1;
    p->grow_policy = policy;
    p->max_depth = policy == GBT_LOSSGUIDE ? 0 : 8;
    p->max_leaves = policy == GBT_LOSSGUIDE ? 120 : 0;
    p->min_data_in_leaf = 1 + how % 2;
    p->hist_memory = 1;
    trained *a = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL}), *b = train_naively(&job);
    p->hist_memory = 1024;
    trained *c = train(&job, &(train_how){3, 7, GBT_SIMD_SCALAR, NULL});
    int ok = CHECK(a != NULL && b != NULL && c != NULL) && CHECK(a->forest->n_nodes > 200);
    ok = ok && CHECK(a->n_slots * 16.0 * (how % 2 ? 16.0 : 60.0) > 1048576.0);
    ok = ok && same_trained(a, b) && same_trained(a, c);
    if (!ok) test_note("policy %d, %d bins", policy, (int)job.max_bin);
    trained_free(a), trained_free(b), trained_free(c);
  }
  made_free(m);
}

static train_job job_of_two(made *m, int32_t K, int policy) {
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, K, 6);
  job.spec.params.multi_strategy = K > 1;
  job.spec.params.grow_policy = policy;
  job.spec.params.max_cat_onehot = 65535; /* sets are in order along a random direction */
  job.spec.params.min_data_in_leaf = 2;
  if (policy == GBT_LOSSGUIDE) job.spec.params.max_leaves = 15;
  return job;
}

/* A model with a tree for both columns, whose numbers are given. */
static trained *train_two(made *m, int64_t n, const double *first, const double *second, int policy) {
  memcpy(m->label, first, (size_t)n * sizeof *first);
  memcpy(m->label + n, second, (size_t)n * sizeof *second);
  const train_job job = job_of_two(m, 2, policy);
  return train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL});
}

/* Columns the other way round have the same trees, and a column twice those that it has alone. */
static void columns_in_any_order(void) {
  enum { ROWS = 600 };
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FACTOR, MADE_ZEROS};
  double x[ROWS], y[ROWS];
  made *m = made_new(4, ROWS, 4, kinds);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, 2, 0, 6);
  memcpy(x, m->label, sizeof x);
  memcpy(y, m->label + ROWS, sizeof y);
  for (int policy = GBT_DEPTHWISE; policy <= GBT_SYMMETRIC; policy++) {
    trained *xy = train_two(m, ROWS, x, y, policy), *yx = train_two(m, ROWS, y, x, policy);
    trained *xx = train_two(m, ROWS, x, x, policy);
    made *one = made_column(m, 0);
    const train_job job = job_of_two(one, 1, policy);
    trained *alone = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    if (CHECK(xy != NULL && yx != NULL && xx != NULL && alone != NULL)) {
      CHECK_EQ_BYTES(xy->score[0], yx->score[0] + ROWS, sizeof x);
      CHECK_EQ_BYTES(xy->score[0] + ROWS, yx->score[0], sizeof x);
      CHECK_EQ_BYTES(xx->score[0], alone->score[0], sizeof x);
      CHECK_EQ_BYTES(xx->score[0] + ROWS, alone->score[0], sizeof x);
      CHECK_EQ_I64(xx->forest->n_nodes, alone->forest->n_nodes);
      CHECK(alone->forest->n_nodes > 50);
    }
    trained_free(xy), trained_free(yx), trained_free(xx), trained_free(alone);
    made_free(one);
  }
  made_free(m);
}

/* ---- metrics ---- */

static double value_of(const gbt_metric *metric, const gbt_objective *o, const gbt_rows *rows, const double *score) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  double out = 0.0;
  CHECK_OK(gbt_metric_eval(&ctx, metric, o, rows, NULL, score, &out, test_err));
  gbt_ctx_close(&ctx);
  return out;
}

/* A mean over rows is one over cells; others are means over columns. */
static void metrics_of_all_columns(void) {
  enum { N = 5, K = 2 };
  const double label[N * K] = {1, 2, 3, 4, 5, 0.5, -1, 2, 7, 7}, score[N * K] = {1, 1, 1, 6, 5, 0, 0, 0, 0, 9};
  const double weight[N * K] = {1, 2, 0, 1, 1, 1, 1, 1, 0, 0.5};
  const gbt_rows rows = {.n = N, .field = {[GBT_LABEL] = label, [GBT_WEIGHT] = weight},
                         .n_outputs = {[GBT_LABEL] = K, [GBT_WEIGHT] = K}};
  const gbt_objective o = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, K);
  gbt_metric rmse = gbt_metric_plain(GBT_METRIC_RMSE), r2 = gbt_metric_plain(GBT_METRIC_R2);
  double sum = 0.0, total = 0.0;
  for (int i = 0; i < N * K; i++) {
    sum += weight[i] * (label[i] - score[i]) * (label[i] - score[i]);
    total += weight[i];
  }
  CHECK_EQ_BITS(value_of(&rmse, &o, &rows, score), sqrt(sum / total));
  double each[K], r2_each[K];
  for (int32_t k = 0; k < K; k++) {
    const gbt_objective one = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
    const gbt_rows its = gbt_rows_of_output(&rows, k);
    gbt_metric plain = gbt_metric_plain(GBT_METRIC_RMSE);
    rmse.output = r2.output = k + 1;
    each[k] = value_of(&plain, &one, &its, score + k * N);
    CHECK_EQ_BITS(value_of(&rmse, &o, &rows, score), each[k]);
    r2_each[k] = value_of(&r2, &o, &rows, score);
  }
  r2.output = 0;
  CHECK_EQ_BITS(value_of(&r2, &o, &rows, score), (r2_each[0] + r2_each[1]) / 2.0);
  rmse.output = K + 1;
  CHECK_FAILS(gbt_metric_check(&rmse, &o, test_err), GBT_E_INTERNAL, "there is no column 3");
}

/* A column where every label is alike has no r2: the mean is that of the other one. */
static void metrics_that_a_column_lacks(void) {
  const double label[6] = {1, 2, 4, 3, 3, 3}, score[6] = {1, 2, 3, 1, 2, 3};
  const gbt_rows rows = {.n = 3, .field = {[GBT_LABEL] = label}, .n_outputs = {[GBT_LABEL] = 2}};
  const gbt_objective o = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 2);
  gbt_metric r2 = gbt_metric_plain(GBT_METRIC_R2), first = r2, second = r2;
  first.output = 1;
  second.output = 2;
  CHECK(isnan(value_of(&second, &o, &rows, score)));
  CHECK_EQ_BITS(value_of(&r2, &o, &rows, score), value_of(&first, &o, &rows, score));
}

/* ---- what is refused ---- */

static void other_numbers_of_columns(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FACTOR};
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer *tr = NULL;
  gbt_trainer_spec spec;
  made *m = made_new(1, 40, 2, kinds);
  made_columns(m, GBT_OBJ_SQUARED_ERROR, 3, 1, 5);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 2, 1);
  if (CHECK(job_open(&ctx, &job, 0, &spec))) {
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_DATA, "the label of the train data has 3 columns");
    CHECK_OK(gbt_dataset_set(&ctx, spec.train, GBT_LABEL, m->label, 80, test_err));
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_DATA, "the weights of the train data have 3");
    CHECK_OK(gbt_dataset_set(&ctx, spec.train, GBT_WEIGHT, NULL, 0, test_err));
    spec.params.boosting = GBT_BOOSTING_ORDERED;
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_UNSUPPORTED, "needs a response of one column");
    spec.params.boosting = 0;
    const uint8_t method[2] = {GBT_CAT_AUTO, GBT_CAT_TARGET};
    spec.cat_method = method;
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_UNSUPPORTED, "needs a response of one column");
    spec.cat_method = NULL;
    spec.objective.n_outputs = 1;
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_DATA, "has 2 columns; this objective needs 1");
  }
  job_close(&spec);
  made_free(m);
  gbt_ctx_close(&ctx);
}

void suite_columns(void) {
  RUN(columns_are_models_of_their_own);
  RUN(trainings_are_the_naive_ones);
  RUN(levels_share_splits_as_the_naive_ones);
  RUN(sizes_do_not_count);
  RUN(columns_of_several_widths);
  RUN(trees_share_the_memory_of_histograms);
  RUN(columns_in_any_order);
  RUN(metrics_of_all_columns);
  RUN(metrics_that_a_column_lacks);
  RUN(other_numbers_of_columns);
}
