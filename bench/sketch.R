# Trees with a value for every output, whose splits are chosen by the sum of the gains of all outputs
# (`sketch = "none"`) or by one random direction a round ("projection"), beside a tree for each output: loss on held-out
# rows, rounds and seconds of the processor for training.
#
#   Rscript bench/sketch.R DATA [KIND...] [ROWS]
#
# DATA: folder of the sets; KIND: columns, levels or classes; ROWS: of a set at most, default 30000. `eta` 0.1, at most
# 2,000 rounds, early stopping by a fifth of the training rows, symmetric or depthwise trees and defaults otherwise, one
# thread. Losses: of columns the root of the mean over columns of the squared error over the variance; of levels the
# mean pinball loss; of classes the log loss.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
is_rows <- grepl("^[0-9]+$", args)
most <- if (any(is_rows)) as.numeric(args[is_rows]) else 30000
kinds <- args[-1L][!is_rows[-1L]]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "spread-sets.R"))
spread <- sets
source(file.path(here, "targets-sets.R"))

# name -> list(x, y): rows are drawn from all.
columns <- targets_sets[c("turbine", "air", "flights", "sgemm", "weather")]
columns$made8 <- function() {
  set.seed(1)
  x <- as.data.frame(matrix(stats::rnorm(40000 * 20), 40000))
  hidden <- sin(as.matrix(x) %*% matrix(stats::rnorm(20 * 4), 20) / 2)
  list(x = x, y = hidden %*% matrix(stats::rnorm(4 * 8), 4) + matrix(stats::rnorm(40000 * 8), 40000) / 2)
}
classes <- list(
  connect_4 = function() {
    d <- read("connect_4.csv.gz")
    list(x = d[names(d) != "target"], y = factor(d$target))
  },
  sleep = function() {
    d <- read("sleep_stages.csv.gz")
    list(x = d[names(d) != "target"], y = factor(d$target))
  },
  covtype = function() {
    d <- read("covtype_sample.csv.gz")
    list(x = d[-ncol(d)], y = factor(d[[ncol(d)]]))
  }
)
levels_of <- c(0.1, 0.25, 0.5, 0.75, 0.9)

loss <- list(
  columns = function(p, y) sqrt(mean(colMeans((p - y)^2) / apply(y, 2L, stats::var))),
  levels = function(p, y) mean(vapply(seq_along(levels_of), function(k) {
    e <- y - p[, k]
    mean(pmax(levels_of[k] * e, (levels_of[k] - 1) * e))
  }, 0)),
  classes = function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-15)))
)

ways <- list("a tree each" = list(multi_strategy = "one_output_per_tree"),
             projection = list(multi_strategy = "multi_output_tree", sketch = "projection"),
             none = list(multi_strategy = "multi_output_tree", sketch = "none"))
ways <- do.call(c, lapply(c("symmetric", "depthwise"), function(policy) {
  stats::setNames(lapply(ways, c, list(grow_policy = policy)), paste(names(ways), policy, sep = ", "))
}))

take <- function(y, at) if (is.matrix(y)) y[at, , drop = FALSE] else y[at]

run <- function(kind, name, its) {
  set.seed(7)
  at <- sample(nrow(its$x), min(nrow(its$x), most))
  part <- rep(c("train", "train", "train", "train", "valid", "test", "test"), length.out = length(at))
  of <- function(p) list(x = its$x[at[part == p], ], y = take(its$y, at[part == p]))
  train <- of("train")
  test <- of("test")
  more <- switch(kind, levels = list(objective = "quantile", quantile_alpha = levels_of), columns = , classes = list())
  for (way in names(ways)) {
    call <- c(list(train$x, train$y, valid = of("valid"), nrounds = 2000, early_stopping_rounds = 50, eta = 0.1,
                   seed = 1, threads = 1, verbose = 0), more, ways[[way]])
    seconds <- sum(system.time(m <- do.call(gbt_train, call))[c("user.self", "sys.self")])
    value <- loss[[kind]](stats::predict(m, test$x, threads = 1), test$y)
    cat(sprintf("| %s | %s | %s | %.5g | %d | %.1f |\n", kind, name, way, value, m$best_round, round(seconds, 1)))
  }
}

cat("| outputs | set | splits | loss | rounds | seconds |\n|---|---|---|---|---|---|\n")
for (kind in if (length(kinds)) kinds else c("columns", "levels", "classes")) {
  of_kind <- switch(kind, columns = columns, classes = classes, levels = spread)
  for (name in names(of_kind)) run(kind, name, of_kind[[name]]())
}
