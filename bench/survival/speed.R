# Time of a training by objective cox beside one by squared_error, on the same made data, in turns.
#
#   Rscript bench/survival/speed.R [--rows=1000000] [--columns=10] [--rounds=30] [--repeats=3] [--threads=2]
#
# Prints seconds of the processor and of the clock, and the ratio of the medians.
library(gbt)
given <- commandArgs(trailingOnly = TRUE)
value <- function(name, default) {
  at <- grep(paste0("^--", name, "="), given, value = TRUE)
  if (length(at)) as.integer(sub("^[^=]*=", "", at[1L])) else default
}
n <- value("rows", 1000000L)
p <- value("columns", 10L)
rounds <- value("rounds", 30L)
threads <- value("threads", 2L)
set.seed(1)
x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
score <- drop(x[, 1:3] %*% c(1, 0.5, -0.5))
event <- stats::rexp(n, exp(score))
censored <- stats::rexp(n, 0.5)
data <- list(squared_error = gbt_data(x, score + stats::rnorm(n), threads = threads),
             cox = gbt_data(x, survival::Surv(pmin(event, censored), event <= censored), threads = threads))
used <- function(objective) {
  t <- system.time(gbt_train(data[[objective]], nrounds = rounds, objective = objective, eta = 0.1, threads = threads,
                             grow_policy = "depthwise", max_depth = 6))
  c(processor = t[[1L]] + t[[2L]], clock = t[[3L]])
}
runs <- replicate(value("repeats", 3L), vapply(names(data), used, numeric(2L)))
medians <- apply(runs, 1:2, stats::median)
cat(sprintf("%d rows, %d columns, %d rounds, %d threads\n", n, p, rounds, threads))
print(round(cbind(medians, ratio = medians[, "cox"] / medians[, "squared_error"]), 2))
