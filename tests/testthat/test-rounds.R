# What is drawn at random, what rounds add up to, and what weights, offsets and objectives of one's own mean.
n <- 2000
x <- withr::with_seed(22, matrix(round(rnorm(n * 10), 2), n, dimnames = list(NULL, letters[1:10])))
y <- rowSums(sin(x * rep(1:10, each = n) / 4)) + withr::with_seed(23, rnorm(n, 0, 0.2))
x <- as.data.frame(x)
train <- function(x, y, ..., nrounds = 20, eta = 0.1, grow_policy = "depthwise", max_depth = 6) {
  gbt_train(x, y, nrounds = nrounds, eta = eta, grow_policy = grow_policy, max_depth = max_depth, threads = 1, ...)
}
features_of <- function(model) {
  nodes <- as.data.frame(model)
  lapply(split(nodes$feature, nodes$tree), function(f) unique(f[!is.na(f)]))
}

test_that("columns are drawn in exact numbers, anew for each tree, layer and node", {
  deep <- function(...) train(x, y, max_depth = 9, seed = 3, ...)
  for (share in c(0.01, 0.1, 0.25, 0.34, 0.5, 0.95)) {
    drawn <- features_of(deep(colsample_bytree = share))
    expect_identical(unique(lengths(drawn)), as.integer(max(1, floor(share * 10 + 0.5)))) # deep trees use all they may
    if (share < 0.9) expect_gt(length(unique(lapply(drawn, sort))), 5)
  }
  nodes <- as.data.frame(deep(colsample_bylevel = 0.3))
  nodes <- nodes[!is.na(nodes$feature), ]
  below <- function(nodes) { # depth, by the numbers of the parents
    depth <- numeric(nrow(nodes))
    for (i in seq_len(nrow(nodes))) {
      above <- which(nodes$tree == nodes$tree[i] & (nodes$left == nodes$node[i] | nodes$right == nodes$node[i]))
      if (length(above)) depth[i] <- depth[above] + 1
    }
    depth
  }
  per_layer <- tapply(nodes$feature, list(nodes$tree, below(nodes)), function(f) length(unique(f)))
  expect_identical(max(per_layer, na.rm = TRUE), 3L)
  expect_true(all(lengths(features_of(deep(colsample_bylevel = 0.3))) > 3))
  both <- lengths(features_of(deep(colsample_bytree = 0.5, colsample_bylevel = 0.4, colsample_bynode = 0.5)))
  expect_lte(max(both), 5)
  stump <- as.data.frame(train(x, y, nrounds = 400, max_depth = 1, eta = 1e-6, colsample_bynode = 0.1, seed = 1))
  shares <- table(stump$feature) / 400 # one feature, whatever its merits
  expect_length(shares, 10)
  expect_true(all(abs(shares - 0.1) < 5 * sqrt(0.1 * 0.9 / 400)))
})

test_that("feature weights are chances", {
  w <- c(a = 3, b = 1, c = 0, d = 0.5)
  for (how in c("colsample_bytree", "colsample_bylevel", "colsample_bynode")) {
    args <- list(x, y, nrounds = 600, max_depth = 1, eta = 1e-6, feature_weights = w, seed = 1)
    args[[how]] <- 0.1
    drawn <- table(factor(stats::na.omit(as.data.frame(do.call(train, args))$feature), letters[1:10])) / 600
    p <- c(3, 1, 0, 0.5, rep(1, 6)) / 10.5
    expect_true(all(abs(drawn - p) <= 5 * sqrt(p * (1 - p) / 600)))
    expect_identical(drawn[["c"]], 0)
  }
})

test_that("rows are drawn without replacement, others for each tree, by the seed", {
  for (share in c(0.1, 0.5, 0.9)) {
    m <- train(x, y, subsample = share, seed = 4)
    roots <- as.data.frame(m)
    roots <- roots[roots$node == 0, ]
    expect_true(all(abs(roots$cover - share * n) < 6 * sqrt(n * share * (1 - share)) + 1))
    expect_gt(length(unique(roots$cover)), 10)
    expect_identical(train(x, y, subsample = share, seed = 4)$state, m$state)
    expect_false(identical(train(x, y, subsample = share, seed = 5)$state, m$state))
  }
  # a row is in or out: with weights that are powers of two the root's cover tells which rows were drawn
  few <- 20
  w <- 2^(seq_len(few) - 1)
  m <- gbt_train(x[1:few, ], y[1:few], weights = w, subsample = 0.5, seed = 1, nrounds = 40, eta = 1e-9, threads = 1,
                 grow_policy = "depthwise", max_depth = 1, lambda = 0, min_child_weight = 0)
  roots <- as.data.frame(m)
  drawn <- vapply(roots$cover[roots$node == 0], function(sum) as.integer(intToBits(round(sum)))[1:few], integer(few))
  expect_true(all(rowMeans(drawn) > 0.1 & rowMeans(drawn) < 0.9))
  expect_gt(ncol(unique(drawn, MARGIN = 2)), 30)
})

test_that("trees of one round are grown side by side and averaged", {
  one <- train(x, y, nrounds = 4, colsample_bytree = 1)
  four <- train(x, y, nrounds = 4, num_parallel_tree = 4, colsample_bytree = 1)
  nodes <- as.data.frame(four)
  expect_identical(nrow(nodes), 4L * nrow(as.data.frame(one)))
  expect_identical(tapply(nodes$round, nodes$tree, unique), c(rep(1:4, each = 4)), ignore_attr = TRUE)
  expect_equal(predict(four, x), predict(one, x), tolerance = 1e-7) # nothing is random: four times the same tree
  forest <- train(x, y, nrounds = 1, eta = 1, num_parallel_tree = 30, subsample = 0.6, colsample_bynode = 0.5, seed = 1,
                  max_depth = 8, lambda = 0)
  trees <- split(as.data.frame(forest), as.data.frame(forest)$tree)
  leaves <- predict(forest, x, type = "leaf")
  single <- vapply(1:30, function(t) trees[[t]]$value[match(leaves[, t], trees[[t]]$node)], numeric(n))
  expect_equal(predict(forest, x), predict(forest, x, trees = 0) + rowSums(single), tolerance = 1e-12)
  mse <- function(p) mean((p - y)^2)
  alone <- apply(single * 30 + predict(forest, x[1, ], trees = 0), 2, mse)
  expect_lt(mse(predict(forest, x)), min(alone)) # that is why one averages
  classes <- train(x, cut(y, 3), nrounds = 2, num_parallel_tree = 3)
  expect_identical(max(as.data.frame(classes)$tree), 2L * 3L * 3L)
})

test_that("going on adds trees and leaves the old ones as they are", {
  old <- train(x[1:1500, ], y[1:1500], nrounds = 6, max_depth = 3)
  new <- train(x[501:2000, ], y[501:2000], nrounds = 5, init_model = old, max_depth = 4, eta = 0.3, max_bin = 20)
  expect_identical(length(new), 11L)
  kept <- c("tree", "round", "node", "feature", "split", "threshold", "left", "right", "missing", "value", "gain",
            "cover", "count")
  nodes <- as.data.frame(new)
  expect_identical(nodes[nodes$round <= 6, kept], as.data.frame(old)[kept], ignore_attr = TRUE)
  expect_identical(predict(new, x, trees = 6), predict(old, x))
  expect_identical(predict(new, x, trees = 0), predict(old, x, trees = 0))
  added <- vapply(7:11, function(t) {
    tree <- nodes[nodes$tree == t, ]
    tree$value[match(predict(new, x, type = "leaf")[, t], tree$node)]
  }, numeric(n))
  total <- predict(old, x)
  for (t in 1:5) total <- total + added[, t]
  expect_identical(predict(new, x), total)
  expect_lt(mean((predict(new, x) - y)^2), mean((predict(old, x) - y)^2))
})

test_that("a weight is the row so many times, and no weight no row", {
  some <- x[1:400, ]
  z <- y[1:400]
  w <- rep(c(1, 2, 3, 0), 100)
  again <- rep(seq_len(400), w)
  for (how in list(list(), list(max_bin = 12), list(objective = "logistic"), list(objective = "poisson"))) {
    response <- switch(c(how$objective, "numbers")[1], logistic = as.numeric(z > 0), poisson = round(exp(z / 3)), z)
    fit <- function(rows, min_child_weight = 1, ...) {
      do.call(train, c(list(some[rows, ], response[rows], nrounds = 5, max_depth = 3, random_strength = 0,
                            min_child_weight = min_child_weight, ...), how))
    }
    heavy <- fit(1:400, weights = w)
    copies <- fit(again)
    # gradients are rounded row by row, so sums differ in the last digits
    expect_equal(predict(heavy, some, type = "link"), predict(copies, some, type = "link"), tolerance = 1e-4)
    same <- c("feature", "threshold", "left", "right")
    expect_identical(as.data.frame(heavy)[same], as.data.frame(copies)[same])
    expect_equal(as.data.frame(heavy)$cover, as.data.frame(copies)$cover, tolerance = 1e-3)
    expect_equal(predict(fit(1:400, weights = 64 * w, lambda = 3 * 64, min_child_weight = 64), some),
                 predict(copies, some), tolerance = 1e-3)
  }
})

test_that("an offset is where a row starts", {
  o <- 2 * x$a + 1
  with_offset <- train(x, y, offset = o)
  shifted <- train(x, y - o)
  expect_equal(predict(with_offset, x, offset = o), predict(shifted, x) + o, tolerance = 1e-6)
  same <- c("feature", "threshold", "left", "right", "count")
  expect_identical(as.data.frame(with_offset)[same], as.data.frame(shifted)[same])
  constant <- train(x, y, offset = rep(5, n))
  expect_equal(predict(constant, x, offset = rep(5, n)), predict(train(x, y), x), tolerance = 1e-6)
  e <- rep(c(0.5, 1, 4), length.out = n)
  claims <- floor(e * exp(y / 4) + 0.5)
  m <- train(x, claims, objective = "poisson", offset = log(e))
  rate <- predict(m, x, offset = rep(0, n))
  expect_equal(predict(m, x, offset = log(e)), rate * e, tolerance = 1e-12)
  expect_equal(sum(rate * e), sum(claims), tolerance = 0.02)
  expect_warning(expect_identical(predict(m, x), rate), class = "gbt_warning_offset")
  classes <- cut(y, 3)
  o3 <- cbind(x$a, 0, -x$b)
  k <- train(x, classes, offset = o3, nrounds = 3)
  expect_equal(predict(k, x, type = "link", offset = o3) - o3, predict(k, x, type = "link", offset = 0 * o3),
               tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("a model starts at the best constant", {
  w <- rep(c(1, 0, 2.5, 3), n / 4)
  base <- function(y, ...) unique(as.data.frame(predict(train(x, y, weights = w, nrounds = 1, ...)[0], x))[[1]])
  expect_equal(base(y), weighted.mean(y, w), tolerance = 1e-14)
  expect_equal(base(as.numeric(y > 1), objective = "logistic"), weighted.mean(y > 1, w), tolerance = 1e-12)
  expect_equal(base(floor(exp(y / 3)), objective = "poisson"), weighted.mean(floor(exp(y / 3)), w), tolerance = 1e-12)
  shares <- predict(train(x, cut(y, 3), weights = w, nrounds = 1)[0], x[1, ])
  expect_equal(as.vector(shares), as.vector(tapply(w, cut(y, 3), sum) / sum(w)), tolerance = 1e-12)
})

test_that("objectives of one's own grow the trees of the built-in ones", {
  w <- rep(c(1, 2, 0.25, 4), n / 4)
  settings <- list(list(), list(subsample = 0.5, seed = 2), list(weights = w, alpha = 1),
                   list(grow_policy = "lossguide", max_leaves = 12))
  for (how in settings) {
    fit <- function(...) do.call(train, c(list(x, y, ...), how))
    built_in <- fit()
    own <- fit(objective = list(gradient = function(score, label) score - label,
                                hessian = function(score, label) rep(1, length(score))),
               offset = predict(built_in, x, trees = 0))
    expect_identical(as.data.frame(own), as.data.frame(built_in))
    expect_identical(predict(own, x, offset = predict(built_in, x, trees = 0)), predict(built_in, x))
  }
  late <- as.numeric(y > 1)
  built_in <- train(x, late, objective = "logistic", min_child_weight = 1, random_strength = 0)
  own <- train(x, late, offset = predict(built_in, x, trees = 0, type = "link"), objective = list(
    gradient = function(score, label) stats::plogis(score) - label,
    hessian = function(score, label) stats::plogis(score) * (1 - stats::plogis(score))))
  expect_equal(predict(own, x, offset = predict(built_in, x, trees = 0, type = "link")),
               predict(built_in, x, type = "link"), tolerance = 1e-6)
})
