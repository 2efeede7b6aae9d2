/* Made data of the timing programs: n rows x m features of doubles, binary label with interactions and noise. Every
 * number is a hash of its feature and row, so parts may be made in any order, by any thread or process. */
#ifndef GBT_BENCH_MADE_H
#define GBT_BENCH_MADE_H

#include "base/rng.h"
#include "boost/trainer_impl.h"
#include "gbt.h"

typedef struct made {
  int64_t n, first; /* first: the number of the first row, for parts of a larger set */
  int32_t m;
  double *x, *y; /* x: column by column */
  gbt_column *col;
  char (*name)[16];
} made;

void made_make(made *d, int64_t n, int32_t m);

/* The same in steps. made_new: 0 when there is no memory; values and labels of rows [beg, end): labels are made from
 * values. */
int made_new(made *d, int64_t first, int64_t n, int32_t m);
void made_values(made *d, int64_t beg, int64_t end);
void made_labels(made *d, int64_t beg, int64_t end);
void made_free(made *d);

#endif
