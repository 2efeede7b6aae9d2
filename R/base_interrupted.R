# Trainings that Ctrl-C, a time limit or an error of the user's ended: the model so far is kept.

# A function of the user's failed. The same way, unless there is no round yet.
stop_failed <- function(model, error) {
  if (!is.null(model)) {
    package_state$interrupted <- model
    error$model <- model
    done <- if (model$nrounds == 1L) "1 round is" else sprintf("%d rounds are", model$nrounds)
    error$message <- sprintf("%s\n%s finished: field `model` of this condition has the model so far",
                             error$message, done)
  }
  stop(error)
}

# Interrupted: the model so far goes with the condition, and is kept for gbt_last_interrupted().
# error: what stopped it when it was no Ctrl-C.
stop_interrupted <- function(model, error = NULL) {
  package_state$interrupted <- model
  if (!is.null(error)) stop(error)
  raise_interrupt(sprintf("training was interrupted after %d rounds; gbt_last_interrupted() has the model so far",
                          model$nrounds), model = model)
}

# `code` that prepares a training, or runs one that keeps no model: where a time limit or Ctrl-C ends it, there is
# nothing to be had, and gbt_last_interrupted() has no earlier model either. goes_on: the training was to go on from a
# model, which may be the earlier one.
without_model <- function(code, goes_on = FALSE) {
  forget <- function(condition) if (!goes_on) package_state$interrupted <- NULL
  withCallingHandlers(code, error = function(e) if (is_time_limit(e)) forget(e), interrupt = forget)
}

#' The model of the last training that was interrupted
#'
#' Ctrl-C during [gbt_train()] ends the training, and so does an error in your own callback, metric or objective. The
#' finished rounds are a valid model. It is the field `model` of the condition, so that `tryCatch(gbt_train(...),
#' interrupt = function(c) c$model)` or `tryCatch(gbt_train(...), gbt_error_callback = function(e) e$model)` catches it,
#' and this function returns it afterwards.
#'
#' The condition of Ctrl-C has the class `gbt_interrupt`. An error of yours keeps its classes and fields and gets the
#' class `gbt_error_callback`; it has the fields `model` (`NULL` when there was no round yet), `parameter` (which
#' argument of [gbt_train()] the function was given as), `error` (the condition as your function raised it) and `calls`
#' (the calls that led to it, as [sys.calls()] gives them). When a time limit ([setTimeLimit()]) is reached, R raises
#' an error of its own, without a model; this function has it.
#'
#' A script of `Rscript` ends at Ctrl-C or at an error that is not caught, and the model is lost. To keep it, catch the
#' condition as above and save its model, save models in a callback, or use `checkpoint`.
#'
#' After Ctrl-C during [gbt_tune()] the condition has the field `tune`, the configurations that are finished, and this
#' function returns that.
#'
#' @return A model, or the result of [gbt_tune()]. `NULL` when nothing was interrupted in this session, and when the
#'   last call that was interrupted was a [gbt_cv()], or had not finished a round or a configuration. An interrupted
#'   training with `init_model` that had no round yet leaves the earlier model.
#' @seealso [gbt_train()]
#' @examples
#' gbt_last_interrupted()
#' @export
gbt_last_interrupted <- function() package_state$interrupted
