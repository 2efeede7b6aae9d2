#include "random_job.h"

#include "../../src/gbt/math/sampling.h"
#include "../../src/gbt/objective/renewal.h"

/* One of the values. */
#define PICK(rng, ...) pick(rng, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static double pick(test_rng *rng, const double *values, size_t n) { return values[test_below(rng, (int64_t)n)]; }

static void draw_trees(test_rng *rng, gbt_params *p) {
  p->grow_policy = (int)test_below(rng, 3);
  p->max_depth = (int64_t)PICK(rng, 0, 1, 2, 3, 4, 6, 9);
  p->max_leaves = (int64_t)PICK(rng, 0, 0, 2, 3, 5, 8, 20);
  if (p->max_depth == 0 && p->grow_policy == GBT_SYMMETRIC) p->max_depth = 5;
  if (p->max_depth == 0 && p->max_leaves == 0) p->max_leaves = 12;
  p->eta = PICK(rng, 0.1, 0.3, 1.0);
  p->lambda = PICK(rng, 0.0, 1.0, 1.0, 5.0);
  p->alpha = PICK(rng, 0.0, 0.0, 0.5, 3.0);
  p->gamma = PICK(rng, 0.0, 0.0, 0.1, 2.0);
  p->min_child_weight = PICK(rng, 0.0, 0.0, 1.0, 4.0);
  p->min_data_in_leaf = (int64_t)PICK(rng, 1, 1, 1, 2, 10);
  p->max_delta_step = PICK(rng, 0.0, 0.0, 0.0, 0.3);
  p->max_cat_onehot = (int64_t)PICK(rng, 1, 4, 10, 100);
  p->cat_smooth = PICK(rng, 0.0, 2.0, 10.0);
  p->cat_noise = PICK(rng, 0.0, 1.0, 0.1);
  p->cat_l2 = PICK(rng, 0.0, 2.0, 10.0);
  p->max_cat_threshold = (int64_t)PICK(rng, 1, 3, 64);
  p->min_data_per_group = (int64_t)PICK(rng, 1, 5, 100);
}

static void draw_sampling(test_rng *rng, gbt_params *p) {
  p->subsample = PICK(rng, 1.0, 1.0, 0.7, 0.1);
  p->colsample_bytree = PICK(rng, 1.0, 1.0, 0.6);
  p->colsample_bylevel = PICK(rng, 1.0, 1.0, 0.6);
  p->colsample_bynode = PICK(rng, 1.0, 1.0, 0.4);
  if (p->grow_policy == GBT_SYMMETRIC) p->colsample_bynode = 1.0;
  p->num_parallel_tree = (int64_t)PICK(rng, 1, 1, 1, 2, 3);
  p->seed = test_below(rng, 1000);
  p->grad_bits = (int)test_below(rng, 3);
  p->hist_memory = (int64_t)PICK(rng, 1, 1024);
}

/* How features compete, in some of the jobs. */
static void draw_contest(test_rng *rng, random_job *r) {
  gbt_params *p = &r->job.spec.params;
  const int32_t n = r->data->table.n_cols;
  if (test_below(rng, 4) == 0) p->random_strength = PICK(rng, 0.3, 1.0, 1.0, 20.0, 1e6);
  if (test_below(rng, 5) == 0) p->extra_trees = 1;
  if (test_below(rng, 6) > 0) return;
  r->first_use = test_alloc((size_t)n * sizeof *r->first_use);
  for (int32_t f = 0; f < n; f++) r->first_use[f] = PICK(rng, 0.0, 0.5, 3.0, 1e5) * test_unit(rng);
  r->job.spec.first_use_penalty = r->first_use;
}

void job_sampling(gbt_params *p, int method) {
  const gbt_params usual = gbt_params_default();
  p->sampling_method = method;
  if (method != GBT_SAMPLE_GOSS) p->top_rate = usual.top_rate, p->other_rate = usual.other_rate;
  if (method != GBT_SAMPLE_MVS) p->mvs_reg = usual.mvs_reg;
  if (method != GBT_SAMPLE_BAYESIAN) p->bagging_temperature = usual.bagging_temperature;
}

/* Rows by their gradients or their classes, in some of the jobs that allow it. */
static void draw_rows(test_rng *rng, random_job *r) {
  gbt_trainer_spec *spec = &r->job.spec;
  gbt_params *p = &spec->params;
  const gbt_objective_info *info = gbt_objective_info_of(spec->objective.kind);
  const int method = (int)test_below(rng, 12);
  if (method >= 1 && method <= 3) {
    if (info->leaves == GBT_LEAVES_QUANTILE && method != GBT_SAMPLE_BAYESIAN) return;
    p->num_parallel_tree = 1;
    if (method != GBT_SAMPLE_MVS) p->subsample = 1.0;
    p->top_rate = PICK(rng, 0.2, 0.0, 0.5);
    p->other_rate = PICK(rng, 0.1, 0.5, 0.05);
    p->mvs_reg = PICK(rng, -1.0, 0.0, 0.1, 10.0);
    p->bagging_temperature = PICK(rng, 1.0, 0.0, 0.3, 4.0);
    job_sampling(p, method);
  }
  if (method != 4 || (info->labels != GBT_LABELS_BINARY && info->labels != GBT_LABELS_CLASS)) return;
  p->subsample = 1.0;
  spec->n_class_rates = info->labels == GBT_LABELS_BINARY ? 2 : spec->objective.n_outputs;
  r->class_rate = test_alloc((size_t)spec->n_class_rates * sizeof *r->class_rate);
  for (int32_t k = 0; k < spec->n_class_rates; k++) r->class_rate[k] = k == 0 ? 0.9 : PICK(rng, 0.0, 0.3, 1.0);
  spec->class_rate = r->class_rate;
}

static void draw_constraints(test_rng *rng, random_job *r) {
  gbt_trainer_spec *spec = &r->job.spec;
  int32_t n = r->data->table.n_cols;
  if (test_below(rng, 3) == 0) {
    r->monotone = test_alloc((size_t)n);
    for (int32_t f = 0; f < n; f++)
      r->monotone[f] = (int8_t)(r->data->table.cols[f].type == GBT_CATEGORICAL ? 0 : test_below(rng, 3) - 1);
    spec->monotone = r->monotone;
  }
  if (test_below(rng, 3) == 0) {
    spec->n_interact = 1 + (int32_t)test_below(rng, 4);
    r->interact_beg = test_alloc(5 * sizeof *r->interact_beg);
    r->interact_col = test_alloc((size_t)n * 4 * sizeof *r->interact_col);
    r->interact_beg[0] = 0;
    for (int32_t s = 0, at = 0; s < spec->n_interact; s++) {
      for (int32_t f = 0; f < n; f++)
        if (test_below(rng, 2)) r->interact_col[at++] = f;
      r->interact_beg[s + 1] = at;
    }
    spec->interact_beg = r->interact_beg;
    spec->interact_col = r->interact_col;
  }
  if (test_below(rng, 4) == 0) {
    r->feature_weight = test_alloc((size_t)n * sizeof *r->feature_weight);
    for (int32_t f = 0; f < n; f++)
      r->feature_weight[f] = f > 0 && test_below(rng, 4) == 0 ? 0.0 : test_unit(rng) + 0.01;
    spec->feature_weight = r->feature_weight;
  }
}

/* The shrinkage by round, in some of the jobs: of fewer rounds than are trained, or of more. */
static void draw_eta(test_rng *rng, random_job *r) {
  gbt_trainer_spec *spec = &r->job.spec;
  if (test_below(rng, 3) > 0) return;
  spec->n_eta = 1 + test_below(rng, 4);
  r->eta = test_alloc((size_t)spec->n_eta * sizeof *r->eta);
  for (int64_t i = 0; i < spec->n_eta; i++) r->eta[i] = PICK(rng, 0.05, 0.1, 0.3, 0.7, 1.0);
  spec->eta = r->eta;
}

/* Values of leaves that are more than one step, in half of the jobs. */
static void draw_leaves(test_rng *rng, random_job *r) {
  gbt_params *p = &r->job.spec.params;
  if (test_below(rng, 2)) return;
  p->path_smooth = PICK(rng, 0.0, 0.5, 3.0, 100.0);
  if (r->job.spec.objective.kind == GBT_OBJ_SOFTMAX) p->softmax_hessian = PICK(rng, 2.0, 1.0, 0.0);
  if (r->job.spec.objective.kind != GBT_OBJ_CUSTOM) p->leaf_iterations = (int64_t)PICK(rng, 1, 2, 3, 8);
}

/* Trees of classes that share their splits, in half of the jobs that allow it. */
static void draw_strategy(test_rng *rng, random_job *r) {
  gbt_params *p = &r->job.spec.params;
  const int allowed = r->job.spec.objective.kind == GBT_OBJ_SOFTMAX && p->grow_policy == GBT_SYMMETRIC;
  if (allowed && p->num_parallel_tree == 1) p->multi_strategy = (int)test_below(rng, 2);
}

/* Leaves that are quantiles: labels with many ties in half of the jobs. */
static void draw_quantile(test_rng *rng, random_job *r) {
  for (int64_t i = 0, ties = test_below(rng, 2); ties && i < r->data->table.n_rows; i++)
    r->data->label[i] = floor(r->data->label[i] * 2.0);
}

random_job random_job_make(uint64_t seed, int64_t rows) {
  test_rng rng = {gbt_mix64(seed)};
  random_job r = {.data = NULL};
  const gbt_objective_kind losses[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_LOGISTIC, GBT_OBJ_SOFTMAX, GBT_OBJ_POISSON,
                                       GBT_OBJ_CUSTOM};
  gbt_objective_kind loss = losses[test_below(&rng, 5)];
  if (test_below(&rng, 8) < 3) loss = (gbt_objective_kind)(5 + test_below(&rng, MADE_ROW_OBJECTIVES - 5));
  int32_t n_outputs = loss == GBT_OBJ_SOFTMAX ? 2 + (int32_t)test_below(&rng, 3) : 1;
  if (loss == GBT_OBJ_QUANTILE && seed % 4 > 0) n_outputs = 1 + (int32_t)(seed % 4);
  if (loss == GBT_OBJ_CUSTOM) n_outputs = 1 + (int32_t)test_below(&rng, 2);
  int64_t n_rows = test_below(&rng, 8) ? 1 + test_below(&rng, rows) : 1 + test_below(&rng, 8);
  int32_t n_cols = 1 + (int32_t)test_below(&rng, test_below(&rng, 10) ? 10 : 40);
  made_kind kinds[40];
  int sparse = test_below(&rng, 6) == 0; /* enough nearly empty columns for sparse storage */
  if (sparse) n_rows = 256 + test_below(&rng, rows), n_cols = 12 + (int32_t)test_below(&rng, 28);
  for (int32_t c = 0; c < n_cols; c++)
    kinds[c] = sparse && test_below(&rng, 5) ? MADE_ZEROS : (made_kind)test_below(&rng, MADE_KINDS);
  int fields = sparse && test_below(&rng, 2); /* the first twelve columns are exclusive in threes or fours */
  for (int32_t c = 0; fields && c < 12; c++) kinds[c] = MADE_ZEROS;
  int weighted = test_below(&rng, 5) < 2, moved = test_below(&rng, 4) == 0;
  r.data = made_new(test_u(&rng), n_rows, n_cols, kinds);
  if (test_below(&rng, 4) == 0) made_counts(r.data);
  r.job = job_make(r.data, loss, n_outputs, 1 + test_below(&rng, 3));
  r.job.spec.objective = made_objective(loss, n_outputs, seed);
  r.job.max_bin = (int32_t)PICK(&rng, 2, 3, 16, 64, 255, 256, 1000);
  r.job.spec.n_valid = (int32_t)test_below(&rng, 3);
  for (int32_t s = 0; s <= r.job.spec.n_valid; s++) {
    made *m = s == 0 ? r.data : made_new(test_u(&rng), 1 + test_below(&rng, 50), n_cols, r.data->kind);
    int32_t n_fields = 3 + (int32_t)(m->table.n_rows & 1);
    if (fields) made_fields(m, n_fields, 12 / n_fields, s == 0 ? 0 : test_below(&rng, 4), test_u(&rng));
    made_response(m, loss, n_outputs, test_u(&rng));
    if (weighted) made_weights(m, test_u(&rng));
    if (moved) made_offset(m, n_outputs, test_u(&rng));
    if (s > 0) r.job.valid[s - 1] = r.valid[s - 1] = m;
  }
  draw_trees(&rng, &r.job.spec.params);
  draw_sampling(&rng, &r.job.spec.params);
  draw_rows(&(test_rng){gbt_mix64(seed ^ 0x726f7773)}, &r);
  draw_contest(&(test_rng){gbt_mix64(seed ^ 0x636f6e74)}, &r);
  draw_constraints(&rng, &r);
  draw_eta(&(test_rng){gbt_mix64(seed ^ 0x65746121)}, &r);
  draw_leaves(&(test_rng){gbt_mix64(seed ^ 0x6c656166)}, &r);
  draw_strategy(&(test_rng){gbt_mix64(seed ^ 0x73747261)}, &r);
  if (gbt_objective_info_of((int32_t)loss)->leaves == GBT_LEAVES_QUANTILE) draw_quantile(&rng, &r);
  r.how.threads = 1 + (int)test_below(&rng, 3);
  r.how.page_rows = (int32_t)PICK(&rng, 0, 1, 7, 64, 1000);
  r.how.simd = (gbt_simd)(test_below(&rng, 4) - 1);
  return r;
}

void random_job_draw_evenly(random_job *r) {
  job_sampling(&r->job.spec.params, GBT_SAMPLE_UNIFORM);
  r->job.spec.class_rate = NULL;
}

void random_job_order(random_job *r) {
  r->job.spec.params.boosting = GBT_BOOSTING_ORDERED;
  job_sampling(&r->job.spec.params, GBT_SAMPLE_UNIFORM);
}

void random_job_share_by(random_job *r, uint64_t seed, int sketch) {
  gbt_params *p = &r->job.spec.params;
  p->grow_policy = GBT_SYMMETRIC;
  p->max_depth = 1 + (int64_t)(seed % 6);
  p->colsample_bynode = 1.0;
  p->num_parallel_tree = 1;
  p->multi_strategy = 1;
  p->sketch = sketch;
}

int random_job_columns(random_job *r, int32_t n_columns, uint64_t seed) {
  gbt_trainer_spec *spec = &r->job.spec;
  const gbt_objective_kind kind = (gbt_objective_kind)spec->objective.kind;
  made *of[1 + JOB_VALID] = {r->data};
  for (int32_t s = 0; s < JOB_VALID; s++) of[1 + s] = r->valid[s];
  if (gbt_objective_info_of(kind)->outputs != GBT_OUTPUTS_COLUMNS || spec->class_rate != NULL) return 0;
  spec->objective.n_outputs = n_columns;
  for (int32_t s = 0; s <= spec->n_valid; s++) {
    made_columns(of[s], kind, n_columns, seed % 2 == 0, seed + (uint64_t)s * 100);
    if (of[s]->offset != NULL) made_offset(of[s], n_columns, seed + (uint64_t)s);
  }
  return 1;
}

int random_job_share(random_job *r, uint64_t seed) {
  if (r->job.spec.objective.kind != GBT_OBJ_SOFTMAX) return 0;
  random_job_share_by(r, seed, (int)r->job.spec.params.sketch);
  if (seed % 5 == 1) random_job_order(r);
  return 1;
}

int random_job_by_nodes(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  const int64_t leaves[] = {0, 3, 7, 20};
  p->grow_policy = (int)(gbt_mix64(seed ^ 77) % 3);
  if (p->grow_policy == GBT_SYMMETRIC) return 1;
  p->max_leaves = leaves[gbt_mix64(seed ^ 78) % 4];
  if (gbt_mix64(seed ^ 79) % 3 == 0) p->colsample_bynode = 0.6;
  return 1;
}

int random_job_linear(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  if (gbt_renews(&r->job.spec.objective)) return 0;
  r->job.spec.monotone = NULL;
  p->alpha = 0.0;
  p->boosting = GBT_BOOSTING_PLAIN;
  p->multi_strategy = 0;
  p->leaf_model = GBT_LEAF_LINEAR;
  p->linear_lambda = seed % 4 == 0 ? 0.0 : 0.01;
  return 1;
}

void random_job_small(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  p->grow_policy = 0;
  p->max_depth = 1 + (int64_t)(seed % 8);
  p->colsample_bylevel = p->colsample_bynode = 1.0;
  p->max_cat_onehot = 65535;
  p->hist_memory = 1024;
  p->random_strength = 0.0;
  p->path_smooth = 0.0;
  p->leaf_iterations = 1;
  p->extra_trees = 0;
  r->job.spec.first_use_penalty = NULL;
  if (p->num_parallel_tree > 2) p->num_parallel_tree = 1;
  r->job.spec.n_interact = 0;
}

void random_job_free(random_job *r) {
  made_free(r->data);
  for (int32_t i = 0; i < JOB_VALID; i++) made_free(r->valid[i]);
  free(r->monotone);
  free(r->interact_beg);
  free(r->interact_col);
  free(r->feature_weight);
  free(r->first_use);
  free(r->class_rate);
  free(r->eta);
}

void random_job_tell(const random_job *r, uint64_t seed) {
  const gbt_params *p = &r->job.spec.params;
  int n_params = 0;
  const gbt_param_info *infos = gbt_params_table(&n_params);
  char text[1500];
  int at = 0;
  for (int i = 0; i < n_params && at < (int)sizeof text - 60; i++) {
    double value = gbt_params_get(p, infos[i].name);
    if (value != infos[i].def) at += snprintf(text + at, sizeof text - (size_t)at, " %s=%g", infos[i].name, value);
  }
  text[at] = 0;
  test_note("seed %" PRIu64 ": %" PRId64
            " x %d, loss %d, %d outputs, max_bin %d, weights %d, monotone %d, groups %d, penalties %d, %d "
            "threads, pages of %d;%s",
            seed, r->data->table.n_rows, (int)r->data->table.n_cols, (int)r->job.spec.objective.kind,
            (int)r->job.spec.objective.n_outputs, (int)r->job.max_bin, r->data->weight != NULL, r->monotone != NULL,
            (int)r->job.spec.n_interact, r->first_use != NULL, r->how.threads, (int)r->how.page_rows, text);
}
