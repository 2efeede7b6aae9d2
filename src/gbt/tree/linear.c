#include "linear.h"

#include "../base/bits.h"

static int is_finite(double x) { return x - x == 0.0; }

/* Where bin b lies; the cuts are finite and at least one. */
static double middle(const double *cut, int32_t n_bins, int32_t b) {
  const int32_t last = n_bins - 2; /* the last finite cut */
  const double half = last > 0 ? 0.5 : 0.0;
  if (b == 0) return last > 0 ? cut[0] - (cut[1] * half - cut[0] * half) : cut[0] - 0.5;
  if (b > last) return last > 0 ? cut[last] + (cut[last] * half - cut[last - 1] * half) : cut[0] + 0.5;
  return cut[b - 1] * half + cut[b] * half;
}

/* The power of two by which numbers up to `size` come to at most GBT_LINEAR_HALF, in two factors, as it may be larger
 * than a double is. */
static void scale_of(double size, double out[2]) {
  const int exponent = (int)((gbt_bits(size) >> 52) & 0x7ff) - 1022; /* size < 2^exponent */
  const int e = 14 - exponent;
  out[0] = gbt_pow2(e / 2);
  out[1] = gbt_pow2(e - e / 2);
}

int gbt_linear_units(const double *cut, int32_t n_bins, double *centre, double up[2]) {
  double size = 0.0;
  if (n_bins < 2) return 0;
  for (int32_t b = 0; b < n_bins - 1; b++)
    if (!is_finite(cut[b])) return 0;
  *centre = middle(cut, n_bins, n_bins / 2);
  for (int32_t b = 0; b < n_bins; b++) {
    const double off = middle(cut, n_bins, b) - *centre, far = off < 0.0 ? -off : off;
    if (!is_finite(off)) return 0;
    if (far > size) size = far;
  }
  if (!(size > 0.0)) return 0;
  scale_of(size, up);
  return 1;
}

int gbt_linear_positions(const double *cut, int32_t n_bins, int16_t *x) {
  double centre, up[2];
  if (!gbt_linear_units(cut, n_bins, &centre, up)) return 0;
  for (int32_t b = 0; b < n_bins; b++) {
    const int64_t at = gbt_round_i64(((middle(cut, n_bins, b) - centre) * up[0]) * up[1]);
    GBT_ASSERT(at >= -GBT_LINEAR_HALF && at <= GBT_LINEAR_HALF);
    x[b] = (int16_t)at;
  }
  return 1;
}
