/* The functions of a device's library that hosts call. */
#include "device_api.h"

#include "../data/offload.h"

int gbt_device_fits(const gbt_device_api *api) { return api != NULL && api->build == GBT_BUILD_ID; }

gbt_status gbt_device_about(const gbt_device_api *api, int32_t number, gbt_device_info *out, gbt_error *err) {
  return api->info(number, out, err);
}

int gbt_device_nccl(const gbt_device_api *api, char *text, size_t n_text) {
  if (api->nccl != NULL) return api->nccl(text, n_text);
  if (n_text > 0) text[0] = '\0';
  return 0;
}

const char *gbt_device_work_name(int work) {
  switch ((gbt_device_work)work) {
  case GBT_WORK_TRAIN:
    return "train";
  case GBT_WORK_DATA:
    return "data";
  case GBT_WORK_SCORES:
    return "scores";
  case GBT_WORK_LEAVES:
    return "leaves";
  case GBT_WORK_CONTRIBUTIONS:
    return "contributions";
  }
  return NULL;
}

int gbt_device_offers(const gbt_device_api *api, gbt_device_work work) {
  switch (work) {
  case GBT_WORK_TRAIN:
    return api->open != NULL;
  case GBT_WORK_DATA:
    return api->data != NULL;
  case GBT_WORK_SCORES:
    return api->scores != NULL;
  case GBT_WORK_LEAVES:
    return api->leaves != NULL;
  case GBT_WORK_CONTRIBUTIONS:
    return api->explain != NULL;
  }
  return 0;
}

gbt_status gbt_device_help(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, gbt_offload **out, gbt_error *err) {
  *out = NULL;
  return api->data != NULL ? api->data(ctx, number, out, err) : GBT_OK;
}

void gbt_device_help_close(gbt_offload *help) {
  if (help != NULL) help->close(help);
}

gbt_status gbt_device_statistics(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, size_t limit,
                                 struct gbti_statistics_help **out, gbt_error *err) {
  *out = NULL;
  return api->statistics != NULL ? api->statistics(ctx, number, limit, out, err) : GBT_OK;
}

gbt_status gbt_device_scores(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                             const gbt_binding *binding, gbt_tree_range trees, const double *offset, double *out,
                             gbt_error *err) {
  GBT_ASSERT(api->scores != NULL && trees.beg <= trees.end);
  return api->scores(ctx, number, forest, binding, trees.beg, trees.end - trees.beg, offset, out, err);
}

gbt_status gbt_device_leaves(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                             const gbt_binding *binding, gbt_tree_range trees, int32_t *out, gbt_error *err) {
  GBT_ASSERT(api->leaves != NULL && trees.beg <= trees.end);
  return api->leaves(ctx, number, forest, binding, trees.beg, trees.end - trees.beg, out, err);
}

gbt_status gbt_device_explain(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                              const gbt_binding *binding, const struct gbt_explain_spec *spec, const double *offset,
                              double *out, gbt_error *err) {
  GBT_ASSERT(api->explain != NULL);
  return api->explain(ctx, number, forest, binding, spec, offset, out, err);
}
