# What rounds give that change what earlier ones count: the mean of the models after the last rounds (`tail_rounds`),
# shrinking (`model_shrink_rate`) and dropped rounds (`boosting = "dart"`), on the sets of defaults-table.R.
#
#   Rscript bench/rounds.R [--sets pima,meats] [--half choosing] [--most 12000] [--splits 1] [--threads 2]
#       [--ways fixed]
#
# --most: sets of more rows are left out. --ways: fixed, stopping, or both. Two ways to train:
#
#   fixed      100 rounds, depth 6, of eta 0.3 and 0.1, on all rows and on half of them for each tree
#   stopping   up to 2,000 rounds with early stopping (patience 50): symmetric trees of depth 6, eta 0.05, lambda 3,
#              colsample_bytree 0.8
#
# Each line is the change of the test loss against the same training without: mean over the sets with its standard
# error, median, sets that improved, and the seconds of all trainings together against those without.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
for (file in c("common", "data", "categorical-sets", "defaults-table", "defaults-made", "defaults-sets")) {
  source(file.path(here, paste0(file, ".R")))
}
root <- bench_root()
n_splits <- as.integer(arg_of("splits", "1"))
threads <- as.integer(arg_of("threads", "2"))
library(gbt)

objectives <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax",
                quantile = "quantile")
stopping <- list(nrounds = 2000, early_stopping_rounds = 50, grow_policy = "symmetric", max_depth = 6, eta = 0.05,
                 lambda = 3, colsample_bytree = 0.8)
fixed <- function(eta, subsample) list(nrounds = 100, eta = eta, subsample = subsample)
dart <- function(...) list(boosting = "dart", ...)
tails <- list(tail_rounds_10 = list(tail_rounds = 10), tail_rounds_50 = list(tail_rounds = 50))
few <- c(tails, list(shrink_0.02 = list(model_shrink_rate = 0.02), dart = dart()))
jobs <- list(
  fixed = list(eta_0.3 = list(fixed(0.3, 1), few), eta_0.3_half = list(fixed(0.3, 0.5), few),
               eta_0.1 = list(fixed(0.1, 1), few), eta_0.1_half = list(fixed(0.1, 0.5), few)),
  stopping = list(stopping = list(stopping, c(tails, list(
    shrink_0.02 = list(model_shrink_rate = 0.02),
    decreasing_0.1 = list(model_shrink_rate = 0.1, model_shrink_mode = "decreasing"),
    dart_10 = dart(max_drop = 10), dart_few = dart(rate_drop = 0.005, skip_drop = 0),
    dart_forest = dart(rate_drop = 0.02, max_drop = 10, normalize_type = "forest")
  ))))
)

rows_of <- function(set, rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])

loss_of <- function(set, score, y) {
  if (set$task != "quantile") return(metric_of(set$task, row_loss(set$task, score, y)))
  mean(ifelse(score < y, set$alpha, set$alpha - 1) * (y - score))
}

# The test loss and the seconds of a training; NA where it fails, as on classes that the training rows lack.
run <- function(set, part, split, ways) {
  train <- rows_of(set, part == 0L)
  test <- rows_of(set, part == 2L)
  args <- c(list(train$x, train$y, objective = objectives[[set$task]], offset = train$offset, threads = threads,
                 seed = split, device = "cpu"), ways)
  if (set$task == "quantile") args$quantile_alpha <- set$alpha
  if (!is.null(ways$early_stopping_rounds)) args$valid <- rows_of(set, part == 1L)
  begin <- proc.time()[["elapsed"]]
  model <- tryCatch(do.call(gbt_train, args), gbt_error = function(e) NULL)
  seconds <- proc.time()[["elapsed"]] - begin
  if (is.null(model)) return(c(loss = NA, seconds = NA))
  score <- as.matrix(predict(model, test$x, type = "link", offset = test$offset, threads = threads))
  y <- if (is.factor(test$y)) as.integer(test$y) - 1 else test$y
  c(loss = loss_of(set, if (ncol(score) > 1L) score else score[, 1L], y), seconds = seconds)
}

asked <- function(option, known) {
  wanted <- strsplit(arg_of(option, paste(known, collapse = ",")), ",", fixed = TRUE)[[1]]
  known[known %in% wanted]
}
names <- asked("sets", registry$name)
names <- names[halves_of(registry)[match(names, registry$name)] %in% asked("half", c("choosing", "confirming"))]
wanted <- unlist(unname(jobs[asked("ways", names(jobs))]), recursive = FALSE)
results <- NULL
for (name in names) {
  folder <- ensure_defaults(name, root)
  if (is.null(folder)) next
  set <- readRDS(file.path(folder, "set.rds"))
  if (length(set$y) > as.integer(arg_of("most", "12000"))) next
  for (split in seq_len(min(n_splits, set$n_splits))) {
    part <- read_split(folder, split)
    for (job in names(wanted)) {
      plain <- run(set, part, split, wanted[[job]][[1]])
      for (way in names(wanted[[job]][[2]])) {
        other <- run(set, part, split, c(wanted[[job]][[1]], wanted[[job]][[2]][[way]]))
        results <- rbind(results, data.frame(set = name, job = paste(job, way), plain = plain[["loss"]],
                                             loss = other[["loss"]], base_s = plain[["seconds"]],
                                             s = other[["seconds"]]))
      }
    }
  }
  message(name)
}
for (job in unique(results$job)) {
  its <- results[results$job == job & is.finite(results$loss / results$plain), ]
  change <- tapply(100 * (its$loss / its$plain - 1), its$set, mean)
  cat(sprintf("%-28s %+.2f %% (%.2f), median %+.2f %%, better on %d of %d sets, %.1f times the seconds\n", job,
              mean(change), stats::sd(change) / sqrt(length(change)), stats::median(change), sum(change < 0),
              length(change), sum(its$s) / sum(its$base_s)))
}
