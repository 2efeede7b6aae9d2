/* Cuts: a record for every feature, and the upper borders of the bins of those that are split by numbers. Whether they
 * are in order is a question of data/check.h (gbti_cuts_fault). */
#include "sections.h"

static gbt_status measure_cuts(gbti_writer *w) {
  const gbt_cuts *cuts = w->cuts;
  GBT_ASSERT(cuts->n_features == cuts->schema->n_features);
  w->n[GBTI_SEC_CUTS] = (uint64_t)cuts->n_features;
  for (int32_t f = 0; f < cuts->n_features; f++)
    if (cuts->feat[f].cut != NULL) w->n[GBTI_SEC_CUT_VALUES] += (uint64_t)cuts->feat[f].n_bins;
  return GBT_OK;
}

static void put_cuts(gbti_writer *w) {
  gbti_cuts_record *out = gbti_out(w, GBTI_SEC_CUTS);
  double *value = gbti_out(w, GBTI_SEC_CUT_VALUES);
  for (int32_t f = 0; f < w->cuts->n_features; f++) {
    const gbt_feature_cuts *from = &w->cuts->feat[f];
    out[f] = (gbti_cuts_record){from->n_filled, from->n_bins, from->has_missing, from->zero_bin, from->onehot};
    if (from->cut == NULL) continue;
    gbti_copy(value, from->cut, (uint64_t)from->n_bins * sizeof *value);
    value += from->n_bins;
  }
}

static gbt_status read_cuts(gbti_reader *r) {
  const gbti_cuts_record *from = r->at[GBTI_SEC_CUTS];
  const double *value = r->at[GBTI_SEC_CUT_VALUES];
  uint64_t left = r->n[GBTI_SEC_CUT_VALUES];
  const size_t n_feats = (size_t)r->schema->n_features;
  gbt_cuts *cuts;
  if (r->n[GBTI_SEC_CUTS] != n_feats) return gbti_damaged(r, "some features have no cuts");
  GBT_TRY(gbt_mem_zeros(&r->mem, 1, sizeof *cuts, &cuts, r->err));
  *cuts = (gbt_cuts){.refs = 1, .mem = r->mem, .schema = gbt_schema_ref(r->schema)};
  r->cuts = cuts;
  GBT_TRY(gbt_mem_zeros(&r->mem, n_feats, sizeof *cuts->feat, &cuts->feat, r->err));
  cuts->n_features = r->schema->n_features;
  for (int32_t f = 0; f < cuts->n_features; f++) {
    gbt_feature_cuts *to = &cuts->feat[f];
    double *cut;
    if (from[f].n_bins < 1) return gbti_damaged(r, "cuts are invalid");
    const uint64_t n = r->schema->feat[f].type == GBT_CATEGORICAL ? 0 : (uint64_t)from[f].n_bins;
    if (n > left) return gbti_damaged(r, "a feature has no cuts");
    *to = (gbt_feature_cuts){.n_bins = from[f].n_bins,
                             .has_missing = from[f].has_missing,
                             .zero_bin = from[f].zero_bin,
                             .n_filled = from[f].n_filled,
                             .onehot = from[f].onehot};
    if (n == 0) continue;
    GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *cut, &cut, r->err));
    gbti_copy(cut, value, n * sizeof *cut);
    to->cut = cut;
    value += n;
    left -= n;
  }
  return left == 0 ? GBT_OK : gbti_damaged(r, "there are cuts that belong to no feature");
}

const gbti_part gbti_part_cuts = {measure_cuts, put_cuts, read_cuts};
