#include "predict_scene.h"

void scene_close(scene *s) {
  gbt_binding_free(s->binding);
  free_table(s->table);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
  gbt_schema_unref(s->base);
  gbt_ctx_close(&s->ctx);
}
