# Answers of a model of distributions.

# Types of predict() that are made of the scores of a distribution.
distribution_types <- c("response", "quantile", "interval")

# Is a type of this model's predictions made of both scores of a row?
of_distribution <- function(object, type) type %in% distribution_types && is_distribution(object$objective)

# The chances whose quantiles a type needs; NULL for others. probs, level: NULL where they were not given.
read_chances <- function(type, probs, level) {
  if (type != "quantile" && !is.null(probs)) {
    stop_argument("`probs` can only be used with type \"quantile\"; leave it out", "probs")
  }
  switch(type, quantile = check_probs(given_or(probs, 0.5)),
         interval = (1 + c(-1, 1) * check_share(given_or(level, 0.9))) / 2)
}

# out: raw scores, rows x 2. labels: of the rows, or NULL.
shape_distribution <- function(out, object, type, labels, at, threads) {
  n <- length(out) / 2
  if (type == "response") {
    out <- ask_distribution(out, object, "mean", threads = threads)
    if (!is.null(labels)) names(out) <- labels
    return(out)
  }
  out <- matrix(ask_distribution(out, object, "quantile", at, threads = threads), n, length(at))
  if (type == "interval") {
    out <- list_frame(list(lower = out[, 1L], upper = out[, 2L]), n)
    if (!is.null(labels)) row.names(out) <- make.unique(labels)
    return(out)
  }
  if (length(at) == 1L) return(stats::setNames(as.vector(out), labels))
  dimnames(out) <- list(labels, level_labels(at))
  out
}

# Logarithms of chances, which keep tails that chances near 1 lose: of `y` or less (lower), or of `y` or more. p:
# parameters, rows x 2.
log_tail <- function(model, p, y, lower) {
  if (!lower && takes_counts(model$objective)) y <- y - 1
  a <- p[, 1L]
  b <- p[, 2L]
  switch(model$objective,
    dist_normal = stats::pnorm(y, a, b, lower, TRUE),
    dist_student = stats::pt((y - a) / b, model$params$df, lower.tail = lower, log.p = TRUE),
    dist_gamma = stats::pgamma(y, b, b / a, lower.tail = lower, log.p = TRUE),
    dist_negative_binomial = stats::pnbinom(y, b, mu = a, lower.tail = lower, log.p = TRUE),
    dist_zip = if (lower) log(b + (1 - b) * stats::ppois(y, a)) else {
      ifelse(y < 0, 0, log1p(-b) + stats::ppois(y, a, FALSE, TRUE))
    }
  )
}

# The value up to which, or from which on (not lower), the chance is exp(at).
tail_quantile <- function(model, p, at, lower) {
  a <- p[, 1L]
  b <- p[, 2L]
  switch(model$objective,
    dist_normal = stats::qnorm(at, a, b, lower, TRUE),
    dist_student = a + b * stats::qt(at, model$params$df, lower.tail = lower, log.p = TRUE),
    dist_gamma = stats::qgamma(at, b, b / a, lower.tail = lower, log.p = TRUE),
    dist_negative_binomial = stats::qnbinom(at, b, mu = a, lower.tail = lower, log.p = TRUE),
    dist_zip = if (lower) stats::qpois(pmax(exp(at) - b, 0) / pmax(1 - b, 1e-300), a) else {
      stats::qpois(pmin(at - log1p(-b), 0), a, FALSE, TRUE)
    }
  )
}

takes_counts <- function(objective) objective_info(objective)$labels == "COUNT"

mean_of_parameters <- function(model, p) {
  unname(if (model$objective == "dist_zip") p[, 1L] * (1 - p[, 2L]) else p[, 1L])
}

# Intervals of all values whose chances beyond, on either side, are exp(-bound) and more. Bounds are a little larger, so
# that rounding leaves no such value out.
interval_of_distribution <- function(model, p, bound) {
  at <- -rep_len(bound, nrow(p)) * (1 + 1e-12) - 1e-12
  end <- function(lower) unname(tail_quantile(model, p, at, lower))
  lower <- end(TRUE)
  upper <- end(FALSE)
  none <- which(lower > upper) # of counts no value may have such chances: the median is nearest
  lower[none] <- upper[none] <- tail_quantile(model, p[none, , drop = FALSE], log(0.5), TRUE)
  list_frame(list(estimate = mean_of_parameters(model, p), lower = lower, upper = upper), nrow(p))
}
