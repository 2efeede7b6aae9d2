/* Features from the categorical columns for a training: which of them are split by themselves, and of which statistics
 * are kept. A function of the cuts, the number of rows to train on and what the user asked for, never of threads,
 * pages, ranks or devices. Which columns are combined is found by looking at the rows: encode.h. */
#ifndef GBT_ENCODE_PLAN_H
#define GBT_ENCODE_PLAN_H

#include "../data/cuts.h"
#include "cat_method.h"

enum { GBTI_MOST_COMBINED = 4 }; /* columns of a combination; the bound of max_cat_combine */

/* Columns whose combination is a key of statistics; or one column. */
typedef struct gbti_planned {
  int32_t n_cols;
  int32_t col[GBTI_MOST_COMBINED]; /* of the schema, ascending */
  int8_t target, quartiles, count; /* which statistics */
} gbti_planned;

typedef struct gbti_plan {
  gbt_mem mem;
  uint8_t *method;       /* by column of the schema: sets of gbt_cat_method; 0 where it is not categorical */
  int32_t n;             /* columns with statistics; 0: nothing is derived */
  gbti_planned *planned; /* n: one column each, in the order of the schema */
  uint8_t *unused;       /* by feature of the cuts: 1 where no tree splits by it; NULL: there is none */
  int orders;            /* whether any of them is a statistic of labels, by the rows before */
  int quartiles;         /* whether any of them uses quartiles */
  uint8_t *onehot;       /* by feature: 1 where it is split one level against the rest, however many there are; NULL */
} gbti_plan;

/* The method that GBT_CAT_AUTO means for a column of n_levels levels in a training on n_rows rows. Statistics together
 * with sets are better for most columns; only sets for columns with few levels, where statistics carry the same
 * information, and for columns with many levels and enough rows for each; only statistics where there are more levels
 * than bins. docs/decisions/15-cat-method-auto.md, has the figures. */
unsigned gbti_auto_cat_method(int64_t n_levels, int64_t n_rows);

/* asked: by column of the schema, as in gbt_trainer_spec; or NULL. n_rows: to train on, of all ranks. labelled: may
 * GBT_CAT_AUTO take statistics of the labels? GBT_E_ARG names a column that has no levels. Free with gbti_plan_free,
 * also after a failure. */
gbt_status gbti_plan_make(const gbt_mem *mem, const gbt_cuts *cuts, const uint8_t *asked, int64_t n_rows, int labelled,
                          gbti_plan *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_plan_free(gbti_plan *plan);

#endif
