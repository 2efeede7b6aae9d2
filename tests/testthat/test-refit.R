# Training once more by a kept call: where the data are gone, others, or in another order.

rated <- function(d, ...) {
  gbt_cv(mpg ~ ., d, nrounds = 6, folds = 4, min_child_weight = 3, seed = 1, threads = 1, ...)
}

test_that("a call that was made inside of a function asks for the data, and knows what `...` stood for", {
  here <- local({
    table <- mtcars
    list(
      cv = rated(table, max_depth = 2),
      model = (function(inner) gbt_train(mpg ~ wt, inner, nrounds = 2, threads = 1))(mtcars),
      tune = (function(its_x, its_y) {
        gbt_tune(its_x, its_y, space = list(max_depth = c(2, 4)), configs = 2, nrounds = 5, folds = 3, seed = 1,
                 threads = 1)
      })(mtcars[-1], mtcars$mpg)
    )
  })
  expect_identical(here$cv$call$max_depth, 2)
  expect_snapshot(error = TRUE, {
    gbt_refit(here$cv)
    update(here$model, nrounds = 3)
    gbt_refit(here$tune)
  })
  model <- gbt_refit(here$cv, data = mtcars)
  expect_identical(model$params$max_depth, 2)
  expect_same_bytes(model$state, gbt_refit(rated(mtcars, max_depth = 2), data = mtcars)$state)
  expect_identical(nobs(update(here$model, data = mtcars[1:20, ])), 20L)
  tuned <- gbt_refit(here$tune, x = mtcars[-1], y = mtcars$mpg)
  expect_identical(tuned$params$max_depth, as.double(here$tune$best$max_depth))
  inside <- (function(d) gbt_refit(gbt_cv(mpg ~ ., d, nrounds = 3, folds = 3, seed = 1, threads = 1)))(mtcars)
  expect_identical(inside$nrounds, 3L)
  expect_null(inside$call$cross)
  expect_identical(nobs(update(gbt_refit(rated(mtcars), data = mtcars), data = mtcars[1:9, ])), 9L)
})

test_that("columns that the call names within its data are not taken for lost variables", {
  kept <- gbt_train(mpg ~ ., subset(mtcars, hp > 100), nrounds = 2, threads = 1)
  expect_same_bytes(update(kept, nrounds = 1)$state, kept[1]$state)
  expect_same_bytes(gbt_refit(kept)$state, kept$state)
  kept <- gbt_train(subset(mtcars, hp > 100, -mpg), with(mtcars, mpg[hp > 100]), nrounds = 2, threads = 1)
  expect_same_bytes(update(kept, nrounds = 1)$state, kept[1]$state)
  gone <- (function(inner) gbt_train(mpg ~ ., subset(inner, hp > 100), nrounds = 2, threads = 1))(mtcars)
  expect_error(update(gone), "used `inner`, which is not found here", class = "gbt_error_argument")
  gone <- (function(df) gbt_train(df[-1], df$mpg, nrounds = 2, threads = 1))(mtcars)
  expect_error(update(gone), "used `df`, which is not found here", class = "gbt_error_argument")
})

test_that("a model that went on from another one gets as many rounds as it had beside those of that one", {
  first <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 4, threads = 1)
  second <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 6, init_model = first, eta = 0.05, threads = 1)
  expect_same_bytes(gbt_refit(second)$state, second$state)
  stopped <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 200, init_model = first, valid = 0.3, seed = 1, eta = 0.5,
                       early_stopping_rounds = 3, threads = 1)
  expect_identical(gbt_refit(stopped)$nrounds, stopped$best_round)
})

test_that("data that were replaced are noticed", {
  cars <- mtcars
  cv <- gbt_cv(mpg ~ ., cars, nrounds = 3, folds = 3, seed = 1, threads = 1, keep_models = TRUE)
  tuned <- gbt_tune(cars[-1], cars$mpg, space = list(max_depth = c(2, 4)), configs = 2, nrounds = 5, folds = 3,
                    seed = 1, threads = 1)
  expect_silent(gbt_refit(cv))
  expect_silent(gbt_refit(tuned))
  expect_error(gbt_conformal(cv, cars[32:1, ]), "same responses in another order", class = "gbt_error_data")
  expect_error(gbt_conformal(cv, transform(cars, mpg = mpg + 1)), "other responses", class = "gbt_error_data")
  expect_s3_class(gbt_conformal(cv, cars), "gbt_conformal")
  original <- cars
  cars <- original[32:1, ]
  expect_warning(gbt_refit(cv), "same responses in another order", class = "gbt_warning_data")
  cars <- transform(original, mpg = mpg * 2)
  expect_warning(gbt_refit(cv), "they have other responses", class = "gbt_warning_data")
  expect_warning(gbt_refit(tuned), "they have other responses", class = "gbt_warning_data")
  cars <- original[1:20, ]
  expect_warning(gbt_refit(cv), "20 rows now and had 32", class = "gbt_warning_data")
  expect_silent(gbt_refit(cv, data = original))
  for (n in c(1, 2, 3, 1000)) {
    y <- seq_len(n) / 7
    expect_null(gbt:::print_differs(gbt:::label_print(y), gbt:::label_print(y + 0)))
    if (n > 1) expect_match(gbt:::print_differs(gbt:::label_print(y), gbt:::label_print(rev(y))), "another order")
    expect_match(gbt:::print_differs(gbt:::label_print(y), gbt:::label_print(y + 1e-6)), "other responses")
  }
  centred <- as.vector(scale(mtcars$mpg)) # whose sum has no digit that is sure
  known <- gbt:::label_print(centred)
  expect_null(gbt:::print_differs(replace(known, 2, -3e-15), known))
  expect_type(gbt:::print_differs(known, gbt:::label_print(-centred)), "character")
  expect_null(gbt:::print_differs(gbt:::label_print(numeric(4)), gbt:::label_print(numeric(4))))
})

test_that("columns that were replaced are noticed beside the same responses, of every class", {
  set.seed(2)
  rows <- data.frame(n = rnorm(60), i = 1:60, l = rep(c(TRUE, FALSE, NA), 20),
                     f = factor(sample(letters[1:5], 60, TRUE)), t = sample(c("x", "y", "\u00e9", NA), 60, TRUE),
                     d = as.Date("2024-01-01") + 1:60, y = rnorm(60))
  rows$n[7] <- NA
  rows$t[1:4] <- c("x", "y", "\u00e9", NA) # all of them are there
  d <- rows
  x <- rows[-7]
  cv <- gbt_cv(y ~ ., d, nrounds = 2, folds = 3, seed = 1, threads = 1)
  terms <- gbt_cv(y ~ log(i) + f, d, nrounds = 2, folds = 3, seed = 1, threads = 1)
  plain <- gbt_cv(x, d$y, nrounds = 2, folds = 3, seed = 1, threads = 1)
  tuned <- gbt_tune(x, d$y, space = list(max_depth = c(2, 4)), configs = 2, nrounds = 2, folds = 3, seed = 1,
                    threads = 1)
  weighed <- gbt_cv(y ~ ., d, weights = i, nrounds = 2, folds = 3, seed = 1, threads = 1)
  all <- list(cv, terms, plain, tuned, weighed)
  quiet <- function() for (object in all) expect_no_warning(gbt_refit(object))
  quiet()
  d$f <- factor(d$f, rev(levels(d$f))) # the same data in other forms
  levels(d$f) <- c(levels(d$f), "none")
  d$i <- as.double(d$i)
  x <- d[rev(names(x))]
  quiet()
  told <- function(object, what) expect_warning(gbt_refit(object), what, class = "gbt_warning_data")
  change <- function(name, at, value) {
    d <<- rows
    d[[name]][at] <<- value
    x <<- d[-7]
    told(cv, sprintf("they have other values in `%s`", name))
    told(plain, sprintf("they have other values in `%s`", name))
    told(tuned, sprintf("they have other values in `%s`", name))
  }
  change("n", 5, 3)
  change("n", 5, NA)
  change("n", c(5, 6), rows$n[6:5])
  change("i", 60, 61L)
  change("l", 1, NA)
  change("f", 3, setdiff(levels(rows$f), as.character(rows$f[3]))[1])
  change("t", 2, "z")
  change("d", 9, as.Date("2020-02-29"))
  d <- transform(rows, n = replace(replace(n, 7, 0), 8, NA))
  told(cv, "they have other values in `n`")
  times <- data.frame(t = as.POSIXct("2024-01-01", tz = "UTC") + 1:60, large = c(1e12, rnorm(59)))
  late <- gbt_cv(times, rows$y, nrounds = 2, folds = 3, seed = 1, threads = 1)
  expect_no_warning(gbt_refit(late))
  times$t <- rev(times$t)
  told(late, "they have other values in `t`")
  times$t <- rev(times$t)
  times$large[-1] <- rnorm(59)
  told(late, "they have other values in `large`")
  d <- transform(rows, i = rev(i))
  told(terms, "they have other values in `log\\(i\\)`")
  d <- cbind(rows, more = 1:60)
  told(cv, "they have a column `more` that was not there")
  expect_no_warning(gbt_refit(terms)) # which has no use for it
  x <- rows[2:6]
  told(plain, "they have no column `n` now")
  expect_no_warning(gbt_refit(plain, x = rows[2:6], y = rows$y))
  x <- list(1) # what cannot be read is reported by training
  expect_error(gbt_refit(plain), class = "gbt_error")
  m <- matrix(rnorm(120), 60)
  bare <- gbt_cv(m, rows$y, nrounds = 2, folds = 3, seed = 1, threads = 1)
  expect_no_warning(gbt_refit(bare))
  m[3, 2] <- 9
  told(bare, "they have other values in `f2`")
  before <- bare
  before$columns <- NULL # of an earlier version
  expect_no_warning(gbt_refit(before))
})

test_that("a model says what ended its training", {
  shown <- function(m) grep("^rounds", capture.output(print(m)), value = TRUE)
  fit <- function(..., nrounds = 10) gbt_train(mpg ~ wt, mtcars, nrounds = nrounds, eta = 0.1, threads = 1, ...)
  expect_identical(shown(fit()), "rounds    10")
  expect_null(fit()$stopped)
  by_callback <- fit(callbacks = function(now) now$round == 4)
  expect_identical(by_callback$stopped, "callback")
  expect_identical(shown(by_callback), "rounds    4, stopped by a callback")
  expect_match(shown(fit(nrounds = 1e7, max_seconds = 0.01)), ", stopped by `max_seconds`$")
  broken <- tryCatch(fit(callbacks = function(now) if (now$round == 3) stop("no")), gbt_error_callback = identity)
  expect_identical(broken$model$stopped, "error")
  expect_same_bytes(by_callback$state, fit(nrounds = 4)$state) # it is no part of the bytes
  expect_null(by_callback[1:2]$stopped)
  by_callback$stopped <- "tired"
  expect_error(predict(by_callback, mtcars), "`stopped`", class = "gbt_error")
})

test_that("names and files in place of data get a hint", {
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines("a", file)
  expect_error(gbt_train(file, 1), "not the name of a file: read it first", class = "gbt_error_data")
  connection <- file(file)
  withr::defer(close(connection))
  expect_error(gbt_data(connection), "read the table from it first", class = "gbt_error_data")
  expect_snapshot(error = TRUE, {
    gbt_train(qsec, mtcars)
    gbt_train(mgp, mtcars)
    gbt_train("cars.csv", 1)
    gbt_train(mpg ~ hp, mtcars, weights = "wt")
    gbt_train(mtcars["hp"], mtcars$mpg, weights = "wt")
  })
  expect_s3_class((function(...) gbt_train(..1, ..2, nrounds = 1, threads = 1))(mpg ~ hp, mtcars), "gbt")
})

test_that("constants of a formula keep the values that they had", {
  made <- function(p) {
    of_model <- gbt_train(log(mpg + p) ~ I(wt^p) + offset(am * p), mtcars, nrounds = 2, threads = 1)
    of_cv <- gbt_cv(mpg ~ I(wt^p) + hp, mtcars, nrounds = 2, folds = 2, seed = 1, threads = 1)
    of_tune <- gbt_tune(mpg ~ I(wt^p) + hp, mtcars, nrounds = 2, folds = 2, seed = 1, threads = 1,
                        space = list(max_depth = c(2, 4)), configs = 2)
    list(model = of_model, cv = of_cv, tune = of_tune)
  }
  kept <- made(2)
  has_two <- function(model) expect_identical(model$terms$features[["I(wt^p)"]], "I(wt^2)")
  for (p in list(NULL, 5)) { # neither a variable that is gone nor another value
    if (is.null(p)) rm(p)
    for (object in kept) has_two(gbt_refit(object))
    expect_same_bytes(gbt_refit(kept$model)$state, kept$model$state)
    expect_same_bytes(gbt_refit(gbt_refit(kept$model))$state, kept$model$state)
    has_two(update(kept$model, eta = 0.2))
    has_two(gbt_refit(kept$cv, data = mtcars[1:20, ]))
  }
  expect_identical(update(kept$model, . ~ . + hp)$terms$features[["I(wt^p)"]], "I(wt^5)")
  file <- withr::local_tempfile()
  expect_silent(gbt_save(kept$model, file)) # which keeps no call
  expect_null(gbt_load(file)$call_constants)
})

test_that("another formula takes the place of the one that the call has", {
  expected <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 2, seed = 1, threads = 1)
  cv <- function(...) gbt_cv(..., nrounds = 2, folds = 2, seed = 1, threads = 1)
  own <- mpg ~ .
  objects <- list(cv(mpg ~ ., mtcars), cv(own, mtcars), cv(formula = mpg ~ ., data = mtcars), cv(data = mtcars, own),
                  cv(x = mpg ~ ., data = mtcars), gbt_train(mpg ~ ., mtcars, nrounds = 2, seed = 1, threads = 1))
  for (object in objects) {
    expect_same_bytes(gbt_refit(object, formula = mpg ~ wt + hp)$state, expected$state)
    expect_identical(nobs(gbt_refit(object, formula = mpg ~ wt + hp, data = mtcars[1:20, ])), 20L)
    expect_identical(nobs(gbt_refit(object, data = mtcars[1:20, ], formula = mpg ~ wt + hp)), 20L)
  }
  plain <- list(cv(mtcars[-1], mtcars$mpg), cv(mtcars[-1], y = mtcars$mpg), cv(x = mtcars[-1], y = mtcars$mpg))
  for (object in plain) {
    expect_same_bytes(gbt_refit(object, formula = mpg ~ wt + hp, data = mtcars)$state, expected$state)
  }
  expect_error(gbt_refit(plain[[2L]], formula = mpg ~ wt), "the data|`data`|variables", class = "gbt_error")
})

test_that("rows that are held out of a refit are no other data", {
  cv <- gbt_cv(mpg ~ ., mtcars, nrounds = 2, folds = 2, seed = 1, threads = 1)
  expect_silent(held <- gbt_refit(cv, valid = 0.2))
  expect_lt(nobs(held), 32)
  expect_silent(gbt_refit(cv, mask = am == 1))
})

test_that("a kept call names the function, with its package where that was named", {
  d <- mtcars
  head_of <- function(object) object$call[[1L]]
  expect_identical(head_of(gbt::gbt_train(mpg ~ wt, d, nrounds = 1, threads = 1)), quote(gbt::gbt_train))
  expect_identical(head_of(gbt::gbt_cv(mpg ~ wt, d, nrounds = 1, folds = 2, threads = 1)), quote(gbt::gbt_cv))
  through <- function(...) gbt_train(...)
  expect_identical(head_of(through(mpg ~ wt, d, nrounds = 1, threads = 1)), quote(gbt_train))
  cv <- do.call(gbt_cv, list(mpg ~ wt, quote(d), nrounds = 1, folds = 2, threads = 1))
  expect_identical(head_of(cv), quote(gbt_cv))
  models <- lapply(list(mpg ~ wt, mpg ~ hp), gbt_train, data = d, nrounds = 1, threads = 1)
  expect_identical(head_of(models[[1L]]), quote(gbt_train))
})

test_that("a cross-validation whose metric never had a value says so when it is refitted", {
  d <- mtcars
  none <- gbt_metric("none", function(pred, label) NaN)
  cv <- suppressWarnings(gbt_cv(mpg ~ wt, d, folds = 3, nrounds = 4, eval_metric = none, seed = 1, threads = 1))
  expect_warning(m <- gbt_refit(cv), "metric \"none\" .* has no finite value.*all 4 are trained",
                 class = "gbt_warning_metric")
  expect_identical(m$nrounds, 4L)
  expect_no_warning(gbt_refit(cv, nrounds = 3))
  expect_no_warning(gbt_refit(gbt_cv(mpg ~ wt, d, folds = 3, nrounds = 4, seed = 1, threads = 1)))
})

test_that("a seed that nobody gave is not shown as given after a refit", {
  named <- function(m) "seed" %in% m$named
  plain <- gbt_train(mpg ~ wt, mtcars, nrounds = 2, threads = 1)
  again <- gbt_refit(plain)
  expect_false(named(again))
  expect_false(any(grepl("seed", utils::capture.output(print(again)))))
  expect_false(named(gbt_refit(again)))
  drawn <- gbt_train(mpg ~ wt, mtcars, nrounds = 2, subsample = 0.5, threads = 1)
  expect_identical(gbt_refit(drawn)$state, drawn$state)
  expect_false(named(gbt_refit(drawn)))
  expect_true(named(gbt_refit(drawn, seed = 3)))
  expect_true(named(gbt_refit(gbt_train(mpg ~ wt, mtcars, nrounds = 2, seed = 3, threads = 1))))
  expect_false(named(gbt_refit(gbt_cv(mpg ~ wt, mtcars, nrounds = 2, threads = 1))))
  expect_true(named(gbt_refit(gbt_cv(mpg ~ wt, mtcars, nrounds = 2, seed = 3, threads = 1))))
  listed <- gbt_cv(mpg ~ wt, mtcars, params = list(nrounds = 2, seed = 3), threads = 1)
  expect_true(named(gbt_refit(listed)))
  file <- withr::local_tempfile()
  gbt_save(plain, file)
  expect_false(named(gbt_refit(gbt_load(file), data = mtcars)))
})
