# Trees of classes that share their splits; the engine's twin is tests/native/boost/test_shared_splits.c.

shared <- "multi_output_tree"
apart <- "one_output_per_tree"
train <- function(...) gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 1, ...)

splits_of <- function(model, class) {
  d <- as.data.frame(model)
  d[d$class == class, c("round", "node", "feature", "threshold", "left", "right", "missing")]
}

test_that("trees of a round have the same splits, each class its own values", {
  m <- train(multi_strategy = shared)
  first <- splits_of(m, "setosa")
  for (class in c("versicolor", "virginica")) expect_equal(splits_of(m, class), first, ignore_attr = "row.names")
  d <- as.data.frame(m)
  leaves <- lapply(split(d$value, d$class), function(v) v[!is.na(v)])
  expect_false(identical(leaves$setosa, leaves$virginica))
  own <- train(multi_strategy = apart)
  expect_false(isTRUE(all.equal(splits_of(own, "virginica"), splits_of(own, "setosa"), check.attributes = FALSE)))
  expect_gt(mean(predict(m, iris[-5], type = "class") == iris$Species), 0.95)
  again <- gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 3, multi_strategy = shared)
  expect_same_bytes(again$state, m$state)
  expect_false(identical(train(seed = 2, multi_strategy = shared)$state, m$state))
})

test_that("a rule holds for three classes and more, in symmetric trees, where there may be many rounds", {
  strategy <- function(...) {
    call <- utils::modifyList(list(Species ~ ., iris, nrounds = 1000, valid = 0.3, early_stopping_rounds = 2, seed = 1,
                                   threads = 1), list(...))
    do.call(gbt_train, call)$params$multi_strategy
  }
  expect_identical(strategy(), shared)
  expect_identical(strategy(max_depth = 3, grow_policy = "symmetric"), shared)
  expect_identical(strategy(max_depth = 3), apart)
  expect_identical(strategy(nrounds = 999), apart)
  expect_identical(strategy(num_parallel_tree = 2, grow_policy = "symmetric"), apart)
  expect_identical(strategy(multi_strategy = apart), apart)
  expect_identical(train()$params$multi_strategy, apart) # rounds are stated
  found <- gbt_train(iris[-5], iris$Species, threads = 1)
  expect_identical(found$params$multi_strategy, shared)
  expect_identical(gbt_refit(found)$params$multi_strategy, shared)
  expect_identical(gbt_refit(found, max_depth = 2)$params$multi_strategy, apart)
  expect_identical(gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)$params$multi_strategy, apart)
})

test_that("who names it gets symmetric trees, in trainings and searches alike", {
  policy <- function(...) train(multi_strategy = shared, ...)$params$grow_policy
  expect_identical(policy(max_depth = 3), "symmetric")
  expect_identical(policy(boosting = "ordered"), "symmetric")
  nodes <- train(grow_policy = "depthwise")
  more <- train(init_model = nodes, multi_strategy = shared)
  expect_identical(more$params[c("grow_policy", "random_strength")],
                   list(grow_policy = "symmetric", random_strength = 1))
  expect_identical(train(init_model = more)$params$multi_strategy, shared)
  cv <- gbt_cv(iris[-5], iris$Species, nrounds = 3, folds = 3, seed = 1, threads = 1, multi_strategy = shared)
  expect_identical(cv$params[c("multi_strategy", "grow_policy")],
                   list(multi_strategy = shared, grow_policy = "symmetric"))
  expect_identical(gbt_refit(cv)$params$multi_strategy, shared)
  tune <- function(...) {
    gbt_tune(iris[-5], iris$Species, configs = 4, folds = 3, nrounds = 5, seed = 1, threads = 1, ...)
  }
  fixed <- tune(multi_strategy = shared)
  expect_length(fixed$errors, 0)
  expect_identical(gbt_refit(fixed)$params[c("multi_strategy", "grow_policy")],
                   list(multi_strategy = shared, grow_policy = "symmetric"))
  drawn <- tune(space = list(multi_strategy = c(shared, apart), lambda = c(1, 5)))
  expect_length(drawn$errors, 0)
  expect_identical(gbt_refit(drawn)$params$multi_strategy, drawn$best$multi_strategy)
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
                    list(sampling_method = "mvs", subsample = 0.5, seed = 1),
                    list(monotone = c(Sepal.Length = 1)))) {
    call <- c(list(Species ~ ., d, nrounds = 4, grow_policy = "symmetric", multi_strategy = shared), more)
    one <- do.call(gbt_train, c(call, threads = 1))
    expect_same_bytes(do.call(gbt_train, c(call, threads = 2))$state, one$state)
  }
})
