train <- function(...) gbt_train(mpg ~ ., mtcars, ..., threads = 1)

test_that("callbacks see every round and may stop", {
  seen <- NULL
  m <- train(nrounds = 10, eval_train = TRUE, callbacks = function(now) {
    seen <<- rbind(seen, data.frame(round = now$round, nrounds = now$nrounds, rmse = now$log[["train_rmse"]]))
    now$round == 6
  })
  expect_identical(m$nrounds, 6L)
  expect_identical(as.integer(seen$round), 1:6)
  expect_true(all(seen$nrounds == 10))
  expect_identical(seen$rmse, m$evaluation_log$train_rmse)
  expect_same_bytes(train(nrounds = 6, eval_train = TRUE)$state, m$state)
})

test_that("the model so far is a model", {
  kept <- new.env()
  m <- train(nrounds = 6, callbacks = list(gbt_cb_record(kept, 2)), eval_metric = "mae")
  expect_named(kept$models, c("2", "4", "6"))
  expect_same_bytes(kept$models[["4"]]$state, train(nrounds = 4, eval_metric = "mae")$state)
  expect_same_bytes(kept$models[["6"]]$state, m$state)
  expect_identical(kept$log$train_mae, m$evaluation_log$train_mae)
  expect_named(kept$log, c("round", "seconds", "train_mae"))
})

test_that("all callbacks are called, whoever stops", {
  n <- c(0, 0)
  m <- train(nrounds = 5, callbacks = list(function(now) {
    n[1] <<- n[1] + 1
    TRUE
  }, function(now) n[2] <<- n[2] + 1))
  expect_identical(n, c(1, 1))
  expect_identical(m$nrounds, 1L)
})

test_that("errors in callbacks end the training", {
  expect_error(train(callbacks = function(now) stop("enough")), "enough")
  expect_error(train(callbacks = list(1)), class = "gbt_error_argument")
  expect_error(train(callbacks = function() 1), class = "gbt_error_argument")
  expect_error(gbt_cb_record(3), class = "gbt_error_argument")
})

test_that("nothing is said unless asked for", {
  expect_silent(train(nrounds = 3))
  expect_silent(train(nrounds = 3, verbose = 0))
  lines <- function(...) {
    out <- character(0)
    withCallingHandlers(train(...), gbt_message = function(m) {
      out <<- c(out, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    sub("[0-9.]+ s", "0.0 s", out[!startsWith(out, "training on ")])
  }
  expect_identical(lines(nrounds = 12, verbose = 1, verbose_every = 5),
                   sprintf("[%2d/12] 0.0 s\n", c(1L, 5L, 10L, 12L)))
  m <- train(nrounds = 12, eval_train = TRUE)
  said <- lines(nrounds = 12, eval_train = TRUE, verbose = TRUE)
  expect_length(said, 3)
  expect_match(said[2], "[10/12] train_rmse", fixed = TRUE)
  expect_equal(as.numeric(sub(".*rmse ", "", said[3])), m$evaluation_log$train_rmse[12], tolerance = 1e-5)
  expect_identical(lines(nrounds = 4, callbacks = gbt_cb_print(2)), sprintf("[%d/4] 0.0 s\n", c(2L, 4L)))
  expect_match(tail(lines(nrounds = 400, eta = 1, valid = 0.4, seed = 1, early_stopping_rounds = 3, verbose = 1), 1),
               "^stopped early at round [0-9]+; best is round [0-9]+ with valid_rmse")
})

test_that("what is said does not change the model", {
  first <- train(nrounds = 30)$state
  expect_same_bytes(suppressMessages(train(nrounds = 30, verbose = 1, verbose_every = 7))$state, first)
  capture.output(m <- train(nrounds = 30, progress = TRUE), type = "message")
  expect_same_bytes(m$state, first)
})
