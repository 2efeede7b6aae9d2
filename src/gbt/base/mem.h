/* Where memory comes from. Objects keep their gbt_mem by value, so that an object outlives the call that made it.
 * The tests pass an allocator that fails at the n-th call; R's is plain malloc. */
#ifndef GBT_BASE_MEM_H
#define GBT_BASE_MEM_H

#include "status.h"

typedef struct gbt_mem {
  void *(*alloc)(void *user, size_t bytes); /* NULL when out of memory; thread-safe */
  void (*release)(void *user, void *block); /* block is not NULL */
  void *user;
} gbt_mem;

/* malloc and free. */
gbt_mem gbt_mem_default(void);

/* n * size bytes, 64-byte aligned, zeroed only by gbt_mem_zeros. *out is NULL on failure. n * size is checked for
 * overflow; zero bytes give a valid block. Free with gbt_mem_free of the same gbt_mem. */
gbt_status gbt_mem_array(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbt_mem_zeros(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;

/* Makes room for `need` elements: *block and *cap are replaced (doubling), the first *cap elements kept. */
gbt_status gbt_mem_grow(const gbt_mem *mem, void *block, size_t *cap, size_t need, size_t size,
                        gbt_error *err) GBT_MUST_CHECK;

/* NULL is allowed. */
void gbt_mem_free(const gbt_mem *mem, void *block);

#endif
