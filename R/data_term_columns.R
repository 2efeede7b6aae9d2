# Columns as terms of a formula saw them in training. A term such as as.integer(f), f > "b" or format(t, "%H") depends
# on more than the values in a row: on the levels of a factor, on the unit and the time zone of times, on whether a
# column holds numbers or texts. A design (R/data_formula.R) keeps this for the columns of its computed terms, and of a
# computed response that needs it:
#
#   columns  the kind of each, by name: "number", "text", "factor", "ordered", "Date", "POSIXct:ZONE",
#            "difftime:UNIT", or "other" for classes that gbt does not know; "factor:NA" has NA as its last level
#   levels   list of the levels of factors but NA, by name; no such entry when there are none
#   by_codes those texts of terms whose values depend on the order of levels, as as.integer(f) does. New levels are
#            missing values there; other terms see new levels after those of training. No such entry when there are none

#' @section Terms in new data:
#' Computed terms of a formula, such as `as.integer(f)` or `format(t, "%H")`, see the columns of new data as they saw
#' those of training: factors (and texts in their place) with the levels of training, times in the time zone and time
#' differences in the unit of training. A new level is a missing value in a term that depends on the order of levels,
#' such as `as.integer(f)`. A column of another kind is an error. Terms have the same values as in training in sessions
#' with another locale, time zone or `options(scipen = , digits = , OutDec = )`. If the system does not have the locale
#' of training, there is a warning (class `gbt_warning_formula`). A term that cannot be written as text and read again
#' is an error in training.
#' @rdname gbt_sources
#' @name gbt_sources
NULL

# Kinds and levels of the columns that the expressions use: list(columns, levels).
term_columns <- function(expressions, data) {
  at <- unique(unlist(places_of_variables(expressions, names(data))))
  used <- columns_at(data, at)
  kinds <- vapply(used, column_kind, "")
  out <- list(columns = if (length(kinds)) kinds)
  has <- kinds %in% c("factor", "ordered")
  if (any(has)) out$levels <- lapply(as.list(used)[has], function(v) as_utf8(levels(v), "a level of a factor"))
  with_na <- names(out$levels)[vapply(out$levels, anyNA, NA)]
  for (name in with_na) { # see addNA(), which makes it the last one
    out$columns[[name]] <- paste0(out$columns[[name]], ":NA")
    out$levels[[name]] <- out$levels[[name]][!is.na(out$levels[[name]])]
  }
  out
}

column_kind <- function(v) {
  classes <- setdiff(class(v), "AsIs")
  if (is.factor(v)) return(if (is.ordered(v)) "ordered" else "factor")
  if (inherits(v, "POSIXt")) return(if (is_setting("TZ", zone_of(v))) paste0("POSIXct:", zone_of(v)) else "other")
  if (identical(classes, "Date")) return("Date")
  if (identical(classes, "difftime") && isTRUE(attr(v, "units") %in% time_units)) {
    return(paste0("difftime:", attr(v, "units")))
  }
  if (identical(classes, "integer64")) return("number")
  if (is.object(v) && length(intersect(classes, oldClass(v)))) return("other")
  if (is.character(v)) "text" else if (is.numeric(v) || is.logical(v)) "number" else "other"
}

# The name of the time zone in which times are read.
zone_of <- function(v) {
  zone <- attr(v, "tzone")
  if (is.character(zone) && length(zone) && !is.na(zone[1L]) && nzchar(zone[1L])) zone[1L] else session_zone()
}

# New data with the columns that terms use as they were in training.
training_columns <- function(design, data) {
  names <- intersect(names(design$columns), names(data))
  values <- list()
  for (name in names) {
    v <- .subset2(data, match(name, names(data)))
    now <- training_column(v, design$columns[[name]], design$levels[[name]], name)
    if (!identical(now, v)) values[[name]] <- now
  }
  if (length(values)) with_columns(data, values) else data
}

training_column <- function(v, kind, levels, name) {
  if (kind == "other" || NCOL(v) != 1L) return(v)
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  is <- column_kind(v)
  sort_of <- function(kind) sub(":.*", "", kind)
  if (is != "other" && !is.object(v) && all_missing(v)) { # it may be of any class
    is <- "missing"
    v <- rep(NA, length(v))
  }
  if (sort_of(kind) %in% c("factor", "ordered")) {
    if (!is %in% c("factor", "ordered", "text", "missing")) stop_other_kind(name, is, kind)
    return(training_factor(v, c(levels, if (endsWith(kind, ":NA")) NA), sort_of(kind) == "ordered", name))
  }
  if (kind == "text") {
    if (!is %in% c("factor", "ordered", "text", "missing", "other")) stop_other_kind(name, is, kind)
    return(if (is %in% c("text", "other")) v else as.character(v))
  }
  if (is == "missing") is <- "number"
  if (is %in% c("text", "factor", "ordered") || (is != "number" && is != "other" && sort_of(is) != sort_of(kind))) {
    stop_other_kind(name, is, kind)
  }
  training_number(v, kind, is)
}

# Levels of training first; those that are new follow.
training_factor <- function(v, levels, ordered, name) {
  what <- sprintf(if (is.factor(v)) "a level of column `%s`" else "a text of column `%s`", name)
  texts <- as_utf8(if (is.factor(v)) levels(v) else unique(v), what, name)
  if (is.factor(v) && identical(texts, levels) && is.ordered(v) == ordered) return(v)
  codes <- if (is.factor(v)) as.integer(v) else match(as_utf8(v, what, name), texts)
  all <- unique(c(levels, texts[!is.na(texts)]))
  structure(match(texts, all)[codes], levels = all, class = c(if (ordered) "ordered", "factor"))
}

# Times in the zone, and differences in the unit, of training. Plain numbers are taken as they are.
training_number <- function(v, kind, is) {
  detail <- sub("^[^:]*:", "", kind)
  if (startsWith(kind, "POSIXct:") && is != "other") return(as.POSIXct(.POSIXct(as.double(v), detail)))
  if (startsWith(kind, "difftime:") && is != "other") {
    number <- if (inherits(v, "difftime")) as.double(v, units = detail) else as.double(v)
    return(structure(number, class = "difftime", units = detail))
  }
  if (kind == "Date" && is == "number") structure(as.double(v), class = "Date") else v
}

stop_other_kind <- function(name, is, was) {
  words <- c(number = "a number", text = "text", factor = "a factor", ordered = "an ordered factor", Date = "a Date",
             POSIXct = "a POSIXct", difftime = "a difftime", other = "of another class")
  is <- sub(":.*", "", is)
  was <- sub(":.*", "", was)
  stop_data(sprintf("column `%s` is %s here and was %s in training; convert it to %s", name, words[[is]], words[[was]],
                    words[[was]]), name)
}

# The columns of a term that depends on the order of levels: new levels are missing, or an error.
coded_columns <- function(used, design, unseen) {
  for (name in intersect(names(used), names(design$levels))) {
    v <- used[[name]]
    n_levels <- length(design$levels[[name]]) + endsWith(design$columns[[name]], ":NA")
    new <- !is.na(as.integer(v)) & as.integer(v) > n_levels
    if (!any(new)) next
    if (unseen == "error") {
      row <- which(new)[1L]
      stop_data(sprintf("column `%s`, row %.0f: level \"%s\" was not in the training data", name, row,
                        printable(as.character(v[row]))), name)
    }
    codes <- as.integer(v)
    codes[new] <- NA
    used[[name]] <- structure(codes, levels = levels(v)[seq_len(n_levels)], class = oldClass(v))
  }
  used
}

# The parts of a design besides the texts of its terms: list of columns, levels, by_codes and settings
# (R/data_term_settings.R), those that there are. terms: computed ones as list(text, e = expression for new data, code =
# does R evaluate it?); lhs: the response.
term_conditions <- function(terms, lhs, data, from) {
  kinds_of <- function(e) as.character(term_columns(list(e), data)$columns)
  if (is.call(lhs) && !all(kinds_of(lhs) == "number")) {
    terms <- c(terms, list(list(text = exact_text(lhs), e = lhs, code = TRUE)))
  }
  if (length(terms) == 0L) return(NULL)
  expressions <- lapply(terms, `[[`, "e")
  out <- term_columns(expressions, data)
  used <- lapply(places_of_variables(expressions, names(data)), function(at) columns_at(data, at))
  evaluate <- Map(function(term, used) {
    seen <- training_columns(out, used)
    function(changed = seen) {
      if (term$code) evaluate_part(term$e, with_columns(data, as.list(changed)), from)
      else own_term_value(term$e, changed, strict = FALSE)
    }
  }, terms, used)
  keeping_random({
    coded <- mapply(reads_codes, evaluate, used)
    if (any(coded)) out$by_codes <- unique(vapply(terms[coded], `[[`, "", "text"))
    kinds <- lapply(used, function(columns) as.character(out$columns[names(columns)]))
    depends <- !mapply(function(term, kinds) !term$code && is_arithmetic(term$e, kinds), terms, kinds)
    zoned <- any(as.logical(mapply(is_zoned, expressions, kinds)))
    out$settings <- settings_in_use(unname(evaluate[depends]), zoned)
  })
  Filter(Negate(is.null), out)
}

# The data as a term of this text sees them, see learn_term() for `used`.
term_view <- function(text, used, design, unseen) {
  if (text %in% design$by_codes) coded_columns(used, design, unseen) else used
}

# The response of the formula in other data: evaluate() gets them as the response saw those of training.
response_in <- function(design, lhs, data, evaluate) {
  if (!is.call(lhs) || is.null(design$columns)) return(evaluate(data))
  data <- training_columns(design, data)
  if (length(design$by_codes) && exact_text(lhs) %in% design$by_codes) {
    used <- pick_columns(data, intersect(variables_of(list(lhs)), names(data)))
    data <- with_columns(data, as.list(coded_columns(used, design, "prior")))
  }
  in_settings(design, evaluate(data))
}

# Evaluates an expression in the settings that terms of this design want.
in_settings <- function(design, expr) {
  if (is.null(design$columns)) return(with_utf8(expr))
  settings <- neutral_settings
  settings[names(design$settings)] <- design$settings
  with_utf8(with_settings(settings, expr))
}

# Does the value of a term depend on the order of levels? It is evaluated with the levels in other orders. evaluate: a
# function of the columns that are used.
reads_codes <- function(evaluate, used) {
  has <- names(used)[vapply(used, is.factor, NA)]
  if (length(has) == 0L) return(FALSE)
  value <- function(used) plain_values(try_else(suppressWarnings(evaluate(used)), function(problem) NULL))
  reordered <- function(order) {
    for (name in has) {
      v <- used[[name]]
      all <- order(levels(v))
      used[[name]] <- structure(match(levels(v), all)[v], levels = all, class = oldClass(v))
    }
    used
  }
  was <- value(used)
  one_more <- function(levels) c(utils::tail(make.unique(c(levels, "new")), 1L), levels)
  is.null(was) || !identical(value(reordered(rev)), was) || !identical(value(reordered(one_more)), was)
}

# Values without what the engine does not see of them.
plain_values <- function(v) {
  if (is.null(v)) return(NULL)
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  if (is.factor(v)) as.character(v) else if (inherits(v, "difftime")) as.double(v, units = "secs") else as.vector(v)
}
