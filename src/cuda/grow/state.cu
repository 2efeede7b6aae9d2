/* What a tree that grows has to itself, in one piece of memory; as many of them as grow beside each other.
 *
 *   head   cu_tree, nodes, fine sums, values   the part that comes down, see cu_tree_block
 *          sets, what level.cu wants cleared
 *   rest   rows in order, lists, histograms, found splits, features
 *
 * The head is cleared once, as more of it comes down than a tree has written. */
#include "level.cuh"

cu_tree_block cu_tree_block_of(size_t nodes) {
  const size_t line = 256;
  cu_tree_block b;
  b.node = (sizeof(cu_tree) + line - 1) / line * line;
  b.fine = b.node + (nodes * sizeof(gbt_grow_node) + line - 1) / line * line;
  b.value = b.fine + nodes * sizeof(gbt_sum);
  b.bytes = b.value + nodes * sizeof(double);
  return b;
}

static void place_head(cu_view *v, cu_places *at) {
  const cu_tree_block b = cu_tree_block_of((size_t)v->max_nodes);
  unsigned char *tree;
  cu_place(at, &tree, b.bytes);
  v->tree = (cu_tree *)(void *)tree;
  v->node = (gbt_grow_node *)(void *)((uintptr_t)tree + b.node);
  v->fine = (gbt_sum *)(void *)((uintptr_t)tree + b.fine);
  v->value = (double *)(void *)((uintptr_t)tree + b.value);
  cu_place(at, &v->sets, v->max_words);
}

static void place_rows(const cu_backend *be, cu_view *v, cu_places *at) {
  const size_t n = (size_t)be->n_rows;
  for (int k = 0; k < 2; k++) {
    cu_place(at, &v->order[k].row, n);
    cu_place(at, &v->order[k].gh, n);
  }
  cu_place(at, &v->mask, (size_t)be->max_split_blocks * (v->split_rows / 32u));
  cu_place(at, &v->block_left, be->max_split_blocks + 1u);
}

static void place_lists(cu_view *v, cu_places *at) {
  const size_t step = (size_t)v->max_step, fresh = 2 * step;
  cu_place(at, &v->chosen, step);
  cu_place(at, &v->search, fresh);
  cu_place(at, &v->build, fresh);
  cu_place(at, &v->hist_block, fresh + 1);
  cu_place(at, &v->split_block, step + 1);
  cu_place(at, &v->leaf_block, (size_t)v->max_nodes + 2);
  cu_place(at, &v->found, fresh * (size_t)v->n_units);
  cu_place(at, &v->set_bits, fresh * (size_t)v->set_words + 1);
}

static void place_features(const cu_backend *be, cu_view *v, cu_places *at) {
  int32_t *feats;
  cu_place(at, &feats, (size_t)be->n_features + 1); /* the number, then the features */
  v->n_tree_feats = feats;
  v->tree_feats = (int32_t *)((uintptr_t)feats + sizeof *feats);
  cu_place(at, &v->allowed, cu_n_masks(v) * (size_t)be->n_features);
}

/* Places everything; *head: bytes that are to be cleared. levels: of symmetric growth, or NULL. */
static void place_all(const cu_backend *be, cu_view *v, cu_level_view *levels, cu_places *at, size_t *head) {
  const size_t slots = (size_t)v->max_hists * v->n_slots;
  place_head(v, at);
  if (levels) cu_level_place(be, levels, at);
  *head = at->bytes;
  place_rows(be, v, at);
  place_lists(v, at);
  place_features(be, v, at);
  cu_place(at, &v->sum, slots);
  if (v->any_counts) cu_place(at, &v->count, slots);
  cu_sets_place(v, at);
}

size_t cu_state_bytes(const cu_backend *be) {
  cu_places count = {0, 0};
  cu_view v = be->view;
  cu_level_view levels = be->level ? be->level->view : cu_level_view();
  size_t head;
  place_all(be, &v, be->level ? &levels : NULL, &count, &head);
  return count.bytes;
}

gbt_status cu_state_open(cu_backend *be, gbt_error *err) {
  cu_view *v = &be->view;
  const size_t n_trees = (size_t)be->base.most_trees, masks = cu_n_masks(v) * (size_t)be->n_features;
  unsigned char *state;
  size_t head;
  v->stride = cu_state_bytes(be);
  GBT_TRY(cu_keep(be, &state, n_trees * v->stride, err));
  cu_places at = {(uintptr_t)state, 0};
  place_all(be, v, be->level ? &be->level->view : NULL, &at, &head);
  for (size_t y = 0; y < n_trees; y++) {
    CU_TRY(cudaMemsetAsync(state + y * v->stride, 0, head, be->device.stream));
    CU_TRY(cudaMemsetAsync(v->allowed + y * v->stride, 1, masks, be->device.stream));
  }
  return GBT_OK;
}
