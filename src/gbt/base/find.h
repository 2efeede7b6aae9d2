/* Finds the first of many numbers that breaks a rule, on all threads. Checks of long input use it. */
#ifndef GBT_BASE_FIND_H
#define GBT_BASE_FIND_H

#include "ctx.h"

/* The first place in [beg, end) that is looked for, or end. */
typedef int64_t (*gbt_find_fn)(const void *arg, int64_t beg, int64_t end);

/* *out: the first of n places that is looked for, or n: the same on any number of threads. Takes no memory.
 * GBT_CANCELLED when asked to stop. */
gbt_status gbt_find_first(gbt_ctx *ctx, int64_t n, gbt_find_fn find, const void *arg, int64_t *out,
                          gbt_error *err) GBT_MUST_CHECK;

/* Whether one of n numbers is above 0. */
gbt_status gbt_any_positive(gbt_ctx *ctx, const double *x, int64_t n, int64_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
