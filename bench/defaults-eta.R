# Which learning rate suits a stated number of rounds, without early stopping: the loss of the test part after 20, 50,
# ... rounds for several eta, on sets of the choosing half (see defaults.R; first split, training and validation rows).
# Makes bench/results/defaults-eta.md: how far single values and the rule of gbt_defaults() are from the best of them.
#
#   Rscript bench/defaults-eta.R [--threads 2] [--out FOLDER]
#
# defaults-eta.csv in the folder has the losses; a set that is in it is not trained again.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
for (file in c("common.R", "data.R", "categorical-sets.R", "defaults-table.R", "defaults-made.R", "defaults-sets.R")) {
  source(file.path(here, file))
}
library(gbt)
root <- bench_root()
folder <- arg_of("out", file.path(root, "bench", "results"))
csv <- file.path(folder, "defaults-eta.csv")
rounds_of <- c(`0.02` = 1000, `0.04` = 1000, `0.07` = 1000, `0.12` = 500, `0.2` = 300, `0.35` = 200) # by eta
shown <- c(10, 20, 50, 100, 200, 300, 500, 1000)
sets <- c("california", "concrete", "diabetes", "churn", "credit", "articles", "made_additive", "made_rotated",
          "chicago", "solder", "made_counts", "attrition", "storms", "cells")
stopifnot(halves_of(registry)[sets] == "choosing")

losses_of <- function(name) {
  set <- readRDS(file.path(ensure_defaults(name, root), "set.rds"))
  part <- read_split(defaults_folder(name), 1L)
  rows <- function(keep) list(x = set$x[keep, , drop = FALSE], y = set$y[keep], offset = set$offset[keep])
  train <- rows(part < 2L)
  objective <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax")
  do.call(rbind, lapply(names(rounds_of), function(eta) {
    model <- gbt_train(train$x, train$y, offset = train$offset, objective = objective[[set$task]],
                       eta = as.numeric(eta), nrounds = rounds_of[[eta]], valid = rows(part == 2L),
                       early_stopping_rounds = 0, seed = 1, threads = as.integer(arg_of("threads", "2")))
    at <- shown[shown <= rounds_of[[eta]]]
    data.frame(set = name, task = set$task, rows = length(train$y), eta = as.numeric(eta), rounds = at,
               loss = model$evaluation_log[[2]][at])
  }))
}

known <- if (file.exists(csv)) utils::read.csv(csv)
for (name in setdiff(sets, known$set)) {
  known <- rbind(known, losses_of(name))
  utils::write.csv(known, csv, row.names = FALSE)
}

# The loss at a learning rate between those that were tried, by its logarithm; beyond them that of the nearest.
loss_at <- function(eta, tried, loss) {
  if (length(tried) < 2L) return(loss)
  stats::approx(log(tried), loss, log(eta), rule = 2)$y
}
rules <- list(`eta = 0.05` = function(rows, rounds) 0.05, `eta = 0.1` = function(rows, rounds) 0.1,
              `10 / rounds` = function(rows, rounds) 10 / rounds,
              `the rule` = function(rows, rounds) 10 * (rows / 1000)^0.45 / rounds)
excess <- lapply(split(known, paste(known$set, known$rounds)), function(d) {
  loss <- vapply(rules, function(rule) {
    loss_at(min(max(rule(d$rows[1], d$rounds[1]), 0.02), 0.3), d$eta, d$loss)
  }, 0)
  data.frame(rounds = d$rounds[1], t(100 * (loss / min(d$loss) - 1)), check.names = FALSE)
})
excess <- do.call(rbind, excess)
by_rounds <- stats::aggregate(excess[-1], excess["rounds"], mean)
best <- do.call(rbind, lapply(split(known, paste(known$set, known$rounds)), function(d) d[which.min(d$loss), ]))
best$cell <- sprintf("%g (%+.0f)", best$eta,
                     100 * (best$loss / vapply(best$set, function(s) min(known$loss[known$set == s]), 0) - 1))
wide <- tapply(best$cell, list(best$set, best$rounds), `[`, 1L)
size <- known[match(rownames(wide), known$set), c("task", "rows")]
wide <- cbind(set = rownames(wide), size, as.data.frame(wide))[order(size$rows), ]
table <- cbind(rounds = by_rounds$rounds, as.data.frame(lapply(by_rounds[-1], fixed, 1), check.names = FALSE))
names(table)[-1] <- names(rules)
write_results(root, "defaults-eta", "Learning rate for a stated number of rounds", c(
  "Defaults of `gbt_train()` beside `eta`, no early stopping; loss of the test part on sets of the choosing half of",
  "`bench/defaults.R`. The rule: 10 (rows / 1000)^0.45 / rounds, from 0.02 to 0.3.", "",
  "By how many percent the loss exceeds that of the best of the learning rates that were tried, mean over sets:", "",
  md_table(table), "",
  "The best of them, and in brackets by how many percent its loss exceeds the least one of the set at any number of",
  "rounds:", "", md_table(wide)
), folder = folder)
