/* Parameters by name. All tables come from params.def; a parameter's value is found in the struct by its offset. */
#include "params.h"

#include <stdio.h>
#include <string.h>

#include "base/hd.h"
#include "math/sampling.h"

static const gbt_param_info infos[] = {
#define GBT_REAL(name, def, low, high, open_low, open_high, text) \
  {#name, GBT_PARAM_REAL, def, low, high, open_low, open_high, NULL, text},
#define GBT_INT(name, def, low, high, text) {#name, GBT_PARAM_INT, def, low, high, 0, 0, NULL, text},
#define GBT_ENUM(name, def, last, choices, text) {#name, GBT_PARAM_ENUM, def, 0, last, 0, 0, choices, text},
#include "params.def"
#undef GBT_REAL
#undef GBT_INT
#undef GBT_ENUM
};

static const size_t offsets[] = {
#define GBT_REAL(name, def, low, high, open_low, open_high, text) offsetof(gbt_params, name),
#define GBT_INT(name, def, low, high, text) offsetof(gbt_params, name),
#define GBT_ENUM(name, def, last, choices, text) offsetof(gbt_params, name),
#include "params.def"
#undef GBT_REAL
#undef GBT_INT
#undef GBT_ENUM
};

enum { N_PARAMS = sizeof infos / sizeof infos[0], MAX_NAME = 40 };

const gbt_param_info *gbt_params_table(int *n_params) {
  *n_params = N_PARAMS;
  return infos;
}

static int find(const char *name) {
  for (int i = 0; i < N_PARAMS; i++)
    if (strcmp(infos[i].name, name) == 0) return i;
  return -1;
}

static double load(const gbt_params *params, int i) {
  const char *at = (const char *)params + offsets[i];
  double real;
  int64_t whole;
  int choice;
  switch (infos[i].kind) {
  case GBT_PARAM_REAL:
    memcpy(&real, at, sizeof real);
    return real;
  case GBT_PARAM_INT:
    memcpy(&whole, at, sizeof whole);
    return (double)whole;
  case GBT_PARAM_ENUM:
    memcpy(&choice, at, sizeof choice);
    return choice;
  }
  return 0.0;
}

/* The value fits its kind: check_value has seen it. */
static void store(gbt_params *params, int i, double value) {
  char *at = (char *)params + offsets[i];
  int64_t whole;
  int choice;
  switch (infos[i].kind) {
  case GBT_PARAM_REAL:
    memcpy(at, &value, sizeof value);
    break;
  case GBT_PARAM_INT:
    whole = (int64_t)value, memcpy(at, &whole, sizeof whole);
    break;
  case GBT_PARAM_ENUM:
    choice = (int)value, memcpy(at, &choice, sizeof choice);
    break;
  }
}

gbt_params gbt_params_default(void) {
  gbt_params params;
  memset(&params, 0, sizeof params);
  for (int i = 0; i < N_PARAMS; i++) store(&params, i, infos[i].def);
  return params;
}

/* "above 0 and at most 1", "0 or more", ... An upper bound of 1e300 means none. */
static void range_text(const gbt_param_info *p, char *out, size_t cap) {
  const char *low = p->open_low ? "above %.15g" : "at least %.15g";
  const char *high = p->open_high ? " and below %.15g" : " and at most %.15g";
  int n = snprintf(out, cap, low, p->low);
  if (p->high < 1e300 && n > 0 && (size_t)n < cap) snprintf(out + n, cap - (size_t)n, high, p->high);
}

static gbt_status check_value(const gbt_param_info *p, double x, gbt_error *err) {
  int whole = p->kind == GBT_PARAM_REAL || (x >= -9e15 && x <= 9.1e15 && (double)(int64_t)x == x);
  int above = p->open_low ? x > p->low : x >= p->low;
  int below = p->open_high ? x < p->high : x <= p->high;
  if (whole && above && below) return GBT_OK; /* NaN is neither above nor below */
  if (p->kind == GBT_PARAM_ENUM)
    return gbt_fail_on(err, GBT_E_ARG, p->name, "`%s` has no choice number %.15g; the choices are %s", p->name, x,
                       p->choices);
  if (p->kind == GBT_PARAM_INT)
    return gbt_fail_on(err, GBT_E_ARG, p->name, "`%s` is %.15g; it must be a whole number from %.15g to %.15g", p->name,
                       x, p->low, p->high);
  char range[96];
  range_text(p, range, sizeof range);
  return gbt_fail_on(err, GBT_E_ARG, p->name, "`%s` is %.15g; it must be %s", p->name, x, range);
}

/* Edits (insert, delete, replace) that turn a into b; long names count as far away. */
static int edits(const char *a, const char *b) {
  int row[MAX_NAME + 1];
  size_t n_a = strlen(a), n_b = strlen(b);
  if (n_a > MAX_NAME || n_b > MAX_NAME) return MAX_NAME;
  for (size_t j = 0; j <= n_b; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n_a; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= n_b; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[n_b];
}

static gbt_status unknown(const char *name, gbt_error *err) {
  int best = 0, least = MAX_NAME + 1;
  for (int i = 0; i < N_PARAMS; i++) {
    int n = edits(name, infos[i].name);
    if (n < least) least = n, best = i;
  }
  if (least <= 3 && (size_t)least < strlen(name))
    return gbt_fail_on(err, GBT_E_ARG, name, "unknown parameter `%s`; did you mean `%s`?", name, infos[best].name);
  return gbt_fail_on(err, GBT_E_ARG, name, "unknown parameter `%s`", name);
}

gbt_status gbt_params_set(gbt_params *params, const char *name, double value, gbt_error *err) {
  int i = find(name);
  if (i < 0) return unknown(name, err);
  GBT_TRY(check_value(&infos[i], value, err));
  store(params, i, value);
  return GBT_OK;
}

double gbt_params_get(const gbt_params *params, const char *name) {
  int i = find(name);
  return i < 0 ? gbt_from_bits(0x7ff8000000000000u) : load(params, i);
}

/* ---- what must hold between parameters ---- */

/* Parameters that are read with one choice of another parameter only; else they must be at their defaults. */
static const struct owned {
  const char *name, *of, *choice;
} owned[] = {
  {"top_rate", "sampling_method", "goss"}, {"other_rate", "sampling_method", "goss"},
  {"mvs_reg", "sampling_method", "mvs"},   {"bagging_temperature", "sampling_method", "bayesian"},
  {"linear_lambda", "leaf_model", "linear"}, {"sketch", "multi_strategy", "multi_output_tree"},
};

/* The text of an enum's value, which is one of its choices. */
static void choice_text(const gbt_param_info *p, double value, char *out, size_t cap) {
  const char *at = p->choices;
  for (; value >= 1.0; value--) at = strchr(at, '|') + 1;
  snprintf(out, cap, "%.*s", (int)strcspn(at, "|"), at);
}

static gbt_status check_owned(const gbt_params *params, gbt_error *err) {
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
    char now[MAX_NAME];
    const int own = find(owned[i].name), of = find(owned[i].of);
    GBT_ASSERT(own >= 0 && of >= 0);
    choice_text(&infos[of], load(params, of), now, sizeof now);
    if (load(params, own) == infos[own].def || strcmp(now, owned[i].choice) == 0) continue;
    return gbt_fail_on(err, GBT_E_ARG, owned[i].name, "`%s` needs `%s = \"%s\"`; it is \"%s\"", owned[i].name,
                       owned[i].of, owned[i].choice, now);
  }
  return GBT_OK;
}

/* A symmetric tree is full, so its depth must be known to be bounded; and no node has a choice of its own. */
static gbt_status check_symmetric(const gbt_params *params, gbt_error *err) {
  if (params->max_depth < 1 || params->max_depth > GBT_SYMMETRIC_DEPTH)
    return gbt_fail_on(err, GBT_E_ARG, "max_depth",
                       "`max_depth` is %d; with `grow_policy = \"symmetric\"` it must be from 1 to %d, since such a "
                       "tree has 2^max_depth leaves",
                       (int)params->max_depth, GBT_SYMMETRIC_DEPTH);
  if (params->colsample_bynode < 1.0)
    return gbt_fail_on(err, GBT_E_ARG, "colsample_bynode",
                       "`colsample_bynode` must be 1 with `grow_policy = \"symmetric\"`, where all nodes of a layer "
                       "share one split; use `colsample_bylevel`");
  return GBT_OK;
}

/* Ways to draw rows by more than chance alone. */
static gbt_status check_sampling(const gbt_params *params, gbt_error *err) {
  char method[MAX_NAME];
  choice_text(&infos[find("sampling_method")], params->sampling_method, method, sizeof method);
  if (params->num_parallel_tree > 1)
    return gbt_fail_on(err, GBT_E_ARG, "num_parallel_tree",
                       "`num_parallel_tree` must be 1 with `sampling_method = \"%s\"`: parallel trees would have the "
                       "same rows",
                       method);
  if (params->sampling_method != GBT_SAMPLE_MVS && params->subsample < 1.0)
    return gbt_fail_on(err, GBT_E_ARG, "subsample",
                       "`subsample` must be 1 with `sampling_method = \"%s\"`, which %s", method,
                       params->sampling_method == GBT_SAMPLE_GOSS ? "has `top_rate` and `other_rate`"
                                                                  : "takes all rows");
  if (params->sampling_method == GBT_SAMPLE_GOSS && params->top_rate + params->other_rate > 1.0)
    return gbt_fail_on(err, GBT_E_ARG, "other_rate",
                       "`top_rate` and `other_rate` add up to %.15g; at most 1 is possible",
                       params->top_rate + params->other_rate);
  return GBT_OK;
}

gbt_status gbt_params_check(const gbt_params *params, gbt_error *err) {
  for (int i = 0; i < N_PARAMS; i++) GBT_TRY(check_value(&infos[i], load(params, i), err));
  GBT_TRY(check_owned(params, err));
  if (params->max_depth == 0 && params->max_leaves == 0)
    return gbt_fail_on(err, GBT_E_ARG, "max_depth", "`max_depth` and `max_leaves` are both 0; set one of them above 0");
  if (params->sampling_method != GBT_SAMPLE_UNIFORM) GBT_TRY(check_sampling(params, err));
  return params->grow_policy == GBT_SYMMETRIC ? check_symmetric(params, err) : GBT_OK;
}
