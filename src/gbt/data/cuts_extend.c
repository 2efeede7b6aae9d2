/* Cuts of a table, extended by further features. */
#include <math.h>
#include <string.h>

#include "cuts.h"

static gbt_status copy_cut(const gbt_mem *mem, const double *cut, int32_t n, const double **out, gbt_error *err) {
  double *copy;
  if (cut == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *copy, &copy, err));
  memcpy(copy, cut, (size_t)n * sizeof *copy);
  *out = copy;
  return GBT_OK;
}

/* Bin b holds the number b. Every row is taken to be outside of the zero bin, so such features are columns of codes. */
static gbt_status number_bins(const gbt_mem *mem, int32_t n_bins, int64_t n_rows, gbt_feature_cuts *out,
                              gbt_error *err) {
  double *cut;
  GBT_TRY(gbt_mem_array(mem, (size_t)n_bins, sizeof *cut, &cut, err));
  for (int32_t b = 0; b < n_bins - 1; b++) cut[b] = b;
  cut[n_bins - 1] = (double)INFINITY;
  *out = (gbt_feature_cuts){.n_bins = n_bins, .zero_bin = 0, .cut = cut, .n_filled = n_rows};
  return GBT_OK;
}

gbt_status gbti_cuts_extend(const gbt_mem *mem, const gbt_cuts *cuts, gbt_schema *schema, const int32_t *n_bins,
                            const uint8_t *onehot, gbt_cuts **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_cuts *to = NULL;
  *out = NULL;
  GBT_ASSERT(schema->n_features >= cuts->n_features);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, 1, sizeof *to, &to, err), done);
  to->refs = 1;
  to->mem = *mem;
  to->schema = gbt_schema_ref(schema);
  to->n_features = schema->n_features;
  to->n_rows = cuts->n_rows;
  to->absent_missing = cuts->absent_missing;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)to->n_features, sizeof *to->feat, &to->feat, err), done);
  for (int32_t f = 0; f < cuts->n_features; f++) {
    gbt_feature_cuts *feat = &to->feat[f];
    *feat = cuts->feat[f];
    feat->cut = NULL; /* until it is copied */
    if (onehot != NULL && onehot[f]) feat->onehot = 1;
    GBT_TRY_GOTO(copy_cut(mem, cuts->feat[f].cut, feat->n_bins, &feat->cut, err), done);
  }
  for (int32_t f = cuts->n_features; f < to->n_features; f++) {
    GBT_ASSERT(n_bins[f - cuts->n_features] >= 1);
    GBT_TRY_GOTO(number_bins(mem, n_bins[f - cuts->n_features], cuts->n_rows, &to->feat[f], err), done);
  }
done:
  if (status == GBT_OK)
    *out = to;
  else
    gbt_cuts_unref(to);
  return status;
}
