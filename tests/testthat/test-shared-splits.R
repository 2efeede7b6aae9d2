# Trees of classes that share their splits; the engine's twin is tests/native/boost/test_shared_splits.c.

shared <- "multi_output_tree"
apart <- "one_output_per_tree"
train <- function(...) gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 1, ...)

test_that("a round has one tree, with a value for every class in a leaf", {
  m <- train(multi_strategy = shared)
  d <- as.data.frame(m)
  expect_identical(d$tree, d$round)
  expect_true(all(is.na(d$output)))
  expect_identical(colnames(d$value), levels(iris$Species))
  leaves <- d$value[is.na(d$feature), ]
  expect_false(anyNA(leaves))
  expect_false(identical(leaves[, 1L], leaves[, 3L]))
  by_hand <- matrix(.Call(C_gbt_model_info, m$state, m$cache)$base, 150, 3, byrow = TRUE)
  reached <- predict(m, iris[-5], type = "leaf")
  for (t in seq_len(ncol(reached))) {
    one <- d[d$tree == t, ]
    by_hand <- by_hand + one$value[match(reached[, t], one$node), ]
  }
  expect_identical(unname(predict(m, iris[-5], type = "link")), unname(by_hand))
  own <- train(multi_strategy = apart)
  expect_identical(ncol(predict(own, iris[-5], type = "leaf")), 3L * ncol(reached))
  expect_lt(length(m$state), length(own$state))
  expect_gt(mean(predict(m, iris[-5], type = "class") == iris$Species), 0.95)
  again <- gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 3, multi_strategy = shared)
  expect_same_bytes(again$state, m$state)
  expect_false(identical(train(seed = 2, multi_strategy = shared)$state, m$state))
})

test_that("rows go down few trees at a time and many, in all ways the same", {
  m <- train(multi_strategy = shared)
  many <- iris[rep_len(1:150, 3000), -5]
  p <- predict(m, many, threads = 2)
  for (rows in list(1L, 1:7, 1:40, 1:1000)) expect_identical(predict(m, many[rows, ]), p[rows, , drop = FALSE])
  expect_identical(predict(m[1:3], many), predict(m, many, trees = 3))
  contributions <- predict(m, iris[-5], type = "contrib")
  expect_equal(apply(contributions, c(1, 3), sum), predict(m, iris[-5], type = "link"), ignore_attr = TRUE)
})

test_that("trainings go on from such a model, and from one with a tree for each class", {
  m <- train(multi_strategy = shared)
  four <- gbt_train(iris[-5], iris$Species, nrounds = 4, threads = 1, multi_strategy = shared)
  link <- function(model) predict(model, iris[-5], type = "link")
  trees <- function(model) length(unique(as.data.frame(model)$tree))
  on <- function(model, strategy) {
    gbt_train(iris[-5], iris$Species, nrounds = 2, threads = 1, init_model = model, multi_strategy = strategy)
  }
  one <- on(four, shared)
  expect_identical(trees(one), 6L)
  expect_identical(link(one), link(m))
  several <- on(four, apart) # its first rounds have a tree for each class from now on
  expect_identical(trees(several), 18L)
  expect_identical(link(several[1:4]), link(four))
  kept <- on(train(multi_strategy = apart), shared)
  expect_identical(trees(kept), 24L)
  d <- as.data.frame(kept)
  splits <- function(class) d[d$round == 8 & d$output == class, c("node", "feature", "threshold", "left", "right")]
  expect_gt(nrow(splits("setosa")), 1)
  for (class in c("versicolor", "virginica")) expect_equal(splits(class), splits("setosa"), ignore_attr = "row.names")
})

test_that("a rule holds for three classes and more, in symmetric trees, where there may be many rounds", {
  strategy <- function(...) {
    call <- utils::modifyList(list(Species ~ ., iris, nrounds = 1000, valid = 0.3, early_stopping_rounds = 2, seed = 1,
                                   threads = 1), list(...))
    do.call(gbt_train, call)$params$multi_strategy
  }
  expect_identical(strategy(), shared)
  expect_identical(strategy(max_depth = 3, grow_policy = "symmetric"), shared)
  expect_identical(strategy(max_depth = 3), shared)
  expect_identical(strategy(nrounds = 999), apart)
  expect_identical(strategy(num_parallel_tree = 2, grow_policy = "symmetric"), apart)
  expect_identical(strategy(multi_strategy = apart), apart)
  expect_identical(train()$params$multi_strategy, apart) # rounds are stated
  found <- gbt_train(iris[-5], iris$Species, threads = 1)
  expect_identical(found$params$multi_strategy, shared)
  expect_identical(gbt_refit(found)$params$multi_strategy, shared)
  expect_identical(gbt_refit(found, max_depth = 2)$params$multi_strategy, shared)
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

test_that("common trees may grow by other policies", {
  for (more in list(list(grow_policy = "depthwise", max_depth = 4), list(grow_policy = "lossguide", max_leaves = 9))) {
    for (sketch in c("none", "projection")) {
      call <- c(list(iris[-5], iris$Species, nrounds = 6, multi_strategy = shared, sketch = sketch), more)
      m <- do.call(gbt_train, c(call, threads = 1))
      d <- as.data.frame(m)
      expect_identical(d$tree, d$round)
      splits_of_layers <- unlist(lapply(seq_len(6), function(t) {
        inner <- subset(gbt_tree(m, t)$nodes, !is.na(feature))
        lengths(lapply(split(paste(inner$feature, inner$threshold), inner$depth), unique))
      }))
      expect_gt(max(splits_of_layers), 1)
      expect_same_bytes(do.call(gbt_train, c(call, threads = 2))$state, m$state)
      file <- withr::local_tempfile()
      gbt_save(m, file)
      expect_identical(predict(gbt_load(file), iris), predict(m, iris))
    }
  }
})

test_that("what trees cannot share splits with is refused", {
  expect_snapshot(error = TRUE, {
    gbt_train(mpg ~ ., mtcars, multi_strategy = "multi_output_tree", nrounds = 2)
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

test_that("sketch says what common splits are chosen by", {
  splits <- function(m) as.data.frame(m)[c("tree", "node", "feature", "threshold")]
  sums <- train(multi_strategy = shared, sketch = "none")
  expect_false(identical(splits(sums), splits(train(multi_strategy = shared)))) # classes: a projection
  expect_identical(gbt_train(iris[-5], iris$Species, nrounds = 6, threads = 3, multi_strategy = shared,
                             sketch = "none")$state, sums$state)
  expect_lt(gbt_evaluate(sums, iris[-5], iris$Species, metrics = "mlogloss", threads = 1)$estimate,
            gbt_evaluate(train(multi_strategy = shared), iris[-5], iris$Species, metrics = "mlogloss",
                         threads = 1)$estimate)
  of <- function(...) {
    gbt_train(cbind(mpg, hp) ~ wt + cyl + disp, mtcars, nrounds = 3, threads = 1, multi_strategy = shared, ...)
  }
  expect_identical(splits(of()), splits(of(sketch = "none"))) # columns: the sum
  expect_false(identical(splits(of()), splits(of(sketch = "projection"))))
  many <- matrix(rnorm(320), 32)
  expect_error(gbt_train(mtcars, many, multi_strategy = shared, sketch = "none", nrounds = 2, threads = 1),
               "up to 8 outputs, and there are 10", class = "gbt_error")
})
