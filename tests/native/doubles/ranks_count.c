#include "ranks_count.h"

static void count(ranks_counter *k, int64_t bytes) {
  k->to->rounds++;
  k->to->operations++;
  k->to->bytes += bytes;
}

/* See meet() of src/gbt/base/comm.c. */
static int is_meeting(const gbt_comm_part *part, size_t n_parts, gbt_comm_op op) {
  return n_parts == 1 && op == GBT_COMM_MAX && part->type == GBT_COMM_I64 && part->n == 6;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  ranks_counter *k = state;
  int64_t bytes = 0;
  for (size_t i = 0; i < n_parts; i++) bytes += (int64_t)(part[i].n * gbt_comm_width(part[i].type));
  if (is_meeting(part, n_parts, op))
    k->to->rounds++;
  else
    count(k, 2 * bytes);
  return k->of->reduce(k->of->state, part, n_parts, op, err);
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  ranks_counter *k = state;
  int64_t total = 0;
  for (int r = 0; r < k->of->size; r++) total += (int64_t)bytes[r];
  count(k, total);
  return k->of->gather(k->of->state, mine, bytes, all, err);
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  ranks_counter *k = state;
  count(k, (int64_t)bytes);
  return k->of->broadcast(k->of->state, x, bytes, root, err);
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count_of, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  ranks_counter *k = state;
  int64_t n = 0;
  for (int r = 0; r < k->of->size; r++) n += (int64_t)count_of[r];
  count(k, n * (int64_t)gbt_comm_width(type));
  return k->of->reduce_scatter(k->of->state, x, count_of, type, own, err);
}

const gbt_comm *ranks_counted(ranks_counter *counter, const gbt_comm *of, ranks_counts *to) {
  counter->comm = (gbt_comm){of->rank, of->size, counter, reduce, gather, broadcast, reduce_scatter};
  counter->of = of;
  counter->to = to;
  return &counter->comm;
}
