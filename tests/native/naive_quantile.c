/* The weighted quantile of objective/renewal.h by sorting, with whole weights by the C library. */
#include "naive_impl.h"

typedef struct naive_pair {
  double x;
  uint64_t weight;
} naive_pair;

static int by_x(const void *a, const void *b) {
  double x = ((const naive_pair *)a)->x, y = ((const naive_pair *)b)->x;
  return (x > y) - (x < y);
}

static double row_weight(const gbt_trainer_spec *spec, int64_t r) {
  double w = gbt_weight_of(&spec->train->rows, r), size = fabs(gbt_label_of(&spec->train->rows, r));
  return spec->objective.kind == GBT_OBJ_MAPE ? w * (1.0 / fmax(1.0, size)) : w;
}

/* round(w 2^k), k the same for all rows of the training set; at least 1 unless w is 0. */
static uint64_t whole(double w, double max, int64_t n) {
  int e, bits = 0;
  frexp(max, &e);
  while (((int64_t)1 << bits) < n) bits++;
  double x = nearbyint(ldexp(w, 62 - bits - e));
  return w > 0.0 && x < 1.0 ? 1 : (uint64_t)x;
}

double naive_quantile(const gbt_trainer_spec *spec, const double *x, const int64_t *rows, int64_t n) {
  naive_pair *pair = test_alloc((size_t)n * sizeof *pair);
  double level = spec->objective.kind == GBT_OBJ_QUANTILE ? spec->objective.param[0] : 0.5, max = 0.0, out = 0.0;
  uint64_t total = 0, below = 0;
  for (int64_t r = 0; r < spec->train->rows.n; r++) max = fmax(max, row_weight(spec, r));
  for (int64_t i = 0; i < n; i++) {
    int64_t r = rows ? rows[i] : i;
    pair[i] = (naive_pair){x[r] + 0.0, whole(row_weight(spec, r), max, spec->train->rows.n)};
    total += pair[i].weight;
  }
  qsort(pair, (size_t)n, sizeof *pair, by_x);
  for (int64_t i = 0; i < n && total > 0; i++) {
    below += pair[i].weight;
    if (below == 0 || (double)below < level * (double)total) continue;
    out = pair[i].x;
    break;
  }
  free(pair);
  return out;
}
