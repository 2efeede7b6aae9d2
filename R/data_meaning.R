# The meaning of the values of a vector with a class. gbt reads the numbers that lie in it, which are not its values
# where an S4 object keeps a part of them in other slots (the hours of a lubridate Period), where the class has numbers
# of its own, or where a column declares some of its numbers to be codes for missing values.
#
# Everything that comes in as a column or as values of rows passes meant_values(): predictors in R/data_encode.R,
# responses in encode_y(), and weights, offsets, exposures, times, groups and the like in as_numbers() or their own
# check.

#' @rdname gbt_sources
#' @section Classes of columns:
#' Columns are numbers, logical values, factors, texts, `Date`, `POSIXct`, `POSIXlt`, `difftime`, `integer64` (package
#' bit64), and durations of lubridate. Time differences (`difftime`) and columns with units (package units) keep their
#' unit in the model: new data in another unit are converted, or refused. Codes that a column declares as missing
#' (`haven::labelled_spss()`, `na_values` and `na_range`), and tagged `NA`, are missing: in predictors, the response,
#' weights and all else. A model stores the codes of its numeric columns, so plain numbers in new data are read the same
#' way. Value labels mean nothing to gbt: a labelled column is numbers; `haven::as_factor()` makes it a factor. Other
#' classes over numbers are accepted where `as.double()` gives the same numbers. An S4 object that gbt does not know,
#' such as a period of lubridate, is an error that names the column, and so are lists, complex numbers and bytes.
#' @name gbt_sources
NULL

# S4 classes over numbers that are values by themselves: seconds, and nanoseconds since 1970.
known_s4 <- c("Duration", "Interval", "nanotime", "nanoduration")

# Classes that R/data_encode.R handles, so that they are not compared with as.double().
known_s3 <- c("factor", "Date", "POSIXct", "POSIXlt", "difftime", "integer64", "units")

# The vector as its class means it, with NA for what it declares to be missing; else an error. what: how a message calls
# it; s4: classes that are taken.
meant_values <- function(v, what, subject = NULL, s4 = known_s4) {
  if (!is.object(v) || is.data.frame(v)) return(v)
  if (isS4(v)) return(known_object(v, what, subject, s4))
  if (inherits(v, known_s3) || is.list(v)) return(v)
  if (is_declaring(v)) return(without_declared(v))
  if (identical(class(v), "AsIs") || !(is.double(v) || is.integer(v) || is.logical(v)) || length(dim(v)) > 1L) return(v)
  numbers_of_class(v, what, subject)
}

known_object <- function(v, what, subject, s4) {
  if (inherits(v, s4)) return(v)
  stop_data(sprintf(paste("%s is an S4 object of class \"%s\", whose values gbt does not know; convert it to numbers,",
                          "texts or times first, such as by as.numeric(x)"), what, class(v)[1L]), subject)
}

# Before rows of a table are taken, after which R may have made plain numbers of an S4 column. names: columns to check.
check_objects <- function(x, names) {
  if (!is.data.frame(x)) return(invisible())
  for (j in which(names(x) %in% names)) {
    v <- .subset2(x, j)
    if (isS4(v)) known_object(v, sprintf("column `%s`", names(x)[j]), names(x)[j], known_s4)
  }
}

# A class that gbt does not know: its numbers are taken where as.double() has the same, without those that are missing
# for is.na().
numbers_of_class <- function(v, what, subject) {
  plain <- as.vector(unclass(v))
  meant <- try_else(suppressWarnings(as.double(v)), function(problem) NULL)
  if (length(meant) != length(plain) || !identical(is.na(meant), is.na(plain)) || any(meant != plain, na.rm = TRUE)) {
    stop_data(sprintf(paste("%s is of class \"%s\", whose stored numbers differ from those of as.double();",
                            "convert it to numbers, texts or times first"), what, class(v)[1L]), subject)
  }
  gone <- try_else(suppressWarnings(is.na(v)), function(problem) NULL)
  if (!is.logical(gone) || length(gone) != length(plain) || anyNA(gone) || !any(gone & !is.na(plain))) return(v)
  plain[gone] <- NA
  plain
}

# ---- codes for missing values, as SPSS has them (package haven) ----

is_declaring <- function(v) inherits(v, c("haven_labelled_spss", "labelled_spss"))

without_declared <- function(v) {
  codes <- list(values = attr(v, "na_values", exact = TRUE), range = attr(v, "na_range", exact = TRUE))
  v <- as.vector(unclass(v))
  gone <- is_code(v, codes)
  if (any(gone)) v[gone] <- NA
  v
}

is_code <- function(v, codes) {
  range <- codes$range
  v %in% codes$values | (if (length(range) == 2L) !is.na(v) & v >= range[1L] & v <= range[2L] else FALSE)
}

# A model stores the codes of a column of numbers, since new data may have lost them: "coded:98,99" or
# "coded:99,-9..-1", the last being a range. NULL without any.
code_tag <- function(v) {
  if (!is.object(v) || !is_declaring(v) || !(is.double(v) || is.integer(v))) return(NULL)
  digits <- function(x) sprintf("%.17g", as.double(x))
  range <- attr(v, "na_range", exact = TRUE)
  parts <- c(digits(attr(v, "na_values", exact = TRUE)), if (length(range) == 2L) paste(digits(range), collapse = ".."))
  if (length(parts)) paste0("coded:", paste(parts, collapse = ","))
}

# The reverse; what is no number in the tag of a file is no code.
codes_of_tag <- function(tag) {
  parts <- strsplit(sub("^coded:", "", tag), ",", fixed = TRUE)[[1L]]
  number <- function(text) suppressWarnings(as.double(text))
  is_range <- grepl("..", parts, fixed = TRUE)
  range <- if (any(is_range)) number(strsplit(parts[is_range][1L], "..", fixed = TRUE)[[1L]])
  values <- number(parts[!is_range])
  list(values = values[!is.na(values)], range = if (!anyNA(range)) range)
}

# A data frame whose columns declare nothing any more, for terms of formulas.
without_codes <- function(data) {
  for (j in seq_along(data)) {
    v <- .subset2(data, j)
    if (is.object(v) && is_declaring(v)) data[[j]] <- without_declared(v)
  }
  data
}

# Features that are columns as they are, with what these declare, for the model to remember.
with_declared <- function(x, data) {
  at <- match(names(x), names(data))
  for (i in which(!is.na(at))) {
    v <- .subset2(data, at[i])
    if (is.object(v) && is_declaring(v)) x[[i]] <- v
  }
  x
}

# ---- units (package units) ----

# "m/s^2" of a column with units: the same text for the same units.
unit_text <- function(v) {
  unit <- unclass(attr(v, "units", exact = TRUE))
  part <- function(names) {
    names <- as_utf8(names, "a unit") # package units leaves their encoding open
    each <- sort(unique(names), method = "radix")
    times <- tabulate(match(names, each))
    paste0(each, ifelse(times == 1L, "", paste0("^", times)), collapse = "*")
  }
  above <- if (length(unit$numerator)) part(unit$numerator) else "1"
  if (length(unit$denominator)) paste0(above, "/", gsub("*", "/", part(unit$denominator), fixed = TRUE)) else above
}

# Package units parses the text of a unit, which may be that of a file: it must be a plain product of names, which need
# not be ASCII (degrees, micro).
is_plain_unit <- function(unit) grepl("^[[:alnum:]_%.*/^\\x80-\\xff]+$", unit, perl = TRUE, useBytes = TRUE)

# Numbers of a column in another unit.
in_unit <- function(v, unit, name) {
  convert <- function() {
    if (!is_plain_unit(unit)) stop("this is not the text of a unit")
    as.double(get_exported("units", "set_units")(v, unit, mode = "standard"))
  }
  try_else(convert(), function(problem) {
    stop_data(sprintf("column `%s` is in units \"%s\", but was in \"%s\" when the model was trained: %s", name,
                      unit_text(v), unit, conditionMessage(problem)), name)
  })
}
