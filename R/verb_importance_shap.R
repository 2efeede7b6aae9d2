# Importance by contributions: gbt_importance(type = "shap").

# Arguments after `data`.
shap_arguments <- c("background", "rows", "offset", "unseen", "threads", "exposure")

shap_importance <- function(model, data, trees, background = NULL, rows = NULL, offset = NULL, unseen = "prior",
                            threads = NULL, exposure = NULL) {
  x <- bake_rows(model, data)$x
  if (n_rows_of(explained_data(model, x)) < 1) stop_data("`data` has no rows; give one at least", "data")
  its <- shap_rows(model, if (inherits(x, "ArrowTabular")) as.data.frame(x) else x, background, rows,
                   given_in_data("offset", data), given_in_data("exposure", data))
  model <- its$model
  all <- predict.gbt(model, its$x, type = "contrib", trees = trees, offset = its$offset, unseen = unseen,
                     threads = threads, background = its$background, exposure = its$exposure)
  own <- has_own_units(model)
  columns <- -dim(all)[2L] # without the base
  size <- mean_contributions(if (length(dim(all)) == 3L) all[, columns, , drop = FALSE] else
    all[, columns, drop = FALSE], own)
  ranked <- order(-size, seq_along(size))
  out <- list_frame(list(column = names(size)[ranked], importance = unname(size)[ranked]), length(ranked))
  structure(out, class = c("gbt_importance_shap", "data.frame"), n_obs = dim(all)[1L], n_outputs = model$n_outputs,
            own_units = if (own) TRUE)
}

#' @export
print.gbt_importance_shap <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 0)
  if (is.null(attr(x, "n_obs")) || !all(c("column", "importance") %in% names(x))) return(NextMethod())
  several <- attr(x, "n_outputs") > 1L
  own <- isTRUE(attr(x, "own_units"))
  cat(sprintf("%s, %s%s\n", if (own) "mean shares in the absolute contributions to each raw score" else
    "mean absolute contributions to the raw score", counted(attr(x, "n_obs"), "row"),
              if (several) sprintf(" and %s", counted(attr(x, "n_outputs"), "output")) else ""))
  shown <- utils::head(as.data.frame(x), top)
  shown$importance <- format(shown$importance, digits = digits)
  if (nrow(shown)) print.data.frame(shown, row.names = FALSE)
  if (nrow(x) > top) cat(sprintf("and %d more\n", nrow(x) - top))
  invisible(x)
}

#' @export
as.data.frame.gbt_importance_shap <- plain_table
