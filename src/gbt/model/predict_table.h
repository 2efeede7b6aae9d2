/* Trees as tables (base/byte_walk.h): the way of many rows where the machine can look bytes up in registers. Private
 * to model/.
 *
 *   codes    64 rows side by side, a byte each, column by column:  codes[(row / 64 * n_cols + col) * 64 + row % 64]
 *   table    two for every layer: by place, the order of the node's cut, as a row goes right when its code is above the
 *            order; and, where the layer splits by several columns, which of them it is (gbt_walk_pick)
 *   set      a node that splits by level: the rows at its place look their level's bit up. A column of levels is four
 *            columns of bytes: code / 8 (at most 255), the bit 1 << code % 8, and the whole code in two
 *   values   by last place, the leaf's value: eight planes, plane b holds byte b of all values; where leaves hold a
 *            value for every output, eight planes for each of them
 *
 *   deep     below 8 layers, places are numbers instead: from 0 on those nodes of the layer that are split, and, from
 *            255 down in the order of layers, the leaves. By place, two more tables say where left and right lead
 *
 * A layer costs two instructions per column and 64 rows, however many nodes it has; a value is put together from its
 * bytes by eight look-ups and a transposition. Only trees of up to 256 leaves and 64 layers whose columns have at most
 * 254 cuts can be tables; the others of a run walk nodes (predict_job.h). */
#ifndef GBT_MODEL_PREDICT_TABLE_H
#define GBT_MODEL_PREDICT_TABLE_H

#include "../base/byte_walk.h"
#include "predict_job.h"

enum {
  GBTI_TABLE_ROWS = GBT_WALK_ROWS,
  GBTI_TABLE_DEPTH = GBT_WALK_LAYERS, /* whose places follow from the way */
  GBTI_TABLE_LAYERS = 64,
  GBTI_TABLE_CUTS = 254, /* of a column: orders up to 253, codes up to 254 */
  GBTI_TABLE_LEVEL_COLS = 4,
  GBTI_TABLE_SET = 256, /* most bytes of a set that is looked up */
  GBTI_TABLE_ANSWERED = 1
};

/* A node that splits by level. Bits as in the pack's words: set for codes that go right, the last byte or word whole.
 */
struct gbti_table_set {
  uint32_t col;       /* the first of the four columns, times GBTI_TABLE_ROWS */
  uint32_t beg, last; /* looked up: offset in bytes from the tree's first; answered: its number among all that are; else
                         the words pack->words[beg .. beg + last] */
  uint16_t width;     /* 32, 64, 128 or 256 bytes that are looked up; of longer sets GBTI_TABLE_ANSWERED, or 0 for
                         those that are evaluated row by row, as they do not fit */
  uint8_t place;
};

struct gbti_table {
  size_t beg;     /* among pack->tables.bytes: values; tables of layer 7, ..., of layer 0; deep: the place on layer 8 by
                     the way there, then for every layer where left and right lead and its tables; sets */
  size_t col_beg; /* among pack->tables.cols: columns of the first layer, ..., of the last */
  size_t leaf_beg; /* among pack->tables.leaf: by last place, the leaf's number */
  size_t set_beg;  /* among pack->tables.sets: those of the first layer, ..., of the last */
  size_t set_bytes;
  uint8_t depth; /* 0 .. GBTI_TABLE_LAYERS */
  uint8_t is_table;
  uint16_t n_cols[GBTI_TABLE_LAYERS], n_sets[GBTI_TABLE_LAYERS];
  uint8_t n_split[GBTI_TABLE_LAYERS]; /* of layers from 8 on: nodes that are split, at most 128 */
};

/* Layers whose places follow from the way. */
GBT_FN uint32_t gbti_table_top(const gbti_table *table) {
  return table->depth < GBTI_TABLE_DEPTH ? table->depth : GBTI_TABLE_DEPTH;
}

/* Bytes of a table of a layer: 16, 32, 64 or 128. */
GBT_FN size_t gbti_table_width(const gbti_table *table, uint32_t layer) {
  return gbt_walk_width(layer < GBTI_TABLE_DEPTH ? (uint32_t)1 << layer : table->n_split[layer]);
}

/* Entries of a plane of values. */
GBT_FN size_t gbti_places_of_depth(uint32_t depth) {
  return depth < 6 ? 64 : (size_t)1 << (depth < GBTI_TABLE_DEPTH ? depth : GBTI_TABLE_DEPTH);
}
GBT_FN size_t gbti_table_places(const gbti_table *table) { return gbti_places_of_depth(table->depth); }

/* Bytes of the values of one output. */
GBT_FN size_t gbti_table_planes(const gbti_table *table) { return 8 * gbti_table_places(table); }

/* The best that this machine can walk: nodes, tops (predict_tops.h) or tables. */
typedef enum gbti_walk { GBTI_WALK_NODES, GBTI_WALK_TOPS, GBTI_WALK_TABLES } gbti_walk;
gbti_walk gbti_walk_here(const gbt_ctx *ctx);
GBT_FN int gbti_tables_run(const gbt_ctx *ctx) { return gbti_walk_here(ctx) == GBTI_WALK_TABLES; }

/* Makes tables or tops of those trees of a finished pack that can be. Nothing where only nodes are walked. */
gbt_status gbti_tables_make(gbt_ctx *ctx, const gbt_forest_view *forest, gbti_pack *pack,
                            gbt_error *err) GBT_MUST_CHECK;

/* Tables and coders of a pack; also after a failure. */
void gbti_tables_free(const gbt_mem *mem, gbti_pack *pack);

/* The codes of a block, from its first group on, and what gbti_answers_ask made of them. */
typedef struct gbti_table_rows {
  const uint8_t *codes;
  const uint64_t *masks; /* NULL without answers */
  int32_t n_groups;      /* that masks have room for */
} gbti_table_rows;

/* place[0 .. 64 n_groups): where rows end. Only where gbti_tables_run. */
void gbti_table_walk(const gbti_pack *pack, const gbti_table *table, const gbti_table_rows *rows, int32_t n_groups,
                     uint8_t *place);

/* Adds leaf values of n_tables trees, one after the other, to sums, which lie in an order of their own:
 * gbti_table_sums_in and _out. place: where rows end in the first tree; stride bytes after it, in the next. k: which of
 * a leaf's values. */
void gbti_table_add(const gbti_pack *pack, const gbti_table *const *table, int32_t n_tables, int32_t k,
                    const uint8_t *place, size_t stride, int32_t n_groups, double *sums);
void gbti_table_sums_in(const double *x, int32_t n, double *sums);
void gbti_table_sums_out(const double *sums, int32_t n, double *x);

#endif
