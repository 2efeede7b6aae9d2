# Predictions and observed labels of models, calibrated models and cross-validations. A cross-validation has predictions
# of the rows that it held out.

is_judged <- function(x) is_model(x) || inherits(x, c("gbt_calibrated", "gbt_cv"))

# The model that names objective and classes.
judged_model <- function(object) {
  if (inherits(object, "gbt_cv")) return(models_of_folds(object, "model")[[1L]])
  if (inherits(object, "gbt_calibrated")) object$model else object
}

check_judged <- function(x, parameter = "model") if (is_model(x) || !is_judged(x)) check_model(x, parameter)

# Labels and scores to compare, for rows in memory, a list:
#   model      the model that names objective and classes
#   label, weight (or NULL)
#   score      a matrix, a row for each row
#   known      the probabilities or responses from which `score` is computed, a matrix like it; NULL where the model
#              gives scores
#   pred       as `score`, on the scale of the response, for metrics of the user's; or NULL
#   at         numbers of the rows, where some have no prediction; else NULL
rows_to_judge <- function(object, x, y, weights, offset, exposure, trees, threads, strata = NULL) {
  weights <- given_or(weights, weights_kept(x))
  if (inherits(object, "gbt_cv")) {
    given <- list(offset = offset, exposure = exposure, trees = trees)
    return(judged_folds(object, x, y, weights, given, strata))
  }
  calibrated <- inherits(object, "gbt_calibrated")
  judged <- attr(x, "judged", exact = TRUE) # of read_judged()
  its <- bake_rows(judged_model(object), x)
  model <- its$model
  x <- its$x
  y <- stratified_response(model, x, given_response(model, x, y), strata)
  labels <- judged_labels(model, y, weights, n_rows_of(x)) # before the predictions, which take longer
  if (!calibrated) {
    score <- if (is.null(judged)) {
      as_columns(predict.gbt(model, x, type = "link", trees = trees, offset = offset, threads = threads,
                             exposure = exposure))
    } else {
      judged$score
    }
    return(c(list(model = model), labels, list(score = score)))
  }
  known <- judged$known
  if (is.null(judged)) {
    check_calibrated_request(exposure, trees)
    object$model <- model
    known <- as_columns(predict.gbt_calibrated(object, x, "response", offset = offset, threads = threads))
  }
  c(list(model = model), labels, list(score = scores_of(known, model), known = known, pred = known))
}

check_calibrated_request <- function(exposure, trees) {
  if (!is.null(exposure)) {
    stop_argument("`exposure` needs a model with a log link, not one of classes; leave it out", "exposure")
  }
  if (!is.null(trees)) {
    stop_argument("`trees` is given to gbt_calibrate(): other rounds need another calibration", "trees")
  }
}

# Weights and groups that the data themselves have: gbt_data, and sources that were read.
weights_kept <- function(x) if (inherits(x, "gbt_data")) x$weight else attr(x, "judged", exact = TRUE)$weight
groups_kept <- function(x) if (inherits(x, "gbt_data")) x$group else attr(x, "judged", exact = TRUE)$group

# The response of rows to judge a model on, with their strata.
stratified_response <- function(model, x, y, given) {
  if (!is.null(attr(y, "strata"))) return(y)
  with_strata(y, strata_of_rows(model, x, given, n_rows_of(x), "judging it"))
}

judged_folds <- function(cv, x, y, weights, given, strata = NULL) {
  for (name in names(given)[lengths(given) > 0L]) {
    stop_argument(sprintf("`%s` cannot be combined with a gbt_cv(), which has its predictions already; leave it out",
                          name), name)
  }
  its <- bake_rows(judged_model(cv), x)
  known <- as_columns(cv$predictions)
  if (is_distribution(its$model$objective) && ncol(known) != 2L) {
    stop_unsupported(paste("the gbt_cv() has means of the rows that were held out, not parameters, as an earlier",
                           "version made it; run gbt_cv() again"), "object")
  }
  y <- stratified_response(its$model, its$x, given_response(its$model, its$x, y), strata)
  rows <- judged_labels(its$model, y, weights, nrow(known))
  check_rows_of_cv(cv, rows$label)
  out <- c(list(model = its$model), rows, list(score = scores_of(known, its$model), known = known, pred = known))
  at <- which(!is.na(known[, 1L]))
  if (length(at) < nrow(known)) out <- c(rows_taken(out, at), list(at = at))
  if (!is_distribution(its$model$objective)) return(out)
  out["known"] <- list(NULL) # parameters, of which the scores say all
  out$pred <- as_columns(ask_distribution(out$score, its$model, "mean"))
  out
}

as_columns <- function(pred) matrix(as.double(pred), NROW(pred), NCOL(pred))

judged_labels <- function(model, y, weights, n) {
  if (sum_of_ranks(n) == 0) stop_data("the data have no rows", "x")
  list(label = encode_valid_y(y, response_kind(model), n, "the response"), weight = check_rating_weights(weights, n))
}

rows_taken <- function(rows, at) {
  take <- function(m) if (!is.null(m)) m[at, , drop = FALSE]
  list(model = rows$model, label = rows$label[at], weight = rows$weight[at], score = take(rows$score),
       known = take(rows$known), pred = take(rows$pred), group = rows$group[at], baseline = rows$baseline)
}

# "number", "mean", "probability", "classes" or "own": what an objective predicts.
response_name <- function(model) {
  bits <- .Call(C_gbt_objective_outputs, objective_object(model$objective, model$params)[[1L]])
  names(enums$response)[bitwAnd(bits, bitwShiftL(1L, enums$response)) != 0L][1L]
}

# The scores of responses, up to rounding.
scores_of <- function(known, model) {
  if (is_distribution(model$objective)) return(scores_of_parameters(known, model$objective))
  switch(response_name(model), mean = , classes = , time = , hazard = log(known),
         probability = , intervals = stats::qlogis(known),
         known)
}

# Metrics of the engine for rows whose responses are known. Where a probability is compared with a bound, rounding of
# scores would count: calibrated probabilities are often equal to it.
known_metric_values <- function(rows, what, values) {
  probability <- response_name(rows$model) == "probability"
  parameter <- metrics_table()$parameter[what$code + 1L]
  vapply(seq_along(what$code), function(m) {
    if (parameter[m] %in% "bins") return(binned_error(rows, what$param[m], probability))
    if (!probability || !parameter[m] %in% "threshold") return(values(rows$score, m, what$param[m]))
    values(as.double(ifelse(rows$known > what$param[m], 1, -1)), m, 0.5)
  }, 0)
}

# The expected calibration error: of several classes that of the most probable one.
binned_error <- function(rows, bins, probability) {
  rows[c("known", "label", "weight")] <- lapply(rows[c("known", "label", "weight")], function(v) {
    if (!is.null(v)) numbers_of_rows(v)
  })
  p <- rows$known[, 1L]
  hit <- rows$label
  if (!probability) {
    best <- max.col(rows$known, "first")
    p <- rows$known[cbind(seq_along(best), best)]
    hit <- as.double(best - 1 == rows$label)
  }
  weight <- given_or(rows$weight, rep(1, length(p)))
  off <- rowsum(weight * (hit - p), pmin(floor(p * bins), bins - 1))
  sum(abs(off)) / sum(weight)
}
