/* What the edits of drafts share; see mutate.h. Private to mutate_draft.c and mutate_trees.c.
 *
 * A draft may hold anything, so every edit looks first whether the records that it needs are there; where they are not
 * it does nothing. */
#ifndef GBT_TEST_MUTATE_IMPL_H
#define GBT_TEST_MUTATE_IMPL_H

#include "../../src/gbt/objective/objective.h"
#include "../../src/gbt/schema/schema.h"
#include "mutate.h"

#define AS(d, type, p) ((type *)(void *)(d)->section[p])
#define COUNT(d, type, p) ((d)->n[p] / sizeof(type))

GBT_FN gbti_model_numbers *numbers(draft *d) { return AS(d, gbti_model_numbers, GBTI_SEC_NUMBERS); }
GBT_FN gbt_tree *trees(draft *d) { return AS(d, gbt_tree, GBTI_SEC_TREES); }
GBT_FN gbt_node *nodes(draft *d) { return AS(d, gbt_node, GBTI_SEC_NODES); }
GBT_FN gbti_model_column *columns(draft *d) { return AS(d, gbti_model_column, GBTI_SEC_COLUMNS); }
GBT_FN gbti_model_entry *entries(draft *d) { return AS(d, gbti_model_entry, GBTI_SEC_META); }

/* Makes room for bytes of zeros in a part; 0 when there is none. */
int draft_insert(draft *d, gbti_section_id p, size_t at, size_t bytes);

/* Takes bytes of a section away; 0 when they are not there. */
int draft_cut(draft *d, gbti_section_id p, size_t at, size_t bytes);

/* Numbers that models have and numbers that they must not have. */
double draft_number(test_rng *rng);

/* One edit of trees, nodes, sets, vectors, rounds or outputs. */
void draft_edit_trees(test_rng *rng, draft *d);

/* Gives the draft an objective with its default parameters. */
void draft_set_objective(draft *d, int32_t kind);

/* Gives every leaf a vector of its own in the order of the leaves, where leaves hold vectors. */
void draft_relay_vectors(draft *d);

/* Appends copies of the trees of another draft, while there is room. */
void draft_append_trees(draft *d, draft *from);

#endif
