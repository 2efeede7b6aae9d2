# Nine quantiles of held-out rows (levels 0.1 to 0.9): mean pinball loss, share of rows with crossing quantiles and
# seconds of the processor for training, by one model of all levels (a tree for each, or common trees), by a model for
# each level, and by LightGBM, which has a model for each level.
#
#   Rscript bench/quantiles.R DATA PYTHON [SET...]
#
# DATA: folder of the sets; PYTHON: one with lightgbm, or "". 6,400 rows to train, 1,600 that stop the training early,
# up to 8,000 to judge. gbt has its defaults, LightGBM as in bench/quantiles.py. One thread, so that other work on the
# machine matters little. MODELS in the environment: some of "one common nine lightgbm", which are the default.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
python <- args[2L]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "spread-sets.R"))
levels <- 1:9 / 10
models <- strsplit(Sys.getenv("MODELS", "one common nine lightgbm"), " ")[[1L]]

pinball <- function(y, q) {
  mean(vapply(1:9, function(k) mean(pmax(levels[k] * (y - q[, k]), (levels[k] - 1) * (y - q[, k]))), 0))
}

show <- function(set, model, y, q, seconds) {
  crossing <- mean(apply(q, 1L, is.unsorted))
  cat(sprintf("| %s | %s | %.5g | %.3f | %.1f |\n", set, model, pinball(y, q), crossing, seconds))
}

cat("| set | model | pinball | rows that cross | seconds |\n|---|---|---|---|---|\n")
for (set in if (length(args) > 2L) args[-(1:2)] else names(sets)) {
  its <- sets[[set]]()
  rows <- split_rows(nrow(its$x))
  y <- its$y[rows$test]
  new <- its$x[rows$test, ]
  train <- function(alpha, ...) {
    suppressMessages(gbt_train(its$x[rows$train, ], its$y[rows$train], objective = "quantile", quantile_alpha = alpha,
                               valid = list(x = its$x[rows$stops, ], y = its$y[rows$stops]), threads = 1, seed = 1,
                               ...))
  }
  processor <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")])
  if ("one" %in% models) {
    seconds <- processor(m <- train(levels))
    show(set, "gbt, one model", y, predict(m, new, threads = 1), seconds)
  }
  if ("common" %in% models) {
    seconds <- processor(m <- train(levels, multi_strategy = "multi_output_tree"))
    show(set, "gbt, common trees", y, predict(m, new, threads = 1), seconds)
  }
  if ("nine" %in% models) {
    seconds <- processor(each <- lapply(levels, train))
    show(set, "gbt, nine models", y, vapply(each, predict, y, newdata = new, threads = 1), seconds)
  }
  if (!nzchar(python) || !"lightgbm" %in% models) next
  files <- tempfile(c("train", "stops", "test"), fileext = ".csv")
  write <- function(at, file) utils::write.csv(cbind(y = its$y[at], its$x[at, ]), file, row.names = FALSE)
  Map(write, rows, files)
  out <- tempfile(fileext = ".csv")
  seconds <- as.double(system2(python, shQuote(c(file.path(here, "quantiles.py"), files, out)), stdout = TRUE,
                               stderr = FALSE))
  show(set, "LightGBM, nine models", y, as.matrix(utils::read.csv(out)), seconds)
}
