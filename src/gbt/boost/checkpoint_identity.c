/* The identity of a training, by which its checkpoint is known: a number that trainings with the same data and
 * parameters have, by any ranks. */
#include "../base/checksum.h"
#include "../data/fingerprint.h"
#include "checkpoint.h"
#include "ranks.h"
#include "trainer_state.h"

static uint64_t mix_sum(uint64_t h, const void *bytes, size_t n) {
  return gbt_mix64(h ^ (bytes != NULL && n > 0 ? gbt_checksum(bytes, n) : 0));
}

static uint64_t mix_cuts(uint64_t h, const gbt_cuts *cuts) {
  h = gbt_mix64(h ^ (uint64_t)cuts->n_features ^ (uint64_t)cuts->n_rows << 32);
  for (int32_t f = 0; f < cuts->n_features; f++) {
    const gbt_feature_cuts *feat = &cuts->feat[f];
    h = gbt_mix64(h ^ (uint64_t)feat->n_bins ^ (uint64_t)feat->has_missing << 32);
    h = gbt_mix64(h ^ (uint64_t)feat->n_filled);
    h = mix_sum(h, feat->cut, feat->cut != NULL ? (size_t)feat->n_bins * sizeof *feat->cut : 0);
  }
  return h;
}

/* Where there are linear leaves; their grids are those of the cuts. */
static uint64_t mix_linear(uint64_t h, const gbt_forest_view *f) {
  if (f->linear.n_leaves == 0) return h;
  h = mix_sum(h, f->linear.of, (size_t)f->n_nodes * sizeof *f->linear.of);
  h = mix_sum(h, f->linear.leaf, (size_t)f->linear.n_leaves * sizeof *f->linear.leaf);
  return mix_sum(h, f->linear.term, (size_t)f->linear.n_terms * sizeof *f->linear.term);
}

static uint64_t mix_forest(uint64_t h, const gbt_forest_view *f) {
  h = mix_linear(h, f);
  h = mix_sum(h, f->base, (size_t)f->n_outputs * sizeof *f->base);
  h = mix_sum(h, f->trees, (size_t)f->n_trees * sizeof *f->trees);
  h = mix_sum(h, f->nodes, (size_t)f->n_nodes * sizeof *f->nodes);
  h = mix_sum(h, f->sets, (size_t)f->n_words * sizeof *f->sets);
  h = mix_sum(h, f->gain, (size_t)f->n_nodes * sizeof *f->gain);
  h = mix_sum(h, f->cover, (size_t)f->n_nodes * sizeof *f->cover);
  h = mix_sum(h, f->count, (size_t)f->n_nodes * sizeof *f->count);
  return mix_sum(h, f->leaf_values, (size_t)f->n_vectors * (size_t)f->n_leaf_outputs * sizeof *f->leaf_values);
}

/* The rows of all ranks, in their order, with the scores that they begin with. */
static gbt_status mix_rows(gbt_ctx *ctx, const gbt_trainer_spec *spec, const gbt_dataset *ds, const double *score,
                           uint64_t *h, gbt_error *err) {
  uint64_t rows;
  GBT_TRY(gbti_rows_fingerprint(ctx, ds, score, spec->objective.n_outputs, &rows, err));
  *h = gbt_mix64(*h ^ rows);
  return GBT_OK;
}

gbt_status gbti_training_identity(gbt_ctx *ctx, const gbt_trainer_spec *spec, const gbt_forest_view *start,
                                  uint64_t *out, gbt_error *err) {
  gbt_trainer_spec shown = *spec;
  *out = 0;
  if (!spec->checkpoints) return GBT_OK;
  shown.params.hist_memory = shown.params.device_memory = 0;
  shown.max_seconds = 0.0;
  shown.eta = NULL; /* the values of the rounds that are done are compared, see take_eta() */
  uint64_t h = mix_cuts(gbt_ranks_mix_spec(&shown), spec->train->cuts);
  GBT_TRY(mix_rows(ctx, spec, spec->train, spec->init_score, &h, err));
  for (int32_t i = 0; i < spec->n_valid; i++)
    GBT_TRY(mix_rows(ctx, spec, spec->valid[i], spec->init_valid[i], &h, err));
  h = mix_forest(h, start);
  *out = h != 0 ? h : 1;
  return GBT_OK;
}
