# Trainings that are killed, and go on.

rows <- function() {
  set.seed(2)
  x <- data.frame(a = rnorm(800), b = runif(800), f = factor(sample(letters, 800, TRUE)), g = rnorm(800))
  list(x = x, y = x$a + (x$f %in% c("a", "e")) + rnorm(800))
}

fit <- function(folder = NULL, ..., nrounds = 12) {
  d <- rows()
  gbt_train(d$x, d$y, nrounds = nrounds, max_depth = 3, seed = 4, subsample = 0.8, checkpoint = folder,
            checkpoint_seconds = 0, ...)
}

# A callback that stops the training as a crash would, after so many rounds.
crash <- function(after) function(now) if (now$round == after) stop("crash")

test_that("a training that broke off goes on to the same bytes, whatever the circumstances", {
  folder <- withr::local_tempdir()
  d <- rows()
  ways <- list(
    list(), list(cat_method = "target"), list(sampling_method = "mvs", subsample = 0.3), list(boosting = "ordered"),
    list(grow_policy = "lossguide", max_leaves = 8), list(valid = 0.2, eval_metric = c("mae", "rmse")),
    list(mask = rep(c(TRUE, TRUE, FALSE), length.out = 800)), list(num_parallel_tree = 2),
    list(objective = list(gradient = function(s, y) s - y, hessian = function(s, y) rep(1, length(y)))),
    list(valid = 0.2, eval_metric = gbt_metric("own", function(p, y) mean(abs(p - y)), maximise = FALSE))
  )
  for (way in ways) {
    call <- utils::modifyList(list(d$x, d$y, nrounds = 9, max_depth = 3, seed = 4, subsample = 0.8), way)
    whole <- do.call(gbt_train, c(call, threads = 1))
    unlink(file.path(folder, "*"))
    at <- list(checkpoint = folder, checkpoint_seconds = 0)
    for (after in c(2, 3, 7)) {
      expect_error(do.call(gbt_train, c(call, at, threads = 2, callbacks = crash(after))), "crash")
    }
    again <- do.call(gbt_train, c(call, at, threads = 1, page_rows = 50))
    expect_same_bytes(again$state, whole$state)
    expect_identical(again$evaluation_log, whole$evaluation_log)
    expect_identical(again$masked_out, whole$masked_out)
    ended <- do.call(gbt_train, c(call, at, threads = 2))
    expect_same_bytes(ended$state, whole$state)
  }
})

test_that("more rounds go on; fewer, other data and other parameters are errors", {
  folder <- withr::local_tempdir()
  fit(folder, nrounds = 5, threads = 1)
  expect_same_bytes(fit(folder, nrounds = 12, threads = 2)$state, fit(threads = 1)$state)
  expect_error(fit(folder, nrounds = 5), "12 rounds", class = "gbt_error_argument")
  expect_error(fit(folder, eta = 0.2), "belongs to another training", class = "gbt_error_argument")
  expect_error(fit(folder, valid = 0.2), "belongs to another training", class = "gbt_error_argument")
  file <- withr::local_tempfile(lines = "a file")
  expect_error(fit(file), "must be a folder, and .* is a file", class = "gbt_error_argument")
  d <- rows()
  d$y[1L] <- d$y[1L] + 1
  expect_error(gbt_train(d$x, d$y, nrounds = 12, max_depth = 3, seed = 4, subsample = 0.8, checkpoint = folder),
               "belongs to another training", class = "gbt_error_argument")
  own <- function(name) gbt_metric(name, function(p, y) mean(abs(p - y)), maximise = FALSE)
  unlink(file.path(folder, "*"))
  fit(folder, eval_metric = own("one"), eval_train = TRUE)
  expect_error(fit(folder, eval_metric = own("two"), eval_train = TRUE), "other metrics", class = "gbt_error_argument")
})

test_that("a seed that was not given is kept with the checkpoint", {
  folder <- withr::local_tempdir()
  d <- rows()
  own <- function(...) gbt_train(d$x, d$y, nrounds = 4, eta = 0.3, subsample = 0.8, valid = 0.2, threads = 1, ...)
  expect_error(own(checkpoint = folder, checkpoint_seconds = 0, callbacks = crash(2)), "crash")
  m <- own(checkpoint = folder)
  expect_identical(m$params$seed, as.double(readLines(file.path(folder, "gbt-seed"))))
  expect_same_bytes(m$state, own(seed = m$params$seed)$state)
  for (odd in list("a", "1.5", "-3", character())) {
    writeLines(odd, file.path(folder, "gbt-seed"))
    expect_error(own(checkpoint = folder), "gbt-seed\" does not hold a seed; remove it", class = "gbt_error_argument")
  }
})

test_that("trainings that stopped early stay stopped", {
  d <- rows()
  call <- list(d$x, d$y, nrounds = 200, eta = 0.5, seed = 1, valid = 0.3, early_stopping_rounds = 3, threads = 1)
  for (metric in list("rmse", gbt_metric("own", function(p, y) mean((p - y)^2), maximise = FALSE))) {
    folder <- withr::local_tempdir()
    whole <- do.call(gbt_train, c(call, list(eval_metric = metric)))
    expect_lt(whole$nrounds, 200L)
    for (i in 1:3) {
      m <- do.call(gbt_train, c(call, list(eval_metric = metric, checkpoint = folder, checkpoint_seconds = i - 1)))
      expect_same_bytes(m$state, whole$state)
      expect_identical(m$best_round, whole$best_round)
    }
  }
})

test_that("a process that is killed at any moment leaves a file that is whole", {
  testthat::skip_on_cran()
  folder <- withr::local_tempdir()
  data <- withr::local_tempfile(fileext = ".rds")
  saveRDS(rows(), data)
  whole <- fit(nrounds = 40, threads = 1)
  for (i in 1:6) {
    child <- start_child(bquote({
      d <- readRDS(.(data))
      say("ready")
      gbt_train(d$x, d$y, nrounds = 40, max_depth = 3, seed = 4, subsample = 0.8, checkpoint = .(folder),
                checkpoint_seconds = 0, threads = .(1 + i %% 2), callbacks = function(now) {
                  Sys.sleep(0.002)
                  FALSE
                })
    }))
    wait_for(child, "ready")
    Sys.sleep(0.01 * i)
    tools::pskill(child$pid, tools::SIGKILL)
    while (tools::pskill(child$pid, 0L)) Sys.sleep(0.01)
  }
  expect_same_bytes(fit(folder, nrounds = 40, threads = 2)$state, whole$state)
})

test_that("folders that cannot be are errors", {
  for (odd in list(1, "", NA_character_, c("a", "b"), list())) {
    expect_error(fit(odd), class = "gbt_error_argument")
  }
  file <- withr::local_tempfile()
  writeLines("no folder", file)
  expect_error(fit(file.path(file, "below")), "cannot make the folder", class = "gbt_error_io")
  folder <- withr::local_tempdir()
  writeLines("no checkpoint", file.path(folder, "gbt-checkpoint"))
  expect_error(fit(folder), "gbt-checkpoint.*; remove it to start again, or give another folder", class = "gbt_error")
  expect_identical(readLines(file.path(folder, "gbt-checkpoint")), "no checkpoint")
})

test_that("other packages' names", {
  folder <- withr::local_tempdir()
  m <- fit(folder)
  d <- rows()
  expect_same_bytes(gbt_train(d$x, d$y, nrounds = 12, max_depth = 3, seed = 4, subsample = 0.8, checkpoint = folder,
                              snapshot_interval = 5)$state, m$state)
  expect_error(fit(snapshot_file = "x"), "`checkpoint`", class = "gbt_error_unsupported")
})

test_that("where `eta` was not given, another `nrounds` is refused with the reason", {
  folder <- tempfile()
  train <- function(...) gbt_train(mpg ~ wt, mtcars, ..., checkpoint = folder, checkpoint_seconds = 0, threads = 1)
  m <- train(nrounds = 5)
  expect_error(train(nrounds = 300), "`eta` was not given, so it depends on `nrounds`", class = "gbt_error_argument")
  more <- train(nrounds = 300, eta = m$params$eta)
  expect_identical(more$nrounds, 300L)
  e <- tryCatch(train(nrounds = 300, eta = m$params$eta, lambda = 9), error = conditionMessage)
  expect_match(e, "another training")
  expect_no_match(e, "was not given")
})
