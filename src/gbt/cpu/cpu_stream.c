/* A step of growth in one pass over pages that are not all in memory: splitting nodes and building the histograms of
 * their children both need the codes of the same rows.
 *
 *   in memory    partition (columns of codes), count, histogram of the child with fewer rows, the other by subtraction
 *   in a pass    run by run of pages: rows of a node to two sides, then those of one side to a histogram at once
 *
 * Which child is built must be known before its rows are counted: it is the one with less hessian. Sums are whole
 * numbers, so that changes no result. A run of pages is read, split and added up by one thread, while its codes are in
 * a cache; it is longer where nodes are many, as a node's accumulators are cleared and merged once a run.
 *
 *   order    node a: r r r r | r r r r |     node b ...         | between runs
 *   spare            s s - - | s - - -                          rows of the side that is built forward, others backward
 *
 * When all runs are done the counts are known, and both sides go to their places in `order`. */
#include "cpu.h"

#include <string.h>

#include "../base/comm.h"

enum {
  RUN_ROWS = 65536, /* of a run at least, as far as pages go */
  NODE_ROWS = 8192, /* of a run for every node */
  RUNS_A_THREAD = 4 /* at least, so that all threads are done at about the same time */
};

void cpu_stream_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->stream.item);
  gbt_mem_free(&be->mem, be->stream.part);
}

/* ---- passes ---- */

/* Pages of a run, where a task has work for so many nodes. */
static int32_t run_for(const gbt_ctx *ctx, const cpu_backend *be, size_t n_nodes) {
  const gbt_page_store *pages = be->view.pages;
  const int64_t share = gbt_pages_n_pages(pages) / RUNS_A_THREAD;
  int64_t rows = (int64_t)n_nodes * NODE_ROWS, run, most = share / ctx->n_threads;
  if (most > gbt_pages_most_run(pages, ctx->n_threads)) most = gbt_pages_most_run(pages, ctx->n_threads);
  if (rows < RUN_ROWS) rows = RUN_ROWS;
  run = rows / gbt_pages_page_rows(pages);
  if (run > most) run = most;
  return run > 1 ? (int32_t)run : 1;
}

static size_t n_runs_of(const cpu_backend *be, int32_t run) {
  return be->n_rows > 0 ? (size_t)gbt_pages_n_runs(be->view.pages, run) : 0;
}

/* gbt_pages_each over the pages that the tree grows on. */
static gbt_status each_run(gbt_ctx *ctx, cpu_backend *be, int32_t run, gbt_pages_task fn, void *arg, gbt_error *err) {
  return be->n_rows > 0 ? gbt_pages_each(ctx, be->view.pages, run, fn, arg, err) : GBT_OK;
}

/* ---- plan ---- */

/* Whether a child of the node may be split, as far as that is known before its rows are counted. */
static int children_may_split(const cpu_backend *be, const gbt_grow_node *node) {
  const gbt_grow_policy *policy = &be->fr.policy;
  const int64_t added = gbt_policy_one_leaf(policy->kind) ? 1 : (int64_t)be->fr.n_chosen;
  gbt_grow_node child = gbt_grow_empty(0, node->depth + 1);
  const int64_t left_h = node->split.left.h, right_h = node->sum.h - left_h;
  gbt_grow_put_rows(&child, gbt_grow_rows(node));
  child.sum.h = left_h > right_h ? left_h : right_h;
  return gbt_grow_could_split(policy, &child, be->fr.n_leaves + added);
}

/* The node's histogram is taken from it, so that it is not given to another one in the meantime. */
static gbt_status plan_item(gbt_ctx *ctx, cpu_backend *be, cpu_stream_item *item, gbt_error *err) {
  cpu_hist_plan *plan = &be->hist;
  gbt_grow_node *node = &be->fr.node[item->node];
  int32_t hist;
  if (node->hist < 0 || !children_may_split(be, node)) return GBT_OK;
  item->right_first = node->sum.h - node->split.left.h < node->split.left.h;
  item->hist = node->hist;
  node->hist = -1;
  GBT_TRY(cpu_hist_reserve(ctx, be, &hist, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &plan->build, &plan->cap_build, plan->n_build + 1, sizeof *plan->build, err));
  item->build = (int32_t)plan->n_build;
  plan->build[plan->n_build++] = (cpu_build){.node = -1, .hist = hist, .from = item->hist, .wanted = 1};
  return GBT_OK;
}

static gbt_status plan(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_stream *s = &be->stream;
  s->n_items = be->fr.n_chosen;
  be->hist.n_build = be->hist.n_subtract = 0;
  GBT_TRY(gbt_mem_grow(&be->mem, &s->item, &s->cap_item, s->n_items, sizeof *s->item, err));
  for (size_t i = 0; i < s->n_items; i++)
    s->item[i] = (cpu_stream_item){.node = be->fr.chosen[i], .build = -1, .hist = -1};
  for (size_t i = 0; i < s->n_items; i++) GBT_TRY(plan_item(ctx, be, &s->item[i], err));
  s->n_built = be->hist.n_build;
  return s->n_built > 0 ? cpu_hist_start(ctx, be, err) : GBT_OK;
}

/* ---- the pass ---- */

static void split_task(void *arg, const gbt_page_span *pages, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_span span = cpu_span_of(be, pages);
  cpu_stream_part *parts = be->stream.part + (size_t)task * be->stream.n_items;
  for (size_t i = 0; i < be->stream.n_items; i++) {
    const cpu_stream_item *item = &be->stream.item[i];
    const gbt_grow_node *node = &be->fr.node[item->node];
    cpu_stream_part part = {.beg = node->order_beg, .end = node->order_beg + node->own_rows};
    cpu_span_rows(&span, &part.beg, &part.end);
    part.n_first = cpu_split_to_sides(&span, i, part.beg, part.end, item->right_first);
    if (item->build >= 0) cpu_hist_add(&span, item->build, be->rows.spare + part.beg, part.n_first, thread);
    parts[i] = part;
  }
}

/* All of them empty. */
static gbt_status make_parts(cpu_backend *be, size_t n_runs, gbt_error *err) {
  cpu_stream *s = &be->stream;
  const size_t n = n_runs * s->n_items;
  if (n == 0) return GBT_OK; /* a rank without rows */
  GBT_TRY(gbt_mem_grow(&be->mem, &s->part, &s->cap_part, n, sizeof *s->part, err));
  memset(s->part, 0, n * sizeof *s->part);
  return GBT_OK;
}

static gbt_status stream_split(gbt_ctx *ctx, cpu_backend *be, int64_t *left, gbt_error *err) {
  cpu_stream *s = &be->stream;
  GBT_TRY(plan(ctx, be, err));
  const int32_t run = run_for(ctx, be, s->n_built);
  const size_t n_runs = s->n_runs = n_runs_of(be, run);
  GBT_TRY(make_parts(be, n_runs, err));
  GBT_TRY(each_run(ctx, be, run, split_task, be, err));
  cpu_hist_fill(be, 0);
  memset(left, 0, s->n_items * sizeof *left);
  for (size_t r = 0; r < n_runs; r++)
    for (size_t i = 0; i < s->n_items; i++) {
      cpu_stream_part *part = &s->part[r * s->n_items + i];
      const uint32_t n = part->end - part->beg;
      part->left_before = (uint32_t)left[i];
      left[i] += s->item[i].right_first ? n - part->n_first : part->n_first;
    }
  return GBT_OK;
}

/* ---- after it ---- */

static void place_task(void *arg, int64_t task, int thread) {
  const cpu_backend *be = arg;
  const cpu_stream *s = &be->stream;
  (void)thread;
  for (size_t i = 0; i < s->n_items; i++) {
    const cpu_stream_part *part = &s->part[(size_t)task * s->n_items + i];
    const gbt_grow_node *node = &be->fr.node[s->item[i].node], *right = &be->fr.node[node->ahead + 1];
    uint32_t *to_left = be->rows.order + node->order_beg + part->left_before;
    uint32_t *to_right = be->rows.order + right->order_beg + (part->beg - node->order_beg - part->left_before);
    uint32_t *first = s->item[i].right_first ? to_right : to_left, *other = s->item[i].right_first ? to_left : to_right;
    if (part->beg == part->end) continue;
    memcpy(first, be->rows.spare + part->beg, (size_t)part->n_first * sizeof *first);
    for (const uint32_t *from = be->rows.spare + part->end; from > be->rows.spare + part->beg + part->n_first;)
      *other++ = *--from;
  }
}

/* The children's histograms: one is built, the other one is what is left of the parent's. */
static gbt_status give_hists(cpu_backend *be, const cpu_stream_item *item, gbt_error *err) {
  cpu_hist_plan *plan = &be->hist;
  const int32_t left = be->fr.node[item->node].ahead, small = left + (int32_t)item->right_first;
  const int32_t large = left + !item->right_first;
  cpu_build *build = &plan->build[item->build];
  build->node = small;
  build->wanted = be->fr.node[small].splittable;
  be->fr.node[small].hist = build->hist;
  be->fr.node[large].hist = item->hist;
  if (be->fr.node[large].splittable) {
    GBT_TRY(gbt_mem_grow(&be->mem, &plan->subtract, &plan->cap_subtract, plan->n_subtract + 1, sizeof *plan->subtract,
                         err));
    plan->subtract[plan->n_subtract++] = (cpu_subtract){item->hist, build->hist, item->build};
    return GBT_OK;
  }
  build->from = -1;
  cpu_hist_release(be, large);
  if (!build->wanted) cpu_hist_release(be, small);
  return GBT_OK;
}

static gbt_status stream_settle(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const cpu_stream *s = &be->stream;
  double rows = 0.0;
  for (size_t i = 0; i < s->n_items; i++) rows += be->fr.node[s->item[i].node].own_rows;
  GBT_TRY(cpu_parallel(ctx, (int64_t)s->n_runs, 1.0 * rows, place_task, be, err));
  for (size_t i = 0; i < s->n_items; i++)
    if (s->item[i].build >= 0) GBT_TRY(give_hists(be, &s->item[i], err));
  return GBT_OK;
}

/* ---- passes that only build histograms ---- */

typedef struct build_pass {
  cpu_backend *be;
  size_t first;
} build_pass;

static void build_task(void *arg, const gbt_page_span *pages, int64_t task, int thread) {
  const build_pass *pass = arg;
  cpu_backend *be = pass->be;
  const cpu_span span = cpu_span_of(be, pages);
  (void)task;
  for (size_t b = pass->first; b < be->hist.n_build; b++) {
    const gbt_grow_node *node = &be->fr.node[be->hist.build[b].node];
    uint32_t beg = node->order_beg, end = beg + node->own_rows;
    cpu_span_rows(&span, &beg, &end);
    cpu_hist_add(&span, (int32_t)b, be->rows.order + beg, end - beg, thread);
  }
}

static gbt_status stream_build(gbt_ctx *ctx, cpu_backend *be, size_t first, gbt_error *err) {
  build_pass pass = {be, first};
  GBT_TRY(each_run(ctx, be, run_for(ctx, be, be->hist.n_build - first), build_task, &pass, err));
  cpu_hist_fill(be, first);
  return GBT_OK;
}

/* ---- opening ---- */

static const cpu_stream_ops stream_ops = {stream_split, stream_settle, stream_build};

gbt_status cpu_stream_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  int64_t n_away = !gbt_pages_stay(be->data[0]->pages);
  GBT_TRY(gbt_comm_sum_i64(ctx, &n_away, 1, err));
  if (n_away > 0 && be->layout->n_sparse == 0 && be->layout->n_groups > 0) be->stream.ops = &stream_ops;
  return GBT_OK;
}
