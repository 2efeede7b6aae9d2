#include "shared_splits.h"

#include "../base/parallel.h"
#include "../objective/softmax.h"
#include "../tree/contest.h"
#include "backends.h"
#include "grow.h"
#include "projection.h"
#include "together.h"

enum { TASK_ROWS = 4096, BLOCK = 256 };

struct gbt_shared_splits {
  gbt_mem mem;
  gbt_backend *be;
  const gbt_rows *rows; /* of the training set */
  gbt_dataset *plain;   /* where gradients are projected: the same rows without fields, which the backend holds */
  gbt_objective objective;
  double *size; /* where gradients are projected: K, see projection.h */
  uint64_t seed;
  int32_t K;
  double *u;           /* K */
  double *g, *h;       /* rows each */
  gbt_forest *tree;    /* the structure */
  gbt_tree *copies;    /* K times where it is */
  const double *score; /* of the round that begins */
};

gbt_status gbt_shared_splits_check(const gbt_objective *objective, const gbt_params *params, gbt_error *err) {
  if (!gbt_splits_are_shared(params)) return GBT_OK;
  if (!gbt_gradients_by_classes(objective) && !gbt_outputs_are_projected(objective))
    return gbt_fail_on(err, GBT_E_ARG, "multi_strategy",
                       "`multi_strategy = \"multi_output_tree\"` needs the objective \"softmax\", several quantiles or "
                       "a response of several columns; leave `multi_strategy` out");
  if (params->num_parallel_tree > 1)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "multi_strategy",
                       "`multi_strategy = \"multi_output_tree\"` has one tree in a round; "
                       "`num_parallel_tree` must be 1");
  if (gbti_grows_together(objective, params) && objective->n_outputs > GBTI_TOGETHER_MOST)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "sketch",
                       "`sketch = \"none\"` adds up the gains of up to %d outputs, and there are %d; leave `sketch` "
                       "out",
                       (int)GBTI_TOGETHER_MOST, (int)objective->n_outputs);
  return GBT_OK;
}

/* ---- life ---- */

static gbt_status open_all(gbt_ctx *ctx, gbt_shared_splits *s, const gbt_backend_spec *spec,
                           const gbt_device_api *device, int32_t number, gbt_error *err) {
  const size_t K = (size_t)s->K;
  const double base = 0.0, *init = NULL;
  gbt_backend_spec own = *spec;
  own.objective = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  own.n_valid = 0;
  if (gbt_outputs_are_projected(&s->objective)) {
    GBT_TRY(gbt_dataset_view(spec->data[0], &s->plain, err));
    own.data = &s->plain;
    GBT_TRY(gbt_mem_array(&s->mem, K, sizeof *s->size, &s->size, err));
    GBT_TRY(gbti_column_sizes(ctx, &s->objective, s->rows, spec->base, s->size, err));
  }
  own.base = &base;
  own.init = &init;
  own.monotone = NULL; /* of the scores of each class: kept where the trees of the classes are fitted */
  GBT_TRY(gbt_mem_array(&s->mem, K, sizeof *s->u, &s->u, err));
  GBT_TRY(gbt_mem_array(&s->mem, K, sizeof *s->copies, &s->copies, err));
  GBT_TRY(gbt_forest_new(&s->mem, spec->data[0]->cuts->n_features, 1, 1, &s->tree, err));
  return gbt_backend_open(ctx, device, number, &own, &s->be, err);
}

gbt_status gbt_shared_splits_new(gbt_ctx *ctx, const gbt_backend_spec *spec, const gbt_device_api *device,
                                 int32_t number, gbt_shared_splits **out, gbt_error *err) {
  gbt_shared_splits *s;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *s, &s, err));
  s->mem = ctx->mem;
  s->rows = &spec->data[0]->rows;
  s->seed = (uint64_t)spec->params->seed;
  s->K = spec->objective.n_outputs;
  s->objective = spec->objective;
  const gbt_status status = open_all(ctx, s, spec, device, number, err);
  if (status == GBT_OK)
    *out = s;
  else
    gbt_shared_splits_free(s);
  return status;
}

void gbt_shared_splits_free(gbt_shared_splits *s) {
  if (s == NULL) return;
  gbt_mem mem = s->mem;
  gbt_backend_close(s->be);
  gbt_forest_free(s->tree);
  gbt_dataset_unref(s->plain);
  void *blocks[] = {s->u, s->g, s->h, s->copies, s->size};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
  gbt_mem_free(&mem, s);
}

gbt_backend *gbt_shared_splits_backend(const gbt_shared_splits *s) { return s->be; }

/* ---- the contrast ---- */

/* Less their mean, and of the length sqrt(K - 1); returns 0 where all are alike. */
static int centre(int32_t K, double *u) {
  double sum = 0.0, square = 0.0;
  for (int32_t k = 0; k < K; k++) sum += u[k];
  for (int32_t k = 0; k < K; k++) {
    u[k] -= sum / (double)K;
    square += u[k] * u[k];
  }
  if (!(square > 0.0)) return 0;
  const double a = gbt_sqrt((double)(K - 1) / square);
  for (int32_t k = 0; k < K; k++) u[k] *= a;
  return 1;
}

void gbti_contrast_of(int32_t K, double *u) {
  GBT_ASSERT(K > 1);
  if (centre(K, u)) return;
  for (int32_t k = 0; k < K; k++) u[k] = k == 0 ? 1.0 : 0.0;
  const int is_contrast = centre(K, u);
  GBT_ASSERT(is_contrast);
  (void)is_contrast;
}

void gbti_contrast_direction(uint64_t seed, uint64_t round, int32_t K, double *u) {
  const gbt_key32 key = gbt_key(seed, GBT_FOR_CONTRAST, round, 0);
  for (int32_t k = 0; k < K; k++) u[k] = gbt_normal_of(gbt_hash32(key, (uint64_t)k));
  gbti_contrast_of(K, u);
}

/* g and h of rows [row, row + n), n <= BLOCK. */
static void contrast_block(const gbt_shared_splits *s, int64_t row, int32_t n) {
  const double *label = s->rows->field[GBT_LABEL] + row;
  const size_t stride = (size_t)s->rows->n;
  gbt_softmax_sums sums[BLOCK];
  double top[BLOCK], own[BLOCK];
  for (int32_t i = 0; i < n; i++) {
    top[i] = s->score[row + i];
    own[i] = s->u[(int32_t)label[i]];
    sums[i] = (gbt_softmax_sums){0.0, 0.0, 0.0};
  }
  for (int32_t k = 1; k < s->K; k++) {
    const double *score = s->score + (size_t)k * stride + row;
    for (int32_t i = 0; i < n; i++) top[i] = score[i] > top[i] ? score[i] : top[i];
  }
  for (int32_t k = 0; k < s->K; k++) {
    const double *score = s->score + (size_t)k * stride + row;
    for (int32_t i = 0; i < n; i++) gbt_softmax_along_add(&sums[i], gbt_exp(score[i] - top[i]), s->u[k] - own[i]);
  }
  for (int32_t i = 0; i < n; i++) {
    const gbt_gh gh = gbt_softmax_along(&sums[i]);
    s->g[row + i] = gh.g;
    s->h[row + i] = gh.h;
  }
}

static void contrast_task(void *arg, int64_t task, int thread) {
  const gbt_shared_splits *s = arg;
  const int64_t rows = gbt_task_rows(TASK_ROWS, s->K),
                end = (task + 1) * rows < s->rows->n ? (task + 1) * rows : s->rows->n;
  (void)thread;
  for (int64_t row = task * rows; row < end; row += BLOCK)
    contrast_block(s, row, end - row < BLOCK ? (int32_t)(end - row) : BLOCK);
}

void gbti_outputs_direction(const gbt_objective *objective, uint64_t seed, uint64_t round, const double *size,
                            double *u) {
  const int32_t K = objective->n_outputs;
  if (gbt_has_levels(objective))
    gbti_levels_direction(seed, round, K, size, u);
  else if (gbt_outputs_are_projected(objective))
    gbti_projection_direction(seed, round, K, size, u);
  else
    gbti_contrast_direction(seed, round, K, u);
}

gbt_status gbt_shared_splits_begin(gbt_ctx *ctx, gbt_shared_splits *s, gbt_backend *be, uint64_t round,
                                   gbt_error *err) {
  const int64_t rows = gbt_task_rows(TASK_ROWS, s->K);
  const int projected = gbt_outputs_are_projected(&s->objective);
  gbti_outputs_direction(&s->objective, s->seed, round, s->size, s->u);
  if (s->be->ops == be->ops && be->ops->set_projection != NULL)
    return be->ops->set_projection(ctx, s->be, be, s->u, round, err);
  if (s->g == NULL) GBT_TRY(gbt_mem_array(&s->mem, (size_t)s->rows->n, sizeof *s->g, &s->g, err));
  if (s->h == NULL) GBT_TRY(gbt_mem_array(&s->mem, (size_t)s->rows->n, sizeof *s->h, &s->h, err));
  GBT_TRY(be->ops->scores(ctx, be, 0, &s->score, err));
  if (projected)
    GBT_TRY(gbti_project_columns(ctx, &s->objective, s->rows, s->u, s->score, s->g, s->h, err));
  else
    GBT_TRY(gbt_parallel(ctx, (s->rows->n + rows - 1) / rows, contrast_task, s, err));
  s->score = NULL;
  return s->be->ops->set_gradients(ctx, s->be, round, s->g, s->h, err);
}

/* ---- the structure ---- */

gbt_status gbt_shared_splits_grow(gbt_ctx *ctx, gbt_shared_splits *s, const gbt_tree_task *task, gbt_error *err) {
  gbt_tree_task own = *task;
  own.output = 0;
  own.shrinkage = 1.0; /* the values are not used */
  gbt_forest_cut(s->tree, 0);
  GBT_TRY(gbt_grow_trees(ctx, s->be, &own, 1, s->tree, err));
  if (s->be->ops->settle != NULL) GBT_TRY(s->be->ops->settle(ctx, s->be, err));
  const gbt_forest_view grown = gbt_forest_view_of(s->tree);
  GBT_ASSERT(grown.n_trees == 1);
  for (int32_t k = 0; k < s->K; k++) s->copies[k] = grown.trees[0];
  return GBT_OK;
}

gbt_forest_view gbt_shared_splits_trees(const gbt_shared_splits *s) {
  gbt_forest_view trees = gbt_forest_view_of(s->tree);
  trees.trees = s->copies;
  trees.n_trees = (uint64_t)s->K;
  return trees;
}
