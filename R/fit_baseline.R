# The baseline hazard of a model whose scores no trainer has: of ensembles, of a best round before a checkpoint.

# The model with the baseline of its scores. build: function(baseline) -> the model; trainer: one of the same rows.
# Trees of an earlier model may have other cuts than the data: then there is none.
with_baseline_of <- function(build, trainer, fit) {
  model <- build(NULL)
  if (!is_of_hazards(fit$response$objective)) return(model)
  score <- tryCatch(training_scores(model, fit), gbt_error_data = function(e) NULL)
  if (any_rank(is.null(score))) return(model)
  build(baseline_of(trainer, fit, rounds_used(model), score))
}

# Scores of the rows of a training by a model of the same bins.
training_scores <- function(model, fit) {
  data <- fit$data
  all <- .Call(C_gbt_predict_bins, model$state, model$cache, data_ptr(data), enums$answer[["link"]], 0L,
               rounds_used(model), offset_of_all(data$offset, data$at, data$n_rows, model$n_outputs),
               enums$unseen[["prior"]], fit$host$threads)
  if (is.null(data$at)) all else all[data$at]
}

# The offset of some rows of n, by output, as that of all rows, which are asked for their bins; at: which, NULL for all.
offset_of_all <- function(offset, at, n, n_outputs) {
  if (is.null(offset) || is.null(at)) return(offset)
  whole <- matrix(0, n, n_outputs)
  whole[at, ] <- offset
  as.vector(whole)
}
