# Folds by workers of package future give what folds of this process give.

stripped <- function(cv) {
  cv$call <- NULL
  cv$models <- lapply(cv$models, function(m) m$state)
  cv
}

test_that("folds of several processes give the result of one", {
  skip_if_not_installed("future")
  skip_on_os("windows")
  before <- future::plan()
  withr::defer(future::plan(before))
  set.seed(3)
  rows <- data.frame(a = rnorm(300), b = sample(letters[1:6], 300, TRUE), w = runif(300))
  rows$y <- rows$a + (rows$b > "c") + rnorm(300)
  own <- gbt_metric("worst", function(label, pred, weight) max(abs(label - pred)), maximise = FALSE)
  cases <- list(
    fixed = function() gbt_cv(rows[1:2], rows$y, nrounds = 7, folds = 3, seed = 1, threads = 1, keep_models = TRUE),
    early = function() {
      gbt_cv(y ~ a + b, rows, weights = w, nrounds = 300, eta = 0.3, folds = 3, seed = 1, early_stopping_rounds = 3,
             threads = 1, keep_models = TRUE, eval_train = TRUE)
    },
    late = function() { # beyond the rounds that are asked for first
      gbt_cv(y ~ a + b, rows, nrounds = 90, eta = 0.01, folds = 2, seed = 1, early_stopping_rounds = 5, threads = 1,
             keep_models = TRUE)
    },
    limit = function() { # no stop at all
      gbt_cv(y ~ a + b, rows, nrounds = 9, eta = 0.05, folds = 2, seed = 1, early_stopping_rounds = 50, threads = 1,
             keep_models = TRUE)
    },
    schedule = function() {
      gbt_cv(y ~ a, rows, nrounds = 80, eta = function(round) 0.5 / sqrt(round), folds = 2, repeats = 2, seed = 1,
             early_stopping_rounds = 5, threads = 1, keep_models = TRUE, min_data_in_leaf = 5)
    },
    classes = function() {
      gbt_cv(Species ~ ., iris, folds = 3, seed = 1, eta = 0.3, early_stopping_rounds = 4,
             early_stopping_min_delta = 0.001, max_bin = 20, threads = 1, keep_models = TRUE)
    },
    own_metric = function() {
      gbt_cv(rows[1:2], rows$y, nrounds = 60, eta = 0.3, folds = 3, seed = 1, early_stopping_rounds = 4,
             eval_metric = own, threads = 1, keep_models = TRUE)
    },
    rare = function() { # folds that hold out all of a class, or none of it
      folds <- list(c(5, 50, 250, 60:90), 91:120, c(5, 121:150), c(250, 200:230))
      gbt_cv(rows[1:2], seq_len(300) %in% c(5, 50, 250), folds = folds, eval_metric = c("logloss", "auc"), nrounds = 40,
             early_stopping_rounds = 10, min_child_weight = 0.1, seed = 1, threads = 1, keep_models = TRUE)
    },
    statistics = function() {
      gbt_cv(rows[1:2], rows$y, nrounds = 5, folds = 3, seed = 1, cat_method = "target", threads = 1,
             keep_models = TRUE)
    }
  )
  one <- lapply(cases, function(case) stripped(suppressMessages(case())))
  expect_identical(one$late$nrounds > 32L, TRUE)
  expect_identical(one$early$stopped, "early")
  expect_identical(one$limit$stopped, "done")
  expect_identical(is.na(one$rare$fold_log$test_auc), one$rare$fold_log$fold < 3)
  expect_type(one$rare$best_round, "integer")
  data <- gbt_data(rows[1:2], label = rows$y, threads = 1)
  of_data <- function() gbt_cv(data, nrounds = 4, folds = 2, seed = 1, threads = 1, keep_models = TRUE)
  binned <- stripped(of_data())
  future::plan(future::multisession, workers = 2)
  for (name in names(cases)) expect_identical(stripped(suppressMessages(cases[[name]]())), one[[name]], label = name)
  expect_message(again <- of_data(), "cannot use a gbt_data", class = "gbt_message")
  expect_identical(stripped(again), binned)
  expect_message(gbt_cv(rows[1:2], rows$y, nrounds = 2, folds = 3, verbose = 1), "3 folds by 2 workers",
                 class = "gbt_message")
  timed <- gbt_cv(rows[1:2], rows$y, nrounds = 2000, folds = 2, max_seconds = 0.01, threads = 1)
  expect_identical(timed$stopped, "time")
  expect_error(gbt_cv(rows[1:2], rows$y, nrounds = 2, folds = 2, lambda = -1), "lambda", class = "gbt_error_argument")
  wrong <- list(gradient = function(score, label) stop("no"), hessian = function(score, label) score)
  expect_error(gbt_cv(rows[1:2], rows$y, nrounds = 2, folds = 2, objective = wrong, eval_metric = "rmse"), "no",
               class = "gbt_error_callback")
  fails <- function() gbt_cv(rows[1:2], rows$y, nrounds = 2, folds = 2)
  withr::with_options(list(future.globals.maxSize = 1000), {
    expect_error(fails(), "a worker of package future failed: .*size", class = "gbt_error_job")
  })
  light <- function() {
    said <- 0
    withCallingHandlers(gbt_cv(rows["a"], rows$y, weights = rep(1e-6, 300), nrounds = 60, folds = 2, seed = 1,
                               early_stopping_rounds = 20, threads = 1),
                        gbt_warning_weights = function(w) {
                          said <<- said + 1
                          invokeRestart("muffleWarning")
                        })
    said
  }
  told <- light()
  refit <- gbt_refit(cases$early())
  future::plan(future::sequential)
  expect_identical(refit$state, gbt_refit(cases$early())$state)
  expect_identical(told, light())
  if (future::supportsMulticore()) {
    future::plan(future::multicore, workers = 2)
    expect_identical(stripped(of_data()), binned)
    expect_identical(stripped(cases$early()), one$early)
  }
})

test_that("functions of the user's find the user's variables in workers, and none of gbt's", {
  skip_if_not_installed("future")
  skip_on_os("windows")
  before <- future::plan()
  withr::defer(future::plan(before))
  names <- c("k", "work", "rounds", "twice")
  skip_if(any(vapply(names, exists, NA, envir = globalenv(), inherits = FALSE)), "the workspace has such variables")
  withr::defer(rm(list = names, envir = globalenv()))
  for (name in names[1:3]) assign(name, 3, globalenv())
  assign("twice", eval(quote(function(x) 2 * k * x), globalenv()), globalenv())
  metric <- eval(quote(gbt::gbt_metric("q", function(label, pred, weight) {
    twice(mean(abs(label - pred))) + work + rounds
  }, maximise = FALSE)), globalenv())
  objective <- eval(quote(list(gradient = function(score, label) k * (score - label),
                               hessian = function(score, label) rep(k, length(score)))), globalenv())
  set.seed(3)
  x <- data.frame(a = rnorm(200))
  y <- x$a + rnorm(200)
  cv <- function() {
    gbt_cv(x, y, objective = objective, eval_metric = metric, nrounds = 40, folds = 3, seed = 1, threads = 1,
           early_stopping_rounds = 3, keep_models = TRUE)
  }
  tuned <- function() {
    gbt_tune(x, y, eval_metric = metric, space = list(max_depth = c(1, 4)), configs = 3, nrounds = 5, folds = 3,
             seed = 1, threads = 1)$results[c("estimate", "rounds")]
  }
  here <- list(stripped(cv()), tuned())
  future::plan(future::multisession, workers = 2)
  expect_identical(list(stripped(cv()), tuned()), here)
})

