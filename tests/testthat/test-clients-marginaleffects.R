# marginaleffects and insight themselves, where they are installed. test-plug.R tests the methods without them.

d <- local({
  set.seed(1)
  d <- data.frame(g = factor(sample(letters[1:6], 200, TRUE)), h = factor(sample(LETTERS[1:5], 200, TRUE)),
                  x = runif(200), n = sample(1:9, 200, TRUE))
  d$y <- d$x + as.integer(d$g) / 5
  d
})
m <- gbt_train(y ~ ., d, nrounds = 20, seed = 1, threads = 1)
few <- d[1:2, ] # lacks levels of both factors, so marginaleffects adds rows with them

test_that("marginaleffects has one prediction for each row that it is given", {
  skip_if_not_installed("marginaleffects")
  withr::local_options(marginaleffects_model_classes = "gbt")
  p <- marginaleffects::predictions(m, newdata = few)
  expect_identical(nrow(p), 2L)
  expect_equal(p$estimate, unname(predict(m, few)))
  expect_equal(marginaleffects::avg_predictions(m, newdata = few)$estimate, mean(predict(m, few)))
  by <- marginaleffects::avg_predictions(m, newdata = d, by = "g")
  want <- tapply(predict(m, d), d$g, mean)
  expect_equal(stats::setNames(by$estimate, by$g), c(want))
})

test_that("marginaleffects compares predictions of changed rows", {
  skip_if_not_installed("marginaleffects")
  withr::local_options(marginaleffects_model_classes = "gbt")
  c1 <- marginaleffects::comparisons(m, variables = list(x = 0.5), newdata = few)
  expect_equal(c1$estimate, unname(predict(m, transform(few, x = x + 0.5)) - predict(m, few)))
  c2 <- marginaleffects::comparisons(m, variables = "g", newdata = few)
  expect_identical(nrow(c2), 10L)
  with_level <- function(level) unname(predict(m, transform(few, g = factor(level, levels(d$g)))))
  expect_equal(c2$estimate[c2$contrast == "b - a"], with_level("b") - with_level("a"))
})

test_that("marginaleffects has a group for each class", {
  skip_if_not_installed("marginaleffects")
  withr::local_options(marginaleffects_model_classes = "gbt")
  k <- gbt_train(g ~ x + y, d, nrounds = 5, threads = 1)
  p <- marginaleffects::predictions(k, newdata = few)
  expect_identical(nrow(p), 12L)
  prob <- predict(k, few)
  for (class in levels(d$g)) expect_equal(p$estimate[p$group == class], unname(prob[, class]))
})

test_that("marginaleffects has a group for each column of the response, level and parameter", {
  skip_if_not_installed("marginaleffects")
  withr::local_options(marginaleffects_model_classes = "gbt")
  both <- transform(d, z = x * n)
  kinds <- list(gbt_train(cbind(y, z) ~ g + x, both, nrounds = 5, threads = 1),
                gbt_train(y ~ g + x, d, objective = "quantile", quantile_alpha = c(0.1, 0.9), nrounds = 5, threads = 1))
  for (k in kinds) {
    want <- predict(k, few)
    p <- marginaleffects::predictions(k, newdata = few)
    for (name in colnames(want)) expect_equal(p$estimate[p$group == name], unname(want[, name]))
    c1 <- marginaleffects::comparisons(k, variables = list(x = 0.5), newdata = few)
    moved <- predict(k, transform(few, x = x + 0.5)) - want
    for (name in colnames(want)) expect_equal(c1$estimate[c1$group == name], unname(moved[, name]))
  }
  normal <- gbt_train(y ~ g + x, d, objective = "dist_normal", nrounds = 5, threads = 1)
  p <- marginaleffects::avg_predictions(normal, newdata = d, type = "parameters")
  expect_equal(stats::setNames(p$estimate, p$group), colMeans(predict(normal, d, "parameters")))
})

test_that("marginaleffects says that it needs the data", {
  skip_if_not_installed("marginaleffects")
  withr::local_options(marginaleffects_model_classes = "gbt")
  expect_error(marginaleffects::predictions(m), "newdata")
})

test_that("insight has no data of a model and says so", {
  skip_if_not_installed("insight")
  expect_warning(none <- insight::get_data(m), "training data", class = "gbt_warning_no_training_data")
  expect_null(none)
  expect_no_warning(expect_null(insight::get_data(m, verbose = FALSE)))
  expect_identical(insight::find_response(m), "y")
})
