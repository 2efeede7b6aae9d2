/* Data sets on disk: folders with the bins of a table, which are written once and read by any number of trainings.
 *
 *   FOLDER/gbt-dataset        the index: columns, cuts, layout, where every page is; written last, in one step
 *   FOLDER/pages-ID.bin       the pages, concatenated; ID is drawn for every data set
 *
 * Or in several folders, on a disk each, of which the first has the index, too, and page p is in folder p modulo 3:
 *
 *   FOLDER1/pages-ID-1of3.bin    FOLDER2/pages-ID-2of3.bin    FOLDER3/pages-ID-3of3.bin
 *
 * A folder without an index contains no data set. So if a writer is killed, no incomplete data set remains, and the
 * next writer of the folder removes its files. A writer has a lock on its first file of pages, so that no other writer
 * removes it. Everything is little-endian. Every page and the index have a checksum, which is checked at the first
 * reading, for a page also after its file was changed. Folders may be moved, copied, and read by several processes at
 * once; the index and the first file of pages must be in the same folder. */
#ifndef GBT_DISK_DISK_H
#define GBT_DISK_DISK_H

#include "../data/dataset.h"
#include "codec.h"

#define GBT_MAX_FOLDERS 256 /* of a data set */

/* Paths as the system takes them, 1 to GBT_MAX_FOLDERS; borrowed. */
typedef struct gbt_folders {
  const char *const *path;
  int32_t n;
} gbt_folders;

typedef struct gbt_disk_writer gbt_disk_writer;

/* Begins a data set in folders, which are created if needed. codec: compresses the pages for which it saves an eighth
 * or more. GBT_E_IO if there is a data set already, or a folder cannot be written to; GBT_E_UNSUPPORTED if this build
 * does not have the codec. Free with gbt_disk_writer_free. */
gbt_status gbt_disk_writer_new(gbt_ctx *ctx, gbt_folders folders, gbt_codec codec, gbt_disk_writer **out,
                               gbt_error *err) GBT_MUST_CHECK;

/* The value of gbt_dataset_spec.sink: the pages of the data set are written as they are made, and it then reads them
 * from the disk. Borrowed; for one call of gbt_dataset_make. memory: bytes of pages that it may keep in memory. */
gbt_page_sink *gbt_disk_writer_sink(gbt_disk_writer *writer, uint64_t memory);

/* Writes the index of the data set that was made with the sink, which completes the folders. note: n_note bytes of the
 * host's own, which gbt_disk_open returns; borrowed. GBT_E_IO: the data set in memory remains valid. Ranks: collective,
 * each with folders of its own; the call succeeds on all ranks or on none. */
gbt_status gbt_disk_writer_finish(gbt_ctx *ctx, gbt_disk_writer *writer, const gbt_dataset *ds, const void *note,
                                  size_t n_note, gbt_error *err) GBT_MUST_CHECK;

/* Removes the pages if the index was not written. NULL allowed. */
void gbt_disk_writer_free(gbt_disk_writer *writer);

/* The data set of its folders, which are given in any order, with no field set. memory: bytes of pages that may be in
 * memory; at least two pages, and one for every thread of a call. *out: free by gbt_dataset_unref. note: the note of
 * the writer, *n_note bytes, from ctx->mem: free with gbt_mem_free; NULL: not wanted. GBT_E_ARG if there are too many
 * folders, or one without a part of the data set; GBT_E_IO if a file is not in any of them or cannot be read;
 * GBT_E_FORMAT if a file is damaged or was not written by gbt; GBT_E_UNSUPPORTED if this build does not have the codec
 * of the pages. All name the file. Pages are read when they are needed, so a damaged page is an error only then.
 *
 * Ranks: collective. The folders are those of this rank's share, which all ranks made together; GBT_E_DATA if they
 * belong to different data sets. */
gbt_status gbt_disk_open(gbt_ctx *ctx, gbt_folders folders, uint64_t memory, gbt_dataset **out, uint8_t **note,
                         size_t *n_note, gbt_error *err) GBT_MUST_CHECK;

#endif
