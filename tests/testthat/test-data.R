test_that("a gbt_data tells what it holds", {
  x <- data.frame(a = c(1, 2, NA), b = factor(c("u", "v", "u")), c = factor(1:3, ordered = TRUE))
  d <- gbt_data(x, label = 1:3, weight = c(1, 1, 2), threads = 1)
  expect_identical(dim(d), c(3L, 3L))
  expect_identical(dimnames(d), list(NULL, c("a", "b", "c")))
  info <- .Call(C_gbt_dataset_info, d$ptr)
  expect_identical(info$type, c("numeric", "categorical", "ordinal"))
  expect_identical(info$n_bins, c(2L, 2L, 3L))
  expect_identical(info$has_missing, c(TRUE, FALSE, FALSE))
  expect_snapshot(d)
})

test_that("gbt_data() says where arguments of trainings go", {
  of_training <- function(...) gbt_data(mtcars[-1], mtcars$mpg, ...)
  expect_error(of_training(mask = TRUE), "has no `mask`: give gbt_train(mask = )", fixed = TRUE)
  expect_error(of_training(num_leaves = 7), "has no `num_leaves`: give gbt_train(max_leaves = )", fixed = TRUE)
})

test_that("a gbt_data has no rows to take", {
  d <- gbt_data(iris, label = iris$Species, threads = 1)
  for (take in list(function() d[1:3, ], function() head(d), function() d[iris$Sepal.Length > 5, 1], function() d[1])) {
    expect_error(take(), "no rows to select", class = "gbt_error_unsupported")
  }
  expect_identical(d$n_rows, 150)
  expect_output(str(d), "feature_names")
})

test_that("validation data take the cuts and levels of their reference", {
  x <- data.frame(a = c(1, 2, 3), b = factor(c("u", "v", "v")))
  d <- gbt_data(x, threads = 1)
  v <- gbt_data(data.frame(extra = 1, b = factor(c("w", "v")), a = c(9, NA)), reference = d, threads = 1)
  expect_identical(.Call(C_gbt_dataset_info, v$ptr)[c("names", "n_bins")],
                   .Call(C_gbt_dataset_info, d$ptr)[c("names", "n_bins")])
  expect_identical(dim(v), c(2L, 2L))
  expect_error(gbt_data(data.frame(b = "w", a = 1), reference = d, unseen = "error"), "\"w\"", class = "gbt_error_data")
  expect_error(gbt_data(x["a"], reference = d), "`b`", class = "gbt_error_data")
  expect_error(gbt_data(x, reference = d, max_bin = 9), class = "gbt_error_argument")
  expect_error(gbt_data(x, reference = x), class = "gbt_error_argument")
})

test_that("a label that can be none is told by its kind", {
  for (label in list(sum, ~mpg, list(1, 2), quote(mpg), globalenv())) {
    expect_error(gbt_data(mtcars, label = label), "must be numbers, a factor, .* not ", class = "gbt_error_data")
  }
  expect_error(gbt_data(mtcars, label = 1:3), "`label` has 3 values for 32 rows", class = "gbt_error_data")
})

test_that("an object that was saved and read again says so", {
  file <- withr::local_tempfile()
  saveRDS(gbt_data(iris, threads = 1), file)
  d <- readRDS(file)
  expect_snapshot(d)
  expect_error(gbt_train(d, iris$Species), "recreate it", class = "gbt_error_data")
  expect_error(.Call(C_gbt_dataset_info, d$ptr), "recreate it", class = "gbt_error_data")
})

test_that("handles are never mistaken for each other", {
  d <- gbt_data(iris, threads = 1)
  expect_error(.Call(C_gbt_trainer_info, d$ptr), class = "gbt_error_internal")
  expect_error(.Call(C_gbt_dataset_info, NULL), class = "gbt_error_internal")
})

test_that("arguments are never written to", {
  x <- data.frame(a = c(3, 1, 2), b = c(3L, 1L, NA), s = c("u", NA, "v"))
  y <- c(1, 2, 3)
  w <- c(1, 0, 1)
  before <- serialize(list(x, y, w), NULL)
  m <- gbt_train(x, y, weights = w, nrounds = 2, threads = 1)
  predict(m, x)
  expect_identical(serialize(list(x, y, w), NULL), before)
})

test_that("the engine names the values of its enums", {
  for (values in enums) {
    expect_identical(unname(values), seq_along(values) - 1L + values[[1L]])
    expect_false(anyDuplicated(names(values)) > 0L)
  }
  expect_identical(names(enums$unseen), eval(formals(gbt_data.default)$unseen))
})

test_that("the name of a column in place of values is told", {
  for (role in c("label", "weight", "offset", "time", "group")) {
    error <- expect_error(do.call(gbt_data, c(list(mtcars), stats::setNames(list("mpg"), role))),
                          "give the values themselves|give the numbers themselves", class = "gbt_error_data")
    expect_identical(error$column, role)
  }
})
