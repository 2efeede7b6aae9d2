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

# Rows that come in chunks: see frame_rows(). fields: what the user gave besides; exposed: the column of exposures.
chunk_rows <- function(x, fields, spec, exposed = NULL) {
  if (is_column_name(fields$exposure)) {
    exposed <- as_utf8(fields$exposure, "`exposure`")
    x <- exposed_chunks(x, exposed, !is.null(spec$reference))
    fields["exposure"] <- list(NULL)
  }
  is_given <- !vapply(fields, is.null, NA)
  gathered <- gather_fields(x, any(is_given))
  twice <- intersect(names(gathered$fields), names(fields)[is_given])
  if (length(twice)) stop_argument(sprintf("`%s` comes with the chunks, and is given as well", twice[1L]), twice[1L])
  fields <- utils::modifyList(fields, gathered$fields, keep.null = TRUE)
  if (!is.null(fields$exposure)) {
    exposed <- given_or(exposed, "")
    fields$offset <- exposed_offset(fields$offset, fields$exposure, gathered$n_rows)
  }
  column <- NULL # names of the frame's columns
  next_frame <- function(i, wanted) {
    chunk <- if (is.null(wanted) || !inherits(x, "gbt_chunks")) chunk_at(x, i) else
      list(x = x(i, c(column[wanted], spec$cat_features)))
    if (is.null(chunk$x)) return(NULL)
    frame <- as_reference(frame_to_bin(chunk$x, spec), spec$reference)
    column <<- frame$names
    frame
  }
  list(n_rows = gathered$n_rows, fields = fields, exposed = exposed, sparse_zero = spec$sparse_zero,
       start = function(offset) { # of the rows alone: the offset is that of all of them
         start_of_chunks(function(i) chunk_at(x, i)$x, spec$init, offset, spec$sparse_zero,
                         resolve_threads(spec$threads))
       },
       bin = function(weight, disk) {
         .Call(C_gbt_dataset_chunks, next_frame, gathered$n_rows, reference_ptr(spec), weight, spec$max_bin,
               spec$page_rows, enums$unseen[[spec$unseen]], resolve_threads(spec$threads), disk)
       })
}
