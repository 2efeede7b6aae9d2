# Binning: a data frame, a matrix or a sparse matrix becomes a frame of columns, and the engine bins the frame.

n_rows_of <- function(x) {
  if (isS4(x) && methods::is(x, "Matrix")) check_sparse(x)
  n <- if (is.data.frame(x)) .row_names_info(x, 2L) else dim(x)[1L]
  if (is.null(n)) encode_x(x) # raises: neither a data frame nor a matrix
  as.double(n)
}

source_rows <- function(source) if (is.null(source$x)) source$data$n_rows else n_rows_of(source$x)

# About the bytes of the binned data.
bytes_of <- function(source, max_bin) {
  if (is.null(source$x)) return(.Call(C_gbt_dataset_info, data_ptr(source$data))$bytes)
  cell <- if (max_bin > 255) 2 else 1
  if (!isS4(source$x)) return(as.double(n_rows_of(source$x)) * dim(source$x)[2L] * cell)
  slots <- methods::slotNames(source$x)
  filled <- if ("i" %in% slots) length(source$x@i) else if ("j" %in% slots) length(source$x@j) else prod(dim(source$x))
  filled * (2 + cell)
}

# Rows as finish_data() takes them, a list:
#   n_rows       their number; -1 for chunks whose rows were not counted
#   fields       what they come with: label, weight, offset, time, group, position, or NULL
#   exposed      the column of exposures, "" for values that were given, NULL for none
#   sparse_zero  what absent entries are
#   x            the table, or a function of chunks that are tables, where spec has `start`
#   bin          function(weight, disk): the engine's pointer
# There are two readers: table_rows() of tables in memory, chunk_rows() in R/data_source.R.
frame_rows <- function(frame, fields, spec) {
  list(n_rows = frame$n_rows, fields = fields, sparse_zero = if (frame$absent_missing) "missing" else "value",
       bin = function(weight, disk) build_dataset(frame, spec, weight, disk))
}

table_rows <- function(x, fields, spec) {
  its <- NULL
  if (!is.null(fields$exposure)) {
    if (inherits(x, "ArrowTabular")) x <- as.data.frame(x)
    its <- with_exposure(list(x = x, offset = fields$offset, exposure = fields$exposure))
    if (is.null(spec$reference)) x <- its$x # else that has decided which columns are features
    fields$offset <- its$offset
  }
  if (!is.null(fields$strata)) {
    if (inherits(x, "ArrowTabular")) x <- as.data.frame(x)
    of <- with_strata_values(list(x = x, strata = fields$strata))
    if (is.null(spec$reference)) x <- of$x
    fields$label <- with_strata(fields$label, of$strata, of$stratified)
    fields$strata <- NULL
  }
  spec["device"] <- list(if (is.null(spec$path)) plain_device(spec$device))
  c(frame_rows(frame_to_bin(x, spec), fields, spec), list(x = x, exposed = its$exposed))
}

# A gbt_data of rows. `label` is kept as given: what it means is decided by the objective, in training.
finish_data <- function(rows, spec) {
  if (!is.null(rows$strata)) rows$fields$label <- with_strata(rows$fields$label, rows$strata)
  called <- given_or(spec$called, c(label = "label", weight = "weight"))
  kept <- c(check_row_fields(rows$fields, rows$n_rows, called),
            list(exposed = rows$exposed, max_bin = given_or(spec$reference$max_bin, spec$max_bin),
                 sparse_zero = rows$sparse_zero, is_reference = is.null(spec$reference)))
  kept["position"] <- list(check_position(rows$fields$position, rows$n_rows))
  kept$share <- share_here()
  kept["start"] <- list(if (!is.null(spec$start)) spec$start(rows$x, kept$offset, rows$sparse_zero))
  ptr <- rows$bin(kept$weight, disk_of(spec$path, spec$memory, kept, spec$codec))
  # Complains now rather than in training.
  .Call(C_gbt_dataset_view, ptr, list(weights = kept$weight, offset = as.vector(kept$offset)), NULL, TRUE)
  gbt_data_of(ptr, kept, spec$path)
}

# The columns as they are binned. shape: of a chunk, see frame_of_ranks().
frame_to_bin <- function(x, spec, shape = NULL) {
  frame <- with_categories(encode_x(x, spec$sparse_zero), spec$cat_features)
  if (!is.null(spec$reference)) return(frame) # it has decided
  frame <- if (is.null(shape)) frame_of_ranks(frame) else frame_of_ranks(frame, shape)
  with_level_counts(align_start_columns(frame, spec$init), spec$level_counts, spec$init)
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

# Everything in memory that is binned goes through here. spec: see data_spec(); device is a choice here (see
# R/arg_cuda.R), NULL for the cpu. disk: see disk_of(). Returns the engine's pointer.
build_dataset <- function(frame, spec, weight, disk) {
  frame <- as_reference(frame, spec$reference)
  threads <- resolve_threads(spec$threads)
  on_device(spec$device, function(where) {
    .Call(C_gbt_dataset_new, frame, reference_ptr(spec), weight, spec$max_bin, spec$page_rows,
          enums$unseen[[spec$unseen]], threads, where, disk)
  })
}

reference_ptr <- function(spec) if (!is.null(spec$reference)) data_ptr(spec$reference)

# The rows of a gbt_data, or those where `mask` is `taken`, with numbers of their own: the engine's pointer. ...:
# vectors by the engine's names of its fields (label, weights, offset, time, group), or NULL; the pointer keeps them
# alive.
dataset_view <- function(data, mask, taken, ..., label = NULL) {
  .Call(C_gbt_dataset_view, data_ptr(data), fields_of_view(list(...), label), mask, taken)
}

# Fields of rows, with what the engine reads of their label.
fields_of_view <- function(fields, label) {
  if (is.null(label)) return(fields)
  if (is.null(matrix_of_label(label))) return(c(fields, fields_of_label(label)))
  its <- fields_of_columns(label, fields$weights)
  fields[names(its)] <- its
  fields
}

# Arguments that only binning uses.
binning_arguments <- c("max_bin", "page_rows", "sparse_zero", "level_counts", "cat_features")
