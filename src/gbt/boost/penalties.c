#include "penalties.h"

#include <string.h>

static gbt_status check_costs(const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  for (int32_t c = 0; spec->first_use_penalty != NULL && c < schema->n_columns; c++)
    if (!(spec->first_use_penalty[c] >= 0.0 && spec->first_use_penalty[c] < 1e300))
      return gbt_fail_on(err, GBT_E_ARG, schema->col[c].name,
                         "`first_use_penalty` of column `%s` must be a finite number, 0 or more", schema->col[c].name);
  return GBT_OK;
}

gbt_status gbt_penalties_make(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_penalties *out, gbt_error *err) {
  const gbt_schema *schema = spec->train->cuts->schema;
  const size_t n_columns = (size_t)schema->n_columns;
  memset(out, 0, sizeof *out);
  GBT_TRY(check_costs(spec, err));
  if (spec->first_use_penalty == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *out->handicap, &out->handicap, err));
  GBT_TRY(gbt_mem_array(mem, n_columns, sizeof *out->cost, &out->cost, err));
  GBT_TRY(gbt_mem_zeros(mem, n_columns, 1, &out->column_used, err));
  memcpy(out->cost, spec->first_use_penalty, n_columns * sizeof *out->cost);
  return GBT_OK;
}

void gbt_penalties_free(const gbt_mem *mem, gbt_penalties *penalties) {
  gbt_mem_free(mem, penalties->handicap);
  gbt_mem_free(mem, penalties->cost);
  gbt_mem_free(mem, penalties->column_used);
}

/* ---- what is used ---- */

static void use_columns(gbt_penalties *p, const gbt_schema *schema, const gbt_feature *feat) {
  if (feat->projection < 0) {
    p->column_used[feat->col] = 1;
    return;
  }
  const gbt_projection *proj = &schema->proj[feat->projection];
  for (int32_t i = 0; i < proj->n_cols; i++) p->column_used[proj->col[i]] = 1;
}

static void use_tree(gbt_penalties *p, const gbt_schema *schema, const gbt_forest_view *trees, uint64_t tree) {
  const gbt_node *node = trees->nodes + trees->trees[tree].node_beg;
  for (uint32_t i = 0; i < trees->trees[tree].n_nodes; i++)
    if (node[i].left != 0) use_columns(p, schema, &schema->feat[node[i].feat & GBT_NODE_FEATURE]);
}

/* ---- what it costs ---- */

static double handicap_of(const gbt_penalties *p, const gbt_schema *data, const gbt_feature *feat) {
  if (feat->projection < 0) return p->column_used[feat->col] ? 0.0 : p->cost[feat->col];
  const gbt_projection *proj = &data->proj[feat->projection];
  double cost = 0.0;
  for (int32_t i = 0; i < proj->n_cols; i++)
    if (!p->column_used[proj->col[i]]) cost += p->cost[proj->col[i]];
  return cost;
}

void gbt_penalties_update(gbt_penalties *penalties, const gbt_schema *data, const gbt_schema *schema,
                          const gbt_forest_view *trees) {
  if (penalties->handicap == NULL) return;
  for (; penalties->n_trees < trees->n_trees; penalties->n_trees++)
    use_tree(penalties, schema, trees, penalties->n_trees);
  for (int32_t f = 0; f < data->n_features; f++)
    penalties->handicap[f] = handicap_of(penalties, data, &data->feat[f]);
}
