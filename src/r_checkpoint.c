/* Checkpoints of trainings: see gbt/boost/trainer.h. */
#include "r_gbt.h"

static const char *path_of(SEXP path) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    r_stop("`path` must be one text");
  return Rf_translateChar(STRING_ELT(path, 0));
}

/* note: raw bytes. */
SEXP r_gbt_trainer_save(SEXP trainer_xptr, SEXP path, SEXP note, SEXP threads) {
  /* 1 */
  const gbt_trainer *trainer = r_handle_get(trainer_xptr, R_TRAINER);
  const char *file = path_of(path);
  if (TYPEOF(note) != RAWSXP) r_stop("`note` must be raw bytes");
  const uint8_t *bytes = RAW_RO(note);
  const size_t n = (size_t)Rf_xlength(note);
  const r_threads t = r_arg_threads(threads);
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_save(&call.ctx, trainer, file, bytes, n, &err);
  r_call_end(&call);

  /* 3 */
  r_check(status, &err);
  return R_NilValue;
}

/* The note. */
SEXP r_gbt_trainer_resume(SEXP trainer_xptr, SEXP path, SEXP threads) {
  /* 1 */
  gbt_trainer *trainer = r_handle_get(trainer_xptr, R_TRAINER);
  const char *file = path_of(path);
  const r_threads t = r_arg_threads(threads);
  r_blob *note;
  PROTECT(r_blob_new(&note));
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_resume(&call.ctx, trainer, file, &note->bytes, &note->n_bytes, &err);
  r_call_end(&call);

  /* 3 */
  r_check(status, &err);
  SEXP out = r_blob_take(note);
  UNPROTECT(1);
  return out;
}
