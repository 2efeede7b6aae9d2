# Intervals and sets of classes that hold the response with a chosen probability: gbt_conformal().

#' Conformal intervals and sets
#'
#' Prediction intervals, or prediction sets of classes, that contain the response of a new row with a chosen
#' probability, for any distribution of the data and any model. The only assumption is that new rows and calibration
#' rows are exchangeable (Vovk and others, 2005). The probability holds on average over rows, not for each kind of row.
#'
#' @section Methods:
#' * `"absolute"`: intervals with the same width for all rows, from absolute residuals of rows that the model was not
#'   trained on.
#' * `"scaled"`: a second model, `scale`, predicts the size of the residuals, so that intervals are wide where errors
#'   are large. It must predict numbers above 0, such as a model of absolute residuals with objective `"gamma"`.
#' * `"quantile"`: `object` is a model of several quantiles (`quantile_alpha = c(0.05, 0.5, 0.95)`), of which the lowest
#'   and the highest are used, or a list of two models, `list(lower = , upper = )`; their interval is widened or
#'   narrowed to the right coverage (conformalised quantile regression, Romano and others, 2019).
#' * `"distribution"`: `object` is a model of distributions, such as `"dist_normal"`. Each row's interval lies between
#'   two quantiles of its own distribution, with the same probability below and above, which is chosen by the rows for
#'   calibration (distributional conformal prediction, Chernozhukov and others, 2021). So intervals have the width and
#'   the skewness of the distributions, and bounds of counts are counts.
#' * `"cv"`: `object` is a [gbt_cv()] with `keep_models = TRUE`; no rows need to be held out (CV+, Barber and others,
#'   2021). The guaranteed coverage is 1 - 2 (1 - `level`), the usual one about `level`.
#' * `"threshold"`, for classes, the default there: the classes whose probability is at least a threshold that is chosen
#'   by the rows for calibration, and always the most probable class. Of all sets with this coverage these are the
#'   smallest on average (Sadinle and others, 2019).
#' * `"adaptive"`, for classes: the most probable classes up to a sum of probabilities that is chosen by the rows for
#'   calibration, and always the most probable class. This is the method of Romano and others (2020) without random
#'   numbers, so sets are larger than needed. With two classes the sets of all rows have the same size.
#'
#' With a response of several columns, each column has its own intervals, by method `"absolute"` or `"cv"`, from the
#' rows that have a value there. The probability is for each column, not for all together.
#'
#' Objective `"logistic"` accepts numbers as well. If all calibration rows have 0 or 1, these are classes and get sets;
#' otherwise they are shares and get intervals.
#'
#' With n rows for calibration the bound is the k-th smallest of their scores, k = ceiling((n + 1) level). If k is
#' larger than n, intervals are infinite and sets contain all classes, and `predict()` warns (class
#' `gbt_warning_conformal`).
#'
#' @section Weights:
#' With `weights` of the rows for calibration the bound is the quantile `level` of their scores and of infinity. These
#' have the shares w_1, ..., w_n and w of the sum of these weights, where w is the weight of the predicted row. This is
#' the weighted quantile in corollary 1 of Tibshirani and others (2019, section 2). Weights mean one of two things:
#' * frequencies: weight 2 counts like two rows. New rows have the weight 1, the default of `predict()`.
#' * likelihood ratios for covariate shift: how much more likely the predictors of the row are among new rows than among
#'   rows for calibration, up to a factor. Give such weights here and to `predict()`: then the probability holds for the
#'   new rows, if the response depends on the predictors in the same way.
#'
#' Method `"cv"` has no weights.
#'
#' @param object A model from [gbt_train()], a list of two, or the result of [gbt_cv()]; see below.
#' @param data Rows for calibration, which the model was not trained on; for a [gbt_cv()] its data (not needed if `y` is
#'   given).
#' @param y Their response; a formula's is found in `data`.
#' @param method One of the methods below; `NULL` chooses by the other arguments.
#' @param scale For `"scaled"`: the model of the size of residuals.
#' @param offset For models with an offset: that of `data`, where columns of a data frame may be named; for `predict()`
#'   that of `newdata`, values.
#' @param weights Weights of the rows of `data`; for `predict()` of those of `newdata`, a number each or one for all,
#'   `NULL` for 1. See below. Columns of a data frame may be named.
#' @param exposure With a log link: that of the rows, as in [predict()][predict.gbt]. For `gbt_conformal()` columns of a
#'   data frame may be named, with quotation marks or without.
#' @param threads Number of threads, see [gbt_threads()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_conformal`, which [saveRDS()] can store: a list of `method`, `models`, `scale`,
#'   `scores` (of the rows for calibration) and `n`. With `"cv"` it also has `fold`, the fold of each row. With weights
#'   it also has `weights`, and of a response of several columns `columns`, their names; `scores` is a matrix then.
#' @references Chernozhukov, V., Wuethrich, K. and Zhu, Y. (2021) Distributional conformal prediction, *Proceedings of
#'   the National Academy of Sciences* 118(48). Tibshirani, R. J., Barber, R. F., Candes, E. J. and Ramdas, A. (2019)
#'   Conformal prediction under covariate shift, *Advances in Neural Information Processing Systems* 32.
#' @seealso [plot.gbt_conformal()]; [gbt_cv()], [predict()][predict.gbt]; `vignette("uncertainty", package = "gbt")`
#' @concept prediction interval
#' @concept uncertainty
#' @concept conformal prediction
#' @examples
#' cars <- datasets::cars
#' train <- seq_len(50) %% 2 == 0
#' m <- gbt_train(dist ~ speed, cars[train, ], nrounds = 20, min_data_in_leaf = 2, threads = 1)
#' fit <- gbt_conformal(m, cars[!train, ], threads = 1)
#' fit
#' predict(fit, data.frame(speed = c(5, 20)), level = 0.8, threads = 1)
#'
#' cv <- gbt_cv(dist ~ speed, cars, folds = 5, nrounds = 20, keep_models = TRUE, seed = 1, threads = 1)
#' predict(gbt_conformal(cv, cars), data.frame(speed = c(5, 20)), level = 0.8, threads = 1)
#' @export
gbt_conformal <- function(object, data = NULL, y = NULL, ..., method = NULL, scale = NULL, offset = NULL,
                          threads = NULL, weights = NULL, exposure = NULL) {
  level <- intersect(...names(), c("level", "alpha", "coverage", "conf_level", "conf.level", "confidence"))
  if (length(level)) {
    stop_argument(sprintf("gbt_conformal() has no `%s`: give it to predict(), as predict(fit, newdata, level = 0.9)",
                          level[1L]), level[1L])
  }
  check_no_dots(written_dots(...), names(formals(gbt_conformal)))
  if (missing(object)) stop_argument("`object` is missing: gbt_conformal(model, data)", "object")
  models <- conformal_models(object)
  chosen <- conformal_method(method, object, models, scale)
  first <- models[[1L]]
  if (is_surv_response(first$response)) {
    stop_unsupported(paste("gbt_conformal() cannot be used for times that may be censored; predict(model, newdata,",
                           "type = \"quantile\", probs = c(0.05, 0.95)) gives quantiles of times"), "object")
  }
  its <- list(offset = given_in_data("offset", data), exposure = given_in_data("exposure", data))
  weights <- given_in_data("weights", data)
  if (chosen == "cv") {
    for (name in names(its)[lengths(its) > 0L]) {
      stop_argument(sprintf("`%s` cannot be combined with a gbt_cv(), which has its own; leave it out", name), name)
    }
    if (!is.null(weights)) {
      stop_unsupported(paste("`weights` cannot be combined with a gbt_cv(): weighted intervals need one model and",
                             "calibration rows that were not used in training"), "weights")
    }
    return(conformal_of_folds(object, data, y))
  }
  if (is.null(data)) stop_argument("`data` is missing: give rows that were not used in training", "data")
  rows <- explained_data(first, data)
  n <- n_rows_of(rows)
  if (n == 0) stop_data("the data have no rows", "data")
  label <- given_labels(first, data, y, n)
  if (!is.null(first$columns)) check_columns_filled(matrix_of_label(label), "has no intervals")
  chosen <- method_of_labels(chosen, first, label, is.null(method))
  out <- structure(class = "gbt_conformal", list(method = chosen, models = models, scale = scale, n = n))
  out$columns <- first$columns
  parts <- conformal_parts(out, rows, its, threads)
  out$scores <- if (is.null(first$columns)) conformal_scores(out, parts, label) else
    unname(abs(matrix_of_label(label) - parts$pred[[1L]]))
  out$weights <- check_rating_weights(weights, n)
  if (!is.finite(sum(out$weights))) stop_data("`weights` have an infinite sum; divide them by their mean", "weights")
  out
}

conformal_models <- function(object) {
  if (inherits(object, "gbt_cv")) {
    check_search(object, "object")
    if (!is.null(object$classes)) stop_sets_of_folds() # before models are asked for
    if (is.matrix(object$predictions) && is.null(object$models[[1L]]$columns)) {
      stop_unsupported(paste("gbt_conformal() takes cross-validations of one number only; for a distribution or",
                             "quantiles hold rows out: gbt_conformal(model, rows)"), "object")
    }
    return(models_of_folds(object, "object"))
  }
  if (is.list(object) && !is.object(object)) {
    if (!setequal(names(object), c("lower", "upper")) || length(object) != 2L) {
      stop_argument("`object` as a list must be two models of quantiles, list(lower = , upper = )", "object")
    }
    for (one in object) check_model(one, "object")
    level <- lapply(object, function(one) if (identical(one$objective, "quantile")) one$params$quantile_alpha)
    if (length(unlist(level)) == 2L && level$lower > level$upper) {
      stop_argument(sprintf(paste("`lower` is a model of quantile %s and `upper` of the smaller quantile %s;",
                                  "swap them"), format(level$lower), format(level$upper)), "object")
    }
    return(object[c("lower", "upper")])
  }
  list(check_model(object))
}

conformal_method <- function(method, object, models, scale) {
  classes <- !is.null(models[[1L]]$classes)
  if (!is.null(scale)) check_model(scale, "scale")
  single <- !inherits(object, "gbt_cv") && length(models) == 1L
  levels <- single && !is.null(levels_of(models[[1L]]))
  spread <- single && is_distribution(models[[1L]]$objective)
  if (!is.null(models[[1L]]$columns)) return(method_of_columns(method, object, models, scale))
  for (one in if (classes || levels || spread) models[-1L] else c(models, list(scale)[!is.null(scale)])) {
    if (one$n_outputs > 1L || !is.null(one$classes)) {
      stop_unsupported("prediction intervals need regression models with one output, not classes or several outputs",
                       "object")
    }
  }
  suits <- if (inherits(object, "gbt_cv")) "cv" else if (length(models) == 2L || levels) "quantile" else if (classes) {
    "threshold"
  } else if (spread) "distribution" else if (!is.null(scale)) "scaled" else "absolute"
  if (suits != "threshold" && classes) {
    stop_unsupported(paste("prediction sets of classes need one model and calibration rows: `method = \"threshold\"`",
                           "or \"adaptive\""), "object")
  }
  if (!is.null(scale)) {
    if (suits != "scaled") {
      stop_argument("`scale` can only be combined with one regression model; leave it out", "scale")
    }
  }
  method <- if (is.null(method)) suits else match_choice(method, conformal_methods, "method")
  if (method == "adaptive" && suits == "threshold") return(method)
  if (method %in% c("threshold", "adaptive") && suits == "absolute" && takes_shares(models[[1L]])) return(method)
  if (method != suits) {
    stop_argument(sprintf("`method = \"%s\"` does not suit the other arguments, which are those of \"%s\"", method,
                          suits), "method")
  }
  method
}

# Of a response of several columns each has intervals of its own.
method_of_columns <- function(method, object, models, scale) {
  if (!is.null(class_labels(models[[1L]]))) {
    stop_unsupported(paste("the response has several columns of labels, for which there are no sets; gbt_calibrate()",
                           "corrects their probabilities, and a model of one column has sets"), "object")
  }
  folds <- inherits(object, "gbt_cv")
  if (length(models) > 1L && !folds || !is.null(scale)) {
    stop_unsupported(paste("the response has several columns: give one model of them, or a gbt_cv(), without `scale`;",
                           "other methods take a model for each column"), if (is.null(scale)) "object" else "scale")
  }
  suits <- if (folds) "cv" else "absolute"
  if (!is.null(method) && !identical(match_choice(method, conformal_methods, "method"), suits)) {
    stop_argument(sprintf("a response of several columns has `method = \"%s\"` here", suits), "method")
  }
  suits
}

conformal_methods <- c("absolute", "scaled", "quantile", "distribution", "cv", "threshold", "adaptive")

# Objective "logistic" on numbers: 0 and 1 are classes, shares between them are not.
takes_shares <- function(model) is.null(model$classes) && !is.null(class_labels(model))

# usual: was no method asked for?
method_of_labels <- function(method, model, label, usual) {
  if (!takes_shares(model)) return(method)
  share <- which(!label %in% c(0, 1))
  if (usual && method == "absolute" && length(share) == 0L) return("threshold")
  if (method %in% c("threshold", "adaptive") && length(share)) {
    stop_data(sprintf(paste("sets of classes need a response of 0 and 1; row %d has %s; `method = \"absolute\"` gives",
                            "intervals of shares"), share[1L], format(label[share[1L]])), "y")
  }
  method
}

stop_sets_of_folds <- function() {
  stop_unsupported(paste("a gbt_cv() of classes gives no prediction sets: these need one model and rows that it was",
                         "not trained on, so hold some rows out: gbt_conformal(gbt_train(y ~ ., data[rows, ]),",
                         "data[-rows, ])"), "object")
}

# CV+: absolute residuals of rows by the models that have not seen them.
conformal_of_folds <- function(cv, data, y) {
  if (is.null(data) && is.null(y)) stop_argument("`data` is missing: give the data of the cross-validation", "data")
  held <- unlist(cv$folds)
  if (anyDuplicated(held)) {
    stop_unsupported(paste("a gbt_cv() with `repeats` cannot be used: each row must be held out once; run gbt_cv()",
                           "without `repeats`"), "object")
  }
  n <- cv$n_obs
  label <- given_labels(cv$models[[1L]], data, y, n)
  check_rows_of_cv(cv, label)
  columns <- cv$models[[1L]]$columns
  if (!is.null(columns)) check_columns_filled(matrix_of_label(label), "has no intervals")
  if (is.null(columns) && takes_shares(cv$models[[1L]]) && all(label %in% c(0, 1))) stop_sets_of_folds()
  fold <- integer(n)
  for (k in seq_along(cv$folds)) fold[cv$folds[[k]]] <- k
  at <- which(fold > 0L)
  off <- if (is.null(columns)) abs(label - cv$predictions)[at] else
    unname(abs(matrix_of_label(label) - cv$predictions))[at, , drop = FALSE]
  out <- list(method = "cv", models = cv$models, scale = NULL, n = as.double(length(at)), scores = off, fold = fold[at])
  out$columns <- columns
  structure(class = "gbt_conformal", out)
}

# Predictions of the models: a matrix of one column for each model, of probabilities for classes, of parameters for
# distributions, and of a response of several columns a list of such matrices, one for each model; and the scale.
# its: list(offset, exposure) of the rows.
conformal_parts <- function(object, rows, its, threads) {
  type <- if (gives_sets(object)) "prob" else if (object$method == "distribution") "parameters" else "response"
  one <- function(model) {
    predict.gbt(model, rows, type, offset = its$offset, threads = threads, exposure = its$exposure)
  }
  pred <- lapply(object$models, one)
  if (!is.null(object$columns)) return(list(pred = pred))
  pred <- if (gives_sets(object) || is.matrix(pred[[1L]])) pred[[1L]] else matrix(unlist(pred), ncol = length(pred))
  scale <- if (!is.null(object$scale)) predict.gbt(object$scale, rows, threads = threads)
  bad <- which(!(scale > 0 & scale < Inf))
  if (length(bad)) {
    stop_data(sprintf("`scale` must predict numbers above 0, as with objective \"gamma\", but row %d has %s", bad[1L],
                      format(scale[bad[1L]])), "scale")
  }
  list(pred = pred, scale = unname(scale))
}

conformal_scores <- function(object, parts, label) {
  pred <- parts$pred
  switch(object$method,
    absolute = abs(label - pred[, 1L]),
    scaled = abs(label - pred[, 1L]) / parts$scale,
    quantile = unname(pmax(pred[, 1L] - label, label - pred[, ncol(pred)])),
    distribution = unname(-pmin(log_tail(object$models[[1L]], pred, label, TRUE),
                                log_tail(object$models[[1L]], pred, label, FALSE))),
    threshold = 1 - pred[cbind(seq_along(label), label + 1)],
    adaptive = probability_up_to(pred)[cbind(seq_along(label), label + 1)]
  )
}

# Whether the method is one of classes.
gives_sets <- function(object) object$method %in% c("threshold", "adaptive")

# For every row and class the probability of the class and of all that are more probable; of equals the first counts as
# more probable.
probability_up_to <- function(pred) {
  out <- pred
  for (i in seq_len(nrow(pred))) {
    at <- order(-pred[i, ])
    out[i, at] <- cumsum(pred[i, at])
  }
  out
}

# The number of the score that bounds a share `level` of new ones; above n there is none. The product may be off by
# rounding: 0.55 * 20 is 11.
conformal_rank <- function(n, level) ceiling((n + 1) * level * (1 - 4 * .Machine$double.eps))

# The bound of the scores for new rows of these weights, one for each of them: the least score up to which the scores
# have a share `level` of the weight of all and of the new row, Inf where there is none. Sums may be off by rounding.
weighted_bounds <- function(object, level, new) {
  at <- order(object$scores)
  upto <- cumsum(object$weights[at])
  last <- upto[length(upto)]
  need <- level * (last + new) * (1 - 4 * length(upto) * .Machine$double.eps)
  k <- findInterval(need, upto, left.open = TRUE) + 1L
  c(object$scores[at], Inf)[k]
}

# Bounds of the rows of `newdata`, or one for all of them.
conformal_bounds <- function(object, level, new, n_rows) {
  if (is.null(object$weights)) {
    if (!is.null(new)) {
      stop_argument(paste("`weights` of new rows need gbt_conformal(weights = ), which had no weights; leave them",
                          "out"), "weights")
    }
    rank <- conformal_rank(object$n, level)
    return(if (rank > object$n) Inf else sort(object$scores, partial = rank)[rank])
  }
  if (length(new) == 1L) new <- rep(new, n_rows)
  weighted_bounds(object, level, given_or(check_new_weights(new, n_rows), 1))
}

check_new_weights <- function(weights, n_rows) if (n_rows > 0) check_rating_weights(weights, n_rows, any = TRUE)

#' @rdname gbt_conformal
#' @param newdata Rows to predict, see [predict()][predict.gbt].
#' @param type `"interval"`: a data frame of `estimate`, `lower` and `upper`. For quantiles `estimate` is the median, or
#'   the middle of the interval if there is none; for distributions it is the mean, which may be outside of the
#'   interval; for `"cv"` it is the mean over folds. For a response of several columns a list of data frames. `"set"`,
#'   for classes: a logical matrix with a column for each class.
#' @param level The probability with which intervals or sets contain the response.
#' @export
predict.gbt_conformal <- function(object, newdata, type = NULL, level = 0.9, offset = NULL, threads = NULL,
                                  weights = NULL, exposure = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(predict.gbt_conformal)))
  kind <- if (gives_sets(object)) "set" else "interval"
  if (!is.null(type) && match_choice(type, c("interval", "set"), "type") != kind) {
    stop_unsupported(sprintf(paste("`type = \"%s\"` cannot be combined with method \"%s\"; use `type =",
                                   "\"%s\"`"), type, object$method, kind), "type")
  }
  level <- check_share(level)
  if (missing(newdata)) stop_argument("`newdata` is missing; give the rows to predict", "newdata")
  weights <- given_in_data("weights", newdata)
  parts <- conformal_parts(object, newdata, list(offset = offset, exposure = exposure), threads)
  if (is.null(object$columns)) return(answers_of(object, parts, level, kind, weights))
  each <- stats::setNames(seq_along(object$columns), object$columns)
  with_conditions_once(lapply(each, function(k) {
    in_column(object$columns[k], answers_of(conformal_column(object, k), parts_of_column(parts, k), level, kind,
                                            weights))
  }))
}

# The scores of one column of the response, as of a model of this column: from the rows that have a value there.
conformal_column <- function(object, k) {
  at <- which(!is.na(object$scores[, k]))
  for (name in c("weights", "fold")) if (!is.null(object[[name]])) object[[name]] <- object[[name]][at]
  object$scores <- object$scores[at, k]
  object$n <- as.double(length(at))
  object$columns <- NULL
  object
}

parts_of_column <- function(parts, k) {
  list(pred = matrix(unlist(lapply(parts$pred, function(p) p[, k])), ncol = length(parts$pred)))
}

# Intervals or sets of rows. parts: of conformal_parts(); kind: "interval" or "set".
answers_of <- function(object, parts, level, kind, weights) {
  pred <- parts$pred
  bound <- conformal_bounds(object, level, weights, nrow(pred))
  warn_no_bound(object, level, kind, weights, bound, nrow(pred))
  if (object$method == "cv") return(interval_of_folds(object, pred, conformal_rank(object$n, level)))
  if (kind == "set") return(set_of(pred, bound, object$method))
  if (object$method == "distribution") return(interval_of_distribution(object$models[[1L]], pred, bound))
  half <- if (is.null(parts$scale)) rep_len(bound, nrow(pred)) else bound * parts$scale
  middle <- middle_of(pred, object) # a bound below 0 narrows the interval of quantiles at most to its middle
  list_frame(list(estimate = middle, lower = unname(pmin(pred[, 1L] - half, middle)),
                  upper = unname(pmax(pred[, ncol(pred)] + half, middle))), nrow(pred))
}

# The median where a model of several quantiles has it; else the middle of the outer ones.
middle_of <- function(pred, object) {
  median <- match(0.5, levels_of(object$models[[1L]]))
  if (is.na(median)) rowMeans(pred[, c(1L, ncol(pred)), drop = FALSE]) else unname(pred[, median])
}

# Says why new rows have no bound: too few rows for calibration, also if scores were finite, or infinite scores.
# weights: of the new rows; bound: of conformal_bounds().
warn_no_bound <- function(object, level, kind, weights, bound, n_rows) {
  if (n_rows == 0L || !any(bound == Inf)) return(invisible())
  what <- if (kind == "set") "sets hold all classes" else "intervals are infinite"
  infinite <- object$scores == Inf
  finite <- replace(object, "scores", list(replace(object$scores, infinite, 0)))
  few <- conformal_bounds(finite, level, weights, n_rows) == Inf
  if (any(few)) warn_few_rows(object, level, what, sum(few))
  n_other <- sum(bound == Inf) - sum(few)
  if (n_other > 0L) warn_infinite_scores(object, level, what, infinite, n_other)
}

# n_rows: new rows without a bound, or 1 where it is one for all.
warn_few_rows <- function(object, level, what, n_rows) {
  warn_gbt("conformal", if (is.null(object$weights)) {
    sprintf("level %s needs at least %s for calibration, there are %s: %s", format(level),
            counted(ceiling(level / (1 - level) * (1 - 1e-12)), "row"), with_commas(object$n), what)
  } else {
    sprintf(paste("level %s needs weights for calibration whose sum is at least %s times the weight of the row that is",
                  "predicted: %s%s"), format(level), format(level / (1 - level), digits = 4L), what, for_rows(n_rows))
  })
}

warn_infinite_scores <- function(object, level, what, infinite, n_rows) {
  weighed <- if (is.null(object$weights)) "," else " and weigh"
  warn_gbt("conformal", sprintf(paste("%s of %s rows for calibration have an infinite score%s more than level %s",
                                      "leaves out: %s%s; `scores` says which rows these are"),
                                with_commas(sum(infinite)), with_commas(object$n), weighed, format(level), what,
                                for_rows(n_rows)))
}

for_rows <- function(n_rows) if (n_rows > 1L) sprintf(" for %s", counted(n_rows, "row")) else ""

# Classes up to the bound, the most probable one in any case. Sums of all probabilities may differ from 1 by rounding,
# which must not take a class out.
set_of <- function(pred, bound, method) {
  out <- (if (method == "threshold") 1 - pred else probability_up_to(pred)) <= bound + 1e-12
  dimnames(out) <- dimnames(pred)
  out[cbind(seq_len(nrow(pred)), max.col(pred, "first"))] <- TRUE
  out
}

# The rank-th smallest of prediction + residual and the rank-th largest of prediction - residual, over the rows that
# were held out, each with the model that has not seen it.
interval_of_folds <- function(object, pred, rank) {
  n <- nrow(pred)
  lower <- rep(-Inf, n)
  upper <- rep(Inf, n)
  if (rank <= object$n) {
    for (i in seq_len(n)) {
      of_row <- pred[i, object$fold]
      upper[i] <- sort(of_row + object$scores, partial = rank)[rank]
      lower[i] <- -sort(object$scores - of_row, partial = rank)[rank]
    }
  }
  list_frame(list(estimate = rowMeans(pred), lower = lower, upper = upper), n)
}

#' @export
summary.gbt_conformal <- function(object, ...) as_printed(object, list(...))

#' @export
print.gbt_conformal <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits, 3L)
  cat(sprintf("<gbt_conformal> method \"%s\", %s%s for calibration\n", x$method, counted(x$n, "row"),
              if (is.null(x$weights)) "" else " with weights"))
  levels <- c(0.5, 0.8, 0.9, 0.95)
  what <- switch(x$method, absolute = , cv = "absolute residual", scaled = "residual by scale",
                 quantile = "distance out of the interval", distribution = "-log of the probability beyond",
                 threshold = "1 - probability",
                 adaptive = "probability")
  show <- function(x, what) {
    bounds <- vapply(levels, function(level) conformal_bounds(x, level, NULL, 1), 0)
    shown <- vapply(bounds, format, "", digits = digits)
    cat(sprintf("%s at level %s\n", what, paste(format(levels), shown, sep = ": ", collapse = ", ")))
  }
  if (is.null(x$columns)) show(x, what)
  for (k in seq_along(x$columns)) show(conformal_column(x, k), paste0(plain_text(x$columns[k]), ": ", what))
  invisible(x)
}
