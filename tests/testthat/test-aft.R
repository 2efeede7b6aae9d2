# Times that may be censored, objective "aft". Surv objects are made as package survival makes them.

surv_of <- function(..., type) structure(cbind(...), type = type, class = "Surv")
surv_right <- function(time, status) surv_of(time = time, status = status, type = "right")

made_times <- function(n = 400, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = rnorm(n), b = runif(n), k = factor(sample(letters[1:3], n, TRUE)))
  d$true <- exp(1 + 0.8 * d$a - d$b + 0.5 * rnorm(n))
  censored <- rexp(n, 0.15)
  d$time <- pmin(d$true, censored)
  d$status <- as.numeric(d$true <= censored)
  d
}
features <- c("a", "b", "k")
train_times <- function(d, y = surv_right(d$time, d$status), ...) {
  gbt_train(d[features], y, objective = "aft", nrounds = 10, threads = 2, ...)
}

gbt_load_of <- function(model) {
  file <- tempfile(fileext = ".gbt")
  on.exit(unlink(file))
  gbt_save(model, file)
  gbt_load(file)
}

# The loss by formulas of R.
nloglik <- function(score, lower, upper, dist, scale, weights = rep(1, length(score))) {
  z <- function(t) (log(t) - score) / scale
  p <- switch(dist, normal = pnorm, logistic = plogis, extreme = function(z) 1 - exp(-exp(z)))
  f <- switch(dist, normal = dnorm, logistic = dlogis, extreme = function(z) exp(z - exp(z)))
  loss <- ifelse(lower == upper, -log(f(z(lower)) / (scale * lower)), -log(p(z(upper)) - p(z(lower))))
  sum(weights * loss) / sum(weights)
}

test_that("all kinds of censoring are read, and aft_nloglik is the formula's", {
  d <- made_times()
  d$lower <- ifelse(d$status == 1, d$true, d$time)
  status <- rep(0:3, length.out = nrow(d))
  y <- surv_of(time1 = d$true, time2 = ifelse(status == 3, d$true * 1.5, 1), status = status, type = "interval")
  lower <- ifelse(status == 2, 0, d$true)
  upper <- c(Inf, NA, NA, NA)[status + 1]
  upper <- ifelse(status == 0, Inf, ifelse(status == 3, d$true * 1.5, d$true))
  w <- runif(nrow(d))
  for (dist in c("normal", "logistic", "extreme")) {
    m <- train_times(d, y, aft_dist = dist, weights = w, eval_train = TRUE)
    score <- predict(m, d, type = "link")
    expected <- nloglik(score, lower, upper, dist, m$params$aft_scale, w)
    expect_equal(m$evaluation_log$train_aft_nloglik[10], expected, tolerance = 1e-10)
    expect_equal(gbt_evaluate(m, d, y, weights = w)$estimate[1], expected, tolerance = 1e-10)
    expect_equal(predict(m, d), exp(score), tolerance = 1e-12)
  }
  left <- surv_of(time = d$true, status = rep(0:1, length.out = nrow(d)), type = "left")
  m <- gbt_train(d[features], left, nrounds = 5, threads = 2, eval_train = TRUE)
  expect_equal(m$objective, "aft")
  expect_equal(m$evaluation_log$train_aft_nloglik[5],
               nloglik(predict(m, d, type = "link"), ifelse(rep(0:1, length.out = nrow(d)) == 1, d$true, 0), d$true,
                       "normal", m$params$aft_scale), tolerance = 1e-10)
  expect_identical(predict(train_times(d, d$true), d), predict(train_times(d, surv_right(d$true, rep(1, nrow(d)))), d))
})

test_that("a constant model has the intercept and the scale of survreg()", {
  skip_if_not_installed("survival")
  d <- made_times()
  d$none <- 0
  for (dist in c("lognormal", "loglogistic", "weibull")) {
    fit <- survival::survreg(survival::Surv(time, status) ~ 1, d, dist = dist)
    m <- suppressWarnings(gbt_train(d["none"], surv_right(d$time, d$status), objective = "aft", aft_dist = dist,
                                    nrounds = 1, threads = 1))
    expect_equal(predict(m, d["none"], type = "link")[[1]], unname(coef(fit)), tolerance = 1e-5)
    expect_equal(m$params$aft_scale, fit$scale, tolerance = 1e-5)
    p <- c(0.1, 0.5, 0.9)
    expect_equal(as.vector(predict(m, d[1, "none", drop = FALSE], type = "quantile", probs = p)),
                 unname(predict(fit, d[1, ], type = "quantile", p = p)), tolerance = 1e-4, ignore_attr = TRUE)
  }
  fit <- survival::survreg(survival::Surv(time, status) ~ 1, d, dist = "exponential")
  m <- suppressWarnings(gbt_train(d["none"], surv_right(d$time, d$status), objective = "aft", nrounds = 1,
                                  aft_dist = "exponential", threads = 1))
  expect_equal(m$params$aft_scale, 1)
  expect_equal(predict(m, d["none"], type = "link")[[1]], unname(coef(fit)), tolerance = 1e-6)
})

test_that("curves, quantiles and means agree with each other", {
  d <- made_times()
  for (dist in c("normal", "logistic", "extreme")) {
    m <- train_times(d, aft_dist = dist)
    few <- d[1:5, ]
    times <- c(0, 0.5, 2, 10)
    s <- predict(m, few, type = "survival", times = times)
    expect_equal(dim(s), c(5L, 4L))
    expect_equal(colnames(s), format(times, trim = TRUE))
    expect_equal(attr(s, "times"), times)
    expect_equal(unname(s[, 1]), rep(1, 5))
    expect_equal(predict(m, few, type = "cumhaz", times = times), -log(s), tolerance = 1e-10)
    median <- predict(m, few, type = "quantile")
    for (i in 1:5) {
      expect_equal(as.vector(predict(m, few[i, ], type = "survival", times = median[i])), 0.5, tolerance = 1e-10)
    }
    mean <- predict(m, few, type = "time")
    curve <- function(t) vapply(t, function(t) predict(m, few[2, ], type = "survival", times = t)[1], 0)
    expect_equal(mean[2], integrate(curve, 0, Inf, rel.tol = 1e-8)$value, tolerance = 1e-5)
  }
})

test_that("a given scale stays, an estimated one is estimated again", {
  d <- made_times()
  m <- train_times(d, aft_scale = 0.7)
  expect_equal(m$params$aft_scale, 0.7)
  estimated <- train_times(d)
  expect_true(abs(estimated$params$aft_scale - 0.5) < 0.2)
  expect_equal(train_times(d, dist = "lognormal", aft_loss_distribution_scale = 0.7)$state, m$state)
  stored <- gbt_load_of(estimated)
  again <- gbt_refit(stored, x = d[features], y = surv_right(d$time, d$status))
  expect_equal(again$state, estimated$state)
  more <- gbt_train(d[features], surv_right(d$time, d$status), init_model = estimated, nrounds = 10, threads = 2)
  whole <- gbt_train(d[features], surv_right(d$time, d$status), objective = "aft", nrounds = 20, threads = 2)
  expect_equal(predict(more, d), predict(whole, d), tolerance = 1e-10)
  expect_equal(more$params$aft_scale, whole$params$aft_scale, tolerance = 1e-10)
})

test_that("saving, threads, masks, shares, folds, stopping and checkpoints know the times", {
  d <- made_times()
  y <- surv_right(d$time, d$status)
  m <- train_times(d)
  expect_equal(predict(gbt_load_of(m), d, type = "time"), predict(m, d, type = "time"))
  one <- gbt_train(d[features], y, objective = "aft", nrounds = 10, threads = 1)
  expect_identical(one$state, m$state)
  keep <- rep(c(TRUE, TRUE, FALSE), length.out = nrow(d))
  masked <- gbt_train(d[features], y, objective = "aft", nrounds = 10, threads = 2, mask = keep)
  part <- train_times(d[keep, ])
  expect_equal(masked$params$aft_scale, part$params$aft_scale, tolerance = 0.05)
  held <- gbt_train(d[features], y, objective = "aft", nrounds = 60, valid = !keep, early_stopping_rounds = 5,
                    threads = 2)
  rows <- which(!keep)
  expect_equal(held$best_score, nloglik(predict(held, d[rows, ], type = "link"), d$time[rows],
                                        ifelse(d$status[rows] == 1, d$time[rows], Inf), "normal",
                                        held$params$aft_scale), tolerance = 1e-8)
  cv <- gbt_cv(d[features], y, objective = "aft", nrounds = 5, folds = 3, threads = 2)
  expect_true(is.finite(cv$evaluation_log[[2]][5]))
  file <- tempfile()
  on.exit(unlink(file, recursive = TRUE))
  whole <- gbt_train(d[features], y, objective = "aft", nrounds = 10, threads = 2, checkpoint = file)
  expect_identical(whole$state, m$state)
  pages <- tempfile()
  on.exit(unlink(pages, recursive = TRUE), add = TRUE)
  paged <- gbt_data(d[features], y, path = pages)
  expect_equal(predict(gbt_train(paged, objective = "aft", nrounds = 10, threads = 2), d), predict(m, d))
  data <- gbt_data(d[features], y)
  expect_equal(gbt_train(data, objective = "aft", nrounds = 10, threads = 2)$params$aft_scale, m$params$aft_scale)
})

test_that("permuted rows and integer weights change nothing", {
  d <- made_times()
  m <- train_times(d)
  at <- sample(nrow(d))
  p <- train_times(d[at, ], surv_right(d$time[at], d$status[at]))
  expect_equal(p$params$aft_scale, m$params$aft_scale, tolerance = 1e-4)
  w <- rep(1:2, length.out = nrow(d))
  twice <- d[rep(seq_len(nrow(d)), w), ]
  quiet <- list(aft_scale = 0.6, seed = 1)
  a <- gbt_train(d["a"], surv_right(d$time, d$status), params = quiet, objective = "aft", nrounds = 1, weights = w,
                 max_depth = 1, max_bin = 16, min_data_in_leaf = 1, random_strength = 0, subsample = 1)
  b <- gbt_train(twice["a"], surv_right(twice$time, twice$status), params = quiet, objective = "aft", nrounds = 1,
                 max_depth = 1, max_bin = 16, min_data_in_leaf = 1, random_strength = 0, subsample = 1)
  expect_equal(predict(a, data.frame(a = 0), type = "link"), predict(b, data.frame(a = 0), type = "link"),
               tolerance = 0.05)
})

test_that("steps of far rows are not cut short, as XGBoost's clips of gradients do", {
  d <- data.frame(a = rep(0:1, each = 20))
  time <- rep(c(1, exp(60)), each = 20)
  m <- gbt_train(d, time, objective = "aft", aft_scale = 1, nrounds = 100, eta = 1, lambda = 0, min_child_weight = 0,
                 min_data_in_leaf = 1, threads = 1, max_depth = 1, random_strength = 0, colsample_bytree = 1)
  expect_equal(predict(m, data.frame(a = 0:1), type = "link"), c(0, 60), tolerance = 1e-4)
})

test_that("bad times are errors that name the row", {
  d <- made_times(20)
  expect_snapshot(error = TRUE, {
    train_times(d, surv_right(c(0, d$time[-1]), d$status))
    train_times(d, surv_right(c(NA, d$time[-1]), d$status))
    train_times(d, surv_right(c(Inf, d$time[-1]), d$status))
    train_times(d, surv_right(d$time, rep(0, 20)))
    train_times(d, c(-1, d$time[-1]))
    train_times(d, c(0, d$time[-1]))
    train_times(d, surv_of(start = d$time, stop = d$time + 1, status = d$status, type = "counting"))
    gbt_train(d[features], surv_right(d$time, d$status), objective = "poisson")
    train_times(d, aft_dist = "gamma")
    train_times(d, aft_dist = "exponential", aft_scale = 2)
    train_times(d, aft_scale = -1)
    train_times(d, valid = list(x = d[features], y = surv_of(time = d$time, status = d$status, type = "left")))
  })
  m <- train_times(d)
  expect_snapshot(error = TRUE, {
    predict(m, d, type = "survival")
    predict(m, d, type = "survival", times = c(2, 1))
    predict(m, d, type = "cumhaz", times = -1)
    predict(m, d, type = "quantile", probs = 1)
    predict(m, d, times = 1)
    predict(gbt_train(mpg ~ ., mtcars, nrounds = 2), mtcars, type = "time")
  })
})
