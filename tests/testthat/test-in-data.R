# Which of a column and a variable of the same name an argument of a formula means.

made <- function() {
  set.seed(3)
  data.frame(y = rpois(60, 3), a = rnorm(60), b = rnorm(60), f = factor(sample(letters[1:6], 60, TRUE)),
             w = runif(60, 0.5, 2), o = rnorm(60) / 9, e = runif(60, 1, 2), m = rep(c(TRUE, TRUE, FALSE), 20), t = 60:1,
             g = rep(1:20, 3), s = rep(c(TRUE, TRUE, TRUE, FALSE), 15), v = rep(c(FALSE, TRUE, FALSE), c(9, 20, 31)),
             k = rep(1:3, 20))
}

fit <- function(...) {
  gbt_train(..., objective = "poisson", nrounds = 4, max_depth = 2, lambda = 1, colsample_bytree = 1, eval_train = TRUE,
            cat_method = "target", seed = 1, threads = 1)
}

test_that("the column comes first, then a variable of where the argument is written", {
  d <- made()
  f <- y ~ a + b + f
  # of each argument what is meant as a value, and what is in the way
  there <- list(weights = quote(w), offset = quote(o), exposure = quote(e), time = quote(t), group = quote(g),
                subset = quote(s), valid = quote(v), mask = quote(m))
  in_the_way <- list(w = rep(1, 60), o = rep(0, 60), e = rep(1, 60), t = 1:60, g = rep(1:30, 2), s = rep(TRUE, 60),
                     v = rep(c(FALSE, TRUE), 30), m = rep(c(TRUE, FALSE), 30))
  for (name in names(there)) {
    said <- stats::setNames(list(there[[name]]), name)
    value <- stats::setNames(list(d[[as.character(there[[name]])]]), name)
    expected <- do.call(fit, c(list(f, d), value))
    others <- list2env(in_the_way, parent = environment())
    found <- eval(as.call(c(quote(fit), f, quote(d), said)), others)
    expect_identical(found$evaluation_log, expected$evaluation_log, label = name)
    expect_identical(as.data.frame(found), as.data.frame(expected))
    # the variable where the data have no such column
    less <- d[setdiff(names(d), as.character(there[[name]]))]
    other <- eval(as.call(c(quote(fit), f, quote(less), said)), others)
    value[[1L]] <- in_the_way[[as.character(there[[name]])]]
    expected_other <- do.call(fit, c(list(f, d), value))
    expect_identical(other$evaluation_log, expected_other$evaluation_log, label = name)
    expect_false(identical(other$evaluation_log, expected$evaluation_log)) # else nothing was tested
  }
  # other names of the arguments
  w <- rep(1, 60)
  expect_identical(fit(f, d, sample_weight = w)$evaluation_log, fit(f, d, weights = d$w)$evaluation_log)
  v <- rep(TRUE, 60)
  expect_identical(fit(f, d, eval_set = v)$evaluation_log, fit(f, d, valid = d$v)$evaluation_log)
})

test_that("an argument that is passed on is evaluated where it was written", {
  d <- made()
  f <- y ~ a + b + f
  power <- 2
  n <- 60
  inner <- function(...) {
    power <- 5
    n <- 30
    fit(...)
  }
  outer <- function(...) {
    power <- 7
    inner(...)
  }
  expected <- fit(f, d, weights = d$w^2)
  expect_same_bytes(inner(f, d, weights = w^power)$state, expected$state)
  expect_same_bytes(outer(f, d, weights = w^power)$state, expected$state)
  expect_same_bytes(outer(f, data = d, weight = w^power)$state, expected$state)
  expect_same_bytes(local({
    power <- 2
    outer(f, d, weights = w^power)
  })$state, expected$state)
  expect_same_bytes((function(theirs) fit(f, d, weights = w^theirs))(2)$state, expected$state)
  expect_identical(outer(f, d, valid = seq_len(n) > 40)$evaluation_log, fit(f, d, valid = 41:60)$evaluation_log)
  expect_identical(outer(f, d, valid = d[d$k > power, ])$evaluation_log,
                   fit(f, d, valid = d[d$k == 3, ])$evaluation_log)
  rated <- function(...) {
    power <- 9
    gbt_evaluate(...)
  }
  expect_identical(rated(expected, d, weights = w^power, threads = 1)$estimate,
                   gbt_evaluate(expected, d, weights = d$w^2, threads = 1)$estimate)
})

test_that("arguments are found through functions within functions, and models keep the call that they are of", {
  d <- made()
  f <- y ~ a + b + f
  power <- 2
  expected <- fit(f, d, weights = d$w^2)
  inside <- function(...) {
    power <- 5
    lapply(1:2, function(depth) {
      power <- 7
      gbt_train(..., seed = 1)
    })
  }
  given <- quote(list(f, d, weights = w^power, objective = "poisson", nrounds = 4, max_depth = 2, lambda = 1,
                      colsample_bytree = 1, eval_train = TRUE, cat_method = "target", threads = 1))
  for (model in eval(as.call(c(quote(inside), as.list(given)[-1L])))) {
    expect_same_bytes(model$state, expected$state)
    expect_identical(model$call, as.call(c(quote(gbt_train), as.list(given)[-1L], seed = 1)))
  }
  later <- function(...) function(data) {
    power <- 3
    fit(f, data, ...)
  }
  expect_same_bytes(later(weights = w^power)(d)$state, expected$state)
  named <- function(data, w, ...) fit(f, data, weights = w, ...) # the column has the name of its argument
  expect_same_bytes(named(d, rep(1, 60))$state, fit(f, d, weights = d$w)$state)
  expect_same_bytes(named(d[names(d) != "w"], d$w^2)$state, expected$state)
  by_name <- do.call("fit", list(f, quote(d), weights = quote(w^power)))
  expect_same_bytes(by_name$state, expected$state)
  chosen <- Reduce(function(model, depth) gbt_refit(model, max_depth = depth, weights = w^power), 2:3, expected)
  expect_same_bytes(update(chosen, max_depth = 2, nrounds = 4)$state, gbt_refit(expected)$state)
  refit <- function(...) {
    power <- 9
    gbt_refit(...)
  }
  expect_same_bytes(refit(expected, data = d, weights = w^power)$state, gbt_refit(expected, data = d)$state)
})

test_that("what a calling function was not given is not given, by any name", {
  d <- made()
  x <- d[c("a", "b")]
  own <- function(x, y, w, rate, more, ...) {
    gbt_train(x, y, weights = w, eta = rate, lambda_l2 = more, nrounds = 2, threads = 1, ...)
  }
  expect_same_bytes(own(x, d$y)$state, gbt_train(x, d$y, nrounds = 2, threads = 1)$state)
  expect_same_bytes(own(x, d$y, d$w, 0.2, 2)$state,
                    gbt_train(x, d$y, weights = d$w, eta = 0.2, lambda = 2, nrounds = 2, threads = 1)$state)
  rated <- function(x, y, k, rate) gbt_cv(x, y, folds = k, eta = rate, nrounds = 2, seed = 1, threads = 1)
  expect_identical(rated(x, d$y)$fold_log, gbt_cv(x, d$y, nrounds = 2, seed = 1, threads = 1)$fold_log)
})

test_that("folds of a formula are those of a column", {
  d <- made()
  f <- y ~ a + b
  cv <- function(...) gbt_cv(..., nrounds = 3, max_depth = 2, seed = 1, threads = 1)
  k <- rep(1:2, 30)
  expected <- cv(f, d, folds = d$k)
  for (found in list(cv(f, d, folds = k), cv(f, d, nfold = k), cv(f, data = d, folds = (k + 1) * 2))) {
    expect_identical(found$fold_log, expected$fold_log)
  }
  expect_identical(lengths(cv(f, d[names(d) != "k"], folds = k)$folds), c(30L, 30L))
  passed_on <- (function(...) cv(...))(f, d, folds = k)
  expect_identical(passed_on$fold_log, expected$fold_log)
  expect_identical((function(...) cv(...))(d[c("a", "b")], d$y, folds = d$k)$folds, expected$folds)
  # rows go with their folds
  dropped <- cv(f, d, folds = k, subset = s)
  expect_identical(dropped$fold_log, cv(f, d[d$s, ], folds = d$k[d$s])$fold_log)
  expect_identical(cv(f, d, folds = d$k[d$s], subset = s)$fold_log, dropped$fold_log)
  expect_identical(cv(f, d, group = g)$folds, cv(f, d, group = d$g)$folds)
  space <- list(max_depth = c(2, 3))
  tune <- function(...) gbt_tune(..., space = space, configs = 2, nrounds = 3, seed = 1, threads = 1)
  expect_identical(tune(f, d, folds = k)$folds, expected$folds)
  expect_same_bytes(gbt_refit(expected)$state, gbt_refit(cv(f, d, folds = k))$state)
})

test_that("a job evaluates its arguments as training here does", {
  skip_on_os("windows")
  d <- made()
  w <- v <- k <- rep(1, 60)
  pass_on <- function(...) {
    power <- 3
    gbt_job(...)
  }
  power <- 2
  jobs <- list(pass_on(y ~ a + b, d, weights = w^power, valid = v == 1, nrounds = 2, threads = 1),
               pass_on(y ~ a + b, d, folds = k, nrounds = 2, seed = 1, threads = 1, fun = gbt_cv))
  there <- lapply(jobs, gbt_job_result)
  here <- gbt_train(y ~ a + b, d, weights = d$w^2, valid = d$v, nrounds = 2, threads = 1)
  expect_same_bytes(there[[1L]]$state, here$state)
  expect_identical(there[[1L]]$evaluation_log, here$evaluation_log)
  expect_identical(there[[2L]]$call, quote(gbt_cv(y ~ a + b, d, folds = k, nrounds = 2, seed = 1, threads = 1)))
  cv <- gbt_cv(y ~ a + b, d, folds = d$k, nrounds = 2, seed = 1, threads = 1)
  expect_identical(there[[2L]]$fold_log, cv$fold_log)
  expect_same_bytes(gbt_refit(there[[2L]])$state, gbt_refit(cv)$state)
})

test_that("names that are nothing are classed errors that know the columns", {
  d <- made()
  x <- d[c("a", "e", "w")]
  tick <- data.frame(z = 1)
  expect_snapshot(error = TRUE, {
    gbt_train(x, d$y, exposure = e)
    gbt_train(x, d$y, weights = 2 * w)
    gbt_train(x, d$y, sample_weight = ww)
    gbt_train(as.matrix(x), d$y, valid = w > 1)
    gbt_train(gbt_data(x, threads = 1), d$y, offset = e)
    gbt_job(x, d$y, exposure = e)
    gbt_job(y ~ a, d, valid = bb == 1)
    gbt_train(y ~ a, d, valid = bb == 1)
    gbt_train(y ~ a, d, weights = ww)
    gbt_train(y ~ a, d, valid = f)
    gbt_train(y ~ a, d, valid = w)
    gbt_cv(x, d$y, folds = w)
    gbt_cv(y ~ a, d, folds = kk)
    gbt_cv(y ~ a, d, folds = NULL)
    gbt_cv(y ~ a, d, folds = 3, nfold = 4)
    gbt_tune(y ~ a, d, folds = kk)
    gbt_train(y ~ a, d, valid = gbt_data(3))
  })
  for (class in c("gbt_error_argument", "my_error")) { # errors of the user's own stay what they are
    own <- function() stop(structure(class = c(class, "error", "condition"), list(message = "no", call = NULL)))
    expect_error(gbt_train(x, d$y, weights = own()), class = class)
  }
})

test_that("weights of rows that a model is looked at by are named as those of its training are", {
  set.seed(4)
  d <- data.frame(a = runif(90), b = runif(90), w = round(runif(90, 1, 5)))
  d$y <- factor(runif(90) < d$a, labels = c("no", "yes"))
  d$z <- d$a + d$b + rnorm(90, 0, 0.1)
  own <- rev(d$w) # no column
  classes <- gbt_train(y ~ a + b, d, nrounds = 3, threads = 1)
  numbers <- gbt_train(z ~ a + b, d, nrounds = 3, threads = 1)
  calibrated <- function(...) gbt_calibrate(classes, d, method = "platt", threads = 1, ...)$maps
  bounds <- function(...) predict(gbt_conformal(numbers, d, threads = 1, ...), d[1:5, ], threads = 1)
  effects <- function(...) gbt_partial(numbers, d, "a", size = 4, threads = 1, ...)$effects
  permuted <- function(...) {
    as.data.frame(gbt_importance(numbers, "permutation", data = d, repeats = 2, seed = 1, threads = 1, ...))
  }
  for (f in list(calibrated, bounds, effects, permuted)) {
    expect_identical(f(weights = w), f(weights = d$w))
    expect_identical(f(weights = w / 2 + 1), f(weights = d$w / 2 + 1))
    expect_identical(f(weights = own), f(weights = rev(d$w)))
    expect_identical(do.call(f, list(weights = d$w)), f(weights = d$w))
    expect_false(identical(f(weights = w), f()))
    inside <- function(its) f(weights = its * w)
    expect_identical(inside(2), f(weights = 2 * d$w))
    e <- tryCatch(f(weights = nobody), error = identity)
    expect_s3_class(e, "gbt_error")
    expect_match(conditionMessage(e), "`?nobody`?")
    expect_error(f(weights = "w"), "`weights` must be numbers", class = "gbt_error_data")
    expect_error(f(weights = a[1:3]), "`weights` has 3 values for 90 rows", class = "gbt_error_data")
    expect_error(f(weights = -w), "row 1 has", class = "gbt_error_data")
  }
  x <- as.matrix(d[c("a", "b", "w")]) # without a data frame names are variables
  expect_identical(gbt_partial(numbers, x, "a", size = 4, weights = d$w, threads = 1)$effects, effects(weights = w))
  expect_error(gbt_partial(numbers, x, "a", weights = w, threads = 1), "w", class = "gbt_error")
  expect_identical(gbt_partial(numbers, d, "a", size = 4, offset = w, threads = 1)$effects, effects(offset = d$w))
})

test_that("a misspelt argument that names a column is told as one that does not", {
  set.seed(1)
  d <- data.frame(a = rnorm(60), w = runif(60), e = runif(60) + 1)
  d$y <- rpois(60, d$e)
  m <- gbt_train(y ~ a, d, objective = "poisson", exposure = e, nrounds = 2, threads = 1)
  told <- function(expr, meant) expect_error(expr, sprintf("did you mean `%s`", meant), class = "gbt_error_argument")
  told(gbt_conformal(m, d, wieghts = w), "weights")
  told(gbt_monitor(m, d, d, exposre = e), "exposure")
  told(gbt_importance(m, "permutation", data = d, exposre = e), "exposure")
  told(gbt_calibrate(m, d, weigths = w), "weights")
  told(gbt_partial(m, d, "a", weigths = w), "weights")
  told(gbt_interactions(m, d, ofset = off), "offset")
  told(gbt_evaluate(m, d, weigths = w), "weights")
  told(predict(m, d, exposre = e), "exposure")
})

test_that("variables that are NULL are as good as nothing, and new rows may weigh 0", {
  set.seed(1)
  d <- data.frame(a = rnorm(60), w = runif(60))
  d$y <- d$a + rnorm(60)
  m <- gbt_train(y ~ a, d, nrounds = 2, threads = 1)
  of <- function(weights = NULL, offset = NULL) {
    gbt_partial(m, columns = "a", weights = weights, offset = offset, method = "recursion")
  }
  expect_identical(of(), gbt_partial(m, columns = "a", method = "recursion"))
  expect_error(of(offset = 1), "`offset` cannot be combined", class = "gbt_error_argument")
  bounds <- gbt_conformal(m, d, weights = w)
  both <- predict(bounds, d[1:2, ], weights = c(0, 1))
  expect_identical(predict(bounds, d[1, ], weights = 0), both[1, ])
  expect_error(gbt_conformal(m, d, weights = rep(0, 60)), "0 in all rows", class = "gbt_error_data")
  d$l <- rep(list("u", "v"), 30)
  expect_no_warning(expect_error(gbt_cv(d[c("a", "l")], d$y, nrounds = 2, folds = 2), class = "gbt_error"))
})
