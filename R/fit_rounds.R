# The loop over rounds, and its log. The engine runs many rounds in one call unless something in R needs each round.

# list(why, state, error): why is "done", "early", "time", "callback", "interrupt" or "error", the last two with the
# error that is to be raised, if any; state is an environment (of an earlier run: rounds go on) with
#   rounds  finished in this training       native  matrix of the engine's metrics, a row per round
#   best    the engine's best round         own     matrix of the user's metrics, a row per round
run_rounds <- function(trainer, fit, state = new_state(fit)) {
  last <- fit$start$rounds + fit$host$nrounds
  bar <- progress_bar(fit$host$progress, last, isTRUE(fit$host$searching))
  on.exit(bar$close())
  end <- end_reason(loop_rounds(trainer, fit, state, bar, last))
  if (end$why == "interrupt" || end$why == "error" && !is.null(ranks_here())) refresh_state(trainer, state)
  state$why <- end$why
  if (fit$host$verbose) inform_end(end$why, fit, state)
  list(why = end$why, state = state, error = end$error)
}

new_state <- function(fit) {
  state <- new.env(parent = emptyenv())
  state$rounds <- 0
  state$best <- 0
  state$native <- NULL
  state$own <- no_own_values(fit$evaluation)
  state$began <- state$kept_at <- proc.time()[["elapsed"]]
  state
}

# loop: gives a text, why it ended. A list: why, that text, or "interrupt" or "error" where it was cut; error: what is
# to be raised then, NULL for Ctrl-C.
end_reason <- function(loop) {
  error <- NULL
  why <- tryCatch(withCallingHandlers(loop, error = function(e) if (is_time_limit(e)) as_interrupt(e)),
                  interrupt = function(c) "interrupt", gbt_error_callback = function(e) {
                    error <<- e
                    "error"
                  })
  if (why == "interrupt") error <- take_kept_error() # it was no Ctrl-C, but a time limit
  if (why %in% c("interrupt", "error")) leave_ranks(error)
  list(why = why, error = error)
}

# The rounds of the trainer, for a state that Ctrl-C may have left half written.
refresh_state <- function(trainer, state) {
  run <- .Call(C_gbt_trainer_so_far, trainer)
  state$rounds <- run$rounds
  state$best <- run$best_round
  state$native <- run$log
  state$own <- state$own[seq_len(min(nrow(state$own), run$rounds)), , drop = FALSE]
}

# Values of the user's metrics, before there are any.
no_own_values <- function(evaluation) {
  matrix(NA_real_, 0L, length(evaluation$data) * sum(is.na(evaluation$metrics$code)))
}

loop_rounds <- function(trainer, fit, state, bar, last) {
  ended <- resume_checkpoint(trainer, fit, state)
  if (!is.null(ended)) return(ended)
  given <- is_given(fit$response$objective)
  every_round <- fit$evaluation$own || given || length(fit$callbacks) > 0L
  plan <- list(nrounds = fit$host$nrounds, rounds_before = fit$start$rounds, every_round = every_round,
               verbose = fit$host$verbose, verbose_every = fit$host$verbose_every,
               progress = fit$host$progress || is_reporting() || is_waiting(),
               checkpoint = if (!is.null(fit$host$checkpoint)) fit$host$checkpoint_seconds)
  pace <- NA_real_
  loss <- if (state$rounds == 0) training_loss(trainer, fit) else NA_real_
  while (state$rounds < fit$host$nrounds) {
    if (given) set_own_gradients(trainer, fit, state)
    n <- value_of_first_rank(chunk_size(plan, state$rounds, pace))
    before <- state$rounds
    t0 <- proc.time()[["elapsed"]]
    run <- .Call(C_gbt_trainer_run, trainer, n, fit$host$threads)
    state$rounds <- run$rounds
    state$best <- run$best_round
    state$native <- run$log
    # all ranks know: what follows has operations of all, which a second Ctrl-C would leave
    if (run$why == "interrupt" && !is.null(ranks_here())) return("interrupt")
    if (before == 0 && run$rounds > 0 && !given) state$reason <- small_hessian_reason(trainer, fit)
    stop_own <- run$rounds > before && fit$evaluation$own && evaluate_own_metrics(trainer, fit, state)
    now <- proc.time()[["elapsed"]]
    if (run$rounds > before) pace <- max(now - t0, 1e-3) / (run$rounds - before)
    stop_callback <- run$rounds > before && report_round(trainer, fit, state, bar, last, now - state$began)
    if (length(fit$callbacks)) stop_callback <- any_rank(stop_callback)
    over <- every_round && fit$host$max_seconds > 0 &&
      value_of_first_rank(now - state$began >= fit$host$max_seconds) > 0
    why <- if (run$why != "done") run$why else if (stop_own) "early" else if (stop_callback) "callback" else
      if (over) "time" else if (state$rounds >= fit$host$nrounds) "done"
    keep_checkpoint(trainer, fit, state, why)
    if (!is.null(why)) {
      if (is.null(state$reason)) state$reason <- diverged(trainer, fit, state, loss)
      return(why)
    }
  }
  "done"
}

# The loss of the training rows by the objective's own metric; NA of objectives whose steps cannot be too long: their
# hessians are what they are everywhere.
training_loss <- function(trainer, fit) {
  info <- objective_info(fit$response$objective)
  if (info$gradient %in% c("GIVEN", "QUERY") || info$hessian == "UNIT") return(NA_real_)
  .Call(C_gbt_trainer_loss, trainer, fit$host$threads)
}

# Has the training diverged? A Newton step is too long where the hessian grows along it. With a log link a leaf of few
# rows far above their predicted means gets a value that no later round corrects. before: the loss before the first
# round. Rounds after the best one are not part of the model. Gives a reason (R/fit_learned.R) or NULL.
diverged <- function(trainer, fit, state, before) {
  if (state$rounds == 0 || fit$evaluation$stopping && state$best > 0 && state$best < state$rounds) return(NULL)
  loss <- training_loss(trainer, fit)
  worse <- if (is.na(before)) isTRUE(loss == Inf) else is.nan(loss) || isTRUE(loss > before + 9 * abs(before))
  if (!worse || isTRUE(before == 0)) return(NULL)
  info <- objective_info(fit$response$objective)
  text <- function(x) format(x, digits = 4L)
  new_reason("diverged", paste("training has diverged: the loss (\"%s\") of the training rows is %s after %s%s; the",
                               "steps of some leaves were too long; set `max_delta_step`, such as 0.7, lower `eta`, or",
                               "raise `min_child_weight`%s"),
             objective_metric(info$name), text(loss), counted(state$rounds, "round"),
             if (is.na(before)) "" else sprintf(", and was %s before", text(before)),
             if (info$name == "poisson") "; amounts suit \"tweedie\" and \"gamma\"" else "")
}

# Log line, bar and callbacks after a chunk. TRUE if one of them asks to stop.
report_round <- function(trainer, fit, state, bar, last, seconds) {
  round <- fit$start$rounds + state$rounds
  stop <- bar$set(round, function() evaluation_log(fit$evaluation, fit$start, state))
  lines <- fit$host$verbose && (state$rounds == 1 || round %% fit$host$verbose_every == 0 || round == last)
  if (!lines && length(fit$callbacks) == 0L) return(stop)
  row <- log_row(fit$evaluation, state, state$rounds)
  if (lines) say(log_line(round, last, row, seconds))
  if (length(fit$callbacks) == 0L) return(stop)
  call_callbacks(fit$callbacks, list(round = round, nrounds = last, log = row, seconds = seconds,
                                     model = function() finish_model(trainer, fit, state))) || stop
}

inform_end <- function(why, fit, state) {
  round <- fit$start$rounds + state$rounds
  evaluation <- fit$evaluation
  best <- if (evaluation$stopping) best_round(fit, state, evaluation_log(evaluation, fit$start, state))
  if (!is.null(best$round)) {
    say(sprintf("%s at round %d; best is round %d with %s %s", if (why == "early") "stopped early" else "ended",
                as.integer(round), best$round, utils::tail(log_names(evaluation), 1L), format(best$score, digits = 6L)))
  } else if (why == "time") {
    say(sprintf("`max_seconds` ended the training after round %d", as.integer(round)))
  } else if (why == "callback") {
    say(sprintf("ended by a callback after round %d", as.integer(round)))
  }
}

# Custom objective: gradients of the next round. A loss without curvature, such as an absolute error, splits nothing.
set_own_gradients <- function(trainer, fit, state) {
  score <- .Call(C_gbt_trainer_scores, trainer, 0L, FALSE, FALSE, fit$host$threads)
  weight <- fit$data$weight
  if (is.null(weight)) weight <- rep(1, length(fit$label))
  parts <- user_code(lapply(c("gradient", "hessian"), function(part) {
    if (length(score) == 0L) return(numeric(0)) # a rank without rows
    value <- call_user(fit$objective[[part]], score, fit$label, weight)
    if (!is.numeric(value) || length(value) != length(score)) {
      stop_argument(sprintf("`objective$%s` must return %d numbers, one for each score, not %s of length %d", part,
                            length(score), describe(value), length(value)), "objective")
    }
    as_numbers(value, paste0("objective$", part))
  }), "objective")
  total <- if (state$rounds == 0) max(sums_of_ranks(colSums(matrix(parts[[2L]] * weight, length(weight),
                                                                   fit$response$n_outputs))))
  if (isTRUE(total >= 0 && total < 2 * fit$params$min_child_weight) && fit$n_obs > 1L) {
    state$reason <- new_reason("hessian", paste("`objective$hessian` adds up to %s in the first round and",
                                                "`min_child_weight` is %s, so that no node can be split into two;",
                                                "lower `min_child_weight`, or give a hessian of 1"),
                               format(total), format_number(fit$params$min_child_weight))
  }
  tryCatch(.Call(C_gbt_trainer_set_gradients, trainer, parts[[1L]], parts[[2L]], fit$host$threads),
           gbt_error_data = function(e) stop(own_error(e, "objective"))) # numbers that are not finite
}

# Hessians of losses that grow slowly fall with the distance of scores from the response, and those of small means and
# rare classes are small: trees of many rows may be constants then, for which the response gives no reason. If the
# user's weights are too small for a split, small_weights_reason() says so. Gives a reason (R/fit_learned.R) or NULL.
small_hessian_reason <- function(trainer, fit) {
  least <- fit$params$min_child_weight
  total <- .Call(C_gbt_trainer_unsplit, trainer)
  if (is.na(total) || total >= 2 * least) return(NULL)
  weight <- if (is.null(fit$data$weight)) fit$n_obs else sums_of_ranks(sum(fit$data$weight))
  weight <- weight * fit$params$subsample
  if (weight < 16 * least || all_same(numbers_of_label(fit$label))) return(NULL)
  info <- objective_info(fit$response$objective)
  far <- info$hessian == "BOUNDED" && info$labels == "NUMBER" && info$leaves == "NEWTON" # huber and its like
  penalised <- info$leaves == "NEWTON" && fit$params$lambda > 0 # lambda would shrink leaves of such hessians to nothing
  how <- c(if (far) c(sprintf("raise `%s`, ", info$params$name), "scale the response down, or "),
           "set `min_child_weight = 0`", if (penalised) " and lower `lambda`")
  new_reason("hessian", paste("the hessians of objective \"%s\" add up to %s in the first round and",
                              "`min_child_weight` is %s, so that no node can be split into two; %s"),
             info$name, format(total), format_number(least), paste(how, collapse = ""))
}

# The user's metrics of the round just finished. TRUE when early stopping by one of them says so.
evaluate_own_metrics <- function(trainer, fit, state) {
  values <- own_metric_values(trainer, fit)
  state$own <- rbind(state$own, values, deparse.level = 0)
  fit$evaluation$own_watched && .Call(C_gbt_trainer_see, trainer, values[length(values)])
}

# These values, data set by data set. With ranks, those of the first rank, which has the rows of all of them: functions
# that draw random numbers would give each rank another value.
own_metric_values <- function(trainer, fit) {
  evaluation <- fit$evaluation
  own <- which(is.na(evaluation$metrics$code))
  values <- lapply(seq_along(evaluation$data), function(s) {
    one <- evaluation$data[[s]]
    types <- unique(vapply(evaluation$metrics$own[own], `[[`, "", "type"))
    pred <- lapply(stats::setNames(types, types), function(type) {
      means <- type == "response" && is_distribution(fit$response$objective)
      out <- .Call(C_gbt_trainer_scores, trainer, evaluation$at[s], type == "response" && !means, FALSE,
                   fit$host$threads)
      if (means) ask_distribution(out, list(objective = fit$response$objective, params = fit$response$param), "mean",
                                  threads = fit$host$threads) else out
    })
    weight <- if (is.null(one$weight)) rep(1, length(one$label)) else one$weight
    its <- given_or(one$all, list(label = one$label, weight = weight))
    pred <- lapply(pred, numbers_of_rows)
    if (!is_first_rank()) return(NULL)
    user_code(vapply(own, function(m) {
      metric <- evaluation$metrics$own[[m]]
      own_metric_value(metric, pred[[metric$type]], its$label, its$weight)
    }, 0), "eval_metric")
  })
  gather_ranks(list(values = as.double(unlist(values))))[[1L]]$values
}

log_row <- function(evaluation, state, i) {
  code <- evaluation$metrics$code
  out <- matrix(NA_real_, length(code), length(evaluation$data))
  if (any(!is.na(code))) out[!is.na(code), ] <- state$native[i, ]
  if (anyNA(code)) out[is.na(code), ] <- if (i <= nrow(state$own)) state$own[i, ] else NA_real_
  stats::setNames(as.vector(out), log_names(evaluation))
}

# The whole log as a data frame: round, then the columns of log_names(). That of the initial model comes first
# when it has the same columns. start: see start_of().
evaluation_log <- function(evaluation, start, state) {
  n <- state$rounds
  code <- evaluation$metrics$code
  is_own <- rep(is.na(code), length(evaluation$data))
  out <- matrix(NA_real_, n, length(is_own))
  if (n > 0 && any(!is_own)) out[, !is_own] <- state$native
  if (n > 0 && any(is_own)) out[seq_len(nrow(state$own)), is_own] <- state$own
  columns <- lapply(seq_along(is_own), function(j) out[, j])
  names(columns) <- log_names(evaluation)
  columns <- c(list(round = as.integer(start$rounds + seq_len(n))), columns)
  before <- start$model$evaluation_log # with rounds that the model does not have, perhaps: see R/boosting.R
  if (!is.null(before)) before <- unclass(subset_rows(before, which(before$round <= start$rounds)))
  if (identical(names(before), names(columns))) columns <- Map(c, before, columns)
  list_frame(columns, length(columns$round))
}

# The line of with_late_line() for a training whose rounds are found, or for the folds of a cross-validation.
# folds: their number, or NULL.
late_text <- function(folds) {
  force(folds)
  function(round, nrounds, searching) {
    what <- if (!is.null(folds)) sprintf("cross-validation of %s", counted(folds, "fold")) else
      if (searching) "early stopping looks for the number of rounds, and" else "training on all rows"
    sprintf(paste("%s is at round %s of at most %s; `nrounds = ` sets the number, `progress = TRUE` shows a bar,",
                  "`progress = FALSE` hides this line"), what, with_commas(round), with_commas(nrounds))
  }
}
