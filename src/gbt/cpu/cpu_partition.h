/* Rows of split nodes into their children; see cpu_partition.c. */
#ifndef GBT_CPU_CPU_PARTITION_H
#define GBT_CPU_CPU_PARTITION_H

#include "../backend/backend.h"
#include "../tree/grow_node.h"
#include "cpu_rows.h"

struct cpu_backend;

typedef struct cpu_part {
  uint8_t *lut; /* per chosen node a byte per code, 1 = left */
  size_t *lut_beg;
  size_t cap_lut, cap_lut_beg;
  int64_t *left; /* per chosen node: rows that go left, of all ranks; then the same of this rank */
  size_t cap_left;
} cpu_part;

/* There is no opening: `left` grows with the nodes. */
void cpu_partition_close(struct cpu_backend *be);

/* Entries of a node's table: codes of the column; where the feature is sparse, its slots and then the zero bin. */
uint32_t cpu_lut_size(const gbt_layout *layout, int32_t feat);

/* lut[code] = 1 when the code goes left, for codes as a layout has them: validation data may bundle other features. */
void cpu_fill_lut(const struct cpu_backend *be, const gbt_layout *layout, const gbt_grow_node *node, uint8_t *lut);

/* Rows order[beg .. end) of a chosen node, all of the span, to two sides of spare[beg .. end): left ones forward from
 * its begin, right ones backward from its end; turned (1): the other way round. Returns how many are forward. The
 * feature is dense. */
uint32_t cpu_split_to_sides(const cpu_span *span, size_t chosen, uint32_t beg, uint32_t end, uint32_t turned);

/* See partition of gbt_backend. */
gbt_status cpu_partition(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;

#endif
