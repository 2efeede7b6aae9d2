/* Data sets: frame -> binned rows. */
#include "r_gbt.h"

#include <stdio.h>
#include <string.h>

/* Starting a thread costs as much as binning about so many cells. */
enum { CELLS_WORTH_THREADS = 20000 };

static gbt_folders folders_of(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) < 1 || Rf_xlength(path) > GBT_MAX_FOLDERS)
    r_stop("`path` must be 1 to %d texts", GBT_MAX_FOLDERS);
  const int n = (int)Rf_xlength(path);
  const char **out = (const char **)R_alloc((size_t)n, sizeof *out);
  for (int k = 0; k < n; k++) {
    if (STRING_ELT(path, k) == NA_STRING) r_stop("`path` must be texts without NA");
    out[k] = Rf_translateChar(STRING_ELT(path, k));
  }
  return (gbt_folders){out, n};
}

r_disk r_disk_arg(SEXP disk) {
  r_disk out = {.folders = {NULL, 0}};
  if (disk == R_NilValue) return out;
  SEXP note = r_item(disk, "note");
  if (TYPEOF(note) != RAWSXP) r_stop("`note` must be raw bytes");
  const int codec = r_arg_int(r_item(disk, "codec"), "codec");
  if (gbt_codec_name(codec) == NULL) r_stop("there is no codec %d", codec);
  out.folders = folders_of(r_item(disk, "path"));
  out.codec = (gbt_codec)codec;
  out.memory = (uint64_t)Rf_asReal(r_item(disk, "memory"));
  out.note = RAW_RO(note);
  out.n_note = (size_t)Rf_xlength(note);
  return out;
}

gbt_status r_make_dataset(gbt_ctx *ctx, gbt_dataset_spec *spec, const r_disk *disk, gbt_dataset **out, gbt_error *err) {
  gbt_disk_writer *writer;
  if (disk->folders.n == 0) return gbt_dataset_make(ctx, spec, out, err);
  gbt_status status = gbt_disk_writer_new(ctx, disk->folders, disk->codec, &writer, err);
  if (status != GBT_OK) return status;
  spec->sink = gbt_disk_writer_sink(writer, disk->memory);
  status = gbt_dataset_make(ctx, spec, out, err);
  if (status == GBT_OK) status = gbt_disk_writer_finish(ctx, writer, *out, disk->note, disk->n_note, err);
  gbt_disk_writer_free(writer);
  if (status != GBT_OK) {
    gbt_dataset_unref(*out);
    *out = NULL;
  }
  return status;
}

SEXP r_statistics_handle(SEXP frame) {
  SEXP state = r_item(frame, "statistics");
  return state == R_NilValue ? R_NilValue : r_model_handle(state, R_NilValue);
}

const gbt_schema *r_statistics(SEXP handle) {
  return handle == R_NilValue ? NULL : gbt_model_schema(r_model_get(handle));
}

/* device: NULL, or as for r_cuda_api. disk: as for r_disk_arg. */
SEXP r_gbt_dataset_new(SEXP frame, SEXP reference, SEXP weight, SEXP max_bin, SEXP page_rows, SEXP unseen, SEXP threads,
                       SEXP device, SEXP disk) {
  /* 1 */
  gbt_table table;
  r_table(frame, &table);
  SEXP handle = PROTECT(r_statistics_handle(frame));
  table.statistics = r_statistics(handle);
  gbt_dataset_spec spec = {.table = &table,
                           .reference = reference == R_NilValue ? NULL : r_handle_get(reference, R_DATASET),
                           .weight = r_arg_reals(weight, (R_xlen_t)table.n_rows, "weight"),
                           .max_bin = r_arg_int(max_bin, "max_bin"),
                           .page_rows = r_arg_int(page_rows, "page_rows"),
                           .unseen = (gbt_unseen)r_arg_int(unseen, "unseen")};
  r_threads t = r_arg_threads(threads);
  if ((double)table.n_rows * (double)table.n_cols < CELLS_WORTH_THREADS) t.n = 1;
  int32_t number = 0;
  const gbt_device_api *api = device == R_NilValue ? NULL : r_cuda_api(device, &number);
  const r_disk to = r_disk_arg(disk);
  SEXP out = PROTECT(r_handle_new(R_DATASET, R_NilValue));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_dataset *ds = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    if (api != NULL) status = gbt_device_help(&ctx, api, number, &spec.help, &err);
    if (status == GBT_OK) status = r_make_dataset(&ctx, &spec, &to, &ds, &err);
    gbt_device_help_close(spec.help);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  if (status == GBT_OK) R_SetExternalPtrAddr(out, ds);
  r_check(status, &err);
  UNPROTECT(2);
  return out;
}

/* A data set of its folders, and the note that was left there. */
SEXP r_gbt_dataset_open(SEXP path, SEXP memory, SEXP threads) {
  /* 1 */
  const gbt_folders folders = folders_of(path);
  const uint64_t bytes = (uint64_t)Rf_asReal(memory);
  const r_threads t = r_arg_threads(threads);
  r_blob *note;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
  PROTECT(r_blob_new(&note));
  SEXP handle = r_handle_new(R_DATASET, R_NilValue);
  SET_VECTOR_ELT(out, 0, handle);
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_dataset *ds = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_disk_open(&ctx, folders, bytes, &ds, &note->bytes, &note->n_bytes, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  if (status == GBT_OK) R_SetExternalPtrAddr(handle, ds);
  r_check(status, &err);
  SET_VECTOR_ELT(out, 1, r_blob_take(note));
  UNPROTECT(2);
  return out;
}

/* Whether this build has the codec. */
SEXP r_gbt_codec_is_here(SEXP codec) { return Rf_ScalarLogical(gbt_codec_is_here(r_arg_int(codec, "codec"))); }

gbt_field r_arg_field(const char *name) {
  for (int f = 0; gbt_field_name(f) != NULL; f++)
    if (strcmp(gbt_field_name(f), name) == 0) return (gbt_field)f;
  r_stop("there is no field `%s`", name);
}

/* Numbers that a host gives to rows. */
typedef struct row_fields {
  int n;
  gbt_field *field;
  const double **x; /* NULL: not given */
  int64_t *length;
} row_fields;

/* A list like `fields` whose vectors keep their place in memory. Those of R's ALTREP may get another one when R code
 * reads them, such as the wrapper by which R gives attributes to a long vector that it does not copy: these are copied
 * here. */
static SEXP fields_in_place(SEXP fields) {
  SEXP out = PROTECT(Rf_shallow_duplicate(fields));
  for (R_xlen_t k = 0; TYPEOF(out) == VECSXP && k < Rf_xlength(out); k++) {
    SEXP x = VECTOR_ELT(out, k);
    if (TYPEOF(x) != REALSXP || !ALTREP(x)) continue;
    const R_xlen_t n = Rf_xlength(x);
    SEXP plain = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(out, k, plain);
    if (n > 0) memcpy(REAL(plain), REAL_RO(x), (size_t)n * sizeof(double));
  }
  UNPROTECT(1);
  return out;
}

/* fields: list of double vectors or NULL, by the names of fields. */
static row_fields read_fields(SEXP fields) {
  SEXP names = Rf_getAttrib(fields, R_NamesSymbol);
  if (TYPEOF(fields) != VECSXP || TYPEOF(names) != STRSXP) r_stop("`fields` must be a named list");
  const size_t n = (size_t)Rf_xlength(fields);
  row_fields out = {.n = (int)n,
                    .field = (gbt_field *)R_alloc(n + 1, sizeof *out.field),
                    .x = (const double **)R_alloc(n + 1, sizeof *out.x),
                    .length = (int64_t *)R_alloc(n + 1, sizeof *out.length)};
  for (int k = 0; k < out.n; k++) {
    const char *name = CHAR(STRING_ELT(names, k));
    out.field[k] = r_arg_field(name);
    out.length[k] = (int64_t)Rf_xlength(VECTOR_ELT(fields, k));
    out.x[k] = r_arg_reals(VECTOR_ELT(fields, k), (R_xlen_t)out.length[k], name);
  }
  return out;
}

static const int *read_mask(SEXP mask, const gbt_dataset *ds) {
  if (mask == R_NilValue) return NULL;
  if (TYPEOF(mask) != LGLSXP || (int64_t)Rf_xlength(mask) != gbt_dataset_about(ds).n_rows)
    r_stop("`mask` must have a logical value for every row");
  return LOGICAL_RO(mask);
}

/* The data set's rows with numbers of their own, which the new handle keeps alive, and so keeps R from changing them.
 * fields: as for read_fields. mask: NULL for all rows, or logical values without NA: the rows where it is `taken`. */
SEXP r_gbt_dataset_view(SEXP dataset, SEXP fields, SEXP mask, SEXP taken) {
  /* 1 */
  const gbt_dataset *ds = r_handle_get(dataset, R_DATASET);
  SEXP lent = PROTECT(fields_in_place(fields));
  const row_fields given = read_fields(lent);
  const int *rows = read_mask(mask, ds), which = Rf_asLogical(taken) == TRUE;
  SEXP out = PROTECT(r_handle_new(R_DATASET, lent));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_dataset *view = NULL;
  gbt_status status = r_ctx_open(&ctx, (r_threads){1, GBT_SIMD_AUTO}, &err);
  if (status == GBT_OK) {
    status = rows == NULL ? gbt_dataset_view(ds, &view, &err) : gbt_dataset_mask(&ctx, ds, rows, which, &view, &err);
    for (int k = 0; k < given.n && status == GBT_OK; k++)
      if (given.x[k] != NULL) status = gbt_dataset_lend(&ctx, view, given.field[k], given.x[k], given.length[k], &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  R_SetExternalPtrAddr(out, view);
  r_check(status, &err);
  UNPROTECT(2);
  return out;
}

/* The rows of a data set or, with a mask (logical values without NA), those where it is TRUE, copied to memory: a data
 * set of their own. */
SEXP r_gbt_dataset_gather(SEXP dataset, SEXP mask, SEXP threads) {
  /* 1 */
  const gbt_dataset *ds = r_handle_get(dataset, R_DATASET);
  const int *rows = read_mask(mask, ds);
  const r_threads t = r_arg_threads(threads);
  SEXP out = PROTECT(r_handle_new(R_DATASET, R_NilValue));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_dataset *part = NULL, *copy = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    if (rows != NULL) status = gbt_dataset_mask(&ctx, ds, rows, 1, &part, &err);
    if (status == GBT_OK) status = gbt_dataset_gather(&ctx, part != NULL ? part : ds, &copy, &err);
    gbt_dataset_unref(part);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  R_SetExternalPtrAddr(out, copy);
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* The fingerprint of a view's rows and fields as a text of 16 digits; NULL: not known. classes: texts of what the
 * labels number. */
SEXP r_gbt_dataset_fingerprint(SEXP dataset, SEXP classes) {
  /* 1 */
  const gbt_dataset *ds = r_handle_get(dataset, R_DATASET);
  const int32_t n = (int32_t)Rf_length(classes);
  const char **text = (const char **)R_alloc((size_t)n + 1, sizeof *text);
  for (int32_t i = 0; i < n; i++) text[i] = r_utf8(STRING_ELT(classes, i));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  uint64_t out = 0;
  gbt_status status = r_ctx_open(&ctx, (r_threads){1, GBT_SIMD_AUTO}, &err);
  if (status == GBT_OK) {
    status = gbt_dataset_fingerprint(&ctx, ds, text, n, &out, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  char digits[17];
  r_check(status, &err);
  snprintf(digits, sizeof digits, "%016llx", (unsigned long long)out);
  return out == 0 ? R_NilValue : Rf_mkString(digits);
}

void r_put_schema(SEXP list, int at, const gbt_schema *schema) {
  int32_t n = schema->n_columns;
  SEXP names = Rf_allocVector(STRSXP, n);
  SET_VECTOR_ELT(list, at, names);
  SEXP type = Rf_allocVector(STRSXP, n);
  SET_VECTOR_ELT(list, at + 1, type);
  SEXP tag = Rf_allocVector(STRSXP, n);
  SET_VECTOR_ELT(list, at + 2, tag);
  for (int32_t f = 0; f < n; f++) {
    const gbt_schema_column *feat = &schema->col[f];
    SET_STRING_ELT(names, f, r_text(feat->name));
    SET_STRING_ELT(type, f, Rf_mkChar(gbt_feature_type_name((int)feat->type)));
    SET_STRING_ELT(tag, f, r_text(feat->tag));
  }
}

SEXP r_feature_labels(const gbt_schema *schema) {
  SEXP out = PROTECT(Rf_allocVector(STRSXP, schema->n_features));
  for (int32_t f = 0; f < schema->n_features; f++) {
    size_t n = gbt_feature_label(schema, f, NULL, 0);
    const void *top = vmaxget();
    char *text = R_alloc(n + 1, 1);
    gbt_feature_label(schema, f, text, n + 1);
    SET_STRING_ELT(out, f, r_text(text));
    vmaxset(top);
  }
  UNPROTECT(1);
  return out;
}

/* Names of the columns that have a feature of this kind. */
static SEXP columns_with(const gbt_schema *schema, gbt_feature_kind kind) {
  R_xlen_t n = 0;
  for (int32_t f = 0; f < schema->n_features; f++) n += schema->feat[f].kind == kind;
  SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
  n = 0;
  for (int32_t f = 0; f < schema->n_features; f++)
    if (schema->feat[f].kind == kind) SET_STRING_ELT(out, n++, r_text(schema->col[schema->feat[f].col].name));
  UNPROTECT(1);
  return out;
}

SEXP r_gbt_dataset_info(SEXP dataset) {
  const gbt_dataset *ds = r_handle_get(dataset, R_DATASET);
  const gbt_dataset_info about = gbt_dataset_about(ds);
  static const char *parts[] = {"n_rows", "n_features",  "names",        "type",    "tag",
                                "n_bins", "has_missing", "bytes",        "n_pages", "page_rows",
                                "sparse", "features",    "level_counts", "unseen",  ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  int32_t n = about.n_features;
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal((double)about.n_rows));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(n));
  r_put_schema(out, 2, gbt_dataset_schema(ds));
  SEXP bins = Rf_allocVector(INTSXP, n);
  SET_VECTOR_ELT(out, 5, bins);
  SEXP missing = Rf_allocVector(LGLSXP, n);
  SET_VECTOR_ELT(out, 6, missing);
  SET_VECTOR_ELT(out, 7, Rf_ScalarReal((double)about.bytes));
  SET_VECTOR_ELT(out, 8, Rf_ScalarInteger(about.n_pages));
  SET_VECTOR_ELT(out, 9, Rf_ScalarInteger(about.page_rows));
  SEXP sparse = Rf_allocVector(LGLSXP, n);
  SET_VECTOR_ELT(out, 10, sparse);
  for (int32_t f = 0; f < n; f++) {
    const gbt_binned_info feature = gbt_dataset_feature(ds, f);
    INTEGER(bins)[f] = feature.n_bins;
    LOGICAL(missing)[f] = feature.has_missing;
    LOGICAL(sparse)[f] = feature.sparse;
  }
  SET_VECTOR_ELT(out, 11, r_feature_labels(gbt_dataset_schema(ds)));
  SET_VECTOR_ELT(out, 12, columns_with(gbt_dataset_schema(ds), GBT_FEATURE_LEVEL_COUNT));
  SEXP unseen = Rf_allocVector(REALSXP, gbt_dataset_schema(ds)->n_columns);
  SET_VECTOR_ELT(out, 13, unseen);
  for (int32_t c = 0; c < gbt_dataset_schema(ds)->n_columns; c++) REAL(unseen)[c] = (double)gbt_dataset_unseen(ds, c);
  UNPROTECT(1);
  return out;
}
