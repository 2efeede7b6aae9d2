/* The growing forest: arrays that only ever grow at the end. All of them are made roomy before anything is copied,
 * so that a failed append leaves the forest as it was. */
#include "forest.h"

#include <string.h>

gbt_status gbt_forest_new_like(const gbt_mem *mem, const gbt_forest_view *shape, gbt_forest **out, gbt_error *err) {
  gbt_forest *forest;
  *out = NULL;
  if (shape->n_features < 0 || shape->n_outputs < 1 || shape->n_parallel < 1 ||
      (shape->n_leaf_outputs != 1 && shape->n_leaf_outputs != shape->n_outputs))
    return gbt_fail(err, GBT_E_INTERNAL,
                    "a forest cannot have %d features, %d outputs, %d values a leaf and %d parallel trees",
                    (int)shape->n_features, (int)shape->n_outputs, (int)shape->n_leaf_outputs, (int)shape->n_parallel);
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *forest, &forest, err));
  forest->mem = *mem;
  forest->n_features = shape->n_features;
  forest->n_outputs = shape->n_outputs;
  forest->n_leaf_outputs = shape->n_leaf_outputs;
  forest->n_parallel = shape->n_parallel;
  size_t n_outputs = (size_t)shape->n_outputs;
  gbt_status status = gbt_mem_zeros(mem, n_outputs, sizeof *forest->base, &forest->base, err);
  if (status != GBT_OK) {
    gbt_forest_free(forest);
    return status;
  }
  if (shape->base != NULL) memcpy(forest->base, shape->base, n_outputs * sizeof *forest->base);
  status = gbti_forest_take_grids(forest, shape, 1, err);
  if (status == GBT_OK)
    *out = forest;
  else
    gbt_forest_free(forest);
  return status;
}

gbt_status gbt_forest_new(const gbt_mem *mem, int32_t n_features, int32_t n_outputs, int32_t n_parallel,
                          gbt_forest **out, gbt_error *err) {
  gbt_forest_view shape = {
      .n_features = n_features, .n_outputs = n_outputs, .n_leaf_outputs = 1, .n_parallel = n_parallel};
  return gbt_forest_new_like(mem, &shape, out, err);
}

void gbt_forest_free(gbt_forest *forest) {
  if (forest == NULL) return;
  gbt_mem mem = forest->mem;
  gbt_mem_free(&mem, forest->base);
  gbt_mem_free(&mem, forest->trees);
  gbt_mem_free(&mem, forest->nodes);
  gbt_mem_free(&mem, forest->sets);
  gbt_mem_free(&mem, forest->gain);
  gbt_mem_free(&mem, forest->cover);
  gbt_mem_free(&mem, forest->count);
  gbt_mem_free(&mem, forest->leaf_values);
  gbti_forest_free_linear(forest);
  gbt_mem_free(&mem, forest);
}

static size_t plus(size_t a, uint64_t b) { return b > SIZE_MAX - a ? SIZE_MAX : a + (size_t)b; }

/* Room for so many more. linear: of the trees; leaves and terms. */
static gbt_status make_room(gbt_forest *f, uint64_t trees, uint64_t nodes, uint64_t words, uint64_t vectors,
                            const uint64_t linear[2], gbt_error *err) {
  size_t n_trees = plus(f->n_trees, trees), n_nodes = plus(f->n_nodes, nodes), n_words = plus(f->n_words, words);
  GBT_TRY(gbt_mem_grow(&f->mem, &f->trees, &f->cap_trees, n_trees, sizeof *f->trees, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->nodes, &f->cap_nodes[0], n_nodes, sizeof *f->nodes, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->gain, &f->cap_nodes[1], n_nodes, sizeof *f->gain, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->cover, &f->cap_nodes[2], n_nodes, sizeof *f->cover, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->count, &f->cap_nodes[3], n_nodes, sizeof *f->count, err));
  if (vectors > 0)
    GBT_TRY(gbt_mem_grow(&f->mem, &f->leaf_values, &f->cap_values, plus(f->n_vectors, vectors),
                         (size_t)f->n_leaf_outputs * sizeof *f->leaf_values, err));
  GBT_TRY(gbti_forest_linear_room(f, n_nodes, linear[0], linear[1], err));
  return gbt_mem_grow(&f->mem, &f->sets, &f->cap_words, n_words, sizeof *f->sets, err);
}

/* Copies the vectors of a tree whose nodes have been copied to `nodes`. */
static void put_vectors(gbt_forest *f, const gbt_tree_parts *tree, gbt_node *nodes) {
  size_t n = (size_t)f->n_leaf_outputs;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    if (nodes[i].left != 0) continue;
    memcpy(f->leaf_values + f->n_vectors * n, tree->leaf_values + nodes[i].arg.vector * n, n * sizeof *f->leaf_values);
    nodes[i].arg.vector = f->n_vectors++;
  }
}

/* Appends a copy of a tree; there is room. map: of the grids of its linear leaves, or NULL. */
static void put_tree(gbt_forest *f, const gbt_tree_parts *from, const uint32_t *map) {
  gbt_tree tree = {f->n_nodes, f->n_words, from->n_nodes, from->n_words};
  uint32_t n_nodes = from->n_nodes;
  f->trees[f->n_trees] = tree;
  memcpy(f->nodes + f->n_nodes, from->nodes, n_nodes * sizeof *from->nodes);
  memcpy(f->gain + f->n_nodes, from->gain, n_nodes * sizeof *from->gain);
  memcpy(f->cover + f->n_nodes, from->cover, n_nodes * sizeof *from->cover);
  memcpy(f->count + f->n_nodes, from->count, n_nodes * sizeof *from->count);
  if (from->n_words > 0) memcpy(f->sets + f->n_words, from->sets, from->n_words * sizeof *from->sets);
  if (f->n_leaf_outputs > 1) put_vectors(f, from, f->nodes + f->n_nodes);
  f->n_trees++;
  f->n_nodes += n_nodes;
  f->n_words += from->n_words;
  gbti_forest_put_linear(f, from, map);
}

static uint64_t count_leaves(const gbt_node *nodes, uint32_t n) {
  uint64_t n_leaves = 0;
  for (uint32_t i = 0; i < n; i++) n_leaves += nodes[i].left == 0;
  return n_leaves;
}

gbt_status gbt_forest_add(gbt_forest *forest, const gbt_tree_parts *tree, gbt_error *err) {
  return gbti_forest_add_mapped(forest, tree, NULL, err);
}

gbt_status gbti_forest_add_mapped(gbt_forest *forest, const gbt_tree_parts *tree, const uint32_t *map,
                                  gbt_error *err) {
  if (tree->n_nodes == 0) return gbt_fail(err, GBT_E_INTERNAL, "a tree has no nodes");
  uint64_t n_vectors = forest->n_leaf_outputs > 1 ? count_leaves(tree->nodes, tree->n_nodes) : 0;
  uint64_t linear[2] = {0, 0};
  GBT_ASSERT(tree->linear.of == NULL || forest->linear != NULL);
  for (uint32_t i = 0; tree->linear.of != NULL && i < tree->n_nodes; i++)
    if (tree->linear.of[i] > 0) linear[0]++, linear[1] += tree->linear.leaf[tree->linear.of[i] - 1].n_terms;
  GBT_TRY(make_room(forest, 1, tree->n_nodes, tree->n_words, n_vectors, linear, err));
  put_tree(forest, tree, map);
  return GBT_OK;
}

gbt_tree_parts gbt_tree_of(const gbt_forest_view *forest, uint64_t t) {
  const gbt_tree *tree = &forest->trees[t];
  uint64_t beg = tree->node_beg;
  GBT_ASSERT(t < forest->n_trees && beg + tree->n_nodes <= forest->n_nodes);
  gbt_tree_parts parts = {
      .n_nodes = tree->n_nodes,
      .n_words = tree->n_words,
      .nodes = forest->nodes + beg,
      .gain = forest->gain + beg,
      .cover = forest->cover + beg,
      .count = forest->count + beg,
      .sets = tree->n_words > 0 ? forest->sets + tree->set_beg : NULL,
      .leaf_values = forest->leaf_values,
      .linear = {forest->linear.n_leaves > 0 ? forest->linear.of + beg : NULL, forest->linear.leaf,
                 forest->linear.term},
  };
  return parts;
}

gbt_status gbt_forest_check_plain(const gbt_forest_view *view, gbt_error *err) {
  if (view->sums.rule == GBT_SUM_PLAIN) return GBT_OK;
  return gbt_fail(err, GBT_E_UNSUPPORTED,
                  "the model was imported, and its scores are added as the program that trained it does; its trees "
                  "cannot be combined with others: use its predictions as an offset");
}

gbt_status gbt_forest_append(gbt_forest *forest, const gbt_forest_view *from, gbt_error *err) {
  GBT_TRY(gbt_forest_check_plain(from, err));
  if (from->n_features != forest->n_features)
    return gbt_fail(err, GBT_E_ARG, "the initial model has %d features, this one has %d; give the same columns",
                    (int)from->n_features, (int)forest->n_features);
  if (from->n_outputs != forest->n_outputs)
    return gbt_fail(err, GBT_E_ARG, "the initial model has %d scores a row, this one has %d", (int)from->n_outputs,
                    (int)forest->n_outputs);
  if (from->n_leaf_outputs != forest->n_leaf_outputs)
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "the leaves of the initial model hold %d values, those of this training %d; train a new model",
                    (int)from->n_leaf_outputs, (int)forest->n_leaf_outputs);
  if (from->n_parallel != forest->n_parallel)
    return gbt_fail_on(err, GBT_E_ARG, "num_parallel_tree",
                       "`num_parallel_tree` is %d, but the initial model has %d; give the same number",
                       (int)forest->n_parallel, (int)from->n_parallel);
  const uint64_t linear[2] = {from->linear.n_leaves, from->linear.n_terms};
  uint32_t *map = NULL;
  GBT_TRY(gbti_forest_match_grids(forest, &from->linear, &map, err));
  const gbt_status status =
      make_room(forest, from->n_trees, from->n_nodes, from->n_words, from->n_vectors, linear, err);
  for (uint64_t t = 0; status == GBT_OK && t < from->n_trees; t++) {
    gbt_tree_parts tree = gbt_tree_of(from, t);
    put_tree(forest, &tree, map);
  }
  gbt_mem_free(&forest->mem, map);
  GBT_TRY(status);
  memcpy(forest->base, from->base, (size_t)from->n_outputs * sizeof *from->base);
  return GBT_OK;
}

gbt_forest_view gbt_forest_view_of(const gbt_forest *forest) {
  gbt_forest_view view = {
      .n_features = forest->n_features,
      .n_outputs = forest->n_outputs,
      .n_leaf_outputs = forest->n_leaf_outputs,
      .n_parallel = forest->n_parallel,
      .n_trees = forest->n_trees,
      .n_nodes = forest->n_nodes,
      .n_words = forest->n_words,
      .n_vectors = forest->n_vectors,
      .base = forest->base,
      .trees = forest->trees,
      .nodes = forest->nodes,
      .sets = forest->sets,
      .gain = forest->gain,
      .cover = forest->cover,
      .count = forest->count,
      .leaf_values = forest->leaf_values,
  };
  const gbt_linear_store *linear = forest->linear;
  if (linear != NULL)
    view.linear = (gbt_linear_view){linear->n_leaves, linear->n_terms, linear->n_values, linear->n_grids, linear->of,
                                    linear->leaf,     linear->term,    linear->grid,     linear->cut,     linear->x};
  return view;
}

gbt_forest_view gbt_forest_first(gbt_forest_view view, uint64_t n_trees) {
  if (n_trees >= view.n_trees) return view;
  view.n_nodes = view.trees[n_trees].node_beg;
  view.n_words = view.trees[n_trees].set_beg;
  view.n_trees = n_trees;
  gbti_linear_first(&view.linear, view.n_nodes);
  if (view.n_leaf_outputs == 1) return view;
  const gbt_node *leaf = view.nodes + view.n_nodes; /* a tree has a leaf, and its vectors follow those before */
  while (leaf->left != 0) leaf++;
  view.n_vectors = leaf->arg.vector;
  return view;
}

void gbt_forest_cut(gbt_forest *forest, size_t n_trees) {
  gbt_forest_view kept = gbt_forest_first(gbt_forest_view_of(forest), n_trees);
  GBT_ASSERT(kept.n_trees <= forest->n_trees && kept.n_nodes <= forest->n_nodes && kept.n_words <= forest->n_words);
  forest->n_trees = (size_t)kept.n_trees;
  forest->n_nodes = (size_t)kept.n_nodes;
  forest->n_words = (size_t)kept.n_words;
  forest->n_vectors = (size_t)kept.n_vectors;
  if (forest->linear == NULL) return;
  forest->linear->n_leaves = (size_t)kept.linear.n_leaves;
  forest->linear->n_terms = (size_t)kept.linear.n_terms;
}
