# Curves of gbt_curve().

#' Draw a curve of predictions
#'
#' The area stands below the title; a dashed line is what predictions without knowledge (`"roc"`, `"pr"`, `"gains"`,
#' `"lift"`) or perfectly calibrated ones have. Of several predictions there is a line for each; for `"lift"` the
#' cumulative one.
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
  given <- plot_dots(list(...), c("xlim", "ylim", "col", "lty", "lwd"))
  shown <- curve_shown(x)
  draw_page(title = given_or(given[["main"]], shown$words[1L]), subtitle = given_or(given[["sub"]], shown$text),
            body = function(page) draw_curve(page, x, shown, given))
  invisible(x)
}

# list(type, words, text = subtitle or NULL, shapes = list of curve_shape() by prediction, names = of them, or NULL).
curve_shown <- function(x) {
  type <- curve_type(x)
  if (is.na(type) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_curve() to draw", "x")
  parts <- list(as.data.frame(unclass(x)))
  if (!is.null(x$model)) parts <- split(parts[[1L]], factor(x$model, unique(as.character(x$model))))
  area <- attr(x, "area")
  list(type = type, words = curve_words[[type]], text = if (!is.null(area)) paste("area", area_words(area, 4L)),
       shapes = lapply(parts, curve_shape, type = type), names = names(parts))
}

draw_curve <- function(page, x, shown, given) {
  shapes <- shown$shapes
  n <- length(shapes)
  bars <- shown$type == "lift" && n == 1L
  style <- series_style(n, given[["col"]], given[["lty"]])
  style$lwd <- rep_len(given_or(given[["lwd"]], 2), n)
  key <- if (bars) {
    list(label = c("bin", "cumulative"), col = c(transparent(style$col, 0.45), ink$mark), kind = c("box", "line"),
         lwd = 2)
  } else if (!is.null(shown$names)) {
    c(list(label = shown$names, kind = "line"), style)
  }
  outer <- inner(page)
  head <- title_height(page)
  if (length(key)) head <- head + outer[4L] - put_key(page, key, outer[1L], outer[4L], outer[2L], draw = FALSE)
  outer[4L] <- outer[4L] - head
  ranges <- function(name) unlist(lapply(shapes, `[[`, name))
  x_scale <- make_scale(ranges("x_range"), given_or(given[["xlab"]], shown$words[2L]), given[["xlim"]], extend = 0.02)
  what <- if (shown$type == "lift" && !bars) "cumulative lift" else shown$words[3L]
  y_scale <- make_scale(ranges("y_range"), given_or(given[["ylab"]], what), given[["ylim"]], extend = 0.03)
  box <- draw_panel(page, outer, x_scale, y_scale, box = user_box(page))
  if (bars) {
    graphics::rect(c(0, x$share[-nrow(x)]), 0, x$share, x$lift, col = key$col[1L], border = "white", xpd = FALSE)
    style$col <- ink$mark
  }
  plain <- plain_of(shapes)
  if (length(plain)) graphics::lines(plain$x, plain$y, lty = 2, col = ink$soft, xpd = FALSE)
  for (k in seq_len(n)) {
    graphics::lines(shapes[[k]]$x, shapes[[k]]$y, lwd = style$lwd[k], lty = style$lty[k], col = style$col[k],
                    xpd = FALSE)
    if (shown$type %in% c("calibration", "lift")) {
      graphics::points(shapes[[k]]$x, shapes[[k]]$y, pch = 19, col = style$col[k], xpd = FALSE)
    }
  }
  top <- put_titles(page, outer[1L], title_top(page, box, head), outer[2L])
  if (length(key)) put_key(page, key, outer[1L], top, outer[2L])
  restore_panel(page, box, x_scale, y_scale, NULL)
}

# The dashed line: from the least to the largest of those of all predictions.
plain_of <- function(shapes) {
  if (length(shapes) == 1L) return(shapes[[1L]]$plain)
  x <- range(unlist(lapply(shapes, function(s) s$plain$x)))
  y <- unlist(lapply(shapes, function(s) s$plain$y))
  list(x = x, y = range(y))
}

curve_words <- list(
  calibration = c("Calibration", "mean prediction", "mean observed"),
  lift = c("Lift", "share of rows, highest predictions first", "lift"),
  gains = c("Gains", "share of rows, highest predictions first", "share of the sum observed"),
  roc = c("ROC", "false positive rate", "true positive rate"),
  pr = c("Precision and recall", "recall", "precision")
)

# list(x, y = the line; plain = list(x, y), the dashed one; x_range, y_range).
curve_shape <- function(x, type) {
  unit <- c(0, 1)
  k <- nrow(x)
  switch(type,
    calibration = {
      both <- range(x$predicted, x$observed)
      list(x = x$predicted, y = x$observed, plain = list(x = both, y = both), x_range = x$predicted, y_range = both)
    },
    lift = list(x = x$share, y = x$cumulative, plain = list(x = unit, y = c(1, 1)), x_range = unit,
                y_range = c(0, x$lift, x$cumulative, 1)),
    gains = c(thin_line(x$share, x$gain), list(plain = list(x = unit, y = unit), x_range = unit, y_range = unit)),
    roc = c(thin_line(x$fpr, x$tpr), list(plain = list(x = unit, y = unit), x_range = unit, y_range = unit)),
    pr = c(thin_line(c(rbind(c(0, x$recall[-k]), x$recall)), rep(x$precision, each = 2L)),
           list(plain = list(x = unit, y = rep(x$precision[k], 2L)), x_range = unit, y_range = unit))
  )
}

# Points of a line in the unit square without those that nobody can see: of a run in one cell of 5,000 x 5,000 the first
# and the last.
thin_line <- function(x, y) {
  n <- length(x)
  cell <- floor(x * 5000) * 8192 + floor(y * 5000)
  new <- c(TRUE, cell[-1L] != cell[-n])
  keep <- new | c(new[-1L], TRUE)
  list(x = x[keep], y = y[keep])
}
