/* Rows of a data set's pages on their way to tiles: dataset.cu fills memory with them, extents.cu slots of a ring. */
#pragma once

#include "../base/stage.cuh"
#include "resident.cuh"
#include "tiles.cuh"

/* All 0 before it is opened; close also after a failure. */
struct cu_upload {
  const gbt_dataset *from; /* borrowed */
  cu_device *device;
  int32_t first_strip, first_tile; /* what comes before them does not go up */
  int32_t n_tiles;                 /* of a variant */
  uint64_t before;                 /* bytes of a row in the strips before them */
  cu_resident *resident; /* strips that need not go up; NULL: none */
  int picks;             /* rows of a mask are picked from these strips on the device */
  size_t row_bytes;      /* that a row takes in a half: its codes, and its number where it is picked */
  cu_stage stage;
  cu_array<unsigned char> raw; /* numbers of rows that are picked, then rows as they are in the pages */
  cu_array<cu_source> source;  /* of the plan */
};

/* Bytes of a half where memory is scarce: a small share of the bytes of all rows. */
static inline size_t cu_small_half(int64_t n_rows, size_t row_bytes) {
  enum : uint64_t { SHARE = 16, LEAST = 4096 };
  const uint64_t share = (uint64_t)n_rows * row_bytes / SHARE;
  return (size_t)(share < LEAST ? (uint64_t)LEAST : share > CU_STAGE_BYTES ? (uint64_t)CU_STAGE_BYTES : share);
}

/* Halves of at most `most` bytes, and a row at least. uses_resident: strips that are on the device are read there. */
gbt_status cu_upload_open(gbt_ctx *ctx, cu_device *device, const gbt_dataset *from, const cu_plan *plan,
                          size_t most, int uses_resident, cu_upload *up, gbt_error *err) GBT_MUST_CHECK;
void cu_upload_close(cu_upload *up); /* waits for what is in the stage's stream */

/* Leaves out the part that all variants share, which is on the device. */
void cu_upload_leave_base(cu_upload *up, const cu_plan *plan);

/* Most rows that go up at once. */
static inline int64_t cu_upload_rows(const cu_upload *up) { return (int64_t)(up->stage.bytes / up->row_bytes); }

/* fn for the pages of a variant that have rows [0, end) of the data set: of a mask, from its first row on. See
 * gbt_pages_pass. */
gbt_status cu_pages_pass(gbt_ctx *ctx, const gbt_dataset *ds, int32_t variant, int64_t end, gbt_pages_fn fn, void *arg,
                         gbt_error *err) GBT_MUST_CHECK;

/* Rows [beg, beg + n) of the data, all in the span, to these tiles (from first_tile on), at their rows' places from
 * `words` on, in the stage's stream. When it returns, all that is needed of the pages has been copied to a half of the
 * stage. */
gbt_status cu_upload_send(cu_upload *up, const gbt_page_span *span, int64_t beg, uint32_t n, uint32_t *words,
                          const cu_tile *tile, gbt_error *err) GBT_MUST_CHECK;
