/* Files of the operating system. The engine and its host use the system's files only through these functions:
 * os_file_posix.c, os_file_windows.c. base/file.h has the files of the engine.
 *
 * Paths are UTF-8 on Windows, and what the system accepts on other systems. Sizes and offsets have 64 bits. Functions
 * that can fail return 0, or the system's error code: errno, on Windows GetLastError(). gbt_os_why() gives its text. A
 * call that a signal interrupts continues. Open files can be renamed, replaced and removed, and remain readable; no
 * other program inherits them; opening never blocks. */
#ifndef GBT_BASE_OS_FILE_H
#define GBT_BASE_OS_FILE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

typedef intptr_t gbt_os_file;
#define GBT_OS_NONE ((gbt_os_file)-1)

/* Error codes that callers use. */
#ifdef _WIN32
enum { GBT_OS_MISSING = 2, GBT_OS_TAKEN = 80, GBT_OS_TOO_LONG = 206 };
enum { GBT_OS_TIMES_TELL = 0 };
#else
enum { GBT_OS_MISSING = ENOENT, GBT_OS_TAKEN = EEXIST, GBT_OS_TOO_LONG = ENAMETOOLONG };
enum { GBT_OS_TIMES_TELL = 1 }; /* 1: every write changes the times of a file at once; on Windows it may be later */
#endif
/* Whether permission is missing: of this user, or of all users on this disk. */
int gbt_os_is_denied(int code);
void gbt_os_why(int code, char *out, size_t size);

typedef enum gbt_os_how {
  GBT_OS_READ,  /* for reading, also pipes and devices (gbt_os_info_of() says which) */
  GBT_OS_MAKE,  /* for writing a new file; GBT_OS_TAKEN if it exists */
  GBT_OS_DRAFT, /* for writing, created if it does not exist; does not follow links */
  GBT_OS_CLAIM  /* for locking and removing an existing file; does not follow links */
} gbt_os_how;

/* bits: the mode of a new file, before the process applies its umask; Windows has none. */
int gbt_os_open(const char *path, gbt_os_how how, uint32_t bits, gbt_os_file *out);
/* Another handle of the same open file. Its lock ends when all handles are closed. */
int gbt_os_again(gbt_os_file file, gbt_os_file *out);
/* Always closes the file; a failure means that some data were not written. */
int gbt_os_close(gbt_os_file file);

/* Some bytes from byte `at` on; *done: how many, for reads 0 at the end of the file. */
int gbt_os_read(gbt_os_file file, uint64_t at, void *out, size_t n, size_t *done);
int gbt_os_write(gbt_os_file file, uint64_t at, const void *bytes, size_t n, size_t *done);
/* Truncates the file to 0 bytes. */
int gbt_os_empty(gbt_os_file file);
/* Waits until the data are on the disk, if the file system supports this. */
int gbt_os_flush(gbt_os_file file);
/* The same for the names in the folder of a file. */
int gbt_os_flush_folder_of(const char *path);
/* Tells the system that these bytes will be read soon. Does not wait. */
void gbt_os_read_ahead(gbt_os_file file, uint64_t at, uint64_t n);
/* Locks the file for this process, as long as it is open. 1: it has the lock; 0: another process has it; -1: there are
 * no locks. Processes that do not ask for the lock can read and write. */
int gbt_os_lock(gbt_os_file file);
/* Without effect where the file system has no modes. */
void gbt_os_set_bits(gbt_os_file file, uint32_t bits);

typedef enum gbt_os_kind { GBT_OS_IS_FILE, GBT_OS_IS_FOLDER, GBT_OS_IS_OTHER } gbt_os_kind;
typedef struct gbt_os_info {
  gbt_os_kind kind;
  uint32_t bits;              /* of its mode */
  uint64_t bytes, n_names;    /* 0 names: it was removed */
  uint64_t volume;            /* equal for files of the same file system; 0 on Windows, where it takes time */
  uint64_t written, changed;  /* ns, as numbers without meaning */
  int64_t changed_s;
} gbt_os_info;
int gbt_os_info_of(gbt_os_file file, gbt_os_info *out);
/* of_link: of the link itself, if it is one */
int gbt_os_info_at(const char *path, int of_link, gbt_os_info *out);
/* Whether the path is one of this open file, and not of another one that has its name now. */
int gbt_os_is_at(gbt_os_file file, const char *path);
int gbt_os_may_write(const char *path);

/* The path in a link, with a NUL; *is_link: 0 when there is none at the path, or nothing. Links of Windows are not
 * looked for. */
int gbt_os_read_link(const char *path, char *out, size_t size, int *is_link);

/* Renames `from` to `to` in one step. If `to` exists, gbt_os_replace replaces it, and gbt_os_name fails (if the file
 * system supports that). */
int gbt_os_replace(const char *from, const char *to);
int gbt_os_name(const char *from, const char *to);
int gbt_os_remove(const char *path);

int gbt_os_make_folder(const char *path);
int gbt_os_remove_folder(const char *path);
/* Calls fn with the names in a folder, in any order, until it does not return 0. */
int gbt_os_list(const char *path, int (*fn)(void *arg, const char *name), void *arg);
/* The number of bytes of the path before the name. */
size_t gbt_os_folder_bytes(const char *path);

#endif
