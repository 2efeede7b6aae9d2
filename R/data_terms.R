# Terms of a formula, evaluated by gbt itself. A model keeps the right side of its formula as text
# (R/data_formula.R), and a model file may come from anywhere. R's own evaluator is no place for such a text:
# whatever functions it may name, S3 dispatch finds others. So stored terms are written in a small language:
#
#   values      plain vectors: logical, integer, double, character, and factor, ordered, Date, POSIXct and difftime with
#               no attributes but levels, time zone and unit. Matrices of numbers occur as results only. No other
#               class can come to be: there is no way to set an attribute.
#   terms       constants, names of columns, names of base_constants, calls of the functions in terms_table
#               (R/data_terms_table.R), as.POSIXlt(t)$hour and the other fields. A function is found by its name in that
#               table and nowhere else; it is no value.
#   functions   a check of the arguments, then the function of base, stats or splines. Checks let only those
#               combinations through for which methods of these three packages, or none, are dispatched to.
#
# On these values a term has the very bits that R gives it. Whatever the language does not have raises the condition
# gbt_foreign_term: a model trained on such a term says so (`code` in R/data_formula.R), and R evaluates it.
#
# The work is bounded: nesting by terms_depth, lengths of values by terms_length (or the rows, if they are more), and by
# terms_bytes what the calls of a term make together besides a value for each row. What is allowed for few rows is
# allowed for many: a model must not refuse terms that it was trained on. Regular expressions are not in the language.

terms_depth <- 60L # arguments, other than the first, within arguments
terms_length <- 1e5
terms_bytes <- 2^28
terms_width <- 1e4 # bytes of the texts that are made for each row, on average

foreign_term <- function(...) {
  stop(structure(class = c("gbt_foreign_term", "error", "condition"), list(message = sprintf(...), call = NULL)))
}

# Where a term is evaluated. strict: for training, where a column of another class (a Date with a class of its own
# before it, say) may have methods that the language does not know; in new data it counts as what it inherits from.
# spent: how much of terms_bytes the calls have taken so far.
term_scope <- function(data, strict) {
  spent <- new.env(parent = emptyenv())
  spent$bytes <- 0
  list(data = data, n = .row_names_info(data, 2L), strict = strict, spent = spent)
}

# The first argument is followed in a loop: a sum of a hundred columns is a hundred calls deep.
term_value <- function(e, scope, depth = 0L) {
  if (!is.call(e)) return(term_atom(e, scope))
  outer <- list()
  while (is.call(e)) {
    name <- term_function(e, depth)
    if (!is.null(terms_forms[[name]]) || length(e) == 1L) break
    outer[[length(outer) + 1L]] <- e
    e <- e[[2L]]
  }
  value <- if (!is.call(e)) {
    term_atom(e, scope)
  } else if (name == "ifelse") {
    term_ifelse(e, scope, depth + 1L)
  } else if (name == "$") {
    term_field(e, scope, depth + 1L)
  } else {
    call_term(e, list(), scope, depth)
  }
  for (call in rev(outer)) value <- call_term(call, list(value), scope, depth)
  value
}

term_atom <- function(e, scope) if (is.name(e)) term_variable(as.character(e), scope) else term_constant(e)

# first: list of the first argument's value, when there is one.
call_term <- function(e, first, scope, depth) {
  name <- called_name(e[[1L]])
  if (name == "as.POSIXlt") foreign_term("it calls as.POSIXlt() without a field, as in as.POSIXlt(time)$hour")
  args <- as.list(e)[-1L]
  for (i in seq_along(args)) args[i] <- if (i == 1L) first else list(term_value(args[[i]], scope, depth + 1L))
  row <- terms_table[[name]]
  size <- do.call(row$check, args)
  if (is.list(size)) check_size(size, name, scope)
  fun <- if (is.null(row$fun)) name else row$fun
  if (is.character(fun)) fun <- get(fun, asNamespace(row$home), mode = "function")
  value <- term_result(with_warning_call(do.call(fun, args), e))
  count_bytes(scope, NROW(value), length(value) * if (is.character(value)) 64 else 8)
  value
}

# Before a call that may make much: see sized() in R/data_terms_table.R. Training must not accept what would be too much
# for the few rows of a prediction, so it allows only what does not depend on the rows.
check_size <- function(size, name, scope) {
  most <- if (scope$strict) terms_length else max(scope$n, terms_length)
  if (size$grows && size$values > most) foreign_term("%s() makes more than %.0f values or levels", name, most)
  count_bytes(scope, size$values, size$bytes)
}

count_bytes <- function(scope, values, bytes) {
  for_rows <- if (values == scope$n) terms_width * scope$n else 0
  scope$spent$bytes <- scope$spent$bytes + max(0, bytes - for_rows)
  if (scope$spent$bytes > terms_bytes) foreign_term("it makes values or texts of more than %.0f bytes", terms_bytes)
}

# Warnings as if R had evaluated the call: do.call() would show the values, a million of them maybe.
with_warning_call <- function(value, call) {
  withCallingHandlers(value, warning = function(w) {
    warning(simpleWarning(conditionMessage(w), call))
    invokeRestart("muffleWarning")
  })
}

# The name of the called function, which is in the table. Other functions, and empty arguments, are refused.
term_function <- function(e, depth) {
  if (depth >= terms_depth) foreign_term("it is nested deeper than %d calls", terms_depth)
  name <- called_name(e[[1L]])
  if (is.null(term_package(name))) foreign_term("it calls %s(), which is code", substr(name, 1L, 60L))
  for (arg in as.list(e)[-1L]) if (missing(arg)) foreign_term("it calls %s() with an empty argument", name)
  name
}

# "log" of log and base::log, "poly" of stats::poly; the text of anything else.
called_name <- function(head) {
  if (is.name(head)) return(as.character(head))
  scoped <- is.call(head) && length(head) == 3L && identical(head[[1L]], quote(`::`)) && is.name(head[[2L]]) &&
    is.name(head[[3L]])
  if (!scoped) return("a function that is computed: ")
  name <- as.character(head[[3L]])
  home <- term_package(name)
  if (is.null(home) || home != as.character(head[[2L]])) return(paste0(head[[2L]], "::", name))
  name
}

# The package of a function of the language; NULL for other names.
term_package <- function(name) if (!is.null(terms_forms[[name]])) "base" else terms_table[[name]]$home

term_constant <- function(e) {
  ok <- is.null(e) || ((is.numeric(e) || is.character(e) || is.logical(e)) && length(e) == 1L &&
                         is.null(attributes(e)))
  if (!ok) foreign_term("it holds a constant of type %s", typeof(e))
  e
}

term_variable <- function(name, scope) {
  at <- match(name, names(scope$data))
  if (!is.na(at)) return(term_column(.subset2(scope$data, at), name, scope))
  if (!name %in% base_constants) foreign_term("it uses `%s`, which is not a column", name)
  get(name, baseenv())
}

# The whole term: a value for each row of the data.
own_term_value <- function(e, data, strict) {
  scope <- term_scope(data, strict)
  value <- term_value(e, scope)
  if (!kind_of(value) %in% c(vector_kinds, "matrix")) foreign_term("it is not a vector")
  value
}

# A column as a value of the language: what it means, without whatever else is attached to it.
term_column <- function(v, name, scope) {
  if (is.null(attributes(v)) && is.atomic(v) && length(v) == scope$n) return(plain_vector(v, "plain"))
  classes <- if (is.object(v)) setdiff(class(v), "AsIs") else character(0)
  known <- c("factor", "Date", "POSIXct", "difftime")
  if (!scope$strict && inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  kind <- if (length(classes)) known[known %in% class(v)] else "plain"
  exact <- list(factor = c("ordered", "factor"), POSIXct = c("POSIXct", "POSIXt"), Date = "Date", difftime = "difftime")
  strange <- length(kind) != 1L || (scope$strict && !all(classes %in% exact[[kind]]))
  if (strange || !is.atomic(v) || is.null(v) || (length(dim(v)) > 1L && NCOL(v) != 1L)) {
    foreign_term("column `%s` is %s, which only R can evaluate", name, describe(v))
  }
  if (length(v) != scope$n) foreign_term("column `%s` has %d values for %d rows", name, length(v), scope$n)
  plain_vector(v, if (is.ordered(v)) "ordered" else kind)
}

# The value of a function of the table, without names.
term_result <- function(v) {
  if (is.null(attributes(v)) || is.list(v)) return(v)
  if (length(dim(v)) != 2L) return(plain_vector(v, if (is.object(v)) class(v)[1L] else "plain"))
  bare <- unclass(v)
  if (ncol(bare) == 1L) return(as.vector(bare))
  matrix(as.vector(bare), nrow(bare), dimnames = list(NULL, colnames(bare)))
}

plain_vector <- function(v, kind) {
  bare <- if (is.null(attributes(v))) v else as.vector(unclass(v))
  if (!typeof(bare) %in% c("logical", "integer", "double", "character")) {
    foreign_term("it has a value of type %s", typeof(bare))
  }
  number <- typeof(bare) %in% c("integer", "double")
  broken <- switch(kind, plain = FALSE, factor = , ordered = broken_factor(v), difftime = ,
                   Date = , POSIXct = !number)
  if (broken) foreign_term("it has a broken %s", kind)
  switch(kind,
    plain = bare,
    factor = structure(bare, levels = as.vector(levels(v)), class = "factor"),
    ordered = structure(bare, levels = as.vector(levels(v)), class = c("ordered", "factor")),
    Date = structure(bare, class = "Date"),
    POSIXct = structure(bare, class = c("POSIXct", "POSIXt"), tzone = plain_zone(attr(v, "tzone"))),
    difftime = structure(bare, class = "difftime", units = one_unit(attr(v, "units")))
  )
}

broken_factor <- function(v) {
  levels <- attr(v, "levels")
  codes <- unclass(v)
  !is.integer(codes) || !is.character(levels) || any(codes < 1L | codes > length(levels), na.rm = TRUE)
}

plain_zone <- function(zone) if (is.character(zone)) as.vector(zone)

one_unit <- function(unit) {
  if (!is.character(unit) || length(unit) != 1L || !unit %in% time_units) {
    foreign_term("it has a difftime without a known unit")
  }
  as.vector(unit)
}

# "number", "text", "factor", "ordered", "Date", "POSIXct", "difftime", "matrix", "list" or "nothing".
kind_of <- function(v) {
  if (is.null(v)) return("nothing")
  if (is.list(v)) return("list")
  if (is.object(v)) return(class(v)[1L])
  if (length(dim(v)) == 2L) return("matrix")
  if (is.character(v)) "text" else "number"
}

# Forms that are not called like functions -------------------------------------------------------------------------

# `yes` and `no` are evaluated if a row needs them, as in R: a warning of log() is for rows that take it.
term_ifelse <- function(e, scope, depth) {
  args <- as.list(match_term(terms_forms$ifelse, e))[-1L]
  if (length(args) != 3L) foreign_term("ifelse() takes three arguments")
  test <- term_value(args$test, scope, depth)
  if (!kind_of(test) %in% c("number", "text")) foreign_term("ifelse() takes a logical test")
  part <- function(e) {
    v <- term_value(e, scope, depth)
    if (kind_of(v) %in% c("nothing", "list", "matrix")) foreign_term("ifelse() takes vectors")
    check_lengths(length(test), length(v))
    v
  }
  term_result(ifelse(test, part(args$yes), part(args$no)))
}

time_fields <- c("sec", "min", "hour", "mday", "mon", "year", "wday", "yday", "isdst")

# as.POSIXlt(t)$hour
term_field <- function(e, scope, depth) {
  of <- time_call(e, depth)
  args <- lapply(as.list(of)[-1L], function(arg) term_value(arg, scope, depth + 1L))
  do.call(takes_time_of, args)
  as.vector(unclass(with_warning_call(do.call(as.POSIXlt, args), of))[[as.character(e[[3L]])]])
}

# as.POSIXlt(t) of as.POSIXlt(t)$hour
time_call <- function(e, depth) {
  of <- if (length(e) == 3L) e[[2L]]
  ok <- is.call(of) && term_function(of, depth) == "as.POSIXlt" && is.name(e[[3L]]) &&
    as.character(e[[3L]]) %in% time_fields
  if (!ok) foreign_term("it calls $, which is code unless it is as.POSIXlt(time)$hour or another field of a time")
  of
}

# Calls that are evaluated by their form, and their arguments.
terms_forms <- list(ifelse = function(test, yes, no) NULL, `$` = function(x, name) NULL,
                    as.POSIXlt = function(x, tz, ...) NULL)

# Arguments by R's rules; those that do not fit are no term of the language.
match_term <- function(fun, e) {
  try_else(match.call(fun, e, expand.dots = FALSE), function(problem) foreign_term("%s", conditionMessage(problem)))
}

# Before evaluation -------------------------------------------------------------------------------------------------

# Raises gbt_foreign_term when the term is not in the language whatever the data are.
check_term <- function(e, depth = 0L) {
  while (is.call(e)) {
    name <- term_function(e, depth)
    if (name == "as.POSIXlt") foreign_term("it calls as.POSIXlt() without a field, as in as.POSIXlt(time)$hour")
    if (name == "$") e <- time_call(e, depth)
    form <- terms_forms[[called_name(e[[1L]])]]
    match_term(if (is.null(form)) terms_table[[name]]$check else form, e)
    args <- as.list(e)[-1L]
    for (arg in args[-1L]) check_term(arg, depth + 1L)
    if (length(args) == 0L) return(invisible())
    e <- args[[1L]]
  }
  if (!is.name(e)) term_constant(e)
  invisible()
}

# Is the term in the language, and are its functions and constants, found where the formula was written, those of the
# language? A user's own log() is not.
is_own_term <- function(e, data, from) {
  try_foreign({
    check_term(e)
    heads <- functions_of(list(e))
    constants <- setdiff(intersect(variables_of(list(e)), base_constants), names(data))
    is_original <- function(name, mode) {
      home <- if (mode == "any") "base" else term_package(name)
      identical(get0(name, from, mode = mode), get0(name, asNamespace(home), mode = mode))
    }
    all(vapply(heads[!grepl("::", heads, fixed = TRUE)], is_original, NA, "function")) &&
      all(vapply(constants, is_original, NA, "any"))
  }, function(why) FALSE)
}

try_foreign <- function(expr, otherwise) {
  tryCatch(expr, gbt_foreign_term = function(e) otherwise(conditionMessage(e)))
}

# A call within a formula: of a function of the language, offset(), Surv() or cbind().
check_formula_call <- function(call) {
  head <- call[[1L]]
  if (identical(head, quote(offset)) || is_surv_call(call) || is_columns_call(call)) return(invisible())
  if (identical(call, quote(survival::Surv))) return(invisible())
  if (identical(head, quote(`::`)) && !is.null(term_package(called_name(call)))) return(invisible())
  if (term_function(call, 0L) == "$") time_call(call, 0L)
}
