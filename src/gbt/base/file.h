/* Files of bytes, by path. Pipes, devices and folders are refused, and opening never blocks. Paths are as
 * base/os_file.h takes them; messages show them as they are. All failures are GBT_E_IO and name the file, what was to
 * be done with it and the system's reason. */
#ifndef GBT_BASE_FILE_H
#define GBT_BASE_FILE_H

#include "mem.h"
#include "os_file.h"

typedef struct gbt_file {
  gbt_os_file os; /* GBT_OS_NONE: not open */
  uint64_t end;   /* where the next bytes are appended */
  char *path;     /* owned */
  gbt_mem mem;
} gbt_file;

/* An empty file, which must not be there yet. */
gbt_status gbt_file_create(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) GBT_MUST_CHECK;
/* An empty file to write to, whether there was one or not; GBT_E_IO while another process has it open like this, and
 * for a link, which is not followed. */
gbt_status gbt_file_draft(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) GBT_MUST_CHECK;
/* A file to read from. */
gbt_status gbt_file_open(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) GBT_MUST_CHECK;
/* Locks the file for this process as long as it is open: 1; 0 when another process has the lock, or the file was
 * removed; -1 where the system has no locks. The lock is advisory: other processes can still read and write the
 * file. */
int gbt_file_lock(const gbt_file *file);
/* Never fails: call gbt_file_sync before, which reports write errors. The file need not be open. */
void gbt_file_close(gbt_file *file);

/* Appends n bytes; all of them, or it fails. */
gbt_status gbt_file_write(gbt_file *file, const void *bytes, size_t n, gbt_error *err) GBT_MUST_CHECK;
/* Writes n bytes over those from byte `at` on; what is appended goes where it went before. */
gbt_status gbt_file_write_at(gbt_file *file, uint64_t at, const void *bytes, size_t n, gbt_error *err) GBT_MUST_CHECK;
/* Waits until what was written is on the disk. */
gbt_status gbt_file_sync(gbt_file *file, gbt_error *err) GBT_MUST_CHECK;

gbt_status gbt_file_bytes(const gbt_file *file, uint64_t *out, gbt_error *err) GBT_MUST_CHECK;
/* The state of a file: its size, and when it was written to and changed last, in nanoseconds. settled: the last change
 * is longer ago than the coarsest clock of a file system ticks, so that a later change shows in a later stamp. 0 where
 * the system has no such times or does not report them (Windows may do so only when a writer has closed the file), or
 * its clock is before them. */
typedef struct gbt_file_stamp {
  uint64_t bytes, written, changed;
  int settled;
} gbt_file_stamp;
gbt_file_stamp gbt_file_stamp_of(const gbt_file *file);
/* Whether the file is unchanged between two stamps of it. Changes that bypass the system's write calls are not seen: a
 * decaying disk, writes through a mapping that existed before. */
static inline int gbt_file_is_same(const gbt_file_stamp *before, const gbt_file_stamp *after) {
  return before->settled && before->bytes == after->bytes && before->written == after->written &&
         before->changed == after->changed;
}

/* n bytes from byte `at` on; a file that ends before is a failure. Several threads may read at once. */
gbt_status gbt_file_read(const gbt_file *file, uint64_t at, void *out, size_t n, gbt_error *err) GBT_MUST_CHECK;
/* These bytes will be read soon: the system may fetch them meanwhile. Does not wait. */
void gbt_file_read_ahead(const gbt_file *file, uint64_t at, uint64_t n);

/* A new folder; *made: 0 when there was one. */
gbt_status gbt_folder_make(const char *path, int *made, gbt_error *err) GBT_MUST_CHECK;
/* Calls fn with the names of what is in a folder, in any order, until it fails. A folder that cannot be read is empty.
 */
typedef gbt_status (*gbt_folder_fn)(void *arg, const char *name, gbt_error *err);
gbt_status gbt_folder_list(const char *path, gbt_folder_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;
/* Removes an empty folder; ignores failure (say, when it is not empty). */
void gbt_folder_remove(const char *path);

int gbt_file_is_there(const char *path);
/* `from` gets the name `to`, in one step; fails where a file has it. Then waits until the folder is on the disk, where
 * the system can tell. */
gbt_status gbt_file_name(const char *from, const char *to, gbt_error *err) GBT_MUST_CHECK;
/* The same, but `to` may be there: it is replaced. */
gbt_status gbt_file_replace(const char *from, const char *to, gbt_error *err) GBT_MUST_CHECK;
/* Ignores failure (say, when there is no such file). */
void gbt_file_remove(const char *path);

/* folder/name; free with gbt_mem_free. */
gbt_status gbt_path_join(const gbt_mem *mem, const char *folder, const char *name, char **out,
                         gbt_error *err) GBT_MUST_CHECK;

#endif
