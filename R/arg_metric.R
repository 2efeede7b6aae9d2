# Metrics: the engine's by name, the user's as gbt_metric(). The last one is the one that early stopping watches.

# The engine's metrics: data frame of name, aliases, text, outputs, maximise, parameter, default, low, high, open_low,
# open_high, whole, twin. `outputs` are bits, at the places of enums$response.
metrics_table <- function() {
  if (is.null(package_state$metrics_table)) {
    package_state$metrics_table <- as.data.frame(.Call(C_gbt_metrics), stringsAsFactors = FALSE)
  }
  package_state$metrics_table
}

# Names of the metrics and what other packages call them: list of character vectors, in the order of the table.
metric_names <- function() {
  table <- metrics_table()
  Map(c, table$name, strsplit(table$aliases, "|", fixed = TRUE))
}

#' Metrics, validation data and early stopping
#'
#' How [gbt_train()] measures a model after every round, on which rows, when it stops, and how it finds the number of
#' rounds. The parameters are given to [gbt_train()] by name.
#'
#' @section Validation data:
#' `valid` can be
#' * a share of the rows to hold out, such as 0.2. They are drawn at random by `seed` (for classes stratified); with
#'   `group` whole groups are drawn, with `time` the latest rows are held out.
#' * the rows to hold out: two or more row numbers, or `TRUE` for each row to hold out. With a formula an expression of
#'   columns of the data, such as `valid = year == 2020`.
#' * other data: `list(x = , y = )`, with `weight =`, `offset =` and `exposure =` if needed; with a formula a data frame
#'   with the same columns; a source of rows such as [gbt_files()]; or a [gbt_data()] object made with `reference`.
#' * a named list of several of these.
#'
#' The metrics in `eval_metric` are evaluated on each set after every round. `model$evaluation_log` has them in columns
#' `<set>_<metric>`.
#'
#' @section Masked-out rows:
#' Rows where `mask` is `FALSE` are not trained on. They are scored in every round like a validation set with the name
#' `masked_out`, which comes before those of `valid`. Trees, base scores, balanced class weights and sampling depend
#' only on rows where the mask is `TRUE`. Cuts, classes, `level_counts` and the rules of [gbt_defaults()] use all rows.
#' So you can cross-validate with one [gbt_data()] and a mask per fold; `model$masked_out` has the predictions for the
#' fold that was left out, equal to those of [predict()][predict.gbt]. [gbt_cv()] does this for you.
#'
#' @section Early stopping:
#' With `early_stopping_rounds` training stops when the *last* metric of the *last* set has not improved by more than
#' `early_stopping_min_delta` for this number of rounds. The model keeps all rounds, but predicts with those up to the
#' best round (`model$best_round`) unless you give `trees`; importance uses the same rounds.
#' `model[seq_len(model$best_round)]` drops the others.
#'
#' @section Number of rounds:
#' If you give neither `nrounds` nor `valid`, early stopping chooses the number of rounds. A fifth of the rows is held
#' out, as with `valid = 0.2`, to find the best round. Then gbt **trains on all rows** for this number of rounds. With
#' fewer than 3,000 rows, five-fold cross-validation finds the best round. With fewer than 10 rows with a weight above 0
#' (or groups), nothing is held out and there are 100 rounds. A message (class `gbt_message`) reports the number unless
#' `verbose = 0`. Search and training together take about twice as long as the training. `model$auto_rounds` has the log
#' of the search, which `plot()` draws. The rows are drawn by `seed`, or by 0 if you gave no seed and nothing else is
#' random. A call with this `nrounds` and `params = model$params` trains the same trees.
#'
#' The search stops after `early_stopping_rounds` rounds without improvement, by default 5 / `eta`, at least 20. Its
#' limit is 200 / `eta` rounds (at least 1,000, at most 20,000), and on few rows 20 rounds per row (at least 100). An
#' objective of your own needs an `eval_metric`. Rows that `mask` leaves out are not used, unless you give
#' `early_stopping_rounds`: then they are the validation data. `max_seconds` is for search and training together; the
#' search takes at most two fifths. `callbacks` are called only in the final training. With `checkpoint`, the search has
#' checkpoints in the folder `rounds` in it (but not a search by folds). `init_model` needs `nrounds` or `valid`. Ctrl-C
#' during the search keeps the model of the rows that are not held out (with folds: of the first fold).
#'
#' With `valid` and without `nrounds`, the same number of rounds without improvement ends the training, and the limit is
#' 200 / `eta` rounds. If `eta` is a vector, its length is the number of rounds.
#'
#' @eval metrics_help()
#'
#' @section Parameters:
#' `valid`, `mask`, `eval_metric` and `early_stopping_rounds` are described in [gbt_train()].
#' * `eval_train`: Whether to evaluate the metrics on the training data as well. By default only if you give
#'   `eval_metric` and neither `valid` nor `mask` holds out rows.
#' * `early_stopping_min_delta`: An improvement must be larger than this.
#' * `max_seconds`: Time limit: training ends after the round in which it is reached; `NULL` or 0 for none.
#'
#' @seealso [gbt_train()]; [gbt_metric()] for your own metrics; [gbt_cv()]; [gbt_evaluate()]; [gbt_objectives()]
#' @examples
#' # early stopping on a fifth of the rows
#' m <- gbt_train(late ~ ., flights[1:3000, ], valid = 0.2, nrounds = 200, eta = 0.1,
#'                eval_metric = c("auc", "logloss"), early_stopping_rounds = 10, seed = 1,
#'                threads = 1)
#' m$best_round
#' tail(m$evaluation_log, 2)
#'
#' # cross-validation by hand: the data are binned once, every fold is a mask
#' d <- gbt_data(mtcars[-1], label = mtcars$mpg, threads = 1)
#' fold <- rep_len(1:4, 32)
#' mpg <- numeric(32)
#' for (k in 1:4) {
#'   m <- gbt_train(d, mask = fold != k, nrounds = 50, min_child_weight = 3, threads = 1)
#'   mpg[fold == k] <- m$masked_out
#' }
#' sqrt(mean((mpg - mtcars$mpg)^2))
#' @concept early stopping
#' @concept validation
#' @concept number of rounds
#' @concept evaluation metric
#' @concept concordance
#' @concept NDCG
#' @concept cross-validation
#' @name gbt_metrics
NULL

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
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_metric` for the argument `eval_metric` of [gbt_train()].
#' @examples
#' # share of the predictions that are at most 2 off
#' within_2 <- gbt_metric("within_2", function(pred, label, weight) {
#'   sum(weight[abs(label - pred) <= 2]) / sum(weight)
#' }, maximise = TRUE)
#'
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, eval_metric = list("mae", within_2), threads = 1)
#' tail(m$evaluation_log, 2)
#' @export
gbt_metric <- function(name, fun, maximise = FALSE, type = c("response", "link"), ...) {
  check_no_dots(written_dots(...), names(formals(gbt_metric)))
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

# A gbt_metric as gbt_metric() made it: its fields may have been changed.
check_own_metric <- function(x) {
  good <- is.list(x) && is_text(x[["name"]]) && is.function(x[["fun"]]) && is_flag(x[["maximise"]]) &&
    is_text(x[["type"]]) && x[["type"]] %in% c("response", "link")
  if (good) return(x)
  stop_argument("`eval_metric` has a gbt_metric whose fields were changed; create it again with gbt_metric()",
                "eval_metric")
}

# `eval_metric` in any form -> list of texts and gbt_metric objects.
as_metric_list <- function(x) {
  if (is.null(x)) return(list())
  if (inherits(x, "gbt_metric")) return(list(check_own_metric(x)))
  if (is.character(x)) return(as.list(x))
  if (is.list(x) && !is.object(x)) return(do.call(c, c(list(list()), lapply(unname(x), as_metric_list))))
  if (is.function(x)) stop_argument("`eval_metric` is a function; wrap it: gbt_metric(\"name\", fun)", "eval_metric")
  stop_argument(sprintf("`eval_metric` must hold names of metrics or gbt_metric() objects, not %s", describe(x)),
                "eval_metric")
}

# Text -> list(name, code, param): a metric of the engine, its name as the log shows it. "error@0.3" is error with its
# parameter. Of metrics that share an alias the one that suits the objective is taken. response: see encode_response().
read_metric <- function(x, response) {
  if (is.na(x)) stop_argument("`eval_metric` must not be NA", "eval_metric")
  x <- printable(x)
  its <- metric_of_column(x, response$columns)
  x <- its$metric
  table <- metrics_table()
  objective <- objective_object(response$objective, response$param)
  setting <- metric_setting(x)
  parts <- if (length(setting)) setting[c(2L, 4L)] else
    regmatches(x, regexpr("@", x, fixed = TRUE), invert = TRUE)[[1L]]
  outputs <- .Call(C_gbt_objective_outputs, objective[[1L]])
  at <- metric_places(x, parts[1L], outputs)
  suits <- bitwAnd(table$outputs[at], outputs) != 0L
  at <- at[if (any(suits)) which(suits)[1L] else 1L]
  n_outputs <- as.integer(response$n_outputs)
  out <- list(name = table$name[at], code = at - 1L,
              param = .Call(C_gbt_metric_default, at - 1L, objective, n_outputs))
  if (length(parts) == 2L) {
    if (length(setting)) check_metric_key(setting[3L], table[at, ], x)
    out$param <- read_metric_param(parts[2L], table[at, ], x)
    out$name <- paste0(out$name, "@", format_number(out$param))
  }
  .Call(C_gbt_metric_check, out$code, out$param, objective, n_outputs)
  out$output <- its$output
  if (its$output > 0L) out$name <- paste0(out$name, "@", response$columns[its$output])
  out
}

# "rmse@y2" of a response with a column y2: list(metric = "rmse", output = 2L); other texts with output 0, of all.
metric_of_column <- function(x, columns) {
  if (startsWith(x, "@")) {
    stop_argument(sprintf("metric \"%s\": the name of a metric must come before the \"@\"", x), "eval_metric")
  }
  at <- which(endsWith(x, paste0("@", columns, recycle0 = TRUE)))
  if (length(at) == 0L) {
    after <- sub(".*@", "", x)
    if (length(columns) && endsWith(x, "@")) {
      stop_argument(sprintf("metric \"%s\": the name of a column must follow the \"@\": %s", x,
                            enumerate(columns)), "eval_metric")
    }
    if (length(columns) && after != x && !(grepl("^[0-9.eE+-]+$", after) && takes_number(sub("@.*", "", x)))) {
      stop_argument(sprintf("metric \"%s\": the response has no column `%s`, only %s", x, after, enumerate(columns)),
                    "eval_metric")
    }
    return(list(metric = x, output = 0L))
  }
  at <- at[which.max(nchar(columns[at]))]
  metric <- substr(x, 1L, nchar(x) - nchar(columns[at]) - 1L)
  if (may_be_parameter(metric, columns[at])) {
    stop_argument(sprintf(paste("metric \"%s\": \"%s\" may be the metric's parameter or a column of the response; give",
                                "the column another name"), x, columns[at]), "eval_metric")
  }
  list(metric = metric, output = at)
}

# May what follows "@" be a parameter of the metric?
may_be_parameter <- function(metric, text) {
  table <- metrics_table()
  grepl("^[0-9.eE+-]+$", text) & !is.na(table$parameter[match(metric, table$name)])
}

# Has one of the metrics that are called so a parameter? TRUE for other names, which are refused as such.
takes_number <- function(name) {
  at <- which(vapply(metric_names(), function(names) lower_case(printable(name)) %in% names, NA))
  length(at) == 0L || any(!is.na(metrics_table()$parameter[at]))
}

# CatBoost's "Quantile:alpha=0.9" in its parts.
metric_setting <- function(x) regmatches(x, regexec("^([A-Za-z0-9_]+):([A-Za-z_]+)=(.*)$", x))[[1L]]

# The rows of the table of metrics that `x` may mean, an error where there is none. outputs: of the objective, whose
# metrics the error names; by default those of all objectives.
metric_places <- function(x, name = NULL, outputs = -1L) {
  x <- printable(x)
  if (is.null(name)) name <- c(metric_setting(x)[2L], sub("@.*", "", x))
  low <- lower_case(name[!is.na(name)][1L])
  at <- which(vapply(metric_names(), function(names) low %in% names, NA))
  if (length(at) == 0L) stop_no_metric(x, low, outputs)
  at
}

# Is `key` of "name:key=number" a name of the metric's parameter?
check_metric_key <- function(key, info, x) {
  if (is.na(info$parameter) || key == info$parameter) return(invisible())
  if (info$name %in% words_of(given_or(find_foreign("metric parameter", key)$reply, ""))) return(invisible())
  stop_argument(sprintf("metric \"%s\" has the parameter %s and no `%s`, so \"%s\" cannot be given; write \"%s@%s\"",
                        info$name, info$parameter, key, x, info$name, format_number(info$default)), "eval_metric")
}

# LightGBM's metrics "huber" and "quantile" take their parameter from `alpha`, which is the L1 penalty here.
refuse_alpha_of_metric <- function(args) {
  if (args$of_model || !identical(unname(args$typed["alpha"]), "alpha")) return(invisible())
  for (x in Filter(is.character, as_metric_list(args$value[["eval_metric"]]))) {
    for (name in c("huber", "quantile")) {
      if (!lower_case(x) %in% metric_names()[[name]]) next
      stop_argument(sprintf(paste("`alpha` could mean the parameter of metric \"%s\" or `reg_alpha`, which is gbt's",
                                  "meaning of it; give a number with the metric, such as \"%s@0.9\", or `reg_alpha`"),
                            x, x), "alpha")
    }
  }
}

# The text after the "@", as a number.
read_metric_param <- function(text, info, x) {
  if (is.na(info$parameter)) {
    stop_argument(sprintf("metric \"%s\" takes no number after the \"@\", so \"%s\" cannot be given; write \"%s\"",
                          info$name, x, info$name), "eval_metric")
  }
  value <- if (grepl("^[0-9.eE+-]+$", text)) suppressWarnings(as.numeric(text)) else NA
  if (is.na(value)) {
    stop_argument(sprintf("the %s of metric \"%s\" must be a number, such as \"%s@%s\", not \"%s\"", info$parameter,
                          info$name, info$name, format_number(info$default), text), "eval_metric")
  }
  value
}

# outputs: of the objective, whose metrics the message names.
stop_no_metric <- function(x, low, outputs) {
  known <- metrics_table()$name[bitwAnd(metrics_table()$outputs, outputs) != 0L]
  foreign <- find_foreign("metric", low)
  if (!is.null(foreign)) {
    if (foreign$absent) stop_unsupported(sprintf("metric \"%s\": %s", x, foreign$reply), "eval_metric")
    similar <- words_of(foreign$reply)
    near <- intersect(similar, known)
    elsewhere <- if (length(near) == 0L) " for other objectives"
    near <- enumerate(if (length(near)) near else similar, quote = "\"")
    hint <- if (nzchar(foreign$reply)) sprintf("similar%s: %s; ", given_or(elsewhere, ""), near) else ""
    stop_unsupported(sprintf("gbt has no metric \"%s\"; %sgbt_metric() takes your own", x, hint), "eval_metric")
  }
  stop_argument(sprintf("`eval_metric` must be among %s, or a gbt_metric(), not \"%s\"%s",
                        enumerate(known, 50L, "\""), x, suggest(low, unlist(metric_names()), "\"")), "eval_metric")
}

# The metrics to evaluate, a list: name (in the user's order), code (NA for the user's own), param, output (the column
# of the response that it is about, 0 for all), own (list of gbt_metric or NULL per metric), maximise (of the last one,
# which is watched; NA where neither larger nor smaller is better).
no_metrics <- list(name = character(0), code = integer(0), param = numeric(0), output = integer(0), own = list(),
                   maximise = FALSE)
resolve_metrics <- function(eval_metric, response) {
  given <- as_metric_list(eval_metric)
  if (length(given) == 0L) {
    if (is_given(response$objective) && response$n_outputs > 1L) return(no_metrics)
    given <- usual_of_log(response)
  }
  out <- read_metrics(given, response)
  last <- length(out$name)
  if (last > 16L) stop_argument("`eval_metric` can have at most 16 metrics", "eval_metric")
  out$maximise <- if (is.na(out$code[last])) out$own[[last]]$maximise else {
    metrics_table()$maximise[out$code[last] + 1L]
  }
  out
}

# The name of an objective's own metric.
objective_metric <- function(objective) {
  .Call(C_gbt_default_metric, objective_code(objective))
}

# The default metrics of a training, the watched one last: concordance moves in steps, so early stopping does not watch
# it. Of a response of a few columns the metric of each is shown as well.
usual_of_log <- function(response) {
  own <- objective_metric(response$objective)
  as.list(c(if (is_of_hazards(response$objective)) "concordance", by_column(own, response), own))
}

# The metric of each column of a response, where these are few.
by_column <- function(metric, response) {
  columns <- response$columns
  if (length(columns) > most_columns_shown || any(may_be_parameter(metric, columns))) return(NULL)
  paste0(metric, "@", columns, recycle0 = TRUE)
}

most_columns_shown <- 8L

# Texts and gbt_metric objects -> list(name, code, param, own) as of resolve_metrics(); none is there twice.
read_metrics <- function(given, response) {
  read <- lapply(given, function(m) {
    if (inherits(m, "gbt_metric")) list(name = m$name, code = NA_integer_, param = 0, output = 0L, own = m)
    else read_metric(m, response)
  })
  out <- list(name = vapply(read, `[[`, "", "name"), code = vapply(read, `[[`, 0L, "code"),
              param = vapply(read, `[[`, 0, "param"), output = vapply(read, `[[`, 0L, "output"),
              own = lapply(read, `[[`, "own"))
  same <- duplicated(data.frame(out$code, out$param, out$output)) & !is.na(out$code)
  double <- which(duplicated(out$name) | same)
  if (length(double)) {
    stop_argument(sprintf("metric \"%s\" is given twice in `eval_metric`", out$name[double[1L]]), "eval_metric")
  }
  out
}

# Metrics of queries need the queries of validation sets.
check_metric_queries <- function(metrics, valid) {
  by_query <- which(metrics_table()$by_query[metrics$code + 1L])
  for (set in if (length(by_query)) valid) {
    if (is.null(set$rows)) check_undivided(set$data$group, set$name)
    if (any_rank(!is.null(set$data$group) || !is.null(set$rows))) next
    stop_argument(sprintf(paste("metric \"%s\" needs the queries of validation set \"%s\": give list(x = , y = ,",
                                "group = ), or a data frame with the column that `group` names"),
                          metrics$name[by_query[1L]], set$name), "valid")
  }
}

# ?gbt_metrics: the table of metrics as roxygen text.
metrics_help <- function() {
  table <- metrics_table()
  twins <- table$twin %in% unlist(lapply(objectives_table()$params, `[[`, "name"))
  place <- function(name) bitwShiftL(1L, enums$response[[name]])
  of <- c(number = "numbers", mean = "means", probability = "two classes", classes = "classes",
          time = "times", hazard = "hazards", own = "own")
  suits <- vapply(table$outputs, function(bits) {
    paste(of[vapply(names(of), function(name) bitwAnd(bits, place(name)) != 0L, NA)], collapse = ", ")
  }, "")
  default <- ifelse(table$open_low & table$default == table$low, "", paste(" =", format_number(table$default)))
  shown <- ifelse(is.na(table$parameter), table$name, paste0(table$name, "@", table$parameter, default))
  better <- ifelse(is.na(table$maximise), "", ifelse(table$maximise, " Larger is better.", ""))
  row <- sprintf("\\code{%s} \\tab %s.%s \\tab %s \\cr", shown,
                 paste0(toupper(substring(table$text, 1, 1)), substring(table$text, 2)), better, suits)
  c("@section Metrics:",
    paste("A metric is given by its name; the number of its parameter follows an at sign, as in `\"error@@0.3\"`",
          "or `\"quantile@@0.9\"`. The table names the parameter and its default: `huber@@delta = 1` is typed",
          "`\"huber@@1\"`. A metric is evaluated for predictions m or probabilities p and labels y, with the weights",
          "of the rows. Names of other packages are understood where the number is the same. The last column shows",
          "which objectives the metric is for, by what they predict: numbers, means on the log link, two classes,",
          "several classes, times that may be censored (objective `\"aft\"`), relative hazards (`\"cox\"`), or scores",
          "of your own objective. There p is 1 / (1 + exp(-score)) and m is exp(score)."),
    "", "\\tabular{lll}{", "metric \\tab meaning \\tab for \\cr", gsub("@", "@@", row, fixed = TRUE), "}", "",
    paste("A label above 0.5 is the second class; with a probability for each class there is no threshold, the",
          "largest one decides. `auc`, `pr_auc` and `mcc` are `NaN` where only one class has rows. `gini` and",
          "`r2` are `NaN` where all labels are equal, `f1` where a class has no rows and is never predicted. `mcc` is",
          "0 where only one class is predicted. `balanced_accuracy` leaves out classes without rows and is `NaN`",
          "where fewer than two classes have rows. `pr_auc` is the sum over thresholds of precision times the gain",
          "in recall; rows of equal scores pass a threshold together, and nothing is interpolated (XGBoost's",
          "`aucpr` interpolates). `gini` is the covariance of the labels with their ranks by prediction over that",
          "with their own ranks; ties have their mean rank. For two classes it is 2 AUC - 1.",
          "`calibration_error` adds up, over bins of equal width, the difference between the sums of labels",
          "and of probabilities, as a share of all weights. With several classes it uses the most probable one."),
    "", paste("Metrics from `ndcg` on are for ranking: means over queries, the rows of one `group`. Rows of equal",
              "score have no order; the metric is its mean over all their orders. k is the number of first places that",
              "count; 0 counts all. A query for which a metric is not defined, such as `ndcg` where all labels are 0,",
              "is left out. A query counts by the largest weight of its rows."),
    "", paste("Metrics from `concordance` on are for times with events, which may be censored on the right.",
              "G(t) is the probability of not being censored up to t, estimated from the evaluated rows",
              "(Kaplan and Meier, by row weights; at equal times events come before censorings). `concordance`",
              "counts pairs in which the earlier time is that of an event, within strata, and with entry times",
              "only rows that have entered. `uno_c` gives a pair the weight 1 / G(T-)^2 of its earlier time T.",
              "`brier_survival@t` is the mean over rows of S(t)^2 / G(T-) where an event came up to t, and (1 -",
              "S(t))^2 / G(t) where the time is above t; S is the survival curve that the model predicts, as",
              "`predict(type = \"survival\")` gives it. In the log of objective `\"cox\"` its baseline is that",
              "of the training rows after each round. `ibs` is the integral of it by trapezoids over the range",
              "of 100 quantiles of the times of events, up to the time by which at most nine tenths of the rows",
              "have ended. `dcal@B` counts S at the time of each event in B bins of equal width, which hold the",
              "same share of rows where curves are right; a censored row is shared out over the bins below its",
              "S. It is the sum of (seen - expected)^2 / expected, which exceeds the 0.95 quantile of chi",
              "squared with B - 1 degrees of freedom where curves are off. `uno_c` and the metrics of curves do",
              "not know entry times. A set of rows without an event has `NaN` for all of them. `hazard_nloglik` is",
              "the loss of objective `\"hazard\"`, and depends on its `breaks`."),
    "", paste("A metric without a number takes that of the objective where it has the parameter:",
              paste0("`", table$name[twins], "` that of `", table$twin[twins], "`", collapse = ", "), "(see",
              "[gbt_objectives()])."))
}

# Early stopping over a series of values: `best`, the round of the best value; `stop`, the round after which `patience`
# rounds have brought no better one (0: never). NA where there is none.
stopping_of <- function(values, maximise, min_delta, patience = 0) {
  .Call(C_gbt_stopping, as.double(values), maximise, as.double(min_delta), as.double(patience))
}
