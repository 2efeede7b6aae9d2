/* What a host may have changed of how its thread computes (base/float_mode.h), for gbti_float_end(): nothing; tiny
 * numbers are 0; rounding up, down, to 0. */
#ifndef GBT_TEST_OTHER_FLOATS_H
#define GBT_TEST_OTHER_FLOATS_H

#include "../../../src/gbt/base/float_mode.h"

#if defined(__SSE2__)
static const uint32_t other_floats[] = {0, 0x8040, 0x4000, 0x2000, 0x6000};
#elif defined(__aarch64__)
static const uint32_t other_floats[] = {0, 1u << 24, 1u << 22, 2u << 22, 3u << 22};
#else
static const uint32_t other_floats[] = {0};
#endif
enum { N_OTHER_FLOATS = sizeof other_floats / sizeof *other_floats };

#endif
