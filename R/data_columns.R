# Responses of several columns: a matrix or a data frame of numbers or logical values, each column an output of the
# model. A cell may be NA: the row says nothing of this output.

matrix_responses <- c("matrix", "logical_matrix") # what the response was, see encode_y()

is_of_columns <- function(response) response %in% matrix_responses

# May an objective have such a response?
may_have_columns <- function(name) objective_info(name)$outputs == "COLUMNS"

# Has y several columns?
has_columns <- function(y) {
  if (is.data.frame(y)) return(length(y) > 1L)
  !isS4(y) && !inherits(y, "Surv") && length(dim(y)) == 2L && ncol(y) > 1L
}

# The label of such a response: a vector of class gbt_columns with a number for each row, those of the first column, so
# that rows are counted and taken as those of other labels. The matrix is the attribute `columns`.
new_columns <- function(m) structure(as.double(m[, 1L]), columns = m, class = "gbt_columns")

#' @export
`[.gbt_columns` <- function(x, i) new_columns(attr(x, "columns")[i, , drop = FALSE])

# The matrix of a label, NULL where it is of one column.
matrix_of_label <- function(label) if (inherits(label, "gbt_columns")) attr(label, "columns")

# All numbers of a label that are there.
numbers_of_label <- function(label) {
  m <- matrix_of_label(label)
  if (is.null(m)) label else m[!is.na(m)]
}

# A function of single labels, for each column of the label: its result for the last one.
for_each_column <- function(label, f) {
  m <- matrix_of_label(label)
  if (is.null(m)) return(f(label))
  for (j in seq_len(ncol(m))) out <- in_column(colnames(m)[j], f(m[!is.na(m[, j]), j]))
  out
}

# `code` that looks at one column of the response, which its errors and warnings name.
in_column <- function(name, code) in_part(sprintf("column `%s` of the response", name), code, name)

# part: how messages call a part of the response; column: its name, where it is a column.
in_part <- function(part, code, column = NULL) {
  named <- function(condition) {
    condition$message <- sprintf("%s: %s", part, conditionMessage(condition))
    condition
  }
  withCallingHandlers(tryCatch(code, gbt_error_data = function(e) {
    if (!is.null(column)) e$column <- e$subject <- column
    stop(named(e))
  }), gbt_warning = function(w) {
    warning(named(w))
    invokeRestart("muffleWarning")
  })
}

# A column that no row has a value of is an error. so: what follows for it.
check_columns_filled <- function(m, so) {
  gone <- colnames(m)[colSums(!is.na(m)) == 0]
  if (length(gone)) {
    stop_data(sprintf("column `%s` of the response is missing in all rows, so it %s", gone[1L], so), gone[1L])
  }
}

# Label and weights by the engine's names. Cells that are NA weigh 0, and have a number of their column there.
fields_of_columns <- function(label, weight) {
  m <- matrix_of_label(label)
  absent <- is.na(m)
  if (!any(absent)) return(list(label = as.double(m), weights = weight))
  for (j in which(colSums(absent) > 0)) m[absent[, j], j] <- c(m[!absent[, j], j], 0.5)[1L]
  list(label = as.double(m), weights = as.double((!absent) * given_or(weight, 1)))
}

# ---- from y ----

# As encode_y(), with `columns`: names of the columns; `logical`: those that are, among columns of numbers.
encode_columns <- function(y, what) {
  names <- names_of_columns(y, what)
  values <- lapply(seq_along(names), function(j) {
    column_of_response(if (is.data.frame(y)) .subset2(y, j) else y[, j], names[j], what)
  })
  logical <- all(vapply(values, is.logical, NA))
  m <- matrix(as.double(unlist(values)), ncol = length(names), dimnames = list(NULL, names))
  empty <- which(rowSums(!is.na(m)) == 0)
  if (length(empty)) {
    stop_data(sprintf("%s is missing in every column in %s; leave such rows out", what,
                      counted_rows(empty, "row")), "y")
  }
  some <- if (!logical) names[vapply(values, is.logical, NA)]
  list(value = new_columns(m), response = if (logical) "logical_matrix" else "matrix", classes = NULL, columns = names,
       logical = some)
}

column_of_response <- function(v, name, what) {
  v <- meant_values(v, sprintf("column `%s` of %s", name, what), "y", character(0))
  if (inherits(v, "integer64")) v <- as_numbers(v, sprintf("column `%s` of %s", name, what))
  plain <- (is.numeric(v) || is.logical(v)) && !is.object(v) && length(dim(v)) < 2L
  if (!plain) {
    hint <- if (is.factor(v) || is.character(v)) "; labels of two classes are logical values: y == \"yes\"" else ""
    stop_data(sprintf("column `%s` of %s must be numbers or logical values, not %s%s", name, what, describe(v), hint),
              name)
  }
  infinite <- which(is.infinite(v))
  if (length(infinite)) {
    stop_data(sprintf("column `%s` of %s has %s", name, what, counted_rows(infinite, "infinite value")), name)
  }
  v
}

names_of_columns <- function(y, what) {
  n <- ncol(y)
  names <- if (is.data.frame(y)) names(y) else colnames(y)
  names <- if (is.null(names)) rep("", n) else as_utf8(names, paste("the name of a column of", what))
  none <- is.na(names) | names == ""
  names[none] <- paste0("y", seq_len(n))[none]
  if (anyDuplicated(names)) {
    stop_data(sprintf("%s has two columns `%s`; give them different names", what, names[anyDuplicated(names)]), "y")
  }
  names
}

# Which columns no row of any rank has a value of?
columns_gone <- function(m) !vapply(seq_len(ncol(m)), function(j) any_rank(!all(is.na(m[, j]))), NA)

# Is there such a column in a label?
misses_column <- function(label) {
  m <- matrix_of_label(label)
  !is.null(m) && any(columns_gone(m))
}

# Metrics of such a column have no value.
warn_columns_gone <- function(label) {
  m <- matrix_of_label(label)
  gone <- if (!is.null(m)) colnames(m)[columns_gone(m)]
  if (length(gone)) {
    warn_gbt("column", sprintf("column `%s` of the response is missing in all rows, so its metrics have no value",
                               gone[1L]))
  }
}

# Columns that no row has a value of cannot be learned. label: of the rows that are trained on.
check_columns_seen <- function(label) {
  m <- matrix_of_label(label)
  if (is.null(m)) return(invisible())
  gone <- colnames(m)[columns_gone(m)]
  if (length(gone)) {
    stop_data(sprintf("column `%s` of the response is missing in all rows that are trained on; leave it out", gone[1L]),
              gone[1L])
  }
}

# e, of encode_columns(), for training: with the objective's name.
settle_columns <- function(e, name) {
  given <- !is.null(name)
  numbers <- numbers_of_label(e$value)
  zero_one <- all(numbers == 0 | numbers == 1)
  if (!given) {
    name <- if (e$response == "logical_matrix") "logistic" else "squared_error"
    if (e$response == "matrix" && zero_one) {
      say(if (length(e$logical)) {
        sprintf(paste("the response has columns of numbers, 0 and 1, and logical columns (%s): squared error is",
                      "minimised for all; for labels: `objective = \"logistic\"`"), enumerate(e$logical))
      } else {
        paste("the columns of the response are 0 and 1, numbers, so squared error is minimised; for labels:",
              "`objective = \"logistic\"`")
      })
    }
    if (!zero_one && length(e$logical)) {
      say(sprintf(paste("the response has numbers and logical columns (%s): squared error is minimised for all, so",
                        "predictions of the latter are no probabilities; for these train a model of logical columns"),
                  enumerate(e$logical)))
    }
    counts <- successes_hint(matrix_of_label(e$value))
    if (!zero_one && nzchar(counts)) say(paste0("each column of the response is predicted", counts))
  }
  refuse_columns_of(name)
  check_column_labels(e$value, name, "the response",
                      if (name == "logistic") successes_hint(matrix_of_label(e$value)) else "")
  name
}

refuse_columns_of <- function(name) {
  if (may_have_columns(name)) return(invisible())
  if (is_given(name)) {
    stop_unsupported(paste("the response has several columns, and a custom objective takes one: train a model for",
                           "each column"), "y")
  }
  if (is_of_times(name)) {
    stop_unsupported(sprintf("objective \"%s\" takes times and events as survival::Surv(time, event), not as a matrix",
                             name), "y")
  }
  offered <- offered_objectives()
  offered <- offered[vapply(offered, may_have_columns, NA)]
  stop_unsupported(sprintf(paste("the response has several columns, and objective \"%s\" takes one: train a model for",
                                 "each column; objectives for several are %s"), name,
                           enumerate(offered, length(offered), "\"")), "y")
}

# Are all labels what the objective is made for?
check_column_labels <- function(label, objective, what, hint = "") {
  m <- matrix_of_label(label)
  range <- label_ranges[[objective_info(objective)$labels]]
  if (is.null(range)) return(invisible())
  for (j in seq_len(ncol(m))) {
    bad <- which(range$wrong(m[, j]))
    if (length(bad)) {
      stop_data(sprintf("objective \"%s\" needs %s; column `%s` of %s has %s in row %d%s", objective, range$text,
                        colnames(m)[j], what, format(m[bad[1L], j]), bad[1L], hint), colnames(m)[j])
    }
  }
}

# The response of other rows than those of training, as its label.
encode_valid_columns <- function(y, response, n_rows, what) {
  if (!has_columns(y)) {
    stop_data(sprintf("%s has one column, and the model has %d: %s", what, length(response$columns),
                      enumerate(response$columns)), "y")
  }
  rows <- response_rows(y)
  if (rows != n_rows) stop_data(sprintf("%s has %s for %s", what, counted(rows, "row"), counted(n_rows, "row")), "y")
  named <- !is.null(if (is.data.frame(y)) names(y) else colnames(y))
  check_response_columns(names_of_columns(y, what), named, response$columns, what) # before cells are looked at
  m <- matrix_of_label(encode_columns(y, what)$value)
  if (named) m <- m[, response$columns, drop = FALSE]
  colnames(m) <- response$columns
  check_column_labels(new_columns(m), response$objective, what)
  new_columns(m)
}

# Are these the columns of the model's response? named: do they have names, by which they are found?
check_response_columns <- function(has, named, columns, what) {
  if (!named) {
    if (length(has) == length(columns)) return(invisible())
    stop_data(sprintf("%s has %d columns without names, and the model has %d: %s", what, length(has), length(columns),
                      enumerate(columns)), "y")
  }
  absent <- setdiff(columns, has)
  other <- setdiff(has, columns)
  if (length(absent)) {
    near <- if (length(absent) == 1L) suggest(absent, other) else ""
    stop_data(sprintf("%s lacks columns that the model has: %s%s", what, enumerate(absent), near), absent[1L])
  }
  if (length(other)) {
    stop_data(sprintf("%s has columns that the model does not have: %s; leave them out", what, enumerate(other)),
              other[1L])
  }
}

# A verb that takes models of one response. what: the clause that says what it does not take.
refuse_columns <- function(model, what) {
  if (is.null(model$columns)) return(invisible())
  stop_unsupported(sprintf("the model has a response of several columns, %s, and %s", enumerate(model$columns), what),
                   "model")
}

columns_text <- function(columns) if (is.null(columns)) "one column" else paste("the columns", enumerate(columns))
