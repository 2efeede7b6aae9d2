# Columns of text files whose class data.table::fread() takes from the other fields of a block, and numbers that a
# double does not hold. What a column is must not depend on how its rows are cut into blocks, so each field counts by
# itself: spellings of TRUE and FALSE may be mixed, a quoted "NA" is missing unless the column is one of texts, and
# a column may mix hexadecimal numbers (0x1.8p3) and decimal ones.
#
# The rule, the same for any size of blocks: a number with a fraction or an exponent becomes the nearest double, so
# 1e-400 becomes 0. A whole number that is written out must be exact in a double. A number beyond all doubles (1e400)
# and a whole number that is not exact are errors, unless their column is one of texts: `texts` names it, or another
# field of it is no number. What a column is, is known after the last block, so parse_block() only notes the first
# such number of each column, and the reader of the chunks raises the error: see refuse_lost_numbers().

# Numbers as fread() may not read them: 16 digits and more, exponents of three digits and more, very long, or
# hexadecimal.
hexadecimal <- "0[xX][01](\\.[0-9a-fA-F]{0,13})?[pP][-+]?[0-9]+"
far_numeral <- paste0("^[-+]?([0-9]{16,}|[0-9]*\\.?[0-9]*[eE][-+]?[0-9]{3,}|", hexadecimal, "|",
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
  far <- far & (whole | size >= 1e290 | size <= 1e-290 | grepl("[xX]", text, useBytes = TRUE))
  digits <- sub("^[-+]?0*", "", text[whole])
  why[whole][sprintf("%.0f", size[whole]) != ifelse(nzchar(digits), digits, "0")] <- "would lose digits"
  why[far & is.infinite(value)] <- "is too large for a number in R"
  list(value = value, far = far, why = why)
}

# Does a column of fread() have fields that it may have read in another way than typed_column() does?
may_differ <- function(x, na) {
  if (is.character(x)) {
    return(any(x %in% c(logical_texts, na[!is.na(na)])) || any(grepl(far_numeral, x, perl = TRUE, useBytes = TRUE)))
  }
  if (!is.double(x)) return(FALSE)
  size <- abs(x)
  any(size >= 2^53 | (size > 0 & size <= 1e-290), na.rm = TRUE)
}

logical_texts <- c("TRUE", "True", "true", "FALSE", "False", "false")

# Finds a column's type from its fields: list(values = , problem = list(at, number, why) or NULL); NULL for texts.
# x: the column as fread() read it; text: its texts; na: texts that mean a missing value.
typed_column <- function(x, text, na) {
  if (!is.character(x)) return(numbers_of_column(as.double(x), text))
  if (any(is_broken_text(text))) return(NULL) # check_texts() refuses it
  text[text %in% na] <- NA # those in quotes
  if (all(is.na(text))) return(list(values = rep(NA, length(x))))
  if (all(is.na(text) | text %in% logical_texts)) return(list(values = as.logical(text)))
  found <- numbers_of_column(rep(NA_real_, length(x)), text, unread = !is.na(text))
  if (is.null(found) && kind_of_texts(text) != "character") list(values = text) else found
}

# values: those that fread() has read; unread: which of the texts it has not.
numbers_of_column <- function(values, text, unread = logical(length(text))) {
  far <- far_numbers(text)
  rest <- unread & !far$far
  if (any(rest)) {
    numbers <- read_fields(text[rest])
    if (!is.numeric(numbers)) return(NULL)
    if (is.integer(numbers) && identical(rest, unread)) values <- as.integer(values)
    values[rest] <- numbers
  }
  if (any(far$far)) values[far$far] <- far$value[far$far]
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

# The chunk with its columns as their fields say, and with attribute "problems": list by column of list(at, number,
# why). texts: columns that stay texts; as_texts: function(names) that gives columns of the chunk as texts.
with_typed_columns <- function(chunk, texts, na, as_texts) {
  differ <- setdiff(names(chunk)[vapply(chunk, may_differ, NA, na)], texts)
  read <- differ[!vapply(chunk[differ], is.character, NA)] # the texts of the others are there
  text <- if (length(read)) as_texts(read)
  problems <- list()
  for (name in differ) {
    found <- typed_column(chunk[[name]], if (name %in% read) text[[name]] else chunk[[name]], na)
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
