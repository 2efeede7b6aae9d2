/* The rows that a tree grows on: where their values lie, their order, and the pieces of this order that tasks take;
 * see cpu_rows.c.
 *
 * `order` holds all train rows: first the n_in sampled ones in node order (ascending within a node), then the rest,
 * ascending. While a tree grows on gathered rows (cpu_gather.h), the sampled ones have the numbers that they have
 * there. */
#ifndef GBT_CPU_CPU_ROWS_H
#define GBT_CPU_CPU_ROWS_H

#include "../base/ctx.h"
#include "../data/page_store.h"
#include "../math/fixed.h"

struct cpu_backend;
struct cpu_stream_ops; /* cpu_stream.h */

#define CPU_TASK_ROWS 16384u

/* Where codes, gradients and scores of the rows are. Filled when a tree begins (cpu_view_train), when its rows have
 * been gathered (cpu_gather_rows), and when they no longer are. A reader need not know whether rows are those of a
 * mask, gathered, or in pages that are not all in memory. */
typedef struct cpu_rows_view {
  gbt_page_store *pages;     /* the codes of all train rows, of the task's variant */
  const gbt_page_span *span; /* the codes of gathered rows: all of their pages; NULL: rows are not gathered */
  const uint32_t *page_row;  /* by row: its number in the pages; NULL: the same */
  void *const *column;       /* the codes by column, [group * GBT_GROUP_MAX + pos]; NULL: codes are only in pages */
  const gbt_gh16 *gh16;      /* by row: gradients of the task's output as histograms take them. NULL where `wide` */
  const gbt_gh32 *gh32;      /* the same where `wide`, else NULL */
  const uint32_t *low;       /* by row: what 16 bits leave out; NULL where `wide`, and of gathered rows */
  double *score;             /* by train row: scores of the task's output */
  int wide;                  /* histograms take 32-bit gradients */
  const struct cpu_stream_ops *stream; /* steps are passes over pages that are not all in memory; NULL: they are not.
                                          The same on all ranks */
} cpu_rows_view;

/* All train rows, as far as their parts have been opened; the task says which variant and output. */
void cpu_view_train(struct cpu_backend *be);

/* Gradients as histograms take them. */
static inline const void *cpu_view_gradients(const cpu_rows_view *view) {
  return view->wide ? (const void *)view->gh32 : view->gh16;
}

/* Where pages have a row. */
static inline uint32_t cpu_page_row(const cpu_rows_view *view, uint32_t row) {
  return view->page_row ? view->page_row[row] : row;
}

/* Tasks over n rows one after the other; where the one that begins at row `beg` ends. */
static inline int64_t cpu_n_tasks(int64_t n) { return (n + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS; }
static inline uint32_t cpu_task_end(uint32_t beg, uint32_t n) {
  GBT_ASSERT(beg < n);
  return n - beg < CPU_TASK_ROWS ? n : beg + CPU_TASK_ROWS;
}

typedef struct cpu_chunk { /* partition and leaf work: rows [beg, end) of a node */
  int32_t node, item;
  uint32_t beg, end, n_left, left_before;
  uint32_t next; /* passes over pages: the first of the rows that no span had yet */
  int32_t whole; /* all rows of the node */
  gbt_sum fine;
} cpu_chunk;

typedef struct cpu_rows {
  uint32_t *order, *spare; /* n_rows each; spare: where the next order is made */
  uint32_t n_in;           /* sampled rows */
  cpu_chunk *chunk;        /* of the pass that runs */
  size_t n_chunk, cap_chunk;
} cpu_rows;

/* Room for the order of be->n_rows rows. */
gbt_status cpu_rows_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_rows_close(struct cpu_backend *be);

/* Whether a tree may have fewer rows than there are; the same on all ranks. */
int cpu_rows_are_drawn(const struct cpu_backend *be);

/* Draws the tree's rows and puts them in order. Of those of this rank: *n_in, how many they are, and *sum, of their
 * gradients in units of the histograms. */
gbt_status cpu_rows_begin(gbt_ctx *ctx, struct cpu_backend *be, int64_t *n_in, gbt_sum *sum,
                          gbt_error *err) GBT_MUST_CHECK;

/* The sum of the drawn rows, which are in order already, of this rank: by the gradients of the view. */
gbt_status cpu_rows_sum(gbt_ctx *ctx, struct cpu_backend *be, gbt_sum *sum, gbt_error *err) GBT_MUST_CHECK;

/* Chunks of at most CPU_TASK_ROWS rows for n rows of a node, appended to be->rows.chunk. */
gbt_status cpu_add_chunks(struct cpu_backend *be, int32_t node, int32_t item, uint32_t beg, uint32_t n,
                          gbt_error *err) GBT_MUST_CHECK;

/* Rows of all chunks. */
double cpu_chunk_rows(const struct cpu_backend *be);

/* Sum over order[beg .. end) of the gradients that histograms take. */
gbt_sum cpu_sum_rows(const struct cpu_backend *be, uint32_t beg, uint32_t end);

/* Of ascending rows [beg, end), where those below row_end end. */
uint32_t cpu_rows_below(const uint32_t *rows, uint32_t beg, uint32_t end, int64_t row_end);

/* The input of tasks of a pass over the training set's pages. */
typedef struct cpu_span {
  struct cpu_backend *be;
  const gbt_page_span *pages; /* NULL: the pass needs none */
  int64_t row_beg, row_end;   /* train rows in them */
} cpu_span;

/* pages: of the pass; NULL: all train rows. */
cpu_span cpu_span_of(struct cpu_backend *be, const gbt_page_span *pages);

/* gbt_pages_pass over the pages of the view; never calls fn when there are no train rows. */
gbt_status cpu_train_pass(gbt_ctx *ctx, struct cpu_backend *be, gbt_pages_fn fn, void *arg,
                          gbt_error *err) GBT_MUST_CHECK;

/* Where pages have n rows: `rows` itself, or `to`, which gets their numbers. */
const uint32_t *cpu_page_rows(const cpu_rows_view *view, const uint32_t *rows, uint32_t n, uint32_t *to);

/* The page of rows[beg], which ascend; those of rows[beg .. *stop) are in it, too. */
const gbt_page *cpu_span_page(const cpu_span *span, const uint32_t *rows, uint32_t beg, uint32_t end, uint32_t *stop);

/* The rows of the span among order[*beg .. *end), which ascend. */
void cpu_span_rows(const cpu_span *span, uint32_t *beg, uint32_t *end);

/* Its share of all rows. */
double cpu_span_share(const cpu_span *span);

#endif
