# Trains gbt on splits of a set of defaults-sets.R, one line of stdout for each job as it ends. The twin of defaults.py.
#
#   Rscript bench/defaults-gbt.R FOLDER --scores FOLDER [--rounds 2000] [--patience 50] [--threads 2] --jobs JOB ...
#
# JOB is SPLIT:NAME:PARAMETERS, such as 1:own: or 2:slow:eta=0.03,lambda=10: arguments of gbt_train() in addition to the
# data. Values are numbers, true, false or texts; several are joined by + (cat_method=sets+target). Training stops by
# the validation part. With `alone=true` gbt gets training and validation rows as one and nothing about rounds, as a
# user does who says no more than the data.
#
#   run SPLIT NAME KEY VALUE ...     the folder of --scores has SPLIT-NAME.f64: raw scores of the test rows, then of the
#   fail SPLIT NAME MESSAGE          validation rows
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "defaults-sets.R"))
library(gbt)

folder <- commandArgs(trailingOnly = TRUE)[1]
threads <- as.integer(arg_of("threads", "2"))
set <- readRDS(file.path(folder, "set.rds"))
objective <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax",
               quantile = "quantile")[[set$task]]

value_of <- function(text) {
  one <- strsplit(text, "+", fixed = TRUE)[[1]]
  if (all(one %in% c("true", "false"))) return(one == "true")
  utils::type.convert(one, as.is = TRUE)
}
parameters_of <- function(text) {
  parts <- strsplit(text, ",", fixed = TRUE)[[1]]
  stats::setNames(lapply(sub("^[^=]*=", "", parts), value_of), sub("=.*", "", parts))
}

rows_of <- function(rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])

train_one <- function(part, split, parameters) {
  alone <- isTRUE(parameters$alone)
  parameters$alone <- NULL
  train <- rows_of(part == 0L | (alone & part == 1L))
  valid <- rows_of(part == 1L)
  args <- list(train$x, train$y, objective = objective, offset = train$offset, threads = threads, seed = split,
               device = "cpu")
  if (set$task == "quantile") args$quantile_alpha <- set$alpha
  if (!alone) {
    args <- c(args, list(nrounds = as.integer(arg_of("rounds", "2000")), valid = valid,
                         early_stopping_rounds = as.integer(arg_of("patience", "50"))))
  }
  args[names(parameters)] <- parameters
  do.call(gbt_train, args)
}

elapsed <- function(since) proc.time()[["elapsed"]] - since[["elapsed"]]

run_one <- function(split, name, parameters) {
  part <- read_split(folder, split)
  invisible(gc())
  begin <- proc.time()
  model <- train_one(part, split, parameters)
  train_s <- elapsed(begin)
  cpu_s <- sum((proc.time() - begin)[c("user.self", "sys.self")])
  trained <- model$nrounds
  if (!is.null(model$best_round)) model <- model[seq_len(model$best_round)]
  scores <- lapply(c(2L, 1L), function(k) {
    rows <- rows_of(part == k)
    begin <- proc.time()
    score <- as.matrix(predict(model, rows$x, type = "link", offset = rows$offset, threads = threads))
    if (k == 2L) predict_s <<- elapsed(begin)
    score
  })
  file <- file.path(arg_of("scores", ""), sprintf("%d-%s.f64", split, name))
  writeBin(as.vector(do.call(rbind, scores)), file, size = 8, endian = "little")
  list(version = as.character(utils::packageVersion("gbt")), rounds = model$nrounds, trained = trained, convert_s = 0,
       train_s = train_s, predict_s = predict_s, cpu_s = cpu_s)
}

for (job in grep("^[0-9]+:[^:]*:", commandArgs(trailingOnly = TRUE), value = TRUE)) {
  split <- as.integer(sub(":.*", "", job))
  name <- sub("^[0-9]+:([^:]*):.*", "\\1", job)
  line <- tryCatch({
    out <- run_one(split, name, parameters_of(sub("^[0-9]+:[^:]*:", "", job)))
    c("run", split, name, rbind(names(out), vapply(out, format, "", digits = 10, scientific = FALSE)))
  }, error = function(e) c("fail", split, name, gsub("\\s+", " ", conditionMessage(e))))
  cat(line, sep = " ")
  cat("\n")
}
