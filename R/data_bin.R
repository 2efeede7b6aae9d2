# Binning: a data frame, a matrix or a sparse matrix becomes a frame of columns, and the engine bins the frame.

n_rows_of <- function(x) {
  if (isS4(x) && methods::is(x, "Matrix")) check_sparse(x)
  n <- if (is.data.frame(x)) .row_names_info(x, 2L) else dim(x)[1L]
  if (is.null(n)) encode_x(x) # raises: neither a data frame nor a matrix
  as.double(n)
}

# About the bytes of the binned data.
bytes_of <- function(source, max_bin) {
  if (is.null(source$x)) return(.Call(C_gbt_dataset_info, data_ptr(source$data))$bytes)
  cell <- if (max_bin > 255) 2 else 1
  if (!isS4(source$x)) return(as.double(n_rows_of(source$x)) * dim(source$x)[2L] * cell)
  slots <- methods::slotNames(source$x)
  filled <- if ("i" %in% slots) length(source$x@i) else if ("j" %in% slots) length(source$x@j) else prod(dim(source$x))
  filled * (2 + cell)
}

# Data of the user's as gbt_data. weight: as the user gave them, of all rows; they count when cuts are chosen. Weights
# of classes and a mask do not: gbt_data() cannot know them.
binned_source <- function(source, args, host, weight) {
  frame <- with_categories(encode_x(source$x, host$sparse_zero), args[["cat_features"]])
  frame <- as_trained_before(frame, args[["init_model"]])
  frame <- with_level_counts(frame, args[["level_counts"]], args[["init_model"]])
  new_gbt_data(frame, weight = weight, max_bin = as.integer(host$max_bin), page_rows = as.integer(host$page_rows),
               threads = args[["threads"]], device = host$device)
}

# A gbt_data as it is: how it was made is decided.
as_prepared <- function(data, args) {
  for (name in c("max_bin", "page_rows", "sparse_zero", "level_counts")) {
    if (!is.null(args[[name]])) {
      stop_argument(sprintf("`%s` is decided when gbt_data is made: gbt_data(x, %s = )", name, name), name)
    }
  }
  check_cat_features(args[["cat_features"]], data$feature_names, .Call(C_gbt_dataset_info, data_ptr(data))$type)
  data
}

# The columns as they are binned. init: the model to go on from, or NULL.
frame_to_bin <- function(x, sparse_zero, cat_features, level_counts, init, reference) {
  frame <- with_categories(encode_x(x, sparse_zero), cat_features)
  if (!is.null(reference)) init <- NULL # it has decided
  with_level_counts(as_trained_before(frame, init), if (is.null(reference)) level_counts else FALSE, init)
}

# The frame with level counts of some columns as further features. wanted: TRUE for all factors and texts, FALSE or NULL
# for none, or names. Going on from a model takes the model's columns and its counts.
with_level_counts <- function(frame, wanted, init = NULL) {
  known <- init$params$level_counts
  if (is.null(wanted) && length(known)) wanted <- known
  columns <- level_count_columns(frame, wanted)
  if (!is.null(init) && !setequal(columns, as.character(known))) {
    stop_argument(sprintf("`level_counts` must be those of `init_model`, %s, or left out",
                          if (length(known)) enumerate(known, quote = "\"") else "FALSE"), "level_counts")
  }
  if (length(columns) == 0L) return(frame)
  frame$derive <- ifelse(frame$names %in% columns, bitwShiftL(1L, enums$feature_kind[["level_count"]]), 0L)
  if (!is.null(init)) frame$statistics <- init$state
  frame
}

level_count_columns <- function(frame, wanted) {
  categorical <- frame$type == enums$feature_type[["categorical"]]
  if (is.null(wanted) || isFALSE(wanted)) return(character(0))
  if (isTRUE(wanted)) return(frame$names[categorical])
  if (!is.character(wanted)) {
    stop_argument("`level_counts` must be TRUE, FALSE or names of columns", "level_counts")
  }
  at <- feature_places(wanted, frame$names, "level_counts")
  wrong <- at[!categorical[at]]
  if (length(wrong)) {
    stop_argument(sprintf(paste("`level_counts` names `%s`, which is not a factor without order or a text; only their",
                                "levels can be counted"), frame$names[wrong[1L]]), "level_counts")
  }
  frame$names[sort(unique(at))]
}

# Everything that is binned goes through here. reference: a gbt_data whose cuts are shared, or NULL.
# device: a choice (see R/cuda.R), NULL for the cpu. disk: see disk_of(). Returns the engine's pointer.
build_dataset <- function(frame, reference = NULL, weight = NULL, max_bin = 255L, page_rows = 0L, unseen = "prior",
                          threads = NULL, device = NULL, disk = NULL) {
  if (!is.null(reference)) {
    known <- .Call(C_gbt_dataset_info, data_ptr(reference))
    frame <- align_frame(frame, known$names, known$tag)
  }
  threads <- resolve_threads(threads)
  on_device(device, function(where) {
    .Call(C_gbt_dataset_new, frame, if (!is.null(reference)) data_ptr(reference), weight, max_bin, page_rows,
          enums$unseen[[unseen]], threads, where, disk)
  })
}

# The rows of a gbt_data, or those where `mask` is `taken`, with numbers of their own: the engine's pointer. ...:
# vectors by the engine's names of its fields (label, weights, offset, time, group), or NULL; the pointer keeps them
# alive.
dataset_view <- function(data, mask, taken, ...) .Call(C_gbt_dataset_view, data_ptr(data), list(...), mask, taken)

# Columns of nothing but NA have the classes that the model to go on from knows, numbers that it took as categories are
# categories, and columns are in its order.
as_trained_before <- function(frame, init) {
  if (is.null(init)) return(frame)
  check_model(init, "init_model")
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
