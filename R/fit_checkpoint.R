# Checkpoints: a training that was killed goes on where its file says. See boost/checkpoint.h. With ranks, the first
# rank reads and writes the file, and says whether there is one.

checkpoint_file <- function(folder) file.path(full_path(folder), "gbt-checkpoint")

# Brings trainer and state to where the file says, if there is one. NULL, or how that training had ended: "early" or
# "callback".
resume_checkpoint <- function(trainer, fit, state) {
  folder <- fit$host$checkpoint
  if (is.null(folder)) return(NULL)
  make_checkpoint_folder(folder)
  if (value_of_first_rank(file.exists(checkpoint_file(folder))) == 0) return(NULL)
  bytes <- tryCatch(.Call(C_gbt_trainer_resume, trainer, checkpoint_file(folder), fit$host$threads),
                    gbt_error_io = stop_checkpoint, gbt_error_format = stop_checkpoint,
                    gbt_error_argument = function(e) stop_other_training(e, "eta" %in% names(fit$by_rule)))
  note <- checkpoint_note(bytes, checkpoint_file(folder))
  if (!identical(note$columns, log_names(fit$evaluation))) {
    stop_argument(sprintf(paste("the checkpoint in \"%s\" belongs to a training with other metrics or validation data;",
                                "remove it to start again, or give another folder"), folder), "checkpoint")
  }
  run <- .Call(C_gbt_trainer_run, trainer, 0, fit$host$threads)
  if (run$rounds > fit$host$nrounds) {
    stop_argument(sprintf(paste("the checkpoint in \"%s\" has %.0f rounds, `nrounds` is %.0f; remove it to start",
                                "again, or give another folder"), folder, run$rounds, fit$host$nrounds), "checkpoint")
  }
  state$rounds <- run$rounds
  state$best <- run$best_round
  state$native <- run$log
  n_own <- ncol(state$own)
  if (length(note$own) != run$rounds * n_own) stop_values(checkpoint_file(folder), "remove it to start again")
  state$own <- matrix(note$own, ncol = n_own)
  if (fit$host$verbose && run$rounds > 0) say(sprintf("going on after round %.0f", fit$start$rounds + run$rounds))
  if (note$why %in% c("early", "callback")) note$why
}

# The way out of a checkpoint that cannot be read.
stop_checkpoint <- function(e) {
  if (!grepl("remove it", e$message, fixed = TRUE)) {
    e$message <- paste0(e$message, "; remove it to start again, or give another folder")
  }
  stop(e)
}

# A checkpoint of another training. by_rule: was `eta` chosen by a rule, which looks at `nrounds`?
stop_other_training <- function(e, by_rule) {
  if (by_rule && grepl("another training", e$message, fixed = TRUE)) {
    e$message <- paste0(e$message, "; `eta` was not given, so it depends on `nrounds`: keep `nrounds`, or give the ",
                        "`eta` of the first call")
  }
  stop(e)
}

# The values that keep_checkpoint() saves with the engine's state, checked, as anyone may have written the file: how the
# training ended, the values of the user's metrics, round by round and then metric by metric, and the names of all
# columns of the log.
checkpoint_note <- function(bytes, file) {
  note <- values_of_bytes(bytes, c("why", "own", "columns"), file, "remove it to start again")
  good <- is_text(note$why) && is.double(note$own) && is.null(names(note$own)) && is_texts(note$columns)
  if (!good) stop_values(file, "remove it to start again")
  note
}

# Writes the file when it is time for it. why: how the training ended, NULL when it has not.
keep_checkpoint <- function(trainer, fit, state, why) {
  host <- fit$host
  now <- proc.time()[["elapsed"]]
  due <- !is.null(why) || now - state$kept_at >= host$checkpoint_seconds
  if (is.null(host$checkpoint) || identical(why, "interrupt") || value_of_first_rank(due) == 0) return(invisible())
  note <- list(why = if (is.null(why)) "" else why, own = as.double(state$own), columns = log_names(fit$evaluation))
  .Call(C_gbt_trainer_save, trainer, checkpoint_file(host$checkpoint), values_bytes(note), host$threads)
  state$kept_at <- proc.time()[["elapsed"]]
}
