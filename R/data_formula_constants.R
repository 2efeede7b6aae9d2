# Constants of a formula: variables that are no columns, such as k in poly(x, k), found where the formula was written.
# They are written into the terms by their values before training, so that a model has them and nothing of where they
# came from: poly(x, k) with k = 2 is trained and stored as poly(x, 2) is. Plain vectors and dates only, and few values;
# what has a value for each row is data, and must be a column.

constants_most <- 100L # values
constants_bytes <- 1e4 # of the text that gives them

# The expressions with their constants in place. data: the columns; from: where the formula was written.
with_constants <- function(expressions, data, from) {
  names <- setdiff(variables_of(expressions), c(names(data), base_constants))
  values <- list()
  for (name in names) values[[name]] <- constant_expression(get0(name, from), name, .row_names_info(data, 2L))
  if (length(values) == 0L) return(expressions)
  lapply(expressions, put_constants, values)
}

# The same of a response, which need not be a column: what is no constant stays a variable.
response_with_constants <- function(lhs, data, from) {
  if (!is.call(lhs)) return(lhs)
  values <- list()
  for (name in setdiff(variables_of(list(lhs)), c(names(data), base_constants))) {
    value <- get0(name, from)
    if (NROW(value) == .row_names_info(data, 2L)) next
    values[[name]] <- tryCatch(constant_expression(value, name, 0), gbt_error_data = function(e) NULL)
  }
  put_constants(lhs, values)
}

# The constants of a formula by name, as values: a call that is evaluated again must mean the same, see gbt_refit().
# Called when all have been checked.
constants_of <- function(formula, data, from) {
  names <- setdiff(variables_of(as.list(formula)[-1L]), c(names(data), base_constants, "."))
  values <- mget(names, envir = from, inherits = TRUE, ifnotfound = list(NULL))
  Filter(function(v) {
    !(NROW(v) == .row_names_info(data, 2L) && NROW(v) > 1L) &&
      !is.null(tryCatch(constant_expression(v, "", 0), gbt_error_data = function(e) NULL))
  }, values)
}

# A formula in whose place these constants are found before anything else.
formula_with_constants <- function(formula, values, env) {
  if (length(values) == 0L) return(formula)
  from <- environment(formula)
  environment(formula) <- list2env(values, parent = if (is.null(from)) env else from)
  formula
}

# A value as an expression that gives it. NULL where there is none of this name, which check_names_of() tells.
constant_expression <- function(value, name, n_rows) {
  if (is.null(value) || is.function(value)) return(NULL)
  is_date <- identical(oldClass(value), "Date") && is.null(names(value)) && all(is.na(value) | unclass(value) %% 1 == 0)
  plain <- is.atomic(value) && typeof(value) %in% c("logical", "integer", "double", "character") &&
    length(setdiff(names(attributes(value)), "names")) == 0L
  problem <- if (!plain && !is_date) {
    sprintf("is %s where the formula was written; only numbers, texts, logical values and dates", describe(value))
  } else if (length(value) == 0L || length(value) > constants_most) {
    sprintf("has %s where the formula was written; only 1 to %d", counted(length(value), "value"), constants_most)
  } else if (length(value) == n_rows && n_rows > 1L) {
    "has a value for each row where the formula was written; make it a column: only constants"
  }
  if (!is.null(problem)) {
    stop_data(sprintf("the formula uses `%s`, which is not a column of the data and %s are kept in a model", name,
                      problem), name)
  }
  text <- exact_text(if (is_date) format(value) else value)
  if (nchar(text, "bytes") > constants_bytes) {
    stop_data(sprintf(paste("the formula uses `%s`, which is not a column of the data; its texts are too long to keep",
                            "in a model"),
                      name), name)
  }
  e <- str2lang(text)
  if (is_date) call("as.Date", e) else e
}

# Names of fields, as in t$hour, and of functions are none of variables.
put_constants <- function(e, values) {
  if (is.name(e)) return(given_or(values[[as.character(e)]], e))
  if (!is.call(e)) return(e)
  is_field <- is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("$", "@", "::", ":::")
  places <- seq_along(e)[-1L]
  if (is_field) places <- if (as.character(e[[1L]]) %in% c("$", "@")) 2L
  if (is.call(e[[1L]])) e[[1L]] <- put_constants(e[[1L]], values)
  for (i in places) if (!identical(e[[i]], quote(expr = ))) e[[i]] <- put_constants(e[[i]], values)
  e
}
