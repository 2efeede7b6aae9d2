train <- function(formula, ..., nrounds = 3) gbt_train(formula, ..., nrounds = nrounds, threads = 1)

test_that("plain formulas are columns", {
  xy <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 3, threads = 1)
  for (f in list(mpg ~ ., mpg ~ cyl + disp + hp + drat + wt + qsec + vs + am + gear + carb, mpg ~ . + 0, mpg ~ . - 1)) {
    m <- train(f, mtcars)
    expect_identical(as.data.frame(m), as.data.frame(xy))
    expect_null(m$terms)
    expect_identical(formula(m), f, ignore_formula_env = TRUE)
  }
  expect_identical(variable.names(train(mpg ~ . - wt - cyl, mtcars)), setdiff(names(mtcars), c("mpg", "wt", "cyl")))
  expect_identical(variable.names(train(log(mpg) ~ ., mtcars)), names(mtcars)[-1])
  by_name <- gbt_train(formula = mpg ~ ., data = mtcars, nrounds = 3, threads = 1)
  expect_same_bytes(by_name$state, train(mpg ~ ., mtcars)$state)
})

test_that("interactions name their variables, factors are not expanded", {
  expect_identical(variable.names(train(mpg ~ wt * hp, mtcars)), c("wt", "hp"))
  expect_identical(variable.names(train(mpg ~ wt:hp + (cyl + am)^2, mtcars)), c("wt", "hp", "cyl", "am"))
  m <- train(Sepal.Length ~ Species, iris)
  expect_identical(m$feature_types, "factor")
  expect_identical(variable.names(m), "Species")
})

test_that("transformations are evaluated again in new data", {
  m <- train(mpg ~ log(wt) + I(hp^2) + poly(disp, 2) + scale(qsec) + splines::ns(drat, 3), mtcars)
  expect_identical(variable.names(m), c("log(wt)", "I(hp^2)", "poly(disp, 2)1", "poly(disp, 2)2", "scale(qsec)",
                                        paste0("splines::ns(drat, 3)", 1:3)))
  p <- predict(m, mtcars)
  expect_identical(predict(m, mtcars[7:9, ]), p[7:9])
  expect_identical(predict(unserialize(serialize(m, NULL)), mtcars), p)
  file <- tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), mtcars), p)
  unlink(file)
  expect_error(predict(m, mtcars["wt"]), "missing: `hp`, `disp`, `qsec`, `drat`", class = "gbt_error_data")
})

test_that("features that depend on other rows are warned of, and no others", {
  for (f in list(mpg ~ rank(wt), mpg ~ hp + I(wt > mean(wt)), mpg ~ cut(wt, 3), mpg ~ rev(wt), mpg ~ cumsum(wt),
                 mpg ~ I(wt / sum(wt)), mpg ~ as.integer(factor(cyl)), mpg ~ rnorm(32), mpg ~ ave(wt, cyl))) {
    expect_warning(train(f, mtcars), class = "gbt_warning_formula")
  }
  expect_snapshot(m <- train(mpg ~ log(hp) + rank(wt) + sample(cyl), mtcars))
  d <- data.frame(y = 1:40, day = as.Date("2024-01-01") + 1:40, t = as.POSIXct("2024-01-01", "UTC") + 1:40 * 1e5,
                  from = as.POSIXct("2023-01-01", "UTC"), a = 1:40 / 7, b = c(NA, 2:40), s = rep(c("u", "v"), 20))
  expect_silent(for (f in list(
    y ~ poly(a, 3) + scale(a) + splines::ns(a, 3), y ~ log(b) + I(a^2) + ifelse(is.na(b), 0, b) + pmax(a, b),
    y ~ factor(s) + as.factor(a) + cut(a, c(-Inf, 2, Inf)) + paste(s, a), y ~ format(t, "%H") + weekdays(day),
    y ~ months(t) + difftime(t, from) + as.numeric(t - from) + as.Date(t),
    y ~ scale(a, scale = FALSE) + offset(log(a)), y ~ ifelse(a > 2, s, NA) + ifelse(a > 3, b, NA), y ~ .
  )) train(f, d, nrounds = 1))
  set.seed(1)
  suppressWarnings(train(mpg ~ sample(wt), mtcars))
  after <- .Random.seed # as if the formula had been evaluated once
  set.seed(1)
  sample(32)
  expect_identical(.Random.seed, after)
})

test_that("formulas keep no data and no environment", {
  big <- rnorm(1e6)
  local_train <- function() {
    also_big <- rnorm(1e6)
    train(mpg ~ log(wt) + hp, mtcars)
  }
  expect_lt(length(serialize(local_train(), NULL)), 50000)
})

test_that("variables that a model could not find again are errors", {
  k <- 2
  own <- function(x) x + 1
  expect_snapshot(error = TRUE, {
    train(mpg ~ I(wt^nowhere), mtcars)
    train(mpg ~ own(wt), mtcars)
    train(mpg ~ wtt, mtcars)
    train(mpg ~ log(wtt), mtcars)
    train(mpg ~ 1, mtcars)
    train(~wt, mtcars)
    train(mpg ~ ., 3)
    train(mpg ~ ., globalenv())
    train(mpg ~ .)
    train(nope ~ ., mtcars)
    train(mpg ~ log(cyl_text), transform(mtcars, cyl_text = as.character(cyl)))
    train(mpg ~ ., mtcars, weights = nope)
    train(mpg ~ ., mtcars, weight = nope)
    train(mpg ~ ., mtcars, weigth = cyl)
    train(mpg ~ ., mtcars, weight = cyl, weights = cyl)
    train(mtcars, mpg ~ wt)
    train("mpg ~ wt", mtcars)
    train(log(`a b`) ~ wt, stats::setNames(transform(mtcars, mpg = c(NA, mpg[-1])), c("a b", names(mtcars)[-1])))
    train(mpg ~ ., mtcars, subset = 40)
    train(mpg ~ not_there(wt), mtcars)
    train(mpg ~ 2 * wt, mtcars)
    train(mpg ~ mean(wt), mtcars)
    train(not_there ~ neither)
    train(not_there(mpg) ~ wt, mtcars)
    train((function(x) stop("no"))(mpg) ~ wt, mtcars)
  })
})

test_that("variables may come from where the formula was written", {
  y <- c(1, 2, 3, 4)
  x <- c(4, 3, 2, 1)
  expect_identical(variable.names(train(y ~ x)), "x")
})

test_that("files with formulas that run code are not trusted", {
  safe <- function(...) gbt:::check_design_safe(list(features = c(...), offset = NULL))
  expect_silent(safe("log(a)", "poly(a, 2, coefs = list(alpha = c(1, 2)))", "splines::ns(b, 3)"))
  for (text in c("system('x')", "base::system('x')", "splines::ns(base::system('x'))", "(function() 1)()", "a$f()(1)",
                 "list(f = system)$f('x')", "(if (T) system)('x')", "stats::ns(a)",
                 "get('system')('x')", "log(eval(a))", "'system'('x')", "a; b", "if (a) b")) {
    expect_error(safe(text), class = "gbt_error_format", label = text)
  }
})

test_that("weights, offset and subset are evaluated in the data", {
  a <- train(mpg ~ wt + hp, mtcars, weights = cyl, subset = gear > 3)
  rows <- mtcars$gear > 3
  b <- gbt_train(mtcars[rows, c("wt", "hp")], mtcars$mpg[rows], weights = mtcars$cyl[rows], nrounds = 3, threads = 1)
  expect_identical(as.data.frame(a), as.data.frame(b))
  expect_identical(nobs(a), sum(rows))
  a <- train(carb ~ wt + offset(log(hp)) + offset(am), mtcars, objective = "poisson")
  b <- train(carb ~ wt, mtcars, offset = log(hp) + am, objective = "poisson")
  expect_identical(as.data.frame(a), as.data.frame(b))
  expect_true(a$has_offset && b$has_offset)
  expect_identical(predict(a, mtcars), predict(b, mtcars, offset = log(mtcars$hp) + mtcars$am))
  expect_identical(variable.names(a), "wt")
  f <- function(w) train(mpg ~ wt, mtcars, weights = w)
  expect_same_bytes(f(mtcars$cyl)$state, train(mpg ~ wt, mtcars, weights = cyl)$state)
})

test_that("so they are by their other names", {
  a <- train(mpg ~ wt, mtcars, weights = cyl, offset = hp / 100)
  expect_same_bytes(train(mpg ~ wt, mtcars, weight = cyl, base_margin = hp / 100)$state, a$state)
  expect_same_bytes(train(mpg ~ wt, mtcars, init.score = hp / 100, sample_weight = mtcars$cyl)$state, a$state)
  f <- function(w, ...) train(mpg ~ wt, mtcars, weight = w, ...)
  expect_same_bytes(f(mtcars$cyl, offset = mtcars$hp / 100)$state, a$state)
  expect_same_bytes(do.call(train, list(mpg ~ wt, mtcars, weight = mtcars$cyl, offset = mtcars$hp / 100))$state,
                    a$state)
  expect_identical(nobs(train(mpg ~ wt, mtcars, weight = cyl, subset = gear > 3)), sum(mtcars$gear > 3))
  odd <- stats::setNames(list(1), "w\xfcrg")
  expect_error(do.call(train, c(list(mpg ~ wt, mtcars), odd)), "unknown parameter `w<fc>rg`",
               class = "gbt_error_argument")
  plain <- train(mpg ~ wt, mtcars)$state
  expect_same_bytes(train(mpg ~ wt, mtcars, weight = NULL)$state, plain)
})

test_that("constants of where the formula was written are kept by value", {
  made <- function(k, cut, these, day, p) {
    d <- transform(mtcars, when = as.Date("2024-01-01") + seq_len(32), kind = rep(letters[1:4], 8))
    list(
      by_name = train(log(mpg + p) ~ poly(wt, k) + I(hp > cut) + I(kind %in% these) + I(when < day) + I(qsec^p) +
                        offset(am * p), d),
      by_value = train(log(mpg + 1.25) ~ poly(wt, 2L) + I(hp > 120.1) + I(kind %in% c("a", "d")) +
                         I(when < as.Date("2024-01-12")) + I(qsec^1.25) + offset(am * 1.25), d),
      data = d
    )
  }
  m <- made(2L, 120.1, c("a", "d"), as.Date("2024-01-12"), 1.25)
  expect_identical(m$by_name$feature_names[1:3], c("poly(wt, k)1", "poly(wt, k)2", "I(hp > cut)"))
  expect_identical(unname(m$by_name$terms$features), unname(m$by_value$terms$features))
  expect_identical(m$by_name$terms[-1], m$by_value$terms[-1])
  expect_identical(m$by_name$formula == m$by_value$formula, FALSE)
  expect_match(m$by_name$formula, "log(mpg + 1.25) ~ poly(wt, k)", fixed = TRUE)
  p <- predict(m$by_name, m$data)
  expect_identical(p, predict(m$by_value, m$data))
  file <- withr::local_tempfile()
  gbt_save(m$by_name, file)
  expect_identical(predict(gbt_load(file), m$data), p) # no trust is needed: nothing is evaluated by R
  expect_equal(gbt_evaluate(m$by_name, m$data, metrics = "rmse", threads = 1)$rmse,
               gbt_evaluate(m$by_value, m$data, metrics = "rmse", threads = 1)$rmse)
  both <- withr::local_tempfile()
  saveRDS(list(file, m$data, both, .libPaths()), both)
  script <- sprintf(paste("l <- readRDS(%s); .libPaths(l[[4L]]);",
                          "saveRDS(predict(gbt::gbt_load(l[[1L]]), l[[2L]]), l[[3L]])"), sQuote(both, FALSE))
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(script))) # a session that knows none of the variables
  expect_identical(readRDS(both), p)
  # a column comes before a variable, a field of times is none, and vectors of several kinds come back
  hp <- 3
  expect_identical(as.data.frame(train(mpg ~ log(hp), mtcars)), as.data.frame(train(mpg ~ log(hp), mtcars + 0)))
  hour <- 5
  times <- data.frame(y = 1:48, t = as.POSIXct("2024-01-01", tz = "UTC") + 3600 * (1:48))
  expect_match(train(y ~ as.POSIXlt(t)$hour + I(as.POSIXlt(t)$hour > hour), times)$terms$features[[2L]],
               "$hour > 5", fixed = TRUE)
  for (set in list(c(4, 6), 4L, c(4, NA, Inf, -Inf), TRUE, 1e-300, c(0.1 + 0.2, 1 / 3), -5)) {
    m <- train(mpg ~ wt + I(cyl %in% set), mtcars)
    expect_identical(eval(str2lang(m$terms$features[[2L]]), mtcars), I(mtcars$cyl %in% set))
  }
  rm(hp)
})

test_that("what is no constant is an error that says so", {
  many <- 1:101
  rows <- mtcars$wt
  table <- matrix(1:4, 2)
  kinds <- factor(c("a", "b"))
  none <- numeric(0)
  expect_snapshot(error = TRUE, {
    train(mpg ~ I(wt %in% many), mtcars)
    train(mpg ~ I(hp * rows), mtcars)
    train(mpg ~ I(wt %in% table), mtcars)
    train(mpg ~ I(wt %in% kinds), mtcars)
    train(mpg ~ I(wt %in% none), mtcars)
    train(mpg ~ wt + offset(hp * rows), mtcars)
  })
})

test_that("rows with missing predictors stay, unless asked otherwise", {
  d <- transform(mtcars, wt = replace(wt, 1:3, NA))
  expect_identical(nobs(train(mpg ~ ., d)), 32L)
  expect_identical(nobs(train(mpg ~ ., d, na.action = na.omit)), 29L)
  expect_error(train(mpg ~ ., d, na.action = na.fail), "missing values")
})

test_that("a name that stands for two columns is an error wherever the formula or the model uses it", {
  twice <- cbind(mtcars[c("mpg", "hp", "wt")], hp = 1)
  for (formula in c(mpg ~ ., mpg ~ hp, mpg ~ log(hp) + wt, mpg ~ wt + offset(hp), hp ~ wt)) {
    e <- tryCatch(gbt_train(formula, twice, nrounds = 1, threads = 1), gbt_error_data = identity)
    expect_match(conditionMessage(e), "more than once: `hp`", fixed = TRUE)
    expect_identical(e$column, "hp")
  }
  expect_identical(gbt_train(mpg ~ wt, twice, nrounds = 1, threads = 1)$feature_names, "wt")
  for (formula in c(mpg ~ hp + wt, mpg ~ log(hp) + wt, mpg ~ wt + offset(hp))) {
    m <- gbt_train(formula, mtcars, nrounds = 1, threads = 1)
    expect_error(predict(m, twice), "more than once: `hp`", class = "gbt_error_data")
  }
})

test_that("parts of another length are told before rows are left out", {
  fit <- function(...) gbt_train(mpg ~ hp + offset(qsec), mtcars, ..., nrounds = 1, threads = 1)
  for (subset in list(NULL, 1:20)) {
    expect_error(fit(weights = 1:3, subset = subset), "`weights` has 3 values, but the data have 32 rows",
                 class = "gbt_error_data")
    expect_error(fit(offset = 1, subset = subset), "`offset` has 1 value, but offset() in the formula has 32",
                 fixed = TRUE, class = "gbt_error_data")
    expect_error(fit(offset = "a", subset = subset), "`offset` must be numbers", class = "gbt_error_data")
    expect_error(gbt_train(1 ~ hp, mtcars, subset = subset), "the response has 1 value, but the data have 32 rows",
                 class = "gbt_error_data")
  }
  m <- fit()
  for (offset in list("a", 1:2, list(1), factor(1:32))) {
    expect_error(predict(m, mtcars, offset = offset), "`offset`", class = "gbt_error_data")
  }
  expect_identical(predict(m, mtcars, offset = data.frame(a = rep(2, 32))), predict(m, mtcars, offset = rep(2, 32)))
})
