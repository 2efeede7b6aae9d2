/* Shared by the glue files. Only r_*.c include R's headers.
 *
 * Every entry point has three zones, in this order:
 *   1  R       read arguments, allocate results and the owning handle. May jump: nothing native is held, but by handles
 *   2  engine  engine calls only; a gbt_ctx is opened and closed here
 *   3  R       r_check() raises, or the result is returned
 * Arguments are never written to. Sizes are R_xlen_t or int64_t. */
#ifndef R_GBT_H
#define R_GBT_H

#include <R_ext/Rdynload.h>
#include <Rinternals.h>

#include "gbt/gbt.h"

/* ---- r_error.c: the one place that raises ---- */

/* Returns on GBT_OK. GBT_CANCELLED raises R's interrupt, anything else a gbt_error_<kind>. */
void r_check(gbt_status status, const gbt_error *err);

/* A fault in how R called the glue. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void r_stop(const char *fmt, ...) GBT_PRINTF(1, 2);

/* ---- r_mem.c: the engine's memory ---- */

/* The allocator for every call of the engine: malloc, counted. When it fails R collects garbage, and it is tried once
 * more. */
gbt_mem r_mem(void);

/* Once, when the package is loaded, on R's thread. */
void r_mem_start(void);

/* Zone 1: lets R collect garbage when the engine's memory has grown much since it last did. May jump. */
void r_mem_settle(void);

/* From r_poll: collects when a helper thread waits for that. 1 when the user asked to stop meanwhile. */
int r_mem_poll(void);

/* Whether the user asked to stop while R collected; returned once. Zone 3 has to ask: r_check() does. */
int r_mem_interrupted(void);

/* Bytes that the engine holds. */
double r_mem_live(void);

/* ---- r_handle.c: external pointers that own engine objects ---- */

typedef enum r_kind { R_DATASET = 0, R_TRAINER, R_MODEL, R_BLOB, R_DRAFT, R_N_KINDS } r_kind;

/* A block from gbt_model_write or gbt_disk_open, until it is copied. */
typedef struct r_blob {
  uint8_t *bytes;
  size_t n_bytes;
} r_blob;

/* A blob's handle is made first, filled in zone 2, copied to R and emptied in zone 3. */
SEXP r_blob_new(r_blob **out);
SEXP r_blob_take(r_blob *blob);

/* A file that is being written (r_file_write.c). Free: what has no final name is removed. NULL allowed. */
typedef struct r_draft r_draft;
void r_draft_free(r_draft *draft);

/* An opened model and the bytes that it looks into. */
typedef struct r_model {
  gbt_model *model;
  gbt_predictor *predictor;
  const void *bytes;
  SEXP box; /* alive as long as the handle is: the bytes, and fields that were found right */
} r_model;

/* An empty handle with its finalizer; prot is kept alive with it. Filled by R_SetExternalPtrAddr. R may collect garbage
 * here, and so run code of the user's: objects that are not kept alive by a protected value are gone afterwards. */
SEXP r_handle_new(r_kind kind, SEXP prot);

/* The address. Raises when x is no such handle, when it lost its object by being saved and read again, or when the
 * object is in use. */
void *r_handle_get(SEXP x, r_kind kind);

/* An object that a call of the engine is changing. Polls and collections let code of the user's run in the middle of
 * the call (event handlers, finalizers), which must not find the object half changed. Around zone 2:
 *
 *   r_use use;
 *   r_use_begin(&use, handle);
 *   ... zone 2, where nothing jumps ...
 *   r_use_end(&use); */
typedef struct r_use {
  SEXP handle;
  struct r_use *outer; /* calls nest, and end in the order of a stack */
} r_use;
void r_use_begin(r_use *use, SEXP handle);
void r_use_end(const r_use *use);

/* Frees what the handle owns now; an empty one is left as it is. */
void r_handle_free(SEXP x, r_kind kind);

/* The field `cache` of a model: a raw vector of length 0 that keeps this handle out of the sight of R code. */
SEXP r_cache_new(SEXP handle);

/* Gives the list of a model an empty handle where `cache` is raw(0) as it was read from a file or another process. */
void r_cache_adopt(SEXP fields);

/* Once, when the package is loaded. */
void r_cache_start(DllInfo *dll);

/* A handle of an r_model for `state`: that in `cache` when it belongs to these bytes (filled if it is empty), else a
 * new one. cache: of any type. Raises gbt_error_format. Protect it as long as the model is used. */
SEXP r_model_handle(SEXP state, SEXP cache);
const gbt_model *r_model_get(SEXP handle);
gbt_predictor *r_model_predictor(SEXP handle);

/* The fields of a model (a list) that were found to go with the bytes that its cache has opened; and whether these are
 * the same objects still, none of them replaced. checked: TRUE for each field that matters; of the others the names are
 * kept alone, so that what they hold (a call with its data) is not kept alive. */
void r_model_remember(SEXP fields, SEXP checked);
int r_model_knows(SEXP fields);

/* ---- r_args.c: reading arguments and making texts ---- */

typedef struct r_threads {
  int n;
  gbt_simd simd;
} r_threads;

r_threads r_arg_threads(SEXP x);         /* integer, with attribute "simd" or without */
int r_arg_int(SEXP x, const char *what); /* one integer or whole double, not NA */
int64_t r_arg_int64(SEXP x, const char *what);
gbt_objective_kind r_arg_objective_kind(SEXP x);              /* the number of an objective */
gbt_objective r_arg_objective(SEXP x, int32_t n_outputs);     /* list(number, parameters); checked */
double r_arg_real(SEXP x, const char *what);                     /* one double or integer; NaN allowed */
const double *r_arg_reals(SEXP x, R_xlen_t n, const char *what); /* double vector of length n; NULL for NULL */
gbt_field r_arg_field(const char *name);                         /* by its name: r_data.c */
const char *r_arg_path(SEXP x, const char *what);                /* one text, as files are named */
SEXP r_item(SEXP list, const char *name);                        /* R_NilValue when there is none */
SEXP r_need(SEXP list, const char *name, SEXPTYPE type);         /* raises when it is not there or of another type */

const char *r_utf8(SEXP charsxp); /* NULL for NA */
SEXP r_text(const char *utf8);    /* CHARSXP; NA for NULL */
SEXP r_texts(const char *const *utf8, R_xlen_t n);

/* ---- r_device.c ---- */

/* Opens a context that stops on Ctrl-C and works with the ranks that R has chosen. */
gbt_status r_ctx_open(gbt_ctx *ctx, r_threads threads, gbt_error *err);

/* Zone 2 with a handle that it changes: the handle is in use (r_use), and ctx is open where beginning succeeded. To be
 * ended in any case. */
typedef struct r_call {
  r_use use;
  gbt_ctx ctx;
  int open;
} r_call;
gbt_status r_call_begin(r_call *call, SEXP handle, r_threads threads, gbt_error *err);
void r_call_end(r_call *call);

/* poll of a gbt_ctx: 1 when the user asked to stop. */
int r_poll(void *user);

/* Remembers the process, so that forked children can be recognised. */
void r_remember_process(void);

/* The number of this process. */
long r_process(void);

/* ---- r_ranks.c ---- */

/* The ranks that R has chosen; NULL for none. */
const gbt_comm *r_ranks(void);

/* Remembers whether all ranks have met this failure. */
void r_ranks_note(const gbt_error *err);

/* ---- r_cuda.c ---- */

/* The functions of a device that can be used now: list(library = path, number = ). Raises gbt_error_device when there
 * is none. Valid for the session. */
const gbt_device_api *r_cuda_api(SEXP device, int32_t *number);

/* Is this a process forked from one that has started CUDA? */
int r_cuda_forked(void);

/* ---- r_table.c ---- */

/* A frame (R/data_encode.R) as a table. Its arrays last until the .Call returns; `frame` must stay protected. */
void r_table(SEXP frame, gbt_table *out);

/* ---- r_plain.c, r_text.c: rows that need no frame ---- */

/* The table of rows as they are, for a model's columns of these names and tags, if they are plain (see r_plain.c) and
 * at least one. absent_missing: are absent entries of a sparse matrix missing? Returns what to protect as long as the
 * table is used; R_NilValue: they are not plain. */
SEXP r_plain_table(SEXP x, SEXP names, SEXP tags, int absent_missing, gbt_table *out);
int64_t r_plain_rows(SEXP x);      /* of a data frame or a matrix, dense or sparse; 0 for anything else */
int r_plain_has_levels(SEXP tags); /* does a model with columns of these tags have levels? */
int r_is_plain_text(SEXP text);    /* ASCII or marked as UTF-8? */
R_xlen_t r_text_twin(SEXP x);      /* anyDuplicated() of texts in UTF-8: the place of the first twin, or 0 */

/* ---- r_numbers.c ---- */

/* The texts of level numbers (r_gbt_number_codes), in memory of R until the .Call returns. May jump. */
const char *const *r_number_texts(SEXP numbers);

/* ---- r_data.c, r_model.c ---- */

/* names, type, tag of a schema's columns into list elements at, at + 1, at + 2. */
void r_put_schema(SEXP list, int at, const gbt_schema *schema);

/* The label of every feature for users: a column's name, "count(carrier)". */
SEXP r_feature_labels(const gbt_schema *schema);

/* meta: named list of character, double and integer vectors. The array lasts until the .Call returns. */
const gbt_meta *r_meta(SEXP meta, int32_t *n);

/* The bytes of a model of these parts and of meta, which the parts lack yet, as a raw vector. All three zones. */
SEXP r_write_model(gbt_model_spec spec, SEXP meta);

/* Rounds [beg, end) as trees; raises when the model has not so many. */
gbt_tree_range r_tree_range(const gbt_forest_view *view, SEXP beg, SEXP end);

/* ---- entry points: what R calls ---- */

#include "r_entries.h"

/* ---- r_data.c: where the bins of a data set go ---- */

/* Nothing for memory, or folders. Borrows from R's values, and R_alloc's. */
typedef struct r_disk {
  gbt_folders folders; /* n == 0: memory */
  gbt_codec codec;
  uint64_t memory;
  const void *note;
  size_t n_note;
} r_disk;

/* disk: NULL, or list(path =, memory =, note =, codec =): texts, bytes, raw bytes and a number of enums$codec. */
r_disk r_disk_arg(SEXP disk);

/* Zone 2: gbt_dataset_make, to memory or to the folders. Changes spec->sink. */
gbt_status r_make_dataset(gbt_ctx *ctx, gbt_dataset_spec *spec, const r_disk *disk, gbt_dataset **out, gbt_error *err);

/* The model to go on from whose level counts a frame's columns take, R_NilValue where it names none, and its schema or
 * NULL. The caller keeps the handle as long as the schema is used. */
SEXP r_statistics_handle(SEXP frame);
const gbt_schema *r_statistics(SEXP handle);

#endif
