/* yeti_rank: pairs of neighbours in orders with noise (Gulin, Kuralenok and Pavlov, "Winning the transfer learning
 * track of Yahoo!'s learning to rank challenge with YetiRank", 2011; CatBoost's YetiRank). For permutation t = 1 .. P
 *
 *   z = s + log(u / (1 - u))   u: a random number of seed, round, t and row
 *
 * The rows in the order of falling z; those at places a and a + 1 with different labels are a pair of weight
 * 0.15 decay^a |y_a - y_b| / P; its probability q is that of the scores without noise (pairs.h). */
#include "../base/bits.h"
#include "../base/sort.h"
#include "joint_impl.h"

/* The largest difference of labels. */
static double span_of(const double *label, uint32_t n) {
  double low = label[0], high = low;
  for (uint32_t i = 1; i < n; i++) {
    low = label[i] < low ? label[i] : low;
    high = label[i] > high ? label[i] : high;
  }
  return high - low;
}

/* own->place: the rows of the room, as places in the order without noise, by falling z. */
static void order_rows(gbt_key32 key, uint32_t n, const joint_room *room, joint_room *own) {
  for (uint32_t i = 0; i < n; i++) {
    const double u = ((double)gbt_hash32(key, i) + 0.5) / 4294967296.0;
    own->place[i] = i;
    own->key[i] = ~gbt_order_key(room->s[i] + gbt_log(u / (1.0 - u)));
  }
  gbt_sort_u64(own->key, own->place, n, own->tmp_key, own->tmp_row);
}

static void add_neighbours(const joint_room *room, uint32_t n, double weight, double decay, joint_room *own) {
  const double *label = room->label;
  for (uint32_t a = 0; a + 1 < n; a++, weight *= decay) {
    const uint32_t x = own->place[a], y = own->place[a + 1];
    const double by = label[x] - label[y];
    const uint32_t better = by > 0.0 ? x : y, worse = by > 0.0 ? y : x;
    const double q = 1.0 / (1.0 + gbt_exp(room->s[better] - room->s[worse]));
    const double D = weight * (by > 0.0 ? by : -by);
    const int64_t g = gbt_round_i64(q * D), h = gbt_round_i64(2.0 * q * (1.0 - q) * D);
    own->g[better] -= g;
    own->g[worse] += g;
    own->h[better] += h;
    own->h[worse] += h;
  }
}

/* A query whose rows are in the order without noise. */
typedef struct yeti_job {
  const gbt_joint *joint;
  uint64_t round, content;
  const joint_room *room;
  uint32_t n, n_orders;
  int e; /* integers are numbers times 2^e */
} yeti_job;

static yeti_job begin(const gbt_joint *joint, uint64_t round, uint32_t n, const joint_room *room) {
  yeti_job j = {.joint = joint, .round = round, .room = room, .n = n, .n_orders = (uint32_t)joint->objective.param[0]};
  const int bits = 61 - gbt_bit_length(2 * (uint64_t)j.n_orders);
  j.e = gbt_scale_exp(0.15 / (double)j.n_orders * span_of(room->label, n), bits < 50 ? bits : 50);
  j.content = joint_content(room, n);
  return j;
}

/* Permutation t, added to the sums of `own`. */
static void add_order(const yeti_job *j, uint32_t t, joint_room *own) {
  order_rows(gbt_key(j->joint->seed, GBT_FOR_PERMUTATION, j->round, j->content + t), j->n, j->room, own);
  add_neighbours(j->room, j->n, gbt_pow2(j->e) * (0.15 / (double)j->n_orders), j->joint->objective.param[1], own);
}

void joint_yeti_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room) {
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  joint_order_query(joint, query, score, room);
  const yeti_job j = begin(joint, round, n, room);
  for (uint32_t i = 0; i < n; i++) room->g[i] = room->h[i] = 0;
  for (uint32_t t = 0; t < j.n_orders; t++) add_order(&j, t, room);
  joint_write_alike(joint, room, n, NULL, gbt_pow2(-j.e), 1.0);
}

static void order_task(void *arg, int64_t task, int thread) {
  const yeti_job *j = arg;
  add_order(j, (uint32_t)task, &j->joint->room[thread + 1]);
}

gbt_status joint_yeti_long(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                           joint_room *room, gbt_error *err) {
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  GBT_TRY(joint_order_long(ctx, joint, query, score, room, err));
  yeti_job j = begin(joint, round, n, room);
  GBT_TRY(joint_sum_long(ctx, joint, n, j.n_orders, order_task, &j, room, err));
  joint_write_alike(joint, room, n, NULL, gbt_pow2(-j.e), 1.0);
  return GBT_OK;
}
