/* yeti_rank: pairs of neighbours in orders with noise (Gulin, Kuralenok and Pavlov, "Winning the transfer learning
 * track of Yahoo!'s learning to rank challenge with YetiRank", 2011; CatBoost's YetiRank). For permutation t = 1 .. P
 *
 *   z = s + log(u / (1 - u))   u: a random number of seed, round, t and row
 *
 * The rows in the order of falling z; those at places a and a + 1 with different labels are a pair of weight
 * 0.15 decay^a |y_a - y_b| / P; its chance q is that of the scores without noise (pairs.h). */
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

/* room->place: the rows, as places in the order without noise, by falling z. */
static void order_rows(gbt_key32 key, uint32_t n, joint_room *room) {
  for (uint32_t i = 0; i < n; i++) {
    const double u = ((double)gbt_hash32(key, i) + 0.5) / 4294967296.0;
    room->place[i] = i;
    room->key[i] = ~gbt_order_key(room->s[i] + gbt_log(u / (1.0 - u)));
  }
  gbt_sort_u64(room->key, room->place, n, room->tmp_key, room->tmp_row);
}

static void add_neighbours(const joint_room *room, uint32_t n, double weight, double decay) {
  const double *label = room->label;
  for (uint32_t a = 0; a + 1 < n; a++, weight *= decay) {
    const uint32_t x = room->place[a], y = room->place[a + 1];
    const double by = label[x] - label[y];
    const uint32_t better = by > 0.0 ? x : y, worse = by > 0.0 ? y : x;
    const double q = 1.0 / (1.0 + gbt_exp(room->s[better] - room->s[worse]));
    const double D = weight * (by > 0.0 ? by : -by);
    const int64_t g = gbt_round_i64(q * D), h = gbt_round_i64(2.0 * q * (1.0 - q) * D);
    room->g[better] -= g;
    room->g[worse] += g;
    room->h[better] += h;
    room->h[worse] += h;
  }
}

void joint_yeti_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room) {
  const uint32_t n = gbt_rows_of_query(&joint->queries, query), n_orders = (uint32_t)joint->objective.param[0];
  const double unit = 0.15 / (double)n_orders;
  const int bits = 61 - gbt_bit_length(2 * (uint64_t)n_orders);
  joint_order_query(joint, query, score, room);
  const int e = gbt_scale_exp(unit * span_of(room->label, n), bits < 50 ? bits : 50);
  const double down = gbt_pow2(-e);
  const uint64_t content = joint_content(room, n);
  for (uint32_t i = 0; i < n; i++) room->g[i] = room->h[i] = 0;
  for (uint32_t t = 0; t < n_orders; t++) {
    order_rows(gbt_key(joint->seed, GBT_FOR_PERMUTATION, round, content + t), n, room);
    add_neighbours(room, n, gbt_pow2(e) * unit, joint->objective.param[1]);
  }
  joint_write_alike(joint, room, n, NULL, down, 1.0);
}
