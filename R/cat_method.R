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

# Methods of one column, or of those that are not named: "auto" alone, or the others in their order.
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

# Do the methods that are asked for make features beside the columns? wanted: as of read_cat_method().
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

# Rows by time or by group ------------------------------------------------------------------------------------------

check_time_or_group <- function(time, group) {
  if (is.null(time) || is.null(group)) return(invisible())
  stop_unsupported(paste("`time` and `group` cannot be combined: statistics take the rows in the order of `time`, or",
                         "those of a `group` at once; give one of them (the other as NULL)"), "group")
}

not_a_name <- "; give the values themselves, not the name of a column"

# Times of rows as doubles of the same order.
check_time <- function(time, n_rows) {
  if (is.null(time)) return(NULL)
  if (inherits(time, "POSIXlt")) time <- as.POSIXct(time)
  time <- meant_values(time, "`time`", "time")
  known <- is.numeric(time) || is.logical(time) || inherits(time, c("Date", "POSIXct", "difftime", "ordered"))
  if (!known || length(dim(time)) > 1L) {
    texts <- is.factor(time) || is.character(time)
    hint <- if (!texts) "" else if (length(time) == 1L) not_a_name else "; see as.Date() and as.POSIXct() for texts"
    stop_data(sprintf("`time` must be numbers, dates, times or an ordered factor, not %s%s", describe(time), hint),
              "time")
  }
  check_row_values(time, n_rows, "time")
  time <- if (isS4(time)) as.vector(time@.Data) else as_numbers(time, "time")
  bad <- if (length(time) && is.finite(sum(time))) integer(0) else which(!is.finite(time))
  if (length(bad)) stop_data(sprintf("`time` has %s", counted_rows(bad, "infinite value")), "time")
  time
}

# Groups of rows as whole numbers from 1, in the order of their first rows.
check_group <- function(group, n_rows) {
  if (is.null(group)) return(NULL)
  if (inherits(group, "POSIXlt")) group <- as.POSIXct(group)
  group <- meant_values(group, "`group`", "group", character(0))
  if (!is.atomic(group) || is.complex(group) || is.raw(group) || length(dim(group)) > 1L) {
    stop_data(sprintf("`group` must be numbers, a factor or texts, not %s", describe(group)), "group")
  }
  sizes <- is.numeric(group) && length(group) != n_rows && isTRUE(sum(group) == n_rows)
  hint <- if (sizes) "; it names the group of every row, sizes of groups will not do"
  check_row_values(group, n_rows, "group", if (is.character(group) && length(group) == 1L) not_a_name else hint)
  group <- if (inherits(group, "integer64")) {
    as.character(group) # doubles could not keep them apart
  } else if (is.character(group)) {
    as_utf8(group, "a text of `group`")
  } else {
    as.vector(unclass(group))
  }
  number_groups(group)
}

# Orders of rows follow from these numbers. Where rows are left out the others are numbered anew, as if they were all.
number_groups <- function(group) place_among(group, different(group))

# A value for every row, and none missing. hint: for a wrong number.
check_row_values <- function(x, n_rows, what, hint = NULL) {
  if (length(x) != n_rows) {
    stop_data(sprintf("`%s` has %s for %s%s", what, counted(length(x), "value"), counted(n_rows, "row"),
                      if (is.null(hint)) "" else hint), what)
  }
  if (inherits(x, "integer64")) x <- as_numbers(x, what)
  if (anyNA(x)) {
    stop_data(sprintf("`%s` has %s; leave such rows out, or give them a value", what,
                      counted_rows(which(is.na(x)), "missing value")), what)
  }
}
