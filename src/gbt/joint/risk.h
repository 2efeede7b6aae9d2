/* Risk sets of survival data, for partial likelihoods (Cox 1972). A row has a time (the field LABEL), an event or none
 * (EVENT: 0 censored), and, where given, an entry time and a stratum. At an event time t of a stratum the risk set is
 * its rows with entry < t <= time.
 *
 * Times of a stratum with one event at least are numbered, all strata in turn: points. A row needs two numbers of them:
 *
 *   last    points of its stratum up to its time: it is at risk at the points before
 *   first   points up to its entry: it is not at risk at these
 *
 *   points    |  t0   t1   t2   t3   t4  |  of the next stratum
 *   row       |      entry....................time     first = 1, last = 4: at risk at t1, t2, t3
 *
 * Sums over risk sets are differences of sums over points. They are made of integers of 128 bits, so they do not depend
 * on the order and the differences lose no digit. Ranks: points are those of all ranks, sums those of all rows. */
#ifndef GBT_JOINT_RISK_H
#define GBT_JOINT_RISK_H

#include "../base/ctx.h"
#include "../base/rows.h"
#include "../math/wide.h"

typedef struct gbt_risk {
  gbt_mem mem;
  gbt_rows rows;    /* borrowed */
  int64_t all_rows; /* of all ranks */
  double most_weight;
  uint32_t n_strata, n_points;
  double *stratum;   /* n_strata: their numbers, ascending */
  uint32_t *start;   /* n_strata + 1: the first point of each */
  double *time;      /* n_points, ascending within a stratum */
  int64_t *n_events; /* n_points: those of a weight above 0, 1 where there is none */
  double *weight;    /* n_points: sum of the weights of the events */
  uint32_t *of;      /* rows.n: the stratum of each row, as a place in `stratum` */
  uint32_t *last;    /* rows.n: see above, numbered through all strata */
  uint32_t *first;   /* rows.n; NULL where no row has an entry time */
} gbt_risk;

#define GBT_RISK_CENSORED (-1.0)

/* cause: the number of the event that counts; others are censored. 0: any; GBT_RISK_CENSORED: no event. rows: with
 * LABEL and EVENT, possibly none. GBT_E_DATA where no row has an event, or an entry is not before its time. Free with
 * gbt_risk_free, also after a failure. Collective. */
gbt_status gbt_risk_make(gbt_ctx *ctx, const gbt_rows *rows, double cause, gbt_risk *out,
                         gbt_error *err) GBT_MUST_CHECK;
void gbt_risk_free(gbt_risk *risk);

/* Points of a stratum (by its place) before t, numbered as `last`. */
uint32_t gbt_risk_points_before(const gbt_risk *risk, uint32_t stratum, double t);

/* Whether the event of a row counts. */
static inline int gbt_risk_is_event(const gbt_rows *rows, int64_t row, double cause) {
  const double event = rows->field[GBT_EVENT][row];
  if (cause == GBT_RISK_CENSORED) return event == 0.0;
  return cause == 0.0 ? event > 0.0 : event == cause;
}

#endif
