/* The sparse part of histograms.
 *
 *   all rows (the root)    column by column: a task takes some features, whose sums stay in the second-level cache, and
 *                          writes them straight to their place
 *   few rows               list by list, straight into the histogram; where that is less work than a pass over all
 *                          slots, what is added here is taken off the larger sibling at once
 *   many rows              list by list in several units, each into its thread's accumulators, merged under a lock
 *
 * Packed sums. Where no slot is met by more than 65,536 rows of the train set, g and h of a slot share 64 bits, as in
 * cpu_hist_kernels.h, in the accumulators and in the node's histogram: half of the memory and of the traffic.
 * Differences of such sums are the sums of the differences, for h of a part is never above h of the whole. */
#include <string.h>

#include "../base/comm.h"
#include "cpu.h"

#define UNITS_A_THREAD 4
#define UNIT_ENTRIES 4e6   /* at most about so many in a unit: some milliseconds */
#define UNIT_ROWS 4096     /* at least */
#define BLOCK_SLOTS 16384u /* of a block of features: 128 KB when packed */
#define LIST_AHEAD 16      /* rows ahead when prefetching a row's place, half of it for the list itself */
#define ENTRY_SLOTS 2.0    /* an entry costs as much as so many slots of a pass over all */

static uint32_t sparse_slots(const cpu_backend *be) { return be->layout->n_slots - be->layout->sparse_slot; }

static size_t sum_bytes(const cpu_backend *be) { return be->pool.packed ? sizeof(int64_t) : sizeof(gbt_sum); }

static double entries_a_row(const cpu_backend *be) {
  if (be->n_rows == 0) return 0.0; /* a rank without rows */
  size_t n_runs = (size_t)be->sparse.n_blocks * (size_t)be->layout->n_sparse;
  return (double)be->sparse.beg[n_runs] / (double)be->n_rows;
}

/* ---- plan ---- */

static gbt_status push_unit(cpu_backend *be, cpu_unit unit, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&be->mem, &be->hist.unit, &be->hist.cap_unit, be->hist.n_unit + 1, sizeof *be->hist.unit, err));
  be->hist.unit[be->hist.n_unit++] = unit;
  return GBT_OK;
}

/* Blocks of features: as many as keep all threads busy, or more. */
static gbt_status plan_columns(gbt_ctx *ctx, cpu_backend *be, size_t b, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  uint32_t n = (uint32_t)layout->n_sparse, most = 1 + n / (uint32_t)(UNITS_A_THREAD * ctx->n_threads);
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    uint32_t slots = 0;
    double entries = 0.0;
    for (end = beg; end < n && end - beg < most && slots < BLOCK_SLOTS && entries < UNIT_ENTRIES; end++) {
      slots += layout->place[layout->sparse_feat[end]].n_slots;
      entries += (double)be->cuts->feat[layout->sparse_feat[end]].n_filled;
    }
    GBT_TRY(push_unit(be, (cpu_unit){.build = (int32_t)b, .strip = layout->n_strips + 1, .beg = beg, .end = end}, err));
  }
  return GBT_OK;
}

void cpu_hist_start_sparse(gbt_ctx *ctx, cpu_backend *be) {
  double rows = 0.0, per_row = entries_a_row(be);
  for (size_t b = 0; b < be->hist.n_build; b++) rows += be->fr.node[be->hist.build[b].node].own_rows;
  double share = rows / (UNITS_A_THREAD * ctx->n_threads), most = UNIT_ENTRIES / (per_row + 1.0);
  if (share < CPU_HIST_ROWS) share = CPU_HIST_ROWS;
  if (share > most) share = most < UNIT_ROWS ? UNIT_ROWS : most;
  for (size_t b = 0; b < be->hist.n_build; b++) {
    cpu_build *build = &be->hist.build[b];
    const gbt_grow_node *node = &be->fr.node[build->node];
    if ((int64_t)node->own_rows == be->n_rows) continue; /* column by column */
    uint32_t n = (uint32_t)((double)node->own_rows / share);
    if (ctx->n_threads == 1 && node->own_rows * (per_row + 1.0) < UNIT_ENTRIES) n = 1; /* no need of accumulators */
    build->n_lists = n > 0 ? n : 1;
    if (!gbt_comm_is_single(ctx)) continue; /* what is taken off is known when the ranks have met */
    build->at_once = build->from >= 0 && n <= 1 && node->own_rows * per_row * ENTRY_SLOTS < sparse_slots(be);
  }
}

/* The node's units, or so many of them as the span has of its rows. */
static gbt_status plan_lists(const cpu_span *span, size_t b, gbt_error *err) {
  cpu_backend *be = span->be;
  const cpu_build *build = &be->hist.build[b];
  const gbt_grow_node *node = &be->fr.node[build->node];
  uint32_t first = node->order_beg, last = first + node->own_rows;
  cpu_span_rows(span, &first, &last);
  const uint64_t rows = last - first;
  uint32_t n = node->own_rows > 0 ? (uint32_t)(build->n_lists * rows / node->own_rows) : span->pages->row_beg == 0;
  if (n == 0 && rows > 0) n = 1;
  for (uint32_t c = 0; c < n; c++) {
    uint32_t beg = first + (uint32_t)(rows * c / n), end = first + (uint32_t)(rows * (c + 1) / n);
    GBT_TRY(push_unit(be, (cpu_unit){(int32_t)b, be->layout->n_strips, beg, end, n > 1}, err));
  }
  return GBT_OK;
}

gbt_status cpu_hist_plan_sparse(gbt_ctx *ctx, const cpu_span *span, gbt_error *err) {
  cpu_backend *be = span->be;
  for (size_t b = 0; b < be->hist.n_build; b++) {
    if (be->hist.build[b].n_lists > 0) GBT_TRY(plan_lists(span, b, err));
    else if (span->pages->row_beg == 0) GBT_TRY(plan_columns(ctx, be, b, err));
  }
  return GBT_OK;
}

/* ---- adding ---- */

typedef struct list_job { /* rows of one page, ascending */
  const gbt_page *page;
  const uint32_t *rows, *at; /* at: where pages have them */
  uint32_t n;
  uint32_t n_slots; /* of the sparse part */
  const void *gh;
  void *acc; /* packed: int64_t; else gbt_sum */
  uint32_t *count;
  int64_t sign;
} list_job;

GBT_FN void add_lists(const list_job *job, int packed, int wide, int counts) {
  const uint32_t *rows = job->rows, *at = job->at, row_beg = (uint32_t)job->page->row_beg;
  const uint32_t *list = job->page->sparse_beg, *slots = job->page->sparse_slots;
  const gbt_gh16 *gh16 = job->gh;
  const gbt_gh32 *gh32 = job->gh;
  int64_t *both = job->acc;
  gbt_sum *sum = job->acc;
  for (uint32_t i = 0; i < job->n; i++) {
    uint32_t row = rows[i], here = at[i] - row_beg, beg = list[here], end = list[here + 1];
    if (i + LIST_AHEAD < job->n) {
      uint32_t ahead = rows[i + LIST_AHEAD];
      __builtin_prefetch(&list[at[i + LIST_AHEAD] - row_beg]);
      __builtin_prefetch(wide ? (const char *)&gh32[ahead] : (const char *)&gh16[ahead]);
      __builtin_prefetch(&slots[list[at[i + LIST_AHEAD / 2] - row_beg]]);
    }
    int64_t g = job->sign * (wide ? gh32[row].g : gh16[row].g);
    int64_t h = job->sign * (int64_t)(wide ? gh32[row].h : gh16[row].h);
    for (uint32_t e = beg; e < end; e++) {
      uint32_t slot = slots[e];
      GBT_ASSERT(slot < job->n_slots);
      if (packed)
        both[slot] += g * 4294967296 + h;
      else
        sum[slot].g += g, sum[slot].h += h;
      if (counts) job->count[slot] += (uint32_t)job->sign;
    }
  }
}

GBT_FN void add_lists_counts(const list_job *job, int packed, int wide) {
  if (job->count)
    add_lists(job, packed, wide, 1);
  else
    add_lists(job, packed, wide, 0);
}

static void run_lists(const cpu_backend *be, const list_job *job) {
  if (be->pool.packed)
    add_lists_counts(job, 1, 0);
  else if (be->view.wide)
    add_lists_counts(job, 0, 1);
  else
    add_lists_counts(job, 0, 0);
}

static void add_rows(const cpu_span *span, const cpu_unit *unit, int sign, cpu_scratch *scratch, void *acc,
                     uint32_t *count) {
  const cpu_backend *be = span->be;
  list_job job = {.n_slots = sparse_slots(be),
                  .gh = cpu_view_gradients(&be->view),
                  .acc = acc,
                  .count = count,
                  .sign = sign};
  for (uint32_t i = unit->beg, stop; i < unit->end;) {
    job.page = cpu_span_page(span, be->rows.order, i, unit->end, &stop);
    for (; i < stop; i += job.n) {
      job.n = stop - i < CPU_HIST_BLOCK ? stop - i : CPU_HIST_BLOCK;
      job.rows = be->rows.order + i;
      job.at = cpu_page_rows(&be->view, job.rows, job.n, scratch->page_row);
      run_lists(be, &job);
    }
  }
}

typedef struct run_job { /* entries of one feature in one row block */
  const uint16_t *row;
  const void *slot;
  size_t n;
  const void *gh; /* of the block */
  void *acc;      /* of the feature */
  uint32_t *count;
} run_job;

GBT_FN void add_run(const run_job *job, int wide_slots, int packed, int wide, int counts) {
  const uint8_t *slot8 = job->slot;
  const uint16_t *slot16 = job->slot;
  int64_t *both = job->acc;
  gbt_sum *sum = job->acc;
  for (size_t e = 0; e < job->n; e++) {
    uint32_t slot = wide_slots ? slot16[e] : slot8[e];
    int64_t g = wide ? ((const gbt_gh32 *)job->gh)[job->row[e]].g : ((const gbt_gh16 *)job->gh)[job->row[e]].g;
    int64_t h = wide ? ((const gbt_gh32 *)job->gh)[job->row[e]].h : ((const gbt_gh16 *)job->gh)[job->row[e]].h;
    if (packed)
      both[slot] += g * 4294967296 + h;
    else
      sum[slot].g += g, sum[slot].h += h;
    if (counts) job->count[slot]++;
  }
}

GBT_FN void add_run_slots(const run_job *job, int wide_slots, int packed, int wide) {
  if (job->count)
    add_run(job, wide_slots, packed, wide, 1);
  else
    add_run(job, wide_slots, packed, wide, 0);
}

GBT_FN void add_run_sums(const run_job *job, int packed, int wide, int wide_slots) {
  if (wide_slots)
    add_run_slots(job, 1, packed, wide);
  else
    add_run_slots(job, 0, packed, wide);
}

/* All rows of features [beg, end). */
static void add_columns(const cpu_backend *be, const cpu_unit *unit, char *acc, uint32_t *count) {
  const gbt_layout *layout = be->layout;
  const cpu_sparse *col = &be->sparse;
  const int wide = be->view.wide;
  const size_t gh_bytes = wide ? sizeof(gbt_gh32) : sizeof(gbt_gh16), slot_bytes = col->wide ? 2 : 1;
  for (size_t block = 0; block < (size_t)col->n_blocks; block++)
    for (uint32_t i = unit->beg; i < unit->end; i++) {
      const size_t *beg = col->beg + block * (size_t)layout->n_sparse + i;
      size_t slot = layout->place[layout->sparse_feat[i]].slot_beg - layout->sparse_slot;
      run_job job = {.row = col->row + beg[0],
                     .slot = (const char *)col->slot + beg[0] * slot_bytes,
                     .n = beg[1] - beg[0],
                     .gh = (const char *)cpu_view_gradients(&be->view) + block * col->block_rows * gh_bytes,
                     .acc = acc + slot * sum_bytes(be),
                     .count = count ? count + slot : NULL};
      if (be->pool.packed)
        add_run_sums(&job, 1, 0, col->wide);
      else if (wide)
        add_run_sums(&job, 0, 1, col->wide);
      else
        add_run_sums(&job, 0, 0, col->wide);
    }
}

/* ---- units ---- */

static void clear(const cpu_backend *be, uint32_t n, void *sum, uint32_t *count) {
  memset(sum, 0, n * sum_bytes(be));
  if (count) memset(count, 0, n * sizeof *count);
}

static void merge(const cpu_backend *be, const cpu_scratch *scratch, void *to, uint32_t *count, int add) {
  uint32_t n = sparse_slots(be);
  if (!add) {
    memcpy(to, scratch->acc, n * sum_bytes(be));
    if (count) memcpy(count, scratch->count, n * sizeof *count);
    return;
  }
  if (be->pool.packed) {
    const int64_t *both = (const int64_t *)(const void *)scratch->acc;
    for (uint32_t i = 0; i < n; i++) ((int64_t *)to)[i] += both[i];
  } else {
    for (uint32_t i = 0; i < n; i++) {
      ((gbt_sum *)to)[i].g += scratch->acc[i].g;
      ((gbt_sum *)to)[i].h += scratch->acc[i].h;
    }
  }
  for (uint32_t i = 0; count && i < n; i++) count[i] += scratch->count[i];
}

static void *sums_of(const cpu_backend *be, int32_t hist) { return be->pool.hist[hist].sum + be->layout->sparse_slot; }

static uint32_t *counts_of(const cpu_backend *be, int32_t hist) {
  return be->hist.group_counts[be->layout->n_groups] ? be->pool.hist[hist].count + be->layout->sparse_slot : NULL;
}

static size_t cell_of(const cpu_backend *be, const cpu_unit *unit) {
  return (size_t)unit->build * (size_t)(be->layout->n_groups + 1) + (size_t)be->layout->n_groups;
}

static void shared_unit(const cpu_span *span, const cpu_unit *unit, cpu_scratch *scratch, void *sum, uint32_t *count) {
  cpu_backend *be = span->be;
  clear(be, sparse_slots(be), scratch->acc, count ? scratch->count : NULL);
  add_rows(span, unit, 1, scratch, scratch->acc, count ? scratch->count : NULL);
  size_t cell = cell_of(be, unit);
  gbt_lock *lock = &be->hist.lock[cell % CPU_HIST_LOCKS];
  gbt_lock_take(lock);
  merge(be, scratch, sum, count, be->hist.started[cell]);
  be->hist.started[cell] = 1;
  gbt_lock_give(lock);
}

/* The only unit of the span that adds to this place; spans before may have. */
static void lone_unit(const cpu_span *span, const cpu_unit *unit, cpu_scratch *scratch, void *sum, uint32_t *count) {
  cpu_backend *be = span->be;
  const cpu_build *build = &be->hist.build[unit->build];
  int8_t *started = &be->hist.started[cell_of(be, unit)];
  if (build->wanted || !build->at_once) {
    if (!*started) clear(be, sparse_slots(be), sum, count);
    *started = 1;
    add_rows(span, unit, 1, scratch, sum, count);
  }
  if (build->at_once) add_rows(span, unit, -1, scratch, sums_of(be, build->from), counts_of(be, build->from));
}

void cpu_hist_sparse_unit(const cpu_span *span, const cpu_unit *unit, cpu_scratch *scratch) {
  const cpu_backend *be = span->be;
  const gbt_layout *layout = be->layout;
  const cpu_build *build = &be->hist.build[unit->build];
  void *sum = sums_of(be, build->hist);
  uint32_t *count = counts_of(be, build->hist);
  if (unit->strip > layout->n_strips) {
    const gbt_place *first = &layout->place[layout->sparse_feat[unit->beg]];
    const gbt_place *last = &layout->place[layout->sparse_feat[unit->end - 1]];
    uint32_t beg = first->slot_beg - layout->sparse_slot, n = last->slot_beg + last->n_slots - first->slot_beg;
    clear(be, n, (char *)sum + beg * sum_bytes(be), count ? count + beg : NULL);
    add_columns(be, unit, sum, count);
  } else if (unit->shared) {
    shared_unit(span, unit, scratch, sum, count);
  } else {
    lone_unit(span, unit, scratch, sum, count);
  }
}

/* Slots [beg, end) of the layout, all in the sparse part. */
void cpu_hist_sparse_subtract(const cpu_backend *be, const cpu_subtract *s, uint32_t beg, uint32_t end) {
  uint32_t base = be->layout->sparse_slot;
  if (!be->pool.packed) {
    gbt_sum *from = be->pool.hist[s->from].sum;
    const gbt_sum *what = be->pool.hist[s->what].sum;
    for (uint32_t i = beg; i < end; i++) {
      from[i].g -= what[i].g;
      from[i].h -= what[i].h;
    }
    return;
  }
  int64_t *from = sums_of(be, s->from);
  const int64_t *what = sums_of(be, s->what);
  for (uint32_t i = beg - base; i < end - base; i++) from[i] -= what[i];
}
