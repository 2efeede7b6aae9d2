# Arguments that are written with columns of the data: weights = exposure_years / 2, valid = year == 2020.
#
# One rule for all of them, that of lm(weights = ): a name means the column where the data have one, else a variable of
# where the argument was written. What names no column is evaluated as R evaluates any argument.

# The value of an argument (see R/arg_call.R) in the data; NULL is none, and has none.
in_data <- function(argument, data) {
  written <- argument$expression
  if (is.null(written)) return(NULL)
  ways <- list(function() eval(written, data, argument$env), argument$value)
  if (!any(all.vars(written) %in% names(data))) ways <- rev(ways) # it may be written with get("wt") all the same
  try_else(ways[[1L]](), function(problem) {
    if (inherits(problem, "gbt_error")) stop(problem)
    try_else(ways[[2L]](), function(problem) {
      if (inherits(problem, "gbt_error")) stop(problem)
      evaluate_part(written, data, argument$env)
    })
  })
}

# The argument of this name of the function that calls, in the data that its rows are in: a data frame, whose columns
# may be named, or something else, which has none to be looked at. NULL where it was not given.
given_in_data <- function(name, data, frame = parent.frame(), call = sys.call(sys.parent()), env = parent.frame(2L)) {
  written <- eval(call("substitute", as.name(name)), frame)
  in_data(new_argument(written, as.name(name), name, frame, call, env), if (is.data.frame(data)) data else list())
}

# How the arguments that were written with columns of the data are evaluated in the data of a validation set: functions
# of that, by name; NULL for one that was given as values, and no entry for one that was not given.
row_evaluators <- function(given, values, exposed, stratified, data) {
  had <- Filter(function(name) !is.null(values[[name]]), c("weights", "offset", "exposure", "group", "strata"))
  Map(function(argument, name) {
    if (name == "strata" && all(nzchar(stratified))) {
      return(function(valid) strata_columns(valid, stratified, "it does not have"))
    }
    e <- argument$expression
    if (name == "exposure" && nzchar(exposed)) e <- as.name(exposed)
    needed <- intersect(all.vars(e), names(data))
    if (length(needed) == 0L) return(NULL)
    seen <- term_conditions(list(), e, data, argument$env)
    function(valid) {
      absent <- setdiff(needed, names(valid))
      if (length(absent)) stop_data(sprintf("lacks %s, which `%s` needs", enumerate(absent), name), absent[1L])
      response_in(seen, e, valid, function(valid) evaluate_part(e, valid, argument$env))
    }
  }, lapply(stats::setNames(nm = had), function(name) given[[name]]), had)
}

# In a formula's data: list(names, value) of what was written, or NULL. argument: `strata`; columns: of strata() in the
# formula.
read_strata <- function(argument, columns, data) {
  value <- in_data(argument, data)
  if (length(columns)) {
    if (!is.null(value)) {
      stop_argument("`strata` is given as an argument and by strata() in the formula; leave one of them out", "strata")
    }
    return(list(names = columns, value = strata_columns(data, columns, "the data do not have")))
  }
  if (is.null(value)) return(NULL)
  if (is_column_name(value)) {
    columns <- as_utf8(value, "`strata`")
    return(list(names = columns, value = strata_columns(data, columns, "the data do not have")))
  }
  written <- argument$expression
  name <- if (is.name(written)) as.character(written) else ""
  list(names = if (name %in% names(data)) name else "", value = value)
}

# `valid` of a formula, in the data of which `keep` are the rows that `subset` and `na.action` leave (NULL for all):
# rows that it names among all rows become rows among those.
valid_in_data <- function(argument, data, keep) {
  valid <- in_data(argument, data)
  written <- argument$expression
  if (is.name(written) && as.character(written) %in% names(data) && !could_be_rows(valid, data)) {
    stop_argument(sprintf(paste("`valid = %s` means the column of the data, which comes before a variable of this",
                                "name; it is %s, and must have logical values or numbers of rows, or the variable",
                                "another name"), as.character(written), describe(valid)), "valid")
  }
  if (is.null(valid) || !is_rows(valid) || is.null(keep)) return(valid)
  held_rows(valid, .row_names_info(data, 2L))[keep]
}

could_be_rows <- function(valid, data) {
  if (!is_rows(valid)) return(FALSE)
  is.logical(valid) || (!anyNA(valid) && all(valid %in% seq_len(.row_names_info(data, 2L))) && !anyDuplicated(valid))
}

# `folds` of a formula: those that have a value for each row of the data are taken for the rows that are left.
folds_in_data <- function(argument, data, keep) {
  folds <- in_data(argument, data)
  each <- is.atomic(folds) && length(folds) > 1L && length(folds) == .row_names_info(data, 2L)
  if (each && !is.null(keep)) subset_rows(folds, keep) else folds
}

# The value of an argument of the interface without a formula, where names mean variables, never columns. If there is no
# such variable, the error says whether it is a column. x: the data; otherwise: another way to give it.
argument_value <- function(argument, name, x, otherwise = ", or use a formula") {
  try_else(argument$value(), function(problem) {
    lost <- variable_not_found(problem, argument$expression)
    if (is.null(lost)) stop(problem)
    hint <- if (!lost %in% names_of_table(x)) suggest(lost, names_of_table(x)) else
      if (canonical_name(name) %in% "exposure" && is.name(argument$expression)) {
        sprintf("; it is a column of the data: give its name as a text, %s = \"%s\"", name, lost)
      } else {
        sprintf("; it is a column of the data: give its values, as data$%s%s", lost, otherwise)
      }
    stop_argument(sprintf("`%s`: there is no object `%s`%s", name, lost, hint), name)
  })
}

# The same of an argument of the function that calls, which takes no formula.
value_given <- function(name, x, frame = parent.frame()) {
  force(frame)
  argument <- list(expression = eval(call("substitute", as.name(name)), frame),
                   value = function() evaluated(as.name(name), frame))
  argument_value(argument, name, x, "")
}

# A text is the name of a column. must_name: the argument, where a text that names no column is an error, unless it may
# be the value of the only row.
column_or_values <- function(value, data, must_name = NULL) {
  if (!is.data.frame(data) || !is.character(value) || length(value) != 1L) return(value)
  if (value %in% names(data)) return(.subset2(data, match(value, names(data))))
  if (!is.null(must_name) && nrow(data) != 1L) {
    stop_data(sprintf("`%s` names the column \"%s\", which the data do not have%s", must_name, printable(value),
                      suggest(value, names(data))), must_name)
  }
  value
}
