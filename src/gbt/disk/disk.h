/* Data sets on disk: folders with the bins of a table, which are made once and read by any number of trainings.
 *
 *   FOLDER/gbt-dataset        the index: columns, cuts, layout, where every page is; written last, in one step
 *   FOLDER/pages-ID.bin       the pages, concatenated; ID is drawn for every data set
 *
 * Or in several folders, on a disk each, of which the first has the index, too, and page p is in folder p modulo 3:
 *
 *   FOLDER1/pages-ID-1of3.bin    FOLDER2/pages-ID-2of3.bin    FOLDER3/pages-ID-3of3.bin
 *
 * A folder without an index holds no data set, whatever else is in it: a writer that dies leaves nothing that could be
 * taken for one, and the next writer of the folder removes it. A writer has a lock on its first file of pages, so that
 * no other writer removes it meanwhile. Everything is little-endian; every page and the index have a checksum, which is
 * looked at when they are read first, and a page's again when its file was changed since. Folders may be moved, copied,
 * and read by several processes at once; the index and the first file of pages belong together. */
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

/* Begins a data set in folders, which are made where there are none. codec: pages become smaller by it where that saves
 * an eighth or more, and stay as they are elsewhere. GBT_E_IO when there is a data set already, or a folder cannot be
 * written to; GBT_E_UNSUPPORTED when this build lacks the codec. Free with gbt_disk_writer_free. */
gbt_status gbt_disk_writer_new(gbt_ctx *ctx, gbt_folders folders, gbt_codec codec, gbt_disk_writer **out,
                               gbt_error *err) GBT_MUST_CHECK;

/* Where gbt_dataset_spec.sink goes: the pages of the data set are written as they are made, and it has them from the
 * disk then. Borrowed; for one call of gbt_dataset_make. memory: bytes of pages that it may keep in memory. */
gbt_page_sink *gbt_disk_writer_sink(gbt_disk_writer *writer, uint64_t memory);

/* Writes the index of the data set that was made with the sink: from here on the folders hold it. note: n_note bytes of
 * the host's own, which gbt_disk_open gives back; borrowed. GBT_E_IO; the data set itself is good even so. Ranks:
 * collective, each with folders of its own; all have their data sets in the end, or none has. */
gbt_status gbt_disk_writer_finish(gbt_ctx *ctx, gbt_disk_writer *writer, const gbt_dataset *ds, const void *note,
                                  size_t n_note, gbt_error *err) GBT_MUST_CHECK;

/* Removes the pages where the index was not written. NULL allowed. */
void gbt_disk_writer_free(gbt_disk_writer *writer);

/* The data set of its folders, which are given in any order, with no field set. memory: bytes of pages that may be in
 * memory; two pages, and one for every thread of a call, always may. *out: free by gbt_dataset_unref. note: what the
 * writer was given, *n_note bytes, from ctx->mem: free with gbt_mem_free; NULL: not wanted. GBT_E_ARG when folders are
 * too many or one is given that has no part of the data set, GBT_E_IO when a file is not in any of them or cannot be
 * read, GBT_E_FORMAT when it is none of ours or damaged, GBT_E_UNSUPPORTED when this build lacks the codec that pages
 * are packed by; all name the file. Pages are read when they are needed: damage to a page is an error then.
 *
 * Ranks: collective. The folders are those of this rank's share, which all ranks made together; GBT_E_DATA where they
 * belong to different data sets. */
gbt_status gbt_disk_open(gbt_ctx *ctx, gbt_folders folders, uint64_t memory, gbt_dataset **out, uint8_t **note,
                         size_t *n_note, gbt_error *err) GBT_MUST_CHECK;

#endif
