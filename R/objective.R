# Objectives: what is minimised, found from the response when not stated, and the response as the engine wants it.

# Place = number in the engine (enum gbt_objective_kind), minus one.
objective_names <- c("squared_error", "logistic", "softmax", "poisson", "custom")
objective_code <- function(objective) match(objective, objective_names) - 1L

# As the engine takes it: its number, and its parameters in the engine's order.
objective_object <- function(objective, param = numeric(0)) list(objective_code(objective), param)

# What others call them, in lower case.
objective_aliases <- c(
  "squared_error" = "squared_error", "reg:squarederror" = "squared_error", "reg:linear" = "squared_error",
  "regression" = "squared_error", "regression_l2" = "squared_error", "l2" = "squared_error", "rmse" = "squared_error",
  "mse" = "squared_error", "mean_squared_error" = "squared_error", "root_mean_squared_error" = "squared_error",
  "l2_root" = "squared_error", "gaussian" = "squared_error", "squarederror" = "squared_error",
  "least_squares" = "squared_error",
  "logistic" = "logistic", "binary:logistic" = "logistic", "reg:logistic" = "logistic", "binary" = "logistic",
  "logloss" = "logistic", "bernoulli" = "logistic", "binomial" = "logistic", "cross_entropy" = "logistic",
  "crossentropy" = "logistic", "xentropy" = "logistic", "binary_logloss" = "logistic",
  "softmax" = "softmax", "multi:softprob" = "softmax", "multi:softmax" = "softmax", "multiclass" = "softmax",
  "multinomial" = "softmax", "multi_logloss" = "softmax", "mlogloss" = "softmax",
  "poisson" = "poisson", "count:poisson" = "poisson", "poisson_loss" = "poisson"
)

# Objectives of other packages that gbt does not have, as patterns in lower case.
objectives_not_offered <- c(
  "^binary:logitraw$", "^binary:hinge$", "^reg:", "^rank:", "^survival:", "^multiclassova$", "^ova$",
  "^multiclassonevsall$", "^mae$", "^l1$", "^regression_l1$", "^absolute_error$", "^mape$", "^quantile", "^huber",
  "^fair$", "^gamma$", "^tweedie", "^lambdarank$", "^rank_xendcg$", "^cox", "^aft", "^survivalaft", "^laplace$",
  "^adaboost$", "^huberized$", "^tdist", "^pairwise$", "^yetirank", "^pairlogit", "^query", "^lambdamart$",
  "^expectile", "^focal", "^multirmse", "^multilogloss$", "^multicrossentropy$", "^lq", "^rmsewithuncertainty$",
  "^quasibinomial$", "^cross_entropy_lambda$", "^multiquantile", "^logcosh$", "^loglinquantile"
)

# One text -> our name. typed: the argument's name as the user gave it.
objective_name <- function(x, typed = "objective") {
  offered <- objective_names[1:4]
  if (length(x) != 1L || is.na(x)) {
    stop_argument(sprintf("%s must be one of %s, or list(gradient = , hessian = ) of two functions",
                          param_text("objective", typed), enumerate(offered, quote = "\"")), "objective")
  }
  low <- lower_case(x)
  if (low == "binary:logitraw") {
    stop_unsupported("objective \"binary:logitraw\" is not offered; use \"logistic\" and predict(type = \"link\")",
                     "objective")
  }
  name <- unname(objective_aliases[low])
  if (!is.na(name)) return(name)
  if (any(vapply(objectives_not_offered, grepl, NA, x = low))) {
    stop_unsupported(sprintf(paste("objective \"%s\" is not offered; there are %s, and your own as",
                                   "list(gradient = , hessian = )"), x, enumerate(offered, quote = "\"")), "objective")
  }
  hint <- suggest(x, names(objective_aliases), "\"")
  stop_argument(sprintf("%s must be one of %s, or list(gradient = , hessian = ), not \"%s\"%s",
                        param_text("objective", typed), enumerate(offered, quote = "\""), x, hint), "objective")
}

# The objective as given (text, list of functions or NULL) -> list(name, gradient, hessian, n_outputs); name NULL when
# the response is to decide.
as_objective <- function(objective) {
  if (is.null(objective)) return(list(name = NULL))
  if (is.character(objective)) return(list(name = objective_name(objective)))
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
  list(name = "custom", gradient = objective$gradient, hessian = objective$hessian, n_outputs = n_outputs)
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
  name <- objective$name
  if (!is.null(e$classes)) e <- drop_unused(e)
  n_classes <- length(e$classes)
  if (is.null(name)) {
    name <- if (n_classes == 0L) "squared_error" else if (n_classes == 2L) "logistic" else "softmax"
    if (n_classes == 0L && is_zero_one(e$value)) {
      say("the response is 0 and 1, numbers, so squared error is minimised; for classes: `objective = \"logistic\"`")
    }
  }
  out <- switch(name,
    squared_error = need_numbers(e, name),
    poisson = check_counts(need_numbers(e, name)),
    custom = need_numbers(e, "custom"),
    logistic = check_binary(e),
    softmax = check_classes(e)
  )
  out$objective <- name
  out$label <- out$value
  out$value <- NULL
  out$n_outputs <- switch(name, softmax = length(out$classes), custom = objective$n_outputs, 1L)
  check_num_class(num_class, out)
  out
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
  hint <- if (objective == "custom") {
    "give the numbers that your functions expect, such as as.integer(y) - 1"
  } else {
    sprintf("for classes use `objective = \"%s\"`", better)
  }
  what <- c(factor = "a factor", ordered = "an ordered factor", character = "texts")[[e$response]]
  stop_data(sprintf("objective \"%s\" needs a numeric response, not %s with %d classes; %s", objective, what,
                    length(e$classes), hint), "y")
}

check_counts <- function(e) {
  if (!all_within(e$value, 0, Inf)) {
    bad <- which(e$value < 0)
    stop_data(sprintf("objective \"poisson\" needs counts of 0 or more; %d value%s negative, the first in row %d (%s)",
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
  numeric_classes <- response$objective == "softmax" && response$response %in% c("integer", "double", "integer64")
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
  if (response$objective == "poisson" && !all_within(label, 0, Inf)) {
    stop_data(sprintf("%s has negative counts", what), "y")
  }
  if (response$objective == "logistic" && !all_within(label, 0, 1)) {
    stop_data(sprintf("%s has numbers outside 0 to 1", what), "y")
  }
  label
}

# Scores -> responses, as the user's own metrics see them.
respond <- function(score, objective) {
  switch(objective,
    logistic = stats::plogis(score),
    poisson = exp(score),
    softmax = {
      p <- exp(score - score[cbind(seq_len(nrow(score)), max.col(score, "first"))])
      p / rowSums(p)
    },
    score
  )
}
