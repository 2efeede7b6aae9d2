# gbt_conformal().

made <- function(n, seed) {
  set.seed(seed)
  x <- data.frame(a = runif(n, -2, 2), b = rnorm(n))
  x$y <- sin(2 * x$a) + rnorm(n, 0, 0.2 + 0.3 * abs(x$a))
  x
}

# The k-th smallest, k counted as a fraction of whole numbers.
bound <- function(scores, percent) {
  k <- ((length(scores) + 1) * percent + 99) %/% 100
  if (k > length(scores)) Inf else sort(scores)[k]
}

test_that("the bound is the right order statistic for all small numbers of rows", {
  n <- 1:1000
  for (percent in 1:99) {
    expect_identical(gbt:::conformal_rank(n, percent / 100), ((n + 1) * percent + 99) %/% 100)
  }
})

test_that("intervals are what the books say, for all methods", {
  x <- made(120, 1)
  rest <- made(61, 2)
  new <- made(20, 3)
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  size <- gbt_train(abs(y) + 0.1 ~ ., x, objective = "gamma", nrounds = 5, threads = 1)
  ends <- lapply(c(lower = 0.1, upper = 0.9), function(alpha) {
    gbt_train(y ~ ., x, objective = "quantile", quantile_alpha = alpha, nrounds = 5, eta = 0.1, lambda = 1,
              grow_policy = "depthwise", max_depth = 6, threads = 1) # small steps, with which the two do not cross
  })
  p <- predict(m, rest)
  q <- predict(m, new)
  for (percent in c(10, 55, 80, 90)) {
    level <- percent / 100
    got <- predict(gbt_conformal(m, rest), new, level = level)
    r <- bound(abs(rest$y - p), percent)
    expect_identical(got, data.frame(estimate = q, lower = q - r, upper = q + r))
    got <- predict(gbt_conformal(m, rest[-3], rest$y, scale = size), new, level = level)
    r <- bound(abs(rest$y - p) / predict(size, rest), percent) * predict(size, new)
    expect_identical(got, data.frame(estimate = q, lower = q - r, upper = q + r))
    got <- predict(gbt_conformal(ends, rest), new, level = level)
    r <- bound(pmax(predict(ends$lower, rest) - rest$y, rest$y - predict(ends$upper, rest)), percent)
    expect_identical(got$lower, predict(ends$lower, new) - r)
    expect_identical(got$upper, predict(ends$upper, new) + r)
  }
  cv <- gbt_cv(y ~ ., x, folds = 4, nrounds = 5, keep_models = TRUE, seed = 1, threads = 1)
  fit <- gbt_conformal(cv, x)
  got <- predict(fit, new, level = 0.9)
  for (i in 1:20) {
    low <- high <- numeric(0)
    for (k in 1:4) {
      at <- cv$folds[[k]]
      p <- predict(cv$models[[k]], new[i, ])
      low <- c(low, p - abs(x$y[at] - cv$predictions[at]))
      high <- c(high, p + abs(x$y[at] - cv$predictions[at]))
    }
    expect_identical(got$upper[i], bound(high, 90))
    expect_identical(got$lower[i], -bound(-low, 90))
  }
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), new), got)
  expect_output(print(fit), "120 rows for calibration")
})

test_that("sets hold the classes up to the bound", {
  at <- seq_len(150) %% 3
  m <- gbt_train(Species ~ ., iris[at == 0, ], nrounds = 3, threads = 1)
  got <- predict(gbt_conformal(m, iris[at == 1, ]), iris[at == 2, ], level = 0.9)
  up_to <- function(p) {
    place <- t(apply(-p, 1, rank, ties.method = "first"))
    out <- p
    for (i in seq_len(nrow(p))) for (k in seq_len(ncol(p))) out[i, k] <- sum(p[i, place[i, ] <= place[i, k]])
    out
  }
  p <- predict(m, iris[at == 1, ])
  r <- bound(up_to(p)[cbind(1:50, as.integer(iris$Species[at == 1]))], 90)
  q <- predict(m, iris[at == 2, ])
  expect_equal(unname(got), unname(up_to(q) <= r + 1e-12 | col(q) == max.col(q, "first")))
  expect_identical(colnames(got), levels(iris$Species))
  expect_warning(all <- predict(gbt_conformal(m, iris[c(1, 51), ]), iris, level = 0.9), class = "gbt_warning_conformal")
  expect_true(all(all))
})

test_that("intervals hold about the share that they promise", {
  inside <- vapply(1:40, function(seed) {
    x <- made(300, seed)
    m <- gbt_train(y ~ ., x[1:150, ], nrounds = 15, threads = 1)
    got <- predict(gbt_conformal(m, x[151:200, ]), x[201:300, ], level = 0.9)
    mean(x$y[201:300] >= got$lower & x$y[201:300] <= got$upper)
  }, 0)
  expect_gt(mean(inside), 0.89) # 46 of 51 are 0.902, with a standard error of 0.008
  expect_lt(mean(inside), 0.925)
})

test_that("what is wrong is named", {
  x <- made(60, 1)
  m <- gbt_train(y ~ ., x[1:40, ], nrounds = 2, eta = 0.1, grow_policy = "depthwise", max_depth = 6, lambda = 1,
                 colsample_bytree = 1, threads = 1)
  expect_warning(out <- predict(gbt_conformal(m, x[41:48, ]), x[1:2, ], level = 0.9), "at least 9 rows",
                 class = "gbt_warning_conformal")
  expect_identical(c(out$lower, out$upper), c(-Inf, -Inf, Inf, Inf))
  expect_silent(predict(gbt_conformal(m, x[41:49, ]), x[1:2, ], level = 0.9))
  of_folds <- function(...) gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, threads = 1, ...)
  expect_snapshot(error = TRUE, {
    gbt_conformal()
    gbt_conformal(m)
    gbt_conformal(m, x[1:2], as.character(x$y))
    gbt_conformal(m, x[1:2], factor(x$y > 0))
    gbt_conformal(of_folds(objective = "dist_normal", keep_models = TRUE), x)
    gbt_conformal(of_folds(objective = "quantile", quantile_alpha = c(0.1, 0.9)), x)
    gbt_conformal(m, x[0, ])
    gbt_conformal(list(m, m), x)
    gbt_conformal(m, x, method = "cv")
    gbt_conformal(m, x, scale = m)
    gbt_conformal(gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, threads = 1), x)
    predict(gbt_conformal(m, x), x, level = 90)
    predict(gbt_conformal(m, x), x, type = "set")
  })
})

test_that("sets by a threshold cover two classes and are smaller than all classes", {
  set.seed(3)
  d <- data.frame(x = rnorm(900))
  d$y <- factor(ifelse(d$x + rnorm(900, 0, 0.6) > 0, "yes", "no"))
  m <- gbt_train(y ~ x, d[1:300, ], nrounds = 30, grow_policy = "depthwise", max_depth = 2, threads = 1)
  fit <- gbt_conformal(m, d[301:600, ], threads = 1)
  expect_identical(fit$method, "threshold")
  expect_equal(fit$scores, 1 - predict(m, d[301:600, ], type = "prob")[cbind(1:300, as.integer(d$y[301:600]))])
  sets <- predict(fit, d[601:900, ], level = 0.9, threads = 1)
  covered <- mean(sets[cbind(1:300, as.integer(d$y[601:900]))])
  expect_true(covered > 0.85 && covered < 0.97)
  expect_lt(mean(rowSums(sets)), 1.5)
})

test_that("quantiles in each other's place and models that are none are refused; intervals are never turned over", {
  q <- lapply(c(lower = 0.1, upper = 0.9), function(a) {
    gbt_train(mpg ~ wt, mtcars, objective = "quantile", quantile_alpha = a, nrounds = 10, threads = 1)
  })
  expect_error(gbt_conformal(list(lower = q$upper, upper = q$lower), mtcars), "smaller quantile .*; swap them",
               class = "gbt_error_argument")
  classes <- gbt_train(factor(am) ~ wt, mtcars, nrounds = 2, threads = 1)
  expect_error(gbt_conformal(list(lower = q$lower, upper = classes), mtcars), "with one output",
               class = "gbt_error_unsupported")
  middle <- (predict(q$lower, mtcars) + predict(q$upper, mtcars)) / 2
  p <- predict(gbt_conformal(q, mtcars["wt"], middle), mtcars, level = 0.5)
  expect_true(all(p$lower <= p$upper))
})

test_that("objective \"logistic\" on numbers 0 and 1 gives sets, on shares intervals", {
  x <- made(200, 4)
  x$y <- as.double(x$y > 0)
  words <- transform(x, y = factor(y))
  m <- gbt_train(y ~ ., x[1:100, ], objective = "logistic", nrounds = 5, threads = 1)
  twin <- gbt_train(y ~ ., words[1:100, ], nrounds = 5, threads = 1)
  fit <- gbt_conformal(m, x[101:200, ], threads = 1)
  expect_identical(fit$method, "threshold")
  for (method in c("threshold", "adaptive")) {
    fit <- gbt_conformal(m, x[101:200, ], method = method, threads = 1)
    same <- gbt_conformal(twin, words[101:200, ], method = method, threads = 1)
    expect_identical(predict(fit, x, threads = 1), predict(same, words, threads = 1))
  }
  expect_identical(gbt_conformal(m, x[101:200, ], method = "absolute", threads = 1)$method, "absolute")
  x$y[150] <- 0.5
  expect_identical(gbt_conformal(m, x[101:200, ], threads = 1)$method, "absolute")
  cv <- gbt_cv(y ~ ., x[1:100, ], objective = "logistic", folds = 3, nrounds = 2, keep_models = TRUE, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_conformal(m, x[101:200, ], method = "threshold")
    gbt_conformal(cv, x[1:100, ])
  })
})

test_that("weights count rows, give infinity the weight of the new row, and are the formula's", {
  x <- made(120, 1)
  rest <- made(61, 2)
  new <- made(20, 3)
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  size <- gbt_train(abs(y) + 0.1 ~ ., x, objective = "gamma", nrounds = 5, threads = 1)
  set.seed(5)
  times <- sample(0:3, 61, TRUE)
  twice <- rest[rep(1:61, times), ]
  at <- seq_len(150) %% 3
  flowers <- gbt_train(Species ~ ., iris[at == 0, ], nrounds = 3, threads = 1)
  often <- rep(1:3, length.out = 50)
  for (level in c(0.1, 0.55, 0.8, 0.9, 0.95)) {
    for (scale in list(NULL, size)) {
      one <- gbt_conformal(m, rest, scale = scale, threads = 1)
      # equal weights change nothing, whatever they are
      for (w in c(1, 3, 0.1)) {
        same <- gbt_conformal(m, rest, scale = scale, weights = rep(w, 61), threads = 1)
        expect_identical(predict(same, new, level = level, weights = w), predict(one, new, level = level))
      }
      # a row of weight 2 is there twice, one of weight 0 is not there
      want <- predict(gbt_conformal(m, twice, scale = scale, threads = 1), new, level = level)
      counted <- gbt_conformal(m, cbind(rest, times), scale = scale, weights = times, threads = 1)
      expect_identical(predict(counted, new, level = level), want)
      expect_identical(predict(counted, new, level = level, weights = 1), want)
    }
    for (method in c("threshold", "adaptive")) {
      rows <- iris[at == 1, ]
      want <- gbt_conformal(flowers, rows[rep(1:50, often), ], method = method, threads = 1)
      got <- gbt_conformal(flowers, rows, method = method, weights = often, threads = 1)
      expect_identical(predict(got, iris[at == 2, ], level = level), predict(want, iris[at == 2, ], level = level))
    }
  }
  # by the formula, row by row: the least score up to which shares sum to the level
  w <- runif(61)
  test <- runif(20, 0, 5)
  fit <- gbt_conformal(m, rest, weights = w, threads = 1)
  q <- unname(predict(m, new))
  s <- abs(rest$y - unname(predict(m, rest)))
  want <- vapply(test, function(v) {
    p <- c(w, v) / sum(w, v)
    all <- c(s, Inf)
    min(all[vapply(all, function(t) sum(p[all <= t]) >= 0.8, NA)])
  }, 0)
  expect_identical(predict(fit, new, level = 0.8, weights = test)$upper, q + want)
  expect_identical(predict(fit, cbind(new, v = test), level = 0.8, weights = v)$upper, q + want)
  expect_true(length(unique(want)) > 1L)
  # a row that weighs much has no bound
  heavy <- replace(test, 3, 1e4)
  expect_warning(got <- predict(fit, new, level = 0.8, weights = heavy), "4 times the weight",
                 class = "gbt_warning_conformal")
  expect_identical(which(got$upper == Inf), 3L)
  expect_output(print(fit), "61 rows with weights for calibration")
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  got <- predict(readRDS(file), new, level = 0.8, weights = test)
  expect_identical(got, predict(fit, new, level = 0.8, weights = test))
  cv <- gbt_cv(y ~ ., x, folds = 4, nrounds = 2, keep_models = TRUE, seed = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_conformal(cv, x, weights = rep(1, 120))
    predict(gbt_conformal(m, rest, threads = 1), new, weights = 1)
    predict(fit, new, weights = -1)
    predict(fit, new, weights = 1:3)
    gbt_conformal(m, rest, weights = rep(1e308, 61))
  })
})

test_that("under covariate shift weights keep what intervals promise", {
  coverage <- vapply(1:40, function(seed) {
    x <- made(400, seed)
    m <- gbt_train(y ~ ., x[1:150, ], nrounds = 15, threads = 1)
    shift <- function(a) exp(a) # of the densities of a, there to here; errors grow with abs(a)
    set.seed(seed)
    new <- x[250 + sample(150, 100, TRUE, shift(x$a[251:400])), ]
    held <- function(fit, ...) {
      got <- predict(fit, new, level = 0.9, ...)
      mean(new$y >= got$lower & new$y <= got$upper)
    }
    c(held(gbt_conformal(m, x[151:250, ], threads = 1)),
      held(gbt_conformal(m, x[151:250, ], weights = shift(a), threads = 1), weights = shift(a)))
  }, numeric(2))
  expect_lt(mean(coverage[1L, ]), 0.89)
  expect_gt(mean(coverage[2L, ]), 0.89)
})

test_that("bounds by level with weights are drawn where shares of weights are", {
  x <- made(120, 1)
  m <- gbt_train(y ~ ., x[1:60, ], nrounds = 5, threads = 1)
  times <- rep(1:3, 20)
  counted <- gbt:::conformal_levels(gbt_conformal(m, x[61:120, ], weights = times, threads = 1), 0.8)
  twice <- gbt:::conformal_levels(gbt_conformal(m, x[60 + rep(1:60, times), ], threads = 1), 0.8)
  expect_identical(counted$shapes[[1L]]$plain, twice$shapes[[1L]]$plain)
  steps <- function(s) stats::approx(s$x, s$y, c(0.1234, 0.5678, 0.9123), ties = "ordered")$y
  expect_equal(steps(counted$shapes[[1L]]), steps(twice$shapes[[1L]]))
})

test_that("a bound that is infinite because of infinite scores is said to be so", {
  x <- made(120, 1)
  m <- gbt_train(y ~ ., x[1:60, ], objective = "dist_normal", nrounds = 5, threads = 1)
  rest <- x[61:110, ]
  rest$y[1:6] <- 1e300 # which no distribution of the model can give
  fit <- gbt_conformal(m, rest, threads = 1)
  expect_identical(which(fit$scores == Inf), 1:6)
  heavy <- gbt_conformal(m, rest, weights = rep(2:1, c(6, 44)), threads = 1)
  few <- gbt_conformal(m, x[61:65, ], threads = 1)
  none <- replace(few, "scores", list(rep(Inf, 5)))
  expect_snapshot({
    got <- predict(fit, x[1:2, ])
    got <- predict(heavy, x[1:2, ], weights = c(1, 2))
    got <- predict(heavy, x[1:3, ], weights = c(1, 2, 1000))
    got <- predict(few, x[1:2, ])
    got <- predict(none, x[1:2, ])
  })
  expect_silent(got <- predict(fit, x[1:2, ], level = 0.8))
  expect_true(all(is.finite(unlist(got))))
  # 6 of 50 rows are left out by the level up to 44 / 51
  expect_silent(predict(fit, x[1:2, ], level = 44 / 51))
  expect_warning(predict(fit, x[1:2, ], level = 44.01 / 51), "infinite score", class = "gbt_warning_conformal")
  expect_silent(predict(fit, x[0, ]))
  expect_silent(predict(heavy, x[0, ], weights = numeric(0)))
})
