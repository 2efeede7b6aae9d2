# Plots of interactions, calibrations and conformal intervals. Helpers of drawings are in helper-drawing.R.

classes <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
odd <- seq_len(nrow(iris)) %% 2 == 1

test_that("interactions are bars by size, pairs told from columns, a panel for each output", {
  x <- list2DF(withr::with_seed(1, list(a = runif(100), b = runif(100), c = runif(100))))
  x$y <- x$a * x$b + x$c
  m <- gbt_train(y ~ ., x, nrounds = 10, max_depth = 3, threads = 1)
  i <- gbt_interactions(m, x, rows = 20, seed = 1, threads = 1)
  order <- order(-i$size)
  label <- ifelse(is.na(i$other), i$column, paste(i$column, "x", i$other))
  in_sizes(plot(i), function(record, size) {
    shown <- labels_of(record, "bar label")
    expect_identical(shown, label[order][seq_along(shown)])
    expect_identical(labels_of(record, "key"), c("with all others", "pair"))
  })
  one <- drawn_record(plot(i, "h_squared", pairs = TRUE, top = 2))
  pairs <- i[!is.na(i$other), ]
  expect_identical(labels_of(one, "bar label"), label[!is.na(i$other)][order(-pairs$h_squared)][1:2])
  expect_identical(labels_of(one, "x title"), "H squared")
  expect_length(labels_of(one, "key"), 0)
  alone <- drawn_record(plot(i, pairs = FALSE))
  expect_setequal(labels_of(alone, "bar label"), c("a", "b", "c"))
  k <- gbt_interactions(classes, iris, rows = 10, seed = 1, threads = 1)
  in_sizes(plot(k), function(record, size) {
    left_out <- as.numeric(sub(" .*", "", grep("output", labels_of(record, "note"), value = TRUE)))
    expect_equal(length(labels_of(record, "heading")) + sum(left_out), 3)
  })
  rows <- lapply(gbt:::interactions_figure(k, "size", NULL, 20L, NULL)$panels, `[[`, "rows")
  expect_length(unique(rows), 1) # one order of bars in all panels
  expect_length(labels_of(drawn_record(plot(k, output = "setosa")), "bar label"), sum(k$output == "setosa"))
  none <- gbt_interactions(m, x, top = 0, rows = 10, seed = 1, threads = 1)
  drawn(expect_snapshot(error = TRUE, {
    plot(i, output = "a")
    plot(k, output = "setose")
    plot(none, pairs = TRUE)
    plot(i[0, ])
    plot(i, col = "red")
    plot(i, measure = "sise")
  }))
})

test_that("a calibration is drawn as it maps", {
  d <- withr::with_seed(1, data.frame(a = runif(300), u = runif(300)))
  d$y <- factor(ifelse(d$u < d$a, "yes", "no"))
  m <- gbt_train(y ~ a, d[1:150, ], nrounds = 20, threads = 1)
  for (method in c("isotonic", "platt", "beta")) {
    fit <- gbt_calibrate(m, d[151:300, ], method = method, threads = 1)
    shape <- gbt:::calibrated_shown(fit)$shapes[[1]]
    expect_identical(shape$y, gbt:::mapped(fit$maps[[1]], shape$x))
    expect_true(all(diff(shape$x) > 0) && all(diff(shape$y) >= 0))
    in_sizes(plot(fit), function(record, size) {
      expect_identical(labels_of(record, "x title"), "probability of yes, by the model")
      expect_match(labels_of(record, "subtitle"), method)
    })
  }
  k <- gbt_calibrate(classes, iris, threads = 1)
  in_sizes(plot(k), function(record, size) expect_identical(labels_of(record, "key"), levels(iris$Species)))
  expect_identical(labels_of(drawn_record(plot(k, output = c("virginica", "setosa"))), "key"), c("virginica", "setosa"))
  drawn(expect_error(plot(fit, output = "no"), "yes", class = "gbt_error_argument"))
})

test_that("bounds of every level are steps at the scores", {
  m <- gbt_train(Sepal.Length ~ Sepal.Width, iris[odd, ], nrounds = 5, threads = 1)
  for (n in c(1:5, 9, 75)) {
    fit <- gbt_conformal(m, utils::head(iris[!odd, ], n), threads = 1)
    shape <- gbt:::conformal_levels(fit, 0.5)$shapes[[1]]
    for (level in c(0.01, 0.3, 0.5, 0.77, 0.9)) {
      rank <- gbt:::conformal_rank(n, level)
      if (rank > n) next
      steps <- which(shape$x >= level - 1e-9)[1]
      expect_identical(shape$y[steps], sort(fit$scores)[rank])
    }
    expect_identical(max(shape$x), n / (n + 1))
  }
  long <- gbt:::thin_steps(seq_len(1e5) / 1e5, sqrt(seq_len(1e5)))
  expect_lte(length(long$x), 4004)
  expect_identical(c(long$x[1], max(long$x), max(long$y)), c(0, 1, sqrt(1e5)))
})

test_that("many intervals are a band with what was observed, and the share inside by tenths of the estimate", {
  d <- withr::with_seed(1, data.frame(a = runif(900), b = runif(900)))
  d$y <- withr::with_seed(2, rnorm(900, 3 * d$a, 0.2 + d$b))
  parts <- split(d, rep(1:3, each = 300))
  train <- function(...) gbt_train(y ~ ., parts[[1]], nrounds = 40, threads = 1, ...)
  m <- train()
  size <- gbt_train(parts[[1]][1:2], abs(parts[[1]]$y - predict(m, parts[[1]], threads = 1)), nrounds = 20, threads = 1)
  ends <- list(lower = train(objective = "quantile", quantile_alpha = 0.1),
               upper = train(objective = "quantile", quantile_alpha = 0.9))
  cv <- gbt_cv(y ~ ., parts[[1]], folds = 3, nrounds = 20, keep_models = TRUE, seed = 1, threads = 1)
  fits <- list(gbt_conformal(m, parts[[2]], threads = 1), gbt_conformal(m, parts[[2]], scale = size, threads = 1),
               gbt_conformal(ends, parts[[2]], threads = 1), gbt_conformal(cv, parts[[1]], threads = 1))
  for (fit in fits) {
    shown <- gbt:::conformal_rows(fit, parts[[3]], NULL, 0.8, 1)
    band <- gbt:::interval_band(shown)
    expect_true(all(band$lower <= band$upper) && !is.unsorted(band$x))
    expect_identical(range(band$x), range(shown$estimate))
    if (fit$method == "absolute") expect_equal(band$upper - band$x, rep(max(shown$upper - shown$estimate), 52))
    tenth <- gbt:::coverage_by_tenths(shown)
    inside <- shown$observed >= shown$lower & shown$observed <= shown$upper
    expect_equal(mean(tenth$share), mean(inside), tolerance = 0.02)
    expect_true(all(tenth$lower <= tenth$share & tenth$share <= tenth$upper))
    in_sizes(plot(fit, parts[[3]], level = 0.8, threads = 1), function(record, size) {
      expect_identical(labels_of(record, "key"), c("interval", "estimate", "observed inside", "observed outside"))
      if (size[1] > 5) expect_identical(labels_of(record, "heading"), c("response", "share inside by tenth"))
    })
    expect_length(labels_of(drawn_record(plot(fit, parts[[3]][1:2], threads = 1)), "heading"), 0)
  }
  n <- 5000
  long <- list(estimate = seq_len(n), lower = seq_len(n) - 1, upper = seq_len(n) + 1, observed = seq_len(n), text = "")
  expect_match(gbt:::band_figure(long, 0.9, list())$note, "2,000 of 5,000 observed values drawn")
  alike <- lapply(long, function(v) rep_len(v, 100))
  alike$estimate <- rep(1, 100)
  expect_false(gbt:::has_band(alike)) # intervals of one estimate have no band
  alike$estimate <- 1:100
  alike$upper <- rep(Inf, 100)
  alike$lower <- -alike$upper
  drawn(gbt:::draw_figure(gbt:::band_figure(alike, 0.9, list()))) # too few rows for calibration
})

test_that("intervals and sets are drawn with what was observed", {
  m <- gbt_train(Sepal.Length ~ Sepal.Width, iris[odd, ], nrounds = 5, threads = 1)
  fit <- gbt_conformal(m, iris[!odd, ], threads = 1)
  in_sizes(plot(fit, level = 0.8))
  in_sizes(plot(fit, iris[!odd, ][1:50, ], level = 0.8, threads = 1), function(record, size) {
    expect_match(labels_of(record, "subtitle"), "50 rows; level 0.8; [0-9.]+ % of observed values inside")
    expect_identical(labels_of(record, "key"), c("interval", "estimate", "observed"))
  })
  bare <- drawn_record(plot(fit, iris[1:3, "Sepal.Width", drop = FALSE], threads = 1))
  expect_identical(labels_of(bare, "key"), c("interval", "estimate"))
  given <- drawn_record(plot(fit, iris[1:4, "Sepal.Width", drop = FALSE], y = c(5, 0, 100, 5), threads = 1))
  expect_match(labels_of(given, "subtitle"), "50 % of observed values inside")
  sets <- gbt_conformal(classes, iris[odd, ], threads = 1)
  in_sizes(plot(sets))
  size <- rowSums(predict(sets, iris, threads = 1))
  shown <- gbt:::conformal_rows(sets, iris, NULL, 0.9, 1)
  expect_identical(shown$rows, tabulate(size, 3))
  in_sizes(plot(sets, iris, threads = 1), function(record, size) {
    expect_identical(labels_of(record, "bar label"), c("1 class", "2 classes", "3 classes"))
  })
  one <- gbt_conformal(m, iris[2, ], threads = 1)
  expect_match(labels_of(drawn_record(plot(one)), "subtitle"), "1 row; level 0.9: more rows are needed")
  expect_warning(drawn(plot(one, iris[1:2, ], threads = 1)), class = "gbt_warning_conformal")
  drawn(expect_snapshot(error = TRUE, {
    plot(fit, y = 1)
    plot(fit, level = 2)
    plot(fit, iris[0, ], threads = 1)
  }))
})
