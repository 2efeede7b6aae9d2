# Metrics of a model on data: gbt_evaluate().

#' Evaluate a model on data
#'
#' Computes metrics of a model on data with a known response, also for groups of rows (`by`) and with bootstrap
#' intervals. The values equal those in the evaluation log of [gbt_train()] for the same rows, to the last bit.
#'
#' @section Intervals:
#' With `intervals = 0.95` rows are drawn with replacement, as many as there are, `replicates` times, and the metrics
#' are computed for each draw (predictions are made once). The bounds are the quantiles of these values that leave 2.5 %
#' of them on either side (the percentile bootstrap of Efron, 1981). If rows belong together, such as the visits of a
#' patient, give `group` to draw whole groups; otherwise the intervals are too narrow. The intervals show how much the
#' metrics of *this* model vary with the evaluation rows, not how much they vary with the training rows; for that see
#' [gbt_cv()]. Draws for which the metric has no value, such as an AUC of rows of one class, are left out; if these are
#' more than half of the draws, there are no bounds.
#'
#' @param model A model from [gbt_train()], a calibrated one from [gbt_calibrate()], or a [gbt_cv()] with `keep_models =
#'   TRUE`, to evaluate its predictions for held-out rows; `x` is then its data.
#' @param x,data The data: what [predict()][predict.gbt] takes as `newdata`. For a model that was trained by a formula
#'   a data frame with the response is enough. A [gbt_data()] object has its own response, weights, offset and, for
#'   ranking, groups. So have sources of rows, such as [gbt_files()], which are read once, in parts: only the scores,
#'   the response and the columns that arguments name are in memory. A [gbt_cv()] and models of a recipe need rows in
#'   memory.
#' @param y The response, if `x` does not have it; or the name of its column in a data frame or a source.
#' @param ... Must be empty: a misspelt argument is an error.
#' @param metrics Names of metrics (see [gbt_metrics]), [gbt_metric()] objects, or a list of both. `"all"` means all
#'   metrics for this objective and response. The default is the metric of the objective and other common ones.
#' @param weights,offset,exposure As in [gbt_train()] and [predict()][predict.gbt]; columns of a data frame may be
#'   named. `NULL`: the weights of a [gbt_data()] or a source, or 1 for all rows.
#' @param by Names of columns of the data, or a value for each row (a vector, a list or data frame of several, a
#'   matrix): metrics are computed for each group of rows. Numbers and times that differ are different groups, even if
#'   they print the same.
#' @param intervals The level of bootstrap intervals, such as 0.95; `NULL` for none.
#' @param replicates The number of draws.
#' @param group Which rows are drawn together: a value for each row, or the name of a column.
#' @param strata Strata of the rows, for a model with strata: values, or the name of a column. By default the columns
#'   that the model was trained with.
#' @param trees Number of rounds to predict with, see [predict()][predict.gbt].
#' @param seed Seed of the draws, a whole number; `NULL` takes one from R's generator.
#' @param threads Number of threads, see [gbt_threads()].
#' @param ranks From [gbt_ranks()]: each rank gives its own rows, and all ranks get the metrics over the rows of all
#'   ranks.
#' @return A data frame of class `gbt_evaluation` with a row for each group and metric: the columns of `by`, `metric`,
#'   `estimate`, with `intervals` also `lower` and `upper`, and `rows`. `estimate` is `NaN` if the metric is not
#'   defined, such as `auc` of rows of one class, or `rmse@y2` if all cells of column `y2` are missing. `plot()` draws
#'   it.
#' @seealso [gbt_cv()], [gbt_train()], [gbt_metric()]
#' @concept evaluate a model
#' @concept model performance
#' @concept accuracy
#' @examples
#' train <- seq_len(nrow(iris)) %% 3 > 0
#' m <- gbt_train(Species ~ ., iris[train, ], nrounds = 30, threads = 1)
#' gbt_evaluate(m, iris[!train, ], threads = 1)
#'
#' cars <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 20, threads = 1)
#' gbt_evaluate(cars, mtcars[-1], mtcars$mpg, metrics = c("rmse", "mae"), by = "cyl", intervals = 0.9,
#'              replicates = 200, seed = 1, threads = 1)
#' @export
gbt_evaluate <- function(model, x, y = NULL, ..., metrics = NULL, weights = NULL, offset = NULL, by = NULL,
                         intervals = NULL, replicates = 1000, group = NULL, trees = NULL, seed = NULL, threads = NULL,
                         data = NULL, exposure = NULL, strata = NULL, ranks = NULL) {
  told_to_ranks({
    check_no_dots(written_dots(...), names(formals(gbt_evaluate)))
    if (missing(model)) stop_argument("`model` is missing: gbt_evaluate(model, data)", "model")
    check_judged(model)
    x <- rows_given(if (!missing(x)) list(x), data, "gbt_evaluate", in_parts = TRUE)
    given <- list(offset = given_in_data("offset", x), exposure = given_in_data("exposure", x), trees = trees)
    if (chunked_rows(x)) {
      its <- read_judged(model, x, y, c("weights", "group", "by", "strata"), given$offset, given$exposure, trees,
                         threads)
      x <- its$x
      y <- its$y
      given <- given["trees"]
    }
    y <- response_to_judge(y, x)
    given <- c(list(weights = column_or_values(given_in_data("weights", x), x), strata = given_in_data("strata", x)),
               given)
    group <- column_or_values(given_in_data("group", x), x, "group")
    kept <- if (is.null(group)) groups_kept(x)
    by <- read_by(given_in_data("by", x), x)
    level <- if (!is.null(intervals)) check_share(intervals, "intervals")
    replicated <- !missing(replicates)
    plan <- list(level = level, replicates = check_whole(replicates, "replicates", 20, 1e6),
                 seed = if (!is.null(seed)) check_seed(seed), threads = resolve_threads(threads))
    response <- response_kind(judged_model(model))
    grouped <- !is.null(group) || (!is.null(kept) && is_of_queries(response$objective))
    what <- read_evaluated(metrics, response, grouped)
    plan$by_query <- any(metrics_table()$by_query[what$code + 1L], na.rm = TRUE)
    if (plan$by_query && is.null(group)) group <- kept
    if (is.null(level) && (!is.null(group) && !plan$by_query || replicated)) {
      given <- if (replicated) "replicates" else "group"
      stop_argument(sprintf("`%s` is for bootstrap intervals: give `intervals`, such as 0.95", given), given)
    }
    with_ranks(check_ranks(ranks), evaluate(model, x, y, given, group, by, what, plan), "gbt_evaluate")
  })
}

# given: what else belongs to the rows, and `trees`; by: of read_by(); what: of read_evaluated(); plan: level,
# replicates and seed of intervals, threads, by_query: is there a metric of queries?
evaluate <- function(model, x, y, given, group, by, what, plan) {
  check_evaluated_by_ranks(model, given, group, by, plan)
  if (splits_rows()) {
    if (inherits(x, "gbt_data") || !is.null(attr(x, "judged", exact = TRUE))) {
      stop_unsupported("`share = \"split\"` of gbt_ranks() splits a data frame or a matrix; give one", "x")
    }
    part <- part_to_judge(x, y, given, group, by)
    return(evaluate_own_rows(model, part$x, part$y, part$given, part$group, part$by, what, plan))
  }
  evaluate_own_rows(model, x, y, given, group, by, what, plan)
}

# The same; all but the model and the plan belong to the rows of this rank.
evaluate_own_rows <- function(model, x, y, given, group, by, what, plan) {
  rows <- rows_to_judge(model, x, y, given$weights, given$offset, given$exposure, given$trees, plan$threads,
                        given$strata)
  warn_columns_gone(rows$label)
  what <- fitting_metrics(what, rows)
  rows$baseline <- of_evaluation(baseline_of_rows(what, model, rows, given$trees))
  check_same_on_ranks(what$name, "the metrics", "; give all ranks the same `metrics`")
  if (is.null(rows$pred) && any(vapply(what$own, function(m) identical(m$type, "response"), NA))) {
    rows$pred <- if (!is.null(attr(x, "judged", exact = TRUE))) {
      as_columns(responses_of(rows$model, rows$score, plan$threads))
    } else {
      as_columns(predict.gbt(model, x, type = "response", trees = given$trees, offset = given$offset,
                             exposure = given$exposure, threads = plan$threads))
    }
  }
  n <- length(rows$label)
  if (!is.null(rows$at)) { # of the rows that were held out
    if (!is.null(by)) by <- lapply(by, subset_rows, rows$at)
    group <- subset_rows(group, rows$at)
  }
  units <- if (!is.null(plan$level) || plan$by_query) check_group(group, n)
  if (plan$by_query) check_undivided(units)
  if (plan$by_query) rows["group"] <- list(units)
  if (!is.null(plan$level)) plan$seed <- value_of_first_rank(drawn_seed(plan$seed))
  parts <- group_rows(by, n)
  out <- lapply(parts$rows, function(at) {
    part <- if (is.null(at)) rows else rows_taken(rows, at)
    evaluate_rows(part, what, response_kind(judged_model(model)), if (is.null(at)) units else subset_rows(units, at),
                  plan)
  })
  evaluation_frame(out, what$name, parts, plan, rows$model)
}

# The rows that are given as `x` or as `data`. x: a list of the argument; NULL where it is missing. who: the function;
# in_parts: see check_evaluated().
rows_given <- function(x, data, who, in_parts = FALSE) {
  if (!is.null(x) && !is.null(data)) stop_argument("`x` and `data` are the same; give one", "data")
  x <- if (is.null(x)) data else x[[1L]]
  if (is.null(x)) stop_argument(sprintf("`x` is missing: %s(model, data), or %s(model, x, y)", who, who), "x")
  check_evaluated(x, who, in_parts)
  x
}

# in_parts: may rows come in chunks? See read_judged().
check_evaluated <- function(x, who, in_parts = FALSE) {
  if (inherits(x, "gbt_data")) check_data(x, "x")
  if (chunked_rows(x) && !in_parts) {
    stop_unsupported(paste0(who, "() takes rows in memory, or gbt_data; write predictions by predict(output = ) and ",
                            "give these: ", who, "(observed, predicted)"), "x")
  }
}

# `y`: values, or the name of a column of a data frame.
response_to_judge <- function(y, x) {
  y <- column_or_values(y, x)
  if (!is_text(y) || n_rows_of(x) == 1) return(y)
  is_metric <- lower_case(sub("@.*$", "", y)) %in% unlist(metric_names())
  hint <- if (is_metric) sprintf("; a metric is given as `metrics = %s`", quote_value(y)) else
    suggest(y, columns_known(x))
  stop_argument(sprintf("`y` must be the response, a value for each row, or the name of its column, not %s%s",
                        quote_value(y), hint), "y")
}

# `by` -> NULL or a named list of vectors, each a value for each row. x: the data.
read_by <- function(by, x) {
  other <- is.list(by) && is.object(by) && !inherits(by, c("data.frame", "POSIXlt")) # lengths may lie
  if (isS4(by) || other) {
    stop_argument(sprintf("`by` must be vectors or names of columns, not %s", describe(by)), "by")
  }
  if (length(by) == 0L) return(NULL)
  if (is_texts(by) && (length(by) != n_rows_of(x) || all(by %in% names_of_table(x)))) by <- columns_named(by, x)
  if (inherits(by, "POSIXlt") || !is.list(by) && length(dim(by)) != 2L) by <- list(by = by)
  if (!is.list(by)) by <- list_of_columns(by)
  if (is.null(names(by))) names(by) <- rep("", length(by))
  names(by) <- ifelse(names(by) == "", paste0("by", seq_along(by)), names(by))
  by <- lapply(unclass(by)[seq_along(by)], function(v) {
    if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
    if (is.atomic(v) && is.null(dim(v))) unname(v) else v
  })
  twice <- anyDuplicated(names(by))
  if (twice) stop_argument(sprintf("`by` has `%s` twice", names(by)[twice]), "by")
  taken <- intersect(names(by), c("metric", "estimate", "lower", "upper", "rows"))
  if (length(taken)) {
    stop_argument(sprintf(paste("`by`: a column cannot be called `%s`, as the result has such a column; give its",
                                "values under another name, such as by = list(its_%s = )"), taken[1L], taken[1L]), "by")
  }
  by
}

# Columns of the data, whatever they are, as a list by name.
columns_named <- function(names, x) {
  absent <- setdiff(names, names_of_table(x))
  if (length(absent)) {
    stop_argument(sprintf("`by` names `%s`, which is not a column of the data%s", absent[1L],
                          suggest(absent[1L], names_of_table(x))), "by")
  }
  if (inherits(x, "gbt_data")) {
    stop_unsupported("`by` names a column, and a gbt_data object has bins and no values: give the values of the column",
                     "by")
  }
  if (is.data.frame(x)) return(as.list(pick_columns(x, names)))
  if (inherits(x, "ArrowTabular")) return(as.list(as.data.frame(x)[names]))
  lapply(stats::setNames(nm = names), function(name) {
    j <- match(name, colnames(x))
    if (isS4(x)) as.vector(x[, j]) else list_of_columns(x, j)[[1L]]
  })
}

list_of_columns <- function(x, columns = seq_len(ncol(x))) {
  values <- lapply(columns, function(j) {
    structure(matrix_column(x, j), class = if (inherits(x, "integer64")) "integer64")
  })
  names <- colnames(x)[columns]
  stats::setNames(values, if (is.null(names)) paste0("by", columns) else names)
}

# The groups of rows: list(values = data frame with a row for each group, or NULL; rows = list of numbers of rows; a
# NULL in it stands for all).
group_rows <- function(by, n) {
  if (is.null(by)) return(list(values = NULL, rows = list(NULL)))
  own <- rows_by_group(by, n)
  if (is.null(ranks_here())) own else groups_of_ranks(own$values, own$rows)
}

rows_by_group <- function(by, n) {
  codes <- lapply(stats::setNames(nm = names(by)), function(name) {
    v <- by[[name]]
    if (!is.atomic(v) || length(dim(v)) > 1L) {
      hint <- if (length(dim(v)) == 2L && ncol(v) > 0L) {
        sprintf("; take columns of it, such as by = list(%s = data$%s[, 1])", name, name)
      } else {
        ""
      }
      stop_argument(sprintf("`by`: `%s` must be a vector, not %s%s", name, describe(v), hint), "by")
    }
    if (length(v) != n) {
      stop_argument(sprintf("`by`: `%s` has %s for %s", name, counted(length(v), "value"), counted(n, "row")), "by")
    }
    group_codes(v)
  })
  at <- do.call(order, unname(codes))
  key <- do.call(paste, unname(codes))
  first <- at[!duplicated(key[at])]
  place <- match(key, key[first])
  values <- list_frame(lapply(by, subset_rows, first), length(first))
  list(values = values, rows = unname(split(seq_len(n), factor(place, seq_along(first)))))
}

# Numbers of the distinct values in their order, missing ones last. Numbers and times are distinguished by their values,
# not by how they are printed: as texts an hour of autumn occurs twice, and parts of seconds are lost.
group_codes <- function(v) {
  v <- meant_values(v, "`by`", "by", character(0))
  if (is.factor(v)) return(as.integer(addNA(v, ifany = TRUE)))
  if (is.raw(v)) v <- as.integer(v)
  if (inherits(v, "integer64")) {
    number <- as_numbers(v, "by")
    text <- as.character(v) # large ones may be equal as doubles
    first <- which(!duplicated(text))
    return(match(text, text[first][order(number[first], text[first])]))
  }
  if (is.character(v)) return(match(enc2utf8(as.vector(v)), c(distinct_texts(v), NA)))
  if (is.complex(v)) return(as.integer(factor(v, exclude = NULL)))
  v <- if (is.object(v)) as.vector(unclass(v)) else v
  match(v, sort(unique(v), na.last = TRUE))
}

# Which metrics: as of read_metrics(), and `asked`: did the user name them? grouped: is there a `group`, which metrics
# of queries need?
read_evaluated <- function(metrics, response, grouped = FALSE) {
  all <- is.character(metrics) && length(metrics) == 1L && identical(lower_case(metrics), "all")
  if (!grouped && is.null(metrics) && is_of_queries(response$objective)) {
    stop_argument("ranking metrics need `group`, the query of every row: gbt_evaluate(model, data, group = )",
                  "group")
  }
  given <- if (all) suiting_metrics(response, grouped) else if (is.null(metrics)) usual_metrics(response)
  out <- of_evaluation(read_metrics(given_or(given, as_metric_list(metrics)), response))
  if (length(out$name) == 0L) stop_no_metrics()
  c(out, asked = is.null(given))
}

stop_no_metrics <- function() {
  stop_argument("there is no metric for this objective; give `metrics`, such as a gbt_metric()", "metrics")
}

# Errors of `eval_metric` as those of `metrics`.
of_evaluation <- function(code) {
  blame <- function(e) { # the argument has another name in training
    e$message <- gsub("`eval_metric`", "`metrics`", conditionMessage(e), fixed = TRUE)
    if (identical(e$parameter, "eval_metric")) e$parameter <- e$subject <- "metrics"
    stop(e)
  }
  tryCatch(code, gbt_error = blame)
}

# The baseline for metrics of survival curves. Predictions of folds are of several models, each with its own; only those
# of intervals of time, which are the same in all folds, need none.
baseline_of_rows <- function(what, model, rows, trees) {
  of_curves <- which(metrics_table()$name[what$code + 1L] %in% curve_metrics)
  if (length(of_curves) == 0L) return(NULL)
  if (inherits(model, "gbt_cv") && !is_of_intervals(rows$model$objective)) {
    stop_unsupported(sprintf(paste("metric \"%s\" needs the survival curves of one model; name it in gbt_cv() or",
                                   "evaluate a single model"), what$name[of_curves[1L]]), "eval_metric")
  }
  baseline <- baseline_of_metrics(what, rows$model, check_rounds(trees, rows$model))
  new <- which(other_fields_of_label(rows$label)$stratum > length(baseline[[3L]]))
  if (length(new)) {
    stop_data(sprintf("row %d is of a stratum that the training data do not have, so metric \"%s\" has no curve for it",
                      new[1L], what$name[of_curves[1L]]), "strata")
  }
  baseline
}

# Those for which the labels are good. It is an error if the user named another one. what: of read_evaluated().
fitting_metrics <- function(what, rows) {
  out <- what[names(what) != "asked"]
  if (what$asked) {
    of_evaluation(check_metric_labels(out, list(list(name = "given", label = rows$label, rows = NULL))))
    return(out)
  }
  fits <- vapply(seq_along(out$name), function(i) !any_rank(!labels_fit(out, i, rows)), NA)
  if (!any(fits)) stop_no_metrics()
  lapply(out, `[`, fits)
}

labels_fit <- function(metrics, i, rows) {
  tryCatch({
    check_labels_of_metric(metrics$code[i], metrics$param[i], rows$label, "x", NULL)
    TRUE
  }, gbt_error_data = function(e) FALSE)
}

# Names of all metrics that suit the objective. grouped: those of queries as well?
suiting_metrics <- function(response, grouped = FALSE) {
  if (is_given(response$objective) && response$n_outputs > 1L) return(list())
  if (may_have_levels(response$objective) && response$n_outputs > 1L) return(as.list(metrics_of_levels))
  outputs <- .Call(C_gbt_objective_outputs, objective_object(response$objective, response$param)[[1L]])
  table <- metrics_table()
  suits <- bitwAnd(table$outputs, outputs) != 0L & (grouped | !table$by_query)
  needs_number <- table$open_low %in% TRUE & table$default == table$low
  unfit <- table$by_time & response$response %in% c("surv_left", "surv_interval") |
    table$name %in% c("uno_c", curve_metrics) & response$response %in% c("surv_counting", "surv_mcounting")
  as.list(table$name[suits & !needs_number & !unfit])
}

# Metrics in addition to the objective's own, by what it predicts.
other_metrics <- list(hazard = "concordance", intervals = "concordance", time = "concordance",
                      number = c("rmse", "mae", "r2"),
                      distribution = c("crps", "rmse", "interval_coverage"), mean = c("rmse", "mae", "gini"),
                      probability = c("auc", "brier", "error"), classes = c("merror", "mbrier"), own = character(0))

# Metrics of models with several levels.
metrics_of_levels <- c("quantile", "coverage")

usual_metrics <- function(response) {
  if (is_of_queries(response$objective)) return(list("ndcg@10", "map", "mrr"))
  suiting <- unlist(suiting_metrics(response))
  if (length(suiting) == 0L) return(list())
  own <- .Call(C_gbt_default_metric, objective_code(response$objective))
  outputs <- .Call(C_gbt_objective_outputs, objective_object(response$objective, response$param)[[1L]])
  kind <- names(other_metrics)[vapply(names(other_metrics), function(name) {
    bitwAnd(outputs, bitwShiftL(1L, enums$response[[name]])) != 0L
  }, NA)]
  others <- c(unlist(other_metrics[kind]), if (identical(suiting, metrics_of_levels)) suiting)
  as.list(unique(c(own, by_column(own, response), intersect(others, suiting))))
}

# Metrics of some rows: a matrix, a row a metric, of estimate, lower, upper; and their number as attribute.
evaluate_rows <- function(rows, what, response, units, plan) {
  n <- length(rows$label)
  estimate <- metric_values(rows, what, response, rows$weight, NULL, plan$threads)
  out <- cbind(estimate = estimate, lower = NA_real_, upper = NA_real_)
  if (!is.null(plan$level)) {
    drawn <- vapply(seq_len(plan$replicates), function(i) {
      count <- drawn_counts(n, units, plan$seed, i, rows$weight)
      weight <- if (is.null(rows$weight)) as.double(count) else rows$weight * count
      if (!any_rank(any(weight > 0))) return(rep(NaN, length(estimate)))
      metric_values(rows, what, response, weight, count, plan$threads)
    }, estimate)
    drawn <- matrix(drawn, length(estimate))
    tail <- (1 - plan$level) / 2
    for (m in seq_along(estimate)) {
      good <- drawn[m, is.finite(drawn[m, ])]
      if (2 * length(good) >= plan$replicates) {
        out[m, 2:3] <- stats::quantile(good, c(tail, 1 - tail), names = FALSE, type = 6L)
      }
    }
  }
  all <- sum_of_ranks(n)
  structure(out, rows = if (all <= .Machine$integer.max) as.integer(all) else all)
}

# How often each row is drawn. units: numbers of those that are drawn together, or NULL. Rows of weight 0 are not drawn.
drawn_counts <- function(n, units, seed, replicate, weight = NULL) {
  weigh <- mask_of_weights(weight)
  if (!is.null(weigh)) {
    return(replace(integer(n), weigh, drawn_counts(sum(weigh), units[weigh], seed, replicate)))
  }
  if (is.null(units)) {
    check_drawn_rows(all <- sum_of_ranks(n), "intervals", "leave `intervals` out")
    return(own_rows(.Call(C_gbt_resample, as.integer(all), seed, replicate), n))
  }
  units <- number_groups(units) # of the units in these rows only
  .Call(C_gbt_resample, as.integer(count_groups(units)), seed, replicate)[units]
}

# count: how often each row is there, within weight already; NULL: once.
metric_values <- function(rows, what, response, weight, count, threads) {
  of_engine <- !is.na(what$code)
  out <- numeric(length(what$code))
  values <- function(score, m, param) {
    engine_metrics(list(code = what$code[m], param = param, output = what$output[m]), response, score, rows$label,
                   weight, rows$group, rows$baseline, threads)
  }
  if (any(of_engine)) {
    its <- list(code = what$code[of_engine], param = what$param[of_engine])
    out[of_engine] <- if (is.null(rows$known)) values(rows$score, of_engine, its$param) else {
      rows$weight <- weight
      known_metric_values(rows, its, function(score, m, param) values(score, which(of_engine)[m], param))
    }
  }
  for (m in which(!of_engine)) out[m] <- own_evaluated(what$own[[m]], rows, count)
  out
}

# A metric of the user's, on rows that are there as often as they were drawn.
own_evaluated <- function(metric, rows, count) {
  at <- if (is.null(count)) seq_along(rows$label) else rep(seq_along(count), count)
  pred <- numbers_of_rows((if (metric$type == "response") rows$pred else rows$score)[at, , drop = FALSE])
  if (ncol(pred) == 1L) pred <- as.vector(pred)
  weight <- if (is.null(rows$weight)) rep(1, length(at)) else rows$weight[at]
  label <- rows$label[at]
  if (is.null(ranks_here())) return(own_metric_value(metric, pred, label, weight))
  label <- numbers_of_rows(label)
  weight <- numbers_of_rows(weight)
  of_first_rank(list(v = if (is_first_rank()) own_metric_value(metric, pred, label, weight) else 0))$v
}

# parts: see group_rows(); out: list of evaluate_rows(), one for each group.
evaluation_frame <- function(out, names, parts, plan, model) {
  n <- length(names)
  groups <- parts$values
  columns <- if (!is.null(groups)) as.list(subset_rows(groups, rep(seq_along(out), each = n)))
  values <- do.call(rbind, out)
  columns <- c(columns, list(
    metric = rep(names, length(out)), estimate = unname(values[, 1L])
  ), if (!is.null(plan$level)) list(lower = unname(values[, 2L]), upper = unname(values[, 3L])),
  list(rows = rep(unlist(lapply(out, attr, "rows")), each = n)))
  frame <- list_frame(columns, n * length(out))
  class(frame) <- c("gbt_evaluation", "data.frame")
  attr(frame, "level") <- plan$level
  attr(frame, "replicates") <- if (!is.null(plan$level)) plan$replicates
  attr(frame, "objective") <- model$objective
  frame
}

#' @export
print.gbt_evaluation <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  digits <- check_digits(digits, 2L)
  shown <- as.data.frame(x)
  level <- attr(x, "level")
  groups <- shown[setdiff(names(shown), c("metric", "estimate", "lower", "upper", "rows"))]
  total <- sum(shown$rows[if (length(groups)) !duplicated(groups) else seq_along(shown$rows) == 1L])
  cat(sprintf("<gbt_evaluation> %s, objective \"%s\"%s\n", counted(total, "row"), attr(x, "objective"),
              if (is.null(level)) "" else sprintf(", %s %% intervals by %s", format(100 * level),
                                                  counted(attr(x, "replicates"), "bootstrap draw"))))
  for (name in intersect(c("estimate", "lower", "upper"), names(shown))) {
    shown[[name]] <- vapply(shown[[name]], format, "", digits = digits)
  }
  if (identical(names(shown)[1L], "metric")) shown$rows <- NULL
  print(shown, row.names = FALSE)
  invisible(x)
}

#' @export
as.data.frame.gbt_evaluation <- plain_table

# Rows or columns of it are a plain table.
#' @export
`[.gbt_evaluation` <- function(x, ...) as.data.frame(x)[...]
