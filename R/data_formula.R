# Formulas. A formula names columns, and sometimes transforms them; it never expands factors and never drops rows.
#
# Features are the *variables* of the right side: `a:b` and `a * b` name a and b (trees find the interaction). Most
# formulas name plain columns (y ~ ., y ~ a + b, y ~ . - id): then a model keeps nothing but the formula's text, and new
# data are matched by name. Otherwise it keeps the design, which is only text and has no environment:
#
#   features  the expressions of all features, "log(a)", "poly(b, 2, coefs = ...)"; NULL when all are plain columns
#   offset    the expressions inside offset() terms; NULL when there are none
#   code      those of these texts that R must evaluate; no such entry when there are none
#
# All other texts are in the language of R/data_terms.R, and only that file's code evaluates them, in training as in
# prediction, wherever the model comes from. gbt_load() refuses a file with `code` unless its argument `trust` is TRUE,
# and nothing else in a file makes R evaluate anything. Training decides which terms R evaluates: a term that is not in
# the language, one with a function that the user has replaced (a log() of their own, say), and one with a column of a
# class whose methods the language does not know.

# Formula, data and what goes with them -> list(x, y, design, formula, and row_arguments by name; exposed, see
# R/data_exposure.R, and stratified, R/data_strata.R; for validation sets columns, the names of the data's, and in_rows,
# see row_evaluators(); the data, and which of their rows were kept, NULL for all). given: the arguments that are
# evaluated in the data, row_arguments and `subset`, see R/arg_call.R; env: where the caller's variables are.
read_formula <- function(formula, data, given, na.action, env) {
  with_utf8(formula_read(formula, data, given, na.action, env))
}

formula_read <- function(formula, data, given, na.action, env) {
  if (length(formula) != 3L) stop_argument("the formula needs a response on its left side: y ~ .", "formula")
  lhs <- formula[[2L]]
  from <- environment(formula)
  if (is.null(from)) from <- env
  given_data <- formula_data(data, formula, from)
  data <- without_codes(given_data)
  written <- formula
  its <- if ("strata" %in% all.names(formula[[3L]]) && inherits(evaluate_part(lhs, data, from), "Surv")) {
    take_strata(formula)
  } else {
    list(formula = formula)
  }
  formula <- its$formula
  check_doubled(if ("." %in% all.vars(formula)) names(data) else all.vars(formula), names(data))
  exposed <- read_exposure(given$exposure, data)
  stratified <- read_strata(given$strata, its$columns, data)
  dot <- setdiff(names(data), c(exposed$name, stratified$names)) # no features, unless the formula names them
  plain <- plain_names(formula, data, dot)
  parts <- if (is.null(plain)) formula_parts(formula, data, dot) else plain
  features <- if (is.null(plain)) vapply(parts$features, expression_text, "") else plain$names
  on_right <- if (is.null(plain)) any(vapply(parts$features, identical, NA, lhs)) else
    is.name(lhs) && as.character(lhs) %in% features
  if (on_right) {
    stop_argument(sprintf("the response `%s` is on the right side of the formula as well", expression_text(lhs)),
                  "formula")
  }
  parts$offset <- with_constants(parts$offset, data, from)
  if (is.null(plain)) parts$features <- with_constants(parts$features, data, from)
  check_names_of(c(parts$features, parts$offset), data, from)
  lhs <- response_with_constants(lhs, data, from)
  built <- if (is.null(plain)) {
    evaluate_features(parts$features, features, data, from)
  } else {
    list(x = pick_columns(given_data, plain$names), features = NULL)
  }
  built$x <- with_declared(built$x, given_data)
  at <- places_of_variables(parts$offset, names(data))
  offset <- Map(function(e, at) learn_term(e, columns_at(data, at), data, from), parts$offset, at)
  design <- new_design(built, offset, lhs, data, from)
  warn_of_other_rows(design, built$x, data)
  out <- list(x = built$x, y = evaluate_part(lhs, data, from))
  for (part in setdiff(row_arguments, c("exposure", "strata"))) out[part] <- list(in_data(given[[part]], data))
  out$exposure <- exposed$value
  out$strata <- stratified$value
  out$in_rows <- row_evaluators(given, out, exposed$name, stratified$names, data)
  check_offset_terms(offset, exposed$value)
  for (part in offset) out$offset <- add_offsets(out$offset, part$value)
  if (length(formula) == 3L) {
    check_written_response(formula[[2L]], response_rows(out$y), .row_names_info(out$x, 2L), names(data))
  }
  check_part_rows(out, .row_names_info(out$x, 2L))
  keep <- rows_to_keep(out, in_data(given$subset, given_data), na.action)
  if (!is.null(keep)) {
    out$x <- subset_rows(out$x, keep)
    for (part in c("y", row_arguments)) out[[part]] <- subset_rows(out[[part]], keep)
  }
  if (all(vapply(design, is.null, NA))) design <- NULL
  out["exposed"] <- list(exposed$name)
  out["stratified"] <- list(stratified$names)
  out$columns <- names(data)
  out$constants <- constants_of(formula, data, from)
  out$data <- data
  out["keep"] <- list(keep)
  out$design <- design
  if (!identical(written[[2L]], lhs)) written[[2L]] <- lhs
  out$formula <- formula_text(written)
  out
}

# The terms of a model as they are stored. built: of evaluate_features(); offset: list of learn_term().
new_design <- function(built, offset, lhs, data, from) {
  design <- list(features = built$features, offset = unlist(lapply(offset, `[[`, "text")))
  code <- c(built$code, unlist(lapply(offset, `[[`, "code")))
  if (any(code)) design$code <- unname(unlist(design[c("features", "offset")])[code])
  texts <- c(design$features, design$offset)
  terms <- Map(function(text, code) list(text = text, e = parse_design(text), code = code), unname(texts),
               as.logical(code))
  terms <- Filter(function(term) is.call(term$e), unname(terms))
  c(design, term_conditions(terms, lhs, data, from))
}

# The text of a formula as it was written; where that would lose digits of numbers, the exact one.
formula_text <- function(formula) {
  attributes(formula) <- NULL
  text <- paste(deparse(formula, width.cutoff = 500L), collapse = " ")
  if (identical(parse_text(text), formula)) text else exact_text(formula)
}

# offset: of learn_term(); exposure: values or NULL.
check_offset_terms <- function(offset, exposure) {
  plain <- is.numeric(exposure) && !is.object(exposure) && !anyNA(exposure) && all(exposure > 0)
  if (!plain) return(invisible()) # it is reported later, if anything is wrong
  for (part in offset) {
    check_counted_once(log(exposure), part$value, sprintf("offset(%s) of the formula", part$text))
  }
}

# The data as a data frame; without `data` the variables are looked up where the formula was written.
formula_data <- function(data, formula, from) {
  if (inherits(data, "ArrowTabular")) data <- as.data.frame(data)
  if (is.data.frame(data)) return(data)
  if (is.matrix(data) && !is.null(colnames(data))) return(as.data.frame(data))
  if (in_database(data) || inherits(data, "gbt_source")) encode_x(data) # says what to give
  if (!is.null(data)) {
    how <- if (inherits(data, "gbt_data")) {
      "; without a formula: gbt_train(gbt_data(x, label = ))"
    } else if (is_text(data) && file.exists(data)) {
      sprintf("; read the file first, as by read.csv(\"%1$s\"), or let gbt_files(\"%1$s\") read it", printable(data))
    } else if (is.list(data)) {
      "; a list becomes one by as.data.frame()"
    } else if (length(dim(data)) == 2L) {
      "; a matrix without column names and a sparse matrix need no formula: gbt_train(x, y)"
    }
    stop_argument(sprintf("`data` must be a data frame, not %s%s", describe(data), given_or(how, "")), "data")
  }
  names <- all.vars(formula)
  if ("." %in% names) stop_argument("a formula with `.` needs `data`", "data")
  absent <- names[!vapply(names, exists, NA, envir = from)]
  if (length(absent)) {
    hint <- if ("$" %in% all.names(formula)) "; name the columns without `$`, and" else "; if they are columns,"
    hint <- paste(hint, "give the data frame as `data`")
    stop_data(sprintf("variables not found: %s%s", enumerate(absent), hint), absent[1L])
  }
  values <- mget(names, envir = from, inherits = TRUE)
  n <- vapply(values, NROW, 0)
  constants <- n == 1 & max(c(n, 1)) > 1
  list_frame(values[!constants], max(c(n, 0)))
}

# Values of the expressions. Matrices (poly(), ns(), scale()) become one column each. features: the expressions as they
# must be evaluated for new data, where poly() and its kin remember their basis; code: which of them R must evaluate.
# labels: the expressions as the user wrote them.
evaluate_features <- function(expressions, labels, data, from) {
  at <- places_of_variables(expressions, names(data))
  terms <- Map(function(e, at) learn_term(e, columns_at(data, at), data, from), expressions, at)
  list(x = frame_of_terms(lapply(unname(terms), `[[`, "value"), labels, .row_names_info(data, 2L)),
       features = stats::setNames(vapply(terms, `[[`, "", "text"), labels), code = vapply(terms, `[[`, NA, "code"))
}

# A data frame of n rows; matrices become one column each.
frame_of_terms <- function(values, labels, n) {
  columns <- Map(function(value, label) {
    if (NROW(value) != n) {
      stop_data(sprintf("`%s` has %s for %.0f rows; a term of a formula needs one value per row", label,
                        counted(NROW(value), "value"), n), label)
    }
    spread_matrix(value, label)
  }, values, labels)
  list_frame(unlist_once(columns), n)
}

# For each expression the places of the columns that it uses. All names are looked up at once: there may be tens of
# thousands of columns, and as many expressions.
places_of_variables <- function(expressions, names) {
  used <- lapply(expressions, function(e) if (is.name(e)) as.character(e) else variables_of(list(e)))
  at <- match(as.character(unlist(used)), names)
  of <- factor(rep(seq_along(used), lengths(used)), levels = seq_along(used))[!is.na(at)]
  unname(split(at[!is.na(at)], of))
}

# One term in training: list(value, text = the expression for new data, code = must R evaluate it?). What is learned is
# what the language makes of the text, if it can: then prediction sees the very same numbers. poly(a, 2) becomes a term
# of the language once R has added the coefficients. used: the columns that the term names; data: all of them, which a
# term that R evaluates may see.
learn_term <- function(e, used, data, from) {
  text <- exact_text(e)
  if (is.name(e)) {
    value <- if (length(used)) .subset2(used, 1L) else evaluate_part(e, data, from)
    return(list(value = value, text = text, code = FALSE))
  }
  value <- learn_own_term(text, used, from)
  if (is.null(value)) {
    by_r <- evaluate_part(e, data, from)
    again <- if (is.call(e)) stats::makepredictcall(by_r, e) else e
    if (!identical(again, e)) {
      text <- exact_text(again)
      value <- learn_own_term(text, used, from)
    }
  }
  if (!is.null(value)) return(list(value = value, text = text, code = FALSE))
  check_found_again(e, used, from)
  list(value = by_r, text = text, code = TRUE)
}

# NULL when the text is no term of the language here, or fails: R says why.
learn_own_term <- function(text, data, from) {
  e <- parse_text(text)
  if (is.null(e) || !is_own_term(e, data, from)) return(NULL)
  try_else(own_term_value(e, data, strict = TRUE), function(problem) NULL)
}

spread_matrix <- function(value, name) {
  if (length(dim(value)) != 2L || is.data.frame(value)) return(stats::setNames(list(value), name))
  labels <- colnames(value)
  if (is.null(labels)) labels <- seq_len(ncol(value))
  columns <- lapply(seq_len(ncol(value)), function(j) as.vector(value[, j]))
  stats::setNames(columns, if (ncol(value) == 1L) name else paste0(name, labels))
}

# Warns of features such as rank(a) or a > mean(a), whose value in a row depends on other rows: for new data they would
# differ from what was learned. Some rows are evaluated one by one, and the results compared.
warn_of_other_rows <- function(design, x, data) {
  n <- nrow(data)
  if (is.null(design$features) || n < 2L) return(invisible())
  rows <- unique(round(seq(1, n, length.out = 9)))
  labels <- names(design$features)
  expressions <- lapply(unname(design$features), str2lang)
  at <- places_of_variables(expressions, names(data))
  table <- list2env(as.list(x)) # names are looked up in no time, however many there are
  depends <- keeping_random(vapply(seq_along(labels), function(i) {
    e <- expressions[[i]]
    if (!is.call(e)) return(FALSE)
    used <- columns_at(data, at[[i]])
    !all(vapply(rows, function(row) {
      single <- subset_rows(used, row)
      value <- try_else(suppressWarnings(term_of_design(e, design$features[[i]], design, single, single)),
                        function(problem) NULL)
      is.null(value) || is_row(spread_matrix(value, labels[i]), table, row)
    }, NA))
  }, NA))
  if (!any(depends)) return(invisible())
  what <- "the value of %s in a row depends on the other rows, so it would differ in new data; "
  warn_gbt("formula", sprintf(paste0(what, "make it a column of the data before training"),
                              enumerate(labels[depends])))
}

# Are these columns of one row what the table, an environment, has there?
is_row <- function(columns, table, row) {
  all(vapply(names(columns), function(name) {
    if (length(columns[[name]]) != 1L) return(FALSE)
    single <- plain_values(columns[[name]])
    there <- plain_values(table[[name]][row])
    # ifelse(a, "b", NA) is a text, or a logical NA if there is only this row
    identical(is.na(single), TRUE) && identical(is.na(there), TRUE) ||
      isTRUE(all.equal(single, there, check.attributes = FALSE))
  }, NA))
}

evaluate_part <- function(e, data, from) {
  try_else(eval_with_surv(e, data, from), function(problem) {
    text <- expression_text(e)
    why <- conditionMessage(problem)
    is_lost <- function(f) grepl(f, why, fixed = TRUE) && !exists(f, envir = from, mode = "function")
    lost <- Filter(is_lost, grep("::", functions_of(list(e)), fixed = TRUE, invert = TRUE, value = TRUE))
    hint <- if (is.symbol(e)) suggest(text, names(data)) else if (length(lost)) {
      sprintf("; define `%s()` or attach its package first", lost[1L])
    } else {
      absent <- variable_not_found(problem, e)
      if (!is.null(absent)) suggest(absent, names(data))
    }
    stop_data(paste0("`", text, "` cannot be evaluated: ", why, hint), text)
  })
}

# The exact text of an expression, which parse_text() reads as the same expression: names that need backticks have
# them, and 17 digits give every double back. An expression that has no such text is an error.
exact_text <- function(e) {
  if (is.name(e) && grepl("^[A-Za-z][A-Za-z0-9._]*$", e) && make.names(e) == e) return(as.character(e))
  control <- c("keepNA", "keepInteger", "niceNames", "showAttributes", "digits17")
  lines_of <- function(e) deparse(e, width.cutoff = 500L, backtick = TRUE, control = control)
  squeezed <- function(lines) gsub("[[:space:]]+", "", paste(lines, collapse = ""))
  lines <- lines_of(e)
  for (between in unique(c(" ", if (length(lines) > 1L) "\n"))) { # in braces a line is a statement
    text <- paste(lines, collapse = between)
    again <- parse_text(text)
    # values within the expression, such as the coefficients of poly(), come back as calls that give them
    same <- if (is.name(e)) identical(again, e) else !is.null(again) && squeezed(lines_of(again)) == squeezed(lines)
    if (same) return(text)
  }
  stop_argument(sprintf(paste("the term `%s` of the formula has no text that can be read again, so a model cannot keep",
                              "it; make it a column of the data before training"), substr(text, 1L, 60L)), "formula")
}

# All names that a formula uses must exist when the model predicts: variables are columns (or base R's constants, or
# were made constants by with_constants()), functions are found from the global environment.
check_names_of <- function(expressions, data, from) {
  absent <- setdiff(setdiff(variables_of(expressions), names(data)), base_constants)
  if (length(absent)) {
    near <- suggest(absent[1L], names(data))
    stop_data(sprintf(paste("the formula uses %s, which %s of the data and not found where the formula was",
                            "written%s%s"),
                      enumerate(absent), if (length(absent) == 1L) "is not a column" else "are not columns",
                      if (nzchar(near)) "" else "; write the value itself, or make it a column", near), absent[1L])
  }
  for (f in functions_of(expressions)) {
    if (grepl("::", f, fixed = TRUE) || exists(f, envir = globalenv(), mode = "function")) next
    if (f %in% smooth_terms) {
      stop_argument(sprintf(paste("the formula has `%s()`: trees need no smooth terms, as they find curves themselves;",
                                  "name the columns only"), f), "formula")
    }
    stop_lost(sprintf("function `%s()`", f), if (exists(f, envir = from, mode = "function")) "known only")
  }
}

# Of packages for additive models.
smooth_terms <- c("s", "te", "ti", "t2", "lo")

# where: how it is known where the formula was written; NULL when it is not.
stop_lost <- function(what, where) {
  problem <- if (is.null(where)) {
    "is not found; attach the package that has it, or write package::function"
  } else {
    paste("is", where, "where the formula was written, where predict() could not find it: define it in the global",
          "environment or write package::function")
  }
  stop_argument(sprintf("the formula's %s %s", what, problem), "formula")
}

# predict() must find the functions and constants that training has used.
check_found_again <- function(e, data, from) {
  differs <- function(name, mode) {
    here <- get0(name, from, mode = mode)
    !is.null(here) && !identical(here, get0(name, globalenv(), mode = mode))
  }
  for (f in grep("::", functions_of(list(e)), fixed = TRUE, invert = TRUE, value = TRUE)) {
    if (differs(f, "function")) stop_lost(sprintf("function `%s()`", f), "another one")
  }
  for (v in setdiff(variables_of(list(e)), names(data))) {
    if (differs(v, "any")) stop_lost(sprintf("`%s`", v), "another one")
  }
}

# Names that a formula may use in addition to columns. No functions: their values must not be stored or passed on.
base_constants <- c("pi", "T", "F", "letters", "LETTERS", "month.abb", "month.name")

# Before rows are taken of them.
check_part_rows <- function(parts, n) {
  for (part in c("y", row_arguments)) {
    value <- drop_frame(parts[[part]])
    rows <- if (length(dim(value)) == 2L) dim(value)[1L] else length(value)
    if (is.null(value) || rows == n) next
    if (is_column_name(value)) {
      stop_data(sprintf("`%s` is the text \"%s\"; a column of the data is written without quotation marks: %s = %s",
                        part, printable(value), part, printable(value)), part)
    }
    stop_data(sprintf("%s has %s, but the data have %s", if (part == "y") "the response" else sprintf("`%s`", part),
                      counted(rows, "value"), counted(n, "row")), part)
  }
}

# Rows that `subset` and `na.action` leave; NULL for all.
rows_to_keep <- function(parts, subset, na.action) {
  n <- NROW(parts$x)
  keep <- NULL
  if (!is.null(subset)) {
    if (is.logical(subset)) {
      if (length(subset) != n) stop_argument(sprintf("`subset` has %d values for %d rows", length(subset), n), "subset")
      keep <- which(subset)
    } else {
      numbers <- is.numeric(subset) && !is.object(subset)
      mixed <- numbers && any(subset <= -1, na.rm = TRUE) && !all(subset < 1, na.rm = TRUE) # 1 and -1 together
      keep <- if (numbers && !mixed) seq_len(n)[subset] else NA
      if (!numbers) {
        stop_argument(sprintf("`subset` must be logical values or numbers of rows, not %s", describe(subset)), "subset")
      }
      if (anyNA(keep)) stop_argument("`subset` names rows that the data do not have", "subset")
    }
  }
  if (is.null(na.action) || identical(na.action, stats::na.pass) || identical(na.action, "na.pass")) return(keep)
  if (is.character(na.action) && length(na.action) == 1L && nchar(printable(na.action)) %in% 1:1000) {
    na.action <- get0(printable(na.action), mode = "function")
  }
  if (!is.function(na.action)) {
    stop_argument("`na.action` must be a function such as na.omit, or the name of one", "na.action")
  }
  others <- c("weights", "exposure", "time", "group", "strata", "position")
  others <- Filter(Negate(is.null), unname(parts[others]))
  response <- if (is.data.frame(parts$y)) as.list(parts$y) else list(parts$y) # a cell of a column counts as a value
  frame <- list_frame(c(as.list(parts$x), response, others), n)
  frame <- without_codes(frame)
  names(frame) <- paste0("v", seq_along(frame))
  rows <- if (is.null(keep)) seq_len(n) else keep
  left <- try_else(na.action(subset_rows(frame, rows)), function(problem) {
    stop_argument(sprintf("`na.action`: %s", paste(conditionMessage(problem), collapse = " ")), "na.action")
  })
  gone <- attr(left, "na.action")
  if (NROW(left) != length(rows) - length(gone)) {
    stop_argument("`na.action` must say which rows it left out, as na.omit does in an attribute \"na.action\"",
                  "na.action")
  }
  if (length(gone)) rows[-as.integer(gone)] else keep
}

# New data --------------------------------------------------------------------------------------------------------

# The features of new data for a model with a design (model$terms): list(x = data frame of features, offset = numbers or
# NULL). Without features in the design x is `data` itself. Missing columns are an error that lists them. unseen: see
# predict(). For terms whose values depend on the order of levels.
apply_design <- function(design, data, unseen = "prior") {
  if (is.null(design)) return(list(x = data, offset = NULL))
  if (!is.data.frame(data)) data <- formula_data(data, quote(y ~ .), globalenv())
  data <- without_codes(data)
  in_settings(design, apply_terms(design, data, unseen))
}

apply_terms <- function(design, data, unseen) {
  texts <- c(design$features, design$offset)
  expressions <- lapply(texts, parse_design)
  vars <- variables_of(expressions)
  check_needed(setdiff(vars, base_constants), names(data))
  check_doubled(vars, names(data))
  at <- places_of_variables(expressions, names(data))
  seen <- training_columns(design, data)
  values <- function(terms) {
    lapply(terms, function(i) {
      if (is.name(expressions[[i]]) && length(at[[i]])) return(.subset2(data, at[[i]]))
      used <- term_view(texts[[i]], columns_at(seen, at[[i]]), design, unseen)
      all <- if (texts[[i]] %in% design$code) with_columns(seen, as.list(used))
      term_of_design(expressions[[i]], texts[[i]], design, used, all)
    })
  }
  x <- data
  n_features <- length(design$features)
  if (!is.null(design$features)) {
    x <- frame_of_terms(values(seq_len(n_features)), names(design$features), .row_names_info(data, 2L))
  }
  offset <- NULL
  for (value in values(n_features + seq_along(design$offset))) offset <- add_offsets(offset, value)
  list(x = x, offset = offset)
}

# A term of a design: a column, a term of the language, or code, the only thing that R evaluates. used, data: as for
# learn_term().
term_of_design <- function(e, text, design, used, data) {
  if (is.name(e) && length(used)) return(.subset2(used, 1L))
  if (is.name(e) || text %in% design$code) return(evaluate_part(e, data, globalenv()))
  try_else(own_term_value(e, used, strict = FALSE), function(problem) {
    stop_data(sprintf("`%s` cannot be evaluated: %s", expression_text(e), conditionMessage(problem)), text)
  })
}

parse_design <- function(text) {
  e <- parse_text(text)
  if (is.null(e)) stop_format("the model's formula cannot be read")
  e
}

# The formula of a model file: its terms must be in the language. Those that are code need trust.
check_design_safe <- function(design, trust = FALSE) {
  for (name in names(design$settings)) {
    if (!is_setting(name, design$settings[[name]])) stop_format("the model's formula has invalid settings")
  }
  for (text in setdiff(c(design$features, design$offset), design$code)) {
    e <- parse_design(text)
    try_foreign(check_term(e), function(why) {
      stop_format(sprintf("the model's formula has a term that gbt_train() never writes, `%s`: %s",
                          substr(text, 1L, 60L), why))
    })
  }
  if (length(design$code) && !trust) {
    stop_format(sprintf(paste("the model's formula has a term that R must evaluate, `%s`: code from the file; if you",
                              "trust the source of the file, use gbt_load(file, trust = TRUE)"),
                        substr(design$code[1L], 1L, 60L)))
  }
}

# The text of its formula. gbt never evaluates it, but others do who take formula(model): model.frame() and all that is
# built upon it. So without trust it calls nothing but functions of the language.
check_formula_safe <- function(text, trust) {
  if (is.null(text)) return(invisible())
  e <- parse_formula(text)
  if (trust) return(invisible())
  try_foreign(for (call in c(calls_of(e[[2L]]), calls_of(e[[3L]]))) check_formula_call(call), function(why) {
    stop_format(sprintf(paste("the model's formula is not safe to evaluate, as model.frame() would do: %s; if you",
                              "trust the source of the file, use gbt_load(file, trust = TRUE)"), why))
  })
}

# Text of a formula, which may be out of a file -> the call. It is read, never evaluated.
parse_formula <- function(text) {
  f <- if (is.character(text) && length(text) == 1L && !is.na(text)) parse_text(text)
  if (!is.call(f) || !identical(f[[1L]], quote(`~`)) || length(f) != 3L) {
    stop_format("the model's formula is not a formula")
  }
  f
}
