# gbt_importance(type = "permutation").

made <- function(n = 120) {
  set.seed(4)
  x <- data.frame(a = rnorm(n), f = factor(sample(letters[1:4], n, TRUE)), t = sample(c("u", "v", NA), n, TRUE),
                  d = as.Date("2020-01-01") + sample(500, n, TRUE), l = runif(n) > 0.5, none = 1)
  x$y <- x$a + (x$f == "b") + as.numeric(x$d) / 300 + rnorm(n, 0, 0.1)
  x
}

# One column after the other, with metrics written out.
by_hand <- function(model, x, y, columns, repeats, seed, loss, ...) {
  vapply(columns, function(column) {
    mean(vapply(seq_len(repeats), function(k) {
      draw <- .Call(gbt:::C_gbt_row_draws, nrow(x), (seed + (k - 1) * 1000003) %% 2147483647, 0)
      other <- x
      for (one in column) other[[one]] <- x[[one]][order(draw)]
      loss(y, predict(model, other, threads = 1, ...)) - loss(y, predict(model, x, threads = 1, ...))
    }, 0))
  }, 0)
}

rmse <- function(y, p) sqrt(mean((y - p)^2))

test_that("importances are what permuting by hand gives, for all kinds of columns", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 10, max_depth = 3, seed = 1, threads = 1)
  got <- gbt_importance(m, "permutation", data = x, repeats = 3, seed = 7, threads = 2)
  expect_s3_class(got, c("gbt_importance_permutation", "data.frame"), exact = TRUE)
  expect_named(got, c("column", "importance", "lower", "upper"))
  expect_setequal(got$column, setdiff(names(x), "y"))
  want <- by_hand(m, x, x$y, stats::setNames(nm = got$column), 3, 7, rmse)
  expect_equal(got$importance, unname(want), tolerance = 1e-12)
  expect_false(is.unsorted(-got$importance))
  expect_identical(got$importance[got$column == "none"], 0)
  for (threads in c(1, 3)) {
    expect_identical(gbt_importance(m, "permutation", data = x, repeats = 3, seed = 7, threads = threads), got)
  }
  matrix_data <- as.matrix(x[c("a", "none")])
  m <- gbt_train(matrix_data, x$y, nrounds = 5, threads = 1)
  one <- gbt_importance(m, "permutation", data = matrix_data, y = x$y, seed = 2, threads = 1)
  two <- gbt_importance(m, "permutation", data = x, y = x$y, seed = 2, threads = 1)
  expect_identical(one, two)
  expect_identical(gbt_importance(m, "permutation", data = unname(matrix_data), y = x$y, seed = 2, threads = 1), two)
  testthat::skip_if_not_installed("Matrix")
  matrix_data[1:50, 1] <- 0
  sparse <- methods::as(matrix_data, "CsparseMatrix")
  expect_identical(gbt_importance(m, "permutation", data = sparse, y = x$y, seed = 2, threads = 1),
                   gbt_importance(m, "permutation", data = matrix_data, y = x$y, seed = 2, threads = 1))
})

test_that("groups, weights, offsets, metrics that are larger when better, classes", {
  x <- made()
  w <- sample(0:3, 120, TRUE)
  m <- gbt_train(x[c("a", "f", "d")], x$y, nrounds = 10, threads = 1)
  some <- w > 0 # others are not asked for their values
  loss <- function(y, p) sqrt(sum(w[some] * (y - p)^2) / sum(w))
  groups <- list(both = c("a", "f"), "d")
  got <- gbt_importance(m, "permutation", data = x, y = x$y, columns = groups, repeats = 2, seed = 3, weights = w,
                        offset = x$a, threads = 1)
  want <- by_hand(m, x[some, ], x$y[some], list(both = c("a", "f"), d = "d"), 2, 3, loss, offset = x$a[some])
  expect_equal(got$importance, unname(want[got$column]), tolerance = 1e-12)
  r2 <- function(y, p) -(1 - sum((y - p)^2) / sum((y - mean(y))^2))
  got <- gbt_importance(m, "permutation", data = x, y = x$y, metric = "r2", repeats = 2, seed = 3, threads = 1)
  expect_equal(got$importance, unname(by_hand(m, x, x$y, stats::setNames(nm = got$column), 2, 3, r2)),
               tolerance = 1e-12)
  m <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
  logloss <- function(y, p) -mean(log(p[cbind(seq_along(y), as.integer(y))]))
  got <- gbt_importance(m, "permutation", data = iris, repeats = 2, seed = 3, threads = 1)
  expect_equal(got$importance, unname(by_hand(m, iris, iris$Species, stats::setNames(nm = got$column), 2, 3, logloss)),
               tolerance = 1e-12)
  own <- gbt_metric("own", function(pred, label, weight) mean(label != max.col(pred) - 1))
  wrong <- function(y, p) mean(as.integer(y) != max.col(p))
  got <- gbt_importance(m, "permutation", data = iris, metric = own, repeats = 2, seed = 3, threads = 1)
  expect_equal(got$importance, unname(by_hand(m, iris, iris$Species, stats::setNames(nm = got$column), 2, 3, wrong)))
})

test_that("columns of a formula are those of the data, those that no tree uses cost no predictions", {
  x <- made()
  m <- gbt_train(y ~ log(a + 9) + poly(as.numeric(d), 2) + offset(l * 1), x, nrounds = 5, threads = 1)
  got <- gbt_importance(m, "permutation", data = x, repeats = 2, seed = 3, threads = 1)
  expect_setequal(got$column, c("a", "d", "l"))
  expect_equal(got$importance, unname(by_hand(m, x, x$y, stats::setNames(nm = got$column), 2, 3, rmse)),
               tolerance = 1e-12)
  calls <- 0
  one <- gbt_metric("calls", function(pred, label, weight) {
    calls <<- calls + 1
    mean((pred - label)^2)
  })
  m <- gbt_train(y ~ ., x, nrounds = 1, max_depth = 1, threads = 1)
  gbt_importance(m, "permutation", data = x, metric = one, repeats = 4, threads = 1)
  expect_identical(calls, 1 + 4)
})

test_that("folds judge by rows that they have not seen, and intervals are over folds", {
  x <- made()
  cv <- gbt_cv(y ~ ., x, folds = 3, nrounds = 5, seed = 1, keep_models = TRUE, threads = 1)
  got <- gbt_importance(cv, "permutation", data = x, repeats = 2, seed = 3, threads = 1)
  each <- vapply(1:3, function(k) {
    held <- x[cv$folds[[k]], ]
    by_hand(cv$models[[k]], held, held$y, stats::setNames(nm = got$column), 2, 3, rmse)
  }, numeric(6))
  expect_equal(got$importance, unname(rowMeans(each)), tolerance = 1e-12)
  half <- qt(0.975, 2) * apply(each, 1, sd) * sqrt(1 / 3 + 1 / 2)
  expect_equal(got$upper - got$importance, unname(half), tolerance = 1e-9)
  expect_output(print(got), "over folds")
  expect_snapshot(error = TRUE, {
    gbt_importance(gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, threads = 1), "permutation", data = x)
    gbt_importance(cv, "permutation", data = x[1:9, ])
  })
})

test_that("what is wrong is named", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_importance(m, "permutation")
    gbt_importance(m, "permutation", data = x, colums = "a")
    gbt_importance(m, "permutation", data = x, columns = "aa")
    gbt_importance(m, "permutation", data = x, metric = c("rmse", "mae"))
    gbt_importance(m, "permutation", data = x, metric = "rmze")
    gbt_importance(m, "permutation", data = x[-7])
    gbt_importance(m, "permutation", data = x, by = "feature")
    gbt_importance(m, data = x)
    gbt_importance(m, "permutation", data = x, level = 2)
    gbt_importance(m, "permutation", data = x[1, ])
  })
})

test_that("a metric without a value is an error that says so", {
  x <- made()
  m <- gbt_train(l ~ a + d, x, nrounds = 2, threads = 1)
  custom <- list(gradient = function(pred, label) pred - cbind(label, label), n_outputs = 2,
                 hessian = function(pred, label) matrix(1, nrow(pred), 2))
  two <- gbt_train(x["a"], x$y, objective = custom, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_importance(m, "permutation", data = x[x$l, ], metric = "auc")
    gbt_importance(two, "permutation", data = x["a"], y = x$y)
  })
})

test_that("names of columns are found in any encoding and locale", {
  x <- data.frame(y = mtcars$mpg, wt = mtcars$wt, hp = mtcars$hp)
  names(x)[2] <- iconv("\u00e4", "UTF-8", "latin1")
  plain <- stats::setNames(x, c("y", "wt", "hp"))
  m <- gbt_train(x[-1], x$y, nrounds = 3, threads = 1)
  twin <- gbt_train(plain[-1], x$y, nrounds = 3, threads = 1)
  withr::local_locale(LC_CTYPE = "C")
  for (name in c(names(x)[2], enc2utf8(names(x)[2]))) {
    names(x)[2] <- name
    for (data in list(x[-1], as.matrix(x[-1]))) {
      got <- gbt_importance(m, "permutation", data = data, y = x$y, columns = c(name, "hp"), seed = 1, threads = 1)
      want <- gbt_importance(twin, "permutation", data = plain[-1], y = x$y, seed = 1, threads = 1)
      expect_identical(got$importance, want$importance)
      expect_gt(min(got$importance), 0)
      expect_identical(gbt_partial(m, data, name, threads = 1)$effects$estimate,
                       gbt_partial(twin, plain[-1], "wt", threads = 1)$effects$estimate)
      expect_identical(gbt_interactions(m, data, c(name, "hp"), threads = 1)$size,
                       gbt_interactions(twin, plain[-1], threads = 1)$size)
    }
  }
})

test_that("of a cross-validation its rows are wanted, in their order", {
  x <- made()
  cv <- gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, keep_models = TRUE, threads = 1)
  expect_error(gbt_importance(cv, "permutation", data = x[rev(seq_len(nrow(x))), ]), "in another order",
               class = "gbt_error_data")
  x$y <- x$y + 1
  expect_error(gbt_importance(cv, "permutation", data = x), "they have other responses", class = "gbt_error_data")
})

test_that("a warning of a term is shown once, not for every permutation", {
  m <- suppressWarnings(gbt_train(mpg ~ log(wt - 2) + hp, mtcars, nrounds = 5, threads = 1))
  n <- 0
  withCallingHandlers(gbt_importance(m, "permutation", data = mtcars, seed = 1, threads = 1), warning = function(w) {
    n <<- n + 1
    invokeRestart("muffleWarning")
  })
  expect_identical(n, 1)
})

test_that("metrics of ranking look at queries, those of times at strata", {
  x <- transform(made(), q = rep(1:20, 6), g = findInterval(a, c(-0.5, 0.5)))
  train <- function(verb, ...) {
    verb(g ~ a + f + l, x, group = q, objective = "rank_ndcg", nrounds = 5, seed = 1, threads = 1, ...)
  }
  m <- train(gbt_train)
  value <- function(data) gbt_evaluate(m, data, group = x$q, metrics = "ndcg@10", threads = 1)$estimate
  draw <- order(.Call(gbt:::C_gbt_row_draws, nrow(x), 7, 0))
  got <- gbt_importance(m, "permutation", data = x, group = "q", repeats = 1, seed = 7, threads = 1)
  expect_equal(got$importance[got$column == "a"], value(x) - value(transform(x, a = a[draw])), tolerance = 1e-12)
  expect_identical(gbt_importance(m, "permutation", data = x, group = q, repeats = 1, seed = 7, threads = 1), got)
  cv <- train(gbt_cv, folds = 2, keep_models = TRUE)
  own <- vapply(1:2, function(k) {
    at <- cv$folds[[k]]
    gbt_evaluate(cv$models[[k]], x[at, ], group = "q", metrics = "ndcg@10", threads = 1)$estimate
  }, 0)
  expect_equal(attr(gbt_importance(cv, "permutation", data = x, group = q, threads = 1), "base"), mean(own))
  expect_snapshot(error = TRUE, gbt_importance(m, "permutation", data = x))
  expect_snapshot(error = TRUE, gbt_importance(m, "permutation", data = x, group = q, metric = "rmse"))

  skip_if_not_installed("survival")
  s <- survival::Surv(x$a + 5, x$l)
  m <- gbt_train(x[c("f", "d", "l")], s, strata = x$t %in% "u", nrounds = 3, threads = 1)
  got <- gbt_importance(m, "permutation", data = x, y = s, strata = x$t %in% "u", threads = 1)
  expect_identical(attr(got, "base"), gbt_evaluate(m, x, s, strata = x$t %in% "u", metrics = "cox_nloglik",
                                                   threads = 1)$estimate)
  expect_error(gbt_importance(m, "permutation", data = x, y = s), "give `strata`", class = "gbt_error_argument")
})
