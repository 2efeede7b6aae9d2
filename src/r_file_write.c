/* Files that the user names (models, predictions, reports): the one way to write them. They are written under a
 * temporary name in the target's folder, flushed to the disk and renamed: a reader sees the old file or the new one,
 * never a half. Ctrl-C and a full disk leave the old one.
 *
 *   .gbt-HASH-PID-TIME.tmp   HASH: the hash of the target's name. It is locked until it has its final name
 * (r_file_temp.c)
 *
 *   open    what a link leads to is the target; only a file may be there, whose mode is kept
 *   put     appends bytes, any number of times; Ctrl-C and time limits end it
 *   end     the target has its name. Without it the draft is removed: by drop, by the handle's finalizer, or, after a
 *           crash, by the next one who writes the same target */
#include "r_file.h"

#include <stdint.h>
#include <string.h>

enum { CHUNK = 4 << 20, MOST_LINKS = 40, BUFFER = 1 << 16 };

/* A file that is being written. */
struct r_draft {
  gbt_os_file file, lock; /* file: GBT_OS_NONE when it is closed */
  int is_there;           /* a file is to be replaced */
  uint32_t bits;          /* of its mode, which is kept; or of a new file's */
  long process;           /* whose it is: a fork does not remove it */
  uint64_t end;           /* bytes written */
  size_t n_held;          /* bytes in the buffer */
  char native[PATH_SIZE], shown[2 * PATH_SIZE], target[PATH_SIZE], temp[PATH_SIZE + TEMP_ROOM];
  unsigned char held[BUFFER];
};

/* A link of /proc, such as /dev/stdout, stands for a file that a process has open. Replaced, the file would stay open
 * under no name, and what the process writes afterwards would be lost. */
static int is_open_file(const char *link) {
  gbt_os_info info, proc;
  if (gbt_os_info_at(link, 1, &info) != 0 || gbt_os_info_at("/proc/self", 1, &proc) != 0) return 0;
  return info.volume == proc.volume;
}

/* The path that a link leads to in the end, whether a file is there or not. */
static gbt_status follow_links(r_file_path path, char *target, gbt_error *err) {
  char link[PATH_SIZE];
  for (int i = 0;; i++) {
    int is_link;
    const int code = gbt_os_read_link(target, link, sizeof link, &is_link);
    if (code != 0) return r_fail_io(err, path, "write", code); /* never replace what may be a link */
    if (!is_link) return GBT_OK;                               /* or nothing is there yet */
    if (is_open_file(target))
      return gbt_fail_on(err, GBT_E_IO, path.shown,
                         "\"%s\" refers to a file that a process has open; give the path of a file", path.shown);
    const size_t n = strlen(link), at = link[0] == '/' ? 0 : gbt_os_folder_bytes(target);
    if (at + n >= PATH_SIZE) return r_fail_io(err, path, "write", GBT_OS_TOO_LONG);
    if (i == MOST_LINKS)
      return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is a symbolic link in a loop; remove it first", path.shown);
    memcpy(target + at, link, n + 1);
  }
}

static r_file_path path_of(const r_draft *d) { return (r_file_path){d->native, d->shown}; }

static gbt_status write_all(r_draft *d, const unsigned char *bytes, size_t n, gbt_error *err) {
  for (size_t at = 0; at < n;) {
    size_t done;
    const int code = gbt_os_write(d->file, d->end, bytes + at, n - at < CHUNK ? n - at : CHUNK, &done);
    if (code != 0) return r_fail_io(err, path_of(d), "write", code);
    at += done;
    d->end += done;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while writing");
  }
  return GBT_OK;
}

static gbt_status put_held(r_draft *d, gbt_error *err) {
  const size_t n = d->n_held;
  d->n_held = 0;
  return write_all(d, d->held, n, err);
}

static gbt_status draft_put(r_draft *d, const void *bytes, size_t n, gbt_error *err) {
  if (d->file == GBT_OS_NONE) return gbt_fail(err, GBT_E_ARG, "this file has been written already");
  if (n > BUFFER - d->n_held) GBT_TRY(put_held(d, err));
  if (n > BUFFER) return write_all(d, bytes, n, err);
  memcpy(d->held + d->n_held, bytes, n);
  d->n_held += n;
  return GBT_OK;
}

/* Checks what is at the path already: only a file may be replaced, no device, pipe or folder. */
static gbt_status check_target(r_draft *d, gbt_error *err) {
  gbt_os_info info;
  d->is_there = 0;
  d->bits = 0666;
  if (gbt_os_info_at(d->native, 0, &info) != 0) return GBT_OK; /* new, or no way to it: opening reports that */
  if (info.kind != GBT_OS_IS_FILE) return r_not_a_file(err, path_of(d), "; gbt writes only to files");
  d->is_there = 1;
  d->bits = info.bits;
  return GBT_OK;
}

static gbt_status fail_open(const r_draft *d, int code, gbt_error *err) {
  char why[160];
  gbt_os_why(code, why, sizeof why);
  if (gbt_os_is_denied(code) && gbt_os_may_write(d->target))
    return gbt_fail_on(err, GBT_E_IO, d->shown,
                       "cannot write file \"%s\": no file can be created in its folder (%s), which gbt needs to "
                       "replace the file safely; make the folder writable, or save to another folder and copy the file",
                       d->shown, why);
  return r_fail_io(err, path_of(d), "write", code);
}

/* d is zeroed before. */
static gbt_status draft_open(r_draft *d, r_file_path path, gbt_error *err) {
  d->file = d->lock = GBT_OS_NONE;
  d->process = r_process();
  if (strlen(path.native) >= sizeof d->native || strlen(path.shown) >= sizeof d->shown)
    return r_fail_io(err, path, "write", GBT_OS_TOO_LONG);
  strcpy(d->native, path.native);
  strcpy(d->shown, path.shown);
  strcpy(d->target, path.native);
  GBT_TRY(check_target(d, err));
  GBT_TRY(follow_links(path, d->target, err));
  r_temp_remove_stale(d->target);
  const int code = r_temp_open(d->target, d->bits & 0666, d->temp, &d->file, &d->lock);
  if (code == 0) return GBT_OK;
  d->temp[0] = 0; /* nothing of ours has this name */
  return fail_open(d, code, err);
}

/* The file is closed before it gets its name, as some systems report only then that writing failed. */
static gbt_status close_draft(r_draft *d, gbt_error *err) {
  gbt_status status = put_held(d, err);
  if (status == GBT_OK) {
    const int code = gbt_os_flush(d->file);
    if (code != 0) status = r_fail_io(err, path_of(d), "write", code);
  }
  if (status == GBT_OK && d->is_there) gbt_os_set_bits(d->file, d->bits);
  const int code = gbt_os_close(d->file);
  if (code != 0 && status == GBT_OK) status = r_fail_io(err, path_of(d), "write", code);
  d->file = GBT_OS_NONE;
  return status;
}

/* Removes what has no final name; once. */
static void draft_drop(r_draft *d) {
  if (d->file != GBT_OS_NONE) (void)gbt_os_close(d->file);
  if (d->temp[0] != 0 && d->process == r_process()) (void)gbt_os_remove(d->temp);
  if (d->lock != GBT_OS_NONE) (void)gbt_os_close(d->lock);
  d->file = d->lock = GBT_OS_NONE;
  d->temp[0] = 0;
}

static gbt_status draft_end(r_draft *d, gbt_error *err) {
  if (d->file == GBT_OS_NONE) return gbt_fail(err, GBT_E_ARG, "this file has been written already");
  gbt_status status = close_draft(d, err);
  int code = status == GBT_OK ? gbt_os_replace(d->temp, d->target) : 0;
  if (code != 0) status = r_fail_io(err, path_of(d), "replace", code);
  if (status == GBT_OK) d->temp[0] = 0;
  draft_drop(d);
  code = status == GBT_OK ? gbt_os_flush_folder_of(d->target) : 0;
  return code == 0 ? status : r_fail_io(err, path_of(d), "flush the folder of", code);
}

void r_draft_free(r_draft *d) {
  gbt_mem mem = r_mem();
  if (d == NULL) return;
  draft_drop(d);
  gbt_mem_free(&mem, d);
}

/* ---- what R calls ---- */

static SEXP new_draft(SEXP path, r_draft **out) {
  const r_file_path to = r_file_path_arg(path);
  SEXP x = PROTECT(r_handle_new(R_DRAFT, R_NilValue));
  gbt_mem mem = r_mem();
  gbt_error err = {0};
  gbt_status status = gbt_mem_zeros(&mem, 1, sizeof **out, out, &err);
  R_SetExternalPtrAddr(x, *out);
  if (status == GBT_OK) status = draft_open(*out, to, &err);
  r_check(status, &err);
  UNPROTECT(1);
  return x;
}

/* A file that is to be written piece by piece. */
SEXP r_gbt_draft_open(SEXP path) {
  r_draft *d;
  return new_draft(path, &d);
}

static gbt_status put_lines(r_draft *d, SEXP lines, gbt_error *err) {
  for (R_xlen_t i = 0; i < Rf_xlength(lines); i++) {
    SEXP line = STRING_ELT(lines, i);
    GBT_TRY(draft_put(d, CHAR(line), (size_t)Rf_xlength(line), err));
    GBT_TRY(draft_put(d, "\n", 1, err));
  }
  return GBT_OK;
}

/* what: raw bytes, or texts, each of which becomes a line as it is. */
SEXP r_gbt_draft_put(SEXP draft, SEXP what) {
  r_draft *d = r_handle_get(draft, R_DRAFT);
  if (TYPEOF(what) != RAWSXP && TYPEOF(what) != STRSXP) r_stop("`what` must be raw bytes or texts");
  const unsigned char *bytes = TYPEOF(what) == RAWSXP ? RAW_RO(what) : NULL;
  gbt_error err = {0};
  r_use use;
  r_use_begin(&use, draft);
  gbt_status status = bytes != NULL ? draft_put(d, bytes, (size_t)Rf_xlength(what), &err) : put_lines(d, what, &err);
  r_use_end(&use);
  r_check(status, &err);
  return R_NilValue;
}

/* The file gets its name. */
SEXP r_gbt_draft_end(SEXP draft) {
  r_draft *d = r_handle_get(draft, R_DRAFT);
  gbt_error err = {0};
  r_use use;
  r_use_begin(&use, draft);
  gbt_status status = draft_end(d, &err);
  r_use_end(&use);
  r_check(status, &err);
  return R_NilValue;
}

/* Removes a draft that was not ended. */
SEXP r_gbt_draft_drop(SEXP draft) {
  r_handle_free(draft, R_DRAFT);
  return R_NilValue;
}

/* A whole file. */
SEXP r_gbt_write_file(SEXP path, SEXP raw) {
  if (TYPEOF(raw) != RAWSXP) r_stop("`raw` must be a raw vector");
  const unsigned char *bytes = RAW_RO(raw);
  r_draft *d;
  SEXP draft = PROTECT(new_draft(path, &d));
  gbt_error err = {0};
  gbt_status status = draft_put(d, bytes, (size_t)Rf_xlength(raw), &err);
  if (status == GBT_OK) status = draft_end(d, &err);
  r_handle_free(draft, R_DRAFT);
  r_check(status, &err);
  UNPROTECT(1);
  return R_NilValue;
}

/* The end of a member of a gzip file: the CRC-32 of the bytes and their number, both in 4 bytes, the low ones first. */
SEXP r_gbt_gzip_tail(SEXP bytes) {
  if (TYPEOF(bytes) != RAWSXP) r_stop("`bytes` must be raw bytes");
  uint32_t table[256], crc = UINT32_MAX;
  const R_xlen_t n = Rf_xlength(bytes);
  const unsigned char *at = RAW_RO(bytes);
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? UINT32_C(0xedb88320) : 0);
  }
  for (R_xlen_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ at[i]) & 255];
  crc = ~crc;
  SEXP out = Rf_allocVector(RAWSXP, 8);
  for (int i = 0; i < 4; i++) {
    RAW(out)[i] = (unsigned char)(crc >> (8 * i));
    RAW(out)[4 + i] = (unsigned char)((uint64_t)n >> (8 * i));
  }
  return out;
}
