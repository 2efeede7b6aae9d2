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
  expect_error(go_on(few, init_model = first), "bins do not fit it.*not a cut",
               class = "gbt_error_unsupported")
  made <- gbt_data(mtcars[1:9, -1], mtcars$mpg[1:9], init_model = first, threads = 1)
  expect_error(go_on(made, init_model = other), "bins do not fit this model", class = "gbt_error_unsupported")
  v <- gbt_data(mtcars[-1], mtcars$mpg, reference = made, threads = 1)
  expect_error(go_on(made, init_model = first, valid = list(v = v)), class = "gbt_error_unsupported",
               "validation set \"v\" is a gbt_data whose bins do not fit")
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

test_that("columns may come in any order", {
  x <- withr::with_seed(1, data.frame(a = rnorm(120), b = rnorm(120), f = factor(sample(letters[1:4], 120, TRUE)),
                                      g = runif(120)))
  x$g[3:9] <- NA
  y <- x$a + (x$f == "b") + (1:120) / 100
  other <- x[c(3, 4, 1, 2)]
  on <- function(x, init, ...) gbt_train(x, y, init_model = init, nrounds = 3, seed = 2, threads = 1, ...)
  init <- gbt_train(x, y, nrounds = 4, seed = 1, threads = 1)
  want <- on(x, init)
  expect_same_bytes(on(other, init)$state, want$state)
  expect_same_bytes(on(gbt_data(other, init_model = init, threads = 1), init)$state, want$state)
  chunks <- function(i) if (i < 3) other[60 * i - 59:0, ]
  expect_same_bytes(on(gbt_data(chunks, init_model = init, threads = 1), init)$state, want$state)
  valid <- list(x = x, y = y)
  expect_same_bytes(on(other, init, valid = valid)$state, on(x, init, valid = valid)$state)
  expect_error(on(gbt_data(other, threads = 1), init), "another order.*init_model = ", class = "gbt_error_argument")
  # places are those of the data that are given
  expect_same_bytes(on(other, init, interactions = list(c(1, 3), 2, 4))$state,
                    on(x, init, interactions = list(c("f", "a"), "g", "b"))$state)
  expect_same_bytes(on(other, init, monotone = c(0, 1, 0, -1))$state, on(x, init, monotone = c(g = 1, b = -1))$state)
  m <- as.matrix(x[c("a", "b", "g")])
  init <- gbt_train(m, y, nrounds = 4, seed = 1, threads = 1)
  expect_error(on(m[, 1:2], init), "it needs `g`", class = "gbt_error_argument")
  init <- gbt_train(round(m), y, nrounds = 4, seed = 1, cat_features = "b", threads = 1)
  want <- on(round(m), init, cat_features = 2)
  expect_same_bytes(on(round(m)[, c(2, 3, 1)], init, cat_features = 1)$state, want$state)
  skip_if_not_installed("Matrix")
  m[is.na(m) | m < 0.3] <- 0
  sparse <- methods::as(m, "CsparseMatrix")
  init <- gbt_train(sparse, y, nrounds = 4, seed = 1, threads = 1)
  expect_same_bytes(on(sparse[, c(2, 3, 1)], init)$state, on(sparse, init)$state)
  expect_same_bytes(on(m[, c(3, 1, 2)], init)$state, on(sparse, init)$state)
})

test_that("a batch may lack classes of the model, and have them in another order", {
  init <- gbt_train(iris[1:4], iris$Species, nrounds = 4, seed = 1, threads = 1)
  on <- function(rows, y, ...) suppressMessages(gbt_train(iris[rows, 1:4], y, init_model = init, nrounds = 2, seed = 2,
                                                          threads = 1, ...))
  for (rows in list(1:100, c(1:50, 101:150), 60:90)) {
    y <- iris$Species[rows]
    m <- on(rows, y)
    expect_identical(m$classes, levels(iris$Species))
    expect_identical(m$objective, "softmax")
    for (same in list(droplevels(y), as.character(y), factor(y, rev(levels(y))))) {
      expect_identical(predict(on(rows, same), iris), predict(m, iris))
    }
  }
  expect_message(gbt_train(iris[1:100, 1:4], iris$Species[1:100], init_model = init, nrounds = 1, threads = 1),
                 'classes of `init_model` without rows: "virginica"', class = "gbt_message")
  expect_error(on(1:100, factor(rep(c("setosa", "rose"), 50))), "does not fit", class = "gbt_error_argument")
  two <- gbt_train(iris[1:100, 1:4], iris$Species[1:100] == "setosa", nrounds = 2, threads = 1)
  one <- suppressMessages(gbt_train(iris[51:100, 1:4], logical(50), init_model = two, nrounds = 2, threads = 1))
  expect_identical(one$classes, c("FALSE", "TRUE"))
  numbers <- c(setosa = 2, versicolor = 5, virginica = 7)[iris$Species]
  init <- gbt_train(iris[1:4], numbers, objective = "softmax", nrounds = 4, seed = 1, threads = 1)
  m <- on(1:100, numbers[1:100], objective = "softmax")
  expect_identical(m$classes, c("2", "5", "7"))
  expect_error(on(1:100, numbers[1:100] + 1, objective = "softmax"), "its classes are", class = "gbt_error_argument")
})

test_that("level counts are those of the initial model, also of rows in chunks and files", {
  x <- data.frame(f = letters[1 + (1:90 * 7) %% 4], a = sin(1:90))
  y <- x$a + match(x$f, letters)
  first <- gbt_train(x, y, nrounds = 3, level_counts = TRUE, threads = 1)
  later <- x[c(60:20, 1:9), ]
  later$f[1:20] <- "a" # other counts
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(transform(later, a = sprintf("%.17g", a)), file, row.names = FALSE, quote = FALSE)
  want <- gbt_train(later, later$a, init_model = first, nrounds = 2, threads = 1)
  for (form in list(later, in_parts(later, 13), in_parts(later, 50), gbt_files(file))) {
    for (folder in list(NULL, withr::local_tempdir())) {
      d <- gbt_data(form, init_model = first, path = folder, threads = 1)
      same_state(gbt_train(d, later$a, init_model = first, nrounds = 2, threads = 1), want)
    }
  }
})
