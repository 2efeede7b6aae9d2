# The training data of a captured call (see R/arg_call.R), by the class of its first argument: a list of
#   source   the data and what goes with them, see the top of R/fit.R
#   given    values of all other arguments, by the names as typed
#   folds    the value of the argument `folds`, where there is one: with a formula it may name columns
# Every way into training is one of the functions below.

source_of <- function(captured, folds = NULL) {
  names <- names(captured$args)
  names(captured$args)[c(which(names == "x"), which(names == "formula"))[1L]] <- "x"
  if (is.null(captured$args[["x"]])) stop_no_x(captured$args)
  x <- first_value(captured$args)
  if (inherits(x, "formula")) return(formula_source(x, captured, folds))
  if (inherits(x, "recipe")) return(recipe_source(x, captured$args, folds))
  if (inherits(x, "gbt_data")) return(prepared_source(x, captured$args, folds))
  if (is_row_source(x)) return(streamed_source(x, captured$args, folds))
  table_source(if (inherits(x, "ArrowTabular")) as.data.frame(x) else x, captured$args, folds)
}

# The value of `x`, of which a name may be a column of what comes after it.
first_value <- function(args) {
  x <- args[["x"]]
  try_else(x$value(), function(problem) {
    if (!is.name(x$expression)) stop(problem)
    others <- args[!names(args) %in% "x"]
    stop_lost_x(problem, as.character(x$expression), if (length(others)) others[[1L]]$value())
  })
}

formula_source <- function(x, captured, folds) {
  args <- placed(captured$args, function(x, data, ...) NULL)
  names(args) <- printable(names(args))
  part <- canonical_name(names(args))
  own <- c("x", "data", "na.action", "subset")
  unknown <- setdiff(names(args)[is.na(part)], c("", "formula", "params", own))
  for (name in unknown) { # before its value is evaluated, which may be the name of a column
    if (is.null(find_foreign("train", name))) refuse_name(name)
  }
  part[names(args) == "subset"] <- "subset"
  in_rows <- list()
  for (i in which(part %in% c(row_arguments, "subset"))) {
    if (!is.null(in_rows[[part[i]]]$expression)) {
      stop_argument(contradiction(part[i], names(args)[i], part[i]), part[i])
    }
    in_rows[part[i]] <- args[i]
  }
  valid <- args[part %in% "valid"]
  given <- values_of(args[!part %in% c(row_arguments, "subset", "valid") & !names(args) %in% own])
  data <- values_of(args[names(args) %in% c("data", "na.action")])
  x <- formula_with_constants(x, captured$constants, captured$env)
  na_action <- if ("na.action" %in% names(data)) data$na.action else stats::na.pass
  if (is_row_source(data[["data"]])) {
    if (!identical(na_action, stats::na.pass)) stop_no_rows_chosen("na.action")
    return(streamed_formula_source(x, data$data, in_rows, c(given, values_of(valid)), folds_as_values(folds, NULL)))
  }
  read <- read_formula(x, data[["data"]], in_rows, na_action, captured$env)
  source <- list(x = read$x, y = read$y, weights = read$weights, offset = read$offset, exposure = read$exposure,
                 exposed = read$exposed, mask = read$mask, time = read$time, group = read$group, strata = read$strata,
                 position = read$position, stratified = read$stratified, design = read$design, formula = read$formula,
                 parsed = x,
                 columns = read$columns, in_rows = read$in_rows, constants = read$constants)
  list(source = source, given = c(given, lapply(valid, valid_in_data, read$data, read$keep)),
       folds = folds_in_data(folds, read$data, read$keep))
}

# x: a data frame or a matrix, dense or sparse.
table_source <- function(x, args, folds) {
  refuse_no_table(x)
  args <- placed(args, function(x, y, ...) NULL)
  given <- values_of(args[!names(args) %in% c("x", "y")], x)
  y <- if ("y" %in% names(args)) response_value(args[["y"]], args[["x"]], x)
  if (is.null(y)) {
    y <- given[["label"]] # what other packages call it
    given[["label"]] <- NULL
  }
  if (is.null(y)) stop_no_y(args, x)
  check_no_formula(y)
  list(source = list(x = x, y = y), given = given, folds = folds_as_values(folds, x))
}

# The value of `y`; gbt_train(cars, mpg): there is no variable `mpg`, but the data may have such a column.
response_value <- function(y, x, table) {
  try_else(values_of(list(y = y))[["y"]], function(problem) {
    lost <- variable_not_found(problem, y$expression)
    if (is.null(lost)) stop(problem)
    columns <- columns_known(table)
    hint <- if (lost %in% columns && is.name(y$expression)) {
      paste0("; it is a column of the data, so ", call_in_order(x, y))
    } else {
      suggest(lost, columns)
    }
    stop_argument(sprintf("`y`: there is no object `%s`%s", lost, hint), "y")
  })
}

check_no_formula <- function(y) {
  if (!inherits(y, "formula")) return(invisible())
  stop_argument(sprintf("the formula comes first, and then the data: gbt_train(%s, data)",
                        paste(deparse(y, 60L, nlines = 1L), collapse = "")), "y")
}

# x: gbt_data.
prepared_source <- function(x, args, folds) {
  check_data(x, "x")
  args <- placed(args, function(x, y, ...) NULL)
  given <- values_of(args[!names(args) %in% c("x", "y")], NULL)
  y <- values_of(args[names(args) == "y"])[["y"]]
  if (is.null(y)) y <- if (is.null(given[["label"]])) x$label else given[["label"]]
  given[["label"]] <- NULL
  if (is.null(y)) stop_argument("the data have no label: gbt_data(x, label = ), or gbt_train(data, y)", "y")
  source <- list(data = x, y = y)
  said <- canonical_name(printable(given_or(names(given), character(0))))
  for (part in setdiff(c("weights", "offset", "time", "group", "position"), said)) {
    source[[part]] <- x[[if (part == "weights") "weight" else part]]
  }
  if (!is.null(x$exposed) && "offset" %in% said) {
    stop_argument(paste("the offset of the gbt_data already includes its exposure, so `offset` cannot replace it;",
                        "recreate the gbt_data with both"), "offset")
  }
  source$exposed <- x$exposed
  list(source = source, given = given, folds = folds_as_values(folds, NULL))
}

# Values of arguments, without those that the calling function was not given. x: the data, whose columns messages know.
values_of <- function(args, x = NULL) {
  args <- args[!vapply(args, `[[`, NA, "missing")]
  if (length(args) == 0L) return(list())
  by_row <- canonical_name(printable(names(args))) %in% c(row_arguments, "valid")
  Map(function(argument, name, by_row) {
    if (by_row) return(argument_value(argument, name, x))
    if (!canonical_name(printable(name)) %in% c("cat_features", "level_counts")) return(argument$value())
    try_else(argument$value(), function(problem) {
      stop_bare_names(problem, argument$expression, name, columns_known(x))
    })
  }, args, names(args), by_row)
}

# `folds` of an interface without a formula.
folds_as_values <- function(folds, x) if (!is.null(folds)) argument_value(folds, "folds", x)

refuse_no_table <- function(x) {
  if (is.data.frame(x) || is.matrix(x) || (isS4(x) && methods::is(x, "Matrix"))) return(invisible())
  if (is.character(x) && length(x) == 1L && grepl("~", printable(x), fixed = TRUE)) {
    stop_argument(sprintf("a formula has no quotation marks: gbt_train(%s, data), or as.formula(x)", printable(x)), "x")
  }
  encode_x(x) # says what would do instead
  stop_data(sprintf("gbt_train() takes a data frame, a matrix, a sparse matrix, gbt_data or a formula, not %s",
                    describe(x)))
}

# gbt_train(data = d, target = "y"): the data and the response have the places that other packages give them, if any.
stop_no_x <- function(args) {
  call <- call_in_order(argument_meant("data", args), argument_meant("response", args))
  if (is.null(call)) call <- sprintf("%1$s(x, y) with a data frame or a matrix, or %1$s(y ~ ., data)", trainer_called())
  stop_argument(paste("`x` is missing:", call), "x")
}

# gbt_train(d, target = "y").
stop_no_y <- function(args, x) {
  response <- argument_meant("response", args)
  call <- if (!is.null(response)) {
    call_in_order(given_or(args[["x"]], list(expression = quote(x))), response)
  } else {
    sprintf("give the response, %1$s(x, y), or a formula, %1$s(y ~ ., data)", trainer_called())
  }
  stop_argument(paste("`y` is missing:", call), "y")
}

# The first of some arguments whose name says in other packages that it is the data, or the response; NULL where there
# is none.
argument_meant <- function(what, args) {
  reply <- switch(what, data = "the data are the first argument", response = "the response is the second argument")
  meant <- vapply(printable(given_or(names(args), character(0))), function(name) {
    known <- find_foreign("train", name)
    !is.null(known) && startsWith(known$reply, reply)
  }, NA)
  if (any(meant)) args[[which(meant)[1L]]]
}

# The same arguments as gbt_train() takes them, for a message: a column is named in a formula, values are the second
# argument. data, response: arguments, or NULL.
call_in_order <- function(data, response) {
  if (is.null(data)) return(NULL)
  short <- function(e, other) {
    if (!is.language(e)) return(other) # of do.call(): the values themselves
    text <- paste(deparse(e, 60L, nlines = 2L), collapse = "")
    if (nchar(text) <= 40L) printable(text) else other
  }
  d <- short(data$expression, "data")
  if (is.null(response)) {
    return(sprintf("a formula comes first, and then the data: %s(response ~ ., data = %s)", trainer_called(), d))
  }
  name <- column_meant(response$expression, data$expression)
  if (is.null(name)) {
    return(sprintf("data and response are the first two arguments: %s(%s, %s)", trainer_called(), d,
                   short(response$expression, "y")))
  }
  values <- if (is.name(response$expression)) sprintf("; values of its own: %s(%s, %s)", trainer_called(), d,
                                                      short(response$expression, "y"))
  sprintf("the response is named by a formula, and then come the data: %s(%s ~ ., data = %s)%s", trainer_called(),
          quote_name(printable(name)), d, given_or(values, ""))
}

# The function that the user called to train: gbt_train(), gbt_cv(), ...
trainer_called <- function() {
  call <- user_call()
  name <- if (is.call(call)) utils::tail(as.character(call[[1L]]), 1L)
  if (is_text(name) && name %in% c("gbt_cv", "gbt_tune")) name else "gbt_train"
}

# The name in "y", y, data$y and data[["y"]]; NULL for other expressions.
column_meant <- function(e, data) {
  if (is.name(e)) return(as.character(e))
  if (is_text(e) && nzchar(e)) return(e)
  of_data <- is.call(e) && length(e) == 3L && as.character(e[[1L]])[1L] %in% c("$", "[[") && identical(e[[2L]], data)
  if (of_data) column_meant(e[[3L]], NULL)
}

# gbt_train(mpg, cars): there is no variable `mpg`, but the next argument may have such a column. problem: R's error.
stop_lost_x <- function(problem, name, data) {
  if (is.null(variable_not_found(problem, as.name(name)))) stop(problem)
  hint <- if (is.data.frame(data) && name %in% names(data)) {
    sprintf("; it is a column of the data, so give a formula, gbt_train(%s ~ ., data), or gbt_train(x, y)", name)
  } else ""
  stop_argument(sprintf("there is no object `%s`%s", name, hint), "x")
}
