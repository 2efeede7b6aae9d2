/* gbti_visit_tree for the instruction sets, with the number of points as a constant where it is small. */
#ifndef GBT_EXPLAIN_KERNEL_H
#define GBT_EXPLAIN_KERNEL_H

#include "../base/ctx.h"
#include "step.h"

typedef void (*gbti_visit_fn)(const gbti_visit *visit, const gbti_lanes *lanes, int pairs, double *acc);
gbti_visit_fn gbti_visit_for(gbt_simd simd);

#endif
