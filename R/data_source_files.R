# Delimited files as a source: blocks of bytes, cut at the ends of records, parsed by data.table.

#' Rows of delimited text files
#'
#' Says where the rows of [gbt_train()] or [gbt_data()] come from: one or many files of delimited text, plain or packed
#' (`.gz`, `.bz2`, `.xz`; `.zst` through the program `zstd`), each with a line of column names. They are read block by
#' block, so that they need not fit into memory.
#'
#' Blocks are parsed by [data.table::fread()]. All rows of a column decide its class: logical values, whole numbers,
#' numbers, dates (`2020-01-31`), times (`2020-01-31 10:00:00`, taken as UTC), else texts, which become factors. Columns
#' named in `texts` are always texts. `TRUE`, `True` and `true` are the same value. What `na` names is missing; in
#' quotes it is missing as well, except in columns of texts, where `"NA"` in quotes is a text.
#'
#' Numbers with a fraction or an exponent become the nearest double (`1e-400` becomes 0). A whole number that no double
#' holds exactly (`9007199254740993`) is an error, since it would lose digits, and so is a number that is larger than
#' all doubles (`1e400`). Name the column in `texts` to keep these numbers as texts. Columns that are not taken are not
#' checked.
#'
#' Rows are kept in a temporary folder ([tempdir()], 8 bytes a number) until they are binned. Records with too many
#' or too few fields are errors, and so are texts that are not valid in `encoding`.
#'
#' @param files Names of files. All must have the same columns in the same order.
#' @param label,weight,offset,exposure,time,group Names of the columns that are the response, weights and so on, see
#'   [gbt_data()]; several for the offset of several classes, and for the label the arguments of `Surv()`, such as
#'   `c("time", "status")` or `c("start", "stop", "status")`, see [gbt_objectives].
#' @param columns Names of the columns to take; `NULL` for all others.
#' @param texts Names of columns that are texts though they may look like numbers or dates: identifiers, codes.
#' @param sep What separates fields; `NULL`: a tab in files called `.tsv`, `.tab` or `.txt`, else a comma.
#' @param na Texts that mean a missing value.
#' @param quote `TRUE`: fields may be quoted, and quoted fields may contain line ends; a `"` that does not begin a field
#'   is a plain character. `FALSE`: every `"` is a plain character.
#' @param encoding `"UTF-8"` or `"Latin-1"`.
#' @param block_bytes Bytes of text that are read at a time.
#' @param progress Tell, once a second, how many rows and bytes have been read, how fast, and how long it will take.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A source of rows for [gbt_train()], [gbt_data()], [predict()][predict.gbt] and others, see [gbt_sources].
#' @seealso [gbt_data()], [gbt_query()]; `vignette("larger", package = "gbt")`
#' @concept larger than memory
#' @concept CSV files
#' @examples
#' if (requireNamespace("data.table", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".csv")
#'   utils::write.csv(iris, file, row.names = FALSE)
#'   rows <- gbt_files(file, label = "Species")
#'   print(rows)
#'   model <- gbt_train(rows, nrounds = 10, threads = 1)
#'   d <- gbt_data(rows, threads = 1)
#'   print(d)
#'   unlink(file)
#' }
#' @export
gbt_files <- function(files, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL, columns = NULL,
                      texts = NULL, sep = NULL, na = c("", "NA"), quote = TRUE, encoding = c("UTF-8", "Latin-1"),
                      block_bytes = 2^24, progress = FALSE, exposure = NULL, ...) {
  check_source_dots(written_dots(...), names(formals(gbt_files)), "gbt_files()")
  if (!is_texts(files) || length(files) == 0L || !all(nzchar(files))) {
    stop_argument(sprintf("`files` must be names of files, not %s", quote_value(files)), "files")
  }
  if (!is.null(sep) && !(is_text(sep) && nchar(sep, "bytes") == 1L && !sep %in% c("\n", "\r", "\""))) {
    stop_argument(sprintf("`sep` must be one character of ASCII, not %s", quote_value(sep)), "sep")
  }
  if (!is_texts(na)) stop_argument(sprintf("`na` must be texts, not %s", quote_value(na)), "na")
  check_flag(quote, "quote")
  encoding <- match_choice(encoding, c("UTF-8", "Latin-1"), "encoding")
  block_bytes <- check_whole(block_bytes, "block_bytes", 1, 2^30)
  need_package("data.table", "reading delimited files")
  files <- vapply(files, full_path, "", USE.NAMES = FALSE)
  missing <- files[!suppressWarnings(file.exists(files))]
  if (length(missing)) stop(gbt_error("io", sprintf("there is no file \"%s\"", missing[1L]), missing[1L]))
  folder <- files[suppressWarnings(dir.exists(files))]
  if (length(folder)) {
    stop(gbt_error("io", sprintf("\"%s\" is a folder; give its files: list.files(path, full.names = TRUE)", folder[1L]),
                   folder[1L]))
  }
  how <- list(sep = sep, na = na, quote = quote, encoding = encoding, block_bytes = block_bytes)
  roles <- roles_given()
  peek <- function() {
    reader <- open_files(files[1L], replace(how, "block_bytes", min(block_bytes, 2^16)), texts)
    on.exit(reader$close())
    next_rows(reader)
  }
  make <- function(files, part) {
    new_source(function(texts) open_files(files, how, texts), TRUE, roles, columns, progress, texts, files, peek = peek,
               part = part)
  }
  make(files, function(rank, size) make(files[part_of_sizes(file.size(files), size) == rank], NULL))
}

# The rank, from 0, of each of some things of these sizes: runs of consecutive ones, of about the same size. A thing is
# of the rank in whose part its middle is.
part_of_sizes <- function(bytes, size) {
  bytes <- if (sum(bytes) > 0) bytes else rep(1, length(bytes))
  middle <- (cumsum(bytes) - bytes / 2) / sum(bytes)
  pmin(floor(middle * size), size - 1)
}

# A reader of files, one after the other: see new_source().
open_files <- function(files, how, texts) {
  at <- 0L
  file <- NULL
  sizes <- file.size(files)
  plain <- !grepl("\\.(gz|bz2|xz|zst)$", files)
  read <- 0 # bytes of the files before
  pull <- function() {
    repeat {
      if (is.null(file)) {
        if (at == length(files)) return(NULL)
        at <<- at + 1L
        file <<- open_text(files[at], how, texts)
      }
      chunk <- file$pull()
      if (!is.null(chunk)) return(chunk)
      read <<- read + file$bytes()
      last <- file
      file <<- NULL
      last$close()
    }
  }
  name <- function() sprintf("\"%s\"", files[max(at, 1L)])
  bytes <- function() read + (if (is.null(file)) 0 else file$bytes())
  list(
    pull = pull, close = function() if (!is.null(file)) file$close(), bytes = bytes,
    done = function() if (all(plain)) bytes() / max(sum(sizes), 1) else NA_real_,
    where = name, name = name, rows = function() file$rows(),
    hint = if (how$encoding == "UTF-8") "; files in Latin-1 are read with `encoding = \"Latin-1\"`" else ""
  )
}

# The programs that unpack files, by the end of the name.
unpackers <- c(gz = "gzip", bz2 = "bzip2", xz = "xz", zst = "zstd")

# A file as bytes. A program such as gzip unpacks in a process of its own, and its exit status says whether the file is
# complete; without such a program R unpacks. A warning of a connection is an error here: rows would be lost.
open_bytes <- function(path) {
  .Call(C_gbt_check_file, path)
  fail <- function(why) stop(gbt_error("io", sprintf("cannot read \"%s\": %s", path, why), path))
  checked_file <- function(code) {
    withCallingHandlers(try_else(code, function(e) fail(conditionMessage(e))),
                        warning = function(w) fail(conditionMessage(w)))
  }
  how <- unpackers[sub("^.*\\.", "", path)]
  program <- if (is.na(how)) "" else Sys.which(how)
  if (identical(unname(how), "zstd") && !nzchar(program)) {
    stop_unsupported(sprintf("reading \"%s\" needs the program zstd; install it, or unpack the file", path))
  }
  piped <- nzchar(program) && .Platform$OS.type == "unix"
  con <- checked_file(if (piped) pipe(sprintf("%s -dc -- %s 2>/dev/null", shQuote(program), shQuote(path)), "rb") else
    gzfile(path, "rb"))
  close <- function(whole) {
    if (is.null(con)) return(invisible())
    status <- suppressWarnings(base::close(con))
    con <<- NULL
    if (whole && is.numeric(status) && status != 0) fail(sprintf("it is damaged, or not packed by %s", how))
  }
  # at most n bytes; fewer only at the end of the file, where the program's status is checked
  read <- function(n) {
    if (is.null(con)) return(raw(0))
    bytes <- checked_file(readBin(con, "raw", n))
    if (length(bytes) < n) close(TRUE)
    bytes
  }
  list(read = read, close = function() close(FALSE))
}

# Blocks of whole records: next_block() gives list(bytes, counts), NULL at the end; bytes() how many were read.
record_blocks <- function(source, size, quoted_by, unclosed) {
  total <- 0
  rest <- raw(0)
  ended <- FALSE
  next_block <- function() {
    repeat {
      if (ended) return(NULL)
      new <- source$read(size)
      total <<- total + length(new)
      ended <<- length(new) < size
      all <- join(rest, new)
      if (ended) {
        rest <<- raw(0)
        if (length(all) == 0L) return(NULL)
        if (all[length(all)] != as.raw(0x0a)) all <- c(all, as.raw(0x0a))
        return(list(bytes = all, counts = records_of(all, quoted_by)))
      }
      counts <- records_of(all, quoted_by)
      if (counts$end == 0 && length(all) > 16 * max(size, 2^20)) unclosed()
      rest <<- slice(all, counts$end, length(all))
      if (counts$end > 0) return(list(bytes = slice(all, 0, counts$end), counts = counts))
    }
  }
  list(next_block = next_block, bytes = function() total)
}

# A text file: pull() gives its records as data frames.
open_text <- function(path, how, texts) {
  source <- open_bytes(path)
  sep <- if (!is.null(how$sep)) how$sep else if (grepl("\\.(tsv|tab|txt)(\\.[a-z0-9]+)?$", path)) "\t" else ","
  quoted_by <- if (how$quote) sep
  line <- 1 # number of the first line that has not been given
  rows <- 0 # that have been given
  names <- NULL
  unclosed <- function() {
    stop_data(sprintf(paste("\"%s\" has a record without an end in or after line %.0f: a quote is not closed (with",
                            "`quote = FALSE` quotes are plain characters), or lines end with a carriage return only;",
                            "convert them to line feeds"), path, line), "x")
  }
  blocks <- record_blocks(source, how$block_bytes, quoted_by, unclosed)
  next_block <- blocks$next_block
  # Removes the names from the first block of the file; NULL if nothing follows them.
  take_names <- function(block) {
    mark <- as.raw(c(0xef, 0xbb, 0xbf))
    marked <- length(block$bytes) >= 3L && identical(block$bytes[1:3], mark)
    if (marked) block <- block_of(block, 3)
    while (!is.null(block) && is.na(block$counts$first_end)) {
      if (block$counts$end < length(block$bytes)) unclosed()
      line <<- line + block$counts$lines
      block <- next_block()
    }
    if (is.null(block)) stop_data(sprintf("\"%s\" is empty", path), "x")
    top <- slice(block$bytes, block$counts$first, block$counts$first_end)
    names <<- names_of_record(top, path, sep, how)
    before <- block$counts$lines
    block <- block_of(block, block$counts$first_end)
    line <<- line + before - block$counts$lines
    if (length(block$bytes)) block else next_block()
  }
  block_of <- function(block, from) {
    bytes <- slice(block$bytes, from, length(block$bytes))
    list(bytes = bytes, counts = records_of(bytes, quoted_by))
  }
  pull <- function() {
    block <- next_block()
    if (is.null(names)) block <- take_names(block)
    if (is.null(block)) return(NULL)
    if (block$counts$end < length(block$bytes)) unclosed()
    chunk <- parse_block(names, block, path, line, sep, how, texts)
    line <<- line + block$counts$lines
    rows <<- rows + nrow(chunk)
    chunk
  }
  list(pull = pull, close = source$close, bytes = blocks$bytes, rows = function() rows)
}

join <- function(bytes, more) .Call(C_gbt_bytes_join, bytes, 0, length(bytes), more)
slice <- function(bytes, from, to) .Call(C_gbt_bytes_join, bytes, from, to, raw(0))

# See src/r_records.c.
records_of <- function(bytes, sep) {
  n <- .Call(C_gbt_records, bytes, sep)
  list(end = n[1L], records = n[2L], blank = n[3L], lines = n[4L], zeros = n[5L], first = n[6L], first_end = n[7L],
       doubled = n[8L])
}

# Records, parsed by data.table::fread(). While it reads them, two quotes that stand for one are a byte that the records
# do not have, as it leaves both, and so are line feeds in quotes, which it may take for ends of records.
fread_records <- function(bytes, counts, sep, how, ...) {
  marks <- NULL
  if (counts$doubled > 0 || counts$lines > counts$records) {
    marks <- setdiff(as.raw(c(1:8, 14:31)), unique(bytes))
    if (length(marks) < 2L) stop("it has every control character, so it is not a text file")
    marks <- marks[1:2]
    bytes <- .Call(C_gbt_mark_quoted, bytes, sep, marks)
  }
  chunk <- data.table::fread(input = rawToChar(bytes), sep = sep, header = FALSE, quote = if (how$quote) "\"" else "",
                             encoding = how$encoding, data.table = FALSE, showProgress = FALSE, ...)
  for (i in seq_along(marks)) {
    mark <- rawToChar(marks[i])
    for (j in which(vapply(chunk, is.character, NA))) {
      has <- grep(mark, chunk[[j]], fixed = TRUE, useBytes = TRUE)
      has <- has[!is_broken_text(chunk[[j]][has])] # check_texts() refuses the others
      chunk[[j]][has] <- gsub(mark, c("\"", "\n")[i], chunk[[j]][has], fixed = TRUE)
    }
  }
  chunk
}

names_of_record <- function(bytes, path, sep, how) {
  if (any(bytes == as.raw(0))) stop_zero(path, 1)
  fail <- function(c) stop_data(sprintf("\"%s\": cannot read its line of names: %s", path, conditionMessage(c)), "x")
  check_no_letor(bytes, path)
  counts <- records_of(bytes, if (how$quote) sep)
  names <- withCallingHandlers(
    try_else(fread_records(bytes, counts, sep, how, colClasses = "character", na.strings = NULL), fail),
    warning = fail)
  names <- as_utf8(unlist(names, use.names = FALSE), sprintf("a column name of \"%s\"", path))
  empty <- which(names == "") # V2 for the second column, or V2.1 where another one is called V2
  names[empty] <- utils::tail(make.unique(c(names[names != ""], sprintf("V%d", empty))), length(empty))
  if (anyDuplicated(names)) {
    stop_data(sprintf("\"%s\" has two columns called `%s`", path, names[anyDuplicated(names)]), "x")
  }
  names
}

# A file of LETOR or SVMlight has no names: each field says which column it is of.
check_no_letor <- function(bytes, path) {
  top <- rawToChar(utils::head(bytes, 200L))
  if (!grepl("^[-+.0-9eE]+ +(qid:[0-9]+ +)?[0-9]+:[-+.0-9eE]+ *", top, useBytes = TRUE)) return(invisible())
  ours <- if (grepl("qid:", top, fixed = TRUE, useBytes = TRUE)) "LETOR" else "SVMlight"
  stop_data(sprintf(paste("\"%s\" has rows of the format %s (\"2 qid:1 1:0.5\"), which gbt_files() does not read;",
                          "vignette(\"ranking\", package = \"gbt\") shows how to make a matrix of such a file"), path,
                    ours), "x")
}

stop_zero <- function(path, line) {
  stop_data(sprintf("\"%s\" has a zero byte in or after line %.0f: it is not text or is in UTF-16; convert it to UTF-8",
                    path, line), "x")
}

parse_block <- function(names, block, path, line, sep, how, texts) {
  if (block$counts$zeros > 0) stop_zero(path, line)
  fail <- function(why) stop_data(sprintf("\"%s\", in the lines from %.0f on: %s", path, line, why), "x")
  wrong <- sprintf("a record has too many or too few fields; there are %s", counted(length(names), "column"))
  n <- block$counts$records - block$counts$blank
  quoted_by <- if (how$quote) sep
  # blank records are missing values of one column, and nothing of several
  blank <- if (length(names) == 1L && block$counts$blank > 0) .Call(C_gbt_blank_records, block$bytes, quoted_by)
  if (n == 0) {
    missing <- list_frame(stats::setNames(rep(list(NA), length(names)), names), 1L)
    return(missing[rep(1L, length(blank)), , drop = FALSE])
  }
  bytes <- if (block$counts$blank > 0) .Call(C_gbt_drop_blank, block$bytes, quoted_by) else block$bytes
  texts <- intersect(texts, names)
  read <- function(texts) {
    warned <- NULL # reported once it has returned, as it cleans up after itself then
    chunk <- withCallingHandlers(
      try_else(
        fread_records(bytes, block$counts, sep, how, col.names = names, na.strings = how$na,
                      integer64 = "double", stringsAsFactors = FALSE, keepLeadingZeros = FALSE, logical01 = FALSE,
                      colClasses = if (length(texts)) list(character = match(texts, names))),
        function(e) fail(if (grepl("col.names|column", conditionMessage(e))) wrong else conditionMessage(e))),
      warning = function(w) {
        if (is.null(warned)) warned <<- conditionMessage(w)
        invokeRestart("muffleWarning")
      })
    if (!is.null(warned)) fail(if (grepl("field|column", warned)) wrong else warned)
    if (nrow(chunk) != n) fail(wrong)
    chunk
  }
  old <- options(datatable.old.fread.datetime.character = TRUE) # a column is of dates when all of its blocks are
  on.exit(options(old))
  chunk <- with_typed_columns(read(texts), texts, how$na, function(names) read(union(texts, names))[names])
  if (is.null(blank)) return(chunk)
  place <- which(!blank)
  problems <- lapply(attr(chunk, "problems"), function(its) replace(its, "at", place[its$at]))
  chunk <- chunk[ifelse(blank, NA_integer_, cumsum(!blank)), , drop = FALSE]
  attr(chunk, "problems") <- problems
  chunk
}
