# Trains gbt on one split of a set of categorical-sets.R and prints what it took, one `key value` per line.
#
#   Rscript bench/categorical-gbt.R FOLDER SPLIT --engine gbt-sets --scores FILE [--rounds 1000] [--patience 50]
#       [--threads 2]
#
# The twin of categorical.py: same rows, same early stopping, same parameters.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R"))
source(file.path(here, "categorical-variants.R"))
library(gbt)

folder <- commandArgs(trailingOnly = TRUE)[1]
split <- as.integer(commandArgs(trailingOnly = TRUE)[2])
threads <- as.integer(arg_of("threads", "2"))
set <- readRDS(file.path(folder, "set.rds"))
task <- set$task
part <- read_split(folder, split)
rows_of <- function(k) {
  rows <- part == k
  list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])
}
train <- rows_of(0L)
valid <- rows_of(1L)
test <- rows_of(2L)
rm(set)
invisible(gc())

begin <- proc.time()[["elapsed"]]
model <- do.call(gbt_train, c(list(
  train$x, train$y,
  objective = c(binary = "logistic", poisson = "poisson")[[task]], offset = train$offset,
  nrounds = as.integer(arg_of("rounds", "1000")), eta = 0.05, grow_policy = "depthwise", max_depth = 6, lambda = 1,
  min_child_weight = 1, max_bin = 255, valid = list(x = valid$x, y = valid$y, offset = valid$offset),
  early_stopping_rounds = as.integer(arg_of("patience", "50")), threads = threads, seed = split, device = "cpu"
), gbt_variants[[arg_of("engine", "gbt-sets")]]))
train_s <- proc.time()[["elapsed"]] - begin

model <- model[seq_len(model$best_round)]
file <- tempfile(fileext = ".gbt")
gbt_save(model, file)
out <- list(version = as.character(packageVersion("gbt")), convert_s = 0, train_s = train_s, rounds = model$nrounds,
            eta = 0.05, model_bytes = file.size(file))
begin <- proc.time()[["elapsed"]]
score <- predict(model, test$x, type = "link", offset = test$offset, threads = threads)
out$predict_s <- proc.time()[["elapsed"]] - begin
writeBin(as.vector(score), arg_of("scores", ""), size = 8, endian = "little")
for (key in names(out)) cat(key, " ", format(out[[key]], digits = 10, scientific = FALSE), "\n", sep = "")
