#include "columns.h"

#include "../backend/device.h"
#include "../encode/encode.h"
#include "../encode/statistics_help.h"
#include "../schema/schema_impl.h"

/* Whether anything but sets is asked for. */
static int wants_statistics(const gbt_trainer_spec *spec) {
  const gbt_schema *schema = spec->train->cuts->schema;
  int any = 0;
  for (int32_t c = 0; c < schema->n_columns && spec->cat_method != NULL; c++)
    any |= schema->col[c].type == GBT_CATEGORICAL && spec->cat_method[c] != GBT_CAT_SETS;
  return any;
}

/* The device's memory is free again when the training's backends open. */
gbt_status gbti_encode_columns(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_dataset **data, uint8_t *chosen,
                               gbt_error *err) {
  gbti_wish wish = {spec->cat_method, spec->interact_beg, spec->interact_col, spec->n_interact, NULL};
  gbt_status status = GBT_OK;
  if (spec->device != NULL && wants_statistics(spec))
    status = gbt_device_statistics(ctx, spec->device, spec->device_number, (size_t)spec->params.device_memory << 20,
                                   &wish.help, err);
  if (status == GBT_OK)
    status = gbti_encode(ctx, &spec->params, &spec->objective, &wish, data, 1 + spec->n_valid, chosen, err);
  if (wish.help != NULL) wish.help->close(wish.help);
  return status;
}
