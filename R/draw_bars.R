# Horizontal bars, or points with intervals, one for each label: importance, evaluations, SHAP.

# How many labels fit into some inches, and at which size: list(n, cex).
fit_rows <- function(page, n, inches) {
  smallest <- letter_size(page, 0)
  points <- graphics::par("ps") * graphics::par("cex")
  most <- max(1L, as.integer(floor(inches / (1.15 * smallest * points / 72))))
  shown <- min(n, most)
  list(n = shown, cex = max(smallest, min(letter_size(page, 0.85), inches / max(shown, 1) / (1.15 * points / 72))))
}

# bars: list(label, value, lower, upper (or NULL), col). mark: "bar" or "point". left_out(k): text for k that have no
# room. outer: box for everything. Bars run from `zero`.
draw_bars <- function(page, outer, bars, xlab, xlim = NULL, mark = "bar", zero = 0, left_out = NULL, border = NA,
                      labels = TRUE, values = FALSE) {
  line <- line_height(page, 0.8)
  below <- outer[3L] + 1.4 * line + (if (nzchar(xlab)) 1.1 * line else 0)
  fit <- fit_rows(page, length(bars$label), outer[4L] - below)
  note <- NULL
  if (fit$n < length(bars$label) && !is.null(left_out)) {
    foot <- 1.4 * line_height(page, 0.75)
    fit <- fit_rows(page, length(bars$label), outer[4L] - below - foot)
    note <- left_out(length(bars$label) - fit$n)
  }
  keep <- seq_len(fit$n)
  bars <- lapply(bars, function(v) if (is.null(v)) NULL else v[keep])
  bottom <- put_note(page, note, outer[1L], outer[3L], outer[2L])
  label <- if (labels) shorten(plain_text(bars$label), 0.42 * (outer[2L] - outer[1L]), fit$cex) else rep("", fit$n)
  scale <- make_scale(c(bars$value, bars$lower, bars$upper), xlab, xlim, zero = mark == "bar", extend = 0)
  if (is.null(xlim)) scale$lim <- bar_limits(scale$lim, mark, zero)
  y <- list(kind = "factor", levels = character(0), lim = c(0.4, max(fit$n, 4) + 0.6), log = FALSE, title = "")
  y$lim <- rev_limits(y$lim, fit$n)
  inner <- outer
  inner[1L] <- outer[1L] + max(text_width(label, fit$cex), 0) + 0.4 * line
  inner[3L] <- bottom
  box <- draw_panel(page, inner, scale, y, grid = "x")
  at <- rev(seq_len(fit$n)) # the first on top
  draw_marks(bars, at, mark, zero, border)
  if (mark == "bar" || (zero >= scale$lim[1L] && zero <= scale$lim[2L])) {
    graphics::segments(zero, y$lim[1L], zero, y$lim[2L], col = ink$axis)
  }
  if (labels) {
    x <- inch_in(box, scale$lim, y$lim)$left(0.25 * line)
    graphics::text(x, at, label, cex = fit$cex, adj = c(1, 0.45), col = ink$text, xpd = NA)
    record_text(x, at, label, fit$cex, c(1, 0.45), 1, 0, "bar label")
  }
  invisible(list(box = box, at = at, n = fit$n, lim = scale$lim))
}

# A few bars stand at the top of their panel, no thicker than four would be.
rev_limits <- function(lim, n) if (n >= 4L) lim else c(n + 0.6 - 4.2, n + 0.6)

bar_limits <- function(lim, mark, zero) {
  if (mark == "bar") lim <- range(lim, zero)
  if (lim[1L] == lim[2L]) lim <- lim + if (mark == "bar") c(0, 1) else c(-0.5, 0.5) * max(abs(lim[1L]), 1)
  at <- pretty(lim, 5L)
  if (mark == "point") return(widen(lim, 0.04))
  wide <- widen(lim, 0.04)
  c(if (lim[1L] < zero) wide[1L] else zero, if (lim[2L] > zero) min(max(at), wide[2L]) else zero)
}

draw_marks <- function(bars, at, mark, zero, border) {
  ok <- is.finite(bars$value)
  col <- rep_len(bars$col, length(at))
  if (mark == "bar") {
    graphics::rect(zero, at - 0.36, ifelse(ok, bars$value, zero), at + 0.36, col = col, border = border, xpd = FALSE)
  }
  if (!is.null(bars$lower)) {
    line <- if (mark == "bar") ink$text else col
    graphics::segments(bars$lower, at, bars$upper, at, col = line, lwd = if (mark == "bar") 1.2 else 2, xpd = FALSE)
  }
  if (mark == "point") graphics::points(bars$value, at, pch = 19, col = col, xpd = FALSE)
}
