# Fields of rows besides their columns: weights, offsets, times, groups, as plain numbers of the right length.

# Arguments with a value for every row.
row_arguments <- c("weights", "offset", "exposure", "mask", "time", "group", "strata", "position")

# The numbers of n rows, checked: those that are given. called: names of the arguments for label and weight.
check_row_fields <- function(fields, n, called = c(label = "label", weight = "weight")) {
  check_time_or_group(fields$time, fields$group)
  if (!is.null(fields$label)) check_label_length(fields$label, n, called[["label"]])
  time <- check_time(fields$time, n)
  group <- check_group(fields$group, n)
  weight <- check_weight(fields$weight, n, called[["weight"]])
  offset <- check_offset(fields$offset, n)
  if (!is.null(offset)) dim(offset) <- dim(fields$offset)
  list(label = fields$label, weight = weight, offset = offset, time = time, group = group)
}

# Weights as plain doubles of the right length. What they may be (finite, 0 or more) the engine checks.
check_weight <- function(weight, n_rows, what = "weight") {
  if (is.null(weight)) return(NULL)
  if (!is.numeric(weight) && !is.logical(weight)) {
    hint <- if (is_column_name(weight)) "; give the numbers themselves, such as those of a column" else ""
    stop_data(sprintf("`%s` must be numbers, not %s%s", what, describe(weight), hint), what)
  }
  if (length(weight) != n_rows) {
    stop_data(sprintf("`%s` has %s for %s", what, counted(length(weight), "value"), counted(n_rows, "row")), what)
  }
  weight <- as_numbers(weight, what)
  if (anyNA(weight)) {
    stop_data(sprintf("`%s` has %s; leave such rows out, or give them a weight of 0", what,
                      counted_rows(which(is.na(weight)), "missing value")), what)
  }
  weight
}

# Weights of rows that a model is judged on: NULL, or finite numbers of 0 or more, some above unless `any`.
check_rating_weights <- function(weights, n, any = FALSE) {
  weight <- check_weight(weights, n, "weights")
  if (is.null(weight)) return(NULL)
  wrong <- which(weight < 0 | weight == Inf)
  if (length(wrong)) {
    stop_data(sprintf("`weights` must be finite and 0 or more; row %d has %s", wrong[1L], format(weight[wrong[1L]])),
              "weights")
  }
  if (!any && !any_rank(any(weight != 0))) stop_data("`weights` are 0 in all rows", "weights")
  weight
}

# Offsets: a vector, or a matrix with one column per score. n_outputs NULL: not known yet.
check_offset <- function(offset, n_rows, n_outputs = NULL, what = "offset") {
  if (is.null(offset)) return(NULL)
  if (is.data.frame(offset)) offset <- as.matrix(list_frame(lapply(offset, meant_values, what, what), nrow(offset)))
  if (!is.numeric(offset)) {
    hint <- if (is_column_name(offset)) not_a_name else ""
    stop_data(sprintf("`%s` must be numbers, not %s%s", what, describe(offset), hint), what)
  }
  if (length(dim(offset)) > 2L) stop_data(sprintf("`%s` must be a vector or a matrix, not an array", what), what)
  rows <- if (length(dim(offset)) < 2L) length(offset) else nrow(offset)
  cols <- if (length(dim(offset)) < 2L) 1L else ncol(offset)
  if (rows != n_rows) {
    stop_data(sprintf("`%s` has %s for %s", what, counted(rows, "value"), counted(n_rows, "row")), what)
  }
  if (!is.null(n_outputs) && cols != n_outputs) {
    matrix <- sprintf("a matrix of %.0f x %d, one column per output of the model", n_rows, n_outputs)
    hint <- if (n_outputs > 1L) matrix else "a vector"
    stop_data(sprintf("`%s` must be %s, not of %s", what, hint, counted(cols, "column")), what)
  }
  if (is.object(offset)) offset <- as_numbers(offset, what)
  bad <- if (is.finite(sum(offset))) integer(0) else which(!is.finite(offset)) # the sum needs no memory
  if (length(bad) > 0L) {
    row <- (bad[1L] - 1) %% max(n_rows, 1) + 1
    stop_data(sprintf("`%s` has %s, the first in row %.0f", what, counted(length(bad), "missing or infinite value"),
                      row), what)
  }
  as.double(offset)
}

# Those of an argument and of offset() terms or an exposure, which have a number per row. name: of b, in messages.
add_offsets <- function(a, b, name = "offset() in the formula") {
  if (is.null(a) || is.null(b)) return(if (is.null(a)) b else a)
  plain <- function(v) {
    if (is.data.frame(v)) v <- as.matrix(v)
    if (!is.numeric(v)) stop_data(sprintf("`offset` must be numbers, not %s", describe(v)), "offset")
    if (is.object(v)) as_numbers(v, "offset") else v
  }
  a <- plain(a)
  b <- plain(b)
  if (NROW(a) != NROW(b)) {
    stop_data(sprintf("`offset` has %s, but %s has %.0f", counted(NROW(a), "value"), name, NROW(b)), "offset")
  }
  a + b
}

# Doubles of numbers. An integer64 keeps its value in bits that only its package can read.
as_numbers <- function(x, what) {
  x <- meant_values(x, sprintf("`%s`", what), what, character(0))
  if (inherits(x, "integer64") && !requireNamespace("bit64", quietly = TRUE)) {
    stop_data(sprintf("`%s` is of class integer64, which needs the package bit64", what), what)
  }
  n <- length(x)
  x <- if (inherits(x, "integer64")) suppressWarnings(as.double(x)) else as.double(x) # it warns of rounding
  if (length(x) != n) stop_data(sprintf("`%s` has %s, but %.0f as numbers", what, counted(n, "value"), length(x)), what)
  x
}

# Numbers in the order of the values of a column, NA where it is missing.
order_numbers <- function(v) {
  if (inherits(v, "integer64")) return(as_numbers(v, "a column"))
  as.double(unclass(if (inherits(v, "POSIXlt")) as.POSIXct(v) else v))
}

check_time_or_group <- function(time, group) {
  if (is.null(time) || is.null(group)) return(invisible())
  stop_unsupported(paste("`time` and `group` cannot be combined: statistics take the rows in the order of `time`, or",
                         "those of a `group` at once; give one of them (the other as NULL)"), "group")
}

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
  hint <- if (sizes) "; give a group for each row, not the sizes of the groups: rep(seq_along(sizes), sizes)"
  check_row_values(group, n_rows, "group", if (is.character(group) && length(group) == 1L) not_a_name else hint)
  kept <- attr(group, "divided")
  show <- if (inherits(group, c("Date", "POSIXct"))) class(group)
  group <- if (inherits(group, "integer64")) {
    as.character(group) # doubles could not keep them apart
  } else if (is.factor(group) && !is.null(ranks_here())) {
    as_utf8(as.character(group), "a level of `group`") # codes are those of a rank's own levels
  } else if (is.character(group)) {
    as_utf8(group, "a text of `group`")
  } else {
    as.vector(unclass(group))
  }
  group <- number_groups(group, show)
  if (!is.null(kept)) attr(group, "divided") <- kept # of the values that these numbers stand for
  group
}

# Orders of rows follow from these numbers. Where rows are left out the others are numbered again, from the first. With
# ranks that have rows of the same group the attribute `divided` says which. show: see divided_group().
number_groups <- function(group, show = NULL) {
  by_rank <- lapply(gather_ranks(list(x = different(group))), `[[`, "x")
  all <- unlist(by_rank)
  divided <- divided_group(by_rank, show)
  out <- place_among(group, if (is.null(divided)) all else unique(all))
  attr(out, "divided") <- divided
  out
}

# The number of groups, by their numbers.
count_groups <- function(group) max(0, numbers_of_ranks(max(0, group)))

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
