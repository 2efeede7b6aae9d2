# Prediction by instruction set: processor time of predict() for 100,000 rows, one thread.
#
#   Rscript bench/predict-simd.R [PYTHON]
#
# Four models: trees of depth 8, symmetric trees, best-first trees, trees that split factors by sets. Every set that the
# machine has is run by turns in processes of their own, seven calls each; medians. With PYTHON (with xgboost and
# lightgbm) the peers' models of the same shape predict the same numbers, by turns as well.
sets <- function() {
  out <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(paste(
    "for (s in c('scalar', 'neon', 'avx2', 'avx512', 'avx512vbmi')) {",
    "options(gbt.simd = s); if (!inherits(try(gbt::gbt_info(), silent = TRUE), 'try-error')) cat(s, '')}"))),
    stdout = TRUE, stderr = FALSE)
  strsplit(trimws(paste(out, collapse = " ")), " ")[[1L]]
}

data_of <- function() {
  set.seed(1)
  x <- matrix(stats::rnorm(1e5 * 30), ncol = 30, dimnames = list(NULL, paste0("x", 1:30)))
  y <- x[, 1L] * x[, 2L] + sin(3 * x[, 3L]) + rowSums(x[, 4:20]) * 0.2 + stats::rnorm(nrow(x))
  factors <- data.frame(x[, 1:24], lapply(25:30, function(j) factor(as.integer(pmin(abs(x[, j]) * 40, 99)))))
  list(numbers = x, factors = stats::setNames(factors, colnames(x)), y = y)
}

models <- function(d) {
  train <- function(x, rounds, ...) {
    gbt::gbt_train(x, d$y, nrounds = rounds, eta = 0.1, objective = "squared_error", seed = 1, verbose = 0, ...)
  }
  list(depth_8 = train(d$numbers, 100, grow_policy = "depthwise", max_depth = 8),
       symmetric_6 = train(d$numbers, 300, grow_policy = "symmetric", max_depth = 6),
       leaves_64 = train(d$numbers, 200, grow_policy = "lossguide", max_leaves = 64, max_depth = 0),
       factors_6 = train(d$factors, 100, grow_policy = "depthwise", max_depth = 6, cat_method = "sets"))
}

args <- commandArgs(TRUE)
if (length(args) == 3L && args[1L] == "--one") { # FOLDER SET
  options(gbt.simd = args[3L])
  d <- readRDS(file.path(args[2L], "data.rds"))
  for (file in list.files(args[2L], "[.]gbt$", full.names = TRUE)) {
    model <- gbt::gbt_load(file)
    rows <- if (grepl("factors", file)) d$factors else d$numbers
    p <- stats::predict(model, rows, threads = 1)
    time <- vapply(1:7, function(i) sum(system.time(stats::predict(model, rows, threads = 1))[1:2]), 0)
    cat(sub("[.]gbt$", "", basename(file)), args[3L], stats::median(time), format(sum(p), digits = 17L), "\n")
  }
  quit("no")
}

folder <- tempfile("predict-simd")
dir.create(folder)
d <- data_of()
saveRDS(d, file.path(folder, "data.rds"), compress = FALSE)
for (i in names(m <- models(d))) gbt::gbt_save(m[[i]], file.path(folder, paste0(i, ".gbt")))
writeBin(as.vector(t(d$numbers)), file.path(folder, "x.bin"))
writeBin(d$y, file.path(folder, "y.bin"))

self <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
rows <- character(0L)
for (turn in 1:3) {
  for (set in sets()) {
    rows <- c(rows, system2(file.path(R.home("bin"), "Rscript"), c(self, "--one", folder, set), stdout = TRUE))
  }
  if (length(args) == 1L) {
    rows <- c(rows, system2(args[1L], c(file.path(dirname(self), "predict-simd.py"), folder), stdout = TRUE))
  }
}
t <- utils::read.table(text = rows, col.names = c("model", "by", "seconds", "sum"))
gbt <- !grepl("xgboost|lightgbm", t$by)
stopifnot(tapply(t$sum[gbt], t$model[gbt], function(s) length(unique(s)) == 1L)) # the same bits by every set
print(round(1000 * tapply(t$seconds, list(t$model, t$by), stats::median), 1L)) # milliseconds
