# Ways to draw rows: names and values of other packages, what cannot be combined, and what does not show in a model.

d <- function() {
  set.seed(1)
  n <- 3000
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters, n, TRUE)))
  list(x = x, two = factor(ifelse(x$a + rnorm(n) > 0.5, "yes", "no")), number = x$a * 2 + x$b + rnorm(n),
       three = factor(c("u", "v", "w"))[1 + (x$a > 0) + (x$b > 0.5)])
}

fit <- function(..., y = d()$two, threads = 1) {
  gbt_train(d()$x, y, ..., nrounds = 4, max_depth = 4, seed = 3, threads = threads)
}

methods <- list(list(sampling_method = "mvs", subsample = 0.3), list(sampling_method = "goss"),
                list(sampling_method = "bayesian"), list(subsample = c(no = 0.2, yes = 1)))

test_that("models are the same on any number of threads, from pages and with the rows in a folder", {
  data <- d()
  for (method in methods) {
    one <- do.call(fit, method)
    expect_same_bytes(do.call(fit, c(method, threads = 2))$state, one$state)
    expect_same_bytes(do.call(fit, c(method, page_rows = 100))$state, one$state)
    folder <- tempfile()
    rows <- gbt_data(data$x, label = data$two, path = folder, memory = 0, threads = 1)
    m <- do.call(gbt_train, c(list(rows, nrounds = 4, max_depth = 4, seed = 3, threads = 2), method))
    expect_same_bytes(m$state, one$state)
    expect_false(identical(fit()$state, one$state))
    unlink(folder, recursive = TRUE)
  }
})

test_that("all rows are all rows", {
  plain <- fit()
  expect_identical(predict(fit(sampling_method = "bayesian", bagging_temperature = 0), d()$x), predict(plain, d()$x))
  expect_identical(predict(fit(subsample = c(no = 1, yes = 1)), d()$x), predict(plain, d()$x))
  expect_warning(m <- fit(sampling_method = "mvs"), "such as 0.3", class = "gbt_warning_subsample")
  expect_identical(predict(m, d()$x), predict(plain, d()$x))
})

test_that("every objective that may, several classes, own objectives, weights and continued trainings", {
  data <- d()
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) rep(1, length(score)))
  for (method in methods[1:3]) {
    a <- do.call(fit, c(method, list(y = data$number, objective = own)))
    offset <- gbt_train(data$x, data$number, nrounds = 4, max_depth = 4, seed = 3, offset = rep(0, 3000) -
                          mean(data$number), threads = 1)
    expect_equal(a$nrounds, 4L)
    expect_length(predict(a, data$x), 3000)
    three <- do.call(fit, c(method, list(y = data$three)))
    expect_identical(dim(predict(three, data$x)), c(3000L, 3L))
    first <- do.call(gbt_train, c(list(data$x, data$two, nrounds = 2, eta = 0.1, max_depth = 4, seed = 3, threads = 1),
                                  method))
    whole <- do.call(gbt_train, c(list(data$x, data$two, nrounds = 2, eta = 0.1, max_depth = 4, seed = 3, threads = 1,
                                       init_model = first), method))
    expect_equal(predict(whole, data$x), predict(do.call(fit, c(method, eta = 0.1)), data$x), tolerance = 0.05)
  }
  w <- rep(c(1, 3), 1500)
  expect_no_error(fit(weights = w, sampling_method = "mvs", subsample = 0.5))
  expect_no_error(fit(weights = w, subsample = c(no = 0.5), valid = 0.2))
})

test_that("few rows of a class are enough for a good model", {
  y <- d()$two
  m <- fit(subsample = c(no = 0.3, yes = 1))
  expect_identical(m$params$subsample, c(no = 0.3, yes = 1))
  root <- as.data.frame(m)[1L, ]
  expect_true(abs(root$count - 0.3 * sum(y == "no") - sum(y == "yes")) < 100)
  expect_true(mean(predict(m, d()$x)) > mean(predict(fit(), d()$x))) # the others' share is smaller
})

test_that("names and values of other packages", {
  state <- function(...) fit(...)$state
  mvs <- state(sampling_method = "mvs", subsample = 0.5)
  expect_same_bytes(state(sampling_method = "gradient_based", subsample = 0.5), mvs)
  expect_same_bytes(state(bootstrap_type = "MVS", subsample = 0.5), mvs)
  expect_same_bytes(state(bootstrap_type = "MVS", bagging_fraction = 0.5, mvs_reg = -1), mvs)
  expect_false(identical(state(sampling_method = "mvs", subsample = 0.5, mvs_reg = 5), mvs))
  goss <- state(sampling_method = "goss")
  expect_same_bytes(state(data_sample_strategy = "goss", top_rate = 0.2, other_rate = 0.1), goss)
  expect_same_bytes(state(boosting = "goss"), goss)
  expect_same_bytes(state(bootstrap_type = "Bayesian"), state(sampling_method = "bayesian"))
  expect_same_bytes(state(bootstrap_type = "Bernoulli", subsample = 0.5), state(subsample = 0.5))
  expect_same_bytes(state(bootstrap_type = "No"), state())
  expect_error(fit(bootstrap_type = "No", subsample = 0.5), "contradict", class = "gbt_error_argument")
  expect_error(fit(bootstrap_type = "Poisson"), "given as `bootstrap_type`", class = "gbt_error_argument")
  expect_error(fit(pos_bagging_fraction = 0.5), "by class: subsample = c", class = "gbt_error_unsupported")
  expect_same_bytes(state(sample_rate_per_class = c(0.5, 1)), state(subsample = c(no = 0.5, yes = 1)))
})

test_that("what cannot be is an error that names the parameter", {
  says <- function(text, ..., class = "argument") expect_error(fit(...), text, class = paste0("gbt_error_", class))
  says("must be one of", sampling_method = "best")
  says("must be 1 with `sampling_method = \"goss\"`", sampling_method = "goss", subsample = 0.5)
  says("takes all rows", sampling_method = "bayesian", bagging_fraction = 0.5)
  says("add up to 1.1", sampling_method = "goss", top_rate = 0.6, other_rate = 0.5)
  says("needs `sampling_method = \"goss\"`", top_rate = 0.3)
  says("needs `sampling_method = \"bayesian\"`", bagging_temperature = 0.3, sampling_method = "goss")
  says("needs `sampling_method = \"mvs\"`", mvs_reg = 1)
  says("`num_parallel_tree` must be 1", sampling_method = "goss", num_parallel_tree = 2)
  expect_warning(says("by class needs", sampling_method = "mvs", subsample = c(no = 0.5, yes = 1)), NA)
  says("names \"maybe\"", subsample = c(maybe = 0.5, yes = 1))
  says("3 numbers for 2 classes", subsample = c(1, 1, 0.5))
  says("shares from 0 to 1 named by classes", subsample = c(no = 2, yes = 1))
  says("shares from 0 to 1 named by classes", subsample = c(no = NA, yes = 1))
  says("0 for all classes", subsample = c(no = 0, yes = 0))
  says("give one share of all rows", subsample = c(a = 1, b = 0.5), y = d()$number)
  says("are quantiles", sampling_method = "goss", y = d()$number, objective = "absolute_error", class = "unsupported")
  says("needs `sampling_method", sampling_method = "bayesian", boosting = "ordered", class = "unsupported")
  expect_error(gbt_train(d()$x, d()$number, objective = "cross_entropy", subsample = c(1, 0.5)),
               class = "gbt_error")
})

test_that("the seed is drawn where rows are drawn", {
  draws <- function(...) {
    set.seed(5)
    gbt_train(d()$x, d()$two, ..., nrounds = 1, threads = 1)
    runif(1)
  }
  untouched <- draws()
  for (method in methods) expect_false(identical(do.call(draws, method), untouched))
})

test_that("a device grows the same trees", {
  skip_without_cuda()
  for (method in methods) do.call(expect_same_on_cuda, c(list(d()$x, d()$two, nrounds = 3, seed = 3), method))
  expect_same_on_cuda(d()$x, d()$three, nrounds = 2, seed = 3, sampling_method = "goss")
})
