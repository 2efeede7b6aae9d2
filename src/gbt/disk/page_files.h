/* The store whose pages are in a file (disk.h): page_files.c. Private to disk/. */
#ifndef GBT_DISK_PAGE_FILES_H
#define GBT_DISK_PAGE_FILES_H

#include "../base/file.h"
#include "../data/page_store_impl.h"

/* Where a page is. */
typedef struct gbti_page_record {
  uint64_t beg, bytes; /* in the file */
  uint64_t n_entries;  /* of its sparse lists */
  uint64_t checksum;   /* of its bytes */
} gbti_page_record;

typedef struct gbti_page_file {
  gbt_file file;            /* open for reading */
  gbti_page_record *record; /* n_pages */
} gbti_page_file;

/* Takes over what file and info own when it succeeds. memory: bytes of pages that may be kept. Records fit the layout:
 * gbti_page_bytes. */
gbt_status gbti_file_store(const gbt_mem *mem, const gbti_page_file *file, const gbti_page_info *info, uint64_t memory,
                           gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Of a store of this kind: its records, and the memory that it was opened with. */
const gbti_page_record *gbti_file_store_records(const gbt_page_store *store);

#endif
