/* The growing forest: six arrays that only ever grow at the end. All of them are made roomy before anything is copied,
 * so that a failed append leaves the forest as it was. */
#include "forest.h"

#include <string.h>

gbt_status gbt_forest_new(const gbt_mem *mem, int32_t n_features, int32_t n_outputs, int32_t n_parallel,
                          gbt_forest **out, gbt_error *err) {
  gbt_forest *forest;
  *out = NULL;
  if (n_features < 0 || n_outputs < 1 || n_parallel < 1)
    return gbt_fail(err, GBT_E_INTERNAL, "a forest of %d features, %d outputs and %d parallel trees", (int)n_features,
                    (int)n_outputs, (int)n_parallel);
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *forest, &forest, err));
  forest->mem = *mem;
  forest->n_features = n_features;
  forest->n_outputs = n_outputs;
  forest->n_parallel = n_parallel;
  gbt_status status = gbt_mem_zeros(mem, (size_t)n_outputs, sizeof *forest->base, &forest->base, err);
  if (status != GBT_OK) {
    gbt_forest_free(forest);
    return status;
  }
  *out = forest;
  return GBT_OK;
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
  gbt_mem_free(&mem, forest);
}

static size_t plus(size_t a, uint64_t b) { return b > SIZE_MAX - a ? SIZE_MAX : a + (size_t)b; }

/* Room for so many more. */
static gbt_status make_room(gbt_forest *f, uint64_t trees, uint64_t nodes, uint64_t words, gbt_error *err) {
  size_t n_trees = plus(f->n_trees, trees), n_nodes = plus(f->n_nodes, nodes), n_words = plus(f->n_words, words);
  GBT_TRY(gbt_mem_grow(&f->mem, &f->trees, &f->cap_trees, n_trees, sizeof *f->trees, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->nodes, &f->cap_nodes[0], n_nodes, sizeof *f->nodes, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->gain, &f->cap_nodes[1], n_nodes, sizeof *f->gain, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->cover, &f->cap_nodes[2], n_nodes, sizeof *f->cover, err));
  GBT_TRY(gbt_mem_grow(&f->mem, &f->count, &f->cap_nodes[3], n_nodes, sizeof *f->count, err));
  return gbt_mem_grow(&f->mem, &f->sets, &f->cap_words, n_words, sizeof *f->sets, err);
}

/* Copies one tree behind the others; there is room. */
static void put_tree(gbt_forest *f, uint32_t n_nodes, const gbt_node *nodes, const double *gain, const double *cover,
                     const uint32_t *count, uint32_t n_words, const uint32_t *sets) {
  gbt_tree tree = {f->n_nodes, f->n_words, n_nodes, n_words};
  f->trees[f->n_trees] = tree;
  memcpy(f->nodes + f->n_nodes, nodes, n_nodes * sizeof *nodes);
  memcpy(f->gain + f->n_nodes, gain, n_nodes * sizeof *gain);
  memcpy(f->cover + f->n_nodes, cover, n_nodes * sizeof *cover);
  memcpy(f->count + f->n_nodes, count, n_nodes * sizeof *count);
  if (n_words > 0) memcpy(f->sets + f->n_words, sets, n_words * sizeof *sets);
  f->n_trees++;
  f->n_nodes += n_nodes;
  f->n_words += n_words;
}

gbt_status gbt_forest_add(gbt_forest *forest, uint32_t n_nodes, const gbt_node *nodes, const double *gain,
                          const double *cover, const uint32_t *count, uint32_t n_words, const uint32_t *sets,
                          gbt_error *err) {
  if (n_nodes == 0) return gbt_fail(err, GBT_E_INTERNAL, "a tree without nodes");
  GBT_TRY(make_room(forest, 1, n_nodes, n_words, err));
  put_tree(forest, n_nodes, nodes, gain, cover, count, n_words, sets);
  return GBT_OK;
}

gbt_status gbt_forest_append(gbt_forest *forest, const gbt_forest_view *from, gbt_error *err) {
  if (from->n_features != forest->n_features)
    return gbt_fail(err, GBT_E_ARG, "the model to go on from has %d features, this one has %d; give the same columns",
                    (int)from->n_features, (int)forest->n_features);
  if (from->n_outputs != forest->n_outputs)
    return gbt_fail(err, GBT_E_ARG, "the model to go on from has %d scores a row, this one has %d",
                    (int)from->n_outputs, (int)forest->n_outputs);
  if (from->n_parallel != forest->n_parallel)
    return gbt_fail_on(err, GBT_E_ARG, "num_parallel_tree",
                       "`num_parallel_tree` is %d, but the model to go on from has %d; give the same number",
                       (int)forest->n_parallel, (int)from->n_parallel);
  GBT_TRY(make_room(forest, from->n_trees, from->n_nodes, from->n_words, err));
  for (uint64_t t = 0; t < from->n_trees; t++) {
    const gbt_tree *tree = &from->trees[t];
    uint64_t beg = tree->node_beg;
    const uint32_t *sets = tree->n_words > 0 ? from->sets + tree->set_beg : NULL;
    put_tree(forest, tree->n_nodes, from->nodes + beg, from->gain + beg, from->cover + beg, from->count + beg,
             tree->n_words, sets);
  }
  memcpy(forest->base, from->base, (size_t)from->n_outputs * sizeof *from->base);
  return GBT_OK;
}

void gbt_forest_cut(gbt_forest *forest, size_t n_trees) {
  if (n_trees >= forest->n_trees) return;
  forest->n_nodes = (size_t)forest->trees[n_trees].node_beg;
  forest->n_words = (size_t)forest->trees[n_trees].set_beg;
  forest->n_trees = n_trees;
}

gbt_forest_view gbt_forest_look(const gbt_forest *forest) {
  gbt_forest_view view = {
      .n_features = forest->n_features,
      .n_outputs = forest->n_outputs,
      .n_parallel = forest->n_parallel,
      .n_trees = forest->n_trees,
      .n_nodes = forest->n_nodes,
      .n_words = forest->n_words,
      .base = forest->base,
      .trees = forest->trees,
      .nodes = forest->nodes,
      .sets = forest->sets,
      .gain = forest->gain,
      .cover = forest->cover,
      .count = forest->count,
  };
  return view;
}
