# Callbacks: functions of the user's that are called after every round.

#' Callbacks for training
#'
#' A callback is a function that [gbt_train()] calls after every round. Give one, or a list of several, as `callbacks`.
#' If it returns `TRUE`, training ends after this round; other values are ignored. An error in a callback also ends the
#' training; [gbt_last_interrupted()] then returns the model of the finished rounds.
#'
#' A callback gets one argument, a list:
#' \describe{
#'   \item{`round`}{The round that was just finished, counted over the whole model (from 1).}
#'   \item{`nrounds`}{The last round that was asked for.}
#'   \item{`log`}{Named numbers: the row of the evaluation log of this round.}
#'   \item{`seconds`}{Time since training began.}
#'   \item{`model`}{A function without arguments that returns the model so far. It copies the model's bytes, so do not
#'     call it in every round of a long training.}
#' }
#'
#' `gbt_cb_print()` writes a line of the log with [message()]; the argument `verbose` of [gbt_train()] does the same
#' without slowing down training. `gbt_cb_record()` stores the log, the time of each round and, if wanted, the model at
#' every `model_every`-th round in an environment, where they remain if the training fails.
#'
#' @param every Number of rounds between two lines.
#' @param into An environment. `log` (a data frame with the columns `round`, `seconds` and those of the evaluation log)
#'   and `models` (a list named by rounds) are put there.
#' @param model_every Number of rounds between two models that are kept; 0 keeps none.
#' @return A function for the argument `callbacks`.
#' @seealso [gbt_train()]
#' @examples
#' seen <- new.env()
#' slow_enough <- function(now) now$seconds > 60
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, eval_train = TRUE, threads = 1,
#'                callbacks = list(gbt_cb_record(seen), slow_enough))
#' seen$log
#' @name gbt_callbacks
NULL

#' @rdname gbt_callbacks
#' @export
gbt_cb_print <- function(every = 1) {
  every <- check_whole(every, "every", 1)
  function(now) {
    if (now$round %% every == 0 || now$round == now$nrounds) say(log_line(now$round, now$nrounds, now$log, now$seconds))
    FALSE
  }
}

#' @rdname gbt_callbacks
#' @export
gbt_cb_record <- function(into, model_every = 0) {
  if (!is.environment(into)) stop_argument(sprintf("`into` must be an environment, not %s", describe(into)), "into")
  takes <- !identical(into, emptyenv()) && (!environmentIsLocked(into) || all(c("log", "models") %in% names(into)))
  if (!takes) stop_argument("`into` is an environment that cannot be written to; give new.env()", "into")
  model_every <- check_whole(model_every, "model_every", 0)
  into$log <- NULL
  into$models <- list()
  function(now) {
    row <- list_frame(c(list(round = now$round, seconds = now$seconds), as.list(now$log)), 1L)
    into$log <- rbind(into$log, row)
    if (model_every > 0 && now$round %% model_every == 0) into$models[[as.character(now$round)]] <- now$model()
    FALSE
  }
}

as_callbacks <- function(callbacks) {
  if (is.function(callbacks)) callbacks <- list(callbacks)
  ok <- is.null(callbacks) || (is.list(callbacks) && all(vapply(callbacks, is.function, NA)))
  if (!ok) stop_argument("`callbacks` must be a function or a list of functions, see ?gbt_callbacks", "callbacks")
  for (f in callbacks) {
    makers <- list(gbt_cb_print = gbt_cb_print, gbt_cb_record = gbt_cb_record)
    maker <- names(makers)[vapply(makers, identical, NA, f)]
    if (length(maker)) {
      stop_argument(sprintf("`%s` is a function that makes a callback; call it: callbacks = %s", maker,
                            c(gbt_cb_print = "gbt_cb_print()", gbt_cb_record = "gbt_cb_record(into)")[[maker]]),
                    "callbacks")
    }
    takes <- names(formals(args(f)))
    if (length(takes) == 0L) {
      stop_argument("a callback must be a function of one argument, see ?gbt_callbacks", "callbacks")
    }
  }
  as.list(callbacks)
}

# TRUE if one of them asks to stop; all are called.
call_callbacks <- function(callbacks, now) {
  stop <- FALSE
  for (f in callbacks) if (isTRUE(user_code(f(now), "callbacks"))) stop <- TRUE
  stop
}
