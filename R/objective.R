# Objectives: what is minimised, found from the response when not stated, and the response as the engine wants it.

# What the engine knows of its objectives comes from its own table (objectives.def), so adding one changes nothing here.

# By columns: name; aliases, names in other packages with | between; text; gradient, outputs, labels, hessian, size, the
# names of its rules; params, a list of tables of parameters like params_table() with their aliases.
objectives_table <- function() {
  if (is.null(package_state$objectives)) package_state$objectives <- .Call(C_gbt_objectives)
  package_state$objectives
}

objective_code <- function(name) match(name, objectives_table()$name) - 1L

# One row: list(name, labels, ..., params).
objective_info <- function(name) lapply(objectives_table(), .subset2, objective_code(name) + 1L)

# Are its gradients the user's functions?
is_given <- function(name) objective_info(name)$gradient == "GIVEN"

# As the engine takes it: its number, and its parameters in the engine's order. param: a list or vector that has them by
# their names.
objective_object <- function(name, param = list()) {
  wanted <- objective_info(name)$params$name
  list(objective_code(name), vapply(wanted, function(p) as.double(param[[p]]), 0, USE.NAMES = FALSE))
}

#' Objectives
#'
#' What [gbt_train()] can minimise: the values of its argument `objective`, the parameters that go with them, which are
#' arguments of [gbt_train()] as others are, and what other packages call them.
#'
#' @return A data frame with one row per objective: `name`; `response`, what a response may be; `parameters` with
#'   defaults and ranges; `meaning`; `aliases`, the names that other packages use. It has the class `gbt_objectives`,
#'   which prints a paragraph for each.
#' @seealso [gbt_train()]; [gbt_parameters()] for the parameters of all objectives
#' @examples
#' o <- gbt_objectives()
#' o[, c("name", "response", "parameters")]
#'
#' m <- gbt_train(mpg ~ ., mtcars, objective = "huber", huber_delta = 2, nrounds = 20, threads = 1)
#' head(predict(m, mtcars), 3)
#' @export
gbt_objectives <- function() {
  table <- objectives_table()
  params <- vapply(table$params, function(p) {
    shown <- vapply(seq_along(p$name), function(i) {
      row <- table_row(p, i)
      sprintf("%s = %s (%s): %s", row$name, format_number(row$default), range_text(row), row$text)
    }, "")
    paste(shown, collapse = "; ")
  }, "")
  takes <- c(NUMBER = "numbers", BINARY = "two classes, or numbers from 0 to 1", CLASS = "classes",
             vapply(label_ranges[c("SHARE", "NOT_NEGATIVE", "POSITIVE", "ABOVE_MINUS_ONE")], `[[`, "", "text"))
  out <- data.frame(name = table$name, response = unname(takes[table$labels]), parameters = params,
                    meaning = table$text, aliases = gsub("|", ", ", table$aliases, fixed = TRUE),
                    stringsAsFactors = FALSE)
  out <- out[table$gradient != "GIVEN", ]
  rownames(out) <- NULL
  class(out) <- c("gbt_objectives", "data.frame")
  out
}

#' @export
print.gbt_objectives <- function(x, ...) {
  if (!all(c("name", "response", "parameters", "meaning", "aliases") %in% names(x))) return(NextMethod()) # some columns
  for (i in seq_len(nrow(x))) {
    cat(sprintf("%s  (%s)\n", x$name[i], x$response[i]))
    lines <- c(x$meaning[i], x$parameters[i], if (nzchar(x$aliases[i])) paste("also:", x$aliases[i]))
    for (line in lines[nzchar(lines)]) cat(strwrap(line, indent = 4L, exdent = 4L), sep = "\n")
  }
  invisible(x)
}

offered_objectives <- function() objectives_table()$name[objectives_table()$gradient != "GIVEN"]

# Other names, in lower case -> our name. Ours are among them.
objective_aliases <- function() {
  if (is.null(package_state$objective_aliases)) {
    table <- objectives_table()
    aliases <- lapply(strsplit(table$aliases, "|", fixed = TRUE), as.character)
    all <- c(stats::setNames(table$name, table$name),
             stats::setNames(rep(table$name, lengths(aliases)), unlist(aliases)))
    package_state$objective_aliases <- all[all %in% offered_objectives()]
  }
  package_state$objective_aliases
}

# Parameters of objectives: names, and other names -> our name. Those that are names of other parameters of gbt_train()
# too, such as LightGBM's `alpha`, are left to these; see refuse_ambiguous().
objective_params <- function() {
  if (is.null(package_state$objective_params)) {
    params <- objectives_table()$params
    name <- unlist(lapply(params, `[[`, "name"))
    aliases <- strsplit(unlist(lapply(params, `[[`, "aliases")), "|", fixed = TRUE)
    all <- c(stats::setNames(name, name), stats::setNames(rep(name, lengths(aliases)), unlist(aliases)))
    all <- all[!duplicated(names(all))]
    package_state$objective_params <- all[!names(all) %in% names(alias_of)]
  }
  package_state$objective_params
}

# One text -> our name. typed: the argument's name as the user gave it.
objective_name <- function(x, typed = "objective") {
  must <- sprintf("%s must be a name in gbt_objectives(), or list(gradient = , hessian = ) of two functions",
                  param_text("objective", typed))
  if (length(x) != 1L || is.na(x)) stop_argument(must, "objective")
  low <- lower_case(x)
  name <- unname(objective_aliases()[low])
  if (!is.na(name)) return(name)
  foreign <- find_foreign("objective", low)
  if (!is.null(foreign)) {
    why <- if (nzchar(foreign$reply)) paste0(": ", foreign$reply) else ""
    stop_unsupported(sprintf(paste("objective \"%s\" is not offered%s; gbt_objectives() lists those that are, and your",
                                   "own is list(gradient = , hessian = )"), x, why), "objective")
  }
  stop_argument(sprintf("%s, not \"%s\"%s", must, x, suggest(x, names(objective_aliases()), "\"")), "objective")
}

# An objective's text as arguments of ours: list(objective = , parameters by name). CatBoost's way to write parameters,
# "Huber:delta=2;...", is understood as well.
read_objective_text <- function(x, typed = "objective") {
  if (length(x) != 1L) return(list(objective = objective_name(x, typed)))
  parts <- regmatches(x, regexec("^([A-Za-z_0-9]+):([a-z_]+=.*)$", x))[[1L]]
  if (length(parts) == 0L) return(list(objective = objective_name(x, typed)))
  name <- objective_name(parts[2L], typed)
  info <- objective_info(name)$params
  out <- list(objective = name)
  for (setting in strsplit(parts[3L], ";", fixed = TRUE)[[1L]]) {
    pair <- strsplit(setting, "=", fixed = TRUE)[[1L]]
    aliases <- strsplit(info$aliases, "|", fixed = TRUE)
    known <- mapply(function(ours, others) pair[1L] %in% c(ours, others), info$name, aliases)
    value <- suppressWarnings(as.double(pair[2L]))
    if (!any(known) || length(pair) != 2L || is.na(value)) {
      must <- if (length(info$name)) {
        sprintf("must be a parameter and its number, such as \"%s=%s\"", info$name[1L], format_number(info$default[1L]))
      } else "cannot be given: this objective has no parameters"
      stop_argument(sprintf("%s is \"%s\": \"%s\" %s", param_text("objective", typed), x, setting, must), "objective")
    }
    out[[info$name[known]]] <- value
  }
  out
}

# The objective as given (text, list of functions or NULL) -> list(name, gradient, hessian, n_outputs, args); name NULL
# when the response is to decide. args: as of collect_args(), for the objective's parameters.
as_objective <- function(args) {
  objective <- args$value[["objective"]]
  if (is.null(objective)) return(list(name = NULL, args = args))
  if (is.character(objective)) return(list(name = objective_name(objective), args = args))
  how <- paste("a custom `objective` is list(gradient = function(score, label, weight),",
               "hessian = function(score, label, weight))")
  if (!is.list(objective) || is.object(objective)) {
    stop_argument(sprintf("`objective` must be a text or a list of two functions, not %s; %s", describe(objective),
                          how), "objective")
  }
  known <- c("gradient", "hessian", "n_outputs")
  extra <- setdiff(names(objective), known)
  if (length(extra) || is.null(names(objective)) || !all(c("gradient", "hessian") %in% names(objective))) {
    about <- if (length(extra)) sprintf("%s has an unknown element `%s`; ", "`objective`", extra[1L]) else ""
    stop_argument(paste0(about, how), "objective")
  }
  for (part in c("gradient", "hessian")) {
    f <- objective[[part]]
    if (!is.function(f)) stop_argument(sprintf("`objective$%s` must be a function; %s", part, how), "objective")
    check_arity(f, c("score", "label", "weight"), sprintf("`objective$%s`", part), "objective")
  }
  n_outputs <- objective$n_outputs
  n_outputs <- if (is.null(n_outputs)) 1L else check_whole(n_outputs, "objective$n_outputs", 1, 65536)
  list(name = "custom", gradient = objective$gradient, hessian = objective$hessian, n_outputs = n_outputs,
       args = args)
}

# The parameters of objective `name`, a named list: given, or those of `init_model`, or default. Those of another
# objective are errors.
read_objective_params <- function(name, args) {
  info <- objective_info(name)$params
  for (given in intersect(names(args$value), objective_params())) {
    if (given %in% info$name) next
    owners <- Filter(function(o) given %in% objective_info(o)$params$name, offered_objectives())
    stop_argument(sprintf("%s is a parameter of objective %s, but the objective is \"%s\"",
                          param_text(given, args$typed[[given]]), paste0("\"", owners, "\"", collapse = " or "), name),
                  given)
  }
  if (!args$of_model) refuse_ambiguous(name, info, args$typed)
  out <- stats::setNames(as.list(info$default), info$name)
  init <- args$value[["init_model"]]
  if (!is.null(init)) check_model(init, "init_model")
  if (identical(init$objective, name)) out[] <- init$params[info$name]
  for (i in given_of(info$name, args)) {
    row <- table_row(info, i)
    out[[i]] <- check_number(args$value[[row$name]], row, args$typed[row$name])
  }
  out
}

# A name such as `alpha` is a parameter of its own here, and in other packages one of this objective.
refuse_ambiguous <- function(name, info, typed) {
  for (i in seq_along(info$name)) {
    both <- intersect(strsplit(info$aliases[i], "|", fixed = TRUE)[[1L]], typed)
    for (one in both[both %in% names(alias_of)]) {
      ours <- canonical_name(one)
      other <- setdiff(names(alias_of)[alias_of == ours], c(ours, one))[1L]
      stop_argument(sprintf(paste("`%s` could mean `%s` of objective \"%s\" or `%s`, which is gbt's meaning of it;",
                                  "give one of these names"), one, info$name[i], name, other), one)
    }
  }
}

# A function of the user's must take two or three arguments by position: f(a, b) or f(a, b, c).
check_arity <- function(f, args, what, parameter) {
  takes <- names(formals(args(f)))
  if (is.null(takes)) takes <- character(0)
  if ("..." %in% takes || length(takes) >= 2L) return(invisible())
  stop_argument(sprintf("%s must be a function(%s), the last one optional", what, paste(args, collapse = ", ")),
                parameter)
}

# Calls f(a, b, c), or f(a, b) when it takes two.
call_user <- function(f, a, b, c) {
  takes <- names(formals(args(f)))
  if ("..." %in% takes || length(takes) >= 3L) f(a, b, c) else f(a, b)
}

# Response --------------------------------------------------------------------------------------------------------

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
  e <- encode_y(y, advice = advice)
  if (length(e$value) != n_rows) {
    stop_data(sprintf("the response has %s, but the data have %s", counted(length(e$value), "value"),
                      counted(n_rows, "row")), "y")
  }
  if (n_rows == 0) stop_data("the data have no rows", "y")
  e <- classes_of_init(e, objective)
  name <- given_or(objective$name, e$objective)
  if (!is.null(e$classes) && is.null(e$objective)) e <- drop_unused(e)
  n_classes <- length(e$classes)
  if (is.null(name)) {
    name <- if (n_classes == 0L) "squared_error" else if (n_classes == 2L) "logistic" else "softmax"
    if (n_classes == 0L && is_zero_one(e$value)) {
      say("the response is 0 and 1, numbers, so squared error is minimised; for classes: `objective = \"logistic\"`")
    }
  }
  labels <- objective_info(name)$labels
  out <- switch(labels, BINARY = check_binary(e), CLASS = check_classes(e), check_numbers(need_numbers(e, name), name))
  out$objective <- name
  out$param <- read_objective_params(name, objective$args)
  out$label <- out$value
  out$value <- NULL
  out$n_outputs <- switch(objective_info(name)$outputs, CLASSES = length(out$classes), ANY = objective$n_outputs, 1L)
  check_num_class(num_class, out)
  out
}

# Going on from a model of classes: a response that has some of them, or all, is of these classes, in their order; the
# objective is that of the model. Other responses stay as they are, and the model is refused for them later.
classes_of_init <- function(e, objective) {
  init <- objective$args$value[["init_model"]]
  if (is.null(init)) return(e)
  check_model(init, "init_model")
  given <- objective$name
  if (is.null(init$classes) || !(is.null(given) || identical(given, init$objective))) return(e)
  numbers <- is.null(e$classes)
  if (numbers && (objective_info(init$objective)$labels != "CLASS" || is.null(given))) return(e)
  if (numbers) {
    values <- sort(different(check_finite(e$value)))
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

# Nothing but 0 and 1, and both of them?
is_zero_one <- function(value) {
  length(value) > 1L && min(value) == 0 && max(value) == 1 && all(value == 0 | value == 1)
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
  stop_data(paste(what, "has", counted_rows(which(!is.finite(value)), "infinite value")), "y")
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

# What a rule for labels (objectives.def) asks of numbers: text, and a function of the numbers that says which are not.
label_ranges <- list(
  NOT_NEGATIVE = list(text = "numbers of 0 or more", wrong = function(y) y < 0),
  POSITIVE = list(text = "numbers above 0", wrong = function(y) y <= 0),
  ABOVE_MINUS_ONE = list(text = "numbers above -1", wrong = function(y) y <= -1),
  SHARE = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1),
  BINARY = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1)
)

# Rows (from 1) whose label the rule of an objective does not allow.
wrong_labels <- function(value, range) {
  if (is.null(range) || !any(range$wrong(c(min(value), max(value))))) return(integer(0))
  unlist(by_parts(length(value), function(rows) rows[which(range$wrong(value[rows]))]))
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
  values <- sort(different(e$value))
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
  labels <- objective_info(response$objective)$labels
  numeric_classes <- labels == "CLASS" && response$response %in% c("integer", "double", "integer64")
  e <- encode_y(y, if (!numeric_classes) response$classes, what)
  if (numeric_classes) {
    if (!is.null(e$classes)) stop_data(sprintf("%s has classes where numbers are expected", what), "y")
    values <- different(e$value)
    place <- match(format_number(values), response$classes)
    if (anyNA(place)) {
      stop_data(sprintf("%s has classes that the training data do not have: %s", what,
                        enumerate(unique(format_number(values[is.na(place)])), quote = "")), "y")
    }
    e$value <- place[place_among(e$value, values)] - 1
  } else if (is.null(response$classes) && !is.null(e$classes) && e$response != "logical") {
    stop_data(sprintf("%s is a %s, but was numeric in the training data", what, e$response), "y")
  }
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
  label
}
