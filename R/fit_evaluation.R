# The evaluation after each round.

# The plan of the evaluation, as far as it is known before data are binned, a list: metrics, train, stopping as below.
plan_metrics <- function(args, host, rows) {
  sets <- c(if (!is.null(rows$held)) masked_out_name, names(rows$valid))
  eval_train <- args[["eval_train"]]
  searches <- host$rounds == "search" # whose metrics are those of its held-out rows
  if (is.null(eval_train)) eval_train <- length(sets) == 0L && !is.null(args[["eval_metric"]]) && !searches
  check_flag(eval_train, "eval_train")
  stopping <- check_stopping(args, host, length(sets) > 0L)
  metrics <- no_metrics
  if (length(sets) > 0L || eval_train) {
    metrics <- resolve_metrics(args[["eval_metric"]], rows$response)
  } else if (!is.null(args[["eval_metric"]]) && !searches) {
    stop_argument("`eval_metric` needs rows to evaluate: give `valid`, or set `eval_train = TRUE`",
                  "eval_metric")
  }
  if (stopping) check_watched(metrics, host)
  train <- eval_train && length(metrics$name) > 0L
  if (train) check_metric_labels(metrics, list(train_set(rows, list())))
  check_log_columns(log_columns(c(if (train) "train", sets), metrics))
  list(metrics = metrics, train = train, stopping = stopping)
}

# The evaluation after each round, which may stop the training, a list:
#   metrics      see resolve_metrics()
#   data         the data sets that are evaluated: list of list(name, label, weight, ...), the training data first if so
#   at           their numbers in the trainer: 0 for the training data
#   train        are the training data among them?
#   stopping     is there early stopping? It watches the last metric of the last data set
#   own          are there metrics of the user's?         own_watched   is one of them the watched one?
#
# plan: of plan_metrics().
plan_evaluation <- function(plan, rows, data, valid) {
  metrics <- plan$metrics
  own <- is.na(metrics$code)
  evaluation <- c(plan, list(data = c(if (plan$train) list(train_set(rows, data)), valid),
                             at = c(if (plan$train) 0L, seq_along(valid)), own = any(own),
                             own_watched = plan$stopping && own[length(own)]))
  check_metric_labels(metrics, evaluation$data)
  check_metric_queries(metrics, valid)
  evaluation
}

# Can early stopping watch the last metric?
check_watched <- function(metrics, host) {
  if (length(metrics$name) == 0L) {
    what <- if (host$rounds == "valid") "`nrounds` is missing, and early stopping" else "`early_stopping_rounds`"
    stop_argument(paste(what, "needs an `eval_metric` for this objective"), "eval_metric")
  }
  if (is.na(metrics$maximise)) {
    stop_argument(sprintf(paste("early stopping watches the last metric, but neither larger nor smaller values of",
                                "\"%s\" are better; name another metric after it"), metrics$name[length(metrics$name)]),
                  "eval_metric")
  }
}

check_log_columns <- function(columns) {
  if (anyDuplicated(columns)) {
    stop_argument(sprintf("two columns of the evaluation log would be called \"%s\"; rename a metric or a data set",
                          columns[anyDuplicated(columns)]), "eval_metric")
  }
}

# The training data as a set that is evaluated.
train_set <- function(rows, data) {
  list(name = "train", label = rows$label, weight = data$weight, rows = rows$at)
}

# Is there early stopping, and something to watch?
check_stopping <- function(args, host, has_valid) {
  stopping <- host$early_stopping_rounds > 0
  if (stopping && !has_valid && !isTRUE(args[["eval_train"]])) {
    stop_argument(paste("`early_stopping_rounds` needs `valid`, a share of the rows to hold out or data, or a `mask`",
                        "that is FALSE for some rows"), "early_stopping_rounds")
  }
  if (!stopping && host$early_stopping_min_delta > 0) {
    stop_argument("`early_stopping_min_delta` needs `early_stopping_rounds`", "early_stopping_min_delta")
  }
  stopping
}

# As plan_evaluation() of nothing.
empty_evaluation <- function() {
  list(metrics = no_metrics, train = FALSE, stopping = FALSE, data = list(), at = integer(0), own = FALSE,
       own_watched = FALSE)
}

# Names of the log's columns: data set by data set, the metrics in the user's order. evaluation: see plan_evaluation().
log_names <- function(evaluation) log_columns(vapply(evaluation$data, `[[`, "", "name"), evaluation$metrics)

log_columns <- function(sets, metrics) {
  paste(rep(sets, each = length(metrics$name)), rep(metrics$name, length(sets)), sep = "_", recycle0 = TRUE)
}
