#' gbt: exact gradient boosted trees for data frames
#'
#' Start with [gbt_train()]: it takes a data frame, a matrix, a sparse matrix or a formula and returns a model.
#' `vignette("gbt")` goes through the first steps.
#'
#' @section What to use for what:
#' * Predict: [predict()][predict.gbt]; with intervals [gbt_conformal()] and [gbt_fan()], with calibrated probabilities
#'   [gbt_calibrate()].
#' * Cross-validate and tune: [gbt_cv()], [gbt_tune()], then [gbt_refit()].
#' * Judge a model: [gbt_evaluate()], [gbt_confusion()], [gbt_curve()], [gbt_report()].
#' * Explain it: [gbt_importance()], [gbt_shap()], [gbt_partial()], [gbt_interactions()], [gbt_tree()].
#' * Keep it and watch it: [gbt_save()] and [gbt_load()], [gbt_import()], [gbt_monitor()], [gbt_refresh_server()].
#' * Read files, databases and data larger than memory: [gbt_sources], [gbt_data()].
#' * Use GPUs, threads and several processes: [gbt_devices], [gbt_threads()], [gbt_ranks()]; train in the background:
#'   [gbt_job()]. [gbt_info()] describes the machine.
#' * Look up: [gbt_parameters()], [gbt_objectives()], [gbt_metrics], [gbt_defaults()].
#'
#' @section One model everywhere:
#' For given data, parameters and seed a model is the same to the last bit, whatever the number of threads or processes,
#' the processor's instructions, the way the data came (data frame, matrix or sparse matrix), or the device (CPU, or a
#' GPU with CUDA: tested on an H100 and by emulation on the CPU, see [gbt_devices]).
#'
#' @section Errors and warnings: Every error has the class `gbt_error` and a class for its kind: `gbt_error_argument`,
#'   `gbt_error_data`, `gbt_error_memory`, `gbt_error_device`, `gbt_error_format`, `gbt_error_io`,
#'   `gbt_error_unsupported` or `gbt_error_internal` (a fault of the package: please report it). Errors in your own
#'   functions during training have the class `gbt_error_callback`, see [gbt_last_interrupted()]. If the fields of a
#'   result (`gbt_cv`, `gbt_shap`, ...) were changed so that a method cannot use it, the error has the class
#'   `gbt_error_result`, and its field `error` is R's own error. A cancelled or crashed job has the class
#'   `gbt_error_job`. The field `subject` of the condition is the parameter, column or file that the error is about.
#'   Warnings have the class `gbt_warning` and one such as `gbt_warning_offset`, `gbt_warning_weights` or
#'   `gbt_warning_device`. Ctrl-C raises a condition of the classes `gbt_interrupt` and `interrupt`.
#'
#' @section Trainings that learn nothing: If a training learns nothing, or ends for an unexpected reason, a warning says
#'   why. The field `warned` of the model has its text, which `print()` and `summary()` show; files of [gbt_save()] do
#'   not contain it. The classes of the warnings:
#' * `gbt_warning_no_split`: no tree has a split; the text names the parameter that allows none;
#' * `gbt_warning_weights`, `gbt_warning_hessian`: weights or hessians are too small for `min_child_weight`;
#' * `gbt_warning_flat`: predictions hardly differ, since `eta` is too small or the response is on another scale than
#'   the loss;
#' * `gbt_warning_diverged`: the training loss became much larger;
#' * `gbt_warning_metric`: the metric of early stopping has no value;
#' * `gbt_warning_rounds`: without `nrounds`, the metric was still improving at the limit of rounds.
#'
#' [gbt_cv()] and [gbt_tune()] warn once for all folds and configurations. [predict()][predict.gbt] warns with the class
#' `gbt_warning_unseen` if all values of a column are new levels.
#'
#' @section Options:
#' `gbt.threads` (or the environment variable `GBT_NUM_THREADS`) and `gbt.oversubscribe`: see [gbt_threads()].
#' `gbt.device` (or `GBT_DEVICE`) and `gbt.device_costs`: where to train and to predict, see [gbt_devices].
#' `gbt.simd` (or `GBT_SIMD`): the instructions to use, `"auto"`, `"scalar"` (plain C) or, where the processor has
#' them, `"avx2"`, `"avx512"` and `"avx512vbmi"`, or `"neon"`.
#' `gbt.progress_after`: the seconds after which a line shows progress, see `progress` in [gbt_parameters()]. None of
#' them affects a result.
#'
#' @useDynLib gbt, .registration = TRUE, .fixes = "C_"
#' @importFrom stats predict
#' @keywords internal
"_PACKAGE"

.onLoad <- function(libname, pkgname) {
  enums <<- .Call(C_gbt_enums)
  watch_packages()
  if (interactive()) offer_names()
}

# Names of parameters that come through `...`, for completion in a terminal: ?rc.options describes this function of
# utils, which exports none for it. RStudio offers only the arguments in the signatures.
offer_names <- function() {
  takers <- list(gbt_train = function(x, y, data, subset, na.action) NULL, gbt_cv = gbt_cv, gbt_tune = gbt_tune,
                 gbt_refit = gbt_refit, gbt_job = gbt_job)
  by_name <- c(argument_names, unique(objective_params()), "params")
  names <- lapply(takers, function(taker) c(names(formals(taker)), by_name))
  add <- get0(".addFunctionInfo", asNamespace("utils"), mode = "function")
  if (!is.null(add)) do.call(add, lapply(names, setdiff, c("...", "class_shares")))
}
