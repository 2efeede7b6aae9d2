/* Sorting of 64-bit keys (gbt_order_key of doubles, say) with an optional 32-bit payload: radix sort from the lowest
 * digit up. Stable: equal keys keep their order. Bits that are the same in all keys cost nothing.
 *
 * keys, vals: n, sorted in place. vals may be NULL. Scratch of the same sizes comes from the caller: tmp_keys, and
 * tmp_vals when there are vals; its content afterwards is unspecified. n < 2^32. */
#ifndef GBT_BASE_SORT_H
#define GBT_BASE_SORT_H

#include "ctx.h"

/* On the calling thread; for use inside a task. */
void gbt_sort_u64(uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys, uint32_t *tmp_vals);

/* The same result on all threads of ctx. When cancelled keys and vals hold no useful order, or values twice. */
gbt_status gbt_sort_u64_parallel(gbt_ctx *ctx, uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys,
                                 uint32_t *tmp_vals, gbt_error *err) GBT_MUST_CHECK;

#endif
