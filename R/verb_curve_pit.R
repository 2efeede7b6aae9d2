# A histogram of the probabilities that predicted distributions give to what was observed: gbt_curve() of type "pit". Of
# several quantiles the bins lie between their levels.

# rows: list(data, y, weights, offset, exposure, trees, threads, strata) as of gbt_curve(). bins: NULL where not given.
pit_curve <- function(models, rows, bins) {
  of_levels <- vapply(models, function(one) !is.null(levels_of(judged_model(one))), NA)
  if (any(of_levels) && !is.null(bins)) {
    stop_argument("the bins of several quantiles lie between their levels; leave `bins` out", "bins")
  }
  bins <- check_whole(given_or(bins, 10), "bins", 1, 1e6)
  check_curve_data(rows$data)
  if (!is.null(rows$strata)) stop_argument("`strata` is for curves of times with strata; leave it out", "strata")
  for (one in models[!of_levels]) {
    if (!is_distribution(judged_model(one)$objective)) {
      stop_unsupported(sprintf(paste("type = \"pit\" needs a model of distributions, such as objective",
                                     "\"dist_normal\", or of several quantiles; this one has objective \"%s\""),
                               judged_model(one)$objective), "type")
    }
  }
  join_curves(lapply(models, function(one) {
    its <- do.call(rows_to_judge, c(list(one), unname(rows)))
    weight <- given_or(its$weight, rep(1, length(its$label)))
    if (!is.null(levels_of(its$model))) return(level_histogram(its, weight, rows$threads))
    pit_histogram(probabilities_of_rows(its, rows$threads), weight, bins)
  }))
}

# The share of the weight between neighbouring quantiles, by what the levels promise. A value at a quantile is below it.
level_histogram <- function(its, weight, threads) {
  known <- given_or(its$known, as_columns(responses_of(its$model, its$score, resolve_threads(threads))))
  edge <- c(0, levels_of(its$model), 1)
  bin <- rowSums(known < its$label) + 1
  in_bin <- vapply(seq_len(length(edge) - 1L), function(k) sum(sort(weight[bin == k])), 0)
  histogram_of(edge, in_bin, weight, 1 / diff(edge))
}

# Densities with 95 % intervals. edge: ends of the bins; in_bin: their weight; per: what a share is multiplied by.
histogram_of <- function(edge, in_bin, weight, per) {
  share <- in_bin / sum(weight)
  its <- wilson(share, sum(weight / max(weight))^2 / sum((weight / max(weight))^2))
  list(bin = seq_along(share), from = edge[-length(edge)], to = edge[-1L], density = per * share,
       lower = per * its$lower, upper = per * its$upper, weight = in_bin)
}

# list(less, upto): the probabilities of less than what was observed, and of this or less.
probabilities_of_rows <- function(its, threads) {
  below <- function(at) ask_distribution(its$score, its$model, "below", at, threads = resolve_threads(threads))
  upto <- below(its$label)
  if (!takes_counts(its$model$objective)) return(list(less = upto, upto = upto))
  list(less = ifelse(its$label > 0, below(pmax(its$label - 1, 0)), 0), upto = upto)
}

# Rows are added up in an order of their own, so that theirs does not matter.
pit_histogram <- function(below, weight, bins) {
  at <- order(below$upto, below$less, weight)
  less <- below$less[at]
  wide <- below$upto[at] - less
  weight <- weight[at]
  edge <- seq(0, bins) / bins
  upto <- vapply(edge, function(e) {
    sum(weight * ifelse(wide > 0, pmin(pmax((e - less) / wide, 0), 1), less <= e))
  }, 0)
  in_bin <- diff(c(0, upto[-1L]))
  histogram_of(edge, in_bin, weight, bins)
}

# The 95 % interval of a share of n rows.
wilson <- function(share, n) {
  z2 <- stats::qnorm(0.975)^2
  middle <- (share + z2 / (2 * n)) / (1 + z2 / n)
  half <- sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n^2))) / (1 + z2 / n)
  list(lower = middle - half, upper = middle + half)
}
