# Answers of a model of times for a row, besides its score: curves, quantiles, means.

# Answers of predict() that only models of times have. "survival" and "cumhaz" are of `times`, "quantile" of `probs`.
time_types <- c("survival", "cumhaz", "quantile", "time")

# `times` or `probs` of predict(), checked: what a type needs and no more. probs: NULL where not given.
read_times <- function(type, object, times, probs) {
  of_times <- type %in% c("survival", "cumhaz")
  if (!of_times && !is.null(times)) {
    stop_argument("`times` can only be used with types \"survival\" and \"cumhaz\"; leave it out", "times")
  }
  if (type != "quantile" && !is.null(probs)) {
    stop_argument("`probs` can only be used with type \"quantile\"; leave it out", "probs")
  }
  if (!type %in% time_types) return(NULL)
  if (objective_info(object$objective)$response != "TIME") {
    stop_unsupported(sprintf(paste("type = \"%s\" needs a model of times, such as those of objective \"aft\"; this one",
                                   "has objective \"%s\""), type, object$objective), "type")
  }
  if (of_times) check_eval_times(times, type) else if (type == "quantile") check_probs(given_or(probs, 0.5))
}

check_eval_times <- function(times, type) {
  if (is.null(times)) {
    stop_argument(sprintf("type = \"%s\" needs `times`: the times at which the curve of each row is evaluated", type),
                  "times")
  }
  if (!is.numeric(times) || is.object(times) || length(times) == 0L || anyNA(times)) {
    stop_argument(sprintf("`times` must be numbers, not %s", quote_value(times)), "times")
  }
  if (any(times < 0)) stop_argument("`times` must be 0 or more", "times")
  if (is.unsorted(times)) stop_argument("`times` must be in ascending order: sort(times)", "times")
  as.double(times)
}

check_probs <- function(probs) {
  ok <- is.numeric(probs) && !is.object(probs) && length(probs) > 0L && !anyNA(probs) && all(probs > 0 & probs < 1)
  if (!ok) stop_argument(sprintf("`probs` must be numbers between 0 and 1, not %s", quote_value(probs)), "probs")
  as.double(probs)
}

# Scores -> a number for each row, or a matrix with a column for each of `at`.
times_of_scores <- function(score, object, type, at) {
  dist <- object$params$aft_dist
  scale <- object$params$aft_scale
  z <- function(t) (log(t) - score) / scale
  if (type == "time") return(exp(score) * aft_mean(dist, scale))
  out <- switch(type,
    survival = lapply(at, function(t) aft_survival(dist, z(t))),
    cumhaz = lapply(at, function(t) aft_cumulative(dist, z(t))),
    quantile = lapply(at, function(p) exp(score + scale * aft_quantile(dist, p)))
  )
  if (type == "quantile" && length(at) == 1L) return(out[[1L]])
  out <- matrix(unlist(out), length(score), dimnames = list(NULL, format(at, trim = TRUE)))
  attr(out, if (type == "quantile") "probs" else "times") <- at
  out
}

# The mean of exp(scale Z).
aft_mean <- function(dist, scale) {
  switch(aft_dist_name(dist), normal = exp(scale^2 / 2),
         logistic = if (scale < 1) pi * scale / sin(pi * scale) else Inf, extreme = gamma(1 + scale))
}

# The distribution of Z in log T = score + scale Z: functions of probability and quantile.
aft_survival <- function(code, z) {
  switch(aft_dist_name(code), normal = stats::pnorm(z, lower.tail = FALSE),
         logistic = stats::plogis(z, lower.tail = FALSE), extreme = exp(-exp(z)))
}
aft_cumulative <- function(code, z) {
  switch(aft_dist_name(code), normal = -stats::pnorm(z, lower.tail = FALSE, log.p = TRUE),
         logistic = -stats::plogis(z, lower.tail = FALSE, log.p = TRUE), extreme = exp(z))
}
aft_quantile <- function(code, p) {
  switch(aft_dist_name(code), normal = stats::qnorm(p), logistic = stats::qlogis(p), extreme = log(-log1p(-p)))
}
