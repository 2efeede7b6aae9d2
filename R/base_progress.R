# Output of a training while it runs. Nothing by default; lines are messages of class gbt_message, bars go to stderr.

say <- function(text) {
  message(structure(class = c("gbt_message", "message", "condition"), list(message = paste0(text, "\n"), call = NULL)))
}

# The value of an expression, in which every text of a message or warning of gbt's is shown once: folds say the same.
# all: so is every text of other warnings, such as those of a formula's terms.
with_conditions_once <- function(expr, all = FALSE) {
  told <- character(0)
  once <- function(restart) {
    function(condition) {
      text <- paste(class(condition)[1L], conditionMessage(condition))
      if (text %in% told) invokeRestart(restart)
      told <<- c(told, text)
    }
  }
  warned <- once("muffleWarning")
  withCallingHandlers(expr, gbt_message = once("muffleMessage"), gbt_warning = warned,
                      warning = function(w) if (all && !inherits(w, "gbt_warning")) warned(w))
}

# The value of an expression, whose messages of gbt's are one message in a document of knitr, which would show a box for
# each. They come before a warning or an error that follows them.
in_one_box <- function(expr) {
  if (!isTRUE(getOption("knitr.in.progress"))) return(expr)
  held <- character(0)
  release <- function(...) {
    text <- held
    held <<- character(0)
    if (length(text)) say(paste(sub("\n$", "", text), collapse = "\n"))
  }
  on.exit(release())
  hold <- function(m) {
    held <<- c(held, conditionMessage(m))
    invokeRestart("muffleMessage")
  }
  withCallingHandlers(expr, gbt_message = hold, warning = release, error = release)
}

# "[ 10/100] train_rmse 0.51231  valid_rmse 0.60012", or the time when nothing is evaluated.
log_line <- function(round, nrounds, log, seconds) {
  values <- if (length(log)) {
    paste(names(log), formatC(log, digits = 6L, format = "g", flag = "#"), collapse = "  ")
  } else {
    sprintf("%.1f s", seconds)
  }
  sprintf("[%*d/%d] %s", nchar(nrounds), as.integer(round), as.integer(nrounds), values)
}

# list(set = function(round, log), close = function()). `log` is a function that gives the log so far; set() is TRUE
# when training is to end. A job's reports; progressr's when the user has set handlers of it, else a bar on stderr.
# searching: are rounds looked for, so that another training follows?
progress_bar <- function(show, nrounds, searching = FALSE) {
  if (is_reporting()) return(package_state$reporter$bar(nrounds, searching))
  if (!show && is_waiting()) return(late_bar(nrounds, searching))
  if (!show || isTRUE(getOption("knitr.in.progress"))) return(silent_bar())
  if (progressr_listens()) {
    report <- getExportedValue("progressr", "progressor")(steps = nrounds, on_exit = FALSE, envir = environment(),
                                                          enable = in_future() || getOption("progressr.enable", TRUE))
    at <- 0
    return(list(
      set = function(round, log = NULL) {
        if (round > at) report(amount = round - at)
        at <<- round
        FALSE
      },
      close = function() report(type = "finish")
    ))
  }
  bar <- utils::txtProgressBar(max = max(nrounds, 1), style = 3L, file = stderr())
  list(set = function(round, log = NULL) {
    utils::setTxtProgressBar(bar, round)
    FALSE
  }, close = function() close(bar))
}

# Is this the process of a job? See R/verb_job_child.R.
is_reporting <- function() !is.null(package_state$reporter)

# Does progressr show its bars here? It does inside with_progress() or with global handlers only. A future passes its
# progress to the process that waits for it, whose handlers cannot be seen from inside the future.
progressr_listens <- function() {
  if (in_future() && requireNamespace("progressr", quietly = TRUE)) return(TRUE)
  if (!"progressr" %in% loadedNamespaces()) return(FALSE)
  its <- function(name) getExportedValue("progressr", name)
  if (isTRUE(try_else(its("handlers")(global = NA), function(problem) FALSE))) return(TRUE)
  wrappers <- list(its("with_progress"), its("without_progress"))
  any(vapply(seq_len(sys.nframe()), function(i) any(vapply(wrappers, identical, NA, sys.function(i))), NA))
}

# Is this code evaluated by package future? Such an evaluation keeps its start time in a variable of a calling frame.
in_future <- function() {
  if (!"future" %in% loadedNamespaces()) return(FALSE)
  any(vapply(seq_len(sys.nframe()), function(i) {
    exists("...future.startTime", envir = sys.frame(i), inherits = FALSE) ||
      exists("...future.result", envir = sys.frame(i), inherits = FALSE)
  }, NA))
}

# How many rounds to run before R looks at the log again. Lines and bars need that now and then, callbacks, own metrics
# and own objectives after every round; the model is the same whichever way.
chunk_size <- function(plan, done, seconds_per_round) {
  left <- plan$nrounds - done
  if (plan$every_round) return(1)
  size <- left
  if (plan$verbose) {
    at <- plan$rounds_before + done
    size <- if (at == plan$rounds_before) 1 else plan$verbose_every - at %% plan$verbose_every
  }
  if (plan$progress) {
    steps <- if (is.na(seconds_per_round)) 1 else 0.2 / seconds_per_round
    size <- min(size, max(1, floor(steps)))
  }
  if (!is.null(plan$checkpoint)) {
    steps <- if (is.na(seconds_per_round)) 1 else plan$checkpoint / seconds_per_round
    size <- min(size, max(1, floor(steps)))
  }
  min(size, left)
}

# The value of `code`. Where it takes long, one line says once what is going on and how to shorten it, though the user
# has not asked for progress: after options(gbt.progress_after = ) seconds, by default 5 in an interactive session and
# never elsewhere, in knitr or in a job. text: function(round, nrounds, searching) -> the line; show: FALSE for no line.
with_late_line <- function(show, text, code) {
  after <- getOption("gbt.progress_after", if (interactive()) 5 else Inf)
  if (!show || is_waiting() || is_reporting() || isTRUE(getOption("knitr.in.progress")) || !is_number(after, 0, 1e9)) {
    return(code)
  }
  package_state$late <- list(from = proc.time()[["elapsed"]] + after, text = text)
  on.exit(package_state$late <- NULL)
  code
}

# Is there a line that is still to be told?
is_waiting <- function() !is.null(package_state$late)

# As progress_bar(): tells that line when its time has come.
late_bar <- function(nrounds, searching) {
  list(set = function(round, log = NULL) {
    late <- package_state$late
    if (!is.null(late) && proc.time()[["elapsed"]] >= late$from) {
      package_state$late <- NULL
      say(late$text(round, nrounds, searching))
    }
    FALSE
  }, close = function() NULL)
}

silent_bar <- function() list(set = function(round, log = NULL) FALSE, close = function() NULL)
