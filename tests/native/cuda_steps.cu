#include "../../src/cuda/grow/backend.cuh"

#include "cuda_steps.h"

static gbt_status open_for_steps(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                                 gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  ((cu_backend *)*out)->takes_steps = 1;
  return GBT_OK;
}

static gbt_device_api made() {
  gbt_device_api api = *gbt_cuda_api();
  api.open = open_for_steps;
  return api;
}

const gbt_device_api *cuda_steps_api(void) {
  static const gbt_device_api api = made();
  return &api;
}
