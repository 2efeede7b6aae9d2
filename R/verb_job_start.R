# Processes of jobs: how they are started, looked at and ended.
#
# A process is a list of functions:
#   alive()         is it running?             exit()     its status as a shell gives it, NA if it is unknown
#   interrupt()     Ctrl-C                     kill()     at once; by the shell also terminate(), as SIGTERM does
#   wait_for_end()  it has nothing more to do: waits until it writes no files
#
# A process of its own rather than a fork (parallel::mcparallel()): a fork of a session that has used CUDA cannot use
# it, a fork of a Shiny server has its sockets, and on Windows there are none. It is in a session of its own, so that
# Ctrl-C in the console does not end it.

job_starter <- function(by) {
  windows <- .Platform$OS.type == "windows"
  if (is.null(by)) by <- if (windows) "callr" else "shell"
  by <- match_choice(by, c("shell", "callr", "mirai"), "by")
  if (by == "mirai" && !has_mirai()) {
    stop_unsupported("`by = \"mirai\"` needs the package mirai; leave `by` out to start the process without it", "by")
  }
  if (by == "callr" && !requireNamespace("callr", quietly = TRUE)) {
    stop_unsupported(sprintf("`by = \"callr\"` needs the package callr%s", if (windows) {
      ", and on Windows there is no other way: install.packages(\"callr\")"
    } else {
      "; leave `by` out to start the process by the shell"
    }), "by")
  }
  if (by == "shell" && windows) {
    stop_unsupported("on Windows there is no `by = \"shell\"`; install the package callr, and leave `by` out", "by")
  }
  by
}

has_mirai <- function(package = "mirai") requireNamespace(package, quietly = TRUE) # Debian lacks it, so no suggestion

start_process <- function(by, folder) {
  switch(by, callr = start_by_callr(folder), mirai = start_by_mirai(folder), start_by_shell(folder))
}

# The work of the process: it loads gbt from where it is loaded from here, and works.
child_code <- paste(
  "folder <- commandArgs(TRUE)[1L]; start <- readRDS(file.path(folder, 'start'))",
  ".libPaths(start$libs); get('job_main', envir = loadNamespace('gbt', lib.loc = start$lib))(folder)", sep = "; "
)

# Arguments: process of the session, folder, and the command with its words. The shell waits for the command and keeps
# its status; another one looks every second whether the session is still there. The command is known by its number,
# which `pid` has.
shell_code <- "
session=$1
folder=$2
shift 2
\"$@\" >\"$folder/output\" 2>&1 &
child=$!
echo \"$child\" >\"$folder/pid.new\" && mv \"$folder/pid.new\" \"$folder/pid\"
(while kill -0 \"$child\"; do kill -0 \"$session\" || kill -9 \"$child\"; sleep 1; done) >/dev/null 2>&1 &
watch=$!
wait \"$child\"
status=$?
kill \"$watch\"
echo \"$status\" >\"$folder/exit.new\" && mv \"$folder/exit.new\" \"$folder/exit\"
"

# The words of a command that runs R with this code.
r_command <- function(code, folder) {
  c(file.path(R.home("bin"), "R"), "--no-echo", "--no-restore", "--no-save", "--no-init-file", "--no-site-file", "-e",
    code, "--args", folder)
}

# A process of its own, which a signal to this one does not reach. line: a command of the shell.
start_apart <- function(line) {
  apart <- if (nzchar(Sys.which("setsid"))) "setsid" else "set -m;" # a session, or at least a group of processes
  system(paste(apart, line, "</dev/null >/dev/null 2>&1 &"))
}

start_by_shell <- function(folder, command = r_command(child_code, folder)) {
  words <- c("-c", shell_code, "gbt-job", Sys.getpid(), folder, command)
  start_apart(paste("sh", paste(shQuote(words), collapse = " ")))
  number <- function(name) number_in(folder, name)
  began <- proc.time()[["elapsed"]]
  pid <- NA_integer_
  find <- function(seconds) { # the shell writes it at once; on a busy machine that may take a moment
    end <- proc.time()[["elapsed"]] + seconds
    while (is.na(pid <<- number("pid")) && proc.time()[["elapsed"]] < end) Sys.sleep(0.01)
    pid
  }
  has_ended <- function() file.exists(file.path(folder, "exit"))
  gone <- NA # since when the process is not there, though no status is
  send <- function(signal) {
    if (is.na(pid)) find(2)
    if (!is.na(pid) && !has_ended()) tools::pskill(pid, signal)
  }
  list(
    alive = function() {
      if (has_ended()) return(FALSE)
      if (is.na(pid) && is.na(find(0))) return(proc.time()[["elapsed"]] - began < 30)
      if (tools::pskill(pid, 0L)) return(TRUE)
      if (wait_until(has_ended, 1)) return(FALSE) # the status comes a moment after the end
      if (is.na(gone)) gone <<- proc.time()[["elapsed"]]
      proc.time()[["elapsed"]] - gone < 10 # the shell was ended before it could write it
    },
    exit = function() number("exit"),
    interrupt = function() send(tools::SIGINT),
    terminate = function() send(tools::SIGTERM),
    kill = function() send(tools::SIGKILL),
    wait_for_end = function() wait_until(has_ended, 2)
  )
}

# The number that a file of the folder has; NA when it has none (yet).
number_in <- function(folder, name) {
  file <- file.path(folder, name)
  text <- if (file.exists(file)) try_else(readLines(file, warn = FALSE), function(e) character(0))
  if (length(text) == 1L) suppressWarnings(as.integer(text)) else NA_integer_
}

wait_until <- function(test, seconds) {
  end <- proc.time()[["elapsed"]] + seconds
  while (!test()) {
    if (proc.time()[["elapsed"]] >= end) return(FALSE)
    Sys.sleep(0.01)
  }
  TRUE
}

start_by_callr <- function(folder) {
  work <- function(folder) {
    start <- readRDS(file.path(folder, "start"))
    get("job_main", envir = loadNamespace("gbt", lib.loc = start$lib))(folder)
  }
  environment(work) <- globalenv()
  process <- callr::r_bg(work, list(folder), libpath = .libPaths(), stdout = file.path(folder, "output"),
                         stderr = "2>&1", user_profile = FALSE, supervise = TRUE)
  list(
    alive = function() process$is_alive(),
    exit = function() {
      status <- process$get_exit_status()
      if (is.null(status)) NA_integer_ else if (status < 0) 128L - status else status
    },
    interrupt = function() process$interrupt(),
    kill = function() process$kill(),
    wait_for_end = function() process$wait(2000)
  )
}

# A task of package mirai: of a daemon where the user has set daemons(), where it may wait for its turn, else of a
# process that mirai starts for it. mirai knows whether the task has ended; signals go to the process by its number,
# which it writes to `pid` when it begins, as stop_mirai() resolves a task whose model is still being written.
start_by_mirai <- function(folder) {
  work <- quote({
    start <- readRDS(file.path(folder, "start"))
    get("job_in_daemon", envir = loadNamespace("gbt", lib.loc = start$lib))(folder, start$libs)
  })
  task <- get_exported("mirai", "mirai")(work, .args = list(folder = folder))
  is_open <- function() isTRUE(get_exported("mirai", "unresolved")(task))
  unix <- .Platform$OS.type == "unix"
  gone <- NA # since when the process is not there, though the task is open
  tell <- function() { # an error before the job began
    words <- task$data
    if (inherits(words, "miraiError")) {
      try_else(writeLines(as.character(words), file.path(folder, "output")), function(e) NULL)
    }
  }
  send <- function(signal) {
    pid <- number_in(folder, "pid")
    if (!is.na(pid) && is_open()) tools::pskill(pid, signal)
  }
  list(
    alive = function() {
      if (!is_open()) {
        tell()
        return(FALSE)
      }
      pid <- number_in(folder, "pid")
      if (!unix || is.na(pid) || tools::pskill(pid, 0L)) return(TRUE)
      if (is.na(gone)) gone <<- proc.time()[["elapsed"]]
      proc.time()[["elapsed"]] - gone < 2
    },
    exit = function() NA_integer_,
    interrupt = function() if (unix) send(tools::SIGINT), # elsewhere it would end the process
    kill = function() {
      send(tools::SIGKILL)
      get_exported("mirai", "stop_mirai")(task)
    },
    wait_for_end = function() wait_until(function() !is_open(), 2)
  )
}

# The session as a process that may outlive it knows it again: by its number, and as numbers are given to others later,
# by when it began.
mark_of_session <- function() {
  list(pid = Sys.getpid(), began = process_start(Sys.getpid()), machine = Sys.info()[["nodename"]])
}

# When a process began, as a text from /proc. NA on systems without /proc, or if the process does not exist or has ended
# (a zombie).
process_start <- function(pid) {
  stat <- try_else(suppressWarnings(readLines(sprintf("/proc/%d/stat", pid), 1L, warn = FALSE)), function(e) "")
  fields <- strsplit(sub(".*[)] ", "", stat), " ", fixed = TRUE)[[1L]] # after its name, which may be anything
  if (length(fields) < 20L || fields[1L] %in% c("Z", "X")) NA_character_ else fields[20L]
}

# FALSE also where that cannot be known: on Windows, and on another machine.
session_is_gone <- function(session) {
  if (is.null(session) || .Platform$OS.type != "unix") return(FALSE)
  if (!identical(session$machine, Sys.info()[["nodename"]])) return(FALSE)
  if (!is.na(session$began)) return(!identical(process_start(session$pid), session$began))
  !tools::pskill(session$pid, 0L)
}

# Files of the folder ------------------------------------------------------------------------------------------------

new_job_folder <- function() {
  folder <- tempfile("gbt-job-")
  if (!dir.create(folder, showWarnings = FALSE, mode = "0700")) {
    stop(gbt_error("io", sprintf("cannot make the folder \"%s\" for the files of a job", folder), folder))
  }
  folder
}

# Not packed: it would take longer than writing. `start` is read before gbt is loaded.
write_part <- function(folder, name, value) {
  path <- file.path(folder, name)
  new <- paste0(path, ".new")
  if (name == "start") return(saveRDS(value, path, compress = FALSE))
  to <- file(new, "wb")
  written <- try_else({
    serialize(value, to, xdr = FALSE)
    NULL
  }, identity)
  close(to)
  if (is.null(written)) {
    if (file.rename(new, path)) return(invisible(TRUE))
    written <- simpleError(sprintf("cannot write \"%s\"", path))
  }
  unlink(new)
  stop(gbt_error("io", sprintf("what the job needs or made cannot be handed over: %s", conditionMessage(written)),
                 path))
}

# NULL when it is not there (any more).
read_part <- function(folder, name) {
  path <- file.path(folder, name)
  if (!file.exists(path)) return(NULL)
  from <- try_else(suppressWarnings(file(path, "rb")), function(e) NULL)
  if (is.null(from)) return(NULL)
  on.exit(close(from))
  try_else(unserialize(from), function(e) NULL)
}

# The last lines that a process printed into the file, without those that match a pattern.
last_output <- function(file, but = NULL) {
  lines <- if (file.exists(file)) try_else(readLines(file, warn = FALSE), function(e) character(0)) else character(0)
  if (!is.null(but)) lines <- lines[!grepl(but, lines)]
  lines <- utils::tail(lines[nzchar(trimws(printable(lines)))], 5L)
  if (length(lines)) paste0("\nit printed last:\n", paste(printable(lines), collapse = "\n")) else ""
}
