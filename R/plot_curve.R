# Curves of gbt_curve().

#' Draw a curve of predictions
#'
#' The area stands below the title; a dashed line is what predictions without knowledge (`"roc"`, `"pr"`, `"gains"`,
#' `"lift"`) or perfectly calibrated ones have.
#'
#' @param x The result of [gbt_curve()].
#' @param ... `main`, `sub`, `xlab`, `ylab`, `xlim`, `ylim`, `col`, `lwd`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_curve()]
#' @examples
#' set.seed(1)
#' score <- runif(200)
#' hit <- runif(200) < score
#' plot(gbt_curve(hit, score, "gains"))
#' plot(gbt_curve(hit, score, "lift", bins = 5))
#' @export
plot.gbt_curve <- function(x, ...) {
  given <- plot_dots(list(...), c("xlim", "ylim", "col", "lwd"))
  col <- check_colours(given_or(given[["col"]], ink$band))[1L]
  type <- curve_type(x)
  if (is.na(type) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_curve() to draw", "x")
  words <- curve_words[[type]]
  area <- attr(x, "area")
  sub <- if (!is.null(area)) sprintf("area %s", format(area, digits = 4L))
  draw_page(title = given_or(given[["main"]], words[1L]), subtitle = given_or(given[["sub"]], sub),
            body = function(page) draw_curve(page, x, type, given, col))
  invisible(x)
}

draw_curve <- function(page, x, type, given, col) {
  shape <- curve_shape(x, type)
  words <- curve_words[[type]]
  lift <- type == "lift"
  outer <- inner(page)
  head <- title_height(page)
  key <- if (lift) {
    list(label = c("bin", "cumulative"), col = c(transparent(col, 0.45), ink$mark), kind = c("box", "line"), lwd = 2)
  }
  if (lift) head <- head + outer[4L] - put_key(page, key, outer[1L], outer[4L], outer[2L], draw = FALSE)
  outer[4L] <- outer[4L] - head
  x_scale <- make_scale(shape$x_range, given_or(given[["xlab"]], words[2L]), given[["xlim"]], extend = 0.02)
  y_scale <- make_scale(shape$y_range, given_or(given[["ylab"]], words[3L]), given[["ylim"]], extend = 0.03)
  box <- draw_panel(page, outer, x_scale, y_scale, box = user_box(page))
  if (lift) {
    graphics::rect(c(0, x$share[-nrow(x)]), 0, x$share, x$lift, col = key$col[1L], border = "white", xpd = FALSE)
    col <- ink$mark
  }
  graphics::lines(shape$plain$x, shape$plain$y, lty = 2, col = ink$soft, xpd = FALSE)
  graphics::lines(shape$x, shape$y, lwd = given_or(given[["lwd"]], 2), col = col, xpd = FALSE)
  if (type %in% c("calibration", "lift")) graphics::points(shape$x, shape$y, pch = 19, col = col, xpd = FALSE)
  top <- put_titles(page, outer[1L], title_top(page, box, head), outer[2L])
  if (lift) put_key(page, key, outer[1L], top, outer[2L])
  restore_panel(page, box, x_scale, y_scale, NULL)
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
