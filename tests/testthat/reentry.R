# Run by test-reentry.R in a process of its own: Rscript reentry.R
#
# Code of the user's that runs in the middle of a call: finalizers and event handlers, which R runs when the engine asks
# for interrupts. Whatever it does, the call's result is the one it has alone.

library(testthat)
library(gbt)
suppressWarnings(loadNamespace("tcltk")) # which warns where there is no display

# Runs `work` while `action` is called in the middle of it, again and again: by a timer of Tcl, which R runs when it is
# asked for interrupts, or by a finalizer, for which the timer collects. Works again until the engine was at work when
# `action` began at least three times and `seen()` says that what the test is about has happened; 60 seconds at most.
# Returns the value of `work` and how often the engine was at work.
disturbed <- function(work, action, by = "timer", seen = function() TRUE) {
  on <- TRUE
  inside <- 0L
  act <- function(...) {
    calls <- vapply(sys.calls(), function(call) deparse(call[[1L]])[1L], "")
    if (any(c("loop_rounds", "predict.gbt") %in% calls)) inside <<- inside + 1L
    action()
  }
  fire <- function() {
    if (!on) return(invisible())
    if (by == "timer") act() else reg.finalizer(new.env(), act)
    if (by == "finalizer") gc()
    arm()
  }
  arm <- function() tcltk::tcl("after", if (by == "timer") 5L else 40L, fire)
  on.exit(on <- FALSE)
  arm()
  end <- Sys.time() + 600
  repeat { # how often the timer fires depends on the machine and its load
    value <- work()
    if ((inside >= 3L && seen()) || Sys.time() > end) break
  }
  list(value = value, inside = inside)
}

n <- 20000L
set.seed(7)
x <- matrix(rnorm(n * 10), n)
y <- x[, 1] + x[, 2]^2
other <- -100 * rank(y)

for (by in c("timer", "finalizer")) {
  test_that(paste("a", by, "may train on the data of the training it interrupts"), {
    data <- gbt_data(x, label = y, threads = 1)
    valid <- gbt_data(x[1:900, ], label = y[1:900], reference = data, threads = 1)
    train <- function() {
      gbt_train(data, valid = valid, nrounds = 60, eval_train = TRUE, eval_metric = "rmse", threads = 1)
    }
    inner <- function() {
      gbt_train(data, other, valid = valid, weights = rep(2, n), nrounds = 1, max_depth = 2, threads = 1)
    }
    alone <- train()
    nested <- NULL
    out <- disturbed(train, function() nested <<- inner(), by)
    expect_gte(out$inside, 3L)
    expect_true(identical(out$value$state, alone$state))
    expect_true(identical(nested$state, inner()$state))
  })
}

test_that("a training at work cannot be asked for its model, and goes on", {
  kept <- NULL
  keep <- function(env) {
    kept <<- env$model
    FALSE # go on
  }
  train <- function() {
    gbt_train(x, y, nrounds = 5, num_parallel_tree = 30, callbacks = list(keep), threads = 1)
  }
  alone <- train()
  said <- character(0)
  out <- disturbed(train, function() {
    if (is.null(kept)) return() # the first round has not ended
    said <<- c(said, tryCatch({
      kept()
      "model"
    }, error = function(e) class(e)[1L]))
  }, seen = function() "gbt_error_argument" %in% said)
  expect_gte(out$inside, 3L)
  expect_true("gbt_error_argument" %in% said)
  expect_setequal(c(said, "model"), c("gbt_error_argument", "model"))
  expect_true(identical(out$value$state, alone$state))
})

test_that("models predict the same when they are used in the middle of a prediction", {
  model <- gbt_train(x, y, nrounds = 60, threads = 1)
  rows <- x[rep(seq_len(n), 10L), ]
  alone <- predict(model, rows, threads = 1)
  few <- predict(model, x[1:50, ], threads = 1)
  inner <- list()
  fresh <- model
  out <- disturbed(function() {
    fresh <<- unserialize(serialize(model, NULL)) # no predictor yet: both fill it
    for (i in 1:5) value <- predict(fresh, rows, threads = 1)
    value
  }, function() {
    inner <<- c(inner, list(predict(fresh, x[1:50, ], threads = 1)))
  })
  expect_gte(out$inside, 3L)
  expect_true(identical(out$value, alone))
  expect_identical(unique(inner), list(few))
})
