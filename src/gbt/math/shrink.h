/* A score on its way back to where it began. */
#ifndef GBT_MATH_SHRINK_H
#define GBT_MATH_SHRINK_H

#include "../base/hd.h"

/* start: the score before the first tree. Trees shrink, what they were added to does not. */
GBT_FN double gbt_shrunk(double score, double start, double factor) { return start + (score - start) * factor; }

#endif
