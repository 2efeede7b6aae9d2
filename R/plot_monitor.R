# Drift: the index of all columns, or the bins of one.

#' Draw drift
#'
#' Without `name`, draws a point for each score and column of [gbt_monitor()] at its PSI. Thin lines go up to the PSI
#' that chance can cause, and dashed lines are at the customary limits. A PSI above 1 is drawn at the end of the axis
#' with its number. With `name` the share of rows in each bin of that column, for the reference and for the new rows.
#'
#' @param x The result of [gbt_monitor()].
#' @param name The name of a column or score.
#' @param top Most columns; without `name`.
#' @param ... `main`, `sub`, `xlab`, `xlim`; `col`: of points three colours, for no, some and large drift; with `name`
#'   two, of the reference and of new rows.
#' @return `x`, invisibly.
#' @seealso [gbt_monitor()]; [plot.gbt()] about all plots
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars[1:20, ], nrounds = 5, threads = 1)
#' drift <- gbt_monitor(m, mtcars[21:32, ], mtcars[1:20, ], bins = 4, threads = 1)
#' plot(drift)
#' plot(drift, "wt")
#' @export
plot.gbt_monitor <- function(x, name = NULL, top = 40L, ...) {
  given <- plot_dots(list(...), c("xlim", "col"), "xlab")
  check_monitor_choice(name, !missing(top))
  draw_figure(monitor_figure(x, name, top, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_monitor <- function(object, name = NULL, top = 40L, ...) {
  check_monitor_choice(name, !missing(top))
  gg_figure(monitor_figure(object, name, top), ...)
}

check_monitor_choice <- function(name, top_given) {
  if (is.null(name) || !top_given) return(invisible())
  stop_argument(paste("`top` cannot be combined with `name`, which draws the bins of one column; leave one of them",
                      "out"), "top")
}

most_drift <- 1 # where the axis ends; what is beyond is at its end as a number

monitor_figure <- function(x, name, top, given = list()) {
  if (!is.null(name)) return(monitor_bins_figure(monitor_bins(x, name), given))
  shown <- monitor_shown(x, top)
  col <- check_colours(given_or(given[["col"]], c(ink$band, palette_colours[2L], ink$mark)))
  if (length(col) != 3L) stop_argument("`col` must be three colours: of no, some and large drift", "col")
  key <- list(label = c("no drift", "some drift", "large drift", "by chance"), col = c(col, ink$axis),
              kind = c(rep("point", 3L), "line"), lwd = 1)
  end <- min(max(shown$psi, shown$noise, drift_limits), most_drift)
  x <- make_scale(c(0, end), given_or(given[["xlab"]], "population stability index"),
                  given_or(given[["xlim"]], c(-0.02, 1.04) * end))
  at <- seq_along(shown$psi)
  beyond <- which(shown$psi > x$lim[2L])
  last <- x$lim[2L] - 0.01 * diff(x$lim)
  marks <- list(mark("rule", drift_limits, lty = 2, col = ink$soft), zero_rule(),
                mark("segment", 0, at, pmin(shown$noise, x$lim[2L]), at, set = 4L),
                mark("point", pmin(shown$psi, last), at, set = as.integer(shown$drift),
                     pch = ifelse(at %in% beyond, 8, 19)),
                mark("text", rep(last - 0.025 * diff(x$lim), length(beyond)), beyond,
                     label = number_label(shown$psi[beyond]), role = "beyond"))
  figure(given, "Drift", shown$text, x, rows_scale, list(panel(marks, rows = shown$name)), key,
         noun = "further column")
}

# list(name, psi, noise, drift, text).
monitor_shown <- function(x, top) {
  top <- check_whole(top, "top", 1)
  rows <- attr(x, "rows")
  x <- as.list(unclass(x))
  if (length(x$psi) == 0L || is.null(x$drift)) stop_argument("`x` has no rows of gbt_monitor() to draw", "x")
  keep <- seq_len(min(top, length(x$psi)))
  text <- if (!is.null(rows)) {
    sprintf("%s against %s of the reference", counted(rows[["new"]], "new row"), with_commas(rows[["reference"]]))
  }
  c(lapply(x[c("name", "psi", "noise", "drift")], `[`, keep), list(text = text))
}

# The bins of a column: list(label, reference, new = shares, name, psi). Bins that are empty on both sides are left out.
monitor_bins <- function(x, name) {
  bins <- attr(x, "bins")
  if (length(bins) == 0L) stop_argument("`x` has no bins of gbt_monitor() to draw", "x")
  name <- match_name(name, names(bins), "name")
  b <- bins[[name]]
  use <- b$reference > 0 | b$new > 0
  list(label = b$label[use], reference = (b$reference / sum(b$reference))[use], new = (b$new / sum(b$new))[use],
       name = name, psi = stability_index(b$reference, b$new))
}

monitor_bins_figure <- function(shown, given) {
  col <- two_colours(given, ": of the reference and of new rows")
  at <- seq_along(shown$label)
  x <- bar_scale(c(shown$reference, shown$new), given_or(given[["xlab"]], "share of rows"), given[["xlim"]])
  marks <- list(bar_mark(shown$reference, at = at - 0.19, half = 0.19, set = 1L),
                bar_mark(shown$new, at = at + 0.19, half = 0.19, set = 2L), zero_rule())
  figure(given, paste("Drift of", shown$name), sprintf("PSI %s", number_label(shown$psi)), x, rows_scale,
         list(panel(marks, rows = shown$label)), list(label = c("reference", "new rows"), col = col, kind = "box"),
         noun = "further bin")
}
