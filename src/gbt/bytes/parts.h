/* Files of parts: a head and then arrays of bytes, each with a checksum, written as a whole or not at all.
 *
 *   head | part: number, bytes, checksum; the bytes, up to a multiple of 8 | part | ...
 *
 * Little-endian machines write what they have in memory; a file is for the version of the program that wrote it. It is
 * written under a temporary name, and renamed in one step when all of it is on the disk: a reader finds either the old
 * file or the new one. Errors name the file. */
#ifndef GBT_BYTES_PARTS_H
#define GBT_BYTES_PARTS_H

#include "../base/file.h"

typedef struct gbt_parts_head {
  char magic[8];
  uint64_t version, n_parts;
  uint64_t identity; /* identifies what the file belongs to */
  uint64_t n_bytes;  /* of the whole file */
  uint64_t checksum; /* of the head, with 0 here */
} gbt_parts_head;

/* ---- writing: begin, put every part, end; close in any case ---- */

typedef struct gbt_parts_writer {
  gbt_mem mem;
  gbt_file file;
  char *path, *draft; /* owned */
  gbt_parts_head head;
} gbt_parts_writer;

/* magic: 8 bytes. GBT_E_IO while another process writes the file. */
gbt_status gbt_parts_begin(const gbt_mem *mem, const char *path, const char *magic, uint64_t version,
                           uint64_t identity, gbt_parts_writer *out, gbt_error *err) GBT_MUST_CHECK;
/* Parts have the numbers 0, 1, ... in the order in which they are put. */
gbt_status gbt_parts_put(gbt_parts_writer *w, const void *bytes, uint64_t n, gbt_error *err) GBT_MUST_CHECK;
/* The file has its name. */
gbt_status gbt_parts_end(gbt_parts_writer *w, gbt_error *err) GBT_MUST_CHECK;
/* Removes what was not ended. */
void gbt_parts_drop(gbt_parts_writer *w);

/* ---- reading ---- */

typedef struct gbt_parts_reader {
  gbt_file file;
  gbt_parts_head head;
  uint64_t at, part; /* of the next part */
} gbt_parts_reader;

/* Opens a file and looks at all of its checksums. GBT_E_IO when it cannot be read, GBT_E_FORMAT when it is none with
 * this magic and version, or damaged. Close also after a failure. */
gbt_status gbt_parts_open(const gbt_mem *mem, const char *path, const char *magic, uint64_t version,
                          gbt_parts_reader *out, gbt_error *err) GBT_MUST_CHECK;
/* Bytes of the next part. */
gbt_status gbt_parts_next(gbt_parts_reader *r, uint64_t *n, gbt_error *err) GBT_MUST_CHECK;
/* Takes the next part, which must have n bytes. */
gbt_status gbt_parts_take(gbt_parts_reader *r, void *out, uint64_t n, gbt_error *err) GBT_MUST_CHECK;
void gbt_parts_close(gbt_parts_reader *r);

#endif
