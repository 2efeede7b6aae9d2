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
static double span_of(const gbt_joint *joint, const uint32_t *row, uint32_t n) {
  const double *label = joint->rows.field[GBT_LABEL];
  double low = label[row[0]], high = low;
  for (uint32_t i = 1; i < n; i++) {
    low = label[row[i]] < low ? label[row[i]] : low;
    high = label[row[i]] > high ? label[row[i]] : high;
  }
  return high - low;
}

/* The rows, as numbers within the query, by falling z. */
static void order_rows(const gbt_joint *joint, gbt_key32 key, const uint32_t *row, uint32_t n, const double *score,
                       joint_room *room) {
  for (uint32_t i = 0; i < n; i++) {
    const uint64_t number = (uint64_t)gbt_row_number(&joint->rows, row[i]);
    const double u = ((double)gbt_hash32(key, number) + 0.5) / 4294967296.0;
    room->row[i] = i;
    room->key[i] = ~gbt_order_key(score[row[i]] + gbt_log(u / (1.0 - u)));
  }
  gbt_sort_u64(room->key, room->row, n, room->tmp_key, room->tmp_row);
}

void joint_yeti_query(const gbt_joint *joint, uint64_t round, uint32_t query, const double *score, joint_room *room) {
  const uint32_t *row = joint->queries.row + joint->queries.start[query], n = gbt_rows_of_query(&joint->queries, query);
  const double *label = joint->rows.field[GBT_LABEL], decay = joint->objective.param[1];
  const uint32_t n_orders = (uint32_t)joint->objective.param[0];
  const double unit = 0.15 / (double)n_orders;
  const int bits = 61 - gbt_bit_length(2 * (uint64_t)n_orders);
  const int e = gbt_scale_exp(unit * span_of(joint, row, n), bits < 50 ? bits : 50);
  const double up = gbt_pow2(e) * unit, down = gbt_pow2(-e);
  for (uint32_t i = 0; i < n; i++) room->g[i] = room->h[i] = 0;
  for (uint32_t t = 0; t < n_orders; t++) {
    double weight = up;
    order_rows(joint, gbt_key(joint->seed, GBT_FOR_PERMUTATION, round, t), row, n, score, room);
    for (uint32_t a = 0; a + 1 < n; a++, weight *= decay) {
      const uint32_t x = room->row[a], y = room->row[a + 1];
      const double by = label[row[x]] - label[row[y]];
      const uint32_t better = by > 0.0 ? x : y, worse = by > 0.0 ? y : x;
      const double q = 1.0 / (1.0 + gbt_exp(score[row[better]] - score[row[worse]]));
      const double D = weight * (by > 0.0 ? by : -by);
      const int64_t g = gbt_round_i64(q * D), h = gbt_round_i64(2.0 * q * (1.0 - q) * D);
      room->g[better] -= g;
      room->g[worse] += g;
      room->h[better] += h;
      room->h[worse] += h;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    joint->g[row[i]] = (double)room->g[i] * down;
    joint->h[row[i]] = (double)room->h[i] * down;
  }
}
