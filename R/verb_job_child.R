# Trainings in the background: the side of the process that trains. See R/verb_job.R.

# Called by child_code.
job_main <- function(folder) {
  work <- read_part(folder, "work")
  unlink(file.path(folder, "work")) # it may be large
  began <- proc.time()[["elapsed"]]
  outcome <- run_job(folder, work)
  outcome$seconds <- proc.time()[["elapsed"]] - began
  outcome$ended <- Sys.time()
  package_state$reporter <- NULL
  if (!dir.exists(folder)) return(invisible()) # the session has ended
  if (session_is_gone(package_state$session)) return(unlink(folder, recursive = TRUE)) # it was killed
  tryCatch(write_part(folder, "outcome", outcome), gbt_error_io = function(e) {
    write_part(folder, "outcome", list(kind = "failed", error = e, seconds = outcome$seconds))
  })
}

# The same in a daemon of package mirai, which may do other work afterwards and is left unchanged. The daemon is not
# ended when the session is killed, so the job itself checks whether the session still exists.
job_in_daemon <- function(folder, libs) {
  session <- read_part(folder, "start")$session
  if (session_is_gone(session)) return(invisible(unlink(folder, recursive = TRUE)))
  package_state$session <- session
  package_state$next_look <- 0
  was <- list(folder = getwd(), libs = .libPaths(), random = get0(".Random.seed", globalenv(), inherits = FALSE),
              options = options_of_jobs())
  output <- file(file.path(folder, "output"), "wt")
  sink(output)
  sink(output, type = "message")
  on.exit({
    package_state$session <- NULL
    sink(type = "message")
    sink()
    close(output)
    setwd(was$folder)
    .libPaths(was$libs)
    new <- setdiff(names(options_of_jobs()), names(was$options))
    options(c(was$options, stats::setNames(vector("list", length(new)), new)))
    if (!is.null(was$random)) assign(".Random.seed", was$random, envir = globalenv())
  })
  .libPaths(libs)
  writeLines(format(Sys.getpid()), file.path(folder, "pid.new"))
  file.rename(file.path(folder, "pid.new"), file.path(folder, "pid"))
  job_main(folder)
  invisible()
}

# list(kind = "done", value) or (kind = "failed", error) or (kind = "cancelled", value = the model so far or NULL), with
# `conditions`, the warnings and messages.
run_job <- function(folder, work) {
  conditions <- list()
  keep <- function(condition) {
    condition["call"] <- list(NULL)
    if (length(conditions) < 1000L) conditions[[length(conditions) + 1L]] <<- condition
  }
  package_state$reporter <- new_reporter(folder)
  package_state$interrupted <- NULL
  outcome <- tryCatch(
    try_else(withCallingHandlers(list(kind = "done", value = do_work(work)), warning = function(w) {
      keep(w)
      invokeRestart("muffleWarning")
    }, message = keep, interrupt = function(c) { # the model is being made: it is not to be lost
      ending <- package_state$reporter$is_ending(is.character(work$fun))
      if (ending && !is.null(findRestart("resume"))) invokeRestart("resume")
    }), function(e) list(kind = "failed", error = portable_error(e))),
    interrupt = function(c) list(kind = "cancelled", value = model_so_far(c))
  )
  if (outcome$kind == "done" && is_asked_to_stop(folder)) outcome$kind <- "cancelled" # a model that is cut short
  outcome$conditions <- conditions
  outcome
}

# Must the job stop? Yes if the session asks for it, or if the folder or the session is gone.
is_asked_to_stop <- function(folder) {
  file.exists(file.path(folder, "stop")) || !dir.exists(folder) || has_lost_session()
}

# Asked every round, and looked at every second.
has_lost_session <- function() {
  session <- package_state$session
  now <- proc.time()[["elapsed"]]
  if (is.null(session) || now < package_state$next_look) return(FALSE)
  package_state$next_look <- now + 1
  session_is_gone(session)
}

model_so_far <- function(condition) if (is.list(condition) && !is.null(condition$model)) condition$model else
  package_state$interrupted

do_work <- function(work) {
  if (is.null(work$ranks) || dir.exists(work$folder)) setwd(work$folder) # a rank may be on another machine
  options(work$options)
  for (package in work$packages) suppressPackageStartupMessages(library(package, character.only = TRUE))
  list2env(work$globals, envir = globalenv())
  assign(".Random.seed", work$random, envir = globalenv())
  if (!is.null(work$ranks)) return(work_of_rank(work))
  fun <- if (is.function(work$fun)) work$fun else getExportedValue("gbt", work$fun)
  do.call(fun, lapply(work$args, restore_carried), quote = TRUE, envir = globalenv())
}

# Without what cannot be sent, or what is large and of no use there.
portable_error <- function(e) {
  message <- conditionMessage(e)
  if (!is.list(e)) e <- structure(class = class(e), list(message = message))
  e["call"] <- list(NULL)
  e[["calls"]] <- NULL
  if (is.null(try_else(serialize(unclass(e), NULL), function(problem) NULL))) {
    e <- structure(class = class(e), list(message = message, call = NULL))
  }
  e
}

# Reports ------------------------------------------------------------------------------------------------------------

# The reports of progress_bar() in the trainings of a job. A report is a list:
#   phase      "preparing", "searching" (for the number of rounds), "training" or "finishing"       at    when
#   training   which one it is, from 1                      round, nrounds   rounds of it: finished, and asked for
#   pace       seconds a round; NA before the second report
#   log        data frame: its log so far, or NULL
new_reporter <- function(folder) {
  trainings <- 0L
  open <- FALSE
  stopped <- FALSE # is a training to end?
  due <- -Inf
  report <- list(phase = "preparing", at = Sys.time(), training = NA_integer_, round = NA_integer_,
                 nrounds = NA_integer_, pace = NA_real_, log = NULL)
  send <- function() {
    report$at <<- Sys.time()
    t0 <- proc.time()[["elapsed"]]
    try_else(write_part(folder, "report", report), function(e) NULL) # on Windows the other side may be reading
    t1 <- proc.time()[["elapsed"]]
    due <<- t1 + max(0.2, 20 * (t1 - t0)) # long logs are not to slow training down
  }
  send()
  bar <- function(nrounds, searching = FALSE) {
    if (open) return(silent_bar()) # a training in a callback of another one
    if (stopped) raise_interrupt("the job was cancelled")
    open <<- TRUE
    trainings <<- trainings + 1L
    report$training <<- trainings
    report$nrounds <<- as.integer(nrounds)
    report$phase <<- if (searching) "searching" else "training"
    first <- NULL # its round and time
    list(
      set = function(round, log = NULL) {
        now <- proc.time()[["elapsed"]]
        if (is.null(first)) first <<- c(round, now)
        if (round > first[1L]) report$pace <<- (now - first[2L]) / (round - first[1L])
        if (now >= due || round >= nrounds) {
          report$round <<- as.integer(round)
          report$log <<- if (is.function(log)) log()
          send()
        }
        stopped <<- is_asked_to_stop(folder)
        stopped
      },
      close = function() {
        open <<- FALSE
        report$phase <<- if (searching) "preparing" else "finishing"
        if (searching) { # its rounds are none of the training that follows
          report$round <<- report$nrounds <<- NA_integer_
          report$pace <<- NA_real_
          report["log"] <<- list(NULL)
        }
        send()
      }
    )
  }
  # single: is there only one training, so that only its result follows?
  list(bar = bar, is_ending = function(single) stopped || (single && report$phase == "finishing"))
}
