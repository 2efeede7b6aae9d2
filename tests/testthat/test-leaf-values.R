# Values of leaves that are more than one Newton step: what they are by plain formulas, and that no thread, page, folder
# or rank shows. The engine's twin is in tests/native.

step_data <- function() {
  set.seed(4)
  n <- 2000
  x <- data.frame(f = factor(sample(letters[1:4], n, TRUE)), z = rnorm(n), u = runif(n))
  rate <- c(a = 0.02, b = 0.4, c = 3, d = 20)[as.character(x$f)]
  list(x = x, count = rpois(n, rate), two = factor(c("no", "yes"))[1 + (runif(n) < rate / (1 + rate))],
       number = x$z + rnorm(n), w = rep(c(1, 2, 5, 0.5), n / 4))
}

# One tree that gives every level a leaf of its own.
by_level <- function(d, y, ..., lambda = 0) {
  gbt_train(d$x["f"], y, ..., weights = d$w, nrounds = 1, eta = 1, grow_policy = "depthwise", max_depth = 4,
            max_cat_onehot = 9, min_child_weight = 0, lambda = lambda, threads = 1)
}

test_that("many steps end where the penalised loss of a leaf is least", {
  d <- step_data()
  level <- as.character(d$x$f)
  means <- function(y) vapply(split(seq_along(y), level), function(i) weighted.mean(y[i], d$w[i]), 0)
  m <- by_level(d, d$count, objective = "poisson", leaf_iterations = 30)
  expect_equal(predict(m, d$x), unname(means(d$count)[level]), tolerance = 1e-7)
  one <- by_level(d, d$count, objective = "poisson")
  expect_gt(max(abs(predict(one, d$x) / means(d$count)[level] - 1)), 0.5)
  m <- by_level(d, d$two, objective = "logistic", leaf_iterations = 30)
  expect_equal(predict(m, d$x, type = "prob")[, 2], unname(means(d$two == "yes")[level]), tolerance = 1e-7)

  # lambda pulls the whole value: sum of w (e^(b + v) - y) + lambda v = 0
  m <- by_level(d, d$count, objective = "poisson", leaf_iterations = 30, lambda = 100)
  base <- log(weighted.mean(d$count, d$w))
  raw <- predict(m, d$x, type = "raw")
  leaves <- split(seq_along(raw), raw)
  expect_gte(length(leaves), 3)
  for (i in leaves) {
    best <- uniroot(function(v) sum(d$w[i] * (exp(base + v) - d$count[i])) + 100 * v, c(-20, 20), tol = 1e-12)$root
    expect_equal(raw[i[1]], base + best, tolerance = 1e-7)
  }
  m <- by_level(d, d$count, objective = "poisson", leaf_iterations = 30, max_delta_step = 0.3)
  expect_true(all(abs(predict(m, d$x, type = "raw") - base) <= 0.3 + 1e-12))
})

test_that("softmax_hessian is what p (1 - p) is multiplied by", {
  d <- step_data()
  p <- as.vector(prop.table(table(d$x$f)))
  for (h in c(0, 1, 1.5, 2)) { # roots alone: cover is the sum of hessians
    m <- gbt_train(d$x["z"], d$x$f, nrounds = 1, softmax_hessian = h, gamma = 1e9, threads = 1)
    expect_equal(as.data.frame(m)$cover, (if (h == 0) 4 / 3 else h) * nrow(d$x) * p * (1 - p), tolerance = 1e-6)
  }
})

test_that("a node is drawn to its parent by rows", {
  d <- step_data()
  smooth <- 700
  m <- gbt_train(d$x["u"], d$number + 3 * (d$x$u > 0.9), nrounds = 1, eta = 1, grow_policy = "depthwise",
                 max_depth = 2, lambda = 2, path_smooth = smooth, threads = 1)
  y <- d$number + 3 * (d$x$u > 0.9)
  nodes <- as.data.frame(m)
  own <- function(rows) sum(y[rows] - mean(y)) / (sum(rows) + 2)
  value <- function(node, rows, above) {
    v <- own(rows)
    if (!is.null(above)) v <- (v * sum(rows) + above * smooth) / (sum(rows) + smooth)
    at <- nodes[nodes$node == node, ]
    if (is.na(at$left)) {
      expect_equal(at$value, v, tolerance = 1e-7)
      return(1)
    }
    left <- d$x$u <= at$threshold
    value(at$left, rows & left, v) + value(at$right, rows & !left, v)
  }
  expect_gte(value(nodes$node[1], rep(TRUE, nrow(d$x)), NULL), 3) # leaves
})

test_that("values are the same on any number of threads, from pages and with the rows in a folder", {
  d <- step_data()
  ways <- list(list(d$count, objective = "poisson"), list(d$two, grow_policy = "symmetric"),
               list(d$x$f, objective = "softmax", subsample = 0.7, num_parallel_tree = 2))
  for (way in ways) {
    fit <- function(x, ...) {
      do.call(gbt_train, c(list(x), way, list(nrounds = 3, max_depth = 3, leaf_iterations = 3, path_smooth = 5,
                                              seed = 2, ...)))
    }
    one <- fit(d$x[-1], threads = 1)
    expect_same_bytes(fit(d$x[-1], threads = 2)$state, one$state)
    expect_same_bytes(fit(d$x[-1], threads = 2, page_rows = 64)$state, one$state)
    rest <- way
    rest[[1]] <- NULL
    folder <- tempfile()
    rows <- gbt_data(d$x[-1], label = way[[1]], path = folder, memory = 0, threads = 1)
    m <- do.call(gbt_train, c(list(rows), rest, list(nrounds = 3, max_depth = 3, leaf_iterations = 3, path_smooth = 5,
                                                     seed = 2, threads = 2)))
    expect_same_bytes(m$state, one$state)
    unlink(folder, recursive = TRUE)
  }
})

test_that("steps change nothing where one is exact, and are refused where there are no further gradients", {
  d <- step_data()
  fit <- function(...) gbt_train(d$x, d$number, ..., nrounds = 3, threads = 1)
  for (objective in c("squared_error", "quantile", "absolute_error")) {
    many <- fit(objective = objective, leaf_iterations = 7)
    expect_identical(predict(many, d$x), predict(fit(objective = objective), d$x))
  }
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) score * 0 + 1)
  expect_identical(predict(fit(objective = own, path_smooth = 3), d$x),
                   predict(fit(objective = own, path_smooth = 3, leaf_iterations = 1), d$x))
  expect_snapshot(error = TRUE, {
    fit(objective = own, leaf_iterations = 2)
    fit(leaf_iterations = 0)
    fit(leaf_iterations = 101)
    fit(path_smooth = -1)
    fit(softmax_hessian = 0)
  })
})

test_that("monotone and smoothed trees keep to their sides", {
  d <- step_data()
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    m <- gbt_train(d$x, d$count, objective = "poisson", monotone = c(z = -1), grow_policy = policy, nrounds = 5,
                   max_leaves = if (policy == "lossguide") 12 else 0, eta = 0.5, leaf_iterations = 4, path_smooth = 10,
                   threads = 1)
    z <- seq(-3, 3, length.out = 61)
    at <- data.frame(f = factor("c", letters[1:4]), z = z, u = 0.5)
    expect_true(all(diff(predict(m, at)) <= 1e-12))
  }
})
