/* See device.cuh. */
#include "device.cuh"

gbt_status cu_device_open(cu_device *device, gbt_error *err) {
  int value = 0;
  CU_TRY(cudaSetDevice(device->number));
  CU_TRY(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
  CU_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device->number));
  device->n_units = value > 0 ? value : 1;
  CU_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device->number));
  device->shared_limit = (size_t)value;
  CU_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMaxPitch, device->number));
  device->most_pitch = (size_t)value;
  return GBT_OK;
}

void cu_device_close(cu_device *device) {
  if (device->stream) (void)cudaStreamSynchronize(device->stream);
  if (device->stream) (void)cudaStreamDestroy(device->stream);
  device->stream = NULL;
}

gbt_status cu_put(cu_device *device, void *to, const void *from, size_t bytes, gbt_error *err) {
  if (bytes == 0) return GBT_OK;
  CU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device->stream));
  CU_TRY(cudaStreamSynchronize(device->stream));
  return GBT_OK;
}

gbt_status cu_get(cu_device *device, void *to, const void *from, size_t bytes, gbt_error *err) {
  if (bytes == 0) return GBT_OK;
  CU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, device->stream));
  CU_TRY(cudaStreamSynchronize(device->stream));
  return GBT_OK;
}
