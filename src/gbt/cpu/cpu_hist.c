/* Histograms of the fresh nodes.
 *
 * The fresh nodes come in pairs of siblings. The one with fewer rows is built from its rows; the other one is the
 * parent minus it, made in the parent's memory:
 *
 *      parent's histogram  --(minus small)-->  large's         small: one of its own
 *
 * Work is cut into units (node, strip, rows): a unit adds its rows into the thread's accumulators and then moves them
 * into the node's histogram; under a lock when other units write there too. It takes its rows block by block and each
 * block group by group: a group's accumulators stay in L1 for a block, and a block's rows, of which only the first
 * group meets a cold cache line, in L2. Everything is integer addition, so the result does not depend on the cut or the
 * order.
 *
 * Several ranks: every rank builds the same nodes from its own rows, and the sums are added up before anything is
 * subtracted (cpu_ranks.c). */
#include "cpu.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "../base/order.h"
#include "cpu_hist_kernels.h"

/* ---- life ---- */

gbt_status cpu_hist_open(cpu_backend *be, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  cpu_hist_plan *plan = &be->hist;
  for (int i = 0; i < CPU_HIST_LOCKS; i++) {
    if (!gbt_lock_init(&plan->lock[i])) return gbt_fail(err, GBT_E_MEM, "the system cannot create a mutex");
    plan->n_locks = i + 1;
  }
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)layout->n_groups + 1, 1, &plan->group_counts, err));
  for (int32_t f = 0; f < be->n_features; f++) {
    int32_t group = layout->place[f].group;
    if (be->split.plan[f].counts) plan->group_counts[group < 0 ? layout->n_groups : group] = 1;
  }
  plan->acc_slots = 1;
  for (int32_t g = 0; g < layout->n_groups; g++)
    if (layout->group[g].wide && layout->group[g].n_slots > plan->acc_slots) plan->acc_slots = layout->group[g].n_slots;
  for (int32_t s = 0; s < layout->n_strips; s++) {
    uint32_t n = (uint32_t)(layout->strip_beg[s + 1] - layout->strip_beg[s]) * CPU_GROUP_ACC;
    if (n > plan->acc_slots) plan->acc_slots = n;
  }
  return GBT_OK;
}

void cpu_hist_close(cpu_backend *be) {
  cpu_hist_plan *plan = &be->hist;
  void *blocks[] = {plan->build, plan->subtract, plan->unit, plan->group_counts, plan->started};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
  while (plan->n_locks > 0) gbt_lock_destroy(&plan->lock[--plan->n_locks]);
}

/* ---- plan: who is built, who is subtracted ---- */

/* Builds the node, which has a histogram, from its rows. */
static gbt_status plan_build(cpu_backend *be, int32_t id, gbt_error *err) {
  cpu_hist_plan *plan = &be->hist;
  GBT_TRY(gbt_mem_grow(&be->mem, &plan->build, &plan->cap_build, plan->n_build + 1, sizeof *plan->build, err));
  plan->build[plan->n_build++] = (cpu_build){.node = id, .hist = be->fr.node[id].hist, .from = -1, .wanted = 1};
  return GBT_OK;
}

static gbt_status plan_fresh(gbt_ctx *ctx, cpu_backend *be, int32_t id, gbt_error *err) {
  if (!be->fr.node[id].splittable) return GBT_OK;
  GBT_TRY(cpu_hist_take(ctx, be, id, err));
  return plan_build(be, id, err);
}

static gbt_status plan_pair(gbt_ctx *ctx, cpu_backend *be, int32_t left, gbt_error *err) {
  cpu_hist_plan *plan = &be->hist;
  const gbt_grow_node *node = be->fr.node, *l = &node[left], *r = l + 1;
  const int by_hessian = be->view.stream || be->ranks.n_waiting > 0; /* rows are not known yet */
  const int left_small = by_hessian ? l->sum.h <= r->sum.h : gbt_grow_rows(l) <= gbt_grow_rows(r); /* all ranks */
  int32_t small = left_small ? left : left + 1, large = small == left ? left + 1 : left;
  GBT_ASSERT(l->parent >= 0 && l->parent == r->parent);
  GBT_ASSERT(by_hessian || gbt_grow_rows(l) + gbt_grow_rows(r) == gbt_grow_rows(&node[l->parent]));
  if (cpu_hist_skipped(be, l->parent)) {
    cpu_hist_release(be, l->parent);
    return GBT_OK;
  }
  if (node[l->parent].hist < 0 || !node[large].splittable) {
    cpu_hist_release(be, l->parent);
    GBT_TRY(plan_fresh(ctx, be, left, err));
    return plan_fresh(ctx, be, left + 1, err);
  }
  /* first of all: a parent that was chosen ahead is open, its histogram might be taken now */
  cpu_hist_inherit(be, l->parent, large);
  /* only symmetric growth makes empty children: by nodes a split with an empty side gains exactly 0 in every tree */
  if (gbt_grow_rows(&node[small]) == 0) return GBT_OK;
  GBT_TRY(cpu_hist_take(ctx, be, small, err));
  GBT_TRY(plan_build(be, small, err));
  GBT_TRY(
      gbt_mem_grow(&be->mem, &plan->subtract, &plan->cap_subtract, plan->n_subtract + 1, sizeof *plan->subtract, err));
  cpu_build *build = &plan->build[plan->n_build - 1];
  build->from = node[large].hist;
  build->wanted = node[small].splittable;
  plan->subtract[plan->n_subtract++] = (cpu_subtract){build->from, build->hist, (int32_t)plan->n_build - 1};
  return GBT_OK;
}

gbt_status cpu_hist_start(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  size_t cells = be->hist.n_build * (size_t)(be->layout->n_groups + 1);
  GBT_TRY(gbt_mem_grow(&be->mem, &be->hist.started, &be->hist.cap_started, cells, 1, err));
  memset(be->hist.started, 0, cells);
  if (be->layout->n_sparse > 0) cpu_hist_start_sparse(ctx, be);
  return GBT_OK;
}

/* Units for the rows of the span. */
static gbt_status plan_units(gbt_ctx *ctx, const cpu_span *span, gbt_error *err) {
  cpu_backend *be = span->be;
  const int32_t n_strips = be->layout->n_strips;
  be->hist.n_unit = 0;
  for (size_t b = 0; b < be->hist.n_build; b++) {
    const gbt_grow_node *node = &be->fr.node[be->hist.build[b].node];
    uint32_t first = node->order_beg, last = first + node->own_rows;
    cpu_span_rows(span, &first, &last);
    uint32_t n = last - first, n_chunks = (n + CPU_HIST_ROWS - 1) / CPU_HIST_ROWS;
    if (node->own_rows == 0 && span->pages->row_beg == 0) n_chunks = 1; /* zeros */
    size_t need = be->hist.n_unit + (size_t)n_chunks * (size_t)n_strips;
    GBT_TRY(gbt_mem_grow(&be->mem, &be->hist.unit, &be->hist.cap_unit, need, sizeof *be->hist.unit, err));
    for (uint32_t c = 0; c < n_chunks; c++) {
      uint32_t beg = first + (uint32_t)((uint64_t)n * c / n_chunks);
      uint32_t end = first + (uint32_t)((uint64_t)n * (c + 1) / n_chunks);
      for (int32_t k = 0; k < n_strips; k++)
        be->hist.unit[be->hist.n_unit++] = (cpu_unit){(int32_t)b, k, beg, end, n_chunks > 1 || n < node->own_rows};
    }
  }
  return be->layout->n_sparse > 0 ? cpu_hist_plan_sparse(ctx, span, err) : GBT_OK;
}

/* ---- units ---- */

/* Where a group's sums go. */
typedef struct group_place {
  int32_t number;
  const gbt_group *group;
  gbt_sum *sum;    /* in the node's histogram */
  uint32_t *count; /* NULL when rows are not counted */
  gbt_sum *acc;    /* in the thread's scratch */
  uint32_t *acc_count;
  int wide;    /* 32-bit gradients */
  int strided; /* accumulators at CPU_STRIDE, see cpu_hist_kernels.h */
} group_place;

typedef struct strip_places {
  int32_t n;
  int wide;
  group_place at[GBT_STRIP_MAX];
} strip_places;

/* The k-th accumulators of a thread for a group, and where they go: hist, NULL where they stay. */
static group_place place_of(const cpu_backend *be, int32_t group, const cpu_hist *hist, const cpu_scratch *scratch,
                            int32_t k) {
  const int wide = be->view.wide, counts = be->hist.group_counts[group];
  group_place at = {.number = group, .group = &be->layout->group[group], .wide = wide};
  at.strided = cpu_hist_strided(at.group, wide);
  at.acc = scratch->acc + (size_t)k * CPU_GROUP_ACC;
  at.acc_count = counts ? scratch->count + (size_t)k * CPU_GROUP_ACC : NULL;
  at.sum = hist ? hist->sum + at.group->slot_beg : at.acc;
  at.count = !counts ? NULL : hist ? hist->count + at.group->slot_beg : at.acc_count;
  return at;
}

static strip_places places_of(const cpu_backend *be, const cpu_unit *unit, const cpu_scratch *scratch) {
  const gbt_layout *layout = be->layout;
  GBT_ASSERT((size_t)unit->build < be->hist.n_build && unit->strip < layout->n_strips);
  GBT_ASSERT((size_t)be->hist.build[unit->build].hist < be->pool.n);
  const cpu_hist *hist = &be->pool.hist[be->hist.build[unit->build].hist];
  int32_t first = layout->strip_beg[unit->strip];
  strip_places p = {.n = layout->strip_beg[unit->strip + 1] - first, .wide = be->view.wide};
  for (int32_t k = 0; k < p.n; k++) {
    p.at[k] = place_of(be, first + k, hist, scratch, k);
    if (unit->shared || !p.wide) continue;
    p.at[k].acc = p.at[k].sum; /* wide sums of a single thread are added directly into the histogram */
    p.at[k].acc_count = p.at[k].count;
  }
  return p;
}

/* The gradients of rows that are not neighbours, one after the other. */
static const void *gather_gradients(const void *gh, int wide, const uint32_t *rows, uint32_t n, cpu_scratch *scratch) {
  const gbt_gh32 *gh32 = gh;
  const gbt_gh16 *gh16 = gh;
  gbt_gh16 *to16 = (gbt_gh16 *)(void *)scratch->gh;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t ahead = rows[i + CPU_PREFETCH < n ? i + CPU_PREFETCH : n - 1];
    if (wide) {
      __builtin_prefetch(&gh32[ahead]);
      scratch->gh[i] = gh32[rows[i]];
    } else {
      __builtin_prefetch(&gh16[ahead]);
      to16[i] = gh16[rows[i]];
    }
  }
  return scratch->gh;
}

/* n rows, all in one page. */
static void add_block(const cpu_backend *be, const strip_places *p, const gbt_page *page, const uint32_t *rows,
                      uint32_t n, cpu_scratch *scratch) {
  const char *gh = cpu_view_gradients(&be->view);
  const uint32_t first = cpu_page_row(&be->view, rows[0]), last = cpu_page_row(&be->view, rows[n - 1]);
  int neighbours = rows[n - 1] - rows[0] == n - 1;
  GBT_ASSERT(gbt_ascend_u32(rows, n) && (int64_t)first >= page->row_beg);
  GBT_ASSERT((int64_t)last < page->row_beg + page->n_rows);
  cpu_hist_job job = {.row_beg = page->row_beg, .first = first, .n = n};
  if (last - first != n - 1) job.rows = cpu_page_rows(&be->view, rows, n, scratch->page_row);
  job.gh = neighbours ? gh + rows[0] * (p->wide ? sizeof(gbt_gh32) : sizeof(gbt_gh16))
                      : gather_gradients(gh, p->wide, rows, n, scratch);
  for (int32_t k = 0; k < p->n; k++) {
    const group_place *at = &p->at[k];
    job.codes = page->group[at->number];
    job.offset = at->group->offset;
    job.n_feats = at->group->n_feats;
    job.stride = at->group->stride;
    job.acc = at->acc;
    job.count = at->acc_count;
    cpu_hist_run(&job, at->group->wide, p->wide, at->count != NULL);
  }
}

/* rows[beg .. end) of the span. */
static void add_dense(const cpu_span *span, const uint32_t *rows, uint32_t beg, uint32_t end, const strip_places *p,
                      cpu_scratch *scratch) {
  for (uint32_t i = beg, stop; i < end;) {
    const gbt_page *page = cpu_span_page(span, rows, i, end, &stop);
    for (uint32_t n; i < stop; i += n) {
      n = stop - i < CPU_HIST_BLOCK ? stop - i : CPU_HIST_BLOCK;
      add_block(span->be, p, page, rows + i, n, scratch);
    }
  }
}

/* ---- from the accumulators to the node's histogram ---- */

static void merge_packed(const int64_t *acc, gbt_sum *sum, uint32_t n, int add) {
  for (uint32_t i = 0; i < n; i++) {
    gbt_sum v = cpu_unpack(acc[i]);
    sum[i].g = add ? sum[i].g + v.g : v.g;
    sum[i].h = add ? sum[i].h + v.h : v.h;
  }
}

static void merge_wide(const gbt_sum *acc, gbt_sum *sum, uint32_t n, int add) {
  for (uint32_t i = 0; i < n; i++) {
    sum[i].g = add ? sum[i].g + acc[i].g : acc[i].g;
    sum[i].h = add ? sum[i].h + acc[i].h : acc[i].h;
  }
}

static void merge_counts(const uint32_t *acc, uint32_t *count, uint32_t n, int add) {
  for (uint32_t i = 0; i < n; i++) count[i] = add ? count[i] + acc[i] : acc[i];
}

static void clear_place(const group_place *p) {
  int64_t *packed = (int64_t *)(void *)p->acc;
  uint32_t n = p->group->n_slots;
  if (!p->strided) {
    memset(p->acc, 0, n * (p->wide ? sizeof *p->acc : sizeof *packed));
    if (p->count) memset(p->acc_count, 0, n * sizeof *p->count);
    return;
  }
  for (int32_t k = 0; k < p->group->n_feats; k++) {
    size_t n_codes = p->group->n_codes[k], at = (size_t)k * CPU_STRIDE;
    memset(packed + at, 0, n_codes * sizeof *packed);
    if (p->count) memset(p->acc_count + at, 0, n_codes * sizeof *p->count);
  }
}

static void merge_place(const group_place *p, int add) {
  const int64_t *packed = (const int64_t *)(const void *)p->acc;
  uint32_t n = p->group->n_slots;
  if (p->strided) {
    for (int32_t k = 0; k < p->group->n_feats; k++) {
      uint32_t n_codes = p->group->n_codes[k], to = p->group->offset[k];
      size_t at = (size_t)k * CPU_STRIDE;
      merge_packed(packed + at, p->sum + to, n_codes, add);
      if (p->count) merge_counts(p->acc_count + at, p->count + to, n_codes, add);
    }
    return;
  }
  if (!p->wide)
    merge_packed(packed, p->sum, n, add);
  else
    merge_wide(p->acc, p->sum, n, add);
  if (p->count) merge_counts(p->acc_count, p->count, n, add);
}

/* A unit of dense features, whose rows are in `order`. */
static void run_unit(const cpu_span *span, const cpu_unit *unit, const uint32_t *order, cpu_scratch *scratch) {
  cpu_backend *be = span->be;
  strip_places p = places_of(be, unit, scratch);
  for (int32_t k = 0; k < p.n; k++) clear_place(&p.at[k]);
  add_dense(span, order, unit->beg, unit->end, &p, scratch);
  for (int32_t k = 0; k < p.n; k++) {
    const group_place *at = &p.at[k];
    if (at->acc == at->sum) continue;
    size_t cell = (size_t)unit->build * (size_t)(be->layout->n_groups + 1) + (size_t)at->number;
    gbt_lock *lock = unit->shared ? &be->hist.lock[cell % CPU_HIST_LOCKS] : NULL;
    if (lock) gbt_lock_take(lock);
    int add = be->hist.started[cell];
    be->hist.started[cell] = 1;
    merge_place(at, add);
    if (lock) gbt_lock_give(lock);
  }
}

static void unit_task(void *arg, int64_t task, int thread) {
  const cpu_span *span = arg;
  const cpu_backend *be = span->be;
  const cpu_unit *unit = &be->hist.unit[task];
  if (unit->strip >= be->layout->n_strips)
    cpu_hist_sparse_unit(span, unit, &be->scratch.of[thread]);
  else
    run_unit(span, unit, be->rows.order, &be->scratch.of[thread]);
}

void cpu_hist_add(const cpu_span *span, int32_t build, const uint32_t *rows, uint32_t n, int thread) {
  const cpu_backend *be = span->be;
  if (n == 0) return;
  for (int32_t k = 0; k < be->layout->n_strips; k++) {
    const cpu_unit unit = {.build = build, .strip = k, .beg = 0, .end = n, .shared = 1};
    run_unit(span, &unit, rows, &be->scratch.of[thread]);
  }
}

void cpu_hist_group(const cpu_span *span, const gbt_grow_node *node, int32_t group, cpu_scratch *scratch) {
  const cpu_backend *be = span->be;
  const uint32_t beg = node->order_beg, end = beg + node->own_rows;
  strip_places p = {.n = 1, .wide = be->view.wide};
  GBT_ASSERT(node->own_rows <= CPU_HIST_ROWS);
  p.at[0] = place_of(be, group, NULL, scratch, 0);
  clear_place(&p.at[0]);
  add_dense(span, be->rows.order, beg, end, &p, scratch);
}

void cpu_hist_fill(cpu_backend *be, size_t first) {
  const gbt_layout *layout = be->layout;
  for (size_t b = first; b < be->hist.n_build; b++) {
    const cpu_hist *hist = &be->pool.hist[be->hist.build[b].hist];
    for (int32_t g = 0; g < layout->n_groups; g++) {
      const gbt_group *group = &layout->group[g];
      if (be->hist.started[b * ((size_t)layout->n_groups + 1) + (size_t)g]) continue;
      memset(hist->sum + group->slot_beg, 0, group->n_slots * sizeof *hist->sum);
      if (hist->count) memset(hist->count + group->slot_beg, 0, group->n_slots * sizeof *hist->count);
    }
  }
}

/* ---- subtraction ---- */

#define SUBTRACT_SLOTS 16384u

typedef struct subtract_job {
  cpu_backend *be;
  uint32_t n_pieces;
} subtract_job;

static void subtract_task(void *arg, int64_t task, int thread) {
  const subtract_job *job = arg;
  cpu_backend *be = job->be;
  const cpu_subtract *s = &be->hist.subtract[task / job->n_pieces];
  const uint32_t last = cpu_ranks_slot_end(be);
  uint32_t beg = cpu_ranks_slot_beg(be) + (uint32_t)(task % job->n_pieces) * SUBTRACT_SLOTS;
  uint32_t end = last - beg < SUBTRACT_SLOTS ? last : beg + SUBTRACT_SLOTS;
  (void)thread;
  if (be->hist.build[s->build].at_once && end > be->layout->sparse_slot)
    end = beg > be->layout->sparse_slot ? beg : be->layout->sparse_slot;
  uint32_t dense_end = end < be->layout->sparse_slot ? end : be->layout->sparse_slot;
  gbt_sum *from = be->pool.hist[s->from].sum;
  const gbt_sum *what = be->pool.hist[s->what].sum;
  GBT_ASSERT(s->from != s->what && (size_t)s->from < be->pool.n && (size_t)s->what < be->pool.n);
  for (uint32_t i = beg; i < dense_end; i++) {
    from[i].g -= what[i].g;
    from[i].h -= what[i].h;
    GBT_ASSERT(from[i].h >= 0);
  }
  if (dense_end < end) cpu_hist_sparse_subtract(be, s, beg > dense_end ? beg : dense_end, end);
  if (!be->pool.any_counts) return;
  uint32_t *count = be->pool.hist[s->from].count;
  const uint32_t *less = be->pool.hist[s->what].count;
  for (uint32_t i = beg; i < end; i++) {
    GBT_ASSERT(count[i] >= less[i]);
    count[i] -= less[i];
  }
}

static gbt_status subtract_all(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const uint32_t n_slots = cpu_ranks_slot_end(be) - cpu_ranks_slot_beg(be);
  subtract_job job = {be, (n_slots + SUBTRACT_SLOTS - 1) / SUBTRACT_SLOTS};
  double ns = 1.0 * (double)be->hist.n_subtract * n_slots;
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->hist.n_subtract * job.n_pieces, ns, subtract_task, &job, err));
  for (size_t i = 0; i < be->hist.n_subtract; i++) {
    const cpu_build *build = &be->hist.build[be->hist.subtract[i].build];
    if (!build->wanted) cpu_hist_release(be, build->node);
  }
  return GBT_OK;
}

/* About what building takes: half a nanosecond per row and feature, one per slot. */
static double build_ns(const cpu_backend *be) {
  double rows = 0.0;
  for (size_t b = 0; b < be->hist.n_build; b++) rows += be->fr.node[be->hist.build[b].node].own_rows;
  return 0.5 * rows * be->n_features + 1.0 * (double)be->hist.n_build * be->layout->n_slots;
}

/* See gbt_pages_fn. */
static gbt_status build_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  cpu_backend *be = arg;
  cpu_span span = cpu_span_of(be, pages);
  GBT_TRY(plan_units(ctx, &span, err));
  return cpu_parallel(ctx, (int64_t)be->hist.n_unit, build_ns(be) * cpu_span_share(&span), unit_task, &span, err);
}

/* Builds of the plan from `first` on: the ones before are done. */
static gbt_status run_builds(gbt_ctx *ctx, cpu_backend *be, size_t first, gbt_error *err) {
  if (first == be->hist.n_build) return GBT_OK;
  GBT_TRY(cpu_hist_start(ctx, be, err));
  return be->view.stream ? be->view.stream->build(ctx, be, first, err) : cpu_train_pass(ctx, be, build_span, be, err);
}

gbt_status cpu_build_hist(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  const size_t done = be->stream.n_built; /* by partition */
  if (done == 0) be->hist.n_build = be->hist.n_subtract = 0;
  if (be->fr.n_fresh == 1)
    GBT_TRY(plan_fresh(ctx, be, be->fr.fresh[0], err));
  else
    for (size_t i = 0; i < be->fr.n_fresh; i += 2)
      if (!cpu_stream_has_built(&be->stream, i / 2)) GBT_TRY(plan_pair(ctx, be, be->fr.fresh[i], err));
  be->stream.n_built = be->stream.n_items = 0;
  GBT_TRY(run_builds(ctx, be, done, err));
  const int ranks = !gbt_comm_is_single(ctx) && be->hist.n_build > 0;
  if (ranks) GBT_TRY(cpu_ranks_sum_hists(ctx, be, err));
  GBT_TRY(subtract_all(ctx, be, err));
  if (ranks) cpu_ranks_settle_rows(be);
  self->seconds[GBT_PHASE_HIST] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
