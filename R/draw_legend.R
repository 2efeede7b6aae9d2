# Legends. They stand above the panel, in lines, or at the ends of the lines that they name, so they hide no data.

# key: list(label, col, lty, lwd, pch, kind = "line", "point", "both" or "box"), one of each for an entry or one for
# all. Writes entries at `left`, below `top` (inches), in lines no wider than `right`. Gives the
# inches where they end. draw = FALSE: measures only.
put_key <- function(page, key, left, top, right, draw = TRUE) {
  n <- length(key$label)
  if (n == 0L) return(top)
  size <- letter_size(page, 0.8)
  line <- line_height(page, 0.8)
  swatch <- 1.8 * line
  space <- 0.9 * line
  label <- shorten(plain_text(key$label), max(right - left - swatch - 0.3 * line, 0.3), size)
  width <- swatch + 0.3 * line + text_width(label, size)
  x <- y <- numeric(n)
  at <- left
  row <- 0
  for (i in seq_len(n)) {
    if (at > left && at + width[i] > right) {
      at <- left
      row <- row + 1
    }
    x[i] <- at
    y[i] <- top - (row + 0.55) * line
    at <- at + width[i] + space
  }
  if (draw) {
    set_inches(page)
    for (i in seq_len(n)) draw_swatch(key, i, x[i], y[i], swatch, line)
    put_text(page, x + swatch + 0.3 * line, y, label, 0.8, c(0, 0.45), what = "key")
  }
  top - (row + 1.35) * line
}

draw_swatch <- function(key, i, x, y, width, line) {
  kind <- rep_len(key$kind, length(key$label))[i]
  col <- rep_len(key$col, length(key$label))[i]
  part <- function(name, usual) if (is.null(key[[name]])) usual else rep_len(key[[name]], length(key$label))[i]
  if (kind == "box" || kind == "band") {
    graphics::rect(x + 0.4 * width, y - 0.35 * line, x + width, y + 0.35 * line, col = col, border = NA)
  }
  if (kind %in% c("line", "both")) {
    graphics::segments(x, y, x + width, y, col = col, lty = part("lty", 1), lwd = part("lwd", 2))
  }
  if (kind %in% c("point", "both")) {
    graphics::points(x + 0.7 * width, y, col = col, pch = part("pch", 19), cex = 0.9)
  }
}

# Labels at the right ends of lines: list(y = places in data, text, width in inches), or NULL where there are too many
# for the height. at: y of the ends. inches: height of the panel; lim, log: of the vertical axis.
end_labels <- function(page, text, at, inches, lim, log = FALSE, room = 1.6) {
  size <- letter_size(page, 0.8)
  text <- shorten(plain_text(text), room, size)
  share <- if (log) log(at / lim[1L]) / log(lim[2L] / lim[1L]) else (at - lim[1L]) / diff(lim)
  half <- 0.5 * line_height(page, 0.8)
  at <- pmin(pmax(share, 0), 1) * inches
  placed <- spread_apart(at, 0.9 * line_height(page, 0.8), half * 0.5, inches - half * 0.5)
  if (is.null(placed) || anyNA(placed)) return(NULL)
  share <- placed / inches
  list(y = if (log) lim[1L] * (lim[2L] / lim[1L])^share else lim[1L] + share * diff(lim), text = text,
       width = max(text_width(text, size)) + 0.25)
}

# A key of colours for numbers: a bar with ticks, `box` in inches. colours: from low to high.
put_colour_key <- function(page, box, colours, low, high, title, ends = NULL) {
  size <- letter_size(page, 0.75)
  line <- line_height(page, 0.75)
  set_inches(page)
  n <- length(colours)
  title <- shorten(plain_text(title), box[2L] - box[1L], size)
  put_text(page, box[1L], box[4L], title, 0.75, c(0, 1), what = "colour key")
  top <- box[4L] - 1.1 * line
  bottom <- box[3L] + 1.1 * line
  edges <- seq(box[1L], box[2L], length.out = n + 1L)
  graphics::rasterImage(grDevices::as.raster(matrix(colours, 1L)), box[1L], bottom, box[2L], top,
                        interpolate = FALSE)
  if (!is.null(ends)) { # words in place of numbers
    put_text(page, box[1L], box[3L], ends[1L], 0.75, c(0, 0), ink$soft, what = "colour key")
    put_text(page, box[2L], box[3L], ends[2L], 0.75, c(1, 0), ink$soft, what = "colour key")
    return(invisible())
  }
  scale <- list(lim = if (high > low) c(low, high) else low + c(-0.5, 0.5), kind = "number", log = FALSE)
  ticks <- x_ticks(page, scale, box[2L] - box[1L], 0.75)
  at <- box[1L] + axis_inches(ticks$at, scale, box[2L] - box[1L])
  half <- text_width(ticks$label, size) / 2
  inside <- at - half >= box[1L] - 0.02 & at + half <= max(box[2L], page$width - 0.1)
  put_text(page, at[inside], box[3L], ticks$label[inside], 0.75, c(0.5, 0), ink$soft, what = "colour key")
  invisible()
}

colour_key_height <- function(page) 3 * line_height(page, 0.75)
