# Runs gbt and its peers on the sets of categorical-sets.R, one process a run, and writes bench/results/categorical.csv.
#
#   Rscript bench/categorical.R [--sets adult,flights] [--engines gbt-sets,catboost] [--splits 1,2] [--threads 2]
#       [--again gbt-sets] [--out FOLDER]
#
# Every run is a line of the CSV, written when it ends; a run that has a line is not done again, so a benchmark that was
# ended goes on where it was. --again forgets the lines of these engines (in the sets and splits asked for) first.
# categorical-report.R makes the page of it.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R"))
source(file.path(here, "categorical-variants.R"))
root <- bench_root()
threads <- arg_of("threads", "2")
csv <- file.path(arg_of("out", file.path(root, "bench", "results")), "categorical.csv")
fields <- c("set", "split", "engine", "version", "commit", "date", "train", "valid", "test", "rounds", "eta", "loss",
            "auc", "convert_s", "train_s", "predict_s", "model_bytes", "load")

asked_for <- function(name, known) {
  wanted <- strsplit(arg_of(name, paste(known, collapse = ",")), ",")[[1]]
  unknown <- setdiff(wanted, known)
  if (length(unknown)) stop("--", name, " takes ", paste(known, collapse = ", "), ", not ", unknown[1], call. = FALSE)
  wanted
}
wanted_sets <- asked_for("sets", names(categorical_sets))
wanted_engines <- asked_for("engines", c(peer_engines, names(gbt_variants)))
wanted_splits <- as.integer(asked_for("splits", as.character(seq_len(n_splits))))

# Chance that a row of 1 has a higher score than a row of 0, ties counting half.
auc_of <- function(score, y) {
  n1 <- sum(y == 1)
  (sum(rank(score)[y == 1]) - n1 * (n1 + 1) / 2) / (n1 * (length(y) - n1))
}

run_one <- function(engine, folder, split, scores) {
  args <- c(folder, split, "--engine", engine, "--threads", threads, "--scores", scores)
  if (engine %in% peer_engines) {
    python <- file.path(venv_folder(), "bin", "python")
    run_keys(python, c(file.path(root, "bench", "categorical.py"), args), "PYTHONDONTWRITEBYTECODE=1")
  } else {
    run_keys(file.path(R.home("bin"), "Rscript"), c(file.path(root, "bench", "categorical-gbt.R"), args))
  }
}

measure <- function(set_name, set, split, engine) {
  scores <- tempfile()
  on.exit(unlink(scores))
  folder <- categorical_folder(set_name)
  part <- read_split(folder, split)
  out <- run_one(engine, folder, split, scores)
  y <- set$y[part == 2L]
  score <- read_scores(scores, length(y))
  out[c("set", "split", "engine", "date")] <- list(set_name, split, engine, format(Sys.Date()))
  out$commit <- if (engine %in% peer_engines) "" else commit_of(root)
  out[c("train", "valid", "test")] <- as.list(tabulate(part + 1L, 3L))
  out$loss <- metric_of(set$task, row_loss(set$task, score, y))
  out$auc <- if (set$task == "binary") auc_of(score, y) else NA
  out$load <- load_now()
  out[fields]
}

read_runs <- function() {
  if (!file.exists(csv)) return(NULL)
  utils::read.csv(csv, colClasses = c(version = "character", commit = "character"), na.strings = "NA")
}
write_run <- function(run) {
  text_of <- function(v) if (is.numeric(v)) format(v, digits = 8, scientific = FALSE) else as.character(v)
  cells <- vapply(run, text_of, "")
  cat(paste(cells, collapse = ","), "\n", sep = "", file = csv, append = TRUE)
}

dir.create(dirname(csv), recursive = TRUE, showWarnings = FALSE)
runs <- read_runs()
again <- strsplit(arg_of("again", ""), ",")[[1]]
if (length(again) && !is.null(runs)) {
  runs <- runs[!(runs$engine %in% again & runs$set %in% wanted_sets & runs$split %in% wanted_splits), ]
  utils::write.csv(runs, csv, row.names = FALSE, quote = FALSE)
}
if (is.null(runs)) writeLines(paste(fields, collapse = ","), csv)
done <- paste(runs$set, runs$split, runs$engine)
if (!have_peers()) {
  message("peers are skipped: none in ", venv_folder(), " (sh bench/setup.sh)")
  wanted_engines <- setdiff(wanted_engines, peer_engines)
}

for (name in wanted_sets) {
  folder <- ensure_categorical(name, root)
  if (is.null(folder)) next
  set <- readRDS(file.path(folder, "set.rds"))
  for (split in wanted_splits) {
    for (engine in wanted_engines) {
      if (paste(name, split, engine) %in% done) next
      run <- measure(name, set, split, engine)
      write_run(run)
      message(sprintf("%s %d %s: loss %.5f, %d rounds, %.1f s", name, split, engine, run$loss, run$rounds,
                      run$convert_s + run$train_s))
    }
  }
}
