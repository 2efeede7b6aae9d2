# What a limit on the rounds that gbt_train() searches costs on few rows, if it is a multiple of the rows (and at least
# 100). gbt_cv() makes the log of the search without that limit, each limit takes the best round below it, and a model
# of all training rows of as many rounds is judged on the 30 % of the rows that neither has seen. Sets come with R and
# MASS. Prints a table; see bench/results/defaults-tried.md.
#
#   Rscript bench/few-rows.R [SPLITS] [SET ...]
suppressPackageStartupMessages(library(gbt))
args <- c(commandArgs(trailingOnly = TRUE))
splits <- if (length(args)) as.integer(args[1L]) else 5L
multiples <- c(2, 5, 10, 20)

yes_no <- function(data, name) replace(data, name, list(factor(data[[name]])))
sets <- list(
  "mtcars[1:20, ]" = list(mtcars[1:20, ], "mpg"), mtcars = list(mtcars, "mpg"), trees = list(trees, "Volume"),
  swiss = list(swiss, "Fertility"), cars = list(cars, "dist"), iris = list(iris, "Species"),
  cpus = list(MASS::cpus[2:8], "perf"), birthwt = list(yes_no(MASS::birthwt[-10], "low"), "low"),
  infert = list(yes_no(infert[c(2:6)], "case"), "case"), Boston = list(MASS::Boston, "medv")
)

# The best round below each limit, and the losses on the test part of models of so many rounds.
one_split <- function(data, y, split) {
  set.seed(split)
  held <- sample(nrow(data), round(0.3 * nrow(data)))
  train <- data[-held, ]
  formula <- stats::as.formula(paste(y, "~ ."))
  cv <- suppressWarnings(gbt_cv(formula, train, folds = 5, seed = split, threads = 1, verbose = 0))
  log <- cv$evaluation_log
  loss <- log[[utils::tail(grep("^test_.*_mean$", names(log)), 1L)]]
  limits <- c(Inf, pmax(100, multiples * nrow(train)))
  best <- vapply(limits, function(limit) which.min(utils::head(loss, min(limit, length(loss)))), 0L)
  model <- suppressWarnings(gbt_refit(cv, nrounds = max(best), data = train))
  estimate <- function(rounds) gbt_evaluate(model, data[held, ], trees = rounds, threads = 1)$estimate[1L]
  list(rounds = best, loss = vapply(best, estimate, 0))
}

cat("| set | rows | rounds |", paste0(" ", multiples, " x rows |", collapse = ""), "\n", sep = "")
cat(strrep("| --- ", 3L + length(multiples)), "|\n", sep = "")
for (name in if (length(args) > 1L) args[-1L] else names(sets)) {
  set <- sets[[name]]
  runs <- lapply(seq_len(splits), one_split, data = set[[1L]], y = set[[2L]])
  loss <- rowMeans(vapply(runs, `[[`, numeric(1L + length(multiples)), "loss"))
  rounds <- apply(vapply(runs, `[[`, integer(1L + length(multiples)), "rounds"), 1L, stats::median)
  change <- sprintf(" %+.2f (%.0f) |", 100 * (loss[-1L] / loss[1L] - 1), rounds[-1L])
  cat(sprintf("| %s | %d | %.0f |", name, nrow(set[[1L]]), rounds[1L]), paste(change, collapse = ""), "\n", sep = "")
}
