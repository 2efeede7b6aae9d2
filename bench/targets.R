# Responses of several columns: loss on held-out rows and seconds of the processor, beside XGBoost (both strategies) and
# CatBoost, all with 100 rounds of eta 0.1 and trees of depth 6, on one thread. gbt: symmetric and depthwise trees, one
# for each column or common ones.
#
#   Rscript bench/targets.R DATA PYTHON [SET...]
#
# DATA: folder of the sets; PYTHON: one with xgboost and catboost, or "". Two draws of the rows of each set: to 10,000
# to train and 5,000 to judge. Prints a line for each set, draw and model: the root of the mean over columns of the
# squared error over the variance (labels: the mean log loss), and seconds. Where no SET is named, it writes the page
# bench/results/targets.md. `separate`: a model for each column. Of the growth of common trees the sets named in
# `choosing` choose the better one, the others say whether that was right.

options(warn = 1)
library(gbt)
args <- commandArgs(TRUE)
folder <- args[1L]
python <- args[2L]
rounds <- 100
draws <- 1:2
most <- c(train = 10000, test = 5000)
choosing <- c("turbine", "air", "flights")
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "targets-sets.R"))
sets <- targets_sets

loss <- function(pred, y, train_y) {
  if (!is.logical(y)) return(sqrt(mean(colMeans((pred - y)^2) / apply(train_y, 2L, stats::var))))
  p <- pmin(pmax(pred, 1e-15), 1 - 1e-15)
  -mean(ifelse(y, log(p), log(1 - p)))
}

settings <- list(nrounds = rounds, eta = 0.1, max_depth = 6, threads = 1, seed = 1, verbose = 0)
train <- function(x, y, ...) do.call(gbt_train, c(list(x, y, ...), settings))
ways_of <- function(policy) {
  ways <- list(
    "one tree each" = function(x, y, new) stats::predict(train(x, y, grow_policy = policy), new),
    "common trees" = function(x, y, new) {
      stats::predict(train(x, y, grow_policy = policy, multi_strategy = "multi_output_tree"), new)
    },
    separate = function(x, y, new) {
      vapply(seq_len(ncol(y)), function(j) stats::predict(train(x, y[, j], grow_policy = policy), new),
             numeric(nrow(new)))
    }
  )
  stats::setNames(ways, paste0("gbt ", policy, ", ", names(ways)))
}
policies <- c("symmetric", "depthwise")
gbt_ways <- do.call(c, lapply(policies, ways_of))

peers <- '
import sys, time, numpy as np
folder, kind, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
x, y, new = (np.load(folder + "/" + f + ".npy") for f in ("x", "y", "new"))
def xgb(strategy):
    import xgboost
    data = xgboost.QuantileDMatrix(x, label=y, nthread=1)
    p = dict(objective="binary:logistic" if kind == "labels" else "reg:squarederror", eta=0.1, max_depth=6, nthread=1,
             multi_strategy=strategy, tree_method="hist")
    return xgboost.train(p, data, rounds).predict(xgboost.DMatrix(new, nthread=1))
def cat():
    import catboost
    m = catboost.CatBoost(dict(loss_function="MultiLogloss" if kind == "labels" else "MultiRMSE", iterations=rounds,
                               learning_rate=0.1, depth=6, thread_count=1, verbose=0, allow_writing_files=False))
    m.fit(x, y)
    return m.predict(new, thread_count=1,
                     prediction_type="Probability" if kind == "labels" else "RawFormulaVal")
for name, way in (("xgboost one tree each", lambda: xgb("one_output_per_tree")),
                  ("xgboost common trees", lambda: xgb("multi_output_tree")), ("catboost", cat)):
    t0 = time.process_time()
    p = np.asarray(way(), dtype="f8")
    seconds = time.process_time() - t0
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
  writeBin(as.double(m), to, endian = "little")
}

results <- NULL
keep <- function(set, draw, name, value, seconds) {
  cat(sprintf("%-8s %d %-28s %.5f %7.1f s\n", set, draw, name, value, seconds))
  results <<- rbind(results, data.frame(set, draw, name, value, seconds))
}

run_peers <- function(set, draw, its) {
  folder <- tempfile()
  dir.create(folder)
  write_npy(data.matrix(its$x), file.path(folder, "x.npy"))
  write_npy(data.matrix(its$new), file.path(folder, "new.npy"))
  write_npy(its$y + 0, file.path(folder, "y.npy"))
  script <- file.path(folder, "peers.py")
  writeLines(peers, script)
  kind <- if (is.logical(its$y)) "labels" else "numbers"
  go <- pipe(sprintf("%s %s %s %s %d", python, script, folder, kind, rounds), "r")
  on.exit(close(go))
  while (length(line <- readLines(go, 1L))) {
    parts <- strsplit(line, "|", fixed = TRUE)[[1L]]
    p <- matrix(readBin(file.path(folder, parts[1L]), "double", length(its$truth)), nrow(its$truth))
    keep(set, draw, parts[1L], loss(p, its$truth, its$y), as.numeric(parts[2L]))
  }
}

# list(x, y, new, truth): rows of a draw.
drawn <- function(its, draw) {
  set.seed(draw)
  some <- function(rows, n) sort(rows[sample.int(length(rows), min(n, length(rows)))])
  train <- some(which(!its$test), most[["train"]])
  test <- some(which(its$test), most[["test"]])
  list(x = its$x[train, ], y = its$y[train, , drop = FALSE], new = its$x[test, ], truth = its$y[test, , drop = FALSE])
}

run_set <- function(set) {
  all <- sets[[set]]()
  for (draw in draws) {
    its <- drawn(all, draw)
    for (way in names(gbt_ways)) {
      time <- system.time(p <- gbt_ways[[way]](its$x, its$y, its$new))
      keep(set, draw, way, loss(p, its$truth, its$y), sum(time[1:2]))
    }
    if (nzchar(python)) run_peers(set, draw, its)
  }
  ncol(all$y)
}

# ---- the page ----

page <- function(columns) {
  at <- unique(results[c("set", "name")])
  of <- function(set, name, what) results[[what]][results$set == set & results$name == name]
  at$loss <- mapply(function(s, n) stats::median(of(s, n, "value")), at$set, at$name)
  at$seconds <- mapply(function(s, n) stats::median(of(s, n, "seconds")), at$set, at$name)
  by_set <- lapply(unique(at$set), function(set) {
    its <- at[at$set == set, ]
    ours <- startsWith(its$name, "gbt")
    best <- function(which) its[which, ][which.min(its$loss[which]), ]
    of <- function(policy, way, what) its[[what]][its$name == paste0("gbt ", policy, ", ", way)]
    time <- function(policy) of(policy, "common trees", "seconds") / of(policy, "separate", "seconds")
    data.frame(set = set, columns = columns[[set]], ours = best(ours)$name, theirs = best(!ours)$name,
               ratio = best(ours)$loss / best(!ours)$loss,
               growth = of("depthwise", "common trees", "loss") / of("symmetric", "common trees", "loss"),
               common = of("depthwise", "common trees", "loss") / best(!ours)$loss,
               symmetric = time("symmetric"), depthwise = time("depthwise"))
  })
  by_set <- do.call(rbind, by_set)
  first <- by_set$set %in% choosing
  better <- function(which) sprintf("%d of %d", sum(by_set$growth[which] < 1), sum(which))
  version <- function(module) {
    system2(python, c("-c", shQuote(sprintf("import %s; print(%s.__version__)", module, module))), stdout = TRUE)
  }
  c("# Several targets", "",
    sprintf("Made by `Rscript bench/targets.R DATA PYTHON` on %s, with gbt %s, XGBoost %s and CatBoost %s.", Sys.Date(),
            utils::packageVersion("gbt"), version("xgboost"), version("catboost")),
    sprintf("%d rounds of eta 0.1, depth 6, one thread. Medians of %d draws of up to %s rows to train and %s to judge.",
            rounds, length(draws), format(most[["train"]], big.mark = ","), format(most[["test"]], big.mark = ",")),
    "Loss: the root of the mean over columns of the squared error over the variance; of labels (tmc2007) the mean log",
    "loss. Seconds are of the processor; other work may have shared the machine, which makes them longer, not fewer.",
    "made16 has made data. Trees of CatBoost are symmetric, those of XGBoost are not.", "",
    sprintf("In short: the best of gbt has %.3f to %.3f of the loss of the best peer (median %.3f). Common trees that",
            min(by_set$ratio), max(by_set$ratio), stats::median(by_set$ratio)),
    sprintf("grow depthwise are better than symmetric ones on %s choosing sets (%s) and on %s others.", better(first),
            paste(choosing, collapse = ", "), better(!first)),
    sprintf("They take %.2f to %.2f of the time of a depthwise model for each column, symmetric ones %.2f to %.2f.",
            min(by_set$depthwise), max(by_set$depthwise), min(by_set$symmetric), max(by_set$symmetric)), "",
    "Loss by the best peer's: of the best way of gbt, and of common depthwise trees. Time: of common trees by that of",
    "separate models of the same growth.", "",
    paste("| set | columns | best of gbt | best peer | loss | loss, common depthwise |",
          "common: depthwise by symmetric | time, symmetric | time, depthwise |"),
    "|---|---|---|---|---|---|---|---|---|",
    sprintf("| %s | %d | %s | %s | %.4f | %.4f | %.4f | %.2f | %.2f |", by_set$set, by_set$columns, by_set$ours,
            by_set$theirs, by_set$ratio, by_set$common, by_set$growth, by_set$symmetric, by_set$depthwise), "",
    "| set | model | loss | seconds |", "|---|---|---|---|",
    sprintf("| %s | %s | %.5f | %.1f |", at$set, at$name, at$loss, at$seconds))
}

invisible(gbt_train(mtcars[-1], mtcars$mpg, nrounds = 2, threads = 1, verbose = 0)) # loads what a first call loads
chosen <- if (length(args) > 2L) args[-(1:2)] else names(sets)
columns <- lapply(stats::setNames(nm = chosen), run_set)
if (length(args) == 2L && nzchar(python)) writeLines(page(columns), file.path("bench", "results", "targets.md"))
