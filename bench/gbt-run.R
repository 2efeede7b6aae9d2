# Trains gbt on one set of bench/data.R in a process of its own and prints what it took, one `key value` per line.
# The twin of peers.py.
#
#   Rscript bench/gbt-run.R FOLDER [--types own|codes] [--rounds 200] [--depth 6] [--threads 2] [--bins 255]
#       [--scores FILE] [--seed 0]
#
# --types own: the columns and the response as R has them (factors, ordered factors, dates); codes: a matrix of doubles
# and a numeric response, as the peers get it with --categorical codes. Speed and memory are the business of compare.py.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
library(gbt)

folder <- commandArgs(trailingOnly = TRUE)[1]
types <- arg_of("types", "codes")
threads <- as.integer(arg_of("threads", "2"))
desc <- paste(readLines(file.path(folder, "desc.json"), encoding = "UTF-8"), collapse = "\n")
field <- function(name) sub(paste0(".*\"", name, "\": \"?([A-Za-z0-9_]+).*"), "\\1", desc)
task <- field("task")
n_columns <- length(gregexpr("\"kind\":", desc, fixed = TRUE)[[1]])
has_offset <- field("offset") == "true"

part_of <- function(part) {
  if (types == "codes") {
    data <- read_part(folder, part, as.numeric(field(paste0("n_", part))), n_columns, has_offset)
    if (task == "multiclass") data$y <- factor(data$y)
    return(data)
  }
  set <- readRDS(file.path(folder, "set.rds"))
  rows <- if (part == "test") set$test else !set$test
  list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])
}

train <- part_of("train")
if (task == "binary" && types == "own") train$y <- factor(train$y, levels = 0:1)
objective <- c(binary = "logistic", regression = "squared_error", poisson = "poisson", multiclass = "softmax")[[task]]
invisible(gc())

begin <- proc.time()[["elapsed"]]
model <- gbt_train(train$x, train$y,
  objective = objective, offset = train$offset, nrounds = as.integer(arg_of("rounds", "200")),
  grow_policy = "depthwise", max_depth = as.integer(arg_of("depth", "6")), eta = 0.1, lambda = 1, min_child_weight = 1,
  max_bin = as.integer(arg_of("bins", "255")), threads = threads, seed = as.integer(arg_of("seed", "0"))
)
train_s <- proc.time()[["elapsed"]] - begin
out <- list(version = as.character(packageVersion("gbt")), convert_s = 0, train_s = train_s,
            model_bytes = length(model$state))

test <- part_of("test")
begin <- proc.time()[["elapsed"]]
score <- predict(model, test$x, type = "link", offset = test$offset, threads = threads)
out$predict_s <- proc.time()[["elapsed"]] - begin
path <- arg_of("scores", "")
if (nzchar(path)) writeBin(as.vector(score), path, size = 8, endian = "little")
for (key in names(out)) cat(key, " ", format(out[[key]], digits = 10), "\n", sep = "")
