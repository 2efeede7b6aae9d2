# The rounds of a model that count, and the model of some of its rounds.

# Rounds that predictions, importance and init_model use: all, or up to the best one after early stopping.
rounds_used <- function(model) if (is.null(model$best_round)) model$nrounds else model$best_round

# The model of rounds from + 1 .. to.
keep_rounds <- function(model, to, from = 0L) {
  if (from == 0L && to == model$nrounds) return(model)
  log <- model$evaluation_log
  if (!is.null(log)) log <- subset_rows(log, which(log$round > from & log$round <= to))
  if (!is.null(log)) log$round <- log$round - as.integer(from)
  best <- if (from == 0L && !is.null(model$best_round) && model$best_round <= to) model$best_round
  fields <- stored_fields(model)
  eta <- model$params[["eta"]]
  if (length(eta) > 1L) fields$params$eta <- if (to > from) plain_schedule(eta[(from + 1L):to]) else eta[1L]
  fields["best_round"] <- list(best)
  fields["best_score"] <- list(if (!is.null(best)) model$best_score)
  fields["evaluation_log"] <- list(log)
  fields[c("auto_rounds", "positions")] <- list(NULL) # which were those of all rounds
  out <- gbt_model_from_state(.Call(C_gbt_model_slice, model$state, c(from, to), model_meta(fields)))
  for (field in only_in_files) out[[field]] <- model[[field]]
  out$has_weights <- model$has_weights
  user <- user_fields(model)
  out[names(user)] <- user
  out
}
