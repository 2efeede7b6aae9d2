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

/* ---- linear leaves ---- */

enum { SLOPE_BINS = 9, HALF = GBT_LINEAR_HALF * GBT_LINEAR_MEAN };

typedef struct slopes_made {
  uint32_t *of, *grid_of, n_grids; /* grid_of: by feature: 1 + its grid, or 0 */
  gbt_linear_leaf *leaf;
  gbt_linear_term *term;
  gbt_linear_grid *grid;
  double *cut;
  int16_t *x;
  uint64_t n_leaves, n_terms;
} slopes_made;

static void make_grids(const gbt_schema *schema, slopes_made *m) {
  const size_t n = (size_t)schema->n_features;
  m->grid_of = test_alloc(n * sizeof *m->grid_of);
  m->grid = test_alloc(n * sizeof *m->grid);
  m->cut = test_alloc(n * SLOPE_BINS * sizeof *m->cut);
  m->x = test_alloc(n * SLOPE_BINS * sizeof *m->x);
  for (int32_t f = 0; f < schema->n_features; f++) {
    m->grid_of[f] = 0;
    if (schema->feat[f].type != GBT_NUMERIC) continue;
    const uint64_t beg = (uint64_t)m->n_grids * SLOPE_BINS;
    for (int i = 0; i < SLOPE_BINS; i++) {
      m->cut[beg + (uint64_t)i] = i + 1 < SLOPE_BINS ? 2.0 * i - 7.0 : INFINITY;
      m->x[beg + (uint64_t)i] = (int16_t)(4096 * (i - SLOPE_BINS / 2));
    }
    m->grid[m->n_grids++] = (gbt_linear_grid){f, SLOPE_BINS, beg};
    m->grid_of[f] = m->n_grids;
  }
}

/* A leaf at node i; feat: n features. */
static void make_sloped(test_rng *rng, slopes_made *m, uint64_t i, double value, const int32_t *feat, uint32_t n) {
  gbt_linear_leaf leaf = {.start = value, .term_beg = m->n_terms, .n_terms = n};
  for (uint32_t k = 0; k < n; k++) {
    gbt_linear_term term = {.slope = test_bell(rng) / GBT_LINEAR_HALF, .grid = m->grid_of[feat[k]] - 1};
    term.mean = (int32_t)(test_below(rng, 2 * (int64_t)HALF) - HALF);
    leaf.start -= term.slope * gbt_linear_mean(&term);
    m->term[m->n_terms++] = term;
  }
  leaf.low = value - 2.0 * test_unit(rng);
  leaf.high = value + 2.0 * test_unit(rng);
  m->leaf[m->n_leaves++] = leaf;
  m->of[i] = (uint32_t)m->n_leaves;
}

static void slope_tree(const explain_scene *s, test_rng *rng, uint64_t t, slopes_made *m) {
  const gbt_node *nodes = s->nodes + s->view.trees[t].node_beg;
  const uint32_t n_nodes = s->view.trees[t].n_nodes;
  uint32_t *parent = test_alloc(n_nodes * sizeof *parent);
  for (uint32_t i = 0; i < n_nodes; i++)
    if (nodes[i].left > 0) parent[nodes[i].left] = parent[nodes[i].left + 1] = i;
  for (uint32_t i = 0; i < n_nodes; i++) {
    int32_t feat[GBT_LINEAR_MOST];
    uint32_t n = 0;
    for (uint32_t at = i; nodes[i].left == 0 && at != 0 && n < GBT_LINEAR_MOST; at = parent[at]) {
      const int32_t f = (int32_t)(nodes[parent[at]].feat & GBT_NODE_FEATURE);
      uint32_t k = 0;
      while (k < n && feat[k] != f) k++;
      if (k == n && m->grid_of[f] > 0) feat[n++] = f;
    }
    if (n > 0 && test_below(rng, 5) > 0)
      make_sloped(rng, m, s->view.trees[t].node_beg + i, nodes[i].arg.value, feat, n);
  }
  free(parent);
}

void explain_scene_slope(explain_scene *s, test_rng *rng) {
  const size_t n = (size_t)s->view.n_nodes;
  slopes_made m = {.of = test_alloc(n * sizeof *m.of), .leaf = test_alloc(n * sizeof *m.leaf)};
  m.term = test_alloc(n * GBT_LINEAR_MOST * sizeof *m.term);
  memset(m.of, 0, n * sizeof *m.of);
  make_grids(s->schema, &m);
  for (uint64_t t = 0; t < s->view.n_trees; t++) slope_tree(s, rng, t, &m);
  free(m.grid_of);
  s->linear = (gbt_linear_view){.n_leaves = m.n_leaves,
                                .n_terms = m.n_terms,
                                .n_values = (uint64_t)m.n_grids * SLOPE_BINS,
                                .n_grids = m.n_grids,
                                .of = m.of,
                                .leaf = m.leaf,
                                .term = m.term,
                                .grid = m.grid,
                                .cut = m.cut,
                                .x = m.x};
  s->view.linear = s->linear;
}

static void free_slopes(explain_scene *s) {
  const void *block[] = {s->linear.of, s->linear.leaf, s->linear.term, s->linear.grid, s->linear.cut, s->linear.x};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) free((void *)(uintptr_t)block[i]);
}

/* The size of a feature's numbers; 0 where they are large, or where it has none. */
static double size_of_numbers(const explain_scene *s, int32_t f, int large) {
  double most = 1.0;
  if (s->schema->feat[f].type != GBT_NUMERIC || s->schema->feat[f].kind != GBT_FEATURE_COLUMN) return 0.0;
  for (int64_t r = 0; r < s->table->table.n_rows; r++) {
    const double x = fabs(s->x[s->n_features * r + f]);
    if (x > most) most = x;
  }
  return most < 1e6 ? most : large ? 1.0 : 0.0;
}

void explain_scene_numbers(explain_scene *s, test_rng *rng, int large) {
  enum { TERMS = 9 };
  const size_t n = (size_t)s->view.n_nodes;
  slopes_made m = {.of = test_alloc(n * sizeof *m.of), .leaf = test_alloc(n * sizeof *m.leaf)};
  m.term = test_alloc(n * TERMS * sizeof *m.term);
  m.grid = test_alloc((size_t)s->n_features * sizeof *m.grid);
  memset(m.of, 0, n * sizeof *m.of);
  for (int32_t f = 0; f < s->n_features; f++)
    if (size_of_numbers(s, f, large) > 0.0) m.grid[m.n_grids++] = (gbt_linear_grid){.feat = f};
  for (size_t i = 0; i < n && m.n_grids > 0; i++) {
    if (s->nodes[i].left > 0 || test_below(rng, 5) == 0) continue;
    gbt_linear_leaf leaf = {.start = test_bell(rng), .term_beg = m.n_terms};
    leaf.n_terms = 1 + (uint32_t)test_below(rng, TERMS);
    for (uint32_t k = 0; k < leaf.n_terms; k++) {
      const uint32_t g = (uint32_t)test_below(rng, m.n_grids);
      const double size = size_of_numbers(s, m.grid[g].feat, large);
      m.term[m.n_terms++] = (gbt_linear_term){.slope = test_bell(rng) / size, .grid = g};
    }
    m.leaf[m.n_leaves++] = leaf;
    m.of[i] = (uint32_t)m.n_leaves;
  }
  free_slopes(s);
  s->linear = (gbt_linear_view){.n_leaves = m.n_leaves,
                                .n_terms = m.n_terms,
                                .n_grids = m.n_grids,
                                .of = m.of,
                                .leaf = m.leaf,
                                .term = m.term,
                                .grid = m.grid};
  s->view.linear = s->linear;
}

/* ---- the scene ---- */

void explain_scene_open_of(explain_scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows,
                           int32_t n_features, int32_t most_players) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  memset(&s->linear, 0, sizeof s->linear);
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
  free_slopes(s);
}

size_t explain_scene_cells(const explain_scene *s, int pairs) {
  size_t p = (size_t)s->n_players + 1;
  return (pairs ? p * p : p) * (size_t)s->view.n_outputs;
}

gbt_explain_spec explain_scene_spec(const explain_scene *s, const gbt_binding *background, int pairs) {
  gbt_explain_spec spec = {{0, s->view.n_trees}, s->player, s->n_players, background, pairs, NULL, 0};
  return spec;
}
