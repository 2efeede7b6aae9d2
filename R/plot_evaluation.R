# Metrics with their intervals.

#' Draw an evaluation
#'
#' A panel for each metric of [gbt_evaluate()], as metrics differ in scale. With `by` a panel has a point for each
#' group, with its interval where there is one. Without groups its heading has the number. Intervals are drawn where
#' [gbt_evaluate()] computed them; else there is a bar from 0, on an axis up to 1 for metrics that cannot be larger.
#'
#' @param x The result of [gbt_evaluate()].
#' @param metric Names of metrics; all when left out.
#' @param top Most groups.
#' @param ... `main`, `sub`, `xlab`, `col`, and for a single metric `xlim`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_evaluate()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' plot(gbt_evaluate(m, mtcars, threads = 1))
#' by_cyl <- gbt_evaluate(m, mtcars, by = "cyl", intervals = 0.9, replicates = 100, seed = 1,
#'                        threads = 1)
#' plot(by_cyl)
#' plot(by_cyl, metric = "mae")
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
  col <- check_colours(given_or(given[["col"]], ink$band))
  if (!is.null(given[["xlim"]]) && length(shown$metrics) > 1L) {
    stop_argument("`xlim` needs a single metric, as each metric has its own scale; give `metric` as well", "xlim")
  }
  panels <- lapply(shown$metrics, function(m) {
    bars <- !shown$grouped && !any(is.finite(m$lower))
    values <- c(unlist(m[c("value", "lower", "upper")]), if (bars && m$metric %in% at_most_one) 1)
    x <- bar_scale(values, given_or(given[["xlab"]], ""), given[["xlim"]], bars)
    panel(row_marks(m, bars, col), m$heading, rows = m$label, x = x)
  })
  out <- figure(given, "Evaluation", shown$text, panels[[1L]]$x, rows_scale, panels, note = shown$note,
                noun = "further group")
  c(out, list(panel_noun = "metric", stacked = !shown$grouped))
}

# Metrics whose largest value is 1; their parameters, as in "error@0.3", change nothing of it.
at_most_one <- c("accuracy", "auc", "balanced_accuracy", "brier", "calibration_error", "coverage", "error", "f1",
                 "gini", "mcc", "merror", "pr_auc", "r2", "top_error")

# list(metrics = list of list(metric, label, value, lower, upper, heading), grouped, text = subtitle or NULL, note or
# NULL).
evaluation_shown <- function(x, metric, top) {
  table <- as.data.frame(unclass(x), stringsAsFactors = FALSE, optional = TRUE)
  if (nrow(table) == 0L) stop_argument("`x` has no rows to draw", "x")
  names <- unique(table$metric)
  if (!is.null(metric)) names <- match_choices(metric, names, "metric")
  finite <- vapply(names, function(name) any(is.finite(table$estimate[table$metric == name])), NA)
  if (!any(finite)) {
    stop_argument(sprintf("there is nothing to draw: no value of metric \"%s\" is finite", names[1L]), "metric")
  }
  top <- check_whole(top, "top", 1)
  groups <- setdiff(names(table), c("metric", "estimate", "lower", "upper", "rows"))
  metrics <- lapply(names[finite], function(name) {
    metric_shown(table[table$metric == name, , drop = FALSE], groups, top)
  })
  n <- sum(table$metric == names[1L])
  level <- attr(x, "level")
  text <- c(if (length(groups)) paste("by", paste(plain_text(groups), collapse = ", ")),
            if (!is.null(level)) sprintf("%s %% intervals", format(100 * level)),
            if (n > top) sprintf("the first %s of %s", with_commas(top), counted(n, "group")))
  note <- if (!all(finite)) sprintf("without a value: %s", paste(names[!finite], collapse = ", "))
  list(metrics = metrics, grouped = length(groups) > 0L, text = if (length(text)) paste(text, collapse = "; "),
       note = note)
}

# table: rows of one metric.
metric_shown <- function(table, groups, top) {
  label <- if (length(groups)) do.call(paste, c(lapply(table[groups], plain_text), sep = ", ")) else ""
  heading <- table$metric[1L]
  if (length(groups) == 0L) {
    bounds <- if (is.finite(given_or(table$lower, NA))) {
      sprintf(" (%s to %s)", number_label(table$lower, 4L), number_label(table$upper, 4L))
    }
    heading <- paste0(heading, "  ", number_label(table$estimate, 4L), bounds)
  }
  shown <- seq_len(min(top, nrow(table)))
  list(metric = sub("@.*", "", table$metric[1L]), label = label[shown], value = table$estimate[shown],
       lower = table$lower[shown], upper = table$upper[shown], heading = heading)
}
