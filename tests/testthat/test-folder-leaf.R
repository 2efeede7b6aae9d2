# Rows of a folder whose pages are not all in memory are gathered when a tree draws some of them. A tree of one leaf
# needs no columns, so it is refitted on all rows by the way of columns, for which they must be train rows again.
test_that("trees of one leaf on few drawn rows are the same in a folder and in memory", {
  set.seed(40)
  n <- 255
  d <- data.frame(v3 = rnorm(n), v2 = factor(sample(letters[1:6], n, TRUE)), v4 = round(rnorm(n), 1))
  for (j in 5:17) d[[paste0("v", j)]] <- switch(j %% 3 + 1, rnorm(n), 1 * (runif(n) < 0.02), runif(n))
  y <- factor(ifelse(rnorm(n) + d$v3 > 0, "b", "a"))
  path <- tempfile()
  on.exit(unlink(path, recursive = TRUE))
  fit <- function(...) {
    bins <- gbt_data(d, y, max_bin = 2, page_rows = 100, ...)
    gbt_train(bins, objective = "logistic", nrounds = 4, seed = 40, threads = 1, max_depth = 3,
              grow_policy = "symmetric", subsample = 0.05, min_data_in_leaf = 5, min_child_weight = 0)
  }
  expect_identical(predict(fit(path = path, memory = 0), d), predict(fit(), d))
})
