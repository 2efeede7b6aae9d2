# autoplot() by ggplot2: every kind is built; what is drawn is what the figure of plot() has.

built <- function(p) {
  expect_s3_class(p, "ggplot")
  withr::local_pdf(NULL)
  ggplot2::ggplot_build(p)
}
# The data of the k-th layer of a geom as ggplot2 has made them.
layer_of <- function(p, geom, k = 1) {
  at <- which(vapply(p$layers, function(layer) inherits(layer$geom, geom), NA))
  built(p)$data[[at[k]]]
}

if (requireNamespace("ggplot2", quietly = TRUE)) {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 12, valid = 0.3, eval_train = TRUE, eval_metric = c("mae", "rmse"),
                 seed = 1, early_stopping_rounds = 5, threads = 1)
  k <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  autoplot <- function(...) ggplot2::autoplot(...)
}

test_that("logs, cross-validations and searches", {
  skip_if_not_installed("ggplot2")
  log <- m$evaluation_log
  one <- layer_of(autoplot(m, metric = "rmse"), "GeomPath")
  expect_identical(one$y, c(log$train_rmse, log$valid_rmse))
  expect_identical(unique(one$colour), gbt:::palette_colours[1:2])
  expect_identical(nlevels(layer_of(autoplot(m), "GeomPath")$PANEL), 2L)
  late <- layer_of(autoplot(m, from = 3), "GeomPath")
  expect_identical(min(late$x), 3)
  cv <- gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 6, seed = 1, eval_train = TRUE, threads = 1)
  p <- autoplot(cv)
  expect_identical(layer_of(p, "GeomPath", 2)$y, c(cv$evaluation_log$test_rmse_mean, cv$evaluation_log$train_rmse_mean))
  folds <- layer_of(p, "GeomPath")
  expect_identical(folds$y[!is.na(folds$y)], cv$fold_log$test_rmse)
  expect_lt(length(autoplot(cv, folds = FALSE)$layers), length(p$layers))
  tuned <- gbt_tune(mpg ~ ., mtcars, configs = 2, folds = 2, nrounds = 5, seed = 1, threads = 1)
  p <- autoplot(tuned, "course")
  expect_identical(layer_of(p, "GeomPoint")$y, tuned$results$estimate)
  expect_identical(unique(layer_of(p, "GeomPoint")$colour), gbt:::palette_colours[2])
  expect_identical(unique(layer_of(autoplot(cv), "GeomPath")$colour), "#9A9A9A")
})

test_that("importance, evaluations and interactions", {
  skip_if_not_installed("ggplot2")
  i <- gbt_importance(m)
  bars <- layer_of(autoplot(i, top = 4), "GeomRect")
  expect_identical(bars$xmax, i$gain[1:4])
  expect_false(is.unsorted(-bars$ymin))
  s <- gbt_importance(m, "shap", data = mtcars, threads = 1)
  expect_identical(layer_of(autoplot(s), "GeomRect")$xmax, s$importance)
  permuted <- gbt_importance(m, "permutation", data = mtcars, seed = 1, repeats = 2, threads = 1)
  p <- autoplot(permuted, top = 3)
  expect_identical(layer_of(p, "GeomSegment")$x, permuted$lower[1:3])
  expect_identical(layer_of(p, "GeomPoint")$x, permuted$importance[1:3])
  e <- gbt_evaluate(m, mtcars, mtcars$mpg, by = "cyl", metrics = c("mae", "rmse"), threads = 1)
  expect_identical(layer_of(autoplot(e, metric = "rmse"), "GeomPoint")$x, e$estimate[e$metric == "rmse"])
  points <- layer_of(autoplot(e), "GeomPoint")
  expect_identical(order(points$x[points$PANEL == 2]), order(e$estimate[e$metric == "rmse"]))
  bars <- layer_of(autoplot(gbt_evaluate(m, mtcars, metrics = c("mae", "rmse"), threads = 1)), "GeomRect")
  expect_identical(as.integer(bars$PANEL), 1:2)
  h <- gbt_interactions(k, iris, rows = 8, seed = 1, threads = 1)
  p <- autoplot(h)
  expect_identical(nlevels(layer_of(p, "GeomRect")$PANEL), 3L)
  expect_equal(sort(layer_of(p, "GeomRect")$xmax), sort(h$size))
  one <- autoplot(h, "h_squared", pairs = TRUE, output = "setosa")
  expect_equal(sort(layer_of(one, "GeomRect")$xmax), sort(h$h_squared[h$output == "setosa" & !is.na(h$other)]))
})

test_that("effects of numbers, dates, levels and pairs", {
  skip_if_not_installed("ggplot2")
  one <- gbt_partial(m, mtcars, "wt", size = 5, threads = 1)
  expect_identical(layer_of(autoplot(one), "GeomPath")$y, one$effects$estimate)
  ice <- gbt_partial(k, iris, "Petal.Width", size = 4, ice = TRUE, type = "prob", threads = 1)
  p <- autoplot(ice)
  expect_identical(nlevels(layer_of(p, "GeomPath")$PANEL), 3L)
  expect_identical(sum(!is.na(layer_of(p, "GeomPath")$y)), nrow(ice$ice))
  d <- data.frame(day = as.Date("2024-01-01") + 1:40, g = factor(rep(c("a", "b", NA, "d"), 10)), y = sin(1:40))
  d$day[3] <- NA
  w <- gbt_train(y ~ ., d, nrounds = 3, min_data_in_leaf = 2, threads = 1)
  levels <- gbt_partial(w, d, "g", ice = TRUE, threads = 1)
  expect_equal(layer_of(autoplot(levels), "GeomPoint")$x, levels$effects$estimate)
  days <- gbt_partial(w, d, "day", values = c(d$day[c(1, 20)], NA), threads = 1)
  p <- autoplot(days)
  expect_match(p$labels$caption, "where day is missing")
  expect_match(built(p)$layout$panel_params[[1]]$x$get_labels(), "Jan|2024", all = FALSE)
  both <- gbt_partial(w, d, c("day", "g"), size = 3, threads = 1)
  expect_identical(nrow(layer_of(autoplot(both), "GeomRect")), nrow(both$effects))
  expect_error(autoplot(one, output = "a"), class = "gbt_error_argument")
})

test_that("contributions: summary, rows, one column", {
  skip_if_not_installed("ggplot2")
  s <- gbt_shap(m, mtcars, threads = 1)
  all <- layer_of(autoplot(s, top = 3), "GeomPoint")
  expect_equal(sort(all$x), sort(as.vector(s$values[, summary(s)$column[1:3]])))
  row <- layer_of(autoplot(s, row = 3), "GeomRect")
  expect_equal(sort(row$xmax - row$xmin), sort(unname(s$values[3, ])))
  against <- layer_of(autoplot(s, against = "wt", by = "hp"), "GeomPoint")
  expect_identical(against$y, unname(s$values[, "wt"]))
  expect_identical(against$x, mtcars$wt)
  c3 <- gbt_shap(k, iris[c(1, 60, 120), ], threads = 1)
  for (p in list(autoplot(c3), autoplot(c3, row = 2), autoplot(c3, against = "Petal.Width"))) {
    expect_identical(nlevels(built(p)$data[[1]]$PANEL), 3L)
  }
  d <- data.frame(g = rep(c("a", "b", NA), 10), x = 1:30)
  w <- gbt_shap(gbt_train(d, sin(1:30), nrounds = 3, threads = 1), d, threads = 1)
  expect_equal(layer_of(autoplot(w, against = "g"), "GeomPoint")$x, unname(w$values[, "g"]))
})

test_that("curves, calibrations, intervals, drift and trees", {
  skip_if_not_installed("ggplot2")
  hit <- rep(c(FALSE, TRUE, TRUE), 10)
  score <- list(a = sin(1:30), b = cos(1:30))
  for (type in c("calibration", "lift", "gains", "roc", "pr")) {
    one <- gbt_curve(hit, score$a, type)
    shape <- gbt:::curve_shape(as.data.frame(unclass(one)), type)
    p <- autoplot(one)
    expect_identical(layer_of(p, "GeomPath", 2)$y, shape$y)
    two <- layer_of(autoplot(gbt_curve(hit, score, type)), "GeomPath", 2)
    expect_identical(unique(two$colour), gbt:::palette_colours[1:2])
  }
  built(autoplot(gbt_calibrate(k, iris, threads = 1)))
  built(autoplot(gbt_calibrate(k, iris, threads = 1), output = "setosa"))
  fit <- gbt_conformal(m, mtcars, threads = 1)
  built(autoplot(fit))
  interval <- predict(fit, mtcars, threads = 1)
  expect_identical(layer_of(autoplot(fit, mtcars, threads = 1), "GeomSegment")$y,
                   interval$lower[order(interval$estimate)])
  sets <- gbt_conformal(k, iris, threads = 1)
  expect_equal(sum(layer_of(autoplot(sets, iris, threads = 1), "GeomRect")$xmax), 150)
  d <- gbt_monitor(k, iris[1:70, ], iris, threads = 1)
  expect_equal(layer_of(autoplot(d), "GeomPoint")$x, pmin(d$psi, 1), tolerance = 0.05)
  sides <- vapply(1:2, function(k) sum(layer_of(autoplot(d, "Petal.Width"), "GeomRect", k)$xmax), 0)
  expect_equal(sides, c(1, 1))
  for (depth in 0:4) {
    t <- gbt_tree(k, 2)
    p <- autoplot(t, depth = depth)
    expect_identical(nrow(layer_of(p, "GeomRect")), sum(t$nodes$depth <= min(depth, 3))) # 31 nodes have no room
  }
  built(autoplot(m, tree = 1))
  expect_error(autoplot(d, tops = 3), "did you mean `top`", class = "gbt_error_argument")
})

test_that("every class that has a plot() has an autoplot()", {
  methods <- readLines(system.file("NAMESPACE", package = "gbt"))
  of <- function(start) {
    found <- methods[startsWith(methods, start)]
    sort(substr(found, nchar(start) + 1L, nchar(found) - 1L))
  }
  expect_gt(length(of("S3method(plot,")), 14)
  expect_identical(of("S3method(ggplot2::autoplot,"), of("S3method(plot,"))
})

test_that("a tree without splits and a curve of one point are drawn without a word", {
  skip_if_not_installed("ggplot2")
  m <- suppressWarnings(gbt_train(mtcars["wt"], rep(1, 32), nrounds = 1, threads = 1))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(print(autoplot(gbt_tree(m, 1))))
  expect_silent(print(autoplot(gbt_curve(1, 0.9))))
  expect_silent(print(autoplot(gbt_curve(1, list(a = 0.9, b = 0.3)))))
})

test_that("letters of trees stay in their boxes on pages of every size", {
  skip_if_not_installed("ggplot2")
  p <- autoplot(gbt_tree(gbt_train(mpg ~ ., mtcars, nrounds = 1, max_depth = 3, min_data_in_leaf = 1, threads = 1), 1))
  grobs <- Filter(function(g) inherits(g, "gbt_scaled_text"), lapply(p$layers, function(l) l$geom_params$grob))
  boxes <- Filter(function(l) inherits(l$geom, "GeomRect"), p$layers)[[1]]$data
  for (size in list(c(3, 2.4), c(6.7, 5.3), c(14, 10))) {
    grDevices::pdf(NULL, size[1], size[2])
    grid::pushViewport(grid::viewport())
    for (g in grobs) {
      text <- grid::childNames(drawn <- grid::makeContent(g))
      drawn <- drawn$children[[text]]
      range <- g$ranges$x + c(-0.05, 0.05) * diff(g$ranges$x)
      for (i in seq_along(drawn$label)) {
        one <- grid::textGrob(drawn$label[i], gp = drawn$gp)
        wide <- grid::convertWidth(grid::grobWidth(one), "npc", TRUE) * diff(range)
        box <- which(g$x[i] > boxes$x & g$x[i] < boxes$xend & g$y[i] > boxes$y & g$y[i] < boxes$yend)
        if (length(box) == 1) expect_lte(wide, abs(boxes$xend[box] - boxes$x[box]))
      }
    }
    grDevices::dev.off()
  }
  expect_gt(length(grobs), 1)
})

test_that("splits without rows are printed as such", {
  d <- data.frame(x = (1:200 * 37) %% 200 / 200, z = (1:200 * 71) %% 200 / 200)
  d$y <- d$x * 10 + d$z
  m <- gbt_train(y ~ x + z, d, nrounds = 1, max_depth = 4, grow_policy = "symmetric", min_data_in_leaf = 1, threads = 1)
  nodes <- gbt_tree(m)$nodes
  none <- sum(nodes$gain == 0 & nodes$cover == 0 & !is.na(nodes$left))
  shown <- capture.output(print(gbt_tree(m)))
  expect_gt(none, 0)
  expect_identical(sum(grepl("(no rows)", shown, fixed = TRUE)), none)
  expect_false(any(grepl("gain 0, cover 0", shown, fixed = TRUE)))
})

test_that("headings, legends, titles and values have room on a page of 7 x 5 inches", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, threads = 1)
  all <- gbt_evaluate(m, mtcars, metrics = "all", threads = 1)
  record <- drawn_record(plot(all))
  expect_length(grep("...", labels_of(record, "heading"), fixed = TRUE), 0)
  expect_identical(gbt:::gg_columns(c("pseudo_huber  0.09091", rep("rmse  1", 12))), 3)
  expect_null(gbt:::gg_columns(c("a", "b", "c")))
  expect_identical(gbt:::gg_lines("one two three", 9), "one two\nthree")
  expect_null(gbt:::gg_lines(NULL, 9))
  expect_identical(gbt:::gg_key_lines(rep(strrep("a", 20), 4), 40), 3)
  skip_if_not_installed("ggplot2")
  columns <- ggplot2::ggplot_build(ggplot2::autoplot(all))$layout$layout$COL
  expect_identical(max(columns), 3L)
})
