# Every argument of every function with every odd value: a result, or a condition of gbt's own that is no internal
# error. Rscript run.R short|long FOLDER SECONDS SHARD SHARDS, in this folder. See ../arguments.sh.

library(gbt)
options(warn = 1)
given <- commandArgs(trailingOnly = TRUE)
form <- given[1]
folder <- given[2]
seconds <- as.numeric(given[3])
shard <- as.integer(given[4]) # of so many that run side by side, from 0
shards <- as.integer(given[5])
only <- Sys.getenv("GBT_ARGUMENTS_ONLY", ".") # names of calls, a regular expression
now <- file.path(folder, sprintf("now-%d", shard)) # what R died of is still there
source("values.R")
source("calls.R")
source("results.R")
results <- results_to_use()
matrices <- odd_matrices()
odd <- c(odd_values(), matrices, results[setdiff(names(results), c("x", "y", "classes"))])
calls <- c(calls_to_try(form == "long"), result_calls(results), tampered_calls(results))
calls <- calls[grepl(only, names(calls))]

# NULL when all is well, else what went wrong.
fault_of <- function(f, args) {
  # gbt_error_result is for results that were changed: tampered calls wait for it
  own <- function(condition) {
    inherits(condition, c("gbt_error", "gbt_warning", "gbt_message")) &&
      !inherits(condition, c("gbt_error_internal", "gbt_error_result"))
  }
  fault <- NULL
  note <- function(condition) {
    if (!own(condition) && is.null(fault)) {
      said <- paste(conditionMessage(condition), collapse = " ")
      fault <<- sprintf("%s: %s", class(condition)[1L], strtrim(said, 200L))
    }
  }
  quiet <- function(condition, restart) {
    note(condition)
    invokeRestart(restart)
  }
  setTimeLimit(elapsed = 60, transient = TRUE)
  tryCatch(
    withCallingHandlers(utils::capture.output(do.call(f, args, quote = TRUE)),
                        warning = function(w) quiet(w, "muffleWarning"),
                        message = function(m) quiet(m, "muffleMessage")),
    error = note, interrupt = function(c) fault <<- "interrupt"
  )
  setTimeLimit()
  while (sink.number() > 0L) sink()
  fault
}

tried <- 0
faults <- character(0)
try_one <- function(name, changed, labels) {
  call <- calls[[name]]
  args <- call$args
  args[names(changed)] <- changed # NULL stays an argument: these are lists
  what <- sprintf("%s(%s)", name, paste(names(changed), "=", labels, collapse = ", "))
  cat(what, "\n", file = now)
  tried <<- tried + 1
  fault <- fault_of(call$f, args)
  if (is.null(fault)) return(invisible())
  faults <<- c(faults, what)
  cat(sprintf("%s\n    %s\n", what, fault))
}

dir.create(here <- tempfile("arguments")) # odd texts are names of files, too
setwd(here)
# Short: of each argument one value in so many, of the next one others.
step <- if (form == "long") 1L else as.integer(Sys.getenv("GBT_ARGUMENTS_STEP", "150"))
first <- as.integer(Sys.getenv("GBT_ARGUMENTS_FIRST", "0"))
number <- 0
for (name in names(calls)) {
  for (arg in calls[[name]]$try) {
    first <- first %% step + 1L
    labels <- names(odd)[seq(first, length(odd), by = step)]
    if (isTRUE(calls[[name]]$plain)) labels <- setdiff(labels, names(matrices))
    for (label in labels) {
      number <- number + 1
      if (number %% shards == shard) try_one(name, stats::setNames(odd[label], arg), label)
    }
  }
}
singles <- tried
if (form == "long") {
  # pairs in an order drawn anew each time; the number gives the same again
  start <- as.integer(Sys.getenv("GBT_ARGUMENTS_START", as.integer(Sys.time()) %% 1e9)) + shard
  cat("pairs from GBT_ARGUMENTS_START =", start, "\n")
  set.seed(start)
  several <- names(calls)[vapply(calls, function(call) length(call$try) > 1L, NA)]
  weight <- vapply(calls[several], function(call) length(call$try)^2, 0)
  began <- proc.time()[["elapsed"]]
  while (proc.time()[["elapsed"]] - began < seconds) {
    name <- sample(several, 1L, prob = weight)
    arg <- sample(calls[[name]]$try, 2L)
    label <- sample(names(odd), 2L, replace = TRUE)
    try_one(name, stats::setNames(odd[label], arg), label)
  }
}
unlink(now)
cat("total", singles, tried - singles, length(faults), "\n")
