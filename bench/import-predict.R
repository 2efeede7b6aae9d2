# Imported models beside the predictors of their own programs: processor time of one thread for 100,000 rows of 30
# columns, 5 % of them missing, and for one row (by predict() and by gbt_predictor()). 200 rounds on 20,000 rows;
# XGBoost of depth 6, LightGBM of 31 leaves. The raw scores must be the same bits. See
# bench/results/import-predict.md.
#
#   mkdir FOLDER; python3 bench/import-predict.py FOLDER; Rscript bench/import-predict.R FOLDER
suppressPackageStartupMessages(library(gbt))
folder <- commandArgs(TRUE)[1]
peers <- read.csv(file.path(folder, "python.csv"))
x <- matrix(readBin(file.path(folder, "rows.bin"), "double", 3e6), ncol = 30)
seconds <- function(call, times = 7L) {
  call()
  stats::median(vapply(seq_len(times), function(i) {
    used <- system.time(call(), gcFirst = FALSE)
    used[["user.self"]] + used[["sys.self"]]
  }, 0))
}
cat("| model | rows | own predictor | gbt | times as fast |\n| --- | --- | --- | --- | --- |\n")
for (i in seq_len(nrow(peers))) {
  its <- peers[i, ]
  m <- gbt_import(file.path(folder, paste0(its$model, ".", its$end)))
  colnames(x) <- m$feature_names
  one <- x[1, , drop = FALSE]
  saved <- readBin(file.path(folder, sprintf("scores_%s.bin", its$model)), "double", nrow(x))
  same <- identical(unname(predict(m, x, type = "link", threads = 1)), saved)
  if (!same) stop(its$model, ": other raw scores")
  many <- seconds(function() predict(m, x, type = "link", threads = 1))
  single <- seconds(function() for (k in 1:500) predict(m, one, type = "link")) / 500
  prepared <- gbt_predictor(m, type = "link")
  if (!identical(unname(prepared(one)), saved[1])) stop(its$model, ": another score of one row")
  quick <- seconds(function() for (k in 1:2000) prepared(one)) / 2000
  cat(sprintf("| %s | 100,000 | %.3f s | %.3f s | %.1f |\n", its$model, its$many, many, its$many / many))
  cat(sprintf("| | 1 | %.1f us | %.1f us | %.1f |\n", 1e6 * its$one, 1e6 * single, its$one / single))
  cat(sprintf("| | 1, `gbt_predictor()` | %.1f us | %.1f us | %.1f |\n", 1e6 * its$one, 1e6 * quick, its$one / quick))
}
