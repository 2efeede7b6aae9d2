# One part of the campaign about files: Rscript check.R PART FOLDER FIGURES ... (files.sh tells which there are)
#
# In every part a file holds the old model or the new one, to the byte, and nothing else of ours is left in its folder.
suppressPackageStartupMessages(library(gbt))
args <- commandArgs(TRUE)
part <- args[1L]
folder <- normalizePath(args[2L])
figures <- args[3L]
passed <- failed <- 0

check <- function(ok, ...) {
  if (isTRUE(ok)) passed <<- passed + 1 else failed <<- failed + 1
  if (!isTRUE(ok)) cat("FAILED:", ..., "\n")
  invisible(ok)
}
figure <- function(name, value) cat(sprintf("%s\t%s\n", name, format(value)), file = figures, append = TRUE)
bytes_of <- function(file) readBin(file, "raw", file.size(file))
files_of <- function(folder) list.files(folder, all.files = TRUE, no.. = TRUE)
temps_of <- function(folder) grep("^[.]gbt-.*[.]tmp$", files_of(folder), value = TRUE)
attempt <- function(code) tryCatch(code, error = identity)
is_ours <- function(e) inherits(e, "gbt_error") && !inherits(e, "gbt_error_internal")

# The bytes of a model's file: those of `state` and in addition which parameters rules chose.
saved_bytes <- function(model) {
  apart <- tempfile()
  on.exit(unlink(apart))
  gbt_save(model, apart)
  bytes_of(apart)
}

x <- matrix(sin(seq_len(6000)), 2000)
y <- x[, 1L] * x[, 2L]
trained <- function(nrounds, depth = 3) gbt_train(x, y, nrounds = nrounds, max_depth = depth, threads = 1)
old <- trained(1)
new <- trained(3)
old_bytes <- saved_bytes(old)
new_bytes <- saved_bytes(new)
file <- file.path(folder, "model.gbt")

# Every system call fails in turn ------------------------------------------------------------------------------------

faults <- function(shim) {
  dyn.load(shim)
  .C("fault_folder", folder)
  disarm <- function() for (i in 0:1) .C("fault_arm", i, "", 0L, 0L)
  state <- function() .C("fault_state", fired = integer(2), n_open = 0L)
  codes <- c(eio = 5L, enospc = 28L, eintr = 4L, eacces = 13L, enomem = 12L, half = 0L)
  injected <- 0
  hit <- character(0)

  # Does something with the n-th call of `call` failing, n = 1, 2, ... until none is left to fail.
  sweep <- function(call, code, before, act, after) {
    if (code == "half" && !call %in% c("pread", "pwrite")) return()
    for (n in 1:1000) {
      before()
      .C("fault_arm", 0L, call, as.integer(n), codes[[code]])
      result <- attempt(act())
      now <- state()
      disarm()
      what <- sprintf("%s %d %s", call, n, code)
      check(now$n_open == 0L, what, "left", now$n_open, "descriptors open")
      check(!inherits(result, "error") || is_ours(result), what, class(result)[1L], said(result))
      after(result, what)
      if (now$fired[1L] == 0L) break
      injected <<- injected + 1
      hit <<- union(hit, call)
      if (code == "half" || (code == "eintr" && call %in% c("open", "pread", "pwrite", "fsync"))) {
        check(!inherits(result, "error"), what, "is no reason to fail")
      }
    }
  }
  said <- function(e) if (inherits(e, "error")) conditionMessage(e) else ""

  saved <- function(result, what) {
    now <- bytes_of(file)
    whole <- identical(now, new_bytes) || (inherits(result, "error") && identical(now, old_bytes))
    check(whole, what, "the file is neither")
    check(length(temps_of(folder)) == 0L, what, "left", temps_of(folder))
    check(identical(Sys.readlink(link)[[1L]], "model.gbt"), what, "the link is gone")
  }
  link <- file.path(folder, "link")
  put_old <- function() {
    gbt_save(old, file)
    unlink(link)
    file.symlink("model.gbt", link)
  }
  # A save that fails to write and then to clean up leaves a file behind, as a killed one does.
  leave_stale <- function() {
    put_old()
    .C("fault_arm", 0L, "pwrite", 1L, 5L)
    .C("fault_arm", 1L, "unlink", 1L, 5L)
    attempt(gbt_save(new, file))
    disarm()
    check(length(temps_of(folder)) == 1L, "a failing unlink leaves a file")
  }
  cleaned <- function(result, what) {
    gbt_save(new, file)
    saved(new, what)
  }

  writing <- c("stat", "readlink", "opendir", "readdir", "open", "flock", "lstat", "fcntl", "pwrite", "fsync", "fchmod",
               "close", "rename", "unlink", "fstat")
  for (code in names(codes)) {
    for (call in writing) {
      sweep(call, code, put_old, function() gbt_save(new, file), saved)
      sweep(call, code, put_old, function() gbt_save(new, link), saved)
      sweep(call, code, leave_stale, function() gbt_save(new, file), cleaned)
    }
    for (call in c("open", "fstat", "pread", "close")) {
      sweep(call, code, function() gbt_save(new, file), function() gbt_load(file)$state, function(result, what) {
        check(inherits(result, "error") || identical(result, new$state), what, "something else was read")
      })
    }
  }
  large <- trained(60, 10)
  large_bytes <- saved_bytes(large)
  for (code in names(codes)) { # in several pieces
    sweep("pwrite", code, put_old, function() gbt_save(large, file), function(result, what) {
      right <- if (inherits(result, "error")) old_bytes else large_bytes
      check(identical(bytes_of(file), right), what, "the file is neither")
      check(length(temps_of(folder)) == 0L, what, "left", temps_of(folder))
    })
    sweep("pread", code, function() gbt_save(large, file), function() gbt_load(file)$state, function(result, what) {
      check(inherits(result, "error") || identical(result, large$state), what, "something else was read")
    })
  }
  never <- setdiff(c(writing, "pread"), hit)
  check(length(never) == 0L, "never called, so never failed:", never)
  unlink(link)
  figure("system calls that failed in turn", injected)
}

# Killed at random moments -------------------------------------------------------------------------------------------

kill_savers <- function(n) {
  big <- list(trained(40, 8), trained(60, 9))
  gbt_save(old, file)
  right <- list(old_bytes, saved_bytes(big[[1L]]), saved_bytes(big[[2L]]))
  left <- 0
  for (i in seq_len(n)) {
    child <- parallel::mcparallel(repeat for (m in big) gbt_save(m, file), silent = TRUE)
    Sys.sleep(stats::runif(1L, 0, 0.05))
    tools::pskill(child$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(child))
    now <- bytes_of(file)
    check(any(vapply(right, identical, NA, now)), "kill", i, "left neither the old model nor the new one")
    left <- left + length(temps_of(folder))
    check(length(temps_of(folder)) <= 1L, "kill", i, "files of earlier kills are still there:", temps_of(folder))
  }
  gbt_save(new, file)
  check(length(temps_of(folder)) == 0L, "left in the end:", temps_of(folder))
  check(left > 0, "no kill came while a file was written")
  figure("saves killed", n)
  figure("of these with a temporary file to clean up", left)
}

# Readers while the file is replaced ---------------------------------------------------------------------------------

race <- function(swaps) {
  models <- list(old, trained(40, 6), trained(20, 8))
  gbt_save(old, file)
  done <- file.path(dirname(folder), "race.done")
  unlink(done)
  as_long_as <- function(goes_on, code) {
    n <- 0
    said <- character(0)
    while (goes_on(n)) {
      n <- n + 1
      e <- attempt(code(n))
      if (inherits(e, "error")) said <- c(said, conditionMessage(e))
    }
    list(n = n, said = said)
  }
  writer <- function() {
    as_long_as(function(n) n < swaps / 2, function(n) gbt_save(models[[1L + n %% 3L]], file))
  }
  reader <- function() {
    as_long_as(function(n) !file.exists(done), function(n) {
      state <- gbt_load(file)$state
      if (!any(vapply(models, function(m) identical(m$state, state), NA))) stop("another model was read")
    })
  }
  began <- Sys.time()
  readers <- lapply(1:4, function(i) parallel::mcparallel(reader(), silent = TRUE))
  writers <- lapply(1:2, function(i) parallel::mcparallel(writer(), silent = TRUE))
  writers <- parallel::mccollect(writers)
  file.create(done)
  readers <- parallel::mccollect(readers)
  unlink(done)
  total <- function(of) sum(vapply(of, function(r) as.double(r$n), 0))
  for (said in unlist(lapply(c(writers, readers), `[[`, "said"))) check(FALSE, said)
  check(total(writers) >= swaps && total(readers) > 4, "nothing was written or read")
  check(identical(files_of(folder), "model.gbt"), "left:", files_of(folder))
  figure("swaps under four readers", total(writers))
  figure("reads beside them", total(readers))
  figure("seconds of swaps", round(as.double(Sys.time() - began, units = "secs")))
}

# A disk that is full, that may not be written to, files that may not be so long -------------------------------------

# A save that cannot work: an error of ours, and all as before.
refused <- function(what, model, says = "") {
  before <- bytes_of(file)
  e <- attempt(gbt_save(model, file))
  check(inherits(e, "gbt_error_io") && grepl(says, conditionMessage(e), fixed = TRUE), what, class(e)[1L],
        if (inherits(e, "error")) conditionMessage(e))
  check(identical(bytes_of(file), before) && identical(gbt_load(file)$state, old$state), what,
        "the old file is not there")
  check(length(temps_of(folder)) == 0L, what, "left", temps_of(folder))
}

large <- trained(60, 10)
switch(part,
  faults = faults(args[4L]),
  kill = kill_savers(as.integer(args[4L])),
  race = race(as.integer(args[4L])),
  old = gbt_save(old, file),
  full = {
    gbt_save(old, file)
    refused("a full disk", large, "No space left")
    check(identical(attempt(gbt_save(new, file)), new), "what fits is not saved")
  },
  limit = {
    gbt_save(old, file)
    refused("a limit of file sizes", large, "File too large")
    check(identical(attempt(gbt_save(new, file)), new), "what fits is not saved")
  },
  disk = refused("a read-only disk", new),
  folder = refused("a read-only folder", new, "to replace the file safely")
)
cat(sprintf("%d passed, %d failed\n", passed, failed))
quit(status = if (failed > 0) 1L else 0L)
