#include "datasets.h"

#include "../../src/gbt/backend/device.h"

gbt_status dataset_helped(gbt_ctx *ctx, gbt_offload *help, const gbt_table *table, gbt_cuts *cuts, const double *weight,
                          int32_t max_bin, int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  const gbt_dataset reference = {.refs = 1, .cuts = cuts};
  const gbt_dataset_spec spec = {.table = table,
                                 .reference = cuts != NULL ? &reference : NULL,
                                 .weight = weight,
                                 .help = help,
                                 .max_bin = max_bin,
                                 .page_rows = page_rows,
                                 .unseen = unseen};
  return gbt_dataset_make(ctx, &spec, out, err);
}

gbt_status dataset_from(gbt_ctx *ctx, const gbt_table *table, gbt_cuts *cuts, const double *weight, int32_t max_bin,
                        int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  return dataset_helped(ctx, NULL, table, cuts, weight, max_bin, page_rows, unseen, out, err);
}

gbt_status dataset_by_device(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_dataset_spec *spec,
                             gbt_dataset **out, gbt_error *err) {
  gbt_dataset_spec helped = *spec;
  *out = NULL;
  GBT_TRY(gbt_device_help(ctx, api, number, &helped.help, err));
  gbt_status status = gbt_dataset_make(ctx, &helped, out, err);
  gbt_device_help_close(helped.help);
  return status;
}
