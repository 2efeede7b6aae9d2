# Calibrated probabilities, and conformal intervals and sets.

#' Draw a calibration
#'
#' What [gbt_calibrate()] makes of the model's probabilities: a line for each class, and dashed the one that would
#' change nothing.
#'
#' @param x The result of [gbt_calibrate()].
#' @param output Names of the classes to draw; all when left out. Of two classes the second is drawn.
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
  labels <- class_labels(x$model)
  two <- length(x$maps) == 1L
  names <- if (two) labels[2L] else labels
  outputs <- shown_outputs(output, names)
  shapes <- lapply(x$maps[match(outputs, names)], function(map) {
    p <- sort(unique(c(seq(0, 1, 1 / 256), map$p)))
    list(x = p, y = mapped(map, p), plain = list(x = c(0, 1), y = c(0, 1)), x_range = c(0, 1), y_range = c(0, 1))
  })
  loss <- vapply(x$log_loss[c("before", "after")], format, "", digits = 4L)
  to <- if (two) sprintf("probability of %s", labels[2L]) else "probability of the class"
  list(type = "map", words = c("Calibration", paste0(to, ", by the model"), paste0(to, ", calibrated")),
       text = sprintf("%s; log loss %s, before %s", x$method, loss[2L], loss[1L]), shapes = shapes,
       names = if (!two) outputs)
}

#' Draw conformal intervals and sets
#'
#' Without `newdata` the bound of the scores for every level: how wide intervals, or how large sets, must be to hold the
#' response with that probability. With `newdata` the intervals of its rows, those of low estimates first, or how many
#' of its rows have sets of one class, of two and so on. With `y` the observed values are drawn as well, and the
#' subtitle gives the share of them inside the intervals or sets (the coverage). New rows weigh 1 where rows for
#' calibration have weights.
#'
#' @param x The result of [gbt_conformal()].
#' @param newdata Rows to predict, see [predict()][predict.gbt_conformal].
#' @param y What was observed in these rows; a formula's response is found in `newdata`.
#' @param level The probability with which intervals or sets are to hold the response.
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
plot.gbt_conformal <- function(x, newdata = NULL, y = NULL, level = 0.9, threads = NULL, ...) {
  bars <- !is.null(newdata) && gives_sets(x)
  given <- plot_dots(list(...), c("xlim", if (!bars) "ylim", "col"), c("xlab", if (!bars) "ylab"))
  draw_figure(conformal_figure(x, newdata, y, level, threads, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_conformal <- function(object, newdata = NULL, y = NULL, level = 0.9, threads = NULL, ...) {
  gg_figure(conformal_figure(object, newdata, y, level, threads), ...)
}

conformal_figure <- function(x, newdata, y, level, threads, given = list()) {
  level <- check_share(level)
  check_conformal_choice(newdata, y, threads)
  if (is.null(newdata)) return(curve_figure(conformal_levels(x, level), given))
  shown <- conformal_rows(x, newdata, y, level, threads)
  if (!gives_sets(x)) return(intervals_figure(shown, given))
  rows_figure(list(label = shown$label, value = shown$rows), given, "Conformal sets", shown$text, "rows", TRUE)
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
                 quantile = "what is added at both ends", threshold = "1 - least probability", "sum of probabilities")
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
conformal_rows <- function(x, newdata, y, level, threads) {
  pred <- stats::predict(x, newdata, level = level, threads = threads)
  n <- nrow(pred)
  if (n == 0L) stop_data("the data have no rows", "newdata")
  label <- if (!is.null(y) || has_response(x$models[[1L]], newdata)) given_labels(x$models[[1L]], newdata, y, n)
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

has_response <- function(model, data) {
  if (is.null(model$formula) || !is.data.frame(data)) return(FALSE)
  all(all.vars(parse_formula(model$formula)[[2L]]) %in% names(data))
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
