# gbt with one set in memory, for bench/compare.py: loads, says `ready`, then does what stdin asks for.
# The twin of worker.py.
#
#   Rscript bench/worker.R FOLDER [--loop]
#
#   run threads=2 rounds=50 depth=6 leaves=0 symmetric=0 own=0 predict=1      one run: data set, model, predictions
#   score FILE                                                    raw scores of the test part, as doubles
#   quit
#
# Answers are lines `key value` and then `done`; `error TEXT` says what went wrong. The data are as R users have them: a
# matrix of doubles, a data frame with factors, a dgCMatrix. --loop: trains with two threads for ever, as the other job
# on the machine; ends with the process that started it.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
suppressPackageStartupMessages({
  library(Matrix)
  library(gbt)
})

proc_kb <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}
reset_peak <- function() cat("5", file = "/proc/self/clear_refs")
now <- function() as.numeric(Sys.time())

# ---- data ----

read_desc <- function(folder) {
  text <- paste(readLines(file.path(folder, "desc.json"), encoding = "UTF-8", warn = FALSE), collapse = " ")
  field <- function(name) sub(paste0(".*\"", name, "\": *\"?([A-Za-z0-9_]+).*"), "\\1", text)
  columns <- strsplit(text, "\"kind\":", fixed = TRUE)[[1]][-1]
  list(task = field("task"), n = c(train = as.numeric(field("n_train")), test = as.numeric(field("n_test"))),
       sparse = grepl("\"sparse\": *true", text), offset = field("offset") == "true", n_columns = length(columns),
       kinds = sub("^ *\"([a-z]+)\".*", "\\1", columns), columns = columns)
}

doubles <- function(file, n) readBin(file, "double", n, size = 8, endian = "little")

# The levels of column j, for sets without an .rds (their names are plain).
levels_of <- function(desc, j) {
  text <- sub("].*$", "", sub("^.*\"levels\": *\\[", "", desc$columns[j]))
  gsub("[\" ]", "", strsplit(text, ",", fixed = TRUE)[[1]])
}

read_dense <- function(folder, desc, part) {
  file <- file(file.path(folder, paste0(part, ".f64")), "rb")
  on.exit(close(file))
  n <- desc$n[[part]]
  if (any(desc$kinds == "factor")) {
    x <- lapply(seq_len(desc$n_columns), function(j) {
      value <- doubles(file, n)
      if (desc$kinds[j] != "factor") return(value)
      structure(as.integer(value), levels = levels_of(desc, j), class = "factor")
    })
    names(x) <- sprintf("x%02d", seq_along(x))
    attr(x, "row.names") <- .set_row_names(n)
    class(x) <- "data.frame"
  } else {
    x <- doubles(file, n * desc$n_columns)
    dim(x) <- c(n, desc$n_columns)
  }
  list(x = x, y = doubles(file, n))
}

read_sparse <- function(folder, desc, part) {
  n <- desc$n[[part]]
  whole <- function(end) {
    path <- file.path(folder, paste0(part, end))
    readBin(path, "integer", file.size(path) / 4, size = 4, endian = "little")
  }
  numbers <- function(end) {
    path <- file.path(folder, paste0(part, end))
    doubles(path, file.size(path) / 8)
  }
  x <- methods::new("dgCMatrix", p = whole(".p"), i = whole(".i"), x = numbers(".x"),
                    Dim = as.integer(c(n, desc$n_columns)))
  list(x = x, y = numbers(".y"))
}

read_rows <- function(folder, desc, part) {
  if (file.exists(file.path(folder, "set.rds"))) {
    set <- readRDS(file.path(folder, "set.rds"))
    rows <- if (part == "test") set$test else !set$test
    return(list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows]))
  }
  data <- if (desc$sparse) read_sparse(folder, desc, part) else read_dense(folder, desc, part)
  if (desc$task == "multiclass") data$y <- factor(data$y)
  data
}

# ---- one run ----

parse_options <- function(words) {
  opts <- list(threads = 2, rounds = 10, depth = 6, leaves = 0, symmetric = 0, own = 0, predict = 1)
  pairs <- strsplit(words, "=", fixed = TRUE)
  opts[vapply(pairs, `[`, "", 1L)] <- lapply(pairs, function(p) as.numeric(p[2]))
  opts
}

train_model <- function(data, task, opts) {
  objective <- c(binary = "logistic", regression = "squared_error", poisson = "poisson", multiclass = "softmax")[[task]]
  if (opts$own) return(gbt_train(data, objective = objective, nrounds = opts$rounds, threads = opts$threads))
  policy <- if (opts$symmetric) "symmetric" else if (opts$leaves > 0) "lossguide" else "depthwise"
  gbt_train(data, objective = objective, nrounds = opts$rounds, max_depth = opts$depth, max_leaves = opts$leaves,
            grow_policy = policy, eta = 0.1, lambda = 1, min_child_weight = 1, min_data_in_leaf = 1,
            colsample_bytree = 1, random_strength = 0, threads = opts$threads,
            cat_method = if (any(desc$kinds == "factor")) "sets", seed = 0)
}

# Median microseconds of one row, by predict() and by gbt_predictor() (NA where that refuses the model).
single_rows <- function(model, train, n_rows = 200L) {
  at <- round(seq(1, nrow(train$x), length.out = n_rows))
  few <- train$x[at, , drop = FALSE]
  rows <- lapply(seq_along(at), function(i) few[i, , drop = FALSE])
  offsets <- lapply(at, function(i) train$offset[i])
  median_us <- function(call) {
    for (i in 1:3) call(i)
    took <- numeric(n_rows)
    for (i in seq_len(n_rows)) {
      begin <- now()
      call(i)
      took[i] <- now() - begin
    }
    1e6 * stats::median(took)
  }
  whole <- median_us(function(i) predict(model, rows[[i]], type = "link", offset = offsets[[i]], threads = 1L))
  prepared <- tryCatch({
    f <- gbt_predictor(model, type = "link")
    median_us(function(i) f(rows[[i]]))
  }, error = function(e) NA_real_)
  c(single_us = whole, prepared_us = prepared)
}

run_once <- function(train, task, opts) {
  last$model <- NULL
  invisible(gc())
  before <- proc_kb("VmRSS")
  reset_peak()
  begin <- now()
  data <- gbt_data(train$x, label = train$y, offset = train$offset, threads = opts$threads)
  built <- now()
  model <- train_model(data, task, opts)
  done <- now()
  out <- c(convert_s = built - begin, train_s = done - built, peak_mb = (proc_kb("VmHWM") - before) * 1024 / 1e6)
  rm(data)
  last$model <- model
  if (!opts$predict) return(out)
  begin <- now()
  score <- predict(model, train$x, type = "link", offset = train$offset, threads = opts$threads)
  out["predict_s"] <- now() - begin
  rm(score)
  c(out, single_rows(model, train))
}

answer <- function(line) {
  words <- strsplit(trimws(line), "[[:space:]]+")[[1]]
  if (words[1] == "run") return(run_once(train, desc$task, parse_options(words[-1])))
  test <- read_rows(folder, desc, "test")
  score <- predict(last$model, test$x, type = "link", offset = test$offset, threads = 2L)
  writeBin(as.vector(score), words[2], size = 8, endian = "little")
  numeric()
}

say <- function(...) {
  cat(..., "\n", sep = "")
  flush(stdout())
}

parent <- function() strsplit(sub("^.*\\) ", "", readLines("/proc/self/stat")), " ", fixed = TRUE)[[1]][2]

train_for_ever <- function() {
  starter <- parent()
  while (parent() == starter) train_model(gbt_data(train$x, label = train$y, threads = 2), desc$task,
                                          list(own = 0, rounds = 10, depth = 8, leaves = 0, symmetric = 0, threads = 2))
}

folder <- commandArgs(trailingOnly = TRUE)[1]
desc <- read_desc(folder)
train <- read_rows(folder, desc, "train")
last <- new.env()
invisible(gc())
say("version ", format(utils::packageVersion("gbt")))
say("ready")
if (flag_of("loop")) train_for_ever()
input <- file("stdin", "r")
while (length(line <- readLines(input, 1L)) && line != "quit") {
  out <- tryCatch(answer(line), error = function(e) {
    say("error ", substr(gsub("[[:space:]]+", " ", conditionMessage(e)), 1, 300))
    numeric()
  })
  for (key in names(out)) if (!is.na(out[[key]])) say(key, " ", format(out[[key]], digits = 9))
  say("done")
}
