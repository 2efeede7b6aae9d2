/* Reading model files; r_file_write.c writes them. Reading opens first and asks the open file for its size: a file that
 * is replaced meanwhile stays readable as it was. The head is looked at before memory is taken for the rest. */
#include "r_file.h"

#include <stdint.h>
#include <string.h>

enum { CHUNK = 4 << 20 };

gbt_status r_fail_io(gbt_error *err, r_file_path path, const char *what, int code) {
  char why[160];
  gbt_os_why(code, why, sizeof why);
  return gbt_fail_on(err, GBT_E_IO, path.shown, "cannot %s file \"%s\": %s", what, path.shown, why);
}

gbt_status r_not_a_file(gbt_error *err, r_file_path path, const char *more) {
  return gbt_fail_on(err, GBT_E_IO, path.shown, "\"%s\" is not a file%s", path.shown, more);
}

r_file_path r_file_path_arg(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    r_stop("`path` must be one text");
  const char *shown = Rf_translateCharUTF8(STRING_ELT(path, 0));
#ifdef _WIN32
  const char *native = shown;
#else
  const char *native = Rf_translateChar(STRING_ELT(path, 0));
#endif
  return (r_file_path){native, shown};
}

/* An open file and what is known of it. */
typedef struct source {
  gbt_os_file file;
  size_t n_bytes;
} source;

static gbt_status read_all(gbt_os_file file, unsigned char *bytes, size_t beg, size_t end, r_file_path path,
                           gbt_error *err) {
  for (size_t at = beg; at < end;) {
    size_t got;
    const int code = gbt_os_read(file, at, bytes + at, end - at < CHUNK ? end - at : CHUNK, &got);
    if (code != 0) return r_fail_io(err, path, "read", code);
    if (got == 0)
      return gbt_fail_on(err, GBT_E_IO, path.shown, "file \"%s\" became shorter while it was read", path.shown);
    at += got;
    if (r_poll(NULL)) return gbt_fail(err, GBT_CANCELLED, "stopped while reading");
  }
  return GBT_OK;
}

/* saveRDS() writes gzip, bzip2, xz, or plainly "X\n" or "A\n" first; save() the same, or plainly "RDX" or "RDA". */
static const char *hint_of(const unsigned char *head, size_t n) {
  static const char *const begins[] = {"\x1f\x8b", "BZh", "\xfd\x37z", "X\n", "A\n", "RD"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    size_t length = strlen(begins[i]);
    if (n >= length && memcmp(head, begins[i], length) == 0)
      return "; what saveRDS() wrote is read by readRDS(), what save() wrote by load()";
  }
  return "";
}

/* Opens a file, which must be one: no pipe, which could keep R waiting for ever. On failure nothing is open. */
static gbt_status open_file(r_file_path path, gbt_os_file *file, gbt_os_info *info, gbt_error *err) {
  int code = gbt_os_open(path.native, GBT_OS_READ, 0, file);
  if (code != 0) return r_fail_io(err, path, "read", code);
  gbt_status status = GBT_OK;
  code = gbt_os_info_of(*file, info);
  if (code != 0)
    status = r_fail_io(err, path, "read", code);
  else if (info->kind != GBT_OS_IS_FILE)
    status = r_not_a_file(err, path, "");
  if (status != GBT_OK) (void)gbt_os_close(*file);
  return status;
}

/* Opens a model file and reads its head, of GBT_MODEL_HEAD bytes. On failure nothing is open. */
static gbt_status open_source(r_file_path path, source *s, unsigned char *head, gbt_error *err) {
  gbt_os_info info;
  GBT_TRY(open_file(path, &s->file, &info, err));
  gbt_status status;
  size_t n = info.bytes < GBT_MODEL_HEAD ? (size_t)info.bytes : GBT_MODEL_HEAD;
  GBT_TRY_GOTO(read_all(s->file, head, 0, n, path, err), done);
  gbt_error why = {0};
  status = gbt_model_check_head(head, n, info.bytes, &why);
  if (status != GBT_OK)
    gbt_fail_on(err, status, path.shown, "\"%s\": %s%s", path.shown, why.msg, hint_of(head, n));
  else if (info.bytes > (uint64_t)R_XLEN_T_MAX)
    status = gbt_fail_mem(err, SIZE_MAX);
  s->n_bytes = (size_t)info.bytes;
done:
  if (status != GBT_OK) (void)gbt_os_close(s->file);
  return status;
}

static SEXP new_raw(void *n_bytes) { return Rf_allocVector(RAWSXP, (R_xlen_t) * (const size_t *)n_bytes); }

static SEXP no_memory(SEXP condition, void *unused) {
  (void)condition;
  (void)unused;
  return R_NilValue;
}

/* R_NilValue when there is not so much memory. */
static SEXP try_raw(void *n_bytes) { return R_tryCatchError(new_raw, n_bytes, no_memory, NULL); }

static void close_on_jump(void *file, Rboolean jump) {
  if (jump) (void)gbt_os_close(*(gbt_os_file *)file);
}

SEXP r_gbt_read_file(SEXP path) {
  r_file_path from = r_file_path_arg(path);
  gbt_error err = {0};
  source s;
  unsigned char head[GBT_MODEL_HEAD];
  r_check(open_source(from, &s, head, &err), &err);
  SEXP out = PROTECT(R_UnwindProtect(try_raw, &s.n_bytes, close_on_jump, &s.file, NULL));
  gbt_status status;
  if (out == R_NilValue) {
    status = gbt_fail_mem(&err, s.n_bytes);
  } else {
    memcpy(RAW(out), head, sizeof head);
    status = read_all(s.file, RAW(out), sizeof head, s.n_bytes, from, &err);
  }
  (void)gbt_os_close(s.file);
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* Raises unless the path is a file that can be read, before a connection of R opens it: that would wait for the other
 * end of a pipe, and nothing could end it. */
SEXP r_gbt_check_file(SEXP path) {
  gbt_os_file file;
  gbt_os_info info;
  gbt_error err = {0};
  r_check(open_file(r_file_path_arg(path), &file, &info, &err), &err);
  (void)gbt_os_close(file);
  return R_NilValue;
}
