#include "test.h"

int64_t *test_permutation(test_rng *rng, int64_t n) {
  int64_t *p = test_alloc((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = test_below(rng, i + 1), t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
  return p;
}
