# Common trees of columns, by the sum of gains, in several shapes: loss on held-out rows (the root of the mean over
# columns of the squared error over the variance), rounds, seconds of the processor for training, and how a race went.
#
#   Rscript bench/sketch-shapes.R DATA [SET...]        early stopping, 30,000 rows of a set: shapes, and the race
#   Rscript bench/sketch-shapes.R DATA given [SET...]  50 and 200 rounds, 60,000 rows: symmetric trees, and the rules
#
# DATA: folder of the sets. One thread. (bench/results/sketch.md)
options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "targets-sets.R"))
sets <- targets_sets[c("turbine", "air", "sgemm", "flights", "weather")]
sets$made8 <- function() made_columns(8)
given <- "given" %in% args
named <- intersect(names(sets), args)

loss <- function(p, y) sqrt(mean(colMeans((p - y)^2) / apply(y, 2L, stats::var)))
shapes <- list("symmetric 6" = list(grow_policy = "symmetric"),
               "depthwise 8" = list(grow_policy = "depthwise", max_depth = 8),
               "depthwise 6" = list(grow_policy = "depthwise", max_depth = 6),
               "lossguide 64" = list(grow_policy = "lossguide", max_leaves = 64), rules = list())

run <- function(name, shape, train, test, ...) {
  call <- c(list(train$x, train$y, ..., multi_strategy = "multi_output_tree", seed = 1, threads = 1, verbose = 0),
            shapes[[shape]])
  seconds <- sum(system.time(m <- do.call(gbt_train, call))[c("user.self", "sys.self")])
  cat(sprintf("| %s | %d | %s | %.5f | %d | %.1f | %s |\n", name, nrow(train$x), shape,
              loss(stats::predict(m, test$x, threads = 1), test$y), m$nrounds, seconds,
              if (is.null(m$race)) "" else m$race$shape[m$race$chosen]))
}

cat("| set | rows | shape | loss | rounds | seconds | race |\n|---|---|---|---|---|---|---|\n")
for (name in if (length(named)) named else setdiff(names(sets), if (given) "made8")) {
  its <- sets[[name]]()
  set.seed(7)
  at <- sample(nrow(its$x), min(nrow(its$x), if (given) 60000 else 30000))
  part <- rep(c("train", "train", "train", "train", "valid", "test", "test"), length.out = length(at))
  if (given) part <- ifelse(seq_along(at) %% 7 > 1, "train", "test")
  of <- function(p) list(x = its$x[at[part == p], ], y = its$y[at[part == p], , drop = FALSE])
  if (given) {
    for (rounds in c(50, 200)) for (shape in c("symmetric 6", "rules")) {
      run(name, shape, of("train"), of("test"), nrounds = rounds)
    }
  } else {
    for (shape in names(shapes)) {
      run(name, shape, of("train"), of("test"), valid = of("valid"), nrounds = 2000, early_stopping_rounds = 50)
    }
  }
}
