# Errors in what was asked for come before the work that takes long: nothing is binned, nothing is predicted.

# How often `name`, a function of gbt, is called while code runs.
calls_of <- function(name, code) {
  count <- 0
  real <- get(name, asNamespace("gbt"))
  on.exit(utils::assignInNamespace(name, real, "gbt"))
  utils::assignInNamespace(name, function(...) {
    count <<- count + 1
    real(...)
  }, "gbt")
  force(code)
  count
}

early <- data.frame(y = (1:40) %% 7, a = 1:40, b = rev(sqrt(1:40)), f = factor(rep(c("u", "v"), 20)))
classes <- transform(early, y = factor(y > 3))

# One call for each kind of mistake, by the word that the message names. data: of numbers or of two classes.
mistakes <- function(train, data) {
  of_classes <- is.factor(data$y)
  list(
    rmsee = function() train(y ~ ., data, eval_metric = "rmsee"),
    objective = function() train(y ~ ., data, eval_metric = if (of_classes) "mape" else "auc"),
    twice = function() train(y ~ ., data, eval_metric = rep(if (of_classes) "auc" else "mae", 2)),
    monotone = function() train(y ~ ., data, monotone = c(aa = 1)),
    interactions = function() train(y ~ ., data, interactions = list(c("a", "bb"))),
    feature_weights = function() train(y ~ ., data, feature_weights = c(aa = 1)),
    first_use_penalty = function() train(y ~ ., data, first_use_penalty = c(aa = 1)),
    mtry = function() train(y ~ ., data, mtry = 9),
    cat_method = function() train(y ~ ., data, cat_method = list(a = "target")),
    subsample = function() train(y ~ ., data, subsample = c(x = 0.5, z = 1)),
    weights = function() train(y ~ ., data, weights = rep(1e200, 40))
  )
}

expect_early <- function(calls, work = "finish_data") {
  for (name in names(calls)) {
    count <- calls_of(work, expect_error(calls[[name]](), name, class = "gbt_error"))
    expect_identical(count, 0, info = name)
  }
}

test_that("the counter of binnings counts", {
  expect_identical(calls_of("finish_data", gbt_train(y ~ ., early, nrounds = 1)), 1)
  expect_identical(calls_of("finish_data", gbt_train(y ~ ., early, nrounds = 1, valid = early)), 2)
})

test_that("nothing is binned before wrong arguments are found", {
  expect_early(mistakes(function(...) gbt_train(..., nrounds = 2, eval_train = TRUE), early))
  expect_early(mistakes(function(...) gbt_train(..., nrounds = 2, eval_train = TRUE), classes))
})

test_that("nothing is binned before wrong arguments are found where the number of rounds is searched", {
  expect_early(mistakes(function(...) gbt_train(...), early))
  first <- gbt_train(y ~ ., early, nrounds = 1)
  own <- list(gradient = function(pred, label, weight) pred - label, hessian = function(pred, label, weight) 1,
              n_outputs = 2)
  expect_early(list(
    "cannot be found.*needs an `eval_metric`" = function() gbt_train(y ~ ., early, objective = own),
    "cannot be found.*coverage" = function() gbt_train(y ~ ., early, eval_metric = "coverage", objective = "quantile"),
    "cannot be found.*rmsle" = function() gbt_train(y ~ ., transform(early, y = y - 3), eval_metric = "rmsle"),
    init_model = function() gbt_train(y ~ ., early, init_model = first)
  ))
})

test_that("nothing is binned before wrong arguments of gbt_cv() and gbt_tune() are found", {
  wrong <- mistakes(function(...) gbt_cv(..., nrounds = 2, folds = 3), early)
  expect_early(wrong[setdiff(names(wrong), "weights")])
  wrong <- mistakes(function(...) gbt_tune(..., nrounds = 2, folds = 3, configs = 2), classes)
  expect_early(wrong[setdiff(names(wrong), "weights")])
})

test_that("nothing is binned before a wrong folder of checkpoints or wrong validation data are found", {
  file <- tempfile("file")
  writeLines("x", file)
  on.exit(unlink(file))
  first <- gbt_train(y ~ ., early, nrounds = 1)
  expect_early(list(
    "must be a folder" = function() gbt_train(y ~ ., early, nrounds = 2, checkpoint = file),
    "cannot make the folder" = function() gbt_train(y ~ ., early, nrounds = 2, checkpoint = file.path(file, "below")),
    "lacks columns" = function() gbt_train(early[-1], early$y, nrounds = 2, valid = list(x = early[2:3], y = early$y)),
    "must be numeric" = function() {
      gbt_train(early[-1], early$y, nrounds = 2, valid = list(x = early[-1], y = classes$y))
    },
    "3 values" = function() gbt_train(early[-1], early$y, nrounds = 2, valid = list(x = early[-1], y = 1:3)),
    "two columns of the evaluation log" = function() {
      set <- list(x = early[-1], y = early$y)
      metrics <- lapply(c("b_m", "m"), gbt_metric, function(pred, label, weight) 0)
      gbt_train(early[-1], early$y, nrounds = 2, valid = list(a = set, a_b = set), eval_metric = metrics)
    },
    "objective is" = function() gbt_train(y ~ ., classes, nrounds = 2, init_model = first),
    "needs|model" = function() gbt_train(y ~ a, early, nrounds = 2, init_model = first)
  ))
})

test_that("mtry counts features with level counts", {
  several <- function(mtry) gbt_train(y ~ ., early, nrounds = 1, level_counts = TRUE, mtry = mtry)
  expect_s3_class(several(4), "gbt")
  expect_error(several(5), class = "gbt_error_argument")
})

test_that("gbt_evaluate() predicts nothing before wrong metrics, weights or responses are found", {
  m <- gbt_train(y ~ ., early, nrounds = 1)
  expect_identical(calls_of("predict_rows", gbt_evaluate(m, early)), 1)
  expect_early(list(
    rmsee = function() gbt_evaluate(m, early, metrics = "rmsee"),
    objective = function() gbt_evaluate(m, early, metrics = "auc"),
    seed = function() gbt_evaluate(m, early, intervals = 0.9, seed = "a"),
    weights = function() gbt_evaluate(m, early, weights = 1:3),
    "3 values" = function() gbt_evaluate(m, early, y = 1:3)
  ), "predict_rows")
})

test_that("a response of the wrong length is told before its missing values", {
  x <- mtcars[-1]
  y <- c(mtcars$mpg, NA)
  expect_error(gbt_train(x, y), "the response has 33 values, but the data have 32 rows", class = "gbt_error_data")
  expect_error(gbt_train(x, as.character(y)), "33 values")
  expect_error(gbt_train(x, as.POSIXlt(y, origin = "1970-01-01")), "33 values")
  expect_error(gbt_train(x, cbind(a = y, b = y)), "33 values")
  expect_error(gbt_train(x, data.frame(a = y)), "33 values")
  expect_error(gbt_cv(x, y), "33 values")
  expect_error(gbt_data(x, label = y), "`label` has 33 values for 32 rows", class = "gbt_error_data")
  expect_error(gbt_train(x, mtcars$mpg, valid = list(x = x, y = y)), "33 values for 32 rows")
  expect_error(gbt_train(x, replace(mtcars$mpg, 3, NA)), "missing value, the first in row 3")
  m <- gbt_train(x, mtcars$mpg, nrounds = 1, threads = 1)
  expect_error(gbt_evaluate(m, x, y), "33 values for 32 rows", class = "gbt_error_data")
  expect_error(gbt_train(x, list(1)), "must be numbers, a factor, texts or logical values, not a list")
  both <- gbt_train(x, cbind(a = mtcars$mpg, b = mtcars$mpg^2), nrounds = 1, threads = 1)
  expect_error(gbt_evaluate(both, x, cbind(a = y, b = y)), "33 rows for 32 rows")
})

test_that("what has no model of all rows predicts nothing, and says what does", {
  cv <- gbt_cv(mpg ~ wt, mtcars, nrounds = 1, threads = 1)
  tuned <- gbt_tune(mpg ~ wt, mtcars, space = list(eta = 0.1), nrounds = 1, threads = 1)
  expect_error(predict(cv, mtcars), "a cross-validation has no model of all rows.*gbt_refit\\(object\\)",
               class = "gbt_error_unsupported")
  expect_error(predict(tuned, mtcars), "a search has no model of all rows", class = "gbt_error_unsupported")
})

test_that("data without the response, or in the place of a type, are told", {
  m <- gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1)
  expect_error(gbt_report(m, mtcars[-1], file.path(tempdir(), "x.html")), "the data have no `mpg`, the response",
               class = "gbt_error_data")
  for (rows in list(mtcars, as.matrix(mtcars))) {
    expect_error(gbt_importance(m, rows), "`type` comes before the data", class = "gbt_error_argument")
  }
  expect_error(gbt_train(y ~ ., unname(as.matrix(mtcars))), "need no formula: gbt_train\\(x, y\\)")
})
