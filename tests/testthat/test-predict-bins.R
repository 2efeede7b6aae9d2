# Rows that are binned are predicted by their bins: the very answers of the rows themselves.

n <- 600
set.seed(5)
d <- data.frame(
  a = replace(rnorm(n), seq_len(n) %% 13 == 0, NA), b = seq_len(n) %% 40, f = factor(sample(letters, n, TRUE)),
  o = factor(sample(5, n, TRUE), ordered = TRUE), t = sample(c("x", "y", NA), n, TRUE), z = rbinom(n, 3, 0.03),
  day = as.Date("2020-01-01") + sample(300, n, TRUE), l = seq_len(n) %% 3 == 0
)
y <- factor(c("u", "v", "w")[1 + (d$f %in% c("a", "e")) + (!is.na(d$a) & d$a > 0)])
train <- function(...) gbt_train(..., nrounds = 6, seed = 1, threads = 1)

test_that("bins in memory, in a folder and in chunks answer as the rows do", {
  folder <- file.path(withr::local_tempdir(), "bins")
  memory <- gbt_data(d, y, threads = 1)
  gbt_data(d, y, path = folder, page_rows = 70, threads = 1)
  opened <- gbt_open(folder, memory = 0, threads = 1)
  m <- train(memory)
  for (data in list(memory, opened, gbt_data(d, page_rows = 33, threads = 1))) {
    for (type in c("response", "link", "prob", "class", "leaf")) {
      expect_identical(predict(m, data, type = type, threads = 2), predict(m, d, type = type, threads = 1))
    }
    expect_identical(predict(m, data, trees = 2), predict(m, d, trees = 2))
  }
  one <- train(memory, y = as.numeric(y), cat_method = "target") # statistics of levels
  expect_identical(predict(one, opened), predict(one, d))
  counts <- gbt_data(d, y, level_counts = TRUE, threads = 1)
  expect_identical(predict(train(counts), counts), predict(train(counts), d))
  skip_if_not_installed("Matrix")
  x <- Matrix::Matrix(replace(matrix(seq_len(6000) %% 7, 600), seq_len(6000) %% 9 > 0, 0), sparse = TRUE)
  for (zero in c("value", "missing")) {
    s <- gbt_data(x, as.numeric(y), sparse_zero = zero, threads = 1)
    expect_identical(predict(train(s), s), predict(train(s), x))
  }
})

test_that("validation data are those of their reference, with levels that training did not have", {
  m <- train(data <- gbt_data(d, y, threads = 1))
  v <- d[301:n, 8:1]
  v$f <- replace(as.character(v$f), 1:40, "new")
  for (unseen in c("prior", "missing")) {
    bins <- gbt_data(v, reference = data, unseen = unseen, threads = 1)
    expect_identical(predict(m, bins), predict(m, v, unseen = unseen))
  }
  bins <- gbt_data(v, reference = data, threads = 1)
  expect_error(predict(m, bins, unseen = "error"), "column `f`, row 1", class = "gbt_error_data")
})

test_that("offsets are those of the data, and predictions may go elsewhere", {
  off <- seq_len(n) / 300
  data <- gbt_data(d, as.numeric(y), offset = off, threads = 1)
  m <- train(data)
  want <- predict(m, d, offset = off)
  expect_identical(predict(m, data), want)
  expect_identical(predict(m, data, offset = -off), predict(m, d, offset = -off))
  bare <- gbt_data(d, threads = 1)
  expect_warning(predict(m, bare), class = "gbt_warning_offset")
  got <- list()
  expect_identical(predict(m, data, output = function(p, first) got <<- c(got, list(p, first))), 600)
  expect_identical(got, list(want, 1))
  file <- withr::local_tempfile(fileext = ".csv")
  predict(m, data, output = file)
  expect_identical(utils::read.csv(file)$prediction, want)
})

test_that("an exposure is given by its values", {
  count <- seq_len(n) %% 5
  years <- 1 + seq_len(n) %% 3
  data <- gbt_data(d, count, offset = log(years), threads = 1)
  m <- train(data, objective = "poisson")
  expect_identical(predict(m, data, exposure = years), predict(m, d, offset = log(years)))
  expect_identical(predict(m, data, exposure = 2), predict(m, d, offset = rep(log(2), n)))
  expect_error(predict(m, data, exposure = "years"), "names a column", class = "gbt_error_data")
})

test_that("what bins do not tell is refused", {
  m <- train(d, y)
  wrong <- function(data, text, ..., class = "gbt_error_data") expect_error(predict(m, data, ...), text, class = class)
  wrong(gbt_data(d[1:100, ], threads = 1), "not a cut of these data")
  wrong(gbt_data(d["a"], threads = 1), "missing")
  data <- gbt_data(d, threads = 1)
  wrong(data, "needs the rows themselves", type = "contrib", class = "gbt_error_unsupported")
  wrong(data, "`offset`", offset = 1:3)
  wrong(data, "`sparse_zero` applies to sparse matrices", sparse_zero = "missing", class = "gbt_error_argument")
  turned <- gbt_data(transform(d, o = factor(o, 5:1, ordered = TRUE)), threads = 1)
  expect_error(predict(train(d, as.numeric(d$o)), turned), "`o` has other levels", class = "gbt_error_data")
  expect_error(gbt_shap(m, data), class = "gbt_error")
})
