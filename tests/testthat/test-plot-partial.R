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
      shown <- length(labels_of(record, "bar label"))
      expect_equal(sub("drawn: the (.*) levels .*", "\\1", labels_of(record, "note")),
                   if (shown < n) sprintf("%d of %d", shown, n) else character(0))
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

test_that("of many levels those with the largest effects are drawn, in all panels the same, and the page counts them", {
  n <- 1200
  level <- (seq_len(n) * 7) %% 60 + 1
  d <- data.frame(f = factor(sprintf("level %d", level), sprintf("level %d", 1:60)), x = seq_len(n) / n)
  d$y <- sin(level) * 3 + d$x
  d$class <- factor(ifelse(d$y > 1.5, "high", ifelse(d$y < -1, "low", "middle")))
  d$g <- factor(d$f, levels(d$f), ordered = TRUE)
  numbers <- gbt_partial(gbt_train(y ~ f + x, d, nrounds = 8, threads = 1), d, "f", size = 60, rows = 50, threads = 1)
  f <- gbt:::partial_figure(numbers, NULL)
  e <- numbers$effects
  far <- abs(e$estimate - mean(e$estimate))
  rows <- f$panels[[1]]$rows
  expect_length(rows, 30)
  expect_gte(min(far[e$f %in% rows]), max(far[!e$f %in% rows]))
  expect_identical(f$panels[[1]]$marks[[2]]$data$x, sort(e$estimate[e$f %in% rows], decreasing = TRUE))
  expect_identical(f$note, "drawn: the 30 of 60 levels with the largest effects")
  few <- f$fewer(7, 7)
  expect_true(all(few$panels[[1]]$rows %in% rows))
  expect_identical(few$note, "drawn: the 7 of 60 levels with the largest effects")

  m <- gbt_train(y ~ g + x, d, nrounds = 8, threads = 1)
  ordered <- gbt:::partial_figure(gbt_partial(m, d, "g", size = 60, rows = 50, threads = 1), NULL)
  expect_false(is.unsorted(match(ordered$panels[[1]]$rows, levels(d$g))))

  k <- gbt_train(class ~ f + x, d, nrounds = 4, threads = 1)
  classes <- gbt_partial(k, d, "f", size = 60, rows = 50, type = "prob", threads = 1)
  both <- gbt_partial(k, d, c("f", "x"), size = 60, rows = 20, type = "prob", threads = 1)
  image <- gbt:::partial_figure(both, NULL)
  expect_length(image$x$levels, 30)
  expect_identical(image$note, "drawn: the 30 of 60 levels of f with the largest effects")
  cells <- image$panels[[1]]$marks[[1]]$data
  at <- which(both$effects$output == "high" & both$effects$f == image$x$levels[5])
  expect_identical(cells$share[cells$x == 4.5], both$effects$estimate[at])
  for (x in list(numbers, classes)) {
    in_sizes(plot(x), function(record, size) {
      labels <- record$texts[record$texts$what == "bar label", ]
      expect_gte(min(labels$points), if (size[1] < 5) 6 else 7)
      counted <- sprintf("drawn: the %d of 60 levels", length(unique(labels$text)))
      expect_match(labels_of(record, "note"), counted, all = FALSE)
    })
  }
  in_sizes(plot(both), function(record, size) {
    note <- grep("drawn", labels_of(record, "note"), value = TRUE)
    shown <- as.numeric(sub("drawn: the ([0-9]+) of .*", "\\1", note))
    expect_equal(sum(grepl("level", labels_of(record, "x tick"))), shown * sum(labels_of(record, "x title") == "f"))
  })
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  for (x in list(numbers, classes, both)) {
    expect_match(ggplot2::autoplot(x)$labels$caption, "levels")
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(x)), "ggplot_built")
  }
})
