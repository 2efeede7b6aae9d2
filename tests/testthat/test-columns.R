# Responses of several columns.

made <- function(n, seed = 1) {
  withr::with_seed(seed, {
    d <- data.frame(a = rnorm(n), b = rnorm(n), c = runif(n))
    d$y1 <- d$a + d$c + rnorm(n) / 10
    d$y2 <- d$b * d$c + rnorm(n) / 10
    d
  })
}
d <- made(400)
y <- as.matrix(d[4:5])
of <- function(formula = cbind(y1, y2) ~ ., data = d, ..., nrounds = 15) {
  gbt_train(formula, data, nrounds = nrounds, seed = 1, threads = 1, ...)
}
m <- of()
labels <- cbind(p = d$a > 0, q = d$b > 0)

test_that("each column is the model of this column alone, in a matrix with names", {
  got <- predict(m, d)
  expect_identical(dimnames(got), list(NULL, c("y1", "y2")))
  expect_identical(unname(got[, 1]), predict(of(y1 ~ a + b + c), d))
  expect_identical(unname(got[, 2]), predict(of(y2 ~ a + b + c), d))
  expect_identical(dim(predict(m, d[1, ])), c(1L, 2L))
  expect_identical(predict(of(cbind(y2, y1) ~ .), d), got[, 2:1])
  big <- transform(d, y2 = 1024 * y2)
  expect_identical(predict(of(data = big), d), got * rep(c(1, 1024), each = 400))
  expect_same_bytes(gbt_train(d[1:3], d["y1"], nrounds = 15, seed = 1, threads = 1)$state,
                    gbt_train(d[1:3], d$y1, nrounds = 15, seed = 1, threads = 1)$state)
  expect_identical(predict(gbt_train(d[1:3], d[4:5], nrounds = 15, seed = 1, threads = 2), d), got)
  expect_identical(predict(gbt_train(d[1:3], unname(y), nrounds = 15, seed = 1, threads = 1), d), got)
  for (objective in c("absolute_error", "huber", "expectile")) {
    all <- predict(of(objective = objective), d)
    expect_identical(unname(all[, 2]), predict(of(y2 ~ a + b + c, objective = objective), d))
  }
})

test_that("calls in cbind() are columns with names, in training and in new data", {
  log <- of(cbind(y1, twice = 2 * y2, exp(y2)) ~ a + b + c)
  expect_identical(log$columns, c("y1", "twice", "exp(y2)"))
  got <- predict(log, d)
  expect_identical(got[, 1], predict(m, d)[, 1])
  want <- sqrt(colMeans((got - cbind(d$y1, 2 * d$y2, exp(d$y2)))^2))
  names <- c("rmse@y1", "rmse@twice", "rmse@exp(y2)")
  expect_equal(gbt_evaluate(log, d, metrics = names, threads = 1)$estimate, unname(want), tolerance = 1e-14)
  file <- withr::local_tempfile()
  gbt_save(log, file)
  back <- gbt_load(file)
  expect_same_bytes(back$state, log$state)
  expect_identical(predict(back, d), got)
  expect_equal(gbt_evaluate(back, d, metrics = names, threads = 1)$estimate, unname(want), tolerance = 1e-14)
})

test_that("metrics are over all cells and by column; the log has both", {
  log <- of(valid = made(100, 2))
  got <- predict(log, made(100, 2))
  errors <- (got - as.matrix(made(100, 2)[4:5]))^2
  want <- sqrt(c(colMeans(errors), mean(errors)))
  expect_named(log$evaluation_log, c("round", "valid_rmse@y1", "valid_rmse@y2", "valid_rmse"))
  expect_equal(unlist(log$evaluation_log[15, -1], use.names = FALSE), unname(want), tolerance = 1e-14)
  expect_identical(gbt_evaluate(log, d, threads = 1)$metric, c("rmse", "rmse@y1", "rmse@y2", "mae", "r2"))
  own <- gbt_metric("worst", function(pred, label, weight) max(abs(pred - label)))
  expect_equal(of(eval_metric = own)$evaluation_log$train_worst[15], max(abs(predict(m, d) - y)))
  w <- rep(1:2, 200)
  expect_equal(gbt_evaluate(m, d, weights = w, threads = 1)$estimate,
               gbt_evaluate(m, d[rep(seq_len(400), w), ], threads = 1)$estimate, tolerance = 1e-14)
})

test_that("cells that are missing say nothing of their column", {
  some <- transform(d, y1 = replace(y1, 1:90, NA))
  log <- of(data = some, valid = some[51:150, ])
  expect_identical(predict(log, d)[, 2], predict(m, d)[, 2])
  shifted <- transform(some, y1 = y1 + 1)
  expect_equal(predict(of(data = shifted), d)[, 1], predict(log, d)[, 1] + 1, tolerance = 1e-12)
  errors <- (predict(log, some[51:150, ]) - some[51:150, 4:5])^2
  want <- sqrt(c(colMeans(errors, na.rm = TRUE), mean(as.matrix(errors), na.rm = TRUE)))
  expect_equal(unlist(log$evaluation_log[15, -1], use.names = FALSE), unname(want), tolerance = 1e-14)
  expect_equal(gbt_evaluate(log, some[51:150, ], metrics = "rmse", threads = 1)$estimate, want[[3]], tolerance = 1e-14)
  constant <- transform(some, y1 = ifelse(is.na(y1), NA, 7), y2 = 2)
  expect_true(all(predict(suppressWarnings(of(data = constant)), d) == rep(c(7, 2), each = 400)))
})

test_that("labels of several kinds are logical values", {
  log <- gbt_train(d[1:3], labels, nrounds = 15, seed = 1, threads = 1)
  expect_identical(log$objective, "logistic")
  one <- gbt_train(d[1:3], labels[, 2], nrounds = 15, seed = 1, threads = 1)
  expect_identical(unname(predict(log, d)[, 2]), predict(one, d))
  expect_identical(predict(log, d, "class"), predict(log, d) > 0.5)
  expect_identical(predict(log, d, "prob"), predict(log, d))
  p <- predict(log, d)
  loss <- -mean(ifelse(labels, log(p), log(1 - p)))
  values <- gbt_evaluate(log, d[1:3], labels, metrics = c("logloss", "auc", "auc@p", "auc@q"), threads = 1)$estimate
  expect_equal(values[1], loss, tolerance = 1e-12)
  expect_equal(values[2], mean(values[3:4]), tolerance = 1e-15)
  numbers <- gbt_train(d[1:3], labels + 0, objective = "logistic", nrounds = 15, seed = 1, threads = 1)
  expect_identical(predict(numbers, d), p)
  expect_message(gbt_train(d[1:3], labels + 0, nrounds = 2, threads = 1), "squared error is minimised")
})

test_that("folds, masks, gbt_data, going on, jobs, checkpoints and folders know columns", {
  cv <- gbt_cv(cbind(y1, y2) ~ ., d, folds = 3, nrounds = 8, seed = 1, threads = 1, keep_models = TRUE)
  expect_identical(colnames(cv$predictions), c("y1", "y2"))
  expect_equal(gbt_evaluate(cv, d, metrics = "rmse", threads = 1)$estimate, sqrt(mean((cv$predictions - y)^2)),
               tolerance = 1e-14)
  expect_identical(gbt_refit(cv)$columns, c("y1", "y2"))
  data <- gbt_data(d[1:3], label = y, threads = 1)
  expect_identical(predict(gbt_train(data, nrounds = 15, seed = 1, threads = 1), d), predict(m, d))
  half <- rep(c(TRUE, FALSE), 200)
  masked <- gbt_train(data, mask = half, nrounds = 15, seed = 1, threads = 1)
  expect_equal(masked$masked_out, predict(masked, d[!half, ]))
  going <- gbt_train(data, nrounds = 10, eta = 0.1, seed = 1, threads = 1)
  on <- gbt_train(data, nrounds = 5, eta = 0.1, seed = 1, threads = 1, init_model = going)
  expect_identical(predict(on, d), predict(gbt_train(data, nrounds = 15, eta = 0.1, seed = 1, threads = 1), d))
  folder <- withr::local_tempfile()
  paged <- gbt_data(d[1:3], path = folder, page_rows = 64, threads = 1)
  expect_identical(predict(gbt_train(paged, y, nrounds = 15, seed = 1, threads = 2), d), predict(m, d))
  expect_identical(dim(predict(m, d[1:3, ], "contrib")), c(3L, 4L, 2L))
  found <- gbt_train(cbind(y1, y2) ~ ., d, seed = 1, threads = 1, verbose = 0)
  expect_named(found$auto_rounds$log, c("round", "held_out_rmse@y1", "held_out_rmse@y2", "held_out_rmse"))
  expect_identical(predict(of(nrounds = found$nrounds, params = found$params), d), predict(found, d))
})

test_that("columns share trees, whatever their size", {
  shared <- of(multi_strategy = "multi_output_tree", nrounds = 40)
  got <- predict(shared, d)
  nodes <- as.data.frame(shared)
  expect_identical(max(nodes$tree), 40L)
  expect_identical(colnames(nodes$value), c("y1", "y2"))
  expect_identical(unique(as.data.frame(m)$output), c("y1", "y2"))
  expect_identical(dimnames(got), list(NULL, c("y1", "y2")))
  expect_lt(sqrt(mean((got - y)^2)), sqrt(mean((rep(colMeans(y), each = 400) - y)^2)) / 2)
  for (policy in c("symmetric", "depthwise", "lossguide")) {
    policies <- function(data) {
      predict(of(data = data, multi_strategy = "multi_output_tree", nrounds = 40, grow_policy = policy), d)
    }
    own <- policies(d)
    expect_identical(identical(own, got), policy == "symmetric")
    expect_identical(policies(transform(d, y2 = 1024 * y2)), own * rep(c(1, 1024), each = 400))
    expect_identical(unname(policies(transform(d, y1 = y2, y2 = y1))), unname(own[, 2:1])) # exchanged
  }
  file <- withr::local_tempfile()
  gbt_save(shared, file)
  expect_identical(predict(gbt_load(file), d), got)
  expect_equal(rowSums(predict(shared, d[1:5, ], "contrib")[, , 2]), got[1:5, 2], tolerance = 1e-12)
  some <- of(data = transform(d, y1 = replace(y1, 1:90, NA)), multi_strategy = "multi_output_tree")
  expect_false(anyNA(predict(some, d)))
})

test_that("what cannot be a response of several columns is an error", {
  expect_snapshot(error = TRUE, {
    gbt_train(cbind(y1, y2) ~ ., d, objective = "quantile")
    gbt_train(cbind(y1, y1) ~ ., d)
    gbt_train(d[1:3], cbind(d$y1, NA))
    gbt_train(d[1:3], rbind(NA, y[-1, ]))
    gbt_train(d[1:3], data.frame(y1 = d$y1, f = "a"))
    gbt_train(d[1:3], cbind(d$y1, Inf))
    gbt_train(cbind(y1, y2) ~ ., d, objective = "logistic")
    gbt_train(d[1:3], y, objective = list(gradient = function(s, l) s, hessian = function(s, l) s))
    gbt_train(d[1:3], y, valid = list(x = d[1:3], y = d[c(1, 4)]))
    gbt_train(d[1:3], y, valid = list(x = d[1:3], y = d$y1))
    gbt_train(d[1:3], d$y1, valid = list(x = d[1:3], y = y))
    gbt_train(d[1:3], y, valid = 0.2, eval_metric = "rmse@y3")
    gbt_train(d[1:3], y, valid = 0.2, metrics = "rmse@")
    gbt_train(d[1:3], y, valid = 0.2, metrics = "@y1")
    gbt_evaluate(m, d, metrics = "@y1")
    gbt_train(d[1:3], y, boosting = "ordered")
    gbt_train(d[1:3], y, nrounds = 2, init_model = of(y1 ~ a + b + c))
    gbt_train(d[1:3], labels, class_weights = "balanced")
    gbt_cv(d[1:3], y, stratify = TRUE)
    gbt_confusion(gbt_train(d[1:3], labels, nrounds = 2, threads = 1), d[1:3], labels)
    gbt_data(d[1:3], label = y, path = tempfile())
    predict(m, d, type = "class")
  })
  changed <- m
  changed$columns <- "y1"
  expect_error(predict(changed, d), "`columns` must be the names of 2 columns", class = "gbt_error_argument")
})

test_that("columns of other rows are matched by name, and missing cells are seen by na.action", {
  expect_identical(gbt_evaluate(m, d[1:3], y[, 2:1], threads = 1), gbt_evaluate(m, d[1:3], y, threads = 1))
  log <- function(y) gbt_train(d[1:3], as.matrix(d[4:5]), valid = list(x = d[1:3], y = y), nrounds = 3, threads = 1)
  expect_identical(log(d[5:4])$evaluation_log, log(unname(y))$evaluation_log)
  some <- transform(d, y2 = replace(y2, 1:7, NA))
  expect_identical(of(data = some, na.action = na.omit)$state, of(data = some[-(1:7), ])$state)
  expect_identical(of(data = some, na.action = na.pass)$n_obs, 400L)
  expect_message(gbt_train(d[1:3], data.frame(y1 = d$y1, hit = d$a > 0), nrounds = 2, threads = 1),
                 "numbers and logical columns (`hit`)", fixed = TRUE)
})

test_that("a response of several columns may have a race of shapes", {
  set.seed(3)
  n <- 12000
  x <- data.frame(a = rnorm(n), b = rnorm(n))
  both <- cbind(u = x$a + rnorm(n), v = x$b + rnorm(n))
  both[1:100, 2] <- NA
  fit <- function(y = both, ...) {
    valid <- list(x = x[1:2000, ], y = y[1:2000, ])
    gbt_train(x, y, nrounds = 1500, valid = valid, early_stopping_rounds = 2, eta = 0.9, threads = 1, ...)
  }
  m <- fit()
  expect_s3_class(m$race, "data.frame")
  expect_identical(fit(weights = rep(1, n))$state, m$state)
  few <- both
  few[-(3001:3003), 2] <- NA # none among the rows that judge
  expect_null(fit(few)$race)
})

test_that("columns of the response are not taken for parameters, and copies of cells are seen", {
  x <- data.frame(a = 1:40 / 7, b = rep(1:8, 5))
  named <- cbind(`0.9` = x$a + x$b, u = x$b^2)
  expect_error(gbt_train(x, named, nrounds = 2, valid = 0.3, eval_metric = "quantile@0.9", threads = 1),
               "may be the metric's parameter or a column", class = "gbt_error_argument")
  m <- gbt_train(x, named, nrounds = 2, valid = 0.3, objective = "huber", threads = 1)
  expect_false(any(grepl("@0.9", names(m$evaluation_log), fixed = TRUE)))
  named[1:9, 2] <- NA
  expect_warning(gbt_train(cbind(x, copy = x$b^2), named, nrounds = 2, threads = 1),
                 "`copy` is a copy of a column of the response, so the model learns nothing else about that")
  expect_error(gbt_train(x, named, objective = "cox"), "survival::Surv(time, event)", fixed = TRUE,
               class = "gbt_error_unsupported")
  expect_output(print(m), "response  2 columns: 0.9, u", fixed = TRUE)
})

test_that("a common split gains what all columns gain", {
  y <- cbind(a = c(-1, -2, 1, 2), b = c(0.5, -0.25, -0.5, 0.25))
  want <- c(0.46875, 3.020833333333, 1.5234375) # by hand, with lambda 1: half the sum of G^2 / (H + lambda)
  for (policy in c("symmetric", "depthwise", "lossguide")) {
    gains <- vapply(1:3, function(k) {
      m <- gbt_train(data.frame(x = 1:4 > k), y, nrounds = 1, lambda = 1, max_depth = 1, min_child_weight = 0,
                     random_strength = 0, grow_policy = policy, multi_strategy = "multi_output_tree", threads = 1)
      as.data.frame(m)$gain[1] / 2
    }, 0)
    expect_lt(max(abs(gains - want)), 1e-12)
  }
})
