# A model as an expression of columns, for tidypredict and orbital. Methods are registered when these packages are
# loaded. Packages that save models (bundle, butcher) need no methods: a model is a value, and holds no data.

#' @exportS3Method tidypredict::tidypredict_fit
tidypredict_fit.gbt <- function(model) {
  check_model(model, "model")
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  nodes <- .Call(C_gbt_model_nodes, model$state, model$cache)
  check_as_expression(model, info, nodes)
  levels <- .Call(C_gbt_model_levels, model$state, model$cache)
  note <- made_columns_note(model, columns_of_trees(model)$names)
  if (!is.null(note)) say(paste0("tidypredict_fit: ", sub("the file", "the expression", note, fixed = TRUE)))
  if (info$sums == "float") {
    say(paste("tidypredict_fit: the expression adds in double what XGBoost adds in float32: scores agree to about 6",
              "digits"))
  }
  at <- split(seq_along(nodes$tree), nodes$tree)
  at <- at[seq_len(rounds_used(model) * info$n_parallel)]
  check_nesting(length(at), layers_of(unlist(at), nodes))
  trees <- lapply(unname(at), tree_expression, nodes = nodes, info = info, levels = levels)
  response_expression(sum_expression(trees, info, rounds_used(model)), objective_info(model$objective), model$objective)
}

# Whether the expression gives the numbers of predict(), in the form that tidypredict prints. A model keeps no training
# data, so rows must be given.
#' @exportS3Method tidypredict::tidypredict_test
tidypredict_test.gbt <- function(model, df = NULL, threshold = 1e-12, include_intervals = FALSE, max_rows = NULL,
                                 xg_df = NULL) {
  check_model(model, "model")
  if (is.null(df)) {
    stop_argument("`df` is missing: a model does not keep its training data, so give rows: tidypredict_test(model, df)",
                  "df")
  }
  if (!is.data.frame(df)) stop_argument(sprintf("`df` must be a data frame, not %s", describe(df)), "df")
  if (!isFALSE(include_intervals)) {
    stop_unsupported("an expression of columns has no intervals; leave `include_intervals` out", "include_intervals")
  }
  if (!is.null(max_rows)) df <- df[seq_len(min(nrow(df), check_whole(max_rows, "max_rows", 1))), , drop = FALSE]
  fit <- as.vector(predict.gbt(model, df))
  made <- rep_len(as.double(eval(tidypredict_fit.gbt(model), df, globalenv())), length(fit))
  off <- fit - made
  above <- abs(off) > threshold
  text <- if (any(above)) {
    sprintf("%s above it; the largest difference is %s", counted(sum(above), "row"), format(max(abs(off))))
  } else {
    sprintf("all of %s are within it", counted(length(fit), "row"))
  }
  structure(class = c("tidypredict_test", "list"), list(
    model_call = model$call,
    raw_results = data.frame(rowid = seq_along(fit), fit = fit, fit_te = made, fit_diff = off, fit_threshold = above),
    message = sprintf("tidypredict test results\nDifference threshold: %s\n%s\n", format(threshold), text),
    alert = any(above)
  ))
}

# orbital replaces the names that begin with orbital_tmp. lvl: the classes, in the order of the factor.
#' @exportS3Method orbital::orbital
orbital.gbt <- function(x, ..., mode = "regression", type = "class", lvl = NULL) {
  made <- tidypredict_fit.gbt(x)
  if (!identical(mode, "classification")) return(made)
  if (!is_texts(lvl) || length(lvl) != 2L) {
    stop_unsupported(paste("an expression of columns has the classes of a model of two classes; use",
                           "gbt_export(model, \"model.sql\")"))
  }
  second <- deparse1(made, control = "digits17")
  of_class <- vapply(lvl, deparse, "", USE.NAMES = FALSE)
  class <- sprintf("dplyr::case_when(%s > 0.5 ~ %s, TRUE ~ %s)", second, of_class[2L], of_class[1L])
  c(if ("class" %in% type) c(orbital_tmp_class_name = class),
    if ("prob" %in% type) c(orbital_tmp_prob_name1 = sprintf("1 - (%s)", second), orbital_tmp_prob_name2 = second))
}

# Refuses models that no expression of columns can be.
check_as_expression <- function(model, info, nodes) {
  refuse <- function(why, name = NULL) {
    stop_unsupported(sprintf(paste("the model cannot be written as an expression of columns: %s; use",
                                   "gbt_export(model, \"%s\")"), why,
                             if (is.null(name)) "model.sql" else "model.c"), name)
  }
  if (is_distribution(model$objective)) {
    stop_unsupported(paste("an expression of columns has one number a row, and a distribution has several parameters;",
                           "use predict() with type = \"parameters\""), "objective")
  }
  check_constant_leaves(model, "which no expression of columns is offered for")
  used <- unique(stats::na.omit(nodes$feature)) + 1L
  several <- used[info$column[used] == 0L & lengths(info$statistic[used]) == 0L]
  if (length(several)) {
    stop_unsupported(sprintf(paste("the model cannot be written as an expression of columns: trees split by `%s`, a",
                                   "statistic of several columns; train with `max_cat_combine = 1`, which makes none"),
                             printable(info$features[several[1L]])))
  }
  if (isTRUE(model$has_offset)) refuse("it has an offset, which is added to the score", "offset")
  if (info$n_outputs > 1L) refuse("it has several outputs")
  columns <- unlist(info$columns[used])
  coded <- columns[startsWith(info$tag[columns], "coded:")]
  if (length(coded)) {
    refuse(sprintf("column `%s` has numbers that are missing values", printable(info$names[coded[1L]])))
  }
}

# Each tree is within the sum of those after it, and each layer of a tree within the one above. R stops at 5,000
# expressions within each other and where its C stack ends: with 8 MB, which are usual, at some 280 layers of
# case_when(). About half of both is left to what calls the expression.
most_summed <- 2000L
most_nested_layers <- 60L

check_nesting <- function(n_trees, n_layers) {
  if (n_trees <= most_summed && n_layers <= most_nested_layers) return(invisible())
  has <- if (n_trees > most_summed) c(counted(n_trees, "tree"), with_commas(most_summed)) else
    c(counted(n_layers, "layer"), most_nested_layers)
  stop_unsupported(sprintf(paste("the model cannot be written as an expression of columns: it has %s, and R cannot",
                                 "evaluate expressions that are nested so deeply (%s at most); use",
                                 "gbt_export(model, \"model.sql\") or \"model.c\""), has[1L], has[2L]))
}

# Splits from a root to its farthest leaf, the most of all trees. at: nodes of whole trees, the root of each first.
layers_of <- function(at, nodes) {
  at <- unname(at)
  root <- at[match(nodes$tree[at], nodes$tree[at])]
  here <- unique(root)
  first <- integer(length(nodes$tree))
  first[at] <- root
  layers <- 0L
  repeat {
    here <- here[!is.na(nodes$left[here])]
    if (!length(here)) return(layers)
    layers <- layers + 1L
    here <- c(first[here] + nodes$left[here], first[here] + nodes$right[here])
  }
}

# One of case_when() within another. at: the nodes of a tree, whose children come after them.
tree_expression <- function(at, nodes, info, levels) {
  made <- vector("list", length(at))
  for (i in rev(seq_along(at))) {
    node <- at[i]
    left <- nodes$left[node]
    if (is.na(left)) {
      made[[i]] <- nodes$value[node]
      next
    }
    split <- split_expression(node, nodes, info, levels)
    made[[i]] <- call("case_when", call("~", split, made[[left + 1L]]),
                      call("~", TRUE, made[[nodes$right[node] + 1L]]))
    made[[i]][[1L]] <- of_package("dplyr", "case_when")
    made[c(left, nodes$right[node]) + 1L] <- list(NULL)
  }
  made[[1L]]
}

# That a row goes left. Neither R nor a database takes NA for it.
split_expression <- function(node, nodes, info, levels) {
  feature <- nodes$feature[node] + 1L
  column <- info$columns[[feature]]
  x <- as.name(info$names[column])
  threshold <- nodes$threshold[node]
  missing_left <- nodes$missing_left[node]
  if (info$type[column] == "numeric") {
    split <- call("<=", number_expression(x, info$tag[column], info$names[column]), threshold)
    return(if (missing_left) call("|", split, call("is.na", x)) else split)
  }
  its <- levels[[column]]
  statistic <- info$statistic[[feature]]
  n <- length(its)
  if (length(statistic)) {
    left <- ifelse(is.na(statistic), missing_left, statistic <= threshold)
    return(set_expression(x, its, left[seq_len(n)], left[n + 1L], left[n + 2L]))
  }
  if (info$type[column] == "ordinal") {
    return(set_expression(x, its, seq_len(n) - 1 <= threshold, missing_left, missing_left))
  }
  set <- nodes$set[[if (is.na(nodes$same_set[node])) node else nodes$same_set[node]]]
  set_expression(x, its, (seq_len(n) - 1L) %in% set, missing_left, nodes$bulk_left[node])
}

# package::name, of a package that gbt does not suggest: the expression is evaluated where it is installed.
of_package <- function(package, name) call("::", as.name(package), as.name(name))

# The numbers of a column as trees compare them: in the unit of the training, as align_units() has them. name: for
# messages.
number_expression <- function(x, tag, name) {
  if (tag %in% c("double", "integer")) return(x)
  if (startsWith(tag, "difftime:")) return(call("as.numeric", x, units = unit_of(tag)))
  if (startsWith(tag, "units:")) {
    if (!is_plain_unit(unit_of(tag))) {
      stop_data(sprintf("column `%s` has a unit in the model that is not the text of a unit", printable(name)), name)
    }
    return(call("as.numeric", as.call(list(of_package("units", "set_units"), x, unit_of(tag), mode = "standard"))))
  }
  call("as.numeric", x)
}

# That a text is one of the levels that go left. left: of each level.
set_expression <- function(x, levels, left, missing_left, unseen_left) {
  split <- call("%in%", x, levels[left != unseen_left])
  if (unseen_left) split <- call("!", split)
  if (missing_left) return(call("|", split, call("is.na", x)))
  if (unseen_left) call("&", split, call("!", call("is.na", x))) else split
}

# Trees are added in their order, and base scores first or last, as predict() does.
sum_expression <- function(trees, info, rounds) {
  at_end <- info$sums %in% c("scaled", "mean")
  parts <- if (at_end) trees else c(list(info$base), trees)
  if (!length(parts)) return(info$base)
  sum <- parts[[1L]]
  for (part in parts[-1L]) sum <- call("+", sum, part)
  if (info$sums == "scaled") sum <- call("*", info$scale, call("(", sum))
  if (info$sums == "mean") sum <- call("/", call("(", sum), as.double(rounds))
  if (at_end) call("+", sum, info$base) else sum
}

response_expression <- function(score, info, objective) {
  if (objective == "squared_log_error") return(call("-", call("exp", score), 1))
  switch(info$response,
         MEAN = , TIME = , HAZARD = call("exp", score),
         PROBABILITY = call("/", 1, call("(", call("+", 1, call("exp", call("-", call("(", score)))))),
         score)
}
