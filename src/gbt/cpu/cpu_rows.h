/* The order of rows, and the pieces that tasks take of it; see cpu_rows.c.
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

#define CPU_TASK_ROWS 16384u

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

/* Draws the tree's rows and puts them in order. Of those of all ranks: *n_in, how many they are, and *sum, of their
 * gradients in units of the histograms. */
gbt_status cpu_rows_begin(gbt_ctx *ctx, struct cpu_backend *be, int64_t *n_in, gbt_sum *sum,
                          gbt_error *err) GBT_MUST_CHECK;

/* Chunks of at most `rows` rows for a node's rows, appended to be->rows.chunk. */
gbt_status cpu_add_chunks(struct cpu_backend *be, int32_t node, int32_t item, uint32_t beg, uint32_t n, uint32_t rows,
                          gbt_error *err) GBT_MUST_CHECK;

/* Rows of all chunks. */
double cpu_chunk_rows(const struct cpu_backend *be);

/* Sum over order[beg .. end) of the gradients that histograms take. */
gbt_sum cpu_sum_rows(const struct cpu_backend *be, uint32_t beg, uint32_t end);

/* Of ascending rows [beg, end), where those below row_end end. */
uint32_t cpu_rows_below(const uint32_t *rows, uint32_t beg, uint32_t end, int64_t row_end);

/* What tasks of a pass over the training set's pages are given. */
typedef struct cpu_span {
  struct cpu_backend *be;
  const gbt_page_span *pages; /* NULL: the pass needs none */
  int64_t row_beg, row_end;   /* train rows in them */
} cpu_span;

/* pages: of the pass; NULL: all train rows. */
cpu_span cpu_span_of(struct cpu_backend *be, const gbt_page_span *pages);

/* gbt_pages_pass over the training set's pages; never calls fn when there are no train rows. */
gbt_status cpu_train_pass(gbt_ctx *ctx, struct cpu_backend *be, gbt_pages_fn fn, void *arg,
                          gbt_error *err) GBT_MUST_CHECK;

/* The rows of the span among order[*beg .. *end), which ascend. */
void cpu_span_rows(const cpu_span *span, uint32_t *beg, uint32_t *end);

/* Its share of all rows. */
double cpu_span_share(const cpu_span *span);

#endif
