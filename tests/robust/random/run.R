# Runs cases: Rscript run.R OUT WORKER WORKERS SECONDS FROM:TO [FROM:TO ...]
#
# Of the numbers FROM to TO this worker takes every WORKERS-th. SECONDS 0: all of them, else until so many seconds are
# over. Kept cases (../cases) come first, in worker 1. Each case runs in a child process of its own, so that a crash or
# a hang is a failure like any other, and in the other builds that are in OUT; failures are made small and written to
# OUT/robust/random/case-ID.R. The last line is "cases N comparisons N devices N refused N failed N cpu N", in seconds.
args <- commandArgs(trailingOnly = TRUE)
out <- args[1L]
worker <- as.integer(args[2L])
workers <- as.integer(args[3L])
seconds <- as.double(args[4L])
ranges <- strsplit(args[-(1:4)], ":", fixed = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L]))
library(gbt)
for (file in c("case.R", "check.R", "shrink.R")) source(file.path(here, file), encoding = "UTF-8")
for (name in ls()) { # compiled once, here, and not in every child
  if (is.function(get(name))) assign(name, compiler::cmpfun(get(name)))
}
checks <- lapply(checks, compiler::cmpfun)
for (package in c("Matrix", "bit64", "data.table", "tibble")) requireNamespace(package, quietly = TRUE)

hang_after <- 300 # seconds for one case on a machine that has other work

# ---- children and other builds ----

in_child <- function(code) {
  job <- parallel::mcparallel(code, mc.set.seed = FALSE, silent = TRUE)
  got <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = hang_after))
  if (is.null(got)) tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job)) # the end of its pipe
  # Until R has heard of the end of the process: its signal would interrupt a write to another build ("error writing to
  # connection"), as a large case fills the socket.
  while (tools::pskill(job$pid, 0L)) Sys.sleep(0.001)
  if (is.null(got)) return("hang")
  if (is.null(got[[1L]])) "crash" else got[[1L]]
}

# R with another library, told what to do over a socket. Started again after it ended.
builds <- new.env()
start_build <- function(name) {
  old <- Sys.getenv("R_LIBS")
  on.exit(Sys.setenv(R_LIBS = old))
  Sys.setenv(R_LIBS = file.path(out, paste0("lib-", name)))
  for (again in 1:5) { # the port is drawn; where it is taken, another one
    node <- tryCatch(parallel::makePSOCKcluster(1L, timeout = hang_after, setup_strategy = "sequential"),
                     error = identity)
    if (!inherits(node, "error")) break
  }
  parallel::clusterCall(node, function(here) {
    library(gbt)
    for (file in c("case.R", "check.R")) sys.source(file.path(here, file), globalenv())
  }, here)
  builds[[name]] <- node
}

in_build <- function(name, case, device = "cpu") {
  if (is.null(builds[[name]])) start_build(name)
  tryCatch(parallel::clusterCall(builds[[name]], function(case, device) outcome_of(case, device), case, device)[[1L]],
           error = function(e) {
             try(parallel::stopCluster(builds[[name]]), silent = TRUE)
             builds[[name]] <- NULL
             paste("crash:", conditionMessage(e))
           })
}

age <- function(library) file.mtime(file.path(out, library, "gbt", "DESCRIPTION"))
installed <- function(name) isTRUE(age(paste0("lib-", name)) >= age("lib")) # and of the same sources
others <- Filter(installed, c("clang", "nothreads", "plain", "fma"))
emulated <- installed("emulate")

# ---- one case ----

count <- list(cases = 0, comparisons = 0, devices = 0, refused = 0, failed = 0)
bump <- function(name, by = 1) count[[name]] <<- count[[name]] + by

# A device that has no room for the histograms of a symmetric tree's layers within `hist_memory` says so; the CPU
# builds them again. Those of symmetric trees that grow by the sum of gains have to fit for all outputs.
device_refuses <- function(case, outcome, on_cpu) {
  says <- function(kind, words) {
    is.character(outcome$model) && startsWith(outcome$model, kind) && grepl(words, outcome$model, fixed = TRUE)
  }
  identical(case$args$hist_memory, 1) && !is.character(on_cpu$model) &&
    says("gbt_error_memory", "raise `hist_memory`")
}

# How what another build made differs, for the log: a fault that does not come again is known by this alone.
how <- function(other, own) {
  text <- if (is.character(other)) other else as.character(utils::head(all.equal(own, other), 4L))
  substr(paste(text, collapse = "; "), 1L, 1000L)
}

# What does not hold for a case: names, none when all does. on_device: on the emulated one as well.
judge <- function(case, on_device = FALSE) {
  result <- in_child(check_case(case))
  if (identical(result, "hang") || identical(result, "crash")) return(result)
  if (!is.list(result)) return(paste("the check itself:", as.character(result)))
  failed <- result$failed
  for (name in others) {
    outcome <- in_build(name, case)
    if (identical(outcome, result$outcome)) next
    failed <- c(failed, paste("build", name))
    cat(sprintf("build %s: %s\n", name, how(outcome, result$outcome)))
  }
  if (on_device) {
    bump("devices")
    outcome <- in_build("emulate", case, "cuda")
    same <- identical(outcome, result$outcome) || device_refuses(case, outcome, result$outcome)
    if (!same) {
      failed <- c(failed, "emulated device")
      cat(sprintf("emulated device: %s\n", how(outcome, result$outcome)))
    }
  }
  bump("comparisons", result$compared + length(others) + on_device)
  if (is.character(result$outcome$model)) bump("refused")
  failed
}

suits_device <- function(case) emulated && nrow(case$x) * ncol(case$x) * case$args$nrounds <= 5000

take_case <- function(case, name, on_device) {
  bump("cases")
  failed <- judge(case, on_device)
  if (length(failed) == 0L) return(invisible())
  bump("failed")
  cat(sprintf("case %s FAILED: %s\n", name, paste(failed, collapse = "; ")))
  if (count$failed > 5) return(invisible()) # enough to look at
  small <- shrink(case, function(other) any(judge(other, on_device && "emulated device" %in% failed) %in% failed))
  file <- file.path(out, "robust", "random", sprintf("case-%s.R", name))
  write_case(small, file, failed)
  cat(sprintf("made small: %d rows, %d columns, in %s\n", nrow(small$x), ncol(small$x), file))
  if (file.size(file) < 4000) writeLines(readLines(file))
}

# ---- what finds faults must be able to ----

self_check <- function() {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  stopifnot(identical(in_child(1 + 1), 2), identical(in_child(tools::pskill(Sys.getpid(), tools::SIGKILL)), "crash"),
            inherits(in_child(stop("an error")), "try-error"))
  n_models <- 0
  for (id in 1:10) {
    case <- draw_case(id)
    stopifnot(identical(case, draw_case(id)))
    small <- shrink(case, function(other) nrow(other$x) > 3 && other$args$nrounds > 1, 10)
    if (nrow(case$x) > 3 && case$args$nrounds > 1) {
      stopifnot(nrow(small$x) == 4L, nrow(small$new) == 1L, length(small$args) == 1L, length(small$sets) == 0L)
      stopifnot(is.null(colnames(case$x)) || ncol(small$x) == 1L)
    }
    write_case(case, file, "nothing")
    back <- new.env()
    sys.source(file, back)
    stopifnot(identical(back$case, case, num.eq = FALSE, single.NA = FALSE))
    outcome <- other <- outcome_of(case)
    refused <- is.character(outcome$model)
    n_models <- n_models + !refused
    if (refused) other$model <- paste0(other$model, ".")
    else other$model$state[100L] <- xor(other$model$state[100L], as.raw(1L))
    stopifnot(identical(outcome_of(case), outcome), !identical(other, outcome))
  }
  stopifnot(n_models > 5)
}

begin <- proc.time()[["elapsed"]]
if (worker == 1L) {
  self_check()
  for (file in list.files(file.path(here, "..", "cases"), "[.]R$", full.names = TRUE)) {
    kept <- new.env()
    sys.source(file, kept)
    take_case(kept$case, basename(file), suits_device(kept$case))
  }
}
for (range in ranges) {
  id <- as.double(range[1L])
  id <- id + (worker - 1 - id) %% workers
  while (id <= as.double(range[2L]) && (seconds == 0 || proc.time()[["elapsed"]] - begin < seconds)) {
    case <- draw_case(id)
    take_case(case, format(id, scientific = FALSE), (id %/% workers) %% 2 == 0 && suits_device(case))
    id <- id + workers
  }
}
cpu <- sum(proc.time()[c(1L, 2L, 4L, 5L)])
for (name in names(builds)) {
  cpu <- cpu + parallel::clusterCall(builds[[name]], function() sum(proc.time()[1:2]))[[1L]]
  parallel::stopCluster(builds[[name]])
}
count$cpu <- ceiling(cpu)
cat(paste(names(count), vapply(count, format, "", scientific = FALSE), collapse = " "), "\n")
