/* Best-first growth that looks ahead.
 *
 * The policy splits one leaf at a time, the one of the largest gain; a single leaf seldom has enough work for several
 * threads. So a step splits further leaves with it, those that the policy is likely to come to, and keeps their
 * waiting children:
 *
 *   open    leaves of the tree so far, a heap: largest gain first, of equals the lower number
 *   next    leaves of the tree with everything waiting, a heap by reach: the least gain on the way still waiting
 *
 *            a                 a, b in the tree; c is open and was split ahead: d, e waiting
 *          /   \               when the policy comes to c, d and e get their numbers and are open at once
 *         b     c              d's reach is min(gain of c, gain of d): the policy cannot come to d before c
 *             :   :
 *             d   e
 *
 * Nodes get the numbers that they would have without looking ahead, and what is still waiting at the end is dropped
 * (settle): looking ahead does not change the tree. */
#include "frontier_impl.h"

#include <string.h>

typedef int (*before_fn)(const gbt_frontier *fr, int32_t a, int32_t b);

static int open_before(const gbt_frontier *fr, int32_t a, int32_t b) {
  const gbt_grow_node *x = &fr->node[a], *y = &fr->node[b];
  return x->split.gain > y->split.gain || (x->split.gain == y->split.gain && x->number < y->number);
}

static int next_before(const gbt_frontier *fr, int32_t a, int32_t b) {
  const gbt_grow_node *x = &fr->node[a], *y = &fr->node[b];
  return x->reach > y->reach || (x->reach == y->reach && a < b);
}

static void heap_push(const gbt_frontier *fr, int32_t *heap, size_t *n, int32_t id, before_fn before) {
  size_t at = (*n)++;
  for (; at > 0 && before(fr, id, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
  heap[at] = id;
}

static int32_t heap_pop(const gbt_frontier *fr, int32_t *heap, size_t *n, before_fn before) {
  GBT_ASSERT(*n > 0);
  int32_t top = heap[0], id = heap[--*n];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < *n; at = child) {
    if (child + 1 < *n && before(fr, heap[child + 1], heap[child])) child++;
    if (!before(fr, heap[child], id)) break;
    heap[at] = heap[child];
  }
  heap[at] = id;
  GBT_ASSERT(*n == 0 || !before(fr, heap[0], top));
  return top;
}

static void open_node(gbt_frontier *fr, int32_t id) {
  fr->node[id].open = 1;
  heap_push(fr, fr->open, &fr->n_open, id, open_before);
}

static gbt_status opened(gbt_frontier *fr, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->ahead.next, &fr->ahead.cap_next, fr->n_nodes, sizeof *fr->ahead.next, err));
  for (size_t i = 0; i < fr->n_fresh; i++) {
    int32_t id = fr->fresh[i];
    gbt_grow_node *node = &fr->node[id];
    if (node->split.kind == GBT_SPLIT_NONE) continue;
    gbt_grow_settle_missing(node);
    node->reach = node->split.gain;
    if (node->number < 0) { /* waiting, and so is the parent's split */
      double above = fr->node[node->parent].reach;
      if (above < node->reach) node->reach = above;
    } else {
      open_node(fr, id);
    }
    GBT_ASSERT(fr->ahead.n_next < fr->ahead.cap_next && node->reach <= node->split.gain);
    heap_push(fr, fr->ahead.next, &fr->ahead.n_next, id, next_before);
  }
  return GBT_OK;
}

/* reach was right when the node was made; the policy may have come to some of the way since. */
static double reach_now(const gbt_frontier *fr, int32_t id) {
  double reach = fr->node[id].split.gain;
  for (int32_t p = fr->node[id].parent; p >= 0 && fr->node[p].left == 0; p = fr->node[p].parent)
    if (fr->node[p].split.gain < reach) reach = fr->node[p].split.gain;
  return reach;
}

/* The policy comes to every node of a larger reach before one of a smaller reach. So of `next` only the first `room`
 * can become part of the tree; the others are dropped, as their histograms will never be used. Not at every step: a
 * drop sorts the heap, and takes away a fifth of it; where equal gains leave it less, the heap must grow first. */
static void drop_hopeless(gbt_frontier *fr, uint64_t room) {
  size_t n = 0;
  if (fr->ahead.n_next <= 16 || fr->ahead.n_next - 16 <= room + room / 4 || fr->ahead.n_next < fr->ahead.drop_at)
    return;
  for (size_t i = 0; i < fr->ahead.n_next; i++) {
    int32_t id = fr->ahead.next[i];
    if (fr->node[id].taken) continue;
    fr->node[id].reach = reach_now(fr, id);
    heap_push(fr, fr->ahead.next, &n, id, next_before);
  }
  size_t sorted = n;
  while (sorted > 0) { /* last to first, then turned round: first to last, which is a heap */
    int32_t id = heap_pop(fr, fr->ahead.next, &sorted, next_before);
    fr->ahead.next[sorted] = id;
  }
  for (size_t i = 0; i < n / 2; i++) {
    int32_t id = fr->ahead.next[i];
    fr->ahead.next[i] = fr->ahead.next[n - 1 - i];
    fr->ahead.next[n - 1 - i] = id;
  }
  size_t kept = n < room ? n : (size_t)room;
  while (kept > 0 && kept < n && fr->node[fr->ahead.next[kept]].reach == fr->node[fr->ahead.next[kept - 1]].reach)
    kept++;
  fr->ahead.n_next = fr->ahead.dropped_beg = kept;
  fr->ahead.n_dropped = n - kept;
  fr->ahead.drop_at = fr->ahead.n_dropped < n / 8 ? n + n / 4 : 0;
}

static void select_next(gbt_frontier *fr, size_t at_once) {
  uint64_t room = fr->policy.max_leaves > 0 ? (uint64_t)(fr->policy.max_leaves - fr->n_leaves) : UINT64_MAX / 2;
  fr->ahead.n_dropped = 0;
  for (; room > 0 && fr->n_open > 0; room--) {
    int32_t id = heap_pop(fr, fr->open, &fr->n_open, open_before);
    gbt_grow_node *node = &fr->node[id];
    node->open = 0;
    if (!node->taken) {
      node->taken = 1;
      fr->chosen[fr->n_chosen++] = id;
      break;
    }
    gbti_frontier_commit(fr, id, node->ahead);
    for (int32_t c = node->ahead; c < node->ahead + 2; c++)
      if (fr->node[c].split.kind != GBT_SPLIT_NONE) open_node(fr, c);
  }
  if (fr->n_chosen == 0) return;
  drop_hopeless(fr, room);
  /* near the end most of what is waiting would be dropped */
  size_t most = at_once < (size_t)fr->ahead.most ? at_once : (size_t)fr->ahead.most;
  if (most > room / (uint64_t)fr->ahead.part) most = (size_t)(room / (uint64_t)fr->ahead.part);
  while (fr->n_chosen < most && fr->ahead.n_next > 0) {
    int32_t id = heap_pop(fr, fr->ahead.next, &fr->ahead.n_next, next_before);
    if (fr->node[id].taken) continue;
    fr->node[id].taken = 1;
    fr->chosen[fr->n_chosen++] = id;
  }
}

gbt_status gbt_frontier_renumber(gbt_frontier *fr, gbt_error *err) {
  size_t kept = 0;
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->ahead.spare, &fr->ahead.cap_spare, fr->cap_nodes, sizeof *fr->ahead.spare, err));
  for (size_t i = 0; i < fr->n_nodes; i++) {
    gbt_grow_node node = fr->node[i];
    if (node.number < 0) continue;
    kept++;
    if (node.left > 0) node.left = fr->node[node.left].number;
    if (node.parent >= 0) node.parent = fr->node[node.parent].number;
    node.ahead = 0;
    GBT_ASSERT(node.number < fr->n_numbers && node.parent < node.number);
    GBT_ASSERT(node.hist < 0 && (node.left == 0 || node.left > node.number));
    fr->ahead.spare[node.number] = node;
  }
  GBT_ASSERT(kept == (size_t)fr->n_numbers);
  gbt_grow_node *old = fr->node;
  size_t cap = fr->cap_nodes;
  fr->node = fr->ahead.spare;
  fr->cap_nodes = fr->ahead.cap_spare;
  fr->ahead.spare = old;
  fr->ahead.cap_spare = cap;
  fr->n_nodes = kept;
  fr->n_open = fr->ahead.n_next = 0;
  return GBT_OK;
}

/* Those of the leaf that the policy has come to. */
static int commits(const gbt_frontier *fr, int32_t parent) { return parent == fr->chosen[0]; }

const gbti_growth gbti_best_first = {
    .opened = opened, .select = select_next, .commits = commits, .settle = gbt_frontier_renumber};
