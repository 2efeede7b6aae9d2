/* Contributions of rows, block by block, batch of trees by batch.
 *
 *   x       a block's numbers, feature by feature: 64 rows each
 *   went    of a tree's splits: the rows that go left, a bit each
 *   met     those that have passed the player's splits above
 *   acc     of a tree: players and pairs, GBTI_LANES rows side by side; then added to the rows' numbers
 *
 * A tree's own sums are made first and added as a whole. Rows do not know of each other, so blocks do not show. */
#include "explain.h"

#include <string.h>

#include "../base/parallel.h"
#include "../data/binding.h"
#include "kernel.h"

enum {
  BLOCK = 64,            /* rows of a task: bits of a word */
  BATCH_BYTES = 1 << 24, /* plans that are kept at a time, about */
  POLL_STEPS = 20000     /* steps of a row block between two looks whether to go on */
};

typedef struct explain_run {
  gbt_ctx *ctx;
  const gbt_forest_view *forest;
  const gbt_binding *binding;
  const gbt_explain_spec *spec;
  const double *offset;
  double *out;
  int64_t n_rows, n_back;
  const int32_t *feat; /* n_feats: features that the trees use */
  int32_t *slot;       /* by feature: its place among them */
  int32_t n_feats;
  gbti_game **plan; /* n_plans: the batch's */
  uint64_t **back;  /* by plan: for each row of the background, n_words with a bit by split; NULL by cover */
  size_t n_plans, cap_plans, cap_back;
  gbti_visit_fn visit;
  uint32_t most_splits; /* of the plans */
  size_t most_layers;   /* (depths + 1) times points: more than 32 bits for a long chain of many features */
  size_t most_items, most_points;
  uint32_t most_depths;
  int32_t most_players;
} explain_run;

/* A thread's numbers. */
typedef struct work {
  gbt_mem mem;
  double *x;
  int64_t *cursor;
  uint64_t *missing, *went, *met;
  gbti_lanes lanes;
  double *acc, *merged;
  gbti_mix *mix;
} work;

static size_t n_items(const explain_run *run, const gbti_game *plan) {
  size_t n = (size_t)plan->n_players;
  return run->spec->interactions && n > 0 ? n + n * (n - 1) / 2 : n;
}

static void work_free(work *w) {
  void *blocks[] = {w->x,         w->cursor,    w->missing,       w->went,       w->met,        w->lanes.p, w->lanes.r,
                    w->lanes.sum, w->lanes.psi, w->lanes.terms,   w->lanes.live, w->lanes.kept, w->acc,     w->merged,
                    w->mix};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&w->mem, blocks[i]);
}

static gbt_status work_make(const explain_run *run, work *w, gbt_error *err) {
  const gbt_mem *mem = &run->ctx->mem;
  const size_t n = (size_t)run->n_feats, splits = run->most_splits;
  const size_t layers = run->most_layers, size = GBTI_LANES * sizeof(double);
  memset(w, 0, sizeof *w);
  w->mem = *mem;
  GBT_TRY(gbt_mem_zeros(mem, n, BLOCK * sizeof *w->x, &w->x, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *w->cursor, &w->cursor, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *w->missing, &w->missing, err));
  GBT_TRY(gbt_mem_zeros(mem, splits, sizeof *w->went, &w->went, err));
  GBT_TRY(gbt_mem_zeros(mem, splits, sizeof *w->met, &w->met, err));
  GBT_TRY(gbt_mem_zeros(mem, layers, size, &w->lanes.p, err));
  GBT_TRY(gbt_mem_zeros(mem, layers, size, &w->lanes.r, err));
  GBT_TRY(gbt_mem_zeros(mem, layers, 2 * size, &w->lanes.sum, err));
  GBT_TRY(gbt_mem_zeros(mem, run->spec->interactions ? layers : 0, size, &w->lanes.psi, err));
  GBT_TRY(gbt_mem_zeros(mem, run->most_points, size, &w->lanes.terms, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)run->most_players, sizeof(int32_t), &w->lanes.live, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)run->most_depths, sizeof(int32_t), &w->lanes.kept, err));
  GBT_TRY(gbt_mem_zeros(mem, run->most_items, GBTI_LANES * sizeof *w->acc, &w->acc, err));
  GBT_TRY(gbt_mem_zeros(mem, splits, sizeof *w->merged, &w->merged, err));
  GBT_TRY(gbt_mem_zeros(mem, splits, sizeof *w->mix, &w->mix, err));
  for (int32_t p = 0; p < run->most_players; p++) w->lanes.live[p] = -1;
  return GBT_OK;
}

/* ---- where rows go ---- */

static void read_block(const explain_run *run, const gbt_binding *binding, int64_t row, int32_t n, work *w) {
  for (int32_t j = 0; j < run->n_feats; j++) {
    double *x = w->x + (size_t)j * BLOCK;
    gbt_binding_read(binding, row, n, &run->feat[j], 1, &w->cursor[j], x, 1);
    for (int32_t r = n; r < BLOCK; r++) x[r] = 0.0;
    uint64_t missing = 0;
    for (int r = 0; r < BLOCK; r++) missing |= (uint64_t)(x[r] != x[r]) << r;
    w->missing[j] = missing;
  }
}

static uint64_t goes_left(const gbt_node *node, const uint32_t *words, const double *x, uint64_t missing) {
  uint64_t left = 0;
  if (node->feat & GBT_NODE_CATEGORICAL) {
    for (int r = 0; r < BLOCK; r++) left |= (uint64_t)gbt_goes_left(node, x[r], words) << r;
    return left;
  }
  const double cut = node->arg.value;
  for (int r = 0; r < BLOCK; r++) left |= (uint64_t)(x[r] <= cut) << r;
  return node->feat & GBT_NODE_MISSING_LEFT ? left | missing : left;
}

/* The block's rows at every split of a plan. */
static void send(const explain_run *run, const gbti_game *plan, work *w) {
  static const uint32_t no_words[1] = {0};
  const gbt_tree *tree = &run->forest->trees[plan->tree];
  const uint32_t *words = tree->n_words > 0 ? run->forest->sets + tree->set_beg : no_words;
  for (uint32_t i = 0; i < plan->n_splits; i++) {
    const gbti_split *split = &plan->split[i];
    const gbt_node *node = &run->forest->nodes[tree->node_beg + split->node];
    const size_t slot = (size_t)run->slot[node->feat & GBT_NODE_FEATURE];
    w->went[i] = goes_left(node, words, w->x + slot * BLOCK, w->missing[slot]);
    w->met[i] = ~(uint64_t)0;
    if (split->above < 0) continue;
    uint64_t before = w->went[split->above];
    w->met[i] = w->met[split->above] & (split->above_side ? ~before : before);
  }
}

/* ---- a block of rows ---- */

static size_t n_columns(const explain_run *run) {
  size_t p = (size_t)run->spec->n_players + 1;
  return run->spec->interactions ? p * p : p;
}

/* A column of an output: of a player, or of two. */
static double *column_of(const explain_run *run, int32_t output, size_t a, size_t b) {
  size_t p = (size_t)run->spec->n_players + 1, at = run->spec->interactions ? a + b * p : a;
  return run->out + ((size_t)output * n_columns(run) + at) * (size_t)run->n_rows;
}

static void add_group(const explain_run *run, const gbti_game *plan, int32_t output, int64_t row, int32_t n,
                      const double *acc) {
  for (int32_t a = 0; a < plan->n_players; a++) {
    double *to = column_of(run, output, (size_t)plan->player[a], (size_t)plan->player[a]) + row;
    for (int32_t r = 0; r < n; r++) to[r] += acc[a * GBTI_LANES + r];
    for (int32_t b = 0; run->spec->interactions && b < a; b++) {
      const double *pair = acc + gbti_pair((size_t)plan->n_players, a, b) * GBTI_LANES;
      int32_t low = plan->player[a] < plan->player[b] ? plan->player[a] : plan->player[b];
      int32_t high = plan->player[a] < plan->player[b] ? plan->player[b] : plan->player[a];
      to = column_of(run, output, (size_t)low, (size_t)high) + row;
      for (int32_t r = 0; r < n; r++) to[r] += pair[r];
    }
  }
}

static int32_t first_output(const gbt_forest_view *forest, uint64_t t) {
  const uint64_t n_parallel = (uint64_t)forest->n_parallel, n_outputs = (uint64_t)forest->n_outputs;
  if (forest->n_leaf_outputs > 1 || n_outputs == 1) return 0;
  return (int32_t)(t % (n_outputs * n_parallel) / n_parallel);
}

/* A tree for GBTI_LANES rows of a block, by cover or by all rows of the background. 1: to be stopped. */
static int visit_group(const explain_run *run, size_t j, gbti_visit *v, work *w, int thread, int64_t *steps) {
  const gbti_game *plan = v->plan;
  const size_t n_words = (plan->n_splits + 63u) / 64u;
  memset(w->acc, 0, n_items(run, plan) * GBTI_LANES * sizeof *w->acc);
  const int64_t n_times = run->n_back > 0 ? run->n_back : 1;
  for (int64_t b = 0; b < n_times; b++) {
    if (run->n_back > 0) gbti_game_mix(plan, run->back[j] + (size_t)b * n_words, w->mix, w->merged);
    run->visit(v, &w->lanes, run->spec->interactions, w->acc);
    *steps += (int64_t)plan->n_steps * plan->n_points;
    if (*steps < POLL_STEPS) continue;
    *steps = 0;
    if (gbt_ctx_stopped(run->ctx, thread)) return 1;
  }
  return 0;
}

static void explain_task(void *arg, int64_t task, int thread) {
  explain_run *run = ((explain_run **)arg)[0];
  work *w = ((work **)arg)[1] + thread;
  const int64_t row = task * BLOCK;
  const int32_t n = run->n_rows - row < BLOCK ? (int32_t)(run->n_rows - row) : BLOCK;
  int64_t steps = 0;
  read_block(run, run->binding, row, n, w);
  for (size_t j = 0; j < run->n_plans; j++) {
    const gbti_game *plan = run->plan[j];
    if (plan->n_splits == 0) continue;
    send(run, plan, w);
    gbti_visit v = {.plan = plan, .mix = run->n_back > 0 ? w->mix : plan->mix, .went = w->went, .met = w->met};
    v.gone = plan->factor + GBTI_PSI_GONE * (size_t)plan->n_points;
    GBT_ASSERT(run->n_back > 0 || run->spec->background == NULL);
    v.weight = run->n_back > 0 ? 1.0 / (double)run->n_back : 1.0;
    for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++) {
      v.value = plan->value + (size_t)k * 2 * plan->n_splits;
      for (int32_t r = 0; r < n; r += GBTI_LANES) {
        v.shift = r;
        if (visit_group(run, j, &v, w, thread, &steps)) return;
        const int32_t some = n - r < GBTI_LANES ? n - r : GBTI_LANES;
        add_group(run, plan, first_output(run->forest, plan->tree) + k, row + r, some, w->acc);
      }
    }
  }
}

/* ---- the base, and what is left of a player when its pairs are told ---- */

static void start_task(void *arg, int64_t task, int thread) {
  (void)thread;
  explain_run *run = ((explain_run **)arg)[0];
  const int64_t row = task * BLOCK, end = row + BLOCK < run->n_rows ? row + BLOCK : run->n_rows;
  for (int32_t k = 0; k < run->forest->n_outputs; k++) {
    double *out = run->out + (size_t)k * n_columns(run) * (size_t)run->n_rows;
    for (size_t c = 0; c < n_columns(run); c++)
      for (int64_t r = row; r < end; r++) out[c * (size_t)run->n_rows + (size_t)r] = 0.0;
    const size_t base = (size_t)run->spec->n_players;
    double *to = column_of(run, k, base, base);
    for (int64_t r = row; r < end; r++) {
      to[r] = run->forest->base[k];
      if (run->offset != NULL) to[r] += run->offset[k * run->n_rows + r];
    }
  }
}

static void finish_task(void *arg, int64_t task, int thread) {
  (void)thread;
  explain_run *run = ((explain_run **)arg)[0];
  const int64_t row = task * BLOCK, end = row + BLOCK < run->n_rows ? row + BLOCK : run->n_rows;
  const size_t n = (size_t)run->spec->n_players;
  for (int32_t k = 0; k < run->forest->n_outputs; k++)
    for (size_t b = 0; b < n; b++)
      for (size_t a = 0; a < b; a++) {
        double *upper = column_of(run, k, a, b), *lower = column_of(run, k, b, a);
        double *first = column_of(run, k, a, a), *second = column_of(run, k, b, b);
        for (int64_t r = row; r < end; r++) {
          upper[r] = lower[r] = 0.5 * upper[r];
          first[r] -= upper[r];
          second[r] -= upper[r];
        }
      }
}

static void add_means(const explain_run *run, const gbti_game *plan) {
  const size_t base = (size_t)run->spec->n_players;
  for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++) {
    double *to = column_of(run, first_output(run->forest, plan->tree) + k, base, base);
    for (int64_t r = 0; r < run->n_rows; r++) to[r] += plan->mean[k];
  }
}

/* ---- the background ---- */

/* One row of the background at every split: bits. Adds the values of its leaf to the means. */
static void settle(const explain_run *run, gbti_game *plan, const work *w, int32_t r, uint64_t *left) {
  const gbt_node *nodes = run->forest->nodes + run->forest->trees[plan->tree].node_beg;
  for (uint32_t i = 0; i < plan->n_splits; i++) left[i / 64] |= (w->went[i] >> r & 1u) << (i % 64);
  uint32_t at = 0;
  for (uint32_t i = 0; i < plan->n_splits; i++)
    if (plan->split[i].node == at) at = nodes[at].left + (uint32_t)!(w->went[i] >> r & 1u);
  for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++)
    plan->mean[k] += gbti_leaf_value(run->forest, &nodes[at], k);
}

static gbt_status read_background(explain_run *run, work *w, gbt_error *err) {
  const gbt_binding *background = run->spec->background;
  if (background == NULL) return GBT_OK;
  for (size_t j = 0; j < run->n_plans; j++) {
    const size_t n_words = (run->plan[j]->n_splits + 63u) / 64u;
    GBT_TRY(gbt_mem_zeros(&run->ctx->mem, (size_t)run->n_back, n_words * sizeof(uint64_t), &run->back[j], err));
  }
  for (int64_t row = 0; row < run->n_back; row += BLOCK) {
    const int32_t n = run->n_back - row < BLOCK ? (int32_t)(run->n_back - row) : BLOCK;
    read_block(run, background, row, n, w);
    for (size_t j = 0; j < run->n_plans; j++) {
      const size_t n_words = (run->plan[j]->n_splits + 63u) / 64u;
      GBT_TRY(gbt_ctx_poll(run->ctx, err));
      send(run, run->plan[j], w);
      for (int32_t r = 0; r < n; r++) settle(run, run->plan[j], w, r, run->back[j] + (size_t)(row + r) * n_words);
    }
  }
  GBT_ASSERT(run->n_back > 0);
  for (size_t j = 0; j < run->n_plans; j++)
    for (int32_t k = 0; k < run->forest->n_leaf_outputs; k++) run->plan[j]->mean[k] /= (double)run->n_back;
  memset(w->cursor, 0, (size_t)run->n_feats * sizeof *w->cursor);
  return GBT_OK;
}

/* ---- batches ---- */

static void drop_plans(explain_run *run) {
  for (size_t j = 0; j < run->n_plans; j++) {
    gbti_game_free(run->plan[j]);
    gbt_mem_free(&run->ctx->mem, run->back[j]);
  }
  run->n_plans = 0;
}

/* Plans from tree t on, as many as may be kept. */
static gbt_status make_plans(explain_run *run, const gbti_game_spec *spec, uint64_t *t, gbt_error *err) {
  size_t n_bytes = 0;
  run->most_splits = run->most_depths = 0;
  run->most_layers = run->most_items = run->most_points = 0;
  run->most_players = 0;
  while (*t < run->spec->trees.end && n_bytes < BATCH_BYTES) {
    gbti_game *plan;
    const gbt_mem *mem = &run->ctx->mem;
    GBT_TRY(gbt_ctx_poll(run->ctx, err));
    GBT_TRY(gbt_mem_grow(mem, &run->plan, &run->cap_plans, run->n_plans + 1, sizeof *run->plan, err));
    GBT_TRY(gbt_mem_grow(mem, &run->back, &run->cap_back, run->n_plans + 1, sizeof *run->back, err));
    GBT_TRY(gbti_game_new(mem, spec, *t, &plan, err));
    run->back[run->n_plans] = NULL;
    run->plan[run->n_plans++] = plan;
    n_bytes += plan->n_bytes + (size_t)run->n_back * ((plan->n_splits + 63u) / 64u) * sizeof(uint64_t);
    const size_t layers = ((size_t)plan->n_depths + 1) * (size_t)plan->n_points;
    if (plan->n_splits > run->most_splits) run->most_splits = plan->n_splits;
    if (layers > run->most_layers) run->most_layers = layers;
    if (plan->n_depths > run->most_depths) run->most_depths = plan->n_depths;
    if (plan->n_players > run->most_players) run->most_players = plan->n_players;
    if ((size_t)plan->n_points > run->most_points) run->most_points = (size_t)plan->n_points;
    if (n_items(run, plan) > run->most_items) run->most_items = n_items(run, plan);
    ++*t;
  }
  return GBT_OK;
}

static gbt_status run_batch(explain_run *run, gbt_error *err) {
  const int64_t n_tasks = (run->n_rows + BLOCK - 1) / BLOCK;
  const int n_threads = n_tasks > 1 ? run->ctx->n_threads : 1;
  work *works = NULL;
  gbt_status status;
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, (size_t)n_threads, sizeof *works, &works, err));
  for (int i = 0; i < n_threads; i++) works[i].mem = run->ctx->mem;
  for (int i = 0; i < n_threads; i++) GBT_TRY_GOTO(work_make(run, &works[i], err), done);
  GBT_TRY_GOTO(read_background(run, &works[0], err), done);
  for (size_t j = 0; j < run->n_plans; j++) add_means(run, run->plan[j]);
  void *arg[2] = {run, works};
  GBT_TRY_GOTO(gbt_parallel(run->ctx, n_tasks, explain_task, arg, err), done);
  if (gbt_ctx_stopped(run->ctx, 0)) status = gbt_fail(err, GBT_CANCELLED, "stopped on request");
done:
  for (int i = 0; i < n_threads; i++) work_free(&works[i]);
  gbt_mem_free(&run->ctx->mem, works);
  return status;
}

/* The features that the trees split by. */
static gbt_status list_features(explain_run *run, int32_t **feat, gbt_error *err) {
  const gbt_forest_view *forest = run->forest;
  const size_t n = (size_t)forest->n_features;
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, n, sizeof **feat, feat, err));
  GBT_TRY(gbt_mem_zeros(&run->ctx->mem, n, sizeof *run->slot, &run->slot, err));
  run->feat = *feat;
  for (uint64_t t = run->spec->trees.beg; t < run->spec->trees.end; t++) {
    const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (nodes[i].left != 0) run->slot[nodes[i].feat & GBT_NODE_FEATURE] = 1;
  }
  for (int32_t f = 0; f < forest->n_features; f++) {
    if (!run->slot[f]) continue;
    run->slot[f] = run->n_feats;
    (*feat)[run->n_feats++] = f;
  }
  return GBT_OK;
}

static gbt_status check(const gbt_forest_view *forest, const gbt_binding *binding, const gbt_explain_spec *spec,
                        gbt_error *err) {
  const gbt_binding *both[2] = {binding, spec->background};
  for (int i = 0; i < 2; i++)
    if (both[i] != NULL && both[i]->schema->n_features != forest->n_features)
      return gbt_fail(err, GBT_E_ARG, "the table is bound to %d features, the forest has %d",
                      (int)both[i]->schema->n_features, (int)forest->n_features);
  if (spec->trees.beg > spec->trees.end || spec->trees.end > forest->n_trees)
    return gbt_fail_on(err, GBT_E_ARG, "trees", "there are no such trees");
  if (spec->background != NULL && spec->background->table->n_rows == 0)
    return gbt_fail_on(err, GBT_E_DATA, "background", "the background has no rows; give one at least");
  for (int32_t f = 0; f < forest->n_features; f++)
    if (spec->player[f] < 0 || spec->player[f] >= spec->n_players)
      return gbt_fail(err, GBT_E_ARG, "feature %d has no player", (int)f + 1);
  return GBT_OK;
}

gbt_status gbt_explain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                       const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) {
  explain_run run = {.ctx = ctx,
                     .forest = forest,
                     .binding = binding,
                     .spec = spec,
                     .offset = offset,
                     .out = out,
                     .n_rows = binding->table->n_rows,
                     .visit = gbti_visit_for(ctx->simd)};
  int32_t *feat = NULL, *last = NULL, *number = NULL;
  gbt_status status;
  GBT_TRY(check(forest, binding, spec, err));
  if (run.n_rows == 0) return GBT_OK;
  if (spec->background != NULL) run.n_back = spec->background->table->n_rows;
  const size_t n = (size_t)spec->n_players;
  const int64_t n_tasks = (run.n_rows + BLOCK - 1) / BLOCK;
  void *arg[1] = {&run};
  GBT_TRY_GOTO(list_features(&run, &feat, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *last, &last, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *number, &number, err), done);
  for (size_t p = 0; p < n; p++) last[p] = number[p] = -1;
  const gbti_game_spec plans = {forest, spec->player, spec->background == NULL, spec->interactions, last, number};
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, start_task, arg, err), done);
  for (uint64_t t = spec->trees.beg; t < spec->trees.end;) {
    GBT_TRY_GOTO(make_plans(&run, &plans, &t, err), done);
    GBT_TRY_GOTO(run_batch(&run, err), done);
    drop_plans(&run);
  }
  if (spec->interactions) GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, finish_task, arg, err), done);
done:
  drop_plans(&run);
  gbt_mem_free(&ctx->mem, run.plan);
  gbt_mem_free(&ctx->mem, run.back);
  gbt_mem_free(&ctx->mem, run.slot);
  gbt_mem_free(&ctx->mem, feat);
  gbt_mem_free(&ctx->mem, last);
  gbt_mem_free(&ctx->mem, number);
  return status;
}
