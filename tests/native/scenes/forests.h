/* Random schemas, forests and tables for the tests of model/. All of it is made from a test_rng and freed by hand. */
#ifndef GBT_TEST_FORESTS_H
#define GBT_TEST_FORESTS_H

#include "../../src/gbt/data/table.h"
#include "../../src/gbt/tree/forest.h"
#include "test.h"

typedef enum tree_shape {
  SHAPE_BUSHY,   /* a random leaf is split next */
  SHAPE_CHAIN,   /* the latest leaf is split next: as deep as there are splits */
  SHAPE_COMPLETE /* the oldest leaf is split next */
} tree_shape;

typedef struct forest_spec {
  int32_t n_outputs, n_parallel, n_rounds;
  int32_t n_splits; /* most of a tree */
  tree_shape shape;
  int exact_size; /* n_splits in every tree */
} forest_spec;

/* Features of all types. levels: most levels of a feature. */
gbt_schema *make_schema(test_rng *rng, int32_t n_features, int32_t levels);

/* Numbers that data and thresholds share, so that they meet: small integers and halves, both zeros, infinities, very
 * small and very large ones. No NaN. */
double make_number(test_rng *rng);

gbt_forest *make_forest(test_rng *rng, const gbt_schema *schema, const forest_spec *spec);

/* The same with a value for every output in each leaf: n_rounds * n_parallel trees. */
gbt_forest *make_vector_forest(test_rng *rng, const gbt_schema *schema, const forest_spec *spec);

/* One tree; returns the number of nodes. nodes: 2 * n_splits + 1. words: the tree's sets, of n_words; grown as needed
 * up to max_words. */
uint32_t make_tree(test_rng *rng, const gbt_schema *schema, int32_t n_splits, tree_shape shape, gbt_node *nodes,
                   uint32_t *words, uint32_t max_words, uint32_t *n_words);

/* A table that can be bound to the schema: columns in another order and one too many, every storage, dense and sparse,
 * missing values, levels in another order, unseen levels, levels without text. */
typedef struct made_table {
  gbt_table table;
  gbt_column *cols;
} made_table;
made_table *make_table(test_rng *rng, const gbt_schema *schema, int64_t n_rows);
void free_table(made_table *t);

#endif
