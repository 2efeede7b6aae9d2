#include "device.h"

#include <stdio.h>

#include "../../src/cuda/base/port.cuh"

/* Clocks and widths, which an emulated device does not have. */
#if defined(__CUDACC__)

static double attribute(cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return 0.0;
}

static void look_at_clocks(device_facts *dev) {
  dev->clock = attribute(cudaDevAttrClockRate) * 1e3;
  dev->bandwidth = 2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
}

#else

static void look_at_clocks(device_facts *dev) { dev->emulated = 1; }

#endif

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
  dev->l2_bytes = p.l2CacheSize;
  dev->shared_limit = p.sharedMemPerBlockOptin;
  (void)cudaDriverGetVersion(&dev->driver);
  look_at_clocks(dev);
  return 1;
}

void device_wait(void) { (void)cudaDeviceSynchronize(); }
