# What parameters promise about trees, seen in the table of their nodes.
n <- 3000
x <- withr::with_seed(21, matrix(round(rnorm(n * 10), 2), n, dimnames = list(NULL, letters[1:10])))
y <- rowSums(sin(x * rep(1:10, each = n) / 4)) + x[, 1] * x[, 2] + withr::with_seed(22, rnorm(n, 0, 0.2))
x <- as.data.frame(x)
train <- function(x, y, ..., nrounds = 3, grow_policy = "depthwise", max_depth = 6, colsample_bytree = 1) {
  gbt_train(x, y, nrounds = nrounds, grow_policy = grow_policy, max_depth = max_depth,
            colsample_bytree = colsample_bytree, threads = 1, ...)
}
# The nodes of every tree, with `depth` and `path`, the features used above a node.
trees_of <- function(model) {
  lapply(split(as.data.frame(model), as.data.frame(model)$tree), function(t) {
    t$leaf <- is.na(t$feature)
    t$depth <- 0
    t$path <- vector("list", nrow(t))
    for (i in which(!t$leaf)) {
      below <- c(t$left[i], t$right[i]) + 1L
      t$depth[below] <- t$depth[i] + 1
      t$path[below] <- list(union(t$path[[i]], t$feature[i]))
    }
    t
  })
}
nodes_of <- function(model) do.call(rbind, trees_of(model))

test_that("depth, leaves and rows of leaves keep their limits, and reach them", {
  for (limit in c(1, 2, 5, 9)) {
    for (policy in c("depthwise", "lossguide")) {
      expect_identical(max(nodes_of(train(x, y, max_depth = limit, grow_policy = policy))$depth), limit + 0)
    }
  }
  for (limit in c(2, 7, 30)) {
    for (policy in c("depthwise", "lossguide")) {
      for (t in trees_of(train(x, y, max_depth = 0, max_leaves = limit, grow_policy = policy))) {
        expect_identical(sum(t$leaf), as.integer(limit))
      }
    }
  }
  for (limit in c(1, 10, 200)) {
    t <- nodes_of(train(x, y, max_depth = 12, min_data_in_leaf = limit))
    expect_gte(min(t$count), limit)
    expect_lt(min(t$count), 2 * limit)
  }
  for (limit in c(5, 30.5)) {
    m <- gbt_train(x, y > 0, nrounds = 3, grow_policy = "depthwise", max_depth = 12, min_child_weight = limit,
                   threads = 1)
    expect_gte(min(nodes_of(m)$cover), limit)
    expect_lt(min(nodes_of(m)$cover), 1.5 * limit)
  }
})

test_that("with few leaves the best are split first: of all, or layer by layer", {
  whole <- trees_of(train(x, y, max_depth = 6, nrounds = 1))[[1]]
  key <- function(t) sort(paste(t$depth, t$feature, t$threshold, t$count)[!t$leaf])
  choose <- function(limit, by_layer) {
    open <- 1L
    split <- integer(0)
    while (length(split) < limit - 1 && any(!whole$leaf[open])) {
      can <- open[!whole$leaf[open]]
      if (by_layer) can <- can[whole$depth[can] == min(whole$depth[can])]
      best <- can[which.max(whole$gain[can])]
      split <- c(split, best)
      open <- c(setdiff(open, best), whole$left[best] + 1L, whole$right[best] + 1L)
    }
    key(whole[split, ])
  }
  for (limit in c(2, 3, 9, 10, 25)) {
    best <- train(x, y, max_depth = 6, max_leaves = limit, grow_policy = "lossguide", nrounds = 1)
    expect_identical(key(trees_of(best)[[1]]), choose(limit, FALSE))
    layers <- train(x, y, max_depth = 6, max_leaves = limit, grow_policy = "depthwise", nrounds = 1)
    expect_identical(key(trees_of(layers)[[1]]), choose(limit, TRUE))
  }
  expect_false(identical(choose(25, TRUE), choose(25, FALSE)))
  free <- train(x, y, max_depth = 5)
  best <- train(x, y, max_depth = 5, grow_policy = "lossguide")
  expect_identical(predict(best, x), predict(free, x)) # in another order, but the same leaves
})

test_that("leaf values and gains follow the formulas, with every penalty", {
  check <- function(lambda = 1, alpha = 0, max_delta_step = 0, eta = 0.1, w = rep(1, n), ...) {
    m <- train(x, y, nrounds = 1, lambda = lambda, alpha = alpha, max_delta_step = max_delta_step, eta = eta,
               weights = w, ...)
    t <- as.data.frame(m)
    base <- predict(m, x[1, ], trees = 0)
    expect_equal(base, weighted.mean(y, w), tolerance = 1e-12)
    leaf <- predict(m, x, type = "leaf")[, 1]
    inside <- list() # rows of every node
    for (i in rev(seq_len(nrow(t)))) {
      inside[[i]] <- if (is.na(t$feature[i])) which(leaf == t$node[i]) else {
        sort(c(inside[[t$left[i] + 1]], inside[[t$right[i] + 1]]))
      }
    }
    g <- vapply(inside, function(r) sum(w[r] * (base - y[r])), 0)
    h <- vapply(inside, function(r) sum(w[r]), 0)
    soft <- sign(g) * pmax(abs(g) - alpha, 0)
    weight <- -soft / (h + lambda)
    if (max_delta_step > 0) weight <- pmax(-max_delta_step, pmin(max_delta_step, weight))
    score <- -(2 * g * weight + (h + lambda) * weight^2 + 2 * alpha * abs(weight))
    at <- is.na(t$feature)
    expect_equal(t$value[at], eta * weight[at], tolerance = 1e-6)
    expect_equal(t$cover, h, tolerance = 1e-3)
    expect_identical(t$count, as.double(lengths(inside)))
    gain <- score[t$left + 1] + score[t$right + 1] - score
    expect_equal(t$gain[!at], gain[!at], tolerance = 5e-3)
    t
  }
  plain <- check()
  check(lambda = 0, eta = 1)
  check(lambda = 50)
  check(w = rep(c(0.5, 2, 7), n / 3))
  expect_true(any(check(alpha = 20, max_depth = 8)$value == 0, na.rm = TRUE)) # a leaf that the penalty silences
  expect_identical(max(abs(check(max_delta_step = 0.7, eta = 0.25)$value), na.rm = TRUE), 0.7 * 0.25)
  least <- min(plain$gain, na.rm = TRUE)
  strict <- check(gamma = least * 2)
  expect_gt(min(strict$gain, na.rm = TRUE), least * 2)
  expect_lt(nrow(strict), nrow(plain))
})

test_that("thresholds lie between values, not more of them than bins", {
  for (max_bin in c(2, 5, 300)) {
    m <- train(x, y, max_bin = max_bin, max_depth = 10, nrounds = 8)
    t <- as.data.frame(m)
    for (f in names(x)) {
      cuts <- unique(t$threshold[t$feature %in% f])
      expect_lte(length(cuts), max_bin - 1)
      if (max_bin == 2) next
      expect_gt(length(cuts), max_bin / 3)
      values <- sort(unique(x[[f]]))
      expect_true(all(cuts >= values[1] & cuts < values[length(values)]))
    }
  }
  few <- data.frame(v = rep(c(-3, 0, 1, 1e6), n / 4))
  cuts <- unique(as.data.frame(train(few, match(few$v, unique(few$v))^2))$threshold)
  expect_setequal(findInterval(cuts[!is.na(cuts)], c(-3, 0, 1, 1e6)), 1:3) # one cut in every gap
})

test_that("monotone constraints hold everywhere, and matter", {
  o <- x
  o$o <- cut(x$c + x$d / 2, c(-Inf, -1, 0, 1, Inf), c("lo", "mid", "hi", "top"), ordered_result = TRUE)
  z <- y + ifelse(o$o == "hi", -3, 0)
  grids <- list(a = seq(-4, 4, 0.01), e = c(-Inf, seq(-4, 4, 0.01), Inf), o = levels(o$o))
  sign <- c(a = 1, e = -1, o = 1)
  steps <- function(m, f, rows, ...) {
    grid <- o[rep(rows, each = length(grids[[f]])), ]
    grid[[f]] <- rep(grids[[f]], length(rows))
    apply(array(predict(m, grid, ...), c(length(grids[[f]]), length(rows) * m$n_outputs)), 2, diff) * sign[[f]]
  }
  rows <- c(1, 77, 500, 1000:1010)
  settings <- list(list(y = z), list(y = z > 0), list(y = round(exp(z / 4)), objective = "poisson"),
                   list(y = z, grow_policy = "lossguide", max_leaves = 40, max_depth = 0),
                   list(y = z, subsample = 0.5, colsample_bynode = 0.5, seed = 1), list(y = z, max_bin = 8, lambda = 0),
                   list(y = z, alpha = 5, max_delta_step = 0.3))
  for (setting in settings) {
    usual <- list(x = o, nrounds = 30, eta = 0.3, grow_policy = "depthwise", max_depth = 6, lambda = 1,
                  colsample_bytree = 1, monotone = sign, threads = 1)
    m <- do.call(gbt_train, utils::modifyList(usual, setting))
    for (f in names(sign)) expect_gte(min(steps(m, f, rows, type = "link")), 0)
    expect_true(all(names(sign)[1:2] %in% as.data.frame(m)$feature))
  }
  free <- train(o, z, nrounds = 30, eta = 0.3)
  for (f in names(sign)) expect_lt(min(steps(free, f, rows)), -0.1)
  missing <- replace(o, cbind(1:900, 1), NA) # rows without the value may go to either side
  m <- train(missing, z, nrounds = 30, monotone = sign)
  for (f in names(sign)) expect_gte(min(steps(m, f, rows)), 0)
})

test_that("features meet on a path only within an interaction group", {
  with_factor <- cbind(x, k = cut(x$a, 8), free = x$c)
  groups <- list(c("a", "b", "k"), c("b", "c", "d"), c("h", "i"))
  for (policy in c("depthwise", "lossguide")) {
    m <- train(with_factor, y, nrounds = 10, interactions = groups, grow_policy = policy, max_leaves = 60)
    for (t in trees_of(m)) {
      paths <- lapply(t$path[t$leaf], sort)
      for (path in unique(paths)) {
        expect_true(length(path) <= 1 || any(vapply(groups, function(s) all(path %in% s), NA)))
      }
    }
    expect_true(any(lengths(nodes_of(m)$path) > 1))
  }
  alone <- train(x, y + 9 * x$e, nrounds = 5, interactions = groups[2:3]) # e is in no group
  expect_identical(unique(nodes_of(alone)$feature), c("e", NA))
  free <- unique(nodes_of(train(x, y))$path)
  expect_false(all(vapply(free, function(p) any(vapply(groups, function(s) all(p %in% s), NA)), NA)))
})

test_that("factors are split one level against the rest, or by sets within their limits", {
  k <- withr::with_seed(5, factor(sample(sprintf("k%02d", 1:30), n, TRUE, (1:30)^-0.7)))
  z <- y + as.integer(k) %% 5
  sets <- function(...) {
    t <- nodes_of(train(data.frame(k), z, nrounds = 5, cat_method = "sets", ...))
    t <- t[!t$leaf, ]
    t$size <- lengths(t$levels)
    t
  }
  expect_true(all(pmin(sets(max_cat_onehot = 30)$size, 30 - sets(max_cat_onehot = 30)$size) == 1))
  expect_gt(max(sets(max_cat_onehot = 29)$size), 1)
  for (limit in c(1, 3)) {
    t <- sets(max_cat_threshold = limit)
    roots <- t[t$node == 0, ]
    expect_true(all(pmin(roots$size, 30 - roots$size) <= limit))
  }
  for (least in c(2, 100, 1e6)) {
    model <- train(data.frame(k), z, nrounds = 5, cat_method = "sets", min_data_per_group = least)
    for (t in trees_of(model)) {
      i <- which(!t$leaf)
      expect_true(all(pmin(t$count[t$left[i] + 1], t$count[t$right[i] + 1]) >= pmin(least, t$count[i] %/% 4)))
    }
  }
  # a factor that knows nothing: its gain is that of noise
  many <- withr::with_seed(6, factor(sample(100, n, TRUE)))
  share <- function(...) {
    i <- gbt_importance(train(data.frame(many, x["a"]), y, nrounds = 20, cat_method = "sets", ...))
    i$gain[i$feature == "many"]
  }
  expect_gt(share(cat_noise = 0), 0.2)
  expect_lt(share(), 0.05)
  expect_identical(share(cat_noise = 3), 0)
})

test_that("a missing value goes to the side that suits it", {
  gap <- withr::with_seed(7, runif(n) < 0.2)
  for (like in c(-1, 1)) { # rows without a value are like those with a low one, or like those with a high one
    v <- replace(x$c, gap, NA)
    m <- train(data.frame(v, d = x$d), ifelse(gap, like, sign(x$c)), nrounds = 1, max_depth = 1, eta = 1, lambda = 0)
    root <- as.data.frame(m)[1, ]
    expect_identical(root$missing, if (like < 0) root$left else root$right)
    expect_equal(predict(m, data.frame(v = NA, d = 0)), like, tolerance = 0.02)
  }
  apart <- train(data.frame(v), ifelse(gap, 9, x$c), nrounds = 1, max_depth = 1, eta = 1, lambda = 0)
  expect_equal(predict(apart, data.frame(v = c(NA, -9, Inf))), c(9, rep(mean(x$c[!gap]), 2)), tolerance = 1e-6)
  none <- as.data.frame(train(data.frame(v = 1:100), rep(0:1, c(30, 70)), nrounds = 1, max_depth = 1))
  expect_identical(none$missing[1], none$right[1]) # never seen: where most rows go
  none <- as.data.frame(train(data.frame(v = 1:100), rep(0:1, c(70, 30)), nrounds = 1, max_depth = 1))
  expect_identical(none$missing[1], none$left[1])
})
