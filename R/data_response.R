# Responses as numbers and classes, and their way into files.

# Kinds of Surv objects, see R/data_surv.R.
surv_types <- c("surv_right", "surv_left", "surv_interval", "surv_counting", "surv_mright", "surv_mcounting")

# The kinds of responses: see encode_y().
response_types <- c("double", "integer", "logical", "factor", "ordered", "character", "integer64", surv_types,
                    "matrix", "logical_matrix")

# y as numbers. list(value = dbl, response = chr, classes = chr or NULL): classes are numbered from 0 by their place in
# `classes`. `response` says what y was, so that predict(type = "class") can answer in kind:
# "factor", "ordered", "character", "logical" have classes; "integer", "double", "integer64" have none. With
# classes also `used`: the places of those that occur (in the response's own order of classes).
# classes: those of the training data when y is a validation set's; texts are matched. advice: about missing values.
encode_y <- function(y, classes = NULL, what = "the response", advice = "leave such rows out") {
  if (is.data.frame(y) && length(y) == 1L) y <- .subset2(y, 1L)
  if (inherits(y, "Surv")) {
    out <- encode_surv(y, what, advice)
    check_same_on_ranks(out$response, paste("the class of", what), "; give all ranks the same class")
    return(out)
  }
  if (has_columns(y)) {
    out <- encode_columns(y, what)
    check_same_on_ranks(c(out$response, out$columns), paste("the columns of", what), "; give all ranks the same")
    return(out)
  }
  if (!isS4(y) && length(dim(y)) == 2L && ncol(y) == 1L) dim(y) <- NULL
  y <- meant_values(y, what, "y", character(0))
  check_response(y, what, advice)
  out <- if (is.factor(y)) {
    encode_factor_y(y, what)
  } else if (is.character(y)) {
    encode_text_y(y)
  } else if (is.logical(y)) {
    list(value = as.double(y), response = "logical", classes = c("FALSE", "TRUE"),
         used = sort(all_ranks_have(c(if (!all(y)) 1L, if (any(y)) 2L))))
  } else if (inherits(y, "integer64")) {
    if (!requireNamespace("bit64", quietly = TRUE)) stop_data("a response of class integer64 needs the package bit64")
    list(value = as_numbers(y, what), response = "integer64", classes = NULL)
  } else {
    list(value = as.double(y), response = typeof(y), classes = NULL)
  }
  if (!is.null(names(out$value))) names(out$value) <- NULL # unasked it would copy a plain vector
  check_same_on_ranks(out$response, paste("the class of", what), "; give all ranks the same class")
  if (is.factor(y)) {
    check_same_on_ranks(out$classes, paste("the levels of", what), "; give all ranks factor(y, levels = )")
  }
  if (is.null(classes)) out else match_classes(out, classes, what)
}

# A vector without missing values, of a kind that can be a response.
check_response <- function(y, what, advice) {
  bad <- if (is.null(y)) {
    "is missing"
  } else if (!isS4(y) && (length(dim(y)) > 1L || is.data.frame(y))) {
    "must have one column or several, and two dimensions"
  } else if (inherits(y, c("Date", "POSIXt", "difftime"))) {
    sprintf("is a %s; turn it into a number with as.numeric() or into classes with factor()", class(y)[1L])
  } else if (!is.atomic(y) || is.complex(y) || is.raw(y)) {
    sprintf("must be numbers, a factor, texts or logical values, not %s", describe(y))
  }
  if (!is.null(bad)) stop_data(paste(what, bad), "y")
  if (anyNA(y)) {
    stop_data(sprintf("%s has %s; %s", what, counted_rows(which(is.na(y)), "missing value"), advice), "y")
  }
}

# Two columns of counts may be successes and failures, as glm() takes them.
successes_hint <- function(y) {
  counts <- length(dim(y)) == 2L && ncol(y) == 2L && all(vapply(seq_len(2L), function(j) {
    one <- y[, j]
    is.numeric(one) && !is.object(one) && !anyNA(one) && all(one >= 0 & one == floor(one))
  }, NA))
  if (!counts) return("")
  paste0("; for numbers of successes and failures give the share of successes as the response, their sum as `weights`",
         " and `objective = \"logistic\"`")
}

encode_factor_y <- function(y, what) {
  classes <- as_utf8(levels(y), "a class")
  broken <- if (typeof(y) != "integer") {
    "its codes are not integers"
  } else if ((twin <- .Call(C_gbt_text_twin, classes)) > 0) {
    sprintf("level \"%s\" is there twice", classes[twin])
  } else if (length(y) > 0L && (min(unclass(y)) < 1L || max(unclass(y)) > length(classes))) {
    "it has codes without a level"
  }
  if (!is.null(broken)) {
    stop_data(sprintf("%s is a broken factor (%s); recreate it with factor()", what, broken), "y")
  }
  if (anyNA(classes)) stop_data(sprintf("%s has a level NA; leave such rows out, or name the level", what), "y")
  list(value = as.double(y) - 1, response = if (is.ordered(y)) "ordered" else "factor", classes = classes,
       used = sort(all_ranks_have(which(tabulate(y, length(classes)) > 0L))))
}

# Classes of texts are those that occur, in the order of their bytes.
encode_text_y <- function(y) {
  seen <- text_codes(if (is.object(y)) as.vector(unclass(y)) else y, "a class")
  classes <- sort(all_ranks_have(seen$texts), method = "radix")
  list(value = (match(seen$texts, classes) - 1)[seen$codes], response = "character", classes = classes,
       used = seq_along(classes))
}

# The response y of a validation set in the classes of the training data.
match_classes <- function(y, classes, what) {
  if (is.null(y$classes)) {
    stop_data(sprintf("%s has numbers where classes are expected; give the classes of the training data: %s", what,
                      enumerate(classes, quote = "\"")), "y")
  }
  place <- match(y$classes, classes)
  unknown <- is.na(place) & seq_along(place) %in% y$used
  if (any(unknown)) stop_new_classes(y$classes[unknown], classes, what)
  y$value <- as.double(place[y$value + 1]) - 1
  y$classes <- classes
  y
}

stop_new_classes <- function(new, classes, what, quote = "\"") {
  near <- if (length(new) == 1L) suggest(new, classes, quote) else ""
  stop_data(sprintf("%s has classes that the training data do not have: %s; they have %s%s", what,
                    enumerate(new, quote = quote), enumerate(classes, quote = quote), near), "y")
}

# y and the objective -> list(objective, label, classes, response, n_outputs). classes: texts, in the order of the
# labels 0, 1, ...; NULL for numbers. formula: the one that names the response, or NULL.
encode_response <- function(y, objective, n_rows, num_class = NULL, formula = NULL) {
  if (is.character(y) && length(y) == 1L && n_rows != 1) {
    stop_argument("`y` must be the response itself, one value per row; to name a column use a formula: y ~ .", "y")
  }
  advice <- "leave such rows out"
  if (!is.null(formula)) {
    response <- paste(deparse(formula[[2L]], width.cutoff = 500L, backtick = TRUE), collapse = " ")
    advice <- sprintf("%s: subset = !is.na(%s)", advice, response)
  }
  check_response_rows(y, n_rows, "the response", "but the data have")
  e <- encode_y(y, advice = advice)
  check_response_rows(e$value, n_rows, "the response", "but the data have")
  if (sum_of_ranks(n_rows) == 0) stop_data("the data have no rows", "y")
  e <- classes_of_init(e, objective)
  name <- given_or(objective$name, e$objective)
  if (!is.null(name) && is_of_queries(name)) e <- read_grades(e, name)
  if (!is.null(e$classes) && is.null(e$objective)) e <- drop_unused(e)
  n_classes <- length(e$classes)
  if (is_of_columns(e$response)) name <- settle_columns(e, name)
  if (is.null(name) && is_surv_response(e$response)) {
    name <- given_or(objective$args$value[["init_model"]]$objective, objective_of_surv(e$response))
  }
  if (is.null(name)) {
    name <- if (n_classes == 0L) "squared_error" else if (n_classes == 2L) "logistic" else "softmax"
    if (n_classes == 0L && is_zero_one(e$value)) {
      say("the response is 0 and 1, numbers, so squared error is minimised; for classes: `objective = \"logistic\"`")
    }
    if (e$response == "character" && are_many_numbers(e$classes)) {
      say(sprintf("the response is texts, all of them numbers, so they are %d classes; for numbers: as.numeric(y)",
                  n_classes))
    }
  }
  check_surv_objective(e, name)
  e["cause"] <- list(given_or(objective$args$value[["cause"]], objective$args$value[["init_model"]]$params[["cause"]]))
  e <- settle_times(e, name, "the response", e$cause)
  inform_strata(e$strata, other_fields_of_label(e$value)$event)
  e$stratified <- !is.null(e$strata)
  labels <- objective_info(name)$labels
  out <- if (is_of_columns(e$response)) e else
    switch(labels, BINARY = check_binary(e), CLASS = check_classes(e), check_numbers(need_numbers(e, name), name))
  out$objective <- name
  out$param <- read_objective_params(name, objective$args)
  out$label_gain <- read_label_gain(objective$args, name, out$param)
  out$label <- with_gains(out$value, out$label_gain, "the response")
  out$value <- NULL
  breaks <- read_breaks(objective$args, name)
  if (is_of_intervals(name)) out$param$breaks <- settle_breaks(breaks, out$label)
  out$n_outputs <- if (is_of_intervals(name)) length(out$param$breaks) else
    switch(objective_info(name)$outputs, CLASSES = length(out$classes), ANY = objective$n_outputs,
           LEVELS = length(out$param[[1L]]), COLUMNS = max(1L, length(out$columns)), TWO = 2L, 1L)
  check_num_class(num_class, out)
  out
}

# The number of values of a response as it was given, of which nothing else is known.
response_rows <- function(y) {
  y <- drop_frame(y)
  if (is.data.frame(y)) .row_names_info(y, 2L) else if (length(dim(y)) == 2L) dim(y)[1L] else length(y)
}

may_be_response <- function(y) is.atomic(y) || is.data.frame(y) || inherits(y, c("POSIXlt", "Surv"))

# Before anything is said of the values: where their number is wrong, rows with missing values may be others. NULL and
# what can be no response is refused by encode_y().
check_response_rows <- function(y, n_rows, what, have = "for") {
  rows <- response_rows(y)
  if (rows == n_rows || is.null(y) || !may_be_response(y)) return(invisible())
  stop_data(sprintf("%s has %s%s %s %s", what, counted(rows, "value"), if (have == "for") "" else ",", have,
                    counted(n_rows, "row")), "y")
}

# The relevance of rows for an objective of ranking: levels of an ordered factor are 0, 1, and so on, those of a factor
# with two levels 0 and 1. e: as of encode_y(); `grades`: the levels.
read_grades <- function(e, objective, what = "the response") {
  if (is.null(e$classes) || e$response == "logical") return(e)
  if (e$response != "ordered" && !(e$response == "factor" && length(e$classes) == 2L)) {
    kind <- if (e$response == "factor") sprintf("a factor with %d levels", length(e$classes)) else "texts"
    stop_data(sprintf(paste("objective \"%s\" needs grades of relevance, but %s is %s, which have no order; give",
                            "numbers, 0 for the lowest, or ordered(y, levels = ), from the lowest"),
                      objective, what, kind), "y")
  }
  e$grades <- e$classes
  e["classes"] <- list(NULL)
  e
}

# Going on from a model of classes: a response that has some of them, or all, is of these classes, in their order; the
# objective is that of the model. Other responses stay as they are, and the model is refused for them later.
classes_of_init <- function(e, objective) {
  init <- objective$args$value[["init_model"]]
  if (is.null(init)) return(e)
  given <- objective$name
  if (is.null(init$classes) || !(is.null(given) || identical(given, init$objective))) return(e)
  numbers <- is.null(e$classes)
  if (numbers && (objective_info(init$objective)$labels != "CLASS" || is.null(given))) return(e)
  if (numbers) {
    values <- sort(all_ranks_have(different(check_finite(e$value))))
    e$classes <- format_number(values)
    e$used <- seq_along(values)
  }
  if (!all(e$classes[e$used] %in% init$classes)) return(if (numbers) replace(e, "classes", list(NULL)) else e)
  if (numbers) e$value <- place_among(e$value, values) - 1
  gone <- setdiff(init$classes, e$classes[e$used])
  if (length(gone)) say(sprintf("classes of `init_model` without rows: %s", enumerate(gone, quote = "\"")))
  e <- match_classes(e, init$classes, "the response")
  e$objective <- init$objective
  e
}

# Where a formula's response has another number of rows than the data: c(y1, y2) ~ . is a longer response, not one of
# two columns, and a name that is no column of the data, `columns`, is that of a variable.
check_written_response <- function(lhs, rows, n_rows, columns) {
  if (rows == n_rows) return(invisible())
  if (is.name(lhs) && !as.character(lhs) %in% columns) {
    name <- as.character(lhs)
    stop_data(sprintf("`%s` is not a column of the data, and the variable of this name has %s for %s%s", name,
                      counted(rows, "value"), counted(n_rows, "row"), suggest(name, columns)), name)
  }
  if (!is.call(lhs) || length(lhs) < 3L || !as.character(lhs[[1L]])[1L] %in% c("c", "list")) return(invisible())
  bound <- lhs
  bound[[1L]] <- as.name("cbind")
  stop_data(sprintf("a response of several columns is %s, not %s", expression_text(bound), expression_text(lhs)), "y")
}

# More texts that are numbers than a response of classes usually has?
are_many_numbers <- function(classes) {
  length(classes) > 10L && !anyNA(suppressWarnings(as.numeric(classes)))
}

# Nothing but 0 and 1, and both of them?
is_zero_one <- function(value) {
  if (sum_of_ranks(length(value)) < 2) return(FALSE)
  identical(range_of_ranks(value), c(0, 1)) && !any_rank(!all(value == 0 | value == 1))
}

# Levels without rows are no classes: a class that is never seen cannot be learned.
drop_unused <- function(e) {
  used <- e$used
  if (e$response == "logical" && length(used) == 2L) return(e)
  if (length(used) < length(e$classes)) {
    gone <- e$classes[-used]
    if (length(used) == 1L) {
      stop_data(sprintf("the response has only one class, \"%s\"; there is nothing to learn", e$classes[used]), "y")
    }
    say(sprintf("levels of the response without rows are dropped: %s", enumerate(gone, quote = "\"")))
    e$value <- place_among(e$value, used - 1) - 1
    e$classes <- e$classes[used]
  }
  if (length(e$classes) == 1L) {
    stop_data(sprintf("the response has only one class, \"%s\"; there is nothing to learn", e$classes), "y")
  }
  e
}

check_finite <- function(value, what = "the response") {
  if (all_within(value, -.Machine$double.xmax, .Machine$double.xmax)) return(value)
  stop_data(sprintf("%s has %s; leave such rows out, or give them finite numbers", what,
                    counted_rows(which(!is.finite(value)), "infinite value")), "y")
}

# All numbers from low to high? min and max need no memory; range() and comparisons would copy a long response.
all_within <- function(value, low, high) length(value) == 0L || (min(value) >= low && max(value) <= high)

need_numbers <- function(e, objective) {
  if (is.null(e$classes)) {
    e$value <- check_finite(e$value)
    return(e)
  }
  if (e$response == "logical") { # a share, a count: TRUE is 1
    e$classes <- NULL
    return(e)
  }
  better <- if (length(e$classes) == 2L) "logistic" else "softmax"
  hint <- if (is_given(objective)) {
    "give the numbers that your functions expect, such as as.integer(y) - 1"
  } else {
    sprintf("for classes use `objective = \"%s\"`", better)
  }
  what <- c(factor = "a factor", ordered = "an ordered factor", character = "texts")[[e$response]]
  stop_data(sprintf("objective \"%s\" needs a numeric response, not %s with %d classes; %s", objective, what,
                    length(e$classes), hint), "y")
}

check_numbers <- function(e, objective) {
  range <- label_ranges[[objective_info(objective)$labels]]
  bad <- wrong_labels(e$value, range)
  if (length(bad)) {
    stop_data(sprintf("objective \"%s\" needs %s; %d value%s not, the first in row %d (%s)", objective, range$text,
                      length(bad), if (length(bad) == 1L) " is" else "s are", bad[1L], format(e$value[bad[1L]])), "y")
  }
  e
}

check_binary <- function(e) {
  if (length(e$classes) > 2L) {
    stop_data(sprintf("objective \"logistic\" is for two classes, the response has %d; use `objective = \"softmax\"`",
                      length(e$classes)), "y")
  }
  if (!is.null(e$classes)) return(e)
  e$value <- check_finite(e$value)
  if (!all_within(e$value, 0, 1)) {
    bad <- which(e$value < 0 | e$value > 1)
    stop_data(sprintf("objective \"logistic\" needs a factor of two levels or numbers from 0 to 1; row %d has %s%s",
                      bad[1L], format(e$value[bad[1L]]),
                      if (all(e$value %in% c(1, 2))) " (for classes 1 and 2 give factor(y))" else ""), "y")
  }
  e
}

# softmax takes numbers as well: whole numbers are classes.
check_classes <- function(e) {
  if (!is.null(e$classes)) return(e)
  e$value <- check_finite(e$value)
  bad <- unlist(by_parts(length(e$value), function(rows) rows[which(e$value[rows] != floor(e$value[rows]))]))
  if (length(bad)) {
    stop_data(sprintf(paste("objective \"softmax\" needs classes; row %d has %s; for numbers use",
                            "`objective = \"squared_error\"`"), bad[1L], format(e$value[bad[1L]])), "y")
  }
  values <- sort(all_ranks_have(different(e$value)))
  if (length(values) < 2L) stop_data("the response has only one class; there is nothing to learn", "y")
  if (length(values) > 65536L) {
    stop_data(sprintf(paste("the response has %d different numbers, too many for classes; use",
                            "`objective = \"squared_error\"`"), length(values)), "y")
  }
  e$value <- place_among(e$value, values) - 1
  e$classes <- format_number(values)
  e
}

check_num_class <- function(num_class, response) {
  if (is.null(num_class)) return(invisible())
  num_class <- check_whole(num_class, "num_class", 1)
  has <- max(1L, length(response$classes))
  if (num_class == has || (has == 2L && response$objective == "logistic" && num_class == 1L)) return(invisible())
  now <- if (has == 1L) "is numeric" else sprintf("has %d classes", has)
  stop_argument(sprintf("`num_class = %.0f`, but the response %s; leave `num_class` out", num_class, now), "num_class")
}

# A validation set's response, in the terms of training.
encode_valid_y <- function(y, response, n_rows, what) {
  if (!is.null(response$columns)) return(encode_valid_columns(y, response, n_rows, what))
  labels <- objective_info(response$objective)$labels
  numeric_classes <- labels == "CLASS" && response$response %in% c("integer", "double", "integer64")
  if (has_columns(y)) stop_data(paste(what, "has several columns, and the model has a response of one"), "y")
  check_response_rows(y, n_rows, what)
  e <- encode_y(y, if (!numeric_classes) response$classes, what)
  if (numeric_classes) {
    if (!is.null(e$classes)) {
      stop_data(sprintf("%s has classes where numbers are expected; give the numbers of the training data: %s", what,
                        enumerate(response$classes, quote = "")), "y")
    }
    values <- different(e$value)
    place <- match(format_number(values), response$classes)
    if (anyNA(place)) {
      stop_new_classes(unique(format_number(values[is.na(place)])), response$classes, what, "")
    }
    e$value <- place[place_among(e$value, values)] - 1
  } else if (is_of_queries(response$objective)) {
    e <- read_grades(e, response$objective, what)
    if (!is.null(response$grades) && !is.null(e$grades) && !identical(e$grades, response$grades)) {
      stop_data(sprintf("%s has other levels than that of the training data: %s", what,
                        enumerate(response$grades, quote = "\"")), "y")
    }
  } else if (is.null(response$classes) && !is.null(e$classes) && e$response != "logical") {
    stop_data(sprintf("%s must be numeric, as the response of the training was; it is %s", what,
                      switch(e$response, character = "character", ordered = "an ordered factor", "a factor")), "y")
  }
  if (!isTRUE(response$any_times)) check_same_surv(e$response, response$response, what)
  check_same_strata(e$strata, response$stratified, what)
  e$value <- in_known_strata(e, response$strata$levels)
  e <- settle_times(e, response$objective, what, response$cause, trains = FALSE)
  if (length(e$value) != n_rows) {
    stop_data(sprintf("%s has %s for %s", what, counted(length(e$value), "value"), counted(n_rows, "row")), "y")
  }
  label <- check_finite(e$value, what)
  range <- label_ranges[[labels]]
  bad <- wrong_labels(label, range)
  if (length(bad)) {
    stop_data(sprintf("%s must have %s for objective \"%s\", not %s as in row %d", what, range$text, response$objective,
                      format(label[bad[1L]]), bad[1L]), "y")
  }
  with_gains(label, response$label_gain, what)
}

# A response as plain vectors, from which label_of_values() makes one that encode_y() takes for the same: kind is one of
# response_types; value numbers, or codes from 1 of the classes.
label_values <- function(label) {
  if (is.null(label)) return(NULL)
  coded <- encode_y(label)
  if (is_of_columns(coded$response)) {
    stop_unsupported(paste("data in a folder keep a response of one column; leave `label` out and give the response in",
                           "training: gbt_train(data, y)"), "label")
  }
  if (is_surv_response(coded$response)) return(surv_values(label, coded$response))
  if (coded$response == "integer64") {
    if (is.data.frame(label)) label <- .subset2(label, 1L)
    return(list(kind = "integer64", value = as.vector(unclass(label)), classes = NULL))
  }
  value <- coded$value
  if (!is.null(coded$classes)) value <- as.integer(value + 1)
  if (coded$response == "integer") value <- as.integer(value)
  list(kind = coded$response, value = value, classes = coded$classes)
}

# The response of n rows from values that anyone may have written; bad: called where they are no response.
label_of_values <- function(x, n, bad) {
  if (is.null(x)) return(NULL)
  if (!is.list(x) || !identical(setdiff(names(x), "strata"), c("kind", "value", "classes"))) bad()
  value <- x$value
  classes <- x$classes
  if (is_text(x$kind) && is_surv_response(x$kind)) return(surv_of_values(x, n, bad))
  if (!is.null(x$strata)) bad()
  of_classes <- c("logical", "factor", "ordered", "character")
  if (!is_text(x$kind) || !x$kind %in% response_types || !is_plain(value) || length(value) != n) bad()
  if (typeof(value) != if (x$kind %in% c("double", "integer64")) "double" else "integer") bad()
  if (anyNA(value) && x$kind != "integer64" || !is.null(names(value)) || !is.null(names(classes))) bad()
  if (x$kind %in% of_classes) {
    if (!is_texts(classes) || anyDuplicated(classes)) bad()
    if (n > 0 && (min(value) < 1L || max(value) > length(classes))) bad()
    if (x$kind == "logical" && !identical(classes, c("FALSE", "TRUE"))) bad()
  } else if (!is.null(classes)) {
    bad()
  }
  switch(x$kind, logical = value == 2L, character = classes[value], integer64 = structure(value, class = "integer64"),
         factor = structure(value, levels = classes, class = "factor"),
         ordered = structure(value, levels = classes, class = c("ordered", "factor")), value)
}

check_label_length <- function(label, n_rows, what = "label") {
  n <- response_rows(label)
  if (is_column_name(label) && n_rows != 1) {
    stop_data(sprintf("`%s` is the text \"%s\"%s", what, printable(label), not_a_name), what)
  }
  if (n == n_rows || !may_be_response(label)) n <- length(encode_y(label)$value)
  if (n != n_rows) stop_data(sprintf("`%s` has %s for %s", what, counted(n, "value"), counted(n_rows, "row")), what)
}
