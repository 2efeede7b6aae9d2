/* Training parameters: a plain struct made from params.def, with defaults, checks and access by name. */
#ifndef GBT_PARAMS_H
#define GBT_PARAMS_H

#include "base/status.h"

/* Values of parameters that are enums: positions in their choices in params.def. Enums without constants here, such as
 * sampling_method, are set by position, too; gbt_param_info.choices lists the names. */
typedef enum gbt_policy_kind { GBT_DEPTHWISE = 0, GBT_LOSSGUIDE = 1, GBT_SYMMETRIC = 2 } gbt_policy_kind;
enum { GBT_SYMMETRIC_DEPTH = 16 }; /* the largest max_depth of symmetric trees, which are full: 2^16 leaves */
enum { GBT_BOOSTING_PLAIN = 0, GBT_BOOSTING_ORDERED = 1 };
enum { GBT_LEAF_CONSTANT = 0, GBT_LEAF_LINEAR = 1 };
enum { GBT_SKETCH_AUTO = 0, GBT_SKETCH_NONE = 1, GBT_SKETCH_PROJECTION = 2 };
enum { GBT_GRAD_AUTO = 0, GBT_GRAD_16 = 1, GBT_GRAD_32 = 2 };

/* A field for each line of params.def, which says what it means, its unit and its range. */
typedef struct gbt_params {
#define GBT_REAL(name, def, low, high, open_low, open_high, text) double name;
#define GBT_INT(name, def, low, high, text) int64_t name;
#define GBT_ENUM(name, def, last, choices, text) int name;
#include "params.def"
#undef GBT_REAL
#undef GBT_INT
#undef GBT_ENUM
} gbt_params;

typedef enum gbt_param_kind { GBT_PARAM_REAL, GBT_PARAM_INT, GBT_PARAM_ENUM } gbt_param_kind;

typedef struct gbt_param_info {
  const char *name;
  gbt_param_kind kind;
  double def, low, high;   /* enum: low 0, high number of choices - 1 */
  int open_low, open_high; /* the bound itself is not allowed */
  const char *choices;     /* enum: "a|b|c"; else NULL */
  const char *text;        /* one or two sentences of help */
} gbt_param_info;

/* All parameters, in the order of params.def: *n_params entries. Static. */
const gbt_param_info *gbt_params_table(int *n_params);

/* Every parameter at the default of params.def. */
gbt_params gbt_params_default(void);

/* Sets one by name; an enum by the position of its choice. GBT_E_ARG names the parameter, the value and the range, or a
 * name that is similar to an unknown one; params is then unchanged. Integers must be whole numbers. */
gbt_status gbt_params_set(gbt_params *params, const char *name, double value, gbt_error *err) GBT_MUST_CHECK;

/* The value as double (enums: position); NaN for an unknown name. */
double gbt_params_get(const gbt_params *params, const char *name);

/* Checks the ranges, as a struct may be filled by hand, and the rules between parameters: trees need a limit (max_depth
 * or max_leaves); some parameters exclude symmetric trees or a way to draw rows; some need a setting of another one.
 * gbt_trainer_new() calls it. GBT_E_ARG names the parameter. */
gbt_status gbt_params_check(const gbt_params *params, gbt_error *err) GBT_MUST_CHECK;

#endif
