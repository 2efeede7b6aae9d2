# Linear leaves: loss on held-out rows of gbt and LightGBM, each with constant and with linear leaves, on the regression
# sets of defaults-table.R.
#
#   GBT_DATA=DATA Rscript bench/linear-leaves.R PYTHON [--sets a,b] [--splits 2] [--cap 20000]
#
# PYTHON: one with lightgbm. All have trees of 31 leaves, eta 0.1, up to 1000 rounds, early stopping after 30 rounds by
# the validation part, one thread. --cap: at most so many rows of a set. Prints a line of markdown for each set: means
# over splits of the test part's root mean squared error, and of the seconds of gbt; then a summary.

options(warn = 1)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
for (file in c("common", "data", "categorical-sets", "defaults-table", "defaults-made", "defaults-sets")) {
  source(file.path(here, paste0(file, ".R")))
}
library(gbt)
root <- bench_root()
python <- commandArgs(TRUE)[1L]
cap <- as.integer(arg_of("cap", "20000"))
n_splits <- as.integer(arg_of("splits", "2"))

peer <- '
import sys, numpy as np, lightgbm as lgb
folder, n, p, linear = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "linear"
m = np.fromfile(folder + "/all", "f8").reshape(p, n).T
part = np.fromfile(folder + "/part", "f8")
levels = np.fromfile(folder + "/levels", "f8")
x, y = m[:, :-1], m[:, -1]
cat = [int(i) for i in np.flatnonzero(levels > 0)]
par = dict(objective="regression", metric="rmse", num_leaves=31, learning_rate=.1, verbosity=-1, num_threads=1, seed=1,
           linear_tree=linear)
train = lgb.Dataset(x[part == 0], y[part == 0], categorical_feature=cat, params=par)
valid = lgb.Dataset(x[part == 1], y[part == 1], reference=train, params=par)
m = lgb.train(par, train, 1000, [valid], callbacks=[lgb.early_stopping(30, verbose=False)])
pred = m.predict(x[part == 2], num_iteration=m.best_iteration)
print("rmse", np.sqrt(np.mean((pred - y[part == 2]) ** 2)))
'
script <- tempfile(fileext = ".py")
writeLines(peer, script)

by_lightgbm <- function(x, y, part, leaves) {
  folder <- tempfile()
  dir.create(folder)
  write <- function(name, values) writeBin(as.double(values), file.path(folder, name))
  write("all", c(unlist(lapply(x, function(v) as.double(if (is.factor(v)) as.integer(v) else v))), y))
  write("part", part)
  write("levels", vapply(x, function(v) if (is.factor(v) && !is.ordered(v)) nlevels(v) else 0L, 0L))
  run_keys(python, c(script, folder, length(y), ncol(x) + 1L, leaves))$rmse
}

by_gbt <- function(x, y, part, leaves) {
  seconds <- system.time({
    m <- gbt_train(x[part == 0, ], y[part == 0], valid = list(x = x[part == 1, ], y = y[part == 1]), nrounds = 1000,
                   eta = 0.1, early_stopping_rounds = 30, grow_policy = "lossguide", max_leaves = 31, max_depth = 0,
                   lambda = 1, min_child_weight = 1, min_data_in_leaf = 20, subsample = 1, colsample_bytree = 1,
                   leaf_model = leaves, threads = 1, seed = 1, verbose = 0)
  })[["elapsed"]]
  c(sqrt(mean((stats::predict(m, x[part == 2, ]) - y[part == 2])^2)), seconds)
}

# Not by the seeds of the splits, which would draw the rows of one part.
drawn_rows <- function(n) {
  set.seed(1000, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  if (n > cap) sort(sample.int(n, cap)) else seq_len(n)
}

cat("| set | rows | gbt constant | gbt linear | LightGBM constant | LightGBM linear | seconds constant | linear |\n")
cat("|---|---|---|---|---|---|---|---|\n")
better <- c(gbt = 0, lightgbm = 0, both = 0, sets = 0)
for (name in intersect(sets_wanted(), registry$name[registry$task == "regression"])) {
  folder <- ensure_defaults(name, root)
  if (is.null(folder)) next
  set <- readRDS(file.path(folder, "set.rds"))
  if (!is.null(set$offset) || length(set$y) < least_rows) next
  rows <- drawn_rows(length(set$y))
  x <- set$x[rows, , drop = FALSE]
  out <- rowMeans(vapply(seq_len(min(n_splits, set$n_splits)), function(split) {
    part <- read_split(folder, split)[rows]
    c(by_gbt(x, set$y[rows], part, "constant"), by_gbt(x, set$y[rows], part, "linear"),
      by_lightgbm(x, set$y[rows], part, "constant"), by_lightgbm(x, set$y[rows], part, "linear"))
  }, numeric(6)))
  out <- out[c(1, 3, 5, 6, 2, 4)]
  losses <- paste(signif(out[1:4], 5), collapse = " | ")
  cat(sprintf("| %s | %d | %s | %.1f | %.1f |\n", name, length(rows), losses, out[5], out[6]))
  better <- better + c(out[2] < out[1], out[4] < out[3], out[2] < out[1] && out[4] < out[3], 1)
}
cat(sprintf("\nLinear leaves are better on %d of %d sets in gbt, on %d in LightGBM; on %d of these %d in gbt.\n",
            better[["gbt"]], better[["sets"]], better[["lightgbm"]], better[["both"]], better[["lightgbm"]]))
