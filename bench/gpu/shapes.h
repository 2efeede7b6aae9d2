/* Made data of the shapes that boosting is usually timed with. Every number is a hash of its column and row (see
 * bench/engine/made.h): no files, the same in any process, and rows after the training rows are a test set. All values
 * fit in 32-bit floats.
 *
 *   higgs       11,000,000 x 28      numbers, binary
 *   airline    115,000,000 x 13      whole numbers of 2 to 7,500 values, binary
 *   covertype      581,000 x 54      10 whole numbers, 4 + 40 indicators of which one each is 1; 7 classes
 *   epsilon        400,000 x 2,000   numbers, binary
 *   small          100,000 x 28      as higgs */
#ifndef GBT_BENCH_SHAPES_H
#define GBT_BENCH_SHAPES_H

#include "../engine/made.h"

typedef struct shape {
  const char *name;
  int64_t rows;
  int32_t cols, classes; /* classes 2: binary label 0 or 1 */
} shape;

/* NULL when there is none of that name. */
const shape *shape_find(const char *name);

/* Rows first .. first + n of a shape with `cols` columns (the shape's own, or a number of one's own for those that are
 * all numbers), by all threads of ctx. 0 when there is no memory. Free with made_free. */
int shape_make(gbt_ctx *ctx, const shape *s, int64_t first, int64_t n, int32_t cols, made *d);

/* For other languages: the same rows as 32-bit floats, row by row, and their labels, by `threads` threads. 0 on
 * failure. */
int shape_floats(const char *name, int64_t first, int64_t n, int32_t cols, int threads, float *x, float *y);

#endif
