/* The device, growing trees of small data by steps too, which one kernel does otherwise (cuda/grow/small/small.cu). For
 * tests of the steps, as their data are small. */
#ifndef GBT_TEST_CUDA_STEPS_H
#define GBT_TEST_CUDA_STEPS_H

#include "../../src/gbt/backend/device_api.h"

#ifdef __cplusplus
extern "C" {
#endif

const gbt_device_api *gbt_cuda_api(void);
const gbt_device_api *cuda_steps_api(void);

/* Devices for CUDA_NUMBERS ranks: those of the machine, or as many emulated ones as SIMT_DEVICES says, in turns. */
enum { CUDA_NUMBERS = 8 };
const int32_t *cuda_numbers(void);

/* The device with percent of the codes there and in the host's page-locked memory, the others streamed; drawn rows are
 * gathered. For the trainings that are opened until it is set again. */
const gbt_device_api *cuda_apart_api(int percent_device, int percent_host);

/* The same on the first rank alone; the others have all codes on the device. */
const gbt_device_api *cuda_first_apart_api(void);

/* These by number: where the codes of a rank or device are. In all of them but CUDA_ALL_THERE ranks exchange the sums
 * of nodes of over 40 rows in 64 bits, as they do elsewhere from 65,536 rows on. */
enum { CUDA_ALL_THERE, CUDA_SOME_WIDE, CUDA_ON_HOST, CUDA_STREAMED, CUDA_FIRST_STREAMED, CUDA_N_PLACES };
const gbt_device_api *cuda_place_api(int place);

/* Other ranks than the first one have so many kilobytes of device memory. For the trainings that are opened until it is
 * set again. */
const gbt_device_api *cuda_scarce_api(int kilobytes);

#ifdef __cplusplus
}
#endif

#endif
