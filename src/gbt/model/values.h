/* Values of the host alone, as bytes: what it keeps in files that are no models (data sets in folders, checkpoints).
 *
 *   head   magic "gbtvalue", version, number of entries, size of the whole
 *   entry  kind, length of the name, number of values, bytes of the values; the name; the values
 *
 * Everything begins on a multiple of 8 bytes, zeros between. Numbers lie as they are in memory (little-endian). Texts
 * are UTF-8: first the bytes of each with its final zero, as 32-bit numbers, 0 for a missing text; then the texts.
 * There is no checksum: the file around the values has one. */
#ifndef GBT_MODEL_VALUES_H
#define GBT_MODEL_VALUES_H

#include "model.h"

/* The bytes of n entries in their order. *out is allocated from mem (free with gbt_mem_free). GBT_E_ARG when an entry
 * is wrong or a text is not UTF-8. */
gbt_status gbt_values_write(const gbt_mem *mem, const gbt_meta *entry, int32_t n, uint8_t **out, size_t *n_bytes,
                            gbt_error *err) GBT_MUST_CHECK;

/* The entries of bytes that anybody may have written, in one block: free *out with gbt_mem_free. They point into the
 * bytes, which are borrowed, begin on a multiple of 8, must outlive them and not change. GBT_E_FORMAT for what
 * gbt_values_write() did not write, or another version of it. */
gbt_status gbt_values_read(const gbt_mem *mem, const uint8_t *bytes, size_t n_bytes, gbt_meta **out, int32_t *n,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
