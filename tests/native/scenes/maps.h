/* Schemas with projections and tables, drawn at random. */
#ifndef GBT_TEST_MAPS_H
#define GBT_TEST_MAPS_H

#include "../../src/gbt/data/table.h"
#include "test.h"

/* A schema of the table's columns, with some of the levels of its factors and some that it does not have. */
gbt_schema *maps_base(test_rng *rng, const gbt_table *table);

/* `base` with up to n projections of its factors, alone and combined, with none to all of their keys but about
 * most_keys, and one to three features of each. NULL after a failed check. */
gbt_schema *maps_extend(test_rng *rng, gbt_schema *base, int32_t n, int64_t most_keys);

#endif
