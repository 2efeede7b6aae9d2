/* Columns and trees as other programs have them, converted to those of gbt.
 *
 *   columns   numbers, or categories whose levels are texts, or are numbers themselves (codes)
 *   trees     nodes in any order and with any numbers; a reader fills an array and the root is planted in gbt's order
 *
 * Sets of levels are lists of codes at first. When all trees are known, so are the codes that sets have, which are the
 * levels of a column whose levels the file does not name: another code is an unseen level, and in no set. */
#ifndef GBT_EXCHANGE_PLANT_H
#define GBT_EXCHANGE_PLANT_H

#include "../objective/objective.h"
#include "../schema/schema.h"
#include "../tree/forest.h"
#include "exchange.h"

typedef struct gbti_new_column {
  char *name; /* owned; NULL: f0, f1, ... by the column's number, as XGBoost calls features without names */
  int categorical, by_code; /* by_code: levels are the digits of the codes in sets */
  int zero_missing;         /* numbers from -1e-35 to 1e-35 are missing values */
  int numbers;              /* the texts of levels are whole numbers */
  char **level;             /* n_levels, owned: code c is level[c]; not by_code */
  int32_t n_levels;
  size_t cap_levels;
} gbti_new_column;

/* A node as the other program numbers it. A leaf has left < 0. */
typedef struct gbti_new_node {
  int64_t left, right; /* children, in gbt's sense */
  int32_t feature;
  uint32_t flags;        /* GBT_NODE_... */
  double value;          /* threshold, or what a leaf adds */
  size_t set_beg, set_n; /* GBT_NODE_CATEGORICAL: codes that go left, in `codes` */
  size_t vector;         /* leaf with several values: where they begin in `values` */
  size_t slope_beg;      /* leaf that is linear in n_slopes > 0 columns: where these begin in `slopes`; */
  uint32_t n_slopes;     /* value: what it adds where one of their numbers is missing */
  double start;          /* else start + slope * number + slope * number + ... */
  double gain, cover;
  uint32_t count;
} gbti_new_node;

/* A column that a leaf is linear in. */
typedef struct gbti_new_slope {
  double slope;
  int32_t feature;
} gbti_new_slope;

typedef struct gbti_plant {
  gbt_mem mem;
  gbt_error *err;
  const char *program;
  gbti_new_column *column;
  int32_t n_columns;
  gbt_objective objective;
  gbt_sums sums;
  int32_t n_leaf_outputs, n_parallel;
  char **classes; /* n_classes, owned: names that the file has; 0: none */
  int64_t n_classes;
  size_t cap_classes;
  double *base;        /* objective.n_outputs */
  gbti_new_node *node; /* n_nodes: of the tree that is being read */
  size_t n_nodes, cap_nodes;
  int32_t *codes; /* of the sets of all trees */
  size_t n_codes, cap_codes;
  double *values; /* of the leaves of all trees, where leaves have several */
  size_t n_values, cap_values;
  gbti_new_slope *slopes; /* of the leaves of the tree that is being read */
  size_t n_slopes, cap_slopes;
  /* planted: nodes of all trees in gbt's order; sets and vectors are still places in codes and values */
  gbt_node *nodes;
  double *gain, *cover;
  uint32_t *count;
  size_t *set_n;
  uint32_t *linear; /* 0, or 1 + the number of the linear leaf */
  size_t n_planted, cap[6];
  gbt_linear_leaf *leaves;
  gbt_linear_term *terms; /* with features, not grids, until gbti_harvest() */
  size_t n_leaves, cap_leaves, n_terms, cap_terms;
  gbt_tree *trees;
  size_t n_trees, cap_trees;
} gbti_plant;

/* Room for n columns, 0 or more; all are numbers without names at first. */
gbt_status gbti_plant_columns(gbti_plant *plant, int64_t n) GBT_MUST_CHECK;
gbt_status gbti_name_column(gbti_plant *plant, int32_t column, const char *name) GBT_MUST_CHECK;
/* Bytes of a level that are no UTF-8 become their numbers: <c3>. */
gbt_status gbti_add_level(gbti_plant *plant, int32_t column, const char *level) GBT_MUST_CHECK;

/* Parameter `at` of the plant's objective, which the file calls key. One that gbt does not allow has its default, and
 * the facts say so. */
void gbti_set_parameter(gbti_plant *plant, int at, const char *key, double x, gbt_import_facts *facts);

gbt_status gbti_add_class(gbti_plant *plant, const char *name) GBT_MUST_CHECK;

/* GBT_E_FORMAT: "the XGBoost file is damaged: tree 3: " and the clause. GBT_E_UNSUPPORTED: what gbt does not have. Both
 * always fail. */
gbt_status gbti_tree_fault(const gbti_plant *plant, const char *what);
gbt_status gbti_not_offered(const gbti_plant *plant, const char *what);

/* An array for the n >= 1 nodes of a tree, zeros. */
gbt_status gbti_clear_nodes(gbti_plant *plant, size_t n) GBT_MUST_CHECK;
gbt_status gbti_add_code(gbti_plant *plant, int64_t code) GBT_MUST_CHECK;
gbt_status gbti_add_slope(gbti_plant *plant, gbti_new_slope slope) GBT_MUST_CHECK;

/* Adds the tree whose root is node 0. Nodes that it does not reach are left out. Refuses children that do not exist, a
 * node that is reached twice, features and categories that do not exist, numbers that are not finite. */
gbt_status gbti_plant_tree(gbti_plant *plant) GBT_MUST_CHECK;

/* Leaves of numbers whose terms have columns in place of grids: lists grids of these columns, and numbers the terms by
 * them. *grids is to be freed, after a failure too. */
gbt_status gbti_grids_of_columns(const gbt_mem *mem, gbt_linear_term *term, size_t n_terms, int32_t n_columns,
                                 gbt_linear_grid **grids, uint32_t *n_grids, gbt_error *err) GBT_MUST_CHECK;

/* The bytes of the model. */
gbt_status gbti_harvest(gbti_plant *plant, uint8_t **out, size_t *n_out) GBT_MUST_CHECK;
void gbti_plant_drop(gbti_plant *plant);

#endif
