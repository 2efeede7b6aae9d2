# gbt's defaults, and any list of parameter sets, compared with XGBoost, LightGBM and CatBoost on the sets of
# defaults-table.R. Writes bench/results/defaults.csv, from which defaults-report.R makes the page.
#
#   Rscript bench/defaults.R [--sets adult,pima] [--kinds made,binary] [--sizes small,middle] [--half choosing]
#       [--engines gbt,catboost] [--splits 3] [--rounds 2000] [--patience 50] [--threads 2] [--out FOLDER]
#       [--gbt slow:eta=0.05,lambda=10] ... [--xgboost NAME:PARAMETERS] ... [--tuned 25] [--again gbt/own,gbt/slow]
#       [--no-eta05] [--list]
#
# Every engine runs with its own defaults (`own`), the peers also with a learning rate of 0.05 (`eta05`; not with
# --no-eta05), and each with the parameter sets that are given under a name (see defaults-gbt.R for how they are
# written). All get the same rows, stop early by the same validation part, and have the number of the split as the seed.
#
# A line of the CSV is written when its run ends, and a run that has a line is not done again: started anew the
# benchmark goes on where it was, so further parameter sets and splits cost no more than themselves. --again forgets the
# lines of these configurations (in the sets asked for) first; a run that failed has a line that says why, and `--again
# failed` forgets those. Names stay with their parameters: to change them, take another name or --again. Lines that
# were made of other data than those at hand (another version of a package, a changed row of the table) are forgotten as
# well, with a word.
#
# On a machine that has other work the threads of LightGBM and XGBoost wait for each other in turns of the processor:
# OMP_WAIT_POLICY=passive in the environment makes them up to 30 times as fast there. The column `wait` has it.
#
# --tuned: so many random parameter sets of one space for each engine (defaults-space.R); the page picks by validation.
# Sets of fewer than 500 rows are left out. --sizes: below 2,000 rows, up to 20,000, and more. --kinds: regression,
# poisson, binary, multiclass, quantile (the tasks) and made, real. --splits: at most so many of each set's own number
# (10, 5 or 3 by its size). --list prints the sets that are asked for.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R")) # for read_agaricus(); defaults-sets.R has other splits
source(file.path(here, "defaults-table.R"))
source(file.path(here, "defaults-made.R"))
source(file.path(here, "defaults-sets.R"))
source(file.path(here, "defaults-space.R"))
root <- bench_root()
commit <- commit_of(root)
csv <- file.path(arg_of("out", file.path(root, "bench", "results")), "defaults.csv")
fields <- c("set", "task", "split", "engine", "config", "params", "version", "commit", "date", "train", "valid", "test",
            "columns", "data", "rounds", "trained", "loss", "valid_loss", "null_loss", "convert_s", "train_s",
            "predict_s", "cpu_s", "limit", "patience", "threads", "wait", "load", "error")
peers <- c("catboost", "lightgbm", "xgboost")
settings <- c(rounds = arg_of("rounds", "2000"), patience = arg_of("patience", "50"), threads = arg_of("threads", "2"))

# ---- what is asked for ----

check_options <- function() {
  known <- c("sets", "kinds", "sizes", "half", "engines", "splits", "rounds", "patience", "threads", "out", "gbt",
             peers, "tuned", "again", "no-eta05", "list", "base", "note") # base and note are for the page
  given <- sub("^--([^=]*).*", "\\1", grep("^--", commandArgs(trailingOnly = TRUE), value = TRUE))
  unknown <- setdiff(given, known)
  if (length(unknown)) stop("no option --", unknown[1], ": there are ", paste(known, collapse = ", "), call. = FALSE)
}

among <- function(name, known, default = known) {
  wanted <- strsplit(arg_of(name, paste(default, collapse = ",")), ",")[[1]]
  unknown <- setdiff(wanted, known)
  if (length(unknown)) stop("--", name, " takes ", paste(known, collapse = ", "), ", not ", unknown[1], call. = FALSE)
  wanted
}

# Parameter sets of an engine, by name. `--gbt A --gbt B` may be given several times.
configs_of <- function(engine) {
  args <- commandArgs(trailingOnly = TRUE)
  flag <- paste0("--", engine)
  given <- c(args[which(args == flag) + 1L], sub("^[^=]*=", "", args[startsWith(args, paste0(flag, "="))]))
  names <- sub(":.*", "", given)
  bad <- !grepl("^[A-Za-z0-9_.-]+:[^: ]*=[^: ]*$", given)
  if (any(bad)) stop(flag, " takes NAME:PARAMETER=VALUE,..., not ", given[bad][1], call. = FALSE)
  all <- c(own = "", if (engine != "gbt" && !flag_of("no-eta05")) c(eta05 = "eta=0.05"),
           stats::setNames(sub("^[^:]*:", "", given), names), tuned_configs(engine, as.integer(arg_of("tuned", "0"))))
  if (anyDuplicated(names(all))) {
    stop(flag, ": there are two of ", names(all)[anyDuplicated(names(all))], call. = FALSE)
  }
  all
}

sets_asked_for <- function() {
  half <- halves_of(registry)
  kinds <- among("kinds", c(unique(registry$task), "made", "real"))
  made <- ifelse(startsWith(registry$from, "made:"), "made", "real")
  fits <- function(kinds, of) !any(kinds %in% of) | of %in% kinds
  keep <- registry$name %in% among("sets", registry$name) & half %in% among("half", c("choosing", "confirming")) &
    fits(kinds, registry$task) & fits(kinds, made)
  registry$name[keep]
}

# ---- losses ----

loss_of <- function(set, score, y) {
  if (set$task != "quantile") return(metric_of(set$task, row_loss(set$task, score, y)))
  mean(ifelse(score < y, set$alpha, set$alpha - 1) * (y - score))
}

# Raw scores of n rows that know nothing but the responses of the training rows.
null_scores <- function(set, y, part) {
  train <- part == 0L
  offset <- if (is.null(set$offset)) 0 * y else set$offset
  constant <- switch(set$task,
    regression = mean(y[train]), binary = stats::qlogis(mean(y[train])),
    poisson = log(sum(y[train]) / sum(exp(offset[train]))), quantile = stats::quantile(y[train], set$alpha),
    multiclass = log(pmax(tabulate(y[train] + 1, nlevels(set$y)), 0.5) / sum(train))
  )
  if (set$task == "multiclass") return(matrix(constant, sum(part == 2L), length(constant), byrow = TRUE))
  constant + offset[part == 2L]
}

losses_of <- function(set, file, part) {
  y <- if (is.factor(set$y)) as.integer(set$y) - 1 else set$y
  n <- c(sum(part == 2L), sum(part == 1L))
  score <- as.matrix(read_scores(file, sum(n), if (is.factor(set$y)) nlevels(set$y) else 1L))
  if (anyNA(score)) stop("scores are missing")
  plain <- function(rows) if (ncol(score) > 1L) score[rows, , drop = FALSE] else score[rows, 1L]
  list(loss = loss_of(set, plain(seq_len(n[1])), y[part == 2L]),
       valid_loss = loss_of(set, plain(n[1] + seq_len(n[2])), y[part == 1L]),
       null_loss = loss_of(set, null_scores(set, y, part), y[part == 2L]))
}

# ---- the CSV ----

read_runs <- function() {
  if (!file.exists(csv)) return(NULL)
  text <- c("set", "task", "engine", "config", "params", "version", "commit", "date", "wait", "data", "error")
  runs <- suppressWarnings(utils::read.csv(csv, colClasses = stats::setNames(rep("character", length(text)), text)))
  if (!identical(names(runs), fields)) {
    stop(csv, " has other columns than this script: take another --out", call. = FALSE)
  }
  runs
}
write_runs <- function(runs, append) {
  runs[] <- lapply(runs, function(v) if (is.numeric(v)) signif(v, 8) else v)
  utils::write.table(runs, csv, append = append, sep = ",", qmethod = "double", row.names = FALSE, col.names = !append)
}

forget <- function(runs, configs, sets) {
  failed <- nzchar(runs$error) & "failed" %in% configs
  gone <- (failed | paste(runs$engine, runs$config, sep = "/") %in% configs) & runs$set %in% sets
  runs <- runs[!gone, ]
  if (any(gone)) write_runs(runs, append = FALSE)
  runs
}

# What was run before must be comparable with what is to come.
check_runs <- function(runs, configs) {
  fields <- c(rounds = "limit", patience = "patience")
  for (option in names(fields)) {
    before <- setdiff(runs[[fields[[option]]]], as.integer(settings[[option]]))
    if (length(before)) {
      stop(csv, " has runs with --", option, " ", before[1], ": go on with that, or take another --out", call. = FALSE)
    }
  }
  for (engine in names(configs)) {
    for (name in names(configs[[engine]])) {
      before <- unique(runs$params[runs$engine == engine & runs$config == name])
      if (length(before) && !identical(before, configs[[engine]][[name]])) {
        stop(engine, "/", name, " was run with \"", before[1], "\": take another name, or --again", call. = FALSE)
      }
    }
  }
}

# ---- running ----

# The command of a worker for these jobs of a set (a data frame: split, config, params).
worker_command <- function(engine, folder, set, jobs, scores) {
  script <- file.path(root, "bench", if (engine == "gbt") "defaults-gbt.R" else "defaults.py")
  program <- if (engine == "gbt") file.path(R.home("bin"), "Rscript") else file.path(venv_folder(), "bin", "python")
  args <- c(program, script, folder, if (engine != "gbt") c("--engine", engine), "--scores", scores,
            if (engine != "gbt" && set$task == "quantile") c("--alpha", set$alpha),
            rbind(paste0("--", names(settings)), settings), "--jobs",
            paste(jobs$split, jobs$config, jobs$params, sep = ":"))
  paste("PYTHONDONTWRITEBYTECODE=1", paste(shQuote(args), collapse = " "))
}

row_of <- function(name, set, engine, job, part, facts, error) {
  row <- as.list(stats::setNames(rep(NA_real_, length(fields)), fields))
  n <- tabulate(part + 1L, 3L)
  row[c("set", "task", "engine", "date", "version")] <- list(name, set$task, engine, format(Sys.Date()), "")
  row[c("split", "config", "params")] <- job[c("split", "config", "params")]
  row$commit <- if (engine == "gbt") commit else ""
  row[c("train", "valid", "test", "columns", "load")] <- list(n[1], n[2], n[3], ncol(set$x), as.numeric(load_now()))
  row[c("limit", "patience", "threads")] <- as.list(as.integer(settings))
  row$data <- set$hash
  row$wait <- Sys.getenv("OMP_WAIT_POLICY", "default")
  row[names(facts)] <- facts
  row$error <- error
  as.data.frame(row[fields])
}

# Takes one line of a worker: writes the run and gives its job, or NULL where the line is none.
take_line <- function(line, name, set, engine, jobs, folder, scores) {
  cells <- strsplit(line, " ", fixed = TRUE)[[1]]
  at <- which(jobs$split == cells[2] & jobs$config == cells[3])
  if (!cells[1] %in% c("run", "fail") || length(at) != 1L) {
    message(line)
    return(NULL)
  }
  job <- jobs[at, ]
  part <- read_split(folder, job$split)
  facts <- list()
  error <- ""
  if (cells[1] == "run") {
    pairs <- matrix(cells[-(1:3)], 2L)
    facts <- stats::setNames(as.list(utils::type.convert(as.list(pairs[2, ]), as.is = TRUE)), pairs[1, ])
    facts$version <- pairs[2, pairs[1, ] == "version"]
    file <- file.path(scores, sprintf("%d-%s.f64", job$split, job$config))
    losses <- tryCatch(losses_of(set, file, part), error = function(e) conditionMessage(e))
    unlink(file)
    if (is.list(losses)) facts <- c(facts, losses) else error <- losses
  } else {
    error <- paste(cells[-(1:3)], collapse = " ")
  }
  row <- row_of(name, set, engine, job, part, facts, error)
  write_runs(row, append = TRUE)
  what <- if (nzchar(error)) error else {
    sprintf("loss %.5f (nothing known %.5f), %d of %d rounds, %.1f s", row$loss, row$null_loss, row$rounds, row$trained,
            row$convert_s + row$train_s)
  }
  message(format(Sys.time(), "%H:%M"), " ", name, " ", job$split, " ", engine, "/", job$config, ": ", what)
  at
}

# Runs the jobs of one engine on a set, in one process as long as that lives. A process that ends early has failed at
# the first job that it has not reported, and another continues after it.
run_jobs <- function(name, set, engine, jobs, folder) {
  scores <- tempfile("scores")
  dir.create(scores)
  on.exit(unlink(scores, recursive = TRUE))
  while (nrow(jobs)) {
    worker <- pipe(worker_command(engine, folder, set, jobs, scores), "r")
    done <- integer()
    while (length(line <- readLines(worker, 1L))) {
      done <- c(done, take_line(line, name, set, engine, jobs, folder, scores))
    }
    status <- close(worker)
    left <- jobs[setdiff(seq_len(nrow(jobs)), done), ]
    if (nrow(left)) {
      failed <- left[1, ]
      error <- paste("the process ended with", if (is.null(status)) 0 else status)
      message(name, " ", failed$split, " ", engine, "/", failed$config, ": ", error)
      write_runs(row_of(name, set, engine, failed, read_split(folder, failed$split), list(), error), append = TRUE)
      left <- left[-1, ]
    }
    jobs <- left
  }
}

# Runs that were made of other data than those at hand are of no use any more.
forget_stale <- function(runs, name, hash) {
  stale <- runs$set == name & runs$data != hash
  if (any(stale)) {
    message(name, ": ", sum(stale), " runs were made of other data and are done anew")
    runs <- runs[!stale, ]
    write_runs(runs, append = FALSE)
  }
  runs
}

jobs_of <- function(name, set, engine, configs, runs) {
  splits <- seq_len(min(set$n_splits, as.integer(arg_of("splits", "10"))))
  jobs <- expand.grid(config = names(configs), split = splits, stringsAsFactors = FALSE)
  jobs$params <- configs[jobs$config]
  done <- runs[runs$set == name & runs$engine == engine, ]
  jobs[!paste(jobs$split, jobs$config) %in% paste(done$split, done$config), , drop = FALSE]
}

main <- function() {
  check_options()
  engines <- among("engines", c("gbt", peers))
  configs <- sapply(engines, configs_of, simplify = FALSE)
  names <- sets_asked_for()
  if (flag_of("list")) {
    options(width = 200, max.print = 1e5)
    print(cbind(registry[names, c("task", "from", "split", "cap")], half = halves_of(registry)[names]))
    return(invisible())
  }
  sizes <- among("sizes", c("small", "middle", "large"))
  dir.create(dirname(csv), recursive = TRUE, showWarnings = FALSE)
  runs <- read_runs()
  if (is.null(runs)) writeLines(paste0("\"", fields, "\"", collapse = ","), csv)
  runs <- if (is.null(runs)) read_runs() else forget(runs, strsplit(arg_of("again", ""), ",")[[1]], names)
  check_runs(runs, configs)
  if ("gbt" %in% engines && !nzchar(system.file(package = "gbt"))) {
    stop("gbt is not installed: R CMD INSTALL . first", call. = FALSE)
  }
  if (!have_peers() && any(peers %in% engines)) {
    message("peers are skipped: none in ", venv_folder(), " (sh bench/setup.sh)")
    engines <- setdiff(engines, peers)
  }
  for (name in names) {
    folder <- ensure_defaults(name, root)
    if (is.null(folder)) next
    set <- readRDS(file.path(folder, "set.rds"))
    set$hash <- data_hash(folder)
    if (length(set$y) < least_rows || !size_of(length(set$y)) %in% sizes) next
    runs <- forget_stale(read_runs(), name, set$hash)
    for (engine in engines) {
      run_jobs(name, set, engine, jobs_of(name, set, engine, configs[[engine]], runs), folder)
    }
  }
}
main()
