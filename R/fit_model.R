# The model that rounds have made.

# Trainer and log -> model. state: the environment of run_rounds(); whole: did the last round end? Else scores may be
# those of half a round.
finish_model <- function(trainer, fit, state, whole = TRUE) {
  log <- evaluation_log(fit$evaluation, fit$start, state)
  best <- best_round(fit, state, log)
  fixed_scale <- isTRUE(fit$response$param$aft_scale > 0)
  fit$response$param <- params_of_objective(trainer, fit$response)
  methods <- chosen_methods(trainer, fit$data$feature_names, fit$cat_method$asked)
  fields <- list(
    classes = fit$response$classes, response = fit$response$response, params = kept_params(fit, methods, state$rounds),
    best_round = best$round, best_score = best$score, evaluation_log = log, has_offset = !is.null(fit$data$offset),
    formula = fit$formula, terms = fit$design, exposure = fit$exposed, n_obs = fit$n_obs,
    strata = fit$response$strata$names, columns = fit$response$columns,
    auto_rounds = fit$found, positions = positions_of_model(trainer, fit)
  )
  build <- function(baseline) {
    gbt_model_from_state(.Call(C_gbt_trainer_model, trainer, model_meta(c(fields, list(baseline = baseline)))))
  }
  baseline <- if (whole) baseline_of(trainer, fit, given_or(best$round, state$rounds + fit$start$rounds))
  model <- if (whole && is.null(baseline)) with_baseline_of(build, trainer, fit) else build(baseline)
  if (length(fit$by_rule)) { # no part of the bytes, which are those of named parameters, but of files
    by_rule <- intersect(setdiff(names(fit$by_rule), fit$kept_by_name), names(model$params))
    if (length(by_rule)) model$by_rule <- by_rule
  }
  model$race <- fit$raced # as by_rule
  if (given_or(state$why, "done") %in% stop_reasons) model$stopped <- state$why # no part of the bytes
  named <- c(sub("^class_shares$", "subsample", fit$named), if (fixed_scale) "aft_scale")
  named <- intersect(named, names(model$params))
  if (length(named)) model$named <- named # as by_rule
  model$provenance <- provenance_of(fit) # as by_rule
  if (!is.null(fit$start$model)) model <- with_history(model, fit$start$model, "continued")
  if (!is.null(fit$recipe)) model$recipe <- fit$recipe # code, so no part of bytes or files
  if (isTRUE(fit$data$has_weights)) model$has_weights <- TRUE # nor this
  if (isTRUE(attr(fit$data$weight, "balanced"))) model$balanced <- TRUE # nor this
  model$n_queries <- fit$n_queries # nor this
  model$n_events <- fit$n_events # nor this
  if (whole && !is.null(fit$data$masked_out)) model$masked_out <- masked_out_responses(trainer, fit, model)
  model
}

# Those of the objective: the scale of times may have been estimated.
params_of_objective <- function(trainer, response) {
  param <- response$param
  own <- objective_info(response$objective)$params$name
  at <- seq_along(own)
  if (may_have_levels(response$objective)) at <- at[-1L] # levels are as given
  param[own[at]] <- as.list(.Call(C_gbt_trainer_objective, trainer)[at])
  param
}

# The parameters that decided the model, by name. methods: see chosen_methods(); rounds: of this training.
kept_params <- function(fit, methods, rounds) {
  features <- fit$data$feature_names
  constraints <- fit$constraints
  params <- c(fit$params[setdiff(names(fit$params), c("hist_memory", "device_memory"))],
              list(max_bin = shown_max_bin(fit$data$max_bin)), fit$response$param)
  params$eta <- eta_of_model(fit$params$eta, fit$start, rounds)
  if (!is.null(constraints$monotone)) params$monotone <- stats::setNames(constraints$monotone, features)
  if (!is.null(constraints$interactions)) {
    params$interactions <- lapply(constraints$interactions, function(group) features[group + 1L])
  }
  if (!is.null(constraints$feature_weights)) {
    params$feature_weights <- stats::setNames(constraints$feature_weights, features)
  }
  if (!is.null(constraints$first_use_penalty)) {
    params$first_use_penalty <- stats::setNames(constraints$first_use_penalty, features)
  }
  if (length(methods)) params$cat_method <- methods
  if (fit$host$preset != "default") params$preset <- fit$host$preset
  if (length(fit$evaluation$metrics$name)) params$eval_metric <- fit$evaluation$metrics$name
  if (fit$data$sparse_zero == "missing") params$sparse_zero <- "missing"
  params$cause <- fit$response$cause
  params$label_gain <- fit$response$label_gain
  params$class_weights <- attr(fit$data$weight, "classes")
  if (!is.null(fit$class_shares)) params$subsample <- fit$class_shares
  if (length(fit$data$level_counts)) params$level_counts <- fit$data$level_counts
  if (fit$evaluation$stopping) {
    params$early_stopping_rounds <- fit$host$early_stopping_rounds
    params$early_stopping_min_delta <- fit$host$early_stopping_min_delta
  }
  params
}

# The round that the model predicts with when early stopping was on: NULL else.
best_round <- function(fit, state, log) {
  evaluation <- fit$evaluation
  if (!evaluation$stopping || state$rounds == 0) return(list(round = NULL, score = NULL))
  values <- log[[length(log)]][log$round > fit$start$rounds] # the last metric of the last data set
  at <- if (evaluation$own_watched) {
    stopping_of(values, evaluation$metrics$maximise, fit$host$early_stopping_min_delta)[["best"]]
  } else {
    state$best
  }
  if (is.na(at) || at < 1) return(list(round = NULL, score = NULL))
  list(round = as.integer(at + fit$start$rounds), score = values[at])
}
