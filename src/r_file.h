/* Shared by the sources that handle files: r_file.c reads, r_file_write.c writes, r_file_temp.c has temporary files. */
#ifndef R_FILE_H
#define R_FILE_H

#include "r_gbt.h"

enum { PATH_SIZE = 4096, TEMP_ROOM = 64 }; /* bytes of a path, and what a temporary name may need beyond */

/* A path as base/os_file.h takes it and as messages show it (UTF-8). */
typedef struct r_file_path {
  const char *native, *shown;
} r_file_path;

/* Of one text; lasts until the .Call returns. */
r_file_path r_file_path_arg(SEXP path);

/* GBT_E_IO: "cannot WHAT file ...", with the system's reason `code` (base/os_file.h); and that the path is no file. */
gbt_status r_fail_io(gbt_error *err, r_file_path path, const char *what, int code);
gbt_status r_not_a_file(gbt_error *err, r_file_path path, const char *more);

/* Creates a file in the folder of target, for writing, and locks it as long as *lock is open (GBT_OS_NONE: there are no
 * locks). Its name goes to temp, of PATH_SIZE + TEMP_ROOM bytes. 0, or the system's reason. */
int r_temp_open(const char *target, uint32_t bits, char *temp, gbt_os_file *file, gbt_os_file *lock);

/* Removes temporary files of earlier saves to this target whose process was killed. */
void r_temp_remove_stale(const char *target);

#endif
