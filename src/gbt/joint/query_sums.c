/* Objectives that need sums over the rows of a query, of weight w, label y and score s:
 *
 *   query_rmse      squared error of y - s about its mean m in the query: g = m - (y - s), h = 1. CatBoost's QueryRMSE:
 *                   only differences of scores within a query count.
 *   query_softmax   p = w e^s / sum w e^s, T = sum w y: -sum w y log p, g = (T p - w y) / w,
 *                   h = T (p / w (1 - p) + 0.01). CatBoost's QuerySoftMax with lambda 0.01; y >= 0.
 *   rank_xendcg     Bruch, "An alternative cross entropy loss for learning-to-rank", arXiv 1911.09798: rho is the
 *                   softmax of s, phi that of gains 2^y less a random u in (0, 1); the gradient has three terms, below
 *
 * Gradients here are those before row weights. Sums are of integers, scaled by the largest of the query, so they have
 * no order. */
#include "joint_impl.h"

#include "../math/elementary.h"
#include "../math/fixed.h"

enum { SUM_BITS = 50 };

/* A sum of numbers of a query whose sizes are at most `most`. */
typedef struct query_sum {
  double up, down;
  int64_t sum;
} query_sum;

static query_sum sum_begin(uint32_t n, double most) {
  const int spare = 61 - gbt_bit_length(n), e = gbt_scale_exp(most, spare < SUM_BITS ? spare : SUM_BITS);
  return (query_sum){gbt_pow2(e), gbt_pow2(-e), 0};
}
static void sum_add(query_sum *s, double x) { s->sum += gbt_round_i64(x * s->up); }
static double sum_value(const query_sum *s) { return (double)s->sum * s->down; }

typedef struct query {
  const gbt_joint *joint;
  const uint32_t *row;
  uint32_t n;
  const double *score, *label;
} query;

static double size_of(double x) { return x < 0.0 ? -x : x; }

static double total_weight(const query *q) {
  double most = 0.0;
  if (q->joint->rows.field[GBT_WEIGHT] == NULL) return (double)q->n;
  for (uint32_t i = 0; i < q->n; i++) {
    const double w = gbt_weight_of(&q->joint->rows, q->row[i]);
    most = w > most ? w : most;
  }
  query_sum sum = sum_begin(q->n, most);
  for (uint32_t i = 0; i < q->n; i++) sum_add(&sum, gbt_weight_of(&q->joint->rows, q->row[i]));
  return sum_value(&sum);
}

static void query_rmse(const query *q) {
  const gbt_joint *joint = q->joint;
  double most = 0.0;
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    joint->g[r] = q->label[r] - q->score[r];
    joint->h[r] = joint->g[r] * gbt_weight_of(&joint->rows, r);
    most = size_of(joint->h[r]) > most ? size_of(joint->h[r]) : most;
  }
  query_sum sum = sum_begin(q->n, most);
  for (uint32_t i = 0; i < q->n; i++) sum_add(&sum, joint->h[q->row[i]]);
  const double weight = total_weight(q), mean = weight > 0.0 ? sum_value(&sum) / weight : 0.0;
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    joint->g[r] = mean - joint->g[r];
    joint->h[r] = 1.0;
  }
}

/* The largest score. */
static double top_score(const query *q) {
  double top = q->score[q->row[0]];
  for (uint32_t i = 1; i < q->n; i++) top = q->score[q->row[i]] > top ? q->score[q->row[i]] : top;
  return top;
}

static void query_softmax(const query *q) {
  const gbt_joint *joint = q->joint;
  const double top = top_score(q);
  double most_e = 0.0, most_y = 0.0;
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    const double w = gbt_weight_of(&joint->rows, r), e = gbt_exp(q->score[r] - top) * w, y = q->label[r] * w;
    most_e = e > most_e ? e : most_e;
    most_y = y > most_y ? y : most_y;
  }
  query_sum all = sum_begin(q->n, most_e), labels = sum_begin(q->n, most_y);
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    const double w = gbt_weight_of(&joint->rows, r);
    joint->g[r] = gbt_exp(q->score[r] - top);
    sum_add(&all, joint->g[r] * w);
    sum_add(&labels, q->label[r] * w);
  }
  const double sum = sum_value(&all), T = sum_value(&labels);
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    const double share = sum > 0.0 ? joint->g[r] / sum : 0.0, p = share * gbt_weight_of(&joint->rows, r);
    joint->g[r] = T * share - q->label[r];
    joint->h[r] = T * (share * (1.0 - p) + 0.01);
  }
}

/* x[row] += rho (sum of q - q), q = term[row] / (1 - rho); term becomes what was added. rho is in h. */
static void xendcg_term(const query *q, double *term, double *x) {
  double most = 0.0;
  for (uint32_t i = 0; i < q->n; i++) {
    const double rest = 1.0 - q->joint->h[q->row[i]], least = 9.0949470177292824e-13; /* 2^-40 */
    term[i] = term[i] / (rest > least ? rest : least);
    most = size_of(term[i]) > most ? size_of(term[i]) : most;
  }
  query_sum all = sum_begin(q->n, most);
  for (uint32_t i = 0; i < q->n; i++) sum_add(&all, term[i]);
  const double sum = sum_value(&all);
  for (uint32_t i = 0; i < q->n; i++) {
    term[i] = q->joint->h[q->row[i]] * (sum - term[i]);
    x[q->row[i]] += term[i];
  }
}

/* Rows that are alike get the mean of their gradients; their hessians are equal. */
static void share_alike(const query *q, const joint_room *room) {
  for (uint32_t beg = 0, end; beg < q->n; beg = end) {
    double g = 0.0;
    end = joint_alike(room, q->n, NULL, beg);
    for (uint32_t i = beg; i < end; i++) g += q->joint->g[q->row[i]];
    for (uint32_t i = beg; i < end; i++) q->joint->g[q->row[i]] = g / (double)(end - beg);
  }
}

/* The rows of the query are in the order of query_order.c. */
static void rank_xendcg(const query *q, uint64_t round, const joint_room *room) {
  const gbt_joint *joint = q->joint;
  const gbt_key32 key = gbt_key(joint->seed, GBT_FOR_GAINS, round, joint_content(room, q->n));
  double *term = room->gain;
  const double top = top_score(q);
  double most = 0.0;
  query_sum all = sum_begin(q->n, 1.0);
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    const double u = ((double)gbt_hash32(key, i) + 0.5) / 4294967296.0;
    joint->h[r] = gbt_exp(q->score[r] - top);
    joint->g[r] = (double)((uint64_t)1 << (int)q->label[r]) - u;
    sum_add(&all, joint->h[r]);
    most = joint->g[r] > most ? joint->g[r] : most;
  }
  query_sum gains = sum_begin(q->n, most);
  for (uint32_t i = 0; i < q->n; i++) sum_add(&gains, joint->g[q->row[i]]);
  const double sum = sum_value(&all), gain = sum_value(&gains);
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    joint->h[r] = joint->h[r] / sum;
    joint->g[r] = term[i] = joint->h[r] - joint->g[r] / gain;
  }
  xendcg_term(q, term, joint->g);
  xendcg_term(q, term, joint->g);
  for (uint32_t i = 0; i < q->n; i++) {
    const uint32_t r = q->row[i];
    joint->h[r] = q->n > 1 ? joint->h[r] * (1.0 - joint->h[r]) : 0.0;
    if (q->n == 1) joint->g[r] = 0.0;
  }
  share_alike(q, room);
}

void joint_sums_query(const gbt_joint *joint, uint64_t round, uint32_t number, const double *score, joint_room *room) {
  const gbt_queries *all = &joint->queries;
  query q = {joint, all->row + all->start[number], gbt_rows_of_query(all, number), score, joint->rows.field[GBT_LABEL]};
  switch (joint->kind) {
  case JOINT_RMSE:
    query_rmse(&q);
    break;
  case JOINT_SOFTMAX:
    query_softmax(&q);
    break;
  case JOINT_XENDCG:
    joint_order_query(joint, number, score, room);
    q.row = room->row;
    rank_xendcg(&q, round, room);
    break;
  case JOINT_PAIRS:
  case JOINT_YETI:
  case JOINT_TIMES:
  case JOINT_RISK:
  case JOINT_INTERVALS:
  case JOINT_DISTRIBUTION:
    break;
  }
}
