#include "vectors.h"

#include <string.h>

/* A tree in the making; grown to the largest. */
typedef struct tree_scratch {
  gbt_node *nodes;
  double *gain, *cover, *values;
  size_t cap[4];
} tree_scratch;

static gbt_status make_room(const gbt_mem *mem, tree_scratch *s, size_t n_nodes, size_t n_values, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(mem, &s->nodes, &s->cap[0], n_nodes, sizeof *s->nodes, err));
  GBT_TRY(gbt_mem_grow(mem, &s->gain, &s->cap[1], n_nodes, sizeof *s->gain, err));
  GBT_TRY(gbt_mem_grow(mem, &s->cover, &s->cap[2], n_nodes, sizeof *s->cover, err));
  return gbt_mem_grow(mem, &s->values, &s->cap[3], n_values, sizeof *s->values, err);
}

static void drop(const gbt_mem *mem, tree_scratch *s) {
  void *blocks[] = {s->nodes, s->gain, s->cover, s->values};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
}

/* ---- joined ---- */

/* Whether node i of two trees is the same one; leaves may differ in their values. */
GBT_ASSERT_FN int same_node(const gbt_tree_parts *a, const gbt_tree_parts *b, uint32_t i) {
  if (a->count[i] != b->count[i] || a->nodes[i].left != b->nodes[i].left) return 0;
  return a->nodes[i].left == 0 || memcmp(&a->nodes[i], &b->nodes[i], sizeof a->nodes[i]) == 0;
}

/* Adds tree k to what is there of those before. */
static void join(tree_scratch *s, const gbt_tree_parts *tree, const gbt_tree_parts *first, size_t k, size_t K) {
  size_t leaf = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    GBT_ASSERT(same_node(tree, first, i));
    s->gain[i] = k == 0 ? tree->gain[i] : s->gain[i] + tree->gain[i];
    s->cover[i] = k == 0 ? tree->cover[i] : s->cover[i] + tree->cover[i];
    if (tree->nodes[i].left > 0) continue;
    s->values[leaf * K + k] = tree->nodes[i].arg.value;
    s->nodes[i].arg.vector = leaf++;
  }
  (void)first;
}

gbt_status gbt_forest_add_joined(gbt_forest *forest, const gbt_forest_view *trees, gbt_error *err) {
  const size_t K = (size_t)forest->n_outputs;
  const gbt_tree_parts first = gbt_tree_of(trees, 0);
  tree_scratch s = {0};
  GBT_ASSERT(forest->n_leaf_outputs > 1 && trees->n_leaf_outputs == 1 && trees->n_trees == (uint64_t)K);
  gbt_status status = make_room(&forest->mem, &s, first.n_nodes, (first.n_nodes / 2 + 1) * K, err);
  if (status == GBT_OK) {
    memcpy(s.nodes, first.nodes, first.n_nodes * sizeof *s.nodes);
    for (size_t k = 0; k < K; k++) {
      const gbt_tree_parts tree = gbt_tree_of(trees, k);
      GBT_ASSERT(tree.n_nodes == first.n_nodes && tree.n_words == first.n_words);
      join(&s, &tree, &first, k, K);
    }
    gbt_tree_parts joined = first;
    joined.nodes = s.nodes;
    joined.gain = s.gain;
    joined.cover = s.cover;
    joined.leaf_values = s.values;
    status = gbt_forest_add(forest, &joined, err);
  }
  drop(&forest->mem, &s);
  return status;
}

/* ---- apart ---- */

static gbt_status add_one(gbt_forest *to, const gbt_tree_parts *tree, size_t k, size_t K, tree_scratch *s,
                          gbt_error *err) {
  gbt_tree_parts one = *tree;
  GBT_TRY(make_room(&to->mem, s, tree->n_nodes, 0, err));
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    s->nodes[i] = tree->nodes[i];
    s->gain[i] = tree->gain[i] / (double)K;
    s->cover[i] = tree->cover[i] / (double)K;
    if (tree->nodes[i].left == 0) s->nodes[i].arg.value = tree->leaf_values[tree->nodes[i].arg.vector * K + k];
  }
  one.nodes = s->nodes;
  one.gain = s->gain;
  one.cover = s->cover;
  one.leaf_values = NULL;
  return gbt_forest_add(to, &one, err);
}

gbt_status gbt_forest_apart(const gbt_mem *mem, const gbt_forest_view *from, uint64_t beg, uint64_t end,
                            gbt_forest **out, gbt_error *err) {
  const uint64_t n_parallel = (uint64_t)from->n_parallel;
  const size_t K = (size_t)from->n_outputs;
  gbt_forest_view shape = *from;
  gbt_forest *forest;
  tree_scratch s = {0};
  gbt_status status = GBT_OK;
  *out = NULL;
  GBT_ASSERT(from->n_leaf_outputs > 1 && beg % n_parallel == 0 && end % n_parallel == 0 && end <= from->n_trees);
  shape.n_leaf_outputs = 1;
  GBT_TRY(gbt_forest_new_like(mem, &shape, &forest, err));
  for (uint64_t round = beg; round < end && status == GBT_OK; round += n_parallel)
    for (size_t k = 0; k < K && status == GBT_OK; k++)
      for (uint64_t i = 0; i < n_parallel && status == GBT_OK; i++) {
        const gbt_tree_parts tree = gbt_tree_of(from, round + i);
        status = add_one(forest, &tree, k, K, &s, err);
      }
  drop(mem, &s);
  if (status == GBT_OK)
    *out = forest;
  else
    gbt_forest_free(forest);
  return status;
}
