/* The CUDA library, which is opened when a device is asked for and never before: no R process that does not use a
 * device ever has code of CUDA in it.
 *
 * Once open it stays open for the session, as trainers hold functions of it. This file, and not the engine, which has
 * no state, keeps the library and the number of the process that started CUDA. A process forked from that one cannot
 * use the device, and must not free its parent's device memory. */
#include "r_gbt.h"

#include <stdio.h>
#include <string.h>
#if !defined(_WIN32) && !defined(GBT_NO_DLOPEN)
#include <dlfcn.h>
#endif

static struct {
  const gbt_device_api *api; /* NULL: not open */
  long process;              /* that has started CUDA; 0: none has */
} cuda;

int r_cuda_forked(void) { return cuda.process != 0 && cuda.process != r_process(); }

#if !defined(_WIN32) && !defined(GBT_NO_DLOPEN)

static gbt_status load(const char *path, const gbt_device_api **out, gbt_error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return gbt_fail_device(err, GBT_E_DEVICE, "the CUDA library of gbt cannot be loaded (%s); install gbt again",
                           dlerror());
  void *symbol = dlsym(library, GBT_DEVICE_SYMBOL);
  if (symbol == NULL) {
    dlclose(library);
    return gbt_fail_device(err, GBT_E_DEVICE, "the file %s is not a CUDA library of gbt; install gbt again", path);
  }
  gbt_device_api_fn get;
  memcpy(&get, &symbol, sizeof get);
  const gbt_device_api *api = get();
  if (!gbt_device_fits(api)) {
    dlclose(library);
    return gbt_fail_device(err, GBT_E_DEVICE,
                           "the CUDA library of gbt (%s) comes from another build than the package; install gbt again",
                           path);
  }
  *out = api;
  return GBT_OK;
}

#else

static gbt_status load(const char *path, const gbt_device_api **out, gbt_error *err) {
  (void)path;
  (void)out;
  return gbt_fail_device(err, GBT_E_DEVICE,
                         "libraries cannot be opened at run time on this system, so there is no CUDA engine");
}

#endif

/* Opens the library and looks at a device. `about` is filled as far as the look came. */
static gbt_status look(const char *path, int32_t number, gbt_device_info *about, gbt_error *err) {
  memset(about, 0, sizeof *about);
  if (r_cuda_forked())
    return gbt_fail_device(
        err, GBT_E_DEVICE,
        "this process was forked from one that had started CUDA, and cannot use it: start workers as new "
        "processes (parallel::makePSOCKcluster())");
  if (cuda.api == NULL) GBT_TRY(load(path, &cuda.api, err));
  gbt_status status = gbt_device_about(cuda.api, number, about, err);
  if (about->n_devices > 0) cuda.process = r_process();
  return status;
}

const gbt_device_api *r_cuda_api(SEXP device, int32_t *number) {
  gbt_error err = {0};
  gbt_device_info about;
  *number = r_arg_int(r_item(device, "number"), "number");
  r_check(look(r_arg_path(r_item(device, "library"), "library"), *number, &about, &err), &err);
  return cuda.api;
}

/* By kind of work: does the library take it over? */
static SEXP offered(void) {
  int n = 0;
  while (gbt_device_work_name(n) != NULL) n++;
  SEXP out = PROTECT(Rf_allocVector(LGLSXP, n));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  Rf_setAttrib(out, R_NamesSymbol, names);
  for (int k = 0; k < n; k++) {
    LOGICAL(out)[k] = cuda.api != NULL && gbt_device_offers(cuda.api, (gbt_device_work)k);
    SET_STRING_ELT(names, k, Rf_mkChar(gbt_device_work_name(k)));
  }
  UNPROTECT(2);
  return out;
}

SEXP r_gbt_cuda_info(SEXP library, SEXP number) {
  static const char *parts[] = {"ok",         "problem",  "cpu_can",     "name",       "n_devices",
                                "capability", "n_units",  "total_bytes", "free_bytes", "driver",
                                "runtime",    "emulated", "forked",      "offers",     ""};
  gbt_error err = {0};
  gbt_device_info about;
  gbt_status status = look(r_arg_path(library, "library"), r_arg_int(number, "number"), &about, &err);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  char capability[32];
  snprintf(capability, sizeof capability, "%d.%d", (int)about.major, (int)about.minor);
  SET_VECTOR_ELT(out, 0, Rf_ScalarLogical(status == GBT_OK));
  SET_VECTOR_ELT(out, 1, Rf_ScalarString(status == GBT_OK ? NA_STRING : r_text(err.msg)));
  SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(err.cpu_can));
  SET_VECTOR_ELT(out, 3, Rf_ScalarString(r_text(about.name)));
  SET_VECTOR_ELT(out, 4, Rf_ScalarInteger(about.n_devices));
  SET_VECTOR_ELT(out, 5, Rf_mkString(capability));
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger(about.n_units));
  SET_VECTOR_ELT(out, 7, Rf_ScalarReal((double)about.total_bytes));
  SET_VECTOR_ELT(out, 8, Rf_ScalarReal((double)about.free_bytes));
  SET_VECTOR_ELT(out, 9, Rf_ScalarInteger(about.driver));
  SET_VECTOR_ELT(out, 10, Rf_ScalarInteger(about.runtime));
  SET_VECTOR_ELT(out, 11, Rf_ScalarLogical(about.emulated != 0));
  SET_VECTOR_ELT(out, 12, Rf_ScalarLogical(r_cuda_forked()));
  SET_VECTOR_ELT(out, 13, offered());
  UNPROTECT(1);
  return out;
}

/* The version of NCCL, or why there is none, as list(ok, text). */
SEXP r_gbt_cuda_nccl(SEXP library) {
  static const char *parts[] = {"ok", "text", ""};
  gbt_error err = {0};
  gbt_device_info about;
  char text[512] = "";
  r_check(look(r_arg_path(library, "library"), 0, &about, &err), &err);
  const int ok = gbt_device_nccl(cuda.api, text, sizeof text);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_ScalarLogical(ok));
  SET_VECTOR_ELT(out, 1, Rf_ScalarString(r_text(text)));
  UNPROTECT(1);
  return out;
}
