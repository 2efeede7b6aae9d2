/* Sends train rows down an existing tree, row after row, where partition goes layer after layer.
 *
 *   nodes    a pointer to the codes of the split's column and a table by code, so that a step is four loads and a
 *            subtraction, whatever the split asks
 *   walk     LANES rows side by side, each a chain of loads; 64 where cpu_walk_tables.c can do it
 *   sums     of the gradients by leaf, in the order of rows; threads have sums of their own, and whole numbers add up
 *            to the same in any order
 *
 * Nothing is moved, and gradients, scores and codes are read in the order of memory. */
#include <string.h>

#include "../base/comm.h"
#include "cpu.h"

enum {
  LANES = 16,
  SHALLOW = 12, /* trees up to this depth are walked to their depth, others until all rows have arrived */
  STRIDE = 4    /* steps between two looks whether they have */
};

void cpu_walk_close(cpu_backend *be) {
  cpu_walk_tables_free(&be->mem, &be->walk.tables);
  gbt_mem_free(&be->mem, be->walk.codes);
  gbt_mem_free(&be->mem, be->walk.node);
  gbt_mem_free(&be->mem, be->walk.lut);
  gbt_mem_free(&be->mem, be->walk.sum);
}

/* ---- nodes ---- */

int cpu_has_split_before(const cpu_backend *be, size_t i) {
  return gbt_policy_one_split(be->fr.policy.kind) && i > 0 && be->fr.node[i - 1].left > 0 &&
         be->fr.node[i].depth == be->fr.node[i - 1].depth;
}

static gbt_status make_nodes(cpu_backend *be, gbt_error *err) {
  const gbt_frontier *fr = &be->fr;
  cpu_walk *walk = &be->walk;
  void *const *column = be->view.column;
  size_t bytes = 1, at = 1; /* byte 0 is the table of leaves */
  for (size_t i = 0; i < fr->n_nodes; i++)
    if (fr->node[i].left > 0 && !cpu_has_split_before(be, i)) bytes += cpu_lut_size(be->layout, fr->node[i].split.feat);
  GBT_TRY(gbt_mem_grow(&be->mem, &walk->node, &walk->cap_node, fr->n_nodes, sizeof *walk->node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &walk->lut, &walk->cap_lut, bytes, 1, err));
  walk->lut[0] = 0;
  walk->depth = 0;
  walk->any_wide = 0;
  for (size_t i = 0; i < fr->n_nodes; i++) {
    const gbt_grow_node *from = &fr->node[i];
    cpu_walk_node leaf = {.codes = (const uint8_t *)be->rows.order, .left = walk->lut, .last = (uint32_t)i};
    walk->node[i] = leaf;
    if (from->left == 0) {
      if ((uint32_t)from->depth > walk->depth) walk->depth = (uint32_t)from->depth;
      continue;
    }
    const gbt_place *place = &be->layout->place[from->split.feat];
    const int wide = be->layout->group[place->group].wide != 0;
    cpu_walk_node node = {.codes = column[place->group * GBT_GROUP_MAX + place->pos],
                          .left = walk->lut + at,
                          .last = (uint32_t)from->left + 1,
                          .mask = wide ? UINT16_MAX : UINT8_MAX,
                          .wide = (uint16_t)wide};
    if (cpu_has_split_before(be, i)) {
      node.left = walk->node[i - 1].left;
    } else {
      cpu_fill_lut(be, be->layout, from, walk->lut + at);
      at += cpu_lut_size(be->layout, from->split.feat);
    }
    walk->node[i] = node;
    walk->any_wide |= wide;
  }
  GBT_ASSERT(at == bytes);
  return GBT_OK;
}

/* Nodes, and tables where there are any. */
static gbt_status make_tree(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_walk *walk = &be->walk;
  void *const *column = be->view.column;
  GBT_TRY(make_nodes(be, err));
  const cpu_table_tree tree = {.node = walk->node, .layout = be->layout, .depth = walk->depth};
  GBT_TRY(cpu_walk_tables_make(ctx, be, &tree, &walk->tables, err));
  const size_t n = walk->tables.n_asks + walk->tables.n_sets;
  GBT_TRY(gbt_mem_grow(&be->mem, &walk->codes, &walk->cap_codes, n, sizeof *walk->codes, err));
  for (size_t k = 0; k < n; k++) walk->codes[k] = column[cpu_walk_tables_column(&walk->tables, k)];
  return GBT_OK;
}

/* ---- rows ---- */

/* The code of a row at a node. Columns of bytes have room for one more, so that two can be read at once. */
GBT_FN uint32_t code_at(const cpu_walk_node *node, size_t row, int any_wide) {
  if (!any_wide) return node->codes[row] & node->mask;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint16_t code;
  memcpy(&code, node->codes + (row << node->wide), sizeof code);
#else
  uint16_t code = node->codes[row];
  if (node->wide) memcpy(&code, node->codes + 2 * row, sizeof code);
#endif
  return code & node->mask;
}

GBT_FN void steps(const cpu_walk_node *nodes, const size_t row[LANES], uint32_t n_steps, int any_wide,
                  uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++)
    for (int k = 0; k < LANES; k++) {
      const cpu_walk_node *node = &nodes[at[k]];
      at[k] = node->last - node->left[code_at(node, row[k], any_wide)];
    }
}

static int all_arrived(const cpu_walk_node *nodes, const uint32_t at[LANES]) {
  uint32_t any = 0;
  for (int k = 0; k < LANES; k++) any |= nodes[at[k]].mask;
  return any == 0;
}

GBT_FN void walk_rows(const cpu_walk *walk, size_t beg, size_t end, int any_wide, uint32_t *leaf) {
  for (size_t r = beg; r < end; r += LANES) {
    uint32_t at[LANES] = {0};
    size_t row[LANES];
    for (size_t k = 0; k < LANES; k++) row[k] = r + k < end ? r + k : end - 1;
    if (walk->depth <= SHALLOW)
      steps(walk->node, row, walk->depth, any_wide, at);
    else
      while (!all_arrived(walk->node, at)) steps(walk->node, row, STRIDE, any_wide, at);
    for (size_t k = 0; k < LANES && r + k < end; k++) leaf[r + k] = at[k];
  }
}

/* One function for each, so that neither takes the other's registers. */
static void walk_bytes(const cpu_walk *walk, size_t beg, size_t end, uint32_t *leaf) {
  walk_rows(walk, beg, end, 0, leaf);
}
static void walk_wide(const cpu_walk *walk, size_t beg, size_t end, uint32_t *leaf) {
  walk_rows(walk, beg, end, 1, leaf);
}

/* The leaves of rows [beg, end) to be->rows.spare. */
static void assign_leaves(const cpu_backend *be, size_t beg, size_t end) {
  const cpu_walk *walk = &be->walk;
  uint32_t *leaf = be->rows.spare;
  if (walk->tables.ready) {
    const size_t whole = (end - beg) / CPU_TABLE_ROWS * CPU_TABLE_ROWS;
    cpu_walk_tables_run(&walk->tables, walk->codes, beg, beg + whole, leaf + beg);
    beg += whole;
  }
  if (walk->any_wide)
    walk_wide(walk, beg, end, leaf);
  else
    walk_bytes(walk, beg, end, leaf);
}

/* ---- scores ---- */

int cpu_walk_can(const cpu_backend *be) {
  for (size_t i = 0; i < be->fr.n_nodes; i++)
    if (be->fr.node[i].left > 0 && !cpu_has_column(be, be->fr.node[i].split.feat)) return 0;
  return 1;
}

typedef struct score_job {
  cpu_backend *be;
  int led; /* rows.spare has the leaves */
} score_job;

static void score_task(void *arg, int64_t task, int thread) {
  const score_job *job = arg;
  cpu_backend *be = job->be;
  const uint32_t beg = (uint32_t)task * CPU_TASK_ROWS, end = cpu_task_end(beg, (uint32_t)be->n_rows);
  const uint32_t *leaf = be->rows.spare;
  double *score = be->view.score;
  const double *value = be->leaf.value;
  (void)thread;
  if (!job->led) assign_leaves(be, beg, end);
  for (uint32_t r = beg; r < end; r++) score[r] += value[leaf[r]];
}

gbt_status cpu_walk_scores(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  score_job job = {be, be->walk.led};
  if (!job.led) GBT_TRY(make_tree(ctx, be, err));
  const double ns = (1.0 + (job.led ? 0 : be->walk.depth)) * (double)be->n_rows;
  be->walk.led = 1;
  return cpu_parallel(ctx, cpu_n_tasks(be->n_rows), ns, score_task, &job, err);
}

/* ---- sums ---- */

/* Whether bounds or gains will be made, which depend on histograms. */
static int wants_coarse(const cpu_backend *be) { return be->fr.policy.monotone != NULL || be->task.rates; }

/* 32-bit gradients of rows [row, row + n). */
static const gbt_gh32 *fine_gradients(const cpu_backend *be, uint32_t row, uint32_t n, gbt_gh32 *out) {
  if (be->view.wide) return be->view.gh32 + row;
  be->kernels->unfix((int32_t)n, cpu_rows_before(be) + row, cpu_rounding_key(be, be->task.output),
                     be->view.gh16 + row, be->view.low + row, out);
  return out;
}

GBT_FN void add_row(cpu_walk_sum *s, gbt_gh32 gh) {
  s->g += gh.g;
  s->h += gh.h;
  s->n++;
}

/* From gh32 or, where that is NULL, gh16. */
GBT_FN void add_coarse(const gbt_gh32 *gh32, const gbt_gh16 *gh16, uint32_t row, cpu_walk_sum *s) {
  s->coarse_g += gh32 ? gh32[row].g : gh16[row].g;
  s->coarse_h += gh32 ? (int64_t)gh32[row].h : (int64_t)gh16[row].h;
}

/* Sampled rows of [beg, end): order[*in ..) from `beg` on. */
static void sum_block(const cpu_backend *be, uint32_t beg, uint32_t end, uint32_t *in, gbt_gh32 *gradients,
                      cpu_walk_sum *sums) {
  const uint32_t *leaf = be->rows.spare, *order = be->rows.order, n_in = be->rows.n_in;
  const gbt_gh32 *gh = fine_gradients(be, beg, end - beg, gradients);
  const int coarse = wants_coarse(be);
  const gbt_gh32 *gh32 = be->view.gh32;
  const gbt_gh16 *gh16 = be->view.gh16;
  if (n_in == (uint32_t)be->n_rows && !coarse) {
    for (uint32_t r = beg; r < end; r++) add_row(&sums[leaf[r]], gh[r - beg]);
    return;
  }
  for (; *in < n_in && order[*in] < end; ++*in) {
    const uint32_t row = order[*in];
    add_row(&sums[leaf[row]], gh[row - beg]);
    if (coarse) add_coarse(gh32, gh16, row, &sums[leaf[row]]);
  }
}

static void walk_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const uint32_t beg = (uint32_t)task * CPU_TASK_ROWS, end = cpu_task_end(beg, (uint32_t)be->n_rows);
  uint32_t in = cpu_rows_below(be->rows.order, 0, be->rows.n_in, beg);
  if (!be->walk.led) assign_leaves(be, beg, end);
  for (uint32_t r = beg; r < end; r += CPU_BLOCK)
    sum_block(be, r, end - r < CPU_BLOCK ? end : r + CPU_BLOCK, &in, be->scratch.of[thread].gh,
              be->walk.sum + (size_t)thread * be->fr.n_nodes);
}

/* Sums of all threads and ranks in those of the first thread. */
static gbt_status merge_sums(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  enum { FIELDS = sizeof(cpu_walk_sum) / sizeof(int64_t) };
  cpu_walk_sum *sum = be->walk.sum;
  const size_t n = be->fr.n_nodes;
  for (size_t t = 1; t < (size_t)ctx->n_threads; t++)
    for (size_t i = 0; i < n; i++) {
      const cpu_walk_sum *s = &sum[t * n + i];
      sum[i].g += s->g;
      sum[i].h += s->h;
      sum[i].coarse_g += s->coarse_g;
      sum[i].coarse_h += s->coarse_h;
      sum[i].n += s->n;
    }
  const gbt_comm_part sums = {sum, FIELDS * n, GBT_COMM_I64};
  GBT_TRY(gbt_comm_sum_parts(ctx, &sums, 1, err));
  for (size_t i = n; i-- > 1;) { /* children are numbered above their parents */
    cpu_walk_sum *above = &sum[be->fr.node[i].parent];
    above->g += sum[i].g;
    above->h += sum[i].h;
    above->coarse_g += sum[i].coarse_g;
    above->coarse_h += sum[i].coarse_h;
    above->n += sum[i].n;
  }
  return GBT_OK;
}

gbt_status cpu_walk_tree(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  const size_t n = fr->n_nodes, n_threads = (size_t)ctx->n_threads;
  if (!be->walk.led) GBT_TRY(make_tree(ctx, be, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->walk.sum, &be->walk.cap_sum, n_threads * n, sizeof *be->walk.sum, err));
  memset(be->walk.sum, 0, n_threads * n * sizeof *be->walk.sum);
  GBT_TRY(cpu_parallel(ctx, cpu_n_tasks(be->n_rows), (1.0 + be->walk.depth) * (double)be->n_rows, walk_task, be, err));
  be->walk.led = 1;
  GBT_TRY(merge_sums(ctx, be, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.fine, &be->leaf.cap_fine, n, sizeof *be->leaf.fine, err));
  for (size_t i = 0; i < n; i++) {
    const cpu_walk_sum *s = &be->walk.sum[i];
    gbt_grow_node *node = &fr->node[i];
    be->leaf.fine[i] = (gbt_sum){s->g, s->h};
    if (wants_coarse(be) && i > 0) node->sum = (gbt_sum){s->coarse_g, s->coarse_h};
    gbt_grow_put_rows(node, s->n);
    if (node->left > 0) node->bulk_left = be->walk.sum[node->left].n >= be->walk.sum[node->left + 1].n;
  }
  return GBT_OK;
}
