# Curves of gbt_curve().

#' Draw a curve of predictions
#'
#' Calibration curves of a response of several columns of numbers have a panel each, as their units differ.
#'
#' The subtitle gives the area under the curve. The dashed line is the curve of random predictions (`"roc"`, `"pr"`,
#' `"gains"`, `"lift"`) or of perfectly calibrated ones (`"calibration"`). Several sets of predictions have a line each;
#' for `"lift"` it is the cumulative lift.
#'
#' Of models of times `"survival"` has for each group of risk the observed curve with its band, and dashed the mean of
#' the predicted curves; several models have a panel each. `"calibration"` has a line for each time, and `"brier"` a
#' dashed line for the score of the curve of all rows. Vertical lines are 95 % intervals, as in `"query_length"`.
#'
#' Of distributions `"pit"` is a histogram, whose dashed line is that of right distributions.
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
  known <- c("xlim", "ylim", "col", if (!identical(curve_type(x), "survival")) "lty", "lwd")
  draw_figure(figure_of_curve(x, plot_dots(list(...), known)), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_curve <- function(object, ...) gg_figure(figure_of_curve(object), ...)

figure_of_curve <- function(x, given = list()) {
  type <- curve_type(x)
  if (is.na(type) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_curve() to draw", "x")
  if (type == "survival") survival_figure(x, given) else curve_figure(curve_shown(x), given)
}

# list(type, words, text = subtitle or NULL, own = has each curve scales of its own? shapes = list of
# curve_shape() by prediction, names = of them, or NULL).
curve_shown <- function(x) {
  type <- curve_type(x)
  parts <- list(as.data.frame(unclass(x)))
  series <- curve_series(x)
  if (type == "calibration" && !is.null(x[["time"]])) { # one time, or one model
    type <- "calibration_at"
    if (length(unique(x$time)) > 1L) series <- paste("time", format_number(x$time))
  }
  if (!is.null(series)) parts <- split(parts[[1L]], factor(series, unique(as.character(series))))
  area <- attr(x, "area")
  at <- if (type == "calibration_at" && length(unique(x$time)) == 1L) paste("time", format_number(x$time[1L]))
  text <- c(class_words(x), at, if (!is.null(area)) paste(area_name(type), area_words(area, 4L)))
  text <- paste(text[nzchar(text)], collapse = "; ")
  words <- curve_words[[type]]
  if (type == "query_length") words[3L] <- x$metric[1L]
  own <- type == "calibration" && isTRUE(attr(x, "own_units")) && length(parts) > 1L
  list(type = type, words = words, text = if (nzchar(text)) text, own = own,
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
  lift <- shown$type == "lift"
  key <- c(list(label = given_or(shown$names, rep("", n)), kind = "line", hidden = is.null(shown$names)), style)
  if (bars) {
    key <- list(label = c(if (lift) "cumulative" else "density", "bin"),
                col = c(ink$mark, transparent(style$col, 0.45)), lwd = style$lwd,
                kind = c(if (lift) "both" else "line", "box"), hidden = !lift)
  }
  what <- if (lift && !bars) "cumulative lift" else shown$words[3L]
  log <- shown$type == "query_length" && max(all("x_range")) > 10 * min(all("x_range"))
  scales <- function(which) {
    all <- function(name) unlist(lapply(shapes[which], `[[`, name))
    list(x = make_scale(all("x_range"), given_or(given[["xlab"]], shown$words[2L]), given[["xlim"]], log, 0.02),
         y = make_scale(all("y_range"), given_or(given[["ylab"]], what), given[["ylim"]]))
  }
  panels <- if (isTRUE(shown$own)) {
    key$hidden <- TRUE
    output_panels(shown$names, function(i) curve_marks(shapes, i, FALSE), scales = scales)
  } else {
    list(panel(curve_marks(shapes, seq_len(n), bars)))
  }
  all <- scales(seq_len(n))
  figure(given, shown$words[1L], shown$text, all$x, all$y, panels, key, note = curve_notes[[shown$type]])
}

# The marks of some of the curves, in one panel.
curve_marks <- function(shapes, which, bars) {
  shapes <- shapes[which]
  all <- function(name) unlist(lapply(shapes, `[[`, name))
  set <- rep(which, lengths(lapply(shapes, `[[`, "x")))
  at <- rep(which, lengths(lapply(shapes, `[[`, "at")))
  plain <- all_plain(shapes)
  ends <- shapes[[1L]]$bars
  list(
    if (bars) mark("rect", ends$left, 0, ends$right, ends$high, set = 2L, border = "white"),
    if (length(plain)) mark("line", plain$x, plain$y, lty = 2, col = ink$soft, lwd = 1),
    if (length(all("low"))) mark("segment", all("at"), all("low"), all("at"), all("high"), set = at, lwd = 1),
    mark("line", all("x"), all("y"), set = set),
    if (isTRUE(shapes[[1L]]$points)) mark("point", all("x"), all("y"), set = set)
  )
}

curve_notes <- list(brier = "dashed: the Kaplan-Meier curve of all rows",
                    calibration_at = "vertical lines: 95 % intervals of Kaplan-Meier's estimate",
                    pit = "vertical lines: 95 % intervals; dashed: right distributions",
                    query_length = "vertical lines: 95 % intervals of the mean")

# The dashed line: of several predictions from the least to the largest of all. One of many points is that of the rows.
all_plain <- function(shapes) {
  first <- shapes[[1L]]$plain
  if (length(shapes) == 1L || length(first$x) != 2L) return(first)
  lapply(list(x = "x", y = "y"), function(name) range(unlist(lapply(shapes, function(s) s$plain[[name]]))))
}

curve_words <- list(
  calibration = c("Calibration", "mean prediction", "mean observed"),
  lift = c("Lift", "share of rows, highest predictions first", "lift"),
  gains = c("Gains", "share of rows, highest predictions first", "share of the sum observed"),
  roc = c("ROC", "false positive rate", "true positive rate"),
  pr = c("Precision and recall", "recall", "precision"),
  calibration_at = c("Calibration", "mean predicted survival probability", "observed (Kaplan-Meier)"),
  brier = c("Brier score", "time", "Brier score"),
  query_length = c("Ranking by query length", "rows of a query", "metric"),
  pit = c("PIT histogram", "probability of the observed value or less", "density")
)

# list(x, y = the line; plain = list(x, y), the dashed one; x_range, y_range; points = has the line points as well?
# low, high = ends of intervals at x `at`, if it has any; bars = list(left, right, high), drawn below the line if it has
# bars).
curve_shape <- function(x, type) {
  unit <- c(0, 1)
  k <- nrow(x)
  switch(type,
    calibration = {
      both <- range(x$predicted, x$observed)
      list(x = x$predicted, y = x$observed, plain = list(x = both, y = both), x_range = x$predicted, y_range = both,
           points = TRUE)
    },
    calibration_at = list(x = x$predicted, y = x$observed, at = x$predicted, low = x$lower, high = x$upper,
                          plain = list(x = range(x$predicted), y = range(x$predicted)), x_range = x$predicted,
                          y_range = c(x$predicted, x$observed, x$lower, x$upper), points = TRUE),
    brier = list(x = x$time, y = x$brier, plain = list(x = x$time, y = x$reference), x_range = x$time,
                 y_range = c(0, x$brier, x$reference)),
    query_length = list(x = x$length, y = x$estimate, at = x$length, low = x$lower, high = x$upper, x_range = x$length,
                        y_range = c(x$estimate, x$lower, x$upper), points = TRUE),
    pit = list(x = as.vector(rbind(x$from, x$to)), y = rep(x$density, each = 2L), at = (x$from + x$to) / 2,
               low = x$lower, high = x$upper, plain = list(x = unit, y = c(1, 1)), x_range = unit,
               y_range = c(0, x$upper, 1), bars = list(left = x$from, right = x$to, high = x$density)),
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
