/* The rows of a query in an order that does not depend on the order of the rows in the data: by score, falling; rows of
 * equal score by label. Rows of equal score and label are alike: they get the mean of what their places get.
 * Where positions have ratios (positions.h) rows alike also have the same position.
 *
 *   random choices: hashes of the seed, the round, all scores and labels of the query, and a place in this order */
#include "../base/bits.h"
#include "../base/sort.h"
#include "joint_impl.h"

gbt_status joint_sort(gbt_ctx *ctx, joint_room *room, uint32_t *vals, uint32_t beg, uint32_t end, gbt_error *err) {
  uint64_t *key = room->key + beg, *tmp = room->tmp_key + beg;
  const size_t n = end - beg;
  if (ctx != NULL && n > JOINT_TASK_COST / 8)
    return gbt_sort_u64_parallel(ctx, key, vals + beg, n, tmp, room->tmp_row + beg, err);
  gbt_sort_u64(key, vals + beg, n, tmp, room->tmp_row + beg);
  return GBT_OK;
}

/* Places [beg, end), of one score, by a field, stably. */
static gbt_status order_ties(gbt_ctx *ctx, joint_room *room, uint32_t beg, uint32_t end, const double *field,
                             gbt_error *err) {
  if (end - beg < 2) return GBT_OK;
  for (uint32_t i = beg; i < end; i++) room->key[i] = gbt_order_key(field[room->row[i]]);
  return joint_sort(ctx, room, room->row, beg, end, err);
}

static gbt_status order_rows(gbt_ctx *ctx, const gbt_joint *joint, uint32_t query, const double *score,
                             joint_room *room, gbt_error *err) {
  const uint32_t *row = joint->queries.row + joint->queries.start[query], n = gbt_rows_of_query(&joint->queries, query);
  for (uint32_t i = 0; i < n; i++) {
    room->row[i] = row[i];
    room->key[i] = ~gbt_order_key(score[row[i]]);
  }
  GBT_TRY(joint_sort(ctx, room, room->row, 0, n, err));
  for (uint32_t i = 0; i < n; i++) room->s[i] = score[room->row[i]];
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    for (end = beg + 1; end < n && room->s[end] == room->s[beg];) end++;
    if (room->pos != NULL) GBT_TRY(order_ties(ctx, room, beg, end, joint->positions.of, err));
    GBT_TRY(order_ties(ctx, room, beg, end, joint->rows.field[GBT_LABEL], err));
  }
  for (uint32_t i = 0; i < n; i++) room->label[i] = joint_label_of(joint, room->row[i]);
  return GBT_OK;
}

void joint_order_query(const gbt_joint *joint, uint32_t query, const double *score, joint_room *room) {
  (void)order_rows(NULL, joint, query, score, room, NULL);
}

gbt_status joint_order_long(gbt_ctx *ctx, const gbt_joint *joint, uint32_t query, const double *score,
                            joint_room *room, gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_TRY(order_rows(ctx, joint, query, score, room, err));
  return gbt_ctx_poll(ctx, err);
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
