#include "page_bytes.h"

#include <string.h>

static uint64_t align64(uint64_t n) { return (n + 63) & ~(uint64_t)63; }

static uint64_t strip_bytes(const gbt_layout *layout, int32_t strip, int32_t n_rows) {
  return (uint64_t)n_rows * gbti_row_bytes(&layout->group[layout->strip_beg[strip]]);
}

uint64_t gbti_page_bytes(const gbt_layout *layout, int32_t n_rows, uint64_t n_entries) {
  uint64_t n = 0;
  for (int32_t s = 0; s < layout->n_strips; s++) n += align64(strip_bytes(layout, s, n_rows));
  if (layout->n_sparse == 0) return n;
  return n + align64(((uint64_t)n_rows + 1) * sizeof(uint32_t)) + align64(n_entries * sizeof(uint32_t));
}

static uint8_t *put(uint8_t *out, const void *from, uint64_t n) {
  if (n > 0) memcpy(out, from, (size_t)n);
  memset(out + n, 0, (size_t)(align64(n) - n));
  return out + align64(n);
}

void gbti_page_put(const gbt_layout *layout, const gbt_page *page, uint8_t *out) {
  for (int32_t s = 0; s < layout->n_strips; s++) out = put(out, page->strip[s], strip_bytes(layout, s, page->n_rows));
  if (layout->n_sparse == 0) return;
  out = put(out, page->sparse_beg, ((uint64_t)page->n_rows + 1) * sizeof(uint32_t));
  (void)put(out, page->sparse_slots, (uint64_t)page->sparse_beg[page->n_rows] * sizeof(uint32_t));
}

int gbti_page_take(const gbt_layout *layout, uint64_t n_entries, uint8_t *bytes, gbt_page *page) {
  for (int32_t s = 0; s < layout->n_strips; s++) {
    page->strip[s] = bytes;
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++)
      page->group[g] = bytes + layout->group[g].lead * (layout->group[g].wide ? 2 : 1);
    bytes += align64(strip_bytes(layout, s, page->n_rows));
  }
  page->sparse_beg = page->sparse_slots = NULL;
  if (layout->n_sparse == 0) return n_entries == 0;
  page->sparse_beg = (uint32_t *)(void *)bytes;
  page->sparse_slots = (uint32_t *)(void *)(bytes + align64(((uint64_t)page->n_rows + 1) * sizeof(uint32_t)));
  return page->sparse_beg[0] == 0 && page->sparse_beg[page->n_rows] == n_entries;
}
