# Permutation importance: gbt_importance(type = "permutation").

# model: a model, or a gbt_cv with its models. Arguments: those of gbt_importance() after `data`.
permutation_importance <- function(model, data, trees, y = NULL, metric = NULL, columns = NULL, repeats = 5,
                                   weights = NULL, offset = NULL, level = 0.95, seed = NULL, threads = NULL,
                                   exposure = NULL, group = NULL, strata = NULL) {
  plan <- list(repeats = check_whole(repeats, "repeats", 1, 10000), level = check_share(level),
               seed = drawn_seed(seed), threads = resolve_threads(threads))
  folded <- inherits(model, "gbt_cv")
  columns <- names_given("columns", columns_known(data))
  models <- if (folded) models_of_folds(model, "model") else list(model)
  rows <- explain_request(models[[1L]], data, given_in_data("offset", data), given_in_data("exposure", data),
                          given_in_data("weights", data))
  group <- column_or_values(given_in_data("group", data), data, "group")
  strata <- given_in_data("strata", data)
  models <- lapply(models, without_recipe)
  first <- rows$model
  n <- rows$n
  if (folded && n != model$n_obs) {
    stop_data(sprintf("`data` has %s, but the cross-validation was of %.0f; give the same rows", counted(n, "row"),
                      model$n_obs), "data")
  }
  if (n < 2) stop_data("a column of fewer than two rows cannot be permuted", "data")
  if (folded && min(lengths(model$folds)) < 2L) {
    stop_data("a fold holds one row out, in which nothing can be permuted; use fewer folds", "data")
  }
  y <- stratified_response(first, data, given_response(first, data, y), strata)
  rows$label <- given_labels(first, data, y, n)
  rows["group"] <- list(check_group(group, n))
  if (folded) check_rows_of_cv(model, rows$label)
  plan$metric <- one_metric(metric, first, rows)
  plan$groups <- permuted_groups(columns, first, rows$x)
  each <- with_conditions_once(lapply(seq_along(models), function(k) {
    held <- weighed_rows(rows, if (folded) model$folds[[k]])
    rounds <- check_rounds(trees, models[[k]])
    permuted_losses(models[[k]], held, plan, rounds)
  }), all = TRUE)
  share <- if (folded) mean(lengths(model$folds) / (n - lengths(model$folds)))
  permutation_table(each, plan, share, n)
}

# The metric by which rows are judged: one with a better side.
one_metric <- function(metric, model, rows) {
  out <- tryCatch(resolve_metrics(metric, response_kind(model)), gbt_error = function(e) {
    e$message <- gsub("`eval_metric`", "`metric`", conditionMessage(e), fixed = TRUE)
    if (identical(e$parameter, "eval_metric")) e$parameter <- e$subject <- "metric"
    stop(e)
  })
  if (length(out$name) == 0L) {
    stop_argument("the model's objective has no metric of its own; give `metric`, such as a gbt_metric()", "metric")
  }
  if (is.null(metric)) out <- lapply(out, utils::tail, 1L) # that which early stopping watches
  if (length(out$name) != 1L) stop_argument("`metric` must be one metric, such as \"rmse\" or a gbt_metric()", "metric")
  if (is.na(out$maximise)) {
    stop_argument(sprintf("neither larger nor smaller values of metric \"%s\" are better; name another one", out$name),
                  "metric")
  }
  check_metric_labels(out, list(list(name = "data", label = rows$label, rows = NULL)))
  by_query <- metrics_table()$by_query[out$code + 1L] %in% TRUE
  if (by_query && is.null(rows$group)) {
    stop_argument(sprintf(paste("metric \"%s\" needs `group`, the query of every row: gbt_importance(model,",
                                "\"permutation\", data = , group = )"), out$name), "group")
  }
  if (!by_query && !is.null(rows$group)) {
    stop_argument(sprintf("`group` is for ranking metrics, and \"%s\" is not one; leave it out", out$name), "group")
  }
  out
}

# Sets of columns that are permuted together, by name: one for each column, or those in `columns`.
permuted_groups <- function(columns, model, x) {
  if (is.null(columns)) columns <- columns_of_model(model, x)
  if (!is_plain_list(columns)) return(as.list(stats::setNames(nm = check_columns(columns, model, x))))
  if (length(columns) == 0L) stop_argument("`columns` is an empty list", "columns")
  columns[] <- lapply(columns, check_columns, model, x)
  named <- names(columns)
  if (is.null(named)) named <- rep("", length(columns))
  names(columns) <- ifelse(named == "", vapply(columns, paste, "", collapse = " + "), named)
  if (anyDuplicated(names(columns))) {
    stop_argument(sprintf("two groups of `columns` are called \"%s\"", names(columns)[anyDuplicated(names(columns))]),
                  "columns")
  }
  columns
}

# Those of the rows `at` (NULL: all) that have a weight: the values of others are not to be given to them.
weighed_rows <- function(rows, at = NULL) {
  weigh <- mask_of_weights(rows$weight)
  if (!is.null(weigh)) at <- if (is.null(at)) which(weigh) else at[weigh[at]]
  if (is.null(at)) rows else c(rows_at(rows, at), list(group = rows$group[at]))
}

# How much worse the metric becomes: a matrix, a row for each group and a column for each repeat. Columns that no tree
# looks at change nothing, and are not asked for.
permuted_losses <- function(model, rows, plan, rounds) {
  baseline <- baseline_of_metrics(plan$metric, model, rounds)
  value <- function(x) {
    score <- predict.gbt(model, x, "link", trees = rounds, offset = rows$offset, threads = plan$threads,
                         exposure = rows$exposure)
    score_metrics(plan$metric, model, score, rows$label, rows$weight, plan$threads, rows$group, baseline)
  }
  base <- value(rows$x)
  if (!is.finite(base)) {
    stop_data(sprintf(paste("metric \"%s\" is %s for %s, so nothing can be compared with it: an AUC, for example,",
                            "needs rows of both classes, and R squared a response that varies; give other rows, or",
                            "another `metric`"),
                      plan$metric$name, format(base), counted(length(rows$label), "row")), "metric")
  }
  used <- columns_in_use(model, rows$x, rounds)
  n <- length(rows$label)
  out <- matrix(0, length(plan$groups), plan$repeats)
  groups <- which(vapply(plan$groups, function(group) any(group %in% used), NA))
  for (k in if (length(groups)) seq_len(plan$repeats)) {
    at <- order(.Call(C_gbt_row_draws, as.integer(n), seed_number(plan$seed, k), 0))
    for (g in groups) out[g, k] <- value(with_permuted(rows$x, plan$groups[[g]], at)) - base
  }
  structure(if (plan$metric$maximise) -out else out, base = unname(base))
}

# each: of every model; share: of the folds, rows held out by rows trained on, NULL for one model. Intervals are
# Student's: of one model over permutations, of folds over folds, whose training rows overlap (Nadeau and Bengio, 2003).
permutation_table <- function(each, plan, share, n) {
  values <- if (is.null(share)) each[[1L]] else matrix(vapply(each, rowMeans, numeric(length(plan$groups))),
                                                       ncol = length(each))
  estimate <- rowMeans(values)
  half <- interval_of_means(values, plan$level, given_or(share, 0))
  ranked <- order(-estimate, seq_along(estimate))
  out <- list_frame(list(column = names(plan$groups)[ranked], importance = estimate[ranked],
                         lower = (estimate - half)[ranked], upper = (estimate + half)[ranked]), length(ranked))
  structure(out, class = c("gbt_importance_permutation", "data.frame"), metric = plan$metric$name,
            larger_is_better = plan$metric$maximise, base = mean(vapply(each, attr, 0, "base")),
            repeats = plan$repeats, level = plan$level, seed = plan$seed,
            folds = if (!is.null(share)) length(each), n_obs = n)
}

#' @export
print.gbt_importance_permutation <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 0)
  if (is.null(attr(x, "metric"))) return(NextMethod())
  folds <- attr(x, "folds")
  cat(sprintf("permutation importance: how much worse \"%s\" becomes (%s as it is)\n%s, %s, seed %.0f\n",
              attr(x, "metric"), format(attr(x, "base"), digits = digits), counted(attr(x, "n_obs"), "row"),
              paste0(counted(attr(x, "repeats"), "permutation"),
                     if (!is.null(folds)) sprintf(" in each of %s", counted(folds, "fold"))), attr(x, "seed")))
  if (!anyNA(x$lower)) {
    cat(sprintf("intervals of %s %% over %s\n", format(100 * attr(x, "level")),
                if (is.null(folds)) "permutations" else "folds"))
  }
  shown <- utils::head(as.data.frame(x), top)
  for (name in c("importance", "lower", "upper")) shown[[name]] <- format(shown[[name]], digits = digits)
  if (anyNA(x$lower)) shown$lower <- shown$upper <- NULL
  if (nrow(shown)) print.data.frame(shown, row.names = FALSE)
  if (nrow(x) > top) cat(sprintf("and %d more\n", nrow(x) - top))
  invisible(x)
}

#' @export
as.data.frame.gbt_importance_permutation <- plain_table
