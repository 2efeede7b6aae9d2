# Colours. Those of series differ for people who see no red or no green, and neighbours differ in lightness, so that
# they are told apart in print without colour; lines have patterns as well from the fourth on.

ink <- list(text = "#222222", soft = "#666666", grid = "#E6E6E6", axis = "#8C8C8C", band = "#0072B2", mark = "#D55E00")

palette_colours <- c("#0072B2", "#E69F00", "#7A1F5C", "#56B4E9", "#004D40", "#CC79A7", "#5C4A1F", "#B2DF8A")

# n colours and line types for series, told apart by both.
series_style <- function(n, col = NULL, lty = NULL) {
  i <- seq_len(n)
  k <- length(palette_colours)
  list(col = if (is.null(col)) palette_colours[(i - 1L) %% k + 1L] else rep_len(check_colours(col), n),
       lty = if (is.null(lty)) c(1, 2, 4, 5)[((i - 1L) %/% 3L + (i - 1L) %/% k) %% 4L + 1L] else rep_len(lty, n))
}

transparent <- function(col, alpha) grDevices::adjustcolor(col, alpha)

# Colours of numbers from low (dark) to high (light): lightness grows throughout, so grey shows the order.
scale_colours <- function(n = 256L) grDevices::hcl.colors(n, "viridis")

# Colours of values on [low, high]; NA is grey. All values equal: the middle.
colours_of <- function(v, colours, low, high) {
  n <- length(colours)
  t <- if (high > low) (pmin(pmax(v, low), high) - low) / (high - low) else rep(0.5, length(v))
  out <- colours[1L + round(t * (n - 1L))]
  out[is.na(v)] <- "#BFBFBF"
  out
}

# Relative luminance as screens have it (WCAG), 0 to 1.
luminance <- function(col) {
  rgb <- grDevices::col2rgb(col) / 255
  linear <- ifelse(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  drop(c(0.2126, 0.7152, 0.0722) %*% linear)
}
