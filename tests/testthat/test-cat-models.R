# Models with tables of statistics: saved, continued, printed.

some_rows <- function(n, seed = 1) {
  set.seed(seed)
  x <- data.frame(
    f = factor(sample(c(NA, sprintf("f%d", 1:90)), n, TRUE, prob = 1 / (1:91))),
    g = factor(sample(sprintf("g%d", 1:15), n, TRUE)), z = rnorm(n)
  )
  at <- as.integer(addNA(x$f)) * 15 + as.integer(x$g)
  list(x = x, y = x$z + sin(at) + rnorm(n) / 4)
}

# Unseen levels, missing ones, one after the other and both.
odd_rows <- function(x) {
  x <- transform(x[1:120, ], f = as.character(f), g = as.character(g))
  x$f[1:30] <- "never seen"
  x$g[20:50] <- NA
  x$g[60:70] <- "new"
  x$f[65:75] <- NA
  x
}

train_on <- function(d, ...) {
  gbt_train(d$x, d$y, ..., nrounds = 6, grow_policy = "depthwise", max_depth = 4, seed = 3, threads = 2)
}

test_that("a saved model predicts the same, row by row as well", {
  d <- some_rows(3000)
  m <- train_on(d, cat_method = c("target", "count"), max_cat_combine = 2)
  p <- predict(m, d$x)
  odd <- odd_rows(d$x)
  q <- predict(m, odd)
  expect_true(all(is.finite(q)))
  file <- withr::local_tempfile()
  gbt_save(m, file)
  again <- gbt_load(file)
  expect_identical(predict(again, d$x), p)
  expect_identical(predict(again, odd), q)
  expect_identical(vapply(c(1:5, 21:25, 60:70), function(i) predict(m, odd[i, ]), 0), q[c(1:5, 21:25, 60:70)])
  missing <- transform(odd, f = replace(f, 1:30, NA), g = replace(g, 60:70, NA))
  expect_identical(predict(m, odd, unseen = "missing"), predict(m, missing))
  shuffled <- transform(d$x, f = factor(as.character(f), rev(c("unused", levels(f)))), g = as.character(g))
  expect_identical(predict(m, shuffled), p)
})

test_that("going on from a model keeps its trees and their tables", {
  d <- some_rows(3000)
  m <- train_on(d, cat_method = "target", max_cat_combine = 2)
  more <- some_rows(2000, 2)
  more$x$f <- factor(as.character(more$x$f), rev(c("new", levels(more$x$f))))
  for (method in list("sets", "target", c("sets", "target"))) {
    on <- train_on(more, cat_method = method, init_model = m)
    expect_identical(length(on), 12L)
    rows <- rbind(more$x, d$x[d$x$f %in% c(NA, as.character(more$x$f)), ])
    expect_identical(predict(on[1:6], rows), predict(m, rows))
    expect_false(anyDuplicated(gbt_importance(on, by = "feature")$feature) > 0)
    twice <- train_on(d, cat_method = method, init_model = on)
    seen <- d$x[d$x$f %in% c(NA, as.character(more$x$f)), ]
    expect_identical(predict(twice[1:12], seen), predict(on, seen))
  }
})

test_that("statistics that no tree uses are not in the model", {
  d <- some_rows(3000)
  m <- train_on(d, cat_method = "target", max_cat_combine = 2)
  one <- gbt_train(d$x, d$x$z, nrounds = 2, cat_method = "target", max_cat_combine = 2, grow_policy = "depthwise",
                   max_depth = 2, threads = 1)
  expect_setequal(gbt_importance(one, by = "feature")$feature, c("f", "g", "z"))
  expect_lt(length(one$state), length(m$state))
  expect_true("mean(f x g)" %in% gbt_importance(m, by = "feature")$feature)
})

test_that("statistics are shown by their columns, their class and their values", {
  d <- some_rows(3000)
  m <- train_on(d, cat_method = "target", max_cat_combine = 2)
  nodes <- as.data.frame(m)
  mean_of <- which(nodes$feature %in% c("mean(f)", "mean(g)", "mean(f x g)"))
  expect_gt(length(mean_of), 5)
  expect_true(all(nodes$threshold[mean_of] > min(d$y) & nodes$threshold[mean_of] < max(d$y)))
  expect_identical(nodes$split[mean_of], paste("<=", vapply(nodes$threshold[mean_of], format, "", digits = 7)))
  expect_true(all(is.na(nodes$missing[mean_of])))
  expect_false(anyNA(nodes$missing[nodes$feature %in% "z"]))
  d$y <- factor(c("high", "low", "middle")[cut(d$y, 3)])
  classes <- gbt_importance(train_on(d, cat_method = c("target", "count")), by = "feature")
  expect_true(all(c("share(f, high)", "share(f, low)", "share(g, middle)", "rows(f)") %in% classes$feature))
  expect_equal(sum(classes$gain), 1)
})

test_that("a column that is called like a statistic is kept apart from it", {
  d <- data.frame(a = rep_len(letters[1:8], 200), v = sin(seq_len(200)), u = rep_len(LETTERS[1:7], 200))
  z <- seq_len(200) %% 8 + d$v + seq_len(200) %% 7
  fit <- function(names) {
    gbt_train(stats::setNames(d, names), z, cat_method = c("sets", "target"), nrounds = 5, seed = 1, threads = 1)
  }
  plain <- fit(c("a", "v", "u"))
  same <- fit(c("a", "mean(a)", "mean(a).1"))
  called <- c(a = "a", v = "mean(a)", u = "mean(a).1", "mean(a)" = "mean(a).1.1", "mean(u)" = "mean(mean(a).1)")
  for (table in list(as.data.frame, function(m) gbt_importance(m, by = "feature"))) {
    expected <- table(plain)
    expect_true(all(c("v", "mean(a)", "mean(u)") %in% expected$feature))
    expect_identical(table(same)$feature, unname(called[expected$feature]))
  }
})
