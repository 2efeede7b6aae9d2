train <- function(..., eta = 0.1) gbt_train(mpg ~ ., mtcars, ..., eta = eta, threads = 1)

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
  expect_error(train(nrounds = 9, callbacks = function(now) stop("enough")), "enough")
  expect_error(train(callbacks = list(1)), class = "gbt_error_argument")
  expect_error(train(callbacks = function() 1), class = "gbt_error_argument")
  expect_error(gbt_cb_record(3), class = "gbt_error_argument")
})

test_that("an error in a function of the user's gives the finished rounds", {
  fails_in <- function(round) {
    function(now) if (now$round == round) stop(structure(class = c("my_error", "error", "condition"),
                                                         list(message = "enough", call = NULL, extra = 3)))
  }
  e <- tryCatch(train(nrounds = 9, callbacks = fails_in(4), eval_train = TRUE), error = identity)
  expect_s3_class(e, c("my_error", "gbt_error_callback", "gbt_error", "error", "condition"), exact = TRUE)
  expect_identical(e[c("kind", "parameter", "extra")], list(kind = "callback", parameter = "callbacks", extra = 3))
  expect_s3_class(e$error, c("my_error", "error", "condition"), exact = TRUE)
  expect_identical(conditionMessage(e), paste0("enough\n4 rounds are finished: field `model` of this ",
                                               "condition has the model so far"))
  expect_same_bytes(e$model$state, train(nrounds = 4, eval_train = TRUE)$state)
  expect_same_bytes(gbt_last_interrupted()$state, e$model$state)
  expect_identical(tryCatch(train(nrounds = 9, callbacks = fails_in(2)), my_error = function(e) e$model$nrounds), 2L)

  # metrics: the round that failed has no value
  calls <- 0
  bad <- gbt_metric("bad", function(pred, label) {
    calls <<- calls + 1
    if (calls == 6) log("a")
    calls
  })
  e <- tryCatch(train(nrounds = 9, eval_metric = list("rmse", bad), eval_train = TRUE), error = identity)
  expect_s3_class(e, c("gbt_error_callback", "gbt_error", "error", "condition"), exact = TRUE)
  expect_identical(e$parameter, "eval_metric")
  expect_match(paste(deparse(as.list(e$calls)), collapse = ""), "log(\"a\")", fixed = TRUE)
  expect_identical(e$model$evaluation_log$train_bad, c(1, 2, 3, 4, 5, NA))
  expect_false(anyNA(e$model$evaluation_log$train_rmse))
  text <- gbt_metric("text", function(pred, label) "a")
  e <- tryCatch(train(nrounds = 9, eval_metric = text, eval_train = TRUE), gbt_error_argument = identity)
  expect_s3_class(e, "gbt_error_callback")
  expect_identical(e$model$nrounds, 1L)
  # stopped early, the best round is known
  calls <- 0
  e <- tryCatch(train(nrounds = 9, eval_metric = bad, eval_train = TRUE, early_stopping_rounds = 9), error = identity)
  expect_identical(e$model$best_round, 1L)

  # objectives: from R, and what the engine finds wrong
  own <- function(wrong) {
    rounds <- 0
    list(gradient = function(score, label) {
      rounds <<- rounds + 1
      if (rounds == 4) wrong(score) else score - label
    }, hessian = function(score, label) rep(1, length(score)))
  }
  for (wrong in list(function(s) stop("enough"), function(s) 1, function(s) NaN * s)) {
    e <- tryCatch(train(nrounds = 9, objective = own(wrong)), gbt_error_callback = identity)
    expect_s3_class(e, "gbt_error")
    expect_same_bytes(e$model$state, train(nrounds = 3, objective = own(wrong))$state)
  }

  # without a round there is no model, and what was kept before stays
  before <- gbt_last_interrupted()
  none <- list(gradient = function(score, label) stop("at once"), hessian = function(score, label) 1)
  e <- tryCatch(train(nrounds = 9, objective = none), error = identity)
  expect_null(e$model)
  expect_identical(conditionMessage(e), "at once")
  expect_same_bytes(gbt_last_interrupted()$state, before$state)

  # conditions of any kind
  messages <- list(list(), list(message = 1), list(message = c("a", "b")))
  odd <- lapply(messages, structure, class = c("error", "condition"))
  for (condition in odd) {
    e <- tryCatch(train(nrounds = 2, callbacks = function(now) stop(condition)), gbt_error_callback = identity)
    expect_identical(e$model$nrounds, 1L)
    expect_match(conditionMessage(e), "1 round is finished")
  }
  # a training in a callback
  inner <- function(now) if (now$round == 2) train(nrounds = 3, callbacks = fails_in(1))
  e <- tryCatch(train(nrounds = 5, callbacks = inner), my_error = identity)
  expect_identical(c(e$model$nrounds, e$error$model$nrounds), 2:1)
})

test_that("a time limit in a function of the user's is a time limit", {
  # set when two rounds are done, as a busy machine may take long to come there
  limited <- function(now) {
    if (now$round == 2) setTimeLimit(elapsed = 0.1, transient = TRUE)
    for (i in 1:1000) sqrt(i)
  }
  e <- tryCatch(train(nrounds = 1e6, callbacks = limited), error = identity, finally = setTimeLimit())
  expect_match(conditionMessage(e), "time limit")
  expect_false(inherits(e, "gbt_error"))
  expect_gt(gbt_last_interrupted()$nrounds, 1)
})

test_that("a record is kept without anything to log", {
  kept <- new.env()
  m <- train(nrounds = 3, callbacks = gbt_cb_record(kept, 1))
  expect_named(kept$log, c("round", "seconds"))
  expect_identical(kept$log$round, c(1, 2, 3))
  expect_named(kept$models, c("1", "2", "3"))
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

test_that("a function that makes callbacks is to be called", {
  train <- function(f) gbt_train(mpg ~ wt, mtcars, nrounds = 1, callbacks = f)
  expect_error(train(gbt_cb_print), "`gbt_cb_print` is a function that makes.*callbacks = gbt_cb_print\\(\\)",
               class = "gbt_error_argument")
  expect_error(train(list(gbt_cb_record)), "callbacks = gbt_cb_record\\(into\\)", class = "gbt_error_argument")
})
