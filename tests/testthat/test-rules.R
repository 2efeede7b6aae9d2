# Rules over several parameters are the engine's; R puts the names in that were typed.

test_that("a rule of the engine's names parameters as they were typed", {
  refused <- function(pattern, parameter, ...) {
    e <- expect_error(gbt_train(as.matrix(mtcars[-1]), mtcars$mpg, ..., nrounds = 2, threads = 1), pattern,
                      class = "gbt_error_argument", fixed = TRUE)
    expect_identical(e$parameter, parameter)
    expect_identical(as.character(conditionCall(e)[[1L]]), "gbt_train")
  }
  refused("`max_depth` (given as `depth`) and `max_leaves` are both 0", "max_depth", depth = 0)
  refused("`max_depth` and `max_leaves` (given as `num_leaves`) are both 0", "max_depth", max_depth = 0, num_leaves = 0)
  refused("`max_depth` (given as `tree_depth`) is 20; with `grow_policy = \"symmetric\"`", "max_depth",
          grow_policy = "oblivious", tree_depth = 20)
  refused("all nodes of a layer share one split", "colsample_bynode", grow_policy = "symmetric",
          colsample_bynode = 0.5)
  refused("`subsample` (given as `bagging_fraction`) must be 1", "subsample", sampling_method = "goss",
          bagging_fraction = 0.5)
  refused("`top_rate` needs `sampling_method = \"goss\"`; it is \"mvs\"", "top_rate", bootstrap_type = "MVS",
          top_rate = 0.4)
})

test_that("what all configurations of a search share is checked value by value, and together in each of them", {
  tune <- function(...) {
    gbt_tune(mpg ~ ., mtcars, configs = 2, folds = 2, nrounds = 2, seed = 1, threads = 1, ...)
  }
  expect_error(tune(space = list(eta = c(0.1, 0.3)), depth = -1), "`max_depth` (given as `depth`)", fixed = TRUE,
               class = "gbt_error_argument")
  # a limit that only the space gives is enough
  found <- tune(space = list(max_leaves = c(4, 8)), max_depth = 0)
  expect_false(anyNA(found$results$estimate))
})
