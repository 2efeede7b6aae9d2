# Sources that are read once: files, queries, batches. Their chunks go to a temporary folder as they come, and the
# engine, which asks for every chunk several times, has them from there: so a query need not give its rows in the same
# order twice, text is parsed once, and the classes of columns are known from all chunks before the first one is used.
#
# A source is a list of class gbt_source:
#   open      function(texts) -> list(pull, close, done, where, name, rows, hint): pull() gives the next data frame,
#             NULL after the last one; close() is called in any case; done() is a share of the whole, NA where that is
#             not known; where() says what is being read; name() is only its name, rows() the number of its rows that
#             pull() has given; hint is what else may help against texts that are not valid. A chunk may have an
#             attribute "problems": see R/data_source_numbers.R. texts: columns that must come as texts
#   retries   may it be opened again, with more columns as texts?
#   texts     names of columns that the user declares to be texts
#   files     names of the files, for print(); NULL: it has none
#   about     a text for print(), such as the query; NULL: there is none
#   peek      function() -> some of the first rows, at little cost, for print(); NULL: that would not be cheap
#   roles     list by role (label, weight, offset, exposure, time, group) of names of columns
#   response  function(data frame of the columns of the label, of all rows) -> the response, such as the times of a Surv
#             object; NULL: the label is one column
#   columns   names of the columns to take; NULL: all that have no role
#   progress  TRUE: tell how far it is
#   part      function(rank, size) -> the source of a rank's part of the rows, for gbt_ranks(share = "split"); NULL: it
#             cannot be cut

# roles: some may be NULL.
new_source <- function(open, retries, roles, columns, progress, texts = NULL, files = NULL, about = NULL,
                       peek = NULL, part = NULL) {
  roles <- roles[!vapply(roles, is.null, NA)]
  for (role in names(roles)) {
    most <- switch(role, offset = Inf, label = 3, 1)
    if (!are_names(roles[[role]]) || length(roles[[role]]) > most || length(roles[[role]]) < 1L) {
      stop_argument(sprintf("`%s` must be the name of a column%s, not %s", role,
                            if (role == "label") ", or those of times and events, c(\"time\", \"status\")" else "",
                            quote_value(roles[[role]])), role)
    }
  }
  label <- label_role(roles$label)
  if (!is.null(columns) && !are_names(columns)) {
    stop_argument("`columns` must be names of columns, each once", "columns")
  }
  if (!is.null(texts) && !are_names(texts)) stop_argument("`texts` must be names of columns, each once", "texts")
  structure(class = "gbt_source", list(open = open, retries = retries, roles = roles, response = label$response,
                                       columns = columns, texts = texts, files = files, about = about, peek = peek,
                                       part = part, progress = check_flag(progress, "progress")))
}

# A reader, see `open` above, that counts the rows of pull(rows given so far). n_rows: their number, where it is known.
rows_reader <- function(name, pull, close, n_rows) {
  rows <- 0
  count <- function() {
    chunk <- pull(rows)
    if (!is.null(chunk)) rows <<- rows + nrow(chunk)
    chunk
  }
  done <- function() if (is.null(n_rows) || rows > n_rows) NA_real_ else rows / max(n_rows, 1) # the count was too small
  list(pull = count, close = close, done = done, where = function() sprintf("%s, after row %.0f", name, rows),
       name = function() name, rows = function() rows, hint = "")
}

stop_no_split <- function() {
  stop_unsupported(paste("`share = \"split\"` of gbt_ranks() takes a data frame, a matrix or gbt_files(); else leave",
                         "`share` out and give each rank its own rows, such as those of the query",
                         "sprintf(\"SELECT * FROM rows WHERE id %% %d = %d\", ranks$size, ranks$rank)"), "share")
}

# The part of this rank, where all ranks were given the same source.
own_source <- function(source) {
  if (!splits_rows() || isTRUE(source$is_part)) return(source)
  if (is.null(source$part)) stop_no_split()
  share <- share_here()
  part <- source$part(share[1L], share[2L])
  source[c("open", "files")] <- unclass(part)[c("open", "files")] # roles and columns may have been added
  source$is_part <- TRUE
  source
}

# The columns of the roles that the function that calls was given, by name.
roles_given <- function(frame = parent.frame()) {
  force(frame)
  lapply(stats::setNames(nm = c("label", "weight", "offset", "exposure", "time", "group")), names_given, frame = frame)
}

# The next chunk that has rows, or NULL.
next_rows <- function(reader) {
  repeat {
    chunk <- reader$pull()
    if (is.null(chunk) || nrow(chunk) > 0L) return(chunk)
  }
}

# The source with a response. role: of label_role().
with_label <- function(source, role) {
  source <- with_role(source, "label", role$columns)
  source["response"] <- list(role$response)
  source
}

# The source with one more role for a column.
with_role <- function(source, role, name) {
  check_source(source)
  if (!is.null(source$roles[[role]])) {
    stop_argument(sprintf("`%s` is set by the source and by this call; leave one of them out", role), role)
  }
  source$roles[[role]] <- as_utf8(name, sprintf("`%s`", role))
  source
}

#' @export
print.gbt_source <- function(x, ...) {
  check_source(x)
  cat("<gbt_source> a source of rows for gbt_train() and gbt_data()\n")
  if (length(x$files)) {
    size <- format(structure(sum(file.size(x$files), na.rm = TRUE), class = "object_size"), units = "auto")
    cat(sprintf("%s, %s: %s\n", counted(length(x$files), "file"), size, enumerate(printable(x$files), 3L, "\"")))
  }
  if (!is.null(x$about)) cat(printable(x$about), "\n", sep = "")
  kinds <- kinds_at_first(x)
  with_kinds <- function(names) {
    kind <- ifelse(names %in% names(kinds), sprintf(" (%s)", kinds[names]), "")
    paste0("`", printable(names), "`", kind)
  }
  columns <- if (length(kinds)) feature_columns(x, names(kinds)) else x$columns
  lists <- c(x$roles, list(columns = columns))
  for (what in names(lists)[lengths(lists) > 0L]) {
    cat(sprintf("%s: %s\n", what, enumerate(with_kinds(lists[[what]]), 8L, "")))
  }
  if (length(x$texts)) cat(sprintf("texts: %s\n", enumerate(printable(x$texts), 8L)))
  invisible(x)
}

# The kinds of the columns in the first rows, texts by name; none where they cannot be read at little cost.
kinds_at_first <- function(source) {
  rows <- if (!is.null(source$peek)) try_else(source$peek(), function(problem) NULL)
  if (is.null(rows)) return(character(0))
  kind <- vapply(rows, chunk_kind, "")
  kind[names(kind) %in% source$texts] <- "character"
  words <- c(none = "missing", double = "number", integer = "integer", character = "text", dates = "date",
             times = "time")
  stats::setNames(ifelse(kind %in% names(words), words[kind], kind), names(rows))
}

# The type of a column, as far as chunks must agree.
chunk_kind <- function(x) {
  if (is.logical(x) && !is.object(x)) return(if (all(is.na(x))) "none" else "logical")
  if (inherits(x, "integer64")) return("integer64")
  if (is.ordered(x)) return("ordered factor")
  if (is.factor(x)) return("factor")
  if (is.object(x)) return(class(x)[1L])
  if (is.list(x)) return("list")
  if (is.character(x)) kind_of_texts(x) else typeof(x)
}

# The kinds of the columns of a chunk; see check_texts() for what is refused. declared: columns that the user declares
# to be texts.
chunk_kinds <- function(chunk, declared, reader) {
  check_texts(chunk, reader)
  declared <- intersect(declared, names(chunk))
  for (name in declared) {
    its <- chunk[[name]]
    if (is.character(its) || is.factor(its) || (is.logical(its) && all(is.na(its)))) next
    stop_argument(sprintf("`texts` names column `%s`, which is of class %s in %s; make it a column of texts there",
                          name, class(its)[1L], reader$name()), "texts")
  }
  kinds <- vapply(chunk[setdiff(names(chunk), declared)], chunk_kind, "")
  kinds[declared] <- "character"
  kinds[names(chunk)]
}

# Texts must be valid in their encoding, else they could never be matched again.
check_texts <- function(chunk, reader) {
  for (name in names(chunk)[vapply(chunk, is.character, NA)]) {
    at <- which(is_broken_text(chunk[[name]]))[1L]
    if (is.na(at)) next
    stop_data(sprintf(paste("%s, row %.0f: the text \"%s\" in column `%s` is not valid in its encoding; convert it to",
                            "UTF-8%s"), reader$name(), row_in_reader(chunk, at, reader), printable(chunk[[name]][at]),
                      name, reader$hint), name)
  }
}

# The number of row `at` of the last chunk in what is being read.
row_in_reader <- function(chunk, at, reader) reader$rows() - nrow(chunk) + at

# Numbers that the chunk has and doubles do not: list by column, with their places.
problems_of <- function(chunk, reader) {
  lapply(attr(chunk, "problems"), function(its) {
    c(its, list(row = row_in_reader(chunk, its$at, reader), name = reader$name()))
  })
}

# Texts may all be dates or times, as files have them.
kind_of_texts <- function(x) {
  x <- x[!is.na(x)]
  if (length(x) == 0L || nchar(x[1L]) < 10L || !all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}", x))) return("character")
  day <- as.Date(substr(x, 1L, 10L), format = "%Y-%m-%d")
  if (anyNA(day)) return("character")
  if (all(nchar(x) == 10L)) return("dates")
  timed <- "^.{10}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z?)?$"
  if (all(grepl(timed, x)) && !anyNA(as_times(x))) "times" else "character"
}

as_times <- function(x) {
  text <- sub("Z$", "", sub("T", " ", x, fixed = TRUE))
  short <- !is.na(text) & nchar(text) == 10L
  text[short] <- paste(text[short], "00:00:00")
  as.POSIXct(text, format = "%Y-%m-%d %H:%M:%OS", tz = "UTC")
}

# The kind of a column that is `a` in some chunks and `b` in another; NA where they do not fit.
joined_kind <- function(a, b) {
  if (a == b || b == "none") return(a)
  if (a == "none") return(b)
  wider <- list(c("integer", "double"), c("integer", "integer64"), c("dates", "times"), c("dates", "character"),
                c("times", "character"))
  for (pair in wider) if (setequal(pair, c(a, b))) return(pair[2L])
  NA_character_
}

# A column of a chunk as what it is in all of them.
as_kind <- function(x, kind) {
  switch(kind,
    dates = as.Date(as.character(x)), times = as_times(as.character(x)), character = as.character(x),
    double = as.double(x), integer = as.integer(x), integer64 = bit64::as.integer64(x),
    factor = if (is.factor(x)) x else factor(rep(NA_character_, length(x))),
    Date = as.Date(x), POSIXct = if (inherits(x, "POSIXct")) x else as.POSIXct(as.double(x), origin = "1970-01-01"),
    x)
}

# Reads everything once. list(n = chunks, kinds = by column, texts = columns to be read as texts; NULL: it is good).
store_chunks <- function(source, folder, texts) {
  reader <- source$open(texts)
  on.exit(reader$close())
  tell <- progress_printer(source$progress)
  kinds <- NULL
  again <- character(0)
  blank <- character(0) # columns with nothing but NA in a chunk
  n <- 0L
  rows <- 0
  at <- list()
  problems <- list()
  n_rows <- integer(0)
  while (!is.null(chunk <- next_rows(reader))) {
    if (is.null(kinds)) check_roles(source, names(chunk), reader$where())
    now <- chunk_kinds(chunk, source$texts, reader)
    if (is.null(kinds)) kinds <- now
    if (!identical(names(now), names(kinds))) stop_other_columns(names(kinds), names(now), reader$where())
    joined <- mapply(joined_kind, kinds, now)
    bad <- names(kinds)[is.na(joined)]
    if (length(bad) && !source$retries) {
      stop_data(sprintf("column `%s` is of class %s at first and of class %s in %s; make it one of them", bad[1L],
                        kinds[[bad[1L]]], now[[bad[1L]]], reader$where()), bad[1L])
    }
    again <- union(again, bad)
    blank <- union(blank, names(now)[now == "none"])
    kinds <- replace(joined, is.na(joined), "character")
    problems <- utils::modifyList(problems_of(chunk, reader), problems) # the first one of a column
    n <- n + 1L
    rows <- rows + nrow(chunk)
    if (length(again) == 0L) at[[n]] <- write_chunk(chunk, folder, n)
    n_rows[n] <- nrow(chunk)
    tell(rows, reader)
  }
  if (n == 0L && !is.null(ranks_here())) return(list(n = 0L)) # another rank may have some
  if (n == 0L) stop_data("the source has no rows", "x")
  numbers <- names(kinds)[kinds %in% c("double", "integer")]
  refuse_lost_numbers(problems, intersect(used_columns(source, names(kinds)), numbers))
  # a blank is distinguished from a missing value by how the column is read
  if (source$retries) again <- setdiff(union(again, intersect(blank, names(kinds)[kinds == "character"])), texts)
  tell(rows, reader, end = TRUE)
  list(n = n, n_rows = n_rows, at = at, kinds = kinds, texts = if (length(again)) again)
}

chunk_file <- function(folder, i) file.path(folder, sprintf("%d.bin", i))

# Writes column after column, so that a pass over some columns reads only those. Gives the position of each, by name.
write_chunk <- function(chunk, folder, i) {
  write_columns <- function() {
    con <- file(chunk_file(folder, i), "wb")
    on.exit(close(con))
    at <- numeric(length(chunk))
    for (j in seq_along(chunk)) {
      at[j] <- seek(con, NA, rw = "write")
      serialize(chunk[[j]], con, xdr = FALSE)
    }
    stats::setNames(at, names(chunk))
  }
  try_else(suppressWarnings(write_columns()), function(e) {
    stop(gbt_error("io", sprintf(paste("cannot keep rows in the temporary folder \"%s\": %s; set TMPDIR to a place",
                                       "with more room before R starts"), folder, conditionMessage(e)), folder))
  })
}

# The columns of a chunk, by name.
read_columns <- function(folder, i, at) {
  con <- file(chunk_file(folder, i), "rb")
  on.exit(close(con))
  lapply(at, function(place) {
    seek(con, place)
    unserialize(con)
  })
}

stop_other_columns <- function(first, now, where) {
  lacks <- setdiff(first, now)
  more <- setdiff(now, first)
  what <- if (length(lacks)) sprintf("no column `%s`", lacks[1L]) else
    if (length(more)) sprintf("a column `%s` that the rows before do not have", more[1L]) else
      "its columns in another order"
  stop_data(sprintf("%s has %s", where, what), "x")
}

check_roles <- function(source, names, where) {
  twice <- names[duplicated(names)]
  if (length(twice)) stop_data(sprintf("%s has two columns called `%s`", where, twice[1L]), twice[1L])
  for (role in c(names(source$roles), "columns", "texts")) {
    wanted <- if (role %in% c("columns", "texts")) source[[role]] else source$roles[[role]]
    missing <- setdiff(wanted, names)
    if (length(missing)) {
      stop_argument(sprintf("`%s` names `%s`, which is not a column; there are %s%s", role, missing[1L],
                            enumerate(names, 8L), suggest(missing[1L], names)), role)
    }
  }
}

# The source with its first rows: list(rows = the first chunk that has some, on a rank without rows one of another rank
# without its rows; source = the same source, which gives these rows first; close = function(), for a source that is not
# read after all).
begun_source <- function(source) {
  source <- own_source(check_source(source))
  reader <- source$open(source$texts)
  rows <- try_else(next_rows(reader), function(problem) {
    reader$close()
    stop(problem)
  })
  head <- if (is.null(ranks_here())) rows else head_of_ranks(rows)
  if (is.null(head)) {
    reader$close()
    stop_data(paste0("the source has no rows", if (!is.null(ranks_here())) " on any rank"), "x")
  }
  open <- source$open
  source$open <- function(texts) {
    if (is.null(reader)) return(open(texts))
    its <- reader
    reader <<- NULL
    pull <- its$pull
    first <- TRUE
    its$pull <- function() {
      if (!first) return(pull())
      first <<- FALSE
      rows
    }
    its
  }
  list(rows = given_or(rows, head), source = source, close = function() if (!is.null(reader)) reader$close())
}

check_source <- function(source) {
  names_or_none <- function(x) is.null(x) || is_texts(x)
  good <- is.list(source) && is.function(source$open) && is.list(source$roles) && is_flag(source$retries) &&
    is_flag(source$progress) && all(vapply(source$roles, is_texts, NA)) &&
    all(vapply(unclass(source)[c("columns", "texts", "files", "about")], names_or_none, NA)) &&
    all(vapply(unclass(source)[c("peek", "part", "response")], function(f) is.null(f) || is.function(f), NA))
  if (!good) {
    stop_argument("`x` is a source whose fields were changed; make it again", "x")
  }
  source
}

# Rows for prediction, in one pass and without a folder, since the columns are those of the model. list(read, close) as
# from read_source(), but chunks must be read in order, and of the roles they have only offset and exposure.
stream_source <- function(source, model, kept = character(0)) {
  check_source(source)
  tags <- stats::setNames(model$feature_types, model$feature_names)
  reader <- source$open(union(source$texts, names(tags)[tags %in% c("factor", "ordered", "character")]))
  tell <- progress_printer(source$progress)
  rows <- 0
  columns <- NULL
  read <- function(i) {
    chunk <- next_rows(reader)
    tell(rows, reader, end = is.null(chunk))
    if (is.null(chunk)) {
      if (is.null(columns)) stop_data("the source has no rows", "newdata")
      return(NULL)
    }
    if (is.null(columns)) {
      check_roles(source, names(chunk), reader$where())
      columns <<- names(chunk)
    }
    if (!identical(columns, names(chunk))) stop_other_columns(columns, names(chunk), reader$where())
    check_texts(chunk, reader)
    refuse_lost_numbers(problems_of(chunk, reader), union(used_columns(source, names(tags)), kept))
    attr(chunk, "problems") <- NULL
    rows <<- rows + nrow(chunk)
    known <- intersect(names(chunk), names(tags))
    chunk[known] <- Map(restore_times, chunk[known], tags[known])
    added <- source$roles[names(source$roles) %in% c("offset", "exposure")]
    for (name in unlist(added)) if (chunk_kind(chunk[[name]]) == "none") chunk[[name]] <- as.double(chunk[[name]])
    with_roles(source, chunk, added)
  }
  list(read = read, close = reader$close)
}

# Texts of files that are dates or times where the model has such a column.
restore_times <- function(x, tag) {
  if (!is.character(x) || !is_time(tag)) return(x)
  kind <- kind_of_texts(x)
  as_kind(x, if (kind == "dates" && tag == "POSIXct") "times" else kind)
}

# list(read = function(i), as gbt_data() takes it; close = function()).
read_source <- function(source) {
  source <- own_source(check_source(source))
  folder <- tempfile("gbt-rows-")
  dir.create(folder)
  close <- function() unlink(folder, recursive = TRUE)
  done <- FALSE
  on.exit(if (!done) close())
  first <- store_chunks(source, folder, source$texts)
  if (!is.null(first$texts)) first <- store_chunks(source, folder, union(source$texts, first$texts))
  if (!is.null(first$texts)) {
    stop_data(sprintf("column `%s` was read differently the second time; does something change the source?",
                      first$texts[1L]), first$texts[1L])
  }
  first <- chunks_of_ranks(first, source, folder)
  zeros <- list(double = numeric(0), integer = integer(0)) # in place of numbers that are not used
  stored <- function(i, wanted = NULL) {
    n <- first$n_rows[i]
    idle <- if (is.null(wanted)) character(0) else
      names(first$kinds)[first$kinds %in% names(zeros) & !names(first$kinds) %in% wanted]
    for (kind in names(zeros)) if (length(zeros[[kind]]) != n) zeros[[kind]] <<- vector(kind, n)
    at <- first$at[[i]]
    chunk <- read_columns(folder, i, at[!names(at) %in% idle])
    chunk <- Map(as_kind, chunk, first$kinds[names(chunk)])
    chunk[idle] <- zeros[first$kinds[idle]]
    structure(chunk[names(at)], class = "data.frame", row.names = .set_row_names(n))
  }
  head <- if (any_rank(first$n == 0L)) head_of_ranks(if (first$n > 0L) stored(1L)) # the chunk of a rank without rows
  done <- TRUE
  read <- function(i, wanted = NULL) {
    if (i > max(first$n, 1L)) return(NULL)
    chunk <- if (first$n == 0L) head else stored(i, wanted)
    if (is.null(wanted)) with_roles(source, chunk) else with_roles(source, chunk, list())
  }
  list(read = structure(read, class = "gbt_chunks"), close = close)
}

# Names of the columns that are features, and of all that are taken.
feature_columns <- function(source, names) {
  if (is.null(source$columns)) setdiff(names, unlist(source$roles, use.names = FALSE)) else source$columns
}

used_columns <- function(source, names) {
  union(feature_columns(source, names), unlist(source$roles, use.names = FALSE))
}

# The chunk with its roles taken out: see chunk_at().
with_roles <- function(source, chunk, roles = source$roles) {
  columns <- feature_columns(source, names(chunk))
  parts <- Map(function(names, role) {
    if (role == "label" && !is.null(source$response)) return(structure(chunk[names], response = source$response))
    if (length(names) == 1L) chunk[[names]] else as.matrix(chunk[names])
  }, roles, names(roles))
  x <- chunk[columns]
  if (length(parts)) c(list(x = x), parts) else x
}

# function(rows, reader, end): a line now and then where progress is asked for.
progress_printer <- function(progress) {
  if (!progress) return(function(...) NULL)
  began <- last <- proc.time()[["elapsed"]]
  function(rows, reader, end = FALSE) {
    now <- proc.time()[["elapsed"]]
    if (!end && now - last < 1) return(NULL)
    last <<- now
    seconds <- max(now - began, 1e-3)
    share <- reader$done()
    left <- if (end || is.na(share) || share <= 0) "" else
      sprintf(", %.0f %%, %.0f s left", 100 * share, seconds / share - seconds)
    bytes <- if (is.null(reader$bytes)) "" else
      sprintf(", %.1f MB, %.1f MB/s", reader$bytes() / 1e6, reader$bytes() / 1e6 / seconds)
    say(sprintf("%s %s rows, %.0f rows/s%s%s", if (end) "read" else paste0(reader$where(), ":"),
                with_commas(rows), rows / seconds, bytes, left))
  }
}
