# Metrics of a model on data that are at hand: what is asked after training, by the engine's exact sums.

# The result of encode_response() for the response of a model, without labels.
response_kind <- function(model) {
  names <- c(objective_info(model$objective)$params$name, if (is_of_intervals(model$objective)) "breaks")
  # the file of an imported model does not say of which kind its times were
  times <- is_of_times(model$objective) && !is.null(model$imported) && !is_surv_response(model$response)
  list(objective = model$objective, param = model$params[names], classes = model$classes, response = model$response,
       any_times = times, n_outputs = model$n_outputs, stratified = !is.null(model$strata),
       cause = model$params[["cause"]], strata = list(levels = names(model$baseline$strata)),
       label_gain = model$params[["label_gain"]], columns = model$columns)
}

# The response in new data, as it was given or as the formula of the model names it: by gbt's own evaluation of terms
# where the formula is in their language.
given_response <- function(model, data, y = NULL, parameter = "y") {
  if (!is.null(y)) return(y)
  if (inherits(data, "gbt_data")) {
    if (!is.null(data$label)) return(data$label)
    stop_argument(sprintf("`%s` is missing: the gbt_data has no label; give the response of its rows, or make it by %s",
                          parameter, "gbt_data(x, label = )"), parameter)
  }
  its <- response_of_recipe(model, data, parameter)
  if (!is.null(its)) return(its)
  if (is.null(model$formula)) {
    stop_argument(sprintf("`%s` is missing: the model was not trained by a formula, so give the response of the rows",
                          parameter), parameter)
  }
  data <- without_codes(if (is.data.frame(data)) data else formula_data(data, quote(y ~ .), globalenv()))
  lhs <- parse_formula(model$formula)[[2L]]
  absent <- setdiff(variables_of(list(lhs)), c(names(data), base_constants))
  if (length(absent)) {
    stop_data(sprintf("the data have no `%s`, the response of the model; add it, or give `%s`%s", absent[1L], parameter,
                      suggest(absent[1L], names(data))), absent[1L])
  }
  response_in(model$terms, lhs, data, function(data) {
    value <- if (is.call(lhs)) try_foreign(own_response(lhs, data), function(why) NULL)
    if (is.null(value)) evaluate_part(lhs, data, globalenv()) else value
  })
}

own_response <- function(lhs, data) {
  if (is_columns_call(lhs)) return(columns_of_call(lhs, own_response, data))
  if (is.name(lhs)) return(column_of(data, as.character(lhs)))
  check_term(lhs)
  own_term_value(lhs, data, strict = FALSE)
}

# The response of new rows as numbers, of several columns as new_columns(); classes from 0. y: NULL takes the formula's.
given_labels <- function(model, data, y, n_rows, parameter = "y") {
  encode_valid_y(given_response(model, data, y, parameter), response_kind(model), n_rows, sprintf("`%s`", parameter))
}

# Raw scores on the scale of predict(): probabilities, means.
responses_of <- function(model, score, threads) {
  if (is_distribution(model$objective)) return(ask_distribution(score, model, "mean", threads = threads))
  .Call(C_gbt_responses, objective_object(model$objective, model$params), model$n_outputs, score, threads)
}

predicts_times <- function(model) is_of_times(model$objective)

# Scores -> a number for each row that rises with the risk: scores of hazards do, those of times fall; of intervals the
# logarithm of the cumulative hazards at the ends of all of them together, see boost/metric_risk.c.
risk_of_scores <- function(model, score) {
  if (is_of_intervals(model$objective)) {
    score <- matrix(score, ncol = model$n_outputs)
    return(log(drop(softplus(score) %*% rev(seq_len(ncol(score))))))
  }
  if (is_of_hazards(model$objective)) as.vector(score) else -as.vector(score)
}

# The name of the scale of predictions of a type, for axes of plots: of models of times only, else NULL.
scale_words <- function(model, type = "link") {
  words <- switch(objective_info(model$objective)$response,
                  HAZARD = c(link = "log relative hazard", response = "relative hazard"),
                  TIME = c(link = "log time", response = "time"),
                  INTERVALS = c(link = "log odds of the hazard", response = "hazard"))
  if (type %in% names(words)) words[[type]]
}

# Values of metrics (resolve_metrics()) of raw scores, a number each, by the names of the metrics.
# group: numbers of queries, where a metric needs them; baseline: of baseline_of_metrics().
score_metrics <- function(metrics, model, score, label, weight, threads, group = NULL, baseline = NULL) {
  out <- stats::setNames(numeric(length(metrics$name)), metrics$name)
  own <- is.na(metrics$code)
  if (any(!own)) {
    out[!own] <- engine_metrics(lapply(metrics[c("code", "param", "output")], `[`, !own), response_kind(model), score,
                                label, weight, group, baseline, threads)
  }
  weight <- if (is.null(weight)) rep(1, length(label)) else weight
  for (m in which(own)) {
    metric <- metrics$own[[m]]
    pred <- if (metric$type == "response") responses_of(model, score, threads) else score
    out[m] <- user_code(own_metric_value(metric, pred, label, weight), "metric")
  }
  out
}

# metrics: code, param and output of metrics of the engine; response: of response_kind().
engine_metrics <- function(metrics, response, score, label, weight, group, baseline, threads) {
  its <- if (is.null(matrix_of_label(label))) list(label = as.double(label), weights = weight) else
    fields_of_columns(label, weight)
  .Call(C_gbt_metric_values, metrics$code, metrics$param, metrics$output,
        objective_object(response$objective, response$param), as.integer(response$n_outputs), as.double(score),
        its$label, its$weights, group, other_fields_of_label(label), baseline, threads)
}

# The user's metric on one data set: predictions of the metric's type -> one number.
own_metric_value <- function(metric, pred, label, weight) {
  value <- call_user(metric$fun, pred, given_or(matrix_of_label(label), without_gains(label)), weight)
  if (!is.numeric(value) || length(value) != 1L) {
    stop_argument(sprintf("metric \"%s\" must return one number, not %s of length %d", metric$name, describe(value),
                          length(value)), "eval_metric")
  }
  as_numbers(value, metric$name)
}

# Are the labels of the data sets what the metrics are made for? data: list of list(name, label, ...).
check_metric_labels <- function(metrics, data) {
  for (m in which(!is.na(metrics$code))) {
    for (one in data) check_labels_of_metric(metrics$code[m], metrics$param[m], one$label, one$name, one$rows)
  }
}

check_labels_of_metric <- function(code, param, label, name, rows) {
  m <- matrix_of_label(label)
  if (is.null(m)) return(.Call(C_gbt_metric_labels_check, code, param, as.double(label), name, rows))
  for (j in seq_len(ncol(m))) {
    there <- which(!is.na(m[, j]))
    in_column(colnames(m)[j], .Call(C_gbt_metric_labels_check, code, param, m[there, j], name,
                                    if (is.null(rows)) there else rows[there]))
  }
}
