/* Predicting many rows with packed trees (predict_job.h).
 *
 *   block    up to BLOCK rows: every feature that the trees use is read and turned into codes
 *   codes    LANES rows side by side, column by column:
 *            codes[(row / LANES * n_code_cols + code_col) * LANES + row % LANES]
 *   walk     LANES rows through one tree: for each a chain of loads, so that the machine works on LANES chains at once.
 *            Children are chosen by adding a comparison, never by a jump; rows that have arrived turn in their leaf.
 *
 * A block's codes stay in the first-level cache while tree after tree comes by, a tree while the block's rows pass. */
#include <string.h>

#include "predict_answers.h"
#include "predict_coder.h"
#include "predict_tops.h"

#include "../base/parallel.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 16")
#else
#define NOINLINE
#define UNROLL
#endif

enum {
  LANES = GBTI_PACK_LANES,
  BLOCK = 20 * LANES,
  BLOCK_CODES = 1 << 13, /* codes of a block: half of a first-level cache */
  TASK_STEPS = 1 << 21,  /* steps of a task: about 1.5 ms */
  LEAST_STEPS = 1 << 16, /* below that there is no use in waking a thread */
  SHALLOW = 12,          /* trees up to this depth are walked to their depth, others until all rows have arrived */
  STRIDE = 4,            /* steps between two looks whether they have */
  TABLE_BLOCK = 512,     /* most rows of a block with tables */
  TABLE_CODES = 1 << 18, /* codes of such a block: a part of a second-level cache */
  PLACES = 4             /* trees whose values are added together */
};

typedef struct packed_run {
  const gbti_predict_job *job;
  const gbti_pack *pack;
  gbt_tree_range trees;
  int32_t block;
  int64_t rows_per_task;
  uint16_t *codes; /* by thread: block x n_code_cols */
  uint16_t *code;  /* by thread: block */
  double *x;       /* by thread: two blocks */
  uint32_t *pos;   /* by thread: block */
  int64_t *cursor; /* by thread: n_feats */
  uint8_t *bytes;  /* by thread: block x n_cols, codes of tables; NULL without tables */
  uint64_t *masks; /* by thread: n_masks x block / GBTI_TABLE_ROWS; NULL without answers */
  uint8_t *place;  /* by thread: PLACES x block */
  double *sums;    /* by thread: n_outputs x block, scores while all trees are tables of values; else NULL */
} packed_run;

/* code[r] = number of cuts below x[r]; 0 for NaN. Down the tree of cuts: the way taken is the number. n: a multiple of
 * LANES. */
NOINLINE static void count_cuts_below(const double *cuts, uint32_t n_steps, const double *x, int32_t n,
                                      uint16_t *code) {
  for (int32_t r = 0; r < n; r += LANES) {
    uint32_t at[LANES];
    for (int k = 0; k < LANES; k++) at[k] = 1;
    for (uint32_t step = 0; step < n_steps; step++)
      for (int k = 0; k < LANES; k++) at[k] = gbti_cut_step(cuts, at[k], x[r + k]);
    for (int k = 0; k < LANES; k++) code[r + k] = (uint16_t)(at[k] - ((uint32_t)1 << n_steps));
  }
}

static void code_levels(const double *x, int32_t n, uint16_t *code) {
  for (int32_t r = 0; r < n; r++) code[r] = gbti_level_code(x[r]);
}

/* A column into its place among the codes. */
static void put_column(const uint16_t *code, int32_t n, uint32_t n_code_cols, int32_t code_col, uint16_t *codes) {
  for (int32_t r = 0; r < n; r += LANES)
    memcpy(codes + (size_t)r * n_code_cols + (size_t)code_col * LANES, code + r, LANES * sizeof *code);
}

/* Reads n rows and writes their codes; the last group of lanes is filled up with zeros. */
static void code_block(const packed_run *run, int64_t row, int32_t n, int thread) {
  const gbti_pack *pack = run->pack;
  uint16_t *codes = run->codes + (size_t)thread * (size_t)run->block * pack->n_code_cols;
  uint16_t *code = run->code + (size_t)thread * (size_t)run->block;
  double *x = run->x + (size_t)thread * 2 * (size_t)run->block;
  int64_t *cursor = run->cursor + (size_t)thread * pack->n_feats;
  int32_t padded = (n + LANES - 1) / LANES * LANES;
  for (int32_t r = n; r < padded; r++) x[r] = 0.0;
  for (uint32_t j = 0; j < pack->n_feats; j++) {
    const gbti_pack_feature *f = &pack->feats[j];
    gbt_binding_read(run->job->binding, row, n, &f->feat, 1, &cursor[j], x, 1);
    if (f->code_col[GBTI_PACK_LEVEL] >= 0) {
      code_levels(x, padded, code);
      put_column(code, padded, pack->n_code_cols, f->code_col[GBTI_PACK_LEVEL], codes);
    }
    if (f->code_col[GBTI_PACK_LOW] < 0 && f->code_col[GBTI_PACK_HIGH] < 0) continue;
    count_cuts_below(pack->cuts + f->cut_beg, f->n_steps, x, padded, code);
    if (f->code_col[GBTI_PACK_LOW] >= 0) put_column(code, padded, pack->n_code_cols, f->code_col[GBTI_PACK_LOW], codes);
    if (f->code_col[GBTI_PACK_HIGH] < 0) continue;
    for (int32_t r = 0; r < padded; r++) code[r] = x[r] != x[r] ? (uint16_t)f->n_cuts : code[r];
    put_column(code, padded, pack->n_code_cols, f->code_col[GBTI_PACK_HIGH], codes);
  }
}

static int all_arrived(const gbti_pack_node *nodes, const uint32_t at[LANES]) {
  uint32_t least = GBTI_PACK_LEAF;
  for (int k = 0; k < LANES; k++) least &= nodes[at[k]].order;
  return least == GBTI_PACK_LEAF;
}

/* Walks LANES rows; codes: of these rows. */
GBT_FN void step_numbers(const gbti_pack_node *nodes, const uint16_t *codes, uint32_t n_steps, uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++)
    for (int k = 0; k < LANES; k++) {
      const gbti_pack_node *node = &nodes[at[k]];
      at[k] = node->child + (uint32_t)(node->order < codes[(size_t)node->col + (size_t)k]);
    }
}

GBT_FN void step_wide(const gbti_pack_wide *nodes, const uint32_t *words, const uint16_t *codes, uint32_t n_steps,
                      uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++) UNROLL
  for (int k = 0; k < LANES; k++) {
    const gbti_pack_wide *node = &nodes[at[k]];
    uint32_t code = codes[(size_t)node->col + (size_t)k];
    uint32_t right = gbti_goes_right_by_set(words, node->beg, node->last, code);
    at[k] = node->child + (uint32_t)(node->order < code) + right; /* one of them is 0 */
  }
}

/* pos[r]: the leaf that row r of the block reaches. */
NOINLINE static void walk_numbers(const gbti_pack *pack, const gbti_pack_tree *tree, const uint16_t *codes, int32_t n,
                                  uint32_t *pos) {
  const gbti_pack_node *nodes = pack->nodes + tree->node_beg;
  for (int32_t r = 0; r < n; r += LANES, codes += (size_t)LANES * pack->n_code_cols) {
    uint32_t at[LANES] = {0};
    if (tree->depth <= SHALLOW)
      step_numbers(nodes, codes, tree->depth, at);
    else
      while (!all_arrived(nodes, at)) step_numbers(nodes, codes, STRIDE, at);
    for (int k = 0; k < LANES; k++) pos[r + k] = at[k];
  }
}

NOINLINE static void walk_wide(const gbti_pack *pack, const gbti_pack_tree *tree, const uint16_t *codes, int32_t n,
                               uint32_t *pos) {
  const gbti_pack_node *nodes = pack->nodes + tree->node_beg;
  const gbti_pack_wide *wide = pack->wide + tree->node_beg;
  for (int32_t r = 0; r < n; r += LANES, codes += (size_t)LANES * pack->n_code_cols) {
    uint32_t at[LANES] = {0};
    if (tree->depth <= SHALLOW)
      step_wide(wide, pack->words, codes, tree->depth, at);
    else
      while (!all_arrived(nodes, at)) step_wide(wide, pack->words, codes, STRIDE, at);
    for (int k = 0; k < LANES; k++) pos[r + k] = at[k];
  }
}

static void run_coder(const gbti_pack *pack, uint32_t j, const double *x, const double *next, int32_t n_groups,
                      uint8_t *const to[2]) {
  const gbti_pack_feature *f = &pack->feats[j];
  const gbti_coder *coder = &pack->coders.at[j];
  const size_t stride = (size_t)pack->tables.n_cols * GBTI_TABLE_ROWS;
  if (coder->first != NULL)
    gbti_coder_run_cells(coder, f, pack->cuts + f->cut_beg, x, n_groups, to[GBTI_PACK_LOW], to[GBTI_PACK_HIGH], stride);
  else
    gbti_coder_run(coder, f, x, next, n_groups, to[GBTI_PACK_LOW], to[GBTI_PACK_HIGH], stride);
}

/* Codes of numbers, for tables. x: n numbers; next: those that come after. bytes: of the block's first group. */
static void bytes_of_numbers(const gbti_pack *pack, uint32_t j, const double *x, const double *next, int32_t n,
                             uint8_t *bytes) {
  const gbti_pack_feature *f = &pack->feats[j];
  size_t stride = (size_t)pack->tables.n_cols * GBTI_TABLE_ROWS;
  int32_t whole = n / GBTI_TABLE_ROWS;
  double last[GBTI_TABLE_ROWS] = {0.0};
  if (n % GBTI_TABLE_ROWS > 0) memcpy(last, x + whole * GBTI_TABLE_ROWS, (size_t)(n % GBTI_TABLE_ROWS) * sizeof *x);
  uint8_t *to[2] = {NULL, NULL};
  for (int kind = GBTI_PACK_HIGH; kind <= GBTI_PACK_LOW; kind++)
    if (f->code_col[kind] >= 0) to[kind] = bytes + (size_t)pack->tables.byte_col[f->code_col[kind]] * GBTI_TABLE_ROWS;
  run_coder(pack, j, x, next, whole, to);
  if (n % GBTI_TABLE_ROWS == 0) return;
  for (int kind = GBTI_PACK_HIGH; kind <= GBTI_PACK_LOW; kind++)
    if (to[kind] != NULL) to[kind] += (size_t)whole * stride;
  run_coder(pack, j, last, last, 1, to);
}

/* The four columns of a level. */
static void bytes_of_levels(const gbti_pack *pack, int32_t code_col, const uint16_t *code, int32_t n, uint8_t *bytes) {
  uint8_t *to = bytes + (size_t)pack->tables.byte_col[code_col] * GBTI_TABLE_ROWS;
  for (int32_t r = 0; r < n; r += GBTI_TABLE_ROWS, to += (size_t)pack->tables.n_cols * GBTI_TABLE_ROWS) {
    int32_t m = n - r < GBTI_TABLE_ROWS ? n - r : GBTI_TABLE_ROWS;
    for (int32_t k = 0; k < m; k++) {
      uint16_t eighth = (uint16_t)(code[r + k] >> 3);
      to[k] = (uint8_t)(eighth < UINT8_MAX ? eighth : UINT8_MAX);
      to[GBTI_TABLE_ROWS + k] = (uint8_t)(1u << (code[r + k] & 7u));
    }
    memcpy(to + 2 * GBTI_TABLE_ROWS, code + r, (size_t)m * sizeof *code);
  }
}

/* The first feature from j on that tables ask, or n_feats. */
static uint32_t next_asked_feature(const gbti_pack *pack, uint32_t j) {
  while (j < pack->n_feats && pack->coders.at[j].cuts == NULL && pack->feats[j].code_col[GBTI_PACK_LEVEL] < 0) j++;
  return j;
}

/* The bytes that are looked up in tables. Memory brings a column while the one before is turned into bytes. */
static void code_bytes(const packed_run *run, int64_t row, int32_t n, int thread) {
  const gbti_pack *pack = run->pack;
  const gbt_binding *binding = run->job->binding;
  uint8_t *bytes = run->bytes + (size_t)thread * (size_t)run->block * pack->tables.n_cols;
  uint16_t *code = run->code + (size_t)thread * (size_t)run->block;
  double *buf = run->x + (size_t)thread * 2 * (size_t)run->block, *other = buf + run->block;
  int64_t *cursor = run->cursor + (size_t)thread * pack->n_feats;
  uint32_t j = next_asked_feature(pack, 0);
  const double *x = NULL;
  if (j < pack->n_feats) x = gbt_binding_values(binding, row, n, pack->feats[j].feat, &cursor[j], buf);
  while (j < pack->n_feats) {
    const gbti_pack_feature *f = &pack->feats[j];
    uint32_t after = next_asked_feature(pack, j + 1);
    const double *next = x;
    double *swap = buf;
    buf = other;
    other = swap;
    if (after < pack->n_feats) next = gbt_binding_values(binding, row, n, pack->feats[after].feat, &cursor[after], buf);
    if (pack->coders.at[j].cuts != NULL) bytes_of_numbers(pack, j, x, next, n, bytes);
    if (f->code_col[GBTI_PACK_LEVEL] >= 0) {
      code_levels(x, n, code);
      bytes_of_levels(pack, f->code_col[GBTI_PACK_LEVEL], code, n, bytes);
    }
    x = next;
    j = after;
  }
}

static uint64_t *thread_masks(const packed_run *run, int thread) {
  size_t n_groups = (size_t)run->block / GBTI_TABLE_ROWS;
  return run->masks == NULL ? NULL : run->masks + (size_t)thread * n_groups * run->pack->tables.n_masks;
}

static gbti_table_rows table_rows(const packed_run *run, int thread) {
  gbti_table_rows rows = {.codes = run->bytes + (size_t)thread * (size_t)run->block * run->pack->tables.n_cols,
                          .masks = thread_masks(run, thread),
                          .n_groups = run->block / GBTI_TABLE_ROWS};
  return rows;
}

static void ask_answers(const packed_run *run, int32_t n, int thread) {
  gbti_table_rows rows = table_rows(run, thread);
  gbti_answers_ask(run->pack, rows.codes, n, rows.n_groups, thread_masks(run, thread));
}

/* A block of rows through a tree that is a table, where not all trees of the run are, or leaves are asked for. */
static void pass_table(const packed_run *run, uint64_t t, int64_t row, int32_t n, int thread) {
  const gbti_pack *pack = run->pack;
  const gbti_table *table = &pack->tables.at[t - pack->trees.beg];
  uint8_t *place = run->place + (size_t)thread * (size_t)run->block * PLACES;
  uint32_t *pos = run->pos + (size_t)thread * (size_t)run->block;
  const uint16_t *leaf = pack->tables.leaf + table->leaf_beg;
  gbti_table_rows rows = table_rows(run, thread);
  gbti_table_walk(pack, table, &rows, (n + GBTI_TABLE_ROWS - 1) / GBTI_TABLE_ROWS, place);
  for (int32_t r = 0; r < n; r++) pos[r] = leaf[place[r]];
  gbti_predict_emit(run->job, t, row, n, pos);
}

/* Adds what trees give, whose places are there, to the sums of output `first` on. */
static void add_tables(const packed_run *run, const gbti_table *const *table, int32_t n_tables, int32_t first,
                       int32_t n_groups, int thread) {
  const gbt_forest_view *forest = run->job->forest;
  const size_t block = (size_t)run->block;
  const uint8_t *place = run->place + (size_t)thread * block * PLACES;
  double *sums = run->sums + ((size_t)thread * (size_t)forest->n_outputs + (size_t)first) * block;
  for (int32_t k = 0; k < forest->n_leaf_outputs; k++, sums += block)
    gbti_table_add(run->pack, table, n_tables, k, place, block, n_groups, sums);
}

/* A block of rows through all trees of an output, or, where leaves hold a value for every output, of all. Trees of
 * other outputs are passed later, so that sums stay in the cache and, over PLACES trees, in registers. */
static void pass_output(const packed_run *run, int32_t output, int32_t n, int thread) {
  const gbti_pack *pack = run->pack;
  const gbt_forest_view *forest = run->job->forest;
  const int vectors = forest->n_leaf_outputs > 1;
  const uint64_t side_by_side = vectors ? 1 : (uint64_t)forest->n_parallel;
  const uint64_t round = vectors ? 1 : side_by_side * (uint64_t)forest->n_outputs;
  const int32_t n_groups = (n + GBTI_TABLE_ROWS - 1) / GBTI_TABLE_ROWS;
  const gbti_table_rows rows = table_rows(run, thread);
  uint8_t *place = run->place + (size_t)thread * (size_t)run->block * PLACES;
  const gbti_table *table[PLACES];
  int32_t m = 0;
  for (uint64_t first = run->trees.beg - run->trees.beg % round; first < run->trees.end; first += round)
    for (uint64_t i = 0; i < side_by_side; i++) {
      const uint64_t t = first + (uint64_t)output * side_by_side + i;
      if (t < run->trees.beg || t >= run->trees.end) continue;
      GBT_ASSERT(vectors || gbti_predict_output(forest, t) == output);
      table[m] = &pack->tables.at[t - pack->trees.beg];
      gbti_table_walk(pack, table[m], &rows, n_groups, place + (size_t)m * (size_t)run->block);
      if (++m < PLACES) continue;
      add_tables(run, table, m, output, n_groups, thread);
      m = 0;
    }
  if (m > 0) add_tables(run, table, m, output, n_groups, thread);
}

/* A block of rows through a tree whose first layers are tables. */
static void pass_top(const packed_run *run, uint64_t t, int64_t row, int32_t n, int thread) {
  const gbti_pack *pack = run->pack;
  const gbti_predict_job *job = run->job;
  const gbti_top *top = &pack->tops.at[t - pack->trees.beg];
  const size_t block = (size_t)run->block;
  const uint8_t *codes = run->bytes + (size_t)thread * block * pack->tables.n_cols;
  uint8_t *place = run->place + (size_t)thread * block * PLACES;
  uint32_t *pos = run->pos + (size_t)thread * block;
  const int32_t n_groups = (n + GBTI_TABLE_ROWS - 1) / GBTI_TABLE_ROWS;
  gbti_top_walk(pack, top, codes, n_groups, place);
  if (top->is_whole && job->scores != NULL && pack->n_values == 1 && job->forest->sums.rule != GBT_SUM_FLOAT) {
    const double *values = pack->tops.values + top->value_beg;
    double *restrict out = job->scores + gbti_predict_output(job->forest, t) * job->n_rows + row;
    for (int32_t r = 0; r < n; r++) out[r] += values[place[r]];
    return;
  }
  const uint16_t *start = pack->tops.start + top->start_beg;
  if (top->is_whole)
    for (int32_t r = 0; r < n; r++) pos[r] = start[place[r]];
  else
    gbti_top_down(pack, top, codes, n_groups, place, pos);
  gbti_predict_emit(job, t, row, n, pos);
}

/* Scores of outputs [beg, end) into the order of sums, or out of it. */
static void move_sums(const packed_run *run, int64_t row, int32_t n, int thread, int32_t beg, int32_t end, int out) {
  for (int32_t k = beg; k < end; k++) {
    double *sums = run->sums + ((size_t)thread * (size_t)run->job->forest->n_outputs + (size_t)k) * (size_t)run->block;
    double *x = run->job->scores + k * run->job->n_rows + row;
    if (out)
      gbti_table_sums_out(sums, n, x);
    else
      gbti_table_sums_in(x, n, sums);
  }
}

/* A block of rows through trees that are all tables of values. */
static void pass_tables(const packed_run *run, int64_t row, int32_t n, int thread) {
  const gbt_forest_view *forest = run->job->forest;
  for (int32_t k = 0; k < forest->n_outputs; k += forest->n_leaf_outputs) {
    move_sums(run, row, n, thread, k, k + forest->n_leaf_outputs, 0);
    pass_output(run, k, n, thread);
    move_sums(run, row, n, thread, k, k + forest->n_leaf_outputs, 1);
  }
}

static void packed_task(void *arg, int64_t task, int thread) {
  const packed_run *run = arg;
  const gbti_pack *pack = run->pack;
  const uint16_t *codes =
      run->codes == NULL ? NULL : run->codes + (size_t)thread * (size_t)run->block * pack->n_code_cols;
  uint32_t *pos = run->pos + (size_t)thread * (size_t)run->block;
  int64_t beg = task * run->rows_per_task, end = beg + run->rows_per_task;
  if (end > run->job->n_rows) end = run->job->n_rows;
  for (int64_t row = beg; row < end; row += run->block) {
    int32_t n = end - row < run->block ? (int32_t)(end - row) : run->block;
    if (run->codes != NULL) code_block(run, row, n, thread);
    if (run->bytes != NULL) code_bytes(run, row, n, thread);
    if (run->masks != NULL) ask_answers(run, n, thread);
    if (run->sums != NULL) {
      pass_tables(run, row, n, thread);
      continue;
    }
    for (uint64_t t = run->trees.beg; t < run->trees.end; t++) {
      const gbti_pack_tree *tree = &pack->tree[t - pack->trees.beg];
      if (pack->tables.n > 0 && pack->tables.at[t - pack->trees.beg].is_table) {
        pass_table(run, t, row, n, thread);
        continue;
      }
      if (pack->tops.n > 0 && pack->tops.at[t - pack->trees.beg].is_top) {
        pass_top(run, t, row, n, thread);
        continue;
      }
      if (tree->has_sets)
        walk_wide(pack, tree, codes, n, pos);
      else
        walk_numbers(pack, tree, codes, n, pos);
      gbti_predict_emit(run->job, t, row, n, pos);
    }
  }
}

/* Rows of a block and of a task: blocks that fit into the cache; tasks of TASK_STEPS, or fewer where that leaves
 * threads without work, but no less than LEAST_STEPS. */
static void size_rows(const gbt_ctx *ctx, packed_run *run) {
  const gbti_pack *pack = run->pack;
  int64_t row_steps = (int64_t)(pack->n_steps + pack->n_feats + 1), share = run->job->n_rows / (4 * ctx->n_threads) + 1;
  int64_t rows = TASK_STEPS / row_steps + 1, least = LEAST_STEPS / row_steps + 1;
  if (rows > share) rows = share > least ? share : least;
  int64_t lanes = LANES, block = BLOCK, codes = BLOCK_CODES;
  if (gbti_pack_in_bytes(pack) > 0) { /* with trees that are not in bytes, whole groups of both kinds */
    lanes =
        gbti_pack_in_bytes(pack) == pack->trees.end - pack->trees.beg ? GBTI_TABLE_ROWS : GBTI_TABLE_ROWS * LANES / 4;
    block = TABLE_BLOCK / lanes * lanes;
    codes = TABLE_CODES;
  }
  int64_t row_codes = (int64_t)pack->n_code_cols + pack->tables.n_masks / 8 + 1;
  if (block > codes / row_codes) block = codes / row_codes;
  if (block > rows) block = rows;
  GBT_ASSERT(block > 0); /* MAX_CODE_COLS and MAX_NODES of predict_pack.c limit columns and sets */
  block = (block + lanes - 1) / lanes * lanes;
  run->block = (int32_t)block;
  run->rows_per_task = (rows + block - 1) / block * block;
}

gbt_status gbti_predict_packed(gbt_ctx *ctx, const gbti_predict_job *job, const gbti_pack *pack, gbt_tree_range trees,
                               gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  packed_run run = {.job = job, .pack = pack, .trees = trees};
  size_rows(ctx, &run);
  int64_t n_tasks = (job->n_rows + run.rows_per_task - 1) / run.rows_per_task;
  size_t n_threads = n_tasks > 1 ? (size_t)ctx->n_threads : 1, n = n_threads * (size_t)run.block;
  gbt_status status;
  const uint64_t in_bytes = gbti_pack_in_bytes(pack);
  if (in_bytes < pack->trees.end - pack->trees.beg)
    GBT_TRY_GOTO(gbt_mem_zeros(mem, n, pack->n_code_cols * sizeof *run.codes, &run.codes, err), done);
  else if (pack->tables.n > 0 && job->scores != NULL && job->forest->sums.rule != GBT_SUM_FLOAT)
    GBT_TRY_GOTO(gbt_mem_zeros(mem, n, (size_t)job->forest->n_outputs * sizeof *run.sums, &run.sums, err), done);
  if (in_bytes > 0) { /* a node of a top may read a byte too many */
    GBT_TRY_GOTO(gbt_mem_zeros(mem, n + 1, pack->tables.n_cols, &run.bytes, err), done);
    GBT_TRY_GOTO(gbt_mem_array(mem, n, PLACES, &run.place, err), done);
    if (pack->tables.n_masks > 0)
      GBT_TRY_GOTO(gbt_mem_array(mem, n / GBTI_TABLE_ROWS, pack->tables.n_masks * sizeof *run.masks, &run.masks, err),
                   done);
  }
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *run.code, &run.code, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, 2 * sizeof *run.x, &run.x, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *run.pos, &run.pos, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n_threads * pack->n_feats, sizeof *run.cursor, &run.cursor, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, packed_task, &run, err), done);
done:
  gbt_mem_free(mem, run.sums);
  gbt_mem_free(mem, run.place);
  gbt_mem_free(mem, run.masks);
  gbt_mem_free(mem, run.bytes);
  gbt_mem_free(mem, run.cursor);
  gbt_mem_free(mem, run.pos);
  gbt_mem_free(mem, run.x);
  gbt_mem_free(mem, run.code);
  gbt_mem_free(mem, run.codes);
  return status;
}
