/* The store whose pages are in files (disk.h): page_files.c. Private to disk/. */
#ifndef GBT_DISK_PAGE_FILES_H
#define GBT_DISK_PAGE_FILES_H

#include "../base/file.h"
#include "../data/page_store_impl.h"
#include "../bytes/format.h"
#include "codec_impl.h"

/* Bytes in the file. */
static inline uint64_t gbti_record_room(const gbti_page_record *record) { return (record->stored + 7) & ~(uint64_t)7; }

typedef struct gbti_page_files {
  int32_t n_files;          /* 1 or more */
  gbt_file *file;           /* n_files, open for reading; owned */
  gbti_page_record *record; /* n_pages; owned */
} gbti_page_files;

/* Of no file yet: n_files that are not open. Free with gbti_page_files_free, also after a failure. */
gbt_status gbti_page_files_new(const gbt_mem *mem, int32_t n_files, gbti_page_files *out,
                               gbt_error *err) GBT_MUST_CHECK;
void gbti_page_files_free(const gbt_mem *mem, gbti_page_files *files);

/* Takes over what files and info own when it succeeds. memory: bytes of pages that may be kept. Records fit the layout
 * (gbti_page_bytes), and their codecs are here. */
gbt_status gbti_file_store(const gbt_mem *mem, const gbti_page_files *files, const gbti_page_info *info,
                           uint64_t memory, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Of a store of this kind: its records, and the memory that it was opened with. */
const gbti_page_record *gbti_file_store_records(const gbt_page_store *store);

#endif
