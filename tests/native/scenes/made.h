/* Tables for the tests of training: columns of every kind, responses that depend on them, data sets made of them.
 *
 *   made *m = made_new(seed, 300, 8, NULL);       any kinds of columns
 *   made_response(m, GBT_OBJ_LOGISTIC, 1, seed); label; weights and offset on demand
 *   gbt_dataset *ds = made_dataset(&ctx, m, NULL, 255, 0);
 *
 * Everything follows from the seed. Columns are named x1, x2, ...; those of one kind have the same level texts in every
 * table, so that one table can be the validation data of another. */
#ifndef GBT_TEST_MADE_H
#define GBT_TEST_MADE_H

#include "../../src/gbt/data/dataset_impl.h"
#include "../../src/gbt/objective/formulas.h"
#include "../../src/gbt/objective/objective.h"
#include "test.h"

typedef enum made_kind {
  MADE_BELL = 0, /* numbers, all different */
  MADE_FEW,      /* a few whole numbers, stored as such */
  MADE_HOLES,    /* numbers, some of them missing */
  MADE_ZEROS,    /* 0 nearly everywhere */
  MADE_EXTREME,  /* with infinities, huge and tiny numbers */
  MADE_CONSTANT,
  MADE_NOTHING, /* all missing */
  MADE_FACTOR,  /* 3 levels */
  MADE_LEVELS,  /* 40 levels, some of them rare */
  MADE_HOLED,   /* 7 levels or missing */
  MADE_ORDERED, /* 5 ranks or missing */
  MADE_KINDS
} made_kind;

typedef struct made {
  gbt_table table; /* cols, values and texts are owned */
  const char **names;
  made_kind *kind;
  double *signal;                  /* per row: what the response depends on */
  double *label, *weight, *offset; /* NULL until asked for */
  int32_t n_offset, n_label, n_weight; /* columns of them; of labels and weights 0 is 1 as well */
  int uncut;                           /* weights do not count when cuts are made */
} made;

/* kinds: n_cols of them, or NULL for a draw. */
made *made_new(uint64_t seed, int64_t n_rows, int32_t n_cols, const made_kind *kinds);

/* 150 rows of a column of real numbers, one of few values and one of levels, with a response for the objective. */
made *made_mixed(gbt_objective_kind loss, int32_t n_outputs);
void made_free(made *m);

/* A factor of n_levels levels and a column of numbers. Every level occurs, the first half of them twice; the signal
 * depends on the level and steps where levels are after the GBT_MAX_LEVELS that have a bin. n_rows >= 1.5 n_levels. */
made *made_levels(uint64_t seed, int64_t n_rows, int32_t n_levels);

/* An objective with parameters drawn from its ranges. */
enum { MADE_ROW_OBJECTIVES = GBT_OBJ_QUERY_RMSE }; /* those from it on need queries */
gbt_objective made_objective(gbt_objective_kind kind, int32_t n_outputs, uint64_t seed);

/* A label that the objective takes, for a signal s and chance u in [0, 1). */
double made_label(const gbt_objective *objective, double s, double u);

/* The label for an objective (softmax: a class below n_outputs); noise and all. */
void made_response(made *m, gbt_objective_kind kind, int32_t n_outputs, uint64_t seed);
void made_weights(made *m, uint64_t seed); /* some of them 0 */
void made_offset(made *m, int32_t n_outputs, uint64_t seed);

/* Labels of n_outputs columns for an objective; with `cells` weights of as many columns, some of them 0. */
void made_columns(made *m, gbt_objective_kind kind, int32_t n_outputs, int cells, uint64_t seed);

/* The same rows with column k of what has several. */
made *made_column(const made *m, int32_t k);

/* Fills the first n_fields * size columns, of kind MADE_ZEROS, anew: of a field's columns c, c + n_fields, .. only one
 * is other than 0 in a row; some rows have none, rare columns follow frequent ones. With spoilt > 0 as many rows have
 * two. Before made_response. */
void made_fields(made *m, int32_t n_fields, int32_t size, int64_t spoilt, uint64_t seed);

/* The same numbers with all columns of doubles stored by their entries other than 0, absent rows being 0; those columns
 * that have only few. In every extra-th row (0: none) zeros are entries nevertheless. Level columns stay. Labels and
 * all are copied. */
made *made_sparse(const made *m, size_t extra);

/* Asks for the level counts of all factors, as further features. */
void made_counts(made *m);

/* The rows `rows` of a table, in that order. */
made *made_rows(const made *m, const int64_t *rows, int64_t n);

/* What counts when cuts are made; what a data set's rows have. */
const double *made_cut_weights(const made *m);
gbt_status made_set_fields(gbt_ctx *ctx, const made *m, gbt_dataset *ds, gbt_error *err);

/* cuts: NULL makes new ones. NULL after a failure, which is reported as a failed check. */
gbt_dataset *made_dataset(gbt_ctx *ctx, const made *m, gbt_cuts *cuts, int32_t max_bin, int32_t page_rows);

/* Rows with these fields; NULL: not given. */
gbt_rows test_rows(int64_t n, const double *label, const double *weight, const double *offset);

/* Gradient and hessian of a row by the objective's header, found by its name in the table; NaN where gradients are not
 * row by row. */
gbt_gh test_gradient(const gbt_objective *objective, double s, double y);

#endif
