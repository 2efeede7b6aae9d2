# Surv() in a formula, with and without package survival.

# The code where package survival is not installed.
without_survival <- function(code) {
  gbt <- asNamespace("gbt")
  was <- gbt$known_surv
  unlockBinding("known_surv", gbt)
  on.exit({
    gbt$known_surv <- was
    lockBinding("known_surv", gbt)
  })
  gbt$known_surv <- function() gbt$own_surv
  force(code)
}

test_that("our own Surv() makes the objects of package survival", {
  skip_if_not_installed("survival")
  t <- c(2, 3.5, 1, 4, 6)
  u <- c(3, 5, 2, 4, 9)
  calls <- list(
    quote(Surv(t)), quote(Surv(t, c(0, 1, NA, 1, 0))), quote(Surv(t, c(1, 2, 1, 2, 2))), quote(Surv(t, t > 2)),
    quote(Surv(time = t, event = c(TRUE, NA, FALSE, TRUE, TRUE), origin = 1)), quote(Surv(t, u, c(0, 1, 1, 1, 0))),
    quote(Surv(t, u, t > 2, type = "counting")), quote(Surv(t, t > 2, type = "left")), quote(Surv(t, c(0, 1, 3, 1, 0))),
    quote(Surv(c(-Inf, NA, 1, 2, 3), c(1, 2, 1, 5, Inf), type = "interval2")),
    quote(Surv(c(NA, 4), c(NA, 2), type = "interval2")), quote(Surv(as.difftime(t, units = "days"), t > 2)),
    quote(Surv(t, u, c(0, 1, 2, 3, NA), type = "interval")), quote(Surv(t, u, c(0, 1, 2, 0, 1), type = "interval")),
    quote(Surv(t, factor(c("a", "b", "c", "a", NA)))), quote(Surv(t, u, factor(c("a", "b", "c", "a", NA)))),
    quote(Surv(t, c("x", "y", "z", "x", "y"), type = "mstate"))
  )
  bare <- function(y) `attr<-`(y, "inputAttributes", NULL)
  for (call in calls) {
    theirs <- bare(suppressWarnings(eval(call, list(Surv = survival::Surv))))
    ours <- suppressWarnings(eval(call, list(Surv = gbt:::own_surv)))
    expect_equal(attributes(ours)[order(names(attributes(ours)))],
                 attributes(theirs)[order(names(attributes(theirs)))], label = deparse(call))
    expect_identical(as.vector(unclass(ours)), as.vector(unclass(theirs)), label = deparse(call))
  }
})

test_that("a formula knows Surv() where package survival is not attached or not there", {
  x <- data.frame(a = sin(1:60), time = 1 + (1:60 * 7) %% 11, status = rep(c(1, 0, 1), 20))
  y <- structure(cbind(time = x$time, status = x$status), type = "right", class = "Surv")
  m <- gbt_train(x["a"], y, nrounds = 3, threads = 1)
  train <- function(...) gbt_train(Surv(time, status) ~ ., x, nrounds = 3, threads = 1, ...)
  scores <- function(m) predict(m, x, type = "link", threads = 1)
  expect_identical(scores(train()), scores(m))
  alone <- without_survival(train(valid = x))
  expect_identical(scores(alone), scores(m))
  expect_identical(alone$feature_names, "a")
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(alone, file)
  again <- gbt_load(file) # needs no trust
  expect_equal(without_survival(gbt_evaluate(again, x, threads = 1)$estimate),
               gbt_evaluate(m, x["a"], y, threads = 1)$estimate)
  expect_silent(gbt:::check_formula_safe("survival::Surv(time, status) ~ .", FALSE))
  expect_error(gbt:::check_formula_safe("survival::coxph(time, status) ~ .", FALSE), class = "gbt_error_format")
  x$start <- x$time - 1
  late <- structure(cbind(start = x$start, stop = x$time, status = x$status), type = "counting", class = "Surv")
  expect_identical(scores(without_survival(gbt_train(Surv(start, time, status) ~ a, x, nrounds = 3, threads = 1))),
                   scores(gbt_train(x["a"], late, nrounds = 3, threads = 1)))
  Surv <- function(time, status) time # the user's own comes first
  expect_identical(train()$objective, "squared_error")
})

test_that("rows of Surv() that say nothing, and wrong arguments, are named", {
  x <- data.frame(a = sin(1:20), time = 1:20 / 2, status = rep(0:1, 10), start = 0)
  train <- function(formula, d = x) without_survival(gbt_train(formula, d, nrounds = 1, threads = 1))
  expect_error(train(Surv(time, status) ~ a, replace(x, "status", c(0, NA, rep(1, 18)))), "row 2",
               class = "gbt_error_data")
  expect_error(train(Surv(start, time, status) ~ a, replace(x, "start", c(0, 0, 9, rep(0, 17)))), "row 3.*start",
               class = "gbt_error_data")
  expect_error(train(Surv(start, time, status) ~ a, replace(x, "start", c(0, 0, 0, -Inf, rep(0, 16)))), "row 4",
               class = "gbt_error_data")
  expect_warning(try(train(Surv(time, status) ~ a, replace(x, "status", c(0, 5, rep(1, 18)))), silent = TRUE),
                 "row 2", class = "gbt_warning_data")
  expect_error(train(Surv(time, letters[1:20]) ~ a), "status", class = "gbt_error_data")
  expect_error(train(Surv(time, 1:2) ~ a), "2 values", class = "gbt_error_data")
  expect_error(train(Surv(letters[1:20], status) ~ a), "numbers", class = "gbt_error_data")
  expect_error(train(Surv(time, status, type = "counting") ~ a), "takes", class = "gbt_error_data")
  expect_error(train(Surv(time, start, status, type = "right") ~ a), "takes", class = "gbt_error_data")
  expect_error(train(Surv() ~ a), "needs times", class = "gbt_error_data")
})
