# Predictions that go elsewhere than into memory.

# Where predictions go: see predict_by_chunks().
# model: of several columns or classes, whose names are no paths.
sink_of <- function(output, model) {
  if (is.null(output)) return(memory_sink())
  if (is.function(output)) return(function_sink(output))
  if (is_text(output) && output %in% c(model$columns, model$classes)) {
    stop_argument(sprintf(paste("`output` is the path of a file for predictions, and \"%1$s\" is a %2$s of the model:",
                                "choose it from the result, predict(...)[, \"%1$s\"], or write to a file of this name",
                                "by output = \"./%1$s\""),
                          output, if (output %in% model$columns) "column" else "class"), "output")
  }
  if (is_text(output) && nzchar(output)) return(csv_sink(output))
  given <- if (is.character(output)) quote_value(output) else describe(output)
  stop_argument(sprintf("`output` must be a function, the path of a file, or NULL, not %s", given), "output")
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
