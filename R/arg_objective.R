# Objectives: the loss, by default chosen by the response, and the response in the engine's form.

# The properties of objectives come from the engine's own table (objectives.def), so adding one changes nothing here.

# By columns: name; aliases, names in other packages with | between; text; gradient, outputs, labels, hessian, size, the
# names of its rules; params, a list of tables of parameters like params_table() with their aliases.
objectives_table <- function() {
  if (is.null(package_state$objectives)) package_state$objectives <- .Call(C_gbt_objectives)
  package_state$objectives
}

objective_code <- function(name) match(name, objectives_table()$name) - 1L

# One row: list(name, labels, ..., params).
objective_info <- function(name) lapply(objectives_table(), .subset2, objective_code(name) + 1L)

# Are its gradients the user's functions?
is_given <- function(name) objective_info(name)$gradient == "GIVEN"

# Do its gradients look at all rows of a query, which `group` names?
is_of_queries <- function(name) objective_info(name)$gradient == "QUERY"

# Is it about one cause of events in the presence of others?
is_of_subdistribution <- function(name) identical(name, "fine_gray")

# Does it predict hazards relative to a baseline?
is_of_hazards <- function(name) objective_info(name)$response == "HAZARD"

# Does it predict a hazard for each interval of time?
is_of_intervals <- function(name) objective_info(name)$gradient == "INTERVALS"

# Does it predict times of events, with curves?
is_of_times <- function(name) objective_info(name)$response %in% c("TIME", "HAZARD", "INTERVALS")

# Does it need to know which times are those of events?
needs_events <- function(name) is_of_hazards(name) || is_of_intervals(name)

# As the engine takes it: its number, its parameters in the engine's order, and the ends of its intervals or its levels,
# where it has several. param: a list that has them by their names.
objective_object <- function(name, param = list()) {
  wanted <- objective_info(name)$params$name
  values <- vapply(wanted, function(p) as.double(param[[p]])[1L], 0, USE.NAMES = FALSE)
  levels <- if (may_have_levels(name)) param[[wanted[1L]]]
  c(list(objective_code(name), values), if (is_of_intervals(name)) list(param[["breaks"]]),
    if (length(levels) > 1L) list(as.double(levels)))
}

#' Objectives (loss functions)
#'
#' The losses that [gbt_train()] can minimise (its argument `objective`), their parameters, which are also arguments of
#' [gbt_train()], and their names in other packages. `gbt_objectives()` lists them as a table.
#'
#' The default depends on the response: `"logistic"` for two classes (a factor, character or logical vector),
#' `"softmax"` for more, `"squared_error"` for numbers (with a message, class `gbt_message`, if all are 0 or 1), `"cox"`
#' or `"aft"` for survival.
#'
#' @section Objectives:
#' * `"squared_error"`: numbers; predicts the mean.
#' * `"logistic"`: two classes, or numbers from 0 to 1; predicts probabilities.
#' * `"softmax"`: several classes, or whole numbers as classes. Levels without rows are dropped, with a message.
#' * `"poisson"`: counts, with a log link. If some labels are hundreds of times the mean, limit the steps by
#'   `max_delta_step = 0.7` (XGBoost's default for counts); otherwise predictions can become huge.
#' * `"negative_binomial"`: counts with the variance m + a m^2 for a mean m, where a is `dispersion`. (R's `theta` and
#'   `size` are 1 / a.)
#' * `"gamma"`: amounts above 0 whose spread grows with their mean, with a log link.
#' * `"tweedie"`: amounts of 0 or more, many of them 0, with a log link. The variance is the mean to the power
#'   `tweedie_variance_power`, between 1 and 2.
#' * `"huber"`, `"pseudo_huber"`: numbers with outliers. The loss is quadratic for errors up to `huber_delta` and linear
#'   for larger ones. It is in units of the response: choose it near the size of typical errors.
#' * `"log_cosh"`: numbers with outliers, log cosh of the error. It is close to `"pseudo_huber"` with `huber_delta = 1`.
#' * `"quantile"`: the quantile of level `quantile_alpha`; 0.5 is the median. Several levels, such as
#'   `quantile_alpha = c(0.1, 0.5, 0.9)`, are trained together, see Several quantiles.
#' * `"absolute_error"`: the median.
#' * `"mape"`: the absolute percentage error: the median with weights divided by the size of the response, or by 1 if
#'   that is larger.
#' * `"expectile"`: the expectile of level `expectile_alpha`; 0.5 is the mean.
#' * `"squared_log_error"`: numbers above -1: squared error of log(1 + y). Scores are on this scale, predictions on that
#'   of y.
#' * `"cross_entropy"`: shares from 0 to 1, with the numbers of trials as weights. The loss is that of `"logistic"`, but
#'   the response is a number, and there are no classes.
#'
#' * `"dist_normal"`, `"dist_student"`, `"dist_gamma"`, `"dist_negative_binomial"`, `"dist_zip"`: predict a distribution
#'   for each row, see Distributions.
#'
#' `softmax_hessian` is a parameter of `"softmax"`:
#' * `softmax_hessian`: The hessian of a class with probability p is this number times p (1 - p). 2 never steps too far;
#'   0 is K / (K - 1) for K classes, as in LightGBM. By default a rule chooses, see [gbt_defaults()].
#'
#' @section Several quantiles:
#' With several levels (at most 99) a round has a tree for each, and predictions are a matrix with columns `q0.1`,
#' `q0.5` and so on. The quantiles of each row are sorted, so that they never cross; this never increases the loss
#' (Chernozhukov, Fernandez-Val and Galichon, 2010, *Econometrica* 78, 1093-1125). `type = "link"` has the scores before
#' sorting, to which contributions add up. Offsets are a matrix with a column for each level. The metric `quantile` is
#' the mean pinball loss of all levels, `quantile@0.9` that of one level, and `coverage` the share of responses between
#' the lowest and the highest quantile. [gbt_fan()] draws the quantiles, `predict(type = "interval")` gives pairs of
#' them, and [gbt_conformal()] corrects the coverage of the outer pair. With `multi_strategy = "multi_output_tree"` a
#' round has one tree for all levels, see [gbt_parameters()].
#'
#' @section Several columns:
#' A response may have several columns: `cbind(y1, y2) ~ .`, or a matrix or a data frame of numbers or logical values as
#' `y`. A model then predicts a matrix with a column for each. Logical columns are labels (multi-label classification):
#' the objective is `"logistic"`, and `predict(type = "class")` gives a logical matrix. Otherwise the default is
#' `"squared_error"`; all objectives for numbers, counts, amounts or shares are possible, except `"quantile"` and
#' distributions. Columns are not scaled. A round has a tree for each column. All columns use the same sampled rows and
#' features, so the predictions of a column without missing cells equal those of a model of only this column with the
#' same parameters. Exceptions are early stopping, a race for the shape of trees, `sampling_method` `"mvs"` and
#' `"goss"`, and `first_use_penalty`, which use all columns. With `multi_strategy = "multi_output_tree"` a round has one
#' tree for all columns, see [gbt_parameters()].
#'
#' A cell may be `NA`: it is left out of gradients, base scores and metrics. A row or a column in which all cells are
#' missing is an error. Metrics that are means over rows, such as `rmse` and `logloss`, are computed over all cells;
#' others, such as `auc`, are means over the columns for which they are defined. `"rmse@y2"` is the metric of column
#' `y2`. For up to eight columns the log also has the default metric of each. There is one weight per row. Offsets are a
#' matrix with a column for each response; give exposures as such offsets, by their logarithms. Target encoding,
#' `boosting = "ordered"`, `class_weights`, an objective of your own and [gbt_confusion()] need a response of one
#' column.
#'
#' @section Distributions:
#' A model of a distribution has two scores for each row, and a round has a tree for each:
#' * `"dist_normal"`: numbers; the mean and the logarithm of the standard deviation (`mean`, `sd`).
#' * `"dist_student"`: numbers with outliers, by Student's t with `df` degrees of freedom (default 4); the mean and the
#'   logarithm of the scale (`mean`, `scale`).
#' * `"dist_gamma"`: amounts above 0; the logarithms of the mean and of the shape k (`mean`, `shape`). The variance is
#'   mean^2 / k.
#' * `"dist_negative_binomial"`: counts; the logarithms of the mean and of the size t (`mean`, `size`). The variance is
#'   mean + mean^2 / t. Shapes and sizes are kept between exp(-10) and exp(15).
#' * `"dist_zip"`: counts, many of them 0: 0 with probability p, else Poisson's; the logarithm of the rate and the log
#'   odds of p (`rate`, `zero`). The mean is rate (1 - p).
#'
#' The loss is the negative log-likelihood. Hessians are the Fisher information (for `"dist_zip"` a bound of it, from
#' the EM algorithm), so each leaf is a step of Fisher scoring (Rigby and Stasinopoulos, 2005, *Applied Statistics* 54,
#' 507-554). Both parameters use the scores at the beginning of the round.
#' * `eta_scale`: the learning rate for the second parameter (the spread) is `eta` times this number, by default 0.25,
#'   since the spread is learned from the errors of the mean (`bench/results/distributions.md` in the sources). A step
#'   in the logarithm of the spread is at most 1 before the learning rate, and the spread stays above exp(-8) times its
#'   initial value.
#'
#' The spread is learned from the residuals of the training rows, which become too small when the mean overfits. Give
#' `valid`, so that training stops when the likelihood of new rows no longer rises; without `nrounds` and `valid`,
#' cross-validation chooses the number of rounds. [predict()][predict.gbt] gives means, and by `type` also
#' `"parameters"`, `"quantile"` (with `probs`) and `"interval"` (with `level`); [simulate()][gbt_stats] draws responses.
#' Metrics: `nloglik`, `crps`, `interval_coverage@0.9`, and for means `rmse`, `mse` and `mae`. Offsets are a matrix with
#' two columns, on the scale of scores. Importance by gain adds up the gains of both parameters; SHAP values are
#' computed for each parameter's score. Monotone constraints, `leaf_iterations` and `boosting = "ordered"` cannot be
#' used.
#'
#' @section Ranking:
#' Objectives of ranking order the rows of a query, such as the results of a search. Give `group`, the query of every
#' row, in any order of the rows; validation sets need theirs: `list(x = , y = , group = )`. The response is the
#' relevance: 0, 1, 2, and so on. Predictions are scores; only their order within a query has a meaning.
#' * `"rank_ndcg"`: LambdaMART for NDCG. Gains of labels are 2^label - 1, or the labels with `rank_linear_gain = TRUE`,
#'   or the numbers of `label_gain` for labels 0, 1, 2, and so on; metrics `ndcg` and `dcg` take the same gains. Pairs
#'   have one row among the `rank_top` rows with the highest scores (0: all pairs); with `rank_pairs` above 0 each row
#'   gets this number of random partners instead. `rank_norm` divides the gradients of a query by their sum,
#'   `rank_score_norm` the weight of a pair by the distance of its scores (the default of `"rank_ndcg"` and
#'   `"rank_map"`). LightGBM's `lambdarank_norm` is both in LightGBM, but only `rank_norm` here.
#' * `"rank_map"`, `"rank_mrr"`: the same for mean average precision and for the place of the first relevant row; rows
#'   with labels above 0 are relevant.
#' * `"rank_pairwise"`, `"pair_logit"`: logistic loss of pairs of rows with different labels, with one row at the top of
#'   the list, or of all pairs.
#' * `"query_rmse"`: squared error of the differences within a query. It is fast, and had the highest mean of the
#'   held-out NDCG over 11 data sets (`bench/results/ranking.md`).
#' * `"rank_xendcg"`, `"query_softmax"`: cross entropy of gains, or of labels, and a softmax over the query.
#' * `"yeti_rank"`: pairs of neighbours in `yeti_permutations` orders with noise; weights fall by `yeti_decay` from
#'   place to place.
#'
#' Labels are numbers, logical values, an ordered factor (0 for its lowest level) or a factor of two levels. Folds,
#' masks and a share of `valid` hold out whole queries. `predict(type = "rank")` gives the place of a row in its query.
#' The NDCG of a few hundred held-out queries varies at random from round to round. Without `valid` and `nrounds`,
#' cross-validation over all queries chooses the number of rounds, which is better; or stop by `metric =
#' "pair_accuracy"`, which is smoother.
#'
#' Rows with equal scores are put in a random order, so the order of the data does not matter. This order depends on
#' `seed`, the round, and the labels and scores of the query, and rows with equal label and score have equal gradients.
#' So gradients do not depend on the order of the rows and queries, or on the ids in `group`. With `grad_bits = 32`
#' models do not either (with 16 bits gradients are rounded at random), unless rows are sampled or columns have target
#' encoding. `position` is for clicks as labels: the position at which each row was shown to users (whole numbers, a
#' character vector or a factor; with a formula it is evaluated in the data). Rows at the top are clicked more often,
#' even if they are not more relevant. gbt estimates the biases of positions together with the trees, and leaves them
#' out of predictions; `model$positions` has them. `position_bias` chooses the method. With `"additive"`, a bias for
#' each position is added to the scores for which gradients are computed (as in LightGBM; `position_reg` shrinks biases
#' towards 0). With `"ratio"`, for objectives by pairs, weights of pairs are divided by ratios for the positions of the
#' better and the worse row (Unbiased LambdaMART), relative to the first position, to the power 1 / (1 + `bias_norm`).
#' In the model these are 0 and 1. For sources of rows, `position` is the name of a column; [gbt_data()] stores
#' positions.
#'
#' For objectives by pairs, all rows of a query must have the same weight. With `ranks`, all rows of a query must be on
#' one rank. `boosting = "ordered"` and `leaf_iterations` cannot be used.
#'
#' @section Survival:
#' The response is an object of `survival::Surv()`, of type `"right"`, `"counting"` (for `"cox"` and `"hazard"`),
#' `"left"` or `"interval"` (also `type = "interval2"`); for `"aft"` plain numbers are times without censoring. A
#' formula such as `Surv(time, status) ~ .` works even if package survival is not installed.
#' * `"cox"`: the partial likelihood of Cox's model, with exact risk sets. `ties` says how events of the same time
#'   count: `"efron"` or `"breslow"`; in the model they are 0 and 1. Scores are logarithms of hazards relative to a
#'   baseline, so higher ones mean higher risk. Times may be any numbers; those of `Surv(start, stop, status)` have
#'   entry times. It is the default for right-censored times. The model stores the baseline hazard for the scores of its
#'   training rows, which [predict()][predict.gbt] needs for curves, quantiles and times, so these are an error for
#'   other numbers of rounds and slices. The expected time is that up to the last event. With `strata` (see
#'   [gbt_train()]) risk sets, concordance and baseline hazards are computed within strata. With several kinds of events
#'   (*competing risks*), the status is a factor whose first level means censored, and `cause = "relapse"` names the
#'   event to model (*cause-specific hazard*): other events count as censored, and survival curves assume that they do
#'   not occur.
#' * `"fine_gray"`: Fine and Gray's subdistribution hazard of the event `cause` with competing risks: rows with another
#'   event stay at risk, weighted by the probability of not having been censored since. A higher score means a higher
#'   probability of the event up to a time, which `predict(type = "cif", times = )` gives. `ties`, weights and strata as
#'   for `"cox"`, no entry times. For the concordance, rows with another event count as rows that never have the event.
#' * `"aft"`: accelerated failure time: log(time) = score + scale * Z, with the likelihood of observed, left-, right-
#'   and interval-censored times. `aft_dist` is the distribution of Z: `"normal"` (or `"lognormal"`, for the time),
#'   `"logistic"` (`"loglogistic"`), `"extreme"` (`"weibull"`), or `"exponential"`, which is `"extreme"` with scale 1.
#'   `aft_scale` is the scale; without it, it is estimated together with the trees, by one step of Newton's method a
#'   round, from the training rows. The model keeps it in `params$aft_scale`, `aft_dist` as a number (0 normal, 1
#'   logistic, 2 extreme). It is the default for left- and interval-censored times.
#' * `"hazard"`: discrete time, without the assumption that hazards are proportional. `breaks` cuts time into intervals
#'   (0, b1], (b1, b2], and so on. Each interval has a score and trees of its own: the log odds that a row which is at
#'   risk at the beginning of the interval has its event in it. A row counts in an interval if its event is in it, or if
#'   it was observed in at least half of it. `breaks = c(30, 90, 365)` gives the ends of the intervals; one number gives
#'   the number of intervals (default 10), whose ends are then quantiles of the times of events. The model stores the
#'   ends in `params$breaks`. Events after the last end are ignored, and curves are flat there, so choose it beyond the
#'   last time to predict. A few intervals with many events learn better than many intervals with few.
#'   [predict()][predict.gbt] gives a matrix with the probability of the event in each interval, and with `type =
#'   "survival"` curves with a constant hazard in each interval. The concordance uses the sum of a row's cumulative
#'   hazards at the ends of all intervals. Times are 0 or more, `cause` as for `"cox"`; no `strata`. Memory: 32 bytes
#'   for a row and interval.
#'
#' For `"aft"`, [predict()][predict.gbt] gives times by default: exp(score) is the median (for `"extreme"` the quantile
#' 0.632). Types `"survival"` and `"cumhaz"` give curves, `"quantile"` and `"time"` quantiles and means. Times must be
#' above 0. Weights multiply the log-likelihood. If the trees overfit, the estimated scale is too small; `aft_scale`
#' sets it. `boosting = "ordered"` and `leaf_iterations` cannot be used for survival.
#'
#' @section Small hessians:
#' If the second derivative of a loss is (nearly) 0 for large errors (`"huber"`, `"pseudo_huber"`, `"log_cosh"`), an
#' upper bound is used instead, so that every step reduces the loss. The bound is smaller for larger errors, so
#' `min_child_weight` and `lambda` have more effect if `huber_delta` is small. If hessians are too small for
#' `min_child_weight` to allow any split (errors of a million with `huber_delta = 1`, rare classes, small means), the
#' first round gives a warning (class `gbt_warning_hessian`) that says what to do. If the training loss ends at more
#' than ten times that of a constant prediction, there is a warning of class `gbt_warning_diverged`.
#'
#' @section Quantiles:
#' For `"quantile"`, `"absolute_error"` and `"mape"` splits use the signs of the errors. The value of a leaf is then a
#' weighted quantile of the residuals of its (sampled) training rows, without interpolation, as `quantile(type = 1)`.
#' `lambda` and `alpha` do not shrink it; `eta` does, and `max_delta_step` limits it. With `monotone` both sides of a
#' split on a constrained feature, and all leaves below, stay on their side of the middle of the two quantiles. For
#' prediction intervals see [gbt_conformal()].
#'
#' @section Your own objective:
#' Give `list(gradient = function(score, label, weight), hessian = function(score, label, weight))`. Both functions
#' return one number per score: the first and second derivative of the loss. `score` is a vector, or a matrix of n
#' columns if the list has an element `n_outputs = n`. Do not multiply by the weights; this is done afterwards.
#' Functions of two arguments do not get them. The response must be numeric, scores start at 0 (or at `offset`), and
#' predictions are scores. Finding the number of rounds, and early stopping, then need an `eval_metric`.
#'
#' @section Names in other packages:
#' `"binary:logistic"`, `"multiclass"`, `"RMSE"`, `"gaussian"`, `"count:poisson"`, `"reg:tweedie"`, `"Huber:delta=2"`
#' and others work, too. `"multi:softmax"` is `"softmax"`: use `predict(type = "class")` for classes. `alpha` is always
#' the L1 penalty; with `"huber"` (LightGBM) and `"expectile"` (CatBoost) it is an error: give `huber_delta` or
#' `expectile_alpha`.
#'
#' @return A data frame with one row per objective: `name`; `response`, what a response may be; `parameters` with
#'   defaults and ranges; `meaning`; `aliases`, the names in other packages. It has the class `gbt_objectives`, which
#'   prints a paragraph for each.
#' @seealso [gbt_train()]; [gbt_parameters()]; [gbt_metrics]; `vignette("counts", package = "gbt")`,
#'   `vignette("survival", package = "gbt")`, `vignette("ranking", package = "gbt")`
#' @concept loss function
#' @concept quantile regression
#' @concept count data
#' @concept learning to rank
#' @concept survival analysis
#' @concept censored data
#' @concept competing risks
#' @concept discrete time
#' @concept LambdaMART
#' @concept Poisson regression
#' @concept custom objective
#' @examples
#' o <- gbt_objectives()
#' o[, c("name", "response", "parameters")]
#'
#' m <- gbt_train(mpg ~ ., mtcars, objective = "huber", huber_delta = 2, nrounds = 20, threads = 1)
#' head(predict(m, mtcars), 3)
#'
#' # your own objective: squared error once more
#' own <- list(
#'   gradient = function(score, label) score - label,
#'   hessian = function(score, label) rep(1, length(score))
#' )
#' m <- gbt_train(mtcars[-1], mtcars$mpg, objective = own, offset = rep(20, 32), nrounds = 10,
#'                threads = 1)
#' @export
gbt_objectives <- function() {
  table <- objectives_table()
  params <- vapply(table$params, function(p) {
    shown <- vapply(seq_along(p$name), function(i) {
      row <- table_row(p, i)
      sprintf("%s = %s (%s): %s", row$name, format_number(row$default), range_text(row), row$text)
    }, "")
    paste(shown, collapse = "; ")
  }, "")
  takes <- c(NUMBER = "numbers", BINARY = "two classes, or numbers from 0 to 1", CLASS = "classes",
             vapply(label_ranges[c("SHARE", "NOT_NEGATIVE", "COUNT", "POSITIVE", "ABOVE_MINUS_ONE")], `[[`, "", "text"))
  out <- data.frame(name = table$name, response = unname(takes[table$labels]), parameters = params,
                    meaning = table$text, aliases = gsub("|", ", ", table$aliases, fixed = TRUE),
                    stringsAsFactors = FALSE)
  out <- out[table$gradient != "GIVEN", ]
  rownames(out) <- NULL
  class(out) <- c("gbt_objectives", "data.frame")
  out
}

#' @export
print.gbt_objectives <- function(x, ...) {
  if (!all(c("name", "response", "parameters", "meaning", "aliases") %in% names(x))) return(NextMethod()) # some columns
  for (i in seq_len(nrow(x))) {
    cat(sprintf("%s  (%s)\n", x$name[i], x$response[i]))
    lines <- c(x$meaning[i], x$parameters[i], if (nzchar(x$aliases[i])) paste("also:", x$aliases[i]))
    for (line in lines[nzchar(lines)]) cat(strwrap(line, indent = 4L, exdent = 4L), sep = "\n")
  }
  invisible(x)
}

offered_objectives <- function() objectives_table()$name[objectives_table()$gradient != "GIVEN"]

# Other names, in lower case -> our name. Ours are among them.
objective_aliases <- function() {
  if (is.null(package_state$objective_aliases)) {
    table <- objectives_table()
    aliases <- lapply(strsplit(table$aliases, "|", fixed = TRUE), as.character)
    all <- c(stats::setNames(table$name, table$name),
             stats::setNames(rep(table$name, lengths(aliases)), unlist(aliases)))
    package_state$objective_aliases <- all[all %in% offered_objectives()]
  }
  package_state$objective_aliases
}

# Parameters of objectives: names, and other names -> our name. Those that are names of other parameters of gbt_train()
# too, such as LightGBM's `alpha`, are left to these; see refuse_ambiguous().
objective_params <- function() {
  if (is.null(package_state$objective_params)) {
    params <- objectives_table()$params
    name <- unlist(lapply(params, `[[`, "name"))
    aliases <- strsplit(unlist(lapply(params, `[[`, "aliases")), "|", fixed = TRUE)
    all <- c(stats::setNames(name, name), stats::setNames(rep(name, lengths(aliases)), unlist(aliases)))
    all <- all[!duplicated(names(all))]
    package_state$objective_params <- all[!names(all) %in% names(alias_of)]
  }
  package_state$objective_params
}

# One text -> our name. typed: the argument's name as the user gave it.
objective_name <- function(x, typed = "objective") {
  must <- sprintf("%s must be a name in gbt_objectives(), or list(gradient = , hessian = ) of two functions",
                  param_text("objective", typed))
  if (length(x) != 1L || is.na(x)) stop_argument(must, "objective")
  low <- lower_case(x)
  name <- unname(objective_aliases()[low])
  if (!is.na(name)) return(name)
  foreign <- find_foreign("objective", low)
  if (!is.null(foreign)) {
    if (foreign$absent) stop_unsupported(sprintf("objective \"%s\": %s", x, foreign$reply), "objective")
    why <- if (nzchar(foreign$reply)) paste0(": ", foreign$reply) else ""
    stop_unsupported(sprintf("gbt has no objective \"%s\"%s; gbt_objectives() lists all", x, why), "objective")
  }
  stop_argument(sprintf("%s, not \"%s\"%s", must, x, suggest(x, names(objective_aliases()), "\"")), "objective")
}

# An objective's text as arguments of ours: list(objective = , parameters by name). CatBoost's way to write parameters,
# "Huber:delta=2;...", is understood as well.
read_objective_text <- function(x, typed = "objective") {
  if (length(x) != 1L) return(list(objective = objective_name(x, typed)))
  parts <- regmatches(x, regexec("^([A-Za-z_0-9]+):([a-z_]+=.*)$", x))[[1L]]
  if (length(parts) == 0L) return(list(objective = objective_name(x, typed)))
  name <- objective_name(parts[2L], typed)
  info <- objective_info(name)$params
  out <- list(objective = name)
  for (setting in strsplit(parts[3L], ";", fixed = TRUE)[[1L]]) {
    pair <- strsplit(setting, "=", fixed = TRUE)[[1L]]
    aliases <- strsplit(info$aliases, "|", fixed = TRUE)
    known <- mapply(function(ours, others) pair[1L] %in% c(ours, others), info$name, aliases)
    value <- if (may_have_levels(name) && length(pair) == 2L) split_numbers(pair[2L])
             else suppressWarnings(as.double(pair[2L]))
    if (!any(known) || length(pair) != 2L || anyNA(value)) {
      must <- if (length(info$name)) {
        sprintf("must be a parameter and its number, such as \"%s=%s\"", info$name[1L], format_number(info$default[1L]))
      } else "cannot be given: this objective has no parameters"
      stop_argument(sprintf("%s is \"%s\": \"%s\" %s", param_text("objective", typed), x, setting, must), "objective")
    }
    out[[info$name[known]]] <- value
  }
  out
}

# The objective as given (text, list of functions or NULL) -> list(name, gradient, hessian, n_outputs, args); name NULL
# when the response is to decide. args: as of collect_args(), for the objective's parameters.
as_objective <- function(args) {
  objective <- args$value[["objective"]]
  if (is.null(objective)) return(list(name = NULL, args = args))
  if (is.character(objective)) return(list(name = objective_name(objective), args = args))
  how <- paste("a custom `objective` is list(gradient = function(score, label, weight),",
               "hessian = function(score, label, weight))")
  if (!is.list(objective) || is.object(objective)) {
    stop_argument(sprintf("`objective` must be a text or a list of two functions, not %s; %s", describe(objective),
                          how), "objective")
  }
  known <- c("gradient", "hessian", "n_outputs")
  extra <- setdiff(names(objective), known)
  if (length(extra) || is.null(names(objective)) || !all(c("gradient", "hessian") %in% names(objective))) {
    about <- if (length(extra)) sprintf("%s has an unknown element `%s`; ", "`objective`", extra[1L]) else ""
    stop_argument(paste0(about, how), "objective")
  }
  for (part in c("gradient", "hessian")) {
    f <- objective[[part]]
    if (!is.function(f)) stop_argument(sprintf("`objective$%s` must be a function; %s", part, how), "objective")
    check_arity(f, c("score", "label", "weight"), sprintf("`objective$%s`", part), "objective")
  }
  n_outputs <- objective$n_outputs
  n_outputs <- if (is.null(n_outputs)) 1L else check_whole(n_outputs, "objective$n_outputs", 1, 65536)
  list(name = "custom", gradient = objective$gradient, hessian = objective$hessian, n_outputs = n_outputs,
       args = args)
}

# The parameters of objective `name`, a named list: given, or those of `init_model`, or default. Those of another
# objective are errors.
read_objective_params <- function(name, args) {
  info <- objective_info(name)$params
  for (given in intersect(names(args$value), objective_params())) {
    if (given %in% info$name) next
    owners <- Filter(function(o) given %in% objective_info(o)$params$name, offered_objectives())
    stop_argument(sprintf("%s is a parameter of objective %s, but the objective is \"%s\"",
                          param_text(given, args$typed[[given]]), paste0("\"", owners, "\"", collapse = " or "), name),
                  given)
  }
  if (!args$of_model) refuse_ambiguous(name, info, args$typed)
  out <- stats::setNames(as.list(info$default), info$name)
  init <- args$value[["init_model"]]
  if (identical(init$objective, name)) out[] <- init$params[info$name]
  if (is_of_hazards(name)) args <- cox_args(args)
  if ("position_bias" %in% info$name) args <- position_args(args)
  if (name == "aft") {
    args <- aft_args(args)
    if (!"aft_scale" %in% init$named) out$aft_scale <- 0 # estimated
  }
  for (i in given_of(info$name, args)) {
    row <- table_row(info, i)
    read <- if (i == 1L && may_have_levels(name)) read_levels else check_number
    out[[i]] <- read(args$value[[row$name]], row, args$typed[row$name])
  }
  out
}

# A name such as `alpha` is a parameter of its own here, and in other packages one of this objective.
refuse_ambiguous <- function(name, info, typed) {
  for (i in seq_along(info$name)) {
    both <- intersect(strsplit(info$aliases[i], "|", fixed = TRUE)[[1L]], typed)
    for (one in both[both %in% names(alias_of)]) {
      ours <- canonical_name(one)
      other <- setdiff(names(alias_of)[alias_of == ours], c(ours, one))[1L]
      stop_argument(sprintf(paste("`%s` could mean `%s` of objective \"%s\" or `%s`, which is gbt's meaning of it;",
                                  "give one of these names"), one, info$name[i], name, other), one)
    }
  }
}

# The same before the numbers are checked: `alpha = c(0.1, 0.9)` would be no penalty.
refuse_alpha_of_objective <- function(args) {
  objective <- args$value[["objective"]]
  name <- if (is_text(objective)) unname(objective_aliases()[lower_case(objective)]) else NA
  if (!args$of_model && !is.na(name)) refuse_ambiguous(name, objective_info(name)$params, args$typed)
}

# A function of the user's must take two or three arguments by position: f(a, b) or f(a, b, c).
check_arity <- function(f, args, what, parameter) {
  takes <- names(formals(args(f)))
  if (is.null(takes)) takes <- character(0)
  if ("..." %in% takes || length(takes) >= 2L) return(invisible())
  stop_argument(sprintf("%s must be a function(%s), the last one optional", what, paste(args, collapse = ", ")),
                parameter)
}

# Calls f(a, b, c), or f(a, b) when it takes two.
call_user <- function(f, a, b, c) {
  takes <- names(formals(args(f)))
  if ("..." %in% takes || length(takes) >= 3L) f(a, b, c) else f(a, b)
}

# A rule for labels (objectives.def), as applied to numbers: text, and a function of the numbers that says which are
# not.
label_ranges <- list(
  NOT_NEGATIVE = list(text = "numbers of 0 or more", wrong = function(y) y < 0),
  COUNT = list(text = "whole numbers of 0 or more", wrong = function(y) y < 0 | y != floor(y), each = TRUE),
  POSITIVE = list(text = "numbers above 0", wrong = function(y) y <= 0),
  ABOVE_MINUS_ONE = list(text = "numbers above -1", wrong = function(y) y <= -1),
  SHARE = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1),
  BINARY = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1)
)

# Rows (from 1) whose label the rule of an objective does not allow.
wrong_labels <- function(value, range) {
  if (is.null(range) || length(value) == 0L) return(integer(0))
  if (!isTRUE(range$each) && !any(range$wrong(c(min(value), max(value))))) return(integer(0))
  unlist(by_parts(length(value), function(rows) rows[which(range$wrong(value[rows]))]))
}
