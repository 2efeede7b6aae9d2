# Time to train, conversion included, beside XGBoost and LightGBM: 1,000,000 x 28, depth 8, 100 rounds, 2 threads. Every
# run is a process of its own; engines take turns; medians of the repeats.
#
#   Rscript bench/speed.R [--repeats 3] [--rounds 100] [--only alone|busy]
#
# Then the same beside another busy process with two threads, and a small set (california_housing, when it is there), on
# which barriers that spin suffer most.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
repeats <- as.integer(arg_of("repeats", "3"))
rounds <- arg_of("rounds", "100")
only <- arg_of("only", "")
if (!have_peers()) stop("no peers in ", venv_folder(), ": run `sh bench/setup.sh` first", call. = FALSE)

# Two loops that never wait, as another user's job would be. They end with this script, or else after an hour.
with_busy <- function(expr) {
  loop <- "timeout 3600 sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!"
  pids <- vapply(1:2, function(i) system(loop, intern = TRUE), "")
  on.exit(tools::pskill(as.integer(pids), tools::SIGTERM))
  expr
}

runs_on <- function(folder, depth, rounds) {
  common <- c("--depth", depth, "--rounds", rounds, "--threads", "2", "--no-test")
  total <- function(out) c(out, list(total_s = out$convert_s + out$train_s))
  peer <- function(...) function() total(run_peer(root, folder, ..., common))
  list(
    gbt = function() total(run_gbt(root, folder, "--types", "codes", common)),
    "xgboost DMatrix, R's layout" = peer("--engine", "xgboost"),
    "xgboost DMatrix, float32 rows" = peer("--engine", "xgboost", "--layout", "rows32"),
    "xgboost QuantileDMatrix, float32 rows" = peer("--engine", "xgboost", "--layout", "rows32", "--data", "quantile"),
    lightgbm = peer("--engine", "lightgbm")
  )
}

speed_table <- function(results) {
  gbt <- median_of(results$gbt, "total_s")
  do.call(rbind, lapply(names(results), function(name) {
    r <- results[[name]]
    data.frame(engine = name, version = as.character(r[[1]]$version), runs = length(r),
               `convert s` = if (name == "gbt") "in train" else fixed(median_of(r, "convert_s"), 2),
               `train s` = fixed(median_of(r, "train_s"), 2), `total s (range)` = range_of(r, "total_s"),
               `times gbt` = fixed(median_of(r, "total_s") / gbt, 2), check.names = FALSE)
  }))
}

busy_table <- function(alone, busy) {
  do.call(rbind, lapply(names(busy), function(name) {
    data.frame(engine = name, `alone s` = range_of(alone[[name]], "total_s"),
               `beside a busy process s` = range_of(busy[[name]], "total_s"),
               slowdown = fixed(median_of(busy[[name]], "total_s") / median_of(alone[[name]], "total_s"), 2),
               check.names = FALSE)
  }))
}

made <- ensure_set("made", root)
small <- ensure_set("california_housing", root)
first_two <- function(runs) runs[c("gbt", "xgboost DMatrix, float32 rows", "lightgbm")]

alone <- alternate(if (only == "busy") first_two(runs_on(made, "8", rounds)) else runs_on(made, "8", rounds), repeats)
lines <- c(paste0("1,000,000 x 28 doubles, depth 8, ", rounds, " rounds, 2 threads, data conversion included."), "",
           md_table(speed_table(alone)), "")
if (only != "alone") {
  busy <- with_busy(alternate(first_two(runs_on(made, "8", rounds)), repeats))
  lines <- c(lines, "## Beside another busy process of two threads", "", "The same set:", "",
             md_table(busy_table(alone, busy)), "")
  if (!is.null(small)) {
    small_alone <- alternate(first_two(runs_on(small, "6", "100")), repeats)
    small_busy <- with_busy(alternate(first_two(runs_on(small, "6", "100")), repeats))
    lines <- c(lines, "california_housing (15,479 x 8, depth 6, 100 rounds):", "",
               md_table(busy_table(small_alone, small_busy)), "")
  }
}
write_results(root, "speed", "Speed", lines)
