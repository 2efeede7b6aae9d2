# Normal distributions predicted for held-out rows: negative log-likelihood, CRPS, share of responses in intervals of
# level 0.9, and seconds of training, beside CatBoost's RMSEWithUncertainty and NGBoost.
#
#   Rscript bench/distributions.R DATA PYTHON [SET...]
#
# DATA: folder of the sets; PYTHON: one with catboost and ngboost, or "". 8,000 rows to train, of which a fifth stops
# the training early, and up to 8,000 to judge. Scores are computed here from the means and deviations that each
# predicts.
# gbt has its defaults, with `eta_scale` as named; CatBoost and NGBoost as in bench/distributions.py. Two threads.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
python <- args[2L]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "spread-sets.R"))

scores <- function(y, mean, sd) {
  z <- (y - mean) / sd
  c(nloglik = mean(log(sd) + z^2 / 2) + log(2 * pi) / 2,
    crps = mean(sd * (z * (2 * pnorm(z) - 1) + 2 * dnorm(z) - 1 / sqrt(pi))), coverage = mean(abs(z) <= qnorm(0.95)))
}

show <- function(set, model, y, p, seconds) {
  s <- scores(y, p[, 1L], p[, 2L])
  cat(sprintf("| %s | %s | %.4f | %.5g | %.3f | %.1f |\n", set, model, s[[1L]], s[[2L]], s[[3L]], seconds))
}

cat("| set | model | nloglik | crps | in 90 % intervals | seconds |\n|---|---|---|---|---|---|\n")
for (set in if (length(args) > 2L) args[-(1:2)] else names(sets)) {
  its <- sets[[set]]()
  rows <- split_rows(nrow(its$x))
  train <- rows$train
  stops <- rows$stops
  test <- rows$test
  for (scale in c(0.25, 0.5, 1)) {
    seconds <- system.time(m <- suppressMessages(gbt_train(
      its$x[train, ], its$y[train], objective = "dist_normal", eta_scale = scale, threads = 2, seed = 1,
      valid = list(x = its$x[stops, ], y = its$y[stops]))))[["elapsed"]]
    show(set, sprintf("gbt, eta_scale %g", scale), its$y[test], predict(m, its$x[test, ], "parameters"), seconds)
  }
  if (!nzchar(python)) next
  files <- tempfile(c("train", "stops", "test"), fileext = ".csv")
  write <- function(rows, file) utils::write.csv(cbind(y = its$y[rows], its$x[rows, ]), file, row.names = FALSE)
  Map(write, list(train, stops, test), files)
  for (peer in c("catboost", "ngboost")) {
    out <- tempfile(fileext = ".csv")
    seconds <- as.double(system2(python, shQuote(c(file.path(here, "distributions.py"), peer, files, out)),
                                 stdout = TRUE, stderr = FALSE))
    show(set, peer, its$y[test], as.matrix(utils::read.csv(out)), seconds)
  }
}
