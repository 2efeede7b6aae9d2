# Responses of several columns: loss on held-out rows and seconds of training, beside XGBoost (both strategies) and
# CatBoost, all with 300 rounds of eta 0.1 and trees of depth 6 on two threads.
#
#   Rscript bench/targets.R DATA PYTHON [SET...]
#
# DATA: folder of the sets; PYTHON: one with xgboost and catboost, or "". Prints a line for each set and model: the root
# of the mean over columns of the squared error over the variance (labels: the mean log loss), and seconds.
# `separate`: a model for each column.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
python <- args[2L]
read <- function(file) utils::read.csv(gzfile(file.path(folder, file)))

# name -> list(x, y, test): a fourth of the rows is held out.
sets <- list(
  turbine = function() {
    d <- read("gas_turbine.csv.gz")
    list(x = d[setdiff(names(d), c("CO", "NOX", "TEY"))], y = as.matrix(d[c("CO", "NOX")]), test = d$year >= 2014)
  },
  sgemm = function() {
    d <- read("sgemm_gpu.csv.gz")
    y <- grep("^Run", names(d), value = TRUE)
    list(x = d[setdiff(names(d), y)], y = log(as.matrix(d[y])), test = seq_len(nrow(d)) %% 4 == 0)
  },
  air = function() {
    d <- read("beijing_air.csv.gz")
    y <- c("PM2.5", "PM10", "SO2", "NO2", "CO", "O3")
    d <- d[stats::complete.cases(d[y]), ]
    x <- d[setdiff(names(d), y)]
    x[] <- lapply(x, function(v) if (is.character(v)) as.integer(factor(v)) else v)
    list(x = x, y = as.matrix(d[y]), test = d$year >= 2016)
  },
  tmc2007 = function() {
    d <- read("tmc2007_500.csv.gz")
    y <- grep("^class", names(d), value = TRUE)
    list(x = d[setdiff(names(d), y)], y = as.matrix(d[y]) > 0.5, test = seq_len(nrow(d)) %% 4 == 0)
  },
  made16 = function() {
    set.seed(1)
    x <- as.data.frame(matrix(stats::rnorm(40000 * 20), 40000))
    hidden <- sin(as.matrix(x) %*% matrix(stats::rnorm(20 * 4), 20) / 2)
    y <- hidden %*% matrix(stats::rnorm(4 * 16), 4) + matrix(stats::rnorm(40000 * 16), 40000) / 2
    list(x = x, y = unname(y), test = seq_len(40000) %% 4 == 0)
  }
)

loss <- function(pred, y, train_y) {
  if (!is.logical(y)) return(sqrt(mean(colMeans((pred - y)^2) / apply(train_y, 2L, stats::var))))
  p <- pmin(pmax(pred, 1e-15), 1 - 1e-15)
  -mean(ifelse(y, log(p), log(1 - p)))
}

settings <- list(nrounds = 300, eta = 0.1, max_depth = 6, grow_policy = "symmetric", threads = 2, seed = 1, verbose = 0)
gbt_ways <- list(
  "gbt one tree each" = function(x, y, new) stats::predict(do.call(gbt_train, c(list(x, y), settings)), new),
  "gbt common trees" = function(x, y, new) {
    stats::predict(do.call(gbt_train, c(list(x, y, multi_strategy = "multi_output_tree"), settings)), new)
  },
  "gbt separate" = function(x, y, new) {
    vapply(seq_len(ncol(y)), function(j) stats::predict(do.call(gbt_train, c(list(x, y[, j]), settings)), new),
           numeric(nrow(new)))
  }
)

peers <- '
import sys, time, numpy as np
folder, kind = sys.argv[1], sys.argv[2]
x, y, new = (np.load(folder + "/" + f + ".npy") for f in ("x", "y", "new"))
def xgb(strategy):
    import xgboost
    data = xgboost.QuantileDMatrix(x, label=y, nthread=2)
    p = dict(objective="binary:logistic" if kind == "labels" else "reg:squarederror", eta=0.1, max_depth=6, nthread=2,
             multi_strategy=strategy, tree_method="hist")
    return xgboost.train(p, data, 300).predict(xgboost.DMatrix(new))
def cat():
    import catboost
    m = catboost.CatBoost(dict(loss_function="MultiLogloss" if kind == "labels" else "MultiRMSE", iterations=300,
                               learning_rate=0.1, depth=6, thread_count=2, verbose=0, allow_writing_files=False))
    m.fit(x, y)
    return m.predict(new, prediction_type="Probability" if kind == "labels" else "RawFormulaVal")
for name, way in (("xgboost one tree each", lambda: xgb("one_output_per_tree")),
                  ("xgboost common trees", lambda: xgb("multi_output_tree")), ("catboost", cat)):
    t0 = time.time()
    p = np.asarray(way(), dtype="f8")
    seconds = time.time() - t0
    p.T.tofile(folder + "/" + name)
    print(name + "|" + str(seconds), flush=True)
'

write_npy <- function(m, file) {
  head <- sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", nrow(m), ncol(m))
  head <- paste0(head, strrep(" ", 63 - (nchar(head) + 10) %% 64), "\n")
  to <- file(file, "wb")
  on.exit(close(to))
  writeBin(c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0)), as.raw(c(nchar(head) %% 256, nchar(head) %/% 256))), to)
  writeBin(charToRaw(head), to)
  writeBin(as.vector(m), to, endian = "little")
}

show <- function(set, name, value, seconds) cat(sprintf("%-8s %-22s %.5f %7.1f s\n", set, name, value, seconds))

run_peers <- function(set, its, train, test, y) {
  folder <- tempfile()
  dir.create(folder)
  write_npy(data.matrix(train), file.path(folder, "x.npy"))
  write_npy(data.matrix(test), file.path(folder, "new.npy"))
  write_npy(its$y[!its$test, ] + 0, file.path(folder, "y.npy"))
  script <- file.path(folder, "peers.py")
  writeLines(peers, script)
  kind <- if (is.logical(its$y)) "labels" else "numbers"
  go <- pipe(sprintf("%s %s %s %s", python, script, folder, kind), "r")
  on.exit(close(go))
  while (length(line <- readLines(go, 1L))) {
    parts <- strsplit(line, "|", fixed = TRUE)[[1L]]
    p <- matrix(readBin(file.path(folder, parts[1L]), "double", length(y)), nrow(y))
    show(set, parts[1L], loss(p, y, its$y[!its$test, ]), as.numeric(parts[2L]))
  }
}

for (set in if (length(args) > 2L) args[-(1:2)] else names(sets)) {
  its <- sets[[set]]()
  train <- its$x[!its$test, ]
  test <- its$x[its$test, ]
  y <- its$y[its$test, , drop = FALSE]
  for (way in names(gbt_ways)) {
    seconds <- system.time(p <- gbt_ways[[way]](train, its$y[!its$test, ], test))[["elapsed"]]
    show(set, way, loss(p, y, its$y[!its$test, ]), seconds)
  }
  if (nzchar(python)) run_peers(set, its, train, test, y)
}
