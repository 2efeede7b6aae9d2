# Trees with a value for every output, whose splits are chosen by the sum of the gains of all outputs
# (`sketch = "none"`, up to eight outputs) or by a random direction a round ("projection"), and a tree for each
# output: loss on held-out rows, rounds and seconds of the processor for training.
#
#   Rscript bench/sketch.R DATA [KIND...] [SET...] [ROWS]
#
# DATA: folder of the sets; KIND: columns, levels or classes; SET: some of their sets; ROWS: of a set at most, default
# 30000. `eta` 0.1, at most 2,000 rounds (ROUNDS in the environment: others), early stopping by a fifth of the training
# rows, symmetric or depthwise trees (POLICY=symmetric: only these) and defaults otherwise, one thread. Losses: of
# columns the root of the mean over columns of the squared error over the variance; of levels the mean pinball loss; of
# classes and labels the log loss.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
is_rows <- grepl("^[0-9]+$", args)
most <- if (any(is_rows)) as.numeric(args[is_rows]) else 30000
names_given <- args[-1L][!is_rows[-1L]]
kinds <- intersect(c("columns", "levels", "classes"), names_given)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "spread-sets.R"))
spread <- sets
source(file.path(here, "targets-sets.R"))

# name -> list(x, y): rows are drawn from all.
columns <- targets_sets[c("turbine", "air", "flights", "sgemm", "weather")]
columns$made8 <- function() made_columns(8)
columns[c("made16", "tmc2007")] <- targets_sets[c("made16", "tmc2007")]
classes <- list(
  connect_4 = function() {
    d <- read("connect_4.csv.gz")
    list(x = d[names(d) != "target"], y = factor(d$target))
  },
  sleep = function() {
    d <- read("sleep_stages.csv.gz")
    list(x = d[names(d) != "target"], y = factor(d$target))
  },
  letter = function() {
    d <- read("letter.csv.gz")
    at <- which(!vapply(d, is.numeric, TRUE))[1L]
    list(x = d[-at], y = factor(d[[at]]))
  },
  covtype = function() {
    d <- read("covtype_sample.csv.gz")
    list(x = d[-ncol(d)], y = factor(d[[ncol(d)]]))
  }
)
levels_of <- c(0.1, 0.25, 0.5, 0.75, 0.9)

loss <- list(
  columns = function(p, y) {
    if (!is.logical(y)) return(sqrt(mean(colMeans((p - y)^2) / apply(y, 2L, stats::var))))
    p <- pmin(pmax(p, 1e-15), 1 - 1e-15)
    -mean(ifelse(y, log(p), log(1 - p)))
  },
  levels = function(p, y) mean(vapply(seq_along(levels_of), function(k) {
    e <- y - p[, k]
    mean(pmax(levels_of[k] * e, (levels_of[k] - 1) * e))
  }, 0)),
  classes = function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-15)))
)

common <- list(multi_strategy = "multi_output_tree")
ways <- list("a tree each" = list(multi_strategy = "one_output_per_tree"),
             projection = c(common, sketch = "projection"), none = c(common, sketch = "none"))
policies <- strsplit(Sys.getenv("POLICY", "symmetric depthwise"), " ")[[1L]]
limit <- as.numeric(Sys.getenv("ROUNDS", "2000"))
ways <- do.call(c, lapply(policies, function(policy) {
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
  n_outputs <- if (is.matrix(its$y)) ncol(its$y) else if (kind == "levels") length(levels_of) else nlevels(its$y)
  for (way in names(ways)) {
    if (n_outputs > 8 && startsWith(way, "none")) next
    call <- c(list(train$x, train$y, valid = of("valid"), nrounds = limit, early_stopping_rounds = 50, eta = 0.1,
                   seed = 1, threads = 1, verbose = 0), more, ways[[way]])
    seconds <- sum(system.time(m <- do.call(gbt_train, call))[c("user.self", "sys.self")])
    value <- loss[[kind]](stats::predict(m, test$x, threads = 1), test$y)
    cat(sprintf("| %s | %s | %s | %.5g | %d | %.1f |\n", kind, name, way, value, m$best_round, round(seconds, 1)))
  }
}

cat("| outputs | set | splits | loss | rounds | seconds |\n|---|---|---|---|---|---|\n")
for (kind in if (length(kinds)) kinds else c("columns", "levels", "classes")) {
  of_kind <- switch(kind, columns = columns, classes = classes, levels = spread)
  chosen <- intersect(names(of_kind), names_given)
  for (name in if (length(chosen)) chosen else names(of_kind)) run(kind, name, of_kind[[name]]())
}
