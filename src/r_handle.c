/* External pointers. A handle is made empty, with its finalizer, before the engine makes the object that it owns, so
 * that no jump can lose one. The tag is a symbol per kind and is checked on every use.
 *
 * A model's handle looks into the bytes of `state`. It must keep them alive, but not by its prot field: that
 * would be written out again with every saveRDS(). So the bytes are in a list, the value of a weak reference whose
 * key is the handle: alive as long as the handle is, and never written.
 *
 *   model$cache   raw(0), of the ALTREP class "model_cache"  --data1-->  handle  --address-->  r_model
 *
 * A model must be a value to R: two equal ones are identical(), and no external pointer may be found in one. So `cache`
 * is a raw vector of length 0 that keeps the handle where R code does not look. Copies of the model share the handle. A
 * file or a stream contains only raw(0); a model that is read from it gets an empty handle when it is first used. */
#include "r_gbt.h"

#include <R_ext/Altrep.h>

#include <string.h>

static const char *const tags[R_N_KINDS] = {"gbt_dataset", "gbt_trainer", "gbt_model", "gbt_blob", "gbt_draft"};
static const char *const nouns[R_N_KINDS] = {"gbt_data object", "trainer", "model", "block of bytes",
                                        "file that is written"};

static void free_model(r_model *m) {
  gbt_mem mem = r_mem();
  if (m == NULL) return;
  gbt_predictor_free(m->predictor);
  gbt_model_close(m->model);
  gbt_mem_free(&mem, m);
}

static void release(SEXP x, r_kind kind) {
  void *p = R_ExternalPtrAddr(x);
  if (p == NULL) return;
  R_ClearExternalPtr(x);
  switch (kind) {
  case R_DATASET:
    gbt_dataset_unref(p);
    break;
  case R_TRAINER: /* what a parent process has on a device is not for a forked one to touch */
    if (!r_cuda_forked() || strcmp(gbt_trainer_backend(p), "cpu") == 0) gbt_trainer_free(p);
    break;
  case R_MODEL:
    free_model(p);
    break;
  case R_BLOB: {
    r_blob *b = p;
    gbt_mem mem = r_mem();
    gbt_mem_free(&mem, b->bytes);
    gbt_mem_free(&mem, b);
    break;
  }
  case R_DRAFT:
    r_draft_free(p);
    break;
  default:
    break;
  }
}

static void release_dataset(SEXP x) { release(x, R_DATASET); }
static void release_trainer(SEXP x) { release(x, R_TRAINER); }
static void release_model(SEXP x) { release(x, R_MODEL); }
static void release_blob(SEXP x) { release(x, R_BLOB); }
static void release_draft(SEXP x) { release(x, R_DRAFT); }

static R_CFinalizer_t finalizer_of(r_kind kind) {
  switch (kind) {
  case R_DATASET:
    return release_dataset;
  case R_TRAINER:
    return release_trainer;
  case R_MODEL:
    return release_model;
  case R_DRAFT:
    return release_draft;
  default:
    return release_blob;
  }
}

SEXP r_handle_new(r_kind kind, SEXP prot) {
  PROTECT(prot);
  r_mem_settle();
  SEXP x = PROTECT(R_MakeExternalPtr(NULL, Rf_install(tags[kind]), prot));
  R_RegisterCFinalizerEx(x, finalizer_of(kind), TRUE);
  UNPROTECT(2);
  return x;
}

static int is_handle(SEXP x, r_kind kind) {
  return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrTag(x) == Rf_install(tags[kind]);
}

/* ---- objects in use ---- */

static r_use *in_use; /* innermost first */

void r_use_begin(r_use *use, SEXP handle) {
  use->handle = handle;
  use->outer = in_use;
  in_use = use;
}

void r_use_end(const r_use *use) { in_use = use->outer; }

static void check_idle(SEXP x, r_kind kind) {
  for (const r_use *use = in_use; use != NULL; use = use->outer) {
    gbt_error err;
    if (use->handle == x)
      r_check(
          gbt_fail(
              &err, GBT_E_ARG,
              "this %s is in use, so a finalizer or an event handler cannot use it now; use it in a callback, which "
              "runs between rounds",
              nouns[kind]),
          &err);
  }
}

/* ---- looking at handles ---- */

void *r_handle_get(SEXP x, r_kind kind) {
  if (!is_handle(x, kind)) r_stop("a %s is expected", nouns[kind]);
  check_idle(x, kind);
  void *p = R_ExternalPtrAddr(x);
  if (p == NULL) {
    gbt_error err;
    r_check(gbt_fail(&err, GBT_E_DATA,
                     "this %s cannot be used: it was saved and read again, or comes from another process; "
                     "recreate it",
                     nouns[kind]),
            &err);
  }
  return p;
}

void r_handle_free(SEXP x, r_kind kind) {
  if (!is_handle(x, kind)) r_stop("a %s is expected", nouns[kind]);
  check_idle(x, kind);
  release(x, kind);
}

/* Opens the model of these bytes. */
static gbt_status open_model(SEXP state, r_model **out, gbt_error *err) {
  gbt_mem mem = r_mem();
  r_model *m;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&mem, 1, sizeof *m, &m, err));
  m->bytes = RAW_RO(state);
  gbt_status status = gbt_model_open(&mem, m->bytes, (size_t)Rf_xlength(state), &m->model, err);
  if (status == GBT_OK) status = gbt_predictor_new(&mem, gbt_model_forest(m->model), &m->predictor, err);
  if (status == GBT_OK)
    *out = m;
  else
    free_model(m);
  return status;
}

/* ---- the field `cache` of a model ---- */

static R_altrep_class_t cache_class;

static SEXP empty_model_handle(void) { return R_MakeExternalPtr(NULL, Rf_install(tags[R_MODEL]), R_NilValue); }

SEXP r_cache_new(SEXP handle) {
  PROTECT(handle);
  SEXP none = PROTECT(Rf_allocVector(RAWSXP, 0));
  SEXP x = R_new_altrep(cache_class, handle, none);
  UNPROTECT(2);
  return x;
}

/* The handle in a `cache`, or nil. Files of earlier versions have the handle itself there. */
static SEXP handle_of(SEXP cache) {
  SEXP x = R_altrep_inherits(cache, cache_class) ? R_altrep_data1(cache) : cache;
  return is_handle(x, R_MODEL) ? x : R_NilValue;
}

/* The list is changed in place, in front of all who hold it: by a value that is identical to what was there. */
void r_cache_adopt(SEXP fields) {
  SEXP cache = r_item(fields, "cache");
  if (TYPEOF(cache) != RAWSXP || ALTREP(cache) || ALTREP(fields) || Rf_xlength(cache) > 0) return;
  SEXP own = PROTECT(r_cache_new(empty_model_handle()));
  SHALLOW_DUPLICATE_ATTRIB(own, cache);
  for (R_xlen_t i = 0; i < Rf_xlength(fields); i++) {
    if (VECTOR_ELT(fields, i) == cache) SET_VECTOR_ELT(fields, i, own);
  }
  UNPROTECT(1);
}

static R_xlen_t cache_length(SEXP x) {
  (void)x;
  return 0;
}

static void *cache_dataptr(SEXP x, Rboolean writable) {
  (void)writable;
  return RAW(R_altrep_data2(x));
}

/* R copies elements of a list only when it copies `state` as well, whose copy the old handle does not look into. */
static SEXP cache_duplicate(SEXP x, Rboolean deep) {
  (void)x;
  (void)deep;
  return r_cache_new(empty_model_handle());
}

void r_cache_start(DllInfo *dll) {
  cache_class = R_make_altraw_class("model_cache", "gbt", dll);
  R_set_altrep_Length_method(cache_class, cache_length);
  R_set_altvec_Dataptr_method(cache_class, cache_dataptr);
  R_set_altrep_Duplicate_method(cache_class, cache_duplicate);
}

/* ---- models ---- */

static int holds(SEXP handle, SEXP state) {
  const r_model *m = R_ExternalPtrAddr(handle);
  return m != NULL && m->bytes == RAW_RO(state);
}

SEXP r_model_handle(SEXP state, SEXP cache) {
  if (TYPEOF(state) != RAWSXP) r_stop("a model's state must be a raw vector");
  SEXP x = handle_of(cache);
  if (x != R_NilValue) {
    if (holds(x, state)) return x;
    if (R_ExternalPtrAddr(x) != NULL) x = R_NilValue; /* of other bytes; an empty one came from a file or a process */
  }
  r_mem_settle();
  if (x == R_NilValue) x = empty_model_handle();
  PROTECT(x);
  MARK_NOT_MUTABLE(state);
  /* A value with another reference would be copied by R, and the copy be kept alive instead. So there is the list. Its
   * second element is for r_model_remember(). */
  SEXP box = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(box, 0, state);
  R_MakeWeakRefC(x, box, release_model, TRUE);

  r_model *m = NULL;
  gbt_error err = {0};
  gbt_status status = open_model(state, &m, &err);
  if (status == GBT_OK && R_ExternalPtrAddr(x) == NULL) {
    m->box = box;
    R_SetExternalPtrAddr(x, m);
  } else {
    free_model(m); /* filled meanwhile, by code that a collection let run */
  }
  r_check(status, &err);
  if (!holds(x, state)) x = r_model_handle(state, R_NilValue);
  UNPROTECT(2);
  return x;
}

/* The opened model of these fields' cache, or NULL. */
static const r_model *model_of(SEXP fields) {
  SEXP handle = handle_of(r_item(fields, "cache"));
  return handle == R_NilValue ? NULL : R_ExternalPtrAddr(handle);
}

void r_model_remember(SEXP fields, SEXP checked) {
  const r_model *m = model_of(fields);
  SEXP state = r_item(fields, "state");
  const R_xlen_t n = Rf_xlength(fields);
  if (m == NULL || TYPEOF(state) != RAWSXP || m->bytes != RAW_RO(state)) return;
  if (TYPEOF(checked) != LGLSXP || Rf_xlength(checked) != n) r_stop("`checked` must say of each field whether it was");
  SEXP known = PROTECT(Rf_allocVector(VECSXP, n));
  Rf_setAttrib(known, R_NamesSymbol, Rf_getAttrib(fields, R_NamesSymbol));
  for (R_xlen_t i = 0; i < n; i++)
    SET_VECTOR_ELT(known, i, LOGICAL_RO(checked)[i] ? VECTOR_ELT(fields, i) : R_MissingArg); /* any value will do */
  SET_VECTOR_ELT(m->box, 1, known);
  UNPROTECT(1);
}

int r_model_knows(SEXP fields) {
  const r_model *m = model_of(fields);
  if (m == NULL || VECTOR_ELT(m->box, 1) == R_NilValue) return 0;
  SEXP known = VECTOR_ELT(m->box, 1);
  R_xlen_t n = Rf_xlength(known);
  if (Rf_xlength(fields) != n || Rf_getAttrib(fields, R_NamesSymbol) != Rf_getAttrib(known, R_NamesSymbol)) return 0;
  for (R_xlen_t i = 0; i < n; i++)
    if (VECTOR_ELT(known, i) != R_MissingArg && VECTOR_ELT(fields, i) != VECTOR_ELT(known, i)) return 0;
  return 1;
}

const gbt_model *r_model_get(SEXP handle) {
  const r_model *m = r_handle_get(handle, R_MODEL);
  return m->model;
}

gbt_predictor *r_model_predictor(SEXP handle) {
  const r_model *m = r_handle_get(handle, R_MODEL);
  return m->predictor;
}
