# Weights of classes: a row weighs its weight times that of its class.

few <- function() list(x = iris[41:150, -5], y = iris$Species[41:150]) # 10, 50 and 50 rows

test_that("class weights are weights of rows", {
  d <- few()
  own <- seq(0.5, 2, length.out = 110)
  of_class <- c(setosa = 0.5, versicolor = 1, virginica = 3)
  for (w in list(NULL, own)) {
    rows <- (if (is.null(w)) 1 else w) * unname(of_class[as.character(d$y)])
    twin <- gbt_train(d$x, d$y, weights = rows, nrounds = 4, seed = 1, eval_train = TRUE)
    for (given in list(of_class, unname(of_class), of_class[c(3, 1, 2)], of_class[-2], as.list(of_class))) {
      m <- gbt_train(d$x, d$y, weights = w, class_weights = given, nrounds = 4, seed = 1, eval_train = TRUE)
      expect_identical(predict(m, d$x), predict(twin, d$x))
      expect_identical(m$evaluation_log, twin$evaluation_log)
      expect_identical(m$params$class_weights, of_class)
    }
  }
})

test_that("balanced classes weigh the same", {
  d <- few()
  w <- rep(c(1, 2), 55)
  for (weights in list(NULL, w)) {
    m <- gbt_train(d$x, d$y, weights = weights, class_weights = "balanced", nrounds = 2, seed = 1)
    each <- if (is.null(weights)) rep(1, 110) else weights
    totals <- tapply(each, d$y, sum)
    expect_identical(m$params$class_weights, c(sum(totals) / (3 * totals)))
    twin <- gbt_train(d$x, d$y, weights = each * as.vector(m$params$class_weights[d$y]), nrounds = 2, seed = 1)
    expect_identical(predict(m, d$x), predict(twin, d$x))
  }
  expect_error(gbt_train(d$x, d$y, weights = as.numeric(d$y != "setosa"), class_weights = "balanced"),
               "class \"setosa\" has no weight", class = "gbt_error_data")
})

test_that("two classes, whatever the response is", {
  for (y in list(mtcars$am, mtcars$am == 1, factor(mtcars$am, labels = c("no", "yes")))) {
    m <- gbt_train(mtcars[-9], y, objective = "logistic", class_weights = c(1, 4), nrounds = 3, seed = 1)
    twin <- gbt_train(mtcars[-9], y, objective = "logistic", weights = 1 + 3 * mtcars$am, nrounds = 3, seed = 1)
    expect_identical(predict(m, mtcars), predict(twin, mtcars))
    named <- gbt_train(mtcars[-9], y, objective = "logistic", scale_pos_weight = 4, nrounds = 3, seed = 1)
    expect_identical(named$state, m$state)
  }
})

test_that("gbt_data and rows held out are weighed as well", {
  d <- few()
  data <- gbt_data(d$x, label = d$y, threads = 1)
  a <- gbt_train(data, class_weights = "balanced", nrounds = 3, seed = 1)
  b <- gbt_train(d$x, d$y, class_weights = "balanced", nrounds = 3, seed = 1)
  expect_identical(a$params$class_weights, b$params$class_weights)
  held <- gbt_train(d$x, d$y, class_weights = c(setosa = 5), nrounds = 3, seed = 1, valid = 0.3)
  expect_identical(names(held$evaluation_log), c("round", "valid_mlogloss"))
})

test_that("other packages' names", {
  d <- few()
  state <- function(...) gbt_train(d$x, d$y, ..., nrounds = 2, seed = 1)$state
  balanced <- state(class_weights = "balanced")
  expect_identical(state(is_unbalance = TRUE), balanced)
  expect_identical(state(unbalanced_sets = TRUE), balanced)
  expect_identical(state(balance_classes = TRUE), balanced)
  expect_identical(state(auto_class_weights = "Balanced"), balanced)
  expect_identical(state(class_weight = "balanced"), balanced)
  plain <- state()
  expect_identical(state(is_unbalance = FALSE), plain)
  expect_identical(state(auto_class_weights = "None"), plain)
  expect_identical(state(scale_pos_weight = 1), plain)
})

test_that("what cannot be is said", {
  d <- few()
  train <- function(...) gbt_train(d$x, d$y, ..., nrounds = 1)
  expect_snapshot(error = TRUE, {
    train(class_weights = c(rose = 2))
    train(class_weights = 1:2)
    train(class_weights = c(setosa = 0))
    train(class_weights = c(setosa = NA))
    train(class_weights = "half")
    train(class_weights = c(setosa = 2, setosa = 3))
    train(scale_pos_weight = 2)
    train(scale_pos_weight = TRUE)
    train(auto_class_weights = "SqrtBalanced")
    train(class_weights = "balanced", is_unbalance = FALSE, scale_pos_weight = 3)
    gbt_train(mpg ~ ., mtcars, class_weights = "balanced")
    gbt_train(mtcars[-9], mtcars$am / 2, objective = "logistic", class_weights = "balanced")
  })
})

test_that("values with names and without are an error", {
  d <- few()
  expect_error(gbt_train(d$x, d$y, class_weights = c(setosa = 2, 1, 1), nrounds = 1), "number 2 has none",
               class = "gbt_error_argument")
  expect_error(gbt_train(d$x, d$y, subsample = c(0.5, virginica = 1), nrounds = 1), "`subsample`.*number 1 has none",
               class = "gbt_error_argument")
})
