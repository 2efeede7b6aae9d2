/* What a device promises, and waiting for it: for C and CUDA alike. */
#ifndef GBT_BENCH_DEVICE_H
#define GBT_BENCH_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_facts {
  char name[256];
  int emulated, units, major, minor, driver;
  double clock;     /* Hz of the multiprocessors; 0: unknown, as all of these */
  double bandwidth; /* bytes a second of device memory */
  double l2_bytes;
  size_t shared_limit; /* of a block */
} device_facts;

/* The first device. 0 when there is none: all facts are then zero. */
int device_look(device_facts *dev);

/* Until all work of the device is done. */
void device_wait(void);

#ifdef __cplusplus
}
#endif

#endif
