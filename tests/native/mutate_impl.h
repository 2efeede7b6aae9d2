/* What the edits of drafts share; see mutate.h. Private to mutate_draft.c and mutate_trees.c.
 *
 * A draft may hold anything, so every edit looks first whether the records that it needs are there; where they are not
 * it does nothing. */
#ifndef GBT_TEST_MUTATE_IMPL_H
#define GBT_TEST_MUTATE_IMPL_H

#include "../../src/gbt/base/schema.h"
#include "mutate.h"

#define AS(d, type, p) ((type *)(void *)(d)->part[p])
#define COUNT(d, type, p) ((d)->n[p] / sizeof(type))

GBT_FN gbti_model_numbers *numbers(draft *d) { return AS(d, gbti_model_numbers, GBTI_PART_NUMBERS); }
GBT_FN gbt_tree *trees(draft *d) { return AS(d, gbt_tree, GBTI_PART_TREES); }
GBT_FN gbt_node *nodes(draft *d) { return AS(d, gbt_node, GBTI_PART_NODES); }
GBT_FN gbti_model_feature *features(draft *d) { return AS(d, gbti_model_feature, GBTI_PART_FEATURES); }
GBT_FN gbti_model_entry *entries(draft *d) { return AS(d, gbti_model_entry, GBTI_PART_META); }

/* Makes room for bytes of zeros in a part; 0 when there is none. */
int draft_insert(draft *d, gbti_model_part p, size_t at, size_t bytes);

/* Takes bytes of a part away; 0 when they are not there. */
int draft_cut(draft *d, gbti_model_part p, size_t at, size_t bytes);

/* Numbers that models have and numbers that they must not have. */
double draft_number(test_rng *rng);

/* One edit of trees, nodes, sets, rounds or outputs. */
void draft_edit_trees(test_rng *rng, draft *d);

/* Appends copies of the trees of another draft, while there is room. */
void draft_append_trees(draft *d, draft *from);

#endif
