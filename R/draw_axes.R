# Axes: what is on them (a scale), where ticks stand and what they are called, and the thin grid.
#
# scale: list(lim = two numbers, kind = "number" | "date" | "time" | "factor", log = logical, levels, tz, title)

# The scale for values. lim: the user's limits. extend: share of the range that is added to either side.
make_scale <- function(values, title = "", lim = NULL, log = FALSE, extend = 0.03, zero = FALSE) {
  kind <- if (is.factor(values) || is.character(values) || is.logical(values)) "factor"
  else if (inherits(values, "Date")) "date" else if (inherits(values, "POSIXt")) "time" else "number"
  scale <- list(kind = kind, log = log, title = title, tz = attr(values, "tzone"))
  if (kind == "factor") {
    scale$levels <- if (is.factor(values)) levels(values) else sort(unique(as.character(values)))
    scale$lim <- c(0.4, max(1, length(scale$levels)) + 0.6)
    return(scale)
  }
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  v <- as.double(unclass(values))
  v <- v[is.finite(v) & (!log | v > 0)]
  if (is.null(lim)) {
    r <- if (length(v)) range(v) else if (log) c(1, 10) else c(0, 1)
    if (zero) r <- range(0, r)
    scale$lim <- widen(r, extend, log)
  } else {
    scale$lim <- lim
    if (log && any(lim <= 0)) stop_argument("limits of a logarithmic axis must be above 0")
  }
  scale
}

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
  if (scale$kind == "date") {
    at <- try_else(pretty(structure(lim, class = "Date"), n), function(e) structure(lim, class = "Date"))
    label <- given_or(attr(at, "labels"), format(at))
  } else if (scale$kind == "time") {
    at <- pretty(structure(lim, class = c("POSIXct", "POSIXt"), tzone = given_or(scale$tz, "UTC")), n)
    label <- given_or(attr(at, "labels"), format(at))
  } else {
    at <- if (scale$log) log_ticks(lim, n) else pretty(lim, n)
    label <- NULL
  }
  at <- as.double(at)
  inside <- at >= lim[1L] - 1e-9 * diff(lim) & at <= lim[2L] + 1e-9 * diff(lim)
  at <- at[inside]
  list(at = at, label = if (is.null(label)) tick_labels(at) else label[inside])
}

log_ticks <- function(lim, n) {
  at <- grDevices::axisTicks(log10(lim), log = TRUE, nint = n)
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

# Ticks of a horizontal axis of some inches, as many as have room.
x_ticks <- function(page, scale, inches, cex = 0.8) {
  size <- letter_size(page, cex)
  gap <- text_width("00", size)
  if (scale$kind == "factor") return(factor_ticks(page, scale, inches, size, gap))
  for (n in c(8, 6, 5, 4, 3, 2, 1)) {
    ticks <- scale_ticks(scale, n)
    at <- axis_inches(ticks$at, scale, inches)
    half <- text_width(ticks$label, size) / 2
    k <- length(at)
    if (k < 2L || all(at[-1L] - half[-1L] - (at[-k] + half[-k]) > gap)) return(c(ticks, list(turned = FALSE)))
  }
  keep <- c(1L, length(ticks$at)) # both ends are better than none
  if (length(ticks$at) > 2L) ticks <- list(at = ticks$at[keep], label = ticks$label[keep])
  k <- length(ticks$at)
  if (k == 2L && diff(axis_inches(ticks$at, scale, inches)) < sum(text_width(ticks$label, size)) / 2 + gap) {
    ticks <- list(at = ticks$at[1L], label = ticks$label[1L])
  }
  c(ticks, list(turned = FALSE))
}

# Levels: side by side, else turned, else every k-th.
factor_ticks <- function(page, scale, inches, size, gap) {
  label <- plain_text(scale$levels)
  step <- inches / diff(scale$lim)
  width <- text_width(label, size)
  at <- seq_along(label)
  k <- length(label)
  if (k < 2L || all((width[-1L] + width[-k]) / 2 + gap < step)) return(list(at = at, label = label, turned = FALSE))
  every <- max(1L, ceiling(1.1 * line_height(page, 0.8) / step))
  at <- at[seq(1L, k, by = every)]
  list(at = at, label = shorten(label[at], 0.3 * page$height, size), turned = TRUE, left_out = k - length(at))
}

# Ticks of a vertical axis.
y_ticks <- function(page, scale, inches, cex = 0.8) {
  size <- letter_size(page, cex)
  line <- line_height(page, cex)
  if (scale$kind == "factor") {
    label <- plain_text(scale$levels)
    if (length(label) == 0L) return(list(at = numeric(0), label = character(0)))
    every <- max(1L, ceiling(line / (inches / diff(scale$lim))))
    at <- seq(1L, length(label), by = every)
    return(list(at = at, label = shorten(label[at], 0.4 * page$width, size)))
  }
  ticks <- NULL
  for (n in c(7, 6, 5, 4, 3, 2, 1)) {
    ticks <- scale_ticks(scale, n)
    at <- axis_inches(ticks$at, scale, inches)
    if (length(at) < 2L || min(diff(at)) > 1.6 * line) break
  }
  ticks
}

# Inches from the beginning of an axis.
axis_inches <- function(at, scale, inches) {
  if (scale$log) inches * log(at / scale$lim[1L]) / log(scale$lim[2L] / scale$lim[1L])
  else inches * (at - scale$lim[1L]) / diff(scale$lim)
}

# A panel with axes. outer: the box that panel, labels and titles of axes lie in. Gives the panel's box. The title of
# the vertical axis stands above it, left-aligned, where it can be read. right: inches kept free beside the data.
# box: where the panel is to be, if that leaves room for the labels.
draw_panel <- function(page, outer, x, y, heading = NULL, right = 0, box = NULL, x_axis = TRUE, grid = c("y", "x"),
                       pretext = NULL) {
  line <- line_height(page, 0.8)
  size <- letter_size(page, 0.8)
  top <- outer[4L] - (if (length(heading)) line_height(page, 1.05) else 0) - (if (nzchar(y$title)) 1.4 * line else 0)
  tight <- is.null(box)
  bottom <- outer[3L] + if (x_axis) 1.4 * line + (if (nzchar(x$title)) 1.1 * line else 0) else 0.3 * line
  ticks_y <- y_ticks(page, y, top - bottom)
  need <- max(text_width(ticks_y$label, size), 0) + 0.7 * text_width("0", size)
  left <- outer[1L] + need
  ticks_x <- x_ticks(page, x, outer[2L] - left - right)
  if (isTRUE(ticks_x$turned)) bottom <- bottom - 0.9 * line + max(text_width(ticks_x$label, size))
  if (!tight && (box[1L] < left - 1e-6 || box[3L] < bottom - 1e-6 || box[4L] > top + 1e-6)) tight <- TRUE
  if (tight) {
    ends <- max(0, text_width(ticks_x$label[length(ticks_x$label)], size) / 2 - right)
    box <- c(left, outer[2L] - ends - 0.02, bottom, top)
  }
  log <- log_letters(x, y)
  xlim <- x$lim
  if (right > 0) xlim[2L] <- beyond(xlim, (box[2L] - box[1L]) / max(box[2L] - box[1L] - right, 0.2), x$log)
  set_panel(page, box, xlim, y$lim, log)
  inside <- box[2L] - box[1L] - right
  if (!isTRUE(ticks_x$turned)) ticks_x <- x_ticks(page, x, inside)
  ticks_y <- y_ticks(page, y, box[4L] - box[3L])
  draw_grid(x, y, ticks_x, ticks_y, grid)
  inch <- inch_in(box, xlim, y$lim, x$log, y$log)
  put_text(page, inch$left(0.6 * text_width("0", size)), ticks_y$at, ticks_y$label, 0.8, c(1, 0.4), ink$soft,
           what = "y tick")
  if (x_axis) {
    graphics::segments(x$lim[1L], y$lim[1L], x$lim[2L], y$lim[1L], col = ink$axis, xpd = NA)
    if (isTRUE(ticks_x$turned)) {
      put_text(page, ticks_x$at, inch$below(0.3 * line), ticks_x$label, 0.8, c(1, 0.5), ink$soft, srt = 90,
               what = "x tick")
    } else {
      put_text(page, ticks_x$at, inch$below(0.3 * line), ticks_x$label, 0.8, c(0.5, 1), ink$soft, what = "x tick")
    }
    if (nzchar(x$title)) {
      deep <- 1.4 * line + (if (isTRUE(ticks_x$turned)) max(text_width(ticks_x$label, size)) - 0.9 * line else 0)
      put_text(page, middle_of(x$lim, x$log), inch$below(deep), shorten(plain_text(x$title), inside + left / 2, size),
               0.8, c(0.5, 1), ink$text, what = "x title")
    }
  }
  if (nzchar(y$title)) {
    put_text(page, inch$left(box[1L] - min(outer[1L], left)), inch$above(0.62 * line),
             shorten(plain_text(y$title), box[2L] - outer[1L], size), 0.8, c(0, 0), ink$text, what = "y title")
  }
  if (length(heading)) {
    up <- if (nzchar(y$title)) 1.75 * line else 0.62 * line
    put_text(page, inch$left(box[1L] - min(outer[1L], left)), inch$above(up),
             shorten(plain_text(heading), box[2L] - outer[1L], letter_size(page, 0.9), 2), 0.9, c(0, 0), font = 2,
             what = "heading")
  }
  box
}

log_letters <- function(x, y) paste0(if (x$log) "x" else "", if (y$log) "y" else "")

middle_of <- function(lim, log) if (log) sqrt(lim[1L] * lim[2L]) else mean(lim)

# The upper limit of an axis that is `times` as long.
beyond <- function(lim, times, log) {
  if (log) lim[1L] * (lim[2L] / lim[1L])^times else lim[1L] + times * diff(lim)
}

# Coordinates that are some inches outside of the panel's edges.
inch_in <- function(box, xlim, ylim, xlog = FALSE, ylog = FALSE) {
  along <- function(lim, log, share) if (log) lim[1L] * (lim[2L] / lim[1L])^share else lim[1L] + share * diff(lim)
  width <- box[2L] - box[1L]
  height <- box[4L] - box[3L]
  list(left = function(d) along(xlim, xlog, -d / width), right = function(d) along(xlim, xlog, 1 + d / width),
       below = function(d) along(ylim, ylog, -d / height), above = function(d) along(ylim, ylog, 1 + d / height))
}

draw_grid <- function(x, y, ticks_x, ticks_y, grid) {
  if ("y" %in% grid && length(ticks_y$at)) {
    graphics::segments(x$lim[1L], ticks_y$at, x$lim[2L], ticks_y$at, col = ink$grid, lwd = 0.8)
  }
  if ("x" %in% grid && x$kind != "factor" && length(ticks_x$at)) {
    graphics::segments(ticks_x$at, y$lim[1L], ticks_x$at, y$lim[2L], col = ink$grid, lwd = 0.8)
  }
}

# The box of the plot region that the user's margins give, for pages of one panel that are large enough.
user_box <- function(page) {
  if (page$width < 4.5 || page$height < 3.6) return(NULL)
  c(page$mai[2L], page$width - page$mai[4L], page$mai[1L], page$height - page$mai[3L])
}

# Boxes of n panels in a grid that suits the box: list of boxes, row by row.
panel_grid <- function(page, box, n, least = c(1.6, 1.1), gap = 0.15) {
  width <- box[2L] - box[1L]
  height <- box[4L] - box[3L]
  best <- NULL
  for (columns in seq_len(n)) {
    rows <- ceiling(n / columns)
    w <- (width - (columns - 1) * gap) / columns
    h <- (height - (rows - 1) * gap) / rows
    if (w < least[1L] || h < least[2L]) next
    off <- abs(log(w / h / 1.5)) + 0.15 * (rows * columns - n)
    if (is.null(best) || off < best$off) best <- list(columns = columns, w = w, h = h, off = off)
  }
  if (is.null(best)) return(NULL)
  lapply(seq_len(n) - 1L, function(i) {
    left <- box[1L] + (i %% best$columns) * (best$w + gap)
    top <- box[4L] - (i %/% best$columns) * (best$h + gap)
    c(left, left + best$w, top - best$h, top)
  })
}

# As panel_grid(), with fewer panels where n have no room: list(boxes, left_out). At least one is tried.
fit_panels <- function(page, box, n, least = c(1.6, 1.1)) {
  for (k in seq(n, 1L)) {
    boxes <- panel_grid(page, box, k, least)
    if (!is.null(boxes)) return(list(boxes = boxes, left_out = n - k))
  }
  list(boxes = list(box), left_out = n - 1L)
}
