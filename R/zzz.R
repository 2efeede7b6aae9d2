# Results (cross-validations, contributions, ...) are lists and data frames, whose fields anybody may change. Each of
# their methods, and each function that takes them, is changed here, in one place, so that what R itself says about a
# field that it cannot use becomes an error of gbt that names the object. This file is the last one that R reads.

# The classes of results. Models, gbt_data objects and sources of rows check their fields themselves.
result_classes <- c("gbt_calibrated", "gbt_conformal", "gbt_curve", "gbt_cv", "gbt_defaults", "gbt_dot",
                    "gbt_evaluation", "gbt_importance", "gbt_importance_permutation", "gbt_importance_shap", "gbt_info",
                    "gbt_interactions", "gbt_job", "gbt_job_status", "gbt_level_sets", "gbt_metric", "gbt_monitor",
                    "gbt_objectives", "gbt_params", "gbt_partial", "gbt_shap", "gbt_tree", "gbt_tune", "summary.gbt",
                    "summary.gbt_shap")

# Functions whose first argument may be a result.
result_takers <- c("gbt_refit", "gbt_conformal", "gbt_importance", "gbt_job_cancel", "gbt_job_log", "gbt_job_result",
                   "gbt_job_status", "gbt_job_wait")

# `code`, the body of a method for x. R's own errors become errors of gbt, and so do its warnings, but for those of
# drawing, which tell of fonts and sizes of pages.
using_result <- function(x, code) {
  refuse <- function(condition) {
    if (inherits(condition, c("gbt_error", "gbt_warning", "gbt_interrupt"))) return(invisible())
    shown <- intersect(try_else(class(x), function(e) NULL), result_classes)[1L]
    if (is.na(shown)) return(invisible())
    refused <- gbt_error("result", sprintf(
      "this object of class \"%s\" cannot be used: %s; if a field of it was changed, make the object again", shown,
      paste(printable(conditionMessage(condition)), collapse = "\n")))
    refused$error <- condition
    stop(refused)
  }
  fail <- function(e) {
    refuse(e)
    stop(e)
  }
  withCallingHandlers(try_else(code, fail), warning = function(w) if (!is_of_drawing(w)) refuse(w))
}

is_of_drawing <- function(condition) {
  coercions <- c("NAs introduced by coercion", "NAs introduced by coercion to integer range",
                 "imaginary parts discarded in coercion") # of numbers to be drawn
  if (conditionMessage(condition) %in% c(coercions, gettext(coercions, domain = "R"))) return(FALSE)
  call <- conditionCall(condition)
  name <- if (is.call(call) && is.symbol(call[[1L]])) as.character(call[[1L]]) else ""
  places <- intersect(c("graphics", "grDevices", "grid", "ggplot2"), loadedNamespaces())
  nzchar(name) && any(vapply(places, function(place) exists(name, asNamespace(place), inherits = FALSE), NA))
}

# The function f with its body inside using_result().
guarded <- function(f) {
  first <- as.name(names(formals(f))[1L])
  body(f) <- bquote(using_result(.(first), .(body(f))))
  f
}

for (name in ls()) {
  is_method <- any(endsWith(name, paste0(".", result_classes)))
  if (is.function(get(name)) && (is_method || name %in% result_takers)) assign(name, guarded(get(name)))
}
rm(name, is_method)
