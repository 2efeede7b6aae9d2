/* External pointers. A handle is made empty, with its finalizer, before the engine makes the object that it owns, so
 * that no jump can lose one. The tag is a symbol per kind and is checked on every use.
 *
 * A model's handle ("cache") looks into the bytes of `state`. It must keep them alive, but not by its prot field: that
 * would be written out again with every saveRDS(). So the bytes are in a list, the value of a weak reference whose
 * key is the handle: alive as long as the handle is, and never written. */
#include "r_gbt.h"

#include <string.h>

static const char *const tags[R_N_KINDS] = {"gbt_dataset", "gbt_trainer", "gbt_model", "gbt_blob"};
static const char *const nouns[R_N_KINDS] = {"gbt_data object", "trainer", "model", "block of bytes"};

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
  default:
    break;
  }
}

static void release_dataset(SEXP x) { release(x, R_DATASET); }
static void release_trainer(SEXP x) { release(x, R_TRAINER); }
static void release_model(SEXP x) { release(x, R_MODEL); }
static void release_blob(SEXP x) { release(x, R_BLOB); }

static R_CFinalizer_t finalizer_of(r_kind kind) {
  switch (kind) {
  case R_DATASET:
    return release_dataset;
  case R_TRAINER:
    return release_trainer;
  case R_MODEL:
    return release_model;
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
      r_check(gbt_fail(&err, GBT_E_ARG,
                       "this %s is at work and cannot be asked for anything now, by a finalizer or an event handler; "
                       "callbacks are called between rounds",
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
                     "this %s is gone: it was saved and read again, or came from another process, which it cannot "
                     "survive; recreate it",
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

static int holds(SEXP handle, SEXP state) {
  const r_model *m = R_ExternalPtrAddr(handle);
  return m != NULL && m->bytes == RAW_RO(state);
}

SEXP r_model_handle(SEXP state, SEXP cache) {
  if (TYPEOF(state) != RAWSXP) r_stop("a model's state must be a raw vector");
  SEXP x = R_NilValue;
  if (is_handle(cache, R_MODEL)) {
    if (holds(cache, state)) return cache;
    if (R_ExternalPtrAddr(cache) == NULL) x = cache; /* came back from a file or another process */
  }
  r_mem_settle();
  if (x == R_NilValue) x = R_MakeExternalPtr(NULL, Rf_install(tags[R_MODEL]), R_NilValue);
  PROTECT(x);
  MARK_NOT_MUTABLE(state);
  /* A value that somebody else holds would be copied by R, and the copy be kept alive instead: hence the list. Its
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

/* The opened model of a handle, or NULL. */
static const r_model *model_of(SEXP x) { return is_handle(x, R_MODEL) ? R_ExternalPtrAddr(x) : NULL; }

void r_model_remember(SEXP cache, SEXP fields) {
  const r_model *m = model_of(cache);
  if (m != NULL) SET_VECTOR_ELT(m->box, 1, fields);
}

int r_model_knows(SEXP cache, SEXP fields) {
  const r_model *m = model_of(cache);
  if (m == NULL || VECTOR_ELT(m->box, 1) == R_NilValue) return 0;
  SEXP known = VECTOR_ELT(m->box, 1);
  R_xlen_t n = Rf_xlength(known);
  if (Rf_xlength(fields) != n || Rf_getAttrib(fields, R_NamesSymbol) != Rf_getAttrib(known, R_NamesSymbol)) return 0;
  for (R_xlen_t i = 0; i < n; i++)
    if (VECTOR_ELT(fields, i) != VECTOR_ELT(known, i)) return 0;
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
