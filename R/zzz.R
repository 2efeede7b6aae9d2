# Results (cross-validations, contributions, ...) are lists and data frames, and users may change their fields. Each of
# their methods is wrapped here, in one place, so that R's own error about a field that it cannot use becomes an error
# of gbt that names the object. Functions that take results check what they read of them. R reads this file last.

# The classes of results. Models, gbt_data objects and sources of rows check their fields themselves.
result_classes <- c("gbt_calibrated", "gbt_confusion", "gbt_conformal", "gbt_curve", "gbt_cv", "gbt_defaults",
                    "gbt_dot", "gbt_evaluation", "gbt_fan", "gbt_importance", "gbt_importance_permutation",
                    "gbt_importance_shap", "gbt_info", "gbt_interactions", "gbt_job", "gbt_job_status",
                    "gbt_leaf_slopes", "gbt_level_sets", "gbt_metric", "gbt_monitor", "gbt_objectives",
                    "gbt_parameters", "gbt_partial", "gbt_shap", "gbt_tree", "gbt_tune", "summary.gbt",
                    "summary.gbt_shap")

# `code`, the body of a method for x. R's own errors become errors of gbt. Warnings stay what they are: drawing warns
# about fonts and sizes, and functions of the user about anything.
using_result <- function(x, code) {
  try_else(code, function(e) {
    if (inherits(e, c("gbt_error", "gbt_interrupt"))) stop(e)
    shown <- intersect(try_else(class(x), function(e) NULL), result_classes)[1L]
    if (is.na(shown)) stop(e)
    refused <- gbt_error("result", sprintf(
      "this object of class \"%s\" cannot be used: %s; if a field of it was changed, make the object again", shown,
      paste(printable(conditionMessage(e)), collapse = "\n")))
    refused$error <- e
    stop(refused)
  })
}

# The function f with its body inside using_result().
with_result_checked <- function(f) {
  first <- as.name(names(formals(f))[1L])
  body(f) <- bquote(using_result(.(first), .(body(f))))
  f
}

for (name in ls()) {
  is_method <- any(endsWith(name, paste0(".", result_classes)))
  if (is_method && is.function(get(name))) assign(name, with_result_checked(get(name)))
}
rm(name, is_method)
