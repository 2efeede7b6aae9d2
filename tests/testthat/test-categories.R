# Columns with levels: numbers taken as categories, and what of levels may change no prediction.

made <- function(n = 900) {
  i <- seq_len(n)
  d <- data.frame(
    id = c(100003L, -7L, 0L, NA, 2000000000L)[(i * 7919) %% 5 + 1], code = (i * 31) %% 11 * 1e5, flag = i %% 3 == 0,
    size = factor(c("s", "m", "l")[i %% 3 + 1], c("s", "m", "l"), ordered = TRUE), x = cos(i)
  )
  d$y <- (i * 7919) %% 5 + d$code / 3e5 + 2 * d$flag + d$x
  d
}

columns <- c("id", "code", "flag", "size", "x")
chosen <- c("id", "code", "flag", "size")

fit <- function(x, y, ...) {
  gbt_train(x, y, nrounds = 6, max_depth = 4, cat_smooth = 0, min_data_per_group = 1, max_cat_onehot = 1, threads = 2,
            seed = 1, ...)
}

# The same by hand.
as_factors <- function(d) {
  digits <- function(v) factor(format(v, scientific = FALSE, trim = TRUE, digits = 15, decimal.mark = "."))
  d$id <- replace(digits(d$id), is.na(d$id), NA)
  d$code <- digits(d$code)
  d$flag <- factor(as.integer(d$flag))
  d$size <- factor(d$size, ordered = FALSE)
  d
}

test_that("numbers that cat_features names are the factors of their digits", {
  d <- made()
  by_hand <- fit(as_factors(d)[columns], d$y)
  want <- predict(by_hand, as_factors(d))
  m <- fit(d[columns], d$y, cat_features = chosen)
  expect_identical(predict(m, d), want)
  expect_identical(predict(m, as_factors(d)), want)
  expect_identical(predict(m, transform(d, id = as.double(id), code = as.integer(code), flag = as.double(flag))), want)
  expect_identical(predict(m, d[5, ]), want[5])
  expect_identical(m$feature_types, c("category", "category", "category", "category", "double"))
  expect_output(print(m), "1 numeric, 4 factor", fixed = TRUE)
  expect_identical(predict(fit(d[columns], d$y, categorical_feature = 1:4), d), want)
  expect_identical(predict(gbt_train(y ~ ., d[c(columns, "y")], nrounds = 6, max_depth = 4, cat_smooth = 0, seed = 1,
                                     min_data_per_group = 1, max_cat_onehot = 1, cat_features = chosen), d), want)
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d), want)
  m <- unserialize(serialize(m, NULL))
  expect_identical(predict(m, d), want)
  expect_false(identical(predict(fit(d[columns], d$y), d), want))
})

test_that("neither options nor classes of numbers change their digits", {
  d <- made()
  m <- fit(d[columns], d$y, cat_features = chosen)
  want <- predict(m, d)
  withr::with_options(list(scipen = -20, OutDec = ",", digits = 2), {
    expect_identical(predict(m, d), want)
    expect_identical(predict(fit(d[columns], d$y, cat_features = chosen), d), want)
  })
  big <- data.frame(k = c(2^53, -2^40, 1e15, 0, -0)[seq_len(500) %% 5 + 1])
  y <- match(big$k, c(2^53, -2^40, 1e15, 0))
  m <- fit(big, y, cat_features = "k")
  expect_gt(length(unique(predict(m, big))), 3)
  expect_identical(predict(m, data.frame(k = c("9007199254740992", "-1099511627776", "1000000000000000", "0"))),
                   predict(m, data.frame(k = c(2^53, -2^40, 1e15, 0))))
  skip_if_not_installed("bit64")
  expect_identical(predict(m, data.frame(k = bit64::as.integer64(big$k))), predict(m, big))
  expect_identical(predict(fit(data.frame(k = bit64::as.integer64(big$k)), y, cat_features = "k"), big),
                   predict(m, big))
})

test_that("columns of a matrix can be categories", {
  d <- made()[c("id", "code", "flag", "x")]
  y <- made()$y
  m <- as.matrix(d)
  chosen <- setdiff(chosen, "size")
  want <- predict(fit(d, y, cat_features = chosen), d)
  by_matrix <- fit(m, y, cat_features = chosen)
  expect_identical(predict(by_matrix, m), want)
  expect_identical(predict(by_matrix, d), want)
  expect_identical(predict(fit(d, y, cat_features = 1:3), m), want)
  storage.mode(m) <- "integer"
  expect_identical(predict(fit(m, y, cat_features = 1:3), m),
                   predict(fit(transform(d, x = as.integer(x)), y, cat_features = 1:3), m))
  expect_identical(predict(fit(unname(m), y, cat_features = 1), unname(m)), predict(fit(m, y, cat_features = 1), m))
  expect_identical(predict(by_matrix, m[rep(4, 3), ] * NA), rep(predict(by_matrix, d[1, ] * NA), 3))
  sparse <- Matrix::sparseMatrix(i = 1:3, j = c(1, 2, 1), x = 1, dimnames = list(NULL, c("a", "b")))
  expect_error(fit(sparse, 1:3, cat_features = "b"), "`b` of a sparse matrix", class = "gbt_error_unsupported")
})

test_that("gbt_data, validation data and going on take the numbers as well", {
  d <- made()
  data <- gbt_data(d[columns], d$y, cat_features = chosen, threads = 2)
  m <- fit(d[columns], d$y, cat_features = chosen, valid = list(x = d, y = d$y), eval_train = TRUE)
  sets <- fit(d[columns], d$y, cat_features = chosen, cat_method = "sets", valid = list(x = d, y = d$y),
              eval_train = TRUE)
  expect_identical(sets$evaluation_log$train_rmse, sets$evaluation_log$valid_rmse)
  again <- fit(data, d$y, cat_features = chosen, valid = list(x = d[columns], y = d$y), eval_train = TRUE)
  expect_identical(again$evaluation_log, m$evaluation_log)
  expect_identical(predict(again, d), predict(m, d))
  reference <- gbt_data(d[columns], d$y, reference = data)
  expect_identical(fit(data, d$y, valid = reference)$evaluation_log$valid_rmse, m$evaluation_log$valid_rmse)
  more <- fit(d[rev(seq_len(900)), columns], rev(d$y), init_model = m)
  expect_identical(more$feature_types, m$feature_types)
  expect_identical(predict(more, d, trees = 6), predict(m, d))
  expect_identical(predict(fit(d[columns], d$y, init_model = m), d),
                   predict(fit(d[columns], d$y, init_model = m, cat_features = chosen), d))
  counted <- fit(d[columns], d$y, cat_features = chosen, level_counts = "id")
  expect_identical(predict(counted, as_factors(d)), predict(fit(as_factors(d)[columns], d$y, level_counts = "id"),
                                                            as_factors(d)))
})

test_that("what cannot be a category is refused in words", {
  d <- made()
  m <- fit(d[columns], d$y, cat_features = chosen)
  data <- gbt_data(d[columns], d$y)
  expect_snapshot(error = TRUE, {
    fit(d[columns], d$y, cat_features = "x")
    fit(transform(d[columns], x = Inf), d$y, cat_features = "x")
    fit(transform(d[columns], x = 2^63), d$y, cat_features = "x")
    fit(transform(d[columns], x = as.Date("2024-01-01")), d$y, cat_features = "x")
    fit(d[columns], d$y, cat_features = "cod")
    fit(d[columns], d$y, cat_features = 6)
    fit(data, d$y, cat_features = "code")
    gbt_data(d[columns], reference = data, cat_features = "code")
    fit(d[columns], d$y, cat_features = chosen, monotone = c(code = 1))
    predict(m, transform(d, code = code + 0.5))
    predict(m, transform(d, code = as.Date("2024-01-01")))
  })
})

test_that("NA and a level \"NA\" are two things", {
  f <- c("NA", NA, "a")[seq_len(300) %% 3 + 1]
  y <- c(5, -5, 0)[seq_len(300) %% 3 + 1]
  m <- fit(data.frame(f = f), y)
  p <- predict(m, data.frame(f = c("NA", NA, "a")))
  expect_length(unique(p), 3)
  expect_identical(predict(m, data.frame(f = factor(c("NA", NA, "a")))), p)
  expect_identical(predict(m, data.frame(f = addNA(factor(c("NA", NA, "a"))))), p) # a level that is NA is missing
  expect_identical(predict(m, data.frame(f = NA)), p[2])
})

test_that("order of levels, levels without rows, factor or text: nothing of it changes a prediction", {
  i <- seq_len(600)
  f <- c("b", "d", "a", NA, "c")[(i * 7919) %% 5 + 1]
  y <- match(f, c("a", "b", "c", "d"), 9) + cos(i)
  x <- function(f) data.frame(f = f, z = sin(i))
  ways <- list(x(f), x(factor(f)), x(factor(f, c("d", "c", "b", "a"))), x(factor(f, c("x", "c", "y", "a", "b", "d"))),
               x(addNA(factor(f))))
  want <- predict(fit(ways[[1]], y), ways[[1]])
  for (trained in ways) for (new in ways) expect_identical(predict(fit(trained, y), new), want)
  few <- ways[[4]][11:14, ]
  expect_identical(predict(fit(ways[[3]], y), few), want[11:14])
  expect_identical(predict(fit(ways[[3]], y), droplevels(few)), want[11:14])
})

test_that("columns of one level, of NA, of nothing known, of levels without rows", {
  i <- seq_len(200)
  d <- data.frame(one = factor(rep("a", 200)), none = factor(rep(NA, 200), "b"), empty = factor(rep(NA, 200)),
                  f = factor(letters[i %% 7 + 1]), x = sin(i))
  y <- i %% 7 + d$x
  for (counts in c(FALSE, TRUE)) {
    m <- fit(d, y, level_counts = counts)
    p <- predict(m, d)
    expect_gt(cor(p, y), 0.5)
    other <- transform(d, one = "other", none = "b", empty = "c", f = "unknown")
    expect_identical(predict(m, transform(d, one = "other", none = "b", empty = "c")), p)
    expect_length(unique(predict(m, transform(other, x = 0))), 1)
    expect_identical(predict(m, other, unseen = "missing"),
                     predict(m, transform(d, one = NA, none = NA, empty = NA, f = NA)))
    expect_error(predict(m, other, unseen = "error"), "did not occur in training", class = "gbt_error_data")
  }
  only <- fit(d[c("one", "none", "empty")], y)
  expect_length(unique(predict(only, d)), 1)
})

test_that("equal texts in several encodings are one level", {
  latin <- iconv("stra\u00dfe", "UTF-8", "latin1")
  texts <- c("stra\u00dfe", latin, "road")
  f <- texts[seq_len(300) %% 3 + 1]
  y <- 3 * (f == "road")
  m <- fit(data.frame(f = f), y)
  p <- predict(m, data.frame(f = texts))
  expect_identical(p[1], p[2])
  expect_false(p[1] == p[3])
  expect_identical(predict(m, data.frame(f = factor(latin))), p[1])
  expect_identical(predict(fit(data.frame(f = enc2utf8(f)), y), data.frame(f = texts)), p)
})

test_that("negative and the largest numbers have their digits", {
  k <- c(-1, 2^62, -2^62, 2^63 - 1024, -2^63 + 1024, 0, 10, -10, NA)
  x <- data.frame(k = rep(k, 30))
  y <- rep(seq_along(k), 30)
  digits <- c("-1", "4611686018427387904", "-4611686018427387904", "9223372036854774784", "-9223372036854774784", "0",
              "10", "-10", NA)
  m <- fit(x, y, cat_features = "k")
  expect_identical(predict(fit(data.frame(k = rep(digits, 30)), y), data.frame(k = digits)),
                   predict(m, data.frame(k = k)))
  expect_identical(predict(m, data.frame(k = digits)), predict(m, data.frame(k = k)))
  expect_warning(none <- predict(m, data.frame(k = "none")), "whole numbers", class = "gbt_warning_unseen")
  expect_identical(predict(m, data.frame(k = 11)), none)
})

test_that("rows of unseen levels are counted", {
  d <- made()
  d$size[2] <- NA
  data <- gbt_data(d[columns], d$y, cat_features = c("id", "code"))
  m <- fit(d[columns], d$y, cat_features = c("id", "code"))
  new <- transform(d, id = replace(id, 5:7, 1:3), size = factor(replace(as.character(size), 9:10, "xl")))
  want <- c(id = 3, code = 0, size = 2)
  expect_identical(gbt_unseen(m, new), want)
  expect_identical(gbt_unseen(m, d), 0 * want)
  expect_identical(gbt_unseen(m, new[rev(names(new))][5, ], threads = 1), c(id = 1, code = 0, size = 0))
  expect_identical(gbt_unseen(data), 0 * want)
  for (unseen in c("prior", "missing")) {
    taken <- gbt_data(new, reference = data, unseen = unseen)
    expect_identical(gbt_unseen(taken), want)
    expect_output(print(taken), "unseen levels: `id` in 3 rows, `size` in 2 rows", fixed = TRUE)
  }
  expect_length(gbt_unseen(fit(d["x"], d$y), new), 0)
  expect_error(gbt_unseen(m), "`newdata` is missing", class = "gbt_error_argument")
  expect_error(gbt_unseen(data, new), "`newdata` can only be used with a model", class = "gbt_error_argument")
  expect_error(gbt_unseen(new), "must be a model", class = "gbt_error_argument")
  by_formula <- gbt_train(y ~ x + size, d, nrounds = 1)
  expect_identical(gbt_unseen(by_formula, new), c(size = 2))
})

# Levels by the hundred thousand: nothing may take time in proportion to their square, or to levels times calls.
test_that("many more levels than sets tell apart are numbers, texts or factors all the same", {
  n <- 150000
  i <- seq_len(n)
  id <- (i * 7919) %% 2^30
  id[n %/% 2 + seq_len(40000)] <- id[rep(1:20, 2000)]
  x <- data.frame(id = id, z = cos(i))
  y <- (id %% 5) + x$z
  more <- list(nrounds = 3, threads = 2, min_data_per_group = 1, cat_smooth = 0, level_counts = "id")
  m <- gbt_train(x, y, cat_features = "id", params = more)
  p <- predict(m, x)
  texts <- transform(x, id = sprintf("%.0f", id))
  expect_identical(predict(m, texts), p)
  expect_identical(predict(m, transform(texts, id = factor(id))), p)
  expect_identical(predict(gbt_train(texts, y, params = more), texts), p)
  expect_identical(predict(m, x[rev(i), ]), rev(p))
  at <- c(1, 70000, 149999)
  expect_identical(vapply(at, function(r) predict(m, x[r, ]), 0), p[at])
  expect_identical(predict(unserialize(serialize(m, NULL)), x), p)
  expect_identical(gbt_unseen(m, transform(x, id = id + 2^30)), c(id = as.double(n)))
  expect_length(unique(predict(m, data.frame(id = -1:-9, z = 0))), 1)
  expect_lt(max(lengths(as.data.frame(m)$levels)), 65535)
})
