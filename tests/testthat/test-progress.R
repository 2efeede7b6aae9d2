# The line that interactive sessions print once where rounds are searched for a while.

lines_of <- function(code) {
  lines <- character(0)
  withCallingHandlers(code, gbt_message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  grep("hides this line", lines, value = TRUE)
}

test_that("a search for rounds says once how far it is and how to shorten it, and trains the same model", {
  train <- function(...) gbt_train(mpg ~ ., mtcars, max_depth = 2, seed = 1, threads = 1, ...)
  said <- function(...) lines_of(m <<- train(...))
  m <- NULL
  expect_length(said(), 0L) # a script
  want <- m
  withr::local_options(gbt.progress_after = 0)
  line <- said()
  expect_length(line, 1L)
  expect_match(line, "^early stopping looks for the number of rounds, and is at round [0-9]+ of at most [0-9,]+; `nr")
  expect_identical(m, want)
  expect_length(said(valid = 0.3), 1L)
  expect_length(said(nrounds = 5), 0L)
  expect_length(said(progress = FALSE), 0L)
  expect_length(said(verbose = 0), 0L)
  expect_length(said(verbose = 1), 0L)
  withr::with_options(list(knitr.in.progress = TRUE), expect_length(said(), 0L))
  withr::with_options(list(gbt.progress_after = 1e8), expect_length(said(), 0L))
  big <- flights[rep(seq_len(nrow(flights)), length.out = 3200), c("distance", "sched_dep_time", "late")]
  expect_length(lines_of(gbt_train(late ~ ., big, eta = 0.5, seed = 1, threads = 1)), 1L) # held out once
})

test_that("cross-validation and tuning say it once as well", {
  withr::local_options(gbt.progress_after = 0)
  cv <- function(...) lines_of(gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 4, seed = 1, threads = 1, ...))
  expect_match(cv(), "^cross-validation of 3 folds is at round [0-9] of at most 4")
  expect_length(cv(progress = FALSE), 0L)
  tune <- function(...) {
    space <- list(max_depth = c(1, 3))
    lines_of(gbt_tune(mpg ~ ., mtcars, configs = 2, space = space, folds = 2, nrounds = 4, seed = 1, threads = 1, ...))
  }
  expect_match(tune(), "^tuning has rated 0 of 2 configurations; `configs = ` or `seconds = ` limits the search")
  expect_length(tune(), 1L)
  expect_length(tune(progress = FALSE), 0L)
  expect_length(tune(verbose = 1), 0L)
  expect_false(gbt:::is_waiting())
})

test_that("an error leaves no line behind", {
  withr::local_options(gbt.progress_after = 1e8)
  stops <- function(pred, label, weight) stop("no")
  expect_error(gbt_train(mpg ~ ., mtcars, eval_metric = gbt_metric("m", stops), threads = 1))
  expect_false(gbt:::is_waiting())
})
