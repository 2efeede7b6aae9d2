# One training, from what the user gave to a model. Each step takes and returns named things, and changes none:
#
#   source_of       captured call                        -> source, and the values of all other arguments
#   read_request    these values                         -> request: checked, as far as no data are needed
#   read_rows       source, request                      -> rows: response, mask, rows held out, validation sets
#   settle_rounds   request, rows                        -> request: with what says how many rounds there are
#   with_rules      request, facts of rows               -> request: with the parameters that the user left to the rules
#   place_training  request, rows                        -> host: with the device that is chosen
#   training_data   rows, request, host                  -> gbt_data with the label, weight and offset of this training
#   prepare         all of the above                     -> fit: what is known before the first round
#   find_shape      fit                                  -> fit: with the shape of trees, where a race decides
#   find_rounds     fit                                  -> fit: with the number of rounds, if `nrounds` is missing
#   run_with_fallback  fit                               -> make_trainer, run_rounds; on the cpu if a device fails
#   finish_model    trainer, fit and log                 -> model
#   with_members    model, fit                           -> model: the mean of several, where it is an ensemble
#
# These are in files of their names: fit_source.R, fit_request.R, fit_rows.R, fit_data.R, fit_prepare.R (with what a fit
# has), fit_evaluation.R, fit_race.R, rounds_auto.R, fit_run.R, fit_model.R, ensemble.R.
#
# A source is what source_of() found, a list: x (data frame, matrix, sparse) or data (gbt_data); y, weights,
# offset, exposure, mask, time, group; for formulas design, formula, parsed, columns, in_rows.

# The model that a captured call asks for. chosen, look: see prepare().
fit_of <- function(captured, chosen = NULL, look = NULL) {
  force(captured)
  in_one_box(with_ranks(ranks_of(captured), train_of(captured, chosen, look), "gbt_train"))
}

train_of <- function(captured, chosen, look) {
  fit <- without_model({
    its <- source_of(captured)
    prepare(its$source, its$given, chosen, look)
  }, "init_model" %in% names(captured$call))
  if (fit$host$max_seconds > 0) fit$host$until <- proc.time()[["elapsed"]] + fit$host$max_seconds
  fit <- find_shape(fit)
  with_late_line(fit$host$late && fit$host$rounds != "given", late_text(NULL), {
    fit <- find_rounds(fit)
    run <- run_with_fallback(fit)
  })
  whole <- run$why != "interrupt"
  model <- if (run$why != "error" || run$state$rounds > 0) finish_model(run$trainer, fit, run$state, whole)
  reason <- if (!is.null(model)) reason_of(run$trainer, fit, run$state)
  free_trainer(run$trainer, fit)
  if (whole) {
    by_query <- trains_on_queries(fit$response, fit$evaluation$metrics)
    warn_unused_order(fit$order, fit$params$boosting, model$params$cat_method, by_query)
    if (is.null(chosen)) warn_unused_time(its, fit, model$params$cat_method) # else folds may have used it
    warn_unused_combine(fit$params$max_cat_combine, model$params$cat_method)
  }
  if (run$why == "error") stop_failed(model, run$error)
  if (run$why == "interrupt") stop_interrupted(model, run$error)
  model <- with_members(model, fit)
  model$warned <- reason$text # no part of the bytes
  warn_reason(reason)
  model$call <- captured$call
  constants <- its$source$constants
  if (length(constants)) model$call_constants <- constants # no part of the bytes, as the call is none
  known_model(model)
}
