/* The rows of survival data in the order of their times, for metrics: made once for a data set.
 *
 *   at       rows by stratum, then time; rows of one time stay in the order of their numbers
 *   beg      the places of `at` at which strata begin
 *   before   G(T-) of each place: the probability of not being censored before the row's time
 *
 * G is the estimate of Kaplan and Meier (1958) of the time of censoring, in the row's stratum, by row weights. At equal
 * times events come before censorings, so those with an event at u are not at risk to be censored at u. Sums of weights
 * are sums of whole numbers. */
#ifndef GBT_JOINT_TIMELINE_H
#define GBT_JOINT_TIMELINE_H

#include "../base/ctx.h"
#include "../base/rows.h"

typedef struct gbt_timeline {
  gbt_mem mem;
  uint32_t n, n_strata;
  uint32_t *at;       /* n */
  uint32_t *by_entry; /* n: rows by stratum, then entry time; NULL where no row has one */
  uint32_t *beg;      /* n_strata + 1 */
  uint64_t *weight;   /* n, by row: whole numbers, below 2^62 in sum */
  double *before;     /* n, by place */
  double *after;      /* n, by place: G at the row's time itself */
} gbt_timeline;

/* Whether a row's time is that of an event: by EVENT, else by UPPER, which is the time itself then, else always. */
static inline int gbt_has_event(const gbt_rows *rows, int64_t row) {
  if (rows->field[GBT_EVENT] != NULL) return rows->field[GBT_EVENT][row] > 0.0;
  return rows->field[GBT_UPPER] == NULL || rows->field[GBT_UPPER][row] == rows->field[GBT_LABEL][row];
}

/* rows: with LABEL, the times; below 2^32 of them. pooled: strata are not looked at. Free with gbt_timeline_free, also
 * after a failure. Memory: 32 bytes a row, 4 more with entry times, and 24 while it is made. */
gbt_status gbt_timeline_make(gbt_ctx *ctx, const gbt_rows *rows, int pooled, gbt_timeline *out,
                             gbt_error *err) GBT_MUST_CHECK;
void gbt_timeline_free(gbt_timeline *timeline);

/* G at any time, of a stratum by its place. */
double gbt_uncensored_at(const gbt_timeline *timeline, const gbt_rows *rows, uint32_t stratum, double time);

#endif
