# Cross-validation: gbt_cv(), gbt_refit(), update().

rows <- function(n = 300) {
  set.seed(11)
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters[1:6], n, TRUE)), g = rnorm(n))
  x$b[seq(3, n, 11)] <- NA
  list(x = x, y = x$a + (x$f %in% c("a", "e")) + rnorm(n))
}

# What gbt_cv() should be: a training with a mask for each fold.
by_hand <- function(data, held, n, ...) {
  models <- lapply(held, function(rows) gbt_train(data, mask = !seq_len(n) %in% rows, ...))
  out <- matrix(NA_real_, n, NCOL(models[[1]]$masked_out))
  for (k in seq_along(held)) out[held[[k]], ] <- models[[k]]$masked_out
  list(models = models, predictions = if (ncol(out) == 1) as.vector(out) else out)
}

test_that("a fold is a training with a mask, to the byte, for all kinds of trainings", {
  d <- rows()
  own <- list(gradient = function(s, y) s - y, hessian = function(s, y) rep(1, length(y)))
  ways <- list(
    list(), list(subsample = 0.7, colsample_bynode = 0.5), list(cat_method = "target"), list(objective = own),
    list(objective = "quantile", quantile_alpha = 0.7), list(boosting = "ordered"), list(num_parallel_tree = 2),
    list(grow_policy = "lossguide", max_leaves = 6), list(eval_metric = c("mae", "rmse"), eval_train = TRUE),
    list(eval_metric = gbt_metric("own", function(p, y) mean(abs(p - y)))), list(offset = d$x$g),
    list(weights = rep(1:2, 150))
  )
  for (way in ways) {
    call <- c(way, list(nrounds = 4, max_depth = 3, seed = 5))
    data <- gbt_data(d$x, d$y, weight = call$weights, offset = call$offset, threads = 1)
    others <- call[!names(call) %in% c("weights", "offset")]
    twin <- NULL
    for (threads in c(1, 3)) {
      cv <- do.call(gbt_cv, c(list(d$x, d$y, folds = 3, keep_models = TRUE, threads = threads), call))
      if (is.null(twin)) {
        folds <- cv$folds
        twin <- do.call(by_hand, c(list(data, folds, 300, threads = 2), others))
      }
      expect_identical(cv$folds, folds)
      for (k in 1:3) {
        expect_same_bytes(cv$models[[k]][seq_len(4)]$state, twin$models[[k]][seq_len(4)]$state)
        log <- twin$models[[k]]$evaluation_log
        of_fold <- cv$fold_log[cv$fold_log$fold == k, -(1:2), drop = FALSE]
        expect_identical(unname(as.matrix(of_fold)), unname(as.matrix(log[-1])))
      }
      expect_identical(cv$predictions, twin$predictions)
    }
  }
})

test_that("all forms of data give the same", {
  d <- rows()
  d$x$f <- as.integer(d$x$f)
  all <- list(nrounds = 5, seed = 2, threads = 2, folds = 3)
  whole <- cbind(d$x, y = d$y)
  first <- do.call(gbt_cv, c(list(d$x, d$y), all))
  second <- do.call(gbt_cv, c(list(y ~ ., whole), all))
  third <- do.call(gbt_cv, c(list(as.matrix(d$x), d$y), all))
  fourth <- do.call(gbt_cv, c(list(gbt_data(d$x, d$y)), all))
  for (other in list(second, third, fourth)) {
    expect_identical(other$predictions, first$predictions)
    expect_identical(other$evaluation_log, first$evaluation_log)
  }
  testthat::skip_if_not_installed("Matrix")
  x <- as.matrix(d$x[c("a", "f", "g")])
  sparse <- gbt_cv(methods::as(x, "CsparseMatrix"), d$y, nrounds = 5, seed = 2, threads = 2, folds = 3)
  dense <- gbt_cv(x, d$y, nrounds = 5, seed = 2, threads = 2, folds = 3)
  expect_identical(sparse$predictions, dense$predictions)
})

test_that("early stopping looks at the mean of the folds; one standard error; predictions of the best round", {
  d <- rows()
  cv <- gbt_cv(d$x, d$y, nrounds = 300, eta = 0.4, folds = 5, early_stopping_rounds = 7, seed = 1, threads = 2)
  log <- cv$evaluation_log
  mean <- log$test_rmse_mean
  expect_identical(cv$best_round, which.min(mean))
  expect_identical(nrow(log), cv$best_round + 7L)
  expect_identical(cv$nrounds, nrow(log))
  each <- matrix(cv$fold_log$test_rmse, ncol = 5)
  expect_equal(mean, rowMeans(each))
  expect_equal(log$test_rmse_se, apply(each, 1, sd) / sqrt(5))
  expect_identical(cv$one_se_round, which(mean <= min(mean) + log$test_rmse_se[cv$best_round])[1])
  expect_identical(cv$best_score, min(mean))
  twin <- by_hand(gbt_data(d$x, d$y), cv$folds, 300, nrounds = cv$best_round, eta = 0.4, seed = 1)
  expect_identical(cv$predictions, twin$predictions)
  # a metric of the user's own stops in the same round
  own <- gbt_metric("own", function(p, y) sqrt(mean((p - y)^2)))
  again <- gbt_cv(d$x, d$y, nrounds = 300, eta = 0.4, folds = 5, early_stopping_rounds = 7, seed = 1, eval_metric = own)
  expect_identical(again$best_round, cv$best_round)
  expect_identical(again$predictions, cv$predictions)
  # larger is better
  yes <- d$y > 0.5
  auc <- gbt_cv(d$x, yes, nrounds = 60, eta = 0.4, early_stopping_rounds = 5, eval_metric = "auc", seed = 1)
  expect_identical(auc$best_round, which.max(auc$evaluation_log$test_auc_mean))
})

test_that("folds are drawn evenly, by classes, by groups, by time", {
  n <- 103
  x <- data.frame(a = seq_len(n) + 0)
  size <- function(cv) lengths(cv$folds)
  fit <- function(y, ...) gbt_cv(x, y, nrounds = 1, threads = 1, ...)
  cv <- fit(rnorm(n), folds = 7, seed = 3)
  expect_lte(diff(range(size(cv))), 1L)
  expect_setequal(unlist(cv$folds), seq_len(n))
  expect_identical(cv$folds, fit(rnorm(n), folds = 7, seed = 3)$folds)
  expect_false(identical(cv$folds, fit(rnorm(n), folds = 7, seed = 4)$folds))
  y <- rep(c("a", "b", "c"), c(60, 30, 13))
  shares <- vapply(fit(y, folds = 5, seed = 1)$folds, function(rows) tabulate(match(y[rows], c("a", "b", "c")), 3), 1:3)
  expect_true(all(shares[1, ] == 12, shares[2, ] == 6, shares[3, ] %in% 2:3))
  loose <- vapply(fit(y, folds = 5, seed = 1, stratify = FALSE)$folds, function(rows) sum(y[rows] == "a"), 1L)
  expect_true(any(loose != 12))
  level <- vapply(fit(as.numeric(1:n), folds = 5, seed = 1, stratify = TRUE)$folds, mean, 1)
  expect_lt(diff(range(level)), 12)
  expect_length(fit(rnorm(n), folds = 3, repeats = 4)$folds, 12)
  group <- rep(1:20, length.out = n)
  grouped <- fit(rnorm(n), folds = 4, group = group)$folds
  expect_identical(anyDuplicated(unlist(lapply(grouped, function(rows) unique(group[rows])))), 0L)
  time <- sample(rep(1:30, length.out = n))
  rolled <- fit(rnorm(n), folds = 4, time = time, keep_models = TRUE)
  for (k in 1:4) {
    held <- time[rolled$folds[[k]]]
    expect_identical(rolled$models[[k]]$n_obs, sum(time < min(held)))
    if (k < 4) expect_lt(max(held), min(time[rolled$folds[[k + 1]]]))
  }
  expect_true(all(is.na(rolled$predictions[time < min(time[rolled$folds[[1]]])])))
})

test_that("every number of folds and rows", {
  for (n in if (long_form()) c(2:9, 15:17, 31:33) else c(2:5, 9, 33)) {
    x <- data.frame(a = rnorm(n))
    for (k in unique(c(2, 3, n - 1, n))) {
      if (k < 2 || k > n) next
      cv <- gbt_cv(x, x$a, folds = k, nrounds = 2, seed = 1, threads = 2)
      expect_identical(sort(unlist(cv$folds)), seq_len(n))
      expect_lte(diff(range(lengths(cv$folds))), 1L)
      expect_false(anyNA(cv$predictions))
      if (k < n) {
        by_time <- gbt_cv(x, x$a, folds = k, nrounds = 1, seed = 1, threads = 1, time = seq_len(n))
        expect_true(all(lengths(by_time$folds) >= 1L))
      }
    }
    expect_error(gbt_cv(x, x$a, folds = n + 1, nrounds = 2), "more than the data have rows",
                 class = "gbt_error_argument")
  }
})

test_that("folds as given", {
  d <- rows(60)
  number <- rep(c(3, 1, 2), 20)
  cv <- gbt_cv(d$x, d$y, folds = number, nrounds = 2)
  expect_identical(cv$folds, list(which(number == 1), which(number == 2), which(number == 3)))
  expect_identical(gbt_cv(d$x, d$y, folds = c("b", "a", "c")[number], nrounds = 2)$folds[[2]], which(number == 1))
  expect_identical(gbt_cv(d$x, d$y, folds = factor(number), nrounds = 2)$folds, cv$folds)
  part <- gbt_cv(d$x, d$y, folds = list(1:10, 31:35), nrounds = 2)
  expect_identical(which(!is.na(part$predictions)), c(1:10, 31:35))
  expect_identical(gbt_cv(d$x, d$y, nfold = 3, nrounds = 2, seed = 1)$folds,
                   gbt_cv(d$x, d$y, folds = 3, nrounds = 2, seed = 1)$folds)
  split <- list(data = d$x, in_id = 1:50, out_id = NA)
  rset <- structure(list(splits = list(split)), class = c("vfold_cv", "rset", "data.frame"), row.names = 1L)
  expect_identical(gbt_cv(d$x, d$y, folds = rset, nrounds = 2)$folds, list(51:60))
  for (odd in list(1, 0, 2.5, NA, "5", list(), list(0), list(1:60), rep(1, 60), c(NA, rep(1:2, length.out = 59)), 1:59,
                   list(c(1, 1)), TRUE, NULL, data.frame(a = 1:60))) {
    expect_error(gbt_cv(d$x, d$y, folds = odd, nrounds = 2), class = "gbt_error_argument")
  }
  for (name in c("valid", "mask", "init_model", "checkpoint", "callbacks")) {
    value <- list(valid = 0.2, mask = rep(c(TRUE, FALSE), 30), init_model = gbt_train(d$x, d$y, nrounds = 1),
                  checkpoint = "x", callbacks = function(now) FALSE)[name]
    expect_error(do.call(gbt_cv, c(list(d$x, d$y, nrounds = 2), value)), class = "gbt_error")
  }
  expect_error(gbt_cv(d$x, d$y, max_dept = 3), "max_depth", class = "gbt_error_argument")
  expect_error(gbt_cv(y ~ ., cbind(d$x, y = d$y), max_dept = 3), "max_depth", class = "gbt_error_argument")
})

test_that("variables are looked up where the call stands, also through a wrapper", {
  d <- rows(50)
  frame <- cbind(d$x, y = d$y)
  wrapper <- function(...) gbt_cv(..., folds = 3, nrounds = 2, seed = 1)
  inner <- function() {
    w <- rep(1:2, 25)
    wrapper(y ~ a + b, frame, weights = w)
  }
  want <- gbt_cv(y ~ a + b, frame, weights = rep(1:2, 25), folds = 3, nrounds = 2, seed = 1)
  expect_identical(inner()$predictions, want$predictions)
})

test_that("repeats average; models of a class response have a column for each class", {
  cv <- gbt_cv(Species ~ ., iris, nrounds = 5, repeats = 2, folds = 3, seed = 1, keep_models = TRUE)
  expect_identical(dim(cv$predictions), c(150L, 3L))
  expect_identical(colnames(cv$predictions), levels(iris$Species))
  sum <- matrix(0, 150, 3)
  for (k in 1:6) sum[cv$folds[[k]], ] <- sum[cv$folds[[k]], ] + predict(cv$models[[k]], iris[cv$folds[[k]], ])
  expect_equal(unname(cv$predictions), sum / 2)
  expect_gt(mean(max.col(cv$predictions) == as.integer(iris$Species)), 0.9)
})

test_that("print, as.data.frame, plot", {
  cv <- gbt_cv(mpg ~ ., mtcars, nrounds = 30, folds = 4, seed = 1, threads = 1, min_child_weight = 2)
  expect_output(print(cv), "4 folds, 30 rounds.*round [0-9]+ \\(best\\): test_rmse")
  several <- gbt_cv(mpg ~ ., mtcars, folds = 4, nrounds = 5, metrics = c("rmse", "mae"), seed = 1, threads = 1)
  expect_output(print(several), "\\(best by test_mae\\): test_rmse")
  expect_identical(as.data.frame(cv), cv$evaluation_log)
  withr::local_pdf(NULL)
  expect_identical(plot(cv), cv)
  plot(cv, folds = FALSE, xlim = c(10, 30))
  expect_error(plot(cv, metric = "auc"), "test_rmse", class = "gbt_error_argument")
  own <- list(gradient = function(s, y) s - y, hessian = function(s, y) rep(1, length(y)))
  none <- gbt_cv(mtcars[-1], mtcars$mpg, objective = own, nrounds = 3, folds = 3)
  expect_output(print(none), "3 folds")
  plot(none)
  one <- gbt_cv(mtcars[-1], mtcars$mpg, nrounds = 1, folds = list(1:5))
  plot(one)
  expect_identical(one$one_se_round, 1L)
})

test_that("verbose lines, and a limit of time for all folds", {
  d <- rows()
  lines <- character(0)
  withCallingHandlers(gbt_cv(d$x, d$y, nrounds = 20, folds = 3, verbose = 1, seed = 1), gbt_message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect_length(lines, 3L)
  expect_match(lines[3], "^\\[20/20\\] test_rmse ")
  short <- gbt_cv(d$x, d$y, nrounds = 1e6, folds = 3, max_seconds = 0.2, seed = 1)
  expect_identical(short$stopped, "time")
  expect_output(print(short), "stopped by time")
})

test_that("gbt_refit() trains the chosen rounds on all rows; update() changes a call", {
  d <- rows()
  frame <- cbind(d$x, y = d$y)
  cv <- gbt_cv(y ~ ., frame, nrounds = 200, eta = 0.3, max_depth = 3, early_stopping_rounds = 5, seed = 9)
  want <- function(n) gbt_train(y ~ ., frame, nrounds = n, eta = 0.3, max_depth = 3, seed = 9)$state
  expect_same_bytes(gbt_refit(cv)$state, want(cv$best_round))
  expect_same_bytes(gbt_refit(cv, rule = "one_se")$state, want(cv$one_se_round))
  expect_same_bytes(gbt_refit(cv, nrounds = 3)$state, want(3))
  m <- gbt_train(y ~ ., frame, nrounds = 200, eta = 0.3, valid = 0.3, early_stopping_rounds = 5, seed = 2)
  final <- gbt_refit(m)
  expect_same_bytes(final$state, gbt_train(y ~ ., frame, nrounds = m$best_round, eta = 0.3, seed = 2)$state)
  expect_identical(final$nrounds, m$best_round)
  expect_same_bytes(update(final, learning_rate = 0.1)$state,
                    gbt_train(y ~ ., frame, nrounds = m$best_round, eta = 0.1, seed = 2)$state)
  expect_identical(variable.names(update(final, . ~ . - b)), c("a", "f", "g"))
  expect_identical(as.list(update(final, max_depth = 2, evaluate = FALSE))$max_depth, 2)
  half <- frame[1:150, ]
  expect_identical(nobs(update(final, data = half)), 150L)
  expect_identical(nobs(gbt_refit(cv, data = half)), 150L)
  # with data in the call, it is not kept
  direct <- do.call(gbt_cv, list(d$x, d$y, nrounds = 5, folds = 3, seed = 1))
  expect_null(direct$call)
  expect_error(gbt_refit(direct), "was not kept", class = "gbt_error_argument")
  expect_same_bytes(gbt_refit(direct, x = d$x, y = d$y, seed = 1, nrounds = 4)$state,
                    gbt_train(d$x, d$y, nrounds = 4, seed = 1)$state)
  expect_error(gbt_refit(1), class = "gbt_error")
  expect_error(update(gbt_train(d$x, d$y, nrounds = 1), . ~ .), "not trained by a formula",
               class = "gbt_error_argument")
})

test_that("data in a folder and data on a device", {
  d <- rows()
  folder <- withr::local_tempdir()
  data <- gbt_data(d$x, d$y, path = file.path(folder, "d"), page_rows = 64, memory = 1000)
  want <- gbt_cv(gbt_data(d$x, d$y), nrounds = 6, folds = 3, seed = 1)
  expect_identical(gbt_cv(data, nrounds = 6, folds = 3, seed = 1, threads = 2)$predictions, want$predictions)
})

test_that("gbt_refit() takes the values that variables of the call had, and says when the data are others", {
  d <- mtcars
  k <- 2
  cv <- gbt_cv(mpg ~ ., d, max_depth = k, eta = 1 / 4, nrounds = 5, folds = 3, seed = 1, threads = 1)
  k <- 5
  expect_equal(gbt_refit(cv)$params[c("max_depth", "eta")], list(max_depth = 2, eta = 0.25))
  expect_equal(gbt_refit(cv, max_depth = k)$params$max_depth, 5)
  d <- mtcars[1:20, ]
  expect_warning(gbt_refit(cv), "20 rows now and had 32", class = "gbt_warning_data")
  expect_silent(gbt_refit(cv, data = mtcars[1:20, ]))
})

test_that("a message or warning that all folds have is told once", {
  told <- character(0)
  count <- function(expr) {
    told <<- character(0)
    keep <- function(restart) function(c) {
      told <<- c(told, conditionMessage(c))
      invokeRestart(restart)
    }
    withCallingHandlers(expr, message = keep("muffleMessage"), warning = keep("muffleWarning"))
  }
  d <- iris[1:100, ]
  count(gbt_cv(Species ~ ., d, folds = 4, nrounds = 2, seed = 1, threads = 1))
  expect_identical(told, "levels of the response without rows are dropped: \"virginica\"\n")
  count(gbt_cv(mpg ~ ., mtcars, weights = rep(1e-3, 32), lambda = 0, min_child_weight = 1, objective = "poisson",
               folds = 4, nrounds = 2, seed = 1, threads = 1))
  expect_identical(anyDuplicated(told), 0L)
  count(gbt_tune(Species ~ ., d, space = list(eta = c(0.1, 0.3)), configs = 3, folds = 3, nrounds = 4, seed = 1,
                 threads = 1))
  expect_identical(told, "levels of the response without rows are dropped: \"virginica\"\n")
})
