# A live model in a file that is trained again on demand: what the Shiny module of R/plug_shiny.R does, without Shiny.
#
# A hub is an environment, one for each file in an R process, which all sessions of an app share:
#   path      the live model's file, which changes in one step       job      gbt_job that trains, or NULL
#   state     "idle", "running", "promoted", "held_back", "cancelled", "failed", "restored"
#   message   the last outcome as text                              verdict  see compare_models(), or NULL
#   held      a challenger that was held back, or NULL               status, log   of the job
#   rows      list(train, holdout) of the job that runs              spec     list(formula, args, margin, history)
#   last      the live model as it was read last, or NULL            unreadable   why the file cannot be read, or NULL
#
# Replaced models go to the folder path + ".history", each under the time when it was replaced.

refresh_hub <- function(path, spec) {
  path <- file.path(normalizePath(dirname(full_path(path)), mustWork = FALSE), basename(path))
  hubs <- package_state$hubs
  hub <- hubs[[path]]
  if (is.null(hub)) {
    hub <- list2env(list(path = path, state = "idle", message = NULL, job = NULL, verdict = NULL, held = NULL,
                         status = NULL, log = NULL, rows = NULL, last = NULL, unreadable = NULL), parent = emptyenv())
    hubs[[path]] <- hub
    package_state$hubs <- hubs
  }
  hub$spec <- spec
  hub
}

# The live model, or NULL where there is none. An unreadable file is no reason to stop, and says nothing of the job that
# may run: it is reported, the model that was read last stays live, and the next refresh replaces the file.
live_model <- function(hub) {
  hub$unreadable <- NULL
  if (!file.exists(hub$path)) return(hub$last <- NULL)
  tryCatch(hub$last <- gbt_load(hub$path, trust = TRUE), gbt_error = function(e) {
    hub$unreadable <- sprintf("The model's file cannot be read%s: %s",
                              if (is.null(hub$last)) "" else "; the model that was read before stays in use",
                              conditionMessage(e))
    hub$last
  })
}

# The same for a decision: a file that is being written on a slow disk, or copied there, is given a second.
champion_of <- function(hub) {
  wait_until(function() {
    live_model(hub)
    is.null(hub$unreadable)
  }, 1)
  hub$last
}

# data: data frame; holdout: data frame, or a share of `data`, its last rows.
refresh_start <- function(hub, data, holdout) {
  if (hub$state == "running") return(invisible(hub))
  hub$message <- hub$verdict <- hub$held <- hub$log <- hub$status <- NULL
  try_else({
    check_spec(hub$spec)
    hub$rows <- refresh_rows(data, holdout)
    args <- hub$spec$args
    named <- canonical_name(names(args)) %in% c("weights", "offset") & vapply(args, is_text, NA)
    args[named] <- lapply(args[named], as.name)
    hub$job <- do.call(gbt_job, c(list(hub$spec$formula, data = hub$rows$train), args))
    hub$state <- "running"
  }, function(e) refresh_failed(hub, e))
  invisible(hub)
}

refresh_failed <- function(hub, e) {
  hub$state <- "failed"
  hub$message <- conditionMessage(e)
  hub$job <- NULL
}

refresh_rows <- function(data, holdout) {
  if (!is.data.frame(data)) stop_data(sprintf("`data` must be a data frame, not %s", describe(data)), "data")
  if (is.data.frame(holdout)) return(list(train = data, holdout = holdout))
  if (!is_number(holdout, 0, 0.9) || holdout == 0) {
    stop_argument("`holdout` must be a data frame, a function that returns one, or a share of the rows up to 0.9",
                  "holdout")
  }
  n <- nrow(data)
  k <- max(1, round(n * holdout))
  if (n - k < 1) stop_data(sprintf("%s are too few to hold some out", counted(n, "row")), "data")
  list(train = subset_rows(data, seq_len(n - k)), holdout = subset_rows(data, n - k + seq_len(k)))
}

# Looks at the job; when it has ended decides over its model.
refresh_look <- function(hub) {
  if (hub$state != "running") return(invisible(hub))
  hub$status <- gbt_job_status(hub$job)
  hub$log <- gbt_job_log(hub$job)
  if (hub$status$state == "running") return(invisible(hub))
  try_else({
    if (hub$status$state == "cancelled") {
      refresh_cancelled(hub)
    } else {
      refresh_decide(hub, withCallingHandlers(gbt_job_result(hub$job), warning = function(w) {
        hub$message <- c(hub$message, conditionMessage(w))
        invokeRestart("muffleWarning")
      }, message = function(m) invokeRestart("muffleMessage")))
    }
  }, function(e) refresh_failed(hub, e))
  hub$job <- hub$rows <- NULL
  invisible(hub)
}

refresh_cancel <- function(hub) {
  if (hub$state != "running") return(invisible(hub))
  gbt_job_cancel(hub$job)
  refresh_look(hub)
}

refresh_cancelled <- function(hub) {
  model <- gbt_job_cancel(hub$job)
  hub$state <- "cancelled"
  hub$message <- if (is.null(model)) "Cancelled before a round was finished; the live model stays." else {
    sprintf("Cancelled after %s; the live model stays.", counted(model$nrounds, "round"))
  }
}

# The first model is taken as it is; another one when it is not worse than the margin allows.
refresh_decide <- function(hub, model) {
  champion <- champion_of(hub)
  verdict <- compare_models(champion, model, hub$rows$holdout, hub$spec, hub$unreadable)
  model$refresh <- list(trained = format(Sys.time(), "%Y-%m-%d %H:%M:%S"), metric = verdict$metric,
                        loss = verdict$challenger, holdout_rows = verdict$rows)
  hub$verdict <- verdict
  if (verdict$promote) {
    refresh_promote(hub, model)
  } else {
    hub$held <- model
    hub$state <- "held_back"
  }
}

refresh_promote <- function(hub, model, state = "promoted") {
  keep_in_history(hub)
  gbt_save(model, hub$path)
  hub$last <- model
  hub$unreadable <- hub$held <- NULL
  hub$state <- state
}

history_folder <- function(hub) paste0(hub$path, ".history")

# Newest first: data frame of file and label.
model_history <- function(hub) {
  files <- sort(list.files(history_folder(hub), "[.]gbt$", full.names = TRUE), decreasing = TRUE)
  label <- sub("^(....)(..)(..)-(..)(..)(..).*$", "\\1-\\2-\\3 \\4:\\5:\\6", basename(files))
  list_frame(list(file = files, label = label), length(files))
}

# The live file, if there is one, goes to the history under the time when it was written.
keep_in_history <- function(hub) {
  if (!file.exists(hub$path) || hub$spec$history < 1) return(invisible())
  folder <- history_folder(hub)
  dir.create(folder, showWarnings = FALSE)
  now <- as.POSIXct(file.mtime(hub$path))
  part <- floor(as.double(now) %% 1 * 1e6)
  file <- file.path(folder, sprintf("%s-%06d.gbt", format(now, "%Y%m%d-%H%M%S"), as.integer(part)))
  tryCatch({
    live <- full_path(hub$path)
    .Call(C_gbt_check_file, live)
    .Call(C_gbt_write_file, full_path(file), readBin(live, "raw", file.size(live))) # it may be no model any more
  }, gbt_error_io = function(e) {
    stop(gbt_error("io", sprintf("cannot keep the replaced model in \"%s\"; the live model stays (%s)", folder,
                                 conditionMessage(e)), folder))
  })
  unlink(utils::tail(model_history(hub)$file, -hub$spec$history))
}

# Back to an earlier model; the live one goes to the history. file: one of model_history().
refresh_restore <- function(hub, file) {
  if (hub$state == "running") return(invisible(hub))
  try_else({
    if (!isTRUE(file %in% model_history(hub)$file)) stop_data("this model is not in the history any more", "file")
    model <- gbt_load(file, trust = TRUE)
    refresh_promote(hub, model, "restored")
    unlink(file)
    hub$verdict <- NULL
    hub$message <- sprintf("Went back to the model of %s.", trained_at(model, file))
  }, function(e) refresh_failed(hub, e))
  invisible(hub)
}

trained_at <- function(model, file) {
  at <- if (is.list(model$refresh)) model$refresh$trained
  if (is_text(at)) at else format(file.mtime(file), "%Y-%m-%d %H:%M:%S")
}
