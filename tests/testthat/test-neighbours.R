# Neighbours against a plain count of shared leaves.

plain <- function(m, x, new, k, self = FALSE) {
  a <- predict(m, x, type = "leaf", threads = 1)
  b <- predict(m, new, type = "leaf", threads = 1)
  out <- lapply(seq_len(nrow(b)), function(i) {
    share <- vapply(seq_len(nrow(a)), function(j) mean(a[j, ] == b[i, ]), 0)
    if (self) share[i] <- -1
    at <- order(-share, seq_along(share))[seq_len(k)]
    data.frame(row = i, rank = seq_len(k), neighbour = at, proximity = share[at])
  })
  do.call(rbind, out)
}

test_that("neighbours are those that share most leaves, however data are cut", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 6, threads = 1)
  classes <- gbt_train(Species ~ ., iris, nrounds = 2, max_depth = 2, threads = 1)
  whole <- gbt:::cells_of_leaves
  on.exit(utils::assignInNamespace("cells_of_leaves", whole, "gbt"))
  for (cells in c(1, 48, whole)) {
    utils::assignInNamespace("cells_of_leaves", cells, "gbt")
    expect_equal(gbt_neighbours(m, mtcars[1:20, ], mtcars[21:32, ], 3, threads = 1),
                 plain(m, mtcars[1:20, ], mtcars[21:32, ], 3))
    expect_equal(gbt_neighbours(m, mtcars, k = 4, threads = 1), plain(m, mtcars, mtcars, 4, TRUE))
  }
  expect_equal(gbt_neighbours(classes, iris, iris[c(2, 77), ], 8, threads = 1),
               plain(classes, iris, iris[c(2, 77), ], 8))
  for (n in c(1:3, 8, 9)) for (k in unique(c(1, n))) {
    expect_equal(gbt_neighbours(m, mtcars[seq_len(n), ], mtcars[c(3, 9), ], k, threads = 1),
                 plain(m, mtcars[seq_len(n), ], mtcars[c(3, 9), ], k))
  }
  expect_equal(gbt_neighbours(m, mtcars[1:2, ], k = 1, threads = 1)$neighbour, c(2, 1))
  x <- as.matrix(mtcars[-1])
  matrix <- gbt_train(x, mtcars$mpg, nrounds = 6, threads = 1)
  expect_equal(gbt_neighbours(matrix, x, x[1:3, ], 2, threads = 2), plain(matrix, x, x[1:3, ], 2))
  one <- gbt_neighbours(m, mtcars, mtcars[5, ], 2, trees = 1, threads = 1)
  leaf <- predict(m, mtcars, type = "leaf", trees = 1, threads = 1)[, 1]
  expect_identical(one$neighbour, unname(which(leaf == leaf[5])[1:2]))
  expect_identical(one$proximity, c(1, 1))
})

test_that("what has no neighbours is refused in words", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_neighbours()
    gbt_neighbours(m)
    gbt_neighbours(m, mtcars[0, ])
    gbt_neighbours(m, mtcars[1:3, ], k = 3)
    gbt_neighbours(m, mtcars[1, ], k = 1)
    gbt_neighbours(m, mtcars[1:3, ], mtcars, k = 4)
    gbt_neighbours(m, mtcars, mtcars[-3])
    gbt_neighbours(m, mtcars, K = 3)
    gbt_neighbours(m[0], mtcars)
  })
})
