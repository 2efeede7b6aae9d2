# What packages that may be missing give for rows: their own objects where they are installed, else stand-ins with the
# part of their interface that gbt uses. Both were compared with duckdb 1.5.5 and arrow 25.0.1.

has_package <- function(name) requireNamespace(name, quietly = TRUE)
its <- function(package, name) getExportedValue(package, name)

# Rows with what readers get wrong: quotes, commas and ends of lines in texts, missing values, days, and a column that
# becomes fractional at its end.
source_columns <- function(n) {
  withr::local_seed(7)
  d <- data.frame(
    i = as.integer(seq_len(n) %% 17), v = round(rnorm(n), 6),
    w = replace(round(runif(n), 5), seq_len(n) %% 11 == 0, NA),
    t = c("a", "b,c", "say \"x\"", "two\nlines", "\u00e4")[seq_len(n) %% 5 + 1], l = seq_len(n) %% 3 == 0,
    day = as.Date("2020-01-01") + seq_len(n) %% 50
  )
  d$late <- c(rep(1, n - 3), 2.5, 3.5, 4.5) # whole numbers at first
  d
}

# ---- Arrow ----

# A reader of batches of so many rows each, whose factors have only the levels that they need. more: functions of a
# batch's number and rows, by column, for what arrow makes of them.
batches_of <- function(x, rows, more = list()) {
  cut <- function(i) {
    beg <- (i - 1) * rows
    if (beg >= nrow(x)) return(NULL)
    chunk <- x[(beg + 1):min(beg + rows, nrow(x)), , drop = FALSE]
    for (name in names(chunk)) if (is.factor(chunk[[name]])) chunk[[name]] <- droplevels(chunk[[name]])
    for (name in names(more)) chunk[[name]] <- more[[name]](i, chunk[[name]])
    row.names(chunk) <- NULL
    chunk
  }
  at <- 0
  reader <- new.env()
  reader$read_next_batch <- function() {
    at <<- at + 1
    chunk <- cut(at)
    if (!is.null(chunk)) a_batch(chunk)
  }
  reader
}

# A record batch: arrow's own, or an environment that becomes a data frame by as.data.frame() alone.
a_batch <- function(x) {
  if (has_package("arrow")) return(its("arrow", "record_batch")(x))
  batch <- new.env()
  batch$to_data_frame <- function() x
  registerS3method("as.data.frame", "standing_batch", function(x, ...) x$to_data_frame())
  structure(batch, class = c("standing_batch", "ArrowTabular", "ArrowObject", "R6"))
}

# ---- DuckDB ----

# A connection with a table of these rows, closed with `env`. The stand-in is an SQLite database that understands the
# statements by which gbt reads DuckDB.
duckdb_with <- function(x, env = parent.frame()) {
  if (has_package("duckdb")) {
    db <- DBI::dbConnect(its("duckdb", "duckdb")(shared_home = FALSE))
  } else {
    testthat::skip_if_not_installed("RSQLite")
    stand_in_duckdb()
    db <- methods::new("duckdb_connection", DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  }
  withr::defer(DBI::dbDisconnect(db), envir = env)
  DBI::dbWriteTable(db, "rows", x)
  db
}

stand_in_duckdb <- function() {
  here <- globalenv()
  if (methods::isClass("duckdb_connection", where = here)) return(invisible())
  methods::setClass("duckdb_connection", contains = "SQLiteConnection", where = here)
  plain <- function(conn) methods::as(conn, "SQLiteConnection")
  inner <- "^CREATE TEMP TABLE (\\w+) AS SELECT \\* FROM (\\(.*\\)) AS q\\((.*)\\)$"
  methods::setMethod(DBI::dbExecute, c("duckdb_connection", "character"), where = here,
                     function(conn, statement, params = NULL, ...) {
                       to <- "CREATE TEMP TABLE \\1 AS WITH q(\\3) AS \\2 SELECT * FROM q"
                       DBI::dbExecute(plain(conn), sub(inner, to, statement), params = params, ...)
                     })
  methods::setMethod(DBI::dbGetQuery, c("duckdb_connection", "character"), where = here,
                     function(conn, statement, params = NULL, ...) {
                       if (!startsWith(statement, "DESCRIBE ")) {
                         return(DBI::dbGetQuery(plain(conn), statement, params = params, ...))
                       }
                       result <- DBI::dbSendQuery(plain(conn), sub("^DESCRIBE ", "", statement))
                       on.exit(DBI::dbClearResult(result))
                       if (!is.null(params)) DBI::dbBind(result, params)
                       about <- DBI::dbColumnInfo(result)
                       data.frame(column_name = about$name, column_type = about$type)
                     })
}
