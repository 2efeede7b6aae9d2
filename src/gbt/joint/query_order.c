/* The rows of a query in an order that does not depend on the order of the rows in the data: by score, falling; rows of
 * equal score by label. Rows of equal score and label are alike: they get the mean of what their places get.
 * Where positions have ratios (positions.h) rows alike also have the same position.
 *
 *   random choices: hashes of the seed, the round, all scores and labels of the query, and a place in this order */
#include "../base/bits.h"
#include "../base/sort.h"
#include "joint_impl.h"

void joint_order_keys(const gbt_joint *joint, uint32_t query, const double *score, joint_room *room) {
  const uint32_t *row = joint->queries.row + joint->queries.start[query], n = gbt_rows_of_query(&joint->queries, query);
  for (uint32_t i = 0; i < n; i++) {
    room->row[i] = row[i];
    room->key[i] = ~gbt_order_key(score[row[i]]);
  }
}

/* Places [beg, end), of one score, by a field, stably. */
static void order_ties(joint_room *room, uint32_t beg, uint32_t end, const double *field) {
  if (end - beg < 2) return;
  for (uint32_t i = beg; i < end; i++) room->key[i] = gbt_order_key(field[room->row[i]]);
  gbt_sort_u64(room->key + beg, room->row + beg, end - beg, room->tmp_key + beg, room->tmp_row + beg);
}

void joint_order_finish(const gbt_joint *joint, uint32_t n, const double *score, joint_room *room) {
  for (uint32_t i = 0; i < n; i++) room->s[i] = score[room->row[i]];
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    for (end = beg + 1; end < n && room->s[end] == room->s[beg];) end++;
    if (room->pos != NULL) order_ties(room, beg, end, joint->positions.of);
    order_ties(room, beg, end, joint->rows.field[GBT_LABEL]);
  }
  for (uint32_t i = 0; i < n; i++) room->label[i] = joint_label_of(joint, room->row[i]);
}

void joint_order_query(const gbt_joint *joint, uint32_t query, const double *score, joint_room *room) {
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  joint_order_keys(joint, query, score, room);
  gbt_sort_u64(room->key, room->row, n, room->tmp_key, room->tmp_row);
  joint_order_finish(joint, n, score, room);
}

uint64_t joint_content(const joint_room *room, uint32_t n) {
  uint64_t sum = n;
  for (uint32_t i = 0; i < n; i++)
    sum += gbt_mix64(gbt_mix64(gbt_order_key(room->s[i])) + gbt_order_key(room->label[i]));
  return sum;
}

void joint_write_alike(const gbt_joint *joint, const joint_room *room, uint32_t n, const uint32_t *place, double down,
                       double factor) {
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    double g = 0.0, h = 0.0;
    end = joint_alike(room, n, place, beg);
    for (uint32_t i = beg; i < end; i++) {
      const uint32_t at = place != NULL ? place[i] : i;
      g += (double)room->g[at];
      h += (double)room->h[at];
    }
    g = g / (double)(end - beg) * down * factor;
    h = h / (double)(end - beg) * down * factor;
    for (uint32_t i = beg; i < end; i++) {
      const uint32_t row = room->row[place != NULL ? place[i] : i];
      joint->g[row] = g;
      joint->h[row] = h;
    }
  }
}
