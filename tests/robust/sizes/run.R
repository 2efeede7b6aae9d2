# Sweeps over sizes: Rscript run.R short|long CONSTANTS DEVICE WORKER WORKERS
#
# CONSTANTS: a file of whole numbers, one a line. Of the sizes of every sweep this worker takes every WORKERS-th. A case
# is a call with one size, in a child process that takes the sizes one after the other and notes each before it begins:
# when it dies or hangs, the size at hand is reported and another child goes on after it. The last line is
# "N passed, N failed", sizes counted. DEVICE cuda: few sizes, each compared with the CPU byte by byte.
args <- commandArgs(trailingOnly = TRUE)
long <- args[1L] == "long"
constants <- as.double(readLines(args[2L]))
device <- args[3L]
worker <- as.integer(args[4L])
workers <- as.integer(args[5L])
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L]))
library(gbt)
suppressPackageStartupMessages(library(Matrix))
options(gbt.device = device)
source(file.path(here, "cases.R"), encoding = "UTF-8")
hang_after <- 300 # seconds for one size on a machine that has other work

# All from low to dense, powers of two with their neighbours, constants, some between, the same in every run. The
# neighbours of constants, and constants of the engine, in the long form alone: the engine by itself has them in
# ../../native/whole/test_sizes.c.
sizes_of <- function(low, high, dense) {
  reach <- if (long) -2:2 else -1:1
  powers <- 2^(0:24)
  between <- floor(powers * (1 + outer(seq_along(powers), seq_len(if (long) 20 else 1), function(i, k) {
    (i * 7919 + k * 104729) %% 10007 / 10007
  })))
  n <- c(low:dense, outer(powers, reach, `+`), if (long) outer(constants, reach, `+`) else constants, between)
  sort(unique(n[n >= low & n <= high]))
}

# What is wrong with a case, or NULL. A classed error is an answer; an internal one is a fault.
judge <- function(fn, n) {
  tryCatch({
    fn(n)
    NULL
  }, gbt_error_internal = function(e) paste("internal error:", conditionMessage(e)),
  gbt_error = function(e) NULL,
  error = function(e) paste("error:", paste(conditionMessage(e), collapse = " ")))
}

run_child <- function(name, fn, sizes, notes) {
  job <- parallel::mcparallel({
    out <- file(notes, open = "at")
    for (n in sizes) {
      cat("begin", n, "\n", file = out)
      flush(out)
      fault <- judge(fn, n)
      if (!is.null(fault)) cat("fault", n, gsub("\n", " ", fault), "\n", file = out)
    }
    cat("end\n", file = out)
    close(out)
    TRUE
  }, mc.set.seed = FALSE)
  before <- -1
  hangs <- FALSE
  repeat {
    got <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = hang_after))
    if (!is.null(got)) break
    now <- file.size(notes)
    hangs <- identical(now, before)
    if (hangs) tools::pskill(job$pid, tools::SIGKILL)
    before <- now
    if (hangs) break
  }
  suppressWarnings(parallel::mccollect(job))
  hangs
}

passed <- failed <- 0
tell <- function(...) {
  failed <<- failed + 1
  cat("FAILED ", ..., "\n", sep = "")
}

run_sweep <- function(name, fn, sizes) {
  notes <- tempfile("notes-")
  left <- sizes
  while (length(left) > 0L) {
    file.create(notes)
    hangs <- run_child(name, fn, left, notes)
    lines <- readLines(notes)
    word <- sub(" .*", "", lines)
    rest <- sub("^[a-z]+ ?", "", lines)
    begun <- as.double(rest[word == "begin"])
    for (fault in rest[word == "fault"]) tell(name, ", size ", fault)
    passed <<- passed + length(begun) - sum(word == "fault")
    if ("end" %in% word) break
    at <- if (length(begun) > 0L) begun[length(begun)] else left[1L]
    if (length(begun) > 0L && !at %in% suppressWarnings(as.double(sub(" .*", "", rest[word == "fault"])))) {
      passed <<- passed - 1
    }
    tell(name, ", size ", format(at, scientific = FALSE), if (hangs) " hangs" else " ended R")
    left <- left[left > at]
  }
  unlink(notes)
  cat(sprintf("%s: %d sizes from %.0f to %.0f\n", name, length(sizes), sizes[1L], sizes[length(sizes)]))
}

chosen <- Sys.getenv("GBT_SIZES_ONLY")
for (name in names(sweeps)) {
  sweep <- sweeps[[name]]
  if (nzchar(chosen) && !name %in% strsplit(chosen, " ", fixed = TRUE)[[1L]]) next
  if (device != "cpu" && is.null(sweep$cuda)) next
  range <- if (device != "cpu") sweep$cuda else if (long && !is.null(sweep$long)) sweep$long else sweep$short
  sizes <- sizes_of(range[1L], range[2L], range[3L])
  sizes <- sizes[seq_along(sizes) %% workers == worker %% workers]
  began <- sum(proc.time()[-3L])
  if (length(sizes) > 0L) run_sweep(name, sweep$fn, sizes)
  cat(sprintf("  %.1f s of the processor\n", sum(proc.time()[-3L]) - began))
}
cat(sprintf("%.0f passed, %.0f failed\n", passed, failed))
