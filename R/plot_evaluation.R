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
  given <- plot_dots(list(...), c("xlim", "col"), "xlab")
  shown <- evaluation_shown(x, metric, top)
  given$sub <- given_or(given[["sub"]], shown$text)
  draw_importance(shown$label, shown$estimate, shown$lower, shown$upper, given_or(given[["main"]], "Evaluation"), given,
                  shown$metric, mark = "point", noun = "further group")
  invisible(x)
}

# list(label, estimate, lower, upper, metric, text = subtitle or NULL).
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
  shown <- seq_len(min(top, nrow(table)))
  c(list(label = label[shown]), lapply(as.list(table)[c("estimate", "lower", "upper")], `[`, shown),
    list(metric = metric, text = if (nzchar(text)) text))
}
