# Metrics: the engine's by name, the user's as gbt_metric(). The last one is the one that early stopping watches.

# What others call the engine's metrics, in lower case.
metric_aliases <- c(
  "rmse" = "rmse", "root_mean_squared_error" = "rmse", "l2_root" = "rmse",
  "mae" = "mae", "l1" = "mae", "mean_absolute_error" = "mae", "regression_l1" = "mae",
  "logloss" = "logloss", "binary_logloss" = "logloss", "log_loss" = "logloss", "cross_entropy" = "logloss",
  "crossentropy" = "logloss", "xentropy" = "logloss", "binary" = "logloss",
  "auc" = "auc", "roc_auc" = "auc",
  "error" = "error", "binary_error" = "error", "misclassification" = "error",
  "mlogloss" = "mlogloss", "multi_logloss" = "mlogloss", "multiclass" = "mlogloss",
  "merror" = "merror", "multi_error" = "merror",
  "poisson_deviance" = "poisson_deviance", "poisson-deviance" = "poisson_deviance"
)

# Metrics of other packages that are not the same number as one of ours -> what to take.
metrics_not_offered <- c(
  "mse" = "rmse", "l2" = "rmse", "mean_squared_error" = "rmse", "regression" = "rmse", "rmsle" = "rmse",
  "msle" = "rmse", "r2" = "rmse", "mape" = "mae", "mphe" = "mae", "quantile" = "mae", "huber" = "mae", "fair" = "mae",
  "accuracy" = "error", "f1" = "auc", "mcc" = "auc", "precision" = "auc", "recall" = "auc", "aucpr" = "auc",
  "prauc" = "auc", "pr_auc" = "auc", "average_precision" = "auc", "brierscore" = "logloss",
  "totalf1" = "merror", "auc_mu" = "mlogloss", "poisson-nloglik" = "poisson_deviance", "poisson" = "poisson_deviance",
  "deviance" = "poisson_deviance", "ndcg" = "auc", "map" = "auc", "gamma" = "poisson_deviance",
  "gamma-deviance" = "poisson_deviance", "gamma_deviance" = "poisson_deviance", "tweedie" = "poisson_deviance"
)

#' A metric of your own
#'
#' Wraps a function so that [gbt_train()] can evaluate it after every round, log it and stop early by it.
#'
#' @param name Name of the metric; the column of the evaluation log is called `<data set>_<name>`.
#' @param fun `function(pred, label, weight)` that returns one number. `pred` are predictions: a vector, or a matrix
#'   with one column per class for objective `"softmax"`. `label` are numbers (classes counted from 0). `weight` is a
#'   vector of ones when there are no weights; a function of two arguments does without it.
#' @param maximise Is a larger value better?
#' @param type `"response"` to get probabilities and means, `"link"` to get raw scores.
#' @return An object of class `gbt_metric` for the argument `eval_metric` of [gbt_train()].
#' @examples
#' # share of the variance explained
#' r2 <- gbt_metric("r2", function(pred, label, weight) {
#'   1 - sum(weight * (label - pred)^2) / sum(weight * (label - weighted.mean(label, weight))^2)
#' }, maximise = TRUE)
#'
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, eval_metric = list("mae", r2), threads = 1)
#' tail(m$evaluation_log, 2)
#' @export
gbt_metric <- function(name, fun, maximise = FALSE, type = c("response", "link")) {
  if (missing(name) || !is.character(name) || length(name) != 1L || is.na(name) || name == "") {
    stop_argument("`name` must be one text: the name of the metric", "name")
  }
  name <- as_utf8(name, "`name`")
  if (missing(fun) || !is.function(fun)) stop_argument("`fun` must be a function(pred, label, weight)", "fun")
  check_arity(fun, c("pred", "label", "weight"), "`fun`", "fun")
  maximise <- check_flag(maximise, "maximise")
  type <- match_choice(type, c("response", "link"), "type")
  structure(list(name = name, fun = fun, maximise = maximise, type = type), class = "gbt_metric")
}

#' @export
print.gbt_metric <- function(x, ...) {
  cat(sprintf("<gbt_metric> %s, %s is better, on the %s\n", x$name, if (x$maximise) "larger" else "smaller", x$type))
  invisible(x)
}

# `eval_metric` in any form -> list of texts and gbt_metric objects.
as_metric_list <- function(x) {
  if (is.null(x)) return(list())
  if (inherits(x, "gbt_metric")) return(list(x))
  if (is.character(x)) return(as.list(x))
  if (is.list(x) && !is.object(x)) return(do.call(c, c(list(list()), lapply(unname(x), as_metric_list))))
  if (is.function(x)) stop_argument("`eval_metric` is a function; wrap it: gbt_metric(\"name\", fun)", "eval_metric")
  stop_argument(sprintf("`eval_metric` must hold names of metrics or gbt_metric() objects, not %s", describe(x)),
                "eval_metric")
}

metric_name <- function(x, objective) {
  known <- .Call(C_gbt_metric_names)
  low <- lower_case(x)
  name <- unname(metric_aliases[low])
  if (is.na(name)) {
    other <- unname(metrics_not_offered[low])
    if (is.na(other) && grepl("^(error|ndcg|map|pre|tweedie-nloglik|precision|hits)@", low)) other <- "error"
    if (!is.na(other)) {
      stop_unsupported(sprintf("metric \"%s\" is not offered; \"%s\" is near to it, and gbt_metric() takes your own", x,
                               other), "eval_metric")
    }
    stop_argument(sprintf("`eval_metric` must be among %s, or a gbt_metric(), not \"%s\"%s",
                          enumerate(known, 20L, "\""), x, suggest(x, unique(c(known, names(metric_aliases))), "\"")),
                  "eval_metric")
  }
  code <- match(name, known) - 1L
  if (!.Call(C_gbt_metric_info, code, objective_code(objective))$suits) {
    suits <- function(m) .Call(C_gbt_metric_info, m, objective_code(objective))$suits
    fitting <- known[vapply(seq_along(known) - 1L, suits, NA)]
    stop_argument(sprintf("metric \"%s\" does not fit objective \"%s\"; there are %s", name, objective,
                          if (length(fitting)) enumerate(fitting, 20L, "\"") else "none, give a gbt_metric()"),
                  "eval_metric")
  }
  name
}

no_metrics <- list(name = character(0), code = integer(0), own = list(), maximise = FALSE)

# What is evaluated: list(name = chr in the user's order, code = int (NA for the user's own), own = list of gbt_metric
# or NULL per metric, maximise = of the last one, which is watched).
resolve_metrics <- function(eval_metric, objective, n_outputs) {
  given <- as_metric_list(eval_metric)
  known <- .Call(C_gbt_metric_names)
  if (length(given) == 0L) {
    code <- if (objective == "custom" && n_outputs > 1L) -1L else .Call(C_gbt_default_metric, objective_code(objective))
    if (code < 0L) return(no_metrics)
    given <- list(known[code + 1L])
  }
  own <- lapply(given, function(m) if (inherits(m, "gbt_metric")) m)
  name <- vapply(given, function(m) if (inherits(m, "gbt_metric")) m$name else metric_name(m, objective), "")
  double <- anyDuplicated(name)
  if (double) stop_argument(sprintf("metric \"%s\" is given twice in `eval_metric`", name[double]), "eval_metric")
  if (length(name) > 16L) stop_argument("`eval_metric` can have at most 16 metrics", "eval_metric")
  code <- ifelse(vapply(own, is.null, NA), match(name, known) - 1L, NA_integer_)
  last <- length(name)
  maximise <- if (is.na(code[last])) own[[last]]$maximise else {
    .Call(C_gbt_metric_info, code[last], objective_code(objective))$maximise
  }
  list(name = name, code = code, own = own, maximise = maximise)
}

# The user's metric on one data set: predictions of the metric's type -> one number.
own_metric_value <- function(metric, pred, label, weight) {
  value <- call_user(metric$fun, pred, label, weight)
  if (!is.numeric(value) || length(value) != 1L) {
    stop_argument(sprintf("metric \"%s\" must return one number, not %s of length %d", metric$name, describe(value),
                          length(value)), "eval_metric")
  }
  as_numbers(value, metric$name)
}
