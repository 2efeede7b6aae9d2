/* A forest translated to the levels of other data: continuing a model whose factors had other levels, or the same ones
 * in another order. Levels are the same when their texts are.
 *
 * Every set of levels keeps its meaning: a level that both schemas know goes to the same side as before; one that only
 * the new schema knows goes where unseen levels went (GBT_NODE_BULK_LEFT); one that only the old schema knows is
 * dropped. Levels beyond GBT_MAX_LEVELS are in no set: one that was beyond them goes where missing values go. Where a
 * feature's levels are the same in the same order, nodes and words stay as they are, bit by bit. Statistics of levels
 * must have the numbers that the model was grown with; gbt_table.statistics makes such data. */
#ifndef GBT_TREE_RELEVEL_H
#define GBT_TREE_RELEVEL_H

#include "../schema/schema.h"
#include "forest.h"

/* from: trees on old_schema; *out: the same trees on schema. Both schemas have the same features in the same order, but
 * for those that are read from tables: the ones of old_schema are the last ones of schema (gbt_schema_join).
 * GBT_E_ARG names a feature that is split on and whose type differs, an ordinal one whose levels do (thresholds are
 * ranks), or a statistic with other numbers. */
gbt_status gbt_forest_relevel(const gbt_mem *mem, const gbt_forest_view *from, const gbt_schema *old_schema,
                              const gbt_schema *schema, gbt_forest **out, gbt_error *err) GBT_MUST_CHECK;

#endif
