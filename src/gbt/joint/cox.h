/* The partial likelihood of Cox, at given scores s. With weights w, u_j = w_j exp(s_j - M), M the largest score of the
 * stratum, and at an event time t: S = sum of u over the risk set, E the events at t, d of them, D = sum of w in E, S_E
 * = sum of u in E,
 *
 *   Breslow (1974)   a = D / S
 *   Efron (1977)     S_l = S - (l / d) S_E for l = 0 .. d - 1
 *                    a = sum (D / d) / S_l,  c = sum (D / d) (l / d) / S_l
 *   A_i = sum of a over event times at which row i is at risk, less c of its own time where it has an event
 *
 *   g_i = u_i A_i - w_i event_i       h_i = u_i A_i
 *   loss = - sum of w s over events + sum over times and l of (D / d) log S_l + M D
 *
 * The whole matrix of second derivatives is diag(u A) less a sum of squares, so h bounds it for all scores moving at
 * the same time, is never negative and adds up to the weight of the events.
 *
 * Fine and Gray (1999), for events of cause 1: rows with an event of another cause stay at risk, with the weight
 * G(t-) / G(T-) of not having been censored meanwhile (censor.h):
 *
 *   S(t) = sum of u of rows with T >= t + G(t-) sum of u_j / G(T_j-) over those of other causes with T_j < t
 *   A_i of these rows has another (1 / G(T_i-)) sum of G(t-) a over the event times t > T_i */
#ifndef GBT_JOINT_COX_H
#define GBT_JOINT_COX_H

#include "../objective/objective.h"
#include "censor.h"

typedef struct gbt_cox {
  gbt_mem mem;
  gbt_risk risk;
  int breslow;
  double cause; /* 0: any */
  int exp;      /* sums of u are whole numbers of 2^-exp; a row adds at least 1 where w > 0 */
  double *top;  /* n_strata: M */
  /* Slots: a stratum has one more of them than points, as `last` and `first` of a row have one more value. The slot of
   * such a number is the number + the place of the stratum. */
  uint32_t n_slots;
  uint32_t *by_last;  /* rows.n: rows by the slot of `last`; those of k are [beg_last[k], beg_last[k + 1]) */
  uint32_t *beg_last; /* n_slots + 1 */
  double *relative;   /* rows.n: exp(s - M), in the order of by_last; of the last scores */
  uint8_t *is_event;  /* rows.n: in this order */
  uint32_t *by_first, *beg_first; /* places in by_last by the slot of `first`, or NULL */
  gbt_wide *at_last, *at_first;   /* n_slots: sums of u of the rows of each; at_first: NULL without entry times */
  gbt_wide *at_event;             /* n_slots: S_E in the slot of `last` of the events; 0 where it is not needed */
  double *S, *S_E;                /* n_points, as real numbers in units of exp(M); S_E: 0 where it is not needed */
  double *a, *c;                  /* n_points */
  double a_unit;                  /* what one unit of sum_a is */
  gbt_wide *sum_a;                /* n_points + 1: sums of a before each point, as integers */
  double *A; /* n_slots x 2: A of rows that are at risk from the beginning, without and with an event at their time */
  /* Fine and Gray's; else NULL */
  double *beyond;     /* rows.n: 1 / G(T-) of rows with an event of another cause, else 0 */
  double *uncensored; /* n_points: G(t-) */
  int exp_beyond;
  gbt_wide *at_beyond; /* n_slots: sums of u / G(T-) of such rows, in units of 2^-exp_beyond, in the slot of `last` */
  double ga_unit;
  gbt_wide *sum_ga; /* n_points + 1: as sum_a, of G(t-) a */
} gbt_cox;

/* rows: see gbt_risk_make. cause: 0 for any event. Free with gbt_cox_free, also after a failure. Collective. */
gbt_status gbt_cox_make(gbt_ctx *ctx, const gbt_rows *rows, double cause, int breslow, gbt_cox *out,
                        gbt_error *err) GBT_MUST_CHECK;
void gbt_cox_free(gbt_cox *cox);

/* The same for the subdistribution of cause 1; all other events are of other causes. GBT_E_UNSUPPORTED: entry times. */
gbt_status gbt_fine_gray_make(gbt_ctx *ctx, const gbt_rows *rows, int breslow, gbt_cox *out,
                              gbt_error *err) GBT_MUST_CHECK;

/* One of the two, for an objective of hazards. */
gbt_status gbt_cox_make_for(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, gbt_cox *out,
                            gbt_error *err) GBT_MUST_CHECK;

/* a and c at these scores, one for each row. Collective. */
gbt_status gbt_cox_hazards(gbt_ctx *ctx, gbt_cox *cox, const double *score, gbt_error *err) GBT_MUST_CHECK;

/* After gbt_cox_hazards at the same scores: g and h of each row before row weights. */
gbt_status gbt_cox_gradients(gbt_ctx *ctx, const gbt_cox *cox, const double *score, double *g, double *h,
                             gbt_error *err) GBT_MUST_CHECK;

/* After gbt_cox_hazards: the cumulative hazard of a row of score 0 from each point of a stratum on. hazard: n_points.
 */
void gbt_cox_baseline(const gbt_cox *cox, double *hazard);

/* After gbt_cox_hazards: the loss of all ranks' rows. Collective. */
gbt_status gbt_cox_loss(gbt_ctx *ctx, const gbt_cox *cox, const double *score, double *out,
                        gbt_error *err) GBT_MUST_CHECK;

#endif
