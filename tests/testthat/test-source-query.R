# Rows of queries and batches: the models are those of one data frame, however they come.

n <- 900
d <- source_columns(n)
y <- round(d$v + seq_len(n) %% 5 / 2, 6)
trees <- function(...) as.data.frame(gbt_train(..., nrounds = 3, seed = 1, threads = 1))
all_of <- function() cbind(d, y = y)

# ---- databases ----

test_that("queries give the model of one data frame", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  rows <- all_of()[c("i", "v", "w", "t", "late", "y")]
  DBI::dbWriteTable(db, "rows", rows)
  expected <- trees(gbt_data(rows[-6], y, threads = 1))
  for (chunk in c(1e5, 900, 299, 7)) {
    source <- gbt_query(db, "SELECT * FROM rows ORDER BY rowid", label = "y", chunk_rows = chunk)
    expect_identical(trees(gbt_data(source, threads = 1)), expected)
  }
  few <- gbt_data(gbt_query(db, "SELECT v, w, y FROM rows WHERE i < ?", label = "y", params = list(5)), threads = 1)
  expect_identical(trees(few), trees(gbt_data(rows[rows$i < 5, c("v", "w")], y[rows$i < 5], threads = 1)))
  says <- function(text, sql, ..., class = "gbt_error_data") {
    expect_error(gbt_data(gbt_query(db, sql, ...), threads = 1), text, class = class)
  }
  says("no such table", "SELECT * FROM nowhere")
  says("has no rows", "SELECT * FROM rows WHERE i > 1000")
  says("`label` names `z`", "SELECT * FROM rows", label = "z", class = "gbt_error_argument")
  DBI::dbExecute(db, "CREATE TABLE mixed (a)")
  DBI::dbExecute(db, "INSERT INTO mixed VALUES (1), (2), ('three')")
  says("database says", "SELECT a FROM mixed")
  DBI::dbExecute(db, "CREATE TABLE late (a)")
  DBI::dbExecute(db, "INSERT INTO late VALUES (NULL), (NULL), (3.5), (4)")
  expect_identical(gbt_data(gbt_query(db, "SELECT a, 1 AS y FROM late", label = "y", chunk_rows = 1),
                            threads = 1)$feature_types,
                   gbt_data(data.frame(a = c(NA, NA, 3.5, 4)), threads = 1)$feature_types)
  expect_error(gbt_query("db", "SELECT 1"), "`connection`", class = "gbt_error_argument")
  expect_error(gbt_query(db, 1), "`statement`", class = "gbt_error_argument")
  expect_silent(DBI::dbGetQuery(db, "SELECT 1")) # no result was left open
  expect_length(list.files(tempdir(), pattern = "^gbt-rows-"), 0L)
})

test_that("a connection and its query, or a table, are data", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  rows <- all_of()[c("i", "v", "t", "y")]
  DBI::dbWriteTable(db, "some rows", rows)
  expected <- trees(gbt_data(rows[-4], y, threads = 1))
  data <- function(...) gbt_data(db, ..., label = "y", threads = 1)
  expect_identical(trees(data("SELECT * FROM \"some rows\"")), expected)
  expect_identical(trees(data(DBI::SQL("SELECT * FROM \"some rows\""), chunk_rows = 100)), expected)
  expect_identical(trees(data(DBI::Id(table = "some rows"))), expected)
  expect_identical(trees(gbt_data(statement = "SELECT v, t, y, i AS w FROM \"some rows\" WHERE i < ?", x = db,
                                  params = list(9), label = "y", weight = "w", max_bin = 20, threads = 1)),
                   trees(gbt_data(rows[rows$i < 9, 2:3], y[rows$i < 9], weight = rows$i[rows$i < 9], max_bin = 20,
                                  threads = 1)))
  expect_error(gbt_data(db), "`statement` is missing", class = "gbt_error_argument")
  expect_error(gbt_data(db, "SELECT 1", labels = "y"), "`labels` is called `label`", class = "gbt_error_argument")
  expect_error(gbt_data(db, DBI::Id(table = "some rows"), params = list(1)), "`params`", class = "gbt_error_argument")
  expect_error(gbt_data(db, "SELECT 1 AS a, 2 AS a"), "two columns called `a`", class = "gbt_error_data")
})

test_that("how much of a query is read is told where the number of rows is known", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "r", all_of()["v"])
  shares <- function(...) {
    reader <- gbt_query(db, ..., chunk_rows = 300)$open(character(0))
    on.exit(reader$close())
    out <- reader$done()
    while (!is.null(reader$pull())) out <- c(out, reader$done())
    out
  }
  thirds <- c(0, 1 / 3, 2 / 3, 1)
  none <- rep(NA_real_, 4)
  expect_identical(shares("SELECT * FROM r", progress = TRUE), none)
  expect_identical(shares("SELECT * FROM r; ", progress = TRUE, n_rows = TRUE), thirds)
  expect_identical(shares("SELECT * FROM r -- all", progress = TRUE, n_rows = 900), thirds)
  expect_identical(shares("SELECT * FROM r"), none)
  expect_error(gbt_query(db, "SELECT * FROM r", n_rows = 900), "`n_rows` is only used with `progress = TRUE`",
               class = "gbt_error_argument")
  expect_identical(shares("SELECT * FROM r", progress = TRUE, n_rows = 400), replace(none, 1:2, c(0, 0.75)))
  expect_identical(shares(DBI::Id(table = "r"), progress = TRUE), thirds)
  expect_identical(shares(DBI::Id(table = "r"), progress = TRUE, n_rows = FALSE), none)
  expect_identical(shares("SELECT * FROM r WHERE v > ?", params = list(-100), progress = TRUE, n_rows = TRUE), thirds)
  for (odd in list(-1, 1.5, NA, "1")) {
    expect_error(gbt_query(db, "", n_rows = odd, progress = TRUE), class = "gbt_error_argument")
  }
})

test_that("what a driver warns of is a warning, or an error where values change", {
  undone <- 0
  undo <- function(out) undone <<- undone + out
  says <- function(..., told = new.env()) {
    with_driver_errors({
      for (text in c(...)) warning(text)
      5
    }, undo, told = told)
  }
  expect_error(says("digits are lost"), "the database says: digits are lost", class = "gbt_error_data")
  expect_identical(undone, 5) # the code came to its end
  expect_error(with_driver_errors(stop("no"), undo), "the database says: no", class = "gbt_error_data")
  expect_warning(expect_identical(says("old result closed"), 5), "^the database warns: old result closed$",
                 class = "gbt_warning_database")
  expect_identical(undone, 5)
  expect_s3_class(tryCatch(says("old result closed"), warning = identity), "gbt_warning_database")
  expect_identical(undone, 10) # nobody has what was returned
  told <- new.env()
  expect_warning(says("a", "a", told = told))
  expect_silent(says("a", told = told))
  expect_warning(expect_error(says("a", "Column `x`: mixed type"), class = "gbt_error_data"), "warns: a$")
  expect_identical(with_driver_errors(3), 3)
})

test_that("a query that closes another result works with a warning", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  rows <- all_of()[c("i", "v", "y")]
  DBI::dbWriteTable(db, "rows", rows)
  expected <- trees(gbt_data(rows[-3], y, threads = 1))
  open <- DBI::dbSendQuery(db, "SELECT * FROM rows")
  DBI::dbFetch(open, 1)
  expect_warning(data <- gbt_data(db, "SELECT * FROM rows", label = "y", threads = 1), "open result set",
                 class = "gbt_warning_database")
  expect_identical(trees(data), expected)
  expect_silent(DBI::dbGetQuery(db, "SELECT 1"))
})

test_that("the name of a table in place of a query gets a hint", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "rows", all_of()["v"])
  DBI::dbWriteTable(db, "some rows", all_of()["v"])
  says <- function(statement, ...) {
    e <- tryCatch(gbt_data(db, statement, ..., threads = 1), gbt_error_data = identity)
    sub("^.*; ", "", conditionMessage(e))
  }
  expect_identical(says("rows"), "the table of this name is DBI::Id(table = \"rows\")")
  expect_identical(says("some rows"), "the table of this name is DBI::Id(table = \"some rows\")")
  expect_identical(says("rows", progress = TRUE, n_rows = TRUE), "the table of this name is DBI::Id(table = \"rows\")")
  expect_identical(says("nowhere"), "give a query, SELECT ..., or a table as DBI::Id(table = \"name\")")
  expect_match(says("SELECT * FROM nowhere"), "no such table: nowhere$")
})

test_that("DuckDB is read from a temporary table, whatever the query", {
  rows <- all_of()[c("i", "v", "w", "t", "late", "y")]
  db <- duckdb_with(rows)
  expected <- trees(gbt_data(rows[-6], y, threads = 1))
  for (chunk in c(1e5, 900, 899, 100, 7)) {
    expect_identical(trees(gbt_data(db, "SELECT * FROM rows", label = "y", chunk_rows = chunk, threads = 1)), expected)
  }
  expect_identical(trees(gbt_data(db, "SELECT * FROM rows;\n", label = "y", threads = 1)), expected)
  expect_identical(trees(gbt_data(db, "SELECT * FROM rows -- all", label = "y", threads = 1)), expected)
  expect_identical(trees(gbt_data(db, DBI::Id(table = "rows"), label = "y", threads = 1)), expected)
  # names of the query's own: those that number rows, or that are there twice
  expect_identical(trees(gbt_data(db, "SELECT i AS rowid, v AS c1, y FROM rows WHERE v > ?", params = list(-1),
                                  label = "y", chunk_rows = 50, threads = 1)),
                   trees(gbt_data(data.frame(rowid = d$i, c1 = d$v)[d$v > -1, ], y[d$v > -1], threads = 1)))
  expect_error(gbt_data(db, "SELECT v AS a, y AS a FROM rows"), "two columns called `a`", class = "gbt_error_data")
  expect_error(gbt_data(db, "SELECT * FROM nowhere"), "database says", class = "gbt_error_data")
  expect_error(gbt_data(db, "nonsense"), "database says.*SELECT", class = "gbt_error_data")
  expect_error(gbt_data(db, "rows"), "DBI::Id(table = \"rows\")", fixed = TRUE, class = "gbt_error_data")
  expect_error(gbt_data(db, "SELECT * FROM rows WHERE v > 1000"), "has no rows", class = "gbt_error_data")
  DBI::dbBegin(db) # where rows are numbered otherwise
  expect_identical(trees(gbt_data(db, "SELECT * FROM rows", label = "y", chunk_rows = 200, threads = 1)), expected)
  DBI::dbRollback(db)
  reader <- gbt_query(db, "SELECT v FROM rows", chunk_rows = 300)$open(character(0))
  expect_identical(c(reader$done(), dim(reader$pull()), reader$done()), c(0, 300, 1, 1 / 3))
  reader$close()
  expect_identical(grep("gbt_rows", DBI::dbListTables(db), value = TRUE), character(0))
  model <- gbt_train(rows[-6], y, nrounds = 3, threads = 1)
  expect_identical(predict(model, gbt_query(db, "SELECT * FROM rows", chunk_rows = 70), threads = 1),
                   predict(model, rows, threads = 1))
})

test_that("DuckDB itself: types, and statements that are no queries", {
  skip_if_not_installed("duckdb")
  rows <- all_of()
  rows$f <- factor(c("u", "v", NA)[seq_len(n) %% 3 + 1], c("w", "v", "u"))
  rows$at <- as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n) * 1000.25
  rows$big <- seq_len(n) * 1e10
  rows$l[4] <- NA
  db <- duckdb_with(rows)
  sql <- "SELECT * REPLACE (big::BIGINT AS big, late::DECIMAL(9, 2) AS late) FROM rows"
  expect_identical(trees(gbt_data(db, sql, label = "y", chunk_rows = 250, threads = 1)),
                   trees(gbt_data(rows[names(rows) != "y"], y, threads = 1)))
  expect_identical(dim(gbt_data(db, "SHOW TABLES", threads = 1)), c(1L, 1L))
  for (what in c("[i]", "{'a': i}", "'x'::BLOB")) {
    expect_error(gbt_data(db, sprintf("SELECT v, %s AS bad FROM rows", what)), "column `bad` is a",
                 class = "gbt_error_data")
  }
  expect_error(gbt_data(db, "SELECT CAST(\"at\" AS TIMESTAMP_NS) AS ns FROM rows"), "loss of data",
               class = "gbt_error_data")
  expect_identical(nrow(DBI::dbGetQuery(db, "SELECT * FROM rows")), 900L)
})

# ---- Arrow ----

test_that("batches give the model of one data frame", {
  rows <- cbind(all_of(), f = factor(letters[seq_len(n) %% 7 + 1]))
  expected <- trees(gbt_data(cbind(d, f = rows$f), y, threads = 1))
  for (size in c(1000, 899, 100, 9)) {
    expect_identical(trees(gbt_data(gbt_batches(batches_of(rows, size), label = "y"), threads = 1)), expected)
  }
  broken <- new.env()
  broken$read_next_batch <- function() stop("lost")
  expect_error(gbt_data(gbt_batches(broken), threads = 1), "Arrow says: lost", class = "gbt_error_data")
  expect_error(gbt_batches(1), "`x`", class = "gbt_error_argument")
  expect_error(gbt_batches("a.parquet"), "arrow::open_dataset", class = "gbt_error_argument")
  once <- batches_of(rows, 300)
  gbt_data(gbt_batches(once), threads = 1)
  expect_error(gbt_data(gbt_batches(once), threads = 1), "gives its rows only once", class = "gbt_error_data")
})

test_that("a column may be of integers in some batches and of integer64 in others", {
  skip_if_not_installed("bit64") # arrow makes integers of 64-bit ones where they hold all of a batch
  rows <- data.frame(big = bit64::as.integer64(seq_len(n)) * bit64::as.integer64(1e7), v = d$v)
  shrink <- function(i, x) if (i %in% c(1, 3)) as.integer(x / bit64::as.integer64(1e7)) else x
  twin <- rows
  for (at in list(1:250, 501:750)) twin$big[at] <- bit64::as.integer64(at)
  reader <- new.env()
  inner <- batches_of(rows, 250, list(big = shrink))
  expect_identical(trees(gbt_data(gbt_batches(inner), y, threads = 1)), trees(gbt_data(twin, y, threads = 1)))
})

test_that("Arrow itself: files, tables, readers and queries", {
  skip_if_not_installed("arrow")
  rows <- cbind(all_of(), f = factor(letters[seq_len(n) %% 7 + 1]), o = factor(seq_len(n) %% 3, ordered = TRUE),
                at = as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n) * 1000.25)
  expected <- trees(gbt_data(rows[names(rows) != "y"], y, threads = 1))
  folder <- withr::local_tempdir()
  file <- file.path(folder, "all.parquet")
  parts <- file.path(folder, "parts")
  dir.create(parts)
  its("arrow", "write_parquet")(rows, file, chunk_size = 100)
  for (k in 1:3) {
    part <- rows[(k - 1) * 300 + 1:300, ]
    part$f <- droplevels(part$f)[, drop = TRUE]
    its("arrow", "write_parquet")(part, file.path(parts, sprintf("%d.parquet", k)))
  }
  table <- its("arrow", "read_parquet")(file, as_data_frame = FALSE)
  open <- its("arrow", "open_dataset")
  same <- function(x) expect_identical(trees(gbt_data(gbt_batches(x, label = "y"), threads = 1)), expected)
  same(table)
  same(open(file))
  same(open(parts))
  same(its("arrow", "as_record_batch_reader")(table))
  same(its("arrow", "Scanner")$create(open(file)))
  x <- open(file)
  expect_identical(gbt_data(x, y, threads = 1)$label, y)
  expect_identical(gbt_batches(x, progress = TRUE)$open(character(0))$done(), 0)
  expect_message(gbt_data(gbt_batches(table, progress = TRUE), threads = 1), "read 900 rows")
  model <- gbt_train(rows[names(rows) != "y"], y, nrounds = 3, threads = 1)
  want <- predict(model, rows, threads = 1)
  expect_identical(predict(model, x, threads = 1), want)
  expect_identical(predict(model, table, threads = 1), want)
  bad <- its("arrow", "arrow_table")(v = 1:2, bad = list(1, 2:3))
  expect_error(gbt_data(gbt_batches(bad), threads = 1), "column `bad` is a list", class = "gbt_error_data")
})

test_that("columns of texts of queries and batches stay texts where `texts` names them", {
  day <- c("2020-01-01", "2020-01-02", "2020-01-03")
  rows <- data.frame(day = day, n = 1:3)
  type <- function(source) gbt_data(source, threads = 1)$feature_types
  expect_identical(type(gbt_batches(batches_of(rows, 2))), c("Date", "integer"))
  expect_identical(type(gbt_batches(batches_of(rows, 2), texts = "day")), c("character", "integer"))
  expect_error(type(gbt_batches(batches_of(rows, 2), texts = "n")),
               "`texts` names column `n`, which is of class integer", class = "gbt_error_argument")
  rows$day[3] <- "a\xe4"
  skip_if(has_package("arrow"), "arrow refuses it itself")
  expect_error(type(gbt_batches(batches_of(rows, 2))), "the batches, row 3: the text \"a<e4>\" in column `day`",
               class = "gbt_error_data")
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "t", data.frame(day = day, n = 1:3))
  expect_identical(type(gbt_query(db, "SELECT * FROM t")), c("Date", "integer"))
  expect_identical(type(gbt_query(db, "SELECT * FROM t", texts = "day")), c("character", "integer"))
  expect_identical(gbt_data(db, "SELECT * FROM t", texts = "day", threads = 1)$feature_types, c("character", "integer"))
})

test_that("a lazy table of dbplyr is told how its rows are read", {
  lazy <- structure(list(), class = c("tbl_dbi", "tbl_sql", "tbl_lazy", "tbl"))
  expect_error(gbt_data(lazy, threads = 1), "gbt_query(connection, statement", fixed = TRUE, class = "gbt_error_data")
})

test_that("a pass over some columns reads these, and numbers in the others are zeros", {
  d <- data.frame(a = 1:9, b = c(1.5, NA, 3:9), c = letters[1:9], d = factor(rep(c("u", "v", "w"), 3)), y = 9:1,
                  e = rep(c(TRUE, NA, FALSE), 3), f = as.Date("2024-01-01") + 1:9)
  reader <- new.env()
  reader$left <- split(d, c(1, 1, 1, 1, 2, 2, 2, 3, 3))
  reader$read_next_batch <- function() {
    if (length(reader$left) == 0) return(NULL)
    batch <- reader$left[[1]]
    reader$left <- reader$left[-1]
    batch
  }
  rows <- read_source(gbt_batches(reader, label = "y"))
  on.exit(rows$close())
  whole <- lapply(1:3, rows$read)
  expect_identical(do.call(rbind, lapply(whole, `[[`, "x")), d[c("a", "b", "c", "d", "e", "f")])
  expect_identical(unlist(lapply(whole, `[[`, "y")), NULL)
  expect_identical(unlist(lapply(whole, `[[`, "label")), 9:1)
  expect_null(rows$read(4))
  for (i in c(3, 1, 2)) {
    x <- whole[[i]]$x
    some <- rows$read(i, "b")
    expect_identical(some[c("b", "c", "d", "e", "f")], x[c("b", "c", "d", "e", "f")])
    expect_identical(some$a, integer(nrow(x)))
    expect_identical(rows$read(i, c("a", "nothing"))$b, numeric(nrow(x)))
    expect_identical(rows$read(i, c("a", "b")), x)
  }
})

test_that("print() of a query has its text, and does not run it", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  expect_snapshot({
    print(gbt_query(db, "SELECT *\n  FROM nowhere", label = "y", columns = c("a", "b")))
    print(gbt_query(db, DBI::Id(table = "cars")))
  })
})
