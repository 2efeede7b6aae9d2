#include "../../src/cuda/grow/batch.cuh"

extern "C" {
#include "../../src/gbt/base/comm.h"
}
#include "cuda_steps.h"

static gbt_status open_for_steps(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                                 gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  ((cu_backend *)*out)->hooks.no_small = 1;
  return GBT_OK;
}

static cu_hooks apart;

/* Rows of a node whose sums ranks exchange in 32 bits: so few that tests have nodes with more. */
enum { NARROW_ROWS = 40 };

static gbt_status open_some_wide(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                                 gbt_error *err) {
  cu_hooks hooks = {};
  hooks.narrow_rows = NARROW_ROWS;
  return cu_open_with(ctx, device, spec, CU_ALL_CODES, &hooks, out, err);
}

static gbt_status open_apart(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                             gbt_error *err) {
  return cu_open_with(ctx, device, spec, CU_DRAWN_CODES, &apart, out, err);
}

static gbt_status open_first_apart(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                             gbt_error *err) {
  cu_hooks hooks = {};
  hooks.narrow_rows = NARROW_ROWS;
  if (gbt_comm_rank(ctx) == 0) hooks.less_device = hooks.less_host = 70;
  return cu_open_with(ctx, device, spec, CU_DRAWN_CODES, &hooks, out, err);
}

static int scarce;

/* The limit of the memory counts in megabytes, and must be the same on all ranks: the difference is taken before. */
static gbt_status open_scarce(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                              gbt_error *err) {
  cu_hooks hooks = {};
  if (gbt_comm_rank(ctx) > 0) hooks.most_bytes = (size_t)scarce << 10;
  gbt_status status = GBT_E_MEM;
  for (int codes = CU_ALL_CODES; status == GBT_E_MEM && codes < CU_N_CODES; codes++)
    status = cu_open_with(ctx, device, spec, (cu_resides)codes, &hooks, out, err);
  return status;
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

const int32_t *cuda_numbers(void) {
  static int32_t numbers[CUDA_NUMBERS];
  gbt_device_info about = {};
  (void)gbt_cuda_api()->info(0, &about, NULL);
  for (int32_t i = 0; i < CUDA_NUMBERS; i++) numbers[i] = about.n_devices > 0 ? i % about.n_devices : 0;
  return numbers;
}

const gbt_device_api *cuda_scarce_api(int kilobytes) {
  static const gbt_device_api api = made(open_scarce);
  scarce = kilobytes;
  return &api;
}

const gbt_device_api *cuda_first_apart_api(void) {
  static const gbt_device_api api = made(open_first_apart);
  return &api;
}

const gbt_device_api *cuda_apart_api(int percent_device, int percent_host) {
  static const gbt_device_api api = made(open_apart);
  apart.narrow_rows = NARROW_ROWS;
  apart.less_device = 100 - percent_device;
  apart.less_host = 100 - percent_host;
  return &api;
}

const gbt_device_api *cuda_place_api(int place) {
  static const gbt_device_api some_wide = made(open_some_wide);
  switch (place) {
  case CUDA_SOME_WIDE:
    return &some_wide;
  case CUDA_ON_HOST:
    return cuda_apart_api(40, 100);
  case CUDA_STREAMED:
    return cuda_apart_api(30, 30);
  case CUDA_FIRST_STREAMED:
    return cuda_first_apart_api();
  default:
    return gbt_cuda_api();
  }
}
