# Answers of a model of intervals of time: curves, quantiles, means.

# The cumulative hazards of rows at the ends of their intervals: a matrix. score: by interval.
interval_hazards <- function(score) {
  each <- matrix(softplus(score), nrow(score), ncol(score))
  for (k in seq_len(ncol(each))[-1L]) each[, k] <- each[, k] + each[, k - 1L]
  each
}

# Scores -> answers, as times_of_scores(). Within an interval the hazard is constant, behind the last one nothing is
# known: curves keep their last value.
times_of_intervals <- function(score, breaks, type, at) {
  H <- cbind(matrix(0, nrow(score), 1L), interval_hazards(score))
  ends <- c(0, breaks)
  if (type == "time") { # the area below the curve up to the last end: of an interval by its two values
    area <- numeric(nrow(H))
    for (k in seq_along(breaks)) {
      from <- exp(-H[, k])
      fall <- H[, k + 1L] - H[, k]
      area <- area + (ends[k + 1L] - ends[k]) * from * ifelse(fall > 1e-8, -expm1(-fall) / fall, 1 - fall / 2)
    }
    return(area)
  }
  out <- if (type == "quantile") {
    lapply(at, function(p) {
      need <- -log1p(-p)
      k <- rowSums(H < need) # the end before it
      k[k > length(breaks)] <- NA
      own <- cbind(seq_len(nrow(H)), k)
      next_one <- cbind(seq_len(nrow(H)), k + 1L)
      ends[k] + (need - H[own]) / (H[next_one] - H[own]) * (ends[k + 1L] - ends[k])
    })
  } else {
    until <- lapply(at, function(t) {
      k <- findInterval(t, ends)
      if (k == length(ends)) return(H[, k])
      H[, k] + (t - ends[k]) / (ends[k + 1L] - ends[k]) * (H[, k + 1L] - H[, k])
    })
    if (type == "cumhaz") until else lapply(until, function(h) exp(-h))
  }
  matrix_at(out, nrow(score), type, at)
}
