# Methods that show or list a model, and slices of its rounds.

#' Methods for models
#'
#' `length()` is the number of rounds. `model[i]` is the model of some consecutive rounds, such as `model[1:10]`;
#' a slice that does not begin with the first round still starts from the model's base score. `as.data.frame()` lists
#' all nodes of all trees. `nobs()` is the number of training rows, `formula()` the formula of a model that was trained
#' by one (its environment is the global one), `variable.names()` the features. `format()` is one line: so a data frame
#' with models in a list column prints.
#'
#' `print()` shows what was trained, on what, the parameters that you gave and those that a rule chose.
#' `summary()` adds sizes of trees, importance and all parameters that play a part in this model, by topic. Its element
#' `parameters` is a data frame of them: `parameter`, `value`, `default`, `topic`, and `origin`: `"given"`, `"rule"`
#' (see [gbt_defaults()]), `"default"`, or `"found"` for what was drawn or follows from other arguments. Parameters that
#' you gave are always listed. All values are in `model$params`.
#'
#' The table of nodes has the columns
#' \describe{
#'   \item{`tree`, `round`, `output`}{number of the tree and of its round, from 1; the class, column of the response,
#'     level or parameter whose score it adds to (`NA` with one score per row)}
#'   \item{`node`}{number of the node in its tree; 0 is the root. `predict(type = "leaf")` gives the same numbers.}
#'   \item{`feature`, `split`}{the feature that is split (`NA` for leaves) and the condition of the left side as text:
#'     `"<= 2.5"` or `"in a, c"`}
#'   \item{`threshold`, `levels`}{the same for use in programs: the exact number, or the texts of the levels that go
#'     left (a list column; `write.csv()`, `format()` and `as.character()` join them by `" | "`). Statistics
#'     of categorical columns are split by bins; the number is the largest value of the last bin that goes left.}
#'   \item{`left`, `right`, `missing`}{numbers of the children, and of the child that missing values go to (`NA` for
#'     statistics of categorical columns, which are never missing)}
#'   \item{`gain`, `cover`, `count`}{gain of the split, sum of hessians, number of training rows}
#'   \item{`value`}{what a leaf adds to the score; where the leaves of a model hold a value for every output, a
#'     matrix with a column for each, and `output` is `NA`}
#'   \item{`intercept`, `slopes`, `low`, `high`}{with `leaf_model = "linear"` only, of linear leaves: a row gets
#'     `intercept` plus the sum of each slope times the row's number in its column, cut to `low` and `high`, where the
#'     number is the middle of the bin that it is in, up to rounding (in an imported model the number itself, which is
#'     not cut). A row that lacks one of the numbers gets `value`,
#'     which is also what the leaf adds where its rows have their mean. `slopes` is a list column of named numbers, for
#'     one unit of the column each; `NULL` of other nodes}
#' }
#'
#' @param x,object A model from [gbt_train()].
#' @param i Rounds: consecutive positive numbers, negative numbers (to leave out the first or last rounds), or logical
#'   values.
#' @param row.names,optional Ignored, for compatibility with the generic.
#' @param ... Ignored.
#' @return See the description.
#' @seealso [gbt_train()], [gbt_importance()], [plot.gbt()]
#' @examples
#' m <- gbt_train(Species ~ ., iris, nrounds = 5, max_depth = 2, threads = 1)
#' length(m)
#' first <- m[1:2]
#' summary(m)
#' nodes <- as.data.frame(m)
#' head(nodes[c("tree", "round", "output", "node", "feature", "split", "gain")])
#' @aliases print.gbt format.gbt str.gbt
#' @name gbt_methods
NULL

#' @rdname gbt_methods
#' @export
length.gbt <- function(x) check_model(x, "x")$nrounds

#' @export
as.list.gbt <- function(x, ...) unclass(x) # lapply() and its kin go over the fields, whatever length() says

#' @export
str.gbt <- function(object, ...) {
  cat("Model of class 'gbt':\n")
  utils::str(unclass(object), ...)
}

#' @rdname gbt_methods
#' @export
`[.gbt` <- function(x, i) {
  check_model(x, "x")
  n <- x$nrounds
  if (missing(i)) return(x)
  ok <- (is.numeric(i) || is.logical(i)) && !anyNA(i) &&
    (is.logical(i) || all(i == floor(i) & abs(i) <= n) && !(any(i < 0) && any(i > 0)))
  rounds <- if (ok) seq_len(n)[i]
  if (!ok || anyNA(rounds)) {
    stop_argument(sprintf("rounds of a model of %d rounds are numbers from 1 to %d: model[1:%d]", n, n,
                          max(1L, n %/% 2L)), "i")
  }
  if (length(rounds) && !identical(as.integer(rounds), rounds[1L] - 1L + seq_along(rounds))) {
    stop_unsupported("rounds of a model must be consecutive: model[1:10], model[11:20]", "i")
  }
  from <- if (length(rounds)) rounds[1L] - 1L else 0L
  keep_rounds(x, from + length(rounds), from)
}

# Fields may be set by their names.
#' @export
`[<-.gbt` <- function(x, i, value) {
  if (missing(i) || !is.character(i)) stop_unsupported("rounds of a model cannot be replaced; model[1:10] takes some")
  NextMethod()
}

#' @export
`length<-.gbt` <- function(x, value) {
  stop_unsupported("the length of a model cannot be set; model[1:10] takes the first ten rounds")
}

#' @rdname gbt_methods
#' @importFrom stats nobs
#' @export
nobs.gbt <- function(object, ...) check_model(object)$n_obs

#' @rdname gbt_methods
#' @importFrom stats variable.names
#' @export
variable.names.gbt <- function(object, ...) check_model(object)$feature_names

#' @rdname gbt_methods
#' @importFrom stats formula
#' @export
formula.gbt <- function(x, ...) {
  check_model(x, "x")
  if (is.null(x$formula)) {
    stop_argument("this model was not trained by a formula; variable.names() lists its features")
  }
  structure(parse_formula(x$formula), class = "formula", .Environment = globalenv())
}

stop_no_training_data <- function(instead) {
  stop_unsupported(paste("a model does not keep its training data; if you have the data, use", instead))
}

# Printing --------------------------------------------------------------------------------------------------------

# "softmax, 3 classes (a, b, c)", "quantile, quantile_alpha 0.9"
describe_objective <- function(x) {
  text <- x$objective
  cause <- if (is_text(x$params$cause)) sprintf(", cause \"%s\"", printable(x$params$cause)) else ""
  if (is_of_intervals(text)) {
    breaks <- x$params$breaks
    return(sprintf("%s%s, %s up to %s", text, cause, counted(length(breaks), "interval"),
                   format(breaks[length(breaks)], digits = 4L)))
  }
  if (is_of_hazards(text)) {
    return(sprintf("%s%s, ties by %s", text, cause, c("Efron", "Breslow")[x$params$ties + 1]))
  }
  if (text == "aft") return(describe_times(x$params, "aft_scale" %in% x$named))
  names <- shown_params(x)
  values <- vapply(x$params[names], function(value) enumerate(format_number(value), quote = ""), "")
  if (length(names)) text <- paste0(text, paste0(", ", names, " ", values, collapse = ""))
  n <- length(x$classes)
  if (n == 0L) return(text)
  shown <- if (n <= 5L) paste(x$classes, collapse = ", ") else paste0(paste(x$classes[1:4], collapse = ", "), ", ...")
  sprintf("%s, %d classes (%s)", text, n, shown)
}

# Parameters of the objective that its line shows. Those of ranking are many: only values that are not the defaults.
shown_params <- function(x) {
  info <- objective_info(x$objective)$params
  if (!is_of_queries(x$objective)) return(info$name)
  info$name[unlist(x$params[info$name]) != info$default]
}

# "aft, normal log times, scale 0.43 (estimated)". given: the scale was.
describe_times <- function(params, given) {
  sprintf("aft, %s log times, scale %s%s", aft_dist_name(params$aft_dist), format(params$aft_scale, digits = 4L),
          if (given) "" else " (estimated)")
}

# "a rising, b falling": the columns with a monotone constraint; NULL for none.
describe_monotone <- function(x) {
  sign <- x$params[["monotone"]]
  sign <- sign[sign != 0]
  if (length(sign)) enumerate(paste(names(sign), ifelse(sign > 0, "rising", "falling")), quote = "")
}

# "100 events of "cancer", 32 censored, in 3 strata". Of intervals only exact times are events.
describe_events <- function(x) {
  events <- counted(x$n_events, "event")
  if (!is.null(x$params[["cause"]])) events <- sprintf("%s of \"%s\"", events, x$params$cause)
  text <- sprintf("%s, %s censored", events, with_commas(x$n_obs - x$n_events))
  n <- length(x$baseline$strata)
  if (n > 0L) sprintf("%s, in %d %s", text, n, if (n == 1L) "stratum" else "strata") else text
}

# "32 in 4 queries, weighted, classes no 1, yes 3, with an offset": the rows, and what is given for them.
describe_rows <- function(x) {
  text <- if (is.null(x$n_obs)) "unknown" else with_commas(x$n_obs)
  if (!is.null(x$n_queries)) {
    text <- sprintf("%s in %s %s", text, with_commas(x$n_queries), if (x$n_queries == 1) "query" else "queries")
  }
  if (!is.null(x$n_events)) text <- sprintf("%s: %s", text, describe_events(x))
  if (isTRUE(x$has_weights)) text <- paste0(text, ", weighted")
  by_class <- x$params[["class_weights"]]
  if (length(by_class)) {
    by_class <- enumerate(paste(names(by_class), vapply(by_class, format, "", digits = 4L)), 5L, "")
    text <- sprintf("%s, weights of classes: %s", text, by_class)
  }
  if (nzchar(given_or(x$exposure, ""))) return(sprintf("%s, exposure `%s`", text, x$exposure))
  if (!is.null(x$exposure)) return(paste0(text, ", with an exposure"))
  if (x$has_offset) paste0(text, ", with an offset") else text
}

# "XGBoost 3.2.0, reg:squarederror"
describe_import <- function(from) {
  version <- if (nzchar(from$version)) paste0(" ", from$version)
  text <- printable(paste0(from$program, version, if (nzchar(from$objective)) paste0(", ", from$objective)))
  gsub("[[:space:]]+", " ", text)
}

describe_features <- function(x) {
  counted <- x$params$level_counts
  target <- target_columns(x$params$cat_method)
  paste0(describe_columns(x), if (length(counted)) sprintf(", level counts of %s", enumerate(counted, 5L)),
         if (length(target)) sprintf(", target encoding of %s", enumerate(target, 5L)))
}

column_kinds <- function(x) {
  ifelse(x$feature_types %in% c("factor", "character", "category"), "factor",
         ifelse(x$feature_types == "ordered", "ordered", "numeric"))
}

describe_columns <- function(x) {
  kind <- column_kinds(x)
  counts <- table(factor(kind, c("numeric", "ordered", "factor")))
  counts <- counts[counts > 0L]
  if (length(counts) < 2L) return(sprintf("%d (%s)", length(kind), names(counts)))
  sprintf("%d (%s)", length(kind), paste(counts, names(counts), collapse = ", "))
}

describe_rounds <- function(x) {
  trees <- trees_of_round(.Call(C_gbt_model_info, x$state, x$cache))
  text <- with_commas(x$nrounds)
  if (trees > 1) text <- sprintf("%s, %.0f trees in each", text, trees)
  if (is_number(x$params[["ensemble"]], 2)) text <- sprintf("%s, mean of %.0f models", text, x$params$ensemble)
  ended <- if (!is.null(x$stopped)) {
    switch(x$stopped, time = ", stopped by `max_seconds`", callback = ", stopped by a callback",
           interrupt = ", interrupted", error = ", stopped by an error")
  }
  text <- paste0(text, ended)
  if (!is.null(x$best_round)) {
    patience <- x$params[["early_stopping_rounds"]] # so many without a better one are the end
    if (is_number(patience, 1) && x$nrounds - x$best_round >= patience) text <- paste0(text, ", stopped early")
    text <- if (x$best_round == x$nrounds) {
      sprintf("%s, the last is the best", text)
    } else {
      sprintf("%s, predicts with the best %d", text, x$best_round)
    }
  }
  if (!is.null(x$auto_rounds)) text <- paste0(text, ": ", found_text(x$auto_rounds))
  text
}

# "round 57: train_rmse 0.51, valid_rmse 0.62" for the round that predicts.
describe_log <- function(x, digits) {
  log <- unclass(x$evaluation_log)
  if (length(log) < 2L) return(NULL)
  row <- match(rounds_used(x), log$round)
  if (is.na(row)) return(NULL)
  values <- vapply(log[-1L], function(v) format(v[row], digits = digits), "")
  text <- sprintf("round %d: %s", log$round[row], paste(names(values), values, collapse = ", "))
  paste(c(text, log_of_member(x)), collapse = "; ")
}

# The member whose log an ensemble has; NULL for one training.
log_of_member <- function(x) {
  k <- x$params[["ensemble"]]
  if (is_number(k, 2)) sprintf("of the first of %.0f models, not of their mean", k)
}

# In a line: where a model is a cell of a table.
#' @export
format.gbt <- function(x, ...) {
  check_model(x, "x")
  sprintf("<gbt: %s, %s, %s>", x$objective, counted(x$nrounds, "round"), counted(length(x$feature_names), "feature"))
}

#' @export
toString.gbt <- function(x, ...) format.gbt(x)

# Short texts of the cells of a list column for print(), which else would show all bytes of a model.
#' @method unlist gbt
#' @export
unlist.gbt <- function(x, recursive = TRUE, use.names = TRUE) format.gbt(x)

#' @export
print.gbt <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  check_model(x, "x")
  digits <- check_digits(digits, 2L)
  print_model(x, digits)
  invisible(x)
}

# Prints the settings that the user gave and those that change the meaning of predictions, a line for each. params: with
# the parameters?
print_model <- function(x, digits, params = TRUE) {
  cat("<gbt> ", describe_objective(x), "\n", sep = "")
  if (!is.null(x$imported)) cat("imported  ", describe_import(x$imported), "\n", sep = "")
  if (!is.null(x$formula)) {
    text <- x$formula
    cat("formula   ", if (nchar(text) > 100L) paste0(substr(text, 1L, 97L), "...") else text, "\n", sep = "")
  }
  recipe <- recipe_of(x)
  if (!is.null(recipe)) cat("recipe    ", counted(length(recipe$steps), "step"), ", for raw rows\n", sep = "")
  if (!is.null(x$columns)) {
    cat("response  ", counted(length(x$columns), "column"), ": ", enumerate(x$columns, 6L, quote = ""), "\n", sep = "")
  }
  cat("features  ", describe_features(x), "\n", sep = "")
  monotone <- describe_monotone(x)
  if (!is.null(monotone)) cat("monotone  ", monotone, "\n", sep = "")
  within <- x$params[["interactions"]]
  if (!is.null(within)) {
    cat(labelled_lines("interact", paste("only within", param_text_of(within, "interactions"))), sep = "\n")
  }
  cat("rows      ", describe_rows(x), "\n", sep = "")
  if (!is.null(x$positions)) cat(labelled_lines("positions", positions_text(x$positions, digits)), sep = "\n")
  cat("rounds    ", describe_rounds(x), "\n", sep = "")
  if (params) print_chosen(x)
  log <- describe_log(x, digits)
  if (!is.null(log)) cat("log       ", log, "\n", sep = "")
  if (!is.null(x$warned)) cat(warned_lines(x$warned), sep = "\n")
}

# Parameters that print() shows in lines of their own.
shown_elsewhere <- c("monotone", "interactions", "class_weights", "level_counts", "cat_method", "eval_metric",
                     "early_stopping_rounds", "early_stopping_min_delta", "ensemble")

print_chosen <- function(x) {
  own <- c(shown_elsewhere, objective_info(x$objective)$params$name)
  given <- params_frame(x)
  given <- given[given$origin == "given" & !given$parameter %in% own, ]
  if (nrow(given)) cat(labelled_lines("given", paste(given$parameter, given$value)), sep = "\n")
  raced <- if (!is.null(x$race)) intersect(x$by_rule, shape_parameters)
  lines <- c(chosen_lines(x$params[raced], "race"), chosen_lines(x$params[setdiff(x$by_rule, raced)], "rule"))
  if (length(lines)) cat(lines, sep = "\n")
}

# Parameters by topic, as of params_frame(); those that a rule chose with a star. Imported models may have none.
print_parameters <- function(frame) {
  if (nrow(frame) == 0L) return(invisible())
  ruled <- frame$origin == "rule"
  cat("\nparameters", if (any(ruled)) " (* chosen by a rule, see gbt_defaults())", "\n", sep = "")
  text <- paste0(frame$parameter, " ", frame$value, ifelse(ruled, "*", ""))
  for (topic in unique(frame$topic)) {
    lines <- wrapped_items(paste0("  ", topic, ": "), text[frame$topic == topic], "    ")
    cat(lines, sep = "\n")
  }
}

# Of results whose print() says all that there is to say, summary() is the result itself.
as_printed <- function(object, dots) {
  check_no_dots(dots, "object")
  object
}

# Depth of every tree. Children come after their parents.
tree_depths <- function(nodes) {
  n <- length(nodes$node)
  if (n == 0L) return(integer(0))
  first <- match(nodes$tree, nodes$tree) # where the node's tree begins
  depth <- integer(n)
  split <- which(!is.na(nodes$left))
  layer <- split[nodes$node[split] == 0L]
  while (length(layer)) {
    children <- c(first[layer] + nodes$left[layer], first[layer] + nodes$right[layer])
    depth[children] <- rep(depth[layer] + 1L, 2L)
    layer <- children[!is.na(nodes$left[children])]
  }
  as.integer(tapply(depth, nodes$tree, max))
}

#' @export
print.summary.gbt <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  digits <- check_digits(digits, 2L)
  print_model(x$model, digits, params = FALSE)
  if (x$n_trees > 0L) {
    cat(sprintf("trees     %s, leaves %s, depth %s\n", with_commas(x$n_trees), range_of(x$leaves),
                range_of(x$depth)))
  }
  from <- provenance_texts(x$model)
  cat(sprintf("%-9s %s\n", names(from), from), sep = "")
  cat(sprintf("size      %s\n", format(structure(x$bytes, class = "object_size"), units = "auto")))
  print_parameters(x$parameters)
  cat("\n")
  print(x$importance, digits = digits)
  invisible(x)
}

range_of <- function(v) {
  if (min(v) == max(v)) return(format(v[1L]))
  sprintf("%d to %d (mean %.1f)", min(v), max(v), mean(v))
}

# For print().
warned_lines <- function(text) {
  lines <- strwrap(text, width = 90L)
  paste0(rep(c("warning   ", strrep(" ", 10L)), c(1L, length(lines) - 1L)), lines)
}
