/* What features cost in a round, from the definition in boost/penalties.h. The twin knows no tables of statistics. */
#include "naive_impl.h"

void naive_handicaps(naive *nv, const gbt_forest *forest) {
  const gbt_schema *schema = nv->cuts->schema;
  const gbt_forest_view view = gbt_forest_view_of(forest);
  uint8_t *used = test_alloc((size_t)schema->n_columns + 1);
  memset(used, 0, (size_t)schema->n_columns);
  for (uint64_t i = 0; i < view.n_nodes; i++)
    if (view.nodes[i].left > 0) used[schema->feat[view.nodes[i].feat & GBT_NODE_FEATURE].col] = 1;
  for (int32_t f = 0; f < nv->n_feats; f++) {
    const int32_t col = schema->feat[f].col;
    nv->cost[f] = nv->spec->first_use_penalty != NULL && !used[col] ? nv->spec->first_use_penalty[col] : 0.0;
  }
  free(used);
}
