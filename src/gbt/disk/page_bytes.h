/* A page as bytes: its strips, then where the sparse lists begin, then the lists; each part begins on a multiple of 64.
 * Private to disk/. */
#ifndef GBT_DISK_PAGE_BYTES_H
#define GBT_DISK_PAGE_BYTES_H

#include "../data/page_store_impl.h"

/* n_entries: of the page's sparse lists. */
uint64_t gbti_page_bytes(const gbt_layout *layout, int32_t n_rows, uint64_t n_entries);

/* out: gbti_page_bytes of room. */
void gbti_page_put(const gbt_layout *layout, const gbt_page *page, uint8_t *out);

/* The same bytes with every strip column by column, which packs better: equal columns of codes lie side by side. */
void gbti_page_by_columns(const gbt_layout *layout, int32_t n_rows, uint64_t n_bytes, const uint8_t *from, uint8_t *to);
/* And back. */
void gbti_page_by_rows(const gbt_layout *layout, int32_t n_rows, uint64_t n_bytes, const uint8_t *from, uint8_t *to);

/* Makes the page point into its bytes, which are aligned to 64. strip and group have room. Fails with 0 where lists do
 * not fit together. */
int gbti_page_take(const gbt_layout *layout, uint64_t n_entries, uint8_t *bytes, gbt_page *page);

#endif
