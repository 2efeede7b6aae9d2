# Going on from a model with data that are prepared: the same models as with the data themselves.

same_state <- function(a, b) expect_identical(a$state, b$state)
in_parts <- function(x, size, ...) {
  more <- list(...)
  function(i) {
    rows <- (i - 1) * size + seq_len(size)
    rows <- rows[rows <= nrow(x)]
    if (length(rows) == 0L) return(NULL)
    if (length(more) == 0L) return(x[rows, , drop = FALSE])
    c(list(x = x[rows, , drop = FALSE]), lapply(more, function(v) v[rows]))
  }
}
go_on <- function(...) gbt_train(..., nrounds = 4, seed = 2, threads = 1, verbose = FALSE)

test_that("bins made for a model go on from it", {
  first <- gbt_train(iris[-1], iris$Sepal.Length, nrounds = 5, threads = 1)
  later <- iris[c(30:150, 1:10), ]
  later$Species <- factor(later$Species, rev(levels(iris$Species)))
  want <- go_on(later[-1], later$Sepal.Length, init_model = first)
  d <- gbt_data(later[-1], later$Sepal.Length, init_model = first, threads = 1)
  same_state(go_on(d, init_model = first), want)
  parts <- gbt_data(in_parts(later[-1], 50), later$Sepal.Length, init_model = first, threads = 1)
  same_state(go_on(parts, init_model = first), want)
  folder <- withr::local_tempdir()
  gbt_data(later[-1], later$Sepal.Length, init_model = first, path = folder, threads = 1)
  opened <- gbt_open(folder, threads = 1)
  same_state(go_on(opened, init_model = first), want)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(later, file, row.names = FALSE)
  skip_if_not_installed("data.table")
  read <- gbt_data(gbt_files(file, label = "Sepal.Length"), init_model = first, threads = 1)
  texts <- transform(later, Species = as.character(Species))
  same_state(go_on(read, init_model = first), go_on(texts[-1], texts$Sepal.Length, init_model = first))
})

test_that("offsets, classes, masks, validation sets and level counts go on", {
  set.seed(1)
  x <- data.frame(a = rnorm(200), b = factor(sample(letters[1:6], 200, TRUE)), c = sample(9, 200, TRUE))
  y <- factor(c("u", "v", "w")[1 + (x$a > 0) + (x$b %in% c("a", "b") & x$c > 4)])
  o <- matrix(rnorm(600) / 5, 200)
  first <- gbt_train(x[1:120, ], y[1:120], offset = o[1:120, ], nrounds = 3, threads = 1, level_counts = "b",
                     cat_features = "c")
  at <- 60:200
  mask <- rep(c(TRUE, TRUE, FALSE), 47)
  want <- go_on(x[at, ], y[at], offset = o[at, ], init_model = first, cat_features = "c", mask = mask,
                valid = list(v = list(x = x[1:59, ], y = y[1:59], offset = o[1:59, ])))
  d <- gbt_data(x[at, ], y[at], offset = o[at, ], init_model = first, cat_features = "c", threads = 1)
  v <- gbt_data(x[1:59, ], y[1:59], offset = o[1:59, ], reference = d, init_model = first, threads = 1)
  got <- go_on(d, init_model = first, valid = list(v = v), mask = mask)
  same_state(got, want)
  expect_identical(got$log, want$log)
  expect_identical(got$masked_out, want$masked_out)
})

test_that("a model that stopped early is taken up to its best round", {
  set.seed(3)
  x <- matrix(rnorm(600), 200)
  y <- x[, 1] + rnorm(200)
  first <- gbt_train(x[1:150, ], y[1:150], valid = list(x = x[151:200, ], y = y[151:200]), nrounds = 60,
                     early_stopping = 3, threads = 1, verbose = FALSE)
  d <- gbt_data(x, y, init_model = first, threads = 1)
  same_state(go_on(d, init_model = first), go_on(x, y, init_model = first))
})

test_that("other data, models and offsets are refused", {
  first <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 2, threads = 1)
  other <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 3, threads = 1)
  plain <- gbt_data(mtcars[-1], mtcars$mpg, threads = 1)
  d <- gbt_data(mtcars[-1], mtcars$mpg, init_model = first, threads = 1)
  few <- gbt_data(mtcars[1:9, -1], mtcars$mpg[1:9], threads = 1)
  expect_error(go_on(few, init_model = first), "was not made for it, and its bins do not do.*no cut",
               class = "gbt_error_unsupported")
  made <- gbt_data(mtcars[1:9, -1], mtcars$mpg[1:9], init_model = first, threads = 1)
  expect_error(go_on(made, init_model = other), "was not made for this model", class = "gbt_error_unsupported")
  v <- gbt_data(mtcars[-1], mtcars$mpg, reference = made, threads = 1)
  expect_error(go_on(made, init_model = first, valid = list(v = v)), class = "gbt_error_unsupported",
               "validation set \"v\" is a gbt_data that was not made")
  expect_error(gbt_data(mtcars[-1], init_model = 1), "init_model", class = "gbt_error")
  for (bad in list(7, list(model = raw(64)), list(model = d$start$model, score = 1:32 + 0.5 + NA),
                   list(model = d$start$model, score = rep(0, 31)))) {
    changed <- d
    changed$start <- bad
    expect_error(go_on(changed, init_model = first), "whose field `start` was changed", class = "gbt_error_argument")
  }
  changed$start <- list(model = d$start$model, score = rep(0, 64))
  expect_error(go_on(changed, init_model = first), "whose field `start` was changed", class = "gbt_error_argument")
  folder <- withr::local_tempdir()
  gbt_data(mtcars[-1], mtcars$mpg, init_model = first, path = folder, threads = 1)
  moved <- gbt_open(folder, offset = rep(1, 32), threads = 1)
  expect_error(go_on(moved, init_model = first), class = "gbt_error")
})

test_that("bins of the same cuts go on from a model without being made for it", {
  first <- gbt_train(iris[-1], iris$Sepal.Length, nrounds = 5, threads = 1)
  want <- go_on(iris[-1], iris$Sepal.Length, init_model = first)
  plain <- gbt_data(iris[-1], iris$Sepal.Length, threads = 1)
  same_state(go_on(plain, init_model = first), want)
  folder <- withr::local_tempdir()
  gbt_data(iris[-1], iris$Sepal.Length, path = folder, page_rows = 40, threads = 1)
  opened <- gbt_open(folder, memory = 0, threads = 1)
  same_state(go_on(opened, init_model = first), want)
  later <- iris[seq(1, 150, 3), ]
  v <- gbt_data(later[-1], later$Sepal.Length, reference = plain, threads = 1)
  rows <- list(x = later[-1], y = later$Sepal.Length)
  same_state(go_on(plain, init_model = first, valid = list(v = v)),
             go_on(iris[-1], iris$Sepal.Length, init_model = first, valid = list(v = rows)))
  mask <- seq_len(150) %% 4 != 0
  same_state(go_on(plain, init_model = first, mask = mask),
             go_on(iris[-1], iris$Sepal.Length, init_model = first, mask = mask))
  off <- seq_len(150) / 100
  moved <- gbt_train(iris[-1], iris$Sepal.Length, offset = off, nrounds = 5, threads = 1)
  same_state(go_on(gbt_data(iris[-1], iris$Sepal.Length, offset = off, threads = 1), init_model = moved),
             go_on(iris[-1], iris$Sepal.Length, offset = off, init_model = moved))
})
