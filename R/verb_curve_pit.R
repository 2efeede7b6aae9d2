# A histogram of the chances that predicted distributions give to what was observed: gbt_curve() of type "pit".

# rows: list(data, y, weights, offset, exposure, trees, threads, strata) as of gbt_curve(). bins: NULL where not given.
pit_curve <- function(models, rows, bins) {
  bins <- check_whole(given_or(bins, 10), "bins", 1, 1e6)
  check_curve_data(rows$data)
  if (!is.null(rows$strata)) stop_argument("`strata` is for curves of times with strata; leave it out", "strata")
  for (one in models) {
    if (!is_distribution(judged_model(one)$objective)) {
      stop_unsupported(sprintf(paste("type = \"pit\" needs a model of distributions, such as objective",
                                     "\"dist_normal\"; this one has objective \"%s\""), judged_model(one)$objective),
                       "type")
    }
  }
  join_curves(lapply(models, function(one) {
    its <- do.call(rows_to_judge, c(list(one), unname(rows)))
    pit_histogram(chances_of_rows(its, rows$threads), given_or(its$weight, rep(1, length(its$label))), bins)
  }))
}

# list(less, upto): the chances of less than what was observed, and of this or less.
chances_of_rows <- function(its, threads) {
  below <- function(at) ask_distribution(its$score, its$model, "below", at, threads = resolve_threads(threads))
  upto <- below(its$label)
  if (!takes_counts(its$model$objective)) return(list(less = upto, upto = upto))
  list(less = ifelse(its$label > 0, below(pmax(its$label - 1, 0)), 0), upto = upto)
}

# Rows are added up in an order of their own, so that theirs does not matter.
pit_histogram <- function(chance, weight, bins) {
  at <- order(chance$upto, chance$less, weight)
  less <- chance$less[at]
  wide <- chance$upto[at] - less
  weight <- weight[at]
  edge <- seq(0, bins) / bins
  upto <- vapply(edge, function(e) {
    sum(weight * ifelse(wide > 0, pmin(pmax((e - less) / wide, 0), 1), less <= e))
  }, 0)
  in_bin <- diff(c(0, upto[-1L]))
  total <- sum(weight)
  its <- wilson(in_bin / total, sum(weight / max(weight))^2 / sum((weight / max(weight))^2))
  list(bin = seq_len(bins), from = edge[-length(edge)], to = edge[-1L], density = bins * in_bin / total,
       lower = bins * its$lower, upper = bins * its$upper, weight = in_bin)
}

# The 95 % interval of a share of n rows.
wilson <- function(share, n) {
  z2 <- stats::qnorm(0.975)^2
  middle <- (share + z2 / (2 * n)) / (1 + z2 / n)
  half <- sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n^2))) / (1 + z2 / n)
  list(lower = middle - half, upper = middle + half)
}
