/* See explain_scene.h. */
#include "explain_scene.h"

#include <stdlib.h>

/* Complete trees get one split a layer. Where most training rows went may differ, which is nothing to numbers. */
void explain_scene_symmetric(explain_scene *s, test_rng *rng) {
  for (uint64_t t = 0; t < s->view.n_trees; t++) {
    gbt_node *nodes = s->nodes + s->view.trees[t].node_beg;
    for (uint32_t first = 0; nodes[first].left > 0; first = 2 * first + 1)
      for (uint32_t i = first; i < 2 * first + 1; i++) {
        CHECK(nodes[i].left == 2 * i + 1);
        nodes[i].feat = nodes[first].feat;
        nodes[i].arg = nodes[first].arg;
        if (!(nodes[i].feat & GBT_NODE_CATEGORICAL) && test_below(rng, 2)) nodes[i].feat ^= GBT_NODE_BULK_LEFT;
      }
  }
}

void explain_scene_open_of(explain_scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows,
                           int32_t n_features, int32_t most_players) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  s->n_features = n_features;
  s->schema = make_schema(rng, n_features, 40);
  s->forest = (vectors ? make_vector_forest : make_forest)(rng, s->schema, spec);
  s->view = gbt_forest_view_of(s->forest);
  s->cover = test_alloc((size_t)s->view.n_nodes * sizeof *s->cover);
  for (uint64_t i = 0; i < s->view.n_nodes; i++)
    s->cover[i] = test_below(rng, 6) == 0 ? 0.0 : test_below(rng, 20) == 0 ? -1.0 : s->view.cover[i];
  s->view.cover = s->cover;
  s->nodes = test_alloc((size_t)s->view.n_nodes * sizeof *s->nodes);
  memcpy(s->nodes, s->view.nodes, (size_t)s->view.n_nodes * sizeof *s->nodes);
  s->view.nodes = s->nodes;
  s->table = make_table(rng, s->schema, n_rows);
  CHECK_OK(gbt_binding_new(&ctx, &s->table->table, s->schema, GBT_UNSEEN_PRIOR, &s->binding, test_err));
  s->n_players = 1 + (int32_t)test_below(rng, most_players);
  s->player = test_alloc((size_t)n_features * sizeof *s->player);
  int32_t *feats = test_alloc((size_t)n_features * sizeof *feats);
  int64_t *cursor = test_alloc((size_t)n_features * sizeof *cursor);
  for (int32_t f = 0; f < n_features; f++) {
    s->player[f] = (int32_t)test_below(rng, s->n_players);
    feats[f] = f;
  }
  s->x = test_alloc((size_t)n_rows * (size_t)n_features * sizeof *s->x);
  for (int64_t r = 0; r < n_rows; r++) {
    memset(cursor, 0, (size_t)n_features * sizeof *cursor);
    gbt_binding_read(s->binding, r, 1, feats, n_features, cursor, s->x + n_features * r, n_features);
  }
  free(feats);
  free(cursor);
  gbt_ctx_close(&ctx);
}

void explain_scene_open(explain_scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows) {
  explain_scene_open_of(s, rng, spec, vectors, n_rows, 8, MOST_PLAYERS);
}

void explain_scene_close(explain_scene *s) {
  gbt_binding_free(s->binding);
  free_table(s->table);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
  free(s->cover);
  free(s->nodes);
  free(s->x);
  free(s->player);
}

size_t explain_scene_cells(const explain_scene *s, int pairs) {
  size_t p = (size_t)s->n_players + 1;
  return (pairs ? p * p : p) * (size_t)s->view.n_outputs;
}

gbt_explain_spec explain_scene_spec(const explain_scene *s, const gbt_binding *background, int pairs) {
  gbt_explain_spec spec = {{0, s->view.n_trees}, s->player, s->n_players, background, pairs, NULL, 0};
  return spec;
}
