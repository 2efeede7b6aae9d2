/* What must hold of a model's parts: see check.h. */
#include "check.h"

#include <string.h>

/* Finite: neither NaN nor infinite. */
static int is_finite(double x) { return x - x == 0.0; }

/* The sets that were seen so far: the node of the last one, and the words of all. */
typedef struct sets_seen {
  const gbt_node *last;
  uint64_t n_words;
} sets_seen;

/* Splits of a layer of a symmetric tree share a set, which counts once. Otherwise sets may not have more words than
 * there are: so what is made of the sets of a tree is bounded by its bytes, whoever wrote them. */
static const char *set_fault(const gbt_tree *tree, const gbt_node *node, sets_seen *sets) {
  uint32_t beg = node->arg.set.beg, n = node->arg.set.n_words;
  if (beg > tree->n_words || n > tree->n_words - beg) return "a set of levels lies outside of its tree";
  if (sets->last == NULL || !gbt_same_set(node, sets->last)) sets->n_words += n;
  sets->last = node;
  return sets->n_words > tree->n_words ? "sets of levels overlap" : NULL;
}

static const char *split_fault(const gbt_tree *tree, const gbt_node *node, const gbt_feature *feat, int32_t n_features,
                               sets_seen *sets) {
  uint32_t f = node->feat & GBT_NODE_FEATURE;
  if (f >= (uint32_t)n_features) return "a split uses a feature that does not exist";
  if (!(node->feat & GBT_NODE_CATEGORICAL)) return node->arg.value != node->arg.value ? "a threshold is NaN" : NULL;
  if (feat[f].type != GBT_CATEGORICAL) return "a split by levels uses a feature without levels";
  return set_fault(tree, node, sets);
}

static const char *leaf_fault(const gbt_node *node, const uint64_t *n_vectors) {
  if (node->feat != 0) return "a leaf has a feature";
  if (n_vectors != NULL) return node->arg.vector < *n_vectors ? NULL : "a leaf's values do not exist";
  return is_finite(node->arg.value) ? NULL : "a leaf's value is not finite";
}

const char *gbti_tree_fault(const gbt_tree *tree, const gbt_node *nodes, const gbt_feature *feat, int32_t n_features,
                            const uint64_t *n_vectors, uint64_t *seen) {
  uint32_t n = tree->n_nodes, n_children = 0;
  sets_seen sets = {NULL, 0};
  if (n == 0) return "it has no nodes";
  if (n > INT32_MAX) return "it has too many nodes";
  memset(seen, 0, ((size_t)n + 63) / 64 * sizeof *seen);
  for (uint32_t i = 0; i < n; i++) {
    const gbt_node *node = &nodes[i];
    uint32_t left = node->left;
    const char *fault;
    if (left == 0) {
      fault = leaf_fault(node, n_vectors);
      if (fault != NULL) return fault;
      continue;
    }
    if (left <= i || left >= n - 1) return "a child lies before its parent or outside of the tree";
    for (uint32_t c = left; c <= left + 1; c++) {
      uint64_t bit = (uint64_t)1 << (c & 63u);
      if (seen[c >> 6] & bit) return "a node has two parents";
      seen[c >> 6] |= bit;
    }
    n_children += 2;
    fault = split_fault(tree, node, feat, n_features, &sets);
    if (fault != NULL) return fault;
  }
  return n_children == n - 1 ? NULL : "a node has no parent";
}

const char *gbti_forest_fault(const gbt_forest_view *forest) {
  if (forest->n_features < 0 || (uint32_t)forest->n_features > GBT_NODE_FEATURE)
    return "the number of features is out of range";
  if (forest->n_outputs < 1 || forest->n_parallel < 1)
    return "the number of outputs or of parallel trees is out of range";
  if (forest->n_leaf_outputs != 1 && forest->n_leaf_outputs != forest->n_outputs)
    return "the number of values of a leaf is neither 1 nor that of the outputs";
  if (forest->n_trees % gbt_trees_per_round(forest) != 0) return "the number of trees does not fill its rounds";
  for (int32_t k = 0; k < forest->n_outputs; k++)
    if (!is_finite(forest->base[k])) return "a base score is not finite";
  for (uint64_t i = 0; i < forest->n_vectors * (uint64_t)forest->n_leaf_outputs; i++)
    if (!is_finite(forest->leaf_values[i])) return "a leaf's value is not finite";
  return NULL;
}

const char *gbti_weights_fault(const double *gain, const double *cover, uint64_t n) {
  uint64_t n_nan = 0;
  for (uint64_t i = 0; i < n; i++) n_nan += gain[i] != gain[i] || cover[i] != cover[i];
  return n_nan == 0 ? NULL : "a gain or a cover is NaN";
}

/* Length of the character at s (n bytes left), or 0. */
static size_t utf8_length(const uint8_t *s, size_t n) {
  uint8_t a = s[0];
  if (a < 0x80) return 1;
  if (a < 0xc2 || a > 0xf4) return 0;
  size_t len = a < 0xe0 ? 2 : (a < 0xf0 ? 3 : 4);
  if (n < len) return 0;
  for (size_t i = 1; i < len; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (a == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
  if (a == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (a == 0xf0 && s[1] < 0x90) return 0; /* overlong */
  if (a == 0xf4 && s[1] > 0x8f) return 0; /* above 10FFFF */
  return len;
}

int gbti_utf8_ok(const char *text, size_t n) {
  const uint8_t *s = (const uint8_t *)text;
  for (size_t i = 0; i < n;) {
    uint64_t word;
    if (n - i >= 8) {
      memcpy(&word, s + i, 8);
      if ((word & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    size_t len = utf8_length(s + i, n - i);
    if (len == 0) return 0;
    i += len;
  }
  return 1;
}
