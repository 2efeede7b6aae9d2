# What is done with categorical columns: the methods of `cat_method`, and the numbers of rows that ordered statistics
# are computed by, `time` and `group`.

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
    stop_cat_method(sprintf("%s has \"auto\" beside %s; leave one of them out", what,
                            enumerate(setdiff(value, "auto"), quote = "\"")))
  }
  if (all(c("sets", "onehot") %in% value)) {
    stop_cat_method(sprintf("%s has \"sets\" and \"onehot\"; a column is split in one of these ways", what))
  }
  if (identical(value, "auto")) value else methods[methods %in% value]
}

# For the features of the data, one integer per feature as the engine wants them, 0 where it is not categorical.
# type: of each feature, as the engine calls them. auto: what the engine is asked for where "auto" is: 0 leaves it to
# the engine.
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

# What was made of the columns of a trainer, by their names: those that are asked for, and those that have more than
# sets. asked: by feature.
chosen_methods <- function(trainer, features, asked) {
  chosen <- .Call(C_gbt_trainer_cat_methods, trainer)
  told <- which(asked | !chosen %in% c(0L, method_bits("sets")))
  known <- unlist(enums$cat_method)
  methods <- lapply(chosen[told], function(bits) names(known)[bitwAnd(bits, bitwShiftL(1L, known)) != 0L])
  stats::setNames(methods, features[told])
}

stop_not_categorical <- function(name, type) {
  what <- if (type == "ordinal") {
    "an ordered factor, which is split by its order; name it in `cat_features` to take it without"
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
warn_unused_order <- function(order, boosting, chosen) {
  if (length(order) == 0L || length(target_columns(chosen)) || identical(boosting, "ordered")) return(invisible())
  warn_gbt("order", sprintf("`%s` has no effect: no column has statistics of the response, see `cat_method`",
                            order[1L]))
}

# `max_cat_combine` combines columns of method "target".
warn_unused_combine <- function(most, chosen) {
  if (is.null(most) || most < 2 || length(target_columns(chosen, "target")) > 1L) return(invisible())
  warn_gbt("max_cat_combine", paste("`max_cat_combine` has no effect: it combines columns of method \"target\", and",
                                    "there are fewer than two; see `cat_method`"))
}

# Which of them are to have an effect in training: none where they have said which rows are held out. rows: as of
# read_rows().
order_in_doubt <- function(rows, args) if (isTRUE(rows$by_share)) character(0) else order_given(rows$source, args)

# Which of `time` and `group` are given for this training. args: values by name.
order_given <- function(source, args) {
  here <- if (is.null(source$data)) source else args
  Filter(function(name) !is.null(here[[name]]), c("time", "group"))
}
