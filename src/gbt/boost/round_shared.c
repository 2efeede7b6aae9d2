/* The stage that grows the splits which the trees of a round share. */
#include "../base/clock.h"
#include "round.h"
#include "shared_splits.h"

gbt_status gbti_shared_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage, gbt_error *err) {
  gbt_shared_splits *splits;
  GBT_TRY(gbt_shared_splits_new(ctx, &spec->backend, spec->device, spec->device_number, &splits, err));
  stage->own = splits;
  stage->be = gbt_shared_splits_backend(splits);
  return GBT_OK;
}

static gbt_status gradients(gbt_ctx *ctx, gbti_stage *stage, gbti_stage *next, uint64_t round, gbt_error *err) {
  const int64_t t0 = gbt_clock_ns();
  const double before = stage->be->seconds[GBT_PHASE_GRADIENT]; /* which the backend counts itself */
  GBT_TRY(gbt_shared_splits_begin(ctx, stage->own, next->be, round, err));
  stage->be->seconds[GBT_PHASE_GRADIENT] = before + (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}

static gbt_status begin(gbt_ctx *ctx, gbti_stage *stage, const gbt_tree_task *first, gbt_error *err) {
  return gbt_shared_splits_grow(ctx, stage->own, first, err);
}

/* The structure was grown when the round began, and the trees of its classes, which become one tree. */
static gbt_status trees(gbt_ctx *ctx, gbti_stage *stage, gbt_tree_task *task, int32_t n, int first,
                        gbti_splits *splits, gbt_forest *forest, gbt_error *err) {
  (void)ctx, (void)n, (void)err;
  GBT_ASSERT(first && forest == NULL);
  *splits = (gbti_splits){gbt_shared_splits_trees(stage->own), (uint64_t)task[0].output};
  return GBT_OK;
}

static void close_stage(gbti_stage *stage) { gbt_shared_splits_free(stage->own); }

const gbti_stage_ops gbti_shared_stage = {
    .gradients = gradients, .begin = begin, .trees = trees, .close = close_stage};
