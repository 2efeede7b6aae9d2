/* Growth layer by layer: the nodes of the shallowest layer that has open ones. Symmetric growth chooses in the same
 * way, once a layer has its split. */
#include "frontier_impl.h"

#include <string.h>

#include "../base/order.h"

/* Keeps x sorted by (gain down, node up): inserts into the first n of at most cap places. */
static size_t insert_by_gain(const gbt_frontier *fr, int32_t *x, size_t n, size_t cap, int32_t node) {
  size_t at = n;
  double gain = fr->node[node].split.gain;
  while (at > 0) {
    double other = fr->node[x[at - 1]].split.gain;
    if (other > gain || (other == gain && x[at - 1] < node)) break;
    at--;
  }
  if (at >= cap) return n;
  size_t last = n < cap ? n : cap - 1;
  memmove(x + at + 1, x + at, (last - at) * sizeof *x);
  x[at] = node;
  return last + 1;
}

static void sort_ascending(int32_t *x, size_t n) { /* nearly sorted input: node numbers grow with time */
  for (size_t i = 1; i < n; i++) {
    int32_t v = x[i];
    size_t j = i;
    for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
    x[j] = v;
  }
}

static void drop_chosen(gbt_frontier *fr) {
  size_t kept = 0;
  for (size_t i = 0; i < fr->n_chosen; i++) fr->node[fr->chosen[i]].open = 0;
  for (size_t i = 0; i < fr->n_open; i++)
    if (fr->node[fr->open[i]].open) fr->open[kept++] = fr->open[i];
  fr->n_open = kept;
}

void gbti_frontier_select_layer(gbt_frontier *fr, size_t at_once) {
  size_t room = fr->n_open;
  if (fr->policy.max_leaves > 0 && (uint64_t)(fr->policy.max_leaves - fr->n_leaves) < room)
    room = (size_t)(fr->policy.max_leaves - fr->n_leaves);
  GBT_ASSERT(fr->policy.max_leaves == 0 || fr->n_leaves <= fr->policy.max_leaves);
  if (room == 0) return;
  int32_t depth = INT32_MAX;
  size_t n_layer = 0;
  for (size_t i = 0; i < fr->n_open; i++) {
    int32_t d = fr->node[fr->open[i]].depth;
    if (fr->node[fr->open[i]].split.kind == GBT_SPLIT_NONE) continue; /* symmetric: of the layer after the chosen one */
    if (d < depth) n_layer = 0, depth = d;
    n_layer += d == depth;
  }
  size_t cap = at_once < room ? at_once : room;
  for (size_t i = 0; i < fr->n_open; i++) {
    int32_t id = fr->open[i];
    if (fr->node[id].depth != depth) continue;
    if (n_layer > room)
      fr->n_chosen = insert_by_gain(fr, fr->chosen, fr->n_chosen, cap, id);
    else fr->chosen[fr->n_chosen++] = id;
  }
  if (n_layer <= room) {
    sort_ascending(fr->chosen, fr->n_chosen);
    if (fr->n_chosen > cap) fr->n_chosen = cap;
    GBT_ASSERT(gbt_ascend_i32(fr->chosen, fr->n_chosen));
  }
  GBT_ASSERT(fr->n_chosen <= cap);
  drop_chosen(fr);
}

void gbti_frontier_open(gbt_frontier *fr, int32_t id) {
  GBT_ASSERT(!fr->node[id].open && fr->node[id].left == 0);
  fr->node[id].open = 1;
  fr->open[fr->n_open++] = id;
}

int gbti_frontier_commits_all(const gbt_frontier *fr, int32_t parent) {
  (void)fr;
  (void)parent;
  return 1;
}

static gbt_status opened(gbt_frontier *fr, gbt_error *err) {
  (void)err;
  for (size_t i = 0; i < fr->n_fresh; i++) {
    gbt_grow_node *node = &fr->node[fr->fresh[i]];
    if (node->split.kind == GBT_SPLIT_NONE) continue;
    gbt_grow_settle_missing(node);
    gbti_frontier_open(fr, fr->fresh[i]);
  }
  return GBT_OK;
}

const gbti_growth gbti_depthwise = {
    .opened = opened, .select = gbti_frontier_select_layer, .commits = gbti_frontier_commits_all};
