# Rounds of a fit, on the device that was chosen.

# As run_rounds(), and the trainer. A device that "auto" chose may fail when it is opened or later; the CPU then begins
# at the first round, for the same model. Callbacks that have been called for rounds are not called for them again.
run_with_fallback <- function(fit) {
  device <- fit$host$device
  trainer <- on_device(device, function(where) make_trainer(fit, where))
  if (fit$host$verbose && !is.null(device$why)) say(paste0(device$why, device_use(device, trainer, length(fit$label))))
  run <- function() {
    out <- NULL
    on.exit(if (is.null(out)) free_trainer(trainer, fit)) # it failed
    out <- c(list(trainer = trainer), run_rounds(trainer, fit))
  }
  if (device$kind == "cpu" || !device$auto || length(fit$callbacks) > 0L) return(run())
  out <- tryCatch(run(), gbt_error_device = identity, gbt_error_memory = identity)
  if (!inherits(out, "condition")) return(out)
  fall_back_to_cpu(device, out)
  if (fit$host$verbose) say(device$why)
  trainer <- make_trainer(fit, NULL)
  run()
}

# More rounds of a run that ended as "done". fit: with more of them. Where a device that "auto" chose fails, the CPU
# begins at the first round.
go_on_with_fallback <- function(run, fit) {
  device <- fit$host$device
  more <- function() c(list(trainer = run$trainer), run_rounds(run$trainer, fit, run$state))
  if (device$kind == "cpu" || !device$auto) return(more())
  out <- tryCatch(more(), gbt_error_device = identity, gbt_error_memory = identity)
  if (!inherits(out, "condition")) return(out)
  free_trainer(run$trainer, fit)
  fall_back_to_cpu(device, out)
  run_with_fallback(fit)
}

# A trainer that is not needed any more gives its memory back now: what it holds of a device is no reason for R to
# collect garbage. Callbacks may have kept it, by their model().
free_trainer <- function(trainer, fit) if (length(fit$callbacks) == 0L) .Call(C_gbt_trainer_free, trainer)

# where: NULL for the cpu, see on_device().
make_trainer <- function(fit, where) {
  evaluation <- fit$evaluation
  codes <- evaluation$metrics$code
  spec <- list(
    params = params_as_numbers(fit$params), objective = objective_object(fit$response$objective, fit$response$param),
    n_outputs = as.integer(fit$response$n_outputs), train = fit$data$view,
    valid = lapply(fit$valid, function(s) s$data$view), metrics = codes[!is.na(codes)],
    metric_params = evaluation$metrics$param[!is.na(codes)], metric_outputs = evaluation$metrics$output[!is.na(codes)],
    eval_train = evaluation$train,
    monotone = fit$constraints$monotone, interactions = fit$constraints$interactions,
    feature_weight = fit$constraints$feature_weights, first_use_penalty = fit$constraints$first_use_penalty,
    class_rate = fit$class_shares, cat_method = fit$cat_method$bits,
    init_state = fit$start$model$state, init_score = fit$start$score,
    eta = if (length(fit$params$eta) > 1L) fit$params$eta, init_eta = eta_before(fit$start),
    init_bias = first_biases(fit$data$positions, fit$start$model, isTRUE(fit$response$param$position_bias == 1)),
    init_scale = fit$start$model$params[["aft_scale"]],
    init_valid = if (!is.null(fit$start$model)) lapply(fit$valid, `[[`, "score"), base = NULL,
    keep_best = if (!is.null(fit$data$masked_out) && evaluation$stopping) 1L,
    stop_rounds = fit$host$early_stopping_rounds, stop_min_delta = fit$host$early_stopping_min_delta,
    max_seconds = fit$host$max_seconds, checkpoints = !is.null(fit$host$checkpoint), device = where
  )
  trainer <- .Call(C_gbt_trainer_new, spec, fit$host$threads)
  if (evaluation$own_watched) .Call(C_gbt_trainer_watch, trainer, evaluation$metrics$maximise)
  trainer
}
