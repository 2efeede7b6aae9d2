/* Sorting on the device: CUB's radix sort; under tests/simt a plain one. See sort.cu. */
#pragma once

#include "mem.cuh"

/* Bytes of scratch that cu_sort_keys needs for n keys or fewer, of any number of bits. n is below 2^32. */
gbt_status cu_sort_room(uint64_t n, int with_values, size_t *bytes, gbt_error *err) GBT_MUST_CHECK;

/* n keys below 2^bits, ascending as unsigned numbers, in key[*at], where the caller finds them; values (NULL: none) go
 * with their keys, and equal keys keep their order. On entry all lies in key[0] and value[0]; the other two are as
 * large, and their contents are undefined afterwards. `room` holds `bytes` of scratch. Issues work, does not wait. */
gbt_status cu_sort_keys(void *room, size_t bytes, uint64_t *const key[2], uint32_t *const value[2], uint64_t n,
                        int bits, int *at, cudaStream_t stream, gbt_error *err) GBT_MUST_CHECK;
