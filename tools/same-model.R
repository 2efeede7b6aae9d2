# Trains small models of every kind and writes their checksums: Rscript tools/same-model.R FILE
# Two builds of gbt (other compiler, no threads) must write the same file. Within a build the models must not depend on
# the number of threads or the instruction set; that is checked on the way.
library(gbt)

digest <- function(model) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(model$state, file)
  unname(tools::md5sum(file))
}

set.seed(1)
n <- 6000
x <- matrix(rnorm(n * 12), n)
x[sample(length(x), 5000)] <- NA
colnames(x) <- paste0("v", seq_len(ncol(x)))
signal <- ifelse(is.na(x[, 1]), 0.5, sin(2 * x[, 1])) + ifelse(is.na(x[, 2]), 0, x[, 2]^2)
weight <- runif(n)

train <- list(
  flights = function(...) gbt_train(late ~ ., data = flights, nrounds = 15, seed = 3, ...),
  regression = function(...) gbt_train(x, signal, nrounds = 20, weights = weight, seed = 1, ...),
  sampled = function(...) {
    gbt_train(x, signal, nrounds = 20, subsample = 0.6, colsample_bytree = 0.7, colsample_bynode = 0.8, seed = 7, ...)
  },
  bestfirst = function(...) {
    gbt_train(x, signal > 0.7, nrounds = 15, grow_policy = "lossguide", max_leaves = 31, max_depth = 0, seed = 1, ...)
  },
  softmax = function(...) gbt_train(x, cut(signal, c(-Inf, 0, 0.5, 1, 2, Inf)), nrounds = 8, seed = 1, ...),
  poisson = function(...) {
    counts <- round(exp(pmin(signal, 2)))
    gbt_train(x, counts, objective = "poisson", offset = log1p(weight), nrounds = 15, seed = 1, ...)
  },
  bins = function(...) gbt_train(x, signal, nrounds = 5, max_bin = 4000, seed = 1, ...)
)

lines <- vapply(names(train), function(name) {
  model <- train[[name]](threads = 1)
  for (threads in 2:3) {
    again <- train[[name]](threads = threads)
    if (!identical(again$state, model$state)) stop(name, ": another model on ", threads, " threads")
  }
  for (simd in setdiff(names(gbt:::enums$simd), c("auto", gbt_info()$simd_best))) {
    old <- options(gbt.simd = simd)
    if (!identical(train[[name]](threads = 2)$state, model$state)) stop(name, ": another model with simd ", simd)
    options(old)
  }
  paste(name, length(model$state), digest(model))
}, "")
writeLines(lines, commandArgs(trailingOnly = TRUE)[1])
