# Rows of a folder whose pages are not all in memory are gathered when a tree draws some of them. A tree of one leaf
# needs no columns, so its draft on drawn rows goes to all rows by the way of columns.
test_that("trees of one leaf on few drawn rows are the same in a folder and in memory", {
  set.seed(40)
  n <- 255
  d <- data.frame(a = rnorm(n), b = runif(n))
  y <- factor(ifelse(rnorm(n) + d$a > 0, "b", "a"))
  fit <- function(...) {
    bins <- gbt_data(d, y, page_rows = 100, ...)
    gbt_train(bins, nrounds = 4, seed = 40, threads = 1, max_depth = 3, grow_policy = "symmetric", subsample = 0.05,
              min_data_in_leaf = 5, min_child_weight = 0)
  }
  path <- tempfile()
  on.exit(unlink(path, recursive = TRUE))
  expect_identical(predict(fit(path = path, memory = 0), d), predict(fit(), d))
})
