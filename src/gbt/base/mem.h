/* Where memory comes from. Objects keep their gbt_mem by value, so that an object outlives the call that made it;
 * `user` must outlive the object. The tests pass an allocator that fails at the n-th call; R's counts what
 * malloc gives. */
#ifndef GBT_BASE_MEM_H
#define GBT_BASE_MEM_H

#include "status.h"

typedef struct gbt_mem {
  void *(*alloc)(void *user, size_t bytes); /* any alignment; NULL when out of memory; thread-safe */
  void (*release)(void *user, void *block); /* block is not NULL; thread-safe */
  void *user;                               /* handed to both */
} gbt_mem;

/* malloc and free. */
gbt_mem gbt_mem_default(void);

/* n * size bytes, 64-byte aligned, zeroed only by gbt_mem_zeros. out: the address of a pointer of any type, which is
 * NULL after a failure. n * size is checked for overflow; zero bytes give a valid block. Free with gbt_mem_free and the
 * same gbt_mem. GBT_E_MEM. */
gbt_status gbt_mem_array(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbt_mem_zeros(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;

/* Makes room for `need` elements of `size` bytes. block: the address of a pointer to *cap elements, or to NULL with
 * *cap 0. Both are replaced when *cap is too small (it doubles at least); the first *cap elements are kept. GBT_E_MEM:
 * both are unchanged. */
gbt_status gbt_mem_grow(const gbt_mem *mem, void *block, size_t *cap, size_t need, size_t size,
                        gbt_error *err) GBT_MUST_CHECK;

/* block: from gbt_mem_array, gbt_mem_zeros, gbt_mem_grow or a function that says so; NULL is allowed. */
void gbt_mem_free(const gbt_mem *mem, void *block);

#endif
