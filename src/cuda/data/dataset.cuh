/* A data set on the device: its pages as tiles of codes, what is not in tiles, labels, weights and scores.
 *
 *   dataset.cu  what of a data set is stored where
 *   upload.cu   pages to tiles: upload.cuh
 *   extents.cu  passes over tiles that are not all stored in one place
 *   tiles.cu    which columns form a tile: tiles.cuh
 *   numbers.cu  labels and weights: numbers.cuh
 *   columns.cu  dense codes once more, column by column
 *
 * Tiles are cut by rows where they have no room as a whole. Rows side by side whose tiles are in one place are an
 * extent; those of the first rows are nowhere, perhaps, and are made of the pages in every pass:
 *
 *   row 0 ..    streamed, page by page | page-locked memory of the host | device memory    .. n_rows
 *
 * Page-locked memory has the same address on the device (unified addressing, which all 64-bit systems have), so kernels
 * read tiles there as they do on the device, over the bus. Rows that are streamed come first, as a store in files keeps
 * its first pages in memory. */
#pragma once

#include "../base/block.cuh"
#include "../base/device.cuh"
#include "numbers.cuh"

extern "C" {
#include "../../gbt/data/dataset_impl.h"
}

/* ---- what kernels see ---- */

/* Columns of codes side by side, at most 32: lane l of a warp takes column l. The codes of a row are `words` 32-bit
 * words, 1, 2, 4 or 8; column l's code lies in bits [l * bits, (l + 1) * bits) of them, lowest first, all in one
 * word as `bits` is 1, 2, 4, 8 or 16. Row r begins `at` + r * words after the begin of its extent's words: no row
 * straddles two sectors of memory, and `at` is below 0 where the extent begins with a later row than 0.
 *
 * `lanes` is the power of two not below n_cols: a warp takes 32 / lanes rows at a time. A histogram of a tile in shared
 * memory has `pitch` cells of a kind for a code: with 32 of them every lane has a bank of its own. */
struct cu_tile {
  int64_t at;
  int32_t first_col, n_cols, lanes, bits, words;
  uint32_t n_codes; /* of its widest column */
  int32_t pitch;    /* 32, or lanes; 0: too large for shared memory, sums go to global memory at once */
  int32_t counts;   /* rows are counted */
};

/* A column of codes: of one feature, or of a bundle. */
struct cu_column {
  int32_t tile, lane;
  uint32_t slot, n_codes; /* slots of its codes: slot .. slot + n_codes */
};

enum { CU_NUMERIC = 0, CU_ONEHOT, CU_SET };

/* A feature of the training set's cuts: as gbt_place and gbt_feature_cuts. */
struct cu_feature {
  int32_t column;                /* -1: sparse */
  uint32_t slot, n_slots, first; /* as gbt_place; sparse: first is the first slot as lists have it */
  int32_t zero_bin, n_bins;
  int8_t kind, has_missing, counts; /* has_missing: the missing code may hold something; counts: slots are counted */
};

/* A data set as kernels see it; pointers on the device. Codes are those of an extent. */
struct cu_rows_view {
  int64_t n_rows;
  int64_t beg, end; /* of the extent, which codes are there of; others may not be read */
  const uint32_t *words;
  const cu_tile *tile; /* n_tiles of each variant (data/extend.h): see cu_tiles_of */
  const cu_column *column;
  const cu_feature *feat;
  int32_t n_tiles, n_columns, n_features;
  const uint64_t *sparse_beg;  /* n_rows + 1; NULL without sparse features */
  const uint32_t *sparse_slot; /* ascending within a row; 0: the slot sparse_first */
  uint32_t sparse_first;
  const uint64_t *unseen_beg;  /* n_features + 1; NULL when there are none */
  const uint32_t *unseen_row;
  const uint8_t *copy;      /* codes column by column, of the train set where it pays; or NULL */
  const uint64_t *copy_beg; /* n_columns of each variant: the first byte of a column in the copy, or CU_NO_COPY */
};

#define CU_NO_COPY UINT64_MAX

/* The code of a tile's column in a row. */
__device__ static __forceinline__ uint32_t cu_tile_code(const uint32_t *words, const cu_tile &t, int32_t lane,
                                                        uint32_t row) {
  GBT_ASSERT(lane >= 0 && lane < t.n_cols);
  const uint32_t bits = (uint32_t)t.bits, bit = (uint32_t)lane * bits, shift = bit & 31u;
  const uint32_t *w = words + t.at + (uint64_t)row * (uint32_t)t.words + (bit >> 5);
  return *w >> shift & ((1u << bits) - 1u);
}

/* The tiles of a variant: the same columns at the same lanes, of derived features at other places. */
GBT_FN const cu_tile *cu_tiles_of(const cu_rows_view &data, int32_t variant) {
  return data.tile + (uint64_t)(uint32_t)variant * (uint32_t)data.n_tiles;
}

/* The data as one of their variants has them. */
GBT_FN cu_rows_view cu_variant_of(const cu_rows_view &data, int32_t variant) {
  cu_rows_view v = data;
  v.tile = cu_tiles_of(data, variant);
  return v;
}

/* The code of a column in a row, of the first variant. */
__device__ static __forceinline__ uint32_t cu_column_code(const cu_rows_view &data, int32_t column, uint32_t row) {
  const cu_column c = data.column[column];
  return cu_tile_code(data.words, data.tile[c.tile], c.lane, row);
}

/* A column's code as a code (bin, or n_bins for missing) of one of its features. Other features' codes of a bundle say
 * that this one is in its zero bin. */
__device__ static __forceinline__ int32_t cu_code_of(const cu_feature &f, uint32_t column_code) {
  if (f.zero_bin < 0) return (int32_t)column_code;
  uint32_t slot = column_code - f.first;
  if (column_code < f.first || slot >= f.n_slots) return f.zero_bin;
  return gbt_slot_code(f.zero_bin, slot);
}

/* The code of a feature in a row, of the first variant. Sparse: the row's slots are searched. */
__device__ static __forceinline__ int32_t cu_code(const cu_rows_view &data, int32_t feat, uint32_t row) {
  const cu_feature f = data.feat[feat];
  if (f.column >= 0) return cu_code_of(f, cu_column_code(data, f.column, row));
  const uint64_t end = data.sparse_beg[row + 1],
                 lo = cu_lower_bound(data.sparse_slot, data.sparse_beg[row], end, f.first);
  if (lo == end || data.sparse_slot[lo] >= f.first + f.n_slots) return f.zero_bin;
  return gbt_slot_code(f.zero_bin, data.sparse_slot[lo] - f.first);
}

/* Whether codes of all rows are there. */
GBT_FN int cu_has_all(const cu_rows_view &data) { return data.end - data.beg == data.n_rows; }

/* ---- the host's side ---- */

struct cu_ring; /* extents.cu */

/* Rows [beg, end), whose tiles are n_tiles of each variant from `tile` on, on the device. */
struct cu_extent {
  int64_t beg, end;
  uint32_t *words; /* borrowed: of `words` or of `host_words` */
  const cu_tile *tile;
};

struct cu_dataset {
  const gbt_dataset *from; /* shared */
  cu_rows_view view;       /* codes are there when one extent has all rows: cu_is_whole */
  cu_extent extent[2];
  int32_t n_extents;
  int64_t stream_end;      /* rows before it are in no extent */
  cu_array<uint32_t> words, sparse_slot, unseen_row;
  uint32_t *host_words; /* page-locked; or NULL */
  size_t host_bytes;    /* of host_words */
  cu_ring *ring;        /* streams rows; NULL: no rows are streamed */
  cu_array<uint64_t> sparse_beg, unseen_beg;
  cu_array<cu_tile> tile; /* of extent 0, 1, ... */
  cu_array<cu_column> column;
  cu_array<cu_feature> feat;
  cu_numbers label, weight;       /* n_rows, or as many of each output after the other's; empty: none */
  cu_array<double> score;         /* n_rows x n_outputs */
  cu_array<uint8_t> copy;         /* by cu_columns_make; empty: none */
  cu_array<uint64_t> copy_beg;
  double *host_score; /* n_rows x n_outputs, page-locked, made when first asked for */
  cu_tile *host_tile; /* n_tiles, of the first variant; `at`: as if one extent had all rows */
  int32_t base_columns; /* those that all variants share come first */
};

/* Codes of all rows are in one extent. */
static inline int cu_is_whole(const cu_dataset *data) { return data->stream_end == 0 && data->n_extents <= 1; }

/* The purpose of a data set. Borrows all. */
struct cu_dataset_spec {
  const int8_t *counts;   /* n_features: rows are counted, of these features at least */
  int32_t n_outputs;      /* that have scores */
  int64_t max_cat_onehot; /* as gbt_params */
  int32_t tile_cols;      /* most columns of a tile, 0: 32 */
  size_t shared_limit;    /* bytes that a tile's histogram may take */
};

/* Bytes that codes may take. What has no room in either place is streamed. */
struct cu_code_room {
  uint64_t device; /* CU_ALL_ROWS: all rows are to be there */
  uint64_t host;
};
#define CU_ALL_ROWS UINT64_MAX

/* Bytes of shared memory for each of two blocks that are resident on a multiprocessor together, where a single block
 * may have `limit`. From compute capability 8.0 on, the device reserves 1 KB of a multiprocessor's for every block, and
 * `limit` is all but the reserve of one. Before 8.0 nothing is reserved, and this wastes 512 bytes. */
static inline size_t cu_shared_of_two(size_t limit) { return limit > 1024 ? (limit - 1024) / 2 : 0; }

/* Tiles of a data set's pages on the device, its labels and weights. On failure all is as cu_dataset_free leaves it. */
gbt_status cu_dataset_make(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, gbt_dataset *ds,
                           cu_dataset *data, gbt_error *err) GBT_MUST_CHECK;
void cu_dataset_free(const gbt_mem *mem, cu_device *device, cu_dataset *data); /* all 0: nothing */

/* The same in two steps, the codes last, wherever they have room. */
gbt_status cu_dataset_begin(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, gbt_dataset *ds,
                            cu_dataset *data, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_dataset_fill(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, cu_code_room room,
                           cu_dataset *data, gbt_error *err) GBT_MUST_CHECK;

/* Bytes of all codes, about; once it has begun. */
uint64_t cu_code_bytes(const cu_dataset *data);

/* Bytes of the host that its codes may take besides its pages: of pages in files, as much again as their budget, of
 * which a data set of some of the rows has a part, since devices share the pages. */
uint64_t cu_host_room(const gbt_dataset *ds);

/* fn for every extent of the data, in any order, as a variant has them: `view` is the data with its codes. What fn
 * issues in the device's stream reads them there; it does not wait. Rows without an extent come in slots of a ring,
 * which are filled from the pages while the device is at work. Fails as fn does and as the pages' store does. */
typedef gbt_status (*cu_extent_fn)(void *arg, const cu_rows_view *view, gbt_error *err);
gbt_status cu_extents_pass(gbt_ctx *ctx, cu_device *device, cu_dataset *data, int32_t variant, cu_extent_fn fn,
                           void *arg, gbt_error *err) GBT_MUST_CHECK;

/* Device memory that streaming takes, about, if rows of the data set are streamed. */
uint64_t cu_ring_room(const gbt_dataset *ds);

/* The ring of a data set some of whose rows are streamed; closing waits for what is in its stream. */
gbt_status cu_ring_open(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, cu_dataset *data,
                        gbt_error *err) GBT_MUST_CHECK;
void cu_ring_close(const gbt_mem *mem, cu_device *device, cu_dataset *data);

/* The data's codes by column, where they pay and memory allows: the last that is allocated. Waits. */
gbt_status cu_columns_make(const gbt_mem *mem, cu_device *device, cu_dataset *data, gbt_error *err) GBT_MUST_CHECK;
