# The object of class gbt_data: what gbt_data() and gbt_open() return.

# The pointer of a gbt_data; an error with a way out when the engine's part is gone.
data_ptr <- function(x, parameter = "x") {
  if (!inherits(x, "gbt_data")) stop_argument(sprintf("a gbt_data object is expected, not %s", describe(x)))
  if (typeof(x$ptr) != "externalptr") {
    stop_argument(sprintf(paste("a gbt_data object is expected, but field `ptr` of `%s` is not what gbt_data() put",
                                "there; recreate the object"), parameter), parameter)
  }
  if (is_gone(x)) {
    stop_data(paste("this gbt_data object cannot be used: it was saved and read again, or comes from another process;",
                    "recreate it with gbt_data()"))
  }
  x$ptr
}

# Pointers are compared by address: those that were saved and read again are nil. The nil one is made once: a time limit
# of R's that ends in the middle of new() comes out as a failure of its method selection.
nil_pointer <- methods::new("externalptr")
is_gone <- function(x) identical(x$ptr, nil_pointer)

# The fields of a gbt_data that a user hands over, as those of a model: see R/fit_model_fields.R.
check_data <- function(x, parameter) {
  info <- tryCatch(.Call(C_gbt_dataset_info, data_ptr(x, parameter)),
                   gbt_error_internal = function(e) stop_changed_data("ptr", parameter))
  bad <- names(which(!data_fields_good(unclass(x), info)))
  if (length(bad)) stop_changed_data(bad[1L], parameter)
  x
}

stop_changed_data <- function(field, parameter = "x") {
  stop_argument(sprintf("`%s` is a gbt_data object whose field `%s` was changed; recreate it with gbt_data()",
                        parameter, field), parameter)
}

# info: what the engine says of its part. The label is checked with the objective, in training.
data_fields_good <- function(d, info) {
  numbers <- function(x, n) is.null(x) || (is.double(x) && !is.object(x) && length(x) %in% n)
  n <- info$n_rows
  c(n_rows = is_number(d$n_rows, n, n), feature_names = identical(d$feature_names, info$names),
    feature_types = identical(d$feature_types, info$tag), weight = numbers(d$weight, n), time = numbers(d$time, n),
    group = numbers(d$group, n), exposed = is.null(d$exposed) || (is_text(d$exposed) && !is.null(d$offset)),
    offset = numbers(d$offset, n) || (is.matrix(d$offset) && numbers(d$offset, n * ncol(d$offset))),
    max_bin = is_whole(d$max_bin, 2, exact_bins), is_reference = is_flag(d$is_reference),
    sparse_zero = is_text(d$sparse_zero) && d$sparse_zero %in% c("value", "missing"),
    level_counts = identical(d$level_counts, info$level_counts), start = is_valid_start(d$start, n),
    share = is_valid_share(d$share), position = is.null(d$position) || are_positions(d$position, n))
}

# Are they positions of n rows, as of check_position()?
are_positions <- function(x, n) {
  is.factor(x) && identical(names(attributes(x)), c("levels", "class")) && is.integer(unclass(x)) && length(x) == n &&
    is_texts(levels(x)) && !anyNA(x)
}

# Fails unless the data, a gbt_data called `what`, are the share of this rank, or all rows where there are no ranks.
check_own_share <- function(data, what, parameter) {
  here <- share_here()
  its <- data$share
  if (identical(its, here) || (is.null(here) && its[2L] == 1L)) return(invisible())
  if (is.null(its)) {
    stop_argument(sprintf("%s: the data were made without `ranks`; make them with gbt_data(..., ranks = ranks)", what),
                  parameter)
  }
  text <- sprintf("%s: the data are the share of rank %d of %d", what, its[1L], its[2L])
  if (is.null(here)) stop_argument(paste0(text, "; give `ranks` to this call as well"), parameter)
  stop_argument(sprintf("%s, and this is rank %d of %d; train with the ranks that made the data", text, here[1L],
                        here[2L]), parameter)
}

# Of several ranks, see share_here().
is_valid_share <- function(share) {
  is.null(share) || (is.integer(share) && is.null(attributes(share)) && length(share) == 2L && !anyNA(share) &&
                       share[1L] >= 0L && share[1L] < share[2L])
}

# Scores to go on from, see start_of_rows().
is_valid_start <- function(start, n) {
  if (is.null(start)) return(TRUE)
  is.list(start) && !is.object(start) && identical(names(start), c("model", "score")) && is.raw(start$model) &&
    is.double(start$score) && !is.object(start$score) && (n == 0 || length(start$score) %% n == 0) &&
    is.finite(sum(start$score))
}

gbt_data_of <- function(ptr, kept, path) {
  info <- .Call(C_gbt_dataset_info, ptr)
  structure(class = "gbt_data", c(
    list(ptr = ptr, n_rows = info$n_rows, feature_names = info$names, feature_types = info$tag), kept,
    list(level_counts = info$level_counts, path = path)
  ))
}

# The counts of the columns that have levels, by name.
unseen_of <- function(info) {
  has <- info$type != "numeric"
  stats::setNames(info$unseen[has], info$names[has])
}
