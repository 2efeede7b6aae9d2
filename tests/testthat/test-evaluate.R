# Metrics of a model on data: gbt_evaluate().

made <- function(n = 400, seed = 3) {
  set.seed(seed)
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters[1:5], n, TRUE)), w = sample(1:3, n, TRUE))
  x$y <- x$a + (x$f %in% c("a", "e")) + rnorm(n)
  x$count <- rpois(n, exp(0.3 * x$a))
  x$two <- factor(ifelse(x$y > 0, "yes", "no"))
  x$three <- cut(x$y, c(-Inf, -0.5, 0.8, Inf), c("low", "mid", "high"))
  x
}

test_that("estimates are the numbers of the log, for all kinds of objectives", {
  train <- made()
  new <- made(301, 4)
  ways <- list(
    list("y", "squared_error", c("rmse", "mae", "r2", "gini")),
    list("two", "logistic", c("auc", "logloss", "error@0.3")),
    list("three", "softmax", c("mlogloss", "merror", "f1")), list("count", "poisson", c("poisson_deviance", "rmse")),
    list("y", "quantile", c("quantile", "coverage"))
  )
  for (way in ways) {
    f <- stats::as.formula(paste(way[[1]], "~ a + b + f"))
    for (weight in list(NULL, new$w)) {
      valid <- list(x = new, y = new[[way[[1]]]], weight = weight)
      m <- gbt_train(f, train, nrounds = 5, objective = way[[2]], valid = valid, eval_metric = way[[3]], threads = 1)
      e <- gbt_evaluate(m, new, metrics = way[[3]], weights = weight, threads = 2)
      expect_identical(e$metric, way[[3]])
      expect_identical(e$estimate, unlist(m$evaluation_log[5, -1], use.names = FALSE))
      expect_identical(e$rows, rep(301L, length(way[[3]])))
      expect_true(all(is.na(e$lower)))
      given <- gbt_evaluate(m, new[c("a", "b", "f")], new[[way[[1]]]], metrics = way[[3]], weights = weight,
                            threads = 1)
      expect_identical(given, e)
    }
  }
  m <- gbt_train(count ~ a + f, train, objective = "poisson", offset = log(w), nrounds = 5, threads = 1,
                 valid = list(x = new, y = new$count, offset = log(new$w)))
  e <- gbt_evaluate(m, new, metrics = "poisson_deviance", offset = log(w), threads = 1)
  twice <- gbt_evaluate(m, new, offset = log(new$w), threads = 1)
  expect_identical(twice$estimate[1], e$estimate)
  expect_identical(e$estimate, m$evaluation_log$valid_poisson_deviance[5])
})

test_that("best rounds and `trees` are those of predict()", {
  d <- made()
  m <- gbt_train(y ~ a + b + f, d, nrounds = 60, valid = made(200, 5), early_stopping_rounds = 3, threads = 1)
  e <- gbt_evaluate(m, made(200, 5), metrics = "rmse", threads = 1)
  expect_identical(e$estimate, m$best_score)
  e <- gbt_evaluate(m, made(200, 5), metrics = "rmse", trees = 2, threads = 1)
  expect_identical(e$estimate, m$evaluation_log$valid_rmse[2])
})

test_that("groups of `by` are evaluated as data of their own", {
  d <- made(500)
  m <- gbt_train(two ~ a + b + f, d, nrounds = 5, threads = 1)
  d$f[7] <- NA
  d$h <- rep(c("x", "y"), 250)
  e <- gbt_evaluate(m, d, metrics = c("auc", "error"), by = c("f", "h"), threads = 1, intervals = 0.9, replicates = 20,
                    seed = 2)
  expect_identical(names(e), c("f", "h", "metric", "estimate", "lower", "upper", "rows"))
  expect_identical(nrow(e), 2L * nrow(unique(d[c("f", "h")])))
  for (i in seq_len(nrow(e))) {
    at <- which((d$f %in% e$f[i]) & d$h == e$h[i])
    alone <- gbt_evaluate(m, d[at, ], metrics = e$metric[i], threads = 2, intervals = 0.9, replicates = 20, seed = 2)
    expect_identical(as.list(as.data.frame(alone))[-1], as.list(as.data.frame(e)[i, names(alone)])[-1])
  }
  by_values <- gbt_evaluate(m, d, metrics = "auc", by = d$h, threads = 1)
  expect_identical(by_values$estimate, gbt_evaluate(m, d, metrics = "auc", by = "h", threads = 1)$estimate)
  expect_identical(names(by_values)[1], "by")
  twin <- gbt_evaluate(m, d, metrics = "auc", by = list(half = d$h), threads = 1)
  expect_identical(names(twin)[1], "half")
})

test_that("`by` takes columns of matrices, and values that are printed alike stay apart", {
  x <- as.matrix(mtcars[-1])
  m <- gbt_train(x, mtcars$mpg, nrounds = 3, threads = 1)
  want <- gbt_evaluate(m, mtcars[-1], mtcars$mpg, by = c("cyl", "am"), threads = 1)
  of <- function(data, by) gbt_evaluate(m, data, mtcars$mpg, by = by, threads = 1)
  expect_identical(of(x, c("cyl", "am")), want)
  expect_identical(of(x, x[, c("cyl", "am")]), want)
  expect_identical(of(x, mtcars[c("cyl", "am")]), want)
  skip_if_not_installed("Matrix")
  skip_if_not_installed("bit64")
  expect_identical(of(Matrix::Matrix(x, sparse = TRUE), c("cyl", "am")), want)
  bare <- of(x, unname(x[, c("cyl", "am")]))
  expect_identical(names(bare)[1:2], c("by1", "by2"))
  expect_identical(bare$estimate, want$estimate)
  all <- gbt_evaluate(m, x, mtcars$mpg, threads = 1)
  for (none in list(NULL, list(), character(0))) expect_identical(of(x, none), all)

  autumn <- as.POSIXct("2024-10-27 01:30:00", tz = "Europe/Berlin") + c(0, 0.25, 3600, 7200)
  alike <- list(autumn, as.POSIXlt(autumn), as.raw(c(1, 255, 16, 0)), c(1, 1 + 2^-50, 2, NaN), c(TRUE, FALSE, NA, NA),
                bit64::as.integer64("9007199254740993") + 0:3)
  for (values in alike) {
    # a whole column of POSIXlt is a list
    many <- if (inherits(values, "POSIXlt")) as.POSIXlt(rep(autumn, 8)) else values[rep(1:4, 8)]
    e <- gbt_evaluate(m, x, mtcars$mpg, metrics = "rmse", by = many, threads = 1)
    groups <- if (is.logical(values)) list(2, 1, 3:4) else if (is.raw(values)) list(4, 1, 3, 2) else as.list(1:4)
    each <- vapply(groups, function(g) {
      at <- rep(1:4, 8) %in% g
      gbt_evaluate(m, x[at, ], mtcars$mpg[at], metrics = "rmse", threads = 1)$estimate
    }, 0)
    expect_identical(e$estimate, each, info = class(values)[1])
  }
})

test_that("intervals are quantiles of metrics of drawn rows", {
  d <- made(257)
  m <- gbt_train(two ~ a + b + f, d, nrounds = 3, threads = 1)
  own <- gbt_metric("own", function(p, y, w) sum(w * ((p > 0.5) != y)) / sum(w))
  for (weight in list(NULL, d$w)) { # rows that are repeated, and rows that weigh more
    e <- gbt_evaluate(m, d, metrics = list("error", own), weights = weight, intervals = 0.8, replicates = 50, seed = 9,
                      threads = 1)
    expect_equal(e$lower[1], e$lower[2], tolerance = 1e-15)
    expect_equal(e$upper[1], e$upper[2], tolerance = 1e-15)
    expect_true(e$lower[1] < e$estimate[1] && e$estimate[1] < e$upper[1])
  }
  again <- gbt_evaluate(m, d, metrics = list("error", own), weights = d$w, intervals = 0.8, replicates = 50, seed = 9,
                        threads = 3)
  expect_identical(again, e)
  other <- gbt_evaluate(m, d, metrics = list("error", own), weights = d$w, intervals = 0.8, replicates = 50, seed = 10)
  expect_false(identical(other, e))
  set.seed(1)
  first <- gbt_evaluate(m, d, intervals = 0.8, replicates = 20)
  set.seed(1)
  expect_identical(gbt_evaluate(m, d, intervals = 0.8, replicates = 20), first)
  # the width of a mean's interval is known
  e <- gbt_evaluate(m, d, metrics = "brier", intervals = 0.95, replicates = 2000, seed = 1, threads = 2)
  loss <- (predict(m, d) - (d$two == "yes"))^2
  expect_equal(e$upper - e$lower, 2 * 1.96 * sd(loss) / sqrt(257), tolerance = 0.1)
})

test_that("`y` may be the name of a column, and is no metric", {
  d <- made(60)
  m <- gbt_train(d[c("a", "b")], d$two, nrounds = 2, threads = 1)
  expect_identical(gbt_evaluate(m, d, "two", threads = 1), gbt_evaluate(m, d, d$two, threads = 1))
  expect_identical(gbt_confusion(m, d, "two", threads = 1), gbt_confusion(m, d, d$two, threads = 1))
  expect_identical(gbt_evaluate(m, d, d$two, weights = "w"), gbt_evaluate(m, d, d$two, weights = d$w))
  expect_error(gbt_evaluate(m, d, "auc"), "not \"auc\"; a metric is given as `metrics = \"auc\"`", fixed = TRUE,
               class = "gbt_error_argument")
  expect_error(gbt_evaluate(m, d, "tow"), "not \"tow\"; did you mean `two`?", fixed = TRUE)
})

test_that("whole groups are drawn", {
  d <- made(300)
  m <- gbt_train(y ~ a + b + f, d, nrounds = 5, threads = 1)
  d$who <- rep(1:3, each = 100)
  e <- gbt_evaluate(m, d, metrics = "mse", intervals = 0.99, replicates = 400, seed = 1, group = who, threads = 1)
  of_group <- gbt_evaluate(m, d, metrics = "mse", by = "who", threads = 1)$estimate
  expect_equal(c(e$lower, e$upper), range(of_group), tolerance = 1e-12) # one group drawn three times
  one <- gbt_evaluate(m, d, metrics = "mse", intervals = 0.99, replicates = 20, seed = 1, group = rep("a", 300))
  expect_identical(one$lower, one$estimate)
  expect_identical(one$upper, one$estimate)
  expect_identical(gbt_evaluate(m, d, intervals = 0.9, replicates = 20, seed = 1, group = "who"),
                   gbt_evaluate(m, d, intervals = 0.9, replicates = 20, seed = 1, group = d$who))
})

test_that("draws are draws with replacement, for any number of units", {
  for (n in c(0:9, 31:33, 255:257, 1000)) {
    all <- vapply(1:20, function(i) .Call(gbt:::C_gbt_resample, n, 5, i), integer(n))
    expect_true(all(colSums(matrix(all, n)) == n) || n == 0)
    expect_true(all(all >= 0))
  }
  counts <- vapply(1:400, function(i) .Call(gbt:::C_gbt_resample, 200L, 7, i), integer(200))
  expect_equal(mean(counts == 0), (1 - 1 / 200)^200, tolerance = 0.02)
  expect_equal(var(as.vector(counts)), 1 - 1 / 200, tolerance = 0.03)
  expect_lt(max(abs(cor(t(counts[1:20, ]))[upper.tri(diag(20))])), 0.25) # units do not go together
  for (n in 1:5) {
    d <- made(n + 100)
    m <- gbt_train(y ~ a + b, d, nrounds = 2, threads = 1)
    e <- gbt_evaluate(m, d[seq_len(n), ], metrics = "mae", intervals = 0.5, replicates = 20, seed = 1)
    expect_true(e$lower <= e$upper && e$rows == n)
  }
})

test_that("\"all\" and the usual metrics suit objective and response", {
  d <- made()
  for (way in list(c("y", "squared_error"), c("two", "logistic"), c("three", "softmax"), c("count", "poisson"))) {
    m <- gbt_train(stats::as.formula(paste(way[1], "~ a + b")), d, nrounds = 2, objective = way[2], threads = 1)
    all <- gbt_evaluate(m, d, metrics = "all", threads = 1)
    usual <- gbt_evaluate(m, d, threads = 1)
    expect_true(all(usual$metric %in% all$metric) && nrow(all) > nrow(usual) && nrow(usual) > 1)
    expect_false(anyNA(all$estimate))
  }
  expect_false("msle" %in% gbt_evaluate(gbt_train(y ~ a, d, nrounds = 1), d, metrics = "all")$metric) # y below -1
})

test_that("the response of a formula is evaluated", {
  d <- made()
  d$y <- exp(d$y)
  m <- gbt_train(log(y) ~ a + b, d, nrounds = 3, threads = 1)
  twin <- gbt_train(ly ~ a + b, transform(d, ly = log(y)), nrounds = 3, threads = 1)
  expect_identical(gbt_evaluate(m, d)$estimate, gbt_evaluate(twin, transform(d, ly = log(y)))$estimate)
})

test_that("it prints, and is a data frame", {
  d <- made(60)
  m <- gbt_train(y ~ a + b, d, nrounds = 3, threads = 1)
  e <- gbt_evaluate(m, d, metrics = c("mae", "rmse"), by = "f", threads = 1)
  expect_output(print(e), "60 rows, objective \"squared_error\"")
  expect_output(print(gbt_evaluate(m, d, intervals = 0.9, replicates = 25)), "90 % intervals by 25 bootstrap draws")
  expect_identical(class(e[1:2, ]), "data.frame")
  expect_identical(subset(e, metric == "mae")$estimate, e$estimate[e$metric == "mae"])
  expect_s3_class(e, "data.frame")
  expect_identical(names(e), c("f", "metric", "estimate", "rows")) # bounds only where there are intervals
  expect_identical(names(as.data.frame(e)), names(e))
  ranged <- gbt_evaluate(m, d, intervals = 0.9, replicates = 25)
  expect_identical(names(as.data.frame(ranged)), c("metric", "estimate", "lower", "upper", "rows"))
  skip_if_not_installed("knitr")
  expect_no_match(knitr::kable(e), "lower|upper|NA")
  expect_match(knitr::kable(ranged), "lower", all = FALSE)
})

test_that("misuse is explained", {
  d <- made(50)
  m <- gbt_train(y ~ a + b, d, nrounds = 2, threads = 1)
  plain <- gbt_train(d[c("a", "b")], d$y, nrounds = 2, threads = 1)
  two <- gbt_train(two ~ a + b, d, nrounds = 2, threads = 1)
  two_new <- d
  two_new$two <- "maybe"
  expect_snapshot(error = TRUE, {
    gbt_evaluate()
    gbt_evaluate(m)
    gbt_evaluate(plain, d)
    gbt_evaluate(m, d[c("a", "b")])
    gbt_evaluate(m, gbt_data(d[c("a", "b")]))
    gbt_evaluate(m, function(i) NULL)
    gbt_evaluate(m, d, metric = "rmse")
    gbt_evaluate(m, d, metrics = "rnse")
    gbt_evaluate(m, d, metrics = c("rmse", "l2_root"))
    gbt_evaluate(m, d, metrics = "rmsle")
    gbt_evaluate(m, d, by = "g")
    gbt_evaluate(m, d, by = 1:3)
    gbt_evaluate(m, d, by = list(rows = d$f))
    gbt_evaluate(m, d, intervals = 95)
    gbt_evaluate(m, d, intervals = 0.9, replicates = 1)
    gbt_evaluate(m, d, intervals = 0.9, group = 1:3)
    gbt_evaluate(m, d, weights = -w)
    gbt_evaluate(m, d, weights = 1:3)
    gbt_evaluate(m, d[0, ])
    gbt_evaluate(two, two_new)
    gbt_evaluate(m, transform(d, y = replace(y, 3, NA)))
    gbt_evaluate(m, d, group = f)
  })
  x <- data.matrix(d[c("a", "b")])
  d$rows <- d$f
  d$both <- x
  expect_snapshot(error = TRUE, {
    gbt_evaluate(m, d, by = "rows")
    gbt_evaluate(m, d, by = c("f", "f"))
    gbt_evaluate(m, d, by = "both")
    gbt_evaluate(m, d, by = list(list(1, 2)))
    gbt_evaluate(plain, x, d$y, by = "c")
  })
})
