# Bayesian search, and configurations by several processes.

space_of <- function(...) gbt:::read_space(list(...), NULL, list())

usual <- function() {
  space_of(eta = c(0.01, 0.5), max_depth = c(2, 10), lambda = c(0.1, 30), subsample = c(0.4, 1),
           grow_policy = c("depthwise", "lossguide"))
}

# A search whose estimates are a known function of the configuration.
search <- function(space, n, seed, estimate, maximise = FALSE) {
  drawn <- gbt:::draw_configs(space, n, seed)
  n <- nrow(drawn)
  tried <- drawn[seq_len(gbt:::bayes_start(space, n)), , drop = FALSE]
  while (nrow(tried) < n) {
    proposed <- gbt:::propose_config(space, tried, estimate(tried), maximise, seed)
    if (is.null(proposed)) break
    tried <- rbind(tried, as.data.frame(proposed))
  }
  tried
}

test_that("proposals find a known optimum much better than random search does", {
  skip_if_not_installed("kernlab")
  loss <- function(at) {
    (log(at$eta) - log(0.07))^2 / 4 + (at$max_depth - 6)^2 / 30 + (log(at$lambda) - 1)^2 / 20 +
      (at$subsample - 0.8)^2 + 0.2 * (at$grow_policy == "lossguide")
  }
  space <- usual()
  before <- get0(".Random.seed", globalenv())
  random <- vapply(1:2, function(seed) min(loss(gbt:::draw_configs(space, 20, seed))), 0)
  proposed <- vapply(1:2, function(seed) min(loss(search(space, 20, seed, loss))), 0)
  expect_lt(mean(proposed), mean(random) / 2)
  expect_identical(get0(".Random.seed", globalenv()), before)
  # larger is better, and failures are no obstacle
  score <- function(at) ifelse(at$max_depth == 3, NA, -loss(at))
  expect_identical(search(space, 11, 5, score, TRUE), search(space, 11, 5, function(at) -score(at)))
})

test_that("spaces of every kind are gone through without a configuration twice", {
  skip_if_not_installed("kernlab")
  some <- function(at) seq_along(at[[1L]]) / 10
  spaces <- list(space_of(max_depth = c(1, 5)), space_of(max_depth = 4),
                 space_of(grow_policy = c("depthwise", "lossguide")), space_of(lambda = list(0, 1, 10)),
                 space_of(lambda = c(0, 3)), usual(),
                 space_of(eta = c(0.1, 0.1000001)), gbt:::read_space(NULL, NULL, list()))
  for (space in spaces) {
    for (n in c(1, 2, 6, 7)) {
      for (first in list(NULL, 1, NA_real_)) {
        estimate <- if (is.null(first)) some else function(at) rep(first, length(at[[1L]]))
        tried <- search(space, n, 1, estimate)
        expect_identical(nrow(tried), nrow(gbt:::draw_configs(space, n, 1)))
        expect_false(any(duplicated(tried)))
      }
    }
  }
})

tune <- function(...) {
  gbt_tune(mpg ~ ., mtcars, nrounds = 12, folds = 3, seed = 3, threads = 1, min_child_weight = 3,
           space = list(eta = c(0.05, 0.5), max_depth = c(1, 6)), ...)
}

plain <- function(tuned) {
  tuned$results$seconds <- NULL
  tuned$call <- NULL
  tuned
}

test_that("what is proposed is rated as everything else is", {
  skip_if_not_installed("kernlab")
  tuned <- tune(method = "bayesian", configs = 8)
  expect_identical(plain(tune(method = "bayesian", configs = 8)), plain(tuned))
  expect_identical(nrow(tuned$results), 8L)
  random <- tune(configs = 8)
  expect_identical(plain(tuned)$results[1:5, ], plain(random)$results[1:5, ])
  for (i in c(2, 8)) {
    at <- tuned$results[i, ]
    cv <- gbt_cv(mpg ~ ., mtcars, nrounds = 12, folds = 3, seed = 3, threads = 1, min_child_weight = 3, eta = at$eta,
                 max_depth = at$max_depth, early_stopping_rounds = 20)
    expect_identical(at$estimate, cv$best_score)
  }
  expect_output(print(tuned), "8 configurations")
  expect_identical(gbt_refit(tuned)$params$eta, tuned$best$eta)
  expect_error(gbt:::check_bayesian("no.such.package"),
               "needs the package kernlab.*\"random\" and \"halving\" need none", class = "gbt_error_unsupported")
  expect_error(tune(method = "bayesian", reduction = 2), "needs `method = \"halving\"`", class = "gbt_error_argument")
})

test_that("several processes give the result of one", {
  skip_if_not_installed("future")
  skip_on_os("windows")
  before <- future::plan()
  withr::defer(future::plan(before))
  one <- tune(configs = 5)
  halves <- tune(configs = 6, method = "halving", reduction = 2, min_rounds = 3)
  data <- gbt_data(mtcars[-1], label = mtcars$mpg, threads = 1)
  of_data <- function() {
    gbt_tune(data, space = list(max_depth = c(1, 6)), configs = 3, nrounds = 5, folds = 3, seed = 1, threads = 1)
  }
  binned <- of_data()
  bayes <- if (requireNamespace("kernlab", quietly = TRUE)) tune(method = "bayesian", configs = 8)
  future::plan(future::multisession, workers = 2)
  expect_identical(plain(tune(configs = 5)), plain(one))
  expect_identical(plain(tune(configs = 6, method = "halving", reduction = 2, min_rounds = 3)), plain(halves))
  if (!is.null(bayes)) expect_identical(plain(tune(method = "bayesian", configs = 8)), plain(bayes))
  expect_message(again <- of_data(), "cannot use a gbt_data", class = "gbt_message")
  expect_identical(plain(again), plain(binned))
  wrong <- list(gradient = function(score, label) stop("no"), hessian = function(score, label) score)
  failed <- suppressWarnings(tune(configs = 3, objective = wrong, eval_metric = "rmse"))
  expect_match(failed$errors, "no", all = TRUE)
  expect_identical(tune(configs = 5, seconds = 1e-6)$stopped, "time")
  if (requireNamespace("progressr", quietly = TRUE)) {
    seen <- character(0)
    progressr::with_progress(enable = TRUE, withCallingHandlers(
      future::value(future::future(gbt::gbt_train(mpg ~ ., mtcars, nrounds = 300, threads = 1, progress = TRUE))),
      progression = function(p) seen <<- c(seen, p$type)
    ))
    expect_true(all(c("initiate", "update", "finish") %in% seen))
  }
  future::plan(future::sequential)
  if (future::supportsMulticore()) {
    future::plan(future::multicore, workers = 2)
    expect_identical(plain(of_data()), plain(binned))
  }
})
