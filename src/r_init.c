/* Loading. What R may call is listed in r_entries.h; NAMESPACE puts C_ before each name: .Call(C_gbt_predict, ...). */
#include "r_gbt.h"

#include <R_ext/Visibility.h>

#define ENTRY(name, n_args) {"gbt_" #name, (DL_FUNC)(void (*)(void)) & r_gbt_##name, n_args},

static const R_CallMethodDef entries[] = {R_ENTRIES(ENTRY){NULL, NULL, 0}};

attribute_visible void R_init_gbt(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  r_cache_start(dll);
  r_remember_process();
  r_mem_start();
}
