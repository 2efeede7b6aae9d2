/* The door: the one function that the library exports, and messages about what is wrong with a device.
 *
 *   driver? -> new enough? -> any device? -> this number? -> code for it in this library? -> a context on it
 *
 * This file has no state. A forked process cannot use CUDA if its parent has; the glue checks this, since it may keep
 * the number of a process, which the engine may not. */
#include "../grow/batch.cuh"

#include <stdlib.h>

#include "../data/data.cuh"
#include "../encode/statistics.cuh"
#include "../explain/explain.h"
#include "../predict/predict.h"

/* Compute capabilities that there is code for, times 100, ascending, as the compiler says. */
#if defined(__CUDA_ARCH_LIST__)
static const int cu_built_for[] = {__CUDA_ARCH_LIST__};
#else
static const int cu_built_for[] = {0};
#endif

static gbt_status cu_look_driver(gbt_device_info *out, gbt_error *err) {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  (void)cudaGetLastError();
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = 0;
  (void)cudaGetLastError();
  out->driver = driver;
  out->runtime = runtime;
  if (driver <= 0)
    return gbt_fail_device(
        err, GBT_E_DEVICE,
        "no NVIDIA driver was found; install one and check that `nvidia-smi` lists the GPU (start a container with "
        "access to it)");
  if (driver / 1000 < runtime / 1000)
    return gbt_fail_device(
        err, GBT_E_DEVICE,
        "the NVIDIA driver is too old: it supports CUDA %d.%d, and gbt was built with CUDA %d.%d; update the driver, "
        "or install gbt again with an older CUDA toolkit",
        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  return GBT_OK;
}

static gbt_status cu_look_devices(int32_t device, gbt_device_info *out, gbt_error *err) {
  int n = 0;
  cudaError_t code = cudaGetDeviceCount(&n);
  if (code == cudaErrorNoDevice) {
    (void)cudaGetLastError();
    n = 0;
  } else if (code != cudaSuccess) {
    return cu_failed(code, "cudaGetDeviceCount", err);
  }
  out->n_devices = n;
  if (n == 0) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return gbt_fail_device(err, GBT_E_DEVICE, "there is an NVIDIA driver, but it finds no GPU%s%s%s",
                           visible ? " (the environment variable CUDA_VISIBLE_DEVICES is \"" : "",
                           visible ? visible : "", visible ? "\")" : "");
  }
  if (n == 1 && device != 0)
    return gbt_fail_on(err, GBT_E_DEVICE, "device", "there is no device \"cuda:%d\"; there is one, \"cuda:0\"",
                       (int)device);
  if (device < 0 || device >= n)
    return gbt_fail_on(err, GBT_E_DEVICE, "device",
                       "there is no device \"cuda:%d\"; there are %d, \"cuda:0\" to \"cuda:%d\"", (int)device, n,
                       n - 1);
  return GBT_OK;
}

/* Any kernel: asked for its image, the runtime says whether there is one for the device. */
__global__ static void k_none(void) {}

static gbt_status cu_look_at(int32_t device, gbt_device_info *out, gbt_error *err) {
  cudaDeviceProp about;
  size_t free_bytes = 0, total = 0;
  CU_TRY(cudaGetDeviceProperties(&about, device));
  size_t n = 0;
  while (n + 1 < sizeof out->name && n < sizeof about.name && about.name[n] != '\0') {
    out->name[n] = about.name[n];
    n++;
  }
  out->name[n] = '\0';
  out->major = about.major;
  out->minor = about.minor;
  out->n_units = about.multiProcessorCount;
  if (100 * about.major + 10 * about.minor < cu_built_for[0])
    return gbt_fail_device(
        err, GBT_E_DEVICE,
        "the GPU (%s) has compute capability %d.%d, and gbt was built for %d.%d and newer; install it "
        "again with --configure-args='--with-cuda-arch=%d%d'",
        out->name, about.major, about.minor, cu_built_for[0] / 100, cu_built_for[0] % 100 / 10, about.major,
        about.minor);
  CU_TRY(cudaSetDevice(device));
  cudaFuncAttributes image;
  CU_TRY(cudaFuncGetAttributes(&image, k_none));
  CU_TRY(cudaMemGetInfo(&free_bytes, &total));
  out->free_bytes = free_bytes;
  out->total_bytes = total;
  return GBT_OK;
}

static gbt_status cu_info(int32_t device, gbt_device_info *out, gbt_error *err) {
  gbt_device_info none = {};
  *out = none;
#if !defined(__CUDACC__)
  out->emulated = 1;
#endif
  GBT_TRY(cu_look_driver(out, err));
  GBT_TRY(cu_look_devices(device, out, err));
  return cu_look_at(device, out, err);
}

static int cu_has_nccl(char *text, size_t n_text) {
  cu_nccl nccl;
  return cu_nccl_find(&nccl, text, n_text);
}

static gbt_status cu_open_looked_at(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                                    gbt_error *err) {
  gbt_device_info info;
  *out = NULL;
  GBT_TRY(cu_info(device, &info, err));
  return cu_open(ctx, device, spec, out, err);
}

static gbt_status cu_data_looked_at(gbt_ctx *ctx, int32_t device, gbt_offload **out, gbt_error *err) {
  gbt_device_info info;
  *out = NULL;
  GBT_TRY(cu_info(device, &info, err));
  return cu_offload_open(ctx, device, out, err);
}

static gbt_status cu_statistics_looked_at(gbt_ctx *ctx, int32_t device, size_t limit, gbti_statistics_help **out,
                                          gbt_error *err) {
  gbt_device_info info;
  *out = NULL;
  GBT_TRY(cu_info(device, &info, err));
  return cu_statistics_open(ctx, device, limit, out, err);
}

/* C++17 has no designated initialisers. */
static gbt_device_api make_api() {
  gbt_device_api api = {};
  api.build = GBT_BUILD_ID;
  api.name = "cuda";
  api.info = cu_info;
  api.nccl = cu_has_nccl;
  api.open = cu_open_looked_at;
  api.data = cu_data_looked_at;
  api.statistics = cu_statistics_looked_at;
  api.scores = cu_predict_scores;
  api.leaves = cu_predict_leaves;
  api.explain = cu_explain;
  return api;
}

static const gbt_device_api cu_api = make_api();

extern "C" __attribute__((visibility("default"))) const gbt_device_api *gbt_cuda_api(void);
extern "C" const gbt_device_api *gbt_cuda_api(void) { return &cu_api; }
