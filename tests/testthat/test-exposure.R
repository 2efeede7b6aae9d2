# Exposures: offsets that are given as what they are the logarithm of.

made <- function(n = 400) {
  set.seed(5)
  d <- data.frame(age = runif(n, 18, 80), power = rnorm(n), years = runif(n, 0.1, 1), z = rnorm(n) / 10)
  d$claims <- rpois(n, d$years * exp(-0.02 * d$age))
  d
}

fit <- function(..., objective = "poisson") {
  gbt_train(..., objective = objective, nrounds = 5, max_depth = 3, threads = 1)
}

test_that("every way to give exposures is that of the offset", {
  d <- made()
  x <- d[c("age", "power")]
  a <- fit(claims ~ age + power + offset(log(years)), d)
  ways <- list(
    fit(claims ~ age + power, d, exposure = years), fit(claims ~ age + power, d, exposure = "years"),
    fit(claims ~ . - z, d, exposure = years), fit(claims ~ log(age) + power, d, exposure = years),
    fit(d[c("age", "power", "years")], d$claims, exposure = "years"),
    fit(as.matrix(d[c("age", "years", "power")]), d$claims, exposure = "years"),
    fit(Matrix::Matrix(as.matrix(d[c("age", "years", "power")]), sparse = TRUE), d$claims, exposure = "years"),
    fit(x, d$claims, exposure = d$years), fit(gbt_data(x, threads = 1), d$claims, exposure = d$years),
    fit(x, d$claims, params = list(exposure = d$years)), fit(claims ~ age + power, d, exposure = years + 0)
  )
  for (i in seq_along(ways)) {
    m <- ways[[i]]
    if (i != 4L) expect_identical(as.data.frame(m), as.data.frame(a), label = paste("way", i))
    named <- i < 8L
    expect_identical(m$exposure, if (named) "years" else "")
    if (named) expect_equal(predict(m, d), predict(a, d))
    expect_identical(unname(predict(m, x, exposure = d$years)), unname(predict(a, d)))
    expect_identical(predict(m, x, exposure = 1), predict(a, transform(d, years = 1)))
    expect_identical(predict(m, d, exposure = "years"), predict(a, d))
    expect_warning(predict(m, x), if (named) "the column `years`" else "give `exposure =`",
                   class = "gbt_warning_offset")
  }
  expect_identical(variable.names(ways[[3L]]), c("age", "power"))
  expect_identical(variable.names(fit(claims ~ age + years, d, exposure = years)), c("age", "years"))
  for (objective in c("negative_binomial", "tweedie")) {
    expect_same_bytes(unserialize(serialize(fit(claims ~ age, d, exposure = years, objective = objective), NULL))$state,
                      fit(claims ~ age, d, exposure = "years", objective = objective)$state)
  }
  both <- fit(claims ~ age + offset(z), d, exposure = years)
  expect_identical(predict(both, d), predict(fit(claims ~ age + offset(z + log(years)), d), d))
  expect_silent(predict(both, d))
  expect_warning(predict(both, d[c("age", "z")]), "exposure", class = "gbt_warning_offset")
})

test_that("exposures go through validation, cross-validation, evaluation, chunks, files and contributions", {
  d <- made()
  t0 <- d[1:300, ]
  t1 <- d[301:400, ]
  by_offset <- claims ~ age + power + offset(log(years))
  a <- fit(by_offset, t0, valid = t1)
  x <- c("age", "power")
  for (b in list(
    fit(claims ~ age + power, t0, exposure = years, valid = t1),
    fit(claims ~ age + power, t0, exposure = years, valid = list(x = t1, y = t1$claims)),
    fit(claims ~ age + power, t0, exposure = 2 * years / 2, valid = t1),
    fit(t0[x], t0$claims, exposure = t0$years, valid = list(x = t1[x], y = t1$claims, exposure = t1$years)),
    fit(t0[c(x, "years")], t0$claims, exposure = "years", valid = list(x = t1, y = t1$claims)),
    fit(claims ~ age + power, d, exposure = years, valid = 301:400),
    fit(d[c(x, "years")], d$claims, exposure = "years", valid = 301:400)
  )) {
    expect_identical(unname(as.list(b$evaluation_log)), unname(as.list(a$evaluation_log)))
  }
  expect_identical(fit(claims ~ age, d, exposure = years, subset = age > 40)$n_obs, sum(d$age > 40))
  cv <- function(...) gbt_cv(..., objective = "poisson", nrounds = 4, folds = 3, seed = 2, threads = 1)
  folds <- gbt_cv(claims ~ age + power, d, exposure = years, objective = "poisson", nrounds = 4, folds = 3, seed = 2,
                  threads = 1)
  expect_identical(folds$predictions, cv(by_offset, d)$predictions)
  expect_identical(cv(d[c(x, "years")], d$claims, exposure = "years")$predictions, folds$predictions)
  expect_identical(gbt_refit(folds)$exposure, "years")
  m <- fit(claims ~ age + power, t0, exposure = years)
  values <- fit(t0[x], t0$claims, exposure = t0$years)
  o <- fit(by_offset, t0)
  rated <- as.data.frame(gbt_evaluate(o, t1, threads = 1))
  expect_equal(as.data.frame(gbt_evaluate(m, t1, threads = 1)), rated)
  expect_equal(as.data.frame(gbt_evaluate(values, t1[x], t1$claims, exposure = t1$years, threads = 1)), rated)
  expect_equal(as.data.frame(gbt_evaluate(values, t1, t1$claims, exposure = years, threads = 1)), rated)
  parts <- function(i) if (i <= 2) t1[1:50 + 50 * (i - 1), ]
  expect_equal(unname(predict(m, parts)), unname(predict(o, t1)))
  expect_equal(unname(predict(values, parts, exposure = t1$years)), unname(predict(o, t1)))
  expect_equal(gbt_shap(m, t1[1:9, ])$base, gbt_shap(o, t1[1:9, ])$base)
  expect_equal(gbt_shap(m, t1[1:9, ])$values, gbt_shap(o, t1[1:9, ])$values)
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(gbt_load(file)$exposure, "years")
  expect_identical(predict(gbt_load(file)[1:2], t1), predict(m, t1, trees = 2))
  expect_match(capture.output(print(m)), "rows +300, exposure `years`", all = FALSE)
  for (wrong in list(1, c("a", "b"), NA_character_)) {
    broken <- m
    broken$exposure <- wrong
    expect_error(predict(broken, t1), "`exposure`", class = "gbt_error")
  }
  other <- gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1)
  other$exposure <- "hp"
  expect_error(predict(other, mtcars), "`exposure`", class = "gbt_error")
})

test_that("what cannot be is an error that says why", {
  d <- made(40)
  m <- fit(claims ~ age, d, exposure = years)
  v <- fit(d["age"], d$claims, exposure = d$years)
  expect_error(predict(v, d["age"], exposure = 1:2, output = withr::local_tempfile(fileext = ".csv")),
               "`exposure` has 2 values for 40 rows", class = "gbt_error_data")
  expect_snapshot(error = TRUE, {
    fit(claims ~ age, d, exposure = -years)
    fit(claims ~ age, d, exposure = replace(years, 3, NA))
    fit(claims ~ age, d, exposure = 1:3)
    fit(claims ~ age, d, exposure = "yaers")
    fit(d["age"], d$claims, exposure = "years")
    fit(d["age"], d$claims, exposure = factor(d$years))
    fit(gbt_data(d["age"], threads = 1), d$claims, exposure = "years")
    fit(z ~ age, d, exposure = years, objective = "squared_error")
    gbt_cv(z ~ age, d, exposure = years, folds = 2, threads = 1)
    fit(claims ~ age, d, exposure = years, valid = d[c(1, 5)])
    fit(d["age"], d$claims, exposure = d$years, valid = list(x = d, y = d$claims))
    fit(claims ~ age, d, valid = list(x = d, y = d$claims, exposure = d$years))
    predict(m, d, exposure = 0)
    predict(m, d, exposure = "months")
    predict(m, transform(d, years = -1))
    predict(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1), mtcars, exposure = 1)
  })
})

test_that("an exposure that is given for a model with an offset is used, and not missed", {
  m <- gbt_train(mtcars[c("wt", "hp")], mtcars$carb, offset = log(mtcars$cyl), objective = "poisson", nrounds = 3,
                 threads = 1)
  expect_warning(predict(m, mtcars), class = "gbt_warning_offset")
  expect_silent(p <- predict(m, mtcars, exposure = mtcars$cyl))
  expect_identical(p, predict(m, mtcars, offset = log(mtcars$cyl)))
  expect_silent(expect_identical(predict(m, mtcars, exposure = "cyl"), p))
})

test_that("data that are prepared know their exposure, however they come", {
  d <- made()
  x <- c("age", "power")
  whole <- d[c(x, "years")]
  a <- fit(claims ~ age + power, d, exposure = years)
  like_a <- function(m, name = "years") {
    expect_identical(as.data.frame(m), as.data.frame(a))
    expect_identical(m$exposure, name)
    expect_identical(unname(predict(m, d[x], exposure = d$years)), unname(predict(a, d)))
    if (nzchar(name)) expect_identical(predict(m, d), predict(a, d))
  }
  folder <- withr::local_tempdir()
  chunk <- function(i, columns) if (i <= 4) d[100 * (i - 1) + 1:100, columns]
  with_exposures <- function(i) {
    part <- chunk(i, names(d))
    if (!is.null(part)) list(x = part[x], label = part$claims, exposure = part$years)
  }
  data <- function(...) gbt_data(..., threads = 1)
  named <- list(
    data(whole, d$claims, exposure = "years"), data(as.matrix(whole), d$claims, exposure = "years"),
    data(whole, d$claims, exposure = "years", path = file.path(folder, "named")),
    data(function(i) chunk(i, names(whole)), d$claims, exposure = "years")
  )
  plain <- list(data(d[x], d$claims, exposure = d$years), data(function(i) chunk(i, x), d$claims, exposure = d$years),
                data(with_exposures), data(with_exposures, path = file.path(folder, "plain")))
  for (one in named) {
    like_a(fit(one))
    expect_output(print(one), "with label, exposure `years`")
  }
  for (one in plain) like_a(fit(one), "")
  expect_identical(dim(named[[1L]]), c(400L, 2L))
  like_a(fit(gbt_open(file.path(folder, "named"), threads = 1)))
  like_a(fit(gbt_open(file.path(folder, "plain"), exposure = d$years, threads = 1)), "")
  other <- gbt_open(file.path(folder, "named"), offset = d$z, threads = 1)
  expect_null(fit(other)$exposure)
  expect_identical(as.data.frame(fit(other)), as.data.frame(fit(d[x], d$claims, offset = d$z)))
  both <- data(d[x], d$claims, offset = d$z, exposure = d$years)
  expect_same_bytes(fit(both)$state, fit(d[x], d$claims, offset = d$z, exposure = d$years)$state)
  # validation, folds, prediction by bins, and going on
  train <- data(whole[1:300, ], d$claims[1:300], exposure = "years")
  valid <- data(whole[301:400, ], d$claims[301:400], exposure = "years", reference = train)
  expect_identical(unname(as.list(fit(train, valid = valid)$evaluation_log)),
                   unname(as.list(fit(claims ~ age + power, d, exposure = years, valid = 301:400)$evaluation_log)))
  expect_identical(predict(a, named[[1L]]), unname(predict(a, d)))
  expect_identical(predict(fit(train), valid), unname(predict(fit(train), d[301:400, ])))
  cv <- function(...) gbt_cv(..., objective = "poisson", nrounds = 3, folds = 3, seed = 2, threads = 1)
  expect_identical(cv(named[[1L]])$predictions, cv(claims ~ age + power, d, exposure = years)$predictions)
  more <- fit(claims ~ age + power, d, exposure = years, init_model = a)
  for (made_for in list(data(whole, d$claims, exposure = "years", init_model = a),
                        data(with_exposures, init_model = a))) {
    expect_identical(as.data.frame(fit(made_for, init_model = a)), as.data.frame(more))
  }
  skip_on_os("windows")
  job <- gbt_job(named[[3L]], objective = "poisson", nrounds = 5, max_depth = 3, threads = 1)
  like_a(gbt_job_result(job))
})

test_that("sources have a column of exposures", {
  skip_if_not_installed("RSQLite")
  d <- made()
  a <- fit(claims ~ age + power, d, exposure = years)
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  DBI::dbWriteTable(db, "rows", d[c("age", "power", "years", "claims")])
  query <- function(...) gbt_query(db, "SELECT * FROM rows", label = "claims", chunk_rows = 90, ...)
  its <- query(exposure = "years")
  for (data in list(gbt_data(its, threads = 1), gbt_data(query(), exposure = "years", threads = 1),
                    gbt_data(db, "SELECT * FROM rows", label = "claims", exposure = "years", threads = 1))) {
    m <- fit(data)
    expect_identical(as.data.frame(m), as.data.frame(a))
    expect_identical(m$exposure, "years")
  }
  expect_equal(unname(predict(a, its, threads = 1)), unname(predict(a, d)))
  expect_equal(unname(predict(a, query(), threads = 1)), unname(predict(a, d))) # the column is found
  plain <- fit(d[c("age", "power")], d$claims, exposure = d$years)
  expect_equal(unname(predict(plain, its, threads = 1)), unname(predict(a, d)))
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(d[c("age", "power", "years", "claims")], file, row.names = FALSE)
  files <- gbt_files(file, label = "claims", exposure = "years")
  expect_equal(unname(predict(fit(gbt_data(files, threads = 1)), files, threads = 1)), unname(predict(a, d)))
})

test_that("partial dependence and contributions take exposures", {
  d <- made(60)
  x <- d[c("age", "power")]
  m <- fit(x, d$claims, exposure = d$years)
  named <- fit(claims ~ age + power, d, exposure = years)
  expected <- gbt_partial(m, x, "age", offset = log(d$years), threads = 1)$effects
  for (p in list(gbt_partial(m, x, "age", exposure = d$years, threads = 1),
                 gbt_partial(m, d, "age", exposure = "years", threads = 1),
                 gbt_partial(named, d, "age", threads = 1),
                 gbt_partial(named, d, "age", exposure = "years", threads = 1),
                 gbt_partial(named, x, "age", exposure = d$years, threads = 1))) {
    expect_equal(p$effects, expected)
  }
  one <- gbt_partial(named, d, "age", exposure = 1, threads = 1)$effects
  expect_equal(one, gbt_partial(m, x, "age", offset = numeric(60), threads = 1)$effects)
  drawn <- function(...) gbt_partial(m, x, c("age", "power"), size = 3, rows = 20, seed = 1, ..., threads = 1)$effects
  expect_equal(drawn(exposure = d$years), drawn(offset = log(d$years)))
  s <- gbt_shap(m, x, offset = log(d$years), threads = 1)
  for (found in list(gbt_shap(m, x, exposure = d$years, threads = 1), gbt_shap(named, d, threads = 1),
                     gbt_shap(named, x, exposure = d$years, threads = 1),
                     gbt_shap(named, d, exposure = 1, threads = 1))) {
    expect_equal(found$values, s$values, ignore_attr = TRUE)
    expect_equal(found$base, s$base)
  }
  expect_equal(gbt_shap(m, x, exposure = d$years, rows = 7, threads = 1)$base, s$base)
  expect_snapshot(error = TRUE, {
    gbt_partial(m, x, "age", exposure = 1:3, threads = 1)
    gbt_partial(m, x, "age", exposure = "years", threads = 1)
    gbt_partial(m, columns = "age", method = "recursion", exposure = 1)
    gbt_shap(m, x, exposure = -d$years, threads = 1)
    gbt_shap(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1), mtcars, exposure = 1)
  })
})

test_that("an exposure does not count twice", {
  d <- made(60)
  data <- gbt_data(d["age"], d$claims, exposure = d$years, threads = 1)
  by_offset <- fit(claims ~ age + offset(log(years)), d)
  expect_snapshot(error = TRUE, {
    fit(claims ~ age + offset(log(years)), d, exposure = years)
    fit(claims ~ age + offset(z) + offset(log(years)), d, exposure = "years")
    fit(claims ~ age, d, exposure = years, offset = log(years))
    fit(d["age"], d$claims, exposure = d$years, offset = log(d$years))
    gbt_data(d["age"], d$claims, exposure = d$years, offset = log(d$years), threads = 1)
    fit(data, exposure = d$years)
    fit(data, offset = d$z)
    predict(by_offset, d, exposure = d$years)
    gbt_data(d["age"], exposure = "years", threads = 1)
    gbt_data(function(i) if (i == 1) d["age"], exposure = "years", threads = 1)
    gbt_data(function(i) if (i == 1) list(x = d["age"], exposure = d$years), exposure = d$years, threads = 1)
    gbt_data(d["age"], exposure = 0 * d$years, threads = 1)
    gbt_train(data, objective = "squared_error", threads = 1)
  })
  expect_s3_class(fit(claims ~ age + offset(log(years)), d, exposure = rep(1, 60)), "gbt")
})

test_that("monitoring, intervals, importance and interactions take exposures as values, by name, and as remembered", {
  d <- made(120)
  t0 <- d[1:60, ]
  t1 <- d[61:120, ]
  x <- c("age", "power")
  m <- fit(t0[x], t0$claims, exposure = t0$years) # knows no column
  named <- fit(claims ~ age + power, t0, exposure = years)
  x0 <- t0[x]
  x1 <- t1[x]
  months <- t1$years * 12
  # gbt_monitor()
  want <- gbt_monitor(m, x1, x0, offset = log(t0$years), newoffset = log(t1$years), bins = 4, threads = 1)
  drift <- function(m, new, reference, ...) as.data.frame(gbt_monitor(m, new, reference, ..., bins = 4, threads = 1))
  for (got in list(drift(m, x1, x0, exposure = t0$years, newexposure = t1$years),
                   drift(m, t1, t0, exposure = years, newexposure = months / 12),
                   drift(m, t1, t0, exposure = "years", newexposure = "years"),
                   drift(m, as.matrix(t1[c(x, "years")]), t0, exposure = years, newexposure = "years"),
                   drift(m, t1, t0, offset = log(years), newoffset = log(years)),
                   drift(named, t1, t0))) {
    expect_equal(got, as.data.frame(want))
  }
  kept <- gbt_monitor_reference(m, t0, bins = 4, exposure = years, threads = 1)
  expect_equal(as.data.frame(gbt_monitor(kept, t1, newexposure = years, threads = 1)), as.data.frame(want))
  expect_identical(kept$monitor, gbt_monitor_reference(m, x0, bins = 4, offset = log(t0$years), threads = 1)$monitor)
  rates <- drift(m, t1, t0, exposure = 1, newexposure = 1)
  expect_equal(rates, drift(m, t1, t0, offset = numeric(60), newoffset = numeric(60)))
  expect_false(isTRUE(all.equal(rates, as.data.frame(want))))
  # gbt_conformal()
  want <- gbt_conformal(m, x0, t0$claims, offset = log(t0$years), threads = 1)
  for (got in list(gbt_conformal(m, x0, t0$claims, exposure = t0$years, threads = 1),
                   gbt_conformal(m, t0, t0$claims, exposure = years, threads = 1),
                   gbt_conformal(m, t0, t0$claims, exposure = "years", threads = 1),
                   gbt_conformal(m, t0, t0$claims, offset = log(years), threads = 1),
                   gbt_conformal(named, t0, threads = 1))) {
    expect_equal(got$scores, want$scores)
    ends <- predict(want, x1, offset = log(t1$years), threads = 1)
    expect_equal(predict(got, t1, exposure = "years", threads = 1), ends, ignore_attr = TRUE)
    expect_equal(predict(got, x1, exposure = t1$years, threads = 1), ends, ignore_attr = TRUE)
  }
  # importance
  permuted <- function(m, data, ...) {
    as.data.frame(gbt_importance(m, "permutation", data = data, repeats = 2, seed = 4, ..., threads = 1))
  }
  want <- permuted(m, x1, y = t1$claims, offset = log(t1$years))
  for (got in list(permuted(m, x1, y = t1$claims, exposure = t1$years),
                   permuted(m, t1, y = t1$claims, exposure = years),
                   permuted(m, t1, y = t1$claims, exposure = "years"), permuted(named, t1),
                   permuted(named, t1, exposure = months / 12),
                   permuted(m, Matrix::Matrix(as.matrix(t1[c(x, "years")]), sparse = TRUE), y = t1$claims,
                            exposure = "years"))) {
    expect_equal(got, want)
  }
  cv <- function(...) gbt_cv(d[x], d$claims, ..., objective = "poisson", nrounds = 2, folds = 3, seed = 2, threads = 1,
                             keep_models = TRUE)
  expect_equal(permuted(cv(exposure = d$years), d, y = d$claims, exposure = years),
               permuted(cv(offset = log(d$years)), d, y = d$claims, offset = log(years)))
  sizes <- function(m, data, ...) as.data.frame(gbt_importance(m, "shap", data = data, rows = 20, ..., threads = 1))
  want <- sizes(m, x1, offset = log(t1$years))
  for (got in list(sizes(m, t1, exposure = years), sizes(m, x1, exposure = t1$years), sizes(named, t1),
                   sizes(m, t1, exposure = "years"))) {
    expect_equal(got, want)
  }
  # interactions: the scale of the response, as an offset changes no raw score's interactions
  pairs <- function(m, data, ...) {
    as.data.frame(gbt_interactions(m, data, rows = 30, seed = 1, type = "response", ..., threads = 1))
  }
  want <- pairs(m, x1, offset = log(t1$years))
  for (got in list(pairs(m, t1, exposure = years), pairs(m, x1, exposure = t1$years), pairs(named, t1),
                   pairs(m, t1, exposure = "years"), pairs(m, t1, offset = log(years)))) {
    expect_equal(got, want)
  }
  expect_false(isTRUE(all.equal(pairs(m, x1, exposure = 1), want)))
  expect_snapshot(error = TRUE, {
    gbt_monitor(kept, t1, exposure = years)
    gbt_monitor(m, t1, t0, exposure = yaers, newexposure = years)
    gbt_monitor(m, t1, t0, exposure = years, newexposure = "yaers")
    gbt_monitor(m, t1, t0, exposure = 1:3)
    gbt_monitor(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1), mtcars, mtcars, exposure = 1)
    gbt_conformal(m, t0, t0$claims, exposure = -years)
    gbt_conformal(cv(exposure = d$years), d, d$claims, exposure = years)
    gbt_importance(m, "permutation", data = t1, y = t1$claims, exposure = "months")
    gbt_importance(m, "shap", data = t1, exposure = "months")
    gbt_importance(m, exposure = 1)
    gbt_interactions(m, t1, exposure = c(1, 2))
  })
})
