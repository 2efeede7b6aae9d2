# gbt_interactions().

made <- function(n, seed = 1) {
  set.seed(seed)
  x <- data.frame(a = runif(n), b = round(runif(n), 1), c = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)))
  x$c[3] <- NA
  x$y <- (x$a - 0.5) * (x$b - 0.5) * 10 + (x$f == "v") * x$a + rnorm(n, 0, 0.1)
  x
}

# Partial dependence at each row, centred: a row after the other.
by_hand <- function(m, x, columns, ...) {
  out <- do.call(rbind, lapply(seq_len(nrow(x)), function(i) {
    u <- x
    for (name in columns) u[[name]] <- rep(x[[name]][i], nrow(x))
    colMeans(as.matrix(predict(m, u, ..., threads = 1)))
  }))
  scale(out, scale = FALSE)
}

share <- function(left, of) unname(colSums(left^2) / colSums(of^2))

expect_by_hand <- function(got, m, x, columns, ...) {
  own <- lapply(stats::setNames(nm = columns), function(name) by_hand(m, x, name, ...))
  whole <- scale(as.matrix(predict(m, x, ..., threads = 1)), scale = FALSE)
  for (name in columns) {
    at <- got$column == name & is.na(got$other)
    left <- whole - own[[name]] - by_hand(m, x, setdiff(m$feature_names, name), ...)
    expect_equal(got$h_squared[at], share(left, whole), tolerance = 1e-8)
    expect_equal(got$size[at], unname(sqrt(colMeans(left^2))), tolerance = 1e-8)
  }
  for (pair in utils::combn(columns, 2, simplify = FALSE)) {
    at <- got$column %in% pair & got$other %in% pair
    joint <- by_hand(m, x, pair, ...)
    expect_equal(got$h_squared[at], share(joint - own[[pair[1]]] - own[[pair[2]]], joint), tolerance = 1e-8)
  }
  expect_identical(nrow(got), as.integer(ncol(whole) * (length(columns) + choose(length(columns), 2))))
}

test_that("numbers are those of the formulas, a row after the other", {
  x <- made(30)
  m <- gbt_train(y ~ a + b + c + f, x, nrounds = 8, max_depth = 3, min_data_in_leaf = 2, threads = 1)
  got <- gbt_interactions(m, x, c("a", "b", "c", "f"), threads = 1)
  expect_by_hand(got, m, x, c("a", "b", "c", "f"), type = "link")
  for (part in split(got$size, is.na(got$other))) expect_false(is.unsorted(-part))
  expect_by_hand(gbt_interactions(m, x, c("f", "a"), trees = 4, threads = 1), m, x, c("f", "a"), trees = 4)
  x$y <- cut(x$y, 3, labels = c("low", "mid", "high"))
  m <- gbt_train(y ~ a + b + f, x, nrounds = 4, max_depth = 3, min_data_in_leaf = 2, threads = 1)
  for (type in c("link", "prob")) {
    got <- gbt_interactions(m, x, c("a", "b", "f"), type = type, threads = 1)
    expect_identical(levels(got$output), c("low", "mid", "high"))
    expect_by_hand(got, m, x, c("a", "b", "f"), type = type)
  }
})

test_that("what adds up has none, a product has much", {
  x <- made(200)
  m <- gbt_train(y ~ ., x, nrounds = 40, max_depth = 1, threads = 1)
  expect_true(all(gbt_interactions(m, x, rows = 40, seed = 1, threads = 1)$h_squared == 0))
  m <- gbt_train(y ~ I(a * b) + f, x, nrounds = 40, max_depth = 1, threads = 1) # a feature of two columns
  got <- gbt_interactions(m, x, rows = 40, seed = 1, threads = 1)
  expect_gt(got$h_squared[got$column == "a" & got$other %in% "b"], 0.01)
  expect_identical(got$h_squared[got$column == "f" & is.na(got$other)], 0)
  x$y <- (x$a - 0.5) * (x$b - 0.5)
  m <- gbt_train(y ~ a + b + f, x, nrounds = 60, max_depth = 3, lambda = 1, colsample_bytree = 1, threads = 1)
  got <- gbt_interactions(m, x, c("f", "b", "a"), rows = 60, seed = 1, threads = 1)
  expect_identical(unlist(as.data.frame(got)[4, c("column", "other")], use.names = FALSE), c("b", "a"))
  expect_gt(got$h_squared[4], 0.7)
  m <- gbt_train(y ~ a, x, nrounds = 5, threads = 1)
  expect_identical(as.data.frame(gbt_interactions(m, x, rows = 20, seed = 1)),
                   data.frame(column = "a", other = NA_character_, h_squared = 0, size = 0))
  expect_identical(nrow(gbt_interactions(m, x, trees = 0, rows = 9, seed = 1)), 0L)
})

test_that("effects that cancel in all rows have no share", {
  x <- data.frame(a = rep(c(0, 0, 1), 10), y = 0) # b is 1 - a in the rows to look at, not in those of training
  all <- data.frame(a = rep(0:1, 40), b = rep(c(0, 0, 1, 1), 20))
  all$y <- all$a + all$b
  m <- gbt_train(y ~ ., all, nrounds = 5, max_depth = 1, min_data_in_leaf = 1, lambda = 0, threads = 1)
  x$b <- 1 - x$a
  expect_identical(gbt_interactions(m, x, threads = 1)$h_squared, numeric(3)) # they add up
  all$y <- as.double(all$a == all$b)
  all$y[all$a == 1 & all$b == 1] <- 3
  m <- gbt_train(y ~ ., all, nrounds = 5, max_depth = 2, min_data_in_leaf = 1, lambda = 0, eta = 1, threads = 1)
  expect_equal(length(unique(predict(m, x))), 1L)
  got <- gbt_interactions(m, x, threads = 1)
  expect_true(all(is.na(got$h_squared)) && all(got$size > 0.1))
})

test_that("rows that are drawn, columns that are few, and what is done at a time", {
  x <- made(90)
  m <- gbt_train(y ~ ., x, nrounds = 10, max_depth = 3, threads = 1)
  got <- gbt_interactions(m, x, rows = 20, seed = 3, threads = 2)
  expect_identical(gbt_interactions(m, x, rows = 20, seed = 3, threads = 1), got)
  expect_false(identical(gbt_interactions(m, x, rows = 20, seed = 4, threads = 1)$h_squared, got$h_squared))
  few <- gbt_interactions(m, x, top = 3, rows = 20, seed = 3, threads = 1)
  expect_identical(sum(!is.na(few$other)), 3L)
  expect_setequal(c(few$column, few$other[!is.na(few$other)]), got$column[is.na(got$other)])
  expect_setequal(few$other[!is.na(few$other)] %in% got$column[1:3], TRUE)
  expect_identical(sum(!is.na(gbt_interactions(m, x, top = 1, rows = 9, seed = 3)$other)), 0L)
  size <- gbt:::cells_of_call
  on.exit(utils::assignInNamespace("cells_of_call", size, "gbt"))
  for (cells in c(1, 19, 20, 21, 40, 400)) {
    utils::assignInNamespace("cells_of_call", cells, "gbt")
    expect_equal(gbt_interactions(m, x, rows = 20, seed = 3, threads = 1), got, tolerance = 1e-10)
  }
  expect_output(print(got), "20 of 90 rows, drawn by seed 3")
  expect_output(print(got, top = 2), "(all others)", fixed = TRUE)
  u <- as.matrix(x[c("a", "b", "c")])
  m <- gbt_train(u, x$y, nrounds = 6, max_depth = 3, threads = 1)
  want <- gbt_interactions(m, u, rows = 20, seed = 3, threads = 1)
  frame <- data.frame(u)
  expect_identical(gbt_interactions(m, frame, rows = 20, seed = 3, threads = 1), want)
  testthat::skip_if_not_installed("Matrix")
  sparse <- methods::as(u, "CsparseMatrix")
  expect_equal(gbt_interactions(m, sparse, rows = 20, seed = 3, threads = 1), want, tolerance = 1e-10)
})

test_that("what is wrong is named", {
  x <- made(30)
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_interactions()
    gbt_interactions(m)
    gbt_interactions(m, x, "aa")
    gbt_interactions(m, x, c("a", "a"))
    gbt_interactions(m, x, type = "prob")
    gbt_interactions(m, x[1, ])
    gbt_interactions(m, x, rows = 1)
    gbt_interactions(m, x, top = -1)
    gbt_interactions(m, x, sead = 1)
  })
})
