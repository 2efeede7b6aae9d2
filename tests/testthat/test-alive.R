# Data at the edge of what data can be: small, empty, constant, wide, with names in any script. A model or a clear word.
fit <- function(x, y, ..., nrounds = 3) {
  withCallingHandlers(gbt_train(x, y, nrounds = nrounds, threads = 1, ...),
                      gbt_warning_column = function(w) invokeRestart("muffleWarning"))
}
y <- c(1.5, 2, 4, 3, 5, 2.5)
responses <- list(squared_error = y, logistic = y > 2, softmax = factor(rep(c("a", "b", "c"), 2)), poisson = round(y))
by_objective <- function(x, rows = seq_along(y), ...) {
  Map(function(objective, y) gbt_train(x, y[rows], objective = objective, nrounds = 3, threads = 1, ...),
      names(responses), responses)
}
forms <- function(x) {
  out <- list(x, as.matrix(x))
  if (requireNamespace("Matrix", quietly = TRUE)) out[[3]] <- methods::as(as.matrix(x), "CsparseMatrix")
  if (requireNamespace("Matrix", quietly = TRUE)) out[[4]] <- methods::as(as.matrix(x), "RsparseMatrix")
  out
}

test_that("zero rows are no training data, but may be predicted, in any form", {
  x <- data.frame(a = y, b = rev(y))
  model <- fit(x, y)
  for (form in forms(x)) {
    none <- form[0, , drop = FALSE]
    expect_error(fit(none, y[0]), "no rows", class = "gbt_error_data")
    empty <- gbt_data(none, label = y[0], threads = 1)
    expect_identical(dim(empty), c(0L, 2L))
    expect_error(gbt_train(empty), "no rows", class = "gbt_error_data")
    expect_length(predict(model, none), 0)
    expect_identical(dim(predict(model, none, type = "leaf")), c(0L, 3L))
  }
  data <- gbt_data(x, threads = 1)
  classes <- fit(x, responses$softmax)
  expect_identical(dim(predict(classes, x[0, ])), c(0L, 3L))
  expect_identical(levels(predict(classes, x[0, ], type = "class")), c("a", "b", "c"))
  expect_snapshot(error = TRUE, {
    fit(x[0, ], y[0])
    gbt_train(a ~ ., x[0, ])
    gbt_train(a ~ ., x, subset = a > 100)
    fit(x, y, valid = list(x = x[0, ], y = y[0]))
    fit(data, y, valid = gbt_data(x[0, ], label = y[0], reference = data, threads = 1))
  })
})

test_that("one row is learned", {
  x <- data.frame(a = 1, b = factor("u"), c = NA_real_)
  m <- fit(x, 7)
  expect_identical(predict(m, x), 7)
  expect_equal(predict(fit(x, 7, objective = "poisson"), x), 7, tolerance = 1e-12)
  expect_equal(predict(fit(x, 0.25, objective = "logistic"), x), 0.25, tolerance = 1e-12)
  expect_true(all(is.na(as.data.frame(m)$feature)))
  expect_snapshot(error = TRUE, {
    fit(x, TRUE)
    fit(x, factor("a"))
    fit(x, 7, valid = 0.5)
  })
})

test_that("one column is enough", {
  for (form in forms(data.frame(a = y))) {
    for (m in by_objective(form)) {
      expect_identical(predict(m, form), predict(m, data.frame(a = y)))
      expect_identical(m$feature_names, "a")
    }
  }
})

test_that("columns without information are never split", {
  x <- data.frame(one = rep(1, 6), none = NA_real_, no_level = factor(NA, "z"), empty = factor(NA), a = y,
                  inf = Inf, text = NA_character_, same = "s", flag = NA, day = as.Date(NA))
  for (m in by_objective(x, min_child_weight = 0)) {
    used <- as.data.frame(m)$feature
    expect_setequal(used[!is.na(used)], "a")
    expect_identical(predict(m, x), predict(m, x[ncol(x):1]))
  }
  for (m in by_objective(x["one"], min_child_weight = 0)) {
    expect_true(all(is.na(as.data.frame(m)$feature)))
    expect_length(unique(as.data.frame(predict(m, x)))[[1]], 1)
  }
  m <- fit(x["none"], y)
  expect_identical(predict(m, data.frame(none = c(NA, 5, -Inf))), rep(predict(m, data.frame(none = 0)), 3))
  m <- fit(x["text"], y) # no level was ever seen
  expect_identical(predict(m, data.frame(text = c("new", NA))), rep(predict(m, data.frame(text = "x")), 2))
})

test_that("a constant response is predicted, whatever the data", {
  x <- data.frame(a = y, b = factor(letters[1:6]))
  expect_equal(predict(fit(x, rep(3, 6)), x), rep(3, 6))
  expect_equal(predict(fit(x, rep(-1e300, 6)), x), rep(-1e300, 6))
  expect_equal(predict(fit(x, rep(0, 6)), x), rep(0, 6))
  expect_equal(predict(fit(x, rep(3, 6), objective = "poisson"), x), rep(3, 6), tolerance = 1e-6)
  for (value in 0:1) {
    p <- predict(fit(x, rep(value, 6), objective = "logistic", nrounds = 50), x)
    expect_true(all(abs(p - value) < 1e-5) && all(p > 0 & p < 1))
    p <- predict(fit(x, rep(value, 6), objective = "poisson", nrounds = 50), x)
    expect_true(all(is.finite(p)) && all(abs(p - value) < 1e-5))
  }
  expect_snapshot(error = TRUE, {
    fit(x, factor(rep("a", 6)))
    fit(x, rep(TRUE, 6))
    fit(x, rep(2, 6), objective = "softmax")
  })
})

test_that("tables whose columns are as long as a task of the engine are trained on, checked and predicted", {
  n <- 50000
  x <- data.frame(a = (seq_len(n) * 7919) %% 1009, f = factor((seq_len(n) * 31) %% 5), s = (seq_len(n) %% 17 == 0) + 0)
  y <- x$a + 10 * as.integer(x$f)
  for (rows in c(16256, 32640, 32641, 32700, 32767, 32768)) {
    i <- seq_len(rows)
    for (form in c(list(x[i, ]), forms(x[i, -2]))) {
      data <- gbt_data(form, label = y[i], threads = 1)
      m <- gbt_train(data, nrounds = 1, max_depth = 2, threads = 1)
      expect_identical(fit(form, y[i], nrounds = 1, max_depth = 2)$state, m$state)
      expect_length(predict(m, form, unseen = "error"), rows)
      valid <- fit(x[1:300, names(x) %in% m$feature_names], y[1:300], nrounds = 1, valid = list(x = form, y = y[i]))
      expect_identical(nrow(valid$evaluation_log), 1L)
    }
  }
  held_out <- fit(x[1:46700, ], y[1:46700], valid = 0.3, nrounds = 1) # leaves 32,690 rows
  expect_identical(nrow(held_out$evaluation_log), 1L)
})

test_that("70,000 columns of 40 rows are no trouble in any form", {
  skip_on_cran()
  skip_if_not_installed("Matrix")
  n_cols <- 7e4 # more than 16 bits count
  x <- matrix(((seq_len(40 * n_cols) * 7919) %% 10007) * ((seq_len(40 * n_cols) * 31) %% 17 == 0), 40)
  z <- x[, 66000] + sin(1:40)
  m <- gbt_train(x, z, nrounds = 3, threads = 2)
  expect_length(m$feature_names, n_cols)
  expect_same_bytes(gbt_train(methods::as(x, "CsparseMatrix"), z, nrounds = 3, threads = 1)$state, m$state)
  frame <- as.data.frame(x)
  names(frame) <- paste0("f", seq_len(n_cols))
  expect_same_bytes(gbt_train(frame, z, nrounds = 3, threads = 1)$state, m$state)
  expect_identical(predict(m, frame[n_cols:1]), predict(m, x))
  some <- gbt_train(x, z, nrounds = 3, colsample_bytree = 0.5, colsample_bynode = 0.01, seed = 1, threads = 2)
  expect_length(predict(some, x), 40)
  expect_identical(nrow(gbt_importance(m)), as.integer(n_cols))
  expect_error(predict(m, frame[-1]), "missing: `f1`$", class = "gbt_error_data")
  expect_error(predict(m, frame[1:5]), "and 69985 more", class = "gbt_error_data")
})

test_that("missing responses are errors that name the first row", {
  x <- data.frame(a = y)
  expect_snapshot(error = TRUE, {
    fit(x, replace(y, 3, NA))
    fit(x, replace(y, c(2, 5), NaN))
    fit(x, factor(c("a", NA, "b", "a", "b", NA)))
    fit(x, c(TRUE, FALSE, NA, NA, NA, NA))
    fit(x, rep(NA, 6))
    gbt_train(a ~ b, data.frame(a = c(1, NA), b = 1:2))
    gbt_data(x, label = replace(y, 6, NA))
    fit(x, y, valid = list(x = x, y = replace(y, 4, NA)))
    fit(x, replace(y, 2, Inf))
    fit(x, replace(y, 2, -Inf), objective = "poisson")
  })
  ok <- gbt_train(a ~ b, data.frame(a = c(1, NA, 3), b = 1:3), subset = !is.na(a), nrounds = 1, threads = 1)
  expect_identical(nobs(ok), 2L)
})

test_that("lengths that do not fit are errors that say both", {
  x <- data.frame(a = y, b = y)
  o <- matrix(0, 6, 2)
  expect_snapshot(error = TRUE, {
    fit(x, y[-1])
    fit(as.matrix(x), c(y, 1))
    fit(x, y, weights = 1)
    fit(x, y, offset = y[-1])
    fit(x, y, offset = o)
    fit(x, responses$softmax, offset = o)
    fit(x, responses$softmax, offset = y)
    fit(x, y, monotone = 1)
    fit(x, y, feature_weights = c(1, 1, 1))
    fit(x, y, valid = list(x = x, y = y[-1]))
    fit(x, y, weights = y, valid = list(x = x, y = y, weight = 1:2))
    gbt_data(x, label = y[-1])
    gbt_data(x, weight = y[-1])
    gbt_data(x, offset = y[-1])
    gbt_train(gbt_data(x, threads = 1), y[-1])
    predict(fit(x, y), x, offset = 1)
    predict(fit(x, responses$softmax), x, offset = o)
    gbt_train(a ~ b, x, weights = 1:2)
  })
})

test_that("names that stand for two columns are errors, where they are needed", {
  twice <- stats::setNames(data.frame(y, y, y), c("a", "b", "a"))
  expect_snapshot(error = TRUE, {
    fit(twice, y)
    fit(as.matrix(twice), y)
    gbt_data(twice)
    predict(fit(twice[1:2], y), twice)
    fit(stats::setNames(twice, c("a", "", "b")), y)
    fit(stats::setNames(twice, c("a", NA, "b")), y)
  })
  m <- fit(data.frame(b = y), y)
  expect_identical(predict(m, twice), predict(m, data.frame(b = y)))
})

test_that("names and levels of any encoding are the same texts", {
  utf8 <- c("caf\u00e9", "na\u00efve")
  latin1 <- iconv(utf8, "UTF-8", "latin1")
  expect_identical(Encoding(latin1), rep("latin1", 2))
  frame <- function(names, levels) {
    f <- factor(c(1, 1, 2, 2, 1, 2), labels = levels)
    stats::setNames(data.frame(f, y, levels[as.integer(f)]), c(names, "t"))
  }
  m <- fit(frame(utf8, utf8), y, min_data_per_group = 1, max_cat_onehot = 1)
  for (n in list(utf8, latin1)) for (l in list(utf8, latin1)) {
    x <- frame(n, l)
    expect_same_bytes(fit(x, y, min_data_per_group = 1, max_cat_onehot = 1)$state, m$state)
    expect_identical(predict(m, x, unseen = "error"), predict(m, frame(utf8, utf8)))
  }
  chosen <- fit(frame(latin1, latin1), y, monotone = stats::setNames(1, latin1[2]),
                feature_weights = stats::setNames(0, utf8[1]))
  expect_identical(unname(chosen$params$monotone), c(0L, 1L, 0L))
  by_formula <- gbt_train(t ~ ., transform(frame(utf8, utf8), t = y), nrounds = 1, threads = 1)
  expect_identical(by_formula$feature_names, utf8)
  expect_length(predict(by_formula, frame(latin1, latin1)), 6)
  classes <- fit(data.frame(a = y), factor(c(1, 2, 1, 2, 1, 2), labels = latin1))
  expect_identical(classes$classes, utf8)
  expect_identical(fit(data.frame(a = y), factor(c(1, 2, 1, 2, 1, 2), labels = utf8))$state, classes$state)
  for (texts in list("\u65e5\u672c\u8a9e", "\U1F600", "a b\tc\n`d`\"'\\", "<NA>", "NA", strrep("long ", 20000))) {
    x <- stats::setNames(data.frame(y, rep(c(texts, "other"), 3)), c(texts, "f"))
    m <- fit(x, y, min_data_per_group = 1)
    file <- withr::local_tempfile()
    gbt_save(m, file)
    expect_identical(gbt_load(file)$feature_names, c(texts, "f"))
    expect_identical(predict(gbt_load(file), x, unseen = "error"), predict(m, x))
    capture.output(print(m), print(summary(m)))
    e <- tryCatch(predict(m, x["f"]), error = identity)
    expect_s3_class(e, "gbt_error_data")
    expect_identical(e$column, texts)
  }
})

test_that("texts that are no texts are errors", {
  bad <- "caf\xe9"
  Encoding(bad) <- "UTF-8"
  bytes <- "caf\xe9"
  Encoding(bytes) <- "bytes"
  for (text in c(bad, bytes)) {
    name <- stats::setNames(data.frame(a = y), text)
    expect_error(fit(name, y), "caf<e9>", class = "gbt_error_data")
    expect_error(fit(data.frame(a = y), y, monotone = stats::setNames(1, text)), class = "gbt_error_argument")
    level <- data.frame(f = structure(rep(1:2, 3), levels = c("a", text), class = "factor"))
    expect_error(fit(level, y), "level of column `f`.*caf<e9>", class = "gbt_error_data")
    expect_error(fit(data.frame(f = rep(c("a", text), 3)), y), "text of column `f`.*caf<e9>", class = "gbt_error_data")
    expect_error(fit(data.frame(a = y), level$f), "caf<e9>", class = "gbt_error_data")
    m <- fit(data.frame(f = rep(c("a", "b"), 3)), y)
    expect_error(predict(m, level), "caf<e9>", class = "gbt_error_data")
  }
})

test_that("the locale of the session does not matter", {
  skip_on_cran()
  code <- quote({
    utf8 <- intToUtf8(c(99, 97, 102, 233))
    latin1 <- rawToChar(as.raw(c(99, 97, 102, 233)))
    Encoding(latin1) <- "latin1"
    unknown <- rawToChar(as.raw(c(99, 97, 102, 0xc3, 0xa9)))
    models <- lapply(list(utf8, latin1, unknown), function(t) {
      x <- stats::setNames(data.frame(rep(c(t, "u"), 20), factor(rep(c("v", t), each = 20)), 1:40 + 0), c(t, "b", "c"))
      m <- gbt_train(x, rep(c("yes", t, "no"), length.out = 40), nrounds = 3, monotone = stats::setNames(1, "c"),
                     threads = 1)
      stopifnot(identical(predict(m, x, unseen = "error", type = "class"), predict(m, x, type = "class")))
      capture.output(print(m), print(summary(m)), print(as.data.frame(m)))
      m$state
    })
    say("same", length(unique(models)), paste(models[[1]], collapse = ""))
  })
  state <- lapply(c("LC_ALL=C", "LC_ALL=C.UTF-8"), function(locale) {
    child <- start_child(code, before = paste0("export ", locale, ";"))
    expect_identical(wait_for(child, "same")[3], "1", label = locale)
    wait_for(child, "same")[4]
  })
  expect_gt(nchar(state[[1]]), 1000)
  expect_identical(state[[1]] == state[[2]], TRUE)
})
