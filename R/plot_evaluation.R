# Metrics of groups with their intervals.

#' Draw an evaluation
#'
#' A point for each group of [gbt_evaluate()], with its interval where there is one.
#'
#' @param x The result of [gbt_evaluate()].
#' @param metric Which metric; the first one when left out.
#' @param top Most groups.
#' @param ... `main`, `sub`, `xlab`, `xlim`, `col`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_evaluate()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' plot(gbt_evaluate(m, mtcars, mtcars$mpg, by = "cyl", threads = 1))
#' @export
plot.gbt_evaluation <- function(x, metric = NULL, top = 40L, ...) {
  draw_figure(evaluation_figure(x, metric, top, plot_dots(list(...), c("xlim", "col"), "xlab")), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_evaluation <- function(object, metric = NULL, top = 40L, ...) {
  gg_figure(evaluation_figure(object, metric, top), ...)
}

evaluation_figure <- function(x, metric, top, given = list()) {
  shown <- evaluation_shown(x, metric, top)
  rows_figure(shown, given, "Evaluation", shown$text, shown$metric, FALSE, noun = "further group")
}

# list(label, value, lower, upper, metric, text = subtitle or NULL).
evaluation_shown <- function(x, metric, top) {
  table <- as.data.frame(unclass(x), stringsAsFactors = FALSE, optional = TRUE)
  if (nrow(table) == 0L) stop_argument("`x` has no rows to draw", "x")
  names <- unique(table$metric)
  metric <- if (is.null(metric)) names[1L] else match_choice(metric, names, "metric")
  table <- table[table$metric == metric, , drop = FALSE]
  if (!any(is.finite(table$estimate))) {
    stop_argument(sprintf("there is nothing to draw: no value of metric \"%s\" is finite", metric), "metric")
  }
  top <- check_whole(top, "top", 1)
  groups <- setdiff(names(table), c("metric", "estimate", "lower", "upper", "rows"))
  label <- if (length(groups)) {
    do.call(paste, c(lapply(table[groups], function(v) plain_text(v)), sep = ", "))
  } else {
    rep("all rows", nrow(table))
  }
  note <- if (nrow(table) > top) sprintf("the first %.0f of %s", top, counted(nrow(table), "group"))
  text <- paste(c(if (length(groups)) paste("by", paste(plain_text(groups), collapse = ", ")), note), collapse = "; ")
  if (length(groups) == 0L && nrow(table) == 1L) text <- paste(metric, number_label(table$estimate, 4L))
  shown <- seq_len(min(top, nrow(table)))
  list(label = label[shown], value = table$estimate[shown], lower = table$lower[shown], upper = table$upper[shown],
       metric = metric, text = if (nzchar(text)) text)
}
