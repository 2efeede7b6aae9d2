/* Temporary files beside a model file (r_file_temp.c), for r_file.c. */
#ifndef R_FILE_H
#define R_FILE_H

#include <sys/types.h>

enum { PATH_SIZE = 4096, TEMP_ROOM = 64 }; /* bytes of a path, and what a temporary name may need beyond */

/* open() that a signal does not end and no other program inherits. -1: see errno. */
int r_open(const char *path, int flags, mode_t mode);

/* Creates a file in the folder of target, for writing, and locks it as long as *lock is open (-1: there are no locks).
 * Its name goes to temp, of PATH_SIZE + TEMP_ROOM bytes. -1: see errno. */
int r_temp_open(const char *target, mode_t mode, char *temp, int *lock);

/* Removes what saves to this target left behind whose process was killed. */
void r_temp_remove_stale(const char *target);

#endif
