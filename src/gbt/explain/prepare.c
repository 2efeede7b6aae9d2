/* Trees made ready, some at a time on all threads: see explain_impl.h. */
#include <string.h>

#include "../data/job.h"
#include "explain_impl.h"

/* ---- one tree ---- */

static size_t blocks_of(int64_t n_rows) { return ((size_t)n_rows + GBTI_ROWS - 1) / GBTI_ROWS; }

static gbt_status ask_background(const gbti_explain_run *run, gbti_entry *entry, gbti_explain_work *w, gbt_error *err) {
  gbti_game *game = entry->game;
  const size_t n_words = blocks_of(run->n_back);
  const gbt_node *nodes = run->forest->nodes + run->forest->trees[game->tree].node_beg;
  GBT_TRY(gbti_work_fit(run, w, game, n_words * GBTI_ROWS, err));
  for (uint32_t a = 0; a < game->n_asks; a++) {
    const uint32_t node = game->split[game->ask[a]].node;
    const size_t slot = (size_t)run->slot[nodes[node].feat & GBT_NODE_FEATURE];
    for (size_t b = 0; b < n_words; b++) {
      const double *x = run->back + (slot * n_words + b) * GBTI_ROWS;
      uint64_t missing = 0;
      for (int r = 0; r < GBTI_ROWS; r++) missing |= (uint64_t)(x[r] != x[r]) << r;
      w->went[a * n_words + b] = gbti_goes_left(run, game->tree, node, x, missing);
      if (gbti_stopped(&w->pace, GBTI_ROWS)) return gbt_fail(err, GBT_CANCELLED, "stopped on request");
    }
  }
  const int64_t n_own = entry->bits > 0 ? (int64_t)1 << entry->bits : run->n_rows;
  /* The table of a tree is filled at once. It has few leaves, and no more sets at each than answers. */
  const size_t part_bytes = entry->bits > 0 ? SIZE_MAX : run->part_bytes;
  const gbti_others_rows rows = {w->went, n_words, run->n_back, n_own, part_bytes};
  return gbti_others_new(&run->ctx->mem, game, &w->others, &rows, &entry->next, &entry->others, err);
}

/* All answers to n questions, as rows that give them. */
static void all_answers(uint32_t n, size_t n_words, uint64_t *went) {
  static const uint64_t low[6] = {0xaaaaaaaaaaaaaaaau, 0xccccccccccccccccu, 0xf0f0f0f0f0f0f0f0u,
                                  0xff00ff00ff00ff00u, 0xffff0000ffff0000u, 0xffffffff00000000u};
  for (uint32_t a = 0; a < n; a++)
    for (size_t b = 0; b < n_words; b++) went[a * n_words + b] = a < 6 ? low[a] : 0 - (uint64_t)(b >> (a - 6) & 1u);
}

/* How many bits a table of the game is looked up by; 0 where it would not pay. A table costs as much as so many rows.
 */
static int32_t table_bits(const gbti_explain_run *run, const gbti_game *game) {
  if (game->n_asks > GBTI_TABLE_ASKS || (int64_t)1 << game->n_asks > run->n_rows) return 0;
  const int32_t bits = game->n_asks < 6 ? 6 : (int32_t)game->n_asks;
  const size_t n = gbti_n_items(run, game) * game->n_outputs;
  return n <= (size_t)(GBTI_TABLE_BYTES / sizeof(double)) >> bits ? bits : 0;
}

static gbt_status fill_table(const gbti_explain_run *run, gbti_entry *entry, gbti_explain_work *w, gbt_error *err) {
  const gbti_game *game = entry->game;
  const size_t n_rows = (size_t)1 << entry->bits, n_words = n_rows / GBTI_ROWS;
  const size_t n = gbti_n_items(run, game) * game->n_outputs;
  GBT_TRY(gbt_mem_array(&run->ctx->mem, n * n_rows, sizeof *entry->table, &entry->table, err));
  GBT_TRY(gbti_work_fit(run, w, game, n_rows, err));
  all_answers(game->n_asks, n_words, w->went);
  const int64_t used = (int64_t)1 << game->n_asks;
  if (gbti_play(run, entry, w, w->went, n_words, used, entry->table, n_rows))
    return gbt_fail(err, GBT_CANCELLED, "stopped on request");
  return GBT_OK;
}

static gbt_status prepare(gbti_explain_run *run, gbti_entry *entry, const gbti_part *part, gbti_explain_work *w,
                          gbt_error *err) {
  const uint64_t tree = part->tree;
  const gbt_explain_spec *spec = run->spec;
  const gbti_game_spec games = {run->forest, spec->player, spec->background == NULL, spec->interactions};
  GBT_TRY(gbti_game_new(&run->ctx->mem, &games, &w->scratch, tree, &entry->game, err));
  gbti_game *game = entry->game;
  if (game->n_splits == 0) {
    const gbt_node *leaf = run->forest->nodes + run->forest->trees[tree].node_beg;
    for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++) game->mean[k] = gbti_leaf_value(run->forest, leaf, k);
    return GBT_OK;
  }
  entry->bits = table_bits(run, game);
  entry->next = part->leaf;
  GBT_ASSERT(entry->bits == 0 || entry->next == 0);
  if (run->n_back > 0) GBT_TRY(ask_background(run, entry, w, err));
  return entry->bits > 0 ? fill_table(run, entry, w, err) : GBT_OK;
}

/* ---- as many as may be kept ---- */

typedef struct wave {
  gbti_explain_run *run;
  size_t beg; /* entries, one for each part */
} wave;

static void prepare_task(void *arg, int64_t task, int thread) {
  const wave *v = arg;
  gbt_error err;
  if (gbti_job_stopped(v->run->job, thread)) return;
  gbti_entry *entry = &v->run->entry[v->beg + (size_t)task];
  if (prepare(v->run, entry, &v->run->part[task], &v->run->work[thread], &err) != GBT_OK)
    gbti_job_fail(v->run->job, &err);
}

static size_t bytes_of(const gbti_explain_run *run, const gbti_entry *entry) {
  size_t n = entry->game->n_bytes;
  if (entry->others != NULL)
    n += (entry->others->n_set + entry->others->n_count + entry->others->n_table) * sizeof(double);
  if (entry->table != NULL)
    n += gbti_n_items(run, entry->game) * entry->game->n_outputs * sizeof(double) << entry->bits;
  return n;
}

/* Trees of a wave with leaves left for a further part are continued before others begin, so the order of entries is the
 * same however many threads there are, and however many entries are kept at a time. */
gbt_status gbti_prepare(gbti_explain_run *run, uint64_t *tree, gbt_error *err) {
  size_t n_bytes = 0;
  while (n_bytes < run->batch_bytes && (run->n_parts > 0 || *tree < run->spec->trees.end)) {
    if (run->n_parts == 0)
      while (run->n_parts < GBTI_WAVE && *tree < run->spec->trees.end)
        run->part[run->n_parts++] = (gbti_part){(*tree)++, 0};
    const size_t n = run->n_parts, beg = run->n_entries;
    GBT_TRY(gbt_mem_grow(&run->ctx->mem, &run->entry, &run->cap_entries, beg + n, sizeof *run->entry, err));
    memset(run->entry + beg, 0, n * sizeof *run->entry);
    run->n_entries += n;
    wave v = {run, beg};
    GBT_TRY(gbti_job_run(run->job, (int64_t)n, prepare_task, &v, err));
    run->n_parts = 0;
    for (size_t j = 0; j < n; j++) {
      const gbti_entry *entry = &run->entry[beg + j];
      n_bytes += bytes_of(run, entry);
      if (entry->next > 0) run->part[run->n_parts++] = (gbti_part){run->part[j].tree, entry->next};
    }
  }
  return GBT_OK;
}

void gbti_drop_entries(gbti_explain_run *run) {
  for (size_t j = 0; j < run->n_entries; j++) {
    gbti_game_free(run->entry[j].game);
    gbti_others_free(run->entry[j].others);
    gbt_mem_free(&run->ctx->mem, run->entry[j].table);
  }
  run->n_entries = 0;
}
