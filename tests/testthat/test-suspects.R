# Columns that are probably there by mistake are warned of.

warned <- function(code) {
  said <- character(0)
  withCallingHandlers(code, gbt_warning_column = function(w) {
    said <<- c(said, paste0(w$column, if (grepl("copy of the response", conditionMessage(w))) " copy" else " levels"))
    invokeRestart("muffleWarning")
  })
  said
}
train <- function(...) gbt_train(..., nrounds = 2, threads = 1)

test_that("a copy of the response among the predictors is warned of, whatever the response is", {
  expect_identical(warned(train(mtcars, mtcars$mpg)), "mpg copy")
  expect_identical(warned(train(as.matrix(mtcars), mtcars$mpg)), "mpg copy")
  expect_identical(warned(train(mtcars, mtcars$mpg, weights = mtcars$wt)), "mpg copy")
  expect_identical(warned(train(mtcars, mtcars$mpg, valid = 0.3, seed = 1)), "mpg copy")
  expect_identical(warned(train(iris, iris$Species)), "Species copy")
  expect_identical(warned(train(iris, as.character(iris$Species))), "Species copy")
  expect_identical(warned(train(Species ~ ., transform(iris, again = as.character(Species)))), "again copy")
  d <- transform(iris, big = Sepal.Length > 5.8)
  expect_identical(warned(train(d, d$big)), "big copy")
  expect_identical(warned(train(unname(as.matrix(mtcars)), mtcars$mpg)), "f1 copy") # a matrix without names
  expect_identical(warned(train(mtcars, factor(mtcars$cyl))), "cyl copy") # numbers that became classes
  expect_identical(warned(train(mtcars, mtcars$am == 1)), "am copy")
  expect_identical(warned(gbt_cv(mtcars, mtcars$mpg, folds = 2, nrounds = 1, threads = 1)), "mpg copy")
  expect_identical(warned(gbt_train(mtcars, mtcars$mpg, threads = 1, verbose = 0)), "mpg copy") # once, not in folds
})

test_that("other columns are not", {
  d <- mtcars
  d$near <- replace(d$mpg, 7, 1)
  expect_identical(warned(train(mpg ~ ., d)), character(0))
  d$near <- replace(d$mpg, 7, NA)
  expect_identical(warned(train(mpg ~ ., d)), character(0))
  expect_identical(warned(train(data.frame(x = 1:30), 1:30)), character(0)) # there is nothing else
  expect_identical(warned(train(mtcars[rep(1, 5), ], mtcars$mpg[rep(1, 5)])), character(0))
})

test_that("texts and factors with a level for every row are warned of", {
  d <- rbind(mtcars, mtcars)
  d$id <- paste("car", seq_len(64))
  expect_identical(warned(train(mpg ~ ., d)), "id levels")
  d$id <- factor(d$id)
  expect_identical(warned(train(mpg ~ ., d)), "id levels")
  expect_identical(warned(train(mpg ~ . - id, d)), character(0))
  d$id <- factor(d$id, ordered = TRUE)
  expect_identical(warned(train(mpg ~ ., d)), character(0))
  d$id <- paste("car", c(1, 1:63))
  expect_identical(warned(train(mpg ~ ., d)), character(0))
  d <- transform(mtcars, id = rownames(mtcars)) # few rows: levels may differ by chance
  expect_identical(warned(train(mpg ~ ., d)), character(0))
})

test_that("columns of any kind are looked at without an error of R's", {
  d <- data.frame(a = 1:60, b = rnorm(60))
  odd <- list(sum, function(x) x, quote(f(x)), NULL, as.list(1:60), new.env(), 1:3, as.Date("2024-01-01") + 1:60)
  for (column in odd) {
    x <- structure(list(a = column, b = d$b), class = "data.frame", row.names = 1:60)
    expect_identical(copies_of_response(x, list(label = as.double(1:60))), character(0))
  }
})

test_that("all copies of the response are named", {
  d <- data.frame(a = 1:8, b = c(3, 1, 2, 5, 4, 8, 6, 7))
  y <- c(2, 7, 1, 8, 2, 8, 1, 9)
  expect_warning(gbt_train(cbind(d, one = y, two = y), y, nrounds = 1, threads = 1),
                 "columns `one`, `two` are copies of the response, so .*; leave them out", class = "gbt_warning_column")
  both <- cbind(p = y, q = rev(y))
  expect_warning(gbt_train(cbind(d, one = y, two = rev(y)), both, nrounds = 1, threads = 1),
                 "columns `one`, `two` are copies of columns of the response", class = "gbt_warning_column")
})
