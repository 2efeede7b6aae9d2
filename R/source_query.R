# Queries of a database as a source, through DBI.

#' Rows of a database query
#'
#' Says where the rows of [gbt_data()] come from: a query of a database that the package DBI has a connection to, such
#' as SQLite, DuckDB, PostgreSQL or ODBC. Rows are fetched in chunks, so that they need not fit into memory, and once.
#'
#' Rows are kept in a temporary folder ([tempdir()]) until [gbt_data()] returns. A column whose values are not of one
#' type (SQLite allows that) is an error: `CAST` it in the query. The order of the rows decides which rows are drawn
#' where training draws any, so an `ORDER BY` makes models repeatable where the database does not.
#'
#' @param connection A connection of package DBI.
#' @param statement The query, one text.
#' @param params Values of the query's parameters, see [DBI::dbBind()].
#' @param chunk_rows Rows that are fetched at a time.
#' @inheritParams gbt_files
#' @return A source for argument `x` of [gbt_data()].
#' @seealso [gbt_data()], [gbt_files()]
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
                      columns = NULL, params = NULL, chunk_rows = 1e5, progress = FALSE) {
  need_package("DBI", "reading from a database")
  if (!isS4(connection) || !methods::is(connection, "DBIConnection")) {
    stop_argument(sprintf("`connection` must be a connection of package DBI, not %s", describe(connection)),
                  "connection")
  }
  if (!is_text(statement) || !nzchar(statement)) {
    stop_argument(sprintf("`statement` must be one text, not %s", quote_value(statement)), "statement")
  }
  chunk_rows <- check_whole(chunk_rows, "chunk_rows", 1, .Machine$integer.max)
  new_source(function(texts) open_query(connection, statement, params, chunk_rows), FALSE, label, weight, offset, time,
             group, columns, progress)
}

# A driver's errors, and what it warns of, as values would be lost.
database_says <- function(code) {
  fail <- function(c) stop_data(sprintf("the database says: %s", conditionMessage(c)), "x")
  withCallingHandlers(try_else(code, fail), warning = fail)
}

# A result of dbSendQuery(), whose rows are taken once and which stays the caller's to clear.
result_source <- function(result) {
  need_package("DBI", "reading from a database")
  force(result)
  new_source(function(texts) fetch_rows(result, 1e5, function() NULL), FALSE, NULL, NULL, NULL, NULL, NULL, NULL, FALSE)
}

open_query <- function(connection, statement, params, chunk_rows) {
  result <- database_says(DBI::dbSendQuery(connection, statement))
  good <- FALSE
  on.exit(if (!good) DBI::dbClearResult(result))
  if (!is.null(params)) database_says(DBI::dbBind(result, params))
  good <- TRUE
  fetch_rows(result, chunk_rows, function() suppressWarnings(DBI::dbClearResult(result)))
}

fetch_rows <- function(result, chunk_rows, close) {
  rows <- 0
  pull <- function() {
    chunk <- database_says(DBI::dbFetch(result, chunk_rows))
    if (nrow(chunk) == 0L) return(NULL)
    rows <<- rows + nrow(chunk)
    as.data.frame(chunk)
  }
  list(pull = pull, close = close, done = function() NA_real_,
       where = function() sprintf("the query, behind row %.0f", rows))
}
