# Draws figures (plot_kit_figure.R) by package graphics. A drawing has one figure, whatever device, mfrow or layout() it
# is in: draw_page() begins it with margins of 0, so that no size is too small for R, and puts parts into boxes.
#
#   box     c(left, right, bottom, top) in inches from the left and bottom edges of the figure
#   page    list(width, height, mai: inches of the user's margins, size: factor of all letters, dry: nothing is drawn,
#           only measured)
#   panel   a box that is the plot region, with coordinates of the data
#
# The user's par() is restored when a drawing ends. A drawing with one panel puts it where the user's margins are, if
# they have room for labels: then abline() and its kin hit the data's coordinates afterwards.

# Gives what body(page) gives.
draw_page <- function(body) {
  old <- graphics::par("mar", "pty", "xpd", "bg") # opens a device where there is none, as plot() does
  on.exit(graphics::par(old))
  mai <- graphics::par("mai")
  graphics::par(mar = c(0, 0, 0, 0), pty = "m", xpd = NA)
  graphics::plot.new()
  size <- graphics::par("fin")
  if (size[1L] < 1.5 || size[2L] < 1.2) {
    stop_unsupported(sprintf(paste("the figure is %.1f x %.1f inches and this plot needs 1.5 x 1.2; open a larger",
                                   "device, or put fewer figures on a page"), size[1L], size[2L]))
  }
  body(list(width = size[1L], height = size[2L], mai = mai, size = max(0.7, min(1, size[1L] / 6, size[2L] / 4.2))))
}

# x: what it is of, which plot() gives.
draw_figure <- function(fig, x = NULL) {
  force(fig) # what cannot be drawn is an error before there is a page
  draw_page(function(page) {
    outer <- inner_box(page)
    if (!is.null(fig$fewer)) fig <- fit_figure(page, fig, outer)
    outer[3L] <- put_note(page, fig$note, outer)
    one <- fig$panels[[1L]]
    if (!is.null(one$make)) return(draw_made(page, fig, outer))
    if (length(fig$panels) == 1L && is.null(one$rows)) return(draw_alone(page, fig, outer))
    outer[4L] <- put_head(page, fig, outer)
    if (length(fig$panels) == 1L) return(draw_panel(page, fig, one, outer))
    draw_panels(page, fig, outer)
  })
  invisible(x)
}

# A figure with as many rows and columns of levels as have room for labels of readable size.
fit_figure <- function(page, fig, box) {
  page$dry <- TRUE
  box[4L] <- put_head(page, fig, box)
  box[3L] <- box[3L] + 1.4 * line_height(page, 0.75)
  one <- panel_grid(box, length(fig$panels), c(0, 0))[[1L]]
  line <- line_height(page, 0.8)
  titles <- (1.4 + 1.1 * nzchar(fig$x$title) + 1.4 * nzchar(fig$y$title)) * line +
    if (length(fig$panels) > 1L) line_height(page, 1.05) else 0
  high <- one[4L] - one[3L] - titles
  turned <- if (identical(fig$x$kind, "factor")) 0.15 * high else 0
  letter <- 1.15 * letter_size(page, 0.65) * graphics::par("ps") * graphics::par("cex") / 72
  each <- if (identical(fig$y$kind, "rows")) letter else 1.05 * line
  wide <- if (length(fig$panels) > 1L) 0.85 * (one[2L] - one[1L]) else one[2L] - one[1L] - sum(page$mai[c(2L, 4L)])
  room <- pmax(2, floor(c((high - turned) / each, wide / (1.15 * line))))
  if (max(length(fig$panels[[1L]]$rows), length(fig$y$levels)) <= room[1L] && length(fig$x$levels) <= room[2L]) {
    return(fig)
  }
  fig$fewer(room[1L], room[2L])
}

inner_box <- function(page) c(0, page$width, 0, page$height) + 0.08 * page$size * c(1, -1, 1, -1)

# Makes a box the plot region, with linear or logarithmic coordinates.
set_panel <- function(page, box, x, y) {
  if (box[2L] - box[1L] < 0.2 || box[4L] - box[3L] < 0.2) {
    stop_unsupported(paste("the figure is too small for this plot with its labels; open a larger device, or put fewer",
                           "figures on a page"))
  }
  graphics::par(plt = c(box[1:2] / page$width, box[3:4] / page$height))
  graphics::par(xlog = FALSE, ylog = FALSE)
  graphics::plot.window(x$lim, y$lim, xaxs = "i", yaxs = "i",
                        log = paste0(if (x$log) "x" else "", if (y$log) "y" else ""))
}

# The whole page as a panel with coordinates in inches.
set_inches <- function(page) {
  graphics::par(plt = c(0, 1, 0, 1))
  graphics::par(xlog = FALSE, ylog = FALSE)
  graphics::plot.window(c(0, page$width), c(0, page$height), xaxs = "i", yaxs = "i")
}

# Above and below panels ----------------------------------------------------------------------------------------------

# Title, subtitle and key at the top of a box. Gives the inches where they end.
put_head <- function(page, fig, box) {
  set_inches(page)
  top <- box[4L]
  for (role in c("title", "subtitle")) {
    if (length(fig[[role]])) {
      put_text(page, box[1L], box[4L], fit_text(page, fig[[role]][1L], box[2L] - box[1L], role), role)
      box[4L] <- box[4L] - line_height(page, text_style(role)$cex)
    }
  }
  if (box[4L] < top) box[4L] <- box[4L] - 0.3 * line_height(page, 0.8)
  if (length(fig$ramp)) put_ramp(page, fig$ramp, box) else put_key(page, fig$key, box)
}

# A text on one line of `room` inches.
fit_text <- function(page, text, room, role) {
  style <- text_style(role)
  shorten(plain_text(text), room, letter_size(page, style$cex), style$font)
}

# A remark at the foot of a box, such as what was left out. Gives the inches where it begins.
put_note <- function(page, note, box) {
  if (length(note) == 0L) return(box[3L])
  set_inches(page)
  lines <- wrap_text(paste(note, collapse = "; "), box[2L] - box[1L], letter_size(page, 0.75))
  step <- line_height(page, 0.75)
  put_text(page, box[1L], box[3L] + step * (length(lines) - seq_along(lines) + 0.2), lines, "note")
  box[3L] + step * (length(lines) + 0.4)
}

# Entries of a key side by side, in as many lines as they need. Gives the inches where they end.
put_key <- function(page, key, box) {
  if (!is.null(key$shown)) key <- part_of_key(key)
  n <- length(key$label)
  if (n == 0L || isTRUE(key$hidden)) return(box[4L])
  line <- line_height(page, 0.8)
  swatch <- 1.8 * line
  if (!is.null(key$title)) {
    put_text(page, box[1L], box[4L], fit_text(page, key$title, box[2L] - box[1L], "colour key"), "colour key")
    box[4L] <- box[4L] - 1.1 * line_height(page, 0.75)
  }
  label <- fit_text(page, key$label, max(box[2L] - box[1L] - 2.1 * line, 0.3), "key")
  width <- swatch + 0.3 * line + text_width(label, letter_size(page, 0.8))
  x <- row <- numeric(n)
  at <- box[1L]
  for (i in seq_len(n)) {
    new <- at > box[1L] && at + width[i] > box[2L]
    if (new) at <- box[1L]
    row[i] <- (if (i > 1L) row[i - 1L] else 0) + new
    x[i] <- at
    at <- at + width[i] + 0.9 * line
  }
  y <- box[4L] - (row + 0.55) * line
  if (!isTRUE(page$dry)) for (i in seq_len(n)) draw_swatch(key_entries(key, i), x[i], y[i], swatch, line)
  put_text(page, x + swatch + 0.3 * line, y, label, "key")
  box[4L] - (row[n] + 1.35) * line
}

# The entries of a key that are listed.
part_of_key <- function(key) {
  entries <- key_entries(key, which(key$shown))
  c(list(label = key$label[key$shown]), entries, key[c("title", "hidden")])
}

# The style of the entries at `set` of the key: list(col, kind, lty, lwd, pch, type).
key_entries <- function(key, set) {
  usual <- list(col = ink$band, kind = "line", lty = 1, lwd = 2, pch = 19, type = "l")
  lapply(stats::setNames(nm = names(usual)), function(name) {
    rep_len(given_or(key[[name]], usual[[name]]), max(set, length(key$label), 0))[set]
  })
}

draw_swatch <- function(e, x, y, width, line) {
  if (e$kind == "box") {
    graphics::rect(x + 0.4 * width, y - 0.35 * line, x + width, y + 0.35 * line, col = e$col, border = NA)
  }
  if (e$kind %in% c("line", "both")) graphics::segments(x, y, x + width, y, col = e$col, lty = e$lty, lwd = e$lwd)
  if (e$kind %in% c("point", "both")) graphics::points(x + 0.7 * width, y, col = e$col, pch = e$pch, cex = 0.9)
}

# A bar of colours with its title above and ticks, or words for both ends, below. Gives the inches where it ends.
put_ramp <- function(page, ramp, box) {
  size <- letter_size(page, 0.75)
  line <- line_height(page, 0.75)
  wide <- max(2.8, text_width(plain_text(ramp$title), size) + 0.05) # so that the title is not shortened
  right <- min(box[2L], box[1L] + wide)
  bottom <- box[4L] - 3 * line
  if (!isTRUE(page$dry)) {
    put_text(page, box[1L], box[4L], fit_text(page, ramp$title, right - box[1L], "colour key"), "colour key")
    graphics::rasterImage(grDevices::as.raster(matrix(ramp$colours, 1L)), box[1L], bottom + 1.1 * line, right,
                          box[4L] - 1.1 * line, interpolate = FALSE)
    lim <- if (ramp$high > ramp$low) c(ramp$low, ramp$high) else ramp$low + c(-0.5, 0.5)
    scale <- make_scale(numeric(0), lim = lim)
    ticks <- if (is.null(ramp$ends)) x_ticks(page, scale, right - box[1L], 0.75) else list(at = lim, label = ramp$ends)
    at <- box[1L] + share_of_axis(ticks$at, scale) * (right - box[1L])
    wide <- text_width(ticks$label, size) # labels near the ends stay within the bar
    left <- pmin(pmax(at - wide / 2, box[1L]), right - wide)
    put_text(page, left, bottom, ticks$label, "colour key", c(0, 0), ink$soft)
  }
  bottom - 0.6 * line_height(page, 0.8)
}

# Panels --------------------------------------------------------------------------------------------------------------

# Panels in a grid that suits the box, as many as have room.
draw_panels <- function(page, fig, outer) {
  n <- length(fig$panels)
  one <- fig$panels[[1L]]
  least <- if (is.null(one$rows)) c(1.6, 1.1) else c(if (is.null(one$values)) 1.8 else 2.4, 1.4)
  if (isTRUE(fig$stacked)) least[2L] <- 0.75 * page$size
  shown <- n
  while (shown > 1L && is.null(panel_grid(outer, shown, least))) shown <- shown - 1L
  if (shown < n) {
    what <- counted(n - shown, given_or(fig$panel_noun, "output"))
    outer[3L] <- put_note(page, sprintf("%s not shown for lack of room", what), outer)
  }
  column <- if (isTRUE(fig$stacked)) panel_grid(outer, shown, least, columns = 1L)
  heading <- unlist(lapply(fig$panels[seq_len(shown)], `[[`, "heading"))
  style <- text_style("heading")
  wide <- max(text_width(plain_text(heading), letter_size(page, style$cex), style$font), 0)
  boxes <- given_or(column, panel_grid(outer, shown, c(wide, least[2L])))
  boxes <- given_or(given_or(boxes, panel_grid(outer, shown, c(0, 0))), list(outer))
  for (i in seq_len(shown)) draw_panel(page, fig, fig$panels[[i]], boxes[[i]])
}

# Boxes of n panels, row by row, or NULL where they have no room. least: width and height of one.
panel_grid <- function(box, n, least, gap = 0.15, columns = seq_len(n)) {
  rows <- ceiling(n / columns)
  w <- (box[2L] - box[1L] - (columns - 1) * gap) / columns
  h <- (box[4L] - box[3L] - (rows - 1) * gap) / rows
  fit <- which(w > 0 & h > 0 & w >= least[1L] & h >= least[2L])
  if (length(fit) == 0L) return(NULL)
  best <- fit[which.min(abs(log(w[fit] / h[fit] / 1.5)) + 0.15 * (rows * columns - n)[fit])]
  k <- columns[best]
  at <- seq_len(n) - 1L
  left <- box[1L] + (at %% k) * (w[best] + gap)
  top <- box[4L] - (at %/% k) * (h[best] + gap)
  lapply(seq_len(n), function(i) c(left[i], left[i] + w[best], top[i] - h[best], top[i]))
}

# A panel on a page of its own: where the user's margins are, if it can be there, with the names of lines at their ends
# where they have room, and the head not far above it.
draw_alone <- function(page, fig, outer) {
  user <- c(0, page$width, 0, page$height) + page$mai[c(2L, 4L, 1L, 3L)] * c(1, -1, 1, -1)
  if (page$width < 4.5 || page$height < 3.6) user <- NULL
  ends <- line_ends(page, fig, 0.6 * page$height)
  if (!is.null(ends)) fig$key$hidden <- TRUE
  page$dry <- TRUE
  head <- outer[4L] - put_head(page, fig, outer)
  page$dry <- NULL
  outer[4L] <- outer[4L] - head
  drawn <- draw_panel(page, fig, fig$panels[[1L]], outer, given_or(ends$width, 0), user)
  outer[4L] <- min(page$height - 0.08 * page$size, drawn$box[4L] + 1.6 * line_height(page, 0.8) + head)
  put_head(page, fig, outer)
  set_panel(page, drawn$box, drawn$x, drawn$y) # for what the user adds
}

# Names at the right ends of lines: list(y, text, col, width in inches), or NULL where there are too many.
line_ends <- function(page, fig, inches) {
  y <- given_or(fig$panels[[1L]]$y, fig$y)
  if (!isTRUE(fig$key$ends) || length(fig$key$label) > 8L) return(NULL)
  d <- do.call(rbind, lapply(fig$panels[[1L]]$marks, function(m) if (!is.null(m$data$set)) m$data[c("x", "y", "set")]))
  if (is.null(d)) return(NULL)
  d <- d[is.finite(d$y) & d$x <= fig$x$lim[2L] & (!y$log | d$y > 0), ]
  d <- d[order(d$set, d$x), ]
  d <- d[!duplicated(d$set, fromLast = TRUE), ]
  line <- line_height(page, 0.8)
  at <- pmin(pmax(share_of_axis(d$y, y), 0), 1) * inches
  placed <- spread_apart(at, 0.9 * line, 0.25 * line, inches - 0.25 * line)
  if (length(placed) == 0L || anyNA(placed)) return(NULL)
  text <- fit_text(page, fig$key$label[d$set], 0.3 * page$width, "end label")
  list(y = axis_at(placed / inches, y), text = text, col = readable(rep_len(fig$key$col, max(d$set))[d$set]),
       width = max(text_width(text, letter_size(page, 0.8))) + 0.25)
}

# Draws a panel with its axes and marks within `outer`. right: inches kept free to the right of the data for labels of
# lines. box: where the panel should be, if that leaves room for labels. Gives list(box, x, y): the plot region.
draw_panel <- function(page, fig, panel, outer, right = 0, box = NULL) {
  x <- given_or(panel$x, fig$x)
  y <- given_or(panel$y, fig$y)
  line <- line_height(page, 0.8)
  foot <- 1.4 * line + if (nzchar(x$title)) 1.1 * line else 0
  if (!is.null(panel$fewer)) panel <- panel$fewer(rows_in(page, outer[4L] - outer[3L] - foot - 1.05 * line))
  edge <- outer[2L]
  if (!is.null(panel$values)) {
    outer[2L] <- edge - max(text_width(panel$values, letter_size(page, 0.75)), 0) - 0.3 * line
  }
  if (!is.null(panel$rows)) {
    heading <- if (length(panel$heading)) line_height(page, 1.05) else 0
    y <- fit_rows(page, panel$rows, outer[4L] - outer[3L] - foot - heading, outer[2L] - outer[1L], fig$noun,
                  if (is.null(panel$x)) 4 else 1)
    outer[3L] <- put_note(page, y$note, outer)
  }
  at <- place_panel(page, x, y, panel$heading, outer, right, box)
  box <- at$box
  full <- x
  full$lim[2L] <- axis_at((box[2L] - box[1L]) / max(box[2L] - box[1L] - right, 0.2), x)
  set_panel(page, box, full, y)
  inch <- inch_in(box, full, y)
  draw_axes(page, x, y, at, inch, panel$heading, replace(outer, 2L, edge))
  for (m in panel$marks) draw_mark(page, m, fig, x, y, cut = right > 0)
  draw_rule_labels(page, panel$marks, x, y, box, right)
  if (right > 0) {
    ends <- line_ends(page, fig, box[4L] - box[3L])
    put_text(page, inch$right(0.1 - right), ends$y, ends$text, "end label", col = ends$col)
  }
  shown <- seq_len(min(length(panel$values), length(y$label)))
  put_text(page, inch$right(edge - box[2L]), shown, panel$values[shown], "bar value")
  list(box = box, x = full, y = y)
}

# How many rows fit into some inches.
rows_in <- function(page, inches) {
  letter <- letter_size(page, 0) * graphics::par("ps") * graphics::par("cex") / 72
  max(1L, as.integer(floor(inches / (1.15 * letter))))
}

# The vertical scale of rows: those that have room, with a note about the others. least: there is room for so many.
fit_rows <- function(page, rows, inches, width, noun, least) {
  n <- length(rows)
  shown <- min(n, rows_in(page, inches))
  if (shown < n) {
    inches <- inches - 1.4 * line_height(page, 0.75)
    shown <- min(n, rows_in(page, inches))
  }
  letter <- 1.15 * graphics::par("ps") * graphics::par("cex") / 72 # inches at cex = 1
  cex <- max(letter_size(page, 0), min(letter_size(page, 0.85), inches / max(shown, 1) / letter))
  c(rows_scale[c("kind", "log", "title")],
    list(lim = c(max(shown, least) + 0.6, 0.4), label = shorten(plain_text(rows[seq_len(shown)]), 0.42 * width, cex),
         cex = cex, note = if (shown < n) sprintf("%s not shown for lack of room", counted(n - shown, noun))))
}

# Where a panel lies with its ticks: list(box, x, y = ticks, deep = inches of the labels below).
place_panel <- function(page, x, y, heading, outer, right, box) {
  line <- line_height(page, 0.8)
  size <- letter_size(page, 0.8)
  top <- outer[4L] - (if (length(heading)) line_height(page, 1.05) else 0) - (if (nzchar(y$title)) 1.4 * line else 0)
  bottom <- outer[3L] + 1.4 * line + (if (nzchar(x$title)) 1.1 * line else 0)
  ticks <- y_ticks(page, y, top - bottom)
  wide <- max(text_width(ticks$label, given_or(ticks$cex, size)), 0) + if (y$kind == "rows") 0.4 * line else 0
  left <- outer[1L] + wide + 0.7 * text_width("0", size)
  room <- outer[2L] - left - right
  if (x$kind == "factor") room <- min(room - 0.02, box[2L] - box[1L] - right) # labels that are turned need more below
  ticks_x <- x_ticks(page, x, room, deep = outer[4L] - outer[3L])
  turned <- ticks_x$turned
  deep <- if (turned) max(text_width(ticks_x$label, size)) - 0.9 * line else 0
  bottom <- bottom + deep
  if (y$kind == "rows") bottom <- max(bottom, top - 0.75 * diff(rev(y$lim))) # few rows need no whole page
  if (is.null(box) || box[1L] < left - 1e-6 || box[3L] < bottom - 1e-6 || box[4L] > top + 1e-6) {
    last <- if (x$kind == "factor") "" else utils::tail(c("", ticks_x$label), 1L)
    box <- c(left, outer[2L] - max(0, text_width(last, size) / 2 - right) - 0.02, bottom, top)
  }
  if (!turned) ticks_x <- x_ticks(page, x, box[2L] - box[1L] - right)
  list(box = box, x = ticks_x, y = y_ticks(page, y, box[4L] - box[3L]), deep = deep, left = min(outer[1L], left),
       room = box[2L] - box[1L] - right + left / 2)
}

# Grid, ticks and titles. The title of the vertical axis is above it, left-aligned, where it can be read.
draw_axes <- function(page, x, y, at, inch, heading, outer) {
  line <- line_height(page, 0.8)
  rows <- y$kind == "rows"
  if (!rows) graphics::segments(x$lim[1L], at$y$at, x$lim[2L], at$y$at, col = ink$grid, lwd = 0.8)
  if (x$kind != "factor") graphics::segments(at$x$at, y$lim[1L], at$x$at, y$lim[2L], col = ink$grid, lwd = 0.8)
  gap <- 0.6 * text_width("0", letter_size(page, 0.8))
  if (rows) put_text(page, inch$left(gap), at$y$at, at$y$label, "bar label", cex = at$y$cex / page$size)
  else put_text(page, inch$left(gap), at$y$at, at$y$label, "y tick")
  graphics::segments(x$lim[1L], y$lim[1L], x$lim[2L], y$lim[1L], col = ink$axis)
  put_text(page, at$x$at, inch$below(0.3 * line), at$x$label, "x tick", if (at$x$turned) c(1, 0.5), cex = at$x$cex,
           srt = if (at$x$turned) 90 else 0)
  if (nzchar(x$title)) {
    put_text(page, axis_at(0.5, x), inch$below(1.4 * line + at$deep), fit_text(page, x$title, at$room, "x title"),
             "x title")
  }
  left <- inch$left(at$box[1L] - at$left)
  room <- at$box[2L] - outer[1L]
  up <- 0.62 * line
  if (nzchar(y$title)) {
    put_text(page, left, inch$above(up), fit_text(page, y$title, room, "y title"), "y title")
    up <- 1.75 * line
  }
  if (length(heading)) {
    put_text(page, left, inch$above(up), fit_text(page, heading, outer[2L] - outer[1L], "heading"), "heading")
  }
}

# Coordinates that are some inches outside of the panel's edges.
inch_in <- function(box, x, y) {
  width <- box[2L] - box[1L]
  height <- box[4L] - box[3L]
  list(left = function(d) axis_at(-d / width, x), right = function(d) axis_at(1 + d / width, x),
       below = function(d) axis_at(-d / height, y), above = function(d) axis_at(1 + d / height, y))
}

# Ticks of a horizontal axis of some inches, as many as have room: list(at, label, turned, cex or NULL). Labels that are
# turned take at most 0.3 of the inches `deep`, in small panels 0.45.
x_ticks <- function(page, scale, inches, cex = 0.8, deep = page$height) {
  size <- letter_size(page, cex)
  gap <- text_width("00", size)
  apart <- function(ticks) {
    k <- length(ticks$at)
    at <- share_of_axis(ticks$at, scale) * inches
    half <- text_width(ticks$label, size) / 2
    k < 2L || all(at[-1L] - half[-1L] - (at[-k] + half[-k]) > gap)
  }
  if (scale$kind == "factor") { # levels: side by side, else turned, else every k-th
    ticks <- scale_ticks(scale)
    for (one in c(cex, 0.8 * cex, 0)) {
      size <- letter_size(page, one)
      if (apart(ticks)) return(c(ticks, turned = FALSE, cex = one))
    }
    size <- letter_size(page, cex)
    every <- max(1L, ceiling(1.1 * line_height(page, 0.8) / (inches / diff(scale$lim))))
    at <- seq(1L, length(ticks$at), by = every)
    return(list(at = at, label = shorten(ticks$label[at], max(0.3 * deep, min(0.6, 0.45 * deep)), size), turned = TRUE))
  }
  for (n in c(8, 6, 5, 4, 3, 2, 1)) {
    ticks <- scale_ticks(scale, n)
    if (apart(ticks)) return(c(ticks, turned = FALSE))
  }
  for (keep in list(c(1L, length(ticks$at)), 1L)) { # both ends are better than one
    ends <- lapply(ticks, `[`, keep)
    if (apart(ends)) break
  }
  c(ends, turned = FALSE)
}

# Ticks of a vertical axis of some inches: list(at, label, and cex of rows).
y_ticks <- function(page, scale, inches) {
  if (scale$kind == "rows") return(list(at = seq_along(scale$label), label = scale$label, cex = scale$cex))
  line <- line_height(page, 0.8)
  if (scale$kind == "factor") {
    at <- seq(1L, length(scale$levels), by = max(1L, ceiling(line / (inches / diff(scale$lim)))))
    return(list(at = at, label = shorten(plain_text(scale$levels)[at], 0.4 * page$width, letter_size(page, 0.8))))
  }
  for (n in c(7, 6, 5, 4, 3, 2, 1)) {
    ticks <- scale_ticks(scale, n)
    if (length(ticks$at) < 2L || min(diff(share_of_axis(ticks$at, scale) * inches)) > 1.6 * line) break
  }
  ticks
}

# Marks ---------------------------------------------------------------------------------------------------------------

# cut: nothing is drawn beyond the horizontal limits, where names are at the ends of lines. Rows without room are
# left out.
draw_mark <- function(page, m, fig, x, y, cut = FALSE) {
  if (is.null(m)) return(invisible())
  d <- m$data
  if (y$kind == "rows" && !is.null(d$y)) d <- d[d$y < length(y$label) + 0.5, , drop = FALSE]
  if (cut && !is.null(d$x)) d <- d[is.na(d$x) | d$x >= x$lim[1L] & d$x <= x$lim[2L], , drop = FALSE]
  if (nrow(d) == 0L) return(invisible())
  s <- mark_style(m, d, fig)
  switch(m$kind,
    line = , step = for (part in split(seq_len(nrow(d)), given_or(d$set, rep(1L, nrow(d))))) {
      graphics::lines(d$x[part], d$y[part], type = if (m$kind == "step") "s" else "l", col = s$col[part[1L]],
                      lty = s$lty[part[1L]], lwd = s$lwd[part[1L]], xpd = FALSE)
    },
    point = graphics::points(d$x, d$y, pch = s$pch, cex = given_or(m$style$cex, 1) * (1 + page$size) / 2,
                             col = s$col, xpd = FALSE),
    segment = graphics::segments(d$x, d$y, d$xend, d$yend, col = s$col, lty = s$lty, lwd = s$lwd, xpd = FALSE,
                                 lend = given_or(m$style$lend, 1)),
    rect = graphics::rect(d$x, d$y, d$xend, d$yend, col = s$col, lwd = 0.8, lty = s$lty, xpd = FALSE,
                          border = given_or(m$style$border, if (is.null(d$share)) NA else s$col)),
    area = for (part in split(seq_len(nrow(d)), given_or(d$set, rep(1L, nrow(d))))) {
      there <- c(part, rev(part))
      graphics::polygon(d$x[there], pmax(c(d$y[part], rev(d$yend[part])), if (y$log) y$lim[1L] / 10 else -Inf),
                        border = NA, col = s$col[part[1L]], xpd = FALSE)
    },
    rug = graphics::segments(d$x, axis_at(0, y), d$x, axis_at(0.02, y), col = ink$text, lwd = 1, xpd = FALSE),
    text = put_text(page, d$x, d$y, d$label, given_or(m$style$role, "mark text"), m$style$adj, m$style$col,
                    m$style$cex),
    rule = graphics::abline(v = d$x, h = d$y, col = s$col, lty = s$lty, lwd = given_or(m$style$lwd, 1), xpd = FALSE)
  )
}

# The style of a mark, for each of its rows: its own style, else that of its entries of the key.
mark_style <- function(m, d, fig) {
  s <- key_entries(if (!is.null(d$set)) fig$key, given_or(d$set, rep(1L, nrow(d))))
  for (name in intersect(names(m$style), names(s))) s[[name]] <- rep_len(m$style[[name]], nrow(d))
  if (!is.null(d$share)) s$col <- colours_of(d$share, fig$ramp$colours, fig$ramp$low, fig$ramp$high)
  s
}

# The names of vertical lines, each in a row of its own at the top of the panel, on the side where it has room.
draw_rule_labels <- function(page, marks, x, y, box, right) {
  line <- line_height(page, 0.75)
  inches <- max(box[2L] - box[1L] - right, 0.2)
  row <- 0
  for (m in marks) {
    d <- m$data
    if (!identical(m$kind, "rule") || is.null(d$label) || d$x < x$lim[1L] || d$x > x$lim[2L]) next
    share <- share_of_axis(d$x, x)
    on_right <- (1 - share) * inches > text_width(d$label, letter_size(page, 0.75)) + 0.1 || share < 0.5
    put_text(page, axis_at(share + (if (on_right) 0.05 else -0.05) / inches, x),
             axis_at(1 - (0.1 + row) * line / (box[4L] - box[3L]), y), d$label, "mark", c(if (on_right) 0 else 1, 1))
    row <- row + 1
  }
}

# A panel that is made for its page, in inches.
draw_made <- function(page, fig, outer) {
  outer[4L] <- put_head(page, fig, outer)
  made <- fig$panels[[1L]]$make(page, outer)
  put_note(page, made$note, outer)
  set_inches(page)
  inches <- list(kind = "number", lim = c(0, 1), log = FALSE)
  for (m in made$marks) draw_mark(page, m, fig, inches, inches)
}
