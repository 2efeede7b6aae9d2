# Ensembles: trainings that differ only in their seeds, and one model whose scores are the mean of theirs. Round r of
# the model has the trees of round r of all members (src/gbt/tree/mean.h), so it looks like a model with `ensemble`
# times as many parallel trees. Prediction by fewer rounds, importance and files need nothing else.
#
# Members are trained one after the other, so that they need the memory of one. The first one decides how many rounds
# there are, where early stopping is to; its log is that of the model. The others have no validation data.

# The seed of member i; that of the first is the seed.
member_seed <- function(seed, i) if (i == 1L) seed else (seed + (i - 1) * 1000003) %% 9007199254740991

# Refuses arguments that cannot be combined with an ensemble. args: values by name.
check_ensemble <- function(ensemble, preset, args) {
  if (is.null(args[["init_model"]])) return(invisible())
  by_preset <- preset == "best" && is.null(args[["ensemble"]])
  if (ensemble == 1 && !by_preset) return(invisible())
  what <- if (by_preset) "`preset = \"best\"` makes an ensemble" else "`ensemble` is larger than 1"
  stop_argument(sprintf("`init_model` cannot be combined with an ensemble, and %s; leave one of them out%s", what,
                        if (by_preset) ", or give `ensemble = 1`" else ""), "init_model")
}

# The model, whose first member has been trained, with the others. fit: of the first member.
with_members <- function(model, fit) {
  k <- fit$host$ensemble
  if (k == 1 || !is.null(model$stopped)) return(model)
  rounds <- rounds_used(model)
  if (rounds == 0L) return(model)
  members <- list(keep_rounds(model, rounds))
  last <- NULL # the trainer of the last member that was begun
  for (i in seq_len(k)[-1L]) {
    own <- member_fit(fit, i, rounds)
    if (!is.null(fit$host$until)) {
      own$host$max_seconds <- seconds_left(fit$host$until)
      if (own$host$max_seconds <= 0) break
    }
    if (!is.null(last)) free_trainer(last, own)
    if (fit$host$verbose) say(sprintf("member %d of %d", i, as.integer(k)))
    run <- run_with_fallback(own)
    last <- run$trainer
    cut <- run$why %in% c("interrupt", "error", "callback")
    if (cut) {
      free_trainer(last, own)
      so_far <- mean_of_members(members, model, fit)
      if (run$why %in% stop_reasons) so_far$stopped <- run$why
      if (run$why == "error") stop_failed(so_far, run$error)
      stop_interrupted(so_far, run$error)
    }
    if (run$why == "done") members <- c(members, list(finish_model(run$trainer, own, run$state)))
    if (run$why != "done") break
  }
  out <- mean_of_members(members, model, fit, last)
  if (!is.null(last)) free_trainer(last, own)
  if (length(members) < k) out$stopped <- "time"
  out
}

# The training of another member: as many rounds, and nothing to be watched.
member_fit <- function(fit, i, rounds) {
  fit$params$seed <- member_seed(fit$params$seed, i)
  fit$params$eta <- schedule_to(fit$params$eta, rounds)
  fit$host$nrounds <- rounds
  fit$host$early_stopping_rounds <- 0
  fit$host$early_stopping_min_delta <- 0
  if (!is.null(fit$host$checkpoint)) fit$host$checkpoint <- file.path(fit$host$checkpoint, sprintf("member-%d", i))
  fit$callbacks <- list()
  fit$valid <- list()
  fit$data["masked_out"] <- list(NULL)
  fit$evaluation <- empty_evaluation()
  fit["found"] <- list(NULL)
  fit
}

# One model of several. model: the first of them with all of its rounds, whose fields it has; trainer: of one of them,
# for the baseline hazard, or NULL.
mean_of_members <- function(members, model, fit, trainer = NULL) {
  fields <- stored_fields(members[[1L]])
  fields["auto_rounds"] <- list(model$auto_rounds)
  fields["positions"] <- list(mean_of_positions(lapply(members, `[[`, "positions")))
  fields$params$num_parallel_tree <- length(members) * members[[1L]]$params$num_parallel_tree
  fields$params$ensemble <- as.double(length(members))
  states <- lapply(members, `[[`, "state")
  state_with <- function(baseline) {
    fields["baseline"] <- list(baseline)
    .Call(C_gbt_model_mean, states, model_meta(fields))
  }
  fields$params <- params_of_state(state_with(NULL), members[[1L]], fields$params) # the scale of times is a mean
  build <- function(baseline) gbt_model_from_state(state_with(baseline))
  out <- if (is.null(trainer)) build(NULL) else with_baseline_of(build, trainer, fit)
  by_rule <- c(model$by_rule, intersect("ensemble", names(fit$by_rule)))
  if (length(by_rule)) out$by_rule <- by_rule
  out$named <- model$named
  out$race <- model$race
  out$provenance <- model$provenance
  if (!is.null(fit$recipe)) out$recipe <- fit$recipe
  for (field in c("has_weights", "balanced", "n_queries", "n_events")) out[[field]] <- model[[field]]
  if (!is.null(model$masked_out)) out$masked_out <- masked_out_by_bins(out, fit)
  out
}

# The predictions of the model for the masked-out rows, by their bins.
masked_out_by_bins <- function(model, fit) {
  data <- fit$data
  at <- data$masked_out$rows
  offset <- data$masked_out$data$offset
  offset <- offset_of_all(offset, at, data$n_rows, model$n_outputs)
  all <- .Call(C_gbt_predict_bins, model$state, model$cache, data_ptr(data), answer_code(masked_out_type(model), model),
               0L, model$nrounds, offset, enums$unseen[["prior"]], fit$host$threads)
  shape_prediction(if (is.matrix(all)) all[at, , drop = FALSE] else all[at], model, masked_out_type(model), NULL)
}

# params with those of the objective that the bytes have. model: of the same columns and objective.
params_of_state <- function(state, model, params) {
  name <- objective_info(model$objective)$params$name
  its <- .Call(C_gbt_model_shape, state, .Call(C_gbt_model_cache, state), model$objective, model$feature_names,
               model$feature_types)
  at <- seq_along(name)
  if (may_have_levels(model$objective)) at <- at[-1L] # as the model has them
  params[name[at]] <- as.list(its[6L + at])
  params
}
