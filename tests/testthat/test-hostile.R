# What nobody would do on purpose: each of these once crashed R, hung, lied or raised an error that told nothing.

x <- iris[1:4]
y <- iris$Sepal.Length
fit <- function(...) gbt_train(x, y, nrounds = 2, threads = 1, ...)

test_that("a model's bytes are kept alive themselves, not a copy of them", {
  model <- gbt_train(x, y, nrounds = 1, threads = 1, num_parallel_tree = 3000)
  used <- function() sum(gc(full = TRUE)["Vcells", 1L]) * 8
  before <- used()
  models <- lapply(1:5, function(i) gbt_train(x, y, nrounds = 1, threads = 1, num_parallel_tree = 3000, seed = i))
  bytes <- sum(vapply(models, function(m) length(m$state), 0))
  expect_gt(bytes, 5e6)
  expect_lt(used() - before, 1.3 * bytes)
})
