#include "file.h"

#include <string.h>

#include "clock.h"

static gbt_status fail_io(gbt_error *err, const char *path, const char *what, int code) {
  char why[160];
  gbt_os_why(code, why, sizeof why);
  return gbt_fail_on(err, GBT_E_IO, path, "cannot %s \"%s\": %s", what, path, why);
}

/* A pipe or a device would let a read or a write wait for ever, or do something else than keep bytes. */
static gbt_status check_regular(const gbt_file *file, gbt_error *err) {
  gbt_os_info info;
  const int code = gbt_os_info_of(file->os, &info);
  if (code != 0) return fail_io(err, file->path, "open", code);
  if (info.kind == GBT_OS_IS_FILE) return GBT_OK;
  return gbt_fail_on(err, GBT_E_IO, file->path,
                     "\"%s\" is not a file but a folder, a pipe or a device; remove it, or give another path",
                     file->path);
}

static gbt_status open_file(const gbt_mem *mem, const char *path, gbt_os_how how, const char *what, gbt_file *out,
                            gbt_error *err) {
  const size_t n = strlen(path) + 1;
  memset(out, 0, sizeof *out);
  out->os = GBT_OS_NONE;
  out->mem = *mem;
  GBT_TRY(gbt_mem_array(mem, n, 1, &out->path, err));
  memcpy(out->path, path, n);
  const int code = gbt_os_open(path, how, 0666, &out->os);
  const gbt_status status = code != 0 ? fail_io(err, path, what, code) : check_regular(out, err);
  if (status != GBT_OK) gbt_file_close(out);
  return status;
}

gbt_status gbt_file_create(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
  return open_file(mem, path, GBT_OS_MAKE, "make", out, err);
}

gbt_status gbt_file_open(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
  return open_file(mem, path, GBT_OS_READ, "open", out, err);
}

int gbt_file_lock(const gbt_file *file) {
  gbt_os_info info;
  const int locked = gbt_os_lock(file->os);
  return locked == 1 && gbt_os_info_of(file->os, &info) == 0 && info.n_names == 0 ? 0 : locked;
}

/* Whether this process has the file for itself now. 0: another process has locked it, or it was renamed or removed
 * after it was opened. */
static int claim(const gbt_file *file) {
  return gbt_file_lock(file) != 0 && gbt_os_is_at(file->os, file->path);
}

enum { CLAIMS = 16 };

/* A file with a second name belongs to another program, and must not be emptied. */
static gbt_status check_one_name(const gbt_file *file, gbt_error *err) {
  gbt_os_info info;
  if (gbt_os_info_of(file->os, &info) != 0 || info.n_names <= 1) return GBT_OK;
  return gbt_fail_on(err, GBT_E_IO, file->path, "\"%s\" has a second name elsewhere (a hard link); remove it",
                     file->path);
}

gbt_status gbt_file_draft(const gbt_mem *mem, const char *path, gbt_file *out, gbt_error *err) {
  for (int i = 0; i < CLAIMS; i++) {
    GBT_TRY(open_file(mem, path, GBT_OS_DRAFT, "make", out, err));
    gbt_status status = check_one_name(out, err);
    if (status != GBT_OK) {
      gbt_file_close(out);
      return status;
    }
    if (claim(out) && gbt_os_empty(out->os) == 0) return GBT_OK;
    gbt_file_close(out);
  }
  return gbt_fail_on(err, GBT_E_IO, path, "\"%s\" is being written by another process", path);
}

void gbt_file_close(gbt_file *file) {
  if (file->path == NULL) return;
  if (file->os != GBT_OS_NONE) (void)gbt_os_close(file->os);
  gbt_mem_free(&file->mem, file->path);
  file->path = NULL;
  file->os = GBT_OS_NONE;
}

static gbt_status write_from(const gbt_file *file, uint64_t to, const void *bytes, size_t n, gbt_error *err) {
  const char *at = bytes;
  while (n > 0) {
    size_t done;
    const int code = gbt_os_write(file->os, to, at, n, &done);
    if (code != 0) return fail_io(err, file->path, "write to", code);
    at += done;
    to += done;
    n -= done;
  }
  return GBT_OK;
}

gbt_status gbt_file_write(gbt_file *file, const void *bytes, size_t n, gbt_error *err) {
  GBT_TRY(write_from(file, file->end, bytes, n, err));
  file->end += n;
  return GBT_OK;
}

gbt_status gbt_file_write_at(gbt_file *file, uint64_t at, const void *bytes, size_t n, gbt_error *err) {
  return write_from(file, at, bytes, n, err);
}

gbt_status gbt_file_sync(gbt_file *file, gbt_error *err) {
  const int code = gbt_os_flush(file->os);
  return code == 0 ? GBT_OK : fail_io(err, file->path, "write to", code);
}

gbt_status gbt_file_bytes(const gbt_file *file, uint64_t *out, gbt_error *err) {
  gbt_os_info info;
  const int code = gbt_os_info_of(file->os, &info);
  if (code != 0) return fail_io(err, file->path, "ask for the size of", code);
  *out = info.bytes;
  return GBT_OK;
}

gbt_file_stamp gbt_file_stamp_of(const gbt_file *file) {
  gbt_file_stamp stamp = {.settled = 0};
  gbt_os_info info;
  if (!GBT_OS_TIMES_TELL || gbt_os_info_of(file->os, &info) != 0) return stamp;
  stamp.bytes = info.bytes;
  stamp.written = info.written;
  stamp.changed = info.changed;
  stamp.settled = info.changed_s < gbt_clock_wall_s() - 1; /* at least a second */
  return stamp;
}

gbt_status gbt_file_read(const gbt_file *file, uint64_t at, void *out, size_t n, gbt_error *err) {
  char *to = out;
  while (n > 0) {
    size_t done;
    const int code = gbt_os_read(file->os, at, to, n, &done);
    if (code != 0) return fail_io(err, file->path, "read", code);
    if (done == 0)
      return gbt_fail_on(err, GBT_E_IO, file->path, "\"%s\" is cut short: it ends at byte %llu", file->path,
                         (unsigned long long)at);
    to += done;
    at += done;
    n -= done;
  }
  return GBT_OK;
}

void gbt_file_read_ahead(const gbt_file *file, uint64_t at, uint64_t n) { gbt_os_read_ahead(file->os, at, n); }

gbt_status gbt_folder_make(const char *path, int *made, gbt_error *err) {
  const int code = gbt_os_make_folder(path);
  gbt_os_info info;
  *made = code == 0;
  if (code == 0) return GBT_OK;
  if (code == GBT_OS_TAKEN && gbt_os_info_at(path, 0, &info) == 0 && info.kind == GBT_OS_IS_FOLDER) return GBT_OK;
  return fail_io(err, path, "make the folder", code);
}

typedef struct listing {
  gbt_folder_fn fn;
  void *arg;
  gbt_error *err;
  gbt_status status;
} listing;

static int list_one(void *arg, const char *name) {
  listing *list = arg;
  list->status = list->fn(list->arg, name, list->err);
  return list->status != GBT_OK;
}

gbt_status gbt_folder_list(const char *path, gbt_folder_fn fn, void *arg, gbt_error *err) {
  listing list = {fn, arg, err, GBT_OK};
  (void)gbt_os_list(path, list_one, &list);
  return list.status;
}

int gbt_file_is_there(const char *path) {
  gbt_os_info info;
  return gbt_os_info_at(path, 0, &info) == 0;
}

gbt_status gbt_file_name(const char *from, const char *to, gbt_error *err) {
  const int code = gbt_os_name(from, to);
  if (code != 0) return fail_io(err, to, "make", code);
  (void)gbt_os_flush_folder_of(to);
  return GBT_OK;
}

gbt_status gbt_file_replace(const char *from, const char *to, gbt_error *err) {
  const int code = gbt_os_replace(from, to);
  if (code != 0) return fail_io(err, to, "make", code);
  (void)gbt_os_flush_folder_of(to);
  return GBT_OK;
}

void gbt_folder_remove(const char *path) { (void)gbt_os_remove_folder(path); }
void gbt_file_remove(const char *path) { (void)gbt_os_remove(path); }

gbt_status gbt_path_join(const gbt_mem *mem, const char *folder, const char *name, char **out, gbt_error *err) {
  const size_t n = strlen(folder), m = strlen(name);
  GBT_TRY(gbt_mem_array(mem, n + m + 2, 1, out, err));
  memcpy(*out, folder, n);
  (*out)[n] = '/';
  memcpy(*out + n + 1, name, m + 1);
  return GBT_OK;
}
