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
  out->size_reg = spec->params.model_size_reg;
  if (spec->first_use_penalty == NULL && !(out->size_reg > 0.0)) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *out->handicap, &out->handicap, err));
  GBT_TRY(gbt_mem_zeros(mem, n_columns, sizeof *out->cost, &out->cost, err));
  GBT_TRY(gbt_mem_zeros(mem, n_columns, 1, &out->column_used, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)schema->n_projections, 1, &out->table_used, err));
  if (spec->first_use_penalty != NULL) memcpy(out->cost, spec->first_use_penalty, n_columns * sizeof *out->cost);
  return GBT_OK;
}

void gbt_penalties_free(const gbt_mem *mem, gbt_penalties *penalties) {
  gbt_mem_free(mem, penalties->handicap);
  gbt_mem_free(mem, penalties->cost);
  gbt_mem_free(mem, penalties->column_used);
  gbt_mem_free(mem, penalties->table_used);
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

/* Features beyond those of the data have tables of the initial model. */
static void use_tree(gbt_penalties *p, const gbt_schema *data, const gbt_schema *schema, const gbt_forest_view *trees,
                     uint64_t tree) {
  const gbt_node *node = trees->nodes + trees->trees[tree].node_beg;
  for (uint32_t i = 0; i < trees->trees[tree].n_nodes; i++) {
    if (node[i].left == 0) continue;
    const int32_t f = (int32_t)(node[i].feat & GBT_NODE_FEATURE);
    use_columns(p, schema, &schema->feat[f]);
    if (f < data->n_features && data->feat[f].projection >= 0) p->table_used[data->feat[f].projection] = 1;
  }
}

/* ---- what it costs ---- */

static int64_t most_keys(const gbt_schema *schema) {
  int64_t most = 1;
  for (int32_t i = 0; i < schema->n_projections; i++)
    if (schema->proj[i].n_keys > most) most = schema->proj[i].n_keys;
  return most;
}

static gbt_handicap handicap_of(const gbt_penalties *p, const gbt_schema *data, const gbt_feature *feat, int64_t most) {
  gbt_handicap out = {1.0, 0.0};
  if (feat->projection < 0) {
    if (!p->column_used[feat->col]) out.cost = p->cost[feat->col];
    return out;
  }
  const gbt_projection *proj = &data->proj[feat->projection];
  for (int32_t i = 0; i < proj->n_cols; i++)
    if (!p->column_used[proj->col[i]]) out.cost += p->cost[proj->col[i]];
  if (p->size_reg > 0.0 && !p->table_used[feat->projection])
    out.weight = gbt_exp(-p->size_reg * gbt_log(1.0 + (double)proj->n_keys / (double)most));
  return out;
}

void gbt_penalties_update(gbt_penalties *penalties, const gbt_schema *data, const gbt_schema *schema,
                          const gbt_forest_view *trees) {
  if (penalties->handicap == NULL) return;
  const int64_t most = most_keys(data);
  for (; penalties->n_trees < trees->n_trees; penalties->n_trees++)
    use_tree(penalties, data, schema, trees, penalties->n_trees);
  for (int32_t f = 0; f < data->n_features; f++)
    penalties->handicap[f] = handicap_of(penalties, data, &data->feat[f], most);
}
