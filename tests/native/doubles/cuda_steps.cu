#include "../../src/cuda/grow/batch.cuh"

#include "cuda_steps.h"

static gbt_status open_for_steps(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                                 gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  ((cu_backend *)*out)->hooks.no_small = 1;
  return GBT_OK;
}

static cu_hooks apart;

static gbt_status open_apart(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                             gbt_error *err) {
  return cu_open_with(ctx, device, spec, CU_DRAWN_CODES, &apart, out, err);
}

static gbt_device_api made(decltype(gbt_device_api::open) open) {
  gbt_device_api api = *gbt_cuda_api();
  api.open = open;
  return api;
}

const gbt_device_api *cuda_steps_api(void) {
  static const gbt_device_api api = made(open_for_steps);
  return &api;
}

const gbt_device_api *cuda_apart_api(int percent_device, int percent_host) {
  static const gbt_device_api api = made(open_apart);
  apart.less_device = 100 - percent_device;
  apart.less_host = 100 - percent_host;
  return &api;
}
