/* Symmetric growth: one split for all nodes of a layer. See frontier.h. */
#include "frontier_impl.h"

int gbt_frontier_layer_waits(const gbt_frontier *fr) {
  for (size_t i = 0; i < fr->n_open; i++)
    if (fr->node[fr->open[i]].split.kind != GBT_SPLIT_NONE) return 0;
  return fr->n_open > 0;
}

void gbt_frontier_layer(gbt_frontier *fr, const gbt_split *layer, uint32_t set_beg, uint32_t set_words) {
  for (size_t i = 0; i < fr->n_open; i++) {
    gbt_grow_node *node = &fr->node[fr->open[i]];
    node->open = layer != NULL;
    if (!layer) continue;
    node->split = *layer;
    node->set_beg = set_beg;
    node->set_words = set_words;
  }
  if (!layer) fr->n_open = 0;
}

void gbt_frontier_set_bulk_sides(gbt_frontier *fr) {
  for (size_t beg = 0, n = 1; beg < fr->n_nodes && fr->node[beg].left; beg = 2 * beg + 1, n *= 2) {
    uint64_t left = 0, all = 0;
    GBT_ASSERT(beg + n <= fr->n_nodes);
    for (size_t i = beg; i < beg + n; i++) {
      GBT_ASSERT((size_t)fr->node[i].left == 2 * i + 1); /* trees are full */
      all += (uint64_t)gbt_grow_rows(&fr->node[i]);
      left += (uint64_t)gbt_grow_rows(&fr->node[fr->node[i].left]);
    }
    for (size_t i = beg; i < beg + n; i++) fr->node[i].bulk_left = left >= all - left;
  }
}

/* Without a split yet: the layer gets it once all its nodes are open. */
static gbt_status opened(gbt_frontier *fr, gbt_error *err) {
  (void)err;
  for (size_t i = 0; i < fr->n_fresh; i++) gbti_frontier_open(fr, fr->fresh[i]);
  return GBT_OK;
}

const gbti_growth gbti_symmetric = {
    .opened = opened, .select = gbti_frontier_select_layer, .commits = gbti_frontier_commits_all};
