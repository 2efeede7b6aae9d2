/* The train set's sparse features, column by column; see cpu_sparse.c. */
#ifndef GBT_CPU_CPU_SPARSE_H
#define GBT_CPU_CPU_SPARSE_H

#include "../base/ctx.h"
#include "../data/page.h"
#include "cpu_scratch.h"

typedef struct cpu_sparse { /* empty without sparse features */
  uint32_t block_rows;      /* of a row block */
  int64_t n_blocks;
  size_t *beg;   /* n_blocks x n_sparse + 1 */
  uint16_t *row; /* within its block */
  void *slot;    /* uint8_t or, wide, uint16_t */
  int wide;
  uint32_t most; /* rows of all ranks that one slot is met by, or UINT32_MAX for very many */
} cpu_sparse;

/* Copies the sparse features of the train pages by column; nothing where there are none. */
gbt_status cpu_sparse_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_sparse_close(struct cpu_backend *be);

/* scratch->side[i] = left[slot], or zero_left where the feature is in its zero bin, for n ascending rows of the train
 * set, at most CPU_TASK_ROWS. Slots are relative to the feature's first. */
void cpu_sparse_sides(const struct cpu_backend *be, const gbt_place *place, const uint8_t *left, uint8_t zero_left,
                      const uint32_t *rows, uint32_t n, cpu_scratch *scratch);

#endif
