/* Trees whose first layers are tables of bytes (base/byte_walk.h) and whose other layers are nodes: the way of many
 * rows where a machine looks bytes up 16 at a time, as AVX2 and NEON do. Private to model/.
 *
 *   tables   as in predict_table.h, on as many layers as cost less than going through their nodes; those that split by
 *            one column have one. Where all nodes of a layer are alike, its table is one byte
 *   numbers  from the first layer on that has far fewer nodes than ways, places are numbers: from 0 on those nodes of
 *            the layer that are split, and from 255 down to 128 the leaves so far. A map leads there by the way; of
 *            such a layer two more tables say where its nodes' right children are, and right ^ left. A look-up of 128
 *            or more is 0, so rows in leaves ask nothing
 *   start    by place below the tables: the node where a row goes on, often its leaf
 *   values   of trees that end there: the leaf's value by place
 *   nodes    where the column's codes are, and 256 child + 255 - order: with the row's code added, a byte above that is
 *            where the row goes, child + 1 when its code is above the order. A leaf is its own child
 *
 * Codes are those of predict_table.h. A tree can have any depth, and up to 65,536 nodes, whose columns have at most 254
 * cuts; the other trees of a run walk nodes with codes of 16 bits (predict_job.h). */
#ifndef GBT_MODEL_PREDICT_TOPS_H
#define GBT_MODEL_PREDICT_TOPS_H

#include "predict_table.h"

enum {
  GBTI_TOP_WAYS = GBT_WALK_LAYERS, /* layers whose places follow from the way */
  GBTI_TOP_LAYERS = 32,            /* with tables */
  GBTI_TOP_SPLIT = 64,             /* most nodes that a layer of numbers splits */
  GBTI_TOP_NUMBERS = 128,          /* most numbers of nodes that go on, and of leaves */
  GBTI_TOP_NODES = 1 << 16,
  GBTI_TOP_SET = 128, /* most bytes of a set that is looked up */
  GBTI_TOP_LEAF = 255 /* order of leaves: no code of a byte is above */
};

/* A node that splits by level, among tables. */
typedef struct gbti_top_set {
  uint32_t col, beg; /* the first of the column's four, times GBTI_TABLE_ROWS; its bytes, from the tree's first */
  uint8_t width, place;
} gbti_top_set;

struct gbti_top {
  size_t beg; /* among tops.bytes: tables of the first layer, ..., of the last, then sets. A layer has: the map, where
                 numbers begin; columns' tables; of numbers: where right children are, right ^ left */
  size_t col_beg, set_beg, start_beg, value_beg, node_beg;
  uint32_t depth;                     /* of all layers, as of gbti_pack_tree */
  uint8_t n_layers, n_ways;           /* layers with tables; those of ways, which are all where no layer has numbers */
  uint8_t is_top, is_whole, has_sets; /* whether all layers have tables; sets below the tables */
  uint8_t width[GBTI_TOP_LAYERS];     /* of a table: 1, 16, 32, 64 or 128 */
  uint16_t n_cols[GBTI_TOP_LAYERS], n_sets[GBTI_TOP_LAYERS];
  uint32_t set_bytes;
};

typedef struct gbti_top_node {
  uint32_t col, next;
} gbti_top_node;

/* A node where some split by level: 16 bits are read at col + (row << mask / 2^15), of which mask counts. Other words
 * as in gbti_pack_wide. */
typedef struct gbti_top_wide {
  uint32_t col, child;
  uint16_t order, mask;
  uint32_t beg, last;
} gbti_top_wide;

/* Tables of a layer of n columns, without sets and what numbers need. */
GBT_FN uint32_t gbti_top_tables(uint32_t n_cols) { return n_cols < 2 ? n_cols : 2; }

/* Bytes of the map where numbers begin; 0 without numbers. */
GBT_FN size_t gbti_top_map(const gbti_top *top) {
  return top->n_ways < top->n_layers ? gbt_walk_width((uint32_t)1 << top->n_ways) : 0;
}

/* Places below the tables. */
GBT_FN size_t gbti_top_places(const gbti_top *top) {
  return top->n_ways < top->n_layers ? 256 : (size_t)1 << top->n_layers;
}

/* Makes tops of those trees of a finished pack that can be; byte columns have been numbered. fits: by column of codes,
 * whether bytes distinguish its cuts. */
gbt_status gbti_tops_make(gbt_ctx *ctx, const gbt_forest_view *forest, gbti_pack *pack, const uint8_t *fits,
                          gbt_error *err) GBT_MUST_CHECK;
void gbti_tops_free(const gbt_mem *mem, gbti_pack *pack);

/* place[0 .. 64 n_groups): where rows are below the tables. codes: of the block's first group. */
void gbti_top_walk(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, int32_t n_groups, uint8_t *place);

/* pos[0 .. 64 n_groups): the leaves, from those places. */
void gbti_top_down(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, int32_t n_groups,
                   const uint8_t *place, uint32_t *pos);

#endif
