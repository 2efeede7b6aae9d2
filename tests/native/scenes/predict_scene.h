/* A forest with a table that is bound to it, to predict. Suites fill it in their own ways. */
#ifndef GBT_TEST_PREDICT_SCENE_H
#define GBT_TEST_PREDICT_SCENE_H

#include "../../src/gbt/data/binding.h"
#include "forests.h"

typedef struct scene {
  gbt_schema *base, *schema; /* base: without projections, or NULL */
  gbt_forest *forest;
  gbt_forest_view view;
  made_table *table;
  gbt_binding *binding;
  gbt_ctx ctx;
} scene;

void scene_close(scene *s);

#endif
