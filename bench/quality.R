# Quality on real data compared with XGBoost (and LightGBM) with matched parameters: 200 rounds, depth 6, eta 0.1,
# lambda 1, 255 bins, min_child_weight 1. One table; see bench/README.md for what is matched and how.
#
#   Rscript bench/quality.R [--sets adult,letter] [--rounds 200] [--threads 2] [--peers-only] [--once]
#
# One run is a throw of dice: a few bins more or less move the metric of either engine by up to one percent on the small
# sets. So every engine also runs with nearby numbers of bins, and the ratio is that of the means. --once leaves it at
# 255 bins.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
rounds <- arg_of("rounds", "200")
threads <- arg_of("threads", "2")
peers_only <- flag_of("peers-only")
if (!have_peers()) stop("no peers in ", venv_folder(), ": run `sh bench/setup.sh` first", call. = FALSE)

bins_for <- function(n_train) {
  if (flag_of("once")) return(255)
  if (n_train < 60000) c(255, 240, 244, 248, 252, 258, 262, 266, 270) else c(255, 248, 262)
}

# What is run on a set. The second word of the label says how unordered factors went in.
runs_of <- function(folder, set, has_factor) {
  common <- c("--rounds", rounds, "--depth", "6", "--threads", threads)
  gbt <- function(types) function(...) run_gbt(root, folder, "--types", types, common, ...)
  peer <- function(engine, ...) {
    how <- c("--engine", engine, ..., common)
    function(...) run_peer(root, folder, how, ...)
  }
  runs <- list(
    "gbt own" = gbt("own"),
    "gbt codes" = if (has_factor) gbt("codes"),
    "xgboost codes" = peer("xgboost"),
    "xgboost native" = if (has_factor) peer("xgboost", "--categorical", "native"),
    "xgboost own max_delta_step" = if (set$task == "poisson") peer("xgboost", "--poisson", "default"),
    "lightgbm codes" = peer("lightgbm"),
    "lightgbm native" = if (has_factor) peer("lightgbm", "--categorical", "native")
  )
  runs <- Filter(Negate(is.null), runs)
  if (peers_only) runs[!startsWith(names(runs), "gbt")] else runs
}

measure <- function(name) {
  folder <- ensure_set(name, root)
  if (is.null(folder)) return(NULL)
  set <- readRDS(file.path(folder, "set.rds"))
  has_factor <- any(vapply(as.list(as.data.frame(set$x)), kind_of, "") == "factor")
  y <- if (is.factor(set$y)) as.integer(set$y) - 1 else set$y
  y <- y[set$test]
  bins <- bins_for(sum(!set$test))
  scores <- tempfile()
  on.exit(unlink(scores))
  runs <- runs_of(folder, set, has_factor)
  results <- lapply(names(runs), function(label) {
    lightgbm <- startsWith(label, "lightgbm") # for orientation only
    lapply(if (lightgbm) 255 else bins, function(b) {
      # gbt rounds gradients at random: another seed each time, as a part of its dice
      out <- runs[[label]]("--scores", scores, "--bins", b, if (startsWith(label, "gbt")) c("--seed", b))
      score <- read_scores(scores, length(y), if (is.factor(set$y)) nlevels(set$y) else 1L)
      out$metric <- metric_of(set$task, row_loss(set$task, score, y))
      out
    })
  })
  names(results) <- names(runs)
  message(name, ": ", paste(names(results), vapply(results, function(r) fixed(r[[1]]$metric, 6), ""), collapse = ", "))
  list(name = name, task = set$task, rows = c(sum(!set$test), sum(set$test)), results = results)
}

verdict <- function(ratio, error) {
  if (ratio <= 1.005) "ok" else if (isTRUE(ratio - 2 * error <= 1.005)) "within noise" else "WORSE"
}
metrics_of <- function(runs) vapply(runs, function(r) r$metric, 0)
seconds_of <- function(runs) stats::median(vapply(runs, function(r) r$convert_s + r$train_s, 0))

# Like with like: factors as factors, and factors as plain numbers (nothing differs but the engine). Of two XGBoost
# runs with the same kind of factors (Poisson, with and without its own max_delta_step) the better one counts.
main_rows <- function(m) {
  at_255 <- vapply(m$results, function(r) r[[1]]$metric, 0)
  kinds <- if ("gbt codes" %in% names(at_255)) c("as factors", "as numbers") else "none"
  do.call(rbind, lapply(kinds, function(kind) {
    ours <- if (kind == "as numbers") "gbt codes" else "gbt own"
    theirs <- if (kind == "as factors") "xgboost native" else c("xgboost codes", "xgboost own max_delta_step")
    theirs <- names(which.min(at_255[intersect(theirs, names(at_255))]))
    a <- metrics_of(m$results[[ours]])
    b <- metrics_of(m$results[[theirs]])
    ratio <- mean(a) / mean(b)
    error <- if (length(a) > 1) sqrt((stats::sd(a) / mean(a))^2 + (stats::sd(b) / mean(b))^2) / sqrt(length(a)) else NA
    data.frame(set = m$name, rows = paste(m$rows, collapse = " / "), metric = metric_name(m$task), factors = kind,
               gbt = fixed(a[1], 6), xgboost = fixed(b[1], 6), `ratio at 255` = fixed(a[1] / b[1], 4),
               runs = length(a), `ratio of means` = fixed(ratio, 4), `standard error` = fixed(error, 4),
               `gbt s` = fixed(seconds_of(m$results[[ours]]), 2),
               `xgboost s` = fixed(seconds_of(m$results[[theirs]]), 2),
               verdict = verdict(ratio, error), check.names = FALSE)
  }))
}

all_rows <- function(m) {
  do.call(rbind, lapply(names(m$results), function(n) {
    runs <- m$results[[n]]
    r <- runs[[1]]
    metric <- metrics_of(runs)
    data.frame(set = m$name, engine = sub(" .*", "", n), factors = sub("^\\S+ ", "", n),
               `metric at 255` = fixed(r$metric, 6), runs = length(runs), mean = fixed(mean(metric), 6),
               sd = fixed(stats::sd(metric), 6), `convert s` = fixed(r$convert_s, 2), `train s` = fixed(r$train_s, 2),
               `predict s` = fixed(r$predict_s, 3), `model MB` = fixed(r$model_bytes / 1e6, 2), check.names = FALSE)
  }))
}

wanted <- strsplit(arg_of("sets", paste(names(sets), collapse = ",")), ",")[[1]]
measured <- Filter(Negate(is.null), lapply(wanted, measure))
if (!length(measured)) stop("no data: set GBT_DATA to the folder with the real data", call. = FALSE)
every_run <- md_table(do.call(rbind, lapply(measured, all_rows)))
if (peers_only) {
  cat(every_run, sep = "\n")
} else {
  write_results(root, "quality", "Quality on real data", c(
    paste0(rounds, " rounds, depth 6, eta 0.1, lambda 1, min_child_weight 1, threads: ", threads, "; lower is better."),
    "",
    md_table(do.call(rbind, lapply(measured, main_rows))), "",
    "`factors`: how unordered factors went into both engines; ordered factors are ranks for XGBoost everywhere. `gbt`,",
    "`xgboost` and the first ratio: 255 bins. The ratio of the means is over runs with 255 and nearby numbers of bins",
    "(240 to 270, each engine the same ones), with its standard error. Verdict by that ratio: `ok` to 1.005, `within",
    "noise` when two standard errors reach below it. Seconds: conversion and training, median of the runs.", "",
    "## Every run", "", every_run
  ))
}
