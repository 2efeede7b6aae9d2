/* The clock, and numbers made of it that nobody can foresee. */
#ifndef GBT_BASE_CLOCK_H
#define GBT_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
int64_t gbt_clock_ns(void);

/* Seconds since 1970, by the clock that people set. For times of files alone. */
int64_t gbt_clock_wall_s(void);

/* A number that nobody can foresee, of the clock and the address of a block. Goes into the hashes of what may come from
 * a file, so that no file can be made whose entries all meet in one place of a table. Must not show in a result. */
uint64_t gbt_salt(const void *block);

#endif
