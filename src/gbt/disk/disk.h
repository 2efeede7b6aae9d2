/* Data sets on disk: a folder with the bins of a table, which is made once and read by as many trainings as one likes.
 *
 *   FOLDER/gbt-dataset     the index: columns, cuts, layout, where every page is; written last, in one step
 *   FOLDER/pages-ID.bin    the pages, one behind the other; ID is drawn for every data set
 *
 * A folder without an index holds no data set, whatever else is in it: a writer that dies leaves nothing that could be
 * taken for one. Everything is little-endian; every page and the index have a checksum, which is looked at whenever
 * they are read. A folder may be moved, copied, and read by several processes at once. */
#ifndef GBT_DISK_DISK_H
#define GBT_DISK_DISK_H

#include "../data/dataset.h"

typedef struct gbt_disk_writer gbt_disk_writer;

/* Begins a data set in a folder, which is made where there is none. GBT_E_IO when there is a data set already, or the
 * folder cannot be written to. folder: as the system takes it; copied. */
gbt_status gbt_disk_writer_new(gbt_ctx *ctx, const char *folder, gbt_disk_writer **out, gbt_error *err) GBT_MUST_CHECK;

/* Where gbt_dataset_spec.sink goes: the pages of the data set are written as they are made, and it has them from the
 * disk then. Borrowed; for one call of gbt_dataset_make. memory: bytes of pages that it may keep in memory. */
gbt_page_sink *gbt_disk_writer_sink(gbt_disk_writer *writer, uint64_t memory);

/* Writes the index of the data set that was made with the sink: from here on the folder holds it. note: n_note bytes of
 * the host's own, which gbt_disk_open gives back; borrowed. GBT_E_IO; the data set itself is good even so. */
gbt_status gbt_disk_writer_finish(gbt_ctx *ctx, gbt_disk_writer *writer, const gbt_dataset *ds, const void *note,
                                  size_t n_note, gbt_error *err) GBT_MUST_CHECK;

/* Removes the pages where the index was not written. NULL allowed. */
void gbt_disk_writer_free(gbt_disk_writer *writer);

/* The data set of a folder, with no field set. memory: bytes of pages that may be kept in memory; two pages always may.
 * note: what the writer was given, *n_note bytes, from ctx->mem: free with gbt_mem_free; NULL: not wanted.
 * GBT_E_IO when a file cannot be read, GBT_E_FORMAT when it is none of ours or damaged; both name the file. Pages are
 * read when they are needed: a damaged or missing one is told then. */
gbt_status gbt_disk_open(gbt_ctx *ctx, const char *folder, uint64_t memory, gbt_dataset **out, uint8_t **note,
                         size_t *n_note, gbt_error *err) GBT_MUST_CHECK;

#endif
