# Bars of importance.

#' Draw importance
#'
#' Bars of the most important columns of a [gbt_importance()] table, also of mean absolute contributions, with lines for
#' intervals over folds; of permutation importance points, with intervals.
#' As many are shown as have room at letters of 6 points; the foot of the plot says how many are left out.
#'
#' @param x The result of [gbt_importance()], of any type.
#' @param top Most bars.
#' @param type What the bars show: `"gain"`, `"cover"` or `"frequency"`; when left out, what the table is sorted by.
#' @param ... `main`, `sub`, `xlab`, `xlim`, `col`, `border` (of bars), `names.arg` (other labels), `axisnames = FALSE`
#'   (no labels).
#' @return `x`, invisibly.
#' @seealso [gbt_importance()]; [plot.gbt()] about all plots
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' plot(gbt_importance(m), top = 5)
#' @export
plot.gbt_importance <- function(x, top = 20L, type = NULL, ...) {
  draw_figure(importance_figure(x, top, type, bar_dots(list(...))), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance <- function(object, top = 20L, type = NULL, ...) {
  gg_figure(importance_figure(object, top, type), ...)
}

importance_figure <- function(x, top, type, given = list(), subtitle = NULL) {
  if (is.null(type)) type <- given_or(attr(x, "type"), "gain")
  type <- match_choice(type, c("gain", "cover", "frequency"), "type")
  if (!is_importance(x)) stop_argument("`x` has no rows of gbt_importance() to draw", "x")
  own <- identical(type, attr(x, "type")) # intervals are of the share that the table is sorted by
  shown <- largest_rows(x, "feature", type, top, c("lower", "upper")[own & c(TRUE, TRUE)])
  rows_figure(shown, given, "Importance", subtitle, paste("share of", type), TRUE)
}

# The rows of the largest values: list(label, value, and columns of `others`).
largest_rows <- function(x, label, value, top, others = character(0)) {
  top <- check_whole(top, "top", 1)
  x <- as.list(as.data.frame(x))
  if (length(x[[label]]) == 0L || is.null(x[[value]])) {
    stop_argument("`x` has no rows of gbt_importance() to draw", "x")
  }
  if (!any(is.finite(x[[value]]))) stop_argument("there is nothing to draw: no importance is finite", "x")
  at <- utils::head(order(-x[[value]], seq_along(x[[value]])), top)
  c(list(label = x[[label]][at], value = x[[value]][at]), lapply(x[others], `[`, at))
}

bar_dots <- function(dots) {
  if (!is.null(dots$horiz) && !isTRUE(dots$horiz)) {
    stop_unsupported("bars are horizontal; for others use barplot(x$gain, names.arg = x$feature)", "horiz")
  }
  dots$horiz <- NULL
  plot_dots(dots, c("xlim", "col", "border", "names.arg", "axisnames"), "xlab",
            names(formals(sys.function(sys.parent()))))
}

#' @rdname plot.gbt_importance
#' @export
plot.gbt_importance_permutation <- function(x, top = 20L, ...) {
  draw_figure(permutation_figure(x, top, bar_dots(list(...))), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance_permutation <- function(object, top = 20L, ...) gg_figure(permutation_figure(object, top), ...)

permutation_figure <- function(x, top, given = list()) {
  metric <- attr(x, "metric")
  larger <- attr(x, "larger_is_better")
  change <- if (is.null(larger)) "loss" else if (larger) "decrease" else "increase"
  words <- paste0(change, if (is_text(metric)) paste(" of", metric), " when the column is permuted")
  shown <- largest_rows(unclass(x), "column", "importance", top, c("lower", "upper"))
  rows_figure(shown, given, "Permutation importance", NULL, words, FALSE, zero = TRUE)
}

#' @rdname plot.gbt_importance
#' @export
plot.gbt_importance_shap <- function(x, top = 20L, ...) {
  draw_figure(shap_importance_figure(x, top, bar_dots(list(...))), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance_shap <- function(object, top = 20L, ...) gg_figure(shap_importance_figure(object, top), ...)

shap_importance_figure <- function(x, top, given = list()) {
  if (any(!is.finite(x$importance))) stop_argument("contributions that are not finite cannot be drawn", "x")
  shown <- largest_rows(x, "column", "importance", top)
  words <- if (isTRUE(attr(x, "own_units"))) "mean share in the contributions to each output" else
    "mean absolute contribution"
  rows_figure(shown, given, "Importance by contributions", NULL, words, TRUE)
}
