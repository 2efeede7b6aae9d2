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
  skip_if_not(long_form(), "70,000 columns are in test-alive.R")
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

test_that("calls in the form of other packages are shown as gbt takes them", {
  says <- function(expr, text, parameter = "x") {
    e <- tryCatch(expr, error = identity)
    expect_s3_class(e, "gbt_error_argument")
    expect_identical(e$parameter, parameter)
    expect_match(conditionMessage(e), text, fixed = TRUE)
  }
  d <- mtcars
  y <- d$mpg
  named <- "the response is named by a formula, and then come the data: gbt_train(mpg ~ ., data = d)"
  says(gbt_train(data = d, target = "mpg"), paste("`x` is missing:", named))
  says(gbt_train(data = d, target = mpg), named)
  says(gbt_train(data = d, label = d$mpg), named)
  says(gbt_train(training_frame = d, response.column = "mpg"), named)
  says(gbt_train(d, target = "mpg"), paste("`y` is missing:", named), "y")
  says(gbt_train(d, outcome = d[["mpg"]]), named, "y")
  says(gbt_train(d, mpg), paste("`y`: there is no object `mpg`; it is a column of the data, so", named), "y")
  says(gbt_train(d, mgp), "`y`: there is no object `mgp`; did you mean `mpg`?", "y")
  says(gbt_train(data = d, y = "fuel used"), "gbt_train(`fuel used` ~ ., data = d)")
  says(gbt_train(data = d[-1], label = log(y)), "first two arguments: gbt_train(d[-1], log(y))")
  says(gbt_train(X = d[-1], y_train = c(y, NULL)), "first two arguments: gbt_train(d[-1], c(y, NULL))")
  says(gbt_train(data = d), "a formula comes first, and then the data: gbt_train(response ~ ., data = d)")
  says(gbt_cv(data = d, target = "mpg"), "then come the data: gbt_cv(mpg ~ ., data = d)")
  says(gbt_tune(d), "gbt_tune(x, y), or a formula, gbt_tune(y ~ ., data)", "y")
  says(gbt_train(target = "mpg"), "gbt_train(x, y) with a data frame or a matrix")
  long <- "gbt_train(mpg ~ ., data = data)"
  says(gbt_train(data = subset(d, cyl > 4 & hp < 200 & wt > 1 & disp > 0), target = "mpg"), long)
  says(do.call(gbt_train, list(data = d, target = "mpg")), long)
})

test_that("responses that are given in a wrong way are told what they are", {
  says <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "gbt_error")
  d <- mtcars
  says(gbt_train(c(mpg, hp) ~ ., d), "a response of several columns is cbind(mpg, hp), not c(mpg, hp)")
  says(gbt_train(list(mpg, hp) ~ ., d), "a response of several columns is cbind(mpg, hp), not list(mpg, hp)")
  says(gbt_train(cbind(mpg, dips) ~ ., d), "did you mean `disp`?")
  mpgs <- 1:3
  says(gbt_train(mpgs ~ ., d), paste("`mpgs` is not a column of the data, and the variable of this name has 3 values",
                                     "for 32 rows; did you mean `mpg`?"))
  says(gbt_train(log(mgp) ~ ., d), "did you mean `mpg`?")
  says(gbt_train(d[-1], replace(d$mpg, 3, Inf)), "1 infinite value, the first in row 3; leave such rows out")
  d$text <- as.character(d$mpg)
  expect_message(m <- gbt_train(text ~ wt, d, nrounds = 1, threads = 1), "25 classes; for numbers: as.numeric(y)",
                 fixed = TRUE, class = "gbt_message")
  expect_length(m$classes, 25)
  expect_no_message(gbt_train(text ~ wt, d, objective = "softmax", nrounds = 1, threads = 1))
  d$text <- as.character(d$cyl)
  expect_no_message(gbt_train(text ~ wt, d, nrounds = 1, threads = 1))
  file <- tempfile(fileext = ".csv")
  write.csv(mtcars, file)
  says(gbt_train(mpg ~ ., file), "not a character vector; read the file first, as by read.csv(")
  says(gbt_train(mpg ~ ., d, nrounds = as.Date("2020-01-01")), "not an object of class \"Date\"")
  says(gbt_tune(mpg ~ ., d, space = expand.grid(eta = c(0.1, 0.2))), "`space` must be a list, not a data frame")
  expect_message(suppressWarnings(gbt_train(mpg ~ ., mtcars[1, ], threads = 1)), "100 rounds on the only row")
})

test_that("columns that are named without quotation marks are shown as texts", {
  says <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "gbt_error_argument")
  d <- mtcars
  m <- gbt_train(mpg ~ ., d, nrounds = 2, threads = 1)
  says(gbt_partial(m, d, hp), "`columns`: there is no object `hp`; names of columns are texts: columns = \"hp\"")
  says(gbt_partial(m, d, c(hp, wt)), "columns = c(\"hp\", \"wt\")")
  says(gbt_partial(m, d, hhp), "`columns`: there is no object `hhp`; did you mean \"hp\"")
  says(gbt_partial(m, d, sum), "`columns` must be names of columns, such as \"cyl\", not a function")
  says(gbt_interactions(m, d, c(hp, wt)), "columns = c(\"hp\", \"wt\")")
  says(gbt_importance(m, "permutation", data = d, columns = hp), "columns = \"hp\"")
  says(plot(gbt_shap(m, d), against = hp), "against = \"hp\"")
  says(plot(gbt_shap(m, d), against = "hp", by = wt), "by = \"wt\"")
  says(gbt_report(m, d, "x.html", by = cyl), "by = \"cyl\"")
  says(gbt_report(m, d, "x.html", by = "cly"), "did you mean `cyl`")
  says(gbt_train(mpg ~ ., d, cat_features = cyl), "cat_features = \"cyl\"")
  says(gbt_train(d[-1], d$mpg, cat_features = c(cyl, gear)), "cat_features = c(\"cyl\", \"gear\")")
  says(gbt_data(d[-1], label = mpgg), "`label`: there is no object `mpgg`")
  its_values <- "there is no object `wt`; it is a column of the data: give its values, as data$wt"
  says(gbt_data(d[-1], weight = wt), paste("`weight`:", its_values))
  says(predict(m, d, offset = wt), paste("`offset`:", its_values))
  says(predict(m, d, exposure = wt), "give its name as a text, exposure = \"wt\"")
  expect_error(gbt_partial(m, d, stop("of the user's own")), "of the user's own")
  expect_error(gbt_data(d[-1], weight = d[, "none"]), "undefined columns selected", fixed = TRUE)
  own <- function(wt) stop("wt must be positive")
  expect_error(gbt_data(d[-1], weight = own(wt)), "wt must be positive", fixed = TRUE)
  column <- "hp"
  expect_identical(gbt_partial(m, d, column, threads = 1), gbt_partial(m, d, "hp", threads = 1))
  skip_if_not_installed("data.table")
  file <- tempfile(fileext = ".csv")
  write.csv(d, file)
  says(gbt_files(file, label = mpg), "label = \"mpg\"")
})
