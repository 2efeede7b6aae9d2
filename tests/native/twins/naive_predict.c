/* See naive_predict.h. */
#include "naive_predict.h"

#include "../../src/gbt/objective/distribution.h"
#include "../../src/gbt/objective/response.h"
#include "test.h"

static uint32_t twin_leaf(const gbt_node *nodes, const uint32_t *words, const double *row, uint32_t at) {
  const gbt_node *node = &nodes[at];
  if (node->left == 0) return at;
  int left = gbt_goes_left(node, row[node->feat & GBT_NODE_FEATURE], words);
  return twin_leaf(nodes, words, row, left ? node->left : node->left + 1);
}

int32_t *twin_leaves(const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees) {
  int64_t n_rows = binding->table->n_rows;
  size_t width = (size_t)view->n_features + 1;
  double *row = test_alloc(width * sizeof *row);
  int32_t *feats = test_alloc(width * sizeof *feats);
  int64_t *cursor = test_alloc(width * sizeof *cursor);
  int32_t *out = test_alloc((size_t)n_rows * (size_t)(trees.end - trees.beg) * sizeof *out);
  for (int32_t f = 0; f < view->n_features; f++) feats[f] = f;
  for (int64_t r = 0; r < n_rows; r++) {
    memset(cursor, 0, width * sizeof *cursor);
    gbt_binding_read(binding, r, 1, feats, view->n_features, cursor, row, (int64_t)width);
    for (uint64_t t = trees.beg; t < trees.end; t++) {
      const gbt_tree *tree = &view->trees[t];
      static const uint32_t none[1];
      const uint32_t *words = tree->n_words > 0 ? view->sets + tree->set_beg : none;
      out[(int64_t)(t - trees.beg) * n_rows + r] = (int32_t)twin_leaf(view->nodes + tree->node_beg, words, row, 0);
    }
  }
  free(row);
  free(feats);
  free(cursor);
  return out;
}

double *twin_scores(const gbt_forest_view *view, int64_t n_rows, gbt_tree_range trees, const double *offset,
                    const int32_t *leaves) {
  double *out = test_alloc((size_t)n_rows * (size_t)view->n_outputs * sizeof *out);
  for (int64_t r = 0; r < n_rows; r++)
    for (int32_t k = 0; k < view->n_outputs; k++) {
      double s = view->base[k];
      if (offset != NULL) s += offset[k * n_rows + r];
      for (uint64_t t = trees.beg; t < trees.end; t++) {
        int32_t leaf = leaves[(int64_t)(t - trees.beg) * n_rows + r];
        const gbt_node *node = &view->nodes[view->trees[t].node_beg + (uint64_t)leaf];
        if (view->n_leaf_outputs > 1) {
          s += view->leaf_values[node->arg.vector * (uint64_t)view->n_leaf_outputs + (uint64_t)k];
          continue;
        }
        uint64_t in_round = t % ((uint64_t)view->n_outputs * (uint64_t)view->n_parallel);
        if (in_round / (uint64_t)view->n_parallel != (uint64_t)k) continue;
        s += node->arg.value;
      }
      out[k * n_rows + r] = s;
    }
  return out;
}

static void twin_softmax(const double *x, int64_t n_rows, int32_t n_outputs, int64_t row, double *out) {
  double most = x[row], sum = 0.0;
  for (int32_t j = 1; j < n_outputs; j++) most = x[j * n_rows + row] > most ? x[j * n_rows + row] : most;
  for (int32_t j = 0; j < n_outputs; j++) sum += gbt_exp(x[j * n_rows + row] - most);
  for (int32_t j = 0; j < n_outputs; j++) out[j] = gbt_exp(x[j * n_rows + row] - most) / sum;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void twin_responses(const gbt_objective *objective, int64_t n_rows, double *x) {
  int32_t n_outputs = objective->n_outputs;
  double *one = test_alloc((size_t)n_outputs * sizeof *one);
  for (int64_t r = 0; r < n_rows; r++) {
    for (int32_t k = 0; k < n_outputs; k++) one[k] = gbt_response(objective, x[k * n_rows + r]);
    if (gbt_is_distribution(objective)) gbt_distribution_natural(objective, &one[0], &one[1], 1);
    if (gbt_has_levels(objective)) qsort(one, (size_t)n_outputs, sizeof *one, by_size);
    if (objective->kind == GBT_OBJ_SOFTMAX) twin_softmax(x, n_rows, n_outputs, r, one);
    for (int32_t k = 0; k < n_outputs; k++) x[k * n_rows + r] = one[k];
  }
  free(one);
}

int32_t twin_class(const gbt_objective *objective, int64_t n_rows, const double *p, int64_t row) {
  int32_t best = 0;
  if (objective->n_outputs == 1) return p[row] > 0.5;
  for (int32_t k = 1; k < objective->n_outputs; k++)
    if (p[k * n_rows + row] > p[best * n_rows + row]) best = k;
  return best;
}

/* Returns the number of packs. */
static int64_t walk_packed(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees) {
  int64_t n_packs = 0;
  while (trees.beg < trees.end) {
    gbti_pack *pack;
    if (!CHECK_OK(gbti_pack_new(ctx, job->forest, trees, &pack, test_err))) return n_packs;
    gbt_tree_range done = pack->trees;
    if (done.end > done.beg) {
      CHECK_OK(gbti_predict_packed(ctx, job, pack, pack->trees, test_err));
      n_packs++;
    } else {
      done.end++;
      CHECK_OK(gbti_predict_direct(ctx, job, done, test_err));
    }
    gbti_pack_free(pack);
    trees.beg = done.end;
  }
  return n_packs;
}

int64_t check_both_ways(gbt_ctx *ctx, const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees,
                        const int32_t *want) {
  size_t bytes = (size_t)binding->table->n_rows * (size_t)(trees.end - trees.beg) * sizeof *want;
  if (bytes == 0) return 0;
  int32_t *got = test_alloc(bytes);
  gbti_predict_job job = {view, binding, binding->table->n_rows, trees.beg, NULL, got};
  memset(got, 0xff, bytes);
  CHECK_OK(gbti_predict_direct(ctx, &job, trees, test_err));
  CHECK_EQ_BYTES(got, want, bytes);
  memset(got, 0xff, bytes);
  int64_t n_packs = walk_packed(ctx, &job, trees);
  CHECK_EQ_BYTES(got, want, bytes);
  free(got);
  return n_packs;
}

void check_scores_packed(gbt_ctx *ctx, const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees,
                         const double *offset, const double *want) {
  int64_t n_rows = binding->table->n_rows, n = n_rows * view->n_outputs;
  double *got = test_alloc((size_t)n * sizeof *got);
  gbti_predict_job job = {view, binding, n_rows, trees.beg, got, NULL};
  for (int64_t i = 0; i < n; i++) got[i] = offset == NULL ? view->base[i / n_rows] : view->base[i / n_rows] + offset[i];
  walk_packed(ctx, &job, trees);
  CHECK_EQ_BYTES(got, want, (size_t)n * sizeof *got);
  free(got);
}
