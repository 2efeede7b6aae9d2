# What ordered boosting gives on small data: the test loss of `boosting = "plain"` and `"ordered"` on the same splits.
#
#   Rscript bench/ordered.R [--sets adult,flchain] [--rows 1000,2000,5000,10000] [--splits 10] [--threads 2]
#
# A split draws `rows` rows for training, a quarter as many for early stopping (50 rounds without improvement, at most
# 1,000), and 10,000 others, or all that are left, for the test. eta 0.05, depth 6, all else as by default. `fixed` is
# the loss after 200 rounds without early stopping. Factors come as sets of levels and as statistics (`cat_method`);
# sets of numbers alone have one line. Every line of the output is a mean over the splits: the loss of both ways, their
# difference (ordered less plain) with its standard error, the rounds of early stopping, and the seconds of the
# trainings of fixed length.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
n_splits <- as.integer(arg_of("splits", "10"))
threads <- as.integer(arg_of("threads", "2"))
most_test_rows <- 10000
library(gbt)

unordered <- function(x) {
  at <- vapply(x, is.factor, NA)
  x[at] <- lapply(x[at], function(column) factor(as.character(column)))
  x
}

small_sets <- list(
  adult = function(folder) sets$adult(folder)[c("task", "x", "y")],
  california_housing = function(folder) {
    set <- sets$california_housing(folder)
    list(task = "regression", x = set$x, y = log(set$y))
  },
  diamonds = function(folder) {
    set <- sets$diamonds(folder)
    list(task = "regression", x = unordered(set$x), y = log(set$y))
  },
  flchain = function(folder) { # dead within the study; the years of it and the cause of death are not known before
    d <- readRDS(file.path(folder, "flchain.rds"))
    list(task = "binary", x = unordered(d[setdiff(names(d), c("futime", "death", "chapter"))]), y = d$death)
  },
  letter = function(folder) {
    set <- sets$letter(folder)
    list(task = "multiclass", x = set$x, y = set$y)
  },
  weatherAUS = function(folder) {
    d <- readRDS(file.path(folder, "weatherAUS.rds"))
    d <- d[!is.na(d$RainTomorrow), ]
    x <- unordered(d[setdiff(names(d), c("RainTomorrow", "RISK_MM", "Date"))])
    list(task = "binary", x = x, y = as.numeric(d$RainTomorrow == "Yes"))
  }
)

loss_of <- function(task, p, y) {
  switch(task,
         binary = -mean(ifelse(y == 1, log(p), log1p(-p))),
         regression = sqrt(mean((p - y)^2)),
         multiclass = -mean(log(p[cbind(seq_along(y), as.integer(y))])))
}

part_of <- function(set, rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows])

one_split <- function(set, n, split, boosting, cat_method) {
  set.seed(1000 * split + 1, kind = "Mersenne-Twister", sample.kind = "Rejection")
  order <- sample.int(nrow(set$x))
  train <- part_of(set, order[seq_len(n)])
  valid <- part_of(set, order[n + seq_len(n / 4)])
  left <- length(order) - n - n / 4
  test <- part_of(set, order[n + n / 4 + seq_len(min(left, most_test_rows))])
  fit <- function(...) {
    gbt_train(train$x, train$y, objective = switch(set$task, binary = "logistic", regression = "squared_error",
                                                   multiclass = "softmax"),
              eta = 0.05, seed = split, threads = threads, boosting = boosting, cat_method = cat_method, ...)
  }
  loss <- function(model) loss_of(set$task, predict(model, test$x), test$y)
  stopped <- fit(nrounds = 1000, valid = list(x = valid$x, y = valid$y), early_stopping_rounds = 50)
  begin <- proc.time()[["elapsed"]]
  fixed <- fit(nrounds = 200)
  c(stopped = loss(stopped), rounds = stopped$best_round, fixed = loss(fixed),
    seconds = proc.time()[["elapsed"]] - begin)
}

compare <- function(name, set, n, cat_method) {
  runs <- lapply(c("plain", "ordered"), function(boosting) {
    vapply(seq_len(n_splits), function(split) one_split(set, n, split, boosting, cat_method), numeric(4))
  })
  for (what in c("stopped", "fixed")) {
    plain <- runs[[1]][what, ]
    ordered <- runs[[2]][what, ]
    cat(sprintf("%-18s %6d %-7s %-7s %8.4f %8.4f %8.4f +- %.4f %7.0f %7.0f %6.2f %6.2f\n", name, n, cat_method, what,
                mean(plain), mean(ordered), mean(ordered - plain), stats::sd(ordered - plain) / sqrt(n_splits),
                mean(runs[[1]]["rounds", ]), mean(runs[[2]]["rounds", ]), mean(runs[[1]]["seconds", ]),
                mean(runs[[2]]["seconds", ])))
  }
}

cat(sprintf("%-18s %6s %-7s %-7s %8s %8s %18s %7s %7s %6s %6s\n", "set", "rows", "factors", "ends", "plain", "ordered",
            "difference", "rounds", "rounds", "s", "s"))
for (name in strsplit(arg_of("sets", paste(names(small_sets), collapse = ",")), ",")[[1]]) {
  set <- small_sets[[name]](data_folder(root))
  methods <- if (any(vapply(set$x, is.factor, NA))) c("sets", "target") else "auto"
  for (n in as.integer(strsplit(arg_of("rows", "2000,5000,10000"), ",")[[1]])) {
    if (n + n / 4 + 1000 > nrow(set$x)) next
    for (cat_method in methods) compare(name, set, n, cat_method)
  }
}
