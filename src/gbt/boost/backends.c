#include "backends.h"

#include "../cpu/cpu_open.h"
#include "devices.h"

gbt_status gbt_backend_open(gbt_ctx *ctx, const gbt_device_api *device, int32_t number, const gbt_backend_spec *spec,
                            gbt_backend **out, gbt_error *err) {
  *out = NULL;
  if (!device) return gbt_cpu_open(ctx, spec, out, err);
  if (!gbt_device_fits(device))
    return gbt_fail_device(err, GBT_E_DEVICE,
                           "the library for device \"%s\" comes from another build; install gbt again", device->name);
  if (spec->n_devices > 1) return gbti_devices_open(ctx, device, spec, out, err);
  return device->open(ctx, number, spec, out, err);
}

void gbt_backend_close(gbt_backend *be) {
  if (be) be->ops->destroy(be);
}
