/* A model as it is written: trees whose splits are by columns.
 *
 * Statistics of single columns (target means, level counts) become sets of levels: they are functions of the level.
 * Statistics of several columns are refused. What a format cannot express is changed by its flags (formats.h):
 *
 *   no CAN_VECTORS   a tree with a value for each score becomes a tree for each, in the order of scores
 *   no CAN_UNSEEN    unseen levels go where missing values go, as gbt_unseen "missing" has it
 *   no CAN_BASE      base scores are added to the leaves of the first round, in the order of the sum: the same bits
 *   FLOATS           thresholds and leaves are rounded to float32; sums are of rule GBT_SUM_FLOAT */
#ifndef GBT_EXCHANGE_OUTGOING_H
#define GBT_EXCHANGE_OUTGOING_H

#include "../base/ctx.h"
#include "../objective/objective.h"
#include "../schema/schema.h"
#include "../tree/forest.h"
#include "exchange.h"

typedef struct gbti_out_node {
  uint32_t left; /* the left child, after its parent; the right one is the next node. 0: a leaf */
  int32_t column;
  int by_set, missing_left, unseen_left;
  uint32_t linear;      /* leaf: 1 + its number in the model's linear leaves; 0: it is constant */
  double number;        /* split: x <= number goes left. Leaf: what it adds, where that is one number; of a linear one,
                           where a number that it is linear in is missing */
  const double *values; /* leaf: `width` numbers */
  const uint32_t *set;  /* by_set: levels that go left; those after its words go right */
  uint32_t n_words;
  double gain, cover;
  uint32_t count;
} gbti_out_node;

typedef struct gbti_out_tree {
  gbti_out_node *node; /* the root first */
  uint32_t n_nodes;
  int32_t output;  /* which score it adds to; -1: all */
  int32_t from;    /* of the trees that became several: which of the values of its model's tree it has */
  uint64_t source; /* the tree of the model; UINT64_MAX: it has none, and is a constant */
} gbti_out_tree;

/* Numbers of a column that stand for missing values. */
typedef struct gbti_codes {
  double *value; /* n numbers, then a range from low to high if has_range */
  int32_t n;
  int has_range;
  double low, high;
} gbti_codes;

/* How a row's scores become responses. */
typedef enum gbti_link {
  GBTI_LINK_NONE,
  GBTI_LINK_SIGMOID, /* 1 / (1 + exp(-s)) */
  GBTI_LINK_EXP,
  GBTI_LINK_EXPM1,
  GBTI_LINK_SOFTMAX,
  GBTI_LINK_SORTED /* scores in ascending order */
} gbti_link;

struct gbti_format;

typedef struct gbti_outgoing {
  gbt_mem mem;
  gbt_error *err;
  const struct gbti_format *format;
  const char *name; /* what the host calls the model: letters, digits and _ */
  const gbt_schema *schema;
  const gbt_objective *objective; /* with its levels, where they are known */
  gbti_link link;
  const char *const *classes; /* n_classes names; 0: none */
  int64_t n_classes;
  const char *class_type;     /* what the host makes of classes (docs/json-format.md); NULL: not known */
  int has_offset;             /* whether numbers are added to the scores of each row */
  const char *const *outputs; /* n_outputs names of raw scores; NULL: none */
  int32_t n_outputs, width, n_parallel; /* width: values of a leaf, 1 or n_outputs */
  uint64_t n_rounds;
  double *base; /* n_outputs */
  gbt_sums sums;
  gbti_out_tree *tree; /* n_trees: round, then score, then parallel */
  uint64_t n_trees;
  gbti_codes *codes; /* of each column */
  const gbt_linear_view *linear; /* the model's; its n_leaves is 0 where all leaves are constant */
  uint32_t *grid;                /* to_json.c: by grid of `linear` 1 + its number among those of the trees, or 0 */
  uint32_t n_grids;              /* to_json.c: how many they use; 0: all leaves are constant */
  gbt_export_facts *facts;
  /* owned: grid, and */
  gbti_out_node *nodes;
  uint32_t *words;
  double *values;
  double *code_values;
  gbti_out_node *constants; /* nodes of trees that are constants */
} gbti_outgoing;

/* The thresholds of every column, ascending, as gbt_order_key has them: those of column c are key[beg[c]] and so on up
 * to beg[c + 1]. drop after a failure too. */
typedef struct gbti_thresholds {
  uint64_t *key;
  size_t *beg; /* a number for each column, and one more */
} gbti_thresholds;
gbt_status gbti_thresholds_of(const gbti_outgoing *x, gbti_thresholds *out) GBT_MUST_CHECK;
void gbti_thresholds_drop(const gbti_outgoing *x, gbti_thresholds *list);

/* x: zeros but mem, err, format, name, objective, schema, classes and facts. Reads the trees of a range of whole
 * rounds. After a failure too, gbti_outgoing_drop(). */
gbt_status gbti_outgoing_make(gbt_ctx *ctx, gbti_outgoing *x, const gbt_forest_view *model,
                              gbt_tree_range trees) GBT_MUST_CHECK;
void gbti_outgoing_drop(gbti_outgoing *x);

/* GBT_E_UNSUPPORTED: "the model cannot be written as NAME: " and the clause, which says what would work instead. Always
 * fails. about: a column, or NULL. */
gbt_status gbti_refuse(const gbti_outgoing *x, const char *about, const char *fmt, ...) GBT_PRINTF(3, 4);
/* The same, and the formats that can express it: those with the flags `can` (formats.h). */
gbt_status gbti_refuse_for(const gbti_outgoing *x, const char *about, uint32_t can, const char *fmt, ...)
    GBT_PRINTF(4, 5);

/* Adds to what the host tells the user of a file that differs from the model. The text is static. */
void gbti_tell(gbti_outgoing *x, const char *text);

/* Whether scores are scaled sums, or means, of trees, and base scores are added to these. */
int gbti_sums_at_end(const gbti_outgoing *x);

/* The unit of a column's numbers, by its tag ("hours", "days since 1970-01-01"); NULL: none is known. Borrowed. */
const char *gbti_unit_of(const gbt_schema_column *col);

gbti_link gbti_link_of(const gbt_objective *objective);

/* The codes that the tag of a column has; codes: zeros; room: for as many numbers as the tag has bytes. */
void gbti_codes_of(const gbt_schema_column *col, double *room, gbti_codes *codes);

/* Whether a number of a column stands for a missing value. */
int gbti_is_code(const gbti_outgoing *x, int32_t column, double number);

/* The column whose bins are grid number g of linear leaves. */
int32_t gbti_grid_column(const gbti_outgoing *x, uint32_t g);

/* The number that a leaf adds for a row whose cells are x[0], x[stride], ...; in bytes. linear, number: of a
 * gbti_out_node. */
double gbti_leaf_value(const gbti_outgoing *x, uint32_t linear, double number, const void *cells, size_t stride);

/* 1 = left: by the cell's x, as gbti_cell has it. */
int gbti_out_left(const gbti_outgoing *x, const gbti_out_node *node, double cell);

/* The leaf of a row whose cells are x[0], x[stride], ...; in bytes. */
const gbti_out_node *gbti_out_leaf(const gbti_outgoing *x, uint64_t tree, const void *cells, size_t stride);

#endif
