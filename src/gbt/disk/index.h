/* The index of a data set on disk: a block of sections (bytes/sections.h). Private to disk/.
 *
 *   columns, features, cuts | numbers | layout | what is known without a page | records of pages | the note |
 *   the fingerprint
 *
 * All bytes that are read are checked against the checksum, which finds damage, and by the rules of data/check.h, so
 * that nothing in it leads out of bounds. */
#ifndef GBT_DISK_INDEX_H
#define GBT_DISK_INDEX_H

#include "disk.h"
#include "page_files.h"

#include "../data/dataset_impl.h"

#define GBTI_DISK_MAGIC "gbtbins\n" /* 8 bytes */
#define GBTI_DISK_VERSION 4u
#define GBTI_DISK_INDEX "gbt-dataset"

/* "pages-ID.bin", and of several files "pages-ID-1of3.bin" for the first (file 0). */
enum { GBTI_PAGES_NAME = 64 };
void gbti_pages_name(uint64_t id, int32_t file, int32_t n_files, char out[GBTI_PAGES_NAME]);

/* Whether a name is one of these. */
int gbti_is_pages_name(const char *name, uint64_t *id, int32_t *file, int32_t *n_files);

/* There are some, not too many, each with a name and none twice. */
gbt_status gbti_folders_check(gbt_folders folders, gbt_error *err) GBT_MUST_CHECK;

/* Bytes of the host's own. */
typedef struct gbti_note {
  const void *bytes;
  size_t n;
} gbti_note;

/* Free *out with gbt_mem_free. record: of ds->pages, in n_files. */
gbt_status gbti_index_write(const gbt_mem *mem, const gbt_dataset *ds, const gbti_page_record *record, uint64_t id,
                            int32_t n_files, gbti_note note, uint8_t **out, size_t *n_bytes,
                            gbt_error *err) GBT_MUST_CHECK;

/* The contents of an index; all of it owned. */
typedef struct gbti_index {
  uint64_t id;
  int32_t n_files; /* of pages */
  gbt_cuts *cuts;
  gbti_page_info info;
  gbti_page_record *record;
  gbti_note note;       /* in the bytes that were read */
  uint64_t fingerprint; /* see gbt_dataset; 0: not known */
} gbti_index;

/* path: for messages. Free with gbti_index_free, also after a failure. */
gbt_status gbti_index_read(gbt_ctx *ctx, const uint8_t *bytes, size_t n_bytes, const char *path, gbti_index *out,
                           gbt_error *err) GBT_MUST_CHECK;
void gbti_index_free(const gbt_mem *mem, gbti_index *index);

#endif
