# Curves of gbt_curve().

#' Draw a curve of predictions
#'
#' The subtitle gives the area under the curve. The dashed line is the curve of random predictions (`"roc"`, `"pr"`,
#' `"gains"`, `"lift"`) or of perfectly calibrated ones (`"calibration"`). Several sets of predictions have a line each;
#' for `"lift"` it is the cumulative lift.
#'
#' @param x The result of [gbt_curve()].
#' @param ... `main`, `sub`, `xlab`, `ylab`, `xlim`, `ylim`, `col`, `lty`, `lwd`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_curve()]
#' @examples
#' set.seed(1)
#' score <- runif(200)
#' hit <- runif(200) < score
#' plot(gbt_curve(hit, score, "gains"))
#' plot(gbt_curve(hit, score, "lift", bins = 5))
#' plot(gbt_curve(hit, list(good = score, noisy = score + runif(200)), "lift"))
#' @export
plot.gbt_curve <- function(x, ...) {
  draw_figure(curve_figure(curve_shown(x), plot_dots(list(...), c("xlim", "ylim", "col", "lty", "lwd"))), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_curve <- function(object, ...) gg_figure(curve_figure(curve_shown(object)), ...)

# list(type, words, text = subtitle or NULL, shapes = list of curve_shape() by prediction, names = of them, or NULL).
curve_shown <- function(x) {
  type <- curve_type(x)
  if (is.na(type) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_curve() to draw", "x")
  parts <- list(as.data.frame(unclass(x)))
  series <- curve_series(x)
  if (!is.null(series)) parts <- split(parts[[1L]], factor(series, unique(as.character(series))))
  area <- attr(x, "area")
  text <- c(class_words(x), if (!is.null(area)) paste("area", area_words(area, 4L)))
  text <- paste(text[nzchar(text)], collapse = "; ")
  list(type = type, words = curve_words[[type]], text = if (nzchar(text)) text,
       shapes = lapply(parts, curve_shape, type = type), names = names(parts))
}

# The figure: a line for each set of predictions, drawn over dashed reference lines. shown: see curve_shown().
curve_figure <- function(shown, given = list()) {
  shapes <- shown$shapes
  n <- length(shapes)
  all <- function(name) unlist(lapply(shapes, `[[`, name))
  style <- series_style(n, given[["col"]], given[["lty"]])
  style$lwd <- rep_len(given_or(given[["lwd"]], 2), n)
  bars <- n == 1L && !is.null(shapes[[1L]]$bars)
  key <- c(list(label = given_or(shown$names, rep("", n)), kind = "line", hidden = is.null(shown$names)), style)
  if (bars) {
    key <- list(label = c("cumulative", "bin"), col = c(ink$mark, transparent(style$col, 0.45)), lwd = style$lwd,
                kind = c("both", "box"))
  }
  set <- rep(seq_len(n), lengths(lapply(shapes, `[[`, "x")))
  plain <- all_plain(shapes)
  ends <- shapes[[1L]]$bars
  marks <- list(
    if (bars) mark("rect", ends$left, 0, ends$right, ends$high, set = 2L, border = "white"),
    if (length(plain)) mark("line", plain$x, plain$y, lty = 2, col = ink$soft, lwd = 1),
    mark("line", all("x"), all("y"), set = set),
    if (isTRUE(shapes[[1L]]$points)) mark("point", all("x"), all("y"), set = set)
  )
  what <- if (shown$type == "lift" && !bars) "cumulative lift" else shown$words[3L]
  x <- make_scale(all("x_range"), given_or(given[["xlab"]], shown$words[2L]), given[["xlim"]], extend = 0.02)
  y <- make_scale(all("y_range"), given_or(given[["ylab"]], what), given[["ylim"]])
  figure(given, shown$words[1L], shown$text, x, y, list(panel(marks)), key)
}

# The dashed line: of several predictions from the least to the largest of all.
all_plain <- function(shapes) {
  if (length(shapes) == 1L) return(shapes[[1L]]$plain)
  lapply(list(x = "x", y = "y"), function(name) range(unlist(lapply(shapes, function(s) s$plain[[name]]))))
}

curve_words <- list(
  calibration = c("Calibration", "mean prediction", "mean observed"),
  lift = c("Lift", "share of rows, highest predictions first", "lift"),
  gains = c("Gains", "share of rows, highest predictions first", "share of the sum observed"),
  roc = c("ROC", "false positive rate", "true positive rate"),
  pr = c("Precision and recall", "recall", "precision")
)

# list(x, y = the line; plain = list(x, y), the dashed one; x_range, y_range; points = has the line points as well?
# bars = list(left, right, high), drawn below the line if it has bars).
curve_shape <- function(x, type) {
  unit <- c(0, 1)
  k <- nrow(x)
  switch(type,
    calibration = {
      both <- range(x$predicted, x$observed)
      list(x = x$predicted, y = x$observed, plain = list(x = both, y = both), x_range = x$predicted, y_range = both,
           points = TRUE)
    },
    lift = list(x = x$share, y = x$cumulative, plain = list(x = unit, y = c(1, 1)), x_range = unit,
                y_range = c(0, x$lift, x$cumulative, 1), points = TRUE,
                bars = list(left = c(0, x$share[-k]), right = x$share, high = x$lift)),
    gains = c(thin_line(x$share, x$gain), list(plain = list(x = unit, y = unit), x_range = unit, y_range = unit)),
    roc = c(thin_line(x$fpr, x$tpr), list(plain = list(x = unit, y = unit), x_range = unit, y_range = unit)),
    pr = c(thin_line(c(rbind(c(0, x$recall[-k]), x$recall)), rep(x$precision, each = 2L)),
           list(plain = list(x = unit, y = rep(x$precision[k], 2L)), x_range = unit, y_range = unit))
  )
}

# Points of a line in the unit square without those that cannot be seen: of a run in one cell of 5,000 x 5,000 the first
# and the last.
thin_line <- function(x, y) {
  n <- length(x)
  cell <- floor(x * 5000) * 8192 + floor(y * 5000)
  new <- c(TRUE, cell[-1L] != cell[-n])
  keep <- new | c(new[-1L], TRUE)
  list(x = x[keep], y = y[keep])
}
