/* Temporary files of saves: ".gbt-HASH-PID-TIME.tmp" in the folder of the target, HASH of the target's name. So the
 * name is short, however long the target's is, and never used twice.
 *
 * A file is locked from its making until it has its final name. The system ends a lock with its process, wherever that
 * ran: a file of this name that can be locked has no owner any more. Where there are no locks nothing is removed. */
#include "r_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ".gbt-HASH-": what the temporary names of a target begin with. The hash is FNV-1a. */
static void put_prefix(const char *target, char *out, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (const char *c = target + gbt_os_folder_bytes(target); *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  snprintf(out, size, ".gbt-%016llx-", (unsigned long long)hash);
}

/* Locks a file that was just made. 0 when another save has found it before it was locked, and removed it. */
static int lock_new(gbt_os_file file, const char *temp) {
  gbt_os_info info;
  return gbt_os_lock(file) != 0 && gbt_os_info_at(temp, 1, &info) != GBT_OS_MISSING;
}

int r_temp_open(const char *target, uint32_t bits, char *temp, gbt_os_file *file, gbt_os_file *lock) {
  size_t at = gbt_os_folder_bytes(target);
  char prefix[32];
  put_prefix(target, prefix, sizeof prefix);
  *file = *lock = GBT_OS_NONE;
  memcpy(temp, target, at);
  for (int i = 0; i < 100; i++) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temp + at, TEMP_ROOM, "%s%ld-%llx.tmp", prefix, r_process(),
             (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
    const int code = gbt_os_open(temp, GBT_OS_MAKE, bits, file);
    if (code == GBT_OS_TAKEN) continue;
    if (code != 0) return code;
    if (lock_new(*file, temp)) {
      if (gbt_os_again(*file, lock) != 0) *lock = GBT_OS_NONE;
      return 0;
    }
    (void)gbt_os_close(*file);
    *file = GBT_OS_NONE;
  }
  return GBT_OS_TAKEN;
}

static void remove_if_unlocked(const char *path) {
  gbt_os_info info;
  gbt_os_file file;
  if (gbt_os_open(path, GBT_OS_CLAIM, 0, &file) != 0) return;
  if (gbt_os_info_of(file, &info) == 0 && info.kind == GBT_OS_IS_FILE && gbt_os_lock(file) == 1)
    (void)gbt_os_remove(path);
  (void)gbt_os_close(file);
}

/* Names are looked at in the folder whose path this is the beginning of. */
typedef struct sweep {
  char path[PATH_SIZE + TEMP_ROOM], prefix[32];
  size_t at; /* where names begin */
} sweep;

static int remove_stale(void *arg, const char *name) {
  sweep *s = arg;
  const size_t n = strlen(name);
  if (strncmp(name, s->prefix, strlen(s->prefix)) != 0 || n <= 4 || n >= TEMP_ROOM) return 0;
  if (strcmp(name + n - 4, ".tmp") != 0) return 0;
  strcpy(s->path + s->at, name);
  remove_if_unlocked(s->path);
  return 0;
}

void r_temp_remove_stale(const char *target) {
  sweep s = {.at = gbt_os_folder_bytes(target)};
  char folder[PATH_SIZE + TEMP_ROOM];
  put_prefix(target, s.prefix, sizeof s.prefix);
  memcpy(s.path, target, s.at);
  memcpy(folder, target, s.at);
  strcpy(folder + s.at, s.at == 0 ? "." : "");
  (void)gbt_os_list(folder, remove_stale, &s);
}
