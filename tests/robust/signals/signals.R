# Signals at random moments: signals.R FORM TRIES POLLS.so REPORT
#
# Ctrl-C must come as an interrupt within 0.2 s. Measured is what this process does after the signal: its own thread's
# seconds of the CPU, and those of all others. Where the machine is loaded the clock on the wall says nothing. R's own
# collections of garbage, which nobody can interrupt, do not count (0.15 s each once package Matrix is loaded).
# What came later is tried again, twice: a busy neighbour lengthens seconds of the CPU, and nothing shortens them.
library(gbt)
args <- commandArgs(trailingOnly = TRUE)
source(file.path(Sys.getenv("SIGNALS"), "jobs.R"))
tries <- as.integer(args[2])
dyn.load(args[3])
options(gbt.oversubscribe = TRUE, warn = 1)
set.seed(as.integer(Sys.getenv("GBT_SIGNALS_SEED", "1")))
LIMIT <- 0.2
me <- Sys.getpid()

report <- function(ok, what, name, value = 0, note = "") {
  line <- sprintf("%s\t%s\t%s\t%.3f\t%s\n", if (ok) "ok" else "FAILED", what, name, value, note)
  cat(line, file = args[4], append = TRUE)
}

# The CPU that a process used, so far: c(its first thread, all its threads), in seconds.
stat_of <- function(line) {
  part <- strsplit(sub("^.*\\) ", "", line), " ", fixed = TRUE)[[1L]]
  sum(as.numeric(part[12:13])) / 100
}
used <- function() {
  c(stat_of(readLines(sprintf("/proc/%d/task/%d/stat", me, me))), stat_of(readLines(sprintf("/proc/%d/stat", me))))
}
at_signal <- function(file) {
  lines <- readLines(file)
  c(stat_of(lines[1L]), stat_of(lines[2L]))
}

# A signal `after` seconds from now, by another process, which notes before it what this one has used.
send <- function(signal, after) {
  file <- tempfile()
  system(sprintf("(sleep %.3f; cat /proc/%d/task/%d/stat /proc/%d/stat > %s; kill -%s %d) >/dev/null 2>&1 &", after, me,
                 me, me, file, signal, me))
  file
}
open_things <- function() c(length(list.files("/proc/self/task")), length(list.files("/proc/self/fd")))

# Interrupts are held back outside of `heard()`: on a loaded machine one may come before the job starts or while its
# outcome is written down, and would end this script.
heard <- function(job, then) tryCatch(allowInterrupts(job), interrupt = then)

small <- local({
  x <- data.frame(a = seq_len(500) %% 17, s = rep(c("a", "b", "c", NA, "d"), 100))
  function() gbt_train(x, x$a * 2, nrounds = 3, valid = 0.2, seed = 1, threads = 2)$state
})
small_before <- small()
things_before <- open_things()

# How late a signal is heard that is sent `after` seconds, or what went wrong.
heard_after <- function(after, job) {
  file <- send("INT", after)
  .Call("polls_begin")
  seen <- tryCatch(heard({
    suppressMessages(job(2L))
    Sys.sleep(60) # it comes after the job's end: no matter
    "lost"
  }, function(c) c(used(), .Call("polls_collecting", at_signal(file)[1L]))), error = conditionMessage)
  if (is.character(seen)) return(seen)
  late <- seen[1:2] - at_signal(file)
  max(late[1L] - seen[3L], late[2L] - late[1L])
}

interrupt <- function(name, job) {
  took <- system.time(suppressMessages(job(2L)))[["elapsed"]]
  worst <- 0
  n_heard <- 0L
  for (i in seq_len(tries)) {
    after <- stats::runif(1, 0.005, max(0.05, 0.95 * took))
    for (tried in 1:3) {
      late <- heard_after(after, job)
      if (is.character(late) || late <= LIMIT) break
    }
    if (is.character(late)) {
      report(FALSE, "interrupt", name, 0, late)
      next
    }
    n_heard <- n_heard + 1L
    worst <- max(worst, late)
  }
  report(worst <= LIMIT, "interrupt", name, worst,
         sprintf("%d of %d heard, the job takes %.2f s", n_heard, tries, took))
  Sys.sleep(0.05)
  report(identical(small(), small_before), "same bytes afterwards", name)
  gc()
  report(all(open_things() <= things_before), "threads and files", name, 0, paste(open_things(), collapse = " "))
}

suspendInterrupts({
  for (group in names(jobs_of(args[1]))) {
    jobs <- jobs_of(args[1])[[group]]()
    chosen <- if (args[1] == "long") names(jobs) else names(jobs)[seq_along(jobs) %% 3 == 1]
    for (name in chosen) interrupt(paste(group, name, sep = ": "), jobs[[name]])
    rm(jobs)
  }

  # Finished rounds come back as a model, and are those of a training of so many. The shape of the trees is given: the
  # rules for it look at `nrounds`.
  local({
    x <- matrix(stats::rnorm(3e5), ncol = 10)
    y <- x[, 1] + stats::rnorm(3e4)
    train <- function(nrounds) {
      gbt_train(x, y, nrounds = nrounds, eta = 0.1, grow_policy = "depthwise", max_depth = 6, valid = 0.2, seed = 1,
                subsample = 0.7, threads = 2)
    }
    for (i in seq_len(tries)) {
      send("INT", stats::runif(1, 0.1, 1))
      model <- heard(train(1e6), function(c) c$model)
      ok <- is.null(model) || identical(model$state, train(model$nrounds)$state)
      report(ok, "rounds handed back", "training", 0, if (is.null(model)) "none" else paste(model$nrounds, "rounds"))
    }

    # A storm of them, and R goes on.
    storm <- "(i=0; while [ $i -lt 300 ]; do kill -INT %d; i=$((i + 1)); sleep 0.002; done) >/dev/null 2>&1 &"
    system(sprintf(storm, me))
    n <- 0L
    end <- Sys.time() + 3
    while (Sys.time() < end && n < 20L) heard(train(1e6), function(c) n <<- n + 1L)
    repeat if (heard({
      Sys.sleep(2)
      TRUE
    }, function(c) FALSE)) break
    report(n > 0L && identical(small(), small_before), "storm", "300 of SIGINT", 0, sprintf("%d interrupts", n))

    # R's time limits pass through every phase.
    for (i in seq_len(2L * tries)) {
      limit <- stats::runif(1, 0.05, 0.5)
      said <- tryCatch(allowInterrupts({
        setTimeLimit(elapsed = limit, transient = TRUE)
        repeat predict(train(3), x, threads = 2)
      }), error = function(e) paste(class(e)[1L], conditionMessage(e)))
      setTimeLimit()
      report(grepl("^simpleError reached elapsed time limit", said), "time limit", "training and prediction", 0, said)
    }
    report(identical(small(), small_before), "same bytes afterwards", "time limits")
  })
})
