/* The device with a look at its backends: `open` opens one through the door, and may read and change it before the
 * first tree. For .cu tests; trained.h comes before. */
#pragma once

extern "C" const gbt_device_api *gbt_cuda_api(void);

typedef decltype(gbt_device_api::open) cuda_open_fn;

static inline gbt_device_api cuda_door(cuda_open_fn open) {
  gbt_device_api door = *gbt_cuda_api();
  door.open = open;
  return door;
}

static inline trained *train_through(cuda_open_fn open, const train_job *job, const train_how *how) {
  const gbt_device_api door = cuda_door(open);
  train_how device = *how;
  device.device = &door;
  return train(job, &device);
}
