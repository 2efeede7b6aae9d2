/* exp() of many numbers. */
#ifndef GBT_JOINT_EXPS_H
#define GBT_JOINT_EXPS_H

#include "../base/ctx.h"

/* x[i] becomes gbt_exp(x[i]), by this instruction set; all give the same numbers. */
void gbt_exps(gbt_simd simd, double *x, size_t n);

#endif
