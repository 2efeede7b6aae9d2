# gbt_partial(method = "ale").

made <- function(n = 150) {
  set.seed(11)
  a <- round(rnorm(n), 2)
  x <- data.frame(a = a, b = a + rnorm(n, 0, 0.5), f = factor(sample(letters[1:4], n, TRUE), letters[1:5]),
                  o = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
                  t = sample(c("u", "v", "w", NA), n, TRUE), d = as.Date("2020-01-01") + sample(500, n, TRUE),
                  p = as.POSIXct("2020-01-01", tz = "UTC") + sample(1e6, n, TRUE), l = runif(n) > 0.5,
                  i = sample(9, n, TRUE))
  x$y <- x$a * x$b + (x$f == "b") * x$l + as.numeric(x$d) / 300 + as.integer(x$o) * x$i / 5 + rnorm(n, 0, 0.1)
  x$a[5] <- NA
  x
}

ale <- function(...) gbt_partial(..., method = "ale", threads = 1)

# The definition, interval by interval and row by row. z: the grid, sorted.
naive_first <- function(model, x, name, z, w = rep(1, nrow(x)), score = NULL, ...) {
  if (is.null(score)) score <- function(x, rows) predict(model, x, threads = 1, ...)
  v <- as.numeric(x[[name]])
  u <- as.numeric(z)
  K <- length(z) - 1
  effect <- 0
  n <- numeric(K)
  for (k in seq_len(K)) {
    rows <- which(v <= u[k + 1] & (v > u[k] | k == 1 & v == u[1]))
    low <- high <- x[rows, ]
    low[[name]] <- rep(z[k], length(rows))
    high[[name]] <- rep(z[k + 1], length(rows))
    change <- score(high, rows) - score(low, rows)
    effect <- c(effect, effect[k] + sum(change * w[rows]) / sum(w[rows]))
  }
  on_line <- stats::approx(u, effect, v)$y
  known <- !is.na(on_line)
  effect - sum((on_line * w)[known]) / sum(w[known])
}

naive_levels <- function(model, x, name, order, w = rep(1, nrow(x)), ...) {
  v <- as.character(x[[name]])
  at <- function(level, rows) {
    x[[name]][rows] <- level
    predict(model, x[rows, ], threads = 1, ...)
  }
  effect <- 0
  for (k in seq_along(order)[-1]) {
    rows <- which(v %in% order[c(k - 1, k)])
    change <- at(order[k], rows) - at(order[k - 1], rows)
    effect <- c(effect, effect[k - 1] + sum(change * w[rows]) / sum(w[rows]))
  }
  share <- vapply(order, function(level) sum(w[v %in% level]), 0)
  effect - sum(effect * share) / sum(share)
}

test_that("first-order effects are those of the definition, for every class of column", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 15, grow_policy = "depthwise", max_depth = 4, threads = 1)
  w <- sample(0:3, 150, TRUE)
  for (name in c("a", "b", "d", "p", "l", "i")) {
    for (weights in list(rep(1, 150), w)) {
      got <- ale(m, x, name, size = 8, weights = weights)$effects
      expect_named(got, c(name, "estimate"))
      expect_identical(class(got[[name]]), class(x[[name]]))
      expect_equal(got$estimate, naive_first(m, x, name, got[[name]], weights), tolerance = 1e-10)
    }
  }
  for (name in c("f", "o", "t")) {
    got <- ale(m, x, name, weights = w)$effects
    expect_identical(class(got[[name]]), class(x[[name]]))
    expect_setequal(as.character(got[[name]]), unique(na.omit(as.character(x[[name]]))))
    expect_equal(got$estimate, unname(naive_levels(m, x, name, as.character(got[[name]]), w)), tolerance = 1e-10)
  }
  expect_identical(as.character(ale(m, x, "o")$effects$o), c("lo", "mid", "hi"))
  chosen <- ale(m, x, "f", values = c("d", "a", "b"))
  expect_identical(as.character(chosen$effects$f), c("d", "a", "b"))
  expect_equal(chosen$effects$estimate, unname(naive_levels(m, x, "f", c("d", "a", "b"))), tolerance = 1e-10)
  expect_identical(chosen$left_out, sum(x$f == "c"))
  expect_identical(as.character(ale(m, x, "o", values = c("hi", "lo"))$effects$o), c("lo", "hi"))
  testthat::skip_if_not_installed("bit64")
  x$big <- bit64::as.integer64(x$i) * 10
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  got <- ale(m, x, "big")$effects
  expect_equal(got$estimate, naive_first(m, transform(x, big = as.numeric(big)), "big", as.numeric(got$big)),
               tolerance = 1e-10)
})

test_that("an additive model has the effects of its terms, and none of the second order", {
  x <- made()
  # one split a tree: a sum of functions
  m <- gbt_train(y ~ ., x, nrounds = 60, grow_policy = "depthwise", max_depth = 1, threads = 1)
  for (name in c("a", "i", "d", "f", "o")) {
    got <- ale(m, x, name)$effects
    one <- x[rep(7, nrow(got)), ]
    one[[name]] <- got[[name]]
    term <- unname(predict(m, one, threads = 1))
    expect_equal(got$estimate - got$estimate[1], term - term[1], tolerance = 1e-12)
  }
  got <- ale(m, x, c("a", "i"), size = 6)$effects$estimate
  expect_equal(got, ifelse(is.na(got), NA, 0), tolerance = 1e-12)
  expect_true(any(!is.na(got)))
})

test_that("correlated columns do not extrapolate", {
  set.seed(2)
  a <- runif(4000)
  x <- data.frame(a, b = a + rnorm(4000, 0, 0.03))
  x$y <- x$a * x$b
  m <- gbt_train(y ~ ., x, nrounds = 300, grow_policy = "depthwise", max_depth = 4, threads = 1)
  got <- ale(m, x, "a")$effects
  true <- got$a^2 / 2 - 1 / 6 # the integral of b where it is a, less its mean
  expect_lt(mean(abs(got$estimate - true)), 0.05)
  # a column that decides nothing where rows are, and much where they are not
  x$y <- x$b + 10 * (x$b - x$a > 0.5)
  far <- data.frame(a = runif(200, 0, 0.3), b = 0.9, y = 11)
  m <- gbt_train(y ~ ., rbind(x, far), nrounds = 100, grow_policy = "depthwise", max_depth = 4, threads = 1)
  expect_lt(diff(range(ale(m, x, "a")$effects$estimate)), 0.05)
  expect_gt(diff(range(gbt_partial(m, x, "a", rows = NULL, threads = 1)$effects$estimate)), 0.5)
})

# Cells row by row, as in the paper; all cells have rows or are next to some that have.
naive_second <- function(model, x, names, z, w) {
  n <- lengths(z)
  place <- lapply(1:2, function(j) {
    pmax(1, vapply(x[[names[j]]], function(v) sum(z[[j]] < v), 0))
  })
  f <- function(row, i, j) {
    x[row, names] <- list(z[[1]][i], z[[2]][j])
    predict(model, x[row, ], threads = 1)
  }
  sum <- total <- matrix(0, n[1] - 1, n[2] - 1)
  for (row in seq_len(nrow(x))) {
    i <- place[[1]][row]
    j <- place[[2]][row]
    change <- f(row, i + 1, j + 1) - f(row, i, j + 1) - f(row, i + 1, j) + f(row, i, j)
    sum[i, j] <- sum[i, j] + w[row] * change
    total[i, j] <- total[i, j] + w[row]
  }
  mean <- sum / total
  filled <- mean
  for (i in seq_len(nrow(mean))) for (j in seq_len(ncol(mean))) if (is.nan(mean[i, j])) {
    filled[i, j] <- mean(mean[max(1, i - 1):min(nrow(mean), i + 1), max(1, j - 1):min(ncol(mean), j + 1)], na.rm = TRUE)
  }
  g <- matrix(0, n[1], n[2])
  for (i in 2:n[1]) for (j in 2:n[2]) g[i, j] <- sum(filled[1:(i - 1), 1:(j - 1)])
  main <- function(g, total) {
    out <- 0
    for (i in seq_len(nrow(total))) {
      step <- g[i + 1, ] - g[i, ]
      step <- (step[-1] + step[-length(step)]) / 2
      out <- c(out, out[i] + sum(total[i, ] * step) / sum(total[i, ]))
    }
    out
  }
  g <- g - outer(main(g, total), main(t(g), t(total)), "+")
  middle <- (g[-1, -1] + g[-n[1], -1] + g[-1, -n[2]] + g[-n[1], -n[2]]) / 4
  g <- g - sum(middle * total) / sum(total)
  for (i in 1:n[1]) for (j in 1:n[2]) {
    near <- total[intersect(c(i - 1, i), 1:(n[1] - 1)), intersect(c(j - 1, j), 1:(n[2] - 1))]
    if (sum(near) == 0) g[i, j] <- NA
  }
  as.vector(g)
}

test_that("second-order effects are those of the definition", {
  x <- made()[-5, ]
  m <- gbt_train(y ~ ., x, nrounds = 15, grow_policy = "depthwise", max_depth = 4, threads = 1)
  w <- sample(1:3, 149, TRUE)
  got <- ale(m, x, c("a", "b"), size = 4, weights = w)$effects
  z <- lapply(got[1:2], unique)
  expect_equal(got$estimate, naive_second(m, x, c("a", "b"), z, w), tolerance = 1e-10)
  expect_true(anyNA(got$estimate)) # a is near b
  got <- ale(m, x, c("i", "d"), size = 3)$effects
  expect_equal(got$estimate, naive_second(m, transform(x, d = as.numeric(d)), c("i", "d"),
                                          lapply(got[1:2], function(v) unique(as.numeric(v))), rep(1, 149)),
               tolerance = 1e-10)
  set.seed(3)
  x <- data.frame(a = runif(3000), b = runif(3000))
  x$y <- 4 * x$a * x$b + x$a - x$b
  m <- gbt_train(y ~ ., x, nrounds = 300, grow_policy = "depthwise", max_depth = 3, eta = 0.1, threads = 1)
  got <- ale(m, x, c("a", "b"), size = 9)$effects
  expect_lt(max(abs(got$estimate - 4 * (got$a - 0.5) * (got$b - 0.5))), 0.2)
})

test_that("levels are put in order by similarity", {
  set.seed(5)
  f <- sample(c("p", "q", "r", "s"), 400, TRUE)
  place <- c(p = 3, q = 1, r = 4, s = 2)[f]
  x <- data.frame(f = factor(f), u = place + rnorm(400, 0, 0.8), v = factor(place > runif(400, 0, 5)))
  x$y <- rnorm(400) + (f == "q")
  m <- gbt_train(y ~ ., x, nrounds = 5, threads = 1)
  expect_identical(as.character(ale(m, x, "f")$effects$f), c("r", "p", "s", "q"))
  # distances from their definitions
  naive <- function(level, v) {
    n <- nlevels(level)
    out <- matrix(0, n, n)
    for (i in 1:n) for (j in 1:n) {
      a <- v[as.integer(level) == i]
      b <- v[as.integer(level) == j]
      out[i, j] <- if (is.factor(v)) sum(abs(table(a) / length(a) - table(b) / length(b))) / 2 else
        suppressWarnings(stats::ks.test(a, b)$statistic)
    }
    out
  }
  few <- x[1:90, ] # as many bins as numbers
  for (name in c("u", "v")) {
    got <- gbt:::level_distances(as.integer(few$f), 4, few[[name]], rep(1, 90))
    expect_equal(as.vector(got), as.vector(as.dist(naive(few$f, few[[name]]))), tolerance = 1e-12)
  }
  twice <- gbt:::level_distances(rep(as.integer(few$f), 2), 4, rep(few$u, 2), rep(1, 180))
  expect_equal(gbt:::level_distances(as.integer(few$f), 4, few$u, rep(2, 90)), twice)
  # nothing to tell them apart by: as they are
  m <- gbt_train(y ~ f, x, nrounds = 5, threads = 1)
  expect_identical(as.character(ale(m, x, "f")$effects$f), levels(x$f))
})

test_that("few values, constant columns, empty intervals, infinite numbers, rows without a value", {
  x <- made()
  x$constant <- 3
  x$two <- rep(0:1, 75)
  x$one_level <- factor("z")
  x$y <- x$y + x$two
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  expect_identical(ale(m, x, "constant")$effects, data.frame(constant = 3, estimate = 0))
  expect_identical(ale(m, x, "one_level")$effects$estimate, 0)
  expect_equal(ale(m, x, c("a", "constant"), size = 3)$effects$estimate, numeric(3))
  got <- ale(m, x, "two")$effects
  expect_identical(got$two, 0:1)
  expect_equal(sum(got$estimate), 0, tolerance = 1e-12)
  expect_equal(ale(m, x[1:3, ], "b", size = 100)$effects$b, sort(x$b[1:3]))
  expect_identical(ale(m, x[2, ], "b", size = 100)$effects$estimate, 0)
  expect_identical(nrow(ale(m, x, "i", size = 1000)$effects), 9L)
  # as if the edges without rows had not been given
  got <- ale(m, x, "i", values = c(-5, -2, 0, 2, 2.2, 2.4, 6, 50, 60))
  expect_identical(got$effects, ale(m, x, "i", values = c(0, 2, 6, 50))$effects)
  expect_identical(got$left_out, 0L)
  part <- ale(m, x, "i", values = c(3, 5, 8))
  expect_identical(part$left_out, sum(x$i < 3 | x$i > 8))
  expect_identical(part$effects, ale(m, x[x$i >= 3 & x$i <= 8, ], "i", values = c(8, 3, 5, 5))$effects)
  missing <- ale(m, x, "a")
  expect_identical(missing$left_out, 1L)
  expect_identical(missing$effects, ale(m, x[-5, ], "a")$effects)
  expect_output(print(missing), "1 row left out: a missing or outside the grid", fixed = TRUE)
  x$b[1:2] <- c(-Inf, Inf)
  got <- ale(m, x, "b", size = 5)$effects
  expect_identical(range(got$b), c(-Inf, Inf))
  expect_true(all(is.finite(got$estimate)))
})

test_that("a weight of 2 is the row twice, a weight of 0 no row, and the order of rows does not matter", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  w <- rep(0:2, 50)
  at <- c(which(w > 0), which(w == 2))
  for (columns in list("a", "f", "t", "o", c("a", "b"))) {
    values <- if (length(columns) == 2L) list(a = c(-2, 0, 2), b = c(-2, 0, 2)) else
      if (columns == "a") c(-2, 0, 2) else ale(m, x, columns)$effects[[columns]]
    want <- ale(m, x[at, ], columns, values = values)
    expect_equal(ale(m, x, columns, values = values, weights = w)$effects, want$effects, tolerance = 1e-10)
    back <- 150:1
    expect_equal(ale(m, x[back, ], columns, values = values, weights = w[back])$effects, want$effects,
                 tolerance = 1e-10)
  }
})

test_that("classes, scales, formulas, matrices, offsets, exposures, rounds, parts and drawn rows", {
  x <- made()
  m <- gbt_train(cut(y, 3) ~ a + f + l + i, x, nrounds = 4, threads = 1)
  for (type in c("prob", "link")) {
    got <- ale(m, x, "i", type = type)
    expect_identical(levels(got$effects$output), m$classes)
    v <- vapply(1:3, function(k) {
      one <- got$effects[as.integer(got$effects$output) == k, ]
      max(abs(one$estimate - naive_first(m, x, "i", one$i, score = function(x, rows) {
        predict(m, x, type = type, threads = 1)[, k]
      })))
    }, 0)
    expect_lt(max(v), 1e-10)
    expect_identical(nrow(ale(m, x, c("a", "i"), type = type, size = 3)$effects), 27L)
  }
  m <- gbt_train(y ~ poly(i, 2) + log(b + 9) + offset(i * 2), x, nrounds = 6, threads = 1)
  got <- ale(m, x, "i", trees = 3)$effects
  expect_equal(got$estimate, naive_first(m, x, "i", got$i, trees = 3), tolerance = 1e-10)
  u <- as.matrix(x[c("b", "i")])
  m <- gbt_train(u, exp(x$y / 9), objective = "poisson", nrounds = 4, threads = 1)
  got <- ale(m, u, "i", offset = x$y / 9)$effects
  expect_equal(got$estimate, naive_first(m, as.data.frame(u), "i", got$i, score = function(u, rows) {
    predict(m, as.matrix(u), offset = x$y[rows] / 9, threads = 1)
  }), tolerance = 1e-10)
  x$time <- runif(150, 1, 2)
  m <- gbt_train(round(exp(y / 9)) ~ b + i, x, objective = "poisson", exposure = time, nrounds = 4, threads = 1)
  got <- ale(m, x, "i")$effects
  expect_equal(got$estimate, naive_first(m, x, "i", got$i), tolerance = 1e-10)
  whole <- ale(m, x, c("b", "i"), size = 5)
  size <- gbt:::cells_of_call
  on.exit(utils::assignInNamespace("cells_of_call", size, "gbt"))
  for (cells in c(1, 50, 149)) {
    utils::assignInNamespace("cells_of_call", cells, "gbt")
    expect_identical(ale(m, x, "i")$effects, got)
    expect_identical(ale(m, x, c("b", "i"), size = 5), whole)
  }
  utils::assignInNamespace("cells_of_call", size, "gbt")
  drawn <- ale(m, x, "b", rows = 40, seed = 3)
  expect_equal(c(drawn$rows, drawn$n_obs, drawn$seed), c(40, 150, 3))
  expect_output(print(drawn), "accumulated local effects, type \"response\", over 40 of 150 rows, drawn by seed 3")
  expect_identical(as.data.frame(drawn), drawn$effects)
  many <- x[rep(1:150, 80), ]
  expect_identical(ale(m, many, "b", seed = 1)$rows, 10000L)
  codes <- data.frame(k = sample(c(7, 3, 100), 150, TRUE), b = x$b)
  m <- gbt_train(codes, x$y, cat_features = "k", nrounds = 4, threads = 1)
  got <- ale(m, codes, "k", size = 2)$effects
  expect_setequal(got$k, c(7, 3, 100))
  expect_equal(got$estimate, unname(naive_levels(m, codes, "k", got$k)), tolerance = 1e-10)
  testthat::skip_if_not_installed("Matrix")
  m <- gbt_train(u, x$y, nrounds = 4, threads = 1)
  expect_identical(ale(m, methods::as(u, "CsparseMatrix"), "i")$effects, ale(m, u, "i")$effects)
})

test_that("what ALE cannot do is named", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    ale(m, x, "a", ice = TRUE)
    ale(m, x, "a", centred = TRUE)
    ale(m, x, c("a", "f"))
    ale(m, x, c("o", "a"))
    ale(m, x, "a", values = c(1, NA))
    ale(m, x, "a", values = 1)
    ale(m, x, "a", values = c(100, 200))
    ale(m, x, "f", values = c("e", "e"))
    ale(m, x[x$f != "a", ], "f", values = "a")
    ale(m)
  })
  x$id <- factor(seq_len(150))
  m <- gbt_train(y ~ id + a, x, nrounds = 2, threads = 1)
  most <- gbt:::most_ale_levels
  on.exit(utils::assignInNamespace("most_ale_levels", most, "gbt"))
  utils::assignInNamespace("most_ale_levels", 149L, "gbt")
  expect_snapshot(error = TRUE, ale(m, x, "id"))
})

test_that("effects are drawn about a line at 0", {
  x <- made()
  m <- gbt_train(y ~ ., x, nrounds = 10, threads = 1)
  numbers <- ale(m, x, "a")
  in_sizes(plot(numbers), function(record, size) {
    expect_identical(labels_of(record, "title"), "Accumulated local effects of a")
    expect_identical(labels_of(record, "subtitle"), "150 rows")
    expect_identical(labels_of(record, "note"), "1 row left out: a missing or outside the grid")
  })
  kinds <- function(p) vapply(Filter(length, gbt:::partial_figure(p, NULL)$panels[[1]]$marks), `[[`, "", "kind")
  expect_true("rule" %in% kinds(numbers))
  expect_true("rule" %in% kinds(ale(m, x, "f")))
  expect_false("rule" %in% kinds(gbt_partial(m, x, "a", threads = 1)))
  two <- ale(m, x, c("a", "b"), size = 5)
  in_sizes(plot(two), function(record, size) {
    expect_match(labels_of(record, "subtitle"), "beyond the effect of each")
    expect_match(labels_of(record, "note"), "grey: no rows are near")
  })
  for (p in list(numbers, two, ale(m, x, "t"))) expect_silent(drawn(plot(p)))
  testthat::skip_if_not_installed("ggplot2")
  for (p in list(numbers, two, ale(m, x, "t"))) expect_s3_class(ggplot2::autoplot(p), "ggplot")
})
