# Texts of drawings: made plain, shortened, wrapped, put side by side.

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

# Shortened texts that became the same get a number.
make_distinct <- function(text) {
  same <- text %in% text[duplicated(text)]
  number <- stats::ave(seq_along(text), text, FUN = seq_along)
  ifelse(same, paste0(text, " [", number, "]"), text)
}

wrap_text <- function(text, room, cex) {
  words <- strsplit(text, " ", fixed = TRUE)[[1L]]
  lines <- character(0)
  line <- ""
  for (word in words) {
    longer <- if (nzchar(line)) paste(line, word) else word
    if (nzchar(line) && text_width(longer, cex) > room) {
      lines <- c(lines, line)
      line <- word
    } else {
      line <- longer
    }
  }
  shorten(c(lines, line), room, cex)
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
  value <- size <- numeric(0)
  for (t in target) { # isotonic regression
    value <- c(value, t)
    size <- c(size, 1)
    while (length(value) > 1L && value[length(value) - 1L] > value[length(value)]) {
      k <- length(value)
      value[k - 1L] <- (value[k - 1L] * size[k - 1L] + value[k] * size[k]) / (size[k - 1L] + size[k])
      size[k - 1L] <- size[k - 1L] + size[k]
      value <- value[-k]
      size <- size[-k]
    }
  }
  placed <- pmin(pmax(rep(value, size), low), high - (n - 1) * gap) + offset
  out <- numeric(n)
  out[ordered] <- placed
  out
}
