/* See model_use.h. */
#include "model_use.h"
#include "datasets.h"

#include "../../src/gbt/boost/trainer_impl.h"
#include "../../src/gbt/explain/explain.h"
#include "../../src/gbt/model/answer.h"
#include "../../src/gbt/bytes/format.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "../../src/gbt/tree/relevel.h"
#include "forests.h"
#include "naive_predict.h"
#include "port.h"

/* ---- memory that is measured ---- */

/* Blocks end where their last byte is, so that the address sanitizer sees what passes it: gbt_mem_array takes
 * ALIGN - 1 + sizeof(void *) bytes more than it needs and none of them stays after the array when the block begins
 * AHEAD bytes after a multiple of 64. In front of a block lies its size. */
enum { ALIGN = 64, AHEAD = ALIGN - (int)sizeof(void *) + 1, MOST_BYTES = 1 << 28 };

typedef struct meter {
  size_t live, peak;
} meter;

static void *meter_alloc(void *user, size_t bytes) {
  meter *m = user;
  if (!CHECK(bytes <= MOST_BYTES)) return NULL;
  uint8_t *block = port_aligned(ALIGN, AHEAD + bytes);
  if (block == NULL) return NULL;
  memcpy(block, &bytes, sizeof bytes);
  m->live += bytes;
  if (m->live > m->peak) m->peak = m->live;
  return block + AHEAD;
}

static void meter_release(void *user, void *at) {
  meter *m = user;
  uint8_t *block = (uint8_t *)at - AHEAD;
  size_t bytes;
  memcpy(&bytes, block, sizeof bytes);
  m->live -= bytes;
  port_aligned_free(block);
}

/* ---- a model in use ---- */

typedef struct use {
  gbt_mem mem;
  test_rng rng;
  const uint8_t *bytes;
  size_t n_bytes;
  const gbt_model *model;
  gbt_ctx ctx; /* of the best instruction set */
  made_table *table;
  gbt_binding *binding; /* unseen levels go with the bulk */
  int32_t *leaves;      /* of all trees, by the twin */
} use;

static gbt_ctx open_ctx(const gbt_mem *mem, gbt_simd simd) {
  gbt_ctx ctx;
  CHECK_OK(gbt_ctx_open(&ctx, *mem, 1, simd, NULL, NULL, test_err));
  return ctx;
}

/* Looks at every text, number and bit of a set. */
static uint64_t read_everything(const gbt_model *model) {
  const gbt_forest_view *forest = &model->parts.forest;
  uint64_t sum = (uint64_t)CHECK_OK(gbt_objective_check(&model->parts.objective, test_err));
  for (uint64_t i = 0; i < forest->n_vectors * (uint64_t)forest->n_leaf_outputs; i++)
    sum += forest->leaf_values[i] > 0.0;
  for (int32_t f = 0; f < model->schema->n_columns; f++) {
    const gbt_schema_column *feat = &model->schema->col[f];
    sum += strlen(feat->name) + strlen(feat->tag);
    for (int32_t i = 0; i < feat->n_levels; i++) sum += strlen(feat->levels[i]);
  }
  for (int32_t m = 0; m < model->parts.n_meta; m++) {
    const gbt_meta *meta = &model->meta[m];
    sum += strlen(meta->name) + (gbt_model_meta(model, meta->name) != meta);
    for (int64_t i = 0; i < meta->n; i++) {
      if (meta->kind == GBT_META_TEXT && meta->text[i] != NULL) sum += strlen(meta->text[i]);
      if (meta->kind == GBT_META_DOUBLE) sum += meta->num[i] > 0.0;
      if (meta->kind == GBT_META_INT) sum += meta->ints[i] > 0;
    }
  }
  for (uint64_t t = 0; t < forest->n_trees; t++)
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++) {
      const gbt_node *node = &forest->nodes[forest->trees[t].node_beg + i];
      sum += forest->count[forest->trees[t].node_beg + i] & 1u;
      if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL) || node->arg.set.n_words == 0) continue;
      const uint32_t *set = forest->sets + forest->trees[t].set_beg + node->arg.set.beg;
      for (uint32_t w = 0; w < node->arg.set.n_words; w++) sum += set[w] & 1u;
    }
  return sum;
}

/* Whether a threshold splits a factor: then levels have an order, and other levels another meaning. */
static int orders_levels(const gbt_model *model) {
  for (uint64_t i = 0; i < model->parts.forest.n_nodes; i++) {
    const gbt_node *node = &model->parts.forest.nodes[i];
    if (node->left > 0 && !(node->feat & GBT_NODE_CATEGORICAL) &&
        model->schema->feat[node->feat & GBT_NODE_FEATURE].type == GBT_CATEGORICAL)
      return 1;
  }
  return 0;
}

/* There is one form of a model only: what was read is written as it was, but for sections that were skipped and
 * parameters of the objective that were not there. */
static void write_again(use *u) {
  const gbt_model *model = u->model;
  uint8_t *bytes;
  size_t n;
  if (!CHECK_OK(gbt_model_write(&u->mem, &model->parts, &bytes, &n, test_err))) return;
  if (model->n_defaults > 0)
    CHECK(n > u->n_bytes || model->n_skipped > 0);
  else if (model->n_skipped > 0)
    CHECK(n < u->n_bytes);
  else if (CHECK_EQ_U64(n, u->n_bytes))
    CHECK_EQ_BYTES(bytes, u->bytes, n);
  gbt_mem_free(&u->mem, bytes);
}

/* The leaves of tree t that the table's rows reach. */
static const int32_t *leaves_of(const use *u, uint64_t t) { return u->leaves + (int64_t)t * u->table->table.n_rows; }

/* Some rounds of the model. */
static gbt_tree_range some_rounds(use *u) {
  const gbt_forest_view *forest = &u->model->parts.forest;
  uint64_t per = gbt_trees_per_round(forest), n = forest->n_trees / per;
  uint64_t beg = (uint64_t)test_below(&u->rng, (int64_t)n + 1);
  gbt_tree_range trees = {beg * per, (beg + (uint64_t)test_below(&u->rng, (int64_t)(n - beg) + 1)) * per};
  return trees;
}

/* ---- prediction ---- */

/* By a predictor, which keeps packs from one call to the next. */
static void predict_again(use *u, gbt_tree_range trees, const double *want) {
  int64_t n_rows = u->table->table.n_rows;
  size_t n_scores = (size_t)(n_rows * u->model->parts.forest.n_outputs),
         n_leaves = (size_t)n_rows * (trees.end - trees.beg);
  double *scores = test_alloc(n_scores * sizeof *scores);
  int32_t *pos = test_alloc(n_leaves * sizeof *pos);
  gbt_predictor *predictor = NULL;
  if (CHECK_OK(gbt_predictor_new(&u->mem, &u->model->parts.forest, &predictor, test_err)))
    for (int i = 0; i < 2; i++) {
      CHECK_OK(gbt_predictor_scores(&u->ctx, predictor, u->binding, trees, NULL, scores, test_err));
      CHECK_EQ_BYTES(scores, want, n_scores * sizeof *scores);
      CHECK_OK(gbt_predictor_leaves(&u->ctx, predictor, u->binding, trees, pos, test_err));
      CHECK_EQ_BYTES(pos, leaves_of(u, trees.beg), n_leaves * sizeof *pos);
    }
  gbt_predictor_free(predictor);
  free(scores);
  free(pos);
}

/* Answers by the model alone: links are the scores, responses and classes what a plain loop makes of them. */
static void answer(use *u, gbt_tree_range trees, const double *scores) {
  const gbt_objective *objective = &u->model->parts.objective;
  int64_t n_rows = u->table->table.n_rows;
  size_t n = (size_t)(n_rows * objective->n_outputs);
  double *got = test_alloc(n * sizeof *got), *want = test_alloc(n * sizeof *want);
  int32_t *classes = test_alloc((size_t)n_rows * sizeof *classes);
  CHECK_OK(gbt_model_answer(&u->ctx, u->model, NULL, u->binding, GBT_ANSWER_LINK, trees, NULL, got, test_err));
  CHECK_EQ_BYTES(got, scores, n * sizeof *got);
  memcpy(want, scores, n * sizeof *want);
  twin_responses(objective, n_rows, want);
  CHECK_OK(gbt_model_answer(&u->ctx, u->model, NULL, u->binding, GBT_ANSWER_RESPONSE, trees, NULL, got, test_err));
  CHECK_EQ_BYTES(got, want, n * sizeof *got);
  if (gbt_model_has_classes(u->model, NULL) == GBT_OK) {
    CHECK_OK(gbt_model_answer(&u->ctx, u->model, NULL, u->binding, GBT_ANSWER_CLASS, trees, NULL, classes, test_err));
    for (int64_t r = 0; r < n_rows; r++) CHECK_EQ_I64(classes[r], twin_class(objective, n_rows, want, r));
  } else {
    CHECK_FAILS(gbt_model_answer(&u->ctx, u->model, NULL, u->binding, GBT_ANSWER_CLASS, trees, NULL, classes, test_err),
                GBT_E_UNSUPPORTED, "no classes");
  }
  free(got);
  free(want);
  free(classes);
}

/* Scores of linear leaves, whose twin has its own suite: the same by another instruction set and by a predictor. */
static void predict_linear(use *u, gbt_tree_range trees) {
  const gbt_forest_view *view = &u->model->parts.forest;
  const size_t n = (size_t)(u->table->table.n_rows * view->n_outputs);
  double *want = test_alloc(n * sizeof *want), *got = test_alloc(n * sizeof *got);
  gbt_ctx ctx = open_ctx(&u->mem, GBT_SIMD_SCALAR);
  CHECK_OK(gbt_predict_scores(&ctx, view, u->binding, trees, NULL, want, test_err));
  CHECK_OK(gbt_predict_scores(&u->ctx, view, u->binding, trees, NULL, got, test_err));
  CHECK_EQ_BYTES(got, want, n * sizeof *got);
  gbt_ctx_close(&ctx);
  predict_again(u, trees, want);
  answer(u, trees, want);
  free(want);
  free(got);
}

/* All ways, on some instruction set. */
static void predict_all_ways(use *u, gbt_tree_range trees) {
  const gbt_forest_view *view = &u->model->parts.forest;
  int64_t n_rows = u->table->table.n_rows;
  size_t n = (size_t)(n_rows * view->n_outputs);
  const int32_t *leaves = leaves_of(u, trees.beg);
  double *offset = test_alloc(n * sizeof *offset);
  for (size_t i = 0; i < n; i++) offset[i] = make_number(&u->rng);
  double *want = twin_scores(view, n_rows, trees, NULL, leaves);
  double *moved = twin_scores(view, n_rows, trees, offset, leaves), *scores = test_alloc(n * sizeof *scores);
  gbt_ctx ctx = open_ctx(&u->mem, (gbt_simd)test_below(&u->rng, (int64_t)gbt_simd_best() + 1));
  check_both_ways(&ctx, view, u->binding, trees, leaves);
  check_scores_packed(&ctx, view, u->binding, trees, NULL, want);
  gbt_ctx_close(&ctx);
  CHECK_OK(gbt_predict_scores(&u->ctx, view, u->binding, trees, offset, scores, test_err));
  CHECK_EQ_BYTES(scores, moved, n * sizeof *scores);
  predict_again(u, trees, want);
  answer(u, trees, want);
  free(offset);
  free(want);
  free(moved);
  free(scores);
}

/* The number of splits of all features is that of the trees' inner nodes. */
static void weigh(use *u, gbt_tree_range trees) {
  const gbt_forest_view *view = &u->model->parts.forest;
  size_t n = (size_t)view->n_features;
  double *sums = test_alloc(3 * n * sizeof *sums), splits = 0.0, want = 0.0;
  gbt_importance(view, trees, sums, sums + n, sums + 2 * n);
  for (size_t f = 0; f < n; f++) splits += sums[2 * n + f];
  for (uint64_t t = trees.beg; t < trees.end; t++) want += (double)(view->trees[t].n_nodes / 2);
  CHECK_EQ_BITS(splits, want);
  free(sums);
}

/* Slopes of all leaves: features of the model, and the same whether units were known or are made anew. */
static void read_slopes(const use *u) {
  const gbt_forest_view *view = &u->model->parts.forest;
  const size_t n = gbt_forest_n_units(view);
  if (n == 0) return;
  gbt_slope_unit *unit = test_alloc(n * sizeof *unit), *fresh = test_alloc(n * sizeof *fresh);
  memset(unit, 0, n * sizeof *unit);
  for (uint64_t t = 0; t < view->n_trees; t++)
    for (uint32_t i = 0; i < gbt_tree_n_nodes(view, t); i++) {
      const gbt_leaf_slopes leaf = gbt_tree_slopes(view, t, i, unit);
      memset(fresh, 0, n * sizeof *fresh);
      const gbt_leaf_slopes again = gbt_tree_slopes(view, t, i, fresh);
      if (!CHECK(leaf.n <= view->linear.n_terms) || !CHECK_EQ_I64(leaf.n, again.n)) break;
      for (uint32_t k = 0; k < leaf.n; k++) {
        const gbt_leaf_slope its = gbt_tree_slope(view, t, i, k, unit), also = gbt_tree_slope(view, t, i, k, fresh);
        CHECK(its.feature >= 0 && its.feature < view->n_features);
        CHECK_EQ_BYTES(&its.slope, &also.slope, sizeof(double));
      }
    }
  free(unit);
  free(fresh);
}

/* ---- contributions ---- */

/* Whether contributions take little: cells of the result, and products of a tree's splits and the players on a way. */
static int explained_soon(const gbt_forest_view *view, gbt_tree_range trees) {
  uint64_t n = (uint64_t)view->n_features + 1, steps = 0;
  if (n > 300 || n * n * (uint64_t)view->n_outputs > 1 << 14) return 0;
  for (uint64_t t = trees.beg; t < trees.end && steps < 1 << 20; t++) {
    uint64_t splits = view->trees[t].n_nodes / 2;
    steps += (splits + 1) * (splits < n ? splits + 1 : n) * (uint64_t)view->n_leaf_outputs;
  }
  return steps < 1 << 18;
}

/* By cover, by rows of the table itself, or pairs: every number is written, and with no tree only the base is there.
 * Leaves of numbers are explained by rows only. */
static void explain(use *u, gbt_tree_range trees) {
  const gbt_forest_view *view = &u->model->parts.forest;
  const size_t p = (size_t)view->n_features + 1, n_rows = (size_t)u->table->table.n_rows;
  const int numbers = gbt_linear_of_numbers(&view->linear), few = n_rows > 0 && n_rows <= 13;
  if (!explained_soon(view, trees) || (numbers && !few)) return;
  int32_t *player = test_alloc(p * sizeof *player);
  for (int32_t f = 0; f < view->n_features; f++) player[f] = f;
  for (int way = 0; way < 3; way++) {
    const int pairs = way == 1;
    gbt_explain_spec spec = {trees, player, view->n_features, NULL, pairs, NULL, 0};
    if ((way == 2 || numbers) && few) spec.background = u->binding;
    const size_t n = n_rows * p * (pairs ? p : 1) * (size_t)view->n_outputs;
    double *out = test_alloc(n * sizeof *out), *again = test_alloc(n * sizeof *again);
    memset(out, 0x5a, n * sizeof *out);
    memset(again, 0xa5, n * sizeof *again);
    CHECK_OK(gbt_explain(&u->ctx, view, u->binding, &spec, NULL, out, test_err));
    CHECK_OK(gbt_explain(&u->ctx, view, u->binding, &spec, NULL, again, test_err));
    CHECK_EQ_BYTES(out, again, n * sizeof *out);
    for (size_t i = 0; trees.beg == trees.end && i < n_rows * (p - 1); i++) CHECK_EQ_BITS(out[i], 0.0);
    free(out);
    free(again);
  }
  free(player);
}

/* ---- models made of the model ---- */

/* All trees of a view, on a table bound to them, send every row where the model's trees from `first` on do. */
static void same_leaves(use *u, const gbt_forest_view *view, const gbt_binding *binding, uint64_t first) {
  gbt_tree_range all = {0, view->n_trees};
  size_t n = (size_t)u->table->table.n_rows * view->n_trees;
  int32_t *got = test_alloc(n * sizeof *got);
  CHECK_OK(gbt_predict_leaves(&u->ctx, view, binding, all, got, test_err));
  CHECK_EQ_BYTES(got, leaves_of(u, first), n * sizeof *got);
  free(got);
}

/* Writes a model, opens it, and has it send rows where the model sends them. */
static void write_other(use *u, const gbt_forest_view *view, const gbt_schema *schema, const gbt_binding *binding,
                        uint64_t first) {
  uint8_t *bytes;
  size_t n;
  gbt_model *other = NULL;
  gbt_model_parts parts = u->model->parts;
  parts.forest = *view;
  parts.schema = schema;
  if (!CHECK_OK(gbt_model_write(&u->mem, &parts, &bytes, &n, test_err))) return;
  if (CHECK_OK(gbt_model_open(&u->mem, bytes, n, &other, test_err)))
    same_leaves(u, &other->parts.forest, binding, first);
  gbt_model_close(other);
  gbt_mem_free(&u->mem, bytes);
}

static void slice(use *u, gbt_tree_range trees) {
  gbt_forest_view view = u->model->parts.forest;
  view.trees += trees.beg;
  view.n_trees = trees.end - trees.beg;
  write_other(u, &view, u->model->schema, u->binding, trees.beg);
}

/* The numbers of a column's statistics for its levels in another order; a level that is new has none. */
static gbt_feature *other_statistics(const gbt_schema *schema, const gbt_schema_column *col) {
  gbt_feature *feat = test_alloc((size_t)schema->n_features * sizeof *feat);
  for (int32_t f = 0; f < schema->n_features; f++) {
    feat[f] = schema->feat[f];
    if (feat[f].value == NULL) continue;
    const gbt_schema_column *old = &schema->col[feat[f].col], *now = &col[feat[f].col];
    double *value = test_alloc((size_t)now->n_levels * sizeof *value);
    for (int32_t i = 0; i < now->n_levels; i++) {
      value[i] = 0.0;
      for (int32_t k = 0; k < old->n_levels; k++)
        if (strcmp(old->levels[k], now->levels[i]) == 0) value[i] = feat[f].value[k];
    }
    feat[f].value = value;
  }
  return feat;
}

/* Factors with their levels in another order and a level more, and tables of levels that are no more. */
static gbt_schema *other_levels(use *u) {
  const gbt_schema *schema = u->model->schema;
  size_t n = (size_t)schema->n_columns;
  gbt_schema_column *col = test_alloc(n * sizeof *col);
  gbt_schema *out = NULL;
  for (size_t c = 0; c < n; c++) {
    col[c] = schema->col[c];
    if (col[c].type != GBT_CATEGORICAL) continue;
    int32_t n_old = col[c].n_levels;
    const char **level = test_alloc(((size_t)n_old + 1) * sizeof *level);
    int64_t *order = test_permutation(&u->rng, n_old);
    int is_new = 1;
    for (int32_t i = 0; i < n_old; i++) {
      level[i] = schema->col[c].levels[order[i]];
      is_new &= strcmp(level[i], "unseen 1") != 0;
    }
    level[n_old] = "unseen 1";
    col[c].levels = level;
    col[c].n_levels = n_old + is_new;
    free(order);
  }
  gbt_feature *feat = other_statistics(schema, col);
  const int32_t n_plain = schema->n_features - gbt_schema_n_tables(schema);
  gbt_schema *plain = NULL;
  if (CHECK_OK(gbt_schema_new_mapped(&u->mem, NULL, (int32_t)n, col, n_plain, feat, &plain, test_err)))
    CHECK_OK(gbt_schema_join(&u->mem, plain, schema, &out, test_err));
  gbt_schema_unref(plain);
  for (int32_t f = 0; f < schema->n_features; f++)
    if (feat[f].value != NULL) free((void *)(uintptr_t)feat[f].value);
  for (size_t c = 0; c < n; c++)
    if (col[c].type == GBT_CATEGORICAL) free((void *)(uintptr_t)col[c].levels);
  free(feat);
  free(col);
  return out;
}

static void relevel(use *u) {
  gbt_schema *schema = other_levels(u);
  gbt_forest *forest = NULL;
  gbt_binding *binding = NULL;
  if (schema != NULL &&
      CHECK_OK(gbt_forest_relevel(&u->mem, &u->model->parts.forest, u->model->schema, schema, &forest, test_err)) &&
      CHECK_OK(gbt_binding_new(&u->ctx, &u->table->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err))) {
    gbt_forest_view view = gbt_forest_view_of(forest);
    same_leaves(u, &view, binding, 0);
    write_other(u, &view, schema, binding, 0);
  }
  gbt_binding_free(binding);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
}

/* ---- training on ---- */

/* Whether the features are such as training makes them: all columns, then level counts of some, in their order. */
static int trained_map(const gbt_schema *schema) {
  int32_t n = schema->n_columns;
  if (schema->n_features < n) return 0;
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (f < n ? feat->kind != GBT_FEATURE_COLUMN || feat->col != f : feat->kind != GBT_FEATURE_LEVEL_COUNT) return 0;
    if (f > n && feat->col <= schema->feat[f - 1].col) return 0;
  }
  return 1;
}

/* The table's columns in the order of the model's, ordered factors with the model's own levels; statistics are
 * the model's. */
static gbt_table training_table(use *u) {
  const gbt_schema *schema = u->model->schema;
  gbt_table table = u->table->table;
  gbt_column *cols = test_alloc((size_t)schema->n_columns * sizeof *cols);
  for (int32_t f = 0; f < schema->n_columns; f++) {
    const gbt_schema_column *feat = &schema->col[f];
    cols[f] = u->table->cols[u->binding->col[f]];
    if (feat->type != GBT_ORDINAL) continue;
    int32_t *code = test_alloc((size_t)table.n_rows * sizeof *code);
    for (int64_t r = 0; r < table.n_rows; r++) code[r] = (int32_t)test_below(&u->rng, (int64_t)feat->n_levels + 1);
    gbt_column own = {feat->name, feat->tag, feat->type, GBT_CODES, code, NULL, 0, feat->n_levels, feat->levels, 0};
    cols[f] = own;
  }
  for (int32_t f = schema->n_columns; f < schema->n_features; f++)
    cols[schema->feat[f].col].derive = 1u << schema->feat[f].kind;
  table.statistics = schema;
  table.n_cols = schema->n_columns;
  table.cols = cols;
  return table;
}

static void free_training_table(const use *u, const gbt_table *table) {
  for (int32_t f = 0; f < table->n_cols; f++)
    if (u->model->schema->col[f].type == GBT_ORDINAL) free((void *)(uintptr_t)table->cols[f].values);
  free((void *)(uintptr_t)table->cols);
}

static gbt_trainer_spec train_spec(use *u, gbt_dataset *data, const gbt_forest_view *init, const double *score) {
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = data, .init = init, .init_score = score};
  spec.objective.n_outputs = init->n_outputs;
  spec.objective.kind = spec.objective.n_outputs > 1 ? GBT_OBJ_SOFTMAX
                        : test_below(&u->rng, 2)     ? GBT_OBJ_SQUARED_ERROR
                                                     : GBT_OBJ_LOGISTIC;
  spec.params.num_parallel_tree = init->n_parallel;
  spec.params.max_depth = 3;
  spec.params.min_child_weight = 0.0;
  spec.params.min_data_per_group = 1;
  spec.params.cat_noise = 0.0;
  return spec;
}

/* A round more; the resulting model predicts the trainer's scores. */
static void train_round(use *u, gbt_trainer *tr, const gbt_dataset *data, const gbt_binding *binding) {
  gbt_stop_reason why;
  const double *scores = NULL;
  gbt_error err = {0};
  gbt_status status = gbt_trainer_run(&u->ctx, tr, 1, &why, &err);
  if (status != GBT_OK) {
    CHECK(status != GBT_E_INTERNAL && err.msg[0] != 0);
    return;
  }
  gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  gbt_tree_range all = {0, view.n_trees};
  size_t n = (size_t)(data->rows.n * view.n_outputs), n_bytes;
  double *got = test_alloc(n * sizeof *got);
  uint8_t *bytes;
  CHECK_OK(gbt_trainer_scores(&u->ctx, tr, 0, &scores, test_err));
  CHECK_OK(gbt_predict_scores(&u->ctx, &view, binding, all, NULL, got, test_err));
  CHECK_EQ_BYTES(got, scores, n * sizeof *got);
  gbt_model_parts parts = u->model->parts;
  parts.forest = view;
  parts.schema = data->cuts->schema;
  if (CHECK_OK(gbt_model_write(&u->mem, &parts, &bytes, &n_bytes, test_err))) gbt_mem_free(&u->mem, bytes);
  free(got);
}

static void train_with(use *u, const gbt_table *table, gbt_dataset *data) {
  const gbt_forest_view *old = &u->model->parts.forest;
  gbt_binding *before = NULL, *after = NULL;
  gbt_forest *forest = NULL;
  gbt_trainer *tr = NULL;
  gbt_error err = {0};
  gbt_tree_range all = {0, old->n_trees};
  double *score = test_alloc((size_t)(table->n_rows * old->n_outputs) * sizeof *score);
  if (CHECK_OK(gbt_forest_relevel(&u->mem, old, u->model->schema, data->cuts->schema, &forest, test_err)) &&
      CHECK_OK(gbt_binding_new(&u->ctx, table, u->model->schema, GBT_UNSEEN_PRIOR, &before, test_err)) &&
      CHECK_OK(gbt_binding_new(&u->ctx, table, data->cuts->schema, GBT_UNSEEN_PRIOR, &after, test_err)) &&
      CHECK_OK(gbt_predict_scores(&u->ctx, old, before, all, NULL, score, test_err))) {
    gbt_forest_view init = gbt_forest_view_of(forest);
    gbt_trainer_spec spec = train_spec(u, data, &init, score);
    gbt_status status = gbt_trainer_new(&u->ctx, &spec, &tr, &err);
    if (status == GBT_OK)
      train_round(u, tr, data, after);
    else
      CHECK(status != GBT_E_INTERNAL && err.msg[0] != 0);
  }
  gbt_trainer_free(tr);
  gbt_binding_free(before);
  gbt_binding_free(after);
  gbt_forest_free(forest);
  free(score);
}

static void train_on(use *u) {
  const gbt_forest_view *forest = &u->model->parts.forest;
  if (forest->n_features == 0 || forest->n_outputs > 4 || forest->n_parallel > 4 || forest->n_leaf_outputs > 1) return;
  if (!trained_map(u->model->schema)) return;
  gbt_table table = training_table(u);
  gbt_dataset *data = NULL;
  double *label = test_alloc((size_t)table.n_rows * sizeof *label);
  for (int64_t r = 0; r < table.n_rows; r++)
    label[r] = (double)test_below(&u->rng, forest->n_outputs > 1 ? forest->n_outputs : 2);
  if (CHECK_OK(dataset_from(&u->ctx, &table, NULL, NULL, 16, 0, GBT_UNSEEN_MISSING, &data, test_err)) &&
      CHECK_OK(gbt_dataset_set(&u->ctx, data, GBT_LABEL, label, table.n_rows, test_err)))
    train_with(u, &table, data);
  gbt_dataset_unref(data);
  free(label);
  free_training_table(u, &table);
}

/* ---- all of it ---- */

static void use_all(use *u) {
  static const int64_t rows[] = {1, 13, 40, 70};
  gbt_tree_range all = {0, u->model->parts.forest.n_trees}, some = some_rounds(u);
  CHECK(read_everything(u->model) < UINT64_MAX);
  write_again(u);
  read_slopes(u);
  u->table = make_table(&u->rng, u->model->schema, rows[test_below(&u->rng, 4)]);
  gbt_error err = {0};
  gbt_status status = gbt_binding_new(&u->ctx, &u->table->table, u->model->schema, GBT_UNSEEN_PRIOR, &u->binding, &err);
  if (status == GBT_OK) {
    u->leaves = twin_leaves(&u->model->parts.forest, u->binding, all);
    (u->model->parts.forest.linear.n_leaves > 0 ? predict_linear : predict_all_ways)(
        u, test_below(&u->rng, 2) ? all : some);
    weigh(u, some);
    explain(u, some);
    int64_t next = test_below(&u->rng, 8); /* one of these, so that there is time for many models */
    if (next < 4) slice(u, some);
    if (next >= 4 && !orders_levels(u->model)) relevel(u);
    if (next == 7 && !orders_levels(u->model)) train_on(u);
  } else {
    CHECK(status == GBT_E_DATA); /* the spare column has a feature's name */
  }
  free(u->leaves);
  gbt_binding_free(u->binding);
  free_table(u->table);
}

int model_use(const uint8_t *bytes, size_t n) {
  meter m = {0, 0};
  use u = {.mem = {meter_alloc, meter_release, &m}, .n_bytes = n};
  gbt_model *model;
  gbt_error err = {0};
  uint64_t hash = gbt_checksum(bytes, n & ~(size_t)7);
  size_t shift = hash % 8 == 0; /* bytes on an odd address are copied first */
  uint8_t *block = test_alloc(n + shift), *exact = block + shift;
  memcpy(exact, bytes, n);
  u.bytes = exact;
  u.rng.state = hash;
  gbt_status head = gbt_model_check_head(exact, n < GBT_MODEL_HEAD ? n : GBT_MODEL_HEAD, n, &err);
  CHECK(head == GBT_OK || head == GBT_E_FORMAT);
  gbt_status status = gbt_model_open(&u.mem, exact, n, &model, &err);
  CHECK(status != GBT_OK || head == GBT_OK);
  CHECK(m.peak <= 16 * n + 4096);
  if (status == GBT_OK) {
    u.model = model;
    u.ctx = open_ctx(&u.mem, GBT_SIMD_AUTO);
    use_all(&u);
    gbt_ctx_close(&u.ctx);
    CHECK_EQ_BYTES(exact, bytes, n);
    gbt_model_close(model);
  } else {
    CHECK(status == GBT_E_FORMAT && model == NULL && err.code == GBT_E_FORMAT && err.msg[0] != 0);
  }
  CHECK_EQ_U64(m.live, 0);
  free(block);
  return status == GBT_OK;
}
