#include "ranks_count.h"

static void count(ranks_counter *k, size_t n, int64_t bytes) {
  k->to->rounds++;
  k->to->operations += (int64_t)n;
  k->to->bytes += bytes;
}

/* See src/gbt/base/comm_meet.c. */
static int is_meeting(const gbt_comm_part *part, size_t n_parts, gbt_comm_op op) {
  return n_parts == 1 && op == GBT_COMM_MAX && part->type == GBT_COMM_I64 && part->n == GBT_COMM_MEETING;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  ranks_counter *k = state;
  int64_t bytes = 0;
  for (size_t i = 0; i < n_parts; i++) bytes += (int64_t)(part[i].n * gbt_comm_width(part[i].type));
  if (is_meeting(part, n_parts, op))
    k->to->rounds++, k->met = 1;
  else
    count(k, n_parts, 2 * bytes);
  return k->of->reduce(k->of->state, part, n_parts, op, err);
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  ranks_counter *k = state;
  int64_t total = 0;
  for (int r = 0; r < k->of->size; r++) total += (int64_t)bytes[r];
  count(k, 1, total);
  return k->of->gather(k->of->state, mine, bytes, all, err);
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  ranks_counter *k = state;
  count(k, 1, (int64_t)bytes);
  return k->of->broadcast(k->of->state, x, bytes, root, err);
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count_of, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  ranks_counter *k = state;
  int64_t n = 0;
  for (int r = 0; r < k->of->size; r++) n += (int64_t)count_of[r];
  count(k, 1, n * (int64_t)gbt_comm_width(type));
  return k->of->reduce_scatter(k->of->state, x, count_of, type, own, err);
}

static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  ranks_counter *k = state;
  int64_t total = 0;
  for (int r = 0; r < k->of->size; r++) total += (int64_t)sends[r];
  count(k, 1, total);
  return k->of->exchange(k->of->state, out, sends, in, takes, err);
}

static gbt_status start(void *state, const gbt_comm_move *move, gbt_error *err) {
  ranks_counter *k = state;
  int64_t bytes = 0;
  for (size_t i = 0; i < move->n_parts; i++)
    bytes += 2 * (int64_t)(move->part[i].n * gbt_comm_width(move->part[i].type));
  for (size_t i = 0; i < move->n_blocks; i++)
    for (int r = 0; r < k->of->size; r++)
      bytes += (int64_t)(move->block[i].count[r] * gbt_comm_width(move->block[i].type));
  for (int r = 0; move->bytes != NULL && r < k->of->size; r++) bytes += (int64_t)move->bytes[r];
  k->met = 0;
  k->to->operations += (int64_t)(move->n_parts + move->n_blocks) + (move->bytes != NULL);
  k->to->bytes += bytes;
  return k->of->start(k->of->state, move, err);
}

static gbt_status finish(void *state, gbt_error *err) {
  ranks_counter *k = state;
  k->to->rounds += !k->met; /* else it is the round of the meeting, which took place at the same time */
  return k->of->finish(k->of->state, err);
}

static void *spare(void *state, size_t bytes) {
  ranks_counter *k = state;
  return k->of->spare(k->of->state, bytes);
}

static void lose(void *state) {
  ranks_counter *k = state;
  k->of->lose(k->of->state);
}

const gbt_comm *ranks_counted(ranks_counter *counter, const gbt_comm *of, ranks_counts *to) {
  counter->comm = (gbt_comm){of->rank, of->size, counter, reduce, gather, broadcast, reduce_scatter,
                              exchange, start, finish, spare, lose, NULL};
  counter->of = of;
  counter->to = to;
  return &counter->comm;
}
