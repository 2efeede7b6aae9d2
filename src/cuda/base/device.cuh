/* A device that work is issued to: what it has, the stream, the memory that was taken. And grids that keep it busy.
 *
 * The stream is not the legacy one and does not wait for it: what others of the process do there neither delays a
 * training nor breaks a recording (grow/graph.cu). So nothing may rely on the order that the legacy stream gives:
 * whatever the library copies or clears is issued in a stream of its own, and waited for there. */
#pragma once

#include "mem.cuh"

struct cu_device {
  int32_t number;
  int32_t n_units;     /* multiprocessors */
  size_t shared_limit; /* bytes of shared memory that a block may have */
  size_t most_pitch;   /* bytes from row to row of a copy of several */
  cudaStream_t stream;
  cu_memory memory;
};

/* Makes device->number the thread's device, asks what it has, makes the stream. Close also after a failure; waits for
 * what is in the stream. Memory is not looked after. */
gbt_status cu_device_open(cu_device *device, gbt_error *err) GBT_MUST_CHECK;
void cu_device_close(cu_device *device);

/* From pageable memory of the host, and back; both run after all earlier work of the stream and wait until they are
 * done. */
gbt_status cu_put(cu_device *device, void *to, const void *from, size_t bytes, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_get(cu_device *device, void *to, const void *from, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* An array with this content; waits until it is copied. */
template <class T> gbt_status cu_new_from(cu_device *device, cu_array<T> *a, const T *from, size_t n, gbt_error *err) {
  GBT_TRY(cu_new(&device->memory, a, n, err));
  return cu_put(device, a->at, from, n * sizeof(T), err);
}

/* Blocks that keep the device busy, `per_unit` for each multiprocessor; at most what there is to do. */
static inline unsigned cu_grid(const cu_device *device, uint64_t blocks, unsigned per_unit) {
  const uint64_t most = (uint64_t)device->n_units * per_unit;
  if (blocks < 1) blocks = 1;
  return (unsigned)(blocks < most ? blocks : most);
}
