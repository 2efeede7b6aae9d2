#include "export.h"

#include <string.h>

void gbt_export_free(const gbt_mem *mem, gbt_export *out) {
  void *blocks[] = {out->node, out->gain, out->cover, out->count, out->sets};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
}

/* One growing node in the form of the forest. */
static gbt_node export_node(gbt_export *out, const gbt_grown *tree, const gbt_cuts *cuts, size_t i, uint32_t *n_words) {
  const gbt_grow_node *from = &tree->node[i];
  gbt_node node;
  memset(&node, 0, sizeof node);
  if (from->left == 0) {
    node.arg.value = tree->value[i];
    return node;
  }
  const gbt_split *s = &from->split;
  GBT_ASSERT((size_t)from->left > i && (size_t)from->left + 1 < tree->n_nodes && s->kind != GBT_SPLIT_NONE);
  node.left = (uint32_t)from->left;
  node.feat =
      (uint32_t)s->feat | (s->missing_left ? GBT_NODE_MISSING_LEFT : 0u) | (from->bulk_left ? GBT_NODE_BULK_LEFT : 0u);
  if (s->kind == GBT_SPLIT_NUMERIC) {
    node.arg.value = cuts->feat[s->feat].cut[s->bin];
    return node;
  }
  node.feat |= GBT_NODE_CATEGORICAL;
  node.arg.set.n_words = from->set_words;
  if (tree->symmetric && i > 0 && from->depth == from[-1].depth) { /* one for a layer */
    node.arg.set.beg = out->node[i - 1].arg.set.beg;
    return node;
  }
  node.arg.set.beg = *n_words;
  memcpy(out->sets + *n_words, tree->sets + from->set_beg, from->set_words * sizeof *out->sets);
  GBT_ASSERT((size_t)from->set_beg + from->set_words <= tree->n_set_words &&
             *n_words + from->set_words <= tree->n_set_words);
  *n_words += from->set_words;
  return node;
}

gbt_status gbt_export_tree(const gbt_mem *mem, gbt_export *out, const gbt_grown *tree, const gbt_cuts *cuts,
                           gbt_forest *forest, gbt_error *err) {
  size_t n = tree->n_nodes;
  uint32_t n_words = 0;
  GBT_TRY(gbt_mem_grow(mem, &out->node, &out->cap[0], n, sizeof *out->node, err));
  GBT_TRY(gbt_mem_grow(mem, &out->gain, &out->cap[1], n, sizeof *out->gain, err));
  GBT_TRY(gbt_mem_grow(mem, &out->cover, &out->cap[2], n, sizeof *out->cover, err));
  GBT_TRY(gbt_mem_grow(mem, &out->count, &out->cap[3], n, sizeof *out->count, err));
  GBT_TRY(gbt_mem_grow(mem, &out->sets, &out->cap[4], tree->n_set_words + 1, sizeof *out->sets, err));
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *from = &tree->node[i];
    out->node[i] = export_node(out, tree, cuts, i, &n_words);
    out->gain[i] = from->left ? from->split.gain : 0.0;
    out->cover[i] = (double)tree->fine[i].h * tree->unit_h;
    out->count[i] = from->rows_high > 0 ? UINT32_MAX : from->n_rows;
    GBT_ASSERT(tree->fine[i].h >= 0 && (from->parent < 0 || (size_t)from->parent < i));
  }
  const gbt_tree_parts parts = {.n_nodes = (uint32_t)n,
                                .n_words = n_words,
                                .nodes = out->node,
                                .gain = out->gain,
                                .cover = out->cover,
                                .count = out->count,
                                .sets = out->sets,
                                .linear = tree->linear};
  return gbt_forest_add(forest, &parts, err);
}

gbt_split gbt_import_split(const gbt_tree_parts *tree, uint32_t i, const gbt_cuts *cuts) {
  const gbt_node *node = &tree->nodes[i];
  gbt_split split;
  memset(&split, 0, sizeof split);
  GBT_ASSERT(i < tree->n_nodes && node->left > i && node->left + 1 < tree->n_nodes);
  split.feat = (int32_t)(node->feat & GBT_NODE_FEATURE);
  split.gain = tree->gain[i];
  split.missing_left = (node->feat & GBT_NODE_MISSING_LEFT) != 0;
  split.kind = GBT_SPLIT_SET;
  if ((node->feat & GBT_NODE_CATEGORICAL) != 0) return split;
  const gbt_feature_cuts *feat = &cuts->feat[split.feat];
  split.kind = GBT_SPLIT_NUMERIC;
  split.bin = gbt_cuts_bin(feat, node->arg.value);
  GBT_ASSERT(split.bin < feat->n_bins && feat->cut[split.bin] == node->arg.value);
  return split;
}
