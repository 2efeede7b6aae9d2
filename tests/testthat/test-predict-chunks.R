# Predictions of rows in chunks are those of all rows at once, wherever they go.

in_chunks <- function(x, size) {
  function(i) {
    rows <- (i - 1) * size + seq_len(size)
    rows <- rows[rows <= nrow(x)]
    if (length(rows)) x[rows, , drop = FALSE]
  }
}

models <- function() {
  set.seed(1)
  d <- iris[sample(nrow(iris)), ]
  d$Sepal.Width[c(3, 80)] <- NA
  rownames(d) <- NULL
  text <- transform(d, Species = as.character(Species))
  list(
    regression = list(m = gbt_train(d[-1], d$Sepal.Length, nrounds = 5, threads = 1), x = d[-1]),
    two = list(m = gbt_train(d[1:4], d$Species == "setosa", nrounds = 5, threads = 1), x = d[1:4]),
    three = list(m = gbt_train(d[1:4], d$Species, nrounds = 5, threads = 1), x = d[1:4]),
    matrix = list(m = gbt_train(as.matrix(d[1:3]), d$Petal.Width, nrounds = 5, threads = 1), x = as.matrix(d[1:3])),
    formula = list(m = gbt_train(Petal.Width ~ log(Sepal.Length) + Species, d, nrounds = 5, threads = 1), x = d),
    text = list(m = gbt_train(text[-1], text$Sepal.Length, nrounds = 5, threads = 1), x = text[-1])
  )
}

test_that("chunks of any size give the predictions of the whole", {
  for (one in models()) {
    types <- c("response", "link", "leaf", if (!is.null(one$m$classes)) c("prob", "class"))
    for (type in types) {
      whole <- predict(one$m, one$x, type = type, threads = 1)
      for (size in c(1, 7, 75, 149, 150, 151)) {
        expect_identical(predict(one$m, in_chunks(one$x, size), type = type, threads = 1), whole)
      }
    }
  }
})

test_that("chunks without rows, levels of their own and numbers of other types are as in the whole", {
  d <- iris
  d$Species <- as.character(d$Species)
  m <- gbt_train(d[-1], d$Sepal.Length, nrounds = 5, threads = 1)
  chunks <- list(d[0, -1], transform(d[1:50, -1], Species = factor(Species)), d[0, -1], d[51:149, -1],
                 transform(d[150, -1], Species = factor(Species, c("z", "virginica"))), d[0, -1])
  expect_identical(predict(m, function(i) if (i <= 6) chunks[[i]]), predict(m, d[-1]))
  expect_identical(predict(m, function(i) if (i <= 1) d[0, -1]), predict(m, d[0, -1]))
  row_names <- d[-1]
  rownames(row_names) <- sprintf("row %d", 1:150)
  expect_identical(predict(m, in_chunks(row_names, 40)), predict(m, row_names))
})

test_that("errors say in which chunk", {
  d <- iris
  m <- gbt_train(d[-1], d$Sepal.Length, nrounds = 2, threads = 1)
  d$Species <- replace(as.character(d$Species), 35, "tulip")
  error <- tryCatch(predict(m, in_chunks(d, 10), unseen = "error"), error = identity)
  expect_s3_class(error, "gbt_error_data")
  expect_match(conditionMessage(error), "row 5.*\\(in chunk 4, which begins with row 31\\)$")
  expect_error(predict(m, function(i) if (i < 3) d[c("Species", "Petal.Width")]), "chunk 1, which begins with row 1\\)")
})

test_that("offsets come with the chunks or for all rows", {
  x <- as.matrix(mtcars[-1])
  o <- mtcars$hp / 100
  m <- gbt_train(x, mtcars$mpg, offset = o, nrounds = 4, threads = 1)
  whole <- predict(m, x, offset = o)
  expect_identical(predict(m, in_chunks(x, 10), offset = o), whole)
  listed <- function(i) {
    rows <- (i - 1) * 10 + 1:10
    rows <- rows[rows <= 32]
    if (length(rows)) list(x = x[rows, , drop = FALSE], offset = o[rows], label = mtcars$mpg[rows])
  }
  expect_identical(predict(m, listed), whole)
  seen <- 0
  both <- withCallingHandlers(predict(m, in_chunks(x, 10)), gbt_warning_offset = function(w) {
    seen <<- seen + 1
    invokeRestart("muffleWarning")
  })
  expect_equal(seen, 1)
  expect_error(predict(m, listed, offset = o), "an argument and by the chunks", class = "gbt_error_argument")
  expect_error(predict(m, in_chunks(x, 10), offset = o[-1]), "`offset` has 31 rows, but chunk 4 ends with row 32")
  expect_error(predict(m, in_chunks(x, 10), offset = c(o, 1)), "33 rows for 32 rows")
})

test_that("sources of gbt_data() are predicted", {
  m <- gbt_train(iris[1:4], iris$Species, nrounds = 5, threads = 1)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(iris, file, row.names = FALSE)
  whole <- predict(m, iris)
  skip_if_not_installed("data.table")
  expect_identical(predict(m, gbt_files(file, label = "Species")), whole)
  reader <- new.env()
  reader$left <- split(iris, rep(1:5, 30))
  order <- unlist(split(1:150, rep(1:5, 30)), use.names = FALSE)
  reader$read_next_batch <- function() {
    if (length(reader$left) == 0) return(NULL)
    batch <- reader$left[[1]]
    reader$left <- reader$left[-1]
    batch
  }
  expect_identical(predict(m, gbt_batches(reader), type = "class"), predict(m, iris[order, ], type = "class"),
                   ignore_attr = "names")
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "flowers", transform(iris, Species = as.character(Species)))
  statement <- "SELECT \"Petal.Width\", \"Petal.Length\", \"Sepal.Width\", \"Sepal.Length\" FROM flowers"
  expect_identical(predict(m, gbt_query(db, statement, chunk_rows = 20)), whole)
  result <- DBI::dbSendQuery(db, statement)
  expect_identical(predict(m, result), whole)
  DBI::dbClearResult(result)
  result <- DBI::dbSendQuery(db, "SELECT * FROM flowers")
  d <- gbt_data(result, label = iris$Sepal.Length)
  DBI::dbClearResult(result)
  expect_identical(d$n_rows, 150)
})

test_that("a source is read once, by what the model knows of its columns", {
  skip_if_not_installed("data.table")
  n <- 200
  d <- data.frame(v = seq_len(n) / 8, code = sprintf("%03d", seq_len(n) %% 7), day = as.Date("2020-01-01") + seq_len(n),
                  at = as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n) * 3600, l = seq_len(n) %% 3 == 0)
  d$v[1:30] <- NA
  d$day[40:90] <- NA
  d$text <- ifelse(seq_len(n) < 120, format(d$at, "%Y-%m-%d"), "later") # dates at first
  y <- seq_len(n) %% 7 + (seq_len(n) > 110)
  model <- gbt_train(d, y, nrounds = 5, threads = 1)
  want <- predict(model, d, threads = 1)
  file <- withr::local_tempfile(fileext = ".csv")
  written <- transform(d, at = format(at, "%Y-%m-%d %H:%M:%S"), off = c(rep(NA, 60), rep(1, n - 60)))
  written$at[c(24, 48)] <- c("2020-01-02", "2020-01-03") # a time may be written as a day
  utils::write.csv(written, file, row.names = FALSE, na = "")
  opened <- 0
  for (block in c(1e6, 3000, 700, 100)) {
    source <- gbt_files(file, columns = names(d), block_bytes = block)
    inner <- source$open
    source$open <- function(texts) {
      opened <<- opened + 1
      inner(texts)
    }
    folders <- character(0)
    got <- numeric(0)
    predict(model, source, threads = 1, output = function(out, first) {
      folders <<- list.files(tempdir(), pattern = "^gbt-rows-")
      got <<- c(got, out)
    })
    expect_identical(got, want)
    expect_identical(folders, character(0))
  }
  expect_identical(opened, 4)
  file2 <- withr::local_tempfile(fileext = ".csv") # a column of another kind is found where it is
  writeLines(c(readLines(file), sub("^[^,]*", "many", readLines(file)[50])), file2)
  expect_error(predict(model, gbt_files(file2, block_bytes = 700), threads = 1), "`v`.*\\(in chunk",
               class = "gbt_error_data")
  # an offset's blank chunk is missing values, as it would be in the whole
  expect_error(predict(model, gbt_files(file, offset = "off", block_bytes = 700), threads = 1), "missing",
               class = "gbt_error_data")
  terms <- gbt_train(y ~ log(v + 1) + code, cbind(d, y = y), nrounds = 5, threads = 1)
  expect_identical(predict(terms, gbt_files(file, texts = "code", block_bytes = 700), threads = 1),
                   predict(terms, d, threads = 1))
})

test_that("a function gets the chunks in order", {
  m <- gbt_train(iris[1:4], iris$Species, nrounds = 5, threads = 1)
  rows <- NULL
  parts <- list()
  take <- function(p, first) {
    rows <<- c(rows, first)
    parts[[length(parts) + 1]] <<- p
  }
  n <- withVisible(predict(m, in_chunks(iris, 60), output = take))
  expect_false(n$visible)
  expect_identical(n$value, 150)
  expect_identical(rows, c(1, 61, 121))
  expect_identical(do.call(rbind, parts), predict(m, iris))
  expect_error(predict(m, iris, output = function(p, first) stop("no room")), "no room", class = "gbt_error_callback")
  expect_error(predict(m, iris, output = 1), "`output` must be", class = "gbt_error_argument")
  expect_error(predict(m, iris, output = take, threads = quote(f(x))), "`threads`", class = "gbt_error_argument")
})

test_that("files have the very predictions, and are whole or not there", {
  x <- data.frame(a = c(1:30, NA), b = factor(rep(c("u", "v,\"w\""), length.out = 31)))
  y <- sin(1:31) * 1e5 / 3
  m <- gbt_train(x, y, nrounds = 20, threads = 1)
  k <- gbt_train(x["a"], x$b, nrounds = 3, threads = 1)
  for (end in c(".csv", ".csv.gz")) {
    file <- file.path(withr::local_tempdir(), paste0("p", end))
    for (size in c(1, 10, 31)) {
      expect_identical(predict(m, in_chunks(x, size), output = file), 31)
      expect_identical(readLines(file, 1), "prediction")
      expect_identical(as.numeric(readLines(file)[-1]), predict(m, x))
    }
    predict(k, x, type = "class", output = file)
    expect_identical(utils::read.csv(file)$prediction, as.character(predict(k, x, type = "class")))
    predict(k, x, type = "prob", output = file)
    back <- utils::read.csv(file, check.names = FALSE)
    expect_identical(names(back), c("u", "v,\"w\""))
    expect_identical(unname(as.matrix(back)), unname(predict(k, x, type = "prob")))
    predict(m, x, type = "leaf", output = file)
    expect_identical(unname(as.matrix(utils::read.csv(file))), unname(predict(m, x, type = "leaf")))
    was <- readBin(file, "raw", 1e6)
    broken <- function(i) if (i < 3) x else stop("the line is cut")
    expect_error(predict(m, broken, output = file), "the line is cut")
    expect_identical(readBin(file, "raw", 1e6), was)
  }
  expect_length(list.files(dirname(file), pattern = "[.]tmp$", all.files = TRUE), 0)
  expect_error(predict(m, x, output = file.path(tempdir(), "nowhere", "p.csv")), "cannot write file",
               class = "gbt_error_io")
  expect_error(predict(m, function(i) NULL), "there are no rows", class = "gbt_error_data")
})

test_that("tables are cut at any size", {
  m <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 3, threads = 1)
  expect_identical(csv_values(c(0.1, 1 / 3, NA, Inf, -0, 5e-324, 1e22)),
                   c("0.1", "0.33333333333333331", "NA", "Inf", "-0", "4.94065645841247e-324", "1e+22"))
  skip_if_not_installed("Matrix")
  set.seed(1)
  big <- Matrix::sparseMatrix(i = rep(1:2500, 3), j = sample.int(5000, 7500, TRUE), x = 1, dims = c(2500, 5000),
                              dimnames = list(NULL, sprintf("s%d", 1:5000)))
  wide <- gbt_train(big, as.numeric(Matrix::rowSums(big[, 1:2000])), nrounds = 3, threads = 1)
  got <- first <- NULL
  predict(wide, big, output = function(p, from) {
    got <<- c(got, p)
    first <<- c(first, from)
  })
  expect_identical(got, predict(wide, big))
  expect_identical(first, c(1, 1025, 2049))
})
