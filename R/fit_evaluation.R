# The evaluation after each round.

# The evaluation after each round, which may stop the training, a list:
#   metrics      see resolve_metrics()
#   data         the data sets that are evaluated: list of list(name, label, weight, ...), the training data first if so
#   at           their numbers in the trainer: 0 for the training data
#   train        are the training data among them?
#   stopping     is there early stopping? It watches the last metric of the last data set
#   own          are there metrics of the user's?         own_watched   is one of them the watched one?
plan_evaluation <- function(args, host, rows, data, valid) {
  eval_train <- args[["eval_train"]]
  searches <- host$rounds == "search" # whose metrics are those of its held-out rows
  if (is.null(eval_train)) eval_train <- length(valid) == 0L && !is.null(args[["eval_metric"]]) && !searches
  check_flag(eval_train, "eval_train")
  stopping <- check_stopping(args, host, length(valid) > 0L)
  metrics <- no_metrics
  if (length(valid) > 0L || eval_train) {
    metrics <- resolve_metrics(args[["eval_metric"]], rows$response)
  } else if (!is.null(args[["eval_metric"]]) && !searches) {
    stop_argument("`eval_metric` needs rows to evaluate: give `valid`, or set `eval_train = TRUE`",
                  "eval_metric")
  }
  if (length(metrics$name) == 0L && stopping) {
    what <- if (host$rounds == "valid") "`nrounds` is missing, and early stopping" else "`early_stopping_rounds`"
    stop_argument(paste(what, "needs an `eval_metric` for this objective"), "eval_metric")
  }
  if (stopping && is.na(metrics$maximise)) {
    stop_argument(sprintf(paste("early stopping watches the last metric, but neither larger nor smaller values of",
                                "\"%s\" are better; name another metric after it"), metrics$name[length(metrics$name)]),
                  "eval_metric")
  }
  train <- eval_train && length(metrics$name) > 0L
  evaluation <- list(
    metrics = metrics, train = train, stopping = stopping,
    data = c(if (train) list(train_set(rows, data)), valid),
    at = c(if (train) 0L, seq_along(valid)),
    own = any(is.na(metrics$code)), own_watched = stopping && is.na(metrics$code[length(metrics$code)])
  )
  check_metric_labels(metrics, evaluation$data)
  columns <- log_names(evaluation)
  if (anyDuplicated(columns)) {
    stop_argument(sprintf("two columns of the evaluation log would be called \"%s\"; rename a metric or a data set",
                          columns[anyDuplicated(columns)]), "eval_metric")
  }
  evaluation
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
log_names <- function(evaluation) {
  data <- vapply(evaluation$data, `[[`, "", "name")
  metrics <- evaluation$metrics$name
  paste(rep(data, each = length(metrics)), rep(metrics, length(data)), sep = "_", recycle0 = TRUE)
}
