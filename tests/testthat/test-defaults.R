plain <- list(grow_policy = "depthwise", max_depth = 6, eta = 0.1, lambda = 1, colsample_bytree = 1)
x <- mtcars[-1]
y <- mtcars$mpg
train <- function(...) gbt_train(x, y, ..., threads = 1)
# ...: names of parameters that are given; shape: those of the shape of trees, with their values.
of <- function(..., rows = 1000, nrounds = 100, stopping = FALSE, objective = "squared_error", policy = "depthwise",
               outputs = 1, shape = list()) {
  gbt:::rules_of(list(rows = rows, features = 5, outputs = outputs, nrounds = nrounds,
                      grow_policy = if (is.null(shape$grow_policy)) policy else shape$grow_policy, early = stopping,
                      stopping = stopping, strategy = NULL, given = shape), objective, named = c(..., names(shape)))
}

test_that("rules hold for what is not named, and for nothing else", {
  expect_identical(of(), list(grow_policy = "symmetric", max_depth = 6, eta = 0.1, lambda = 3, colsample_bytree = 0.8,
                              random_strength = 0.5))
  expect_identical(names(of("eta", "lambda")), c("grow_policy", "max_depth", "colsample_bytree", "random_strength"))
  for (name in c("colsample_bynode", "num_parallel_tree", "boosting")) {
    expect_false(any(c("grow_policy", "max_depth", "random_strength") %in% names(of(name))), label = name)
  }
  for (objective in c("cox", "fine_gray")) {
    expect_identical(of(objective = objective)[c("max_depth", "lambda")], list(max_depth = 4, lambda = 10))
  }
  expect_identical(of(objective = "aft"), of())
  for (name in c("mtry", "colsample_bytree", "colsample_bylevel")) expect_null(of(name)$colsample_bytree)
  m <- train(nrounds = 5)
  expect_setequal(m$by_rule, names(of()))
  expect_identical(m$params[names(of())], replace(of(), "eta", 0.3)) # 32 rows, 5 rounds: 0.42, cut
  # whatever it is called
  m <- train(nrounds = 5, params = list(learning_rate = 0.2, depth = 3, reg_lambda = 1, rsm = 0.5), seed = 1)
  expect_identical(m$by_rule, c("grow_policy", "random_strength"))
  expect_identical(m$params$grow_policy, "symmetric")
  # a value that is named is the same as one that a rule chose, to the byte
  m <- train(nrounds = 8, seed = 3)
  expect_same_bytes(do.call(train, c(m$params[m$by_rule], nrounds = 8, seed = 3))$state, m$state)
  # nor does it change anything to name what holds anyway
  same <- list(list(boosting = "plain"), list(boosting_type = "Plain"), list(booster = "gbtree"),
               list(num_parallel_tree = 1L), list(params = list(colsample_bynode = 1)))
  for (named in same) expect_same_bytes(do.call(train, c(named, nrounds = 8, seed = 3))$state, m$state)
  m <- do.call(train, c(plain, nrounds = 5))
  expect_null(m$by_rule)
  expect_identical(m$params[names(plain)], plain)
})

test_that("trees of many rows are deep, and what is named stays", {
  many <- function(...) of(..., rows = 20000, nrounds = 2000, stopping = TRUE)
  shape <- c("grow_policy", "max_depth", "random_strength", "multi_strategy")
  nodes <- list(grow_policy = "depthwise", max_depth = 8)
  symmetric <- list(grow_policy = "symmetric", max_depth = 6, random_strength = 0.5)
  at <- function(rules) rules[intersect(shape, names(rules))]
  expect_identical(at(of(rows = 19999)), symmetric)
  for (objective in c("squared_error", "poisson", "logistic")) {
    expect_identical(at(many(objective = objective)), nodes, label = objective)
  }
  for (objective in c("quantile", "custom", "rank_ndcg")) {
    expect_identical(at(many(objective = objective)), symmetric, label = objective)
  }
  expect_identical(at(many(objective = "cox")), replace(symmetric, "max_depth", 4))
  expect_identical(at(many(objective = "softmax", outputs = 10)), nodes)
  expect_identical(at(many(objective = "softmax", outputs = 11)),
                   c(replace(symmetric, "random_strength", 1), multi_strategy = "multi_output_tree"))
  shared <- list(rows = 1e5, outputs = 3, nrounds = 9, early = FALSE, stopping = FALSE, binned = TRUE,
                 strategy = "multi_output_tree")
  expect_identical(gbt:::rules_of(shared, "softmax")$grow_policy, "symmetric")
  expect_identical(gbt:::rules_of(shared, "squared_error")$grow_policy, "symmetric")
  summed <- c(shared, sums = TRUE) # common trees of columns, by the sum of gains
  expect_identical(gbt:::rules_of(summed, "softmax")$grow_policy, "symmetric")
  expect_identical(gbt:::rules_of(summed, "logistic")$grow_policy, "symmetric")
  expect_identical(at(gbt:::rules_of(summed, "squared_error")), c(nodes, multi_strategy = "multi_output_tree"))
  expect_identical(gbt:::rules_of(replace(summed, "rows", 19999), "squared_error")$grow_policy, "symmetric")
  fast <- function(...) {
    facts <- list(rows = 20000, outputs = 1, nrounds = 2000, early = TRUE, stopping = TRUE, binned = FALSE)
    gbt:::rules_of(utils::modifyList(facts, list(...)), "logistic", "fast")
  }
  expect_identical(fast()[c("grow_policy", "max_depth", "eta", "max_bin", "colsample_bytree")],
                   list(grow_policy = "depthwise", max_depth = 7, eta = 0.25, max_bin = 127, colsample_bytree = 0.8))
  expect_null(fast()$random_strength)
  expect_identical(fast(rows = 19999)[c("grow_policy", "max_depth", "eta", "max_bin", "colsample_bytree")],
                   list(grow_policy = "symmetric", max_depth = 6, eta = 0.15, max_bin = 127, colsample_bytree = 0.5))
  # at least eight features for a tree, where they are at most four fifths of all
  share <- function(features) fast(rows = 1000, features = features)$colsample_bytree
  expect_identical(vapply(c(1, 10, 12, 15, 16, 17, 1000), share, 0), c(0.8, 0.8, 0.67, 0.53, 0.5, 0.5, 0.5))
  expect_identical(fast(features = 12)$colsample_bytree, 0.8)
  steps <- function(outputs, early = TRUE) {
    facts <- list(rows = 1000, outputs = outputs, nrounds = 2000, early = early, stopping = TRUE, binned = FALSE)
    gbt:::rules_of(facts, "softmax", "fast")$eta
  }
  expect_identical(c(steps(3), steps(20), steps(300), steps(20, early = FALSE)), c(0.15, 0.4, 0.5, 0.15))
  expect_length(at(many("boosting")), 0L)
  # training goes by the rule, and what it chose goes on into folds and further trainings
  d <- data.frame(a = sin(1:20000), b = cos(1:20000))
  train <- function(...) gbt_train(d["a"], d$b, nrounds = 2, seed = 3, threads = 1, ...)
  m <- train()
  expect_identical(m$params[names(nodes)], nodes)
  expect_same_bytes(do.call(train, m$params[m$by_rule])$state, m$state)
  expect_identical(train(max_depth = 2)$params[names(nodes)], replace(nodes, "max_depth", 2))
  cv <- gbt_cv(d["a"], d$b, nrounds = 2, folds = 2, seed = 1, threads = 1)
  expect_identical(cv$params[names(nodes)], nodes) # by all rows, for each fold
  expect_identical(gbt_refit(m, x = d[1:99, "a", drop = FALSE], y = d$b[1:99])$params[names(nodes)], nodes)
})

test_that("the other parameters of the shape of trees are chosen around those that are given", {
  around <- function(..., rows = 1000) {
    out <- of(rows = rows, shape = list(...))
    out[intersect(c("grow_policy", "max_depth", "max_leaves", "random_strength"), names(out))]
  }
  for (depth in 1:8) {
    expect_identical(around(max_depth = depth), list(grow_policy = "symmetric", random_strength = 0.5))
    expect_identical(around(max_depth = depth, rows = 20000), list(grow_policy = "depthwise"))
  }
  expect_identical(around(max_depth = 9), list(grow_policy = "depthwise")) # 512 leaves are too many for full trees
  expect_identical(around(grow_policy = "depthwise"), list(max_depth = 6))
  expect_identical(around(grow_policy = "depthwise", rows = 20000), list(max_depth = 8))
  for (rows in c(1000, 20000)) {
    expect_identical(around(grow_policy = "symmetric", rows = rows), list(max_depth = 6, random_strength = 0.5))
    expect_identical(around(grow_policy = "symmetric", max_depth = 3, rows = rows), list(random_strength = 0.5))
    expect_length(around(grow_policy = "depthwise", max_depth = 3, rows = rows), 0L)
    expect_identical(around(grow_policy = "lossguide", rows = rows), list(max_depth = 0, max_leaves = 64))
    expect_identical(around(grow_policy = "lossguide", max_leaves = 0, rows = rows), list(max_depth = 6))
    expect_identical(around(max_leaves = 20, rows = rows), list(grow_policy = "lossguide", max_depth = 0))
    expect_identical(around(max_leaves = 20, max_depth = 7, rows = rows), list(grow_policy = "lossguide"))
    expect_length(around(grow_policy = "depthwise", max_leaves = 20, max_depth = 7, rows = rows), 0L)
  }
  expect_identical(around(max_leaves = 0), around())
  cox <- of(objective = "cox", shape = list(grow_policy = "symmetric"))
  expect_identical(cox[c("max_depth", "random_strength")], list(max_depth = 4, random_strength = 0.5))
  # training goes by it
  m <- train(nrounds = 3, num_leaves = 4)
  expect_identical(m$params[c("grow_policy", "max_depth", "max_leaves")],
                   list(grow_policy = "lossguide", max_depth = 0, max_leaves = 4))
  expect_true(all(vapply(seq_len(3), function(i) sum(as.data.frame(m[i])$leaf), 0) <= 4))
  expect_identical(gbt_refit(m, grow_policy = "lossguide", max_leaves = 0)$params$max_depth, 6)
  shared <- gbt_train(Species ~ ., iris, nrounds = 3, multi_strategy = "multi_output_tree", threads = 1)
  expect_identical(shared$params[c("grow_policy", "max_depth")], list(grow_policy = "symmetric", max_depth = 6))
})

test_that("symmetric trees split categories one level against the rest", {
  d <- data.frame(k = factor(letters[1 + (7 * (1:300)) %% 20]), n = sin(1:300), stringsAsFactors = FALSE)
  y <- cos(as.integer(d$k)) + d$n
  train <- function(x, ...) gbt_train(x, y, nrounds = 5, seed = 1, threads = 1, ...)
  ruled <- function(m) if ("max_cat_onehot" %in% m$by_rule) m$params$max_cat_onehot
  expect_identical(ruled(train(d)), 255)
  expect_identical(ruled(train(transform(d, k = as.character(k)))), 255)
  expect_identical(ruled(train(cbind(k = as.integer(d$k), n = d$n), cat_features = "k")), 255)
  expect_identical(ruled(gbt_train(gbt_data(d), y, nrounds = 5, threads = 1)), 255)
  expect_identical(gbt_cv(d, y, nrounds = 5, folds = 2, seed = 1, threads = 1)$params$max_cat_onehot, 255)
  expect_null(ruled(train(transform(d, k = as.integer(k)))))
  expect_null(ruled(train(transform(d, k = ordered(k)))))
  expect_null(ruled(train(as.matrix(d["n"]))))
  expect_null(ruled(train(d, grow_policy = "depthwise")))
  for (named in list(list(cat_method = "sets"), list(cat_noise = 2), list(min_data_per_group = 3), list(cat_l2 = 1))) {
    m <- do.call(train, c(list(d), named))
    expect_null(ruled(m), label = names(named))
    expect_identical(m$params$max_cat_onehot, 4)
  }
  expect_identical(ruled(train(d, cat_method = "auto")), 255)
  expect_null(ruled(train(d, cat_method = list("auto", k = "sets"))))
  # the same splits as by name, and no sets of several levels
  m <- train(d)
  expect_same_bytes(do.call(train, c(list(d), m$params[m$by_rule]))$state, m$state)
  expect_false(identical(train(d, max_cat_onehot = 4)$state, m$state))
  # other trees, other rules
  expect_null(ruled(gbt_refit(m, grow_policy = "depthwise", x = d, y = y)))
  again <- gbt_refit(train(d, grow_policy = "depthwise"), grow_policy = "symmetric", x = d, y = y)
  expect_identical(ruled(again), 255)
})

test_that("steps follow from rows, rounds and what ends the training", {
  eta <- function(...) of(...)$eta
  expect_identical(eta(rows = 1e5, nrounds = 1000), 0.056)
  expect_identical(eta("boosting", rows = 1e5, nrounds = 1000), 0.079)
  expect_identical(eta(shape = list(max_leaves = 64), rows = 1e5, nrounds = 1000), 0.079) # what is given is no rule's
  expect_identical(eta(shape = list(grow_policy = "lossguide"), rows = 1e5, nrounds = 1000), 0.056)
  expect_identical(eta(rows = 1e6, nrounds = 100), 0.3)
  expect_identical(eta(rows = 100, nrounds = 2000), 0.02)
  expect_identical(eta(rows = 100, nrounds = 2000, stopping = TRUE), 0.06)
  expect_identical(eta(rows = 100, nrounds = 2000, stopping = TRUE, objective = "rank_ndcg"), 0.1)
  expect_identical(eta(rows = 100, nrounds = 2000, objective = "rank_ndcg"), 0.02)
  expect_identical(eta(rows = 1000, nrounds = 100, stopping = TRUE), 0.1)
  classes <- function(...) eta(nrounds = 2000, objective = "softmax", ...)
  expect_identical(classes(outputs = 6, stopping = TRUE), 0.06)
  expect_identical(classes(outputs = 26, stopping = TRUE), 0.26)
  expect_identical(classes(outputs = 300, stopping = TRUE), 0.3)
  expect_identical(classes(outputs = 26), 0.02)
  for (rows in c(1, 2, 3, 10, 1e9)) expect_true(eta(rows = rows) >= 0.02 && eta(rows = rows) <= 0.3)
  m <- train(nrounds = 500, valid = 0.3, early_stopping_rounds = 3, seed = 1)
  expect_identical(m$params$eta, 0.06)
  # a checkpoint may be gone on from with more rounds
  folder <- withr::local_tempdir()
  expect_identical(train(nrounds = 60, checkpoint = folder, checkpoint_seconds = 0)$params$eta, 0.06)
  expect_identical(train(nrounds = 70, checkpoint = folder, checkpoint_seconds = 0)$nrounds, 70L)
})

test_that("classes and counts have rules of their own", {
  for (objective in c("logistic", "softmax")) {
    expect_identical(of(objective = objective)[c("min_child_weight", "random_strength")],
                     list(min_child_weight = 0.1, random_strength = 1))
  }
  expect_identical(of(objective = "poisson")$random_strength, 0.25)
  expect_identical(of(objective = "softmax", outputs = 3)$softmax_hessian, 1.3)
  expect_null(of(objective = "softmax", outputs = 2)$softmax_hessian) # where two classes are exact
  strategy <- function(...) of(..., objective = "softmax")$multi_strategy
  for (nrounds in c(999, 1000)) {
    expect_identical(strategy(outputs = 3, nrounds = nrounds, stopping = TRUE),
                     if (nrounds == 1000) "multi_output_tree", label = nrounds)
  }
  expect_null(strategy(outputs = 3, nrounds = 2000))
  expect_null(strategy(outputs = 2, nrounds = 2000, stopping = TRUE))
  expect_null(strategy("boosting", outputs = 3, nrounds = 2000, stopping = TRUE))
  expect_null(of(objective = "logistic")$softmax_hessian)
  for (objective in c("quantile", "gamma", "custom")) expect_identical(names(of(objective = objective)), names(of()))
  expect_null(of("min_child_weight", objective = "logistic")$min_child_weight)
  m <- gbt_train(x, factor(mtcars$am), nrounds = 5, min_sum_hessian = 2, threads = 1)
  expect_identical(m$params$min_child_weight, 2)
  expect_identical(m$params$random_strength, 1)
})

test_that("rules draw nothing from R's generator", {
  set.seed(1)
  before <- .Random.seed
  m <- train(nrounds = 3)
  expect_identical(.Random.seed, before)
  expect_identical(m$params$seed, 0)
  expect_same_bytes(train(nrounds = 3)$state, m$state)
  expect_same_bytes(gbt_train(gbt_data(x, threads = 1), y, nrounds = 3, threads = 1)$state, m$state)
  expect_same_bytes(gbt_train(as.matrix(x), y, nrounds = 3, threads = 2)$state, m$state)
  expect_identical(as.data.frame(gbt_train(mpg ~ ., mtcars, nrounds = 3, threads = 1)), as.data.frame(m))
})

test_that("what was chosen is kept where a training is done again or goes on", {
  stopped <- gbt_train(mpg ~ ., mtcars, nrounds = 200, valid = 0.3, early_stopping_rounds = 5, seed = 1, threads = 1)
  again <- gbt_refit(stopped)
  expect_identical(again$params[stopped$by_rule], stopped$params[stopped$by_rule])
  expect_setequal(again$by_rule, stopped$by_rule)
  expect_identical(gbt_refit(again)$params$eta, 0.06)
  other <- gbt_refit(stopped, max_depth = 2, lambda = 7)
  expect_identical(other$params[c("grow_policy", "max_depth", "lambda", "eta")],
                   list(grow_policy = "symmetric", max_depth = 2, lambda = 7, eta = 0.06))
  expect_identical(update(again, max_depth = 2)$params$grow_policy, "symmetric")
  leaves <- gbt_refit(stopped, max_leaves = 5) # with which the kept shape does not go
  expect_identical(leaves$params[c("grow_policy", "max_depth", "random_strength")],
                   list(grow_policy = "lossguide", max_depth = 0, random_strength = 0))
  expect_identical(update(stopped, grow_policy = "depthwise")$params$max_depth, 6)
  cv <- gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 30, seed = 1, threads = 1, keep_models = TRUE)
  chosen <- c(cv$params$eta, vapply(cv$models, function(m) m$params$eta, 0), gbt_refit(cv)$params$eta)
  expect_identical(chosen, rep(signif(10 * 0.032^0.45 / 30, 2), 5)) # by all rows, for each fold
  tuned <- gbt_tune(mpg ~ ., mtcars, space = list(lambda = c(1, 10)), configs = 2, folds = 3, nrounds = 20, seed = 1,
                    method = "halving", min_rounds = 5, threads = 1)
  final <- gbt_refit(tuned)
  expect_identical(final$params$lambda, tuned$best$lambda)
  expect_identical(final$params[c("grow_policy", "eta")], tuned$params[c("grow_policy", "eta")])
  first <- train(nrounds = 4, eta = 0.07, grow_policy = "lossguide", max_leaves = 4)
  more <- train(nrounds = 3, init_model = first)
  expect_identical(more$params[c("grow_policy", "max_leaves", "eta")],
                   list(grow_policy = "lossguide", max_leaves = 4, eta = 0.07))
  expect_identical(first$by_rule, c("max_depth", "lambda", "colsample_bytree"))
  expect_setequal(more$by_rule, first$by_rule) # what was named before was chosen by no rule
  layers <- train(nrounds = 3, init_model = first, grow_policy = "symmetric", max_depth = 3)
  expect_setequal(layers$by_rule, c("lambda", "colsample_bytree", "random_strength")) # what goes with other trees is
  expect_null(train(nrounds = 2, init_model = do.call(train, c(plain, nrounds = 2)))$by_rule)
})

test_that("what goes with symmetric trees or one objective does not go on into others", {
  first <- gbt_train(Species ~ ., iris, nrounds = 4, threads = 1)
  two <- droplevels(iris[iris$Species != "setosa", ])
  other <- suppressWarnings(gbt_refit(first, data = two, nrounds = 4))
  expect_identical(other$params$softmax_hessian, 2)
  expect_identical(other$params$random_strength, 1)
  expect_identical(gbt_refit(first, max_leaves = 4, nrounds = 4)$params$random_strength, 0)
  deep <- gbt_train(mpg ~ ., mtcars, nrounds = 4, grow_policy = "depthwise", random_strength = 2, threads = 1)
  expect_identical(gbt_train(mpg ~ ., mtcars, nrounds = 4, init_model = deep, threads = 1)$params$random_strength, 2)
  more <- gbt_train(mpg ~ ., mtcars, nrounds = 4, init_model = train(nrounds = 3), threads = 1)
  expect_false("softmax_hessian" %in% more$by_rule)
  nodes <- gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 4, grow_policy = "depthwise", seed = 1, threads = 1)
  expect_identical(gbt_refit(nodes)$params$random_strength, 0)
  expect_identical(gbt_refit(nodes, grow_policy = "symmetric")$params$random_strength, 0.5)
  expect_identical(gbt_refit(nodes, random_strength = 3, grow_policy = "symmetric")$params$random_strength, 3)
  # a search rates configurations with what their trees go with, and so is the winner trained
  for (policy in c("symmetric", "depthwise")) {
    strength <- if (policy == "symmetric") 0.5 else 0
    tune <- function(...) {
      gbt_tune(mpg ~ ., mtcars, configs = 2, folds = 3, nrounds = 20, seed = 1, threads = 1, ...)
    }
    tuned <- tune(space = list(lambda = c(1, 10), grow_policy = policy))
    expect_identical(gbt_refit(tuned)$params$random_strength, strength)
    fixed <- tune(space = list(lambda = c(1, 10)), grow_policy = policy)
    expect_identical(gbt_refit(fixed)$params$random_strength, strength)
    expect_identical(fixed$results$estimate, tuned$results$estimate)
  }
  # one tree a round, which a search has named, is no reason for noise
  nodes <- gbt_tune(mpg ~ ., mtcars, space = list(colsample_bynode = list(1)), configs = 1, folds = 3, nrounds = 9,
                    seed = 1, threads = 1)
  final <- gbt_refit(nodes)
  expect_identical(final$params[c("grow_policy", "random_strength")],
                   list(grow_policy = "depthwise", random_strength = 0))
})

test_that("the table of rules and models say what was chosen", {
  rules <- gbt_defaults()
  expect_s3_class(rules, "gbt_defaults")
  expect_output(print(rules), "eta\n.*not applied if you give: eta")
  expect_output(print(rules[1]), "parameters")
  expect_output(print(train(nrounds = 10)), "by rule +grow_policy symmetric, max_depth 6, eta 0.21, lambda 3,")
  expect_false(any(grepl("by rule", capture.output(print(do.call(train, c(plain, nrounds = 2)))))))
  m <- train(nrounds = 3)
  m$by_rule <- "nothing"
  expect_error(print(m), "`by_rule` must be NULL or names of `params`", class = "gbt_error_argument")
  expect_identical(train(nrounds = 3)[1:2]$by_rule, train(nrounds = 3)$by_rule)
})

test_that("rules hold for every kind of training", {
  d <- data.frame(v = sin(1:60), f = factor(rep(letters[1:6], 10)))
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) 0 * score + 1)
  settings <- list(list(objective = own, offset = rep(0, 60)), list(objective = "quantile"),
                   list(monotone = c(v = 1)), list(interactions = list("v", "f")), list(subsample = 0.5, seed = 1),
                   list(mtry = 1, seed = 1), list(cat_method = "target"), list(boosting = "ordered"),
                   list(feature_weights = c(v = 0)), list(num_parallel_tree = 2), list(weights = rep(1:2, 30)))
  for (setting in settings) {
    m <- do.call(gbt_train, c(list(d, cos(1:60), nrounds = 4, threads = 1), setting))
    expect_identical(m$params$lambda, 3)
    expect_true(all(is.finite(predict(m, d, offset = setting$offset))))
  }
  sparse <- Matrix::Matrix(matrix(rep(c(0, 0, 1, 2), 60), 60), sparse = TRUE)
  expect_setequal(gbt_train(sparse, cos(1:60), nrounds = 4, threads = 1)$by_rule, names(of()))
})

test_that("a preset that goes on from a model keeps its number of bins", {
  fit <- function(...) gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1, ...)
  first <- fit(max_bin = 60)
  more <- fit(preset = "fast", init_model = first)
  expect_identical(more$params$max_bin, 60)
  expect_identical(more$state, fit(preset = "fast", init_model = first, max_bin = 60)$state)
  expect_identical(fit(preset = "fast", init_model = first, max_bin = 90)$params$max_bin, 90)
  expect_identical(fit(preset = "fast", init_model = fit(max_bin = "exact"))$params$max_bin, "exact")
  expect_identical(fit(preset = "fast", init_model = fit(preset = "fast"))$params$max_bin, 127)
})
