# caret itself, where it is installed.

# caret::train() attaches caret and ggplot2, whose data other tests would find.
detach_later <- function(test = parent.frame()) {
  before <- search()
  withr::defer(for (name in setdiff(search(), before)) detach(name, character.only = TRUE), test)
}

test_that("caret rates the models that it would train", {
  skip_if_not_installed("caret")
  detach_later()
  folds <- list(a = 1:20, b = 13:32)
  control <- caret::trainControl("cv", index = folds, seeds = NA)
  rated <- function(nrounds) {
    grid <- expand.grid(nrounds = nrounds, max_depth = 3, eta = c(0.1, 0.3), gamma = 0, colsample_bytree = 1,
                        min_data_in_leaf = 1, subsample = 0.8)
    out <- caret::train(mtcars[-1], mtcars$mpg, method = gbt_caret(), tuneGrid = grid, trControl = control, threads = 1,
                        seed = 1)$results
    out[order(out$nrounds, out$eta), c("nrounds", "eta", "RMSE")]
  }
  expect_equal(rated(c(5, 40)), rbind(rated(5), rated(40)), ignore_attr = TRUE)
})

test_that("caret is told where one training cannot serve several numbers of rounds", {
  skip_if_not_installed("caret")
  detach_later()
  grid <- expand.grid(nrounds = c(5, 20), max_depth = 3, eta = 0.2, gamma = 0, colsample_bytree = 1,
                      min_data_in_leaf = 1, subsample = 0.8)
  of <- function(grid) {
    caret::train(mtcars[-1], mtcars$mpg, method = gbt_caret(), tuneGrid = grid, threads = 1, seed = 1, valid = 0.3,
                 early_stopping_rounds = 2, trControl = caret::trainControl("cv", number = 2))
  }
  said <- character()
  utils::capture.output(withCallingHandlers(try(of(grid), silent = TRUE), warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  }))
  expect_match(said, "give one value of it in `tuneGrid`", all = FALSE)
  expect_true(is.finite(suppressWarnings(of(grid[2, ]))$results$RMSE))
})
