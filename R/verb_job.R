# Trainings in the background: the side of the session that waits. See R/verb_job_child.R for the other side,
# R/verb_job_start.R for what starts and ends processes, R/verb_job_carry.R for what is handed over.
#
# A job is an environment of class gbt_job:
#   owner     the process that started it: only this process may query or end it
#   folder    what both sides write to, in tempdir(); gone when the job has ended
#   process   list of functions, see R/verb_job_start.R
#   call, what   the user's call; the same as one of the function that runs, for models
#   began     when
#   state     "running", "done", "failed" or "cancelled"
#   asked     has it been asked to end?
#   seen      the last report, see new_reporter()
#   outcome   list(kind, value, error, conditions, seconds) once it has ended, see run_job()
#   told      were its warnings and messages passed on?
#   clock     the most seconds that were shown
#
# The folder has  start  what the child loads,  work  what it does (the child removes it),  report  how far it is,
# stop  it is to end,  outcome  its result,  output  what it printed. Reports and the outcome get their names when
# they are whole.

#' Train in the background
#'
#' `gbt_job()` starts [gbt_train()], or another function, in an R process of its own and returns at once: a Shiny app, a
#' notebook or a console stays usable. `gbt_job_status()` shows its progress, `gbt_job_log()` gives the log so far,
#' `gbt_job_cancel()` ends it and returns the model of the rounds that are finished, `gbt_job_wait()` waits for its
#' end, `gbt_job_result()` returns what it has made. The model is the one that `gbt_train()` would have returned,
#' to the byte.
#'
#' @section What is handed over:
#' Arguments are evaluated at once, in this session, and written to a file without packing. A data frame of 1,000,000
#' rows and 28 columns takes half a second. The process reads the file, removes it and begins. Data that are prepared,
#' [gbt_data()], are opened again by the process, so they must be in a folder: `gbt_data(path = )`. They are not copied.
#' Data that the process fetches on its own are not copied, either: `gbt_job(file, fun = function(file)
#' gbt_train(read.csv(file), ...))`.
#'
#' Functions (callbacks, metrics, an objective, `fun`) bring what they use of the global environment, and those attached
#' packages that they use. Functions that were made inside another function bring all variables of that function.
#' Objects that work only in this session, such as database connections, cannot be sent. Options that begin with `gbt.`
#' are the same there, and so are the working directory and the state of R's random numbers. After [set.seed()] a job
#' draws the seed that `gbt_train()` would have drawn. `gbt_job()` itself draws one random number unless `seed` is
#' given, so that the next job draws another one.
#'
#' @section How it ends:
#' Where the data are a data frame or a matrix, names of arguments, parameters, the response and metrics are checked by
#' `gbt_job()` itself, before the process is started. A job runs until it is done, fails or is cancelled, or until this
#' session ends, or the object is garbage. Then the process is ended, and its files are removed. Errors of the process
#' are raised again by `gbt_job_result()`, with their classes and fields, and its warnings and messages come with the
#' first call of it. A process that was killed, or that crashed, is an error of class `gbt_error_job` that says so.
#' Ctrl-C in the console does not reach the process; `gbt_job_cancel()` does, within 0.2 s also in the middle of a round
#' (on Windows without the package callr at the end of the round). Processes of mirai are its own: it decides whether
#' Ctrl-C reaches them. Where this session is killed, a job in one of them notices at the end of its round (on Windows,
#' and on another machine, it goes on to its end).
#'
#' Several jobs may run at once. Each uses `threads` threads, so share them out.
#'
#' @param ... The arguments of `fun`. With a formula `weights`, `offset`, `exposure`, `mask`, `time`, `group`, `subset`,
#'   `valid` and `folds` are evaluated in `data`, as by [gbt_train()] and [gbt_cv()].
#' @param fun [gbt_train()], [gbt_cv()], or a function of your own that calls them; a report is about the training that
#'   runs at the moment.
#' @param by How to start the process: `"shell"`, by R's own means; `"callr"`, by the package callr; `"mirai"`, by the
#'   package mirai. `NULL` takes `"shell"`, and on Windows, which does not have it, `"callr"`. The difference is small:
#'   callr needs no shell. mirai (tried with 2.7.1) gives the job to one of your daemons on this machine if you have set
#'   `mirai::daemons()`, so that further jobs wait until one is free. Else the job has its own process.
#' @param job An object from `gbt_job()`.
#' @param timeout Seconds to wait at most. `gbt_job_cancel()` kills the process then, and so there is no model; with 0
#'   it asks the job to end and returns at once.
#' @return `gbt_job()`: an object of class `gbt_job`.
#'
#'   `gbt_job_status()`: an object of class `gbt_job_status`, a list with
#'   \item{state}{`"running"`, `"done"`, `"failed"` or `"cancelled"`}
#'   \item{phase}{of a running job: `"starting"`, `"preparing"`, `"searching"` (for the number of rounds or the shape
#'     of trees), `"training"`, `"finishing"`}
#'   \item{round, nrounds}{rounds that are finished, and all rounds}
#'   \item{metrics}{named numbers, of the last round}
#'   \item{seconds}{since the start}
#'   \item{rest}{expected seconds until all rounds are finished, `NA` when that is not known. Early stopping may end the
#'     job sooner}
#'   \item{training}{which of several trainings is running}
#'   \item{message}{why the job failed}
#'
#'   `gbt_job_log()`: the evaluation log so far, a data frame, or `NULL`.
#'
#'   `gbt_job_wait()`: has the job ended? `TRUE` or `FALSE`, invisibly.
#'
#'   `gbt_job_result()`: the value of `fun`. If the job was cancelled, an error of class `gbt_error_job` with the field
#'   `model`.
#'
#'   `gbt_job_cancel()`: the model so far, invisibly, or `NULL` when no round was finished. A job that has ended does
#'   not change.
#' @seealso [gbt_train()]
#' @examples
#' job <- gbt_job(mpg ~ ., mtcars, nrounds = 50, eval_train = TRUE, threads = 1)
#' gbt_job_status(job)
#' model <- gbt_job_result(job)
#' same <- gbt_train(mpg ~ ., mtcars, nrounds = 50, eval_train = TRUE, threads = 1)
#' identical(model$state, same$state)
#' @export
gbt_job <- function(..., fun = gbt_train, by = NULL) {
  if (!is.function(fun)) {
    stop_argument(sprintf("`fun` must be a function, such as gbt_train or gbt_cv, not %s", describe(fun)), "fun")
  }
  by <- job_starter(by)
  given <- without_arguments(capture_call("gbt_job"), c("fun", "by"))$args
  name <- has_own_function(fun)
  args <- job_values(given, fun)
  work <- job_work(args, fun, name)
  check_job_training(args, name)
  job <- list2env(list(
    owner = Sys.getpid(), folder = new_job_folder(), process = NULL, call = tidy_call(sys.call()),
    what = if (name %in% c("gbt_train", "gbt_cv", "gbt_tune")) small_call(call_of(given, name)),
    began = Sys.time(), state = "running", asked = FALSE, seen = NULL, outcome = NULL, told = FALSE, clock = 0
  ), parent = emptyenv())
  started <- FALSE
  on.exit(if (!started) unlink(job$folder, recursive = TRUE))
  write_part(job$folder, "work", work)
  write_part(job$folder, "start", list(libs = .libPaths(), lib = dirname(getNamespaceInfo("gbt", "path")),
                                       session = mark_of_session()))
  job$process <- start_process(by, job$folder)
  reg.finalizer(job, end_job, onexit = TRUE)
  started <- TRUE
  if (!any(canonical_name(names(args)) %in% "seed")) stats::runif(1L)
  structure(job, class = "gbt_job")
}

# Values of the arguments of `fun` by name.
job_values <- function(args, fun) {
  is_training <- any(vapply(list(gbt_train, gbt_cv, gbt_tune), identical, NA, fun))
  if (is_training) training_values(args) else lapply(args, function(its) its$value())
}

# When a job is garbage or the session ends. A forked child has a copy of the object, and must let the process be.
end_job <- function(job) {
  if (job$owner != Sys.getpid()) return(invisible())
  if (job$state == "running" && !is.null(job$process)) job$process$kill()
  for (i in 1:50) { # a process that is dying may put a last file into the folder while it is removed
    unlink(job$folder, recursive = TRUE)
    if (!dir.exists(job$folder)) break
    Sys.sleep(0.01)
  }
}

check_job <- function(job) {
  if (missing(job) || !inherits(job, "gbt_job") || !is.environment(job)) {
    stop_argument(sprintf("`job` must be an object from gbt_job(), not %s",
                          if (missing(job)) "left out" else describe(job)), "job")
  }
  if (!identical(job$owner, Sys.getpid())) {
    stop_argument(paste("`job` was started by another process, and only that process can use it; save the result of",
                        "the job instead"), "job")
  }
  job
}

# Brings the object up to date.
update_job <- function(job) {
  if (job$state != "running") return(invisible(job))
  there <- dir.exists(job$folder)
  if (!there) job$process$kill() # the folder was removed, so the process cannot give a result any more
  alive <- there && job$process$alive() # before the outcome is looked for
  seen <- read_part(job$folder, "report")
  if (!is.null(seen)) job$seen <- seen
  outcome <- read_part(job$folder, "outcome")
  if (is.null(outcome) && alive) return(invisible(job))
  if (is.null(outcome)) outcome <- if (there) exit_outcome(job) else outcome_without_folder(job)
  # from the session's start of the job; the process itself counted only its own time
  if (!is.null(outcome$ended)) outcome$seconds <- as.double(difftime(outcome$ended, job$began, units = "secs"))
  outcome$value <- with_call_of_job(outcome$value, job$what)
  if (is.list(outcome$error) && is_model(outcome$error$model)) {
    outcome$error$model <- with_call_of_job(outcome$error$model, job$what)
  }
  job$outcome <- outcome
  job$state <- outcome$kind
  job$process$wait_for_end()
  unlink(job$folder, recursive = TRUE)
  invisible(job)
}

# The process has ended without a word.
exit_outcome <- function(job) {
  seconds <- as.double(difftime(Sys.time(), job$began, units = "secs"))
  said <- last_output(file.path(job$folder, "output"))
  if (job$asked) return(list(kind = "cancelled", seconds = seconds))
  message <- paste0(exit_text(job$process$exit()), where_it_was(job), said)
  list(kind = "failed", error = gbt_error("job", message, call = NULL), seconds = seconds)
}

# The folder was removed.
outcome_without_folder <- function(job) {
  seconds <- as.double(difftime(Sys.time(), job$began, units = "secs"))
  if (job$asked) return(list(kind = "cancelled", seconds = seconds))
  message <- sprintf(paste("the job's folder \"%s\" was removed, so its result is lost and its process was ended%s;",
                           "what is in tempdir() must stay there while the session lives"), job$folder,
                     where_it_was(job))
  list(kind = "failed", error = gbt_error("job", message, call = NULL), seconds = seconds)
}

# status: as a shell gives it, above 128 for signals; NA when it is not known.
exit_text <- function(status) {
  if (is.na(status)) return("the process of the job does not run any more")
  switch(as.character(status),
    "137" = paste("the process of the job was killed (signal 9): by a user, or by the system for lack of memory;",
                  "use fewer rows, a smaller `max_bin`, fewer jobs at a time, or gbt_data(path = )"),
    "139" = "the process of the job crashed (signal 11)",
    "143" = "the process of the job was asked to end (signal 15)",
    if (status > 128 && status < 192) {
      sprintf("the process of the job was ended by signal %d", as.integer(status) - 128L)
    } else {
      sprintf("the process of the job ended with status %d and left no result", as.integer(status))
    })
}

where_it_was <- function(job) {
  if (is.null(job$seen) || is.na(job$seen$round)) return("")
  sprintf(" (in round %s of %s)", with_commas(job$seen$round + 1L), with_commas(job$seen$nrounds))
}

#' @rdname gbt_job
#' @export
gbt_job_status <- function(job) {
  update_job(check_job(job))
  seen <- job$seen
  running <- job$state == "running"
  log <- seen$log
  metrics <- if (length(log) > 1L && nrow(log)) vapply(unclass(log)[-1L], function(v) v[length(v)], 0)
  seconds <- if (running) as.double(difftime(Sys.time(), job$began, units = "secs")) else job$outcome$seconds
  job$clock <- seconds <- max(job$clock, seconds) # it never goes back
  structure(class = "gbt_job_status", list(
    state = job$state, phase = if (!running) "ended" else if (is.null(seen)) "starting" else seen$phase,
    round = if (is.null(seen)) NA_integer_ else seen$round, nrounds = if (is.null(seen)) NA_integer_ else seen$nrounds,
    metrics = if (is.null(metrics)) numeric(0) else metrics, seconds = seconds,
    rest = if (running && !is.null(seen)) remaining_seconds(seen) else NA_real_,
    training = if (is.null(seen)) NA_integer_ else seen$training,
    message = if (!is.null(job$outcome$error)) conditionMessage(job$outcome$error)
  ))
}

# The time that the other rounds will take, by the pace so far.
remaining_seconds <- function(seen) {
  if (seen$phase != "training" || is.na(seen$pace)) return(NA_real_)
  since <- as.double(difftime(Sys.time(), seen$at, units = "secs"))
  max(0, (seen$nrounds - seen$round) * seen$pace - since)
}

#' @rdname gbt_job
#' @export
gbt_job_log <- function(job) {
  update_job(check_job(job))
  value <- job$outcome$value
  if (is_model(value) || inherits(value, "gbt_cv")) return(value$evaluation_log)
  job$seen$log
}

#' @rdname gbt_job
#' @export
gbt_job_wait <- function(job, timeout = Inf) {
  check_job(job)
  check_timeout(timeout)
  end <- proc.time()[["elapsed"]] + timeout
  pause <- 0.01
  while (update_job(job)$state == "running" && proc.time()[["elapsed"]] < end) {
    Sys.sleep(min(pause, max(0, end - proc.time()[["elapsed"]])))
    pause <- min(0.1, pause * 1.5)
  }
  invisible(job$state != "running")
}

check_timeout <- function(timeout) {
  if (!is_number(timeout, 0)) stop_argument("`timeout` must be a number of seconds, 0 or more", "timeout")
}

#' @rdname gbt_job
#' @export
gbt_job_cancel <- function(job, timeout = 10) {
  check_job(job)
  check_timeout(timeout)
  if (update_job(job)$state == "running") {
    file.create(file.path(job$folder, "stop"))
    if (!job$asked) job$process$interrupt()
    job$asked <- TRUE
    if (timeout > 0 && !gbt_job_wait(job, timeout)) {
      job$process$kill()
      gbt_job_wait(job, 10)
    }
  }
  invisible(job_model(job))
}

# The model that there is at the end, or NULL.
job_model <- function(job) {
  value <- job$outcome$value
  if (is_model(value)) return(value)
  model <- if (is.list(job$outcome$error)) job$outcome$error$model
  if (is_model(model)) model
}

#' @rdname gbt_job
#' @export
gbt_job_result <- function(job, timeout = Inf) {
  if (!gbt_job_wait(job, timeout)) {
    stop_job(sprintf("the job has not ended within %s s; gbt_job_status() shows its progress", format(timeout)),
             "running")
  }
  if (!job$told) {
    job$told <- TRUE
    for (condition in job$outcome$conditions) resignal_condition(condition)
  }
  if (job$state == "failed") {
    error <- job$outcome$error
    error["call"] <- list(job$call)
    stop(error)
  }
  if (job$state == "cancelled") {
    model <- job_model(job)
    stop_job(sprintf("the job was cancelled%s", if (is.null(model)) "" else {
      sprintf(" after %s; gbt_job_cancel(job) and this condition have the model so far",
              counted(model$nrounds, "round"))
    }), "cancelled", model)
  }
  job$outcome$value
}

stop_job <- function(message, state, model = NULL) {
  error <- gbt_error("job", message)
  error$state <- state
  error$model <- model
  stop(error)
}

#' @export
print.gbt_job <- function(x, ...) {
  status <- gbt_job_status(x)
  cat("<gbt_job> ", status_line(status), "\n", sep = "")
  invisible(x)
}

#' @export
format.gbt_job <- function(x, ...) sprintf("<gbt_job: %s>", gbt_job_status(x)$state)

#' @export
print.gbt_job_status <- function(x, ...) {
  cat(status_line(x), "\n", sep = "")
  invisible(x)
}

# "running: round 12 of 100, valid_rmse 0.51, 3.2 s, about 20 s to go"
status_line <- function(status) {
  ended <- status$state != "running"
  rounds <- if (!is.na(status$round)) sprintf("round %s of %s", with_commas(status$round), with_commas(status$nrounds))
  if (!ended && status$phase != "training") rounds <- c(status$phase, rounds)
  metrics <- if (length(status$metrics)) {
    paste(names(status$metrics), formatC(status$metrics, digits = 5L, format = "g", flag = "#"), collapse = ", ")
  }
  rest <- if (!is.na(status$rest)) sprintf("about %s to go", seconds_text(status$rest))
  parts <- c(rounds, metrics, seconds_text(status$seconds), rest)
  if (status$state == "failed") parts <- c(parts, status$message)
  paste0(status$state, ": ", paste(parts, collapse = ", "))
}

seconds_text <- function(x) {
  if (x < 100) return(sprintf("%.1f s", x))
  if (x < 6000) sprintf("%.0f min", x / 60) else sprintf("%.1f h", x / 3600)
}
