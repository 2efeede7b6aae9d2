/* Objectives: the losses that training minimises. The formulas of each, with their sources, are in the header of its
 * name (objective/poisson.h). The object is plain data: which objective, how many scores a row has, and the values of
 * the objective's parameters in objectives.def. */
#ifndef GBT_OBJECTIVE_OBJECTIVE_H
#define GBT_OBJECTIVE_OBJECTIVE_H

#include "../base/ctx.h"
#include "../base/rows.h"

typedef enum gbt_objective_kind {
#define GBT_OBJECTIVE(ID, ...) GBT_OBJ_##ID,
#include "objectives.def"
  GBT_N_OBJECTIVES
} gbt_objective_kind;

enum { GBT_OBJECTIVE_PARAMS = 8 }; /* most parameters of an objective */

typedef struct gbt_objective {
  int32_t kind; /* gbt_objective_kind */
  int32_t n_outputs;
  double param[GBT_OBJECTIVE_PARAMS]; /* in the order of objectives.def; those that it does not have are 0 */
  const double *breaks; /* gradient rule INTERVALS: n_outputs ends of intervals, ascending and above 0; borrowed. NULL
                           for others, and where a model is only read: they are no part of its bytes */
  const double *levels; /* outputs rule LEVELS with several outputs: the first parameter of each, ascending; param[0] is
                           the first one. Borrowed; NULL as `breaks` */
} gbt_objective;

/* ---- the table ---- */

/* Rules: the properties of an objective. objectives.def explains the values that have no comment here. */

typedef enum gbt_gradient_rule {
  GBT_GRADIENT_ROW,
  GBT_GRADIENT_CLASSES,
  GBT_GRADIENT_GIVEN,
  GBT_GRADIENT_QUERY,
  GBT_GRADIENT_TIME,
  GBT_GRADIENT_ORDERED,
  GBT_GRADIENT_INTERVALS,
  GBT_GRADIENT_DISTRIBUTION
} gbt_gradient_rule;
typedef enum gbt_outputs_rule {
  GBT_OUTPUTS_ONE,
  GBT_OUTPUTS_COLUMNS,
  GBT_OUTPUTS_CLASSES,
  GBT_OUTPUTS_ANY,
  GBT_OUTPUTS_LEVELS,
  GBT_OUTPUTS_TWO
} gbt_outputs_rule;

enum { GBT_MOST_LEVELS = 99 }; /* most outputs by rule LEVELS */

typedef enum gbt_label_rule {
  GBT_LABELS_NUMBER,       /* any finite number */
  GBT_LABELS_BINARY,       /* [0, 1]; hosts take two classes as well */
  GBT_LABELS_SHARE,        /* [0, 1] */
  GBT_LABELS_CLASS,        /* whole numbers 0 .. n_outputs - 1 */
  GBT_LABELS_NOT_NEGATIVE, /* 0 or more */
  GBT_LABELS_POSITIVE,     /* above 0 */
  GBT_LABELS_COUNT,        /* whole numbers of 0 or more */
  GBT_LABELS_ABOVE_MINUS_ONE
} gbt_label_rule;

typedef enum gbt_response_rule {
  GBT_RESPONSE_NUMBER,
  GBT_RESPONSE_MEAN, /* exp(score) */
  GBT_RESPONSE_PROBABILITY,
  GBT_RESPONSE_CLASSES, /* one for each output */
  GBT_RESPONSE_TIME,    /* exp(score), a time; its distribution has a scale */
  GBT_RESPONSE_HAZARD,  /* exp(score), relative to a baseline hazard */
  GBT_RESPONSE_INTERVALS, /* of each output the hazard of an interval of time */
  GBT_RESPONSE_DISTRIBUTION, /* the parameters of a distribution, one for each output */
  GBT_RESPONSE_OWN      /* defined by the host */
} gbt_response_rule;

typedef enum gbt_base_rule {
  GBT_BASE_ZERO,
  GBT_BASE_MEAN,          /* a function of the quotient of two sums over the rows: gbt_NAME_base() in its header */
  GBT_BASE_CLASS_SHARES,  /* of the share of each class */
  GBT_BASE_RESIDUAL_MEAN, /* the mean of label - offset */
  GBT_BASE_RESIDUAL_QUANTILE, /* the weighted quantile of label - offset: renewal.h */
  GBT_BASE_RESIDUAL_ROOT, /* between the least and the largest label - offset: where the gradients add up to 0 */
  GBT_BASE_INTERVALS,     /* of the share of events in each interval: hazard.h */
  GBT_BASE_SCALE,         /* together with the scale of times: aft_scale.h */
  GBT_BASE_DISTRIBUTION   /* of both parameters together: distribution.h */
} gbt_base_rule;

typedef enum gbt_hessian_rule { GBT_HESSIAN_UNIT, GBT_HESSIAN_BOUNDED, GBT_HESSIAN_FREE } gbt_hessian_rule;
typedef enum gbt_size_rule { GBT_SIZE_UNIT, GBT_SIZE_LABEL, GBT_SIZE_SPREAD } gbt_size_rule;
typedef enum gbt_leaf_rule { GBT_LEAVES_NEWTON, GBT_LEAVES_QUANTILE } gbt_leaf_rule;

typedef struct gbt_objective_param {
  const char *name;    /* NULL: there are no more */
  const char *aliases; /* other names, |-separated; "" for none */
  double def, low, high;
  int open_low, open_high; /* the bound itself is not allowed */
  const char *text;
  int whole; /* only whole numbers */
} gbt_objective_param;

/* A row of objectives.def. Texts are static, aliases |-separated. */
typedef struct gbt_objective_info {
  const char *name, *aliases, *text;
  gbt_gradient_rule gradient;
  gbt_outputs_rule outputs;
  gbt_label_rule labels;
  gbt_response_rule response;
  gbt_base_rule base;
  gbt_hessian_rule hessian;
  gbt_size_rule size;
  gbt_leaf_rule leaves;
  struct {
    const char *gradient, *outputs, *labels, *response, *hessian, *size, *leaves;
  } rule; /* names of rules, as in objectives.def: for hosts */
  gbt_objective_param param[GBT_OBJECTIVE_PARAMS];
} gbt_objective_info;

/* kind must be below GBT_N_OBJECTIVES. */
const gbt_objective_info *gbt_objective_info_of(int32_t kind);

/* Its parameter of this name; `other` where it has none. */
double gbt_objective_param_of(const gbt_objective *objective, const char *name, double other);

/* Properties of the kinds of gradients, for the code that computes them. Each function has a case for every kind, so
 * that the compiler names those that a new kind must answer. */

/* Whether the host computes the gradients, for scores that it gets. */
int gbt_gradients_by_host(const gbt_objective *objective);

/* Whether they depend on a scale that is common to all rows, and on UPPER in addition to the label. */
int gbt_gradients_by_scale(const gbt_objective *objective);

/* Whether those of a row depend on other rows: the trainer computes them for all devices (joint/joint.h). */
int gbt_gradients_are_joint(const gbt_objective *objective);

/* Whether a backend gets those of all outputs at the beginning of a round (set_gradients), and keeps them until its
 * trees are grown. Otherwise it computes those of an output at the beginning of its first tree. */
int gbt_gradients_are_kept(const gbt_objective *objective);

/* Whether those of a row depend on all its scores, one for each class. */
int gbt_gradients_by_classes(const gbt_objective *objective);

/* Whether those of an output are of an interval of time, see `breaks`. */
int gbt_gradients_by_interval(const gbt_objective *objective);

/* Whether those of a row depend only on one score and the fields of the row. */
int gbt_gradients_by_row(const gbt_objective *objective);

/* Whether it has several levels: an output for each, whose responses are the scores of a row in ascending order. */
int gbt_has_levels(const gbt_objective *objective);

/* Whether it has responses of several columns: an output for each, with labels, and possibly weights, of its own. */
int gbt_has_columns(const gbt_objective *objective);

/* Whether it has the parameters of a distribution as outputs: distribution.h. */
int gbt_is_distribution(const gbt_objective *objective);

/* The objective of output k: with its level, if there are several. */
static inline gbt_objective gbt_objective_of_output(const gbt_objective *objective, int32_t k) {
  gbt_objective out = *objective;
  if (out.levels != NULL) out.param[0] = out.levels[k];
  return out;
}

/* The number that decides how the gradients of an output are rounded. It is the same for all columns of a response, so
 * that the trees of a column equal those of a response with only this column. */
static inline uint64_t gbt_draws_of_output(const gbt_objective *objective, int32_t k) {
  return gbt_has_columns(objective) ? 0 : (uint64_t)k;
}

/* Whether responses are a probability for each class, made from all scores of a row. */
int gbt_responses_by_classes(const gbt_objective *objective);

/* The objective with its default parameters. kind is below GBT_N_OBJECTIVES; gbt_objective_check() checks n_outputs. */
gbt_objective gbt_objective_make(gbt_objective_kind kind, int32_t n_outputs);

/* ---- checks ---- */

/* Checks that there is such an objective, and that outputs and parameters are in their ranges. GBT_E_ARG names the one
 * that is not. */
gbt_status gbt_objective_check(const gbt_objective *objective, gbt_error *err) GBT_MUST_CHECK;

/* Checks the intervals of an objective that has some: GBT_E_ARG on `breaks`. */
gbt_status gbt_breaks_check(const gbt_objective *objective, gbt_error *err) GBT_MUST_CHECK;

/* Checks the levels of an objective that has several: GBT_E_ARG on the name of its parameter. */
gbt_status gbt_levels_check(const gbt_objective *objective, gbt_error *err) GBT_MUST_CHECK;

/* Checks that labels are valid for the objective. Only a custom objective allows that there are no labels. GBT_E_DATA
 * names the data ("train", "valid 1") and the first row. */
gbt_status gbt_labels_check(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const char *data,
                            gbt_error *err) GBT_MUST_CHECK;

#endif
