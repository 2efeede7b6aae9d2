/* Failures become R conditions here and nowhere else. */
#include "r_gbt.h"

#include <stdarg.h>
#include <stdio.h>

static SEXP raise_engine_call(gbt_status status, const gbt_error *err) {
  SEXP kind = PROTECT(Rf_mkString(gbt_status_name((int)status)));
  SEXP text = PROTECT(Rf_ScalarString(Rf_mkCharCE(err->msg, CE_UTF8)));
  SEXP about = PROTECT(Rf_ScalarString(err->subject[0] != '\0' ? Rf_mkCharCE(err->subject, CE_UTF8) : NA_STRING));
  SEXP cpu_can = PROTECT(Rf_ScalarLogical(err->cpu_can));
  SEXP host = PROTECT(Rf_ScalarString(Rf_mkCharCE(err->host, CE_UTF8)));
  SEXP call = Rf_lang6(Rf_install("raise_engine"), kind, text, about, cpu_can, host);
  UNPROTECT(5);
  return call;
}

/* raise_engine() and raise_interrupt() of R/base_conditions.R. Neither returns. */
static void raise(gbt_status status, const gbt_error *err) {
  SEXP package = PROTECT(Rf_mkString("gbt"));
  SEXP home = PROTECT(R_FindNamespace(package));
  SEXP call =
      PROTECT(status == GBT_CANCELLED ? Rf_lang1(Rf_install("raise_interrupt")) : raise_engine_call(status, err));
  Rf_eval(call, home);
  UNPROTECT(3);
  Rf_error("gbt: an error was not raised"); /* cannot happen; keeps the promise not to return */
}

void r_check(gbt_status status, const gbt_error *err) {
  if (status != GBT_OK) r_ranks_note(err);
  if (r_mem_interrupted()) status = GBT_CANCELLED;
  if (status != GBT_OK) raise(status, err);
}

void r_stop(const char *fmt, ...) {
  gbt_error err = {0};
  va_list args;
  va_start(args, fmt);
  vsnprintf(err.msg, sizeof err.msg, fmt, args);
  va_end(args);
  raise(GBT_E_INTERNAL, &err);
  for (;;) Rf_error("gbt: an error was not raised");
}
