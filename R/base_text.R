# Texts of messages, and names near to one that was typed.

# Texts as messages can show them: bytes that are no text in their encoding become <e9>.
printable <- function(x) {
  bad <- is_broken_text(x)
  if (any(bad)) x[bad] <- iconv(x[bad], "latin1", "ASCII", sub = "byte")
  for (i in grep(control_characters, x)) {
    at <- gregexpr(control_characters, x[i])
    codes <- lapply(regmatches(x[i], at), function(c) sprintf("<%02x>", utf8ToInt(paste(c, collapse = ""))))
    regmatches(x[i], at) <- codes
  }
  x
}

# By which a text could move the cursor of a terminal or change what is shown: all but tabs and ends of lines.
control_characters <- "[\001-\010\013-\037\177]"

# In lower case, to compare by. R's tolower() fails on bytes that are no text, and on the last two characters of 16
# bits, which mean nothing.
lower_case <- function(x) {
  x <- printable(x)
  for (odd in c("\ufffe", "\uffff")) x <- gsub(odd, "?", x, fixed = TRUE)
  tolower(x)
}

# "a list", "a numeric vector", ... for messages.
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.object(x)) return(paste0("an object of class \"", class(x)[1L], "\""))
  if (is.function(x)) return("a function")
  if (is.list(x)) return("a list")
  if (!is.atomic(x)) return(paste("an object of type", typeof(x)))
  if (length(dim(x)) > 2L) return("an array")
  paste(if (is.integer(x)) "an" else "a", if (is.double(x)) "numeric" else typeof(x),
        if (length(dim(x)) == 2L) "matrix" else "vector")
}

# A value as a user would write it, short.
quote_value <- function(value) {
  plain <- is.atomic(value) && !is.object(value) && length(value) <= 5L
  if (plain && !is.null(names(value))) names(value) <- printable(names(value))
  text <- if (plain) printable(deparse(value, width.cutoff = 60L)[1L]) else describe(value)
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

# As R would have it before an equals sign.
quote_name <- function(x) if (make.names(x) == x) x else paste0("`", x, "`")

format_number <- function(x) vapply(x, function(v) format(v, digits = 15L, scientific = abs(v) >= 1e10), "")

# "`a`, `b`, `c` and 7 more"
enumerate <- function(x, most = 10L, quote = "`") {
  shown <- paste0(quote, utils::head(x, most), quote)
  more <- length(x) - length(shown)
  text <- paste(shown, collapse = ", ")
  if (more > 0L) text <- paste0(text, " and ", more, " more")
  text
}

# "1 value", "2 values"
counted <- function(n, noun) sprintf("%s %s%s", with_commas(n), noun, if (n == 1) "" else "s")

# "3 missing values, the first in row 7"
counted_rows <- function(rows, noun) sprintf("%s, the first in row %.0f", counted(length(rows), noun), rows[1L])

# The longest text that is compared with names: the time of a comparison grows with the product of the two lengths.
longest_name <- 100L # bytes
most_names <- 50000L

# Edit distances of one text to many, with a look at Ctrl-C and time limits now and then, which adist() lacks.
edit_distances <- function(x, choices) {
  pieces <- split(choices, (seq_along(choices) - 1L) %/% 1000L)
  unlist(lapply(pieces, function(piece) {
    .Call(C_gbt_check_interrupt)
    drop(utils::adist(x, piece))
  }), use.names = FALSE)
}

# The choices that `x` was probably meant to be, best first, at most two; case and punctuation do not count. A choice is
# near if one letter differs, letters are swapped (lable), `x` is its beginning or the larger part of its end, or if up
# to two fifths of the letters differ while at least half of the pairs of letters are shared: `max_deep` is near to
# `max_depth`, `training_frame` is not near to `learning_rate`.
nearest_name <- function(x, choices) {
  short <- function(s) !is.na(s) & nchar(s, "bytes") <= longest_name
  choices <- utils::head(choices[short(choices)], most_names)
  if (length(choices) == 0L || length(x) != 1L || !short(x) || !nzchar(x)) return(character(0))
  x <- printable(as.vector(x)) # a matrix of one text is no choice, but may be near to one
  choices <- printable(choices)
  plain <- function(s) gsub("[[:punct:][:space:]]+", "", lower_case(s))
  typed <- plain(x)
  if (!nzchar(typed)) return(character(0))
  others <- plain(choices)
  far <- edit_distances(typed, others)
  size <- nchar(typed)
  part <- size >= 3L & (startsWith(others, typed) | (endsWith(others, typed) & nchar(others) <= 2L * size))
  letters_of <- function(s) vapply(strsplit(s, ""), function(l) paste(sort(l), collapse = ""), "")
  close <- part | letters_of(others) == letters_of(typed)
  far[close] <- pmin(far[close], 1)
  allowed <- if (size == 1L) 0 else max(1, floor(size * 0.4 + 0.25)) # one letter is near to every other
  near <- which(far <= allowed & (size > 2L | startsWith(others, substr(typed, 1L, 1L))))
  alike <- pairs_shared(typed, others[near])
  alike[far[near] <= 1] <- 1
  near <- near[alike >= 0.5]
  least <- min(far[near], Inf)
  near <- near[far[near] <= least + (least > 1)]
  if (least > 1 && length(near) > 1L) {
    alike <- pairs_shared(typed, others[near])
    near <- near[alike == max(alike)]
  }
  choices[utils::head(near, 2L)]
}

# The share of pairs of neighbouring letters that a text and each of others have in common (Dice's coefficient).
pairs_shared <- function(x, others) {
  pairs <- function(s) if (nchar(s) < 2L) character(0) else substring(s, seq_len(nchar(s) - 1L), seq_len(nchar(s))[-1L])
  own <- pairs(x)
  vapply(others, function(s) {
    its <- pairs(s)
    2 * length(intersect(own, its)) / max(1L, length(own) + length(its))
  }, 0)
}

# "; did you mean `eta`?" or "". See also suggest_meaning().
suggest <- function(x, choices, quote = "`") {
  near <- nearest_name(x, choices)
  if (length(near) == 0L) return("")
  paste0("; did you mean ", paste0(quote, near, quote, collapse = " or "), "?")
}

# Labels --------------------------------------------------------------------------------------------------------------

# Names and levels as a list or a plot shows them: on one line.
plain_text <- function(x) {
  x <- printable(as.character(x))
  x[is.na(x)] <- "NA"
  gsub("[[:cntrl:]]+", " ", x)
}

# Texts that are the same get a number.
make_distinct <- function(text) {
  same <- text %in% text[duplicated(text)]
  number <- stats::ave(seq_along(text), text, FUN = seq_along)
  ifelse(same, paste0(text, " [", number, "]"), text)
}

# Numbers as labels of marks: as few digits as tell them apart from neighbours.
number_label <- function(x, digits = 3L) {
  vapply(x, function(v) {
    if (is.na(v)) return("NA")
    trimws(format(signif(v, digits), digits = 7L, big.mark = if (abs(v) >= 1e4 && abs(v) < 1e9) "," else ""))
  }, "")
}

# Names in at most so many letters: both ends tell columns apart.
shorten_letters <- function(text, most) {
  n <- nchar(text)
  long <- which(n > most)
  head <- (most - 3L + 1L) %/% 2L
  text[long] <- paste0(substr(text[long], 1L, head), "...", substring(text[long], n[long] - (most - 3L - head) + 1L))
  text
}

with_commas <- function(n) format(n, big.mark = ",", scientific = FALSE)

# "label     one, two, three" in lines that are no wider than the console; no item is broken.
labelled_lines <- function(label, items) wrapped_items(formatC(label, width = -10L), items, strrep(" ", 10L))

# Items in lines: the first line begins with `first`, the others with `other`.
wrapped_items <- function(first, items, other) {
  items <- paste0(items, c(rep(",", length(items) - 1L), ""))
  out <- first
  for (i in seq_along(items)) {
    last <- out[length(out)]
    gap <- if (i == 1L) "" else " "
    fits <- i == 1L || nchar(last, "width") + 1L + nchar(items[i], "width") < getOption("width")
    if (fits) out[length(out)] <- paste0(last, gap, items[i]) else out <- c(out, paste0(other, items[i]))
  }
  out
}
