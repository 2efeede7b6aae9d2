/* A thread's numbers, and where results are: what prepare.c and rows.c both use. */
#include "explain_impl.h"

/* ---- places ---- */

size_t gbti_n_items(const gbti_explain_run *run, const gbti_game *game) {
  const size_t n = (size_t)game->n_players;
  return run->spec->interactions && n > 0 ? n + n * (n - 1) / 2 : n;
}

size_t gbti_n_columns(const gbti_explain_run *run) {
  size_t p = (size_t)run->spec->n_players + 1;
  return run->spec->interactions ? p * p : p;
}

double *gbti_column(const gbti_explain_run *run, int32_t output, size_t a, size_t b) {
  size_t p = (size_t)run->spec->n_players + 1, at = run->spec->interactions ? a + b * p : a;
  return run->out + ((size_t)output * gbti_n_columns(run) + at) * (size_t)run->n_rows;
}

int32_t gbti_first_output(const gbt_forest_view *forest, uint64_t t) {
  const uint64_t n_parallel = (uint64_t)forest->n_parallel, n_outputs = (uint64_t)forest->n_outputs;
  if (forest->n_leaf_outputs > 1 || n_outputs == 1) return 0;
  return (int32_t)(t % (n_outputs * n_parallel) / n_parallel);
}

/* ---- a thread's numbers ---- */

gbt_status gbti_work_open(const gbti_explain_run *run, gbti_explain_work *w, gbt_error *err) {
  const gbt_mem *mem = &run->ctx->mem;
  const size_t n = (size_t)run->n_feats, n_players = (size_t)run->spec->n_players;
  const size_t sums = n_players * (size_t)run->forest->n_outputs * GBTI_ROWS * sizeof(double);
  w->row = -1;
  w->pace = (gbti_pace){.ctx = run->ctx, .thread = (int)(w - run->work)};
  w->others.pace = &w->pace;
  GBT_TRY(gbt_mem_zeros(mem, n, GBTI_ROWS * sizeof *w->x, &w->x, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *w->cursor, &w->cursor, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *w->missing, &w->missing, err));
  GBT_TRY(gbt_mem_array(mem, n_players, sizeof(int32_t), &w->scratch.last, err));
  GBT_TRY(gbt_mem_array(mem, n_players, sizeof(int32_t), &w->scratch.number, err));
  for (size_t p = 0; p < n_players; p++) w->scratch.last[p] = w->scratch.number[p] = -1;
  if (!run->spec->interactions && sums <= GBTI_MOST_SUMS) GBT_TRY(gbt_mem_zeros(mem, sums, 1, &w->sum, err));
  return GBT_OK;
}

void gbti_work_close(gbti_explain_work *w) {
  void *blocks[] = {w->x,
                    w->cursor,
                    w->missing,
                    w->went,
                    w->by_split,
                    w->met,
                    w->lanes.p,
                    w->lanes.r,
                    w->lanes.sum,
                    w->lanes.psi,
                    w->lanes.terms,
                    w->lanes.live,
                    w->lanes.kept,
                    w->acc,
                    w->sum,
                    w->scratch.last,
                    w->scratch.number,
                    w->others.ways.fail,
                    w->others.ways.kept,
                    w->others.ways.player,
                    w->others.mask,
                    w->others.sorted,
                    w->others.order,
                    w->others.spare,
                    w->others.items,
                    w->others.scratch};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&w->mem, blocks[i]);
}

/* A block that must have room for n things, what is in it is not kept. */
static gbt_status room(const gbt_mem *mem, void *block, size_t size, size_t n, gbt_error *err) {
  void *old, *fresh = NULL;
  memcpy(&old, block, sizeof old);
  gbt_mem_free(mem, old);
  memcpy(block, &fresh, sizeof fresh);
  return gbt_mem_zeros(mem, n, size, block, err);
}

#define ROOM(block, n) GBT_TRY(room(&w->mem, &(block), sizeof *(block), (n), err))

/* By cover: what a visit needs. */
static gbt_status fit_visit(const gbti_explain_run *run, gbti_explain_work *w, const gbti_game *game, gbt_error *err) {
  const size_t layers = ((size_t)game->n_depths + 1) * (size_t)game->n_points * GBTI_LANES;
  const size_t points = (size_t)game->n_points * GBTI_LANES;
  if (game->n_splits > w->cap_splits) {
    w->cap_splits = 0;
    ROOM(w->by_split, game->n_splits);
    ROOM(w->met, game->n_splits);
    w->cap_splits = game->n_splits;
  }
  if (layers > w->cap_layers) {
    w->cap_layers = 0;
    ROOM(w->lanes.p, layers);
    ROOM(w->lanes.r, layers);
    ROOM(w->lanes.sum, 2 * layers);
    if (run->spec->interactions) ROOM(w->lanes.psi, layers);
    w->cap_layers = layers;
  }
  if (points > w->cap_points) {
    w->cap_points = 0;
    ROOM(w->lanes.terms, points);
    w->cap_points = points;
  }
  return GBT_OK;
}

/* With a background: what walks need. rows: of a walk, a multiple of 64. */
static gbt_status fit_walk(const gbti_explain_run *run, gbti_explain_work *w, const gbti_game *game, size_t rows,
                           gbt_error *err) {
  const size_t slots = (size_t)game->most_on_way, words = rows / 64;
  const size_t deep = (game->n_depths > slots ? game->n_depths : slots) * words;
  const size_t items = run->spec->interactions ? slots * (slots + 1) / 2 : slots;
  const size_t piece = rows < GBTI_PIECE_ROWS ? rows : (size_t)GBTI_PIECE_ROWS;
  const size_t masks = piece > slots + 63 ? piece : (slots + 63) / 64 * 64;
  gbti_others_work *o = &w->others;
  if (deep > w->cap_ways) {
    w->cap_ways = 0;
    ROOM(o->ways.fail, deep);
    ROOM(o->ways.kept, deep);
    w->cap_ways = deep;
  }
  if (masks > w->cap_rows) {
    w->cap_rows = 0;
    ROOM(o->mask, masks);
    ROOM(o->sorted, masks);
    ROOM(o->order, masks);
    ROOM(o->spare, masks);
    w->cap_rows = masks;
  }
  if (items > w->cap_items) {
    w->cap_items = 0;
    ROOM(o->items, items);
    ROOM(o->scratch, slots);
    w->cap_items = items;
  }
  o->beta = run->beta;
  o->kernel = &run->kernel;
  o->pairs = run->spec->interactions;
  return GBT_OK;
}

/* For a game, with walks of so many rows at a time and so many numbers of acc. */
gbt_status gbti_work_fit(const gbti_explain_run *run, gbti_explain_work *w, const gbti_game *game, size_t rows,
                         gbt_error *err) {
  const size_t asks = (size_t)game->n_asks * (rows / 64), players = (size_t)game->n_players;
  const size_t acc = gbti_n_items(run, game) * game->n_outputs * GBTI_ROWS;
  if (asks > w->cap_asks) {
    w->cap_asks = 0;
    ROOM(w->went, asks);
    w->cap_asks = asks;
  }
  if (acc > w->cap_acc) {
    w->cap_acc = 0;
    ROOM(w->acc, acc);
    w->cap_acc = acc;
  }
  if (players > w->cap_players) {
    w->cap_players = 0;
    ROOM(w->lanes.live, players);
    ROOM(w->others.ways.player, players);
    for (size_t p = 0; p < players; p++) w->lanes.live[p] = -1;
    w->cap_players = players;
  }
  if (game->n_depths > w->cap_depths) {
    w->cap_depths = 0;
    ROOM(w->lanes.kept, game->n_depths);
    w->cap_depths = game->n_depths;
  }
  if (run->n_back > 0) return fit_walk(run, w, game, rows, err);
  return fit_visit(run, w, game, err);
}
