X <- as.matrix(mtcars[-1])
y <- mtcars$mpg

test_that("data in every form give one model", {
  state <- function(x, ...) gbt_train(x, y, ..., nrounds = 5, threads = 1)$state
  first <- state(X)
  expect_same_bytes(state(mtcars[-1]), first)
  expect_same_bytes(state(X, page_rows = 5), first)
  expect_same_bytes(gbt_train(X, y, nrounds = 5, threads = 2)$state, first)
  expect_same_bytes(gbt_train(gbt_data(X, label = y, threads = 1), nrounds = 5, threads = 1)$state, first)
  expect_same_bytes(gbt_train(gbt_data(X, threads = 1), y, nrounds = 5, threads = 1)$state, first)
  skip_if_not_installed("Matrix")
  for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
    expect_same_bytes(state(methods::as(X, class)), first)
  }
  skip_if_not_installed("data.table")
  expect_same_bytes(state(data.table::as.data.table(mtcars[-1])), first)
  skip_if_not_installed("tibble")
  expect_same_bytes(state(tibble::as_tibble(mtcars[-1])), first)
})

test_that("the seed comes from R's generator only when something is random", {
  state <- function(...) gbt_train(X, y, ..., nrounds = 3, threads = 1)$state
  set.seed(1)
  before <- .Random.seed
  a <- state()
  expect_identical(.Random.seed, before)
  for (part in c("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")) {
    args <- stats::setNames(list(0.5), part)
    set.seed(1)
    a <- do.call(state, args)
    expect_false(identical(.Random.seed, before))
    b <- do.call(state, args)
    set.seed(1)
    expect_same_bytes(do.call(state, args), a)
    expect_false(identical(a, b))
    args$seed <- 12
    expect_same_bytes(do.call(state, args), do.call(state, args))
  }
  expect_identical(gbt_train(X, y, nrounds = 1, threads = 1)$params$seed, 0)
})

test_that("the data of a gbt_data do not leak from one training into the next", {
  d <- gbt_data(X, label = y, threads = 1)
  first <- gbt_train(d, nrounds = 3, threads = 1)$state
  other <- gbt_train(d, mtcars$hp, weights = mtcars$wt, offset = mtcars$qsec, nrounds = 3, threads = 1)
  expect_true(other$has_offset)
  expect_same_bytes(gbt_train(d, nrounds = 3, threads = 1)$state, first)
  expect_error(gbt_train(d, max_bin = 5), class = "gbt_error_argument")
  expect_error(gbt_train(gbt_data(X, threads = 1)), "no label", class = "gbt_error_argument")
})

test_that("going on from a model is training in one go", {
  d <- flights[seq(1, nrow(flights), 20), ]
  train <- function(...) gbt_train(late ~ ., d, ..., cat_method = "sets", subsample = 0.7, seed = 3, threads = 1)
  whole <- train(nrounds = 12, eval_train = TRUE)
  half <- train(nrounds = 5, eval_train = TRUE)
  expect_same_bytes(train(nrounds = 7, init_model = half, eval_train = TRUE)$state, whole$state)
  valid <- train(nrounds = 7, init_model = half, valid = d[1:100, ])
  yes <- as.numeric(d$late[1:100]) - 1
  p <- predict(valid, d[1:100, ])
  expect_identical(valid$evaluation_log$round, 6:12)
  expect_equal(valid$evaluation_log$valid_logloss[7], -mean(yes * log(p) + (1 - yes) * log(1 - p)), tolerance = 1e-12)
  # from where it predicts
  stopped <- train(nrounds = 60, valid = 0.3, eta = 0.9, early_stopping_rounds = 4)
  expect_identical(train(nrounds = 2, init_model = stopped)$nrounds, stopped$best_round + 2L)
  more <- train(nrounds = 60, valid = 0.3, eta = 0.5, early_stopping_rounds = 2, init_model = half)
  expect_gt(more$best_round, 5)
})

test_that("going on with other levels keeps what was learned of the old ones", {
  d <- data.frame(a = factor(rep(c("u", "v", "w", "x"), c(40, 30, 20, 10))), b = rep(c("p", "q"), 50))
  y <- as.integer(d$a) + (d$b == "q")
  train <- function(d, y, ...) {
    gbt_train(d, y, ..., nrounds = 20, max_cat_onehot = 1, min_data_per_group = 1, threads = 1)
  }
  first <- train(d, y, eta = 0.5)
  # other rows, other order of levels, one level gone, one new
  new <- data.frame(a = factor(rep(c("x", "new", "v", "u"), c(50, 20, 20, 10))), b = rep(c("q", "p"), 50))
  for (eta in c(0.5, 1e-9)) { # the second: all but nothing is added
    more <- train(new, rep(3, 100), eta = eta, init_model = first, eval_metric = "rmse")
    expect_equal(more$evaluation_log$train_rmse[20], sqrt(mean((predict(more, new) - 3)^2)), tolerance = 1e-12)
  }
  known <- d[d$a != "w", ]
  expect_equal(predict(more, known), predict(first, known), tolerance = 1e-6)
  expect_equal(predict(more, new), predict(first, new), tolerance = 1e-6)
})

test_that("a model that does not fit is no start", {
  m <- gbt_train(X, y, nrounds = 2, grow_policy = "depthwise", max_depth = 6, lambda = 1, colsample_bytree = 1,
                 threads = 1)
  go <- function(x = X, r = y, init = m, ...) gbt_train(x, r, init_model = init, nrounds = 1, threads = 1, ...)
  f <- data.frame(a = factor(c("u", "v", "v")))
  expect_snapshot(error = TRUE, {
    go(init = 3)
    go(X[, -1])
    go(cbind(X, new = 1))
    go(gbt_data(X[, 10:1], threads = 1), y)
    go(r = factor(y > 20))
    go(offset = y)
    go(num_parallel_tree = 2)
    go(gbt_data(X[1:9, ], threads = 1), y[1:9])
    go(data.frame(a = 1:3), 1:3, gbt_train(f, 1:3, nrounds = 1, threads = 1))
    go(data.frame(a = ordered(c("v", "u", "v"), c("v", "u"))), 1:3, gbt_train(
      data.frame(a = ordered(c("v", "u", "v"))), 1:3, nrounds = 1, threads = 1))
    go(iris[1:100, -5], droplevels(iris$Species[1:100]), gbt_train(iris[51:150, -5], droplevels(iris$Species[51:150]),
                                                                   nrounds = 1, threads = 1))
  })
})

test_that("constraints reach the trees", {
  m <- gbt_train(mpg ~ ., mtcars, monotone = c(wt = 1), nrounds = 10, threads = 1)
  d <- mtcars[rep(1, 50), ]
  d$wt <- seq(1, 6, length.out = 50)
  expect_true(all(diff(predict(m, d)) >= 0))
  groups <- list(c("wt", "hp"), c("cyl", "disp"))
  m <- gbt_train(mpg ~ ., mtcars, interactions = groups, nrounds = 10, threads = 1)
  by_position <- list(match(groups[[1]], names(mtcars)[-1]), match(groups[[2]], names(mtcars)[-1]))
  expect_same_bytes(gbt_train(mpg ~ ., mtcars, interaction_constraints = by_position, nrounds = 10, threads = 1)$state,
                   m$state)
  nodes <- as.data.frame(m)
  for (tree in split(nodes, nodes$tree)) {
    paths <- vector("list", nrow(tree))
    for (i in which(!is.na(tree$feature))) {
      below <- union(paths[[i]], tree$feature[i])
      paths[c(tree$left[i], tree$right[i]) + 1L] <- list(below)
      expect_true(length(below) == 1L || any(vapply(groups, function(s) all(below %in% s), NA)))
    }
  }
  m <- gbt_train(mpg ~ ., mtcars, feature_weights = c(wt = 0), colsample_bynode = 0.5, seed = 1, nrounds = 10,
                 threads = 1)
  expect_identical(gbt_importance(m)$gain[gbt_importance(m)$feature == "wt"], 0)
})

test_that("only the ratios of feature weights matter, however large or small they are", {
  nodes <- function(scale) {
    w <- c(4, 1, 1, 1, 1, 0.5, 0.25, 1, 2, 0)
    as.data.frame(gbt_train(X, y, feature_weights = w * scale, colsample_bynode = 0.3, seed = 1, nrounds = 5,
                            threads = 1))
  }
  first <- nodes(1)
  for (scale in 2^c(-660, -100, 3, 660)) expect_identical(nodes(scale), first) # powers of 2 round nothing
  for (wrong in c(1e300, 1e201, .Machine$double.xmax, Inf, 1e-201, 5e-324, -1)) {
    e <- expect_error(nodes(wrong), class = "gbt_error_argument")
    expect_identical(e$parameter, "feature_weights")
  }
})

test_that("numbers with which no split could be found are errors, at any scale above and below none", {
  n_nodes <- function(y, ...) nrow(as.data.frame(gbt_train(X, y, ..., nrounds = 2, threads = 1)))
  whole <- n_nodes(y)
  for (scale in 10^c(-140, -80, 80, 145)) {
    expect_identical(n_nodes(y * scale), whole)
    expect_identical(n_nodes(y, weights = rep(scale, 32), lambda = 0, min_child_weight = 0),
                     n_nodes(y, weights = rep(1, 32), lambda = 0, min_child_weight = 0))
  }
  for (scale in c(1e-200, 1e-160, 1e153, 1e300)) {
    e <- expect_error(n_nodes(y * scale), "response spans", class = "gbt_error_data")
    expect_identical(e$column, "y")
    for (response in list(y, y > 20, cut(y, 3), round(y))) {
      e <- expect_error(n_nodes(response, weights = rep(scale, 32)), "weights", class = "gbt_error_data")
      expect_identical(e$column, "weights")
    }
    if (scale < 1) next
    e <- expect_error(n_nodes(y, offset = rev(y) * scale), "`offset` spans", class = "gbt_error_data")
    expect_identical(e$column, "offset")
  }
  expect_error(n_nodes(round(y) * 1e155, objective = "poisson"), "response spans", class = "gbt_error_data")
  expect_error(n_nodes(y * 1e100, weights = rep(1e100, 32)), class = "gbt_error_data")
  expect_identical(n_nodes(y * 1e100, weights = rep(1e-100, 32), lambda = 0, min_child_weight = 0),
                   n_nodes(y, weights = rep(1, 32), lambda = 0, min_child_weight = 0))
  # a constant needs no split, and functions of the user's may scale as they like
  expect_identical(n_nodes(rep(1e300, 32)), 2L)
  own <- list(gradient = function(score, label) score - label / 1e200, hessian = function(score, label) rep(1, 32))
  expect_gt(n_nodes(y * 1e200, objective = own), 2L)
  expect_snapshot(error = TRUE, {
    n_nodes(y * 1e200)
    n_nodes(y > 20, weights = rep(1e-200, 32))
  })
})

test_that("weights too light for `min_child_weight` are warned of", {
  depth <- function(w, ...) max(as.data.frame(gbt_train(X, y, weights = w, ..., nrounds = 2, threads = 1))$node)
  expect_warning(none <- depth(rep(1 / 32, 32)), class = "gbt_warning_weights")
  expect_identical(none, 0L)
  expect_snapshot(depth(rep(1 / 32, 32), min_child_weight = 3))
  expect_silent({
    depth(rep(1 / 32, 32), min_child_weight = 0.5)
    depth(rep(1 / 32, 32), min_child_weight = 0)
    depth(rep(1, 32))
  })
  expect_no_warning(gbt_train(X[1, , drop = FALSE], 1, weights = 0.1, nrounds = 1, threads = 1),
                    class = "gbt_warning_weights")
})

test_that("arguments about features are errors that help", {
  train <- function(...) gbt_train(X, y, ..., nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    train(monotone = c(cyll = 1))
    train(monotone = c(cyl = 2))
    train(monotone = c(1, 0))
    train(monotone = c(cyl = 1, cyl = 1))
    train(monotone = "(1,0)")
    train(interactions = list("cyl", "foo"))
    train(interactions = "cyl")
    train(interactions = list(c(1, 20)))
    train(feature_weights = c(cyl = -1))
    train(feature_weights = rep(0, 10))
    train(feature_weights = c(wt = 1e300))
    train(feature_weights = c(wt = NA))
    train(mtry = 11)
    gbt_train(iris[-1], iris$Sepal.Length, monotone = c(Species = 1), threads = 1)
    train(weights = 1:3)
    train(weights = replace(y, 2, NA))
    train(weights = 0 * y)
    train(offset = 1:3)
    train(offset = replace(y, 2, NA))
    train(callbacks = 3)
  })
  expect_silent(gbt_train(iris[-1], iris$Sepal.Length, cat_features = "Species", nrounds = 1, threads = 1))
})

test_that("data that are no data are errors that help", {
  expect_snapshot(error = TRUE, {
    gbt_train()
    gbt_train(X)
    gbt_train(list(1), 1)
    gbt_train(1:3, 1:3)
    gbt_train("a", 1)
    gbt_train(NULL, 1)
    gbt_train(mean, 1)
    gbt_train(X[, 0], y)
    gbt_train(X[0, ], y[0])
  })
})

test_that("small data are learned", {
  m <- gbt_train(X[1, , drop = FALSE], y[1], nrounds = 2, threads = 1)
  expect_identical(unname(predict(m, X[1, , drop = FALSE])), y[1])
  m <- gbt_train(data.frame(a = rep(1, 32), b = NA_real_), y, nrounds = 2, threads = 1)
  expect_equal(predict(m, data.frame(a = 1, b = NA)), mean(y))
  expect_identical(gbt_train(X[, 1, drop = FALSE], y, nrounds = 2, threads = 1)$feature_names, "cyl")
})

test_that("very many columns are no trouble", {
  skip_on_cran()
  set.seed(1)
  x <- as.data.frame(matrix(rnorm(1e6), 10))
  x$y <- rnorm(10)
  m <- gbt_train(y ~ ., x, nrounds = 2, min_data_in_leaf = 1, threads = 2)
  expect_length(m$feature_names, 1e5)
  expect_identical(as.data.frame(m), as.data.frame(gbt_train(x[-100001], x$y, nrounds = 2, threads = 1)))
})

test_that("time can be limited", {
  d <- flights[1:5000, ]
  m <- gbt_train(late ~ ., d, nrounds = 1e6, max_seconds = 0.3, threads = 1)
  expect_gt(m$nrounds, 0)
  expect_lt(m$nrounds, 1e6)
  m <- gbt_train(late ~ ., d, nrounds = 1e6, max_seconds = 0.3, threads = 1, callbacks = function(now) Sys.sleep(0.1))
  expect_lt(m$nrounds, 10)
})

test_that("Ctrl-C gives the model so far", {
  skip_on_os("windows")
  skip_on_cran()
  train <- function(nrounds, ...) { # a shape that is given, as a race has no rounds to return
    gbt_train(late ~ ., flights, nrounds = nrounds, grow_policy = "symmetric", max_depth = 6, threads = 1, ...)
  }
  two_rounds <- system.time(train(2))[["elapsed"]]
  interrupted <- function(...) {
    for (seconds in c(0.3, 3, 30) + 5 * two_rounds) { # late enough for some rounds, also where the machine is busy
      system(sprintf("(sleep %.2f; kill -INT %d) >/dev/null 2>&1 &", seconds, Sys.getpid()))
      caught <- tryCatch(train(1e6, ...), interrupt = identity)
      if (!is.null(caught$model)) break
    }
    caught
  }
  for (callbacks in list(NULL, function(now) Sys.sleep(0.01))) {
    c <- interrupted(callbacks = callbacks)
    expect_s3_class(c, c("gbt_interrupt", "interrupt", "condition"), exact = TRUE)
    m <- c$model
    expect_s3_class(m, "gbt")
    expect_gt(m$nrounds, 0)
    expect_identical(nrow(m$evaluation_log), m$nrounds)
    expect_same_bytes(gbt_last_interrupted()$state, m$state)
    expect_same_bytes(train(m$nrounds, eta = m$params$eta)$state, m$state)
  }
})

test_that("the formula may come by its name, behind the data", {
  m <- gbt_train(mpg ~ hp + disp, mtcars, weights = wt, nrounds = 3, threads = 1)
  expect_same_bytes(gbt_train(data = mtcars, formula = mpg ~ hp + disp, weights = wt, nrounds = 3, threads = 1)$state,
                    m$state)
  wrapper <- function(d, ...) gbt_train(nrounds = 3, data = d, formula = mpg ~ hp + disp, ...)
  expect_same_bytes(wrapper(mtcars, weights = mtcars$wt, threads = 1)$state, m$state)
  expect_error(gbt_train(data = mtcars, nrounds = 3), "`x` is missing", class = "gbt_error_argument")
})
