#include "together.h"

#include "projection.h"
#include "shared_splits.h"

int gbti_grows_together(const gbt_objective *objective, const gbt_params *params) {
  if (!gbt_splits_are_shared(params) || params->sketch == GBT_SKETCH_PROJECTION) return 0;
  if (params->sketch == GBT_SKETCH_NONE) return 1;
  return gbt_has_columns(objective) && objective->n_outputs <= GBTI_TOGETHER_MOST;
}

gbt_status gbti_together_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbti_together *t, gbt_error *err) {
  const size_t K = (size_t)spec->objective.n_outputs;
  t->mem = ctx->mem;
  t->objective = spec->objective;
  t->seed = (uint64_t)spec->params->seed;
  GBT_TRY(gbt_mem_array(&t->mem, K, sizeof *t->size, &t->size, err));
  GBT_TRY(gbt_mem_array(&t->mem, K, sizeof *t->weight, &t->weight, err));
  GBT_TRY(gbt_mem_zeros(&t->mem, K, sizeof *t->direction, &t->direction, err));
  for (size_t k = 0; k < K; k++) t->size[k] = 1.0;
  if (gbt_outputs_are_projected(&spec->objective))
    GBT_TRY(gbti_column_sizes(ctx, &spec->objective, &spec->data[0]->rows, spec->base, t->size, err));
  for (size_t k = 0; k < K; k++) t->weight[k] = 1.0 / t->size[k] / t->size[k];
  t->by = (gbt_together){t->weight, t->direction};
  return GBT_OK;
}

void gbti_together_close(gbti_together *t) {
  double *blocks[] = {t->size, t->weight, t->direction};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&t->mem, blocks[i]);
  t->size = t->weight = t->direction = NULL;
}

void gbti_together_begin(gbti_together *t, uint64_t round) {
  if (t->direction != NULL) gbti_outputs_direction(&t->objective, t->seed, round, t->size, t->direction);
}
