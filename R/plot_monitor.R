# Drift: the index of all columns, or the bins of one.

#' Draw drift
#'
#' Without `name` a point for each score and column of [gbt_monitor()] at its PSI, with thin lines up to what chance
#' alone may give, and dashed lines at the customary limits. What is beyond 1 stands at the end of the axis with its
#' number. With `name` the share of rows in each of its bins, of the
#' reference and of the new rows.
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
  if (!is.null(name)) {
    draw_monitor_bins(monitor_bins(x, name), given)
    return(invisible(x))
  }
  shown <- monitor_shown(x, top)
  col <- check_colours(given_or(given[["col"]], drift_colours()))
  if (length(col) != 3L) stop_argument("`col` must be three colours: of no, some and large drift", "col")
  key <- list(label = c(drift_words, "by chance"), col = c(col, ink$axis), kind = c(rep("point", 3L), "line"), lwd = 1)
  draw_page(title = given_or(given[["main"]], "Drift"), subtitle = given_or(given[["sub"]], shown$text),
            body = function(page) {
    outer <- inner(page)
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    outer[4L] <- put_key(page, key, outer[1L], outer[4L], outer[2L])
    lim <- given_or(given[["xlim"]], c(-0.02, 1.04) * min(max(shown$psi, shown$noise, drift_limits), most_drift))
    bars <- list(label = shown$name, value = rep(NA_real_, length(shown$psi)), col = "black")
    drawn <- draw_bars(page, outer, bars, given_or(given[["xlab"]], "population stability index"), lim, "point",
                       left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "further column")))
    high <- graphics::par("usr")[3:4]
    graphics::segments(drift_limits, high[1L], drift_limits, high[2L], lty = 2, col = ink$soft)
    keep <- seq_len(drawn$n)
    graphics::segments(0, drawn$at, shown$noise[keep], drawn$at, col = ink$axis, xpd = FALSE)
    beyond <- which(shown$psi[keep] > lim[2L])
    at <- pmin(shown$psi[keep], lim[2L] - 0.01 * diff(lim))
    graphics::points(at, drawn$at, pch = ifelse(shown$psi[keep] > lim[2L], 8, 19),
                     col = col[as.integer(shown$drift[keep])], xpd = FALSE)
    put_text(page, at[beyond] - 0.02 * diff(lim), drawn$at[beyond], number_label(shown$psi[beyond]), 0.75, c(1, 0.45),
             what = "beyond")
  })
  invisible(x)
}

check_monitor_choice <- function(name, top_given) {
  if (is.null(name) || !top_given) return(invisible())
  stop_argument("`top` is of the plot of all columns; `name` draws the bins of one", "top")
}

most_drift <- 1 # where the axis ends; what is beyond stands at its end as a number

drift_words <- c("no drift", "some drift", "large drift")
drift_colours <- function() c(ink$band, palette_colours[2L], ink$mark)

# list(name, psi, noise, drift, text).
monitor_shown <- function(x, top) {
  top <- check_whole(top, "top", 1)
  rows <- attr(x, "rows")
  x <- as.list(unclass(x))
  if (length(x$psi) == 0L || is.null(x$drift)) stop_argument("`x` has no rows of gbt_monitor() to draw", "x")
  keep <- seq_len(min(top, length(x$psi)))
  text <- if (!is.null(rows)) {
    sprintf("%s against %.0f of the reference", counted(rows[["new"]], "new row"), rows[["reference"]])
  }
  c(lapply(x[c("name", "psi", "noise", "drift")], `[`, keep), list(text = text))
}

# The bins of a column: list(label, reference, new = shares, name, psi). Bins that are empty on both sides are left out.
monitor_bins <- function(x, name) {
  bins <- attr(x, "bins")
  if (length(bins) == 0L) stop_argument("`x` has no bins of gbt_monitor() to draw", "x")
  name <- match_choice(name, names(bins), "name")
  b <- bins[[name]]
  use <- b$reference > 0 | b$new > 0
  list(label = b$label[use], reference = (b$reference / sum(b$reference))[use], new = (b$new / sum(b$new))[use],
       name = name, psi = stability_index(b$reference, b$new))
}

draw_monitor_bins <- function(shown, given) {
  col <- check_colours(given_or(given[["col"]], c(ink$band, ink$mark)))
  if (length(col) != 2L) stop_argument("`col` must be two colours: of the reference and of new rows", "col")
  key <- list(label = c("reference", "new rows"), col = col, kind = "box")
  n <- length(shown$label)
  lim <- given_or(given[["xlim"]], bar_limits(range(0, shown$reference, shown$new), "bar", 0))
  draw_page(title = given_or(given[["main"]], paste("Drift of", shown$name)),
            subtitle = given_or(given[["sub"]], sprintf("PSI %s", number_label(shown$psi))), body = function(page) {
    outer <- inner(page)
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    outer[4L] <- put_key(page, key, outer[1L], outer[4L], outer[2L])
    bars <- list(label = shown$label, value = rep(NA_real_, n), col = "black")
    drawn <- draw_bars(page, outer, bars, given_or(given[["xlab"]], "share of rows"), lim, "point",
                       left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "further bin")))
    keep <- seq_len(drawn$n)
    for (side in 1:2) {
      value <- shown[[c("reference", "new")[side]]][keep]
      edge <- drawn$at + c(0.38, 0)[side]
      graphics::rect(0, edge - 0.38, value, edge, col = col[side], border = NA, xpd = FALSE)
    }
  })
}
