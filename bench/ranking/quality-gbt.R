# gbt's variants of quality.py, which describes modes and files:
#
#   Rscript quality-gbt.R                     prints the names of the variants
#   Rscript quality-gbt.R FOLDER VARIANT ...  trains on the parts in FOLDER, writes FOLDER/VARIANT.out
library(gbt)

objectives <- c("rank_ndcg", "rank_pairwise", "rank_xendcg", "yeti_rank", "query_rmse", "query_softmax")
shapes <- list(
  stop = list(nrounds = 2000, early_stopping_rounds = 50, metric = "ndcg@10"),
  leaves = list(nrounds = 300, eta = 0.1, lambda = 0, grow_policy = "lossguide", max_leaves = 31, max_depth = 0,
                min_data_in_leaf = 20, min_child_weight = 1e-3, colsample_bytree = 1),
  depth = list(nrounds = 300, eta = 0.1, lambda = 1, grow_policy = "depthwise", max_depth = 6, min_data_in_leaf = 1,
               min_child_weight = 1e-3, colsample_bytree = 1)
)
variants <- list()
for (mode in names(shapes)) {
  for (objective in objectives) variants[[paste0(mode, ":gbt ", objective)]] <- c(objective = objective, shapes[[mode]])
}
for (objective in c("rank_ndcg", "query_rmse", "yeti_rank")) {
  variants[[paste0("stop:gbt ", objective, " rounds found")]] <- list(objective = objective)
}
variants[["stop:gbt rank_ndcg eta 0.06"]] <- c(variants[["stop:gbt rank_ndcg"]], eta = 0.06)
variants[["stop:gbt rank_ndcg by pair_accuracy"]] <- utils::modifyList(variants[["stop:gbt rank_ndcg"]],
                                                                       list(metric = "pair_accuracy"))
tried <- Sys.getenv("GBT_BENCH_RANKING_TRIED", "") # a file that sets further variants
if (nzchar(tried)) source(tried)

args <- commandArgs(TRUE)
if (!length(args)) {
  writeLines(names(variants))
  quit()
}
folder <- args[1]
part_of <- function(name) {
  read <- function(what, type, size) {
    path <- file.path(folder, paste0(name, what))
    readBin(path, type, file.size(path) / size, size = size, endian = "little")
  }
  y <- read(".y", "double", 8)
  list(x = matrix(read(".x", "double", 8), length(y)), y = y, group = read(".q", "integer", 4))
}
parts <- lapply(c(fit = "fit", stop = "stop", train = "train", test = "test"), part_of)
for (name in args[-1]) {
  stops <- startsWith(name, "stop:") && !endsWith(name, "rounds found")
  rows <- if (stops) parts$fit else parts$train
  given <- c(list(rows$x, rows$y, group = rows$group, threads = 1, seed = 1), variants[[name]])
  if (stops) given$valid <- parts$stop
  model <- suppressWarnings(suppressMessages(do.call(gbt_train, given)))
  score <- predict(model, parts$test$x, type = "link", threads = 1)
  writeBin(as.vector(score), file.path(folder, paste0(name, ".out")), size = 8, endian = "little")
}
