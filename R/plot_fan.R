# The fan of gbt_fan().

#' Draw a fan of quantiles
#'
#' Bands between pairs of levels, the lowest with the highest, the next with the next, and so on, darker towards the
#' middle; the middle level as a line; observed values as points, those outside of their own row's outer quantiles in
#' another colour. The bands are means of groups of rows.
#' The subtitle has the share of observed values between the outer levels.
#'
#' @param x The result of [gbt_fan()].
#' @param ... `main`, `sub`, `xlab`, `ylab`, `xlim`, `ylim`, `col` (of the bands and of points outside): see
#'   [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_fan()]
#' @examples
#' set.seed(1)
#' d <- data.frame(x = runif(500))
#' d$y <- d$x + rnorm(500) * (0.1 + d$x)
#' m <- gbt_train(y ~ x, d, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9), nrounds = 50,
#'                eta = 0.1, max_depth = 3, threads = 1)
#' plot(gbt_fan(m, d, "x", threads = 1))
#' @export
plot.gbt_fan <- function(x, ...) draw_figure(fan_figure(x, plot_dots(list(...), c("xlim", "ylim", "col"))), x)

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_fan <- function(object, ...) gg_figure(fan_figure(object), ...)

fan_figure <- function(shown, given = list()) {
  levels <- attr(shown, "levels")
  if (is.null(levels) || nrow(shown) == 0L) stop_argument("`x` has no rows of gbt_fan() to draw", "x")
  col <- two_colours(given, ", of the bands and of points outside")
  q <- as.matrix(as.data.frame(unclass(shown))[level_labels(levels)])
  seen <- attr(shown, "observed")
  k <- length(levels)
  pairs <- seq_len(k %/% 2L)
  middle <- which.min(abs(levels - 0.5))
  lined <- k %% 2L == 1L || levels[middle] == 0.5
  names <- sprintf("%s to %s", format_number(levels[pairs]), format_number(levels[k + 1L - pairs]))
  n <- length(pairs)
  key <- list(label = c(names, if (lined) format_number(levels[middle]), if (!is.null(seen)) c("observed", "outside")),
              kind = c(rep("box", n), if (lined) "line", if (!is.null(seen)) c("point", "point")), lwd = 2,
              col = c(vapply(pairs, function(i) transparent(col[1L], 0.15 + 0.3 * (i - 1) / n), ""), if (lined) col[1L],
                      if (!is.null(seen)) c(transparent(ink$soft, 0.5), col[2L])))
  at <- as.double(shown$x)
  if (length(at) == 1L) { # one group: a band needs two ends
    at <- at + c(-0.5, 0.5)
    q <- q[c(1L, 1L), , drop = FALSE]
  }
  drawn <- if (!is.null(seen)) even_choice(length(seen$y), most_observed)
  x <- make_scale(if (is.null(seen)) shown$x else seen$x, given_or(given[["xlab"]], attr(shown, "name")),
                  given[["xlim"]])
  if (nrow(shown) == 1L && is.null(seen)) x <- make_scale(at, x$title, given[["xlim"]])
  y <- make_scale(c(q, seen$y), given_or(given[["ylab"]], "response"), given[["ylim"]], extend = 0.04)
  bands <- lapply(pairs, function(i) {
    mark("area", at, pmax(q[, i], y$lim[1L]), yend = pmin(q[, k + 1L - i], y$lim[2L]), set = i)
  })
  dots <- if (!is.null(seen)) {
    value <- seen$y[drawn]
    place <- as.double(seen$x)[drawn]
    mark("point", place, value, set = n + lined + ifelse(seen$inside[drawn], 1L, 2L),
         cex = max(0.35, min(0.8, 14 / sqrt(length(drawn)))))
  }
  marks <- c(bands, list(dots), if (lined) list(mark("line", at, q[, middle], set = n + 1L)))
  share <- attr(shown, "inside")
  text <- paste(c(counted(sum(shown$rows), "row"), if (!is.null(share)) {
    sprintf("%s %% of observed values between levels %s and %s", format(100 * share, digits = 3L),
            format_number(levels[1L]), format_number(levels[k]))
  }), collapse = "; ")
  figure(given, "Quantiles", text, x, y, list(panel(marks)), key,
         note = if (!is.null(seen) && length(drawn) < length(seen$y)) {
           sprintf("%s of %s drawn", with_commas(length(drawn)), counted(length(seen$y), "observed value"))
         })
}
