/* A random forest, a table for it, and who plays: for the tests of contributions. */
#ifndef GBT_TEST_EXPLAIN_SCENE_H
#define GBT_TEST_EXPLAIN_SCENE_H

#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/explain/explain.h"
#include "forests.h"

enum { MOST_PLAYERS = 6 };

typedef struct explain_scene {
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_forest_view view; /* with covers of its own, some of them 0, and nodes of its own */
  double *cover, *x;    /* x: n_rows x n_features */
  gbt_node *nodes;
  made_table *table;
  gbt_binding *binding;
  int32_t *player;
  gbt_linear_view linear; /* all 0, or the view's: owned */
  int32_t n_players, n_features;
} explain_scene;

/* Complete trees get one split a layer. */
void explain_scene_symmetric(explain_scene *s, test_rng *rng);
/* most_players: of them some; vectors: leaves hold a value for every output. */
void explain_scene_open_of(explain_scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows,
                           int32_t n_features, int32_t most_players);
/* Makes most leaves linear in the numeric features on the way to them, GBT_LINEAR_MOST at most; with their values at
 * the means. Leaves have a value each. */
void explain_scene_slope(explain_scene *s, test_rng *rng);
/* Makes most leaves leaves of numbers: of up to 9 terms, of any numeric features; large: also of those whose numbers
 * are large. */
void explain_scene_numbers(explain_scene *s, test_rng *rng, int large);
/* Of 8 features and up to MOST_PLAYERS players. */
void explain_scene_open(explain_scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows);
void explain_scene_close(explain_scene *s);
/* Numbers of a row. */
size_t explain_scene_cells(const explain_scene *s, int pairs);
/* All trees. background: NULL by cover. */
gbt_explain_spec explain_scene_spec(const explain_scene *s, const gbt_binding *background, int pairs);

#endif
