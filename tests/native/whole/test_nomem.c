/* Memory that runs out anywhere between a table and its predictions: an error, nothing left behind, no harm done. */
#include "datasets.h"
#include "fault.h"
#include "trained.h"

#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/schema/schema_impl.h"

/* Everything that has to be released again. */
typedef struct things {
  gbt_dataset *train, *valid;
  gbt_trainer *trainer;
  uint8_t *bytes;
  gbt_model *model;
  gbt_binding *binding;
  gbt_ctx ctx;
} things;

typedef struct story {
  const made *data, *valid;
  train_job job;
  int n_threads;
  double *score; /* of the last run that came through */
} story;

static gbt_status fill_set(gbt_ctx *ctx, gbt_dataset *ds, const made *m, gbt_error *err) {
  GBT_TRY(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, m->table.n_rows, err));
  GBT_TRY(gbt_dataset_set(ctx, ds, GBT_WEIGHT, m->weight, m->table.n_rows, err));
  return gbt_dataset_set(ctx, ds, GBT_OFFSET, m->offset, m->table.n_rows * m->n_offset, err);
}

static gbt_status make_sets(const story *s, things *t, gbt_error *err) {
  GBT_TRY(dataset_from(&t->ctx, &s->data->table, NULL, s->data->weight, 16, 100, GBT_UNSEEN_MISSING, &t->train, err));
  GBT_TRY(dataset_from(&t->ctx, &s->valid->table, t->train->cuts, NULL, 16, 100, GBT_UNSEEN_MISSING, &t->valid, err));
  GBT_TRY(fill_set(&t->ctx, t->train, s->data, err));
  return fill_set(&t->ctx, t->valid, s->valid, err);
}

static gbt_status run_all(const story *s, things *t, gbt_error *err) {
  gbt_trainer_spec spec = s->job.spec;
  gbt_stop_reason why;
  spec.train = t->train;
  spec.valid[0] = t->valid;
  GBT_TRY(gbt_trainer_new(&t->ctx, &spec, &t->trainer, err));
  gbt_status status = gbt_trainer_run(&t->ctx, t->trainer, 3, &why, err);
  int64_t rounds = gbt_trainer_rounds(t->trainer);
  const int64_t outputs = spec.params.multi_strategy ? 1 : spec.objective.n_outputs;
  CHECK_EQ_I64(gbt_trainer_forest(t->trainer)->n_trees, rounds * outputs * spec.params.num_parallel_tree);
  CHECK(status != GBT_OK || rounds == 3);
  if (status == GBT_OK && spec.params.leaf_model == GBT_LEAF_LINEAR)
    CHECK(gbt_trainer_forest(t->trainer)->linear->n_leaves > 0);
  return status;
}

static gbt_status use_model(const story *s, things *t, gbt_error *err) {
  static const double loss = 2.0;
  const gbt_meta meta = {.name = "loss", .kind = GBT_META_DOUBLE, .n = 1, .num = &loss};
  gbt_model_parts parts = {gbt_forest_view_of(gbt_trainer_forest(t->trainer)), s->job.spec.objective,
                           t->train->cuts->schema, &meta, 1};
  size_t n_bytes = 0;
  GBT_TRY(gbt_model_write(&t->ctx.mem, &parts, &t->bytes, &n_bytes, err));
  GBT_TRY(gbt_model_open(&t->ctx.mem, t->bytes, n_bytes, &t->model, err));
  GBT_TRY(gbt_binding_new(&t->ctx, &s->data->table, t->model->schema, GBT_UNSEEN_MISSING, &t->binding, err));
  gbt_tree_range all = {0, t->model->parts.forest.n_trees};
  size_t cells = (size_t)(s->data->table.n_rows * s->job.spec.objective.n_outputs);
  GBT_TRY(gbt_predict_scores(&t->ctx, &t->model->parts.forest, t->binding, all, s->data->offset, s->score, err));
  const double *scores;
  GBT_TRY(gbt_trainer_scores(&t->ctx, t->trainer, 0, &scores, err));
  CHECK_EQ_BYTES(s->score, scores, cells * sizeof *s->score);
  return GBT_OK;
}

static gbt_status from_table_to_predictions(const gbt_mem *mem, void *arg, gbt_error *err) {
  const story *s = arg;
  things t = {.train = NULL};
  gbt_status status = gbt_ctx_open(&t.ctx, *mem, s->n_threads, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = make_sets(s, &t, err);
  if (status == GBT_OK) status = run_all(s, &t, err);
  if (status == GBT_OK) status = use_model(s, &t, err);
  gbt_binding_free(t.binding);
  gbt_model_close(t.model);
  gbt_mem_free(mem, t.bytes);
  gbt_trainer_free(t.trainer);
  gbt_dataset_unref(t.valid);
  gbt_dataset_unref(t.train);
  gbt_ctx_close(&t.ctx);
  return status;
}

enum { APART, PROJECTED, TOGETHER }; /* how classes share their splits */

/* Three rounds with everything that takes memory: classes, sampling, sets of levels, constraints, metrics. */
static void sweep_of(gbt_objective_kind loss, int policy, int boosting, int shared, int leaf_model, int n_threads,
                     int32_t n_cols, const made_kind *kinds, int64_t n_rows) {
  const int8_t monotone[32] = {1, -1};
  const int32_t beg[] = {0, 2, 6}, feat[] = {0, 1, 1, 2, 3, 4};
  const int32_t n_outputs = loss == GBT_OBJ_SOFTMAX ? 2 : 1;
  double weight[32];
  for (int i = 0; i < 32; i++) weight[i] = 1.0 + i;
  made *data = made_new(1, n_rows, n_cols, kinds), *valid = made_new(2, 20, n_cols, kinds);
  for (int i = 0; i < 2; i++) {
    made_response(i ? valid : data, loss, n_outputs, 3);
    made_weights(i ? valid : data, 4);
    made_offset(i ? valid : data, n_outputs, 5);
  }
  for (int64_t r = 0; r < n_rows && leaf_model == GBT_LEAF_LINEAR; r++)
    data->label[r] += 10.0 * ((const double *)data->table.cols[0].values)[r];
  story s = {.data = data, .valid = valid, .job = job_make(data, loss, n_outputs, 3), .n_threads = n_threads};
  gbt_trainer_spec *spec = &s.job.spec;
  spec->n_valid = spec->n_metrics = 1;
  spec->metric[0] = gbt_metric_plain(gbt_metric_of_objective(loss));
  if (loss == GBT_OBJ_SOFTMAX) spec->monotone = monotone;
  spec->feature_weight = weight;
  spec->interact_beg = beg;
  spec->interact_col = feat;
  spec->n_interact = 2;
  spec->params.grow_policy = policy;
  spec->params.boosting = boosting;
  spec->params.multi_strategy = shared != APART;
  spec->params.sketch = shared == TOGETHER ? GBT_SKETCH_NONE : GBT_SKETCH_AUTO;
  spec->params.leaf_model = leaf_model;
  if (policy == GBT_DEPTHWISE)
    spec->params.colsample_bynode = 0.8; /* best-first looks ahead only without */
  else
    spec->params.colsample_bylevel = 0.8;
  spec->params.subsample = 0.8;
  spec->params.min_child_weight = 0.1;
  spec->params.min_data_in_leaf = 2;
  spec->params.min_data_per_group = 3;
  s.score = test_alloc((size_t)n_rows * 2 * sizeof *s.score);
  int64_t n = fault_sweep(from_table_to_predictions, &s);
  test_note("%" PRId64 " allocations", n);
  CHECK(n > 150);
  free(s.score);
  made_free(data);
  made_free(valid);
}

static void sweep(gbt_objective_kind loss, int policy, int boosting, int n_threads, int32_t n_cols,
                  const made_kind *kinds, int64_t n_rows) {
  sweep_of(loss, policy, boosting, APART, GBT_LEAF_CONSTANT, n_threads, n_cols, kinds, n_rows);
}

static void every_allocation_may_fail(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep(GBT_OBJ_SOFTMAX, GBT_DEPTHWISE, GBT_BOOSTING_PLAIN, 1, 6, kinds, 80);
}

static void every_allocation_may_fail_with_threads(void) {
  made_kind kinds[16] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED};
  for (int c = 5; c < 16; c++) kinds[c] = MADE_ZEROS;
  sweep(GBT_OBJ_SOFTMAX, GBT_DEPTHWISE, GBT_BOOSTING_PLAIN, 2, 16, kinds, 300);
}

static void every_allocation_may_fail_for_symmetric_trees(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep(GBT_OBJ_SOFTMAX, GBT_SYMMETRIC, GBT_BOOSTING_PLAIN, 1, 6, kinds, 80);
}

static void every_allocation_may_fail_while_looking_ahead(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep(GBT_OBJ_SOFTMAX, GBT_LOSSGUIDE, GBT_BOOSTING_PLAIN, 1, 6, kinds, 120);
}

static void every_allocation_may_fail_for_quantiles(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep(GBT_OBJ_MAPE, GBT_DEPTHWISE, GBT_BOOSTING_PLAIN, 1, 6, kinds, 80);
}

static void every_allocation_may_fail_for_ordered_boosting(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep(GBT_OBJ_SOFTMAX, GBT_DEPTHWISE, GBT_BOOSTING_ORDERED, 1, 6, kinds, 30);
}

static void every_allocation_may_fail_for_shared_splits(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FACTOR, MADE_ORDERED, MADE_FEW};
  sweep_of(GBT_OBJ_SOFTMAX, GBT_SYMMETRIC, GBT_BOOSTING_PLAIN, PROJECTED, GBT_LEAF_CONSTANT, 1, 6, kinds, 60);
  sweep_of(GBT_OBJ_SOFTMAX, GBT_SYMMETRIC, GBT_BOOSTING_ORDERED, PROJECTED, GBT_LEAF_CONSTANT, 1, 6, kinds, 30);
  sweep_of(GBT_OBJ_SOFTMAX, GBT_SYMMETRIC, GBT_BOOSTING_PLAIN, TOGETHER, GBT_LEAF_CONSTANT, 2, 6, kinds, 60);
  sweep_of(GBT_OBJ_SOFTMAX, GBT_SYMMETRIC, GBT_BOOSTING_ORDERED, TOGETHER, GBT_LEAF_CONSTANT, 1, 6, kinds, 30);
  sweep_of(GBT_OBJ_SOFTMAX, GBT_DEPTHWISE, GBT_BOOSTING_PLAIN, TOGETHER, GBT_LEAF_CONSTANT, 2, 6, kinds, 60);
}

static void every_allocation_may_fail_for_linear_leaves(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_BELL, MADE_ORDERED, MADE_FEW};
  sweep_of(GBT_OBJ_SQUARED_ERROR, GBT_LOSSGUIDE, GBT_BOOSTING_PLAIN, APART, GBT_LEAF_LINEAR, 2, 6, kinds, 200);
}

void suite_nomem(void) {
  RUN(every_allocation_may_fail);
  RUN(every_allocation_may_fail_with_threads);
  RUN(every_allocation_may_fail_for_symmetric_trees);
  RUN(every_allocation_may_fail_for_shared_splits);
  RUN(every_allocation_may_fail_while_looking_ahead);
  RUN(every_allocation_may_fail_for_quantiles);
  RUN(every_allocation_may_fail_for_ordered_boosting);
  RUN(every_allocation_may_fail_for_linear_leaves);
}
