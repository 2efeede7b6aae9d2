# Helpers of drawings are in helper-drawing.R.

sampled <- function(n, ties, seed = 1) {
  withr::with_seed(seed, {
    predicted <- if (ties) sample(5, n, TRUE) / 5 else runif(n)
    list(predicted = predicted, observed = c(1, 0, as.double(runif(n - 2) < predicted[-(1:2)])),
         weight = sample(c(0.25, 1, 2.5, 3), n, TRUE))
  })
}

test_that("areas are the engine's metrics", {
  withr::local_seed(3)
  x <- data.frame(a = sample(4, 300, TRUE), b = sample(4, 300, TRUE))
  y <- x$a + x$b + rnorm(300) > 5
  m <- gbt_train(x, y, nrounds = 4, threads = 1)
  p <- predict(m, x, threads = 1)
  expect_lt(length(unique(p)), 17)
  for (w in list(NULL, runif(300), sample(0:2, 300, TRUE))) {
    e <- gbt_evaluate(m, x, y, metrics = c("auc", "pr_auc"), weights = w, threads = 1)
    expect_equal(attr(gbt_curve(y, p, "roc", w), "area"), e$estimate[1], tolerance = 1e-12)
    expect_equal(attr(gbt_curve(y, p, "pr", w), "area"), e$estimate[2], tolerance = 1e-12)
  }
})

test_that("every point is what its threshold says", {
  for (n in c(2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 200)) for (ties in c(TRUE, FALSE)) {
    d <- sampled(n, ties, n)
    w <- d$weight
    y <- d$observed
    at <- sort(unique(d$predicted), decreasing = TRUE)
    of <- function(v) vapply(at, function(t) sum(v[d$predicted >= t]), 0) / sum(v)
    roc <- gbt_curve(y, d$predicted, "roc", w)
    expect_equal(unclass(roc)[1:3], list(threshold = c(Inf, at), fpr = c(0, of(w * (1 - y))), tpr = c(0, of(w * y))))
    expect_identical(unlist(roc[nrow(roc), 2:3], use.names = FALSE), c(1, 1))
    pairs <- outer(which(y == 1), which(y == 0), function(i, j) {
      w[i] * w[j] * ((d$predicted[i] > d$predicted[j]) + (d$predicted[i] == d$predicted[j]) / 2)
    })
    expect_equal(attr(roc, "area"), sum(pairs) / sum(w[y == 1]) / sum(w[y == 0]))
    pr <- gbt_curve(y, d$predicted, "pr", w)
    expect_equal(pr$recall, of(w * y))
    precision <- function(t) sum((w * y)[d$predicted >= t]) / sum(w[d$predicted >= t])
    expect_equal(pr$precision, vapply(at, precision, 0))
    gains <- gbt_curve(y * 3, d$predicted, "gains", w)
    expect_equal(unclass(gains)[1:3], list(threshold = c(Inf, at), share = c(0, of(w)), gain = c(0, of(w * y))))
  }
})

test_that("bins have equal weight where there are no ties, and ties stay together", {
  for (n in c(2, 3, 7:9, 15:17, 1000)) for (bins in c(1, 2, 10, 64)) {
    d <- sampled(n, FALSE, n)
    curve <- gbt_curve(d$observed, d$predicted, bins = bins)
    bin <- pmin(floor((rank(d$predicted) - 0.5) / n * bins), bins - 1)
    expect_equal(curve$predicted, as.vector(tapply(d$predicted, bin, mean)))
    expect_equal(curve$observed, as.vector(tapply(d$observed, bin, mean)))
    expect_equal(curve$rows, as.vector(table(bin)))
    lift <- gbt_curve(d$observed, d$predicted, "lift", d$weight, bins)
    expect_equal(sum(lift$lift * lift$weight) / sum(lift$weight), 1)
    expect_identical(lift$share[nrow(lift)], 1)
    expect_identical(lift$cumulative[nrow(lift)], 1)
    expect_equal(lift$cumulative, cumsum(lift$lift * lift$weight) / cumsum(lift$weight))
    expect_equal(lift$lift[1], lift$cumulative[1])
  }
  one <- gbt_curve(c(1, 2, 6), c(5, 5, 5), weights = c(1, 1, 2))
  expect_equal(unclass(one)[1:5], list(bin = 1L, predicted = 5, observed = 3.75, rows = 3L, weight = 4))
})

test_that("the order of rows does not matter, a weight of 2 is the row twice and one of 0 is no row", {
  for (type in c("calibration", "lift", "gains", "roc", "pr")) for (ties in c(TRUE, FALSE)) {
    d <- sampled(50, ties)
    curve <- function(i, w) gbt_curve(d$observed[i], d$predicted[i], type, w)
    rows <- 1:50
    withr::with_seed(2, mixed <- sample(50))
    expect_identical(curve(rows, d$weight), curve(mixed, d$weight[mixed]))
    whole <- rep(c(0, 1, 2, 3, 1), 10)
    whole[1:2] <- 1
    twice <- curve(rep(rows, whole), NULL)
    same <- setdiff(names(twice), "rows") # rows are counted as they are
    expect_equal(curve(rows, whole)[same], twice[same], ignore_attr = TRUE)
  }
  expect_identical(gbt_curve(factor(c("n", "y", "n")), 1:3, "roc"), gbt_curve(c(FALSE, TRUE, FALSE), 1:3, "roc"))
  expect_identical(gbt_curve(c("n", "y", "n"), 1:3, "roc"), gbt_curve(c(0, 1, 0), 1:3, "roc"))
})

test_that("what has no curve is refused in words", {
  expect_snapshot(error = TRUE, {
    gbt_curve(c(0, 1))
    gbt_curve(c(0, 1), 1:3)
    gbt_curve(c(0, 1, 1), c(1, NA, Inf))
    gbt_curve(c(0, NA), 1:2)
    gbt_curve(c(TRUE, NA), 1:2)
    gbt_curve(c(0, 2), 1:2, "roc")
    gbt_curve(c(0, 0), 1:2, "pr")
    gbt_curve(c(1, 1), 1:2, "roc")
    gbt_curve(c(-1, 1), 1:2, "lift")
    gbt_curve(c(0, 0), 1:2, "gains")
    gbt_curve(iris$Species, 1:150)
    gbt_curve(c(0, 1), matrix(1:4, 2), "roc")
    gbt_curve(c(0, 1), c("a", "b"))
    gbt_curve(c(0, 1), 1:2, "roc", bins = 3)
    gbt_curve(c(0, 1), 1:2, bins = 0)
    gbt_curve(c(0, 1), 1:2, weights = c(1, -1))
    gbt_curve(c(0, 1), 1:2, weights = c(1e308, 1e308))
    gbt_curve(numeric(0), numeric(0))
    gbt_curve(c(0, 1), 1:2, "rock")
  })
})

test_that("errors about a model's curve name what the user wrote", {
  numbers <- gbt_train(mpg ~ wt, mtcars, objective = "dist_normal", nrounds = 2, threads = 1)
  two <- gbt_train(factor(am) ~ wt, mtcars, nrounds = 2, threads = 1)
  below <- gbt_train(-mpg ~ wt, mtcars, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_curve(numbers, mtcars, "roc")
    gbt_curve(list(a = numbers, b = below), mtcars, "pr")
    gbt_curve(two, mtcars[mtcars$am == 1, ], "roc")
    gbt_curve(below, mtcars, "lift")
  })
  shares <- gbt_train(am ~ wt, mtcars, objective = "squared_error", nrounds = 2, threads = 1)
  expect_identical(gbt_curve(shares, mtcars, "roc")$tpr, gbt_curve(mtcars$am, predict(shares, mtcars), "roc")$tpr)
})

test_that("what is no model and no list of models is refused in words", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_curve(list(), mtcars)
    gbt_curve(list(m, m), mtcars)
    gbt_curve(list(a = m, b = 5), mtcars)
    gbt_curve(list(c(0, 1), c(1, 0)), list(a = 1:2, b = 1:2))
    gbt_curve(model = list(), data = mtcars)
    gbt_curve(model = list(a = m, m), data = mtcars)
    gbt_curve(model = 5, data = mtcars)
  })
})

test_that("curves are printed and drawn", {
  d <- sampled(100, FALSE)
  expect_output(print(gbt_curve(d$observed, d$predicted, "roc")), "roc, 101 points, area .*and 91 more")
  expect_output(print(gbt_curve(d$observed, d$predicted)[1:2]), "predicted")
  expect_output(print(gbt_curve(d$observed, d$predicted, "roc")["threshold"]), "threshold")
  titles <- c(calibration = "mean prediction", lift = "share of rows, highest predictions first",
              gains = "share of rows, highest predictions first", roc = "false positive rate", pr = "recall")
  for (type in names(titles)) for (n in c(2, 100)) {
    in_sizes(plot(gbt_curve(d$observed[1:n], d$predicted[1:n], type)), function(record, size) {
      expect_identical(labels_of(record, "x title"), titles[[type]])
      expect_identical(length(labels_of(record, "subtitle")), if (type %in% c("gains", "roc", "pr")) 1L else 0L)
    })
  }
  in_sizes(plot(gbt_curve(c(1, 2), c(3, 3))))
  pr <- gbt_curve(c(0, 1, 1), c(3, 2, 1), "pr")
  expect_equal(gbt:::curve_shape(pr, "pr")[c("x", "y")], list(x = c(0, 0, 0, 0.5, 0.5, 1),
                                                            y = c(0, 0, 1 / 2, 1 / 2, 2 / 3, 2 / 3)))
  long <- gbt:::thin_line(seq(0, 1, length.out = 1e5), seq(0, 1, length.out = 1e5)^2)
  expect_lt(length(long$x), 21000)
  expect_identical(c(long$x[1], long$x[length(long$x)], long$y[length(long$y)]), c(0, 1, 1))
  drawn(expect_error(plot(gbt_curve(d$observed, d$predicted)[0, ]), "no rows", class = "gbt_error_argument"))
})

test_that("several predictions have the curves that each has alone, and a line each", {
  d <- sampled(60, FALSE)
  other <- round(d$predicted, 1)
  for (type in c("calibration", "lift", "gains", "roc", "pr")) {
    both <- gbt_curve(d$observed, list(fine = d$predicted, coarse = other), type, d$weight)
    expect_identical(levels(both$model), c("fine", "coarse"))
    alone <- list(fine = gbt_curve(d$observed, d$predicted, type, d$weight),
                  coarse = gbt_curve(d$observed, other, type, d$weight))
    for (name in names(alone)) {
      expect_equal(as.list(both[both$model == name, -1]), as.list(alone[[name]]), ignore_attr = TRUE)
    }
    expect_identical(attr(both, "area"), unlist(lapply(alone, attr, "area")))
    in_sizes(plot(both), function(record, size) expect_identical(labels_of(record, "key"), c("fine", "coarse")))
    expect_output(print(both), type)
  }
  frame <- gbt_curve(d$observed, data.frame(a = d$predicted), "roc")
  expect_identical(attr(frame, "area")[["a"]], attr(gbt_curve(d$observed, d$predicted, "roc"), "area"))
  page <- drawn(plot(gbt_curve(d$observed, list(a = d$predicted, b = other), "roc"), col = c("#FF0000", "#0000FF")))
  for (colour in c("1.000 0.000 0.000 SCN", "0.000 0.000 1.000 SCN")) expect_gte(times_in(colour, page), 1L)
  expect_snapshot(error = TRUE, {
    gbt_curve(c(0, 1), list(1:2, 1:2))
    gbt_curve(c(0, 1), list(a = 1:2, a = 1:2))
    gbt_curve(c(0, 1), list(a = 1:2, b = 1:3))
    gbt_curve(c(0, 1), list(a = 1:2, b = c(NA, 1)), "roc")
    gbt_curve(c(0, 1), list())
  })
})

test_that("parts of curves have the areas of those that are whole", {
  d <- sampled(60, FALSE)
  for (type in c("gains", "roc", "pr")) {
    both <- gbt_curve(d$observed, list(a = d$predicted, b = round(d$predicted, 1)), type)
    areas <- attr(both, "area")
    expect_identical(attr(both[both$model == "b", ], "area"), areas["b"])
    expect_identical(attr(both[rev(seq_len(nrow(both))), ], "area"), NULL) # in another order it is no curve
    expect_identical(attr(both[-1, ], "area"), areas["b"])
    expect_null(attr(both[2:3, ], "area"))
    expect_identical(attr(both[, -1], "area"), areas)
    expect_identical(lapply(split(both, both$model), attr, "area"), list(a = areas["a"], b = areas["b"]))
    part <- both[both$model == "a", ]
    expect_s3_class(part, c("gbt_curve", "data.frame"), exact = TRUE)
    expect_output(print(part), sprintf("area a: %s\n", format(areas[["a"]], digits = 4)), fixed = TRUE)
    drawn(expect_silent(plot(part)))
    drawn(expect_silent(plot(part[1:3, ])))
    one <- gbt_curve(d$observed, d$predicted, type)
    expect_identical(attr(one[seq_len(nrow(one)), ], "area"), attr(one, "area"))
    expect_null(attr(head(one, 3), "area"))
    expect_type(one[[2]], "double")
    expect_identical(one[2, 2], one[[2]][2])
  }
  plain <- gbt_curve(d$observed, d$predicted, "lift", bins = 4)
  expect_null(attr(plain[1:2, ], "area"))
})

classes_of <- function(n) {
  withr::with_seed(n, {
    d <- data.frame(a = runif(n), b = round(runif(n), 1))
    d$two <- factor(ifelse(runif(n) < d$a, "yes", "no"))
    d$three <- factor(letters[pmin(3, 1 + floor(3 * d$a * runif(n)))])
    d$count <- rpois(n, 2 * d$a)
    d
  })
}

test_that("a model and data have the curves of what was observed and predicted", {
  d <- classes_of(300)
  train <- 1:150
  new <- d[-train, ]
  w <- rep(c(1, 2, 0), 50)
  two <- gbt_train(two ~ a + b, d[train, ], nrounds = 10, threads = 1)
  three <- gbt_train(three ~ a + b, d[train, ], nrounds = 10, threads = 1)
  count <- gbt_train(count ~ a + b, d[train, ], objective = "poisson", nrounds = 10, threads = 1)
  fit <- gbt_calibrate(two, d[train, ], threads = 1)
  plain <- function(x) {
    attr(x, "of") <- NULL
    x
  }
  for (type in c("calibration", "lift", "gains", "roc", "pr")) {
    p <- predict(two, new, threads = 1)
    expect_equal(plain(gbt_curve(two, new, type, w, threads = 1)), gbt_curve(new$two, p, type, w))
    expect_equal(plain(gbt_curve(two, new[1:2], type, y = new$two, class = "no")),
                 gbt_curve(new$two == "no", 1 - p, type))
    both <- gbt_curve(list(raw = two, calibrated = fit), new, type, threads = 1)
    expect_equal(plain(both), gbt_curve(new$two, list(raw = p, calibrated = predict(fit, new)), type))
    expect_identical(attr(both, "of"), "yes")
    each <- gbt_curve(model = three, data = new, type = type, threads = 1)
    p <- predict(three, new, threads = 1)
    for (k in 1:3) {
      name <- letters[k]
      alone <- gbt_curve(new$three == name, p[, k], type)
      expect_equal(as.list(each[each$class == name, -1]), as.list(alone), ignore_attr = TRUE)
      expect_equal(plain(gbt_curve(three, new, type, class = name)), alone)
      if (!is.null(attr(alone, "area"))) expect_equal(attr(each, "area")[[name]], attr(alone, "area"))
    }
  }
  expect_equal(gbt_curve(count, new, "lift"), gbt_curve(new$count, predict(count, new), "lift"))
  cv <- gbt_cv(two ~ a + b, d, folds = 3, nrounds = 5, keep_models = TRUE, seed = 1, threads = 1)
  expect_equal(plain(gbt_curve(cv, d, "roc")), gbt_curve(d$two, cv$predictions, "roc"))
  roc <- gbt_curve(three, new, "roc")
  expect_output(print(roc), "roc, each class against the others, ", fixed = TRUE)
  expect_output(print(gbt_curve(two, new, "roc")), "roc, class \"yes\", ", fixed = TRUE)
  in_sizes(plot(roc), function(record, size) expect_identical(labels_of(record, "key"), letters[1:3]))
  in_sizes(plot(gbt_curve(two, new, "lift")), function(record, size) {
    expect_identical(labels_of(record, "subtitle"), "class \"yes\"")
  })
  expect_snapshot(error = TRUE, {
    gbt_curve(two)
    gbt_curve(two, new[1:2], new$two)
    gbt_curve(two, new[1:2])
    gbt_curve(two, gbt_data(new[1:2]))
    gbt_curve(three, new, class = "d")
    gbt_curve(count, new, class = "1")
    gbt_curve(list(a = two, b = three), new)
    gbt_curve(new$two, predict(two, new), class = "no")
    gbt_curve(predict(two, new), new$two)
    gbt_curve(predict(two, new), as.character(new$two))
    gbt_curve(predict(two, new), as.integer(new$two) - 1L, "roc")
    gbt_curve(two, new, klass = "no")
  })
})
