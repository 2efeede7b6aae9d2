# Every request for memory that gbt's shared object makes fails in turn, in each job of jobs.R: alone (R collects, and
# it is tried again: the result is the one of always), together with that second try, and with all that follow (then
# the error is a gbt_error_memory, or the result the one of always). Threads that the system refuses never show.
#
#   LD_PRELOAD=faults.so Rscript alloc.R FAULTS.SO MOST PART PARTS     MOST: faults of each kind in a job; 0: all
#
# PART "sparse" has the jobs of sparse matrices: package Matrix makes each collection take four times as long, so the
# others (PART 0 to PARTS - 1) do without it.
arg <- commandArgs(TRUE)
dyn.load(arg[1L])
n_threads <- function() length(list.files("/proc/self/task"))
n_others <- n_threads() # some libraries that R is linked with have threads of their own
library(gbt)
folder <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
with_sparse <- arg[3L] == "sparse"
source(file.path(dirname(folder), "jobs.R"))
most <- as.integer(arg[2L])
ways <- c(once = 1L, twice = 2L, on = 3L)
tried <- 0L
faults <- 0L
errors <- 0L
failed <- 0L

start <- function(at = 0, how = 0L, thread = 0) .C("fault_start", as.double(at), as.integer(how), as.double(thread))
stop_faults <- function() {
  out <- .C("fault_stop", double(5))[[1L]]
  stats::setNames(as.list(out), c("calls", "failed", "live", "threads", "found"))
}
# R keeps what the last jump carried until the next one, and gbt the model of a training that failed.
live <- function() {
  tryCatch(stop("nothing"), error = function(e) NULL)
  assign("interrupted", NULL, getFromNamespace("package_state", "gbt"))
  invisible(gc())
  stop_faults()$live
}
complain <- function(...) {
  failed <<- failed + 1L
  cat("FAILED", sprintf(...), "\n")
}
attempt <- function(job) tryCatch(list(value = job()), error = function(e) list(error = e))
describe <- function(e) paste(class(e)[1L], conditionMessage(e))

places <- function(n) {
  if (most == 0L || n <= most) return(seq_len(n))
  unique(c(1L, sort(sample(n, most - 2L)), n))
}

memory_faults <- function(name, job, expected, n_calls) {
  before <- live()
  for (way in names(ways)) {
    for (at in places(n_calls)) {
      start(at, ways[[way]])
      out <- attempt(job)
      struck <- stop_faults()$failed
      tried <<- tried + 1L
      faults <<- faults + struck
      if (is.null(out$error)) {
        if (!identical(out$value, expected)) complain("%s, request %d %s: another result", name, at, way)
      } else {
        errors <<- errors + 1L
        if (way == "once" || !inherits(out$error, "gbt_error_memory")) {
          complain("%s, request %d %s: %s", name, at, way, describe(out$error))
        }
      }
      out <- NULL
    }
    now <- live()
    if (now != before) complain("%s, requests %s: %d blocks are lost", name, way, now - before)
    before <- now
    left <- n_threads() - n_others
    if (left != 0L) complain("%s, requests %s: %d threads are left", name, way, left)
  }
}

thread_faults <- function(name, job, expected) {
  for (thread in 1:3) {
    start(thread = thread)
    out <- attempt(job)
    stop_faults()
    tried <<- tried + 1L
    if (!identical(out$value, expected)) {
      complain("%s, thread %d refused: %s", name, thread,
               if (is.null(out$error)) "another result" else describe(out$error))
    }
  }
}

set.seed(11)
options(gbt.oversubscribe = TRUE)
all <- jobs(1L)
threaded <- jobs(4L)
mine <- if (with_sparse) grepl("sparse", names(all)) else seq_along(all) %% as.integer(arg[4L]) == as.integer(arg[3L])
for (name in names(all)[mine]) {
  job <- all[[name]]
  expected <- job()
  if (!identical(job(), expected)) complain("%s: not the same twice", name)
  start()
  job()
  memory_faults(name, job, expected, stop_faults()$calls)
  thread_faults(name, threaded[[name]], expected)
  if (!identical(job(), expected)) complain("%s: another result after the faults", name)
}
if (stop_faults()$found == 0) complain("gbt.so was not found: nothing was tried")
cat(sprintf("memory: calls with faults\t%d\n", tried), sprintf("memory: requests refused\t%.0f\n", faults),
    sprintf("memory: calls that gave a classed error\t%d\n", errors), sep = "")
cat(sprintf("%d passed, %d failed\n", tried - failed, failed))
