# Processes of R/verb_ranks_cluster.R and R/verb_ranks_spark.R: they are started, watched and ended here, and each of
# them works here.

ranks_start_seconds <- 120 # until all ranks are connected, unless `timeout` is given

# The outcome of the training, see run_job().
run_on_cluster <- function(work, ranks, nodes) {
  cluster <- ranks$cluster
  folders <- unlist(on_workers(cluster, function(r) new_job_folder(), seq_along(cluster)))
  home <- new_job_folder()
  process <- NULL
  on.exit(suspendInterrupts({
    if (!is.null(process)) end_mpiexec(process)
    unlink(home, recursive = TRUE)
    try_else(on_workers(cluster, remove_folder, as.list(folders)), function(e) NULL)
  }))
  commands <- lapply(seq_along(folders), function(r) {
    common <- work$common
    common$ranks <- list(library = ranks$library, timeout = ranks$timeout, rank = r - 1L, size = ranks$size,
                         on_node = sum(nodes == nodes[[r]]))
    on_worker(cluster, r, receive_share, folders[[r]], common, work$at, work$shares[[r]])
  })
  process <- start_by_shell(home, mpiexec_words(ranks, commands))
  lines <- hydra_lines(process, home, ranks$size)
  failed <- unlist(on_workers(cluster, start_line, Map(list, lines, folders)))
  if (any(nzchar(failed))) stop(gbt_error("job", failed[nzchar(failed)][[1L]], "cluster"))
  watch_ranks(process$alive, function() on_worker(cluster, 1L, interrupt_rank, folders[[1L]]), home, ranks$timeout,
              function(seconds) stop_not_connected(home, seconds))
  outcome <- NULL
  for (r in seq_along(folders)) { # rank 0 has all, unless it was killed
    if (is.null(outcome)) outcome <- on_worker(cluster, r, read_part, folders[[r]], "outcome")
  }
  if (!is.null(outcome)) return(outcome)
  status <- process$exit()
  list(kind = "failed", error = gbt_error("job", paste0(
    "the ranks ended without a result (status ", status, " of mpiexec)", last_said(home)
  ), call = NULL))
}

remove_folder <- function(folder) unlink(folder, recursive = TRUE)

# On a worker: keeps what its rank is to do, and returns the words of the command that runs it. at: positions of the
# values in `share` among the arguments.
receive_share <- function(folder, common, at, share) {
  common$args[at] <- share
  write_part(folder, "work", common)
  write_part(folder, "start", list(libs = .libPaths(), lib = dirname(getNamespaceInfo("gbt", "path"))))
  r_command(sub("job_main", "rank_main", child_code, fixed = TRUE), folder)
}

# One program for each host, whose name is made up: a worker is what runs the line of a host.
mpiexec_words <- function(ranks, commands) {
  hosts <- paste(sprintf("worker%d", seq_len(ranks$size)), collapse = ",")
  programs <- unlist(lapply(commands, function(words) c(":", "-n", "1", words)))[-1L]
  c(ranks$mpiexec, "-launcher", "manual", "-hosts", hosts, "-ppn", "1", "-genvnone", "-wdir", "/", programs)
}

# The lines that start the processes of each host.
hydra_lines <- function(process, home, n) {
  output <- function() suppressWarnings(readLines(file.path(home, "output"), warn = FALSE))
  is_there <- function() file.exists(file.path(home, "output")) && any(output() == "HYDRA_LAUNCH_END")
  wait_until(function() is_there() || !process$alive(), 30)
  lines <- if (is_there()) grep("^HYDRA_LAUNCH: ", output(), value = TRUE)
  if (length(lines) == n) return(sub("^HYDRA_LAUNCH: ", "", lines))
  stop(gbt_error("job", paste0("mpiexec does not start the ranks", last_said(home)), "cluster"))
}

# On a worker: runs the line; "" or why not. pair: the line and the folder for its output.
start_line <- function(pair) {
  command <- tryCatch(hydra_command(pair[[1L]], pair[[2L]]), error = identity)
  if (inherits(command, "error")) {
    return(sprintf("the worker on %s has %s", Sys.info()[["nodename"]], conditionMessage(command)))
  }
  start_apart(paste("sh -c", shQuote(command)))
  ""
}

# The line as a command of this machine, whose output goes into the folder.
hydra_command <- function(line, folder) {
  program <- sub(" .*", "", line)
  here <- if (file.exists(program)) program else Sys.which(basename(program))[[1L]]
  if (!nzchar(here)) {
    stop_unsupported(sprintf("no %s; install MPICH there, of the version that the session's machine has",
                             basename(program)))
  }
  paste0(shQuote(here), substring(line, nchar(program) + 1L), " >", shQuote(file.path(folder, "proxy")), " 2>&1")
}

# Waits until `busy` says no, and shows what rank 0 says. interrupt: hands Ctrl-C on to the ranks; late: called with the
# seconds when the ranks have not connected in time, which begins at once or when the first rank has started.
watch_ranks <- function(busy, interrupt, home, timeout, late, at_once = TRUE) {
  connected <- FALSE
  seen <- 0L
  limit <- if (timeout > 0) timeout else ranks_start_seconds
  end <- if (at_once) proc.time()[["elapsed"]] + limit else Inf
  look <- function() {
    lines <- suppressWarnings(readLines(file.path(home, "output"), warn = FALSE))
    if (any(lines == rank_connected)) connected <<- TRUE
    new <- lines[seq_along(lines) > seen]
    seen <<- length(lines)
    if (is.infinite(end) && any(new == rank_started)) end <<- proc.time()[["elapsed"]] + limit
    for (line in new[startsWith(new, rank_says)]) show_line(substring(line, nchar(rank_says) + 1L))
  }
  asked <- FALSE
  pause <- 0.01
  repeat {
    stopped <- tryCatch({
      while (busy()) {
        look()
        if (!connected && proc.time()[["elapsed"]] > end) {
          late(limit)
          break
        }
        Sys.sleep(pause)
        pause <- min(0.1, pause * 1.5)
      }
      FALSE
    }, interrupt = function(c) TRUE)
    if (!stopped) break
    if (!connected) look() # ranks that train already have a model
    if (asked || !connected) raise_interrupt("training was interrupted")
    asked <- TRUE # once more: at once
    interrupt()
  }
  look()
}

stop_not_connected <- function(home, seconds) {
  stop(gbt_error("job", sprintf(paste0(
    "the ranks have not connected within %g seconds, so they were ended; their machines must reach each other and ",
    "this one by the network, by their names%s"
  ), seconds, last_said(home)), "cluster"))
}

interrupt_rank <- function(folder) {
  pid <- number_in(folder, "pid")
  if (!is.na(pid)) tools::pskill(pid, tools::SIGINT)
}

# mpiexec, asked to end, ends the ranks.
end_mpiexec <- function(process) {
  if (!process$alive()) return(invisible())
  process$terminate()
  if (!wait_until(function() !process$alive(), 5)) process$kill()
  invisible()
}

# Lines that a rank prints for the session.
rank_started <- "gbt: a rank has started"
rank_connected <- "gbt: the ranks are connected"
rank_says <- "gbt says: "

# A message by its class and text, on one line.
say_line <- function(condition) {
  own <- inherits(condition, "gbt_message")
  cat(rank_says, if (own) "gbt " else "any ", utils::URLencode(enc2utf8(conditionMessage(condition)), reserved = TRUE),
      "\n", sep = "", file = stderr())
}

show_line <- function(line) {
  text <- utils::URLdecode(substring(line, 5L))
  Encoding(text) <- "UTF-8"
  if (startsWith(line, "gbt ")) say(sub("\n$", "", text)) else message(text, appendLF = FALSE)
}

# The last lines that mpiexec and the ranks have printed for people.
last_said <- function(home) last_output(file.path(home, "output"), "^(gbt: |gbt says: |HYDRA_LAUNCH)")

# In the process of a rank.
rank_main <- function(folder) {
  writeLines(format(Sys.getpid()), file.path(folder, "pid"))
  job_main(folder)
}

# The work of a rank, as a call: values are variables of its own, and what must be evaluated in the data is written.
work_of_rank <- function(work) {
  its <- work$ranks
  cat(rank_started, "\n", sep = "", file = stderr())
  ranks <- gbt_ranks(library = its$library, timeout = its$timeout)
  threads <- if (is.null(its$threads)) count_threads() %/% its$on_node else its$threads
  if (is.null(thread_request())) options(gbt.threads = max(1L, threads))
  first <- its$rank == 0L
  if (first) cat(rank_connected, "\n", sep = "", file = stderr())
  args <- lapply(work$args, restore_carried)
  if (!is.null(work$maker)) {
    args[[work$maker]] <- with_ranks(ranks, args[[work$maker]](its$rank, its$size), "gbt_train")
  }
  here <- new.env(parent = globalenv())
  names <- sprintf("argument_%d", seq_along(args))
  for (i in seq_along(args)) assign(names[[i]], args[[i]], envir = here)
  call <- as.call(c(get(work$fun), stats::setNames(lapply(names, as.name), names(args)), work$written,
                    list(ranks = ranks)))
  model <- withCallingHandlers(eval(call, here), message = function(m) {
    if (first) say_line(m)
    invokeRestart("muffleMessage")
  })
  with_masked_out_of_all(model, ranks)
}

# The model with the predictions for the masked-out rows of all ranks, as the session has the rows of all.
with_masked_out_of_all <- function(model, ranks) {
  own <- model$masked_out
  if (is.null(own)) return(model)
  all <- with_ranks(ranks, numbers_of_rows(own), "gbt_train")
  model$masked_out <- if (is.matrix(own)) matrix(all, ncol = ncol(own), dimnames = list(NULL, colnames(own))) else all
  model
}
