/* Shared by the files of this folder. */
#ifndef GBT_JOINT_JOINT_IMPL_H
#define GBT_JOINT_JOINT_IMPL_H

#include "../base/rng.h"
#include "joint.h"
#include "pairs_sum.h"
#include "queries.h"

enum {
  JOINT_TASK_COST = 1 << 18, /* pairs or rows that a task takes about: some milliseconds */
  JOINT_LONG_COST = 1 << 20  /* queries of more are cut into tasks */
};

/* How an objective's gradients are computed. */
typedef enum joint_kind { JOINT_PAIRS, JOINT_YETI, JOINT_RMSE, JOINT_SOFTMAX, JOINT_XENDCG, JOINT_TIMES,
                          JOINT_RISK } joint_kind;

/* The rows of a query in the order of their scores, with what sums over pairs need: one room a thread. n of each. */
typedef struct joint_room {
  uint32_t n;
  uint32_t *row, *tmp_row; /* numbers of rows; row: by place */
  uint64_t *key, *tmp_key;
  double *s, *label, *gain, *weight;
  int64_t *g, *h;
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
  joint_pairs pairs;
  uint32_t *task; /* n_tasks + 1: the first query of each; long queries are a task of their own */
  uint32_t n_tasks;
  uint32_t long_rows, room_rows; /* the most rows of a long query, and of another one */
  joint_room *room;              /* n_rooms: one for long queries, then one for each thread */
  int32_t n_rooms;
  double *g, *h; /* rows.n */
};

/* ---- pairs: rank_pairs.c ---- */

gbt_status joint_pairs_open(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA: a label is no whole number from 0 to 31, as gains of 2^label - 1 need. */
gbt_status joint_check_gains(const gbt_joint *joint, gbt_error *err) GBT_MUST_CHECK;

/* Gradients of a query, on the calling thread. */
void joint_pairs_query(const gbt_joint *joint, gbt_simd simd, uint64_t round, uint32_t query, const double *score,
                       joint_room *room);

/* Of a long one, by all threads. */
gbt_status joint_pairs_long(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                            joint_room *room, gbt_error *err) GBT_MUST_CHECK;

/* ---- times, whose rows have a scale together: times.c ---- */

gbt_status joint_times_gradients(gbt_ctx *ctx, gbt_joint *joint, const double *score, gbt_error *err) GBT_MUST_CHECK;

/* ---- one query on the calling thread: query_sums.c, yeti.c ---- */

/* scratch: a number for each row of the query. */
void joint_sums_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, double *scratch);
void joint_yeti_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room);

#endif
