# gbt_partial().

made <- function(n = 90) {
  set.seed(4)
  x <- data.frame(a = round(rnorm(n), 1), f = factor(sample(letters[1:4], n, TRUE), letters[1:5]),
                  o = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
                  t = sample(c("u", "v", NA), n, TRUE), d = as.Date("2020-01-01") + sample(500, n, TRUE),
                  p = as.POSIXct("2020-01-01", tz = "UTC") + sample(1e6, n, TRUE), l = runif(n) > 0.5,
                  i = sample(9, n, TRUE))
  x$a[5] <- NA
  x$y <- ifelse(is.na(x$a), 0, x$a) + (x$f == "b") * x$l + as.numeric(x$d) / 300 + as.integer(x$o) + rnorm(n, 0, 0.1)
  x
}

# A value after the other.
by_hand <- function(model, x, points, weight = rep(1, nrow(x)), ...) {
  t(vapply(seq_len(nrow(points)), function(i) {
    for (name in names(points)) x[[name]] <- points[[name]][rep(i, nrow(x))]
    p <- as.matrix(predict(model, x, threads = 1, ...))
    colSums(p * weight) / sum(weight)
  }, numeric(NCOL(predict(model, x, threads = 1, ...)))))
}

test_that("effects are means of predictions with the column replaced, for every class of column", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 10, max_depth = 3, threads = 1)
  w <- sample(0:3, 90, TRUE)
  for (name in setdiff(names(x), "y")) {
    for (type in c("response", "link")) {
      got <- gbt_partial(m, x, name, type = type, size = 7, weights = w, threads = 2)
      expect_named(got$effects, c(name, "estimate"))
      expect_identical(class(got$effects[[name]]), class(x[[name]]))
      expect_false(anyNA(got$effects[[name]]) || anyDuplicated(got$effects[[name]]) > 0)
      expect_equal(got$effects$estimate, as.vector(by_hand(m, x, got$effects[name], w, type = type)), tolerance = 1e-13)
    }
    expect_identical(gbt_partial(m, x, name, type = "link", size = 7, weights = w, threads = 1), got)
  }
  expect_identical(as.character(gbt_partial(m, x, "f", threads = 1)$effects$f), letters[1:4])
  expect_identical(gbt_partial(m, x, "t", threads = 1)$effects$t, c("u", "v"))
  ends <- gbt_partial(m, x, "a", size = 4, threads = 1)$effects$a
  expect_identical(range(ends), range(x$a, na.rm = TRUE))
  even <- gbt_partial(m, x, "d", size = 5, grid = "even", threads = 1)$effects$d
  expect_s3_class(even, "Date")
  expect_identical(range(even), range(x$d))
  missing <- gbt_partial(m, x, "a", values = c(NA, 1), threads = 1)
  expect_equal(missing$effects$estimate, as.vector(by_hand(m, x, missing$effects["a"])), tolerance = 1e-13)
  testthat::skip_if_not_installed("bit64")
  x$b <- bit64::as.integer64(x$i) * 10
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  got <- gbt_partial(m, x, "b", threads = 1)
  expect_equal(as.integer(got$effects$b), sort(unique(x$i)) * 10)
  expect_equal(got$effects$estimate, as.vector(by_hand(m, x, got$effects["b"])), tolerance = 1e-13)
})

test_that("two columns, classes, formulas, matrices, offsets, rounds", {
  x <- made()
  m <- gbt_train(cut(y, 3) ~ a + f + l, x, nrounds = 4, threads = 1)
  got <- gbt_partial(m, x, c("f", "l"), threads = 1)
  expect_identical(nrow(got$effects), 4L * 2L * 3L)
  expect_identical(levels(got$effects$output), m$classes)
  expect_equal(matrix(got$effects$estimate, 8), unname(by_hand(m, x, got$effects[1:8, 1:2])), tolerance = 1e-13)
  for (rows in list(1:90, 7L)) {
    plain <- gbt_partial(m, x[rows, ], "f", values = c("b", "a"), ice = TRUE, threads = 1)
    centred <- gbt_partial(m, x[rows, ], "f", values = c("b", "a"), ice = TRUE, centred = TRUE, threads = 1)
    of_b <- plain$ice$estimate[plain$ice$f == "b"]
    expect_identical(centred$ice$estimate[centred$ice$f == "b"], numeric(3 * length(rows)))
    expect_identical(centred$ice$estimate[centred$ice$f == "a"], plain$ice$estimate[plain$ice$f == "a"] - of_b)
  }
  m <- gbt_train(l ~ a + f, x, nrounds = 4, threads = 1)
  got <- gbt_partial(m, x, "f", type = "prob", threads = 1)
  want <- by_hand(m, x, got$effects[1:4, "f", drop = FALSE], type = "prob")
  expect_equal(matrix(got$effects$estimate, 4), unname(want), tolerance = 1e-13)
  m <- gbt_train(y ~ poly(i, 2) + log(a + 9) + offset(i * 2), x[-5, ], nrounds = 6, threads = 1)
  got <- gbt_partial(m, x[-5, ], "i", trees = 3, threads = 1)
  expect_equal(got$effects$estimate, as.vector(by_hand(m, x[-5, ], got$effects["i"], trees = 3)), tolerance = 1e-13)
  u <- as.matrix(x[c("a", "i")])
  m <- gbt_train(u, x$y, nrounds = 4, threads = 1)
  got <- gbt_partial(m, u, "i", offset = x$y, threads = 1)
  expect_identical(got, gbt_partial(m, unname(u), "i", offset = x$y, threads = 1))
  expect_equal(got$effects$estimate, as.vector(by_hand(m, x, got$effects["i"], offset = x$y)), tolerance = 1e-13)
  testthat::skip_if_not_installed("Matrix")
  u[is.na(u)] <- 0
  sparse <- methods::as(u, "CsparseMatrix")
  expect_identical(gbt_partial(m, sparse, "i", threads = 1)$effects, gbt_partial(m, u, "i", threads = 1)$effects)
})

test_that("curves of rows, centred ones, rows that are drawn, and what is done at a time", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 10, max_depth = 3, threads = 1)
  got <- gbt_partial(m, x, "i", ice = TRUE, rows = 20, seed = 3, threads = 1)
  at <- unique(got$ice$row)
  expect_length(at, 20)
  expect_equal(c(got$rows, got$n_obs), c(20, 90))
  one <- got$ice[got$ice$row == at[7], ]
  new <- x[rep(at[7], nrow(one)), ]
  new$i <- one$i
  expect_identical(one$estimate, unname(predict(m, new, threads = 1)))
  expect_equal(as.vector(tapply(got$ice$estimate, got$ice$i, mean)), got$effects$estimate, tolerance = 1e-13)
  centred <- gbt_partial(m, x, "i", ice = TRUE, centred = TRUE, rows = 20, seed = 3, threads = 1)
  expect_equal(centred$effects$estimate, got$effects$estimate - got$effects$estimate[1], tolerance = 1e-9)
  expect_true(all(centred$ice$estimate[centred$ice$i == min(x$i)] == 0))
  expect_identical(gbt_partial(m, x, "i", rows = 20, seed = 3, threads = 1)$effects, got$effects)
  expect_false(identical(gbt_partial(m, x, "i", rows = 20, seed = 4, threads = 1)$effects, got$effects))
  size <- gbt:::cells_of_call
  on.exit(utils::assignInNamespace("cells_of_call", size, "gbt"))
  for (cells in c(1, 19, 20, 21, 40, 400)) {
    utils::assignInNamespace("cells_of_call", cells, "gbt")
    expect_identical(gbt_partial(m, x, "i", ice = TRUE, centred = TRUE, rows = 20, seed = 3, threads = 1), centred)
  }
  expect_output(print(got), "20 of 90 rows, drawn by seed 3")
})

test_that("what is wrong is named", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_partial(m)
    gbt_partial(m, x)
    gbt_partial(m, x, "aa")
    gbt_partial(m, x, c("a", "f", "o"))
    gbt_partial(m, x, c("a", "a"))
    gbt_partial(m, x, "a", vales = 1)
    gbt_partial(m, x, "f", values = "z")
    gbt_partial(m, x, c("a", "f"), values = list(a = 1))
    gbt_partial(m, x, "a", type = "prob")
    gbt_partial(m, x, c("a", "f"), ice = TRUE)
    gbt_partial(m, x, "a", weights = rep(-1, 90))
    gbt_partial(m, x[0, ], "a")
    gbt_partial(m, transform(x, a = NA_real_), "a")
  })
})

test_that("outputs without names have numbers", {
  custom <- list(gradient = function(pred, label) pred - cbind(label, -label), n_outputs = 2,
                 hessian = function(pred, label) matrix(1, nrow(pred), 2))
  x <- mtcars[c("wt", "hp")]
  m <- gbt_train(x, mtcars$mpg, objective = custom, nrounds = 3, threads = 1)
  got <- gbt_partial(m, x, "wt", values = 3, ice = TRUE, threads = 1)
  expect_identical(levels(got$effects$output), c("1", "2"))
  pred <- predict(m, transform(x, wt = 3))
  expect_equal(got$effects$estimate, colMeans(pred), tolerance = 1e-14)
  expect_identical(got$ice$estimate[got$ice$output == "2"], unname(pred[, 2]))
  expect_silent(drawn(plot(got)))
  expect_identical(levels(gbt_interactions(m, x, threads = 1)$output), c("1", "2"))
  s <- gbt_shap(m, x, threads = 1)
  expect_identical(s$outputs, c("1", "2"))
  expect_equal(apply(s$values, c(1, 3), sum) + rep(s$base, each = 32), predict(m, x), ignore_attr = TRUE)
  long <- as.data.frame(s)
  expect_identical(long$contribution[long$row == 5 & long$column == "hp" & long$output == "2"], s$values[5, "hp", 2])
  expect_named(gbt:::augment.gbt(m, x), c("wt", "hp", ".fitted_1", ".fitted_2"))
  expect_identical(gbt:::get_predict.gbt(m, x)$group, rep(c("1", "2"), each = 32))
  file <- withr::local_tempfile()
  predict(m, x, output = file)
  expect_identical(readLines(file, 1), "output_1,output_2")
})

test_that("an even grid leaves infinite values out, for all sizes", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  plain <- range(x$a[-(1:3)], na.rm = TRUE)
  x$a[1:3] <- c(Inf, -Inf, Inf)
  for (size in 2:17) {
    got <- gbt_partial(m, x, "a", grid = "even", size = size, rows = 5, seed = 1, threads = 1)
    expect_identical(got$effects$a, seq(plain[1], plain[2], length.out = size))
  }
  x$a <- rep(c(Inf, 2, -Inf), 30) # one finite value
  expect_identical(gbt_partial(m, x, "a", grid = "even", size = 2, threads = 1)$effects$a, 2)
  for (texts in list(c("NaN", "b", NA), factor(c("NaN", "b", NA)))) { # a text like others
    expect_identical(sort(names(gbt:::spread_of(texts)), method = "radix"), c("NaN", "b"))
  }
  x$f[] <- NA
  expect_error(gbt_partial(m, x, "f", threads = 1), "`f` has no values but missing ones", class = "gbt_error_data")
  expect_error(gbt_partial(m, transform(x, f = NA_character_), "f", threads = 1), "no values but missing ones",
               class = "gbt_error_data")
})

test_that("several outputs are printed side by side", {
  m <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  p <- gbt_partial(m, iris, "Petal.Length", values = c(2, 5), threads = 1)
  shown <- capture.output(print(p, digits = 7))
  expect_identical(strsplit(trimws(shown[2]), " +")[[1]], c("Petal.Length", levels(iris$Species)))
  expect_equal(as.numeric(strsplit(trimws(shown[4]), " +")[[1]]),
               c(5, p$effects$estimate[p$effects$Petal.Length == 5]), tolerance = 1e-6)
})
