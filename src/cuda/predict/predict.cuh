/* Prediction: what its files give each other.
 *
 *   predict.cu  rows in chunks, two of them under way; the door's functions
 *   tables.cu   the columns of chunks, and those of them that are read from tables on the device
 *   pack.cu     runs of trees as the device walks them
 *   walk.cu     kernels: numbers to codes, rows through trees
 *
 * A run is what one kernel walks: a pack of model/predict_pack.c as blobs, or, of trees that no pack takes, the
 * forest's own nodes ("plain"), which compare the numbers themselves.
 *
 *   blob     a tree in units of 8 bytes:  nodes | set entries | leaf values | words of sets
 *            it is read from shared memory as a whole, or, when it is too large, from where it lies
 *   layers   a tree whose layers have one split each, as those of symmetric growth:  a node for each layer | numbers of
 *            the leaves | leaf values | words of sets. Leaves are indexed by the path to them, a bit for each layer, 1
 * = right order    a run's trees by output, then as in the forest: a score is kept in a register while all trees of its
 *            output go by, and its additions have the forest's order
 *   part     neighbouring trees of an output that fit into shared memory together
 *
 * Chunks of rows have one column for each feature that any tree uses, and codes for each column of a pack:
 *   x[column * stride + row], code[code_col * code_stride + row]; results as x, by output or by tree.
 * Where a projection's tables are on the device, chunks bring the levels of its columns (level[k * stride + row], as
 * gbti_read_levels gives them), and the columns of x of its features are made of them. */
#pragma once

#include "../base/block.cuh"
#include "../base/mem.cuh"

#include "predict.h"

extern "C" {
#include "../../gbt/schema/key_index.h"
}

enum {
  CU_PREDICT_BLOCK = 256, /* threads of a block */
  CU_PREDICT_ROWS = 4,    /* most rows of a thread */
  CU_PREDICT_HEIGHT = CU_PREDICT_BLOCK * CU_PREDICT_ROWS
};

/* Kinds of trees: one split per layer (a single leaf has no layers), only numeric splits, any. */
enum { CU_PREDICT_LAYERS, CU_PREDICT_NUMBERS, CU_PREDICT_ANY };

/* A node, by its order:
 *   a number's     next = left child; codes above the order go to the child after it
 *   BY_LEVEL       next = place of its set entry among the tree's units: {left child, place of the set among the words}
 *                  a set: the offset of its last word from its first, then its words (gbti_goes_right_by_set)
 *   LEAF           next = place of its value among the tree's values
 * A layer's: as the first two, but children are not needed; next = place of the set among the words. */
struct __align__(8) cu_predict_node {
  uint32_t what; /* column of codes | order << 16 */
  uint32_t next;
};

struct cu_predict_tree {
  uint64_t number;            /* in the forest */
  uint32_t at, n_units;       /* its blob among the run's units; both even */
  uint32_t value_at, word_at; /* first unit of its values, of its words, from `at` on */
  uint32_t kind, depth;       /* CU_PREDICT_LAYERS: how many */
};

struct cu_predict_part {
  uint32_t tree_beg, tree_end; /* of the run's trees */
  uint32_t at, n_units;
  int32_t shared; /* it fits */
};

/* As gbti_pack_feature. */
struct cu_predict_feature {
  int32_t column; /* of the chunk */
  int32_t code_col[GBTI_PACK_KINDS];
  uint32_t cut_beg, n_cuts, n_steps;
};

struct cu_predict_plain {
  uint64_t number, node_beg, set_beg;
  int32_t output;
};

struct cu_predict_run {
  gbt_tree_range trees;
  int packed;
  double n_steps; /* that a row takes, about */
  uint32_t n_code_cols, part_units;
  cu_array<cu_predict_node> blob;
  cu_array<cu_predict_tree> tree;
  cu_array<cu_predict_part> part;
  cu_array<uint32_t> part_beg; /* n_outputs + 1 */
  cu_array<cu_predict_feature> feat;
  cu_array<double> cut;
  cu_array<cu_predict_plain> plain;
  cu_array<gbt_node> node; /* features are columns of the chunk */
  cu_array<uint32_t> word;
};

/* Runs that are on the device together. */
struct cu_predict_runs {
  gbt_tree_range trees;
  cu_predict_run *run;
  size_t n_runs, cap_runs;
};

/* A projection whose tables are on the device. */
struct cu_predict_projection {
  int32_t n_cols, n_feats;           /* n_feats: features of it that trees use */
  int32_t column;                    /* of the chunk: that of the first feature; the others follow */
  int32_t level[GBT_MOST_COMBINED];  /* columns of levels of the chunk */
  uint64_t radix[GBT_MOST_COMBINED]; /* see schema.h */
  uint64_t n_keys;
  gbt_key_index index;
  const uint64_t *key; /* n_keys; NULL where row i is for key i */
  const uint8_t *bin;  /* n_feats of every key, then those of an unknown key */
};

/* The columns of chunks, and tables on the device; as long as a job, for all of its runs. */
struct cu_predict_tables {
  int32_t *column;        /* n_features: the feature's column, or -1 where no tree uses it */
  int32_t *feat;          /* by column */
  int32_t n_cols, n_read; /* the host reads the first n_read */
  int32_t *level;         /* n_levels columns of the schema whose levels are wanted */
  int32_t n_levels;
  cu_array<cu_predict_projection> proj;
  cu_array<uint32_t> place;
  cu_array<uint64_t> key;
  cu_array<uint8_t> bin;
};

/* Bytes that tables may take, together and each projection's; a projection that has no room is read by the host. */
struct cu_predict_room {
  size_t bytes, each;
};

/* How many runs there may be at a time, and what they are made for. */
struct cu_predict_plan {
  const gbt_forest_view *forest;
  const int32_t *column; /* see cu_predict_tables */
  cu_memory *memory;
  cudaStream_t stream;
  size_t forest_bytes; /* no further run where there is so much */
  size_t most_runs;
  uint32_t part_units; /* most of a part in shared memory; even */
};

/* As many of the trees as may be on the device together, one at least. runs: zeros before. On failure what is there
 * already stays, to be dropped. */
gbt_status cu_predict_runs_make(gbt_ctx *ctx, const cu_predict_plan *plan, gbt_tree_range trees, cu_predict_runs *runs,
                                gbt_error *err) GBT_MUST_CHECK;
void cu_predict_runs_drop(const gbt_mem *mem, cu_memory *memory, cu_predict_runs *runs);

/* A chunk on the device. */
struct cu_predict_chunk {
  double *x;
  uint32_t *level;
  uint16_t *code;
  double *score;                /* or NULL */
  int32_t *leaf;                /* or NULL */
  uint64_t stride, code_stride; /* code_stride: a multiple of CU_PREDICT_HEIGHT */
  uint32_t n_rows;
};

struct cu_predict_device {
  int32_t n_units;
  size_t shared;  /* bytes of a block */
  int32_t rows;   /* of a thread; 0: as many as keep the device busy */
  int32_t blocks; /* most of a grid; 0: as many as do */
};

/* Blocks of a grid that has work for so many; per_unit: most of a multiprocessor. */
static inline unsigned cu_predict_grid(const cu_predict_device *device, uint64_t n_blocks, unsigned per_unit) {
  uint64_t most = device->blocks > 0 ? (uint64_t)device->blocks : (uint64_t)device->n_units * per_unit;
  return (unsigned)(n_blocks < 1 ? 1 : n_blocks < most ? n_blocks : most);
}

/* The columns that the trees need, and tables for those that have room. tables: zeros before. On failure what is there
 * already stays, to be dropped. plan: its column is not used. */
gbt_status cu_predict_tables_make(gbt_ctx *ctx, const cu_predict_plan *plan, const gbt_schema *schema,
                                  gbt_tree_range trees, const cu_predict_room *room, cu_predict_tables *tables,
                                  gbt_error *err) GBT_MUST_CHECK;
void cu_predict_tables_drop(const gbt_mem *mem, cu_memory *memory, cu_predict_tables *tables);

/* Makes the chunk's columns that are read from tables. Issues work, does not wait. */
gbt_status cu_predict_tables_pass(const cu_predict_device *device, const cu_predict_tables *tables,
                                  const cu_predict_chunk *chunk, cudaStream_t stream, gbt_error *err) GBT_MUST_CHECK;

/* All rows of the chunk through one of the runs. Issues work, does not wait. */
gbt_status cu_predict_pass(const cu_predict_device *device, const cu_predict_runs *runs, const cu_predict_run *run,
                           int32_t n_outputs, const cu_predict_chunk *chunk, cudaStream_t stream,
                           gbt_error *err) GBT_MUST_CHECK;
