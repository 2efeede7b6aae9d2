/* Rows and the trees that are ready. Usually a task is a block of rows and goes through all trees. Few rows and many
 * trees: a task is a block and a tree, whose numbers are held until all are there, and then added in the trees' order,
 * so that the result does not depend on the way. */
#include <string.h>

#include "../data/job.h"
#include "explain_impl.h"

enum {
  FEW_BLOCKS = 4,      /* for each thread: fewer are too few to share out */
  HELD_BYTES = 1 << 25 /* that are held at a time, about */
};

/* ---- where rows go ---- */

void gbti_read_block(const gbti_explain_run *run, int64_t row, int32_t n, gbti_explain_work *w) {
  if (w->row == row) return;
  w->row = row;
  for (int32_t j = 0; j < run->n_feats; j++) {
    double *x = w->x + (size_t)j * GBTI_ROWS;
    gbt_binding_read(run->binding, row, n, &run->feat[j], 1, &w->cursor[j], x, 1);
    for (int32_t r = n; r < GBTI_ROWS; r++) x[r] = 0.0;
    uint64_t missing = 0;
    for (int r = 0; r < GBTI_ROWS; r++) missing |= (uint64_t)(x[r] != x[r]) << r;
    w->missing[j] = missing;
  }
}

uint64_t gbti_goes_left(const gbti_explain_run *run, uint64_t tree, uint32_t at, const double *x, uint64_t missing) {
  static const uint32_t no_words[1] = {0};
  const gbt_tree *of = &run->forest->trees[tree];
  const gbt_node *node = &run->forest->nodes[of->node_beg + at];
  if (node->feat & GBT_NODE_CATEGORICAL) {
    const uint32_t *words = of->n_words > 0 ? run->forest->sets + of->set_beg : no_words;
    uint64_t left = 0;
    for (int r = 0; r < GBTI_ROWS; r++) left |= (uint64_t)gbt_goes_left(node, x[r], words) << r;
    return left;
  }
  const uint64_t left = run->kernel.below(x, node->arg.value);
  return node->feat & GBT_NODE_MISSING_LEFT ? left | missing : left;
}

static void ask(const gbti_explain_run *run, const gbti_game *game, gbti_explain_work *w) {
  const gbt_node *nodes = run->forest->nodes + run->forest->trees[game->tree].node_beg;
  for (uint32_t a = 0; a < game->n_asks; a++) {
    const uint32_t node = game->split[game->ask[a]].node;
    const size_t slot = (size_t)run->slot[nodes[node].feat & GBT_NODE_FEATURE];
    w->went[a] = gbti_goes_left(run, game->tree, node, w->x + slot * GBTI_ROWS, w->missing[slot]);
  }
}

/* ---- what a tree gives ---- */

/* A block's bits at every split. */
static void send(const gbti_game *game, gbti_explain_work *w, const uint64_t *went, size_t n_words, size_t block) {
  for (uint32_t i = 0; i < game->n_splits; i++) {
    const gbti_split *split = &game->split[i];
    w->by_split[i] = went[(size_t)split->ask * n_words + block];
    w->met[i] = ~(uint64_t)0;
    if (split->above < 0) continue;
    const uint64_t before = w->by_split[split->above];
    w->met[i] = w->met[split->above] & (split->above_side ? ~before : before);
  }
}

int gbti_play(const gbti_explain_run *run, const gbti_entry *entry, gbti_explain_work *w, const uint64_t *went,
              size_t n_words, int64_t n_rows, double *acc, size_t stride) {
  const gbti_game *game = entry->game;
  const size_t n_items = gbti_n_items(run, game);
  for (size_t i = 0; i < n_items * game->n_outputs * stride; i++) acc[i] = 0.0;
  if (entry->others != NULL)
    return gbti_others_play(game, entry->others, &w->others, went, n_words, n_rows, acc, stride);
  gbti_visit v = {.plan = game, .mix = game->mix, .went = w->by_split, .met = w->met, .stride = stride};
  v.gone = game->factor + GBTI_PSI_GONE * (size_t)game->n_points;
  for (size_t block = 0; block < n_words; block++) {
    send(game, w, went, n_words, block);
    for (size_t k = 0; k < game->n_outputs; k++) {
      v.value = game->value + k * 2 * game->n_splits;
      for (v.shift = 0; v.shift < GBTI_ROWS; v.shift += GBTI_LANES) {
        const int64_t row = (int64_t)block * GBTI_ROWS + v.shift;
        if (row >= n_rows) break;
        run->kernel.visit(&v, &w->lanes, run->spec->interactions, acc + k * n_items * stride + row);
        if (gbti_stopped(&w->pace, GBTI_VISIT_STEPS * (int64_t)game->n_steps * game->n_points)) return 1;
      }
    }
  }
  return 0;
}

/* Of a block: by the table, or played. out: GBTI_ROWS rows a column. 1: to be stopped. */
static int give(const gbti_explain_run *run, const gbti_entry *entry, gbti_explain_work *w, int32_t n, double *out) {
  const gbti_game *game = entry->game;
  ask(run, game, w);
  if (entry->table == NULL) return gbti_play(run, entry, w, w->went, 1, n, out, GBTI_ROWS);
  const size_t n_columns = gbti_n_items(run, game) * game->n_outputs;
  uint16_t at[GBTI_ROWS];
  run->kernel.spread(w->went, 1, (int32_t)game->n_asks, at);
  memset(out, 0, n_columns * GBTI_ROWS * sizeof *out);
  for (size_t c = 0; c < n_columns; c++)
    run->kernel.look_up(entry->table + (c << entry->bits), entry->bits, at, 1.0, out + c * GBTI_ROWS);
  return gbti_stopped(&w->pace, GBTI_VISIT_STEPS * 8 * (int64_t)n_columns);
}

/* ---- adding to the rows' numbers ---- */

static double *sum_of(const gbti_explain_run *run, const gbti_explain_work *w, int32_t output, int32_t player) {
  return w->sum + ((size_t)output * (size_t)run->spec->n_players + (size_t)player) * GBTI_ROWS;
}

/* The table's numbers straight to a block's sums. */
static int add_table(const gbti_explain_run *run, const gbti_entry *entry, gbti_explain_work *w) {
  const gbti_game *game = entry->game;
  const int32_t first = gbti_first_output(run->forest, game->tree), n = game->n_players;
  uint16_t at[GBTI_ROWS];
  ask(run, game, w);
  run->kernel.spread(w->went, 1, (int32_t)game->n_asks, at);
  for (int32_t k = 0; k < (int32_t)game->n_outputs; k++)
    for (int32_t a = 0; a < n; a++)
      run->kernel.look_up(entry->table + (((size_t)k * (size_t)n + (size_t)a) << entry->bits), entry->bits, at, 1.0,
                          sum_of(run, w, first + k, game->player[a]));
  return gbti_stopped(&w->pace, GBTI_VISIT_STEPS * 8 * (int64_t)game->n_outputs * n);
}

static void add_rows(double *to, const double *from, int32_t n) {
  for (int32_t r = 0; r < n; r++) to[r] += from[r];
}

/* acc of a block whose first row is `row`, to the sums of the block or, where there are none, to the result. */
static void add_block(const gbti_explain_run *run, const gbti_game *game, const gbti_explain_work *w, int64_t row,
                      int32_t n, const double *acc) {
  const int32_t first = gbti_first_output(run->forest, game->tree);
  const size_t n_items = gbti_n_items(run, game);
  for (int32_t k = 0; k < (int32_t)game->n_outputs; k++, acc += n_items * GBTI_ROWS)
    for (int32_t a = 0; a < game->n_players; a++) {
      const size_t own = (size_t)game->player[a];
      double *to =
          w->sum != NULL ? sum_of(run, w, first + k, game->player[a]) : gbti_column(run, first + k, own, own) + row;
      add_rows(to, acc + (size_t)a * GBTI_ROWS, n);
      for (int32_t b = 0; run->spec->interactions && b < a; b++) {
        const size_t other = (size_t)game->player[b], low = own < other ? own : other, high = own < other ? other : own;
        const size_t pair = gbti_pair((size_t)game->n_players, b, a);
        add_rows(gbti_column(run, first + k, low, high) + row, acc + pair * GBTI_ROWS, n);
      }
    }
}

/* A block's sums from the result and back to it. */
static void move_sums(const gbti_explain_run *run, gbti_explain_work *w, int64_t row, int32_t n, int back) {
  if (w->sum == NULL) return;
  for (int32_t k = 0; k < run->forest->n_outputs; k++)
    for (int32_t p = 0; p < run->spec->n_players; p++) {
      double *out = gbti_column(run, k, (size_t)p, (size_t)p) + row, *sum = sum_of(run, w, k, p);
      memcpy(back ? out : sum, back ? sum : out, (size_t)n * sizeof *out);
    }
}

static int32_t rows_of_block(const gbti_explain_run *run, int64_t block) {
  const int64_t left = run->n_rows - block * GBTI_ROWS;
  return (int32_t)(left < GBTI_ROWS ? left : GBTI_ROWS);
}

static void block_task(void *arg, int64_t task, int thread) {
  const gbti_explain_run *run = arg;
  gbti_explain_work *w = &run->work[thread];
  const int64_t row = task * GBTI_ROWS;
  const int32_t n = rows_of_block(run, task);
  gbt_error err;
  gbti_read_block(run, row, n, w);
  move_sums(run, w, row, n, 0);
  for (size_t j = 0; j < run->n_entries; j++) {
    const gbti_entry *entry = &run->entry[j];
    if (entry->game->n_splits == 0) continue;
    if (gbti_work_fit(run, w, entry->game, GBTI_ROWS, &err) != GBT_OK) {
      gbti_job_fail(run->job, &err);
      return;
    }
    if (entry->table != NULL && w->sum != NULL) {
      if (add_table(run, entry, w)) return;
      continue;
    }
    if (give(run, entry, w, n, w->acc)) return;
    add_block(run, entry->game, w, row, n, w->acc);
  }
  move_sums(run, w, row, n, 1);
}

/* ---- few rows ---- */

typedef struct holding {
  gbti_explain_run *run;
  size_t beg, end; /* entries */
  size_t *at;      /* by entry from beg on: where its numbers are among those of a block */
  size_t size;     /* numbers of a block */
  double *held;    /* by block */
} holding;

static void hold_task(void *arg, int64_t task, int thread) {
  const holding *h = arg;
  const int64_t n_entries = (int64_t)(h->end - h->beg), block = task / n_entries, j = task % n_entries;
  const gbti_entry *entry = &h->run->entry[h->beg + (size_t)j];
  gbti_explain_work *w = &h->run->work[thread];
  const int32_t n = rows_of_block(h->run, block);
  gbt_error err;
  if (entry->game->n_splits == 0) return;
  gbti_read_block(h->run, block * GBTI_ROWS, n, w);
  if (gbti_work_fit(h->run, w, entry->game, GBTI_ROWS, &err) != GBT_OK) {
    gbti_job_fail(h->run->job, &err);
    return;
  }
  (void)give(h->run, entry, w, n, h->held + (size_t)block * h->size + h->at[j]);
}

static void add_task(void *arg, int64_t block, int thread) {
  const holding *h = arg;
  gbti_explain_work *w = &h->run->work[thread];
  const int32_t n = rows_of_block(h->run, block);
  move_sums(h->run, w, block * GBTI_ROWS, n, 0);
  for (size_t j = h->beg; j < h->end; j++)
    if (h->run->entry[j].game->n_splits > 0)
      add_block(h->run, h->run->entry[j].game, w, block * GBTI_ROWS, n,
                h->held + (size_t)block * h->size + h->at[j - h->beg]);
  move_sums(h->run, w, block * GBTI_ROWS, n, 1);
}

static gbt_status hold_some(holding *h, int64_t n_blocks, gbt_error *err) {
  gbti_job *job = h->run->job;
  const gbt_mem *mem = &h->run->ctx->mem;
  GBT_TRY(gbt_mem_array(mem, (size_t)n_blocks * h->size, sizeof *h->held, &h->held, err));
  gbt_status status = gbti_job_run(job, n_blocks * (int64_t)(h->end - h->beg), hold_task, h, err);
  if (status == GBT_OK) status = gbti_job_run(job, n_blocks, add_task, h, err);
  gbt_mem_free(mem, h->held);
  return status;
}

static gbt_status hold_all(gbti_explain_run *run, int64_t n_blocks, gbt_error *err) {
  holding h = {.run = run};
  gbt_status status = gbt_mem_array(&run->ctx->mem, run->n_entries, sizeof *h.at, &h.at, err);
  while (status == GBT_OK && h.beg < run->n_entries) {
    h.size = 0;
    for (h.end = h.beg; h.end < run->n_entries; h.end++) {
      const gbti_game *game = run->entry[h.end].game;
      if (h.size * (size_t)n_blocks * sizeof(double) > HELD_BYTES) break;
      h.at[h.end - h.beg] = h.size;
      h.size += gbti_n_items(run, game) * game->n_outputs * GBTI_ROWS;
    }
    status = hold_some(&h, n_blocks, err);
    h.beg = h.end;
  }
  gbt_mem_free(&run->ctx->mem, h.at);
  return status;
}

void gbti_rewind(gbti_explain_run *run) {
  for (int t = 0; t < run->ctx->n_threads; t++) memset(run->work[t].cursor, 0, (size_t)run->n_feats * sizeof(int64_t));
}

gbt_status gbti_explain_rows(gbti_explain_run *run, gbt_error *err) {
  const int64_t n_blocks = (run->n_rows + GBTI_ROWS - 1) / GBTI_ROWS;
  gbti_rewind(run);
  if (run->ctx->n_threads > 1 && n_blocks < (int64_t)FEW_BLOCKS * run->ctx->n_threads && run->n_entries > 1)
    return hold_all(run, n_blocks, err);
  return gbti_job_run(run->job, n_blocks, block_task, run, err);
}
