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
