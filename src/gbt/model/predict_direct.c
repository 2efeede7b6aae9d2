/* Predicting few rows: trees are walked where they lie.
 *
 *   rows in blocks, row by row:   x[r * width + feature]
 *
 * A walk is a chain of dependent loads, so LANES walks go on side by side: rows of a block through one tree, or, when
 * there are few rows, one row through several trees. Lanes that have arrived wait at their leaf. */
#include "predict_job.h"

#include "../base/parallel.h"

enum {
  LANES = 8,
  BLOCK = 64,            /* most rows of a block */
  BLOCK_CELLS = 1 << 15, /* numbers that a block may hold, if more than one row */
  TASK_STEPS = 1 << 16,  /* steps of a task, about: below that there is no use in waking a thread */
  STEPS = 8,             /* steps of one walk, about */
  READ_COST = 16         /* nodes that can be looked at while one cell is read */
};

typedef struct direct_run {
  const gbti_predict_job *job;
  gbt_tree_range trees;
  const int32_t *feats; /* n_feats: features to read */
  int32_t n_feats;
  int32_t width, block;
  int64_t rows_per_task;
  double *x;       /* by thread: block x width */
  int64_t *cursor; /* by thread: n_feats */
  int32_t *grid_x; /* by thread: block x grids of the forest; NULL where leaves are constant, or of numbers */
  int numbers;     /* leaves that scores are made of read numbers */
} direct_run;

/* A block of rows on its way through the trees. */
typedef struct direct_block {
  const double *x;
  const int32_t *grid_x; /* by row, by grid; or NULL */
  int64_t row;           /* the first */
  int32_t n;
} direct_block;

typedef struct lane {
  const gbt_node *nodes;
  const uint32_t *words;
  const double *x;
} lane;

static const uint32_t no_words[1] = {0};

static void start_at_tree(lane *to, const gbt_forest_view *forest, uint64_t t) {
  const gbt_tree *tree = &forest->trees[t];
  to->nodes = forest->nodes + tree->node_beg;
  to->words = tree->n_words > 0 ? forest->sets + tree->set_beg : no_words;
}

/* pos[k]: the leaf that lane k reaches. */
static void walk(const lane lanes[LANES], uint32_t pos[LANES]) {
  uint32_t at[LANES] = {0}, moving;
  do {
    moving = 0;
    for (int k = 0; k < LANES; k++) {
      const gbt_node *node = lanes[k].nodes + at[k];
      uint32_t left = node->left;
      uint32_t right = (uint32_t)!gbt_goes_left(node, lanes[k].x[node->feat & GBT_NODE_FEATURE], lanes[k].words);
      at[k] = left != 0 ? left + right : at[k];
      moving |= left;
    }
  } while (moving != 0);
  for (int k = 0; k < LANES; k++) pos[k] = at[k];
}

/* Leaves of rows [r, r + n) of the block in tree t. */
static void emit(const direct_run *run, const direct_block *block, uint64_t t, int32_t r, int32_t n,
                 const uint32_t *pos) {
  if (run->numbers) {
    gbti_predict_emit_numbers(run->job, t, block->row + r, n, pos, block->x + (int64_t)r * run->width, run->width);
    return;
  }
  if (block->grid_x == NULL) {
    gbti_predict_emit(run->job, t, block->row + r, n, pos);
    return;
  }
  const int32_t *grid_x = block->grid_x + (size_t)r * run->job->forest->linear.n_grids;
  gbti_predict_emit_linear(run->job, t, block->row + r, n, pos, grid_x);
}

/* Rows side by side, tree by tree. The last row fills lanes that are left over. */
static void walk_rows(const direct_run *run, const direct_block *block) {
  const double *x = block->x;
  const int32_t n = block->n;
  lane lanes[LANES];
  uint32_t pos[BLOCK + LANES];
  for (uint64_t t = run->trees.beg; t < run->trees.end; t++) {
    start_at_tree(&lanes[0], run->job->forest, t);
    for (int k = 1; k < LANES; k++) lanes[k] = lanes[0];
    for (int32_t r = 0; r < n; r += LANES) {
      for (int32_t k = 0; k < LANES; k++) lanes[k].x = x + (int64_t)(r + k < n ? r + k : n - 1) * run->width;
      walk(lanes, pos + r);
    }
    emit(run, block, t, 0, n, pos);
  }
}

/* Trees side by side, row by row. The last tree fills lanes that are left over. */
static void walk_trees(const direct_run *run, const direct_block *block) {
  const double *x = block->x;
  const int32_t n = block->n;
  lane lanes[LANES];
  uint32_t pos[LANES];
  uint64_t end = run->trees.end;
  for (int32_t r = 0; r < n; r++) {
    for (uint64_t t = run->trees.beg; t < end; t += LANES) {
      for (uint64_t k = 0; k < LANES; k++) {
        start_at_tree(&lanes[k], run->job->forest, t + k < end ? t + k : end - 1);
        lanes[k].x = x + (int64_t)r * run->width;
      }
      walk(lanes, pos);
      for (uint64_t k = 0; k < LANES && t + k < end; k++) emit(run, block, t + k, r, 1, &pos[k]);
    }
  }
}

/* X of n rows in all grids. */
static void read_grids(const direct_run *run, const double *x, int32_t n, int32_t *grid_x) {
  const gbt_linear_view *linear = &run->job->forest->linear;
  for (int32_t r = 0; r < n; r++)
    for (uint32_t g = 0; g < linear->n_grids; g++)
      *grid_x++ = gbt_linear_x(linear, g, x[(int64_t)r * run->width + linear->grid[g].feat]);
}

static void direct_task(void *arg, int64_t task, int thread) {
  const direct_run *run = arg;
  int64_t beg = task * run->rows_per_task, end = beg + run->rows_per_task, n_rows = run->job->n_rows;
  if (end > n_rows) end = n_rows;
  double *x = run->x + (int64_t)thread * run->block * run->width;
  int64_t *cursor = run->cursor + (int64_t)thread * run->n_feats;
  int32_t *grid_x = NULL;
  if (run->grid_x != NULL)
    grid_x = run->grid_x + (size_t)thread * (size_t)run->block * run->job->forest->linear.n_grids;
  for (int64_t row = beg; row < end; row += run->block) {
    int32_t n = end - row < run->block ? (int32_t)(end - row) : run->block;
    for (int32_t j = 0; j < run->n_feats; j++)
      gbt_binding_read(run->job->binding, row, n, &run->feats[j], 1, &cursor[j], x + run->feats[j], run->width);
    if (grid_x != NULL) read_grids(run, x, n, grid_x);
    const direct_block its = {x, grid_x, row, n};
    if (n >= LANES)
      walk_rows(run, &its);
    else
      walk_trees(run, &its);
  }
}

/* The features to read: all, or those that the trees use where looking for them costs less than reading all. */
static gbt_status list_features(const gbt_mem *mem, direct_run *run, int32_t *feats, gbt_error *err) {
  const gbt_forest_view *forest = run->job->forest;
  double n_nodes = 0.0, n_cells = (double)run->job->n_rows * (double)forest->n_features;
  for (uint64_t t = run->trees.beg; t < run->trees.end; t++) n_nodes += (double)forest->trees[t].n_nodes;
  run->feats = feats;
  run->n_feats = forest->n_features;
  for (int32_t f = 0; f < forest->n_features; f++) feats[f] = f;
  if (n_nodes > READ_COST * n_cells) return GBT_OK;
  uint8_t *used;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)forest->n_features, 1, &used, err));
  for (uint64_t t = run->trees.beg; t < run->trees.end; t++) {
    const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (nodes[i].left != 0) used[nodes[i].feat & GBT_NODE_FEATURE] = 1;
  }
  for (uint32_t g = 0; g < forest->linear.n_grids; g++) used[forest->linear.grid[g].feat] = 1;
  run->n_feats = 0;
  for (int32_t f = 0; f < forest->n_features; f++)
    if (used[f]) feats[run->n_feats++] = f;
  gbt_mem_free(mem, used);
  return GBT_OK;
}

gbt_status gbti_predict_direct(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, gbt_error *err) {
  direct_run run = {.job = job, .trees = trees};
  GBT_ASSERT(trees.end > trees.beg && job->n_rows > 0);
  run.width = job->forest->n_features > 0 ? job->forest->n_features : 1; /* leaves look at feature 0 */
  int64_t row_steps = (int64_t)(trees.end - trees.beg < TASK_STEPS ? trees.end - trees.beg : TASK_STEPS) * STEPS;
  run.rows_per_task = (TASK_STEPS + row_steps - 1) / row_steps;
  int64_t block = BLOCK_CELLS / run.width < BLOCK ? BLOCK_CELLS / run.width : BLOCK;
  if (block > run.rows_per_task) block = run.rows_per_task;
  if (block > job->n_rows) block = job->n_rows;
  run.block = block < 1 ? 1 : (int32_t)block;
  int64_t n_tasks = (job->n_rows + run.rows_per_task - 1) / run.rows_per_task;
  size_t n_threads = n_tasks > 1 ? (size_t)ctx->n_threads : 1;
  int32_t *feats = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)run.width, sizeof *feats, &feats, err), done);
  GBT_TRY_GOTO(list_features(&ctx->mem, &run, feats, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n_threads * (size_t)run.block, (size_t)run.width * sizeof *run.x, &run.x, err),
               done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n_threads, (size_t)run.n_feats * sizeof *run.cursor, &run.cursor, err), done);
  const int linear = job->scores != NULL && job->forest->linear.n_leaves > 0;
  run.numbers = linear && gbt_linear_of_numbers(&job->forest->linear);
  if (linear && !run.numbers)
    GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_threads * (size_t)run.block,
                               job->forest->linear.n_grids * sizeof *run.grid_x, &run.grid_x, err),
                 done);
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, direct_task, &run, err), done);
done:
  gbt_mem_free(&ctx->mem, run.grid_x);
  gbt_mem_free(&ctx->mem, run.cursor);
  gbt_mem_free(&ctx->mem, run.x);
  gbt_mem_free(&ctx->mem, feats);
  return status;
}
