# Cells of a confusion matrix.

#' Draw a confusion matrix
#'
#' A cell for each pair of a predicted and an observed class, with the number of rows (or the sum of their weights) and
#' the share of the rows of the observed class as its colour.
#'
#' @param x The result of [gbt_confusion()].
#' @param ... `main`, `sub`, `xlab`, `ylab`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_confusion()]
#' @examples
#' m <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
#' plot(gbt_confusion(m, iris, threads = 1))
#' @export
plot.gbt_confusion <- function(x, ...) draw_figure(confusion_figure(x, plot_dots(list(...))), x)

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_confusion <- function(object, ...) gg_figure(confusion_figure(object), ...)

confusion_figure <- function(x, given = list()) {
  counts <- unclass(x$table)
  n <- nrow(counts)
  classes <- rownames(counts)
  share <- as.vector(counts / rep(pmax(colSums(counts), 1e-300), each = n))
  left <- as.vector(col(counts)) - 0.48
  low <- n + 1 - as.vector(row(counts)) - 0.48
  ramp <- list(title = "share of the observed class", colours = scale_colours(), low = 0, high = 1)
  marks <- list(mark("rect", left, low, left + 0.96, low + 0.96, share = share),
                if (n <= 12L) mark("text", left + 0.48, low + 0.48, label = number_label(as.vector(counts), 4L),
                                   adj = c(0.5, 0.5), col = ifelse(share > 0.6, ink$text, "white")))
  text <- paste0("accuracy ", number_label(x$accuracy, 4L),
                 if (!is.null(x$threshold)) paste(", threshold", format(x$threshold)))
  figure(given, "Confusion matrix", text, make_scale(factor(classes, classes), given_or(given[["xlab"]], "observed")),
         make_scale(factor(classes, rev(classes)), given_or(given[["ylab"]], "predicted")), list(panel(marks)),
         ramp = ramp)
}
