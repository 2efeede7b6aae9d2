/* Shared by the files of this folder. */
#ifndef GBT_JOINT_JOINT_IMPL_H
#define GBT_JOINT_JOINT_IMPL_H

#include "../base/parallel.h"
#include "../base/rng.h"
#include "joint.h"
#include "pairs_sum.h"
#include "positions.h"
#include "queries.h"

enum {
  JOINT_TASK_COST = 1 << 18, /* pairs or rows that a task takes about: some milliseconds */
  JOINT_LONG_COST = 1 << 20  /* queries of more are cut into tasks */
};

/* How an objective's gradients are computed. */
typedef enum joint_kind { JOINT_PAIRS, JOINT_YETI, JOINT_RMSE, JOINT_SOFTMAX, JOINT_XENDCG, JOINT_TIMES,
                          JOINT_RISK, JOINT_INTERVALS, JOINT_DISTRIBUTION } joint_kind;

/* The rows of a query in the order of their scores, with what sums over pairs need: one room a thread. n of each; g and
 * h have room for a long query too where each thread adds up sums of its own (joint_own_sums). */
typedef struct joint_room {
  uint32_t n;
  uint32_t *row, *tmp_row; /* numbers of rows; row: by place */
  uint32_t *place;         /* pairs: the place of each row of the order of query_order.c */
  uint64_t *key, *tmp_key;
  double *s, *label, *gain, *weight;
  int64_t *g, *h;
  uint32_t *pos; /* ratios of positions: by place; else NULL */
} joint_room;

/* Objectives by pairs. */
typedef struct joint_pairs {
  gbt_pair_target target;
  uint32_t top;      /* of the two rows of a pair one is in a place below this; 0: any pair */
  uint32_t partners; /* > 0: so many partners of a row, drawn by a hash, instead of `top` */
  int linear;        /* gains are labels */
  int norm;          /* gradients of a query are divided by what they add up to, see gbt_pair_norm */
  int by_distance;   /* weights of pairs are divided by distances of scores */
  double *unit;      /* by query, see gbt_pair_query */
  double *discount;  /* c(place) of `longest` places */
} joint_pairs;

struct gbt_joint {
  gbt_mem mem;
  gbt_objective objective; /* with the scale that it has now */
  int estimates;           /* the scale is estimated */
  joint_kind kind;
  gbt_rows rows;
  uint64_t seed;
  gbt_queries queries;
  gbt_cox cox; /* kind JOINT_RISK; else empty */
  double base[2]; /* kind JOINT_DISTRIBUTION: scores before the first tree */
  joint_pairs pairs;
  joint_positions positions;
  uint32_t *task; /* n_tasks + 1: the first query of each; long queries are a task of their own */
  uint32_t n_tasks;
  uint32_t long_rows, room_rows; /* the most rows of a long query, and of another one */
  joint_room *room;              /* n_rooms: one for long queries, then one for each thread */
  int32_t n_rooms;
  double *g, *h; /* rows.n x objective.n_outputs */
};

/* ---- the rows of a query in an order of their scores and labels alone: query_order.c ---- */

/* A label as the target of pairs has it. */
static inline double joint_label_of(const gbt_joint *joint, uint32_t row) {
  const double y = joint->rows.field[GBT_LABEL][row];
  return joint->pairs.target == GBT_PAIRS_MAP || joint->pairs.target == GBT_PAIRS_MRR ? (double)(y > 0.0) : y;
}

/* Fills row, s and label of the room. */
void joint_order_query(const gbt_joint *joint, uint32_t query, const double *score, joint_room *room);

/* The same for a long query: all threads sort. */
gbt_status joint_order_long(gbt_ctx *ctx, const gbt_joint *joint, uint32_t query, const double *score,
                            joint_room *room, gbt_error *err) GBT_MUST_CHECK;

/* Sorts vals[beg .. end) by the keys of the room there, with its scratch. ctx: with all its threads; NULL: on the
 * calling thread, which cannot fail. */
gbt_status joint_sort(gbt_ctx *ctx, joint_room *room, uint32_t *vals, uint32_t beg, uint32_t end, gbt_error *err);

/* A number of all scores and labels of a query, whatever the order of its rows. */
uint64_t joint_content(const joint_room *room, uint32_t n);

/* The end of the run of rows, from `beg` of that order on, that have the same score and label, and the same position
 * where gradients depend on it. */
static inline uint32_t joint_alike(const joint_room *room, uint32_t n, const uint32_t *place, uint32_t beg) {
  const uint32_t first = place != NULL ? place[beg] : beg;
  uint32_t end = beg + 1;
  for (; end < n; end++) {
    const uint32_t at = place != NULL ? place[end] : end;
    if (room->s[at] != room->s[first] || room->label[at] != room->label[first]) break;
    if (room->pos != NULL && room->pos[at] != room->pos[first]) break;
  }
  return end;
}

/* Gradients from the integers of the room, times down * factor. Rows that are alike get the mean of theirs. */
void joint_write_alike(const gbt_joint *joint, const joint_room *room, uint32_t n, const uint32_t *place, double down,
                       double factor);

/* ---- long queries: their rows by all threads ---- */

/* All pairs of a query, by the kernels. */
static inline int joint_all_pairs(const gbt_joint *joint) {
  return joint->kind == JOINT_PAIRS && joint->pairs.top == 0 && joint->pairs.partners == 0 && !joint->positions.ratio;
}

/* Whether a task of a long query adds to rows of other tasks, so that each thread has sums of its own. */
static inline int joint_own_sums(const gbt_joint *joint) {
  return joint_all_pairs(joint) || joint->pairs.partners > 0 || joint->kind == JOINT_YETI;
}

/* Runs tasks that add to g and h of joint->room[thread + 1], n rows, and adds these up to those of room: joint.c. */
gbt_status joint_sum_long(gbt_ctx *ctx, const gbt_joint *joint, uint32_t n, int64_t n_tasks, gbt_task_fn task,
                          void *arg, joint_room *room, gbt_error *err) GBT_MUST_CHECK;

/* ---- pairs: rank_pairs.c ---- */

gbt_status joint_pairs_open(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA: a label is no whole number from 0 to 31, as gains of 2^label - 1 need. */
gbt_status joint_check_gains(const gbt_joint *joint, gbt_error *err) GBT_MUST_CHECK;

/* Gradients of a query, on the calling thread. */
void joint_pairs_query(const gbt_joint *joint, gbt_simd simd, uint64_t round, uint32_t query, const double *score,
                       joint_room *room, int thread);

/* Of a long one, by all threads. */
gbt_status joint_pairs_long(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                            joint_room *room, gbt_error *err) GBT_MUST_CHECK;

/* ---- times, whose rows have a scale together: times.c ---- */

gbt_status joint_times_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score, gbt_error *err) GBT_MUST_CHECK;

/* ---- intervals of time: intervals.c ---- */

gbt_status joint_intervals_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score,
                                     gbt_error *err) GBT_MUST_CHECK;

/* ---- parameters of distributions: distributions.c ---- */

gbt_status joint_distribution_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score,
                                        gbt_error *err) GBT_MUST_CHECK;

/* ---- one query on the calling thread: query_sums.c, yeti.c ---- */

void joint_sums_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room);
void joint_yeti_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room);

/* A long one, by all threads. */
gbt_status joint_yeti_long(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                           joint_room *room, gbt_error *err) GBT_MUST_CHECK;

#endif
