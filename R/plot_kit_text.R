# Texts of drawings on an open device: measured, shortened, wrapped, moved apart.

# No letters are smaller (in points): where there is no room for them, something is left out, and the page says what.
least_points <- 6

# Texts by what they are: size, colour, font (2 is bold) and their position relative to their place (`adj` of text()).
text_style <- function(role) {
  one <- function(cex, adj, col = ink$text, font = 1) list(cex = cex, adj = adj, col = col, font = font)
  switch(role, title = one(1.1, c(0, 1), font = 2), subtitle = one(0.85, c(0, 1), ink$soft),
         heading = one(0.9, c(0, 0), font = 2), note = one(0.75, c(0, 0), ink$soft), `x title` = one(0.8, c(0.5, 1)),
         `y title` = one(0.8, c(0, 0)), `x tick` = one(0.8, c(0.5, 1), ink$soft),
         `y tick` = one(0.8, c(1, 0.4), ink$soft), `bar label` = one(0.85, c(1, 0.45)),
         `bar value` = , beyond = one(0.75, c(1, 0.45), ink$soft), key = one(0.8, c(0, 0.45)),
         `colour key` = one(0.75, c(0, 1)),
         `end label` = one(0.8, c(0, 0.45)), words = one(0.95, c(0.5, 0.45), ink$soft),
         mark = one(0.75, c(0, 1), ink$soft), one(0.75, c(0.5, 0.45)))
}

# Text at the coordinates of the panel. role: see text_style(), from which adj, col and cex may differ.
put_text <- function(page, x, y, text, role, adj = NULL, col = NULL, cex = NULL, srt = 0) {
  if (length(text) == 0L || isTRUE(page$dry)) return(invisible())
  style <- text_style(role)
  graphics::text(x, y, text, cex = letter_size(page, given_or(cex, style$cex)), adj = given_or(adj, style$adj),
                 col = given_or(col, style$col), font = style$font, srt = srt, xpd = NA)
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

# Texts that are wider than `room` inches lose their middle: both ends tell columns apart.
shorten <- function(text, room, cex, font = 1) {
  wide <- which(text_width(text, cex, font) > room)
  for (i in wide) {
    chars <- strsplit(text[i], "")[[1L]]
    n <- length(chars)
    cut_to <- function(keep) {
      head <- (keep + 1L) %/% 2L
      paste0(c(chars[seq_len(head)], "...", if (keep > head) chars[(n - keep + head + 1L):n]), collapse = "")
    }
    low <- 1L
    high <- max(1L, n - 1L)
    while (low < high) { # the most letters that fit
      middle <- (low + high + 1L) %/% 2L
      if (text_width(cut_to(middle), cex, font) <= room) low <- middle else high <- middle - 1L
    }
    text[i] <- cut_to(low)
  }
  if (length(wide)) text[wide] <- make_distinct(text[wide])
  text
}

# Lines of `room` inches, by the width of a letter on average.
wrap_text <- function(text, room, cex) {
  letter <- text_width(text, cex) / nchar(text)
  shorten(strwrap(text, max(0.92 * room / letter, 8)), room, cex)
}

# Places as near as can be to `at` with at least `gap` between neighbours, within [low, high]: pools of neighbours that
# touch are moved together, which is the least sum of squares. NULL where they have no room.
spread_apart <- function(at, gap, low, high) {
  n <- length(at)
  if (n == 0L) return(at)
  if ((n - 1) * gap > (high - low) * (1 + 1e-9)) return(NULL)
  ordered <- order(at, seq_len(n))
  offset <- (seq_len(n) - 1) * gap
  target <- at[ordered] - offset
  placed <- pmin(pmax(stats::isoreg(target)$yf, low), high - (n - 1) * gap) + offset
  out <- numeric(n)
  out[ordered] <- placed
  out
}
