# Quality on data with categorical columns: gbt beside CatBoost, LightGBM and XGBoost. Start it by bench/categorical.sh,
# which says what is measured.
#
#   Rscript bench/categorical.R prepare FOLDER [SET ...]    the data of every set and split, for all engines
#   Rscript bench/categorical.R run FOLDER [SET ...]        gbt's runs that FOLDER/runs.csv does not have
#   Rscript bench/categorical.R report FOLDER PAGE          the page
#
# FOLDER/SET-SPLIT.rds: list(x, y, exposure or NULL, part, task), part being "train", "valid" or "test" for each row.
# FOLDER/SET-SPLIT.csv: the same for Python: factors as texts in columns c_*, numbers in n_*, then y, exposure, part.
# FOLDER/runs.csv: one line for every run that ended: set, split, engine, loss, auc, seconds, rounds, bytes.

here <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) dirname(normalizePath(file)) else "bench"
})
source(file.path(here, "data.R"))

splits <- 5L

# ---- data ----

# list(x, y, task, test): test is a logical vector where the test rows are given, else NULL.
categorical_sets <- list(
  adult = function(folder) {
    d <- read_table(folder, "adult.csv.gz")
    list(x = d[setdiff(names(d), c("income", "split"))], y = as.numeric(d$income == ">50K"), task = "binary",
         test = d$split == "test")
  },
  nycflights13 = function(folder) {
    d <- readRDS(file.path(folder, "nycflights13.rds"))
    d <- d[!is.na(d$arr_delay), ]
    x <- d[c("month", "day", "sched_dep_time", "carrier", "tailnum", "flight", "origin", "dest", "distance")]
    x$flight <- factor(x$flight)
    list(x = x, y = as.numeric(d$arr_delay > 15), task = "binary")
  },
  weatherAUS = function(folder) {
    d <- readRDS(file.path(folder, "weatherAUS.rds"))
    d <- d[!is.na(d$RainTomorrow), ]
    y <- as.numeric(d$RainTomorrow == "Yes")
    d$Date <- as.numeric(as.Date(d$Date))
    d$RISK_MM <- d$RainTomorrow <- NULL
    list(x = d, y = y, task = "binary")
  },
  freMTPL2 = function(folder) {
    d <- readRDS(file.path(folder, "freMTPL2.rds"))
    x <- d[setdiff(names(d), c("IDpol", "ClaimNb", "ClaimNbCorrected", "ClaimAmount", "Exposure"))]
    list(x = x, y = pmin(d$ClaimNb, 4), exposure = pmin(d$Exposure, 1), task = "poisson")
  },
  flights = function(folder) {
    data <- new.env()
    utils::data("flights", package = "gbt", envir = data)
    d <- data$flights
    list(x = d[setdiff(names(d), c("late", "delay"))], y = as.numeric(d$late), task = "binary")
  },
  agaricus = function(folder) {
    map <- utils::read.delim(file.path(folder, "agaricus_featmap.tsv.gz"), header = FALSE)
    one <- read_libsvm(file.path(folder, "agaricus_train.libsvm.gz"), 126L)
    two <- read_libsvm(file.path(folder, "agaricus_test.libsvm.gz"), 126L)
    hot <- rbind(one$x, two$x) == 1
    parts <- strsplit(as.character(map[[2L]]), "=", fixed = TRUE)
    name <- vapply(parts, `[`, "", 1L)
    level <- vapply(parts, function(p) if (length(p) > 1L) p[2L] else "yes", "")
    x <- lapply(split(seq_along(name), factor(name, unique(name))), function(at) {
      which <- max.col(cbind(hot[, at, drop = FALSE], !apply(hot[, at, drop = FALSE], 1L, any)), "first")
      factor(c(level[at], NA)[which])
    })
    list(x = as.data.frame(x), y = c(one$y, two$y), task = "binary")
  },
  made_pair = function(folder) made_levels(pair = TRUE),
  made_noise = function(folder) made_levels(pair = FALSE)
)

# Two columns of 2,000 levels, three numbers. The pair of levels says all there is to know, or one number says a little.
made_levels <- function(pair, n = 50000L) {
  set.seed(20)
  draw <- function() sample(2000L, n, TRUE, prob = (1:2000)^-1.2)
  a <- draw()
  b <- draw()
  u <- stats::rnorm(n)
  score <- if (pair) 1.5 * stats::rnorm(2000L * 2000L)[(a - 1L) * 2000L + b] else 0.3 * u
  x <- data.frame(a = factor(a), b = factor(b), u = u, v = stats::rnorm(n), w = stats::rnorm(n))
  list(x = x, y = stats::rbinom(n, 1L, stats::plogis(score)), task = "binary")
}

# A fifth is for testing unless that is given; of the rest a fifth is for early stopping.
parts_of <- function(set, split) {
  set.seed(1000L + split)
  n <- length(set$y)
  test <- if (is.null(set$test)) stats::runif(n) < 0.2 else set$test
  ifelse(test, "test", ifelse(stats::runif(n) < 0.2, "valid", "train"))
}

as_text_table <- function(x) {
  out <- lapply(x, function(v) if (is.ordered(v)) as.integer(v) else if (is.factor(v)) as.character(v) else v)
  names(out) <- paste0(ifelse(vapply(x, function(v) is.factor(v) && !is.ordered(v), NA), "c_", "n_"), names(x))
  as.data.frame(out, check.names = FALSE, stringsAsFactors = FALSE)
}

prepare <- function(folder, names) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  for (name in names) {
    if (file.exists(file.path(folder, paste0(name, "-", splits, ".csv")))) next
    set <- categorical_sets[[name]](data_folder(dirname(here)))
    text <- as_text_table(set$x)
    for (split in seq_len(splits)) {
      part <- parts_of(set, split)
      to <- file.path(folder, paste0(name, "-", split))
      saveRDS(list(x = set$x, y = set$y, exposure = set$exposure, part = part, task = set$task), paste0(to, ".rds"))
      table <- cbind(text, y = set$y, exposure = if (is.null(set$exposure)) 1 else set$exposure, part = part)
      utils::write.csv(table, paste0(to, ".csv"), row.names = FALSE, na = "")
    }
    message(name, ": prepared")
  }
}

# ---- losses ----

loss_of <- function(task, y, score, exposure) {
  if (task == "poisson") { # mean deviance
    mean <- exp(score)
    return(2 * mean(ifelse(y > 0, y * log(y / mean), 0) - y + mean))
  }
  mean(log1p(exp(-abs(score))) + pmax(score, 0) - y * score)
}

auc_of <- function(task, y, score) {
  if (task == "poisson") return(NA_real_)
  r <- rank(score)
  n1 <- sum(y == 1)
  (sum(r[y == 1]) - n1 * (n1 + 1) / 2) / (n1 * (length(y) - n1))
}

# ---- gbt's runs ----

gbt_variants <- list(
  `gbt sets` = list(cat_method = "sets"),
  `gbt sets, statistics` = list(cat_method = c("sets", "target")),
  `gbt statistics` = list(cat_method = "target"),
  `gbt sets, statistics, pairs` = list(cat_method = c("sets", "target"), max_cat_combine = 2)
)

run_gbt <- function(data, params, seed) {
  i <- split(seq_along(data$part), data$part)
  offset <- if (!is.null(data$exposure)) log(data$exposure)
  valid <- list(x = data$x[i$valid, ], y = data$y[i$valid])
  if (!is.null(offset)) valid$offset <- offset[i$valid]
  start <- proc.time()[["elapsed"]]
  fixed <- list(data$x[i$train, ], data$y[i$train], objective = if (data$task == "poisson") "poisson" else "logistic",
                offset = offset[i$train], nrounds = 1000, eta = 0.05, max_depth = 6, valid = valid, seed = seed,
                early_stopping_rounds = 50, threads = 2)
  model <- do.call(gbt::gbt_train, c(fixed, params))
  score <- stats::predict(model, data$x[i$test, ], type = "link", offset = offset[i$test], threads = 2)
  seconds <- proc.time()[["elapsed"]] - start
  list(loss = loss_of(data$task, data$y[i$test], score), auc = auc_of(data$task, data$y[i$test], score),
       seconds = seconds, rounds = model$best_round, bytes = length(model$state))
}

runs_there <- function(folder) {
  file <- file.path(folder, "runs.csv")
  if (file.exists(file)) utils::read.csv(file, stringsAsFactors = FALSE)
}

run_all <- function(folder, names) {
  file <- file.path(folder, "runs.csv")
  for (name in names) for (split in seq_len(splits)) {
    done <- runs_there(folder)
    todo <- setdiff(names(gbt_variants), done$engine[done$set == name & done$split == split])
    if (length(todo) == 0L) next
    data <- readRDS(file.path(folder, paste0(name, "-", split, ".rds")))
    for (engine in todo) {
      r <- run_gbt(data, gbt_variants[[engine]], split)
      line <- data.frame(set = name, split = split, engine = engine, loss = r$loss, auc = r$auc, seconds = r$seconds,
                         rounds = r$rounds, bytes = r$bytes)
      utils::write.table(line, file, append = file.exists(file), col.names = !file.exists(file), row.names = FALSE,
                         sep = ",")
      message(sprintf("%s %d %s: %.5f, %.1f s", name, split, engine, r$loss, r$seconds))
    }
  }
}

# ---- the page ----

table_of <- function(cells, head) {
  c(paste0("| ", paste(head, collapse = " | "), " |"), paste0("|", strrep(" --- |", length(head))),
    apply(cells, 1L, function(row) paste0("| ", paste(row, collapse = " | "), " |")))
}

summary_of <- function(runs) {
  by <- split(runs, list(factor(runs$set, unique(runs$set)), factor(runs$engine, unique(runs$engine))), drop = TRUE)
  cells <- do.call(rbind, lapply(by, function(r) {
    se <- if (nrow(r) > 1L) stats::sd(r$loss) / sqrt(nrow(r)) else NA
    c(r$set[1L], r$engine[1L], nrow(r), sprintf("%.5f", mean(r$loss)), sprintf("%.5f", se),
      if (anyNA(r$auc)) "" else sprintf("%.5f", mean(r$auc)), sprintf("%.1f", stats::median(r$seconds)),
      sprintf("%.0f", stats::median(r$rounds)), sprintf("%.2f", stats::median(r$bytes) / 1e6))
  }))
  cells[order(match(cells[, 1L], unique(runs$set)), as.numeric(cells[, 4L])), , drop = FALSE]
}

report <- function(folder, page) {
  runs <- runs_there(folder)
  runs <- runs[order(match(runs$set, names(categorical_sets)), runs$split, runs$engine), ]
  head <- c("set", "engine", "splits", "loss", "se", "AUC", "seconds", "rounds", "MB")
  each <- cbind(runs$set, runs$split, runs$engine, sprintf("%.5f", runs$loss),
                ifelse(is.na(runs$auc), "", sprintf("%.5f", runs$auc)), sprintf("%.1f", runs$seconds), runs$rounds,
                runs$bytes)
  writeLines(c(
    "# Categorical columns: quality beside the peers", "",
    strwrap(paste0(
      "Made by `sh bench/categorical.sh` on ", Sys.Date(), ". Test loss: log loss; freMTPL2: mean Poisson deviance. ",
      "All engines have the same rows, at most 1,000 rounds, early stopping after 50 on the same validation rows, ",
      "learning rate 0.05, depth 6, 2 threads; \"catboost\" has its own defaults for everything but rounds, stopping ",
      "and threads. Seconds are those of data, training and prediction together, on a machine that may be busy; MB: ",
      "the model as bytes. se: standard error of the mean over splits, which all engines share, so differences are ",
      "surer than it says."), 118L), "",
    "## Means", "", table_of(summary_of(runs), head), "", "## Every run", "",
    table_of(each, c("set", "split", "engine", "loss", "AUC", "seconds", "rounds", "bytes"))), page)
}

main <- function(args) {
  if (length(args) < 2L) stop("categorical.R prepare|run FOLDER [SET ...], or categorical.R report FOLDER PAGE")
  sets <- if (length(args) > 2L) args[-(1:2)] else names(categorical_sets)
  switch(args[1L], prepare = prepare(args[2L], sets), run = run_all(args[2L], sets),
         report = report(args[2L], args[3L]), stop("categorical.R: prepare, run or report"))
}
if (!interactive()) main(commandArgs(TRUE))
