/* Rows of the chosen nodes into their children, stable: rows stay ascending within a node.
 *
 *   order     |  node a: r r r r r r r r  |  node b ...
 *   pass 1    each chunk writes its left rows forward and its right rows backward from its end in spare, without a
 *             branch: every row is written to both sides, one counts
 *             a node of several chunks: left rows go to the chunk's begin in spare
 *             a node of one chunk: left rows are compacted in `rows`, its right rows written after them at once
 *   counts    of the chunks, summed up in order, give every chunk its two places in the node
 *   pass 2    left parts and (turned round) right parts of nodes of several chunks are copied back
 */
#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "../base/order.h"
#include "cpu.h"

void cpu_partition_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->part.lut);
  gbt_mem_free(&be->mem, be->part.lut_beg);
  gbt_mem_free(&be->mem, be->part.left);
}

uint32_t cpu_lut_size(const gbt_layout *layout, int32_t feat) {
  const gbt_place *place = &layout->place[feat];
  return place->group >= 0 ? layout->group[place->group].n_codes[place->pos] : place->n_slots + 1;
}

/* The other codes of a bundle say that this feature is in its zero bin. */
void cpu_fill_lut(const cpu_backend *be, const gbt_layout *layout, const gbt_grow_node *node, uint8_t *lut) {
  const gbt_place *place = &layout->place[node->split.feat];
  const uint32_t size = cpu_lut_size(layout, node->split.feat);
  if (place->zero_bin >= 0) memset(lut, cpu_goes_left(be, node, place->zero_bin), size);
  GBT_ASSERT((uint32_t)place->first + place->n_slots <= size);
  if (node->split.kind == GBT_SPLIT_NUMERIC && place->zero_bin < 0) {
    const size_t n_bins = (size_t)be->cuts->feat[node->split.feat].n_bins, n_left = (size_t)node->split.bin + 1;
    GBT_ASSERT(n_left <= n_bins && n_bins <= place->n_slots);
    memset(lut + place->first, 1, n_left);
    memset(lut + place->first + n_left, 0, n_bins - n_left);
    if (place->n_slots > n_bins) lut[place->first + n_bins] = (uint8_t)(node->split.missing_left != 0);
    return;
  }
  for (uint32_t s = 0; s < place->n_slots; s++)
    lut[place->first + s] = (uint8_t)cpu_goes_left(be, node, gbt_place_code(place, s));
}

static gbt_status make_luts(cpu_backend *be, gbt_error *err) {
  size_t n = be->fr.n_chosen, bytes = 0;
  size_t n_luts = gbt_policy_one_split(be->fr.policy.kind) && n > 0 ? 1 : n; /* one split for all */
  GBT_TRY(gbt_mem_grow(&be->mem, &be->part.lut_beg, &be->part.cap_lut_beg, n + 1, sizeof *be->part.lut_beg, err));
  for (size_t i = 0; i < n; i++) {
    be->part.lut_beg[i] = i < n_luts ? bytes : 0;
    if (i < n_luts) bytes += cpu_lut_size(be->layout, be->fr.node[be->fr.chosen[i]].split.feat);
  }
  GBT_TRY(gbt_mem_grow(&be->mem, &be->part.lut, &be->part.cap_lut, bytes + 1, 1, err));
  for (size_t i = 0; i < n_luts; i++)
    cpu_fill_lut(be, be->layout, &be->fr.node[be->fr.chosen[i]], be->part.lut + be->part.lut_beg[i]);
  return GBT_OK;
}

/* Splits rows[0 .. n) of one page. Writes left rows from *l upwards and right rows from *r downwards. */
typedef struct two_ends {
  uint32_t *l, *r; /* next free place on either side; r points one past it */
} two_ends;

#define SPLIT_AHEAD 32 /* rows: their codes are in no cache when a node is small against the page */

/* at_of(row): where the codes have a row; turned: 1 when right rows are to be in front. */
#define SPLIT_RUN(at_of, code_at, prefetch) \
  for (uint32_t i = 0; i < n; i++) {        \
    uint32_t row = rows[i];                 \
    size_t at = at_of(row);                 \
    prefetch;                               \
    uint32_t left = lut[code_at] ^ turned;  \
    *l = row;                               \
    r[-1] = row;                            \
    l += left;                              \
    r -= 1u - left;                         \
  }

#define SPLIT_PAGE(at_of, codes) \
  SPLIT_RUN(at_of, codes[at * stride + pos], __builtin_prefetch(&codes[at_of(rows[ahead(i, n)]) * stride + pos]))

static inline uint32_t ahead(uint32_t i, uint32_t n) { return i + SPLIT_AHEAD < n ? i + SPLIT_AHEAD : n - 1; }

GBT_FN two_ends split_rows(const cpu_backend *be, const gbt_page *page, int32_t feat, const uint8_t *lut,
                           uint32_t turned, const uint32_t *rows, uint32_t n, two_ends ends, int masked) {
  const gbt_place *place = &be->layout->place[feat];
  const gbt_group *group = &be->layout->group[place->group];
  const size_t stride = (size_t)group->stride, pos = (size_t)place->pos;
  const uint8_t *c8 = page->group[place->group];
  const uint16_t *c16 = page->group[place->group];
  const uint32_t row_beg = (uint32_t)page->row_beg, *table_row = be->view.page_row;
  uint32_t *l = ends.l, *r = ends.r;
#define IN_PAGE(row) (size_t)((masked ? table_row[row] : (row)) - row_beg)
  if (group->wide) {
    SPLIT_PAGE(IN_PAGE, c16)
  } else {
    SPLIT_PAGE(IN_PAGE, c8)
  }
#undef IN_PAGE
  return (two_ends){l, r};
}

/* One function for each, so that neither costs the other's loops a register. */
static two_ends split_run(const cpu_backend *be, const gbt_page *page, int32_t feat, const uint8_t *lut,
                          uint32_t turned, const uint32_t *rows, uint32_t n, two_ends ends) {
  return split_rows(be, page, feat, lut, turned, rows, n, ends, 0);
}

static two_ends split_masked_run(const cpu_backend *be, const gbt_page *page, int32_t feat, const uint8_t *lut,
                                 uint32_t turned, const uint32_t *rows, uint32_t n, two_ends ends) {
  return split_rows(be, page, feat, lut, turned, rows, n, ends, 1);
}

/* Rows order[beg .. end) of the span, page by page. */
static two_ends split_pages(const cpu_span *span, uint32_t beg, uint32_t end, int32_t feat, const uint8_t *lut,
                            uint32_t turned, two_ends ends) {
  const cpu_backend *be = span->be;
  const uint32_t *order = be->rows.order;
  for (uint32_t stop; beg < end; beg = stop) {
    const gbt_page *page = cpu_span_page(span, order, beg, end, &stop);
    ends = (be->view.page_row ? split_masked_run : split_run)(be, page, feat, lut, turned, order + beg, stop - beg,
                                                              ends);
  }
  return ends;
}

uint32_t cpu_split_to_sides(const cpu_span *span, size_t chosen, uint32_t beg, uint32_t end, uint32_t turned) {
  const cpu_backend *be = span->be;
  const int32_t feat = be->fr.node[be->fr.chosen[chosen]].split.feat;
  const uint8_t *lut = be->part.lut + be->part.lut_beg[chosen];
  const two_ends ends = {be->rows.spare + beg, be->rows.spare + end};
  GBT_ASSERT(be->layout->place[feat].group >= 0);
  return (uint32_t)(split_pages(span, beg, end, feat, lut, turned, ends).l - ends.l);
}

static two_ends split_column(const cpu_backend *be, const cpu_chunk *chunk, const gbt_place *place, const uint8_t *lut,
                             two_ends ends) {
  const void *column = be->view.column[place->group * GBT_GROUP_MAX + place->pos];
  const uint8_t *c8 = column;
  const uint16_t *c16 = column;
  const uint32_t *rows = be->rows.order + chunk->beg;
  const uint32_t n = chunk->end - chunk->beg;
  const uint32_t turned = 0;
  uint32_t *l = ends.l, *r = ends.r;
  if (be->layout->group[place->group].wide) {
    SPLIT_RUN((size_t), c16[at], (void)0)
  } else {
    SPLIT_RUN((size_t), c8[at], (void)0)
  }
  return (two_ends){l, r};
}

static two_ends split_sparse(const cpu_backend *be, const cpu_chunk *chunk, const gbt_place *place, const uint8_t *lut,
                             cpu_scratch *scratch, two_ends ends) {
  const uint32_t *rows = be->rows.order + chunk->beg, n = chunk->end - chunk->beg;
  uint32_t *l = ends.l, *r = ends.r;
  cpu_sparse_sides(be, place, lut, lut[place->n_slots], rows, n, scratch);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = rows[i], left = scratch->side[i];
    *l = row;
    r[-1] = row;
    l += left;
    r -= 1u - left;
  }
  return (two_ends){l, r};
}

/* The right rows of a chunk, which are backward from its end in spare. */
static void put_right(const cpu_backend *be, const cpu_chunk *chunk, uint32_t *to) {
  const uint32_t *from = be->rows.spare + chunk->end;
  uint32_t n = chunk->end - chunk->beg - chunk->n_left;
  for (uint32_t i = 0; i < n; i++) to[i] = *--from;
}

/* Whether the codes of a feature are read from pages. */
static int reads_pages(const cpu_backend *be, int32_t feat) {
  return be->layout->place[feat].group >= 0 && be->view.column == NULL;
}

/* A chunk, or its rows of the span; it goes on where the span before ended. */
static void split_task(void *arg, int64_t task, int thread) {
  const cpu_span *span = arg;
  cpu_backend *be = span->be;
  cpu_chunk *chunk = &be->rows.chunk[task];
  const uint8_t *lut = be->part.lut + be->part.lut_beg[chunk->item];
  int32_t feat = be->fr.node[chunk->node].split.feat;
  const gbt_place *place = &be->layout->place[feat];
  uint32_t *left = (chunk->whole ? be->rows.order : be->rows.spare) + chunk->beg;
  two_ends ends = {left + chunk->n_left, be->rows.spare + chunk->end - (chunk->next - chunk->beg - chunk->n_left)};
  if (chunk->next == chunk->end) return;
  if (reads_pages(be, feat)) {
    const uint32_t end = cpu_rows_below(be->rows.order, chunk->next, chunk->end, span->row_end);
    ends = split_pages(span, chunk->next, end, feat, lut, 0, ends);
    chunk->next = end;
  } else {
    ends = place->group < 0 ? split_sparse(be, chunk, place, lut, &be->scratch.of[thread], ends)
                            : split_column(be, chunk, place, lut, ends);
    chunk->next = chunk->end;
  }
  chunk->n_left = (uint32_t)(ends.l - left);
  GBT_ASSERT(chunk->n_left <= chunk->end - chunk->beg);
  if (chunk->whole && chunk->next == chunk->end) put_right(be, chunk, ends.l);
}

/* See gbt_pages_fn. */
static gbt_status split_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  cpu_backend *be = arg;
  cpu_span span = cpu_span_of(be, pages);
  double ns = 2.0 * cpu_chunk_rows(be) * (pages ? cpu_span_share(&span) : 1.0);
  return cpu_parallel(ctx, (int64_t)be->rows.n_chunk, ns, split_task, &span, err);
}

/* Rows of the chosen nodes that go left, of all ranks, once those of this rank are known. Where they are not known
 * yet, own ones, and the ranks wait for the others: see cpu_ranks.c. */
static gbt_status sum_left(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const size_t n = be->fr.n_chosen;
  int known = !gbt_comm_is_single(ctx);
  memcpy(be->part.left, be->part.left + n, n * sizeof *be->part.left);
  ranks->n_waiting = 0;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (size_t i = 0; i < n && known; i++) known = cpu_ranks_left_rows(ranks, be->fr.chosen[i]) >= 0;
  for (size_t i = 0; i < n && known; i++) be->part.left[i] = cpu_ranks_left_rows(ranks, be->fr.chosen[i]);
  if (known) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->waiting, &ranks->cap_waiting, n, sizeof *ranks->waiting, err));
  memcpy(ranks->waiting, be->part.left, n * sizeof *ranks->waiting);
  if (be->together.n == 0) {
    ranks->n_waiting = n;
    return GBT_OK;
  }
  GBT_TRY(gbt_comm_sum_i64(ctx, ranks->waiting, n, err)); /* all trees need them, before any has its histograms */
  memcpy(be->part.left, ranks->waiting, n * sizeof *ranks->waiting);
  return GBT_OK;
}

/* The children, as long as the ranks have not added up their rows: as many as the parent has. */
static void put_most_rows(cpu_backend *be, int32_t id) {
  gbt_grow_node *parent = &be->fr.node[id], *left = &be->fr.node[parent->ahead];
  gbt_grow_put_rows(left, gbt_grow_rows(parent));
  gbt_grow_put_rows(left + 1, gbt_grow_rows(parent));
}

static gbt_status split_chunks(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  int any_pages = 0;
  for (size_t i = 0; i < be->fr.n_chosen && !any_pages; i++)
    any_pages = reads_pages(be, be->fr.node[be->fr.chosen[i]].split.feat);
  return any_pages ? cpu_train_pass(ctx, be, split_span, be, err) : split_span(be, ctx, NULL, err);
}

static void copy_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[task];
  const gbt_grow_node *node = &be->fr.node[chunk->node], *right = &be->fr.node[node->ahead + 1];
  uint32_t right_before = chunk->beg - node->order_beg - chunk->left_before;
  (void)thread;
  if (chunk->whole) return;
  memcpy(be->rows.order + node->order_beg + chunk->left_before, be->rows.spare + chunk->beg,
         (size_t)chunk->n_left * sizeof *be->rows.order);
  put_right(be, chunk, be->rows.order + right->order_beg + right_before);
}

/* Rows of the chosen nodes that went left; of the chunks' those of the same node before them. */
static void count_left(cpu_backend *be, int64_t *own) {
  for (size_t i = 0, c = 0; i < be->fr.n_chosen; i++) { /* a node without rows has no chunks */
    own[i] = 0;
    for (; c < be->rows.n_chunk && be->rows.chunk[c].node == be->fr.chosen[i]; c++) {
      be->rows.chunk[c].left_before = (uint32_t)own[i];
      own[i] += be->rows.chunk[c].n_left;
    }
  }
}

/* Splits by columns of codes, or in passes over pages that all are in memory or have sparse features. */
static gbt_status split_in_memory(gbt_ctx *ctx, cpu_backend *be, int64_t *own, gbt_error *err) {
  be->rows.n_chunk = 0;
  for (size_t i = 0; i < be->fr.n_chosen; i++) {
    const gbt_grow_node *node = &be->fr.node[be->fr.chosen[i]];
    GBT_TRY(cpu_add_chunks(be, be->fr.chosen[i], (int32_t)i, node->order_beg, node->own_rows, err));
  }
  GBT_TRY(split_chunks(ctx, be, err));
  count_left(be, own);
  return GBT_OK;
}

/* Nodes of several chunks: their parts go from `spare` to their places. */
static gbt_status copy_chunks(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  double to_copy = 0.0;
  for (size_t c = 0; c < be->rows.n_chunk; c++)
    if (!be->rows.chunk[c].whole) to_copy += be->rows.chunk[c].end - be->rows.chunk[c].beg;
  return to_copy > 0.0 ? cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 0.5 * to_copy, copy_task, be, err) : GBT_OK;
}

/* Whether rows ascend in all children. */
GBT_FN int fresh_rows_ascend(const cpu_backend *be) {
  for (size_t i = 0; i < be->fr.n_fresh; i++) {
    const gbt_grow_node *node = &be->fr.node[be->fr.fresh[i]];
    if (!gbt_ascend_u32(be->rows.order + node->order_beg, node->own_rows)) return 0;
  }
  return 1;
}

/* The children of the chosen nodes of a tree. */
static gbt_status make_children(cpu_backend *be, const int64_t *own, gbt_error *err) {
  for (size_t i = 0; i < be->fr.n_chosen; i++) {
    GBT_TRY(gbt_frontier_split(&be->fr, be->fr.chosen[i], be->part.left[i], err));
    gbt_frontier_share(&be->fr, be->fr.chosen[i], (uint32_t)own[i]);
    if (be->ranks.n_waiting > 0) put_most_rows(be, be->fr.chosen[i]);
  }
  gbt_frontier_mark_splittable(&be->fr);
  return GBT_OK;
}

gbt_status cpu_partition(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  cpu_turn_to(be, 0);
  const size_t n = be->fr.n_chosen;
  int64_t t0 = gbt_clock_ns();
  be->walk.led = 0;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->part.left, &be->part.cap_left, 2 * n, sizeof *be->part.left, err));
  int64_t *own = be->part.left + n;
  GBT_TRY(make_luts(be, err));
  GBT_TRY(be->view.stream ? be->view.stream->split(ctx, be, own, err) : split_in_memory(ctx, be, own, err));
  GBT_TRY(sum_left(ctx, be, err));
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    GBT_TRY(make_children(be, own, err));
  }
  cpu_turn_to(be, 0);
  GBT_TRY(be->view.stream ? be->view.stream->settle(ctx, be, err) : copy_chunks(ctx, be, err));
  GBT_ASSERT(fresh_rows_ascend(be));
  self->seconds[GBT_PHASE_PARTITION] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
