# Scales: what an axis is about, where its ticks are and their labels. Without a device.
#
# scale: list(lim = two numbers, range = of the values, kind = "number", "date", "time", "factor" or "rows", log,
# levels, tz, title, whole = only whole numbers have ticks)

# The scale for values. lim: the user's limits. extend: share of the range that is added to either side.
make_scale <- function(values, title = "", lim = NULL, log = FALSE, extend = 0.03, whole = FALSE) {
  kind <- if (is.factor(values) || is.character(values) || is.logical(values)) "factor"
  else if (inherits(values, "Date")) "date" else if (inherits(values, "POSIXt")) "time" else "number"
  scale <- list(kind = kind, log = log, title = title, tz = attr(values, "tzone"), whole = whole)
  if (kind == "factor") {
    scale$levels <- if (is.factor(values)) levels(values) else sort(unique(as.character(values)))
    scale$lim <- c(0.4, max(1, length(scale$levels)) + 0.6)
    return(scale)
  }
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  v <- as.double(unclass(values))
  v <- v[is.finite(v) & (!log | v > 0)]
  scale$range <- if (length(v)) range(v) else if (log) c(1, 10) else c(0, 1)
  if (log && any(lim <= 0)) stop_argument("limits of a logarithmic axis must be above 0")
  scale$lim <- given_or(lim, widen(scale$range, extend, log))
  scale
}

# The vertical scale of what lies within the horizontal limits. at: where the values are.
visible_scale <- function(at, values, x, title, lim = NULL, log = FALSE, extend = 0.05) {
  seen <- rep_len(at >= x$lim[1L] & at <= x$lim[2L], length(values))
  make_scale(as.double(values[seen]), title, lim, log, extend)
}

# The horizontal scale of bars, which begin at 0, or of points.
bar_scale <- function(values, title = "", lim = NULL, bars = TRUE) {
  scale <- make_scale(if (bars) c(0, as.double(values)) else as.double(values), title, lim)
  if (is.null(lim)) scale$lim <- bar_limits(scale$range, bars)
  scale
}

bar_limits <- function(lim, bars) {
  if (bars && lim[1L] == lim[2L]) lim <- lim + c(0, 1)
  wide <- widen(lim, 0.04)
  if (!bars) return(wide)
  c(if (lim[1L] < 0) wide[1L] else 0, if (lim[2L] > 0) min(max(pretty(lim, 5L)), wide[2L]) else 0)
}

rows_scale <- list(kind = "rows", log = FALSE, title = "")

# A range with room at both ends; a single value gets a range around it.
widen <- function(r, extend = 0.03, log = FALSE) {
  if (log) return(exp(widen(log(r), extend)))
  far <- r[2L] - r[1L]
  if (!is.finite(far)) return(r / 2) # larger than numbers go
  if (far <= abs(r[2L]) * 1e-12) {
    far <- if (r[1L] == 0) 1 else abs(r[1L]) * 0.2
    return(r + c(-0.5, 0.5) * far)
  }
  r + c(-1, 1) * extend * far
}

# list(at, label) of about n ticks.
scale_ticks <- function(scale, n = 5L) {
  lim <- scale$lim
  if (scale$kind == "factor") return(list(at = seq_along(scale$levels), label = plain_text(scale$levels)))
  label <- NULL
  if (scale$kind == "number") {
    at <- if (scale$log) log_ticks(lim, n) else pretty(lim, n)
    if (isTRUE(scale$whole)) at <- at[at == round(at)]
  } else {
    times <- if (scale$kind == "date") structure(lim, class = "Date") else
      structure(lim, class = c("POSIXct", "POSIXt"), tzone = given_or(scale$tz, "UTC"))
    at <- try_else(pretty(times, n), function(e) times)
    label <- given_or(attr(at, "labels"), format(at))
  }
  at <- as.double(at)
  inside <- at >= lim[1L] - 1e-9 * diff(lim) & at <= lim[2L] + 1e-9 * diff(lim)
  at <- at[inside]
  if (!is.null(label)) return(list(at = at, label = label[inside]))
  list(at = at, label = if (scale$log) vapply(at, tick_labels, "") else tick_labels(at))
}

# Of 1, 2, 5, of 1, 3 or of 1 times the powers of ten, about n.
log_ticks <- function(lim, n) {
  tens <- 10^seq(floor(log10(lim[1L])), ceiling(log10(lim[2L])))
  for (steps in list(c(1, 2, 5), c(1, 3), 1)) {
    at <- as.vector(outer(steps, tens))
    at <- at[at >= lim[1L] * (1 - 1e-9) & at <= lim[2L] * (1 + 1e-9)]
    if (length(at) <= n + 1) break
  }
  if (length(at) > n + 1) at <- at[seq(1L, length(at), by = ceiling(length(at) / n))]
  if (length(at) >= 2L) at else pretty(lim, n)
}

tick_labels <- function(at) {
  if (length(at) == 0L) return(character(0))
  at[abs(at) < 1e-12 * max(abs(at))] <- 0
  large <- max(abs(at))
  if (large >= 1e7 || (large > 0 && large < 1e-4)) return(vapply(at, function(v) format(v, digits = 4L), ""))
  if (max(at) / max(min(at[at > 0], Inf), 1e-300) > 1e3) { # logarithmic: each by itself
    return(vapply(at, function(v) format(v, digits = 4L, scientific = 6, big.mark = ","), ""))
  }
  trimws(format(at, digits = 7L, scientific = FALSE, big.mark = if (large >= 1e4) "," else ""))
}

# The position of values between the limits: 0 at the first one, 1 at the second; and back.
share_of_axis <- function(at, scale) {
  if (scale$log) log(at / scale$lim[1L]) / log(scale$lim[2L] / scale$lim[1L])
  else (at - scale$lim[1L]) / diff(scale$lim)
}
axis_at <- function(share, scale) {
  if (scale$log) scale$lim[1L] * (scale$lim[2L] / scale$lim[1L])^share else scale$lim[1L] + share * diff(scale$lim)
}

# A column of numbers or times as the axis has it: dates and times keep their class.
axis_values <- function(v) {
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  if (inherits(v, c("Date", "POSIXct")) || is_level(v)) v else order_numbers(v)
}
