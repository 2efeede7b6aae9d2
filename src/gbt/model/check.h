/* What must hold of a model's parts. The reader refuses bytes where it does not, the writer never writes such. */
#ifndef GBT_MODEL_CHECK_H
#define GBT_MODEL_CHECK_H

#include "../base/schema.h"
#include "../tree/forest.h"

/* NULL when the tree is sound, else what is wrong with it. Sound: every node but the root is the child of exactly one
 * node before it, so that walks end; features, thresholds, sets and leaf values are usable; all sets together, those
 * that a layer shares counted once, have no more words than the tree.
 * nodes: those of the tree. feat: n_features. n_vectors: of the forest; NULL where leaves hold one value.
 * seen: scratch of (tree->n_nodes + 63) / 64 words. */
const char *gbti_tree_fault(const gbt_tree *tree, const gbt_node *nodes, const gbt_feature *feat, int32_t n_features,
                            const uint64_t *n_vectors, uint64_t *seen);

/* The same for numbers that belong to the whole forest (shape, number of trees, base, leaf vectors), and for n numbers
 * of gain and cover. */
const char *gbti_forest_fault(const gbt_forest_view *forest);
const char *gbti_weights_fault(const double *gain, const double *cover, uint64_t n);

/* Whether n bytes are well-formed UTF-8 (no overlong forms, surrogates or numbers above 10FFFF). */
int gbti_utf8_ok(const char *text, size_t n);

#endif
