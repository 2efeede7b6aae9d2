# Curves of predictions against what was observed: gbt_curve().

#' Curves of predictions and outcomes
#'
#' Calibration, lift, gains, receiver operating characteristic (ROC) and precision-recall curves of a model on data, or
#' of any predictions, as a data frame with a `plot()` method. There are other curves for survival, distributions and
#' ranking. Rows with equal predictions are never separated, so a curve does not depend on the order of rows.
#'
#' @section Types:
#' \describe{
#'   \item{`"calibration"`}{Rows ascending by prediction in `bins` of equal weight: `bin`, `predicted` and `observed`
#'     (means), `rows`, `weight`. With many equal predictions there are fewer bins, which differ in weight.}
#'   \item{`"lift"`}{Rows descending by prediction in `bins` of equal weight: `bin`, `share` (of the weight, this bin
#'     and those before it), `lift` (mean observed in the bin, divided by that of all rows), `cumulative` (the same for
#'     the bin and those before it), `rows`, `weight`.}
#'   \item{`"gains"`}{Descending by prediction: `threshold`, `share` of the weight with a prediction of `threshold` or
#'     more, and the `gain`, their share of the sum of what was observed.}
#'   \item{`"roc"`}{Descending by prediction: `threshold`, `fpr` and `tpr`, the shares of negative and of positive rows
#'     with a prediction of `threshold` or more. Its area is metric `"auc"`.}
#'   \item{`"pr"`}{Descending by prediction: `threshold`, `recall`, `precision`. Its area is metric `"pr_auc"`, the
#'     average precision: a step curve, since linear interpolation would be too optimistic.}
#' }
#' For survival (objectives `"cox"`, `"hazard"` and `"aft"`, with a response that may be right-censored):
#' \describe{
#'   \item{`"survival"`}{Rows ascending by risk in `bins` of equal weight (4): `group`, `time`, `predicted` (mean of the
#'     predicted curves of the group), `observed` (Kaplan and Meier's estimate for the group) with its 95 % interval
#'     `lower` and `upper`, and `at_risk` (the weight of the rows that are still observed).}
#'   \item{`"calibration"`}{At `times`: rows ascending by the predicted survival probability in `bins` of equal weight:
#'     `time`, `bin`, `predicted` (mean), `observed` (Kaplan and Meier's estimate for the bin at that time), `lower`,
#'     `upper`, `rows`, `weight`.}
#'   \item{`"brier"`}{The Brier score at `times`, a mean squared error of the predicted curves: `time`, `brier`, and
#'     `reference`, that of one curve for all rows. Rows are weighted by the inverse of the probability of being
#'     observed so long (Gerds and Schumacher 2006). Its area, divided by the range of `times`, is the integrated Brier
#'     score.}
#' }
#' With a response of several columns, each column has its own curve, over the rows that have a value there.
#'
#' For distributions, such as `"dist_normal"`:
#' \describe{
#'   \item{`"pit"`}{A histogram of probability integral transforms: of the probability that each row's distribution
#'     gives to the observed value or less, in `bins` of equal width: `bin`, `from`, `to`, `density` (1 in every bin if
#'     the distributions are right) with its 95 % interval `lower` and `upper`, and `weight`. High bars at both ends
#'     mean that the distributions are too narrow, high bars in the middle that they are too wide, a slope that they are
#'     too high or too low. For counts, the transform is spread evenly between the probabilities of less than the count
#'     and of at most the count (Czado and others, 2009). For models of several quantiles the bins are between their
#'     levels, and the density is the share of rows between two quantiles, divided by its nominal value.}
#' }
#' With `group`:
#' \describe{
#'   \item{`"query_length"`}{Queries ascending by their number of rows in `bins` of equal weight: `bin`, `length` (mean
#'     number of rows), `metric`, `estimate` (its mean) with its 95 % interval `lower` and `upper`, `queries`, `weight`.
#'     Queries without a value, such as those without a relevant row, are left out.}
#' }
#'
#' @param observed A model from [gbt_train()], a calibrated one from [gbt_calibrate()], or a [gbt_cv()] with
#'   `keep_models = TRUE`, for its predictions of held-out rows; or a named list of these, to compare their curves. Or
#'   the observed response: numbers; or two classes as logical values, 0 and 1, or a factor or character vector with two
#'   levels, of which the second is positive. `"roc"` and `"pr"` need classes; `"lift"` and `"gains"` classes, or
#'   numbers of 0 or more.
#' @param predicted For a model: the data, as in [gbt_evaluate()]. Otherwise a prediction for each row (for classes the
#'   probability or score of the positive one), or a named list of such predictions, to compare their curves:
#'   `list(small = p1, large = p2)`.
#' @param type The curve, see below.
#' @param weights Weights of the rows, or `NULL`.
#' @param bins Number of bins of `"calibration"`, `"lift"`, `"survival"`, `"pit"` and `"query_length"`: 4 for
#'   `"survival"`, else 10.
#' @param ... Must be empty: a misspelt argument is an error.
#' @param model,data Other names of the first two arguments, for a model.
#' @param y For a model: the response, if the data do not have it.
#' @param class For a model: the class whose probability is used, against all others. By default the second of two
#'   classes, or a curve for each of several classes. With a response of several columns: one of these columns.
#' @param offset,exposure,trees,threads For a model, as in [gbt_evaluate()].
#' @param times For survival: the times of `"calibration"`; for `"survival"` and `"brier"` the times of the curves, by
#'   default at most 100 times of events, for `"brier"` up to the 0.9 quantile of the times.
#' @param group For `"query_length"`: the query of every row, as values or the name of a column.
#' @param metric For `"query_length"`: a metric of queries, such as `"map"`, see [gbt_metrics()].
#' @param strata For survival with strata: the strata of the rows, as in [gbt_evaluate()].
#' @return A data frame of class `gbt_curve`; attribute `area` is the area under `"roc"`, `"pr"` and `"gains"`, and the
#'   integrated Brier score of `"brier"`. For a list of predictions, the first column is `model`, a factor of their
#'   names, and `area` has a number for each. A subset of the rows keeps the areas of the curves that it contains as a
#'   whole.
#' @seealso [gbt_evaluate()]; [plot.gbt_curve()]; `vignette("survival", package = "gbt")`
#' @concept calibration curve
#' @concept ROC curve
#' @concept lift
#' @concept Kaplan-Meier
#' @concept Brier score
#' @examples
#' train <- seq_len(nrow(iris)) %% 2 == 0
#' long <- iris$Sepal.Length > 5.8
#' m <- gbt_train(iris[train, 2:4], long[train], nrounds = 20, threads = 1)
#' p <- predict(m, iris[!train, 2:4], threads = 1)
#' gbt_curve(m, iris[!train, 2:4], "roc", y = long[!train], threads = 1)
#' plot(gbt_curve(long[!train], p, "roc"))
#' plot(gbt_curve(long[!train], p, "calibration", bins = 5))
#'
#' short <- predict(m, iris[!train, 2:4], trees = 1, threads = 1)
#' plot(gbt_curve(long[!train], list("1 round" = short, "20 rounds" = p), "gains"))
#'
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   lung <- survival::lung
#'   times <- gbt_train(survival::Surv(time, status) ~ ., lung[1:150, ], nrounds = 20,
#'                      eta = 0.1, threads = 1)
#'   plot(gbt_curve(times, lung[151:228, ], "survival", bins = 2, threads = 1))
#'   plot(gbt_curve(times, lung[151:228, ], "calibration", times = 365, bins = 4, threads = 1))
#'   plot(gbt_curve(times, lung[151:228, ], "brier", threads = 1))
#' }
#' @export
gbt_curve <- function(observed, predicted, type = c("calibration", "lift", "gains", "roc", "pr", "survival", "brier",
                                                    "query_length", "pit"),
                      weights = NULL, bins = 10, ..., model = NULL, data = NULL, y = NULL, class = NULL, offset = NULL,
                      exposure = NULL, trees = NULL, threads = NULL, times = NULL, group = NULL, metric = "ndcg@10",
                      strata = NULL) {
  dots <- written_dots(...)
  output <- intersect(output_words, printable(as.character(names(dots))))
  if (length(output)) stop_argument(sprintf("`%s` is called `class` here", output[1L]), output[1L])
  check_no_dots(dots, names(formals(gbt_curve)))
  if (is.null(model) && !missing(observed) && is_plain_list(observed)) check_models(observed, "observed")
  if (is.null(model) && !missing(observed) && has_judged(observed)) model <- observed
  if (!is.null(model)) {
    if (is.null(data) && !missing(predicted)) data <- predicted
    check_curve_type(type)
    weights <- given_in_data("weights", data)
    offset <- given_in_data("offset", data)
    exposure <- given_in_data("exposure", data)
    group <- given_in_data("group", data)
    strata <- given_in_data("strata", data)
    type <- match_choice(type, curve_types, "type")
    check_curve_arguments(type, times, group, !missing(metric), class)
    models <- models_as_list(model)
    rows <- list(data = data, y = y, weights = weights, offset = offset, exposure = exposure, trees = trees,
                 threads = threads, strata = strata)
    bins_given <- if (!missing(bins)) bins
    if (type == "pit") return(pit_curve(models, rows, bins_given))
    if (type == "query_length") return(query_curve(models, rows, group, metric, bins_given))
    if (is_time_curve(models, type, times)) return(time_curve(models, rows, type, times, bins_given))
    if (!is.null(strata)) stop_argument("`strata` is for curves of times with strata; leave it out", "strata")
    its <- curve_predictions(model, data, y, weights, offset, exposure, trees, threads, class)
    check_two_classes(its$observed, type)
    has_bins <- !missing(bins)
    made <- function() {
      made_curve(its$observed, its$predicted, type, its$weight, bins, has_bins, its$of, its$series)
    }
    out <- of_response(if (identical(names(its$of), "column")) in_column(its$of[[1L]], made()) else made())
    return(structure(out, own_units = its$own_units))
  }
  own <- list(data = data, y = y, class = class, offset = offset, exposure = exposure, trees = trees, times = times,
              group = group, strata = strata)
  for (name in names(own)[lengths(own) > 0L]) {
    stop_argument(sprintf("`%s` needs a model: gbt_curve(model, data)", name), name)
  }
  type <- match_choice(type, curve_types, "type")
  if (type %in% types_of_models) {
    stop_argument(sprintf("type = \"%s\" needs a model: gbt_curve(model, data, \"%s\")", type, type), "type")
  }
  if (missing(observed)) stop_argument("`observed` is missing: gbt_curve(observed, predicted)", "observed")
  if (missing(predicted)) stop_argument("`predicted` is missing: gbt_curve(observed, predicted)", "predicted")
  if (seems_swapped(observed, predicted, type)) {
    stop_data(sprintf(paste("`predicted` must be numbers, not %s; did you swap `observed` and `predicted`?",
                            "gbt_curve(observed, predicted)"),
                      if (is.factor(predicted)) "a factor" else if (is.numeric(predicted)) "classes 0 and 1" else
                        describe(predicted)), "predicted")
  }
  made_curve(observed, predicted, type, weights, bins, !missing(bins))
}

curve_types <- c("calibration", "lift", "gains", "roc", "pr", "survival", "brier", "query_length", "pit")
types_of_models <- c("survival", "brier", "query_length", "pit") # need a model

# Arguments of a model's curve that only some types have.
check_curve_arguments <- function(type, times, group, metric_given, class) {
  of_queries <- type == "query_length"
  if (of_queries && is.null(group)) {
    stop_argument("type = \"query_length\" needs `group`, the query of every row: gbt_curve(model, data, group = )",
                  "group")
  }
  if (!of_queries && (!is.null(group) || metric_given)) {
    given <- if (is.null(group)) "metric" else "group"
    stop_argument(sprintf("`%s` can only be used with type \"query_length\", not \"%s\"; leave it out", given, type),
                  given)
  }
  is_class <- is_plain(class) || is.factor(class) && all(unclass(class) %in% seq_along(levels(class)))
  if (!is.null(class) && !is_class) {
    stop_argument(sprintf("`class` must be one class, or a column of the response by its name, not %s",
                          describe(class)), "class")
  }
  if (!is.null(class) && type %in% types_of_models) {
    stop_argument(sprintf("`class` cannot be used with type \"%s\"; leave it out", type), "class")
  }
}

seems_swapped <- function(observed, predicted, type) {
  if (!is.numeric(observed) || is.factor(observed)) return(FALSE)
  if (is.factor(predicted) || is.character(predicted) || is.logical(predicted)) return(TRUE)
  type %in% c("roc", "pr") && is.numeric(predicted) && all(predicted %in% c(0, 1)) && any(observed > 0 & observed < 1)
}

# given: was `bins` given? of: the class that is looked at, or NULL. series: the name of the column of several curves;
# `observed` may be a list then, as `predicted` is, and so may `weights`.
made_curve <- function(observed, predicted, type, weights, bins, given, of = NULL, series = "model") {
  if (!type %in% c("calibration", "lift") && given) {
    stop_argument(sprintf("`bins` can only be used with types \"calibration\" and \"lift\", not \"%s\"; leave it out",
                          type), "bins")
  }
  bins <- check_whole(bins, "bins", 1, 1e6)
  several <- is_plain_list(observed)
  of_part <- function(name, code) { # of one curve of several
    switch(series, column = in_column(name, code), class = in_part(sprintf("class \"%s\"", name), code), code)
  }
  of_each <- function(parts, f) Map(function(part, name) of_part(name, f(part)), parts, names(parts))
  see <- function(v) curve_observed(v, type)
  observed <- if (several) of_each(observed, see) else see(observed)
  first <- if (several) observed[[1L]] else observed
  if (length(first) == 0L) stop_data("`observed` has no rows", "observed")
  weigh <- function(w) given_or(check_rating_weights(w, length(first)), rep(1, length(first)))
  weight <- if (several && is_plain_list(weights)) of_each(weights, weigh) else weigh(weights)
  if (!is.list(predicted)) {
    return(structure(join_curves(list(one_curve(observed, predicted, type, weight, bins, "predicted"))), of = of))
  }
  names <- check_curve_names(names(predicted))
  each <- lapply(seq_along(names), function(k) {
    of_part(names[k], one_curve(if (several) observed[[k]] else observed, .subset2(predicted, k), type,
                                if (is.list(weight)) weight[[k]] else weight, bins, paste0("predicted$", names[k])))
  })
  structure(join_curves(stats::setNames(each, names), series), of = of)
}

# Curves (lists of columns) as one data frame. `series` names the column that distinguishes those with names.
join_curves <- function(each, series = "model") {
  rows <- lengths(lapply(each, `[[`, 1L))
  columns <- lapply(stats::setNames(nm = names(each[[1L]])), function(name) {
    parts <- lapply(each, `[[`, name)
    if (!is.factor(parts[[1L]])) return(unlist(parts, use.names = FALSE))
    levels <- unique(unlist(lapply(parts, levels)))
    factor(unlist(lapply(parts, as.character), use.names = FALSE), levels)
  })
  if (!is.null(names(each))) {
    columns <- c(stats::setNames(list(factor(rep(names(each), rows), names(each))), series), columns)
  }
  structure(list_frame(columns, sum(rows)), class = c("gbt_curve", "data.frame"),
            area = unlist(lapply(each, curve_area)))
}

# A single model as a list of it.
models_as_list <- function(model) {
  if (is_plain_list(model)) check_models(model, "model") else check_judged(model)
  if (is_plain_list(model)) model else list(model)
}

# A model, or a list of them.
has_judged <- function(x) is_judged(x) || is_plain_list(x)

# A list of models, each with a name.
check_models <- function(x, parameter) {
  if (length(x) == 0L) {
    stop_argument(sprintf("`%s` is an empty list; give a model, or a list of models: list(small = m1, large = m2)",
                          parameter), parameter)
  }
  wrong <- which(!vapply(x, is_judged, NA))
  if (length(wrong)) {
    stop_argument(sprintf(paste("`%s` as a list must have models only, and element %d is %s; for predictions give",
                                "`observed` as a vector"), parameter, wrong[1L], describe(x[[wrong[1L]]])), parameter)
  }
  for (one in x) check_judged(one, parameter)
  check_curve_names(names(x), parameter, "models: list(small = m1, large = m2)")
}

check_curve_type <- function(type) {
  if (is.character(type)) return(invisible())
  stop_argument("`type` must be a text, such as \"roc\"; give the response as `y`: gbt_curve(model, x, y = y)", "type")
}

check_curve_data <- function(data) {
  if (is.null(data)) stop_argument("the data are missing: gbt_curve(model, data)", "data")
  check_evaluated(data, "gbt_curve")
}

# list(observed, predicted, weight, of, series, own_units) of a model or of a list of them: vectors, or lists by name of
# them.
curve_predictions <- function(model, data, y, weights, offset, exposure, trees, threads, class) {
  check_curve_data(data)
  one <- function(model, class) {
    check_judged(model)
    rows <- rows_to_judge(model, data, y, weights, offset, exposure, trees, threads)
    known <- given_or(rows$known, as_columns(responses_of(rows$model, rows$score, resolve_threads(threads))))
    if (!is.null(rows$model$columns)) {
      return(c(column_series(known, rows$label, rows$weight, class),
               own_units = if (has_own_units(rows$model, "response")) TRUE))
    }
    c(class_series(rows$model, known, rows$label, class), rows["weight"])
  }
  if (!is_plain_list(model)) return(one(model, class))
  names <- check_models(model, "model")
  all <- lapply(model, one, class = class)
  if (any(vapply(all, function(its) is.list(its$predicted), NA))) {
    stop_argument("to compare models of several classes or columns give `class`, one of them", "class")
  }
  of <- unique(lapply(all, `[[`, "of"))
  list(observed = stats::setNames(lapply(all, `[[`, "observed"), names),
       predicted = stats::setNames(lapply(all, `[[`, "predicted"), names), weight = all[[1L]]$weight,
       of = if (length(of) == 1L) of[[1L]], series = "model")
}

# known: probabilities or numbers; label: classes from 0.
class_series <- function(model, known, label, class) {
  classes <- class_labels(model)
  shares <- ncol(known) == 1L && any(label != floor(label))
  if (is.null(classes) || shares) {
    if (!is.null(class)) stop_argument("`class` needs a model of classes; this one predicts numbers", "class")
    if (ncol(known) > 1L) refuse_outputs_of_curve(model)
    return(list(observed = label, predicted = known[, 1L]))
  }
  if (ncol(known) == 1L) known <- cbind(1 - known[, 1L], known[, 1L])
  chosen <- if (!is.null(class)) match(match_name(as.character(class), classes, "class"), classes) else
    if (length(classes) == 2L) 2L
  against <- function(k) as.double(label == k - 1)
  if (length(chosen)) return(list(observed = against(chosen), predicted = known[, chosen], of = classes[chosen]))
  each <- stats::setNames(seq_along(classes), classes)
  list(observed = lapply(each, against), predicted = lapply(each, function(k) known[, k]), series = "class")
}

# Labels of a model that predicts numbers may be those of two classes.
check_two_classes <- function(label, type) {
  if (!type %in% c("roc", "pr") || all(unlist(label) %in% c(0, 1))) return(invisible())
  stop_unsupported(sprintf(paste("`type = \"%s\"` needs two classes, and the response has other numbers than 0 and 1;",
                                 "use \"calibration\", \"lift\" or \"gains\""), type), "type")
}

# Errors of `observed`, which the user of a model did not give, as those of the response.
of_response <- function(code) {
  tryCatch(code, gbt_error = function(e) {
    e$message <- gsub("`observed`", "the response", conditionMessage(e), fixed = TRUE)
    if (identical(e$column, "observed")) e$column <- e$subject <- "y"
    stop(e)
  })
}

check_curve_names <- function(names, parameter = "predicted", what = "predictions: list(small = p1, large = p2)") {
  if (length(names) == 0L || anyNA(names) || any(names == "") || anyDuplicated(names)) {
    stop_argument(sprintf("`%s` as a list must have a name for each of its %s", parameter, what), parameter)
  }
  names
}

# A list of columns.
one_curve <- function(observed, predicted, type, weight, bins, name) {
  predicted <- curve_numbers(predicted, name)
  if (length(observed) != length(predicted)) {
    stop_data(sprintf("`observed` has %s and `%s` %s; give one for each row", counted(length(observed), "value"), name,
                      counted(length(predicted), "value")), "predicted")
  }
  groups <- tied_groups(observed, predicted, weight)
  if (!is.finite(groups$size) || !is.finite(groups$total)) {
    stop_data("the sum of `weights` or `observed` is infinite; scale them down", "observed")
  }
  if (type %in% c("roc", "pr") && (groups$total == 0 || all(groups$other == 0))) {
    stop_data(sprintf("a curve of type \"%s\" needs rows of both classes; all rows of `observed` have one class", type),
              "observed")
  }
  if (type %in% c("lift", "gains") && groups$total == 0) {
    stop_data(sprintf("a curve of type \"%s\" needs values above 0 in `observed`; all are 0", type), "observed")
  }
  make <- list(calibration = curve_calibration, lift = curve_lift, gains = curve_gains, roc = curve_roc, pr = curve_pr)
  if (type %in% c("calibration", "lift")) make[[type]](groups, bins) else make[[type]](groups)
}

curve_numbers <- function(v, name) {
  if (!is.null(dim(v)) && length(dim(v)) == 2L && ncol(v) == 1L) v <- v[, 1L]
  if (!is.null(dim(v)) || is.list(v)) {
    stop_data(sprintf("`%s` must be a vector; of the probabilities of several classes give one column, such as p[, 2]",
                      name), name)
  }
  if (!is.numeric(v) || is.factor(v)) stop_data(sprintf("`%s` must be numbers, not %s", name, describe(v)), name)
  v <- unname(as_numbers(v, name))
  wrong <- which(!is.finite(v))
  if (length(wrong)) {
    stop_data(sprintf("`%s` has %s; leave such rows out", name,
                      counted_rows(wrong, "missing or infinite value")), name)
  }
  v
}

# Numbers; of two classes 0 and 1.
curve_observed <- function(v, type) {
  v <- meant_values(v, "`observed`", "observed", character(0))
  if (is.character(v)) v <- factor(v)
  if (is.factor(v) || is.logical(v)) {
    wrong <- which(is.na(v))
    if (length(wrong)) {
      stop_data(sprintf("`observed` has %s; leave such rows out", counted_rows(wrong, "missing value")), "observed")
    }
    if (is.factor(v) && nlevels(v) != 2L) {
      stop_data(sprintf("`observed` must have two levels, not %d; make it `observed == \"the positive level\"`",
                        nlevels(v)), "observed")
    }
    return(if (is.factor(v)) as.double(as.integer(v) == 2L) else as.double(v))
  }
  v <- curve_numbers(v, "observed")
  if (type %in% c("roc", "pr")) {
    wrong <- which(v != 0 & v != 1)
    if (length(wrong)) {
      stop_data(sprintf("a curve of type \"%s\" needs two classes, as 0 and 1; row %d of `observed` has %s", type,
                        wrong[1L], format(v[wrong[1L]])), "observed")
    }
  } else if (type != "calibration") {
    wrong <- which(v < 0)
    if (length(wrong)) {
      stop_data(sprintf("a curve of type \"%s\" needs numbers of 0 and more; row %d of `observed` has %s", type,
                        wrong[1L], format(v[wrong[1L]])), "observed")
    }
  }
  v
}

# Groups of equal predictions, descending: at, rows, weight, sum (weight times observed), other (weight times what is
# not; for classes), and of all groups `size` (weight) and `total` (sum). Rows are added up in an order of their own, so
# that theirs does not matter.
tied_groups <- function(observed, predicted, weight) {
  used <- which(weight > 0)
  used <- used[order(-predicted[used], observed[used], weight[used])]
  predicted <- predicted[used]
  last <- which(c(predicted[-1L] != predicted[-length(predicted)], TRUE))
  number <- rep(seq_along(last), diff(c(0L, last)))
  add <- function(v) as.vector(rowsum(v, number, reorder = FALSE))
  sum <- add(weight[used] * observed[used])
  other <- add(weight[used] * (1 - observed[used]))
  weight <- add(weight[used])
  list(at = predicted[last], rows = diff(c(0L, last)), weight = weight, sum = sum, other = other, size = sum(weight),
       total = sum(sum))
}

# Bin of each group: that of its middle, on the way from 0 to the weight of all.
bin_of_groups <- function(weight, bins) {
  middle <- (cumsum(weight) - weight / 2) / sum(weight)
  pmin(floor(middle * bins), bins - 1)
}

by_bin <- function(groups, bin) {
  add <- function(v) as.vector(rowsum(v, bin, reorder = FALSE))
  list(rows = add(groups$rows), weight = add(groups$weight), sum = add(groups$sum),
       predicted = add(groups$weight * groups$at))
}

curve_calibration <- function(groups, bins) {
  up <- rev(seq_along(groups$at))
  each <- c("at", "rows", "weight", "sum")
  groups[each] <- lapply(groups[each], `[`, up)
  b <- by_bin(groups, bin_of_groups(groups$weight, bins))
  list(bin = seq_along(b$rows), predicted = b$predicted / b$weight, observed = b$sum / b$weight,
       rows = as.integer(b$rows), weight = b$weight)
}

curve_lift <- function(groups, bins) {
  b <- by_bin(groups, bin_of_groups(groups$weight, bins))
  share <- ending_at_one(b$weight)
  list(bin = seq_along(b$rows), share = share, lift = (b$sum / groups$total) / (b$weight / groups$size),
       cumulative = ending_at_one(b$sum) / share, rows = as.integer(b$rows), weight = b$weight)
}

# Shares of the sum so far; the last is 1 without rounding.
ending_at_one <- function(v) {
  so_far <- cumsum(v)
  so_far / so_far[length(so_far)]
}

curve_gains <- function(groups) {
  list(threshold = c(Inf, groups$at), share = c(0, ending_at_one(groups$weight)),
       gain = c(0, ending_at_one(groups$sum)))
}

curve_roc <- function(groups) {
  list(threshold = c(Inf, groups$at), fpr = c(0, ending_at_one(groups$other)),
       tpr = c(0, ending_at_one(groups$sum)))
}

curve_pr <- function(groups) {
  list(threshold = groups$at, recall = ending_at_one(groups$sum),
       precision = cumsum(groups$sum) / (cumsum(groups$sum) + cumsum(groups$other)))
}

# Of what a curve is, by its columns: they outlive subsets.
curve_type <- function(x) {
  has <- c(survival = "at_risk", calibration = "predicted", lift = "lift", gains = "gain", roc = "tpr",
           pr = "precision", brier = "brier", query_length = "length", pit = "density")
  names(has)[match(TRUE, has %in% names(x))]
}

curve_area <- function(x) {
  under <- function(along, high) mean_over(along, high) * (along[length(along)] - along[1L])
  switch(curve_type(x), roc = under(x$fpr, x$tpr), gains = under(x$share, x$gain),
         pr = sum(diff(c(0, x$recall)) * x$precision), brier = mean_over(x$time, x$brier))
}

# The area under a line divided by its length.
mean_over <- function(x, y) {
  n <- length(x)
  if (n < 2L || x[n] == x[1L]) return(y[n])
  sum(diff(x) * (y[-1L] + y[-n]) / 2) / (x[n] - x[1L])
}

area_name <- function(type) if (type == "brier") "integrated Brier score" else "area"

# "0.81", or of several predictions "small: 0.81, large: 0.83"
area_words <- function(area, digits) {
  text <- vapply(area, format, "", digits = digits)
  paste(if (is.null(names(area))) text else paste0(plain_text(names(area)), ": ", text), collapse = ", ")
}

#' @export
print.gbt_curve <- function(x, digits = max(3L, getOption("digits") - 3L), top = 10L, ...) {
  type <- curve_type(x)
  if (is.na(type)) return(NextMethod())
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 0)
  area <- attr(x, "area")
  cat(sprintf("<gbt_curve> %s%s, %s%s\n", type, class_words(x, ", "), counted(nrow(x), "point"),
              if (is.null(area)) "" else paste(",", area_name(type), area_words(area, digits))))
  shown <- list_frame(lapply(unclass(x), utils::head, top), min(nrow(x), top))
  print(shown, row.names = FALSE, digits = digits)
  if (nrow(x) > top) cat(sprintf("and %d more\n", nrow(x) - nrow(shown)))
  invisible(x)
}

# The class or column that a curve is of, in words. before: text in front of them, where there are any.
class_words <- function(x, before = "") {
  of <- attr(x, "of")
  if (!is.null(of)) return(sprintf("%s%s \"%s\"", before, given_or(names(of), "class"), of))
  if (!is.null(x[["column"]])) return(paste0(before, "each column of the response"))
  if (!is.null(x[["class"]])) paste0(before, "each class against the others") else ""
}

# The column that tells several curves apart, or NULL.
curve_series <- function(x) given_or(x[["model"]], given_or(x[["class"]], x[["column"]]))

#' @export
`[.gbt_curve` <- function(x, ...) {
  out <- NextMethod()
  if (is.data.frame(out)) {
    attr(out, "area") <- area_of_part(x, out)
    attr(out, "of") <- attr(x, "of")
  }
  out
}

# The areas of those curves whose points are all there: that of a part is something else. NULL where there are none.
area_of_part <- function(whole, part) {
  area <- attr(whole, "area")
  columns <- intersect(names(whole), names(part))
  if (is.null(area) || length(columns) == 0L) return(NULL)
  points <- function(x, model) {
    rows <- if (is.null(model)) seq_len(nrow(x)) else which(curve_series(x) == model)
    lapply(unclass(x)[columns], function(v) if (is.factor(v)) as.character(v)[rows] else v[rows])
  }
  has_all <- function(model) identical(points(whole, model), points(part, model))
  if (is.null(names(area)) || is.null(curve_series(part))) return(if (has_all(NULL)) area)
  kept <- area[vapply(names(area), has_all, NA)]
  if (length(kept)) kept
}
