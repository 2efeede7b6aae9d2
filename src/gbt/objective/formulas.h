/* The formulas of all objectives. */
#ifndef GBT_OBJECTIVE_FORMULAS_H
#define GBT_OBJECTIVE_FORMULAS_H

#define GBT_OBJECTIVE_FORMULAS
#include "objectives.def"
#undef GBT_OBJECTIVE_FORMULAS

#endif
