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
  given <- bar_dots(list(...))
  shown <- importance_shown(x, top, type)
  main <- if ("main" %in% names(given)) given[["main"]] else "Importance"
  draw_importance(shown$feature, shown$value, shown$lower, shown$upper, main, given, paste("share of", shown$type))
  invisible(x)
}

# list(feature, value, type, more = rows that `top` leaves out).
importance_shown <- function(x, top, type) {
  if (is.null(type)) type <- given_or(attr(x, "type"), "gain")
  type <- match_choice(type, c("gain", "cover", "frequency"), "type")
  top <- check_whole(top, "top", 1)
  if (!is_importance(x) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_importance() to draw", "x")
  shown <- as.data.frame(x)
  ranked <- order(-shown[[type]], seq_len(nrow(shown)))
  kept <- utils::head(ranked, top)
  own <- identical(type, attr(x, "type")) # intervals are of the share that the table is sorted by
  list(feature = shown$feature[kept], value = shown[[type]][kept], type = type, more = length(ranked) - length(kept),
       lower = if (own) shown$lower[kept], upper = if (own) shown$upper[kept])
}

bar_dots <- function(dots) {
  if (!is.null(dots$horiz) && !isTRUE(dots$horiz)) {
    stop_unsupported("bars are horizontal; for others use barplot(x$gain, names.arg = x$feature)", "horiz")
  }
  plot_dots(dots[setdiff_names(dots, "horiz")], c("xlim", "col", "border", "names.arg", "axisnames"),
            "xlab")
}

setdiff_names <- function(dots, name) if (is.null(names(dots))) seq_along(dots) else which(names(dots) != name)

draw_importance <- function(label, value, lower, upper, main, given, xlab, mark = "bar",
                            noun = "further column") {
  if (!is.null(given$names.arg)) {
    if (length(given$names.arg) != length(label)) {
      stop_argument(sprintf("`names.arg` must be %s, one for each bar", counted(length(label), "text")), "names.arg")
    }
    label <- as.character(given$names.arg)
  }
  col <- check_colours(given_or(given[["col"]], ink$band))
  bars <- list(label = label, value = value, lower = lower, upper = upper, col = rep_len(col, length(label)))
  draw_page(title = main, subtitle = given[["sub"]], body = function(page) {
    outer <- inner(page)
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    draw_bars(page, outer, bars, given_or(given[["xlab"]], xlab), given[["xlim"]], mark,
              left_out = function(k) sprintf("%s not shown for lack of room", counted(k, noun)),
              border = given_or(given[["border"]], NA), labels = !isFALSE(given$axisnames))
  })
}

#' @rdname plot.gbt_importance
#' @export
plot.gbt_importance_permutation <- function(x, top = 20L, ...) {
  given <- bar_dots(list(...))
  shown <- permutation_shown(x, top)
  main <- if ("main" %in% names(given)) given[["main"]] else "Permutation importance"
  draw_importance(shown$column, shown$importance, shown$lower, shown$upper, main, given, permutation_words(x),
                  mark = "point")
  invisible(x)
}

permutation_words <- function(x) {
  metric <- attr(x, "metric")
  larger <- attr(x, "larger_is_better")
  change <- if (is.null(larger)) "loss" else if (larger) "decrease" else "increase"
  paste0(change, if (is_text(metric)) paste(" of", metric), " when the column is permuted")
}

#' @rdname plot.gbt_importance
#' @export
plot.gbt_importance_shap <- function(x, top = 20L, ...) {
  given <- bar_dots(list(...))
  shown <- shap_importance_shown(x, top)
  main <- if ("main" %in% names(given)) given[["main"]] else "Importance by contributions"
  draw_importance(shown$column, shown$importance, NULL, NULL, main, given, "mean absolute contribution")
  invisible(x)
}

shap_importance_shown <- function(x, top) {
  top <- check_whole(top, "top", 1)
  table <- as.data.frame(x)
  if (nrow(table) == 0L || anyNA(match(c("column", "importance"), names(table)))) {
    stop_argument("`x` has no rows of gbt_importance() to draw", "x")
  }
  if (any(!is.finite(table$importance))) stop_argument("contributions that are not finite cannot be drawn", "x")
  utils::head(table[order(-table$importance, seq_len(nrow(table))), , drop = FALSE], top)
}

permutation_shown <- function(x, top) {
  top <- check_whole(top, "top", 1)
  x <- as.data.frame(unclass(x), stringsAsFactors = FALSE)[c("column", "importance", "lower", "upper")]
  if (nrow(x) == 0L) stop_argument("`x` has no rows to draw", "x")
  if (!any(is.finite(x$importance))) stop_argument("there is nothing to draw: no importance is finite", "x")
  utils::head(x[order(-x$importance, seq_len(nrow(x))), , drop = FALSE], top)
}
