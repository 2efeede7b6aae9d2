# Trees of classes that share their splits; the engine's twin is tests/native/test_shared_splits.c.

train <- function(...) gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 1, ...)
shared <- "multi_output_tree"

splits_of <- function(model, class) {
  d <- as.data.frame(model)
  d[d$class == class, c("round", "node", "feature", "threshold", "left", "right", "missing")]
}

test_that("trees of a round have the same splits, each class its own values", {
  m <- train()
  expect_identical(m$params$multi_strategy, shared)
  first <- splits_of(m, "setosa")
  for (class in c("versicolor", "virginica")) expect_equal(splits_of(m, class), first, ignore_attr = "row.names")
  d <- as.data.frame(m)
  leaves <- lapply(split(d$value, d$class), function(v) v[!is.na(v)])
  expect_false(identical(leaves$setosa, leaves$virginica))
  apart <- train(multi_strategy = "one_output_per_tree")
  expect_false(isTRUE(all.equal(splits_of(apart, "virginica"), splits_of(apart, "setosa"), check.attributes = FALSE)))
  expect_gt(mean(predict(m, iris[-5], type = "class") == iris$Species), 0.95)
  expect_same_bytes(train(multi_strategy = shared)$state, m$state)
  expect_same_bytes(gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 3)$state, m$state)
  expect_false(identical(train(seed = 2)$state, m$state))
})

test_that("a rule holds for classes in symmetric trees alone", {
  expect_identical(train(max_depth = 3)$params$multi_strategy, "one_output_per_tree")
  expect_identical(train(max_depth = 3, grow_policy = "symmetric")$params$multi_strategy, shared)
  expect_identical(train(num_parallel_tree = 2, grow_policy = "symmetric")$params$multi_strategy, "one_output_per_tree")
  two <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_identical(two$params$multi_strategy, "one_output_per_tree")
  m <- train()
  expect_identical(gbt_refit(m, max_depth = 2)$params$multi_strategy, "one_output_per_tree")
  expect_identical(gbt_refit(m)$params$multi_strategy, shared)
  cv <- function(...) gbt_cv(iris[-5], iris$Species, nrounds = 3, folds = 3, seed = 1, threads = 1, ...)
  expect_identical(cv()$params$multi_strategy, shared)
  nodes <- cv(grow_policy = "depthwise")
  expect_identical(gbt_refit(nodes)$params$multi_strategy, "one_output_per_tree")
  expect_identical(gbt_refit(nodes, grow_policy = "symmetric")$params$multi_strategy, shared)
  strategies <- c("multi_output_tree", "one_output_per_tree")
  tuned <- gbt_tune(iris[-5], iris$Species, space = list(multi_strategy = strategies), configs = 2, folds = 3,
                    nrounds = 5, seed = 1, threads = 1)
  expect_identical(gbt_refit(tuned)$params$multi_strategy, tuned$best$multi_strategy)
  policies <- gbt_tune(iris[-5], iris$Species, space = list(grow_policy = c("symmetric", "depthwise")), configs = 2,
                       folds = 3, nrounds = 5, seed = 1, threads = 1)
  won <- if (policies$best$grow_policy == "symmetric") shared else "one_output_per_tree"
  expect_identical(gbt_refit(policies)$params$multi_strategy, won)
  apart <- train(multi_strategy = "one_output_per_tree")
  expect_identical(train(init_model = apart)$params$multi_strategy, "one_output_per_tree")
  expect_identical(train(init_model = apart, multi_strategy = shared)$nrounds, 12L)
})

test_that("what trees cannot share splits with is refused", {
  expect_snapshot(error = TRUE, {
    gbt_train(mpg ~ ., mtcars, multi_strategy = "multi_output_tree", nrounds = 2)
    train(multi_strategy = "multi_output_tree", grow_policy = "depthwise")
    train(multi_strategy = "multi_output_tree", grow_policy = "symmetric", num_parallel_tree = 2)
    train(multi_strategy = "one_tree")
  })
})

test_that("categories, sampled rows and ordered boosting go with shared splits, on any number of threads", {
  d <- iris
  d$place <- factor(rep_len(letters[1:12], 150))
  for (more in list(list(cat_method = "target"), list(boosting = "ordered"), list(subsample = 0.5, seed = 1),
                    list(sampling_method = "mvs", subsample = 0.5, seed = 1), list(boosting = "dart", seed = 1),
                    list(monotone = c(Sepal.Length = 1)))) {
    call <- c(list(Species ~ ., d, nrounds = 4, grow_policy = "symmetric", multi_strategy = shared), more)
    one <- do.call(gbt_train, c(call, threads = 1))
    expect_same_bytes(do.call(gbt_train, c(call, threads = 2))$state, one$state)
  }
})
