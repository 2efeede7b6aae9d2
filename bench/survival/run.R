# Survival: held-out concordance and integrated Brier score of gbt's "aft" and of other packages, on real sets.
#
#   Rscript bench/survival/run.R DATA PYTHON [SPLITS] [SET ...] > bench/results/survival.md
#
# DATA: a folder with flchain.rds, smart_cvd.rds and uslapse.rds; five more sets are those of package survival.
# PYTHON: one with xgboost and numpy. Each split halves the rows at random; models are fitted to one half and judged
# on the other.
#
#   gbt        objective "aft" with its defaults, which find the number of rounds; normal and extreme value distribution
#   xgb_aft, xgb_cox   survival:aft (normal, scale 1) and survival:cox: learning rate 0.1, depth 6, early stopping
#              after 50 rounds on a fifth of the training rows, then all of them. Baseline of cox: Breslow's
#   coxph, survreg (lognormal)   main effects; missing numbers are medians and have an indicator
#   ranger     300 trees, the same columns as coxph
#
# Concordance: Harrell's, by survival::concordance(). Brier score: Graf's, weighted by the distribution of censoring of
# the held-out rows; integrated over 50 quantiles of event times up to the 0.9 quantile of times.
library(gbt)
library(survival)
args <- commandArgs(TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
python <- args[2]
n_splits <- if (length(args) > 2L) as.integer(args[3]) else 3L
source(file.path(here, "sets.R"))
sets <- survival_sets(args[1])
if (length(args) > 3L) sets <- sets[args[-(1:3)]]
most_rows <- 8000L

# ---- judging ----

censoring <- function(time, event) { # G(t) and G(t-): censorings come after events of the same time
  at <- sort(unique(time[event == 0]))
  risk <- vapply(at, function(u) sum(time >= u) - sum(time == u & event == 1), 0)
  gone <- vapply(at, function(u) sum(time == u & event == 0), 0)
  g <- cumprod(1 - gone / risk)
  function(t, before = FALSE) c(1, g)[findInterval(t, at, left.open = before) + 1L]
}

judge_times <- function(time, event) {
  quantile(time[event == 1 & time <= quantile(time, 0.9)], (1:50) / 50, type = 1L, names = FALSE)
}

ibs <- function(curves, times, time, event) { # curves: rows x times
  g <- censoring(time, event)
  score <- vapply(seq_along(times), function(j) {
    t <- times[j]
    dead <- time <= t & event == 1
    alive <- time > t
    mean(ifelse(dead, curves[, j]^2 / g(time, TRUE), 0) + ifelse(alive, (1 - curves[, j])^2 / g(t), 0))
  }, 0)
  keep <- !duplicated(times)
  t <- times[keep]
  s <- score[keep]
  sum(diff(t) * (s[-1] + s[-length(s)]) / 2) / (max(t) - min(t))
}

step_curves <- function(risk, base_time, base, times) { # exp(-H0(t) e^s)
  h <- c(0, base)[findInterval(times, base_time) + 1L]
  exp(-outer(exp(risk), h))
}

breslow <- function(time, event, score) {
  at <- sort(unique(time[event == 1]))
  list(time = at, hazard = cumsum(vapply(at, function(t) sum(time == t & event == 1) / sum(exp(score[time >= t])), 0)))
}

# ---- models: a function of (train, test, times) to list(life = larger for longer lives, curves) ----

filled <- function(train, test) {
  for (name in names(train)) {
    v <- train[[name]]
    if (is.factor(v)) {
      fill <- function(w) {
        w <- as.character(w)
        w[is.na(w) | !w %in% as.character(v)] <- "none"
        factor(w, unique(c(levels(droplevels(v)), "none")))
      }
      train[[name]] <- droplevels(fill(v))
      test[[name]] <- factor(as.character(fill(test[[name]])), levels(train[[name]]))
      test[[name]][is.na(test[[name]])] <- names(which.max(table(train[[name]])))
    } else {
      middle <- median(v, na.rm = TRUE)
      if (anyNA(v)) {
        train[[paste0(name, "_none")]] <- as.numeric(is.na(v))
        test[[paste0(name, "_none")]] <- as.numeric(is.na(test[[name]]))
      }
      train[[name]] <- as.double(ifelse(is.na(v), middle, v))
      test[[name]] <- as.double(ifelse(is.na(test[[name]]), middle, test[[name]]))
    }
  }
  several <- vapply(train, function(v) length(unique(v)) > 1L, NA)
  list(train = train[several], test = test[several])
}

gbt_aft <- function(dist) function(train, test, times) {
  m <- gbt_train(train$x, Surv(train$time, train$event), objective = "aft", aft_dist = dist, seed = 1, threads = 2)
  list(life = predict(m, test$x, type = "link"), curves = predict(m, test$x, type = "survival", times = times))
}

run_xgb <- function(train, test, objective) {
  numbers <- function(d) {
    vapply(d, function(v) as.double(if (is.factor(v)) as.integer(v) else v), double(nrow(d)))
  }
  folder <- tempfile("xgb")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  write <- function(d, name) write.table(d, file.path(folder, name), sep = ",", row.names = FALSE, col.names = FALSE,
                                         na = "nan")
  write(numbers(train$x), "train.csv")
  write(numbers(test$x), "test.csv")
  write(cbind(train$time, train$event), "y.csv")
  if (system2(python, c(file.path(here, "xgb.py"), folder, objective)) != 0) stop("xgboost")
  list(train = scan(file.path(folder, "train.out"), quiet = TRUE),
       test = scan(file.path(folder, "test.out"), quiet = TRUE))
}

models <- list(
  gbt_normal = gbt_aft("normal"),
  gbt_extreme = gbt_aft("extreme"),
  xgb_aft = function(train, test, times) {
    s <- run_xgb(train, test, "survival:aft")$test
    list(life = s, curves = vapply(times, function(t) pnorm(log(t) - s, lower.tail = FALSE), s))
  },
  xgb_cox = function(train, test, times) {
    s <- run_xgb(train, test, "survival:cox")
    base <- breslow(train$time, train$event, s$train)
    list(life = -s$test, curves = step_curves(s$test, base$time, base$hazard, times))
  },
  coxph = function(train, test, times) {
    x <- filled(train$x, test$x)
    d <- cbind(x$train, .time = train$time, .event = train$event)
    m <- suppressWarnings(coxph(Surv(.time, .event) ~ ., d))
    b <- ifelse(is.na(coef(m)), 0, coef(m))
    design <- function(x) model.matrix(~ ., x)[, -1, drop = FALSE]
    s <- list(train = drop(design(x$train) %*% b), test = drop(design(x$test) %*% b))
    middle <- mean(s$train)
    base <- breslow(train$time, train$event, s$train - middle)
    list(life = -s$test, curves = step_curves(s$test - middle, base$time, base$hazard, times))
  },
  survreg = function(train, test, times) {
    x <- filled(train$x, test$x)
    d <- cbind(x$train, .time = train$time, .event = train$event)
    m <- suppressWarnings(survreg(Surv(.time, .event) ~ ., d, dist = "lognormal"))
    b <- ifelse(is.na(coef(m)), 0, coef(m))
    s <- drop(model.matrix(~ ., x$test) %*% b)
    list(life = s, curves = vapply(times, function(t) pnorm((log(t) - s) / m$scale, lower.tail = FALSE), s))
  },
  ranger = function(train, test, times) {
    x <- filled(train$x, test$x)
    d <- cbind(x$train, .time = train$time, .event = train$event)
    m <- ranger::ranger(Surv(.time, .event) ~ ., d, num.trees = 300, num.threads = 2, seed = 1, verbose = FALSE)
    p <- predict(m, x$test, num.threads = 2, verbose = FALSE)
    curves <- cbind(1, p$survival)[, findInterval(times, p$unique.death.times) + 1L, drop = FALSE]
    list(life = -rowSums(p$chf), curves = curves)
  }
)

# ---- the run ----

part <- function(s, rows) list(time = s$time[rows], event = s$event[rows], x = droplevels(s$x[rows, , drop = FALSE]))
results <- NULL
for (set in names(sets)) {
  for (split in seq_len(n_splits)) {
    s <- sets[[set]]
    n <- length(s$time)
    set.seed(split)
    all <- sample(n, min(n, most_rows))
    train <- part(s, all[seq_along(all) %% 2 == 1])
    test <- part(s, all[seq_along(all) %% 2 == 0])
    for (name in names(train$x)) { # levels of the set, so that numbers of levels mean the same
      if (is.factor(s$x[[name]])) {
        train$x[[name]] <- factor(train$x[[name]], levels(s$x[[name]]))
        test$x[[name]] <- factor(test$x[[name]], levels(s$x[[name]]))
      }
    }
    times <- judge_times(test$time, test$event)
    for (model in names(models)) {
      seconds <- system.time(out <- try(suppressMessages(suppressWarnings(models[[model]](train, test, times)))))[[3]]
      if (inherits(out, "try-error")) next
      results <- rbind(results, data.frame(
        set = set, split = split, model = model, rows = length(train$time), seconds = seconds,
        c = concordance(Surv(test$time, test$event) ~ out$life)$concordance,
        ibs = ibs(out$curves, times, test$time, test$event)))
      message(sprintf("%s %d %s C %.4f IBS %.4f %.1f s", set, split, model, tail(results$c, 1), tail(results$ibs, 1),
                      seconds))
    }
  }
}
table_of <- function(what, digits) {
  m <- tapply(results[[what]], list(results$set, factor(results$model, names(models))), mean)
  e <- tapply(results[[what]], list(results$set, factor(results$model, names(models))), sd) / sqrt(n_splits)
  cat("| set |", paste(colnames(m), collapse = " | "), "|\n|---|", strrep("---|", ncol(m)), "\n", sep = "")
  for (i in rownames(m)) {
    cat("|", i, "|", paste(sprintf("%.*f (%.*f)", digits, m[i, ], digits, e[i, ]), collapse = " | "), "|\n")
  }
  cat("\n")
}
cat("# Survival\n\nWritten by `Rscript bench/survival/run.R` on ", format(Sys.Date()), ": gbt ",
    format(packageVersion("gbt")), ", survival ", format(packageVersion("survival")), ", ranger ",
    format(packageVersion("ranger")), ", XGBoost ",
    system2(python, c("-c", shQuote("import xgboost; print(xgboost.__version__)")), stdout = TRUE), ". Means over ",
    n_splits, " splits into halves of at most ", most_rows, " rows, with their standard errors; ",
    "bench/survival/run.R says what each model is.\n\n", sep = "")
cat("## Concordance (larger is better)\n\n")
table_of("c", 4L)
cat("## Integrated Brier score (smaller is better)\n\n")
table_of("ibs", 4L)
saveRDS(results, file.path(tempdir(), "survival.rds"))
