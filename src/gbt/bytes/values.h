/* Values of the host: named vectors of texts, doubles or ints. They are part of a model, or a separate block of bytes
 * that the host keeps in other files (data sets in folders, checkpoints). */
#ifndef GBT_BYTES_VALUES_H
#define GBT_BYTES_VALUES_H

#include "../base/mem.h"

typedef enum gbt_meta_kind { GBT_META_TEXT = 0, GBT_META_DOUBLE = 1, GBT_META_INT = 2 } gbt_meta_kind;

typedef struct gbt_meta {
  const char *name;
  gbt_meta_kind kind;
  int64_t n; /* of values */
  const char *const *text; /* by kind, one of these; a text may be NULL (missing) */
  const double *num;
  const int32_t *ints;
} gbt_meta;

/* The bytes of n entries in their order, names unique. *out is allocated from mem (free with gbt_mem_free). GBT_E_ARG
 * when an entry is wrong or a text is not UTF-8. */
gbt_status gbt_values_write(const gbt_mem *mem, const gbt_meta *entry, int32_t n, uint8_t **out, size_t *n_bytes,
                            gbt_error *err) GBT_MUST_CHECK;

/* The entries in bytes from an untrusted source, in one block: free *out with gbt_mem_free. They point into the bytes,
 * which are borrowed, begin on a multiple of 8, must outlive them and not change. GBT_E_FORMAT: gbt_values_write() did
 * not write the bytes, or it was another version. */
gbt_status gbt_values_read(const gbt_mem *mem, const uint8_t *bytes, size_t n_bytes, gbt_meta **out, int32_t *n,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
