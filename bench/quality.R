# Quality on real data beside XGBoost (and LightGBM) with matched parameters: 200 rounds, depth 6, eta 0.1, lambda 1,
# 255 bins, min_child_weight 1. One table; see bench/README.md for what is matched and how.
#
#   Rscript bench/quality.R [--sets adult,letter] [--rounds 200] [--peers-only]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
rounds <- arg_of("rounds", "200")
peers_only <- flag_of("peers-only")
if (!have_peers()) stop("no peers in ", venv_folder(), ": run `sh bench/setup.sh` first", call. = FALSE)

# What is run on a set. The last word of the label says how unordered factors went in.
runs_of <- function(folder, set, has_factor) {
  common <- c("--rounds", rounds, "--depth", "6", "--threads", "2")
  gbt <- function(types) function(scores) run_gbt(root, folder, "--types", types, common, "--scores", scores)
  peer <- function(engine, ...) {
    function(scores) run_peer(root, folder, "--engine", engine, ..., common, "--scores", scores)
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
  scores <- tempfile()
  on.exit(unlink(scores))
  results <- lapply(runs_of(folder, set, has_factor), function(run) {
    out <- run(scores)
    out$loss <- row_loss(set$task, read_scores(scores, length(y), if (is.factor(set$y)) nlevels(set$y) else 1L), y)
    out$metric <- metric_of(set$task, out$loss)
    out
  })
  message(name, ": ", paste(names(results), vapply(results, function(r) fixed(r$metric, 6), ""), collapse = ", "))
  list(name = name, task = set$task, rows = c(sum(!set$test), sum(set$test)), results = results)
}

# Like beside like: factors as factors, and factors as plain numbers (nothing differs but the engine). Of two XGBoost
# runs with the same kind of factors (Poisson, with and without its own max_delta_step) the better one counts.
main_rows <- function(m) {
  metric <- vapply(m$results, function(r) r$metric, 0)
  kinds <- if ("gbt codes" %in% names(metric)) c("as factors", "as numbers") else "none"
  do.call(rbind, lapply(kinds, function(kind) {
    ours <- if (kind == "as numbers") "gbt codes" else "gbt own"
    theirs <- if (kind == "as factors") "xgboost native" else c("xgboost codes", "xgboost own max_delta_step")
    theirs <- names(which.min(metric[intersect(theirs, names(metric))]))
    interval <- ratio_interval(m$task, m$results[[ours]]$loss, m$results[[theirs]]$loss)
    ratio <- metric[[ours]] / metric[[theirs]]
    seconds <- function(name) fixed(m$results[[name]]$convert_s + m$results[[name]]$train_s, 2)
    data.frame(set = m$name, rows = paste(m$rows, collapse = " / "), metric = metric_name(m$task), factors = kind,
               gbt = fixed(metric[[ours]], 6), xgboost = fixed(metric[[theirs]], 6), ratio = fixed(ratio, 4),
               `95 % interval` = paste(fixed(interval, 4), collapse = " to "), `gbt s` = seconds(ours),
               `xgboost s` = seconds(theirs), check.names = FALSE,
               verdict = if (ratio <= 1.005) "ok" else if (interval[1] <= 1.005) "within noise" else "WORSE")
  }))
}

all_rows <- function(m) {
  do.call(rbind, lapply(names(m$results), function(n) {
    r <- m$results[[n]]
    data.frame(set = m$name, engine = sub(" .*", "", n), factors = sub("^\\S+ ", "", n), metric = fixed(r$metric, 6),
               `convert s` = fixed(r$convert_s, 2), `train s` = fixed(r$train_s, 2),
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
    paste(rounds, "rounds, depth 6, eta 0.1, lambda 1, 255 bins, min_child_weight 1, two threads; lower is better"), "",
    md_table(do.call(rbind, lapply(measured, main_rows))), "",
    "`factors`: how unordered factors went into both engines; ordered factors are ranks for XGBoost everywhere.",
    "`ratio`: gbt over XGBoost; its interval by drawing test rows with replacement. Verdict: `ok` to 1.005, `within",
    "noise` when the interval reaches below that. Seconds are conversion and training.", "",
    "## Every run", "", every_run
  ))
}
