# Importance of columns.

#' Importance of features
#'
#' How much each feature contributed to the trees of a model, or how much worse a model predicts without it.
#'
#' The types `"gain"`, `"cover"` and `"frequency"` use the splits of the trees. They do not include the slopes of linear
#' leaves (`leaf_model = "linear"`, see [gbt_parameters()]), and `print()` says so: a column that mostly acts by slopes
#' has less than its share. Permutation importance and `"shap"` measure the whole effect of a column.
#'
#' @section Permutation importance:
#' `type = "permutation"` measures by how much a metric on `data` becomes worse if the values of a column are permuted
#' at random over the rows (Breiman, 2001), averaged over `repeats` permutations. Use data that the model was not
#' trained on. Further arguments, by name:
#' * `y`: the response of the rows; a formula's is found in `data`.
#' * `metric`: one metric of [gbt_train()] or a [gbt_metric()]; `NULL`: that of the objective.
#' * `columns`: names of columns, or a list of sets of columns that are permuted together, such as
#'   `list(size = c("length", "width"), "colour")`. Correlated columns replace each other, so permuting only one of them
#'   shows little importance. `NULL` permutes one column at a time. These are columns of the data, even if a formula
#'   transforms them.
#' * `repeats`, `seed`: how many permutations, by hashes of `seed` and the row.
#' * `weights`, `offset`, `exposure`: of the rows, as in [gbt_evaluate()]; columns of a data frame may be named.
#'   `threads`: see [gbt_threads()].
#' * `group`: for ranking metrics, the query of every row; `strata`: for times with events, as in [gbt_evaluate()].
#' * `level`: level of the intervals (Student's t). For a model they describe the variation over permutations, not over
#'   rows. For a [gbt_cv()] with `keep_models = TRUE` and its data, each fold's model is evaluated on its held-out rows,
#'   and the intervals are over folds, wider because their training rows overlap (Nadeau and Bengio, 2003).
#'
#' A column that no tree uses has exactly 0.
#'
#' @section Importance by contributions:
#' `type = "shap"` gives the mean over the rows of `data` of the absolute contributions (see [gbt_shap()]) of each
#' column to the raw score. For a model of several classes it averages over the classes as well. Where outputs are in
#' units of their own (columns of numbers of a response, parameters of a distribution), it is the mean over outputs of a
#' column's share in all contributions to the output. Further arguments, by name: `background`, `rows` (so many drawn
#' rows are enough), `offset`, `exposure`, `unseen` and `threads`, as for [gbt_shap()]; columns of a data frame may be
#' named as `offset` and `exposure`.
#'
#' @section Intervals over folds: For a [gbt_cv()] with `keep_models = TRUE`, types `"gain"`, `"cover"` and
#'   `"frequency"` are means over the models of the folds. `lower` and `upper` are a Student's t interval of the sorted
#'   share (`level = 0.95`), wider because the training rows of folds overlap (Nadeau and Bengio, 2003). They show how
#'   much the share depends on the training rows.
#'
#' @param model A model from [gbt_train()], or the result of [gbt_cv()] (not for `"shap"`).
#' @param type What to sort by: `"gain"`, the sum of the gains of all splits on the feature; `"cover"`, the sum of the
#'   hessians (for squared error: the number) of the rows that reached these splits; `"frequency"`, the number of
#'   splits. Or `"permutation"` or `"shap"`, see below. The default is `"gain"`; for imported models whose file does not
#'   have gains (CatBoost) `"cover"`, or `"frequency"` if it does not have covers either.
#' @param trees Number of rounds to use, from the first. `NULL` uses those that the model predicts with.
#' @param by `"column"`: one row for each column of the data. The importance of derived features (target encoding, level
#'   counts) is added to their column, and that of a combination of columns is shared equally. `"feature"`: one row for
#'   each feature that trees can split by, with derived features in rows of their own, such as `mean(carrier)`,
#'   `share(carrier, yes)`, `rows(carrier)` and `mean(carrier x origin)`; `.1` is appended if a column has that name.
#' @param data For `"permutation"` and `"shap"`: rows to look at, as [predict()][predict.gbt] takes them.
#' @param ... For `"permutation"` and `"shap"`: further arguments, see below; of a [gbt_cv()] `level`.
#' @return A data frame of class `gbt_importance`, one row per column or feature, the most important first: `feature`,
#'   and `gain`, `cover` and `frequency` as shares that add up to 1. Features that no tree uses have 0. `print()`
#'   shows those that are used, 20 at most (`top = `), and all rows of a part such as `head(importance, 30)`. See also
#'   [plot()][plot.gbt_importance]. For `"permutation"`: a data frame of class `gbt_importance_permutation` with
#'   `column`, `importance`, `lower` and `upper`, the most important first. For `"shap"`: one of class
#'   `gbt_importance_shap` with `column` and `importance`, the most important first.
#' @seealso [gbt_train()]; `vignette("explaining", package = "gbt")`
#' @concept feature importance
#' @concept variable importance
#' @concept permutation importance
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' importance <- gbt_importance(m)
#' importance
#' head(importance, 3)
#' plot(importance, top = 5)
#'
#' fit <- gbt_train(mpg ~ ., mtcars[1:20, ], nrounds = 20, threads = 1)
#' gbt_importance(fit, "permutation", data = mtcars[21:32, ], seed = 1, threads = 1)
#' gbt_importance(fit, "shap", data = mtcars[21:32, ], threads = 1)
#' @export
gbt_importance <- function(model, type = c("gain", "cover", "frequency", "permutation", "shap"), trees = NULL,
                           by = c("column", "feature"), data = NULL, ...) {
  no_type <- missing(type)
  if (length(dim(type)) == 2L) {
    stop_argument("`type` comes before the data: gbt_importance(model, \"permutation\", data = )", "type")
  }
  type <- match_choice(type, c("gain", "cover", "frequency", "permutation", "shap"), "type")
  folded <- !missing(model) && inherits(model, "gbt_cv") && type != "shap"
  if (!folded) check_model(model, "model")
  known <- c(names(formals(gbt_importance)), if (folded) "level")
  misplaced <- setdiff(intersect(...names(), c(permutation_arguments, shap_arguments)), known)
  if (length(misplaced) > 0L && !type %in% c("permutation", "shap")) {
    stop_argument(sprintf(paste("`%s` cannot be combined with type = \"%s\"; use type = \"permutation\" or \"shap\",",
                                "or leave it out"),
                          misplaced[1L], type), misplaced[1L])
  }
  if (type == "permutation") {
    check_no_dots(other_dots(permutation_arguments, ...), permutation_arguments)
    if (!missing(by)) stop_argument("`by` cannot be combined with type = \"permutation\"; use `columns`", "by")
    return(permutation_importance(model, data, trees, ...))
  }
  if (type == "shap") {
    check_no_dots(other_dots(shap_arguments, ...), shap_arguments)
    if (!missing(by)) {
      stop_argument("`by` cannot be combined with type = \"shap\"; use predict(type = \"contrib\", by = )", "by")
    }
    return(shap_importance(model, data, trees, ...))
  }
  refuse_top(...names())
  unknown <- written_dots(...)
  if (folded) unknown[["level"]] <- NULL
  check_no_dots(unknown, c(known, permutation_arguments))
  if (!is.null(data)) {
    stop_argument("`data` can only be used with types \"permutation\" and \"shap\"; leave it out", "data")
  }
  by <- match_choice(by, c("column", "feature"), "by")
  lacks <- model$imported$lacks
  if (no_type) type <- setdiff(c("gain", "cover", "frequency"), lacks)[1L]
  if (inherits(model, "gbt_cv")) return(folds_importance(model, type, trees, by, ...))
  if (type %in% lacks) {
    others <- sprintf("\"%s\"", setdiff(c("gain", "cover", "frequency", "shap"), lacks))
    stop_unsupported(sprintf("the model was imported from %s, and its file does not have %s; use type = %s or %s",
                             printable(model$imported$program),
                             c(gain = "the gains of splits", cover = "the covers of nodes")[type],
                             paste(others[-length(others)], collapse = ", "), others[length(others)]), "type")
  }
  importance_table(importance_sums(model, check_rounds(trees, model), by), type, slopes = has_slopes(model))
}

# How many features to show is no question of gbt_importance().
refuse_top <- function(given) {
  top <- intersect(gsub(".", "_", printable(as.character(given)), fixed = TRUE),
                   c("top", "top_n", "n", "n_top", "top_k", "max_num_features", "num_features", "n_features",
                     "max_features"))
  if (length(top) == 0L) return(invisible())
  stop_argument(sprintf(paste("gbt_importance() has no `%s`: it gives all features; use head(importance, 10), or",
                              "`top` of print() and plot()"), top[1L]), top[1L])
}

# list by feature of shares: feature, gain, cover, frequency.
importance_sums <- function(model, rounds, by) {
  sums <- .Call(C_gbt_model_importance, model$state, model$cache, 0L, rounds)
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  label <- if (by == "feature") feature_labels(model, info) else info$names
  sums <- lapply(sums, function(v) if (by == "feature") sum_by(v, label) else sum_by_column(v, info$columns, label))
  share <- function(v) if (sum(v) > 0) v / sum(v) else v
  out <- list(feature = unique(label), gain = share(sums$gain), cover = share(sums$cover),
              frequency = share(sums$splits))
  for (name in intersect(model$imported$lacks, names(out))) out[[name]][] <- NA_real_
  out
}

importance_table <- function(out, type, ...) {
  ranked <- order(-out[[type]], -out$gain, seq_along(out$feature))
  out <- list_frame(lapply(out, function(v) v[ranked]), length(ranked))
  structure(out, class = c("gbt_importance", "data.frame"), type = type, n_features = length(ranked), ...)
}

# Means over the models of a cross-validation, with intervals as of permutation importance. Statistics that a fold does
# not have are 0 there.
folds_importance <- function(cv, type, trees, by, level = 0.95) {
  models <- models_of_folds(cv, "model")
  level <- check_share(level)
  each <- lapply(models, function(m) importance_sums(m, check_rounds(trees, m), by))
  feature <- unique(unlist(lapply(each, `[[`, "feature")))
  of <- function(name) {
    vapply(each, function(one) {
      v <- one[[name]][match(feature, one$feature)]
      ifelse(is.na(v), 0, v)
    }, numeric(length(feature)))
  }
  out <- lapply(stats::setNames(nm = c("gain", "cover", "frequency")), function(name) {
    rowMeans(matrix(of(name), length(feature)))
  })
  held <- lengths(cv$folds)
  # Shares lie within 0 and 1, which Student's intervals do not know.
  half <- interval_of_means(matrix(of(type), length(feature)), level, mean(held / (cv$n_obs - held)))
  out <- c(list(feature = feature), out, list(lower = pmax(out[[type]] - half, 0), upper = pmin(out[[type]] + half, 1)))
  importance_table(out, type, folds = length(each), level = level, slopes = has_slopes(models[[1L]]))
}

# Of the attribute that print() looks at: TRUE, or NULL.
has_slopes <- function(model) if (has_linear_leaves(model)) TRUE

# Half of Student's intervals of the means of rows. share: rows held out by rows trained on, where columns are folds,
# whose training rows overlap (Nadeau and Bengio, 2003).
interval_of_means <- function(values, level, share = 0) {
  k <- ncol(values)
  if (k < 2L) return(rep(NA_real_, nrow(values)))
  stats::qt((1 + level) / 2, k - 1) * apply(values, 1L, stats::sd) * sqrt(1 / k + share)
}

# Arguments after `data`.
permutation_arguments <- c("y", "metric", "columns", "repeats", "weights", "offset", "level", "seed", "threads",
                           "exposure", "group", "strata")

# Those of `...` that have none of these names. The others are not evaluated: they may be columns of the data.
other_dots <- function(known, ...) {
  dots <- written_dots(...)
  dots[!given_or(names(dots), character(length(dots))) %in% known]
}

# Sums over what is made of each column. columns: of each feature, from 1.
sum_by_column <- function(v, columns, names) {
  if (length(v) == length(names)) return(v) # nothing is made of any
  size <- lengths(columns)
  column <- unlist(columns)
  out <- numeric(length(names))
  out[sort(unique(column))] <- rowsum(rep(v / size, size), column)
  out
}

# Sums over features of the same name, in the order of the names: a statistic with several priors is one, and so are
# those of a model and of the one that it went on from.
sum_by <- function(v, label) {
  if (!anyDuplicated(label)) return(v)
  as.vector(rowsum(v, match(label, unique(label)), reorder = FALSE))
}

# Has it the columns of the table, as they were made, and every feature at most once?
is_importance <- function(x) {
  all(c("feature", "gain", "cover", "frequency") %in% names(x)) && !anyNA(x$feature) && !anyDuplicated(x$feature) &&
    is.numeric(x$gain) && is.numeric(x$cover) && is.numeric(x$frequency)
}

# Rows of a table are one still, and remember of how many features they are; without one of its columns it is none.
#' @export
`[.gbt_importance` <- function(x, ...) {
  out <- NextMethod()
  if (!is.data.frame(out)) return(out)
  if (!is_importance(out)) return(as.data.frame.gbt_importance(out))
  for (name in importance_attributes) attr(out, name) <- attr(x, name)
  out
}

importance_attributes <- c("type", "n_features", "folds", "level", "slopes")

#' @export
print.gbt_importance <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  n_features <- attr(x, "n_features")
  whole <- identical(nrow(x), n_features)
  if (!is_importance(x) || is.null(n_features)) return(NextMethod())
  top <- if (missing(top) && !whole) nrow(x) else check_whole(top, "top", 0)
  shown <- as.data.frame(x)
  if (whole) shown <- shown[shown$frequency > 0, , drop = FALSE]
  more <- max(0L, nrow(shown) - top)
  by <- attr(x, "type")
  by <- if (!is.null(by) && isFALSE(is.unsorted(-x[[by]]))) paste(" by", by) else ""
  cat(sprintf("importance%s, %d of %d features%s\n", by, nrow(shown), n_features, if (whole) " used" else ""))
  if (!is.null(attr(x, "folds"))) {
    cat(sprintf("means over %s, intervals of %s %%\n", counted(attr(x, "folds"), "fold"),
                format(100 * attr(x, "level"))))
  }
  if (isTRUE(attr(x, "slopes"))) cat("of splits; what slopes of linear leaves gain is not counted\n")
  shown <- utils::head(shown, top)
  if (nrow(shown)) {
    for (name in setdiff(names(shown), "feature")) shown[[name]] <- format(round(shown[[name]], digits), nsmall = 0)
    print.data.frame(shown, row.names = FALSE)
  }
  if (more) cat(sprintf("and %d more\n", more))
  invisible(x)
}

#' @export
as.data.frame.gbt_importance <- function(x, ...) {
  for (name in importance_attributes) attr(x, name) <- NULL
  class(x) <- "data.frame"
  x
}
