# What options of training that are off by default do to the test loss and the time, compared with the same training
# without them, on the real sets of defaults-table.R. The page bench/results/options.md is made of its output.
#
#   Rscript bench/options.R [--half choosing] [--sets pima,meats] [--rows 2000] [--splits 3] [--bases leaves]
#       [--options dart,tail_50] [--threads 1] [--out FOLDER]
#
# Trainings are compared in four ways (bases):
#
#   fixed_0.3  100 rounds, depth 6, eta 0.3, as XGBoost's defaults
#   fixed_0.1  the same, eta 0.1
#   stopping   the defaults, up to 1,000 rounds with early stopping (patience 30) on the validation part
#   leaves     as `stopping`, best-first trees of 31 leaves, eta 0.1
#
# --rows: training rows at most, drawn from the training part. FOLDER/options-runs.csv keeps what was run; a second run
# goes on. Tables: change of the test loss in percent against the base, mean over sets (of means over splits) with its
# standard error, median, sets improved; processor time in multiples of the base's.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
for (file in c("common", "data", "categorical-sets", "defaults-table", "defaults-made", "defaults-sets")) {
  source(file.path(here, paste0(file, ".R")))
}
library(gbt)
root <- bench_root()
csv <- file.path(arg_of("out", tempdir()), "options-runs.csv")
dir.create(dirname(csv), recursive = TRUE, showWarnings = FALSE)
threads <- as.integer(arg_of("threads", "1"))
most_rows <- as.integer(arg_of("rows", "2000"))
objectives <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax",
                quantile = "quantile")
stopping <- list(nrounds = 1000, early_stopping_rounds = 30)
bases <- list(
  fixed_0.3 = list(nrounds = 100, eta = 0.3, max_depth = 6, grow_policy = "depthwise"),
  fixed_0.1 = list(nrounds = 100, eta = 0.1, max_depth = 6, grow_policy = "depthwise"),
  stopping = stopping,
  leaves = c(stopping, list(grow_policy = "lossguide", max_leaves = 31, max_depth = 0, eta = 0.1))
)
options_tried <- list( # dart, tails and shrinking are gone: newer versions than the page's refuse them
  extra_trees = list(extra_trees = TRUE),
  path_smooth_1 = list(path_smooth = 1),
  path_smooth_10 = list(path_smooth = 10),
  dart = list(boosting = "dart", max_drop = 10),
  tail_10 = list(tail_rounds = 10),
  tail_50 = list(tail_rounds = 50),
  shrink_0.02 = list(model_shrink_rate = 0.02)
)

asked <- function(option, known) known[known %in% strsplit(arg_of(option, paste(known, collapse = ",")), ",")[[1]]]
rows_of <- function(set, rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])

try_one <- function(set, part, split, base, option) {
  train <- which(part == 0L)
  set.seed(split)
  if (length(train) > most_rows) train <- sort(sample(train, most_rows))
  call <- c(rows_of(set, train), base, option, list(objective = objectives[[set$task]], threads = threads, seed = split,
                                                    verbose = 0))
  if (set$task == "quantile") call$quantile_alpha <- set$alpha
  if (!is.null(base$early_stopping_rounds)) call$valid <- rows_of(set, part == 1L)
  begin <- proc.time()
  model <- suppressWarnings(do.call(gbt_train, call))
  cpu <- sum((proc.time() - begin)[c("user.self", "sys.self")])
  test <- rows_of(set, part == 2L)
  loss <- as.data.frame(gbt_evaluate(model, test$x, test$y, offset = test$offset, threads = threads))$estimate[1]
  data.frame(rows = length(train), rounds = model$nrounds, loss = loss, cpu = cpu)
}

done <- if (file.exists(csv)) utils::read.csv(csv)
keep <- function(set, task, split, base, option, result) {
  row <- data.frame(set = set, task = task, split = split, base = base, option = option, result)
  new <- !file.exists(csv)
  utils::write.table(row, csv, append = !new, sep = ",", row.names = FALSE, col.names = new)
}

real <- function(name) registry[name, "from"] != "shared:lambdarank" && !startsWith(registry[name, "from"], "made:")
for_wanted_splits(root, "3", function(name, set, folder, split) {
  if (!real(name) || ncol(set$x) > 500L) return(invisible())
  part <- read_split(folder, split)
  for (base in asked("bases", names(bases))) {
    for (option in c("none", asked("options", names(options_tried)))) {
      if (any(done$set == name & done$split == split & done$base == base & done$option == option)) next
      result <- tryCatch(try_one(set, part, split, bases[[base]], options_tried[[option]]), gbt_error = function(e) {
        message(name, " ", base, " ", option, ": ", conditionMessage(e))
      })
      if (!is.null(result)) keep(name, set$task, split, base, option, result)
    }
  }
  message(name, " ", split)
})

runs <- utils::read.csv(csv)
runs <- runs[runs$set %in% sets_wanted(), ]
place <- function(d) paste(d$set, d$split, d$base)
none <- runs[runs$option == "none", ]
at <- match(place(runs), place(none))
runs$change <- 100 * (runs$loss / none$loss[at] - 1)
runs$base_cpu <- none$cpu[at]
table_of <- function(runs, title) {
  cat("\n", title, "\n\n| option | trained | change | error | median | improved | time |\n", sep = "")
  cat("| --- | --- | --- | --- | --- | --- | --- |\n")
  for (option in asked("options", names(options_tried))) {
    for (base in asked("bases", names(bases))) {
      own <- runs[runs$base == base & runs$option == option & is.finite(runs$change), ]
      if (nrow(own) == 0L) next
      by_set <- tapply(own$change, own$set, mean)
      cat(sprintf("| %s | %s | %+.2f | %.2f | %+.2f | %d of %d | %.1f |\n", option, base, mean(by_set),
                  stats::sd(by_set) / sqrt(length(by_set)), stats::median(by_set), sum(by_set < 0), length(by_set),
                  sum(own$cpu) / sum(own$base_cpu)))
    }
  }
}
cat(sprintf("commit %s, %s, %d sets, at most %d training rows\n", commit_of(root), format(Sys.Date()),
            length(unique(runs$set)), most_rows))
table_of(runs, "All sets")
for (task in unique(runs$task)) table_of(runs[runs$task == task, ], paste("Task:", task))
smaller <- runs$rows < 1000
table_of(runs[smaller, ], "Fewer than 1,000 training rows")
table_of(runs[!smaller, ], "1,000 training rows and more")
