/* See mpi_kept.h. Where there is no memory for a copy, the engine's arrays are used: an operation must not fail on one
 * rank only. */
#include "mpi_kept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Blocks in the room begin at multiples of 16. */
static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* At least `bytes` bytes, whose old content is lost; NULL when there is no memory, or after a failure, when operations
 * fail at once. */
static char *room_for(const gbt_mpi_kept *kept, gbt_mpi_room *room, size_t bytes) {
  if (kept->failed) return NULL;
  if (room->size >= bytes && room->bytes != NULL) return room->bytes;
  free(room->bytes);
  room->size = bytes + bytes / 4;
  room->bytes = malloc(room->size + 1);
  if (room->bytes == NULL) room->size = 0;
  return room->bytes;
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes > 0) memcpy(to, from, bytes);
}

static gbt_status ended(gbt_mpi_kept *kept, gbt_status status) {
  if (status != GBT_OK) kept->failed = 1;
  return status;
}

static size_t sum_of(const size_t *x, int n) {
  size_t sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const size_t list = padded(n_parts * sizeof *part);
  size_t at = list;
  for (size_t i = 0; i < n_parts; i++) at += padded(part[i].n * gbt_comm_width(part[i].type));
  char *room = room_for(kept, &kept->room, at);
  if (room == NULL) return kept->inner->reduce(kept->inner->state, part, n_parts, op, err);
  gbt_comm_part *copies = (gbt_comm_part *)(void *)room;
  at = list;
  for (size_t i = 0; i < n_parts; i++) {
    const size_t bytes = part[i].n * gbt_comm_width(part[i].type);
    copies[i] = part[i];
    copies[i].x = room + at;
    copy(copies[i].x, part[i].x, bytes);
    at += padded(bytes);
  }
  GBT_TRY(ended(kept, kept->inner->reduce(kept->inner->state, copies, n_parts, op, err)));
  for (size_t i = 0; i < n_parts; i++) copy(part[i].x, copies[i].x, part[i].n * gbt_comm_width(part[i].type));
  return GBT_OK;
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  gbt_mpi_kept *kept = state;
  char *room = room_for(kept, &kept->room, bytes);
  if (room == NULL) return kept->inner->broadcast(kept->inner->state, x, bytes, root, err);
  copy(room, x, bytes);
  GBT_TRY(ended(kept, kept->inner->broadcast(kept->inner->state, room, bytes, root, err)));
  copy(x, room, bytes);
  return GBT_OK;
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const size_t own = bytes[kept->comm.rank], total = sum_of(bytes, kept->comm.size);
  char *room = room_for(kept, &kept->room, padded(own) + total);
  if (room == NULL) return kept->inner->gather(kept->inner->state, mine, bytes, all, err);
  copy(room, mine, own);
  GBT_TRY(ended(kept, kept->inner->gather(kept->inner->state, room, bytes, room + padded(own), err)));
  copy(all, room + padded(own), total);
  return GBT_OK;
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const size_t width = gbt_comm_width(type), mine = count[kept->comm.rank] * width;
  const size_t total = sum_of(count, kept->comm.size) * width;
  char *room = room_for(kept, &kept->room, padded(total) + mine);
  if (room == NULL) return kept->inner->reduce_scatter(kept->inner->state, x, count, type, own, err);
  copy(room, x, total);
  GBT_TRY(ended(kept, kept->inner->reduce_scatter(kept->inner->state, room, count, type, room + padded(total), err)));
  copy(own, room + padded(total), mine);
  return GBT_OK;
}

static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const size_t sent = sum_of(sends, kept->comm.size), taken = sum_of(takes, kept->comm.size);
  char *room = room_for(kept, &kept->room, padded(sent) + taken);
  if (room == NULL) return kept->inner->exchange(kept->inner->state, out, sends, in, takes, err);
  copy(room, out, sent);
  GBT_TRY(ended(kept, kept->inner->exchange(kept->inner->state, room, sends, room + padded(sent), takes, err)));
  copy(in, room + padded(sent), taken);
  return GBT_OK;
}

/* ---- moves ---- */

/* The next n bytes of the room, beginning with those of `from` unless it is NULL. */
static void *take(char **next, const void *from, size_t n) {
  char *at = *next;
  if (from != NULL) copy(at, from, n);
  *next += padded(n);
  return at;
}

static size_t bytes_of_move(const gbt_comm_move *move, int rank, int size) {
  const size_t list = padded((size_t)size * sizeof(size_t));
  size_t sum = padded(move->n_parts * sizeof *move->part) + padded(move->n_blocks * sizeof *move->block);
  for (size_t i = 0; i < move->n_parts; i++) sum += padded(move->part[i].n * gbt_comm_width(move->part[i].type));
  for (size_t i = 0; i < move->n_blocks; i++) {
    const gbt_comm_block *b = &move->block[i];
    const size_t width = gbt_comm_width(b->type);
    sum += list + padded(sum_of(b->count, size) * width) + padded(b->count[rank] * width);
  }
  if (move->bytes != NULL) sum += list + padded(move->bytes[rank]) + padded(sum_of(move->bytes, size));
  return sum;
}

static gbt_status start(void *state, const gbt_comm_move *move, gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const int rank = kept->comm.rank, size = kept->comm.size;
  const size_t list = (size_t)size * sizeof(size_t);
  if (kept->moving) kept->failed = 1; /* as the operation will say */
  kept->moving = 1;
  char *next = room_for(kept, &kept->of_moves, bytes_of_move(move, rank, size));
  kept->move = kept->copy = *move;
  kept->copied = next != NULL;
  if (next == NULL) return kept->inner->start(kept->inner->state, move, err);
  gbt_comm_part *part = take(&next, move->part, move->n_parts * sizeof *part);
  gbt_comm_block *block = take(&next, move->block, move->n_blocks * sizeof *block);
  for (size_t i = 0; i < move->n_parts; i++)
    part[i].x = take(&next, part[i].x, part[i].n * gbt_comm_width(part[i].type));
  for (size_t i = 0; i < move->n_blocks; i++) {
    gbt_comm_block *b = &block[i];
    const size_t width = gbt_comm_width(b->type);
    b->x = take(&next, b->x, sum_of(b->count, size) * width);
    b->own = take(&next, NULL, b->count[rank] * width);
    b->count = take(&next, b->count, list);
  }
  kept->copy.part = part;
  kept->copy.block = block;
  if (move->bytes != NULL) {
    kept->copy.mine = take(&next, move->mine, move->bytes[rank]);
    kept->copy.all = take(&next, NULL, sum_of(move->bytes, size));
    kept->copy.bytes = take(&next, move->bytes, list);
  }
  return ended(kept, kept->inner->start(kept->inner->state, &kept->copy, err));
}

static gbt_status finish(void *state, gbt_error *err) {
  gbt_mpi_kept *kept = state;
  const gbt_comm_move *to = &kept->move, *from = &kept->copy;
  const int rank = kept->comm.rank;
  GBT_TRY(ended(kept, kept->inner->finish(kept->inner->state, err)));
  kept->moving = 0;
  if (!kept->copied) return GBT_OK;
  for (size_t i = 0; i < to->n_parts; i++)
    copy(to->part[i].x, from->part[i].x, to->part[i].n * gbt_comm_width(to->part[i].type));
  for (size_t i = 0; i < to->n_blocks; i++)
    copy(to->block[i].own, from->block[i].own, to->block[i].count[rank] * gbt_comm_width(to->block[i].type));
  if (to->bytes != NULL) copy(to->all, from->all, sum_of(to->bytes, kept->comm.size));
  return GBT_OK;
}

static void *spare(void *state, size_t bytes) {
  const gbt_mpi_kept *kept = state;
  return kept->inner->spare(kept->inner->state, bytes);
}

static void lose(void *state) {
  gbt_mpi_kept *kept = state;
  kept->failed = 1; /* what is on its way stays */
  kept->inner->lose(kept->inner->state);
}

void gbt_mpi_keep(const gbt_comm *inner, gbt_mpi_kept *out) {
  out->comm = *inner;
  out->comm.state = out;
  out->comm.reduce = reduce;
  out->comm.broadcast = broadcast;
  out->comm.gather = gather;
  out->comm.reduce_scatter = reduce_scatter;
  out->comm.exchange = exchange;
  out->comm.start = start;
  out->comm.finish = finish;
  out->comm.spare = spare;
  out->comm.lose = lose;
  out->comm.failed = NULL;
  out->inner = inner;
}
