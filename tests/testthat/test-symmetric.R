# Symmetric trees: one split for all nodes of a layer.
n <- 3000
x <- withr::with_seed(31, as.data.frame(matrix(round(rnorm(n * 6), 2), n, dimnames = list(NULL, letters[1:6]))))
y <- with(x, sin(2 * a) + b * (c > 0) + abs(d)) + withr::with_seed(32, rnorm(n, 0, 0.3))
train <- function(x, y, ..., nrounds = 5, eta = 0.1, colsample_bytree = 1, random_strength = 0) {
  gbt_train(x, y, nrounds = nrounds, eta = eta, colsample_bytree = colsample_bytree, grow_policy = "symmetric",
            random_strength = random_strength, threads = 1, ...)
}
trees_of <- function(model) {
  nodes <- as.data.frame(model)
  split(nodes, nodes$tree)
}
depth_of <- function(t) floor(log2(t$node + 1))

# Trees are full and numbered layer by layer; within a layer all that makes a split is the same.
expect_symmetric <- function(model) {
  for (t in trees_of(model)) {
    leaf <- is.na(t$feature)
    expect_identical(nrow(t), as.integer(2^(max(depth_of(t)) + 1) - 1))
    expect_identical(leaf, depth_of(t) == max(depth_of(t)))
    expect_identical(t$left[!leaf], as.integer(2 * t$node[!leaf] + 1))
    expect_identical(t$right[!leaf], as.integer(2 * t$node[!leaf] + 2))
    split <- paste(t$feature, t$threshold, t$split, t$missing == t$left)
    expect_true(all(tapply(split, depth_of(t), function(s) length(unique(s)) == 1)))
    expect_true(all(t$gain[!leaf] >= 0))
    expect_equal(t$count[!leaf], t$count[t$left[!leaf] + 1] + t$count[t$right[!leaf] + 1])
  }
}

test_that("every layer has one split, whatever the data and limits", {
  k <- factor(withr::with_seed(33, sample(sprintf("k%02d", 1:40), n, TRUE)))
  z <- y + as.integer(k) %% 7 / 3
  holes <- x
  holes$a[withr::with_seed(34, runif(n) < 0.3)] <- NA
  settings <- list(
    list(x, y), list(cbind(x, k), z), list(cbind(x, k), z, max_cat_onehot = 100), list(holes, y),
    list(x, y > 0.5, max_depth = 3, min_data_in_leaf = 40), list(x, cut(y, 4), max_depth = 4),
    list(x, y, subsample = 0.5, colsample_bylevel = 0.5, seed = 1),
    list(x, y, num_parallel_tree = 3, subsample = 0.5, seed = 1),
    list(x, y, monotone = c(b = 1, d = -1)), list(x, y, interactions = list(c("a", "b"), c("c", "d")))
  )
  for (setting in settings) {
    m <- do.call(train, c(setting, nrounds = 2))
    expect_symmetric(m)
    expect_gt(max(depth_of(as.data.frame(m))), 2)
  }
  expect_symmetric(train(x, y, max_depth = if (long_form()) 16 else 12, nrounds = 1))
})

test_that("a layer's split has the largest sum of gains", {
  bins <- lapply(x, function(v) sort(unique(round(v))))
  coarse <- as.data.frame(lapply(x, round)) # every value a bin
  m <- train(coarse, y, nrounds = 1, max_depth = 3, lambda = 2, min_child_weight = 25)
  t <- trees_of(m)[[1]]
  g <- mean(y) - y
  score <- function(rows) sum(g[rows])^2 / (length(rows) + 2)
  gain <- function(rows, left) { # squared error: hessians are 1
    if (min(sum(left), sum(!left)) < 25) return(0)
    max(score(rows[left]) + score(rows[!left]) - score(rows), 0)
  }
  nodes <- list(seq_len(n))
  for (depth in 0:2) {
    sums <- lapply(names(bins), function(f) {
      vapply(bins[[f]], function(b) sum(vapply(nodes, function(r) gain(r, coarse[[f]][r] <= b), 0)), 0)
    })
    layer <- t[depth_of(t) == depth, ]
    got <- vapply(nodes, function(r) gain(r, coarse[[layer$feature[1]]][r] <= layer$threshold[1]), 0)
    expect_gt(sum(got), 0.999 * max(unlist(sums))) # gains carry the rounding of gradients
    expect_equal(layer$gain, got, tolerance = 5e-3)
    nodes <- unlist(lapply(nodes, function(r) {
      left <- coarse[[layer$feature[1]]][r] <= layer$threshold[1]
      list(r[left], r[!left])
    }), recursive = FALSE)
  }
  # values: of the node itself, or of the nearest one above that its split suited
  weight <- vapply(nodes, function(r) -sum(g[r]) / (length(r) + 2), 0)
  own <- t$gain[(t$node[depth_of(t) == 3] - 1) %/% 2 + 1] > 0
  expect_gt(sum(own), 4)
  expect_equal(t$value[depth_of(t) == 3][own], 0.1 * weight[own], tolerance = 1e-6)
})

test_that("nodes that a split does not suit keep their value", {
  for (limit in c(1, 30, 200)) {
    for (t in trees_of(train(x, y, max_depth = 7, min_data_in_leaf = limit))) {
      leaf <- is.na(t$feature)
      kept <- !leaf & t$gain == 0
      free <- which(!leaf & !kept)
      expect_gte(min(t$count[c(t$left[free], t$right[free]) + 1]), limit)
      expect_gt(sum(kept), 0)
      last <- which(kept & depth_of(t) == max(depth_of(t)) - 1)
      expect_identical(t$value[t$left[last] + 1], t$value[t$right[last] + 1])
    }
  }
  # rows of a kind that training never saw: the value of what is known of them
  few <- data.frame(p = rep(c(0, 1, 1), c(50, 25, 25)), q = rep(c(0, 0, 1), c(50, 25, 25)))
  m <- train(few, rep(c(0, 5, 9), c(50, 25, 25)), nrounds = 1, max_depth = 2, eta = 1, lambda = 0)
  expect_identical(sort(as.data.frame(m)$count), c(0, 25, 25, 50, 50, 50, 100))
  expect_equal(predict(m, data.frame(p = c(0, 1, 1, 0), q = c(0, 0, 1, 1))), c(0, 5, 9, 0), tolerance = 1e-6)
})

test_that("limits of a layer: depth, leaves, gamma", {
  deepest <- function(...) max(depth_of(as.data.frame(train(x, y, nrounds = 1, ...))))
  for (depth in c(1, 4, 9)) expect_identical(deepest(max_depth = depth), depth)
  for (leaves in c(2, 3, 4, 7, 8, 63, 64)) expect_identical(deepest(max_leaves = leaves), min(6, floor(log2(leaves))))
  t <- trees_of(train(x, y, nrounds = 1))[[1]]
  sums <- tapply(t$gain, depth_of(t), sum)[1:6]
  limit <- sort(sums)[2] + 1e-6
  stop_at <- which(sums < limit)[1] - 1
  expect_identical(deepest(gamma = limit), as.double(stop_at))
  expect_identical(max(depth_of(as.data.frame(train(x, y * 0, nrounds = 1)))), 0)
})

test_that("constraints hold", {
  m <- train(x, y + x$b - x$d, nrounds = 30, eta = 0.3, monotone = c(b = 1, d = -1))
  expect_true(all(c("b", "d") %in% as.data.frame(m)$feature))
  for (f in c("b", "d")) {
    at <- sort(unique(x[[f]]))
    grid <- x[rep(1:20, each = length(at)), ]
    grid[[f]] <- rep(at, 20)
    steps <- apply(matrix(predict(m, grid), length(at)), 2, diff)
    expect_gte(min(steps * (if (f == "b") 1 else -1)), 0)
  }
  groups <- list(c("a", "b"), c("c", "d"))
  for (t in trees_of(train(x, y, nrounds = 10, interactions = groups))) {
    used <- unique(t$feature[!is.na(t$feature)])
    expect_true(length(used) <= 1 || any(vapply(groups, function(s) all(used %in% s), NA)))
  }
})

test_that("a symmetric model is a model: bytes, threads, files, slices, going on, importance", {
  k <- factor(withr::with_seed(35, sample(letters, n, TRUE)))
  d <- cbind(x, k)
  z <- y + (k %in% c("b", "q", "x"))
  m <- expect_circumstances_do_not_show(function(...) {
    gbt_train(d, z, nrounds = 6, grow_policy = "symmetric", subsample = 0.7, seed = 3, max_depth = 7, lambda = 1,
              colsample_bytree = 1, ...)
  })
  p <- predict(m, d, threads = 1)
  expect_identical(predict(unserialize(serialize(m, NULL)), d, threads = 2), p)
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d, threads = 1), p)
  expect_identical(vapply(c(1:20, n), function(i) predict(m, d[i, ], threads = 1), 0), p[c(1:20, n)])
  first <- train(d, z, nrounds = 4)
  expect_same_bytes(train(d, z, nrounds = 3, init_model = first)$state, train(d, z, nrounds = 7)$state)
  expect_symmetric(m[2:3])
  other <- d
  other$k <- factor(k, levels = rev(letters)[-1]) # other levels, in another order; sets stay shared
  expect_symmetric(gbt_train(other, z, nrounds = 1, grow_policy = "symmetric", init_model = m[1:3], threads = 1))
  t <- as.data.frame(m)
  gain <- tapply(t$gain, t$feature, sum)
  share <- gbt_importance(m, by = "feature")
  share <- share[share$feature %in% names(gain), ]
  expect_equal(share$gain, as.vector(gain[share$feature]) / sum(gain), tolerance = 1e-12)
})

test_that("symmetric trees learn about as well as others on real data", {
  houses <- utils::read.csv(gzfile(real_data("california_housing.csv.gz")))
  value <- houses$medianHouseValue
  hold <- seq_along(value) %% 4 == 0
  rmse <- function(policy) {
    m <- gbt_train(houses[!hold, names(houses) != "medianHouseValue"], value[!hold], nrounds = 150,
                   grow_policy = policy, threads = 2)
    sqrt(mean((predict(m, houses[hold, ]) - value[hold])^2))
  }
  expect_lt(rmse("symmetric"), 1.08 * rmse("depthwise"))
  expect_lt(rmse("symmetric"), 0.5 * stats::sd(value[hold]))
})
