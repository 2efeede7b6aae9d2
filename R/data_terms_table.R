# The functions of the language of R/data_terms.R: one row each.
#
#   check   takes the arguments as R's function does, under the same names, and raises gbt_foreign_term for values that
#           the language does not give it. Returns sized() where the arguments do not bound what the function makes.
#   fun     what is called with the same arguments once they are checked: its name, which is the row's unless it is
#           given (R's function itself would be a copy of the day when gbt was installed), or a function of ours
#   home    the package that has it, "base" unless it is given

row_of <- function(check, fun = NULL, home = "base") list(check = check, fun = fun, home = home)

# Checks -----------------------------------------------------------------------------------------------------------

kind_words <- c(nothing = "NULL", number = "numbers", text = "texts", factor = "a factor",
                ordered = "an ordered factor", Date = "dates", POSIXct = "times", difftime = "time differences",
                matrix = "a matrix", list = "a list")
vector_kinds <- c("number", "text", "factor", "ordered", "Date", "POSIXct", "difftime")
time_kinds <- c("Date", "POSIXct")

need <- function(v, kinds) {
  kind <- kind_of(v)
  if (!kind %in% kinds) {
    foreign_term("a function gets %s where it takes %s", kind_words[[kind]],
                 paste(kind_words[kinds], collapse = " or "))
  }
  invisible(NULL)
}

# Values side by side: all of one length, or some of length 1.
check_lengths <- function(...) {
  n <- c(...)
  n <- n[n != 1]
  if (length(n) > 1L && any(n != n[1L])) foreign_term("values of %s and %s rows are combined", n[1L], n[n != n[1L]][1L])
  invisible(NULL)
}

need_one <- function(v, kinds, low = -Inf, high = Inf) {
  need(v, kinds)
  if (length(v) != 1L || (is.numeric(v) && !(is.na(v) || (v >= low && v <= high)))) {
    foreign_term("a function gets an argument that is not one value in its range")
  }
  invisible(NULL)
}

need_flag <- function(v) {
  if (!is.logical(v) || length(v) != 1L || is.na(v)) foreign_term("a function takes TRUE or FALSE")
  invisible(NULL)
}

# An argument that R's function has and the language has not; absent: what missing() says of it.
need_absent <- function(absent) if (!absent) foreign_term("a function has an argument that only R can evaluate")

# Unnamed arguments get the names in order, as a method would have it.
method_dots <- function(dots, names) {
  have <- names(dots)
  if (is.null(have)) have <- rep("", length(dots))
  free <- setdiff(names, have)
  open <- which(have == "")
  if (length(open) > length(free) || anyDuplicated(have[have != ""]) || !all(have[have != ""] %in% names)) {
    foreign_term("a function has an argument that only R can evaluate")
  }
  have[open] <- free[seq_along(open)]
  names(dots) <- have
  dots
}

need_zone <- function(zone) {
  need_one(zone, "text")
  plain <- !is.na(zone) && nchar(zone, "bytes") <= 60L && grepl("^([A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*)?$", zone)
  if (!plain) foreign_term("a time zone has an invalid name") # other names are paths of files
}

# The conversions of strftime() and strptime(): letters after %, no widths.
need_format <- function(format) {
  need(format, "text")
  rest <- gsub("%[-_^#]?[EO]?[A-Za-z%+]", "", format, useBytes = TRUE)
  if (any(nchar(format, "bytes") > 200L, na.rm = TRUE) || any(grepl("%", rest, fixed = TRUE, useBytes = TRUE))) {
    foreign_term("a format of times is not supported")
  }
}

# The size of the value of a function: the number of values or levels, and the bytes of texts. grows: more values than
# any of its arguments has.
sized <- function(values, bytes = 0, grows = TRUE) list(values = values, bytes = bytes, grows = grows)

# Bytes of all texts of v; 30 for each number and time.
text_bytes <- function(v) {
  if (is.factor(v)) return(sum(nchar(levels(v), "bytes")[v], na.rm = TRUE))
  if (is.character(v)) sum(nchar(v, "bytes"), na.rm = TRUE) else 30 * length(v)
}

widest_text <- function(v) {
  if (is.factor(v)) v <- levels(v)
  if (is.character(v)) max(0, nchar(v, "bytes"), na.rm = TRUE) else 30
}

# Bytes of n texts that are pasted of these parts, each taken as often as it fits.
pasted_bytes <- function(parts, sep, n) {
  n * nchar(sep, "bytes") * length(parts) + sum(vapply(parts, function(v) text_bytes(v) * (n / max(1, length(v))), 0))
}

# Which classes of values an operator takes, "left right"; numbers with numbers always.
operator <- function(pairs) {
  function(e1, e2) {
    if (missing(e2)) {
      need(e1, if ("unary" %in% pairs) c("number", "difftime") else "nothing")
      return(NULL)
    }
    pair <- paste(kind_of(e1), kind_of(e2))
    if (pair != "number number" && !pair %in% pairs) {
      foreign_term("an operator gets %s and %s", kind_words[[kind_of(e1)]], kind_words[[kind_of(e2)]])
    }
    check_lengths(length(e1), length(e2))
  }
}

sums <- c("Date number", "number Date", "Date difftime", "difftime Date", "POSIXct number", "number POSIXct",
           "POSIXct difftime", "difftime POSIXct", "difftime difftime", "difftime number", "number difftime", "unary")
differences <- c("Date number", "Date difftime", "Date Date", "POSIXct number", "POSIXct difftime", "POSIXct POSIXct",
           "difftime difftime", "difftime number", "number difftime", "unary")
ordered_pairs <- c("text text", "text number", "number text", "ordered ordered", "ordered text", "text ordered",
              "Date Date", "Date text", "text Date", "Date number", "number Date", "POSIXct POSIXct", "POSIXct text",
              "text POSIXct", "POSIXct number", "number POSIXct", "difftime difftime", "difftime number",
              "number difftime")
equal_pairs <- c(ordered_pairs, "factor factor", "factor text", "text factor", "factor number", "number factor")

numbers <- function(x) need(x, "number")
lengths_of_time <- function(x) need(x, c("number", "difftime"))
any_vector <- function(x) need(x, vector_kinds)
text_kinds <- c("text", "number", "factor", "ordered")

# All numbers, or all of one other kind.
check_alike <- function(parts, kinds) {
  found <- unique(vapply(parts, kind_of, ""))
  if (length(found) != 1L || !found %in% kinds) foreign_term("a function gets values of different kinds")
}

takes_extreme <- function(..., na.rm) {
  check_alike(list(...), c("number", "text", time_kinds))
  if (!missing(na.rm)) need_flag(na.rm)
}

takes_parallel <- function(..., na.rm) {
  parts <- list(...)
  check_alike(parts, c("number", "text", time_kinds))
  check_lengths(lengths(parts))
  if (!missing(na.rm)) need_flag(na.rm)
}

takes_combine <- function(...) {
  parts <- list(...)
  kinds <- unique(vapply(parts, kind_of, ""))
  mixed <- all(kinds %in% c("number", "text"))
  if (length(parts) == 0L || any(names(parts) %in% c("recursive", "use.names")) ||
        !(mixed || (length(kinds) == 1L && kinds %in% vector_kinds))) {
    foreign_term("c() gets values that it cannot combine")
  }
  sized(sum(lengths(parts)))
}

takes_paste <- function(parts, sep, collapse, recycle0) {
  need_absent(collapse)
  need_absent(recycle0)
  for (part in parts) need(part, vector_kinds)
  need_one(sep, "text")
  check_lengths(lengths(parts))
  n <- max(0, lengths(parts))
  sized(n, pasted_bytes(parts, sep, n), grows = FALSE)
}

takes_levels <- function(...) for (v in list(...)) need(v, c("number", "text", "nothing"))

takes_factor <- function(x, levels, labels, exclude, ordered, nmax) {
  need(x, vector_kinds)
  if (!missing(levels)) takes_levels(levels)
  if (!missing(labels)) takes_levels(labels)
  if (!missing(exclude)) takes_levels(exclude)
  if (!missing(ordered)) need_flag(ordered)
  need_absent(missing(nmax))
  n <- length(if (missing(levels)) x else levels)
  bytes <- if (missing(labels) || length(labels) != 1L) 64 else 64 + widest_text(labels) # one label gets numbers
  sized(n, n * bytes, grows = FALSE)
}

takes_cut <- function(x, breaks, labels, include.lowest, right, dig.lab, ordered_result) {
  need(x, "number")
  need(breaks, "number")
  if (length(breaks) == 1L) need_one(breaks, "number", 2, 10000)
  if (!missing(labels)) takes_levels(labels)
  if (!missing(include.lowest)) need_flag(include.lowest)
  if (!missing(right)) need_flag(right)
  if (!missing(dig.lab)) need_one(dig.lab, "number", 1, 22)
  if (!missing(ordered_result)) need_flag(ordered_result)
}

takes_intervals <- function(x, vec, rightmost.closed, all.inside, left.open) {
  need(x, "number")
  need(vec, "number")
  if (!missing(rightmost.closed)) need_flag(rightmost.closed)
  if (!missing(all.inside)) need_flag(all.inside)
  if (!missing(left.open)) need_flag(left.open)
}

takes_interaction <- function(..., drop, sep, lex.order) {
  parts <- list(...)
  for (v in parts) need(v, vector_kinds)
  if (length(parts) == 0L) foreign_term("interaction() takes columns")
  check_lengths(lengths(parts))
  if (!missing(drop)) need_flag(drop)
  if (!missing(lex.order)) need_flag(lex.order)
  if (!missing(sep)) need_one(sep, "text")
  labels <- lapply(parts, function(v) if (is.factor(v)) levels(v) else unique(v))
  n <- prod(lengths(labels))
  sized(n, pasted_bytes(labels, if (missing(sep)) "." else sep, n))
}

takes_sequence <- function(from, to) {
  need_one(from, "number")
  need_one(to, "number")
  if (!is.finite(from) || !is.finite(to)) foreign_term("a sequence has no end")
  sized(abs(to - from) + 1)
}

takes_element <- function(x, i) {
  need(x, vector_kinds)
  need_one(i, "number", 1, length(x))
}

takes_elements <- function(x, i) {
  need(x, vector_kinds)
  need(i, c("number", "factor", "ordered")) # of factors the codes count
  if (is.logical(i)) sized(length(x) + length(i))
}

takes_replace <- function(x, list, values) {
  need(x, c("number", "text"))
  need(values, c("number", "text"))
  if (!is.logical(list) || length(list) != length(x) || length(values) != 1L) {
    foreign_term("replace() takes a logical value for each row, and one value")
  }
}

takes_format <- function(x, ...) {
  dots <- method_dots(list(...), switch(kind_of(x), Date = "format", POSIXct = c("format", "tz", "usetz"),
                                       number = c("trim", "digits", "nsmall"), character(0)))
  need(x, vector_kinds)
  if (!is.null(dots$format)) need_format(dots$format)
  if (!is.null(dots$tz)) need_zone(dots$tz)
  if (!is.null(dots$usetz)) need_flag(dots$usetz)
  if (!is.null(dots$trim)) need_flag(dots$trim)
  if (!is.null(dots$digits)) need_one(dots$digits, "number", 1, 22)
  if (!is.null(dots$nsmall)) need_one(dots$nsmall, "number", 0, 20)
  sized(length(x), length(x) * widest_text(x), grows = FALSE) # texts are padded to one width
}

check_time_dots <- function(dots) {
  if (!is.null(dots$format)) need_format(dots$format)
  if (!is.null(dots$tz)) need_zone(dots$tz)
  if (!is.null(dots$origin)) need(dots$origin, c("text", time_kinds))
}

takes_date_of <- function(x, ...) {
  need(x, c("text", "factor", "ordered", "number", time_kinds))
  check_time_dots(method_dots(list(...), switch(kind_of(x), text = "format", number = "origin", POSIXct = "tz",
                                               character(0))))
}

takes_time_of <- function(x, tz, ...) {
  need(x, c("text", "factor", "ordered", "number", time_kinds))
  if (!missing(tz)) need_zone(tz)
  check_time_dots(method_dots(list(...), switch(kind_of(x), text = "format", number = "origin", character(0))))
}

takes_strftime <- function(x, format, tz, usetz) {
  need(x, time_kinds)
  if (!missing(format)) need_format(format)
  if (!missing(tz)) need_zone(tz)
  if (!missing(usetz)) need_flag(usetz)
}

takes_difftime <- function(time1, time2, tz, units) {
  need(time1, c("text", time_kinds))
  need(time2, c("text", time_kinds))
  check_lengths(length(time1), length(time2))
  if (!missing(tz)) need_zone(tz)
  if (!missing(units)) need_one(units, "text")
}

takes_day_name <- function(x, abbreviate) {
  need(x, time_kinds)
  if (!missing(abbreviate)) need_flag(abbreviate)
}

takes_as_number <- function(x, units) {
  need(x, if (missing(units)) vector_kinds else "difftime")
  if (!missing(units)) need_one(units, "text")
}

takes_nchar <- function(x, type, allowNA, keepNA) {
  need(x, c("text", "number"))
  if (!missing(type)) need_one(type, "text")
  if (!missing(allowNA)) need_flag(allowNA)
  if (!missing(keepNA)) need_one(keepNA, "number")
}

takes_part <- function(text, first, last) {
  need(text, text_kinds)
  need(first, "number")
  if (!missing(last)) need(last, "number")
  check_lengths(length(text), length(first), if (missing(last)) 1L else length(last))
}

takes_affix <- function(x, affix) {
  need(x, "text")
  need(affix, "text")
  check_lengths(length(x), length(affix))
}

takes_digits <- function(x, digits) {
  need(x, c("number", "difftime"))
  if (!missing(digits)) need_one(digits, "number", -400, 400)
}

takes_rank <- function(x, na.last, ties.method) {
  need(x, c("number", "text"))
  if (!missing(na.last)) need_one(na.last, c("number", "text"))
  known <- c("average", "first", "last", "max", "min") # not "random", which draws
  if (!missing(ties.method) && !(is.character(ties.method) && length(ties.method) == 1L && ties.method %in% known)) {
    foreign_term("rank() takes one of its methods for ties")
  }
}

takes_match <- function(x, table, nomatch) {
  need(x, vector_kinds)
  need(table, vector_kinds)
  if (!missing(nomatch)) need_one(nomatch, "number")
}

# Bases, as stats::makepredictcall() writes them: with everything that was learned from the training rows.
most_columns <- 100L
basis_size <- function(x, columns) sized(length(x), 40 * length(x) * columns, grows = FALSE) # R makes five copies

takes_poly <- function(x, ..., degree, coefs, raw, simple) {
  need(x, "number")
  need_absent(missing(simple))
  dots <- list(...)
  if (length(dots) > 1L || (length(dots) == 1L) != missing(degree)) foreign_term("poly() takes one column")
  if (length(dots)) degree <- dots[[1L]]
  need_one(degree, "number", 1, most_columns)
  if (!missing(raw)) need_flag(raw)
  size <- basis_size(x, degree)
  if (missing(coefs) && !missing(raw) && raw) return(size)
  need_absent(missing(raw) || !raw)
  ok <- !missing(coefs) && is.list(coefs) && identical(names(coefs), c("alpha", "norm2")) &&
    all(vapply(coefs, kind_of, "") == "number") && length(coefs$alpha) == degree && length(coefs$norm2) == degree + 2
  if (!ok) foreign_term("poly() needs the coefficients that training leaves")
  size
}

takes_coefficients <- function(...) {
  for (v in list(...)) need(v, "number")
  if (is.null(names(list(...)))) foreign_term("list() is for the coefficients of poly()")
}

takes_spline <- function(x, df, knots, degree, intercept, Boundary.knots) {
  need(x, "number")
  need_absent(missing(df))
  if (missing(knots) || missing(Boundary.knots)) foreign_term("splines need the knots that training leaves")
  need(knots, c("number", "nothing"))
  need(Boundary.knots, "number")
  if (length(knots) > most_columns || length(Boundary.knots) != 2L) foreign_term("splines need a few knots")
  if (!missing(degree)) need_one(degree, "number", 1, 20)
  if (!missing(intercept)) need_flag(intercept)
  basis_size(x, length(knots) + if (missing(degree)) 4 else degree + 1)
}

natural_spline <- function(...) splines::ns(...)
basis_spline <- function(...) splines::bs(...)

takes_scale <- function(x, center, scale) {
  need(x, "number")
  given <- function(v) identical(v, FALSE) || (is.numeric(v) && length(v) == 1L)
  if (missing(center) || missing(scale) || !given(center) || !given(scale)) {
    foreign_term("scale() needs the center and scale that training leaves")
  }
}

# The table --------------------------------------------------------------------------------------------------------

terms_table <- c(
  list(
    "+" = row_of(operator(sums)), "-" = row_of(operator(differences)),
    "*" = row_of(operator(c("difftime number", "number difftime"))),
    "/" = row_of(operator(c("difftime number", "difftime difftime"))),
    "^" = row_of(operator(character(0))), "%%" = row_of(operator(character(0))),
    "%/%" = row_of(operator(character(0))),
    "<" = row_of(operator(ordered_pairs)), ">" = row_of(operator(ordered_pairs)),
    "<=" = row_of(operator(ordered_pairs)), ">=" = row_of(operator(ordered_pairs)),
    "==" = row_of(operator(equal_pairs)), "!=" = row_of(operator(equal_pairs)),
    "&" = row_of(operator(character(0))), "|" = row_of(operator(character(0))),
    xor = row_of(function(x, y) operator(character(0))(x, y)), "!" = row_of(numbers),
    "(" = row_of(function(x) NULL), I = row_of(function(x) NULL, "identity"),
    ":" = row_of(takes_sequence), c = row_of(takes_combine), list = row_of(takes_coefficients),
    numeric = row_of(function(length) need_one(length, "number", 0, 0)),
    "[" = row_of(takes_elements), "[[" = row_of(takes_element), replace = row_of(takes_replace),

    log = row_of(function(x, base) {
      need(x, "number")
      if (!missing(base)) operator(character(0))(x, base)
    }),
    atan2 = row_of(function(y, x) operator(character(0))(y, x)),
    round = row_of(takes_digits), signif = row_of(takes_digits),
    min = row_of(takes_extreme), max = row_of(takes_extreme),
    pmin = row_of(takes_parallel), pmax = row_of(takes_parallel),
    mean = row_of(function(x, trim, na.rm) {
      need(x, c("number", time_kinds))
      need_absent(missing(trim))
      if (!missing(na.rm)) need_flag(na.rm)
    }),
    rank = row_of(takes_rank),

    is.na = row_of(any_vector), is.nan = row_of(numbers),
    is.finite = row_of(any_vector), is.infinite = row_of(any_vector),
    "%in%" = row_of(function(x, table) takes_match(x, table)), match = row_of(takes_match),

    as.numeric = row_of(takes_as_number), as.double = row_of(takes_as_number),
    as.integer = row_of(any_vector), as.logical = row_of(any_vector),
    as.character = row_of(any_vector),
    as.factor = row_of(any_vector), as.ordered = row_of(any_vector),
    factor = row_of(takes_factor),
    ordered = row_of(function(x, levels, labels, exclude) takes_factor(x, levels, labels, exclude)),
    levels = row_of(function(x) need(x, c("factor", "ordered"))),
    cut = row_of(takes_cut, "cut.default"), findInterval = row_of(takes_intervals),
    interaction = row_of(takes_interaction),

    nchar = row_of(takes_nchar), tolower = row_of(function(x) need(x, text_kinds)),
    toupper = row_of(function(x) need(x, text_kinds)),
    substr = row_of(function(x, start, stop) takes_part(x, start, stop)),
    substring = row_of(takes_part),
    startsWith = row_of(function(x, prefix) takes_affix(x, prefix)),
    endsWith = row_of(function(x, suffix) takes_affix(x, suffix)),
    paste = row_of(function(..., sep = " ", collapse, recycle0) {
      takes_paste(list(...), sep, missing(collapse), missing(recycle0))
    }),
    paste0 = row_of(function(..., collapse, recycle0) {
      takes_paste(list(...), "", missing(collapse), missing(recycle0))
    }),
    format = row_of(takes_format),

    as.Date = row_of(takes_date_of), as.POSIXct = row_of(takes_time_of),
    strftime = row_of(takes_strftime), difftime = row_of(takes_difftime),
    weekdays = row_of(takes_day_name), months = row_of(takes_day_name),
    quarters = row_of(function(x) need(x, time_kinds)),

    scale = row_of(takes_scale, "scale.default"), poly = row_of(takes_poly, home = "stats"),
    ns = row_of(function(x, df, knots, intercept, Boundary.knots) {
      takes_spline(x, df, knots, 3L, intercept, Boundary.knots)
    }, natural_spline, "splines"),
    bs = row_of(takes_spline, basis_spline, "splines")
  ),
  sapply(c("log2", "log10", "log1p", "exp", "expm1", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
           "cosh", "tanh", "asinh", "acosh", "atanh"),
         function(name) row_of(numbers), simplify = FALSE),
  sapply(c("abs", "sign", "floor", "ceiling", "trunc"), function(name) row_of(lengths_of_time), simplify = FALSE)
)
