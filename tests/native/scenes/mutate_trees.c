/* Edits of a draft's trees: nodes, sets, vectors, rounds, outputs. See mutate.h. */
#include "mutate_impl.h"

/* Whether all nodes have their numbers and tree t lies among them. */
static int tree_ok(draft *d, size_t t) {
  size_t n = COUNT(d, gbt_node, GBTI_SEC_NODES), words = COUNT(d, uint32_t, GBTI_SEC_SETS);
  if (d->n[GBTI_SEC_GAIN] != 8 * n || d->n[GBTI_SEC_COVER] != 8 * n || d->n[GBTI_SEC_COUNT] != 4 * n) return 0;
  const gbt_tree *tree = &trees(d)[t];
  return tree->node_beg <= n && tree->n_nodes <= n - tree->node_beg && tree->n_nodes > 0 && tree->set_beg <= words &&
         tree->n_words <= words - tree->set_beg;
}

/* A tree that is in order; -1 when none is found. */
static int64_t some_tree(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbt_tree, GBTI_SEC_TREES);
  if (n == 0) return -1;
  int64_t t = test_below(rng, (int64_t)n);
  return tree_ok(d, (size_t)t) ? t : -1;
}

/* Makes room for nodes of all trees' arrays before node `at`. */
static int insert_nodes(draft *d, size_t at, size_t n) {
  return draft_insert(d, GBTI_SEC_NODES, at * 16, n * 16) && draft_insert(d, GBTI_SEC_GAIN, at * 8, n * 8) &&
         draft_insert(d, GBTI_SEC_COVER, at * 8, n * 8) && draft_insert(d, GBTI_SEC_COUNT, at * 4, n * 4);
}

static void move_trees(draft *d, size_t from, uint64_t by_nodes, uint64_t by_words) {
  for (size_t t = from; t < COUNT(d, gbt_tree, GBTI_SEC_TREES); t++) {
    trees(d)[t].node_beg += by_nodes;
    trees(d)[t].set_beg += by_words;
  }
}

/* Leaves that hold vectors: draft_relay_vectors gives them one each. */
static int has_vectors(draft *d) { return numbers(d)->n_leaf_outputs > 1; }

/* Words after the sets of tree t. Returns their place within the tree. */
static uint32_t add_words(test_rng *rng, draft *d, size_t t, uint32_t n) {
  uint32_t at = trees(d)[t].n_words;
  size_t word = (size_t)trees(d)[t].set_beg + at;
  if (!draft_insert(d, GBTI_SEC_SETS, word * 4, n * 4)) return at;
  for (uint32_t i = 0; i < n; i++) AS(d, uint32_t, GBTI_SEC_SETS)[word + i] = (uint32_t)test_u(rng);
  trees(d)[t].n_words += n;
  move_trees(d, t + 1, 0, n);
  return at;
}

/* A split by a feature that there is, mostly in a way that suits it. */
static void draw_split(test_rng *rng, draft *d, size_t t, gbt_node *split) {
  size_t n = COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS);
  uint32_t f = (uint32_t)test_below(rng, (int64_t)n + (n == 0 || test_below(rng, 32) == 0));
  split->feat = f | (uint32_t)(test_u(rng) & (GBT_NODE_MISSING_LEFT | GBT_NODE_BULK_LEFT));
  int by_layer = f < n && columns(d)[f].type == GBT_CATEGORICAL;
  if (test_below(rng, 16) == 0) by_layer = !by_layer;
  split->arg.value = draft_number(rng);
  if (!by_layer) return;
  uint32_t n_words = (uint32_t)test_below(rng, 4);
  split->feat |= GBT_NODE_CATEGORICAL;
  split->arg.set.beg = test_below(rng, 3) == 0 ? 0 : add_words(rng, d, t, n_words);
  split->arg.set.n_words = n_words;
}

/* Splits a leaf of a tree; its children come after all nodes. */
static int split_leaf(draft *d, size_t t, uint32_t leaf, const gbt_node *split) {
  gbt_tree *tree = &trees(d)[t];
  uint32_t n = tree->n_nodes;
  gbt_node *node = &nodes(d)[tree->node_beg + leaf];
  if (node->left != 0 || !insert_nodes(d, (size_t)tree->node_beg + n, 2)) return 0;
  gbt_node old = *node;
  *node = *split;
  node->left = n;
  for (uint32_t i = 0; i < 2; i++) {
    if (!has_vectors(d)) old.arg.value = -old.arg.value;
    nodes(d)[tree->node_beg + n + i] = old;
  }
  tree->n_nodes += 2;
  move_trees(d, t + 1, 2, 0);
  return 1;
}

/* Splits one leaf, a chain of last leaves, or all leaves by one and the same split. */
static void grow(test_rng *rng, draft *d) {
  int64_t t = some_tree(rng, d), kind = test_below(rng, 8);
  if (t < 0) return;
  gbt_node split = {.left = 0};
  uint32_t n = trees(d)[t].n_nodes;
  draw_split(rng, d, (size_t)t, &split);
  if (kind == 0) {
    for (int64_t i = 1 + test_below(rng, 40); i > 0 && split_leaf(d, (size_t)t, trees(d)[t].n_nodes - 1, &split); i--)
      if (test_below(rng, 4) == 0) draw_split(rng, d, (size_t)t, &split);
  } else if (kind == 1 && n < 64) {
    for (uint32_t i = 0; i < n; i++) split_leaf(d, (size_t)t, i, &split);
  } else {
    split_leaf(d, (size_t)t, (uint32_t)test_below(rng, n), &split);
  }
}

/* Makes the last split a leaf, when its children are the last nodes. */
static void prune(test_rng *rng, draft *d) {
  int64_t t = some_tree(rng, d);
  if (t < 0 || trees(d)[t].n_nodes < 3) return;
  gbt_tree *tree = &trees(d)[t];
  gbt_node *tree_nodes = nodes(d) + tree->node_beg;
  for (uint32_t i = 0; i < tree->n_nodes - 2; i++) {
    if (tree_nodes[i].left != tree->n_nodes - 2) continue;
    memset(&tree_nodes[i], 0, sizeof tree_nodes[i]);
    size_t at = (size_t)tree->node_beg + tree->n_nodes - 2;
    if (!draft_cut(d, GBTI_SEC_NODES, at * 16, 32) || !draft_cut(d, GBTI_SEC_GAIN, at * 8, 16) ||
        !draft_cut(d, GBTI_SEC_COVER, at * 8, 16) || !draft_cut(d, GBTI_SEC_COUNT, at * 4, 8))
      return;
    tree->n_nodes -= 2;
    move_trees(d, (size_t)t + 1, (uint64_t)0 - 2, 0);
    return;
  }
}

/* Changes a field of a node, sensibly or not. */
static void edit_node(test_rng *rng, draft *d) {
  int64_t t = some_tree(rng, d);
  if (t < 0) return;
  const gbt_tree *tree = &trees(d)[t];
  size_t at = (size_t)tree->node_beg + (size_t)test_below(rng, tree->n_nodes);
  size_t other = (size_t)tree->node_beg + (size_t)test_below(rng, tree->n_nodes);
  gbt_node *node = &nodes(d)[at];
  switch (test_below(rng, 12)) {
  case 0:
    node->left = (uint32_t)test_below(rng, (int64_t)tree->n_nodes + 2);
    break;
  case 1: { /* exchanges children */
    uint32_t left = node->left;
    node->left = nodes(d)[other].left;
    nodes(d)[other].left = left;
    break;
  }
  case 2:
    node->left = (uint32_t)(at - tree->node_beg); /* its own child */
    break;
  case 3: /* one set for two nodes */
    node->arg = nodes(d)[other].arg;
    node->feat = nodes(d)[other].feat;
    break;
  case 4:
    node->arg.set.beg = (uint32_t)test_below(rng, (int64_t)tree->n_words + 2);
    break;
  case 5:
    node->arg.set.n_words = (uint32_t)test_below(rng, (int64_t)tree->n_words + 2);
    break;
  case 6:
    node->feat ^= 1u << (29 + test_below(rng, 3));
    break;
  case 7: { /* another split in its place */
    gbt_node split = {.left = node->left};
    if (node->left == 0) break;
    draw_split(rng, d, (size_t)t, &split);
    nodes(d)[at] = split;
    break;
  }
  case 8:
    AS(d, double, test_below(rng, 2) ? GBTI_SEC_GAIN : GBTI_SEC_COVER)[at] = draft_number(rng);
    break;
  case 9:
    AS(d, uint32_t, GBTI_SEC_COUNT)[at] = (uint32_t)mutate_edge(rng, 0);
    break;
  default:
    if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL)) node->arg.value = draft_number(rng);
  }
}

static void edit_sets(test_rng *rng, draft *d) {
  int64_t t = some_tree(rng, d);
  if (t < 0) return;
  if (trees(d)[t].n_words == 0 || test_below(rng, 3) == 0) {
    add_words(rng, d, (size_t)t, 1 + (uint32_t)test_below(rng, 3));
    return;
  }
  uint64_t at = trees(d)[t].set_beg + (uint64_t)test_below(rng, trees(d)[t].n_words);
  AS(d, uint32_t, GBTI_SEC_SETS)[at] = test_below(rng, 2) ? (uint32_t)test_u(rng) : (uint32_t)mutate_edge(rng, 0);
}

/* Appends a copy of a tree of a draft, which may be the same draft. */
static int append_tree(draft *d, draft *from, size_t t) {
  if (!tree_ok(from, t) || d->n[GBTI_SEC_TREES] + sizeof(gbt_tree) > MUTATE_SECTION) return 0;
  gbt_tree tree = trees(from)[t];
  size_t n = COUNT(d, gbt_node, GBTI_SEC_NODES), word = COUNT(d, uint32_t, GBTI_SEC_SETS);
  size_t beg = (size_t)tree.node_beg, set = (size_t)tree.set_beg;
  if (d->n[GBTI_SEC_GAIN] != 8 * n || d->n[GBTI_SEC_COVER] != 8 * n || d->n[GBTI_SEC_COUNT] != 4 * n) return 0;
  if (!insert_nodes(d, n, tree.n_nodes) || !draft_insert(d, GBTI_SEC_SETS, word * 4, tree.n_words * 4ul)) return 0;
  memcpy(nodes(d) + n, nodes(from) + beg, tree.n_nodes * 16ul);
  for (size_t i = n; i < n + tree.n_nodes && has_vectors(d) != has_vectors(from); i++)
    if (nodes(d)[i].left == 0) nodes(d)[i].arg.value = 0.0;
  memcpy(d->section[GBTI_SEC_GAIN] + 8 * n, from->section[GBTI_SEC_GAIN] + 8 * beg, tree.n_nodes * 8ul);
  memcpy(d->section[GBTI_SEC_COVER] + 8 * n, from->section[GBTI_SEC_COVER] + 8 * beg, tree.n_nodes * 8ul);
  memcpy(d->section[GBTI_SEC_COUNT] + 4 * n, from->section[GBTI_SEC_COUNT] + 4 * beg, tree.n_nodes * 4ul);
  memcpy(d->section[GBTI_SEC_SETS] + 4 * word, from->section[GBTI_SEC_SETS] + 4 * set, tree.n_words * 4ul);
  tree.node_beg = n;
  tree.set_beg = word;
  memcpy(d->section[GBTI_SEC_TREES] + d->n[GBTI_SEC_TREES], &tree, sizeof tree);
  d->n[GBTI_SEC_TREES] += sizeof tree;
  return 1;
}

static uint64_t trees_of_round(draft *d) {
  uint64_t n = (has_vectors(d) ? 1 : (uint64_t)numbers(d)->n_outputs) * (uint64_t)numbers(d)->n_parallel;
  return n == 0 || n > 64 ? 1 : n;
}

/* Rounds of trees: one more, one less at the end, or trees exchanged. */
static void edit_rounds(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbt_tree, GBTI_SEC_TREES), per = (size_t)trees_of_round(d);
  int64_t kind = test_below(rng, 4);
  if (n == 0) return;
  if (kind < 2) {
    size_t from = (size_t)test_below(rng, (int64_t)n);
    if (kind == 1) per = 1;
    for (size_t i = 0; i < per; i++)
      if (!append_tree(d, d, (from + i) % n)) return;
  } else if (kind == 2) {
    for (size_t i = 0; i < per && i < n; i++) {
      const gbt_tree last = trees(d)[n - 1 - i];
      if (!tree_ok(d, n - 1 - i) || last.node_beg + last.n_nodes != COUNT(d, gbt_node, GBTI_SEC_NODES)) return;
      d->n[GBTI_SEC_TREES] -= sizeof last;
      d->n[GBTI_SEC_NODES] -= last.n_nodes * 16ul;
      d->n[GBTI_SEC_GAIN] -= last.n_nodes * 8ul;
      d->n[GBTI_SEC_COVER] -= last.n_nodes * 8ul;
      d->n[GBTI_SEC_COUNT] -= last.n_nodes * 4ul;
      d->n[GBTI_SEC_SETS] -= last.n_words * 4ul;
    }
  } else {
    size_t a = (size_t)test_below(rng, (int64_t)n), b = (size_t)test_below(rng, (int64_t)n);
    gbt_tree tree = trees(d)[a];
    trees(d)[a] = trees(d)[b];
    trees(d)[b] = tree;
  }
}

void draft_relay_vectors(draft *d) {
  static double fresh[MUTATE_SECTION / sizeof(double)]; /* large; one thread */
  size_t width = (size_t)numbers(d)->n_leaf_outputs, next = 0, n_old = COUNT(d, double, GBTI_SEC_LEAF_VALUES);
  const double *old = AS(d, double, GBTI_SEC_LEAF_VALUES);
  if (!has_vectors(d)) return;
  for (size_t i = 0; i < COUNT(d, gbt_node, GBTI_SEC_NODES); i++) {
    gbt_node *node = &nodes(d)[i];
    if (node->left != 0) continue;
    if (width > MUTATE_SECTION / sizeof(double) - next * width) return;
    for (size_t k = 0; k < width; k++) {
      int there = node->arg.vector < n_old / width;
      fresh[next * width + k] = there ? old[node->arg.vector * width + k] : (double)k - 0.5;
    }
    node->arg.vector = next++;
  }
  memcpy(d->section[GBTI_SEC_LEAF_VALUES], fresh, next * width * sizeof *fresh);
  d->n[GBTI_SEC_LEAF_VALUES] = next * width * sizeof *fresh;
}

/* Leaves come to hold vectors, or values, or a vector changes. */
static void edit_vectors(test_rng *rng, draft *d) {
  size_t n_values = COUNT(d, double, GBTI_SEC_LEAF_VALUES);
  if (has_vectors(d) && n_values > 0 && test_below(rng, 4) > 0) {
    AS(d, double, GBTI_SEC_LEAF_VALUES)[test_below(rng, (int64_t)n_values)] = draft_number(rng);
    return;
  }
  int to_values = has_vectors(d);
  numbers(d)->n_leaf_outputs = to_values ? 1 : numbers(d)->n_outputs;
  if (to_values) d->n[GBTI_SEC_LEAF_VALUES] = 0;
  for (size_t i = 0; i < COUNT(d, gbt_node, GBTI_SEC_NODES) && to_values; i++)
    if (nodes(d)[i].left == 0) nodes(d)[i].arg.value = (double)test_below(rng, 9) - 4.0;
}

/* Outputs and parallel trees, with an objective and base scores to suit. */
static void edit_outputs(test_rng *rng, draft *d) {
  gbti_model_numbers *n = numbers(d);
  size_t n_base = COUNT(d, double, GBTI_SEC_BASE);
  int64_t kind = test_below(rng, 4);
  if (kind == 0) {
    n->n_outputs = 1 + (int32_t)test_below(rng, 5);
    if (has_vectors(d)) {
      n->n_leaf_outputs = n->n_outputs;
      d->n[GBTI_SEC_LEAF_VALUES] = 0;
    }
    if (test_below(rng, 8) > 0)
      draft_set_objective(d, n->n_outputs > 1 && test_below(rng, 2) ? GBT_OBJ_SOFTMAX : GBT_OBJ_CUSTOM);
    d->n[GBTI_SEC_BASE] = 0;
    if (!draft_insert(d, GBTI_SEC_BASE, 0, (size_t)n->n_outputs * 8)) return;
  } else if (kind == 1) {
    n->n_parallel = 1 + (int32_t)test_below(rng, 4);
  } else if (kind == 2) {
    n->n_parallel = (int32_t)mutate_edge(rng, 0);
  } else if (n_base > 0) {
    AS(d, double, GBTI_SEC_BASE)[test_below(rng, (int64_t)n_base)] = draft_number(rng);
  }
}

void draft_append_trees(draft *d, draft *from) {
  for (size_t t = 0; t < COUNT(from, gbt_tree, GBTI_SEC_TREES); t++)
    if (!append_tree(d, from, t)) return;
}

void draft_edit_trees(test_rng *rng, draft *d) {
  static void (*const edits[])(test_rng *, draft *) = {grow,      grow,        grow,         prune,
                                                       edit_node, edit_node,   edit_node,    edit_sets,
                                                       edit_sets, edit_rounds, edit_outputs, edit_vectors};
  edits[test_below(rng, 12)](rng, d);
}
