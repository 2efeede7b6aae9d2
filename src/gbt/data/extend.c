#include "extend.h"

#include "page_impl.h"

/* Derived features follow those of the data set, whose cuts are the same. */
GBT_ASSERT_FN int follows(const gbt_dataset *ds, const gbt_cuts *cuts) {
  if (cuts->n_features < ds->cuts->n_features || cuts->n_rows != ds->cuts->n_rows) return 0;
  for (int32_t f = 0; f < ds->cuts->n_features; f++)
    if (cuts->feat[f].n_bins != ds->cuts->feat[f].n_bins || cuts->feat[f].zero_bin != ds->cuts->feat[f].zero_bin)
      return 0;
  return 1;
}

static gbt_status make_variants(gbt_dataset *out, gbt_page_store *inner, const uint8_t *drop, int32_t n,
                                gbt_error *err) {
  for (int32_t i = 0; i < n; i++) {
    gbt_page_store *after = i > 0 ? out->variant[0] : NULL;
    GBT_TRY(gbti_variant_store(inner, out->cuts, drop, after, &out->variant[i], err));
    out->n_variants = i + 1;
  }
  out->pages = out->variant[0];
  return GBT_OK;
}

gbt_status gbti_dataset_extend(gbt_ctx *ctx, gbt_dataset *ds, gbt_cuts *cuts, const uint8_t *drop, int32_t n_variants,
                               gbt_dataset **out, gbt_error *err) {
  gbt_dataset *ext;
  *out = NULL;
  GBT_ASSERT(n_variants >= 1 && n_variants <= GBT_MOST_VARIANTS && ds->n_variants == 1 && follows(ds, cuts));
  GBT_TRY(gbti_layout_check(cuts, err));
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_TRY(gbt_mem_zeros(&ds->mem, 1, sizeof *ext, &ext, err));
  ext->refs = 1;
  ext->mem = ds->mem;
  ext->base = gbt_dataset_ref(ds);
  ext->cuts = gbt_cuts_ref(cuts);
  ext->rows = ds->rows;
  ext->all_rows = ds->all_rows;
  ext->fingerprint = ds->fingerprint;
  const gbt_status status = make_variants(ext, ds->pages, drop, n_variants, err);
  if (status == GBT_OK)
    *out = ext;
  else
    gbt_dataset_unref(ext);
  return status;
}

void gbti_extended_put(gbt_dataset *ext, int32_t variant, int32_t feature, int64_t beg, int64_t end, const uint8_t *bin,
                       const uint32_t *at) {
  GBT_ASSERT(ext->base != NULL && variant >= 0 && variant < ext->n_variants);
  GBT_ASSERT(feature >= ext->base->cuts->n_features && feature < ext->cuts->n_features);
  GBT_ASSERT(beg >= 0 && end <= ext->rows.n);
  gbti_variant_put(ext->variant[variant], feature, &ext->rows, beg, end, bin, at);
}
