# Helpers of drawings are in helper-drawing.R.

test_that("a column of numbers is a line with the curves of rows behind it", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
  p <- gbt_partial(m, mtcars, "wt", ice = TRUE, threads = 1)
  in_sizes(plot(p), function(record, size) {
    usr <- record$panels[[1]]$usr
    expect_true(usr[3] < min(p$ice$estimate) && usr[4] > max(p$ice$estimate))
    expect_identical(labels_of(record, "x title"), "wt")
    expect_identical(labels_of(record, "subtitle"), "mean over 32 rows")
  })
  lines_of <- function(p) gbt:::partial_lines(p, gbt:::partial_shown(p, NULL))
  lines <- lines_of(p)
  expect_equal(lines$panel[2:3], list(round = p$effects$wt, values = list(p$effects$estimate)))
  for (r in c(1, 17, 32)) expect_equal(lines$ice[[1]][, r], p$ice$estimate[p$ice$row == r])
  expect_equal(rowMeans(lines$ice[[1]]), p$effects$estimate)
  # values in any order are drawn from left to right; what is missing is in the foot
  p <- gbt_partial(m, mtcars, "wt", values = c(4, NA, 2, 3), threads = 1)
  expect_equal(lines_of(p)$panel[2:3], list(round = c(2, 3, 4), values = list(p$effects$estimate[c(3, 4, 1)])))
  in_sizes(plot(p), function(record, size) {
    expect_identical(labels_of(record, "note"), paste("where wt is missing:",
                                                      gbt:::number_label(p$effects$estimate[2L])))
  })
  nowhere <- gbt_partial(m, mtcars, "wt", values = NA_real_, threads = 1)
  expect_error(drawn(plot(nowhere)), "missing", class = "gbt_error_argument")
})

test_that("several outputs are lines with names, and panels where there are curves", {
  m <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
  p <- gbt_partial(m, iris, "Petal.Length", type = "prob", threads = 1)
  in_sizes(plot(p), function(record, size) expect_setequal(labels_of(record, "end label"), levels(iris$Species)))
  in_sizes(plot(p, output = c("setosa", "virginica")), function(record, size) {
    expect_setequal(labels_of(record, "end label"), c("setosa", "virginica"))
  })
  p <- gbt_partial(m, iris, "Petal.Length", ice = TRUE, centred = TRUE, threads = 1)
  in_sizes(plot(p), function(record, size) {
    shown <- labels_of(record, "heading")
    left_out <- as.numeric(sub(" .*", "", labels_of(record, "note")))
    expect_equal(length(shown) + sum(left_out), 3)
  })
  expect_error(plot(p, output = "setose"), "setosa", class = "gbt_error_argument")
  expect_error(plot(p, outputs = "setosa"), class = "gbt_error_argument")
  # more than direct labels have room for: a legend
  many <- structure(class = "gbt_partial", list(
    columns = "a", type = "prob", centred = FALSE, spread = NULL, rows = 5, n_obs = 9, ice = NULL,
    effects = data.frame(a = rep(1:3, 12), output = factor(rep(letters[1:12], each = 3)), estimate = 1:36)))
  in_sizes(plot(many), function(record, size) {
    expect_identical(labels_of(record, "key"), letters[1:12])
    expect_identical(labels_of(record, "subtitle"), "mean over 5 of 9 rows")
  })
})

test_that("levels are points, all with labels or counted", {
  for (n in c(1, 2, 3, 17, 120)) {
    d <- data.frame(f = factor(rep(seq_len(n), length.out = 240)), b = rep(c(TRUE, FALSE, NA), 80))
    m <- gbt_train(d, as.integer(d$f) %% 7 + (1:240) / 100, nrounds = 3, threads = 1)
    p <- gbt_partial(m, d, "f", ice = TRUE, rows = 20, seed = 1, threads = 1)
    in_sizes(plot(p), function(record, size) {
      left_out <- as.numeric(sub(" .*", "", labels_of(record, "note")))
      expect_equal(length(labels_of(record, "bar label")) + sum(left_out), n)
    })
  }
  in_sizes(plot(gbt_partial(m, d, "b", values = c(TRUE, FALSE, NA), threads = 1)), function(record, size) {
    expect_identical(labels_of(record, "bar label"), c("TRUE", "FALSE", "NA"))
  })
})

test_that("two columns are an image whose cells lie around the points", {
  axis <- gbt:::image_axis(c(4, 1, NA, 2, 1))
  expect_equal(axis[c("beg", "end", "place")], list(beg = c(0.5, 1.5, 3), end = c(1.5, 3, 5),
                                                      place = c(3L, 1L, NA, 2L, 1L)))
  axis <- gbt:::image_axis(factor(c("b", NA, "a"), c("b", "unused", "a")))
  expect_identical(levels(axis$values), c("b", "a", "NA"))
  expect_identical(axis$place, c(1L, 3L, 2L))
  d <- transform(mtcars, cyl = factor(cyl), day = as.Date("2024-01-01") + seq_len(32))
  m <- gbt_train(mpg ~ ., d, nrounds = 10, threads = 1)
  for (columns in list(c("wt", "hp"), c("cyl", "day"), c("wt", "cyl"))) {
    p <- gbt_partial(m, d, columns, size = 5, threads = 1)
    in_sizes(plot(p), function(record, size) {
      expect_identical(labels_of(record, "x title"), columns[1])
      expect_identical(labels_of(record, "y title"), columns[2])
      expect_true("mean prediction" %in% labels_of(record, "colour key"))
    })
  }
  p <- gbt_partial(m, d, c("wt", "hp"), values = list(wt = c(2, NA), hp = 100), threads = 1)
  in_sizes(plot(p), function(record, size) expect_match(labels_of(record, "note"), "^1 point with missing"))
  # the lowest and the highest estimate have the ends of the colours
  p <- gbt_partial(m, d, c("wt", "hp"), values = list(wt = c(2, 4), hp = c(100, 200, 400)), threads = 1)
  axes <- lapply(p$effects[1:2], gbt:::image_axis)
  cells <- gbt:::image_cells(axes, p$effects$estimate)
  ramp <- gbt:::partial_figure(p, NULL)$ramp
  ends <- gbt:::colours_of(range(cells$estimate), ramp$colours, ramp$low, ramp$high)
  expect_identical(ends, gbt:::scale_colours()[c(1, 256)])
  expect_true(all(cells$left < p$effects$wt & p$effects$wt < cells$right))
  expect_true(all(cells$bottom < p$effects$hp & p$effects$hp < cells$top))
})
