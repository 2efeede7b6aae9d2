# What a tree of a small table costs: processor milliseconds a round on one thread, by rows and columns of numbers that
# all differ. Prints a table; see bench/results/small-tables.md.
#
#   Rscript bench/small-tables.R [REPEATS]
suppressPackageStartupMessages(library(gbt))
repeats <- as.integer(c(commandArgs(trailingOnly = TRUE), "3")[1L])
rounds <- 100

cost <- function(n, k, policy) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * k), n)
  y <- stats::rnorm(n) + x[, 1L]
  spent <- replicate(repeats, {
    sum(system.time(gbt_train(x, y, nrounds = rounds, max_depth = 6, grow_policy = policy, threads = 1, seed = 1))[1:2])
  })
  1000 * stats::median(spent) / rounds
}

cat("| rows | columns | symmetric ms | depthwise ms |\n|---|---|---|---|\n")
for (size in list(c(500, 20), c(2000, 20), c(5000, 20), c(320, 1000), c(161, 751))) {
  cat(sprintf("| %d | %d | %.2f | %.2f |\n", size[1L], size[2L], cost(size[1L], size[2L], "symmetric"),
              cost(size[1L], size[2L], "depthwise")))
}
