#include "mean.h"

static gbt_status mean_shape(const gbt_forest_view *members, int32_t n, gbt_forest_view *shape, uint64_t *rounds,
                             gbt_error *err) {
  int64_t n_parallel = 0;
  *shape = members[0];
  shape->base = NULL;
  shape->linear = (gbt_linear_view){0};
  *rounds = 0;
  for (int32_t m = 0; m < n; m++) {
    const gbt_forest_view *one = &members[m];
    GBT_TRY(gbt_forest_check_plain(one, err));
    if (one->n_features != shape->n_features || one->n_outputs != shape->n_outputs ||
        one->n_leaf_outputs != shape->n_leaf_outputs)
      return gbt_fail(err, GBT_E_ARG, "model %d has other features or outputs than the first one", (int)m + 1);
    n_parallel += one->n_parallel;
    const uint64_t own = one->n_trees / gbt_trees_per_round(one);
    if (own > *rounds) *rounds = own;
  }
  if (n_parallel > INT32_MAX / shape->n_outputs)
    return gbt_fail(err, GBT_E_ARG, "the models have %lld parallel trees together, which is too many",
                    (long long)n_parallel);
  shape->n_parallel = (int32_t)n_parallel;
  return GBT_OK;
}

/* The trees that a member adds to one output in a round, or that stand for them. zeros: n_leaf_outputs; map: of the
 * member's grids, or NULL. */
static gbt_status add_trees(gbt_forest *to, const gbt_forest_view *from, uint64_t round, uint64_t output,
                            const double *zeros, const uint32_t *map, gbt_error *err) {
  static const gbt_node leaf = {.arg.value = 0.0}; /* and the vector with the number 0 */
  static const double nothing = 0.0;
  static const uint32_t no_rows = 0;
  const uint64_t first = round * gbt_trees_per_round(from) + output * (uint64_t)from->n_parallel;
  for (int32_t i = 0; i < from->n_parallel; i++) {
    const gbt_tree_parts tree =
        first < from->n_trees ? gbt_tree_of(from, first + (uint64_t)i)
                              : (gbt_tree_parts){.n_nodes = 1,
                                               .nodes = &leaf,
                                               .gain = &nothing,
                                               .cover = &nothing,
                                               .count = &no_rows,
                                               .leaf_values = zeros};
    GBT_TRY(gbti_forest_add_mapped(to, &tree, map, err));
  }
  return GBT_OK;
}

static void divide_linear(gbt_linear_store *linear, int32_t n) {
  for (size_t i = 0; i < linear->n_leaves; i++) {
    linear->leaf[i].start /= n;
    linear->leaf[i].low /= n;
    linear->leaf[i].high /= n;
  }
  for (size_t i = 0; i < linear->n_terms; i++) linear->term[i].slope /= n;
}

static void take_means(gbt_forest *forest, const gbt_forest_view *members, int32_t n) {
  for (int32_t k = 0; k < forest->n_outputs; k++) {
    double sum = 0.0;
    for (int32_t m = 0; m < n; m++) sum += members[m].base[k];
    forest->base[k] = sum / n;
  }
  if (forest->linear != NULL) divide_linear(forest->linear, n);
  const size_t n_values = forest->n_leaf_outputs > 1 ? forest->n_vectors * (size_t)forest->n_leaf_outputs : 0;
  for (size_t i = 0; i < n_values; i++) forest->leaf_values[i] /= n;
  if (n_values > 0) return; /* leaves have numbers of vectors */
  for (size_t i = 0; i < forest->n_nodes; i++)
    if (forest->nodes[i].left == 0) forest->nodes[i].arg.value /= n;
}

gbt_status gbt_forest_mean(const gbt_mem *mem, const gbt_forest_view *members, int32_t n, gbt_forest **out,
                           gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_forest_view shape;
  gbt_forest *forest = NULL;
  double *zeros = NULL;
  uint32_t **map = NULL; /* by member */
  uint64_t n_rounds;
  *out = NULL;
  GBT_ASSERT(n >= 1);
  GBT_TRY(mean_shape(members, n, &shape, &n_rounds, err));
  const uint64_t n_groups = shape.n_leaf_outputs > 1 ? 1 : (uint64_t)shape.n_outputs;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)shape.n_leaf_outputs, sizeof *zeros, &zeros, err), done);
  GBT_TRY_GOTO(gbt_forest_new_like(mem, &shape, &forest, err), done);
  GBT_TRY_GOTO(gbti_forest_take_grids(forest, members, n, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)n, sizeof *map, &map, err), done);
  for (int32_t m = 0; m < n; m++)
    GBT_TRY_GOTO(gbti_forest_match_grids(forest, &members[m].linear, &map[m], err), done);
  for (uint64_t r = 0; r < n_rounds; r++)
    for (uint64_t k = 0; k < n_groups; k++)
      for (int32_t m = 0; m < n; m++) GBT_TRY_GOTO(add_trees(forest, &members[m], r, k, zeros, map[m], err), done);
  take_means(forest, members, n);
done:
  for (int32_t m = 0; map != NULL && m < n; m++) gbt_mem_free(mem, map[m]);
  gbt_mem_free(mem, map);
  gbt_mem_free(mem, zeros);
  if (status == GBT_OK)
    *out = forest;
  else
    gbt_forest_free(forest);
  return status;
}
