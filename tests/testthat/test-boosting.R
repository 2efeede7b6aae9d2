# Ordered boosting as the user sees it; that it follows its definition is shown by the native tests.

small <- local({
  set.seed(4, kind = "Mersenne-Twister", sample.kind = "Rejection")
  d <- data.frame(x = rnorm(400), f = factor(sample(letters[1:12], 400, TRUE)))
  d$y <- as.numeric(runif(400) < plogis(d$x + (d$f %in% c("a", "b", "c"))))
  d
})
fit <- function(..., boosting = "ordered", threads = 2) {
  gbt_train(y ~ ., small, objective = "logistic", nrounds = 8, boosting = boosting, threads = threads, seed = 3, ...)
}
score <- function(model) predict(model, small)

test_that("ordered boosting trains, predicts and is kept", {
  ordered <- fit()
  expect_identical(ordered$params$boosting, "ordered")
  expect_false(identical(score(ordered), score(fit(boosting = "plain"))))
  expect_identical(score(fit(threads = 1)), score(ordered))
  expect_identical(score(fit(boosting_type = "Ordered", boosting = NULL)), score(ordered))
  file <- withr::local_tempfile()
  gbt_save(ordered, file)
  again <- gbt_load(file)
  expect_identical(again$params$boosting, "ordered")
  expect_identical(score(again), score(ordered))
})

test_that("it goes with statistics, validation sets and an initial model", {
  expect_false(identical(score(fit(cat_method = "target")), score(fit(cat_method = "sets"))))
  half <- rep(c(TRUE, FALSE), 200)
  held <- fit(mask = half, cat_method = "target", early_stopping_rounds = 3, valid = small[!half, ])
  expect_gt(held$best_round, 0)
  first <- fit()
  more <- fit(init_model = first)
  expect_identical(more$nrounds, 16L)
  expect_false(identical(score(more), score(fit(init_model = first, boosting = "plain"))))
})

test_that("time and group are in its order", {
  when <- rep(1:40, 10)
  expect_warning(timed <- fit(time = when), NA)
  expect_warning(grouped <- fit(group = when), NA)
  expect_false(identical(score(timed), score(fit())))
  expect_false(identical(score(grouped), score(timed)))
})

test_that("what it cannot do is refused", {
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) rep(1, length(label)))
  expect_error(gbt_train(y ~ ., small, objective = own, boosting = "ordered", nrounds = 2), "boosting = \"plain\"",
               class = "gbt_error_unsupported")
  expect_error(fit(boosting = "ordred"), "boosting", class = "gbt_error_argument")
})

# Options that are gone ----------------------------------------------------------------------------------------------

test_that("rounds that change earlier ones are refused in words, their usual values are accepted", {
  grown <- function(...) gbt_train(mpg ~ ., mtcars, nrounds = 3, seed = 1, threads = 1, ...)
  gone <- list(rate_drop = 0.2, drop_rate = 0.2, skip_drop = 0.1, max_drop = 3, normalize_type = "forest",
               model_shrink_rate = 0.1, model_shrink_mode = "Decreasing", tail_rounds = 5, model_size_reg = 0.5)
  for (name in names(gone)) {
    expect_error(do.call(grown, gone[name]), sprintf("gbt has no `%s`: ", name), fixed = TRUE,
                 class = "gbt_error_unsupported")
  }
  for (name in c("boosting", "booster")) {
    expect_error(do.call(grown, stats::setNames(list("dart"), name)), "is not offered; gbt boosts trees",
                 class = "gbt_error_unsupported")
  }
  usual <- list(rate_drop = 0.1, skip_drop = 0.5, max_drop = 50, normalize_type = "tree", model_shrink_rate = 0,
                model_shrink_mode = "constant", tail_rounds = 1, model_size_reg = 0)
  expect_same_bytes(do.call(grown, usual)$state, grown()$state)
  # a model of an earlier version has them among its parameters
  old <- grown()
  old$params <- c(old$params, usual)
  expect_same_bytes(gbt_train(mpg ~ ., mtcars, nrounds = 3, threads = 1, params = old$params)$state, grown()$state)
  expect_no_match(paste(capture.output(summary(old)), collapse = " "), "drop|shrink|tail_rounds|size_reg|normalize")
})
