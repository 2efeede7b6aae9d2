/* Which columns of a data set share a tile, and where its pages have them. */
#pragma once

#include "dataset.cuh"

enum { CU_TILE_WORDS = 8 }; /* most words of a tile's row: a sector of memory */

/* Where the pages have a column's codes. */
struct cu_source {
  uint64_t before;     /* bytes that strips before its own have a row */
  uint32_t at, stride; /* bytes: of its code in the strip's row; from row to row */
  int32_t wide;
};

/* On the host. */
struct cu_plan {
  int32_t n_columns, n_tiles;
  int32_t base_columns, base_tiles; /* those that all variants share; derived features' come after them */
  uint64_t n_words;                 /* of all tiles of all variants */
  uint64_t
      variant_words;  /* of the tiles of one variant's derived features; each variant's come after the previous one's */
  uint64_t row_bytes; /* of all strips */
  cu_column *column;  /* n_columns */
  cu_source *source;  /* n_columns */
  cu_tile *tile;      /* n_tiles */
  int32_t *number;    /* by group * GBT_GROUP_MAX + pos: the column */
  uint64_t *key;      /* n_columns: what they are sorted by */
  uint32_t *place;    /* n_columns: group * GBT_GROUP_MAX + pos */
  uint64_t *tmp_key;
  uint32_t *tmp_place;
};

/* Tiles of the first of n_variants. Free with cu_plan_free, also after a failure. */
gbt_status cu_plan_make(const gbt_mem *mem, const cu_dataset_spec *spec, const gbt_layout *layout, int64_t n_rows,
                        int32_t n_variants, cu_plan *plan, gbt_error *err) GBT_MUST_CHECK;
void cu_plan_free(const gbt_mem *mem, cu_plan *plan);

/* The places of the plan's tiles for so many rows and variants, and n_words and variant_words. */
void cu_plan_rows(cu_plan *plan, int64_t n_rows, int32_t n_variants);

/* How many of n_rows rows have room in so many bytes; places are not those of any number of rows afterwards. */
int64_t cu_plan_fit(cu_plan *plan, int64_t n_rows, int32_t n_variants, uint64_t bytes);

/* How many columns a tile of such data should have at most, so that the device is busy. */
int32_t cu_tile_columns(int64_t n_rows, int32_t n_features, int32_t n_units);
