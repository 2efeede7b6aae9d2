# max_bin = "exact": a bin for each different value.

made <- function(n) {
  withr::with_seed(4, {
    d <- data.frame(x = rnorm(n), k = sample(50, n, TRUE), f = factor(sample(letters[1:5], n, TRUE)),
                    day = as.Date("2020-01-01") + sample(n))
    d$x[sample(n, 5)] <- NA
    d$y <- sin(3 * d$x) + d$k / 20 + rnorm(n) / 4
    d$y[is.na(d$y)] <- 0
    d
  })
}

test_that("every different value has its bin, in every way to train", {
  d <- made(2000)
  of <- function(data = d, ...) gbt_train(y ~ ., data, nrounds = 5, seed = 1, threads = 1, ...)
  m <- of(max_bin = "exact")
  expect_identical(m$params$max_bin, "exact")
  expect_identical(predict(m, d), predict(of(max_bin = 60000), d))
  expect_same_bytes(of(tree_method = "exact")$state, m$state)
  expect_same_bytes(of(max_bin = "Exact", page_rows = 100)$state, m$state)
  expect_same_bytes(of(params = m$params)$state, m$state)
  expect_same_bytes(update(m, data = d, nrounds = 5)$state, m$state)
  expect_same_bytes(gbt_refit(m, data = d, threads = 1)$state, m$state)
  expect_false(identical(of(max_bin = 255)$state, m$state))
  bins <- gbt_data(d[1:4], label = d$y, max_bin = "exact", threads = 1)
  on <- gbt_train(bins, nrounds = 5, seed = 1, threads = 1)
  expect_identical(on$params$max_bin, "exact")
  expect_identical(predict(on, d), predict(m, d))
  folder <- withr::local_tempdir()
  kept <- gbt_data(d[1:4], label = d$y, max_bin = "exact", path = file.path(folder, "bins"), threads = 1)
  expect_identical(predict(gbt_train(kept, nrounds = 5, seed = 1, threads = 1), d), predict(m, d))
  expect_identical(gbt_train(gbt_open(file.path(folder, "bins")), nrounds = 1, threads = 1)$params$max_bin, "exact")
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(gbt_load(file)$params$max_bin, "exact")
})

test_that("the best split of all is found", {
  d <- made(300)
  m <- gbt_train(d["x"], d$y, max_bin = "exact", nrounds = 1, max_depth = 1, eta = 1, lambda = 0, grad_bits = 32,
                 random_strength = 0, min_child_weight = 0, min_data_in_leaf = 1, threads = 1)
  at <- sort(unique(d$x))
  cuts <- (at[-1] + at[-length(at)]) / 2
  r <- d$y - mean(d$y)
  gain <- vapply(cuts, function(cut) {
    best <- vapply(c(TRUE, FALSE), function(missing_left) {
      left <- ifelse(is.na(d$x), missing_left, d$x <= cut)
      sum(r[left])^2 / sum(left) + sum(r[!left])^2 / sum(!left)
    }, 0)
    max(best)
  }, 0)
  expect_equal(gbt_tree(m, 1)$nodes$threshold[1], cuts[which.max(gain)])
})

test_that("a column with too many values is named", {
  d <- data.frame(few = rep_len(1:10, 65536), many = seq_len(65536) / 7)
  y <- d$few
  expect_error(gbt_train(d, y, max_bin = "exact", nrounds = 1, threads = 1), "`many`", class = "gbt_error_data")
  expect_error(gbt_data(d, label = y, max_bin = "exact", threads = 1), "more than 65534 different values",
               class = "gbt_error_data")
  d$many[1:2] <- d$many[3]
  expect_identical(gbt_train(d, y, max_bin = "exact", nrounds = 1, max_depth = 2, threads = 1)$params$max_bin, "exact")
  expect_snapshot(error = TRUE, {
    gbt_train(d, y, max_bin = "exakt", nrounds = 1)
    gbt_train(d, y, max_bin = 65536, nrounds = 1)
    gbt_data(d, max_bin = "all")
  })
})
