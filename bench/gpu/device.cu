#include "device.h"

#include <stdio.h>

#include "../../src/cuda/cu_port.cuh"

#if defined(__CUDACC__)

static double attribute(cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return 0.0;
}

int device_look(device_facts *dev) {
  cudaDeviceProp p;
  *dev = device_facts();
  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  snprintf(dev->name, sizeof dev->name, "%s", p.name);
  dev->units = p.multiProcessorCount;
  dev->major = p.major;
  dev->minor = p.minor;
  (void)cudaDriverGetVersion(&dev->driver);
  dev->clock = attribute(cudaDevAttrClockRate) * 1e3;
  dev->bandwidth = 2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
  dev->l2_bytes = attribute(cudaDevAttrL2CacheSize);
  dev->shared_limit = p.sharedMemPerBlockOptin;
  return 1;
}

#else

int device_look(device_facts *dev) {
  *dev = device_facts();
  snprintf(dev->name, sizeof dev->name, "emulation");
  dev->emulated = 1;
  dev->units = 2;
  dev->major = 9;
  dev->shared_limit = 227 * 1024;
  return 1;
}

#endif

void device_wait(void) { (void)cudaDeviceSynchronize(); }
