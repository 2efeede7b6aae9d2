/* What a host can do that knows gbt.h alone: bin, train, save, open, predict, go on, look at trees. gbt.h comes first,
 * so that it must need nothing else; test.h brings the harness and base/ only. */
#include "../../src/gbt/gbt.h"

#include "test.h"

enum { N_ROWS = 300, N_COLS = 3, N_ROUNDS = 12 };

typedef struct host {
  gbt_mem mem;
  gbt_ctx ctx;
  double x[2][N_ROWS], label[N_ROWS];
  int32_t colour[N_ROWS]; /* codes from 1 */
  gbt_column cols[N_COLS];
  gbt_table table;
  int64_t at; /* rows that the source has handed over */
  gbt_column chunk_cols[N_COLS];
  gbt_table chunk;
  gbt_dataset *data;
  gbt_trainer *trainer;
  gbt_model *model;
  uint8_t *bytes;
  size_t n_bytes;
} host;

static const char *const colours[] = {"red", "green", "blue"};

static void host_open(host *h) {
  test_rng rng = {7};
  memset(h, 0, sizeof *h);
  h->mem = gbt_mem_default();
  for (int i = 0; i < N_ROWS; i++) {
    h->x[0][i] = test_unit(&rng);
    h->x[1][i] = i % 10 == 0 ? NAN : (double)test_below(&rng, 20);
    h->colour[i] = 1 + (int32_t)test_below(&rng, 3);
    h->label[i] = 3 * h->x[0][i] + (h->colour[i] == 2) + (h->x[1][i] > 7);
  }
  const gbt_column cols[N_COLS] = {
      {.name = "size", .tag = "", .type = GBT_NUMERIC, .storage = GBT_F64, .values = h->x[0]},
      {.name = "age", .tag = "", .type = GBT_NUMERIC, .storage = GBT_F64, .values = h->x[1]},
      {.name = "colour",
       .tag = "",
       .type = GBT_CATEGORICAL,
       .storage = GBT_CODES,
       .values = h->colour,
       .n_levels = 3,
       .levels = colours}};
  memcpy(h->cols, cols, sizeof cols);
  h->table = (gbt_table){.n_rows = N_ROWS, .n_cols = N_COLS, .cols = h->cols};
  CHECK_OK(gbt_ctx_open(&h->ctx, h->mem, 2, GBT_SIMD_AUTO, NULL, NULL, test_err));
}

static void host_close(host *h) {
  gbt_model_close(h->model);
  gbt_mem_free(&h->mem, h->bytes);
  gbt_trainer_free(h->trainer);
  gbt_dataset_unref(h->data);
  gbt_ctx_close(&h->ctx);
}

/* The table in chunks of 7 rows. */
static gbt_status host_rewind(void *state, gbt_ctx *ctx, gbt_error *err) {
  (void)ctx, (void)err;
  ((host *)state)->at = 0;
  return GBT_OK;
}

static gbt_status host_next(void *state, gbt_ctx *ctx, const gbt_table **chunk, gbt_error *err) {
  host *h = state;
  int64_t left = N_ROWS - h->at, n = left < 7 ? left : 7;
  (void)ctx, (void)err;
  *chunk = NULL;
  if (n == 0) return GBT_OK;
  memcpy(h->chunk_cols, h->cols, sizeof h->cols);
  h->chunk_cols[0].values = h->x[0] + h->at;
  h->chunk_cols[1].values = h->x[1] + h->at;
  h->chunk_cols[2].values = h->colour + h->at;
  h->chunk = (gbt_table){.n_rows = n, .n_cols = N_COLS, .cols = h->chunk_cols};
  h->at += n;
  *chunk = &h->chunk;
  return GBT_OK;
}

static int bin(host *h, int in_chunks) {
  const gbt_source source = {h, -1, host_rewind, host_next, NULL};
  const gbt_dataset_spec spec = {.table = in_chunks ? NULL : &h->table,
                                 .source = in_chunks ? &source : NULL,
                                 .max_bin = 255,
                                 .unseen = GBT_UNSEEN_PRIOR};
  if (!CHECK_OK(gbt_dataset_make(&h->ctx, &spec, &h->data, test_err))) return 0;
  const gbt_dataset_info about = gbt_dataset_about(h->data);
  CHECK(about.n_rows == N_ROWS && about.n_features == N_COLS && about.bytes > 0);
  CHECK_EQ_TEXT(gbt_dataset_schema(h->data)->col[2].name, "colour");
  CHECK_EQ_I64(gbt_dataset_feature(h->data, 2).n_bins, 3);
  CHECK(gbt_dataset_feature(h->data, 1).has_missing && !gbt_dataset_feature(h->data, 0).has_missing);
  return CHECK_OK(gbt_dataset_lend(&h->ctx, h->data, GBT_LABEL, h->label, N_ROWS, test_err));
}

static int train(host *h) {
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = h->data};
  gbt_stop_reason why;
  spec.objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  if (!CHECK_OK(gbt_params_set(&spec.params, "max_depth", 3, test_err))) return 0;
  if (!CHECK_OK(gbt_trainer_new(&h->ctx, &spec, &h->trainer, test_err))) return 0;
  if (!CHECK_OK(gbt_trainer_run(&h->ctx, h->trainer, N_ROUNDS, &why, test_err))) return 0;
  CHECK_EQ_TEXT(gbt_stop_reason_name((int)why), "done");
  return CHECK_EQ_I64(gbt_trainer_rounds(h->trainer), N_ROUNDS);
}

static int save_and_open(host *h) {
  const double kept[] = {0.25, 0.5};
  const gbt_meta meta = {.name = "kept", .kind = GBT_META_DOUBLE, .n = 2, .num = kept};
  gbt_model_spec spec = {.forest = gbt_trainer_trees(h->trainer),
                         .objective = gbt_trainer_objective(h->trainer),
                         .schema = gbt_dataset_schema(h->data),
                         .meta = &meta,
                         .n_meta = 1};
  spec.trees.end = gbt_forest_about(spec.forest).n_trees;
  if (!CHECK_OK(gbt_model_make(&h->mem, &spec, &h->bytes, &h->n_bytes, test_err))) return 0;
  if (!CHECK_OK(gbt_model_open(&h->mem, h->bytes, h->n_bytes, &h->model, test_err))) return 0;
  const gbt_meta *found = gbt_model_meta(h->model, "kept");
  CHECK(found != NULL && found->n == 2 && found->num[1] == 0.5 && gbt_model_meta(h->model, "other") == NULL);
  CHECK_EQ_I64(gbt_model_objective(h->model)->kind, GBT_OBJ_SQUARED_ERROR);
  return CHECK_EQ_U64(gbt_forest_about(gbt_model_forest(h->model)).n_rounds, N_ROUNDS);
}

/* Predictions of the training rows are the trainer's scores, and what a walk by gbt_tree_node() adds up. */
static double walk(const gbt_forest_view *forest, uint64_t tree, const host *h, int row) {
  uint32_t at = 0;
  for (;;) {
    const gbt_node_info node = gbt_tree_node(forest, tree, at);
    if (node.feature < 0) return node.value[0];
    const gbt_schema *schema = gbt_model_schema(h->model);
    int left;
    if (node.by_set) {
      const char *text = colours[h->colour[row] - 1];
      uint32_t level = 0;
      while (strcmp(schema->col[2].levels[level], text) != 0) level++;
      left = level / 32 < node.n_words && (node.set[level / 32] >> level % 32 & 1u);
    } else {
      const double x = h->x[node.feature][row];
      left = x != x ? node.missing_left : x <= node.threshold;
    }
    at = node.left + (left ? 0 : 1);
  }
}

static void predict(host *h) {
  gbt_binding *binding = NULL;
  double out[N_ROWS];
  const double *scores;
  const gbt_forest_view *forest = gbt_model_forest(h->model);
  const gbt_tree_range all = {0, gbt_forest_about(forest).n_trees};
  if (CHECK_OK(gbt_binding_new(&h->ctx, &h->table, gbt_model_schema(h->model), GBT_UNSEEN_PRIOR, &binding, test_err)) &&
      CHECK_OK(gbt_model_answer(&h->ctx, h->model, NULL, binding, GBT_ANSWER_RESPONSE, all, NULL, out, test_err)) &&
      CHECK_OK(gbt_trainer_scores(&h->ctx, h->trainer, 0, &scores, test_err))) {
    CHECK_EQ_BYTES(out, scores, sizeof out);
    for (int row = 0; row < N_ROWS; row++) {
      double sum = gbt_forest_about(forest).base[0];
      for (uint64_t t = 0; t < all.end; t++) sum += walk(forest, t, h, row);
      CHECK_EQ_BITS(sum, out[row]);
    }
  }
  gbt_binding_free(binding);
}

/* Two halves of a training are the whole. */
static void go_on(host *h) {
  gbt_trainer *second = NULL;
  gbt_stop_reason why;
  const double *scores, *more;
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = h->data};
  spec.objective = *gbt_model_objective(h->model);
  spec.params.max_depth = 3;
  spec.init = gbt_model_forest(h->model);
  spec.init_schema = gbt_model_schema(h->model);
  if (!CHECK_OK(gbt_trainer_scores(&h->ctx, h->trainer, 0, &spec.init_score, test_err))) return;
  if (CHECK_OK(gbt_trainer_new(&h->ctx, &spec, &second, test_err)) &&
      CHECK_OK(gbt_trainer_run(&h->ctx, second, 5, &why, test_err)) &&
      CHECK_OK(gbt_trainer_run(&h->ctx, h->trainer, 5, &why, test_err)) &&
      CHECK_OK(gbt_trainer_scores(&h->ctx, second, 0, &more, test_err)) &&
      CHECK_OK(gbt_trainer_scores(&h->ctx, h->trainer, 0, &scores, test_err))) {
    CHECK_EQ_BYTES(more, scores, N_ROWS * sizeof *more);
  }
  gbt_trainer_free(second);
}

static void the_public_header_is_enough(void) {
  host h;
  host_open(&h);
  if (bin(&h, 0) && train(&h) && save_and_open(&h)) {
    predict(&h);
    go_on(&h);
  }
  host_close(&h);
}

static void chunks_make_the_same_model(void) {
  host h[2];
  int ok = 1;
  for (int k = 0; k < 2; k++) {
    host_open(&h[k]);
    ok = ok && bin(&h[k], k) && train(&h[k]) && save_and_open(&h[k]);
  }
  if (ok && CHECK_EQ_U64(h[0].n_bytes, h[1].n_bytes)) CHECK_EQ_BYTES(h[0].bytes, h[1].bytes, h[0].n_bytes);
  for (int k = 0; k < 2; k++) host_close(&h[k]);
}

void suite_stranger(void) {
  RUN(the_public_header_is_enough);
  RUN(chunks_make_the_same_model);
}
