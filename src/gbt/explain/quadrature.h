/* Gauss's quadrature on (0, 1): exact for polynomials up to degree 2 n - 1. */
#ifndef GBT_EXPLAIN_QUADRATURE_H
#define GBT_EXPLAIN_QUADRATURE_H

#include <stdint.h>

/* n >= 1 points, ascending, and their weights, which add up to 1. */
void gbti_quadrature(int32_t n, double *point, double *weight);

#endif
