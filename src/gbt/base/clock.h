/* The clock, and unpredictable numbers made from it. */
#ifndef GBT_BASE_CLOCK_H
#define GBT_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
int64_t gbt_clock_ns(void);

/* Seconds since 1970, by the system's wall clock. Used only for the times of files. */
int64_t gbt_clock_wall_s(void);

/* An unpredictable number, made from the clock and the address of a block. It salts the hashes of data that may come
 * from a file, so that no file can be crafted whose entries all collide in one slot of a table. Must not show in a
 * result. */
uint64_t gbt_salt(const void *block);

#endif
