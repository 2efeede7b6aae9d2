/* Numbers as texts and as float32, without the host's locale. */
#ifndef GBT_EXCHANGE_DECIMAL_H
#define GBT_EXCHANGE_DECIMAL_H

#include "../base/mem.h"

typedef struct gbti_decimal {
  double nearest;    /* the double nearest to the number, ties to even; infinite where it is too large */
  float nearest_f32; /* the same of float32, not by way of the double */
  size_t n;          /* characters of the number; 0: there is none */
} gbti_decimal;

/* Reads -12, 0.5, 1e-07, ... from the beginning of a text of n characters: digits, with a point between or after them
 * and an exponent. */
gbti_decimal gbti_read_decimal(const char *text, size_t n);

/* The fewest figures that are read as x, a finite number above 0, in `figure` (without NULs at the end), the first of
 * which is for 10^*exponent; as_float: read as float32, which x is one of. Returns their number, at most 17. Where a
 * power of two has several numbers of so many figures, they are those nearest to it. */
enum { GBTI_FIGURES = 20 };
int gbti_shortest(double x, int as_float, char *figure, int *exponent);

/* The same of a double, but of figures that readers with a few bits more than a double's round to x too, as SQLite
 * before 3.43: those of gbti_shortest(), or 18 where these are next to a tie. */
enum { GBTI_CLEAR_FIGURES = 18 };
int gbti_clear_figures(double x, char *figure, int *exponent);

/* The smallest float32 above x, which may be +Inf; -Inf has the lowest finite one. x is not NaN. */
float gbti_above_f32(double x);

/* The largest float32 that is at most x, which is not NaN; it may be infinite. */
float gbti_at_most_f32(double x);

/* The largest double whose float32 is below t, or, or_equal, not above it: x <= the result says of every double x what
 * (float)x < t, or (float)x <= t, says. t is not NaN. -Inf: there is none but -Inf. */
double gbti_below_f32(float t, int or_equal);

#endif
