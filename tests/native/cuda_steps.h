/* The device, growing trees of small data by steps too, which one kernel does otherwise (src/cuda/grow/small.cu). For
 * tests of the steps, as their data are small. */
#ifndef GBT_TEST_CUDA_STEPS_H
#define GBT_TEST_CUDA_STEPS_H

#include "../../src/gbt/backend/device_api.h"

#ifdef __cplusplus
extern "C" {
#endif

const gbt_device_api *gbt_cuda_api(void);
const gbt_device_api *cuda_steps_api(void);

#ifdef __cplusplus
}
#endif

#endif
