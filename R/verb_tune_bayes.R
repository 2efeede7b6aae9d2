# Bayesian search: what to try next is where the expected improvement is largest by a Gaussian process over the
# configurations that were rated (Jones, Schonlau and Welch, 1998). The process is that of package kernlab. Candidates
# are drawn as those of random search are, so that whatever may be in a space may be proposed, and a draw depends on the
# seed and the number of the configuration.

bayes_candidates <- 1000

check_bayesian <- function(package = "kernlab") {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  stop_unsupported(paste("`method = \"bayesian\"` needs the package kernlab: install.packages(\"kernlab\");",
                         "\"random\" and \"halving\" need none"), "method")
}

# Configurations that are drawn at random before the first proposal.
bayes_start <- function(space, n) min(n, max(5, min(ceiling(n / 3), 2 * length(space) + 1)))

# The configurations as points: ranges from 0 to 1, on their scale, numbers to choose from likewise, and an indicator
# for each text. Where a parameter plays no part it is in the middle, or none of the texts.
config_points <- function(space, configs) {
  n <- length(configs[[1L]])
  columns <- lapply(space, function(part) {
    v <- configs[[part$name]]
    if (is.character(part$values)) {
      is_value <- rep(v, length(part$values)) == rep(part$values, each = n)
      return(matrix(0.5 * (is_value %in% TRUE), n))
    }
    ends <- if (is.null(part$values)) c(part$low, part$high) else range(as.double(part$values))
    log <- if (is.null(part$values)) part$log else part$name %in% log_parameters && ends[1L] > 0
    v <- pmin(pmax(as.double(v), ends[1L]), ends[2L])
    if (log) {
      v <- log(v)
      ends <- log(ends)
    }
    v[is.na(v)] <- mean(ends)
    matrix(if (ends[1L] < ends[2L]) (v - ends[1L]) / (ends[2L] - ends[1L]) else 0, n)
  })
  do.call(cbind, unname(columns))
}

# The values to minimise, by configuration: failures count as the worst, and bad ones by no more than they teach.
bayes_losses <- function(estimate, maximise) {
  loss <- if (maximise) -estimate else estimate
  loss[!is.finite(loss)] <- max(loss[is.finite(loss)])
  middle <- stats::median(loss)
  pmin(loss, middle + 3 * max(stats::mad(loss), (middle - min(loss)) / 3))
}

# The next configuration, a list of one value for each parameter: NULL where all there are have been tried. tried: a
# data frame; estimate: theirs.
propose_config <- function(space, tried, estimate, maximise, seed) {
  number <- .row_names_info(tried, 2L)
  drawn <- draw_configs(space, bayes_candidates, (seed + number * 7919) %% 9007199254740881)
  both <- rbind(tried, drawn)
  fresh <- which(!duplicated(both))
  fresh <- fresh[fresh > number] - number
  if (length(fresh) == 0L) return(NULL)
  at <- fresh[1L]
  if (sum(is.finite(estimate)) >= 2L) {
    loss <- bayes_losses(estimate, maximise)
    if (stats::sd(loss) > 0) {
      points <- config_points(space, both)
      gain <- expected_gain(points[seq_len(number), , drop = FALSE], (loss - mean(loss)) / stats::sd(loss),
                            points[number + fresh, , drop = FALSE])
      at <- fresh[which.max(gain)]
    }
  }
  lapply(drawn, `[`, at)
}

# Expected improvement at the rows of `at` over the best of what the process makes of x.
expected_gain <- function(x, z, at) {
  its <- function(name) getExportedValue("kernlab", name)
  fit <- bayes_scale(x, z, its)
  process <- its("gausspr")(x, z, scaled = FALSE, type = "regression", kernel = "rbfdot",
                            kpar = list(sigma = fit$sigma), var = fit$noise, variance.model = TRUE, fit = FALSE)
  mean <- function(points) as.vector(its("predict")(process, points))
  spread <- as.vector(its("predict")(process, at, type = "sdeviation"))
  spread <- pmax(spread, 1e-9)
  better <- min(mean(x)) - mean(at)
  better * stats::pnorm(better / spread) + spread * stats::dnorm(better / spread)
}

# Width of the kernel and variance of the noise under which the losses are most likely.
bayes_scale <- function(x, z, its) {
  best <- list(sigma = 1, noise = 0.1, fit = -Inf)
  for (sigma in c(0.1, 0.3, 1, 3, 10)) {
    kernel <- its("kernelMatrix")(its("rbfdot")(sigma = sigma), x)
    for (noise in c(0.01, 0.1, 0.3)) {
      root <- try_else(chol(kernel@.Data + diag(noise, nrow(x))), function(problem) NULL)
      if (is.null(root)) next
      fit <- -sum(backsolve(root, z, transpose = TRUE)^2) / 2 - sum(log(diag(root)))
      if (fit > best$fit) best <- list(sigma = sigma, noise = noise, fit = fit)
    }
  }
  best
}
