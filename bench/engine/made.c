#include "made.h"

#include "math/elementary.h"

#include <stdio.h>
#include <stdlib.h>

static double uniform(gbt_key32 key, uint64_t id) { return ((double)gbt_hash32(key, id) + 0.5) / 4294967296.0; }

int made_new(made *d, int64_t first, int64_t n, int32_t m) {
  d->n = n;
  d->first = first;
  d->m = m;
  d->x = malloc((size_t)n * (size_t)m * sizeof *d->x);
  d->y = malloc((size_t)n * sizeof *d->y);
  d->col = calloc((size_t)m, sizeof *d->col);
  d->name = malloc((size_t)m * sizeof *d->name);
  if (!d->x || !d->y || !d->col || !d->name) {
    made_free(d);
    return 0;
  }
  for (int32_t j = 0; j < m; j++) {
    snprintf(d->name[j], sizeof d->name[j], "f%d", j + 1);
    d->col[j] = (gbt_column){
        .name = d->name[j], .tag = "", .storage = GBT_F64, .values = d->x + (size_t)j * (size_t)n};
  }
  return 1;
}

void made_values(made *d, int64_t beg, int64_t end) {
  for (int32_t j = 0; j < d->m; j++) {
    gbt_key32 key = gbt_key(1, 1, (uint64_t)j, 0);
    double *x = d->x + (size_t)j * (size_t)d->n;
    for (int64_t i = beg; i < end; i++) { /* sum of three uniforms, rounded to float as measured data are */
      uint64_t id = 3u * (uint64_t)(d->first + i);
      double u = uniform(key, id) + uniform(key, id + 1) + uniform(key, id + 2);
      x[i] = (float)(u - 1.5);
    }
  }
}

void made_labels(made *d, int64_t beg, int64_t end) {
  gbt_key32 key = gbt_key(2, 1, 0, 0);
  for (int64_t i = beg; i < end; i++) {
    double s = 0.0;
#define X(j) d->x[(size_t)((j) % d->m) * (size_t)d->n + (size_t)i]
    s = 1.5 * X(0) + X(1) * X(2) * 2.0 + (X(3) > 0.2 ? X(4) : -X(5)) + (X(6) > 0 && X(7) < 0.3) - 0.7 * X(8) * X(8) +
        0.5 * X(9) * X(10) * X(11);
#undef X
    d->y[i] = uniform(key, (uint64_t)(d->first + i)) < gbt_sigmoid(s);
  }
}

void made_make(made *d, int64_t n, int32_t m) {
  if (!made_new(d, 0, n, m)) {
    fprintf(stderr, "no memory for %lld rows x %d features\n", (long long)n, (int)m);
    exit(1);
  }
  made_values(d, 0, n);
  made_labels(d, 0, n);
}

void made_free(made *d) {
  free(d->x);
  free(d->y);
  free(d->col);
  free(d->name);
}
