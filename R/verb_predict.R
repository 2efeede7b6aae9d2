# Predictions for new data.

predict_types <- c("response", "link", "prob", "class", "leaf", "contrib", "interaction", "rank", "interval",
                   time_types, "parameters")

#' Predict from a model
#'
#' Columns are matched by name, in any order; additional columns are ignored, and missing columns are an error that
#' lists them. Levels of factors are matched by name. There is one prediction per row, in the order of the rows; rows
#' with missing values are predicted, too.
#'
#' @param object A model from [gbt_train()].
#' @param newdata A data frame, a matrix or a sparse matrix. A matrix without column names must have the columns of the
#'   training data in their order. The formula of a model is evaluated in `newdata`. Or a source of rows that need not
#'   fit into memory, see [gbt_sources]; a result of `DBI::dbSendQuery()`; or a function that returns chunk number `i`,
#'   and `NULL` after the last one. Weights and labels in it are ignored; an offset is added. Or a [gbt_data()] or
#'   [gbt_open()] object with the bins of the model's training data (the object that the model was trained on, or one
#'   that was made with it as `reference`), which is predicted on the CPU. Its `offset` is used unless you give an
#'   `offset` or an `exposure`.
#' @param type What to predict:
#'   * `"response"`: predictions on the scale of the response: means for `"poisson"`, `"negative_binomial"`, `"gamma"`
#'     and `"tweedie"`; shares for `"cross_entropy"`; the probability of the second class for two classes; a matrix of
#'     probabilities, one column per class, for more; times, exp(score), for `"aft"`; hazards relative to the baseline,
#'     exp(score), for `"cox"` and `"fine_gray"`; for several levels of `"quantile"` a matrix with a column for each,
#'     `"q0.1"` and so on, in each row in ascending order; for a response of several columns a matrix with their names;
#'     means for distributions (`"dist_normal"`); numbers for all other objectives.
#'   * `"link"`: raw scores: log odds for `"logistic"` and `"cross_entropy"`, logarithms of means for the four
#'     objectives with a log link, log(1 + y) for `"squared_log_error"`; logarithms of relative hazards for `"cox"` and
#'     `"fine_gray"`, and of times for `"aft"`; a matrix with one column per class for more than two classes. For
#'     several quantiles they are those before sorting and may cross. For distributions a matrix with a column for each
#'     parameter, named by its scale, such as `"mean"` and `"log_sd"`. For all other objectives they equal the response.
#'   * `"survival"`, `"cumhaz"`: for survival: the probability to survive beyond each of `times`, and the cumulative
#'     hazard (minus the logarithm of this probability). A matrix with a column for each time, named by it, and an
#'     attribute `times`.
#'   * `"quantile"`: for survival: the time by which a share `probs` of such rows is expected to have had the event; for
#'     several `probs` a matrix. For models of several quantiles: the levels `probs`, by default all. For distributions:
#'     any `probs`.
#'   * `"interval"`: for models of several quantiles: a data frame of `lower` and `upper`, the quantiles between which a
#'     share `level` is expected; by default the outer ones. For distributions: any `level`, by default 0.9.
#'     [gbt_conformal()] makes intervals for other models.
#'   * `"parameters"`: for distributions: a matrix with a column for each parameter, such as `"mean"` and `"sd"`.
#'   * `"cif"`: for objective `"fine_gray"`: the probability of an event of the model's cause up to each of `times`
#'     (*cumulative incidence*), a matrix as above.
#'   * `"time"`: for survival: the expected time, the area below the survival curve; for `"cox"` up to the last event of
#'     the training data, for `"hazard"` up to the last end of an interval (*restricted mean*).
#'   * `"prob"`: a matrix of probabilities with one column per class, for two classes as well. For objectives
#'     `"logistic"` and `"softmax"` only.
#'   * `"class"`: the most probable class, of the same type as the response: a factor with the levels of the training
#'     data, a character, logical or numeric vector; a logical matrix for several columns of labels. Only for objectives
#'     `"logistic"` and `"softmax"`.
#'   * `"leaf"`: an integer matrix with one column per tree: the leaf of the row, as the number of the node within its
#'     tree (0 is the root).
#'   * `"contrib"`: SHAP values, what each column adds to the raw score: a matrix with a column for each column of the
#'     model and, last, `"(base)"`, which includes offsets (`"(base)_"` if a column has this name); for more than two
#'     classes an array with classes as third dimension. The values of a row add up to its `"link"`, except for
#'     rounding.
#'   * `"interaction"`: SHAP interaction values: an array of rows by columns by columns (by classes), symmetric. Its
#'     rows add up to the contributions; the diagonal has the effect of a column by itself.
#'   * `"rank"`: the place of the row in its `group`, 1 for the highest score. Rows with equal scores have the same
#'     place.
#'
#'   Names of other packages work, too: `"raw"`, `"margin"` and `"raw_score"` for `"link"`, `"probability"` for
#'   `"prob"`.
#' @param trees Number of rounds to use, from the first; `NULL` uses all rounds or, after early stopping, those up to
#'   the best round.
#' @param group For `type = "rank"`: the query of every row, as values or, in a data frame, the name of a column.
#' @param level For `type = "interval"`: the share of responses that is expected inside, such as 0.8 for quantiles 0.1
#'   and 0.9.
#' @param strata For curves, quantiles and times of a model with strata: the stratum of each row (or one value for all),
#'   or the name of a column. By default the columns that the model was trained with.
#' @param offset Known part of the score, which is added: one number per row, or a matrix with one column per output.
#'   Without it, a model that was trained with an offset warns (class `gbt_warning_offset`). Offsets of a formula are
#'   evaluated in `newdata` and added.
#' @param exposure With a log link: the exposure of the rows, see [gbt_train()]. Numbers above 0, one number for all
#'   rows (1 gives rates), or the name of a column of `newdata`. By default the column that the model was trained with;
#'   if `newdata` does not have it, a model that was trained with exposures warns (class `gbt_warning_offset`).
#' @param times For types `"survival"`, `"cumhaz"` and `"cif"`: times in ascending order, 0 or more.
#' @param probs For type `"quantile"`: numbers between 0 and 1; 0.5 gives medians.
#' @param unseen What to do with levels of a factor that the training data did not have: `"prior"` sends them to the
#'   side of most training rows, `"missing"` treats them as missing values, `"error"` stops and names the first one.
#'   `"sets"` and `"onehot"` distinguish the 65,534 most frequent levels; the others are missing values, as in training.
#'   A term of a formula that depends on the order of levels, such as `as.integer(f)`, is missing for new levels.
#'   [gbt_unseen()] counts the rows with new levels. If you do not give `unseen` and all values of a column that the
#'   model uses are new, in 20 rows or more, there is a warning (class `gbt_warning_unseen`); for character values of a
#'   column whose levels are whole numbers (`cat_features`, models of [gbt_import()]) in any number of rows.
#' @param threads Number of threads, see [gbt_threads()]. Does not affect the result.
#' @param sparse_zero What entries that a sparse matrix does not store are: `"value"` for the number 0, or `"missing"`;
#'   `NULL` for the same as in training.
#' @param device Where to predict: `"cpu"`, `"cuda"` or `"auto"`, see [gbt_devices] and below. Does not affect
#'   the result.
#' @param output `NULL` to return the predictions; a function to call with the predictions of each chunk of rows and the
#'   number of its first row; or the path of a CSV file to write, compressed if it ends with `.gz`. The file appears
#'   only when it is complete, and numbers keep all digits. It is written as by [gbt_save()]: links are followed, pipes
#'   and devices are an error.
#' @param background For types `"contrib"` and `"interaction"`: rows, as `newdata`, to compare with; `NULL` compares
#'   with the training rows, by the covers of the nodes. See [gbt_shap()].
#' @param by For these types: `"column"` adds derived features (target encoding, level counts) to their column and
#'   divides combinations equally among their columns; `"feature"` gives a column for each feature that trees can split
#'   by, as in [gbt_importance()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A vector with one element per row, or a matrix with one row per row; see `type`. Row names become names if
#'   they are character. With an `output`: the number of rows, invisibly.
#' @section Devices:
#' Predictions of all types are the same bits on a CUDA device (tested on an H100 and by emulation, see [gbt_devices]).
#' Contributions and interactions are computed there only if you give `device` by name; for them `"auto"` is the CPU.
#' For other types, `"auto"`, the default, uses the CPU unless a device should be clearly faster. It compares, for N
#' rows of C columns and T trees,
#' * on the CPU: N T * 1 ns / `threads`, which was measured, with
#' * on a device: 1 s to start it, unless this session has done so, N C * 1.6 ns to move the numbers, and N T * 0.015
#'   ns: estimates that have not been confirmed on hardware.
#'
#' `options(gbt.device_costs = )` has `cpu_walk`, `cuda_start`, `cuda_byte` (of which a number has 8) and `cuda_walk`
#' for these, in seconds, and `margin`. See [gbt_devices] for the default of `device` (`options(gbt.device = )`,
#' `GBT_DEVICE`) and the warning if a device fails. `predict()` does not report what `"auto"` chose.
#'
#' Models with linear leaves (see [gbt_parameters()]), imported models whose trees are not added in double one after the
#' other, and `newdata` that is a [gbt_data()] are always predicted on the CPU, with a message if `device` names a
#' device.
#' @seealso [gbt_train()]
#' @concept predict
#' @concept Shapley values
#' @concept survival curve
#' @concept cumulative incidence
#' @examples
#' m <- gbt_train(Species ~ ., iris, nrounds = 10, threads = 1)
#' new <- iris[c(1, 51, 101), ]
#' predict(m, new)
#' predict(m, new, type = "class")
#' predict(m, new, type = "class", trees = 1)
#' predict(m, new, type = "link")
#'
#' # rows in chunks, predictions to a file
#' chunks <- split(iris, rep(1:3, 50))
#' file <- tempfile(fileext = ".csv")
#' predict(m, function(i) if (i <= 3) chunks[[i]], output = file)
#' head(read.csv(file, check.names = FALSE))
#' @export
predict.gbt <- function(object, newdata,
                        type = c("response", "link", "prob", "class", "leaf", "contrib", "interaction", "rank",
                                 "interval", "survival", "cumhaz", "quantile", "time", "cif", "parameters"),
                        trees = NULL,
                        offset = NULL, unseen = c("prior", "missing", "error"), threads = NULL,
                        sparse_zero = NULL, device = NULL, output = NULL, background = NULL,
                        by = c("column", "feature"), exposure = NULL, group = NULL, times = NULL, probs = 0.5,
                        strata = NULL, level = NULL, ...) {
  refuse_foreign(names(written_dots(...)))
  check_no_dots(written_dots(...), names(formals(predict.gbt)))
  check_model(object)
  if (!missing(offset)) value_given("offset", if (!missing(newdata)) newdata) # errors show this call
  usual <- (!missing(type)) + (!missing(threads)) + (!missing(offset) && is.null(offset))
  if (!missing(newdata) && nargs() == 2L + usual) {
    if (!is.null(threads)) check_threads(threads)
    out <- predict_plain(object, newdata, if (missing(type)) "response" else check_predict_type(type, object),
                         function() resolve_threads(threads))
    if (!is.null(out)) return(out)
  }
  value_given("exposure", if (!missing(newdata)) newdata)
  if (identical(check_predict_type(type, object), "rank")) {
    if (missing(newdata)) stop_no_newdata()
    group <- column_or_values(given_in_data("group", newdata), newdata, "group")
    by_query <- check_ranked(object, newdata, group, output)
    return(places_of(predict(object, newdata, "link", trees, offset, unseen, threads, sparse_zero, device,
                             exposure = exposure), by_query))
  }
  if (!is.null(level) && !identical(check_predict_type(type, object), "interval")) {
    stop_argument("`level` can only be used with `type = \"interval\"`; leave it out", "level")
  }
  if (check_predict_type(type, object) %in% c("interval", "quantile") && !is_of_times(object$objective) &&
        !is_distribution(object$objective)) {
    type <- check_predict_type(type, object)
    columns <- columns_of_levels(object, type, if (!missing(probs)) probs, level)
    if (missing(newdata)) stop_no_newdata()
    if (!is.null(output)) {
      stop_unsupported(sprintf("type = \"%s\" returns its predictions; with `output` use type = \"response\"", type),
                       "output")
    }
    pred <- predict(object, newdata, "response", trees, offset, unseen, threads, sparse_zero, device,
                    exposure = exposure)
    return(pred_of_levels(pred, columns, type))
  }
  if (!missing(group)) stop_argument("`group` can only be used with `type = \"rank\"`; leave it out", "group")
  plan <- list(type = check_predict_type(type, object), rounds = check_rounds(trees, object),
               as_usual = missing(unseen), unseen = match_choice(unseen, names(enums$unseen), "unseen"),
               threads = threads, sparse_zero = sparse_zero, device = device)
  given_probs <- if (!missing(probs)) probs
  plan$at <- if (of_distribution(object, plan$type)) read_chances(plan$type, given_probs, level)
  if (plan$type == "interval" && !is.null(output)) {
    stop_unsupported("type = \"interval\" returns its predictions; with `output` use type = \"quantile\"", "output")
  }
  if (is.null(plan$at)) plan$at <- read_times(plan$type, object, times, given_probs)
  if (plan$type %in% time_types && is_of_hazards(object$objective)) {
    check_baseline(object, plan$rounds, sprintf("type = \"%s\"", plan$type), "type")
  }
  plan$strata <- if (plan$type %in% time_types) given_in_data("strata", if (!missing(newdata)) newdata)
  if (!missing(strata)) check_strata_use(plan, if (!missing(newdata)) newdata)
  by_given <- !missing(by)
  plan$by <- match_choice(by, c("column", "feature"), "by")
  shap <- plan$type %in% c("contrib", "interaction")
  if (!shap && (by_given || !is.null(background))) {
    stop_argument("`background` and `by` can only be used with types \"contrib\" and \"interaction\"; leave them out",
                  if (by_given) "by" else "background")
  }
  if (missing(newdata)) {
    stop_no_newdata()
  }
  if (inherits(newdata, "gbt_data")) return(predict_bins(object, newdata, plan, offset, exposure, output))
  plan$background <- background_frame(background, object, sparse_zero)
  chunked <- chunked_rows(newdata)
  if (!chunked) { # else each chunk is baked
    its <- bake_rows(object, newdata)
    if (is.null(output)) return(predict_rows(its$model, its$x, plan, offset, exposure))
    object <- its$model
    newdata <- its$x
    check_objects(newdata, object$feature_names)
  }
  if (length(exposure) > 1L) { # of all rows, so that chunks get their parts as offsets
    check_log_link(object$objective)
    offset <- add_offsets(offset, log_exposure(exposure, if (chunked) length(exposure) else n_rows_of(newdata)))
    exposure <- 1
  }
  one <- function(x, its_offset, its_exposure) {
    if (!is.null(its_exposure) && !is.null(exposure)) {
      stop_argument("`exposure` is given as an argument and by the chunks; leave one of them out", "exposure")
    }
    its <- bake_rows(object, x)
    out <- predict_rows(its$model, its$x, plan, its_offset, given_or(its_exposure, exposure))
    if (shap && is_text(output)) flat_contributions(out) else out
  }
  predict_by_chunks(newdata, offset, sink_of(output, object), object, one)
}

# Predictions of rows whose columns are of the kinds of training, with default arguments: a fifth of the time that
# predict_rows() takes for few rows, which handles every kind. NULL where that is needed, or a device might be quicker.
# type: checked. threads: a function, called where there are many rows.
predict_plain <- function(object, newdata, type, threads) {
  if (!type %in% plain_types) return(NULL)
  out <- .Call(C_gbt_predict_plain, object, newdata, answer_code(type, object), rows_to_warn_of_unseen,
               enums$unseen[["prior"]], NULL, threads)
  if (!is.null(out)) shape_prediction(out, object, type, row_labels(newdata))
}

plain_types <- c("response", "link", "prob", "class", "leaf")

# Predictions of rows in memory, that are baked. plan: what is asked for, a list of type, rounds, unseen, as_usual
# (`unseen` was not given), threads, sparse_zero, device, by and background (a frame).
predict_rows <- function(object, newdata, plan, offset = NULL, exposure = NULL) {
  check_newdata(newdata, object)
  seen <- apply_design(object$terms, newdata, plan$unseen)
  frame <- frame_for_model(seen$x, object, plan$sparse_zero)
  exposed <- exposure_offset(object, newdata, exposure, frame$n_rows)
  if (!is.null(exposure)) check_counted_once(exposed, seen$offset, "the offset of the model's formula")
  known <- !is.null(offset) || !is.null(exposed) || (is.null(object$exposure) && !is.null(seen$offset))
  offset <- add_offsets(add_offsets(offset, seen$offset), exposed, "the exposure")
  offset <- check_offset(offset, frame$n_rows, object$n_outputs)
  if (!known && object$has_offset && plan$type != "leaf") warn_no_offset(object)
  if (plan$as_usual) warn_unseen(object, frame, newdata, plan$threads)
  if (plan$type %in% c("contrib", "interaction")) {
    return(predict_contributions(object, frame, plan, offset, row_labels(newdata)))
  }
  trees <- as.double(plan$rounds) * object$n_outputs * object$params$num_parallel_tree
  size <- list(rows = frame$n_rows, columns = length(frame$names), trees = trees)
  threads <- predict_threads(plan$threads, size$rows * size$trees)
  why <- if (plan$type != "leaf") why_on_cpu(object)
  device <- if (is.null(why)) prediction_device(plan$device, size, as.integer(threads)) else use_cpu(plan$device, why)
  out <- on_device(device, function(where) {
    .Call(C_gbt_predict, object$state, object$cache, frame, answer_code(plan$type, object), 0L, plan$rounds, offset,
          enums$unseen[[plan$unseen]], threads, where)
  })
  stratum <- stratum_of_rows(object, newdata, plan, frame$n_rows)
  shape_prediction(out, object, plan$type, row_labels(newdata), plan$at, stratum, threads)
}

# Whether leaves of the model may be linear.
has_linear_leaves <- function(model) identical(model$params[["leaf_model"]], "linear")
why_linear <- "the model has linear leaves"

# Why devices do not compute the scores of a model; NULL where they do.
why_on_cpu <- function(model) {
  if (has_linear_leaves(model)) return(why_linear)
  program <- model$imported$program
  if (is.null(program) || identical(.Call(C_gbt_model_info, model$state, model$cache)$sums, "plain")) return(NULL)
  sprintf("the model adds as %s does", printable(program))
}

# In place of a device; says so where the call named one. why: a clause.
use_cpu <- function(device, why) {
  if (is_device_unset(device)) return(NULL)
  asked <- check_device(device)
  if (!is.null(device) && asked$kind == "cuda") say(sprintf("predicting on the cpu, not on the device: %s", why))
  NULL
}

# Curves of models with strata need those of the rows.
check_strata_use <- function(plan, newdata) {
  if (!plan$type %in% time_types) {
    stop_argument(sprintf("`strata` can only be used with types %s; leave it out", enumerate(time_types, quote = "\"")),
                  "strata")
  }
  if (chunked_rows(newdata) && !is_column_name(plan$strata)) {
    stop_unsupported("`strata` of rows in chunks must be the name of a column", "strata")
  }
}

# Of the rows that are predicted; NULL where the model has no strata.
stratum_of_rows <- function(object, newdata, plan, n_rows) {
  if (!plan$type %in% time_types) return(NULL)
  strata <- strata_of_rows(object, newdata, plan$strata, n_rows, sprintf("type = \"%s\"", plan$type))
  places_of_strata(strata, object$baseline)
}

# The rows of a gbt_data by its bins, which say as much as values do where the model's splits are its cuts.
predict_bins <- function(object, data, plan, offset, exposure, output) {
  if (!is.null(plan$sparse_zero)) {
    stop_argument("`sparse_zero` applies to sparse matrices; gbt_data sets it at creation: leave it out", "sparse_zero")
  }
  check_data(data, "newdata")
  if (plan$type %in% c("contrib", "interaction")) {
    stop_unsupported(sprintf(paste("type = \"%s\" needs the rows themselves, and `newdata` is a gbt_data object, which",
                                   "holds bins; give the data frame, matrix or source that it was made of"), plan$type),
                     "type")
  }
  use_cpu(plan$device, "`newdata` is a gbt_data object, whose bins are in the host's memory")
  n <- data$n_rows
  if (is_column_name(exposure)) {
    stop_data("`exposure` names a column, and a gbt_data object has bins and no values: give its values", "exposure")
  }
  exposed <- exposure_offset(object, NULL, exposure, n)
  if (!is.null(data$exposed)) check_log_link(object$objective)
  offset <- if (is.null(offset) && is.null(exposed)) data$offset else add_offsets(offset, exposed, "the exposure")
  offset <- check_offset(offset, n, object$n_outputs)
  if (length(object$terms$offset) && is.null(offset)) {
    stop_data("the model's formula has an offset, which bins do not have: give its values as `offset`", "offset")
  }
  if (is.null(offset) && object$has_offset && plan$type != "leaf") warn_no_offset(object)
  out <- .Call(C_gbt_predict_bins, object$state, object$cache, data_ptr(data), answer_code(plan$type, object), 0L,
               plan$rounds, offset, enums$unseen[[plan$unseen]], resolve_threads(plan$threads))
  stratum <- stratum_of_rows(object, NULL, plan, n)
  out <- shape_prediction(out, object, plan$type, NULL, plan$at, stratum, resolve_threads(plan$threads))
  if (is.null(output)) return(out)
  sink <- sink_of(output, object)
  on.exit(sink$drop())
  size <- 65536
  for (before in if (n > 0) seq(0, n - 1, size) else 0) {
    sink$put(part_of_rows(out, before, min(size, n - before)), before)
  }
  sink$end()
}

# Small calls run in one thread (STEPS_WORTH_THREADS of r_predict.c), and asking what the machine allows would cost more
# than they do.
predict_threads <- function(threads, n_steps) {
  if (!isTRUE(n_steps < 3e5)) return(resolve_threads(threads))
  check_threads(threads)
  structure(1L, simd = simd_code())
}

# A type by gbt's name, where other packages have another one for it.
known_as_type <- function(type) {
  one <- if (is.character(type) && length(type) == 1L) type else ""
  if (one %in% c("raw", "margin", "raw_score")) return("link")
  if (one %in% c("probability", "probabilities")) return("prob")
  if (one %in% c("shap", "terms")) "contrib" else type
}

check_predict_type <- function(type, object) {
  type <- match_choice(known_as_type(type), predict_types, "type")
  if (type == "parameters" && !is_distribution(object$objective)) {
    stop_unsupported(sprintf(paste("type = \"parameters\" needs a model of distributions, such as objective",
                                   "\"dist_normal\"; this one has objective \"%s\""), object$objective), "type")
  }
  if (type %in% c("prob", "class") && is.null(object$classes)) {
    if (objective_info(object$objective)$labels == "BINARY") return(type) # numbers 0 and 1
    stop_unsupported(sprintf("type = \"%s\" needs a model of classes; this one has objective \"%s\": use \"response\"",
                             type, object$objective), "type")
  }
  type
}

stop_no_newdata <- function() {
  stop_argument("`newdata` is missing; a model does not keep its training data, so give the rows to predict",
                "newdata")
}

# The queries of the rows whose places are asked for.
check_ranked <- function(object, newdata, group, output) {
  if (object$n_outputs > 1L) stop_unsupported("type = \"rank\" needs a model with one score per row", "type")
  if (is.null(group)) {
    stop_argument(paste("type = \"rank\" needs `group`, the query of every row: predict(model, data, type = \"rank\",",
                        "group = )"), "group")
  }
  if (!is.null(output) || chunked_rows(newdata)) {
    stop_unsupported("type = \"rank\" takes all rows at once; give a data frame or a matrix, without `output`", "type")
  }
  check_group(group, n_rows_of(newdata))
}

# 1 for the row of the highest score of its query; rows of equal score have the same place.
places_of <- function(score, group) {
  place <- integer(length(score))
  by_query <- order(group, -score)
  first <- !duplicated(group[by_query])
  at <- seq_along(by_query)
  within <- at - at[first][cumsum(first)] + 1L
  score_here <- score[by_query]
  same <- c(FALSE, diff(score_here) == 0) & !first
  place[by_query] <- within[cummax(ifelse(same, 0L, at))]
  if (!is.null(names(score))) names(place) <- names(score)
  place
}

check_rounds <- function(trees, object) {
  if (is.null(trees)) return(rounds_used(object))
  if (!is.numeric(trees) || length(trees) != 1L || is.na(trees) || trees != floor(trees) || trees < 0 ||
        trees > object$nrounds) {
    stop_argument(sprintf("`trees` must be one whole number from 0 to %d, the rounds of the model", object$nrounds),
                  "trees")
  }
  as.integer(trees)
}
