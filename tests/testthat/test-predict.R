numbers <- function() gbt_train(mtcars[-1], mtcars$mpg, nrounds = 5, threads = 1)
classes <- function() gbt_train(iris[-5], iris$Species, nrounds = 5, threads = 1)
two <- function(y) gbt_train(mtcars[c("mpg", "wt", "hp")], y, nrounds = 5, threads = 1, objective = "logistic")

test_that("shapes and names", {
  m <- numbers()
  p <- predict(m, mtcars)
  expect_identical(names(p), rownames(mtcars))
  expect_type(p, "double")
  expect_null(names(predict(m, as.list(mtcars) |> as.data.frame())))
  k <- classes()
  expect_identical(dimnames(predict(k, iris)), list(NULL, levels(iris$Species)))
  expect_equal(rowSums(predict(k, iris, type = "prob")), rep(1, 150))
  expect_identical(levels(predict(k, iris, type = "class")), levels(iris$Species))
  expect_identical(dim(predict(k, iris, type = "leaf")), c(150L, 15L))
  expect_type(predict(k, iris, type = "leaf"), "integer")
})

test_that("no rows give no predictions, one row gives that of the batch", {
  m <- numbers()
  k <- classes()
  expect_identical(unname(predict(m, mtcars[0, ])), numeric(0))
  expect_identical(dim(predict(k, iris[0, ])), c(0L, 3L))
  expect_identical(length(predict(k, iris[0, ], type = "class")), 0L)
  expect_identical(dim(predict(k, iris[0, ], type = "leaf")), c(0L, 15L))
  all <- predict(m, mtcars)
  for (i in 1:5) expect_identical(predict(m, mtcars[i, ]), all[i])
  all <- predict(k, iris)
  for (i in c(1, 60, 150)) expect_identical(predict(k, iris[i, ])[1, ], all[i, ])
})

test_that("columns are found by name, in any order, among others", {
  m <- numbers()
  p <- predict(m, mtcars)
  expect_identical(predict(m, mtcars[11:1]), p)
  expect_identical(predict(m, cbind(other = I(as.list(1:32)), mtcars)), p)
  expect_identical(predict(m, as.matrix(mtcars)), p)
  expect_identical(unname(predict(m, unname(as.matrix(mtcars[-1])))), unname(p))
})

test_that("types agree with each other", {
  k <- classes()
  p <- predict(k, iris)
  expect_identical(predict(k, iris, type = "prob"), p)
  expect_identical(as.integer(predict(k, iris, type = "class")), max.col(p, "first"))
  s <- predict(k, iris, type = "link")
  expect_equal(p, exp(s) / rowSums(exp(s)), tolerance = 1e-14)
  b <- two(factor(mtcars$vs, labels = c("V", "S")))
  q <- predict(b, mtcars)
  expect_identical(predict(b, mtcars, type = "prob")[, "S"], q)
  expect_identical(colnames(predict(b, mtcars, type = "prob")), c("V", "S"))
  expect_equal(q, stats::plogis(predict(b, mtcars, type = "link")), tolerance = 1e-14)
  expect_identical(predict(b, mtcars, type = "raw"), predict(b, mtcars, type = "link"))
})

test_that("classes come back as what they were", {
  f <- factor(mtcars$vs, labels = c("V", "S"))
  b <- predict(two(f), mtcars, type = "class")
  expect_identical(class(b), "factor")
  expect_identical(levels(b), c("V", "S"))
  expect_identical(unname(predict(two(as.character(f)), mtcars, type = "class")), as.character(b))
  expect_identical(unname(predict(two(f == "S"), mtcars, type = "class")), as.vector(b == "S"))
  expect_identical(unname(predict(two(mtcars$vs), mtcars, type = "class")), as.numeric(b == "S"))
  o <- predict(gbt_train(iris[-5], factor(iris$Species, ordered = TRUE), nrounds = 2), iris, type = "class")
  expect_s3_class(o, "ordered")
})

test_that("the lower class wins a tie", {
  set.seed(1)
  d <- data.frame(x = sample(2, 9000, TRUE))
  for (k in c(2, 3, 40)) {
    y <- factor(rep_len(seq_len(k), 9000)) # as many of each
    m <- gbt_train(d, y, objective = "softmax", nrounds = 3, max_depth = 1)
    for (trees in c(0, 3)) {
      p <- predict(m, d, type = "prob", trees = trees)
      expect_identical(as.integer(predict(m, d, type = "class", trees = trees)), max.col(p, "first"))
    }
    expect_true(all(predict(m, d, type = "class", trees = 0) == "1"))
  }
  even <- gbt_train(d, factor(rep(1:2, 4500)), nrounds = 1)
  expect_true(all(predict(even, d, type = "class", trees = 0) == "1"))
  expect_length(predict(even, d[0, , drop = FALSE], type = "class"), 0L)
})

test_that("trees takes the first rounds", {
  m <- numbers()
  for (k in 1:5) {
    first <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = k, threads = 1)
    expect_identical(predict(m, mtcars, trees = k), predict(first, mtcars))
  }
  expect_identical(unname(predict(m, mtcars, trees = 0)), rep(predict(m, mtcars, trees = 0)[[1]], 32))
  expect_identical(ncol(predict(m, mtcars, type = "leaf", trees = 2)), 2L)
})

test_that("offsets are added to scores", {
  m <- numbers()
  expect_identical(predict(m, mtcars, offset = rep(0, 32)), predict(m, mtcars))
  expect_equal(predict(m, mtcars, offset = 1:32), predict(m, mtcars) + 1:32)
  w <- gbt_train(mtcars[c("hp", "wt")], mtcars$carb, objective = "poisson", offset = log(mtcars$cyl), nrounds = 3,
                 threads = 1)
  expect_warning(predict(w, mtcars), class = "gbt_warning_offset")
  expect_no_warning <- function(x) expect_warning(x, NA)
  expect_no_warning(predict(w, mtcars, offset = log(mtcars$cyl)))
  expect_no_warning(predict(w, mtcars, type = "leaf"))
  k <- classes()
  o <- matrix(c(5, 0, 0), 150, 3, byrow = TRUE)
  expect_identical(predict(k, iris, type = "link", offset = o)[, 2:3], predict(k, iris, type = "link")[, 2:3])
})

test_that("a formula is evaluated in new data, its offset as well", {
  d <- data.frame(x = 1:50 + 0, e = rep(c(1, 2), 25))
  d$y <- round(d$e * (1 + (d$x > 25)))
  m <- gbt_train(y ~ log(x) + offset(log(e)), d, objective = "poisson", nrounds = 3, threads = 1)
  expect_warning(p <- predict(m, d), NA)
  n <- gbt_train(data.frame(`log(x)` = log(d$x), check.names = FALSE), d$y, offset = log(d$e), objective = "poisson",
                 nrounds = 3, threads = 1)
  expect_identical(p, predict(n, data.frame(`log(x)` = log(d$x), check.names = FALSE), offset = log(d$e)))
  expect_error(predict(m, d["x"]), "`e`", class = "gbt_error_data")
})

test_that("unseen levels follow `unseen`", {
  d <- data.frame(f = factor(rep(c("a", "b"), c(30, 10))), x = rep(1:2, 20))
  m <- gbt_train(d, as.numeric(d$f), nrounds = 3, threads = 1)
  new <- data.frame(f = c("z", NA, "a"), x = 1)
  p <- predict(m, new)
  expect_identical(p[1], p[3]) # most rows went the way of "a"
  expect_identical(predict(m, new, unseen = "missing")[1], p[2])
  expect_error(predict(m, new, unseen = "error"), "\"z\"", class = "gbt_error_data")
})

test_that("levels are matched by text whatever their order or type", {
  d <- data.frame(f = factor(sample(letters, 200, TRUE)))
  m <- gbt_train(d, as.integer(d$f) %% 3, nrounds = 3, threads = 1, min_data_per_group = 1)
  p <- predict(m, d)
  expect_identical(predict(m, data.frame(f = as.character(d$f))), p)
  expect_identical(predict(m, data.frame(f = factor(as.character(d$f), rev(letters)))), p)
  expect_identical(predict(m, data.frame(f = factor(d$f, c("!", letters, "?")))), p)
})

test_that("sparse and dense, integer and double rows have the same predictions", {
  skip_if_not_installed("Matrix")
  set.seed(1)
  X <- matrix(rpois(600, 0.5), 100)
  y <- X[, 1] + X[, 2]
  m <- gbt_train(X + 0, y, nrounds = 5, threads = 1)
  p <- predict(m, X + 0)
  expect_identical(predict(m, X), p)
  S <- methods::as(X + 0, "CsparseMatrix")
  expect_identical(predict(m, S), p)
  expect_identical(predict(m, methods::as(S, "RsparseMatrix")), p)
  s <- gbt_train(S, y, nrounds = 5, sparse_zero = "missing", threads = 1)
  expect_identical(predict(s, S), predict(s, ifelse(X == 0, NA, X + 0))) # the model remembers what zeros were
  expect_false(identical(predict(s, S, sparse_zero = "value"), predict(s, S)))
})

test_that("messages for wrong new data", {
  m <- numbers()
  k <- classes()
  x <- as.matrix(mtcars[-1])
  expect_snapshot(error = TRUE, {
    predict(m)
    predict(m, NULL)
    predict(m, sum)
    predict(m, x[1, ])
    predict(m, 1:3)
    predict(m, as.list(mtcars[1, ]))
    predict(m, mtcars[1:4])
    predict(m, x[, 1:3])
    predict(m, unname(x[, 1:3]))
    predict(m, array(0, c(2, 2, 2)))
    predict(m, gbt_data(x), type = "contrib")
    predict(m, transform(mtcars, hp = "a"))
    predict(m, cbind(mtcars, mtcars))
    predict(m, mtcars, type = "prob")
    predict(m, mtcars, type = "link", offset = 1)
    predict(k, iris, offset = rep(0, 150))
    predict(m, mtcars, trees = 6)
    predict(m, mtcars, trees = "all")
    predict(m, mtcars, ntrees = 6)
    predict(m, mtcars, unseen = "ignore")
  })
})

test_that("names of other packages' predict() are answered with the one here", {
  m <- gbt_train(am == 1 ~ wt + hp, mtcars, nrounds = 3, threads = 1)
  say <- function(text, ...) expect_error(predict(m, mtcars, ...), text, fixed = TRUE, class = "gbt_error_argument")
  say("no `ntree_limit`: `trees`", ntree_limit = 2)
  say("no `n.trees`: `trees`", n.trees = 2)
  say("no `predcontrib`: contributions", predcontrib = TRUE)
  expect_error(predict(m, data = mtcars), "`newdata`", fixed = TRUE, class = "gbt_error_argument")
  expect_identical(predict(m, mtcars, type = "margin"), predict(m, mtcars, type = "link"))
  expect_identical(predict(m, mtcars, type = "probability"), predict(m, mtcars, type = "prob"))
})

test_that("what a model keeps between predictions never shows", {
  x <- as.matrix(mtcars[-1])[rep(1:32, 40), ] + rep(0:39, each = 32) / 7
  m <- gbt_train(x[1:200, ], x[1:200, 1] * 2, nrounds = 40, threads = 1)
  fresh <- function(m) unserialize(serialize(m, NULL))
  whole <- predict(fresh(m), x)
  rows <- vapply(seq_len(60), function(i) unname(predict(fresh(m), x[i, , drop = FALSE])), 0)
  expect_identical(rows, unname(whole[1:60]))
  for (n in c(1, 20, 20, 50, 20, 1280, 1, 300)) {
    expect_identical(predict(m, x[seq_len(n), , drop = FALSE]), whole[seq_len(n)])
    for (k in c(0, 7, 40)) {
      expect_identical(predict(m, x[seq_len(n), , drop = FALSE], trees = k),
                       predict(fresh(m), x[seq_len(n), , drop = FALSE], trees = k))
    }
    expect_identical(predict(m, x[seq_len(n), , drop = FALSE], type = "leaf"),
                     predict(fresh(m), x, type = "leaf")[seq_len(n), , drop = FALSE])
  }
  other <- m[1:20]
  expect_identical(predict(other, x), predict(m, x, trees = 20))
  skip_on_os("windows")
  expect_identical(parallel::mclapply(1:2, function(i) predict(m, x, device = "cpu"), mc.cores = 2),
                   list(whole, whole)) # a forked process cannot use CUDA
})

test_that("a choice that is no text is refused in words", {
  m <- numbers()
  for (odd in list(mean, list("raw"), 1, NA, NA_character_, factor("raw"), quote(a), c("raw", "prob"), new.env())) {
    expect_error(predict(m, mtcars, type = odd), "`type` must be one of", class = "gbt_error_argument")
    expect_error(predict(m, mtcars, unseen = odd), "`unseen` must be one of", class = "gbt_error_argument")
    expect_error(gbt_importance(m, type = odd), "`type` must be one of", class = "gbt_error_argument")
  }
})

test_that("names of columns and classes are no paths for `output`", {
  i <- 1:40
  data <- data.frame(x = sin(i), u = i %% 5, v = cos(i))
  m <- gbt_train(cbind(u, v) ~ x, data, nrounds = 2, min_data_in_leaf = 1)
  folder <- tempfile()
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  expect_error(predict(m, data, output = "v"), "column of the model: choose it from the result",
               class = "gbt_error_argument")
  classes <- gbt_train(data["x"], factor(letters[i %% 3 + 1L]), nrounds = 2, min_data_in_leaf = 1)
  expect_error(predict(classes, data, output = "b"), "class of the model", class = "gbt_error_argument")
  expect_length(list.files(folder), 0L)
  predict(m, data, output = "./v")
  expect_identical(list.files(folder), "v")
})

test_that("exposures of several columns and negative weights are refused by name", {
  i <- 1:40
  data <- data.frame(x = sin(i), u = i %% 5, v = i %% 3, e = 1 + i %% 2)
  small <- list(nrounds = 2, min_data_in_leaf = 1)
  expect_error(do.call(gbt_train, c(list(cbind(u, v) ~ x, data, exposure = "e", objective = "poisson"), small)),
               "`exposure` is not offered for a response of several columns", class = "gbt_error_unsupported")
  offset <- matrix(log(data$e), 40, 2)
  m <- do.call(gbt_train, c(list(cbind(u, v) ~ x, data, offset = offset, objective = "poisson"), small))
  expect_error(predict(m, data, exposure = 2), "not offered for a response of several columns",
               class = "gbt_error_unsupported")
  one <- do.call(gbt_train, c(list(u ~ x, data, exposure = "e", objective = "poisson"), small))
  expect_error(predict(one, data, exposure = data$e, offset = 1), "`offset` has 1 value, but the exposure has 40",
               class = "gbt_error_data")
  for (weights in list(rep(-1, 40), -data$e, c(1, rep(-2, 39)))) {
    for (objective in c("squared_error", "poisson")) {
      expect_error(do.call(gbt_train, c(list(data["x"], data$u, weights = weights, objective = objective), small)),
                   "0 or more", class = "gbt_error_data")
    }
  }
})

test_that("rows with names are told how to be named for a model of a matrix without names", {
  x <- unname(as.matrix(mtcars[-1]))
  m <- gbt_train(x, mtcars$mpg, nrounds = 2, threads = 1)
  for (rows in list(mtcars[-1], as.matrix(mtcars[-1]))) {
    expect_error(predict(m, rows), "a matrix without column names.*colnames\\(x\\) <- variable.names\\(model\\)",
                 class = "gbt_error_data")
    colnames(rows) <- variable.names(m)
    expect_identical(unname(predict(m, rows)), predict(m, x))
  }
  some <- stats::setNames(mtcars[-1], c("f1", names(mtcars)[-(1:2)]))
  expect_error(predict(m, some), "columns that the model needs are missing: `f2`, .*[0-9`]$")
})
