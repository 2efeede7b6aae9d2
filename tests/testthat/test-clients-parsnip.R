# parsnip, workflows, tune and dials themselves, where they are installed: what their own tests require of other engines
# of boost_tree(), and what gbt adds. test-plug.R has a stand-in for the registration.

skip_without_parsnip <- function() {
  skip_if_not_installed("parsnip", "1.2.0")
  skip_if_not_installed("tibble")
}

trees <- function(mode = "regression", ..., engine = list()) {
  spec <- parsnip::boost_tree(mode = mode, ...)
  do.call(parsnip::set_engine, c(list(spec, "gbt"), utils::modifyList(list(seed = 1), engine)))
}

model_of <- function(fit) parsnip::extract_fit_engine(fit)

test_that("parsnip: formula and data frame forms give one model, of classes and of numbers", {
  skip_without_parsnip()
  spec <- trees("classification", trees = 3)
  by_formula <- parsnip::fit(spec, Species ~ ., iris)
  by_columns <- parsnip::fit_xy(spec, iris[-5], iris$Species)
  expect_same_bytes(model_of(by_formula)$state, model_of(by_columns)$state)
  want <- gbt_train(iris[-5], iris$Species, nrounds = 3, seed = 1, threads = 1)
  expect_same_bytes(model_of(by_columns)$state, want$state)
  expect_identical(predict(by_columns, iris[c(1, 51, 101), ], type = "class")$.pred_class,
                   unname(predict(want, iris[c(1, 51, 101), ], type = "class")))
  prob <- predict(by_columns, iris, type = "prob")
  expect_named(prob, paste0(".pred_", levels(iris$Species)))
  expect_identical(prob$.pred_virginica, unname(predict(want, iris)[, "virginica"]))
  numbers <- parsnip::fit(trees(trees = 5), mpg ~ ., mtcars)
  want <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 5, seed = 1, threads = 1)
  expect_identical(predict(numbers, mtcars)$.pred, unname(predict(want, mtcars)))
  expect_identical(predict(numbers, mtcars[-1], type = "raw"), predict(want, mtcars, type = "link"))
  expect_error(parsnip::fit(spec, Species ~ nowhere, iris), "nowhere")
})

test_that("parsnip: weights of cases count", {
  skip_without_parsnip()
  skip_if_not_installed("hardhat", "1.0.0")
  w <- rep(c(0, 1, 3), 50)
  spec <- trees("classification", trees = 3)
  a <- parsnip::fit(spec, Species ~ ., iris, case_weights = hardhat::importance_weights(w))
  b <- parsnip::fit_xy(spec, iris[-5], iris$Species, case_weights = hardhat::importance_weights(w))
  want <- gbt_train(iris[-5], iris$Species, weights = w, nrounds = 3, seed = 1, threads = 1)
  expect_same_bytes(model_of(a)$state, want$state)
  expect_same_bytes(model_of(b)$state, want$state)
})

test_that("parsnip: arguments of gbt_train() go through set_engine()", {
  skip_without_parsnip()
  engine <- list(objective = "absolute_error", eval_metric = "mae")
  mad <- parsnip::fit(trees(trees = 4, engine = engine), mpg ~ ., mtcars)
  expect_identical(model_of(mad)$objective, "absolute_error")
  expect_equal(dim(predict(mad, mtcars[1, ])), c(1L, 1L))
  own <- list(gradient = function(score, label, weight) score - label,
              hessian = function(score, label, weight) rep(1, length(label)))
  mine <- parsnip::fit(trees(trees = 4, engine = list(objective = own)), mpg ~ ., mtcars)
  expect_true(all(is.finite(predict(mine, mtcars)$.pred)))
  expect_error(parsnip::fit(trees(trees = 4, engine = list(depht = 3)), mpg ~ ., mtcars), "depht")
})

test_that("parsnip: predictions by several numbers of trees", {
  skip_without_parsnip()
  fit <- parsnip::fit(trees(trees = 20), mpg ~ ., mtcars[-(1:4), ])
  many <- do.call(rbind, parsnip::multi_predict(fit, mtcars[1:4, -1], trees = 5)$.pred)
  expect_identical(many$.pred, unname(predict(model_of(fit), mtcars[1:4, ], trees = 5)))
  last <- do.call(rbind, parsnip::multi_predict(fit, mtcars[1:4, -1], trees = 20)$.pred)
  expect_identical(last$.pred, unname(predict(model_of(fit), mtcars[1:4, ])))
  more <- parsnip::multi_predict(fit, mtcars[1:4, -1], trees = c(20, 500))$.pred[[3]] # than there are
  expect_identical(more$trees, c(20L, 500L))
  expect_identical(more$.pred[1], more$.pred[2])
  expect_error(parsnip::multi_predict(fit, newdata = mtcars[1:4, -1], trees = 5), "new_data")
  expect_true(parsnip::has_multi_predict(fit))
  early <- parsnip::fit(trees(trees = 500, stop_iter = 3, engine = list(validation = 0.3)), mpg ~ ., mtcars)
  best <- model_of(early)$best_round
  expect_lt(best, model_of(early)$nrounds)
  got <- parsnip::multi_predict(early, mtcars[1, -1], trees = c(best, best + 1L, 2000L))$.pred[[1]]
  expect_identical(got$.pred, rep(unname(predict(model_of(early), mtcars[1, ])), 3))
})

test_that("parsnip: validation rows, with and without early stopping", {
  skip_without_parsnip()
  log_of <- function(...) {
    names(model_of(parsnip::fit(trees(trees = 8, engine = list(...)), mpg ~ ., mtcars))$evaluation_log)
  }
  expect_identical(log_of(validation = 0.1), c("round", "valid_rmse"))
  expect_identical(log_of(validation = 0.1, eval_metric = "mae"), c("round", "valid_mae"))
  held <- parsnip::fit(trees(trees = 8, engine = list(validation = 0.1)), mpg ~ ., mtcars)
  expect_identical(model_of(held)$nrounds, 8L) # is not stopped
  expect_error(parsnip::fit(trees(trees = 8, engine = list(validation = 3)), mpg ~ ., mtcars), "share of the rows")
  early <- model_of(parsnip::fit(trees(trees = 300, stop_iter = 5, engine = list(validation = 0.1)), mpg ~ ., mtcars))
  expect_identical(early$nrounds - early$best_round, 5L)
  expect_error(parsnip::fit(trees(trees = 20, stop_iter = 0), mpg ~ ., mtcars), "at least 1")
})

test_that("parsnip: mtry above the columns is cut with a warning; shares with counts = FALSE", {
  skip_without_parsnip()
  expect_warning(fit <- parsnip::fit(trees(trees = 3, mtry = 1000), mpg ~ ., mtcars), "10 columns: all are used",
                 class = "gbt_warning_mtry")
  expect_identical(model_of(fit)$params$colsample_bynode, 1)
  share <- function(...) model_of(parsnip::fit(trees(trees = 3, ...), mpg ~ ., mtcars))$params$colsample_bynode
  expect_identical(share(mtry = 7), 0.7)
  expect_identical(share(mtry = 0.9, engine = list(counts = FALSE)), 0.9)
  expect_identical(share(mtry = 1), 0.1)
  expect_identical(share(mtry = 1, engine = list(counts = FALSE)), 1)
  expect_error(share(mtry = 3, engine = list(colsample_bynode = 0.5)), "are the same")
  expect_error(share(mtry = 0.9), "counts = FALSE")
})

test_that("parsnip: the number of classes decides the objective; fit_xy() keeps rows with missing predictors", {
  skip_without_parsnip()
  d <- airquality
  d$hot <- factor(ifelse(d$Temp > 79, "yes", "no"), c("yes", "no"))
  fit <- parsnip::fit_xy(trees("classification", trees = 3), d[c("Ozone", "Solar.R", "Wind")], d$hot)
  expect_identical(model_of(fit)$objective, "logistic")
  expect_equal(model_of(fit)$n_obs, 153)
  prob <- predict(fit, d, type = "prob")
  expect_named(prob, c(".pred_yes", ".pred_no"))
  expect_false(anyNA(prob))
  expect_identical(predict(fit, d)$.pred_class, factor(ifelse(prob$.pred_yes > 0.5, "yes", "no"), c("yes", "no")))
  d$hot <- cut(d$Temp, 3, c("a", "b", "c"))
  fit <- parsnip::fit_xy(trees("classification", trees = 3), d[c("Ozone", "Wind")], d$hot)
  expect_identical(model_of(fit)$objective, "softmax")
  rows <- parsnip::multi_predict(fit, d[1:2, ], trees = 1:3)$.pred[[2]] # classes, where no type is given
  expect_named(rows, c("trees", ".pred_class"))
  expect_identical(levels(rows$.pred_class), c("a", "b", "c"))
})

test_that("parsnip: tuning of mtry draws whole numbers, which every model can use", {
  skip_without_parsnip()
  skip_if_not_installed("tune", "1.0.0")
  skip_if_not_installed("rsample")
  withr::local_seed(1)
  spec <- trees(trees = 3, mtry = hardhat::tune())
  done <- tune::tune_grid(workflows::workflow(mpg ~ ., spec), rsample::bootstraps(mtcars, 2), grid = 4)
  mtry <- unique(tune::collect_metrics(done)$mtry)
  expect_true(length(mtry) > 1 && all(mtry >= 1 & mtry <= 10 & mtry == round(mtry)))
  expect_identical(sum(lengths(lapply(done$.notes, function(n) n$note))), 0L)
})

test_that("parsnip: sparse matrices, matrices and data frames give one model", {
  skip_without_parsnip()
  skip_if_not_installed("Matrix")
  x <- as.matrix(mtcars[-1])
  spec <- trees(trees = 5)
  of <- function(x) model_of(parsnip::fit_xy(spec, x, mtcars$mpg))$state
  expect_same_bytes(of(x), of(mtcars[-1]))
  expect_same_bytes(of(Matrix::Matrix(x, sparse = TRUE)), of(x))
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  fit <- parsnip::fit_xy(spec, sparse, mtcars$mpg)
  expect_identical(predict(fit, sparse)$.pred, predict(fit, mtcars[-1])$.pred)
})

test_that("parsnip: quantile regression is one model of all levels", {
  skip_without_parsnip()
  skip_if_not("quantile regression" %in% parsnip::get_from_env("boost_tree_modes"), "parsnip older than 1.6.0")
  levels <- c(0.1, 0.5, 0.9)
  of <- function(...) parsnip::set_mode(trees("unknown", ...), "quantile regression", quantile_levels = levels)
  fit <- parsnip::fit(of(trees = 20), mpg ~ ., mtcars)
  got <- predict(fit, mtcars)
  expect_named(got, ".pred_quantile")
  values <- as.matrix(got$.pred_quantile)
  for (j in 1:3) {
    one <- gbt_train(mtcars[-1], mtcars$mpg, objective = "quantile", quantile_alpha = levels, nrounds = 20, seed = 1,
                     threads = 1)
    expect_identical(unname(values[, j]), unname(predict(one, mtcars)[, j]))
  }
  expect_output(print(fit), "quantile_alpha 0.1, 0.5, 0.9")
  early <- parsnip::fit(of(trees = 200, stop_iter = 2, engine = list(validation = 0.2)), mpg ~ ., mtcars)
  expect_false(is.null(model_of(early)$best_round))
  expect_error(parsnip::fit(of(trees = 3, engine = list(objective = "quantile")), mpg ~ ., mtcars), "quantile_levels")
  again <- unserialize(serialize(fit, NULL))
  expect_identical(predict(again, mtcars[1:3, ]), predict(fit, mtcars[1:3, ]))
})

test_that("parsnip: several outcomes are a model of several columns", {
  skip_without_parsnip()
  want <- gbt_train(mtcars[-(1:2)], mtcars[1:2], nrounds = 5, seed = 1, threads = 1)
  both <- parsnip::fit(trees(trees = 5), cbind(mpg, cyl) ~ ., mtcars)
  expect_same_bytes(model_of(both)$state, want$state)
  got <- predict(both, mtcars)
  expect_named(got, c(".pred_mpg", ".pred_cyl"))
  expect_identical(got$.pred_cyl, unname(predict(want, mtcars)[, "cyl"]))
  for (y in list(mtcars[1:2], as.matrix(mtcars[1:2]))) {
    one <- parsnip::fit_xy(trees(trees = 5), mtcars[-(1:2)], y)
    expect_same_bytes(model_of(one)$state, want$state)
    expect_identical(predict(one, mtcars[-(1:2)]), got)
  }
  expect_identical(dim(predict(both, mtcars[1, ])), 1:2)
  many <- parsnip::multi_predict(both, mtcars[1:2, ], trees = c(2, 5))
  expect_identical(many$.pred[[2]]$.pred_mpg[2], got$.pred_mpg[2])
})

test_that("tune rates the models that fit() gives, whatever is tuned", {
  skip_without_parsnip()
  skip_if_not_installed("tune", "1.0.0")
  skip_if_not_installed("rsample")
  skip_if_not_installed("yardstick")
  set.seed(1)
  d <- data.frame(a = runif(120), b = rnorm(120))
  d$y <- 10 * d$a + rnorm(120)
  folds <- rsample::vfold_cv(d, 2)
  rmse <- yardstick::metric_set(yardstick::rmse)
  workflow <- function(args) workflows::workflow(y ~ ., do.call(trees, args))
  rated <- function(grid, ...) {
    marked <- lapply(grid, function(v) hardhat::tune())
    out <- tune::collect_metrics(tune::tune_grid(workflow(c(marked, list(...))), folds, grid = grid, metrics = rmse))
    one <- function(i) {
      fits <- tune::fit_resamples(workflow(c(as.list(grid[i, , drop = FALSE]), list(...))), folds, metrics = rmse)
      tune::collect_metrics(fits)$mean
    }
    at <- match(do.call(paste, grid), do.call(paste, out[names(grid)]))
    expect_identical(out$mean[at], vapply(seq_len(nrow(grid)), one, 0))
  }
  rated(data.frame(trees = c(10, 150))) # the rule for `eta` looks at the rounds
  rated(data.frame(trees = c(3, 1000)), stop_iter = 4)
  rated(expand.grid(trees = c(5, 20), learn_rate = c(0.1, 0.3)))
})

test_that("dials has a range for all arguments, those of set_engine() too", {
  skip_without_parsnip()
  skip_if_not_installed("dials", "1.0.0")
  spec <- trees(trees = hardhat::tune(), mtry = hardhat::tune(),
                engine = list(lambda = hardhat::tune(), alpha = hardhat::tune(), max_leaves = hardhat::tune(),
                              scale_pos_weight = hardhat::tune(), colsample_bytree = hardhat::tune()))
  set <- hardhat::extract_parameter_set_dials(spec)
  expect_setequal(set$name, c("trees", "mtry", "lambda", "alpha", "max_leaves", "scale_pos_weight", "colsample_bytree"))
  expect_true(all(vapply(set$object, inherits, NA, "param")))
  set <- dials::finalize(set, mtcars[-1])
  expect_identical(nrow(dials::grid_random(set, size = 4)), 4L)
})

test_that("parsnip: censored regression has the conventions of package censored", {
  skip_without_parsnip()
  skip_if_not_installed("survival")
  skip_if_not_installed("prodlim") # parsnip's curve of censoring
  lung <- survival::lung[c("time", "status", "age", "meal.cal", "sex")]
  for (objective in c("cox", "aft")) {
    fit <- parsnip::fit(trees("censored regression", trees = 5, engine = list(objective = objective)),
                        survival::Surv(time, status) ~ ., lung)
    want <- gbt_train(survival::Surv(time, status) ~ ., lung, objective = objective, nrounds = 5, seed = 1, threads = 1)
    expect_same_bytes(model_of(fit)$state, want$state) # missing predictors are kept
    p <- predict(fit, lung, type = "survival", eval_time = c(500, 100))
    expect_identical(nrow(p), nrow(lung))
    expect_identical(p$.pred[[1]]$.eval_time, c(500, 100))
    curve <- predict(want, lung, "survival", times = c(100, 500))
    expect_identical(vapply(p$.pred, function(t) t$.pred_survival[1], 0), unname(curve[, 2]))
    expect_named(predict(fit, lung, type = "time"), ".pred_time")
    expect_gt(cor(predict(fit, lung, type = "linear_pred")$.pred_linear_pred, curve[, 2], method = "spearman"), 0.99)
    expect_setequal(names(parsnip::augment(fit, lung[-(1:2)], eval_time = 100)),
                    c(names(lung)[-(1:2)], ".pred", ".pred_time"))
  }
})
