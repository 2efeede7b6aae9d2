/* What from_json.c and from_json_linear.c share: the model as far as it was read. */
#ifndef GBT_EXCHANGE_FROM_JSON_H
#define GBT_EXCHANGE_FROM_JSON_H

#include "own_json.h"
#include "readers.h"

typedef struct gbti_own_reader {
  gbti_document *doc;
  gbt_mem mem;
  gbt_error *err;
  gbt_import_facts *facts;
  gbt_objective objective;
  gbt_schema_column *col; /* n_columns; what it points to is owned */
  int32_t n_columns;
  char **text; /* n_texts, owned: classes, then names of outputs */
  size_t n_texts, cap_texts;
  int64_t n_classes, n_names;
  char *class_type; /* owned; NULL: the file has none */
  gbt_schema *schema;
  gbt_forest_view forest; /* its arrays are those below */
  double *base;
  gbt_tree *trees;
  gbt_node *nodes;
  double *gain, *cover, *values;
  uint32_t *count, *words, *of;
  size_t cap[5], cap_values, cap_words; /* of nodes, gain, cover, count and of */
  gbt_linear_grid *grid;
  double *cut;
  int16_t *x;
  size_t cap_cut, cap_x;
  gbt_linear_leaf *leaf;
  gbt_linear_term *term;
  size_t cap_leaves, cap_terms;
  int linear, numbers; /* whether leaves may be linear; whether in numbers: version 3 */
} gbti_own_reader;

/* GBT_E_FORMAT, with the number of the tree that is read. Always fails. */
gbt_status gbti_own_tree_fault(const gbti_own_reader *r, const char *what);

/* A list: its first value, and how many. */
gbt_status gbti_own_list(const gbti_own_reader *r, size_t value, const char *key, size_t *at,
                         int64_t *n) GBT_MUST_CHECK;

/* Version 2: the grids; after the columns. */
gbt_status gbti_own_grids(gbti_own_reader *r) GBT_MUST_CHECK;

/* Version 3: the grids, which are columns, of the terms of all trees; after these. */
gbt_status gbti_own_columns(gbti_own_reader *r) GBT_MUST_CHECK;

/* Linear leaves of a tree, whose nodes are the n from beg on. */
gbt_status gbti_own_linear(gbti_own_reader *r, size_t tree, size_t beg, int64_t n) GBT_MUST_CHECK;

#endif
