# How the number of rounds is best found where nobody says it: on rows held out once or in folds, with how much
# patience, and whether more rows bear more rounds. On sets of defaults-table.R; training and validation part are one
# here, as a user has them, and the test part judges. Writes bench/results/rounds-auto.csv, from which it makes a table.
#
#   Rscript bench/rounds-auto.R [--sets pima,ames] [--half choosing] [--sizes small,middle] [--splits 3] [--eta 0.1]
#       [--threads 2] [--out FOLDER]
#
# Each set and split takes three trainings, all with the patience of 200 rounds: on four fifths of the rows, in five
# folds, and on all rows with the test part evaluated in every round. What a rule would have found, and what the model
# of all rows then loses, is read from their logs. `given` is the model of the training part alone, stopped early
# (patience 50) by the validation part: what a user gets who holds rows out by hand.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R"))
source(file.path(here, "defaults-table.R"))
source(file.path(here, "defaults-made.R"))
source(file.path(here, "defaults-sets.R"))
library(gbt)
root <- bench_root()
csv <- file.path(arg_of("out", file.path(root, "bench", "results")), "rounds-auto.csv")
eta <- as.numeric(arg_of("eta", "0.1"))
most <- ceiling(200 / eta)
threads <- as.integer(arg_of("threads", "2"))
patiences <- c(20, 50, 100, 200)
growths <- c(1, 1.1, 1.25)

objectives <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax",
                quantile = "quantile")

# The best round of a log, had training ended after so many rounds without a better one.
best_with <- function(values, patience) {
  best <- 1L
  for (i in seq_along(values)) {
    if (is.finite(values[i]) && !isTRUE(values[i] >= values[best])) best <- i
    if (i - best >= patience) break
  }
  best
}

rows_of <- function(set, rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])

try_split <- function(name, set, folder, split) {
  part <- read_split(folder, split)
  train <- function(rows, ..., fun = gbt_train) {
    given <- list(x = rows$x, y = rows$y, offset = rows$offset, objective = objectives[[set$task]], eta = eta,
                  threads = threads, seed = split, device = "cpu", ...)
    if (set$task == "quantile") given$quantile_alpha <- set$alpha
    do.call(fun, given)
  }
  all <- rows_of(set, part < 2L)
  test <- rows_of(set, part == 2L)
  by_split <- train(all, nrounds = most, valid = 0.2, early_stopping_rounds = max(patiences))
  by_folds <- train(all, nrounds = most, folds = 5, early_stopping_rounds = max(patiences), fun = gbt_cv)
  logs <- list(split = by_split$evaluation_log[[2]], folds = by_folds$evaluation_log[[2]])
  given <- train(rows_of(set, part == 0L), nrounds = most, early_stopping_rounds = 50,
                 valid = list(test = test, valid = rows_of(set, part == 1L)))
  rules <- expand.grid(patience = patiences, growth = growths, by = names(logs), stringsAsFactors = FALSE)
  rules$rounds <- round(mapply(function(by, patience) best_with(logs[[by]], patience), rules$by, rules$patience) *
                          rules$growth)
  final <- train(all, nrounds = max(rules$rounds), valid = list(test = test))
  loss <- final$evaluation_log[[2]]
  rules$loss <- loss[rules$rounds]
  data.frame(set = name, split = split, rows = sum(part < 2L), eta = eta, rules,
             given = given$evaluation_log[[2]][given$best_round], given_rounds = given$best_round, oracle = min(loss))
}

for_wanted_splits(root, "3", function(name, set, folder, split) {
  before <- if (file.exists(csv)) utils::read.csv(csv)
  if (any(before$set == name & before$split == split & before$eta == eta)) return()
  out <- tryCatch(try_split(name, set, folder, split), error = function(e) message(name, ": ", conditionMessage(e)))
  if (is.null(out)) return()
  utils::write.table(out, csv, append = !is.null(before), sep = ",", row.names = FALSE, col.names = is.null(before))
  message(name, " ", split, ": ", sum(out$rows[1]), " rows")
})

# ---- the table: mean change of the test loss against `given`, in percent, by size; and how often it is better ----

runs <- utils::read.csv(csv)
runs <- runs[runs$eta == eta & runs$set %in% sets_wanted(), ]
runs$change <- 100 * (runs$loss / runs$given - 1)
runs$size <- cut(runs$rows, c(0, 300, 1000, 3000, 10000, Inf))
by_set <- stats::aggregate(change ~ size + by + patience + growth + set, runs, mean)
rule <- interaction(by_set$by, by_set$patience, by_set$growth, lex.order = TRUE)
print(round(tapply(by_set$change, list(rule, by_set$size), mean), 2))
print(table(by_set$size[!duplicated(by_set$set)]))
