# Generics of package stats. A model keeps no training data, so those that speak of data are given them.

#' Methods of package stats for models
#'
#' A model does not keep its training data, so these methods need data. `fitted()` gives predictions on the scale of the
#' response, `residuals()` the response minus them, a matrix for a response of several columns. `deviance()` and
#' `logLik()` exist if the objective has a likelihood; the log-likelihood has no degrees of freedom (`NA`), since trees
#' have no number of parameters.
#' `simulate()` draws responses for rows of data by the distribution of the objective; as [stats::simulate()] wants it,
#' the result has the attribute `seed`, by which the draws can be repeated. Draws of distributions (`dist_normal` and
#' so on) are quantiles of uniform random numbers, the same on all systems. `terms()` are those of the model's formula,
#' with columns instead of a dot. `model.frame()` is an error that says what to do. A deviance or a log-likelihood of
#' classes is computed from the scores, so it is finite even if a probability prints as 0 or 1.
#'
#' | objective | `deviance()` | `logLik()` | `simulate()` |
#' |---|---|---|---|
#' | `squared_error` | sum of squares | normal, variance estimated | - |
#' | `logistic`, `softmax` | yes | yes | yes |
#' | `poisson`, `negative_binomial` | yes | yes | yes |
#' | `gamma`, `tweedie` | yes | - | - |
#' | distributions, such as `dist_normal` | - | yes | yes |
#'
#' @param object,formula,x A model from [gbt_train()].
#' @param newdata Rows with the columns of the model.
#' @param y The response of these rows; left out, that of the model's formula, where it is a column of `newdata`.
#' @param weights Weights of the rows.
#' @param nsim Number of responses for each row.
#' @param seed A seed for [set.seed()], whose draws leave R's generator as it was, or `NULL` to go on with the
#'   generator.
#' @param ... Arguments of [predict()][predict.gbt], such as `trees` and `offset`.
#' @return Numbers. For `simulate()` a data frame with a column for each simulation and the attribute `seed`. This is
#'   the `seed` that was given, with the kinds of R's generators as attribute `kind`. Without `seed` it is the state of
#'   the generator (`.Random.seed`) before the draws.
#' @seealso [gbt_methods]
#' @examples
#' m <- gbt_train(cyl ~ wt + hp, mtcars, objective = "poisson", nrounds = 20, threads = 1)
#' head(residuals(m, mtcars))
#' deviance(m, mtcars)
#' logLik(m, mtcars)
#' simulate(m, 2, seed = 1, newdata = mtcars[1:3, ])
#' terms(m)
#' @name gbt_stats
NULL

#' @rdname gbt_stats
#' @importFrom stats fitted
#' @export
fitted.gbt <- function(object, newdata, ...) {
  if (missing(newdata)) stop_no_training_data("predict(model, data)")
  predict.gbt(object, newdata, ...)
}

#' @rdname gbt_stats
#' @importFrom stats residuals
#' @export
residuals.gbt <- function(object, newdata, y = NULL, ...) {
  if (missing(newdata)) stop_no_training_data("y - predict(model, data)")
  check_model(object)
  if (object$n_outputs > 1L && !is_distribution(object$objective) && is.null(object$columns)) {
    stop_unsupported(if (is.null(class_labels(object))) {
      "a model of several quantiles, or of a custom objective with several outputs, has no residuals"
    } else {
      "a model of more than two classes has no residuals; predict(type = \"prob\") gives probabilities"
    })
  }
  if (is_surv_response(object$response)) {
    stop_unsupported("a model of times that may be censored has no residuals; see gbt_evaluate() and gbt_curve()")
  }
  check_of_response(...)
  out <- predict.gbt(object, newdata, ...)
  label <- numbers_of(object, newdata, y)
  given_or(matrix_of_label(label), label) - out
}

# Methods that compare responses with the model's take what predict() takes, but not in another form.
check_of_response <- function(...) {
  other <- intersect(...names(), c("type", "output", "background", "by"))
  if (length(other)) {
    stop_argument(sprintf(paste("`%s` cannot be used here, where predicted and observed responses are compared; leave",
                                "it out"), other[1L]), other[1L])
  }
}

# The response of new data as the objective's label: numbers, or classes from 0.
numbers_of <- function(model, data, y) {
  if (is.null(y)) y <- response_of_formula(model, data)
  if (is.null(y)) {
    stop_argument("the response is not in `newdata` under the name that it had in training; give it as `y`", "y")
  }
  if (NROW(y) != NROW(data)) {
    stop_data(sprintf("`y` has %s, but the data have %s", counted(NROW(y), "value"), counted(NROW(data), "row")), "y")
  }
  response <- list(objective = model$objective, classes = model$classes, response = model$response,
                   columns = model$columns)
  encode_valid_y(y, response, NROW(data), "`y`")
}

# Label and weights of rows, with their predicted means, or for classes the log probabilities of what they have.
rows_with_response <- function(object, newdata, y, weights, what, ...) {
  if (missing(newdata)) stop_no_training_data(sprintf("%s(model, data)", what))
  check_model(object)
  refuse_columns(object, sprintf("%s() takes one; gbt_evaluate() has metrics over all columns and of each", what))
  label <- numbers_of(object, newdata, y)
  if (is.null(weights)) weights <- rep(1, length(label))
  if (is.object(weights)) weights <- as_numbers(weights, "weights")
  good <- is.numeric(weights) && length(weights) == length(label) && !anyNA(weights) && all(weights >= 0)
  if (!good) stop_argument("`weights` must be numbers of 0 or more, one for each row", "weights")
  check_of_response(...)
  out <- list(y = label, weights = weights)
  if (is.null(class_labels(object))) {
    out$mean <- unname(predict.gbt(object, newdata, ...))
  } else {
    out$log_p <- log_of_classes(unname(predict.gbt(object, newdata, type = "link", ...)), label)
  }
  out
}

# Log probability of the class that each row has, from scores: even if a probability rounds to 0 or 1, it has a finite
# logarithm. Labels of "logistic" may be shares.
log_of_classes <- function(score, label) {
  if (is.matrix(score)) {
    top <- apply(score, 1L, max)
    return(score[cbind(seq_along(label), label + 1)] - top - log(rowSums(exp(score - top))))
  }
  part <- function(share, log_p) ifelse(share > 0, share * log_p, 0)
  part(label, stats::plogis(score, log.p = TRUE)) + part(1 - label, stats::plogis(-score, log.p = TRUE))
}

stop_no_likelihood <- function(object, what) {
  stop_unsupported(sprintf("%s has no meaning for objective \"%s\", or needs a parameter that the model does not have",
                           what, object$objective))
}

#' @rdname gbt_stats
#' @importFrom stats deviance
#' @export
deviance.gbt <- function(object, newdata, y = NULL, weights = NULL, ...) {
  at <- rows_with_response(object, newdata, y, weights, "deviance", ...)
  y <- at$y
  m <- at$mean
  y_log <- function(ratio) ifelse(y > 0, y * log(ratio), 0)
  unit <- switch(object$objective,
    squared_error = (y - m)^2,
    logistic = ,
    softmax = -2 * at$log_p,
    poisson = 2 * (y_log(y / m) - (y - m)),
    negative_binomial = {
      size <- 1 / object$params$dispersion
      2 * (y_log(y / m) - (y + size) * log((y + size) / (m + size)))
    },
    gamma = 2 * ((y - m) / m - log(y / m)),
    tweedie = {
      p <- object$params$tweedie_variance_power
      2 * (y^(2 - p) / ((1 - p) * (2 - p)) - y * m^(1 - p) / (1 - p) + m^(2 - p) / (2 - p))
    },
    stop_no_likelihood(object, "a deviance")
  )
  sum(at$weights * unit)
}

#' @rdname gbt_stats
#' @importFrom stats logLik
#' @export
logLik.gbt <- function(object, newdata, y = NULL, weights = NULL, ...) {
  if (is_distribution(check_model(object)$objective) && !missing(newdata)) {
    return(loglik_of_distribution(object, newdata, y, weights, ...))
  }
  at <- rows_with_response(object, newdata, y, weights, "logLik", ...)
  unit <- switch(object$objective,
    squared_error = {
      variance <- sum(at$weights * (at$y - at$mean)^2) / sum(at$weights)
      stats::dnorm(at$y, at$mean, sqrt(variance), log = TRUE)
    },
    logistic = ,
    softmax = at$log_p,
    poisson = stats::dpois(at$y, at$mean, log = TRUE),
    negative_binomial = stats::dnbinom(at$y, size = 1 / object$params$dispersion, mu = at$mean, log = TRUE),
    stop_no_likelihood(object, "a log-likelihood")
  )
  structure(sum(at$weights * unit), df = NA_real_, nobs = sum(at$weights > 0), class = "logLik")
}

loglik_of_distribution <- function(object, newdata, y, weights, ...) {
  at <- rows_with_response(object, newdata, y, weights, "logLik", ...)
  score <- unname(predict.gbt(object, newdata, type = "link", ...))
  metric <- list(name = "nloglik", code = match("nloglik", metrics_table()$name) - 1L, param = 0, output = 0L)
  mean <- score_metrics(metric, object, score, at$y, as.double(at$weights), resolve_threads(NULL))
  structure(-unname(mean) * sum(at$weights), df = NA_real_, nobs = sum(at$weights > 0), class = "logLik")
}

#' @rdname gbt_stats
#' @importFrom stats simulate
#' @export
simulate.gbt <- function(object, nsim = 1, seed = NULL, newdata, ...) {
  if (missing(newdata)) stop_no_training_data("simulate(model, newdata = data)")
  check_model(object)
  nsim <- check_whole(nsim, "nsim", 1)
  whole <- is_distribution(object$objective)
  if (!whole && !object$objective %in% c("logistic", "softmax", "poisson", "negative_binomial")) {
    stop_no_likelihood(object, "a simulation")
  }
  type <- if (whole) "link" else if (is.null(class_labels(object))) "response" else "prob"
  check_of_response(...)
  mean <- predict.gbt(object, newdata, type = type, ...)
  state <- begin_draws(seed)
  if (!is.null(seed)) on.exit(assign(".Random.seed", state$before, envir = globalenv()))
  n <- NROW(mean)
  drawn <- if (whole) {
    matrix(ask_distribution(mean, object, "draw", as.integer(nsim), sample.int(.Machine$integer.max, 1L),
                            resolve_threads(NULL)), n)
  }
  draw <- function(i) {
    if (whole) return(if (n > 0L) drawn[, i] else numeric(0))
    switch(object$objective, poisson = stats::rpois(n, mean),
           negative_binomial = stats::rnbinom(n, size = 1 / object$params$dispersion, mu = mean), {
             below <- t(apply(mean, 1L, cumsum))
             drawn <- stats::runif(n) * below[, ncol(below)]
             as_classes(max.col(below > drawn, "first"), object)
           })
  }
  out <- lapply(seq_len(nsim), draw)
  names(out) <- paste0("sim_", seq_len(nsim))
  out <- list_frame(out, NROW(mean))
  attr(out, "seed") <- state$seed
  out
}

# list(seed, before): the attribute `seed` of what simulate() gives, as its help has it, and the state of R's generator
# before the seed was set.
begin_draws <- function(seed) {
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
  before <- get(".Random.seed", globalenv())
  if (is.null(seed)) return(list(seed = before, before = before))
  tried <- try_else(suppressWarnings(set.seed(seed)), identity)
  if (inherits(tried, "error")) {
    stop_argument(sprintf("`seed` must be one number as set.seed() takes it: %s", conditionMessage(tried)), "seed")
  }
  list(seed = structure(seed, kind = as.list(RNGkind())), before = before)
}

#' @rdname gbt_stats
#' @importFrom stats terms
#' @export
terms.gbt <- function(x, ...) {
  formula.gbt(x) # says so where there is none
  stats::terms(expand_dot(x, globalenv()))
}

#' @rdname gbt_stats
#' @importFrom stats model.frame
#' @export
model.frame.gbt <- function(formula, ...) {
  check_model(formula, "formula")
  stop_no_training_data("the data frame itself, or model.frame(terms(model), data)")
}
