# Queries of a database as a source, through DBI.

#' Rows of a database query
#'
#' Says where the rows of [gbt_train()] or [gbt_data()] come from: a query of a database that the package DBI has a
#' connection to, such as SQLite, DuckDB, PostgreSQL or ODBC. Rows are fetched in chunks, so that they need not fit into
#' memory, and once.
#'
#' Rows are kept in a temporary folder ([tempdir()]) until they are binned. The order of the rows decides which
#' rows are drawn where training draws any, so an `ORDER BY` makes models repeatable where the database does not.
#'
#' Warnings of the database's driver are warnings (class `gbt_warning_database`). If the driver warns that it changed
#' values, as for a column with values of several types (SQLite allows that), it is an error: `CAST` the column in the
#' query.
#'
#' The package duckdb makes a data frame of all rows before it gives the first ones. So rows of a query of DuckDB go to
#' a temporary table of the database, which may be larger than memory, and are read from there. The table is dropped
#' afterwards. Statements that DuckDB cannot describe (`CALL`, `SHOW`) are fetched as a whole.
#'
#' Tried with RSQLite and with duckdb 1.5.5.
#'
#' @param connection A connection of package DBI.
#' @param statement The query, one text; or a table, as [DBI::Id()].
#' @param params Values of the query's parameters, see [DBI::dbBind()].
#' @param chunk_rows Rows that are fetched at a time.
#' @param n_rows With `progress`: how many rows there are, so that it tells the share of them and the time left: a
#'   number, or `TRUE` to have the database count them first, which may take as long as the query. `NULL` asks where
#'   that costs little: for a table, and for DuckDB.
#' @param texts Names of columns of texts that stay texts though all of them look like dates or times. Other columns of
#'   texts become dates (`2020-01-31`) or times (`2020-01-31 10:00:00`) where all of their values are.
#' @inheritParams gbt_files
#' @return A source of rows for [gbt_train()], [gbt_data()], [predict()][predict.gbt] and others, see [gbt_sources].
#' @seealso [gbt_data()], which takes a connection and a query as well; [gbt_files()];
#'   `vignette("larger", package = "gbt")`
#' @concept larger than memory
#' @concept database
#' @concept SQL
#' @examples
#' if (requireNamespace("RSQLite", quietly = TRUE)) {
#'   db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   DBI::dbWriteTable(db, "cars", mtcars)
#'   d <- gbt_data(gbt_query(db, "SELECT * FROM cars WHERE hp > 90", label = "mpg"), threads = 1)
#'   print(d)
#'   DBI::dbDisconnect(db)
#' }
#' @export
gbt_query <- function(connection, statement, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL,
                      columns = NULL, params = NULL, chunk_rows = 1e5, progress = FALSE, n_rows = NULL,
                      exposure = NULL, texts = NULL, ...) {
  check_source_dots(written_dots(...), names(formals(gbt_query)), "gbt_query()")
  need_package("DBI", "reading from a database")
  if (!isS4(connection) || !methods::is(connection, "DBIConnection")) {
    stop_argument(sprintf("`connection` must be a connection of package DBI, not %s", describe(connection)),
                  "connection")
  }
  if (missing(statement)) {
    stop_argument("`statement` is missing: give the query, or the table as DBI::Id(table = \"name\")", "statement")
  }
  is_table <- isS4(statement) && methods::is(statement, "Id")
  if (!is_table) {
    statement <- if (isS4(statement) && is.character(statement)) as.character(statement) else statement # DBI::SQL()
    if (!is_text(statement) || !nzchar(statement)) {
      stop_argument(sprintf("`statement` must be one text, not %s", quote_value(statement)), "statement")
    }
  } else if (!is.null(params)) {
    stop_argument("`params` can only be used with a query, and `statement` is a table; leave `params` out", "params")
  }
  plain <- is.null(params) || (!isS4(params) && (is.atomic(params) || typeof(params) == "list"))
  if (!plain) {
    stop_argument(sprintf("`params` must be a list or a vector of values, not %s", describe(params)), "params")
  }
  chunk_rows <- check_whole(chunk_rows, "chunk_rows", 1, .Machine$integer.max)
  if (!is.null(n_rows) && !is_flag(n_rows)) n_rows <- check_whole(n_rows, "n_rows", 0, 2^53)
  progress <- check_flag(progress, "progress")
  if (!progress && !is.null(n_rows)) {
    stop_argument("`n_rows` is only used with `progress = TRUE`; leave it out, or set `progress = TRUE`", "n_rows")
  }
  how <- list(connection = connection, statement = statement, is_table = is_table, params = params,
              chunk_rows = chunk_rows, n_rows = if (progress) n_rows else FALSE)
  roles <- roles_given()
  name <- if (is_table) paste(statement@name, collapse = ".") else statement
  about <- paste0(if (is_table) "table: " else "query: ", shorten_letters(gsub("[[:space:]]+", " ", name), 100L))
  new_source(function(texts) open_query(how), FALSE, roles, columns, progress, texts, about = about)
}

# Conditions of a driver: its errors, those warnings that tell of changed values, which would be lost, as errors as
# well, and all others as warnings, each once. They are reported when the driver has returned: a jump out of its work
# would leave DuckDB's connection unusable. undo: called with what it returned, where that is not returned from here;
# hint: gives the text after an error; told: an environment with the texts that were shown already.
with_driver_errors <- function(code, undo = function(out) NULL, hint = function() "", told = new.env()) {
  fail <- function(why) stop_data(sprintf("the database says: %s%s", why, hint()), "x")
  warned <- character(0)
  out <- withCallingHandlers(try_else(code, function(e) fail(conditionMessage(e))), warning = function(w) {
    warned <<- c(warned, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  returned <- FALSE
  on.exit(if (!returned) undo(out))
  for (why in setdiff(warned, told$texts)) {
    if (grepl(values_change, why, ignore.case = TRUE)) fail(why)
    told$texts <- c(told$texts, why)
    warn_gbt("database", sprintf("the database warns: %s", why))
  }
  returned <- TRUE
  out
}

# Of RSQLite "Column `a`: mixed type, first seen values of type integer, coercing other values of type string", of
# duckdb and odbc what they say of numbers and times that R does not hold.
values_change <- "mixed type|coerc|lost|loss of|truncat|overflow|out of range|NAs introduced|precision"

# A result of dbSendQuery(), whose rows are taken once and which stays the caller's to clear.
result_source <- function(result) {
  need_package("DBI", "reading from a database")
  force(result)
  new_source(function(texts) fetch_rows(result, 1e5, function() NULL), FALSE, list(), NULL, FALSE)
}

open_query <- function(how) {
  if (how$is_table) {
    how$statement <- with_driver_errors(paste("SELECT * FROM", DBI::dbQuoteIdentifier(how$connection, how$statement)))
  }
  # a comment at the end of a query ends with its line; what ends a statement is in the way of what surrounds it
  how$inner <- sprintf("(\n%s\n)", sub("[;[:space:]]+$", "", how$statement))
  if (inherits(how$connection, "duckdb_connection")) {
    reader <- open_duckdb(how)
    if (!is.null(reader)) return(reader)
  }
  n_rows <- if (isTRUE(how$n_rows) || (is.null(how$n_rows) && how$is_table)) count_of_query(how) else how$n_rows
  result <- with_driver_errors(DBI::dbSendQuery(how$connection, how$statement), DBI::dbClearResult, table_hint(how))
  good <- FALSE
  on.exit(if (!good) DBI::dbClearResult(result))
  if (!is.null(how$params)) with_driver_errors(DBI::dbBind(result, how$params))
  good <- TRUE
  fetch_rows(result, how$chunk_rows, function() suppressWarnings(DBI::dbClearResult(result)),
             if (is.numeric(n_rows)) n_rows)
}

count_of_query <- function(how) {
  as.double(with_driver_errors(DBI::dbGetQuery(how$connection, sprintf("SELECT COUNT(*) FROM %s gbt_rows", how$inner),
                                               params = how$params), hint = table_hint(how))[[1L]])
}

# For a statement that the database does not understand since it is the name of a table.
table_hint <- function(how) {
  function() {
    if (how$is_table) return("")
    name <- trimws(how$statement)
    is_table <- try_else(suppressWarnings(DBI::dbExistsTable(how$connection, name)), function(e) FALSE)
    if (isTRUE(is_table)) return(sprintf("; the table of this name is DBI::Id(table = \"%s\")", name))
    if (grepl("[[:space:]]", name)) "" else "; give a query, SELECT ..., or a table as DBI::Id(table = \"name\")"
  }
}

most_fetched <- 1e7 # rows at a time: some drivers make room for all rows that are asked for

# n_rows: of the result, NULL where that is not known.
fetch_rows <- function(result, chunk_rows, close, n_rows = NULL) {
  told <- new.env()
  rows_reader("the query", function(rows) {
    chunk <- with_driver_errors(DBI::dbFetch(result, min(chunk_rows, most_fetched)), told = told)
    if (nrow(chunk) > 0L) as.data.frame(chunk)
  }, close, n_rows)
}

# ---- DuckDB ----

# Its results are data frames of all rows, so these go to a temporary table, whose rows are numbered, and are read from
# there by ranges. Columns have names of our own meanwhile: those of a query may occur twice, or be "rowid". NULL for
# statements that cannot be described or are within others.
open_duckdb <- function(how) {
  con <- how$connection
  # this runs nothing
  about <- tryCatch(with_driver_errors(DBI::dbGetQuery(con, paste("DESCRIBE", how$statement), params = how$params)),
                    gbt_error_data = function(e) NULL)
  if (!identical(names(about)[1:2], c("column_name", "column_type"))) return(NULL)
  names <- about$column_name
  table <- basename(tempfile("gbt_rows_"))
  drop <- function() try_else(suppressWarnings(DBI::dbExecute(con, paste("DROP TABLE IF EXISTS", table))),
                              function(e) NULL)
  good <- FALSE
  on.exit(if (!good) drop())
  copy <- sprintf("CREATE TEMP TABLE %s AS SELECT * FROM %s AS q(%s)", table, how$inner,
                  paste0("c", seq_along(names), collapse = ", "))
  made <- tryCatch(with_driver_errors(DBI::dbExecute(con, copy, params = how$params)), gbt_error_data = function(e) {
    if (!grepl("Parser Error", conditionMessage(e), fixed = TRUE)) stop(e)
  })
  if (is.null(made)) return(NULL)
  # as a text: within a transaction numbers begin beyond those that doubles hold
  extent <- with_driver_errors(DBI::dbGetQuery(con, paste("SELECT COUNT(*), CAST(MIN(rowid) AS VARCHAR) FROM", table)))
  n_rows <- as.double(extent[[1L]])
  first <- extent[[2L]]
  told <- new.env()
  pull <- function(rows) {
    if (rows >= n_rows) return(NULL)
    end <- min(rows + how$chunk_rows, n_rows)
    chunk <- with_driver_errors(DBI::dbGetQuery(con, sprintf(
      "SELECT * FROM %s WHERE rowid >= %s + %.0f AND rowid < %s + %.0f", table, first, rows, first, end)), told = told)
    if (nrow(chunk) != end - rows) {
      stop_data("the database reports another number of rows than before; does something change the table?", "x")
    }
    stats::setNames(chunk, names)
  }
  good <- TRUE
  rows_reader("the query", pull, drop, n_rows)
}
