/* The table of what R may call. NAMESPACE puts C_ before each name: .Call(C_gbt_predict, ...). */
#include "r_gbt.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, n_args) \
  { "gbt_" #name, (DL_FUNC)(void (*)(void)) & r_gbt_##name, n_args }

static const R_CallMethodDef entries[] = {
    ENTRY(dataset_new, 8),    ENTRY(dataset_view, 4),
    ENTRY(dataset_info, 1),   ENTRY(trainer_new, 2),
    ENTRY(trainer_run, 3),    ENTRY(trainer_set_gradients, 4),
    ENTRY(trainer_scores, 2), ENTRY(trainer_watch, 2),
    ENTRY(trainer_see, 2),    ENTRY(trainer_model, 3),
    ENTRY(trainer_info, 1),   ENTRY(trainer_free, 1),
    ENTRY(model_info, 1),     ENTRY(model_slice, 3),
    ENTRY(model_nodes, 1),    ENTRY(model_importance, 3),
    ENTRY(model_cache, 1),    ENTRY(model_shape, 4),
    ENTRY(model_known, 1),    ENTRY(model_remember, 1),
    ENTRY(predict, 11),       ENTRY(params_table, 0),
    ENTRY(metric_names, 0),   ENTRY(metric_info, 2),
    ENTRY(default_metric, 1), ENTRY(system, 1),
    ENTRY(cuda_info, 2),      ENTRY(write_file, 2),
    ENTRY(read_file, 1),      ENTRY(text_codes, 1),
    ENTRY(text_twin, 1),      ENTRY(hold_out, 4),
    ENTRY(take, 2),           ENTRY(take_sparse, 4),
    ENTRY(best_class, 1),     ENTRY(check_interrupt, 0),
    {NULL, NULL, 0},
};

attribute_visible void R_init_gbt(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  r_remember_process();
  r_mem_start();
}
