# Survival: held-out concordance and integrated Brier score of gbt and of other packages, on real sets.
#
#   Rscript bench/survival/run.R --data=FOLDER --python=PYTHON [--survset=FOLDER] [--splits=5] [--from=1] \
#           [--rows=4000] [--sets=A,B] [--models=A,B] [--out=FILE.csv]
#   Rscript bench/survival/report.R FILE.csv    # the tables of bench/results/survival.md
#
# data: a folder with flchain.rds, smart_cvd.rds and uslapse.rds; six more sets are those of package survival. survset:
# the folder of survset.py. python: one with xgboost, catboost, pandas. Each split halves the rows at random (so
# many at most); models are fitted to one half and judged on the other. Results are added to FILE.csv, which says what
# is done already.
#
#   gbt        default for Surv(), objective "cox"; the number of rounds is found
#   gbt_before the same with the penalty and the depth of other objectives; only where it is named
#   gbt_aft, gbt_weibull   objective "aft" with its defaults; normal and extreme value distribution
#   xgb_cox, xgb_aft   survival:cox and survival:aft (normal, scale 1): learning rate 0.1, depth 6, early stopping
#              after 50 rounds on a fifth of the training rows, then all of them. Baseline of cox: Breslow's
#   cat_cox, cat_aft   CatBoost's Cox and SurvivalAft with its defaults, rounds and baseline in the same way
#   coxph, survreg (lognormal)   main effects; missing numbers are medians and have an indicator
#   ranger     300 trees, the same columns as coxph; times in 200 groups of equal size where there are more
#
# Concordance: Harrell's, by survival::concordance(). Brier score: Graf's, weighted by the distribution of censoring of
# the held-out rows; integrated over 50 quantiles of event times up to the 0.9 quantile of times.
library(gbt)
library(survival)
given <- commandArgs(trailingOnly = TRUE)
option <- function(name, default = NULL) {
  at <- grep(paste0("^--", name, "="), given, value = TRUE)
  if (length(at)) sub("^[^=]*=", "", at[1L]) else default
}
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
python <- option("python", "python3")
splits <- seq(as.integer(option("from", "1")), as.integer(option("splits", "5")))
out <- option("out", "survival.csv")
for (file in c("sets.R", "judge.R", "models.R")) source(file.path(here, file))
sets <- survival_sets(option("data"), option("survset"))
wanted <- function(all, option) if (is.null(option)) all else all[intersect(strsplit(option, ",")[[1L]], names(all))]
sets <- wanted(sets, option("sets"))
models <- wanted(models, option("models", paste(setdiff(names(models), "gbt_before"), collapse = ",")))
most_rows <- as.integer(option("rows", "4000"))

part <- function(s, rows) list(time = s$time[rows], event = s$event[rows], x = s$x[rows, , drop = FALSE])
done <- if (file.exists(out)) utils::read.csv(out) else NULL
keys <- paste(done$set, done$split, done$model)
for (split in splits) {
  for (set in names(sets)) {
    s <- sets[[set]]
    n <- length(s$time)
    set.seed(split)
    all <- sample(n, min(n, most_rows))
    train <- part(s, all[seq_along(all) %% 2 == 1])
    test <- part(s, all[seq_along(all) %% 2 == 0])
    times <- judge_times(test$time, test$event)
    for (model in names(models)) {
      if (paste(set, split, model) %in% keys) next
      seconds <- system.time({
        it <- try(suppressMessages(suppressWarnings(models[[model]](train, test, times))), silent = TRUE)
      })[[3L]]
      if (inherits(it, "try-error")) message(set, " ", model, ": ", it)
      failed <- inherits(it, "try-error") || anyNA(it$life) || anyNA(it$curves)
      row <- data.frame(
        set = set, split = split, model = model, rows = length(train$time), events = sum(train$event),
        seconds = seconds,
        c = if (failed) NA else concordance(Surv(test$time, test$event) ~ it$life)$concordance,
        ibs = if (failed) NA else ibs(it$curves, times, test$time, test$event))
      utils::write.table(row, out, sep = ",", row.names = FALSE, col.names = !file.exists(out), append = TRUE)
    }
  }
}
