# Handling of categorical columns: the methods of `cat_method`, and the numbers of rows that ordered statistics are
# computed by, `time` and `group`.

#' Categorical columns
#'
#' How [gbt_train()] uses factors, character columns and other categorical columns, and the parameters for it, which are
#' arguments of [gbt_train()]. `vignette("categories", package = "gbt")` is an introduction.
#'
#' Unordered factors and character columns are categorical; ordered factors are split by the order of their levels.
#' `cat_features` makes columns of whole numbers (integer, double, logical, `integer64`) categorical: each distinct
#' number is a level. In new data these numbers may have any class: `3L`, `3` and the factor level `"3"` are the same
#' level, and so are `TRUE` and `1`. Ordered factors named in `cat_features` lose their order. Models store levels by
#' name. For new levels see `unseen` in [predict()][predict.gbt].
#'
#' @section Methods:
#' `cat_method` says how categorical columns enter the trees:
#' * `"sets"`: a split sends a set of levels to one side. In columns of up to `max_cat_onehot` levels it sends one level
#'   to one side. In symmetric trees sets use one order of the levels for the whole tree, so `"auto"` splits columns of
#'   up to 255 levels by one level there (see [gbt_defaults()]).
#' * `"onehot"`: a split sends one level to one side, for any number of levels.
#' * `"target"`: target encoding. Each level is replaced by the mean response of its rows, and trees split this number.
#'   Use it for columns with many levels, where sets of levels overfit rare ones. For more than two classes there is one
#'   number per class, the share of the level's rows in this class (for at most eight classes, the most frequent ones).
#'   For counts and amounts with a log link the number is a rate: the response divided by exp(`offset`). Other responses
#'   are first clipped at their 0.001 and 0.999 quantiles. Weights of rows are used.
#' * `"count"`: each level is replaced by the number of training rows that have it.
#' * `"quartiles"`, not for classes: each level is replaced by three numbers, the shares of its rows whose response is
#'   above the first, second and third quartile of all rows.
#'
#' Several methods make several features of a column: `c("sets", "target")`. In a list, names choose columns, and an
#' element without a name is for all others: `list("auto", carrier = c("sets", "target"))`.
#'
#' `"auto"`, the default, uses what was best on the data sets that were measured: `"sets"` and `"target"` together.
#' Exceptions:
#' * `"sets"` only for columns of up to 4 levels, and for columns of more than 255 levels that have 30 training rows or
#'   more for each level;
#' * `"target"` and `"count"` for columns of more than 65,534 levels, the limit of `"sets"`;
#' * `"sets"` only with an objective of your own, and with `mtry`.
#'
#' `summary(model)` shows the chosen methods.
#'
#' @section Target encoding without leakage:
#' The mean response of a level includes the row's own response. A tree that splits by it would overfit the training
#' rows. So the rows are put in a random order, and the statistic of a row uses only the rows before it. This is an
#' *ordered target statistic* (Prokhorenkova and others, 2018, \dQuote{CatBoost: unbiased boosting with categorical
#' features}, section 3.2). Where a level has few rows before this one, the statistic is shrunk towards the mean
#' response of all rows: `cat_prior` rows with this mean are added.
#'
#' Splits are chosen by the statistics of one order of the rows. The values of the leaves use a second order
#' (`cat_permutations = 2`), because leaves overfit if splits were chosen by the same numbers. The orders depend on
#' `seed` (0 if you do not give it and nothing else is random).
#'
#' New data, validation data and rows outside of a `mask` get the statistic over all training rows. A level that the
#' training data do not have gets the mean response of all rows. Missing values are a level. A column that is constant
#' in the training rows has no statistics. Because training rows have ordered statistics, metrics on the training data
#' differ a little from those of [predict()][predict.gbt] for the same rows. For the same reason rounds that are added
#' by `init_model` differ from those of one longer training. With `"sets"` neither is the case.
#'
#' @section Time and group:
#' `time` says when a row was observed. The statistic of a row then uses only rows with an earlier time. Give it if new
#' data are later than the training data and the response drifts.
#'
#' `group` keeps rows that belong together, such as the visits of a patient, out of each other's statistics. Give it if
#' the response is nearly the same within a group and new data have other groups.
#'
#' Neither is kept in the model, and predictions need neither. If no column has `"target"` and `boosting` is `"plain"`,
#' a warning (class `gbt_warning_order`) says that they have no effect.
#'
#' @section Combinations of columns:
#' With `max_cat_combine = 2` pairs of columns with method `"target"` are tried as well; their levels are pairs of
#' levels. 3 and 4 add sets of three and four columns. This helps if the response depends on what occurs together, such
#' as carrier and airport. A combination is kept if it explains clearly more of the response than each of its columns,
#' and than both added up. Clearly means four standard deviations, measured by statistics without the row's own
#' response. At most 256 combinations of each size are tried, and the 64 with the largest gain are kept. Levels that
#' occur together in one row only count as unknown. A combination needs a group of `interactions` with all of its
#' columns, and has the smallest of their `feature_weights`. Ten columns have 45 pairs, and each takes time, so choose
#' the columns.
#'
#' @section Parameters:
#' * `cat_method`: `"auto"`, or some of `"sets"`, `"onehot"`, `"target"`, `"count"` and `"quartiles"`; or a list of
#'   these by names of columns.
#' * `max_cat_onehot`: Columns with up to so many levels are split one level against the rest: 4 by default, 255 in
#'   symmetric trees unless you give a `cat_method` other than `"auto"` or a parameter of `"sets"`.
#' * `cat_smooth`: With `"sets"`: smoothing of the order of the levels. Levels with fewer rows in a node are not used.
#' * `cat_l2`: With `"sets"`: extra L2 penalty.
#' * `cat_noise`: With `"sets"`: penalty on a split, in units of the gain that is expected from noise alone.
#' * `max_cat_threshold`: With `"sets"`: maximum number of levels in the smaller set.
#' * `min_data_per_group`: With `"sets"`: minimum number of rows on either side.
#' * `cat_prior`: With `"target"`: number of rows with the mean response that are added to each level. Larger values
#'   shrink rare levels more.
#' * `cat_permutations`: With `"target"`: 2 for a second order of the rows for the values of leaves; 1 is faster. It is
#'   1 with `time` and with an objective of your own.
#' * `cat_bins`: With `"target"`: maximum number of bins of a statistic, 2 to 255.
#' * `max_cat_combine`: With `"target"`: maximum number of columns in a combination; 1 for no combinations.
#' * `max_cat_keys`: Maximum number of levels in all combinations of columns of a model; each takes 2 bytes in its
#'   file (more with classes). The rarest levels of each combination are left out, then combinations with the smallest
#'   gain.
#' * `level_counts`: Adds a feature `count(column)` with the number of training rows that have the row's level. `TRUE`
#'   for all unordered factors and texts, or names of columns. It helps if rare levels behave unlike frequent ones. New
#'   levels count as 0, missing values as missing. With `init_model` the counts of that model are used. `interactions`
#'   and `feature_weights` of the column hold for its count; monotone constraints do not.
#'
#' @seealso [gbt_train()], [gbt_unseen()], [gbt_parameters()]
#' @examples
#' m <- gbt_train(late ~ carrier + origin + dest, flights, nrounds = 30,
#'                cat_method = list("auto", dest = "target"), threads = 1)
#' m$feature_names
#'
#' # codes that are categories
#' m <- gbt_train(mpg ~ wt + cyl, mtcars, cat_features = "cyl", nrounds = 10, threads = 1)
#' m$feature_types
#' @concept categorical
#' @concept categorical features
#' @concept factor levels
#' @concept target encoding
#' @concept one-hot encoding
#' @concept high cardinality
#' @name gbt_categories
NULL

# `cat_method` as given -> list(usual = methods of the columns that are not named, columns = named list of methods).
# Elements without a name are for all columns that are not named.
read_cat_method <- function(value) {
  if (is.null(value) || (identical(class(value), "list") && length(value) == 0L)) {
    return(list(usual = "auto", columns = list()))
  }
  if (!(is.character(value) || is.list(value)) || is.object(value) || length(value) == 0L) {
    stop_cat_method(sprintf("`cat_method` must be \"auto\", some of %s, or a list of these by names of columns, not %s",
                            enumerate(names(enums$cat_method), quote = "\""), shown_value(value)))
  }
  labels <- if (is.null(names(value))) character(length(value)) else as_utf8(names(value), "a name of `cat_method`")
  named <- !is.na(labels) & nzchar(labels)
  if (anyDuplicated(labels[named])) {
    twice <- labels[named][anyDuplicated(labels[named])]
    stop_cat_method(sprintf(paste("`cat_method` names `%s` twice; give its methods together, such as",
                                  "list(%s = c(\"sets\", \"count\"))"), twice, quote_name(twice)))
  }
  columns <- lapply(which(named), function(i) check_methods(value[[i]], sprintf("`cat_method` of `%s`", labels[i])))
  names(columns) <- labels[named]
  usual <- if (all(named)) "auto" else check_methods(unname(flatten(value[!named])), "`cat_method`")
  list(usual = usual, columns = columns)
}

stop_cat_method <- function(text) stop_argument(text, "cat_method")
shown_value <- function(value) if (is.object(value)) describe(value) else quote_value(value)

# The texts in a list of texts, or what is no text, for an error.
flatten <- function(value) {
  if (!is.list(value)) return(value)
  odd <- Filter(function(v) !is.character(v) || is.object(v), value)
  if (length(odd)) odd[[1L]] else unlist(value)
}

# Checks the methods for one column, or for the columns without a name of their own: only "auto", or any of the others.
check_methods <- function(value, what) {
  methods <- names(enums$cat_method)
  if (!is.character(value) || is.object(value) || length(value) == 0L) {
    stop_cat_method(sprintf("%s must be \"auto\" or some of %s, not %s", what, enumerate(methods, quote = "\""),
                            shown_value(value)))
  }
  value <- unique(printable(value))
  wrong <- value[!value %in% c("auto", methods)]
  if (length(wrong)) {
    stop_cat_method(sprintf("%s must be \"auto\" or some of %s, not %s%s", what, enumerate(methods, quote = "\""),
                            quote_value(wrong[1L]), suggest(wrong[1L], c("auto", methods))))
  }
  if ("auto" %in% value && length(value) > 1L) {
    stop_cat_method(sprintf("%s has \"auto\", which cannot be combined with %s; leave one of them out", what,
                            enumerate(setdiff(value, "auto"), quote = "\"")))
  }
  if (all(c("sets", "onehot") %in% value)) {
    stop_cat_method(sprintf("%s has \"sets\" and \"onehot\"; a column is split in one of these ways", what))
  }
  if (identical(value, "auto")) value else methods[methods %in% value]
}

# For the features of the data, one integer per feature in the engine's form, 0 where it is not categorical. type: of
# each feature, as the engine calls them. auto: what the engine is asked for where "auto" is: 0 leaves it to the engine.
cat_method_bits <- function(wanted, features, type, auto = 0L) {
  named <- names(wanted$columns)
  at <- if (length(named)) feature_places(named, features, "cat_method") else integer(0)
  wrong <- at[type[at] != "categorical"]
  if (length(wrong)) stop_not_categorical(features[wrong[1L]], type[wrong[1L]])
  categorical <- type == "categorical"
  if (!any(categorical)) {
    if (identical(wanted$usual, "auto")) return(integer(length(features)))
    stop_cat_method(sprintf(paste("`cat_method` is %s, but the data have no categorical column: make columns factors,",
                                  "or name them in `cat_features`"), enumerate(wanted$usual, quote = "\"")))
  }
  methods <- rep(list(wanted$usual), length(features))
  methods[at] <- wanted$columns
  bits <- vapply(methods, function(m) if (identical(m, "auto")) auto else method_bits(m), 0L)
  replace(bits, !categorical, 0L)
}

method_bits <- function(methods) as.integer(sum(bitwShiftL(1L, unlist(enums$cat_method[methods]))))

# The methods of the columns of a trainer, by their names: of columns that the user named, and of those that have more
# than sets. asked: by feature.
chosen_methods <- function(trainer, features, asked) {
  chosen <- .Call(C_gbt_trainer_cat_methods, trainer)
  told <- which(asked | !chosen %in% c(0L, method_bits("sets")))
  known <- unlist(enums$cat_method)
  methods <- lapply(chosen[told], function(bits) names(known)[bitwAnd(bits, bitwShiftL(1L, known)) != 0L])
  stats::setNames(methods, features[told])
}

stop_not_categorical <- function(name, type) {
  what <- if (type == "ordinal") {
    "an ordered factor, which is split by its order; name it in `cat_features` to ignore the order"
  } else {
    sprintf("a %s column; name it in `cat_features`, or make it a factor", type)
  }
  stop_cat_method(sprintf("`cat_method` names `%s`, %s", name, what))
}

# Do the methods add derived features (target encoding, counts) to the columns? wanted: the result of read_cat_method().
derives_features <- function(wanted) any(c("target", "quartiles", "count") %in% unlist(wanted))

# Columns that have statistics of the response: of any kind, or those of one method. chosen: as of chosen_methods().
target_columns <- function(chosen, kind = c("target", "quartiles")) {
  names(chosen)[vapply(chosen, function(methods) any(kind %in% methods), NA)]
}

# `time` and `group` decide over statistics of the response, ordered boosting, and which rows a share of `valid` holds
# out. A gbt_data may keep them for other trainings. order: as of order_given(); chosen: as of chosen_methods().
warn_unused_order <- function(order, boosting, chosen, by_query) {
  if (by_query) order <- setdiff(order, "group")
  if (length(order) == 0L || length(target_columns(chosen)) || identical(boosting, "ordered")) return(invisible())
  uses <- if (order[1L] == "group") {
    "the objective is not a ranking objective, such as \"rank_ndcg\", and no column uses target encoding"
  } else "no column uses target encoding"
  warn_gbt("order", sprintf("`%s` has no effect: %s, see `cat_method`", order[1L], uses))
}

# The same of the `time` that a gbt_data has and the call does not name. The search for rounds and a race look at it,
# too. its: of source_of().
warn_unused_time <- function(its, fit, chosen) {
  if (is.null(its$source$data$time) || "time" %in% canonical_name(names(its$given))) return(invisible())
  used <- fit$host$rounds != "given" || !is.null(fit$raced) || length(target_columns(chosen)) ||
    identical(fit$params$boosting, "ordered")
  if (used) return(invisible())
  warn_gbt("order", paste("`time` of the gbt_data has no effect in this training: no column uses target encoding, see",
                          "`cat_method`"))
}

# `max_cat_combine` combines columns of method "target".
warn_unused_combine <- function(most, chosen) {
  if (is.null(most) || most < 2 || length(target_columns(chosen, "target")) > 1L) return(invisible())
  warn_gbt("max_cat_combine", paste("`max_cat_combine` has no effect: it combines columns of method \"target\", and",
                                    "there are fewer than two; see `cat_method`"))
}

# Which of them are to have an effect in training: none where they have chosen which rows are held out. rows: as of
# read_rows().
effective_order <- function(rows, args) if (isTRUE(rows$by_share)) character(0) else order_given(rows$source, args)

# Which of `time` and `group` are given for this training. args: values by name.
order_given <- function(source, args) {
  here <- if (is.null(source$data)) source else args
  Filter(function(name) !is.null(here[[name]]), c("time", "group"))
}
