# New data for a model, or for a gbt_data whose cuts are shared: columns are found by name, and have the classes, units
# and codes of training.

# The columns that a model (or a gbt_data) has, in the terms of its training data. sparse_zero NULL: as there.
frame_for_model <- function(x, object, sparse_zero = NULL) {
  x <- bake_rows(object, x)$x
  usual <- given_or(object[["sparse_zero"]], given_or(object$params[["sparse_zero"]], "value"))
  sparse_zero <- given_or(sparse_zero, usual)
  names <- object$feature_names
  if (is.data.frame(x)) {
    has <- as_utf8(names(x), "a column name")
    at <- match(names, has)
    if (anyNA(at)) {
      check_file_names(object, has)
      check_needed(names, has, setdiff(has, names))
    }
    check_doubled(names, names(x))
    x <- structure(class = "data.frame", row.names = .set_row_names(.row_names_info(x, 2L)),
                   stats::setNames(lapply(at, function(j) .subset2(x, j)), names))
    return(align_frame(encode_x(x, sparse_zero), names, object$feature_types))
  }
  frame <- encode_x(x, sparse_zero)
  if (is.null(colnames(x))) {
    if (length(frame$names) != length(names)) {
      stop_data(sprintf(paste("a matrix without column names must have the %d columns of the training data in their",
                              "order, but it has %d"), length(names), length(frame$names)))
    }
    frame$names <- names
  }
  check_file_names(object, frame$names)
  check_needed(names, frame$names)
  align_frame(frame, names, object$feature_types)
}

# Files of XGBoost, LightGBM and CatBoost whose training had no names of columns have numbers: f0, Column_0, ... Rows
# with names of their own do not fit these. given: the names of the rows.
check_file_names <- function(object, given) {
  names <- object$feature_names
  n <- length(names)
  made <- !is.null(object[["imported"]]) && n > 0L &&
    any(vapply(c("f", "Column_"), function(head) identical(names, paste0(head, seq_len(n) - 1L)), NA))
  if (!made || any(given %in% names)) return(invisible())
  which <- if (length(given) != n) sprintf(", which are %s (these rows have %d),", n, length(given)) else ""
  stop_data(sprintf(paste("the model was imported from %s, and its file has no names of columns, so they are called",
                          "%s; give the columns of the training%s in their order, and name them so:",
                          "colnames(x) <- variable.names(model)"), printable(object$imported$program),
                    enumerate(names, 2L), which), names[1L])
}

# others: names that one may have been meant by.
check_needed <- function(needed, given, others = character(0)) {
  absent <- setdiff(needed, given)
  if (length(absent) == 0L) return(invisible())
  near <- if (length(absent) == 1L) suggest(absent, others) else ""
  if (!nzchar(near) && identical(needed, paste0("f", seq_along(needed))) && length(absent) == length(needed)) {
    near <- paste("; columns of a matrix without column names are called so in training: give such a matrix, or name",
                  "the columns, colnames(x) <- variable.names(model)")
  }
  stop_data(sprintf("columns that the model needs are missing: %s%s", enumerate(absent), near), absent[1L])
}

# A name that the model needs must not stand for two columns.
check_doubled <- function(needed, given) {
  if (!anyDuplicated(given)) return(invisible())
  twice <- intersect(given[duplicated(given)], needed)
  if (length(twice) > 0L) {
    stop_data(sprintf("column names must be unique; more than once: %s", enumerate(twice)), twice[1L])
  }
}

# name: what the caller calls its rows.
check_newdata <- function(newdata, object, name = "newdata") {
  if (isS4(newdata) && methods::is(newdata, "Matrix")) check_sparse(newdata)
  if (inherits(newdata, "gbt_data")) {
    stop_data(sprintf(paste("`%s` is a gbt_data object, which holds bins and no values; give the data frame, matrix or",
                            "source that it was made of"), name), name)
  }
  if (in_database(newdata)) encode_x(newdata) # says what to give
  names <- object$feature_names
  if (is.list(newdata) && !is.data.frame(newdata) && !inherits(newdata, "ArrowTabular")) {
    stop_data(sprintf(paste("`%s` is a list; one row of a data frame is x[i, ], and a list becomes one by",
                            "as.data.frame()"), name), name)
  }
  if (is.atomic(newdata) && !is.null(newdata) && is.null(dim(newdata))) {
    hint <- if (is.numeric(newdata) && length(newdata) == length(names)) {
      "one row of a matrix is x[i, , drop = FALSE]; other numbers become one by matrix(x, nrow = 1)"
    } else {
      "give a data frame or a matrix with one row per prediction"
    }
    stop_data(sprintf("`%s` is %s; %s", name, describe(newdata), hint), name)
  }
  if (length(dim(newdata)) != 2L || is.data.frame(newdata)) return(invisible()) # encode_x() knows what to say
  n_cols <- ncol(newdata)
  if (is.null(colnames(newdata)) && !identical(n_cols, length(names))) {
    stop_data(sprintf(paste("`%s` has no column names, so it must have the %d columns of the training data in their",
                            "order, but it has %d"), name, length(names), n_cols), name)
  }
}

# Only what is needed is looked at, so that other columns may be of any kind.
needed_columns <- function(x, names, set) {
  if (isS4(x) && methods::is(x, "Matrix")) check_sparse(x)
  has <- if (is.data.frame(x)) names(x) else colnames(x)
  if (is.null(has)) return(x)
  absent <- setdiff(names, enc2utf8(has))
  if (length(absent)) {
    stop_data(sprintf("validation set \"%s\" lacks columns of the training data: %s", set, enumerate(absent)),
              absent[1L])
  }
  if (is.data.frame(x)) pick_columns(x, has[match(names, enc2utf8(has))]) else x
}

# The frame with the features of a gbt_data whose cuts are shared; NULL: there is none.
as_reference <- function(frame, reference) {
  if (is.null(reference)) return(frame)
  known <- .Call(C_gbt_dataset_info, data_ptr(reference))
  align_frame(frame, known$names, known$tag)
}

# Columns with only NA have the classes of the initial model, numbers that it took as categories are categories, and
# columns are in its order.
align_start_columns <- function(frame, init) {
  if (is.null(init)) return(frame)
  was <- init$feature_types[match(frame$names, init$feature_names)]
  frame <- align_units(align_missing(align_categories(frame, was), replace(was, was %in% "missing", NA)), was)
  same <- length(frame$names) == length(init$feature_names) && setequal(frame$names, init$feature_names)
  if (same) frame_in_order(frame, match(init$feature_names, frame$names)) else frame # its columns are refused later
}

# The frame with its columns in another order: `at` has their numbers.
frame_in_order <- function(frame, at) {
  if (!is.unsorted(at)) return(frame)
  if (!is.null(frame$matrix)) {
    frame$values <- lapply(seq_along(at), frame_column, frame = frame)
    frame$matrix <- NULL
  }
  if (!is.null(frame$p)) {
    n <- diff(frame$p)[at]
    entries <- rep(frame$p[at], n) + sequence(n)
    frame$p <- c(0L, as.integer(cumsum(n)))
    for (part in c("i", "x")) if (!is.null(frame[[part]])) frame[[part]] <- frame[[part]][entries]
  }
  for (part in c("names", "tag", "type", "storage", "values", "levels")) {
    if (!is.null(frame[[part]])) frame[[part]] <- frame[[part]][at]
  }
  frame
}

# The frame of new data for features that are known: names (when the matrix has none), and times in the units of
# training. `names` and `tag` are the model's.
align_frame <- function(frame, names, tag) {
  at <- match(frame$names, names)
  was <- tag[at]
  if (identical(was, frame$tag)) return(frame)
  frame <- align_units(align_missing(align_categories(frame, was), was), was)
  timed <- is_time(was) | is_time(frame$tag)
  for (j in which(!is.na(at) & timed & was != frame$tag)) {
    if (is_time(frame$tag[j])) {
      stop_data(sprintf("column `%s` is of class %s, but was %s when the model was trained; convert it by %s",
                        frame$names[j], time_class(frame$tag[j]), time_class(was[j]), conversion_to(was[j])),
                frame$names[j])
    } else if (frame$type[j] != enums$feature_type[["numeric"]]) {
      stop_data(sprintf("column `%s` holds texts, but was of class %s when the model was trained; convert it by %s",
                        frame$names[j], time_class(was[j]), conversion_to(was[j])), frame$names[j])
    } # plain numbers for a time: taken as they are
  }
  check_levels_or_numbers(frame, was)
  frame
}

# New numbers as those of training: in the same unit, and without what is a code for a missing value there. was: tags of
# the features, NA for other columns.
align_units <- function(frame, was) {
  for (j in which(!is.na(was) & was != frame$tag)) {
    now <- frame$tag[j]
    if (startsWith(was[j], "coded:")) {
      frame <- without_trained_codes(frame, j, was[j])
    } else if (startsWith(was[j], "difftime:") && startsWith(now, "difftime:")) {
      frame <- with_numbers(frame, j, as.double(frame$values[[j]], units = unit_of(was[j])), was[j])
    } else if (startsWith(was[j], "units:") && startsWith(now, "units:")) {
      frame <- with_numbers(frame, j, in_unit(frame$values[[j]], unit_of(was[j]), frame$names[j]), was[j])
    }
  }
  frame
}

unit_of <- function(tag) sub("^(difftime|units):", "", tag)

# The frame with other doubles in a column.
with_numbers <- function(frame, j, values, tag) {
  if (is.null(frame$values)) frame$values <- vector("list", length(frame$names)) # of a matrix
  frame$values[[j]] <- values
  frame$tag[j] <- tag
  frame$storage[j] <- enums$storage[["double"]]
  frame
}

# tag: of training.
without_trained_codes <- function(frame, j, tag) {
  if (frame$type[j] != enums$feature_type[["numeric"]] || is_time(frame$tag[j])) return(frame) # checked later
  if (!is.null(frame$p)) {
    stop_unsupported(sprintf(paste("column `%s` had codes for missing values in training, but a sparse matrix has no",
                                   "such codes; give a data frame or a matrix"), frame$names[j]), frame$names[j])
  }
  values <- as_numbers(frame_column(frame, j), frame$names[j])
  with_numbers(frame, j, replace(values, is_code(values, codes_of_tag(tag)), NA), tag)
}

# The names of kinds of columns in messages, by their tags. (Models that other hosts made have tags of their own: the
# engine looks at their types.)
level_words <- c(factor = "a factor", ordered = "an ordered factor", character = "text",
                 category = "numbers that are categories")
number_words <- c(double = "a number", integer = "a number", integer64 = "a number", logical = "a logical vector")

# was: tags of the features, NA for other columns.
check_levels_or_numbers <- function(frame, was) {
  of <- function(tags, words) tags %in% names(words)
  was <- sub("^coded:.*", "double", was)
  now <- sub("^coded:.*", "double", frame$tag)
  differ <- which((of(was, level_words) & of(now, number_words)) | (of(was, number_words) & of(now, level_words)))
  if (length(differ) == 0L) return(invisible())
  j <- differ[1L]
  words <- c(level_words, number_words)
  to <- if (of(was[j], number_words)) "a number" else if (was[j] == "character") "text" else "a factor"
  stop_data(sprintf("column `%s` is %s here and was %s in training; convert it to %s", frame$names[j],
                    words[[now[j]]], words[[was[j]]], to), frame$names[j])
}

# NA is missing in any class: a column of nothing else stands for what the feature was, and where the training data had
# nothing else no tree looks at the column, whatever it is now. was: tags of the features, NA for other columns.
align_missing <- function(frame, was) {
  kind <- function(tag) {
    ifelse(tag %in% c("factor", "ordered", "character", "category"), "levels", ifelse(is_time(tag), tag, "number"))
  }
  differ <- which(!is.na(was) & kind(was) != kind(frame$tag))
  if (length(differ) == 0L || !is.null(frame$p)) return(frame)
  for (j in differ) {
    if (was[j] != "missing" && !all_missing(frame_column(frame, j), frame$storage[j], frame$levels[[j]])) next
    levels <- kind(was[j]) == "levels"
    if (is.null(frame$values)) frame$values <- vector("list", length(was)) # of a matrix
    frame$values[[j]] <- rep(if (levels) NA_integer_ else NA, frame$n_rows)
    frame$tag[j] <- was[j]
    type <- if (!levels) "numeric" else if (was[j] == "ordered") "ordinal" else "categorical"
    frame$type[j] <- enums$feature_type[[type]]
    frame$storage[j] <- enums$storage[[if (levels) "codes" else "integer"]]
    if (is.null(frame$levels)) frame$levels <- vector("list", length(was))
    frame$levels[j] <- list(if (levels) character(0))
  }
  frame
}

# Nothing but missing values? The first one mostly answers it.
all_missing <- function(v, storage = NULL, levels = NULL) {
  v <- unclass(v)
  missing <- if (identical(storage, enums$storage[["integer64"]])) { # the bits of a missing integer64 are those of -0
    function(v) v == 0 & 1 / v < 0
  } else if (is.character(levels) && anyNA(levels)) {
    function(v) is.na(v) | v %in% which(is.na(levels))
  } else {
    is.na
  }
  (length(v) == 0L || isTRUE(missing(v[1L]))) && all(missing(v))
}

# Numbers of a time, or of another quantity with a unit.
is_time <- function(tag) {
  !is.na(tag) & (tag %in% c("Date", "POSIXct") | startsWith(tag, "difftime:") | startsWith(tag, "units:"))
}
time_class <- function(tag) sub("^coded$", "double", sub("^(difftime|units|coded):.*", "\\1", tag))

# The function that makes a column of what a feature was in training, as texts of messages have it.
conversion_to <- function(tag) {
  if (startsWith(tag, "difftime:")) return(sprintf("as.difftime(x, units = \"%s\")", unit_of(tag)))
  if (startsWith(tag, "units:")) return(sprintf("units::set_units(x, \"%s\")", unit_of(tag)))
  if (tag %in% c("factor", "ordered")) return("factor(x, levels = )")
  switch(tag, Date = "as.Date(x)", POSIXct = "as.POSIXct(x)", character = "as.character(x)", "as.numeric(x)")
}

# A column of this tag without values. levels: of a factor.
empty_column <- function(tag, levels = NULL) {
  if (startsWith(tag, "units:")) return(empty_units(unit_of(tag)))
  if (startsWith(tag, "coded:")) {
    codes <- codes_of_tag(tag)
    return(structure(numeric(0), na_values = codes$values, na_range = codes$range,
                     class = c("haven_labelled_spss", "haven_labelled")))
  }
  switch(time_class(tag),
    integer = integer(0), logical = , missing = logical(0), character = character(0),
    factor = factor(character(0), levels = levels), ordered = factor(character(0), levels = levels, ordered = TRUE),
    Date = as.Date(character(0)), POSIXct = as.POSIXct(character(0), tz = "UTC"),
    difftime = as.difftime(numeric(0), units = unit_of(tag)), integer64 = structure(numeric(0), class = "integer64"),
    numeric(0)
  )
}

# unit: as of unit_text(), such as "m/s^2".
empty_units <- function(unit) {
  names_of <- function(part) {
    part <- part[part != "1"]
    times <- ifelse(grepl("\\^[0-9]+$", part), sub(".*\\^", "", part), "1")
    rep(sub("\\^[0-9]+$", "", part), as.integer(times))
  }
  parts <- strsplit(unit, "/", fixed = TRUE)[[1L]]
  symbol <- structure(list(numerator = names_of(strsplit(parts[1L], "*", fixed = TRUE)[[1L]]),
                           denominator = names_of(parts[-1L])), class = "symbolic_units")
  structure(numeric(0), units = symbol, class = "units")
}
