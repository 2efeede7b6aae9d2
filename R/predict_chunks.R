# Predictions of rows that come in chunks, or that go elsewhere than into memory.

chunked_rows <- function(x) inherits(x, c("gbt_source", "DBIResult")) || is.function(x) || is_arrow_rows(x)

# Rows of a chunk when a table is cut: enough that a call costs little, few enough for some megabytes.
rows_a_chunk <- function(x) max(1024, 4194304 %/% max(1L, ncol(x)))

# list(read = function(i) the next chunk as list(x, offset, exposure) or NULL, close = function()). offset: of all rows.
# Terms of a formula may be of columns of which the model does not know what they were; what these are is known behind
# the last row.
chunks_of <- function(newdata, offset, model) {
  if (!chunked_rows(newdata)) return(list(read = table_chunks(newdata, offset), close = function() NULL))
  if (inherits(newdata, "DBIResult")) newdata <- result_source(newdata)
  if (is_arrow_rows(newdata)) newdata <- gbt_batches(newdata)
  source <- if (inherits(newdata, "gbt_source")) {
    known <- is.null(model$terms$features) && is.null(recipe_of(model)) # its columns are those of the source
    if (known) stream_source(newdata, model) else read_source(newdata)
  }
  rows <- 0
  next_chunk <- function(i) {
    chunk <- if (is.null(source)) chunk_at(newdata, i) else as_chunk(source$read(i))
    if (is.null(chunk)) {
      if (!is.null(offset) && NROW(offset) != rows) {
        stop_argument(sprintf("`offset` has %s for %s", counted(NROW(offset), "row"), counted(rows, "row")), "offset")
      }
      return(NULL)
    }
    n <- n_rows_of(chunk$x)
    if (!is.null(offset) && !is.null(chunk$offset)) {
      stop_argument("`offset` comes with the chunks, and is given as well", "offset")
    }
    its <- if (is.null(offset)) chunk$offset else if (rows + n <= NROW(offset)) part_of_rows(offset, rows, n)
    if (!is.null(offset) && is.null(its)) {
      stop_argument(sprintf("`offset` has %s, but chunk %d ends with row %.0f", counted(NROW(offset), "row"), i,
                            rows + n), "offset")
    }
    rows <<- rows + n
    list(x = chunk$x, offset = its, exposure = chunk$exposure)
  }
  list(read = next_chunk, close = if (is.null(source)) function() NULL else source$close)
}

# Of a vector or a matrix.
part_of_rows <- function(x, before, n) {
  rows <- before + seq_len(n)
  if (length(dim(x)) == 2L) x[rows, , drop = FALSE] else x[rows]
}

table_chunks <- function(x, offset) {
  n <- if (length(dim(x)) == 2L) nrow(x) else NA
  if (is.na(n)) stop_data(sprintf("`newdata` is %s; give a data frame, a matrix or a source", describe(x)), "newdata")
  if (!is.null(offset) && NROW(offset) != n) {
    stop_argument(sprintf("`offset` has %s for %s", counted(NROW(offset), "row"), counted(n, "row")), "offset")
  }
  size <- rows_a_chunk(x)
  function(i) {
    before <- (i - 1) * size
    if (before >= n && i > 1) return(NULL)
    rows <- before + seq_len(min(size, n - before))
    list(x = x[rows, , drop = FALSE], offset = if (!is.null(offset)) part_of_rows(offset, before, length(rows)))
  }
}

# A chunk as a list, or NULL.
as_chunk <- function(chunk) if (is.null(chunk) || is_chunk_list(chunk)) chunk else list(x = chunk)

# one: function(x, offset, exposure) -> predictions of a chunk by the model. What predict() returns.
predict_by_chunks <- function(newdata, offset, output, model, one) {
  sink <- sink_of(output)
  on.exit(sink$drop())
  chunks <- chunks_of(newdata, offset, model)
  on.exit(chunks$close(), add = TRUE)
  before <- 0
  warned <- character(0)
  once <- function(w) {
    if (w$kind %in% warned) invokeRestart("muffleWarning")
    warned <<- c(warned, w$kind)
  }
  for (i in seq_len(.Machine$integer.max)) {
    chunk <- chunks$read(i)
    if (is.null(chunk)) break
    predicted <- function() one(chunk$x, chunk$offset, chunk$exposure)
    watched <- function() withCallingHandlers(predicted(), gbt_warning_offset = once, gbt_warning_unseen = once)
    out <- try_else(watched(), function(e) {
      e$message <- sprintf("%s (in chunk %d, which begins with row %.0f)", conditionMessage(e), i, before + 1)
      stop(e)
    })
    sink$put(out, before)
    before <- before + NROW(out)
  }
  if (i == 1L) stop_data("`newdata` is a function of chunks, and its first one is NULL: there are no rows", "newdata")
  sink$end()
}

# Where predictions go: put(predictions of a chunk, rows before it), end() gives what predict() returns, drop() is
# called in any case.
sink_of <- function(output) {
  if (is.null(output)) return(memory_sink())
  if (is.function(output)) return(function_sink(output))
  if (is_text(output) && nzchar(output)) return(csv_sink(output))
  given <- if (is.character(output)) quote_value(output) else describe(output)
  stop_argument(sprintf("`output` must be a function, the path of a file, or NULL, not %s", given), "output")
}

memory_sink <- function() {
  parts <- list()
  list(put = function(out, before) parts[[length(parts) + 1L]] <<- out, end = function() join_predictions(parts),
       drop = function() NULL)
}

join_predictions <- function(parts) {
  if (length(parts) == 1L) return(parts[[1L]])
  if (is.matrix(parts[[1L]])) return(do.call(rbind, parts))
  if (is.array(parts[[1L]]) && length(dim(parts[[1L]])) > 2L) return(join_arrays(parts))
  if (!is.factor(parts[[1L]])) return(unlist(parts))
  codes <- unlist(lapply(parts, function(p) stats::setNames(as.integer(p), names(p))))
  structure(codes, levels = levels(parts[[1L]]), class = class(parts[[1L]]))
}

function_sink <- function(fn) {
  n <- 0
  list(put = function(out, before) {
    n <<- before + NROW(out)
    try_else(fn(out, before + 1), function(e) stop(own_error(e, "output")))
  }, end = function() invisible(n), drop = function() NULL)
}

# A file of values with commas, packed where its name ends with .gz. It gets its name when it is complete, and is
# written as gbt_save() writes: see src/r_file_write.c.
csv_sink <- function(path) {
  draft <- .Call(C_gbt_draft_open, full_path(path))
  packed <- if (grepl("[.]gz$", path)) gzip_writer(draft)
  write <- function(lines) {
    .Call(C_gbt_check_interrupt)
    if (is.null(packed)) .Call(C_gbt_draft_put, draft, lines) else packed$put(lines)
  }
  n <- 0
  headed <- FALSE
  put <- function(out, before) {
    if (!headed) write(csv_head(out))
    headed <<- TRUE
    size <- csv_rows_at_once(out)
    for (from in seq(1, by = size, length.out = ceiling(NROW(out) / size))) {
      write(csv_lines(part_of_rows(out, from - 1, min(size, NROW(out) - from + 1))))
    }
    n <<- before + NROW(out)
  }
  end <- function() {
    if (!is.null(packed)) packed$end()
    .Call(C_gbt_draft_end, draft)
    invisible(n)
  }
  list(put = put, end = end, drop = function() .Call(C_gbt_draft_drop, draft))
}

# Lines as the members of a gzip file, one for every megabyte: whatever reads such files takes members for one.
gzip_writer <- function(draft, most = 2^20) {
  held <- list()
  n <- 0
  end <- function() {
    if (n > 0) .Call(C_gbt_draft_put, draft, gzip_member(unlist(held)))
    held <<- list()
    n <<- 0
  }
  put <- function(lines) {
    bytes <- charToRaw(paste0(lines, "\n", collapse = ""))
    held[[length(held) + 1L]] <<- bytes
    n <<- n + length(bytes)
    if (n >= most) end()
  }
  list(put = put, end = end)
}

# See RFC 1952: a head, the deflated bytes, their CRC-32 and their number. memCompress() puts two bytes before the
# deflated ones, and four after them.
gzip_member <- function(bytes) {
  packed <- memCompress(bytes, "gzip")
  c(as.raw(c(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)), packed[3:(length(packed) - 4L)], .Call(C_gbt_gzip_tail, bytes))
}

# Rows that are about a megabyte of text: a time limit or Ctrl-C ends the work between two such pieces.
csv_rows_at_once <- function(out) {
  texts <- if (is.factor(out)) levels(out) else if (is.character(out)) out else character(0)
  width <- max(25, nchar(texts, "bytes"))
  max(1, 2^20 %/% (width * max(1L, NCOL(out))))
}

csv_head <- function(out) {
  if (!is.matrix(out)) return("prediction")
  plain <- if (is.integer(out)) "tree_%d" else "output_%d"
  names <- if (is.null(colnames(out))) sprintf(plain, seq_len(ncol(out))) else colnames(out)
  paste(csv_texts(names), collapse = ",")
}

csv_lines <- function(out) {
  columns <- if (is.matrix(out)) lapply(seq_len(ncol(out)), function(j) out[, j]) else list(out)
  do.call(paste, c(unname(lapply(columns, csv_values)), sep = ","))
}

# Numbers by as few digits as give the same number again.
csv_values <- function(v) {
  if (is.factor(v) || is.character(v)) return(csv_texts(as.character(v)))
  if (!is.double(v)) return(ifelse(is.na(v), "NA", as.character(unname(v))))
  text <- sprintf("%.15g", v)
  more <- which(is.finite(v))
  more <- more[as.numeric(text[more]) != v[more]]
  text[more] <- sprintf("%.17g", v[more])
  text
}

csv_texts <- function(text) {
  text <- enc2utf8(text)
  quoted <- grepl("[\",\r\n]", text, useBytes = TRUE)
  text[quoted] <- paste0("\"", gsub("\"", "\"\"", text[quoted], fixed = TRUE), "\"")
  ifelse(is.na(text), "NA", text)
}
