/* The parts of a model to its bytes. */
#include "../base/float_mode.h"
#include "model_impl.h"

gbt_status gbt_model_write(const gbt_mem *mem, const gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                           gbt_error *err) {
  gbti_writer w = {.mem = *mem, .parts = parts, .err = err};
  *out = NULL;
  *n_bytes = 0;
  GBT_TRY(gbti_check_byte_order("write models", err));
  return gbti_sections_write(&gbti_model_kind, &w, out, n_bytes);
}

/* Marks the features that the trees split by. */
static void mark_used(const gbt_forest_view *forest, uint8_t *used) {
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (nodes[i].left != 0) used[nodes[i].feat & GBT_NODE_FEATURE] = 1;
  }
}

/* Numbers the features that are kept from 0 on in the nodes of a forest and in its grids: copies of them, to be freed
 * by the caller. */
static gbt_status number_features(const gbt_mem *mem, const gbt_schema *schema, const uint8_t *keep,
                                  gbt_forest_view *forest, gbt_node **nodes, gbt_linear_grid **grids, gbt_error *err) {
  uint32_t *number;
  const size_t n_grids = forest->linear.n_grids;
  GBT_TRY(gbt_mem_array(mem, (size_t)forest->n_nodes, sizeof **nodes, nodes, err));
  GBT_TRY(gbt_mem_array(mem, n_grids, sizeof **grids, grids, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *number, &number, err));
  uint32_t n = 0;
  for (int32_t f = 0; f < schema->n_features; f++) {
    number[f] = n;
    n += !gbt_feature_has_table(schema->feat[f].kind) || keep[f];
  }
  gbti_copy(*nodes, forest->nodes, forest->n_nodes * sizeof **nodes);
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    gbt_node *node = *nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (node[i].left != 0)
        node[i].feat = (node[i].feat & ~(uint32_t)GBT_NODE_FEATURE) | number[node[i].feat & GBT_NODE_FEATURE];
  }
  gbti_copy(*grids, forest->linear.grid, n_grids * sizeof **grids);
  for (size_t g = 0; g < n_grids; g++) (*grids)[g].feat = (int32_t)number[(*grids)[g].feat];
  gbt_mem_free(mem, number);
  forest->nodes = *nodes;
  forest->linear.grid = *grids;
  forest->n_features = (int32_t)n;
  return GBT_OK;
}

/* A model without the tables that its trees do not use. */
static gbt_status write_used(const gbt_mem *mem, gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                             gbt_error *err) {
  gbt_status status = GBT_OK;
  uint8_t *used = NULL;
  gbt_schema *schema = NULL;
  gbt_node *nodes = NULL;
  gbt_linear_grid *grids = NULL;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)parts->schema->n_features, 1, &used, err), done);
  mark_used(&parts->forest, used);
  GBT_TRY_GOTO(gbt_schema_keep(mem, parts->schema, used, &schema, err), done);
  GBT_TRY_GOTO(number_features(mem, parts->schema, used, &parts->forest, &nodes, &grids, err), done);
  parts->schema = schema;
  GBT_TRY_GOTO(gbt_model_write(mem, parts, out, n_bytes, err), done);
done:
  gbt_mem_free(mem, grids);
  gbt_mem_free(mem, nodes);
  gbt_schema_unref(schema);
  gbt_mem_free(mem, used);
  return status;
}

gbt_status gbt_model_make(const gbt_mem *mem, const gbt_model_spec *spec, uint8_t **out, size_t *n_bytes,
                          gbt_error *err) {
  gbt_model_parts parts = {*spec->forest, spec->objective, spec->schema, spec->meta, spec->n_meta};
  *out = NULL;
  *n_bytes = 0;
  if (spec->trees.beg > spec->trees.end || spec->trees.end > parts.forest.n_trees)
    return gbt_fail(err, GBT_E_INTERNAL, "a model of trees that the forest does not have");
  parts.forest.trees += spec->trees.beg; /* the writer takes the nodes, sets and vectors of these trees only */
  parts.forest.n_trees = spec->trees.end - spec->trees.beg;
  const uint32_t other_float = gbti_float_begin();
  const gbt_status status = gbt_schema_n_tables(parts.schema) > 0 ? write_used(mem, &parts, out, n_bytes, err)
                                                                  : gbt_model_write(mem, &parts, out, n_bytes, err);
  gbti_float_end(other_float);
  return status;
}
