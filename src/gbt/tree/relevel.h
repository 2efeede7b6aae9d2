/* A forest translated to the levels of other data: continuing a model whose factors had other levels, or the same ones
 * in another order. Levels are matched by text.
 *
 * Every set of levels keeps its meaning: a level of both schemas goes to the same side as before; a level of only the
 * new schema goes to the side of unseen levels (GBT_NODE_BULK_LEFT); a level of only the old schema is dropped. Levels
 * beyond GBT_MAX_LEVELS are in no set: they go to the side of missing values. If the levels of a feature are the same
 * in the same order, nodes and words do not change. Statistics of levels must have the numbers that the model was
 * trained with; gbt_table.statistics makes such data. */
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
