# Data that come in chunks: gbt_data(x = function(i) ...).

# What a chunk may be besides a data frame or a matrix: a list of these and numbers of its rows.
chunk_fields <- c("label", "weight", "offset", "exposure", "time", "group")

is_chunk_list <- function(chunk) is.list(chunk) && !is.data.frame(chunk) && !isS4(chunk)

# The chunk as a list(x = , and its fields), or NULL behind the last one.
chunk_at <- function(x, i) {
  chunk <- try_else(x(i), function(e) stop(own_error(e, "x")))
  if (is.null(chunk)) return(NULL)
  if (!is_chunk_list(chunk)) return(list(x = chunk))
  unknown <- setdiff(names(chunk), c("x", chunk_fields))
  if (is.null(chunk$x) || length(unknown) || is.null(names(chunk))) {
    stop_data(sprintf(paste("chunk %d is a list with %s; a chunk is a data frame, a matrix, or a list with `x` and, as",
                            "far as they are wanted, %s"), i, if (length(names(chunk))) enumerate(names(chunk)) else
                              "no names", enumerate(chunk_fields)), "x")
  }
  chunk
}

# Goes through all chunks once when they have fields, or are to be counted: list(n_rows = , fields = named list).
# n_rows: -1 when nobody counted.
gather_fields <- function(x, count) {
  chunk <- chunk_at(x, 1L)
  if (is.null(chunk)) stop_data("`x` is a function of chunks, and x(1) is NULL: there are no chunks", "x")
  names <- setdiff(names(chunk), "x")
  if (length(names) == 0L && !count) return(list(n_rows = -1, fields = list()))
  parts <- list()
  n_rows <- 0
  for (i in seq_len(.Machine$integer.max)) {
    if (is.null(chunk)) break
    if (!setequal(setdiff(names(chunk), "x"), names)) {
      stop_data(sprintf("chunk %d has other parts than chunk 1, which has %s", i, enumerate(c("x", names))), "x")
    }
    n <- n_rows_of(chunk$x)
    for (name in names) {
      if (NROW(chunk[[name]]) != n) {
        stop_data(sprintf("`%s` of chunk %d has %s for %s", name, i, counted(NROW(chunk[[name]]), "value"),
                          counted(n, "row")), name)
      }
    }
    parts[[i]] <- chunk[names]
    n_rows <- n_rows + n
    chunk <- chunk_at(x, i + 1L)
  }
  list(n_rows = n_rows, fields = stats::setNames(lapply(names, function(name) join_parts(parts, name)), names))
}

# Vectors one behind the other; factors get the levels of all of them.
join_parts <- function(parts, name) {
  parts <- lapply(parts, function(part) meant_values(part[[name]], sprintf("`%s` of a chunk", name), name))
  if (length(dim(parts[[1L]])) == 2L) return(do.call(rbind, lapply(parts, as.matrix)))
  if (is.factor(parts[[1L]])) return(unlist(parts, use.names = FALSE))
  do.call(c, parts)
}

# The chunks with their column of this name as their exposures. keep: it stays a column.
exposed_chunks <- function(x, name, keep) {
  force(x)
  function(i) {
    chunk <- chunk_at(x, i)
    if (is.null(chunk)) return(NULL)
    value <- column_of(chunk$x, name)
    if (is.null(value)) stop_no_exposure(name, names_of_table(chunk$x), sprintf("chunk %d does not have", i))
    if (!keep) chunk$x <- without_column(chunk$x, name)
    if (!is.null(chunk$exposure)) stop_argument("`exposure` comes with the chunks, and is given as well", "exposure")
    c(chunk, list(exposure = value))
  }
}

# A gbt_data of chunks. given: list of the fields that the user gave beside them; exposed: the column of exposures.
data_of_chunks <- function(x, given, reference, max_bin, level_counts, cat_features, sparse_zero, unseen, page_rows,
                           threads, path, memory, codec, init = NULL, exposed = NULL) {
  if (is_column_name(given$exposure)) {
    exposed <- as_utf8(given$exposure, "`exposure`")
    x <- exposed_chunks(x, exposed, !is.null(reference))
    given["exposure"] <- list(NULL)
  }
  is_given <- !vapply(given, is.null, NA)
  gathered <- gather_fields(x, any(is_given))
  twice <- intersect(names(gathered$fields), names(given)[is_given])
  if (length(twice)) stop_argument(sprintf("`%s` comes with the chunks, and is given as well", twice[1L]), twice[1L])
  fields <- utils::modifyList(given, gathered$fields, keep.null = TRUE)
  n_rows <- gathered$n_rows
  check_time_or_group(fields$time, fields$group)
  if (!is.null(fields$label)) check_label_length(fields$label, n_rows)
  if (!is.null(fields$exposure)) {
    exposed <- given_or(exposed, "")
    fields$offset <- exposed_offset(fields$offset, fields$exposure, n_rows)
  }
  shape <- dim(fields$offset)
  offset <- check_offset(fields$offset, n_rows)
  if (!is.null(offset)) dim(offset) <- shape
  kept <- list(label = fields$label, weight = check_weight(fields$weight, n_rows), offset = offset, exposed = exposed,
               time = check_time(fields$time, n_rows), group = check_group(fields$group, n_rows),
               max_bin = if (is.null(reference)) max_bin else reference$max_bin, sparse_zero = sparse_zero,
               is_reference = is.null(reference))
  rows_alone <- function(i) chunk_at(x, i)$x # the offset is that of all of them
  kept["start"] <- list(start_of_chunks(rows_alone, init, offset, sparse_zero, resolve_threads(threads)))
  known <- if (!is.null(reference)) .Call(C_gbt_dataset_info, data_ptr(reference))
  column <- NULL # names of the frame's columns
  next_frame <- function(i, wanted) {
    chunk <- if (is.null(wanted) || !inherits(x, "gbt_chunks")) chunk_at(x, i) else
      list(x = x(i, c(column[wanted], cat_features)))
    if (is.null(chunk$x)) return(NULL)
    frame <- frame_to_bin(chunk$x, sparse_zero, cat_features, level_counts, init, reference)
    if (!is.null(known)) frame <- align_frame(frame, known$names, known$tag)
    column <<- frame$names
    frame
  }
  ptr <- .Call(C_gbt_dataset_chunks, next_frame, n_rows, if (!is.null(reference)) data_ptr(reference), kept$weight,
               max_bin, page_rows, enums$unseen[[unseen]], resolve_threads(threads), disk_of(path, memory, kept, codec))
  info <- .Call(C_gbt_dataset_info, ptr)
  structure(class = "gbt_data", c(
    list(ptr = ptr, n_rows = info$n_rows, feature_names = info$names, feature_types = info$tag), kept,
    list(level_counts = info$level_counts, path = path)
  ))
}
