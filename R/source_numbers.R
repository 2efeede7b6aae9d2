# Numbers in text files that data.table::fread() takes for texts, or that a double does not hold.
#
# The rule, the same for any size of blocks: a number with a fraction or an exponent becomes the nearest double, so
# 1e-400 becomes 0. A whole number that is written out must be exact in a double. A number beyond all doubles (1e400)
# and a whole number that is not exact are errors, unless their column is one of texts: `texts` names it, or another
# field of it is no number. Which of these a column is, is known behind the last block, so parse_block() only notes the
# first such number of each column, and whoever reads the chunks raises the error: see refuse_lost_numbers().

# Numbers as fread() may not read them: 16 digits and more, exponents of three digits and more, or very long.
far_numeral <- paste0("^[-+]?([0-9]{16,}|[0-9]*\\.?[0-9]*[eE][-+]?[0-9]{3,}|",
                      "(?=[0-9.]{200})[0-9]*\\.?[0-9]*([eE][-+]?[0-9]+)?)$")

# list(value = dbl, far = lgl, why = chr): which of the texts are numbers that are to be read here, and why one of
# them cannot be a double, or "".
far_numbers <- function(text) {
  far <- grepl(far_numeral, text, perl = TRUE, useBytes = TRUE)
  value <- rep(NA_real_, length(text))
  why <- rep("", length(text))
  value[far] <- suppressWarnings(as.double(text[far]))
  far[is.na(value)] <- FALSE
  whole <- far & grepl("^[-+]?[0-9]+$", text)
  size <- abs(value)
  far <- far & (whole | size >= 1e290 | size <= 1e-290)
  digits <- sub("^[-+]?0*", "", text[whole])
  why[whole][sprintf("%.0f", size[whole]) != ifelse(nzchar(digits), digits, "0")] <- "would lose digits"
  why[far & is.infinite(value)] <- "is larger than all numbers that R has"
  list(value = value, far = far, why = why)
}

# Does a column of fread() have numbers that it may have read in another way than far_numbers() does?
may_have_far <- function(x) {
  if (is.character(x)) return(any(grepl(far_numeral, x, perl = TRUE, useBytes = TRUE)))
  if (!is.double(x)) return(FALSE)
  size <- abs(x)
  any(size >= 2^53 | (size > 0 & size <= 1e-290), na.rm = TRUE)
}

# A column with such numbers: list(values = , problem = list(at, number, why) or NULL); NULL where it is one of texts.
# x: as fread() gave it; text: its texts; read_rest: function(texts) that reads them as a column of a file.
numbers_of_column <- function(x, text, read_rest) {
  far <- far_numbers(text)
  values <- if (is.character(x)) rep(NA_real_, length(x)) else as.double(x)
  if (is.character(x)) {
    rest <- !far$far & !is.na(text)
    if (any(rest)) {
      numbers <- read_rest(text[rest])
      if (!is.numeric(numbers)) return(NULL)
      values[rest] <- as.double(numbers)
    }
  }
  values[far$far] <- far$value[far$far]
  at <- which(nzchar(far$why))[1L]
  list(values = values, problem = if (!is.na(at)) list(at = at, number = text[at], why = far$why[at]))
}

# A few fields of a column, as fread() reads them.
read_fields <- function(text) {
  if (any(grepl("^$|^\\s|\\s$|[\"\r\n]", text, useBytes = TRUE))) return(text) # no numbers, or quoted ones with blanks
  read <- function() {
    data.table::fread(input = paste0(paste(text, collapse = "\n"), "\n"), sep = "\n", header = FALSE, quote = "",
                      na.strings = NULL, integer64 = "double", logical01 = FALSE, keepLeadingZeros = FALSE,
                      data.table = FALSE, showProgress = FALSE)[[1L]]
  }
  try_else(suppressWarnings(read()), function(e) text)
}

# The chunk with its numbers, and with attribute "problems": list by column of list(at, number, why). texts: columns
# that stay texts; as_texts: function(names) that gives columns of the chunk as texts.
with_far_numbers <- function(chunk, texts, as_texts) {
  far <- setdiff(names(chunk)[vapply(chunk, may_have_far, NA)], texts)
  read <- far[!vapply(chunk[far], is.character, NA)] # the texts of the others are there
  text <- if (length(read)) as_texts(read)
  problems <- list()
  for (name in far) {
    found <- numbers_of_column(chunk[[name]], if (name %in% read) text[[name]] else chunk[[name]], read_fields)
    if (is.null(found)) next
    chunk[[name]] <- found$values
    problems[[name]] <- found$problem
  }
  attr(chunk, "problems") <- if (length(problems)) problems
  chunk
}

# Raises the first problem of the columns that are numbers. problems: see problems_of().
refuse_lost_numbers <- function(problems, columns) {
  for (name in intersect(names(problems), columns)) {
    its <- problems[[name]]
    stop_data(sprintf("%s, row %.0f: column `%s` has the number %s, which %s; name the column in `texts`", its$name,
                      its$row, name, its$number, its$why), name)
  }
}
