# gbt_evaluate() and gbt_confusion() of data that are not a table in memory: gbt_data(), sources of rows and chunks.

made <- function(n = 301, seed = 3) {
  withr::local_seed(seed)
  x <- data.frame(a = rnorm(n), b = replace(runif(n), 5, NA), f = sample(letters[1:5], n, TRUE),
                  w = sample(1:3, n, TRUE), day = as.Date("2020-01-01") + sample(9, n, TRUE))
  x$y <- round(x$a + (x$f %in% c("a", "e")) + rnorm(n), 6)
  x$count <- rpois(n, exp(0.3 * x$a) * x$w)
  x$two <- ifelse(x$y > 0, "yes", "no")
  x
}

in_chunks <- function(d, size = 97, as = identity) {
  function(i) {
    at <- (i - 1) * size + seq_len(size)
    at <- at[at <= nrow(d)]
    if (length(at)) as(d[at, , drop = FALSE])
  }
}

source_of_file <- function(d, ...) {
  file <- tempfile(fileext = ".csv")
  data.table::fwrite(d, file)
  gbt_files(file, ..., block_bytes = 4000) # several chunks
}

test_that("metrics of gbt_data are those of the table that it was made of", {
  d <- made()
  x <- d[c("a", "b", "f")]
  for (weight in list(NULL, d$w)) {
    data <- gbt_data(x, label = d$two, weight = weight)
    m <- gbt_train(data, nrounds = 5, threads = 1)
    want <- gbt_evaluate(m, x, d$two, weights = weight, threads = 1)
    expect_identical(gbt_evaluate(m, data, threads = 2), want)
    expect_identical(gbt_confusion(m, data, threads = 1), gbt_confusion(m, x, d$two, weights = weight, threads = 1))
    expect_identical(gbt_curve(m, data, "roc", threads = 1), gbt_curve(m, x, "roc", y = d$two, weights = weight))
    for (by in list(d$f, list(day = d$day))) {
      expect_identical(gbt_evaluate(m, data, by = by, intervals = 0.9, replicates = 20, seed = 1, threads = 1),
                       gbt_evaluate(m, x, d$two, by = by, weights = weight, intervals = 0.9, replicates = 20, seed = 1))
    }
    fit <- gbt_calibrate(m, data)
    expect_identical(fit$maps, gbt_calibrate(m, x, d$two, weights = weight)$maps)
    expect_identical(gbt_evaluate(fit, data, threads = 1), gbt_evaluate(fit, x, d$two, weights = weight, threads = 1))
  }
  own <- gbt_evaluate(m, data, rev(d$two), weights = d$w * 2, threads = 1)
  expect_identical(own, gbt_evaluate(m, x, rev(d$two), weights = d$w * 2, threads = 1))
  cv <- gbt_cv(data, nrounds = 5, folds = 3, seed = 1, keep_models = TRUE, threads = 1)
  expect_identical(gbt_evaluate(cv, data, threads = 1), gbt_evaluate(cv, x, d$two, weights = d$w, threads = 1))
  few <- x[1:50, ]
  counts <- gbt_data(x, label = d$count, exposure = d$w)
  valid <- gbt_data(few, label = d$count[1:50], exposure = d$w[1:50], reference = counts)
  m <- gbt_train(counts, objective = "poisson", nrounds = 5, valid = valid, eval_metric = "poisson_nloglik",
                 threads = 1)
  e <- gbt_evaluate(m, valid, metrics = "poisson_nloglik", threads = 1)
  expect_identical(e$estimate, m$evaluation_log$valid_poisson_nloglik[5])
})

test_that("metrics of ranking take the groups of gbt_data and of sources", {
  d <- made()
  d$grade <- pmin(d$count, 3)
  d$q <- sort(rep_len(1:30, nrow(d)))
  x <- d[c("a", "b", "f")]
  data <- gbt_data(x, label = d$grade, group = d$q)
  m <- gbt_train(data, objective = "rank_ndcg", nrounds = 5, threads = 1)
  want <- gbt_evaluate(m, x, d$grade, group = d$q, threads = 1)
  expect_identical(gbt_evaluate(m, data, threads = 1), want)
  expect_identical(gbt_evaluate(m, data, metrics = "rmse", threads = 1),
                   gbt_evaluate(m, x, d$grade, metrics = "rmse", threads = 1))
  skip_if_not_installed("data.table")
  source <- source_of_file(d[c("a", "b", "f", "grade", "q")], label = "grade", group = "q")
  expect_identical(gbt_evaluate(m, source, threads = 1), want)
  plain <- source_of_file(d[c("a", "b", "f", "grade", "q")], label = "grade")
  expect_identical(gbt_evaluate(m, plain, group = "q", threads = 1), want)
  expect_error(gbt_evaluate(m, plain), "need `group`", class = "gbt_error_argument")
})

test_that("metrics of rows in chunks are those of the table", {
  skip_if_not_installed("data.table")
  d <- made()
  models <- list(gbt_train(two ~ a + b + f, d, nrounds = 5, threads = 1),
                 gbt_train(log(y + 10) ~ log(a + 10) + b + f + day, d, nrounds = 5, threads = 1),
                 gbt_train(cbind(y, count) ~ a + b + f, d, nrounds = 5, threads = 1),
                 gbt_train(y ~ a + b + f, d, objective = "quantile", quantile_alpha = c(0.1, 0.9), nrounds = 3,
                           threads = 1),
                 gbt_train(count ~ a + b + f, d, exposure = w, objective = "poisson", nrounds = 5, threads = 1))
  for (m in models) {
    want <- gbt_evaluate(m, d, weights = w, by = f, threads = 1)
    for (x in list(in_chunks(d), in_chunks(d, 400), source_of_file(d))) {
      expect_identical(gbt_evaluate(m, x, weights = w, by = f, threads = 1), want)
      expect_identical(gbt_evaluate(m, x, weights = "w", by = list(by = f), threads = 2), want)
      expect_identical(gbt_evaluate(m, x, weights = "w", by = "f", threads = 2),
                       gbt_evaluate(m, d, weights = "w", by = "f", threads = 1))
      expect_identical(gbt_evaluate(m, x, trees = 2, threads = 1), gbt_evaluate(m, d, trees = 2, threads = 1))
    }
  }
  m <- models[[1]]
  want <- gbt_evaluate(m, d, weights = w, intervals = 0.9, replicates = 20, seed = 1, group = day, threads = 1)
  source <- source_of_file(d, label = "two", weight = "w")
  expect_identical(gbt_evaluate(m, source, intervals = 0.9, replicates = 20, seed = 1, group = day, threads = 1), want)
  of_count <- source_of_file(d, label = "count") # the formula of the model says what is predicted
  expect_identical(gbt_evaluate(m, of_count, threads = 1), gbt_evaluate(m, d, threads = 1))
  some <- source_of_file(d, label = "two", columns = c("a", "b", "f"))
  expect_identical(gbt_evaluate(m, some, by = "day", threads = 1), gbt_evaluate(m, d, by = "day", threads = 1))
  expect_identical(gbt_confusion(m, source, threads = 1), gbt_confusion(m, d, weights = w, threads = 1))
  own <- gbt_metric("own", function(pred, label, weight) mean(pred) + mean(label) / 10)
  expect_equal(gbt_evaluate(m, source, metrics = own), gbt_evaluate(m, d, metrics = own, weights = w))
  fit <- gbt_calibrate(m, d)
  expect_identical(gbt_evaluate(fit, source, threads = 1), gbt_evaluate(fit, d, weights = w, threads = 1))
})

test_that("models without a formula take the response from the source, from `y` or from chunks", {
  skip_if_not_installed("data.table")
  d <- made()
  x <- d[c("a", "b", "f")]
  m <- gbt_train(x, d$two, nrounds = 5, threads = 1)
  want <- gbt_evaluate(m, x, d$two, threads = 1)
  expect_identical(gbt_evaluate(m, source_of_file(d, label = "two"), threads = 1), want)
  expect_identical(gbt_evaluate(m, source_of_file(d), "two", threads = 1), want)
  expect_identical(gbt_evaluate(m, source_of_file(d), d$two, threads = 1), want)
  expect_identical(gbt_evaluate(m, in_chunks(x), d$two, threads = 1), want)
  listed <- in_chunks(d, as = function(rows) list(x = rows[c("a", "b", "f")], label = rows$two, weight = rows$w))
  expect_identical(gbt_evaluate(m, listed, threads = 1), gbt_evaluate(m, x, d$two, weights = d$w, threads = 1))
  counts <- gbt_train(x, d$count, exposure = d$w, objective = "poisson", nrounds = 5, threads = 1)
  want <- gbt_evaluate(counts, x, d$count, exposure = d$w, threads = 1)
  expect_identical(gbt_evaluate(counts, source_of_file(d, label = "count", exposure = "w"), threads = 1), want)
  expect_identical(gbt_evaluate(counts, source_of_file(d, label = "count"), exposure = d$w, threads = 1), want)
  matrix <- gbt_train(as.matrix(x[c("a", "b")]), d$y, nrounds = 5, threads = 1)
  expect_identical(gbt_evaluate(matrix, in_chunks(as.matrix(x[c("a", "b")])), d$y, threads = 1),
                   gbt_evaluate(matrix, x, d$y, threads = 1))
})

test_that("times of events and strata come from chunks", {
  skip_if_not_installed("data.table")
  d <- made()
  d$time <- exp(-d$a) + 0.1
  d$event <- as.numeric(d$w > 1)
  m <- gbt_train(Surv(time, event) ~ a + b + strata(f), d, nrounds = 5, threads = 1)
  want <- gbt_evaluate(m, d, metrics = c("cox_nloglik", "concordance", "brier_survival@1"), threads = 1)
  for (x in list(in_chunks(d), source_of_file(d), source_of_file(d, label = c("time", "event")))) {
    expect_identical(gbt_evaluate(m, x, metrics = want$metric, threads = 1), want)
  }
})

test_that("what cannot be judged in parts is refused with a way out", {
  skip_if_not_installed("data.table")
  d <- made(60)
  x <- d[c("a", "b", "f")]
  m <- gbt_train(two ~ a + b + f, d, nrounds = 2, threads = 1)
  plain <- gbt_train(x, d$two, nrounds = 2, threads = 1)
  data <- gbt_data(x)
  cv <- gbt_cv(two ~ a + b + f, d, nrounds = 2, folds = 3, seed = 1, keep_models = TRUE, threads = 1)
  rows <- in_chunks(d)
  file <- source_of_file(d)
  expect_snapshot(error = TRUE, {
    gbt_evaluate(plain, data)
    gbt_evaluate(plain, gbt_data(x, label = d$two), by = "f")
    gbt_evaluate(plain, file)
    gbt_evaluate(plain, file, "tow")
    gbt_evaluate(plain, in_chunks(x))
    gbt_evaluate(m, file, by = "g")
    gbt_evaluate(m, file, weights = "ww")
    gbt_evaluate(m, source_of_file(d[-1]))
    gbt_evaluate(m, in_chunks(d[0, ]))
    gbt_evaluate(cv, file)
    gbt_curve(m, file)
    gbt_importance(m, "permutation", data = file)
  })
})

test_that("columns that only metrics need are read as exactly as features", {
  skip_if_not_installed("data.table")
  d <- made()
  m <- gbt_train(two ~ a + b + f, d, nrounds = 5, threads = 1)
  d$id <- sprintf("%d", 10000 + seq_len(nrow(d)) %/% 100)
  far <- transform(d, id = paste0("9007199254741", id)) # above 2^53
  expect_error(gbt_evaluate(m, source_of_file(far), by = "id", threads = 1), "name the column in `texts`", fixed = TRUE)
  expect_identical(gbt_evaluate(m, source_of_file(far, texts = "id"), by = "id", threads = 1),
                   gbt_evaluate(m, far, by = "id", threads = 1))
  mixed <- transform(d, id = ifelse(seq_along(id) < 200, "007", "x"))
  expect_error(gbt_evaluate(m, source_of_file(mixed), by = "id", threads = 1),
               "column `id` has texts in some parts of the rows and numbers in others", fixed = TRUE)
  expect_identical(gbt_evaluate(m, source_of_file(mixed, texts = "id"), by = "id", threads = 1),
                   gbt_evaluate(m, mixed, by = "id", threads = 1))
  listed <- function(i) {
    chunk <- in_chunks(d)(i)
    if (!is.null(chunk)) c(list(x = chunk, label = chunk$two), if (i > 1) list(weight = chunk$w))
  }
  expect_error(gbt_evaluate(gbt_train(d[c("a", "b")], d$two, nrounds = 2, threads = 1), listed, threads = 1),
               "chunk 2 has other parts than chunk 1", fixed = TRUE)
})

test_that("several columns are named as the response of a source", {
  skip_if_not_installed("data.table")
  d <- made()
  m <- gbt_train(d[c("a", "b", "f")], d[c("y", "count")], nrounds = 5, threads = 1)
  expect_identical(gbt_evaluate(m, source_of_file(d), c("y", "count"), threads = 1),
                   gbt_evaluate(m, d[c("a", "b", "f")], d[c("y", "count")], threads = 1))
})
