# gbt_train(), gbt_cv() and gbt_tune() of a source of rows: gbt_files(), gbt_query(), gbt_batches().

n <- 240
d <- data.frame(v = round(sin(seq_len(n)), 6), w = replace(seq_len(n) %% 7L, 5, NA),
                f = c("a", "b", "c")[seq_len(n) %% 3 + 1], l = seq_len(n) %% 4 == 0, e = 1 + seq_len(n) %% 5)
d$number <- round(d$v * 3 + d$e, 6)
d$class <- c("no", "yes")[(d$v > 0) + 1]
d$many <- c("x", "y", "z")[seq_len(n) %% 3 + 1]
d$count <- (seq_len(n) * 7) %% 4
features <- c("v", "w", "f", "l")
bytes <- function(...) gbt_train(..., nrounds = 4, seed = 1, threads = 1, verbose = 0)$state

# A source of batches of 50 rows. counted: an environment whose `pulls` counts the batches that were asked for.
source_of_rows <- function(x, ..., counted = new.env()) {
  counted$pulls <- 0
  reader <- batches_of(x, 50)
  pull <- reader$read_next_batch
  reader$read_next_batch <- function() {
    counted$pulls <- counted$pulls + 1
    pull()
  }
  gbt_batches(reader, ...)
}

file_of <- function(x, env = parent.frame()) {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = env)
  utils::write.csv(x, file, row.names = FALSE)
  file
}

test_that("a source trains the model of its rows in memory, for every kind of response", {
  for (label in c("number", "class", "many", "count")) {
    objective <- if (label == "count") "poisson"
    x <- d[c(features, label, "e")]
    want <- bytes(d[features], d[[label]], weights = d$e, objective = objective)
    given <- function(...) source_of_rows(x, columns = features, ...)
    expect_identical(bytes(given(label = label, weight = "e"), objective = objective), want)
    expect_identical(bytes(gbt_data(given(label = label, weight = "e"), threads = 1), objective = objective), want)
    expect_identical(bytes(given(), label, weights = "e", objective = objective), want)
    expect_identical(bytes(given(), d[[label]], weights = d$e, objective = objective), want)
    expect_identical(bytes(given(), label = d[[label]], params = list(weights = d$e), objective = objective),
                     bytes(gbt_data(d[features], d[[label]], threads = 1), weights = d$e, objective = objective))
  }
})

test_that("offset, exposure, group and time of a source count, and so does how rows are binned", {
  x <- d[c(features, "number", "count", "e")]
  for (role in c("offset", "group", "time")) suppressWarnings({
    values <- stats::setNames(list(d$e), role)
    named <- stats::setNames(list("e"), role)
    expect_identical(do.call(bytes, c(list(source_of_rows(x[c(features, "number", "e")], label = "number")), named)),
                     do.call(bytes, c(list(d[features], d$number), values)), info = role)
  })
  x <- x[c(features, "count", "e")]
  want <- gbt_train(d[c(features, "e")], d$count, exposure = "e", objective = "poisson", nrounds = 3, threads = 1)
  m <- gbt_train(source_of_rows(x, label = "count"), exposure = "e", objective = "poisson", nrounds = 3, threads = 1)
  expect_identical(m$state, want$state)
  expect_identical(m$exposure, "e")
  binned <- function(...) bytes(..., max_bin = 9, cat_features = "w", level_counts = "f")
  expect_identical(binned(source_of_rows(d[c(features, "number")], label = "number")), binned(d[features], d$number))
  expect_identical(bytes(source_of_rows(d[c(features, "number")], label = "number"), params = list(max_bin = 9)),
                   bytes(d[features], d$number, max_bin = 9))
})

test_that("a formula names columns of a source", {
  want <- gbt_train(class ~ v + w + f, d, weights = e, nrounds = 4, seed = 1, threads = 1)
  m <- gbt_train(class ~ v + w + f, source_of_rows(d), weights = e, nrounds = 4, seed = 1, threads = 1)
  expect_identical(m$state, want$state)
  expect_identical(m$formula, want$formula)
  expect_identical(predict(m, d), predict(want, d))
  expect_identical(as.data.frame(gbt_evaluate(m, d)), as.data.frame(gbt_evaluate(want, d)))
  expect_identical(bytes(number ~ . - many, source_of_rows(d), weights = d$e, mask = seq_len(n) > 9),
                   bytes(number ~ . - many, d, weights = d$e, mask = seq_len(n) > 9))
  want <- gbt_train(number ~ . - e, d[c(features, "number", "e")], weights = e, nrounds = 4, threads = 1)
  m <- gbt_train(number ~ ., source_of_rows(d[c(features, "number", "e")], weight = "e"), nrounds = 4, threads = 1)
  expect_identical(as.data.frame(m), as.data.frame(want)) # a column with a role is no feature
})

test_that("validation data may be a source", {
  x <- d[c(features, "number", "e")]
  valid <- x[1:90, ]
  trained <- function(...) gbt_train(..., nrounds = 6, early_stopping_rounds = 3, seed = 1, threads = 1, verbose = 0)
  want <- trained(number ~ v + w + f + l, x, weights = e, valid = valid)
  same <- function(m) {
    expect_identical(m$state, want$state)
    expect_identical(m$evaluation_log, want$evaluation_log)
  }
  same(trained(number ~ v + w + f + l, source_of_rows(x), weights = e, valid = source_of_rows(valid)))
  same(trained(number ~ v + w + f + l, source_of_rows(x), weights = e, valid = valid))
  same(trained(number ~ v + w + f + l, x, weights = e, valid = source_of_rows(valid, weight = "e")))
  plain <- trained(source_of_rows(x, label = "number", weight = "e"), valid = list(a = source_of_rows(valid)))
  expect_identical(plain$evaluation_log$a_rmse, want$evaluation_log$valid_rmse)
  before <- gbt_train(number ~ v + w + f + l, x, nrounds = 2, threads = 1, max_bin = 5)
  on <- function(valid) trained(number ~ v + w + f + l, x, init_model = before, valid = valid)$evaluation_log
  expect_identical(on(source_of_rows(valid)), on(valid))
})

test_that("a source is read once, however many models are trained", {
  x <- d[c(features, "number")]
  counted <- new.env()
  cv <- gbt_cv(source_of_rows(x, label = "number", counted = counted), folds = 3, nrounds = 3, seed = 1, threads = 1)
  batches <- ceiling(n / 50) + 1 # and NULL at the end
  expect_identical(counted$pulls, batches)
  expect_identical(cv$evaluation_log, gbt_cv(d[features], d$number, folds = 3, nrounds = 3, seed = 1,
                                             threads = 1)$evaluation_log)
  gbt_tune(number ~ ., source_of_rows(x, counted = counted), folds = 2, configs = 2, nrounds = 3, seed = 1, threads = 1)
  expect_identical(counted$pulls, batches)
})

test_that("files and queries are sources", {
  skip_if_not_installed("data.table")
  x <- d[c(features, "number")]
  want <- bytes(d[features], d$number)
  file <- file_of(x)
  expect_identical(bytes(gbt_files(file, label = "number")), want)
  expect_identical(bytes(gbt_files(file, label = "number", block_bytes = 999)), want)
  expect_identical(bytes(number ~ ., gbt_files(file)), bytes(number ~ ., x))
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "rows", transform(x, l = as.integer(l)))
  query <- function(...) gbt_query(db, "SELECT * FROM rows", chunk_rows = 77, ...)
  want <- bytes(number ~ ., transform(x, l = as.integer(l)))
  expect_identical(bytes(number ~ ., query()), want)
  result <- DBI::dbSendQuery(db, "SELECT * FROM rows")
  expect_identical(bytes(number ~ ., result), want)
  DBI::dbClearResult(result)
})

test_that("what can be checked without rows is checked before they are read", {
  x <- d[c(features, "number", "class")]
  counted <- new.env()
  before <- function(pulls, ..., given = source_of_rows(x, label = "number", counted = counted), class = "argument") {
    force(given)
    expect_error(gbt_train(given, ...), class = paste0("gbt_error_", class))
    expect_lte(counted$pulls, pulls)
    given <- source_of_rows(x, counted = counted)
    expect_error(gbt_train(number ~ ., given, ...), class = paste0("gbt_error_", class))
    expect_lte(counted$pulls, pulls)
    given <- source_of_rows(x, label = "number", counted = counted)
    expect_error(gbt_cv(given, ...), class = paste0("gbt_error_", class))
    expect_lte(counted$pulls, pulls)
  }
  before(0, max_deep = 4)
  before(0, eta = -1)
  before(0, objective = "squares")
  before(0, eval_metric = "rsme")
  before(0, eval_metric = c("rmse", "Quantil:alpha=0.5"))
  before(0, max_bin = 1)
  before(0, threads = -1)
  before(0, valid = 0.2, class = "unsupported")
  before(0, params = list(nrounds = 0.5))
  before(1, monotone = c(vv = 1))
  before(1, interactions = list(c("v", "ww")))
  before(1, cat_features = "ww")
  before(1, level_counts = "ww")
  before(1, weights = "ww")
  none <- function(pulls, f, class) {
    expect_error(f(source_of_rows(x, counted = counted)), class = class)
    expect_lte(counted$pulls, pulls)
  }
  none(0, function(s) gbt_train(s, nrounds = 1), "gbt_error_argument")
  none(1, function(s) gbt_train(s, "numbr", nrounds = 1), "gbt_error_argument")
  none(1, function(s) gbt_train(numbr ~ ., s, nrounds = 1), "gbt_error_data")
  none(1, function(s) gbt_train(number ~ vv, s, nrounds = 1), "gbt_error_data")
  none(1, function(s) gbt_train(number ~ log(w), s, nrounds = 1), "gbt_error_unsupported")
})

test_that("what a source cannot do is refused with the way out", {
  source <- function(...) source_of_rows(d, ...)
  expect_snapshot(error = TRUE, {
    gbt_train(source())
    gbt_train(source(label = "number"), valid = 0.2)
    gbt_train(source(), "numbr")
    gbt_train(numbr ~ ., source())
    gbt_train(log(number) ~ ., source())
    gbt_train(number ~ poly(v, 2), source())
    gbt_train(number ~ v + offset(e), source())
    gbt_train(number ~ number + v, source())
    gbt_train(class ~ ., source(label = "number"))
    gbt_train(number ~ ., source(), weights = e / 2)
    gbt_train(number ~ ., source(), subset = e > 2)
    gbt_train(number ~ ., source(), mask = l)
    gbt_train(number ~ ., source(), na.action = na.omit)
    gbt_train(source(label = "number"), number ~ .)
    gbt_train(source_of_rows(d[0, ]), "number")
    gbt_train(number ~ poly(v, 2), d, valid = source())
    gbt_train(d[features], d$number, valid = source())
  })
})

test_that("connections and tables of a database are refused by what reads them", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  m <- gbt_train(number ~ v + w, d, nrounds = 2, threads = 1)
  names_query <- function(x) {
    for (f in list(function() gbt_train(x), function() gbt_train(number ~ ., x), function() gbt_cv(number ~ ., x),
                   function() gbt_tune(x), function() predict(m, x), function() gbt_evaluate(m, x),
                   function() gbt_train(number ~ v, d, valid = x), function() gbt_shap(m, x),
                   function() gbt_partial(m, x))) {
      expect_error(f(), "gbt_query(connection", fixed = TRUE, class = "gbt_error_data")
    }
  }
  names_query(db)
  names_query(structure(list(), class = c("tbl_SQLiteConnection", "tbl_dbi", "tbl_sql", "tbl_lazy", "tbl")))
})

test_that("values of a wrong length are named as arguments of gbt_train()", {
  x <- d[c(features, "number")]
  lacks <- function(message, ...) {
    expect_error(gbt_train(..., nrounds = 1, threads = 1), message, fixed = TRUE, class = "gbt_error_data")
  }
  lacks("`weights` has 3 values for 240 rows", source_of_rows(x, label = "number"), weights = 1:3)
  lacks("`weights` has 3 values for 240 rows", number ~ v, source_of_rows(x), weights = 1:3)
  lacks("`y` has 3 values for 240 rows", source_of_rows(x), y = 1:3)
  lacks("`offset` has 3 values for 240 rows", number ~ v, source_of_rows(x), offset = 1:3)
  expect_error(gbt_data(d[features], d$number, weight = 1:3), "`weight` has 3 values", class = "gbt_error_data")
})
