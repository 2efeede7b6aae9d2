# Models as SQL: what databases make of the query, against predict(). GBT_TEST_SQL is a Python that may have duckdb, and
# psycopg2, for PostgreSQL where GBT_TEST_POSTGRES says how to connect.

test_that("DuckDB and PostgreSQL compute the bits of raw scores, for each kind of model", {
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = ".sql")
    suppressMessages(gbt_export(m, file))
    rows <- export_rows(m, if (kind %in% c("usual", "sets")) 1500 else 300)
    for (where in c("duckdb", Sys.getenv("GBT_TEST_POSTGRES"))) {
      got <- run_sql_by(where, file, m, rows)
      if (is.null(got)) next
      expect_identical(bits(got$score), bits(as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows))),
                       info = paste(kind, where))
      if (!is.null(got$response)) {
        expect_equal(got$response, as_rows(predict(m, rows, threads = 1), nrow(rows)), tolerance = 1e-14,
                     info = paste(kind, where))
      }
    }
  }
})

test_that("SQLite computes the bits of raw scores, for each kind of model", {
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = ".sql")
    suppressMessages(gbt_export(m, file))
    rows <- export_rows(m, if (kind == "usual") 1500 else 300)
    got <- run_sql(file, m, rows)
    expect_identical(bits(got$score), bits(as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows))),
                     info = kind)
    want <- as_rows(predict(m, rows, threads = 1), nrow(rows))
    if (is.null(got$response)) {
      expect_identical(bits(want), bits(if (kind == "quantiles") t(apply(got$score, 1, sort)) else got$score),
                       info = kind)
    } else {
      expect_equal(got$response, want, tolerance = 1e-14, info = kind)
    }
  }
})

test_that("the head of SQL has the names of outputs", {
  y <- data.frame(`first\n-- one` = sin(1:60), two = 1:60, check.names = FALSE)
  m <- gbt_train(data.frame(x = 1:60), y, nrounds = 2, threads = 1)
  file <- withr::local_tempfile(fileext = ".sql")
  gbt_export(m, file)
  lines <- readLines(file)
  said <- c("--   model_score_1: raw score of first -- one", "--   model_score_2: raw score of two")
  expect_identical(setdiff(said, lines), character())
  rows <- data.frame(x = c(1:60, NA))
  expect_identical(bits(run_sql(file, m, rows)$score), bits(as_rows(predict(m, rows, threads = 1), 61)))
})

test_that("SQL of imported models has their missing values, and their sums", {
  for (its in c("lgb_forest.txt", "lgb_sigmoid.txt", "lgb_zero_missing.txt", "lgb_linear.txt",
                "cat_numbers.json")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    texts <- codes_as_texts(x, m)
    file <- withr::local_tempfile(fileext = ".sql")
    gbt_export(m, file, name = "M_1")
    got <- run_sql(file, m, texts, "M_1")
    want <- as_rows(predict(m, x, type = "link", threads = 1), nrow(x))
    expect_identical(bits(got$score), bits(want), info = its)
    for (where in c("duckdb", Sys.getenv("GBT_TEST_POSTGRES"))) {
      got <- run_sql_by(where, file, m, texts, "M_1")
      if (!is.null(got)) expect_identical(bits(got$score), bits(want), info = paste(its, where))
    }
  }
})

test_that("SQL says which numbers are missing values, quotes names and levels, and takes many trees", {
  coded <- structure(c(1:8, 99, -5) + 0, na_values = 99, na_range = c(-9, -1),
                     class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  d <- structure(list(x = coded), class = "data.frame", row.names = 1:10)
  m <- gbt_train(d, c(1:8, 20, 30), nrounds = 3, min_child_weight = 0, threads = 1)
  rows <- data.frame(x = c(0:9, 99, -9, -5, -1, -0.5, NA, Inf, -Inf))
  file <- withr::local_tempfile(fileext = ".sql")
  gbt_export(m, file)
  expect_identical(bits(run_sql(file, m, rows)$score), bits(predict(m, rows, type = "link", threads = 1)))
  i <- seq_len(400)
  d <- data.frame(i %% 37 / 37, c("it's", "\"", "--", "", "/*")[1 + i %% 5])
  names(d) <- c("a \"b\" 'c'\n--", "order")
  m <- gbt_train(d, sin(i) + d[[1]] + (d[[2]] == "--"), nrounds = 1100, eta = 0.05, threads = 1)
  gbt_export(m, file)
  want <- predict(m, d, type = "link", threads = 1)
  expect_identical(bits(run_sql(file, m, d)$score), bits(want))
  if (!nzchar(Sys.getenv("GBT_TEST_SQL"))) return()
  names(d)[1] <- "a \"b\" 'c'%s"
  d[[2]] <- factor(d[[2]]) # as cells are written
  m <- gbt_train(d, sin(i) + d[[1]] + (d[[2]] == "--"), nrounds = 1100, eta = 0.05, threads = 1)
  gbt_export(m, file)
  for (where in c("duckdb", Sys.getenv("GBT_TEST_POSTGRES"))) {
    got <- run_sql_by(where, file, m, d)
    if (!is.null(got)) expect_identical(bits(got$score), bits(predict(m, d, type = "link", threads = 1)), info = where)
  }
})

test_that("SQL that databases would not take is refused", {
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  file <- withr::local_tempfile(fileext = ".sql")
  expect_error(gbt_export(offset, file), "offset", class = "gbt_error_unsupported")
  i <- seq_len(800)
  forest <- gbt_train(data.frame(x = i), factor(i %% 400), nrounds = 401, max_depth = 1, threads = 1)
  expect_error(gbt_export(forest, file), "columns", class = "gbt_error_unsupported")
  expect_false(file.exists(file))
})
