# Models of the device and of the cpu are the same bytes, through the whole face. The engine's own tests go through its
# parameters (tests/native); these go through what R adds.

# Rows of every kind of column, with missing values.
made <- function(n, seed = 1) {
  withr::local_seed(seed)
  d <- data.frame(a = rnorm(n), b = sample(1:20, n, TRUE), f = factor(sample(letters[1:12], n, TRUE)),
                  o = factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high"), ordered = TRUE),
                  l = runif(n) < 0.3, t = as.Date("2020-01-01") + sample(400, n, TRUE),
                  w = sample(c(rnorm(5), NA), n, TRUE))
  d$a[sample(n, n %/% 10)] <- NA
  d$f[sample(n, n %/% 20)] <- NA
  d$y <- ifelse(is.na(d$a), 0, sin(2 * d$a)) + d$b / 10 + (d$f %in% c("a", "e", "k")) + rnorm(n, 0, 0.3)
  d
}

test_that("regression, weights, offset, sampling and every way to grow", {
  skip_without_cuda()
  d <- made(400)
  same <- function(..., grow_policy = "depthwise", max_depth = 4) {
    expect_same_on_cuda(y ~ ., d, nrounds = 4, grow_policy = grow_policy, max_depth = max_depth, ...)
  }
  same()
  same(weights = b, offset = as.numeric(l))
  same(grow_policy = "lossguide", max_leaves = 9, max_depth = 0)
  same(grow_policy = "symmetric")
  same(grow_policy = "symmetric", subsample = 0.5, seed = 3)
  same(subsample = 0.6, colsample_bytree = 0.7, colsample_bylevel = 0.7, seed = 4)
  same(colsample_bynode = 0.5, seed = 5)
  same(monotone = c(a = 1, b = 1))
  same(interactions = list(c("a", "b"), c("f", "l")))
  same(feature_weights = c(a = 5, b = 0), colsample_bytree = 0.5, seed = 6)
  same(max_cat_onehot = 20)
  same(max_cat_onehot = 2, min_data_per_group = 5, cat_noise = 0, cat_smooth = 1)
  same(min_data_in_leaf = 7, lambda = 0.1, alpha = 0.2, gamma = 0.05, max_delta_step = 0.3)
  same(num_parallel_tree = 3, subsample = 0.5, colsample_bynode = 0.6, seed = 7)
  same(random_strength = 2, seed = 8)
  same(random_strength = 2, grow_policy = "symmetric", seed = 9)
  same(random_strength = 2, grow_policy = "lossguide", max_leaves = 9, max_depth = 0, seed = 10)
  same(extra_trees = TRUE, seed = 11)
  same(extra_trees = TRUE, grow_policy = "symmetric", random_strength = 1, seed = 12)
  same(extra_trees = TRUE, grow_policy = "lossguide", max_leaves = 9, max_depth = 0, max_cat_onehot = 1, seed = 13)
  same(first_use_penalty = c(a = 3, f = 1e6))
  same(first_use_penalty = 0.5, grow_policy = "symmetric")
  same(grad_bits = 32)
  same(max_bin = 5)
  same(max_bin = 300)
})

test_that("levels that take several steps, as their histograms have no room", {
  skip_without_cuda()
  withr::local_seed(8)
  x <- matrix(rnorm(900 * 6), 900)
  y <- sin(3 * x[, 1]) * x[, 2] + rnorm(900, 0, 0.2)
  for (depth in c(7, 10)) {
    expect_same_on_cuda(x, y, nrounds = 3, grow_policy = "depthwise", max_depth = depth, min_child_weight = 0,
                        max_bin = 800, hist_memory = 1)
  }
  expect_same_on_cuda(x, y, nrounds = 2, grow_policy = "depthwise", max_depth = 0, max_leaves = 60, max_bin = 800,
                      hist_memory = 1)
})

test_that("the other objectives", {
  skip_without_cuda()
  d <- made(300, 2)
  x <- d[names(d) != "y"]
  same <- function(...) expect_same_on_cuda(x, ..., nrounds = 3, grow_policy = "depthwise", max_depth = 3)
  same(d$y > 1)
  same(cut(d$y, c(-Inf, 0.5, 1.2, Inf), c("few", "some", "many")))
  same(round(pmax(d$y, 0) * 3), objective = "poisson", offset = log(d$b))
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) rep(1, length(score)))
  same(d$y, objective = own)
  pair <- list(gradient = function(score, label) score - cbind(label, -label),
               hessian = function(score, label) 1 + 0 * score, n_outputs = 2L)
  same(d$y, objective = pair)
})

test_that("validation, early stopping, metrics, going on", {
  skip_without_cuda()
  d <- made(500, 3)
  other <- made(200, 4)
  other$f <- factor(as.character(other$f), rev(levels(other$f)))
  m <- expect_same_on_cuda(y ~ ., d, nrounds = 60, eta = 1, valid = other, early_stopping_rounds = 3,
                           eval_metric = c("mae", "rmse"), eval_train = TRUE)
  expect_lt(m$nrounds, 60)
  worst <- gbt_metric("worst", function(p, y, w) max(abs(p - y)))
  expect_same_on_cuda(y ~ ., d, nrounds = 5, valid = 0.3, seed = 2, eval_metric = worst)
  expect_same_on_cuda(I(y > 1) ~ ., d, nrounds = 5, valid = other, eval_metric = c("auc", "error", "logloss"))
  first <- gbt_train(y ~ ., d, nrounds = 3, device = "cpu", threads = 1)
  expect_same_on_cuda(y ~ ., d, nrounds = 3, init_model = first, valid = other)
  seen <- NULL
  m <- expect_same_on_cuda(y ~ ., d, nrounds = 5, eval_train = TRUE, callbacks = function(now) now$round == 3)
  expect_identical(m$nrounds, 3L)
})

test_that("responses of several columns, and trees that columns or quantiles share", {
  skip_without_cuda()
  d <- made(400, 9)
  d$z <- d$b^2 - d$y
  d$z[sample(400, 60)] <- NA
  other <- made(100, 10)
  other$z <- 1
  same <- function(formula = cbind(y, z) ~ ., data = d, ..., nrounds = 4) {
    expect_same_on_cuda(formula, data, nrounds = nrounds, ..., seed = 3)
  }
  expect_identical(same(nrounds = 60, eta = 1, valid = other, early_stopping_rounds = 3)$columns, c("y", "z"))
  same(weights = b, objective = "absolute_error", grow_policy = "depthwise", max_depth = 3)
  same(cbind(y > 1, z > 20) ~ ., subset(d, !is.na(z)), valid = 0.3, eval_metric = c("auc", "error", "logloss"))
  same(subsample = 0.6, sampling_method = "mvs")
  for (sketch in c("none", "projection")) {
    common <- function(...) same(..., multi_strategy = "multi_output_tree", sketch = sketch, valid = other)
    common()
    common(objective = "huber", weights = b)
    common(y ~ . - z, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9))
  }
})

test_that("matrices, sparse matrices, data sets", {
  skip_without_cuda()
  skip_if_not_installed("Matrix")
  withr::local_seed(5)
  x <- matrix(ifelse(runif(300 * 40) < 0.9, 0, round(rnorm(300 * 40), 1)), 300)
  colnames(x) <- paste0("v", 1:40)
  y <- x[, 1] - 2 * x[, 2] * x[, 3] + rnorm(300, 0, 0.1)
  same <- function(...) expect_same_on_cuda(..., nrounds = 4, grow_policy = "depthwise", max_depth = 4)
  dense <- same(x, y)
  sparse <- same(Matrix::Matrix(x, sparse = TRUE), y)
  expect_same_bytes(dense$state, sparse$state)
  expect_same_on_cuda(Matrix::Matrix(x, sparse = TRUE), y, nrounds = 4, sparse_zero = "missing")
  expect_same_on_cuda(Matrix::Matrix(x, sparse = TRUE), y, nrounds = 4, grow_policy = "symmetric", max_depth = 3)
  data <- gbt_data(x, y, page_rows = 70)
  expect_same_bytes(same(data)$state, dense$state)
  expect_same_bytes(gbt_train(gbt_data(x, y, device = "cuda"), nrounds = 4, grow_policy = "depthwise", max_depth = 4,
                              device = "cpu")$state, dense$state)
})

test_that("small and strange data", {
  skip_without_cuda()
  one <- data.frame(x = 1, y = 2)
  expect_same_on_cuda(y ~ x, one, nrounds = 2)
  expect_same_on_cuda(y ~ x, rbind(one, one), nrounds = 2)
  expect_same_on_cuda(y ~ x, data.frame(x = c(NA, 1, NA, 2, Inf, -Inf), y = c(1, 2, 1, 3, 9, -9)), nrounds = 3,
                      min_child_weight = 0)
  expect_same_on_cuda(y ~ x, data.frame(x = rep(NA_real_, 5), y = 1:5), nrounds = 2)
  expect_same_on_cuda(y ~ x, data.frame(x = 1:40, y = c(rep(0, 39), 1e6)), nrounds = 4) # 32-bit gradients
  expect_same_on_cuda(y ~ ., data.frame(y = 1:33, matrix(rep(1:33, 70), 33)), nrounds = 2,
                      grow_policy = "depthwise", max_depth = 2)
})

test_that("predictions are the same bits", {
  skip_without_cuda()
  d <- made(300, 6)
  new <- made(150, 7)
  new$f <- factor(ifelse(runif(150) < 0.1, "new", as.character(new$f)))
  same <- function(m, ...) {
    expect_identical(predict(m, new, ..., device = "cuda"), predict(m, new, ..., device = "cpu"))
  }
  m <- gbt_train(y ~ ., d, nrounds = 12, device = "cpu", threads = 1)
  for (type in c("response", "link", "leaf")) same(m, type = type)
  same(m, trees = 1)
  same(m, unseen = "missing")
  expect_identical(predict(m, new[0, ], device = "cuda"), numeric(0))
  m <- gbt_train(cut(y, c(-Inf, 0.5, 1.2, Inf), 1:3) ~ ., d, nrounds = 5, device = "cpu", threads = 1)
  for (type in c("prob", "class", "link", "leaf")) same(m, type = type)
  m <- gbt_train(y ~ ., d, nrounds = 5, offset = l * 1, device = "cpu", threads = 1, grow_policy = "symmetric")
  same(m, offset = new$b)
})
