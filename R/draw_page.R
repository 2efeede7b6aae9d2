# The page that a drawing is on. A drawing has one figure, whatever device, mfrow or layout() it is in: draw_page()
# begins it with margins of 0, so that no size is too small for R, and puts parts into boxes of its own.
#
#   box     c(left, right, bottom, top) in inches from the left and bottom edges of the figure
#   page    list(width, height, mai: inches of the user's margins, size: factor of all letters, top: inches from the
#           bottom to where titles end)
#   panel   a box that is the plot region, with coordinates of the data
#
# The user's par() is restored when a drawing ends. A drawing with one panel puts
# it where the user's margins are, if they have
# room for labels: then abline() and its kin hit the data's coordinates afterwards.

# No letters are smaller (in points): where there is no room for them, something is left out, and the page says what.
least_points <- 6

# body: function(page). title: text or NULL. least: width and height in inches that the drawing needs.
draw_page <- function(body, title = NULL, subtitle = NULL, least = c(1.5, 1.2)) {
  old <- graphics::par("mar", "pty", "xpd", "bg") # opens a device where there is none, as plot() does
  on.exit(graphics::par(old))
  mai <- graphics::par("mai")
  graphics::par(mar = c(0, 0, 0, 0), pty = "m", xpd = NA)
  graphics::plot.new()
  figure <- graphics::par("fin")
  if (figure[1L] < least[1L] || figure[2L] < least[2L]) {
    stop_unsupported(sprintf(paste("the figure is %.1f x %.1f inches and this plot needs %.1f x %.1f; open a larger",
                                   "device, or put fewer figures on a page"), figure[1L], figure[2L], least[1L],
                             least[2L]))
  }
  page <- list(width = figure[1L], height = figure[2L], mai = mai, title = title, subtitle = subtitle)
  page$size <- max(0.7, min(1, figure[1L] / 6, figure[2L] / 4.2))
  body(page)
  invisible()
}

# Inches of a line of text. cex: of par("cex") and of the page's size.
line_height <- function(page, cex = 1) {
  1.25 * letter_size(page, cex) * graphics::par("cex") * graphics::par("ps") / 72
}

# cex for text() and strwidth(): never below least_points.
letter_size <- function(page, cex = 1) max(cex * page$size, least_points / (graphics::par("ps") * graphics::par("cex")))

text_width <- function(text, cex, font = 1) {
  if (length(text) == 0L) return(numeric(0))
  graphics::strwidth(text, units = "inches", cex = cex, font = font)
}

inner <- function(page, pad = 0.08) {
  pad <- pad * c(1, 1, 1, 1) * page$size
  c(pad[1L], page$width - pad[2L], pad[3L], page$height - pad[4L])
}

# Makes a box the plot region. log: as of plot.default().
set_panel <- function(page, box, xlim, ylim, log = "") {
  if (box[2L] - box[1L] < 0.2 || box[4L] - box[3L] < 0.2) {
    stop_unsupported(paste("the figure is too small for this plot with its labels; open a larger device, or put fewer",
                           "figures on a page"))
  }
  graphics::par(plt = c(box[1:2] / page$width, box[3:4] / page$height))
  graphics::par(xlog = FALSE, ylog = FALSE)
  graphics::plot.window(xlim, ylim, log = log, xaxs = "i", yaxs = "i")
  if (!is.null(recorder$panels)) {
    recorder$panels[[length(recorder$panels) + 1L]] <- list(box = box, usr = graphics::par("usr"))
  }
}

# The whole page as a panel with coordinates in inches.
set_inches <- function(page) {
  graphics::par(plt = c(0, 1, 0, 1))
  graphics::par(xlog = FALSE, ylog = FALSE)
  graphics::plot.window(c(0, page$width), c(0, page$height), xaxs = "i", yaxs = "i")
}

# Text at the coordinates of the panel. adj: of text(). `what` says in tests what the text is.
put_text <- function(page, x, y, text, cex = 1, adj = c(0, 0.5), col = ink$text, font = 1, srt = 0, what = "text",
                     floor = TRUE) {
  if (length(text) == 0L) return(invisible())
  size <- if (floor) letter_size(page, cex) else cex
  graphics::text(x, y, text, cex = size, adj = adj, col = col, font = font, srt = srt, xpd = NA)
  record_text(x, y, text, size, adj, font, srt, what)
}

# What was drawn, for tests: boxes of texts in inches of the device. NULL when nobody asks.
recorder <- new.env(parent = emptyenv())

record_text <- function(x, y, text, cex, adj, font, srt, what) {
  if (is.null(recorder$texts)) return(invisible())
  width <- graphics::strwidth(text, units = "inches", cex = cex, font = font)
  height <- graphics::strheight(text, units = "inches", cex = cex, font = font)
  turned <- srt == 90
  h_adj <- if (turned) 1 - adj[2L] else adj[1L]
  v_adj <- if (turned) adj[1L] else adj[2L]
  wide <- if (turned) height else width
  high <- if (turned) width else height
  left <- graphics::grconvertX(rep_len(x, length(text)), "user", "inches") - h_adj * wide
  bottom <- graphics::grconvertY(rep_len(y, length(text)), "user", "inches") - v_adj * high
  recorder$texts <- rbind(recorder$texts, data.frame(
    what = what, text = as.character(text), left = left, right = left + wide, bottom = bottom, top = bottom + high,
    points = cex * graphics::par("cex") * graphics::par("ps")
  ))
}

# list(texts, panels, device = inches) of what an expression draws.
record_drawing <- function(expr) {
  recorder$texts <- data.frame()
  recorder$panels <- list()
  on.exit(recorder$texts <- recorder$panels <- NULL)
  force(expr)
  list(texts = recorder$texts, panels = recorder$panels, device = graphics::par("din"))
}

# Titles -----------------------------------------------------------------------------------------------------------

# Inches that title and subtitle take.
title_height <- function(page) {
  lines <- (if (length(page$title)) line_height(page, 1.1)) %+% (if (length(page$subtitle)) line_height(page, 0.85))
  if (lines > 0) lines + 0.3 * line_height(page, 0.8) else 0
}

`%+%` <- function(a, b) (if (is.null(a)) 0 else a) + (if (is.null(b)) 0 else b)

# Writes title and subtitle at `left`, below `top`; both in inches. Gives the inches where they end.
put_titles <- function(page, left, top, right = page$width) {
  set_inches(page)
  room <- right - left
  y <- top
  if (length(page$title)) {
    text <- shorten(plain_text(page$title)[1L], room, letter_size(page, 1.1), font = 2)
    put_text(page, left, y, text, 1.1, c(0, 1), font = 2, what = "title")
    y <- y - line_height(page, 1.1)
  }
  if (length(page$subtitle)) {
    text <- shorten(plain_text(page$subtitle)[1L], room, letter_size(page, 0.85))
    put_text(page, left, y, text, 0.85, c(0, 1), col = ink$soft, what = "subtitle")
    y <- y - line_height(page, 0.85)
  }
  if (y < top) y - 0.3 * line_height(page, 0.8) else y
}

# A bold heading at the top of a box; gives the box below it.
panel_heading <- function(page, box, heading) {
  if (length(heading) == 0L) return(box)
  set_inches(page)
  text <- shorten(plain_text(heading), box[2L] - box[1L], letter_size(page, 0.9), 2)
  put_text(page, box[1L], box[4L], text, 0.9, c(0, 1), font = 2, what = "heading")
  box[4L] <- box[4L] - line_height(page, 0.9)
  box
}

# A remark at the foot of the page, such as what was left out. Gives the inches where it begins.
put_note <- function(page, note, left, bottom, right = page$width) {
  if (length(note) == 0L) return(bottom)
  set_inches(page)
  size <- letter_size(page, 0.75)
  lines <- wrap_text(note, right - left, size)
  step <- line_height(page, 0.75)
  put_text(page, left, bottom + step * (length(lines) - seq_along(lines) + 0.2), lines, 0.75, c(0, 0), ink$soft,
           what = "note")
  bottom + step * (length(lines) + 0.4)
}

# Arguments --------------------------------------------------------------------------------------------------------

# What some plots take and others do not.
drawing_arguments <- c("xlab", "ylab", "xlim", "ylim", "log", "col", "lty", "lwd", "pch", "type", "border")

# What the user gave in the dots of a plot(): all with names that the plot knows. labels: titles of axes that it has.
plot_dots <- function(dots, known = character(0), labels = c("xlab", "ylab")) {
  usual <- c("main", "sub", labels)
  if (length(dots) > 0L && (is.null(names(dots)) || any(names(dots) == ""))) {
    stop_argument("an argument without a name was given where only named ones are possible")
  }
  idle <- setdiff(intersect(names(dots), drawing_arguments), c(usual, known))
  if (length(idle)) {
    stop_argument(sprintf("`%s` has no meaning for this plot; it takes %s", idle[1L], enumerate(c(usual, known))),
                  idle[1L])
  }
  check_no_dots(dots[!names(dots) %in% c(usual, known)], c(usual, known))
  for (name in intersect(names(dots), usual)) {
    if (!is.null(dots[[name]]) && !(is.character(dots[[name]]) && length(dots[[name]]) == 1L)) {
      stop_argument(sprintf("`%s` must be one text", name), name)
    }
  }
  for (name in intersect(names(dots), c("xlim", "ylim"))) {
    if (!is.null(dots[[name]])) check_limits(dots[[name]], name)
  }
  dots
}

check_limits <- function(lim, parameter) {
  v <- if (is.object(lim)) unclass(lim) else lim
  if (!is.numeric(v) || length(v) != 2L || !all(is.finite(v)) || v[1L] == v[2L]) {
    stop_argument(sprintf("`%s` must be two different numbers, such as c(10, 100)", parameter), parameter)
  }
  range(as.double(v))
}

# A colour or several.
check_colours <- function(col, parameter = "col") {
  ok <- try_else(ncol(grDevices::col2rgb(col)) > 0L, function(e) FALSE)
  if (!ok) stop_argument(sprintf("`%s` must hold colours, such as \"steelblue\" or \"#0072B2\"", parameter), parameter)
  col
}
