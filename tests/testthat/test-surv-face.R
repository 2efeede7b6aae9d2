# Models of times through the verbs: folds, searches, ensembles, checkpoints, init_model, orders of rows, refusals.

n <- 200
d <- data.frame(a = round(sin(seq_len(n)), 2), b = (seq_len(n) * 7) %% 11, k = factor(seq_len(n) %% 4))
u <- (seq_len(n) * 0.6180339887) %% 1
d$time <- round(-log(u) * exp(-d$a), 1) + 0.1
d$status <- as.numeric(seq_len(n) %% 3 > 0)
d$start <- pmax(0, d$time - 1 - seq_len(n) %% 5)
d$w <- seq_len(n) %% 3 + 1
d$off <- cos(seq_len(n)) / 3
formula <- Surv(time, status) ~ a + b + k
train <- function(..., nrounds = 4) gbt_train(formula, d, nrounds = nrounds, seed = 1, threads = 1, ...)
link <- function(m, ...) predict(m, d, type = "link", threads = 1, ...)
curve <- function(m, ...) predict(m, d, type = "survival", times = c(0.5, 1, 2), threads = 1, ...)
# The cumulative hazard by Breslow's estimator, of rows of score 0.
breslow <- function(score, rows, times) {
  vapply(times, function(t) {
    at <- sort(unique(rows$time[rows$status == 1 & rows$time <= t]))
    sum(vapply(at, function(s) sum(rows$status[rows$time == s]) / sum(exp(score[rows$time >= s])), 0))
  }, 0)
}

test_that("the baseline of an ensemble is that of its mean scores, also with offsets, masks and strata", {
  for (given in list(list(), list(offset = d$off), list(offset = d$off, mask = d$b > 2))) {
    m <- do.call(train, c(list(ensemble = 2, ties = "breslow", subsample = 0.8), given))
    keep <- if (is.null(given$mask)) rep(TRUE, n) else given$mask
    s <- link(m, offset = given$offset)
    expect_equal(m$baseline$hazard, breslow(s[keep], d[keep, ], m$baseline$time), tolerance = 1e-10)
    expect_equal(curve(m, offset = given$offset)[, 2], exp(-breslow(s[keep], d[keep, ], 1) * exp(s)),
                 tolerance = 1e-10, ignore_attr = TRUE)
  }
  by <- train(ensemble = 2, strata = d$b > 5)
  expect_identical(names(by$baseline$strata), c("FALSE", "TRUE"))
  times <- train(objective = "aft", ensemble = 2, subsample = 0.8)
  alone <- train(objective = "aft", subsample = 0.8)
  expect_equal(times$params$aft_scale, alone$params$aft_scale, tolerance = 0.2)
  expect_false(times$params$aft_scale == alone$params$aft_scale)
  expect_equal(curve(times)[, 2], pnorm(-link(times) / -times$params$aft_scale), tolerance = 1e-10, ignore_attr = TRUE)
})

test_that("a training that goes on from a checkpoint without a better round has the baseline of the best one", {
  for (given in list(list(), list(offset = d$off, strata = d$b > 5))) {
    folder <- file.path(withr::local_tempdir(), "checkpoints")
    again <- function() {
      do.call(train, c(list(nrounds = 60, valid = d$b < 3, early_stopping_rounds = 3, checkpoint = folder, eta = 0.5),
                       given))
    }
    first <- again()
    expect_lt(first$best_round, first$nrounds)
    second <- again()
    expect_identical(second$baseline, first$baseline)
    expect_identical(second$state, first$state)
  }
})

test_that("a model that goes on from another has the curves of one training", {
  for (objective in c("cox", "aft")) {
    whole <- train(objective = objective, nrounds = 6)
    on <- train(init_model = train(objective = objective, nrounds = 2))
    expect_identical(link(on), link(whole))
    expect_identical(curve(on), curve(whole))
    some <- gbt_train(formula, d[1:120, ], init_model = whole, nrounds = 1, threads = 1)
    expect_true(all(is.finite(curve(some))))
  }
})

test_that("the order of the rows changes neither predictions nor baseline", {
  order <- order(u)
  same <- function(formula, ...) {
    model <- function(rows) gbt_train(formula, rows, nrounds = 4, seed = 1, threads = 1, ...)
    m <- model(d)
    other <- model(d[order, ])
    expect_identical(link(other), link(m))
    expect_identical(other$baseline, m$baseline)
  }
  same(formula, weights = w)
  same(Surv(start, time, status) ~ a + b + k, ties = "breslow")
  same(formula, strata = k)
  same(formula, objective = "aft")
})

test_that("whole weights are repeated rows", {
  fit <- function(rows, ...) {
    gbt_train(Surv(time, status) ~ a, rows, nrounds = 4, ties = "breslow", eta = 0.2, lambda = 1, max_depth = 2,
              grow_policy = "depthwise", threads = 1, ...)
  }
  weighted <- fit(d, weights = w)
  repeated <- fit(d[rep(seq_len(n), d$w), ])
  expect_equal(link(weighted), link(repeated), tolerance = 1e-6)
  expect_equal(weighted$baseline, repeated$baseline, tolerance = 1e-6)
})

test_that("folds and searches judge held-out rows of times, by groups as well, and their refits have curves", {
  for (objective in c("cox", "aft")) {
    metric <- if (objective == "cox") "concordance" else "aft_nloglik"
    cv <- gbt_cv(formula, d, objective = objective, nrounds = 3, folds = 2, group = k, keep_models = TRUE, seed = 1,
                 eval_metric = metric, threads = 1)
    held <- cv$folds[[1L]]
    expect_length(intersect(d$k[held], d$k[-held]), 0L)
    value <- function(rows, m) gbt_evaluate(m, d[rows, ], metrics = metric, trees = 3, threads = 1)$estimate
    each <- mapply(value, cv$folds, cv$models)
    expect_equal(cv$evaluation_log[[2L]][3L], mean(each), tolerance = 1e-10)
    expect_true(all(is.finite(curve(suppressWarnings(gbt_refit(cv), classes = "gbt_warning")))))
    found <- gbt_tune(formula, d, objective = objective, configs = 2, folds = 2, nrounds = 2, seed = 1, threads = 1)
    expect_true(all(is.finite(curve(gbt_refit(found)))))
    expect_s3_class(gbt_importance(train(objective = objective), type = "permutation", data = d, threads = 1),
                    "gbt_importance_permutation")
  }
})

test_that("what makes no sense for censored times is refused, and fewer rounds name the way out", {
  m <- train()
  expect_error(predict(m, d, type = "survival", times = 1, trees = 2), "gbt_refit(model, nrounds = 2)", fixed = TRUE,
               class = "gbt_error_unsupported")
  expect_error(gbt_conformal(m, d), "quantiles of times", class = "gbt_error_unsupported")
  expect_error(residuals(m, d), "no residuals", class = "gbt_error_unsupported")
  skip_if_not_installed("generics")
  expect_false(".resid" %in% names(generics::augment(m, d)))
})
