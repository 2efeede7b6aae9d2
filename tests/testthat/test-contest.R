# How splits compete: random_strength.
set.seed(11)
n <- 300
x <- matrix(rnorm(n * 8), n, dimnames = list(NULL, letters[1:8]))
y <- drop(x %*% c(1, 0.95, 0.9, rep(0, 5))) + rnorm(n)
train <- function(..., eta = 0.1) {
  gbt_train(x, y, ..., eta = eta, lambda = 1, colsample_bytree = 1, threads = 1)
}

test_that("random_strength lets other features win, and reports the gains that they have", {
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    root <- function(seed, column = colnames(x), random_strength = 0) {
      as.data.frame(gbt_train(x[, column, drop = FALSE], y, nrounds = 1, max_depth = 1, grow_policy = policy,
                              random_strength = random_strength, seed = seed, threads = 1))[1, ]
    }
    won <- character(0)
    for (seed in 1:30) {
      one <- root(seed, random_strength = 3)
      won <- c(won, one$feature)
      if (seed >= 6) next
      best <- root(seed, one$feature)$gain # gradients are rounded by the seed
      if (policy == "symmetric") expect_lte(one$gain, best) # another cut may have won
      if (policy != "symmetric") expect_identical(one$gain, best)
    }
    expect_gt(length(unique(won)), 2)
    expect_identical(root(1, random_strength = 1e-9), root(1))
  }
})

test_that("random_strength: seeds, going on, nothing below gamma, and its range", {
  a <- train(random_strength = 1, nrounds = 6, seed = 1)
  expect_same_bytes(train(random_strength = 1, nrounds = 6, seed = 1)$state, a$state)
  expect_false(identical(train(random_strength = 1, nrounds = 6, seed = 2)$state, a$state))
  half <- train(random_strength = 1, nrounds = 2, seed = 1)
  expect_same_bytes(train(random_strength = 1, nrounds = 4, seed = 1, init_model = half)$state, a$state)
  set.seed(1)
  before <- .Random.seed
  train(random_strength = 1, nrounds = 1)
  expect_false(identical(.Random.seed, before))
  strict <- as.data.frame(train(random_strength = 1e6, gamma = 20, nrounds = 5, grow_policy = "depthwise",
                                max_depth = 6, seed = 1))
  expect_true(all(strict$gain > 20, na.rm = TRUE))
  expect_error(train(random_strength = -1), "must be one number, at least 0", class = "gbt_error_argument")
  expect_error(train(random_strength = 1e7), "at most 1000000", class = "gbt_error_argument")
  expect_identical(train(random.strength = 1e6, nrounds = 1, seed = 1)$params$random_strength, 1e6)
})

test_that("noise fades as rounds go by", {
  train <- function(...) gbt_train(x, y, ..., eta = 1, grow_policy = "depthwise", max_depth = 2, lambda = 1,
                                   colsample_bytree = 1, seed = 3, threads = 1)
  early <- function(...) as.data.frame(train(nrounds = 1, ...))$feature
  expect_false(identical(early(random_strength = 5), early()))
  # after log(300) = 6 rounds of eta 1 the largest gain wins; checked where the trees before are the same
  start <- train(nrounds = 26, random_strength = 5)
  go_on <- function(...) as.data.frame(train(nrounds = 14, init_model = start, ...))
  expect_identical(go_on(random_strength = 5), go_on(random_strength = 0))
})

test_that("extra_trees cuts where chance says, within the node", {
  shown <- gbt_parameters()
  expect_identical(unlist(shown[shown$name == "extra_trees", c("default", "range")], use.names = FALSE),
                   c("FALSE", "TRUE or FALSE"))
  stump <- function(...) {
    as.data.frame(gbt_train(x[, "a", drop = FALSE], y, nrounds = 1, grow_policy = "depthwise", max_depth = 1,
                            threads = 1, ...))
  }
  stumps <- lapply(1:60, function(seed) stump(extra_trees = TRUE, seed = seed))
  expect_gt(length(unique(vapply(stumps, function(one) one$split[1], ""))), 30)
  expect_true(all(vapply(stumps, function(one) one$gain[1], 0) <= stump()$gain[1]))
  m <- train(extra_trees = TRUE, nrounds = 5, seed = 1)
  expect_same_bytes(train(extra_trees = 1, nrounds = 5, seed = 1)$state, m$state)
  expect_same_bytes(train(extra_tree = TRUE, nrounds = 5, seed = 1)$state, m$state)
  expect_same_bytes(train(extra_trees = FALSE, nrounds = 5)$state, train(nrounds = 5)$state)
  set.seed(1)
  before <- .Random.seed
  train(extra_trees = TRUE, nrounds = 1)
  expect_false(identical(.Random.seed, before))
  expect_error(train(extra_trees = "yes"), "`extra_trees` must be TRUE or FALSE, not \"yes\"",
               class = "gbt_error_argument")
  # a set: from one end of the order, of any size
  f <- factor(sample(sprintf("l%02d", 1:30), n, TRUE))
  effect <- as.integer(f) / 10
  sets <- vapply(1:20, function(seed) {
    as.data.frame(gbt_train(data.frame(f), effect, nrounds = 1, grow_policy = "depthwise", max_depth = 1,
                            extra_trees = TRUE, seed = seed, min_data_per_group = 1, cat_smooth = 0,
                            cat_method = "sets", threads = 1))$split[1]
  }, "")
  expect_gt(length(unique(sets)), 10)
})

test_that("a column costs its penalty until the model has it", {
  used <- function(m) sort(unique(stats::na.omit(as.data.frame(m)$feature)))
  fit <- function(...) train(nrounds = 8, grow_policy = "depthwise", max_depth = 2, ...)
  plain <- fit()
  expect_true("b" %in% used(plain))
  expect_false("b" %in% used(fit(first_use_penalty = c(b = 1e6))))
  expect_true("b" %in% used(fit(first_use_penalty = c(b = 1e-6))))
  expect_length(used(fit(first_use_penalty = 1e6)), 0)
  expect_lt(length(used(fit(first_use_penalty = 100))), length(used(plain)))
  expect_same_bytes(fit(first_use_penalty = 0)$state, plain$state)
  expect_same_bytes(fit(first_feature_use_penalties = c(b = 9))$state, fit(first_use_penalty = c(b = 9))$state)
  expect_same_bytes(fit(cegb_penalty_feature_coupled = rep(9, 8))$state, fit(first_use_penalty = 9)$state)
  # what the initial model has costs nothing
  start <- train(nrounds = 1, grow_policy = "depthwise", max_depth = 2)
  go_on <- function(...) fit(init_model = start, ...)
  dear <- stats::setNames(rep(1e6, length(used(start))), used(start))
  expect_identical(as.data.frame(go_on(first_use_penalty = dear)), as.data.frame(go_on()))
  expect_identical(fit(first_use_penalty = c(b = 9))$params$first_use_penalty[["b"]], 9)
  expect_output(print(summary(fit(first_use_penalty = c(b = 9)))), "first_use_penalty b 9")
  expect_error(fit(first_use_penalty = c(b = -1)), "from 0 to 1e200, not -1 for `b`", class = "gbt_error_argument")
  expect_error(fit(first_use_penalty = c(zz = 1)), "names `zz`, which is not a feature", class = "gbt_error_argument")
  expect_error(fit(first_use_penalty = c(1, 2)), "2 values for 8 features", class = "gbt_error_argument")
})
