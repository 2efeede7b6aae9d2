# Calibrated probabilities, and conformal intervals and sets.

#' Draw a calibration
#'
#' The calibrated probability of [gbt_calibrate()] for each probability of the model: a line for each class, or for each
#' column of the response, and a dashed line that would change nothing.
#'
#' @param x The result of [gbt_calibrate()].
#' @param output Names of the classes or columns to draw; all when left out. Of two classes the second is drawn.
#' @param ... `main`, `sub`, `xlab`, `ylab`, `xlim`, `ylim`, `col`, `lty`, `lwd`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_calibrate()]; [gbt_curve()] for what is observed
#' @examples
#' set.seed(1)
#' x <- data.frame(a = runif(400), b = runif(400))
#' x$y <- factor(runif(400) < x$a, labels = c("no", "yes"))
#' m <- gbt_train(y ~ ., x[1:200, ], nrounds = 100, threads = 1)
#' plot(gbt_calibrate(m, x[201:400, ], method = "platt", threads = 1))
#' @export
plot.gbt_calibrated <- function(x, output = NULL, ...) {
  given <- plot_dots(list(...), c("xlim", "ylim", "col", "lty", "lwd"))
  draw_figure(curve_figure(calibrated_shown(x, output), given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_calibrated <- function(object, output = NULL, ...) {
  gg_figure(curve_figure(calibrated_shown(object, output)), ...)
}

# As curve_shown().
calibrated_shown <- function(x, output = NULL) {
  columns <- x$model$columns
  labels <- given_or(columns, class_labels(x$model))
  two <- length(x$maps) == 1L
  names <- if (two) labels[2L] else labels
  outputs <- shown_outputs(output, names)
  shapes <- lapply(x$maps[match(outputs, names)], function(map) {
    p <- sort(unique(c(seq(0, 1, 1 / 256), map$p)))
    list(x = p, y = mapped(map, p), plain = list(x = c(0, 1), y = c(0, 1)), x_range = c(0, 1), y_range = c(0, 1))
  })
  loss <- vapply(x$log_loss[c("before", "after")], format, "", digits = 4L)
  to <- if (two) sprintf("probability of %s", labels[2L]) else
    paste("probability of", if (is.null(columns)) "the class" else "the column")
  list(type = "map", words = c("Calibration", paste0(to, ", by the model"), paste0(to, ", calibrated")),
       text = sprintf("%s; log loss %s, before %s", x$method, loss[2L], loss[1L]), shapes = shapes,
       names = if (!two) outputs)
}

#' Draw conformal intervals and sets
#'
#' Without `newdata` the bound of the scores for every level: how wide intervals, or how large sets, must be to hold the
#' response with that probability. With `newdata` the intervals of its rows, or how many of its rows have sets of one
#' class, of two and so on. With `y` the observed values are drawn as well, and the subtitle gives the share of them
#' inside the intervals or sets (the coverage). New rows weigh 1 where rows for calibration have weights.
#'
#' Fewer than 60 intervals are drawn one by one, those of low estimates first. Of more rows the horizontal axis is the
#' estimate: the band is the mean of the bounds of neighbouring rows, and observed values outside of their own interval
#' have another colour. A second panel has the share inside by tenths of the estimate, with its 95 % interval, and the
#' level as a dashed line: shares that leave the line say for which estimates intervals are too narrow or too wide.
#'
#' @param x The result of [gbt_conformal()].
#' @param newdata Rows to predict, see [predict()][predict.gbt_conformal].
#' @param y What was observed in these rows; a formula's response is found in `newdata`.
#' @param level The probability with which intervals or sets are to hold the response.
#' @param output Of a response of several columns the one to draw.
#' @param threads Number of threads for predictions of `newdata`, see [gbt_threads()].
#' @param ... `main`, `sub`, `xlab`, `xlim`, `col`, and but for sets of `newdata` `ylab` and `ylim`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_conformal()]
#' @examples
#' cars <- datasets::cars
#' train <- seq_len(50) %% 2 == 0
#' m <- gbt_train(dist ~ speed, cars[train, ], nrounds = 20, min_data_in_leaf = 2, threads = 1)
#' fit <- gbt_conformal(m, cars[!train, ], threads = 1)
#' plot(fit)
#' plot(fit, cars[!train, ], level = 0.8, threads = 1)
#' @export
plot.gbt_conformal <- function(x, newdata = NULL, y = NULL, level = 0.9, threads = NULL, output = NULL, ...) {
  bars <- !is.null(newdata) && gives_sets(x)
  given <- plot_dots(list(...), c("xlim", if (!bars) "ylim", "col"), c("xlab", if (!bars) "ylab"))
  draw_figure(conformal_figure(x, newdata, y, level, threads, output, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_conformal <- function(object, newdata = NULL, y = NULL, level = 0.9, threads = NULL, output = NULL, ...) {
  gg_figure(conformal_figure(object, newdata, y, level, threads, output), ...)
}

conformal_figure <- function(x, newdata, y, level, threads, output = NULL, given = list()) {
  level <- check_share(level)
  check_conformal_choice(newdata, y, threads)
  column <- drawn_column(x, output)
  if (is.null(newdata)) {
    return(curve_figure(conformal_levels(if (is.null(column)) x else conformal_column(x, column), level), given))
  }
  shown <- conformal_rows(x, newdata, y, level, threads, column)
  if (!gives_sets(x)) return(if (has_band(shown)) band_figure(shown, level, given) else intervals_figure(shown, given))
  rows_figure(list(label = shown$label, value = shown$rows), given, "Conformal sets", shown$text, "rows", TRUE)
}

# The number of the column of the response to draw; NULL where there is one.
drawn_column <- function(x, output) {
  if (is.null(x$columns)) {
    if (!is.null(output)) stop_argument("`output` is for a response of several columns; leave it out", "output")
    return(NULL)
  }
  if (is.null(output)) {
    stop_argument(sprintf("the response has several columns; give one as `output`: %s",
                          enumerate(x$columns, quote = "\"")), "output")
  }
  match(match_name(output, x$columns, "output"), x$columns)
}

check_conformal_choice <- function(newdata, y, threads) {
  if (!is.null(newdata)) return(invisible())
  if (!is.null(y)) stop_argument("`y` is that of `newdata`, which is missing", "y")
  if (is.null(threads)) return(invisible())
  stop_argument("`threads` is for predictions of `newdata`, which is missing; leave it out", "threads")
}

# As curve_shown(): the bound by level, and where `level` has its own. Levels that the rows do not suffice for are left
# out.
conformal_levels <- function(x, level) {
  order <- order(x$scores, na.last = NA)
  scores <- x$scores[order]
  if (!any(is.finite(scores))) stop_argument("there is nothing to draw: no score is finite", "x")
  upto <- cumsum(if (is.null(x$weights)) rep(1, length(scores)) else x$weights[order])
  at <- upto / (upto[length(upto)] + 1)
  line <- thin_steps(at, scores)
  bound <- conformal_bounds(x, level, NULL, 1)
  mark <- if (is.finite(bound)) list(x = c(level, level, 0), y = c(min(0, scores[1L]), bound, bound))
  text <- sprintf("%s; level %s: %s", counted(x$n, "row"), format(level),
                  if (is.finite(bound)) format(bound, digits = 4L) else "more rows are needed")
  what <- switch(x$method, absolute = , cv = "half the width of intervals", scaled = "half the width by scale",
                 quantile = "what is added at both ends", distribution = "-log of the probability beyond an end",
                 threshold = "1 - least probability", "sum of probabilities")
  list(type = "steps", words = c("Conformal bound", "level", what), text = text, names = NULL,
       shapes = list(list(x = line$x, y = line$y, plain = mark, x_range = c(0, 1), y_range = range(0, scores))))
}

# A step at every score; of many an even choice.
thin_steps <- function(at, value) {
  keep <- even_choice(length(at), 2000L)
  at <- at[keep]
  n <- length(at)
  list(x = c(0, rep(at[-n], each = 2L), at[n]), y = rep(value[keep], each = 2L))
}

# Intervals: list(estimate, lower, upper, observed or NULL, text), ascending by estimate; sets: list(label, rows, text).
# column: number of a column of the response, of which rows without a value are left out, or NULL.
conformal_rows <- function(x, newdata, y, level, threads, column = NULL) {
  pred <- stats::predict(x, newdata, level = level, threads = threads)
  if (!is.null(column)) pred <- pred[[column]]
  n <- nrow(pred)
  if (n == 0L) stop_data("the data have no rows", "newdata")
  label <- if (!is.null(y) || has_response(x$models[[1L]], newdata)) given_labels(x$models[[1L]], newdata, y, n)
  if (!is.null(column) && !is.null(label)) {
    label <- matrix_of_label(label)[, column]
    pred <- lapply(pred, `[`, !is.na(label))
    label <- label[!is.na(label)]
    n <- length(label)
    if (n == 0L) stop_data(sprintf("column `%s` is missing in all rows of `newdata`", x$columns[column]), "newdata")
  }
  said <- function(inside) {
    if (is.null(label)) return(NULL)
    sprintf("%s %% of observed values inside", format(100 * mean(inside), digits = 3L))
  }
  level <- paste("level", format(level))
  if (gives_sets(x)) {
    size <- rowSums(pred)
    rows <- tabulate(size, ncol(pred))
    inside <- if (!is.null(label)) pred[cbind(seq_len(n), label + 1)]
    return(list(label = paste(seq_along(rows), ifelse(seq_along(rows) == 1L, "class", "classes")), rows = rows,
                text = paste(c(counted(n, "row"), level, said(inside)), collapse = "; ")))
  }
  inside <- if (!is.null(label)) label >= pred$lower & label <= pred$upper
  order <- order(pred$estimate)
  c(lapply(pred, `[`, order), list(observed = label[order]),
    text = paste(c(counted(n, "row"), level, said(inside)), collapse = "; "))
}

most_intervals <- 300L # more lie over one another

# Intervals by estimate: of many rows an even choice.
intervals_figure <- function(shown, given) {
  col <- rep_len(check_colours(given_or(given[["col"]], c(ink$band, ink$mark))), 2L)
  seen <- !is.null(shown$observed)
  key <- list(label = c("interval", "estimate", if (seen) "observed"), kind = c("line", "point", if (seen) "point"),
              col = c(transparent(col[1L], 0.4), col[1L], if (seen) col[2L]), lwd = 3)
  n <- length(shown$estimate)
  at <- even_choice(n, most_intervals)
  v <- lapply(shown[c("estimate", "lower", "upper", "observed")], `[`, at)
  x <- make_scale(c(0.5, n + 0.5), given_or(given[["xlab"]], "rows by estimate"), given[["xlim"]], extend = 0.01,
                  whole = TRUE)
  y <- make_scale(unlist(v), given_or(given[["ylab"]], "response"), given[["ylim"]], extend = 0.04)
  thick <- max(0.6, min(5, 250 / length(at)))
  dot <- function(values, set) mark("point", at, values, set = set, cex = min(0.8, 0.25 + thick / 6))
  marks <- list(mark("segment", at, pmax(v$lower, y$lim[1L]), at, pmin(v$upper, y$lim[2L]), set = 1L, lwd = thick),
                dot(v$estimate, 2L), if (seen) dot(v$observed, 3L))
  figure(given, "Conformal intervals", shown$text, x, y, list(panel(marks)), key,
         note = if (length(at) < n) sprintf("%d of %s drawn", length(at), counted(n, "interval")))
}

# Many rows: observed against estimate with the band of the intervals, and the shares inside by tenths of the estimate.
few_intervals <- 60L # fewer are drawn one by one
most_observed <- 2000L

# list(x, lower, upper) of the band: mean bounds of neighbouring rows, from the least estimate to the largest. shown:
# intervals ascending by estimate.
interval_band <- function(shown, k = 50L) {
  group <- row_groups(shown$estimate, k)
  mean_of <- function(v) as.vector(tapply(v, group, mean))
  middle <- mean_of(shown$estimate)
  ends <- c(1L, length(middle))
  x <- c(shown$estimate[1L], middle, shown$estimate[length(group)])
  bound <- function(v) {
    own <- mean_of(v)
    far <- x[c(1L, length(x))] - middle[ends]
    far[!is.finite(own[ends])] <- 0
    beyond <- pmin(pmax(own[ends] + far, min(v)), max(v))
    c(beyond[1L], own, beyond[2L])
  }
  list(x = x, lower = bound(shown$lower), upper = bound(shown$upper))
}

# The share of observed values inside, by tenths of the estimate, with its 95 % interval: list(at, share,
# lower, upper).
coverage_by_tenths <- function(shown) {
  group <- row_groups(shown$estimate, 10L)
  of <- function(v) as.vector(tapply(v, group, mean))
  n <- tabulate(group)
  p <- of(shown$observed >= shown$lower & shown$observed <= shown$upper)
  c(list(at = of(shown$estimate), share = p), wilson(p, n))
}

has_band <- function(shown) {
  length(shown$estimate) >= few_intervals && max(row_groups(shown$estimate, 10L)) > 4L
}

band_figure <- function(shown, level, given) {
  col <- rep_len(check_colours(given_or(given[["col"]], c(ink$band, ink$mark))), 2L)
  seen <- !is.null(shown$observed)
  key <- list(label = c("interval", "estimate", "observed inside", "observed outside", "share inside"),
              kind = c("box", "line", "point", "point", "both"), lwd = 2,
              col = c(transparent(col[1L], 0.25), col[1L], transparent(ink$soft, 0.5), col[2L], col[1L]),
              shown = c(TRUE, TRUE, seen, seen, FALSE))
  n <- length(shown$estimate)
  at <- if (seen) even_choice(n, most_observed)
  band <- interval_band(shown)
  x <- make_scale(shown$estimate, given_or(given[["xlab"]], "estimate"), given[["xlim"]])
  title <- given_or(given[["ylab"]], "response")
  y <- make_scale(c(unlist(band[-1L]), shown$estimate, shown$observed), title, given[["ylim"]], extend = 0.04)
  marks <- list(mark("area", band$x, pmax(band$lower, y$lim[1L]), yend = pmin(band$upper, y$lim[2L]), set = 1L),
                mark("line", range(shown$estimate), range(shown$estimate), set = 2L))
  panels <- list(panel(marks, y = y))
  if (seen) {
    inside <- shown$observed >= shown$lower & shown$observed <= shown$upper
    size <- max(0.35, min(0.8, 14 / sqrt(length(at))))
    dots <- mark("point", shown$estimate[at], shown$observed[at], set = ifelse(inside[at], 3L, 4L), cex = size)
    tenth <- coverage_by_tenths(shown)
    rates <- list(mark("rule", y = level, lty = 2, col = ink$soft),
                  mark("segment", tenth$at, tenth$lower, tenth$at, tenth$upper, set = 5L, lwd = 1),
                  mark("line", tenth$at, tenth$share, set = 5L), mark("point", tenth$at, tenth$share, set = 5L))
    share <- make_scale(c(level, tenth$lower, tenth$upper), "", extend = 0.05)
    marks <- c(list(marks[[1L]], dots), marks[2L])
    y$title <- ""
    panels <- list(panel(c(marks, vector("list", length(rates))), title, y = y),
                   panel(c(vector("list", length(marks)), rates), "share inside by tenth", y = share))
  }
  figure(given, "Conformal intervals", shown$text, x, list(kind = "number", log = FALSE, title = ""), panels, key,
         note = if (seen && length(at) < n) {
           sprintf("%s of %s drawn", with_commas(length(at)), counted(n, "observed value"))
         })
}
