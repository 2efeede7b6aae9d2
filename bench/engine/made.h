/* Made data of the timing programs: n rows x m features of doubles, binary label with interactions and noise. */
#ifndef GBT_BENCH_MADE_H
#define GBT_BENCH_MADE_H

#include "gbt.h"

typedef struct made {
  int64_t n;
  int32_t m;
  double *x, *y;
  gbt_column *col;
  char (*name)[16];
} made;

void made_make(made *d, int64_t n, int32_t m);
void made_free(made *d);

#endif
